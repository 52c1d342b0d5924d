//! `sealion.toml`: which nodes there are, how to log in, where things are kept. It holds no secret itself: passwords
//! are in option files, passphrases in files of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use formats::optfile::OptionFile;
use host::{AgentProgram, PushedProgram, Remote, Service, SshTarget};
use model::NodeName;
use net::{ConnectOptions, Endpoint, SecretString, TlsOptions};
use serde::{Deserialize, Serialize};
use server::{LiveArbitrator, LiveNode, LiveProxy, Machine, NodeSpec, ProxySpec};

use crate::OpsError;

mod proxies;

const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// More servers than one look is meant for; an inventory with more is a mistake.
const NODES_MAX: usize = 1000;
/// So many nodes are asked at a time: each may be a session and an ssh.
const AT_A_TIME: usize = 32;
/// RFC 5280, ub-common-name.
const NAME_CHARS_MAX: usize = 64;
/// RFC 1035 2.3.4.
const HOST_CHARS_MAX: usize = 253;

/// The file as it is written.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inventory {
    pub cluster: ClusterTable,
    pub login: LoginTable,
    /// How nodes that have `ssh` are reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssh: Option<SshTable>,
    #[serde(rename = "node")]
    pub nodes: Vec<NodeTable>,
    /// Members of a Galera cluster without data (garbd).
    #[serde(rename = "arbitrator", default, skip_serializing_if = "Vec::is_empty")]
    pub arbitrators: Vec<ArbitratorTable>,
    #[serde(rename = "proxy", default, skip_serializing_if = "Vec::is_empty")]
    pub proxies: Vec<ProxyTable>,
    /// What `sealion watch` does of its own accord.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch: Option<WatchTable>,
    /// Judged by the family of verbs that knows rules (`scan_ops::accepted`), with the lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<AcceptedTable>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterTable {
    pub name: String,
    /// The cluster's own CA, on this machine.
    pub ca_dir: PathBuf,
    /// Journals and the run store, on this machine.
    pub state_dir: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_passphrase_file: Option<PathBuf>,
    /// Sealed copies of keys of data at rest, on this machine; beside `ca_dir`, where nothing is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escrow_dir: Option<PathBuf>,
    /// For whom they are sealed, as age names recipients; none: with the passphrase of the CA.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub escrow_recipients: Vec<String>,
    /// An identity of one of them, with which each copy is opened again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escrow_identity_file: Option<PathBuf>,
    /// Where to capture: one interface, or `any` for all of them.
    #[serde(default = "default_iface")]
    pub capture_interface: String,
    /// A lab whose relays are looked through instead: its directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture_relay: Option<PathBuf>,
}

/// Clients come from wherever the server listens.
fn default_iface() -> String {
    capture::EVERY_INTERFACE.into()
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoginTable {
    /// An option file with a [client] group: user, password.
    pub defaults_file: PathBuf,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SshTable {
    /// The program, and what stands before the destination.
    #[serde(default = "default_ssh")]
    pub command: Vec<String>,
    /// sealion becomes root there by `sudo -n`.
    #[serde(default)]
    pub sudo: bool,
    /// Where sealion is installed there. Without it this one is copied there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<PathBuf>,
    /// The copy stays there for the next command.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_agent: bool,
}

impl Default for SshTable {
    fn default() -> Self {
        Self { command: default_ssh(), sudo: false, agent: None, keep_agent: false }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeTable {
    pub name: String,
    pub address: String,
    /// Where its machine is, as ssh knows it; a node without it is on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssh: Option<String>,
    #[serde(default = "default_port")]
    pub port: u16,
    #[serde(default = "default_galera_port")]
    pub galera_port: u16,
    /// Further names or addresses for the certificate, e.g. of a load balancer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub socket: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid_file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_log: Option<PathBuf>,
    #[serde(default = "default_defaults_file")]
    pub defaults_file: PathBuf,
    #[serde(default = "default_tls_dir")]
    pub tls_dir: PathBuf,
    #[serde(default = "default_node_state_dir")]
    pub state_dir: PathBuf,
    /// A systemd unit, or `start` and `stop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Vec<String>>,
    /// Ends with 0 while the server runs or is on its way up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alive: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drain: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undrain: Option<Vec<String>>,
    /// It is no member yet: only `sealion join` knows it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub joining: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArbitratorTable {
    pub name: String,
    pub address: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssh: Option<String>,
    #[serde(default = "default_galera_port")]
    pub galera_port: u16,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The variables of its start script.
    #[serde(default = "default_garb_file")]
    pub file: PathBuf,
    /// Its log, where it does not log to syslog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
    #[serde(default = "default_garb_tls_dir")]
    pub tls_dir: PathBuf,
    #[serde(default = "default_garb_state_dir")]
    pub state_dir: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alive: Option<Vec<String>>,
}

/// `[[proxy]]`: a HAProxy in front of the nodes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProxyTable {
    pub name: String,
    /// Where its machine is, as ssh knows it; one without it is on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssh: Option<String>,
    /// Of level admin.
    #[serde(default = "default_haproxy_socket")]
    pub haproxy_socket: PathBuf,
    /// What clients call it: goes into the certificates of the nodes, which the clients see through it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// `BACKEND/SERVER` of nodes that it reaches under another address than the inventory's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub servers: BTreeMap<String, Vec<String>>,
}

/// `[watch]`: options of `sealion watch` count before these.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchTable {
    /// A program with its words, no shell: it is told of changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_change: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotate: Option<WatchRotateTable>,
}

/// `[watch.rotate]`: certificates that `sealion watch` replaces when they end soon. Without it, it changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchRotateTable {
    /// As `sealion rotate` takes them: clients, galera, sst, replication.
    pub what: Vec<String>,
    #[serde(default = "default_days_before")]
    pub days_before: u32,
    /// Times of the day at which it may begin: `22:00-04:30`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
}

const fn default_days_before() -> u32 {
    30
}

/// `[[accepted]]`: a risk that somebody has accepted, as it is written.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcceptedTable {
    pub rule: String,
    /// As it is named in results, its host or address alone, or `*`.
    pub target: String,
    pub reason: String,
    /// `2027-03-01`, with or without quotes.
    pub until: toml::Value,
}

/// Machines elsewhere, each reached once, however many of the inventory are on it.
struct Reached<'i> {
    ssh: &'i SshTable,
    agent: AgentProgram,
    remotes: BTreeMap<String, Arc<Remote>>,
    machines: BTreeMap<NodeName, Machine>,
}

impl Reached<'_> {
    /// Who shares a destination shares a connection.
    fn reach(&mut self, destination: &str) -> Machine {
        let remote = self.remotes.entry(destination.to_owned()).or_insert_with(|| {
            Arc::new(Remote::by_ssh(SshTarget {
                ssh: self.ssh.command.clone(),
                destination: destination.to_owned(),
                become_root: if self.ssh.sudo { vec!["sudo".into(), "-n".into()] } else { vec![] },
                agent: self.agent.clone(),
            }))
        });
        Machine::Elsewhere(Arc::clone(remote))
    }

    fn machine(&mut self, name: &str, destination: &str) {
        let machine = self.reach(destination);
        self.machines.insert(NodeName::new(name), machine);
    }

    /// Each keeps what it has placed by itself: on one machine, two in one directory would take each other's keys for their own.
    fn refuse_shared(&self, nodes: &[NodeSpec], spec: &NodeSpec) -> Result<(), OpsError> {
        let of = |name: &NodeName| match self.machines.get(name) {
            Some(Machine::Elsewhere(remote)) => Some(Arc::as_ptr(remote)),
            Some(Machine::This) | None => None,
        };
        for node in nodes.iter().filter(|node| of(&node.name) == of(&spec.name)) {
            for (key, one, other) in
                [("tls_dir", &node.tls_dir, &spec.tls_dir), ("state_dir", &node.state_dir, &spec.state_dir)]
            {
                if one == other {
                    return Err(OpsError::usage(
                        format!("node {} and arbitrator {} have the same {key}", node.name, spec.name),
                        format!("{} on one machine; keys of both would lie there", one.display()),
                        "give each its own",
                    ));
                }
            }
        }
        Ok(())
    }
}

/// What would be written into a certificate, and cannot.
fn refuse_host_names(
    whose: &str,
    into: &str,
    words: impl Iterator<Item = impl AsRef<str>>,
) -> Result<(), OpsError> {
    for word in words {
        let word = word.as_ref();
        if word.parse::<std::net::IpAddr>().is_err() && bad_name(word, HOST_CHARS_MAX, "*").is_some() {
            return Err(OpsError::usage(
                format!("\"{}\" of {whose} is not a host name or address", word.escape_default()),
                format!("it is written into {into}"),
                "give a DNS name or an IP address, without a port",
            ));
        }
    }
    Ok(())
}

/// A name, address or further name that cannot be one, or that another one has.
fn refuse_names(
    others: &[NodeSpec],
    what: &str,
    name: &str,
    address: &str,
    port: u16,
    names: &[String],
) -> Result<(), OpsError> {
    if let Some(why) = bad_name(name, NAME_CHARS_MAX, "") {
        return Err(OpsError::usage(
            format!("\"{}\" cannot be the name of a {what}", name.escape_default()),
            why,
            "use letters, digits, dots, hyphens and underscores, at most 64",
        ));
    }
    let words = std::iter::once(address).chain(names.iter().map(String::as_str));
    refuse_host_names(&format!("{what} {name}"), "its certificate", words)?;
    let twice = |key: &str, value: &str| {
        OpsError::usage(
            format!("two members of the inventory have the {key} {value}"),
            "it must be different for each",
            "give each its own",
        )
    };
    if others.iter().any(|other| other.name.as_str() == name) {
        return Err(twice("name", name));
    }
    if others.iter().any(|other| other.address == address && other.port == port) {
        return Err(twice("address", address));
    }
    Ok(())
}

fn service(
    name: &str,
    default_unit: &str,
    unit: Option<String>,
    start: Option<Vec<String>>,
    stop: Option<Vec<String>>,
    alive: Option<Vec<String>>,
) -> Result<Service, OpsError> {
    match (unit, start, stop) {
        (None, Some(start), Some(stop)) => Ok(Service::Commands { start, stop, alive }),
        (unit, None, None) => Ok(Service::Systemd { unit: unit.unwrap_or_else(|| default_unit.into()) }),
        _ => Err(OpsError::usage(
            format!("{name} has a service, and start or stop commands too"),
            "it can have only one way to start",
            "give `service`, or both `start` and `stop`",
        )),
    }
}

fn default_ssh() -> Vec<String> {
    vec!["ssh".into()]
}
fn default_port() -> u16 {
    3306
}
fn default_galera_port() -> u16 {
    4567
}
fn default_defaults_file() -> PathBuf {
    "/etc/mysql/my.cnf".into()
}
fn default_haproxy_socket() -> PathBuf {
    "/run/haproxy/admin.sock".into()
}
fn default_tls_dir() -> PathBuf {
    "/etc/mysql/ssl".into()
}
fn default_node_state_dir() -> PathBuf {
    "/var/lib/sealion".into()
}

/// Of Debian's package galera-arbitrator-4.
fn default_garb_file() -> PathBuf {
    "/etc/default/garb".into()
}
fn default_garb_tls_dir() -> PathBuf {
    "/etc/garbd/ssl".into()
}
/// Apart from that of a node on the same machine.
fn default_garb_state_dir() -> PathBuf {
    "/var/lib/sealion/garbd".into()
}

/// How bytes on the wire are seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaptureBy {
    /// A packet socket on this interface.
    Packets { iface: String },
    /// The relays in front of this lab's nodes.
    Relay { lab_dir: PathBuf },
}

impl CaptureBy {
    /// What this way of looking cannot see, if anything.
    pub fn blind_spot(&self) -> Option<&'static str> {
        match self {
            Self::Packets { .. } => None,
            Self::Relay { .. } => {
                Some("connections that do not go through a relay: those made directly to a server's own port")
            }
        }
    }

    /// How a person sees the same.
    pub fn see_again(&self) -> String {
        match self {
            Self::Packets { iface } => format!("tcpdump -i {iface} -A on the port shows the same"),
            Self::Relay { .. } => {
                "strace -f -e trace=read,write -s 200 of the lab's supervisor shows the same".into()
            }
        }
    }
}

/// A cluster that can be looked at and changed.
#[derive(Debug, Clone)]
pub struct Cluster {
    pub name: String,
    pub ca_dir: PathBuf,
    pub state_dir: PathBuf,
    pub ca_passphrase_file: Option<PathBuf>,
    /// Sealed copies of keys of data at rest.
    pub escrow_dir: PathBuf,
    /// Recipients of age, and the file with an identity of one of them; none: the passphrase of the CA.
    pub escrow_for: Option<(Vec<String>, PathBuf)>,
    pub capture: CaptureBy,
    /// Whether the nodes' files are on this machine. A server that was named by connection options may be anywhere.
    pub has_files: bool,
    pub nodes: Vec<NodeSpec>,
    /// Members of a Galera cluster without data. Their `defaults_file` is what their start script reads.
    pub arbitrators: Vec<NodeSpec>,
    /// Those of nodes and arbitrators that are not on this one.
    /// Those that the inventory marks with `joining`: no members yet, and not looked at.
    pub joining: Vec<NodeSpec>,
    /// Those of nodes that are not on this one.
    pub machines: BTreeMap<NodeName, Machine>,
    /// In front of the nodes, with the machine of each.
    pub proxies: Vec<(Machine, ProxySpec)>,
    pub login: ConnectOptions,
    pub watch: WatchTable,
}

impl Cluster {
    /// Reads `path`. Relative paths in it count from its directory.
    pub fn read(path: &Path) -> Result<Self, OpsError> {
        let text = fs::read_to_string(path).map_err(|error| {
            OpsError::usage(
                format!("cannot read the inventory {}", path.display()),
                error.to_string(),
                "choose another one with --inventory FILE, or draft one: sealion config inventory -h HOST -u USER \
                 -p --out sealion.toml",
            )
        })?;
        if text.trim().is_empty() {
            return Err(OpsError::usage(
                format!("the inventory {} is empty", path.display()),
                "perhaps the command that should have written it has failed",
                format!("draft one: sealion config inventory -h HOST -u USER -p --out {}", path.display()),
            ));
        }
        let inventory: Inventory = toml::from_str(&text).map_err(|error| {
            OpsError::usage(
                format!("the inventory {} has an error", path.display()),
                error.to_string().trim().replace('\n', "\n        "),
                "fix that line (docs: reference/inventory)",
            )
        })?;
        let base = path.parent().unwrap_or(Path::new("."));
        Self::from_inventory(inventory, &fs::canonicalize(base).unwrap_or_else(|_| base.to_owned()))
    }

    pub fn from_inventory(inventory: Inventory, base: &Path) -> Result<Self, OpsError> {
        let at = |path: &Path| base.join(path);
        if let Some(why) = bad_name(&inventory.cluster.name, NAME_CHARS_MAX, "") {
            return Err(OpsError::usage(
                format!("\"{}\" cannot be the name of a cluster", inventory.cluster.name.escape_default()),
                why,
                "use letters, digits, dots, hyphens and underscores, at most 64: it becomes a directory name",
            ));
        }
        let login = login_from(&at(&inventory.login.defaults_file))?;
        let identity_file = inventory.cluster.escrow_identity_file.as_deref().map(at);
        if inventory.nodes.is_empty() || inventory.nodes.len() > NODES_MAX {
            return Err(OpsError::usage(
                format!("the inventory has {} nodes", inventory.nodes.len()),
                format!("it needs 1 to {NODES_MAX}"),
                "add a [[node]] table for each node",
            ));
        }
        let mut ssh = inventory.ssh.unwrap_or_default();
        ssh.command = with_whole_paths(&ssh.command, &at);
        let agent = agent_program(&ssh)?;
        let mut reached = Reached { ssh: &ssh, agent, remotes: BTreeMap::new(), machines: BTreeMap::new() };
        let mut nodes: Vec<NodeSpec> = Vec::new();
        let mut joining: BTreeSet<String> = BTreeSet::new();
        for node in inventory.nodes {
            refuse_names(&nodes, "node", &node.name, &node.address, node.port, &node.names)?;
            if let Some(destination) = &node.ssh {
                let paths = [&node.defaults_file, &node.tls_dir, &node.state_dir];
                let others = [&node.socket, &node.pid_file, &node.error_log];
                refuse_destination(
                    &node.name,
                    destination,
                    paths.into_iter().chain(others.into_iter().flatten()),
                )?;
                reached.machine(&node.name, destination);
            }
            let service =
                service(&node.name, "mariadb.service", node.service, node.start, node.stop, node.alive)?;
            if node.joining {
                joining.insert(node.name.clone());
            }
            nodes.push(NodeSpec {
                name: NodeName::new(node.name),
                address: node.address,
                names: node.names,
                proxies: BTreeMap::new(),
                port: node.port,
                galera_port: node.galera_port,
                socket: node.socket.map(|path| at(&path)),
                pid_file: node.pid_file.map(|path| at(&path)),
                error_log: node.error_log.map(|path| at(&path)),
                defaults_file: at(&node.defaults_file),
                tls_dir: at(&node.tls_dir),
                state_dir: at(&node.state_dir),
                service,
                drain: node.drain,
                undrain: node.undrain,
            });
        }
        let mut arbitrators: Vec<NodeSpec> = Vec::new();
        for one in inventory.arbitrators {
            // On a node's machine it has a port of its own for the group, and none for SQL.
            refuse_names(&nodes, "arbitrator", &one.name, &one.address, 0, &one.names)?;
            refuse_names(&arbitrators, "arbitrator", &one.name, &one.address, 0, &one.names)?;
            if let Some(destination) = &one.ssh {
                let paths = [&one.file, &one.tls_dir, &one.state_dir].into_iter().chain(&one.log);
                refuse_destination(&one.name, destination, paths)?;
                reached.machine(&one.name, destination);
            }
            let service = service(&one.name, "garb.service", one.service, one.start, one.stop, one.alive)?;
            let spec = NodeSpec {
                names: one.names,
                port: 0,
                galera_port: one.galera_port,
                error_log: one.log.map(|path| at(&path)),
                defaults_file: at(&one.file),
                tls_dir: at(&one.tls_dir),
                state_dir: at(&one.state_dir),
                service,
                ..NodeSpec::new(one.name, one.address)
            };
            reached.refuse_shared(&nodes, &spec)?;
            arbitrators.push(spec);
        }
        let mut proxies: Vec<(Machine, ProxySpec)> = Vec::new();
        for table in inventory.proxies {
            let machine = table.ssh.clone();
            let names = proxies::names(&table)?;
            let spec = proxies::spec(table, &nodes, &at)?;
            // It does not lead to those of which that is said.
            for node in nodes
                .iter_mut()
                .filter(|node| spec.servers.get(&node.name).is_none_or(|servers| !servers.is_empty()))
            {
                node.proxies.insert(spec.name.clone(), names.clone());
            }
            if proxies.iter().any(|(_, other)| other.name == spec.name) {
                return Err(OpsError::usage(
                    format!("two proxies of the inventory have the name {}", spec.name),
                    "it must be different for each proxy",
                    "give each proxy its own",
                ));
            }
            proxies.push((machine.map_or(Machine::This, |destination| reached.reach(&destination)), spec));
        }
        let machines = reached.machines;
        let (joining, nodes): (Vec<NodeSpec>, Vec<NodeSpec>) =
            nodes.into_iter().partition(|node| joining.contains(node.name.as_str()));
        if nodes.is_empty() {
            return Err(OpsError::usage(
                "every node of the inventory is marked with `joining`",
                "nothing is left that such a node could join",
                "remove `joining = true` from the entries of those that are members",
            ));
        }
        Ok(Self {
            name: inventory.cluster.name,
            escrow_dir: inventory
                .cluster
                .escrow_dir
                .as_deref()
                .map_or_else(|| at(&inventory.cluster.ca_dir).with_file_name("escrow"), at),
            escrow_for: escrow_for(&inventory.cluster.escrow_recipients, identity_file)?,
            ca_dir: at(&inventory.cluster.ca_dir),
            state_dir: at(&inventory.cluster.state_dir),
            ca_passphrase_file: inventory.cluster.ca_passphrase_file.map(|path| at(&path)),
            capture: match inventory.cluster.capture_relay {
                Some(dir) => CaptureBy::Relay { lab_dir: at(&dir) },
                None => CaptureBy::Packets { iface: inventory.cluster.capture_interface },
            },
            has_files: true,
            nodes,
            arbitrators,
            joining,
            machines,
            proxies,
            login,
            watch: inventory.watch.unwrap_or_default(),
        })
    }

    /// With `name` among the nodes, for whoever makes it a member or looks at it as one. One that is there already is left.
    pub fn admit(&mut self, name: &NodeName) {
        if let Some(at) = self.joining.iter().position(|node| node.name == *name) {
            let node = self.joining.remove(at);
            self.nodes.push(node);
        }
    }

    /// How to log in at `node`: over its socket where it has one, since that works with and without TLS.
    pub fn login_at(&self, node: &NodeSpec) -> ConnectOptions {
        let endpoint = match &node.socket {
            Some(path) => self.machine_of(node).unix(path),
            None => self.tcp_at(node),
        };
        ConnectOptions {
            endpoint,
            connect_timeout: Duration::from_secs(3),
            io_timeout: Duration::from_secs(20),
            ..self.login.clone()
        }
    }

    pub fn machine_of(&self, node: &NodeSpec) -> Machine {
        self.machines.get(&node.name).cloned().unwrap_or_default()
    }

    /// Its port, as it is reached from its own machine.
    pub fn tcp_at(&self, node: &NodeSpec) -> Endpoint {
        self.machine_of(node).tcp(&node.address, node.port)
    }

    /// Reaches for every machine elsewhere side by side, so that those that do not answer cost their time once and together. What is
    /// then asked of one says what was wrong.
    pub fn reach_machines(&self) {
        let is_asked = |name: &NodeName| self.nodes.iter().any(|node| node.name == *name);
        let of_nodes = self.machines.iter().filter(|(name, _)| is_asked(name)).map(|(_, machine)| machine);
        let of_proxies = self.proxies.iter().map(|(machine, _)| machine);
        let machines: Vec<&Machine> = of_nodes.chain(of_proxies).collect();
        side_by_side(&machines, |machine| {
            if let Machine::Elsewhere(remote) = machine {
                let _ = remote.facts_of_agent();
            }
        });
    }

    /// Asks each node something, side by side. The answers are in the order of the inventory.
    pub fn on_each<T: Send>(&self, ask: impl Fn(&NodeSpec) -> T + Sync) -> Vec<T> {
        side_by_side(&self.nodes, ask)
    }

    /// Whether relays before a lab's ports are looked through.
    pub fn is_relayed(&self) -> bool {
        matches!(self.capture, CaptureBy::Relay { .. })
    }

    pub fn live(&self) -> Vec<LiveNode> {
        self.nodes.iter().map(|spec| self.live_node(spec)).collect()
    }

    pub fn live_arbitrators(&self) -> Vec<LiveArbitrator> {
        self.arbitrators.iter().map(|spec| LiveArbitrator::on(self.machine_of(spec), spec.clone())).collect()
    }

    pub fn live_node(&self, spec: &NodeSpec) -> LiveNode {
        LiveNode::on(self.machine_of(spec), spec.clone(), self.login_at(spec))
    }

    pub fn live_proxies(&self) -> Vec<LiveProxy> {
        self.proxies.iter().map(|(machine, spec)| LiveProxy::on(machine, spec.clone())).collect()
    }

    /// The passphrase of the CA key, from its file.
    pub fn passphrase(&self, given: Option<&Path>) -> Result<SecretString, OpsError> {
        let path = given.or(self.ca_passphrase_file.as_deref()).ok_or_else(|| {
            OpsError::usage(
                "the passphrase of the CA key is missing",
                "neither --ca-passphrase-file nor ca_passphrase_file in the inventory is set",
                "put it into a file that only you can read, and give that file; for a new CA: openssl rand -base64 \
                 32 > FILE",
            )
        })?;
        if fs::metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
            let shown = path.display();
            // A CA that is there opens with its own passphrase only.
            let next = if self.ca_dir.join(trust::CA_CERT_FILE).exists() {
                format!(
                    "give the file with the passphrase that the CA in {} was made with",
                    self.ca_dir.display()
                )
            } else {
                format!(
                    "make one, of mode 0600, and keep a copy at a safe place: (umask 077; openssl rand -base64 32 > {shown})"
                )
            };
            return Err(OpsError::usage(
                format!("the CA passphrase file {shown} is not there"),
                "the key of the CA is encrypted with it; its first line is the passphrase",
                next,
            ));
        }
        read_secret(path, "CA passphrase")
    }
}

/// One without the other is nobody's wish: a copy that cannot be opened here is not known to be good.
fn escrow_for(
    recipients: &[String],
    identity_file: Option<PathBuf>,
) -> Result<Option<(Vec<String>, PathBuf)>, OpsError> {
    match (recipients.is_empty(), identity_file) {
        (true, None) => Ok(None),
        (false, Some(file)) => Ok(Some((recipients.to_vec(), file))),
        (is_without, _) => Err(OpsError::usage(
            "the inventory says only half of how keys are sealed",
            if is_without {
                "escrow_identity_file is set and escrow_recipients is not"
            } else {
                "escrow_recipients is set and escrow_identity_file is not: each copy is opened again before it counts"
            },
            "set both (age-keygen -o FILE prints a recipient), or neither: the passphrase of the CA seals then",
        )),
    }
}

/// What `work` makes of each item, in their order; [`AT_A_TIME`] at a time.
fn side_by_side<I: Sync, T: Send>(items: &[I], work: impl Fn(&I) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let mut done: Vec<(usize, T)> = std::thread::scope(|scope| {
        let worker = || {
            let mut own = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(at) else { return own };
                own.push((at, work(item)));
            }
        };
        let workers: Vec<_> = (0..items.len().min(AT_A_TIME)).map(|_| scope.spawn(worker)).collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, one)| one).collect()
}

/// Files that options of ssh name count from the inventory's directory, as all paths of it, and not from where sealion is run.
fn with_whole_paths(command: &[String], at: &impl Fn(&Path) -> PathBuf) -> Vec<String> {
    /// Configuration, identity, log: ssh(1).
    const WITH_FILE: [&str; 3] = ["-F", "-i", "-E"];
    let whole = |file: &str| {
        // `none` of -F is a word; a tilde is the business of ssh.
        let is_file = !file.is_empty() && file != "none" && !file.starts_with('~');
        if is_file { at(Path::new(file)).display().to_string() } else { file.to_owned() }
    };
    let mut before = "";
    let mut words = Vec::new();
    for word in command {
        let joined = WITH_FILE.iter().find(|option| word.len() > 2 && word.starts_with(**option));
        words.push(match joined {
            _ if WITH_FILE.contains(&before) => whole(word),
            Some(option) => format!("{option}{}", whole(word.get(2..).unwrap_or_default())),
            None => word.clone(),
        });
        before = word;
    }
    words
}

/// Which sealion answers on the other machines.
fn agent_program(ssh: &SshTable) -> Result<AgentProgram, OpsError> {
    match &ssh.agent {
        Some(path) if ssh.keep_agent => Err(OpsError::usage(
            "[ssh] of the inventory has both `agent` and `keep_agent`",
            format!("{} is installed there, and only a copy that sealion made can be kept", path.display()),
            "remove one of the two",
        )),
        Some(path) if path.is_relative() => Err(OpsError::usage(
            format!("`agent = \"{}\"` of [ssh] is relative", path.display()),
            "it is a program on other machines, which have no directory of this file",
            "write it from the root: /usr/bin/sealion; or remove it, and this sealion is copied there",
        )),
        Some(path) => Ok(AgentProgram::Installed(path.clone())),
        None => Ok(AgentProgram::Pushed { program: PushedProgram::own(), keep: ssh.keep_agent }),
    }
}

fn refuse_destination<'p>(
    name: &str,
    destination: &str,
    paths: impl IntoIterator<Item = &'p PathBuf>,
) -> Result<(), OpsError> {
    if destination.is_empty()
        || destination.starts_with('-')
        || destination.chars().any(|char| char.is_control() || char.is_whitespace())
    {
        return Err(OpsError::usage(
            format!("\"{}\" of {} is no destination of ssh", destination.escape_default(), name),
            "it is empty, begins with a hyphen, or has a blank in it",
            "give a host of your ssh configuration, or user@host; options stand in `command` of [ssh]",
        ));
    }
    for path in paths {
        if path.is_relative() {
            return Err(OpsError::usage(
                format!("the path {} of {name} is relative", path.display()),
                format!("it is on another machine ({destination}), which has no directory of this file"),
                "write it from the root: /etc/mysql/my.cnf",
            ));
        }
    }
    Ok(())
}

/// Names go into certificates, file names and the nodes' own scripts. Seen with rsync SST over TLS on 10.11.19: a space
/// in a leaf's common name ends the transfer ("Bad remote auth string").
fn bad_name(name: &str, chars_max: usize, more: &str) -> Option<String> {
    if name.is_empty() || name.len() > chars_max {
        return Some(format!("it has {} characters", name.len()));
    }
    // Steps of a plan are called E0.ca and E5.look beside E0.NODE and E5.NODE.
    if more.is_empty() && (name == "ca" || name == "look") {
        return Some("it is the name of a step".into());
    }
    let odd = name
        .chars()
        .find(|char| !(char.is_ascii_alphanumeric() || "._-".contains(*char) || more.contains(*char)))?;
    Some(format!("it contains {odd:?}"))
}

/// Why a file that holds a secret is not one: others may read it.
fn read_by_others(facts: &fs::Metadata) -> Option<String> {
    use std::os::unix::fs::PermissionsExt;
    let mode = facts.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then(|| format!("others may read it (mode {mode:o})"))
}

const MAKE_PRIVATE: &str = "chmod 600 it, and change the secret if others were on this machine";

/// The first line of a file that only its owner may read.
pub fn read_secret(path: &Path, what: &str) -> Result<SecretString, OpsError> {
    let refuse = |why: String, next: &str| {
        OpsError::usage(format!("cannot use the {what} file {}", path.display()), why, next)
    };
    let facts = fs::metadata(path).map_err(|error| refuse(error.to_string(), "check the path"))?;
    if let Some(why) = read_by_others(&facts) {
        return Err(refuse(why, MAKE_PRIVATE));
    }
    let text = secrecy::SecretBox::new(Box::new(
        fs::read_to_string(path).map_err(|error| refuse(error.to_string(), "it must be one line of text"))?,
    ));
    let line = secrecy::ExposeSecret::expose_secret(&text).lines().next().unwrap_or("").to_owned();
    if line.is_empty() {
        return Err(refuse(
            "its first line is empty".into(),
            "put the secret there, alone on the first line",
        ));
    }
    Ok(SecretString::from(line))
}

/// The first line of an open descriptor or a pipe, whose mode says nothing.
pub fn read_line_of(path: &Path, what: &str) -> Result<SecretString, OpsError> {
    let text = fs::read_to_string(path).map_err(|error| {
        OpsError::usage(
            format!("cannot read the {what} from {}", path.display()),
            error.to_string(),
            "check the number",
        )
    })?;
    Ok(SecretString::from(text.lines().next().unwrap_or("").to_owned()))
}

/// Connection options as typed; `None` is not typed.
#[derive(Debug, Default)]
pub struct ClientOptions {
    pub host: Option<String>,
    pub port: Option<u16>,
    pub user: Option<String>,
    pub password: Option<SecretString>,
    pub socket: Option<PathBuf>,
    pub defaults_file: Option<PathBuf>,
    pub defaults_extra_file: Option<PathBuf>,
    pub group_suffix: Option<String>,
    pub login_path: Option<String>,
    pub ssl_mode: Option<String>,
    pub ssl: bool,
    pub skip_ssl: bool,
    pub verify: bool,
    pub ca: Option<PathBuf>,
    pub crl: Option<PathBuf>,
    pub cert: Option<PathBuf>,
    pub key: Option<PathBuf>,
}

/// A cluster of one server, named as for `mysql` and `mariadb`: option files first, then the login path, then what was
/// typed.
pub fn one_server(typed: ClientOptions) -> Result<Cluster, OpsError> {
    let mut groups = ["client", "client-server", "client-mariadb", "sealion"].map(str::to_owned).to_vec();
    if let Some(suffix) = &typed.group_suffix {
        groups = server::options::with_group_suffix(&groups, suffix);
    }
    let start = typed.defaults_file.clone().map_or_else(
        || server::options::Start::Default {
            extra: typed.defaults_extra_file.clone(),
            paths: ["/etc/my.cnf", "/etc/mysql/my.cnf", "~/.my.cnf"].map(PathBuf::from).to_vec(),
        },
        server::options::Start::DefaultsFile,
    );
    let effective =
        server::options::resolve(&start, &groups, &server::options::LocalFiles).map_err(|error| {
            OpsError::usage(
                "cannot use the option files",
                error.to_string(),
                "fix them, or choose another one with --defaults-file",
            )
        })?;
    let path_file = typed.login_path.as_ref().map(|name| login_path(name)).transpose()?;
    let get = |key: &str| {
        let from_path = path_file.as_ref().and_then(|file| {
            file.get(&[typed.login_path.as_deref().unwrap_or("client")], key)
                .and_then(|item| item.value.map(str::to_owned))
        });
        from_path.or_else(|| effective.effective(&key.replace('-', "_"))?.value.clone())
    };
    let path = |given: Option<PathBuf>, key: &str| given.or_else(|| get(key).map(PathBuf::from));
    let host = typed.host.or_else(|| get("host"));
    let socket =
        typed.socket.or_else(|| if host.is_none() { get("socket").map(PathBuf::from) } else { None });
    let port = match typed.port {
        Some(port) => port,
        None => match get("port") {
            None => default_port(),
            Some(text) => text.parse().map_err(|_| {
                OpsError::usage(
                    format!("\"{text}\" is not a port"),
                    "an option file says so",
                    "give 1 to 65535",
                )
            })?,
        },
    };
    let (ca, cert, key) =
        (path(typed.ca, "ssl-ca"), path(typed.cert, "ssl-cert"), path(typed.key, "ssl-key"));
    let crl = path(typed.crl, "ssl-crl");
    // As mariadb reads a boolean of an option file: bare is on.
    let is_on = |key: &str| {
        effective.effective(&key.replace('-', "_")).is_some_and(|setting| {
            setting.value.as_deref().is_none_or(|value| {
                matches!(value.to_ascii_lowercase().as_str(), "1" | "on" | "true" | "yes")
            })
        })
    };
    let mode = match typed.ssl_mode.or_else(|| get("ssl-mode")) {
        Some(word) => word
            .parse()
            .map_err(|why: String| OpsError::usage("invalid --ssl-mode", why, "give one of these"))?,
        None if typed.skip_ssl || is_on("skip-ssl") => net::SslMode::Disabled,
        None if typed.verify || is_on("ssl-verify-server-cert") => net::SslMode::VerifyIdentity,
        None if ca.is_some() => net::SslMode::VerifyCa,
        None if typed.ssl || is_on("ssl") => net::SslMode::Required,
        None => net::SslMode::Preferred,
    };
    let address = host.clone().unwrap_or_else(|| "localhost".into());
    let login = ConnectOptions {
        user: typed
            .user
            .or_else(|| get("user"))
            .or_else(|| std::env::var("USER").ok())
            .unwrap_or_else(|| "root".into()),
        password: typed.password.or_else(|| get("password").map(SecretString::from)),
        tls: TlsOptions { mode, ca, crl, cert, key, ..TlsOptions::default() },
        ..ConnectOptions::default()
    };
    let node = NodeSpec {
        name: NodeName::new(address.clone()),
        address,
        names: vec![],
        proxies: BTreeMap::new(),
        port,
        galera_port: default_galera_port(),
        socket,
        pid_file: None,
        error_log: None,
        defaults_file: default_defaults_file(),
        tls_dir: default_tls_dir(),
        state_dir: default_node_state_dir(),
        service: Service::Systemd { unit: "mariadb.service".into() },
        drain: None,
        undrain: None,
    };
    Ok(Cluster {
        name: node.name.to_string(),
        ca_dir: PathBuf::new(),
        state_dir: PathBuf::new(),
        ca_passphrase_file: None,
        escrow_dir: PathBuf::new(),
        escrow_for: None,
        capture: CaptureBy::Packets { iface: default_iface() },
        has_files: false,
        nodes: vec![node],
        arbitrators: vec![],
        joining: vec![],
        machines: BTreeMap::new(),
        proxies: vec![],
        login,
        watch: WatchTable::default(),
    })
}

/// `~/.mylogin.cnf`, or what MYSQL_TEST_LOGIN_FILE names, as MySQL's own clients find it.
fn login_path(name: &str) -> Result<OptionFile, OpsError> {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let path =
        std::env::var_os("MYSQL_TEST_LOGIN_FILE").map_or_else(|| home.join(".mylogin.cnf"), PathBuf::from);
    let bad = |why: String| {
        OpsError::usage(
            format!("cannot use the login path \"{name}\""),
            format!("{}: {why}", path.display()),
            "create it with mysql_config_editor, or use an option file",
        )
    };
    let bytes = fs::read(&path).map_err(|error| bad(error.to_string()))?;
    let text = formats::mylogin::decode(&bytes, &path.display().to_string())
        .map_err(|error| bad(error.to_string()))?;
    let file =
        OptionFile::parse(&text, &path.display().to_string()).map_err(|error| bad(error.to_string()))?;
    if file.get(&[name], "user").is_none()
        && file.get(&[name], "password").is_none()
        && file.get(&[name], "host").is_none()
    {
        return Err(bad(format!("it has no group [{name}]")));
    }
    Ok(file)
}

/// User and password of the [client] and [sealion] groups of one option file, and how to use TLS: over a unix socket, too, an account may
/// require it.
pub fn login_from(path: &Path) -> Result<ConnectOptions, OpsError> {
    let refuse = |why: String, next: &str| {
        OpsError::usage(format!("cannot use the option file {}", path.display()), why, next)
    };
    let bytes = host::ReadHost::read(&host::Local, path, FILE_BYTES_MAX)
        .map_err(|error| refuse(error.to_string(), "check its owner and mode"))?
        .ok_or_else(|| {
            refuse("there is no such file".into(), "use an option file with user and password in [client]")
        })?;
    let file = OptionFile::parse(&bytes, &path.display().to_string())
        .map_err(|error| refuse(error.to_string(), "fix that line"))?;
    let get =
        |key: &str| file.get(&["client", "sealion"], key).and_then(|item| item.value.map(str::to_owned));
    let mut login = ConnectOptions { tls: TlsOptions::default(), ..ConnectOptions::default() };
    login.user = get("user").unwrap_or_else(|| "root".into());
    login.password = get("password").map(SecretString::from);
    let path_of = |key: &str| get(key).map(PathBuf::from);
    (login.tls.ca, login.tls.cert, login.tls.key) =
        (path_of("ssl-ca"), path_of("ssl-cert"), path_of("ssl-key"));
    if let Some(word) = get("ssl-mode") {
        login.tls.mode = word.parse().map_err(|why: String| {
            refuse(why, "give DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY")
        })?;
    }
    if login.password.is_some()
        && let Some(why) = fs::metadata(path).ok().and_then(|facts| read_by_others(&facts))
    {
        return Err(refuse(why, MAKE_PRIVATE));
    }
    Ok(login)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn read(text: &str) -> Result<Cluster, OpsError> {
        let dir = tempfile::tempdir().expect("tmp");
        let login = dir.path().join("c.cnf");
        fs::write(&login, "[client]\nuser=sealion\npassword=pw\n").expect("writable");
        fs::set_permissions(&login, fs::Permissions::from_mode(0o600)).expect("ours");
        let path = dir.path().join("sealion.toml");
        fs::write(&path, text).expect("writable");
        Cluster::read(&path)
    }

    const HEAD: &str =
        "[cluster]\nname='c'\nca_dir='ca'\nstate_dir='state'\n[login]\ndefaults_file='c.cnf'\n";

    #[test]
    fn a_password_that_others_may_read_is_refused_as_any_secret_is() {
        let dir = tempfile::tempdir().expect("tmp");
        let path = dir.path().join("login.cnf");
        let mode = |text: &str, mode: u32| {
            fs::write(&path, text).expect("ours");
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("ours");
            login_from(&path).map(|login| login.user).map_err(|error| error.to_string())
        };
        let with_password = "[client]\nuser=a\npassword=pw\n";
        for others in [0o644, 0o640, 0o604] {
            let error = mode(with_password, others).expect_err("others may read it");
            assert!(error.contains(&format!("mode {others:o}")) && error.contains("chmod 600"), "{error}");
            assert!(!error.contains("pw\n"), "{error}");
        }
        assert_eq!(mode(with_password, 0o600), Ok("a".into()));
        assert_eq!(mode("[client]\nuser=a\n", 0o644), Ok("a".into()), "nothing is secret in it");
    }

    #[test]
    fn defaults_are_debians_and_paths_count_from_the_file() {
        let cluster = read(&format!("{HEAD}[[node]]\nname='n1'\naddress='10.0.0.1'\n")).expect("complete");
        assert_eq!(cluster.login.user, "sealion");
        assert!(cluster.ca_dir.is_absolute());
        let node = &cluster.nodes[0];
        assert_eq!((node.port, node.galera_port), (3306, 4567));
        assert_eq!(node.service, Service::Systemd { unit: "mariadb.service".into() });
    }

    #[test]
    fn a_node_that_is_no_member_yet_is_kept_apart_until_it_is_admitted() {
        let both =
            "[[node]]\nname='n1'\naddress='a'\n[[node]]\nname='n2'\naddress='b'\nssh='db2'\njoining=true\n";
        let mut cluster = read(&format!("{HEAD}{both}")).expect("sound");
        let names = |nodes: &[NodeSpec]| nodes.iter().map(|node| node.name.to_string()).collect::<Vec<_>>();
        assert_eq!((names(&cluster.nodes), names(&cluster.joining)), (vec!["n1".into()], vec!["n2".into()]));
        cluster.admit(&"n1".into());
        cluster.admit(&"n2".into());
        assert_eq!(names(&cluster.nodes), ["n1", "n2"]);
        assert!(cluster.joining.is_empty() && !cluster.machine_of(&cluster.nodes[1]).is_this());
        let alone = read(&format!("{HEAD}[[node]]\nname='n1'\naddress='a'\njoining=true\n"));
        assert!(alone.expect_err("whom?").to_string().contains("every node of the inventory"));
    }

    #[test]
    fn what_is_asked_side_by_side_keeps_its_order() {
        let items: Vec<usize> = (0..200).collect();
        let squares = side_by_side(&items, |item| {
            // Those that begin first end last.
            std::thread::sleep(Duration::from_micros(u64::try_from(200 - item).expect("small")));
            item * item
        });
        assert!(squares.iter().enumerate().all(|(at, square)| *square == at * at) && squares.len() == 200);
        assert!(side_by_side(&[] as &[u8], |_| ()).is_empty());
    }

    #[test]
    fn a_typo_a_twin_and_two_ways_to_start_are_refused_with_their_place() {
        let check = |tail: &str, expected: &str| {
            let error = read(&format!("{HEAD}{tail}")).expect_err("refused");
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains(expected), "{error}");
        };
        check("[[node]]\nname='n1'\naddres='10.0.0.1'\n", "line 9");
        check("[[node]]\nname='n1'\naddress='a'\n[[node]]\nname='n1'\naddress='b'\n", "the name n1");
        check(
            "[[node]]\nname='n1'\naddress='a'\nservice='x'\nstart=['y']\n",
            "n1 has a service, and start or stop",
        );
        check("", "");
        check("[[node]]\nname='look'\naddress='a'\n", "it is the name of a step");
        check("[[node]]\nname='n 1'\naddress='a'\n", "cannot be the name of a node");
        check("[[node]]\nname='n1'\naddress='db1:3306'\n", "without a port");
        check("[[node]]\nname='n1'\naddress='a'\nnames=['x\\ny']\n", "is not a host name or address");
    }

    #[test]
    fn files_of_ssh_count_from_the_inventory() {
        let at = |path: &Path| Path::new("/ops").join(path);
        let check = |command: &[&str], expected: &[&str]| {
            let command: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
            assert_eq!(with_whole_paths(&command, &at), expected, "{command:?}");
        };
        check(&["ssh", "-F", "ssh_config", "-v"], &["ssh", "-F", "/ops/ssh_config", "-v"]);
        check(&["ssh", "-Fkeys/c", "-i", "../id"], &["ssh", "-F/ops/keys/c", "-i", "/ops/../id"]);
        check(&["ssh", "-F", "/etc/c", "-i", "~/.ssh/id"], &["ssh", "-F", "/etc/c", "-i", "~/.ssh/id"]);
        check(&["ssh", "-F", "none", "-o", "User=x", "-4"], &["ssh", "-F", "none", "-o", "User=x", "-4"]);
        // And the inventory is read so.
        let dir = tempfile::tempdir().expect("tmp");
        let (ssh, said) = (dir.path().join("ssh"), dir.path().join("said"));
        fs::write(&ssh, format!("#!/bin/sh\necho \"$@\" > '{}'\n", said.display())).expect("written");
        fs::set_permissions(&ssh, fs::Permissions::from_mode(0o700)).expect("ours");
        let tables = format!(
            "[ssh]\ncommand=['{}','-F','c']\n[[node]]\nname='n1'\naddress='a'\nssh='db1'\n",
            ssh.display()
        );
        let inventory = dir.path().join("sealion.toml");
        fs::write(dir.path().join("c.cnf"), "[client]\nuser=sealion\n").expect("written");
        fs::write(&inventory, format!("{HEAD}{tables}")).expect("written");
        let cluster = Cluster::read(&inventory).expect("sound");
        let machine = cluster.machines.values().next().expect("one");
        assert!(machine.host().read(Path::new("/none"), 1).is_err(), "there is no agent");
        let words = fs::read_to_string(said).expect("it was started");
        assert!(words.contains(&format!("-F {}", dir.path().join("c").display())), "{words}");
    }

    #[test]
    fn an_agent_is_installed_or_copied_and_never_both() {
        let ssh = |lines: &str| {
            let node = "[[node]]\nname='n1'\naddress='a'\nssh='db1'\n";
            read(&format!("{HEAD}[ssh]\n{lines}{node}")).map_err(|error| error.to_string())
        };
        for sound in ["", "sudo=true\n", "keep_agent=true\n", "agent='/usr/bin/sealion'\n"] {
            assert_eq!(ssh(sound).expect(sound).machines.len(), 1);
        }
        let both = ssh("agent='/usr/bin/sealion'\nkeep_agent=true\n").expect_err("which?");
        assert!(both.contains("remove one of the two"), "{both}");
        let relative = ssh("agent='sealion'\n").expect_err("relative to what?");
        assert!(relative.contains("is relative"), "{relative}");
    }

    /// It is met on a fresh draft, before there is a CA, and on a machine to which the CA was copied without it.
    #[test]
    fn a_passphrase_that_is_not_there_says_how_it_is_made_or_found() {
        let mut cluster = read(&format!("{HEAD}[[node]]\nname='n1'\naddress='a'\n")).expect("sound");
        let dir = tempfile::tempdir().expect("tmp");
        (cluster.ca_dir, cluster.ca_passphrase_file) =
            (dir.path().join("ca"), Some(dir.path().join("phrase")));
        let refused = |cluster: &Cluster| cluster.passphrase(None).expect_err("it is not there").to_string();
        let text = refused(&cluster);
        assert!(text.contains("umask 077; openssl rand -base64 32 > ") && text.contains("phrase"), "{text}");
        fs::create_dir(&cluster.ca_dir).expect("made");
        fs::write(cluster.ca_dir.join("ca.pem"), "").expect("written");
        let text = refused(&cluster);
        assert!(text.contains("was made with") && !text.contains("openssl rand"), "{text}");
    }

    #[test]
    fn a_secret_that_others_can_read_is_not_taken() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("tmp");
        let path = dir.path().join("p");
        fs::write(&path, "hunter2\n").expect("writable");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("ours");
        let error = read_secret(&path, "CA passphrase").expect_err("open to all").to_string();
        assert!(error.contains("mode 644") && !error.contains("hunter2"), "{error}");
    }
}
