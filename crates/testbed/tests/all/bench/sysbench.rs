//! Beside sysbench: the same statements, the same work for the server.

use super::{Real, number, report};
use std::process::Command;
use std::process::Output;
use std::process::Stdio;
use testbed::real::sealion;

/// What the server counts, and what both tools must make it count alike. Of its whole life.
const COUNTERS: [&str; 17] = [
    "Com_begin",
    "Com_commit",
    "Com_delete",
    "Com_insert",
    "Com_rollback",
    "Com_select",
    "Com_stmt_execute",
    "Com_stmt_prepare",
    "Com_update",
    "Handler_delete",
    "Handler_read_key",
    "Handler_read_next",
    "Handler_read_rnd_next",
    "Handler_update",
    "Handler_write",
    "Rows_read",
    "Rows_sent",
];

/// Ranges that never meet the end of the table: a mean of twelve uniform numbers is not above 0.99.
const SMALL: [(&str, &str); 4] =
    [("tables", "3"), ("table-size", "1000"), ("range-size", "10"), ("rand-type", "special")];

impl Real {
    fn counters(&self) -> Vec<i64> {
        let rows = self.client().query("SHOW GLOBAL STATUS").unwrap().rows;
        let text = |cell: &Option<Vec<u8>>| String::from_utf8_lossy(cell.as_deref().unwrap()).into_owned();
        let of = |name: &&str| {
            let row = rows.iter().find(|row| text(&row[0]) == *name).unwrap();
            text(&row[1]).parse().unwrap()
        };
        COUNTERS.iter().map(of).collect()
    }

    /// With sysbench's words.
    pub(super) fn sysbench(&self, workload: &str, schema: &str, events: u32) -> String {
        let said = Command::new("sysbench")
            .args([workload, "--db-driver=mysql", "--mysql-host=127.0.0.1", "--mysql-user=root", "--time=0"])
            .args([format!("--mysql-port={}", self.port), format!("--mysql-db={schema}")])
            .args(SMALL.map(|(name, value)| format!("--{name}={value}")))
            .args([format!("--events={events}"), "run".into()])
            .stdin(Stdio::null())
            .output()
            .expect("sysbench is not here: scripts/setup.sh tools");
        assert!(said.status.success(), "{said:?}");
        String::from_utf8_lossy(&said.stdout).into_owned()
    }
}

/// The number after this word in what sysbench prints.
fn printed(said: &str, name: &str) -> u64 {
    let line = said.lines().find(|line| line.trim_start().starts_with(name));
    line.and_then(|line| line.split_whitespace().nth(1)).and_then(|word| word.parse().ok()).expect(said)
}

#[test]
fn sysbench_and_sealion_make_the_server_do_the_same() {
    let server = Real::start("galera-10.11", &[]);
    server.prepare();
    for workload in ["oltp_read_only", "oltp_read_write"] {
        let ours = |events: u32| {
            let sizes: Vec<String> =
                SMALL.iter().flat_map(|(name, value)| [format!("--{name}"), (*value).into()]).collect();
            let events = events.to_string();
            let mut words = vec![workload, "--events", &events, "--warm-up", "0", "--ssl-mode", "DISABLED"];
            words.extend(sizes.iter().map(String::as_str));
            let report = server.load(&words, 0);
            [number(&report, "reads"), number(&report, "writes") + number(&report, "others")]
        };
        let theirs = |events: u32| {
            let said = server.sysbench(workload, "sealion_bench", events);
            // Seen: sysbench 1.0.20 with libmariadb 10.11 prints some writes of oltp_read_write, and none of oltp_write_only, as
            // "other": those of which its library says that no row was affected (drv_mysql.c), although the server counts a
            // change for each. Com_* below tells them apart.
            [printed(&said, "read:"), printed(&said, "write:") + printed(&said, "other:")]
        };
        // One connection, so nothing is begun again; what a run costs once is gone in the difference of a long and a short
        // one, and what a table costs once has been paid by a run before.
        let difference = |run: &dyn Fn(u32) -> [u64; 2]| {
            run(20);
            let mut counted = vec![server.counters()];
            let mut queries = Vec::new();
            for events in [20, 60] {
                let done = run(events);
                assert!(done.iter().all(|count| count % u64::from(events) == 0), "{workload}: {done:?}");
                queries.push(done.map(|count| count / u64::from(events)));
                counted.push(server.counters());
            }
            assert_eq!(queries[0], queries[1], "{workload}");
            let spent = |at: usize, name: usize| counted[at + 1][name] - counted[at][name];
            let per_event = (0..COUNTERS.len())
                .map(|name| (COUNTERS[name], (spent(1, name) - spent(0, name)) as f64 / 40.0))
                .collect::<Vec<_>>();
            (queries[0], per_event)
        };
        let (sealion, sysbench) = (difference(&ours), difference(&theirs));
        assert_eq!(sealion, sysbench, "{workload}");
        // It is no comparison of nothing with nothing: 10 points, 3 ranges of 10 rows, a sum.
        assert!(sealion.1.contains(&("Rows_sent", 41.0)), "{sealion:?}");
    }
}

#[test]
fn what_a_server_has_counted_is_replayed_as_often_as_it_came() {
    for (bundle, options, prepares) in [
        ("mysql-9.7", &[][..], ""),
        (
            "galera-10.11",
            &["--performance-schema=ON"][..],
            "UPDATE performance_schema.setup_consumers SET ENABLED='YES' WHERE NAME LIKE 'events_statements_%'",
        ),
    ] {
        let server = Real::start(bundle, options);
        server.prepare();
        let port = server.port.to_string();
        let replay = |more: &[&str]| {
            let mut command = Command::new(sealion());
            command.args([
                "--format",
                "json",
                "bench",
                "load",
                "--replay-digests",
                "--no-store",
                "--warm-up",
                "0",
            ]);
            command.args(["-h", "127.0.0.1", "-P", &port, "-u", "root", "--events", "400"]).args(more);
            command.stdin(Stdio::null()).output().unwrap()
        };
        let text = |said: &Output| String::from_utf8_lossy(&said.stderr).into_owned();
        let mut client = server.client();
        if !prepares.is_empty() {
            // Digests alone have no values.
            client.execute("USE sealion_bench").unwrap();
            client.query("SELECT k FROM sbtest1 WHERE id=1").unwrap();
            let said = replay(&[]);
            assert_eq!(said.status.code(), Some(3), "{said:?}");
            assert!(text(&said).contains("setup_consumers"), "{said:?}");
            client.execute(prepares).unwrap();
            // Threads that are there already are told too.
            client = server.client();
        }
        client.execute("TRUNCATE performance_schema.events_statements_summary_by_digest").unwrap();
        client.execute("USE sealion_bench").unwrap();
        for round in 0..30 {
            client.query(&format!("SELECT k FROM sbtest1 WHERE id={}", round + 1)).unwrap();
            if round % 3 == 0 {
                // Two rows each time.
                client.query("SELECT c FROM sbtest1 WHERE id IN (7, 8) AND c <> 'a?'").unwrap();
            }
        }
        client.execute("SET @a=1").unwrap();
        let said = replay(&[]);
        assert!(said.status.success(), "{said:?}");
        let seen = report(&said, 0);
        assert_eq!((number(&seen, "events"), number(&seen, "reads")), (400, 400), "{seen:#}");
        // A quarter of them have two rows: 500 in all, and four standard deviations of that.
        assert!((465..535).contains(&number(&seen, "rows")), "{bundle}: {}", seen["rows"]);
        assert!(
            text(&said).contains("the mix covers") && text(&said).contains("without its order"),
            "{said:?}"
        );
        // What writes is not sent by mistake.
        client.execute("UPDATE sbtest1 SET k=k WHERE id=1").unwrap();
        let said = replay(&[]);
        assert_eq!(said.status.code(), Some(6), "{said:?}");
        assert!(replay(&["--own-tables"]).status.success());
    }
}

/// The statements that the server was given while this ran, of those that are asked for, as `column` shows them.
fn logged(server: &Real, column: &str, of: &str, run: &dyn Fn()) -> Vec<String> {
    let mut client = server.client();
    for sql in ["SET GLOBAL log_output='TABLE'", "TRUNCATE mysql.general_log", "SET GLOBAL general_log=1"] {
        client.execute(sql).unwrap();
    }
    run();
    client.execute("SET GLOBAL general_log=0").unwrap();
    let sql = format!("SELECT {column} FROM mysql.general_log WHERE {of} ORDER BY event_time");
    let rows = client.query(&sql).unwrap().rows;
    rows.iter().map(|row| String::from_utf8_lossy(row[0].as_deref().unwrap()).into_owned()).collect()
}

/// And how large it says they were.
fn bulk_statements(server: &Real, run: &dyn Fn()) -> Vec<String> {
    let column = "CONCAT(LENGTH(argument), ' ', MD5(argument), ' ', LEFT(argument, 30))";
    logged(server, column, "argument LIKE 'INSERT INTO sbtest%' OR argument LIKE 'COMMIT%'", run)
}

#[test]
fn in_text_sysbench_s_statements_are_sent_byte_for_byte() {
    let server = Real::start("galera-10.11", &[]);
    // All ids are the same one; the digits of texts are not.
    let size = ["--tables", "1", "--table-size", "1"];
    let said = server.bench(&[&["prepare", "--database", "sbtest"], &size[..]].concat());
    assert!(said.status.success(), "{said:?}");
    let theirs = [
        "--mysql-user=root",
        "--table-size=1",
        "--range-size=1",
        "--events=3",
        "--time=0",
        "--db-ps-mode=disable",
    ];
    let address = ["--mysql-host=127.0.0.1".to_owned(), format!("--mysql-port={}", server.port)];
    for workload in ["oltp_read_write", "oltp_read_only", "oltp_point_select", "oltp_update_non_index"] {
        let by = |program: &dyn Fn() -> Command| {
            let column = "CONCAT(command_type, ': ', REGEXP_REPLACE(argument, '[0-9]{11}', 'D'))";
            let of = "argument REGEXP '^(BEGIN|COMMIT|SELECT .* FROM sbtest1 WHERE|UPDATE|DELETE|INSERT)'";
            logged(&server, column, of, &|| {
                let mut command = program();
                command.arg(workload).args(theirs).args(&address).arg("run").stdin(Stdio::null());
                let said = command.output().expect("scripts/setup.sh tools");
                assert!(said.status.success(), "{said:?}");
            })
        };
        let ours = by(&|| {
            let mut command = Command::new(sealion());
            command.args(["bench", "sysbench", "--own-tables", "--"]);
            command
        });
        let sysbench = by(&|| Command::new("sysbench"));
        assert_eq!(ours, sysbench, "{workload}");
        assert!(ours.len() >= 3 && ours.iter().all(|one| one.starts_with("Query: ")), "{ours:?}");
    }
}

#[test]
fn bulk_insert_sends_what_sysbench_sends_and_goes_on_where_it_ended() {
    let server = Real::start("galera-10.11", &[]);
    let port = server.port.to_string();
    // In the words of sysbench, by both.
    let words = |command: &str| {
        let server_words =
            ["bulk_insert", "--mysql-host=127.0.0.1", "--mysql-user=root", "--mysql-db=sealion_bench"];
        let mut words: Vec<String> = server_words.map(String::from).to_vec();
        words.extend([format!("--mysql-port={port}"), "--threads=2".into(), command.into()]);
        words
    };
    let ours = |words: Vec<String>| {
        let mut command = Command::new(sealion());
        command.args(["--format", "json", "bench", "sysbench", "--"]).args(words);
        command.current_dir(server.directory.path()).stdin(Stdio::null()).output().unwrap()
    };
    let said = ours(words("prepare"));
    assert!(said.status.success(), "{said:?}");
    let three = ["bulk_insert", "-c", "1", "--events", "3", "--warm-up", "0", "--ssl-mode", "DISABLED"];
    let by_us = bulk_statements(&server, &|| {
        let report = server.load(&three, 0);
        assert_eq!((number(&report, "events"), number(&report, "writes")), (3, 3), "{report:#}");
        // As many as half a MiB takes, three times.
        assert!((111_000..114_000).contains(&number(&report, "written_rows")), "{report:#}");
    });
    let last = |table: u32| {
        let sql = format!("SELECT COUNT(*)=MAX(id), MAX(id) FROM sealion_bench.sbtest{table}");
        let rows = server.client().query(&sql).unwrap();
        let text =
            |at: usize| rows.rows[0][at].as_ref().map(|cell| String::from_utf8_lossy(cell).into_owned());
        (text(0), text(1).and_then(|last| last.parse::<u64>().ok()))
    };
    assert_eq!(last(2).1, None);
    assert_eq!(last(1).0.as_deref(), Some("1"));
    // The same by sysbench, in tables that are empty again. Its last statement is shorter: its events are rows.
    assert!(ours(words("prepare")).status.success());
    let by_sysbench = bulk_statements(&server, &|| {
        let mut words = words("run");
        words.extend(["--threads=1".into(), "--time=0".into(), "--events=110000".into()]);
        let said = Command::new("sysbench").args(words).stdin(Stdio::null()).output();
        let said = said.expect("sysbench is not here: scripts/setup.sh tools");
        assert!(said.status.success(), "{said:?}");
    });
    assert_eq!((by_us.len(), by_sysbench.len()), (3, 3), "{by_us:?} {by_sysbench:?}");
    assert_eq!(by_us[..2], by_sysbench[..2]);
    // Another run goes on behind what is there, whoever wrote it, in all tables.
    let said = ours([words("run"), vec!["--time=1".into()]].concat());
    assert!(said.status.success(), "{said:?}");
    assert!(
        String::from_utf8_lossy(&said.stderr).contains("an event of sysbench's bulk_insert is a row"),
        "{said:?}"
    );
    for table in [1, 2] {
        let (is_gapless, end) = last(table);
        assert_eq!(is_gapless.as_deref(), Some("1"), "{table}");
        assert!(end > if table == 1 { Some(110_000) } else { None }, "{table}: {end:?}");
    }
    // A count of its events means something else here, and tables of other workloads are not written to.
    let said = ours([words("run"), vec!["--events=5".into()]].concat());
    assert_eq!(said.status.code(), Some(2), "{said:?}");
    server.prepare();
    let mut command = Command::new(sealion());
    command.args(["bench", "load", "-h", "127.0.0.1", "-P", &port, "-u", "root", "--no-store"]).args(three);
    let said = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(!said.status.success() && text.contains("bench prepare --bulk --tables"), "{said:?}");
}

#[test]
fn a_sysbench_command_line_does_what_it_says() {
    let server = Real::start("galera-10.11", &[]);
    let ours = |before: &[&str], words: &[&str]| {
        let port = format!("--mysql-port={}", server.port);
        let server_words =
            ["--mysql-host=127.0.0.1", &port, "--mysql-user=root", "--tables=3", "--table-size=1000"];
        let mut command = Command::new(sealion());
        command.args(["--format", "json", "bench", "sysbench"]).args(before).arg("--");
        command.args(words).args(server_words).current_dir(server.directory.path()).stdin(Stdio::null());
        command.output().unwrap()
    };
    let text = |said: &Output| String::from_utf8_lossy(&said.stderr).into_owned();
    // A password is refused before anything is done, and not repeated.
    let said = ours(&[], &["oltp_read_only", "--mysql-password=hunter2", "run"]);
    assert_eq!(said.status.code(), Some(2), "{said:?}");
    assert!(text(&said).contains("--password-file") && !text(&said).contains("hunter2"), "{said:?}");
    // Tables that sysbench made, in its own schema.
    server.client().execute("CREATE DATABASE sbtest").unwrap();
    let made = Command::new("sysbench")
        .args(["oltp_read_only", "--db-driver=mysql", "--mysql-host=127.0.0.1", "--mysql-user=root"])
        .args([&format!("--mysql-port={}", server.port), "--tables=3", "--table-size=1000", "prepare"])
        .output()
        .expect("sysbench is not here: scripts/setup.sh tools");
    assert!(made.status.success(), "{made:?}");
    let said = ours(&[], &["oltp_read_only", "--threads=2", "--events=20", "--report-interval=1", "run"]);
    let report_of_reads = report(&said, 0);
    assert_eq!(
        (number(&report_of_reads, "events"), number(&report_of_reads, "reads")),
        (20, 280),
        "{said:?}"
    );
    assert!(text(&said).contains("sealion bench load oltp_read_only --host=127.0.0.1"), "{said:?}");
    assert!(text(&said).contains("--report-interval is ignored"), "{said:?}");
    // They are read, and not written to unless somebody says so.
    let words = ["oltp_read_write", "--events=20", "--time=0", "run"];
    let said = ours(&[], &words);
    assert_eq!(said.status.code(), Some(6), "{said:?}");
    assert!(text(&said).contains("bench sysbench --own-tables"), "{said:?}");
    let report_of_writes = report(&ours(&["--own-tables"], &words), 0);
    assert_eq!(number(&report_of_writes, "writes"), 80, "{report_of_writes:#}");
    // Neither are they dropped or made anew.
    for command in ["prepare", "cleanup"] {
        let said = ours(&[], &["oltp_read_write", command]);
        assert_eq!(said.status.code(), Some(6), "{command} {said:?}");
    }
    // From nothing to nothing, over TLS.
    for command in ["prepare", "run", "cleanup"] {
        let words = ["oltp_write_only", "--mysql-db=fresh", "--mysql-ssl=REQUIRED", "--time=1", command];
        let said = ours(&[], &words);
        assert!(said.status.success(), "{command} {said:?}");
        if command == "run" {
            assert!(report(&said, 0)["tls"].is_object(), "{said:?}");
        }
    }
    let said = ours(&[], &["oltp_read_only", "--reconnect=5", "run"]);
    assert_eq!(said.status.code(), Some(2), "{said:?}");
}
