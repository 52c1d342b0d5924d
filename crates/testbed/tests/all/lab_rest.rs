//! `status rest` on real servers: what it says of each file, beside what SQL says, and beside a canary that was written
//! there.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use net::{Client, ConnectOptions, Endpoint};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use testbed::real::{bundled, lab_slot, need_servers, sealion, short_dir, wait_for};

/// Stored, and not in the text of a statement: that has it backwards.
const CANARY: &str = "this-row-can-be-read-by-anybody";
const UP: Duration = Duration::from_secs(120);
const SETTLED: Duration = Duration::from_secs(60);

/// A server that nobody reaches but over its socket, so that it needs no network of its own.
pub struct Alone {
    child: Child,
    pub dir: PathBuf,
}

impl Alone {
    pub fn start(name: &str, dir: &Path, cache: &Path, options: &[String]) -> Self {
        bundled::bundle(name);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/start-server.sh");
        let child = Command::new("bash")
            .arg(script)
            .arg(name)
            .arg(dir)
            .arg("3306")
            .arg("--skip-networking")
            .args(options)
            .env("SEALION_CACHE", cache)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let mut server = Self { child, dir: dir.to_owned() };
        let up = wait_for(UP, || {
            let has_ended = server.child.try_wait().unwrap().is_some();
            (server.session().is_ok() || has_ended).then_some(!has_ended)
        });
        let log = std::fs::read_to_string(dir.join("log")).unwrap_or_default();
        assert_eq!(up, Some(true), "{name} is not up\n{log}");
        server
    }

    pub fn session(&self) -> Result<Client, net::NetError> {
        Client::connect(&ConnectOptions {
            connect_timeout: Duration::from_secs(3),
            io_timeout: Duration::from_secs(60),
            ..ConnectOptions::new(Endpoint::unix(self.dir.join("socket")), "root")
        })
    }

    pub fn run(&self, statements: &[&str]) {
        let mut session = self.session().unwrap();
        for sql in statements {
            session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
    }

    /// Asks until the first column is `wanted`.
    pub fn wait(&self, sql: &str, wanted: &str) {
        let mut last = String::new();
        wait_for(SETTLED, || {
            let answer = self.session().unwrap().query(sql).unwrap();
            last = answer.scalar().unwrap_or_default().into_owned();
            (last == wanted).then_some(())
        })
        .unwrap_or_else(|| panic!("{sql}: {last}"));
    }

    pub fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    /// Whether an audit says that of the server.
    pub fn audited(&self, rule: &str, verdict: &str, says: &str) -> bool {
        let said = Command::new(sealion())
            .args(["audit", "--format", "json", "-u", "root", "-S"])
            .arg(self.dir.join("socket"))
            .env("HOME", self.data())
            .output()
            .unwrap();
        let whole: Value = serde_json::from_slice(&said.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&said.stderr)));
        let mut findings = whole["findings"].as_array().unwrap().iter();
        findings.any(|one| {
            one["rule"] == rule && one["verdict"] == verdict && one["why"].as_str().unwrap().contains(says)
        })
    }

    fn look(&self) -> Seen {
        let socket = self.dir.join("socket");
        look(&self.data(), &["-u", "root", "-S", socket.to_str().unwrap()])
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        let _ = kill(Pid::from_raw(i32::try_from(self.child.id()).unwrap()), Signal::SIGTERM);
        let _ = self.child.wait();
    }
}

fn status_rest(datadir: &Path, words: &[&str]) -> Output {
    Command::new(sealion())
        .args(["status", "rest", "--format", "json", "--datadir"])
        .arg(datadir)
        .args(words)
        .env("HOME", datadir)
        .output()
        .unwrap()
}

struct Seen {
    whole: Value,
    artefacts: BTreeMap<String, Value>,
}

fn look(datadir: &Path, words: &[&str]) -> Seen {
    let said = status_rest(datadir, words);
    assert_eq!(said.status.code(), Some(0), "{}", String::from_utf8_lossy(&said.stderr));
    let whole: Value = serde_json::from_slice(&said.stdout).unwrap();
    let all = whole["artefacts"].as_array().unwrap().iter();
    let artefacts = all.map(|one| (one["path"].as_str().unwrap().to_owned(), one.clone())).collect();
    Seen { whole, artefacts }
}

impl Seen {
    fn of(&self, path: &str) -> &Value {
        self.artefacts.get(path).unwrap_or_else(|| panic!("{path} is not there: {:?}", self.artefacts.keys()))
    }

    /// What the bytes say, and what SQL says.
    fn says(&self, path: &str) -> (&str, &str) {
        let one = self.of(path);
        (one["verdict"].as_str().unwrap(), one["sql"]["says"].as_str().unwrap_or("-"))
    }

    fn disagreement(&self, path: &str) -> Option<&Value> {
        self.whole["disagreements"].as_array().unwrap().iter().find(|one| one["path"] == path)
    }

    /// A file in which the canary can be read is not called encrypted, and one that holds rows in plain has it.
    fn agrees_with_the_canary(&self, datadir: &Path, readable: &[&str]) {
        for (path, one) in &self.artefacts {
            let Ok(bytes) = std::fs::read(datadir.join(path)) else { continue };
            let can_be_read = memchr::memmem::find(&bytes, CANARY.as_bytes()).is_some();
            let verdict = one["verdict"].as_str().unwrap();
            assert!(!can_be_read || ["plain", "mixed", "never"].contains(&verdict), "{path}: {one:#}");
            if readable.contains(&path.as_str()) {
                assert!(can_be_read, "{path} is {verdict}, and the canary is not there");
            }
        }
    }

    /// The same verdicts, for files that are still there and that a server does not write at its end.
    fn is_the_same_without_a_server(&self, paths: &[&str], datadir: &Path) {
        let stopped = look(datadir, &[]);
        assert_eq!(stopped.whole["server"]["is_asked"], false);
        assert_eq!(stopped.whole["disagreements"].as_array().unwrap().len(), 0);
        for path in paths {
            assert_eq!(stopped.says(path), (self.says(path).0, "-"), "{path}");
        }
    }
}

fn fill(table: &str, how: &str) -> String {
    let backwards: String = CANARY.chars().rev().collect();
    format!("INSERT INTO d.{table} (b) SELECT REPEAT(REVERSE('{backwards}'), 6) FROM {how}")
}

#[test]
fn mariadb_is_shown_as_its_bytes_are() {
    need_servers();
    for name in ["galera-10.11", "mariadb-11.8"] {
        let _alone = lab_slot();
        let home = short_dir();
        mariadb(name, home.path());
    }
}

/// A log, and a directory for tables.
fn kept_elsewhere(home: &Path) -> [String; 2] {
    std::fs::create_dir(home.join("away")).unwrap();
    ["--slow-query-log=1".to_owned(), format!("--slow-query-log-file={}", home.join("slow.log").display())]
}

/// What lies outside, and what is about the server.
fn sees_what_is_elsewhere(seen: &Seen, home: &Path, tables: &[(&str, &str)]) {
    let home = home.canonicalize().unwrap();
    let slow = seen.of(home.join("slow.log").to_str().unwrap());
    assert_eq!(
        (&slow["verdict"], &slow["named_by"]),
        (&"never".into(), &"slow_query_log_file".into()),
        "{slow:#}"
    );
    for (path, verdict) in tables {
        let one = seen.of(home.join(path).to_str().unwrap());
        assert_eq!(&one["verdict"], verdict, "{one:#}");
        assert!(one["named_by"].is_string(), "{one:#}");
    }
    assert!(seen.of("ibdata1")["named_by"].is_null());
    let places = seen.whole["places"].as_array().unwrap();
    let place = |what: &str| {
        places.iter().find(|one| one["what"] == what).unwrap_or_else(|| panic!("{what}: {places:#?}"))
    };
    let tmpdir = place("tmpdir");
    assert!(tmpdir["path"].as_str().unwrap().ends_with("/tmp"), "{tmpdir:#}");
    for what in ["swap", "core dumps", "tmpdir"] {
        assert!(!place(what)["text"].as_str().unwrap().is_empty());
    }
    // The server runs here and was found, so that its limits are known.
    assert_ne!(place("core dumps")["path"], Value::Null, "{places:#?}");
    let not_seen = seen.whole["not_looked_at"].as_array().unwrap();
    assert!(!not_seen.iter().any(|line| line.as_str().unwrap().contains("no name")), "{not_seen:#?}");
}

/// Of files without a name it is often not to be told.
fn unknown_by_name(seen: &Seen) -> Vec<&Value> {
    // Pages of MySQL's tablespaces of sessions are written in any order, the first one last at times.
    let changes = |one: &&Value| one["path"].as_str().is_some_and(|path| path.starts_with("#innodb_temp/"));
    let unknown = |one: &&Value| one["unknown"] != 0 && one["named_by"] != "an open file" && !changes(one);
    seen.artefacts.values().filter(unknown).collect()
}

fn mariadb(name: &str, home: &Path) {
    let keys = home.join("keys");
    std::fs::write(&keys, format!("1;{}\n", "5e".repeat(32))).unwrap();
    std::fs::set_permissions(&keys, std::fs::Permissions::from_mode(0o600)).unwrap();
    let options: Vec<String> = [
        "--plugin-load-add=file_key_management",
        "--innodb-buffer-pool-size=16M",
        "--innodb-encryption-threads=0",
        "--innodb-encrypt-temporary-tables=ON",
        "--log-bin=binlog",
        "--server-id=1",
        "--general-log=1",
        "--general-log-file=general.log",
    ]
    .map(str::to_owned)
    .into_iter()
    .chain([format!("--loose-file-key-management-filename={}", keys.display())])
    .chain(kept_elsewhere(home))
    .collect();
    let server = Alone::start(name, &home.join("s"), &lab::bundle::cache_dir(), &options);
    let columns = "(a INT AUTO_INCREMENT PRIMARY KEY, b VARCHAR(250))";
    let tables = [
        ("open", "ENGINE=InnoDB ENCRYPTED=NO"),
        ("sealed", "ENGINE=InnoDB ENCRYPTED=YES"),
        ("short", "ENGINE=InnoDB PAGE_COMPRESSED=1 ENCRYPTED=YES"),
        ("small", "ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=4 ENCRYPTED=YES"),
        ("freed", "ENGINE=InnoDB"),
        ("page", "ENGINE=Aria"),
        ("file", "ENGINE=MyISAM"),
    ];
    server.run(&["CREATE DATABASE d"]);
    for (table, engine) in tables {
        server.run(&[&format!("CREATE TABLE d.{table} {columns} {engine}"), &fill(table, "d.seq_1_to_3000")]);
    }
    server.run(&[
        &format!(
            "CREATE TABLE d.away {columns} ENGINE=InnoDB ENCRYPTED=NO DATA DIRECTORY='{}'",
            home.join("away").display()
        ),
        &format!(
            "CREATE TABLE d.linked {columns} ENGINE=MyISAM DATA DIRECTORY='{}'",
            home.join("away").display()
        ),
        &fill("away", "d.seq_1_to_3000"),
        &fill("linked", "d.seq_1_to_3000"),
        "FLUSH TABLES d.away FOR EXPORT",
        "UNLOCK TABLES",
    ]);
    // Its rows go, and their pages are free, before anything encrypts them.
    server.run(&["FLUSH TABLES d.freed FOR EXPORT", "UNLOCK TABLES", "DELETE FROM d.freed"]);
    server.run(&["SET GLOBAL innodb_max_purge_lag_wait=0"]);
    server.run(&["SET GLOBAL innodb_encrypt_tables=ON", "SET GLOBAL innodb_encryption_threads=2"]);
    server
        .run(&["SET GLOBAL aria_encrypt_tables=ON", &format!("CREATE TABLE d.hidden {columns} ENGINE=Aria")]);
    // A long value has pages of its own.
    let long = "UPDATE d.hidden SET c = REPEAT(b, 100) WHERE a = 1";
    server.run(&[&fill("hidden", "d.seq_1_to_3000"), "ALTER TABLE d.hidden ADD c LONGBLOB", long]);
    // Pages of MariaDB before 10.5, and of tables that are older than the server.
    server.run(&[
        "SET GLOBAL innodb_checksum_algorithm=crc32",
        &format!("CREATE TABLE d.older {columns} ENGINE=InnoDB ENCRYPTED=YES"),
        &format!("CREATE TABLE d.older_small {columns} ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=4 ENCRYPTED=YES"),
        "SET GLOBAL innodb_checksum_algorithm=full_crc32",
        &fill("older", "d.seq_1_to_3000"),
        &fill("older_small", "d.seq_1_to_3000"),
    ]);
    let done = "SELECT COUNT(*) FROM information_schema.INNODB_TABLESPACES_ENCRYPTION \
                WHERE NAME = 'd/freed' AND MIN_KEY_VERSION > 0 AND ROTATING_OR_FLUSHING = 0";
    server.wait(done, "1");
    server.run(&[
        "FLUSH TABLES",
        "FLUSH TABLES d.open, d.sealed, d.short, d.small, d.older, d.older_small FOR EXPORT",
        "UNLOCK TABLES",
    ]);
    // Larger than the buffer pool, so that it is in the file; it goes with its session.
    let mut holds_rows = server.session().unwrap();
    let backwards: String = CANARY.chars().rev().collect();
    for sql in [
        "CREATE TEMPORARY TABLE d.brief (a INT PRIMARY KEY, b VARCHAR(250)) ENGINE=InnoDB".to_owned(),
        format!("INSERT INTO d.brief SELECT seq, REPEAT(REVERSE('{backwards}'), 6) FROM d.seq_1_to_150000"),
    ] {
        holds_rows.execute(&sql).unwrap();
    }
    std::fs::copy(&keys, server.data().join("forgotten")).unwrap();
    std::fs::write(server.data().join("strange.bin"), "nobody knows it").unwrap();

    let seen = server.look();
    assert_eq!((&seen.whole["family"], &seen.whole["server"]["counts"]), (&"mariadb".into(), &true.into()));
    for (path, says) in [
        ("d/open.ibd", ("plain", "plain")),
        ("d/sealed.ibd", ("encrypted", "encrypted")),
        ("d/short.ibd", ("encrypted", "encrypted")),
        ("d/small.ibd", ("encrypted", "encrypted")),
        ("d/older.ibd", ("encrypted", "encrypted")),
        ("d/older_small.ibd", ("encrypted", "encrypted")),
        ("d/freed.ibd", ("mixed", "encrypted")),
        ("d/page.MAD", ("plain", "encrypted")),
        ("d/hidden.MAD", ("encrypted", "encrypted")),
        ("d/hidden.MAI", ("encrypted", "encrypted")),
        ("d/file.MYD", ("never", "-")),
        ("ibtmp1", ("encrypted", "encrypted")),
        ("ib_logfile0", ("plain", "plain")),
        ("binlog.000001", ("plain", "plain")),
        ("general.log", ("never", "-")),
        ("forgotten", ("never", "-")),
        ("strange.bin", ("unknown", "-")),
    ] {
        assert_eq!(seen.says(path), says, "{name} {path}: {:#}", seen.of(path));
    }
    assert_eq!(seen.of("forgotten")["kind"], "key file");
    sees_what_is_elsewhere(&seen, home, &[("away/d/away.ibd", "plain")]);
    assert_eq!(
        (seen.says("d/linked.MYD").0, &seen.of("d/linked.MYD")["named_by"]),
        ("never", &"a symbolic link".into())
    );
    let keys_place = seen.whole["places"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["what"] == "file_key_management_filename");
    assert_eq!(keys_place.unwrap()["verdict"], "plain", "on the file system of the data");
    let keys_used = seen.of("d/sealed.ibd")["keys"].as_array().unwrap();
    assert_eq!((keys_used.len(), &keys_used[0]["id"], &keys_used[0]["version"]), (1, &1.into(), &1.into()));
    let unlike = seen.disagreement("d/freed.ibd").expect("it is found");
    let text = unlike["text"].as_str().unwrap();
    assert!(text.contains("SQL says encrypted") && text.contains("pages are plain"), "{text}");
    assert!(unlike["cure"].as_str().unwrap().contains("FORCE"), "{unlike}");
    assert!(seen.disagreement("d/sealed.ibd").is_none() && seen.disagreement("d/open.ibd").is_none());
    // What cannot be determined is told apart from what cannot be read.
    let unknown = unknown_by_name(&seen);
    assert_eq!(unknown.len(), 1, "{unknown:#?}");
    let readable = ["d/open.ibd", "d/freed.ibd", "d/page.MAD", "d/file.MYD", "binlog.000001"];
    seen.agrees_with_the_canary(&server.data(), &readable);
    assert_eq!(status_rest(&server.data(), &["--fail-on-plain"]).status.code(), Some(1));

    drop(holds_rows);
    // The cure that it names.
    server.run(&["ALTER TABLE d.freed FORCE", "FLUSH TABLES d.freed FOR EXPORT", "UNLOCK TABLES"]);
    server.wait(done, "1");
    let cured = server.look();
    assert_eq!(cured.says("d/freed.ibd"), ("encrypted", "encrypted"), "{:#}", cured.of("d/freed.ibd"));
    assert!(cured.disagreement("d/freed.ibd").is_none());
    cured.agrees_with_the_canary(&server.data(), &[]);

    // A link is followed only where its server runs.
    server.run(&["DROP TABLE d.linked"]);
    let datadir = server.data();
    drop(server);
    let paths = ["d/open.ibd", "d/sealed.ibd", "d/freed.ibd", "d/hidden.MAD", "d/page.MAD", "ib_logfile0"];
    cured.is_the_same_without_a_server(&paths, &datadir);
}

/// A bundle of links, with the keyring's settings beside the links: those of the real one stay as they are.
pub fn with_keyring(home: &Path) -> PathBuf {
    let cache = home.join("cache");
    let bundles = cache.join("bundles");
    let keyring = home.join("keyring");
    std::fs::create_dir_all(&bundles).unwrap();
    std::fs::create_dir_all(&keyring).unwrap();
    let copied =
        Command::new("cp").arg("-rs").arg(bundled::bundle("mysql-9.7")).arg(&bundles).status().unwrap();
    assert!(copied.success());
    let usr = bundles.join("mysql-9.7/usr");
    std::fs::write(usr.join("sbin/mysqld.my"), r#"{"components":"file://component_keyring_file"}"#).unwrap();
    let settings = serde_json::json!({ "path": keyring.join("keys"), "read_only": false });
    std::fs::write(usr.join("lib/mysql/plugin/component_keyring_file.cnf"), settings.to_string()).unwrap();
    cache
}

#[test]
fn mysql_is_shown_as_its_bytes_are() {
    need_servers();
    let _alone = lab_slot();
    let home = short_dir();
    let cache = with_keyring(home.path());
    let options = [
        "--mysqlx=OFF",
        "--innodb-buffer-pool-size=16M",
        "--innodb-redo-log-capacity=32M",
        "--log-bin=binlog",
        "--general-log=1",
        "--general-log-file=general.log",
    ]
    .map(str::to_owned)
    .into_iter()
    .chain(kept_elsewhere(home.path()))
    .chain([format!("--innodb-directories={}", home.path().join("away").display())])
    .collect::<Vec<String>>();
    let server = Alone::start("mysql-9.7", &home.path().join("s"), &cache, &options);
    server.wait(
        "SELECT STATUS_VALUE FROM performance_schema.keyring_component_status WHERE STATUS_KEY = 'Component_status'",
        "Active",
    );
    let rows =
        "(WITH RECURSIVE n AS (SELECT 1 a UNION ALL SELECT a + 1 FROM n WHERE a < 900) SELECT a FROM n) n";
    let columns = "(a INT AUTO_INCREMENT PRIMARY KEY, b VARCHAR(250))";
    server.run(&["CREATE DATABASE d"]);
    for (table, options) in [
        ("open", ""),
        ("sealed", "ENCRYPTION='Y'"),
        ("short", "COMPRESSION='zlib' ENCRYPTION='Y'"),
        ("small", "ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=4 ENCRYPTION='Y'"),
        ("file", "ENGINE=MyISAM"),
    ] {
        server.run(&[&format!("CREATE TABLE d.{table} {columns} {options}"), &fill(table, rows)]);
    }
    server.run(&[
        &format!("CREATE TABLE d.away {columns} DATA DIRECTORY='{}'", home.path().join("away").display()),
        &fill("away", rows),
        "FLUSH TABLES d.away FOR EXPORT",
        "UNLOCK TABLES",
    ]);
    // Old versions of rows, with undo in the clear; the encryption that is switched on then leaves them as they are.
    server.run(&["UPDATE d.open SET b = REPEAT('x', 200)", "UPDATE d.open SET b = REPEAT('y', 200)"]);
    let flushed = "SELECT VARIABLE_VALUE FROM performance_schema.global_status \
                   WHERE VARIABLE_NAME = 'Innodb_buffer_pool_pages_dirty'";
    let flush =
        ["SET GLOBAL innodb_max_dirty_pages_pct_lwm = 0", "SET GLOBAL innodb_max_dirty_pages_pct = 0"];
    server.run(&flush);
    server.wait(flushed, "0");
    server.run(&[
        "SET GLOBAL innodb_undo_log_encrypt = ON",
        "SET GLOBAL innodb_redo_log_encrypt = ON",
        "SET GLOBAL binlog_encryption = ON",
        "UPDATE d.sealed SET b = REPEAT('z', 200) WHERE a < 100",
    ]);
    server.wait(flushed, "0");

    // What the settings say from now on, and what SQL says of before.
    for (rule, verdict, says) in [
        ("SL4001", "fail", "d/open"),
        ("SL4004", "pass", ""),
        ("SL4005", "pass", ""),
        ("SL4006", "pass", ""),
        ("SL4007", "fail", "binlog.000001"),
        ("SL4101", "pass", ""),
    ] {
        assert!(server.audited(rule, verdict, says), "{rule} is not {verdict} with \"{says}\"");
    }
    let seen = server.look();
    assert_eq!((&seen.whole["family"], &seen.whole["server"]["counts"]), (&"mysql".into(), &true.into()));
    for (path, says) in [
        ("d/open.ibd", ("plain", "plain")),
        ("d/sealed.ibd", ("encrypted", "encrypted")),
        ("d/short.ibd", ("encrypted", "encrypted")),
        ("d/small.ibd", ("encrypted", "encrypted")),
        ("d/file.MYD", ("never", "-")),
        ("mysql.ibd", ("plain", "plain")),
        ("ibdata1", ("never", "-")),
        ("binlog.000001", ("plain", "plain")),
        ("binlog.000002", ("encrypted", "encrypted")),
        ("general.log", ("never", "-")),
        ("server-key.pem", ("never", "-")),
        ("auto.cnf", ("never", "-")),
    ] {
        assert_eq!(seen.says(path), says, "{path}: {:#}", seen.of(path));
    }
    sees_what_is_elsewhere(&seen, home.path(), &[("away/d/away.ibd", "plain")]);
    let unlike: Vec<&str> = ["undo_001", "undo_002"]
        .into_iter()
        .filter(|path| seen.says(path) == ("mixed", "encrypted") && seen.disagreement(path).is_some())
        .collect();
    assert!(!unlike.is_empty(), "{:#} {:#}", seen.of("undo_001"), seen.of("undo_002"));
    // Blocks of the redo log from before stay plain, in files with the key in their header too, and in spare ones.
    let redo: Vec<&Value> = seen.artefacts.values().filter(|one| one["kind"] == "redo log").collect();
    let has_key = |one: &&Value| one["claim"].as_str().is_some_and(|claim| claim.contains("master key"));
    assert!(redo.iter().any(|one| has_key(one) && one["plain"] != 0), "{redo:#?}");
    let half = redo.iter().find(|one| one["verdict"] == "mixed").expect("the one that was in use");
    let redo = half["path"].as_str().unwrap();
    assert!(seen.disagreement(redo).is_some());
    let unknown = unknown_by_name(&seen);
    assert_eq!(unknown.len(), 0, "{unknown:#?}");
    seen.agrees_with_the_canary(&server.data(), &["d/file.MYD", "binlog.000001"]);

    // Answers of a server are of its own directory only.
    let other = home.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::copy(server.data().join("mysql.ibd"), other.join("mysql.ibd")).unwrap();
    let socket = server.dir.join("socket");
    let foreign = look(&other, &["-u", "root", "-S", socket.to_str().unwrap()]);
    assert_eq!(foreign.says("mysql.ibd"), ("plain", "-"));
    let why = foreign.whole["server"]["why"].as_str().unwrap();
    assert!(foreign.whole["server"]["counts"] == false && why.contains("its data directory is"), "{why}");

    let datadir = server.data();
    drop(server);
    let paths = ["d/open.ibd", "d/sealed.ibd", "d/short.ibd", "d/small.ibd", "mysql.ibd", "binlog.000001"];
    seen.is_the_same_without_a_server(&paths, &datadir);
    // Named, it does not answer: the files are told, and the exit code says that somebody was not asked.
    let said = status_rest(&datadir, &["-u", "root", "-S", socket.to_str().unwrap()]);
    assert_eq!(said.status.code(), Some(3));
    let whole: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!((&whole["server"]["is_asked"], &whole["server"]["counts"]), (&true.into(), &false.into()));

    // The remedies of what failed.
    let server = Alone::start("mysql-9.7", &home.path().join("s"), &cache, &options);
    server.run(&[
        "ALTER TABLE d.open ENCRYPTION='Y'",
        "ALTER TABLE d.away ENCRYPTION='Y'",
        "ALTER TABLE sys.sys_config ENCRYPTION='Y'",
        "ALTER TABLESPACE mysql ENCRYPTION='Y'",
        "SET GLOBAL binlog_encryption = ON",
    ]);
    let logs = server.session().unwrap().query("SHOW BINARY LOGS").unwrap();
    let newest = logs.iter().last().unwrap().text("Log_name").unwrap().into_owned();
    server.run(&[&format!("PURGE BINARY LOGS TO '{newest}'")]);
    for rule in ["SL4001", "SL4007"] {
        assert!(server.audited(rule, "pass", ""), "{rule} does not pass");
    }
}
