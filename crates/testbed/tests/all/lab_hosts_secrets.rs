//! What is secret on a cluster whose nodes are other hosts: in no process' arguments or environment, on any host or at the operator's;
//! in no file but its own; and the CA's key and the login's password in nothing that is sent to a host.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use testbed::real::secrets::{Seen, Watch};
use testbed::real::{LabSpec, Program, RealLab, lab_slot, wait_for};

const FRAMES: &str = "sent.";
const HELD_S_MAX: u64 = 120;

/// The lab's inventory, with an ssh that keeps what it is given on its standard input: everything that is sent to an agent.
fn inventory_that_keeps_frames(lab: &RealLab, into: &Path) -> String {
    let script = lab.home().join("ssh-that-keeps");
    let text = format!("#!/bin/sh\ntee '{}'/{FRAMES}$$ | \"$@\"\n", into.display());
    fs::write(&script, text).expect("the test's own directory");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).expect("ours");
    let text = fs::read_to_string(lab.dir.join("sealion.toml")).expect("the lab has an inventory");
    let (head, rest) = text.split_once("[ssh]\ncommand = [").expect("it says which ssh");
    let path = lab.dir.join("keeps.toml");
    fs::write(&path, format!("{head}[ssh]\ncommand = [\"{}\", {rest}", script.display())).expect("writable");
    path.display().to_string()
}

fn frames(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(dir).expect("the test's own directory").flatten().map(|entry| entry.path());
    let sent = entries.filter(|path| path.to_string_lossy().contains(FRAMES));
    sent.map(|path| (path.clone(), fs::read(&path).expect("ours"))).collect()
}

/// Secrets of the operator in what was sent; and how often a node's key was, which has to get there.
fn in_frames(seen: &Seen, dir: &Path) -> (Vec<String>, usize) {
    let found: Vec<String> = frames(dir)
        .iter()
        .flat_map(|(path, bytes)| seen.in_bytes(&path.display().to_string(), bytes))
        .collect();
    let is_node_key = |line: &&String| line.contains("of the private key") && line.contains("node-key.pem");
    let keys = found.iter().filter(is_node_key).count();
    (found.into_iter().filter(|line| !is_node_key(&line)).collect(), keys)
}

/// Whoever has the inventory, the login and the CA goes on with a change whose own workstation is lost: the hosts have its journal.
fn goes_on_from_another_workstation(lab: &RealLab) {
    lab.now("disable, killed half-way on a workstation that is lost");
    let plan = lab.run(&["plan", "disable", "--format", "json"]).exits(0).json();
    let steps = plan["steps"].as_array().expect("steps");
    let of_n2: Vec<&str> = steps
        .iter()
        .filter(|step| step["restarts_server"] == true && step["nodes"][0] == "n2")
        .map(|step| step["id"].as_str().expect("an id"))
        .collect();
    let moment = format!("{}:acting", of_n2.first().unwrap_or_else(|| panic!("no restart of n2: {plan:#}")));
    let hash = plan["state_hash"].as_str().expect("a hash");
    let mut change = lab.start(&["disable", "--yes", &hash[..12]], Some(&moment));
    let is_held = change.says(&format!("held at {moment} "), Duration::from_secs(HELD_S_MAX));
    assert!(is_held, "{}", change.stderr());
    lab.ended(change.kill());
    fs::remove_dir_all(lab.dir.join("operator/state")).expect("ours");

    lab.now("resume by ssh from another state directory");
    let text = fs::read_to_string(lab.dir.join("sealion.toml")).expect("the lab has an inventory");
    let there = lab.dir.join("operator/state").display().to_string();
    assert_eq!(text.matches(&format!("\"{there}\"")).count(), 1, "{text}");
    let another = lab.home().join("another-state");
    let inventory = lab.dir.join("elsewhere.toml");
    fs::write(&inventory, text.replace(&there, &another.display().to_string())).expect("writable");
    let inventory_text = inventory.display().to_string();
    let said = lab.run(&["resume", "--inventory", &inventory_text]).exits(0);
    assert!(said.stderr.contains("made from a node's"), "{said}");
    lab.is_plain();
    assert!(
        testbed::real::files_below(&another)
            .iter()
            .any(|path| path.extension().is_some_and(|end| end == "journal")),
        "{}",
        another.display()
    );
    let said = lab.run(&["resume", "--inventory", &inventory_text]).exits(6);
    assert!(said.stderr.contains("nothing to resume"), "{said}");
    fs::remove_file(&inventory).expect("ours");
}

/// The lab's inventory, but for the place of a sealion on its hosts.
pub fn without_agent(lab: &RealLab, name: &str, more: &str) -> String {
    let text = fs::read_to_string(lab.dir.join("sealion.toml")).expect("there");
    assert!(text.contains("\nagent = "), "{text}");
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("agent = ")).collect();
    let text = lines.join("\n").replace("[ssh]\n", &format!("[ssh]\n{more}"));
    let path = lab.dir.join(name);
    fs::write(&path, text).expect("writable");
    path.display().to_string()
}

/// What sealion has of its own on the hosts, which share the home of the lab's account.
pub fn copies(lab: &RealLab) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(lab.dir.join(".cache/sealion-agent")) else { return vec![] };
    entries.flatten().map(|entry| entry.path()).collect()
}

/// Hosts without sealion.
fn copies_come_and_go(lab: &RealLab) {
    lab.now("hosts without sealion are given a copy, which is gone with the command");
    let pushed = without_agent(lab, "pushed.toml", "");
    let look = |inventory: &str| {
        let seen = lab
            .run(&["status", "--look-ms", "0", "--inventory", inventory, "--format", "json"])
            .exits(0)
            .json();
        let nodes = seen["nodes"].as_array().expect("nodes").len();
        assert_eq!(nodes, 3, "{seen:#}");
    };
    look(&pushed);
    let gone = wait_for(Duration::from_secs(30), || copies(lab).is_empty().then_some(()));
    assert!(gone.is_some(), "{:?}", copies(lab));
    assert!(lab.dir.join(".cache/sealion-agent").is_dir(), "nothing was ever copied");

    lab.now("one that is kept is the same for the next command, and is not started once it was changed");
    let kept = without_agent(lab, "kept.toml", "keep_agent = true\n");
    look(&kept);
    let [copy] = &copies(lab)[..] else { panic!("{:?}", copies(lab)) };
    let ours = fs::read(copy).expect("there");
    let stolen = lab.dir.join("stolen");
    fs::write(copy, format!("#!/bin/sh\ntouch '{}'\n", stolen.display())).expect("ours");
    look(&kept);
    assert!(!stolen.exists(), "what somebody else wrote was started");
    assert!(fs::read(copy).expect("there") == ours, "it was not replaced");
    fs::remove_file(copy).expect("ours");
    for path in [&pushed, &kept] {
        fs::remove_file(path).expect("ours");
    }
    fs::remove_dir_all(lab.dir.join(".cache")).expect("ours");
}

#[test]
fn no_secret_is_seen_on_any_host_and_the_ca_key_stays_with_the_operator() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::ONLY_HOSTS);
    copies_come_and_go(&lab);
    let kept = lab.home().join("frames");
    fs::create_dir(&kept).expect("the test's own directory");
    let inventory = inventory_that_keeps_frames(&lab, &kept);
    let change = |verb: &str| {
        let plan = lab.run(&["plan", verb, "--inventory", &inventory, "--format", "json"]).exits(0).json();
        let hash = plan["state_hash"].as_str().expect("a hash").to_owned();
        lab.run(&[verb, "--inventory", &inventory, "--yes", &hash[..12], "-v"]).exits(0)
    };

    let watch = Watch::start_in(&lab);
    lab.now("enable");
    let enabled = change("enable");
    lab.now("rotate");
    let rotated = change("rotate");
    watch.look_deeply();
    let seen = watch.finish();

    let (words, file_scans, deep_scans) = seen.counts();
    let known = seen.secrets();
    eprintln!(
        "{} secrets looked for in {words} command lines and environments, {file_scans} looks at all files, {} connections to hosts",
        known.len(),
        frames(&kept).len()
    );
    for what in [
        "the password of operator.cnf",
        "the CA passphrase",
        "a line of the CA's key",
        "a line of the CA's key as it is kept",
    ] {
        assert!(known.contains(what), "the watch did not learn {what}: {known:?}");
    }
    assert!(words > 20 && file_scans > 5 && deep_scans > 0);
    assert_eq!(seen.in_processes(), Vec::<String>::new());
    assert_eq!(seen.in_files(), Vec::<&String>::new());
    for said in [enabled, rotated] {
        assert_eq!(seen.in_bytes("stdout", said.stdout.as_bytes()), Vec::<String>::new());
        assert_eq!(seen.in_bytes("stderr", said.stderr.as_bytes()), Vec::<String>::new());
    }
    let (leaked, keys) = in_frames(&seen, &kept);
    assert_eq!(leaked, Vec::<String>::new(), "was sent to a host");
    assert!(
        keys >= 3,
        "each node was sent a key, and {keys} lines of them were found: this search finds nothing"
    );

    goes_on_from_another_workstation(&lab);

    lab.now("the control: what is planted is found");
    let password = {
        let text = fs::read_to_string(lab.dir.join("operator.cnf")).expect("there");
        text.lines().find_map(|line| line.strip_prefix("password=")).expect("a password").to_owned()
    };
    let watch = Watch::start_in(&lab);
    let planted = lab.node_dir("n2").join("run/ca-key.pem.bak");
    fs::copy(lab.dir.join("operator/ca/ca-key.pem"), &planted).expect("ours");
    let mut sleeps =
        lab.command(&["lab", "exec", "--host", "n2", "--", "sh", "-c", "echo planted >&2; exec sleep 60"]);
    sleeps.env("FORGOTTEN", &password);
    let mut sleeps = Program::start(sleeps);
    assert!(sleeps.says("planted", Duration::from_secs(20)), "{}", sleeps.stderr());
    watch.look_deeply();
    let seen = watch.finish();
    sleeps.kill();
    assert!(seen.in_processes().iter().any(|line| line.contains("the password of operator.cnf")));
    let found = seen.in_files();
    let is_planted = |line: &&&String| line.contains("ca-key.pem.bak") && line.contains("the CA's key");
    assert!(found.iter().any(|line| is_planted(&line)), "{found:?}");
    fs::remove_file(&planted).expect("ours");
    fs::remove_file(lab.dir.join("keeps.toml")).expect("ours");
}
