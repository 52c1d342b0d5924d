//! Who changes a cluster now: a file on each of its nodes, so that a second operator with a state directory of their own is
//! stopped as well.
//!
//! A lease ends with its holder's process, where that can be seen, and else when it was not renewed for [`LEASE_MS`]. Two machines' clocks
//! need not agree on that: one that looks over is watched for [`WATCH`] before it is taken. Whoever lost it begins nothing further. A file that cannot be read, or makes no sense, is neither free nor held: cannot tell.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use host::{HostLock, ReadHost, SharedHost, WriteHost};
use model::{Clock, NodeName, SystemClock};
use serde::{Deserialize, Serialize};
use server::WriteNode;
use site::{OpsError, random16};

use crate::access::{ClusterAccess, OperatorProcess};
use crate::gates::Gatekeeper;

/// Without being renewed. Long enough for a machine that stalls, short enough to be waited for.
pub const LEASE_MS: u64 = 60_000;
const RENEW: Duration = Duration::from_secs(5);
const RENEW_MS: u64 = 5_000;
/// Whoever is at work renews it on each node meanwhile, whatever their clock says.
pub const WATCH: Duration = Duration::from_secs(20);
const FILE: &str = "lease.json";
const LOCK: &str = "lease.lock";
/// Held by others only while they read and write one small file.
const LOCK_MAX: Duration = Duration::from_secs(5);
const BYTES_MAX: u64 = 64 * 1024;
/// So many nodes must say that a lease is ours, of those that answer; the rest of a large inventory is not asked at each step.
const SEEN_MIN: usize = 16;

/// What the file holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseRecord {
    id: String,
    /// `root@db1`, and what it was told to do.
    pub holder: String,
    #[serde(flatten)]
    process: OperatorProcess,
    pub until_unix_ms: u64,
}

impl LeaseRecord {
    fn own(access: &dyn ClusterAccess, command: &str) -> Self {
        let process = access.process();
        Self {
            id: model::hex(&random16()),
            holder: format!("{}, pid {}, sealion {command}", access.operator(), process.pid),
            process,
            until_unix_ms: access.clock().unix_ms() + LEASE_MS,
        }
    }

    fn is_over(&self, access: &dyn ClusterAccess) -> bool {
        self.is_lapsed(access) || access.has_ended(&self.process)
    }

    fn is_lapsed(&self, access: &dyn ClusterAccess) -> bool {
        self.until_unix_ms <= access.clock().unix_ms()
    }
}

/// What a node's file says.
enum LeaseFile {
    /// There is none, or an empty one, as some file systems leave after a power cut: nobody's.
    Free,
    Held(LeaseRecord),
    /// Neither free nor held, with the reason.
    CannotTell(String),
}

fn read(host: &dyn ReadHost, dir: &Path) -> LeaseFile {
    let path = dir.join(FILE);
    match host.read(&path, BYTES_MAX) {
        Ok(None) => LeaseFile::Free,
        Ok(Some(bytes)) if bytes.is_empty() => LeaseFile::Free,
        Ok(Some(bytes)) => match serde_json::from_slice(&bytes) {
            Ok(held) => LeaseFile::Held(held),
            Err(error) => LeaseFile::CannotTell(format!("{} is damaged ({error})", path.display())),
        },
        Err(error) => LeaseFile::CannotTell(error.to_string()),
    }
}

/// Whether a node's file is the record of this one. It is written whole, and nobody else has the same id: it needs not be taken
/// apart, which would be done a million times for a thousand nodes.
fn is_of(host: &dyn ReadHost, dir: &Path, held: &LeaseRecord) -> bool {
    let begins = format!("{{\"id\":\"{}\",", held.id);
    let is_it = |bytes: &[u8]| bytes.starts_with(begins.as_bytes()) && bytes.ends_with(b"}");
    matches!(host.read(&dir.join(FILE), BYTES_MAX), Ok(Some(bytes)) if is_it(&bytes))
}

fn write(host: &dyn WriteHost, dir: &Path, held: &LeaseRecord) -> Result<(), String> {
    let text = serde_json::to_vec(held).map_err(|error| error.to_string())?;
    host.write(&dir.join(FILE), &text, Some(0o600), None).map_err(|error| error.to_string())
}

/// Between reading and writing nobody else may write.
fn locked(host: &dyn WriteHost, dir: &Path) -> Result<Box<dyn HostLock>, String> {
    host.lock(&dir.join(LOCK), LOCK_MAX).map_err(|error| error.to_string())
}

/// Who changes the cluster now, if anybody.
///
/// # Errors
/// No node says that somebody does, and one cannot be asked: the reason.
pub fn holder(access: &dyn ClusterAccess) -> Result<Option<LeaseRecord>, String> {
    let mut unknown = None;
    for node in access.nodes() {
        match read(node.host(), &node.spec().state_dir) {
            LeaseFile::Held(held) if !held.is_over(access) => return Ok(Some(held)),
            LeaseFile::CannotTell(why) => unknown = Some(format!("{}: {why}", node.name())),
            LeaseFile::Free | LeaseFile::Held(_) => {}
        }
    }
    unknown.map_or(Ok(None), Err)
}

/// Whether a lease that has lapsed by our clock is renewed all the same.
fn watch_lapsed(access: &dyn ClusterAccess, say: &mut dyn FnMut(String)) -> Result<(), OpsError> {
    let lapsed = || -> Vec<(NodeName, LeaseRecord)> {
        let nodes = access.nodes();
        let of_node = |node: &(dyn WriteNode + '_)| match read(node.host(), &node.spec().state_dir) {
            LeaseFile::Held(held) if held.is_lapsed(access) && !access.has_ended(&held.process) => {
                Some((node.name().clone(), held))
            }
            _ => None,
        };
        nodes.iter().filter_map(|node| of_node(&**node)).collect()
    };
    let before = lapsed();
    let Some((node, held)) = before.first() else { return Ok(()) };
    say(format!(
        "the lease of {} on {node} was not renewed in time by this machine's clock: watching it for {} s",
        held.holder,
        WATCH.as_secs()
    ));
    access.wait(WATCH);
    for node in access.nodes() {
        let Some((name, held)) = before.iter().find(|(name, _)| name == node.name()) else { continue };
        if let LeaseFile::Held(now) = read(node.host(), &node.spec().state_dir)
            && now != *held
        {
            return Err(OpsError::Refused(format!(
                "another sealion is at work on cluster {}, nothing was changed\n  why:  {} renews the lease on {name}, and its clock and \
                 this machine's differ by more than a minute\n  next: set the clocks; wait for it, or make sure that it has ended; then \
                 the same command again",
                access.cluster_name(),
                now.holder
            )));
        }
    }
    Ok(())
}

/// Why a lease is not ours any more, for people.
#[derive(Debug)]
pub enum LeaseLost {
    Taken(String),
    /// No node says whose it is.
    Unknown(String),
}

/// Held for as long as this value lives.
pub struct Lease<'a> {
    access: &'a dyn ClusterAccess,
    held: LeaseRecord,
    /// Of each node, its place in the inventory.
    places: BTreeMap<NodeName, usize>,
    /// Those whose file is ours, with their place in the inventory.
    nodes: Vec<(usize, Box<dyn WriteNode + 'a>)>,
    renewer: Option<(Sender<()>, JoinHandle<()>)>,
    /// Places in the inventory of nodes whose lease was found to be somebody else's when it was to be renewed.
    lost: Arc<Mutex<BTreeSet<usize>>>,
    renewed_unix_ms: Cell<u64>,
    /// How often some were renewed without a thread.
    turn: Cell<usize>,
}

impl<'a> Lease<'a> {
    /// # Errors
    /// `Refused` while somebody else holds it or may hold it, unless it is taken over; or no node takes it.
    pub fn take(
        access: &'a dyn ClusterAccess,
        command: &str,
        takes_over: bool,
        say: &mut dyn FnMut(String),
    ) -> Result<Self, OpsError> {
        if !takes_over {
            watch_lapsed(access, say)?;
        }
        let renewed_unix_ms = Cell::new(access.clock().unix_ms());
        let held = LeaseRecord::own(access, command);
        let lost = Arc::default();
        let mut lease = Self {
            access,
            held,
            places: BTreeMap::new(),
            nodes: Vec::new(),
            renewer: None,
            lost,
            renewed_unix_ms,
            turn: Cell::new(0),
        };
        let mut failed = Vec::new();
        for (at, node) in access.nodes().into_iter().enumerate() {
            lease.places.insert(node.name().clone(), at);
            let dir = node.spec().state_dir.clone();
            let host = node.write_host();
            let made = host.make_dir(&dir, 0o700, None).map_err(|error| error.to_string());
            let taken = match made.and_then(|()| locked(host, &dir)) {
                Err(why) => Err(why),
                Ok(_lock) => {
                    if !takes_over {
                        lease.may_take(node.name(), &read(host, &dir))?;
                    }
                    write(host, &dir, &lease.held)
                }
            };
            match taken {
                Ok(()) => lease.nodes.push((at, node)),
                Err(why) => failed.push(format!("{}: {why}", node.name())),
            }
        }
        if lease.nodes.is_empty() {
            return Err(OpsError::Refused(format!(
                "no node of cluster {} accepts a lease, nothing was changed\n  why:  {}\n  next: fix that, then the same command again",
                access.cluster_name(),
                failed.join("\n        ")
            )));
        }
        lease.renew_from_now_on();
        Ok(lease)
    }

    fn may_take(&self, node: &NodeName, now: &LeaseFile) -> Result<(), OpsError> {
        let cluster = self.access.cluster_name();
        match now {
            LeaseFile::Held(other) if !other.is_over(self.access) => Err(OpsError::Refused(format!(
                "another sealion is at work on cluster {cluster}, nothing was changed\n  why:  {} holds the lease on {node}, renewed \
                 until {} s from now\n  next: wait for it, or make sure that it has ended; then the same command again (or at once, \
                 with --take-over)",
                other.holder,
                other.until_unix_ms.saturating_sub(self.access.clock().unix_ms()) / 1000
            ))),
            LeaseFile::CannotTell(why) => Err(OpsError::Refused(format!(
                "cannot tell whether another sealion is at work on cluster {cluster}, nothing was changed\n  why:  the lease on \
                 {node}: {why}\n  next: make sure that no sealion is at work on this cluster, from any machine; then the same command \
                 again with --take-over"
            ))),
            LeaseFile::Free | LeaseFile::Held(_) => Ok(()),
        }
    }

    fn renew_from_now_on(&mut self) {
        let Some(mut hosts) = self.access.thread_hosts() else { return };
        let ours = |at: usize| self.nodes.iter().find(|(place, _)| *place == at);
        let hosts: Vec<(usize, SharedHost, PathBuf)> = hosts
            .drain(..)
            .enumerate()
            .filter_map(|(at, host)| Some((at, host, ours(at)?.1.spec().state_dir.clone())))
            .collect();
        let (held, lost) = (self.held.clone(), Arc::clone(&self.lost));
        let (stop, stopped) = channel();
        let renewer = std::thread::spawn(move || {
            let mut turn = 0;
            while stopped.recv_timeout(RENEW) == Err(RecvTimeoutError::Timeout) {
                turn += 1;
                for (at, host, dir) in
                    hosts.iter().skip(turn % turns(hosts.len())).step_by(turns(hosts.len()))
                {
                    if !renew(&**host, dir, &held, SystemClock.unix_ms()) {
                        note(&lost, *at);
                    }
                }
            }
        });
        self.renewer = Some((stop, renewer));
    }

    /// # Errors
    /// Somebody took it over, or no node says any more that it is ours.
    pub fn is_ours(&self) -> Result<(), String> {
        self.is_ours_for(&[])
    }

    /// The same, before something is done on these nodes.
    ///
    /// # Errors
    /// As [`Self::is_ours`].
    pub fn is_ours_for(&self, nodes: &[NodeName]) -> Result<(), String> {
        self.stands_for(nodes).map_err(|(LeaseLost::Taken(why) | LeaseLost::Unknown(why))| why)
    }

    /// # Errors
    /// As [`Self::is_ours`], for whoever can wait where nobody answers.
    pub fn stands(&self) -> Result<(), LeaseLost> {
        self.stands_for(&[])
    }

    /// Whoever takes it over writes to each node before anything else is done, in the order of the inventory: it is seen on the first
    /// that answer, and on those that something is done on. All others are looked at when they are renewed.
    fn stands_for(&self, touched: &[NodeName]) -> Result<(), LeaseLost> {
        let now = self.access.clock().unix_ms();
        if self.renewer.is_none() && now >= self.renewed_unix_ms.get() + RENEW_MS {
            self.renewed_unix_ms.set(now);
            let (turn, turns) = (self.turn.get(), turns(self.nodes.len()));
            self.turn.set(turn + 1);
            for (at, node) in self.nodes.iter().skip(turn % turns).step_by(turns) {
                if !renew(node.write_host(), &node.spec().state_dir, &self.held, now) {
                    note(&self.lost, *at);
                }
            }
        }
        let mut also = self.lost.lock().map(|lost| lost.clone()).unwrap_or_default();
        also.extend(touched.iter().filter_map(|name| self.places.get(name)));
        let mut seen = 0;
        let mut unknown = Vec::new();
        for (at, node) in &self.nodes {
            if seen >= SEEN_MIN && !also.contains(at) {
                continue;
            }
            if is_of(node.host(), &node.spec().state_dir, &self.held) {
                seen += 1;
                continue;
            }
            match read(node.host(), &node.spec().state_dir) {
                LeaseFile::Held(now) if now.id == self.held.id => seen += 1,
                LeaseFile::Held(now) => {
                    return Err(LeaseLost::Taken(format!(
                        "the lease was taken over, so nothing further is begun here\n  why:  {} holds it now ({} on {})\n  next: wait \
                         for it; when it has ended: sealion resume",
                        now.holder,
                        node.spec().state_dir.join(FILE).display(),
                        node.name()
                    )));
                }
                // Whoever took it over has ended, or somebody removed it.
                LeaseFile::Free => unknown.push(format!("{} has none any more", node.name())),
                LeaseFile::CannotTell(why) => unknown.push(format!("{}: {why}", node.name())),
            }
        }
        if seen > 0 {
            return Ok(());
        }
        Err(LeaseLost::Unknown(format!(
            "no node says any more that the lease is ours, so nothing further is begun here\n  why:  {}\n  next: sealion status says \
             whether another sealion is at work; when none is: sealion resume",
            unknown.join("\n        ")
        )))
    }
}

/// In so many turns all are renewed, so that each is several times while a lease lasts, and once while somebody watches it.
fn turns(nodes: usize) -> usize {
    if nodes > 3 * SEEN_MIN { 3 } else { 1 }
}

/// `false`: it is somebody else's, and is left: the next step finds out.
fn renew(host: &dyn WriteHost, dir: &Path, held: &LeaseRecord, now_unix_ms: u64) -> bool {
    let Ok(_lock) = locked(host, dir) else { return true };
    if is_of(host, dir, held) {
        // A full disk is told by what needs the room.
        let _ = write(host, dir, &LeaseRecord { until_unix_ms: now_unix_ms + LEASE_MS, ..held.clone() });
        return true;
    }
    !matches!(read(host, dir), LeaseFile::Held(now) if now.id != held.id)
}

fn note(lost: &Mutex<BTreeSet<usize>>, at: usize) {
    if let Ok(mut lost) = lost.lock() {
        lost.insert(at);
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if let Some((stop, renewer)) = self.renewer.take() {
            drop(stop);
            let _ = renewer.join();
        }
        for (_, node) in &self.nodes {
            let (host, dir) = (node.write_host(), &node.spec().state_dir);
            if let Ok(_lock) = locked(host, dir)
                && matches!(read(host, dir), LeaseFile::Held(now) if now.id == self.held.id)
            {
                let _ = host.remove(&dir.join(FILE));
            }
        }
    }
}

/// A runner that begins nothing once the lease is somebody else's, and no step while a gate is closed.
pub(crate) struct LeasedRunner<'l, R> {
    pub runner: R,
    pub lease: &'l Lease<'l>,
    pub gates: Gatekeeper<'l>,
}

impl<R: change::Runner> change::Runner for LeasedRunner<'_, R> {
    fn check(
        &mut self,
        step: &model::Step,
        direction: change::Direction,
    ) -> Result<change::StepCheck, change::StepError> {
        self.runner.check(step, direction)
    }

    fn act(
        &mut self,
        step: &model::Step,
        direction: change::Direction,
        mark: Option<&str>,
    ) -> Result<change::Acted, change::StepError> {
        self.lease.is_ours_for(&step.nodes).map_err(change::StepError)?;
        self.runner.act(step, direction, mark)
    }

    fn verify(
        &mut self,
        step: &model::Step,
        direction: change::Direction,
    ) -> Result<String, change::StepError> {
        self.runner.verify(step, direction)
    }

    fn may_go_on(&mut self) -> Result<(), change::StepError> {
        self.lease.is_ours().map_err(change::StepError)
    }

    fn may_begin(
        &mut self,
        step: &model::Step,
        direction: change::Direction,
        stand: change::Stand,
    ) -> Result<change::Begins, change::StepError> {
        self.gates.may_begin(self.lease, step, direction, stand)
    }

    fn copy_journal(&mut self, journal: &Path, line: &str) -> Result<usize, change::StepError> {
        self.runner.copy_journal(journal, line)
    }
}
