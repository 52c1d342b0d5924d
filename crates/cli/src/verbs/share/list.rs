//! `sealion share list`.

use std::path::PathBuf;

use ::share::audit::{self, Doubt};
use ::share::client::Failure;
use ::share::keys::{Identity, Role};
use ::share::proxy::protocol::{Reason, StateAnswer};
use ::share::{owner, shown_time};
use clap::Args;
use report::shape::{SHARE_LIST_SCHEMA_ID, ShareGrantRow, ShareListReport, ShareProxyRow};
use site::OpsError;

use super::{line, ops, state_words};
use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::show;

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion share list --keys ~/share-owner
  sealion share list --keys /root/share --format json

Exit codes: 0 all proxies say what can be, 1 one holds a grant that was revoked, or has
forgotten one, 3 one does not say, or what it says cannot be checked with these keys."
)]
pub struct ShareListArgs {
    /// Directory of the owner's keys
    #[arg(long, value_name = "DIR")]
    pub keys: PathBuf,
}

pub fn list(global: &Global, args: &ShareListArgs) -> Result<u8, OpsError> {
    let keys = Identity::read(&args.keys, Role::Owner).map_err(ops)?;
    let mut report = ShareListReport {
        schema: SHARE_LIST_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        grants: Vec::new(),
    };
    let as_table = global.format != Format::Json;
    let (mut forgets, mut is_silent) = (false, false);
    for policy in owner::granted(&args.keys, &keys).map_err(ops)? {
        let revoked_unix_s = audit::revoked_unix_s(&args.keys, &policy.id).map_err(ops)?;
        if as_table {
            let revoked =
                revoked_unix_s.map(|at| format!(", revoked on {}", shown_time(at))).unwrap_or_default();
            show::out(&format!(
                "{} {} to {}, until {}, {}, {} of {} needed{revoked}",
                policy.id.hex(),
                policy.table,
                policy.reader.fingerprint(),
                shown_time(policy.until_unix_s),
                model::text::counted(policy.max_opens, "open", "opens"),
                policy.need,
                model::text::counted(policy.proxies.len(), "proxy", "proxies")
            ));
        }
        let mut proxies = Vec::new();
        for (url, answer) in owner::states(&policy, &keys) {
            let state = match &answer {
                Ok(state) => Some(Some(state)),
                Err(failure) => is_no_such_grant(failure).then_some(None),
            };
            let doubt = state.map(|state| audit::forgotten(&args.keys, &url, &policy, state));
            let doubt = doubt.transpose().map_err(ops)?.flatten();
            forgets |= matches!(doubt, Some(Doubt::Contradicted(_)));
            is_silent |= state.is_none() || matches!(doubt, Some(Doubt::NotKnown(_)));
            if as_table {
                show::out(&format!("  {}", line(&url, &state_words(&answer))));
                if let Some(doubt) = &doubt {
                    show::out(&show::wrapped("    ", &format!("{}; revoke it again", doubt.why())));
                }
            }
            proxies.push(row(String::from(url), answer, doubt.as_ref().map(Doubt::why)));
        }
        report.grants.push(ShareGrantRow {
            id: policy.id.hex(),
            reader: policy.reader.fingerprint(),
            until_unix_s: policy.until_unix_s,
            max_opens: policy.max_opens,
            need: policy.need,
            revoked_unix_s,
            proxies,
            table: policy.table,
        });
    }
    if !as_table {
        show::out(&report.to_json());
    } else if report.grants.is_empty() {
        show::out("nothing was granted with these keys");
    }
    Ok(if forgets { 1 } else { u8::from(is_silent) * 3 })
}

fn row(url: String, answer: Result<StateAnswer, Failure>, doubt: Option<&str>) -> ShareProxyRow {
    let (state, opens, why) = match answer {
        Ok(state) => {
            (if state.is_revoked { "revoked" } else { "held" }, Some(state.opens), doubt.map(String::from))
        }
        Err(failure) => {
            let why = doubt.map_or_else(|| failure.to_string(), |why| format!("{failure}: {why}"));
            (failure_word(&failure), None, Some(why))
        }
    };
    ShareProxyRow { url, state: state.into(), opens, why }
}

fn is_no_such_grant(failure: &Failure) -> bool {
    matches!(failure, Failure::Refused(refusal) if refusal.reason == Reason::NoSuchGrant)
}

fn failure_word(failure: &Failure) -> &'static str {
    match failure {
        Failure::Refused(_) => "refused",
        Failure::Unreachable(_) => "unreachable",
        Failure::Misbehaved(_) => "untrusted",
    }
}
