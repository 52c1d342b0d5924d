//! `sealion abandon`.

use change_ops::roll::{self, Settings};
use clap::Args;
use site::OpsError;

use super::{Consent, TakeOver, cluster_of_newest, confirm_what, from_inventory};
use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::show;

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = from_inventory!("  sealion abandon\n  sealion abandon --yes 0123456789ab")
)]
pub struct AbandonArgs {
    #[command(flatten)]
    pub yes: Consent,
    #[command(flatten)]
    pub over: TakeOver,
}

/// Changes nothing but the journals, and cannot be taken back.
pub fn abandon(global: &Global, args: &AbandonArgs) -> Result<u8, OpsError> {
    let cluster = cluster_of_newest(global)?;
    let plan = roll::open_plan(&cluster)?.ok_or_else(|| {
        OpsError::Refused(
            "there is nothing to abandon\n  why:  no change is unfinished\n  next: sealion status".into(),
        )
    })?;
    let what = format!(
        "{} of cluster {} is closed as it is: no server is touched, and neither resume nor undo can continue it; \
         plan {}",
        plan.change,
        plan.cluster,
        plan.short_hash()
    );
    confirm_what("abandon", &plan, &what, &[], args.yes.yes.as_deref())?;
    let settings = Settings { takes_over: args.over.take_over, ..Settings::default() };
    let left = roll::abandon(&cluster, &settings, &mut |line| show::tell(&line))?;
    if global.format == Format::Json {
        let json = serde_json::json!({
            "schema": "sealion/change/1", "plan": plan.id, "outcome": "abandoned", "left": left,
        });
        show::out(&json.to_string());
        return Ok(0);
    }
    show::out(&format!("abandoned: {} of cluster {}; remaining state:", plan.change, plan.cluster));
    for line in left {
        show::out(&format!("  {line}"));
    }
    Ok(0)
}
