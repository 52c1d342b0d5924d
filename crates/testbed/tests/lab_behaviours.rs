//! What the simulated nodes are trusted to do, seen on real servers: the tests have the names of those in
//! `sim_behaviours.rs`. Where the two differ, the simulation is wrong.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use formats::optfile::OptionFile;
use lab::Wait;
use lab::supervisor::NodeState;
use net::ExposeSecret;
use server::ProviderOptions;
use testbed::real::{LabSpec, RealLab, one_at_a_time, wait_for};
use trust::{Ca, CaSpec, KeyKind, LeafSpec};

const WHOLE_S_MAX: u64 = 90;
/// What a server needs to see that its own files cannot be used; a start that succeeds takes longer.
const AT_ONCE_S_MAX: u64 = 8;
/// A joiner that is locked out gives up after pc.wait_prim_timeout (30 s) and its own start and shutdown.
const LOCKED_OUT_S: std::ops::Range<u64> = 25..70;
/// Where the time is not what is looked at.
const IMPATIENT: (&str, &str) = ("pc.wait_prim_timeout", "PT8S");

fn now_unix() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    i64::try_from(since.as_secs()).expect("before the year 292 billion")
}

/// A guinea pig: one node whose files are changed by hand, and put back at the end.
struct Pig<'l> {
    lab: &'l RealLab,
    node: &'static str,
    files: Vec<(std::path::PathBuf, u32, Vec<u8>)>,
    log_from: usize,
}

impl<'l> Pig<'l> {
    fn stopped(lab: &'l RealLab, node: &'static str) -> Self {
        lab.open().stop(node).expect("it stops");
        let own = lab.node_dir(node);
        let files = lab
            .files()
            .into_iter()
            .filter(|(path, _)| path.starts_with(&own))
            .map(|(path, (mode, bytes))| (path, mode, bytes))
            .collect();
        Self { lab, node, files, log_from: lab.log(node).len() }
    }

    fn tls_file(&self, name: &str) -> std::path::PathBuf {
        self.lab.node_dir(self.node).join("etc/ssl").join(name)
    }

    fn options(&self, change: impl FnOnce(&mut ProviderOptions)) {
        let path = self.lab.galera_cnf(self.node);
        let bytes = std::fs::read(&path).expect("readable");
        let mut file = OptionFile::parse(&bytes, &path.display().to_string()).expect("sound");
        let text = file.get(&["galera"], "wsrep_provider_options").and_then(|item| item.value).unwrap_or("");
        let mut options = ProviderOptions::parse(text);
        change(&mut options);
        file.set("galera", "wsrep-provider-options", &options.to_string()).expect("sound");
        std::fs::write(&path, &*file.to_bytes()).expect("writable");
    }

    fn start(&self) {
        self.lab.open().start(self.node, &[], Wait::Nothing).expect("it is started");
    }

    /// What it logged since it was stopped.
    fn log(&self) -> String {
        self.lab.log(self.node).split_off(self.log_from)
    }

    fn ended(&self, at_most_s: u64) -> Option<String> {
        wait_for(Duration::from_secs(at_most_s), || ended(self.lab, self.node))
    }

    /// As it was, and a member again.
    fn put_back(self) {
        self.lab.open().stop(self.node).expect("it stops");
        for (path, mode, bytes) in &self.files {
            let _ = std::fs::remove_file(path);
            std::fs::write(path, bytes).expect("writable");
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(*mode)).expect("ours");
        }
        self.start();
        self.lab.all_synced(Duration::from_secs(WHOLE_S_MAX));
    }
}

fn ended(lab: &RealLab, node: &str) -> Option<String> {
    match lab.open().state(node).expect("the supervisor answers") {
        NodeState::Ended { how } => Some(how),
        _ => None,
    }
}

fn place(dir: &Path, ca: &Ca) {
    let leaf = ca
        .issue(
            &LeafSpec {
                common_name: "guinea pig".into(),
                dns: vec!["pig".into()],
                ips: vec![],
                valid_days: 30,
                key: KeyKind::EcP256,
                not_before_unix: None,
                not_after_unix: None,
            },
            now_unix(),
        )
        .expect("a sound leaf");
    std::fs::create_dir_all(dir).expect("ours");
    for (name, text) in [
        ("node-key.pem", leaf.key_pem.expose_secret()),
        ("node-cert.pem", &*leaf.cert_pem),
        ("ca.pem", &*ca.cert_pem()),
    ] {
        std::fs::write(dir.join(name), text).expect("writable");
        std::fs::set_permissions(dir.join(name), std::fs::Permissions::from_mode(0o600)).expect("ours");
    }
}

fn a_ca(name: &str) -> Ca {
    Ca::create(&CaSpec { common_name: name.into(), valid_days: 30, key: KeyKind::EcP256 }, now_unix())
        .expect("a sound CA")
}

/// It ends by itself; the two others serve on, and are two.
#[track_caller]
fn is_locked_out(pig: &Pig<'_>) {
    let others = ["n1", "n2"];
    assert!(pig.ended(LOCKED_OUT_S.end).is_some(), "it keeps trying after {} s", LOCKED_OUT_S.end);
    let log = pig.log();
    assert!(log.contains("failed to reach primary view"), "{log}");
    assert!(!log.contains("Synchronized with group"), "it was a member\n{log}");
    for node in others {
        assert!(pig.lab.is_synced(node, 2), "{node} stays up, one of two");
    }
}

/// One of the two members has logged it since.
#[track_caller]
fn a_member_says(lab: &RealLab, marks: &[usize; 2], what: &str) {
    let said = wait_for(Duration::from_secs(5), || {
        ["n1", "n2"].iter().zip(marks).any(|(node, mark)| lab.log(node)[*mark..].contains(what)).then_some(())
    });
    assert!(said.is_some(), "no member says \"{what}\"");
}

fn marks(lab: &RealLab) -> [usize; 2] {
    ["n1", "n2"].map(|node| lab.log(node).len())
}

#[test]
fn on_a_strict_cluster() {
    let _alone = one_at_a_time();
    let lab = RealLab::up(LabSpec::SEALED);
    a_plain_node_into_a_strict_cluster_is_locked_out_after_40_s_and_the_members_stay_up(&lab);
    a_leaf_of_an_unknown_ca_is_locked_out_and_the_members_say_why(&lab);
    a_missing_ca_file_a_mismatched_key_and_an_unreadable_key_end_the_server_at_once(&lab);
    a_reload_takes_all_or_nothing(&lab);
    lab.now("after all of it the cluster is sealed");
    lab.is_sealed();
}

fn a_plain_node_into_a_strict_cluster_is_locked_out_after_40_s_and_the_members_stay_up(lab: &RealLab) {
    lab.now("a plain node into a strict cluster");
    let pig = Pig::stopped(lab, "n3");
    let marks = marks(lab);
    pig.options(|options| options.remove_prefix("socket."));
    let began = Instant::now();
    pig.start();
    is_locked_out(&pig);
    let took_s = began.elapsed().as_secs();
    assert!(LOCKED_OUT_S.contains(&took_s), "after {took_s} s");
    a_member_says(lab, &marks, "unexpected eof while reading");
    pig.put_back();
}

fn a_leaf_of_an_unknown_ca_is_locked_out_and_the_members_say_why(lab: &RealLab) {
    lab.now("a leaf of an unknown CA");
    let pig = Pig::stopped(lab, "n3");
    let marks = marks(lab);
    // It trusts the cluster; with the CA file of its own CA it would hang up before the members can say anything.
    let trusted = std::fs::read(pig.tls_file("ca.pem")).expect("there");
    place(&lab.node_dir("n3").join("etc/ssl"), &a_ca("another CA"));
    std::fs::write(pig.tls_file("ca.pem"), trusted).expect("writable");
    pig.options(|options| options.set(IMPATIENT.0, IMPATIENT.1));
    pig.start();
    is_locked_out(&pig);
    assert!(pig.log().contains("unknown ca"), "{}", pig.log());
    a_member_says(lab, &marks, "certificate verify failed: unable to get local issuer certificate");
    pig.put_back();
}

fn a_missing_ca_file_a_mismatched_key_and_an_unreadable_key_end_the_server_at_once(lab: &RealLab) {
    let check = |what: &str, spoil: &dyn Fn(&Pig<'_>), says: &str| {
        lab.now(what);
        let pig = Pig::stopped(lab, "n3");
        spoil(&pig);
        pig.start();
        assert!(
            pig.ended(AT_ONCE_S_MAX).is_some(),
            "{what}: it does not end within {AT_ONCE_S_MAX} s\n{}",
            pig.log()
        );
        assert!(pig.log().contains(says), "{what}: {}", pig.log());
        assert!(lab.is_synced("n1", 2) && lab.is_synced("n2", 2), "{what}: the others stay up");
        pig.put_back();
    };
    let remove = |pig: &Pig<'_>| std::fs::remove_file(pig.tls_file("ca.pem")).expect("there");
    check("a missing CA file", &remove, "No such file or directory");
    let swap = |pig: &Pig<'_>| {
        let other = std::fs::read(lab.node_dir("n1").join("etc/ssl/node-key.pem")).expect("there");
        std::fs::write(pig.tls_file("node-key.pem"), other).expect("writable");
    };
    check("a mismatched key", &swap, "key values mismatch");
    let close = |pig: &Pig<'_>| {
        std::fs::set_permissions(pig.tls_file("node-key.pem"), std::fs::Permissions::from_mode(0o000))
            .expect("ours");
    };
    check("an unreadable key", &close, "Permission denied");
}

/// The all-or-nothing half of `a_reload_takes_all_or_nothing_and_adds_trust_without_removing_any`, and that the links live on.
fn a_reload_takes_all_or_nothing(lab: &RealLab) {
    lab.now("a reload with a mismatched key");
    let reload = |node: &str| {
        let mut session = lab.sql(node).expect("it answers");
        session.execute("SET GLOBAL wsrep_provider_options='socket.ssl_reload=1'")
    };
    let membership = || ["n1", "n2", "n3"].map(|node| lab.status_of(node, "wsrep_cluster_conf_id"));
    let (before, own) = (membership(), lab.node_dir("n3").join("etc/ssl/node-key.pem"));
    let key = std::fs::read(&own).expect("there");
    std::fs::write(&own, std::fs::read(lab.node_dir("n1").join("etc/ssl/node-key.pem")).expect("there"))
        .expect("writable");
    let result = reload("n3");
    std::fs::write(&own, key).expect("writable");
    let error = result.expect_err("a mismatched key is not taken").to_string();
    assert!(error.contains("1210"), "{error}");
    assert!(lab.log("n3").contains("key values mismatch"));
    lab.now("a reload with a sound pair");
    reload("n3").expect("the pair is sound");
    assert_eq!(before, membership(), "no link broke: the membership is the same one");
    lab.all_synced(Duration::from_secs(WHOLE_S_MAX));
}

/// This one kills a member: a lab of its own.
#[test]
fn key_paths_with_ssl_no_crash_joiner_and_donor() {
    let _alone = one_at_a_time();
    let lab = RealLab::up(LabSpec::GALERA);
    lab.now("key paths with ssl=NO");
    let pig = Pig::stopped(&lab, "n3");
    // Something that it misses, so that it asks for an IST.
    let mut session = lab.sql("n1").expect("it answers");
    for statement in [
        "CREATE DATABASE missed",
        "CREATE TABLE missed.t (a INT PRIMARY KEY)",
        "INSERT INTO missed.t VALUES (1)",
    ] {
        session.execute(statement).expect("n1 is in service");
    }
    let dir = lab.node_dir("n3").join("etc/ssl");
    place(&dir, &a_ca("lab"));
    pig.options(|options| {
        for (key, file) in [("ssl_key", "node-key.pem"), ("ssl_cert", "node-cert.pem"), ("ssl_ca", "ca.pem")]
        {
            options.set(&format!("socket.{key}"), &dir.join(file).display().to_string());
        }
        options.set("socket.ssl", "NO");
    });
    pig.start();
    let how = pig.ended(60).unwrap_or_else(|| panic!("the joiner lives\n{}", pig.log()));
    eprintln!("n3: {how}");
    let dead = wait_for(Duration::from_secs(30), || {
        ["n1", "n2"].into_iter().find(|node| ended(&lab, node).is_some())
    });
    let donor = dead.expect("the donor died too");
    assert!(lab.log(donor).contains("got signal 11"), "{donor} died otherwise");
    let left = if donor == "n1" { "n2" } else { "n1" };
    let alone = wait_for(Duration::from_secs(30), || {
        (lab.status_of(left, "wsrep_cluster_status").as_deref() == Some("non-Primary")).then_some(())
    });
    assert!(alone.is_some(), "{left} lost its quorum: {:?}", lab.status_of(left, "wsrep_cluster_status"));
}
