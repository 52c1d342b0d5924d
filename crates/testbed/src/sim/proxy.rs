//! A simulated HAProxy in front of the servers, as unkind as real ones: it can be out of reach, have servers that somebody took out,
//! or not see a server that is back.

use std::net::IpAddr;

use server::{AdminState, NodeSpec, ProxyError, ProxyServer, ProxySpec, ReadProxy, ServerName, WriteProxy};

use super::world::{Shared, World};

/// A question to a proxy takes this long.
const ASKING_MS: u64 = 2;
/// One that does not answer is waited for so long.
const SILENT_MS: u64 = 10_000;

/// What a HAProxy process knows; all of it is lost when it is restarted.
#[derive(Debug, Clone)]
pub struct HaProxy {
    pub spec: ProxySpec,
    /// In the backend `galera`: the server's name and which node it is.
    pub servers: Vec<(String, usize)>,
    pub admin: Vec<AdminState>,
    pub is_out_of_reach: bool,
    /// Its socket is of level `operator`.
    pub permits_no_changes: bool,
    /// Its health check of this node fails from now on.
    pub check_fails_of: Option<usize>,
    /// Its health check logs in without TLS.
    pub checks_in_cleartext: bool,
    /// Its health check takes whoever greets for one that serves.
    pub takes_greeting_for_service: bool,
    /// What was told to it, in words, and by whom.
    pub told: Vec<String>,
}

impl HaProxy {
    /// One that leads to the first `count` nodes.
    pub fn new(name: &str, count: usize) -> Self {
        Self {
            spec: ProxySpec {
                name: name.into(),
                socket: "/run/haproxy/admin.sock".into(),
                servers: [].into(),
            },
            servers: (0..count).map(|index| (format!("db{}", index + 1), index)).collect(),
            admin: vec![AdminState::Ready; count],
            is_out_of_reach: false,
            permits_no_changes: false,
            check_fails_of: None,
            checks_in_cleartext: false,
            takes_greeting_for_service: false,
            told: vec![],
        }
    }

    /// What a node's server is set to.
    pub fn admin_of(&self, node: usize) -> Option<AdminState> {
        self.servers.iter().zip(&self.admin).find(|((_, index), _)| *index == node).map(|(_, &admin)| admin)
    }

    pub fn set(&mut self, node: usize, state: AdminState) {
        for ((_, index), admin) in self.servers.iter().zip(&mut self.admin) {
            if *index == node {
                *admin = state;
            }
        }
    }
}

impl World {
    /// Whether a proxy sends clients to a server: as its health checks see it.
    fn is_balanced(&self, proxy: &HaProxy, at: usize) -> bool {
        let (_, node) = proxy.servers[at];
        proxy.admin[at] == AdminState::Ready && self.is_checked(proxy, node)
    }

    fn is_checked(&self, proxy: &HaProxy, node: usize) -> bool {
        let requires_tls = self.servers[node].live.as_ref().is_some_and(|live| live.requires_tls);
        self.is_serving(node)
            && proxy.check_fails_of != Some(node)
            && !(proxy.checks_in_cleartext && requires_tls)
    }

    /// A server that is stopped while a proxy still sends clients to it.
    pub(super) fn watch_proxies_at_stop(&mut self, node: usize) {
        let now_ms = self.now_ms;
        let is_wrong =
            |proxy: &&HaProxy| !proxy.is_out_of_reach && proxy.admin_of(node) == Some(AdminState::Ready);
        let serves = self.is_serving(node);
        let wrong: Vec<String> =
            self.proxies.iter().filter(is_wrong).map(|proxy| proxy.spec.name.clone()).collect();
        for proxy in wrong.into_iter().filter(|_| serves) {
            let name = self.servers[node].name();
            self.violations
                .push(format!("{now_ms} ms: {name} was stopped while {proxy} sends clients to it"));
        }
    }
}

impl World {
    /// A server whose port opens before it is Synced, while a proxy would send clients to it then.
    pub(super) fn watch_proxies_at_start(&mut self, node: usize) {
        let (now_ms, name) = (self.now_ms, self.servers[node].name());
        for proxy in &self.proxies {
            if proxy.takes_greeting_for_service && proxy.admin_of(node) == Some(AdminState::Ready) {
                self.violations.push(format!(
                    "{now_ms} ms: {name} was started while {} sends clients to it before it is Synced",
                    proxy.spec.name
                ));
            }
        }
    }
}

/// A proxy as the steps see it.
#[derive(Debug)]
pub struct SimProxy {
    shared: Shared,
    index: usize,
    spec: ProxySpec,
}

impl SimProxy {
    pub fn new(shared: &Shared, index: usize) -> Self {
        let spec = shared.borrow().proxies[index].spec.clone();
        Self { shared: shared.clone(), index, spec }
    }

    pub fn all(shared: &Shared) -> Vec<Box<dyn WriteProxy>> {
        let count = shared.borrow().proxies.len();
        (0..count).map(|index| Box::new(Self::new(shared, index)) as Box<dyn WriteProxy>).collect()
    }

    fn not_permitted(&self, command: &str) -> ProxyError {
        ProxyError::Refused {
            proxy: self.spec.name.clone(),
            command: command.into(),
            why: "it does not permit that on this socket; it needs `level admin`".into(),
        }
    }

    fn reach(&self) -> Result<(), ProxyError> {
        self.shared.advance(ASKING_MS);
        if self.shared.borrow().proxies[self.index].is_out_of_reach {
            self.shared.advance(SILENT_MS);
            return Err(ProxyError::Unreachable {
                proxy: self.spec.name.clone(),
                why: "it did not answer in time".into(),
            });
        }
        Ok(())
    }
}

impl ReadProxy for SimProxy {
    fn spec(&self) -> &ProxySpec {
        &self.spec
    }

    fn servers(&mut self) -> Result<Vec<ProxyServer>, ProxyError> {
        self.reach()?;
        let world = self.shared.borrow();
        let proxy = &world.proxies[self.index];
        let server = |at: usize| {
            let (name, node) = &proxy.servers[at];
            let spec = &world.servers[*node].spec;
            let is_up = world.is_balanced(proxy, at);
            ProxyServer {
                name: ServerName { backend: "galera".into(), server: name.clone() },
                address: spec.address.parse().ok(),
                port: spec.port,
                fqdn: Some(spec.address.clone()),
                admin: proxy.admin[at],
                takes_new: is_up,
                sessions: 0,
                is_up,
                status: match (proxy.admin[at], world.is_checked(proxy, *node)) {
                    (AdminState::Maint, _) => "MAINT",
                    (_, false) => "DOWN",
                    (AdminState::Drain, true) => "DRAIN",
                    (AdminState::Ready, true) => "UP",
                }
                .into(),
            }
        };
        Ok((0..proxy.servers.len()).map(server).collect())
    }

    fn lets_set(&mut self) -> Result<(), ProxyError> {
        self.reach()?;
        let refused = self.shared.borrow().proxies[self.index].permits_no_changes;
        if refused { Err(self.not_permitted("set server")) } else { Ok(()) }
    }

    fn addresses(&mut self, node: &NodeSpec) -> Result<Vec<IpAddr>, ProxyError> {
        Ok(node.address.parse().into_iter().collect())
    }
}

impl WriteProxy for SimProxy {
    fn reading(&mut self) -> &mut dyn ReadProxy {
        self
    }

    fn set_state(&mut self, server: &ServerName, state: AdminState) -> Result<(), ProxyError> {
        let find = |world: &World| {
            world.proxies[self.index]
                .servers
                .iter()
                .find(|(name, _)| *name == server.server)
                .map(|(_, node)| *node)
        };
        let node = find(&self.shared.borrow());
        self.shared.instant(&format!("proxy {}", state.word()), node);
        self.reach()?;
        let mut world = self.shared.borrow_mut();
        if world.sealion_is_dead {
            return Ok(());
        }
        let proxy = &mut world.proxies[self.index];
        if proxy.permits_no_changes {
            return Err(self.not_permitted(&format!("set server {server} state {}", state.word())));
        }
        proxy.told.push(format!("{server} {}", state.word()));
        if let Some(node) = node {
            proxy.set(node, state);
        }
        Ok(())
    }
}
