//! `sealion grants`: what accounts the other commands need.

use audit_ops::grants::{self, GRANTS, GrantsRow};
use clap::Args;
use clap::builder::PossibleValuesParser;
use site::OpsError;

use super::audit::FlavourArg;
use crate::show;

#[derive(Debug, Args)]
#[command(
    after_long_help = "SQL to paste; what the hosts need is in its comments. Run sealion with an account of its own for checks and another one for changes.

Examples:
  sealion grants status --flavour mysql --account sealion@10.0.0.5
  sealion grants enable --sudoers --host-user dba"
)]
pub struct GrantsArgs {
    /// Command that the account is for; if omitted, all are printed
    #[arg(value_name = "VERB", value_parser = PossibleValuesParser::new(verbs()))]
    pub verb: Option<String>,
    /// Only the statements for this flavour
    #[arg(long, value_enum, value_name = "FLAVOUR")]
    pub flavour: Option<FlavourArg>,
    /// Account to create, as user@host
    #[arg(long, value_name = "ACCOUNT", default_value = "sealion@localhost")]
    pub account: String,
    /// Print only the lines for sudoers on the hosts
    #[arg(long)]
    pub sudoers: bool,
    /// User of ssh on the hosts
    #[arg(long, value_name = "USER", default_value = "dba")]
    pub host_user: String,
}

fn verbs() -> impl Iterator<Item = &'static str> {
    GRANTS.iter().flat_map(|row| row.verbs.iter().copied())
}

pub fn grants(args: &GrantsArgs) -> Result<u8, OpsError> {
    let account = grants::account_text(&args.account)?;
    // It becomes a word of a file that gives root away.
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "._-".contains(char);
    let user = &args.host_user;
    if user.is_empty() || user.starts_with('-') || !user.chars().all(is_plain) {
        return Err(OpsError::usage(
            format!("\"{}\" is not a user of a host", user.escape_default()),
            "it has other characters than letters, digits, dots, hyphens and underscores",
            "give the name with which ssh logs in",
        ));
    }
    let rows: Vec<&GrantsRow> = match &args.verb {
        Some(verb) => grants::row_of(verb).into_iter().collect(),
        None => GRANTS.iter().collect(),
    };
    let text = if args.sudoers {
        grants::sudoers(&rows, user)
    } else {
        grants::sql(&rows, args.flavour.map(FlavourArg::name), &account, user)
    };
    show::out(text.trim_end());
    Ok(0)
}
