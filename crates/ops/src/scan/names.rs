//! Which clients would take a certificate's names for this host, when they verify at all.
//!
//! Tried against servers with certificates of each shape: mysql 9.7, Connector/C 3.3 and 3.4, PyMySQL, Connector/Python,
//! native-tls of Rust, PHP's mysqlnd, Connector/J 9.5, MariaDB Connector/J 3.5, go-sql-driver 1.10, mysql2 and mariadb of
//! Node. Versions differ: `sealion prove` will show it for yours.

use std::net::IpAddr;

use trust::CertificateInfo;

/// Clients that agree with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family {
    pub name: &'static str,
    /// RFC 6125 and 9525, with or without the common name.
    pub keeps_to_rfc: bool,
    /// A common name counts where there is no subjectAltName of type DNS.
    common_name: bool,
    /// And even where there is one.
    common_name_always: bool,
    /// subjectAltName of type IP is looked at.
    ip: bool,
    /// The text of an address counts as a DNS name.
    ip_as_dns: bool,
    /// And as a common name.
    ip_as_common_name: bool,
}

const fn family(name: &'static str) -> Family {
    Family {
        name,
        keeps_to_rfc: false,
        common_name: true,
        common_name_always: false,
        ip: true,
        ip_as_dns: false,
        ip_as_common_name: false,
    }
}

pub const FAMILIES: [Family; 6] = [
    Family { keeps_to_rfc: true, ..family("libmysqlclient, Python, Rust native-tls") },
    Family { ip_as_dns: true, ip_as_common_name: true, ..family("MariaDB Connector/C, PHP mysqlnd") },
    Family { ip_as_dns: true, ip_as_common_name: true, ..family("Connector/J") },
    Family { common_name_always: true, ip_as_common_name: true, ..family("MariaDB Connector/J") },
    Family { common_name: false, keeps_to_rfc: true, ..family("Go") },
    Family { ip: false, ..family("Node") },
];

impl Family {
    /// Would it connect to `host` with this leaf, its chain being trusted?
    pub fn takes(&self, leaf: &CertificateInfo, host: &str) -> bool {
        let common = leaf.subject.split(", ").find_map(|part| part.strip_prefix("CN="));
        if let Ok(ip) = host.parse::<IpAddr>() {
            let is_text = |name: &str| name.parse::<IpAddr>() == Ok(ip);
            return (self.ip && leaf.ips.contains(&ip))
                || (self.ip_as_dns && leaf.dns.iter().any(|name| is_text(name)))
                || (self.ip_as_common_name && common.is_some_and(is_text));
        }
        let common_counts = self.common_name_always || (self.common_name && leaf.dns.is_empty());
        leaf.dns.iter().any(|name| fits(name, host))
            || (common_counts && common.is_some_and(|name| fits(name, host)))
    }
}

/// RFC 6125 6.4.3: a `*` stands for the whole leftmost label.
pub fn fits(pattern: &str, host: &str) -> bool {
    let bare = |name: &str| name.trim_end_matches('.').to_ascii_lowercase();
    let (pattern, host) = (bare(pattern), bare(host));
    match pattern.strip_prefix("*.") {
        Some(rest) => host.split_once('.').is_some_and(|(label, tail)| !label.is_empty() && tail == rest),
        None => pattern == host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(common: &str, dns: &[&str], ips: &[&str]) -> CertificateInfo {
        CertificateInfo {
            subject: format!("CN={common}"),
            issuer: "CN=ca".into(),
            serial_hex: "1".into(),
            not_before_unix: 0,
            not_after_unix: 0,
            dns: dns.iter().map(|&name| name.to_owned()).collect(),
            ips: ips.iter().map(|ip| ip.parse().expect("an address")).collect(),
            key: "EC P-256".into(),
            key_bits: 256,
            signature: String::new(),
            sha256_fingerprint: String::new(),
            key_sha256: String::new(),
            is_ca: false,
            server_auth: true,
            client_auth: true,
            self_signed: false,
        }
    }

    #[test]
    fn wildcards_stand_for_one_label() {
        for (pattern, host, expected) in [
            ("db1.example", "DB1.example.", true),
            ("*.example", "db1.example", true),
            ("*.example", "a.db1.example", false),
            ("*.example", "example", false),
            ("db*.example", "db1.example", false),
        ] {
            assert_eq!(fits(pattern, host), expected, "{pattern} {host}");
        }
    }

    /// One row per shape of certificate, one column per family, as they were tried.
    #[test]
    fn each_family_takes_what_it_took_when_it_was_tried() {
        let check = |leaf: CertificateInfo, host: &str, expected: [bool; 6]| {
            let took = FAMILIES.map(|family| family.takes(&leaf, host));
            assert_eq!(took, expected, "{} {:?} {:?} for {host}", leaf.subject, leaf.dns, leaf.ips);
        };
        let (yes, no) = (true, false);
        check(leaf("x", &["db1"], &[]), "db1", [yes; 6]);
        check(leaf("db1", &[], &[]), "db1", [yes, yes, yes, yes, no, yes]);
        check(leaf("db1", &["other"], &[]), "db1", [no, no, no, yes, no, no]);
        check(leaf("x", &["*.x.test"], &[]), "a.x.test", [yes; 6]);
        check(leaf("x", &[], &["192.0.2.1"]), "192.0.2.1", [yes, yes, yes, yes, yes, no]);
        check(leaf("x", &["192.0.2.1"], &[]), "192.0.2.1", [no, yes, yes, no, no, no]);
        check(leaf("192.0.2.1", &[], &[]), "192.0.2.1", [no, yes, yes, yes, no, no]);
        // How `trust` writes an organisation that is called "x, CN=db1".
        let shown = CertificateInfo { subject: "O=x\\2C CN=db1, CN=other".into(), ..leaf("", &[], &[]) };
        check(shown, "db1", [no; 6]);
    }
}
