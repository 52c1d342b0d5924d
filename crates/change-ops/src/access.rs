//! What a change is given to work with: nodes, a look on the wire, the operator's own directories, a clock, and who the
//! operator's process is. A user's cluster gives the real ones; tests hand in simulated ones, and drive what ships.

use std::path::Path;
use std::time::Duration;

use change::{Command, Machine};
use chrono::Timelike;
use escrow::{Escrow, Seal};
use host::{Local, ReadHost, SharedHost};
use model::{Clock, Look, SystemClock};
use net::SecretString;
use serde::{Deserialize, Serialize};
use server::{WriteArbitrator, WriteNode, WriteProxy};
use site::inventory::Cluster;
use site::random16;
use status_ops::sniff::WireEye;

/// A process of an operator's machine, told apart from all others that ever ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorProcess {
    /// The machine since its start.
    pub boot_id: String,
    pub pid: i32,
    /// 0: not known.
    pub start_ticks: u64,
}

pub trait ClusterAccess {
    fn cluster_name(&self) -> &str;
    /// Journals, on the operator's machine.
    fn state_dir(&self) -> &Path;
    /// The cluster's own CA, on the operator's machine.
    fn ca_dir(&self) -> &Path;
    /// Sealed copies of the keys of data at rest, on the operator's machine; with the passphrase of the CA, where nothing else is named.
    fn escrow(&self, passphrase: &SecretString) -> Escrow;
    /// Each call gives handles of their own.
    fn nodes(&self) -> Vec<Box<dyn WriteNode + '_>>;
    /// Members without data, as [`Self::nodes`] has those with data.
    fn arbitrators(&self) -> Vec<Box<dyn WriteArbitrator + '_>>;
    /// Those in front of the nodes.
    fn proxies(&self) -> Vec<Box<dyn WriteProxy + '_>>;
    fn look(&self) -> Box<dyn Look + '_>;
    fn clock(&self) -> &dyn Clock;
    /// What the operator's wall clock shows, in minutes since midnight.
    fn local_minute(&self) -> u16;
    /// Lets so much time pass.
    fn wait(&self, time: Duration);
    fn process(&self) -> OperatorProcess;
    /// `root@db1`.
    fn operator(&self) -> String;
    /// Whether that process is known to be gone. What cannot be determined is not gone.
    fn has_ended(&self, process: &OperatorProcess) -> bool;
    /// The nodes' hosts for a thread that renews leases while a step takes long, as [`Self::nodes`] has them. `None`: there is no
    /// thread, and leases are renewed between records.
    fn thread_hosts(&self) -> Option<Vec<SharedHost>>;
    /// The driver is about to carry out a command; `say` is for people.
    fn at(&self, machine: &Machine, command: &Command, say: &mut dyn FnMut(String));
}

/// The nodes' files are on this machine, or on those that agents reach.
impl ClusterAccess for Cluster {
    fn cluster_name(&self) -> &str {
        &self.name
    }

    fn state_dir(&self) -> &Path {
        &self.state_dir
    }

    fn ca_dir(&self) -> &Path {
        &self.ca_dir
    }

    fn escrow(&self, passphrase: &SecretString) -> Escrow {
        let seal = match &self.escrow_for {
            Some((to, identity_file)) => {
                Seal::Recipients { to: to.clone(), identity_file: identity_file.clone() }
            }
            None => Seal::Passphrase(passphrase.clone()),
        };
        Escrow::new(&self.escrow_dir, seal)
    }

    fn nodes(&self) -> Vec<Box<dyn WriteNode + '_>> {
        self.reach_machines();
        self.live().into_iter().map(|node| Box::new(node) as Box<dyn WriteNode>).collect()
    }

    fn arbitrators(&self) -> Vec<Box<dyn WriteArbitrator + '_>> {
        self.live_arbitrators().into_iter().map(|one| Box::new(one) as Box<dyn WriteArbitrator>).collect()
    }

    fn proxies(&self) -> Vec<Box<dyn WriteProxy + '_>> {
        self.live_proxies().into_iter().map(|proxy| Box::new(proxy) as Box<dyn WriteProxy>).collect()
    }

    fn look(&self) -> Box<dyn Look + '_> {
        Box::new(WireEye::new(self))
    }

    fn clock(&self) -> &dyn Clock {
        &SystemClock
    }

    fn local_minute(&self) -> u16 {
        let now = chrono::Local::now();
        u16::try_from(now.hour() * 60 + now.minute()).unwrap_or(0)
    }

    fn wait(&self, time: Duration) {
        std::thread::sleep(time);
    }

    fn process(&self) -> OperatorProcess {
        let pid = i32::try_from(std::process::id()).unwrap_or(i32::MAX);
        let start_ticks = Local.process(pid).ok().flatten().map_or(0, |facts| facts.start_ticks);
        OperatorProcess { boot_id: boot_id(), pid, start_ticks }
    }

    fn operator(&self) -> String {
        let of_process = || nix::unistd::User::from_uid(nix::unistd::getuid()).ok().flatten();
        let user = std::env::var("SUDO_USER")
            .or_else(|_| std::env::var("USER"))
            .ok()
            .or_else(|| of_process().map(|user| user.name))
            .unwrap_or_else(|| format!("uid {}", nix::unistd::getuid()));
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        format!("{user}@{}", host.trim())
    }

    fn has_ended(&self, process: &OperatorProcess) -> bool {
        if process.boot_id != boot_id() || process.start_ticks == 0 {
            return false;
        }
        Local
            .process(process.pid)
            .is_ok_and(|facts| facts.is_none_or(|facts| facts.start_ticks != process.start_ticks))
    }

    fn thread_hosts(&self) -> Option<Vec<SharedHost>> {
        Some(self.nodes.iter().map(|node| self.machine_of(node).shared_host()).collect())
    }

    fn at(&self, machine: &Machine, command: &Command, say: &mut dyn FnMut(String)) {
        hold_at(machine, command, say);
    }
}

/// Stops where `SEALION_CRASH_AT` or `SEALION_HOLD_AT` wants it: see [`change::driver::moment`].
pub fn hold_at(machine: &Machine, command: &Command, say: &mut dyn FnMut(String)) {
    let Some(moment) = change::driver::moment(machine, command) else { return };
    let is_wished = |name: &str| std::env::var(name).is_ok_and(|wish| wish == moment);
    if is_wished("SEALION_CRASH_AT") {
        std::process::abort();
    }
    if is_wished("SEALION_HOLD_AT") {
        say(format!("held at {moment} (SEALION_HOLD_AT)"));
        loop {
            std::thread::sleep(std::time::Duration::from_secs(3600));
        }
    }
}

/// Another one at each start of the kernel. Where it is not known, nobody else has the same.
fn boot_id() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    // Process numbers mean something within one PID namespace only.
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    match text.trim() {
        "" => format!("unknown {}", model::hex(&random16())),
        id => format!("{id} {}", namespace.display()),
    }
}
