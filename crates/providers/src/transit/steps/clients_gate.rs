//! Before clear text is refused: is anybody still speaking it? Seen on the wire, since no variable tells.

use std::time::Duration;

use change::{Direction, StepCheck, StepError};
use model::{LinkKind, LinkSight, LookError, Seen, Step, WireLook};

use super::StepKind;
use crate::transit::world::Transit;

pub struct ClientsGate;
pub const CLIENTS_GATE: ClientsGate = ClientsGate;

/// A dropped packet makes one capture useless; that is no verdict.
const LOOKS_MAX: usize = 3;
/// So many clients of a link are named.
const NAMED_MAX: usize = 8;

/// What one look saw of the links of some kinds, in words.
#[derive(Debug, Default)]
pub struct Judged {
    pub plain: Vec<String>,
    /// Not known, each with its reason.
    pub open: Vec<String>,
    /// Client links on which nobody but sealion was connected over TCP: nothing could have been seen there.
    pub nobody: Vec<String>,
    pub sealed: usize,
}

impl Judged {
    pub fn of(sights: &[LinkSight], kinds: &[LinkKind]) -> Self {
        let mut judged = Self::default();
        for sight in sights.iter().filter(|sight| kinds.contains(&sight.link.kind)) {
            match &sight.seen {
                Seen::Plain => judged.plain.push(described(sight)),
                Seen::Unknown(_) if sight.has_no_clients() => judged.nobody.push(sight.link.to_string()),
                Seen::Unknown(why) => judged.open.push(format!("{}: {why}", sight.link)),
                Seen::Sealed => judged.sealed += 1,
            }
        }
        judged
    }
}

/// The link, with those who spoke clear text on it.
fn described(sight: &LinkSight) -> String {
    match sight.cleartext_clients.as_slice() {
        [] => format!("{} ({} canaries)", sight.link, sight.canaries),
        clients => {
            let some: Vec<&str> = clients.iter().take(NAMED_MAX).map(String::as_str).collect();
            let more = clients.len().saturating_sub(NAMED_MAX);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{}: {}{more}", sight.link, some.join(", "))
        }
    }
}

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
            settle: Duration::from_millis(transit.limits.clients_look_ms),
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
            let Judged { plain, open, nobody, .. } = Judged::of(&sights, &[LinkKind::Client]);
            if !plain.is_empty() {
                return Ok(StepCheck::Blocked(format!(
                    "some clients still speak clear text and would be cut off\n  why:  seen on {}\n  next: let them \
                     reconnect (they are offered TLS now) or make them use TLS (MariaDB clients: --ssl, MySQL clients: \
                     --ssl-mode=REQUIRED), then sealion resume",
                    plain.join("\n        ")
                )));
            }
            if open.is_empty() {
                let mut note = format!(
                    "every client that was connected in the {} s that were watched spoke TLS",
                    transit.limits.clients_look_ms / 1000
                );
                if !nobody.is_empty() {
                    note += &format!("; nobody was connected over TCP: {}", nobody.join(", "));
                }
                return Ok(StepCheck::AlreadyDone(note));
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
