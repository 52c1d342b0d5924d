//! `sealion bench` on real servers: what it counts, and what it says when something goes wrong.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use net::{Client, ConnectOptions, Endpoint, ExposeSecret};
use nix::sched::{CpuSet, sched_getaffinity};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use testbed::real::sealion;
use wire::answers::Rows;
use wire::prepared::{Cell, PrepareOk};
use wire::{AnswerReader, Capabilities};

/// Initialising MySQL takes 5 s on two busy cores.
const UP_S_MAX: u64 = 90;

/// Of this process, so that no two of its servers are given the same ports.
static STARTED: AtomicU32 = AtomicU32::new(0);

/// A server of a bundle, with an option file that names it.
struct Real {
    child: Child,
    port: u16,
    directory: tempfile::TempDir,
}

impl Real {
    fn start(bundle: &str, options: &[&str]) -> Self {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let directory = tempfile::Builder::new().prefix("sealion-bench-").tempdir().unwrap();
        // Two ports in a row: MySQL has its X Protocol on the second one. Below those that the kernel gives to clients: a storm of
        // connections leaves every second one of them waiting.
        let port = (0..1000)
            .find_map(|_| {
                let number =
                    std::process::id().wrapping_mul(97).wrapping_add(STARTED.fetch_add(1, Ordering::Relaxed));
                let first = u16::try_from(20_000 + number % 6000 * 2).ok()?;
                let is_free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
                (is_free(first) && is_free(first + 1)).then_some(first)
            })
            .unwrap();
        let mut child = Command::new(repository.join("scripts/start-server.sh"))
            .args([bundle, directory.path().to_str().unwrap(), &port.to_string()])
            .args(options)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(UP_S_MAX);
        loop {
            let log = std::fs::read_to_string(directory.path().join("log")).unwrap_or_default();
            if let Some(status) = child.try_wait().unwrap() {
                panic!("{bundle} ended with {status} (scripts/setup.sh servers):\n{log}");
            }
            if log.contains("ready for connections") && TcpStream::connect(("127.0.0.1", port)).is_ok() {
                break;
            }
            assert!(Instant::now() < deadline, "{bundle} is not up after {UP_S_MAX} s:\n{log}");
            std::thread::sleep(Duration::from_millis(50));
        }
        let options = format!("[client]\nuser=root\nhost=127.0.0.1\nport={port}\n");
        std::fs::write(directory.path().join("my.cnf"), options).unwrap();
        Self { child, port, directory }
    }

    fn option_file(&self) -> PathBuf {
        self.directory.path().join("my.cnf")
    }

    fn client(&self) -> Client {
        Client::connect(&ConnectOptions::new(Endpoint::tcp("127.0.0.1", self.port), "root")).unwrap()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(sealion());
        // Those two print nothing but what they did.
        let has_json = !matches!(words.first(), Some(&("prepare" | "cleanup")));
        command
            .arg("bench")
            .args(words)
            .args(if has_json { &["--format", "json"][..] } else { &[] })
            .arg(format!("--defaults-file={}", self.option_file().display()))
            .current_dir(self.directory.path())
            // Measurements are kept; those of tests not in the home of whoever runs them.
            .env("XDG_STATE_HOME", self.directory.path().join("state"))
            .stdin(Stdio::null());
        command
    }

    /// Of what is kept: no server is named.
    fn kept(&self, words: &[&str]) -> Output {
        Command::new(sealion())
            .args(words)
            .current_dir(self.directory.path())
            .env("XDG_STATE_HOME", self.directory.path().join("state"))
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn bench(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// Its JSON, of a run that ends with this code.
    fn load(&self, words: &[&str], code: i32) -> Value {
        report(&self.bench(&[&["load"], words].concat()), code)
    }

    fn prepare(&self) {
        let said = self.bench(&["prepare", "--tables", "3", "--table-size", "1000"]);
        assert!(said.status.success(), "{said:?}");
    }

    /// Commands of clients, as the server has counted them.
    fn counted(&self, name: &str) -> u64 {
        let rows = self.client().query(&format!("SHOW GLOBAL STATUS LIKE '{name}'")).unwrap();
        let cell = rows.rows[0][1].clone().unwrap();
        String::from_utf8(cell).unwrap().parse().unwrap()
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn report(said: &Output, code: i32) -> Value {
    assert_eq!(said.status.code(), Some(code), "{said:?}");
    let report: Value = serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"));
    // A figure that is not of the whole measurement says so, and no other.
    assert_eq!(report["is_complete"], code == 0, "{report:#}");
    assert_eq!(report["partial"].is_null(), code == 0, "{report:#}");
    report
}

fn number(report: &Value, name: &str) -> u64 {
    report[name].as_u64().unwrap_or_else(|| panic!("{name}: {report:#}"))
}

const TABLES: [&str; 4] = ["--tables", "3", "--table-size", "1000"];

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
                // In clear text answers are all that comes; records of TLS come on top.
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
    // One connection asks one statement at a time: a hundred a second are kept, a hundred thousand never.
    assert_eq!(asked[..2], [100.0, 1000.0], "{asked:?}");
    assert_eq!(asked.last(), Some(&100_000.0), "{asked:?}");
    let last = reports.last().unwrap();
    assert!(last["events_per_s"].as_f64().unwrap() < 99_000.0 && number(last, "late_at_end") > 0, "{last:#}");
    assert_eq!(
        (&reports[0]["kept_up"], &last["kept_up"]),
        (&Value::from(true), &Value::from(false)),
        "{last:#}"
    );
    let said = server.bench(&["load", "connect", "--rate", "5"]);
    assert_eq!(said.status.code(), Some(2), "{said:?}");
}

#[test]
fn an_experiment_runs_in_blocks_and_few_of_them_have_no_interval() {
    let server = Real::start("galera-10.11", &[]);
    server.prepare();
    let run = |words: &[&str]| {
        let said = server.bench(&[&["run"], words, &TABLES[..]].concat());
        let report: Value = serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"));
        // On a busy machine it is not usable, and says so: both are right.
        let code = if report["is_usable"] == true { 0 } else { 7 };
        assert_eq!(said.status.code(), Some(code), "{report:#}");
        assert_eq!(report["why_not"].as_array().unwrap().is_empty(), code == 0, "{report:#}");
        report
    };
    let short = ["--trial-time", "0.2", "--warm-up", "0.1"];
    let report = run(&[&["tls", "--blocks", "5", "-c", "2"], &short[..]].concat());
    let level = &report["levels"][0];
    assert_eq!((number(level, "blocks"), number(level, "connections")), (5, 2), "{report:#}");
    let [clear, tls] = [&level["arms"][0], &level["arms"][1]];
    assert!(clear["tls"].is_null() && tls["tls"]["version"] == "TLSv1.3", "{report:#}");
    assert!(clear["trials"].as_array().unwrap().len() == 5 && tls["mean"].as_f64().unwrap() > 0.0);
    let comparison = &level["comparisons"][0];
    let at = |name: &str| comparison[name].as_f64().unwrap();
    assert!(at("low") <= at("ratio") && at("ratio") <= at("high"), "{report:#}");
    let report = run(&[&["connect", "--blocks", "2"], &short[..]].concat());
    let comparison = &report["levels"][0]["comparisons"][0];
    assert!(comparison["low"].is_null() && comparison["differs"].is_null(), "{report:#}");
    assert_eq!(report["published"]["rows"].as_array().unwrap().len(), 4);
    // Servers with other keys are not this one.
    assert_eq!(report["levels"][0]["arms"].as_array().unwrap().len(), 2);
    assert_eq!(report["left_out"].as_array().unwrap().len(), 5, "{report:#}");
    // One suite each, and they are what was asked for.
    let report = run(&[&["bulk", "--blocks", "1"], &short[..]].concat());
    let ciphers: Vec<&str> = report["levels"][0]["arms"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|arm| arm["tls"]["cipher"].as_str())
        .collect();
    let expected = [
        "TLS_AES_128_GCM_SHA256",
        "TLS_AES_256_GCM_SHA384",
        "TLS_CHACHA20_POLY1305_SHA256",
        "ECDHE-RSA-AES256-SHA384",
    ];
    assert_eq!(ciphers, expected, "{report:#}");
    for (name, why) in [("nothing", "unknown experiment"), ("galera-write", "--lab")] {
        let said = server.bench(&["run", name]);
        assert_eq!(said.status.code(), Some(2), "{said:?}");
        assert!(String::from_utf8_lossy(&said.stderr).contains(why), "{said:?}");
    }
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

/// Its JSON, and its code is that of a usable run or of one that is not.
fn of_kept(said: &Output) -> Value {
    assert!(matches!(said.status.code(), Some(0 | 7)), "{said:?}");
    serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"))
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("{value:#}"))
}

#[test]
fn two_runs_are_kept_compared_exported_drawn_and_advise() {
    let server = Real::start("galera-10.11", &[]);
    server.prepare();
    let run = |more: &[&str]| {
        let words = ["run", "tls", "--blocks", "5", "--trial-time", "0.3", "--warm-up", "0.1", "-c", "2"];
        server.bench(&[&words[..], &TABLES, more].concat())
    };
    // The first one's output, the second one's place in the store.
    let (first, second) = (run(&[]), run(&["--html", "page.html"]));
    let (printed, second_printed) = (of_kept(&first), of_kept(&second));
    std::fs::write(server.directory.path().join("first.json"), &first.stdout).unwrap();
    let runs = of_kept(&server.kept(&["bench", "runs", "--format", "json"]));
    let ids: Vec<&str> = list(&runs["runs"]).iter().map(|run| run["run"].as_str().unwrap()).collect();
    assert_eq!((ids.len(), &runs["runs"][0]["experiment"]), (2, &"tls".into()), "{runs:#}");
    assert!(String::from_utf8_lossy(&second.stderr).contains(&format!("saved as {}", ids[0])), "{second:?}");
    // What is kept is what was printed, with every trial and all latencies.
    assert_eq!(of_kept(&server.kept(&["bench", "show", ids[0], "--format", "json"])), second_printed);
    assert_eq!(of_kept(&server.kept(&["bench", "export", ids[1], "--format", "json"])), printed);
    for arm in list(&printed["levels"][0]["arms"]) {
        let events: u64 = list(&arm["samples"]).iter().map(|trial| number(trial, "events")).sum();
        let histogram = bench::histogram::decode(arm["latency_histogram"].as_str().unwrap()).unwrap();
        assert_eq!((list(&arm["samples"]).len(), histogram.len()), (5, events), "{arm:#}");
        let curve = list(&arm["latency_percentiles"]);
        assert_eq!(curve.last().unwrap()["share"], 1.0, "{arm:#}");
    }
    // Nothing but time lies between the two.
    let compared = server.kept(&["bench", "compare", "first.json", ids[0], "--format", "json"]);
    let report = of_kept(&compared);
    assert_eq!(compared.status.code() == Some(0), report["is_usable"] == true, "{report:#}");
    // Each of the two arms, and what one costs of the other, at every number of connections.
    let levels = list(&printed["levels"]).len();
    let found = (list(&report["rows"]).len(), list(&report["effects"]).len());
    assert_eq!(found, (2 * levels, levels), "{report:#}");
    assert!(list(&report["differs"]).is_empty() && list(&report["only_in_one"]).is_empty(), "{report:#}");
    for row in list(&report["rows"]).iter().chain(list(&report["effects"])) {
        let at = |name: &str| row[name].as_f64().unwrap();
        assert!(at("low") <= at("ratio") && at("ratio") <= at("high"), "{row:#}");
    }
    let text = server.kept(&["bench", "compare", ids[1], ids[0]]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("clear text, 2 connections: "), "{text:?}");
    // A line a trial.
    // Marks at both ends (Apache Parquet, file format); what is between them is read in a test of `report`.
    let parquet = server.kept(&["bench", "export", ids[1], "--format", "parquet"]);
    assert!(parquet.stdout.starts_with(b"PAR1") && parquet.stdout.ends_with(b"PAR1"), "{parquet:?}");
    let _ = server.kept(&["bench", "export", ids[1], "--format", "parquet", "--out", "trials.parquet"]);
    assert_eq!(std::fs::read(server.directory.path().join("trials.parquet")).unwrap(), parquet.stdout);
    let csv = server.kept(&["bench", "export", ids[1], "--format", "csv"]);
    let csv = String::from_utf8(csv.stdout).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    let column = lines[0].split(',').position(|name| name == "events").unwrap();
    let in_csv: u64 =
        lines[1..].iter().map(|line| line.split(',').nth(column).unwrap().parse::<u64>().unwrap()).sum();
    let arms = list(&printed["levels"]).iter().flat_map(|level| list(&level["arms"]));
    let in_json: u64 = arms.flat_map(|arm| list(&arm["samples"])).map(|trial| number(trial, "events")).sum();
    assert_eq!((lines.len(), in_csv), (1 + 10 * levels, in_json), "{csv}");
    let page = std::fs::read_to_string(server.directory.path().join("page.html")).unwrap();
    assert!(page.matches("<svg").count() >= 4 && page.contains("clear text"), "{page}");
    // What a query costs is known on this machine; what a connection costs was not measured.
    let advice = of_kept(&server.kept(&["bench", "advise", "--format", "json"]));
    for row in list(&advice["capacity"]) {
        assert!(
            row["server_alone_per_s"].as_f64().unwrap() > row["together_per_s"].as_f64().unwrap(),
            "{row:#}"
        );
    }
    let verdict = |topic: &str| {
        let mut rows = list(&advice["advice"]).iter();
        rows.find(|row| row["topic"] == topic).unwrap_or_else(|| panic!("{topic}: {advice:#}"))["verdict"]
            .clone()
    };
    assert_ne!(verdict("tls"), "unknown", "{advice:#}");
    assert_eq!(verdict("pooling"), "unknown", "{advice:#}");
    // One measurement is kept as well, and is not compared with another question.
    server.load(&["connect", "--time", "0.3", "--warm-up", "0"], 0);
    let runs = of_kept(&server.kept(&["bench", "runs", "--limit", "1", "--format", "json"]));
    let load = runs["runs"][0]["run"].as_str().unwrap().to_owned();
    assert_eq!(runs["runs"][0]["experiment"], "load connect", "{runs:#}");
    for words in [["compare", &load, ids[0]], ["compare", "nothing", ids[0]], ["compare", "2", ids[0]]] {
        let said = server.kept(&[&["bench"], &words[..]].concat());
        assert_eq!((said.status.code(), said.stdout.len()), (Some(2), 0), "{said:?}");
        assert!(String::from_utf8_lossy(&said.stderr).contains("next: "), "{said:?}");
    }
    let said = server.load(&["connect", "--time", "0.2", "--warm-up", "0", "--no-store"], 0);
    assert!(number(&said, "events") > 0);
    assert_eq!(list(&of_kept(&server.kept(&["bench", "runs", "--format", "json"]))["runs"]).len(), 3);
}

#[test]
fn a_store_on_a_full_disk_loses_nothing_that_was_printed_and_does_not_hang() {
    let server = Real::start("galera-10.11", &[]);
    // From none at all to one in which the tables of the store fit, and the measurement does not. Where there is no room for
    // the memory that SQLite's processes share, the kernel calls it an I/O error.
    for size_k in [4, 16, 64, 120] {
        let disk = server.directory.path().join(format!("disk-{size_k}"));
        std::fs::create_dir(&disk).unwrap();
        let store = disk.join("runs.sqlite");
        let mount = format!("mount -t tmpfs -o size={size_k}k none '{}' && exec \"$@\"", disk.display());
        let inner =
            server.command(&["run", "versions", "--blocks", "5", "--trial-time", "0.1", "--warm-up", "0"]);
        let began = Instant::now();
        let said = Command::new("unshare")
            .args(["-rm", "sh", "-c", &mount, "sh"])
            .arg(inner.get_program())
            .args(inner.get_args())
            .arg(format!("--store={}", store.display()))
            .current_dir(server.directory.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(began.elapsed() < Duration::from_secs(60), "it hangs: {text}");
        let report: Value = serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"));
        let code = if report["is_usable"] == true { 2 } else { 7 };
        assert_eq!(said.status.code(), Some(code), "{size_k} KiB: {text}");
        assert_eq!(list(&report["levels"][0]["arms"][0]["samples"]).len(), 5, "{report:#}");
        let says_why = text.contains("disk is full") || text.contains("a full or failing disk");
        assert!(text.contains("could not be saved") && says_why, "{size_k} KiB: {text}");
    }
}

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
    fn sysbench(&self, workload: &str, schema: &str, events: u32) -> String {
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
fn an_arm_whose_tls_the_server_refuses_is_left_out_and_the_rest_is_measured() {
    let server = Real::start("mysql-9.7", &[]);
    server.prepare();
    let mut command = Command::new(sealion());
    command.args(["--format", "json", "bench", "run", "bulk", "--quick", "--no-store", "-h", "127.0.0.1"]);
    command.args(["-P", &server.port.to_string(), "-u", "root", "--ssl-mode", "REQUIRED", "--tables", "1"]);
    let said = command.stdin(Stdio::null()).output().unwrap();
    let seen: Value = serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"));
    let arms = list(&seen["levels"][0]["arms"]);
    assert_eq!(arms.len(), 4, "{seen:#}");
    assert!(arms.iter().all(|arm| list(&arm["samples"]).len() == 3), "{seen:#}");
    let left_out = list(&seen["left_out"]);
    assert!(left_out.len() == 1 && left_out[0].as_str().unwrap().contains("AES-256-CBC"), "{seen:#}");
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

/// What a client said, and what came back.
type Turns = Vec<[Vec<u8>; 2]>;

/// A relay that holds back the end of every answer, and looks whether the client speaks meanwhile.
#[derive(Clone, Default)]
struct Hold {
    /// What was said out of turn.
    faults: Arc<Mutex<Vec<String>>>,
    turns: Arc<Mutex<u64>>,
    /// Of each connection, its packets and their answers in turn.
    heard: Arc<Mutex<Vec<Turns>>>,
}

/// A server that is silent for so long has mostly said all. If it has not, the last byte that is held back is not the last
/// one of the answer, and the client has still less reason to speak: slowness makes the test weaker, and never wrong.
const SILENCE: Duration = Duration::from_millis(8);
/// Time for the client to speak out of turn.
const HELD: Duration = Duration::from_millis(5);

impl Hold {
    /// Answers on the port that comes back, until the test ends.
    fn before(&self, server_port: u16) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let hold = self.clone();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (hold, server) = (hold.clone(), TcpStream::connect(("127.0.0.1", server_port)).unwrap());
                std::thread::spawn(move || hold.relay(client.unwrap(), server));
            }
        });
        port
    }

    fn fault(&self, text: String) {
        self.faults.lock().unwrap().push(text);
    }

    /// The server speaks first; then they take turns. Nothing here knows what an answer looks like.
    fn relay(&self, mut client: TcpStream, mut server: TcpStream) {
        let number = {
            let mut heard = self.heard.lock().unwrap();
            heard.push(Vec::new());
            heard.len() - 1
        };
        let mut said = Vec::new();
        loop {
            let Some(answer) = everything(&mut server) else { return };
            self.heard.lock().unwrap()[number].push([std::mem::take(&mut said), answer.clone()]);
            let (last, most) = answer.split_last().unwrap();
            if client.write_all(most).is_err() {
                return;
            }
            match within(&mut client, HELD) {
                None => {}
                Some(early) if early.is_empty() => return,
                Some(early) => {
                    return self.fault(format!("{} bytes came before the answer was whole", early.len()));
                }
            }
            if client.write_all(&[*last]).is_err() {
                return;
            }
            // One packet, and no more until there is an answer.
            let deadline = Instant::now() + Duration::from_secs(60);
            loop {
                match within(&mut client, SILENCE) {
                    Some(rest) if !rest.is_empty() => said.extend(rest),
                    // It has gone, with a goodbye that has no answer.
                    Some(_) => return,
                    None if Instant::now() > deadline => return,
                    // The server was slow, and has said the rest of its answer.
                    None => {
                        let Some(rest) = within(&mut server, Duration::from_millis(1)) else { continue };
                        if rest.is_empty() || client.write_all(&rest).is_err() {
                            return;
                        }
                        if let Some([_, answer]) = self.heard.lock().unwrap()[number].last_mut() {
                            answer.extend(rest);
                        }
                        continue;
                    }
                }
                match packets(&said) {
                    Some(1) => break,
                    // The rest of a packet, or one that has an answer, is to come.
                    Some(0) | None => {}
                    Some(more) => return self.fault(format!("{more} packets came at once")),
                }
            }
            if let Some(second) = within(&mut client, HELD).filter(|second| !second.is_empty()) {
                return self.fault(format!("{} bytes came while a statement was outstanding", second.len()));
            }
            *self.turns.lock().unwrap() += 1;
            if server.write_all(&said).is_err() {
                return;
            }
        }
    }
}

/// What comes within this time; empty at the end of the stream, `None` for nothing.
fn within(stream: &mut TcpStream, time: Duration) -> Option<Vec<u8>> {
    stream.set_read_timeout(Some(time)).unwrap();
    let mut bytes = vec![0; 64 * 1024];
    match stream.read(&mut bytes) {
        Ok(count) => {
            bytes.truncate(count);
            Some(bytes)
        }
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => None,
        Err(_) => Some(Vec::new()),
    }
}

/// Until the server is silent. `None`: it has ended.
fn everything(server: &mut TcpStream) -> Option<Vec<u8>> {
    let mut all = within(server, Duration::from_secs(60)).filter(|first| !first.is_empty())?;
    while let Some(more) = within(server, SILENCE).filter(|more| !more.is_empty()) {
        all.extend(more);
    }
    Some(all)
}

/// `None`: the last one is not whole. Those without an answer (COM_STMT_CLOSE, COM_QUIT) do not count.
fn packets(mut bytes: &[u8]) -> Option<usize> {
    let mut count = 0;
    while let [a, b, c, _, rest @ ..] = bytes {
        let length = usize::from(*a) | usize::from(*b) << 8 | usize::from(*c) << 16;
        let command = rest.get(..length)?.first();
        count += usize::from(!matches!(command, Some(0x19 | 0x01)));
        bytes = &rest[length..];
    }
    bytes.is_empty().then_some(count)
}

fn payloads(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut all = Vec::new();
    while let [a, b, c, _, rest @ ..] = bytes {
        let (payload, more) = rest.split_at(usize::from(*a) | usize::from(*b) << 8 | usize::from(*c) << 16);
        all.push(payload);
        bytes = more;
    }
    all
}

/// Rows of all prepared statements of a connection, and their sum, by what went over the wire.
fn rows_of(heard: &[[Vec<u8>; 2]]) -> (u64, u64) {
    // Its greeting, and its login with what it can do.
    let login = payloads(&heard[1][0])[0];
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    let flags = Capabilities(number(&login[..4]));
    let extended = if flags.contains(Capabilities::LONG_PASSWORD) { 0 } else { number(&login[28..32]) };
    let [extends_metadata, caches_metadata] = [3, 4].map(|bit| extended & (1 << bit) != 0);
    // Behind six texts, or seven, and a length: character set, length, type. All are short here.
    let cell = |column: &&[u8]| {
        let mut rest = *column;
        for _text in 0..6 + usize::from(extends_metadata) {
            rest = &rest[1 + usize::from(rest[0])..];
        }
        Cell::of(rest[7]).unwrap()
    };
    let mut cells: HashMap<u32, Vec<Cell>> = HashMap::new();
    let (mut rows, mut checksum) = (0, 0_u64);
    for [said, answer] in &heard[2..] {
        match *payloads(said).last().unwrap() {
            [0x16, ..] => {
                let answer = payloads(answer);
                let head = PrepareOk::parse(answer[0]).unwrap();
                let ends = usize::from(!flags.contains(Capabilities::DEPRECATE_EOF) && head.parameters > 0);
                let columns = answer.iter().skip(1 + usize::from(head.parameters) + ends);
                let columns = columns.take(usize::from(head.columns));
                cells.insert(head.statement_id, columns.map(cell).collect());
            }
            [0x17, a, b, c, d, ..] => {
                let mut reader = AnswerReader::new(flags, caches_metadata);
                reader.begin();
                let cells = &cells[&u32::from_le_bytes([*a, *b, *c, *d])];
                let answer = reader.feed(answer, Rows::Binary(cells)).unwrap().expect("all of it");
                rows += answer.rows;
                checksum = checksum.wrapping_add(answer.checksum);
            }
            _ => {}
        }
    }
    (rows, checksum)
}

/// All ids are the same one: whoever sends the same statements gets the same rows.
#[test]
fn the_rows_and_their_sum_are_those_that_sysbench_gets() {
    const ONE: [&str; 8] = ["--database", "one", "--tables", "1", "--table-size", "1", "--range-size", "1"];
    let server = Real::start("galera-10.11", &[]);
    let said = server.bench(&[&["prepare"], &ONE[..6]].concat());
    assert!(said.status.success(), "{said:?}");
    for (workload, rows) in [("oltp_point_select", 1), ("oltp_read_only", 14)] {
        let hold = Hold::default();
        let port = hold.before(server.port).to_string();
        let said = Command::new("sysbench")
            .args([workload, "--db-driver=mysql", "--mysql-host=127.0.0.1", "--mysql-user=root", "--time=0"])
            .args([&format!("--mysql-port={port}"), "--mysql-db=one", "--tables=1", "--table-size=1"])
            .args(["--range-size=1", "--events=5", "run"])
            .stdin(Stdio::null())
            .output()
            .expect("sysbench is not here: scripts/setup.sh tools");
        assert!(said.status.success(), "{said:?}");
        let theirs: Vec<(u64, u64)> = hold.heard.lock().unwrap().iter().map(|heard| rows_of(heard)).collect();
        let words = [workload, "--events", "5", "--warm-up", "0", "--ssl-mode", "DISABLED"];
        let ours = server.load(&[&words[..], &ONE].concat(), 0);
        assert_eq!(number(&ours, "rows"), 5 * rows, "{workload}");
        let checksum = u64::from_str_radix(ours["rows_checksum"].as_str().unwrap(), 16).unwrap();
        assert_eq!(theirs, [(5 * rows, checksum)], "{workload}");
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

/// A table that is smaller than the ids that are drawn; an option of TLS for clear text.
#[test]
fn what_would_measure_something_else_is_refused() {
    let server = Real::start("galera-10.11", &[]);
    server.prepare();
    let refused = |words: &[&str], what: &str, code: i32| {
        let said = server.bench(&[&["load", "oltp_point_select"], words].concat());
        let text = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(said.status.code() == Some(code) && text.contains(what), "{said:?}");
    };
    refused(&["--table-size", "10000"], "the ids of sbtest1 end at 1000", 3);
    server.client().execute("DELETE FROM sealion_bench.sbtest2 WHERE id > 500").unwrap();
    refused(&["--table-size", "1000", "--tables", "2"], "the ids of sbtest2 end at 500", 3);
    refused(&["--table-size", "1000", "--ssl-mode", "DISABLED", "--tls-groups", "X25519"], "no effect", 2);
    refused(&["--table-size", "1000", "--ssl-mode", "DISABLED", "--tls-record-bytes", "64"], "no effect", 2);
    refused(&["--table-size", "1000", "--tls-library", "rustls", "--resume=session-id"], "no effect", 2);
    refused(
        &["--table-size", "1000", "--ssl-mode", "REQUIRED", "--tls-sigalgs", "nonsense"],
        "ECDSA+SHA256",
        2,
    );
    refused(
        &["--table-size", "1000", "--ssl-mode", "REQUIRED", "--tls-groups", "NOSUCH"],
        "as OpenSSL spells them",
        2,
    );
    refused(&["--table-size", "1000", "--time", "0"], "must be longer than 0", 2);
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

#[test]
fn a_connection_never_has_two_statements_outstanding() {
    let server = Real::start("galera-10.11", &[]);
    server.prepare();
    let hold = Hold::default();
    let port = hold.before(server.port).to_string();
    for workload in ["oltp_read_write", "oltp_insert", "stream"] {
        let words =
            [workload, "-P", &port, "-c", "3", "--events", "6", "--warm-up", "0", "--ssl-mode", "DISABLED"];
        let report = server.load(&[&words[..], &TABLES].concat(), 0);
        assert_eq!(number(&report, "events"), 6, "{report:#}");
    }
    assert_eq!(*hold.faults.lock().unwrap(), Vec::<String>::new());
    assert!(*hold.turns.lock().unwrap() > 6 * 20, "it has not seen them");
    // A client that does not wait is found: two COM_PING at once, and one before the greeting was whole.
    let connect = |login: bool| {
        let hold = Hold::default();
        let mut client = TcpStream::connect(("127.0.0.1", hold.before(server.port))).unwrap();
        let mut greeting = [0; 4];
        client.read_exact(&mut greeting).unwrap();
        if login {
            let mut rest = vec![0; usize::from(greeting[0])];
            client.read_exact(&mut rest).unwrap();
        }
        let ping = [1, 0, 0, 0, 0x0e];
        client.write_all(&[ping, ping].concat()).unwrap();
        let _ = client.read_to_end(&mut Vec::new());
        hold.faults.lock().unwrap().join(", ")
    };
    assert!(connect(true).contains("2 packets"), "{}", connect(true));
    assert!(connect(false).contains("before the answer was whole"), "{}", connect(false));
}
