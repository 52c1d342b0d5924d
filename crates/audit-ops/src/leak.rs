//! What a thief could read, by the findings of an audit, in its published shape.

use std::str::FromStr;

use model::{Clock, Finding, SystemClock};
use report::shape::{FindingRow, LEAK_SCHEMA_ID, LeakReport, LeakedRow};
use rules::leak::{Leak, accounts, is_named, leaked};
use site::OpsError;

use crate::Audit;

/// A leak as it is typed: `disk`, or `app-account=NAME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    pub leak: Leak,
    pub account: Option<String>,
}

impl FromStr for Wanted {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (word, account) = match text.split_once('=') {
            Some((word, account)) => (word, Some(account.to_owned())),
            None => (text, None),
        };
        let Some(leak) = Leak::ALL.into_iter().find(|leak| leak.word() == word) else {
            let words: Vec<&str> = Leak::ALL.into_iter().map(Leak::word).collect();
            return Err(format!("it is one of {} (app-account=NAME)", words.join(", ")));
        };
        match (leak, account) {
            (Leak::AppAccount, Some(account)) if !account.is_empty() => {
                Ok(Self { leak, account: Some(account) })
            }
            (Leak::AppAccount, _) => {
                Err("name the account: app-account=web, or app-account=web@10.0.0.%".into())
            }
            (_, Some(_)) => Err(format!("{leak} takes no name")),
            (_, None) => Ok(Self { leak, account: None }),
        }
    }
}

/// What whoever has it could read.
///
/// # Errors
/// No audited server has the account, or no account could be read.
pub fn leak_report(audit: &Audit, wanted: &Wanted) -> Result<LeakReport, OpsError> {
    let account = wanted.account.as_deref();
    if let Some(typed) = account {
        let known = accounts(&audit.findings);
        let is_asked = audit.servers.iter().any(|server| server.why_not.is_none());
        if is_asked && known.is_empty() {
            return Err(OpsError::cannot_look(
                format!("whether there is an account {typed} cannot be determined"),
                "the account that asks sees no account of the audited servers",
                "sealion audit --print-grants prints what it needs",
            ));
        }
        if is_asked && !known.iter().any(|one| is_named(one, typed)) {
            return Err(OpsError::usage(
                format!("there is no account {typed} on the audited servers"),
                format!("there are {}", known.join(", ")),
                "name a user, or user@host as the server has it",
            ));
        }
    }
    let all = leaked(&audit.findings, wanted.leak, account);
    let rows = |found: Vec<(&Finding, &str)>| {
        let row = |(finding, reads): (&Finding, &str)| LeakedRow {
            reads: reads.to_owned(),
            because: FindingRow::new(finding, &audit.seen, &[]),
        };
        found.into_iter().map(row).collect()
    };
    Ok(LeakReport {
        schema: LEAK_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        started_unix_ms: audit.started_unix_ms,
        ended_unix_ms: SystemClock.unix_ms(),
        leak: wanted.leak.word().into(),
        account: wanted.account.clone(),
        servers: audit.servers.clone(),
        reads: rows(all.reads),
        unknown: rows(all.unknown),
        held: u64::try_from(all.held).unwrap_or(u64::MAX),
        always: wanted.leak.always().into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leak_is_typed_with_a_name_where_it_needs_one_and_with_none_elsewhere() {
        let typed = |text: &str| text.parse::<Wanted>();
        assert_eq!(typed("disk"), Ok(Wanted { leak: Leak::Disk, account: None }));
        let web = Wanted { leak: Leak::AppAccount, account: Some("web@%".into()) };
        assert_eq!(typed("app-account=web@%"), Ok(web));
        for (text, words) in [
            ("app-account", "name the account"),
            ("app-account=", "name the account"),
            ("disk=n1", "no name"),
            ("cat", "one of disk"),
        ] {
            assert!(typed(text).expect_err(text).contains(words), "{text}");
        }
    }
}
