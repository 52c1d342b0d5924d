//! plan, apply, resume, undo: the change engine on a real cluster.

use std::fs;
use std::path::PathBuf;

use change::{ClusterLock, Command, Direction, Driver, Journal, JournalError, Machine, Outcome, Record};
use model::{Change, NodeName, Plan, Step};
use net::SecretString;
pub use providers::rest::AtRestOptions;
use providers::{Authority, Limits, Part, World, topology};
pub use server::accounts::AccountName;
use site::{Cluster, OpsError};
use trust::KeyKind;

use crate::access::ClusterAccess;
use crate::copies::{self, Copies};
use crate::gates::{Gatekeeper, Gates};
use crate::journals::{self, ChangeJournal, journal_dir};
use crate::lease::{Lease, LeasedRunner};

/// What a person may choose.
#[derive(Debug, Clone)]
pub struct Settings {
    pub key: KeyKind,
    pub ca_days: u32,
    pub leaf_days: u32,
    pub limits: Limits,
    pub allow_untested: bool,
    pub accept_managed: bool,
    pub skip_openssl_check: bool,
    /// For a plan that somebody else may carry out.
    pub may_lack_rights: bool,
    pub accept_unknown_clients: bool,
    pub accept_unproven: bool,
    pub accept_shut_out: bool,
    pub leave_accounts: Vec<AccountName>,
    pub force_accounts: Vec<AccountName>,
    /// Data of its own that a joiner has may be replaced by the cluster's.
    pub replace_data: bool,
    pub at_rest: AtRestOptions,
    /// Goes on although somebody else's lease has not lapsed.
    pub takes_over: bool,
    pub gates: Gates,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            key: KeyKind::EcP256,
            ca_days: 3650,
            leaf_days: 397,
            limits: Limits::default(),
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
            at_rest: AtRestOptions::default(),
            takes_over: false,
            gates: Gates::default(),
        }
    }
}

/// Progress of a change, for whoever shows it.
#[derive(Debug, Clone)]
pub enum Progress {
    /// A step goes into a new phase: `checking`, `acting`, `verifying`, …
    Step {
        id: String,
        /// The provider's name for what it does.
        kind: String,
        title: String,
        phase: &'static str,
        direction: Direction,
        at: usize,
        of: usize,
        nodes: Vec<String>,
        /// It restarts the servers of its nodes.
        restarts: bool,
        /// Of what remains, with this one.
        restarts_left: usize,
        steps_left: usize,
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
    /// No step is begun now, and why; `None`: the wait is over.
    Waiting {
        id: String,
        direction: Direction,
        why: Option<String>,
    },
    Line(String),
}

pub type Tell<'t> = &'t mut dyn FnMut(Progress);

/// How a change ended well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    pub plan_id: String,
    pub direction: Direction,
    pub notes: Vec<(String, String)>,
    /// Steps whose post-check could not be seen.
    pub not_proven: Vec<String>,
    /// It was to go as far as this step; it is open, and something may remain.
    pub stopped_after: Option<String>,
}

/// The journal of the change that was begun last and is not closed or undone, if any.
pub fn open_change(access: &dyn ClusterAccess) -> Result<Option<PathBuf>, OpsError> {
    Ok(journals::own(access)?.into_iter().rfind(ChangeJournal::is_open).map(|journal| journal.path))
}

/// `of`: the plan that is carried out; `None`: one is to be made for the nodes as they replicate now.
fn world<'a>(
    access: &'a dyn ClusterAccess,
    settings: &Settings,
    passphrase: SecretString,
    of: Option<&Plan>,
    tell: Box<dyn FnMut(&str) + 'a>,
) -> Result<World<'a>, OpsError> {
    let mut nodes = access.nodes();
    let topology = match of {
        None => topology::of(&mut nodes),
        Some(plan) => topology::named(&plan.topology).map_err(|error| OpsError::Refused(error.0))?,
    };
    let parts = of.map_or(&[][..], |plan| &plan.parts).iter().map(Part::of_plan);
    let escrow = access.escrow(&passphrase);
    Ok(World {
        cluster: access.cluster_name().to_owned(),
        topology,
        nodes,
        parts: parts.collect::<Result<_, _>>().map_err(|error| OpsError::Refused(error.0))?,
        others: vec![],
        arbitrators: access.arbitrators(),
        proxies: access.proxies(),
        look: access.look(),
        authority: Authority {
            dir: access.ca_dir().to_owned(),
            passphrase,
            key: settings.key,
            ca_days: settings.ca_days,
            leaf_days: settings.leaf_days,
        },
        limits: settings.limits,
        clock: access.clock(),
        tell,
        plan_id: of.map_or_else(String::new, |plan| plan.id.clone()),
        allow_untested: settings.allow_untested,
        accept_managed: settings.accept_managed,
        skip_openssl_check: settings.skip_openssl_check,
        may_lack_rights: settings.may_lack_rights,
        accept_unknown_clients: settings.accept_unknown_clients,
        accept_unproven: settings.accept_unproven,
        accept_shut_out: settings.accept_shut_out,
        leave_accounts: settings.leave_accounts.clone(),
        force_accounts: settings.force_accounts.clone(),
        joiner: of.and_then(|plan| plan.change.joiner().cloned()),
        replace_data: settings.replace_data,
        escrow,
        at_rest: settings.at_rest,
        notes: Vec::new(),
        recent: providers::Recent::default(),
    })
}

/// Pre-flight and plan; changes nothing.
///
/// # Errors
/// `Refused` with every problem, worst first as the checks are listed.
pub fn plan(
    access: &dyn ClusterAccess,
    settings: &Settings,
    passphrase: SecretString,
    change: &Change,
) -> Result<Plan, OpsError> {
    nothing_open(access)?;
    let mut world = world(access, settings, passphrase, None, Box::new(|_| {}))?;
    world.joiner = change.joiner().cloned();
    nobody_answers(&mut world, change)?;
    let change = &match change.nouns.as_slice() {
        [] if change.joiner().is_none() => {
            let topology = world.topology;
            let all = topology.default_nouns(&mut world.nodes).iter().copied();
            Change::new(change.verb, all).with_profile(change.profile)
        }
        _ => change.clone(),
    };
    let (problems, planned) = providers::propose(&mut world, change, env!("CARGO_PKG_VERSION"));
    if !problems.is_empty() {
        return Err(refused(change, &problems));
    }
    planned.map_err(|error| OpsError::Refused(format!("{change} is refused, nothing was changed\n\n{error}")))
}

/// How nodes replicate is asked of them: where none answers, nothing is said of a kind of cluster that they may not be.
fn nobody_answers(world: &mut World<'_>, change: &Change) -> Result<(), OpsError> {
    let mut problems = Vec::new();
    for node in &mut world.nodes {
        match node.view() {
            Ok(_) => return Ok(()),
            Err(error) => problems.push(providers::preflight::not_answering(node.name(), &error)),
        }
    }
    Err(refused(change, &problems))
}

fn refused(change: &Change, problems: &[providers::Problem]) -> OpsError {
    let list: Vec<String> = problems.iter().map(ToString::to_string).collect();
    OpsError::Refused(format!(
        "{change} is refused, nothing was changed ({})\n\n{}",
        model::text::counted(list.len(), "reason", "reasons"),
        list.join("\n\n")
    ))
}

/// Beside an open change the cluster is in between, and every other advice would be wrong.
fn nothing_open(access: &dyn ClusterAccess) -> Result<(), OpsError> {
    match open_change(access)? {
        None => Ok(()),
        // Somebody else has ended it since: `apply` takes their journal.
        Some(open) if copies::look(access)?.newer.iter().any(|copy| copy.closes(&open)) => Ok(()),
        Some(open) => Err(OpsError::Refused(format!(
            "another change of cluster {} is not finished, nothing was changed\n  why:  {} is open\n  next: sealion resume, sealion undo, or sealion abandon",
            access.cluster_name(),
            open.display()
        ))),
    }
}

/// Whether a change is open, as this machine's journals and the nodes' copies of them tell: somebody may have closed it elsewhere.
///
/// # Errors
/// Nobody can tell.
pub fn is_open(access: &dyn ClusterAccess) -> Result<bool, OpsError> {
    match nothing_open(access) {
        Ok(()) => Ok(false),
        Err(OpsError::Refused(_)) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Runs a plan from its beginning.
pub fn apply(
    access: &dyn ClusterAccess,
    settings: &Settings,
    passphrase: SecretString,
    plan: &Plan,
    tell: Tell<'_>,
) -> Result<Finished, OpsError> {
    let _lock = ClusterLock::take(&journal_dir(access)).map_err(before_anything)?;
    let lease = Lease::take(access, &plan.change.to_string(), settings.takes_over, &mut |line| {
        tell(Progress::Line(line));
    })?;
    nothing_open(access)?;
    let copies = copies::look(access)?;
    if !copies.not_seen.is_empty() {
        return Err(OpsError::Refused(format!(
            "cannot tell whether a change of cluster {} that was begun elsewhere is open, nothing was changed\n  why:  the journals on \
             {}\n  next: fix that, then the same command again",
            access.cluster_name(),
            copies.not_seen.join("\n        ")
        )));
    }
    if let Some(open) = open_change(access)? {
        for copy in copies.newer.iter().filter(|copy| copy.closes(&open)) {
            copy.take_over()?;
        }
    }
    if let Some(copy) = copies.open() {
        return Err(OpsError::Refused(format!(
            "a change of cluster {} that was begun elsewhere is not finished, nothing was changed\n  why:  {}\n  next: see \
             that the sealion that began it has ended, then here: sealion resume, or sealion undo",
            access.cluster_name(),
            copy.describe(access.clock().unix_ms())
        )));
    }
    // Between the plan and now somebody may have changed something: the same wish must give the same state.
    let now = self::plan(access, settings, passphrase.clone(), &plan.change)?;
    let differences = providers::inventory_state::differences(plan, &now);
    if !differences.is_empty() {
        return Err(OpsError::Refused(format!(
            "the inventory is not as it was when the plan was made, nothing was changed\n  why:  {}\n  next: check a new plan: sealion plan {}",
            differences.join("\n        "),
            plan.change
        )));
    }
    if now.state_hash != plan.state_hash {
        return Err(OpsError::Refused(format!(
            "the cluster is not as it was when the plan was made, nothing was changed\n  why:  its state hash is {}, the \
             plan was made for {}\n  next: check a new plan: sealion plan {}",
            now.short_hash(),
            plan.short_hash(),
            plan.change
        )));
    }
    if now.steps != plan.steps {
        return Err(OpsError::Refused(format!(
            "the plan is not what sealion {} would do on this cluster, nothing was changed\n  why:  its steps differ from those \
             of a new plan for the same state: keys or certificates were written or removed since (an undo does that), it was edited, or \
             it was made by another version\n  next: check a new plan: sealion plan {}",
            env!("CARGO_PKG_VERSION"),
            plan.change
        )));
    }
    let own = journals::own(access)?;
    let path = journal_dir(access).join(format!("{}.journal", plan.id));
    let copied = copies.newer.iter().map(|copy| &copy.journal);
    if let Some(before) = own.iter().chain(copied).find(|journal| journal.plan.id == plan.id) {
        return Err(OpsError::Refused(format!(
            "this plan was applied before, nothing was changed\n  why:  {} records it\n  next: make a new plan: sealion plan {}",
            before.path.display(),
            plan.change
        )));
    }
    let highest = own.last().map_or(0, |journal| journal.plan.sequence).max(copies.sequence_max);
    let mut machine = Machine::start(Plan { sequence: highest + 1, ..plan.clone() });
    settings.gates.hold(&mut machine)?;
    let mut journal = Journal::open(&path).map_err(before_anything)?;
    let mut finished = drive(access, settings, passphrase, &lease, &mut journal, &mut machine, tell);
    if let Err(OpsError::Refused(why)) = &mut finished {
        *why = begins_anew(why, &plan.change);
        // Only the plan itself was journalled: nothing is open, here or in the copies.
        drop(journal);
        let _ = fs::remove_file(&path);
        let _ = fs::remove_file(path.with_extension("lock"));
        copies::forget(access, &path);
    }
    finished
}

/// A step says how its change is continued. Of one that has begun nothing, nothing is left to resume: the same command begins it.
fn begins_anew(why: &str, change: &Change) -> String {
    why.replace(", or sealion undo", "").replace("sealion resume", &format!("sealion {change}"))
}

/// What stopped a change, with all ways on from there, each said once. Behind an irreversible step there is no undo.
fn with_ways_on(why: &str, can_go_back: bool) -> String {
    let why = &if can_go_back { why.to_owned() } else { without_undo(why) };
    let ways = [
        ("sealion resume", "to continue"),
        ("sealion undo", "to revert"),
        ("sealion abandon", "to close it as it is"),
    ];
    let missing: Vec<String> = ways
        .iter()
        .filter(|(command, _)| !why.contains(command) && (can_go_back || *command != "sealion undo"))
        .map(|(command, what)| format!("{command} ({what})"))
        .collect();
    match (why.rsplit_once("\n  next: "), missing.as_slice()) {
        (_, []) => why.to_owned(),
        (Some(_), _) => format!("{why}\n        or: {}", missing.join(", or ")),
        (None, _) => format!("{why}\n\n  next: {}", missing.join(", or ")),
    }
}

/// Steps name the undo as they are written, and cannot know of an irreversible step before them.
fn without_undo(why: &str) -> String {
    let ways = [
        ", or sealion undo",
        " or sealion undo",
        " (or sealion undo)",
        "; or sealion undo",
        "; otherwise sealion undo",
    ];
    let text = ways.iter().fold(why.to_owned(), |text, way| text.replace(way, ""));
    if text.contains("sealion undo") {
        return format!("{text}\n  note: this change cannot be undone any more");
    }
    text
}

/// A journal that cannot be written before the first step has changed nothing.
fn before_anything(error: JournalError) -> OpsError {
    match error {
        JournalError::Locked { .. } => error.into(),
        other => OpsError::Refused(format!("{other}\n\nnothing was changed")),
    }
}

/// All changes of which this machine or a node tells, oldest first. What a node tells of a change counts more than what this
/// machine had heard of it.
pub(crate) fn known(access: &dyn ClusterAccess) -> Result<Vec<ChangeJournal>, OpsError> {
    let mut known: Vec<ChangeJournal> =
        copies::look(access)?.newer.into_iter().map(|copy| copy.journal).collect();
    for own in journals::own(access)? {
        if known.iter().all(|copy| copy.plan.id != own.plan.id) {
            known.push(own);
        }
    }
    known.sort_by(|one, other| one.order().cmp(&other.order()));
    Ok(known)
}

/// The cluster with the node among its own that its newest change makes a member, or has made one: it may be marked as none yet.
///
/// # Errors
/// A journal cannot be read, or is damaged.
pub fn with_joiner(mut cluster: Cluster) -> Result<Cluster, OpsError> {
    if cluster.joining.is_empty() {
        return Ok(cluster);
    }
    let newest = known(&cluster)?.into_iter().rfind(|journal| !journal.is_over());
    if let Some(joiner) = newest.as_ref().and_then(|journal| journal.plan.change.joiner()) {
        cluster.admit(joiner);
    }
    Ok(cluster)
}

/// What is cleartext, and who is let in no more, once `steps` of `plan` are taken back.
///
/// # Errors
/// Its plan is of another version.
pub fn undo_warnings(
    access: &dyn ClusterAccess,
    settings: &Settings,
    plan: &Plan,
    steps: &[&Step],
) -> Result<Vec<String>, OpsError> {
    let nobody = SecretString::from(String::new());
    let mut world = world(access, settings, nobody, Some(plan), Box::new(|_| {}))?;
    Ok(providers::undo_warnings(&mut world, &plan.change, steps))
}

/// What is left for a person to do once `joiner` is a member.
pub fn notes_of_join(access: &dyn ClusterAccess, joiner: &NodeName) -> Vec<String> {
    providers::notes_of_join(&mut access.nodes(), joiner)
}

/// Goes on with the newest change: forward (`resume`), or back (`undo`, also of a finished one).
pub fn go_on(
    access: &dyn ClusterAccess,
    settings: &Settings,
    passphrase: SecretString,
    wish: Option<Direction>,
    tell: Tell<'_>,
) -> Result<Finished, OpsError> {
    let command = if wish == Some(Direction::Back) { "undo" } else { "resume" };
    let is_wished =
        |journal: &ChangeJournal| if command == "undo" { !journal.is_over() } else { journal.is_open() };
    let nothing = |copies: &Copies, own: &[ChangeJournal]| {
        let unknown = [copies.damaged.clone(), copies.not_seen.clone()].concat();
        let dir = journal_dir(access);
        let why = match (own.len(), command) {
            (0, _) => format!("{} holds no journal of a change", dir.display()),
            (_, "resume") => format!("no change in {} is unfinished", dir.display()),
            _ => format!("every change in {} is reverted or abandoned already", dir.display()),
        };
        OpsError::Refused(format!(
            "there is nothing to {command}\n  why:  {why}{}\n  next: sealion status",
            if unknown.is_empty() {
                String::new()
            } else {
                format!("; copies on nodes that cannot be read: {}", unknown.join(", "))
            }
        ))
    };
    let copies = copies::look(access)?;
    let own = journals::own(access)?;
    if !own.iter().any(is_wished) && copies.newer.is_empty() {
        return Err(nothing(&copies, &own));
    }
    let _lock = ClusterLock::take(&journal_dir(access))?;
    let lease = Lease::take(access, command, settings.takes_over, &mut |line| tell(Progress::Line(line)))?;
    let copies = copies::look(access)?;
    for copy in &copies.newer {
        let what = copy.describe(access.clock().unix_ms());
        tell(Progress::Line(format!("this machine's journal is made from a node's: {what}")));
        copy.take_over()?;
    }
    for why in &copies.not_seen {
        tell(Progress::Line(format!("the journals on a node cannot be read: {why}")));
    }
    let own = journals::own(access)?;
    let at = own.iter().rposition(is_wished).ok_or_else(|| nothing(&copies, &own))?;
    let (chosen, later) = own.get(at..).and_then(<[_]>::split_first).ok_or_else(|| nothing(&copies, &own))?;
    if let Some(later) = later.iter().find(|later| later.was_begun() && !later.is_over()) {
        return Err(OpsError::Refused(format!(
            "{} was overtaken by a later change of cluster {}, nothing was changed\n  why:  {} began after it, so going on would undo \
             part of that\n  next: sealion abandon closes the earlier one as it is",
            chosen.plan.id,
            access.cluster_name(),
            later.plan.id
        )));
    }
    if wish == Some(Direction::Back) && chosen.went_forward() {
        keys_are_kept(access, settings, chosen)?;
    }
    let mut journal = Journal::open(&chosen.path)?;
    let records: Vec<Record> = journal.records().cloned().collect();
    let Some((mut machine, turned)) = Machine::resume(records.iter(), wish) else {
        return Err(nothing(&copies, &own));
    };
    if let Command::Finished(Outcome::Refused { why, .. }) = machine.next() {
        return Err(OpsError::Refused(format!("{command} is refused, nothing was changed\n\n{why}")));
    }
    if machine.direction() == Direction::Forward
        && let Some(why) = providers::other_authority(machine.plan(), access.ca_dir())
    {
        return Err(OpsError::Refused(why));
    }
    settings.gates.hold(&mut machine)?;
    let turn = if turned {
        let direction = machine.direction();
        Some(journal.append(access.clock().unix_ms(), Record::Turned { direction })?)
    } else {
        None
    };
    tell(Progress::Line(format!(
        "{} {}",
        match (machine.direction(), turned) {
            (Direction::Back, true) => "undoing",
            (Direction::Back, false) => "continuing to undo",
            (Direction::Forward, _) => "continuing",
        },
        machine.plan().id
    )));
    {
        let shared = std::cell::RefCell::new(&mut *tell);
        let mut world = world(
            access,
            settings,
            passphrase.clone(),
            Some(machine.plan()),
            Box::new(|line: &str| (shared.borrow_mut())(Progress::Line(line.to_owned()))),
        )?;
        // One that is on its way in, or is in, is waited for like any node. On the way back it is not started to be stopped.
        let is_in = |step: &&Step| step.kind == providers::JOIN && chosen.has_begun(&step.id);
        if machine.direction() == Direction::Forward
            && let Some(step) = machine.plan().steps.iter().find(is_in)
            && let is_done = chosen.has_done(&step.id)
            && let Some(joiner) = world.joiner.clone()
            && !world.in_part_of(&joiner, |world| providers::is_left_to_its_step(world, &joiner, is_done))
        {
            world.joiner = None;
        }
        if let Some(line) = &turn {
            change::Runner::copy_journal(&mut world, journal.path(), line)
                .map_err(|error| OpsError::Stopped(error.0))?;
        }
        let begun: Vec<&Step> = chosen.plan.steps.iter().filter(|step| chosen.has_begun(&step.id)).collect();
        for line in providers::files::sweep(&mut world, &begun) {
            world.say(&line);
        }
        world.revive().map_err(|error| OpsError::Stopped(error.0))?;
    }
    drive(access, settings, passphrase, &lease, &mut journal, &mut machine, tell)
}

/// What was replaced is put back by an undo, and is kept only until a later change is finished.
fn keys_are_kept(
    access: &dyn ClusterAccess,
    settings: &Settings,
    chosen: &ChangeJournal,
) -> Result<(), OpsError> {
    let begun: Vec<&Step> = chosen.plan.steps.iter().filter(|step| chosen.has_begun(&step.id)).collect();
    let nobody = SecretString::from(String::new());
    let mut world = world(access, settings, nobody, Some(&chosen.plan), Box::new(|_| {}))?;
    let (what, why, next) = match providers::kept_keys::missing(&mut world, &begun) {
        Ok(missing) if missing.is_empty() => return Ok(()),
        Ok(missing) => (
            "cannot be undone any more",
            format!(
                "the keys that it replaced were removed when a later change was finished: {}",
                missing.join(", ")
            ),
            providers::instead_of_undo(&mut world, &chosen.plan.change),
        ),
        Err(why) => {
            ("cannot be undone now", why, "see that this node can be looked at, then sealion undo".into())
        }
    };
    Err(OpsError::Refused(format!(
        "{} {what}, nothing was changed\n  why:  {why}\n  next: {next}",
        chosen.plan.id
    )))
}

/// Away with the keys of changes that cannot be undone any more, now that this one has ended.
fn forget_keys(
    access: &dyn ClusterAccess,
    settings: &Settings,
    plan: &Plan,
    direction: Direction,
) -> Result<Vec<String>, OpsError> {
    let all = known(access)?;
    let order = (plan.sequence, plan.id.as_str());
    let mut older = all.iter().filter(|journal| journal.order() < order);
    // An undo goes back over later changes only where all of them were abandoned (or taken back): see `go_on`.
    let given_up: Vec<&ChangeJournal> = match direction {
        Direction::Forward => vec![],
        Direction::Back => {
            all.iter().filter(|journal| journal.order() > order && journal.is_over()).collect()
        }
    };
    let (over, needed): (Vec<&Plan>, Option<&Plan>) = match direction {
        Direction::Forward => (older.map(|journal| &journal.plan).collect(), Some(plan)),
        Direction::Back => (
            std::iter::once(plan).chain(given_up.iter().map(|journal| &journal.plan)).collect(),
            older.rfind(|journal| !journal.is_over()).map(|journal| &journal.plan),
        ),
    };
    let nobody = SecretString::from(String::new());
    let mut world = world(access, settings, nobody, Some(plan), Box::new(|_| {}))?;
    let mut told = providers::kept_keys::forget(&mut world, &over, needed);
    for journal in given_up {
        let begun: Vec<&Step> =
            journal.plan.steps.iter().filter(|step| journal.has_begun(&step.id)).collect();
        told.extend(providers::kept_keys::forget_placed(&mut world, &journal.plan.id, &begun));
    }
    Ok(told)
}

struct Watch<'t, 'u> {
    access: &'t dyn ClusterAccess,
    tell: &'t std::cell::RefCell<Tell<'u>>,
    notes: Vec<(String, String)>,
}

impl change::driver::Watcher for Watch<'_, '_> {
    fn at(&mut self, machine: &Machine, command: &Command) {
        self.access.at(machine, command, &mut |line| (self.tell.borrow_mut())(Progress::Line(line)));
        let of = machine.plan().steps.len();
        let say = |step: usize, phase: &'static str, direction: Direction| {
            if let Some(one) = machine.step(step) {
                let (steps_left, restarts_left) = machine.left();
                (self.tell.borrow_mut())(Progress::Step {
                    id: one.id.to_string(),
                    kind: one.kind.clone(),
                    title: one.title.clone(),
                    phase,
                    direction,
                    at: step + 1,
                    of,
                    nodes: one.nodes.iter().map(ToString::to_string).collect(),
                    restarts: one.restarts(direction == Direction::Back),
                    restarts_left,
                    steps_left,
                });
            }
        };
        match command {
            Command::Check { step, direction } => say(*step, "checking", *direction),
            Command::Act { step, direction, .. } => say(*step, "acting", *direction),
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
    access: &dyn ClusterAccess,
    settings: &Settings,
    passphrase: SecretString,
    lease: &Lease<'_>,
    journal: &mut Journal,
    machine: &mut Machine,
    tell: Tell<'_>,
) -> Result<Finished, OpsError> {
    let plan_id = machine.plan().id.clone();
    let shared = std::cell::RefCell::new(tell);
    let runner = world(
        access,
        settings,
        passphrase,
        Some(machine.plan()),
        Box::new(|line: &str| (shared.borrow_mut())(Progress::Line(line.to_owned()))),
    )?;
    let gates = Gatekeeper {
        access,
        gates: &settings.gates,
        tell: Box::new(|progress| (shared.borrow_mut())(progress)),
    };
    let mut runner = LeasedRunner { runner, lease, gates };
    let mut watcher = Watch { access, tell: &shared, notes: Vec::new() };
    let outcome = Driver { journal, runner: &mut runner, watcher: &mut watcher, clock: access.clock() }
        .run(machine)
        .map_err(|error| if machine.touched() { error.into() } else { before_anything(error) })?;
    let not_proven = watcher
        .notes
        .iter()
        .filter(|(_, note)| note.starts_with(NOT_PROVEN))
        .map(|(step, note)| format!("{step}: {note}"))
        .collect();
    if outcome == Outcome::Complete {
        // A change that is over has left nobody on the way.
        for line in runner.runner.settle().unwrap_or_else(|error| vec![error.0]) {
            (shared.borrow_mut())(Progress::Line(line));
        }
        // What is left is left for the end of the next change.
        let told =
            forget_keys(access, settings, machine.plan(), machine.direction()).unwrap_or_else(|error| {
                vec![format!("keys that were replaced before were not checked: {error}")]
            });
        for line in told {
            (shared.borrow_mut())(Progress::Line(line));
        }
    }
    let stopped_after = match &outcome {
        Outcome::Held { after } => Some(after.to_string()),
        _ => None,
    };
    match outcome {
        Outcome::Complete | Outcome::Held { .. } => Ok(Finished {
            plan_id,
            direction: machine.direction(),
            notes: watcher.notes,
            not_proven,
            stopped_after,
        }),
        Outcome::Refused { step, why } => {
            Err(OpsError::Refused(format!("step {step} is refused, nothing was changed\n\n{why}")))
        }
        Outcome::Stopped { step, why } => Err(OpsError::Stopped(format!(
            "the change stopped at step {step}; what was done stays done\n\n{}",
            with_ways_on(&why, machine.can_go_back())
        ))),
    }
}

/// The plan of the change that is open, here or on a node.
pub fn open_plan(access: &dyn ClusterAccess) -> Result<Option<Plan>, OpsError> {
    Ok(open_journal(access)?.map(|journal| journal.plan))
}

/// The journal of that change.
pub(crate) fn open_journal(access: &dyn ClusterAccess) -> Result<Option<ChangeJournal>, OpsError> {
    Ok(known(access)?.into_iter().rfind(ChangeJournal::is_open))
}

/// Closes the open change as it is: nothing is changed on any node but the journals, and notes of what nobody can take back. Returns what is left how.
pub fn abandon(
    access: &dyn ClusterAccess,
    settings: &Settings,
    say: &mut dyn FnMut(String),
) -> Result<Vec<String>, OpsError> {
    let _lock = ClusterLock::take(&journal_dir(access))?;
    let lease = Lease::take(access, "abandon", settings.takes_over, say)?;
    for copy in copies::look(access)?.newer {
        copy.take_over()?;
    }
    let nothing = || {
        OpsError::Refused(
            "there is nothing to abandon\n  why:  no change is open\n  next: sealion status".into(),
        )
    };
    let path = open_change(access)?.ok_or_else(nothing)?;
    let mut journal = Journal::open(&path)?;
    let records: Vec<Record> = journal.records().cloned().collect();
    let (machine, _) = Machine::resume(records.iter(), None).ok_or_else(nothing)?;
    let nobody = SecretString::from(String::new());
    let mut world = world(access, settings, nobody, Some(machine.plan()), Box::new(|_| {}))?;
    let mut left = providers::left_as(&mut world, &machine);
    lease.is_ours().map_err(OpsError::Stopped)?;
    let line = journal.append(access.clock().unix_ms(), Record::Abandoned { left: left.clone() })?;
    change::Runner::copy_journal(&mut world, journal.path(), &line)
        .map_err(|error| OpsError::Stopped(error.0))?;
    // Behind the record, which names them: who is killed here finds them at the next change, and may abandon that.
    left.extend(providers::give_up(&mut world));
    let steps = machine.plan().steps.iter().zip(machine.stands());
    let begun: Vec<&Step> =
        steps.filter(|(_, stand)| **stand != change::Stand::Untouched).map(|(step, _)| step).collect();
    left.extend(providers::files::sweep(&mut world, &begun));
    Ok(left)
}

/// What the change that was begun last could not show, if it was closed without proof.
pub fn unproven(access: &dyn ClusterAccess) -> Result<Option<String>, OpsError> {
    let Some(newest) = journals::own(access)?.pop() else { return Ok(None) };
    if !newest.went_forward() {
        return Ok(None);
    }
    Ok(newest.records.iter().rev().find_map(|(_, record)| match record {
        Record::Done { step, note, .. } if note.starts_with(NOT_PROVEN) => Some(format!("{step}: {note}")),
        _ => None,
    }))
}

const NOT_PROVEN: &str = "NOT PROVEN";

/// Equips a node that is not started yet, as a sealed cluster expects it.
pub fn equip(
    access: &dyn ClusterAccess,
    settings: &Settings,
    passphrase: SecretString,
    node: &str,
) -> Result<(), OpsError> {
    let mut world = world(access, settings, passphrase, None, Box::new(|_| {}))?;
    providers::equip(&mut world, &model::NodeName::from(node))
        .map_err(|error| OpsError::internal(format!("cannot equip {node}"), error))
}

#[cfg(test)]
mod tests {
    use model::{Noun, Verb};

    use super::*;

    #[test]
    fn what_stopped_a_change_names_each_way_on_once() {
        let text = with_ways_on("NOT PROVEN\n  why:  idle\n  next: sealion resume checks again", true);
        assert!(text.ends_with("checks again\n        or: sealion undo (to revert), or sealion abandon (to close it as it is)"), "{text}");
        assert_eq!((text.matches("next:").count(), text.matches("sealion resume").count()), (1, 1), "{text}");
        let text = with_ways_on("the disk is full", true);
        assert!(text.ends_with("next: sealion resume (to continue), or sealion undo (to revert), or sealion abandon (to close it as it is)"), "{text}");
        let text =
            with_ways_on("a page is plain\n  next: rebuild it, then sealion resume, or sealion undo", false);
        assert!(
            text.ends_with("then sealion resume\n        or: sealion abandon (to close it as it is)"),
            "{text}"
        );
    }

    #[test]
    fn what_was_refused_before_it_began_is_not_resumed() {
        let change = Change::new(Verb::Enable, [Noun::RequireTls]);
        let why =
            "some clients use cleartext\n  next: make them use TLS, then sealion resume, or sealion undo";
        let text = begins_anew(why, &change);
        assert!(text.ends_with("make them use TLS, then sealion enable require-tls"), "{text}");
    }
}
