//! How large the store of `sealion watch` becomes: a year of daily looks, with a simulated clock and the code that keeps them.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use model::{LinkKind, Severity};
use store::Store;
use testbed::real::is_deep;
use watch::keep;
use watch::state::{
    Certificate, CertificateSight, Failure, FindingSight, FindingState, LinkSight, LinkState, Look, Reason,
    ServerSight, SettingSight, Sights, State,
};

const DAY_MS: u64 = 86_400_000;
const DAYS: u64 = 365;
/// 2026-01-01.
const BEGIN_MS: u64 = 1_767_225_600_000;
const SERVERS_A_CLUSTER: usize = 10;
const GIB: u64 = 1 << 30;
/// Of each server and day. They are chosen on the high side: a client's link that nobody used while packets were captured is unknown
/// that day, and known the next one.
const LINK_UNSEEN: f64 = 0.2;
const SILENT: f64 = 0.005;
const FINDING_TURNS: f64 = 0.02;
const CERTIFICATE_DAYS: u64 = 90;
const RULES: usize = 8;

/// xorshift64*: the same year each time.
struct Dice(u64);

impl Dice {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }

    fn throw(&mut self) -> f64 {
        self.bits() as f64 / (1_u64 << 53) as f64
    }

    fn up_to(&mut self, end: u64) -> u64 {
        self.bits() % end
    }
}

struct Server {
    name: String,
    failing: [bool; RULES],
    certificate_from_day: u64,
}

fn certificate(server: &str, usage: &str, seen: &str, number: u64) -> CertificateSight {
    let begins = i64::try_from((BEGIN_MS + number * DAY_MS) / 1000).unwrap();
    CertificateSight {
        server: server.into(),
        usage: usage.into(),
        seen: seen.into(),
        facts: Ok(Certificate {
            fingerprint: format!("{number:016x}{usage:0>16}{server:0>16}{:016x}", number * 7919),
            not_before_unix: begins,
            not_after_unix: begins + 100 * 86_400,
        }),
    }
}

fn look(servers: &mut [Server], day: u64, dice: &mut Dice) -> Look {
    let mut sights = Sights::default();
    let silent: Vec<bool> = servers.iter().map(|_| dice.throw() < SILENT).collect();
    for (server, is_silent) in servers.iter_mut().zip(&silent) {
        let name = server.name.clone();
        let address = format!("{name}.example.com:3306");
        if *is_silent {
            let why = "no answer within 5 s: connection timed out".into();
            sights.servers.push(ServerSight {
                name,
                address,
                answer: Err(Failure { reason: Reason::NoAnswer, why }),
            });
            continue;
        }
        let answer = Ok(("10.11.19-MariaDB-log".into(), "Synced, Primary of 3".into()));
        sights.servers.push(ServerSight { name: name.clone(), address, answer });
        let (state, why) = if dice.throw() < LINK_UNSEEN {
            (LinkState::Unknown, "nobody spoke while it was looked at".to_owned())
        } else {
            (LinkState::Encrypted, format!("{} bytes in TLS records", dice.up_to(1_000_000)))
        };
        sights.links.push(LinkSight {
            kind: LinkKind::Client,
            a: "client".into(),
            b: name.clone(),
            state,
            why,
        });
        if day >= server.certificate_from_day + CERTIFICATE_DAYS {
            server.certificate_from_day = day;
        }
        for usage in ["server", "galera"] {
            for seen in ["wire", "file"] {
                sights.certificates.push(certificate(&name, usage, seen, server.certificate_from_day));
            }
        }
        for what in ["galera", "sst", "replication", "client"] {
            sights.settings.push(SettingSight {
                server: name.clone(),
                what: what.into(),
                configured: "TLS required".into(),
                effective: "TLS required".into(),
                seen: "sealed".into(),
            });
        }
        for (rule, failing) in server.failing.iter_mut().enumerate() {
            if dice.throw() < FINDING_TURNS {
                *failing = !*failing;
            }
            sights.findings.push(FindingSight {
                rule: format!("SL21{rule:02}"),
                subject: name.clone(),
                title: "Accounts may log in without TLS".into(),
                severity: Severity::High,
                remedy: "ALTER USER app@'10.0.1.%' REQUIRE SSL, or require_secure_transport=ON".into(),
                state: if *failing { FindingState::Fail } else { FindingState::Pass },
                why: "app@10.0.1.% has no REQUIRE SSL".into(),
            });
        }
    }
    // Clusters of Galera have links between all members; these are groups of three, as most are.
    for (at, group) in servers.chunks(3).enumerate() {
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            let (Some(one), Some(other)) = (group.get(a), group.get(b)) else { continue };
            if !silent[at * 3 + a] && !silent[at * 3 + b] {
                let why = format!("{} bytes in TLS records", dice.up_to(10_000_000));
                let (a, b) = (one.name.clone(), other.name.clone());
                sights.links.push(LinkSight {
                    kind: LinkKind::Galera,
                    a,
                    b,
                    state: LinkState::Encrypted,
                    why,
                });
            }
        }
    }
    let names = servers.iter().map(|server| server.name.clone()).collect();
    Look { servers: names, took_ms: 2_000, interval_s: 86_400, outcome: Ok(sights) }
}

/// Bytes of the store behind a year of so many servers, and of its history rows.
fn year(path: &Path, servers: usize) -> u64 {
    let mut store = Store::open(path).unwrap();
    let mut dice = Dice(0x5EA1_1011);
    let mut clusters: Vec<(String, State, Vec<Server>)> = (0..servers.div_ceil(SERVERS_A_CLUSTER))
        .map(|cluster| {
            let first = cluster * SERVERS_A_CLUSTER;
            let members = (first..servers.min(first + SERVERS_A_CLUSTER)).map(|at| Server {
                name: format!("db-{at:05}"),
                failing: [false; RULES],
                certificate_from_day: at as u64 % CERTIFICATE_DAYS,
            });
            (format!("cluster-{cluster:04}"), State::default(), members.collect())
        })
        .collect();
    for day in 0..DAYS {
        for (name, known, members) in &mut clusters {
            let look = look(members, day, &mut dice);
            let now = BEGIN_MS + day * DAY_MS;
            *known = keep::record(&mut store, name, known, &look, now).unwrap().0;
        }
    }
    drop(store);
    ["", "-wal", "-shm"]
        .map(|end| std::fs::metadata(format!("{}{end}", path.display())).map_or(0, |about| about.len()))
        .iter()
        .sum()
}

/// `SEALION_DEEP=1` plays all 10,000 servers of the claim; `SEALION_STORE_DIR` names where (it wants a gigabyte, and a fast disk).
#[test]
fn a_year_of_daily_looks_stays_small() {
    let servers = if is_deep() { 10_000 } else { 50 };
    let dir = std::env::var_os("SEALION_STORE_DIR").map_or_else(std::env::temp_dir, Into::into);
    let place = tempfile::tempdir_in(dir).unwrap();
    let began = std::time::Instant::now();
    let bytes = year(&place.path().join("watch.sqlite"), servers);
    let a_server = bytes / servers as u64;
    println!(
        "{servers} servers x {DAYS} days: {bytes} bytes, {a_server} a server and year ({} s)",
        began.elapsed().as_secs()
    );
    // 10,000 of them in a gigabyte are 107,374 bytes each.
    assert!(a_server < GIB / 10_000, "{a_server} bytes a server and year");
    if is_deep() {
        assert!(bytes < GIB, "{bytes}");
    }
}
