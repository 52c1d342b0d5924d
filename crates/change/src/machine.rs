//! Apply, resume and undo as one state machine without I/O.
//!
//! The machine asks for one thing at a time ([`Machine::next`]) and is told what came of it ([`Machine::on`]). Killed
//! anywhere, a new machine made from the journal's records goes on: a step whose intent was journalled is checked
//! again, and its action, which is idempotent, is run again unless its post-check already holds. An action that takes long comes in
//! parts: what it says after each is journalled, and it goes on behind the last one.
//!
//! What a step's [`model::StepNature`] says of its way back is held here: nobody goes back over an irreversible step, and one that
//! another step takes back is never taken back by itself.

use model::{Change, Plan, Step, StepId, Verb};
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
        /// What was journalled of its last part in this direction; `None`: it begins.
        mark: Option<String>,
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
    AlreadyDone {
        note: String,
    },
    Blocked {
        why: String,
    },
    Acted,
    /// A part of the action is done, and more is to come. The mark is the step's own: what is finished by now.
    PartActed {
        mark: String,
    },
    Verified {
        note: String,
    },
    Failed {
        why: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Every step holds in the wished direction.
    Complete,
    /// A pre-check said no before anything was changed.
    Refused { step: StepId, why: String },
    /// Something was changed and something is left; `resume` or `undo` goes on from here.
    Stopped { step: StepId, why: String },
    /// It was to go so far and no further ([`Machine::stop_after`]); it stays open, and `resume` goes on behind this step.
    Held { after: StepId },
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Opening,
    Checking,
    /// Intent is to be journalled, then the action runs.
    Announcing,
    Acting,
    /// A part is done, which is to be journalled; then the action goes on.
    Marking {
        mark: String,
    },
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
    /// It was so before this change came there: not ours, so nothing to revert.
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

/// For each step, the steps that its undo takes back: itself and those whose nature names it, also by way of others. Nothing for
/// a step that another takes back, and for none a step that names one which is not there.
fn taken_back(plan: &Plan) -> Vec<Vec<usize>> {
    let place = |id: &StepId| plan.steps.iter().position(|step| step.id == *id);
    let mut taken_back = vec![Vec::new(); plan.steps.len()];
    for at in 0..plan.steps.len() {
        let mut by = Some(at);
        // A chain has at most as many links as there are steps; what is longer goes round in a circle.
        for _ in 0..=plan.steps.len() {
            let Some(step) = by.and_then(|by| plan.steps.get(by)) else { break };
            if let Some(next) = &step.nature.undone_by {
                by = place(next);
                continue;
            }
            if let Some(all) = by.and_then(|by| taken_back.get_mut(by)) {
                all.push(at);
            }
            break;
        }
    }
    taken_back
}

#[derive(Debug, Clone)]
pub struct Machine {
    plan: Plan,
    direction: Direction,
    stands: Vec<Stand>,
    /// Of each step, its last part that was journalled, and in which direction.
    marks: Vec<Option<(Direction, String)>>,
    taken_back: Vec<Vec<usize>>,
    at: usize,
    state: State,
    /// A step that failed going forward is taken back at once, so that the cluster is left in a state that it can
    /// be left in; then the machine stops.
    recovering: Option<String>,
    /// The last step of this run.
    stop_after: Option<StepId>,
    /// The journal says that it has come to its end.
    closed: bool,
}

impl Machine {
    /// A machine at the beginning of `plan`.
    pub fn start(plan: Plan) -> Self {
        let (stands, marks) = (vec![Stand::Untouched; plan.steps.len()], vec![None; plan.steps.len()]);
        let (direction, taken_back) = (Direction::Forward, taken_back(&plan));
        let (state, recovering, stop_after) = (State::Opening, None, None);
        Self {
            plan,
            direction,
            stands,
            marks,
            taken_back,
            at: 0,
            state,
            recovering,
            stop_after,
            closed: false,
        }
    }

    /// A machine that goes on where the records end. `wish` turns it round if it differs, unless there is no way back: then it is
    /// not turned, and has ended as `Refused`.
    /// `None` when there is nothing to continue: no plan was opened.
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
                    if let Some(at) = machine.place(step) {
                        machine.begin(at, *direction);
                    }
                }
                (Record::Progress { step, direction, mark }, Some(machine)) => {
                    if let Some(at) = machine.place(step) {
                        machine.mark(at, *direction, mark.clone());
                    }
                }
                (Record::Done { step, direction, .. }, Some(machine)) => {
                    if let Some(at) = machine.place(step) {
                        machine.finish(at, *direction);
                    }
                }
                (Record::Failed { .. } | Record::Abandoned { .. }, Some(_)) => {}
                (Record::Turned { direction } | Record::Closed { direction }, Some(machine)) => {
                    machine.direction = *direction;
                    machine.closed = matches!(record, Record::Closed { .. });
                }
            }
        }
        let mut machine = machine?;
        let turned = wish.is_some_and(|wish| wish != machine.direction);
        if wish.unwrap_or(machine.direction) == Direction::Back
            && let Some((at, why)) = machine.no_way_back()
        {
            machine.at = at;
            machine.state = State::Finished(Outcome::Refused { step: machine.here(), why });
            return Some((machine, false));
        }
        if let Some(wish) = wish {
            machine.direction = wish;
        }
        machine.look_again();
        machine.enter_first();
        Some((machine, turned))
    }

    /// Ends as `Held` once this step is done.
    ///
    /// # Errors
    /// It is none of those that remain.
    pub fn stop_after(&mut self, wish: &str) -> Result<(), String> {
        let Some((at, step)) =
            self.plan.steps.iter().enumerate().find(|(_, step)| step.id.0.eq_ignore_ascii_case(wish))
        else {
            let known: Vec<&str> = self.plan.steps.iter().map(|step| step.id.0.as_str()).collect();
            return Err(format!("the plan has no step \"{wish}\"; its steps are {}", known.join(", ")));
        };
        if !self.pending(at) {
            let state = if self.direction == Direction::Back { "not to be reverted" } else { "done already" };
            return Err(format!("step {} is {state}", step.id));
        }
        self.stop_after = Some(step.id.clone());
        Ok(())
    }

    /// The step that is about to be begun, or to be continued after an interruption: nothing runs now. `None`: in the middle of one.
    pub fn begins(&self) -> Option<(&Step, Direction, Stand)> {
        if self.state != State::Checking || self.recovering.is_some() {
            return None;
        }
        Some((self.plan.steps.get(self.at)?, self.direction, *self.stands.get(self.at)?))
    }

    /// So much time has passed between two steps that what gates saw is asked again, as after an interruption.
    pub fn has_waited(&mut self) {
        if self.begins().is_some() {
            self.look_again();
            self.enter_first();
        }
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

    fn place(&self, id: &StepId) -> Option<usize> {
        self.plan.steps.iter().position(|step| step.id == *id)
    }

    fn begin(&mut self, at: usize, direction: Direction) {
        self.set(at, Stand::Begun(direction));
        // Parts that were done the other way round may not be any more.
        if let Some(mark) = self.marks.get_mut(at) {
            mark.take_if(|(of, _)| *of != direction);
        }
    }

    fn mark(&mut self, at: usize, direction: Direction, mark: String) {
        if let Some(place) = self.marks.get_mut(at) {
            *place = Some((direction, mark));
        }
    }

    fn finish(&mut self, at: usize, direction: Direction) {
        let stand = self.stands.get(at).map_or(Stand::Undone, |stand| stand.done(direction));
        self.set(at, stand);
        if let Some(mark) = self.marks.get_mut(at) {
            *mark = None;
        }
        if direction == Direction::Back {
            for also in self.taken_back.get(at).cloned().unwrap_or_default() {
                if self.is_ours(also) {
                    self.set(also, Stand::Undone);
                }
            }
        }
    }

    fn set(&mut self, at: usize, stand: Stand) {
        if let Some(place) = self.stands.get_mut(at) {
            *place = stand;
        }
    }

    /// Whether its action may have run for this change, so that going back has something to do for it.
    fn is_ours(&self, at: usize) -> bool {
        matches!(self.stands.get(at), Some(Stand::Begun(_) | Stand::Done))
    }

    /// The last step that was begun and that nothing takes back, with what is to be said of it.
    fn no_way_back(&self) -> Option<(usize, String)> {
        self.plan.steps.iter().enumerate().rev().filter(|(at, _)| self.is_ours(*at)).find_map(|(at, step)| {
            let why = match (&step.nature.irreversible, &step.nature.undone_by) {
                (Some(why), _) => why.clone(),
                (None, Some(by)) if !self.taken_back.iter().any(|all| all.contains(&at)) => {
                    format!("the undo of {by} would take it back, and the plan has no such step")
                }
                (None, _) => return None,
            };
            let contrary = |verb| Change { verb, ..self.plan.change.clone() };
            let next = match self.plan.change.verb {
                Verb::Migrate => "sealion migrate resume continues where it stopped".to_owned(),
                _ if !self.closed => {
                    "sealion resume continues where it stopped; sealion abandon closes it as it is; a new plan starts from there".into()
                }
                Verb::Enable => format!("sealion plan {}", contrary(Verb::Disable)),
                Verb::Disable => format!("sealion plan {}", contrary(Verb::Enable)),
                Verb::Rotate | Verb::Join => "sealion status".into(),
            };
            let what = format!("{} cannot be undone any more: step {} was begun ({})", self.plan.change, step.id, step.title);
            Some((at, format!("{what}\n  why:  {why}\n  next: {next}")))
        })
    }

    /// Whether what was begun by now can be undone.
    pub fn can_go_back(&self) -> bool {
        self.no_way_back().is_none()
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

    /// The steps that are not done in the direction of this machine, in the order in which they come; the one under way is first.
    pub fn remaining(&self) -> Vec<usize> {
        let pending = (0..self.stands.len()).filter(|&at| self.pending(at));
        match self.direction {
            Direction::Forward => pending.collect(),
            Direction::Back => pending.rev().collect(),
        }
    }

    /// How many steps remain, and how many of them restart a server.
    pub fn left(&self) -> (usize, usize) {
        let pending = || self.plan.steps.iter().enumerate().filter(|(at, _)| self.pending(*at));
        let going_back = self.direction == Direction::Back;
        let restarts = pending().filter(|(_, step)| step.restarts(going_back));
        (pending().count(), restarts.count())
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
            State::Acting => {
                let mark = self.marks.get(step).and_then(Clone::clone);
                let mark = mark.filter(|(of, _)| *of == direction).map(|(_, mark)| mark);
                Command::Act { step, direction, mark }
            }
            State::Marking { mark } => {
                Command::Append(Box::new(Record::Progress { step: id(), direction, mark: mark.clone() }))
            }
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
                self.begin(self.at, direction);
                State::Acting
            }
            (State::Checking, Event::Ready) => State::Announcing,
            (State::Checking, Event::AlreadyDone { note }) | (State::Verifying, Event::Verified { note }) => {
                State::Recording { note }
            }
            (State::Checking, Event::Blocked { why }) => State::Finished(self.stop(why)),
            (State::Acting, Event::Acted) => State::Verifying,
            (State::Acting, Event::PartActed { mark }) => State::Marking { mark },
            (State::Marking { mark }, Event::Appended) => {
                self.mark(self.at, direction, mark);
                State::Acting
            }
            (State::Acting | State::Verifying | State::Checking, Event::Failed { why }) => {
                State::Failing { why }
            }
            (State::Recording { .. }, Event::Appended) => {
                self.finish(self.at, direction);
                match self.recovering.take() {
                    Some(why) => State::Finished(Outcome::Stopped { step: self.here(), why }),
                    None if self.stop_after.as_ref() == Some(&self.here()) => {
                        State::Finished(Outcome::Held { after: self.here() })
                    }
                    None => return self.enter_next(),
                }
            }
            (State::Failing { why }, Event::Appended) => {
                let begun_here = self.stands.get(self.at) == Some(&Stand::Begun(Direction::Forward));
                if self.recovering.is_some() || self.direction == Direction::Back || !begun_here {
                    State::Finished(self.stop(why))
                } else if let Some(reason) = self.stays_begun() {
                    State::Finished(self.stop(format!("{why}\n  note: the step is left as it is: {reason}")))
                } else {
                    self.recovering = Some(why);
                    State::Checking
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

    /// Why the step that failed here is not taken back by itself; `None`: it is.
    fn stays_begun(&self) -> Option<String> {
        let nature = &self.plan.steps.get(self.at)?.nature;
        let by = || nature.undone_by.as_ref().map(|by| format!("the undo of {by} takes it back"));
        nature.irreversible.clone().or_else(by)
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
            // Also one that was so before, where it takes back what this change has done.
            (Direction::Back, Some(_)) => {
                self.taken_back.get(at).is_some_and(|all| all.iter().any(|&also| self.is_ours(also)))
            }
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
mod tests;
