//! What a connection should be like, in the words of the servers' own clients.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use openssl::ssl::SslVersion;
use secrecy::{ExposeSecret, SecretString};

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// `bind` is the local address to connect from.
    Tcp {
        host: String,
        port: u16,
        bind: Option<IpAddr>,
    },
    Unix {
        path: PathBuf,
    },
    /// Reached through somebody who connects for us, from another machine.
    Via(Via),
}

/// Connects on another machine, and hands in the near end.
pub trait Dial: fmt::Debug + Send + Sync {
    /// # Errors
    /// As connect(2) there.
    fn dial(&self, timeout: Duration) -> io::Result<Dialled>;
    /// For people: where from, and where to.
    fn shown(&self) -> String;
    /// The host that is dialled there; `None` for a unix socket.
    fn host(&self) -> Option<&str>;
}

/// A connection that somebody else has made.
#[derive(Debug)]
pub struct Dialled {
    pub fd: OwnedFd,
    /// Its ends where it was made, of TCP.
    pub local: Option<SocketAddr>,
    pub peer: Option<SocketAddr>,
}

/// Two are the same when they are shown so.
#[derive(Debug, Clone)]
pub struct Via(pub Arc<dyn Dial>);

impl PartialEq for Via {
    fn eq(&self, other: &Self) -> bool {
        self.0.shown() == other.0.shown()
    }
}

impl Eq for Via {}

impl std::hash::Hash for Via {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.shown().hash(state);
    }
}

impl Endpoint {
    pub fn tcp(host: impl Into<String>, port: u16) -> Self {
        Self::Tcp { host: host.into(), port, bind: None }
    }

    pub fn unix(path: impl Into<PathBuf>) -> Self {
        Self::Unix { path: path.into() }
    }

    pub fn via(dial: Arc<dyn Dial>) -> Self {
        Self::Via(Via(dial))
    }

    /// The name a certificate is checked against; over a socket it is `localhost`, as for the servers' clients.
    pub(crate) fn verified_name(&self) -> &str {
        match self {
            Self::Tcp { host, .. } => host,
            Self::Unix { .. } => "localhost",
            Self::Via(via) => via.0.host().unwrap_or("localhost"),
        }
    }

    /// At its last end it is a unix socket: nothing passes a network there.
    pub fn is_unix_socket(&self) -> bool {
        match self {
            Self::Tcp { .. } => false,
            Self::Unix { .. } => true,
            Self::Via(via) => via.0.host().is_none(),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port, .. } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port, .. } => write!(f, "{host}:{port}"),
            Self::Unix { path } => write!(f, "{}", path.display()),
            Self::Via(via) => f.write_str(&via.0.shown()),
        }
    }
}

/// `--ssl-mode`, with the meaning it has for MySQL's own client. The mode alone decides what is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum SslMode {
    Disabled,
    /// TLS where the server offers it, else cleartext: anybody on the way can choose the latter.
    #[default]
    Preferred,
    /// TLS with whoever answers; never cleartext.
    Required,
    /// The chain must lead to the CA.
    VerifyCa,
    /// And the certificate must be for the host name or address we dialled.
    VerifyIdentity,
}

impl SslMode {
    const NAMES: [(Self, &'static str); 5] = [
        (Self::Disabled, "DISABLED"),
        (Self::Preferred, "PREFERRED"),
        (Self::Required, "REQUIRED"),
        (Self::VerifyCa, "VERIFY_CA"),
        (Self::VerifyIdentity, "VERIFY_IDENTITY"),
    ];

    pub fn requires_tls(self) -> bool {
        self >= Self::Required
    }

    pub fn verifies_chain(self) -> bool {
        self >= Self::VerifyCa
    }
}

impl fmt::Display for SslMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(mode, _)| mode == self).map_or("", |(_, name)| name);
        f.write_str(name)
    }
}

impl FromStr for SslMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::NAMES
            .iter()
            .find(|(_, name)| name.eq_ignore_ascii_case(text))
            .map(|(mode, _)| *mode)
            .ok_or_else(|| {
                format!(
                    "unknown ssl-mode {text:?}: use DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY"
                )
            })
    }
}

/// A TLS protocol version, spelled as in the servers' `tls_version`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TlsVersion {
    Tls10,
    Tls11,
    Tls12,
    Tls13,
}

impl TlsVersion {
    const NAMES: [(Self, &'static str); 4] = [
        (Self::Tls10, "TLSv1"),
        (Self::Tls11, "TLSv1.1"),
        (Self::Tls12, "TLSv1.2"),
        (Self::Tls13, "TLSv1.3"),
    ];

    pub(crate) fn openssl(self) -> SslVersion {
        match self {
            Self::Tls10 => SslVersion::TLS1,
            Self::Tls11 => SslVersion::TLS1_1,
            Self::Tls12 => SslVersion::TLS1_2,
            Self::Tls13 => SslVersion::TLS1_3,
        }
    }
}

impl fmt::Display for TlsVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(version, _)| version == self).map_or("", |(_, name)| name);
        f.write_str(name)
    }
}

impl FromStr for TlsVersion {
    type Err = String;

    /// Takes `TLSv1.2` and `1.2`; `TLSv1.0` and `1.0` too.
    fn from_str(text: &str) -> Result<Self, String> {
        let bare =
            text.get(..4).filter(|head| head.eq_ignore_ascii_case("tlsv")).map_or(text, |_| &text[4..]);
        match bare {
            "1" | "1.0" => Ok(Self::Tls10),
            "1.1" => Ok(Self::Tls11),
            "1.2" => Ok(Self::Tls12),
            "1.3" => Ok(Self::Tls13),
            _ => Err(format!("unknown TLS version {text:?}: use 1.0, 1.1, 1.2 or 1.3")),
        }
    }
}

/// Who does TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TlsLibrary {
    #[default]
    OpenSsl,
    Rustls {
        resumes: Resumes,
    },
}

/// Whether a handshake may go on with a session of before, where the server gave one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Resumes {
    #[default]
    No,
    /// TLS 1.3: the pre-shared key. TLS 1.2: the ticket, or the session's id where there is none.
    Any,
    /// TLS 1.2 by the session's id alone, which the server has to remember (RFC 5246 7.3), and not by a ticket (RFC 5077).
    ById,
}

/// TLS as the servers' clients let one choose it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TlsOptions {
    pub mode: SslMode,
    /// PEM file of the CAs to trust; the system's are never used, as in MySQL's client.
    pub ca: Option<PathBuf>,
    /// The same three in memory, in place of files: of a machine elsewhere.
    pub pem: Option<Arc<PemSet>>,
    /// PEM file of what that CA has revoked. Where it is given, a certificate of a CA without a list is refused.
    pub crl: Option<PathBuf>,
    /// PEM file of the client's certificate, with intermediates if any.
    pub cert: Option<PathBuf>,
    /// PEM file of the client's key, without passphrase.
    pub key: Option<PathBuf>,
    /// `None` is TLS 1.2.
    pub min_version: Option<TlsVersion>,
    /// `None` is the newest there is.
    pub max_version: Option<TlsVersion>,
    /// What OpenSSL offers up to TLS 1.2, in its spelling (`--ssl-cipher`); `None` is its default.
    pub ciphers: Option<String>,
    /// The same for TLS 1.3 (`--tls-ciphersuites`).
    pub ciphersuites: Option<String>,
    /// Groups for the key exchange, best first (`X25519MLKEM768:X25519`).
    pub groups: Option<String>,
    /// What the server may sign its handshake with, best first (`ECDSA+SHA256:rsa_pss_rsae_sha256`), and we where we have a
    /// certificate. With OpenSSL.
    pub signature_algorithms: Option<String>,
    /// No record of data that is sent holds more; `None` is 16 KiB, TLS's own limit. rustls cuts its handshake too.
    pub record_bytes: Option<u16>,
    /// Every connection reads the system's CAs anew, and makes its own context: what some clients do that were given no CA, to
    /// measure it. They are trusted as well. With OpenSSL.
    pub reads_system_cas: bool,
    /// One read of the socket for a whole record: for loads, at 16 KiB more a connection.
    pub read_ahead: bool,
    /// The ClientHello has no mark by which a capture knows sealion's sessions ([`wire::tls::mark`]); rustls never sends one.
    pub is_unmarked: bool,
    /// rustls takes TLS 1.2 and 1.3, no CRL, and of suites and groups those that it has.
    pub library: TlsLibrary,
}

/// A CA, and a certificate with its key. With OpenSSL.
pub struct PemSet {
    pub ca: Vec<u8>,
    pub cert: Vec<u8>,
    pub key: SecretString,
}

impl PartialEq for PemSet {
    fn eq(&self, other: &Self) -> bool {
        (&self.ca, &self.cert, self.key.expose_secret())
            == (&other.ca, &other.cert, other.key.expose_secret())
    }
}

impl Eq for PemSet {}

impl fmt::Debug for PemSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PemSet")
    }
}

impl TlsOptions {
    /// What a record may be limited to: less is refused by rustls, more by TLS (RFC 8446 5.1).
    pub const RECORD_BYTES: RangeInclusive<u16> = 32..=16_384;

    pub fn with_mode(mode: SslMode) -> Self {
        Self { mode, ..Self::default() }
    }
}

/// Whose settings a session has, of those that decide which rows a statement returns and how they read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SessionModes {
    /// Each is set to a value and read back: no global variable and no `init_connect` changes what is read.
    #[default]
    Own,
    /// As any client gets them: for a load that is measured, and where nothing is read behind the login.
    OfServer,
}

/// What sealion calls itself in its own sessions, by which another sealion knows them.
pub const PROGRAM_NAME: &str = "sealion";

/// Everything that is needed to log in.
#[derive(Debug, Clone)]
pub struct ConnectOptions {
    pub endpoint: Endpoint,
    pub user: String,
    pub password: Option<SecretString>,
    pub database: Option<String>,
    pub tls: TlsOptions,
    /// From dialling to the end of the login, all together.
    pub connect_timeout: Duration,
    /// The longest silence after the login; zero waits for ever.
    pub io_timeout: Duration,
    /// Take the server's RSA key on trust for `caching_sha2_password` without TLS: whoever is on the way can
    /// put its own in and then has the password.
    pub allow_public_key_retrieval: bool,
    /// A peer that was not verified is given proofs of the password and never the password itself, TLS or not: for servers that
    /// somebody else has named.
    pub keeps_password: bool,
    /// With MariaDB from 10.6 on: no column definitions where they are as when the statement was prepared. Only for
    /// [`crate::Session`]s.
    pub cache_metadata: bool,
    /// Tell the server that this client loads rows by `LOAD DATA LOCAL`: for [`crate::Client::load`], which sends bytes from memory and
    /// never a file, whatever name the server asks for.
    pub loads_local: bool,
    pub modes: SessionModes,
    /// The connection stands for one of an application, in a demo or a load: a capture counts it among those of clients, and not
    /// among sealion's own ([`crate::own_ends`]).
    pub is_application: bool,
    /// What the server shows as `program_name` of this connection.
    pub program_name: String,
    /// Set by somebody else while a login waits for the server: it is given up.
    pub given_up: Option<Arc<AtomicBool>>,
}

impl Default for ConnectOptions {
    /// 127.0.0.1:3306 as nobody in particular, ten seconds to log in, thirty for a statement.
    fn default() -> Self {
        Self {
            endpoint: Endpoint::tcp("127.0.0.1", 3306),
            user: String::new(),
            password: None,
            database: None,
            tls: TlsOptions::default(),
            connect_timeout: Duration::from_secs(10),
            io_timeout: Duration::from_secs(30),
            allow_public_key_retrieval: false,
            keeps_password: false,
            cache_metadata: false,
            loads_local: false,
            modes: SessionModes::Own,
            is_application: false,
            program_name: PROGRAM_NAME.to_owned(),
            given_up: None,
        }
    }
}

impl ConnectOptions {
    pub fn new(endpoint: Endpoint, user: impl Into<String>) -> Self {
        Self { endpoint, user: user.into(), ..Self::default() }
    }

    /// Over a unix socket nothing leaves the machine: TLS only where it is required.
    pub fn may_use_tls(&self) -> bool {
        if self.endpoint.is_unix_socket() {
            self.tls.mode.requires_tls()
        } else {
            self.tls.mode != SslMode::Disabled
        }
    }

    /// Nothing is read behind the login: the session keeps the server's settings.
    #[must_use]
    pub fn for_login_only(mut self) -> Self {
        self.modes = SessionModes::OfServer;
        self
    }

    /// The login of an application, in a demo or a load.
    #[must_use]
    pub fn for_application(mut self) -> Self {
        (self.is_application, self.tls.is_unmarked) = (true, true);
        if self.program_name == PROGRAM_NAME {
            "sealion-application".clone_into(&mut self.program_name);
        }
        self
    }

    #[must_use]
    pub fn password(mut self, password: impl Into<String>) -> Self {
        self.password = Some(SecretString::from(password.into()));
        self
    }

    #[must_use]
    pub fn database(mut self, database: impl Into<String>) -> Self {
        self.database = Some(database.into());
        self
    }

    #[must_use]
    pub fn tls(mut self, tls: TlsOptions) -> Self {
        self.tls = tls;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ssl_modes_are_spelled_as_on_the_command_line() {
        for (mode, name) in SslMode::NAMES {
            assert_eq!(name.parse(), Ok(mode));
            assert_eq!(name.to_lowercase().parse(), Ok(mode));
            assert_eq!(mode.to_string(), name);
        }
        assert!("VERIFY-CA".parse::<SslMode>().is_err());
    }

    #[test]
    fn tls_versions_are_spelled_both_ways() {
        assert_eq!("TLSv1.2".parse(), Ok(TlsVersion::Tls12));
        assert_eq!("1.3".parse(), Ok(TlsVersion::Tls13));
        assert_eq!("tlsv1".parse(), Ok(TlsVersion::Tls10));
        assert!("2".parse::<TlsVersion>().is_err());
        assert!("tls♥1.2".parse::<TlsVersion>().is_err());
    }

    #[test]
    fn options_never_show_the_password() {
        let options = ConnectOptions::new(Endpoint::tcp("::1", 1), "u").password("s3cret");
        assert!(!format!("{options:?}").contains("s3cret"));
        assert_eq!(options.endpoint.to_string(), "[::1]:1");
    }
}
