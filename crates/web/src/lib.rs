//! Pages of what `sealion watch` keeps, for a browser on this machine. They only read: the store is opened for reading alone, and no
//! page has a button that changes anything.
//!
//! Start reading at [`router`]: [`guard`] decides who is answered at all, [`auth`] holds the token and the session, [`pages`] reads the
//! store and fills the templates, [`picture`] draws.

mod auth;
mod difference;
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
use std::path::PathBuf;
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

pub use auth::Token;

/// A token is 64 bytes; nothing else has a body.
const BODY_MAX: usize = 4096;
/// Longer than the store waits for somebody who writes to it (5 s).
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// How soon a wish to stop is seen.
const STOP_POLL: Duration = Duration::from_millis(100);
/// Each reads the store once; more than that wait.
const READERS_MAX: usize = 4;

/// Beside the store.
const JOURNALS: &str = "journals";

/// What every request is answered from.
#[derive(Clone)]
pub(crate) struct Site {
    store: Arc<PathBuf>,
    /// Of changes: the state directory has both.
    journals: Arc<PathBuf>,
    gate: Arc<auth::Gate>,
    hosts: Arc<Vec<String>>,
    pages: Arc<pages::Pages>,
    /// One for each page that is open.
    streams: Arc<Semaphore>,
    timeout: Duration,
}

impl Site {
    fn new(store: PathBuf, listen: SocketAddr, token: &Token) -> Self {
        Self {
            journals: Arc::new(store.with_file_name(JOURNALS)),
            store: Arc::new(store),
            gate: Arc::new(auth::Gate::new(token)),
            hosts: Arc::new(guard::hosts(listen)),
            pages: Arc::new(pages::Pages::new()),
            streams: Arc::new(Semaphore::new(live::STREAMS_MAX)),
            timeout: REQUEST_TIMEOUT,
        }
    }
}

/// A socket that listens, and nobody is answered yet.
pub struct Web {
    listener: TcpListener,
    address: SocketAddr,
    token: Token,
    store: PathBuf,
}

impl Web {
    /// # Errors
    /// Nobody may listen there.
    pub fn bind(listen: SocketAddr, store: PathBuf, token: Token) -> io::Result<Self> {
        let listener = TcpListener::bind(listen)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address, token, store })
    }

    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address that logs a browser in, once.
    pub fn login_url(&self) -> SecretString {
        self.token.url(self.address)
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
        let app = router(Site::new(self.store, self.address, &self.token));
        // Only what is compared is kept.
        drop(self.token);
        let listener = self.listener;
        let served = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let task = tokio::spawn(async move { axum::serve(listener, app).await });
            while !stop.load(Ordering::Relaxed) && !task.is_finished() {
                tokio::time::sleep(STOP_POLL).await;
            }
            if task.is_finished() { task.await.map_err(io::Error::other)? } else { Ok(()) }
        });
        // A reader that waits for the store is not waited for.
        runtime.shutdown_background();
        served
    }
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
    match site.gate.exchange(body.trim(), Instant::now()) {
        Some(cookie) => (StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response(),
        None => (StatusCode::UNAUTHORIZED, "not the token, or it was used before").into_response(),
    }
}
