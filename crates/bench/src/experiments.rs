//! The ready experiments: a question, the arms that answer it, and what was published on it before.
//!
//! A new one is a row of [`EXPERIMENTS`].

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
    const OPENSSL: Self = Self { library: Some(net::TlsLibrary::OpenSsl), ..Self::ON };
    pub const ON: Self = Self { checks: Checks::On, ..Self::AS_ASKED };

    pub const fn checking(mode: net::SslMode) -> Self {
        Self { checks: Checks::Exactly(mode), ..Self::AS_ASKED }
    }

    const fn version(version: net::TlsVersion) -> Self {
        Self { version: Some(version), ..Self::ON }
    }

    const fn suite13(suite: &'static str) -> Self {
        Self { ciphersuites: Some(suite), ..Self::version(net::TlsVersion::Tls13) }
    }

    const fn suite12(suite: &'static str) -> Self {
        Self { ciphers: Some(suite), ..Self::version(net::TlsVersion::Tls12) }
    }

    const fn group(group: &'static str) -> Self {
        Self { groups: Some(group), ..Self::version(net::TlsVersion::Tls13) }
    }

    const fn rustls(resumes: net::Resumes) -> Self {
        Self { library: Some(net::TlsLibrary::Rustls { resumes }), ..Self::ON }
    }

    const fn rustls12(resumes: net::Resumes) -> Self {
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
    /// The same, with so much delay between them; TLS with certificates of this key, or clear text.
    Wan {
        tls: Option<Key>,
        one_way_ms: u16,
    },
    /// Two nodes of the lab, of which one takes everything from the other, again and again.
    Sst {
        method: Sst,
        tls: bool,
    },
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
    /// stunnel at both ends; the server itself is spoken to in clear text.
    Stunnel,
    /// `ssh -L`; the server itself is spoken to in clear text.
    Ssh,
    /// OpenVPN in user space, over UDP; the server itself is spoken to in clear text.
    OpenVpn,
    /// WireGuard in user space; the server itself is spoken to in clear text.
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
    const fn at(self, place: Place) -> Self {
        Self { place, ..self }
    }

    const fn via(self, via: Via) -> Self {
        Self { via, ..self }
    }

    const fn against(self, name: &'static str) -> Self {
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

const fn arm(name: &'static str, tls: ArmTls) -> Arm {
    Arm { name, tls, place: Place::Given, via: Via::Direct, against: None }
}

/// What others measured, on other machines: it stands beside ours, and is compared with nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Published {
    /// Which machine, which version, when.
    pub source: &'static str,
    pub rows: &'static [PublishedRow],
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
    const fn p95(self, ms: f64, deviation_ms: f64) -> Self {
        Self { p95_ms: Some(ms), p95_deviation_ms: Some(deviation_ms), ..self }
    }
}

const fn row(arm: &'static str, connections: u32, per_s: f64, deviation: f64) -> PublishedRow {
    PublishedRow { deviation: Some(deviation), ..single(arm, connections, per_s) }
}

/// Published without a deviation.
const fn single(arm: &'static str, connections: u32, per_s: f64) -> PublishedRow {
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

const SUITES: &[Arm] = &[
    arm("clear text", ArmTls::OFF),
    arm("AES-128-GCM", ArmTls::suite13("TLS_AES_128_GCM_SHA256")),
    arm("AES-256-GCM", ArmTls::suite13("TLS_AES_256_GCM_SHA384")),
    arm("ChaCha20-Poly1305", ArmTls::suite13("TLS_CHACHA20_POLY1305_SHA256")),
    arm("AES-256-CBC, TLS 1.2", ArmTls::suite12("ECDHE-RSA-AES256-SHA384")),
];
const OFF_AND_ON: &[Arm] = &[arm("clear text", ArmTls::OFF), arm("TLS", ArmTls::ON)];
const RSA_1024: Arm = arm("TLS, RSA 1024", ArmTls::ON).at(keyed(Key::Rsa(1024)));
const RSA_4096: Arm = arm("TLS, RSA 4096", ArmTls::ON).at(keyed(Key::Rsa(4096)));

const fn keyed(key: Key) -> Place {
    Place::Made(Made { key, ..Made::PLAIN })
}

const fn below(name: &'static str, issuers: u8) -> Arm {
    arm(name, ArmTls::checking(net::SslMode::VerifyCa)).at(Place::Made(Made { issuers, ..Made::PLAIN }))
}

const AES_256: ArmTls = ArmTls::suite13("TLS_AES_256_GCM_SHA384");
const CHACHA20: ArmTls = ArmTls::suite13("TLS_CHACHA20_POLY1305_SHA256");
const WITHOUT_AES_NI: Place = Place::Made(Made { aes_ni: false, ..Made::PLAIN });

const fn five_ms(name: &'static str, tls: ArmTls) -> Arm {
    arm(name, tls).via(Via::Line { one_way_ms: 5, mbit_per_s: 0 }).against("5 ms: clear text")
}

const fn thin(name: &'static str, tls: ArmTls, mbit_per_s: u32) -> Arm {
    arm(name, tls).via(Via::Line { one_way_ms: 0, mbit_per_s })
}

/// Connects, to a server with OpenSSL 3.5.
const fn newer(name: &'static str, tls: ArmTls) -> Arm {
    let place = Place::Made(Made { release: Release::MariaDb118, ..Made::PLAIN });
    arm(name, tls).at(place).against("11.8, clear text")
}

const TUNNELS: &[Arm] = &[
    arm("clear text", ArmTls::OFF),
    arm("TLS of the server", ArmTls::ON),
    arm("stunnel", ArmTls::OFF).via(Via::Stunnel),
    arm("ssh -L", ArmTls::OFF).via(Via::Ssh),
    arm("OpenVPN", ArmTls::OFF).via(Via::OpenVpn),
    arm("WireGuard", ArmTls::OFF).via(Via::WireGuard),
];

const fn galera(name: &'static str, between: Between) -> Arm {
    arm(name, ArmTls::OFF).at(Place::Galera { between })
}

const GALERA: &[Arm] = &[
    galera("replication in clear text", Between::ClearText),
    galera("replication by TLS", Between::Tls(Made::PLAIN.key)),
];

const fn wan(name: &'static str, tls: Option<Key>, one_way_ms: u16) -> Arm {
    arm(name, ArmTls::OFF).at(Place::Wan { tls, one_way_ms })
}

const fn sst(name: &'static str, method: Sst, tls: bool) -> Arm {
    arm(name, ArmTls::OFF).at(Place::Sst { method, tls })
}

const fn replica(name: &'static str, tls: bool) -> Arm {
    arm(name, ArmTls::OFF).at(Place::Replica { tls })
}

const fn at_rest(name: &'static str, tables: bool, redo: bool, binlog: bool) -> Arm {
    arm(name, ArmTls::OFF).at(Place::AtRest(AtRest { tables, redo, binlog }))
}

const AT_REST: &[Arm] = &[
    at_rest("nothing encrypted", false, false, false),
    at_rest("tables", true, false, false),
    at_rest("redo log", false, true, false),
    at_rest("binary log", false, false, true),
    at_rest("all three", true, true, true),
];

/// The blog of 2014 tells seconds and transactions; a rate is one by the other.
const GALERA_2014: &str = "2014, three nodes with 4 vCPU, 20 million rows, 32 threads round robin, RSA 2048; transactions per second";

pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "aa",
        question: "A/A test: compares a setting with itself; must find no difference",
        workload: "oltp_point_select",
        measure: Measure::QueriesPerS,
        arms: &[arm("once", ArmTls::AS_ASKED), arm("the same again", ArmTls::AS_ASKED)],
        connections: &[],
        published: None,
    },
    Experiment {
        name: "tls",
        question: "What does TLS cost a pool of connections?",
        workload: "oltp_read_only",
        measure: Measure::QueriesPerS,
        arms: OFF_AND_ON,
        connections: &[],
        published: None,
    },
    Experiment {
        name: "pool",
        question: "What does TLS cost a pool of connections, by the size of the pool and the server's key?",
        workload: "oltp_read_only",
        measure: Measure::QueriesPerS,
        arms: &[arm("clear text", ArmTls::OFF), arm("TLS", ArmTls::ON), RSA_1024, RSA_4096],
        connections: &[1, 2, 4, 8, 16, 32],
        published: Some(Published {
            source: "2014, MySQL 5.6.13, 8 threads of an i7-2600K, client on the same host, DHE-RSA-AES256-SHA, TLS with \
                     RSA 2048, 8 tables of 100,000 rows, 10 minutes",
            rows: &[
                row("clear text", 1, 9250.18, 1005.82).p95(1.882, 0.522),
                row("clear text", 2, 18_297.61, 689.22).p95(1.728, 0.167),
                row("clear text", 4, 33_910.31, 446.02).p95(1.764, 0.145),
                row("clear text", 8, 50_077.60, 1525.37).p95(2.459, 0.523),
                row("clear text", 16, 49_844.49, 934.86).p95(6.616, 0.251),
                row("clear text", 32, 49_651.09, 498.68).p95(27.307, 0.817),
                row("TLS", 1, 2448.43, 290.02).p95(6.083, 0.277),
                row("TLS", 2, 4641.61, 510.91).p95(6.510, 0.081),
                row("TLS", 4, 8951.67, 1043.99).p95(6.693, 0.043),
                row("TLS", 8, 26_143.25, 360.84).p95(4.498, 0.503),
                row("TLS", 16, 25_872.10, 324.48).p95(11.222, 1.502),
                row("TLS", 32, 25_764.48, 370.33).p95(37.387, 0.393),
                row("TLS, RSA 1024", 1, 2406.53, 288.53).p95(6.151, 0.241),
                row("TLS, RSA 1024", 2, 4650.56, 558.58).p95(6.442, 0.180),
                row("TLS, RSA 1024", 4, 9183.33, 1565.41).p95(6.677, 0.289),
                row("TLS, RSA 1024", 8, 26_007.11, 345.79).p95(4.535, 0.507),
                row("TLS, RSA 1024", 16, 25_959.61, 343.55).p95(11.481, 1.403),
                row("TLS, RSA 1024", 32, 25_913.69, 192.90).p95(37.152, 0.393),
                row("TLS, RSA 4096", 1, 2427.95, 289.00).p95(6.120, 0.268),
                row("TLS, RSA 4096", 2, 4641.32, 547.57).p95(6.454, 0.119),
                row("TLS, RSA 4096", 4, 8991.37, 1005.89).p95(6.690, 0.043),
                row("TLS, RSA 4096", 8, 26_058.09, 432.86).p95(4.571, 0.727),
                row("TLS, RSA 4096", 16, 25_990.13, 439.53).p95(11.194, 1.395),
                row("TLS, RSA 4096", 32, 26_041.27, 780.71).p95(37.26, 0.307),
            ],
        }),
    },
    Experiment {
        name: "connect",
        question: "What does TLS cost a client that connects for every request, by the server's key?",
        workload: "connect",
        measure: Measure::EventsPerS,
        arms: &[
            arm("clear text", ArmTls::OFF),
            arm("TLS", ArmTls::ON),
            RSA_1024,
            RSA_4096,
            arm("TLS, P-256", ArmTls::ON).at(keyed(Key::P256)),
            arm("TLS, P-384", ArmTls::ON).at(keyed(Key::P384)),
            arm("TLS, Ed25519", ArmTls::ON).at(keyed(Key::Ed25519)),
        ],
        connections: &[1, 4, 16, 64],
        published: Some(Published {
            source: "2014, MySQL 5.6.13, one client in Perl on the same machine, TLS with RSA 2048, 10 trials",
            rows: &[
                row("clear text", 1, 2701.75, 165.54),
                row("TLS, RSA 1024", 1, 77.04, 6.14),
                row("TLS", 1, 28.183, 1.713),
                row("TLS, RSA 4096", 1, 5.45, 0.015),
            ],
        }),
    },
    Experiment {
        name: "reconnect",
        question: "What does session resumption save, near the server and 5 ms away?",
        workload: "connect",
        measure: Measure::EventsPerS,
        arms: &[
            arm("clear text", ArmTls::OFF),
            arm("TLS, OpenSSL", ArmTls::OPENSSL),
            arm("TLS, rustls", ArmTls::rustls(net::Resumes::No)),
            arm("resumed, rustls", ArmTls::rustls(net::Resumes::Any)),
            arm("TLS 1.2, rustls", ArmTls::rustls12(net::Resumes::No)),
            arm("TLS 1.2 resumed, rustls", ArmTls::rustls12(net::Resumes::Any)).against("TLS 1.2, rustls"),
            arm("TLS 1.2 resumed by id, rustls", ArmTls::rustls12(net::Resumes::ById))
                .against("TLS 1.2, rustls"),
            five_ms("5 ms: clear text", ArmTls::OFF),
            five_ms("5 ms: TLS, OpenSSL", ArmTls::OPENSSL),
            five_ms("5 ms: TLS, rustls", ArmTls::rustls(net::Resumes::No)),
            five_ms("5 ms: resumed, rustls", ArmTls::rustls(net::Resumes::Any)),
        ],
        connections: &[1],
        published: Some(Published {
            source: "2017, MySQL 5.7.18 with yaSSL and the client library of that time; published in milliseconds \
                     per connection, shown here as connections per second (0.5 and 8 ms; 52 and 85 ms with 5 ms of \
                     delay)",
            rows: &[
                single("clear text", 1, 2000.0),
                single("TLS, OpenSSL", 1, 125.0),
                single("5 ms: clear text", 1, 19.2),
                single("5 ms: TLS, OpenSSL", 1, 11.8),
            ],
        }),
    },
    Experiment {
        name: "stream1",
        question: "What does TLS cost one connection that reads whole tables?",
        workload: "stream",
        measure: Measure::EventsPerS,
        arms: OFF_AND_ON,
        connections: &[1],
        // Published in 2014 as four times slower, without figures.
        published: None,
    },
    Experiment {
        name: "bulk",
        question: "Which cipher suite costs least when whole tables are read?",
        workload: "stream",
        measure: Measure::EventsPerS,
        arms: SUITES,
        connections: &[],
        published: None,
    },
    Experiment {
        name: "bulk-dump",
        question: "What does TLS cost mysqldump, by cipher suite?",
        workload: "dump",
        measure: Measure::EventsPerS,
        arms: SUITES,
        connections: &[1],
        published: None,
    },
    Experiment {
        name: "aes",
        question: "What do the processor's AES instructions save, and which cipher suite is best without them?",
        workload: "stream",
        measure: Measure::EventsPerS,
        arms: &[
            arm("clear text", ArmTls::OFF),
            arm("AES-256-GCM", AES_256),
            arm("ChaCha20-Poly1305", CHACHA20),
            arm("AES-256-GCM without AES-NI", AES_256).at(WITHOUT_AES_NI),
            arm("ChaCha20-Poly1305 without AES-NI", CHACHA20).at(WITHOUT_AES_NI),
        ],
        connections: &[],
        published: None,
    },
    Experiment {
        name: "verify",
        question: "What does certificate verification cost the client?",
        workload: "connect",
        measure: Measure::EventsPerS,
        arms: &[
            arm("nothing checked", ArmTls::checking(net::SslMode::Required)),
            arm("chain", ArmTls::checking(net::SslMode::VerifyCa)),
            arm("chain and name", ArmTls::checking(net::SslMode::VerifyIdentity)),
            arm(
                "and a client's certificate",
                ArmTls { has_certificate: true, ..ArmTls::checking(net::SslMode::VerifyIdentity) },
            ),
            arm(
                "nothing, but the system's CAs are read",
                ArmTls { reads_system_cas: true, ..ArmTls::checking(net::SslMode::Required) },
            ),
        ],
        connections: &[],
        published: None,
    },
    Experiment {
        name: "chain",
        question: "What do intermediate certificates cost a client that verifies them?",
        workload: "connect",
        measure: Measure::EventsPerS,
        arms: &[below("signed by the CA", 1), below("one between", 2), below("two between", 3)],
        connections: &[],
        published: None,
    },
    Experiment {
        name: "library",
        question: "Does the TLS library of the client change the throughput of a pool of connections?",
        workload: "oltp_read_only",
        measure: Measure::QueriesPerS,
        arms: &[arm("OpenSSL", ArmTls::OPENSSL), arm("rustls", ArmTls::rustls(net::Resumes::No))],
        connections: &[],
        published: None,
    },
    Experiment {
        name: "versions",
        question: "Does TLS 1.3 connect faster than TLS 1.2?",
        workload: "connect",
        measure: Measure::EventsPerS,
        arms: &[
            arm("TLS 1.2", ArmTls::version(net::TlsVersion::Tls12)),
            arm("TLS 1.3", ArmTls::version(net::TlsVersion::Tls13)),
        ],
        connections: &[],
        published: None,
    },
    Experiment {
        name: "groups",
        question: "What does the key exchange group cost per connection?",
        workload: "connect",
        measure: Measure::EventsPerS,
        arms: &[
            arm("X25519", ArmTls::group("X25519")),
            arm("P-256", ArmTls::group("P-256")),
            arm("P-384", ArmTls::group("P-384")),
            arm("X25519 and ML-KEM-768", ArmTls::group("X25519MLKEM768")),
        ],
        connections: &[],
        published: None,
    },
    Experiment {
        name: "openssl",
        question: "Does the OpenSSL version of the server change the cost of a connection, and what does \
                   post-quantum key exchange cost?",
        workload: "connect",
        measure: Measure::EventsPerS,
        arms: &[
            arm("10.11, clear text", ArmTls::OFF).at(keyed(Made::PLAIN.key)),
            arm("10.11, OpenSSL 3.0", ArmTls::group("X25519")).at(keyed(Made::PLAIN.key)),
            newer("11.8, clear text", ArmTls::OFF),
            newer("11.8, OpenSSL 3.5", ArmTls::group("X25519")),
            newer("11.8, ML-KEM-768 beside it", ArmTls::group("X25519MLKEM768")).against("11.8, OpenSSL 3.5"),
        ],
        connections: &[],
        published: None,
    },
    Experiment {
        name: "bandwidth",
        question: "When whole tables are read over a slow network, is TLS the limit or the network?",
        workload: "stream",
        measure: Measure::EventsPerS,
        arms: &[
            arm("clear text", ArmTls::OFF),
            arm("TLS", ArmTls::ON),
            thin("1000 Mbit/s", ArmTls::OFF, 1000).against("1000 Mbit/s"),
            thin("1000 Mbit/s, TLS", ArmTls::ON, 1000).against("1000 Mbit/s"),
            thin("100 Mbit/s", ArmTls::OFF, 100).against("100 Mbit/s"),
            thin("100 Mbit/s, TLS", ArmTls::ON, 100).against("100 Mbit/s"),
        ],
        connections: &[1],
        published: None,
    },
    Experiment {
        name: "tunnels",
        question: "TLS of the server or a tunnel: what does each cost a pool of connections?",
        workload: "oltp_read_only",
        measure: Measure::QueriesPerS,
        arms: TUNNELS,
        connections: &[8],
        published: None,
    },
    Experiment {
        name: "tunnels-connect",
        question: "TLS of the server or a tunnel: what does each cost a client that connects for every request?",
        workload: "connect",
        measure: Measure::EventsPerS,
        arms: TUNNELS,
        connections: &[4],
        published: None,
    },
    Experiment {
        name: "floor",
        question: "Which part of the cost of a connection is TLS, and which is MySQL?",
        workload: "connect",
        measure: Measure::EventsPerS,
        arms: &[
            arm("TCP and an echo", ArmTls::OFF).at(Place::Echo { tls: false }),
            arm("TLS and an echo", ArmTls::ON).at(Place::Echo { tls: true }),
            arm("MySQL in clear text", ArmTls::OFF),
            arm("MySQL by TLS", ArmTls::ON).against("TLS and an echo"),
        ],
        connections: &[],
        published: None,
    },
    Experiment {
        name: "galera-write",
        question: "What does TLS between Galera nodes cost writes?",
        workload: "oltp_write_only",
        measure: Measure::EventsPerS,
        arms: GALERA,
        connections: &[32],
        published: Some(Published {
            source: GALERA_2014,
            rows: &[single("replication in clear text", 32, 1237.0), single("replication by TLS", 32, 979.2)],
        }),
    },
    Experiment {
        name: "galera-read",
        question: "What does TLS between Galera nodes cost reads?",
        workload: "oltp_read_only",
        measure: Measure::EventsPerS,
        arms: GALERA,
        connections: &[32],
        published: Some(Published {
            source: GALERA_2014,
            rows: &[single("replication in clear text", 32, 233.8), single("replication by TLS", 32, 230.8)],
        }),
    },
    Experiment {
        name: "galera-mixed",
        question: "What does TLS between Galera nodes cost a mixed workload?",
        workload: "oltp_read_write",
        measure: Measure::EventsPerS,
        arms: GALERA,
        connections: &[32],
        published: Some(Published {
            source: GALERA_2014,
            rows: &[single("replication in clear text", 32, 392.3), single("replication by TLS", 32, 354.1)],
        }),
    },
    Experiment {
        name: "galera-dynamic",
        question: "What does a Galera cluster cost during a change to TLS, while its nodes accept both?",
        workload: "oltp_write_only",
        measure: Measure::EventsPerS,
        arms: &[
            galera("replication in clear text", Between::ClearText),
            galera("replication by TLS", Between::Tls(Made::PLAIN.key)),
            galera("socket.dynamic", Between::Dynamic(Made::PLAIN.key)),
        ],
        connections: &[32],
        published: None,
    },
    Experiment {
        name: "wan",
        question: "What does TLS between Galera nodes cost when they are far apart?",
        workload: "oltp_write_only",
        measure: Measure::EventsPerS,
        arms: &[
            wan("0 ms", None, 0),
            wan("0 ms, TLS", Some(Made::PLAIN.key), 0),
            wan("0 ms, TLS, RSA 4096", Some(Key::Rsa(4096)), 0),
            wan("5 ms", None, 5).against("5 ms"),
            wan("5 ms, TLS", Some(Made::PLAIN.key), 5).against("5 ms"),
            wan("20 ms", None, 20).against("20 ms"),
            wan("20 ms, TLS", Some(Made::PLAIN.key), 20).against("20 ms"),
            wan("20 ms, TLS, RSA 4096", Some(Key::Rsa(4096)), 20).against("20 ms"),
        ],
        connections: &[32],
        published: None,
    },
    Experiment {
        name: "sst",
        question: "What does TLS cost an SST, by rsync and by mariabackup?",
        workload: "sst",
        measure: Measure::EventsPerS,
        arms: &[
            sst("rsync", Sst::Rsync, false),
            sst("rsync, TLS", Sst::Rsync, true),
            sst("mariabackup", Sst::Mariabackup, false).against("mariabackup"),
            sst("mariabackup, TLS", Sst::Mariabackup, true).against("mariabackup"),
        ],
        connections: &[1],
        published: None,
    },
    Experiment {
        name: "replication",
        question: "What does TLS cost a replica that reads the binary log of its source?",
        workload: "replication",
        measure: Measure::EventsPerS,
        arms: &[replica("clear text", false), replica("TLS", true)],
        connections: &[1],
        published: None,
    },
    Experiment {
        name: "at-rest",
        question: "What does encryption at rest cost writes?",
        workload: "oltp_write_only",
        measure: Measure::EventsPerS,
        arms: AT_REST,
        connections: &[8],
        published: None,
    },
    Experiment {
        name: "at-rest-scan",
        question: "What does encryption at rest cost reads of whole tables?",
        workload: "stream",
        measure: Measure::EventsPerS,
        arms: AT_REST,
        connections: &[1],
        published: None,
    },
];

/// For each arm the place of that which it is compared with, if it is there.
pub fn bases(arms: &[Arm]) -> Vec<Option<usize>> {
    let base = |(at, arm): (usize, &Arm)| {
        let found = match arm.against {
            None => Some(0),
            Some(name) => arms.iter().position(|other| other.name == name),
        };
        found.filter(|base| *base != at)
    };
    arms.iter().enumerate().map(base).collect()
}

/// `None`: there is none of this name.
pub fn experiment(name: &str) -> Option<&'static Experiment> {
    EXPERIMENTS.iter().find(|experiment| experiment.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_what_was_published_is_of_an_arm() {
        let names: BTreeSet<&str> = EXPERIMENTS.iter().map(|one| one.name).collect();
        assert_eq!(names.len(), EXPERIMENTS.len());
        for one in EXPERIMENTS {
            assert!(one.arms.len() > 1, "{}", one.name);
            for arm in one.arms {
                let base = arm.against.unwrap_or(one.arms[0].name);
                assert!(one.arms.iter().any(|other| other.name == base), "{}: {base}", one.name);
            }
            assert!(bases(one.arms).iter().any(Option::is_some), "{}", one.name);
            for row in one.published.iter().flat_map(|published| published.rows) {
                assert!(one.arms.iter().any(|arm| arm.name == row.arm), "{}: {}", one.name, row.arm);
            }
        }
    }
}
