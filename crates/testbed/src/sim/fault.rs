//! When something is killed: at a named moment of the driver, or just before one of the changes an action makes.

use super::world::{Shared, World};

/// What is unwound when sealion is killed. Nothing of sealion runs afterwards: it has no destructor that changes a node.
#[derive(Debug)]
pub struct Killed;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    KillSealion,
    /// `kill -9` of the server that the step is about, or whose file is being written.
    KillStepNode,
    /// `kill -9` of one that the step is not about.
    KillOtherNode,
    /// The machine of the step's node, with sealion on it, loses power. What was synced is kept.
    PowerCut,
    /// The step's node does not let sealion in any more: its password was changed.
    LoseLogin,
    /// The next start of the step's node beside a dynamic member ends with error 131, "same UUID"; the one after joins.
    Stumble,
    /// From now on there is no room on any node; the test makes room again.
    DiskFull,
    /// The step's node does not move for so many milliseconds.
    Freeze(u64),
    /// The socket file of the step's node is removed: it serves on, out of sealion's reach.
    LoseSocket,
    /// There is no room on the host of the step's node; the test makes room again.
    HostDiskFull,
    /// The agent on the host of the step's node is out of reach for so many milliseconds, and its server serves on. 0: only what is
    /// under way is lost, as when ssh is killed.
    HostLost(u64),
    /// The same of every host.
    AllHostsLost(u64),
    /// The host of the step's node does not move for so many milliseconds: server, sshd and agent.
    FreezeHost(u64),
    /// The step's node and another one do not reach each other for so many milliseconds.
    Cut(u64),
    /// The step's node and all others do not.
    CutOff(u64),
}

/// A place in a run where a fault can be put. The same seed and plan pass through the same instants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instant {
    /// `E2.n1:acting`
    pub moment: String,
    /// The change that comes next (`n1: write /etc/…`); empty at the moment itself.
    pub before: String,
    pub node: Option<usize>,
}

impl std::fmt::Display for Instant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.moment)?;
        if !self.before.is_empty() {
            write!(f, ", before {}", self.before)?;
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Default)]
pub struct Faults {
    pub trace: Vec<Instant>,
    /// Nobody wants to know at which instants something could be put: there are millions.
    pub is_untraced: bool,
    /// At which instant, counted from 0.
    pub planned: Option<(usize, Fault)>,
    pub moment: String,
    pub step_node: Option<usize>,
}

impl Shared {
    /// The driver is at a moment.
    pub fn moment(&self, name: &str, step_node: Option<usize>) {
        {
            let mut world = self.borrow_mut();
            name.clone_into(&mut world.faults.moment);
            world.faults.step_node = step_node;
        }
        self.pass("", step_node);
    }

    /// Something on `node` is about to be changed.
    pub fn instant(&self, what: &str, node: Option<usize>) {
        self.pass(what, node);
    }

    fn pass(&self, before: &str, node: Option<usize>) {
        if self.borrow().sealion_is_dead || self.borrow().faults.is_untraced {
            return;
        }
        let mut world = self.borrow_mut();
        let at = world.faults.trace.len();
        let moment = world.faults.moment.clone();
        let name = node.map(|node| world.servers[node].name());
        let before = match name {
            Some(name) if !before.is_empty() => format!("{name}: {before}"),
            _ => before.to_owned(),
        };
        let has_request = !before.is_empty();
        let node = node.or(world.faults.step_node);
        world.faults.trace.push(Instant { moment, before, node });
        let Some((_, fault)) = world.faults.planned.filter(|(planned, _)| *planned == at) else { return };
        if world.strike(fault, node, has_request) {
            drop(world);
            super::operator::die(self);
        }
    }
}

impl World {
    /// Returns whether sealion itself is gone.
    fn strike(&mut self, fault: Fault, node: Option<usize>, has_request: bool) -> bool {
        let count = self.servers.len();
        match fault {
            Fault::KillSealion => return true,
            Fault::KillStepNode => self.kill(node.unwrap_or(0)),
            Fault::KillOtherNode => {
                let victim = self.another(node.unwrap_or(0));
                self.kill(victim);
            }
            Fault::PowerCut => {
                self.kill(node.unwrap_or(0));
                return true;
            }
            Fault::LoseLogin => self.servers[node.unwrap_or(0)].refuses_login = true,
            Fault::Stumble => self.servers[node.unwrap_or(0)].stumbles = 1,
            Fault::Freeze(ms) => self.freeze(node.unwrap_or(1), ms),
            Fault::LoseSocket => self.servers[node.unwrap_or(1)].is_out_of_reach = true,
            Fault::HostDiskFull => self.servers[node.unwrap_or(0)].disk.free_bytes = 0,
            Fault::HostLost(ms) => self.lose_host(node.unwrap_or(0), ms, has_request),
            Fault::AllHostsLost(ms) => {
                for index in 0..count {
                    self.lose_host(index, ms, has_request && Some(index) == node);
                }
            }
            Fault::FreezeHost(ms) => self.freeze_host(node.unwrap_or(0), ms, has_request),
            Fault::Cut(ms) => {
                let (step, other) = (node.unwrap_or(0), self.another(node.unwrap_or(0)));
                self.cut(step, other, ms);
            }
            Fault::CutOff(ms) => self.cut_off(node.unwrap_or(0), ms),
            Fault::DiskFull => self.servers.iter_mut().for_each(|server| server.disk.free_bytes = 0),
        }
        false
    }

    fn another(&mut self, step: usize) -> usize {
        let others: Vec<usize> = (0..self.servers.len()).filter(|&other| other != step).collect();
        self.rng.choose(&others).unwrap_or(0)
    }
}
