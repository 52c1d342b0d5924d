//! Before a profile of TLS: whoever was seen to use a version or a suite that it does not have would be shut out at the next connect.

use std::collections::BTreeSet;
use std::time::Duration;

use change::{Direction, StepCheck, StepError};
use model::link::some_of;
use model::{ClientSight, ClientsLook, LookError, Step, TlsProfile, Transport, WireLook};
use serde::{Deserialize, Serialize};
use server::{NodeError, NodeView, TlsRules};

use super::{StepKind, params};
use crate::world::World;

pub struct ProfileGate;
pub const PROFILE_GATE: ProfileGate = ProfileGate;

#[derive(Debug, Serialize, Deserialize)]
pub struct ProfileGateParams {
    pub profile: TlsProfile,
}

impl StepKind for ProfileGate {
    fn kind(&self) -> &'static str {
        "profile-gate"
    }

    fn only_looks(&self) -> bool {
        true
    }

    fn must_see(&self, world: &World<'_>, _: &Step) -> bool {
        !world.accept_unknown_clients
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let ProfileGateParams { profile } = params(step)?;
        if direction == Direction::Back {
            return Ok(StepCheck::AlreadyDone("nobody can be shut out".into()));
        }
        let settle = Duration::from_millis(world.limits.clients_look_ms);
        let nodes = without(world, profile);
        if nodes.is_empty() {
            return Ok(StepCheck::AlreadyDone(format!("every server has the profile {profile} already")));
        }
        let what = WireLook { settle, canaries: false, nodes: nodes.clone() };
        let looked = world.look.clients(&what, &mut || ());
        for left in world.look.left_behind() {
            world.say(&left);
        }
        let accepts = Accepts { shut_out: world.accept_shut_out, unknown: world.accept_unknown_clients };
        let look = match looked {
            Ok(mut look) => {
                for clients in [&mut look.clients, &mut look.gone] {
                    clients.retain(|client| nodes.contains(&client.node));
                }
                look
            }
            Err(LookError::NotPermitted { .. }) if accepts.unknown => {
                return Ok(StepCheck::AlreadyDone("not looked: --accept-unknown-clients".into()));
            }
            Err(LookError::NotPermitted { why, next }) => {
                return Ok(StepCheck::Blocked(format!(
                    "whom the profile {profile} would shut out cannot be seen here\n  why:  {why}\n  next: {next}; or take the risk with \
                     --accept-unknown-clients: who cannot use {} is then refused at its next connect",
                    profile.meaning()
                )));
            }
            Err(LookError::Failed { why }) => ClientsLook { not_seen: vec![why], ..ClientsLook::default() },
        };
        Ok(judge(profile, &look, accepts, settle.as_secs()))
    }

    fn act(&self, _: &mut World<'_>, _: &Step, _: Direction) -> Result<(), StepError> {
        Ok(())
    }

    fn verify(&self, _: &mut World<'_>, _: &Step, _: Direction) -> Result<String, StepError> {
        Ok("looked".into())
    }
}

/// Servers that may still take more than it: whoever is with another one has come through it.
fn without(world: &mut World<'_>, profile: TlsProfile) -> Vec<String> {
    let views = world.views();
    let may_take_more = |view: &Result<NodeView, NodeError>| {
        view.as_ref().map_or(true, |view| TlsRules::in_use(view).profile() != Some(profile))
    };
    let names = views.iter().filter(|(_, view)| may_take_more(view)).map(|(name, _)| name.to_string());
    names.collect()
}

/// What somebody has consented to.
#[derive(Debug, Clone, Copy)]
struct Accepts {
    shut_out: bool,
    unknown: bool,
}

/// So many are named.
const NAMED_MAX: usize = 8;

fn named(client: &ClientSight) -> String {
    let driver = client.driver.as_ref().map_or_else(String::new, |driver| format!(" ({driver})"));
    format!("{client} on {}{driver}", client.node)
}

fn judge(profile: TlsProfile, look: &ClientsLook, accepts: Accepts, seconds: u64) -> StepCheck {
    let mut shut_out = BTreeSet::new();
    let mut unknown: BTreeSet<String> = look.not_seen.iter().cloned().collect();
    let (mut fine, mut in_cleartext) = (0, 0);
    for client in look.clients.iter().chain(&look.gone) {
        match (&client.handshake, client.transport) {
            // That it speaks cleartext is asked for where that is refused.
            (_, Transport::Cleartext) => in_cleartext += 1,
            (Some(handshake), _) if profile.takes(&handshake.version, handshake.suite.as_deref()) => {
                fine += 1;
            }
            (Some(handshake), _) => {
                shut_out.insert(format!("{} with {handshake}", named(client)));
            }
            (None, _) => {
                unknown.insert(format!(
                    "{}: it connected before the capture began, and the server does not tell its version of TLS",
                    named(client)
                ));
            }
        }
    }
    let list = |names: BTreeSet<String>| some_of(&names.into_iter().collect::<Vec<_>>(), NAMED_MAX);
    let mut notes = Vec::new();
    if !shut_out.is_empty() {
        let names = list(shut_out);
        if !accepts.shut_out {
            return StepCheck::Blocked(format!(
                "clients use what the profile {profile} does not have ({} is let in), and would be shut out\n  why:  seen: {names}\n  next: give \
                 them a TLS library, or settings, that can do it, and let them connect anew, then the same command again; or shut them out: \
                 --accept-shut-out",
                profile.meaning()
            ));
        }
        notes.push(format!("shut out at their next connect, by --accept-shut-out: {names}"));
    }
    if !unknown.is_empty() {
        let open = list(unknown);
        if !accepts.unknown {
            return StepCheck::Blocked(format!(
                "whom the profile {profile} would shut out could not be seen as a whole\n  why:  {open}\n  next: let these clients connect anew \
                 while it looks (--watch-clients-s), or let the server tell (MariaDB: performance_schema=ON at its start); or take the risk \
                 with --accept-unknown-clients"
            ));
        }
        notes.push(format!("cannot be told, accepted by --accept-unknown-clients: {open}"));
    }
    let sessions = model::text::counted(fine, "session uses", "sessions use");
    notes.push(format!(
        "over TCP, {sessions} what the profile {profile} has, seen in {seconds} s; who connects less often, or uses TLS over the Unix socket, is \
         not seen"
    ));
    if in_cleartext > 0 {
        notes.push(format!("{in_cleartext} in cleartext: with which TLS they would come is not known"));
    }
    StepCheck::AlreadyDone(notes.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Handshake;

    fn client(handshake: Option<(&str, &str)>, transport: Transport) -> ClientSight {
        ClientSight {
            node: "n1".into(),
            user: Some("app".into()),
            host: "10.0.0.5".into(),
            port: 4711,
            driver: Some("libmariadb 3.1".into()),
            transport,
            handshake: handshake.map(|(version, suite)| Handshake {
                version: version.into(),
                suite: (!suite.is_empty()).then(|| suite.into()),
            }),
        }
    }

    fn word(check: &StepCheck) -> (bool, String) {
        match check {
            StepCheck::AlreadyDone(note) => (true, note.clone()),
            StepCheck::Blocked(why) => (false, why.clone()),
            StepCheck::Ready => panic!("it only looks"),
        }
    }

    const NOTHING: Accepts = Accepts { shut_out: false, unknown: false };

    #[test]
    fn each_client_is_let_in_shut_out_or_not_known() {
        use TlsProfile::{Intermediate, Modern};
        let gcm = "ECDHE-RSA-AES128-GCM-SHA256";
        for (handshake, transport, modern, intermediate) in [
            (Some(("TLSv1.3", "TLS_AES_256_GCM_SHA384")), Transport::Tls, Some(true), Some(true)),
            (Some(("TLSv1.2", gcm)), Transport::Tls, Some(false), Some(true)),
            (Some(("TLSv1.2", "AES128-SHA")), Transport::Tls, Some(false), Some(false)),
            (Some(("TLSv1.1", "")), Transport::Unknown, Some(false), Some(false)),
            (None, Transport::Tls, None, None),
            (None, Transport::Unknown, None, None),
            (None, Transport::Cleartext, Some(true), Some(true)),
        ] {
            let look = ClientsLook { clients: vec![client(handshake, transport)], ..ClientsLook::default() };
            for (profile, wanted) in [(Modern, modern), (Intermediate, intermediate)] {
                let (goes_on, text) = word(&judge(profile, &look, NOTHING, 5));
                assert_eq!(goes_on, wanted == Some(true), "{profile} {handshake:?}: {text}");
                assert_eq!(text.contains("--accept-shut-out"), wanted == Some(false), "{text}");
                assert_eq!(text.contains("--accept-unknown-clients"), wanted.is_none(), "{text}");
                let is_named = text.contains("app@10.0.0.5:4711 on n1 (libmariadb 3.1)");
                assert_eq!(is_named, wanted != Some(true), "{text}");
            }
        }
    }

    #[test]
    fn consent_to_one_is_none_to_the_other_and_both_stay_written() {
        let clients = vec![client(Some(("TLSv1.2", "")), Transport::Tls), client(None, Transport::Tls)];
        let not_seen = vec!["n2: the kernel dropped 3 packets".into()];
        let look = ClientsLook { gone: clients, not_seen, ..ClientsLook::default() };
        let of =
            |shut_out, unknown| word(&judge(TlsProfile::Modern, &look, Accepts { shut_out, unknown }, 5));
        assert!(!of(false, false).0 && !of(true, false).0 && !of(false, true).0);
        let (goes_on, note) = of(true, true);
        assert!(goes_on && note.contains("TLSv1.2") && note.contains("the kernel dropped 3"), "{note}");
        let blind = ClientsLook { not_seen: look.not_seen, ..ClientsLook::default() };
        assert!(!word(&judge(TlsProfile::Intermediate, &blind, NOTHING, 5)).0, "nobody seen is not nobody");
    }
}
