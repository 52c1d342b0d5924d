//! Before clear text is refused: is anybody still speaking it? Seen on the wire, since no variable tells.

use std::time::Duration;

use change::{Direction, StepCheck, StepError};
use model::{LinkKind, LookError, Seen, Step, WireLook};

use super::StepKind;
use crate::transit::world::Transit;

pub struct ClientsGate;
pub const CLIENTS_GATE: ClientsGate = ClientsGate;

/// A dropped packet makes one capture useless; that is no verdict.
const LOOKS_MAX: usize = 3;

impl StepKind for ClientsGate {
    fn kind(&self) -> &'static str {
        "clients-gate"
    }

    fn check(
        &self,
        transit: &mut Transit<'_>,
        _: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        if direction == Direction::Back {
            return Ok(StepCheck::AlreadyDone("nothing to take back".into()));
        }
        let what = WireLook {
            settle: Duration::from_millis(transit.limits.look_ms),
            canaries: true,
            nodes: transit.names().iter().map(ToString::to_string).collect(),
        };
        let mut unknown = String::new();
        for _ in 0..LOOKS_MAX {
            let sights = match transit.look.wire(&what) {
                Ok(sights) => sights,
                Err(LookError::NotPermitted { why, next }) if !transit.accept_unknown_clients => {
                    return Ok(StepCheck::Blocked(format!(
                        "whether clients still speak clear text cannot be seen here\n  why:  {why}\n  next: {next}; or take \
                         the risk with --accept-unknown-clients: who speaks clear text is then refused at its next connect"
                    )));
                }
                Err(LookError::NotPermitted { .. }) => {
                    return Ok(StepCheck::AlreadyDone("not looked: --accept-unknown-clients".into()));
                }
                Err(error) => return Err(StepError(error.to_string())),
            };
            let (mut plain, mut open) = (Vec::new(), Vec::new());
            for sight in sights.iter().filter(|sight| sight.link.kind == LinkKind::Client) {
                match &sight.seen {
                    Seen::Plain => plain.push(sight.link.to_string()),
                    Seen::Unknown(why) => open.push(format!("{}: {why}", sight.link)),
                    Seen::Sealed => {}
                }
            }
            if !plain.is_empty() {
                return Ok(StepCheck::Blocked(format!(
                    "some clients still speak clear text and would be cut off\n  why:  seen on {}\n  next: let them \
                     reconnect (they are offered TLS now) or set ssl-mode=REQUIRED there, then sealion resume",
                    plain.join(", ")
                )));
            }
            if open.is_empty() {
                return Ok(StepCheck::AlreadyDone(
                    "no clear text was seen on any client link (who was silent meanwhile was not seen)"
                        .into(),
                ));
            }
            unknown = open.join("; ");
        }
        // What could not be seen is not clear text, and it is not TLS either.
        Ok(if transit.accept_unknown_clients {
            StepCheck::AlreadyDone(format!("unknown, taken by --accept-unknown-clients: {unknown}"))
        } else {
            StepCheck::Blocked(format!(
                "whether clients still speak clear text could not be seen\n  why:  {unknown}\n  next: sealion resume looks \
                 again; or take the risk with --accept-unknown-clients"
            ))
        })
    }

    fn act(&self, _: &mut Transit<'_>, _: &Step, _: Direction) -> Result<(), StepError> {
        Ok(())
    }

    fn verify(&self, _: &mut Transit<'_>, _: &Step, _: Direction) -> Result<String, StepError> {
        Ok("looked".into())
    }
}
