//! What one connection showed.

use wire::gcomm::Handshake;
use wire::tls::server_flight::{
    Alert, CertificateRequest, HelloRetryRequest, ServerHello, ServerKeyExchange,
};
use wire::{ErrPacket, Greeting, x_protocol};

use crate::finish::Finished;
use crate::intrude::Aftermath;
use crate::login_probe::Knocked;
use crate::tls13::Inside;

/// Everything that a peer may send in one connection: a flight is at most 256 KiB, and a greeting 64 KiB.
pub const CONVERSATION_BYTES_MAX: usize = 512 * 1024;

/// What a server said before TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spoke {
    Nothing,
    Greeting(Box<Greeting>),
    /// An error in place of a greeting.
    Refused(ErrPacket),
    /// The first message of a plain Galera port.
    Gcomm(Handshake),
    /// What an X Protocol port says that it can.
    XProtocol(Box<x_protocol::Capabilities>),
    /// A Group Replication port answered in cleartext, with this version of its protocol.
    Xcom(u32),
    /// What a login that is refused showed.
    Knocked(Knocked),
    /// Bytes that are none of these.
    Other(Vec<u8>),
}

/// A handshake that the server went along with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    pub hello: ServerHello,
    /// Leaf first, in DER; empty where it was not read (TLS 1.3 under a key that is not ours, anonymous suites).
    pub chain: Vec<Vec<u8>>,
    /// The named group of the key exchange.
    pub group: Option<u16>,
    pub key_exchange: Option<ServerKeyExchange>,
    /// The scheme that the server signed with.
    pub scheme: Option<u16>,
    pub client_certificate: Option<CertificateRequest>,
    /// TLS 1.3: the server asks for a client certificate.
    pub asks_certificate: bool,
    pub is_ocsp_stapled: bool,
    /// The flight was read to its end, in TLS 1.3 through its encrypted part: only then what is not in it is absent.
    pub is_whole: bool,
    /// The server goes on with the session that was offered to it.
    pub is_resumed: bool,
    /// What came of finishing it, where that was wanted.
    pub finished: Option<Finished>,
    /// What it said to bytes that no sound client sends.
    pub aftermath: Option<Aftermath>,
}

impl Accepted {
    /// What stood in the encrypted part of TLS 1.3.
    pub(crate) fn take_in(&mut self, inside: Inside) {
        self.chain = inside.chain;
        self.scheme = inside.scheme;
        self.asks_certificate = inside.asks_certificate;
        self.is_ocsp_stapled = inside.is_ocsp_stapled;
        self.is_whole = true;
    }
}

/// How the part in TLS ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Accepted(Box<Accepted>),
    /// TLS 1.3 with another group: which one.
    Retry(Box<HelloRetryRequest>),
    /// SSL 2.0 with these cipher kinds.
    Ssl2(Vec<u32>),
    Alert(Alert),
    /// A MySQL error in cleartext where TLS should begin.
    Error(ErrPacket),
    /// Other bytes in cleartext there.
    NotTls(Vec<u8>),
    /// The server closed without a word.
    Closed,
}

/// Why a connection showed less than was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("no answer within {ms} ms")]
    Silent { ms: u64 },
    /// The same, and there was not even a connection: nobody may be there.
    #[error("no answer within {ms} ms")]
    NotConnected { ms: u64 },
    #[error("the connection was refused")]
    ConnectionRefused,
    #[error("cannot connect: {why}")]
    Unreachable { why: String },
    #[error("the connection broke off: {why}")]
    Broken { why: String },
    #[error("the server's bytes are no valid TLS: {why}")]
    Misbehaved { why: String },
    #[error("the server sent more than {CONVERSATION_BYTES_MAX} bytes before TLS was settled")]
    TooLong,
}

/// All that one connection showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub spoke: Spoke,
    /// `None` where TLS was not tried, or did not begin.
    pub answer: Option<Answer>,
    pub fault: Option<Fault>,
    /// Not one byte came.
    pub is_mute: bool,
}
