//! Who listens on this machine, from the kernel's own table.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use crate::{HostError, ReadHost};

/// A row has some 150 bytes; a busy proxy has 100,000 connections.
const TABLE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Addresses that something listens on, in the network namespace of this process.
///
/// # Errors
/// The kernel does not say, or not of all.
///
/// # Source
/// proc_net_tcp.rst of the kernel: column 2 is the local address, 4 the state; 0A is LISTEN.
pub fn listeners(host: &dyn ReadHost) -> Result<Vec<SocketAddr>, HostError> {
    let mut found = Vec::new();
    for (path, may_be_absent) in [("/proc/net/tcp", false), ("/proc/net/tcp6", true)] {
        match host.read(Path::new(path), TABLE_BYTES_MAX)? {
            Some(bytes) => found.extend(String::from_utf8_lossy(&bytes).lines().filter_map(listener)),
            // A kernel without IPv6.
            None if may_be_absent => {}
            None => {
                let (what, why) =
                    ("who listens here cannot be determined".into(), format!("{path} is not there"));
                return Err(HostError::Process { what, why });
            }
        }
    }
    Ok(found)
}

fn listener(row: &str) -> Option<SocketAddr> {
    let mut columns = row.split_whitespace().skip(1);
    let (local, state) = (columns.next()?, columns.nth(1)?);
    if state != "0A" {
        return None;
    }
    let (address, port) = local.split_once(':')?;
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
    fn only_listeners_are_read_and_broken_rows_are_passed_over() {
        let check = |row: &str, expected: Option<&str>| {
            assert_eq!(listener(row).map(|at| at.to_string()).as_deref(), expected, "{row}");
        };
        check("  sl  local_address rem_address   st tx_queue", None);
        check("   0: 0100007F:0CEA 00000000:0000 0A 00000000:00000000", Some("127.0.0.1:3306"));
        check("   1: 0100007F:0CEA 0100007F:D431 01 00000000:00000000", None);
        check(
            "   2: 00000000000000000000000000000000:115C 00000000000000000000000000000000:0000 0A 0:0",
            Some("[::]:4444"),
        );
        check("   3: 0100007F:XYZ 00000000:0000 0A", None);
        check("   4: 01:0CEA 00000000:0000 0A", None);
        check("   5: \u{e9}0100007F:0CEA 00000000:0000 0A", None);
    }

    #[test]
    fn a_listener_of_this_machine_is_seen() {
        let open = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let at = open.local_addr().expect("it is bound");
        assert!(listeners(&crate::Local).expect("Linux").contains(&at));
    }
}
