//! `[watch.rotate]`: what `sealion watch` is told to replace, and how that is done. It is `sealion rotate`, with a plan that nobody
//! reads: so it takes none that restarts a server, accepts nothing that a person would have to accept, and stops where that does.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::change::Window;
use ::watch::rotation::{RotationOutcome, RotationRule, Rotator, Wish};
use change_ops::access::ClusterAccess;
use change_ops::roll::{self, Settings};
use model::{Change, Clock, Noun, Plan, SystemClock, Verb};
use site::{Cluster, OpsError, WatchRotateTable};

struct OfInventory {
    days_before: u32,
    inventory: PathBuf,
    cluster: Cluster,
    change: Change,
    window: Option<Window>,
}

/// What the inventory says, if it says something.
///
/// # Errors
/// It says what cannot be done: known from the beginning, and not in the night in which it is due.
pub fn of_inventory(inventory: &Path, cluster: &Cluster) -> Result<Option<Wish>, OpsError> {
    let Some(table) = &cluster.watch.rotate else { return Ok(None) };
    let (rule, nouns, window) = rule(table).map_err(|(why, next)| {
        OpsError::usage(format!("[watch.rotate] in {} cannot be used", inventory.display()), why, next)
    })?;
    // Asked for now: without it nothing can be signed.
    drop(cluster.passphrase(None)?);
    let rotator = OfInventory {
        days_before: rule.days_before,
        inventory: inventory.to_owned(),
        cluster: cluster.clone(),
        change: Change::new(Verb::Rotate, nouns),
        window,
    };
    Ok(Some(Wish { rule, rotator: Arc::new(rotator) }))
}

type Wrong = (String, &'static str);

fn rule(table: &WatchRotateTable) -> Result<(RotationRule, Vec<Noun>, Option<Window>), Wrong> {
    const WHAT: &str =
        "what = [\"clients\"], or of galera, sst, replication and clients those that are to be replaced";
    let mut nouns: Vec<Noun> = Vec::new();
    let mut uses: Vec<&'static str> = Vec::new();
    for word in &table.what {
        let (noun, usage) = match word.as_str() {
            "galera" => (Noun::Galera, "galera"),
            "sst" => (Noun::Sst, "sst"),
            "replication" => (Noun::Replication, "server"),
            "clients" => (Noun::Clients, "server"),
            other => return Err((format!("what has {other:?}, which watch does not replace"), WHAT)),
        };
        if !nouns.contains(&noun) {
            nouns.push(noun);
        }
        if !uses.contains(&usage) {
            uses.push(usage);
        }
    }
    if nouns.is_empty() {
        return Err(("what is empty".into(), WHAT));
    }
    let leaf_days = Settings::default().leaf_days;
    // More than half of that would replace certificates that have just been made.
    let days_before_max = leaf_days / 2;
    if !(1..=days_before_max).contains(&table.days_before) {
        return Err((
            format!(
                "days_before is {}, and it must be from 1 to {days_before_max}: certificates are made for {leaf_days} days",
                table.days_before
            ),
            "days_before = 30",
        ));
    }
    let window = match &table.window {
        None => None,
        Some(text) => Some(text.parse().map_err(|why| {
            (format!("window = {text:?}: {why}"), "window = \"22:00-04:30\", or without it")
        })?),
    };
    let what = table.what.join(",");
    Ok((RotationRule { what, uses, days_before: table.days_before }, nouns, window))
}

impl Rotator for OfInventory {
    fn may_begin(&self) -> bool {
        self.window.is_none_or(|window| window.is_open(self.cluster.local_minute()))
    }

    fn is_open(&self) -> bool {
        roll::is_open(&self.cluster).unwrap_or(true)
    }

    fn rotate(&self) -> RotationOutcome {
        match self.planned() {
            Ok((cluster, plan)) => apply(&cluster, &plan),
            Err(error) => RotationOutcome::Refused(error.to_string()),
        }
    }
}

impl OfInventory {
    /// A certificate ends with its CA: it would be as due as before.
    fn outlives(&self, cluster: &Cluster) -> Result<(), OpsError> {
        let path = cluster.ca_dir.join(trust::CA_CERT_FILE);
        let failed = |why: String| {
            OpsError::cannot_look(
                "when the CA ends cannot be determined, nothing was changed",
                format!("{}: {why}", path.display()),
                "check ca_dir in the inventory, and whether this user may read it",
            )
        };
        let pem = std::fs::read(&path).map_err(|error| failed(error.to_string()))?;
        let chain = trust::inspect(&pem).map_err(|error| failed(error.to_string()))?;
        let ends = chain
            .first()
            .map(|ca| ca.not_after_unix)
            .ok_or_else(|| failed("it has no certificate".into()))?;
        let until_unix = SystemClock.unix_ms() / 1000 + u64::from(self.days_before) * 86_400;
        if ends > i64::try_from(until_unix).unwrap_or(i64::MAX) {
            return Ok(());
        }
        let at = model::clock::rfc3339(u64::try_from(ends).unwrap_or(0).saturating_mul(1000));
        Err(OpsError::Refused(format!(
            "the CA ends on {at}, nothing was changed\n  why:  a certificate that it signs ends no later, so it would be as due as before\n  next: sealion \
             rotate ca"
        )))
    }

    /// Nothing is changed before there is a plan that a machine may carry out.
    fn planned(&self) -> Result<(Cluster, Plan), OpsError> {
        // As it is now: whoever has written another path into it means that.
        let cluster = Cluster::read(&self.inventory)?;
        if cluster.name != self.cluster.name || cluster.watch.rotate != self.cluster.watch.rotate {
            return Err(OpsError::Refused(format!(
                "[watch.rotate] in {} is not as it was when sealion watch was started, nothing was changed\n  why:  it names other certificates, \
                 days or times, another cluster, or nothing\n  next: start sealion watch again",
                self.inventory.display()
            )));
        }
        self.outlives(&cluster)?;
        let plan = roll::plan(&cluster, &Settings::default(), cluster.passphrase(None)?, &self.change)?;
        let restarts = plan.steps.iter().filter(|step| step.restarts_server && !step.no_op);
        let restarts: Vec<String> = restarts.map(|step| step.id.to_string()).collect();
        if !restarts.is_empty() {
            return Err(OpsError::Refused(format!(
                "{} would restart servers, nothing was changed\n  why:  steps {} do, and sealion watch restarts no server\n  next: sealion {}",
                plan.change,
                restarts.join(", "),
                plan.change
            )));
        }
        if !plan.changes_anything() {
            return Err(OpsError::Refused(format!(
                "{}: there is nothing to do, though certificates end soon\n  next: check the plan: sealion plan {}",
                plan.change, plan.change
            )));
        }
        Ok((cluster, plan))
    }
}

fn apply(cluster: &Cluster, plan: &Plan) -> RotationOutcome {
    let started_unix_ms = SystemClock.unix_ms();
    let passphrase = match cluster.passphrase(None) {
        Ok(passphrase) => passphrase,
        Err(error) => return RotationOutcome::Refused(error.to_string()),
    };
    match roll::apply(cluster, &Settings::default(), passphrase, plan, &mut |_| {}) {
        Ok(finished) => {
            let kept = change_ops::history::keep_change(
                cluster,
                &plan.change.to_string(),
                started_unix_ms,
                &finished,
            );
            let unkept = kept.map(|why| format!("this run could not be saved: {why}"));
            let notes: Vec<String> = finished.not_proven.into_iter().chain(unkept).collect();
            RotationOutcome::Done(notes.join("; "))
        }
        Err(OpsError::Refused(why)) => RotationOutcome::Refused(why),
        // A person is at work, and had not written that down when it was asked whether a change is open.
        Err(error @ OpsError::Journal(change::JournalError::Locked { .. })) => {
            RotationOutcome::Refused(error.to_string())
        }
        Err(error) => match roll::open_change(cluster) {
            Ok(Some(journal)) if journal.file_stem().is_some_and(|id| *id == *plan.id) => {
                RotationOutcome::Stopped(error.to_string())
            }
            Ok(_) => RotationOutcome::Refused(error.to_string()),
            Err(unknown) => RotationOutcome::Stopped(format!(
                "{error}\n        whether its change is open cannot be determined: {}",
                unknown.to_string().lines().next().unwrap_or_default()
            )),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(what: &[&str], days_before: u32, window: Option<&str>) -> WatchRotateTable {
        WatchRotateTable {
            what: what.iter().map(|&word| word.to_owned()).collect(),
            days_before,
            window: window.map(str::to_owned),
        }
    }

    #[test]
    fn what_cannot_be_done_is_said_when_watch_begins() {
        let (rule_of, nouns, window) =
            rule(&table(&["clients", "replication"], 30, Some("22:00-04:30"))).expect("it is one");
        assert_eq!((rule_of.uses, nouns), (vec!["server"], vec![Noun::Clients, Noun::Replication]));
        assert!(window.is_some_and(|window| window.is_open(0) && !window.is_open(720)));
        for (table, why) in [
            (table(&[], 30, None), "what is empty"),
            (table(&["ca"], 30, None), "\"ca\""),
            (table(&["clients"], 0, None), "days_before is 0"),
            (table(&["clients"], 199, None), "from 1 to 198"),
            (table(&["clients"], 30, Some("night")), "window = \"night\": "),
        ] {
            let (said, next) = rule(&table).expect_err("it is none");
            assert!(said.contains(why) && !next.is_empty(), "{said}");
        }
    }
}
