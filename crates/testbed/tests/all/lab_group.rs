//! A member of a MySQL group: no verb changes it, and what was not checked of it is listed.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use testbed::real::{LabSpec, RealLab, lab_slot};

const GROUP: &str = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee";

#[test]
fn a_member_of_a_mysql_group_is_changed_by_no_verb() {
    let _slot = lab_slot();
    let lab = RealLab::up(LabSpec::MYSQL);
    let plans: [&[&str]; 6] = [
        &["enable"],
        &["enable", "clients"],
        &["enable", "clients,accounts"],
        &["disable", "clients"],
        &["rotate"],
        &["rotate", "ca"],
    ];
    let plan = |words: &[&str]| lab.run(&[&["plan"], words, &["--format", "json"]].concat());
    // The control: nothing else speaks against the first of them.
    let first = plan(&["enable"]).exits(0).json();
    lab.now("a change that was begun before");
    let on_a_node =
        |step: &&serde_json::Value| step["nodes"].as_array().is_some_and(|nodes| !nodes.is_empty());
    let step = first["steps"].as_array().unwrap().iter().find(on_a_node).expect("a step on the server");
    let (hash, step) = (first["state_hash"].as_str().unwrap(), step["id"].as_str().unwrap());
    let mut held = lab.start(&["enable", "--yes", &hash[..12]], Some(&format!("{step}:verifying")));
    assert!(held.says("held at", Duration::from_secs(60)), "{}", held.stderr());
    held.kill();
    let mut root = lab.root("n1");
    for sql in [
        "INSTALL PLUGIN group_replication SONAME 'group_replication.so'",
        &format!("SET GLOBAL group_replication_group_name = '{GROUP}'"),
        "SET GLOBAL group_replication_local_address = '127.0.0.1:14951'",
        "SET GLOBAL group_replication_group_seeds = '127.0.0.1:14951'",
        "SET GLOBAL group_replication_ssl_mode = 'DISABLED'",
        "SET GLOBAL group_replication_bootstrap_group = ON",
        "START GROUP_REPLICATION",
    ] {
        root.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let member = "SELECT MEMBER_STATE FROM performance_schema.replication_group_members";
    assert_eq!(root.query(member).unwrap().scalar().as_deref(), Some("ONLINE"));
    for words in ["resume", "undo"] {
        let refused = lab.run(&[words]).exits(4);
        assert!(refused.stderr.contains(GROUP), "{refused}");
    }
    lab.run(&["abandon", "--yes", &hash[..12]]).exits(0);
    for words in plans {
        let refused = plan(words).exits(6);
        assert!(refused.stderr.contains(GROUP), "{refused}");
    }
    let status = lab.look(false);
    let not_checked = status["not_looked_at"].as_array().unwrap();
    let of_group = |one: &&serde_json::Value| one.as_str().is_some_and(|text| text.contains(GROUP));
    let links = not_checked.iter().find(of_group).unwrap_or_else(|| panic!("{status:#}"));
    assert!(links.as_str().unwrap().contains("group_replication_ssl_mode is DISABLED"), "{links}");

    // Out of it, but not out of its settings: its next start may be into the group.
    root.execute("STOP GROUP_REPLICATION").unwrap();
    plan(&["enable"]).exits(6);
}
