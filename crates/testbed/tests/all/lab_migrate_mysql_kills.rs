//! `sealion migrate` from MySQL to MariaDB killed at a moment of any step, alone or with one of the servers: it goes on or back, and no
//! row is lost.
//!
//! `SEALION_SEED=N` repeats the kills; `SEALION_DEEP=1` tries each moment with each victim and both ways on.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use testbed::real::bundled::Bundled;
use testbed::real::lab_slot;

use crate::lab_migrate_kills::{Kill, chosen};
use crate::lab_migrate_mysql::{Pair, ROUTE, killed};

/// In `make test`.
const KILLS: usize = 3;
/// There is no way back behind the last one.
const STEPS: u32 = 6;

fn one_value(server: &Bundled, sql: &str) -> String {
    server.sql().query(sql).unwrap().scalar().unwrap_or_default().into_owned()
}

fn has_all(server: &Bundled, ids: &[u64]) -> bool {
    let ids: Vec<String> = ids.iter().map(u64::to_string).collect();
    let count = format!("SELECT COUNT(*) FROM shop.parent WHERE id IN ({})", ids.join(","));
    one_value(server, &count) == ids.len().to_string()
}

/// A row of the schema that moves, and one of the schema that stays; not where the server is read-only.
fn write(server: &Bundled, written: &mut Vec<u64>) {
    let id = 6000 + written.len() as u64;
    match server.sql().execute(&format!("INSERT INTO shop.parent VALUES ({id})")) {
        Ok(_) => written.push(id),
        // Source: MySQL error 1290: the server is read-only.
        Err(net::NetError::Refused { code: 1290, .. }) => return,
        Err(error) => panic!("{error}"),
    }
    server.run(&[&format!("INSERT INTO other.t VALUES ({id})")]);
}

#[test]
fn a_migration_from_mysql_killed_in_any_step_goes_on_or_back_and_loses_no_row() {
    let kills = chosen(STEPS, KILLS);
    let _alone = lab_slot();
    let mut pair = Pair::up();
    let mut written = Vec::new();
    for kill in &kills {
        let ended = one(&mut pair, kill, &mut written);
        eprintln!("{kill:?}: {ended}");
        // As it was: a migration whose target is open cannot be taken back.
        pair.source.run(&["SET GLOBAL read_only = OFF"]);
        pair.target.run(&[
            "DROP DATABASE IF EXISTS shop",
            "SET GLOBAL gtid_slave_pos = ''",
            "SET GLOBAL read_only = OFF",
        ]);
    }
}

/// How it has ended.
fn one(pair: &mut Pair, kill: &Kill, written: &mut Vec<u64>) -> &'static str {
    pair.lab.now(format!("{kill:?}"));
    write(&pair.source, written);
    let hash = pair.hash();
    let words = [&["migrate", "run"], &ROUTE[..], &["--yes", &hash, "--state-dir", "state"]].concat();
    let mut held = pair.lab.start(&words, Some(&kill.moment));
    assert!(held.says("held at", Duration::from_secs(180)), "{kill:?}: {}", held.stderr());
    // Replication brings it in the moment of the kill.
    write(&pair.source, written);
    held.kill();
    if let Some(server) = kill.server {
        killed(pair, server);
    }
    write_if_open(pair, written);
    let verb = if kill.goes_back { "rollback" } else { "resume" };
    let mut said = pair.migrate(&[verb, "--yes", &hash]);
    let mut how = "";
    if said.code != Some(0) {
        let other = if kill.goes_back { "resume" } else { "rollback" };
        eprintln!("{kill:?}: {verb}: {said}");
        said = pair.migrate(&[other, "--yes", &hash]);
        how = "by the other way";
    }
    assert_eq!(said.code, Some(0), "{kill:?}: {said}");
    let stage =
        pair.lab.run(&["--format", "json", "migrate", "status", "--state-dir", "state"]).exits(0).json();
    assert!(pair.target.sql().query("SHOW ALL SLAVES STATUS").unwrap().is_empty(), "{kill:?}");
    assert!(has_all(&pair.source, written), "{kill:?}");
    match (stage["stage"].as_str(), how) {
        (Some("migrated"), how) => {
            assert!(has_all(&pair.target, written), "{kill:?}");
            assert!(Pair::rows(&pair.source) == Pair::rows(&pair.target), "{kill:?}");
            assert_eq!(one_value(&pair.target, "SELECT @@read_only"), "0", "{kill:?}");
            if how.is_empty() { "migrated" } else { "migrated, since there is no way back" }
        }
        (Some("rolled-back"), how) => {
            assert_eq!(one_value(&pair.source, "SELECT @@read_only"), "0", "{kill:?}");
            assert_eq!(one_value(&pair.target, "SELECT @@read_only"), "0", "{kill:?}");
            let there = pair.target.sql().query("SHOW DATABASES LIKE 'shop'").unwrap();
            assert!(there.is_empty(), "{kill:?}: the schema is still on the target");
            if how.is_empty() { "back" } else { "back, since it could not go on" }
        }
        (other, _) => panic!("{kill:?}: {other:?}"),
    }
}

/// A source that was closed and started again takes writes of whoever is still there; what it took then must not be missing.
fn write_if_open(pair: &Pair, written: &mut Vec<u64>) {
    let target_is_open = one_value(&pair.target, "SELECT @@read_only") == "0";
    let has_schema = !pair.target.sql().query("SHOW DATABASES LIKE 'shop'").unwrap().is_empty();
    if !(target_is_open && has_schema) {
        write(&pair.source, written);
    }
}
