//! `sealion scan`: names become addresses, addresses become rows, as they come.

mod budget;
mod names;
mod observe;
mod queue;
mod rows;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, ToSocketAddrs};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use ::scan::interrogation::Depth;
use ::scan::target::host_and_port;
use ::scan::{Limits, Next, Port, Target};
use model::{Clock, SystemClock};
use report::shape::{SCAN_SCHEMA_ID, ScanReport, TargetRow};

use crate::OpsError;
pub use budget::Budget;
use queue::Queue;

/// Names that are looked up at once: the system's resolver waits seconds for a dead name server.
const RESOLVERS: usize = 16;
/// Addresses of one name that are looked at.
const ADDRESSES_MAX: usize = 4;
/// A file of targets with more lines is no file of targets.
const TARGETS_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// One place that somebody named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    pub host: String,
    /// `None`: all the usual ports.
    pub port: Option<u16>,
}

#[derive(Debug, Clone)]
pub struct Settings {
    pub depth: Depth,
    pub limits: Limits,
    /// Connections per address, over all runs that the budget remembers.
    pub connections_per_address: u32,
    /// What chains are checked against.
    pub roots: Vec<Roots>,
}

/// CAs that clients trust.
#[derive(Debug, Clone)]
pub struct Roots {
    pub name: &'static str,
    pub pem: Vec<u8>,
}

/// What the CA that a person names is called in results.
pub const NAMED_CA: &str = "--ssl-ca";
/// The CAs of a public bundle have some 250 KiB.
const BUNDLE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The bundle that was named, and the system's where there is one.
///
/// # Errors
/// A named file that cannot be read, or holds no certificate.
pub fn roots(named: Option<&Path>) -> Result<Vec<Roots>, OpsError> {
    let mut found = Vec::new();
    if let Some(path) = named {
        let refuse = |why: String| {
            OpsError::usage(
                format!("the CA file {} cannot be used", path.display()),
                why,
                "name a file of PEM certificates",
            )
        };
        let pem = host::ReadHost::read(&host::Local, path, BUNDLE_BYTES_MAX)
            .map_err(|error| refuse(error.to_string()))?
            .ok_or_else(|| refuse("there is no such file".into()))?;
        trust::inspect(&pem).map_err(|error| refuse(error.to_string()))?;
        found.push(Roots { name: NAMED_CA, pem });
    }
    if let Some(path) = trust::system_bundle()
        && let Ok(Some(pem)) = host::ReadHost::read(&host::Local, &path, BUNDLE_BYTES_MAX)
    {
        found.push(Roots { name: "system store", pem });
    }
    Ok(found)
}

/// Reads words as targets.
///
/// # Errors
/// The first word that is none.
pub fn wishes<'w>(words: impl IntoIterator<Item = &'w str>) -> Result<Vec<Wish>, OpsError> {
    words
        .into_iter()
        .map(|word| {
            host_and_port(word).map(|(host, port)| Wish { host, port }).map_err(|why| {
                OpsError::usage(
                    format!("\"{word}\" is no target"),
                    why,
                    "name HOST, HOST:PORT, an address, or [IPv6]:PORT",
                )
            })
        })
        .collect()
}

/// Targets of a file: one a line; what follows a # is a comment.
///
/// # Errors
/// With the number of the line.
pub fn wishes_of_file(path: &Path) -> Result<Vec<Wish>, OpsError> {
    let refuse = |why: String| {
        OpsError::usage(
            format!("the file of targets {} cannot be used", path.display()),
            why,
            "put one HOST or HOST:PORT on a line",
        )
    };
    let bytes = host::ReadHost::read(&host::Local, path, TARGETS_BYTES_MAX)
        .map_err(|error| refuse(error.to_string()))?
        .ok_or_else(|| refuse("there is no such file".into()))?;
    let text = String::from_utf8(bytes).map_err(|error| refuse(error.to_string()))?;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let word = line.split('#').next().unwrap_or_default().trim();
        if !word.is_empty() {
            let (host, port) =
                host_and_port(word).map_err(|why| refuse(format!("line {}: {why}", number + 1)))?;
            found.push(Wish { host, port });
        }
    }
    Ok(found)
}

/// Looks at every wish. `row` is called as each target is complete. Ending early (`stop`) leaves a report that says so.
///
/// # Errors
/// Where this process can have no sockets.
pub fn scan(
    wishes: &[Wish],
    settings: &Settings,
    budget: &mut Budget,
    stop: &AtomicBool,
    row: &mut dyn FnMut(&TargetRow),
) -> Result<ScanReport, OpsError> {
    let started_unix_ms = SystemClock.unix_ms();
    let (found, unresolved) = resolve(wishes);
    let mut rows: Vec<TargetRow> = Vec::new();
    let mut silent: BTreeMap<(String, Option<String>), TargetRow> = BTreeMap::new();
    let mut answered: BTreeSet<(String, Option<String>)> = BTreeSet::new();
    let state = RefCell::new((Queue::default(), budget, Vec::<TargetRow>::new()));
    let mut source = || {
        if stop.load(Ordering::Relaxed) {
            return Next::End;
        }
        let mut state = state.borrow_mut();
        let (queue, budget, refused) = &mut *state;
        loop {
            let target = match queue.next() {
                Some(target) => Some(target),
                None => match found.try_recv() {
                    Ok(target) => queue.admit(target),
                    Err(mpsc::TryRecvError::Disconnected) if queue.is_empty() => return Next::End,
                    Err(_) => return Next::Later,
                },
            };
            let Some(mut target) = target else { continue };
            let ip = target.address.ip();
            match budget.left(ip, settings.connections_per_address) {
                0 => {
                    refused.push(rows::over_budget(&target, settings.connections_per_address));
                    queue.done(ip);
                }
                left => {
                    target.connections_max = left;
                    return Next::Target(target);
                }
            }
        }
    };
    ::scan::run(&mut source, settings.depth, &settings.limits, &mut |seen| {
        let ip = seen.target.address.ip();
        {
            let mut state = state.borrow_mut();
            state.1.spend(ip, seen.facts.connections);
            state.0.done(ip);
        }
        let one = rows::row(&seen, &settings.roots, SystemClock.unix_ms());
        let host = (one.host.clone(), one.address.clone());
        // A usual port of a host where nobody listens is no news, unless nobody listens on any.
        if seen.target.is_named || seen.facts.service.is_some() {
            answered.insert(host);
            row(&one);
            rows.push(one);
        } else {
            silent.entry(host).or_insert(one);
        }
        !stop.load(Ordering::Relaxed)
    })
    .map_err(|error| OpsError::internal("the scan cannot run", error))?;
    let refused = state.into_inner().2;
    let silent = silent.into_iter().filter(|(host, _)| !answered.contains(host)).map(|(_, row)| TargetRow {
        not_seen: vec![format!("nothing answers on any usual port ({})", row.not_seen.join("; "))],
        ..row
    });
    let mut unresolved = unresolved.lock().unwrap_or_else(PoisonError::into_inner);
    for one in refused.into_iter().chain(silent).chain(unresolved.drain(..)) {
        row(&one);
        rows.push(one);
    }
    drop(unresolved);
    Ok(ScanReport {
        schema: SCAN_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        started_unix_ms,
        ended_unix_ms: SystemClock.unix_ms(),
        depth: depth_word(settings.depth).into(),
        grading_version: rules::grade::VERSION,
        is_complete: !stop.load(Ordering::Relaxed),
        targets: rows,
    })
}

pub fn depth_word(depth: Depth) -> &'static str {
    match depth {
        Depth::First => "first",
        Depth::Classes => "classes",
        Depth::Full => "full",
    }
}

type Rows = Arc<Mutex<Vec<TargetRow>>>;

/// Looks names up on threads of their own; rows of names without an address are kept apart.
fn resolve(wishes: &[Wish]) -> (mpsc::Receiver<Target>, Rows) {
    // Bounded: a file of a million names is not turned into a million targets at once.
    let (send, receive) = mpsc::sync_channel(1024);
    let rows: Rows = Arc::default();
    let queue: Arc<Mutex<VecDeque<Wish>>> = Arc::new(Mutex::new(wishes.iter().cloned().collect()));
    for _ in 0..RESOLVERS.min(wishes.len()) {
        let (send, rows, queue) = (send.clone(), Arc::clone(&rows), Arc::clone(&queue));
        thread::spawn(move || {
            loop {
                let wish = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                let Some(wish) = wish else { return };
                match addresses(&wish.host) {
                    Ok(addresses) => {
                        let ports: Vec<u16> = wish
                            .port
                            .map_or_else(|| Port::USUAL.map(|(port, _)| port).to_vec(), |port| vec![port]);
                        for (ip, port) in
                            addresses.iter().flat_map(|ip| ports.iter().map(move |port| (*ip, *port)))
                        {
                            if send.send(Target::new(&wish.host, ip, port, wish.port.is_some())).is_err() {
                                return;
                            }
                        }
                    }
                    Err(why) => rows
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(rows::no_address(&wish, &why)),
                }
            }
        });
    }
    (receive, rows)
}

fn addresses(host: &str) -> Result<Vec<IpAddr>, String> {
    if let Ok(ip) = host.parse() {
        return Ok(vec![ip]);
    }
    let mut found: Vec<IpAddr> =
        (host, 0).to_socket_addrs().map_err(|error| error.to_string())?.map(|address| address.ip()).collect();
    found.dedup();
    found.truncate(ADDRESSES_MAX);
    if found.is_empty() { Err("the name has no address".into()) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings {
            depth: Depth::First,
            limits: Limits::default(),
            connections_per_address: 40,
            roots: vec![],
        }
    }

    #[test]
    fn every_wish_has_a_row_also_the_dead_and_the_nameless() {
        let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound");
        let words = [closed.to_string(), "no-such-name.invalid:3306".to_owned()];
        let wishes = wishes(words.iter().map(String::as_str)).expect("targets");
        let mut came = Vec::new();
        let mut budget = Budget::in_memory();
        let report = scan(&wishes, &settings(), &mut budget, &AtomicBool::new(false), &mut |row| {
            came.push(row.target.clone());
        })
        .expect("sockets");
        assert_eq!((report.targets.len(), came.len(), report.is_complete), (2, 2, true));
        let dead = report.targets.iter().find(|row| row.target == closed.to_string()).expect("a row");
        assert!(dead.service.is_none() && dead.grade.is_none());
        assert!(dead.not_seen.iter().any(|why| why.contains("refused")), "{dead:?}");
        let nameless = report.targets.iter().find(|row| row.host.ends_with(".invalid")).expect("a row");
        assert_eq!((nameless.address.as_ref(), nameless.connections), (None, 0));
    }

    #[test]
    fn an_address_whose_budget_is_spent_is_not_dialled() {
        let wishes = wishes(["192.0.2.1:3306"]).expect("a target");
        let mut budget = Budget::in_memory();
        budget.spend("192.0.2.1".parse().expect("an address"), 40);
        let report = scan(&wishes, &settings(), &mut budget, &AtomicBool::new(false), &mut |_| {})
            .expect("no sockets");
        let row = &report.targets[0];
        assert_eq!(row.connections, 0);
        assert!(row.not_seen[0].contains("40 connections"), "{row:?}");
    }

    #[test]
    fn a_bad_line_of_a_file_is_named() {
        let dir = tempfile::tempdir().expect("tmp");
        let path = dir.path().join("t");
        std::fs::write(&path, "db1 # ours\n\ndb2:3307\n10.0.0.0/8\n").expect("writable");
        let error = wishes_of_file(&path).expect_err("line 4").to_string();
        assert!(error.contains("line 4"), "{error}");
        std::fs::write(&path, "db1 # ours\n\ndb2:3307\n").expect("writable");
        assert_eq!(wishes_of_file(&path).expect("fine").len(), 2);
    }
}
