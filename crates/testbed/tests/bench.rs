//! `sealion bench` on real servers: what it counts, and what it says when something goes wrong.
#![allow(clippy::unwrap_used)]

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use net::{Client, ConnectOptions, Endpoint};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use testbed::real::sealion;

/// Initialising MySQL takes 5 s on two busy cores.
const UP_S_MAX: u64 = 90;

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
        // Two ports in a row: MySQL has its X Protocol on the second one.
        let port = (0..100)
            .find_map(|_| {
                let first = TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
                TcpListener::bind(("127.0.0.1", first.checked_add(1)?)).ok().map(|_| first)
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
        command
            .args(["--format", "json", "bench"])
            .args(words)
            .arg(format!("--defaults-file={}", self.option_file().display()))
            .current_dir(self.directory.path())
            .stdin(Stdio::null());
        command
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
        assert!(String::from_utf8_lossy(&said.stderr).contains("not made by sealion"), "{said:?}");
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
    assert!(report_of_part["partial"].to_string().contains("ended early"), "{report_of_part:#}");
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
