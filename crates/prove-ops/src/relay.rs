//! `sealion prove relay`: between a client and a real server. The sockets; what the bytes mean is decided in `prove::relay`.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use prove::relay::Relay;
pub use prove::relay::key::{KeyTaken, Keys};
pub use prove::relay::{Active, Change, Config, Event, Outcome, Stripped};
use prove::sniff::{ConnectionSummary, Finding};

use site::OpsError;

/// Two threads each.
const CONNECTIONS_MAX: usize = 256;
/// So many of them are listed at the end; all of them are counted.
pub const LISTED_MAX: usize = 10_000;
const READ_BYTES: usize = 64 << 10;
const POLL: Duration = Duration::from_millis(10);
const DIAL_MAX: Duration = Duration::from_secs(10);
/// After the end, connections that are open are given so long.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Where somebody listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl Place {
    /// `HOST:PORT`, or the path of a unix socket.
    ///
    /// # Errors
    /// A name that nobody knows, a port that is none.
    pub fn parse(text: &str) -> Result<Self, OpsError> {
        if text.contains('/') {
            return Ok(Self::Unix(text.into()));
        }
        let mut found = text.to_socket_addrs().map_err(|error| {
            OpsError::usage(
                format!("invalid address \"{text}\""),
                error.to_string(),
                "use HOST:PORT, or the path of a unix socket",
            )
        })?;
        found.next().map(Self::Tcp).ok_or_else(|| {
            OpsError::usage(
                format!("\"{text}\" has no address"),
                "the name exists, but has no address",
                "use HOST:PORT",
            )
        })
    }

    fn port(&self) -> u16 {
        match self {
            Self::Tcp(address) => address.port(),
            Self::Unix(_) => prove::sniff::PORT_MYSQL,
        }
    }

    fn dial(&self) -> io::Result<Stream> {
        Ok(match self {
            Self::Tcp(address) => {
                let stream = TcpStream::connect_timeout(address, DIAL_MAX)?;
                stream.set_nodelay(true)?;
                Stream::Tcp(stream)
            }
            Self::Unix(path) => Stream::Unix(UnixStream::connect(path)?),
        })
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

#[derive(Debug)]
enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Tcp(stream) => Self::Tcp(stream.try_clone()?),
            Self::Unix(stream) => Self::Unix(stream.try_clone()?),
        })
    }

    fn shutdown(&self, how: Shutdown) {
        // Whoever has gone already needs no word.
        let _ = match self {
            Self::Tcp(stream) => stream.shutdown(how),
            Self::Unix(stream) => stream.shutdown(how),
        };
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Listener {
    fn bind(place: &Place) -> io::Result<(Self, Place)> {
        Ok(match place {
            Place::Tcp(address) => {
                let listener = TcpListener::bind(address)?;
                listener.set_nonblocking(true)?;
                let at = Place::Tcp(listener.local_addr()?);
                (Self::Tcp(listener), at)
            }
            Place::Unix(path) => {
                let listener = UnixListener::bind(path)?;
                listener.set_nonblocking(true)?;
                (Self::Unix(listener, path.clone()), place.clone())
            }
        })
    }

    /// Who has come, if somebody has.
    fn accept(&self) -> io::Result<(Stream, String)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, from) = listener.accept()?;
                stream.set_nonblocking(false)?;
                stream.set_nodelay(true)?;
                Ok((Stream::Tcp(stream), from.to_string()))
            }
            Self::Unix(listener, _) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(false)?;
                Ok((Stream::Unix(stream), "unix socket".into()))
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // Only what we bound, and only while it is a socket: somebody may have put a file of his own there.
        if let Self::Unix(_, path) = self
            && path.symlink_metadata().is_ok_and(|facts| facts.file_type().is_socket())
        {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// One connection that is over.
#[derive(Debug, Clone)]
pub struct Relayed {
    /// In the order in which they came, from 1.
    pub number: u64,
    pub client: String,
    pub told: ConnectionSummary,
    /// Worst first.
    pub findings: Vec<Finding>,
    pub outcome: Outcome,
    /// Why the server was not reached.
    pub unreachable: Option<String>,
}

/// What is said while it goes on.
#[derive(Debug, Clone)]
pub enum RelayNews {
    Opened { number: u64, client: String },
    Event { number: u64, event: Event },
    Closed(Box<Relayed>),
}

/// What a relay is to do.
pub struct RelayJob {
    pub listen: Place,
    pub target: Place,
    pub config: Config,
    /// Words to look for; canaries of sealion are looked for always.
    pub words: Vec<Vec<u8>>,
}

struct Shared {
    target: Place,
    config: Arc<Config>,
    words: Vec<Vec<u8>>,
    open: AtomicUsize,
    ends: AtomicBool,
}

/// A relay that runs. Dropping it ends it.
pub struct Running {
    at: Place,
    shared: Arc<Shared>,
    said: Receiver<RelayNews>,
    listening: Option<JoinHandle<()>>,
}

impl Running {
    /// # Errors
    /// The place to listen at is taken, or not of this machine.
    pub fn start(wish: RelayJob) -> Result<Self, OpsError> {
        let (listener, at) = Listener::bind(&wish.listen).map_err(|error| {
            OpsError::cannot_look(
                format!("the relay cannot listen at {}", wish.listen),
                error,
                "choose a free port or path with --listen",
            )
        })?;
        let shared = Arc::new(Shared {
            target: wish.target,
            config: Arc::new(wish.config),
            words: wish.words,
            open: AtomicUsize::new(0),
            ends: AtomicBool::new(false),
        });
        let (sender, said) = channel();
        let for_thread = Arc::clone(&shared);
        let listening = thread::Builder::new()
            .name("relay".into())
            .spawn(move || listen(&for_thread, &listener, &sender))
            .map_err(|error| OpsError::internal("cannot start the thread of the relay", error))?;
        Ok(Self { at, shared, said, listening: Some(listening) })
    }

    pub fn at(&self) -> &Place {
        &self.at
    }

    /// What has happened since the last call.
    pub fn said(&self) -> Vec<RelayNews> {
        self.said.try_iter().collect()
    }

    /// Takes nobody any more, gives those that are there a moment, and says the rest.
    pub fn end(mut self) -> Vec<RelayNews> {
        self.halt();
        self.said.try_iter().collect()
    }

    fn halt(&mut self) {
        self.shared.ends.store(true, Ordering::Release);
        if let Some(listening) = self.listening.take() {
            let _ = listening.join();
        }
        let deadline = Instant::now() + LAST_WORDS;
        while self.shared.open.load(Ordering::Acquire) > 0 && Instant::now() < deadline {
            thread::sleep(POLL);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.halt();
    }
}

fn listen(shared: &Arc<Shared>, listener: &Listener, sender: &Sender<RelayNews>) {
    let mut number = 0;
    while !shared.ends.load(Ordering::Acquire) {
        let Ok((client, from)) = listener.accept() else {
            thread::sleep(POLL);
            continue;
        };
        number += 1;
        let _ = sender.send(RelayNews::Opened { number, client: from.clone() });
        if shared.open.fetch_add(1, Ordering::AcqRel) >= CONNECTIONS_MAX {
            shared.open.fetch_sub(1, Ordering::AcqRel);
            let refused = Relayed {
                number,
                client: from,
                told: ConnectionSummary::default(),
                findings: vec![],
                outcome: Outcome::default(),
                unreachable: Some(format!("more than {CONNECTIONS_MAX} connections at once")),
            };
            let _ = sender.send(RelayNews::Closed(Box::new(refused)));
            continue;
        }
        let (for_thread, sender) = (Arc::clone(shared), sender.clone());
        let spawned = thread::Builder::new().name("relay connection".into()).spawn(move || {
            let relayed = relay(&for_thread, number, from, &client, &sender);
            let _ = sender.send(RelayNews::Closed(Box::new(relayed)));
            for_thread.open.fetch_sub(1, Ordering::AcqRel);
        });
        if spawned.is_err() {
            shared.open.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

fn lock(relay: &Mutex<Relay>) -> MutexGuard<'_, Relay> {
    relay.lock().unwrap_or_else(PoisonError::into_inner)
}

fn relay(
    shared: &Arc<Shared>,
    number: u64,
    from: String,
    client: &Stream,
    sender: &Sender<RelayNews>,
) -> Relayed {
    let machine = Relay::new(Arc::clone(&shared.config), shared.target.port(), &shared.words);
    let machine = Arc::new(Mutex::new(machine));
    let passed = pass(shared, number, client, &machine, sender);
    client.shutdown(Shutdown::Both);
    let machine =
        Arc::into_inner(machine).map(|machine| machine.into_inner().unwrap_or_else(PoisonError::into_inner));
    let (told, findings, outcome) = machine.map(Relay::finish).unwrap_or_default();
    Relayed {
        number,
        client: from,
        told,
        findings,
        outcome,
        unreachable: passed.err().map(|error| error.to_string()),
    }
}

/// Hands on both directions until both have ended.
fn pass(
    shared: &Arc<Shared>,
    number: u64,
    client: &Stream,
    machine: &Arc<Mutex<Relay>>,
    sender: &Sender<RelayNews>,
) -> io::Result<()> {
    let server = shared.target.dial()?;
    let back = {
        let (mut from, mut to) = (server.try_clone()?, client.try_clone()?);
        let (shared, machine, sender) = (Arc::clone(shared), Arc::clone(machine), sender.clone());
        thread::Builder::new().name("relay back".into()).spawn(move || {
            let mut buffer = vec![0; READ_BYTES];
            loop {
                let count = read(&mut from, &mut buffer, &shared);
                let (bytes, events) = {
                    let mut relay = lock(&machine);
                    match buffer.get(..count).filter(|piece| !piece.is_empty()) {
                        Some(piece) => relay.from_server(piece),
                        None => relay.server_ended(),
                    }
                    (relay.take_for_client(), relay.take_events())
                };
                tell(number, events, &sender);
                if (!bytes.is_empty() && to.write_all(&bytes).is_err()) || count == 0 {
                    break;
                }
            }
            to.shutdown(Shutdown::Write);
            from.shutdown(Shutdown::Read);
        })?
    };
    let (mut from, mut to) = (client.try_clone()?, server);
    let mut to_client = client.try_clone()?;
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let count = read(&mut from, &mut buffer, shared);
        let Some(piece) = buffer.get(..count).filter(|piece| !piece.is_empty()) else { break };
        // Written outside of the lock: an end that does not read must not stop the other direction.
        let (for_server, for_client, events) = {
            let mut relay = lock(machine);
            relay.from_client(piece);
            (relay.take_for_server(), relay.take_for_client(), relay.take_events())
        };
        tell(number, events, sender);
        // Only where the server has nothing to say: it waits for us.
        if !for_client.is_empty() && to_client.write_all(&for_client).is_err() {
            break;
        }
        if !for_server.is_empty() && to.write_all(&for_server).is_err() {
            break;
        }
    }
    to.shutdown(Shutdown::Write);
    let _ = back.join();
    Ok(())
}

/// The next bytes; none when it is over, or we end.
fn read(from: &mut Stream, buffer: &mut [u8], shared: &Shared) -> usize {
    let timeout = Some(Duration::from_millis(200));
    let _ = match from {
        Stream::Tcp(stream) => stream.set_read_timeout(timeout),
        Stream::Unix(stream) => stream.set_read_timeout(timeout),
    };
    loop {
        match from.read(buffer) {
            Ok(count) => return count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                if shared.ends.load(Ordering::Acquire) {
                    return 0;
                }
            }
            Err(_) => return 0,
        }
    }
}

fn tell(number: u64, events: Vec<Event>, sender: &Sender<RelayNews>) {
    for event in events {
        let _ = sender.send(RelayNews::Event { number, event });
    }
}
