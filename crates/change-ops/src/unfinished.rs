//! How far a change came that is not finished, for whoever finds it.

use std::collections::BTreeSet;

use change::{Direction, Machine, Outcome, Record};
use model::{Change, Noun, Plan, Step};
use site::OpsError;

use crate::access::ClusterAccess;
use crate::journals::ChangeJournal;
use crate::roll;

/// A change that is open, here or in a node's copy of its journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    pub plan: Plan,
    pub direction: Direction,
    /// The place of the step that comes next, was cut short or did not succeed, from 1; the number of steps plus 1 when all are
    /// done.
    pub step: usize,
    pub point: StopPoint,
    pub begun_unix_ms: u64,
    pub last_unix_ms: u64,
}

/// What became of the step at which a change stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopPoint {
    /// It was begun, and nobody wrote down how that ended: an action of it may have run.
    Interrupted,
    /// It did not succeed. What it had done was taken back where that can be.
    Failed,
    /// Nothing was begun behind the step before it.
    Next,
}

impl Unfinished {
    fn of(journal: &ChangeJournal) -> Option<Self> {
        let records = || journal.records.iter().map(|(_, record)| record);
        let (machine, _) = Machine::resume(records(), None)?;
        let next = || match (machine.next(), machine.direction()) {
            // Gates that look again come first then, but a person is told how far the change came.
            (change::Command::Check { step, .. }, Direction::Forward) => {
                first_not_done(&journal.plan, records()).unwrap_or(step)
            }
            (change::Command::Check { step, .. }, Direction::Back) => step,
            _ => machine.plan().steps.len(),
        };
        let (at, point) = stop_point(&journal.plan, records()).unwrap_or_else(|| (next(), StopPoint::Next));
        Some(Self {
            plan: journal.plan.clone(),
            direction: machine.direction(),
            step: at + 1,
            point,
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
        let state = match self.point {
            StopPoint::Interrupted => " was interrupted",
            StopPoint::Failed => " failed",
            StopPoint::Next => " comes next",
        };
        let at =
            self.at_step(state).unwrap_or_else(|| "all steps are done, the journal is still open".into());
        format!("{} is not finished: {at}", self.subject())
    }
}

/// The first step that no record says is done.
fn first_not_done<'a>(plan: &Plan, records: impl Iterator<Item = &'a Record>) -> Option<usize> {
    let mut done = BTreeSet::new();
    for record in records {
        match record {
            Record::Done { step, direction: Direction::Forward, .. } => done.insert(step),
            Record::Done { step, .. } | Record::Intent { step, .. } => done.remove(step),
            _ => false,
        };
    }
    plan.steps.iter().position(|step| !done.contains(&step.id))
}

/// The last step that was begun, where it was not done.
fn stop_point<'a>(
    plan: &Plan,
    records: impl DoubleEndedIterator<Item = &'a Record>,
) -> Option<(usize, StopPoint)> {
    let mut taken_back = None;
    for record in records.rev() {
        let (step, point) = match record {
            Record::Intent { step, .. } | Record::Progress { step, .. } => (step, StopPoint::Interrupted),
            Record::Failed { step, .. } => (step, StopPoint::Failed),
            // A step that failed on the way forward is taken back at once.
            Record::Done { step, direction: Direction::Back, .. } if taken_back.is_none() => {
                taken_back = Some(step);
                continue;
            }
            _ => return None,
        };
        // Its own intent to go back stands between.
        if taken_back == Some(step) && point == StopPoint::Interrupted {
            continue;
        }
        if taken_back.is_some_and(|taken_back| taken_back != step) {
            return None;
        }
        return plan.steps.iter().position(|one| one.id == *step).map(|at| (at, point));
    }
    None
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
    /// Places in the plan, in the order in which they come; back without those that leave what they made.
    pub remaining: Vec<usize>,
    /// Why it is not begun at all: there is no way back.
    pub refused: Option<String>,
}

impl Continuation {
    /// Whether the command with this wish has begun it. Without nouns the wish is for all that such nodes have. Nobody is asked, since
    /// a node may be down now.
    pub fn was_wished(&self, wish: &Change, nodes: usize) -> bool {
        let change = &self.plan.change;
        if !wish.nouns.is_empty() {
            return change == wish;
        }
        let Ok(topology) = providers::topology::named(&self.plan.topology) else { return false };
        let is_it = |nouns: &&[Noun]| {
            let all = Change::new(wish.verb, nouns.iter().copied());
            *change == all.with_profile(wish.profile)
        };
        topology.wishes_without_nouns(nodes).iter().any(is_it)
    }

    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.remaining.iter().filter_map(|at| self.plan.steps.get(*at))
    }

    /// The same, in the order of the plan.
    pub fn steps_of_plan(&self) -> Vec<&Step> {
        let remains = |(at, _): &(usize, &Step)| self.remaining.contains(at);
        self.plan.steps.iter().enumerate().filter(remains).map(|(_, step)| step).collect()
    }

    pub fn restarts(&self) -> usize {
        self.steps().filter(|step| step.restarts(self.direction == Direction::Back)).count()
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
    let direction = wish.unwrap_or(machine.direction());
    let stays = |at: &usize| {
        let kind = journal.plan.steps.get(*at).and_then(|step| providers::steps::named(&step.kind));
        direction == Direction::Back && kind.is_some_and(providers::steps::StepKind::stays)
    };
    let refused = match machine.next() {
        change::Command::Finished(Outcome::Refused { why, .. }) => Some(why),
        _ => None,
    };
    Some(Continuation {
        plan: journal.plan.clone(),
        direction,
        was_finished: !journal.is_open(),
        remaining: machine.remaining().into_iter().filter(|at| !stays(at)).collect(),
        refused,
    })
}

#[cfg(test)]
mod tests {
    use model::{StepId, StepNature, Verb};

    use super::*;

    /// Three steps, of which the first only looks.
    fn plan() -> Plan {
        let step = |n: usize| Step {
            id: StepId(format!("S{n}")),
            kind: "k".into(),
            title: String::new(),
            nodes: vec![],
            restarts_server: false,
            no_op: false,
            only_looks: n == 0,
            nature: StepNature::default(),
            part: None,
            shell: vec![],
            sql: vec![],
            diff: vec![],
            params: serde_json::Value::Null,
        };
        Plan {
            id: "p".into(),
            sequence: 0,
            change: Change::new(Verb::Enable, [Noun::Galera]),
            cluster: "c".into(),
            topology: "galera".into(),
            parts: vec![],
            made_unix_ms: 0,
            sealion_version: "0".into(),
            state_hash: "h".into(),
            inventory: std::collections::BTreeMap::new(),
            impact: vec![],
            rights: vec![],
            steps: (0..3).map(step).collect(),
        }
    }

    fn at(records: &[Record]) -> Option<(usize, StopPoint)> {
        stop_point(&plan(), records.iter())
    }

    fn id(at: usize) -> StepId {
        plan().steps[at].id.clone()
    }
    fn intent(at: usize, direction: Direction) -> Record {
        Record::Intent { step: id(at), direction }
    }
    fn done(at: usize, direction: Direction) -> Record {
        Record::Done { step: id(at), direction, note: String::new() }
    }
    fn failed(at: usize) -> Record {
        Record::Failed { step: id(at), direction: Direction::Forward, why: "why".into() }
    }

    #[test]
    fn the_same_command_continues_what_it_began_with_and_without_nouns() {
        let open = |verb, nouns: &[Noun]| Continuation {
            plan: Plan { change: Change::new(verb, nouns.iter().copied()), ..plan() },
            direction: Direction::Forward,
            was_finished: false,
            remaining: vec![],
            refused: None,
        };
        let bare = Change::new(Verb::Enable, []);
        let all = open(Verb::Enable, &Noun::ALL);
        assert!(all.was_wished(&bare, 3) && all.was_wished(&Change::new(Verb::Enable, Noun::ALL), 3));
        assert!(!open(Verb::Disable, &Noun::ALL).was_wished(&bare, 3));
        let mut estate = open(Verb::Enable, &[&Noun::ALL[..], &[Noun::Replication]].concat());
        assert!(!estate.was_wished(&bare, 9));
        estate.plan.topology = "estate".into();
        assert!(estate.was_wished(&bare, 9) && !estate.was_wished(&Change::new(Verb::Enable, Noun::ALL), 9));
        let mut clients = open(Verb::Enable, &[Noun::Clients]);
        clients.plan.topology = "replication".into();
        assert!(!clients.was_wished(&bare, 3) && clients.was_wished(&bare, 1));
    }

    #[test]
    fn a_person_is_told_where_it_stopped_and_not_where_gates_look_again() {
        use Direction::{Back, Forward};
        use StopPoint::{Failed, Interrupted};
        let begun = [intent(0, Forward), done(0, Forward), intent(1, Forward)];
        assert_eq!(at(&begun), Some((1, Interrupted)));
        let failed_one = [begun.as_slice(), &[failed(1)]].concat();
        assert_eq!(at(&failed_one), Some((1, Failed)));
        let taken_back = [failed_one.as_slice(), &[intent(1, Back), done(1, Back)]].concat();
        assert_eq!(at(&taken_back), Some((1, Failed)));
        let found_undone = [failed_one.as_slice(), &[done(1, Back)]].concat();
        assert_eq!(at(&found_undone), Some((1, Failed)));
        let turned = [taken_back.as_slice(), &[Record::Turned { direction: Back }]].concat();
        assert_eq!(at(&turned), None);
        let undone = [intent(1, Back), done(1, Back), intent(0, Back), done(0, Back)];
        assert_eq!(at(&undone), None);
        let undoing = [intent(1, Back), done(1, Back), intent(0, Back)];
        assert_eq!(at(&undoing), Some((0, Interrupted)));
        // A gate that says no leaves no record of its own.
        let blocked = [intent(0, Forward), done(0, Forward), intent(1, Forward), done(1, Forward)];
        assert_eq!(at(&blocked), None);
        assert_eq!(first_not_done(&plan(), blocked.iter()), Some(2));
        assert_eq!(first_not_done(&plan(), taken_back.iter()), Some(1));
    }
}
