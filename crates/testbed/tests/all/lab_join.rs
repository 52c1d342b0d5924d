//! A fourth server becomes a member of three sealed ones while an application writes; it is taken out again, and joins once more with
//! its sealion killed on the way.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use serde_json::Value;
use testbed::real::{LabSpec, RealLab, RealWriters, lab_slot};

const MEMBERS: [&str; 3] = ["n1", "n2", "n3"];

/// When each server was started, as it says itself: another one after every start.
fn starts(lab: &RealLab) -> BTreeMap<&'static str, String> {
    let id = |node| lab.status_of(node, "wsrep_gcomm_uuid").expect("it answers");
    MEMBERS.into_iter().map(|node| (node, id(node))).collect()
}

fn names(look: &Value) -> Vec<String> {
    let nodes = look["nodes"].as_array().expect("nodes");
    nodes.iter().map(|node| node["node"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn a_new_server_joins_a_sealed_cluster_under_load_and_leaves_it_again() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::SEALED_WITH_SPARE);
    let (before, started) = (lab.files(), starts(&lab));

    lab.now("a server that is no member yet is left out, and that is said");
    let look = lab.look(false);
    assert_eq!(names(&look), MEMBERS);
    assert!(
        look["not_looked_at"].to_string().contains("n4: its entry in the inventory has `joining = true`"),
        "{look:#}"
    );

    lab.now("one whose data is somebody's is refused");
    let foreign = lab.node_dir("n4").join("data/shop");
    fs::create_dir(&foreign).expect("ours");
    let said = lab.run(&["plan", "join", "n4"]).exits(6);
    assert!(
        said.stderr.contains("holds schemas of users") && said.stderr.contains("--replace-data"),
        "{said}"
    );
    fs::remove_dir(&foreign).expect("ours");

    lab.now("join, while an application writes");
    let writers = RealWriters::start_on(&lab, &MEMBERS);
    let hash = lab.plan_hash_of(&["join", "n4"]);
    let said = lab.run(&["join", "n4", "--yes", &hash[..12]]).exits(0);
    assert!(said.stderr.contains("only TLS was captured of the state transfer"), "{said}");
    assert!(said.stderr.contains("links carried only TLS"), "{said}");
    assert!(said.stderr.contains("remove `joining = true` of n4"), "{said}");
    let outcome = writers.stop_and_audit();
    assert!(outcome.acknowledged > 100, "{outcome:?}");
    assert_eq!(outcome.failed, 0, "{:?}", outcome.errors);
    lab.are_synced(&["n1", "n2", "n3", "n4"], 4, Duration::from_secs(30));
    assert_eq!(starts(&lab), started, "a member was restarted");
    let again = lab.run(&["join", "n4"]).exits(0);
    assert!(again.stdout.contains("n4 is a member already"), "{again}");

    lab.now("with its line gone, the new node is one of four");
    let inventory = lab.dir.join("sealion.toml");
    let text = fs::read_to_string(&inventory).expect("there");
    fs::write(&inventory, text.replace("joining = true\n", "")).expect("ours");
    let look = lab.look(true);
    assert_eq!(names(&look).len(), 4);
    let links = look["links"].as_array().expect("links");
    let galera: Vec<&Value> = links.iter().filter(|link| link["link"]["kind"] == "galera").collect();
    assert_eq!(galera.len(), 6);
    for link in galera {
        assert_eq!(link["seen"], "sealed", "{link:#}");
    }

    lab.now("undo takes it out, and gives its files back");
    lab.run(&["undo"]).exits(0);
    assert!(lab.files() == before, "a file is not as it was");
    assert!(MEMBERS.iter().all(|node| lab.is_synced(node, 3)));

    lab.now("once more, and sealion is killed when the server was started");
    fs::write(&inventory, &text).expect("ours");
    let hash = lab.plan_hash_of(&["join", "n4"]);
    let mut held = lab.start(&["join", "n4", "--yes", &hash[..12]], Some("J3.n4:verifying"));
    assert!(held.says("held at J3.n4:verifying", Duration::from_secs(60)), "{}", held.stderr());
    lab.ended(held.kill());
    let said = lab.run(&["resume"]).exits(0);
    assert!(said.stderr.contains("J4"), "{said}");
    lab.are_synced(&["n1", "n2", "n3", "n4"], 4, Duration::from_secs(30));
    assert_eq!(starts(&lab), started, "a member was restarted");
}
