//! Whether a garbd that runs is one of those that the nodes count. A node tells how many members there are and not which: what tells one
//! garbd from another are the connections of its own process, as its machine has them.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use host::ports::{Connection, Ports, ports};
use model::NodeName;
use server::ArbitratorView;

use crate::world::World;

const GALERA_PORT: u16 = 4567;

/// What its machine says of its connections with other members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Linked {
    /// It has these, by both ends. One that is tried and refused again and again has other ends each time.
    Yes(BTreeSet<(SocketAddr, SocketAddr)>),
    No,
    CannotTell(String),
}

/// Asks its machine.
pub fn linked(world: &mut World<'_>, name: &NodeName) -> Linked {
    let nodes: Vec<(Option<IpAddr>, u16)> = world
        .nodes
        .iter()
        .map(|node| {
            (node.spec().address.parse().ok().map(|ip: IpAddr| ip.to_canonical()), node.spec().galera_port)
        })
        .collect();
    let Some(arbitrator) = world.arbitrator(name) else {
        return Linked::CannotTell(format!("{name} is not in the inventory"));
    };
    let port = arbitrator.spec().galera_port;
    let view = match arbitrator.view() {
        Ok(view) => view,
        Err(error) if error.is_down() => return Linked::No,
        Err(error) => return Linked::CannotTell(error.first_line()),
    };
    match ports(arbitrator.host(), Some(view.process.pid)) {
        Ok(ports) => judge(&ports, &view, port, &nodes),
        Err(error) => Linked::CannotTell(error.to_string()),
    }
}

fn judge(ports: &Ports, view: &ArbitratorView, port: u16, nodes: &[(Option<IpAddr>, u16)]) -> Linked {
    let (own_ip, own_port) = listens(view, port);
    let is_another_service = |local: SocketAddr| {
        local.port() != own_port
            && ports
                .listeners
                .iter()
                .any(|at| at.port() == local.port() && (at.ip().is_unspecified() || at.ip() == local.ip()))
    };
    let is_node = |remote: SocketAddr| {
        nodes.iter().any(|(ip, port)| *port == remote.port() && ip.is_none_or(|ip| ip == remote.ip()))
    };
    // It dials from the address that it listens on.
    let may_be_its = ports.connections.iter().filter(|one| {
        one.uid == view.process.uid
            && own_ip.is_none_or(|ip| ip == one.local.ip())
            && !is_another_service(one.local)
    });
    let (with_members, others): (Vec<&Connection>, Vec<&Connection>) =
        may_be_its.partition(|one| one.local.port() == own_port || is_node(one.remote));
    if !with_members.is_empty() {
        return Linked::Yes(with_members.into_iter().map(|one| (one.local, one.remote)).collect());
    }
    match others.first() {
        None => Linked::No,
        // Behind a translation of addresses it reaches the nodes under others.
        Some(one) => Linked::CannotTell(format!(
            "a process of its user is connected to {}, which is no Galera port of the inventory",
            one.remote
        )),
    }
}

/// Where it takes connections; no address: everywhere.
fn listens(view: &ArbitratorView, port: u16) -> (Option<IpAddr>, u16) {
    let Some(address) = view.options.get("gmcast.listen_addr") else { return (None, GALERA_PORT) };
    let address = address.split_once("://").map_or(address, |(_, rest)| rest);
    let both = address.parse::<SocketAddr>().ok();
    let ip = both.map(|both| both.ip()).or_else(|| address.trim_matches(['[', ']']).parse().ok());
    let named = || address.rsplit_once(':').filter(|_| ip.is_none()).and_then(|(_, port)| port.parse().ok());
    let port = both.map(|both| both.port()).or_else(named).unwrap_or(port);
    (ip.map(|ip| ip.to_canonical()).filter(|ip| !ip.is_unspecified()), port)
}

#[cfg(test)]
mod tests {
    use host::ProcessFacts;
    use server::ProviderOptions;

    use super::*;

    const UID: u32 = 65_534;

    fn at(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn only_its_own_connections_with_members_say_that_it_is_one() {
        let check = |options: &str, connections: &[(&str, &str, u32)], expected: &str| {
            let process = ProcessFacts {
                pid: 7,
                uid: UID,
                gid: UID,
                command_line: vec!["garbd".into()],
                start_ticks: 1,
            };
            let view =
                ArbitratorView { process, group: "orders".into(), options: ProviderOptions::parse(options) };
            let one = |(local, remote, uid): &(&str, &str, u32)| Connection {
                local: at(local),
                remote: at(remote),
                uid: *uid,
            };
            let ports = Ports {
                listeners: vec![at("0.0.0.0:22"), at("10.0.0.9:4567")],
                connections: connections.iter().map(one).collect(),
            };
            let nodes = [(Some("10.0.0.1".parse().expect("an address")), 4567), (None, 5567)];
            let found = match judge(&ports, &view, 4567, &nodes) {
                Linked::Yes(ends) => format!("yes {}", ends.len()),
                Linked::No => "no".into(),
                Linked::CannotTell(why) => why,
            };
            assert!(found.contains(expected), "{options} {connections:?}: {found}");
        };
        let own = "gmcast.listen_addr=tcp://10.0.0.9:4567";
        // It dials, and is dialled.
        check(own, &[("10.0.0.9:40001", "10.0.0.1:4567", UID)], "yes 1");
        check("", &[("10.0.0.9:40001", "10.0.0.1:4567", UID), ("10.0.0.9:4567", "10.0.0.7:9", UID)], "yes 2");
        check("gmcast.listen_addr=ssl://[::]:5000", &[("10.0.0.9:5000", "10.0.0.7:9", UID)], "yes 1");
        // Of a node with a name only the port is known.
        check(own, &[("10.0.0.9:40001", "10.0.0.77:5567", UID)], "yes 1");
        // Nothing, that of another user, of another member on this machine, and of another service.
        check(own, &[], "no");
        check(own, &[("10.0.0.9:40001", "10.0.0.1:4567", 0)], "no");
        check(own, &[("10.0.0.8:40001", "10.0.0.1:4567", UID)], "no");
        check(own, &[("10.0.0.9:22", "10.0.0.200:51000", UID)], "no");
        // Somebody may stand between.
        check(own, &[("10.0.0.9:40001", "192.0.2.1:14567", UID)], "no Galera port of the inventory");
    }
}
