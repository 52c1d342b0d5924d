//! `sealion apply`.

use std::path::PathBuf;

use change_ops::roll::{self, Settings};
use clap::Args;
use model::Plan;
use site::{Cluster, OpsError};

use super::join::DataOptions;
use super::{Consent, GateOptions, PlanOptions, TakeOver, confirm, from_inventory, run, settings};
use crate::options::{Global, TABLE_OR_JSON, formats};

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = from_inventory!("  sealion apply plan.json\n  sealion apply plan.json --yes 0123456789ab")
)]
pub struct ApplyArgs {
    /// A plan that `sealion plan ... --format json` printed
    pub plan: PathBuf,
    #[command(flatten)]
    pub yes: Consent,
    #[command(flatten)]
    pub how: PlanOptions,
    #[command(flatten)]
    pub data: DataOptions,
    #[command(flatten)]
    pub over: TakeOver,
    #[command(flatten)]
    pub gates: GateOptions,
}

pub fn apply(global: &Global, args: &ApplyArgs) -> Result<u8, OpsError> {
    let mut cluster = Cluster::read(&global.inventory)?;
    let passphrase = cluster.passphrase(args.how.running.ca_passphrase_file.as_deref())?;
    let bad = |why: String| {
        OpsError::usage(
            format!("{} is not a plan", args.plan.display()),
            why,
            "sealion plan … --format json > FILE",
        )
    };
    let text = std::fs::read_to_string(&args.plan).map_err(|error| bad(error.to_string()))?;
    let plan: Plan = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    if let Some(joiner) = plan.change.joiner() {
        cluster.admit(joiner);
    }
    let settings = Settings {
        takes_over: args.over.take_over,
        gates: args.gates.gates(),
        replace_data: args.data.replace_data,
        ..settings(&args.how)
    };
    settings.gates.fit(&plan)?;
    confirm(&plan, args.yes.yes.as_deref())?;
    run(global, &cluster, &plan.change.to_string(), |tell| {
        roll::apply(&cluster, &settings, passphrase, &plan, tell)
    })
}
