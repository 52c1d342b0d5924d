//! `sealion share audit`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ::share::audit::{self, Doubt, Followed};
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

Exit codes: 0 all logs are whole, 1 one is not, or a proxy holds what was
revoked, 3 one cannot be read, or not be checked with these keys."
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
                .entry(String::from(proxy.url.clone()))
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
    for (url, held) in proxies.into_values() {
        if as_table {
            // Two that were set up one after the other at one address are told apart by their certificates.
            let hash: String = url.certificate.hex().chars().take(8).collect();
            show::out(&format!("{url}#{hash}"));
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
        let before: Vec<_> = held.iter().map(|policy| client::state(&url, policy.id, &keys)).collect();
        let followed = audit::follow(&args.keys, &url, &keys, &mut tell).map_err(ops)?;
        let mut log = ShareLogRow {
            url: String::from(url.clone()),
            verdict: "unknown".into(),
            entries,
            ..ShareLogRow::default()
        };
        match followed {
            Err(failure) => log.why.push(failure.to_string()),
            Ok(mut seen) => {
                let mut silent = Vec::new();
                for (policy, before) in held.iter().zip(before) {
                    let told = compare(&mut seen, args, &url, policy, before, &keys)?;
                    silent.extend(told.silent);
                    log.holds.extend(told.holds);
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
            for holds in &log.holds {
                show::out(&show::wrapped("  ", &format!("{holds}; revoke it again")));
            }
        }
        report.proxies.push(log);
    }
    if !as_table {
        show::out(&report.to_json());
    } else if report.proxies.is_empty() {
        show::out("nothing was granted with these keys, so there is no log");
    }
    let has = |verdict: &str| report.proxies.iter().any(|log| log.verdict == verdict);
    let is_held = report.proxies.iter().any(|log| !log.holds.is_empty());
    Ok(if has("changed") || is_held { 1 } else { u8::from(has("unknown")) * 3 })
}

/// Of one grant.
#[derive(Default)]
struct Compared {
    /// Why it does not say.
    silent: Option<String>,
    /// What it holds, and should not.
    holds: Option<String>,
}

/// What the proxy counts and holds, against its own log and the owner's notes. One that has no such grant has counted nothing of it.
fn compare(
    seen: &mut Followed,
    args: &ShareAuditArgs,
    url: &ProxyUrl,
    policy: &Policy,
    before: Result<StateAnswer, Failure>,
    keys: &Identity,
) -> Result<Compared, OpsError> {
    let none = StateAnswer { opens: 0, is_revoked: false, was_never_held: true };
    let known = |answer| match answer {
        Err(Failure::Refused(refusal)) if refusal.reason == Reason::NoSuchGrant => Ok((none.clone(), false)),
        answer => answer.map(|state| (state, true)),
    };
    let (before, (state, is_there)) = match (known(before), known(client::state(url, policy.id, keys))) {
        (Ok((before, _)), Ok(after)) => (before, after),
        (Err(failure), _) | (_, Err(failure)) => {
            let silent = Some(format!("of grant {} it says nothing: {failure}", policy.id.hex()));
            return Ok(Compared { silent, holds: None });
        }
    };
    seen.count(policy.id, before.opens, state.opens);
    let said = audit::forgotten(&args.keys, url, policy, is_there.then_some(&state)).map_err(ops)?;
    if state.was_never_held {
        let mut told = Compared::default();
        match said {
            Some(Doubt::Contradicted(why)) => seen.faults.push(why),
            Some(Doubt::NotKnown(why)) => told.silent = Some(why),
            None => {}
        }
        return Ok(told);
    }
    // A revocation that came while the log was read has no line in what was read.
    let has_taken = owner::has_taken(&args.keys, &policy.id, url).map_err(ops)?;
    seen.has_lines_of(policy.id, has_taken == Some(true), &before);
    Ok(Compared { silent: None, holds: said.map(|doubt| doubt.why().to_owned()) })
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
