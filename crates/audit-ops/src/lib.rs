//! `sealion audit`: servers are asked one after the other, and what they said is judged.

mod fix_plan;
pub mod grants;
mod print_grants;

use std::time::Duration;

use model::{Clock, Finding, Observation, Observations, SystemClock, Verdict};
use net::{Client, ConnectOptions};
use report::shape::{AUDIT_SCHEMA_ID, AuditReport, AuditServerRow, FindingRow};
use site::Cluster;

pub use fix_plan::{fix_plan, fix_report};
pub use print_grants::{FLAVOURS, FlavourRow, print_grants};

/// A statement of an audit takes milliseconds; a server that needs longer than this hangs.
const STATEMENT_MAX: Duration = Duration::from_secs(10);

/// What was seen, for people; [`report`] makes the published shape of it.
#[derive(Debug, Default)]
pub struct Audit {
    pub servers: Vec<AuditServerRow>,
    pub findings: Vec<Finding>,
    pub seen: Observations,
    started_unix_ms: u64,
}

impl Audit {
    /// Whether a server did not answer, or not to the end.
    pub fn is_blind(&self) -> bool {
        self.servers.iter().any(|server| server.why_not.is_some())
    }
}

/// Asks every server of the inventory, or the one that was named.
pub fn audit(cluster: &Cluster) -> Audit {
    let mut audit = Audit { started_unix_ms: SystemClock.unix_ms(), ..Audit::default() };
    let mut all = Vec::new();
    cluster.reach_machines();
    for (row, seen) in cluster.on_each(|spec| server(cluster, spec)) {
        audit.servers.push(row);
        all.extend(seen);
    }
    audit.seen = Observations::from(all);
    audit.findings = rules::judge(&audit.seen);
    audit
}

/// One of them.
fn server(cluster: &Cluster, spec: &server::NodeSpec) -> (AuditServerRow, Vec<Observation>) {
    let login = ConnectOptions { io_timeout: STATEMENT_MAX, ..cluster.login_at(spec) };
    let name = spec.name.to_string();
    let address = login.endpoint.to_string();
    let mut row = AuditServerRow { name: name.clone(), address, ..AuditServerRow::default() };
    let mut client = match Client::connect(&login) {
        Ok(client) => client,
        Err(error) => {
            row.why_not = Some(error.to_string());
            return (row, vec![]);
        }
    };
    row.is_tls = client.tls().is_some();
    match ::audit::audit(&mut client, &name, SystemClock.unix_ms()) {
        Ok(audited) => {
            row.version = Some(audited.version);
            row.flavour = Some(audited.flavour.to_string());
            row.account = Some(audited.account);
            row.why_not = audited.lost.map(|why| why.to_string());
            // A server that is shutting down may not answer to it, and nothing hangs on it.
            let _ = client.quit();
            (row, Vec::from(audited.seen))
        }
        Err(why) => {
            row.why_not = Some(why.to_string());
            (row, vec![])
        }
    }
}

/// The published shape.
pub fn report(audit: &Audit) -> AuditReport {
    let count = |is: fn(&Verdict) -> bool| {
        u64::try_from(audit.findings.iter().filter(|one| is(&one.verdict)).count()).unwrap_or(u64::MAX)
    };
    AuditReport {
        schema: AUDIT_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        started_unix_ms: audit.started_unix_ms,
        ended_unix_ms: SystemClock.unix_ms(),
        servers: audit.servers.clone(),
        failed: count(|verdict| matches!(verdict, Verdict::Fail(_))),
        unknown: count(|verdict| matches!(verdict, Verdict::Unknown(_))),
        passed: count(|verdict| matches!(verdict, Verdict::Pass)),
        not_applicable: count(|verdict| matches!(verdict, Verdict::NotApplicable)),
        findings: audit.findings.iter().map(|one| FindingRow::new(one, &audit.seen, &[])).collect(),
    }
}
