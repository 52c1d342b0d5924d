//! Whether a garbd that runs is one of those that the nodes count. A node tells how many members there are and not which: what tells one
//! garbd from another are the connections of its own process, as its machine has them.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use host::ports::{Connection, ports, ports_of_process};
use host::{HostError, ProcessFacts, ReadHost};
use model::NodeName;
use server::ArbitratorView;

use crate::world::World;

const GALERA_PORT: u16 = 4567;
const PROGRAM: &str = "garbd";

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
    let (own_ip, own_port) = listens(&view, port);
    let host = arbitrator.host();
    let may_be_its = ports_of_process(host, view.process.pid).map(|ports| ports.own.connections);
    match may_be_its.or_else(|error| of_its_user(host, &view, (own_ip, own_port), &error)) {
        Ok(connections) => judge(&connections, own_port, &nodes),
        Err(why) => Linked::CannotTell(why),
    }
}

/// Where the sockets of its process cannot be looked at: those of its user, unless another garbd of the same user runs beside it.
fn of_its_user(
    host: &dyn ReadHost,
    view: &ArbitratorView,
    (own_ip, own_port): (Option<IpAddr>, u16),
    why_not: &HostError,
) -> Result<Vec<Connection>, String> {
    let beside = host.programs(&[PROGRAM]).map_err(|error| error.to_string())?;
    let is_other = |one: &&ProcessFacts| one.uid == view.process.uid && one.pid != view.process.pid;
    if let Some(other) = beside.found.iter().find(is_other) {
        return Err(format!(
            "its sockets cannot be told from those of another garbd of the same user (process {}): {why_not}",
            other.pid
        ));
    }
    let ports = ports(host, Some(view.process.pid)).map_err(|error| error.to_string())?;
    let is_another_service = |local: SocketAddr| {
        local.port() != own_port
            && ports
                .listeners
                .iter()
                .any(|at| at.port() == local.port() && (at.ip().is_unspecified() || at.ip() == local.ip()))
    };
    // It dials from the address that it listens on.
    let may_be_its = |one: &&Connection| {
        one.uid == view.process.uid
            && own_ip.is_none_or(|ip| ip == one.local.ip())
            && !is_another_service(one.local)
    };
    Ok(ports.connections.iter().filter(may_be_its).copied().collect())
}

fn judge(may_be_its: &[Connection], own_port: u16, nodes: &[(Option<IpAddr>, u16)]) -> Linked {
    let is_node = |remote: SocketAddr| {
        nodes.iter().any(|(ip, port)| *port == remote.port() && ip.is_none_or(|ip| ip == remote.ip()))
    };
    let (with_members, others): (Vec<&Connection>, Vec<&Connection>) =
        may_be_its.iter().partition(|one| one.local.port() == own_port || is_node(one.remote));
    if !with_members.is_empty() {
        return Linked::Yes(with_members.into_iter().map(|one| (one.local, one.remote)).collect());
    }
    match others.first() {
        None => Linked::No,
        // Behind a translation of addresses it reaches the nodes under others.
        Some(one) => Linked::CannotTell(format!(
            "it may be connected to {}, which is no Galera port of the inventory",
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
    use super::*;

    fn at(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn only_its_own_connections_with_members_say_that_it_is_one() {
        let check = |own_port: u16, connections: &[(&str, &str)], expected: &str| {
            let one =
                |(local, remote): &(&str, &str)| Connection { local: at(local), remote: at(remote), uid: 9 };
            let connections: Vec<Connection> = connections.iter().map(one).collect();
            let nodes = [(Some("10.0.0.1".parse().expect("an address")), 4567), (None, 5567)];
            let found = match judge(&connections, own_port, &nodes) {
                Linked::Yes(ends) => format!("yes {}", ends.len()),
                Linked::No => "no".into(),
                Linked::CannotTell(why) => why,
            };
            assert!(found.contains(expected), "{connections:?}: {found}");
        };
        // It dials, and is dialled.
        check(4567, &[("10.0.0.9:40001", "10.0.0.1:4567")], "yes 1");
        check(4567, &[("10.0.0.9:40001", "10.0.0.1:4567"), ("10.0.0.9:4567", "10.0.0.7:9")], "yes 2");
        check(5000, &[("10.0.0.9:5000", "10.0.0.7:9")], "yes 1");
        // Of a node with a name only the port is known.
        check(4567, &[("10.0.0.9:40001", "10.0.0.77:5567")], "yes 1");
        check(4567, &[], "no");
        // Somebody may stand between.
        check(4567, &[("10.0.0.9:40001", "192.0.2.1:14567")], "no Galera port of the inventory");
    }

    #[test]
    fn where_it_listens_is_in_its_options() {
        let check = |options: &str, expected: (Option<&str>, u16)| {
            let process =
                ProcessFacts { pid: 7, uid: 9, gid: 9, command_line: vec!["garbd".into()], start_ticks: 1 };
            let options = server::ProviderOptions::parse(options);
            let view = ArbitratorView { process, group: "orders".into(), options };
            let expected_ip = expected.0.map(|ip| ip.parse().expect("an address"));
            assert_eq!(listens(&view, 4567), (expected_ip, expected.1));
        };
        check("", (None, 4567));
        check("gmcast.listen_addr=tcp://10.0.0.9:4567", (Some("10.0.0.9"), 4567));
        check("gmcast.listen_addr=ssl://[::]:5000", (None, 5000));
    }
}
