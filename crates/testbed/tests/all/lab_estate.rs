//! An estate by ssh, under writers: a Galera cluster, an asynchronous replica of one of its nodes, a source of MySQL and one of MariaDB, each
//! with its replica. One plan leads from cleartext to where every client must use TLS, then certificates and the CA are replaced, and an undo of
//! each leads back.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use model::{Clock, SystemClock};
use serde_json::Value;
use testbed::real::foreign_tls::Port;
use testbed::real::{LabSpec, Program, RealLab, RealWriters, lab_slot, wait_for};

/// Who replicates from whom.
const CHANNELS: [(&str, &str); 3] = [("n1", "n4"), ("n5", "n6"), ("n7", "n8")];
/// For somebody who speaks often.
const SPEAKS_MAX: Duration = Duration::from_secs(20);
const CATCHES_UP_MAX: Duration = Duration::from_secs(90);

/// Each link that carries rows, with what was seen of it. The control of its capture was seen, and nothing was dropped.
pub fn links(look: &Value) -> BTreeMap<String, String> {
    let links =
        look["links"].as_array().expect("links").iter().filter(|link| link["link"]["kind"] != "client");
    let of = |link: &Value| {
        assert_eq!((&link["control_seen"], &link["kernel_drops"]), (&true.into(), &0.into()), "{link:#}");
        let end = |key: &str| link["link"][key].as_str().expect("a name").to_owned();
        let mut ends = [end("a"), end("b")];
        ends.sort();
        let kind = link["link"]["kind"].as_str().expect("a word");
        let seen = link["seen"].as_str().expect("a word").to_owned();
        let has_canaries = link["canaries"].as_u64() > Some(0);
        assert_eq!(has_canaries, seen == "plain", "{link:#}");
        (format!("{kind} {}", ends.join("-")), seen)
    };
    links.map(of).collect()
}

pub fn all_links(seen: &str) -> BTreeMap<String, String> {
    let galera = ["galera n1-n2", "galera n1-n3", "galera n2-n3"].map(str::to_owned);
    let channels = CHANNELS.map(|(source, replica)| format!("replication {source}-{replica}"));
    galera.into_iter().chain(channels).map(|link| (link, seen.to_owned())).collect()
}

/// As each server tells it.
pub fn clients(look: &Value) -> Vec<&str> {
    let of = |node: &'_ Value| {
        node["rows"].as_array().expect("rows").iter().position(|row| row["what"] == "client")
    };
    let nodes = look["nodes"].as_array().expect("nodes").iter();
    nodes.map(|node| node["rows"][of(node).expect("a row")]["effective"].as_str().expect("a word")).collect()
}

/// Both threads run, and the applier has met nothing.
fn replicates(lab: &RealLab, replica: &str) -> bool {
    let statement = if replica == "n6" { "SHOW REPLICA STATUS" } else { "SHOW ALL SLAVES STATUS" };
    let (receiver, applier) = if replica == "n6" {
        ("Replica_IO_Running", "Replica_SQL_Running")
    } else {
        ("Slave_IO_Running", "Slave_SQL_Running")
    };
    let rows = lab.sql(replica).expect("it answers").query(statement).expect("it may be asked");
    let text = |column: &str| rows.text(0, column).expect("a column").into_owned();
    assert_eq!(text("Last_SQL_Error"), "", "{replica}");
    text(receiver) == "Yes" && text(applier) == "Yes"
}

/// Writers in every part.
pub struct Writers<'l>([(&'static str, RealWriters<'l>); 3]);

impl<'l> Writers<'l> {
    pub fn start(lab: &'l RealLab) -> Self {
        Self([
            ("galera", RealWriters::start_in_part(lab, &["n1", "n2", "n3"], &["n1", "n2", "n3", "n4"])),
            ("mysql", RealWriters::start_in_part(lab, &["n5"], &["n5", "n6"])),
            ("mariadb", RealWriters::start_in_part(lab, &["n7"], &["n7", "n8"])),
        ])
    }

    /// What was acknowledged is everywhere, and nothing failed but where that may be.
    #[track_caller]
    pub fn lost_nothing(self, may_fail: &[&str]) {
        for (part, writers) in self.0 {
            let outcome = writers.stop_and_audit();
            assert!(outcome.acknowledged > 100, "{part}: {outcome:?}");
            assert!(outcome.failed == 0 || may_fail.contains(&part), "{part}: {outcome:?}");
        }
    }
}

pub const MEMBERS: [&str; 3] = ["n1", "n2", "n3"];
pub const BESIDE: [&str; 5] = ["n4", "n5", "n6", "n7", "n8"];

/// Of these servers: another one after a restart.
pub fn pids(lab: &RealLab, nodes: &[&str]) -> Vec<Value> {
    let status = lab.lab(&["status", "--format", "json"]).exits(0).json();
    nodes.iter().map(|node| status["nodes"][*node].clone()).collect()
}

/// The leaf that lies on each server.
pub fn serials(lab: &RealLab) -> Vec<String> {
    let serial = |node: &str| {
        let cert = std::fs::read(lab.tls_dir(node).join("node-cert.pem")).expect("placed");
        trust::inspect(&cert).expect("a certificate").remove(0).serial_hex
    };
    MEMBERS.into_iter().chain(BESIDE).map(serial).collect()
}

#[track_caller]
pub fn all_replicate(lab: &RealLab) {
    for (_, replica) in CHANNELS {
        let back = wait_for(CATCHES_UP_MAX, || replicates(lab, replica).then_some(()));
        assert!(back.is_some(), "{replica} does not replicate");
    }
}

/// Certificates, then the CA, under writers in every part: the nodes of the cluster are restarted for the CA alone, and nobody else for either.
fn certificates_and_the_ca_are_replaced(lab: &RealLab) {
    lab.now("new certificates for all parts, without a restart");
    let writers = Writers::start(lab);
    let all = [&MEMBERS[..], &BESIDE].concat();
    let running = pids(lab, &all);
    let first = serials(lab);
    let hash = lab.plan_hash("rotate");
    lab.run(&["rotate", "--yes", &hash[..12]]).exits(0);
    let second = serials(lab);
    assert!(first.iter().zip(&second).all(|(one, other)| one != other), "{first:?} {second:?}");
    assert_eq!(pids(lab, &all), running);
    lab.run(&["undo"]).exits(0);
    assert_eq!(serials(lab), first);

    lab.now("a new CA for all parts");
    let copy = |name: &str| {
        ["node-cert.pem", "node-key.pem"].map(|file| {
            let copy = lab.home().join(format!("{name}-{file}"));
            std::fs::copy(lab.tls_dir("n1").join(file), &copy).expect("ours");
            copy
        })
    };
    let stolen = copy("stolen");
    let [cert, key] = &stolen;
    let refused = |node: &str, port| lab.distrusts(node, port, cert, key);
    assert!(!refused("n2", Port::Galera) && !refused("n5", Port::Client), "its own CA is refused");
    let hash = lab.plan_hash_of(&["rotate", "ca"]);
    let said = lab.run(&["rotate", "ca", "--yes", &hash[..12]]).exits(0);
    writers.lost_nothing(&[]);
    assert_eq!(pids(lab, &BESIDE), running[MEMBERS.len()..], "only the cluster needs restarts");
    let restarted = pids(lab, &MEMBERS);
    assert!(restarted.iter().zip(&running).all(|(now, before)| now != before), "{restarted:?}");
    for node in MEMBERS {
        assert!(refused(node, Port::Galera), "{node} takes a certificate of the old CA: {said}");
    }
    for node in all {
        assert!(refused(node, Port::Client), "{node} takes a certificate of the old CA: {said}");
    }
    let new = copy("new");
    let [cert, key] = &new;
    for (node, port) in [("n2", Port::Galera), ("n5", Port::Client)] {
        assert!(!lab.distrusts(node, port, cert, key), "{node} refuses the new CA");
    }
    all_replicate(lab);
    let look = lab.look(true);
    assert_eq!(links(&look), all_links("sealed"), "{look:#}");

    lab.now("and the old one is put back");
    lab.run(&["undo"]).exits(0);
    assert_eq!(serials(lab), first);
    for file in stolen.iter().chain(&new) {
        std::fs::remove_file(file).expect("ours");
    }
}

/// An application that uses a driver of somebody else, in cleartext, is found with the lines for that driver. MariaDB does not tell drivers
/// where its performance schema is off.
fn an_owner_is_told_what_to_write(lab: &RealLab) {
    lab.now("an application in cleartext again, with another driver, of a server that keeps no performance schema");
    let address = lab.file().node("n7").expect("a node").address;
    let login = lab.dir.join("app.cnf");
    let asks = format!(
        "while :; do mariadb --defaults-file={} --protocol=tcp --skip-ssl -h {address} -e 'SELECT SLEEP(0.2)' || exit; done",
        login.display()
    );
    let mut command = lab.command(lab.exec_of_applications());
    command.args(["timeout", "20", "bash", "-c", &asks]);
    let application = Program::start(command);
    let told = lab.run(&["watch-clients", "--for", "4s"]);
    let ended = application.finish(Duration::from_secs(60));
    for word in ["libmariadb", "next: mariadb CLI", "ssl-verify-server-cert", "ca.pem"] {
        assert!(told.stdout.contains(word), "{word}: {told}\n{ended}");
    }
}

#[test]
fn an_estate_is_sealed_by_one_plan_and_taken_back() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::ESTATE);
    let before = lab.files();
    let look = lab.look(true);
    assert_eq!(links(&look), all_links("plain"), "{look:#}");

    lab.now("one plan for all of it");
    let plan = lab.run(&["plan", "enable", "--format", "json"]).exits(0).json();
    assert_eq!(plan["topology"], "estate", "{plan:#}");
    assert_eq!(plan["change"]["nouns"], serde_json::json!(["galera", "sst", "replication", "clients"]));
    let hash = plan["state_hash"].as_str().expect("a hash")[..12].to_owned();

    lab.now(
        "under writers in every part, beside an application that speaks cleartext with a source of MySQL",
    );
    let writers = Writers::start(&lab);
    let mysql = SocketAddr::new(lab.file().node("n5").expect("a node").address, ::lab::layout::SQL_PORT);
    let talker = lab.talk_to(mysql, Duration::from_millis(200), false);
    // A source under load always has work: it is stopped at the end of the time for that.
    let stopped = lab.run(&["enable", "--drain-s-max", "5", "--yes", &hash]);
    assert_eq!(stopped.code, Some(4), "{stopped}");
    for word in ["step E5.look", "some clients still use cleartext", "client-n5"] {
        assert!(stopped.stderr.contains(word), "{word}: {stopped}");
    }

    lab.now("all links are sealed, nobody requires TLS, and the application is found, named, and not broken");
    let look = lab.look(true);
    assert_eq!(links(&look), all_links("sealed"), "{look:#}");
    assert_eq!(clients(&look), ["offered"; 8], "{look:#}");
    let watched =
        lab.run(&["watch-clients", "--for", "3s", "--fail-on-cleartext", "--format", "json"]).exits(1).json();
    let rows = watched["clients"].as_array().expect("clients");
    let clear: Vec<&Value> = rows.iter().filter(|row| row["cleartext"].as_u64() > Some(0)).collect();
    let [app] = clear[..] else { panic!("{watched:#}") };
    assert_eq!((&app["user"], &app["nodes"]), (&"app".into(), &serde_json::json!(["n5"])), "{app:#}");
    assert!(app["driver"].as_str().is_some_and(|driver| driver.contains("sealion")), "{app:#}");
    let since = SystemClock.unix_ms();
    assert!(wait_for(SPEAKS_MAX, || (talker.said_since(since) > 0).then_some(())).is_some(), "it is cut off");
    talker.stop();

    lab.now("resume, when it has gone");
    lab.run(&["resume"]).exits(0);
    let look = lab.look(true);
    assert_eq!(links(&look), all_links("sealed"), "{look:#}");
    assert_eq!(clients(&look), ["required"; 8], "{look:#}");

    lab.now("what was acknowledged is everywhere, and no client that takes TLS failed where nobody has to be alone for a moment");
    // The only source of a pair of MariaDB is restarted.
    writers.lost_nothing(&["mariadb"]);
    all_replicate(&lab);
    certificates_and_the_ca_are_replaced(&lab);

    lab.now("undo");
    lab.run(&["undo"]).exits(0);
    assert!(lab.files() == before, "a file is not as it was");
    all_replicate(&lab);
    let look = lab.look(true);
    assert_eq!(links(&look), all_links("plain"), "{look:#}");
    an_owner_is_told_what_to_write(&lab);
}
