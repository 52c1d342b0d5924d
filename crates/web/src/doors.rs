//! Ways in beside loopback and the token: a unix socket that is asked who is at its other end, and TLS for which a client needs a
//! certificate. Who comes in this way is known by it, and needs no token. Whoever is turned away is turned away before a byte of a
//! request is read.

use std::collections::VecDeque;
use std::fs;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{
    SocketAddr as UnixAddr, UnixListener as StdUnixListener, UnixStream as StdUnixStream,
};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::Listener;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::AsyncWrite;
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::AbortHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use zeroize::Zeroizing;

/// Somebody who says nothing holds one of [`HANDSHAKES_MAX`] for so long, or until so many others have come.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);
const HANDSHAKES_MAX: usize = 256;
/// Behind an error of accept(2), which is of the moment: too many open files.
const PAUSE: Duration = Duration::from_millis(100);
/// Who was turned away has so long to read it.
const REFUSAL_MAX: Duration = Duration::from_secs(2);
const REFUSALS_MAX: usize = 16;
const PEM_BYTES_MAX: u64 = 1 << 20;
/// What a stranger at the socket reads.
const NOT_YOU: &[u8] =
    b"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: 46\r\nConnection: close\r\n\r\n\
                         this user may not read here: --allow-user NAME";

/// The socket's file goes with it, if it is still the one that was made.
pub struct SocketFile {
    path: PathBuf,
    inode: u64,
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if self.path.symlink_metadata().is_ok_and(|about| about.ino() == self.inode) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Listens at `path`. What a `sealion web` that was killed has left there is replaced, and nothing else is.
///
/// # Errors
/// Somebody listens there, or something else is there.
pub fn bind_socket(path: &Path, is_for_others: bool) -> io::Result<(StdUnixListener, SocketFile)> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
        Ok(about) if !about.file_type().is_socket() => {
            return Err(io::Error::new(ErrorKind::AlreadyExists, "something else than a socket is there"));
        }
        Ok(_) => match StdUnixStream::connect(path) {
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => fs::remove_file(path)?,
            Ok(_) => return Err(io::Error::new(ErrorKind::AddrInUse, "somebody listens there")),
            Err(error) => return Err(error),
        },
    }
    let listener = StdUnixListener::bind(path)?;
    let file = SocketFile { path: path.to_owned(), inode: path.symlink_metadata()?.ino() };
    // Who may come in is decided by who it is; the file's mode only keeps away those who cannot.
    let mode = if is_for_others { 0o666 } else { 0o600 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    listener.set_nonblocking(true)?;
    Ok((listener, file))
}

/// Lets in only these users, as the kernel says who they are.
pub struct PeerListener {
    listener: UnixListener,
    uids: Vec<u32>,
    refusals: Arc<Semaphore>,
}

/// Tells somebody that he may not. What he has sent is taken from the socket, and thrown away: if it were left there, the kernel would
/// take the answer back (ECONNRESET) when the socket is closed.
async fn refuse(mut stream: UnixStream) {
    let mut thrown = [0; 4096];
    if stream.writable().await.is_err() || stream.try_write(NOT_YOU).is_err() {
        return;
    }
    let _ = poll_fn(|context| Pin::new(&mut stream).poll_shutdown(context)).await;
    // Until he hangs up, too.
    while stream.readable().await.is_ok() {
        match stream.try_read(&mut thrown) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
    }
}

impl PeerListener {
    pub fn new(listener: StdUnixListener, uids: Vec<u32>) -> io::Result<Self> {
        Ok(Self {
            listener: UnixListener::from_std(listener)?,
            uids,
            refusals: Arc::new(Semaphore::new(REFUSALS_MAX)),
        })
    }
}

impl Listener for PeerListener {
    type Io = UnixStream;
    type Addr = UnixAddr;

    async fn accept(&mut self) -> (UnixStream, UnixAddr) {
        loop {
            let Ok((stream, address)) = self.listener.accept().await else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            // Who cannot be told is nobody who may.
            match stream.peer_cred() {
                Ok(peer) if self.uids.contains(&peer.uid()) => return (stream, address.into()),
                _ => {
                    // Where nobody may be turned away any more, he is only hung up on.
                    if let Ok(place) = Arc::clone(&self.refusals).try_acquire_owned() {
                        tokio::spawn(async move {
                            let _ = tokio::time::timeout(REFUSAL_MAX, refuse(stream)).await;
                            drop(place);
                        });
                    }
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<UnixAddr> {
        self.listener.local_addr().map(Into::into)
    }
}

/// The files of `--tls-cert`, `--tls-key` and `--client-ca`.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    pub certificate: PathBuf,
    pub key: PathBuf,
    pub client_ca: PathBuf,
}

/// TLS 1.2 and 1.3, for clients with a certificate of that CA.
///
/// # Errors
/// What is wrong with which file, in one line.
pub fn tls(files: &TlsFiles) -> Result<Arc<ServerConfig>, String> {
    let chain = certificates(&files.certificate)?;
    let key = key(&files.key)?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates(&files.client_ca)? {
        roots.add(certificate).map_err(|error| {
            format!("{} has a certificate that is no CA's: {error}", files.client_ca.display())
        })?;
    }
    let provider = Arc::new(ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
        .build()
        .map_err(|error| format!("{} cannot judge clients: {error}", files.client_ca.display()))?;
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("no TLS version can be spoken: {error}"))?
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain, key)
        .map_err(|error| {
            format!("{} and {} are no pair: {error}", files.certificate.display(), files.key.display())
        })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn bytes(path: &Path) -> Result<Zeroizing<Vec<u8>>, String> {
    let failed = |error: io::Error| format!("{} cannot be read: {error}", path.display());
    if path.metadata().map_err(failed)?.len() > PEM_BYTES_MAX {
        return Err(format!("{} is larger than any PEM file", path.display()));
    }
    fs::read(path).map(Zeroizing::new).map_err(failed)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes(path)?).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(format!("{} has no certificate in PEM form", path.display())),
        Err(error) => Err(format!("{} is no PEM file: {error}", path.display())),
    }
}

fn key(path: &Path) -> Result<PrivateKeyDer<'static>, String> {
    let about = path.metadata().map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    if about.mode() & 0o077 != 0 {
        return Err(format!("{} can be read by others than its owner: chmod 600", path.display()));
    }
    PrivateKeyDer::from_pem_slice(&bytes(path)?)
        .map_err(|error| format!("{} has no private key without a passphrase: {error}", path.display()))
}

/// Hands out connections whose handshake is over, so that one who is slow at it keeps nobody else waiting.
pub struct TlsListener {
    arrived: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    address: SocketAddr,
}

impl TlsListener {
    pub fn new(listener: TcpListener, config: Arc<ServerConfig>) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (send, arrived) = mpsc::channel(HANDSHAKES_MAX);
        let acceptor = TlsAcceptor::from(config);
        tokio::spawn(async move {
            // The oldest one in front: who is honest needs milliseconds, and is not kept waiting by those who never say anything.
            let mut under_way: VecDeque<AbortHandle> = VecDeque::new();
            loop {
                let Ok((stream, address)) = listener.accept().await else {
                    tokio::time::sleep(PAUSE).await;
                    continue;
                };
                let (acceptor, send) = (acceptor.clone(), send.clone());
                let handshake = tokio::spawn(async move {
                    let handshake = tokio::time::timeout(HANDSHAKE_MAX, acceptor.accept(stream));
                    if let Ok(Ok(stream)) = handshake.await {
                        let _ = send.send((stream, address)).await;
                    }
                });
                if under_way.len() >= HANDSHAKES_MAX {
                    under_way.retain(|one| !one.is_finished());
                }
                if under_way.len() >= HANDSHAKES_MAX
                    && let Some(oldest) = under_way.pop_front()
                {
                    oldest.abort();
                }
                under_way.push_back(handshake.abort_handle());
            }
        });
        Ok(Self { arrived, address })
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TlsStream<TcpStream>, SocketAddr) {
        match self.arrived.recv().await {
            Some(one) => one,
            // Only where the runtime ends.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}

#[cfg(test)]
mod tests;
