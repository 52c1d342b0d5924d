//! What an outsider made `status` and `undo` say that was not so, one thing after the other on one lab: a second bind address, two
//! sessions of one port, a switch of state transfers in another group, certificates that are not those in the files, a `tls_dir`
//! behind links, and a rotation that was given up.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use testbed::real::foreign_tls::Port;
use testbed::real::manual_node::{NODES, a_ca, now_unix, place_leaf};
use testbed::real::{LabSpec, Program, RealLab, RealWriters, files_below, lab_slot, wait_for};

const WHOLE_S_MAX: u64 = 120;
const HELD_S_MAX: u64 = 120;
const SEEN_S_MAX: u64 = 60;
const OFTEN: Duration = Duration::from_millis(200);
/// A session that says nothing more while it is looked at.
const NEVER: Duration = Duration::from_secs(600);
const DAY_S: i64 = 86_400;
/// An address of no node, from which two sessions come with one port.
const TWIN: &str = "127.66.0.1:45000";
const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A file as it was; put back at the end, also of a panic.
struct PutBack(PathBuf, Vec<u8>);

impl PutBack {
    fn of(path: PathBuf) -> Self {
        let bytes = std::fs::read(&path).expect("readable");
        Self(path, bytes)
    }
}

impl Drop for PutBack {
    fn drop(&mut self) {
        std::fs::write(&self.0, &self.1).expect("writable");
    }
}

fn row<'l>(look: &'l Value, node: &str, what: &str) -> &'l Value {
    let nodes = look["nodes"].as_array().expect("nodes");
    let of = nodes.iter().find(|one| one["node"] == node).expect("a node of the lab");
    let rows = of["rows"].as_array().expect("rows");
    let is_it = |row: &&Value| row["what"].as_str().is_some_and(|word| word.split(' ').next() == Some(what));
    rows.iter().find(is_it).expect("it has a row")
}

fn client_link(lab: &RealLab, node: &str) -> Value {
    let look = lab.look(true);
    let links = look["links"].as_array().expect("links");
    let is_it = |link: &&Value| {
        link["link"]["kind"] == "client"
            && [&link["link"]["a"], &link["link"]["b"]].iter().any(|end| **end == node)
    };
    links.iter().find(is_it).expect("it has a client link").clone()
}

/// Takes one connection at `127.0.0.1:port` on to `to`, from [`TWIN`].
fn twin(lab: &RealLab, port: u16, to: SocketAddr) -> (Program, SocketAddr) {
    let mut command = lab.command(&["lab", "exec", "--", "socat", "-d", "-d"]);
    command
        .arg(format!("TCP-LISTEN:{port},bind=127.0.0.1,reuseaddr"))
        .arg(format!("TCP:{to},bind={TWIN},reuseaddr"));
    let mut program = Program::start(command);
    assert!(program.says("listening on", Duration::from_secs(30)), "{}", program.stderr());
    (program, SocketAddr::new(LOCALHOST, port))
}

/// From outside of the lab's network nothing of its traffic is captured, and who connects for a moment is in no list of sessions.
fn clients_in_a_network_that_the_capture_does_not_see(lab: &RealLab) {
    lab.now("clients that connect for a moment, looked at from another network");
    let hash = lab.plan_hash_of(&["disable", "require-tls"]);
    lab.run(&["disable", "require-tls", "--yes", &hash[..12]]).exits(0);
    let callers = lab.call_in(Duration::from_millis(300));
    let hash = lab.plan_hash_of(&["enable", "require-tls"]);
    let mut command = std::process::Command::new(&lab.binary);
    command.arg("--inventory").arg(lab.dir.join("sealion.toml"));
    command.args(["enable", "require-tls", "--yes", &hash[..12]]);
    let said = lab.ended(Program::start(command).finish(Duration::from_secs(WHOLE_S_MAX)));
    let said = said.exits(6);
    // Who may not capture at all out there is told so.
    let is_blind =
        ["cannot see this traffic", "may not capture"].iter().any(|words| said.stderr.contains(words));
    assert!(is_blind && said.stderr.contains("nothing was changed"), "{said}");
    for node in NODES {
        let mut session = lab.sql(node).expect("its socket takes logins");
        let rows = session.query("SELECT @@require_secure_transport").expect("it answers");
        assert_eq!(rows.scalar().as_deref(), Some("0"), "{node} cuts its clients off");
    }
    callers.stop();
    lab.run(&["undo"]).exits(0);
}

#[test]
fn what_an_outsider_was_told_is_so() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::GALERA);

    lab.now("n3 takes clients on a second address, and tls_dir is a link on every node");
    let n3 = lab.file().node("n3").expect("a node of the lab").address;
    lab.set_option("n3", "galera", "bind-address", Some(&format!("{n3},{LOCALHOST}")));
    lab.stop("n3");
    lab.begin_start("n3");
    for node in NODES {
        let (link, behind) = (lab.tls_dir(node), lab.home().join(format!("tls-of-{node}")));
        std::fs::create_dir(&behind).expect("ours");
        let _ = std::fs::remove_dir(&link);
        symlink(&behind, &link).expect("ours");
    }
    lab.all_synced(Duration::from_secs(WHOLE_S_MAX));
    let before = lab.files();

    lab.now("a switch in a server group refuses the plan");
    {
        let _back = PutBack::of(lab.galera_cnf("n2"));
        lab.set_option("n2", "galera", "loose-encrypt", Some("4"));
        let said = lab.run(&["plan", "enable"]).exits(6);
        assert!(
            said.stderr.contains("[galera] has a switch of its own") && said.stderr.contains("n2:"),
            "{said}"
        );
    }

    lab.now("enable, where clients have certificates of their own");
    let made = lab.home().join("client");
    lab.run(&["trust", "client", "app", "--out", made.to_str().expect("text")]).exits(0);
    let hash = lab.plan_hash("enable");
    lab.run(&["enable", "--yes", &hash[..12]]).exits(0);
    a_client_is_no_member(&lab);

    clients_in_a_network_that_the_capture_does_not_see(&lab);
    certificates_that_are_not_those_of_the_files(&lab);
    a_switch_in_a_server_group(&lab);
    clients_on_a_second_address(&lab, SocketAddr::new(n3, lab::layout::SQL_PORT));

    the_ca_is_replaced(&lab);

    lab.now("a rotation is given up half-way, and enable is undone");
    let hash = lab.plan_hash("rotate");
    let moment = "R1.n2:acting";
    let mut change = lab.start(&["rotate", "--yes", &hash[..12]], Some(moment));
    let is_there = change.says(&format!("held at {moment} "), Duration::from_secs(HELD_S_MAX));
    assert!(is_there, "{}", change.stderr());
    lab.ended(change.kill());
    lab.run(&["abandon", "--yes", &hash[..12]]).exits(0);
    let kept = || -> Vec<PathBuf> {
        let dirs = NODES.map(|node| lab.node_dir(node).join("sealion"));
        let files = dirs.iter().flat_map(|dir| files_below(dir));
        files.filter(|path| path.file_name().is_some_and(|name| name == "node-key.pem")).collect()
    };
    assert_eq!(kept().len(), 1, "n1's former key is kept for an undo of the rotation: {:?}", kept());
    let said = lab.run(&["undo"]).exits(0);
    assert_eq!(kept(), Vec::<PathBuf>::new(), "keys are kept that nothing can need: {said}");
    assert!(lab.files() == before, "a file is not as it was");
    for node in NODES {
        let link = lab.tls_dir(node);
        assert!(link.is_symlink() && link.is_dir(), "{} is no link any more", link.display());
        assert_eq!(files_below(&link), Vec::<PathBuf>::new());
    }
    assert_eq!(lab.letters(), "PPP");
}

/// Its certificate is taken at the port for clients, and by no node for one of a member.
fn a_client_is_no_member(lab: &RealLab) {
    let [cert, key] = ["cert", "key"].map(|what| lab.home().join(format!("client/app-{what}.pem")));
    for node in NODES {
        assert!(!lab.distrusts(node, Port::Client, &cert, &key), "{node} refuses a client");
        assert!(lab.distrusts(node, Port::Galera, &cert, &key), "any client could join at {node}");
    }
}

fn the_ca_is_replaced(lab: &RealLab) {
    lab.now("the CA is replaced while applications write");
    // They lie behind the links.
    let keys = || {
        NODES.map(|node| {
            files_below(&lab.home().join(format!("tls-of-{node}")))
                .into_iter()
                .map(|path| std::fs::read(path).ok())
                .collect::<Vec<_>>()
        })
    };
    let before = (lab.files(), keys());
    let stolen = ["node-cert.pem", "node-key.pem"].map(|file| {
        let copy = lab.home().join(format!("stolen-{file}"));
        std::fs::copy(lab.tls_dir("n1").join(file), &copy).expect("ours");
        copy
    });
    let [cert, key] = &stolen;
    let refused = |node: &str| lab.distrusts(node, Port::Galera, cert, key);
    assert!(!refused("n2"), "a member refuses its own cluster's certificate");
    let writers = RealWriters::start(lab);
    let hash = lab.plan_hash_of(&["rotate", "ca"]);
    let said = lab.run(&["rotate", "ca", "--yes", &hash[..12]]).exits(0);
    let outcome = writers.stop_and_audit();
    assert!(outcome.acknowledged > 100 && outcome.failed == 0, "{outcome:?}");
    for node in NODES {
        assert!(refused(node), "{node} takes a certificate of the old CA: {said}");
    }
    lab.is_sealed();
    a_client_is_no_member(lab);

    lab.now("and the old one is put back");
    lab.run(&["undo"]).exits(0);
    assert!(!refused("n2"), "the old CA is not taken after undo");
    assert!((lab.files(), keys()) == before, "a file is not as it was");
    for file in &stolen {
        std::fs::remove_file(file).expect("ours");
    }
}

fn certificates_that_are_not_those_of_the_files(lab: &RealLab) {
    lab.now("a certificate that was replaced and not reloaded: the served one is shown");
    let dir = lab.tls_dir("n1");
    let served = row(&lab.look(false), "n1", "galera")["not_after_unix"].as_i64().expect("a date");
    {
        let _back = ["node-cert.pem", "node-key.pem"].map(|file| PutBack::of(dir.join(file)));
        place_leaf(&dir, &a_ca("another"), Some(now_unix() + 3 * DAY_S));
        let look = lab.look(false);
        for what in ["galera", "client"] {
            let row = row(&look, "n1", what);
            assert_eq!(
                (&row["not_after_of"], row["not_after_unix"].as_i64()),
                (&"served".into(), Some(served)),
                "{row:#}"
            );
        }
        // The file is what the next start serves, and is judged too.
        let findings = look["findings"].as_array().expect("findings");
        let expiry =
            findings.iter().find(|one| one["rule"] == "SL2003" && one["subject"] == "n1").expect("judged");
        assert_eq!(expiry["verdict"], "fail", "{expiry:#}");
    }

    lab.now("a port that shows no certificate: that is said, and the date is the file's");
    let text = std::fs::read_to_string(lab.dir.join("sealion.toml")).expect("the lab has an inventory");
    let inventory = lab.dir.join("deaf.toml");
    std::fs::write(&inventory, text.replace("galera_port = 4567", "galera_port = 4999")).expect("writable");
    let inventory = inventory.display().to_string();
    let words = ["status", "--look-ms", "0", "--inventory", &inventory];
    let look = lab.run(&[&words[..], &["--format", "json"]].concat()).exits(0).json();
    let galera = row(&look, "n1", "galera");
    assert_eq!(galera["not_after_of"], "file", "{galera:#}");
    assert!(galera["served_unknown"].as_str().unwrap_or_default().contains("port 4999"), "{galera:#}");
    assert_eq!(row(&look, "n1", "client")["not_after_of"], "served");
    let said = lab.run(&words).exits(0);
    assert!(
        said.stdout.contains("could not be read (port 4999") && said.stdout.contains("the file's"),
        "{said}"
    );
}

fn a_switch_in_a_server_group(lab: &RealLab) {
    lab.now("a switch of state transfers in a server group is seen");
    let _back = PutBack::of(lab.galera_cnf("n2"));
    assert_eq!(row(&lab.look(false), "n2", "sst")["effective"], "TLS");
    lab.set_option("n2", "galera", "loose-ssl-mode", Some("DISABLED"));
    let look = lab.look(false);
    assert_ne!(row(&look, "n2", "sst")["effective"], "TLS", "{look:#}");
    let findings = look["findings"].as_array().expect("findings");
    let sst = findings.iter().find(|one| one["rule"] == "SL3002" && one["subject"] == "n2").expect("judged");
    assert_ne!(sst["verdict"], "pass", "{sst:#}");
    assert_eq!(row(&look, "n1", "sst")["effective"], "TLS");
}

fn clients_on_a_second_address(lab: &RealLab, first: SocketAddr) {
    lab.now("two sessions come from one address and port, and one of them says nothing");
    let set = |word: &str| {
        let sql = format!("SET GLOBAL require_secure_transport={word}");
        lab.sql("n3").expect("n3 answers").execute(&sql).expect("a statement");
    };
    set("OFF");
    let second = SocketAddr::new(LOCALHOST, first.port());
    let (one, at_one) = twin(lab, 7001, first);
    let (two, at_two) = twin(lab, 7002, second);
    let sealed = lab.talk_to(at_one, OFTEN, true);
    let silent = lab.talk_to(at_two, NEVER, false);
    let seen = wait_for(Duration::from_secs(SEEN_S_MAX), || {
        let link = client_link(lab, "n3");
        // The first look may still see it log in.
        (link["tcp_sessions"] == 2 && link["seen"] != "plain").then_some(link)
    });
    let link = seen.expect("both are connected");
    assert_eq!(link["seen"], "unknown", "{link:#}");
    assert!(
        link["why"].as_str().unwrap_or_default().contains("no packet of 1 session was captured"),
        "{link:#}"
    );
    silent.stop();
    lab.ended(two.kill());

    lab.now("cleartext on the second address beside TLS on the first");
    let clear = lab.talk_to(second, OFTEN, false);
    let link = client_link(lab, "n3");
    assert_eq!(link["seen"], "plain", "{link:#}");
    assert!(!link["cleartext_clients"].as_array().expect("somebody").is_empty(), "{link:#}");
    clear.stop();
    sealed.stop();
    lab.ended(one.kill());
    set("ON");
}
