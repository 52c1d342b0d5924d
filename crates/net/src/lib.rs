//! The MySQL client, TLS sessions under our control, and a probe for ports that speak TLS at once.
//!
//! Blocking sockets for now; what the protocol means lives in `wire` and in [`auth`], which do no I/O.
//! Start reading at [`client`]. Left out: compression, `LOAD DATA LOCAL` (refused), `parsec`, `dialog` and
//! `mysql_old_password` logins; TLS session resumption with OpenSSL.
#![warn(clippy::indexing_slicing)]

pub mod auth;
pub mod client;
mod dial;
mod ed25519;
mod error;
pub mod options;
pub mod own_ends;
mod probe;
mod resolve;
pub mod rows;
pub mod sql_text;
pub mod tls;
mod tls_info;
mod tls_input;
mod tls_rustls;

pub use client::{Client, ConnectTimings, Connector, Done, Echoed, Prepared, RowSource, Session};
pub use dial::{Traffic, ask, is_greeted, queue};
pub use error::{NetError, TlsFault};
pub use options::{
    ConnectOptions, Dial, Dialled, Endpoint, PROGRAM_NAME, PemSet, Resumes, SessionModes, SslMode,
    TlsLibrary, TlsOptions, TlsVersion, Via,
};
pub use own_ends::own_ends;
pub use probe::{Outcome, TlsProbe, tls_probe, tls_probe_at};
pub use resolve::resolve;
pub use rows::{RowRef, Rows};
pub use secrecy::{ExposeSecret, SecretString};
pub use tls_info::{TlsInfo, Verified};
pub use wire::{Greeting, TextRow};
