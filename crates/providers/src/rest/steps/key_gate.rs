//! Behind it nothing on a server needs a key: before the keys go, its files are looked at, all of them. It changes nothing, but that binary
//! logs go which only a key could open, where a person has said so.

use change::{Direction, StepCheck, StepError};
use disk::Kind;
use model::Step;
use serde::{Deserialize, Serialize};

use super::data_keys::Placed;
use crate::rest::looked::{self, Going};
use crate::rest::stopped;
use crate::steps::{StepKind, fail, only_node, params};
use crate::world::World;

pub struct KeyGate;
pub const KEY_GATE: KeyGate = KeyGate;

#[derive(Debug, Serialize, Deserialize)]
pub struct KeyGateParams {
    /// The direction in which the keys go: with `disable` forward, with the undo of `enable` back.
    pub keys_go_forward: bool,
    /// Which ones: with `rotate` not all.
    #[serde(default)]
    pub going: Going,
    /// The keys that the server goes on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keeps: Option<Placed>,
}

/// A file may be written anew while it is read, and pages may wait for the disk.
const AGAIN_MS: u64 = 2_000;
const AGAIN_MAX: u32 = 15;

impl StepKind for KeyGate {
    fn kind(&self) -> &'static str {
        "key-gate"
    }

    /// Also in the direction in which keys come: what was so before is not undone.
    fn check(&self, _: &mut World<'_>, _: &Step, _: Direction) -> Result<StepCheck, StepError> {
        Ok(StepCheck::Ready)
    }

    fn act(&self, _: &mut World<'_>, _: &Step, _: Direction) -> Result<(), StepError> {
        Ok(())
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let KeyGateParams { keys_go_forward, going, keeps } = params(step)?;
        if keys_go_forward != (direction == Direction::Forward) {
            return Ok("keys come, and none goes".into());
        }
        let name = only_node(step)?;
        if let Some(placed) = &keeps {
            placed.is_as_sealed(world, &name, "keeps its old keys")?;
        }
        let mut tries = 0;
        loop {
            tries += 1;
            let node = world.node(&name)?;
            let seen = node.files_at_rest().map_err(fail)?;
            let odd = looked::need_a_key(&seen, &going);
            let odd = if tries > AGAIN_MAX { looked::but_accepted(world, &name, odd) } else { odd };
            if odd.is_empty() {
                // A number says nothing of the bytes of a key; the server does.
                if going != Going::All && !world.accept_unproven {
                    stopped::reads_all(world, &name, "its old keys stay", &|_| false)?;
                }
                let backups = looked::backups(&seen);
                let mut found = format!("none of {} files needs {going}", seen.artefacts.len());
                if going != Going::All {
                    found += &format!("; encrypted pages and files by key: {}", looked::by_key(&seen));
                }
                if !backups.is_empty() {
                    let note = format!(
                        "{name}: backups that need the keys of their time, which stay in the escrow: {}",
                        backups.join(", ")
                    );
                    world.notes.push(note);
                }
                return Ok(found);
            }
            if tries > AGAIN_MAX {
                let is_log = |one: &looked::Odd| matches!(one.kind, Kind::Binlog | Kind::RelayLog);
                let next = if odd.iter().all(is_log) {
                    "when all replicas have them: PURGE BINARY LOGS TO the newest one, then sealion resume (or sealion undo, if that was what \
                     was done); or wait until they expire"
                } else if odd.iter().all(|one| one.is_unknown) {
                    looked::ACCEPT
                } else {
                    "sealion status rest names all; then sealion resume, or sealion undo"
                };
                return Err(fail(format!(
                    "{name}: the keys stay\n  why:  {}\n  next: {next}",
                    looked::in_words(&odd)
                )));
            }
            world.node(&name)?.wait(std::time::Duration::from_millis(AGAIN_MS));
        }
    }
}
