//! Where to look: names, addresses and ports as people write them.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// A port where something that speaks MySQL, or for it, usually listens.
///
/// Sources: the manuals of MySQL (`port`, `mysqlx_port`, `admin_port`, Group Replication's `local_address`), MariaDB and
/// Galera; IANA's register for 3306, 33060 and 1186.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Port {
    Mysql,
    Admin,
    XProtocol,
    Galera,
    Ist,
    Sst,
    GroupReplication,
    NdbManagement,
    /// Not a port that we know the use of: its first bytes tell.
    Other,
}

impl Port {
    /// What is tried when only a host is named.
    pub const USUAL: [(u16, Self); 8] = [
        (3306, Self::Mysql),
        (33060, Self::XProtocol),
        (33062, Self::Admin),
        (33061, Self::GroupReplication),
        (4567, Self::Galera),
        (4568, Self::Ist),
        (4444, Self::Sst),
        (1186, Self::NdbManagement),
    ];

    pub fn usual(port: u16) -> Self {
        Self::USUAL.iter().find(|(number, _)| *number == port).map_or(Self::Other, |(_, kind)| *kind)
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mysql => "MySQL",
            Self::Admin => "MySQL admin",
            Self::XProtocol => "X Protocol",
            Self::Galera => "Galera",
            Self::Ist => "Galera IST",
            Self::Sst => "Galera SST",
            Self::GroupReplication => "Group Replication",
            Self::NdbManagement => "NDB management",
            Self::Other => "unknown",
        })
    }
}

/// The header that a load balancer puts in front of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyVersion {
    V1,
    V2,
}

impl ProxyVersion {
    pub const fn word(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V2 => "v2",
        }
    }

    pub fn of_word(word: &str) -> Option<Self> {
        [Self::V1, Self::V2].into_iter().find(|version| version.word() == word)
    }
}

/// One place to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// As it was named: goes into SNI, and certificates are compared with it.
    pub host: String,
    pub address: SocketAddr,
    pub port: Port,
    /// Whether somebody named this port, or it is one of the usual ones of a host.
    pub is_named: bool,
    /// Connections that may be made to it, beside what the depth allows: a server may be close to blocking us.
    pub connections_max: u32,
    /// Sent before everything, with our own address in it.
    pub proxy: Option<ProxyVersion>,
    /// For whom it is asked, where one engine asks for several: theirs to number.
    pub asker: usize,
}

impl Target {
    pub fn new(host: impl Into<String>, ip: IpAddr, port: u16, is_named: bool) -> Self {
        Self {
            host: host.into(),
            address: SocketAddr::new(ip, port),
            port: Port::usual(port),
            is_named,
            connections_max: u32::MAX,
            proxy: None,
            asker: 0,
        }
    }

    /// The name for SNI; an address has none (RFC 6066 3).
    pub fn server_name(&self) -> Option<&str> {
        (self.host.parse::<IpAddr>().is_err() && !self.host.is_empty()).then_some(self.host.as_str())
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.parse::<IpAddr>() {
            Ok(_) => write!(f, "{}", self.address),
            Err(_) => write!(f, "{}:{}", self.host, self.address.port()),
        }
    }
}

/// IPv4 within IPv6 is the IPv4 address: one server must not be two.
fn canonical(host: &str) -> String {
    host.parse::<IpAddr>().map_or_else(|_| host.to_owned(), |ip| ip.to_canonical().to_string())
}

/// A host, and a port if one was given: `db1`, `db1:3307`, `10.0.0.1`, `[fd00::1]:3306`, `fd00::1`.
///
/// # Errors
/// What is wrong with the text.
pub fn host_and_port(text: &str) -> Result<(String, Option<u16>), String> {
    let text = text.trim();
    let port = |digits: &str| match digits.parse::<u16>() {
        // Rust's numbers may have a sign.
        Ok(port) if port > 0 && digits.bytes().all(|byte| byte.is_ascii_digit()) => Ok(port),
        _ => Err(format!("\"{digits}\" is no port (1 to 65535)")),
    };
    if text.contains('%') {
        return Err(format!("\"{text}\" has a zone, and link-local addresses are not scanned"));
    }
    if let Some(rest) = text.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or("an address in [ has no ]")?;
        host.parse::<std::net::Ipv6Addr>().map_err(|_| format!("\"{host}\" is no IPv6 address"))?;
        return match rest.strip_prefix(':') {
            Some(digits) => Ok((canonical(host), Some(port(digits)?))),
            None if rest.is_empty() => Ok((canonical(host), None)),
            None => Err(format!("\"{rest}\" after ] is no port")),
        };
    }
    if text.parse::<IpAddr>().is_ok() {
        return Ok((canonical(text), None));
    }
    let (host, number) = match text.rsplit_once(':') {
        Some((host, digits)) => (host, Some(port(digits)?)),
        None => (text, None),
    };
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    if let (true, Some(number)) = (host.parse::<std::net::Ipv6Addr>().is_ok(), number) {
        return Err(format!("\"{text}\" is no address; with a port it is [{host}]:{number}"));
    }
    if host.is_empty() || host.len() > 253 || !host.chars().all(is_name) {
        return Err(format!("\"{host}\" is no host name or address"));
    }
    Ok((host.to_owned(), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_ports_are_read_as_people_write_them() {
        let check = |text: &str, expected: Option<(&str, Option<u16>)>| {
            let read = host_and_port(text).ok();
            assert_eq!(read, expected.map(|(host, port)| (host.to_owned(), port)), "{text}");
        };
        check("db1", Some(("db1", None)));
        check("db1.example:3307", Some(("db1.example", Some(3307))));
        check("10.0.0.1", Some(("10.0.0.1", None)));
        check("10.0.0.1:3306", Some(("10.0.0.1", Some(3306))));
        check("fd00::1", Some(("fd00::1", None)));
        check("[fd00::1]:3306", Some(("fd00::1", Some(3306))));
        check("[fd00::1]", Some(("fd00::1", None)));
        for bad in ["db1:+3306", "[::1]:+3306", "::1:27800", "fe80::1%lo", "[fe80::1%lo]:3306"] {
            check(bad, None);
        }
        let said = host_and_port("::1:27800").expect_err("five digits are no group");
        assert!(said.contains("[::1]:27800"), "{said}");
        check("[::ffff:10.0.0.1]:3306", Some(("10.0.0.1", Some(3306))));
        check("::ffff:10.0.0.1", Some(("10.0.0.1", None)));
        for bad in ["", ":3306", "db1:", "db1:0", "db1:70000", "[db1]:3306", "[fd00::1", "a b", "10.0.0.0/8"]
        {
            check(bad, None);
        }
    }
}
