//! Keys of data at rest are replaced on real servers, under writers: nothing needs the old ones afterwards, and no row is lost.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use testbed::real::{LabSpec, ProgramOutput, RealLab, RealWriters, is_deep, is_wished, lab_slot, wait_for};

use crate::lab_at_rest::{change, fill, fill_wide, options, readable, unexplained};

const ROTATE: [&str; 3] = ["rotate", "tables,logs", "--purge-binary-logs"];
const SETTLED: Duration = Duration::from_secs(60);
const HELD: Duration = Duration::from_secs(600);
/// It has some fifty steps, and each server is restarted four times; ten changes of other tests may be at work beside it.
const ROTATED: Duration = Duration::from_secs(1500);
const RESUMES: usize = 3;
/// Some 1.5 MB of undo.
const UNDO_ROWS: u32 = 5_000;
const WRITTEN: Duration = Duration::from_secs(3);

fn rotate(lab: &RealLab) -> String {
    let hash = lab.plan_hash_of(&ROTATE);
    let said = lab.run_for(&[&ROTATE[..], &["--yes", &hash[..12]]].concat(), &[], ROTATED).exits(0);
    format!("{}{}", said.stdout, said.stderr)
}

/// Gone on with where freed pages were left: on a machine that is busy they are not all written over in as many rounds as are made, which is
/// said, and `resume` makes more.
fn gone_on_with(lab: &RealLab, mut said: ProgramOutput, words: &[&str]) -> ProgramOutput {
    for _ in 0..RESUMES {
        if !left_freed_pages(&said) {
            break;
        }
        lab.now("resume: freed pages were left");
        said = lab.run_for(&[&["resume"], words].concat(), &[], ROTATED);
    }
    said
}

/// A change that was to stop behind a step ends with the same code, and its progress names the same file.
fn left_freed_pages(said: &ProgramOutput) -> bool {
    let why = said.stderr.lines().skip_while(|line| !line.starts_with("error:"));
    said.code == Some(4) && !said.stdout.contains("stopped after") && {
        let why: Vec<&str> = why.collect();
        why.iter().any(|line| line.contains("ibdata2"))
            && !why.iter().any(|line| line.contains("not restarted"))
    }
}

/// A key file that somebody has replaced by one that is as sound, with other keys.
struct KeyFileSwapped {
    path: PathBuf,
    was: Vec<u8>,
}

impl KeyFileSwapped {
    fn on(lab: &RealLab, node: &str, dir: &str) -> Self {
        let path = lab.tls_dir(node).with_file_name(dir).join("data-keys.enc");
        let was = std::fs::read(&path).expect("it is there");
        let other = lab.tls_dir(node).with_file_name("data-keys-2").join("data-keys.enc");
        std::fs::write(&path, std::fs::read(other).expect("the keys of meanwhile")).expect("writable");
        Self { path, was }
    }

    fn back(self) {
        std::fs::write(self.path, self.was).expect("writable");
    }
}

/// The next restart is one of n1.
fn refuses_other_keys(lab: &RealLab) {
    let swapped = KeyFileSwapped::on(lab, "n1", "data-keys-3");
    let refused = lab.run_for(&["resume"], &[], ROTATED);
    swapped.back();
    assert_eq!(refused.code, Some(4), "{refused}");
    assert!(refused.stderr.contains("n1 is not restarted"), "{refused}");
    assert!(refused.stderr.contains("another one than the escrow has"), "{refused}");
}

/// A second file of the system tablespace, as large servers of old have it.
fn second_file(lab: &RealLab, node: &str) {
    let file = lab.node_dir(node).join("etc/conf.d/55-system.cnf");
    let line = "[mysqld]\ninnodb_data_file_path=ibdata1:12M;ibdata2:1M:autoextend\n";
    std::fs::write(file, line).expect("writable");
    lab.lab(&["stop", node]).exits(0);
    lab.lab(&["start", node]).exits(0);
    assert!(wait_for(SETTLED, || lab.sql(node).ok()).is_some(), "{node} does not answer");
}

/// A little more of undo at once than the first file has place for: each page of it that is freed is to be written over later.
fn fill_second_file(lab: &RealLab, node: &str) {
    let mut session = lab.root(node);
    session.execute("SET SESSION sql_log_bin=0").expect("of this server alone");
    session.execute("SET GLOBAL innodb_max_dirty_pages_pct=0").expect("written at once");
    let mut rows = UNDO_ROWS;
    let written = wait_for(SETTLED, || {
        for sql in [
            "CREATE OR REPLACE TABLE rest.much (a INT PRIMARY KEY, b VARCHAR(250)) ENGINE=InnoDB".to_owned(),
            format!("INSERT INTO rest.much SELECT seq, REPEAT('u', 250) FROM mysql.seq_1_to_{rows}"),
            "UPDATE rest.much SET b = REPEAT('v', 250)".to_owned(),
        ] {
            session.execute(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        rows += UNDO_ROWS;
        wait_for(WRITTEN, || (in_second_file(lab, node).1 > 0).then_some(()))
    });
    session.execute("DROP TABLE rest.much").expect("it is ours");
    assert!(
        written.is_some(),
        "{node} has written nothing to its second file: {:?}",
        in_second_file(lab, node)
    );
    session.execute("SET GLOBAL innodb_max_dirty_pages_pct=DEFAULT").expect("as before");
}

/// Pages of the second file of the system tablespace, by what they are.
fn in_second_file(lab: &RealLab, node: &str) -> (u64, u64, u64) {
    let datadir = lab.node_dir(node).join("data");
    let seen = disk::look(&datadir, &disk::Progress::default()).expect("a data directory");
    let file = seen.artefacts.iter().find(|file| file.path == "ibdata2").expect("it is there");
    (file.tally.encrypted, file.tally.plain, file.tally.unknown)
}

/// Behind the look at all files, and before the server has other keys, somebody makes a table with one that goes: of a running server it is
/// in the buffer pool only.
fn rotate_while_a_table_comes(lab: &RealLab) -> String {
    let hash = lab.plan_hash_of(&ROTATE);
    let begun = [&ROTATE[..], &["--yes", &hash[..12], "--stop-after", "K9.n1"]].concat();
    let begun = gone_on_with(lab, lab.run_for(&begun, &[], ROTATED), &["--stop-after", "K9.n1"]);
    assert!(begun.stdout.contains("stopped after K9.n1"), "{begun}");
    let mut session = lab.root("n1");
    let rows = "INSERT INTO rest.mid SELECT seq, REPEAT('m', 200) FROM mysql.seq_1_to_100";
    for sql in ["CREATE TABLE rest.mid (a INT PRIMARY KEY, b VARCHAR(250)) ENCRYPTED=YES", rows] {
        session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    refuses_other_keys(lab);
    let kept = lab.run_for(&["resume"], &[], ROTATED);
    assert_eq!(kept.code, Some(4), "{kept}");
    assert!(kept.stderr.contains("n1 keeps its keys, and is started as it was"), "{kept}");
    assert!(kept.stderr.contains("rest/mid.ibd") && kept.stderr.contains("ENCRYPTION_KEY_ID=3"), "{kept}");
    let mut session = lab.root("n1");
    session.execute("ALTER TABLE rest.mid ENCRYPTED=YES ENCRYPTION_KEY_ID=3").expect("as it was told");
    // A restart from which no key goes begins with them all the same.
    let stopped = ["--stop-after", "K11l.n1"];
    let stopped =
        gone_on_with(lab, lab.run_for(&[&["resume"][..], &stopped].concat(), &[], ROTATED), &stopped);
    assert!(stopped.stdout.contains("stopped after K11l.n1"), "{stopped}");
    refuses_other_keys(lab);
    let said = gone_on_with(lab, lab.run_for(&["resume"], &[], ROTATED), &[]).exits(0);
    let rows = lab
        .sql("n1")
        .expect("it answers")
        .query("SELECT COUNT(*) FROM rest.mid")
        .expect("readable")
        .scalar()
        .map(std::borrow::Cow::into_owned);
    assert_eq!(rows.as_deref(), Some("100"), "{said}");
    lab.root("n1").execute("DROP TABLE rest.mid").expect("it goes");
    format!("{}{}{}", begun.stderr, said.stdout, said.stderr)
}

/// Tables whose files lie elsewhere, one of them in a database that is a link itself; on this server alone.
fn fill_elsewhere(lab: &RealLab, node: &str) {
    let [volume, far] = ["volume", "far"].map(|name| lab.node_dir(node).join(name));
    let far = far.display();
    let mut session = lab.root(node);
    session.execute("SET SESSION sql_log_bin=0").expect("of this server alone");
    session.execute("CREATE DATABASE linked").expect("it is made");
    let place = lab.node_dir(node).join("data/linked");
    std::fs::rename(&place, &volume).expect("on the same disk");
    std::os::unix::fs::symlink(&volume, &place).expect("a link");
    std::fs::create_dir(lab.node_dir(node).join("far")).expect("it is new");
    let rows = "SELECT seq, REPEAT('e', 200) FROM mysql.seq_1_to_1000";
    for sql in [
        format!(
            "CREATE TABLE linked.a (a INT PRIMARY KEY, b VARCHAR(250)) ENGINE=Aria DATA DIRECTORY='{far}' INDEX DIRECTORY='{far}'"
        ),
        format!("INSERT INTO linked.a {rows}"),
        format!(
            "CREATE TABLE linked.i (a INT PRIMARY KEY, b VARCHAR(250)) ENGINE=InnoDB DATA DIRECTORY='{far}'"
        ),
        format!("INSERT INTO linked.i {rows}"),
    ] {
        session.execute(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// What is in them.
fn elsewhere(lab: &RealLab, node: &str) -> Vec<Option<String>> {
    let rows =
        lab.sql(node).expect("it answers").query("CHECKSUM TABLE linked.a, linked.i").expect("it tells");
    rows.iter().map(|row| row.at(1).map(std::borrow::Cow::into_owned)).collect()
}

/// What tables say of their encryption by themselves.
fn own_words(lab: &RealLab, node: &str) -> BTreeMap<String, String> {
    let sql = "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME), CREATE_OPTIONS FROM information_schema.TABLES WHERE ENGINE = 'InnoDB' \
               AND TABLE_SCHEMA IN ('mysql', 'rest')";
    let rows = lab.sql(node).expect("it answers").query(sql).expect("it tells");
    let told = rows.iter().map(|row| {
        let [name, words] = [0, 1].map(|at| row.at(at).unwrap_or_default().into_owned());
        (name, words.replace("partitioned", "").trim().to_owned())
    });
    told.collect()
}

/// Key ids that the server says its tablespaces have.
fn key_ids(lab: &RealLab, node: &str) -> Vec<String> {
    let sql = "SELECT DISTINCT CURRENT_KEY_ID FROM information_schema.INNODB_TABLESPACES_ENCRYPTION WHERE MIN_KEY_VERSION > 0 ORDER BY 1";
    let rows = lab.sql(node).expect("it answers").query(sql).expect("it tells");
    rows.iter().map(|row| row.at(0).unwrap_or_default().into_owned()).collect()
}

/// Of each copy in the escrow: how many of the files on which a key can be tried it opens.
fn opened(lab: &RealLab, node: &str) -> BTreeMap<String, (u64, u64)> {
    let said = lab.run(&["diagnose", node, "--format", "json"]);
    let said: Value = said.json();
    let number = |copy: &Value, key: &str| copy[key].as_u64().expect("a number");
    let copies = said["copies"].as_array().expect("a list").iter();
    copies
        .map(|copy| {
            let name = copy["name"].as_str().expect("text").rsplit('-').next().expect("a number").to_owned();
            (name, (number(copy, "files_opened"), number(copy, "files_tried")))
        })
        .collect()
}

fn key_dirs(lab: &RealLab, node: &str) -> Vec<String> {
    let beside = lab.tls_dir(node);
    let beside = beside.parent().expect("it has one");
    let names = std::fs::read_dir(beside)
        .expect("it is there")
        .map(|entry| entry.expect("readable").file_name().into_string().expect("text"));
    let mut names: Vec<String> = names.filter(|name| name.starts_with("data-keys")).collect();
    names.sort();
    names
}

fn sums(lab: &RealLab, node: &str) -> Vec<Option<String>> {
    let tables = ["plain", "refused", "parts", "texts", "aria", "freed", "own"];
    let sum = |table| {
        let sql = format!("CHECKSUM TABLE rest.{table}");
        let rows = lab.sql(node).expect("it answers").query(&sql).expect("there");
        rows.text(0, "Checksum").map(std::borrow::Cow::into_owned)
    };
    tables.map(sum).to_vec()
}

fn fill_more(lab: &RealLab) {
    fill(lab, "n1");
    fill_wide(lab, "n1");
    let mut session = lab.root("n1");
    for sql in [
        "CREATE TABLE rest.own (a INT PRIMARY KEY, b VARCHAR(250)) ENGINE=InnoDB",
        "INSERT INTO rest.own SELECT * FROM rest.plain",
        "CREATE SEQUENCE rest.numbers",
    ] {
        session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// Says by itself that it is encrypted, with a key of its own choice.
fn choose(lab: &RealLab, node: &str) {
    let mut session = lab.root(node);
    for sql in ["SET SESSION sql_log_bin=0", "ALTER TABLE rest.own ENCRYPTED=YES ENCRYPTION_KEY_ID=2"] {
        session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

#[test]
fn keys_of_a_source_and_its_replica_are_replaced_under_writers() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::REPLICAS);
    second_file(&lab, "n1");
    let refused = lab.run(&["plan", "rotate", "tables,logs", "--purge-binary-logs"]);
    assert_ne!(refused.code, Some(0), "{refused}");
    assert!(refused.stderr.contains("sealion enable tables,logs"), "{refused}");
    fill_more(&lab);
    fill_second_file(&lab, "n1");
    let caught_up = wait_for(SETTLED, || {
        let rows = lab.sql("n2").ok()?.query("SELECT COUNT(*) FROM rest.own").ok()?;
        (rows.scalar().as_deref() == Some("4000")).then_some(())
    });
    assert!(caught_up.is_some(), "n2 does not catch up");
    fill_elsewhere(&lab, "n1");
    let far = elsewhere(&lab, "n1");
    assert!(far.len() == 2 && far.iter().all(Option::is_some), "{far:?}");
    change(&lab, "enable");
    for node in ["n1", "n2"] {
        choose(&lab, node);
    }
    let words = ["n1", "n2"].map(|node| own_words(&lab, node));
    assert!(words[0]["rest.own"].contains('2') && words[0]["rest.plain"].is_empty(), "{:?}", words[0]);
    assert_eq!(key_ids(&lab, "n1"), ["1", "2"]);
    let rows = sums(&lab, "n1");
    // One half has a key in common with the other.
    for (half, why) in
        [("tables", "key 1 in common"), ("binlog", "key 1 in common"), ("tables,logs", "--purge-binary-logs")]
    {
        let refused = lab.run(&["plan", "rotate", half]);
        assert!(refused.code != Some(0) && refused.stderr.contains(why), "{refused}");
    }

    lab.now("a table that cannot be read before is named, and nothing begins");
    for sql in ["CREATE TABLE rest.gone (a INT)", "ALTER TABLE rest.gone DISCARD TABLESPACE"] {
        lab.root("n1").execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let refused = lab.run(&[&["plan"], &ROTATE[..]].concat());
    assert!(refused.code != Some(0) && refused.stderr.contains("rest.gone cannot be read"), "{refused}");
    lab.root("n1").execute("DROP TABLE rest.gone").expect("it goes");

    lab.now("rotate tables,logs, while applications write");
    let writers = RealWriters::start_on(&lab, &["n1"]);
    let before = options(&lab);
    let said = rotate_while_a_table_comes(&lab);
    for node in ["n1", "n2"] {
        let left = unexplained(readable(&lab, node));
        assert!(left.is_empty(), "{node}: {left:?}\n{said}");
        assert_eq!(key_ids(&lab, node), ["1", "2"], "{node}");
        assert_eq!(key_dirs(&lab, node), ["data-keys-3"], "{node}");
        let copies = opened(&lab, node);
        let (all, of) = copies["3"];
        assert!(all == of && of > 0, "{node}: {copies:?}");
        // What the old keys opened they open no more, on whichever file they are tried.
        assert_eq!(copies["1"].0, 0, "{node}: {copies:?}");
        assert_eq!(copies["2"].0, 0, "{node}: {copies:?}");
    }
    // Encrypted, or zero: freed pages may all have been scrubbed by now.
    let (_, plain, unknown) = in_second_file(&lab, "n1");
    assert_eq!((plain, unknown), (0, 0));
    assert_eq!(["n1", "n2"].map(|node| own_words(&lab, node)), words);
    assert_eq!(sums(&lab, "n1"), rows);
    assert_eq!(elsewhere(&lab, "n1"), far);
    assert_ne!(options(&lab), before, "its key file has another name");
    assert!(said.contains("encrypted pages and files by key: key 1: "), "{said}");

    lab.now("no undo of it, since binary logs were purged");
    lab.run(&["undo"]).exits(6);
    assert_eq!(key_dirs(&lab, "n1"), ["data-keys-3"]);

    let outcome = writers.stop_and_audit();
    eprintln!("    {} acknowledged, 0 lost, {} failed", outcome.acknowledged, outcome.failed);
    assert_eq!(sums(&lab, "n1"), rows);
    for table in ["plain", "parts", "texts", "aria", "own"] {
        for node in ["n1", "n2"] {
            let sql = format!("CHECK TABLE rest.{table} EXTENDED");
            let checked = lab.sql(node).expect("it answers").query(&sql).expect("it checks");
            assert_eq!(checked.text(0, "Msg_text").as_deref(), Some("OK"), "{node} {table}");
        }
    }
}

/// Moments of a rotation, each a step that can be cut off.
const MOMENTS: &[&str] = &[
    "K0:acting",
    "K1:verifying",
    "K2.n1:acting",
    "K4.n1:acting",
    "K5.n1:acting",
    "K5.n1:verifying",
    "K6.n1:acting",
    "K7.n1:acting",
    "K8.n1:acting",
    "K8l.n1:acting",
    "K9.n1:verifying",
    "K10.n1:acting",
    "K10.n1:verifying",
    "K12.n1:acting",
    "K13.n1:acting",
    "K14.n1:acting",
    "K16.n1:acting",
    "K16.n1:verifying",
    "K18.n1:verifying",
    "K19.n1:acting",
    "K20.n1:acting",
    "closing",
];

#[test]
fn deep_a_rotation_killed_in_any_step_ends_either_way_and_loses_no_row() {
    if !is_deep() {
        eprintln!("only with SEALION_DEEP=1 (make deep)");
        return;
    }
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec { words: &["replicas", "--nodes", "1"], nodes: 1 });
    fill_more(&lab);
    change(&lab, "enable");
    choose(&lab, "n1");
    let (rows, words) = (sums(&lab, "n1"), own_words(&lab, "n1"));
    lab.now("rotated, disabled, enabled: the newest keys are taken again");
    rotate(&lab);
    assert_eq!(key_dirs(&lab, "n1"), ["data-keys-3"]);
    change(&lab, "disable");
    change(&lab, "enable");
    assert_eq!(key_dirs(&lab, "n1"), ["data-keys-3"]);
    choose(&lab, "n1");
    for (nth, moment) in MOMENTS.iter().enumerate().filter(|(_, moment)| is_wished(moment)) {
        for goes_back in [nth % 2 == 0, nth % 2 == 1] {
            // Each moment with the server killed too in one of its directions, and without in the other.
            let kills_server = goes_back == (nth % 3 == 0);
            lab.now(format!("killed at {moment}, the server too: {kills_server}, then back: {goes_back}"));
            let hash = lab.plan_hash_of(&ROTATE);
            let mut change = lab.start(&[&ROTATE[..], &["--yes", &hash[..12]]].concat(), Some(moment));
            assert!(
                change.says(&format!("held at {moment} "), HELD),
                "{moment}: {}",
                lab.ended(change.kill())
            );
            if kills_server {
                lab.kill_node("n1");
            }
            let said = lab.ended(change.kill());
            assert_eq!(said.code, None, "SIGKILL ended it\n{said}");
            if kills_server {
                lab.lab(&["start", "n1"]).exits(0);
            }
            let purged =
                MOMENTS.iter().position(|one| *one == "K8l.n1:acting").is_some_and(|from| nth >= from);
            if goes_back && purged {
                lab.run_for(&["undo"], &[], ROTATED).exits(6);
            }
            let way = if goes_back && !purged { "undo" } else { "resume" };
            lab.run_for(&[way], &[], ROTATED).exits(0);
            assert_eq!(sums(&lab, "n1"), rows, "{moment}");
            assert_eq!(own_words(&lab, "n1"), words, "{moment}");
            let left = unexplained(readable(&lab, "n1"));
            assert!(left.is_empty(), "{moment}: {left:?}");
            assert_eq!(key_dirs(&lab, "n1").len(), 1, "{moment}");
        }
    }
}
