//! Who listens on this machine and who is connected, from the kernel's own table.

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
///
/// # Source
/// proc_net_tcp.rst of the kernel: columns 2 and 3 are the local and the remote address, 4 the state (0A is LISTEN, 01 ESTABLISHED), 8 the
/// uid.
pub fn ports(host: &dyn ReadHost, of: Option<i32>) -> Result<Ports, HostError> {
    let mut ports = Ports::default();
    let dir = of.map_or_else(|| "/proc/net".to_owned(), |pid| format!("/proc/{pid}/net"));
    for (table, may_be_absent) in [("tcp", false), ("tcp6", true)] {
        let path = format!("{dir}/{table}");
        match host.read(Path::new(&path), TABLE_BYTES_MAX)? {
            Some(bytes) => {
                for row in String::from_utf8_lossy(&bytes).lines().filter_map(row) {
                    match row {
                        Row::Listens(at) => ports.listeners.push(at),
                        Row::Is(connection) => ports.connections.push(connection),
                    }
                }
            }
            // A kernel without IPv6.
            None if may_be_absent => {}
            None => {
                let (what, why) =
                    ("who listens here cannot be determined".into(), format!("{path} is not there"));
                return Err(HostError::Process { what, why });
            }
        }
    }
    Ok(ports)
}

#[derive(Debug, PartialEq, Eq)]
enum Row {
    Listens(SocketAddr),
    Is(Connection),
}

fn row(row: &str) -> Option<Row> {
    let mut columns = row.split_whitespace().skip(1);
    let (local, remote, state) = (columns.next()?, columns.next()?, columns.next()?);
    match state {
        "0A" => address_of(local).map(Row::Listens),
        "01" => Some(Row::Is(Connection {
            local: address_of(local)?,
            remote: address_of(remote)?,
            uid: columns.nth(3)?.parse().ok()?,
        })),
        _ => None,
    }
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
            let found = row(text).map(|row| match row {
                Row::Listens(at) => at.to_string(),
                Row::Is(Connection { local, remote, uid }) => format!("{local} {remote} {uid}"),
            });
            assert_eq!(found.as_deref(), expected, "{text}");
        };
        check("  sl  local_address rem_address   st tx_queue", None);
        check("   0: 0100007F:0CEA 00000000:0000 0A 00000000:00000000", Some("127.0.0.1:3306"));
        check("   1: 0100007F:0CEA 0100007F:D431 01 00000000:00000000", None);
        check(
            "   1: 0100007F:D431 0100007F:0CEA 01 00000000:00000000 00:00000000 00000000 65534        0 71 1",
            Some("127.0.0.1:54321 127.0.0.1:3306 65534"),
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
}
