//! `sealion status --format line`: a line a node, for scripts and monitoring plugins.
//!
//! A line is always whole: the same words in the same order, whatever is known. `-` does not apply; what could not be seen is
//! `unknown`. No value has a blank in it, and none is coloured. Words are added at the end only.

use model::{Finding, LinkSight, Verdict};
use status_ops::status::{NodeStatus, Row, Status};

const SECONDS_PER_DAY: i64 = 86_400;
const UNKNOWN: &str = "unknown";
const NOT_THERE: &str = "-";

pub fn lines(status: &Status, now_unix: i64) -> Vec<String> {
    status.nodes.iter().map(|node| line(node, status, now_unix)).collect()
}

fn line(node: &NodeStatus, status: &Status, now_unix: i64) -> String {
    let (failed, unknown) = findings_of(node, status);
    let words = [
        ("version", node.version.clone().unwrap_or_else(|| UNKNOWN.into())),
        ("state", state(node)),
        ("galera", traffic(node, "galera")),
        ("sst", traffic(node, "sst")),
        ("replication", traffic(node, "replication")),
        ("client", traffic(node, "client")),
        ("expires_days", expires_days(node, now_unix)),
        ("findings", failed.to_string()),
        ("findings_unknown", unknown.to_string()),
    ];
    let words = words.iter().map(|(name, value)| format!("{name}={}", one_word(value)));
    std::iter::once(one_word(&node.node)).chain(words).collect::<Vec<_>>().join(" ")
}

/// Names of nodes and versions are other people's: a blank or a control character in one would make two words or lines of it.
fn one_word(text: &str) -> String {
    let word = text.trim().replace(|sign: char| sign.is_whitespace() || sign.is_control(), "_");
    if word.is_empty() { UNKNOWN.into() } else { word }
}

/// `Synced,Primary`
fn state(node: &NodeStatus) -> String {
    if node.version.is_none() {
        return "no-answer".into();
    }
    // "Synced, Primary of 3"; of a server that is none of a cluster it is a sentence.
    let known = |word: &str| if word == "?" { UNKNOWN.to_owned() } else { word.to_owned() };
    match node.state.split_once(", ") {
        Some((state, component)) => {
            format!("{},{}", known(state), known(component.split(" of ").next().unwrap_or_default()))
        }
        None => "up".into(),
    }
}

/// `strict/sealed`: what is effective, and what was seen on the wire. Of several channels all that differ are named.
fn traffic(node: &NodeStatus, what: &str) -> String {
    if node.version.is_none() {
        return UNKNOWN.into();
    }
    let known = |word: &str| match word {
        "" | "-" | "not read" | "not looked" => UNKNOWN.to_owned(),
        word => word.to_owned(),
    };
    // "sst (mariabackup)"
    let is_of = |row: &&Row| row.what.split(' ').next() == Some(what);
    let mut all: Vec<String> = node
        .rows
        .iter()
        .filter(is_of)
        .map(|row| format!("{}/{}", known(&row.effective), known(&row.seen)))
        .collect();
    all.sort();
    all.dedup();
    if all.is_empty() { NOT_THERE.into() } else { all.join(",") }
}

/// Of the certificate that ends first. One that is not known may be that one, unless another has ended already.
fn expires_days(node: &NodeStatus, now_unix: i64) -> String {
    if node.version.is_none() {
        return UNKNOWN.into();
    }
    let nearest = node.rows.iter().filter_map(|row| row.not_after_unix).min();
    let days = nearest.map(|end| (end - now_unix).div_euclid(SECONDS_PER_DAY));
    let is_hidden =
        |row: &Row| row.served_unknown.is_some() || row.certificate.is_some() && row.not_after_unix.is_none();
    match days {
        Some(days) if days < 0 => days.to_string(),
        _ if node.rows.iter().any(is_hidden) => UNKNOWN.into(),
        Some(days) => days.to_string(),
        None => NOT_THERE.into(),
    }
}

/// Rules that failed, and rules that could not be judged: about the node, one of its links, or all of the cluster.
fn findings_of(node: &NodeStatus, status: &Status) -> (usize, usize) {
    let mine: Vec<&Finding> =
        status.findings.iter().filter(|finding| is_about(&finding.subject, node, status)).collect();
    let count = |is: fn(&Verdict) -> bool| mine.iter().filter(|finding| is(&finding.verdict)).count();
    (
        count(|verdict| matches!(verdict, Verdict::Fail(_))),
        count(|verdict| matches!(verdict, Verdict::Unknown(_))),
    )
}

fn is_about(subject: &str, node: &NodeStatus, status: &Status) -> bool {
    let is_of =
        |name: &str| subject.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    let is_link = |sight: &&LinkSight| sight.link.to_string() == subject;
    if let Some(sight) = status.sights.iter().find(is_link) {
        return sight.link.a == node.node || sight.link.b == node.node;
    }
    // What is of no node by itself is of each.
    is_of(&node.node) || !status.nodes.iter().any(|other| is_of(&other.node))
}

#[cfg(test)]
mod tests {
    use model::Severity;

    use super::*;

    const NOW: i64 = 1_800_000_000;

    fn row(what: &str, effective: &str, seen: &str, ends_in_s: Option<i64>) -> Row {
        Row {
            what: what.into(),
            configured: "not shown".into(),
            effective: effective.into(),
            seen: seen.into(),
            key: None,
            certificate: None,
            not_after_unix: ends_in_s.map(|seconds| NOW + seconds),
            not_after_of: None,
            served_unknown: None,
        }
    }

    fn node(name: &str, state: &str, rows: Vec<Row>) -> NodeStatus {
        NodeStatus {
            node: name.into(),
            address: "127.0.0.1".into(),
            version: Some("10.11.19-MariaDB".into()),
            state: state.into(),
            rows,
            why_not: None,
            is_refused: false,
        }
    }

    fn finding(subject: &str, verdict: Verdict) -> Finding {
        Finding {
            rule: "SL1001".into(),
            title: String::new(),
            severity: Severity::High,
            subject: subject.into(),
            verdict,
            observations: vec![],
            remedy: String::new(),
        }
    }

    #[test]
    fn each_node_has_one_line_with_the_same_words() {
        let day = SECONDS_PER_DAY;
        let galera = vec![
            row("galera", "strict", "sealed", Some(396 * day + 5)),
            row("sst (mariabackup)", "TLS", "not looked", Some(400 * day)),
            row("client", "required", "unknown", Some(397 * day)),
        ];
        let silent = NodeStatus { version: None, state: "no answer".into(), ..node("n 2", "", vec![]) };
        let replica = vec![
            row("client", "plain", "plain", None),
            row("replication", "verified", "sealed", None),
            row("replication", "broken", "not looked", None),
        ];
        let status = Status {
            nodes: vec![
                node("n1", "Synced, Primary of 3", galera),
                silent,
                node("n3", "not a Galera node", replica),
            ],
            findings: vec![
                finding("n1", Verdict::Fail("bad".into())),
                finding("n1 galera", Verdict::Unknown("hidden".into())),
                finding("n3", Verdict::Pass),
                finding("n 2", Verdict::Unknown("silent".into())),
                finding("the cluster", Verdict::Fail("odd".into())),
            ],
            ..Status::default()
        };
        assert_eq!(
            lines(&status, NOW),
            [
                "n1 version=10.11.19-MariaDB state=Synced,Primary galera=strict/sealed sst=TLS/unknown replication=- \
                 client=required/unknown expires_days=396 findings=2 findings_unknown=1",
                "n_2 version=unknown state=no-answer galera=unknown sst=unknown replication=unknown client=unknown \
                 expires_days=unknown findings=1 findings_unknown=1",
                "n3 version=10.11.19-MariaDB state=up galera=- sst=- replication=broken/unknown,verified/sealed \
                 client=plain/plain expires_days=- findings=1 findings_unknown=0",
            ]
        );
    }

    #[test]
    fn a_date_that_is_not_known_is_not_hidden_by_one_that_is() {
        let days = |rows: Vec<Row>| expires_days(&node("n1", "", rows), NOW);
        let hidden =
            |ends| Row { served_unknown: Some("refused".into()), ..row("client", "offered", "sealed", ends) };
        let unread = Row { certificate: Some("/c.pem".into()), ..row("galera", "strict", "sealed", None) };
        let ended = row("sst (rsync)", "on", "sealed", Some(-1));
        assert_eq!(days(vec![row("client", "offered", "sealed", Some(SECONDS_PER_DAY))]), "1");
        assert_eq!(days(vec![row("client", "offered", "sealed", Some(SECONDS_PER_DAY - 1))]), "0");
        assert_eq!(days(vec![hidden(Some(9 * SECONDS_PER_DAY))]), "unknown");
        assert_eq!(days(vec![unread.clone(), row("client", "offered", "sealed", Some(9))]), "unknown");
        assert_eq!(days(vec![unread, ended]), "-1");
        assert_eq!(days(vec![]), "-");
    }
}
