//! Puts key, certificate and CA on a node, owned by the server's user, before anything refers to them.

use change::{Direction, StepCheck, StepError};
use model::{NodeName, Step};
use server::arbitrator::OPTIONS;
use server::{NodeError, ProviderOptions, WriteArbitrator};

use super::{StepKind, fail, only_node};
use crate::files::{
    KEY_FILE, Lies, discard_incoming, in_place, is_placing, issue, lies, note_owner, place, remove_placed,
    sound,
};
use crate::world::World;

pub struct Files;
pub const FILES: Files = Files;

/// What still refers to the files: the running server, or what it will read at its next start.
///
/// # Errors
/// That cannot be determined: the server runs and does not answer, or its option files cannot be read.
pub fn in_use(world: &mut World<'_>, name: &NodeName) -> Result<Option<String>, StepError> {
    if let Some(arbitrator) = world.arbitrator(name) {
        return in_use_of_arbitrator(arbitrator);
    }
    let topology = world.topology;
    let node = world.node(name)?;
    let ours = node.spec().tls_dir.join(KEY_FILE).display().to_string();
    let view = match node.view() {
        Ok(view) => Some(view),
        // What does not run refers to nothing.
        Err(NodeError::Down { .. }) => None,
        Err(error) => return Err(fail(error)),
    };
    if let Some(user) = topology.key_user(node, view.as_ref(), &ours).map_err(fail)? {
        return Ok(Some(user));
    }
    if view.is_some_and(|view| view.variable("ssl_key") == Some(ours.as_str())) {
        return Ok(Some("ssl_key of the running server".into()));
    }
    let files = node.effective().map_err(fail)?;
    let is_in_file =
        files.effective("ssl_key").is_some_and(|setting| setting.value.as_deref() == Some(ours.as_str()));
    Ok(is_in_file.then(|| "ssl_key in an option file".into()))
}

fn in_use_of_arbitrator(arbitrator: &mut dyn WriteArbitrator) -> Result<Option<String>, StepError> {
    let ours = arbitrator.spec().tls_dir.join(KEY_FILE).display().to_string();
    let refers = |options: &ProviderOptions| options.get("socket.ssl_key") == Some(ours.as_str());
    match arbitrator.view() {
        Ok(view) if refers(&view.options) => return Ok(Some("the command line of the running garbd".into())),
        Ok(_) | Err(NodeError::Down { .. }) => {}
        Err(error) => return Err(fail(error)),
    }
    let file = arbitrator.spec().defaults_file.display().to_string();
    let is_in_file = refers(&arbitrator.file_options().map_err(fail)?);
    Ok(is_in_file.then(|| format!("{OPTIONS} in {file}")))
}

impl StepKind for Files {
    fn kind(&self) -> &'static str {
        "files"
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let name = only_node(step)?;
        if direction == Direction::Back {
            if let Some(user) = in_use(world, &name)? {
                return Ok(StepCheck::Blocked(format!(
                    "{name}: the files in {} are not removed\n  why:  {user} refers to them, and the server would not start without\n  \
                     next: sealion status; undo or disable what uses them first",
                    world.member(&name)?.spec().tls_dir.display()
                )));
            }
            let node = world.member(&name)?;
            let ours = in_place(node)?.iter().any(|(_, is_ours)| *is_ours);
            return Ok(if ours || is_placing(node)? {
                StepCheck::Ready
            } else {
                StepCheck::AlreadyDone("no files left".into())
            });
        }
        if is_placing(world.member(&name)?)? {
            return Ok(StepCheck::Ready);
        }
        Ok(match lies(world, &name)? {
            Lies::Sound(serial) => StepCheck::AlreadyDone(format!("serial {serial} is in place")),
            // A node that is down has its data directory to tell.
            Lies::Incomplete | Lies::Unsound(_)
                if world.arbitrator(&name).is_some_and(|arbitrator| arbitrator.owner().is_none()) =>
            {
                StepCheck::Blocked(format!(
                    "{name}: key and certificate are not written\n  why:  garbd is down, and which user it runs as, who must read them, \
                     cannot be determined\n  next: start it, then sealion resume"
                ))
            }
            Lies::Incomplete | Lies::Unsound(_) => StepCheck::Ready,
        })
    }

    fn act(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let name = only_node(step)?;
        if direction == Direction::Back {
            let node = world.member(&name)?;
            discard_incoming(node)?;
            return remove_placed(node).map(|_| ());
        }
        note_owner(world, &name)?;
        let (leaf, ca_pem) = issue(world, &name)?;
        place(world.member(&name)?, &leaf, &ca_pem)
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let name = only_node(step)?;
        if direction == Direction::Back {
            let node = world.member(&name)?;
            let left: Vec<String> = in_place(node)?
                .iter()
                .map(|(file, _)| node.spec().tls_dir.join(file).display().to_string())
                .collect();
            return Ok(if left.is_empty() {
                "removed".into()
            } else {
                format!("left where they are, since sealion did not write them: {}", left.join(", "))
            });
        }
        let serial = sound(world, &name)?.ok_or_else(|| fail("the files are not all there"))?;
        let node = world.member(&name)?;
        let uid = node.owner().map(|(uid, _)| uid);
        let facts = node.host().facts(&node.spec().tls_dir.join(KEY_FILE)).map_err(fail)?;
        match (uid, facts) {
            (Some(uid), Some(facts)) if facts.uid != uid => Err(fail(format!(
                "the key belongs to uid {}, the server runs as uid {uid} and could not read it",
                facts.uid
            ))),
            (_, Some(facts)) if facts.mode & 0o077 != 0 => {
                Err(fail(format!("the key can be read by others (mode {:o})", facts.mode)))
            }
            _ => Ok(format!("serial {serial}; key 0600, owned by the server's user")),
        }
    }
}
