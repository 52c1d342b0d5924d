//! Data at rest of a Galera cluster: node by node while an application writes, a transfer of state between nodes that have the keys, a new
//! member, and the way back.

use std::time::Duration;

use testbed::real::{LabSpec, RealLab, RealWriters, lab_slot};

use crate::lab_at_rest::{change, fill, is_readable, on, plain_files, readable, unexplained};

const SETTLED: Duration = Duration::from_secs(60);
const NODES: [&str; 3] = ["n1", "n2", "n3"];

fn is_encrypted(lab: &RealLab, node: &str, said: &str) {
    let left: Vec<String> =
        unexplained(readable(lab, node)).into_iter().filter(|file| file != "galera.cache").collect();
    assert!(left.is_empty(), "{node}: {left:?}\n{said}");
    assert_eq!(plain_files(lab, node), Vec::<String>::new(), "{node}\n{said}");
}

#[test]
fn a_cluster_is_encrypted_node_by_node_under_writers_transfers_state_and_goes_back() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::SEALED_WITH_SPARE);
    fill(&lab, "n1");
    lab.are_synced(&NODES, 3, SETTLED);
    for node in NODES {
        let mut session = lab.root(node);
        for sql in ["FLUSH LOCAL TABLES", "FLUSH TABLES rest.plain FOR EXPORT", "UNLOCK TABLES"] {
            session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        let files = readable(&lab, node);
        for start in ["rest/plain.ibd", "galera.cache"] {
            assert!(is_readable(&files, start), "{node} {start}: {files:?}");
        }
    }

    lab.now("enable tables,logs, while applications write");
    let writers = RealWriters::start_on(&lab, &NODES);
    let said = change(&lab, "enable");
    lab.are_synced(&NODES, 3, SETTLED);
    for node in NODES {
        is_encrypted(&lab, node, &said);
        assert_eq!(on(&lab, node, "innodb_encrypt_log"), "1", "{node}");
    }
    assert!(said.contains("Galera cache (1 file)"), "{said}");
    let outcome = writers.stop_and_audit();
    eprintln!("    {} acknowledged, {} failed: {:?}", outcome.acknowledged, outcome.failed, outcome.errors);

    let rows = |node: &str| {
        let tables = ["plain", "refused", "parts", "texts"];
        let mut session = lab.sql(node).expect("it answers");
        tables.map(|table| {
            let rows = session.query(&format!("CHECKSUM TABLE rest.{table}")).expect("there");
            rows.text(0, "Checksum").map(std::borrow::Cow::into_owned)
        })
    };

    lab.now("n3 has lost what it knows, and receives all from a donor");
    lab.lab(&["stop", "n3"]).exits(0);
    std::fs::remove_file(lab.node_dir("n3").join("data/grastate.dat")).expect("there");
    lab.lab(&["start", "n3"]).exits(0);
    lab.are_synced(&NODES, 3, SETTLED);
    assert!(lab.log("n3").contains("SST complete"), "it was no state transfer");
    assert_eq!(rows("n3"), rows("n1"));
    is_encrypted(&lab, "n3", "behind a state transfer");

    lab.now("a new member gets the keys first");
    let hash = lab.plan_hash_of(&["join", "n4"]);
    let said = lab.run(&["join", "n4", "--yes", &hash[..12]]).exits(0);
    assert_eq!(rows("n4"), rows("n1"));
    is_encrypted(&lab, "n4", &said.stderr);
    assert!(said.stderr.contains("n4: no page of tables and logs is plain"), "{said}");
    assert_eq!(on(&lab, "n4", "innodb_encrypt_log"), "1");
    lab.run(&["undo"]).exits(0);
    let keys = lab.node_dir("n4").join("etc/data-keys");
    assert!(!keys.exists(), "{}", keys.display());

    lab.now("disable tables,logs");
    change(&lab, "disable");
    lab.are_synced(&NODES, 3, SETTLED);
    for node in NODES {
        assert!(is_readable(&readable(&lab, node), "rest/plain.ibd"), "{node}");
    }
}
