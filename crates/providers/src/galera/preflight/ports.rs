//! Nobody else listens where a joining node must: IST (after a restart) and SST (when IST cannot cover it).

use std::net::{IpAddr, SocketAddr};

use host::ports::listeners;
use model::Verb;
use server::{GaleraFacts, NodeView};

use super::{Problem, Seen, problem, unreadable_options};
use crate::world::World;

/// Source: MariaDB manual, wsrep_sst_receive_address.
pub const SST_PORT: u16 = 4444;

pub fn check(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    if seen.change.verb == Verb::Rotate {
        return problems; // Nothing is restarted.
    }
    for (name, view) in seen.up() {
        let Ok(node) = world.node(name) else { continue };
        let spec = node.spec().clone();
        // A transfer that is under way has its listener open; `members` says then that the node is not Synced.
        let open = match listeners(node.host()) {
            Ok(open) => open,
            Err(error) => {
                problems.push(problem(
                    name,
                    "whether the ports are free that it listens on when it joins again cannot be determined",
                    error.to_string(),
                    "run sealion where /proc of the node's machine can be read, then plan again",
                ));
                continue;
            }
        };
        let sst = match node.effective_sst() {
            Ok(sst) => sst,
            Err(error) => {
                problems.push(unreadable_options(name, &error));
                continue;
            }
        };
        let sst_bind = sst.effective("sockopt").and_then(|setting| bind_of(setting.value.as_deref()?));
        let places = [
            ("IST", ist_place(view, spec.galera_port + 1), &spec.address),
            ("SST", (sst_bind, sst_port(view)), &spec.address),
        ];
        for (what, (ip, port), address) in places {
            let ip = ip.or_else(|| address.parse().ok());
            let taken = open.iter().find(|at| {
                at.port() == port && (at.ip().is_unspecified() || ip.is_none_or(|ip| ip == at.ip()))
            });
            if let Some(at) = taken {
                problems.push(problem(
                    name,
                    format!("port in use: {at}, where {what} must listen when this node joins again"),
                    "something listens there now, and the node is Synced, so it is not a transfer to this node",
                    format!("see who: ss -ltnp 'sport = :{port}'; end it or give it another port, then plan again"),
                ));
            }
        }
    }
    problems
}

/// Where the IST receiver binds: `ist.recv_bind`, else `ist.recv_addr`, else the node's address.
fn ist_place(view: &NodeView, port: u16) -> (Option<IpAddr>, u16) {
    let options = view.provider_options();
    let text = options.get("ist.recv_bind").or_else(|| options.get("ist.recv_addr")).unwrap_or("");
    address_and_port(text, port)
}

fn sst_port(view: &NodeView) -> u16 {
    address_and_port(view.variable("wsrep_sst_receive_address").unwrap_or(""), SST_PORT).1
}

/// `tcp://10.0.0.1:4568`, `10.0.0.1:4568` or `10.0.0.1`.
fn address_and_port(text: &str, port: u16) -> (Option<IpAddr>, u16) {
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    if let Ok(both) = text.parse::<SocketAddr>() {
        return (Some(both.ip()), both.port());
    }
    let ip = text.trim_matches(['[', ']']).parse().ok();
    (
        ip,
        text.rsplit_once(':')
            .filter(|_| ip.is_none())
            .and_then(|(_, port)| port.parse().ok())
            .unwrap_or(port),
    )
}

/// `bind=` of socat's options.
fn bind_of(sockopt: &str) -> Option<IpAddr> {
    sockopt.split(',').find_map(|word| word.trim().strip_prefix("bind=")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_galera_writes_them() {
        let check = |text: &str, ip: Option<&str>, port: u16| {
            let expected = (ip.map(|ip| ip.parse().expect("an address")), port);
            assert_eq!(address_and_port(text, 4568), expected, "{text}");
        };
        check("", None, 4568);
        check("10.0.0.1", Some("10.0.0.1"), 4568);
        check("tcp://10.0.0.1:5568", Some("10.0.0.1"), 5568);
        check("ssl://[fd00::1]:5568", Some("fd00::1"), 5568);
        check("db1.example:5568", None, 5568);
        check("AUTO", None, 4568);
        assert_eq!(bind_of(",bind=127.0.0.9,retry=3"), Some("127.0.0.9".parse().expect("an address")));
        assert_eq!(bind_of("retry=3"), None);
    }
}
