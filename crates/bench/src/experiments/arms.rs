//! What an experiment is made of: arms, the servers and paths that they need, and what was published before.

/// Whether an arm's connections speak TLS, and what they check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Checks {
    /// As the options of the command line say.
    #[default]
    AsAsked,
    /// TLS, whatever the options say; what they want checked is checked.
    On,
    Exactly(net::SslMode),
}

/// How an arm's connections speak. What is `None` is as the options of the command line say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ArmTls {
    pub checks: Checks,
    /// This one alone.
    pub version: Option<net::TlsVersion>,
    /// Suites up to TLS 1.2, in OpenSSL's spelling.
    pub ciphers: Option<&'static str>,
    /// Suites of TLS 1.3.
    pub ciphersuites: Option<&'static str>,
    pub groups: Option<&'static str>,
    /// What the server may sign its handshake with.
    pub signature_algorithms: Option<&'static str>,
    /// That a record which is sent may hold.
    pub record_bytes: Option<u16>,
    pub library: Option<net::TlsLibrary>,
    /// The client reads the system's CAs for each connection.
    pub reads_system_cas: bool,
    /// The client has one too, and the server checks it.
    pub has_certificate: bool,
}

impl ArmTls {
    pub const AS_ASKED: Self = Self {
        checks: Checks::AsAsked,
        version: None,
        ciphers: None,
        ciphersuites: None,
        groups: None,
        signature_algorithms: None,
        record_bytes: None,
        library: None,
        reads_system_cas: false,
        has_certificate: false,
    };
    pub const OFF: Self = Self::checking(net::SslMode::Disabled);
    /// By this library, whatever was asked for.
    pub(super) const OPENSSL: Self = Self { library: Some(net::TlsLibrary::OpenSsl), ..Self::ON };
    pub const ON: Self = Self { checks: Checks::On, ..Self::AS_ASKED };

    pub const fn checking(mode: net::SslMode) -> Self {
        Self { checks: Checks::Exactly(mode), ..Self::AS_ASKED }
    }

    pub(super) const fn version(version: net::TlsVersion) -> Self {
        Self { version: Some(version), ..Self::ON }
    }

    pub(super) const fn suite13(suite: &'static str) -> Self {
        Self { ciphersuites: Some(suite), ..Self::version(net::TlsVersion::Tls13) }
    }

    pub(super) const fn suite12(suite: &'static str) -> Self {
        Self { ciphers: Some(suite), ..Self::version(net::TlsVersion::Tls12) }
    }

    pub(super) const fn group(group: &'static str) -> Self {
        Self { groups: Some(group), ..Self::version(net::TlsVersion::Tls13) }
    }

    pub(super) const fn rustls(resumes: net::Resumes) -> Self {
        Self { library: Some(net::TlsLibrary::Rustls { resumes }), ..Self::ON }
    }

    pub(super) const fn rustls12(resumes: net::Resumes) -> Self {
        Self { version: Some(net::TlsVersion::Tls12), ..Self::rustls(resumes) }
    }
}

/// The key of a server's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Rsa(u32),
    P256,
    P384,
    Ed25519,
}

/// How a server of the lab is made for what TLS costs there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Made {
    pub key: Key,
    /// Certificates above the server's own: none is self-signed, with one a CA has signed it, and each further one stands between
    /// them and is sent along.
    pub issuers: u8,
    /// Its OpenSSL may use the processor's instructions for AES.
    pub aes_ni: bool,
    pub release: Release,
}

/// Of a server of the lab, and with it the OpenSSL that it is linked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    /// OpenSSL 3.0.
    MariaDb1011,
    /// OpenSSL 3.5, which has ML-KEM.
    MariaDb118,
}

impl Made {
    /// RSA of 2048 bits, signed by a CA.
    pub const PLAIN: Self =
        Self { key: Key::Rsa(2048), issuers: 1, aes_ni: true, release: Release::MariaDb1011 };
}

/// What nodes of Galera speak with each other, and of which key their certificates are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Between {
    ClearText,
    Tls(Key),
    /// `socket.dynamic`: either, and for each link chance decides.
    Dynamic(Key),
}

/// How a donor gives a joiner everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sst {
    Rsync,
    Mariabackup,
}

/// What brings a copy of a donor's data to a joiner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// `mariabackup --stream=xbstream`, through socat, into `mbstream`.
    Mariabackup,
    /// Through socat.
    Tar,
    /// To its daemon; where there is TLS, through stunnel.
    Rsync,
    /// `sealion send` of what mariabackup writes.
    SealionLive,
    /// `sealion send` of a directory.
    Sealion,
}

impl Tool {
    /// It reads a server that runs and takes writes meanwhile. The others read files that nobody writes to: of a donor that runs, such a
    /// way holds a lock for as long.
    pub fn reads_running_server(self) -> bool {
        matches!(self, Self::Mariabackup | Self::SealionLive)
    }

    pub fn is_sealion(self) -> bool {
        matches!(self, Self::SealionLive | Self::Sealion)
    }
}

/// What a copy is encrypted with on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransportCipher {
    ClearText,
    /// TLS 1.3, and what both ends choose there.
    Default,
    Aes128,
    Aes256,
    ChaCha20,
}

/// A network that is longer and thinner than loopback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    pub one_way_ms: u16,
    /// 0: as much as there is.
    pub mbit_per_s: u32,
}

/// How a copy of a donor's data gets to a joiner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transport {
    pub tool: Tool,
    pub cipher: TransportCipher,
    /// The programs may use the processor's instructions for AES.
    pub aes_ni: bool,
    /// `None` is loopback.
    pub line: Option<Line>,
}

/// What a server of the lab keeps encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AtRest {
    pub tables: bool,
    pub redo: bool,
    pub binlog: bool,
}

/// Which server an arm's connections go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Place {
    /// The one that was named; in a lab a MariaDB that is [`Made::PLAIN`].
    #[default]
    Given,
    /// A MariaDB of the lab.
    Made(Made),
    AtRest(AtRest),
    /// Three nodes of the lab, used in turn; what they speak with each other.
    Galera {
        between: Between,
    },
    /// The same, with so much delay between them; TLS with certificates of this key, or cleartext.
    Wan {
        tls: Option<Key>,
        one_way_ms: u16,
    },
    /// Two nodes of the lab, of which one takes everything from the other, again and again.
    Sst {
        method: Sst,
        tls: bool,
    },
    /// A donor of the lab, all of whose data is copied by programs, again and again; no server is started on the copy.
    Transport(Transport),
    /// A source and a replica of the lab, which reads the source's binary log from the beginning, again and again.
    Replica {
        tls: bool,
    },
    /// No MySQL at all: the same TLS, or none, and bytes that come back.
    Echo {
        tls: bool,
    },
}

/// What stands between an arm's connections and its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Via {
    #[default]
    Direct,
    /// A relay of ours that keeps every byte for so long, each way, and lets so much pass (0: as much as there is).
    Line { one_way_ms: u16, mbit_per_s: u32 },
    /// stunnel at both ends; the server itself is spoken to in cleartext.
    Stunnel,
    /// `ssh -L`; the server itself is spoken to in cleartext.
    Ssh,
    /// OpenVPN in user space, over UDP; the server itself is spoken to in cleartext.
    OpenVpn,
    /// WireGuard in user space; the server itself is spoken to in cleartext.
    WireGuard,
}

impl Via {
    /// Programs of others, with an end beside the server.
    pub fn is_tunnel(self) -> bool {
        matches!(self, Self::Stunnel | Self::Ssh | Self::OpenVpn | Self::WireGuard)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arm {
    pub name: &'static str,
    pub tls: ArmTls,
    pub place: Place,
    pub via: Via,
    /// The arm that it is compared with; `None` is the first of all, and an arm that names itself is compared with none.
    pub against: Option<&'static str>,
}

impl Arm {
    pub(super) const fn at(self, place: Place) -> Self {
        Self { place, ..self }
    }

    pub(super) const fn via(self, via: Via) -> Self {
        Self { via, ..self }
    }

    pub(super) const fn against(self, name: &'static str) -> Self {
        Self { against: Some(name), ..self }
    }

    /// It checks the server's chain, whatever was asked for.
    pub fn checks_chain(&self) -> bool {
        matches!(self.tls.checks, Checks::Exactly(mode) if mode.verifies_chain())
    }

    /// Only a lab has what it needs.
    pub fn needs_lab(&self) -> bool {
        self.place != Place::Given || self.tls.has_certificate || self.via.is_tunnel()
    }
}

pub(super) const fn arm(name: &'static str, tls: ArmTls) -> Arm {
    Arm { name, tls, place: Place::Given, via: Via::Direct, against: None }
}

/// What others measured, on other machines: it stands beside ours, and is compared with nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Published {
    /// Which machine, which version, when.
    pub source: &'static str,
    pub rows: &'static [PublishedRow],
    /// What was said in words, or of what is no arm here.
    pub findings: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublishedRow {
    pub arm: &'static str,
    /// `None`: of one connection, or not said.
    pub connections: Option<u32>,
    pub per_s: f64,
    pub deviation: Option<f64>,
    pub p95_ms: Option<f64>,
    pub p95_deviation_ms: Option<f64>,
}

impl PublishedRow {
    pub(super) const fn p95(self, ms: f64, deviation_ms: f64) -> Self {
        Self { p95_ms: Some(ms), p95_deviation_ms: Some(deviation_ms), ..self }
    }
}

pub(super) const fn row(arm: &'static str, connections: u32, per_s: f64, deviation: f64) -> PublishedRow {
    PublishedRow { deviation: Some(deviation), ..single(arm, connections, per_s) }
}

/// Published without a deviation.
pub(super) const fn single(arm: &'static str, connections: u32, per_s: f64) -> PublishedRow {
    PublishedRow {
        arm,
        connections: Some(connections),
        per_s,
        deviation: None,
        p95_ms: None,
        p95_deviation_ms: None,
    }
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    QueriesPerS,
    /// Connections, or whole tables.
    EventsPerS,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Experiment {
    pub name: &'static str,
    pub question: &'static str,
    pub workload: &'static str,
    pub measure: Measure,
    /// All others are compared with the first, unless they say otherwise.
    pub arms: &'static [Arm],
    /// Each level is measured apart; empty: as many connections as the command line says.
    pub connections: &'static [u32],
    pub published: Option<Published>,
}
