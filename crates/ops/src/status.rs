//! `sealion status`: per node what is configured, what is effective, and what was seen.

use std::path::{Path, PathBuf};

use model::{Clock, Finding, Look, LookError};
use model::{LinkKind, LinkSight, Observations, Seen, Source, SystemClock, Value, WireLook};
use serde::{Deserialize, Serialize};
use server::{GaleraState, LiveNode, NodeView, ProviderOptions, ReadNode};

use crate::inventory::Cluster;
use crate::sniff::WireEye;

const PEM_BYTES_MAX: u64 = 1024 * 1024;
const SECONDS_PER_DAY: i64 = 86_400;

/// One line of a node's table: one kind of traffic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    pub what: String,
    pub configured: String,
    pub effective: String,
    pub seen: String,
    pub key: Option<PathBuf>,
    pub certificate: Option<PathBuf>,
    pub not_after_unix: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeStatus {
    pub node: String,
    pub address: String,
    /// `None` when it did not answer.
    pub version: Option<String>,
    pub state: String,
    pub rows: Vec<Row>,
    pub why_not: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterStatus {
    pub name: String,
    pub address: String,
    pub galera_port: u16,
    pub arbitrators: usize,
    pub size: usize,
    pub galera_version: String,
    pub os_class: String,
}

/// What one look found.
#[derive(Debug, Clone, Default)]
pub struct Status {
    pub cluster: ClusterStatus,
    pub nodes: Vec<NodeStatus>,
    pub sights: Vec<LinkSight>,
    pub observations: Observations,
    pub findings: Vec<Finding>,
    pub not_looked_at: Vec<String>,
}

/// Looks at every node, and on the wire for `look` (zero: not). Canaries are written only with `canaries`.
pub fn status(cluster: &Cluster, look_ms: u64, canaries: bool) -> Status {
    let mut not_looked_at = Vec::new();
    let sights = if look_ms == 0 {
        not_looked_at.push("the wire: not asked for (--look-ms 0)".to_owned());
        Vec::new()
    } else {
        let what = WireLook {
            settle: std::time::Duration::from_millis(look_ms),
            canaries,
            nodes: cluster.nodes.iter().map(|node| node.name.to_string()).collect(),
        };
        not_looked_at.extend(cluster.capture.blind_spot().map(str::to_owned));
        match (WireEye { cluster }).wire(&what) {
            Ok(sights) => sights,
            Err(LookError::NotPermitted { why, next }) => {
                not_looked_at.push(format!("the wire: {why}; {next}"));
                Vec::new()
            }
            Err(error) => {
                not_looked_at.push(format!("the wire: {error}"));
                Vec::new()
            }
        }
    };
    with_sights(cluster, sights, not_looked_at)
}

/// The same, with links that were seen in another capture (the demo's own, during SST and IST).
pub fn with_sights(cluster: &Cluster, sights: Vec<LinkSight>, not_looked_at: Vec<String>) -> Status {
    let now = SystemClock.unix_ms();
    let mut seen = Observations::default();
    let mut status = Status { not_looked_at, ..Status::default() };
    status.cluster.name.clone_from(&cluster.name);
    // Of the machine that this runs on: said only where the nodes are here too.
    status.cluster.os_class = if cluster.has_files { os_class() } else { NOT_READ.to_owned() };
    status.cluster.galera_port = cluster.nodes.first().map_or(0, |node| node.galera_port);
    for spec in &cluster.nodes {
        let mut node = LiveNode::new(spec.clone(), cluster.login_at(spec));
        let name = spec.name.to_string();
        match node.view() {
            Ok(view) => {
                if status.cluster.address.is_empty() {
                    view.variable("wsrep_cluster_address")
                        .unwrap_or("")
                        .clone_into(&mut status.cluster.address);
                    status.cluster.size = view.cluster_size();
                    status.cluster.arbitrators = view.arbitrators();
                    view.status("wsrep_provider_version")
                        .unwrap_or("")
                        .clone_into(&mut status.cluster.galera_version);
                    let size = i64::try_from(view.cluster_size()).unwrap_or(i64::MAX);
                    seen.note(
                        cluster.name.clone(),
                        "cluster.size",
                        Value::Number(size),
                        Source::Sql,
                        now,
                        "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_size'",
                    );
                }
                status.nodes.push(node_status(&mut node, &view, cluster.has_files, &sights, &mut seen, now));
            }
            Err(error) => {
                status
                    .not_looked_at
                    .push(format!("{name}: {}", error.to_string().lines().next().unwrap_or("")));
                for fact in ["galera.effective", "client.offered", "client.required", "sst.configured"] {
                    seen.note(
                        name.clone(),
                        fact,
                        Value::Unknown("the node did not answer".into()),
                        Source::Sql,
                        now,
                        "SHOW GLOBAL VARIABLES",
                    );
                }
                status.nodes.push(NodeStatus {
                    node: name,
                    address: spec.address.clone(),
                    version: None,
                    state: "no answer".into(),
                    rows: vec![],
                    why_not: Some(error.to_string()),
                });
            }
        }
    }
    for sight in &sights {
        let value = match &sight.seen {
            Seen::Sealed => Value::Text("sealed".into()),
            Seen::Plain => Value::Text(format!("plain, {} canaries", sight.canaries)),
            Seen::Unknown(why) => Value::Unknown(why.clone()),
        };
        seen.note(
            sight.link.to_string(),
            format!("wire.{}", sight.link.kind),
            value,
            Source::Wire,
            now,
            format!("{}; {}", sight.method, cluster.capture.see_again()),
        );
    }
    status.findings = rules::judge(&seen);
    status.observations = seen;
    status.sights = sights;
    status
}

pub fn os_class() -> String {
    let text = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    text.lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))
        .map_or_else(|| "unknown".into(), |name| name.trim_matches('"').to_owned())
}

fn seen_of(sights: &[LinkSight], kind: LinkKind, node: &str) -> String {
    let mine: Vec<&LinkSight> = sights
        .iter()
        .filter(|sight| sight.link.kind == kind && (sight.link.a == node || sight.link.b == node))
        .collect();
    if mine.is_empty() {
        return "not looked".into();
    }
    if mine.iter().any(|sight| sight.seen == Seen::Plain) {
        return "plain".into();
    }
    if mine.iter().all(|sight| sight.seen == Seen::Sealed) {
        return "sealed".into();
    }
    "unknown".into()
}

/// In a column, of files that are on another machine or cannot be read.
const NOT_READ: &str = "not read";

fn not_after(node: &LiveNode, path: &Path) -> Option<i64> {
    let pem = node.host().read(path, PEM_BYTES_MAX).ok()??;
    trust::inspect(&pem).ok()?.first().map(|leaf| leaf.not_after_unix)
}

fn node_status(
    node: &mut LiveNode,
    view: &NodeView,
    has_files: bool,
    sights: &[LinkSight],
    seen: &mut Observations,
    now: u64,
) -> NodeStatus {
    let name = node.name().to_string();
    let effective = if has_files { node.effective().ok() } else { None };
    let sst = if has_files { node.effective_sst().ok() } else { None };
    // What stands in files that were not read is not said to be one or the other.
    let of_files = |read: bool, word: &str| if read { word.to_owned() } else { NOT_READ.to_owned() };
    let not_after = |node: &LiveNode, path: &Path| if has_files { not_after(node, path) } else { None };
    let setting = |key: &str| effective.as_ref().and_then(|all| all.effective(key)?.value.clone());
    let file_options = ProviderOptions::parse(&setting("wsrep_provider_options").unwrap_or_default());
    let in_file = {
        let yes = |key: &str| {
            file_options.get(key).is_some_and(|value| value.eq_ignore_ascii_case("yes") || value == "1")
        };
        match (yes("socket.ssl") || file_options.get("socket.ssl_key").is_some(), yes("socket.dynamic")) {
            (false, false) => "plain",
            (true, true) => "dynamic",
            (true, false) => "strict",
            (false, true) => "mixed up",
        }
    };
    let state = view.galera_state();
    let live = view.provider_options();
    let path = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(PathBuf::from);
    let galera_key = path(live.get("socket.ssl_key"));
    let galera_cert = path(live.get("socket.ssl_cert"));
    let galera = Row {
        what: "galera".into(),
        configured: of_files(effective.is_some(), in_file),
        effective: state.to_string(),
        seen: seen_of(sights, LinkKind::Galera, &name),
        not_after_unix: galera_cert.as_deref().and_then(|path| not_after(node, path)),
        key: galera_key.clone(),
        certificate: galera_cert,
    };

    let sst_get = |key: &str| sst.as_ref().and_then(|all| all.effective(key)?.value.clone());
    let sst_tls = sst_configured(view.sst_method(), &sst_get, &setting);
    let sst_cert = path(sst_get("tcert").as_deref());
    let sst_row = Row {
        what: format!("sst ({})", view.sst_method()),
        configured: of_files(sst.is_some(), if sst_tls { "TLS" } else { "plain" }),
        // SST scripts read the files at each transfer: what is configured is what will be.
        effective: of_files(sst.is_some(), if sst_tls { "TLS" } else { "plain" }),
        seen: seen_of(sights, LinkKind::Sst, &name),
        key: path(sst_get("tkey").as_deref()),
        not_after_unix: sst_cert.as_deref().and_then(|path| not_after(node, path)),
        certificate: sst_cert,
    };

    let client_cert = path(view.variable("ssl_cert"));
    let requires = view.requires_secure_transport();
    let words = |offers: bool, requires: bool| match (offers, requires) {
        (true, true) => "required",
        (true, false) => "offered",
        (false, _) => "plain",
    };
    let client = Row {
        what: "client".into(),
        configured: of_files(
            effective.is_some(),
            words(
                setting("ssl_cert").is_some(),
                setting("require_secure_transport")
                    .is_some_and(|value| matches!(value.to_ascii_uppercase().as_str(), "ON" | "1")),
            ),
        ),
        effective: words(view.offers_client_tls(), requires).into(),
        seen: seen_of(sights, LinkKind::Client, &name),
        key: path(view.variable("ssl_key")),
        not_after_unix: client_cert.as_deref().and_then(|path| not_after(node, path)),
        certificate: client_cert,
    };

    let mut note = |fact: &str, value: Value, source: Source, how: &str| {
        seen.note(name.clone(), fact, value, source, now, how);
    };
    let word = if let GaleraState::Other(_) = state { state.to_string() } else { galera.effective.clone() };
    note(
        "galera.effective",
        Value::Text(word),
        Source::Sql,
        "SHOW GLOBAL VARIABLES LIKE 'wsrep_provider_options'",
    );
    let mut differ = file_options.differences(&live);
    if in_file == "plain" && state != GaleraState::Plain {
        differ.push("socket.ssl".into());
    }
    let value = if effective.is_some() {
        Value::Text(differ.join(", "))
    } else {
        Value::Unknown("the option files cannot be read".into())
    };
    note("galera.file_differs", value, Source::File, "sealion config print");
    note(
        "client.offered",
        Value::Bool(view.offers_client_tls()),
        Source::Sql,
        "SHOW GLOBAL VARIABLES LIKE 'have_ssl'",
    );
    note(
        "client.required",
        Value::Bool(requires),
        Source::Sql,
        "SHOW GLOBAL VARIABLES LIKE 'require_secure_transport'",
    );
    let value = if sst.is_some() {
        Value::Bool(sst_tls)
    } else {
        Value::Unknown("its option files were not read".into())
    };
    note("sst.configured", value, Source::File, "my_print_defaults sst");
    if has_files {
        let mut missing: Vec<String> = Vec::new();
        for row in [&galera, &sst_row, &client] {
            for path in [&row.key, &row.certificate].into_iter().flatten() {
                if node.host().facts(path).is_ok_and(|facts| facts.is_none()) {
                    missing.push(path.display().to_string());
                }
            }
        }
        missing.sort();
        missing.dedup();
        let value = if missing.is_empty() {
            Value::Absent
        } else {
            Value::Text(format!("gone: {}", missing.join(", ")))
        };
        note("tls.files_missing", value, Source::Host, "ls -l FILE");
    }
    let nearest = [&galera, &sst_row, &client].iter().filter_map(|row| row.not_after_unix).min();
    if let Some(not_after) = nearest {
        let days = (not_after - i64::try_from(now / 1000).unwrap_or(0)) / SECONDS_PER_DAY;
        note(
            "cert.expires_in_days",
            Value::Number(days),
            Source::File,
            "openssl x509 -noout -enddate -in FILE",
        );
    }
    if let Some(key) = galera_key.or_else(|| client.key.clone())
        && has_files
        && let Ok(Some(facts)) = node.host().facts(&key)
    {
        note("key.others_can_read", Value::Bool(facts.mode & 0o077 != 0), Source::Host, "stat FILE");
        if let Some(process) = node.process() {
            note("key.owner_is_server", Value::Bool(process.uid == facts.uid), Source::Host, "stat FILE");
        }
    }
    let state = format!(
        "{}, {} of {}",
        view.status("wsrep_local_state_comment").unwrap_or("?"),
        view.cluster_status(),
        view.cluster_size()
    );
    NodeStatus {
        node: name.clone(),
        address: node.spec().address.clone(),
        version: Some(view.version().to_owned()),
        state,
        rows: vec![galera, sst_row, client],
        why_not: None,
    }
}

/// # Source
/// wsrep_sst_rsync takes [sst] tkey/tcert, else the server's own ssl_*; wsrep_sst_mariabackup needs a mode (read in
/// the scripts of 10.11, tried on 10.11.19).
fn sst_configured(
    method: &str,
    sst: &dyn Fn(&str) -> Option<String>,
    server: &dyn Fn(&str) -> Option<String>,
) -> bool {
    let pair = sst("tkey").is_some() && sst("tcert").is_some();
    let own = server("ssl_key").is_some() && server("ssl_cert").is_some();
    let mode = sst("ssl_mode").is_some_and(|mode| !mode.eq_ignore_ascii_case("disabled"));
    let encrypt =
        sst("encrypt").and_then(|number| number.parse::<u8>().ok()).is_some_and(|number| number >= 2);
    match method {
        "mariabackup" => (mode || encrypt) && (pair || own),
        _ => pair || own,
    }
}
