//! The last step: what does the server say, and what do the files hold now? It changes nothing but that pages in memory are written out first.

use std::time::Duration;

use change::{Direction, StepCheck, StepError};
use disk::Kind;
use model::link::some_of;
use model::{Noun, Step};
use serde::{Deserialize, Serialize};
use server::{AtRest, LiveSettings, NodeView, OwnChoice};

use super::data_keys::Placed;
use super::spaces;
use crate::rest::plan::LIVE;
use crate::rest::{key_place, looked};
use crate::steps::{StepKind, fail, only_node, params};
use crate::world::World;

pub struct Proof;
pub const PROOF: Proof = Proof;

/// Pages may wait for the disk, and a file may come or go while it is read.
const AGAIN_MS: u64 = 2_000;
const AGAIN_MAX: u32 = 15;
/// So many tables or tablespaces are named.
const NAMED_MAX: usize = 5;

#[derive(Debug, Serialize, Deserialize)]
pub struct ProofParams {
    pub encrypt: bool,
    pub nouns: Vec<Noun>,
    /// Binary logs of before are there, and stay: they are told, and fail nothing.
    pub keeps_logs: bool,
    /// What it is encrypted with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<Placed>,
    /// As the server was set.
    #[serde(default)]
    pub settings: LiveSettings,
}

/// What a server says that makes pages plain, whatever its files hold in this moment: those of a new table may still be in memory.
struct Said {
    /// Somebody has set it so.
    wished: Vec<String>,
    /// Its threads may still be at it.
    passing: Option<String>,
}

impl Said {
    fn of(view: &NodeView, said: &AtRest) -> Self {
        let mut wished: Vec<String> = LIVE
            .iter()
            .filter(|name| !spaces::is_on(view, name))
            .map(|name| format!("{name} is {}", view.variable(name).unwrap_or("not listed")))
            .collect();
        let plain = said.tables.iter().filter(|one| one.own_choice == Some(OwnChoice::Plain));
        let mut names: Vec<String> = plain.map(|one| one.name.to_string()).collect();
        names.sort();
        if !names.is_empty() {
            wished.push(format!(
                "tables with ENCRYPTED=NO (ALTER TABLE ... ENCRYPTED=DEFAULT): {}",
                some_of(&names, NAMED_MAX)
            ));
        }
        let left: Vec<String> = spaces::left(said, true).iter().map(|space| space.name.clone()).collect();
        let passing = (!left.is_empty())
            .then(|| format!("tablespaces that are not encrypted: {}", some_of(&left, NAMED_MAX)));
        Self { wished, passing }
    }
}

impl StepKind for Proof {
    fn kind(&self) -> &'static str {
        "rest-proof"
    }

    fn only_looks(&self) -> bool {
        true
    }

    fn check(&self, _: &mut World<'_>, _: &Step, direction: Direction) -> Result<StepCheck, StepError> {
        Ok(match direction {
            Direction::Forward => StepCheck::Ready,
            Direction::Back => StepCheck::AlreadyDone("nothing to revert".into()),
        })
    }

    fn act(&self, _: &mut World<'_>, _: &Step, _: Direction) -> Result<(), StepError> {
        Ok(())
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, _: Direction) -> Result<String, StepError> {
        let wish: ProofParams = params(step)?;
        let name = only_node(step)?;
        if !wish.encrypt {
            return Ok("the files are plain, as wished".into());
        }
        let has_tables = wish.nouns.contains(&Noun::Tables);
        if has_tables && !world.node(&name)?.flush_pages(&wish.settings).map_err(fail)? {
            world.notes.push(format!(
                "{name}: pages were changed faster than they could be written out; those that are in memory only are known by what the server says"
            ));
        }
        let mut tries = 0;
        loop {
            tries += 1;
            let accepts = world.accept_unproven;
            let node = world.node(&name)?;
            let mut said = Said { wished: vec![], passing: None };
            if has_tables {
                let view = node.view().map_err(fail)?;
                said = Said::of(&view, &node.at_rest().map_err(fail)?);
            }
            let seen = node.files_at_rest().map_err(fail)?;
            let is_old_log = |one: &looked::Odd| {
                wish.keeps_logs && !one.is_unknown && matches!(one.kind, Kind::Binlog | Kind::RelayLog)
            };
            let (kept, odd): (Vec<_>, Vec<_>) =
                looked::not_encrypted(&seen, &wish.nouns).into_iter().partition(is_old_log);
            let mut told = Vec::new();
            if !kept.is_empty() {
                told.push(format!("of before, and readable until they expire: {}", looked::in_words(&kept)));
            }
            told.extend(looked::never(&seen));
            told.extend(looked::not_known(&seen));
            if odd.is_empty() && said.wished.is_empty() && said.passing.is_none() {
                // Encrypted with keys that only this server has is not what was wished.
                if let Some(placed) = &wish.keys {
                    placed.is_as_sealed(
                        world,
                        &name,
                        "is encrypted with keys that are not in the escrow, or will be behind its next start",
                    )?;
                }
                if let Some(placed) = &wish.keys {
                    let datadir =
                        world.node(&name)?.view().map_err(fail)?.variable("datadir").map(str::to_owned);
                    told.extend(key_place::line(world, &name, datadir.as_deref(), &placed.dir));
                }
                let what = format!("{name}: no page of {} is plain", in_words(&wish.nouns));
                world.notes.extend(told);
                return Ok(what);
            }
            // What somebody has set does not pass.
            if tries > AGAIN_MAX || !said.wished.is_empty() {
                let files = (!odd.is_empty()).then(|| looked::in_words(&odd));
                let why =
                    said.wished.into_iter().chain(said.passing).chain(files).collect::<Vec<_>>().join("; ");
                if accepts {
                    return Ok(format!("{name}: NOT PROVEN, accepted by --accept-unproven: {why}"));
                }
                return Err(fail(format!(
                    "{name}: NOT PROVEN: it is configured, and not all of its data is so\n  why:  {why}\n  next: sealion status rest says what \
                     helps; sealion resume looks again; or close the change as it is: sealion resume --accept-unproven"
                )));
            }
            node.wait(Duration::from_millis(AGAIN_MS));
        }
    }
}

fn in_words(nouns: &[Noun]) -> String {
    let nouns: Vec<String> = nouns.iter().map(ToString::to_string).collect();
    nouns.join(" and ")
}
