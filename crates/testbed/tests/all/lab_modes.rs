//! Servers whose global variables and `init_connect` cut, pad and date what a session reads.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use net::{Client, ConnectOptions, Endpoint};
use serde_json::Value;
use testbed::real::bundled::Bundled;
use testbed::real::{LabSpec, RealLab, lab_slot};

const PORT: u16 = 14_926;
const ROWS: usize = 500;
/// What each server takes, whatever its flavour.
const HOSTILE: [&str; 12] = [
    "SET GLOBAL sql_select_limit = 2",
    "SET GLOBAL max_join_size = 1",
    "SET GLOBAL sql_mode = 'PAD_CHAR_TO_FULL_LENGTH,ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,HIGH_NOT_PRECEDENCE'",
    "SET GLOBAL group_concat_max_len = 4",
    "SET GLOBAL time_zone = '+13:00'",
    "SET GLOBAL autocommit = 0",
    "SET GLOBAL max_sort_length = 64",
    "SET GLOBAL div_precision_increment = 0",
    "SET GLOBAL lc_time_names = 'de_DE'",
    "SET GLOBAL completion_type = 'CHAIN'",
    "SET GLOBAL collation_connection = 'latin1_german2_ci'",
    "SET GLOBAL init_connect = 'SET SESSION sql_select_limit = 1, sql_safe_updates = 1, sql_auto_is_null = 1, \
     sql_quote_show_create = 0, character_set_results = latin1, group_concat_max_len = 4, autocommit = 0'",
];

fn login(path: &Path, text: &str) {
    std::fs::write(path, format!("[client]\n{text}")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

/// What a check says: rule, subject and verdict.
fn verdicts(check: &Value) -> BTreeSet<String> {
    let findings = check["findings"].as_array().expect("findings");
    findings.iter().map(|one| format!("{} {} {}", one["rule"], one["subject"], one["verdict"])).collect()
}

#[test]
fn hostile_globals_change_nothing_that_is_read() {
    let _slot = lab_slot();
    let lab = RealLab::up(LabSpec::TWO_NODES);
    let mut root = lab.root("n1");
    for sql in [
        "CREATE DATABASE shop".to_owned(),
        "CREATE TABLE shop.orders (id INT PRIMARY KEY, at TIMESTAMP)".to_owned(),
        format!("INSERT INTO shop.orders SELECT seq, FROM_UNIXTIME(1700000000) FROM mysql.seq_1_to_{ROWS}"),
        "CREATE USER share@localhost IDENTIFIED BY 'of the owner'".to_owned(),
        "GRANT SELECT ON shop.* TO share@localhost".to_owned(),
    ] {
        root.execute(&sql).unwrap();
    }
    let status = || verdicts(&lab.run(&["status", "--look-ms", "0", "--format", "json"]).exits(0).json());
    let audit = || {
        let said = lab.run(&["audit", "--format", "json"]);
        verdicts(&said.json())
    };
    let before = (status(), audit());
    assert!(before.0.len() > 5 && before.1.len() > 20, "{before:?}");
    for node in ["n1", "n2"] {
        let mut root = lab.root(node);
        for sql in HOSTILE {
            root.execute(sql).unwrap();
        }
    }
    assert_eq!(status(), before.0);
    assert_eq!(audit(), before.1);

    lab.now("a table that is shared is shared whole");
    login(
        &lab.home().join("db.cnf"),
        &format!(
            "user=share\npassword=of the owner\nsocket={}\n",
            lab.file().node("n1").unwrap().socket().display()
        ),
    );
    lab.run(&["share", "init", "own"]).exits(0);
    let words = ["share", "create", "--keys", "own", "--table", "shop.orders", "--out", "o.share"];
    let made = lab.run(&[&words[..], &["--defaults-file", "db.cnf"]].concat()).exits(0);
    assert!(made.stdout.contains(&format!("{ROWS} rows")), "{made}");
}

#[test]
fn a_session_has_its_own_modes_on_each_server() {
    let _slot = lab_slot();
    let lab = RealLab::up(LabSpec::MARIADB);
    for (name, port, more) in [
        (
            "mysql-9.7",
            PORT,
            &[
                "SET GLOBAL max_execution_time = 1",
                "SET GLOBAL transaction_isolation = 'READ-UNCOMMITTED'",
                "SET GLOBAL print_identified_with_as_hex = ON",
                "SET GLOBAL show_gipk_in_create_table_and_information_schema = OFF",
            ][..],
        ),
        (
            "mariadb-11.8",
            PORT + 1,
            &[
                "SET GLOBAL max_statement_time = 0.001",
                "SET GLOBAL transaction_isolation = 'READ-UNCOMMITTED'",
                "SET GLOBAL system_versioning_asof = '2020-01-01 00:00:00'",
                "SET GLOBAL old_mode = 'ZERO_DATE_TIME_CAST'",
                "SET GLOBAL sql_if_exists = ON",
            ],
        ),
    ] {
        let options: &[&str] =
            if name.starts_with("mysql") { &["--mysqlx=OFF", "--server-id=1"] } else { &["--server-id=2"] };
        let server = Bundled::start(&lab, name, port, options);
        server.run(&[
            "CREATE DATABASE shop",
            "CREATE TABLE shop.t (id INT PRIMARY KEY, c CHAR(10), at TIMESTAMP NULL)",
            "INSERT INTO shop.t VALUES (1, 'a', FROM_UNIXTIME(1700000000)), (2, 'b', NULL), (3, 'c', NULL)",
            "CREATE USER app@localhost IDENTIFIED BY ''",
            "GRANT ALL ON shop.* TO app@localhost",
        ]);
        server.run(&HOSTILE);
        server.run(more);
        // For this account init_connect is run.
        let options = ConnectOptions::new(Endpoint::unix(server.dir.join("socket")), "app");
        let mut stranger = Client::connect(&options.clone().for_login_only()).unwrap();
        // The control: cut to one row, or refused for the rows that it would examine.
        let cut = stranger.query("SELECT id FROM shop.t");
        assert!(cut.as_ref().map_or(true, |rows| rows.len() == 1), "{name}: {cut:?}");
        let mut own = Client::connect(&options).unwrap();
        let rows = own.query("SELECT id, c, at FROM shop.t ORDER BY id").unwrap();
        assert_eq!(rows.len(), 3, "{name}");
        assert_eq!(rows.text(0, "c").as_deref(), Some("a"), "{name}");
        assert_eq!(rows.text(0, "at").as_deref(), Some("2023-11-14 22:13:20"), "{name}");
        let all = own.query("SELECT GROUP_CONCAT(id, '------') FROM shop.t").unwrap();
        assert_eq!(all.scalar().map(|text| text.len()), Some(23), "{name}");
        own.execute("UPDATE shop.t SET c = 'x'").unwrap();
        let seen = server.sql().query("SELECT COUNT(*) FROM shop.t WHERE c = 'x'").unwrap();
        assert_eq!(seen.scalar().as_deref(), Some("3"), "{name}: what is written is committed");
    }
}
