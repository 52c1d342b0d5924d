//! Joins the machine with the journal and with the [`Runner`] that does the work.

use std::path::Path;

use model::{Clock, Step};
use thiserror::Error;

use crate::journal::{Journal, JournalError, Record};
use crate::machine::{Command, Direction, Event, Machine, Outcome, Stand};

/// What a pre-check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepCheck {
    Ready,
    /// The post-check holds already: the step is passed over, and says so.
    AlreadyDone(String),
    Blocked(String),
}

/// How far an action came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Acted {
    Whole,
    /// A part of it, and it wants to be called again. The mark says what is finished by now, in the step's own words (never a
    /// secret: it is journalled). Killed behind it, the action gets the mark and goes on from there, wherever it is resumed.
    Part {
        mark: String,
    },
}

/// Whether a step may begin now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begins {
    Now,
    /// So late that what was seen before may not be true any more.
    AfterLong,
}

/// A step that failed; the text has what, why and next.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct StepError(pub String);

/// Does the work of steps. The engine knows it only by these.
pub trait Runner {
    fn check(&mut self, step: &Step, direction: Direction) -> Result<StepCheck, StepError>;
    /// One part of the action, or all of it. `mark`: what the last part in this direction returned, in this run or in one that was
    /// cut short. Between two parts the change can be interrupted like between two steps.
    fn act(&mut self, step: &Step, direction: Direction, mark: Option<&str>) -> Result<Acted, StepError>;
    /// Looks anew, over new connections; returns what was seen.
    fn verify(&mut self, step: &Step, direction: Direction) -> Result<String, StepError>;
    /// Whether this runner still may write to the journal; asked before each record.
    ///
    /// # Errors
    /// Somebody else goes on with the change. Nothing is written then, so that two histories do not come about.
    fn may_go_on(&mut self) -> Result<(), StepError> {
        Ok(())
    }
    /// Asked between two steps, before anything of `step` is done, also of one that undo or an interruption left; may wait. `stand`: a
    /// step that was begun before is in the middle, though nothing runs.
    ///
    /// # Errors
    /// It must not begin: nothing further is done.
    fn may_begin(&mut self, _: &Step, _: Direction, _: Stand) -> Result<Begins, StepError> {
        Ok(Begins::Now)
    }
    /// Copies a journal line to the nodes; a node that cannot take it gets it later. Returns how many have it now. Where none has
    /// what announces a step, that step is not begun: whoever takes over from the nodes' copies would not know whose work it is.
    ///
    /// # Errors
    /// A copy tells that somebody else goes on with the same change: nothing further is begun.
    fn copy_journal(&mut self, journal: &Path, line: &str) -> Result<usize, StepError>;
}

/// Where the driver is; called before each command is carried out.
pub trait Watcher {
    fn at(&mut self, machine: &Machine, command: &Command);
}

/// The names of the moments at which a run can be held for rehearsal and for fault injection.
///
/// `SEALION_HOLD_AT=E2.n1:acting` makes the shipped binary stop there and wait for ever, so that another process
/// can kill it, or kill a server, at exactly this point. `SEALION_CRASH_AT` aborts there instead.
pub fn moment(machine: &Machine, command: &Command) -> Option<String> {
    let name = |step: usize, phase: &str, direction: Direction| {
        let id = &machine.step(step)?.id;
        let back = if direction == Direction::Back { "undo-" } else { "" };
        Some(format!("{id}:{back}{phase}"))
    };
    match command {
        Command::Check { step, direction } => name(*step, "checking", *direction),
        Command::Act { step, direction, .. } => name(*step, "acting", *direction),
        Command::Verify { step, direction } => name(*step, "verifying", *direction),
        Command::Append(record) => match &**record {
            Record::Opened { .. } => Some("opening".into()),
            Record::Intent { step, .. } => Some(format!("{step}:announcing")),
            Record::Progress { step, .. } => Some(format!("{step}:marking")),
            Record::Done { step, .. } => Some(format!("{step}:recording")),
            Record::Closed { .. } => Some("closing".into()),
            Record::Failed { .. } | Record::Turned { .. } | Record::Abandoned { .. } => None,
        },
        Command::Finished(_) => None,
    }
}

const NOWHERE_COPIED: &str = "no node accepts a copy of the journal, so the step that was announced was not begun\n  why:  another \
     operator could not go on from there\n  next: see that there is room in the nodes' state_dir, and that it can be written";

pub struct Driver<'a> {
    pub journal: &'a mut Journal,
    pub runner: &'a mut dyn Runner,
    pub watcher: &'a mut dyn Watcher,
    pub clock: &'a dyn Clock,
}

impl Driver<'_> {
    /// Runs the machine to its end.
    ///
    /// # Errors
    /// Only when the journal cannot be written: then nothing further is begun.
    pub fn run(&mut self, machine: &mut Machine) -> Result<Outcome, JournalError> {
        loop {
            let command = machine.next();
            self.watcher.at(machine, &command);
            let event = match command {
                Command::Finished(outcome) => return Ok(outcome),
                Command::Append(record) => {
                    if let Err(StepError(why)) = self.runner.may_go_on() {
                        return Ok(machine.interrupted(why));
                    }
                    let announces = matches!(*record, Record::Intent { .. });
                    let line = self.journal.append(self.clock.unix_ms(), *record)?;
                    match self.runner.copy_journal(self.journal.path(), &line) {
                        Ok(0) if announces => return Ok(machine.interrupted(NOWHERE_COPIED.into())),
                        Ok(_) => {}
                        Err(StepError(why)) => return Ok(machine.interrupted(why)),
                    }
                    Event::Appended
                }
                Command::Check { step: at, direction } => {
                    if let Some((step, direction, stand)) = machine.begins() {
                        match self.runner.may_begin(step, direction, stand) {
                            Ok(Begins::Now) => {}
                            Ok(Begins::AfterLong) => {
                                machine.has_waited();
                                if machine.next() != (Command::Check { step: at, direction }) {
                                    continue;
                                }
                            }
                            Err(StepError(why)) => return Ok(machine.interrupted(why)),
                        }
                    }
                    match self.with(machine, at, |runner, step| runner.check(step, direction)) {
                        Ok(StepCheck::Ready) => Event::Ready,
                        Ok(StepCheck::AlreadyDone(note)) => Event::AlreadyDone { note },
                        Ok(StepCheck::Blocked(why)) => Event::Blocked { why },
                        Err(StepError(why)) => Event::Blocked { why },
                    }
                }
                Command::Act { step, direction, mark } => {
                    match self
                        .with(machine, step, |runner, step| runner.act(step, direction, mark.as_deref()))
                    {
                        Ok(Acted::Whole) => Event::Acted,
                        // It would be called for ever, and the journal would have no end.
                        Ok(Acted::Part { mark: same }) if mark.as_deref() == Some(&same) => {
                            Event::Failed { why: format!("internal fault: the step stays at \"{same}\"") }
                        }
                        Ok(Acted::Part { mark }) => Event::PartActed { mark },
                        Err(StepError(why)) => Event::Failed { why },
                    }
                }
                Command::Verify { step, direction } => {
                    match self.with(machine, step, |runner, step| runner.verify(step, direction)) {
                        Ok(note) => Event::Verified { note },
                        Err(StepError(why)) => Event::Failed { why },
                    }
                }
            };
            machine.on(event);
        }
    }

    fn with<T>(
        &mut self,
        machine: &Machine,
        at: usize,
        work: impl FnOnce(&mut dyn Runner, &Step) -> Result<T, StepError>,
    ) -> Result<T, StepError> {
        let step = machine
            .step(at)
            .ok_or_else(|| StepError(format!("internal fault: the plan has no step {at}")))?;
        work(self.runner, step)
    }
}

#[cfg(test)]
mod tests {
    use crate::fixtures::plan;

    use super::*;

    /// A runner that loses its lease while a step acts.
    struct Overtaken {
        is_over: bool,
        copies: usize,
    }

    impl Runner for Overtaken {
        fn check(&mut self, _: &Step, _: Direction) -> Result<StepCheck, StepError> {
            Ok(StepCheck::Ready)
        }
        fn act(&mut self, _: &Step, _: Direction, _: Option<&str>) -> Result<Acted, StepError> {
            self.is_over = true;
            Err(StepError("the lease was taken over".into()))
        }
        fn verify(&mut self, _: &Step, _: Direction) -> Result<String, StepError> {
            Ok(String::new())
        }
        fn may_go_on(&mut self) -> Result<(), StepError> {
            if self.is_over { Err(StepError("the lease was taken over".into())) } else { Ok(()) }
        }
        fn copy_journal(&mut self, _: &Path, _: &str) -> Result<usize, StepError> {
            Ok(self.copies)
        }
    }

    struct Nobody;
    impl Watcher for Nobody {
        fn at(&mut self, _: &Machine, _: &Command) {}
    }

    /// What the journal ends with, and how the run ended.
    fn run(mut runner: impl Runner) -> (Outcome, Vec<Record>) {
        let dir = tempfile::tempdir().expect("tmp");
        let mut journal = Journal::open(&dir.path().join("j")).expect("fresh");
        let mut machine = Machine::start(plan(1));
        let mut watcher = Nobody;
        let clock = model::SystemClock;
        let mut driver =
            Driver { journal: &mut journal, runner: &mut runner, watcher: &mut watcher, clock: &clock };
        let outcome = driver.run(&mut machine).expect("there is room");
        (outcome, journal.records().cloned().collect())
    }

    /// Seen by an outsider: a record that it failed made two histories of one, and neither resume nor undo nor abandon went on.
    #[test]
    fn who_was_overtaken_writes_nothing_more() {
        let (outcome, records) = run(Overtaken { is_over: false, copies: 3 });
        assert!(matches!(outcome, Outcome::Stopped { .. }), "{outcome:?}");
        assert!(matches!(records.last(), Some(Record::Intent { .. })), "{records:?}");
    }

    /// Seen in the kill matrix: with full disks on all nodes steps went on uncopied, and whoever took over did not know of them.
    #[test]
    fn a_step_that_no_node_was_told_of_is_not_begun() {
        let (outcome, records) = run(Overtaken { is_over: false, copies: 0 });
        let Outcome::Stopped { why, .. } = outcome else { panic!("{outcome:?}") };
        assert!(why.contains("was not begun"), "{why}");
        assert!(matches!(records.last(), Some(Record::Intent { .. })), "{records:?}");
    }

    /// Files of a copy that takes long, one a part.
    struct Copying<'a> {
        copied: &'a mut Vec<usize>,
        of: usize,
    }

    impl Runner for Copying<'_> {
        fn check(&mut self, _: &Step, _: Direction) -> Result<StepCheck, StepError> {
            Ok(StepCheck::Ready)
        }
        fn act(&mut self, _: &Step, _: Direction, mark: Option<&str>) -> Result<Acted, StepError> {
            let next = mark.map_or(0, |mark| mark.parse().expect("ours")) + 1;
            self.copied.push(next);
            Ok(if next == self.of { Acted::Whole } else { Acted::Part { mark: next.to_string() } })
        }
        fn verify(&mut self, _: &Step, _: Direction) -> Result<String, StepError> {
            Ok(String::new())
        }
        fn copy_journal(&mut self, _: &Path, _: &str) -> Result<usize, StepError> {
            Ok(1)
        }
    }

    /// Dies with the process that it is told of.
    struct Killer {
        at: usize,
    }
    impl Watcher for Killer {
        fn at(&mut self, _: &Machine, _: &Command) {
            if self.at == 0 {
                std::panic::resume_unwind(Box::new("killed"));
            }
            self.at -= 1;
        }
    }

    #[test]
    fn a_killed_copy_goes_on_behind_the_last_file_in_the_journal_and_copies_none_of_those_again() {
        for at in 0..20 {
            let dir = tempfile::tempdir().expect("tmp");
            let path = dir.path().join("j");
            let clock = model::SystemClock;
            let mut copied = Vec::new();
            let run = |machine: &mut Machine, watcher: &mut dyn Watcher, copied: &mut Vec<usize>| {
                let mut journal = Journal::open(&path).expect("free");
                let mut runner = Copying { copied, of: 5 };
                let mut driver =
                    Driver { journal: &mut journal, runner: &mut runner, watcher, clock: &clock };
                driver.run(machine).expect("there is room")
            };
            let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                run(&mut Machine::start(plan(1)), &mut Killer { at }, &mut copied);
            }));
            let journal = Journal::open(&path).expect("the lock is gone with the process");
            let records: Vec<Record> = journal.records().cloned().collect();
            drop(journal);
            let marked = records.iter().filter(|record| matches!(record, Record::Progress { .. })).count();
            let Some((mut machine, _)) = Machine::resume(records.iter(), None) else {
                assert!(killed.is_err() && at == 0);
                continue;
            };
            let mut again = Vec::new();
            assert_eq!(run(&mut machine, &mut Nobody, &mut again), Outcome::Complete);
            let is_done = records.iter().any(|record| matches!(record, Record::Done { .. }));
            let expected: Vec<usize> = if is_done || copied.last() == Some(&5) && marked < 4 {
                vec![]
            } else {
                (marked + 1..=5).collect()
            };
            assert_eq!(again, expected, "killed before command {at}; {records:?}");
        }
    }

    #[test]
    fn an_action_that_stays_where_it_is_is_stopped() {
        struct Stuck;
        impl Runner for Stuck {
            fn check(&mut self, _: &Step, direction: Direction) -> Result<StepCheck, StepError> {
                Ok(if direction == Direction::Back {
                    StepCheck::AlreadyDone(String::new())
                } else {
                    StepCheck::Ready
                })
            }
            fn act(&mut self, _: &Step, _: Direction, _: Option<&str>) -> Result<Acted, StepError> {
                Ok(Acted::Part { mark: "1".into() })
            }
            fn verify(&mut self, _: &Step, _: Direction) -> Result<String, StepError> {
                Ok(String::new())
            }
            fn copy_journal(&mut self, _: &Path, _: &str) -> Result<usize, StepError> {
                Ok(1)
            }
        }
        let (outcome, records) = run(Stuck);
        assert!(matches!(outcome, Outcome::Stopped { .. }), "{outcome:?}");
        assert_eq!(records.iter().filter(|record| matches!(record, Record::Progress { .. })).count(), 1);
    }
}
