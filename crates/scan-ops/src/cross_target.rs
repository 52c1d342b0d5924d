//! What only shows when all targets are looked at together: keys that several hosts have, and which certificate ends first.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use report::shape::{CertificateRow, ReusedKeyRow, RotationRow, TargetRow};

/// Nobody rotates more than that next.
const ROTATIONS_MAX: usize = 100;

fn leaves(row: &TargetRow) -> impl Iterator<Item = &CertificateRow> {
    row.tls.iter().flat_map(|tls| &tls.chains).filter_map(|chain| chain.first())
}

/// Keys on more than one host. Whoever takes such a key from one host can pretend to be all of them.
///
/// One host: the ports of one address, and the two families of one name.
pub fn reused_keys(targets: &[TargetRow]) -> Vec<ReusedKeyRow> {
    let mut by_key: BTreeMap<&str, Vec<(&TargetRow, &CertificateRow)>> = BTreeMap::new();
    for row in targets {
        for leaf in leaves(row).filter(|leaf| !leaf.key_sha256.is_empty()) {
            by_key.entry(&leaf.key_sha256).or_default().push((row, leaf));
        }
    }
    by_key.into_iter().filter_map(|(key, seen)| reused(key, &seen)).collect()
}

fn reused(key: &str, seen: &[(&TargetRow, &CertificateRow)]) -> Option<ReusedKeyRow> {
    let address = |row: &TargetRow| row.address.as_deref().and_then(|ip| ip.parse::<IpAddr>().ok());
    let names_with_v4: BTreeSet<&str> = seen
        .iter()
        .filter(|(row, _)| address(row).is_some_and(|ip| ip.is_ipv4()))
        .map(|(row, _)| row.host.as_str())
        .collect();
    let mut hosts: BTreeMap<IpAddr, String> = BTreeMap::new();
    for (row, _) in seen {
        let Some(ip) = address(row) else { continue };
        let is_other_family = ip.is_ipv6() && names_with_v4.contains(row.host.as_str());
        if !is_other_family {
            let is_named = row.host.parse::<IpAddr>().is_err();
            hosts
                .entry(ip)
                .or_insert_with(|| if is_named { format!("{} ({ip})", row.host) } else { ip.to_string() });
        }
    }
    if hosts.len() < 2 {
        return None;
    }
    let (_, first) = seen.first()?;
    let mut targets: Vec<String> = Vec::new();
    for (row, _) in seen {
        if !targets.contains(&row.target) {
            targets.push(row.target.clone());
        }
    }
    Some(ReusedKeyRow {
        key_sha256: key.to_owned(),
        key: first.key.clone(),
        same_certificate: seen.iter().all(|(_, leaf)| leaf.sha256 == first.sha256),
        hosts: hosts.into_values().collect(),
        targets,
    })
}

/// Leaf certificates by the end of their life, the first to end first; those that have ended already lead.
pub fn rotates_next(targets: &[TargetRow]) -> Vec<RotationRow> {
    let mut by_end: BTreeMap<(i64, &str), RotationRow> = BTreeMap::new();
    for row in targets {
        for leaf in leaves(row) {
            let one = by_end.entry((leaf.not_after_unix, &leaf.sha256)).or_insert_with(|| RotationRow {
                not_after_unix: leaf.not_after_unix,
                subject: leaf.subject.clone(),
                sha256: leaf.sha256.clone(),
                targets: vec![],
            });
            if one.targets.last() != Some(&row.target) {
                one.targets.push(row.target.clone());
            }
        }
    }
    by_end.into_values().take(ROTATIONS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::super::changes::tests::{leaf, row};
    use super::*;

    #[test]
    fn a_key_counts_as_reused_on_other_hosts_only() {
        let check = |rows: &[(&str, &str, u16, &str, &str)], expected: &[&[&str]]| {
            let rows: Vec<TargetRow> = rows
                .iter()
                .map(|(host, ip, port, key, sha256)| row(host, ip, *port, vec![leaf(key, sha256, 0)]))
                .collect();
            let found: Vec<Vec<String>> = reused_keys(&rows).into_iter().map(|one| one.hosts).collect();
            assert_eq!(found, expected, "{rows:#?}");
        };
        // Ports of one address, also by two names.
        check(&[("a", "192.0.2.1", 1, "k", "c"), ("b", "192.0.2.1", 2, "k", "c")], &[]);
        // Both families of one name.
        check(&[("a", "192.0.2.1", 1, "k", "c"), ("a", "2001:db8::1", 1, "k", "c")], &[]);
        check(&[("a", "192.0.2.1", 1, "k", "c"), ("b", "192.0.2.2", 1, "other", "d")], &[]);
        // An older result has no hashes of keys.
        check(&[("a", "192.0.2.1", 1, "", "c"), ("b", "192.0.2.2", 1, "", "c")], &[]);
        check(
            &[("a", "192.0.2.1", 1, "k", "c"), ("192.0.2.2", "192.0.2.2", 1, "k", "d")],
            &[&["a (192.0.2.1)", "192.0.2.2"]],
        );
        check(
            &[("a", "192.0.2.1", 1, "k", "c"), ("a", "192.0.2.2", 1, "k", "c")],
            &[&["a (192.0.2.1)", "a (192.0.2.2)"]],
        );
    }

    #[test]
    fn it_says_whether_it_is_one_certificate_too() {
        let both = |second: &str| {
            let rows = [
                row("a", "192.0.2.1", 1, vec![leaf("k", "c", 0)]),
                row("b", "192.0.2.2", 1, vec![leaf("k", second, 0)]),
            ];
            reused_keys(&rows)[0].same_certificate
        };
        assert_eq!((both("c"), both("d")), (true, false));
    }

    #[test]
    fn the_certificate_that_ends_first_leads_and_each_is_listed_once() {
        let rows = [
            row("a", "192.0.2.1", 1, vec![leaf("k", "late", 900), leaf("l", "early", 100)]),
            row("b", "192.0.2.2", 1, vec![leaf("k", "late", 900)]),
        ];
        let found: Vec<(String, usize)> =
            rotates_next(&rows).into_iter().map(|one| (one.sha256, one.targets.len())).collect();
        assert_eq!(found, [("early".to_owned(), 1), ("late".to_owned(), 2)]);
    }
}
