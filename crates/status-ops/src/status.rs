//! `sealion status`: per node what is configured, what is effective, and what was seen.

use std::collections::BTreeMap;
use std::net::{IpAddr, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::{Clock, Finding, Look, LookError};
use model::{LinkKind, LinkSight, Observations, Seen, Source, SystemClock, Value, WireLook};
use serde::{Deserialize, Serialize};
use server::{GaleraFacts, GaleraState, LiveNode, NodeView, ProviderOptions, ReadNode};

use crate::sniff::WireEye;
use site::OpsError;
use site::inventory::{CaptureBy, Cluster};

const PEM_BYTES_MAX: u64 = 1024 * 1024;
const SECONDS_PER_DAY: i64 = 86_400;
/// To see whether a server can be reached at all; on one network it is a few milliseconds.
const REACH: Duration = Duration::from_secs(1);

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
    /// Servers for which a part of the rules does not apply, and why.
    pub not_applicable: Vec<String>,
}

/// Does the one server answer that somebody named? Without it there is nothing that a table could show.
///
/// # Errors
/// `CannotLook`: what was tried, why it failed, what to do.
pub fn reach(cluster: &Cluster) -> Result<(), OpsError> {
    let Some(spec) = cluster.nodes.first() else { return Ok(()) };
    let Err(error) = LiveNode::new(spec.clone(), cluster.login_at(spec)).view() else { return Ok(()) };
    let text = error.to_string();
    let part = |mark: &str| {
        let from = text.find(mark)? + mark.len();
        let rest = text.get(from..)?;
        Some(rest.lines().next().unwrap_or_default().trim().to_owned())
    };
    let first = text.lines().next().unwrap_or_default();
    Err(OpsError::cannot_look(
        format!("{} cannot be looked at", spec.name),
        part("why:").map_or_else(|| first.to_owned(), |why| format!("{first}: {why}")),
        part("next:")
            .unwrap_or_else(|| "check host, port, user and password, as for mariadb or mysql".into()),
    ))
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
            Ok(mut sights) => {
                name_blindness(cluster, &mut sights);
                sights
            }
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
    status.cluster.os_class = if cluster.has_files { site::machine::os_class() } else { NOT_READ.to_owned() };
    for spec in &cluster.nodes {
        let mut node = LiveNode::new(spec.clone(), cluster.login_at(spec));
        let name = spec.name.to_string();
        match node.view() {
            Ok(view) => {
                if let Some(why) = view.not_galera() {
                    status.not_applicable.push(format!(
                        "{name} is not a Galera node ({why}): the rules for Galera and SST do not apply to it"
                    ));
                } else if status.cluster.address.is_empty() {
                    status.cluster.galera_port = spec.galera_port;
                    view.variable("wsrep_cluster_address")
                        .unwrap_or("")
                        .clone_into(&mut status.cluster.address);
                    status.cluster.size = view.cluster_size();
                    status.cluster.arbitrators = view.arbitrators();
                    view.status("wsrep_provider_version")
                        .unwrap_or("")
                        .clone_into(&mut status.cluster.galera_version);
                    status.cluster.galera_version = galera_release(&status.cluster.galera_version);
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

/// Where nothing flowed on a link because the capture cannot see it at all, that is said in place of "no packets were captured".
fn name_blindness(cluster: &Cluster, sights: &mut [LinkSight]) {
    let CaptureBy::Packets { iface } = &cluster.capture else { return };
    let mut known: BTreeMap<String, Option<String>> = BTreeMap::new();
    for sight in sights.iter_mut().filter(|sight| sight.payload_bytes == 0) {
        let Seen::Unknown(why) = &mut sight.seen else { continue };
        let of_link = |node: &&server::NodeSpec| {
            [&sight.link.a, &sight.link.b].iter().any(|end| **end == *node.name.as_str())
        };
        let Some(node) = cluster.nodes.iter().find(of_link) else { continue };
        let blind =
            known.entry(node.name.to_string()).or_insert_with(|| why_unseen(iface, &node.address, node.port));
        if let Some(blind) = blind {
            why.clone_from(blind);
        }
    }
}

/// Why a capture on `iface` shows nothing of this server; `None` where it should.
fn why_unseen(iface: &str, address: &str, port: u16) -> Option<String> {
    let cannot = |why: String| Some(format!("the capture on {iface} cannot see this traffic: {why}"));
    let resolved = (address, port).to_socket_addrs().ok().and_then(|mut all| all.next());
    let Some(resolved) = resolved else { return cannot(format!("the name {address} is unknown here")) };
    let ours: Vec<_> = nix::ifaddrs::getifaddrs().map(Iterator::collect).unwrap_or_default();
    let is_loopback = |one: &&nix::ifaddrs::InterfaceAddress| {
        one.interface_name == iface && one.flags.contains(nix::net::if_::InterfaceFlags::IFF_LOOPBACK)
    };
    let is_local = resolved.ip().is_loopback()
        || ours.iter().any(|one| {
            let Some(address) = &one.address else { return false };
            let v4 = address.as_sockaddr_in().map(|v4| IpAddr::V4(v4.ip()));
            let v6 = address.as_sockaddr_in6().map(|v6| IpAddr::V6(v6.ip()));
            v4.or(v6) == Some(resolved.ip())
        });
    if !is_local && ours.iter().any(|one| is_loopback(&one)) {
        return cannot(format!(
            "{address} is another machine. Name the interface on the way to it (capture_interface in the inventory), or run this there"
        ));
    }
    match TcpStream::connect_timeout(&resolved, REACH) {
        Ok(_) => None,
        Err(error) => cannot(format!(
            "{resolved} cannot be reached from here ({error}), so it is in another network. For a lab: sealion lab exec -- sealion status"
        )),
    }
}

/// The provider calls itself "4.23(rXXXX)"; its release is 26.4.23, after the version of the wsrep API (25 for Galera 3).
fn galera_release(provider_version: &str) -> String {
    let version = provider_version.split('(').next().unwrap_or_default().trim();
    match version.split('.').next() {
        Some("4") => format!("26.{version}"),
        Some("3") => format!("25.{version}"),
        _ => version.to_owned(),
    }
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
    // What is served may be older than what stands in the file, and counts until somebody reloads it.
    let is_galera = view.not_galera().is_none();
    let leaf_end = |pem: String| trust::inspect(pem.as_bytes()).ok()?.first().map(|leaf| leaf.not_after_unix);
    let served_galera =
        if is_galera && galera_key.is_some() { node.served_galera_leaf().and_then(leaf_end) } else { None };
    let served_client = match view.client_certificate_not_after_unix() {
        Some(end) => Some(end),
        None if view.client_tls() == Some(true) => {
            server::ReadNode::client_leaf(node).ok().and_then(leaf_end)
        }
        None => None,
    };
    let galera = Row {
        what: "galera".into(),
        configured: of_files(effective.is_some(), in_file),
        effective: state.to_string(),
        seen: seen_of(sights, LinkKind::Galera, &name),
        not_after_unix: served_galera
            .or_else(|| galera_cert.as_deref().and_then(|path| not_after(node, path))),
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
        effective: view.client_tls().map_or("unknown", |offers| words(offers, requires)).into(),
        seen: seen_of(sights, LinkKind::Client, &name),
        key: path(view.variable("ssl_key")),
        // What the server shows may be older than what stands in the file.
        not_after_unix: served_client
            .or_else(|| client_cert.as_deref().and_then(|path| not_after(node, path))),
        certificate: client_cert,
    };

    let mut note = |fact: &str, value: Value, source: Source, how: &str| {
        seen.note(name.clone(), fact, value, source, now, how);
    };
    if is_galera {
        let word =
            if let GaleraState::Other(_) = state { state.to_string() } else { galera.effective.clone() };
        note(
            "galera.effective",
            Value::Text(word),
            Source::Sql,
            "SHOW GLOBAL VARIABLES LIKE 'wsrep_provider_options'",
        );
    }
    let mut differ = file_options.differences(&live);
    if in_file == "plain" && state != GaleraState::Plain {
        differ.push("socket.ssl".into());
    }
    let value = if effective.is_some() {
        Value::Text(differ.join(", "))
    } else {
        Value::Unknown("the option files cannot be read".into())
    };
    if is_galera {
        note("galera.file_differs", value, Source::File, "sealion config print");
    }
    note(
        "client.offered",
        view.client_tls().map_or_else(|| Value::Unknown("the server does not say".into()), Value::Bool),
        Source::Sql,
        if view.capabilities().have_ssl {
            "SHOW GLOBAL VARIABLES LIKE 'have_ssl'"
        } else {
            "SHOW GLOBAL STATUS LIKE 'Ssl_server_not_after'"
        },
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
    if is_galera {
        note("sst.configured", value, Source::File, "my_print_defaults sst");
    }
    let rows = if is_galera { vec![galera, sst_row, client.clone()] } else { vec![client.clone()] };
    if has_files {
        let mut missing: Vec<String> = Vec::new();
        for row in &rows {
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
    // The file is what the next start serves.
    let in_files = rows.iter().filter_map(|row| not_after(node, row.certificate.as_deref()?));
    let nearest = rows.iter().filter_map(|row| row.not_after_unix).chain(in_files).min();
    if let Some(end) = nearest {
        let days = (end - i64::try_from(now / 1000).unwrap_or(0)) / SECONDS_PER_DAY;
        let is_served = [served_galera, served_client].contains(&Some(end));
        note(
            "cert.expires_in_days",
            Value::Number(days),
            if is_served { Source::Wire } else { Source::File },
            if is_served {
                "openssl s_client -starttls mysql -connect HOST:3306 (and HOST:4567 for Galera) | openssl x509 -noout -enddate"
            } else {
                "openssl x509 -noout -enddate -in FILE"
            },
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
    let state = if is_galera {
        format!(
            "{}, {} of {}",
            view.status("wsrep_local_state_comment").unwrap_or("?"),
            view.cluster_status(),
            view.cluster_size()
        )
    } else {
        "not a Galera node".into()
    };
    NodeStatus {
        node: name.clone(),
        address: node.spec().address.clone(),
        version: Some(view.version().to_owned()),
        state,
        rows,
        why_not: None,
    }
}

/// Whether transfers use TLS. Switches in the server's groups and in [sst] are both read by the scripts, and which one counts
/// depends on the script's version: one that turns TLS off is never overruled here.
///
/// # Source
/// wsrep_sst_rsync and wsrep_sst_mariabackup of 10.11.19: `ssl-mode` and `encrypt` of `--mysqld|sst`, the first that is set;
/// `tkey`, `tcert` of [sst], else `ssl-key`, `ssl-cert`. Seen: rsync in cleartext with `loose-ssl-mode=DISABLED` in [mysqld].
fn sst_configured(
    method: &str,
    sst: &dyn Fn(&str) -> Option<String>,
    server: &dyn Fn(&str) -> Option<String>,
) -> bool {
    let both =
        |key: &str| [server(key), sst(key)].into_iter().flatten().filter(|value| !value.trim().is_empty());
    let pair = sst("tkey").is_some() && sst("tcert").is_some();
    let own = both("ssl_key").next().is_some() && both("ssl_cert").next().is_some();
    let is_disabled = both("ssl_mode").any(|mode| mode.trim().eq_ignore_ascii_case("disabled"));
    let has_mode = both("ssl_mode").next().is_some() && !is_disabled;
    let numbers: Vec<u8> = both("encrypt").map(|number| number.trim().parse().unwrap_or(0)).collect();
    let encrypt = !numbers.is_empty() && numbers.iter().all(|number| *number >= 2);
    match method {
        "mariabackup" => {
            (encrypt || (has_mode && numbers.iter().all(|number| *number == 0))) && (pair || own)
        }
        _ => !is_disabled && (pair || own),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_that_turns_sst_encryption_off_counts_wherever_it_stands() {
        let check = |method: &str, sst: &[(&str, &str)], server: &[(&str, &str)]| {
            let get = |all: &[(&str, &str)], key: &str| {
                all.iter().find(|(name, _)| *name == key).map(|(_, value)| (*value).to_owned())
            };
            sst_configured(method, &|key| get(sst, key), &|key| get(server, key))
        };
        let files = [("tkey", "k"), ("tcert", "c")];
        let with = |more: &[(&'static str, &'static str)]| [&files[..], more].concat();
        assert!(check("rsync", &files, &[]));
        assert!(check("rsync", &[], &[("ssl_key", "k"), ("ssl_cert", "c")]));
        assert!(!check("rsync", &files, &[("ssl_mode", "disabled")]));
        assert!(!check("rsync", &with(&[("ssl_mode", "DISABLED")]), &[]));
        assert!(!check("mariabackup", &files, &[]));
        assert!(check("mariabackup", &with(&[("ssl_mode", "VERIFY_CA")]), &[]));
        assert!(check("mariabackup", &with(&[("encrypt", "4")]), &[]));
        assert!(!check("mariabackup", &with(&[("encrypt", "3")]), &[("encrypt", "0")]));
        assert!(!check("mariabackup", &with(&[("ssl_mode", "REQUIRED")]), &[("ssl_mode", "DISABLED")]));
    }
}
