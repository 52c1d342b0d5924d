//! `sealion enable`, `disable`, `rotate`.

use ::change::Direction;
use change_ops::roll::{self, Settings};
use clap::Args;
use model::{Noun, Verb};
use site::{Cluster, OpsError};

use super::resume::described;
use super::{Consent, PlanOptions, TakeOver, confirm, confirm_what, from_inventory, run, settings, wish};
use crate::options::{Global, TABLE_OR_JSON, formats};

#[derive(Debug, Args)]
#[command(arg = formats(TABLE_OR_JSON))]
pub struct ChangeArgs {
    /// What to change: galera, sst, clients (default: all of them), or only require-tls
    ///
    /// What to change: galera, sst, clients; all of them by default. require-tls is the last part of clients alone: whether clients
    /// must use TLS (require_secure_transport). It needs no restart.
    #[arg(value_delimiter = ',', value_name = "WHAT")]
    pub nouns: Vec<Noun>,
    #[command(flatten)]
    pub yes: Consent,
    #[command(flatten)]
    pub how: PlanOptions,
    #[command(flatten)]
    pub over: TakeOver,
}

#[derive(Debug, Args)]
#[command(after_long_help = from_inventory!("  sealion enable galera,sst,clients\n  sealion enable clients --yes 0123456789ab"))]
pub struct EnableArgs {
    #[command(flatten)]
    pub change: ChangeArgs,
}

#[derive(Debug, Args)]
#[command(after_long_help = from_inventory!("  sealion disable clients\n  sealion disable --drain-s-max 120"))]
pub struct DisableArgs {
    #[command(flatten)]
    pub change: ChangeArgs,
}

#[derive(Debug, Args)]
#[command(after_long_help = from_inventory!("  sealion rotate\n  sealion rotate galera --leaf-days 90"))]
pub struct RotateArgs {
    #[command(flatten)]
    pub change: ChangeArgs,
}

pub fn change(global: &Global, verb: Verb, args: &ChangeArgs) -> Result<u8, OpsError> {
    let cluster = Cluster::read(&global.inventory)?;
    let passphrase = cluster.passphrase(args.how.running.ca_passphrase_file.as_deref())?;
    let settings = Settings { takes_over: args.over.take_over, ..settings(&args.how) };
    let wish = wish(verb, &args.nouns);
    // The same command again finishes what it began.
    if let Some(open) = roll::open_plan(&cluster)?.filter(|open| open.change == wish) {
        confirm_what(
            &wish.to_string(),
            &open,
            &described("resume", &open, "unfinished"),
            args.yes.yes.as_deref(),
        )?;
        return run(global, &cluster, &wish.to_string(), |tell| {
            roll::go_on(&cluster, &settings, passphrase, Some(Direction::Forward), tell)
        });
    }
    let plan = roll::plan(&cluster, &settings, passphrase.clone(), &wish)?;
    if !plan.changes_anything() {
        println!("{wish}: already done; nothing to do");
        println!("to verify it with captured packets: sealion status --canaries");
        return Ok(0);
    }
    confirm(&plan, args.yes.yes.as_deref())?;
    run(global, &cluster, &wish.to_string(), |tell| roll::apply(&cluster, &settings, passphrase, &plan, tell))
}
