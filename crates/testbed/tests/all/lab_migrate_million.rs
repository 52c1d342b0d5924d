//! One wrong row among a million is named, from either source; with `SEALION_DEEP=1`.
#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use testbed::real::bundled::Bundled;
use testbed::real::{ProgramOutput, is_deep, lab_slot};

use crate::{lab_migrate, lab_migrate_mysql};

const ROWS: u32 = 1_000_000;
const FILLED_MAX: Duration = Duration::from_secs(600);

/// `rows` is a SELECT of one column `seq`.
fn fill(source: &Bundled, rows: &str) {
    let mut session = source.sql();
    session.set_io_timeout(FILLED_MAX).unwrap();
    for sql in [
        "SET SESSION sql_mode = ''",
        "USE shop",
        "CREATE TABLE million (id INT PRIMARY KEY, a VARCHAR(80), d DOUBLE, f FLOAT, n DECIMAL(20, 4))",
        &format!("INSERT INTO million {rows}"),
    ] {
        session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

fn is_named(target: &Bundled, migrate: &dyn Fn(&[&str]) -> ProgramOutput) {
    for (set, back) in [
        ("d = d + 1e-9", "d = id / 7e0"),
        ("a = CONCAT(a, ' ')", "a = CONCAT('row ', id)"),
        ("n = NULL", "n = id / 8"),
    ] {
        let write = |set: &str| {
            let update = format!("UPDATE shop.million SET {set} WHERE id = 765432");
            target.run(&["SET SESSION sql_log_bin = 0", &update]);
        };
        write(set);
        let began = Instant::now();
        let differ = migrate(&["verify"]).exits(6);
        let named = format!("shop.million ({ROWS} and {ROWS} rows): id=765432 (differs)");
        assert!(differ.stderr.contains(&named), "{set}: {differ}");
        eprintln!("{set}: named among {ROWS} rows after {:.1} s", began.elapsed().as_secs_f64());
        write(back);
    }
    migrate(&["verify"]).exits(0);
}

const OF_ROW: &str = "seq, CONCAT('row ', seq), seq / 7e0, seq / 3, seq / 8";

#[test]
fn a_wrong_row_among_a_million_is_named() {
    if !is_deep() {
        return;
    }
    let _alone = lab_slot();
    {
        let pair = lab_migrate::Pair::up();
        fill(&pair.source, &format!("SELECT {OF_ROW} FROM mysql.seq_1_to_{ROWS}"));
        let hash = pair.hash();
        let run = [&["run", "--until", "follow"], &lab_migrate::Pair::ROUTE[..], &["--yes", &hash]].concat();
        pair.migrate(&run).exits(0);
        is_named(&pair.target, &|words| pair.migrate(words));
    }
    let pair = lab_migrate_mysql::Pair::up();
    pair.source.run(&[&format!("SET GLOBAL cte_max_recursion_depth = {ROWS}")]);
    let rows = format!(
        "WITH RECURSIVE q AS (SELECT 1 AS seq UNION ALL SELECT seq + 1 FROM q WHERE seq < {ROWS}) SELECT {OF_ROW} FROM q"
    );
    fill(&pair.source, &rows);
    let hash = pair.hash();
    let run = [&["run", "--until", "follow"], &lab_migrate_mysql::ROUTE[..], &["--yes", &hash]].concat();
    pair.migrate(&run).exits(0);
    is_named(&pair.target, &|words| pair.migrate(words));
}
