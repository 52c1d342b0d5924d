//! Who uses a server, and how: each session over TCP beside what was captured of it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use model::link::Seen;
use model::{ClientSight, ClientsLook, LinkKind, LinkSight, LookError, Transport};
use net::Client;
use server::TcpSession;
use site::inventory::Cluster;

use crate::sniff::{SniffedClients, Sniffer, name_blindness};

/// Captures for so long; writes nothing.
///
/// # Errors
/// Nothing can be captured here.
pub fn look(cluster: &Cluster, settle: Duration) -> Result<ClientsLook, LookError> {
    let sniffer = Sniffer::start(cluster)?;
    std::thread::sleep(settle);
    Ok(end(sniffer, cluster))
}

/// Ends a look, and says who was seen.
pub(crate) fn end(sniffer: Sniffer, cluster: &Cluster) -> ClientsLook {
    let drivers = drivers(cluster);
    let mut sniffed = sniffer.finish_with_sessions(cluster);
    let before: Vec<Option<u32>> = sniffed.sights.iter().map(|sight| sight.tcp_sessions).collect();
    name_blindness(cluster, &mut sniffed.sights);
    for (sight, before) in sniffed.sights.iter().zip(before) {
        if let (Seen::Unknown(why), true) = (&sight.seen, sight.tcp_sessions != before) {
            sniffed.blind.push(format!("{}: {why}", node_of(sight)));
        }
    }
    judge(&sniffed, &drivers)
}

fn node_of(sight: &LinkSight) -> &str {
    if sight.link.a == "client" { &sight.link.b } else { &sight.link.a }
}

type Drivers = BTreeMap<String, BTreeMap<u64, String>>;

/// Of each node's sessions. A server without a performance schema tells of none.
fn drivers(cluster: &Cluster) -> Drivers {
    let asked = cluster.on_each(|node| {
        let asked = Client::connect(&cluster.login_at(node)).and_then(|mut client| {
            let drivers = server::sessions::drivers(&mut client);
            let _ = client.quit();
            drivers
        });
        asked.unwrap_or_default()
    });
    cluster.nodes.iter().map(|node| node.name.to_string()).zip(asked).collect()
}

fn judge(sniffed: &SniffedClients, drivers: &Drivers) -> ClientsLook {
    let SniffedClients { sights, sessions, tls, blind } = sniffed;
    let mut look = ClientsLook { not_seen: blind.clone(), ..ClientsLook::default() };
    for sight in sights.iter().filter(|sight| sight.link.kind == LinkKind::Client) {
        let node = node_of(sight);
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
                    let name = session.to_string();
                    let is_plain = in_cleartext.iter().any(|one| **one == name);
                    in_cleartext.retain(|one| **one != name);
                    look.clients.push(ClientSight {
                        node: node.to_owned(),
                        user: Some(session.user.clone()),
                        host: session.host.clone(),
                        port: session.port,
                        driver: drivers.get(node).and_then(|all| all.get(&session.id)).cloned(),
                        transport: transport(session, is_plain, is_tls(session), sight),
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
                driver: None,
                transport: Transport::Cleartext,
            });
        }
    }
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
