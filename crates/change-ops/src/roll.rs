//! plan, apply, resume, undo: the change engine on a real cluster.

use std::fs;
use std::path::{Path, PathBuf};

use change::{ClusterLock, Command, Direction, Driver, Journal, JournalError, Machine, Outcome, Record};
use model::{Change, Clock, Plan, SystemClock};
use net::SecretString;
use providers::transit::{self, Authority, Limits, Transit};
use server::WriteNode;
use trust::KeyKind;

use crate::copies;
use crate::lease::{Fenced, Lease};
use site::OpsError;
use site::inventory::Cluster;
use status_ops::sniff::WireEye;

/// What a person may choose.
#[derive(Debug, Clone)]
pub struct Settings {
    pub key: KeyKind,
    pub ca_days: u32,
    pub leaf_days: u32,
    pub limits: Limits,
    pub allow_untested: bool,
    pub accept_unknown_clients: bool,
    pub accept_unproven: bool,
    /// Goes on although somebody else's lease has not lapsed.
    pub takes_over: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            key: KeyKind::EcP256,
            ca_days: 3650,
            leaf_days: 397,
            limits: Limits::default(),
            allow_untested: false,
            accept_unknown_clients: false,
            accept_unproven: false,
            takes_over: false,
        }
    }
}

/// Progress of a change, for whoever shows it.
#[derive(Debug, Clone)]
pub enum Progress {
    /// A step goes into a new phase: `checking`, `acting`, `verifying`, …
    Step {
        id: String,
        title: String,
        phase: &'static str,
        direction: Direction,
        at: usize,
        of: usize,
    },
    Done {
        id: String,
        note: String,
        direction: Direction,
    },
    Failed {
        id: String,
        why: String,
    },
    Line(String),
}

pub type Tell<'t> = &'t mut dyn FnMut(Progress);

/// How a change ended well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    pub plan_id: String,
    pub notes: Vec<(String, String)>,
    /// Steps whose post-check could not be seen.
    pub not_proven: Vec<String>,
}

pub fn journal_dir(cluster: &Cluster) -> PathBuf {
    cluster.state_dir.join("journals").join(&cluster.name)
}

/// The journal of the change that was begun last and is not closed or undone, if any.
pub fn open_change(cluster: &Cluster) -> Result<Option<PathBuf>, OpsError> {
    let mut newest = None;
    for path in journals(cluster)? {
        let bytes = fs::read(&path)
            .map_err(|error| OpsError::internal(format!("cannot read {}", path.display()), error))?;
        let parsed = change::journal::parse(&bytes, &path)?;
        let closed = parsed.records.last().is_some_and(|(_, record)| record.is_last());
        if !closed && !parsed.records.is_empty() {
            newest = Some(path);
        }
    }
    Ok(newest)
}

/// Journals, oldest first.
pub fn journals(cluster: &Cluster) -> Result<Vec<PathBuf>, OpsError> {
    let dir = journal_dir(cluster);
    let Ok(entries) = fs::read_dir(&dir) else { return Ok(vec![]) };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "journal"))
        .collect();
    paths.sort();
    Ok(paths)
}

fn transit<'a>(
    cluster: &'a Cluster,
    settings: &Settings,
    passphrase: SecretString,
    plan_id: String,
    clock: &'a dyn Clock,
    tell: Box<dyn FnMut(&str) + 'a>,
) -> Transit<'a> {
    Transit {
        cluster: cluster.name.clone(),
        nodes: cluster.live().into_iter().map(|node| Box::new(node) as Box<dyn WriteNode>).collect(),
        look: Box::new(WireEye { cluster }),
        authority: Authority {
            dir: cluster.ca_dir.clone(),
            passphrase,
            key: settings.key,
            ca_days: settings.ca_days,
            leaf_days: settings.leaf_days,
        },
        limits: settings.limits,
        clock,
        tell,
        plan_id,
        allow_untested: settings.allow_untested,
        accept_unknown_clients: settings.accept_unknown_clients,
        accept_unproven: settings.accept_unproven,
        notes: Vec::new(),
    }
}

/// Pre-flight and plan; changes nothing.
///
/// # Errors
/// `Refused` with every problem, worst first as the checks are listed.
pub fn plan(
    cluster: &Cluster,
    settings: &Settings,
    passphrase: SecretString,
    change: &Change,
) -> Result<Plan, OpsError> {
    nothing_open(cluster)?;
    let clock = SystemClock;
    let mut transit = transit(cluster, settings, passphrase, String::new(), &clock, Box::new(|_| {}));
    let problems = transit::preflight(&mut transit, change);
    if !problems.is_empty() {
        let list: Vec<String> = problems.iter().map(ToString::to_string).collect();
        return Err(OpsError::Refused(format!(
            "{change} is refused, nothing was changed ({} reason(s))\n\n{}",
            list.len(),
            list.join("\n\n")
        )));
    }
    transit::plan(&mut transit, change, env!("CARGO_PKG_VERSION"))
        .map_err(|error| OpsError::Refused(format!("{change} is refused, nothing was changed\n\n{error}")))
}

/// Beside an open change the cluster is in between, and every other advice would be wrong.
fn nothing_open(cluster: &Cluster) -> Result<(), OpsError> {
    match open_change(cluster)? {
        None => Ok(()),
        // Somebody else has ended it since: `apply` takes their journal.
        Some(open) if copies::newer(cluster)?.iter().any(|copy| copy.closes(&open)) => Ok(()),
        Some(open) => Err(OpsError::Refused(format!(
            "another change of cluster {} is not finished, nothing was changed\n  why:  {} is open\n  next: sealion resume, sealion undo, or sealion abandon",
            cluster.name,
            open.display()
        ))),
    }
}

/// Runs a plan from its beginning.
pub fn apply(
    cluster: &Cluster,
    settings: &Settings,
    passphrase: SecretString,
    plan: &Plan,
    tell: Tell<'_>,
) -> Result<Finished, OpsError> {
    let _lock = ClusterLock::take(&journal_dir(cluster)).map_err(before_anything)?;
    let lease = Lease::take(cluster, &plan.change.to_string(), settings.takes_over)?;
    nothing_open(cluster)?;
    if let Some(open) = open_change(cluster)? {
        for copy in copies::newer(cluster)?.into_iter().filter(|copy| copy.closes(&open)) {
            copy.take_over()?;
        }
    }
    if let Some(copy) = copies::newer(cluster)?.into_iter().find(copies::Copy::is_open) {
        return Err(OpsError::Refused(format!(
            "a change of cluster {} that was begun elsewhere is not finished, nothing was changed\n  why:  {}\n  next: see \
             that the sealion that began it has ended, then here: sealion resume, or sealion undo",
            cluster.name,
            copy.describe()
        )));
    }
    // Between the plan and now somebody may have changed something: the same wish must give the same state.
    let now = self::plan(cluster, settings, passphrase.clone(), &plan.change)?;
    if now.state_hash != plan.state_hash {
        return Err(OpsError::Refused(format!(
            "the cluster is not as it was when the plan was made, nothing was changed\n  why:  its state hash is {}, the \
             plan was made for {}\n  next: look at a new plan: sealion plan {}",
            now.short_hash(),
            plan.short_hash(),
            plan.change
        )));
    }
    if now.steps != plan.steps {
        return Err(OpsError::Refused(format!(
            "the plan is not what sealion {} would do on this cluster, nothing was changed\n  why:  its steps differ from those \
             of a new plan for the same state: it was edited, or made by another version\n  next: look at a new plan: sealion \
             plan {}",
            env!("CARGO_PKG_VERSION"),
            plan.change
        )));
    }
    let path = journal_dir(cluster).join(format!("{}.journal", plan.id));
    let mut journal = Journal::open(&path).map_err(before_anything)?;
    let mut machine = Machine::start(plan.clone());
    let finished = drive(cluster, settings, passphrase, &lease, &mut journal, &mut machine, tell);
    if matches!(finished, Err(OpsError::Refused(_))) {
        // Only the plan itself was journalled: nothing is open, here or in the copies.
        drop(journal);
        let _ = fs::remove_file(&path);
        let _ = fs::remove_file(path.with_extension("lock"));
        copies::forget(cluster, &path);
    }
    finished
}

/// A journal that cannot be written before the first step has changed nothing.
fn before_anything(error: JournalError) -> OpsError {
    match error {
        JournalError::Locked { .. } => error.into(),
        other => OpsError::Refused(format!("{other}\n\nnothing was changed")),
    }
}

/// The plan that `undo` would take back, if no change is open: the newest that went forward to its end, here or in a
/// node's journal.
pub fn finished_change(cluster: &Cluster) -> Result<Option<Plan>, OpsError> {
    let mut newest = None;
    if let Some(path) = newest_not_undone(cluster)? {
        let bytes = fs::read(&path)
            .map_err(|error| OpsError::internal(format!("cannot read {}", path.display()), error))?;
        newest = opened(&bytes, &path)?;
    }
    if open_change(cluster)?.is_some() {
        return Ok(None);
    }
    for copy in copies::newer(cluster)? {
        if copy.is_open() {
            return Ok(None);
        }
        if let Some(plan) = opened(copy.bytes(), &journal_dir(cluster))?
            && copy.went_forward()
            && newest.as_ref().is_none_or(|other| other.id < plan.id)
        {
            newest = Some(plan);
        }
    }
    Ok(newest)
}

/// Goes on with the newest change: forward (`resume`), or back (`undo`, also of a finished one).
pub fn go_on(
    cluster: &Cluster,
    settings: &Settings,
    passphrase: SecretString,
    wish: Option<Direction>,
    tell: Tell<'_>,
) -> Result<Finished, OpsError> {
    let nothing = |what: &str| {
        let damaged = copies::damaged(cluster);
        OpsError::Refused(format!(
            "there is nothing to {what}\n  why:  {} holds no {}journal{}\n  next: sealion status",
            journal_dir(cluster).display(),
            if what == "resume" { "open " } else { "" },
            if damaged.is_empty() {
                String::new()
            } else {
                format!("; copies on nodes that cannot be read: {}", damaged.join(", "))
            }
        ))
    };
    let is_there = match wish {
        Some(Direction::Back) => newest_not_undone(cluster)?.is_some(),
        _ => open_change(cluster)?.is_some(),
    };
    if !is_there && copies::newer(cluster)?.is_empty() {
        return Err(nothing(if wish == Some(Direction::Back) { "undo" } else { "resume" }));
    }
    let _lock = ClusterLock::take(&journal_dir(cluster))?;
    let command = if wish == Some(Direction::Back) { "undo" } else { "resume" };
    let lease = Lease::take(cluster, command, settings.takes_over)?;
    for copy in copies::newer(cluster)? {
        tell(Progress::Line(format!("this machine's journal is made from a node's: {}", copy.describe())));
        copy.take_over()?;
    }
    let path = match wish {
        Some(Direction::Back) => newest_not_undone(cluster)?.ok_or_else(|| nothing("undo"))?,
        _ => open_change(cluster)?.ok_or_else(|| nothing("resume"))?,
    };
    let mut journal = Journal::open(&path)?;
    let records: Vec<Record> = journal.records().cloned().collect();
    let Some((mut machine, turned)) = Machine::resume(records.iter(), wish) else {
        return Err(nothing("resume"));
    };
    let turn = if turned {
        let direction = machine.direction();
        Some(journal.append(SystemClock.unix_ms(), Record::Turned { direction })?)
    } else {
        None
    };
    tell(Progress::Line(format!(
        "{} {}",
        match (machine.direction(), turned) {
            (Direction::Back, true) => "undoing",
            (Direction::Back, false) => "going on undoing",
            (Direction::Forward, _) => "going on with",
        },
        machine.plan().id
    )));
    let clock = SystemClock;
    {
        let shared = std::cell::RefCell::new(&mut *tell);
        let mut transit = transit(
            cluster,
            settings,
            passphrase.clone(),
            machine.plan().id.clone(),
            &clock,
            Box::new(|line: &str| (shared.borrow_mut())(Progress::Line(line.to_owned()))),
        );
        if let Some(line) = &turn {
            change::Runner::copy_journal(&mut transit, journal.path(), line)
                .map_err(|error| OpsError::Stopped(error.0))?;
        }
        transit.revive().map_err(|error| OpsError::Stopped(error.0))?;
    }
    drive(cluster, settings, passphrase, &lease, &mut journal, &mut machine, tell)
}

/// The newest change that was not taken back: open ones, and closed ones that went forward.
fn newest_not_undone(cluster: &Cluster) -> Result<Option<PathBuf>, OpsError> {
    let mut newest = None;
    for path in journals(cluster)? {
        let bytes = fs::read(&path)
            .map_err(|error| OpsError::internal(format!("cannot read {}", path.display()), error))?;
        let parsed = change::journal::parse(&bytes, &path)?;
        let is_over = matches!(
            parsed.records.last(),
            Some((_, Record::Closed { direction: Direction::Back } | Record::Abandoned { .. }))
        );
        if !is_over && !parsed.records.is_empty() {
            newest = Some(path);
        }
    }
    Ok(newest)
}

struct Watch<'t, 'u> {
    tell: &'t std::cell::RefCell<Tell<'u>>,
    hold_at: Option<String>,
    crash_at: Option<String>,
    notes: Vec<(String, String)>,
}

impl change::driver::Watcher for Watch<'_, '_> {
    fn at(&mut self, machine: &Machine, command: &Command) {
        if let Some(moment) = change::driver::moment(machine, command) {
            if self.crash_at.as_deref() == Some(&moment) {
                std::process::abort();
            }
            if self.hold_at.as_deref() == Some(&moment) {
                (self.tell.borrow_mut())(Progress::Line(format!("held at {moment} (SEALION_HOLD_AT)")));
                loop {
                    std::thread::sleep(std::time::Duration::from_secs(3600));
                }
            }
        }
        let of = machine.plan().steps.len();
        let say = |step: usize, phase: &'static str, direction: Direction| {
            if let Some(one) = machine.step(step) {
                (self.tell.borrow_mut())(Progress::Step {
                    id: one.id.to_string(),
                    title: one.title.clone(),
                    phase,
                    direction,
                    at: step + 1,
                    of,
                });
            }
        };
        match command {
            Command::Check { step, direction } => say(*step, "checking", *direction),
            Command::Act { step, direction } => say(*step, "acting", *direction),
            Command::Verify { step, direction } => say(*step, "verifying", *direction),
            Command::Append(record) => match &**record {
                Record::Done { step, note, direction } => {
                    self.notes.push((step.to_string(), note.clone()));
                    (self.tell.borrow_mut())(Progress::Done {
                        id: step.to_string(),
                        note: note.clone(),
                        direction: *direction,
                    });
                }
                Record::Failed { step, why, .. } => {
                    (self.tell.borrow_mut())(Progress::Failed { id: step.to_string(), why: why.clone() });
                }
                _ => {}
            },
            Command::Finished(_) => {}
        }
    }
}

fn drive(
    cluster: &Cluster,
    settings: &Settings,
    passphrase: SecretString,
    lease: &Lease,
    journal: &mut Journal,
    machine: &mut Machine,
    tell: Tell<'_>,
) -> Result<Finished, OpsError> {
    let clock = SystemClock;
    let plan_id = machine.plan().id.clone();
    let shared = std::cell::RefCell::new(tell);
    let runner = transit(
        cluster,
        settings,
        passphrase,
        plan_id.clone(),
        &clock,
        Box::new(|line: &str| (shared.borrow_mut())(Progress::Line(line.to_owned()))),
    );
    let mut runner = Fenced { runner, lease };
    let mut watcher = Watch {
        tell: &shared,
        hold_at: std::env::var("SEALION_HOLD_AT").ok(),
        crash_at: std::env::var("SEALION_CRASH_AT").ok(),
        notes: Vec::new(),
    };
    let outcome = Driver { journal, runner: &mut runner, watcher: &mut watcher, clock: &clock }
        .run(machine)
        .map_err(|error| if machine.touched() { error.into() } else { before_anything(error) })?;
    let not_proven = watcher
        .notes
        .iter()
        .filter(|(_, note)| note.starts_with(NOT_PROVEN))
        .map(|(step, note)| format!("{step}: {note}"))
        .collect();
    match outcome {
        Outcome::Complete => Ok(Finished { plan_id, notes: watcher.notes, not_proven }),
        Outcome::Refused { step, why } => {
            Err(OpsError::Refused(format!("step {step} is refused, nothing was changed\n\n{why}")))
        }
        Outcome::Stopped { step, why } => Err(OpsError::Stopped(format!(
            "the change stopped at step {step}; what was done stays done\n\n{why}\n\n  next: sealion resume (goes on), sealion undo (goes back), or sealion abandon (closes it as it is)"
        ))),
    }
}

/// The plan of the change that is open, here or on a node.
pub fn open_plan(cluster: &Cluster) -> Result<Option<Plan>, OpsError> {
    let mut newest = match open_change(cluster)? {
        None => None,
        Some(path) => {
            let bytes = fs::read(&path)
                .map_err(|error| OpsError::internal(format!("cannot read {}", path.display()), error))?;
            opened(&bytes, &path)?
        }
    };
    for copy in copies::newer(cluster)?.into_iter().filter(copies::Copy::is_open) {
        newest = opened(copy.bytes(), &journal_dir(cluster))?.or(newest);
    }
    Ok(newest)
}

fn opened(bytes: &[u8], path: &Path) -> Result<Option<Plan>, OpsError> {
    let records = change::journal::parse(bytes, path)?.records;
    Ok(records.into_iter().find_map(|(_, record)| match record {
        Record::Opened { plan } => Some(*plan),
        _ => None,
    }))
}

/// Closes the open change as it is: nothing is changed on any node but the journals. Returns what is left how.
pub fn abandon(cluster: &Cluster, settings: &Settings) -> Result<Vec<String>, OpsError> {
    let _lock = ClusterLock::take(&journal_dir(cluster))?;
    let lease = Lease::take(cluster, "abandon", settings.takes_over)?;
    for copy in copies::newer(cluster)? {
        copy.take_over()?;
    }
    let nothing = || {
        OpsError::Refused(
            "there is nothing to abandon\n  why:  no change is open\n  next: sealion status".into(),
        )
    };
    let path = open_change(cluster)?.ok_or_else(nothing)?;
    let mut journal = Journal::open(&path)?;
    let records: Vec<Record> = journal.records().cloned().collect();
    let (machine, _) = Machine::resume(records.iter(), None).ok_or_else(nothing)?;
    let clock = SystemClock;
    let nobody = SecretString::from(String::new());
    let mut transit = transit(cluster, settings, nobody, machine.plan().id.clone(), &clock, Box::new(|_| {}));
    let left = transit::left_as(&mut transit, &machine);
    lease.is_ours().map_err(OpsError::Stopped)?;
    let line = journal.append(SystemClock.unix_ms(), Record::Abandoned { left: left.clone() })?;
    change::Runner::copy_journal(&mut transit, journal.path(), &line)
        .map_err(|error| OpsError::Stopped(error.0))?;
    Ok(left)
}

/// What the change that was closed last could not show, if it was closed without proof.
pub fn unproven(cluster: &Cluster) -> Result<Option<String>, OpsError> {
    let Some(path) = journals(cluster)?.pop() else { return Ok(None) };
    let bytes = fs::read(&path)
        .map_err(|error| OpsError::internal(format!("cannot read {}", path.display()), error))?;
    let records = change::journal::parse(&bytes, &path)?.records;
    if !matches!(records.last(), Some((_, Record::Closed { direction: Direction::Forward }))) {
        return Ok(None);
    }
    Ok(records.iter().rev().find_map(|(_, record)| match record {
        Record::Done { step, note, .. } if note.starts_with(NOT_PROVEN) => Some(format!("{step}: {note}")),
        _ => None,
    }))
}

const NOT_PROVEN: &str = "NOT PROVEN";

/// Equips a node that is not started yet, as a sealed cluster expects it.
pub fn equip(
    cluster: &Cluster,
    settings: &Settings,
    passphrase: SecretString,
    node: &str,
) -> Result<(), OpsError> {
    let clock = SystemClock;
    let mut transit = transit(cluster, settings, passphrase, String::new(), &clock, Box::new(|_| {}));
    transit::equip(&mut transit, &model::NodeName::from(node))
        .map_err(|error| OpsError::internal(format!("cannot equip {node}"), error))
}
