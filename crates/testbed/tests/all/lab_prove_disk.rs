//! `prove disk` on real servers: without any encryption, where every canary must be found, and with all that the server
//! can encrypt. What it says of each artefact is the page docs/src/reference/at-rest-matrix.md.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use testbed::real::{lab_slot, need_servers, sealion, short_dir, wait_for};

use crate::lab_rest::{Alone, with_keyring};

/// Artefact and verdict, in the order of the report.
type Proofs = Vec<(String, String, String)>;

/// Small, so that what a server keeps in memory as long as it may is written out; only a lab may set them.
const SMALL: [&str; 12] = [
    "--innodb-buffer-pool-size=20M",
    "--innodb-max-dirty-pages-pct=0",
    "--innodb-max-dirty-pages-pct-lwm=0",
    "--loose-aria-pagecache-buffer-size=1M",
    "--binlog-cache-size=4096",
    "--log-bin=binlog",
    "--server-id=1",
    "--general-log=1",
    "--general-log-file=general.log",
    "--slow-query-log=1",
    "--slow-query-log-file=slow.log",
    "--loose-innodb-redo-log-capacity=64M",
];

fn prove(server: &Alone) -> Command {
    let mut command = Command::new(sealion());
    command
        .args([
            "prove",
            "disk",
            "--yes",
            "--format",
            "json",
            "--fill-mb",
            "48",
            "--wait",
            "60",
            "-u",
            "root",
            "-S",
        ])
        .arg(server.dir.join("socket"))
        .env("HOME", &server.dir);
    command
}

fn has_schema(server: &Alone) -> bool {
    let sql = "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'sealion_canary'";
    server.session().unwrap().query(sql).unwrap().scalar().unwrap() != "0"
}

fn json(said: &Output) -> Value {
    let text = String::from_utf8_lossy(&said.stderr);
    serde_json::from_slice(&said.stdout).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn proofs(server: &Alone) -> Proofs {
    let said = prove(server).output().unwrap();
    let whole = json(&said);
    println!("{whole:#}");
    // Some of it can always be read: no server encrypts its definitions and logs.
    assert_eq!(said.status.code(), Some(1), "{whole:#}");
    assert_eq!((&whole["is_written"], &whole["is_complete"]), (&true.into(), &true.into()));
    assert_eq!(whole["left_behind"].as_array().unwrap().len(), 0, "{whole:#}");
    assert!(!has_schema(server), "it is removed");
    let text = |one: &Value, key: &str| one[key].as_str().unwrap().to_owned();
    let rows = whole["artefacts"].as_array().unwrap().iter();
    rows.map(|one| {
        let is_readable = one["verdict"] == "readable";
        assert_eq!(one["files"].as_array().unwrap().is_empty(), !is_readable, "{one:#}");
        assert_eq!(one["cure"].is_null(), !is_readable, "{one:#}");
        (text(one, "id"), text(one, "name"), text(one, "verdict"))
    })
    .collect()
}

/// Ctrl-C in the middle of it: what was made is removed, and what was not tried is not proven.
fn is_clean_after_an_interrupt(server: &Alone) {
    let child = prove(server).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(Duration::from_secs(60), || has_schema(server).then_some(())).expect("it begins");
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGINT).unwrap();
    let whole = json(&child.wait_with_output().unwrap());
    assert_eq!(whole["is_complete"], false, "{whole:#}");
    assert!(!has_schema(server), "{whole:#}");
    let rows = whole["artefacts"].as_array().unwrap();
    assert!(rows.iter().any(|one| one["verdict"] == "not-proven"), "{whole:#}");
    assert!(rows.iter().all(|one| one["verdict"] != "not-readable"), "{whole:#}");
}

/// As on a replica: it is asked for what a SELECT leaves behind, and nothing else.
fn is_only_asked_where_it_takes_no_writes(server: &Alone) {
    server.run(&["SET GLOBAL read_only = ON"]);
    let mut child = prove(server).stdout(Stdio::piped()).spawn().unwrap();
    while child.try_wait().unwrap().is_none() {
        assert!(!has_schema(server));
        std::thread::sleep(Duration::from_millis(50));
    }
    let whole = json(&child.wait_with_output().unwrap());
    server.run(&["SET GLOBAL read_only = OFF"]);
    assert_eq!(whole["is_written"], false);
    for one in whole["artefacts"].as_array().unwrap() {
        let id = one["id"].as_str().unwrap();
        let wanted = if ["sort", "internal-temporary"].contains(&id) { "readable" } else { "not-proven" };
        assert_eq!(one["verdict"], wanted, "{one:#}");
    }
}

fn check(proofs: &Proofs, expected: &[(&str, &[&str])]) {
    let mut unlike = Vec::new();
    for (id, _, verdict) in proofs {
        let wanted =
            expected.iter().find(|(_, ids)| ids.contains(&id.as_str())).map_or("readable", |(word, _)| word);
        if wanted != verdict {
            unlike.push(format!("{id}: {verdict} instead of {wanted}"));
        }
    }
    assert!(unlike.is_empty(), "{unlike:#?}");
}

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/reference/at-rest-matrix.md")
}

/// The part of the page that this server fills, between its marks.
fn page_has(server: &str, title: &str, clear: &Proofs, encrypted: &Proofs) {
    let (from, to) = (format!("<!-- {server}: from here -->\n"), format!("<!-- {server}: to here -->\n"));
    let second: BTreeMap<&str, &str> =
        encrypted.iter().map(|(id, _, verdict)| (id.as_str(), verdict.as_str())).collect();
    let words = |verdict: &str| verdict.replace('-', " ");
    let mut rows =
        format!("{from}## {title}\n\n| artefact | no encryption | everything on |\n| --- | --- | --- |\n");
    for (id, name, verdict) in clear {
        rows += &format!("| {name} | {} | {} |\n", words(verdict), words(second[id.as_str()]));
    }
    rows += &to;
    let whole = std::fs::read_to_string(page()).unwrap();
    let (before, rest) = whole.split_once(&from).expect("the page has the marks of this server");
    let (there, after) = rest.split_once(&to).expect("the page has the marks of this server");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(page(), format!("{before}{rows}{after}")).unwrap();
        return;
    }
    assert_eq!(format!("{from}{there}{to}"), rows, "UPDATE_DOCS=1 rewrites the page");
}

#[test]
fn mariadb_is_proven_in_clear_and_encrypted() {
    need_servers();
    let _alone = lab_slot();
    let home = short_dir();
    let start = |dir: &str, more: &[String]| {
        let options: Vec<String> =
            SMALL.iter().map(|one| (*one).to_owned()).chain(more.iter().cloned()).collect();
        Alone::start("galera-10.11", &home.path().join(dir), &lab::bundle::cache_dir(), &options)
    };
    let server = start("c", &[]);
    let clear = proofs(&server);
    let absent: (&str, &[&str]) = ("not-there", &["galera-cache"]);
    check(&clear, &[absent]);
    is_only_asked_where_it_takes_no_writes(&server);
    is_clean_after_an_interrupt(&server);
    drop(server);

    let keys = home.path().join("keys");
    std::fs::write(&keys, format!("1;{}\n", "5e".repeat(32))).unwrap();
    std::fs::set_permissions(&keys, std::fs::Permissions::from_mode(0o600)).unwrap();
    let all: Vec<String> = [
        "--plugin-load-add=file_key_management",
        "--innodb-encrypt-tables=ON",
        "--innodb-encryption-threads=4",
        "--innodb-encrypt-log=ON",
        "--innodb-encrypt-temporary-tables=ON",
        "--encrypt-tmp-files=ON",
        "--encrypt-tmp-disk-tables=ON",
        "--aria-encrypt-tables=ON",
        "--encrypt-binlog=ON",
    ]
    .map(str::to_owned)
    .into_iter()
    .chain([format!("--loose-file-key-management-filename={}", keys.display())])
    .collect();
    let encrypted = proofs(&start("e", &all));
    let hidden = [
        "table",
        "undo",
        "redo",
        "binlog",
        "aria",
        "temporary",
        "temporary-other",
        "sort",
        "binlog-cache",
        "alter",
    ];
    check(&encrypted, &[absent, ("not-readable", &hidden)]);
    page_has("mariadb-10.11", "MariaDB 10.11.19", &clear, &encrypted);
}

#[test]
fn mysql_is_proven_in_clear_and_encrypted() {
    need_servers();
    let _alone = lab_slot();
    let home = short_dir();
    let cache = with_keyring(home.path());
    let options: Vec<String> =
        SMALL.iter().map(|one| (*one).to_owned()).chain(["--mysqlx=OFF".to_owned()]).collect();
    let absent: (&str, &[&str]) = ("not-there", &["galera-cache"]);
    let server = Alone::start("mysql-9.7", &home.path().join("c"), &cache, &options);
    let clear = proofs(&server);
    check(&clear, &[absent]);

    // On the same server: its undo is made anew, as its remedy has it.
    server.run(&[
        "SET GLOBAL innodb_undo_log_encrypt = ON",
        "SET GLOBAL innodb_redo_log_encrypt = ON",
        "SET GLOBAL binlog_encryption = ON",
        "SET GLOBAL default_table_encryption = ON",
        "ALTER TABLESPACE mysql ENCRYPTION = 'Y'",
        "FLUSH BINARY LOGS",
        "CREATE UNDO TABLESPACE one ADD DATAFILE 'one.ibu'",
        "CREATE UNDO TABLESPACE two ADD DATAFILE 'two.ibu'",
        "ALTER UNDO TABLESPACE innodb_undo_001 SET INACTIVE",
        "ALTER UNDO TABLESPACE innodb_undo_002 SET INACTIVE",
        "SET GLOBAL innodb_redo_log_capacity = 16777216",
    ]);
    let encrypted = proofs(&server);
    let hidden = ["table", "undo", "redo", "doublewrite", "dictionary", "binlog", "binlog-cache"];
    check(&encrypted, &[("not-there", &["galera-cache", "myisam", "csv"]), ("not-readable", &hidden)]);
    page_has("mysql-9.7", "MySQL 9.7.4", &clear, &encrypted);
}
