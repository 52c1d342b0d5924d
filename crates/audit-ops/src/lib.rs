//! `sealion audit`: servers are asked one after the other, and what they said is judged.

mod fix_plan;
pub mod grants;
mod leak;
mod print_grants;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ::audit::{Beside, Machine, SearchWanted};
use host::SearchProgress;
use model::{Clock, Finding, Observation, Observations, SystemClock, Verdict};
use net::{Client, ConnectOptions, Connector, SslMode, TlsOptions};
use report::shape::{
    AUDIT_SCHEMA_ID, AuditAcceptedRow, AuditProfileRow, AuditReport, AuditRequirementRow, AuditServerRow,
    FindingRow, PathRow, SeverityWord, VerdictWord,
};
use rules::accept::{Acceptances, Day, Standing};
use rules::map::Stand;
use rules::profiles::Profile;
use server::{NodeSpec, ReadMember, ReadNode, SstOptions};
use site::Cluster;
use trust::CertificateInfo;

pub use fix_plan::{fix_plan, fix_report};
pub use leak::{Wanted, leak_report};
pub use print_grants::{FLAVOURS, FlavourRow, print_grants};

/// A statement of an audit takes milliseconds; a server that needs longer than this hangs.
const STATEMENT_MAX: Duration = Duration::from_secs(10);

/// What was seen, for people; [`report`] makes the published shape of it.
#[derive(Debug, Default)]
pub struct Audit {
    pub servers: Vec<AuditServerRow>,
    pub findings: Vec<Finding>,
    pub seen: Observations,
    has_searched: bool,
    started_unix_ms: u64,
}

/// A search of the machines' files beside the audit.
#[derive(Debug, Clone, Default)]
pub struct SearchOptions {
    /// Directories beyond the usual ones.
    pub dirs: Vec<PathBuf>,
    pub progress: Arc<SearchProgress>,
}

/// Asks every server of the inventory, or the one that was named.
pub fn audit(cluster: &Cluster, search: Option<&SearchOptions>) -> Audit {
    let mut audit =
        Audit { started_unix_ms: SystemClock.unix_ms(), has_searched: search.is_some(), ..Audit::default() };
    let mut all = Vec::new();
    cluster.reach_machines();
    for (row, seen) in cluster.on_each(|spec| server(cluster, spec, search)) {
        audit.servers.push(row);
        all.extend(seen);
    }
    audit.seen = Observations::from(all);
    audit.findings = rules::judge(&audit.seen);
    audit
}

/// One of them.
fn server(
    cluster: &Cluster,
    spec: &server::NodeSpec,
    search: Option<&SearchOptions>,
) -> (AuditServerRow, Vec<Observation>) {
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
    let mut node = cluster.live_node(spec);
    let pem = served(&client, &login, spec.socket.is_some());
    let served = pem.as_ref().map_err(Clone::clone).and_then(|pem| leaf_of(pem));
    let served_pem = pem.ok();
    let (options, sst) = option_files(cluster, &mut node);
    let machine = is_reached(cluster, spec).map(|()| Machine {
        host: node.host(),
        defaults_file: cluster.has_files.then(|| spec.defaults_file.clone()),
        options,
        sst,
    });
    let search = search.map(|one| SearchWanted { dirs: &one.dirs, progress: &one.progress });
    let beside = Beside { served, served_pem, names: names(cluster, spec), machine, search };
    match ::audit::audit(&mut client, &name, SystemClock.unix_ms(), &beside) {
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

/// The certificate that clients are served: that of the session. One over the socket uses no TLS unless it is told to: there another
/// handshake is made, and nobody logs in. Over TCP that would be a fault that the server counts (`max_connect_errors`).
fn served(client: &Client, login: &ConnectOptions, is_over_socket: bool) -> Result<String, String> {
    let pem = if let Some(tls) = client.tls() {
        tls.leaf_pem()
    } else if is_over_socket {
        let login = ConnectOptions { tls: TlsOptions::with_mode(SslMode::Required), ..login.clone() };
        let shown = Connector::new(login).and_then(|connector| connector.handshake());
        let shown = shown.map_err(|error| {
            format!("no certificate was seen: a handshake over the socket failed: {}", error.in_one_line())
        })?;
        shown.leaf_pem()
    } else {
        return Err("no certificate was seen: this session uses no TLS".into());
    };
    pem.ok_or_else(|| "the server sent no certificate".into())
}

fn leaf_of(pem: &str) -> Result<CertificateInfo, String> {
    let leaf = trust::inspect(pem.as_bytes()).map_err(|error| error.to_string())?;
    leaf.into_iter().next().ok_or_else(|| "the server sent no certificate".into())
}

/// What clients call it: as it was named here, and as the inventory has it. Nobody calls it by its socket.
fn names(cluster: &Cluster, spec: &NodeSpec) -> Vec<String> {
    if !cluster.has_files && spec.socket.is_some() {
        return vec![];
    }
    spec.certificate_names().into_iter().map(str::to_owned).collect()
}

/// Whether the machine that would be asked is the server's: an inventory says so, and a socket of this machine does.
fn is_reached(cluster: &Cluster, spec: &NodeSpec) -> Result<(), String> {
    if cluster.has_files || spec.socket.is_some() {
        return Ok(());
    }
    Err("its machine was not asked: run sealion audit there, over the socket (-S), or name the server in an inventory, with ssh where it is \
         on another machine"
        .into())
}

/// What its option files give, and what scripts of state transfers read in them.
fn option_files(
    cluster: &Cluster,
    node: &mut dyn ReadNode,
) -> (Result<server::options::Effective, String>, Result<SstOptions, String>) {
    if !cluster.has_files {
        let why = "which option files it was started with is not known: name the server in an inventory";
        return (Err(why.into()), Err(why.into()));
    }
    let options = node.effective().map_err(|error| error.first_line());
    let sst = SstOptions::of(node).map_err(|error| error.first_line());
    (options, sst)
}

/// The published shape, with what somebody has accepted. A target is a server, or the subject as it is written in findings.
pub fn report(audit: &Audit, acceptances: &Acceptances) -> AuditReport {
    let today = Day::of_unix_ms(SystemClock.unix_ms());
    let accepted = audit
        .findings
        .iter()
        .filter(|one| matches!(one.verdict, Verdict::Fail(_) | Verdict::Unknown(_)))
        .filter_map(|one| {
            let is_of = |name: &&str| {
                one.subject.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            };
            let servers = audit.servers.iter().map(|server| server.name.as_str()).filter(is_of);
            let names: Vec<&str> = servers.chain([one.subject.as_str()]).collect();
            let (accepted, is_expired) = match acceptances.of(&one.rule, &names, today)? {
                Standing::Counts(accepted) => (accepted, false),
                Standing::Expired(accepted) => (accepted, true),
            };
            Some(AuditAcceptedRow {
                rule: one.rule.clone(),
                subject: one.subject.clone(),
                reason: accepted.reason.clone(),
                until: accepted.until.to_string(),
                is_expired,
            })
        })
        .collect();
    let mut report = AuditReport {
        schema: AUDIT_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        started_unix_ms: audit.started_unix_ms,
        ended_unix_ms: SystemClock.unix_ms(),
        servers: audit.servers.clone(),
        failed: 0,
        unknown: 0,
        passed: 0,
        not_applicable: 0,
        map: map(audit),
        not_looked_at: rules::map::not_looked_at(audit.has_searched)
            .map(|(what, by)| format!("{what}: {by}"))
            .collect(),
        findings: audit.findings.iter().map(|one| FindingRow::new(one, &audit.seen, &[])).collect(),
        accepted,
        baseline: None,
        profile: None,
    };
    count(&mut report);
    report
}

/// Leaves the findings that bear on a standard, in its order. The map stays what it is: it was made of all of them.
pub fn choose(profile: &Profile, audit: &mut Audit, report: &mut AuditReport) {
    let rows = std::mem::take(&mut audit.findings).into_iter().zip(std::mem::take(&mut report.findings));
    let mut chosen: Vec<_> =
        rows.filter_map(|(finding, row)| Some((profile.place(&finding.rule)?, finding, row))).collect();
    // Within a requirement they stay in their order: the worst first.
    chosen.sort_by_key(|one| one.0);
    let mut requirements: Vec<AuditRequirementRow> = Vec::new();
    for (_, finding, row) in chosen {
        let requirement = profile.requirement(&finding.rule).unwrap_or_default();
        if requirements.iter().all(|one| one.rule != finding.rule) {
            requirements
                .push(AuditRequirementRow { rule: finding.rule.clone(), requirement: requirement.into() });
        }
        audit.findings.push(finding);
        report.findings.push(row);
    }
    report.accepted.retain(|one| profile.place(&one.rule).is_some());
    count(report);
    report.profile =
        Some(AuditProfileRow { name: profile.name.into(), standard: profile.standard.into(), requirements });
}

fn count(report: &mut AuditReport) {
    let of = |word: VerdictWord| {
        let rows = report.findings.iter().filter(|one| one.verdict == word);
        u64::try_from(rows.count()).unwrap_or(u64::MAX)
    };
    (report.failed, report.unknown) = (of(VerdictWord::Fail), of(VerdictWord::Unknown));
    (report.passed, report.not_applicable) = (of(VerdictWord::Pass), of(VerdictWord::NotApplicable));
}

/// Every path on every server. Of one that was not audited, or not to the end, no path is called protected or absent.
fn map(audit: &Audit) -> Vec<PathRow> {
    let mut rows = Vec::new();
    for path in rules::map::PATHS {
        for server in &audit.servers {
            let mut stand = path.stand(&server.name, &audit.findings);
            if server.why_not.is_some() && !matches!(stand, Stand::Clear(_)) {
                stand = Stand::Unknown("it was not audited, or not to the end".into());
            }
            rows.push(PathRow {
                server: server.name.clone(),
                path: path.name.into(),
                kind: path.kind.word().into(),
                stand: stand.word().into(),
                why: stand.why().into(),
                rules: path.rules().map(str::to_owned).collect(),
            });
        }
    }
    rows
}

/// How an audit ends that somebody takes for a gate: 1 for a finding at or above `limit`, 3 for one that could not be judged, or a
/// server that did not answer. What was accepted, or was in the baseline, does not count.
pub fn gate(report: &AuditReport, limit: Option<SeverityWord>) -> u8 {
    let reaches = |word: VerdictWord| {
        report.findings.iter().any(|one| {
            one.verdict == word
                && limit.is_some_and(|limit| one.severity >= limit)
                && report.acceptance(one).is_none()
                && report.is_new(one)
        })
    };
    let is_blind = report.servers.iter().any(|server| server.why_not.is_some());
    if reaches(VerdictWord::Fail) {
        1
    } else if is_blind || reaches(VerdictWord::Unknown) {
        3
    } else {
        0
    }
}

/// An earlier audit, as `--format json` has written it.
///
/// # Errors
/// It cannot be read, or is something else.
pub fn read_result(path: &std::path::Path) -> Result<AuditReport, site::OpsError> {
    let refuse = |why: String| {
        site::OpsError::usage(
            format!("cannot read the audit {}", path.display()),
            why,
            "write one with sealion audit --format json",
        )
    };
    let bytes = std::fs::read(path).map_err(|error| refuse(error.to_string()))?;
    let report: AuditReport = serde_json::from_slice(&bytes).map_err(|error| refuse(error.to_string()))?;
    if report.schema != AUDIT_SCHEMA_ID {
        return Err(refuse(format!("its schema is \"{}\"", report.schema.escape_default())));
    }
    Ok(report)
}
