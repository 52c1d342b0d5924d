//! The review of statements on real traffic: an ORM, statements in the shape of WordPress, a tool for migrations, dumps and reports on one side, sqlmap
//! against a small shop on the other. Whose a statement is says the account that sent it. Precision and recall are printed.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use audit::statements::{signs, signs_in_text};
use testbed::real::bundled::{Bundled, bundle};
use testbed::real::{LabSpec, Program, RealLab, lab_slot};

use crate::lab_audit::{Audited, Expected, audit, root};

/// Rules over texts, errors and digests beside each other, and what an account could do with an injection.
pub const BY_TEXT: &[Expected] = &[
    ("SL2608", ""),
    ("SL2609", ""),
    ("SL2610", ""),
    ("SL2611", ""),
    ("SL2612", ""),
    ("SL2613", "'app_injected'@"),
];

/// How long sqlmap makes the server wait where it asks by time.
const WAITS_S: [u32; 3] = [1, 4, 10];
const MISSED_SHOWN_MAX: usize = 15;
const SHOP_PORT: u16 = 18_080;
/// Of each part; none takes a tenth of it.
const PART: Duration = Duration::from_secs(240);

/// What sqlmap calls a technique, its letter, and the pages of the shop where it is tried.
const TECHNIQUES: &[(&str, &str, &[&str])] = &[
    ("boolean-based blind", "B", &["number?value=1", "login?value=anna&other=x"]),
    ("error-based", "E", &["number?value=1", "order?value=price"]),
    ("UNION query", "U", &["number?value=1", "like?value=pro"]),
    ("stacked queries", "S", &["stacked?value=1"]),
    ("time-based blind", "T", &["string?value=lamp"]),
    ("inline query", "Q", &["column?value=name"]),
];
/// What a person types into such pages.
const BY_HAND: &[(&str, &str)] = &[
    ("login", "admin'-- "),
    ("login", "admin'#"),
    ("login", "' OR '1'='1"),
    ("login", "' OR 1=1-- -"),
    ("login", "x' OR 'a' LIKE 'a"),
    ("number", "1 OR 1=1"),
    ("number", "1/**/OR/**/1=1"),
    ("number", "-1 UNION SELECT 1,2,3-- -"),
    ("number", "-1 /*!50000UNION*/ /*!50000SELECT*/ 1,name,password FROM member-- -"),
    ("number", "1 AND SLEEP(0)"),
    ("number", "1 AND EXTRACTVALUE(1,CONCAT(0x7e,(SELECT password FROM member LIMIT 1)))"),
    ("number", "1 AND ASCII(SUBSTRING((SELECT password FROM member LIMIT 1),1,1))>64"),
    ("string", "lamp' AND 1=1-- -"),
    ("string", "O'Brien"),
    ("like", "%' UNION ALL SELECT id,name,password FROM member-- -"),
    ("like", "x' OR name LIKE CHAR(37,108,37)-- -"),
    ("order", "(SELECT password FROM member LIMIT 1)"),
    ("order", "IF(1=1,id,name)"),
    ("column", "(SELECT GROUP_CONCAT(name,password) FROM member)"),
    ("column", "LOAD_FILE('/etc/passwd')"),
    ("stacked", "1; UPDATE product SET price = 0"),
    ("stacked", "1;SELECT 2;SELECT 3"),
];

struct Kind {
    bundle: &'static str,
    is_mariadb: bool,
    /// Of injected statements, by digests alone and with their texts, at least: what was seen, less five of a hundred.
    recall_min: (f64, f64),
}

/// One statement that the server has kept.
struct Sent {
    is_injected: bool,
    digest: Option<String>,
    text: String,
    is_whole: bool,
}

/// How many of which were told.
#[derive(Default, Clone, Copy)]
struct Count {
    injected: usize,
    told: usize,
    honest: usize,
    false_alarms: usize,
}

impl Count {
    fn add(&mut self, is_injected: bool, is_told: bool) {
        let (all, hit) = if is_injected {
            (&mut self.injected, &mut self.told)
        } else {
            (&mut self.honest, &mut self.false_alarms)
        };
        *all += 1;
        *hit += usize::from(is_told);
    }

    #[allow(clippy::cast_precision_loss)]
    fn recall(self) -> f64 {
        self.told as f64 / self.injected.max(1) as f64
    }

    #[allow(clippy::cast_precision_loss)]
    fn precision(self) -> f64 {
        self.told as f64 / (self.told + self.false_alarms).max(1) as f64
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "precision {:.1} %, recall {:.1} % ({} of {} injected statements are told, {} of {} honest ones)",
            self.precision() * 100.0,
            self.recall() * 100.0,
            self.told,
            self.injected,
            self.false_alarms,
            self.honest
        )
    }
}

/// A program of Debian that is not there is no reason to pass.
fn debian(path: &str) -> &str {
    assert!(Path::new(path).exists(), "there is no {path}; run: scripts/setup.sh tools");
    path
}

fn script(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/statements").join(name).display().to_string()
}

fn python(lab: &RealLab, words: &[&str]) -> Program {
    let mut command = lab.command(&["lab", "exec", "--", debian("/usr/bin/python3"), "-B"]);
    command.args(words).env("HOME", lab.home());
    Program::start(command)
}

/// Everything is closed before this is dropped, in the other order.
struct Stage {
    lab: RealLab,
    server: Bundled,
    _shop: Program,
}

impl Stage {
    fn open(kind: &Kind) -> Self {
        let lab = RealLab::up(LabSpec::MARIADB);
        lab.now("a server that keeps texts of statements");
        let options = [
            "--performance-schema=ON",
            "--performance-schema-consumer-events-statements-current=ON",
            "--performance-schema-consumer-events-statements-history=ON",
            "--performance-schema-consumer-events-statements-history-long=ON",
            "--performance-schema-events-statements-history-long-size=40000",
            "--general-log=ON",
            "--log-output=TABLE",
            "--sql-mode=",
        ];
        let server = Bundled::start(&lab, kind.bundle, 13_306, &options);
        let mut client = root(&server);
        client.execute("CREATE DATABASE shop").unwrap();
        for user in ACCOUNTS {
            client.execute(&format!("CREATE USER {user}@localhost IDENTIFIED BY 'shop'")).unwrap();
            client.execute(&format!("GRANT ALL ON shop.* TO {user}@localhost")).unwrap();
        }
        client.execute("GRANT FILE ON *.* TO app_injected@localhost").unwrap();
        client
            .execute(
                "GRANT SELECT, LOCK TABLES, SHOW VIEW, TRIGGER, EVENT, PROCESS ON *.* TO app_admin@localhost",
            )
            .unwrap();
        for sql in [
            "CREATE TABLE shop.product (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(100), price DECIMAL(10, 2), live INT DEFAULT 1)",
            "CREATE TABLE shop.member (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(100), password VARCHAR(100))",
            "INSERT INTO shop.product (name, price) VALUES ('lamp', 10), ('product 1', 20), ('product 2', 30)",
            "INSERT INTO shop.member (name, password) VALUES ('anna', 'x'), ('admin', 'canary-of-the-shop')",
        ] {
            client.execute(sql).unwrap();
        }
        let socket = server.dir.join("socket").display().to_string();
        let mut shop = python(&lab, &[&script("shop.py"), &socket, &SHOP_PORT.to_string()]);
        assert!(shop.says("the shop is open", PART), "the shop does not open: {}", shop.stderr());
        Self { lab, server, _shop: shop }
    }

    fn socket(&self) -> String {
        self.server.dir.join("socket").display().to_string()
    }

    fn traffic(&self, what: &str) -> Program {
        let dir = self.lab.home().join(what).display().to_string();
        python(&self.lab, &[&script("traffic.py"), &self.socket(), &dir, &SHOP_PORT.to_string()])
    }

    /// All that is not an injection. Sessions of the scripts are there until what is returned is dropped.
    fn honest(&self, is_mariadb: bool) -> Program {
        let mut traffic = self.traffic("migrations");
        assert!(traffic.says("all is sent", PART), "not all was sent: {}", traffic.stderr());
        let login = [&format!("--socket={}", self.socket()), "--user=app_admin", "--password=shop"]
            .map(str::to_owned);
        let tool = |name: &str, words: &[&str]| {
            let bundled = bundle("mysql-9.7");
            let lib = bundled.join("usr/lib/x86_64-linux-gnu").display().to_string();
            let program = bundled.join("usr/bin").join(name).display().to_string();
            let mut command = self.lab.command(&["lab", "exec", "--"]);
            if is_mariadb {
                command.arg(name);
            } else {
                command.args([&format!("{lib}/ld-linux-x86-64.so.2"), "--library-path", &lib, &program]);
            }
            command.arg("--no-defaults").args(&login).args(words);
            Program::start(command).finish(PART).exits(0)
        };
        let (dump, admin) =
            if is_mariadb { ("mariadb-dump", "mariadb-admin") } else { ("mysqldump", "mysqladmin") };
        let dumped = tool(dump, &["--routines", "--triggers", "--no-tablespaces", "shop"]).stdout;
        assert!(dumped.contains("CREATE TABLE `orm_product`"), "{dumped}");
        for words in [&["status"][..], &["ping"], &["extended-status"], &["processlist"]] {
            tool(admin, words);
        }
        traffic
    }

    fn forget(&self) {
        let mut client = root(&self.server);
        for table in [
            "performance_schema.events_statements_summary_by_digest",
            "performance_schema.events_statements_history_long",
            "performance_schema.events_statements_history",
            "mysql.general_log",
        ] {
            client.execute(&format!("TRUNCATE TABLE {table}")).unwrap();
        }
    }

    /// Each statement in a history, whose sender is still connected or has only sent honest ones.
    fn sent(&self) -> Vec<Sent> {
        let rows = root(&self.server)
            .query(
                "SELECT t.PROCESSLIST_USER, h.DIGEST_TEXT, h.SQL_TEXT FROM performance_schema.events_statements_history_long h \
                 LEFT JOIN performance_schema.threads t ON t.THREAD_ID = h.THREAD_ID \
                 WHERE h.SQL_TEXT IS NOT NULL AND COALESCE(t.PROCESSLIST_USER, '') <> 'root'",
            )
            .unwrap();
        let of = |row: net::RowRef<'_>| Sent {
            is_injected: row.at(0).as_deref() == Some("app_injected"),
            digest: row.at(1).map(std::borrow::Cow::into_owned),
            text: row.at(2).unwrap_or_default().into_owned(),
            is_whole: row.at(2).is_some_and(|text| text.len() + 4 <= 1024),
        };
        rows.iter().map(of).collect()
    }

    /// What the general log has, where one entry may be several statements.
    fn logged(&self) -> Vec<(bool, String)> {
        let sql = "SELECT user_host, argument FROM mysql.general_log \
                   WHERE command_type IN ('Query', 'Execute') AND user_host NOT LIKE 'root%'";
        let rows = root(&self.server).query(sql).unwrap();
        rows.iter()
            .map(|row| {
                let is_injected = row.at(0).is_some_and(|user| user.starts_with("app_injected["));
                (is_injected, row.at(1).unwrap_or_default().into_owned())
            })
            .collect()
    }

    /// What sqlmap says of one page.
    fn sqlmap(&self, letter: &str, page: &str, wait_s: u32) -> String {
        let mut command = self.lab.command(&["lab", "exec", "--", debian("/usr/bin/sqlmap")]);
        let output = self.lab.home().join("sqlmap").display().to_string();
        command.env("HOME", self.lab.home()).args([
            "-u",
            &format!("http://127.0.0.1:{SHOP_PORT}/{page}"),
            "-p",
            "value",
            "--batch",
            "--flush-session",
            "--dbms=mysql",
            // What asks for a second statement comes later.
            if letter == "S" { "--level=2" } else { "--level=1" },
            "--risk=1",
            &format!("--time-sec={wait_s}"),
            "--disable-coloring",
            &format!("--technique={letter}"),
            &format!("--output-dir={output}"),
        ]);
        // A value that is read by waiting takes minutes.
        if !["T", "S"].contains(&letter) {
            command.arg("--current-user");
        }
        Program::start(command).finish(PART).exits(0).stdout
    }
}

const ACCOUNTS: [&str; 7] =
    ["app_honest", "app_injected", "app_orm", "app_wordpress", "app_reports", "app_migrate", "app_admin"];

/// The strong rules, of statements alone.
const STRONG: [&str; 9] =
    ["SL2601", "SL2602", "SL2603", "SL2605", "SL2606", "SL2607", "SL2608", "SL2609", "SL2610"];

/// What the product tells of statements.
fn failing(seen: &Audited) -> BTreeMap<String, String> {
    let of_statements = |rule: &str| STRONG.contains(&rule) || ["SL2611", "SL2612"].contains(&rule);
    let failing = seen.findings().filter(|one| of_statements(one.0) && one.1 == "fail");
    failing.map(|one| (one.0.to_owned(), one.3.to_owned())).collect()
}

fn of_digest(sent: &Sent) -> bool {
    sent.digest.as_ref().is_some_and(|digest| !signs(digest).is_empty())
}

fn of_text(sent: &Sent) -> bool {
    of_digest(sent) || !signs_in_text(&sent.text, !sent.is_whole).is_empty()
}

fn review(kind: &Kind) {
    let _alone = lab_slot();
    let stage = Stage::open(kind);
    let (lab, server) = (&stage.lab, &stage.server);
    let (mut by_digest, mut by_text, mut by_log) = <(Count, Count, Count)>::default();
    let mut count = |label: &str| {
        let sent = stage.sent();
        let (mut missed, mut wrong) = (Vec::new(), Vec::new());
        for one in &sent {
            // What the server cannot parse has no digest.
            if one.digest.is_some() {
                by_digest.add(one.is_injected, of_digest(one));
            }
            by_text.add(one.is_injected, of_text(one));
            match (one.is_injected, of_text(one)) {
                (true, false) => missed.push(one.text.clone()),
                (false, true) => wrong.push(one.text.clone()),
                _ => {}
            }
        }
        for (is_injected, text) in stage.logged() {
            let is_told = !signs_in_text(&text, false).is_empty();
            by_log.add(is_injected, is_told);
            if is_told && !is_injected {
                wrong.push(text);
            }
        }
        assert!(wrong.is_empty(), "{label}: false alarms: {wrong:#?}");
        missed.sort();
        missed.dedup();
        eprintln!(
            "{label}: {} statements; {} shapes or more are not told, of which are {:#?}",
            sent.len(),
            missed.len(),
            missed.iter().take(MISSED_SHOWN_MAX).collect::<Vec<_>>()
        );
        let injected = sent.iter().filter(|one| one.is_injected).count();
        (injected, sent.len() - injected)
    };

    lab.now("honest traffic");
    stage.forget();
    let honest = stage.honest(kind.is_mariadb);
    assert!(matches!(count("honest traffic"), (0, 1_000..)), "not all was kept");
    let seen = audit(lab, server, "root");
    assert_eq!(failing(&seen), BTreeMap::new(), "a false alarm");
    seen.passes(STRONG.into_iter().chain(["SL2612"]));
    let clean = |account: &str| {
        let about = format!("account '{account}'@'localhost'");
        seen.findings().any(|one| one.0 == "SL2613" && one.2.ends_with(&about) && one.1 == "pass")
    };
    assert!(clean("app_honest") && !clean("app_injected"), "SL2613");
    drop(honest);

    let mut told = BTreeMap::new();
    for (technique, letter, pages) in TECHNIQUES {
        lab.now(format!("sqlmap: {technique}"));
        stage.forget();
        stage.traffic("visitors").finish(PART).exits(0);
        for page in *pages {
            // On a machine that is busy it takes longer waits to tell one from another.
            let success = format!("Type: {technique}");
            let mut tries = WAITS_S.iter().map(|wait_s| stage.sqlmap(letter, page, *wait_s));
            let last = tries
                .try_fold(String::new(), |_, said| if said.contains(&success) { Err(()) } else { Ok(said) });
            assert!(last.is_err(), "{technique} has no success at {page}: {}", last.unwrap_or_default());
        }
        assert!(count(technique).0 > 0, "{technique} has sent nothing");
        let found = failing(&audit(lab, server, "root"));
        assert!(
            STRONG.iter().any(|rule| found.contains_key(*rule)),
            "{technique} is told by no rule: {found:#?}"
        );
        told.insert(*technique, found);
    }

    lab.now("by hand");
    stage.forget();
    stage.traffic("visitors").finish(PART).exits(0);
    let visit = "import sys, urllib.request, urllib.parse\nfor line in sys.argv[1:]:\n    path, value = line.split('?', 1)\n    \
                 urllib.request.urlopen(f'http://127.0.0.1:{sys_port}/{path}?' + urllib.parse.urlencode({'value': value, 'other': 'x'})).read()"
        .replace("{sys_port}", &SHOP_PORT.to_string());
    let values: Vec<String> = BY_HAND.iter().map(|(path, value)| format!("{path}?{value}")).collect();
    let words: Vec<&str> = ["-c", &visit].into_iter().chain(values.iter().map(String::as_str)).collect();
    python(lab, &words).finish(PART).exits(0);
    assert!(count("by hand").0 >= BY_HAND.len(), "not all was sent");
    let seen = audit(lab, server, "root");
    seen.fails(&[
        ("SL2608", ""),
        ("SL2609", ""),
        ("SL2610", ""),
        ("SL2612", ""),
        ("SL2613", "'app_injected'@"),
    ]);
    let found = failing(&seen);
    told.insert("by hand", found.clone());
    let by_error = &told["error-based"];
    assert!(by_error.contains_key("SL2611") || found.contains_key("SL2611"), "SL2611: {told:#?}");

    // Who it was, and what he could do; no value.
    let all = format!("{told:?}");
    assert!(all.contains("sent by 'app_injected'@'localhost', through which it may do harm: FILE"), "{all}");
    for value in ["canary-of-the-shop", "Brien", "passwd", "0x7", "'x'"] {
        assert!(!all.contains(value), "{value} is told: {all}");
    }
    eprintln!("what the product tells: {told:#?}");
    println!("{} by digests alone, of statements that have one: {by_digest}", kind.bundle);
    println!("{} with texts: {by_text}", kind.bundle);
    println!("{} by the general log alone: {by_log}", kind.bundle);
    let (digest_min, text_min) = kind.recall_min;
    assert!(by_digest.recall() >= digest_min, "by digests alone: {by_digest}");
    assert!(by_text.recall() >= text_min, "with texts: {by_text}");
}

#[test]
fn injections_are_told_and_honest_traffic_is_not_on_mariadb() {
    review(&Kind { bundle: "galera-10.11", is_mariadb: true, recall_min: (0.79, 0.90) });
}

#[test]
fn injections_are_told_and_honest_traffic_is_not_on_mysql() {
    review(&Kind { bundle: "mysql-9.7", is_mariadb: false, recall_min: (0.71, 0.86) });
}
