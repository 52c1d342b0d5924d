//! One arbitrator of a round: the file of its start script, then stopped, started, and counted by every node again.

use std::collections::BTreeSet;

use change::{Direction, StepCheck, StepError};
use model::{NodeName, Step};
use serde::{Deserialize, Serialize};
use server::arbitrator::OPTIONS;
use server::{Alive, GaleraFacts, NodeError, ReadMember};

use super::round::{has_ended, unsound, word};
use crate::edit::{Edit, FileEdit, FileStand};
use crate::files::finish_placing;
use crate::galera::linked::{Linked, linked};
use crate::galera::quorum;
use crate::steps::{StepKind, fail, only_node, params};
use crate::world::{World, sleep};

pub struct Arbitrator;
pub const ARBITRATOR: Arbitrator = Arbitrator;

/// So long the nodes may take to be in step again before a restart is refused.
const SETTLE_MS_MAX: u64 = 15_000;
const POLL_MS: u64 = 500;
/// From its start until every node counts it.
///
/// # Source
/// garbd of Galera 26.4.23 gives up by itself some 40 s after its start (pc.wait_prim_timeout); in labs it was counted after 1 s.
const JOINED_MS_MAX: u64 = 60_000;
/// The nodes still count one that has just left. Of one that was killed they know after evs.suspect_timeout, 5 s.
///
/// # Source
/// Seen on Galera 26.4.23: asked 0.1 s after garbd had ended, each of three nodes still saw four members; the new process joined 6 s later.
pub const LEFT_MS_MAX: u64 = 20_000;
/// Who is counted for so long is counted as it runs now, and not as one that was killed before.
pub const SURE_MS: u64 = 10_000;
/// Its start was waited for, and that it had left before.
const STEADY_MS: u64 = 1_000;
/// A process that is not there for so long after its start has ended.
const GONE_MS_MAX: u64 = 3_000;

#[derive(Debug, Serialize, Deserialize)]
pub struct ArbitratorParams {
    pub edit: FileEdit,
    /// Galera states `P`, `D`, `S` before and after.
    pub before: char,
    pub after: char,
}

impl ArbitratorParams {
    fn wanted(&self, direction: Direction) -> char {
        match direction {
            Direction::Forward => self.after,
            Direction::Back => self.before,
        }
    }

    fn allowed(&self) -> &'static str {
        if self.before == 'S' || self.after == 'S' { "DS" } else { "PD" }
    }
}

/// Why an arbitrator may not be stopped now, or, where it is down, started. The nodes are given a while to be in step.
pub fn reasons_against(
    world: &mut World<'_>,
    name: &NodeName,
    allowed: &str,
) -> Result<Vec<String>, StepError> {
    let began = world.member(name)?.now_ms();
    loop {
        let (views, arbitrators) = (world.views(), world.arbitrator_views());
        let own = arbitrators.iter().find(|(other, _)| other == name).map(|(_, view)| view);
        let reasons = match own {
            Some(Err(NodeError::Down { .. })) => {
                quorum::arbitrator_may_start(name, &views, &arbitrators, allowed)
            }
            Some(Err(error)) => vec![error.first_line()],
            _ => quorum::arbitrator_may_stop(name, &views, &arbitrators, allowed),
        };
        if reasons.is_empty() || world.member(name)?.now_ms() - began > SETTLE_MS_MAX {
            return Ok(reasons);
        }
        sleep(world, POLL_MS);
    }
}

/// Whether nothing stands against a restart now, after which it reads key, certificate and CA or not.
pub fn may_restart(
    world: &mut World<'_>,
    name: &NodeName,
    allowed: &str,
    reads_files: bool,
) -> Result<StepCheck, StepError> {
    let mut reasons = reasons_against(world, name, allowed)?;
    if reads_files {
        reasons.extend(unsound(world, name)?);
    }
    if reasons.is_empty() {
        return Ok(StepCheck::Ready);
    }
    Ok(StepCheck::Blocked(format!(
        "{name} may not be restarted now\n  why:  {}\n  next: fix that, then sealion resume",
        reasons.join("\n        ")
    )))
}

/// Stops it where it runs, starts it, and waits until every node counts it.
pub fn restart(world: &mut World<'_>, name: &NodeName) -> Result<(), StepError> {
    let member = world.member(name)?;
    match member.alive() {
        Alive::No => {}
        Alive::Yes => {
            let process = member.process();
            member.stop().map_err(fail)?;
            has_ended(world, name, process.as_ref())?;
        }
        Alive::CannotTell(why) => {
            return Err(fail(format!(
                "{name} is not restarted: whether it runs cannot be determined ({why})"
            )));
        }
    }
    let has_left = has_left(world, name)?;
    let member = world.member(name)?;
    finish_placing(member)?;
    member.start().map_err(fail)?;
    is_counted(world, name, if has_left { STEADY_MS } else { SURE_MS })
}

/// Until no node counts one any more that has ended: else its next start would be taken for counted before it is. `false`: somebody
/// has started it meanwhile.
fn has_left(world: &mut World<'_>, name: &NodeName) -> Result<bool, StepError> {
    let members = world.members();
    let began = world.member(name)?.now_ms();
    loop {
        let views = world.views();
        let counts_it = views.iter().find_map(|(node, view)| match view {
            Ok(view) if view.cluster_size() < members => None,
            Ok(view) => Some(format!("{node} still sees {} members", view.cluster_size())),
            // Who does not answer counts nobody that we could wait for.
            Err(_) => None,
        });
        let Some(why) = counts_it else { return Ok(true) };
        if world.member(name)?.alive() == Alive::Yes {
            return Ok(false);
        }
        if world.member(name)?.now_ms() - began > LEFT_MS_MAX {
            return Err(fail(format!(
                "{name} has ended, and is not started again\n  why:  {why}: another garbd of this cluster may run, which the inventory does \
                 not name\n  next: see who connects to the Galera port (ss -tnp), then sealion resume"
            )));
        }
        sleep(world, POLL_MS);
    }
}

/// Until its process runs and every node counts all members, this one among them, for `steady_ms` without a break.
pub fn is_counted(world: &mut World<'_>, name: &NodeName, steady_ms: u64) -> Result<(), StepError> {
    let members = world.members();
    let began = world.member(name)?.now_ms();
    let mut counted_since = None;
    let mut gone_since = None;
    // Connections with members that it has had since then.
    let mut kept: Option<BTreeSet<_>> = None;
    loop {
        let now = world.member(name)?.now_ms();
        let alive = world.member(name)?.alive();
        if alive == Alive::No {
            if now - *gone_since.get_or_insert(now) > GONE_MS_MAX {
                return Err(did_not_join(world.member(name)?, "its process has ended"));
            }
        } else {
            gone_since = None;
        }
        let views = world.views();
        let mut missing = views.iter().find_map(|(node, view)| match view {
            Ok(view) if view.is_primary() && view.cluster_size() >= members => None,
            Ok(view) => {
                Some(format!("{node} is in a {} component of {}", view.cluster_status(), view.cluster_size()))
            }
            Err(error) => Some(error.first_line()),
        });
        // Another garbd makes the number up as well: it must be this one.
        let mut not_seen = None;
        if missing.is_none() && alive == Alive::Yes {
            match linked(world, name) {
                Linked::Yes(ends) => {
                    let same: BTreeSet<_> = match &kept {
                        Some(kept) => kept.intersection(&ends).copied().collect(),
                        None => ends.clone(),
                    };
                    if same.is_empty() {
                        missing =
                            Some(format!("each connection of {name} with another member ended at once"));
                        kept = Some(ends);
                    } else {
                        kept = Some(same);
                    }
                }
                Linked::No => {
                    missing = Some(format!(
                        "the nodes count {members} members, and {name} is connected with none of them: another garbd, which the inventory does \
                         not name, has joined"
                    ));
                }
                Linked::CannotTell(why) => not_seen = Some(why),
            }
        }
        if missing.is_none() && alive == Alive::Yes {
            if now - *counted_since.get_or_insert(now) >= steady_ms {
                if let Some(why) = not_seen {
                    let note = format!("that {name} is among the {members} members was not seen: {why}");
                    world.say(&note);
                    world.notes.push(note);
                }
                return Ok(());
            }
        } else {
            counted_since = None;
        }
        match missing {
            missing if now - began > JOINED_MS_MAX => {
                let why = missing.unwrap_or_else(|| "whether its process runs cannot be determined".into());
                return Err(did_not_join(
                    world.member(name)?,
                    &format!("{why} after {} s", (now - began) / 1000),
                ));
            }
            _ => sleep(world, POLL_MS),
        }
    }
}

fn did_not_join(member: &dyn ReadMember, why: &str) -> StepError {
    let signs = ["ERROR", "FATAL", "WARN", "error"];
    let tail: Vec<String> = member
        .log_tail(200)
        .into_iter()
        .filter(|line| signs.iter().any(|sign| line.contains(sign)))
        .collect();
    let tail = match &tail[tail.len().saturating_sub(3)..] {
        [] => "garbd logs to syslog, if the inventory names no log".to_owned(),
        lines => format!("its log says:\n        {}", lines.join("\n        ")),
    };
    fail(format!(
        "{} did not come back\n  why:  {why}; {tail}\n  next: sealion resume (tries again) or sealion undo (reverts)",
        member.name()
    ))
}

/// The options that were written are those that its start script will read.
fn counts(world: &mut World<'_>, name: &NodeName, edit: &FileEdit) -> Result<(), StepError> {
    let Some(arbitrator) = world.arbitrator(name) else { return Ok(()) };
    let file = arbitrator.file().map_err(fail)?;
    for one in &edit.edits {
        let wished = match one {
            Edit::Set { value, .. } => Some(value.as_str()),
            Edit::Remove { .. } | Edit::RemoveGroup { .. } => None,
        };
        let there = file.get(OPTIONS).map_err(fail)?.map(|(value, _)| value);
        if there != wished {
            return Err(fail(format!(
                "{name}: {OPTIONS} was written and does not count; see {}",
                edit.file.display()
            )));
        }
    }
    Ok(())
}

/// Why the running one is not as wished; `None` if it is.
fn differs(world: &mut World<'_>, name: &NodeName, letter: char) -> Result<Option<String>, StepError> {
    let Some(arbitrator) = world.arbitrator(name) else {
        return Err(fail(format!("{name} is in the plan but not in the inventory")));
    };
    Ok(match arbitrator.view() {
        Ok(view) if view.state().letter() == letter => None,
        Ok(view) => Some(format!("it speaks {}, not {}", view.state(), word(letter))),
        Err(error) => Some(error.first_line()),
    })
}

impl StepKind for Arbitrator {
    fn kind(&self) -> &'static str {
        "arbitrator"
    }

    fn is_mixed(&self, step: &Step) -> bool {
        params(step).is_ok_and(|round: ArbitratorParams| [round.before, round.after].contains(&'D'))
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let round: ArbitratorParams = params(step)?;
        let name = only_node(step)?;
        let stand = round.edit.stand(world.member(&name)?).map_err(StepError)?;
        if stand == FileStand::Foreign {
            return Ok(StepCheck::Blocked(round.edit.foreign(world.member(&name)?)));
        }
        let letter = round.wanted(direction);
        if differs(world, &name, letter)?.is_none() {
            // One that runs so and is no member is waited for, and started again by nobody.
            return Ok(if stand.is_so(direction) && linked(world, &name) != Linked::No {
                StepCheck::AlreadyDone(format!("runs {} already", word(letter)))
            } else {
                StepCheck::Ready
            });
        }
        may_restart(world, &name, round.allowed(), letter != 'P')
    }

    fn act(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let round: ArbitratorParams = params(step)?;
        let name = only_node(step)?;
        let member = world.member(&name)?;
        let note = match direction {
            Direction::Forward => round.edit.apply(member),
            Direction::Back => round.edit.revert(member),
        };
        if let Some(note) = note.map_err(StepError)? {
            world.say(&note);
            world.notes.push(note);
        }
        if direction == Direction::Forward {
            counts(world, &name, &round.edit)?;
        }
        let letter = round.wanted(direction);
        if differs(world, &name, letter)?.is_none() {
            return is_counted(world, &name, SURE_MS);
        }
        // Writing takes its time: a node may have failed since the pre-check.
        let reasons = reasons_against(world, &name, round.allowed())?;
        if !reasons.is_empty() {
            return Err(fail(format!(
                "{name} is not restarted\n  why:  {}\n  next: fix that, then sealion resume",
                reasons.join("\n        ")
            )));
        }
        restart(world, &name)
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let round: ArbitratorParams = params(step)?;
        let name = only_node(step)?;
        is_counted(world, &name, 0)?;
        let letter = round.wanted(direction);
        if let Some(why) = differs(world, &name, letter)? {
            return Err(fail(format!("{name} came back, but {why}")));
        }
        let shaken = if letter == 'S' {
            world.member(&name)?.galera_leaf().map_err(|error| {
                fail(format!(
                    "{name} came back, and its Galera port does not complete a TLS handshake\n  why:  {}\n  next: sealion status; sealion \
                     undo goes back",
                    error.first_line()
                ))
            })?;
            ", its port completed a TLS handshake"
        } else {
            ""
        };
        Ok(format!("{}{shaken}, {} members", word(letter), world.members()))
    }
}
