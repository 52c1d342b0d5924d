//! Views, routines, triggers and events that move with their schema: none is lost, none fires twice, and events run on one server at a time.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use testbed::real::bundled::Bundled;
use testbed::real::{lab_slot, wait_for};

use crate::lab_migrate::{Pair, use_least_accounts};

const UP: Duration = Duration::from_secs(60);

fn one_value(server: &Bundled, sql: &str) -> String {
    server.sql().query(sql).unwrap().scalar().unwrap_or_default().into_owned()
}

fn events(server: &Bundled) -> String {
    one_value(
        server,
        "SELECT GROUP_CONCAT(CONCAT(EVENT_NAME, ' ', STATUS) ORDER BY EVENT_NAME) FROM information_schema.EVENTS \
         WHERE EVENT_SCHEMA = 'shop'",
    )
}

/// Each insert into shop.parent has written one row here.
fn fired_once(server: &Bundled) {
    let count = |sql| one_value(server, sql);
    let written = count("SELECT COUNT(*) FROM shop.parent WHERE id >= 100");
    assert_eq!(count("SELECT COUNT(*) FROM shop.log"), written);
    assert_eq!(count("SELECT COUNT(DISTINCT parent) FROM shop.log"), written);
}

/// Who has written the latest tick of an event.
fn ticks_of(server: &Bundled, server_id: u8) -> bool {
    let count = format!("SELECT COUNT(*) FROM shop.ticks WHERE server = {server_id}");
    let before = one_value(server, &count);
    wait_for(UP, || (one_value(server, &count) != before).then_some(())).is_some()
}

#[test]
fn views_routines_triggers_and_events_move_and_act_on_one_server_at_a_time() {
    let _alone = lab_slot();
    let pair = Pair::up();
    use_least_accounts(&pair);
    pair.source.run(&[
        "CREATE USER ghost@localhost",
        "GRANT ALL ON shop.* TO ghost@localhost",
        "CREATE TABLE shop.log (id INT AUTO_INCREMENT PRIMARY KEY, parent INT, note VARCHAR(100) CHARACTER SET utf8mb4)",
        "CREATE TABLE shop.ticks (id INT AUTO_INCREMENT PRIMARY KEY, server INT)",
        "USE shop",
        "CREATE FUNCTION twice(a INT) RETURNS INT DETERMINISTIC RETURN a * 2",
        "SET SESSION sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT'",
        "CREATE DEFINER=app@localhost FUNCTION noted(a VARCHAR(40)) RETURNS VARCHAR(60) CHARSET utf8mb4 DETERMINISTIC \
         COMMENT 'it''s; ü' RETURN '»' || a || '«'",
        "SET SESSION sql_mode = DEFAULT",
        "CREATE DEFINER=ghost@localhost PROCEDURE counted(OUT n INT) SQL SECURITY INVOKER BEGIN SELECT COUNT(*) INTO n FROM shop.parent; END",
        // Named so that it is made before what it needs.
        "CREATE VIEW z_base AS SELECT id, twice(id) AS two, noted('x') AS x FROM parent",
        "CREATE DEFINER=app@localhost SQL SECURITY INVOKER VIEW a_view AS SELECT two FROM z_base WHERE two > 1 WITH CASCADED CHECK OPTION",
        "CREATE TRIGGER first_one AFTER INSERT ON parent FOR EACH ROW INSERT INTO log (parent, note) VALUES (NEW.id, noted('first'))",
        "CREATE TRIGGER second_one AFTER INSERT ON parent FOR EACH ROW FOLLOWS first_one \
         UPDATE log SET note = CONCAT(note, ', second') WHERE parent = NEW.id",
        "CREATE EVENT tick ON SCHEDULE EVERY 1 SECOND DO INSERT INTO shop.ticks (server) VALUES (@@server_id)",
        "CREATE EVENT sleeps ON SCHEDULE EVERY 1 DAY DISABLE COMMENT 'ENABLE' DO DELETE FROM shop.log",
        "SET GLOBAL event_scheduler = ON",
        "INSERT INTO parent VALUES (100)",
    ]);
    // What would let them act twice, or not at all, is named before anything is done.
    let plan = || pair.lab.run(&[&["migrate", "plan"], &Pair::ROUTE[..]].concat());
    pair.target.run(&["SET GLOBAL slave_run_triggers_for_rbr = YES"]);
    let refused = plan().exits(6);
    assert!(refused.stderr.contains("2 problems"), "{refused}");
    for what in ["triggers of the target fire for rows", "event_scheduler is ON on the source"] {
        assert!(refused.stderr.contains(what), "{what}: {refused}");
    }
    pair.target.run(&["SET GLOBAL slave_run_triggers_for_rbr = NO", "SET GLOBAL event_scheduler = ON"]);
    let said = plan().exits(0);
    for what in
        ["2 views, 3 routines, 2 triggers, 2 events move too", "ghost@localhost", "event_scheduler=OFF"]
    {
        assert!(said.stdout.contains(what), "{what}: {said}");
    }

    let hash = pair.hash();
    let run = [&["run", "--until", "follow"], &Pair::ROUTE[..], &["--yes", &hash]].concat();
    // Killed between the tables and their rows: all of it is made anew.
    pair.lab.now("M2:acting");
    let words = [&["migrate"], &run[..], &["--state-dir", "state"]].concat();
    let mut held = pair.lab.start(&words, Some("M2:acting"));
    assert!(held.says("held at", Duration::from_secs(120)), "{}", held.stderr());
    held.kill();
    pair.migrate(&["resume", "--yes", &hash]).exits(0);
    pair.source.run(&[
        "INSERT INTO shop.parent VALUES (101)",
        "CREATE OR REPLACE VIEW shop.z_base AS SELECT id, shop.twice(id) + 0 AS two, shop.noted('y') AS x FROM shop.parent",
    ]);
    pair.migrate(&["verify"]).exits(0);
    assert_eq!(events(&pair.target), "sleeps SLAVESIDE_DISABLED,tick SLAVESIDE_DISABLED");
    fired_once(&pair.target);
    assert_eq!(one_value(&pair.target, "SELECT COUNT(*) FROM shop.ticks WHERE server <> 1"), "0");
    pair.target.run(&["SET SESSION sql_log_bin = 0", "USE shop", "CREATE VIEW theirs AS SELECT 1"]);
    let differ = pair.migrate(&["verify"]).exits(6);
    assert!(differ.stderr.contains("shop.theirs (view) is on one side only"), "{differ}");
    pair.target.run(&["SET SESSION sql_log_bin = 0", "DROP VIEW shop.theirs"]);

    let blocked = pair.migrate(&["cutover", "--yes", &hash]).exits(4);
    assert!(blocked.stderr.contains("ghost@localhost of shop.counted (procedure)"), "{blocked}");
    assert_eq!(one_value(&pair.source, "SELECT @@read_only"), "0");
    pair.target.run(&["CREATE USER ghost@localhost", "GRANT ALL ON shop.* TO ghost@localhost"]);
    pair.migrate(&["cutover", "--yes", &hash]).exits(0);
    assert_eq!(one_value(&pair.source, "SELECT @@event_scheduler"), "OFF");
    assert_eq!(events(&pair.target), "sleeps DISABLED,tick ENABLED");
    assert_eq!(events(&pair.source), "sleeps DISABLED,tick ENABLED");
    assert!(ticks_of(&pair.target, 2), "the event does not run on the target");
    pair.target.run(&["INSERT INTO shop.parent VALUES (102)"]);
    fired_once(&pair.target);
    for (sql, expected) in [
        ("SELECT two FROM shop.a_view WHERE two = 204", "204"),
        ("SELECT x FROM shop.z_base LIMIT 1", "»y«"),
        ("SELECT note FROM shop.log WHERE parent = 102", "»first«, second"),
        (
            "SELECT SQL_MODE FROM information_schema.ROUTINES WHERE ROUTINE_NAME = 'noted'",
            "PIPES_AS_CONCAT,ANSI_QUOTES",
        ),
        ("SELECT DEFINER FROM information_schema.VIEWS WHERE TABLE_NAME = 'a_view'", "app@localhost"),
    ] {
        assert_eq!(one_value(&pair.target, sql), expected, "{sql}");
    }
    // The source has followed, and its events did not run.
    pair.migrate(&["verify"]).exits(0);
    pair.migrate(&["rollback", "--yes", &hash]).exits(0);
    assert!(pair.target.sql().query("SHOW DATABASES LIKE 'shop'").unwrap().is_empty());
    fired_once(&pair.source);
    assert_eq!(one_value(&pair.source, "SELECT COUNT(*) FROM shop.log WHERE parent = 102"), "1");
    assert_eq!(one_value(&pair.source, "SELECT @@event_scheduler"), "ON");
    assert_eq!(events(&pair.source), "sleeps DISABLED,tick ENABLED");
    assert!(ticks_of(&pair.source, 1), "the event does not run on the source again");
}
