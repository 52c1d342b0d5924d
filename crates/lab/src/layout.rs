//! Files and addresses of a lab: who lies where, and the option files that the nodes start from.

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::bundle::{ServerKind, Servers};

pub const GALERA_PORT: u16 = 4567;
pub const IST_PORT: u16 = 4568;
pub const SST_PORT: u16 = 4444;
pub const SQL_PORT: u16 = 3306;

/// In [`NodeSpec::tls_dir`].
pub const KEY_FILE: &str = "node-key.pem";
pub const CERT_FILE: &str = "node-cert.pem";
pub const CA_FILE: &str = "ca.pem";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SstMethod {
    Rsync,
    Mariabackup,
}

impl SstMethod {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rsync => "rsync",
            Self::Mariabackup => "mariabackup",
        }
    }
}

/// A server by itself, beside a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    pub servers: Servers,
    /// From which node of the lab it replicates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// One server of the lab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeSpec {
    pub name: String,
    /// Where others find it.
    pub address: IpAddr,
    /// Where it listens when a relay stands at its address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<IpAddr>,
    pub dir: PathBuf,
    /// It is no node of the lab's cluster, and what it is instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Beside>,
    /// The process whose network it runs in, where it has a host of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_pid: Option<i32>,
}

impl NodeSpec {
    pub fn new(name: &str, lab: &LabFile, lab_number: u8, node_number: u8) -> Self {
        Self {
            name: name.to_owned(),
            address: if lab.hosts {
                crate::hosts::node_address(lab_number, node_number)
            } else {
                node_address(lab_number, node_number)
            },
            beside: None,
            host_pid: None,
            behind: lab.relay.then(|| node_address(lab_number, BEHIND + node_number)),
            dir: lab.dir.join(name),
        }
    }
    pub fn listens_at(&self) -> IpAddr {
        self.behind.unwrap_or(self.address)
    }
    pub fn my_cnf(&self) -> PathBuf {
        self.dir.join("etc/my.cnf")
    }
    pub fn conf_d(&self) -> PathBuf {
        self.dir.join("etc/conf.d")
    }
    /// Of an arbitrator, what `/etc/default/garb` is.
    pub fn garb_file(&self) -> PathBuf {
        self.dir.join("etc/garb")
    }
    pub fn tls_dir(&self) -> PathBuf {
        self.dir.join("etc/ssl")
    }
    pub fn datadir(&self) -> PathBuf {
        self.dir.join("data")
    }
    pub fn socket(&self) -> PathBuf {
        self.dir.join("run/s")
    }
    pub fn pid_file(&self) -> PathBuf {
        self.dir.join("run/pid")
    }
    pub fn log(&self) -> PathBuf {
        self.dir.join("log/error.log")
    }
    pub fn state_dir(&self) -> PathBuf {
        self.dir.join("sealion")
    }
}

/// `lab.json`: what another process needs to find the lab. It holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabFile {
    pub name: String,
    pub dir: PathBuf,
    pub servers: Servers,
    pub namespace: bool,
    pub cluster_name: String,
    pub sst_method: SstMethod,
    pub galera: bool,
    /// The first node is the source of all others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replicas: bool,
    /// Nodes listen behind relays that the supervisor runs, because packets may not be captured here.
    #[serde(default)]
    pub relay: bool,
    /// Each node is a host of its own, reached by ssh.
    #[serde(default)]
    pub hosts: bool,
    /// HAProxy on a host of its own leads to the nodes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub proxy: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy_host_pid: Option<i32>,
    /// Third byte of the addresses.
    #[serde(default)]
    pub number: u8,
    /// Where the operator works is on the cluster's network too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub operator_is_client: bool,
    /// Where applications run, in a lab of hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app_host_pid: Option<i32>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub provider_options: String,
    /// Members are laid out with TLS on every link; their certificates are not the lab's to make.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tls: bool,
    pub nodes: Vec<NodeSpec>,
    /// Members of the cluster without data (garbd).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arbitrators: Vec<NodeSpec>,
    /// Of these, those that are laid out and no members yet.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub spares: BTreeSet<String>,
    /// Servers that run in the lab and are not of the cluster.
    pub strangers: Vec<NodeSpec>,
    /// Directories that were made for nodes, also for strangers that are forgotten: what ends with the lab.
    #[serde(default)]
    pub node_dirs: BTreeSet<String>,
    /// 0 until the supervisor runs.
    pub supervisor_pid: i32,
    /// Field 22 of /proc/PID/stat, so that a reused pid is not taken for ours.
    pub supervisor_start_ticks: u64,
}

/// Where a lab lies if nobody says where.
pub fn default_dir(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("sealion-{}-{name}", nix::unistd::geteuid().as_raw()))
}

/// The option with which a command of `sealion lab` finds the lab in `dir`: `" --dir DIR"`, or nothing for the usual one.
pub fn dir_option(dir: &Path) -> String {
    if dir == default_dir("lab") {
        return String::new();
    }
    let dir = dir.display().to_string();
    let is_one_word = dir.chars().all(|one| one.is_alphanumeric() || "/._-+:,@%".contains(one));
    if is_one_word { format!(" --dir {dir}") } else { format!(" --dir '{}'", dir.replace('\'', "'\\''")) }
}

impl LabFile {
    pub fn path(dir: &Path) -> PathBuf {
        dir.join("lab.json")
    }
    pub fn read(dir: &Path) -> Result<Self, LabError> {
        let path = Self::path(dir);
        let text = fs::read_to_string(&path).map_err(|source| LabError::Missing {
            what: format!("the lab {}", dir.display()),
            why: source.to_string(),
            next: format!("sealion lab up galera{}", dir_option(dir)),
        })?;
        serde_json::from_str(&text).map_err(|error| LabError::Refused {
            what: format!("{} is not a lab file", path.display()),
            why: error.to_string(),
            next: "remove the directory and create a new lab".into(),
        })
    }
    pub fn write(&self) -> Result<(), LabError> {
        let path = Self::path(&self.dir);
        let text = serde_json::to_string_pretty(self).expect("a lab file has only plain fields");
        let temp = path.with_extension("json.new");
        fs::write(&temp, text).map_err(LabError::io(format!("write {}", temp.display())))?;
        fs::rename(&temp, &path).map_err(LabError::io(format!("rename to {}", path.display())))
    }
    pub fn node(&self, name: &str) -> Option<&NodeSpec> {
        self.nodes.iter().chain(&self.arbitrators).chain(&self.strangers).find(|node| node.name == name)
    }
    pub fn is_arbitrator(&self, name: &str) -> bool {
        self.arbitrators.iter().any(|node| node.name == name)
    }
    /// What a node runs.
    pub fn servers_of<'a>(&'a self, node: &'a NodeSpec) -> &'a Servers {
        node.beside.as_ref().map_or(&self.servers, |beside| &beside.servers)
    }
    /// Servers beside a cluster.
    pub fn is_estate(&self) -> bool {
        self.nodes.iter().any(|node| node.beside.is_some())
    }
    pub fn control_socket(&self) -> PathBuf {
        self.dir.join("control")
    }
    pub fn cluster_address(&self) -> String {
        let is_member = |node: &&NodeSpec| !self.spares.contains(&node.name) && node.beside.is_none();
        let members = self.nodes.iter().filter(is_member);
        let addresses: Vec<String> = members.map(|node| node.address.to_string()).collect();
        format!("gcomm://{}", addresses.join(","))
    }
}

/// 127.77.N.x, one per node, so that Galera also connects from its own address and a link has a name.
pub fn node_address(lab_number: u8, node_number: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(127, 77, lab_number, node_number))
}

/// A node behind a relay listens at the relay's address with this added to its last byte.
const BEHIND: u8 = 100;

/// Under which address the lab knows who dials from `ip`: a node behind a relay dials from where it listens.
pub fn known_as(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(v4) => match v4.octets() {
            [127, 77, lab, node] if node > BEHIND => node_address(lab, node - BEHIND),
            _ => ip,
        },
        IpAddr::V6(_) => ip,
    }
}

/// Variables of an arbitrator's start script, as Debian's package has them in `/etc/default/garb`.
pub fn garb_file(lab: &LabFile, arbitrator: &NodeSpec) -> String {
    let members = lab.nodes.iter().filter(|node| node.beside.is_none());
    let nodes: Vec<String> = members.map(|node| node.address.to_string()).collect();
    format!(
        "# The lab's arbitrator. Its start script reads this file as a shell does.
GALERA_NODES=\"{}\"\nGALERA_GROUP=\"{}\"\n\
         GALERA_OPTIONS=\"gmcast.listen_addr=tcp://{}:{GALERA_PORT}{}{}\"\nLOG_FILE=\"{}\"\n",
        nodes.join(","),
        lab.cluster_name,
        arbitrator.listens_at(),
        lab.provider_options,
        if lab.tls { galera_tls(arbitrator) } else { String::new() },
        arbitrator.log().display()
    )
}

/// Only TLS between members, in `wsrep_provider_options`.
fn galera_tls(node: &NodeSpec) -> String {
    let dir = node.tls_dir();
    let path = |name: &str| dir.join(name).display().to_string();
    format!(
        ";socket.ssl_key={};socket.ssl_cert={};socket.ssl_ca={};socket.ssl=YES",
        path(KEY_FILE),
        path(CERT_FILE),
        path(CA_FILE)
    )
}

/// Only TLS for clients.
fn client_tls(node: &NodeSpec) -> String {
    let dir = node.tls_dir();
    let path = |name: &str| dir.join(name).display().to_string();
    let (key, cert, ca) = (path(KEY_FILE), path(CERT_FILE), path(CA_FILE));
    format!("ssl_ca={ca}\nssl_cert={cert}\nssl_key={key}\nrequire_secure_transport=ON\n")
}

/// Only TLS for state transfers: lines of `[sst]`.
fn transfer_tls(node: &NodeSpec, sst: SstMethod) -> String {
    let dir = node.tls_dir();
    let path = |name: &str| dir.join(name).display().to_string();
    // Without a mode mariabackup's script sends cleartext, whatever the server's own ssl_* say (seen on 10.11.19).
    let mode = if sst == SstMethod::Mariabackup { "ssl-mode=VERIFY_CA\n" } else { "" };
    format!("tkey={}\ntcert={}\ntca={}\n{mode}", path(KEY_FILE), path(CERT_FILE), path(CA_FILE))
}

/// The option files of one node, split as Debian splits them: an entry file that includes a directory.
pub fn option_files(lab: &LabFile, node: &NodeSpec, cluster_address: &str) -> Vec<(PathBuf, String)> {
    let mut entry = String::from(
        "# The lab's entry file. Groups in included files count as if they stood here.\n[mysqld]\n",
    );
    let servers = lab.servers_of(node);
    let is_member = lab.galera && node.beside.is_none();
    // A spare one gets all of it when it joins.
    let has_tls = lab.tls && node.beside.is_none() && !lab.spares.contains(&node.name);
    for (name, value) in servers.directory_options() {
        entry += &format!("{name}={value}\n");
    }
    entry += &format!(
        "datadir={}\nsocket={}\npid-file={}\nlog-error={}\ntmpdir={}\n",
        node.datadir().display(),
        node.socket().display(),
        node.pid_file().display(),
        node.log().display(),
        node.dir.join("run").display(),
    );
    entry += &format!("\n!includedir {}\n", node.conf_d().display());

    let mut server = format!(
        "[mysqld]\nbind-address={}\nport={SQL_PORT}\nskip-name-resolve\nmax-connections=200\n\
         innodb-buffer-pool-size=64M\ninnodb-flush-log-at-trx-commit=1\n",
        node.listens_at()
    );
    server += match servers.kind {
        ServerKind::MariaDb => {
            "innodb-log-file-size=16M\n\
             # Small machine: the lab shares two cores between three servers.\nperformance-schema=OFF\n"
        }
        ServerKind::MySql => "innodb-redo-log-capacity=32M\nsecure-file-priv=NULL\nmysqlx=OFF\n",
    };
    if lab.replicas || lab.is_estate() {
        // Source: MariaDB's page on wsrep_gtid_mode: nodes of one cluster have one server_id, or their GTIDs are not the same.
        let number = if is_member { "1" } else { node.name.trim_start_matches('n') };
        server += &format!("server-id={number}\nlog-bin=binlog\nbinlog-format=ROW\n");
        server += match servers.kind {
            ServerKind::MariaDb => "log-slave-updates=ON\nrelay-log=relay\n",
            ServerKind::MySql => "gtid-mode=ON\nenforce-gtid-consistency=ON\n",
        };
    }
    let galera = format!(
        "[galera]\nwsrep-on=ON\nwsrep-provider={}\nwsrep-cluster-name={}\nwsrep-cluster-address={cluster_address}\n\
         wsrep-node-name={}\nwsrep-node-address={}\nwsrep-node-incoming-address={}:{SQL_PORT}\nwsrep-sst-method={}\n\
         wsrep-provider-options=\"gmcast.listen_addr=tcp://{}:{GALERA_PORT};ist.recv_bind={};gcache.size=128M{}{}\"\n\
         binlog-format=ROW\ndefault-storage-engine=InnoDB\ninnodb-autoinc-lock-mode=2\n",
        lab.servers.galera.display(),
        lab.cluster_name,
        node.name,
        node.address,
        node.address,
        lab.sst_method.as_str(),
        node.listens_at(),
        node.listens_at(),
        lab.provider_options,
        if has_tls { galera_tls(node) } else { String::new() },
    );
    let (auth, mut sst) = match lab.sst_method {
        SstMethod::Rsync => ("", String::new()),
        // The lab's root has no password and is let in over the unix socket only. A joiner behind a relay listens there,
        // and announces the relay's address.
        SstMethod::Mariabackup => (
            "wsrep-sst-auth=\"root:\"\n",
            node.behind.map_or_else(String::new, |ip| format!("sockopt=\",bind={ip}\"\n")),
        ),
    };
    let gtid = if lab.is_estate() { "wsrep-gtid-mode=ON\nwsrep-gtid-domain-id=77\n" } else { "" };
    let mut galera = galera + gtid + auth;
    if has_tls && is_member {
        galera += &client_tls(node);
        sst += &transfer_tls(node, lab.sst_method);
    } else if has_tls {
        server += &client_tls(node);
    }
    if !sst.is_empty() {
        galera += &format!("\n[sst]\n{sst}");
    }
    let mut files = vec![(node.my_cnf(), entry), (node.conf_d().join("50-server.cnf"), server)];
    if is_member {
        files.push((node.conf_d().join("60-galera.cnf"), galera));
    }
    files
}
