//! A copy in slices, killed in the middle: what is equal stays, what differs is copied again.
#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use testbed::real::bundled::Bundled;
use testbed::real::lab_slot;

use crate::lab_migrate::Pair;

const BEGUN: Duration = Duration::from_secs(120);
const SLICES: [&str; 4] = ["--slice-mb", "1", "--sessions", "3"];

fn number(server: &Bundled, sql: &str) -> u64 {
    let mut session = server.sql();
    // Before it is made there is none.
    session.query(sql).ok().and_then(|rows| rows.scalar()?.parse().ok()).unwrap_or(0)
}

fn rows(server: &Bundled, sql: &str) -> Vec<Vec<Option<Vec<u8>>>> {
    let rows = server.sql().query(sql).unwrap();
    let cells = |row: net::RowRef<'_>| {
        (0..rows.columns.len()).map(|at| row.bytes_at(at).map(<[u8]>::to_vec)).collect()
    };
    rows.iter().map(cells).collect()
}

#[test]
fn a_copy_that_was_killed_goes_on_and_keeps_only_what_is_equal() {
    let _alone = lab_slot();
    let pair = Pair::up();
    pair.source.run(&[
        "CREATE TABLE shop.big (k BIGINT UNSIGNED AUTO_INCREMENT, n INT, a VARCHAR(250) NOT NULL, b INT, PRIMARY KEY (k, n), UNIQUE KEY u (b), \
         KEY a (a), KEY nb (n, b)) AUTO_INCREMENT=2000000",
        "INSERT INTO shop.big SELECT IF(seq % 7, seq, 18446744073709000000 + seq), seq % 3, REPEAT(MD5(seq), 7), seq FROM mysql.seq_1_to_60000",
        "CREATE TABLE shop.named (a VARCHAR(40) PRIMARY KEY, b VARCHAR(250))",
        "INSERT INTO shop.named SELECT MD5(seq), REPEAT(MD5(seq), 7) FROM mysql.seq_1_to_20000",
        "CREATE TABLE shop.said (a INT)",
        "CREATE TABLE shop.large (a INT PRIMARY KEY, b LONGBLOB)",
        "INSERT INTO shop.large SELECT seq, REPEAT(MD5(seq), 200000) FROM mysql.seq_1_to_2",
        "CREATE TABLE shop.chosen (a INT PRIMARY KEY, e ENUM('', 'x'))",
        "INSERT IGNORE INTO shop.chosen VALUES (1, ''), (2, 'none of these')",
        "CREATE TRIGGER shop.of_big AFTER INSERT ON shop.big FOR EACH ROW INSERT INTO shop.said VALUES (NEW.b)",
        "ANALYZE TABLE shop.big",
    ]);
    // Less than a row has.
    pair.target.run(&["SET GLOBAL max_allowed_packet = 1048576"]);
    let words = [&["migrate", "run"], &Pair::ROUTE[..], &SLICES].concat();
    let plan =
        pair.lab.run(&[&["--format", "json", "migrate", "plan"], &words[2..]].concat()).exits(0).json();
    let hash: String = plan["state_hash"].as_str().unwrap().chars().take(12).collect();
    let words = [&words[..], &["--until", "verify", "--yes", &hash, "--state-dir", "state"]].concat();

    let held = pair.lab.start(&words, None);
    let until = Instant::now() + BEGUN;
    while number(&pair.target, "SELECT COUNT(*) FROM shop.big") < 12_000 {
        assert!(Instant::now() < until, "nothing is copied: {}", held.stderr());
        std::thread::sleep(Duration::from_millis(10));
    }
    held.kill();
    let begun = number(&pair.target, "SELECT COUNT(*) FROM shop.big");
    assert!((12_000..60_000).contains(&begun), "{begun} of 60000 rows were copied before it was killed");
    assert_eq!(
        number(
            &pair.target,
            "SELECT COUNT(*) FROM information_schema.STATISTICS WHERE TABLE_NAME = 'big' AND INDEX_NAME = 'a'"
        ),
        0
    );
    // What the target has is believed for its rows alone, and the source goes on.
    pair.target.run(&[
        "UPDATE shop.big SET a = 'by another hand' WHERE k = 3",
        "DELETE FROM shop.big WHERE k = 4",
        "INSERT INTO shop.big VALUES (0, 9, 'not of the source', -1)",
    ]);
    pair.source.run(&[
        "UPDATE shop.big SET a = 'later' WHERE k = 5",
        "DELETE FROM shop.big WHERE k = 6",
        "INSERT INTO shop.big VALUES (7000000, 1, 'new', 7000000)",
        "DROP TABLE shop.nokey",
        "ALTER DATABASE shop COLLATE latin1_german1_ci",
        // One that was made when its schema had another collation does not move.
        "DROP TRIGGER shop.of_big",
        "CREATE TRIGGER shop.of_big AFTER INSERT ON shop.big FOR EACH ROW INSERT INTO shop.said VALUES (NEW.b)",
    ]);

    let said = pair.migrate(&["resume", "--yes", &hash]);
    // A value that is no member is read as '', which is one.
    assert!(
        said.code == Some(4) && said.stderr.contains("shop.chosen (2 and 2 rows): a=2 (differs)"),
        "{said}"
    );
    pair.source.run(&["UPDATE shop.chosen SET e = 'x' WHERE a = 2"]);
    pair.migrate(&["resume", "--yes", &hash]).exits(0);
    let kept: u64 = said
        .stderr
        .split_once(" of them were there already, and equal")
        .and_then(|(before, _)| before.rsplit_once("; ")?.1.parse().ok())
        .unwrap_or_else(|| panic!("nothing was kept: {said}"));
    assert!(kept > 0 && kept < begun + 60_000, "{kept}: {said}");
    for sql in [
        "SELECT * FROM shop.big ORDER BY k, n",
        "SELECT * FROM shop.named ORDER BY a",
        "SELECT * FROM shop.said ORDER BY a",
        "SELECT * FROM shop.large ORDER BY a",
    ] {
        assert_eq!(rows(&pair.source, sql), rows(&pair.target, sql), "{sql}");
    }
    assert_eq!(
        number(&pair.target, "SELECT COUNT(*) FROM shop.said"),
        1,
        "its trigger has fired for rows that were copied"
    );
    let made = |server: &Bundled| {
        let rows = server.sql().query("SHOW CREATE TABLE shop.big").unwrap();
        let made = rows.first().unwrap().at(1).unwrap().into_owned();
        let (before, rest) = made.split_once(" AUTO_INCREMENT=").unwrap();
        format!("{before}{}", rest.trim_start_matches(|one: char| one.is_ascii_digit()))
    };
    assert_eq!(made(&pair.source), made(&pair.target));
    pair.target.run(&["SET SESSION sql_log_bin = 0", "ALTER DATABASE shop CHARACTER SET utf8mb4"]);
    let said = pair.migrate(&["verify"]);
    assert!(said.code != Some(0) && said.stderr.contains("has another default character set"), "{said}");
    pair.target.run(&["SET SESSION sql_log_bin = 0", "ALTER DATABASE shop COLLATE latin1_german1_ci"]);
    // Neither value has a hash that a server could make in a cast.
    pair.target.run(&["UPDATE shop.large SET b = NULL WHERE a = 1"]);
    let said = pair.migrate(&["verify"]);
    assert!(
        said.code != Some(0) && said.stderr.contains("shop.large (2 and 2 rows): a=1 (differs)"),
        "{said}"
    );
    pair.migrate(&["rollback", "--yes", &hash]).exits(0);
}
