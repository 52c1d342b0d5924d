//! Who uses a server, and how: each session over TCP beside what was captured of it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use model::link::Seen;
use model::{LinkKind, LinkSight, LookError};
use net::Client;
use server::TcpSession;
use site::inventory::Cluster;

use crate::sniff::{SniffedClients, Sniffer};

/// How a client talked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Transport {
    Cleartext,
    /// Neither was seen of it.
    Unknown,
    Tls,
}

/// One connection in one look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientSight {
    pub node: String,
    /// `None`: it was in no list of sessions when these were read.
    pub user: Option<String>,
    /// Address or name, without the port.
    pub host: String,
    /// In its own words, which it may choose: `_client_name`, `_client_version`, `program_name`.
    pub driver: Option<String>,
    pub transport: Transport,
}

/// What one look saw.
#[derive(Debug, Clone, Default)]
pub struct ClientsLook {
    pub clients: Vec<ClientSight>,
    /// What could not be seen, each with its reason.
    pub not_seen: Vec<String>,
}

/// Captures for so long; writes nothing.
///
/// # Errors
/// Nothing can be captured here.
pub fn look(cluster: &Cluster, settle: Duration) -> Result<ClientsLook, LookError> {
    let sniffer = Sniffer::start(cluster)?;
    std::thread::sleep(settle);
    let drivers = drivers(cluster);
    Ok(judge(&sniffer.finish_with_sessions(cluster), &drivers))
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
    let SniffedClients { sights, sessions, tls } = sniffed;
    let mut look = ClientsLook::default();
    for sight in sights.iter().filter(|sight| sight.link.kind == LinkKind::Client) {
        let node = if sight.link.a == "client" { &sight.link.b } else { &sight.link.a };
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
                        node: node.clone(),
                        user: Some(session.user.clone()),
                        host: session.host.clone(),
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
            let host = peer.rsplit_once(':').map_or(peer, |(host, _)| host).to_owned();
            let (node, transport) = (node.clone(), Transport::Cleartext);
            look.clients.push(ClientSight { node, user, host, driver: None, transport });
        }
        if let Seen::Unknown(why) = &sight.seen
            && !sight.has_no_clients()
        {
            look.not_seen.push(format!("{node}: {why}"));
        }
    }
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
