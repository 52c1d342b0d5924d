//! Apply, resume and undo as one state machine without I/O.
//!
//! The machine asks for one thing at a time ([`Machine::next`]) and is told what came of it ([`Machine::on`]). Killed
//! anywhere, a new machine made from the journal's records goes on: a step whose intent was journalled is checked
//! again, and its action, which is idempotent, is run again unless its post-check already holds.

use model::{Plan, Step, StepId};
use serde::{Deserialize, Serialize};

use crate::journal::Record;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Towards what the plan wants.
    Forward,
    /// Back to what was before.
    Back,
}

/// What the driver shall do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Append(Box<Record>),
    /// Look whether the step is done already, ready, or blocked.
    Check {
        step: usize,
        direction: Direction,
    },
    Act {
        step: usize,
        direction: Direction,
    },
    /// Look anew, over new connections.
    Verify {
        step: usize,
        direction: Direction,
    },
    Finished(Outcome),
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Appended,
    Ready,
    AlreadyDone { note: String },
    Blocked { why: String },
    Acted,
    Verified { note: String },
    Failed { why: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Every step holds in the wished direction.
    Complete,
    /// A pre-check said no before anything was changed.
    Refused { step: StepId, why: String },
    /// Something was changed and something is left; `resume` or `undo` goes on from here.
    Stopped { step: StepId, why: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Opening,
    Checking,
    /// Intent is to be journalled, then the action runs.
    Announcing,
    Acting,
    Verifying,
    Recording {
        note: String,
    },
    /// The failure is to be journalled; then that one step is taken back if it can be.
    Failing {
        why: String,
    },
    Closing,
    Finished(Outcome),
}

/// Where one step of the plan stands, from the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stand {
    Untouched,
    /// Its action may have run, wholly, in part, or not at all.
    Begun(Direction),
    Done,
    /// It was so before this change came there: not ours, so nothing to take back.
    Found,
    Undone,
}

impl Stand {
    /// After its post-check held. A step that was found done without ever having been begun is somebody else's work.
    fn done(self, direction: Direction) -> Self {
        match (direction, self) {
            (Direction::Back, _) => Self::Undone,
            (Direction::Forward, Self::Untouched | Self::Found) => Self::Found,
            (Direction::Forward, _) => Self::Done,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Machine {
    plan: Plan,
    direction: Direction,
    stands: Vec<Stand>,
    at: usize,
    state: State,
    /// A step that failed going forward is taken back at once, so that the cluster is left in a state that it can
    /// be left in; then the machine stops.
    recovering: Option<String>,
}

impl Machine {
    /// A machine at the beginning of `plan`.
    pub fn start(plan: Plan) -> Self {
        let stands = vec![Stand::Untouched; plan.steps.len()];
        Self { plan, direction: Direction::Forward, stands, at: 0, state: State::Opening, recovering: None }
    }

    /// A machine that goes on where the records end. `wish` turns it round if it differs.
    /// `None` when there is nothing to go on with: no plan was opened.
    pub fn resume<'a>(
        records: impl Iterator<Item = &'a Record>,
        wish: Option<Direction>,
    ) -> Option<(Self, bool)> {
        let mut machine: Option<Self> = None;
        for record in records {
            match (record, &mut machine) {
                (Record::Opened { plan }, _) => machine = Some(Self::start((**plan).clone())),
                (_, None) => return None,
                (Record::Intent { step, direction }, Some(machine)) => {
                    machine.set(step, Stand::Begun(*direction));
                }
                (Record::Done { step, direction, .. }, Some(machine)) => {
                    let stand = machine.stand(step).map_or(Stand::Undone, |stand| stand.done(*direction));
                    machine.set(step, stand);
                }
                (Record::Failed { .. } | Record::Abandoned { .. }, Some(_)) => {}
                (Record::Turned { direction } | Record::Closed { direction }, Some(machine)) => {
                    machine.direction = *direction;
                }
            }
        }
        let mut machine = machine?;
        let turned = wish.is_some_and(|wish| wish != machine.direction);
        if let Some(wish) = wish {
            machine.direction = wish;
        }
        machine.look_again();
        machine.enter_first();
        Some((machine, turned))
    }

    /// What a gate saw before the change was interrupted may have been days ago: where a step behind it is still to be done, it
    /// looks again.
    fn look_again(&mut self) {
        if self.direction == Direction::Back {
            return;
        }
        let last = (0..self.stands.len())
            .rev()
            .find(|&at| self.pending(at) && self.plan.steps.get(at).is_some_and(|step| !step.only_looks));
        for (step, stand) in self.plan.steps.iter().zip(&mut self.stands).take(last.unwrap_or(0)) {
            if step.only_looks {
                *stand = Stand::Untouched;
            }
        }
    }

    fn stand(&self, id: &StepId) -> Option<Stand> {
        self.stands.get(self.plan.steps.iter().position(|step| step.id == *id)?).copied()
    }

    fn set(&mut self, id: &StepId, stand: Stand) {
        if let Some(at) = self.plan.steps.iter().position(|step| step.id == *id)
            && let Some(place) = self.stands.get_mut(at)
        {
            *place = stand;
        }
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }
    pub fn direction(&self) -> Direction {
        self.direction
    }
    pub fn stands(&self) -> &[Stand] {
        &self.stands
    }
    pub fn step(&self, at: usize) -> Option<&Step> {
        self.plan.steps.get(at)
    }

    /// Whether anything may differ from what was before the plan.
    pub fn touched(&self) -> bool {
        self.stands.iter().any(|stand| matches!(stand, Stand::Begun(_) | Stand::Done))
    }

    pub fn next(&self) -> Command {
        let step = self.at;
        let direction = self.acting_direction();
        let id = || self.plan.steps.get(step).map_or_else(|| StepId(String::new()), |step| step.id.clone());
        match &self.state {
            State::Opening => Command::Append(Box::new(Record::Opened { plan: Box::new(self.plan.clone()) })),
            State::Checking => Command::Check { step, direction },
            State::Announcing => Command::Append(Box::new(Record::Intent { step: id(), direction })),
            State::Acting => Command::Act { step, direction },
            State::Verifying => Command::Verify { step, direction },
            State::Recording { note } => {
                Command::Append(Box::new(Record::Done { step: id(), direction, note: note.clone() }))
            }
            State::Failing { why } => {
                Command::Append(Box::new(Record::Failed { step: id(), direction, why: why.clone() }))
            }
            State::Closing => Command::Append(Box::new(Record::Closed { direction: self.direction })),
            State::Finished(outcome) => Command::Finished(outcome.clone()),
        }
    }

    /// Takes one event. An event that does not fit the state is an internal fault: it stops the change, resumable.
    pub fn on(&mut self, event: Event) {
        let state = std::mem::replace(&mut self.state, State::Closing);
        let direction = self.acting_direction();
        self.state = match (state, event) {
            (State::Opening, Event::Appended) => return self.enter_first(),
            (State::Announcing, Event::Appended) => {
                self.mark(Stand::Begun(direction));
                State::Acting
            }
            (State::Checking, Event::Ready) => State::Announcing,
            (State::Checking, Event::AlreadyDone { note }) | (State::Verifying, Event::Verified { note }) => {
                State::Recording { note }
            }
            (State::Checking, Event::Blocked { why }) => State::Finished(self.stop(why)),
            (State::Acting, Event::Acted) => State::Verifying,
            (State::Acting | State::Verifying | State::Checking, Event::Failed { why }) => {
                State::Failing { why }
            }
            (State::Recording { .. }, Event::Appended) => {
                self.mark(self.stands.get(self.at).map_or(Stand::Undone, |stand| stand.done(direction)));
                match self.recovering.take() {
                    Some(why) => State::Finished(Outcome::Stopped { step: self.here(), why }),
                    None => return self.enter_next(),
                }
            }
            (State::Failing { why }, Event::Appended) => {
                let begun_here = self.stands.get(self.at) == Some(&Stand::Begun(Direction::Forward));
                if self.recovering.is_none() && self.direction == Direction::Forward && begun_here {
                    self.recovering = Some(why);
                    State::Checking
                } else {
                    State::Finished(self.stop(why))
                }
            }
            (State::Closing, Event::Appended) => State::Finished(Outcome::Complete),
            (State::Finished(outcome), _) => State::Finished(outcome),
            (state, event) => State::Finished(Outcome::Stopped {
                step: self.here(),
                why: format!("internal fault: {event:?} does not fit {state:?}"),
            }),
        };
    }

    /// How it ends when it must not go on, here and now.
    pub fn interrupted(&mut self, why: String) -> Outcome {
        let outcome = Outcome::Stopped { step: self.here(), why };
        self.state = State::Finished(outcome.clone());
        outcome
    }

    fn acting_direction(&self) -> Direction {
        if self.recovering.is_some() { Direction::Back } else { self.direction }
    }

    fn mark(&mut self, stand: Stand) {
        if let Some(place) = self.stands.get_mut(self.at) {
            *place = stand;
        }
    }

    fn here(&self) -> StepId {
        self.plan.steps.get(self.at).map_or_else(|| StepId(String::new()), |step| step.id.clone())
    }

    fn stop(&mut self, why: String) -> Outcome {
        let why = match self.recovering.take() {
            Some(first) => format!("{first}; and that step could not be taken back: {why}"),
            None => why,
        };
        let step = self.here();
        if self.touched() { Outcome::Stopped { step, why } } else { Outcome::Refused { step, why } }
    }

    fn pending(&self, at: usize) -> bool {
        match (self.direction, self.stands.get(at)) {
            (Direction::Forward, Some(stand)) => !matches!(stand, Stand::Done | Stand::Found),
            (Direction::Back, Some(stand)) => matches!(stand, Stand::Begun(_) | Stand::Done),
            (_, None) => false,
        }
    }

    fn enter_first(&mut self) {
        let count = self.stands.len();
        let first = match self.direction {
            Direction::Forward => (0..count).find(|&at| self.pending(at)),
            Direction::Back => (0..count).rev().find(|&at| self.pending(at)),
        };
        self.enter(first);
    }

    fn enter_next(&mut self) {
        let next = match self.direction {
            Direction::Forward => (self.at + 1..self.stands.len()).find(|&at| self.pending(at)),
            Direction::Back => (0..self.at).rev().find(|&at| self.pending(at)),
        };
        self.enter(next);
    }

    fn enter(&mut self, at: Option<usize>) {
        self.state = match at {
            Some(at) => {
                self.at = at;
                State::Checking
            }
            None => State::Closing,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Change, Noun, Verb};

    fn plan(steps: usize) -> Plan {
        let step = |n: usize| Step {
            id: StepId(format!("S{n}")),
            kind: "k".into(),
            title: String::new(),
            nodes: vec![],
            restarts_server: false,
            no_op: false,
            only_looks: false,
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
            made_unix_ms: 0,
            sealion_version: "0".into(),
            state_hash: "h".into(),
            impact: vec![],
            rights: vec![],
            steps: (0..steps).map(step).collect(),
        }
    }

    /// Steps are booleans in a world; acting sets them, and may be told to fail or be killed.
    struct World {
        on: Vec<bool>,
        fails_at: Option<usize>,
        blocked_at: Option<usize>,
    }

    impl World {
        fn new(steps: usize) -> Self {
            Self { on: vec![false; steps], fails_at: None, blocked_at: None }
        }

        /// Runs until finished or until `budget` commands were carried out (then sealion was killed).
        /// `torn`: the last command, if it was an action, was carried out but never reported.
        fn run(
            &mut self,
            machine: &mut Machine,
            log: &mut Vec<Record>,
            mut budget: usize,
        ) -> Option<Outcome> {
            loop {
                let command = machine.next();
                if let Command::Finished(outcome) = command {
                    return Some(outcome);
                }
                if budget == 0 {
                    return None;
                }
                budget -= 1;
                let event = match command {
                    Command::Append(record) => {
                        log.push(*record);
                        Event::Appended
                    }
                    Command::Check { step, direction } => {
                        if self.blocked_at == Some(step) && direction == Direction::Forward {
                            Event::Blocked { why: "blocked".into() }
                        } else if self.on[step] == (direction == Direction::Forward) {
                            Event::AlreadyDone { note: String::new() }
                        } else {
                            Event::Ready
                        }
                    }
                    Command::Act { step, direction } => {
                        self.on[step] = direction == Direction::Forward;
                        Event::Acted
                    }
                    Command::Verify { step, direction } => {
                        if self.fails_at == Some(step) && direction == Direction::Forward {
                            Event::Failed { why: "post-check".into() }
                        } else {
                            Event::Verified { note: String::new() }
                        }
                    }
                    Command::Finished(_) => unreachable!("handled above"),
                };
                machine.on(event);
            }
        }
    }

    #[test]
    fn killed_after_any_command_resume_finishes_and_undo_goes_back() {
        for wish in [Direction::Forward, Direction::Back] {
            for budget in 0..40 {
                let (mut world, mut log) = (World::new(3), Vec::new());
                let finished = world.run(&mut Machine::start(plan(3)), &mut log, budget);
                let Some((mut machine, turned)) = Machine::resume(log.iter(), Some(wish)) else {
                    assert_eq!(budget, 0, "only before the plan was journalled there is nothing to resume");
                    continue;
                };
                assert_eq!(turned, wish == Direction::Back);
                assert!(finished.is_none_or(|outcome| outcome == Outcome::Complete));
                assert_eq!(world.run(&mut machine, &mut log, 99), Some(Outcome::Complete));
                assert_eq!(world.on, vec![wish == Direction::Forward; 3], "killed after {budget} commands");
            }
        }
    }

    #[test]
    fn killed_again_and_again_it_still_ends() {
        let (mut world, mut log) = (World::new(4), Vec::new());
        world.run(&mut Machine::start(plan(4)), &mut log, 1);
        for _ in 0..100 {
            let (mut machine, _) = Machine::resume(log.iter(), None).expect("opened");
            // Four commands are one step's check, intent, action, verification: progress needs the fifth.
            if world.run(&mut machine, &mut log, 5) == Some(Outcome::Complete) {
                assert_eq!(world.on, vec![true; 4]);
                return;
            }
        }
        panic!("no end after 100 kills");
    }

    #[test]
    fn refuses_when_the_first_pre_check_says_no_and_touches_nothing() {
        let (mut world, mut log) = (World::new(2), Vec::new());
        world.blocked_at = Some(0);
        let outcome = world.run(&mut Machine::start(plan(2)), &mut log, 99);
        assert!(matches!(outcome, Some(Outcome::Refused { .. })), "{outcome:?}");
        assert_eq!(world.on, vec![false; 2]);
    }

    #[test]
    fn a_failed_step_is_taken_back_and_the_change_stops_resumable() {
        let (mut world, mut log) = (World::new(3), Vec::new());
        world.fails_at = Some(1);
        let outcome = world.run(&mut Machine::start(plan(3)), &mut log, 99);
        assert!(matches!(outcome, Some(Outcome::Stopped { .. })), "{outcome:?}");
        assert_eq!(world.on, vec![true, false, false], "step 0 stays, step 1 was taken back");
        world.fails_at = None;
        let (mut machine, _) = Machine::resume(log.iter(), None).expect("opened");
        assert_eq!(world.run(&mut machine, &mut log, 99), Some(Outcome::Complete));
        assert_eq!(world.on, vec![true; 3]);
    }

    #[test]
    fn what_was_so_before_is_not_taken_back_wherever_it_was_killed() {
        for budget in 0..40 {
            let (mut world, mut log) = (World::new(3), Vec::new());
            world.on[1] = true;
            world.run(&mut Machine::start(plan(3)), &mut log, budget);
            // Resumed once, so that a step found done is read back from the journal too.
            if let Some((mut machine, _)) = Machine::resume(log.iter(), None) {
                world.run(&mut machine, &mut log, 99);
            }
            let Some((mut machine, _)) = Machine::resume(log.iter(), Some(Direction::Back)) else { continue };
            assert_eq!(world.run(&mut machine, &mut log, 99), Some(Outcome::Complete));
            assert_eq!(world.on, [false, true, false], "killed after {budget} commands");
        }
    }

    #[test]
    fn an_undone_change_can_be_wished_again() {
        let (mut world, mut log) = (World::new(2), Vec::new());
        world.run(&mut Machine::start(plan(2)), &mut log, 99);
        for wish in [Direction::Back, Direction::Forward] {
            let (mut machine, _) = Machine::resume(log.iter(), Some(wish)).expect("opened");
            log.push(Record::Turned { direction: wish });
            assert_eq!(world.run(&mut machine, &mut log, 99), Some(Outcome::Complete));
            assert_eq!(world.on, vec![wish == Direction::Forward; 2]);
        }
    }
}
