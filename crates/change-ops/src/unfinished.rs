//! How far a change came that is not finished, for whoever finds it.

use change::{Direction, Machine, Record};
use model::{Plan, Step};
use site::OpsError;

use crate::access::ClusterAccess;
use crate::journals::ChangeJournal;
use crate::roll;

/// A change that is open, here or in a node's copy of its journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    pub plan: Plan,
    pub direction: Direction,
    /// The place of the step that comes next or was cut short, from 1; the number of steps plus 1 when all are done.
    pub step: usize,
    /// That step was begun: an action of it may have run.
    pub is_half_done: bool,
    pub begun_unix_ms: u64,
    pub last_unix_ms: u64,
}

impl Unfinished {
    fn of(journal: &ChangeJournal) -> Option<Self> {
        let records = || journal.records.iter().map(|(_, record)| record);
        let (machine, _) = Machine::resume(records(), None)?;
        let at = match machine.next() {
            change::Command::Check { step, .. } => step,
            _ => machine.plan().steps.len(),
        };
        let id = machine.step(at).map(|step| step.id.clone());
        let last_of_step = records().rev().find_map(|record| match record {
            Record::Intent { step, .. } if Some(step) == id.as_ref() => Some(true),
            Record::Done { step, .. } if Some(step) == id.as_ref() => Some(false),
            _ => None,
        });
        Some(Self {
            plan: journal.plan.clone(),
            direction: machine.direction(),
            step: at + 1,
            is_half_done: last_of_step == Some(true),
            begun_unix_ms: journal.records.first().map_or(0, |(at, _)| *at),
            last_unix_ms: journal.records.last().map_or(0, |(at, _)| *at),
        })
    }

    fn subject(&self) -> String {
        let back = if self.direction == Direction::Back { "undo of " } else { "" };
        format!("{back}{}", self.plan.change)
    }

    /// "step 9 of 19 was interrupted (E2.n2: n2 accepts ...)", where `state` is " was interrupted"; `None`: all steps are done.
    fn at_step(&self, state: &str) -> Option<String> {
        let step = self.plan.steps.get(self.step - 1)?;
        let of = self.plan.steps.len();
        Some(format!("step {} of {of}{state} ({}: {})", self.step, step.id, step.title))
    }

    /// While somebody holds the cluster's lease: "enable galera: step 9 of 19 (n2 accepts ...)".
    pub fn describe_running(&self) -> String {
        format!("{}: {}", self.subject(), self.at_step("").unwrap_or_else(|| "all steps are done".into()))
    }

    /// In one sentence: "enable galera is not finished: step 9 of 19 was interrupted (n2 accepts ...)".
    pub fn describe(&self) -> String {
        let state = if self.is_half_done { " was interrupted" } else { " comes next" };
        let at =
            self.at_step(state).unwrap_or_else(|| "all steps are done, the journal is still open".into());
        format!("{} is not finished: {at}", self.subject())
    }
}

/// # Errors
/// A journal cannot be read, or is damaged: then nobody can tell what is open.
pub fn unfinished(access: &dyn ClusterAccess) -> Result<Option<Unfinished>, OpsError> {
    Ok(roll::open_journal(access)?.as_ref().and_then(Unfinished::of))
}

/// A change that can be continued or undone, and the steps that remain for that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Continuation {
    pub plan: Plan,
    pub direction: Direction,
    /// It was finished, and would be undone.
    pub was_finished: bool,
    /// Places in the plan, in the order in which they come.
    pub remaining: Vec<usize>,
}

impl Continuation {
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.remaining.iter().filter_map(|at| self.plan.steps.get(*at))
    }

    pub fn restarts(&self) -> usize {
        self.steps().filter(|step| step.restarts_server && !step.no_op).count()
    }
}

/// What `resume` (`wish`: none, or forward) or `undo` (back) would do.
///
/// # Errors
/// A journal cannot be read, or is damaged: then nobody can tell what is open.
pub fn continuation(
    access: &dyn ClusterAccess,
    wish: Option<Direction>,
) -> Result<Option<Continuation>, OpsError> {
    let known = roll::known(access)?;
    let open = known.iter().rfind(|journal| journal.is_open());
    let finished = || known.iter().rfind(|journal| journal.went_forward() && wish == Some(Direction::Back));
    Ok(open.or_else(finished).and_then(|journal| of_journal(journal, wish)))
}

fn of_journal(journal: &ChangeJournal, wish: Option<Direction>) -> Option<Continuation> {
    let (machine, _) = Machine::resume(journal.records.iter().map(|(_, record)| record), wish)?;
    Some(Continuation {
        plan: journal.plan.clone(),
        direction: wish.unwrap_or(machine.direction()),
        was_finished: !journal.is_open(),
        remaining: machine.remaining(),
    })
}
