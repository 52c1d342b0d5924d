//! A server together with its host: the reading half, and the writing half that only a step's action is given.

use std::path::PathBuf;
use std::time::Duration;

use host::{ProcessFacts, ReadHost, Service, WriteHost};
use model::NodeName;
use thiserror::Error;

use crate::options::Effective;
use crate::view::NodeView;

#[derive(Debug, Error)]
pub enum NodeError {
    /// Nothing listens: the server is down or the address is wrong.
    #[error("{node} is down: {why}")]
    Down { node: NodeName, why: String },
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
}

/// Where a node is and how it is handled, from the inventory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeSpec {
    pub name: NodeName,
    /// What other nodes and clients call it: goes into the certificate's SAN.
    pub address: String,
    /// More names for the certificate, of load balancers for example.
    pub names: Vec<String>,
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

/// Who is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sessions {
    /// Connections of users, ours not counted.
    pub users: usize,
    /// Of these, with an open transaction or a statement under way.
    pub busy: usize,
}

/// Looks at one node. Every call asks anew, over a new connection.
pub trait ReadNode {
    fn spec(&self) -> &NodeSpec;
    fn name(&self) -> &NodeName {
        &self.spec().name
    }
    /// # Errors
    /// `Down` when nobody answers, `Refused` when the login fails.
    fn view(&mut self) -> Result<NodeView, NodeError>;
    fn sessions(&mut self) -> Result<Sessions, NodeError>;
    /// By its pid file, which a server writes only when it is up: `None` is no proof that it does not run.
    fn process(&mut self) -> Option<ProcessFacts>;
    /// Whether the service runs or is on its way up, as its manager says; `None` when nobody can say.
    fn alive(&mut self) -> Option<bool> {
        Some(self.process().is_some())
    }
    /// The options that its files give now, whether or not the server has read them.
    fn effective(&mut self) -> Result<Effective, NodeError>;
    /// The groups of `effective` that only SST scripts read.
    fn effective_sst(&mut self) -> Result<Effective, NodeError>;
    fn host(&self) -> &dyn ReadHost;
    /// PEM of the leaf that the Galera port serves now, dialled with this node's own certificate.
    fn galera_leaf(&mut self) -> Result<String, NodeError>;
    /// PEM of the leaf that clients are served.
    fn client_leaf(&mut self) -> Result<String, NodeError>;
    /// Waiting is part of the world, so that a simulated one can be quick.
    fn wait(&mut self, how_long: Duration);
    /// The same clock that `wait` moves, milliseconds.
    fn now_ms(&self) -> u64;
    /// The end of its error log, for error texts.
    fn log_tail(&self, lines: usize) -> Vec<String>;
}

/// Changes one node. Only a step's action is given this.
pub trait WriteNode: ReadNode {
    fn reading(&mut self) -> &mut dyn ReadNode;
    fn write_host(&self) -> &dyn WriteHost;
    fn stop(&mut self) -> Result<(), NodeError>;
    /// Returns when the service manager has started it, not when it is Synced.
    fn start(&mut self) -> Result<(), NodeError>;
    /// Takes the node out of service for whoever checks its health: state 2 instead of 4.
    fn set_desync(&mut self, on: bool) -> Result<(), NodeError>;
    fn set_require_secure_transport(&mut self, on: bool) -> Result<(), NodeError>;
    /// Client and Galera certificates are read again from the same paths.
    fn reload_tls(&mut self) -> Result<(), NodeError>;
    /// The inventory's hook, if it has one.
    fn hook(&mut self, drained: bool) -> Result<(), NodeError>;
}
