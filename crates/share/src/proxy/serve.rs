//! The HTTPS around a [`Store`]: TLS 1.3 with a certificate that the proxy has made itself, and that its callers know by its hash.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::serve::IncomingStream;
use axum::{Json, Router};
use openssl::asn1::{Asn1Integer, Asn1Time};
use openssl::bn::BigNum;
use openssl::ec::{EcGroup, EcKey};
use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::PKey;
use openssl::x509::{X509, X509Name};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{Sleep, sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use zeroize::Zeroizing;

use super::callers::{Caller, Callers};
use super::limit::Limit;
use super::protocol::{AuditWish, BODY_BYTES_MAX, ChallengeAnswer, PutGrant, Reason, Refusal, SignedWish};
use super::store::{self, Counts, Store};
use crate::b64::Fixed;
use crate::crypto::{self, HASH_BYTES};
use crate::keys::PublicIdentity;
use crate::{ShareError, files, now_unix_s};

const CERTIFICATE: &str = "certificate.der";
const KEY: &str = "certificate.key";
/// Of either; ours are some 500 bytes.
const FILE_BYTES_MAX: u64 = 8192;
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);
/// A request is a few hundred bytes: whoever needs longer holds a place that others want.
const CONNECTION_MAX: Duration = Duration::from_secs(30);
const CONNECTIONS_MAX: usize = 256;

/// A proxy that listens, and has not answered anybody yet.
pub struct Proxy {
    listener: std::net::TcpListener,
    tls: Arc<rustls::ServerConfig>,
    store: Store,
    /// SHA-256 of its certificate: who pins it needs no CA.
    pub certificate: Fixed<HASH_BYTES>,
    pub address: SocketAddr,
}

impl Proxy {
    /// # Errors
    /// The directory, its files or the address.
    pub fn new(dir: &Path, owner: PublicIdentity, listen: SocketAddr) -> Result<Self, ShareError> {
        files::make_private_dir(dir)?;
        let (certificate, key) = certificate_of(dir)?;
        let hash = Fixed(crypto::sha256(&[&certificate]));
        let store = Store::open(dir, owner, hash)?;
        let tls_error = |error| {
            ShareError::usage(
                format!("the certificate in {} cannot be used", dir.display()),
                error,
                "restore both files of it; with a new certificate all grants have to be given anew",
            )
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(tls_error)?
            .with_no_client_auth()
            .with_single_cert(
                vec![CertificateDer::from(certificate)],
                PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.to_vec())),
            )
            .map_err(tls_error)?;
        let busy = |error| {
            ShareError::usage(
                format!("cannot listen on {listen}"),
                error,
                "give another address or port: --listen ADDRESS:PORT",
            )
        };
        let listener = std::net::TcpListener::bind(listen).map_err(busy)?;
        listener.set_nonblocking(true).map_err(busy)?;
        let address = listener.local_addr().map_err(busy)?;
        Ok(Self { listener, tls: Arc::new(tls), store, certificate: hash, address })
    }

    /// Keeps the end of its log in `path`, too; see [`super::mark`].
    ///
    /// # Errors
    /// The database is older than the mark.
    pub fn marked(mut self, path: &Path, dir: &Path) -> Result<Self, ShareError> {
        self.store = self.store.marked(path, dir)?;
        Ok(self)
    }

    /// Takes standing grants, too; see [`Store::reencrypting`].
    #[must_use]
    pub fn reencrypting(mut self, by: Arc<dyn store::Reencryption>) -> Self {
        self.store = self.store.reencrypting(by);
        self
    }

    /// What `--proxy` of `share grant` takes.
    pub fn url(&self) -> String {
        format!("https://{}#{}", self.address, self.certificate.hex())
    }

    /// Answers until `stop` says so.
    pub fn run(self, stop: impl Fn() -> bool + Send + 'static) -> Result<(), ShareError> {
        let failed = |error| ShareError::internal("the proxy cannot run", error);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(failed)?;
        let Self { listener, tls, store, .. } = self;
        let room =
            Arc::new(Room { store: Mutex::new(store), limit: Mutex::default(), refused: Mutex::default() });
        runtime.block_on(async move {
            let listener = TcpListener::from_std(listener).map_err(failed)?;
            let served = axum::serve(Door::new(listener, tls).map_err(failed)?, router(room));
            let served = served.with_graceful_shutdown(async move {
                while !stop() {
                    sleep(Duration::from_millis(100)).await;
                }
            });
            served.await.map_err(failed)
        })
    }
}

/// What all requests have in common.
struct Room {
    store: Mutex<Store>,
    limit: Mutex<Limit>,
    /// Refusals since it was started, by their reason.
    refused: Mutex<BTreeMap<&'static str, u64>>,
}

type Shared = Arc<Room>;

/// Who asks.
#[derive(Debug, Clone, Copy)]
struct Peer(SocketAddr);

impl Connected<IncomingStream<'_, Door>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Door>) -> Self {
        Self(*stream.remote_addr())
    }
}

/// In docs/src/reference/share-proxy.openapi.json, too.
fn router(room: Shared) -> axum::extract::connect_info::IntoMakeServiceWithConnectInfo<Router, Peer> {
    Router::new()
        .route("/v1/challenge", get(challenge))
        .route("/v1/grants", put(put_grant))
        .route("/v1/open", post(open))
        .route("/v1/revoke", post(revoke))
        .route("/v1/state", post(state))
        .route("/v1/audit", post(audit))
        .route("/metrics", get(metrics))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(from_fn_with_state(Arc::clone(&room), limited))
        .with_state(room)
        .into_make_service_with_connect_info::<Peer>()
}

async fn limited(
    State(room): State<Shared>,
    ConnectInfo(Peer(peer)): ConnectInfo<Peer>,
    request: Request,
    next: Next,
) -> Response {
    let taken = room.limit.lock().unwrap_or_else(PoisonError::into_inner).take(peer.ip(), Instant::now());
    match taken {
        Ok(()) => next.run(request).await,
        Err(wait) => {
            let text = format!("too many requests from this address; again in {} ms", wait.as_millis() + 1);
            room.refused(&Refusal::new(Reason::Busy, text))
        }
    }
}

impl Room {
    fn refused(&self, refusal: &Refusal) -> Response {
        let mut counts = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(refusal.reason.name()).or_default() += 1;
        let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Json(refusal)).into_response()
    }
}

/// For Prometheus on this machine: how often others open what is nobody else's business.
async fn metrics(State(room): State<Shared>, ConnectInfo(Peer(peer)): ConnectInfo<Peer>) -> Response {
    if !peer.ip().to_canonical().is_loopback() {
        return room.refused(&Refusal::new(Reason::NotAllowed, "metrics are for this machine alone"));
    }
    let counted = {
        let room = Arc::clone(&room);
        tokio::task::spawn_blocking(move || {
            room.store.lock().unwrap_or_else(PoisonError::into_inner).counts()
        })
    };
    match counted.await {
        Ok(Ok(counts)) => {
            let refused = room.refused.lock().unwrap_or_else(PoisonError::into_inner).clone();
            ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], in_prometheus(&counts, &refused))
                .into_response()
        }
        Ok(Err(refusal)) => room.refused(&refusal),
        Err(_) => room.refused(&Refusal::new(Reason::Internal, "the proxy has failed")),
    }
}

/// # Source
/// Prometheus, exposition formats: text.
fn in_prometheus(counts: &Counts, refused: &BTreeMap<&'static str, u64>) -> String {
    let mut text = String::new();
    for (name, kind, help, value) in [
        (
            "sealion_share_grants",
            "gauge",
            "Grants that this proxy holds, revoked ones among them.",
            counts.grants,
        ),
        ("sealion_share_grants_revoked", "gauge", "Grants that were revoked.", counts.revoked),
        ("sealion_share_opens_total", "counter", "Shares that were given to readers.", counts.opens),
        ("sealion_share_log_lines_total", "counter", "Lines of the log.", counts.log_lines),
    ] {
        text += &format!("# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n");
    }
    let name = "sealion_share_refused_total";
    text += &format!("# HELP {name} Requests that were refused since the start.\n# TYPE {name} counter\n");
    for (reason, count) in refused {
        text += &format!("{name}{{reason=\"{reason}\"}} {count}\n");
    }
    text
}

/// The database waits for the disk: not on a thread that others need.
async fn with<T: serde::Serialize + Send + 'static>(
    room: Shared,
    what: impl FnOnce(&mut Store, i64) -> Result<T, Refusal> + Send + 'static,
) -> Response {
    let asked = Arc::clone(&room);
    let done = tokio::task::spawn_blocking(move || {
        let mut store = asked.store.lock().unwrap_or_else(PoisonError::into_inner);
        what(&mut store, now_unix_s())
    });
    match done.await {
        Ok(Ok(answer)) => Json(answer).into_response(),
        Ok(Err(refusal)) => room.refused(&refusal),
        Err(_) => room.refused(&Refusal::new(Reason::Internal, "the proxy has failed")),
    }
}

type Body<T> = Result<Json<T>, axum::extract::rejection::JsonRejection>;

async fn challenge(State(room): State<Shared>) -> Response {
    with(room, |store, now| store.challenge(now).map(|challenge| ChallengeAnswer { challenge })).await
}

async fn body<T: Send + 'static, A: serde::Serialize + Send + 'static>(
    room: Shared,
    body: Body<T>,
    what: impl FnOnce(&mut Store, &T, i64) -> Result<A, Refusal> + Send + 'static,
) -> Response {
    match body {
        Ok(Json(body)) => with(room, move |store, now| what(store, &body, now)).await,
        Err(error) => room.refused(&Refusal::new(Reason::BadRequest, error.to_string())),
    }
}

async fn put_grant(State(room): State<Shared>, put: Body<PutGrant>) -> Response {
    body(room, put, Store::put).await
}

async fn open(State(room): State<Shared>, wish: Body<SignedWish>) -> Response {
    body(room, wish, Store::open_share).await
}

async fn revoke(State(room): State<Shared>, wish: Body<SignedWish>) -> Response {
    body(room, wish, Store::revoke).await
}

async fn state(State(room): State<Shared>, wish: Body<SignedWish>) -> Response {
    body(room, wish, Store::state).await
}

async fn audit(State(room): State<Shared>, wish: Body<AuditWish>) -> Response {
    body(room, wish, |store, wish, now| store.audit(wish, now)).await
}

/// Lets in who has made a handshake; who is slow with it keeps nobody waiting.
struct Door {
    shaken: mpsc::Receiver<(Guest, SocketAddr)>,
    address: SocketAddr,
}

impl Door {
    fn new(listener: TcpListener, tls: Arc<rustls::ServerConfig>) -> std::io::Result<Self> {
        let address = listener.local_addr()?;
        let (sender, shaken) = mpsc::channel(CONNECTIONS_MAX);
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let acceptor = TlsAcceptor::from(tls);
        let callers = Callers::default();
        tokio::spawn(async move {
            loop {
                let Ok((tcp, peer)) = listener.accept().await else {
                    // No file descriptors, mostly; some come back.
                    sleep(Duration::from_millis(100)).await;
                    continue;
                };
                let Some(caller) = callers.come(peer.ip()) else { continue };
                let (sender, acceptor, places) = (sender.clone(), acceptor.clone(), Arc::clone(&places));
                tokio::spawn(async move {
                    let mut caller = caller;
                    let welcomed = timeout(HANDSHAKE_MAX, async {
                        caller.is_let_in().await?;
                        let place = places.acquire_owned().await.ok()?;
                        Some((acceptor.accept(tcp).await.ok()?, place))
                    });
                    if let Ok(Some((stream, place))) = welcomed.await {
                        let ends = Box::pin(sleep(CONNECTION_MAX));
                        // The server ends.
                        let _ =
                            sender.send((Guest { stream, ends, _place: place, _caller: caller }, peer)).await;
                    }
                });
            }
        });
        Ok(Self { shaken, address })
    }
}

impl axum::serve::Listener for Door {
    type Io = Guest;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Guest, SocketAddr) {
        match self.shaken.recv().await {
            Some(guest) => guest,
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        Ok(self.address)
    }
}

/// A connection, for so long.
struct Guest {
    stream: TlsStream<TcpStream>,
    ends: Pin<Box<Sleep>>,
    _place: OwnedSemaphorePermit,
    _caller: Caller,
}

impl AsyncRead for Guest {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        if self.ends.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(std::io::ErrorKind::TimedOut.into()));
        }
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for Guest {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        if self.ends.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(std::io::ErrorKind::TimedOut.into()));
        }
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

type Der = (Vec<u8>, Zeroizing<Vec<u8>>);

fn certificate_of(dir: &Path) -> Result<Der, ShareError> {
    let (certificate, key) = (dir.join(CERTIFICATE), dir.join(KEY));
    let is_there = |path: &Path| path.symlink_metadata().is_ok();
    if is_there(&key) && !is_there(&certificate) && !is_there(&dir.join(store::DATABASE)) {
        // Of a first start that was ended in its middle: nobody was told a hash yet.
        std::fs::remove_file(&key).map_err(files::cannot("remove", &key))?;
    }
    if !is_there(&certificate) && !is_there(&key) {
        let made = self_made().map_err(|error| ShareError::internal("cannot make a certificate", error))?;
        files::write_new(&key, &made.1, files::PRIVATE)?;
        files::write_new(&certificate, &made.0, files::PRIVATE)?;
    }
    files::is_private(&key)?;
    Ok((
        files::read_small(&certificate, FILE_BYTES_MAX)?,
        Zeroizing::new(files::read_small(&key, FILE_BYTES_MAX)?),
    ))
}

/// Nobody looks at names or dates in it, only at its hash.
fn self_made() -> Result<Der, ErrorStack> {
    let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1)?;
    let key = PKey::from_ec_key(EcKey::generate(&group)?)?;
    let mut name = X509Name::builder()?;
    name.append_entry_by_text("CN", "sealion share proxy")?;
    let name = name.build();
    let mut builder = X509::builder()?;
    builder.set_version(2)?;
    let mut serial = BigNum::new()?;
    serial.rand(127, openssl::bn::MsbOption::MAYBE_ZERO, false)?;
    builder.set_serial_number(&*Asn1Integer::from_bn(&serial)?)?;
    builder.set_subject_name(&name)?;
    builder.set_issuer_name(&name)?;
    builder.set_pubkey(&key)?;
    builder.set_not_before(&*Asn1Time::from_str("20200101000000Z")?)?;
    builder.set_not_after(&*Asn1Time::from_str("20991231235959Z")?)?;
    builder.sign(&key, MessageDigest::sha256())?;
    Ok((builder.build().to_der()?, Zeroizing::new(key.private_key_to_pkcs8()?)))
}
