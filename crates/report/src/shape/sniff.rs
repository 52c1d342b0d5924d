//! The published shape of `sealion prove sniff --format json`: `docs/schema/prove-sniff-1.json`. `sealion prove relay` ends
//! with the same rows for its connections.

use serde::{Deserialize, Serialize};

/// What [`ProveSniffReport::schema`] says.
pub const PROVE_SNIFF_SCHEMA_ID: &str = "sealion/prove-sniff/1";

/// What somebody read who only listened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProveSniffReport {
    /// Always [`PROVE_SNIFF_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    /// Where the packets came from.
    pub method: String,
    pub is_readable: bool,
    /// Nothing is known to have been missed: `doubts` is empty.
    pub is_complete: bool,
    pub doubts: Vec<String>,
    pub segments: u64,
    pub other_packets: u64,
    /// `readable`, `not-known`, `nothing-readable` or `no-connection`. Empty in documents of older versions.
    #[serde(default)]
    pub conclusion: String,
    /// Packets that may have been a connection's of a database, and could not be read.
    #[serde(default)]
    pub packets_not_looked_at: u64,
    /// The same by kind.
    #[serde(default)]
    pub not_looked_at: Vec<SniffNotLookedAt>,
    pub payload_bytes: u64,
    pub missing_bytes: u64,
    /// `null` where no packet was seen.
    pub first_unix_ms: Option<u64>,
    pub last_unix_ms: Option<u64>,
    pub connections_by_kind: Vec<SniffKindSum>,
    pub connections_over_limit: u64,
    /// Connections that are only in the sums.
    pub connections_not_listed: u64,
    /// Worst first.
    pub findings: Vec<SniffFindingSum>,
    pub canaries: Vec<SniffCanarySum>,
    /// Canaries that are in `findings` only.
    pub canaries_not_listed: u64,
    pub connections: Vec<SniffConnection>,
}

impl ProveSniffReport {
    /// One connection a line: ten thousand of them as one value would take more memory than the capture did. `self` has no
    /// connections; `connections` gives them.
    pub fn lines(&self, connections: impl Iterator<Item = SniffConnection>, out: &mut dyn FnMut(&str)) {
        let head = serde_json::to_string(&Self { connections: vec![], ..self.clone() });
        let head = head.expect("the shape has only plain fields");
        let mut connections = connections.peekable();
        out(head.strip_suffix("]}").expect("connections are the last key"));
        while let Some(one) = connections.next() {
            let comma = if connections.peek().is_some() { "," } else { "" };
            out(&format!("{}{comma}", serde_json::to_string(&one).expect("the shape has only plain fields")));
        }
        out("]}");
    }
}

/// Packets of one kind that could not be read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SniffNotLookedAt {
    /// `link-type`, `ethertype`, `ip-protocol`, `udp`, `encrypted`, `tunnel`, `ip-fragment`, `cut-short`, `malformed`, `too-many-layers`.
    pub kind: String,
    /// Of the link type, the ethertype, the IP protocol or the UDP port.
    pub number: Option<u16>,
    pub text: String,
    pub packets: u64,
}

/// Connections of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SniffKindSum {
    pub kind: String,
    pub connections: u64,
}

/// Statements that carry a secret of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SniffSecret {
    pub secret: String,
    pub times: u64,
}

/// Errors of one code: their texts quote values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SniffErrorCode {
    pub code: u16,
    pub times: u64,
}

/// One kind of thing, over all connections.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SniffFindingSum {
    pub id: String,
    pub text: String,
    /// Always true. Documents of older versions say `false` of `clear-bytes-in-tls`.
    pub is_readable: bool,
    pub connections: u64,
    pub times: u64,
}

/// One canary in one place, over all connections.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SniffCanarySum {
    /// The tag of a canary of sealion, or `given-N`: a word that was given is never repeated.
    pub canary: String,
    pub place: String,
    pub text: String,
    pub connections: u64,
    pub times: u64,
}

/// One connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SniffConnection {
    pub client: String,
    pub server: String,
    pub kind: String,
    /// What both ends sent is TLS. `false` also where TLS began and bytes outside of it followed.
    pub is_tls: bool,
    /// Too little was seen to tell whether it is TLS or cleartext, or segments were sent twice with different bytes.
    #[serde(default)]
    pub is_undecided: bool,
    /// From which byte of the client on TLS was spoken.
    pub tls_from_client_byte: Option<u64>,
    pub tls_from_server_byte: Option<u64>,
    /// Bytes behind the beginning of TLS that lie in no record.
    pub clear_bytes_in_tls: u64,
    pub client_bytes: u64,
    pub server_bytes: u64,
    pub missing_bytes: u64,
    /// Compressed bytes that could not be read.
    pub unread_bytes: u64,
    pub first_unix_ms: u64,
    pub last_unix_ms: u64,
    pub canaries: Vec<SniffCanary>,
    /// Worst first.
    pub findings: Vec<SniffFinding>,
    /// `null` where it is not MySQL's protocol.
    pub mysql: Option<SniffMySql>,
    /// `null` where these are no messages between nodes in clear.
    pub galera: Option<SniffGalera>,
}

/// One canary in one place of a connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SniffCanary {
    pub canary: String,
    pub place: String,
    pub times: u64,
}

/// One kind of thing on a connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SniffFinding {
    pub id: String,
    pub times: u64,
    /// No value from the wire but names.
    pub detail: String,
}

/// What a login gave away.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SniffLogin {
    pub plugin: String,
    pub answer_bytes: u64,
    pub is_guessable: bool,
    /// An assumption, to one power of ten; `null` where it cannot be guessed.
    pub assumed_guesses_per_s: Option<f64>,
}

/// What was read of MySQL's protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SniffMySql {
    pub flavour: Option<String>,
    pub server_version: Option<String>,
    pub offers_tls: bool,
    pub asked_tls: bool,
    pub joined_in_the_middle: bool,
    /// The newest one.
    pub user: Option<String>,
    /// All that logged in on this connection, the first one first.
    #[serde(default)]
    pub users: Vec<String>,
    pub database: Option<String>,
    pub program: Option<String>,
    /// `zlib` or `zstd`.
    pub compressed: Option<String>,
    pub logged_in: bool,
    pub logins: Vec<SniffLogin>,
    pub passwords_in_clear: u64,
    pub secrets: Vec<SniffSecret>,
    pub queries: u64,
    pub prepared: u64,
    pub executed: u64,
    pub parameter_bytes: u64,
    pub results: u64,
    pub rows: u64,
    pub row_bytes: u64,
    pub files_sent: u64,
    pub file_bytes: u64,
    pub binlog_dumps: u64,
    pub binlog_events: u64,
    pub row_events: u64,
    pub statement_events: u64,
    pub errors: u64,
    pub error_codes: Vec<SniffErrorCode>,
    /// Shapes of statements, each value a `?`.
    pub samples: Vec<String>,
    pub lost: u64,
}

/// What passed between two nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SniffGalera {
    pub messages: u64,
    pub data_messages: u64,
    pub writesets: u64,
    pub writeset_bytes: u64,
}
