//! What others see of a migration from MySQL to MariaDB: who listens on its links, who reads the files on the way, and an application that
//! writes through the cutover. And what was done to the source meanwhile.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use capture::Canary;
use net::{Client, ConnectOptions, Endpoint};
use serde_json::Value;
use testbed::real::bundled::Bundled;
use testbed::real::{Program, lab_slot, wait_for};

use crate::lab_migrate_mysql::{Pair, ROUTE, SOURCE_PORT, TARGET_PORT};

const UP: Duration = Duration::from_secs(60);
const WHOLE: Duration = Duration::from_secs(300);
/// Of the application: its rows in shop.parent.
const FIRST_ID: u64 = 1_000_000;

fn canary(number: u8) -> Canary {
    let mut bytes = [number; 16];
    bytes[15] = 0x3c;
    Canary::new(bytes)
}

fn one_value(server: &Bundled, sql: &str) -> String {
    server.sql().query(sql).unwrap().scalar().unwrap_or_default().into_owned()
}

/// Files below `dir` that hold one of these.
fn files_with(dir: &Path, canaries: &[&Canary]) -> Vec<String> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                dirs.push(entry.path());
            } else if kind.is_file() {
                let bytes = std::fs::read(entry.path()).unwrap_or_default();
                let has = |canary: &&&Canary| {
                    let token = canary.token().as_bytes();
                    bytes.windows(token.len()).any(|part| part == token)
                };
                if canaries.iter().any(|canary| has(&canary)) {
                    found.push(entry.path().display().to_string());
                }
            }
        }
    }
    found
}

/// Over TCP, as between machines.
fn over_tls(pair: &Pair) {
    for (server, port, name) in
        [(&pair.source, SOURCE_PORT, "from.cnf"), (&pair.target, TARGET_PORT, "to.cnf")]
    {
        server.run(&[
            "CREATE USER mover@'%' IDENTIFIED BY 'of the mover' REQUIRE SSL",
            "GRANT ALL ON *.* TO mover@'%' WITH GRANT OPTION",
        ]);
        let text = format!(
            "[client]\nuser=mover\npassword=of the mover\nhost=127.0.0.1\nport={port}\nssl-mode=VERIFY_IDENTITY\nssl-ca={}\n",
            server.dir.join("cert.pem").display()
        );
        std::fs::write(pair.lab.home().join(name), text).unwrap();
    }
}

/// An application that knows both servers: it goes to the target when the source takes nothing more. How long nobody took a row from it,
/// and how many were acknowledged.
fn through_the_cutover(
    [source, target]: &[ConnectOptions; 2],
    over: &AtomicBool,
    acknowledged: &AtomicU64,
) -> Duration {
    let mut app = Client::connect(source).unwrap();
    let (mut last, mut is_moved) = (Instant::now(), false);
    loop {
        let at = acknowledged.load(Ordering::Relaxed);
        match app.execute(&format!("INSERT INTO shop.parent VALUES ({})", FIRST_ID + at)) {
            Ok(_) => {
                acknowledged.fetch_add(1, Ordering::Relaxed);
                if is_moved {
                    return last.elapsed();
                }
                last = Instant::now();
                std::thread::sleep(Duration::from_millis(1));
            }
            // Source: error 1290 of both: the server is read-only.
            Err(net::NetError::Refused { code: 1290, .. }) => {
                if !is_moved {
                    app = Client::connect(target).unwrap();
                    is_moved = true;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(error) => panic!("{error}"),
        }
        if over.load(Ordering::Relaxed) {
            return Duration::MAX;
        }
    }
}

#[test]
fn no_row_is_in_clear_on_the_way_from_mysql_and_the_window_is_an_applications_own() {
    let _alone = lab_slot();
    let pair = Pair::up();
    over_tls(&pair);
    let [copied, followed, control] = [0x51, 0x52, 0x53].map(canary);
    let put = |canary: &Canary| format!("INSERT INTO shop.t (a) VALUES ('{}')", canary.token());
    pair.source.run(&[&put(&copied)]);
    let temporary = pair.lab.home().join("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let migrate = |words: &[&str]| {
        let mut command = pair.lab.command(&["lab", "exec", "--", "sealion", "migrate"]);
        command.args(words).args(["--state-dir", "state"]).env("TMPDIR", &temporary);
        Program::start(command).finish(WHOLE)
    };
    let ports = [SOURCE_PORT, TARGET_PORT].map(|port| port.to_string());
    let sniff =
        ["prove", "sniff", "--iface", "lo", "--port", &ports[0], "--port", &ports[1], "--format", "json"];
    let mut sniffer = pair.lab.start(&sniff, None);
    assert!(sniffer.says("listening", Duration::from_secs(30)), "{}", sniffer.stderr());

    let hash = pair.hash();
    migrate(&[&["run", "--until", "verify"], &ROUTE[..], &["--yes", &hash]].concat()).exits(0);
    pair.source.run(&[&put(&followed)]);
    migrate(&["verify"]).exits(0);
    let nowhere = |when: &str| {
        for dir in [
            pair.target.dir.clone(),
            pair.source.dir.join("tmp"),
            temporary.clone(),
            pair.lab.home().join("state"),
        ] {
            let found = files_with(&dir, &[&copied, &followed]);
            assert!(found.is_empty(), "{when}: {found:?}");
        }
        // Its own files are in the clear, so the search could have found them.
        assert!(!files_with(&pair.source.dir.join("data"), &[&copied]).is_empty(), "{when}");
        assert!(!files_with(&pair.source.dir.join("data"), &[&followed]).is_empty(), "{when}");
    };
    nowhere("while it follows");

    let (over, acknowledged) = (AtomicBool::new(false), AtomicU64::new(0));
    let logins = [&pair.source, &pair.target]
        .map(|server| ConnectOptions::new(Endpoint::unix(server.dir.join("socket")), "app"));
    let window = std::thread::scope(|scope| {
        let app = scope.spawn(|| through_the_cutover(&logins, &over, &acknowledged));
        let cut_over = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let began = wait_for(UP, || (acknowledged.load(Ordering::Relaxed) > 10).then_some(()));
            assert!(began.is_some(), "nobody writes");
            let said = migrate(&["cutover", "--yes", &hash]).exits(0);
            assert!(wait_for(UP, || app.is_finished().then_some(())).is_some(), "no row was taken: {said}");
            said
        }));
        over.store(true, Ordering::Relaxed);
        let said = cut_over.unwrap_or_else(|failure| std::panic::resume_unwind(failure));
        let told =
            said.stderr.lines().find(|line| line.contains("could write to neither")).unwrap_or_default();
        eprintln!("sealion: {}", told.trim());
        app.join().unwrap()
    });
    let acknowledged = acknowledged.into_inner();
    eprintln!("an application: {} ms between two rows; {acknowledged} acknowledged", window.as_millis());
    let there = format!(
        "SELECT COUNT(*) FROM shop.parent WHERE id BETWEEN {FIRST_ID} AND {}",
        FIRST_ID + acknowledged - 1
    );
    assert_eq!(one_value(&pair.target, &there), acknowledged.to_string(), "acknowledged, and not there");
    nowhere("behind the cutover");

    // Who speaks in the clear is read.
    pair.target.run(&["CREATE USER clear@'%' IDENTIFIED BY 'x'"]);
    let mut command = pair.lab.command(&["lab", "exec", "--"]);
    let (head, tail) = control.token().split_at(12);
    command
        .args([
            "mariadb",
            "--no-defaults",
            "--protocol=tcp",
            "-h127.0.0.1",
            "-uclear",
            "--skip-ssl",
            "-P",
            &ports[1],
            "-e",
        ])
        .arg(format!("SELECT CONCAT('{head}', '{tail}')"))
        .env("MYSQL_PWD", "x");
    Program::start(command).finish(UP).exits(0);
    let report = sniffer.interrupt(UP).exits(0).json();
    let found = report["canaries"].to_string();
    assert!(found.contains(control.tag()), "{report:#}");
    assert_eq!(report["doubts"].as_array().map(Vec::len), Some(0), "{:#}", report["doubts"]);
    for canary in [&copied, &followed] {
        assert!(!found.contains(canary.tag()), "{found}");
    }
    for port in &ports {
        let end = format!(":{port}");
        let all = report["connections"].as_array().unwrap().iter();
        let ours: Vec<&Value> = all
            .filter(|one| {
                one["is_tls"] == true && one["server"].as_str().is_some_and(|it| it.ends_with(&end))
            })
            .collect();
        assert!(!ours.is_empty(), "nobody spoke TLS with {port}: {report:#}");
        assert!(ours.iter().all(|one| one["clear_bytes_in_tls"] == 0), "{ours:#?}");
    }
}

/// Each is right or refused: never fewer rows without a word.
#[test]
fn traps_of_a_mysql_source_are_passed_or_named() {
    let _alone = lab_slot();
    let pair = Pair::up();
    pair.source.run(&[
        "SET GLOBAL binlog_row_image = MINIMAL",
        "CREATE TABLE shop.goes (id INT PRIMARY KEY)",
        "CREATE TABLE shop.renames (id INT PRIMARY KEY, a VARCHAR(9), f FLOAT)",
        "INSERT INTO shop.renames VALUES (1, 'a', 0.1), (2, 'b', 0.2), (3, NULL, NULL)",
    ]);
    let hash = pair.hash();
    let run = [&["run", "--until", "follow"], &ROUTE[..], &["--yes", &hash]].concat();
    pair.while_written(|| {
        pair.migrate(&run).exits(0);
        pair.source.run(&[
            "UPDATE shop.t SET tt = CONCAT(tt, '!'), dt = dt WHERE id BETWEEN 8000 AND 8100",
            "UPDATE shop.renames SET a = 'other' WHERE id = 2",
            "RENAME TABLE shop.renames TO shop.renamed",
            "DELETE FROM shop.renamed WHERE id = 1",
            "INSERT INTO shop.renamed VALUES (4, 'behind', 1e-30)",
        ]);
        // It stops, and no column says an error.
        pair.target.run(&["STOP SLAVE SQL_THREAD"]);
        pair.source.run(&["INSERT INTO shop.renamed VALUES (5, 'stood', NULL)"]);
        let equal = pair.migrate(&["verify"]).exits(0);
        assert!(equal.stdout.contains("are equal at"), "{equal}");
    });
    let all = "SELECT GROUP_CONCAT(CONCAT_WS(' ', id, a) ORDER BY id) FROM shop.renamed";
    for server in [&pair.source, &pair.target] {
        assert_eq!(one_value(server, all), "2 other,3,4 behind,5 stood");
    }
    // Out of what is migrated: the target is not told by a filter of names what became of it.
    pair.source.run(&["RENAME TABLE shop.goes TO other.goes"]);
    let refused = pair.migrate(&["verify"]);
    assert!(refused.code != Some(0) && !refused.stdout.contains("equal"), "{refused}");
    let stopped = pair.migrate(&["cutover", "--yes", &hash]).exits(4);
    assert!(stopped.stderr.contains("goes") || stopped.stderr.contains("not follow"), "{stopped}");
    pair.migrate(&["rollback", "--yes", &hash]).exits(0);
    pair.source.run(&["RENAME TABLE other.goes TO shop.goes"]);

    // Begun anew, and by now further than it was: positions say nothing of it.
    for more_than_before in [false, true] {
        pair.source.run(&["RESET BINARY LOGS AND GTIDS"]);
        let hash = pair.hash();
        pair.migrate(&[&["run", "--until", "verify"], &ROUTE[..], &["--yes", &hash]].concat()).exits(0);
        pair.source.run(&["INSERT INTO shop.goes VALUES (1)", "RESET BINARY LOGS AND GTIDS"]);
        if more_than_before {
            pair.source.run(&["DELETE FROM shop.goes"]);
            (0..50).for_each(|at| pair.source.run(&[&format!("INSERT INTO shop.goes VALUES ({at})")]));
        }
        let refused = pair.migrate(&["verify"]);
        eprintln!("{more_than_before}: {}", refused.stderr);
        assert!(refused.code != Some(0) && !refused.stdout.contains("equal"), "{refused}");
        let stopped = pair.migrate(&["cutover", "--yes", &hash]);
        eprintln!("{more_than_before}: {}", stopped.stderr);
        assert_eq!(stopped.code, Some(4), "{stopped}");
        pair.migrate(&["rollback", "--yes", &hash]).exits(0);
        assert_eq!(one_value(&pair.source, "SELECT @@read_only"), "0");
        pair.source.run(&["DELETE FROM shop.goes"]);
    }
}
