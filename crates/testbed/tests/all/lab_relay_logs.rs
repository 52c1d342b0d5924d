//! Events that only a replica's relay logs hold are not lost by a change, on real servers: its source has purged them, and it is late.

use std::time::Duration;

use testbed::real::{LabSpec, RealLab, lab_slot, wait_for};

const BOTH: &str = "replication,clients";
/// The replica is late by so much on purpose.
const DELAY_S: u64 = 20;
const SETTLED: Duration = Duration::from_secs(60);

fn column(lab: &RealLab, node: &str, sql: &str, name: &str) -> Option<String> {
    lab.sql(node).ok()?.query(sql).ok()?.text(0, name).map(std::borrow::Cow::into_owned)
}

fn binary_logs(lab: &RealLab) -> Vec<String> {
    let rows = lab.sql("n1").expect("it answers").query("SHOW BINARY LOGS").expect("it tells");
    rows.iter().map(|row| row.at(0).unwrap_or_default().into_owned()).collect()
}

/// A row that only the relay logs of n2 hold.
fn row_in_relay_logs(lab: &RealLab, row: u32) {
    let mut session = lab.root("n1");
    for sql in [format!("INSERT INTO relay.t VALUES ({row})"), "FLUSH BINARY LOGS".to_owned()] {
        session.execute(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let newest = binary_logs(lab).pop().expect("it writes one");
    let received = wait_for(SETTLED, || {
        (column(lab, "n2", "SHOW SLAVE STATUS", "Master_Log_File")? == newest).then_some(())
    });
    assert!(received.is_some(), "n2 does not receive {newest}");
    // A log stays until its checkpoint is written, a moment later.
    let purged = wait_for(SETTLED, || {
        session.execute(&format!("PURGE BINARY LOGS TO '{newest}'")).expect("n2 reads the newest one alone");
        (binary_logs(lab) == [newest.clone()]).then_some(())
    });
    assert!(purged.is_some(), "{:?}", binary_logs(lab));
}

fn has_row(lab: &RealLab, row: u32) -> bool {
    let sql = format!("SELECT a FROM relay.t WHERE a = {row}");
    column(lab, "n2", &sql, "a").is_some()
}

fn replicates(lab: &RealLab) -> bool {
    let of = |name| column(lab, "n2", "SHOW SLAVE STATUS", name);
    of("Slave_IO_Running").as_deref() == Some("Yes") && of("Slave_SQL_Running").as_deref() == Some("Yes")
}

#[test]
fn what_only_relay_logs_hold_is_not_lost_by_a_change() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::REPLICAS);
    let mut session = lab.root("n1");
    for sql in [
        "CREATE DATABASE relay",
        "CREATE TABLE relay.t (a INT PRIMARY KEY)",
        // At its start, too, so its replica must have received all by then.
        "SET GLOBAL binlog_expire_logs_seconds = 86400",
    ] {
        session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let there = wait_for(SETTLED, || lab.sql("n2").ok()?.query("SELECT * FROM relay.t").ok().map(drop));
    assert!(there.is_some(), "n2 does not catch up");
    let mut replica = lab.root("n2");
    let late = format!("CHANGE MASTER TO MASTER_DELAY={DELAY_S}");
    for sql in ["STOP SLAVE", &late, "START SLAVE"] {
        replica.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    lab.now("its source has purged what it has not applied: no plan");
    row_in_relay_logs(&lab, 1);
    let before = (lab.files(), lab.live());
    let refused = lab.run(&["plan", "enable", BOTH]).exits(6);
    assert!(refused.stderr.contains("n2:") && refused.stderr.contains("relay logs"), "{refused}");
    assert!((lab.files(), lab.live()) == before && replicates(&lab), "something was changed");

    lab.now("once that is applied there is one; late by what its source still has, it is changed");
    assert!(wait_for(SETTLED, || has_row(&lab, 1).then_some(())).is_some(), "n2 lost a row");
    let planned = wait_for(SETTLED, || {
        let plan = lab.run(&["plan", "enable", BOTH, "--format", "json"]);
        (plan.code == Some(0)).then(|| plan.json())
    });
    let plan = planned.expect("the relay logs hold nothing that its source has not");
    session = lab.root("n1");
    session.execute("INSERT INTO relay.t VALUES (2)").expect("it takes writes");
    let hash = &plan["state_hash"].as_str().expect("text")[..12];
    lab.run(&["enable", BOTH, "--yes", hash, "--stop-after", "E2.n1"]).exits(4);
    assert!(!has_row(&lab, 2), "it was to be late");

    lab.now("purged in the middle: the channel is not changed, nor its server restarted to go back");
    row_in_relay_logs(&lab, 3);
    let stopped = lab.run(&["resume"]).exits(4);
    assert!(stopped.stderr.contains("relay logs") && !has_row(&lab, 3), "{stopped}");
    assert!(replicates(&lab), "{stopped}");

    lab.now("applied, it goes on");
    assert!(wait_for(SETTLED, || has_row(&lab, 3).then_some(())).is_some(), "n2 lost a row");
    assert!(has_row(&lab, 2) && replicates(&lab));
    let done = wait_for(SETTLED, || (lab.run(&["resume"]).code == Some(0)).then_some(()));
    assert!(done.is_some(), "it does not go on");
    assert!(replicates(&lab));
}
