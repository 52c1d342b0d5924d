//! `sealion migrate` from MySQL to MariaDB between real servers, both encrypted at rest, while an application writes.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use net::{Client, ConnectOptions, Endpoint};
use testbed::real::bundled::{Bundled, bundle};
use testbed::real::{LabSpec, ProgramOutput, RealLab, lab_slot, wait_for};

const UP: Duration = Duration::from_secs(60);
pub(crate) const SOURCE_PORT: u16 = 14_326;
pub(crate) const TARGET_PORT: u16 = 14_336;
pub(crate) const ROUTE: [&str; 9] =
    ["--from", "from.cnf", "--to", "to.cnf", "--follow-as", "repl.cnf", "--no-way-back", "--schemas", "shop"];

pub(crate) struct Pair {
    pub lab: RealLab,
    pub source: Bundled,
    pub target: Bundled,
}

/// MariaDB logs in to MySQL with a plugin that its package of the client library brings.
fn plugins(lab: &RealLab) -> PathBuf {
    let dir = lab.home().join("plugins");
    std::fs::create_dir_all(&dir).unwrap();
    let usr = bundle("mariadb-11.8").join("usr/lib");
    for (from, name) in [
        ("mysql/plugin", "file_key_management.so"),
        ("x86_64-linux-gnu/libmariadb3/plugin", "caching_sha2_password.so"),
    ] {
        let link = dir.join(name);
        if !link.exists() {
            std::os::unix::fs::symlink(usr.join(from).join(name), link).unwrap();
        }
    }
    dir
}

fn target(lab: &RealLab, encrypts: &str) -> Bundled {
    let keys = lab.home().join("keys");
    std::fs::write(&keys, format!("1;{0}\n2;{0}\n", "5a".repeat(32))).unwrap();
    let options = [
        format!("--plugin-dir={}", plugins(lab).display()),
        format!("--file-key-management-filename={}", keys.display()),
        format!("--innodb-encrypt-tables={encrypts}"),
    ];
    let mut all = vec![
        "--server-id=2",
        "--log-bin=bin",
        "--local-infile=ON",
        "--plugin-load-add=file_key_management",
        "--innodb-encrypt-log=ON",
        "--encrypt-binlog=ON",
    ];
    all.extend(options.iter().map(String::as_str));
    Bundled::start(lab, "mariadb-11.8", TARGET_PORT, &all)
}

fn source(lab: &RealLab) -> Bundled {
    Bundled::start(lab, "mysql-9.7", SOURCE_PORT, &["--mysqlx=OFF", "--server-id=1", "--log-bin=bin"])
}

/// kill -9, and up again with the same options: what was set without a restart is gone.
pub(crate) fn killed(pair: &mut Pair, end: &str) {
    let old = if end == "source" { &pair.source } else { &pair.target };
    let pid = std::fs::read_to_string(old.dir.join("pid")).unwrap();
    let ended = std::process::Command::new("kill").args(["-9", pid.trim()]).status().unwrap();
    assert!(ended.success(), "kill -9 {pid}");
    let login = ConnectOptions::new(Endpoint::unix(old.dir.join("socket")), "root");
    assert!(wait_for(UP, || Client::connect(&login).is_err().then_some(())).is_some(), "it still answers");
    // MySQL does not start while there is a process of the number in it, and ours is one until somebody asks how it has ended.
    let _ = std::fs::remove_file(old.dir.join("socket.lock"));
    if end == "source" {
        pair.source = source(&pair.lab);
    } else {
        pair.target = target(&pair.lab, "ON");
    }
}

impl Pair {
    pub fn up() -> Self {
        let lab = RealLab::up(LabSpec::MARIADB);
        let (source, target) = (source(&lab), target(&lab, "ON"));
        source.run(&[
            "SET SESSION cte_max_recursion_depth = 100000",
            "CREATE USER repl@'%' IDENTIFIED BY 'of the replica' REQUIRE SSL",
            "GRANT REPLICATION SLAVE ON *.* TO repl@'%'",
            "CREATE USER app@localhost",
            "CREATE DATABASE shop",
            // A common table expression wants one.
            "USE shop",
            "CREATE DATABASE other",
            "CREATE TABLE other.t (id INT PRIMARY KEY)",
            "GRANT ALL ON shop.* TO app@localhost",
            "GRANT ALL ON other.* TO app@localhost",
            "CREATE TABLE shop.parent (id INT PRIMARY KEY)",
            "CREATE TABLE shop.t (id INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(100), f FLOAT, d DOUBLE, b BLOB, \
             ts TIMESTAMP(6) DEFAULT NOW(6), g INT AS (LENGTH(b) + 1), v INT AS (LENGTH(a)) STORED INVISIBLE, bt BIT(9), \
             e ENUM('x', 'y'), l VARCHAR(20) CHARACTER SET latin1, n DECIMAL(20, 6), p POINT, o DATE, z INT ZEROFILL, \
             ex VARCHAR(40) DEFAULT (CONCAT('a', 'b')), dt DATETIME DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, tt TEXT, \
             y YEAR, tm TIME(3), bx BINARY(3), s SET('a', 'b'), bi BIGINT UNSIGNED, parent INT, KEY (a), KEY iv (f) INVISIBLE, \
             KEY dd (d DESC), CHECK (z < 100000000), FOREIGN KEY (parent) REFERENCES parent (id))",
            "CREATE TABLE shop.parts (a INT PRIMARY KEY, b VARCHAR(9) COMMENT '/*!80023 INVISIBLE */ it''s') PARTITION BY HASH (a) PARTITIONS 3",
            "INSERT INTO shop.parent VALUES (0), (1)",
            "INSERT INTO shop.t (a, f, d, b, bt, e, l, n, p, o, z, tt, y, tm, bx, s, bi, parent) \
             WITH RECURSIVE q AS (SELECT 1 AS seq UNION ALL SELECT seq + 1 FROM q WHERE seq < 20000) \
             SELECT CONCAT('row \u{1f600} ', seq, '\\t\\n\\\\'), seq / 7, IF(seq % 3, seq / 3, 1e20 * seq), UNHEX(SHA2(seq, 224)), seq % 512, \
             IF(seq % 2, 'x', 'y'), 'äöü', seq / 11, POINT(seq, -seq), '2024-02-29', seq, REPEAT('t', seq % 50), 2024, \
             '-11:22:33.456', 'ab', 'a,b', 18446744073709551615, seq % 2 FROM q",
            "INSERT INTO shop.parts VALUES (1, 'a'), (2, NULL)",
        ]);
        target.run(&["CREATE USER app@localhost", "GRANT ALL ON shop.* TO app@localhost"]);
        let ca = source.dir.join("cert.pem");
        for (name, text) in [
            (
                "repl.cnf",
                format!(
                    "user=repl\npassword=of the replica\nhost=127.0.0.1\nport={SOURCE_PORT}\nssl-ca={}\n",
                    ca.display()
                ),
            ),
            (
                "back.cnf",
                format!("user=x\npassword=y\nhost=127.0.0.1\nport={TARGET_PORT}\nssl-ca={}\n", ca.display()),
            ),
            ("from.cnf", format!("user=root\nsocket={}\n", source.dir.join("socket").display())),
            ("to.cnf", format!("user=root\nsocket={}\n", target.dir.join("socket").display())),
        ] {
            let path = lab.home().join(name);
            std::fs::write(&path, format!("[client]\n{text}")).unwrap();
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        }
        Self { lab, source, target }
    }

    fn plan(&self) -> ProgramOutput {
        self.lab.run(&[&["--format", "json", "migrate", "plan"], &ROUTE[..]].concat())
    }

    pub fn hash(&self) -> String {
        let plan = self.plan().exits(0).json();
        plan["state_hash"].as_str().unwrap().chars().take(12).collect()
    }

    pub fn migrate(&self, words: &[&str]) -> ProgramOutput {
        self.lab.run(&[&["migrate"], words, &["--state-dir", "state"]].concat())
    }

    /// Every row, as its bytes, but for the texts of numbers, which are compared as numbers.
    pub fn rows(server: &Bundled) -> Vec<Vec<Option<Vec<u8>>>> {
        let mut all = Vec::new();
        for sql in [
            "SELECT id, a, b, ts, g, v, bt, e, l, n, p, o, z, ex, dt, tt, y, tm, bx, s, bi, parent, d = 0, CAST(d AS DECIMAL(60, 5)), \
             CAST(CAST(f AS DOUBLE) AS DECIMAL(40, 10)) FROM shop.t ORDER BY id",
            "SELECT * FROM shop.parts ORDER BY 1",
            "SELECT * FROM shop.parent ORDER BY 1",
        ] {
            let rows = server.sql().query(sql).unwrap();
            all.extend(rows.iter().map(|row| {
                (0..rows.columns.len()).map(|at| row.bytes_at(at).map(<[u8]>::to_vec)).collect::<Vec<_>>()
            }));
        }
        all
    }

    /// Writes while `what` runs; how many transactions were acknowledged.
    pub fn while_written(&self, what: impl FnOnce()) -> u64 {
        let (over, acknowledged) = (AtomicBool::new(false), AtomicU64::new(0));
        let login = ConnectOptions::new(Endpoint::unix(self.source.dir.join("socket")), "app");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut app = Client::connect(&login).unwrap();
                'again: while !over.load(Ordering::Relaxed) {
                    let at = acknowledged.load(Ordering::Relaxed) + 1;
                    let change = [
                        format!("INSERT INTO shop.t (a, f, l) VALUES ('written {at}', {at} / 7, 'é')"),
                        format!(
                            "UPDATE shop.t SET a = CONCAT(a, '!'), d = d * 1.1, id = -id WHERE id = {at}"
                        ),
                        format!("DELETE FROM shop.t WHERE id = 20000 - {at}"),
                        // Of another schema, which stays behind.
                        format!("INSERT INTO other.t VALUES ({at})"),
                    ];
                    for sql in
                        ["BEGIN"].into_iter().chain(change.iter().map(String::as_str)).chain(["COMMIT"])
                    {
                        match app.execute(sql) {
                            Ok(_) => {}
                            // Source: MySQL error 1290: the server is read-only.
                            Err(net::NetError::Refused { code: 1290, .. }) => return,
                            // A deadlock with another session of the test, which has rolled it back.
                            Err(net::NetError::Refused { code: 1213, .. }) => continue 'again,
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
}

#[test]
fn a_schema_of_mysql_moves_to_mariadb_while_an_application_writes() {
    let _alone = lab_slot();
    let pair = Pair::up();
    let hash = pair.hash();
    let acknowledged = pair.while_written(|| {
        // Killed when the rows are there and nothing follows yet: it goes on from the place of the copy.
        pair.lab.now("M3:checking");
        let run =
            [&["migrate", "run", "--until", "verify"], &ROUTE[..], &["--yes", &hash, "--state-dir", "state"]]
                .concat();
        let mut held = pair.lab.start(&run, Some("M3:checking"));
        assert!(held.says("held at", Duration::from_secs(120)), "{}", held.stderr());
        held.kill();
        let said = pair.migrate(&["resume", "--yes", &hash]).exits(0);
        assert!(said.stderr.contains("are equal at bin."), "{said}");
        assert!(said.stderr.contains("over TLS, with verification"), "{said}");
        pair.source.run(&["FLUSH BINARY LOGS", "ALTER TABLE shop.parts ADD c FLOAT DEFAULT 0.1"]);
        pair.migrate(&["verify"]).exits(0);
        // A wrong row is named; and put right it is equal again.
        let wrong = |of: &str| {
            let set = format!("UPDATE shop.t SET dt = dt, d = {of} WHERE id = 15000");
            pair.target.run(&["SET SESSION sql_log_bin = 0", &set]);
        };
        wrong("5000.000000000001");
        let differ = pair.migrate(&["verify"]).exits(6);
        assert!(differ.stderr.contains("shop.t") && differ.stderr.contains("id=15000 (differs)"), "{differ}");
        wrong("1e20 * 15000");
        pair.migrate(&["verify"]).exits(0);
        // Killed when the target is open, and looked at again by whoever goes on.
        pair.lab.now("M6:verifying");
        let cutover = ["migrate", "cutover", "--yes", &hash, "--state-dir", "state"];
        let mut held = pair.lab.start(&cutover, Some("M6:verifying"));
        assert!(held.says("held at", Duration::from_secs(120)), "{}", held.stderr());
        held.kill();
        let said = pair.migrate(&["resume", "--yes", &hash]).exits(0);
        assert!(said.stderr.contains("the target takes writes"), "{said}");
    });
    assert!(acknowledged > 10);
    let (here, there) = (Pair::rows(&pair.source), Pair::rows(&pair.target));
    assert_eq!(here.len(), there.len());
    for (one, other) in here.iter().zip(&there) {
        assert_eq!(one, other);
    }
    let one = |server: &Bundled, sql: &str| server.sql().query(sql).unwrap().scalar().unwrap().into_owned();
    let written = one(&pair.target, "SELECT COUNT(*) FROM shop.t WHERE a LIKE 'written %'");
    assert!(written.parse::<u64>().unwrap() >= acknowledged, "{written} of {acknowledged}");
    assert_eq!(one(&pair.source, "SELECT @@super_read_only"), "1");
    assert_eq!(one(&pair.target, "SELECT @@read_only"), "0");
    assert!(pair.target.sql().query("SHOW ALL SLAVES STATUS").unwrap().is_empty());
    assert!(pair.target.sql().query("SHOW DATABASES LIKE 'other'").unwrap().is_empty());
    // What MySQL says in comments that MariaDB passes over is there all the same.
    let made = pair.target.sql().query("SHOW CREATE TABLE shop.t").unwrap();
    let made = made.first().unwrap().at(1).unwrap().into_owned();
    assert!(made.contains("STORED INVISIBLE") && made.contains("KEY `iv` (`f`) IGNORED"), "{made}");
    let plain = "SELECT COUNT(*) FROM information_schema.INNODB_TABLESPACES_ENCRYPTION \
                 WHERE NAME LIKE 'shop/%' AND ENCRYPTION_SCHEME = 0";
    assert_eq!(one(&pair.target, plain), "0");
    let refused = pair.migrate(&["rollback", "--yes", &hash]);
    assert_eq!(refused.code, Some(6), "{refused}");
}

#[test]
fn what_mariadb_cannot_follow_is_refused_before_the_first_change() {
    let _alone = lab_slot();
    let pair = Pair::up();
    let words = |back: &[&'static str]| {
        let route: Vec<&str> = ROUTE.into_iter().filter(|word| *word != "--no-way-back").collect();
        [&["migrate", "plan"], &route[..], back].concat()
    };
    let refused = pair.lab.run(&words(&["--back-as", "back.cnf"])).exits(6);
    assert!(refused.stderr.contains("1 problem") && refused.stderr.contains("--no-way-back"), "{refused}");
    let plan = pair.lab.run(&words(&["--no-way-back"])).exits(0);
    assert!(plan.stdout.contains("MySQL 9.7.4 to MariaDB 11.8"), "{plan}");
    assert!(plan.stdout.contains("cannot follow the target"), "{plan}");
    for (make, take_back, named) in [
        ("CREATE TABLE shop.x (id INT PRIMARY KEY, j JSON)", "DROP TABLE shop.x", "shop.x.j (json)"),
        (
            "CREATE TABLE shop.x (id INT PRIMARY KEY, v VECTOR(3))",
            "DROP TABLE shop.x",
            "shop.x.v (vector(3))",
        ),
        ("CREATE TABLE shop.x (id INT)", "DROP TABLE shop.x", "without a primary key: shop.x"),
        (
            "CREATE TABLE shop.x (id INT PRIMARY KEY, a VARCHAR(9) COLLATE utf8mb4_ja_0900_as_cs)",
            "DROP TABLE shop.x",
            "shop.x.a (utf8mb4_ja_0900_as_cs)",
        ),
        (
            "CREATE TABLE shop.x (id INT PRIMARY KEY, KEY ((id + 1)))",
            "DROP TABLE shop.x",
            "shop.x (MariaDB says: ",
        ),
        (
            "CREATE TABLE shop.x (id INT PRIMARY KEY, a INT, CHECK (a > 0) NOT ENFORCED)",
            "DROP TABLE shop.x",
            "shop.x (NOT ENFORCED",
        ),
        (
            "SET GLOBAL binlog_transaction_compression = ON",
            "SET GLOBAL binlog_transaction_compression = OFF",
            "compresses transactions",
        ),
        (
            "SET GLOBAL binlog_row_value_options = PARTIAL_JSON",
            "SET GLOBAL binlog_row_value_options = ''",
            "binlog_row_value_options is PARTIAL_JSON",
        ),
        ("SET GLOBAL super_read_only = ON", "SET GLOBAL read_only = OFF", "is read-only already"),
        ("CREATE VIEW shop.v AS SELECT 1", "DROP VIEW shop.v", "shop.v (view)"),
    ] {
        pair.source.run(&[make]);
        let refused = pair.plan().exits(6);
        assert!(
            refused.stderr.contains("1 problem prevents it") && refused.stderr.contains(named),
            "{make}: {refused}"
        );
        pair.source.run(&[take_back]);
    }
    // What is ENCRYPTION='Y' on the source is encrypted by another variable on the target.
    pair.target.run(&["SET GLOBAL innodb_encrypt_tables = OFF"]);
    pair.plan().exits(0);
    pair.source.run(&["SET GLOBAL default_table_encryption = ON"]);
    assert!(pair.plan().exits(6).stderr.contains("tables would lose their encryption"));
    pair.target.run(&["SET GLOBAL innodb_encrypt_tables = ON"]);
    pair.plan().exits(0);
    // The other way there is none at all.
    let turned = [
        "migrate",
        "plan",
        "--from",
        "to.cnf",
        "--to",
        "from.cnf",
        "--follow-as",
        "repl.cnf",
        "--no-way-back",
        "--schemas",
        "shop",
    ];
    let refused = pair.lab.run(&turned).exits(6);
    assert!(refused.stderr.contains("MySQL cannot follow a MariaDB server"), "{refused}");
    pair.source.run(&["SET SESSION gtid_next = 'AUTOMATIC:shop'", "INSERT INTO shop.parent VALUES (77)"]);
    assert!(pair.plan().exits(6).stderr.contains("whose GTID has a tag"));
    assert!(pair.target.sql().query("SHOW DATABASES LIKE 'shop'").unwrap().is_empty());
}
