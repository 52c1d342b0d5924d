//! Before an account must use TLS: whoever was seen to use it in cleartext would be cut off.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use change::{Direction, StepCheck, StepError};
use model::link::some_of;
use model::{ClientSight, LookError, Step, Transport, WireLook};
use serde::{Deserialize, Serialize};
use server::WriteNode;
use server::accounts::AccountName;

use super::{StepKind, fail, params};
use crate::world::World;

pub struct AccountsGate;
pub const ACCOUNTS_GATE: AccountsGate = AccountsGate;

#[derive(Debug, Serialize, Deserialize)]
pub struct AccountsGateParams {
    /// Those that are to be changed and may not be cut off.
    pub accounts: Vec<AccountName>,
    /// Those that are changed whoever is cut off.
    pub forced: Vec<AccountName>,
    /// It is asked on the way back, where accounts must use TLS again.
    pub on_the_way_back: bool,
}

impl StepKind for AccountsGate {
    fn kind(&self) -> &'static str {
        "accounts-gate"
    }

    fn only_looks(&self) -> bool {
        true
    }

    fn must_see(&self, world: &World<'_>, step: &Step) -> bool {
        let is_now = params(step).is_ok_and(|params: AccountsGateParams| !params.on_the_way_back);
        is_now && !world.accept_unknown_clients
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let params: AccountsGateParams = params(step)?;
        match (params.on_the_way_back, direction) {
            (false, Direction::Forward) | (true, Direction::Back) => look(world, &params),
            (false, Direction::Back) => Ok(StepCheck::AlreadyDone("nobody can be cut off".into())),
            // Done, so that it comes first on the way back.
            (true, Direction::Forward) => Ok(StepCheck::Ready),
        }
    }

    fn act(&self, _: &mut World<'_>, _: &Step, _: Direction) -> Result<(), StepError> {
        Ok(())
    }

    fn verify(&self, _: &mut World<'_>, _: &Step, _: Direction) -> Result<String, StepError> {
        Ok("looked".into())
    }
}

/// Looks until nothing is unknown, so often at most.
const LOOKS_MAX: usize = 3;

fn look(world: &mut World<'_>, params: &AccountsGateParams) -> Result<StepCheck, StepError> {
    let AccountsGateParams { accounts, forced, .. } = params;
    let settle_ms = world.limits.clients_look_ms;
    let accepts = world.accept_unknown_clients;
    let what = WireLook {
        settle: Duration::from_millis(settle_ms),
        canaries: true,
        nodes: world.names().iter().map(ToString::to_string).collect(),
    };
    let is_changed = |client: &ClientSight| match &client.user {
        Some(user) => accounts.iter().any(|account| is_of(account, user)),
        // Whose it is, nobody knows: it may be one of these.
        None => !accounts.is_empty(),
    };
    let mut seen: Vec<ClientSight> = Vec::new();
    // Who was seen and could not be told stays so when it has gone: the next one of it would be cut off.
    let mut unknown: BTreeMap<String, String> = BTreeMap::new();
    let mut open = Vec::new();
    for round in 0..LOOKS_MAX {
        // What cannot be captured is asked for while everything else is.
        let mut by_socket = Ok(Vec::new());
        let World { look, nodes, .. } = &mut *world;
        let looked = look.clients(&what, &mut || {
            if round == 0 {
                by_socket = over_the_socket(nodes, accounts, settle_ms);
            }
        });
        if let Some(blocked) = socket_blocks(&by_socket?) {
            return Ok(blocked);
        }
        for left in world.look.left_behind() {
            world.say(&left);
        }
        open = match looked {
            Ok(look) => {
                for client in look.clients.iter().filter(|client| is_changed(client)) {
                    let name = format!("{client} on {}", client.node);
                    if client.transport == Transport::Unknown {
                        let why =
                            format!("{name} sent nothing, and the server does not tell how it is encrypted");
                        unknown.insert(name, why);
                    } else {
                        unknown.remove(&name);
                    }
                }
                seen.extend(look.clients);
                unknown.values().cloned().chain(look.not_seen).collect()
            }
            Err(LookError::NotPermitted { .. }) if accepts => {
                return Ok(StepCheck::AlreadyDone("not looked: --accept-unknown-clients".into()));
            }
            Err(LookError::NotPermitted { why, next }) => {
                return Ok(StepCheck::Blocked(format!(
                    "whether these accounts are used in cleartext cannot be seen here\n  why:  {why}\n  next: {next}; or take the risk \
                     with --accept-unknown-clients: who uses one in cleartext is then refused at its next login"
                )));
            }
            Err(LookError::Failed { why }) => vec![why],
        };
        if open.is_empty() {
            break;
        }
    }
    Ok(judge(&seen, open, is_changed, forced, (settle_ms / 1000, accepts)))
}

fn judge(
    seen: &[ClientSight],
    mut open: Vec<String>,
    is_changed: impl Fn(&ClientSight) -> bool,
    forced: &[AccountName],
    (seconds, accepts): (u64, bool),
) -> StepCheck {
    let names = |of: &dyn Fn(&ClientSight) -> bool| {
        let plain = seen.iter().filter(|client| client.transport == Transport::Cleartext && of(client));
        plain.map(ToString::to_string).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>()
    };
    let is_forced = |client: &ClientSight| {
        client.user.as_ref().is_some_and(|user| forced.iter().any(|account| is_of(account, user)))
    };
    let cut_off = names(&|client| client.user.is_some() && is_changed(client));
    if !cut_off.is_empty() {
        return StepCheck::Blocked(format!(
            "accounts are used in cleartext, and their clients would be cut off\n  why:  seen in the {seconds} s of the capture: {}\n  next: \
             make these clients use TLS (sealion watch-clients names drivers and what to set), then the same command again; or leave an \
             account as it is: --leave USER@HOST; or cut it off: --force USER@HOST",
            some_of(&cut_off, NAMED_MAX)
        ));
    }
    let nameless = names(&|client| client.user.is_none() && is_changed(client));
    let of_nobody = |client| format!("{client} uses cleartext, and with which account is not known");
    open.extend(nameless.into_iter().map(of_nobody));
    if !open.is_empty() {
        let open = some_of(&open, NAMED_MAX);
        if accepts {
            return StepCheck::AlreadyDone(format!("unknown, accepted by --accept-unknown-clients: {open}"));
        }
        return StepCheck::Blocked(format!(
            "whether these accounts are used in cleartext could not be seen\n  why:  {open}\n  next: the same command again looks again; or \
             leave an account as it is (--leave USER@HOST), or take the risk with --accept-unknown-clients"
        ));
    }
    let mut note = format!("none of these accounts was used in cleartext in the {seconds} s of the capture");
    let at_risk = names(&is_forced);
    if !at_risk.is_empty() {
        note = format!(
            "used in cleartext, and cut off at the next login by --force: {}; none of the other accounts was used in cleartext in the \
             {seconds} s of the capture",
            some_of(&at_risk, NAMED_MAX)
        );
    }
    let others = names(&|client| !is_changed(client) && !is_forced(client));
    if !others.is_empty() {
        note += &format!("; accounts that stay as they are: {}", some_of(&others, NAMED_MAX));
    }
    StepCheck::AlreadyDone(note)
}

/// REQUIRE SSL counts there as well, and nothing of it can be captured. Who has an account at localhost logs in with that one.
fn over_the_socket(
    nodes: &mut [Box<dyn WriteNode + '_>],
    accounts: &[AccountName],
    settle_ms: u64,
) -> Result<Vec<String>, StepError> {
    let mut found = Vec::new();
    for reader in nodes {
        let users = reader.socket_users(settle_ms).map_err(fail)?;
        let at_localhost = reader.accounts().map_err(fail)?.into_iter().filter(|one| one.is_local);
        let at_localhost: Vec<String> = at_localhost.map(|one| one.name.user).collect();
        let affected = users.iter().filter(|user| {
            let is_let_in = |account: &AccountName| is_of(account, user) && account.fits_localhost();
            !at_localhost.contains(user) && accounts.iter().any(is_let_in)
        });
        found.extend(affected.map(|user| format!("{user} on {}", reader.name())));
    }
    Ok(found)
}

fn socket_blocks(found: &[String]) -> Option<StepCheck> {
    (!found.is_empty()).then(|| {
        StepCheck::Blocked(format!(
            "accounts are used over the unix socket, where an account that must use TLS must use it too\n  why:  connected meanwhile: {}\n  \
             next: create an account of that name at localhost for it, or leave the account as it is: --leave USER@HOST; or cut it off: \
             --force USER@HOST",
            some_of(found, NAMED_MAX)
        ))
    })
}

/// So many are named.
const NAMED_MAX: usize = 8;

/// Which of several accounts of one user a client was let in with, only the server knows: any of them is taken for it. The anonymous
/// account lets in everybody.
fn is_of(account: &AccountName, user: &str) -> bool {
    account.user.is_empty() || account.user == user
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_taken_for_every_account_that_may_be_its() {
        let account = |user: &str| AccountName { user: user.into(), host: "10.%".into() };
        assert!(is_of(&account("app"), "app") && is_of(&account(""), "app"));
        assert!(!is_of(&account("App"), "app"));
    }
}
