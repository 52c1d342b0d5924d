//! A fourth server becomes a member of three sealed ones while an application writes; it is taken out again, and joins once more with
//! its sealion killed on the way; and one that begins a cluster of its own is stopped, and not let in as it is.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
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
    no_certificate_where_a_node_takes_it_for_a_members(&lab);
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

    lab.now("undo, and a start command that begins a new cluster with the copy of the data that it has");
    lab.run(&["undo"]).exits(0);
    let grastate = lab.node_dir("n4").join("data/grastate.dat");
    let copy = fs::read_to_string(&grastate).expect("it was a member");
    // As somebody who insists.
    fs::write(&grastate, copy.replace("safe_to_bootstrap: 0", "safe_to_bootstrap: 1")).expect("ours");
    fs::write(&inventory, with_launcher(&text, &launcher(&lab, "n4"), "n4")).expect("ours");
    let hash = lab.plan_hash_of(&["join", "n4"]);
    let said = lab.run(&["join", "n4", "--yes", &hash[..12]]).exits(4);
    for words in ["n4 has begun a cluster of its own", "is a copy of theirs", "it was stopped again"] {
        assert!(said.stderr.contains(words), "{said}");
    }
    assert!(lab.sql("n4").is_err(), "it runs on");

    lab.now("it is not let in with what it wrote then, and gets the whole data");
    fs::write(&inventory, &text).expect("ours");
    let said = lab.run(&["resume"]).exits(4);
    assert!(
        said.stderr.contains("n4 may not be started now") && said.stderr.contains("grastate.dat"),
        "{said}"
    );
    fs::remove_file(&grastate).expect("ours");
    let said = lab.run(&["resume"]).exits(0);
    assert!(said.stderr.contains("SST)"), "{said}");
    lab.are_synced(&["n1", "n2", "n3", "n4"], 4, Duration::from_secs(30));
    assert_eq!(starts(&lab), started, "a member was restarted");
}

/// What a node has loaded counts, and not what its file says by then.
fn no_certificate_where_a_node_takes_it_for_a_members(lab: &RealLab) {
    lab.now("no client gets a certificate that a node takes for a member's");
    let out = lab.home().join("app-tls");
    let give = |name: &str| lab.run(&["trust", "client", name, "--out", out.to_str().expect("text")]);
    give("first").exits(0);
    let ca = lab.node_dir("n2").join("etc/ssl/ca.pem");
    let own = fs::read(&ca).expect("it has one");
    let of_clients = fs::read(lab.dir.join("operator/ca/clients/ca.pem")).expect("it was made");
    let load = |pem: &[u8]| {
        fs::write(&ca, pem).expect("ours");
        lab.root("n2").execute("SET GLOBAL wsrep_provider_options='socket.ssl_reload=1'").expect("it may");
    };
    load(&[own.clone(), of_clients].concat());
    fs::write(&ca, &own).expect("ours");
    let refused = give("second").exits(6);
    assert!(refused.stderr.contains("n2 takes a client's certificate for a member's"), "{refused}");
    assert!(!refused.stderr.contains("n1 takes") && !out.join("second-key.pem").exists(), "{refused}");
    load(&own);
    give("second").exits(6);
    lab.lab(&["stop", "n2"]);
    give("third").exits(0);
    lab.lab(&["start", "n2"]);
    lab.are_synced(&["n1", "n2", "n3"], 3, Duration::from_secs(60));
    give("second").exits(0);
    // The lab removes its own only.
    fs::remove_dir_all(lab.dir.join("operator/ca/clients")).expect("ours");
}

/// A program that starts a node as the lab does, but for an option on its command line that no file shows.
fn launcher(lab: &RealLab, node: &str) -> PathBuf {
    let own = |path: PathBuf| fs::read(path).expect("a server of this lab");
    let file = lab.file();
    let pid = String::from_utf8(own(file.nodes[0].pid_file())).expect("a number");
    let words = |what: &str| {
        let bytes = own(PathBuf::from(format!("/proc/{}/{what}", pid.trim())));
        let text = String::from_utf8(bytes).expect("text");
        let words: Vec<String> =
            text.split('\0').filter(|word| !word.is_empty()).map(|word| format!("'{word}'")).collect();
        words.join(" ")
    };
    let (from, to) = (lab.node_dir("n1").display().to_string(), lab.node_dir(node).display().to_string());
    let command = words("cmdline").replace(&from, &to);
    assert!(command.contains(&to), "{command}");
    let script = lab.home().join("launcher");
    let text = format!(
        "#!/bin/sh\npid=$(pgrep -f -- '--defaults-file={to}/')\ncase $1 in\n\
         start) setsid env -i {} {command} --wsrep-new-cluster </dev/null >/dev/null 2>&1 & ;;\n\
         stop) kill $pid; while kill -0 $pid 2>/dev/null; do sleep 0.2; done ;;\n\
         alive) kill -0 $pid 2>/dev/null || exit 1 ;;\nesac\n",
        words("environ")
    );
    fs::write(&script, text).expect("the test's own directory");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).expect("ours");
    script
}

/// The inventory in which `node` is started, stopped and asked for by that program.
fn with_launcher(inventory: &str, program: &Path, node: &str) -> String {
    let (before, mut own) = {
        let at = inventory.find(&format!("name = \"{node}\"")).expect("it is in the inventory");
        (inventory[..at].to_owned(), inventory[at..].to_owned())
    };
    for key in ["start", "stop", "alive"] {
        let begins = own.find(&format!("\n{key} = [")).unwrap_or_else(|| panic!("no {key} in {own}"));
        let ends = begins + own[begins..].find(']').expect("a list");
        own.replace_range(begins..=ends, &format!("\n{key} = [\"{}\", \"{key}\"]", program.display()));
    }
    before + &own
}
