//! `sealion migrate` between real servers, both encrypted at rest, while an application writes.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use net::{Client, ConnectOptions, Endpoint};
use testbed::real::bundled::Bundled;
use testbed::real::{LabSpec, ProgramOutput, RealLab, lab_slot, wait_for};

const UP: Duration = Duration::from_secs(60);
const SOURCE_PORT: u16 = 14_306;
const TARGET_PORT: u16 = 14_316;
/// Without any privilege that a read-only server lets through.
const APP: &str = "app";

pub(crate) struct Pair {
    pub lab: RealLab,
    pub source: Bundled,
    pub target: Bundled,
}

fn key_file(lab: &RealLab, name: &str, byte: u8) -> PathBuf {
    let path = lab.home().join(name);
    let key = format!("{byte:02x}").repeat(32);
    let lines = format!("1;{key}\n2;{key}\n");
    std::fs::write(&path, lines).unwrap();
    path
}

fn server(lab: &RealLab, bundle: &str, port: u16, id: u8) -> Bundled {
    let keys =
        format!("--file-key-management-filename={}", key_file(lab, &format!("keys{id}"), id).display());
    let id = format!("--server-id={id}");
    Bundled::start(
        lab,
        bundle,
        port,
        &[
            "--log-bin=bin",
            "--binlog-format=ROW",
            "--local-infile=ON",
            "--plugin-load-add=file_key_management",
            "--innodb-encrypt-tables=ON",
            "--innodb-encrypt-log=ON",
            "--encrypt-binlog=ON",
            "--general-log=ON",
            "--general-log-file=general.log",
            &keys,
            &id,
        ],
    )
}

impl Pair {
    pub fn up() -> Self {
        let lab = RealLab::up(LabSpec::MARIADB);
        let source = server(&lab, "galera-10.11", SOURCE_PORT, 1);
        let target = server(&lab, "mariadb-11.8", TARGET_PORT, 2);
        source.run(&[
            "CREATE USER repl@'%' IDENTIFIED BY 'of the replica' REQUIRE SSL",
            "GRANT REPLICATION SLAVE ON *.* TO repl@'%'",
            "CREATE DATABASE shop CHARACTER SET latin1 COMMENT 'of the shop'",
            "CREATE DATABASE other",
            "CREATE TABLE other.t (id INT PRIMARY KEY)",
            "CREATE USER app@localhost",
            "GRANT ALL ON other.* TO app@localhost",
            "GRANT ALL ON shop.* TO app@localhost",
            "CREATE TABLE shop.parent (id INT PRIMARY KEY)",
            "CREATE TABLE shop.t (id INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(100) CHARACTER SET utf8mb4, f FLOAT, d DOUBLE, \
             b BLOB, ts TIMESTAMP(6) DEFAULT NOW(6), g INT AS (LENGTH(b) + 1), v INT AS (LENGTH(a)) STORED, bt BIT(9), e ENUM('x', 'y'), \
             l VARCHAR(20), n DECIMAL(20, 6), p POINT, j JSON, u UUID, i INET6, o DATE, parent INT, KEY (a), \
             FOREIGN KEY (parent) REFERENCES parent (id))",
            "CREATE TABLE shop.nokey (x INT, y TEXT)",
            "CREATE TABLE shop.`odd ``name` (`a``b` INT, `c,d` VARBINARY(9))",
            "INSERT INTO shop.parent VALUES (0), (1)",
            "INSERT INTO shop.t (a, f, d, b, bt, e, l, n, p, j, u, i, parent) SELECT CONCAT('row \u{1f600} ', seq, '\t\n\\\\'), seq / 7, \
             seq / 3, UNHEX(MD5(seq)), seq % 512, IF(seq % 2, 'x', 'y'), 'äöü', seq / 11, POINT(seq, -seq), \
             JSON_OBJECT('k', seq), UUID(), CONCAT('fe80::', seq % 9999), seq % 2 FROM mysql.seq_1_to_20000",
            "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'",
            "INSERT INTO shop.t (id, a, o) VALUES (0, NULL, '0000-00-00')",
            "INSERT INTO shop.nokey SELECT seq % 10, REPEAT('x', seq % 100) FROM mysql.seq_1_to_5000",
            "INSERT INTO shop.`odd ``name` VALUES (1, X'00010920'), (NULL, NULL)",
        ]);
        target.run(&[
            "CREATE USER back@'%' IDENTIFIED BY 'of the way back' REQUIRE SSL",
            "GRANT REPLICATION SLAVE ON *.* TO back@'%'",
            "CREATE USER app@localhost",
            "GRANT ALL ON shop.* TO app@localhost",
        ]);
        let login = |user: &str, password: &str, port: u16, of: &Bundled| {
            let ca = of.dir.join("cert.pem");
            format!(
                "user={user}\npassword={password}\nhost=127.0.0.1\nport={port}\nssl-ca={}\n",
                ca.display()
            )
        };
        for (name, text) in [
            ("back.cnf", login("back", "of the way back", TARGET_PORT, &target)),
            ("repl.cnf", login("repl", "of the replica", SOURCE_PORT, &source)),
            ("from.cnf", format!("user=root\nsocket={}\n", source.dir.join("socket").display())),
            ("to.cnf", format!("user=root\nsocket={}\n", target.dir.join("socket").display())),
        ] {
            let path = lab.home().join(name);
            std::fs::write(&path, format!("[client]\n{text}")).unwrap();
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        }
        Self { lab, source, target }
    }

    pub const ROUTE: [&str; 10] = [
        "--from",
        "from.cnf",
        "--to",
        "to.cnf",
        "--follow-as",
        "repl.cnf",
        "--back-as",
        "back.cnf",
        "--schemas",
        "shop",
    ];

    pub fn migrate(&self, words: &[&str]) -> ProgramOutput {
        self.lab.run(&[&["migrate"], words, &["--state-dir", "state"]].concat())
    }

    pub fn hash(&self) -> String {
        let words = [&["--format", "json", "migrate", "plan"], &Self::ROUTE[..]].concat();
        let plan = self.lab.run(&words).exits(0).json();
        plan["state_hash"].as_str().unwrap().chars().take(12).collect()
    }

    fn app(server: &Bundled) -> ConnectOptions {
        ConnectOptions::new(Endpoint::unix(server.dir.join("socket")), APP)
    }

    /// Every row of every table, as its bytes, of one side.
    fn rows(server: &Bundled) -> Vec<Vec<Option<Vec<u8>>>> {
        let mut all = Vec::new();
        for sql in [
            "SELECT *, CAST(f AS DOUBLE) FROM shop.t ORDER BY id",
            "SELECT * FROM shop.nokey ORDER BY x, y",
            "SELECT * FROM shop.`odd ``name` ORDER BY 1",
            "SELECT * FROM shop.parent ORDER BY 1",
        ] {
            let rows = server.sql().query(sql).unwrap();
            all.extend(rows.iter().map(|row| {
                (0..rows.columns.len()).map(|at| row.bytes_at(at).map(<[u8]>::to_vec)).collect::<Vec<_>>()
            }));
        }
        all
    }

    /// Writes while `what` runs; returns how many transactions were acknowledged.
    fn while_written(&self, what: impl FnOnce()) -> u64 {
        let (over, acknowledged) = (AtomicBool::new(false), AtomicU64::new(0));
        let (source, login) = (&self.source, Self::app(&self.source));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut app = Client::connect(&login).unwrap();
                while !over.load(Ordering::Relaxed) {
                    let at = acknowledged.load(Ordering::Relaxed) + 1;
                    let change = [
                        format!("INSERT INTO shop.t (a, f, l) VALUES ('written {at}', {at} / 7, 'é')"),
                        format!("UPDATE shop.t SET a = CONCAT(a, '!'), id = -id WHERE id = {at}"),
                        format!("DELETE FROM shop.t WHERE id = 20000 - {at}"),
                        // Of another schema, which stays behind.
                        format!("INSERT INTO other.t VALUES ({at})"),
                    ];
                    for sql in
                        ["BEGIN"].into_iter().chain(change.iter().map(String::as_str)).chain(["COMMIT"])
                    {
                        match app.execute(sql) {
                            Ok(_) => {}
                            Err(error) if is_closed(source, &error) => return,
                            Err(error) => panic!("{sql}: {error}"),
                        }
                    }
                    acknowledged.store(at, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
            let began = wait_for(UP, || (acknowledged.load(Ordering::Relaxed) > 10).then_some(()));
            over.store(began.is_none(), Ordering::Relaxed);
            assert!(began.is_some(), "nobody writes");
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(what));
            // Also where it failed: else the writer would hold up the test for ever.
            over.store(true, Ordering::Relaxed);
            done.unwrap_or_else(|failure| std::panic::resume_unwind(failure));
        });
        acknowledged.into_inner()
    }

    fn moved(&self, acknowledged: u64) {
        let (here, there) = (Self::rows(&self.source), Self::rows(&self.target));
        assert_eq!(here.len(), there.len());
        for (one, other) in here.iter().zip(&there) {
            assert_eq!(one, other);
        }
        let count = "SELECT COUNT(*) FROM shop.t WHERE a LIKE 'written %'";
        let written = self.target.sql().query(count).unwrap().scalar().unwrap().into_owned();
        assert!(written.parse::<u64>().unwrap() >= acknowledged, "{written} of {acknowledged}");
        let state = |server: &Bundled| {
            server.sql().query("SELECT @@read_only").unwrap().scalar().unwrap().into_owned()
        };
        assert_eq!((state(&self.source), state(&self.target)), ("1".into(), "0".into()));
        assert!(self.target.sql().query("SHOW ALL SLAVES STATUS").unwrap().is_empty());
        // A transaction that was open when the source was closed was rolled back: the source has given its value away, the target
        // never heard of it. So only the definitions are the same, and the next value is above every row.
        let made = |server: &Bundled| {
            let rows = server.sql().query("SHOW CREATE TABLE shop.t").unwrap();
            let text = rows.first().unwrap().at(1).unwrap().into_owned();
            let (before, rest) = text.split_once(" AUTO_INCREMENT=").unwrap();
            let (next, after) = rest.split_once(' ').unwrap();
            (format!("{before} {after}"), next.parse::<i64>().unwrap())
        };
        let ((definition, next), (moved, next_there)) = (made(&self.source), made(&self.target));
        assert_eq!(definition, moved);
        let highest = self.target.sql().query("SELECT MAX(id) FROM shop.t").unwrap();
        let highest: i64 = highest.scalar().unwrap().parse().unwrap();
        assert!(highest < next_there && next_there <= next, "{highest}, {next_there}, {next}");
    }
}

/// From here on both ends are logged in to by accounts that have what `sealion grants` prints, and no more.
pub(crate) fn use_least_accounts(pair: &Pair) {
    let printed = pair.lab.grants_of("migrate", "mariadb", "mover@localhost", "a Long 1 password!");
    // One account begins with its CREATE USER.
    let starts: Vec<usize> = printed
        .iter()
        .enumerate()
        .filter(|(_, sql)| sql.starts_with("CREATE USER"))
        .map(|(at, _)| at)
        .collect();
    let [from, to, follow, back] = starts[..] else { panic!("{printed:#?}") };
    let blocks =
        [(&pair.source, &printed[from..to], "from.cnf"), (&pair.target, &printed[to..follow], "to.cnf")];
    for (server, statements, file) in blocks {
        server.run(&statements.iter().map(String::as_str).collect::<Vec<_>>());
        let path = pair.lab.home().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("user=root\n", "user=mover\npassword=\"a Long 1 password!\"\n"))
            .unwrap();
    }
    // What the third one has is what this lab's own has.
    assert_eq!(printed[follow + 1..back], ["GRANT REPLICATION SLAVE ON *.* TO 'mover'@'localhost'"]);
    assert_eq!(printed[back + 1..], ["GRANT REPLICATION SLAVE ON *.* TO 'mover'@'localhost'"]);
}

#[test]
fn schemas_move_to_another_version_while_an_application_writes() {
    let _alone = lab_slot();
    let pair = Pair::up();
    use_least_accounts(&pair);
    // What a session would get from the server cuts no row from what is copied and compared.
    for server in [&pair.source, &pair.target] {
        server.run(&[
            "SET GLOBAL sql_select_limit = 2000",
            "SET GLOBAL init_connect = 'SET SESSION sql_select_limit = 100, group_concat_max_len = 4'",
        ]);
    }
    // Statements of a schema that stays (pt-heartbeat) are no obstacle.
    let mut heartbeat = pooled_with_statements(&pair.source);
    heartbeat.execute("USE other").unwrap();
    let beating = std::thread::spawn(move || {
        // Until the source is closed.
        while heartbeat.execute("UPDATE t SET id = id - 1 WHERE id < 0").is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    pair.source.run(&["INSERT INTO other.t VALUES (-1)"]);
    let hash = pair.hash();
    let acknowledged = pair.while_written(|| {
        let said = pair.migrate(&[&["run"], &Pair::ROUTE[..], &["--yes", &hash]].concat()).exits(0);
        assert!(
            said.stderr.contains("are equal at") && said.stderr.contains("the target takes writes"),
            "{said}"
        );
        assert!(said.stderr.contains("over TLS, with verification"), "{said}");
    });
    assert!(acknowledged > 10);
    beating.join().unwrap();
    pair.moved(acknowledged);
    assert!(pair.target.sql().query("SHOW DATABASES LIKE 'other'").unwrap().is_empty());
    let filter = pair.target.sql().query("SELECT @@replicate_wild_do_table").unwrap();
    assert_eq!(filter.scalar().as_deref(), Some(""));
    // Encrypted there too, by its own word; `status rest` reads the bytes.
    let plain = "SELECT COUNT(*) FROM information_schema.INNODB_TABLESPACES_ENCRYPTION \
                 WHERE NAME LIKE 'shop/%' AND ENCRYPTION_SCHEME = 0";
    assert_eq!(pair.target.sql().query(plain).unwrap().scalar().as_deref(), Some("0"));
    let told = pair.migrate(&["status"]).exits(0);
    assert!(told.stdout.contains("the source follows it"), "{told}");
    pair.migrate(&["finish", "--yes", &hash]).exits(0);
    let comment = "SELECT SCHEMA_COMMENT FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'shop'";
    assert_eq!(pair.target.sql().query(comment).unwrap().scalar().as_deref(), Some("of the shop"));
    assert!(pair.source.sql().query("SHOW ALL SLAVES STATUS").unwrap().is_empty());
    let refused = pair.migrate(&["rollback", "--yes", &hash]);
    assert_eq!(refused.code, Some(6), "{refused}");
    // No password of the replica in what was kept, here and by the servers; the control is what the test has said itself.
    let kept = std::fs::read_to_string(pair.lab.home().join("state/migration.journal")).unwrap();
    assert!(!kept.contains("of the replica"));
    let log = |server: &Bundled| std::fs::read_to_string(server.dir.join("data/general.log")).unwrap();
    assert!(log(&pair.source).contains("of the replica") && log(&pair.target).contains("START SLAVE"));
    assert!(!log(&pair.target).contains("of the replica"));
    assert!(log(&pair.source).contains("START SLAVE") && !log(&pair.source).contains("of the way back"));
    assert!(!kept.contains("of the way back"));
}

/// What a writer is told by a server that is closed: error 1290 (read-only), or the end of a session that had open changes.
fn is_closed(server: &Bundled, error: &net::NetError) -> bool {
    match error {
        net::NetError::Refused { code: 1290, .. } => true,
        net::NetError::Unreachable { .. } => {
            server.sql().query("SELECT @@read_only").unwrap().scalar().as_deref() == Some("1")
        }
        _ => false,
    }
}

/// Inserts on one server while `what` runs, until that server takes no more; how many were acknowledged.
fn inserting(server: &Bundled, what: &str, run: impl FnOnce()) -> u64 {
    let (over, acknowledged) = (AtomicBool::new(false), AtomicU64::new(0));
    let login = Pair::app(server);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut app = Client::connect(&login).unwrap();
            while !over.load(Ordering::Relaxed) {
                let at = acknowledged.load(Ordering::Relaxed) + 1;
                match app.execute(&format!("INSERT INTO shop.nokey VALUES ({at}, '{what}')")) {
                    Ok(_) => acknowledged.store(at, Ordering::Relaxed),
                    Err(error) if is_closed(server, &error) => return,
                    Err(error) => panic!("{what}: {error}"),
                }
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        let began = wait_for(UP, || (acknowledged.load(Ordering::Relaxed) > 10).then_some(()));
        over.store(began.is_none(), Ordering::Relaxed);
        assert!(began.is_some(), "nobody writes");
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        over.store(true, Ordering::Relaxed);
        done.unwrap_or_else(|failure| std::panic::resume_unwind(failure));
    });
    acknowledged.into_inner()
}

#[test]
fn after_the_cutover_a_rollback_keeps_what_the_target_took() {
    let _alone = lab_slot();
    let pair = Pair::up();
    use_least_accounts(&pair);
    let hash = pair.hash();
    let on_source = inserting(&pair.source, "on the source", || {
        let run = [&["run", "--until", "follow"], &Pair::ROUTE[..], &["--yes", &hash]].concat();
        let said = pair.migrate(&run).exits(0);
        assert!(said.stderr.contains("held after M3") && said.stderr.contains("migrate cutover"), "{said}");
        let refused = pair.migrate(&["resume", "--yes", &hash]).exits(6);
        assert!(refused.stderr.contains("as far as it was to"), "{refused}");
        pair.migrate(&["finish", "--yes", &hash]).exits(6);
        let equal = pair.migrate(&["verify"]).exits(0);
        assert!(equal.stdout.contains("are equal at"), "{equal}");
        // A row that is another one on the target, one that is missing there, and one too many.
        pair.target.run(&[
            "SET SESSION sql_log_bin = 0",
            "UPDATE shop.t SET n = n + 1 WHERE id = 12345",
            "DELETE FROM shop.t WHERE id = 777",
            "INSERT INTO shop.parent VALUES (9000)",
        ]);
        let differ = pair.migrate(&["verify"]).exits(6);
        // A value that was given out to a row that never came.
        pair.source.run(&["BEGIN", "INSERT INTO shop.t (id, a) VALUES (900000, 'never')", "ROLLBACK"]);
        for what in ["id=12345 (differs)", "id=777 (on the source only)", "id=9000 (on the target only)"] {
            assert!(differ.stderr.contains(what), "{what}: {differ}");
        }
        let stopped = pair.migrate(&["cutover", "--yes", &hash]).exits(4);
        assert!(stopped.stderr.contains("id=12345"), "{stopped}");
        pair.target.run(&[
            "SET SESSION sql_log_bin = 0",
            "UPDATE shop.t SET n = n - 1 WHERE id = 12345",
            "DELETE FROM shop.parent WHERE id = 9000",
        ]);
        pair.source.run(&["SET SESSION sql_log_bin = 0", "DELETE FROM shop.t WHERE id = 777"]);
        // Begun before, it could be prepared on a server that is closed.
        let mut open = pair.source.sql();
        for sql in ["XA START 'z'", "INSERT INTO shop.parent VALUES (7777)", "XA END 'z'"] {
            open.execute(sql).unwrap();
        }
        let said = pair.migrate(&["cutover", "--yes", &hash]).exits(0);
        assert!(said.stderr.contains("with an open transaction ended"), "{said}");
        assert!(open.execute("XA PREPARE 'z'").is_err(), "nobody could commit it");
    });
    assert_eq!(pair.migrate(&["cutover", "--yes", &hash]).code, Some(6), "there is one cutover");
    let next = "SELECT AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME = 't'";
    let next = pair.target.sql().query(next).unwrap().scalar().unwrap().into_owned();
    assert_eq!(next, "900001", "it would be given out again");
    let on_target = inserting(&pair.target, "on the target", || {
        let told = pair.lab.run(&["--format", "json", "migrate", "status", "--state-dir", "state"]).exits(0);
        let told = told.json();
        assert_eq!(told["stage"], "cut-over");
        assert_eq!(told["steps"].as_array().unwrap().len(), 8);
        let schema: serde_json::Value =
            serde_json::from_str(include_str!("../../../../docs/schema/migrate-status-1.json")).unwrap();
        let keys = |of: &serde_json::Value| of.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&told), keys(&schema["properties"]));
        assert_eq!(keys(&told["steps"][0]), keys(&schema["properties"]["steps"]["items"]["properties"]));
        // The other way round: the source is what follows now.
        pair.source.run(&["SET SESSION sql_log_bin = 0", "DELETE FROM shop.t WHERE id = 4"]);
        let stopped = pair.migrate(&["rollback", "--yes", &hash]).exits(4);
        assert!(stopped.stderr.contains("id=4 (on the target only)"), "{stopped}");
        pair.target.run(&["SET SESSION sql_log_bin = 0", "DELETE FROM shop.t WHERE id = 4"]);
        // Closed, and then it cannot go on: applications must be able to write somewhere.
        let mut open = pair.target.sql();
        for sql in ["BEGIN", "INSERT INTO shop.parent VALUES (8888)"] {
            open.execute(sql).unwrap();
        }
        pair.target.run(&["REVOKE CONNECTION ADMIN ON *.* FROM mover@localhost"]);
        let stopped = pair.migrate(&["resume", "--yes", &hash]).exits(4);
        for what in ["CONNECTION ADMIN", "the target takes writes again"] {
            assert!(stopped.stderr.contains(what), "{what}: {stopped}");
        }
        let only = pair.target.sql().query("SELECT @@read_only").unwrap();
        assert_eq!(only.scalar().as_deref(), Some("0"), "{stopped}");
        pair.target.run(&["GRANT CONNECTION ADMIN ON *.* TO mover@localhost"]);
        // Killed with the target closed.
        let words = ["migrate", "resume", "--yes", &hash, "--state-dir", "state"];
        let mut held = pair.lab.start(&words, Some("M7:undo-verifying"));
        assert!(held.says("held at", Duration::from_secs(120)), "{}", held.stderr());
        held.kill();
        pair.migrate(&["rollback", "--yes", &hash]).exits(0);
    });
    assert!(pair.target.sql().query("SHOW DATABASES LIKE 'shop'").unwrap().is_empty());
    assert!(pair.source.sql().query("SHOW ALL SLAVES STATUS").unwrap().is_empty());
    assert_eq!(pair.source.sql().query("SELECT @@read_only").unwrap().scalar().as_deref(), Some("0"));
    for (what, acknowledged) in [("on the source", on_source), ("on the target", on_target)] {
        let sql = format!(
            "SELECT COUNT(*), COUNT(DISTINCT x) FROM shop.nokey WHERE y = '{what}' AND x <= {acknowledged}"
        );
        let rows = pair.source.sql().query(&sql).unwrap();
        let counts = [0, 1].map(|at| rows.first().unwrap().at(at).unwrap().parse::<u64>().unwrap());
        assert!(acknowledged > 10 && counts == [acknowledged; 2], "{what}: {counts:?} of {acknowledged}");
    }
}

#[test]
fn killed_it_goes_on_or_back_and_what_speaks_against_it_is_said_before() {
    let _alone = lab_slot();
    let pair = Pair::up();
    pair.target.run(&[
        "SET GLOBAL local_infile = OFF",
        "CREATE DATABASE shop",
        "CREATE DATABASE other",
        "CREATE TABLE other.own (a INT)",
    ]);
    pair.source.run(&[
        "CREATE DATABASE kept",
        "CREATE TABLE kept.p (id INT PRIMARY KEY)",
        "CREATE TABLE shop.child (id INT, FOREIGN KEY (id) REFERENCES kept.p (id))",
        "CHANGE MASTER 'up' TO MASTER_HOST='127.0.0.1', MASTER_USER='nobody'",
        "SET GLOBAL binlog_format = MIXED",
    ]);
    pair.target.run(&["SET GLOBAL binlog_format = MIXED"]);
    let refused = pair.lab.run(&[&["migrate", "plan"], &Pair::ROUTE[..]].concat()).exits(6);
    for what in [
        "local_infile is OFF",
        "the target has shop already",
        "both servers have a schema other that is not part of the migration",
        "shop.child (kept.p)",
        "it is a replica or a node of Galera",
        "the binary log of the source does not hold rows",
        "the binary log of the target does not hold rows",
    ] {
        assert!(refused.stderr.contains(what), "{what}: {refused}");
    }
    pair.source.run(&["SET GLOBAL binlog_format = ROW", "DROP TABLE shop.child", "RESET SLAVE 'up' ALL"]);
    pair.target.run(&["SET GLOBAL binlog_format = ROW"]);
    // Who may not see triggers does not say that there are none.
    pair.source.run(&[
        "CREATE USER blind@localhost",
        "GRANT SELECT, PROCESS, RELOAD, BINLOG MONITOR, SLAVE MONITOR, READ_ONLY ADMIN ON *.* TO blind@localhost",
    ]);
    let from = std::fs::read_to_string(pair.lab.home().join("from.cnf")).unwrap();
    std::fs::write(pair.lab.home().join("from.cnf"), from.replace("user=root", "user=blind")).unwrap();
    let refused = pair.lab.run(&[&["migrate", "plan"], &Pair::ROUTE[..]].concat()).exits(6);
    assert!(refused.stderr.contains("lacks TRIGGER, EVENT, SHOW VIEW"), "{refused}");
    std::fs::write(pair.lab.home().join("from.cnf"), from).unwrap();
    pair.target.run(&["SET GLOBAL local_infile = ON", "DROP DATABASE shop", "DROP DATABASE other"]);
    let hash = pair.hash();
    let run = [&["run"], &Pair::ROUTE[..], &["--yes", &hash]].concat();
    what_replication_needs_is_tried_before_rows_are_copied(&pair, &run);
    for (moment, verb) in [
        ("M1:verifying", "rollback"),
        ("M3:verifying", "rollback"),
        ("M2:acting", "resume"),
        ("M5:verifying", "resume"),
        ("M6:verifying", "resume"),
        ("M7:verifying", "resume"),
    ] {
        pair.lab.now(moment);
        let words = [&["migrate"], &run[..], &["--state-dir", "state"]].concat();
        // After a resume that was killed again, it is gone on with.
        let begins = ["M1", "M2", "M3"].iter().any(|step| moment.starts_with(step));
        let words =
            if begins { words } else { vec!["migrate", "resume", "--yes", &hash, "--state-dir", "state"] };
        let mut held = pair.lab.start(&words, Some(moment));
        assert!(held.says("held at", Duration::from_secs(120)), "{}", held.stderr());
        held.kill();
        if moment.starts_with("M2") {
            // Between the tables and their copy: they are made anew.
            pair.source.run(&["ALTER TABLE shop.t ADD UNIQUE KEY once (ts, id), MODIFY l VARCHAR(40)"]);
        }
        if verb == "resume" && !moment.starts_with("M7") {
            // The next one begins where this one was killed.
            continue;
        }
        pair.migrate(&[verb, "--yes", &hash]).exits(0);
        if verb == "rollback" {
            let there = pair.target.sql().query("SHOW DATABASES LIKE 'shop'").unwrap();
            assert!(there.is_empty(), "the schema is still on the target");
            let only = pair.source.sql().query("SELECT @@read_only").unwrap();
            assert_eq!(only.scalar().as_deref(), Some("0"));
        }
    }
    pair.moved(0);
    pair.migrate(&["finish", "--yes", &hash]).exits(0);
    // Behind its end there is no way back, and the way on is named as it is.
    let refused = pair.migrate(&["rollback", "--yes", &hash]);
    assert!(refused.code == Some(6) && !refused.stderr.contains("abandon"), "{refused}");
}

fn what_replication_needs_is_tried_before_rows_are_copied(pair: &Pair, run: &[&str]) {
    use std::os::unix::fs::PermissionsExt;
    let path = pair.lab.home().join("repl.cnf");
    let right = std::fs::read_to_string(&path).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
    let refused = pair.migrate(run).exits(2);
    assert!(refused.stderr.contains("others may read it (mode 640)"), "{refused}");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    let ca = pair.source.dir.join("cert.pem").display().to_string();
    let target_port = format!("port={TARGET_PORT}");
    pair.target.run(&[
        "SET SESSION sql_log_bin = 0",
        "CREATE USER repl@'%' IDENTIFIED BY 'of the replica' REQUIRE SSL",
        "GRANT REPLICATION SLAVE ON *.* TO repl@'%'",
    ]);
    for (what, with, expected) in [
        ("password=of the replica", "password=another", "Access denied"),
        (&ca, "/nowhere/ca.pem", "SSL"),
        (&format!("port={SOURCE_PORT}"), &target_port, ""),
    ] {
        assert!(right.contains(what), "{what}: {right}");
        std::fs::write(&path, right.replace(what, with)).unwrap();
        let said = pair.migrate(run).exits(4);
        assert!(said.stderr.contains("cannot replicate from 127.0.0.1"), "{with}: {said}");
        assert!(said.stderr.contains(expected) && !said.stderr.contains("of the replica"), "{with}: {said}");
        let there = pair.target.sql().query("SHOW DATABASES LIKE 'shop'").unwrap();
        assert!(there.is_empty(), "{with}: the step that failed was not taken back");
        assert!(pair.target.sql().query("SHOW ALL SLAVES STATUS").unwrap().is_empty());
        pair.migrate(&["rollback", "--yes", run.last().unwrap()]).exits(0);
    }
    std::fs::write(&path, right).unwrap();
}

/// kill -9, and up again with the same options: what was set without a restart is gone.
pub(crate) fn killed(pair: &mut Pair, end: &str) {
    let old = if end == "source" { &pair.source } else { &pair.target };
    let pid = std::fs::read_to_string(old.dir.join("pid")).unwrap();
    let ended = std::process::Command::new("kill").args(["-9", pid.trim()]).status().unwrap();
    assert!(ended.success(), "kill -9 {pid}");
    let login = ConnectOptions::new(Endpoint::unix(old.dir.join("socket")), "root");
    assert!(wait_for(UP, || Client::connect(&login).is_err().then_some(())).is_some(), "it still answers");
    if end == "source" {
        pair.source = server(&pair.lab, "galera-10.11", SOURCE_PORT, 1);
    } else {
        pair.target = server(&pair.lab, "mariadb-11.8", TARGET_PORT, 2);
    }
}

#[test]
fn servers_that_were_killed_lose_no_row_either_way() {
    let _alone = lab_slot();
    let mut pair = Pair::up();
    let hash = pair.hash();
    pair.migrate(&[&["run", "--until", "follow"], &Pair::ROUTE[..], &["--yes", &hash]].concat()).exits(0);
    killed(&mut pair, "target");
    // Without its filter it would apply, or stop at, what is of no concern to it.
    pair.source.run(&["INSERT INTO other.t VALUES (1)", "INSERT INTO shop.parent VALUES (5001)"]);
    pair.migrate(&["verify"]).exits(0);
    killed(&mut pair, "source");
    pair.source.run(&["INSERT INTO shop.parent VALUES (5002)"]);
    pair.migrate(&["verify"]).exits(0);
    let said = pair.migrate(&["cutover", "--yes", &hash]).exits(0);
    assert!(said.stderr.contains("it is closed again"), "{said}");
    // The next AUTO_INCREMENT value of the source may be smaller than it was: what was set aside and not used is gone with a kill.
    assert!(Pair::rows(&pair.source) == Pair::rows(&pair.target));
    pair.target.run(&["INSERT INTO shop.parent VALUES (5003)"]);
    killed(&mut pair, "source");
    pair.target.run(&["INSERT INTO shop.parent VALUES (5004)"]);
    killed(&mut pair, "target");
    pair.target.run(&["INSERT INTO shop.parent VALUES (5005)"]);
    pair.migrate(&["rollback", "--yes", &hash]).exits(0);
    let count = "SELECT COUNT(*) FROM shop.parent WHERE id BETWEEN 5001 AND 5005";
    assert_eq!(pair.source.sql().query(count).unwrap().scalar().as_deref(), Some("5"));
    assert!(pair.target.sql().query("SHOW DATABASES LIKE 'shop'").unwrap().is_empty());
    assert!(pair.source.sql().query("SHOW ALL SLAVES STATUS").unwrap().is_empty());
}

/// Each is right or refused: never fewer rows without a word.
#[test]
fn traps_of_replication_are_passed_or_named() {
    let _alone = lab_slot();
    let pair = Pair::up();
    // For the clouds it is asked only.
    let cloud = |to| {
        let words = [
            "--from",
            "from.cnf",
            "--to",
            to,
            "--follow-as",
            "repl.cnf",
            "--no-way-back",
            "--schemas",
            "shop",
        ];
        pair.lab.run(&[&["migrate", "plan"], &words[..]].concat())
    };
    let rds = cloud("rds").exits(0);
    assert!(rds.stdout.contains("NOT TRIED HERE") && rds.stdout.contains("10.11"), "{rds}");
    assert!(cloud("aurora").exits(6).stderr.contains("cannot be followed by Aurora"));
    pair.source.run(&[
        "SET GLOBAL binlog_row_image = MINIMAL",
        "SET GLOBAL log_bin_compress = ON",
        "SET GLOBAL log_bin_compress_min_len = 10",
        "CREATE TABLE shop.big (id INT PRIMARY KEY, a VARCHAR(40))",
        "INSERT INTO shop.big SELECT seq, CONCAT('row ', seq) FROM mysql.seq_1_to_200000",
        "CREATE TABLE shop.goes (id INT PRIMARY KEY)",
    ]);
    let hash = pair.hash();
    pair.while_written(|| {
        let run = [&["run", "--until", "follow"], &Pair::ROUTE[..], &["--yes", &hash]].concat();
        pair.migrate(&run).exits(0);
        // Without a key, and long enough to be compressed.
        pair.source.run(&[
            "UPDATE shop.nokey SET y = CONCAT(y, REPEAT('long ', 40)) WHERE x = 3",
            "DELETE FROM shop.nokey WHERE x = 4",
            "UPDATE shop.big SET a = REPEAT('again ', 5) WHERE id % 100 = 7",
            "RENAME TABLE shop.nokey TO shop.renamed",
            "INSERT INTO shop.renamed VALUES (1, 'behind the rename')",
        ]);
        // It stops, and no column says an error.
        pair.target.run(&["STOP SLAVE SQL_THREAD"]);
        pair.source.run(&["INSERT INTO shop.renamed VALUES (2, 'while it stood')"]);
        let equal = pair.migrate(&["verify"]).exits(0);
        assert!(equal.stdout.contains("are equal at"), "{equal}");
    });
    let count = |server: &Bundled, of: &str| {
        let sql = format!("SELECT COUNT(*) FROM {of}");
        server.sql().query(&sql).unwrap().scalar().unwrap().into_owned()
    };
    for of in ["shop.renamed WHERE x = 3 AND y LIKE '%long long%'", "shop.big WHERE a LIKE 'again%'"] {
        assert_eq!(count(&pair.source, of), count(&pair.target, of), "{of}");
        assert_ne!(count(&pair.target, of), "0", "{of}");
    }
    assert_eq!(count(&pair.target, "shop.renamed WHERE x = 4"), "0");
    assert_eq!(count(&pair.target, "shop.renamed WHERE y IN ('behind the rename', 'while it stood')"), "2");
    pair.target.run(&["SET SESSION sql_log_bin = 0", "UPDATE shop.big SET a = 'wrong' WHERE id = 123456"]);
    let differ = pair.migrate(&["verify"]).exits(6);
    assert!(differ.stderr.contains("shop.big (200000 and 200000 rows): id=123456 (differs)"), "{differ}");
    pair.target
        .run(&["SET SESSION sql_log_bin = 0", "UPDATE shop.big SET a = 'row 123456' WHERE id = 123456"]);
    pair.migrate(&["verify"]).exits(0);
    // Out of what is migrated: the target is not told by a filter of names what became of it.
    pair.source.run(&["RENAME TABLE shop.goes TO other.goes"]);
    let refused = pair.migrate(&["verify"]);
    assert!(refused.code != Some(0) && !refused.stdout.contains("equal"), "{refused}");
    let stopped = pair.migrate(&["cutover", "--yes", &hash]).exits(4);
    assert!(stopped.stderr.contains("goes") || stopped.stderr.contains("not follow"), "{stopped}");
    pair.migrate(&["rollback", "--yes", &hash]).exits(0);
    assert_eq!(count(&pair.source, "shop.big"), "200000");
}

/// What would make "the target has all of it" false, or leave a server closed that nobody meant to close any more.
/// A session that was opened before the global `binlog_format` became ROW.
fn pooled_with_statements(server: &Bundled) -> Client {
    server.run(&["SET GLOBAL binlog_format = STATEMENT"]);
    let pooled = Client::connect(&Pair::app(server)).unwrap();
    server.run(&["SET GLOBAL binlog_format = ROW"]);
    pooled
}

#[test]
fn what_is_done_to_the_source_in_between_is_seen() {
    let _alone = lab_slot();
    let pair = Pair::up();
    pair.target.run(&["SET GLOBAL read_only = ON"]);
    let hash = pair.hash();
    let run = [&["migrate", "run"], &Pair::ROUTE[..], &["--yes", &hash, "--state-dir", "state"]].concat();
    pair.lab.now("held before the cutover");
    let mut held = pair.lab.start(&run, Some("M4:verifying"));
    assert!(held.says("held at", Duration::from_secs(120)), "{}", held.stderr());
    held.kill();
    let resume = ["resume", "--yes", &hash];

    let mut other = pair.source.sql();
    other.execute("XA START 'x'").unwrap();
    other.execute("INSERT INTO shop.parent VALUES (77)").unwrap();
    for sql in ["XA END 'x'", "XA PREPARE 'x'"] {
        other.execute(sql).unwrap();
    }
    let said = pair.migrate(&resume);
    assert!(said.code == Some(4) && said.stderr.contains("prepared XA transactions"), "{said}");
    other.execute("XA COMMIT 'x'").unwrap();

    // Of a schema that stays, so that nothing but closing waits for it.
    other.execute("LOCK TABLES other.t WRITE").unwrap();
    let said = pair.migrate(&resume);
    assert!(said.code == Some(4) && said.stderr.contains("holds table locks"), "{said}");
    other.execute("UNLOCK TABLES").unwrap();
    let only =
        |server: &Bundled| server.sql().query("SELECT @@read_only").unwrap().scalar().unwrap().into_owned();
    assert_eq!(only(&pair.source), "0", "nothing waits to close it");

    pair.lab.now("an ALTER that comes between the comparison and the cutover");
    let waits = |server: &Bundled, what: &str| {
        let ask = format!(
            "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for table metadata lock%' AND INFO LIKE '{what}%'"
        );
        let rows = || server.sql().query(&ask).unwrap().scalar().unwrap().into_owned();
        assert!(wait_for(UP, || (rows() != "0").then_some(())).is_some(), "nobody waits: {what}");
    };
    let mut there = pair.target.sql();
    there.execute("LOCK TABLES shop.parent WRITE").unwrap();
    let words = [&["migrate"], &resume[..], &["--state-dir", "state"]].concat();
    let resumed = pair.lab.start(&words, None);
    waits(&pair.target, "SELECT COUNT");
    std::thread::scope(|scope| {
        let alter = "ALTER TABLE shop.parent ADD u UUID DEFAULT UUID()";
        let altered = scope.spawn(|| pair.source.sql().execute(alter).map(|_| ()));
        waits(&pair.source, "ALTER TABLE");
        there.execute("UNLOCK TABLES").unwrap();
        altered.join().unwrap().unwrap();
    });
    let said = resumed.finish(Duration::from_secs(120));
    assert!(said.code == Some(4) && said.stderr.contains("shop.parent on the source"), "{said}");
    assert_eq!(only(&pair.source), "0", "it is open again");
    pair.source.run(&["ALTER TABLE shop.parent DROP u"]);

    pair.lab.now("a pooled session that still logs statements writes between the comparison and the cutover");
    let mut pooled = pooled_with_statements(&pair.source);
    there.execute("LOCK TABLES shop.parent WRITE").unwrap();
    let resumed = pair.lab.start(&words, None);
    waits(&pair.target, "SELECT COUNT");
    pooled.execute("INSERT INTO shop.t (id, a) VALUES (900001, UUID())").unwrap();
    there.execute("UNLOCK TABLES").unwrap();
    let said = resumed.finish(Duration::from_secs(120));
    assert_eq!(said.code, Some(4), "{said}");
    assert_eq!((only(&pair.source).as_str(), only(&pair.target).as_str()), ("0", "1"), "{said}");
    assert!(said.stderr.contains("INSERT at"), "{said}");
    // As a row, so that both have the same again.
    pair.source.run(&["UPDATE shop.t SET a = 'the same' WHERE id = 900001"]);
    drop(pooled);
    // As a restart leaves it.
    pair.target.run(&["STOP SLAVE", "SET GLOBAL replicate_wild_do_table = ''", "START SLAVE"]);
    let said = pair.migrate(&["verify"]).exits(0);
    assert!(said.stdout.contains("lost its filter"), "{said}");
    let said = pair.migrate(&["verify"]).exits(0);
    assert!(said.stdout.contains("are equal") && !said.stdout.contains("filter"), "{said}");

    other.execute("RESET MASTER").unwrap();
    other.execute("INSERT INTO shop.parent VALUES (78)").unwrap();
    let said = pair.migrate(&resume);
    assert!(said.code == Some(4) && said.stderr.contains("was begun anew"), "{said}");
    pair.migrate(&["rollback", "--yes", &hash]).exits(0);
    let told = pair.migrate(&["status"]).exits(0);
    assert!(told.stdout.contains("rolled back"), "{told}");
    let same = [&["migrate", "plan", "--from", "from.cnf", "--to", "from.cnf"], &Pair::ROUTE[4..]].concat();
    let refused = pair.lab.run(&same).exits(6);
    assert!(
        refused.stderr.contains("1 problem prevents it") && refused.stderr.contains("the same server"),
        "{refused}"
    );
    assert_eq!((only(&pair.source).as_str(), only(&pair.target).as_str()), ("0", "1"), "as they were");
}
