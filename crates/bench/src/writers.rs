//! Continuous writers in a process of their own, behaving as an application with a connection pool does.
//!
//! They learn of a drain only as an application would: every so often, between transactions, a connection is checked
//! (`wsrep_local_state` must be 4, as HAProxy's and ProxySQL's checks have it), and left if the check fails.
//! Every acknowledged transaction is synced to a log before it counts. A transaction that fails counts as failed,
//! also if it is tried again.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use net::{Client, ConnectOptions, Endpoint, NetError};
use serde::{Deserialize, Serialize};

use crate::Target;

/// How often a pooled connection is checked. Common settings of proxies are 0.2 to 2 s.
const CHECK_MS: u64 = 250;
/// Between two tries to connect when no node takes us.
const RECONNECT_MS: u64 = 50;
/// A pause between transactions, so that the load does not take the processor from the servers under test.
const THINK_MS: u64 = 5;
/// How long a pooled connection rests between two transactions.
const REST_MS: u64 = 300;
/// How old a pooled connection gets. Pools' own settings are minutes; a drain waits for it.
const LIFE_MS: u64 = 1500;
/// Error texts that are kept.
const ERRORS_KEPT_MAX: usize = 20;

/// What the writers need; handed over as a file, without the password.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Config {
    pub targets: Vec<Target>,
    pub writers: u32,
    /// So many of them, the last ones, know nothing of Galera: a connection of theirs rests, is tested before it is used again, and is
    /// left when it is old, as a pool does behind a proxy.
    #[serde(default)]
    pub pooled: u32,
    pub out_dir: PathBuf,
    /// Goes into every row, so that a sniffer can find it.
    pub canary: String,
}

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ack {
    pub writer: u32,
    pub seq: u64,
    pub node: String,
    pub began_unix_ms: u64,
    pub acked_unix_ms: u64,
}

/// What the process reports at its end (`writers.json`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    pub acknowledged: u64,
    pub failed: u64,
    /// Commits whose outcome is not known, because the connection broke; part of `failed`.
    pub in_doubt: u64,
    pub connects: u64,
    pub connects_refused: u64,
    /// Of the connections made, those over TLS.
    pub connects_tls: u64,
    pub moved_by_check: u64,
    pub errors: Vec<String>,
}

fn unix_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}

pub fn log_path(dir: &Path, writer: u32) -> PathBuf {
    dir.join(format!("acks-{writer}.log"))
}

pub fn outcome_path(dir: &Path) -> PathBuf {
    dir.join("writers.json")
}

/// Runs until `stop_when_closed` ends (the parent closes our stdin, or dies).
pub fn run(
    config: &Config,
    login: &ConnectOptions,
    stop_when_closed: impl Read + Send + 'static,
) -> io::Result<Outcome> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    std::thread::spawn(move || {
        let mut from = stop_when_closed;
        let mut sink = [0; 64];
        while matches!(from.read(&mut sink), Ok(n) if n > 0) {}
        flag.store(true, Ordering::SeqCst);
    });
    let outcome = std::thread::scope(|scope| -> io::Result<Outcome> {
        let threads: Vec<_> = (0..config.writers)
            .map(|writer| {
                let (stop, config, login) = (Arc::clone(&stop), config, login);
                scope.spawn(move || Writer::new(writer, config, login)?.run(&stop))
            })
            .collect();
        let mut total = Outcome::default();
        for thread in threads {
            let one = thread.join().map_err(|_| io::Error::other("a writer panicked"))??;
            total.acknowledged += one.acknowledged;
            total.failed += one.failed;
            total.in_doubt += one.in_doubt;
            total.connects += one.connects;
            total.connects_refused += one.connects_refused;
            total.connects_tls += one.connects_tls;
            total.moved_by_check += one.moved_by_check;
            total.errors.extend(one.errors);
        }
        total.errors.truncate(ERRORS_KEPT_MAX);
        Ok(total)
    })?;
    let text = serde_json::to_string_pretty(&outcome).map_err(io::Error::other)?;
    std::fs::write(outcome_path(&config.out_dir), text)?;
    Ok(outcome)
}

struct Writer<'a> {
    id: u32,
    config: &'a Config,
    login: &'a ConnectOptions,
    log: File,
    outcome: Outcome,
    at: usize,
    seq: u64,
}

impl<'a> Writer<'a> {
    fn new(id: u32, config: &'a Config, login: &'a ConnectOptions) -> io::Result<Self> {
        let path = log_path(&config.out_dir, id);
        // A second run of writers goes on where the first ended.
        let seq = read_log(&path).unwrap_or_default().last().map_or(0, |ack| ack.seq + 1);
        let log = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self { id, config, login, log, outcome: Outcome::default(), at: id as usize, seq })
    }

    fn run(mut self, stop: &AtomicBool) -> io::Result<Outcome> {
        while !stop.load(Ordering::SeqCst) {
            let Some((mut client, name)) = self.connect() else {
                self.at += 1;
                std::thread::sleep(Duration::from_millis(RECONNECT_MS));
                continue;
            };
            let mut checked = Instant::now();
            let opened = Instant::now();
            loop {
                if stop.load(Ordering::SeqCst) {
                    let _ = client.quit();
                    return Ok(self.outcome);
                }
                if self.is_pooled() {
                    std::thread::sleep(Duration::from_millis(REST_MS));
                    if opened.elapsed() >= Duration::from_millis(LIFE_MS) {
                        let _ = client.quit();
                        break;
                    }
                    // One that was cut meanwhile is thrown away, and the application does not see it.
                    if client.query("SELECT 1").is_err() {
                        self.outcome.moved_by_check += 1;
                        break;
                    }
                } else if checked.elapsed() >= Duration::from_millis(CHECK_MS) {
                    if !in_service(&mut client) {
                        self.outcome.moved_by_check += 1;
                        let _ = client.quit();
                        break;
                    }
                    checked = Instant::now();
                }
                let began_unix_ms = unix_ms();
                if let Err((error, in_doubt)) = self.transaction(&mut client, &name) {
                    self.outcome.failed += 1;
                    self.outcome.in_doubt += u64::from(in_doubt);
                    if self.outcome.errors.len() < ERRORS_KEPT_MAX {
                        self.outcome.errors.push(format!(
                            "writer {} on {name} at {} ms: {error}",
                            self.id,
                            unix_ms()
                        ));
                    }
                    // The number is not used again: whether it was committed is for the audit to see.
                    self.seq += 1;
                    break;
                }
                let line = format!("{} {} {name} {began_unix_ms} {}\n", self.id, self.seq, unix_ms());
                self.log.write_all(line.as_bytes())?;
                self.log.sync_data()?;
                self.outcome.acknowledged += 1;
                self.seq += 1;
                std::thread::sleep(Duration::from_millis(THINK_MS));
            }
            self.at += 1;
        }
        Ok(self.outcome)
    }

    fn is_pooled(&self) -> bool {
        self.id >= self.config.writers.saturating_sub(self.config.pooled)
    }

    fn connect(&mut self) -> Option<(Client, String)> {
        let target = &self.config.targets[self.at % self.config.targets.len()];
        let options = ConnectOptions {
            endpoint: Endpoint::tcp(target.host.clone(), target.port),
            connect_timeout: Duration::from_secs(2),
            io_timeout: Duration::from_secs(20),
            program_name: "sealion-writers".into(),
            ..self.login.clone().for_application()
        };
        if let Ok(mut client) = Client::connect(&options)
            && (self.is_pooled() || in_service(&mut client))
        {
            self.outcome.connects += 1;
            self.outcome.connects_tls += u64::from(client.tls().is_some());
            return Some((client, target.name.clone()));
        }
        self.outcome.connects_refused += 1;
        None
    }

    /// The flag says that the commit was sent and its answer did not come.
    fn transaction(&self, client: &mut Client, node: &str) -> Result<(), (NetError, bool)> {
        client.execute("BEGIN").map_err(|error| (error, false))?;
        let insert = format!(
            "INSERT INTO {}.writes (writer, seq, node, pad) VALUES ({}, {}, '{node}', '{}')",
            crate::SCHEMA,
            self.id,
            self.seq,
            self.config.canary
        );
        client.execute(&insert).map_err(|error| (error, false))?;
        client.execute("COMMIT").map(|_| ()).map_err(|error| {
            let in_doubt = !matches!(error, NetError::Refused { .. });
            (error, in_doubt)
        })
    }
}

/// As a health check sees it: Synced and ready; a server outside of Galera is in service while it answers.
fn in_service(client: &mut Client) -> bool {
    let value = |client: &mut Client, of: &str, name: &str| {
        let rows = client.query(&format!("SHOW GLOBAL {of} LIKE '{name}'")).ok()?;
        Some(rows.text(0, "Value").map(std::borrow::Cow::into_owned))
    };
    match value(client, "VARIABLES", "wsrep_on") {
        None => false,
        Some(Some(on)) if on == "ON" => {
            value(client, "STATUS", "wsrep_local_state").flatten().as_deref() == Some("4")
                && value(client, "STATUS", "wsrep_ready").flatten().as_deref() == Some("ON")
        }
        Some(_) => true,
    }
}

/// Reads a log; a torn last line (the process was killed) is left out.
pub fn read_log(path: &Path) -> io::Result<Vec<Ack>> {
    let text = std::fs::read_to_string(path)?;
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    Ok(whole
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            Some(Ack {
                writer: words.next()?.parse().ok()?,
                seq: words.next()?.parse().ok()?,
                node: words.next()?.to_owned(),
                began_unix_ms: words.next()?.parse().ok()?,
                acked_unix_ms: words.next()?.parse().ok()?,
            })
        })
        .collect())
}

/// A pause in which one writer got nothing acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stall {
    pub writer: u32,
    pub started_unix_ms: u64,
    pub lasted_ms: u64,
    /// Where the next acknowledgement came from.
    pub node: String,
}

/// The longest gaps between two acknowledgements of one writer, longest first.
pub fn stalls(acks: &[Ack], at_least_ms: u64) -> Vec<Stall> {
    let mut stalls: Vec<Stall> = acks
        .windows(2)
        .filter_map(|pair| {
            let [one, next] = pair else { return None };
            let lasted_ms = next.acked_unix_ms.saturating_sub(one.acked_unix_ms);
            (one.writer == next.writer && lasted_ms >= at_least_ms).then(|| Stall {
                writer: one.writer,
                started_unix_ms: one.acked_unix_ms,
                lasted_ms,
                node: next.node.clone(),
            })
        })
        .collect();
    stalls.sort_by_key(|stall| std::cmp::Reverse(stall.lasted_ms));
    stalls
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(writer: u32, seq: u64, acked_unix_ms: u64) -> Ack {
        Ack { writer, seq, node: "n1".into(), began_unix_ms: acked_unix_ms, acked_unix_ms }
    }

    #[test]
    fn a_stall_is_a_gap_of_one_writer_not_between_two() {
        let acks = [ack(0, 0, 100), ack(0, 1, 150), ack(0, 2, 900), ack(1, 0, 5000), ack(1, 1, 5010)];
        let found = stalls(&acks, 100);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].lasted_ms, found[0].started_unix_ms), (750, 150));
    }

    #[test]
    fn a_torn_line_is_not_an_acknowledgement() {
        let dir = tempfile::tempdir().expect("tmp");
        let path = log_path(dir.path(), 0);
        std::fs::write(&path, "0 0 n1 10 20\n0 1 n1 30 4").expect("writable");
        assert_eq!(read_log(&path).expect("readable").len(), 1);
    }
}
