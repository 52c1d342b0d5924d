//! Keys of data at rest that are lost, in every way that a person manages, on a real server: each is named, nothing is made worse, and
//! the copies bring every row back.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use testbed::real::{LabSpec, RealLab, files_below, lab_slot, need_servers, sealion, short_dir, wait_for};

use crate::lab_audit::Expected;
use crate::lab_rest::{Alone, with_keyring};

const UP: Duration = Duration::from_secs(60);
/// Of a MySQL with a keyring.
pub const BY_KEYRING: &[Expected] = &[("SL4108", "")];
const TABLES: [&str; 6] = ["one", "two", "aria", "pcomp", "übung", "aria_übung"];

struct Drills {
    lab: RealLab,
    key_file: PathBuf,
    pass_file: PathBuf,
    /// As they were at first.
    keys: [Vec<u8>; 2],
    sums: Vec<String>,
    /// What was printed when the keys were placed.
    said: String,
}

/// By the program that a person would use: `lines` under the pass file, as the plugin reads them.
fn seal(lines: &str, pass_file: &Path) -> Vec<u8> {
    openssl(&["enc", "-aes-256-cbc", "-md", "sha1"], lines.as_bytes(), pass_file)
}

fn openssl(words: &[&str], input: &[u8], pass_file: &Path) -> Vec<u8> {
    use std::io::Write;
    let mut child = Command::new("openssl")
        .args(words)
        .arg("-pass")
        .arg(format!("file:{}", pass_file.display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("openssl is there");
    child.stdin.take().expect("piped").write_all(input).expect("it reads");
    let done = child.wait_with_output().expect("it ends");
    assert!(done.status.success());
    done.stdout
}

impl Drills {
    fn new() -> Self {
        let lab = RealLab::up(LabSpec { words: &["replicas", "--nodes", "1"], nodes: 1 });
        let hash = lab.plan_hash_of(&["enable", "tables,logs", "--purge-binary-logs"]);
        let said = lab.run(&["enable", "tables,logs", "--purge-binary-logs", "--yes", &hash[..12]]).exits(0);
        let said = format!("{}{}", said.stdout, said.stderr);
        let mut session = lab.root("n1");
        for sql in [
            "CREATE DATABASE rest",
            "CREATE TABLE rest.one (a INT PRIMARY KEY, b VARCHAR(250)) ENGINE=InnoDB",
            "INSERT INTO rest.one SELECT seq, REPEAT('row ', 40) FROM mysql.seq_1_to_2000",
            "CREATE TABLE rest.two (a INT PRIMARY KEY, b VARCHAR(250)) ENGINE=InnoDB ENCRYPTED=YES ENCRYPTION_KEY_ID=2",
            "INSERT INTO rest.two SELECT * FROM rest.one",
            "CREATE TABLE rest.aria (a INT PRIMARY KEY) ENGINE=Aria",
            "INSERT INTO rest.aria SELECT a FROM rest.one",
            // Pages that are compressed tell nothing at the place of the others; names of files that have letters outside of ASCII are no
            // names of tables.
            "CREATE TABLE rest.pcomp (a INT PRIMARY KEY, b VARCHAR(250)) ENGINE=InnoDB PAGE_COMPRESSED=1",
            "INSERT INTO rest.pcomp SELECT * FROM rest.one",
            "CREATE TABLE rest.übung (a INT PRIMARY KEY) ENGINE=InnoDB PARTITION BY HASH (a) PARTITIONS 2",
            "INSERT INTO rest.übung SELECT a FROM rest.one",
            "CREATE TABLE rest.aria_übung (a INT PRIMARY KEY) ENGINE=Aria",
            "INSERT INTO rest.aria_übung SELECT a FROM rest.one",
            "CREATE VIEW rest.seen AS SELECT * FROM rest.two",
            "FLUSH TABLES rest.one, rest.two, rest.pcomp, rest.übung FOR EXPORT",
            "UNLOCK TABLES",
        ] {
            session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        let dir = lab.tls_dir("n1").with_file_name("data-keys");
        let (key_file, pass_file) = (dir.join("data-keys.enc"), dir.join("data-keys.pass"));
        let keys = [&key_file, &pass_file].map(|path| std::fs::read(path).expect("it is there"));
        let mut drills = Self { lab, key_file, pass_file, keys, sums: vec![], said };
        drills.sums = drills.sums();
        drills
    }

    fn sums(&self) -> Vec<String> {
        let sum = |table| {
            let sql = format!("CHECKSUM TABLE rest.`{table}`");
            let rows = self.lab.sql("n1").expect("it answers").query(&sql).expect("there");
            rows.text(0, "Checksum").expect("a column").into_owned()
        };
        TABLES.map(sum).to_vec()
    }

    fn start(&self) {
        self.lab.lab(&["start", "n1"]).exits(0);
        wait_for(UP, || self.lab.sql("n1").ok()).expect("n1 comes up");
    }

    /// Of the data directory.
    fn hashes(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let files = files_below(&self.lab.node_dir("n1").join("data")).into_iter();
        files.map(|path| (path.clone(), std::fs::read(&path).unwrap_or_default())).collect()
    }

    fn diagnosis(&self, code: i32) -> Value {
        self.lab.run(&["diagnose", "n1", "--format", "json"]).exits(code).json()
    }

    fn has_first_keys(&self) {
        for (path, first) in [&self.key_file, &self.pass_file].into_iter().zip(&self.keys) {
            assert_eq!(&std::fs::read(path).expect("it is there"), first, "{}", path.display());
            let facts = std::fs::metadata(path).expect("it is there");
            let data = std::fs::metadata(self.lab.node_dir("n1").join("data")).expect("it is there");
            assert_eq!((facts.mode() & 0o777, facts.uid()), (0o600, data.uid()), "{}", path.display());
        }
    }

    /// The server is down before, and after.
    fn play(&self, kind: &str, damage: impl FnOnce(&Self)) {
        self.lab.now(format!("drill: {kind}"));
        damage(self);
        let lies = [&self.key_file, &self.pass_file].map(|path| std::fs::read(path).ok());
        let before = self.hashes();
        let said = self.diagnosis(1);
        assert_eq!(said["problems"][0]["kind"], kind, "{said:#}");
        assert_eq!(said["problems"].as_array().expect("a list").len(), 1, "{said:#}");
        let next = said["problems"][0]["next"].as_str().expect("text");
        assert!(next.starts_with("sealion keys restore n1 --entry "), "{next}");
        let forbidden = said["forbidden"].to_string();
        for word in ["DROP TABLE", "innodb_force_recovery", "ib_logfile0"] {
            assert!(forbidden.contains(word), "{forbidden}");
        }
        let words: Vec<&str> = next.split(' ').skip(1).collect();
        let restored = self.lab.run(&words).exits(0);
        assert_eq!(self.hashes(), before, "neither a look nor the way back touches data");
        self.has_first_keys();
        // What lay there is there still.
        for (was, path) in lies.iter().zip([&self.key_file, &self.pass_file]) {
            let Some(was) = was else { continue };
            let dir = path.parent().expect("a directory");
            let kept = files_below(dir).into_iter().any(|one| std::fs::read(one).is_ok_and(|is| is == *was));
            assert!(kept, "{kind}: {} was overwritten\n{restored}", path.display());
        }
        self.start();
        assert_eq!(self.sums(), self.sums, "{kind}");
        self.lab.kill_node("n1");
    }

    /// Key file, passphrase and data on one disk: each command judges that alike. A passphrase on tmpfs is another place.
    fn keys_with_the_data_are_named(&self) {
        const BOTH: &str = "whoever takes the disk has both";
        self.lab.now("keys with the data");
        let plan = self.lab.run(&["plan", "enable", "tables,logs", "--format", "json"]).exits(0).json();
        assert!(plan["impact"].to_string().contains(BOTH), "{plan:#}");
        let unwrapped = self.said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(unwrapped.contains(BOTH), "at the end, too: {}", self.said);
        let audited =
            |words: &[&str]| self.lab.run(&[&["--format", "json", "audit"], words].concat()).exits(0).json();
        let verdict = || {
            let whole = audited(&["--profile", "pci"]);
            let findings = whole["findings"].as_array().expect("a list").clone();
            let of = findings.into_iter().find(|one| one["rule"] == "SL4103").expect("it is judged");
            of["verdict"].as_str().expect("a word").to_owned()
        };
        let leaks = || audited(&["--if", "disk"])["reads"].to_string().contains("SL4103");
        let place = || {
            let data = self.lab.node_dir("n1").join("data").display().to_string();
            let socket = self.lab.node_dir("n1").join("run/s").display().to_string();
            let words =
                ["status", "rest", "--datadir", &data, "-u", "root", "-S", &socket, "--format", "json"];
            let seen = self.lab.run(&words).exits(0).json();
            let places = seen["places"].as_array().expect("a list").clone();
            let of = places.into_iter().find(|one| one["what"] == "file_key_management_filename");
            of.map(|one| one["verdict"].as_str().expect("a word").to_owned())
        };
        assert_eq!((verdict().as_str(), leaks()), ("fail", true));
        assert_eq!(place().as_deref(), Some("plain"));
        let memory = tempfile::tempdir_in("/dev/shm").expect("it is there");
        let there = memory.path().join("pass");
        Self::write(&there, &self.keys[1]);
        std::fs::remove_file(&self.pass_file).expect("it was there");
        std::os::unix::fs::symlink(&there, &self.pass_file).expect("it is made");
        assert_eq!((verdict().as_str(), leaks()), ("pass", false));
        assert_eq!(place().as_deref(), Some("ok"));
        std::fs::remove_file(&self.pass_file).expect("it was there");
        Self::write(&self.pass_file, &self.keys[1]);
        let data = std::fs::metadata(self.lab.node_dir("n1").join("data")).expect("it is there");
        std::os::unix::fs::chown(&self.pass_file, Some(data.uid()), Some(data.gid())).expect("we may");
    }

    fn write(path: &Path, bytes: &[u8]) {
        std::fs::write(path, bytes).expect("it is written");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).expect("it is ours");
    }
}

#[test]
fn lost_keys_are_named_and_brought_back_with_every_row() {
    let _alone = lab_slot();
    let drills = Drills::new();
    drills.keys_with_the_data_are_named();
    drills.lab.kill_node("n1");
    let fine = drills.diagnosis(0);
    assert_eq!((&fine["verdict"], &fine["problems"]), (&"no_key_problem".into(), &Value::Array(vec![])));
    let of = |id: &str| {
        fine["keys"]
            .as_array()
            .expect("a list")
            .iter()
            .find(|key| key["name"] == id && key["result"] == "opens")
    };
    assert!(of("1").is_some() && of("2").is_some(), "{fine:#}");
    let listed = drills.lab.run(&["keys", "list"]).exits(0).stdout;
    assert!(listed.contains("-data-keys-1") && listed.contains("1, 2"), "{listed}");

    let copies = drills.lab.run(&["keys", "list", "--format", "json"]).exits(0).json();
    assert_eq!(copies["schema"], "sealion/keys-list/1");
    assert_eq!(
        (&copies["copies"][0]["opens"], &copies["copies"][0]["key_ids"]),
        (&true.into(), &vec![1, 2].into())
    );

    let list = openssl(&["enc", "-d", "-aes-256-cbc", "-md", "sha1"], &drills.keys[0], &drills.pass_file);
    let list = String::from_utf8(list).expect("text");
    let first = list.lines().next().expect("key 1").to_owned();
    let other = |id: u32| format!("{id};{}", "5a".repeat(32));
    let sealed = |lines: &str| seal(lines, &drills.pass_file);
    let (older, wrong) = (sealed(&first), sealed(&format!("{}\n{}\n", other(1), other(2))));
    let second = sealed(&format!("{first}\n{}\n", other(2)));
    let remove = |path: &Path| std::fs::remove_file(path).expect("it was there");
    drills.play("key_file_missing", |drills| remove(&drills.key_file));
    drills.play("pass_file_missing", |drills| remove(&drills.pass_file));
    drills.play("pass_file_wrong", |drills| Drills::write(&drills.pass_file, b"another\n"));
    drills.play("key_file_damaged", |drills| Drills::write(&drills.key_file, &drills.keys[0][..70]));
    drills.play("wrong_keys", |drills| Drills::write(&drills.key_file, &second));
    drills.play("key_missing", |drills| {
        // Stopped in good order, so that no recovery needs key 2. Then it starts, and advises what would destroy the table.
        drills.start();
        drills.lab.lab(&["stop", "n1"]).exits(0);
        Drills::write(&drills.key_file, &older);
        drills.start();
        let read = drills.lab.sql("n1").expect("it answers").query("SELECT COUNT(*) FROM rest.two");
        assert!(read.is_err_and(|error| error.to_string().contains("drop the table")));
        let said = drills.diagnosis(1);
        assert!(said["log"].to_string().contains("harmful_advice"), "{said:#}");
        drills.lab.kill_node("n1");
    });

    drills.lab.now("keys of the same ids that are others, and no escrow");
    Drills::write(&drills.key_file, &wrong);
    let line = listed.lines().find_map(|line| line.split_once(".age  SHA-256 ")).expect("its place is told");
    let escrow = Path::new(line.0).parent().expect("a directory").to_owned();
    let away = escrow.with_file_name("away");
    std::fs::rename(&escrow, &away).expect("the escrow is there");
    let said = drills.diagnosis(1);
    let kinds: Vec<&str> =
        said["problems"].as_array().expect("a list").iter().filter_map(|one| one["kind"].as_str()).collect();
    assert_eq!(kinds, ["wrong_keys", "wrong_keys"], "{said:#}");
    assert!(said["unknown"].to_string().contains("escrow"), "{said:#}");
    drills.lab.run(&["keys", "restore", "n1"]).exits(3);
    std::fs::rename(&away, &escrow).expect("it is back");
    drills.lab.run(&["keys", "restore", "n1"]).exits(0);
    drills.has_first_keys();
    drills.start();
    assert_eq!(drills.sums(), drills.sums);

    drills.lab.now("the escrow alone, on a backup of the running server");
    let copies = drills.lab.home().join("copies");
    std::fs::create_dir(&copies).expect("it is made");
    let dir = copies.display().to_string();
    let drill = |code| drills.lab.run(&["-v", "keys", "drill", "n1", "--dir", &dir]).exits(code).stdout;
    let is_whole = |said: &str| {
        for table in TABLES {
            let rows = said.split("opened, no row").next().unwrap_or_default();
            assert!(rows.contains(&format!("rest.{table}")), "{table}\n{said}");
        }
        assert_eq!(files_below(&copies), Vec::<PathBuf>::new());
    };
    is_whole(&drill(0));
    drills.lab.now("the same on files, where the node has no keys any more");
    drills.lab.lab(&["stop", "n1"]).exits(0);
    remove(&drills.key_file);
    remove(&drills.pass_file);
    is_whole(&drill(0));
    // The control: what cannot be read is not passed over, be it a table, a partition of one with an odd name, or one of Aria.
    let data = drills.lab.node_dir("n1").join("data/rest");
    for (file, at) in [
        ("two.ibd", 3 * 16_384 + 100),
        ("@1obung#P#p1.ibd", 3 * 16_384 + 100),
        ("aria_@1obung.MAD", 8192 + 100),
    ] {
        let table = data.join(file);
        let whole = std::fs::read(&table).expect("it is there");
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        std::fs::write(&table, damaged).expect("it is written");
        let said =
            drills.lab.run(&["keys", "drill", "n1", "--dir", &dir, "--format", "json"]).exits(1).json();
        assert_eq!(
            (&said["schema"], &said["verdict"]),
            (&"sealion/keys-drill/1".into(), &"failed".into()),
            "{said:#}"
        );
        assert!(!said["failed"].as_array().expect("a list").is_empty(), "{said:#}");
        std::fs::write(&table, whole).expect("it is written");
    }
    // Files that lie elsewhere would be opened by two servers.
    std::fs::write(data.join("far.isl"), b"/nowhere/rest/far.ibd").expect("it is written");
    let refused = drills.lab.run(&["keys", "drill", "n1", "--dir", &dir]).exits(3);
    assert!(refused.stderr.contains("far.isl"), "{refused}");
    std::fs::remove_file(data.join("far.isl")).expect("it was there");

    // With the files as they were, and nothing but these: what demands keys is told by the option files, too.
    drills.lab.run(&["keys", "restore", "n1"]).exits(0);
    drills.start();
    assert_eq!(drills.sums(), drills.sums);
}

/// Kinds of what is wrong, as `sealion diagnose` says without an inventory.
fn kinds_of(datadir: &Path, ring: &Path, log: &Path, code: i32) -> Vec<String> {
    let said = Command::new(sealion())
        .args(["diagnose", "--format", "json", "--datadir"])
        .arg(datadir)
        .arg("--key-file")
        .arg(ring)
        .arg("--error-log")
        .arg(log)
        .output()
        .expect("it runs");
    let whole: Value = serde_json::from_slice(&said.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&said.stderr)));
    assert_eq!(said.status.code(), Some(code), "{whole:#}");
    let problems = whole["problems"].as_array().expect("a list").iter();
    problems.map(|one| one["kind"].as_str().expect("text").to_owned()).collect()
}

/// Whether MySQL ends in good order; only where it does not start does it end at all.
fn starts(dir: &Path, cache: &Path) -> bool {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/start-server.sh");
    let ended = Command::new("bash")
        .arg(script)
        .arg("mysql-9.7")
        .arg(dir)
        .args(["3306", "--skip-networking", "--mysqlx=OFF"])
        .env("SEALION_CACHE", cache)
        .stdin(Stdio::null())
        .status()
        .expect("it runs");
    ended.success()
}

#[test]
fn lost_keyrings_of_mysql_are_named_from_the_files() {
    need_servers();
    let _alone = lab_slot();
    let home = short_dir();
    let cache = with_keyring(home.path());
    let dir = home.path().join("s");
    let options = ["--mysqlx=OFF", "--innodb-buffer-pool-size=16M", "--innodb-redo-log-capacity=32M"];
    let server = Alone::start("mysql-9.7", &dir, &cache, &options.map(str::to_owned));
    let ring = home.path().join("keyring/keys");
    server.run(&[
        "CREATE DATABASE d",
        "CREATE TABLE d.t (a INT PRIMARY KEY, b VARCHAR(250)) ENCRYPTION='Y'",
        "INSERT INTO d.t VALUES (1, 'one')",
    ]);
    let before_rotation = std::fs::read(&ring).expect("the component has made it");
    server.run(&["ALTER TABLESPACE mysql ENCRYPTION='Y'", "ALTER INSTANCE ROTATE INNODB MASTER KEY"]);
    let (data, log) = (server.data(), dir.join("log"));
    // In good order, so that page 0 of each file is written.
    drop(server);
    let right = std::fs::read(&ring).expect("it is there");
    let check = |bytes: Option<&[u8]>, code, kinds: &[&str]| {
        match bytes {
            Some(bytes) => std::fs::write(&ring, bytes).expect("it is written"),
            None => std::fs::remove_file(&ring).expect("it was there"),
        }
        let mut found = kinds_of(&data, &ring, &log, code);
        found.dedup();
        assert_eq!(found, kinds);
    };
    check(Some(&right), 0, &[]);
    check(None, 1, &["key_file_missing"]);
    check(Some(&before_rotation), 1, &["older_keys"]);
    check(Some(&right[..right.len() / 2]), 1, &["key_file_damaged"]);
    let text = String::from_utf8(right.clone()).expect("JSON");
    let uuid = text.split("INNODBKey-").nth(1).and_then(|rest| rest.get(..36)).expect("a key of InnoDB");
    let other = text.replace(uuid, "11111111-2222-3333-4444-555555555555");
    check(Some(other.as_bytes()), 1, &["other_server"]);
    let newest: Value = serde_json::from_str(&text).expect("JSON");
    let keys = newest["elements"].as_array().expect("a list").iter().filter_map(|one| one["data"].as_str());
    let wrong = keys.fold(text.clone(), |text, key| text.replace(key, &"AB".repeat(key.len() / 2)));
    check(Some(wrong.as_bytes()), 1, &["wrong_keys"]);

    let backup = ring.with_file_name("keys.backup");
    let write_backup = |bytes: &[u8]| std::fs::write(&backup, bytes).expect("it is written");
    write_backup(&before_rotation);
    check(Some(&right), 1, &["stale_backup"]);
    write_backup(&right[..right.len() / 2]);
    check(Some(&right), 1, &["stale_backup"]);
    // What the server makes of these is right.
    for harmless in [&right[..], b""] {
        write_backup(harmless);
        check(Some(&right), 0, &[]);
    }
    write_backup(&right);
    check(Some(&before_rotation), 0, &[]);
    check(Some(&right[..right.len() / 2]), 0, &[]);
    check(None, 0, &[]);
    // The server itself restores it, and starts.
    let server = Alone::start("mysql-9.7", &dir, &cache, &options.map(str::to_owned));
    server.wait("SELECT COUNT(*) FROM d.t", "1");
    assert!(!backup.exists() && std::fs::read(&ring).expect("it is there") == right);
    // One that is older is named while the server runs; moved away as advised, it does no harm.
    assert!(server.audited("SL4108", "pass", ""));
    write_backup(&before_rotation);
    check(Some(&right), 1, &["stale_backup"]);
    assert!(server.audited("SL4108", "fail", "keys.backup"));
    drop(server);
    let away = home.path().join("away");
    std::fs::rename(&backup, &away).expect("it is moved");
    check(Some(&right), 0, &[]);
    // Left there, it costs the newest master key.
    std::fs::rename(&away, &backup).expect("it is moved");
    assert!(!starts(&dir, &cache), "the key of its own tablespace is gone");
    assert!(!backup.exists());
    assert_eq!(std::fs::read(&ring).expect("it is there"), before_rotation);
    check(Some(&right), 0, &[]);

    // The server itself makes an empty one where it finds none, and does not say that it has.
    std::fs::remove_file(&ring).expect("it was there");
    assert!(!starts(&dir, &cache), "without its keys it does not start");
    // Nothing stands in it, or a list without a key, which has 31 bytes.
    assert!(std::fs::read(&ring).expect("it has made one").len() <= 31);
    let mut found = kinds_of(&data, &ring, &log, 1);
    found.dedup();
    assert_eq!(found, ["keyring_empty"]);
}
