//! A person at a workstation with a state directory of their own, who runs what ships (`change_ops::roll`) on a world: with the
//! locks, the lease and the copies of the journals.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::time::Duration;

use change::driver::moment;
use change::machine::Command;
use change::{Direction, Machine, Outcome};
use change_ops::access::{ClusterAccess, OperatorProcess};
use change_ops::gates::Gates;
use change_ops::roll::{self, Settings};
use change_ops::unfinished::{Continuation, continuation};
use escrow::{Escrow, Seal};
use model::{Change, Clock, Look, NodeName, Plan};
use net::SecretString;
use server::{WriteArbitrator, WriteNode, WriteProxy};
use site::OpsError;
use tempfile::TempDir;

use super::arbitrator::SimArbitrator;
use super::fault::Killed;
use super::look::SimLook;
use super::node::SimNode;
use super::proxy::SimProxy;
use super::rig::{End, Rig, memory_dir};
use super::world::{Shared, SimClock};

/// The world's clock, as a workstation has it that goes wrong by so much.
#[derive(Debug)]
struct WrongClock {
    clock: SimClock,
    wrong_ms: i64,
}

impl Clock for WrongClock {
    fn unix_ms(&self) -> u64 {
        self.clock.unix_ms().saturating_add_signed(self.wrong_ms)
    }
}

#[derive(Debug)]
pub struct Operator {
    shared: Shared,
    inventory: Vec<usize>,
    /// Journals; the CA is the rig's, since a cluster has one.
    dir: TempDir,
    ca_dir: PathBuf,
    passphrase: String,
    settings: Settings,
    clock: WrongClock,
    /// The machine since its start, and the command that runs.
    boot: Cell<u32>,
    pid: Cell<i32>,
    name: &'static str,
    outcome: RefCell<Option<Outcome>>,
    /// Somebody else is at work while this one waits.
    pub another_renews: Cell<bool>,
    at_wait: RefCell<Option<AtWait>>,
}

/// Called whenever sealion waits; `true`: it is killed there.
struct AtWait(Box<dyn FnMut() -> bool>);

impl std::fmt::Debug for AtWait {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AtWait")
    }
}

const LEASE: &str = "/var/lib/sealion/lease.json";

impl Operator {
    pub fn new(rig: &Rig, name: &'static str) -> Self {
        Self::with_clock(rig, name, 0)
    }

    /// One whose clock is wrong by so many milliseconds.
    pub fn with_clock(rig: &Rig, name: &'static str, wrong_ms: i64) -> Self {
        Self {
            shared: rig.shared.clone(),
            inventory: rig.inventory.clone(),
            dir: memory_dir(),
            ca_dir: rig.ca_dir(),
            passphrase: rig.passphrase.clone(),
            settings: Settings {
                key: rig.key,
                ca_days: 3650,
                leaf_days: rig.leaf_days,
                limits: rig.limits,
                allow_untested: rig.allow_untested,
                accept_managed: rig.accept_managed,
                skip_openssl_check: rig.skip_openssl_check,
                may_lack_rights: rig.may_lack_rights,
                accept_unknown_clients: rig.accept_unknown_clients,
                accept_unproven: rig.accept_unproven,
                accept_shut_out: rig.accept_shut_out,
                leave_accounts: rig.leave_accounts.clone(),
                force_accounts: rig.force_accounts.clone(),
                replace_data: rig.replace_data,
                at_rest: rig.at_rest,
                ..Settings::default()
            },
            clock: WrongClock { clock: rig.shared.borrow().clock.clone(), wrong_ms },
            boot: Cell::new(0),
            pid: Cell::new(1),
            name,
            outcome: RefCell::default(),
            another_renews: Cell::new(false),
            at_wait: RefCell::default(),
        }
    }

    /// Goes on although somebody else's lease has not lapsed.
    pub fn takes_over(&mut self, does: bool) {
        self.settings.takes_over = does;
    }

    pub fn gates(&mut self, gates: Gates) {
        self.settings.gates = gates;
    }

    /// What happens each time that sealion waits between two steps; `true`: it is killed.
    pub fn at_wait(&self, what: impl FnMut() -> bool + 'static) {
        *self.at_wait.borrow_mut() = Some(AtWait(Box::new(what)));
    }

    /// The workstation was started anew: what ran there is gone, and cannot be asked for by its number.
    pub fn reboot(&self) {
        self.boot.set(self.boot.get() + 1);
    }

    fn secret(&self) -> SecretString {
        SecretString::from(self.passphrase.clone())
    }

    pub fn plan(&self, change: &Change) -> Result<Plan, OpsError> {
        roll::plan(self, &self.settings, self.secret(), change)
    }

    pub fn apply(&self, plan: &Plan) -> End {
        self.command(|tell| roll::apply(self, &self.settings, self.secret(), plan, tell).map(|_| ()))
    }

    /// `sealion resume`, and with `Back` `sealion undo`.
    pub fn go_on(&self, wish: Option<Direction>) -> End {
        self.command(|tell| roll::go_on(self, &self.settings, self.secret(), wish, tell).map(|_| ()))
    }

    pub fn abandon(&self) -> End {
        self.command(|_| {
            let left = roll::abandon(self, &self.settings, &mut |_| {})?;
            self.shared.borrow_mut().said.extend(left);
            *self.outcome.borrow_mut() = Some(Outcome::Complete);
            Ok(())
        })
    }

    /// One process of its own.
    fn command(&self, work: impl FnOnce(roll::Tell<'_>) -> Result<(), OpsError>) -> End {
        self.pid.set(self.pid.get() + 1);
        self.outcome.borrow_mut().take();
        let shared = self.shared.clone();
        let mut tell = |progress| match progress {
            roll::Progress::Line(line) => shared.borrow_mut().said.push(line),
            roll::Progress::Waiting { id, why, .. } => {
                shared.borrow_mut().said.push(format!("{id} waits: {}", why.as_deref().unwrap_or("over")));
            }
            _ => {}
        };
        Rig::mortal(&self.shared, || match work(&mut tell) {
            Ok(()) => End::Outcome(self.outcome.borrow().clone().unwrap_or(Outcome::Complete)),
            Err(error) => self.ended(error),
        })
    }

    fn ended(&self, error: OpsError) -> End {
        if let Some(outcome) = self.outcome.borrow().clone() {
            return End::Outcome(outcome);
        }
        match error {
            OpsError::Refused(text) if text.starts_with("there is nothing to ") => End::NothingToResume,
            OpsError::Refused(text) => End::Refused(text),
            OpsError::Stopped(text) => End::NotRevived(text),
            other => End::Journal(other.to_string()),
        }
    }

    /// What the question before `resume` or `undo` is made from.
    pub fn continuation(&self, wish: Option<Direction>) -> Option<Continuation> {
        continuation(self, wish).expect("sound journals")
    }

    /// What is said with the question before an `undo`.
    pub fn undo_warnings(&self) -> Vec<String> {
        let one = self.continuation(Some(Direction::Back)).expect("something to take back");
        roll::undo_warnings(self, &self.settings, &one.plan, &one.steps_of_plan())
            .expect("a plan of this version")
    }

    /// Every journal of this machine, to look for secrets in.
    pub fn journals(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let dir = self.dir.path().join("journals").join("sim");
        let entries = std::fs::read_dir(dir).into_iter().flatten();
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let journals = paths.filter(|path| path.extension().is_some_and(|end| end == "journal"));
        journals.map(|path| (path.clone(), std::fs::read(&path).expect("readable"))).collect()
    }

    /// Here or on a node.
    pub fn open_plan(&self) -> Option<Plan> {
        roll::open_plan(self).expect("sound journals")
    }

    /// What `undo` would take back, when nothing is open.
    pub fn finished_change(&self) -> Option<Plan> {
        let newest = continuation(self, Some(Direction::Back)).expect("sound journals");
        newest.filter(|newest| newest.was_finished).map(|newest| newest.plan)
    }

    pub fn open_change(&self) -> Option<PathBuf> {
        roll::open_change(self).expect("sound journals")
    }
}

impl Operator {
    fn is_arbitrator(&self, index: usize) -> bool {
        self.shared.borrow().servers.get(index).is_some_and(|server| server.is_arbitrator)
    }
}

impl ClusterAccess for Operator {
    fn cluster_name(&self) -> &'static str {
        "sim"
    }

    fn state_dir(&self) -> &Path {
        self.dir.path()
    }

    fn ca_dir(&self) -> &Path {
        &self.ca_dir
    }

    fn escrow(&self, passphrase: &SecretString) -> Escrow {
        Escrow::new(self.ca_dir.with_file_name("escrow"), Seal::Passphrase(passphrase.clone()))
            .with_work_factor(1)
    }

    fn nodes(&self) -> Vec<Box<dyn WriteNode + '_>> {
        let node = |&index| Box::new(SimNode::new(&self.shared, index)) as Box<dyn WriteNode>;
        self.inventory.iter().filter(|&&index| !self.is_arbitrator(index)).map(node).collect()
    }

    fn arbitrators(&self) -> Vec<Box<dyn WriteArbitrator + '_>> {
        let arbitrator =
            |&index| Box::new(SimArbitrator::new(&self.shared, index)) as Box<dyn WriteArbitrator>;
        self.inventory.iter().filter(|&&index| self.is_arbitrator(index)).map(arbitrator).collect()
    }

    fn proxies(&self) -> Vec<Box<dyn WriteProxy + '_>> {
        SimProxy::all(&self.shared)
    }

    fn look(&self) -> Box<dyn Look + '_> {
        Box::new(SimLook { shared: self.shared.clone(), blind: false, unseen: vec![] })
    }

    fn clock(&self) -> &dyn Clock {
        &self.clock
    }

    /// The world is in UTC.
    fn local_minute(&self) -> u16 {
        u16::try_from(self.clock.unix_ms() / 60_000 % 1440).expect("a minute of a day")
    }

    fn wait(&self, time: Duration) {
        if let Some(at_wait) = self.at_wait.borrow_mut().as_mut()
            && (at_wait.0)()
        {
            die(&self.shared);
        }
        self.shared.advance(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        for &index in self.inventory.iter().filter(|_| self.another_renews.get()) {
            let mut world = self.shared.borrow_mut();
            let disk = &mut world.servers[index].disk;
            let Some(text) = disk.text(LEASE) else { continue };
            let mut lease: serde_json::Value = serde_json::from_str(&text).expect("a lease");
            lease["until_unix_ms"] = (lease["until_unix_ms"].as_u64().expect("a time") + 5_000).into();
            disk.put(LEASE, lease.to_string(), 0, 0o600);
        }
    }

    fn process(&self) -> OperatorProcess {
        let boot_id = format!("{} {}", self.name, self.boot.get());
        OperatorProcess { boot_id, pid: self.pid.get(), start_ticks: 1 }
    }

    fn operator(&self) -> String {
        self.name.to_owned()
    }

    /// Commands of one workstation follow each other.
    fn has_ended(&self, process: &OperatorProcess) -> bool {
        process.boot_id == self.process().boot_id && process.pid != self.pid.get()
    }

    fn thread_hosts(&self) -> Option<Vec<host::SharedHost>> {
        None
    }

    fn at(&self, machine: &Machine, command: &Command, _: &mut dyn FnMut(String)) {
        if let Command::Finished(outcome) = command {
            *self.outcome.borrow_mut() = Some(outcome.clone());
        }
        if !self.shared.borrow().faults.is_untraced {
            self.shared.at(machine, command);
        }
    }
}

impl Shared {
    /// The driver is about to carry out a command: a place where somebody can be killed.
    pub fn at(&self, machine: &Machine, command: &Command) {
        let Some(name) = moment(machine, command) else { return };
        let step = match command {
            Command::Check { step, .. } | Command::Act { step, .. } | Command::Verify { step, .. } => {
                machine.step(*step)
            }
            Command::Append(record) => match &**record {
                change::Record::Intent { step, .. } | change::Record::Done { step, .. } => {
                    machine.plan().steps.iter().find(|one| one.id == *step)
                }
                _ => None,
            },
            Command::Finished(_) => None,
        };
        let node = step
            .and_then(|step| step.nodes.first())
            .filter(|_| step.is_some_and(|step| step.nodes.len() == 1));
        let node = node.map(|name: &NodeName| self.borrow().index(name.as_str()));
        self.moment(&name, node);
    }
}

/// Kept here so that a dead sealion's destructors are seen to change nothing.
pub(super) fn die(shared: &Shared) -> ! {
    shared.borrow_mut().sealion_is_dead = true;
    std::panic::resume_unwind(Box::new(Killed));
}
