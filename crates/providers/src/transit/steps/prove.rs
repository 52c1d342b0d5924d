//! The last step of a change: what is on the wire now? It changes nothing.

use std::time::Duration;

use change::{Direction, StepCheck, StepError};
use model::{LinkKind, LinkSight, LookError, Seen, Step, WireLook};
use serde::{Deserialize, Serialize};

use super::{StepKind, params};
use crate::transit::world::Transit;

pub struct Prove;
pub const PROVE: Prove = Prove;

#[derive(Debug, Serialize, Deserialize)]
pub struct ProveParams {
    /// Links of these kinds must be sealed.
    pub kinds: Vec<LinkKind>,
}

/// A link can be silent for a while, a dropped packet makes one capture useless: neither is a verdict.
const LOOKS_MAX: usize = 3;

impl StepKind for Prove {
    fn kind(&self) -> &'static str {
        "prove"
    }

    fn check(&self, _: &mut Transit<'_>, _: &Step, direction: Direction) -> Result<StepCheck, StepError> {
        Ok(match direction {
            Direction::Forward => StepCheck::Ready,
            Direction::Back => StepCheck::AlreadyDone("nothing to take back".into()),
        })
    }

    fn act(&self, _: &mut Transit<'_>, _: &Step, _: Direction) -> Result<(), StepError> {
        Ok(())
    }

    fn verify(&self, transit: &mut Transit<'_>, step: &Step, _: Direction) -> Result<String, StepError> {
        let ProveParams { kinds } = params(step)?;
        let what = WireLook {
            settle: Duration::from_millis(transit.limits.look_ms),
            canaries: true,
            nodes: transit.names().iter().map(ToString::to_string).collect(),
        };
        let mut unknown = String::new();
        for _ in 0..LOOKS_MAX {
            let sights = match transit.look.wire(&what) {
                Ok(sights) => sights,
                Err(LookError::NotPermitted { why, next }) => {
                    return Ok(format!("NOT PROVEN: nothing could be seen on the wire ({why}); {next}"));
                }
                Err(error) => return Err(StepError(error.to_string())),
            };
            let ours = |sight: &&LinkSight| kinds.contains(&sight.link.kind);
            let plain: Vec<String> = sights
                .iter()
                .filter(ours)
                .filter(|sight| sight.seen == Seen::Plain)
                .map(|sight| format!("{} ({} canaries)", sight.link, sight.canaries))
                .collect();
            if !plain.is_empty() {
                return Err(StepError(format!(
                    "clear text was seen after the change\n  why:  {}\n  next: sealion status shows each link; sealion undo goes back",
                    plain.join(", ")
                )));
            }
            let open: Vec<String> = sights
                .iter()
                .filter(ours)
                .filter_map(|sight| match &sight.seen {
                    Seen::Unknown(why) => Some(format!("{}: {why}", sight.link)),
                    _ => None,
                })
                .collect();
            let sealed = sights.iter().filter(ours).count() - open.len();
            if open.is_empty() && sealed > 0 {
                return Ok(format!("{sealed} links carried only TLS while canaries were written"));
            }
            unknown = if open.is_empty() { "no link was seen at all".into() } else { open.join("; ") };
        }
        Ok(format!("NOT PROVEN: {unknown}"))
    }
}
