//! Servers that nobody has hardened are hardened by nothing but what `sealion audit` says, to the letter: no finding is left.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use net::{Client, ConnectOptions, Endpoint};
use serde_json::Value;
use testbed::real::bundled::bundle;
use testbed::real::{LabSpec, RealLab, lab_slot, short_dir, wait_for};

use crate::lab_audit::{Audited, PASSWORD};
use crate::lab_audit_kept::is_as_kept;

/// What is seen only when something else was mended; each round does all that is told.
const ROUNDS_MAX: usize = 5;
const UP: Duration = Duration::from_secs(60);
/// From where clients come.
const CLIENTS: &str = "10.98.%";
const NODE: &str = "n1";
/// `mysqld` of the bundle looks for its keyring beside itself.
const MANIFEST: &str = r#"{"components":"file://component_keyring_file"}"#;

/// A bundle of links, in which files can be written beside the program, and its directory of plugins closed.
fn own_bundle(home: &Path, name: &str) -> PathBuf {
    let cache = home.join("cache");
    let bundles = cache.join("bundles");
    fs::create_dir_all(&bundles).unwrap();
    let copied = Command::new("cp").arg("-as").arg(bundle(name)).arg(&bundles).status().unwrap();
    assert!(copied.success());
    cache
}

struct Follower {
    lab: RealLab,
    cache: PathBuf,
    bundle: &'static str,
    is_mysql: bool,
    /// Lines of its option file that were told so far.
    lines: BTreeSet<String>,
    must_restart: bool,
    /// Not on the disk of the data.
    memory: tempfile::TempDir,
}

impl Follower {
    fn up(home: &Path, spec: LabSpec, bundle: &'static str, is_mysql: bool) -> Self {
        let cache = own_bundle(home, bundle);
        let lab = RealLab::up_with(spec, &[("SEALION_CACHE", &cache.display().to_string())]);
        let memory = tempfile::tempdir_in("/dev/shm").unwrap();
        Self { lab, cache, bundle, is_mysql, lines: BTreeSet::new(), must_restart: false, memory }
    }

    fn audit(&self, words: &[&str]) -> Value {
        self.lab.run(&[&["--format", "json", "audit"], words].concat()).exits(0).json()
    }

    /// Somebody who may do everything, over the socket, with the password or without.
    fn session(&self) -> Client {
        let socket = self.lab.file().node(NODE).unwrap().socket();
        let login = ConnectOptions::new(Endpoint::unix(socket), "root");
        let with_password = ConnectOptions { password: Some(PASSWORD.into()), ..login.clone() };
        let connect = || Client::connect(&login).or_else(|_| Client::connect(&with_password)).ok();
        wait_for(UP, connect).expect("root of the lab is let in")
    }

    fn plugin_dir(&self) -> PathBuf {
        self.cache.join("bundles").join(self.bundle).join("usr/lib/mysql/plugin")
    }

    /// What stands between the signs is for the reader to write.
    fn filled(&self, text: &str) -> String {
        let at = |name: &str| self.lab.home().join(name).display().to_string();
        let network = if text.contains("'sealion'@") { "localhost" } else { CLIENTS };
        text.replace("<NEW_PASSWORD>", &format!("'{PASSWORD}'"))
            .replace("<CLIENT_NETWORK>", network)
            .replace("<DIRECTORY>", "/usr/share")
            .replace("<KEYS>", &at("keys.enc"))
            .replace("<KEYS_PASSWORD>", &at("keys.password"))
    }

    /// As `explain SL4104` has it.
    fn make_keys(&self) {
        if self.lab.home().join("keys.enc").exists() {
            return;
        }
        let explained = self.lab.run(&["explain", "SL4104"]).exits(0).stdout;
        let words = explained.split_whitespace().collect::<Vec<_>>().join(" ");
        let recipe = "umask 077; echo \"1;$(openssl rand -hex 32)\" > keys; openssl rand -hex 128 > keys.password; \
                      openssl enc -aes-256-cbc -md sha1 -pass file:keys.password -in keys -out keys.enc; shred -u keys";
        assert!(words.contains(recipe), "{explained}");
        let made = Command::new("bash").args(["-euc", recipe]).current_dir(self.lab.home()).output().unwrap();
        assert!(made.status.success(), "{made:?}");
    }

    /// Who logs in does so as the account wants it from now on.
    fn operator_has(&self, key: &str, value: &str) {
        let file = self.lab.dir.join("operator.cnf");
        let text = fs::read_to_string(&file).unwrap();
        let others = text.lines().filter(|line| !line.starts_with(key)).collect::<Vec<_>>().join("\n");
        fs::write(&file, format!("{others}\n{key}={value}\n")).unwrap();
    }

    fn restart(&mut self) {
        let text = self.lines.iter().cloned().collect::<Vec<_>>().join("\n");
        let file = self.lab.node_dir(NODE).join("etc/conf.d/70-audit.cnf");
        fs::write(&file, format!("[mysqld]\n{text}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        self.lab.lab(&["stop", NODE]).exits(0);
        self.lab.lab(&["start", NODE]).exits(0);
        self.must_restart = false;
        // It is up when it lets somebody in.
        drop(self.session());
        if self.lines.iter().any(|line| line.starts_with("innodb_encrypt_tables")) {
            // Background threads are at it.
            let clear = "SELECT COUNT(*) FROM information_schema.INNODB_SYS_TABLESPACES t \
                         LEFT JOIN information_schema.INNODB_TABLESPACES_ENCRYPTION e ON e.SPACE = t.SPACE \
                         WHERE t.NAME <> 'innodb_temporary' AND COALESCE(e.MIN_KEY_VERSION, 0) = 0";
            let is_done = wait_for(UP, || (self.session().query(clear).ok()?.scalar()? == "0").then_some(()));
            assert!(is_done.is_some(), "tablespaces are not encrypted in time");
        }
    }

    /// One step of the plan; whether it was done.
    fn step(&mut self, step: &Value, session: &mut Client) -> bool {
        let texts = |key: &str| -> Vec<String> {
            step[key].as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
        };
        if !texts("waits_for").is_empty() {
            return false;
        }
        if let Some(command) = step["command"].as_str() {
            let words: Vec<&str> = command.split(' ').skip(1).collect();
            let hash = self.lab.plan_hash_of(&words);
            self.lab.run(&[&words[..], &["--yes", &hash[..12]]].concat()).exits(0);
            // A server that was restarted ends what was open.
            *session = self.session();
        }
        for sql in texts("sql") {
            let sql = self.filled(&sql);
            session.execute(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
            if sql.starts_with("ALTER USER 'sealion'@") {
                if sql.contains("IDENTIFIED") {
                    self.operator_has("password", &format!("\"{PASSWORD}\""));
                }
                if sql.contains("REQUIRE SSL") {
                    // Over the socket, too.
                    self.operator_has("ssl-mode", "REQUIRED");
                }
            }
        }
        let lines = texts("option_lines");
        if lines.iter().any(|line| line.contains("<KEYS>")) {
            self.make_keys();
        }
        let filled: Vec<String> = lines.iter().map(|line| self.filled(line)).collect();
        self.lines.extend(filled);
        self.must_restart |= step["needs_restart"] == true;
        true
    }

    /// What the plan leaves to a person; whether there was something to do now.
    fn by_hand(&mut self, finding: &Value, open: &BTreeSet<String>, session: &mut Client) -> bool {
        let text = |key: &str| finding[key].as_str().unwrap();
        let (rule, subject, why, remedy) = (text("rule"), text("subject"), text("why"), text("remedy"));
        // Only what its remedy says is done.
        let says = |words: &str| assert!(remedy.contains(words), "{rule} does not say \"{words}\": {remedy}");
        let mut run =
            |sql: &str| session.execute(sql).unwrap_or_else(|error| panic!("{rule}: {sql}: {error}"));
        match rule {
            // For whom it is not done by the plan: everybody may do so from everywhere until then.
            "SL2215" => {
                says("RENAME USER");
                assert!(subject.contains("'sealion'@'%'"), "{subject}");
                false
            }
            "SL2202" => {
                if subject.contains("'sealion'@'%'") {
                    // It is to come over the socket.
                    return false;
                }
                let (sql, _) = remedy.split_once(" -- ").unwrap();
                run(sql);
                true
            }
            "SL2012" => {
                says("REQUIRE SUBJECT '/CN=NAME'");
                for account in why.split(", ") {
                    run(&format!("ALTER USER {account} REQUIRE SUBJECT '/CN=NAME'"));
                }
                true
            }
            "SL2803" => {
                says("0555 where the server itself runs as root");
                fs::set_permissions(self.plugin_dir(), fs::Permissions::from_mode(0o555)).unwrap();
                true
            }
            "SL4221" | "SL2802" => {
                says("chmod 0640");
                for one in why.split(", ") {
                    let (path, _) = one.split_once(" has mode ").unwrap();
                    fs::set_permissions(path, fs::Permissions::from_mode(0o640)).unwrap();
                }
                true
            }
            "SL4101" if self.is_mysql => {
                says("mysqld.my");
                let usr = self.cache.join("bundles").join(self.bundle).join("usr");
                fs::write(usr.join("sbin/mysqld.my"), MANIFEST).unwrap();
                let keys = self.lab.home().join("keyring");
                fs::create_dir_all(&keys).unwrap();
                let settings = serde_json::json!({ "path": keys.join("keys"), "read_only": false });
                let dir = self.plugin_dir();
                fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
                fs::write(dir.join("component_keyring_file.cnf"), settings.to_string()).unwrap();
                fs::set_permissions(&dir, fs::Permissions::from_mode(0o555)).unwrap();
                self.must_restart = true;
                true
            }
            "SL4103" => {
                says("move the key file, or the file with its passphrase");
                let (files, _) = why.split_once(": ").unwrap();
                let last = Path::new(files.rsplit(" and ").next().unwrap());
                let there = self.memory.path().join(last.file_name().unwrap());
                fs::copy(last, &there).unwrap();
                fs::remove_file(last).unwrap();
                std::os::unix::fs::symlink(&there, last).unwrap();
                true
            }
            "SL4001" if self.is_mysql && !open.contains("SL4101") => {
                says("ALTER TABLESPACE mysql ENCRYPTION='Y'");
                says("ALTER TABLE ... ENCRYPTION='Y'");
                for name in why.split(", ") {
                    match name.split_once('/') {
                        Some((schema, table)) => run(&format!("ALTER TABLE {schema}.{table} ENCRYPTION='Y'")),
                        None => run(&format!("ALTER TABLESPACE {name} ENCRYPTION='Y'")),
                    };
                }
                true
            }
            "SL4007" if !open.contains("SL4006") => {
                says("PURGE BINARY LOGS BEFORE");
                run("FLUSH BINARY LOGS");
                // A log that is as young as the second counts as younger.
                std::thread::sleep(Duration::from_millis(1100));
                run("PURGE BINARY LOGS BEFORE NOW()");
                true
            }
            "SL4012" => {
                says("block_encryption_mode=aes-256-cbc");
                self.lines.insert("block_encryption_mode=aes-256-cbc".into());
                self.must_restart = true;
                true
            }
            // What these rest on is mended first.
            "SL4001" | "SL4003" | "SL4004" | "SL4005" | "SL4006" | "SL4007"
                if open.contains("SL4101") || open.contains("SL4006") =>
            {
                false
            }
            other => panic!("nobody here knows how to do what {other} says of {subject} ({why}): {remedy}"),
        }
    }

    fn follow(mut self) {
        let mut story: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for round in 1..=ROUNDS_MAX {
            self.lab.now(format!("round {round} of {}", self.bundle));
            let seen = self.audit(&[]);
            let failed: Vec<&Value> =
                seen["findings"].as_array().unwrap().iter().filter(|one| one["verdict"] == "fail").collect();
            let open: BTreeSet<String> =
                failed.iter().map(|one| one["rule"].as_str().unwrap().to_owned()).collect();
            let told = failed.iter().map(|one| format!("{} {}: {}", one["rule"], one["subject"], one["why"]));
            story.insert(round, told.collect());
            if round == 1 {
                is_as_kept(
                    if self.is_mysql { "default-mysql" } else { "default-mariadb" },
                    &Audited::of_json(seen.clone()),
                );
            }
            if failed.is_empty() {
                eprintln!(
                    "{}: {} of round 1 are mended in {} rounds",
                    self.bundle,
                    story[&1].len(),
                    round - 1
                );
                assert!(story[&1].len() > 15, "{story:#?}");
                Audited::of_json(seen).passes(["SL2002", "SL2204", "SL4001", "SL4004", "SL4101"]);
                return;
            }
            let plan = self.audit(&["--fix-plan"]);
            let mut session = self.session();
            let mut has_done = false;
            for step in plan["steps"].as_array().unwrap() {
                has_done |= self.step(step, &mut session);
            }
            for finding in plan["by_hand"].as_array().unwrap() {
                has_done |= self.by_hand(finding, &open, &mut session);
            }
            assert!(has_done, "nothing can be done any more: {story:#?}\n{plan:#}");
            drop(session);
            if self.must_restart {
                self.restart();
            }
        }
        panic!("after {ROUNDS_MAX} rounds something is left: {story:#?}");
    }
}

#[test]
fn servers_that_are_mended_by_nothing_but_remedies_have_no_finding_left() {
    let _alone = lab_slot();
    let home = short_dir();
    Follower::up(home.path(), LabSpec::MARIADB, "galera-10.11", false).follow();
    Follower::up(home.path(), LabSpec::MYSQL, "mysql-9.7", true).follow();
}
