//! Before an account must use TLS: whoever was seen to use it in cleartext would be cut off.

use change::{Direction, StepCheck, StepError};
use model::Step;
use serde::{Deserialize, Serialize};
use server::accounts::AccountName;

use super::watch::{ClientsSeen, watch_clients};
use super::{StepKind, fail, params};
use crate::world::World;

pub struct AccountsGate;
pub const ACCOUNTS_GATE: AccountsGate = AccountsGate;

#[derive(Debug, Serialize, Deserialize)]
pub struct AccountsGateParams {
    /// Those that are to be changed and may not be cut off.
    pub accounts: Vec<AccountName>,
}

impl StepKind for AccountsGate {
    fn kind(&self) -> &'static str {
        "accounts-gate"
    }

    fn only_looks(&self) -> bool {
        true
    }

    fn must_see(&self, world: &World<'_>) -> bool {
        !world.accept_unknown_clients
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        if direction == Direction::Back {
            return Ok(StepCheck::AlreadyDone("nothing to take back".into()));
        }
        let AccountsGateParams { accounts } = params(step)?;
        if let Some(blocked) = over_the_socket(world, &accounts)? {
            return Ok(blocked);
        }
        let settle_ms = world.limits.clients_look_ms;
        let seconds = settle_ms / 1000;
        let accepts = world.accept_unknown_clients;
        let (in_cleartext, unknown) = match watch_clients(world, settle_ms) {
            ClientsSeen::Seen { in_cleartext, unknown } => (in_cleartext, unknown),
            ClientsSeen::NotPermitted { .. } if accepts => {
                return Ok(StepCheck::AlreadyDone("not looked: --accept-unknown-clients".into()));
            }
            ClientsSeen::NotPermitted { why, next } => {
                return Ok(StepCheck::Blocked(format!(
                    "whether these accounts are used in cleartext cannot be seen here\n  why:  {why}\n  next: {next}; or take the risk \
                     with --accept-unknown-clients: who uses one in cleartext is then refused at its next login"
                )));
            }
        };
        let (cut_off, doubtful): (Vec<&String>, Vec<&String>) = in_cleartext
            .iter()
            .filter(|client| user_of(client).is_none_or(|user| accounts.iter().any(|one| is_of(one, user))))
            .partition(|client| user_of(client).is_some());
        if !cut_off.is_empty() {
            return Ok(StepCheck::Blocked(format!(
                "accounts are used in cleartext, and their clients would be cut off\n  why:  seen in the {seconds} s of the capture: {}\n  \
                 next: make these clients use TLS (sealion prove clients has the lines for each driver), then the same command again; or \
                 leave an account as it is: --leave USER@HOST; or cut it off: --force USER@HOST",
                joined(&cut_off)
            )));
        }
        let mut open: Vec<String> = doubtful
            .iter()
            .map(|client| format!("{client} uses cleartext, and with which account is not known"))
            .collect();
        open.extend(unknown);
        if open.is_empty() {
            let mut note =
                format!("none of these accounts was used in cleartext in the {seconds} s of the capture");
            let others: Vec<&String> = in_cleartext.iter().collect();
            if !others.is_empty() {
                note += &format!("; others are, and stay as they are: {}", joined(&others));
            }
            return Ok(StepCheck::AlreadyDone(note));
        }
        let open = open.join("\n        ");
        if accepts {
            return Ok(StepCheck::AlreadyDone(format!(
                "unknown, accepted by --accept-unknown-clients: {open}"
            )));
        }
        Ok(StepCheck::Blocked(format!(
            "whether these accounts are used in cleartext could not be seen\n  why:  {open}\n  next: the same command again looks again; \
             or take the risk with --accept-unknown-clients"
        )))
    }

    fn act(&self, _: &mut World<'_>, _: &Step, _: Direction) -> Result<(), StepError> {
        Ok(())
    }

    fn verify(&self, _: &mut World<'_>, _: &Step, _: Direction) -> Result<String, StepError> {
        Ok("looked".into())
    }
}

/// REQUIRE SSL counts there as well, and nothing of it can be captured. Who has an account at localhost logs in with that one.
fn over_the_socket(world: &mut World<'_>, accounts: &[AccountName]) -> Result<Option<StepCheck>, StepError> {
    let mut found = Vec::new();
    for node in world.names() {
        let reader = world.node(&node)?;
        let users = reader.socket_users().map_err(fail)?;
        let at_localhost = reader.accounts().map_err(fail)?.into_iter().filter(|one| one.is_local);
        let at_localhost: Vec<String> = at_localhost.map(|one| one.name.user).collect();
        let affected = users.iter().filter(|user| {
            !at_localhost.contains(user) && accounts.iter().any(|account| is_of(account, user))
        });
        found.extend(affected.map(|user| format!("{user} on {node}")));
    }
    if found.is_empty() {
        return Ok(None);
    }
    Ok(Some(StepCheck::Blocked(format!(
        "accounts are used over the unix socket, where an account that must use TLS must use it too\n  why:  connected now: {}\n  next: \
         create an account of that name at localhost for it, or leave the account as it is: --leave USER@HOST; or cut it off: --force \
         USER@HOST",
        model::link::some_of(&found, NAMED_MAX)
    ))))
}

/// So many are named.
const NAMED_MAX: usize = 8;

fn joined(clients: &[&String]) -> String {
    let all: Vec<String> = clients.iter().map(|client| (*client).clone()).collect();
    model::link::some_of(&all, NAMED_MAX)
}

/// Of `app@10.0.0.9:4711`. A connection that is in no list of sessions has none.
fn user_of(client: &str) -> Option<&str> {
    client.rsplit_once('@').map(|(user, _)| user)
}

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
        assert_eq!(user_of("a@b@10.0.0.9:4711"), Some("a@b"));
        assert_eq!(user_of("[fe80::1]:4711"), None);
        assert!(is_of(&account("app"), "app") && is_of(&account(""), "app"));
        assert!(!is_of(&account("App"), "app"));
    }
}
