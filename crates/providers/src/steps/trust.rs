//! What one member trusts: a CA is added to its CA file or taken out of it, beside those that others have put there, and the server
//! reads the file again. Nothing is taken out that its own certificate needs.

use change::{Direction, StepCheck, StepError};
use model::{NodeName, Step};
use serde::{Deserialize, Serialize};
use server::Admits;
use trust::bundle;

use super::{StepKind, fail, only_node, params};
use crate::files::{
    CA_FILE, CERT_FILE, KEY_FILE, PEM_BYTES_MAX, finish_placing, is_placing, note_owner, place_bytes,
};
use crate::rollover::{self, Which};
use crate::world::World;

pub struct Trust;
pub const TRUST: Trust = Trust;

#[derive(Debug, Serialize, Deserialize)]
pub struct TrustParams {
    pub old_sha256: String,
    /// The old CA is taken out; else the new one is added.
    pub drops: bool,
}

impl TrustParams {
    /// Which CA comes or goes, and whether it is to be there.
    fn wish(&self, direction: Direction) -> (Which, bool) {
        let is_forward = direction == Direction::Forward;
        if self.drops { (Which::Old, !is_forward) } else { (Which::New, is_forward) }
    }
}

/// Key, certificate and CAs as they lie on the member.
pub fn on_disk(world: &mut World<'_>, name: &NodeName) -> Result<[Vec<u8>; 3], StepError> {
    let member = world.member(name)?;
    let dir = member.spec().tls_dir.clone();
    let read = |file: &str| {
        let path = dir.join(file);
        let found = member.host().read(&path, PEM_BYTES_MAX).map_err(fail)?;
        found.ok_or_else(|| {
            fail(format!("{} on {name} is gone\n  why:  the server would not start without\n  next: put it back, then sealion resume", path.display()))
        })
    };
    Ok([read(KEY_FILE)?, read(CERT_FILE)?, read(CA_FILE)?])
}

pub fn has(world: &mut World<'_>, name: &NodeName, ca_pem: &str) -> Result<bool, StepError> {
    let [_, _, cas] = on_disk(world, name)?;
    let wanted = bundle::fingerprints(ca_pem.as_bytes()).map_err(fail)?;
    let there = bundle::fingerprints(&cas).map_err(fail)?;
    Ok(wanted.iter().all(|one| there.contains(one)))
}

impl StepKind for Trust {
    fn kind(&self) -> &'static str {
        "trust"
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let wish: TrustParams = params(step)?;
        let name = only_node(step)?;
        let (which, is_wanted) = wish.wish(direction);
        let ca_pem = rollover::pem(world, &wish.old_sha256, which)?;
        if is_placing(world.member(&name)?)? || has(world, &name, &ca_pem)? != is_wanted {
            return Ok(StepCheck::Ready);
        }
        // The file is so. A server that was not told keeps what it has loaded: telling it again harms nothing.
        let admits = rollover::admits(world, &name, &wish.old_sha256, which);
        Ok(match admits {
            Ok(Admits::Yes) if is_wanted => {
                StepCheck::AlreadyDone(format!("{name} takes certificates of the {} CA", which.word()))
            }
            Ok(no @ Admits::No(_)) if !is_wanted && no.is_unknown_ca() => {
                StepCheck::AlreadyDone(format!("{name} refuses certificates of the {} CA", which.word()))
            }
            _ => StepCheck::Ready,
        })
    }

    fn act(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let wish: TrustParams = params(step)?;
        let name = only_node(step)?;
        let (which, is_wanted) = wish.wish(direction);
        let ca_pem = rollover::pem(world, &wish.old_sha256, which)?;
        note_owner(world, &name)?;
        finish_placing(world.member(&name)?)?;
        let [key, cert, before] = on_disk(world, &name)?;
        let after = match (which, is_wanted) {
            // Where it was, so that what is taken back is the same bytes.
            (Which::Old, true) if !has(world, &name, &ca_pem)? => [ca_pem.as_bytes(), &before].concat(),
            (_, true) => bundle::with(&before, ca_pem.as_bytes()).map_err(fail)?,
            (_, false) => {
                let sha256 = bundle::fingerprints(ca_pem.as_bytes()).map_err(fail)?.swap_remove(0);
                let after = bundle::without(&before, &sha256).map_err(fail)?;
                trust::chain_ok(&cert, &after, world.unix_s()).map_err(|error| {
                    fail(format!(
                        "{name} keeps trusting the {} CA\n  why:  its own certificate would not be trusted any more: {}\n  next: sealion resume",
                        which.word(),
                        error.to_string().lines().next().unwrap_or_default()
                    ))
                })?;
                after
            }
        };
        if after != before {
            place_bytes(world.member(&name)?, [&key, &cert, &after])?;
        }
        if is_wanted && rollover::waits_for_leaf(world, &name, &wish.old_sha256)? {
            return Ok(());
        }
        let topology = world.topology;
        topology.reload(world, &name)
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let wish: TrustParams = params(step)?;
        let name = only_node(step)?;
        let (which, is_wanted) = wish.wish(direction);
        let word = which.word();
        let ca_pem = rollover::pem(world, &wish.old_sha256, which)?;
        if has(world, &name, &ca_pem)? != is_wanted {
            let what = if is_wanted { "does not have" } else { "still has" };
            return Err(fail(format!("the CA file of {name} {what} the {word} CA")));
        }
        if is_wanted && rollover::waits_for_leaf(world, &name, &wish.old_sha256)? {
            return Ok(format!(
                "the {word} CA is in its CA file; what it shows has expired, so it reads that with its next certificate"
            ));
        }
        let admits = match rollover::admits(world, &name, &wish.old_sha256, which) {
            // The key of the next CA may be lost: nothing can be shown then.
            Err(error) if !is_wanted && which == Which::New => {
                let why = error.0.lines().next().unwrap_or_default().to_owned();
                return Ok(format!(
                    "the {word} CA is not in its CA file any more; whether the running server trusts it cannot be told ({why})"
                ));
            }
            admits => admits?,
        };
        match (admits, is_wanted) {
            (Admits::Yes, true) => Ok(format!("it takes certificates of the {word} CA")),
            // Nobody can make it valid again.
            (Admits::No(_), true) if rollover::is_over(world, &ca_pem)? => {
                Ok(format!("the {word} CA is in its CA file, and has expired"))
            }
            (Admits::No(alert), true) => Err(fail(format!(
                "{name} has the {word} CA in its CA file, and refuses a certificate of it: {alert}"
            ))),
            (Admits::Yes, false) if world.arbitrator(&name).is_some() => Err(fail(format!(
                "{name} was restarted and still takes certificates of the {word} CA\n  why:  another certificate in its CA file may have the same key\n  \
                 next: see {} there, then sealion resume",
                world.member(&name)?.spec().tls_dir.join(CA_FILE).display()
            ))),
            (Admits::Yes, false) => Ok(format!(
                "the {word} CA is not in its CA file any more; the running server trusts it until its next start"
            )),
            (Admits::No(_), false) => Ok(format!("it refuses certificates of the {word} CA")),
        }
    }
}
