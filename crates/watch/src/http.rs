//! `/metrics`, for Prometheus: one text, made by the last look. Whoever serves HTTP answers by [`answer`], which sets limits.

use std::future::Future as _;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::http::header;
use axum::routing::get;
use axum::serve::Listener;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Semaphore;
use tokio::time::Sleep;

/// What strangers may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub connections: usize,
    /// From a connection, or the end of an answer, to the end of the next request's head.
    pub head: Duration,
    /// Of an answer of which the other side takes nothing.
    pub untaken: Duration,
    /// Of a connection, which then has one request; `None`: as many as it likes, and pages that renew themselves.
    pub whole: Option<Duration>,
}

pub const HEAD_MAX: Duration = Duration::from_secs(10);
pub const UNTAKEN_MAX: Duration = Duration::from_secs(20);
/// Prometheus has one connection, and a person who looks another. Whoever asks is near, and a scrape waits behind those who ask for nothing
/// less than its own limit (`scrape_timeout`, 10 s unless it is set).
const METRICS: Limits = Limits {
    connections: 32,
    head: Duration::from_secs(2),
    untaken: UNTAKEN_MAX,
    whole: Some(Duration::from_secs(20)),
};

/// Answers until the runtime ends. Anybody on this machine may connect before he has to say who he is: who asks for nothing goes, and there
/// are never more than so many, so that files can still be opened.
pub async fn answer<L: Listener>(mut listener: L, app: Router, limits: Limits) {
    let places = Arc::new(Semaphore::new(limits.connections));
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let (stream, _) = listener.accept().await;
        let service = TowerToHyperService::new(app.clone());
        tokio::spawn(async move {
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(limits.head).keep_alive(limits.whole.is_none());
            let served = http.serve_connection(TokioIo::new(Taken::new(stream, limits.untaken)), service);
            // A connection that broke is the other side's to make again.
            let _ = match limits.whole {
                Some(whole) => tokio::time::timeout(whole, served).await.unwrap_or(Ok(())),
                None => served.await,
            };
            drop(place);
        });
    }
}

/// A stream whose other side has to take what it is sent: who asks and never reads would hold a place as long as he likes.
struct Taken<S> {
    stream: S,
    limit: Duration,
    /// Since it took something last.
    waits: Option<Pin<Box<Sleep>>>,
}

impl<S> Taken<S> {
    const fn new(stream: S, limit: Duration) -> Self {
        Self { stream, limit, waits: None }
    }

    /// What is ready was taken, and the time begins anew with what is not.
    fn limited<T>(&mut self, context: &mut Context<'_>, said: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if said.is_ready() {
            self.waits = None;
            return said;
        }
        let limit = self.limit;
        let waits = self.waits.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        waits.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Taken<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Taken<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.limited(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.limited(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ended = Pin::new(&mut self.stream).poll_shutdown(context);
        self.limited(context, ended)
    }
}

/// What is served now.
#[derive(Debug, Clone, Default)]
pub struct Served(Arc<Mutex<String>>);

impl Served {
    pub fn set(&self, text: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Listens, and answers on a thread of its own until the process ends.
///
/// # Errors
/// Nobody may listen there.
pub fn serve(listen: SocketAddr, served: Served) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(listen)?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let router = Router::new().route(
        "/metrics",
        get(move || async move {
            ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], served.text())
        }),
    );
    std::thread::Builder::new().name("metrics".into()).spawn(move || {
        runtime.block_on(async {
            let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
            // It ends with the process.
            answer(listener, router, METRICS).await;
        });
    })?;
    Ok(address)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::*;

    /// It goes on as long as the runtime is held.
    fn answering(app: Router, limits: Limits) -> (tokio::runtime::Runtime, SocketAddr) {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("threads");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("a socket");
        let address = listener.local_addr().expect("bound");
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a socket");
            answer(listener, app, limits).await;
        });
        (runtime, address)
    }

    #[track_caller]
    fn is_answered(address: SocketAddr) {
        let mut asks = TcpStream::connect(address).expect("it listens");
        asks.write_all(b"GET / HTTP/1.0\r\n\r\n").expect("taken");
        let mut said = String::new();
        asks.read_to_string(&mut said).expect("answered");
        assert!(said.contains("200 OK") && said.ends_with("here"), "{said}");
    }

    /// An outsider held a thousand connections without a word, and nothing was served, nor any file opened, as long as he liked.
    #[test]
    fn who_says_nothing_goes_and_others_are_answered() {
        let limits =
            Limits { connections: 3, head: Duration::from_millis(100), untaken: UNTAKEN_MAX, whole: None };
        let app = Router::new().route("/", get(|| async { "here" }));
        let (_runtime, address) = answering(app, limits);
        let silent: Vec<TcpStream> = (0..9)
            .map(|at| {
                let mut stream = TcpStream::connect(address).expect("it listens");
                let start: &[u8] = if at % 2 == 0 { b"" } else { b"GET / HTTP/1.1\r\nHost: " };
                stream.write_all(start).expect("taken");
                stream
            })
            .collect();
        is_answered(address);
        drop(silent);
    }

    /// An outsider asked, and never read what he was answered.
    #[test]
    fn who_takes_no_answer_goes_and_others_are_answered() {
        let limits =
            Limits { connections: 1, head: UNTAKEN_MAX, untaken: Duration::from_millis(200), whole: None };
        // More than the buffers of both sides hold.
        let app = Router::new()
            .route("/", get(|| async { "here" }))
            .route("/long", get(|| async { "x".repeat(64 * 1024 * 1024) }));
        let (_runtime, address) = answering(app, limits);
        let mut deaf = TcpStream::connect(address).expect("it listens");
        deaf.write_all(b"GET /long HTTP/1.1\r\nHost: a\r\n\r\n").expect("taken");
        let mut first = [0; 4];
        deaf.read_exact(&mut first).expect("it has the only place");
        is_answered(address);
        drop(deaf);
    }
}
