//! `/metrics`, for Prometheus: one text, made by the last look.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::http::header;
use axum::routing::get;

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
            let _ = axum::serve(listener, router).await;
        });
    })?;
    Ok(address)
}
