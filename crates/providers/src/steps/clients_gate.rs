//! Before cleartext is refused: is anybody still speaking it? Seen on the wire, since no variable tells; and, of those who connect
//! now and then, by the servers' counters of logins, where they are kept.

use change::{Direction, StepCheck, StepError};
use model::{LinkKind, Step};

use serde::{Deserialize, Serialize};

use super::watch::{Watched, refused_in_words, watch};
use super::{StepKind, params};
use crate::world::World;

pub struct ClientsGate;
pub const CLIENTS_GATE: ClientsGate = ClientsGate;

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ClientsGateParams {
    /// It is asked on the way back, where clients must use TLS again.
    #[serde(default)]
    pub on_the_way_back: bool,
}

impl StepKind for ClientsGate {
    fn kind(&self) -> &'static str {
        "clients-gate"
    }

    fn only_looks(&self) -> bool {
        true
    }

    fn must_see(&self, world: &World<'_>, step: &Step) -> bool {
        let is_now = params(step).is_ok_and(|params: ClientsGateParams| !params.on_the_way_back);
        is_now && !world.accept_unknown_clients
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let ClientsGateParams { on_the_way_back } = params(step)?;
        match (on_the_way_back, direction) {
            (false, Direction::Forward) | (true, Direction::Back) => {}
            (false, Direction::Back) => return Ok(StepCheck::AlreadyDone("nothing to revert".into())),
            // Done, so that it comes first on the way back.
            (true, Direction::Forward) => return Ok(StepCheck::Ready),
        }
        let accepts = world.accept_unknown_clients;
        let settle_ms = world.limits.clients_look_ms;
        Ok(match watch(world, &[LinkKind::Client], settle_ms) {
            Watched::Plain(plain) => StepCheck::Blocked(format!(
                "some clients still use cleartext and would be cut off\n  why:  seen on {}{}\n  next: let them \
                 reconnect (they are offered TLS now) or make them use TLS (MariaDB clients: --ssl, MySQL clients: \
                 --ssl-mode=REQUIRED; to verify the servers, give them {} as --ssl-ca), then sealion resume",
                plain.join("\n        "),
                behind_proxies(world),
                world.authority.dir.join(trust::CA_CERT_FILE).display()
            )),
            Watched::Sealed { sealed, nobody, refused } => {
                let seconds = settle_ms / 1000;
                let mut note = if sealed > 0 {
                    format!("every client session in the {seconds} s of the capture used TLS")
                } else {
                    format!("no client session in the {seconds} s of the capture")
                };
                if !nobody.is_empty() {
                    note += &format!("; no client was connected over TCP to {}", nobody.join(", "));
                }
                note += &refused_in_words(&refused);
                now_and_then(world, note)?
            }
            Watched::NotPermitted { .. } if accepts => {
                StepCheck::AlreadyDone("not checked: --accept-unknown-clients".into())
            }
            Watched::NotPermitted { why, next } => StepCheck::Blocked(format!(
                "whether clients still use cleartext cannot be seen here\n  why:  {why}\n  next: {next}; or take \
                 the risk with --accept-unknown-clients: who uses cleartext is then refused at its next connect"
            )),
            // What could not be seen is not cleartext, and it is not TLS either.
            Watched::Unknown(unknown) if accepts => {
                StepCheck::AlreadyDone(format!("unknown, accepted by --accept-unknown-clients: {unknown}"))
            }
            Watched::Unknown(unknown) => StepCheck::Blocked(format!(
                "whether clients still use cleartext could not be seen\n  why:  {unknown}\n  next: sealion resume checks \
                 again; or take the risk with --accept-unknown-clients"
            )),
        })
    }

    fn act(&self, _: &mut World<'_>, _: &Step, _: Direction) -> Result<(), StepError> {
        Ok(())
    }

    fn verify(&self, _: &mut World<'_>, _: &Step, _: Direction) -> Result<String, StepError> {
        Ok("checked".into())
    }
}

/// A server sees a proxy where its clients come through one.
fn behind_proxies(world: &World<'_>) -> String {
    let mut proxies: Vec<&str> = world.proxies.iter().map(|proxy| proxy.name()).collect();
    proxies.dedup();
    if proxies.is_empty() {
        return String::new();
    }
    format!(
        "\n        who comes through a proxy has the address of the proxy; its own clients {} lists: show sess, on its admin socket",
        proxies.join(", ")
    )
}

/// Who connects less often than the links are watched for is not seen there. The servers offer TLS since they were started, so
/// whoever logged in without it since then does not take it.
fn now_and_then(world: &mut World<'_>, note: String) -> Result<StepCheck, StepError> {
    let (mut clear, mut notes) = (Vec::new(), vec![note]);
    for name in world.names() {
        let logins = match world.node(&name)?.logins() {
            Ok(logins) => logins,
            Err(error) => {
                notes.push(format!("earlier logins are not known: {}", error.first_line()));
                continue;
            }
        };
        let since = format!("in the {} s since {name} was started", logins.since_s);
        match (&logins.by_host, logins.without_tls_max) {
            (Ok(_), _) => {
                let hosts = logins.in_clear_text();
                if hosts.is_empty() {
                    notes.push(format!("no client logged in without TLS over TCP {since}"));
                } else {
                    clear.push(format!("{since}: {}", hosts.join(", ")));
                }
            }
            (Err(_), Some(0)) => notes.push(format!("nobody logged in without TLS {since}")),
            (Err(why), _) => notes.push(format!(
                "whether clients that are not connected now logged in without TLS {since} cannot be determined ({why})"
            )),
        }
    }
    if clear.is_empty() || world.accept_unknown_clients {
        notes.extend(clear.iter().map(|line| format!("accepted by --accept-unknown-clients: {line}")));
        return Ok(StepCheck::AlreadyDone(notes.join("; ")));
    }
    Ok(StepCheck::Blocked(format!(
        "some clients that are not connected now use cleartext and would be cut off\n  why:  logins without TLS {}\n  next: make \
         them use TLS (MariaDB clients: --ssl, MySQL clients: --ssl-mode=REQUIRED), set the counters back on that node (FLUSH LOCAL \
         CLIENT_STATISTICS), then sealion resume; or take the risk with --accept-unknown-clients",
        clear.join("\n        ")
    )))
}
