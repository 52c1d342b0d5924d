//! Links on which nothing was seen because the capture cannot see them at all.

use std::collections::BTreeMap;
use std::net::{IpAddr, TcpStream};
use std::time::Duration;

use model::link::Seen;
use model::{LinkSight, Unseen};
use site::inventory::{CaptureBy, Cluster};

use super::Sniffer;

/// To see whether a server can be reached at all; on one network it is a few milliseconds.
const REACH: Duration = Duration::from_secs(1);

/// Where nothing flowed on a link because the capture cannot see it at all, that is said in place of "no packets were captured".
pub(crate) fn name_blindness(cluster: &Cluster, sights: &mut [LinkSight]) {
    let CaptureBy::Packets { iface } = &cluster.capture else { return };
    let mut known: BTreeMap<String, Option<String>> = BTreeMap::new();
    for sight in sights.iter_mut().filter(|sight| sight.payload_bytes == 0) {
        let Seen::Unknown(why) = &mut sight.seen else { continue };
        let of_link = |node: &&server::NodeSpec| {
            [&sight.link.a, &sight.link.b].iter().any(|end| **end == *node.name.as_str())
        };
        let Some(node) = cluster.nodes.iter().chain(&cluster.arbitrators).find(of_link) else { continue };
        // There the capture ran on the node's own machine.
        if !cluster.machine_of(node).is_this() {
            continue;
        }
        let blind = known
            .entry(node.name.to_string())
            .or_insert_with(|| why_unseen(iface, &node.address, port(node)));
        if let Some(blind) = blind {
            why.clone_from(blind);
            // What the server lists now says nothing of those who came and went where nobody looked.
            sight.tcp_sessions = None;
        }
    }
}

/// What a capture on `iface` would not show of the cluster, tried: one is begun and ended on each machine.
pub(super) fn unseen(cluster: &Cluster, iface: &str) -> Vec<Unseen> {
    let sniffer = match Sniffer::start(cluster) {
        Ok(sniffer) => sniffer,
        Err(error) => return vec![Unseen { subject: "this machine".into(), why: error.to_string() }],
    };
    let mut unseen = Vec::new();
    for one in sniffer.eyes {
        let nodes = one.nodes;
        if let Some(why) = one.eye.report().failed {
            unseen.extend(nodes.into_iter().map(|subject| Unseen { subject, why: why.clone() }));
        }
    }
    let members = cluster.nodes.iter().chain(&cluster.arbitrators);
    for node in members.filter(|node| cluster.machine_of(node).is_this()) {
        let why = why_unseen(iface, &node.address, port(node));
        unseen.extend(why.map(|why| Unseen { subject: node.name.to_string(), why }));
    }
    unseen
}

/// Where it can be reached at all: an arbitrator has only the port of the group.
fn port(node: &server::NodeSpec) -> u16 {
    if node.port == 0 { node.galera_port } else { node.port }
}

/// Why a capture on `iface` shows nothing of this server; `None` where it should.
fn why_unseen(iface: &str, address: &str, port: u16) -> Option<String> {
    let cannot = |why: String| Some(format!("the capture on {iface} cannot see this traffic: {why}"));
    let resolved = match net::resolve(address, port, REACH).map(|all| all.into_iter().next()) {
        Ok(Some(resolved)) => resolved,
        Ok(None) => return cannot(format!("the name {address} has no address")),
        Err(error) => return cannot(format!("the name {address} cannot be resolved here ({error})")),
    };
    let ours: Vec<_> = nix::ifaddrs::getifaddrs().map(Iterator::collect).unwrap_or_default();
    let is_loopback = |one: &&nix::ifaddrs::InterfaceAddress| {
        one.interface_name == iface && one.flags.contains(nix::net::if_::InterfaceFlags::IFF_LOOPBACK)
    };
    let is_local = resolved.ip().is_loopback()
        || ours.iter().any(|one| {
            let Some(address) = &one.address else { return false };
            let v4 = address.as_sockaddr_in().map(|v4| IpAddr::V4(v4.ip()));
            let v6 = address.as_sockaddr_in6().map(|v6| IpAddr::V6(v6.ip()));
            v4.or(v6) == Some(resolved.ip())
        });
    if !is_local && ours.iter().any(|one| is_loopback(&one)) {
        return cannot(format!(
            "{address} is another machine. Name the interface on the way to it (capture_interface in the inventory), or run this there"
        ));
    }
    match TcpStream::connect_timeout(&resolved, REACH) {
        Ok(_) => None,
        // Who refuses may be another network's loopback, as in a lab that is looked at from outside.
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => cannot(format!(
            "nothing listens on {resolved} here: the server is down, or it runs in another network (a lab's: sealion lab exec -- \
             sealion status)"
        )),
        Err(error) => cannot(format!("{resolved} cannot be reached from here ({error})")),
    }
}
