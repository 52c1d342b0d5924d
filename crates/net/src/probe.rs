//! A TLS handshake from byte 0, without STARTTLS: what Galera's group communication (4567) speaks.

use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use openssl::ssl::ErrorCode;

use crate::dial::Socket;
use crate::error::{Doing, NetError, ssl_error_text};
use crate::options::{Endpoint, TlsOptions};
use crate::tls;
use crate::tls_info::TlsInfo;

/// What became of the session once the handshake was done from our side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The peer sent data, or stayed silent until the timeout: it takes us as we are.
    Accepted,
    /// The peer ended it with an alert: in TLS 1.3 a missing or foreign client certificate is told only here.
    RefusedAfterHandshake { alert: String },
    /// The peer hung up without a reason. It may have refused us; it may have been busy. Not a pass.
    Closed,
}

/// What a direct TLS handshake showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsProbe {
    pub version: String,
    pub cipher: String,
    pub leaf_pem: Option<String>,
    /// The leaf first, as sent.
    pub chain_pem: String,
    pub outcome: Outcome,
    /// More about the session.
    pub tls: TlsInfo,
}

/// Connects and does a TLS handshake, then reads for up to `timeout`.
///
/// Without a CA (or with a mode below VERIFY_CA) nothing is verified, yet the leaf is reported. A handshake that
/// fails is a [`NetError::Tls`], a peer that speaks something else a [`NetError::PeerMisbehaved`].
pub fn tls_probe(
    address: SocketAddr,
    bind: Option<IpAddr>,
    options: &TlsOptions,
    timeout: Duration,
) -> Result<TlsProbe, NetError> {
    let host = address.ip().to_string();
    tls_probe_at(&Endpoint::Tcp { host, port: address.port(), bind }, options, timeout)
}

/// The same, wherever that is.
pub fn tls_probe_at(
    endpoint: &Endpoint,
    options: &TlsOptions,
    timeout: Duration,
) -> Result<TlsProbe, NetError> {
    let context = tls::context(options)?;
    let shown = endpoint.to_string();
    let doing = |doing| Doing { endpoint: &shown, step: doing, after: timeout };
    let deadline = Instant::now() + timeout;
    let mut socket =
        Socket::connect(endpoint, deadline, None).map_err(|error| doing("connecting").io(&error))?;
    socket.expect_tls_record();
    let name = endpoint.verified_name().to_owned();
    let (mut stream, info) = tls::handshake(&context, options, &name, socket, &doing("the TLS handshake"))?;
    stream.get_mut().set_deadline(Instant::now() + timeout);
    let outcome = Outcome::of_read(stream.read(&mut [0; 1024]));
    // The peer may be gone; a probe has nothing more to say to it.
    let _ = stream.shutdown();
    Ok(TlsProbe {
        version: info.version.clone(),
        cipher: info.cipher.clone(),
        leaf_pem: info.leaf_pem(),
        chain_pem: info.chain_pem(),
        outcome,
        tls: info,
    })
}

impl Outcome {
    /// What the first read behind a handshake tells.
    pub(crate) fn of_read(read: io::Result<usize>) -> Self {
        match read {
            Ok(0) => Self::Closed,
            Ok(_) => Self::Accepted,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                Self::Accepted
            }
            Err(error) => match error.get_ref().and_then(|inner| inner.downcast_ref::<openssl::ssl::Error>())
            {
                Some(tls) if tls.code() == ErrorCode::SSL => {
                    let alert = ssl_error_text(tls);
                    if alert.contains("unexpected eof") {
                        Self::Closed
                    } else {
                        Self::RefusedAfterHandshake { alert }
                    }
                }
                _ => Self::Closed,
            },
        }
    }
}
