//! Sockets of the rogue: a port per attack, a thread per connection, an end that waits for all of them.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use openssl::pkey::Private;
use openssl::rsa::Rsa;
use openssl::ssl::{HandshakeError, NameType, SslAcceptor};
use secrecy::SecretString;
use zeroize::Zeroize;

use crate::attack::{Attack, Protocol};
use crate::certificates::Certificates;
use crate::talk::{Channel, ClientSecrets, Talk, TalkRecord};

/// A connection that gives nothing for so long is over.
const SILENCE: Duration = Duration::from_secs(10);
/// A client that takes what came before for an answer goes on at once; others would wait for ever.
const MUTE: Duration = Duration::from_secs(2);
/// All of one connection.
const CONNECTION_MAX: Duration = Duration::from_secs(60);
/// Of one port. A client that opens more at once is a stress test, which this is not.
const CONNECTIONS_MAX: usize = 64;
const READ_BYTES: usize = 16 * 1024;
const POLL: Duration = Duration::from_millis(20);

/// What clients are told, and compared with.
pub struct Settings {
    pub bind: IpAddr,
    /// What clients connect to: it stands in the certificates that are right.
    pub host: String,
    pub password: SecretString,
    pub canary: Vec<u8>,
    pub canary_path: String,
}

/// One connection, as it ended.
#[derive(Debug, Clone)]
pub struct Visit {
    pub attack: &'static Attack,
    pub from: SocketAddr,
    pub seen: TalkRecord,
}

struct Shared {
    settings: Settings,
    key: Rsa<Private>,
    key_pem: Vec<u8>,
    visits: Mutex<Vec<Visit>>,
    open: AtomicUsize,
    turned_away: AtomicUsize,
    ends: AtomicBool,
}

/// A running rogue. Dropping it ends it.
pub struct Rogue {
    shared: Arc<Shared>,
    ports: Vec<(&'static Attack, SocketAddr)>,
    streams: Vec<(&'static Attack, SocketAddr)>,
    /// Of each listener for streams, how often it found nobody waiting.
    idle: Vec<Arc<AtomicUsize>>,
    ca_pem: Vec<u8>,
    crl_pem: Vec<u8>,
    threads: Vec<JoinHandle<()>>,
}

impl Rogue {
    /// Listens for every attack and protocol on a port of its own; `first_port` 0 leaves the choice to the kernel.
    ///
    /// # Errors
    /// A port that is taken, or OpenSSL without random numbers.
    pub fn start(
        settings: Settings,
        attacks: &[&'static Attack],
        protocols: &[Protocol],
        first_port: u16,
    ) -> io::Result<Self> {
        let certificates = Certificates::new().map_err(io::Error::other)?;
        let key = Rsa::generate(2048).map_err(io::Error::other)?;
        let key_pem = key.public_key_to_pem().map_err(io::Error::other)?;
        let shared = Arc::new(Shared {
            settings,
            key,
            key_pem,
            visits: Mutex::default(),
            open: AtomicUsize::new(0),
            turned_away: AtomicUsize::new(0),
            ends: AtomicBool::new(false),
        });
        let mut this = Self {
            ports: Vec::new(),
            streams: Vec::new(),
            idle: Vec::new(),
            ca_pem: certificates.ca_pem().map_err(io::Error::other)?,
            crl_pem: certificates.crl_pem().map_err(io::Error::other)?,
            threads: Vec::new(),
            shared: Arc::clone(&shared),
        };
        let played = protocols.iter().flat_map(|protocol| {
            attacks.iter().filter(|attack| attack.is_played_in(*protocol)).map(|attack| (*attack, *protocol))
        });
        for (place, (attack, protocol)) in (0u16..).zip(played) {
            let acceptor = match &attack.tls {
                Some(look) => {
                    Some(certificates.acceptor(look, &shared.settings.host).map_err(io::Error::other)?)
                }
                None => None,
            };
            let port = if first_port == 0 { Some(0) } else { first_port.checked_add(place) };
            let port =
                port.ok_or_else(|| io::Error::other("there are not enough ports after the first one"))?;
            let listener = TcpListener::bind((shared.settings.bind, port))?;
            listener.set_nonblocking(true)?;
            let ports = match protocol {
                Protocol::MySql => &mut this.ports,
                Protocol::Stream => &mut this.streams,
            };
            ports.push((attack, listener.local_addr()?));
            let (shared, idle) = (Arc::clone(&shared), Arc::new(AtomicUsize::new(0)));
            if protocol == Protocol::Stream {
                this.idle.push(Arc::clone(&idle));
            }
            let thread = thread::Builder::new()
                .name(format!("rogue {}", attack.id))
                .spawn(move || listen(&shared, attack, protocol, &listener, acceptor.as_ref(), &idle))?;
            this.threads.push(thread);
        }
        Ok(this)
    }

    /// Where each attack listens.
    pub fn ports(&self, protocol: Protocol) -> &[(&'static Attack, SocketAddr)] {
        match protocol {
            Protocol::MySql => &self.ports,
            Protocol::Stream => &self.streams,
        }
    }

    pub fn port(&self, attack: &Attack, protocol: Protocol) -> Option<u16> {
        self.ports(protocol).iter().find(|(one, _)| one.id == attack.id).map(|(_, address)| address.port())
    }

    /// The CA to be trusted, as PEM.
    pub fn ca_pem(&self) -> &[u8] {
        &self.ca_pem
    }

    /// What that CA has revoked, as PEM.
    pub fn crl_pem(&self) -> &[u8] {
        &self.crl_pem
    }

    /// Connections since the last call that found their port with as many as it takes.
    pub fn turned_away(&self) -> usize {
        self.shared.turned_away.swap(0, Ordering::AcqRel)
    }

    /// What came since the last call. Waits until connections that are open have ended, at most `at_most`.
    pub fn visits(&self, at_most: Duration) -> Vec<Visit> {
        let deadline = Instant::now() + at_most;
        // Who speaks first needs no answer: it may have gone before anybody has taken its connection. The first look that finds
        // nobody may have begun before this; the second has not.
        let before: Vec<usize> = self.idle.iter().map(|idle| idle.load(Ordering::Acquire)).collect();
        for (idle, before) in self.idle.iter().zip(before) {
            while idle.load(Ordering::Acquire).wrapping_sub(before) < 2 && Instant::now() < deadline {
                thread::sleep(POLL / 4);
            }
        }
        while self.shared.open.load(Ordering::Acquire) > 0 && Instant::now() < deadline {
            thread::sleep(POLL);
        }
        std::mem::take(&mut *self.shared.visits.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Rogue {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::Release);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn listen(
    shared: &Arc<Shared>,
    attack: &'static Attack,
    protocol: Protocol,
    listener: &TcpListener,
    acceptor: Option<&SslAcceptor>,
    idle: &AtomicUsize,
) {
    let open = Arc::new(AtomicUsize::new(0));
    while !shared.ends.load(Ordering::Acquire) {
        let Ok((stream, from)) = listener.accept() else {
            idle.fetch_add(1, Ordering::AcqRel);
            thread::sleep(POLL);
            continue;
        };
        if open.load(Ordering::Acquire) >= CONNECTIONS_MAX {
            shared.turned_away.fetch_add(1, Ordering::AcqRel);
            continue;
        }
        open.fetch_add(1, Ordering::AcqRel);
        shared.open.fetch_add(1, Ordering::AcqRel);
        let (for_thread, acceptor, own) = (Arc::clone(shared), acceptor.cloned(), Arc::clone(&open));
        let spawned = thread::Builder::new().name("rogue connection".into()).spawn(move || {
            let seen = match protocol {
                Protocol::MySql => serve(&for_thread, attack, &stream, acceptor.as_ref()),
                Protocol::Stream => serve_stream(&stream, acceptor.as_ref()),
            };
            let mut visits = for_thread.visits.lock().unwrap_or_else(PoisonError::into_inner);
            visits.push(Visit { attack, from, seen });
            drop(visits);
            own.fetch_sub(1, Ordering::AcqRel);
            for_thread.open.fetch_sub(1, Ordering::AcqRel);
        });
        if spawned.is_err() {
            open.fetch_sub(1, Ordering::AcqRel);
            shared.open.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

fn serve(shared: &Shared, attack: &Attack, stream: &TcpStream, acceptor: Option<&SslAcceptor>) -> TalkRecord {
    let settings = &shared.settings;
    let known = ClientSecrets {
        password: &settings.password,
        canary: &settings.canary,
        canary_path: &settings.canary_path,
        key: &shared.key,
        key_pem: &shared.key_pem,
    };
    let mut nonce = [0; 20];
    // Without random bytes it is a constant: nobody's secret depends on it.
    let _ = openssl::rand::rand_bytes(&mut nonce);
    let mut talk = Talk::new(attack, &known, nonce);
    let _ = stream.set_nonblocking(false);
    let _ = stream.set_nodelay(true);
    let _ = stream.set_write_timeout(Some(SILENCE));
    let deadline = Instant::now() + CONNECTION_MAX;
    let mut plain = stream;
    let passed = pass(&mut plain, stream, &mut talk, deadline);
    if passed.is_ok()
        && let (Some(early), Some(acceptor)) = (talk.wants_tls(), acceptor)
    {
        match acceptor.accept(Prefixed { early, at: 0, stream }) {
            Ok(mut session) => {
                let name = session.ssl().servername(NameType::HOST_NAME).map(wire::printable);
                talk.tls_finished(session.ssl().version_str(), name);
                if let Err(error) = pass(&mut session, stream, &mut talk, deadline) {
                    talk.gone(is_silence(&error));
                }
                let _ = session.shutdown();
            }
            Err(HandshakeError::SetupFailure(error)) => talk.tls_failed(error.to_string(), None),
            Err(HandshakeError::Failure(stopped) | HandshakeError::WouldBlock(stopped)) => {
                let name = stopped.ssl().servername(NameType::HOST_NAME).map(wire::printable);
                talk.tls_failed(wire::printable(&stopped.error().to_string()), name);
            }
        }
    }
    if let Err(error) = passed {
        talk.gone(is_silence(&error));
    }
    let _ = stream.shutdown(Shutdown::Write);
    talk.into_seen()
}

/// A client that speaks first. Its bytes are counted, and forgotten: that they came is what it gives away.
fn serve_stream(stream: &TcpStream, acceptor: Option<&SslAcceptor>) -> TalkRecord {
    let mut seen = TalkRecord::default();
    let _ = stream.set_nonblocking(false);
    let _ = stream.set_read_timeout(Some(SILENCE));
    let _ = stream.set_write_timeout(Some(SILENCE));
    let mut first = [0];
    let count = stream.peek(&mut first).unwrap_or_default();
    let is_tls = count > 0 && first == [wire::tls::CONTENT_HANDSHAKE];
    match (is_tls, acceptor) {
        (false, _) => read_stream(stream, Channel::Clear, &mut seen),
        (true, None) => {
            seen.asked_for_tls = true;
            seen.trace.note("client: a ClientHello, but this server has no TLS".into());
        }
        (true, Some(acceptor)) => {
            seen.asked_for_tls = true;
            match acceptor.accept(stream) {
                Ok(mut session) => {
                    seen.finished_tls = true;
                    seen.server_name = session.ssl().servername(NameType::HOST_NAME).map(wire::printable);
                    seen.trace.tls_finished(session.ssl().version_str(), seen.server_name.as_deref());
                    read_stream(&mut session, Channel::Tls, &mut seen);
                    let _ = session.shutdown();
                }
                Err(HandshakeError::SetupFailure(error)) => seen.tls_failure = Some(error.to_string()),
                Err(HandshakeError::Failure(stopped) | HandshakeError::WouldBlock(stopped)) => {
                    let why = wire::printable(&stopped.error().to_string());
                    seen.trace.tls_failed(&why);
                    seen.tls_failure = Some(why);
                }
            }
        }
    }
    let _ = stream.shutdown(Shutdown::Both);
    seen
}

/// Reads what a stream begins with, into nowhere.
fn read_stream(mut from: impl Read, over: Channel, seen: &mut TalkRecord) {
    let mut buffer = [0; READ_BYTES];
    let count = from.read(&mut buffer).unwrap_or_default();
    buffer.zeroize();
    if count > 0 {
        seen.command = Some(over);
        seen.commands = 1;
        seen.trace.note(format!("client, {over}: a stream, {count} bytes read"));
    } else {
        seen.trace.note("client: closes".into());
    }
}

fn is_silence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Hands bytes in and out until the talk is over, wants TLS, or the client has gone.
fn pass(
    stream: &mut (impl Read + Write),
    socket: &TcpStream,
    talk: &mut Talk<'_>,
    deadline: Instant,
) -> io::Result<()> {
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let patience = if talk.is_mute() { MUTE } else { SILENCE };
        let _ = socket.set_read_timeout(Some(patience));
        let output = talk.output();
        if !output.is_empty() {
            stream.write_all(&output)?;
            stream.flush()?;
        }
        if talk.is_over() || talk.wants_tls_now() || Instant::now() > deadline {
            return Ok(());
        }
        match stream.read(&mut buffer) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => talk.input(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A stream some of whose bytes were read already.
struct Prefixed<'s> {
    early: Vec<u8>,
    at: usize,
    stream: &'s TcpStream,
}

impl Read for Prefixed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.early.get(self.at..).unwrap_or_default();
        if left.is_empty() {
            return (&mut &*self.stream).read(buffer);
        }
        let count = left.len().min(buffer.len());
        if let (Some(from), Some(to)) = (left.get(..count), buffer.get_mut(..count)) {
            to.copy_from_slice(from);
        }
        self.at += count;
        Ok(count)
    }
}

impl Write for Prefixed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&mut &*self.stream).write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        (&mut &*self.stream).flush()
    }
}
