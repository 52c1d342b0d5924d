//! What an administrator does by hand on a real lab: option strings, certificates, restarts, a cluster put together anew.
//! The words are those of `sim::manual_setup`.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ::lab::Wait;
use ::lab::supervisor::NodeState;
use formats::optfile::OptionFile;
use net::ExposeSecret;
use server::{GaleraState, ProviderOptions};
use trust::{Ca, CaSpec, KeyKind, LeafSpec};

use super::{RealLab, wait_for};

pub const NODES: [&str; 3] = ["n1", "n2", "n3"];
/// Until a node that was started is a member again; an SST on two busy cores took 30 s.
const WHOLE_S_MAX: u64 = 120;
const DAY_S: i64 = 86_400;

pub fn now_unix() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    i64::try_from(since.as_secs()).expect("before the year 292 billion")
}

pub fn a_ca(name: &str) -> Ca {
    Ca::create(&CaSpec { common_name: name.into(), valid_days: 30, key: KeyKind::EcP256 }, now_unix())
        .expect("a sound CA")
}

/// Key and leaf; with `until` one that ends then, in the past or not.
pub fn place_leaf(dir: &Path, ca: &Ca, until: Option<i64>) {
    let spec = LeafSpec {
        // Seen: the SST scripts hand the CN on; with a space in it the donor says "Bad remote auth string. SST canceled."
        common_name: "by-hand".into(),
        dns: vec!["by-hand".into()],
        ips: vec![],
        valid_days: 30,
        key: KeyKind::EcP256,
        not_before_unix: until.map(|end| end - DAY_S),
        not_after_unix: until,
    };
    let leaf = ca.issue(&spec, now_unix()).expect("a sound leaf");
    write_private(&dir.join("node-key.pem"), leaf.key_pem.expose_secret());
    write_private(&dir.join("node-cert.pem"), &leaf.cert_pem);
}

pub fn place_ca(dir: &Path, ca: &Ca) {
    write_private(&dir.join("ca.pem"), &ca.cert_pem());
}

fn write_private(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a file has a directory")).expect("ours");
    std::fs::write(path, text).expect("writable");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).expect("ours");
}

impl RealLab {
    pub fn tls_dir(&self, node: &str) -> PathBuf {
        self.node_dir(node).join("etc/ssl")
    }

    /// Sets or, with `None`, removes one option in the file that has the Galera options.
    pub fn set_option(&self, node: &str, group: &str, key: &str, value: Option<&str>) {
        let path = self.galera_cnf(node);
        let bytes = std::fs::read(&path).expect("readable");
        let mut file = OptionFile::parse(&bytes, &path.display().to_string()).expect("sound");
        match value {
            Some(value) => file.set(group, key, value).expect("a sound option"),
            None => drop(file.remove(group, key)),
        }
        std::fs::write(&path, &*file.to_bytes()).expect("writable");
    }

    /// Changes the provider string in the file.
    pub fn options(&self, node: &str, change: impl FnOnce(&mut ProviderOptions)) {
        let path = self.galera_cnf(node);
        let bytes = std::fs::read(&path).expect("readable");
        let file = OptionFile::parse(&bytes, &path.display().to_string()).expect("sound");
        let text = file.get(&["galera"], "wsrep_provider_options").and_then(|item| item.value).unwrap_or("");
        let mut options = ProviderOptions::parse(text);
        change(&mut options);
        self.set_option(node, "galera", "wsrep-provider-options", Some(&options.to_string()));
    }

    /// The string for a state, in the file: `P`, `D`, `S`, or `X` (key paths with ssl=NO).
    pub fn set_letter(&self, node: &str, letter: char) {
        let dir = self.tls_dir(node);
        self.options(node, |options| {
            options.remove_prefix("socket.");
            if letter == 'P' {
                return;
            }
            for (key, file) in
                [("ssl_key", "node-key.pem"), ("ssl_cert", "node-cert.pem"), ("ssl_ca", "ca.pem")]
            {
                options.set(&format!("socket.{key}"), &dir.join(file).display().to_string());
            }
            options.set("socket.ssl", if letter == 'X' { "NO" } else { "YES" });
            if letter == 'D' {
                options.set("socket.dynamic", "YES");
            }
        });
    }

    /// Leaves of one CA for all nodes, which the plain ones do not use yet.
    pub fn place_certificates(&self) -> Ca {
        let ca = a_ca("CA of the cluster");
        for node in NODES {
            place_leaf(&self.tls_dir(node), &ca, None);
            place_ca(&self.tls_dir(node), &ca);
        }
        ca
    }

    /// What the running server has, as it reads it back.
    pub fn read_back(&self, node: &str) -> String {
        let rows = self.sql(node).expect("it answers").query("SELECT @@wsrep_provider_options");
        rows.expect("it answers").scalar().map(std::borrow::Cow::into_owned).expect("a value")
    }

    /// State of each node as a letter, from its read-back.
    pub fn letters(&self) -> String {
        let letter = |node| GaleraState::of(&ProviderOptions::parse(&self.read_back(node))).letter();
        NODES.into_iter().map(letter).collect()
    }

    pub fn stop(&self, node: &str) {
        self.open().stop(node).expect("it stops");
    }

    pub fn begin_start(&self, node: &str) {
        self.open().start(node, &[], Wait::Nothing).expect("it is started");
    }

    /// How its process ended; `None` while it runs.
    pub fn end_of(&self, node: &str) -> Option<String> {
        match self.open().state(node).expect("the supervisor answers") {
            NodeState::Ended { how } => Some(how),
            _ => None,
        }
    }

    #[track_caller]
    pub fn waits_until(&self, what: &str, at_most_s: u64, mut is_so: impl FnMut() -> bool) {
        let began = Instant::now();
        let done = wait_for(Duration::from_secs(at_most_s), || is_so().then_some(()));
        assert!(done.is_some(), "not within {at_most_s} s: {what}");
        eprintln!("    {what} after {:.1} s", began.elapsed().as_secs_f64());
    }

    /// Stops a node, writes its string, lets it miss a write, and starts it; does not wait.
    pub fn restart_as(&self, node: &str, letter: char) {
        self.stop(node);
        self.set_letter(node, letter);
        self.miss(node);
        self.begin_start(node);
    }

    /// The same, until it is Synced with all others that run.
    #[track_caller]
    pub fn bring_to(&self, node: &str, letter: char) {
        self.restart_as(node, letter);
        self.is_member_again(node);
    }

    #[track_caller]
    pub fn is_member_again(&self, node: &str) {
        let done = wait_for(Duration::from_secs(WHOLE_S_MAX), || {
            (self.end_of(node).is_some() || self.is_synced(node, NODES.len())).then_some(())
        });
        assert!(done.is_some(), "{node} is not Synced after {WHOLE_S_MAX} s");
        assert_eq!(self.end_of(node), None, "{node} ended");
        // Its donor may be back in step a moment later.
        self.all_synced(Duration::from_secs(WHOLE_S_MAX));
    }

    /// Writes on a node that runs, so that a stopped one has to be served when it comes back. The text can be found on a
    /// wire that is not encrypted.
    pub fn miss(&self, stopped: &str) -> capture::Canary {
        let other = NODES.into_iter().find(|node| *node != stopped && self.end_of(node).is_none());
        self.write_on(other.expect("another one runs"))
    }

    /// So that every link carries something to recognise, both ways.
    pub fn write_on_all(&self) {
        for node in NODES {
            self.write_on(node);
        }
    }

    pub fn write_on(&self, node: &str) -> capture::Canary {
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos();
        let canary = capture::Canary::new(nanos.to_be_bytes());
        let mut session = self.sql(node).expect("it answers");
        for statement in [
            "CREATE DATABASE IF NOT EXISTS missed".to_owned(),
            "CREATE TABLE IF NOT EXISTS missed.t (n INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(64))"
                .to_owned(),
            format!("INSERT INTO missed.t (text) VALUES ('{}')", canary.token()),
        ] {
            session.execute(&statement).expect("it is in service");
        }
        canary
    }

    /// Ends all servers, however they are, and makes a cluster of them anew, with these states. No product code does this.
    #[track_caller]
    pub fn reform(&self, letters: &str) {
        self.now(format!("the cluster is put together anew as {letters}"));
        let lab = self.open();
        // The one that is stopped last has everything.
        for node in NODES.into_iter().rev() {
            lab.stop(node).expect("it stops");
        }
        for (node, letter) in NODES.into_iter().zip(letters.chars()) {
            self.set_letter(node, letter);
            self.set_option(node, "galera", "wsrep-sst-donor", None);
        }
        let grastate = self.node_dir(NODES[0]).join("data/grastate.dat");
        let text = std::fs::read_to_string(&grastate).expect("readable");
        std::fs::write(&grastate, text.replace("safe_to_bootstrap: 0", "safe_to_bootstrap: 1"))
            .expect("writable");
        lab.start(NODES[0], &["--wsrep-new-cluster"], Wait::Socket).expect("it starts");
        self.waits_until("n1 is a cluster", WHOLE_S_MAX, || self.is_synced(NODES[0], 1));
        for (at, node) in NODES.into_iter().enumerate().skip(1) {
            self.begin_start(node);
            self.waits_until(&format!("{node} is a member"), WHOLE_S_MAX, || self.is_synced(node, at + 1));
        }
        self.all_synced(Duration::from_secs(WHOLE_S_MAX));
        assert_eq!(self.letters(), letters);
    }
}

/// One node whose files are changed by hand, and put back at the end.
pub struct ManualNode<'l> {
    pub lab: &'l RealLab,
    pub node: &'static str,
    files: Vec<(PathBuf, u32, Vec<u8>)>,
    log_from: usize,
}

impl<'l> ManualNode<'l> {
    pub fn stopped(lab: &'l RealLab, node: &'static str) -> Self {
        lab.stop(node);
        let own = lab.node_dir(node);
        let files = lab
            .files()
            .into_iter()
            .filter(|(path, _)| path.starts_with(&own))
            .map(|(path, (mode, bytes))| (path, mode, bytes))
            .collect();
        Self { lab, node, files, log_from: lab.log(node).len() }
    }

    pub fn tls_file(&self, name: &str) -> PathBuf {
        self.lab.tls_dir(self.node).join(name)
    }

    pub fn options(&self, change: impl FnOnce(&mut ProviderOptions)) {
        self.lab.options(self.node, change);
    }

    pub fn start(&self) {
        self.lab.begin_start(self.node);
    }

    /// What it logged since it was stopped, or last put back.
    pub fn log(&self) -> String {
        self.lab.log(self.node).split_off(self.log_from)
    }

    pub fn ended(&self, at_most_s: u64) -> Option<String> {
        wait_for(Duration::from_secs(at_most_s), || self.lab.end_of(self.node))
    }

    /// Stopped, with its files as they were: the next case may begin.
    pub fn put_back(&mut self) {
        self.lab.stop(self.node);
        for (path, mode, bytes) in &self.files {
            let _ = std::fs::remove_file(path);
            std::fs::write(path, bytes).expect("writable");
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(*mode)).expect("ours");
        }
        self.log_from = self.lab.log(self.node).len();
    }

    /// As it was, and a member again.
    pub fn rejoin(mut self) {
        self.put_back();
        self.start();
        self.lab.is_member_again(self.node);
    }
}
