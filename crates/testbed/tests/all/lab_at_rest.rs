//! Data at rest of real servers: from clear to nothing readable under writers, back again, and killed in every step.
//!
//! `SEALION_SEED=N` repeats the kills; `SEALION_DEEP=1` tries each step, with and without the server, ended either way;
//! `SEALION_MOMENT=K7` the moments alone that begin so.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use testbed::real::{
    LabSpec, RealLab, RealWriters, files_below, is_deep, is_wished, lab_slot, seed, wait_for,
};
use testbed::sim::rng::Rng;

/// Stored, and in no statement: those have it backwards.
const CANARY: &str = "what-is-stored-can-be-read";
pub const BOTH: &str = "tables,logs";
const SETTLED: Duration = Duration::from_secs(60);
/// Tried where not all are.
const KILLS: usize = 3;
/// From the start of a change to any of its moments.
const HELD: Duration = Duration::from_secs(180);

/// Rows of every kind that `enable tables,logs` is about, and of some that it is not.
pub fn fill(lab: &RealLab, node: &str) {
    let backwards: String = CANARY.chars().rev().collect();
    let rows =
        |count: u32| format!("SELECT seq, REPEAT(REVERSE('{backwards}'), 6) FROM mysql.seq_1_to_{count}");
    let columns = "(a INT PRIMARY KEY, b VARCHAR(250))";
    let mut session = lab.root(node);
    for sql in [
        "CREATE DATABASE rest".to_owned(),
        format!("CREATE TABLE rest.plain {columns} ENGINE=InnoDB"),
        format!("INSERT INTO rest.plain {}", rows(4000)),
        format!("CREATE TABLE rest.refused {columns} ENGINE=InnoDB ENCRYPTED=NO"),
        format!("INSERT INTO rest.refused {}", rows(500)),
        format!("CREATE TABLE rest.`odd name-ü` {columns} ENGINE=InnoDB"),
        format!("INSERT INTO rest.`odd name-ü` {}", rows(300)),
        format!("CREATE TABLE rest.parts {columns} ENGINE=InnoDB PARTITION BY HASH (a) PARTITIONS 3"),
        format!("INSERT INTO rest.parts {}", rows(500)),
        "CREATE TABLE rest.texts (a INT PRIMARY KEY, t TEXT, FULLTEXT (t)) ENGINE=InnoDB".to_owned(),
        format!("INSERT INTO rest.texts {}", rows(200)),
        format!("CREATE TABLE rest.aria {columns} ENGINE=Aria"),
        format!("INSERT INTO rest.aria {}", rows(500)),
        // Their files are called `@1obung`, and `t@0k`.
        format!("CREATE TABLE rest.`übung` {columns} ENGINE=Aria"),
        format!("INSERT INTO rest.`übung` {}", rows(100)),
        format!("CREATE TABLE rest.`tä` {columns} ENGINE=InnoDB ENCRYPTED=NO"),
        format!("INSERT INTO rest.`tä` {}", rows(100)),
        // Nothing encrypts this one.
        "CREATE TABLE rest.fixed (a INT PRIMARY KEY, b CHAR(9)) ENGINE=Aria TRANSACTIONAL=0 ROW_FORMAT=FIXED"
            .to_owned(),
        // Their pages are free before anything encrypts them.
        format!("CREATE TABLE rest.freed {columns} ENGINE=InnoDB"),
        format!("INSERT INTO rest.freed {}", rows(4000)),
        "FLUSH TABLES rest.freed FOR EXPORT".to_owned(),
        "UNLOCK TABLES".to_owned(),
        "DELETE FROM rest.freed".to_owned(),
        "SET GLOBAL innodb_max_purge_lag_wait = 0".to_owned(),
    ] {
        session.execute(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// Files of a node in which the canary can be read, below its data directory.
/// A table that was only a warning where tables are not held to strict rules, as servers of before did. A cluster of Galera would fall apart over
/// it, and a replica stop.
pub fn fill_wide(lab: &RealLab, node: &str) {
    let columns: Vec<String> =
        (0..60).map(|number| format!("c{number} VARCHAR(255) CHARSET latin1")).collect();
    let mut session = lab.root(node);
    for sql in [
        "SET SESSION innodb_strict_mode=OFF, SESSION sql_log_bin=0".to_owned(),
        format!(
            "CREATE TABLE rest.wide (a INT PRIMARY KEY, {}) ENGINE=InnoDB ROW_FORMAT=COMPACT ENCRYPTED=NO",
            columns.join(", ")
        ),
        "INSERT INTO rest.wide (a, c0) SELECT a, b FROM rest.plain LIMIT 50".to_owned(),
    ] {
        session.execute(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

pub fn readable(lab: &RealLab, node: &str) -> Vec<String> {
    let data = lab.node_dir(node).join("data");
    let has_it = |path: PathBuf| {
        let bytes = std::fs::read(&path).unwrap_or_default();
        let at = memchr::memmem::find(&bytes, CANARY.as_bytes())?;
        let name = path.strip_prefix(&data).expect("below it").display().to_string();
        // Where it is helps whoever has to find out why.
        eprintln!("    {node}: the canary is at {at} of the {} bytes of {name}", bytes.len());
        Some(name)
    };
    files_below(&data).into_iter().filter_map(has_it).collect()
}

/// Without the files that are known to keep what was there: Aria's log, which no setting encrypts, and indexes of Aria, whose pages end in what
/// the server has in its memory (`formats::aria::index_page`).
pub(crate) fn unexplained(files: Vec<String>) -> Vec<String> {
    let is_index = |file: &str| Path::new(file).extension().is_some_and(|end| end == "MAI");
    files.into_iter().filter(|file| !file.starts_with("aria_log.") && !is_index(file)).collect()
}

pub fn is_readable(files: &[String], start: &str) -> bool {
    files.iter().any(|file| file.starts_with(start))
}

pub fn change(lab: &RealLab, verb: &str) -> String {
    let hash = lab.plan_hash_of(&[verb, BOTH, "--purge-binary-logs"]);
    let said = lab.run(&[verb, BOTH, "--purge-binary-logs", "--yes", &hash[..12]]).exits(0);
    format!("{}{}", said.stdout, said.stderr)
}

/// Option files without what sealion has placed beside them.
pub(crate) fn options(lab: &RealLab) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let is_option = |path: &Path| path.extension().is_some_and(|end| end == "cnf");
    lab.files().into_iter().filter(|(path, _)| is_option(path)).collect()
}

pub fn on(lab: &RealLab, node: &str, variable: &str) -> String {
    let sql = format!("SELECT @@GLOBAL.{variable}");
    let rows = lab.sql(node).expect("it answers").query(&sql).expect("a variable");
    rows.scalar().unwrap_or_default().into_owned()
}

/// What `status rest` calls plain though the server could encrypt it, without the binary logs of before where these stay.
pub fn plain_files(lab: &RealLab, node: &str) -> Vec<String> {
    let data = lab.node_dir(node).join("data").display().to_string();
    let seen = lab.run(&["status", "rest", "--datadir", &data, "--format", "json"]).exits(0).json();
    let all = seen["artefacts"].as_array().expect("a list").iter();
    let is_plain = |one: &&serde_json::Value| one["plain"].as_u64() > Some(0) && one["verdict"] != "never";
    all.filter(is_plain).map(|one| one["path"].as_str().expect("text").to_owned()).collect()
}

/// Between the step that writes tables anew and the proof somebody makes one with `ENCRYPTED=NO`, whose pages are in memory only.
fn enable_beside_a_table_that_stays_plain(lab: &RealLab) -> String {
    let hash = lab.plan_hash_of(&["enable", BOTH, "--purge-binary-logs"]);
    let words = ["enable", BOTH, "--purge-binary-logs", "--yes", &hash[..12]];
    let mut held = lab.start(&words, Some("K8.n1:verifying"));
    assert!(held.says("held at", Duration::from_secs(300)), "{}", held.stderr());
    let mut root = lab.root("n1");
    root.execute("CREATE TABLE rest.late (id INT PRIMARY KEY, c CHAR(40)) ENCRYPTED=NO").expect("it is made");
    root.execute("INSERT INTO rest.late VALUES (1, 'made late')").expect("it is filled");
    held.kill();
    let said = lab.run(&["resume"]);
    assert!(said.code == Some(4) && said.stderr.contains("rest.late"), "{said}");
    root.execute("ALTER TABLE rest.late ENCRYPTED=DEFAULT").expect("as the advice says");
    let said = lab.run(&["resume"]).exits(0);
    format!("{}{}", said.stdout, said.stderr)
}

#[test]
fn a_source_and_its_replica_are_encrypted_under_writers_decrypted_and_taken_back() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::REPLICAS);
    fill(&lab, "n1");
    fill_wide(&lab, "n1");
    // A cluster of Galera refuses it.
    lab.root("n1").execute("CREATE SEQUENCE rest.numbers ENGINE=Aria").expect("it is made");
    let caught_up = wait_for(SETTLED, || {
        let rows = lab.sql("n2").ok()?.query("SELECT COUNT(*) FROM rest.freed").ok()?;
        let canary = lab.sql("n2").ok()?.query("SELECT COUNT(*) FROM rest.aria").ok()?;
        (rows.scalar().as_deref() == Some("0") && canary.scalar().as_deref() == Some("500")).then_some(())
    });
    assert!(caught_up.is_some(), "n2 does not catch up");
    // A default of `mysql.event` is refused in it, when tables are written anew.
    let path = lab.node_dir("n1").join("etc/my.cnf");
    let text = std::fs::read_to_string(&path).expect("readable");
    std::fs::write(&path, text.replacen("[mysqld]", "[mysqld]\nsql_mode=TRADITIONAL", 1)).expect("writable");
    // From its next start on there is undo elsewhere: what was in ibdata1 before is freed there, and none comes to it again.
    let path = lab.node_dir("n2").join("etc/my.cnf");
    let text = std::fs::read_to_string(&path).expect("readable");
    let with_undo = text.replacen("[mysqld]", "[mysqld]\ninnodb_undo_tablespaces=2", 1);
    std::fs::write(&path, with_undo).expect("writable");
    // Else it moves there only if purge happens to have come to its end.
    lab.root("n2").execute("SET GLOBAL innodb_fast_shutdown=0").expect("it is set");
    let before = options(&lab);
    // The control: this is found where it is.
    for node in ["n1", "n2"] {
        let mut session = lab.root(node);
        for sql in ["FLUSH LOCAL TABLES", "FLUSH TABLES rest.plain, rest.parts FOR EXPORT", "UNLOCK TABLES"] {
            session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
    }
    let clear = ["n1", "n2"].map(|node| readable(&lab, node));
    for files in &clear {
        for start in ["rest/plain.ibd", "rest/aria.MAD", "ib_logfile0", "rest/parts#P#p0.ibd"] {
            assert!(is_readable(files, start), "{start}: {files:?}");
        }
    }
    assert!(is_readable(&clear[0], "rest/freed.ibd") && is_readable(&clear[1], "relay."), "{clear:?}");
    assert!(is_readable(&clear[0], "binlog."), "{:?}", clear[0]);

    lab.now("enable tables,logs, while applications write");
    let writers = RealWriters::start_on(&lab, &["n1"]);
    let said = enable_beside_a_table_that_stays_plain(&lab);
    for node in ["n1", "n2"] {
        let files = readable(&lab, node);
        let left = unexplained(files.clone());
        assert!(left.is_empty(), "{node}: {left:?}\n{said}");
        assert!(said.contains("unused ends of Aria index pages"), "{said}");
        // What the server cannot encrypt is told with what helps.
        assert!(said.contains("Aria table without pages (3 files): ALTER TABLE"), "{said}");
        assert!(
            files.is_empty() || said.contains("Aria log (1 file): put the data directory on LUKS"),
            "{said}"
        );
        for (variable, value) in [
            ("innodb_encrypt_log", "1"),
            ("encrypt_binlog", "1"),
            ("encrypt_tmp_files", "1"),
            ("innodb_encrypt_tables", "ON"),
            ("aria_encrypt_tables", "1"),
        ] {
            assert_eq!(on(&lab, node, variable), value, "{node} {variable}");
        }
        assert_eq!(plain_files(&lab, node), Vec::<String>::new(), "{node}");
    }
    let made = |table: &str| {
        let sql = format!("SHOW CREATE TABLE rest.{table}");
        lab.sql("n1")
            .expect("it answers")
            .query(&sql)
            .expect("there")
            .text(0, "Create Table")
            .expect("a column")
            .into_owned()
    };
    assert!(!made("refused").to_ascii_lowercase().contains("encrypted"), "{}", made("refused"));
    // Once more: nothing is left to do but to look.
    let again = lab.run(&["plan", "enable", BOTH, "--format", "json"]).exits(0).json();
    assert_eq!(
        again["steps"]
            .as_array()
            .expect("steps")
            .iter()
            .filter(|step| step["restarts_server"] == true && step["no_op"] == false)
            .count(),
        0
    );

    lab.now("disable tables,logs");
    change(&lab, "disable");
    assert_eq!(options(&lab), before);
    for node in ["n1", "n2"] {
        assert!(is_readable(&readable(&lab, node), "rest/plain.ibd"), "{node}");
        let plugins =
            "SELECT COUNT(*) FROM information_schema.PLUGINS WHERE PLUGIN_NAME = 'file_key_management'";
        let rows = lab.sql(node).expect("it answers").query(plugins).expect("it tells");
        assert_eq!(rows.scalar().as_deref(), Some("0"), "{node}");
    }

    lab.now("no undo of it, since binary logs were purged; encrypted again by a new change");
    lab.run(&["undo"]).exits(6);
    change(&lab, "enable");
    for node in ["n1", "n2"] {
        let left: Vec<String> =
            unexplained(readable(&lab, node)).into_iter().filter(|file| !file.contains("bin")).collect();
        assert!(left.is_empty(), "{node}: {left:?}");
    }
    let outcome = writers.stop_and_audit();
    eprintln!("    {} acknowledged, 0 lost, {} failed", outcome.acknowledged, outcome.failed);
    for table in ["plain", "refused", "parts", "texts", "aria"] {
        for node in ["n1", "n2"] {
            let sql = format!("CHECK TABLE rest.{table} EXTENDED");
            let rows = lab.sql(node).expect("it answers").query(&sql).expect("it checks");
            assert_eq!(rows.text(0, "Msg_text").as_deref(), Some("OK"), "{node} {table}");
        }
    }
}

fn binary_logs(lab: &RealLab, node: &str) -> Vec<String> {
    let rows = lab.sql(node).expect("it answers").query("SHOW BINARY LOGS").expect("it tells");
    rows.iter().map(|row| row.at(0).unwrap_or_default().into_owned()).collect()
}

#[test]
fn purged_binary_logs_cannot_be_undone_and_nothing_else_is_purged() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec { words: &["replicas", "--nodes", "1"], nodes: 1 });
    let words = ["enable", "logs", "--purge-binary-logs"];
    let plan = lab.run(&[&["plan"], &words[..], &["--format", "json"]].concat()).exits(0).json();
    let steps = plan["steps"].as_array().expect("steps");
    let irreversible: Vec<&str> = steps
        .iter()
        .filter(|step| !step["nature"]["irreversible"].is_null())
        .map(|step| step["id"].as_str().expect("text"))
        .collect();
    assert_eq!(irreversible, ["K7.n1"]);

    lab.now("the control: an undo of what has purged nothing, which purges nothing either");
    let before = binary_logs(&lab, "n1");
    let hash = lab.plan_hash_of(&words);
    let stopped = [&words[..], &["--yes", &hash[..12], "--stop-after", "K3.n1"]].concat();
    lab.run(&stopped).exits(4);
    lab.run(&["undo"]).exits(0);
    let kept = binary_logs(&lab, "n1");
    assert!(kept.starts_with(&before), "{before:?} {kept:?}");

    lab.now("purged");
    let hash = lab.plan_hash_of(&words);
    lab.run(&[&words[..], &["--yes", &hash[..12]]].concat()).exits(0);
    let after = binary_logs(&lab, "n1");
    assert!(!after.contains(&before[0]), "{before:?} {after:?}");
    let refused = lab.run(&["undo"]).exits(6);
    assert!(refused.stderr.contains("next: sealion plan disable logs"), "{refused}");
    assert_eq!(binary_logs(&lab, "n1"), after);
    assert_eq!(on(&lab, "n1", "encrypt_binlog"), "1");
    lab.run(&["plan", "disable", "logs"]).exits(0);
}

/// Moments of a change, each a step that can be cut off, with what else is killed there.
const MOMENTS: &[&str] = &[
    "K0:announcing",
    "K0:acting",
    "K0:verifying",
    "K1.n1:acting",
    "K1.n1:verifying",
    "K2.n1:acting",
    "K2.n1:verifying",
    "K3.n1:verifying",
    "K4.n1:acting",
    "K4.n1:verifying",
    "K5.n1:announcing",
    "K5.n1:acting",
    "K5.n1:verifying",
    "K6.n1:acting",
    "K6.n1:marking",
    "K6.n1:verifying",
    "K7.n1:acting",
    "K8.n1:verifying",
    "closing",
];

/// Those at which binary logs may have been purged.
const PURGED: &[&str] = &["K7.n1:acting", "K8.n1:verifying", "closing"];

/// One kill of a change, and what is done then.
#[derive(Debug, Clone, Copy)]
struct Kill {
    moment: &'static str,
    of_server: bool,
    goes_back: bool,
}

/// A server with rows, and what must be there whatever is killed.
struct Kept {
    lab: RealLab,
    options: BTreeMap<PathBuf, (u32, Vec<u8>)>,
    sums: Vec<Option<String>>,
}

impl Kept {
    fn up() -> Self {
        let lab = RealLab::up(LabSpec { words: &["replicas", "--nodes", "1"], nodes: 1 });
        fill(&lab, "n1");
        fill_wide(&lab, "n1");
        let (options, sums) = (options(&lab), sums(&lab));
        Self { lab, options, sums }
    }

    /// A change is killed, ended either way, and taken back.
    fn survives(&self, kill: Kill) {
        let lab = &self.lab;
        let Kill { moment, of_server, goes_back } = kill;
        lab.now(format!("killed at {moment}, the server too: {of_server}, then back: {goes_back}"));
        let hash = lab.plan_hash_of(&["enable", BOTH, "--purge-binary-logs"]);
        let words = ["enable", BOTH, "--purge-binary-logs", "--yes", &hash[..12]];
        let mut change = lab.start(&words, Some(moment));
        if !change.says(&format!("held at {moment} "), HELD) {
            // Keys of before lie there still, and a step that finds its work done does not act.
            let said = lab.ended(change.kill());
            assert_eq!(said.code, Some(0), "it did not come to {moment}\n{said}");
            change_back(lab);
            return;
        }
        if of_server {
            lab.kill_node("n1");
        }
        let said = lab.ended(change.kill());
        assert_eq!(said.code, None, "SIGKILL ended it\n{said}");
        if of_server {
            // As its service manager does.
            lab.lab(&["start", "n1"]).exits(0);
        }
        if goes_back && !PURGED.contains(&moment) {
            let mut undone = lab.run(&["undo"]);
            if undone.code == Some(4) && undone.stderr.contains("PURGE BINARY LOGS TO") {
                // Encrypted binary logs need the keys, and an undo purges nothing by itself.
                let newest = binary_logs(lab, "n1").pop().expect("it writes one");
                lab.root("n1").execute(&format!("PURGE BINARY LOGS TO '{newest}'")).expect("no replica");
                undone = lab.run(&["undo"]);
            }
            // Nothing was begun: there is nothing to take back.
            assert!(undone.code == Some(0) || moment == "K0:announcing", "{undone}");
        } else {
            if goes_back {
                lab.run(&["undo"]).exits(6);
            }
            lab.run(&["resume"]).exits(0);
            let left = unexplained(readable(lab, "n1"));
            assert!(left.is_empty(), "{left:?}");
            assert_eq!(sums(lab), self.sums);
            change_back(lab);
        }
        assert_eq!(sums(lab), self.sums);
        assert_eq!(options(lab), self.options, "{moment}");
    }
}

fn sums(lab: &RealLab) -> Vec<Option<String>> {
    let mut session = lab.sql("n1").expect("it answers");
    let tables = ["plain", "refused", "parts", "texts", "aria", "freed", "wide"];
    let sum = |table: &str| {
        let rows = session.query(&format!("CHECKSUM TABLE rest.{table}")).expect("there");
        rows.text(0, "Checksum").map(std::borrow::Cow::into_owned)
    };
    tables.map(sum).to_vec()
}

/// Each kill on a server that has others behind it, as long as none fails; a new server behind one that does.
fn kill(kills: &[Kill]) {
    let _alone = lab_slot();
    let mut kept = None;
    let mut failed = Vec::new();
    for kill in kills {
        let now = kept.take().unwrap_or_else(Kept::up);
        let end = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| now.survives(*kill)));
        if end.is_ok() {
            kept = Some(now);
        } else {
            failed.push(*kill);
        }
    }
    assert!(failed.is_empty(), "{} of {} kills: {failed:?}", failed.len(), kills.len());
}

fn all_kills() -> Vec<Kill> {
    let ends = [(false, false), (false, true), (true, false), (true, true)];
    let of = |moment: &&'static str| {
        let moment = *moment;
        ends.map(|(of_server, goes_back)| Kill { moment, of_server, goes_back })
    };
    MOMENTS.iter().filter(|moment| is_wished(moment)).flat_map(of).collect()
}

/// Some by chance; all with `SEALION_DEEP=1`.
#[test]
fn a_change_killed_in_any_step_ends_either_way_and_loses_no_row() {
    let mut kills = all_kills();
    if !is_deep() {
        let order = Rng::new(seed()).shuffled(kills.len());
        kills = order.into_iter().filter_map(|at| kills.get(at).copied()).take(KILLS).collect();
    }
    kill(&kills);
}

fn change_back(lab: &RealLab) {
    change(lab, "disable");
    // An enable after it takes the same keys, which lie there still.
}
