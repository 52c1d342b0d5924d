//! Takes key and certificate off a node once nothing refers to them. They are kept, closed, in sealion's own
//! directory on that node, so that undo can put them back.

use std::path::PathBuf;

use change::{Direction, StepCheck, StepError};
use model::{NodeName, Step};
use server::WriteMember;

use super::files::in_use;
use super::{StepKind, fail, only_node};
use crate::files::{
    CA_FILE, CERT_FILE, CLIENT_CA_FILE, KEY_FILE, client_ca, discard_incoming, in_place, note_owner,
    place_bytes,
};
use crate::world::World;

pub struct Retire;
pub const RETIRE: Retire = Retire;

/// Below a node's `state_dir`.
const KEPT: &str = "retired";

const PEM_BYTES_MAX: u64 = 1024 * 1024;
const FILES: [(&str, u32); 3] = [(KEY_FILE, 0o600), (CERT_FILE, 0o644), (CA_FILE, 0o644)];

fn is_there(node: &dyn WriteMember, file: &str) -> Result<bool, StepError> {
    node.host().facts(&node.spec().tls_dir.join(file)).map(|facts| facts.is_some()).map_err(fail)
}

fn so_already() -> StepCheck {
    StepCheck::AlreadyDone("so already".into())
}

/// What was taken off the node, if all of it is kept.
fn kept(node: &dyn WriteMember) -> Result<Option<[Vec<u8>; 3]>, StepError> {
    let keep = node.spec().state_dir.join(KEPT);
    let read = |file: &str| node.host().read(&keep.join(file), PEM_BYTES_MAX).map_err(fail);
    let [(key, _), (cert, _), (ca, _)] = FILES;
    Ok(match (read(key)?, read(cert)?, read(ca)?) {
        (Some(key), Some(cert), Some(ca)) => Some([key, cert, ca]),
        _ => None,
    })
}

/// What stands where undo would put back what was taken off.
enum Later {
    /// Nothing is kept: it was put back.
    Nothing,
    /// Half of an undo, or files that sealion placed and nothing refers to.
    Replaceable,
    Needed(String),
}

fn later(world: &mut World<'_>, name: &NodeName) -> Result<Later, StepError> {
    let node = world.member(name)?;
    let Some(kept) = kept(node)? else { return Ok(Later::Nothing) };
    let mut is_same = true;
    for ((file, _), bytes) in FILES.iter().zip(&kept) {
        let here = node.host().read(&node.spec().tls_dir.join(file), PEM_BYTES_MAX).map_err(fail)?;
        is_same &= here.as_ref() == Some(bytes);
    }
    if is_same {
        return Ok(Later::Replaceable);
    }
    if !in_place(node)?.iter().all(|(_, is_ours)| *is_ours) {
        return Ok(Later::Needed("sealion did not write all of it".into()));
    }
    Ok(match in_use(world, name)? {
        Some(user) => Later::Needed(format!("{user} refers to it")),
        None => Later::Replaceable,
    })
}

impl StepKind for Retire {
    fn kind(&self) -> &'static str {
        "retire"
    }

    fn keeps(&self, _: &Step) -> Option<PathBuf> {
        Some(KEPT.into())
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let name = only_node(step)?;
        let node = world.member(&name)?;
        let mut there = 0;
        for (file, _) in FILES {
            there += usize::from(is_there(node, file)?);
        }
        let has_more = client_ca(node)?.is_some() && is_there(node, CLIENT_CA_FILE)?;
        if direction == Direction::Forward {
            return Ok(if there == 0 && !has_more { so_already() } else { StepCheck::Ready });
        }
        if there < FILES.len() {
            return Ok(StepCheck::Ready);
        }
        // A later change that was given up may have placed others meanwhile.
        match later(world, &name)? {
            Later::Nothing => Ok(so_already()),
            Later::Replaceable => Ok(StepCheck::Ready),
            Later::Needed(why) => {
                let spec = world.member(&name)?.spec();
                Ok(StepCheck::AlreadyDone(format!(
                    "what lies in {} is of a later change and is left there, since {why}; what was taken off is not put back: {}",
                    spec.tls_dir.display(),
                    spec.state_dir.join(KEPT).display()
                )))
            }
        }
    }

    fn act(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let name = only_node(step)?;
        note_owner(world, &name)?;
        let node = world.member(&name)?;
        let spec = node.spec().clone();
        let keep = spec.state_dir.join(KEPT);
        discard_incoming(node)?;
        if direction == Direction::Back
            && let Some([key, cert, ca]) = kept(node)?
        {
            // All three as one: a pair that does not match would keep the server from starting.
            place_bytes(node, [&key, &cert, &ca])?;
            let host = node.write_host();
            for (file, _) in FILES {
                host.remove(&keep.join(file)).map_err(fail)?;
            }
            return host.remove_dir(&keep).map_err(fail);
        }
        let owner = node.owner();
        let has_note = client_ca(node)?.is_some();
        let host = node.write_host();
        let (from, to) = match direction {
            Direction::Forward => (&spec.tls_dir, &keep),
            Direction::Back => (&keep, &spec.tls_dir),
        };
        host.make_dir(to, 0o700, if direction == Direction::Back { owner } else { None }).map_err(fail)?;
        for (file, mode) in FILES {
            // Copied and synced before the original goes: a kill between leaves two copies, never none.
            if let Some(bytes) = host.read(&from.join(file), PEM_BYTES_MAX).map_err(fail)? {
                let owner = if direction == Direction::Back { owner } else { None };
                host.write(&to.join(file), &bytes, Some(mode), owner).map_err(fail)?;
                host.remove(&from.join(file)).map_err(fail)?;
            }
        }
        // It follows from ca.pem and from the note, which stays: who comes back has it again.
        if direction == Direction::Forward && has_note {
            host.remove(&from.join(CLIENT_CA_FILE)).map_err(fail)?;
        }
        host.remove_dir(from).map_err(fail)
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        match self.check(world, step, direction)? {
            StepCheck::AlreadyDone(_) if direction == Direction::Forward => Ok("taken off the node".into()),
            StepCheck::AlreadyDone(_) => Ok("put back".into()),
            _ => Err(fail("the files are not where they should be")),
        }
    }
}
