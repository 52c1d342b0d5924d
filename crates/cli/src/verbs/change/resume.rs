//! `sealion resume` and `sealion undo`.

use ::change::Direction;
use change_ops::roll::{self, Settings};
use change_ops::unfinished::{Continuation, continuation};
use clap::Args;
use site::{Cluster, OpsError};

use super::plan::{SIGNS, no_way_back, step_line};
use super::{
    Consent, GateOptions, PlanOptions, RunOptions, TakeOver, cluster_of_newest, confirm_what, from_inventory,
    not_offered, run, settings, settings_of,
};
use crate::options::{Global, TABLE_OR_JSON, formats};
use crate::show;

/// They count only where the change was interrupted before its certificates were made.
fn only_for_certificates(arg: clap::Arg) -> clap::Arg {
    match arg.get_id().as_str() {
        "bits" | "leaf_days" => arg
            .hide_short_help(true)
            .long_help("As given to the interrupted change; only for certificates that it has not made yet"),
        "allow_untested" | "accept_managed" | "skip_openssl_check" | "leave" | "force"
        | "encryption_threads" | "encryption_iops" | "purge_binary_logs" => arg.hide(true),
        _ => arg,
    }
}

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    mut_args(only_for_certificates),
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
    #[command(flatten)]
    pub gates: GateOptions,
}

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    mut_args(not_offered!("accept_shut_out")),
    after_long_help = from_inventory!("  sealion undo\n  sealion undo --yes 0123456789ab")
)]
pub struct UndoArgs {
    #[command(flatten)]
    pub yes: Consent,
    #[command(flatten)]
    pub running: RunOptions,
    #[command(flatten)]
    pub over: TakeOver,
    #[command(flatten)]
    pub gates: GateOptions,
}

pub fn resume(global: &Global, args: &ResumeArgs) -> Result<u8, OpsError> {
    let cluster = cluster_of_newest(global)?;
    let passphrase = cluster.passphrase(args.how.running.ca_passphrase_file.as_deref())?;
    // What is not there is refused by whoever looks for it with the lock in hand.
    if let Some(open) = continuation(&cluster, None)? {
        let warnings = warnings(&cluster, &settings(&args.how), &open)?;
        let (what, steps) = (described("resume", &open, &warnings), steps_left(&open));
        confirm_what("resume", &open.plan, &what, &steps, args.yes.yes.as_deref())?;
    }
    let settings =
        Settings { takes_over: args.over.take_over, gates: args.gates.gates(), ..settings(&args.how) };
    run(global, &cluster, "resume", |tell| roll::go_on(&cluster, &settings, passphrase, None, tell))
}

pub fn undo(global: &Global, args: &UndoArgs) -> Result<u8, OpsError> {
    let cluster = cluster_of_newest(global)?;
    let passphrase = cluster.passphrase(args.running.ca_passphrase_file.as_deref())?;
    if let Some(one) = continuation(&cluster, Some(Direction::Back))? {
        if let Some(why) = &one.refused {
            return Err(OpsError::Refused(format!("undo is refused, nothing was changed\n\n{why}")));
        }
        let warnings = warnings(&cluster, &settings_of(&args.running), &one)?;
        let (what, steps) = (described("undo", &one, &warnings), steps_left(&one));
        confirm_what("undo", &one.plan, &what, &steps, args.yes.yes.as_deref())?;
        // A person at a terminal has read them with the question.
        if args.yes.yes.is_some() {
            for line in &warnings {
                show::tell(line);
            }
        }
    }
    let settings =
        Settings { takes_over: args.over.take_over, gates: args.gates.gates(), ..settings_of(&args.running) };
    run(global, &cluster, "undo", |tell| {
        roll::go_on(&cluster, &settings, passphrase, Some(Direction::Back), tell)
    })
}

/// What a person agrees to: it may be a change of long ago.
pub(super) fn described(verb: &str, one: &Continuation, warnings: &[String]) -> String {
    let made = model::clock::rfc3339(one.plan.made_unix_ms);
    let state = if one.was_finished { "finished since then" } else { "unfinished" };
    let steps = model::text::counted(one.remaining.len(), "step remains", "steps remain");
    let restarts = match one.restarts() {
        0 => "no server restart".to_owned(),
        count => model::text::counted(count, "server restart", "server restarts"),
    };
    let what = format!(
        "{verb} of {} of cluster {}, planned {} and {state}: {steps}, {restarts}, plan {}",
        one.plan.change,
        one.plan.cluster,
        made.get(..19).unwrap_or(&made).replace('T', " "),
        one.plan.short_hash()
    );
    [vec![what], warnings.to_vec(), no_way_back(&one.plan)].concat().join("\n")
}

/// What is read on the wire once it is taken back, and who is shut out.
fn warnings(cluster: &Cluster, settings: &Settings, one: &Continuation) -> Result<Vec<String>, OpsError> {
    match one.direction {
        Direction::Back => roll::undo_warnings(cluster, settings, &one.plan, &one.steps_of_plan()),
        Direction::Forward => Ok(vec![]),
    }
}

/// The steps that remain, a line each.
pub(super) fn steps_left(one: &Continuation) -> Vec<String> {
    one.steps().map(|step| step_line(step, one.direction)).chain([show::fitted("  ", SIGNS)]).collect()
}
