//! `sealion migrate`: the two servers from their option files, and the journal that a migration is carried out by.

pub mod cloud;
mod route;

use std::path::{Path, PathBuf};

use change::driver::Watcher;
use change::{ClusterLock, Command, Direction, Driver, Journal, Machine, Outcome, Record};
use migrate::{Migration, Problem};
use model::{Clock, Plan, SystemClock};
use site::OpsError;

pub use route::{Route, Until};

/// What somebody wants of a migration that was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// As far as it was to go.
    Resume,
    Cutover,
    /// End of the way back.
    Finish,
    Rollback,
}

/// What is told while it is carried out.
#[derive(Debug, Clone)]
pub enum Progress {
    Step { id: String, title: String, phase: &'static str, at: usize, of: usize },
    Done { id: String, note: String },
    Failed { id: String, why: String },
    Line(String),
}

/// `$XDG_STATE_HOME/sealion/migrate/NAME`.
pub fn state_dir(name: &str) -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".local/state");
    let base = std::env::var_os("XDG_STATE_HOME").map_or_else(home, PathBuf::from);
    base.join("sealion/migrate").join(name)
}

/// The option with which a command finds the migration in `dir`: `" --name NAME"`, `" --state-dir DIR"`, or nothing for the default.
pub fn dir_option(dir: &Path) -> String {
    let name = dir.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match () {
        () if dir == state_dir("default") => String::new(),
        () if dir == state_dir(name) => format!(" --name {name}"),
        () => format!(" --state-dir {}", dir.display()),
    }
}

/// The commands that an error names, with the option that finds this migration.
fn with_option(dir: &Path, error: OpsError) -> OpsError {
    let option = dir_option(dir);
    let put = |text: String| {
        ["resume", "rollback", "status", "cutover", "finish"].iter().fold(text, |text, verb| {
            let command = format!("sealion migrate {verb}");
            text.replace(&command, &format!("{command}{option}"))
        })
    };
    match error {
        OpsError::Refused(text) => OpsError::Refused(put(text)),
        OpsError::Stopped(text) => OpsError::Stopped(put(text)),
        other => other,
    }
}

/// A step says how its migration is continued. Of one that has begun nothing, nothing is left to resume.
fn begins_anew(text: &str) -> String {
    let run = "the same command again";
    [
        "sealion migrate resume; or sealion migrate rollback",
        "sealion migrate rollback, and migrate again",
        "sealion migrate resume",
        "sealion migrate rollback",
    ]
    .iter()
    .fold(text.to_owned(), |text, command| text.replace(command, run))
}

fn journal_path(dir: &Path) -> PathBuf {
    dir.join("migration.journal")
}

/// Looks at both servers; changes nothing.
///
/// # Errors
/// `Refused` with every problem.
pub fn plan(route: &Route) -> Result<Plan, OpsError> {
    let ends = route.ends()?;
    let made = SystemClock.unix_ms();
    let id = format!("migrate-{}-{made}", route.schemas.join("-"));
    let mut plan = match migrate::plan(&ends, &id, made) {
        Err(error) => {
            return Err(OpsError::cannot_look(
                "a server cannot be asked",
                error.in_one_line(),
                "check its option file",
            ));
        }
        Ok(Err(problems)) => return Err(OpsError::Refused(refused(&problems))),
        Ok(Ok(plan)) => plan,
    };
    if let Some(first) = plan.steps.first_mut() {
        first.params = serde_json::to_value(route)
            .map_err(|error| OpsError::internal("cannot keep the route", error))?;
    }
    Ok(plan)
}

fn refused(problems: &[Problem]) -> String {
    let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let what = match problems.len() {
        1 => "1 problem prevents it".to_owned(),
        many => format!("{many} problems prevent it"),
    };
    format!("{what}, nothing was changed\n\n{}", all.join("\n\n"))
}

/// Carries out a new plan.
///
/// # Errors
/// Another one of that name is not finished; else as its steps say.
pub fn begin(dir: &Path, plan: &Plan, tell: &mut dyn FnMut(Progress)) -> Result<(), OpsError> {
    begin_in(dir, plan, tell).map_err(|error| with_option(dir, error))
}

fn begin_in(dir: &Path, plan: &Plan, tell: &mut dyn FnMut(Progress)) -> Result<(), OpsError> {
    let _lock = ClusterLock::take(dir)?;
    let path = journal_path(dir);
    if path.exists() {
        let journal = Journal::open(&path)?;
        if journal.records().last().is_some_and(|record| !record.is_last()) {
            return Err(OpsError::Refused(format!(
                "a migration of that name is not finished, nothing was changed\n  why:  its journal is {}\n  next: sealion migrate \
                 resume, or sealion migrate rollback; or choose another --name",
                path.display()
            )));
        }
        let kept = path.with_extension(format!("journal.{}", SystemClock.unix_ms()));
        std::fs::rename(&path, &kept)
            .map_err(|error| OpsError::internal(format!("cannot keep {}", path.display()), error))?;
    }
    let mut journal = Journal::open(&path)?;
    let mut machine = Machine::start(Plan { sequence: 1, ..plan.clone() });
    let goal = route_of(plan)?.until.map_or_else(|| cut_over(plan), |until| step_of(plan, until.kind()));
    hold_behind(&mut machine, goal)?;
    let mut ended = drive(&mut journal, &mut machine, tell);
    if let Err(OpsError::Refused(why)) = &mut ended {
        *why = begins_anew(why);
        drop(journal);
        let _ = std::fs::remove_file(&path);
        let _ = std::fs::remove_file(path.with_extension("lock"));
    }
    ended
}

/// How far a migration is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Applications write to the source, or to neither.
    Open,
    /// The target takes the writes, and the source follows it.
    CutOver,
    /// The target takes the writes.
    Migrated,
    /// Nothing of it is on the target.
    RolledBack,
}

/// A migration that has a journal.
pub struct Known {
    pub plan: Plan,
    pub stage: Stage,
    /// Of each step, how it stands, and what was noted last.
    pub steps: Vec<(&'static str, Option<String>)>,
}

/// Names of migrations that have a journal beside that of `dir`.
fn others(dir: &Path) -> Vec<String> {
    let Some(base) =
        dir.parent().filter(|_| dir_option(dir).is_empty() || dir_option(dir).starts_with(" --name"))
    else {
        return vec![];
    };
    let all = std::fs::read_dir(base).into_iter().flatten().filter_map(Result::ok);
    let mut names: Vec<String> = all
        .filter(|one| one.path() != dir && journal_path(&one.path()).exists())
        .map(|one| one.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The plan of the migration of that name, and how far it is.
///
/// # Errors
/// There is none.
pub fn known(dir: &Path) -> Result<Known, OpsError> {
    let path = journal_path(dir);
    let none = || {
        OpsError::Refused(format!(
            "there is no migration of that name\n  why:  there is no {}\n  next: {}",
            path.display(),
            match others(dir).as_slice() {
                [] => "sealion migrate plan shows what a new one would do".to_owned(),
                names => format!("name another one: --name {}", names.join(", or --name ")),
            }
        ))
    };
    let bytes = std::fs::read(&path).map_err(|_| none())?;
    let read = change::journal::parse(&bytes, &path)?;
    let last = read.records.last().map(|(_, record)| record.clone());
    let records: Vec<Record> = read.records.into_iter().map(|(_, record)| record).collect();
    let (machine, _) = Machine::resume(records.iter(), None).ok_or_else(none)?;
    let plan = machine.plan().clone();
    // As the journal has them: what looks is forgotten by whoever goes on.
    let mut steps: Vec<(&'static str, Option<String>)> = vec![("not begun", None); plan.steps.len()];
    for record in &records {
        let (id, how, note) = match record {
            Record::Intent { step, direction: Direction::Forward } => (step, "begun", None),
            Record::Intent { step, direction: Direction::Back } => (step, "being reverted", None),
            Record::Progress { step, mark, .. } => (step, "begun", Some(mark.clone())),
            Record::Done { step, direction: Direction::Forward, note } => (step, "done", Some(note.clone())),
            Record::Done { step, direction: Direction::Back, note } => (step, "reverted", Some(note.clone())),
            Record::Failed { step, why, .. } => (step, "failed", why.lines().next().map(str::to_owned)),
            _ => continue,
        };
        if let Some(at) = plan.steps.iter().position(|step| step.id == *id)
            && let Some(place) = steps.get_mut(at)
        {
            *place = (how, note);
        }
    }
    let is_open_on_target = steps
        .iter()
        .zip(&plan.steps)
        .any(|((how, _), step)| step.kind == migrate::kinds::OPEN && *how == "done");
    let stage = match last {
        Some(Record::Closed { direction: Direction::Forward }) => Stage::Migrated,
        Some(Record::Closed { direction: Direction::Back }) => Stage::RolledBack,
        _ if is_open_on_target => Stage::CutOver,
        _ => Stage::Open,
    };
    Ok(Known { plan, stage, steps })
}

fn route_of(plan: &Plan) -> Result<Route, OpsError> {
    let params = plan.steps.first().map(|step| step.params.clone()).unwrap_or_default();
    serde_json::from_value(params)
        .map_err(|error| OpsError::internal("the plan does not say where its servers are", error))
}

fn step_of(plan: &Plan, kind: &str) -> Option<String> {
    plan.steps.iter().find(|step| step.kind == kind).map(|step| step.id.to_string())
}

/// Where the cutover ends; `None`: with the plan.
fn cut_over(plan: &Plan) -> Option<String> {
    step_of(plan, migrate::kinds::END).and_then(|_| step_of(plan, migrate::kinds::OPEN))
}

fn hold_behind(machine: &mut Machine, step: Option<String>) -> Result<(), OpsError> {
    let Some(step) = step else { return Ok(()) };
    machine.stop_after(&step).map_err(|why| OpsError::internal("cannot stop after a step", why))
}

/// Where it is to stop; `Ok(None)`: at the end of the plan.
fn until(known: &Known, goal: Goal) -> Result<Option<String>, OpsError> {
    let plan = &known.plan;
    let refuse = |why: &str, next: &str| {
        Err(OpsError::Refused(format!("that is refused, nothing was changed\n  why:  {why}\n  next: {next}")))
    };
    let state = |kind: &str| {
        let at = plan.steps.iter().position(|step| step.kind == kind)?;
        known.steps.get(at).map(|(how, _)| *how)
    };
    let is_untouched = |kind: &str| matches!(state(kind), Some("not begun" | "reverted"));
    let is_cut_over = known.stage == Stage::CutOver;
    match goal {
        Goal::Rollback => Ok(None),
        Goal::Finish if is_cut_over => Ok(None),
        Goal::Finish => refuse("the target does not take the writes yet", "sealion migrate cutover"),
        // Who has begun to end the way back goes on with that.
        Goal::Resume if is_cut_over && !is_untouched(migrate::kinds::END) => Ok(None),
        Goal::Resume | Goal::Cutover if is_cut_over => refuse(
            "the target takes the writes already, and the source follows it",
            "sealion migrate finish ends the way back; sealion migrate rollback takes it",
        ),
        Goal::Resume => match route_of(plan)?.until {
            Some(until) if is_untouched(migrate::kinds::CLOSE) => {
                if state(until.kind()) == Some("done") {
                    return refuse(
                        "it has come as far as it was to (--until)",
                        "sealion migrate cutover moves the writes; sealion migrate rollback reverts",
                    );
                }
                Ok(step_of(plan, until.kind()))
            }
            _ => Ok(cut_over(plan)),
        },
        Goal::Cutover => Ok(cut_over(plan)),
    }
}

/// Compares both servers as they are now; changes no row.
///
/// # Errors
/// They differ, or nothing is there to compare.
pub fn verify(dir: &Path) -> Result<String, OpsError> {
    let _lock = ClusterLock::take(dir)?;
    let known = known(dir)?;
    if matches!(known.stage, Stage::Migrated | Stage::RolledBack) {
        return Err(OpsError::Refused(
            "there is nothing to compare\n  why:  that migration is finished, and neither server follows the other\n  next: sealion \
             migrate status"
                .into(),
        ));
    }
    let ends = route_of(&known.plan)?.ends()?;
    migrate::verify(&ends).map_err(|error| with_option(dir, OpsError::Refused(error.to_string())))
}

/// Goes on with it, or takes it back.
///
/// # Errors
/// As its steps say.
pub fn go_on(dir: &Path, goal: Goal, tell: &mut dyn FnMut(Progress)) -> Result<(), OpsError> {
    go_on_in(dir, goal, tell).map_err(|error| with_option(dir, error))
}

fn go_on_in(dir: &Path, goal: Goal, tell: &mut dyn FnMut(Progress)) -> Result<(), OpsError> {
    let _lock = ClusterLock::take(dir)?;
    let known = known(dir)?;
    let wish = match goal {
        Goal::Rollback => Some(Direction::Back),
        Goal::Cutover | Goal::Finish => Some(Direction::Forward),
        Goal::Resume => None,
    };
    let mut journal = Journal::open(&journal_path(dir))?;
    let records: Vec<Record> = journal.records().cloned().collect();
    let nothing = || {
        OpsError::Refused("there is nothing to continue\n  why:  that migration is finished\n  next: sealion migrate status".into())
    };
    let (mut machine, turned) = Machine::resume(records.iter(), wish).ok_or_else(nothing)?;
    if let Command::Finished(Outcome::Refused { why, .. }) = machine.next() {
        return Err(OpsError::Refused(format!("that is refused, nothing was changed\n\n{why}")));
    }
    // Who resumes a way back goes on with that.
    if machine.direction() == Direction::Forward {
        hold_behind(&mut machine, until(&known, goal)?)?;
    }
    if turned {
        let direction = machine.direction();
        journal.append(SystemClock.unix_ms(), Record::Turned { direction })?;
    }
    drive(&mut journal, &mut machine, tell)
}

fn drive(
    journal: &mut Journal,
    machine: &mut Machine,
    tell: &mut dyn FnMut(Progress),
) -> Result<(), OpsError> {
    let plan = machine.plan().clone();
    let ends = route_of(&plan)?.ends()?;
    let shared = std::cell::RefCell::new(tell);
    let mut say = |line: &str| (shared.borrow_mut())(Progress::Line(line.to_owned()));
    let mut runner = Migration::new(&ends, &plan, &mut say);
    let mut watcher = Watch { tell: &shared };
    let outcome =
        Driver { journal, runner: &mut runner, watcher: &mut watcher, clock: &SystemClock }.run(machine)?;
    match outcome {
        Outcome::Complete => Ok(()),
        Outcome::Held { after } => {
            let is_open = step_of(&plan, migrate::kinds::OPEN) == Some(after.to_string());
            let next = if is_open {
                "point the applications to the target; sealion migrate finish ends the way back, sealion migrate rollback takes it"
            } else {
                "sealion migrate cutover moves the writes; sealion migrate verify compares again"
            };
            (shared.borrow_mut())(Progress::Line(format!("held after {after}: {next}")));
            Ok(())
        }
        Outcome::Refused { step, why } => {
            Err(OpsError::Refused(format!("step {step} is refused, nothing was changed\n\n{why}")))
        }
        Outcome::Stopped { step, why } => Err(OpsError::Stopped(format!(
            "the migration stopped at step {step}; what was done stays done\n\n{why}\n\n  next: sealion migrate resume (to continue), or \
             sealion migrate rollback (to revert)"
        ))),
    }
}

type Shared<'s, 't> = std::cell::RefCell<&'s mut (dyn FnMut(Progress) + 't)>;

struct Watch<'w, 's, 't> {
    tell: &'w Shared<'s, 't>,
}

impl Watcher for Watch<'_, '_, '_> {
    fn at(&mut self, machine: &Machine, command: &Command) {
        change_ops::access::hold_at(machine, command, &mut |line| {
            (self.tell.borrow_mut())(Progress::Line(line));
        });
        let of = machine.plan().steps.len();
        let say = |step: usize, phase: &'static str| {
            if let Some(one) = machine.step(step) {
                let (id, title) = (one.id.to_string(), one.title.clone());
                (self.tell.borrow_mut())(Progress::Step { id, title, phase, at: step + 1, of });
            }
        };
        match command {
            Command::Check { step, .. } => say(*step, "checking"),
            Command::Act { step, .. } => say(*step, "acting"),
            Command::Verify { step, .. } => say(*step, "verifying"),
            Command::Append(record) => match &**record {
                Record::Done { step, note, .. } => {
                    (self.tell.borrow_mut())(Progress::Done { id: step.to_string(), note: note.clone() });
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_steps_find_the_migration_that_they_are_of() {
        let text = |dir: &Path, error| with_option(dir, error).to_string();
        let stopped =
            || OpsError::Stopped("next: sealion migrate resume; or sealion migrate rollback".into());
        assert!(text(&state_dir("default"), stopped()).ends_with("resume; or sealion migrate rollback"));
        let named = text(&state_dir("shop"), stopped());
        assert_eq!(
            named,
            "next: sealion migrate resume --name shop; or sealion migrate rollback --name shop"
        );
        assert!(text(Path::new("/x"), stopped()).ends_with("rollback --state-dir /x"));
        let refused = begins_anew("next: fix that, then sealion migrate resume; or sealion migrate rollback");
        assert_eq!(refused, "next: fix that, then the same command again");
    }
}
