//! What each step does, and takes back.

mod code;
pub(crate) mod compared;
mod cutover;
mod open_work;
mod tables;

use std::path::Path;
use std::time::{Duration, Instant};

use change::{Acted, Direction, Runner, StepCheck, StepError};
use model::text::counted;
use model::{Plan, Step};
use net::{Client, NetError};

use crate::flow::Flow;
use crate::inspect::{self, Table};
use crate::{End, Ends, copy, dialect, plan, slices, trial};
use compared::Compared;

/// In it applications can write to neither.
const WINDOW_S: u64 = 60;

/// Carries out a plan of [`crate::plan()`].
pub struct Migration<'m> {
    ends: &'m Ends,
    plan_id: String,
    /// What each end was before: source, target.
    was_read_only: [bool; 2],
    /// The source's events ran; they stop with the cutover.
    was_scheduled: bool,
    /// Where the source had followed somebody to, earlier.
    had_followed: String,
    tell: &'m mut dyn FnMut(&str),
    /// From when the source was closed to when the target was open.
    pub window: Option<Duration>,
    closed: Option<Instant>,
    /// The last comparison of this run.
    compared: Option<Compared>,
}

pub(crate) fn fail(what: &str, why: impl std::fmt::Display, next: &str) -> StepError {
    StepError(format!("{what}\n  why:  {why}\n  next: {next}"))
}

pub(crate) fn asked(end: End) -> impl Fn(NetError) -> StepError {
    move |error| {
        fail(
            &format!("the {end} cannot be asked"),
            error.in_one_line(),
            "see that it runs, then sealion migrate resume",
        )
    }
}

pub(crate) const RESUME: &str = "fix that, then sealion migrate resume; or sealion migrate rollback";

fn is_read_only(client: &mut Client, end: End) -> Result<bool, StepError> {
    let ask = format!("SELECT @@GLOBAL.{}", dialect::read_only(client));
    let rows = client.query(&ask).map_err(asked(end))?;
    match rows.scalar().as_deref() {
        Some("0") => Ok(false),
        Some("1") => Ok(true),
        other => Err(fail(
            &format!("whether the {end} is read-only cannot be determined"),
            format!("it answers {}", other.unwrap_or("nothing")),
            RESUME,
        )),
    }
}

impl<'m> Migration<'m> {
    pub fn new(ends: &'m Ends, plan: &Plan, tell: &'m mut dyn FnMut(&str)) -> Self {
        let close = plan.steps.iter().find(|step| step.kind == plan::CLOSE);
        let was = |end: &str| {
            close.and_then(|step| step.params.get(plan::WAS_READ_ONLY)?.get(end)?.as_bool()).unwrap_or(false)
        };
        let was_read_only = [was("source"), was("target")];
        let was_scheduled =
            close.and_then(|step| step.params.get(plan::WAS_SCHEDULED)?.as_bool()).unwrap_or(false);
        let reverse = plan.steps.iter().find(|step| step.kind == plan::REVERSE);
        let had_followed = reverse.and_then(|step| step.params.get(plan::HAD_FOLLOWED)?.as_str());
        let had_followed = had_followed.unwrap_or_default().to_owned();
        Self {
            ends,
            plan_id: plan.id.clone(),
            was_read_only,
            was_scheduled,
            had_followed,
            tell,
            window: None,
            closed: None,
            compared: None,
        }
    }

    fn client(&self, end: End) -> Result<Client, StepError> {
        self.ends.session(end).map_err(asked(end))
    }

    /// Only plans that have one have steps that need it.
    fn back(&self) -> Result<Flow<'m>, StepError> {
        self.ends.back().ok_or_else(|| {
            fail("the source cannot follow the target", "nobody said how it logs in there", "name --back-as")
        })
    }

    fn tables(&self) -> Result<Vec<Table>, StepError> {
        let mut source = self.client(End::Source)?;
        inspect::tables(&mut source, &self.ends.schemas).map_err(asked(End::Source))
    }

    /// All rows. What an earlier try has left is kept as far as it is the same as what would come.
    fn copy_rows(&mut self) -> Result<String, StepError> {
        let begun = self.keep_begun()?;
        if begun.is_empty() {
            // Tables too: they may be others by now, and the next AUTO_INCREMENT value is theirs.
            self.drop_schemas()?;
        }
        self.make_tables()?;
        let tables = self.tables()?;
        let is_cut = tables.iter().any(|table| slices::is_cut(table, self.ends.slice_bytes));
        let sessions = if is_cut { self.ends.sessions } else { self.ends.sessions.min(tables.len()) }.max(1);
        let mut snapshot = copy::snapshot(self.ends, End::Source, sessions)
            .map_err(|why| fail("there is no consistent snapshot of the source", why, RESUME))?;
        (self.tell)(&format!(
            "{} at {}",
            counted(snapshot.sessions.len(), "session reads", "sessions read"),
            snapshot.place
        ));
        let copied = copy::all(self.ends, &mut snapshot, &tables, &begun, self.tell)
            .map_err(|why| fail("the copy ended before it was whole", why, RESUME))?;
        self.make_triggers()?;
        // Kept by the target, so that whoever resumes knows where to follow from.
        self.ends.forward().stand_at(&snapshot.place)?;
        let kept = match copied.were_there {
            0 => String::new(),
            rows => format!("; {rows} of them were there already, and equal"),
        };
        let said = format!(
            "{} of {} at {}{kept}",
            counted(copied.rows, "row", "rows"),
            counted(tables.len(), "table", "tables"),
            snapshot.place
        );
        (self.tell)(&said);
        Ok(said)
    }
}

impl Runner for Migration<'_> {
    fn check(&mut self, step: &Step, direction: Direction) -> Result<StepCheck, StepError> {
        let mut target = self.client(End::Target)?;
        Ok(match (step.kind.as_str(), direction) {
            (plan::TABLES, Direction::Forward) => {
                let (_, theirs) = self.on_target(&mut target)?;
                if theirs.is_empty() {
                    StepCheck::Ready
                } else {
                    StepCheck::Blocked(format!("the target has {} already", theirs.join(", ")))
                }
            }
            (plan::TABLES, Direction::Back) => match self.on_target(&mut target)? {
                (ours, theirs) if ours.is_empty() && theirs.is_empty() => {
                    StepCheck::AlreadyDone("nothing of this migration is on the target".into())
                }
                (ours, theirs) if ours.is_empty() => StepCheck::AlreadyDone(format!(
                    "the target still has {}, and its comment does not say that this migration made it: somebody else did, or the comment was changed \
                         (ALTER DATABASE). If it is this migration's copy, drop it by hand",
                    theirs.join(", ")
                )),
                _ => StepCheck::Ready,
            },
            (plan::COMPARE, Direction::Forward) => {
                // It is made again by whoever goes on; where the last step was killed behind its act, there is nothing left to compare.
                let is_open = self.ends.back.is_none()
                    && !is_read_only(&mut target, End::Target)?
                    && !self.ends.forward().is_set_up()?;
                if is_open {
                    StepCheck::AlreadyDone("the target takes writes; both were equal before".into())
                } else {
                    StepCheck::Ready
                }
            }
            (plan::CLOSE, Direction::Forward) => {
                if let Some(missing) = self.missing_definers()? {
                    return Ok(StepCheck::Blocked(format!(
                        "definers have no account on the target, and what is theirs would fail there: {missing}. Create those accounts there, \
                         then sealion migrate resume"
                    )));
                }
                let mut source = self.client(End::Source)?;
                match open_work::prepared(&mut source, End::Source) {
                    Ok(()) => StepCheck::Ready,
                    Err(StepError(why)) => StepCheck::Blocked(why),
                }
            }
            (plan::OPEN, Direction::Forward) => {
                let mut source = self.client(End::Source)?;
                if self.is_ended(&source, &mut target)? {
                    return Ok(StepCheck::AlreadyDone("the target takes writes".into()));
                }
                if !is_read_only(&mut source, End::Source)? {
                    // Whoever opened the source again meanwhile has written to it. Where nothing leads back, it is closed once more.
                    return Ok(if self.ends.back.is_some() {
                        StepCheck::Blocked("the source takes writes again: sealion migrate rollback".into())
                    } else {
                        StepCheck::Ready
                    });
                }
                let forward = self.ends.forward();
                let last = forward.written(&mut source)?;
                forward.reach(&last, WINDOW_S)?;
                StepCheck::Ready
            }
            _ => StepCheck::Ready,
        })
    }

    fn act(&mut self, step: &Step, direction: Direction, copied: Option<&str>) -> Result<Acted, StepError> {
        match (step.kind.as_str(), direction) {
            (plan::TABLES, Direction::Forward) => self.make_tables()?,
            (plan::TABLES, Direction::Back) => {
                self.drop_tables()?;
                self.set_read_only(End::Target, self.was_read_only[1])?;
            }
            (plan::COPY, Direction::Forward) if copied.is_none() => {
                return Ok(Acted::Part { mark: self.copy_rows()? });
            }
            (plan::FOLLOW, Direction::Forward) => self.ends.forward().begin()?,
            (plan::FOLLOW, Direction::Back) => self.ends.forward().stop()?,
            (plan::CLOSE, Direction::Forward) => self.close_source()?,
            (plan::CLOSE, Direction::Back) => {
                self.set_read_only(End::Source, self.was_read_only[0])?;
                self.schedule(true)?;
            }
            (plan::REVERSE, Direction::Forward) => self.reverse()?,
            (plan::REVERSE, Direction::Back) => self.end_reverse()?,
            (plan::OPEN, Direction::Forward) => {
                self.open()?;
                if self.ends.back.is_none() {
                    self.sign_off()?;
                }
            }
            (plan::OPEN, Direction::Back) => self.give_back()?,
            (plan::END, Direction::Forward) => {
                open_work::prepared(&mut self.client(End::Source)?, End::Source)?;
                self.back()?.stop()?;
                self.sign_off()?;
            }
            _ => {}
        }
        Ok(Acted::Whole)
    }

    fn verify(&mut self, step: &Step, direction: Direction) -> Result<String, StepError> {
        let mut target = self.client(End::Target)?;
        match (step.kind.as_str(), direction) {
            (plan::TABLES, Direction::Forward) => {
                let tables = self.tables()?;
                let forward = self.ends.forward();
                forward.same_tables(&mut target, &tables)?;
                // Before hours of copying: what replication will need is tried by who will do it.
                trial::try_to_follow(&forward)?;
                let mut said = counted(tables.len(), "table", "tables");
                said += &format!("; the target reaches the source as {}", forward.login.user);
                if let Some(back) = self.ends.back() {
                    trial::try_to_follow(&back)?;
                    said += &format!("; the source reaches the target as {}", back.login.user);
                }
                Ok(said)
            }
            (plan::TABLES, Direction::Back) => match self.on_target(&mut target)?.0.as_slice() {
                [] => Ok("nothing of it is on the target".into()),
                left => Err(fail("schemas are left on the target", left.join(", "), RESUME)),
            },
            (plan::COPY, Direction::Forward) => {
                let from = self.ends.forward().stands_at()?;
                Ok(format!(
                    "the target follows from {}",
                    from.map_or_else(String::new, |place| place.to_string())
                ))
            }
            (plan::FOLLOW, Direction::Forward) => {
                self.ends.forward().wait_following()?;
                Ok("it follows, over TLS, with verification".into())
            }
            (plan::COMPARE, Direction::Forward) => {
                let mut source = self.client(End::Source)?;
                let compared = Compared::begin(&mut source, &self.ends.schemas, End::Source)?;
                let said = compared::now(self.ends)?;
                self.compared = Some(compared);
                Ok(said)
            }
            (plan::REVERSE, Direction::Forward) => {
                self.back()?.wait_following()?;
                Ok("the source follows the target, over TLS, with verification".into())
            }
            (plan::END, Direction::Forward) => {
                if self.back()?.is_set_up()? {
                    return Err(fail("the source still follows the target", "it has its channel", RESUME));
                }
                Ok("the source gets nothing any more, and stays read-only".into())
            }
            (plan::CLOSE, Direction::Forward) => {
                let mut source = self.client(End::Source)?;
                if is_read_only(&mut source, End::Source)? {
                    Ok("the source is read-only, and the target has all of it".into())
                } else {
                    Err(fail("the source takes writes", "read_only is OFF", RESUME))
                }
            }
            (plan::OPEN, Direction::Forward) => {
                if is_read_only(&mut target, End::Target)? {
                    return Err(fail("the target takes no writes", "read_only is ON", RESUME));
                }
                self.look_again(&mut target)?;
                let window = self.window.map_or_else(String::new, |window| {
                    format!("; applications could write to neither for {} ms", window.as_millis())
                });
                Ok(format!("the target takes writes{window}"))
            }
            _ => Ok("taken back".into()),
        }
    }

    /// There is one journal, on the operator's machine; both servers tell the rest themselves.
    fn copy_journal(&mut self, _journal: &Path, _line: &str) -> Result<usize, StepError> {
        Ok(1)
    }
}
