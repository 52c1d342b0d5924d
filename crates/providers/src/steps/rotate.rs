//! A new leaf over the same paths, read again by the running server, proven by dialling it.

use std::path::PathBuf;

use change::{Direction, StepCheck, StepError};
use model::{NodeName, Step};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};

use super::{StepKind, fail, only_node, params};
use crate::files::{CA_FILE, CERT_FILE, KEY_FILE};
use crate::files::{finish_placing, is_placing, issue, lies, note_owner, place_bytes, sound};
use crate::world::World;

pub struct Rotate;
pub const ROTATE: Rotate = Rotate;

const PEM_BYTES_MAX: u64 = 1024 * 1024;

#[derive(Debug, Serialize, Deserialize)]
pub struct RotateParams {
    /// Serial of the leaf that is replaced.
    pub serial_before: String,
}

/// Below a node's `state_dir`.
fn kept(serial_before: &str) -> PathBuf {
    PathBuf::from("rotated").join(serial_before)
}

fn serial_of(pem: &str) -> Result<String, StepError> {
    let leaf = trust::inspect(pem.as_bytes()).map_err(fail)?;
    leaf.first().map(|leaf| leaf.serial_hex.clone()).ok_or_else(|| fail("no certificate was served"))
}

/// Whoever signed it: the one that is replaced may have expired.
fn served(world: &mut World<'_>, name: &NodeName) -> Result<String, StepError> {
    let topology = world.topology;
    serial_of(&topology.shows(world, name)?)
}

fn load(world: &mut World<'_>, name: &NodeName) -> Result<(), StepError> {
    let topology = world.topology;
    topology.reload(world, name)
}

/// The CA file of a member keeps what others, or a rollover, have put there beside the CA that signs.
fn cas(
    world: &mut World<'_>,
    name: &NodeName,
    leaf: &trust::Leaf,
    ca_pem: &str,
) -> Result<Vec<u8>, StepError> {
    let now = world.unix_s();
    let member = world.member(name)?;
    let there = member.host().read(&member.spec().tls_dir.join(CA_FILE), PEM_BYTES_MAX).map_err(fail)?;
    let holds = |cas: &Vec<u8>| trust::chain_ok(leaf.cert_pem.as_bytes(), cas, now).is_ok();
    Ok(there.filter(holds).unwrap_or_else(|| ca_pem.as_bytes().to_vec()))
}

impl StepKind for Rotate {
    fn kind(&self) -> &'static str {
        "rotate"
    }

    fn keeps(&self, step: &Step) -> Option<PathBuf> {
        let RotateParams { serial_before } = params(step).ok()?;
        Some(kept(&serial_before))
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let RotateParams { serial_before } = params(step)?;
        let name = only_node(step)?;
        let on_disk = lies(world, &name)?;
        let live = served(world, &name)?;
        let is_old = live == serial_before;
        let is_whole = !is_placing(world.member(&name)?)?;
        let agree = is_whole && on_disk.serial() == Some(live.as_str());
        Ok(match direction {
            Direction::Forward if agree && !is_old => StepCheck::AlreadyDone(format!("serves serial {live}")),
            Direction::Back if agree && is_old => StepCheck::AlreadyDone(format!("serves serial {live}")),
            _ => StepCheck::Ready,
        })
    }

    fn act(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let RotateParams { serial_before } = params(step)?;
        let name = only_node(step)?;
        note_owner(world, &name)?;
        let node = world.member(&name)?;
        let spec = node.spec().clone();
        let keep = spec.state_dir.join(kept(&serial_before));
        finish_placing(node)?;
        if direction == Direction::Back {
            let old = |file: &str| {
                node.host()
                    .read(&keep.join(file), PEM_BYTES_MAX)
                    .map_err(fail)?
                    .ok_or_else(|| fail(format!("the old {file} is not kept any more: rotate forward again")))
            };
            let (key, cert, ca) = (old(KEY_FILE)?, old(CERT_FILE)?, old(CA_FILE)?);
            place_bytes(node, [&key, &cert, &ca])?;
            return load(world, &name);
        }
        let on_disk = lies(world, &name)?;
        if on_disk.serial() == Some(&serial_before) {
            let host = world.member(&name)?.write_host();
            host.make_dir(&keep, 0o700, None).map_err(fail)?;
            for (file, mode) in [(KEY_FILE, 0o600), (CERT_FILE, 0o644), (CA_FILE, 0o644)] {
                if let Some(bytes) = host.read(&spec.tls_dir.join(file), PEM_BYTES_MAX).map_err(fail)? {
                    host.write(&keep.join(file), &bytes, Some(mode), None).map_err(fail)?;
                }
            }
        }
        // A sound pair that is not the old one was placed before a kill: only the reload is missing.
        if on_disk.serial().is_none_or(|serial| serial == serial_before) {
            let (leaf, ca_pem) = issue(world, &name)?;
            let cas = cas(world, &name, &leaf, &ca_pem)?;
            let key = leaf.key_pem.expose_secret().as_bytes();
            place_bytes(world.member(&name)?, [key, leaf.cert_pem.as_bytes(), &cas])?;
            sound(world, &name)?;
        }
        load(world, &name)
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let RotateParams { serial_before } = params(step)?;
        let name = only_node(step)?;
        let topology = world.topology;
        // Whoever shows its new one must be let in with it, too.
        let live = match direction {
            Direction::Forward => serial_of(&topology.serves(world, &name)?)?,
            Direction::Back => served(world, &name)?,
        };
        let wished = (live != serial_before) == (direction == Direction::Forward);
        if !wished {
            return Err(fail(format!("{name} still serves serial {live}")));
        }
        if world.arbitrator(&name).is_some() {
            return Ok(format!("serves serial {live} since its restart"));
        }
        let node = world.node(&name)?;
        if node.view().map_err(fail)?.offers_client_tls() {
            let pem = node.client_leaf().map_err(fail)?;
            let client = trust::inspect(pem.as_bytes()).map_err(fail)?;
            if client.first().is_none_or(|leaf| leaf.serial_hex != live) {
                return Err(fail("its client port serves another certificate"));
            }
        }
        Ok(format!("serves serial {live} on new connections"))
    }
}
