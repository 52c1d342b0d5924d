//! Connections that an agent has made, carried as streams: two threads for each, at either end.
//!
//! A side sends at most [`WINDOW_BYTES`] more than the other has handed on, so a slow reader holds up its own stream only.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};
use zeroize::Zeroizing;

use super::frames::Frame;
use super::messages::Message;
use super::outbox::Outbox;

const WINDOW_BYTES: u64 = 256 * 1024;
const CHUNK_BYTES: usize = 32 * 1024;
/// A server that is frozen keeps its connections; more than these are not made.
pub(super) const STREAMS_MAX: usize = 64;

/// Which end of a stream this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamEnd {
    /// The client's: what the server sent last can still be read.
    Near,
    /// The server's: a client that has hung up reads nothing more.
    Far,
}

#[derive(Debug, Clone)]
pub(super) struct Streams {
    outbox: Outbox,
    end: StreamEnd,
    open: Arc<Mutex<HashMap<u64, Stream>>>,
}

#[derive(Debug)]
struct Stream {
    /// `None` when the other side has said its last.
    incoming: Option<Sender<Zeroizing<Vec<u8>>>>,
    credit: Arc<Credit>,
    received_bytes: u64,
    taken_bytes: Arc<Mutex<u64>>,
    socket: Arc<OwnedFd>,
    has_ended: bool,
}

/// How much may be sent before the other side has taken some.
#[derive(Debug)]
struct Credit {
    /// `None`: nothing more is to be sent.
    left_bytes: Mutex<Option<u64>>,
    changed: Condvar,
}

impl Credit {
    /// Waits for room. False: give up.
    fn spend(&self, bytes: u64) -> bool {
        let left = self.left_bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left = self
            .changed
            .wait_while(left, |left| left.is_some_and(|left| left < bytes))
            .unwrap_or_else(PoisonError::into_inner);
        let rest = left.map(|left| left - bytes);
        *left = rest;
        rest.is_some()
    }

    fn change(&self, how: impl FnOnce(Option<u64>) -> Option<u64>) {
        let mut left = self.left_bytes.lock().unwrap_or_else(PoisonError::into_inner);
        *left = how(*left);
        self.changed.notify_all();
    }
}

impl Streams {
    pub fn new(outbox: Outbox, end: StreamEnd) -> Self {
        Self { outbox, end, open: Arc::default() }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, Stream>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn count(&self) -> usize {
        self.open().len()
    }

    /// From now on what comes of `id` goes to `socket`. What `socket` says waits until [`Streams::begin`].
    pub fn attach(&self, id: u64, socket: OwnedFd) {
        let socket = Arc::new(socket);
        let (incoming, pieces) = channel::<Zeroizing<Vec<u8>>>();
        let credit = Arc::new(Credit { left_bytes: Mutex::new(Some(WINDOW_BYTES)), changed: Condvar::new() });
        let taken_bytes = Arc::new(Mutex::new(0));
        let stream = Stream {
            incoming: Some(incoming),
            credit,
            received_bytes: 0,
            taken_bytes: Arc::clone(&taken_bytes),
            socket: Arc::clone(&socket),
            has_ended: false,
        };
        self.open().insert(id, stream);
        let own = self.clone();
        std::thread::spawn(move || {
            let mut is_open = true;
            for piece in pieces {
                is_open = is_open && send_all(&socket, &piece);
                let bytes = piece.len() as u64;
                *taken_bytes.lock().unwrap_or_else(PoisonError::into_inner) += bytes;
                // A connection that is gone takes nothing, and must not hold up the other side either.
                if own.outbox.send(&Frame::new(Message::Taken { stream: id, bytes })).is_err() {
                    break;
                }
            }
            let how = if own.end == StreamEnd::Far { Shutdown::Both } else { Shutdown::Write };
            let _ = shutdown(&*socket, how);
        });
    }

    /// From now on what the socket of `id` says is sent. At the far end not before the other side knows of the stream.
    pub fn begin(&self, id: u64) {
        let known =
            self.open().get(&id).map(|stream| (Arc::clone(&stream.socket), Arc::clone(&stream.credit)));
        let Some((from, credit)) = known else { return };
        let own = self.clone();
        std::thread::spawn(move || {
            let mut chunk = Zeroizing::new(vec![0; CHUNK_BYTES]);
            while let Ok((_, count)) = recv(&*from, &mut chunk[..], RecvFlags::empty()) {
                let data = Frame::with_payload(
                    Message::Data { stream: id },
                    chunk.get(..count).unwrap_or_default().to_vec(),
                );
                if count == 0 || !credit.spend(count as u64) || own.outbox.send(&data).is_err() {
                    break;
                }
            }
            let _ = own.outbox.send(&Frame::new(Message::End { stream: id }));
            own.ended(id);
        });
    }

    /// This side has said its last; the stream is forgotten when the other has too.
    fn ended(&self, id: u64) {
        let mut open = self.open();
        if let Some(stream) = open.get_mut(&id) {
            stream.has_ended = true;
            if stream.incoming.is_none() {
                open.remove(&id);
            }
        }
    }

    /// # Errors
    /// More came than was allowed.
    pub fn data(&self, id: u64, payload: Zeroizing<Vec<u8>>) -> Result<(), String> {
        let mut open = self.open();
        // A stream that has ended here.
        let Some(stream) = open.get_mut(&id) else { return Ok(()) };
        stream.received_bytes += payload.len() as u64;
        let taken = *stream.taken_bytes.lock().unwrap_or_else(PoisonError::into_inner);
        if stream.received_bytes.saturating_sub(taken) > WINDOW_BYTES {
            return Err(format!("stream {id} sends more than its window"));
        }
        if let Some(incoming) = &stream.incoming {
            let _ = incoming.send(payload);
        }
        Ok(())
    }

    pub fn taken(&self, id: u64, bytes: u64) {
        if let Some(stream) = self.open().get(&id) {
            stream.credit.change(|left| left.map(|left| left.saturating_add(bytes).min(WINDOW_BYTES)));
        }
    }

    pub fn end(&self, id: u64) {
        let mut open = self.open();
        if let Some(stream) = open.get_mut(&id) {
            stream.incoming = None;
            if stream.has_ended {
                open.remove(&id);
            }
        }
    }

    /// The connection below is gone.
    pub fn close_all(&self) {
        for (_, stream) in self.open().drain() {
            stream.credit.change(|_| None);
            let _ = shutdown(&*stream.socket, Shutdown::Both);
        }
    }
}

fn send_all(socket: &OwnedFd, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        match send(socket, bytes, SendFlags::NOSIGNAL) {
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
    true
}
