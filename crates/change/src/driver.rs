//! Joins the machine with the journal and with the [`Runner`] that does the work.

use std::path::Path;

use model::{Clock, Step};
use thiserror::Error;

use crate::journal::{Journal, JournalError, Record};
use crate::machine::{Command, Direction, Event, Machine, Outcome};

/// What a pre-check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepCheck {
    Ready,
    /// The post-check holds already: the step is passed over, and says so.
    AlreadyDone(String),
    Blocked(String),
}

/// A step that failed; the text has what, why and next.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct StepError(pub String);

/// Does the work of steps. The engine knows it only by these four.
pub trait Runner {
    fn check(&mut self, step: &Step, direction: Direction) -> Result<StepCheck, StepError>;
    fn act(&mut self, step: &Step, direction: Direction) -> Result<(), StepError>;
    /// Looks anew, over new connections; returns what was seen.
    fn verify(&mut self, step: &Step, direction: Direction) -> Result<String, StepError>;
    /// Whether this runner still may write to the journal; asked before each record.
    ///
    /// # Errors
    /// Somebody else goes on with the change. Nothing is written then, so that two histories do not come about.
    fn may_go_on(&mut self) -> Result<(), StepError> {
        Ok(())
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
        Command::Act { step, direction } => name(*step, "acting", *direction),
        Command::Verify { step, direction } => name(*step, "verifying", *direction),
        Command::Append(record) => match &**record {
            Record::Opened { .. } => Some("opening".into()),
            Record::Intent { step, .. } => Some(format!("{step}:announcing")),
            Record::Done { step, .. } => Some(format!("{step}:recording")),
            Record::Closed { .. } => Some("closing".into()),
            Record::Failed { .. } | Record::Turned { .. } | Record::Abandoned { .. } => None,
        },
        Command::Finished(_) => None,
    }
}

const NOWHERE_COPIED: &str = "no node takes a copy of the journal, so the step that was announced was not begun\n  why:  another \
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
                Command::Check { step, direction } => {
                    match self.with(machine, step, |runner, step| runner.check(step, direction)) {
                        Ok(StepCheck::Ready) => Event::Ready,
                        Ok(StepCheck::AlreadyDone(note)) => Event::AlreadyDone { note },
                        Ok(StepCheck::Blocked(why)) => Event::Blocked { why },
                        Err(StepError(why)) => Event::Blocked { why },
                    }
                }
                Command::Act { step, direction } => {
                    match self.with(machine, step, |runner, step| runner.act(step, direction)) {
                        Ok(()) => Event::Acted,
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
    use model::{Change, Noun, Plan, StepId, Verb};

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
        fn act(&mut self, _: &Step, _: Direction) -> Result<(), StepError> {
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
    fn run(mut runner: Overtaken) -> (Outcome, Vec<Record>) {
        let dir = tempfile::tempdir().expect("tmp");
        let mut journal = Journal::open(&dir.path().join("j")).expect("fresh");
        let step = Step {
            id: StepId("S".into()),
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
        let mut machine = Machine::start(Plan {
            id: "p".into(),
            sequence: 0,
            change: Change::new(Verb::Enable, [Noun::Galera]),
            cluster: "c".into(),
            made_unix_ms: 0,
            sealion_version: "0".into(),
            state_hash: "h".into(),
            impact: vec![],
            rights: vec![],
            steps: vec![step],
        });
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
}
