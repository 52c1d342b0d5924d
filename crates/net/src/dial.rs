//! Sockets with a deadline: connecting (from a chosen address), reading, writing.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrStorage, UnixAddr, bind, connect, getsockopt, socket, sockopt,
};
use rustix::io::ioctl_fionbio;
use rustix::net::sockopt::{
    Timeout, set_socket_keepalive, set_socket_timeout, set_tcp_keepcnt, set_tcp_keepidle, set_tcp_keepintvl,
};
use rustix::net::{RecvFlags, SendFlags, getpeername, getsockname, recv, send};

use crate::options::Endpoint;
use crate::own_ends::OwnEnd;
use crate::resolve::resolve;

/// Whoever may give up is asked so often.
const LOOK_MS: u128 = 100;
/// A peer that is silent for so long is asked whether it is there, and after that many questions without an answer it is gone.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);
const KEEPALIVE_EVERY: Duration = Duration::from_secs(15);
const KEEPALIVE_PROBES: u32 = 4;
/// No server is the reason.
const GIVEN_UP: io::ErrorKind = io::ErrorKind::ConnectionAborted;

/// A connected socket. Before the login a deadline covers all steps together; later a timeout covers each.
#[derive(Debug)]
pub(crate) struct Socket {
    /// Of TCP, or of a Unix socket: from here on both are the same.
    fd: OwnedFd,
    deadline: Option<Instant>,
    /// The kernel has one for reads and writes.
    has_timeout: bool,
    first_record: FirstRecord,
    traffic: Traffic,
    /// Nothing has come since this end spoke.
    has_spoken: bool,
    given_up: Option<Arc<AtomicBool>>,
    /// Own end and peer where somebody else has connected for us.
    far_ends: (Option<SocketAddr>, Option<SocketAddr>),
    /// Of TCP.
    own_end: Option<OwnEnd>,
}

/// What went over a connection, below TLS: handshakes and records count, headers of IP and TCP do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    pub sent_bytes: u64,
    pub received_bytes: u64,
    /// How often this end spoke, or dialled, and the other end answered. The kernel's own, of a TCP connection, is one of them.
    pub round_trips: u64,
}

/// Are the next bytes to be read the first of a TLS session, and did they look like it?
#[derive(Debug, Clone, PartialEq, Eq)]
enum FirstRecord {
    NotWatched,
    Watched,
    NotTls(Vec<u8>),
}

impl Socket {
    /// Connects; a name with several addresses is tried address by address. Until the deadline is taken away, waiting ends when
    /// somebody sets `given_up`.
    pub(crate) fn connect(
        endpoint: &Endpoint,
        deadline: Instant,
        given_up: Option<Arc<AtomicBool>>,
    ) -> io::Result<Self> {
        let mut socket = match endpoint {
            Endpoint::Unix { path } => Self::of(unix(path, deadline, given_up.as_deref())?, 0, deadline),
            Endpoint::Via(via) => {
                let dialled = via.0.dial(remaining(deadline)?)?;
                let far_ends = (dialled.local, dialled.peer);
                Self { far_ends, ..Self::of(dialled.fd, 1, deadline) }
            }
            Endpoint::Tcp { host, port, bind } => {
                let mut last =
                    io::Error::new(io::ErrorKind::NotFound, "the name has no address of this kind");
                let mut connected = None;
                for address in resolve(host, *port, remaining(deadline)?)? {
                    if bind.is_some_and(|from| from.is_ipv4() != address.is_ipv4()) {
                        continue;
                    }
                    match tcp(address, *bind, remaining(deadline)?, given_up.as_deref()) {
                        Ok(stream) => {
                            connected = Some(stream);
                            break;
                        }
                        Err(error) if error.kind() == GIVEN_UP => return Err(error),
                        Err(error) => last = error,
                    }
                }
                Self::from_tcp(connected.ok_or(last)?, deadline)
            }
        };
        socket.given_up = given_up;
        socket.own_end = socket.local_addr().map(OwnEnd::note);
        Ok(socket)
    }

    /// The connection stands for one of an application.
    pub(crate) fn disown(&mut self) {
        if let Some(end) = self.own_end.take() {
            end.disown();
        }
    }

    pub(crate) fn from_tcp(stream: TcpStream, deadline: Instant) -> Self {
        Self::of(stream.into(), 1, deadline)
    }

    /// `round_trips` are those of dialling.
    fn of(fd: OwnedFd, round_trips: u64, deadline: Instant) -> Self {
        Self {
            fd,
            deadline: Some(deadline),
            has_timeout: false,
            first_record: FirstRecord::NotWatched,
            traffic: Traffic { round_trips, ..Traffic::default() },
            has_spoken: true,
            given_up: None,
            far_ends: (None, None),
            own_end: None,
        }
    }

    pub(crate) fn traffic(&self) -> Traffic {
        self.traffic
    }

    pub(crate) fn was_sent(&mut self, bytes: usize) {
        self.traffic.sent_bytes += bytes as u64;
        self.has_spoken = true;
    }

    /// From now on each read and write may take this long; zero is for ever.
    pub(crate) fn set_io_timeout(&mut self, timeout: Duration) -> io::Result<()> {
        self.deadline = None;
        let timeout = (!timeout.is_zero()).then_some(timeout);
        if timeout.is_none() && !self.has_timeout {
            return Ok(());
        }
        self.has_timeout = timeout.is_some();
        if timeout.is_some_and(|timeout| timeout > KEEPALIVE_IDLE) {
            self.keep_alive();
        }
        set_socket_timeout(&self.fd, Timeout::Recv, timeout)?;
        Ok(set_socket_timeout(&self.fd, Timeout::Send, timeout)?)
    }

    /// Who waits for long is told by the kernel when the machine at the other end is gone. A unix socket has no such thing, and needs none.
    fn keep_alive(&self) {
        let _ = set_socket_keepalive(&self.fd, true)
            .and_then(|()| set_tcp_keepidle(&self.fd, KEEPALIVE_IDLE))
            .and_then(|()| set_tcp_keepintvl(&self.fd, KEEPALIVE_EVERY))
            .and_then(|()| set_tcp_keepcnt(&self.fd, KEEPALIVE_PROBES));
    }

    pub(crate) fn set_deadline(&mut self, deadline: Instant) {
        self.deadline = Some(deadline);
    }

    pub(crate) fn set_nonblocking(&self) -> io::Result<()> {
        Ok(ioctl_fionbio(&self.fd, true)?)
    }

    /// Of TCP.
    pub(crate) fn local_addr(&self) -> Option<SocketAddr> {
        self.far_ends.0.or_else(|| getsockname(&self.fd).ok()?.try_into().ok())
    }

    /// Of TCP.
    pub(crate) fn peer_addr(&self) -> Option<SocketAddr> {
        self.far_ends.1.or_else(|| getpeername(&self.fd).ok()??.try_into().ok())
    }

    /// Has the peer sent something that nobody has read?
    pub(crate) fn has_unread_bytes(&self) -> io::Result<bool> {
        let mut fds = [PollFd::new(self.as_fd(), PollFlags::POLLIN)];
        Ok(poll(&mut fds, PollTimeout::ZERO)? > 0)
    }

    /// The next read must bring a TLS record, else it fails and [`Socket::not_tls`] tells what came.
    pub(crate) fn expect_tls_record(&mut self) {
        self.first_record = FirstRecord::Watched;
    }

    pub(crate) fn not_tls(&self) -> Option<&[u8]> {
        match &self.first_record {
            FirstRecord::NotTls(bytes) => Some(bytes),
            _ => None,
        }
    }

    #[inline]
    fn wait(&self, for_what: PollFlags) -> io::Result<()> {
        let Some(deadline) = self.deadline else { return Ok(()) };
        wait_for(self.as_fd(), for_what, deadline, self.given_up.as_deref())
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.wait(PollFlags::POLLIN)?;
        let (_, count) = recv(self.as_fd(), &mut *buffer, RecvFlags::empty())?;
        self.traffic.received_bytes += count as u64;
        self.traffic.round_trips += u64::from(std::mem::take(&mut self.has_spoken));
        if self.first_record == FirstRecord::Watched && count > 0 {
            let seen = buffer.get(..count).unwrap_or_default();
            let looks_like_tls = match seen.first_chunk() {
                Some(header) => wire::tls::record_header(*header).is_some(),
                None => seen.first().is_some_and(|first| (20..=23).contains(first)),
            };
            if !looks_like_tls {
                self.first_record = FirstRecord::NotTls(seen.to_vec());
                return Err(io::Error::new(io::ErrorKind::InvalidData, "not a TLS record"));
            }
            self.first_record = FirstRecord::NotWatched;
        }
        Ok(count)
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut flags = SendFlags::NOSIGNAL;
        // There is room nearly always: nobody asks before.
        flags.set(SendFlags::DONTWAIT, self.deadline.is_some());
        let count = loop {
            match send(self.as_fd(), bytes, flags) {
                Err(rustix::io::Errno::AGAIN) if self.deadline.is_some() => self.wait(PollFlags::POLLOUT)?,
                sent => break sent?,
            }
        };
        self.was_sent(count);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The time left, or an error of kind `TimedOut`.
pub(crate) fn remaining(deadline: Instant) -> io::Result<Duration> {
    match deadline.checked_duration_since(Instant::now()) {
        Some(left) if !left.is_zero() => Ok(left),
        _ => Err(io::Error::from(io::ErrorKind::TimedOut)),
    }
}

fn wait_for(
    fd: BorrowedFd<'_>,
    for_what: PollFlags,
    deadline: Instant,
    given_up: Option<&AtomicBool>,
) -> io::Result<()> {
    loop {
        if given_up.is_some_and(|given_up| given_up.load(Ordering::Relaxed)) {
            return Err(io::Error::new(GIVEN_UP, "it was given up here"));
        }
        // Rounded up, so that the last millisecond is waited for and not spun through.
        let mut left_ms = remaining(deadline)?.as_millis().saturating_add(1);
        if given_up.is_some() {
            left_ms = left_ms.min(LOOK_MS);
        }
        let timeout = PollTimeout::try_from(left_ms).unwrap_or(PollTimeout::MAX);
        match poll(&mut [PollFd::new(fd, for_what)], timeout) {
            Ok(0) | Err(Errno::EINTR) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

/// A connection of which nothing is asked: whether the server greets it tells whether it serves.
///
/// # Errors
/// As connect(2); a name with several addresses is tried at its first one.
pub fn queue(endpoint: &Endpoint, timeout: Duration) -> io::Result<OwnedFd> {
    let deadline = Instant::now() + timeout;
    match endpoint {
        Endpoint::Unix { path } => unix(path, deadline, None),
        Endpoint::Tcp { host, port, bind } => {
            let address = resolve(host, *port, timeout)?.into_iter().next();
            let address = address.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
            Ok(tcp(address, *bind, timeout, None)?.into())
        }
        Endpoint::Via(via) => Ok(via.0.dial(timeout)?.fd),
    }
}

/// One request, and all that is answered until the other side hangs up: `bytes_max` at most, within `timeout`.
///
/// # Errors
/// As connect(2), `TimedOut`, or `InvalidData` for a longer answer.
pub fn ask(endpoint: &Endpoint, request: &[u8], bytes_max: usize, timeout: Duration) -> io::Result<Vec<u8>> {
    let mut socket = Socket::connect(endpoint, Instant::now() + timeout, None)?;
    socket.write_all(request)?;
    let mut answer = Vec::new();
    let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    socket.take(limit).read_to_end(&mut answer)?;
    if answer.len() > bytes_max {
        let why = format!("its answer is longer than {bytes_max} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    Ok(answer)
}

/// Whether something came on it (or its end did), within `timeout`.
pub fn is_greeted(queued: BorrowedFd<'_>, timeout: Duration) -> bool {
    let timeout = PollTimeout::try_from(timeout).unwrap_or(PollTimeout::MAX);
    // An error is the end of it, so a new one is to be made.
    poll(&mut [PollFd::new(queued, PollFlags::POLLIN)], timeout).map_or(true, |count| count > 0)
}

/// A full listen queue says so at once, and nobody is told when there is room again: it is asked this often.
const QUEUE_POLL: Duration = Duration::from_millis(20);

/// A connection to a Unix socket.
///
/// # Source
/// connect(2) waits without a limit for room in the listen queue of a server that no longer accepts; on a non-blocking socket
/// it is EAGAIN, and unix(7) sockets cannot be polled for it.
fn unix(path: &Path, deadline: Instant, given_up: Option<&AtomicBool>) -> io::Result<OwnedFd> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let fd = socket(AddressFamily::Unix, SockType::Stream, flags, None)?;
    let address = UnixAddr::new(path)?;
    loop {
        match connect(fd.as_raw_fd(), &address) {
            Ok(()) => break,
            Err(Errno::EAGAIN | Errno::EINTR) => {
                if given_up.is_some_and(|given_up| given_up.load(Ordering::Relaxed)) {
                    return Err(io::Error::new(GIVEN_UP, "it was given up here"));
                }
                std::thread::sleep(remaining(deadline)?.min(QUEUE_POLL));
            }
            Err(error) => return Err(error.into()),
        }
    }
    ioctl_fionbio(&fd, false)?;
    Ok(fd)
}

/// A TCP connection, from a given local address if one is given.
pub(crate) fn tcp(
    address: SocketAddr,
    from: Option<IpAddr>,
    timeout: Duration,
    given_up: Option<&AtomicBool>,
) -> io::Result<TcpStream> {
    let family = if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let fd = socket(family, SockType::Stream, SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK, None)?;
    if let Some(from) = from {
        bind(fd.as_raw_fd(), &SockaddrStorage::from(SocketAddr::new(from, 0)))?;
    }
    let deadline = Instant::now() + timeout;
    match connect(fd.as_raw_fd(), &SockaddrStorage::from(address)) {
        Ok(()) => {}
        Err(Errno::EINPROGRESS) => {
            wait_for(fd.as_fd(), PollFlags::POLLOUT, deadline, given_up)?;
            let error = getsockopt(&fd, sockopt::SocketError)?;
            if error != 0 {
                return Err(io::Error::from_raw_os_error(error));
            }
        }
        Err(error) => return Err(error.into()),
    }
    let stream = TcpStream::from(fd);
    stream.set_nonblocking(false)?;
    // A login is many small turns; Nagle's algorithm would add 40 ms to some of them.
    stream.set_nodelay(true)?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    /// A server that is frozen, and whose queue earlier connections have filled.
    #[test]
    fn a_full_listen_queue_is_waited_for_until_the_deadline() {
        let dir = tempfile::tempdir().expect("tmp");
        let path = dir.path().join("s");
        let frozen = UnixListener::bind(&path).expect("a socket");
        // The system's own limit may be more than the files that an ordinary user may have open.
        rustix::net::listen(&frozen, 8).expect("it listens");
        let endpoint = Endpoint::unix(path);
        let connect = |ms| Socket::connect(&endpoint, Instant::now() + Duration::from_millis(ms), None);
        let mut queued = Vec::new();
        let error = loop {
            match connect(200) {
                Ok(socket) => queued.push(socket),
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{error} after {} connections", queued.len());
    }

    #[test]
    fn a_peer_that_reads_nothing_is_waited_for_until_the_deadline() {
        let (near, far) = UnixStream::pair().expect("a pair of sockets");
        let mut socket = Socket::of(near.into(), 0, Instant::now() + Duration::from_millis(50));
        let (over, is_over) = std::sync::mpsc::channel();
        // Whoever waits for room and looks at no clock meets another end.
        let peer = std::thread::spawn(move || {
            let _: Result<(), _> = is_over.recv_timeout(Duration::from_secs(10));
            drop(far);
        });
        // More than a socket holds.
        let bytes = vec![0; 64 << 20];
        assert_eq!(socket.write_all(&bytes).map_err(|error| error.kind()), Err(io::ErrorKind::TimedOut));
        over.send(()).expect("it waits");
        peer.join().expect("it ends");
        assert_eq!(socket.write_all(&[0]).map_err(|error| error.kind()), Err(io::ErrorKind::BrokenPipe));
    }

    #[test]
    fn who_waits_for_long_learns_that_the_other_machine_is_gone() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback");
        let stream = TcpStream::connect(listener.local_addr().expect("loopback")).expect("loopback");
        let mut socket = Socket::from_tcp(stream, Instant::now() + KEEPALIVE_IDLE);
        let asks = |socket: &Socket| rustix::net::sockopt::socket_keepalive(&socket.fd).expect("loopback");
        socket.set_io_timeout(KEEPALIVE_IDLE).expect("loopback");
        assert!(!asks(&socket));
        socket.set_io_timeout(KEEPALIVE_IDLE * 60).expect("loopback");
        assert!(asks(&socket));
        assert_eq!(rustix::net::sockopt::tcp_keepidle(&socket.fd).expect("loopback"), KEEPALIVE_IDLE);
    }
}
