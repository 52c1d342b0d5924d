//! Loads: what is counted, and what is said when something goes wrong.

use super::{Real, TABLES, list, number, report};
use net::ExposeSecret;
use nix::sched::CpuSet;
use nix::sched::sched_getaffinity;
use nix::sys::signal::Signal;
use nix::sys::signal::kill;
use nix::unistd::Pid;
use serde_json::Value;
use std::process::Child;
use std::process::Command;
use std::process::Output;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;
use testbed::real::sealion;

#[test]
fn every_workload_runs_plain_and_over_tls_and_counts_what_the_server_counts() {
    for bundle in ["galera-10.11", "mysql-9.7"] {
        let server = Real::start(bundle, &[]);
        server.prepare();
        for (workload, per_event) in [
            ("oltp_point_select", [1, 0, 0]),
            ("oltp_read_only", [14, 0, 2]),
            ("oltp_write_only", [0, 4, 2]),
            ("oltp_read_write", [14, 4, 2]),
            ("oltp_update_index", [0, 1, 0]),
            ("oltp_update_non_index", [0, 1, 0]),
            ("oltp_delete", [0, 1, 0]),
            ("oltp_insert", [0, 1, 0]),
            ("stream", [1, 0, 0]),
        ] {
            for (mode, tls) in [("DISABLED", false), ("REQUIRED", true)] {
                let executed = || server.counted("Com_stmt_execute");
                let before = executed();
                let report = server.load(
                    &[
                        &[workload, "-c", "4", "--events", "60", "--warm-up", "0", "--ssl-mode", mode],
                        &TABLES[..],
                    ]
                    .concat(),
                    0,
                );
                let about = format!("{bundle} {workload} {mode}: {report:#}");
                assert_eq!(report["tls"].is_object(), tls, "{about}");
                let retries = number(&report, "retries");
                assert_eq!(number(&report, "events"), 60, "{about}");
                for (kind, count) in ["reads", "writes", "others"].iter().zip(per_event) {
                    // What was done before an error is done again.
                    assert!(number(&report, kind) >= 60 * count, "{kind} {about}");
                    assert!(retries > 0 || number(&report, kind) == 60 * count, "{kind} {about}");
                }
                if !matches!(workload, "oltp_insert" | "stream") && retries == 0 {
                    // MySQL prepares COMMIT, and no BEGIN: that comes as text.
                    let texts = if bundle == "mysql-9.7" { number(&report, "others") / 2 } else { 0 };
                    assert_eq!(executed() - before, number(&report, "queries") - texts, "{about}");
                }
                if workload == "stream" {
                    assert!(number(&report, "rows") >= 60 * 900, "{about}");
                }
                assert!(report["server_cpu_us_per_query"].is_number(), "{about}");
                // In cleartext answers are all that comes; records of TLS come on top.
                let (received, answers) =
                    (number(&report, "received_bytes"), number(&report, "answer_bytes"));
                // So do the errors that events began again for.
                let is_more = tls || retries > 0;
                assert!(if is_more { received > answers } else { received == answers }, "{about}");
                assert!(number(&report, "sent_bytes") > 0, "{about}");
            }
        }
        // The same seed draws the same ids: the same rows come, whoever carries them.
        let checksum = |mode: &str| {
            let words =
                ["oltp_point_select", "--events", "500", "--warm-up", "0", "--seed", "7", "--ssl-mode", mode];
            let report = server.load(&[&words[..], &TABLES].concat(), 0);
            (number(&report, "rows"), report["rows_checksum"].to_string())
        };
        assert_eq!(checksum("DISABLED"), checksum("REQUIRED"), "{bundle}");
        let report = server.load(&["connect", "-c", "2", "--time", "1", "--warm-up", "0"], 0);
        assert!(number(&report, "events") > 0 && report["tls"].is_object(), "{report:#}");
        let said = server.bench(&["cleanup"]);
        assert!(said.status.success(), "{said:?}");
        let schemas = server.client().query("SHOW DATABASES LIKE 'sealion_bench'").unwrap();
        assert!(schemas.rows.is_empty());
    }
}

#[test]
fn what_goes_wrong_is_counted_and_said_and_ends() {
    let mut server = Real::start("galera-10.11", &["--max-connections=8"]);
    server.prepare();
    // Nothing is written to a schema that somebody else has made.
    server.client().execute("CREATE DATABASE theirs").unwrap();
    for words in [&["prepare"][..], &["cleanup"], &["load", "oltp_write_only"]] {
        let said = server.bench(&[words, &["--database", "theirs"]].concat());
        assert_eq!(said.status.code(), Some(6), "{words:?} {said:?}");
        assert!(String::from_utf8_lossy(&said.stderr).contains("not created by sealion"), "{said:?}");
    }
    let said = server.bench(&["prepare", "--database", "no`name"]);
    assert_eq!(said.status.code(), Some(2), "{said:?}");
    // What would stand among the settings, and nobody took.
    for words in [
        &["load", "oltp_point_select", "--ssl-mode", "DISABLED", "--tls-groups", "X25519"][..],
        &["run", "galera-write", "--tls-groups", "X25519"],
        &["run", "aa", "--ssl-mode", "DISABLED", "--tls-min", "1.2"],
        &["advise", "-h", "127.0.0.1", "--tls-max", "1.2", "--tls-ciphersuites", "TLS_AES_128_GCM_SHA256"],
    ] {
        let said = server.bench(words);
        assert_eq!((said.status.code(), said.stdout.len()), (Some(2), 0), "{words:?} {said:?}");
        assert!(String::from_utf8_lossy(&said.stderr).contains("would have no effect"), "{said:?}");
    }
    // More connections than the server takes: nothing is measured.
    let said = server.bench(&[&["load", "oltp_point_select", "-c", "12"], &TABLES[..]].concat());
    let text = String::from_utf8_lossy(&said.stderr).into_owned();
    assert_eq!((said.status.code(), said.stdout.len()), (Some(3), 0), "{text}");
    assert!(text.contains("of 12 connections could be made") && text.contains("max_connections"), "{text}");
    // Connections that come and go meet the limit too: some are refused, and counted.
    let report = server.load(&["connect", "-c", "32", "--time", "1", "--warm-up", "0"], 7);
    assert!(report["errors"].to_string().contains("1040"), "{report:#}");
    // A statement that is refused ends it.
    server.client().execute("SET GLOBAL read_only=ON").unwrap();
    server.client().execute("CREATE USER bench@'%'").unwrap();
    server.client().execute("GRANT ALL ON sealion_bench.* TO bench@'%'").unwrap();
    let words = ["oltp_update_index", "-u", "bench", "-c", "2", "--time", "20", "--warm-up", "0"];
    let began = Instant::now();
    let report = server.load(&[&words[..], &TABLES].concat(), 7);
    assert!(began.elapsed() < Duration::from_secs(10), "it went on: {report:#}");
    assert_eq!((&report["errors"][0]["code"], number(&report, "events")), (&1290.into(), 0), "{report:#}");
    // Ctrl-C prints what there is.
    let words = [&["load", "oltp_point_select", "--time", "600", "--warm-up", "0"], &TABLES[..]].concat();
    let child = server.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let executed = server.counted("Com_stmt_execute");
    while server.counted("Com_stmt_execute") < executed + 100 {
        std::thread::sleep(Duration::from_millis(20));
    }
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGINT).unwrap();
    let report_of_part = report_of(child);
    assert!(number(&report_of_part, "events") > 0, "{report_of_part:#}");
    assert!(report_of_part["partial"].to_string().contains("interrupted"), "{report_of_part:#}");
    // The server is killed: what was measured until then is shown, and that it is not all.
    let child = server.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let executed = server.counted("Com_stmt_execute");
    while server.counted("Com_stmt_execute") < executed + 100 {
        std::thread::sleep(Duration::from_millis(20));
    }
    server.child.kill().unwrap();
    let report = report_of(child);
    assert!(number(&report, "events") > 0 && number(&report, "lost_connections") == 1, "{report:#}");
}

/// Of a run that ends by itself, with 7.
fn report_of(child: Child) -> Value {
    let began = Instant::now();
    let said = child.wait_with_output().unwrap();
    assert!(began.elapsed() < Duration::from_secs(30), "it hangs");
    report(&said, 7)
}

#[test]
fn a_rate_is_kept_and_lateness_counts() {
    let server = Real::start("galera-10.11", &[]);
    server.prepare();
    let rate = |rate: &str, connections: &str| {
        let words =
            ["oltp_point_select", "--rate", rate, "-c", connections, "--time", "3", "--warm-up", "0.5"];
        server.load(&[&words[..], &TABLES].concat(), 0)
    };
    let slow = rate("200", "4");
    // Chance: 600 come on average, with a standard deviation of 25.
    assert!((450..750).contains(&number(&slow, "events")), "{slow:#}");
    // Several times what one connection can do: most of them wait, and that is their latency.
    let fast = rate("200000", "1");
    let ms = |report: &Value, name: &str| report[name]["p50"].as_f64().unwrap();
    assert!(number(&fast, "late_at_end") > 0, "{fast:#}");
    assert!(ms(&fast, "latency_ms") > 10.0 * ms(&fast, "query_latency_ms"), "{fast:#}");
}

#[test]
fn rates_rise_until_the_server_keeps_up_no_more() {
    let server = Real::start("galera-10.11", &[]);
    server.prepare();
    let ramp = [
        "oltp_point_select",
        "--rate-ramp",
        "100..100000/4",
        "--time",
        "1",
        "--warm-up",
        "0.2",
        "--no-store",
    ];
    let said = server.bench(&[&["load"], &ramp[..], &TABLES].concat());
    let reports: Value = serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"));
    let reports = reports.as_array().unwrap();
    let asked: Vec<f64> = reports.iter().map(|one| one["rate_per_s"].as_f64().unwrap().round()).collect();
    // One connection asks one statement at a time: a hundred a second are kept, a hundred thousand never. Where between them it
    // ends depends on how busy the machine is.
    let rates = [100.0, 1000.0, 10_000.0, 100_000.0];
    assert!(asked.len() > 1 && rates.starts_with(&asked), "{asked:?}");
    let kept: Vec<bool> = reports.iter().map(|one| one["kept_up"] == true).collect();
    assert!(kept[0], "{reports:#?}");
    // It ends early only after two rates in a row that were not kept.
    let is_last_of_all = asked.len() == rates.len() && kept.last() == Some(&false);
    assert!(is_last_of_all || kept.ends_with(&[false, false]), "{asked:?}, {kept:?}");
    let last = reports.last().unwrap();
    assert!(number(last, "late_at_end") > 0, "{last:#}");
    // Of those that came: how many come is chance.
    assert!(last["events"].as_f64().unwrap() < 0.99 * last["due"].as_f64().unwrap(), "{last:#}");
    let said = server.bench(&["load", "connect", "--rate", "5"]);
    assert_eq!(said.status.code(), Some(2), "{said:?}");
}

#[test]
fn statements_of_ones_own_are_sent_as_they_are_written() {
    let server = Real::start("galera-10.11", &["--general-log=ON", "--general-log-file=general.log"]);
    server.prepare();
    let script = server.directory.path().join("shop.sql");
    let words = |script: &str, more: &[&str], code: i32| {
        std::fs::write(server.directory.path().join("shop.sql"), script).unwrap();
        let path = server.directory.path().join("shop.sql");
        let all = [&["load", "--script", path.to_str().unwrap(), "-c", "2"], more, &TABLES[..]].concat();
        let said = server.bench(&all);
        assert_eq!(said.status.code(), Some(code), "{said:?}");
        said
    };
    let two = "-- two of them\nSELECT 'shop {digits:7}', c FROM sbtest{table} WHERE id={id};\nBEGIN;\n";
    let report = report(&words(two, &["--events", "30", "--warm-up", "0"], 0), 0);
    assert_eq!(
        ["workload", "reads", "others", "rows"].map(|name| report[name].clone()),
        [Value::from("script"), Value::from(30), Value::from(30), Value::from(30),]
    );
    // What the server has understood; it is the log for the next one, too.
    let log = server.directory.path().join("data/general.log");
    let text = std::fs::read_to_string(&log).unwrap();
    let sent =
        text.lines().filter(|line| line.contains("SELECT 'shop ") && line.contains("FROM sbtest")).count();
    assert_eq!(sent, 30, "{text}");
    // A place that is none, with its line; nothing is sent.
    let said = words("SELECT 1;\nSELECT {name};\n", &[], 2);
    assert!(String::from_utf8_lossy(&said.stderr).contains("line 2"), "{said:?}");
    // What may write does so where that was said, also from a schema of ours: it could name another one.
    let said = words("CREATE TABLE t (a INT);\n", &["--events", "1"], 6);
    assert!(String::from_utf8_lossy(&said.stderr).contains("number 1: CREATE TABLE …"), "{said:?}");
    words("CREATE TABLE t (a INT);\n", &["--events", "1", "--warm-up", "0", "--own-tables"], 0);
    std::fs::remove_file(script).unwrap();

    let reads: String = text
        .lines()
        .filter(|line| line.contains("SELECT 'shop ") || line.contains("\tBEGIN"))
        .fold(String::new(), |all, line| all + line + "\n");
    let copy = server.directory.path().join("copy.log");
    std::fs::write(&copy, reads).unwrap();
    let replay = ["--replay", copy.to_str().unwrap(), "--events", "40", "--warm-up", "0"];
    let report = server.load(&[&replay[..], &TABLES].concat(), 0);
    assert_eq!((report["workload"].as_str(), number(&report, "events")), (Some("replay"), 40));
    let report = server.load(&[&["dump", "--events", "2", "--warm-up", "0"], &TABLES[..]].concat(), 0);
    // Each table with what SHOW CREATE TABLE says of it.
    let rows = number(&report, "rows");
    assert!(rows > 0 && rows.is_multiple_of(2), "{report:#}");
    assert_eq!(number(&report, "writes"), 0);
}

#[test]
fn thousands_of_tls_connections_need_one_process_and_little_memory() {
    // All of them take the server two gigabytes.
    let connections: u64 = if std::env::var_os("SEALION_DEEP").is_some() { 10_000 } else { 2_000 };
    let more = [
        format!("--max-connections={}", connections + 100),
        format!("--open-files-limit={}", connections * 2),
    ];
    // Each of them prepares a statement for each table.
    let all = ["--thread-handling=pool-of-threads", "--max-prepared-stmt-count=100000", &more[0], &more[1]];
    let server = Real::start("galera-10.11", &all);
    server.prepare();
    // As in a shell that allows fewer files than connections: the limit is raised, not met.
    let shell = format!(
        "ulimit -Sn 1024; exec \"$0\" --format json bench load oltp_point_select -c {connections} --time 4 --ssl-mode REQUIRED \
         --tables 3 --table-size 1000 \"$1\""
    );
    let child = Command::new("bash")
        .args(["-c", &shell, &sealion().display().to_string()])
        .arg(format!("--defaults-file={}", server.option_file().display()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let peak_kb = |text: &str| -> Option<u64> {
        text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().trim_end_matches(" kB").parse().ok()
    };
    let mut peak = 0;
    // A process that has ended has no memory to tell of.
    while let Some(now) = std::fs::read_to_string(&status).ok().as_deref().and_then(peak_kb) {
        peak = peak.max(now);
        std::thread::sleep(Duration::from_millis(20));
    }
    let report = report(&child.wait_with_output().unwrap(), 0);
    assert_eq!(number(&report, "connections"), connections);
    assert_eq!(report["tls"]["version"], "TLSv1.3");
    assert!(number(&report, "queries") > 0);
    // Ten thousand of them stay under a GiB.
    assert!(peak > 0 && peak < connections * (1 << 20) / 10_000, "{peak} kB");
}

#[test]
fn a_certificate_that_expires_on_the_way_is_counted_and_shown() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let now = i64::try_from(now).unwrap();
    // Long enough for a server to come up on a busy machine: the measurement waits for the end.
    let ends = now + 30;
    let key = trust::KeyKind::default();
    let ca = trust::CaSpec { common_name: "a CA".into(), valid_days: 2, key };
    let ca = trust::Ca::create(&ca, now).unwrap();
    let leaf = trust::LeafSpec {
        common_name: "ends soon".into(),
        dns: vec!["localhost".into()],
        ips: vec![],
        valid_days: 1,
        key,
        not_before_unix: None,
        not_after_unix: Some(ends),
    };
    let leaf = ca.issue(&leaf, now).unwrap();
    std::fs::write(path("ca.pem"), ca.cert_pem()).unwrap();
    std::fs::write(path("c.pem"), &leaf.cert_pem).unwrap();
    std::fs::write(path("k.pem"), leaf.key_pem.expose_secret()).unwrap();
    let options = [
        format!("--ssl-cert={}", path("c.pem")),
        format!("--ssl-key={}", path("k.pem")),
        format!("--ssl-ca={}", path("ca.pem")),
    ];
    let server = Real::start("galera-10.11", &options.each_ref().map(String::as_str));
    let words = ["connect", "-c", "2", "--time", "60", "--warm-up", "0", "--ssl-mode", "VERIFY_CA"];
    let report = server.load(&[&words[..], &[&format!("--ssl-ca={}", path("ca.pem"))]].concat(), 7);
    assert!(number(&report, "events") > 0, "{report:#}");
    assert!(number(&report, "lost_connections") > 0, "{report:#}");
    assert!(report["partial"].as_str().unwrap().contains("expired"), "{report:#}");
    // It ends when nobody can connect any more, and not when the minute is over.
    assert!(report["measured_s"].as_f64().unwrap() < 59.0, "{report:#}");
}

#[test]
fn a_server_that_is_silent_at_the_end_makes_no_good_figure() {
    let server = Real::start("galera-10.11", &[]);
    server.prepare();
    let pid = Pid::from_raw(i32::try_from(server.child.id()).unwrap());
    for words in [&["oltp_point_select"][..], &["connect"], &["oltp_point_select", "--rate", "200"]] {
        let mut command = Command::new(sealion());
        command.args([
            "--format",
            "json",
            "bench",
            "load",
            "--no-store",
            "-h",
            "127.0.0.1",
            "-P",
            &server.port.to_string(),
        ]);
        command.args(["-u", "root", "-c", "4", "--warm-up", "0", "--time", "2"]).args(TABLES).args(words);
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_secs(1));
        kill(pid, Signal::SIGSTOP).unwrap();
        std::thread::sleep(Duration::from_secs(2));
        kill(pid, Signal::SIGCONT).unwrap();
        let said = child.wait_with_output().unwrap();
        // With a rate the latencies show it: then they are whole.
        let is_whole = words.contains(&"--rate");
        let seen = report(&said, if is_whole { 0 } else { 7 });
        assert_eq!(seen["is_complete"], is_whole, "{words:?}: {seen:#}");
        let max_ms = seen["latency_ms"]["max"].as_f64().unwrap();
        let oldest_ms = seen["oldest_under_way_ms"].as_f64().unwrap();
        if is_whole {
            // What came has waited, and its waiting is in the latencies, for as long as it took.
            assert!(max_ms > oldest_ms && number(&seen, "due") > number(&seen, "events"), "{seen:#}");
        } else {
            assert!(number(&seen, "under_way_at_end") > 0 && oldest_ms > max_ms, "{seen:#}");
        }
    }
}

#[test]
fn an_event_of_nothing_is_refused_and_a_number_of_events_is_that_number() {
    let server = Real::start("galera-10.11", &["--max-allowed-packet=262144"]);
    server.prepare();
    let port = server.port.to_string();
    let load = |words: &[&str]| {
        let mut command = Command::new(sealion());
        command.args(["--format", "json", "bench", "load", "-h", "127.0.0.1", "-P", &port, "-u", "root"]);
        let store = server.directory.path().join("runs.sqlite");
        command.arg(format!("--store={}", store.display())).args(words).stdin(Stdio::null()).output().unwrap()
    };
    let text = |said: &Output| String::from_utf8_lossy(&said.stderr).into_owned();
    let said = load(&["oltp_update_index", "--index-updates", "0", "--events", "5"]);
    assert_eq!(said.status.code(), Some(2), "{said:?}");
    assert!(text(&said).contains("has no statement"), "{said:?}");
    // No warm-up takes from them.
    let seen =
        report(&load(&[&["oltp_point_select", "-c", "3", "--events", "300"][..], &TABLES].concat()), 0);
    assert_eq!(number(&seen, "events"), 300, "{seen:#}");
    // What a server says of a statement that is not understood may hold a password.
    let script = server.directory.path().join("grant.sql");
    std::fs::write(&script, "GRANT SELECT ON x.* TO u FOO IDENTIFIED BY 'TopSecret';\n").unwrap();
    let said = load(&["--script", script.to_str().unwrap(), "--own-tables", "--events", "1"]);
    assert_eq!(said.status.code(), Some(7), "{said:?}");
    let kept = std::fs::read(server.directory.path().join("runs.sqlite")).unwrap();
    for place in [&said.stdout, &said.stderr, &kept] {
        assert!(!place.windows(9).any(|part| part == b"TopSecret"), "{said:?}");
    }
    assert!(String::from_utf8_lossy(&said.stdout).contains("1064"), "{said:?}");
    // A statement that is larger than the server takes is refused while it is still being sent, over TLS too.
    let mut command = Command::new(sealion());
    command.args(["bench", "prepare", "--bulk", "-h", "127.0.0.1", "-P", &port, "-u", "root"]);
    assert!(command.stdin(Stdio::null()).status().unwrap().success());
    for mode in ["DISABLED", "REQUIRED"] {
        let seen = report(&load(&["bulk_insert", "--time", "1", "--ssl-mode", mode]), 7);
        assert_eq!(list(&seen["errors"])[0]["code"], 1153, "{mode}: {seen:#}");
    }
}

#[test]
#[ignore = "MySQL 5.5 out of an artifact of 140 MB (sealion lab fetch mysql-5.5), and a minute until it takes its certificate"]
fn yassl_is_priced_too() {
    let server = Real::start("mysql-5.5", &[]);
    let prepare = |mode: &str| {
        let mut command = Command::new(sealion());
        command.args(["bench", "prepare", "-h", "127.0.0.1", "-P", &server.port.to_string(), "-u", "root"]);
        command.args(["--tables", "3", "--ssl-mode", mode]).stdin(Stdio::null()).output().unwrap()
    };
    // What it says has one reason and one advice, those of the connection.
    let said = prepare("REQUIRED");
    let text = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(!said.status.success() && text.contains("sealion scan"), "{text}");
    assert_eq!((text.matches("why:").count(), text.matches("next:").count()), (1, 1), "{text}");
    assert!(prepare("DISABLED").status.success());
    let tls = ["--ssl-mode", "REQUIRED", "--tls-min", "TLSv1", "--ssl-cipher", "AES256-SHA"];
    for workload in ["connect", "oltp_read_only", "stream"] {
        let seen = server.load(&[&[workload, "--time", "1", "--warm-up", "0"][..], &tls].concat(), 0);
        assert_eq!(
            (&seen["tls"]["version"], &seen["tls"]["cipher"]),
            (&"TLSv1".into(), &"AES256-SHA".into())
        );
        assert!(number(&seen, "events") > 0, "{seen:#}");
    }
}

#[test]
fn a_warm_up_ends_when_the_throughput_does_not_change_any_more() {
    let server = Real::start("galera-10.11", &[]);
    server.prepare();
    let words = ["oltp_point_select", "-c", "2", "--time", "1", "--warm-up", "auto"];
    let report = server.load(&[&words[..], &TABLES].concat(), 0);
    let warm_up_s = report["warm_up_s"].as_f64().unwrap();
    // Two seconds, and the two before, are compared at the earliest.
    assert!((4.0..61.0).contains(&warm_up_s) && report["was_warm"].is_boolean(), "{report:#}");
    assert!((0.9..1.5).contains(&report["measured_s"].as_f64().unwrap()), "{report:#}");
    // It is the server that counts: what came before was sent, and is not in the report.
    assert!(
        number(&report, "queries") > 0 && server.counted("Com_stmt_execute") > 3 * number(&report, "queries")
    );
    let said = server.bench(&[&["load"], &words[..], &TABLES, &["--rate", "10"]].concat());
    assert_eq!(said.status.code(), Some(2), "{said:?}");
}

/// What a connection costs does not depend on how long others were counted.
#[test]
fn connections_that_are_under_way_at_both_ends_count_once() {
    let server = Real::start("galera-10.11", &[]);
    let words = ["connect", "-c", "32", "--warm-up", "0.5", "--time", "0.5", "--ssl-mode", "REQUIRED"];
    let before = server.counted("Connections");
    let report = server.load(&words, 0);
    let made = server.counted("Connections") - before;
    // A second of them, of which half were measured; one set of 32 more or less is not the matter.
    let events = number(&report, "events");
    assert!(events > 64 && made > events && made < 4 * events, "{made} {report:#}");
    // TCP, the greeting, TLS 1.3, the login; with its tickets they may come in one more.
    let trips = number(&report, "round_trips") as f64 / events as f64;
    assert!((4.0..5.5).contains(&trips), "{trips} {report:#}");
}

/// The generator itself stands still: what comes when it goes on was not done in time.
#[test]
fn an_answer_after_the_end_does_not_count() {
    let server = Real::start("galera-10.11", &[]);
    server.prepare();
    let words = ["load", "oltp_point_select", "--time", "2", "--warm-up", "0"];
    let mut command = server.command(&[&words[..], &TABLES].concat());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = Pid::from_raw(child.id().cast_signed());
    std::thread::sleep(Duration::from_secs(1));
    kill(pid, Signal::SIGSTOP).unwrap();
    std::thread::sleep(Duration::from_millis(2500));
    kill(pid, Signal::SIGCONT).unwrap();
    let report = report(&child.wait_with_output().unwrap(), 7);
    assert!(report["partial"].as_str().unwrap().contains("no answer at the end"), "{report:#}");
    assert!(report["latency_ms"]["max"].as_f64().unwrap() < 2000.0, "{report:#}");
}

#[test]
fn connections_go_where_their_answers_arrive() {
    let allowed = sched_getaffinity(Pid::from_raw(0)).unwrap();
    let cpus: Vec<String> =
        (0..CpuSet::count()).filter(|cpu| allowed.is_set(*cpu).unwrap()).map(|cpu| cpu.to_string()).collect();
    if cpus.len() < 2 {
        // There is nowhere to go, and the threads keep no processor.
        return;
    }
    let server = Real::start("galera-10.11", &[]);
    server.prepare();
    // A thread keeps a processor where there are no more than threads.
    let words = ["load", "oltp_point_select", "-c", "8", "--workers", "2", "--time", "2", "--warm-up", "0"];
    let measured = server.command(&[&words[..], &TABLES].concat());
    let mut command = Command::new("taskset");
    command.args(["-c", &cpus[..2].join(",")]).arg(measured.get_program()).args(measured.get_args());
    command.env("XDG_STATE_HOME", server.directory.path().join("state")).stdin(Stdio::null());
    // The server answers from one of the two only, so that it is not chance where answers arrive.
    let pid = server.child.id().to_string();
    let confined = Command::new("taskset").args(["-acp", &cpus[0], &pid]).stdout(Stdio::null()).status();
    assert!(confined.expect("util-linux has taskset").success());
    let report = report(&command.output().expect("util-linux has taskset"), 0);
    assert!(number(&report, "handed_over") > 0, "{report:#}");
}

#[test]
fn statements_in_clear_text_go_together_and_inside_tls_one_by_one() {
    let server = Real::start("galera-10.11", &[]);
    server.prepare();
    for (mode, is_tls) in [("DISABLED", false), ("REQUIRED", true)] {
        let words =
            ["oltp_point_select", "-c", "16", "--events", "20000", "--warm-up", "0", "--ssl-mode", mode];
        let report = server.load(&[&words[..], &TABLES].concat(), 0);
        assert_eq!(number(&report, "queries"), 20000, "{report:#}");
        assert_eq!(
            number(&report, "sent_together") == 0,
            is_tls,
            "is io_uring refused here (sysctl kernel.io_uring_disabled=0, and in a container --security-opt \
             seccomp=unconfined)? {report:#}"
        );
    }
}
