//! One connection: frames over TLS over a socket that is read and written in large pieces.
//!
//! The feature `clear` leaves TLS out, for measurements of what it costs; the binary is never built with it.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use openssl::ssl::SslStream;

use crate::StreamError;
use crate::aligned::Aligned;
use crate::frame::{self, DATA_BYTES_MAX, DATA_HEAD_BYTES, Frame, HEADER_BYTES, PACKED_HEAD_BYTES};
use crate::times::{Spent, Times};
use crate::tls;

/// A disk that stalls for longer than this on either side ends the copy.
pub const SILENCE_MAX: Duration = Duration::from_secs(120);
/// OpenSSL reads five bytes, then a record of 16 KiB at most, and writes records: each would be a system call.
/// Four times as much costs a tenth more of both processors: it does not stay in their caches.
const BUFFER_BYTES: usize = 64 << 10;

/// A socket with a buffer each way.
#[derive(Debug)]
pub struct Buffered {
    tcp: TcpStream,
    incoming: Vec<u8>,
    taken: usize,
    filled: usize,
    outgoing: Vec<u8>,
    /// Of the handshake as a whole: a peer that sends a byte now and then holds nobody up.
    until: Option<Instant>,
    times: Option<Arc<Times>>,
}

impl Buffered {
    pub fn new(tcp: TcpStream) -> Self {
        Self {
            tcp,
            incoming: vec![0; BUFFER_BYTES],
            taken: 0,
            filled: 0,
            outgoing: Vec::with_capacity(BUFFER_BYTES + (32 << 10)),
            until: None,
            times: None,
        }
    }

    pub fn ends_within(mut self, limit: Duration) -> Self {
        self.until = Some(Instant::now() + limit);
        self
    }

    pub fn set_timeouts(&mut self) -> io::Result<()> {
        self.until = None;
        self.tcp.set_read_timeout(Some(SILENCE_MAX))?;
        self.tcp.set_write_timeout(Some(SILENCE_MAX))
    }

    /// Whether something came that was not read, or the other end is gone.
    fn has_news(&self) -> bool {
        if self.taken < self.filled {
            return true;
        }
        let mut fds = [PollFd::new(self.tcp.as_fd(), PollFlags::POLLIN)];
        matches!(poll(&mut fds, PollTimeout::ZERO), Ok(1..))
    }
}

impl Read for Buffered {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.filled {
            // Whoever waits for an answer must have sent the question.
            self.flush()?;
            if self.until.is_some_and(|until| Instant::now() > until) {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.taken = 0;
            self.filled = 0;
            let _timer = self.times.as_ref().map(|times| times.timer(Spent::Receiving));
            self.filled = self.tcp.read(&mut self.incoming)?;
        }
        let there = self.incoming.get(self.taken..self.filled).unwrap_or_default();
        let count = there.len().min(into.len());
        if let (Some(to), Some(from)) = (into.get_mut(..count), there.get(..count)) {
            to.copy_from_slice(from);
        }
        self.taken += count;
        Ok(count)
    }
}

impl Write for Buffered {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.outgoing.extend_from_slice(bytes);
        if self.outgoing.len() >= BUFFER_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.outgoing.is_empty() {
            let timer = self.times.as_ref().map(|times| times.timer(Spent::Sending));
            let sent = self.tcp.write_all(&self.outgoing);
            drop(timer);
            self.outgoing.clear();
            sent?;
        }
        Ok(())
    }
}

/// What frames travel through.
pub enum Channel {
    Tls(SslStream<Buffered>),
    #[cfg(feature = "clear")]
    Clear(Buffered),
}

impl Channel {
    fn buffered(&self) -> &Buffered {
        match self {
            Self::Tls(stream) => stream.get_ref(),
            #[cfg(feature = "clear")]
            Self::Clear(buffered) => buffered,
        }
    }

    fn buffered_mut(&mut self) -> &mut Buffered {
        match self {
            Self::Tls(stream) => stream.get_mut(),
            #[cfg(feature = "clear")]
            Self::Clear(buffered) => buffered,
        }
    }

    /// Whether bytes are decrypted that were not read.
    fn has_pending(&self) -> bool {
        match self {
            Self::Tls(stream) => stream.ssl().pending() > 0,
            #[cfg(feature = "clear")]
            Self::Clear(_) => false,
        }
    }

    /// As OpenSSL names them.
    fn version_and_suite(&self) -> (String, String) {
        match self {
            Self::Tls(stream) => tls::version_and_suite(stream.ssl()),
            #[cfg(feature = "clear")]
            Self::Clear(_) => ("none".into(), "none".into()),
        }
    }
}

impl Read for Channel {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tls(stream) => stream.read(into),
            #[cfg(feature = "clear")]
            Self::Clear(buffered) => buffered.read(into),
        }
    }
}

impl Write for Channel {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tls(stream) => stream.write(bytes),
            #[cfg(feature = "clear")]
            Self::Clear(buffered) => buffered.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Tls(stream) => stream.flush(),
            #[cfg(feature = "clear")]
            Self::Clear(buffered) => buffered.flush(),
        }
    }
}

/// Frames to and from one peer.
pub struct Link {
    channel: Channel,
    pub peer: String,
    body: Aligned,
}

impl Link {
    pub fn new(channel: Channel, peer: String) -> Self {
        Self { channel, peer, body: Aligned::new(DATA_HEAD_BYTES, DATA_BYTES_MAX + PACKED_HEAD_BYTES) }
    }

    /// As OpenSSL names them.
    pub fn version_and_suite(&self) -> (String, String) {
        self.channel.version_and_suite()
    }

    /// Whoever watches gets to know where its time goes.
    pub fn is_timed_by(&mut self, times: &Arc<Times>) {
        self.channel.buffered_mut().times = Some(Arc::clone(times));
    }

    /// The socket, to end it from elsewhere.
    pub fn socket(&self) -> io::Result<TcpStream> {
        self.channel.buffered().tcp.try_clone()
    }

    pub fn has_news(&self) -> bool {
        self.channel.has_pending() || self.channel.buffered().has_news()
    }

    /// The next frame; [`Frame::Failed`] is an error.
    pub fn receive(&mut self) -> Result<Frame<'_>, StreamError> {
        let mut header = [0; HEADER_BYTES];
        self.channel.read_exact(&mut header).map_err(StreamError::broken(&self.peer))?;
        let nonsense = |why: String| StreamError::Protocol { peer: self.peer.clone(), why };
        let length = frame::body_bytes(header).map_err(nonsense)?;
        let body = self.body.first(length);
        self.channel.read_exact(body).map_err(StreamError::broken(&self.peer))?;
        match frame::parse(header[0], body) {
            Ok(Frame::Failed(why)) => Err(StreamError::Peer { peer: self.peer.clone(), why }),
            Ok(frame) => Ok(frame),
            Err(why) => Err(StreamError::Protocol { peer: self.peer.clone(), why }),
        }
    }

    pub fn unexpected(&self, what: &str) -> StreamError {
        StreamError::Protocol { peer: self.peer.clone(), why: format!("{what} was not to come now") }
    }

    /// Bytes of whole frames.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), StreamError> {
        let sent = self.channel.write_all(bytes);
        match sent {
            Ok(()) => Ok(()),
            Err(error) => Err(self.why_it_ended(error)),
        }
    }

    pub fn send(&mut self, frame: &Frame<'_>) -> Result<(), StreamError> {
        self.send_bytes(&frame::encode(frame))?;
        self.flush()
    }

    pub fn flush(&mut self) -> Result<(), StreamError> {
        match self.channel.flush() {
            Ok(()) => Ok(()),
            Err(error) => Err(self.why_it_ended(error)),
        }
    }

    /// The other end may have said why before it went.
    fn why_it_ended(&mut self, error: io::Error) -> StreamError {
        let _ = self.channel.buffered().tcp.set_read_timeout(Some(Duration::from_secs(2)));
        // What was not sent yet must not be tried again.
        self.channel.buffered_mut().outgoing.clear();
        match self.receive() {
            Err(said @ StreamError::Peer { .. }) => said,
            _ => StreamError::broken(&self.peer.clone())(error),
        }
    }

    /// Tells the other end why, and waits until it has had the time to read that.
    pub fn fail(&mut self, why: String) {
        let told = self.send_bytes(&frame::encode(&Frame::Failed(why))).and_then(|()| self.flush());
        if told.is_err() {
            return;
        }
        let tcp = &self.channel.buffered().tcp;
        let _ = tcp.set_read_timeout(Some(Duration::from_secs(5)));
        let _ = tcp.shutdown(Shutdown::Write);
        // A socket that is closed with unread bytes takes along what it has sent.
        let mut rest = vec![0; 1 << 16];
        let mut tcp = tcp;
        for _ in 0..1 << 12 {
            if !matches!(tcp.read(&mut rest), Ok(1..)) {
                break;
            }
        }
    }
}
