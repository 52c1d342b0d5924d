//! A store with clusters of every kind, to look at the pages without servers: `cargo run -p web --example fill FILE`, then
//! `sealion web --store FILE`.

use std::path::Path;

use model::{LinkKind, Severity};
use store::{Store, StoreError};
use watch::keep;
use watch::state::{
    Certificate, CertificateSight, Failure, FindingSight, FindingState, LinkSight, LinkState, Look, Reason,
    ServerSight, Sights, State,
};

/// What would run, if a page wrote names as they are.
pub const EVIL: &str = "<script>alert(1)</script>";
const MINUTE_MS: u64 = 60_000;
const DAY_S: i64 = 86_400;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: fill FILE")?;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
    Ok(fill(Path::new(&path), u64::try_from(now.as_millis())?)?)
}

fn server(name: &str, address: &str, answers: bool) -> ServerSight {
    let silent = Failure { reason: Reason::NoAnswer, why: "connection refused".into() };
    let answer =
        if answers { Ok(("11.8.3-MariaDB".into(), "Synced, Primary of 3".into())) } else { Err(silent) };
    ServerSight { name: name.into(), address: address.into(), answer }
}

fn link(kind: LinkKind, a: &str, b: &str, state: LinkState, why: &str) -> LinkSight {
    LinkSight { kind, a: a.into(), b: b.into(), state, why: why.into() }
}

fn certificate(server: &str, usage: &str, seen: &str, fill: u8, ends: i64) -> CertificateSight {
    let facts = Certificate {
        fingerprint: format!("{fill:02x}").repeat(32),
        not_before_unix: ends - 365 * DAY_S,
        not_after_unix: ends,
    };
    CertificateSight { server: server.into(), usage: usage.into(), seen: seen.into(), facts: Ok(facts) }
}

fn finding(
    rule: &str,
    subject: &str,
    severity: Severity,
    state: FindingState,
    words: [&str; 3],
) -> FindingSight {
    let [title, why, remedy] = words.map(str::to_owned);
    FindingSight { rule: rule.into(), subject: subject.into(), title, severity, remedy, state, why }
}

fn look(sights: Sights) -> Look {
    let servers = sights.servers.iter().map(|server| server.name.clone()).collect();
    Look { servers, took_ms: 1900, interval_s: 60, outcome: Ok(sights) }
}

/// Three servers, all links in one state.
fn three(state: LinkState, why: &str, now: u64) -> Sights {
    let now_s = i64::try_from(now / 1000).unwrap_or(0);
    let names = ["db1", "db2", "db3"];
    let pairs = [("db1", "db2"), ("db1", "db3"), ("db2", "db3")];
    Sights {
        servers: names
            .iter()
            .zip(1..)
            .map(|(name, at)| server(name, &format!("10.0.0.{at}:3306"), true))
            .collect(),
        links: pairs
            .iter()
            .map(|(a, b)| link(LinkKind::Galera, a, b, state, why))
            .chain(names.iter().map(|name| link(LinkKind::Client, "client", name, state, why)))
            .collect(),
        certificates: names
            .iter()
            .zip(1..)
            .map(|(name, at)| certificate(name, "server", "wire", at, now_s + 90 * DAY_S))
            .collect(),
        ..Sights::default()
    }
}

/// Seven servers, so many links that they cross, and a client.
fn wide(now: u64) -> Sights {
    let names: Vec<String> = (1..=7).map(|at| format!("node{at}")).collect();
    let mut sights = three(LinkState::Encrypted, "", now);
    sights.servers =
        names.iter().map(|name| server(name, &format!("{name}.eu.example:3306"), true)).collect();
    sights.links.clear();
    for (at, a) in names.iter().enumerate() {
        let links = names.iter().skip(at + 1);
        sights.links.extend(links.map(|b| link(LinkKind::Galera, a, b, LinkState::Encrypted, "TLS 1.3")));
        sights.links.push(link(LinkKind::Client, "client", a, LinkState::Unknown, "nobody spoke"));
    }
    sights.links.push(link(LinkKind::Replication, "node2", "node6", LinkState::Plain, "events readable"));
    sights
}

/// Clusters `wide`, `prod` (mixed), `good`, `stale`, `dark` (its last look failed), and one with an evil name.
pub fn fill(path: &Path, now: u64) -> Result<(), StoreError> {
    let mut store = Store::open(path)?;
    let mut put = |cluster: &str, look: &Look, at: u64| {
        keep::record(&mut store, cluster, &State::default(), look, at).map(|_| ())
    };
    let sealed = "TLS 1.3 from the first byte on, 41 KB of others' bytes";
    put("good", &look(three(LinkState::Verified, sealed, now)), now - 10 * MINUTE_MS)?;
    put("good", &look(three(LinkState::Verified, sealed, now)), now - 12_000)?;
    put("stale", &look(three(LinkState::Encrypted, sealed, now)), now - 190 * MINUTE_MS)?;
    let failed =
        Failure { reason: Reason::Wire, why: "packets may not be captured: needs CAP_NET_RAW".into() };
    put("dark", &look(three(LinkState::Encrypted, sealed, now)), now - 30 * MINUTE_MS)?;
    put("dark", &Look { outcome: Err(failed), ..look(three(LinkState::Unknown, "", now)) }, now - 20_000)?;

    put("wide", &look(wide(now)), now - 9_000)?;
    put("prod", &look(three(LinkState::Plain, "write sets readable", now)), now - 26 * 60 * MINUTE_MS)?;
    put("prod", &look(prod(now)), now - 12_000)?;

    let mut evil = three(LinkState::Plain, EVIL, now);
    evil.servers.push(server(EVIL, EVIL, true));
    evil.links.push(link(LinkKind::Client, EVIL, "db1", LinkState::Plain, EVIL));
    evil.certificates.push(certificate(EVIL, EVIL, EVIL, 9, 1));
    evil.findings.push(finding(EVIL, EVIL, Severity::Critical, FindingState::Fail, [EVIL; 3]));
    evil.not_looked_at.push(EVIL.into());
    put(EVIL, &look(evil), now - 4_000)
}

fn prod(now: u64) -> Sights {
    let now_s = i64::try_from(now / 1000).unwrap_or(0);
    let sealed = "TLS 1.3 from the first byte on, 41 KB of others' bytes";
    let galera = |a, b, state, why| link(LinkKind::Galera, a, b, state, why);
    Sights {
        servers: vec![
            server("db1", "10.0.0.1:3306", true),
            server("db2", "10.0.0.2:3306", true),
            server("db3", "10.0.0.3:3306", true),
            server("db4", "10.0.0.4:3306", false),
        ],
        links: vec![
            galera("db1", "db2", LinkState::Encrypted, sealed),
            galera("db1", "db3", LinkState::Plain, "write sets readable: 1,204 of 1,204 packets"),
            galera("db2", "db3", LinkState::Encrypted, sealed),
            galera("db1", "db4", LinkState::Unknown, "db4 did not answer"),
            galera("db2", "db4", LinkState::Unknown, "db4 did not answer"),
            galera("db3", "db4", LinkState::Unknown, "db4 did not answer"),
            link(
                LinkKind::Replication,
                "db1",
                "dr1",
                LinkState::Verified,
                "TLS 1.3, the replica checks the source's name",
            ),
            link(
                LinkKind::Client,
                "client",
                "db1",
                LinkState::Plain,
                "3 sessions in cleartext: app@10.0.1.7",
            ),
            link(
                LinkKind::Client,
                "client",
                "db2",
                LinkState::Encrypted,
                "12 sessions, each followed as TLS",
            ),
            link(LinkKind::Ist, "db2", "db3", LinkState::Unknown, "nobody spoke while it was looked at"),
        ],
        certificates: vec![
            certificate("db1", "server", "wire", 0x3a, now_s + 4 * DAY_S),
            certificate("db1", "server", "file", 0x77, now_s + 300 * DAY_S),
            certificate("db2", "server", "wire", 0x4b, now_s + 21 * DAY_S),
            certificate("db2", "galera", "file", 0x5c, now_s + 300 * DAY_S),
            CertificateSight {
                facts: Err("db4 did not answer".into()),
                ..certificate("db4", "server", "wire", 0, 0)
            },
        ],
        findings: vec![
            finding(
                "SL1001",
                "db1-db3",
                Severity::Critical,
                FindingState::Fail,
                [
                    "Galera replicates in cleartext",
                    "write sets were read on this link",
                    "sealion enable galera",
                ],
            ),
            finding(
                "SL1107",
                "db1",
                Severity::High,
                FindingState::Fail,
                [
                    "Accounts may log in without TLS",
                    "app@10.0.1.% has no REQUIRE SSL, and 3 of its sessions are in cleartext",
                    "ALTER USER app@'10.0.1.%' REQUIRE SSL, or require_secure_transport=ON",
                ],
            ),
            finding(
                "SL1203",
                "db1",
                Severity::Medium,
                FindingState::Fail,
                ["A certificate ends soon", "in 4 days", "sealion rotate certificates"],
            ),
            finding(
                "SL1002",
                "db4",
                Severity::High,
                FindingState::Unknown,
                ["SST is in cleartext", "db4 did not answer", "sealion enable sst"],
            ),
            finding("SL1300", "db2", Severity::Low, FindingState::Pass, ["TLS 1.0 is offered", "", ""]),
        ],
        wire_unseen: None,
        not_looked_at: vec![
            "SST: none ran while traffic was captured".into(),
            "audit: accounts of db4".into(),
        ],
    }
}
