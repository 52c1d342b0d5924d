//! `wsrep_cluster_address`: whom a member asks when it starts.

use std::collections::{BTreeMap, HashSet};

use model::NodeName;

/// So many members are named in a note.
const NAMED_MAX: usize = 8;

/// The hosts of `gcomm://10.0.0.1:4567,db2?pc.wait_prim=no`, as they are written.
pub fn hosts(address: &str) -> Vec<&str> {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let hosts = rest.split('?').next().unwrap_or_default();
    hosts
        .split(',')
        .map(|host| match host.trim().rsplit_once(':') {
            Some((name, _)) if name.ends_with(']') => name,
            Some((name, port)) if port.chars().all(|c| c.is_ascii_digit()) && !name.contains(':') => name,
            _ => host.trim(),
        })
        .filter(|host| !host.is_empty())
        .collect()
}

/// A member with the names under which others may have it, and its own list.
#[derive(Debug, Clone)]
pub struct Listing {
    pub node: NodeName,
    pub names: Vec<String>,
    pub address: String,
}

/// For each member that is not in the list of every other one: those in whose list it is not.
pub fn unnamed(members: &[Listing]) -> BTreeMap<NodeName, Vec<NodeName>> {
    // A thousand lists of a thousand addresses are not read through for each node.
    let lists: Vec<(&NodeName, HashSet<String>)> = members
        .iter()
        .map(|member| {
            let hosts = hosts(&member.address).into_iter();
            (&member.node, hosts.map(|host| host.trim_matches(['[', ']']).to_ascii_lowercase()).collect())
        })
        .collect();
    let without = |member: &Listing| -> Vec<NodeName> {
        let own: Vec<String> = member.names.iter().map(|name| name.to_ascii_lowercase()).collect();
        let others = lists.iter().filter(|(name, _)| **name != member.node);
        let lacking = others.filter(|(_, hosts)| !own.iter().any(|name| hosts.contains(name)));
        lacking.map(|(name, _)| (*name).clone()).collect()
    };
    let all = members.iter().map(|member| (member.node.clone(), without(member)));
    all.filter(|(_, without)| !without.is_empty()).collect()
}

/// The same in one line for people; `None`: all name all.
pub fn note(members: &[Listing]) -> Option<String> {
    let mut lacks: BTreeMap<NodeName, Vec<String>> = BTreeMap::new();
    for (member, without) in unnamed(members) {
        for one in without {
            lacks.entry(one).or_default().push(member.to_string());
        }
    }
    if lacks.is_empty() {
        return None;
    }
    let lines: Vec<String> = lacks
        .iter()
        .map(|(node, missing)| format!("{node} lacks {}", model::link::some_of(missing, NAMED_MAX)))
        .collect();
    Some(format!(
        "wsrep_cluster_address does not name every member ({}): when only those that it lacks are up, such a node finds nobody at its start; no \
         restart is needed to correct it in the option files",
        lines.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join("; ")
            + if lines.len() > NAMED_MAX { "; …" } else { "" }
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_as_people_write_them() {
        for (text, expected) in [
            ("gcomm://10.0.0.1:4567,db2?pc.wait_prim=no", &["10.0.0.1", "db2"][..]),
            ("gcomm://[fd00::1]:4567, fd00::2", &["[fd00::1]", "fd00::2"]),
            ("gcomm://10.0.0.1,db2:4567, db3?pc.wait_prim=no", &["10.0.0.1", "db2", "db3"]),
            ("gcomm://", &[]),
        ] {
            assert_eq!(hosts(text), expected, "{text}");
        }
    }

    #[test]
    fn who_is_not_named_is_noted_with_who_does_not_name_it() {
        let member = |node: &str, address: &str| Listing {
            node: node.into(),
            names: vec![format!("10.0.0.{}", &node[1..]), format!("{node}.Example.net"), node.to_owned()],
            address: address.into(),
        };
        let whole = "gcomm://10.0.0.1:4567,N2.example.net,n3";
        let all = [member("n1", whole), member("n2", whole), member("n3", "gcomm://10.0.0.1,10.0.0.2")];
        assert_eq!(note(&all), None, "it need not name itself");
        let all = [member("n1", "gcomm://"), member("n2", whole), member("n3", "gcomm://10.0.0.1")];
        let text = note(&all).expect("they do not");
        assert!(text.contains("(n1 lacks n2, n3; n3 lacks n2)"), "{text}");
        let n2: NodeName = "n2".into();
        assert_eq!(unnamed(&all)[&n2], ["n1".into(), "n3".into()]);
        // A large cluster fills no screen.
        let all: Vec<Listing> =
            (1..=1000).map(|number| member(&format!("n{number}"), "gcomm://10.0.0.1")).collect();
        let text = note(&all).expect("they do not");
        assert!(text.len() < 1200 && text.ends_with("option files"), "{text}");
    }
}
