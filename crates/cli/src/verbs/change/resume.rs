//! `sealion resume` and `sealion undo`.

use ::change::Direction;
use change_ops::roll::{self, Settings};
use clap::Args;
use model::Plan;
use site::{Cluster, OpsError};

use super::plan::no_way_back;
use super::{
    Consent, PlanOptions, RunOptions, TakeOver, confirm_what, from_inventory, run, settings, settings_of,
};
use crate::options::{Global, TABLE_OR_JSON, formats};

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = from_inventory!("  sealion resume\n  sealion resume --yes 0123456789ab --take-over")
)]
pub struct ResumeArgs {
    #[command(flatten)]
    pub yes: Consent,
    // Certificates that are not made yet are made with these: they are repeated as they were given.
    #[command(flatten)]
    pub how: PlanOptions,
    #[command(flatten)]
    pub over: TakeOver,
}

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = from_inventory!("  sealion undo\n  sealion undo --yes 0123456789ab")
)]
pub struct UndoArgs {
    #[command(flatten)]
    pub yes: Consent,
    #[command(flatten)]
    pub running: RunOptions,
    #[command(flatten)]
    pub over: TakeOver,
}

pub fn resume(global: &Global, args: &ResumeArgs) -> Result<u8, OpsError> {
    let cluster = Cluster::read(&global.inventory)?;
    let passphrase = cluster.passphrase(args.how.running.ca_passphrase_file.as_deref())?;
    // What is not there is refused by whoever looks for it with the lock in hand.
    if let Some(plan) = roll::open_plan(&cluster)? {
        confirm_what("resume", &plan, &described("resume", &plan, "unfinished"), args.yes.yes.as_deref())?;
    }
    let settings = Settings { takes_over: args.over.take_over, ..settings(&args.how) };
    run(global, &cluster, "resume", |tell| roll::go_on(&cluster, &settings, passphrase, None, tell))
}

pub fn undo(global: &Global, args: &UndoArgs) -> Result<u8, OpsError> {
    let cluster = Cluster::read(&global.inventory)?;
    let passphrase = cluster.passphrase(args.running.ca_passphrase_file.as_deref())?;
    let (plan, state) = match roll::open_plan(&cluster)? {
        Some(plan) => (Some(plan), "unfinished"),
        None => (roll::finished_change(&cluster)?, "finished since then"),
    };
    if let Some(plan) = plan {
        confirm_what("undo", &plan, &described("undo", &plan, state), args.yes.yes.as_deref())?;
    }
    let settings = Settings { takes_over: args.over.take_over, ..settings_of(&args.running) };
    run(global, &cluster, "undo", |tell| {
        roll::go_on(&cluster, &settings, passphrase, Some(Direction::Back), tell)
    })
}

/// What a person agrees to: it may be a change of long ago.
pub(super) fn described(verb: &str, plan: &Plan, state: &str) -> String {
    let made = model::clock::rfc3339(plan.made_unix_ms);
    let restarts = plan.steps.iter().filter(|step| step.restarts_server && !step.no_op).count();
    let what = format!(
        "{verb} of {} of cluster {}, planned {} and {state}: up to {restarts} server restarts, plan {}",
        plan.change,
        plan.cluster,
        made.get(..19).unwrap_or(&made).replace('T', " "),
        plan.short_hash()
    );
    [vec![what], no_way_back(plan)].concat().join("\n")
}
