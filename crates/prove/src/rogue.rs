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

use crate::attack::Attack;
use crate::certificates::Certificates;
use crate::talk::{Known, Seen, Talk};

/// A connection that gives nothing for so long is over.
const SILENCE: Duration = Duration::from_secs(10);
/// A client that takes what came before for an answer goes on at once; others would wait for ever.
const MUTE: Duration = Duration::from_secs(2);
/// All of one connection.
const CONNECTION_MAX: Duration = Duration::from_secs(60);
/// A client that opens more at once is a stress test, which this is not.
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
    pub seen: Seen,
}

struct Shared {
    settings: Settings,
    key: Rsa<Private>,
    key_pem: Vec<u8>,
    visits: Mutex<Vec<Visit>>,
    open: AtomicUsize,
    ends: AtomicBool,
}

/// A running rogue. Dropping it ends it.
pub struct Rogue {
    shared: Arc<Shared>,
    ports: Vec<(&'static Attack, SocketAddr)>,
    ca_pem: Vec<u8>,
    crl_pem: Vec<u8>,
    threads: Vec<JoinHandle<()>>,
}

impl Rogue {
    /// Listens for every attack on a port of its own; `first_port` 0 leaves the choice to the kernel.
    ///
    /// # Errors
    /// A port that is taken, or OpenSSL without random numbers.
    pub fn start(settings: Settings, attacks: &[&'static Attack], first_port: u16) -> io::Result<Self> {
        let certificates = Certificates::new().map_err(io::Error::other)?;
        let key = Rsa::generate(2048).map_err(io::Error::other)?;
        let key_pem = key.public_key_to_pem().map_err(io::Error::other)?;
        let shared = Arc::new(Shared {
            settings,
            key,
            key_pem,
            visits: Mutex::default(),
            open: AtomicUsize::new(0),
            ends: AtomicBool::new(false),
        });
        let mut this = Self {
            ports: Vec::new(),
            ca_pem: certificates.ca_pem().map_err(io::Error::other)?,
            crl_pem: certificates.crl_pem().map_err(io::Error::other)?,
            threads: Vec::new(),
            shared: Arc::clone(&shared),
        };
        for (place, attack) in (0u16..).zip(attacks) {
            let acceptor = match &attack.tls {
                Some(look) => {
                    Some(certificates.acceptor(look, &shared.settings.host).map_err(io::Error::other)?)
                }
                None => None,
            };
            let port = if first_port == 0 { 0 } else { first_port.saturating_add(place) };
            let listener = TcpListener::bind((shared.settings.bind, port))?;
            listener.set_nonblocking(true)?;
            this.ports.push((attack, listener.local_addr()?));
            let (shared, attack) = (Arc::clone(&shared), *attack);
            let thread = thread::Builder::new()
                .name(format!("rogue {}", attack.id))
                .spawn(move || listen(&shared, attack, &listener, acceptor.as_ref()))?;
            this.threads.push(thread);
        }
        Ok(this)
    }

    /// Where each attack listens.
    pub fn ports(&self) -> &[(&'static Attack, SocketAddr)] {
        &self.ports
    }

    pub fn port(&self, attack: &Attack) -> Option<u16> {
        self.ports.iter().find(|(one, _)| one.id == attack.id).map(|(_, address)| address.port())
    }

    /// The CA to be trusted, as PEM.
    pub fn ca_pem(&self) -> &[u8] {
        &self.ca_pem
    }

    /// What that CA has revoked, as PEM.
    pub fn crl_pem(&self) -> &[u8] {
        &self.crl_pem
    }

    /// What came since the last call. Waits until connections that are open have ended, at most `at_most`.
    pub fn visits(&self, at_most: Duration) -> Vec<Visit> {
        let deadline = Instant::now() + at_most;
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
    listener: &TcpListener,
    acceptor: Option<&SslAcceptor>,
) {
    while !shared.ends.load(Ordering::Acquire) {
        let Ok((stream, from)) = listener.accept() else {
            thread::sleep(POLL);
            continue;
        };
        if shared.open.fetch_add(1, Ordering::AcqRel) >= CONNECTIONS_MAX {
            shared.open.fetch_sub(1, Ordering::AcqRel);
            continue;
        }
        let (for_thread, acceptor) = (Arc::clone(shared), acceptor.cloned());
        let spawned = thread::Builder::new().name("rogue connection".into()).spawn(move || {
            let seen = serve(&for_thread, attack, &stream, acceptor.as_ref());
            let mut visits = for_thread.visits.lock().unwrap_or_else(PoisonError::into_inner);
            visits.push(Visit { attack, from, seen });
            drop(visits);
            for_thread.open.fetch_sub(1, Ordering::AcqRel);
        });
        if spawned.is_err() {
            shared.open.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

fn serve(shared: &Shared, attack: &Attack, stream: &TcpStream, acceptor: Option<&SslAcceptor>) -> Seen {
    let settings = &shared.settings;
    let known = Known {
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
