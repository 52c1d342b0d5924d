//! A HAProxy in front of the servers, asked and told over its admin socket: the reading half, and the writing half that only a step's
//! action is given.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use model::NodeName;
use net::Endpoint;
use thiserror::Error;
pub use wire::haproxy::AdminState;
use wire::haproxy::{self, HaproxyError};

use crate::machine::Machine;
use crate::node::NodeSpec;

/// It answers at once, or it hangs; ssh to its machine takes the rest.
const ANSWER: Duration = Duration::from_secs(10);
/// The name of a node; as long as a resolver asks a second server.
const RESOLVE: Duration = Duration::from_secs(6);

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProxyError {
    /// Whether it serves, and whom it sends where, is not known.
    #[error("the proxy {proxy} cannot be asked: {why}")]
    Unreachable { proxy: String, why: String },
    /// It answers, and does not do what we asked.
    #[error("the proxy {proxy} refused `{command}`: {why}")]
    Refused { proxy: String, command: String, why: String },
}

/// A server as HAProxy names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerName {
    pub backend: String,
    pub server: String,
}

impl ServerName {
    /// `galera/db1`; `None` where a part is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (backend, server) = text.split_once('/')?;
        (haproxy::is_name(backend) && haproxy::is_name(server))
            .then(|| Self { backend: backend.to_owned(), server: server.to_owned() })
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.backend, self.server)
    }
}

/// Where a proxy is, from the inventory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxySpec {
    pub name: String,
    /// On the proxy's machine, with `level admin`.
    pub socket: PathBuf,
    /// Nodes whose servers are named by a person; none: it does not carry that node. All others are found by their address.
    pub servers: BTreeMap<NodeName, Vec<ServerName>>,
}

/// One server of one backend, as the proxy has it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyServer {
    pub name: ServerName,
    pub address: Option<IpAddr>,
    pub port: u16,
    pub fqdn: Option<String>,
    /// What it was set to.
    pub admin: AdminState,
    /// New connections are balanced over it.
    pub takes_new: bool,
    pub sessions: u64,
    /// Its health check passes, or it has none.
    pub is_up: bool,
    /// In HAProxy's words.
    pub status: String,
}

/// Looks at one proxy. Every call asks anew.
pub trait ReadProxy {
    fn spec(&self) -> &ProxySpec;
    fn name(&self) -> &str {
        &self.spec().name
    }
    /// Of all its backends.
    ///
    /// # Errors
    /// It cannot be asked, or does not say.
    fn servers(&mut self) -> Result<Vec<ProxyServer>, ProxyError>;
    /// Whether the socket lets states be set, before one is.
    ///
    /// # Errors
    /// It does not, or that cannot be told.
    fn lets_set(&mut self) -> Result<(), ProxyError>;
    /// The addresses that a node's name has, as they are compared with those of servers.
    ///
    /// # Errors
    /// The name cannot be resolved.
    fn addresses(&mut self, node: &NodeSpec) -> Result<Vec<IpAddr>, ProxyError>;

    /// The servers that are this node.
    ///
    /// # Errors
    /// As [`Self::servers`]; or nothing says which server it is, which is no proof that there is none.
    fn carrying(&mut self, node: &NodeSpec) -> Result<Carried, ProxyError> {
        let all = self.servers()?;
        let refused = |proxy: &Self, why: String| ProxyError::Refused {
            proxy: proxy.name().to_owned(),
            command: haproxy::SHOW_SERVERS.trim().to_owned(),
            why,
        };
        if let Some(names) = self.spec().servers.get(&node.name) {
            if let Some(missing) = names.iter().find(|name| !all.iter().any(|one| one.name == **name)) {
                let why = format!("it has no server {missing}, which the inventory names for {}", node.name);
                return Err(refused(self, why));
            }
            let own =
                all.iter().filter(|one| names.contains(&one.name)).map(|one| one.name.clone()).collect();
            return Ok(Carried { all, own });
        }
        let by_name = |one: &ProxyServer| one.port == node.port && one.fqdn.as_deref() == Some(&node.address);
        let named = |all: &[ProxyServer], is_it: &dyn Fn(&ProxyServer) -> bool| -> Vec<ServerName> {
            all.iter().filter(|one| is_it(one)).map(|one| one.name.clone()).collect()
        };
        // A backend may have it by its name and another one by its address.
        let addresses = self.addresses(node);
        let by_address = |one: &ProxyServer| {
            one.port == node.port
                && one.address.is_some_and(|ip| addresses.as_ref().is_ok_and(|found| found.contains(&ip)))
        };
        let own = named(&all, &|one| by_name(one) || by_address(one));
        if own.is_empty() {
            addresses?;
            return Err(refused(
                self,
                format!(
                    "it has no server at {}:{}, and may reach {} under another address; say in [[proxy]] which one it is: \
                     servers = {{ {} = [\"BACKEND/SERVER\"] }}, or = [] when this proxy does not lead there",
                    node.address, node.port, node.name, node.name
                ),
            ));
        }
        Ok(Carried { all, own })
    }
}

/// What a proxy has of a node, beside everything else that it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    pub all: Vec<ProxyServer>,
    own: Vec<ServerName>,
}

impl Carried {
    pub fn own(&self) -> impl Iterator<Item = &ProxyServer> {
        self.all.iter().filter(|one| self.own.contains(&one.name))
    }

    /// Servers of a backend that take connections when this node's do not.
    pub fn others(&self, backend: &str) -> usize {
        let is_other = |one: &&ProxyServer| {
            one.name.backend == backend && one.takes_new && !self.own.contains(&one.name)
        };
        self.all.iter().filter(is_other).count()
    }
}

/// Tells one proxy. Only a step's action is given this.
pub trait WriteProxy: ReadProxy {
    fn reading(&mut self) -> &mut dyn ReadProxy;
    /// # Errors
    /// It cannot be asked, or refuses. After `Unreachable` it may have been done.
    fn set_state(&mut self, server: &ServerName, state: AdminState) -> Result<(), ProxyError>;
}

/// A real HAProxy, on this machine or on one that is reached by an agent.
#[derive(Debug)]
pub struct LiveProxy {
    spec: ProxySpec,
    endpoint: Endpoint,
}

impl LiveProxy {
    pub fn on(machine: &Machine, spec: ProxySpec) -> Self {
        let endpoint = machine.unix(&spec.socket);
        Self { spec, endpoint }
    }

    fn ask(&self, command: &str) -> Result<Vec<u8>, ProxyError> {
        net::ask(&self.endpoint, command.as_bytes(), haproxy::ANSWER_BYTES_MAX, ANSWER).map_err(|error| {
            let hint = match error.kind() {
                std::io::ErrorKind::PermissionDenied => "; its `mode`, `user` or `group` keeps this user out",
                std::io::ErrorKind::NotFound => {
                    "; `stats socket PATH level admin` in HAProxy's global section makes it"
                }
                std::io::ErrorKind::ConnectionRefused => "; HAProxy does not run, or left its socket behind",
                _ => "",
            };
            ProxyError::Unreachable {
                proxy: self.spec.name.clone(),
                why: format!("{}: {error}{hint}", self.endpoint),
            }
        })
    }

    fn refused(&self, command: &str, error: &HaproxyError) -> ProxyError {
        let more = match error {
            HaproxyError::NotPermitted => {
                format!(
                    "; {} needs `level admin` in HAProxy's `stats socket` line",
                    self.spec.socket.display()
                )
            }
            HaproxyError::NoSuchBackend | HaproxyError::NoSuchServer => {
                "; its configuration was changed since it was asked for its servers".into()
            }
            _ => String::new(),
        };
        ProxyError::Refused {
            proxy: self.spec.name.clone(),
            command: command.trim().to_owned(),
            why: format!("{error}{more}"),
        }
    }
}

impl ReadProxy for LiveProxy {
    fn spec(&self) -> &ProxySpec {
        &self.spec
    }

    fn servers(&mut self) -> Result<Vec<ProxyServer>, ProxyError> {
        let rows = haproxy::servers(&self.ask(haproxy::SHOW_SERVERS)?)
            .map_err(|error| self.refused(haproxy::SHOW_SERVERS, &error))?;
        let stat = haproxy::stat(&self.ask(haproxy::SHOW_STAT)?)
            .map_err(|error| self.refused(haproxy::SHOW_STAT, &error))?;
        let stat: HashMap<(&str, &str), &haproxy::StatRow> =
            stat.iter().map(|row| ((row.backend.as_str(), row.server.as_str()), row)).collect();
        // A server that was added or removed between the two answers is of another moment.
        let both = rows.into_iter().filter_map(|row| {
            let counted = stat.get(&(row.backend.as_str(), row.server.as_str()))?;
            Some(ProxyServer {
                sessions: counted.sessions,
                is_up: counted.is_up(),
                status: counted.status.clone(),
                name: ServerName { backend: row.backend, server: row.server },
                address: row.address,
                port: row.port,
                fqdn: row.fqdn,
                admin: row.admin,
                takes_new: row.takes_new,
            })
        });
        Ok(both.collect())
    }

    fn lets_set(&mut self) -> Result<(), ProxyError> {
        let is_admin = haproxy::is_admin(&self.ask(haproxy::SHOW_LEVEL)?)
            .map_err(|error| self.refused(haproxy::SHOW_LEVEL, &error))?;
        if is_admin { Ok(()) } else { Err(self.refused("set server", &HaproxyError::NotPermitted)) }
    }

    fn addresses(&mut self, node: &NodeSpec) -> Result<Vec<IpAddr>, ProxyError> {
        let found =
            net::resolve(&node.address, node.port, RESOLVE).map_err(|error| ProxyError::Unreachable {
                proxy: self.spec.name.clone(),
                why: format!(
                    "which of its servers is {} cannot be told: {}: {error}",
                    node.name, node.address
                ),
            })?;
        Ok(found.into_iter().map(|address| address.ip()).collect())
    }
}

impl WriteProxy for LiveProxy {
    fn reading(&mut self) -> &mut dyn ReadProxy {
        self
    }

    fn set_state(&mut self, server: &ServerName, state: AdminState) -> Result<(), ProxyError> {
        let command = haproxy::set_state(&server.backend, &server.server, state)
            .map_err(|error| self.refused(&format!("set server {server}"), &error.into()))?;
        haproxy::done(&self.ask(&command)?).map_err(|error| self.refused(&command, &error))
    }
}
