//! `sealion migrate` killed at a moment of any step, alone or with one of the servers: it goes on or back, and no row is lost.
//!
//! `SEALION_SEED=N` repeats the kills; `SEALION_DEEP=1` tries each moment with each victim and both ways on.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use testbed::real::{is_deep, is_wished, lab_slot, seed};
use testbed::sim::rng::Rng;

use crate::lab_migrate::{Pair, killed};

/// In `make test`.
const KILLS: usize = 3;
const STEPS: u32 = 7;
const PHASES: [&str; 4] = ["announcing", "acting", "verifying", "recording"];

#[derive(Debug, Clone)]
pub(crate) struct Kill {
    pub moment: String,
    /// Beside sealion itself.
    pub server: Option<&'static str>,
    pub goes_back: bool,
}

/// Some by chance; all with `SEALION_DEEP=1`.
pub(crate) fn chosen(steps: u32, count: usize) -> Vec<Kill> {
    let kills = all_kills(steps);
    if is_deep() {
        return kills;
    }
    let order = Rng::new(seed()).shuffled(kills.len());
    order.into_iter().filter_map(|at| kills.get(at).cloned()).take(count).collect()
}

fn all_kills(steps: u32) -> Vec<Kill> {
    let mut all = Vec::new();
    for moment in (1..=steps).flat_map(|step| PHASES.map(|phase| format!("M{step}:{phase}"))) {
        // One that only looks announces nothing that it does.
        if !is_wished(&moment) || moment == "M4:announcing" || moment == "M4:acting" {
            continue;
        }
        for server in [None, Some("source"), Some("target")] {
            for goes_back in [false, true] {
                all.push(Kill { moment: moment.clone(), server, goes_back });
            }
        }
    }
    all
}

/// How the servers are found after it.
fn shown(pair: &Pair) -> String {
    let only = |server: &testbed::real::bundled::Bundled| {
        server.sql().query("SELECT @@read_only").unwrap().scalar().unwrap().into_owned()
    };
    format!("read_only of the source {}, of the target {}", only(&pair.source), only(&pair.target))
}

fn count(server: &testbed::real::bundled::Bundled, ids: &[u64]) -> usize {
    let ids: Vec<String> = ids.iter().map(u64::to_string).collect();
    let sql = format!("SELECT COUNT(*) FROM shop.parent WHERE id IN ({})", ids.join(","));
    server.sql().query(&sql).unwrap().scalar().unwrap().parse().unwrap()
}

#[test]
fn a_migration_killed_in_any_step_goes_on_or_back_and_loses_no_row() {
    let kills = chosen(STEPS, KILLS);
    let _alone = lab_slot();
    let mut pair = Pair::up();
    let mut written = Vec::new();
    for kill in &kills {
        one(&mut pair, kill, &mut written);
    }
}

fn one(pair: &mut Pair, kill: &Kill, written: &mut Vec<u64>) {
    eprintln!("{kill:?}");
    pair.lab.now(format!("{kill:?}"));
    let mut write = |server: &testbed::real::bundled::Bundled| {
        let id = 6000 + written.len() as u64;
        server.run(&[&format!("INSERT INTO shop.parent VALUES ({id})")]);
        written.push(id);
    };
    write(&pair.source);
    let hash = pair.hash();
    let words = [&["migrate", "run"], &Pair::ROUTE[..], &["--yes", &hash, "--state-dir", "state"]].concat();
    let mut held = pair.lab.start(&words, Some(&kill.moment));
    assert!(held.says("held at", Duration::from_secs(180)), "{kill:?}: {}", held.stderr());
    held.kill();
    if let Some(server) = kill.server {
        killed(pair, server);
    }
    let verb = if kill.goes_back { "rollback" } else { "resume" };
    let mut said = pair.migrate(&[verb, "--yes", &hash]);
    // Where read_only went with a restart, going on is refused: whether somebody has written since cannot be told.
    if said.code != Some(0) && kill.server == Some("source") && !kill.goes_back {
        assert!(said.stderr.contains("takes writes again"), "{kill:?}: {said}");
        said = pair.migrate(&["rollback", "--yes", &hash]);
    }
    assert_eq!(said.code, Some(0), "{kill:?}, {}: {said}", shown(pair));
    let stage =
        pair.lab.run(&["--format", "json", "migrate", "status", "--state-dir", "state"]).exits(0).json();
    match stage["stage"].as_str() {
        Some("cut-over") => {
            assert_eq!(count(&pair.target, written), written.len(), "{kill:?}");
            let id = 6000 + written.len() as u64;
            pair.target.run(&[&format!("INSERT INTO shop.parent VALUES ({id})")]);
            written.push(id);
            pair.migrate(&["rollback", "--yes", &hash]).exits(0);
        }
        Some("rolled-back") => {}
        other => panic!("{kill:?}: {other:?}"),
    }
    assert_eq!(count(&pair.source, written), written.len(), "{kill:?}");
    let there = pair.target.sql().query("SHOW DATABASES LIKE 'shop'").unwrap();
    assert!(there.is_empty(), "{kill:?}: the schema is still on the target");
    assert_eq!(shown(pair), "read_only of the source 0, of the target 0", "{kill:?}");
}
