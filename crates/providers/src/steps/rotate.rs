//! A new leaf over the same paths, read again by the running server, proven by dialling it.

use std::path::PathBuf;

use change::{Direction, StepCheck, StepError};
use model::{NodeName, Step};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use trust::TrustError;

use super::{StepKind, fail, only_node, params};
use crate::files::{CA_FILE, CERT_FILE, KEY_FILE};
use crate::files::{finish_placing, is_placing, issue, lies, note_owner, place_bytes, sound};
use crate::replication::other_ports;
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

/// The CA file of a member keeps what others, or a rollover, have put there; what the leaf needs is added.
fn cas(world: &mut World<'_>, name: &NodeName, cert_pem: &[u8], ca_pem: &[u8]) -> Result<Vec<u8>, StepError> {
    let now = world.unix_s();
    let member = world.member(name)?;
    let there = member.host().read(&member.spec().tls_dir.join(CA_FILE), PEM_BYTES_MAX).map_err(fail)?;
    let Some(there) = there else { return Ok(ca_pem.to_vec()) };
    // One that has expired is signed by them all the same.
    if matches!(trust::chain_ok(cert_pem, &there, now), Ok(()) | Err(TrustError::Expired { .. })) {
        return Ok(there);
    }
    // What is no list of CAs cannot be added to: a server would not start with it.
    Ok(trust::bundle::with(&there, ca_pem).unwrap_or_else(|_| ca_pem.to_vec()))
}

/// Whether a certificate is of the CA that signs now.
fn is_of_ours(world: &World<'_>, cert_pem: &[u8]) -> Result<bool, StepError> {
    let path = world.authority.dir.join(trust::CA_CERT_FILE);
    let ca =
        std::fs::read(&path).map_err(|error| fail(format!("{} cannot be read: {error}", path.display())))?;
    Ok(trust::chain_ok(cert_pem, &ca, world.unix_s()).is_ok())
}

/// What lies on the member is what this step has placed: not the one that is replaced, nor one that somebody has put there.
fn is_new(world: &mut World<'_>, name: &NodeName, serial_before: &str) -> Result<bool, StepError> {
    let lies = lies(world, name)?;
    let Some(serial) = lies.serial() else { return Ok(false) };
    if serial == serial_before {
        return Ok(false);
    }
    let member = world.member(name)?;
    let path = member.spec().tls_dir.join(CERT_FILE);
    let cert = member.host().read(&path, PEM_BYTES_MAX).map_err(fail)?.unwrap_or_default();
    is_of_ours(world, &cert)
}

fn is_kept(world: &mut World<'_>, name: &NodeName, serial_before: &str) -> Result<bool, StepError> {
    let member = world.member(name)?;
    let key = member.spec().state_dir.join(kept(serial_before)).join(KEY_FILE);
    Ok(member.host().facts(&key).map_err(fail)?.is_some())
}

/// What a server would refuse to read again is not put under it: it would serve the new one until its next start, and the old one then.
fn may_go_back(world: &mut World<'_>, name: &NodeName, cert: &[u8], cas: &[u8]) -> Result<(), StepError> {
    let now = world.unix_s();
    let is_mysql = world.arbitrator(name).is_none()
        && world.node(name)?.view().map_err(fail)?.capabilities().reload_verifies;
    match trust::chain_ok(cert, cas, now) {
        Err(error) if is_mysql => Err(fail(format!(
            "{name} keeps its new certificate\n  why:  MySQL does not read one again that is not valid: {}\n  next: sealion abandon leaves it \
             so; sealion rotate makes another one",
            error.to_string().lines().next().unwrap_or_default()
        ))),
        _ => Ok(()),
    }
}

/// The serial of the leaf that was kept when it was replaced: somebody may have put another one there than the plan had seen.
fn old_serial(world: &mut World<'_>, name: &NodeName, serial_before: &str) -> Result<String, StepError> {
    let member = world.member(name)?;
    let path = member.spec().state_dir.join(kept(serial_before)).join(CERT_FILE);
    let cert = member.host().read(&path, PEM_BYTES_MAX).map_err(fail)?;
    let Some(cert) = cert else { return Ok(serial_before.to_owned()) };
    serial_of(&String::from_utf8_lossy(&cert))
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
        let is_old = live == old_serial(world, &name, &serial_before)?;
        let is_new = is_new(world, &name, &serial_before)?;
        let is_whole = !is_placing(world.member(&name)?)?;
        let agree = is_whole && on_disk.serial() == Some(live.as_str());
        Ok(match direction {
            Direction::Forward if agree && is_new => StepCheck::AlreadyDone(format!("serves serial {live}")),
            Direction::Back if agree && is_old => StepCheck::AlreadyDone(format!("serves serial {live}")),
            // It is kept before it is replaced: what lies there is not of this step.
            Direction::Back if is_whole && !is_new && !is_kept(world, &name, &serial_before)? => {
                StepCheck::AlreadyDone("its certificate was not replaced".into())
            }
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
            let ca = cas(world, &name, &cert, &ca)?;
            may_go_back(world, &name, &cert, &ca)?;
            place_bytes(world.member(&name)?, [&key, &cert, &ca])?;
            return load(world, &name);
        }
        // One that was placed before a kill is only to be loaded.
        if !is_new(world, &name, &serial_before)? {
            // Whatever it is: one that has expired may be wanted again, too.
            let host = world.member(&name)?.write_host();
            host.make_dir(&keep, 0o700, None).map_err(fail)?;
            for (file, mode) in [(KEY_FILE, 0o600), (CERT_FILE, 0o644), (CA_FILE, 0o644)] {
                if let Some(bytes) = host.read(&spec.tls_dir.join(file), PEM_BYTES_MAX).map_err(fail)? {
                    host.write(&keep.join(file), &bytes, Some(mode), None).map_err(fail)?;
                }
            }
            let (leaf, ca_pem) = issue(world, &name)?;
            let cas = cas(world, &name, leaf.cert_pem.as_bytes(), ca_pem.as_bytes())?;
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
        let live = match direction {
            Direction::Forward => {
                // Whoever shows its new one must be let in with it, too.
                let pem = topology.serves(world, &name)?;
                if !is_of_ours(world, pem.as_bytes())? {
                    return Err(fail(format!("{name} serves a certificate of another CA")));
                }
                serial_of(&pem)?
            }
            Direction::Back => served(world, &name)?,
        };
        let is_wished = match direction {
            Direction::Forward => live != serial_before,
            Direction::Back => live == old_serial(world, &name, &serial_before)?,
        };
        if !is_wished {
            return Err(fail(format!("{name} still serves serial {live}")));
        }
        if world.arbitrator(&name).is_some() {
            return Ok(format!("serves serial {live} since its restart"));
        }
        let node = world.node(&name)?;
        let view = node.view().map_err(fail)?;
        if view.offers_client_tls() {
            let pem = node.client_leaf().map_err(fail)?;
            let client = trust::inspect(pem.as_bytes()).map_err(fail)?;
            if client.first().is_none_or(|leaf| leaf.serial_hex != live) {
                return Err(fail("its client port serves another certificate"));
            }
        }
        let admin = other_ports::admin_at_end(world, &name, &view)?;
        Ok(format!("serves serial {live} on new connections{admin}{}", other_ports::at_end(&view)))
    }
}
