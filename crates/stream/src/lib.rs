//! Copies of directories over several connections at once, encrypted and authenticated at both ends by TLS 1.3.
//!
//! The sender lists what there is ([`entry`]), the receiver makes it, empty; then pieces of files travel on whichever connection is
//! free ([`frame`]). The receiver says that it is done when everything is on its disk, and the sender believes nothing else.
//!
//! [`xbstream`] takes what backup tools write instead: a stream that another program brings.
//!
//! Who may talk to whom is decided by a one-time code that both ends derive their keys from ([`code`]), or by certificates of a CA.

mod aligned;
pub mod archive;
mod behind;
pub mod cells;
pub mod cipher;
pub mod code;
mod direct;
pub mod entry;
pub mod frame;
mod kdf;
mod landing;
mod limit;
mod link;
mod ordered;
mod packer;
mod progress;
mod reading;
mod receiver;
mod sender;
mod times;
pub mod tls;
mod tree;
mod unpack_tar;
pub mod xbstream;

use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;

use nix::fcntl::{FcntlArg, fcntl};

pub use code::Code;
pub use progress::Progress;
pub use receiver::{Command, Into, Layers, ReceiveOptions, Receiver};
pub use sender::{Compress, From, RENEW_BYTES, SendOptions, send};
pub use times::Bottleneck;
pub use tls::{Certificates, Identity};
pub use tree::can_be_sent;

/// Copies can be made without TLS. The binary refuses to be built like that.
pub const HAS_CLEAR: bool = cfg!(feature = "clear");

/// What one copy was.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    pub files: u64,
    pub directories: u64,
    pub links: u64,
    /// Bytes that travelled; holes of sparse files did not.
    pub data_bytes: u64,
    /// Of all files together, holes too.
    pub size_bytes: u64,
    /// What the receiver had already, of a copy that was resumed.
    pub kept_bytes: u64,
    pub connections: u16,
    /// Connections that took the place of another one, so that no key encrypts too much.
    pub renewed: u64,
    /// As OpenSSL names them: `TLSv1.3`, `TLS_AES_256_GCM_SHA384`.
    pub tls_version: String,
    pub cipher_suite: String,
    /// What lay there and was not sent: sockets, pipes, devices.
    pub left_out: Vec<PathBuf>,
}

/// As much as the kernel gives everybody. Source: pipe(7), `/proc/sys/fs/pipe-max-size`.
const PIPE_BYTES: i32 = 1 << 20;

/// Makes a pipe hold more than the 64 KiB that it has by itself: both ends wait for each other less often. What is no pipe stays as it is.
pub fn widen(pipe: impl AsFd) {
    let _ = fcntl(pipe, FcntlArg::F_SETPIPE_SZ(PIPE_BYTES));
}

/// Why a copy ended before it was done.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    #[error("{what} cannot be sent\n  why:  {why}\n  next: {next}")]
    Source { what: String, why: String, next: String },
    #[error("{what} cannot be written\n  why:  {why}\n  next: {next}")]
    Target { what: String, why: String, next: String },
    #[error("no connection to {peer}\n  why:  {why}\n  next: {next}")]
    Connect { peer: String, why: String, next: String },
    #[error("{peer} is not who it should be\n  why:  {why}\n  next: {next}")]
    Identity { peer: String, why: String, next: String },
    #[error(
        "the connection with {peer} broke\n  why:  {why}\n  next: start the receiver again with --resume, then the sender; an archive, or what a program writes, begins anew"
    )]
    Broken { peer: String, why: String },
    #[error("{peer} gave up: {why}")]
    Peer { peer: String, why: String },
    #[error(
        "{peer} sent what makes no sense\n  why:  {why}\n  next: check that both ends are the same version of sealion"
    )]
    Protocol { peer: String, why: String },
    #[error("{what}\n  why:  {why}\n  next: {next}")]
    Setup { what: String, why: String, next: String },
    #[error("{what}, at byte {at_bytes} of the stream\n  why:  {why}\n  next: {next}")]
    Content { what: String, at_bytes: u64, why: String, next: String },
    #[error("stopped")]
    Stopped,
}

impl StreamError {
    pub(crate) fn broken(peer: &str) -> impl FnOnce(io::Error) -> Self + '_ {
        move |error| {
            let why = match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                    format!("nothing was heard for {} s", link::SILENCE_MAX.as_secs())
                }
                io::ErrorKind::UnexpectedEof => "the other end closed it".into(),
                _ => error.to_string(),
            };
            Self::Broken { peer: peer.to_owned(), why }
        }
    }
}
