//! A cluster whose nodes are other hosts: each has a network of its own, and nothing but ssh leads there. What is done on one machine
//! is done on them.

use std::fs;
use std::time::Duration;

use serde_json::Value;
use server::{AdminState, LiveProxy, Machine, ProxySpec, ReadProxy};
use testbed::real::{LabSpec, RealLab, RealWriters, lab_slot, wait_for};

use crate::lab_hosts_secrets::{copies, without_agent};

fn links(lab: &RealLab) -> Vec<Value> {
    lab.look(true)["links"].as_array().expect("links").clone()
}

fn text<'l>(link: &'l Value, key: &str) -> &'l str {
    link[key].as_str().unwrap_or_default()
}

/// Agents of this lab: they have its account's home.
fn agents(lab: &RealLab) -> Vec<String> {
    let home = format!("HOME={}", lab.dir.display());
    let entries = fs::read_dir("/proc").expect("Linux").flatten();
    let words = entries.filter_map(|entry| {
        let environment = fs::read(entry.path().join("environ")).ok()?;
        let is_ours = environment.split(|&byte| byte == 0).any(|one| one == home.as_bytes());
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        (is_ours && line.contains(" agent --")).then_some(line)
    });
    words.collect()
}

/// What HAProxy itself says of each node.
fn behind_proxy(lab: &RealLab) -> Vec<(String, AdminState, String)> {
    let socket = ::lab::proxy::socket(&lab.dir);
    let spec = ProxySpec { name: "proxy".into(), socket, servers: [].into() };
    let servers = LiveProxy::on(&Machine::This, spec).servers().expect("HAProxy answers");
    let all = servers.into_iter().map(|one| (one.name.to_string(), one.admin, one.status));
    // The last one joins on the way, and leaves again.
    all.filter(|(name, ..)| name != "galera/n4").collect()
}

/// How often HAProxy has written that a node was drained, and that it was set ready again.
fn drains(lab: &RealLab, node: &str) -> (usize, usize) {
    let log = fs::read_to_string(lab.dir.join("proxy/haproxy.log")).expect("there");
    let count = |what: &str| {
        log.lines().filter(|line| line.contains(&format!("Server galera/{node} {what}"))).count()
    };
    (count("enters drain state"), count("is UP (leaving forced drain)"))
}

#[test]
fn a_cluster_on_other_hosts_is_sealed_by_ssh_and_joined_under_load() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::HOSTS);

    lab.now("the operator reaches sshd and no server");
    let reach = |host: &[&str]| {
        let mut command = lab.command(&["lab", "exec"]);
        command.args(host).args(["--", "bash", "-c", "exec 3<>/dev/tcp/10.77.1.11/3306"]);
        testbed::real::Program::start(command).finish(Duration::from_secs(20))
    };
    assert_eq!(reach(&[]).code, Some(1), "the operator has a way to a server");
    reach(&["--host", "app"]).exits(0);

    lab.now("an audit asks the machine of each node");
    let audited = crate::lab_audit::Audited::of(&lab.run(&["--format", "json", "audit"]).exits(0));
    for node in ["n1", "n2", "n3"] {
        // The lab's agents may not look into a process (SL2703, SL2813).
        for rule in ["SL2801", "SL2802", "SL2804", "SL2806", "SL2817", "SL3003", "SL4213"] {
            let of_it: Vec<_> = audited.findings().filter(|one| one.0 == rule && one.2 == node).collect();
            assert!(of_it.len() == 1 && of_it[0].1 != "unknown", "{rule} of {node}: {of_it:?}");
        }
    }

    lab.now("captures on the hosts see cleartext of both ends, and who speaks it");
    let talkers = lab.talk(Duration::from_millis(200));
    for link in links(&lab) {
        assert_eq!(link["seen"], "plain", "{link:#}");
        let ends = [text(&link["link"], "a"), text(&link["link"], "b")];
        for host in ends.iter().filter(|end| **end != "client") {
            assert!(text(&link, "method").contains(&format!(" on {host}")), "{link:#}");
        }
        if link["link"]["kind"] == "client" {
            let who = link["cleartext_clients"][0].as_str().unwrap_or_default();
            assert!(who.starts_with("app@10.77.1.200:"), "{link:#}");
        }
    }
    talkers.stop();

    lab.now("a member that the inventory does not have is told by its address");
    let text_of_all = fs::read_to_string(lab.dir.join("sealion.toml")).expect("there");
    let at = text_of_all.find("[[arbitrator]]").expect("it has one");
    let end = text_of_all[at + 2..].find("\n[").map_or(text_of_all.len(), |length| at + 2 + length);
    let unnamed = lab.dir.join("unnamed.toml");
    fs::write(&unnamed, format!("{}{}", &text_of_all[..at], &text_of_all[end..])).expect("ours");
    let told = lab
        .run(&["status", "--canaries", "--inventory", &unnamed.display().to_string(), "--format", "json"])
        .json();
    let of_it: Vec<&Value> = told["links"]
        .as_array()
        .expect("links")
        .iter()
        .filter(|link| link["link"]["kind"] == "galera" && text(&link["link"], "a").starts_with("10.77."))
        .collect();
    assert_eq!(of_it.len(), 3, "one with each node: {told:#}");
    assert!(of_it.iter().all(|link| link["seen"] == "plain"), "{of_it:#?}");
    let line = format!("{}: it is not in the inventory", text(&of_it[0]["link"], "a"));
    assert!(told["not_looked_at"].to_string().contains(&line), "{told:#}");
    fs::remove_file(&unnamed).expect("ours");

    lab.now("a node that somebody has taken out of the proxy is left there, and the change is refused");
    let up = |node: &str| (format!("galera/{node}"), AdminState::Ready, "UP".to_owned());
    let all_up = ["n1", "n2", "n3"].map(up);
    assert_eq!(behind_proxy(&lab), all_up);
    let tell = |state: &str| {
        let command = format!("set server galera/n2 state {state}\n");
        let socket = net::Endpoint::unix(::lab::proxy::socket(&lab.dir));
        let said =
            net::ask(&socket, command.as_bytes(), 1024, Duration::from_secs(5)).expect("HAProxy answers");
        assert_eq!(String::from_utf8_lossy(&said).trim(), "");
    };
    tell("maint");
    let refused = lab.run(&["plan", "enable"]);
    assert!(refused.code == Some(6) && refused.stderr.contains("galera/n2 in maint already"), "{refused}");
    assert_eq!(behind_proxy(&lab)[1].1, AdminState::Maint);
    tell("ready");
    let back = wait_for(Duration::from_secs(20), || (behind_proxy(&lab) == all_up).then_some(()));
    assert!(back.is_some(), "{:?}", behind_proxy(&lab));

    lab.now("enable, while applications write through the proxy");
    let writers = RealWriters::start_behind_proxy(&lab);
    let hash = lab.plan_hash("enable");
    let said = lab.run(&["enable", "--watch-clients-s", "2", "--yes", &hash[..12]]).exits(0);
    assert!(said.stderr.contains("E6") || said.stdout.contains("E6"), "{said}");
    lab.is_sealed();
    // The writers are where they went when their nodes were restarted.
    let of_writers = links(&lab).into_iter().filter(|link| link["tcp_sessions"].as_u64() > Some(0));
    let seen: Vec<String> = of_writers.map(|link| text(&link, "seen").to_owned()).collect();
    assert!(!seen.is_empty() && seen.iter().all(|one| one == "sealed"), "the application's links: {seen:?}");
    for node in ["n1", "n2", "n3"] {
        assert_eq!(drains(&lab, node), (2, 2), "{node} in two rounds");
    }
    assert_eq!(behind_proxy(&lab), all_up);

    lab.now(
        "a fourth joins, and all of them and the arbitrator get new certificates, while applications write",
    );
    let hash = lab.plan_hash_of(&["join", "n4"]);
    let said = lab.run(&["join", "n4", "--yes", &hash[..12]]).exits(0);
    assert!(said.stderr.contains("only TLS was captured of the state transfer"), "{said}");
    // HAProxy's check is content with the greeting, and a port is open before its node is Synced.
    assert!(
        said.stderr.contains("proxy galera/n4: ready, drained until it was Synced, ready again"),
        "{said}"
    );
    let inventory = lab.dir.join("sealion.toml");
    let joining = fs::read_to_string(&inventory).expect("there");
    fs::write(&inventory, joining.replace("joining = true\n", "")).expect("ours");
    let hash = lab.plan_hash("rotate");
    lab.run(&["rotate", "--yes", &hash[..12]]).exits(0);
    let outcome = writers.stop_and_audit();
    assert!(outcome.acknowledged > 100, "{outcome:?}");
    assert_eq!(outcome.failed, 0, "{outcome:?}");
    assert_eq!(lab.members().len(), 5, "four nodes and an arbitrator");
    lab.is_sealed();

    fs::write(&inventory, joining).expect("ours");
}

#[test]
fn a_sealed_cluster_on_other_hosts_is_taken_back_by_ssh_under_load_and_put_on_again() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::SEALED_HOSTS);
    let up = |node: &str| (format!("galera/{node}"), AdminState::Ready, "UP".to_owned());
    let all_up = ["n1", "n2", "n3"].map(up);
    let writers = RealWriters::start_behind_proxy(&lab);

    lab.now("all of it is taken off, while applications write");
    let sealed = lab.files();
    let hash = lab.plan_hash("disable");
    lab.run(&["disable", "--yes", &hash[..12]]).exits(0);
    lab.is_plain();

    lab.now("nothing of sealion's runs on the hosts, but while it looks");
    let look = lab.start(&["status", "--look-ms", "5000"], None);
    let seen = wait_for(Duration::from_secs(60), || (!agents(&lab).is_empty()).then_some(()));
    assert!(seen.is_some(), "a look has agents");
    lab.ended(look.finish(Duration::from_secs(60)));
    let gone = wait_for(Duration::from_secs(30), || agents(&lab).is_empty().then_some(()));
    assert!(gone.is_some(), "{:#?}", agents(&lab));

    lab.now("and put on again by undo, to the byte, by copies that are brought there");
    let pushed = without_agent(&lab, "pushed.toml", "");
    let before = drains(&lab, "n1").0;
    lab.run(&["undo", "--watch-clients-s", "2", "--inventory", &pushed]).exits(0);
    let gone = wait_for(Duration::from_secs(30), || copies(&lab).is_empty().then_some(()));
    assert!(gone.is_some(), "{:?}", copies(&lab));
    lab.all_synced(Duration::from_secs(60));
    lab.is_sealed();
    assert_eq!(behind_proxy(&lab), all_up);
    assert!(drains(&lab, "n1").0 > before, "it was restarted undrained");
    assert!(lab.files() == sealed, "a file is not as it was");

    let outcome = writers.stop_and_audit();
    assert!(outcome.acknowledged > 100, "{outcome:?}");
    assert_eq!(outcome.failed, 0, "{outcome:?}");
    // What is ours of the lab's directory; the lab removes its own only.
    fs::remove_file(&pushed).expect("ours");
    fs::remove_dir_all(lab.dir.join(".cache")).expect("ours");
}
