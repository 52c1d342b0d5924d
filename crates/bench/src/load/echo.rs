//! A server that gives back what it gets, in cleartext or inside TLS: what a connection costs where there is no database.
//!
//! It is made as the servers beside it are: a thread a connection, TLS by OpenSSL, no session tickets.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use openssl::ssl::{Ssl, SslContext, SslFiletype, SslMethod, SslOptions, SslSessionCacheMode, SslStream};

/// Who is silent for so long is let go.
const SILENCE_MAX: Duration = Duration::from_secs(30);
/// The most that is given back at once.
const CHUNK_BYTES: usize = 4096;

/// Certificate and key, PEM.
#[derive(Debug, Clone)]
pub struct Pair {
    pub cert: PathBuf,
    pub key: PathBuf,
}

/// Serves until the listener fails.
///
/// # Errors
/// The certificate cannot be used, or nothing can be accepted any more.
pub fn serve(listener: &TcpListener, tls: Option<&Pair>) -> io::Result<()> {
    let context = tls.map(|pair| context(&pair.cert, &pair.key)).transpose()?.map(Arc::new);
    for stream in listener.incoming() {
        let (stream, context) = (stream?, context.clone());
        // A connection that cannot be served is not the end of the others.
        let _ = thread::Builder::new().name("echo".into()).spawn(move || {
            let _ = one(stream, context.as_deref());
        });
    }
    Ok(())
}

fn context(cert: &Path, key: &Path) -> io::Result<SslContext> {
    let mut builder = SslContext::builder(SslMethod::tls_server())?;
    // RSA of 1024 bits is one of the keys that are compared.
    builder.set_security_level(0);
    builder.set_certificate_file(cert, SslFiletype::PEM)?;
    builder.set_private_key_file(key, SslFiletype::PEM)?;
    builder.set_session_cache_mode(SslSessionCacheMode::OFF);
    builder.set_options(SslOptions::NO_TICKET);
    builder.set_num_tickets(0)?;
    Ok(builder.build())
}

fn one(stream: TcpStream, context: Option<&SslContext>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(SILENCE_MAX))?;
    stream.set_write_timeout(Some(SILENCE_MAX))?;
    match context {
        None => give_back(stream),
        Some(context) => {
            let mut stream = SslStream::new(Ssl::new(context)?, stream)?;
            stream.accept().map_err(io::Error::other)?;
            give_back(stream)
        }
    }
}

fn give_back(mut stream: impl Read + Write) -> io::Result<()> {
    let mut chunk = [0; CHUNK_BYTES];
    loop {
        let n = stream.read(&mut chunk)?;
        let Some(piece) = chunk.get(..n).filter(|piece| !piece.is_empty()) else { return Ok(()) };
        stream.write_all(piece)?;
    }
}
