//! Which clients would take a certificate's names for this host, when they verify at all.
//!
//! Tried against servers with certificates of each shape: mysql 9.7, Connector/C 3.3 and 3.4, PyMySQL, Connector/Python,
//! native-tls of Rust, PHP's mysqlnd, Connector/J 9.5, MariaDB Connector/J 3.5, go-sql-driver 1.10, mysql2 and mariadb of
//! Node. Versions differ: `sealion prove` will show it for yours.
//!
//! Wildcards that are a part of a label (`db*`, `*1`, `d*1`) were tried with all of them but PHP and native-tls, by
//! `sealion prove clients` with such certificates; these two are told by their sources (`php_openssl_matches_wildcard_name`;
//! `X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS`).

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
    /// For an address the certificate is compared with this name, whatever the address is.
    pub name_for_addresses: Option<&'static str>,
    wildcards: Wildcards,
}

/// What a `*` in a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wildcards {
    /// The whole leftmost label (RFC 9525).
    Label,
    /// The same, where two labels follow (OpenSSL, with partial wildcards forbidden).
    LabelOfThree,
    /// Of three labels or more: the whole leftmost one, its beginning or its end (OpenSSL as it is by default).
    Edge,
    /// Of three labels or more: any part of the leftmost one.
    PartOfThree,
    /// Any part of the leftmost one.
    Part,
    /// Any part of any of them.
    PartOfAny,
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
        name_for_addresses: None,
        wildcards: Wildcards::Label,
    }
}

pub const FAMILIES: [Family; 8] = [
    Family { keeps_to_rfc: true, wildcards: Wildcards::Edge, ..family("libmysqlclient") },
    Family { keeps_to_rfc: true, wildcards: Wildcards::LabelOfThree, ..family("Python, Rust native-tls") },
    Family {
        ip_as_dns: true,
        ip_as_common_name: true,
        wildcards: Wildcards::Edge,
        ..family("MariaDB Connector/C")
    },
    Family { ip_as_dns: true, ip_as_common_name: true, wildcards: Wildcards::Part, ..family("PHP mysqlnd") },
    Family { ip_as_dns: true, ip_as_common_name: true, wildcards: Wildcards::Part, ..family("Connector/J") },
    Family {
        common_name_always: true,
        ip_as_common_name: true,
        wildcards: Wildcards::PartOfAny,
        ..family("MariaDB Connector/J")
    },
    Family { common_name: false, keeps_to_rfc: true, ..family("Go") },
    // They hand no name to TLS where the host is an address, and Node then takes "localhost" for it.
    Family {
        ip: false,
        name_for_addresses: Some("localhost"),
        wildcards: Wildcards::PartOfThree,
        ..family("Node")
    },
];

impl Family {
    /// Would it connect to `host` with this leaf, its chain being trusted?
    pub fn takes(&self, leaf: &CertificateInfo, host: &str) -> bool {
        let common = leaf.subject.split(", ").find_map(|part| part.strip_prefix("CN="));
        if let Ok(ip) = host.parse::<IpAddr>() {
            if let Some(name) = self.name_for_addresses {
                return self.takes_name(leaf, name);
            }
            let is_text = |name: &str| name.parse::<IpAddr>() == Ok(ip);
            return (self.ip && leaf.ips.contains(&ip))
                || (self.ip_as_dns && leaf.dns.iter().any(|name| is_text(name)))
                || (self.ip_as_common_name && common.is_some_and(is_text));
        }
        self.takes_name(leaf, host)
    }

    fn takes_name(&self, leaf: &CertificateInfo, host: &str) -> bool {
        let common = leaf.subject.split(", ").find_map(|part| part.strip_prefix("CN="));
        let common_counts = self.common_name_always || (self.common_name && leaf.dns.is_empty());
        leaf.dns.iter().any(|name| self.fits(name, host))
            || (common_counts && common.is_some_and(|name| self.fits(name, host)))
    }

    fn fits(&self, pattern: &str, host: &str) -> bool {
        let bare = |name: &str| name.trim_end_matches('.').to_ascii_lowercase();
        let (pattern, host) = (bare(pattern), bare(host));
        if !pattern.contains('*') {
            return pattern == host;
        }
        let (patterns, labels): (Vec<&str>, Vec<&str>) =
            (pattern.split('.').collect(), host.split('.').collect());
        if patterns.len() != labels.len() {
            return false;
        }
        let of_three =
            matches!(self.wildcards, Wildcards::LabelOfThree | Wildcards::Edge | Wildcards::PartOfThree);
        if of_three && patterns.len() < 3 {
            return false;
        }
        let mut pairs = patterns.iter().zip(&labels);
        let Some((first, label)) = pairs.next() else { return false };
        let rest = |(pattern, label): (&&str, &&str)| match self.wildcards {
            Wildcards::PartOfAny => part_fits(pattern, label),
            _ => pattern == label,
        };
        let is_internationalized = label.starts_with("xn--") || first.contains("xn--");
        let first_fits = match self.wildcards {
            _ if !first.contains('*') => first == label,
            _ if *first == "*" => !label.is_empty(),
            Wildcards::Label | Wildcards::LabelOfThree => false,
            Wildcards::Edge => {
                !is_internationalized
                    && (first.starts_with('*') || first.ends_with('*'))
                    && part_fits(first, label)
            }
            Wildcards::PartOfThree => !first.contains("xn--") && part_fits(first, label),
            Wildcards::Part | Wildcards::PartOfAny => part_fits(first, label),
        };
        first_fits && pairs.all(rest)
    }
}

/// One `*` in a label stands for any text, also for none.
fn part_fits(pattern: &str, label: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == label,
        Some((before, after)) => {
            !after.contains('*')
                && label.len() >= before.len() + after.len()
                && label.starts_with(before)
                && label.ends_with(after)
        }
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
    fn each_family_takes_the_wildcards_that_it_took_when_it_was_tried() {
        let check = |pattern: &str, host: &str, expected: &[&str]| {
            let leaf = leaf("x", &[pattern], &[]);
            let took: Vec<&str> = FAMILIES
                .iter()
                .filter(|family| family.takes(&leaf, host))
                .map(|family| family.name)
                .collect();
            assert_eq!(took, expected, "{pattern} {host}");
        };
        let all = FAMILIES.map(|family| family.name);
        let [mysql, python, mariadb, php, j, mariadb_j, go, node] = all;
        check("db1.example", "DB1.example.", &all);
        check("*.x.test", "db1.x.test", &all);
        check("*.x.test", "a.db1.x.test", &[]);
        check("*.x.test", "x.test", &[]);
        check("db*.x.test", "db1.x.test", &[mysql, mariadb, php, j, mariadb_j, node]);
        check("*1.x.test", "db1.x.test", &[mysql, mariadb, php, j, mariadb_j, node]);
        check("d*1.x.test", "db1.x.test", &[php, j, mariadb_j, node]);
        check("db1.*.test", "db1.x.test", &[mariadb_j]);
        check("db*.x.test", "web.x.test", &[]);
        // OpenSSL and Node want two labels behind a wildcard.
        check("*.example", "db1.example", &[php, j, mariadb_j, go]);
        assert!(!all.contains(&"") && python.contains("Python"));
    }

    #[test]
    fn a_certificate_for_localhost_opens_drivers_of_node_at_every_address() {
        let node = FAMILIES.iter().find(|family| family.name == "Node").expect("it is there");
        for (names, takes) in [(&["localhost"][..], true), (&["db1"], false), (&["x", "localhost"], true)] {
            for host in ["192.0.2.1", "127.0.0.1", "2001:db8::1"] {
                assert_eq!(node.takes(&leaf("x", names, &[host]), host), takes, "{names:?} {host}");
            }
        }
        assert!(node.takes(&leaf("localhost", &[], &[]), "192.0.2.1"));
    }

    /// One row per shape of certificate, one column per family, as they were tried.
    #[test]
    fn each_family_takes_what_it_took_when_it_was_tried() {
        let check = |leaf: CertificateInfo, host: &str, expected: [bool; 8]| {
            let took = FAMILIES.map(|family| family.takes(&leaf, host));
            assert_eq!(took, expected, "{} {:?} {:?} for {host}", leaf.subject, leaf.dns, leaf.ips);
        };
        let (yes, no) = (true, false);
        check(leaf("x", &["db1"], &[]), "db1", [yes; 8]);
        check(leaf("db1", &[], &[]), "db1", [yes, yes, yes, yes, yes, yes, no, yes]);
        check(leaf("db1", &["other"], &[]), "db1", [no, no, no, no, no, yes, no, no]);
        check(leaf("x", &["*.x.test"], &[]), "a.x.test", [yes; 8]);
        check(leaf("x", &[], &["192.0.2.1"]), "192.0.2.1", [yes, yes, yes, yes, yes, yes, yes, no]);
        check(leaf("x", &["192.0.2.1"], &[]), "192.0.2.1", [no, no, yes, yes, yes, no, no, no]);
        check(leaf("192.0.2.1", &[], &[]), "192.0.2.1", [no, no, yes, yes, yes, yes, no, no]);
        // How `trust` writes an organisation that is called "x, CN=db1".
        let shown = CertificateInfo { subject: "O=x\\2C CN=db1, CN=other".into(), ..leaf("", &[], &[]) };
        check(shown, "db1", [no; 8]);
    }
}
