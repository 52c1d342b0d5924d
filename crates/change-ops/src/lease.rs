//! Who changes a cluster now: a file on each of its nodes, so that a second operator with a state directory of their own is
//! stopped as well.
//!
//! A lease ends with its holder's process, where that can be seen, and else when it was not renewed for [`LEASE_MS`]. Whoever
//! lost it begins nothing further.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use host::{Local, ReadHost, WriteHost};
use model::{Clock, SystemClock};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};

use site::OpsError;
use site::inventory::Cluster;
use site::random16;

/// Without being renewed. Long enough for a machine that stalls, short enough to be waited for.
pub const LEASE_MS: u64 = 60_000;
const RENEW: Duration = Duration::from_secs(5);
const FILE: &str = "lease.json";
const LOCK: &str = "lease.lock";
/// Held by others only while they read and write one small file.
const LOCK_MAX: Duration = Duration::from_secs(5);
const BYTES_MAX: u64 = 64 * 1024;

/// What the file holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    id: String,
    /// `root@db1`, and what it was told to do.
    pub holder: String,
    /// The holder's machine since its start, process and its start: with them the same machine knows whether it still runs.
    boot_id: String,
    pid: i32,
    start_ticks: u64,
    pub until_unix_ms: u64,
}

impl Held {
    fn own(command: &str) -> Self {
        let pid = i32::try_from(std::process::id()).unwrap_or(i32::MAX);
        let user =
            std::env::var("SUDO_USER").or_else(|_| std::env::var("USER")).unwrap_or_else(|_| "uid".into());
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        Self {
            id: model::hex(&random16()),
            holder: format!("{user}@{}, pid {pid}, sealion {command}", host.trim()),
            boot_id: boot_id(),
            pid,
            start_ticks: Local.process(pid).ok().flatten().map_or(0, |facts| facts.start_ticks),
            until_unix_ms: 0,
        }
    }

    fn is_over(&self) -> bool {
        if self.until_unix_ms <= SystemClock.unix_ms() {
            return true;
        }
        if self.boot_id != boot_id() || self.start_ticks == 0 {
            return false;
        }
        // Cannot tell is not over.
        Local
            .process(self.pid)
            .is_ok_and(|facts| facts.is_none_or(|facts| facts.start_ticks != self.start_ticks))
    }
}

/// Another one at each start of the kernel. Empty: not known, and then nobody's.
fn boot_id() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    // Process numbers mean something within one PID namespace only.
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    match text.trim() {
        "" => format!("unknown {}", model::hex(&random16())),
        id => format!("{id} {}", namespace.display()),
    }
}

/// Held for as long as this value lives.
pub struct Lease {
    held: Held,
    dirs: Vec<PathBuf>,
    renewer: Option<(Sender<()>, JoinHandle<()>)>,
}

fn read(dir: &Path) -> Result<Option<Held>, String> {
    let path = dir.join(FILE);
    let bytes = Local.read(&path, BYTES_MAX).map_err(|error| error.to_string())?;
    // One that cannot be read (a full disk cut it off) is nobody's: its holder finds that out.
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

fn write(dir: &Path, held: &Held) -> Result<(), String> {
    let text = serde_json::to_vec(held).map_err(|error| error.to_string())?;
    Local.write(&dir.join(FILE), &text, Some(0o600), None).map_err(|error| error.to_string())
}

/// Between reading and writing nobody else may write.
fn locked(dir: &Path) -> Result<Flock<File>, String> {
    let path = dir.join(LOCK);
    let open = || OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
    let began = Instant::now();
    loop {
        let file = open().map_err(|error| format!("{}: {error}", path.display()))?;
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => return Ok(lock),
            Err((_, Errno::EWOULDBLOCK)) if began.elapsed() < LOCK_MAX => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err((_, errno)) => return Err(format!("{}: {errno}", path.display())),
        }
    }
}

/// Who changes the cluster now, if anybody.
pub fn holder(cluster: &Cluster) -> Option<Held> {
    cluster.nodes.iter().find_map(|node| read(&node.state_dir).ok().flatten().filter(|held| !held.is_over()))
}

impl Lease {
    /// # Errors
    /// `Refused` while somebody else holds it, unless it is taken over; or no node takes it.
    pub fn take(cluster: &Cluster, command: &str, takes_over: bool) -> Result<Self, OpsError> {
        let mut held = Held::own(command);
        held.until_unix_ms = SystemClock.unix_ms() + LEASE_MS;
        let mut lease = Self { held, dirs: Vec::new(), renewer: None };
        let mut failed = Vec::new();
        for node in &cluster.nodes {
            let dir = &node.state_dir;
            let taken = Local
                .make_dir(dir, 0o700, None)
                .map_err(|error| error.to_string())
                .and_then(|()| locked(dir))
                .and_then(|lock| Ok((lock, read(dir)?)));
            match taken {
                Ok((_lock, Some(other))) if !other.is_over() && !takes_over => {
                    return Err(OpsError::Refused(format!(
                        "another sealion is at work on cluster {}, nothing was changed\n  why:  {} holds the lease on {}, renewed until \
                         {} s from now\n  next: wait for it, or see that it has ended; then the same command again (or at once, \
                         with --take-over)",
                        cluster.name,
                        other.holder,
                        node.name,
                        other.until_unix_ms.saturating_sub(SystemClock.unix_ms()) / 1000
                    )));
                }
                Ok((_lock, _)) => match write(dir, &lease.held) {
                    Ok(()) => lease.dirs.push(dir.clone()),
                    Err(why) => failed.push(format!("{}: {why}", node.name)),
                },
                Err(why) => failed.push(format!("{}: {why}", node.name)),
            }
        }
        if lease.dirs.is_empty() {
            return Err(OpsError::Refused(format!(
                "no node of cluster {} takes a lease, nothing was changed\n  why:  {}\n  next: mend that, then the same command again",
                cluster.name,
                failed.join("\n        ")
            )));
        }
        lease.renew_from_now_on();
        Ok(lease)
    }

    fn renew_from_now_on(&mut self) {
        let (stop, stopped) = channel();
        let (held, dirs) = (self.held.clone(), self.dirs.clone());
        let renewer = std::thread::spawn(move || {
            while stopped.recv_timeout(RENEW) == Err(RecvTimeoutError::Timeout) {
                for dir in &dirs {
                    let Ok(_lock) = locked(dir) else { continue };
                    // Taken over: it is theirs now, and the next step finds out.
                    if read(dir).is_ok_and(|now| now.is_some_and(|now| now.id != held.id)) {
                        continue;
                    }
                    let until_unix_ms = SystemClock.unix_ms() + LEASE_MS;
                    // A full disk is told by what needs the room.
                    let _ = write(dir, &Held { until_unix_ms, ..held.clone() });
                }
            }
        });
        self.renewer = Some((stop, renewer));
    }

    /// # Errors
    /// Somebody took it over.
    pub fn is_ours(&self) -> Result<(), String> {
        for dir in &self.dirs {
            if let Ok(Some(now)) = read(dir)
                && now.id != self.held.id
            {
                return Err(format!(
                    "the lease was taken over, so nothing further is begun here\n  why:  {} holds it now ({})\n  next: wait for it; \
                     when it has ended: sealion resume",
                    now.holder,
                    dir.join(FILE).display()
                ));
            }
        }
        Ok(())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some((stop, renewer)) = self.renewer.take() {
            drop(stop);
            let _ = renewer.join();
        }
        for dir in &self.dirs {
            if let Ok(_lock) = locked(dir)
                && read(dir).is_ok_and(|now| now.is_some_and(|now| now.id == self.held.id))
            {
                let _ = Local.remove(&dir.join(FILE));
            }
        }
    }
}

/// A runner that begins nothing once the lease is somebody else's.
pub struct Fenced<'l, R> {
    pub runner: R,
    pub lease: &'l Lease,
}

impl<R: change::Runner> change::Runner for Fenced<'_, R> {
    fn check(
        &mut self,
        step: &model::Step,
        direction: change::Direction,
    ) -> Result<change::StepCheck, change::StepError> {
        self.runner.check(step, direction)
    }

    fn act(&mut self, step: &model::Step, direction: change::Direction) -> Result<(), change::StepError> {
        self.lease.is_ours().map_err(change::StepError)?;
        self.runner.act(step, direction)
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

    fn copy_journal(&mut self, journal: &Path, line: &str) -> Result<(), change::StepError> {
        self.runner.copy_journal(journal, line)
    }
}
