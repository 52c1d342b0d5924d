//! `sealion enable`, `disable`, `rotate`.

use std::time::Instant;

use ::change::Direction;
use change_ops::roll::{self, Settings};
use change_ops::unfinished::continuation;
use clap::Args;
use model::{Change, Noun, Verb};
use site::{Cluster, OpsError};

use super::resume::{described, steps_left};
use super::rotate_disk::{RotateDiskArgs, rotate_disk};
use super::{
    Consent, GateOptions, PlanOptions, ProfileOptions, TakeOver, change_json, confirm, confirm_what,
    from_inventory, not_offered, run, settings, wish,
};
use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::show;

#[derive(Debug, Args)]
#[command(arg = formats(TABLE_OR_JSON))]
pub struct ChangeArgs {
    /// What to change: galera, sst, replication, clients (default: all there is), require-tls, accounts, ca, tables, logs
    ///
    /// What to change. The default is all that the nodes have: galera, sst and clients of a Galera cluster, replication and clients
    /// of a source and its replicas. require-tls is the last part of clients alone: whether clients
    /// must use TLS (require_secure_transport). It needs no restart. accounts are those that log in over the network: each must use TLS
    /// from its next login on (ALTER USER ... REQUIRE SSL), unless somebody was seen to use it in cleartext. ca is the CA
    /// of these servers, which can be rotated only: it is replaced in phases, and the old one is refused at the end. tables and logs are
    /// data at rest of MariaDB: tables with redo, undo and temporary files; binary logs and relay logs. They are changed by themselves, and
    /// rotated together: they have a key in common.
    #[arg(value_delimiter = ',', value_name = "WHAT")]
    pub nouns: Vec<Noun>,
    #[command(flatten)]
    pub yes: Consent,
    #[command(flatten)]
    pub how: PlanOptions,
    #[command(flatten)]
    pub over: TakeOver,
    #[command(flatten)]
    pub gates: GateOptions,
}

#[derive(Debug, Args)]
#[command(after_long_help = from_inventory!("  sealion enable galera,sst,clients\n  sealion enable replication,clients\n  sealion enable clients --yes 0123456789ab\n  sealion enable clients --profile intermediate"))]
pub struct EnableArgs {
    #[command(flatten)]
    pub change: ChangeArgs,
    #[command(flatten)]
    pub profile: ProfileOptions,
}

#[derive(Debug, Args)]
#[command(mut_args(not_offered!(
    "accept_unknown_clients", "accept_shut_out", "accept_unproven", "watch_clients_s", "bits", "leaf_days", "force"
)))]
#[command(after_long_help = from_inventory!("  sealion disable clients\n  sealion disable --drain-s-max 120"))]
pub struct DisableArgs {
    #[command(flatten)]
    pub change: ChangeArgs,
}

#[derive(Debug, Args)]
#[command(mut_args(not_offered!(
    "accept_unknown_clients", "accept_unproven", "watch_clients_s", "sync_s_max", "drain_s_max", "leave", "force"
)))]
#[command(
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    after_long_help = from_inventory!("  sealion rotate --leaf-days 90\n  sealion rotate ca --stop-after R2.look\n  sealion rotate tables,logs --purge-binary-logs")
)]
pub struct RotateArgs {
    #[command(subcommand)]
    pub what: Option<RotateCommand>,
    #[command(flatten)]
    pub change: ChangeArgs,
}

#[derive(Debug, clap::Subcommand)]
pub enum RotateCommand {
    /// Replace a key of a LUKS volume of this machine
    Disk(Box<RotateDiskArgs>),
}

pub fn enable(global: &Global, args: &EnableArgs) -> Result<u8, OpsError> {
    let wish = wish(Verb::Enable, &args.change.nouns).with_profile(args.profile.profile);
    change(global, &wish, &args.change)
}

pub fn disable(global: &Global, args: &DisableArgs) -> Result<u8, OpsError> {
    change(global, &wish(Verb::Disable, &args.change.nouns), &args.change)
}

pub fn rotate(global: &Global, args: &RotateArgs) -> Result<u8, OpsError> {
    if let Some(RotateCommand::Disk(args)) = &args.what {
        return rotate_disk(global, args);
    }
    change(global, &wish(Verb::Rotate, &args.change.nouns), &args.change)
}

fn change(global: &Global, wish: &Change, args: &ChangeArgs) -> Result<u8, OpsError> {
    let began = Instant::now();
    let cluster = Cluster::read(&global.inventory)?;
    let passphrase = cluster.passphrase(args.how.running.ca_passphrase_file.as_deref())?;
    let settings =
        Settings { takes_over: args.over.take_over, gates: args.gates.gates(), ..settings(&args.how) };
    // The same command again finishes what it began.
    let open = continuation(&cluster, Some(Direction::Forward))?;
    if let Some(open) = open.filter(|open| open.was_wished(wish, cluster.nodes.len())) {
        let (what, steps) = (described("resume", &open, &[]), steps_left(&open));
        let change = open.plan.change.to_string();
        confirm_what(&change, &open.plan, &what, &steps, args.yes.yes.as_deref())?;
        return run(global, &cluster, &change, |tell| {
            roll::go_on(&cluster, &settings, passphrase, Some(Direction::Forward), tell)
        });
    }
    let plan = roll::plan(&cluster, &settings, passphrase.clone(), wish)?;
    if !plan.changes_anything() {
        if global.format == Format::Json {
            show::out(&change_json(&plan.id, "nothing-to-do", &[], &[], began));
            return Ok(0);
        }
        show::out(&format!("{}: already done; nothing to do", plan.change));
        show::out("to verify it with captured packets: sealion status --canaries");
        return Ok(0);
    }
    settings.gates.fit(&plan)?;
    confirm(&plan, args.yes.yes.as_deref())?;
    let change = plan.change.to_string();
    run(global, &cluster, &change, |tell| roll::apply(&cluster, &settings, passphrase, &plan, tell))
}
