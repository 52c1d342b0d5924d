//! `sealion share list`.

use std::path::PathBuf;

use ::share::keys::{Identity, Role};
use ::share::{owner, shown_time};
use clap::Args;
use site::OpsError;

use super::{line, ops, state_words};
use crate::show;

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion share list --keys ~/share-owner
  sealion share list --keys /root/share")]
pub struct ShareListArgs {
    /// Directory of the owner's keys
    #[arg(long, value_name = "DIR")]
    pub keys: PathBuf,
}

pub fn list(args: &ShareListArgs) -> Result<u8, OpsError> {
    let keys = Identity::read(&args.keys, Role::Owner).map_err(ops)?;
    let grants = owner::granted(&args.keys, &keys).map_err(ops)?;
    if grants.is_empty() {
        show::out("nothing was granted with these keys");
    }
    for policy in grants {
        show::out(&format!(
            "{} {} to {}, until {}, {}, {} of {} needed",
            policy.id.hex(),
            policy.table,
            policy.reader.fingerprint(),
            shown_time(policy.until_unix_s),
            model::text::counted(policy.max_opens, "open", "opens"),
            policy.need,
            model::text::counted(policy.proxies.len(), "proxy", "proxies")
        ));
        for (url, answer) in owner::states(&policy, &keys) {
            show::out(&format!("  {}", line(&url, &state_words(&answer))));
        }
    }
    Ok(0)
}
