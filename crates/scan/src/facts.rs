//! What was seen of one target.

use std::collections::{BTreeMap, BTreeSet};

use trust::CertificateInfo;
use wire::tls::registry::Version;

use crate::login_probe::Knocked;
use crate::target::Port;

/// Something that a probe looked for. `Unknown` says why it could not have been seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    Yes,
    No,
    Unknown(String),
}

/// What listens there, as far as its words tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Service {
    Mysql {
        version: String,
        flavour: String,
        auth_plugin: Option<String>,
        capabilities: u32,
        offers_tls: bool,
    },
    XProtocol {
        offers_tls: bool,
        authentication_mechanisms: Vec<String>,
    },
    /// 1129, 1130, 1040: this client is turned away before TLS could begin.
    TurnedAway {
        code: u16,
        message: String,
    },
    /// A Galera port that speaks first, in cleartext. `dynamic`: it also takes TLS.
    GaleraPlain {
        dynamic: bool,
    },
    /// A Group Replication port that answers in cleartext.
    GroupReplicationPlain {
        protocol_version: u32,
    },
    /// TLS from the first byte: Galera, SST or a stranger.
    Tls,
    /// Listens, says nothing, and takes no TLS.
    Silent,
    Stranger {
        first_bytes_hex: String,
    },
}

impl Service {
    /// It has said so, or has spoken TLS at once.
    pub fn offers_tls(&self) -> bool {
        match self {
            Self::Mysql { offers_tls, .. } | Self::XProtocol { offers_tls, .. } => *offers_tls,
            Self::Tls => true,
            _ => false,
        }
    }
}

/// The versions that were asked for, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tls {
    /// Offered and taken, or not.
    pub versions: BTreeMap<Version, Found>,
    /// Per version, in the order in which the server chose among all that were left.
    pub suites: BTreeMap<Version, Vec<u16>>,
    /// Versions whose list of suites is whole; the others show one of each class that was asked for.
    pub complete: BTreeSet<Version>,
    /// Whether every class of suites of SSL 3.0 to TLS 1.2 was asked for: only then is what is not in `suites` refused.
    pub classes_complete: bool,
    /// Per version (TLS 1.3 and below 1.3), in the server's order.
    pub groups: BTreeMap<Version, Vec<u16>>,
    pub groups_complete: BTreeSet<Version>,
    /// The size of the finite-field group of DHE suites, and its name where it is a known one.
    pub dh_bits: Option<usize>,
    pub dh_prime: Option<String>,
    /// Whether the server's order counts, or the client's.
    pub server_order: Option<Found>,
    pub signature_schemes: BTreeSet<u16>,
    /// Chains, leaf first. More than one: a server with a certificate per key type.
    pub chains: Vec<Vec<CertificateInfo>>,
    /// The same in DER, in the same order.
    pub chains_der: Vec<Vec<Vec<u8>>>,
    /// Which of them came without a server name, where that is another one than with it.
    pub chain_without_name: Option<usize>,
    pub compression: Option<Found>,
    pub secure_renegotiation: Option<Found>,
    pub extended_master_secret: Option<Found>,
    pub encrypt_then_mac: Option<Found>,
    pub heartbeat: Option<Found>,
    pub session_ticket: Option<Found>,
    pub ocsp_staple: Option<Found>,
    pub fallback_scsv: Option<Found>,
    pub client_certificate_asked: Option<Found>,
    /// Whether a handshake ends without one.
    pub client_certificate_required: Option<Found>,
    /// A session goes on: by its id (TLS 1.2 and older), by a ticket (the same), by a ticket of TLS 1.3.
    pub resumption_by_id: Option<Found>,
    pub resumption_by_ticket: Option<Found>,
    pub resumption_by_psk: Option<Found>,
    /// As the server says with a ticket: up to TLS 1.2, and in TLS 1.3.
    pub ticket_lifetime_s: Option<u32>,
    pub psk_lifetime_s: Option<u32>,
    /// A client may begin another handshake inside the session (TLS 1.2 and older).
    pub client_renegotiation: Option<Found>,
    /// Only where it was allowed to ask: see [`crate::intrude`].
    pub heartbleed: Option<Found>,
    pub early_ccs: Option<Found>,
    pub robot: Option<Found>,
}

/// All about one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    pub service: Option<Service>,
    pub port: Port,
    pub tls: Option<Tls>,
    /// Whether the RSA key of the password plugins is offered in cleartext; `None` where it was not asked.
    pub public_key: Option<Knocked>,
    /// Why there is less than was asked for.
    pub not_seen: Vec<String>,
    /// More than one server answered, and how that was seen: what there is may be of either, and is judged of none.
    pub several_servers: Option<String>,
    pub connections: u32,
    /// Of these, with a ClientHello in them.
    pub handshakes: u32,
    pub elapsed_us: u64,
}

impl Facts {
    pub fn new(port: Port) -> Self {
        Self {
            service: None,
            port,
            tls: None,
            public_key: None,
            not_seen: Vec::new(),
            several_servers: None,
            connections: 0,
            handshakes: 0,
            elapsed_us: 0,
        }
    }
}
