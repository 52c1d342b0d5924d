//! `sealion share revoke`.

use std::path::PathBuf;

use ::share::keys::{Identity, Role};
use ::share::{audit, owner};
use clap::Args;
use site::OpsError;

use super::{line, ops, state_words};
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
    /// Archive that has the grant, or the file of a standing one, where the list beside the keys does not have it any more
    #[arg(long, value_name = "FILE")]
    pub archive: Option<PathBuf>,
}

pub fn revoke(args: &ShareRevokeArgs) -> Result<u8, OpsError> {
    let keys = Identity::read(&args.keys, Role::Owner).map_err(ops)?;
    let policy = match &args.archive {
        Some(archive) => owner::find_in(&args.keys, &keys, archive, &args.grant),
        None => owner::find(&args.keys, &keys, &args.grant),
    };
    let policy = policy.map_err(ops)?;
    // First it is noted here: a proxy that forgets it is found by that.
    if let Err(error) = audit::note_revoked(&args.keys, &policy.id) {
        show::tell(&format!(
            "not noted beside the keys, so that nobody sees a proxy that forgets it: {error}"
        ));
    }
    let answers = owner::revoke(&policy, &keys);
    let (need, count) = (usize::from(policy.need), answers.len());
    let mut silent = 0;
    for (url, answer) in &answers {
        show::out(&line(url, &state_words(answer)));
        let state = answer.as_ref().ok().filter(|state| state.is_revoked);
        let doubt = state.map(|state| audit::forgotten(&args.keys, url, &policy, Some(state)));
        match doubt.transpose().map_err(ops)?.flatten() {
            Some(doubt) => {
                show::out(&show::wrapped("    ", &format!("{}: revoke it again then", doubt.why())));
            }
            None => silent += usize::from(state.is_some()),
        }
    }
    let left = count.saturating_sub(silent);
    // What was given before may have been kept: it serves beside what the others give.
    let given =
        answers.iter().filter(|(_, answer)| answer.as_ref().is_ok_and(|state| state.opens > 0)).count();
    if left > 0 && left + given >= need {
        return Err(OpsError::cannot_look(
            format!(
                "the grant {} is not ended: of {count} proxies {left} can still give their shares, and {given} gave theirs before",
                policy.id.hex()
            ),
            format!(
                "{silent} have confirmed, and {need} shares are enough to open the archive; the reader may have kept what was given"
            ),
            "start the others, or reach them, or have them bring back their newest database, and revoke it again",
        ));
    }
    let why = if left == 0 { "no proxy gives anything more" } else { "too few proxies are left to open it" };
    show::out(&format!("the grant {} is ended: {why}", policy.id.hex()));
    if left > 0 {
        show::out(&format!("{left} did not confirm for good: revoke it again when they can be reached"));
    }
    let opens = answers.iter().filter_map(|(_, answer)| answer.as_ref().ok()).any(|state| state.opens > 0);
    if opens {
        show::out(
            "shares of it were given before: what the reader has read with them, or kept, is not taken back",
        );
    }
    Ok(0)
}
