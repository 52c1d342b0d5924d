//! Takes key and certificate off a node once nothing refers to them. They are kept, closed, in sealion's own
//! directory on that node, so that undo can put them back.

use std::path::PathBuf;

use change::{Direction, StepCheck, StepError};
use model::Step;
use server::WriteNode;

use super::{StepKind, fail, only_node};
use crate::files::discard_incoming;
use crate::files::{CA_FILE, CERT_FILE, KEY_FILE};
use crate::owner;
use crate::world::World;

pub struct Retire;
pub const RETIRE: Retire = Retire;

/// Below a node's `state_dir`.
const KEPT: &str = "retired";

const PEM_BYTES_MAX: u64 = 1024 * 1024;
const FILES: [(&str, u32); 3] = [(KEY_FILE, 0o600), (CERT_FILE, 0o644), (CA_FILE, 0o644)];

fn is_there(node: &dyn WriteNode, file: &str) -> Result<bool, StepError> {
    node.host().facts(&node.spec().tls_dir.join(file)).map(|facts| facts.is_some()).map_err(fail)
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
        let node = world.node(&only_node(step)?)?;
        let mut there = 0;
        for (file, _) in FILES {
            there += usize::from(is_there(node, file)?);
        }
        let done = if direction == Direction::Forward { there == 0 } else { there == FILES.len() };
        Ok(if done { StepCheck::AlreadyDone("so already".into()) } else { StepCheck::Ready })
    }

    fn act(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let node = world.node(&only_node(step)?)?;
        let spec = node.spec().clone();
        let keep = spec.state_dir.join(KEPT);
        discard_incoming(node)?;
        let owner = owner::of_server(node);
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
        host.remove_dir(from).map_err(fail)
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        match self.check(world, step, direction)? {
            StepCheck::AlreadyDone(_) => Ok(match direction {
                Direction::Forward => "taken off the node".into(),
                Direction::Back => "put back".into(),
            }),
            _ => Err(fail("the files are not where they should be")),
        }
    }
}
