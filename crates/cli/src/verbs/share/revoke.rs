//! `sealion share revoke`.

use std::path::PathBuf;

use ::share::keys::{Identity, Role};
use ::share::{audit, owner};
use clap::Args;
use site::OpsError;

use super::{gives_nothing, line, ops, state_words};
use crate::show;

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion share revoke 0123456789abcdef0123456789abcdef --keys ~/share-owner
  sealion share revoke 0123 --keys ~/share-owner")]
pub struct ShareRevokeArgs {
    /// Grant, or the beginning of its id
    #[arg(value_name = "ID")]
    pub grant: String,
    /// Directory of the owner's keys
    #[arg(long, value_name = "DIR")]
    pub keys: PathBuf,
}

pub fn revoke(args: &ShareRevokeArgs) -> Result<u8, OpsError> {
    let keys = Identity::read(&args.keys, Role::Owner).map_err(ops)?;
    let policy = owner::find(&args.keys, &keys, &args.grant).map_err(ops)?;
    // First it is noted here: a proxy that forgets it is found by that.
    audit::note_revoked(&args.keys, &policy.id).map_err(ops)?;
    let answers = owner::revoke(&policy, &keys);
    for (url, answer) in &answers {
        show::out(&line(url, &state_words(answer)));
    }
    let (need, count) = (usize::from(policy.need), answers.len());
    let silent = answers.iter().filter(|(_, answer)| gives_nothing(answer)).count();
    let left = count.saturating_sub(silent);
    if left >= need {
        return Err(OpsError::cannot_look(
            format!("the grant {} is not ended: {left} proxies can still give their shares", policy.id.hex()),
            format!("{silent} of {count} have confirmed, and {need} are enough to open the archive"),
            "start the others, or reach them, and revoke it again",
        ));
    }
    show::out(&format!("the grant {} is ended: too few proxies are left to open it", policy.id.hex()));
    if left > 0 {
        show::out(&format!("{left} did not confirm: revoke it again when they can be reached"));
    }
    let opens = answers.iter().filter_map(|(_, answer)| answer.as_ref().ok()).any(|state| state.opens > 0);
    if opens {
        show::out(
            "it was opened before: what the reader has then read, or kept of the key, is not taken back",
        );
    }
    Ok(0)
}
