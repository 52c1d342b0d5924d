//! `sealion bench` on real servers: what it counts, and what it says when something goes wrong.
#![allow(clippy::unwrap_used)]

mod experiments;
mod load;
mod store;
mod sysbench;
mod turns;

use net::Client;
use net::ConnectOptions;
use net::Endpoint;
use serde_json::Value;
use std::net::TcpListener;
use std::net::TcpStream;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Output;
use std::process::Stdio;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::time::Instant;
use testbed::real::sealion;

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

/// Its JSON, and its code is that of a usable run or of one that is not.
fn of_kept(said: &Output) -> Value {
    assert!(matches!(said.status.code(), Some(0 | 7)), "{said:?}");
    serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"))
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("{value:#}"))
}
