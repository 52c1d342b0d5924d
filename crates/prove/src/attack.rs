//! An attack, as data: what the rogue says, and what it shows in TLS.

use std::fmt;

/// What an attack is about: the chapters of the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Nothing is attacked: a client that fails here proves nothing elsewhere.
    Control,
    Strip,
    Certificate,
    Name,
    Version,
    Password,
    File,
    Injection,
    Noise,
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Control => "control",
            Self::Strip => "strip",
            Self::Certificate => "certificate",
            Self::Name => "name",
            Self::Version => "version",
            Self::Password => "password",
            Self::File => "file",
            Self::Injection => "injection",
            Self::Noise => "noise",
        })
    }
}

/// What a client of the rogue speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    MySql,
    /// The client speaks first: TLS from its first byte, or bytes of its own. So does a donor that sends its state to a joiner.
    Stream,
}

/// One attack.
#[derive(Debug)]
pub struct Attack {
    /// Never changes its meaning.
    pub id: &'static str,
    pub family: Family,
    /// What the one in the middle does, as a sentence.
    pub does: &'static str,
    /// What a client must do to be safe from it.
    pub defence: &'static str,
    /// A client that goes along has fallen. Else it is a way of reading names or bytes that is worth knowing.
    pub is_fall: bool,
    pub greeting: GreetingLook,
    pub tls: Option<TlsLook>,
    pub before_tls: BeforeTls,
    pub login: Login,
    /// Asks for a file of the client in answer to its first query.
    pub asks_for_file: bool,
    pub noise: Noise,
}

/// What the greeting says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GreetingLook {
    pub version: &'static str,
    pub is_mariadb: bool,
    pub plugin: &'static str,
}

/// What is said in cleartext around the wish for TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BeforeTls {
    Nothing,
    /// A whole OK packet behind the greeting, in one segment: a client that takes it for the answer to its login has been
    /// answered by somebody without a certificate.
    Ok,
    /// An error in place of the handshake.
    Error,
}

/// How a login goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Login {
    /// Anybody is let in.
    Accept,
    /// Switched to `mysql_clear_password`.
    ClearPassword,
    /// Switched to MariaDB's `dialog`: a question, and an answer in cleartext.
    Dialog,
    /// Switched to `sha256_password`; the key offered is our own.
    Sha256,
    /// Switched to `caching_sha2_password`, whose fast way is refused; the key offered is our own.
    CachingSha2,
    /// A bare 0xfe: the hash of before 4.1.
    OldPassword,
}

/// What is wrong with the bytes themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    None,
    /// An error in place of the greeting, with control characters and markup in its text.
    MaliciousError,
    /// The stream ends in the middle of the greeting.
    Truncated,
    /// A packet that says that it has 16 MiB, and a few bytes of them.
    Oversized,
}

/// What is shown in TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TlsLook {
    pub chain: Chain,
    pub names: Names,
    pub dates: Dates,
    pub key: Key,
    pub speaks: Speaks,
    /// Its CA has taken it back: the list of those that it took back goes to clients beside its certificate.
    pub is_revoked: bool,
}

/// Who vouches for the certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Chain {
    /// The CA that the client was given: only then is the rest of the certificate what counts.
    Given,
    SelfSigned,
    /// Of a CA that nobody knows; its certificate is sent too.
    UnknownWithRoot,
    /// Of a CA that nobody knows, and alone.
    UnknownLeafOnly,
    /// Of a CA that nobody knows, with an intermediate one.
    UnknownWithIntermediate,
}

/// Whom the certificate is for, where `HOST` is what the client connects to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Names {
    /// HOST in the SAN, as a name or an address.
    San,
    /// Somebody else in SAN and CN.
    Other,
    /// HOST in the CN, and no SAN.
    CnOnly,
    /// HOST in the CN, somebody else in the SAN.
    CnBesideOtherSan,
    /// `*.` and the rest of HOST.
    Wildcard,
    /// An address, written as a name of DNS in the SAN.
    AddressAsDns,
    /// An address in the CN, and no SAN.
    AddressInCn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dates {
    Valid,
    /// Since yesterday.
    Expired,
    /// From tomorrow on.
    NotYet,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key {
    Rsa2048,
    Rsa1024,
    /// RSA 2048, and a signature over SHA-1.
    Sha1,
}

/// What versions and suites the rogue takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Speaks {
    Modern,
    /// TLS 1.0 alone.
    Tls10,
    /// TLS 1.1 alone.
    Tls11,
    /// TLS 1.2 with suites that encrypt nothing.
    NullCipher,
    /// TLS 1.2 with suites without a certificate.
    Anonymous,
}

pub const MARIADB: GreetingLook =
    GreetingLook { version: "5.5.5-10.11.19-MariaDB", is_mariadb: true, plugin: "mysql_native_password" };

pub const GOOD_TLS: TlsLook = TlsLook {
    chain: Chain::Given,
    names: Names::San,
    dates: Dates::Valid,
    key: Key::Rsa2048,
    speaks: Speaks::Modern,
    is_revoked: false,
};

impl Attack {
    /// A server as it should be: what an attack does not say stays so.
    pub const HONEST: Self = Self {
        id: "honest",
        family: Family::Control,
        does: "A server with a certificate that the given CA issued for the host name that the client connects to.",
        defence: "",
        is_fall: false,
        greeting: MARIADB,
        tls: Some(GOOD_TLS),
        before_tls: BeforeTls::Nothing,
        login: Login::Accept,
        asks_for_file: false,
        noise: Noise::None,
    };

    /// Whether there is something to attack: what is about MySQL's own packets means nothing to a stream.
    pub fn is_played_in(&self, protocol: Protocol) -> bool {
        use Family::{Certificate, Control, Name, Strip, Version};
        protocol == Protocol::MySql
            || matches!(self.family, Control | Strip | Certificate | Name | Version)
                && self.greeting == Self::HONEST.greeting
    }
}
