//! Pages of what `sealion watch` keeps, for a browser on this machine. They only read: the store is opened for reading alone, and no
//! page has a button that changes anything.
//!
//! Start reading at [`router`]: [`guard`] decides who is answered at all, [`auth`] holds the token and the session, [`pages`] reads the
//! store and fills the templates, [`picture`] draws.

mod auth;
mod difference;
mod doors;
mod guard;
mod journals;
mod live;
mod pages;
mod picture;
#[cfg(test)]
mod tests;
mod words;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener as StdUnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use secrecy::SecretString;
use tokio::sync::Semaphore;
use watch::http::{HEAD_MAX, Limits, UNTAKEN_MAX};

pub use auth::Token;
pub use doors::TlsFiles;
use doors::{PeerListener, SocketFile, TlsListener};

/// A token is 64 bytes; nothing else has a body.
const BODY_MAX: usize = 4096;
/// Longer than the store waits for somebody who writes to it (5 s).
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// How soon a wish to stop is seen.
const STOP_POLL: Duration = Duration::from_millis(100);
/// Each reads the store once; more than that wait.
const READERS_MAX: usize = 4;
/// A browser has up to six, and each page that is open one that waits for news.
const LIMITS: Limits = Limits { connections: 256, head: HEAD_MAX, untaken: UNTAKEN_MAX, whole: None };

/// Beside the store.
const JOURNALS: &str = "journals";

/// What every request is answered from.
#[derive(Clone)]
pub(crate) struct Site {
    store: Arc<PathBuf>,
    /// Of changes: the state directory has both.
    journals: Arc<PathBuf>,
    /// `None`: who comes as far as a request is known by the way in.
    gate: Option<Arc<auth::Gate>>,
    hosts: Arc<guard::Hosts>,
    pages: Arc<pages::Pages>,
    /// One for each page that is open.
    streams: Arc<Semaphore>,
    timeout: Duration,
}

impl Site {
    fn new(store: PathBuf, hosts: guard::Hosts, token: Option<&Token>) -> Self {
        Self {
            journals: Arc::new(store.with_file_name(JOURNALS)),
            store: Arc::new(store),
            gate: token.map(|token| Arc::new(auth::Gate::new(token))),
            hosts: Arc::new(hosts),
            pages: Arc::new(pages::Pages::new()),
            streams: Arc::new(Semaphore::new(live::STREAMS_MAX)),
            timeout: REQUEST_TIMEOUT,
        }
    }
}

/// Where somebody listens, and who is let in there.
enum Door {
    /// Loopback; a token.
    Loopback(TcpListener, SocketAddr, Token),
    /// A unix socket; these users.
    Socket(StdUnixListener, SocketFile, Vec<u32>),
    /// TLS; clients with a certificate.
    Tls(TcpListener, SocketAddr, Arc<rustls::ServerConfig>),
}

/// It listens, and nobody is answered yet.
pub struct Web {
    door: Door,
    store: PathBuf,
    names: Vec<String>,
}

fn listener(listen: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(listen)?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

impl Web {
    /// On loopback, for whoever has the token.
    ///
    /// # Errors
    /// Nobody may listen there.
    pub fn bind(listen: SocketAddr, store: PathBuf, token: Token) -> io::Result<Self> {
        let (listener, address) = listener(listen)?;
        Ok(Self { door: Door::Loopback(listener, address, token), store, names: vec![] })
    }

    /// At a unix socket, for these users.
    ///
    /// # Errors
    /// Nobody may listen there, or something is there.
    pub fn bind_socket(path: &Path, uids: Vec<u32>, own_uid: u32, store: PathBuf) -> io::Result<Self> {
        let is_for_others = uids.iter().any(|uid| *uid != own_uid && *uid != 0);
        let (listener, file) = doors::bind_socket(path, is_for_others)?;
        Ok(Self { door: Door::Socket(listener, file, uids), store, names: vec![] })
    }

    /// At an address of any kind, over TLS, for clients with a certificate of a CA.
    ///
    /// # Errors
    /// Nobody may listen there; of `files`, see [`tls_config`].
    pub fn bind_tls(
        listen: SocketAddr,
        config: Arc<rustls::ServerConfig>,
        store: PathBuf,
    ) -> io::Result<Self> {
        let (listener, address) = listener(listen)?;
        Ok(Self { door: Door::Tls(listener, address, config), store, names: vec![] })
    }

    /// Names of this host that a browser may have in the address, beside those of loopback.
    #[must_use]
    pub fn names(mut self, names: Vec<String>) -> Self {
        self.names = names;
        self
    }

    /// `None` of a unix socket.
    pub const fn address(&self) -> Option<SocketAddr> {
        match &self.door {
            Door::Loopback(_, address, _) | Door::Tls(_, address, _) => Some(*address),
            Door::Socket(..) => None,
        }
    }

    /// The address that logs a browser in, once; `None` where no token is needed.
    pub fn login_url(&self) -> Option<SecretString> {
        match &self.door {
            Door::Loopback(_, address, token) => Some(token.url(*address)),
            Door::Socket(..) | Door::Tls(..) => None,
        }
    }

    /// Answers until `stop` is set.
    ///
    /// # Errors
    /// The system has no more threads or files.
    pub fn serve(self, stop: &AtomicBool) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(READERS_MAX)
            .build()?;
        let (store, names) = (self.store, self.names);
        let served = runtime.block_on(async {
            match self.door {
                Door::Loopback(listener, address, token) => {
                    let app = router(Site::new(store, guard::Hosts::of(address, &names), Some(&token)));
                    // Only what is compared is kept.
                    drop(token);
                    answer(tokio::net::TcpListener::from_std(listener)?, app, stop).await
                }
                Door::Socket(listener, _file, uids) => {
                    let app = router(Site::new(store, guard::Hosts::of_socket(&names), None));
                    answer(PeerListener::new(listener, uids)?, app, stop).await
                }
                Door::Tls(listener, address, config) => {
                    let app = router(Site::new(store, guard::Hosts::of(address, &names), None));
                    answer(TlsListener::new(listener, config)?, app, stop).await
                }
            }
        });
        // A reader that waits for the store is not waited for.
        runtime.shutdown_background();
        served
    }
}

/// What [`Web::bind_tls`] speaks TLS with.
///
/// # Errors
/// What is wrong with which file.
pub fn tls_config(files: &TlsFiles) -> Result<Arc<rustls::ServerConfig>, String> {
    doors::tls(files)
}

async fn answer<L: axum::serve::Listener>(listener: L, app: Router, stop: &AtomicBool) -> io::Result<()> {
    let task = tokio::spawn(watch::http::answer(listener, app, LIMITS));
    while !stop.load(Ordering::Relaxed) && !task.is_finished() {
        tokio::time::sleep(STOP_POLL).await;
    }
    if task.is_finished() { task.await.map_err(io::Error::other) } else { Ok(()) }
}

pub(crate) fn router(site: Site) -> Router {
    guarded(site, Router::new())
}

/// These pages and others, behind the guard.
pub(crate) fn guarded(site: Site, others: Router<Site>) -> Router {
    others
        .route("/", get(pages::fleet))
        .route("/index.json", get(pages::fleet_json))
        .route("/c/{name}", get(pages::cluster))
        .route("/c/{name}/s/{server}", get(pages::server))
        .route("/c/{name}/change/{plan}", get(pages::plan))
        .route("/certificates", get(pages::certificates))
        .route("/certificates.json", get(pages::certificates_json))
        .route("/certificates.ics", get(pages::certificates_ics))
        .route("/findings", get(pages::findings))
        .route("/findings.json", get(pages::findings_json))
        .route("/runs", get(pages::runs))
        .route("/runs.json", get(pages::runs_json))
        .route("/runs/{id}", get(pages::run))
        .route("/drivers", get(pages::drivers))
        .route("/drivers.json", get(pages::drivers_json))
        .route("/events", get(live::live))
        .route("/page.js", get(|| asset("text/javascript; charset=utf-8", include_str!("../assets/page.js"))))
        .route("/login", get(pages::login).post(exchange))
        .route("/style.css", get(|| asset("text/css; charset=utf-8", include_str!("../assets/style.css"))))
        .route(
            "/login.js",
            get(|| asset("text/javascript; charset=utf-8", include_str!("../assets/login.js"))),
        )
        .route("/icon.svg", get(|| asset("image/svg+xml", include_str!("../assets/icon.svg"))))
        .fallback(pages::no_such_page)
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .layer(axum::middleware::from_fn_with_state(site.clone(), guard::guard))
        .with_state(site)
}

fn asset(kind: &'static str, text: &'static str) -> impl Future<Output = Response> {
    std::future::ready(([(header::CONTENT_TYPE, kind)], text).into_response())
}

/// A session for the token, which is spent by it.
async fn exchange(State(site): State<Site>, headers: HeaderMap, body: String) -> Response {
    if !guard::is_of_this_site(&headers) {
        return (StatusCode::FORBIDDEN, "a login comes from this site's own page").into_response();
    }
    let cookie = site.gate.as_ref().and_then(|gate| gate.exchange(body.trim(), Instant::now()));
    match cookie {
        Some(cookie) => (StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response(),
        None => (StatusCode::UNAUTHORIZED, "not the token, or it was used before").into_response(),
    }
}
