//! `sealion share audit`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ::share::audit::{self, Followed};
use ::share::client::Failure;
use ::share::grant::{GrantId, Policy, ProxyUrl};
use ::share::keys::{Identity, Role};
use ::share::proxy::log::LogLine;
use ::share::proxy::protocol::{Reason, StateAnswer};
use ::share::{client, owner, shown_time};
use clap::Args;
use report::shape::{SHARE_AUDIT_SCHEMA_ID, ShareAuditReport, ShareLogLineRow, ShareLogRow};
use site::OpsError;

use super::ops;
use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::show;

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Each line of a log has the hash of the one before it in its own. Where a log ended is kept beside the keys, so that the next look sees lines
that were changed or are missing, as behind a database that was brought back from a backup. A proxy that gives its share without
a line is not seen by that: several proxies are what helps.

Examples:
  sealion share audit --keys ~/share-owner
  sealion share audit --keys ~/share-owner --grant 0123abcd --format json

Exit codes: 0 all logs are whole, 1 one is not, 3 one cannot be read."
)]
pub struct ShareAuditArgs {
    /// Directory of the owner's keys
    #[arg(long, value_name = "DIR")]
    pub keys: PathBuf,
    /// Grant whose lines are shown, or the beginning of its id; default: all
    #[arg(long, value_name = "ID")]
    pub grant: Option<String>,
}

pub fn audit(global: &Global, args: &ShareAuditArgs) -> Result<u8, OpsError> {
    let keys = Identity::read(&args.keys, Role::Owner).map_err(ops)?;
    let only = match &args.grant {
        Some(text) => Some(owner::find(&args.keys, &keys, text).map_err(ops)?.id),
        None => None,
    };
    let grants = owner::granted(&args.keys, &keys).map_err(ops)?;
    let mut proxies: BTreeMap<String, (ProxyUrl, Vec<&Policy>)> = BTreeMap::new();
    for policy in &grants {
        for proxy in &policy.proxies {
            proxies
                .entry(proxy.url.to_string())
                .or_insert_with(|| (proxy.url.clone(), vec![]))
                .1
                .push(policy);
        }
    }
    if let Some(id) = only {
        proxies.retain(|_, (_, held)| held.iter().any(|policy| policy.id == id));
    }
    let as_table = global.format != Format::Json;
    let mut report = ShareAuditReport {
        schema: SHARE_AUDIT_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        proxies: Vec::new(),
    };
    for (text, (url, held)) in proxies {
        if as_table {
            show::out(&text);
        }
        let mut entries = Vec::new();
        let mut tell = |line: &LogLine| {
            if only.is_some_and(|id| line.grant != id) {
                return;
            }
            if as_table {
                show::out(&format!("  {}", words(line)));
            } else {
                entries.push(row(line));
            }
        };
        let followed = audit::follow(&args.keys, &url, &keys, &mut tell).map_err(ops)?;
        let mut log = ShareLogRow { url: text, verdict: "unknown".into(), entries, ..ShareLogRow::default() };
        match followed {
            Err(failure) => log.why.push(failure.to_string()),
            Ok(mut seen) => {
                let mut silent = Vec::new();
                for policy in held {
                    silent.extend(compare(&mut seen, args, &url, policy, &keys)?);
                }
                // With a log alone it is not known whether what is counted agrees with it.
                log.verdict = match (seen.faults.is_empty(), silent.is_empty()) {
                    (false, _) => "changed",
                    (true, false) => "unknown",
                    (true, true) => "whole",
                }
                .into();
                seen.faults.extend(silent);
                (log.lines, log.new_lines, log.why) = (Some(seen.lines), Some(seen.new_lines), seen.faults);
            }
        }
        if as_table {
            show::out(&show::wrapped("  ", &verdict_words(&log)));
        }
        report.proxies.push(log);
    }
    if !as_table {
        show::out(&report.to_json());
    } else if report.proxies.is_empty() {
        show::out("nothing was granted with these keys, so there is no log");
    }
    let has = |verdict: &str| report.proxies.iter().any(|log| log.verdict == verdict);
    Ok(if has("changed") { 1 } else { u8::from(has("unknown")) * 3 })
}

/// What the proxy counts and holds, against its own log and the owner's notes; why not, if it does not say. One that has no
/// such grant has counted nothing of it.
fn compare(
    seen: &mut Followed,
    args: &ShareAuditArgs,
    url: &ProxyUrl,
    policy: &Policy,
    keys: &Identity,
) -> Result<Option<String>, OpsError> {
    match client::state(url, policy.id, keys) {
        Ok(state) => {
            seen.count(policy.id, &state);
            let revoked = audit::revoked_unix_s(&args.keys, &policy.id).map_err(ops)?;
            seen.faults.extend(audit::forgotten(revoked, policy, &state));
        }
        Err(Failure::Refused(refusal)) if refusal.reason == Reason::NoSuchGrant => {
            seen.count(policy.id, &StateAnswer { opens: 0, is_revoked: false });
        }
        Err(failure) => return Ok(Some(format!("of grant {} it says nothing: {failure}", policy.id.hex()))),
    }
    Ok(None)
}

fn words(line: &LogLine) -> String {
    let short = |id: &GrantId| id.hex().chars().take(8).collect::<String>();
    let answer: String = line.answer.chars().filter(|one| !one.is_control()).collect();
    let wish: String = line.wish.chars().filter(|one| !one.is_control()).collect();
    format!("{:>5}  {}  {}  {wish}: {answer}", line.number, shown_time(line.unix_s), short(&line.grant))
}

fn row(line: &LogLine) -> ShareLogLineRow {
    ShareLogLineRow {
        number: line.number,
        unix_s: line.unix_s,
        wish: line.wish.clone(),
        grant: line.grant.hex(),
        answer: line.answer.clone(),
    }
}

fn verdict_words(log: &ShareLogRow) -> String {
    let why = log.why.join("; ");
    match (log.verdict.as_str(), log.lines, log.new_lines) {
        ("whole", Some(lines), Some(new)) => format!("whole: {lines} lines, {new} since the last look"),
        ("changed", ..) => format!("NOT WHOLE: {why}"),
        _ => format!("cannot tell: {why}"),
    }
}
