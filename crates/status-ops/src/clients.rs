//! Who uses a server, and how: each session over TCP beside what was captured of it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use model::link::Seen;
use model::{ClientSight, ClientsLook, LinkKind, LinkSight, LookError, Transport};
use net::Client;
use server::TcpSession;
use site::inventory::Cluster;

use crate::sniff::{SniffedClients, Sniffer, name_blindness};

/// How often clients are asked for while a capture runs: one that connects and goes is met sooner or later. Not more often: a server locks its
/// list of sessions to read it.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// Captures for so long; writes nothing.
///
/// # Errors
/// Nothing can be captured here.
pub fn look(cluster: &Cluster, settle: Duration) -> Result<ClientsLook, LookError> {
    let sniffer = Sniffer::start(cluster)?;
    let drivers = drivers(cluster, settle);
    Ok(end(sniffer, cluster, &drivers))
}

/// Ends a look, and says who was seen.
pub(crate) fn end(sniffer: Sniffer, cluster: &Cluster, drivers: &Drivers) -> ClientsLook {
    let mut sniffed = sniffer.finish_with_sessions(cluster);
    let before: Vec<Option<u32>> = sniffed.sights.iter().map(|sight| sight.tcp_sessions).collect();
    name_blindness(cluster, &mut sniffed.sights);
    for (sight, before) in sniffed.sights.iter().zip(before) {
        if let (Seen::Unknown(why), true) = (&sight.seen, sight.tcp_sessions != before) {
            sniffed.blind.push(format!("{}: {why}", node_of(sight)));
        }
    }
    judge(&sniffed, drivers)
}

fn node_of(sight: &LinkSight) -> &str {
    if sight.link.a == "client" { &sight.link.b } else { &sight.link.a }
}

/// By the node's name and the client's end.
pub(crate) type Drivers = BTreeMap<String, BTreeMap<String, String>>;

/// What clients call themselves, asked for as long as this takes. A server without a performance schema tells of none.
pub(crate) fn drivers(cluster: &Cluster, time: Duration) -> Drivers {
    let until = Instant::now() + time;
    let asked = cluster.on_each(|node| {
        let mut all = BTreeMap::new();
        if let Ok(mut client) = Client::connect(&cluster.login_at(node)) {
            while let Ok(some) = server::sessions::drivers(&mut client) {
                all.extend(some);
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                std::thread::sleep(left.min(ASK_EVERY));
            }
            let _ = client.quit();
        }
        all
    });
    std::thread::sleep(until.saturating_duration_since(Instant::now()));
    let mut found = Drivers::new();
    for (node, all) in cluster.nodes.iter().zip(asked) {
        found.insert(node.name.to_string(), all);
    }
    found
}

fn judge(sniffed: &SniffedClients, listed: &Drivers) -> ClientsLook {
    let SniffedClients { sights, sessions, tls, drivers, handshakes, blind } = sniffed;
    let mut unclaimed = handshakes.clone();
    let mut look = ClientsLook { not_seen: blind.clone(), ..ClientsLook::default() };
    for sight in sights.iter().filter(|sight| sight.link.kind == LinkKind::Client) {
        let node = node_of(sight);
        // A server without a performance schema lists none; what is sent in cleartext can be read on the way.
        let driver = |end: &str| {
            let of_list = listed.get(node).and_then(|all| all.get(end));
            of_list.or_else(|| drivers.get(&(node.to_owned(), end.to_owned()))).cloned()
        };
        let mut in_cleartext: Vec<&String> = sight.cleartext_clients.iter().collect();
        match sessions.get(node) {
            Some(Ok(known)) => {
                let is_tls = |session: &TcpSession| {
                    let is_it = |peer: &SocketAddr| {
                        peer.port() == session.port && session.peer().is_none_or(|one| one == *peer)
                    };
                    tls.iter().any(|(of, peer)| of == node && is_it(peer))
                };
                for session in &known.list {
                    let is_it = |(of, peer): &(String, SocketAddr)| {
                        of == node
                            && peer.port() == session.port
                            && session.peer().is_none_or(|one| one == *peer)
                    };
                    let captured = unclaimed.keys().find(|key| is_it(key)).cloned();
                    let captured = captured.and_then(|key| unclaimed.remove(&key));
                    let name = session.to_string();
                    let is_plain = in_cleartext.iter().any(|one| **one == name);
                    in_cleartext.retain(|one| **one != name);
                    look.clients.push(ClientSight {
                        node: node.to_owned(),
                        user: Some(session.user.clone()),
                        host: session.host.clone(),
                        port: session.port,
                        driver: driver(&session.end()),
                        transport: transport(session, is_plain, is_tls(session), sight),
                        handshake: session.handshake.clone().or(captured),
                    });
                }
                look.not_seen.extend(known.is_partial.iter().map(|why| format!("{node}: {why}")));
            }
            Some(Err(why)) => look.not_seen.push(format!("{node}: its sessions: {why}")),
            None => look.not_seen.push(format!("{node}: its sessions were not asked for")),
        }
        // They were gone when the sessions were read.
        for client in in_cleartext {
            let (user, peer) = client
                .rsplit_once('@')
                .map_or((None, client.as_str()), |(user, peer)| (Some(user.to_owned()), peer));
            let (host, port) = peer.rsplit_once(':').unwrap_or((peer, ""));
            look.clients.push(ClientSight {
                node: node.to_owned(),
                user,
                host: host.to_owned(),
                port: port.parse().unwrap_or(0),
                driver: driver(peer),
                transport: Transport::Cleartext,
                handshake: None,
            });
        }
    }
    look.gone.extend(unclaimed.into_iter().map(|((node, peer), handshake)| ClientSight {
        driver: listed.get(&node).and_then(|all| all.get(&peer.to_string())).cloned(),
        node,
        user: None,
        host: peer.ip().to_string(),
        port: peer.port(),
        transport: Transport::Tls,
        handshake: Some(handshake),
    }));
    look.not_seen.sort();
    look.not_seen.dedup();
    look
}

fn transport(session: &TcpSession, is_plain: bool, is_tls: bool, sight: &LinkSight) -> Transport {
    match session.is_tls {
        _ if is_plain => Transport::Cleartext,
        Some(false) => Transport::Cleartext,
        // All of the link was: every session of it was captured.
        _ if sight.seen == Seen::Sealed => Transport::Tls,
        Some(true) => Transport::Tls,
        None if is_tls => Transport::Tls,
        None => Transport::Unknown,
    }
}
