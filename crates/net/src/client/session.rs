//! A session that was logged in, handed to an event loop.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

use wire::{AnswerReader, Capabilities};

use super::channel::Stream;
use crate::dial::Traffic;

/// A session whose bytes an event loop reads and writes: plain, or inside TLS. Nothing waits.
#[derive(Debug)]
pub struct Session {
    pub(super) stream: Stream,
    pub(super) capabilities: Capabilities,
    pub(super) caches_metadata: bool,
}

impl Session {
    pub fn answers(&self) -> AnswerReader {
        AnswerReader::new(self.capabilities, self.caches_metadata)
    }

    pub fn is_tls(&self) -> bool {
        matches!(self.stream, Stream::Tls(_))
    }

    /// Since the connection was dialled.
    pub fn traffic(&self) -> Traffic {
        self.stream.socket().traffic()
    }

    /// Where its bytes go as they are, for who sends those of several sessions by one call; [`Session::was_sent`] is told of them.
    /// `None` inside TLS.
    pub fn clear_text_socket(&self) -> Option<BorrowedFd<'_>> {
        match &self.stream {
            Stream::Plain(socket) => Some(socket.as_fd()),
            Stream::Tls(_) => None,
        }
    }

    /// So many bytes were sent on its clear-text socket.
    pub fn was_sent(&mut self, bytes: usize) {
        self.stream.socket_mut().was_sent(bytes);
    }

    /// Something was taken that the socket had no room for yet: the next read sends it.
    pub fn holds_back(&self) -> bool {
        matches!(&self.stream, Stream::Tls(stream) if stream.holds_back())
    }
}

impl AsFd for Session {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.socket().as_fd()
    }
}

impl Read for Session {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer)
    }
}

impl Write for Session {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.stream {
            Stream::Plain(socket) => socket.write(bytes),
            Stream::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
