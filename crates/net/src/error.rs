//! Why a connection or a statement failed, by who must act. No variant ever holds a password.

use std::io;
use std::time::Duration;

use wire::WireError;

/// What went wrong while talking to a server. Each text says what, why and what to do next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetError {
    /// Nobody answers there, or the connection broke.
    #[error("cannot reach {endpoint}\n  why:  {why}\n  next: {}", next_where(*is_of_agent))]
    Unreachable {
        endpoint: String,
        why: String,
        /// Nobody was there who could have dialled it on its machine.
        is_of_agent: bool,
        /// Nothing listens there: the connection was refused (`ECONNREFUSED`).
        is_refused: bool,
    },
    /// The peer went silent.
    #[error(
        "{endpoint} did not answer in time\n  why:  {doing} took longer than {} ms\n  next: try again with a longer \
         timeout, or check the load of the server",
        after.as_millis()
    )]
    TimedOut { endpoint: String, doing: &'static str, after: Duration },
    /// The server understood us and said no. Its text is escaped.
    #[error("{endpoint} answers with error {code} ({sqlstate})\n  why:  the server says: {message}\n  next: {}", next_for_code(*code))]
    Refused { endpoint: String, code: u16, sqlstate: String, message: String },
    /// The peer broke the protocol: a defect, a proxy, or somebody on the way.
    #[error(
        "{endpoint} violates the protocol, so the connection was closed\n  why:  {why}\n  next: check for a proxy \
         in between; check the port with `sealion scan`"
    )]
    PeerMisbehaved { endpoint: String, why: String },
    /// TLS was wanted and did not come about, or ended with an alert.
    #[error("no TLS session with {endpoint} with these options\n  why:  {why}\n  next: {}", fault.next())]
    Tls { endpoint: String, fault: TlsFault, why: String },
    /// A setting of the session stays at a value with which answers cannot be trusted. Nothing was read.
    #[error(
        "the session at {endpoint} keeps a setting that changes what is read\n  why:  {setting} is \"{found}\" after it was \
         set to {wanted}\n  next: connect to the server itself if this is a proxy; look at init_connect; or use an account with \
         CONNECTION_ADMIN (MySQL, MariaDB from 10.5) or SUPER, for which init_connect is not run"
    )]
    Modes { endpoint: String, setting: &'static str, found: String, wanted: &'static str },
    /// The server wants something that this client does not do.
    #[error("{endpoint} requires something that sealion does not support\n  why:  {why}\n  next: {next}")]
    Unsupported { endpoint: String, why: String, next: &'static str },
    /// We were called wrongly: a file that is not there, options that contradict each other.
    #[error("cannot use the connection options\n  why:  {why}\n  next: {next}")]
    Usage { why: String, next: &'static str },
}

fn next_where(is_of_agent: bool) -> &'static str {
    if is_of_agent {
        "see that ssh reaches that machine and asks nothing; the node's `ssh` and the table [ssh] of the inventory say how"
    } else {
        "check that the server runs, and check address, port and firewall"
    }
}

impl NetError {
    /// What and why without what to do next: for texts of which it is a part.
    pub fn in_one_line(&self) -> String {
        let text = self.to_string();
        let mut lines = text.lines().map(str::trim);
        let what = lines.next().unwrap_or_default();
        match lines.next().and_then(|line| line.strip_prefix("why:")) {
            Some(why) => format!("{what}: {}", why.trim()),
            None => what.to_owned(),
        }
    }
}

/// The kind of a [`NetError::Tls`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TlsFault {
    /// The server does not offer TLS at all.
    NotOffered,
    /// The certificate chain does not lead to the CA.
    ChainNotTrusted,
    /// The chain is good, the certificate is for somebody else.
    NameMismatch,
    /// The handshake failed: no common version or suite, an alert, no TLS on the other side.
    Handshake,
    /// The session was up, then the peer ended it with an alert (in TLS 1.3: often our certificate).
    AfterHandshake,
}

impl TlsFault {
    fn next(self) -> &'static str {
        match self {
            Self::NotOffered => {
                "load a certificate on the server (`sealion enable clients`), or use ssl-mode PREFERRED"
            }
            Self::ChainNotTrusted => "give the CA that signed the server's certificate with --ssl-ca",
            Self::NameMismatch => {
                "connect by a name that is in the certificate, or use ssl-mode VERIFY_CA if any server of this CA \
                 is acceptable"
            }
            Self::Handshake => {
                "`sealion scan` shows which versions and cipher suites it accepts, and whether it requires a client \
                 certificate"
            }
            Self::AfterHandshake => {
                "read the server's error log; it may require another client certificate (--ssl-cert, --ssl-key)"
            }
        }
    }
}

fn next_for_code(code: u16) -> &'static str {
    match code {
        1044 | 1045 | 1698 => {
            "check user, password and the host part of the account; it may require TLS or a certificate"
        }
        1129 => "stop connecting and lift the block: FLUSH HOSTS, or TRUNCATE performance_schema.host_cache",
        1130 => "create an account for this client's address, or connect from another one",
        1820 | 1862 => "the password of this account has expired: set another one (SET PASSWORD, ALTER USER)",
        1040 => "wait or raise max_connections",
        1142 | 1227 => "grant the missing privilege to this account",
        3159 => "connect with TLS: the server requires secure transport",
        _ => "find the code in the error reference of this server",
    }
}

/// Whom and what an I/O step was about; turns raw errors into [`NetError`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Doing<'a> {
    pub endpoint: &'a str,
    pub step: &'static str,
    pub after: Duration,
}

impl Doing<'_> {
    pub(crate) fn io(&self, error: &io::Error) -> NetError {
        let endpoint = self.endpoint.to_owned();
        if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) {
            return NetError::TimedOut { endpoint, doing: self.step, after: self.after };
        }
        if let Some(tls) = error.get_ref().and_then(|inner| inner.downcast_ref::<openssl::ssl::Error>()) {
            let why = ssl_error_text(tls);
            if why.contains("unexpected eof") {
                return self.closed();
            }
            return NetError::Tls { endpoint, fault: TlsFault::AfterHandshake, why };
        }
        let is_refused = error.kind() == io::ErrorKind::ConnectionRefused;
        // The kernel's own ENOTCONN has no text of somebody else in it.
        let is_of_agent = error.kind() == io::ErrorKind::NotConnected && error.get_ref().is_some();
        NetError::Unreachable { endpoint, why: format!("{}: {error}", self.step), is_of_agent, is_refused }
    }

    pub(crate) fn closed(&self) -> NetError {
        NetError::Unreachable {
            endpoint: self.endpoint.to_owned(),
            why: format!("{}: the server closed the connection", self.step),
            is_of_agent: false,
            is_refused: false,
        }
    }

    pub(crate) fn wire(&self, error: &WireError) -> NetError {
        NetError::PeerMisbehaved {
            endpoint: self.endpoint.to_owned(),
            why: format!("{}: {error}", self.step),
        }
    }

    pub(crate) fn misbehaved(&self, why: impl Into<String>) -> NetError {
        NetError::PeerMisbehaved { endpoint: self.endpoint.to_owned(), why: why.into() }
    }

    pub(crate) fn refused(&self, error: wire::ErrPacket) -> NetError {
        NetError::Refused {
            endpoint: self.endpoint.to_owned(),
            code: error.code,
            sqlstate: error.sqlstate.unwrap_or_else(|| "HY000".to_owned()),
            message: error.message,
        }
    }
}

/// The reason alone, without OpenSSL's file names and numbers.
pub(crate) fn ssl_error_text(error: &openssl::ssl::Error) -> String {
    match error.ssl_error() {
        Some(stack) if !stack.errors().is_empty() => reason_of(stack),
        _ if error.code() == openssl::ssl::ErrorCode::SYSCALL
            || error.code() == openssl::ssl::ErrorCode::SSL =>
        {
            "unexpected eof: the peer closed the connection".to_owned()
        }
        _ => error.to_string(),
    }
}

pub(crate) fn reason_of(stack: &openssl::error::ErrorStack) -> String {
    let reasons: Vec<&str> = stack.errors().iter().filter_map(openssl::error::Error::reason).collect();
    if reasons.is_empty() { stack.to_string() } else { reasons.join(", ") }
}
