//! The last step of a change: what is on the wire now? It changes nothing.

use change::{Direction, StepCheck, StepError};
use model::text::counted;
use model::{LinkKind, Step};
use serde::{Deserialize, Serialize};
use server::{CleartextLogin, GaleraFacts, NodeError};

use super::watch::{Watched, refused_in_words, watch};
use super::{StepKind, params};
use crate::world::World;

pub struct Prove;
pub const PROVE: Prove = Prove;

#[derive(Debug, Serialize, Deserialize)]
pub struct ProveParams {
    /// Links of these kinds must be sealed.
    pub kinds: Vec<LinkKind>,
}

impl StepKind for Prove {
    fn kind(&self) -> &'static str {
        "prove"
    }

    fn only_looks(&self) -> bool {
        true
    }

    fn must_see(&self, world: &World<'_>, _: &Step) -> bool {
        !world.accept_unproven
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
        let ProveParams { kinds } = params(step)?;
        if kinds.contains(&LinkKind::Replication) {
            // What carries nothing cannot be seen to be sealed. Of those that do not come back, the look says so.
            world.settle()?;
        }
        let attempts = attempts(world, &kinds)?;
        let mut unproven = attempts.unproven;
        match on_the_wire(world, &kinds)? {
            Ok(note) if unproven.is_empty() => {
                return Ok([vec![note], attempts.proven].concat().join("; "));
            }
            Ok(_) => {}
            Err(why) => unproven.insert(0, why),
        }
        let why = unproven.join("; ");
        if world.accept_unproven {
            return Ok(format!("NOT PROVEN, accepted by --accept-unproven: {why}"));
        }
        Err(StepError(format!(
            "NOT PROVEN: it is configured, and was not seen to be so\n  why:  {why}\n  next: sealion resume checks again; or \
             close the change as it is: sealion resume --accept-unproven"
        )))
    }
}

/// What was tried on each node, beside the capture.
struct Attempts {
    proven: Vec<String>,
    unproven: Vec<String>,
}

/// A member that the inventory does not have: where it listens and what it speaks nobody looks at.
fn strangers(world: &mut World<'_>) -> Option<String> {
    let named = world.members();
    let views = world.views();
    let (name, view) =
        views.iter().find(|(_, view)| view.as_ref().is_ok_and(|view| view.cluster_size() > named))?;
    let seen = view.as_ref().ok()?.cluster_size();
    Some(format!(
        "{name} sees {seen} members and the inventory has {named}: the links of the others were not looked at; add them ([[node]], \
         [[arbitrator]]) and plan again, or stop them"
    ))
}

/// A TLS client must get a handshake on the Galera port, and one without TLS must not get in on the client port.
fn attempts(world: &mut World<'_>, kinds: &[LinkKind]) -> Result<Attempts, StepError> {
    let (mut shaken, mut refused, mut unproven) = (0, 0, Vec::new());
    for part in world.in_each_part(|world| attempts_in_part(world, kinds)) {
        let (of_group, of_clients, not_tried) = part?;
        shaken += of_group;
        refused += of_clients;
        unproven.extend(not_tried);
    }
    let mut proven = Vec::new();
    if shaken > 0 {
        proven.push(format!("{} completed a TLS handshake", counted(shaken, "Galera port", "Galera ports")));
    }
    if refused > 0 {
        proven.push(format!("{} refused a client without TLS", counted(refused, "node", "nodes")));
    }
    Ok(Attempts { proven, unproven })
}

/// How many Galera ports completed a handshake, how many servers refused a client without TLS, and what was not tried.
fn attempts_in_part(
    world: &mut World<'_>,
    kinds: &[LinkKind],
) -> Result<(usize, usize, Vec<String>), StepError> {
    let (mut shaken, mut refused, mut unproven) = (0, 0, Vec::new());
    let has_group = kinds.contains(&LinkKind::Galera) && world.topology.is_group();
    if has_group {
        unproven.extend(strangers(world));
    }
    for name in world.all_names() {
        if has_group {
            match world.member(&name)?.galera_leaf() {
                Ok(_) => shaken += 1,
                Err(NodeError::Refused { why, .. }) => {
                    return Err(StepError(format!(
                        "{name} does not complete a TLS handshake on its Galera port\n  why:  {why}\n  next: sealion status; sealion \
                         undo goes back"
                    )));
                }
                Err(error) => {
                    unproven.push(format!("{name}: the Galera port was not tried ({})", error.first_line()));
                }
            }
        }
        if kinds.contains(&LinkKind::Client) && world.arbitrator(&name).is_none() {
            match world.node(&name)?.cleartext_login() {
                Ok(CleartextLogin::Refused) => refused += 1,
                Ok(CleartextLogin::LetIn) => {
                    return Err(StepError(format!(
                        "{name} lets a client in that does not use TLS\n  why:  it was tried over TCP with ssl-mode=DISABLED\n  next: see \
                         what sets require_secure_transport there: sealion config print; sealion resume"
                    )));
                }
                Ok(CleartextLogin::CannotTell(why)) => {
                    unproven.push(format!(
                        "{name}: whether it refuses a client without TLS was not tried ({why})"
                    ));
                }
                Err(error) => unproven.push(error.first_line()),
            }
        }
    }
    Ok((shaken, refused, unproven))
}

/// The note where all is sealed.
///
/// # Errors
/// Inside: not known, why. Outside: cleartext was seen.
fn on_the_wire(world: &mut World<'_>, kinds: &[LinkKind]) -> Result<Result<String, String>, StepError> {
    let settle_ms = world.limits.look_ms;
    Ok(match watch(world, kinds, settle_ms) {
        Watched::Plain(plain) => {
            return Err(StepError(format!(
                "cleartext was captured after the change\n  why:  {}\n  next: sealion status --canaries shows each link; make these \
                 clients reconnect with TLS, then sealion resume; sealion undo goes back",
                plain.join("\n        ")
            )));
        }
        // A client without TLS is refused, which was tried: where nobody was connected, nobody is missing from what was seen.
        Watched::Sealed { sealed, nobody, refused } => {
            let mut note = match sealed {
                0 => "no link carried anything to judge".to_owned(),
                _ => format!(
                    "{} carried only TLS while canaries were written",
                    counted(sealed, "link", "links")
                ),
            };
            if !nobody.is_empty() {
                note += &format!("; no client was connected over TCP to {}", nobody.join(", "));
            }
            Ok(note + &refused_in_words(&refused))
        }
        Watched::NotPermitted { why, next } => {
            Err(format!("nothing could be seen on the wire ({why}); {next}"))
        }
        Watched::Unknown(why) => Err(why),
    })
}
