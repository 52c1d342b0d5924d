//! A store with clusters of every kind, to look at the pages without servers: `cargo run -p web --example fill FILE`, then
//! `sealion web --store FILE`.

use std::path::Path;

use change::journal::Journal;
use change::{Direction, Record};
use model::{Finding, LinkKind, Phase, Plan, Run, Severity, StepId, Verdict};
use store::{Store, StoreError};
use watch::keep;
use watch::state::{
    Certificate, CertificateSight, DriftSight, DriftState, Failure, FindingSight, FindingState, LinkSight,
    LinkState, Look, Reason, RestCounts, RestSight, ServerSight, SettingSight, Sights, State,
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

fn setting(server: &str, what: &str, words: [&str; 3]) -> SettingSight {
    let [configured, effective, seen] = words.map(str::to_owned);
    SettingSight { server: server.into(), what: what.into(), configured, effective, seen }
}

fn drift(server: &str, state: DriftState, why: &str) -> DriftSight {
    DriftSight { server: server.into(), state, change: PLAN.into(), why: why.into() }
}

fn at_rest(server: &str, what: &str, encrypted: u32, plain: u32) -> RestSight {
    let counts = Ok(RestCounts { encrypted, plain, unknown: 0 });
    RestSight { server: server.into(), what: what.into(), counts }
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
    let mut before = three(LinkState::Plain, "write sets readable", now);
    before.servers.push(server("db4", "10.0.0.4:3306", false));
    before.at_rest = vec![at_rest("db1", "tablespaces", 41, 0), at_rest("db1", "redo log", 1, 0)];
    put("prod", &look(before), now - 26 * 60 * MINUTE_MS)?;
    put("prod", &look(prod(now)), now - 12_000)?;

    let mut evil = three(LinkState::Plain, EVIL, now);
    evil.servers.push(server(EVIL, EVIL, true));
    evil.links.push(link(LinkKind::Client, EVIL, "db1", LinkState::Plain, EVIL));
    evil.certificates.push(certificate(EVIL, EVIL, EVIL, 9, 1));
    evil.findings.push(finding(EVIL, EVIL, Severity::Critical, FindingState::Fail, [EVIL; 3]));
    evil.settings.push(setting(EVIL, EVIL, [EVIL; 3]));
    evil.drift.push(drift(EVIL, DriftState::Drifted, EVIL));
    evil.at_rest.push(RestSight { server: EVIL.into(), what: EVIL.into(), counts: Err(EVIL.into()) });
    evil.not_looked_at.push(EVIL.into());
    put(EVIL, &look(evil), now - 4_000)?;
    runs(&mut store, now)?;
    // A directory that cannot be written makes pages without changes, which a test would see.
    let _ = changes(path, now);
    Ok(())
}

pub const FIRST_RUN: &str = "20261127T080000Z-1";
pub const SECOND_RUN: &str = "20261128T080000Z-2";

/// Two of `sealion status`: what failed is mended, stays, is not judged again, or is new.
fn runs(store: &mut Store, now: u64) -> Result<(), StoreError> {
    let finding = |rule: &str, severity, verdict, title: &str| Finding {
        rule: rule.into(),
        title: title.into(),
        severity,
        subject: "db1".into(),
        verdict,
        observations: vec![],
        remedy: "sealion enable clients".into(),
    };
    let fail = |why: &str| Verdict::Fail(why.into());
    let first = vec![
        finding("SL1001", Severity::Critical, fail("write sets were read"), "Galera replicates in cleartext"),
        finding("SL1107", Severity::High, fail("app@% may"), "Accounts may log in without TLS"),
        finding("SL1002", Severity::High, fail("rsync without stunnel"), "SST is in cleartext"),
        finding("SL1300", Severity::Low, Verdict::Pass, "TLS 1.0 is offered"),
    ];
    let second = vec![
        finding("SL1001", Severity::Critical, Verdict::Pass, "Galera replicates in cleartext"),
        finding("SL1107", Severity::High, fail("app@% may"), "Accounts may log in without TLS"),
        finding("SL1300", Severity::Low, fail(EVIL), "TLS 1.0 is offered"),
    ];
    for (id, findings, started_unix_ms) in
        [(FIRST_RUN, first, now - 24 * 60 * MINUTE_MS), (SECOND_RUN, second, now - MINUTE_MS)]
    {
        let notes = vec!["not looked at: SST: none ran".into(), EVIL.into()];
        let phase = Phase { name: "status".into(), started_unix_ms, findings, notes, ..Phase::default() };
        store.put_run(&Run {
            id: id.into(),
            command: "status".into(),
            sealion_version: "0.1.0".into(),
            started_unix_ms,
            ended_unix_ms: started_unix_ms + 4_000,
            phases: vec![phase],
        })?;
    }
    Ok(())
}

pub const PLAN: &str = "20261128T090000Z-3";

/// One that failed half-way, with a diff.
fn changes(store: &Path, now: u64) -> Result<(), Box<dyn std::error::Error>> {
    let step = |id: &str, title: &str, diff: &[&str]| {
        serde_json::json!({
            "id": id, "kind": "write-files", "title": title, "nodes": ["db1"], "restarts_server": diff.is_empty(), "no_op": false,
            "shell": [], "sql": ["SET GLOBAL wsrep_provider_options='socket.dynamic=yes'"], "diff": diff, "params": {}
        })
    };
    let diff = format!(
        "--- /etc/mysql/conf.d/sealion.cnf\n+++ /etc/mysql/conf.d/sealion.cnf\n@@ -1,2 +1,2 @@\n [mysqld]\n-ssl=OFF\n+ssl_ca={EVIL}"
    );
    let plan = serde_json::json!({
        "id": PLAN, "change": {"verb": "enable", "nouns": ["galera", "clients"]}, "cluster": "prod", "made_unix_ms": now,
        "sealion_version": "0.1.0", "state_hash": "0123456789abcdef", "impact": ["each server is restarted once"],
        "rights": ["SUPER on each server"],
        "steps": [step("E1.n1", "db1 gets its certificates", &[&diff]), step("E2.n1", EVIL, &[]), step("E3.n1", "db1 is proven", &[])]
    });
    let plan: Plan = serde_json::from_value(plan)?;
    let dir = store.with_file_name("journals").join("prod");
    std::fs::create_dir_all(&dir)?;
    let mut journal = Journal::open(&dir.join(format!("{PLAN}.journal")))?;
    let direction = Direction::Forward;
    let (first, second) = (StepId("E1.n1".into()), StepId("E2.n1".into()));
    for record in [
        Record::Opened { plan: Box::new(plan) },
        Record::Intent { step: first.clone(), direction },
        Record::Done { step: first, direction, note: "3 files of mode 0600".into() },
        Record::Intent { step: second.clone(), direction },
        Record::Failed { step: second, direction, why: format!("db1 does not answer {EVIL}") },
    ] {
        journal.append(now - 2 * MINUTE_MS, record)?;
    }
    Ok(())
}

/// So many clusters of four servers, each twentieth of which speaks cleartext.
pub fn many(path: &Path, clusters: usize, now: u64) -> Result<(), StoreError> {
    let mut store = Store::open(path)?;
    for at in 0..clusters {
        let state = if at % 20 == 0 { LinkState::Plain } else { LinkState::Verified };
        let mut sights = three(state, "TLS 1.3 from the first byte on", now);
        sights.servers.push(server("db4", "10.0.0.4:3306", true));
        sights.links.push(link(LinkKind::Client, "client", "db4", state, "12 sessions"));
        let words = ["TLS 1.0 is offered", "it is", "sealion enable clients"];
        sights.findings.extend((0..20).map(|rule| {
            let state = if rule == at % 40 { FindingState::Fail } else { FindingState::Pass };
            finding(&format!("SL13{rule:02}"), "db1", Severity::Low, state, words)
        }));
        keep::record(&mut store, &format!("many-{at:04}"), &State::default(), &look(sights), now - 9_000)?;
    }
    Ok(())
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
        settings: vec![
            setting("db1", "client", ["TLS offered", "TLS offered", "plain"]),
            setting("db1", "galera", ["TLS", "cleartext", "plain"]),
            setting("db2", "client", ["TLS required", "TLS required", "sealed"]),
            setting("db2", "galera", ["TLS", "TLS", "sealed"]),
        ],
        drift: vec![
            drift("db1", DriftState::Same, ""),
            drift(
                "db2",
                DriftState::Drifted,
                "/etc/mysql/conf.d/sealion.cnf: [mysqld] require_secure_transport is OFF, and sealion had set ON",
            ),
            drift(
                "db4",
                DriftState::Unknown,
                "the change 20261128T090000Z-3 of enable galera,clients is not finished",
            ),
        ],
        at_rest: vec![
            at_rest("db1", "tablespaces", 40, 1),
            at_rest("db1", "redo log", 1, 0),
            at_rest("db2", "tablespaces", 41, 0),
        ],
        wire_unseen: None,
        not_looked_at: vec![
            "SST: none ran while traffic was captured".into(),
            "audit: accounts of db4".into(),
        ],
    }
}
