//! What outsiders did to sealion on real servers, one thing after the other on one lab: clients in cleartext while it looks, a
//! second operator, a server that cannot be reached or stands still, links in place of files, a change that is given up.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::time::Duration;

use ::lab::layout::SQL_PORT;
use model::{Clock, SystemClock};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use testbed::real::bundled::{Bundled, bundle};
use testbed::real::{LabSpec, Program, ProgramOutput, RealLab, files_below, lab_slot, wait_for};

const HELD_S_MAX: u64 = 300;
const WHOLE_S_MAX: u64 = 120;
/// Talkers never leave by themselves.
const DRAIN: [&str; 2] = ["--drain-s-max", "1"];

fn seen(lab: &RealLab) -> Vec<Value> {
    lab.look(true)["links"].as_array().expect("links").clone()
}

fn client_links(lab: &RealLab) -> Vec<Value> {
    seen(lab).into_iter().filter(|link| link["link"]["kind"] == "client").collect()
}

fn requires_tls(lab: &RealLab) -> Vec<Option<String>> {
    lab.live().into_values().map(|live| Some(live?.rsplit('|').next()?.to_owned())).collect()
}

fn pid(lab: &RealLab, node: &str) -> i32 {
    let text = std::fs::read_to_string(lab.node_dir(node).join("run/pid")).expect("it runs");
    text.trim().parse().expect("a number")
}

/// Starts a command that is held at a moment.
fn held(lab: &RealLab, words: &[&str], moment: &str) -> Program {
    let mut change = lab.start(words, Some(moment));
    let is_there = change.says(&format!("held at {moment} "), Duration::from_secs(HELD_S_MAX));
    assert!(is_there, "it did not come to {moment}: {}", change.stderr());
    change
}

#[test]
fn what_outsiders_did_is_seen_refused_or_survived() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::GALERA);

    lab.now("n1's option file is a symbolic link");
    let (cnf, elsewhere) = (lab.galera_cnf("n1"), lab.home().join("kept-elsewhere.cnf"));
    std::fs::rename(&cnf, &elsewhere).expect("ours");
    symlink(&elsewhere, &cnf).expect("ours");
    let before = lab.files();
    let as_it_was = std::fs::read(&elsewhere).expect("readable");

    clear_text_is_never_called_sealed(&lab);
    a_second_operator_waits_for_the_first(&lab);
    lab.now("the link is one still");
    assert!(cnf.symlink_metadata().expect("there").is_symlink());
    assert_ne!(std::fs::read(&elsewhere).expect("readable"), as_it_was);
    others_cannot_read_what_sealion_wrote(&lab);

    a_server_that_does_not_answer_is_not_stopped(&lab);
    lab.now("undone: the link and every byte are as before");
    assert!(cnf.symlink_metadata().expect("there").is_symlink());
    assert_eq!(std::fs::read(&elsewhere).expect("readable"), as_it_was);
    assert_eq!(lab.files().keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    assert!(lab.files() == before, "a file is not as it was");

    a_change_is_given_up_and_another_begins(&lab);
}

fn clear_text_is_never_called_sealed(lab: &RealLab) {
    lab.now("clients in cleartext are seen and named");
    let talkers = lab.talk(Duration::from_millis(200));
    for link in client_links(lab) {
        assert_eq!(link["seen"], "plain", "{link:#}");
        let who = link["cleartext_clients"][0].as_str().unwrap_or_default();
        assert!(who.starts_with("app@"), "{link:#}");
    }

    lab.now("enable stops before they are cut off");
    let hash = lab.plan_hash("enable");
    let words = [&["enable", "--yes", &hash[..12]][..], &DRAIN].concat();
    let said = lab.run(&words).exits(4);
    assert!(said.stderr.contains("still use cleartext") && said.stderr.contains("app@"), "{said}");
    let now = SystemClock.unix_ms();
    assert_eq!(requires_tls(lab), vec![Some("OFF".to_owned()); 3], "nobody is refused yet");
    let talks = wait_for(Duration::from_secs(30), || (talkers.said_since(now) > 5).then_some(()));
    assert!(talks.is_some(), "the application was cut off");
    talkers.stop();

    lab.now("sessions that say nothing while it looks are not taken for TLS");
    let silent = lab.talk(Duration::from_secs(600));
    let connected = wait_for(Duration::from_secs(30), || {
        let links = client_links(lab);
        links.iter().all(|link| link["tcp_sessions"] == 1).then_some(links)
    });
    for link in connected.expect("they are connected") {
        assert_eq!(link["seen"], "unknown", "{link:#}");
        assert!(
            link["why"].as_str().unwrap_or_default().contains("no packet of 1 session was captured"),
            "{link:#}"
        );
    }
    let said = lab.run(&["resume"]).exits(4);
    assert!(said.stderr.contains("could not be seen") && said.stderr.contains("app@"), "{said}");
    silent.stop();

    lab.now("a client that calls in now and then is known from the server's counters");
    let counts =
        |statement: &str| lab.sql("n1").expect("n1 answers").execute(statement).expect("a statement");
    counts("SET GLOBAL userstat=ON");
    let calls = lab.call_in(Duration::from_secs(600));
    assert!(
        wait_for(Duration::from_secs(30), || (calls.said_since(0) >= 3).then_some(())).is_some(),
        "it is answered once on each node"
    );
    let said = lab.run(&["resume"]).exits(4);
    assert!(said.stderr.contains("are not connected now") && said.stderr.contains("1 of "), "{said}");
    assert_eq!(requires_tls(lab), vec![Some("OFF".to_owned()); 3], "nobody is refused yet");
    calls.stop();
    counts("FLUSH LOCAL CLIENT_STATISTICS");
}

fn a_second_operator_waits_for_the_first(lab: &RealLab) {
    lab.now("a second operator, with a state directory of their own");
    let first = held(lab, &["resume"], "E5.n2:acting");
    let text = std::fs::read_to_string(lab.dir.join("sealion.toml")).expect("the lab has an inventory");
    let own = lab.home().join("second-state");
    let theirs: Vec<String> = text
        .lines()
        .map(|line| {
            if line.starts_with("state_dir") && line.contains("operator") {
                format!("state_dir = \"{}\"", own.display())
            } else {
                line.to_owned()
            }
        })
        .collect();
    let inventory = lab.dir.join("second.toml");
    std::fs::write(&inventory, theirs.join("\n")).expect("writable");
    let second = |words: &[&str]| -> ProgramOutput {
        let inventory = inventory.display().to_string();
        lab.run(&[words, &["--inventory", &inventory]].concat())
    };
    let said = second(&["resume"]).exits(6);
    assert!(said.stderr.contains("holds the lease") && said.stderr.contains("--take-over"), "{said}");
    let said = lab.run(&["status"]);
    assert!(said.stdout.contains("CHANGE IN PROGRESS"), "{said}");

    lab.now("the first one is gone: the second goes on, and proves it");
    lab.ended(first.kill());
    let said = lab.run(&["status"]);
    assert!(
        !said.stdout.contains("CHANGE IN PROGRESS") && said.stdout.contains("UNFINISHED CHANGE"),
        "{said}"
    );
    let callers = clients_that_come_to_nothing(lab);
    let turned_away = |said: &str| ["Access denied", "alert"].map(|word| said.matches(word).count());
    let before = turned_away(&callers.stderr());
    let said = second(&["resume"]).exits(0);
    let after = callers.finish(Duration::from_secs(15));
    let came = before.iter().zip(turned_away(&after.stderr)).all(|(before, after)| after > before + 1);
    assert!(came, "they did not come all the time\n{after}");
    for word in ["3 Galera ports completed a TLS handshake", "3 nodes refused a client without TLS"] {
        assert!(said.stderr.contains(word), "{said}");
    }
    lab.is_sealed();

    lab.now("the first one's journal is shorter, and no copy becomes so");
    let copies = || -> Vec<(PathBuf, u64)> {
        let dirs = lab.nodes().into_iter().map(|node| lab.node_dir(&node).join("sealion"));
        dirs.flat_map(|dir| files_below(&dir))
            .filter(|path| path.extension().is_some_and(|end| end == "journal"))
            .map(|path| (path.clone(), path.metadata().expect("there").len()))
            .collect()
    };
    let long = copies();
    let said = lab.run(&["resume"]);
    assert!(matches!(said.code, Some(0 | 6)), "{said}");
    for ((path, before), (_, now)) in long.into_iter().zip(copies()) {
        assert!(now >= before, "{} was made shorter", path.display());
    }
}

/// On every node, again and again: a client whose TLS version no server takes, and one in cleartext with a wrong password. Neither
/// comes to a session, so neither speaks against a proof.
fn clients_that_come_to_nothing(lab: &RealLab) -> Program {
    let addresses: Vec<String> = lab.file().nodes.iter().map(|node| node.address.to_string()).collect();
    let client = bundle("galera-10.11").join("usr/bin/mariadb");
    let script = format!(
        "while kill -0 $$ 2>/dev/null; do for a in {}; do \
         timeout 5 openssl s_client -connect $a:{SQL_PORT} -starttls mysql -tls1_1 -cipher DEFAULT@SECLEVEL=0 </dev/null >/dev/null; \
         timeout 5 {} --no-defaults --skip-ssl -h $a -P {SQL_PORT} -u app -pwrong -e 'SELECT 1'; \
         done; sleep 0.2; done & read end; kill $!",
        addresses.join(" "),
        client.display()
    );
    let mut callers = Program::start(lab.command(&["lab", "exec", "--", "sh", "-c", &script]));
    assert!(callers.says("Access denied", Duration::from_secs(30)), "{}", callers.stderr());
    callers
}

fn others_cannot_read_what_sealion_wrote(lab: &RealLab) {
    lab.now("journals, copies and leases are for their owner only");
    let mut dirs = vec![lab.dir.join("operator/state/journals"), lab.home().join("second-state")];
    dirs.extend(lab.nodes().iter().map(|node| lab.node_dir(node).join("sealion")));
    let files: Vec<PathBuf> = dirs.iter().flat_map(|dir| files_below(dir)).collect();
    assert!(files.iter().any(|path| path.extension().is_some_and(|end| end == "journal")), "{files:?}");
    for path in files {
        let mode = path.metadata().expect("there").permissions().mode() & 0o777;
        let is_store = path.to_string_lossy().contains("runs.sqlite");
        assert!(is_store || mode.trailing_zeros() >= 6, "{} has the mode {mode:o}", path.display());
    }
}

fn a_server_that_does_not_answer_is_not_stopped(lab: &RealLab) {
    lab.now("undo, with the socket of n2 out of the way and n3 killed");
    let hash = {
        let said = lab.run_as_typed(&["undo"]);
        let words = said.stderr.split_whitespace().skip_while(|word| *word != "--yes");
        words.skip(1).map(str::to_owned).next().expect("it names the plan")
    };
    let change = held(lab, &[&["undo", "--yes", &hash][..], &DRAIN].concat(), "E4.n2:undo-acting");
    lab.ended(change.kill());
    let (socket, hidden) = (lab.node_dir("n2").join("run/s"), lab.node_dir("n2").join("run/hidden"));
    let before = pid(lab, "n2");
    lab.kill_node("n3");
    std::fs::rename(&socket, &hidden).expect("ours");
    let said = lab.run(&[&["resume"][..], &DRAIN].concat()).exits(4);
    assert!(said.stderr.contains("n2 does not answer"), "{said}");
    assert_eq!(pid(lab, "n2"), before, "a serving node was stopped");
    assert_eq!(lab.status_of("n1", "wsrep_cluster_status").as_deref(), Some("Primary"));
    std::fs::rename(&hidden, &socket).expect("ours");

    lab.now("the same, with n2 standing still for nine seconds");
    let frozen = Pid::from_raw(before);
    kill(frozen, Signal::SIGSTOP).expect("ours");
    let change = lab.start(&[&["resume"][..], &DRAIN].concat(), None);
    std::thread::sleep(Duration::from_secs(9));
    assert_eq!(pid(lab, "n2"), before, "it was stopped while it stood still");
    kill(frozen, Signal::SIGCONT).expect("ours");
    let said = lab.ended(change.finish(Duration::from_secs(HELD_S_MAX)));
    if said.code != Some(0) {
        assert_eq!(said.code, Some(4), "{said}");
        lab.all_synced(Duration::from_secs(WHOLE_S_MAX));
        lab.run(&[&["resume"][..], &DRAIN].concat()).exits(0);
    }
    lab.all_synced(Duration::from_secs(WHOLE_S_MAX));
    lab.is_plain();
}

fn a_change_is_given_up_and_another_begins(lab: &RealLab) {
    lab.now("enable is killed and given up");
    let hash = lab.plan_hash("enable");
    let change = held(lab, &["enable", "--yes", &hash[..12]], "E2.n2:acting");
    lab.ended(change.kill());
    let said = lab.run(&["abandon"]).exits(2);
    assert!(said.stderr.contains("sealion abandon --yes"), "{said}");
    let said = lab.run(&["abandon", "--yes", &hash[..12]]).exits(0);
    assert!(said.stdout.contains("E2.n3: done") && said.stdout.contains("E2.n2: begun"), "{said}");
    assert!(said.stdout.contains("n3: Synced, speaks dynamic"), "{said}");
    lab.run(&["resume"]).exits(6);

    lab.now("another change begins from there");
    let hash = lab.plan_hash("enable");
    lab.run(&["enable", "--yes", &hash[..12]]).exits(0);
    lab.is_sealed();

    lab.now("a key of another kind is refused on running nodes; a runbook makes keys of the length that was asked for");
    let said = lab.run(&["plan", "rotate", "-b", "3072", "--format", "shell"]).exits(6);
    assert!(said.stderr.contains("it has EC P-256, and would get RSA of 3072 bits"), "{said}");
}

/// It reads the binary log until it is stopped, so nobody would ever see it leave.
#[test]
fn a_replica_does_not_keep_its_source_from_being_drained() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::MARIADB);
    lab.now("a server with somebody who reads its binary log");
    let source = Bundled::start(&lab, "galera-10.11", 13_306, &["--log-bin=bin", "--server-id=1"]);
    let socket = source.dir.join("socket");
    let mut command = lab.command(&["lab", "exec", "--", "mariadb-binlog"]);
    command.args([
        "--no-defaults",
        "--protocol=socket",
        "--read-from-remote-server",
        "--stop-never",
        "--user=root",
    ]);
    command.arg(format!("--socket={}", socket.display())).arg("bin.000001");
    let reader = Program::start(command);
    let reads = wait_for(Duration::from_secs(60), || {
        let rows = source.sql().query("SHOW PROCESSLIST").ok()?;
        rows.iter()
            .any(|row| row.text("Command").is_some_and(|text| text.starts_with("Binlog Dump")))
            .then_some(())
    });
    assert!(reads.is_some(), "it does not read: {}", reader.stderr());
    let mut spec = server::NodeSpec::new("source", "127.0.0.1");
    spec.socket = Some(socket.clone());
    let login = net::ConnectOptions::new(net::Endpoint::unix(socket), "root");
    let mut node = server::LiveNode::new(spec, login);
    // The session of who has just asked may take a moment to end.
    let mut counted = || server::ReadNode::sessions(&mut node).map(|seen| (seen.users, seen.busy));
    let is_left_out =
        wait_for(Duration::from_secs(60), || counted().is_ok_and(|seen| seen == (0, 0)).then_some(()));
    assert!(is_left_out.is_some(), "the reader is counted: {:?}", counted().expect("it answers"));
    lab.ended(reader.kill());
}
