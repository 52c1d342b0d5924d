//! Processes of a lab whose nodes are hosts, as they are seen from outside: which are a host's, which are sealion's agents, which
//! ssh leads there.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::RealLab;

/// A process by what /proc says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabProcess {
    pub pid: Pid,
    pub words: Vec<String>,
}

impl LabProcess {
    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|one| one == word)
    }

    pub fn signal(&self, signal: Signal) {
        // It may have ended by itself a moment ago.
        let _ = kill(self.pid, signal);
    }
}

fn processes() -> Vec<LabProcess> {
    let entries = fs::read_dir("/proc").expect("there is /proc").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let found = pids.filter_map(|pid: i32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let words = line.split(|&byte| byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
        Some(LabProcess { pid: Pid::from_raw(pid), words: words.collect() })
    });
    found.collect()
}

/// The network namespace that a process is in.
pub(super) fn network_of(pid: i32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/ns/net")).ok()
}

impl RealLab {
    /// All that runs on a node's host: sshd, agents, the server with what it has started.
    pub fn processes_on(&self, node: &str) -> Vec<LabProcess> {
        let host = self.file().node(node).and_then(|node| node.host_pid).expect("a node that is a host");
        let network = network_of(host).expect("the host runs");
        let is_there = |one: &LabProcess| network_of(one.pid.as_raw()).as_ref() == Some(&network);
        processes().into_iter().filter(is_there).collect()
    }

    /// Sealion's agents on a node's host.
    pub fn agents_on(&self, node: &str) -> Vec<LabProcess> {
        let is_agent = |one: &LabProcess| one.has("agent") && (one.has("--read") || one.has("--write"));
        // The login shell of sshd has the same words in one.
        self.processes_on(node).into_iter().filter(is_agent).collect()
    }

    /// The ssh that lead from the operator to a node's host.
    pub fn ssh_to(&self, node: &str) -> Vec<LabProcess> {
        let config = ::lab::hosts::ssh_config(&self.dir).display().to_string();
        let leads = |one: &LabProcess| one.has(&config) && one.has(node) && one.has("-T");
        processes().into_iter().filter(leads).collect()
    }

    /// Everything of a host stands still while this lives.
    pub fn freeze(&self, what: Vec<LabProcess>) -> Frozen {
        for one in &what {
            one.signal(Signal::SIGSTOP);
        }
        Frozen(what)
    }

    /// Members reach each other again when it is dropped.
    pub fn cut(&self, hosts: &[&str]) -> CutNetwork {
        let lab = self.open();
        lab.cut(hosts).expect("the lab can cut its network");
        CutNetwork(lab)
    }

    /// Networks of the lab's hosts, its own among them: whose processes are the lab's.
    pub fn networks(&self) -> BTreeSet<PathBuf> {
        let file = self.file();
        let hosts = file.nodes.iter().chain(&file.arbitrators).filter_map(|node| node.host_pid);
        let others = [file.proxy_host_pid, file.app_host_pid, Some(file.supervisor_pid)];
        hosts.chain(others.into_iter().flatten()).filter_map(network_of).collect()
    }
}

/// Processes that stand still.
pub struct Frozen(Vec<LabProcess>);

impl Drop for Frozen {
    fn drop(&mut self) {
        for one in &self.0 {
            one.signal(Signal::SIGCONT);
        }
    }
}

/// A network with a cut.
pub struct CutNetwork(::lab::Lab);

impl Drop for CutNetwork {
    fn drop(&mut self) {
        // Where the test has failed the lab is ended anyway.
        if let Err(error) = self.0.mend() {
            eprintln!("the network is not whole: {error}");
        }
    }
}
