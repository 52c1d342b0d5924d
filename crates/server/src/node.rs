//! A server together with its host: the reading half, and the writing half that only a step's action is given.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use host::{ProcessFacts, ReadHost, Service, WriteHost};
use model::NodeName;
use net::PemSet;
use thiserror::Error;

use crate::accounts::{Account, AccountName, CertificateAccount};
use crate::at_rest::{
    AtRest, AtRestSetting, LiveSettings, NotRead, Rebuild, RebuildSample, Rebuilt, UndoRound,
};
use crate::grants::OwnGrants;
use crate::live_settings::LiveSetting;
use crate::logins::Logins;
use crate::options::Effective;
use crate::replication::{Channel, ChannelTls, Threads, TlsFiles};
use crate::tls_rules::{OfferAnswer, TlsOffer, TlsRules};
use crate::view::NodeView;

/// File names below a node's `tls_dir`. Paths cannot be changed at run time, so they never change.
pub const CA_FILE: &str = "ca.pem";
/// What its clients' certificates are judged by, where clients have a CA of their own: [`CA_FILE`], and that CA. No member is judged by it.
pub const CLIENT_CA_FILE: &str = "client-ca.pem";
pub const CERT_FILE: &str = "node-cert.pem";
pub const KEY_FILE: &str = "node-key.pem";

#[derive(Debug, Error)]
pub enum NodeError {
    /// Its process is gone, or nothing listens and there is no process.
    #[error("{node} is down: {why}")]
    Down { node: NodeName, why: String },
    /// It did not answer, and whether it runs is not known, or it does run: frozen, on its way up, or out of our reach.
    #[error("{node} does not answer, and is not known to be down: {why}")]
    Silent {
        node: NodeName,
        why: String,
        /// Its process runs and nothing listens (`ECONNREFUSED`), as on its way up or down. A frozen server still listens.
        runs_unheard: bool,
    },
    /// It answers, and does not let us in or does not do what we asked.
    #[error("{node} refused: {why}")]
    Refused { node: NodeName, why: String },
    #[error("{node}: {why}")]
    Host { node: NodeName, why: String },
}

impl NodeError {
    pub fn is_down(&self) -> bool {
        matches!(self, Self::Down { .. })
    }
    /// Its text without the name of the node, for whoever has said that already.
    pub fn unnamed(&self) -> String {
        let text = self.to_string();
        let (Self::Down { node, .. }
        | Self::Silent { node, .. }
        | Self::Refused { node, .. }
        | Self::Host { node, .. }) = self;
        text.strip_prefix(node.as_str())
            .map_or(text.clone(), |rest| rest.trim_start_matches([':', ' ']).to_owned())
    }
    /// The reason alone, where its text is one of several lines.
    pub fn reason(&self) -> String {
        let text = self.unnamed();
        let why = text.lines().find_map(|line| line.trim_start().strip_prefix("why:"));
        why.or_else(|| text.lines().next()).unwrap_or("").trim().to_owned()
    }
    /// Its text up to the first line feed, for lists of nodes.
    pub fn first_line(&self) -> String {
        self.to_string().lines().next().unwrap_or("").to_owned()
    }
}

/// Whether a server's process runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Alive {
    /// It runs, or is on its way up or down.
    Yes,
    No,
    /// Nobody can say, with the reason.
    CannotTell(String),
}

/// What became of a login without TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CleartextLogin {
    /// The same login is let in over TLS.
    Refused,
    LetIn,
    CannotTell(String),
}

/// Where a node is and how it is handled, from the inventory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeSpec {
    pub name: NodeName,
    /// What other nodes and clients call it: goes into the certificate's SAN.
    pub address: String,
    /// More names for the certificate, of load balancers for example.
    pub names: Vec<String>,
    /// Proxies of the inventory that lead here, with the names under which clients reach them: none where nobody has said.
    pub proxies: BTreeMap<String, Vec<String>>,
    pub port: u16,
    pub galera_port: u16,
    pub socket: Option<PathBuf>,
    pub pid_file: Option<PathBuf>,
    pub error_log: Option<PathBuf>,
    /// The option file the server is started with; includes are followed.
    pub defaults_file: PathBuf,
    pub tls_dir: PathBuf,
    /// Where sealion keeps a copy of the journal and the files it replaced.
    pub state_dir: PathBuf,
    pub service: Service,
    /// Run before the server is stopped and after it is back, e.g. to tell a proxy. Without a shell.
    pub drain: Option<Vec<String>>,
    pub undrain: Option<Vec<String>>,
}

impl NodeSpec {
    /// A node of which nothing but its name and address is known, at the usual ports.
    pub fn new(name: impl Into<String>, address: impl Into<String>) -> Self {
        Self {
            name: NodeName::new(name),
            address: address.into(),
            names: vec![],
            proxies: BTreeMap::new(),
            port: 3306,
            galera_port: 4567,
            socket: None,
            pid_file: None,
            error_log: None,
            defaults_file: PathBuf::new(),
            tls_dir: PathBuf::new(),
            state_dir: PathBuf::new(),
            service: Service::Commands { start: vec![], stop: vec![], alive: None },
            drain: None,
            undrain: None,
        }
    }

    /// What its certificate has beside its own name, each once: clients verify the name that they were told, which may be a proxy's.
    pub fn certificate_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for name in std::iter::once(&self.address).chain(&self.names).chain(self.proxies.values().flatten()) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }
}

/// Why a program of the inventory, `drain` or `undrain`, is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hook<'a> {
    /// Before the stop; else the node is back.
    pub is_drain: bool,
    /// The id of the plan.
    pub change: &'a str,
    pub step: &'a str,
}

impl Hook<'_> {
    /// The program with what it is told, in its environment.
    pub fn command(&self, spec: &NodeSpec) -> Option<Vec<String>> {
        let program = if self.is_drain { &spec.drain } else { &spec.undrain };
        let told = [
            ("ACTION", if self.is_drain { "drain" } else { "undrain" }.to_owned()),
            ("NODE", spec.name.to_string()),
            ("ADDRESS", spec.address.clone()),
            ("PORT", spec.port.to_string()),
            ("CHANGE", self.change.to_owned()),
            ("STEP", self.step.to_owned()),
        ];
        let told = told.map(|(name, value)| format!("SEALION_{name}={value}"));
        // By env(1), which every host has: whatever runs commands there knows of no environment.
        program.as_ref().map(|program| [vec!["env".to_owned()], told.to_vec(), program.clone()].concat())
    }
}

/// Who is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sessions {
    /// Connections of users; ours and those of replicas, which never leave by themselves, are not counted.
    pub users: usize,
    /// Of these, with an open transaction or a statement under way.
    pub busy: usize,
}

/// Whether a port takes one that shows a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admits {
    Yes,
    /// In the words of its alert.
    No(String),
}

impl Admits {
    /// What an alert says of the certificate that was shown; `None`: it is about something else.
    ///
    /// # Source
    /// RFC 8446, 6.2: unknown_ca, bad_certificate, certificate_expired and their like; OpenSSL's words for them.
    pub fn of_alert(alert: &str) -> Option<Self> {
        let words = alert.to_ascii_lowercase();
        let is_of_leaf = ["unknown ca", "bad certificate", "certificate expired", "certificate unknown"]
            .iter()
            .any(|one| words.contains(one));
        // What we do not trust ourselves is no answer of the other side.
        (is_of_leaf && words.contains("alert")).then(|| Self::No(alert.to_owned()))
    }

    /// Refused since nobody that it trusts has signed the certificate.
    pub fn is_unknown_ca(&self) -> bool {
        matches!(self, Self::No(alert) if alert.to_ascii_lowercase().contains("unknown ca"))
    }
}

/// A member of a cluster, whether it serves SQL or only votes: its machine, its process, and the port of the group.
pub trait ReadMember {
    fn spec(&self) -> &NodeSpec;
    fn name(&self) -> &NodeName {
        &self.spec().name
    }
    /// By its pid file, which a server writes only when it is up: `None` is no proof that it does not run.
    fn process(&mut self) -> Option<ProcessFacts>;
    /// Whether the service runs or is on its way up, as its manager and its process say.
    fn alive(&mut self) -> Alive;
    /// Uid and gid for files that it must read. `None`: nobody can say.
    fn owner(&mut self) -> Option<(u32, u32)>;
    fn host(&self) -> &dyn ReadHost;
    /// PEM of the leaf that the Galera port serves now, dialled with this member's own certificate.
    fn galera_leaf(&mut self) -> Result<String, NodeError>;
    /// The same, whoever signed it, and dialled without a certificate.
    fn galera_shows(&mut self) -> Result<String, NodeError>;
    /// Whether the Galera port takes one that shows this certificate.
    ///
    /// # Errors
    /// It cannot be told: the port is out of reach, or hangs up without a reason.
    fn galera_admits(&mut self, shown: &Arc<PemSet>) -> Result<Admits, NodeError>;
    /// Waiting is part of the world, so that a simulated one can be quick.
    fn wait(&mut self, how_long: Duration);
    /// The same clock that `wait` moves, milliseconds.
    fn now_ms(&self) -> u64;
    /// The end of its error log, for error texts.
    fn log_tail(&self, lines: usize) -> Vec<String>;
}

/// Changes one member. Only a step's action is given this.
pub trait WriteMember: ReadMember {
    fn write_host(&self) -> &dyn WriteHost;
    fn stop(&mut self) -> Result<(), NodeError>;
    /// Returns when the service manager has started it, not when it is Synced.
    fn start(&mut self) -> Result<(), NodeError>;
}

/// Looks at one node. Every call asks anew, over a new connection.
pub trait ReadNode: ReadMember {
    /// # Errors
    /// `Down` when it does not run, `Silent` when it does not answer and that cannot be said, `Refused` when the login fails.
    fn view(&mut self) -> Result<NodeView, NodeError>;
    fn sessions(&mut self) -> Result<Sessions, NodeError>;
    /// Who has logged in with and without TLS since it was started, connected or not.
    fn logins(&mut self) -> Result<Logins, NodeError>;
    /// What somebody has set in it since it was started.
    fn live_settings(&mut self) -> Result<Vec<LiveSetting>, NodeError>;
    /// Tries to log in over TCP without TLS, with the account that it is asked with. Only on this machine, where nobody else can
    /// read what the login gives away.
    fn cleartext_login(&mut self) -> Result<CleartextLogin, NodeError>;
    /// The options that its files give now, whether or not the server has read them.
    fn effective(&mut self) -> Result<Effective, NodeError>;
    /// The options of these groups alone, which the server itself may not read.
    fn effective_in(&mut self, groups: &[String]) -> Result<Effective, NodeError>;
    /// Those of `[sst]`, which only the scripts of state transfers read.
    fn effective_sst(&mut self) -> Result<Effective, NodeError> {
        self.effective_in(&["sst".to_owned()])
    }
    /// Its channels of asynchronous replication, from all of its sources.
    fn channels(&mut self) -> Result<Vec<Channel>, NodeError>;
    /// Names of its binary logs, the oldest first.
    ///
    /// # Errors
    /// Also where it writes none, or the account may not list them.
    fn binary_logs(&mut self) -> Result<Vec<String>, NodeError>;
    /// Who reads its binary log now: `user@host:port` of each, as the server writes it.
    ///
    /// # Errors
    /// Also where the account does not see the sessions of others.
    fn replicas(&mut self) -> Result<Vec<String>, NodeError>;
    /// What the account that it is asked with is allowed, its active roles among it.
    ///
    /// # Errors
    /// Also where the server does not list it (`skip_grant_tables`).
    fn own_grants(&mut self) -> Result<OwnGrants, NodeError>;
    /// Every account of it that can log in.
    fn accounts(&mut self) -> Result<Vec<Account>, NodeError>;
    /// Accounts that demand a certificate of the client, and of whom.
    fn certificate_accounts(&mut self) -> Result<Vec<CertificateAccount>, NodeError>;
    /// Who is connected over the unix socket at some moment of so many milliseconds.
    fn socket_users(&mut self, within_ms: u64) -> Result<Vec<String>, NodeError>;
    /// PEM of the leaf that clients are served.
    fn client_leaf(&mut self) -> Result<String, NodeError>;
    /// Whether the client port takes one that shows this certificate.
    ///
    /// # Errors
    /// It cannot be told.
    fn client_admits(&mut self, shown: &Arc<PemSet>) -> Result<Admits, NodeError>;
    /// Whether clients may come with this version of TLS and these suites, by a handshake with them and no others.
    ///
    /// # Errors
    /// It cannot be told.
    fn client_takes(&mut self, offer: &TlsOffer) -> Result<OfferAnswer, NodeError>;
    /// What it says of its data at rest.
    fn at_rest(&mut self) -> Result<AtRest, NodeError>;
    /// Tables of InnoDB and Aria of which it gives no row, by asking each.
    fn not_read(&mut self) -> Result<Vec<NotRead>, NodeError>;
    /// What the files of its data directory hold, and of what it keeps elsewhere, which takes as long as reading them.
    fn files_at_rest(&mut self) -> Result<disk::DataDirectory, NodeError> {
        let places = self.places_at_rest()?;
        self.files_at_rest_in(&places)
    }
    /// Where these files lie, as the running server says.
    fn places_at_rest(&mut self) -> Result<PlacesAtRest, NodeError>;
    /// The same of a server that may be stopped by now.
    fn files_at_rest_in(&mut self, places: &PlacesAtRest) -> Result<disk::DataDirectory, NodeError>;
}

/// Its data directory, and what it keeps elsewhere.
#[derive(Debug, Clone, Default)]
pub struct PlacesAtRest {
    pub datadir: PathBuf,
    pub places: Vec<disk::Place>,
}

/// Changes one node. Only a step's action is given this.
pub trait WriteNode: ReadNode + WriteMember {
    fn reading(&mut self) -> &mut dyn ReadNode;
    /// Takes the node out of service for whoever checks its health: state 2 instead of 4.
    fn set_desync(&mut self, on: bool) -> Result<(), NodeError>;
    fn set_require_secure_transport(&mut self, on: bool) -> Result<(), NodeError>;
    /// Options of the Galera provider, as `key=value;key=value`, which it takes while it runs.
    fn set_provider_options(&mut self, options: &str) -> Result<(), NodeError>;
    /// Client and Galera certificates are read again from the same paths.
    fn reload_tls(&mut self) -> Result<(), NodeError>;
    /// A channel connects anew as `tls` says, from where its applier is; nothing of it is lost or read twice. The threads in `run` run then.
    fn set_channel_tls(&mut self, channel: &str, tls: &ChannelTls, run: Threads) -> Result<(), NodeError>;
    /// These threads of a channel are started, and no others.
    fn start_threads(&mut self, channel: &str, threads: Threads) -> Result<(), NodeError>;
    /// An account must be used over TLS (`REQUIRE SSL`), or need not. It counts for new connections.
    fn set_account_tls(&mut self, account: &AccountName, on: bool) -> Result<(), NodeError>;
    /// A running server takes these files, and these versions and suites, where its row of the capability table says that it can.
    fn set_tls_files(&mut self, files: &TlsFiles, rules: Option<&TlsRules>) -> Result<(), NodeError>;
    fn set_at_rest(&mut self, setting: &AtRestSetting) -> Result<(), NodeError>;
    /// What InnoDB has changed in memory is written to its files; settings are as `before` says then. `false`: some may be in memory only.
    fn flush_pages(&mut self, before: &LiveSettings) -> Result<bool, NodeError>;
    /// Returns when the table is written anew, which takes as long as its size asks for, or soon where somebody holds it.
    fn rebuild(&mut self, rebuild: &Rebuild) -> Result<Rebuilt, NodeError>;
    /// Freed undo pages are written over; settings are as `before` says then.
    fn renew_undo(&mut self, round: UndoRound, before: &LiveSettings) -> Result<(), NodeError>;
    /// Freed pages of the system tablespace are written over by so many tables; settings are as `before` says then. Answers which tables of others
    /// came there meanwhile, by the names of their files.
    fn renew_system(&mut self, tables: u32, before: &LiveSettings) -> Result<Vec<String>, NodeError>;
    /// A table of sealion's own is made, rebuilt and dropped.
    fn sample_rebuild(&mut self) -> Result<RebuildSample, NodeError>;
    /// What an interrupted [`WriteNode::renew_undo`], or [`AtRestSetting::Flush`], has left.
    fn restore_settings(&mut self, before: &LiveSettings) -> Result<(), NodeError>;
    fn begin_binary_log(&mut self) -> Result<(), NodeError>;
    /// Binary logs before this one are removed, but for those that a connected replica still reads.
    fn purge_binary_logs(&mut self, keep_from: &str) -> Result<(), NodeError>;
    /// The inventory's hook, if it has one.
    fn hook(&mut self, hook: &Hook<'_>) -> Result<(), NodeError>;
}
