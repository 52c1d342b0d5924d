//! Runs plans on a world as `sealion plan`, `apply`, `resume` and `undo` do.

use std::cell::Cell;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use change::driver::Watcher;
use change::machine::Command;
use change::{Direction, Driver, Journal, Machine, Outcome, Record};
use escrow::{Escrow, Seal};
use model::{Change, Plan};
use providers::{Authority, Limits, Problem};
use secrecy::SecretString;
use server::accounts::AccountName;
use server::{WriteArbitrator, WriteNode};
use tempfile::TempDir;
use trust::KeyKind;

use super::arbitrator::SimArbitrator;
use super::fault::{Fault, Instant, Killed};
use super::look::SimLook;
use super::node::SimNode;
use super::proxy::SimProxy;
use super::world::{Shared, SimClock, World};

const PASSPHRASE: &str = "correct horse battery staple";

/// How one command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// Sealion was killed.
    Killed,
    Outcome(Outcome),
    /// The cluster did not become whole: exit code 4.
    NotRevived(String),
    /// Refused before any step: by a lock, a lease, a change that is open.
    Refused(String),
    /// There is no open plan in the journal.
    NothingToResume,
    Journal(String),
}

impl End {
    pub fn is_complete(&self) -> bool {
        *self == Self::Outcome(Outcome::Complete)
    }

    /// The text that a person gets.
    pub fn text(&self) -> String {
        match self {
            Self::Outcome(Outcome::Refused { why, .. } | Outcome::Stopped { why, .. }) => why.clone(),
            Self::NotRevived(why) | Self::Journal(why) | Self::Refused(why) => why.clone(),
            other => format!("{other:?}"),
        }
    }
}

/// A world, an operator's machine, and what the operator told sealion.
#[derive(Debug)]
pub struct Rig {
    pub shared: Shared,
    /// The operator's disk: CA and journals. In memory where the machine has such a place, since every line is synced.
    pub dir: TempDir,
    /// The nodes in the inventory.
    pub inventory: Vec<usize>,
    pub limits: Limits,
    pub passphrase: String,
    pub leaf_days: u32,
    pub key: KeyKind,
    pub allow_untested: bool,
    pub accept_managed: bool,
    pub skip_openssl_check: bool,
    pub may_lack_rights: bool,
    pub accept_unknown_clients: bool,
    pub accept_unproven: bool,
    pub accept_shut_out: bool,
    pub leave_accounts: Vec<AccountName>,
    pub force_accounts: Vec<AccountName>,
    /// Data of its own that a joiner has may be replaced.
    pub replace_data: bool,
    pub at_rest: providers::rest::AtRestOptions,
    pub blind: bool,
    pub unseen: Vec<model::Unseen>,
    clock: SimClock,
    plans: Cell<u32>,
}

struct Watch<'a> {
    shared: &'a Shared,
}

impl Watcher for Watch<'_> {
    fn at(&mut self, machine: &Machine, command: &Command) {
        self.shared.at(machine, command);
    }
}

/// In memory where the machine has such a place, since every line of a journal is synced.
pub fn memory_dir() -> TempDir {
    let memory = Path::new("/dev/shm");
    let dir = tempfile::Builder::new().prefix("sealion-sim-").tempdir_in(memory);
    dir.or_else(|_| tempfile::tempdir()).expect("a temporary directory can be made")
}

impl Rig {
    /// `count` plain nodes under writes, all in the inventory.
    pub fn new(seed: u64, count: usize) -> Self {
        Self::on(World::cluster(seed, count))
    }

    pub fn on(world: World) -> Self {
        Self {
            inventory: (0..world.servers.len()).collect(),
            clock: world.clock.clone(),
            shared: Shared::new(world),
            dir: memory_dir(),
            limits: Limits::default(),
            passphrase: PASSPHRASE.into(),
            leaf_days: 365,
            key: KeyKind::EcP256,
            allow_untested: false,
            accept_managed: false,
            skip_openssl_check: false,
            may_lack_rights: false,
            accept_unknown_clients: false,
            accept_unproven: false,
            accept_shut_out: false,
            leave_accounts: vec![],
            force_accounts: vec![],
            replace_data: false,
            at_rest: providers::rest::AtRestOptions::default(),
            blind: false,
            unseen: vec![],
            plans: Cell::new(0),
        }
    }

    /// The same world once more, for a scenario of its own, with the same CA and no journal.
    #[must_use]
    pub fn fork(&self, seed: u64) -> Self {
        let rig = Self::on(self.shared.borrow().fork(seed));
        if self.ca_dir().exists() {
            // trust insists on a private directory.
            copy_dir(&self.ca_dir(), &rig.ca_dir());
        }
        Self { inventory: self.inventory.clone(), limits: self.limits, key: self.key, ..rig }
    }

    /// Its passphrase is nobody's to guess.
    pub fn escrow(&self) -> Escrow {
        let seal = Seal::Passphrase(SecretString::from(self.passphrase.clone()));
        Escrow::new(self.dir.path().join("escrow"), seal).with_work_factor(1)
    }

    pub fn ca_dir(&self) -> PathBuf {
        self.dir.path().join("ca")
    }

    pub fn journal_path(&self) -> PathBuf {
        self.dir.path().join(format!("{}.journal", self.plans.get()))
    }

    pub fn is_arbitrator(&self, index: usize) -> bool {
        self.shared.borrow().servers.get(index).is_some_and(|server| server.is_arbitrator)
    }

    /// The same world as the steps have it.
    pub fn provider_world(&self, plan_id: &str) -> providers::World<'_> {
        let nodes = self
            .inventory
            .iter()
            .filter(|&&index| !self.is_arbitrator(index))
            .map(|&index| Box::new(SimNode::new(&self.shared, index)) as Box<dyn WriteNode>);
        let arbitrators = self
            .inventory
            .iter()
            .filter(|&&index| self.is_arbitrator(index))
            .map(|&index| Box::new(SimArbitrator::new(&self.shared, index)) as Box<dyn WriteArbitrator>);
        providers::World {
            cluster: "sim".into(),
            topology: &providers::GALERA,
            nodes: nodes.collect(),
            parts: vec![],
            others: vec![],
            arbitrators: arbitrators.collect(),
            proxies: SimProxy::all(&self.shared),
            look: Box::new(SimLook {
                shared: self.shared.clone(),
                blind: self.blind,
                unseen: self.unseen.clone(),
            }),
            authority: Authority {
                dir: self.ca_dir(),
                passphrase: SecretString::from(self.passphrase.clone()),
                key: self.key,
                ca_days: 3650,
                leaf_days: self.leaf_days,
            },
            limits: self.limits,
            clock: &self.clock,
            tell: Box::new(|line| self.shared.borrow_mut().said.push(line.to_owned())),
            plan_id: plan_id.into(),
            allow_untested: self.allow_untested,
            accept_managed: self.accept_managed,
            skip_openssl_check: self.skip_openssl_check,
            may_lack_rights: self.may_lack_rights,
            accept_unknown_clients: self.accept_unknown_clients,
            accept_unproven: self.accept_unproven,
            accept_shut_out: self.accept_shut_out,
            leave_accounts: self.leave_accounts.clone(),
            force_accounts: self.force_accounts.clone(),
            joiner: None,
            replace_data: self.replace_data,
            escrow: self.escrow(),
            at_rest: self.at_rest,
            notes: Vec::new(),
            recent: providers::Recent::default(),
        }
    }

    /// For a plan that is to be made.
    fn world_of(&self, change: &Change) -> providers::World<'_> {
        providers::World { joiner: change.joiner().cloned(), ..self.provider_world("") }
    }

    /// Three sealed nodes, and a server that was never started, all in the inventory.
    pub fn beside_a_spare(seed: u64) -> Self {
        let mut rig = Self::on(World::with_spare(seed, 3));
        rig.inventory.pop();
        rig.must(&Change::new(model::Verb::Enable, model::Noun::ALL));
        rig.inventory.push(3);
        rig.shared.borrow_mut().stops.clear();
        rig.fork(seed)
    }

    pub fn preflight(&self, change: &Change) -> Vec<Problem> {
        providers::propose(&mut self.world_of(change), change, "0.1.0").0
    }

    pub fn plan(&self, change: &Change) -> Result<Plan, String> {
        self.plans.set(self.plans.get() + 1);
        providers::plan(&mut self.world_of(change), change, "0.1.0").map_err(|error| error.to_string())
    }

    /// `sealion apply`, with the fault that the world has planned.
    pub fn apply(&self, plan: &Plan) -> End {
        Self::mortal(&self.shared, || self.drive(|_| Some((Machine::start(plan.clone()), false, false))))
    }

    /// `sealion resume`, and with `Back` `sealion undo`: first what is down is started.
    pub fn resume(&self, wish: Option<Direction>) -> End {
        Self::mortal(&self.shared, || {
            self.drive(|journal| {
                Machine::resume(journal.records(), wish).map(|(machine, turned)| (machine, turned, true))
            })
        })
    }

    /// Plans and applies, and expects that it works.
    pub fn must(&self, change: &Change) -> Plan {
        assert_eq!(self.preflight(change), vec![], "{change}");
        let plan = self.plan(change).expect("a plan");
        let end = self.apply(&plan);
        assert!(end.is_complete(), "{change}: {end:?}");
        plan
    }

    /// Applies until just before the first instant at this moment, where sealion is killed. The world must be a fork, so that
    /// another one passes through the same instants.
    pub fn apply_until(&self, change: &Change, moment: &str) {
        let plan = self.plan(change).expect("a plan");
        let rehearsal = self.fork(self.shared.borrow().seed);
        rehearsal.plan(change).expect("a plan");
        rehearsal.arm(None);
        assert!(rehearsal.apply(&plan).is_complete());
        let instants = rehearsal.trace();
        let at = instants.iter().position(|instant| instant.moment == moment).expect("a moment of this plan");
        self.arm(Some((at, super::fault::Fault::KillSealion)));
        assert_eq!(self.apply(&plan), End::Killed);
        self.arm(None);
    }

    /// `machine` gives the machine, whether it was turned round, and whether what is down is to be started first.
    fn drive(&self, machine: impl FnOnce(&Journal) -> Option<(Machine, bool, bool)>) -> End {
        let mut journal = match Journal::open(&self.journal_path()) {
            Ok(journal) => journal,
            Err(error) => return End::Journal(error.to_string()),
        };
        let Some((mut machine, turned, revives)) = machine(&journal) else { return End::NothingToResume };
        if let Command::Finished(outcome) = machine.next() {
            return End::Outcome(outcome);
        }
        let mut world = self.provider_world(&machine.plan().id);
        if turned {
            let record = Record::Turned { direction: machine.direction() };
            match journal.append(model::Clock::unix_ms(&self.clock), record) {
                Err(error) => return End::Journal(error.to_string()),
                Ok(line) => {
                    if let Err(error) = change::Runner::copy_journal(&mut world, journal.path(), &line) {
                        return End::Journal(error.to_string());
                    }
                }
            }
        }
        if revives && let Err(error) = world.revive() {
            return End::NotRevived(error.to_string());
        }
        let mut watcher = Watch { shared: &self.shared };
        let mut driver =
            Driver { journal: &mut journal, runner: &mut world, watcher: &mut watcher, clock: &self.clock };
        match driver.run(&mut machine) {
            Ok(outcome) => End::Outcome(outcome),
            Err(error) => End::Journal(error.to_string()),
        }
    }

    pub(super) fn mortal(shared: &Shared, work: impl FnOnce() -> End) -> End {
        let ended = catch_unwind(AssertUnwindSafe(work));
        let mut world = shared.borrow_mut();
        world.sealion_is_dead = false;
        world.sealion_pid += 1;
        drop(world);
        match ended {
            Ok(end) => end,
            Err(cause) if cause.is::<Killed>() => End::Killed,
            Err(cause) => std::panic::resume_unwind(cause),
        }
    }

    /// From here on, the instants that are passed are counted anew; the fault strikes at the given one.
    pub fn arm(&self, planned: Option<(usize, Fault)>) {
        let mut world = self.shared.borrow_mut();
        world.faults.trace.clear();
        world.faults.planned = planned;
    }

    pub fn trace(&self) -> Vec<Instant> {
        self.shared.borrow().faults.trace.clone()
    }

    pub fn journal_parses(&self) -> Result<usize, String> {
        let path = self.journal_path();
        let bytes = fs::read(&path).unwrap_or_default();
        change::journal::parse(&bytes, &path)
            .map(|parsed| parsed.records.len())
            .map_err(|error| error.to_string())
    }

    /// Every text that people or files get, to look for secrets in.
    pub fn texts(&self) -> String {
        let journal = fs::read_to_string(self.journal_path()).unwrap_or_default();
        let world = self.shared.borrow();
        format!("{journal}\n{}", world.said.join("\n"))
    }
}

fn copy_dir(from: &Path, to: &Path) {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(to).expect("a fresh directory");
    for entry in fs::read_dir(from).expect("readable") {
        let entry = entry.expect("readable");
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_dir(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).expect("copied");
        }
    }
}
