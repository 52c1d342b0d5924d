//! Where the nodes are reached, and which of them replicates from which.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use model::{Link, LinkKind};
use net::Client;
use server::{Capabilities, Channel};
use site::inventory::Cluster;

use super::sockets::{self, Owner, Sockets};
use super::{LOOPBACK, RESOLVE};

/// A node that replicates from another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReplicaLink {
    pub(super) replica: String,
    /// A node, or the address of a server that is none of the inventory's.
    pub(super) source: String,
    /// Why nobody knows whether it is a replica, and whose.
    pub(super) cannot_tell: Option<String>,
}

impl ReplicaLink {
    pub(super) fn link(&self) -> Link {
        Link::new(LinkKind::Replication, self.source.as_str(), self.replica.as_str())
    }

    /// Of the channels that each node tells of. One that does not tell has a link that is unknown, beside servers that replicate by
    /// channels: without it the links of the others would speak for it.
    pub(super) fn all(cluster: &Cluster, places: &[Place]) -> Vec<Self> {
        let asked = cluster.on_each(|node| {
            Client::connect(&cluster.login_at(node)).and_then(|mut client| {
                let answered = channels_of(&mut client);
                let _ = client.quit();
                answered
            })
        });
        let mut found = Vec::new();
        for (node, asked) in cluster.nodes.iter().zip(asked) {
            let replica = node.name.to_string();
            match asked {
                Ok(channels) => found.extend(channels.iter().map(|channel| Self {
                    replica: replica.clone(),
                    source: Self::source_of(channel, places),
                    cannot_tell: None,
                })),
                Err(error) if places.iter().any(|place| place.is_no_galera) => found.push(Self {
                    replica,
                    source: "source".into(),
                    cannot_tell: Some(format!("its channels could not be asked: {}", error.in_one_line())),
                }),
                Err(_) => {}
            }
        }
        found
    }

    pub(super) fn source_of(channel: &Channel, places: &[Place]) -> String {
        let is_here = |place: &&Place| {
            place.client_ports.contains(&channel.source_port)
                && resolved(&channel.source_host)
                    .is_ok_and(|all| all.iter().any(|ip| place.addresses.contains(ip)))
        };
        places.iter().find(is_here).map_or_else(
            || format!("{}:{}", channel.source_host, channel.source_port),
            |place| place.node.clone(),
        )
    }
}

pub(super) fn channels_of(client: &mut Client) -> Result<Vec<Channel>, net::NetError> {
    let rows = client.query("SELECT VERSION(), @@version_comment")?;
    let text = |at| rows.first().and_then(|row| row.at(at)).unwrap_or_default().into_owned();
    server::replication::channels(client, &Capabilities::of(&text(0), &text(1), false))
}

/// A server that dials many others is not captured everywhere.
const MORE_PORTS_MAX: usize = 16;

/// Gives each its machine's addresses, but for those that several have: of two members on one machine, or of networks that every machine has
/// for itself (containers').
pub(super) fn share_addresses(places: &mut [Place]) {
    let mut count: BTreeMap<IpAddr, usize> = BTreeMap::new();
    let of = |place: &Place| place.sockets.as_ref().map(|all| all.addresses.clone()).unwrap_or_default();
    for place in &*places {
        let all: BTreeSet<IpAddr> = of(place).into_iter().chain(place.addresses.iter().copied()).collect();
        all.into_iter().for_each(|address| *count.entry(address).or_default() += 1);
    }
    for place in places {
        let mut own = of(place);
        own.retain(|address| count.get(address) == Some(&1));
        place.machine_addresses = own;
    }
}

/// Where one node is reached.
pub(super) struct Place {
    pub(super) node: String,
    pub(super) addresses: Vec<IpAddr>,
    pub(super) client_ports: Vec<u16>,
    pub(super) galera_port: u16,
    /// It takes clients on every address of its machine.
    pub(super) listens_everywhere: bool,
    /// Addresses of its `bind_address`, which clients may use beside the one of the inventory.
    pub(super) binds: Vec<IpAddr>,
    /// Why it may take clients where nobody looked.
    pub(super) cannot_tell: Option<String>,
    /// It did not answer when the capture began.
    pub(super) was_silent: bool,
    /// It votes and has no data: no client, no transfer.
    pub(super) is_arbitrator: bool,
    /// It said that it is no node of a Galera cluster, so that no link to another one is missing.
    pub(super) is_no_galera: bool,
    /// How many members it counts.
    pub(super) group_size: Option<usize>,
    /// They are more than the inventory has.
    pub(super) counts_strangers: bool,
    /// What its machine says of its connections; or why it does not.
    pub(super) sockets: Result<Sockets, String>,
    /// Addresses of its machine that are no other member's.
    pub(super) machine_addresses: BTreeSet<IpAddr>,
    /// It said so, and that it is connected to no group: no link to any node of one is missing.
    pub(super) is_in_no_group: bool,
}

/// Where a server takes clients, by its `bind_address`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Binds {
    Everywhere,
    At(Vec<IpAddr>),
    /// A name that cannot be resolved may mean any address.
    CannotTell(String),
}

/// A list in MariaDB since 10.11, in MySQL with a namespace behind a slash.
pub(super) fn bound_to(value: &str) -> Binds {
    let mut found = Vec::new();
    for one in value.split(',') {
        let one = one.trim().split('/').next().unwrap_or_default();
        if ["", "*", "0.0.0.0", "::"].contains(&one) {
            return Binds::Everywhere;
        }
        match resolved(one.trim_matches(['[', ']'])) {
            Ok(addresses) => found.extend(addresses),
            Err(why) => return Binds::CannotTell(format!("its bind_address has {one}: {why}")),
        }
    }
    Binds::At(found)
}

pub(super) fn resolved(host: &str) -> Result<Vec<IpAddr>, String> {
    let all =
        net::resolve(host, 0, RESOLVE).map_err(|error| format!("{host} cannot be resolved here: {error}"))?;
    Ok(all.into_iter().map(|one| one.ip().to_canonical()).collect())
}

/// Who counts more members than the inventory has. Servers by themselves are none.
pub(super) fn count_strangers(places: &mut [Place]) {
    let named = places.iter().filter(|place| !place.is_no_galera).count();
    for place in places {
        place.counts_strangers = place.group_size.is_some_and(|size| size > named);
    }
}

impl Place {
    /// A node that cannot be asked is looked at where the inventory says that it is.
    pub(super) fn of(cluster: &Cluster, node: &server::NodeSpec) -> Self {
        // A name is looked up once: what it means may change while we look.
        let (addresses, not_resolved) = match resolved(&node.address) {
            Ok(addresses) => (addresses, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        let mut place = Self {
            node: node.name.to_string(),
            addresses,
            client_ports: vec![node.port],
            galera_port: node.galera_port,
            listens_everywhere: false,
            binds: Vec::new(),
            cannot_tell: not_resolved,
            was_silent: false,
            is_arbitrator: false,
            is_no_galera: false,
            group_size: None,
            counts_strangers: false,
            sockets: sockets::of_member(cluster, node),
            machine_addresses: BTreeSet::new(),
            is_in_no_group: false,
        };
        let asked = Client::connect(&cluster.login_at(node)).and_then(|mut client| {
            let settings = client.query(
                "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('port', 'extra_port', 'admin_port', 'bind_address', \
                 'wsrep_on')",
            )?;
            let status = "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_cluster_size', 'wsrep_connected')";
            Ok((settings, client.query(status)?))
        });
        let (rows, connected) = match &asked {
            Ok((rows, status)) => {
                let value = |name: &str| {
                    status.iter().find(|row| row.at(0).as_deref() == Some(name)).and_then(|row| row.at(1))
                };
                place.group_size = value("wsrep_cluster_size").and_then(|size| size.parse().ok());
                (rows, value("wsrep_connected").as_deref() == Some("ON"))
            }
            Err(error) => {
                let why = format!("where it takes clients could not be asked: {}", error.in_one_line());
                place.cannot_tell.get_or_insert(why);
                place.was_silent = true;
                return place;
            }
        };
        // A server that knows no such variable has no Galera.
        place.is_no_galera = true;
        for row in rows.iter() {
            let (name, value) = (row.at(0).unwrap_or_default(), row.at(1).unwrap_or_default());
            if name == "wsrep_on" {
                place.is_no_galera = value == "OFF";
            } else if name == "bind_address" {
                match bound_to(&value) {
                    Binds::At(binds) => place.binds = binds,
                    Binds::Everywhere => place.listens_everywhere = true,
                    Binds::CannotTell(why) => {
                        place.listens_everywhere = true;
                        place.cannot_tell.get_or_insert(why);
                    }
                }
            } else if let Ok(port) = value.parse()
                && port != 0
                && !cluster.is_relayed()
            {
                place.client_ports.push(port);
            }
        }
        // One whose wsrep_on was switched off is still a member of its group.
        place.is_in_no_group = place.is_no_galera && !connected;
        place
    }

    pub(super) fn of_arbitrator(cluster: &Cluster, spec: &server::NodeSpec) -> Self {
        let (addresses, cannot_tell) = match resolved(&spec.address) {
            Ok(addresses) => (addresses, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        Self {
            node: spec.name.to_string(),
            addresses,
            client_ports: Vec::new(),
            galera_port: spec.galera_port,
            listens_everywhere: false,
            binds: Vec::new(),
            cannot_tell,
            was_silent: false,
            is_arbitrator: true,
            is_no_galera: false,
            group_size: None,
            counts_strangers: false,
            sockets: sockets::of_member(cluster, spec),
            machine_addresses: BTreeSet::new(),
            is_in_no_group: false,
        }
    }

    /// Its machine is asked once more: a connection that was made since the first time is in its table now.
    pub(super) fn ask_sockets_again(&mut self, cluster: &Cluster) {
        let mut members = cluster.nodes.iter().chain(&cluster.arbitrators);
        let Some(spec) = members.find(|one| *one.name.as_str() == *self.node) else { return };
        match (&mut self.sockets, sockets::of_member(cluster, spec)) {
            (Ok(known), Ok(now)) => known.add(now),
            (known @ Err(_), now @ Ok(_)) => *known = now,
            (_, Err(_)) => {}
        }
    }

    /// Its process takes part in the group there, whatever the inventory says.
    pub(super) fn takes_members_at(&self, port: u16) -> bool {
        let listens = || self.sockets.as_ref().is_ok_and(|sockets| sockets.listens.contains(&port));
        port == self.galera_port
            || (!self.is_no_galera
                && !self.was_silent
                && ![self.galera_port + 1, lab::layout::SST_PORT].contains(&port)
                && !self.client_ports.contains(&port)
                && listens())
    }

    /// Whose a connection is that has `near` on its machine.
    pub(super) fn owner(&self, near: SocketAddr, far: SocketAddr) -> Owner {
        match &self.sockets {
            Ok(sockets) => sockets.owner(near, far),
            Err(why) => Owner::CannotTell(why.clone()),
        }
    }

    /// Ports on which members may talk to it, beside those of the inventory: its own, and those at which its process has dialled somebody
    /// while it counts members that the inventory does not have.
    pub(super) fn more_ports(&self) -> BTreeSet<u16> {
        let Ok(sockets) = &self.sockets else { return BTreeSet::new() };
        let own = sockets.listens.iter().copied().filter(|port| self.takes_members_at(*port));
        let is_ours = |port: u16| sockets.listens.contains(&port) || self.client_ports.contains(&port);
        let dialled = sockets.own.iter().filter(|(near, _)| self.counts_strangers && !is_ours(near.port()));
        own.chain(dialled.map(|(_, far)| far.port())).take(MORE_PORTS_MAX).collect()
    }

    /// One interface carries no more than a part of what comes to a server, but for `lo` where it listens on nothing else: what comes
    /// from its own machine goes over `lo`, whatever address it is for.
    pub(super) fn looked_at_on(&mut self, iface: &str) {
        let only_loopback =
            !self.listens_everywhere && self.addresses.iter().chain(&self.binds).all(IpAddr::is_loopback);
        if iface != capture::EVERY_INTERFACE && !(iface == LOOPBACK && only_loopback) {
            self.cannot_tell.get_or_insert_with(|| {
                format!(
                    "it takes clients on addresses that {iface} does not carry alone; remove capture_interface from the inventory, so that \
                     all interfaces are captured"
                )
            });
        }
    }

    pub(super) fn takes_clients_at(&self, at: SocketAddr) -> bool {
        self.client_ports.contains(&at.port())
            && (self.listens_everywhere || self.addresses.contains(&at.ip()) || self.binds.contains(&at.ip()))
    }
}
