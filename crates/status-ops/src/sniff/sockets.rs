//! Which connections are those of a member's own process, as the kernel of its machine has them: an address and a port alone do not say who
//! talks there.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use host::ProcessFacts;
use host::ports::{Ports, addresses, ports_of_process};
use server::ReadMember;
use site::inventory::Cluster;

/// Both ends of a connection, the nearer one first.
type Ends = (SocketAddr, SocketAddr);

/// What the machine of a member says, asked when a capture begins and again when it ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sockets {
    pub(super) own: BTreeSet<Ends>,
    /// Ports on which its process takes connections.
    pub(super) listens: BTreeSet<u16>,
    /// Of other programs of the machine.
    pub(super) of_others: BTreeSet<Ends>,
    /// Those of the machine, beside loopback.
    pub(super) addresses: BTreeSet<IpAddr>,
}

/// Whose connection one is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Owner {
    /// The member's.
    Member,
    /// Of another program on its machine.
    Another,
    /// Nobody can say, with the reason.
    CannotTell(String),
}

/// # Errors
/// Its machine does not say, or not to this user.
pub(super) fn of_member(cluster: &Cluster, spec: &server::NodeSpec) -> Result<Sockets, String> {
    if cluster.is_relayed() {
        return Err("its connections go through relays".into());
    }
    let is_arbitrator = cluster.arbitrators.iter().any(|one| one.name == spec.name);
    if is_arbitrator {
        let mut one = server::LiveArbitrator::on(cluster.machine_of(spec), spec.clone());
        let process = one.process();
        of_process(one.host(), process)
    } else {
        let mut node = cluster.live_node(spec);
        let process = node.process();
        of_process(node.host(), process)
    }
}

fn of_process(host: &dyn host::ReadHost, process: Option<ProcessFacts>) -> Result<Sockets, String> {
    let pid = process.ok_or("its process cannot be seen: its pid file leads to none")?.pid;
    let ports = ports_of_process(host, pid).map_err(|error| error.to_string())?;
    let ends = |ports: &Ports| ports.connections.iter().map(|one| (one.local, one.remote)).collect();
    Ok(Sockets {
        own: ends(&ports.own),
        listens: ports.own.listeners.iter().map(SocketAddr::port).collect(),
        of_others: ends(&ports.of_others),
        // Without them only links of its own address are found.
        addresses: addresses(host, Some(pid)).unwrap_or_default(),
    })
}

impl Sockets {
    /// As they are now, beside what was there before.
    pub(super) fn add(&mut self, now: Self) {
        self.own.extend(now.own);
        self.listens.extend(now.listens);
        self.of_others.extend(now.of_others);
        self.addresses.extend(now.addresses);
    }

    pub(super) fn owner(&self, near: SocketAddr, far: SocketAddr) -> Owner {
        let ends = (near, far);
        if self.own.contains(&ends) {
            Owner::Member
        } else if self.of_others.contains(&ends) {
            Owner::Another
        } else {
            Owner::CannotTell("it was in no table of its machine, before and after the capture".into())
        }
    }
}
