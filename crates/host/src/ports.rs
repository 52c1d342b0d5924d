//! Who listens on this machine and who is connected, from the kernel's own table.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use crate::{HostError, ReadHost};

/// A row has some 150 bytes; a busy proxy has 100,000 connections.
const TABLE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// One that both ends have agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Connection {
    pub local: SocketAddr,
    pub remote: SocketAddr,
    /// Whose process has it.
    pub uid: u32,
}

/// What the kernel has of TCP, in the network namespace of this process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ports {
    /// Addresses that something listens on.
    pub listeners: Vec<SocketAddr>,
    pub connections: Vec<Connection>,
}

/// The same, told apart by whether it is a certain process that has them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProcessPorts {
    pub own: Ports,
    pub of_others: Ports,
}

/// Addresses that something listens on, in the network namespace of this process.
///
/// # Errors
/// The kernel does not say, or not of all.
pub fn listeners(host: &dyn ReadHost) -> Result<Vec<SocketAddr>, HostError> {
    ports(host, None).map(|ports| ports.listeners)
}

/// Listeners and connections in the network namespace of this process: `of`, where another one is asked for by its number, as it may be a
/// container's.
///
/// # Errors
/// The kernel does not say, or not of all.
pub fn ports(host: &dyn ReadHost, of: Option<i32>) -> Result<Ports, HostError> {
    let mut ports = Ports::default();
    rows(host, of)?.into_iter().for_each(|row| ports.add(row.what));
    Ok(ports)
}

/// Those of process `pid` itself, and those of others beside it.
///
/// # Errors
/// Also where this user may not look at the sockets of that process.
pub fn ports_of_process(host: &dyn ReadHost, pid: i32) -> Result<ProcessPorts, HostError> {
    // Asked for before the table: a connection that is closed in between is in no row, one that is opened is nobody's for now.
    let sockets = host.sockets_of(pid)?;
    let mut ports = ProcessPorts::default();
    for row in rows(host, Some(pid))? {
        let is_own = row.inode.is_some_and(|inode| sockets.contains(&inode));
        if is_own { ports.own.add(row.what) } else { ports.of_others.add(row.what) }
    }
    Ok(ports)
}

impl Ports {
    fn add(&mut self, what: Socket) {
        match what {
            Socket::Listens(at) => self.listeners.push(at),
            Socket::Connected(connection) => self.connections.push(connection),
        }
    }
}

/// # Source
/// proc_net_tcp.rst of the kernel: columns 2 and 3 are the local and the remote address, 4 the state (0A is LISTEN, 01 ESTABLISHED), 8 the
/// uid, 10 the inode.
fn rows(host: &dyn ReadHost, of: Option<i32>) -> Result<Vec<Row>, HostError> {
    let mut rows = Vec::new();
    let dir = of.map_or_else(|| "/proc/net".to_owned(), |pid| format!("/proc/{pid}/net"));
    for (table, may_be_absent) in [("tcp", false), ("tcp6", true)] {
        let path = format!("{dir}/{table}");
        match host.read(Path::new(&path), TABLE_BYTES_MAX)? {
            Some(bytes) => rows.extend(String::from_utf8_lossy(&bytes).lines().filter_map(row)),
            // A kernel without IPv6.
            None if may_be_absent => {}
            None => {
                let (what, why) =
                    ("who listens here cannot be determined".into(), format!("{path} is not there"));
                return Err(HostError::Process { what, why });
            }
        }
    }
    Ok(rows)
}

#[derive(Debug, PartialEq, Eq)]
struct Row {
    what: Socket,
    inode: Option<u64>,
}

#[derive(Debug, PartialEq, Eq)]
enum Socket {
    Listens(SocketAddr),
    Connected(Connection),
}

fn row(row: &str) -> Option<Row> {
    let columns: Vec<&str> = row.split_whitespace().skip(1).collect();
    let local = address_of(columns.first()?)?;
    let what = match *columns.get(2)? {
        "0A" => Socket::Listens(local),
        "01" => Socket::Connected(Connection {
            local,
            remote: address_of(columns.get(1)?)?,
            uid: columns.get(6)?.parse().ok()?,
        }),
        _ => return None,
    };
    Some(Row { what, inode: columns.get(8).and_then(|inode| inode.parse().ok()) })
}

/// Addresses of the machine, as process `of` sees it, but for its loopback ones.
///
/// # Errors
/// The kernel does not say.
///
/// # Source
/// `/proc/net/fib_trie`: below `Local:`, an address of the machine itself stands in the line before `/32 host LOCAL`. `/proc/net/if_inet6`: the
/// first column is the address.
pub fn addresses(host: &dyn ReadHost, of: Option<i32>) -> Result<BTreeSet<IpAddr>, HostError> {
    let dir = of.map_or_else(|| "/proc/net".to_owned(), |pid| format!("/proc/{pid}/net"));
    let read = |table: &str| host.read(Path::new(&format!("{dir}/{table}")), TABLE_BYTES_MAX);
    let Some(trie) = read("fib_trie")? else {
        let (what, why) = ("the addresses of the machine".into(), format!("{dir}/fib_trie is not there"));
        return Err(HostError::Process { what, why });
    };
    let mut found = in_trie(&String::from_utf8_lossy(&trie));
    if let Some(table) = read("if_inet6")? {
        let first = |line: &str| line.split_whitespace().next().map(str::to_owned);
        let of_row = |text: String| u128::from_str_radix(&text, 16).ok();
        let rows = String::from_utf8_lossy(&table).lines().filter_map(first).collect::<Vec<_>>();
        found.extend(rows.into_iter().filter_map(of_row).map(|bits| IpAddr::V6(Ipv6Addr::from(bits))));
    }
    found.retain(|address| !address.is_loopback());
    Ok(found)
}

fn in_trie(text: &str) -> BTreeSet<IpAddr> {
    let mut found = BTreeSet::new();
    let mut last = None;
    for line in text.lines().map(str::trim) {
        if let Some(address) = line.strip_prefix("|-- ") {
            last = address.parse::<Ipv4Addr>().ok();
        } else if line == "/32 host LOCAL"
            && let Some(address) = last
        {
            found.insert(IpAddr::V4(address));
        }
    }
    found
}

fn address_of(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    // Each group of eight digits is one 32-bit number in this machine's byte order.
    let mut bytes = Vec::with_capacity(16);
    for at in (0..address.len()).step_by(8) {
        bytes.extend(u32::from_str_radix(address.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    }
    let address = match bytes.len() {
        4 => IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?)),
        16 => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?)),
        _ => return None,
    };
    Some(SocketAddr::new(address.to_canonical(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listeners_and_connections_are_told_apart_and_broken_rows_are_passed_over() {
        let check = |text: &str, expected: Option<&str>| {
            let found = row(text).map(|row| match row.what {
                Socket::Listens(at) => at.to_string(),
                Socket::Connected(Connection { local, remote, uid }) => {
                    format!("{local} {remote} {uid} {:?}", row.inode)
                }
            });
            assert_eq!(found.as_deref(), expected, "{text}");
        };
        check("  sl  local_address rem_address   st tx_queue", None);
        check("   0: 0100007F:0CEA 00000000:0000 0A 00000000:00000000", Some("127.0.0.1:3306"));
        check("   1: 0100007F:0CEA 0100007F:D431 01 00000000:00000000", None);
        check(
            "   1: 0100007F:D431 0100007F:0CEA 01 00000000:00000000 00:00000000 00000000 65534        0 71 1",
            Some("127.0.0.1:54321 127.0.0.1:3306 65534 Some(71)"),
        );
        // It is on its way up or down.
        check("   1: 0100007F:D431 0100007F:0CEA 06 00000000:00000000 00:00000000 00000000 0 0 71", None);
        check(
            "   2: 00000000000000000000000000000000:115C 00000000000000000000000000000000:0000 0A 0:0",
            Some("[::]:4444"),
        );
        check("   3: 0100007F:XYZ 00000000:0000 0A", None);
        check("   4: 01:0CEA 00000000:0000 0A", None);
        check("   5: \u{e9}0100007F:0CEA 00000000:0000 0A", None);
    }

    #[test]
    fn a_listener_of_this_machine_is_seen_and_who_is_connected_to_it() {
        let open = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let at = open.local_addr().expect("it is bound");
        let client = std::net::TcpStream::connect(at).expect("it listens");
        let local = client.local_addr().expect("it is bound");
        let own = i32::try_from(std::process::id()).expect("a pid");
        assert!(listeners(&crate::Local).expect("Linux").contains(&at));
        let seen = ports(&crate::Local, Some(own)).expect("Linux");
        assert!(seen.listeners.contains(&at));
        let uid = nix::unistd::geteuid().as_raw();
        assert!(seen.connections.contains(&Connection { local, remote: at, uid }), "{local} {at} {uid}");
    }

    #[test]
    fn sockets_of_a_process_are_told_from_those_of_others() {
        let open = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let at = open.local_addr().expect("it is bound");
        let _client = std::net::TcpStream::connect(at).expect("it listens");
        let mut other = std::process::Command::new("sleep").arg("30").spawn().expect("sleep");
        let pid = |id: u32| i32::try_from(id).expect("a pid");
        let own = ports_of_process(&crate::Local, pid(std::process::id())).expect("Linux");
        assert!(own.own.listeners.contains(&at) && !own.of_others.listeners.contains(&at));
        assert!(own.own.connections.iter().any(|one| one.remote == at));
        let others = ports_of_process(&crate::Local, pid(other.id())).expect("a child of this user");
        assert_eq!(others.own, Ports::default());
        assert!(others.of_others.listeners.contains(&at));
        other.kill().and_then(|()| other.wait()).expect("ours");
        assert!(ports_of_process(&crate::Local, pid(other.id())).is_err(), "it has ended");
    }

    #[test]
    fn addresses_of_a_machine_are_those_that_are_its_own() {
        let trie = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 10.0.0.0\n        /24 link UNICAST\nLocal:\n  |-- 10.0.0.7\n     /32 host LOCAL\n  \
                    |-- 10.0.0.255\n     /32 link BROADCAST\n  |-- 127.0.0.1\n     /32 host LOCAL\n";
        let found: Vec<String> = in_trie(trie).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["10.0.0.7", "127.0.0.1"]);
        let own = addresses(&crate::Local, None).expect("Linux");
        assert!(own.iter().all(|address| !address.is_loopback()), "{own:?}");
    }
}
