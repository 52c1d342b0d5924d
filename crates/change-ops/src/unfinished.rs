//! How far a change came that is not finished, for whoever finds it.

use change::{Direction, Machine, Record};
use model::Plan;
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

    /// In one sentence: "enable galera is not finished: step 9 of 19 was interrupted (n2 accepts ...)".
    pub fn describe(&self) -> String {
        let of = self.plan.steps.len();
        let back = if self.direction == Direction::Back { "undo of " } else { "" };
        let Some(step) = self.plan.steps.get(self.step - 1) else {
            return format!(
                "{back}{} is not finished: all steps are done, the journal is still open",
                self.plan.change
            );
        };
        let state = if self.is_half_done { "was interrupted" } else { "comes next" };
        format!(
            "{back}{} is not finished: step {} of {of} {state} ({}: {})",
            self.plan.change, self.step, step.id, step.title
        )
    }
}

/// # Errors
/// A journal cannot be read, or is damaged: then nobody can tell what is open.
pub fn unfinished(access: &dyn ClusterAccess) -> Result<Option<Unfinished>, OpsError> {
    Ok(roll::open_journal(access)?.as_ref().and_then(Unfinished::of))
}
