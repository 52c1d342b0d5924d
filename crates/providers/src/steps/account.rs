//! One account must use TLS, or no longer must. It is changed where it is written; the other servers get it from there.

use std::time::Duration;

use change::{Direction, StepCheck, StepError};
use model::{NodeName, Step};
use serde::{Deserialize, Serialize};
use server::ThreadState;
use server::accounts::{Account, AccountName, AccountTls};

use super::{StepKind, fail, only_node, params};
use crate::world::World;

/// A replica may lag; one that has not got it by then is told.
const ARRIVES_MAX_MS: u64 = 60_000;
const POLL: Duration = Duration::from_millis(200);

pub struct AccountStep;
pub const ACCOUNT: AccountStep = AccountStep;

#[derive(Debug, Serialize, Deserialize)]
pub struct AccountParams {
    pub account: AccountName,
    /// It has REQUIRE NONE or REQUIRE SSL before, and the other one afterwards.
    pub requires_after: bool,
    /// Servers that get what is written on the step's own.
    pub followers: Vec<NodeName>,
}

impl AccountParams {
    fn wanted(&self, direction: Direction) -> AccountTls {
        if self.requires_after == (direction == Direction::Forward) {
            AccountTls::Tls
        } else {
            AccountTls::None
        }
    }
}

fn find(world: &mut World<'_>, node: &NodeName, name: &AccountName) -> Result<Option<Account>, StepError> {
    let all = world.node(node)?.accounts().map_err(fail)?;
    Ok(all.into_iter().find(|one| one.name == *name))
}

impl StepKind for AccountStep {
    fn kind(&self) -> &'static str {
        "account"
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let params: AccountParams = params(step)?;
        let node = only_node(step)?;
        let wanted = params.wanted(direction);
        Ok(match find(world, &node, &params.account)? {
            None => StepCheck::AlreadyDone("there is no such account any more".into()),
            Some(account) if account.tls == wanted => StepCheck::AlreadyDone("it is so already".into()),
            // Somebody demands more of it than we would.
            Some(account) if account.tls == AccountTls::Certificate => match direction {
                Direction::Forward => StepCheck::AlreadyDone("it requires a client certificate".into()),
                Direction::Back => {
                    StepCheck::AlreadyDone("it requires a client certificate, which stays".into())
                }
            },
            Some(_) => StepCheck::Ready,
        })
    }

    fn act(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let params: AccountParams = params(step)?;
        let is_on = params.wanted(direction) == AccountTls::Tls;
        world.node(&only_node(step)?)?.set_account_tls(&params.account, is_on).map_err(fail)
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let params: AccountParams = params(step)?;
        let node = only_node(step)?;
        let wanted = params.wanted(direction);
        let word = if wanted == AccountTls::Tls { "REQUIRE SSL" } else { "REQUIRE NONE" };
        match find(world, &node, &params.account)? {
            None => return Ok(format!("{} was dropped meanwhile", params.account)),
            Some(account) if account.tls == wanted => {}
            Some(_) => {
                return Err(fail(format!(
                    "{} was changed on {node} and reads back otherwise",
                    params.account
                )));
            }
        }
        let mut without = Vec::new();
        for follower in &params.followers {
            if !arrives(world, follower, &params.account, wanted)? {
                without.push(follower.to_string());
            }
        }
        if without.is_empty() {
            return Ok(format!(
                "{word} on {}",
                [vec![node.to_string()], names(&params.followers)].concat().join(", ")
            ));
        }
        let has: Vec<String> =
            names(&params.followers).into_iter().filter(|name| !without.contains(name)).collect();
        let all = [vec![node.to_string()], has].concat().join(", ");
        Ok(format!("{word} on {all}; {} has no such account", without.join(", ")))
    }
}

fn names(nodes: &[NodeName]) -> Vec<String> {
    nodes.iter().map(ToString::to_string).collect()
}

/// `false`: that server has no such account, since its replication leaves it out.
fn arrives(
    world: &mut World<'_>,
    node: &NodeName,
    name: &AccountName,
    wanted: AccountTls,
) -> Result<bool, StepError> {
    let until_ms = world.node(node)?.now_ms() + ARRIVES_MAX_MS;
    loop {
        match find(world, node, name)? {
            None => return Ok(false),
            Some(account) if account.tls == wanted => return Ok(true),
            Some(_) => {}
        }
        let reader = world.node(node)?;
        let channels = reader.channels().map_err(fail)?;
        if let Some(stopped) = channels.iter().find(|channel| channel.applier == ThreadState::Stopped) {
            return Err(StepError(format!(
                "{node} applies nothing from {stopped} any more, so {name} does not arrive there\n  why:  {}\n  next: mend its replication, then \
                 sealion resume",
                stopped.applier_error.as_deref().unwrap_or("its thread does not run, and has no error")
            )));
        }
        let reader = world.node(node)?;
        if reader.now_ms() >= until_ms {
            return Err(StepError(format!(
                "{name} is not so on {node} after {} s\n  why:  it lags, or it has the account by itself\n  next: see its replication \
                 (sealion status), then sealion resume",
                ARRIVES_MAX_MS / 1000
            )));
        }
        reader.wait(POLL);
    }
}
