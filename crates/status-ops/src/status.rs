//! `sealion status`: per node what is configured, what is effective, and what was seen.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::{Clock, Fact, Finding, Look, LookError, facts};
use model::{LinkKind, LinkSight, Observation, Observations, Seen, Source, SystemClock, Value, WireLook};
use serde::{Deserialize, Serialize};
use server::cluster_address::{self, Listing};
use server::{
    Channel, GaleraFacts, GaleraState, LiveNode, Machine, NodeView, OfferAnswer, ProviderOptions, ReadMember,
    ReadNode, SqlPort, SstOptions, SstTls, ThreadState, TlsOffer, TlsRules,
};

use crate::arbitrators::arbitrator_status;
use crate::old_sessions;
use crate::sniff::WireEye;
use site::OpsError;
use site::inventory::Cluster;
use trust::TrustError;
use zeroize::Zeroizing;

const EXPIRES: &Fact = &facts::server::CERT_EXPIRES_IN_DAYS;
pub(crate) const PEM_BYTES_MAX: u64 = 1024 * 1024;
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
    /// Whose date that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_after_of: Option<DateOf>,
    /// Why the certificate that is served now could not be read: it may be older than the file, and counts until somebody
    /// reloads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served_unknown: Option<String>,
}

/// Where the end of a certificate was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateOf {
    /// From what the server serves now.
    Served,
    /// From the file, which is what the next start serves.
    File,
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
    /// It answered, and did not let us in or did not do what we asked: another thing than silence.
    #[serde(skip)]
    pub is_refused: bool,
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
    /// What the kernels of other machines do not hold our agents to.
    pub notes: Vec<String>,
}

/// Does the one server answer that somebody named? Without it there is nothing that a table could show.
///
/// # Errors
/// `CannotLook`: what was tried, why it failed, what to do.
pub fn reach(cluster: &Cluster) -> Result<(), OpsError> {
    let Some(spec) = cluster.nodes.first() else { return Ok(()) };
    let Err(error) = cluster.live_node(spec).view() else { return Ok(()) };
    let text = error.to_string();
    let part = |mark: &str| {
        let from = text.find(mark)? + mark.len();
        let rest = text.get(from..)?;
        Some(rest.lines().next().unwrap_or_default().trim().to_owned())
    };
    let first = text.lines().next().unwrap_or_default();
    Err(OpsError::cannot_look(
        format!("{} cannot be checked", spec.name),
        part("why:").map_or_else(|| first.to_owned(), |why| format!("{first}: {why}")),
        part("next:")
            .unwrap_or_else(|| "check host, port, user and password, as for mariadb or mysql".into()),
    ))
}

fn no_member_yet(name: &model::NodeName) -> String {
    format!(
        "{name}: its entry in the inventory has `joining = true`, so it counts as no member yet (sealion join {name} makes it one; then \
         remove that line)"
    )
}

/// Looks at every node, and on the wire for `look` (zero: not). Canaries are written only with `canaries`.
pub fn status(cluster: &Cluster, look_ms: u64, canaries: bool) -> Status {
    let mut not_looked_at: Vec<String> =
        cluster.joining.iter().map(|node| no_member_yet(&node.name)).collect();
    cluster.reach_machines();
    let sights = if look_ms == 0 {
        not_looked_at.push("the wire: not asked for (--look-ms 0)".to_owned());
        Vec::new()
    } else {
        let what =
            WireLook { settle: std::time::Duration::from_millis(look_ms), canaries, nodes: members(cluster) };
        not_looked_at.extend(cluster.capture.blind_spot().map(str::to_owned));
        let mut eye = WireEye::new(cluster);
        let looked = eye.wire(&what);
        not_looked_at.extend(eye.left_behind());
        match looked {
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
    let mut status = with_sights(cluster, sights, not_looked_at);
    status.notes.extend(unfenced(cluster));
    status
}

/// Of each machine that answered: what does not keep the agent there from writing but its own code.
fn unfenced(cluster: &Cluster) -> Vec<String> {
    let mut machines: Vec<_> = cluster.machines.values().filter_map(Machine::agent).collect();
    machines.sort_by_key(|machine| machine.name().to_owned());
    machines.dedup_by_key(|machine| machine.name().to_owned());
    let lines =
        machines.iter().filter_map(|machine| Some((machine.name(), machine.facts_of_agent().ok()?.fences)));
    lines
        .flat_map(|(name, fences)| {
            let open = fences.into_iter().filter(|line| line.starts_with(host::remote::fence::NOT_HELD));
            open.map(move |line| format!("{name}: the agent that checks is {line}"))
        })
        .collect()
}

/// Nodes and arbitrators.
fn members(cluster: &Cluster) -> Vec<String> {
    cluster.nodes.iter().chain(&cluster.arbitrators).map(|one| one.name.to_string()).collect()
}

/// Members beside those of the inventory, each once: how many are counted and how many it has, of all and of arbitrators.
fn not_named(
    (members, members_named): (usize, usize),
    (arbitrators, arbitrators_named): (usize, usize),
) -> Option<String> {
    let others = arbitrators.saturating_sub(arbitrators_named);
    if members <= members_named && others == 0 {
        return None;
    }
    let among = match others {
        0 => String::new(),
        1 => " (an arbitrator, garbd, is among the others)".into(),
        more => format!(" ({more} arbitrators, garbd, are among the others)"),
    };
    Some(format!(
        "the cluster has {members} members and the inventory {members_named}{among}: what the others are set to do, and their links"
    ))
}

/// Who was seen on a Galera port and is not in the inventory: with whom, and what that means.
fn strangers(sights: &[LinkSight], members: &[String]) -> Vec<String> {
    let mut with: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let spoke = |sight: &&LinkSight| sight.link.kind == LinkKind::Galera && sight.tcp_flows > 0;
    for sight in sights.iter().filter(spoke) {
        for (end, other) in [(&sight.link.a, &sight.link.b), (&sight.link.b, &sight.link.a)] {
            if !members.contains(end) {
                with.entry(end).or_default().push(other);
            }
        }
    }
    let line = |(end, others): (&str, Vec<&str>)| {
        format!(
            "{end}: it is not in the inventory, and has a connection on a Galera port with {}: what it is, and what it is set to do",
            others.join(", ")
        )
    };
    with.into_iter().map(line).collect()
}

/// The systems of the nodes' machines, each once.
fn os_classes(cluster: &Cluster) -> String {
    let mut all: Vec<String> = Vec::new();
    for spec in &cluster.nodes {
        let one = site::machine::os_class_of(cluster.machine_of(spec).host());
        if !all.contains(&one) {
            all.push(one);
        }
    }
    all.join(", ")
}

/// What is told of a node beside its rows: some thousand variables are not kept until the last node has answered.
struct OfView {
    /// Its port, and until when.
    x_protocol_lags: Option<(String, String)>,
    not_galera: Option<String>,
    /// Its `wsrep_cluster_address`.
    address: String,
    size: Option<usize>,
    arbitrators: usize,
    provider_version: String,
}

impl OfView {
    fn of(view: &NodeView) -> Self {
        Self {
            x_protocol_lags: view.x_protocol_lags().map(|(port, until)| (port.to_owned(), until.to_owned())),
            not_galera: view.not_galera(),
            address: view.variable("wsrep_cluster_address").unwrap_or("").to_owned(),
            size: view.status("wsrep_cluster_size").and_then(|text| text.parse().ok()),
            arbitrators: view.arbitrators(),
            provider_version: view.status("wsrep_provider_version").unwrap_or("").to_owned(),
        }
    }
}

/// The same, with links that were seen in another capture (the demo's own, during SST and IST).
pub fn with_sights(cluster: &Cluster, sights: Vec<LinkSight>, not_looked_at: Vec<String>) -> Status {
    let now = SystemClock.unix_ms();
    let mut seen = Observations::default();
    let mut status = Status { not_looked_at, ..Status::default() };
    status.cluster.name.clone_from(&cluster.name);
    // Of the machine that this runs on: said only where the nodes are here too.
    status.cluster.os_class = if cluster.has_files { os_classes(cluster) } else { NOT_READ.to_owned() };
    // Each is asked by itself, and told of in the order of the inventory.
    let looked = cluster.on_each(|spec| {
        let mut node = cluster.live_node(spec);
        node.view().map(|view| {
            let mut seen = Observations::default();
            let told = node_status(&mut node, &view, cluster.has_files, &sights, &mut seen, now);
            let rules = TlsRules::in_use(&view);
            let old = node
                .tcp_sessions()
                .map(|sessions| old_sessions::note(&spec.name.to_string(), &rules, &sessions))
                .map_err(|error| {
                    format!("{}: versions of TLS of its sessions: {}", spec.name, error.first_line())
                });
            (OfView::of(&view), told, seen, old)
        })
    });
    let mut all: Vec<Observation> = Vec::new();
    let mut listings: Vec<Listing> = Vec::new();
    for (spec, looked) in cluster.nodes.iter().zip(looked) {
        let name = spec.name.to_string();
        match looked {
            Ok((view, (node, unseen), of_node, old)) => {
                match old {
                    Ok(note) => status.notes.extend(note),
                    Err(why) => status.not_looked_at.push(why),
                }
                if let Some((port, until)) = view.x_protocol_lags {
                    status.notes.push(format!(
                        "{name}: its port of the X Protocol, {port}, shows another certificate than clients are shown, valid until {until}: X Plugin reads \
                         its files at the start (next: restart mysqld)"
                    ));
                }
                if view.not_galera.is_none() {
                    let names = [vec![spec.address.clone(), name.clone()], spec.names.clone()].concat();
                    listings.push(Listing { node: spec.name.clone(), names, address: view.address.clone() });
                }
                if let Some(why) = view.not_galera {
                    status.not_applicable.push(format!(
                        "{name} is not a Galera node ({why}): the rules for Galera and SST do not apply to it"
                    ));
                } else if status.cluster.address.is_empty() {
                    status.cluster.galera_port = spec.galera_port;
                    status.cluster.address = view.address;
                    let size = view.size;
                    status.cluster.size = size.unwrap_or(0);
                    status.cluster.arbitrators = view.arbitrators;
                    status.cluster.galera_version = galera_release(&view.provider_version);
                    let unknown = || Value::Unknown("the server does not say its wsrep_cluster_size".into());
                    seen.note(
                        cluster.name.clone(),
                        &facts::cluster::CLUSTER_SIZE,
                        size.map_or_else(unknown, |size| {
                            Value::Number(i64::try_from(size).unwrap_or(i64::MAX))
                        }),
                        Source::Sql,
                        now,
                        "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_size'",
                    );
                }
                all.extend(Vec::from(of_node));
                status.not_looked_at.extend(unseen.into_iter().map(|why| format!("{name}: {why}")));
                status.nodes.push(node);
            }
            Err(error) => {
                status
                    .not_looked_at
                    .push(format!("{name}: {}", error.to_string().lines().next().unwrap_or("")));
                for fact in [
                    &facts::cluster::GALERA_EFFECTIVE,
                    &facts::server::CLIENT_OFFERED,
                    &facts::server::CLIENT_REQUIRED,
                    &facts::cluster::SST_CONFIGURED,
                ] {
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
                    is_refused: matches!(error, server::NodeError::Refused { .. }),
                });
            }
        }
    }
    status.notes.extend(cluster_address::note(&listings));
    for mut arbitrator in cluster.live_arbitrators() {
        let (told, unseen) = arbitrator_status(&mut arbitrator, &sights, &mut seen, now);
        let name = told.node.clone();
        status.not_looked_at.extend(unseen.into_iter().map(|why| format!("{name}: {why}")));
        status.nodes.push(told);
    }
    status.not_looked_at.extend(not_named(
        (status.cluster.size, cluster.nodes.len() + cluster.arbitrators.len()),
        (status.cluster.arbitrators, cluster.arbitrators.len()),
    ));
    if status.cluster.size > cluster.nodes.len() + cluster.arbitrators.len() {
        // Where it listens and what it speaks nobody looks at.
        for row in status.nodes.iter_mut().flat_map(|node| &mut node.rows) {
            if row.what == LinkKind::Galera.as_str() && row.seen == "sealed" {
                "unknown".clone_into(&mut row.seen);
            }
        }
    }
    status.not_looked_at.extend(strangers(&sights, &members(cluster)));
    let mut list = Vec::from(seen);
    list.extend(all);
    let mut seen = Observations::from(list);
    for sight in &sights {
        let value = match &sight.seen {
            Seen::Sealed => Value::Text("sealed".into()),
            Seen::Plain => Value::Text(format!("plain, {} canaries", sight.canaries)),
            Seen::Unknown(why) => Value::Unknown(why.clone()),
        };
        seen.note(
            sight.link.to_string(),
            facts::wire::of(sight.link.kind),
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

/// The provider calls itself "4.23(rXXXX)"; its release is 26.4.23, after the version of the wsrep API (25 for Galera 3).
fn galera_release(provider_version: &str) -> String {
    let version = provider_version.split('(').next().unwrap_or_default().trim();
    match version.split('.').next() {
        Some("4") => format!("26.{version}"),
        Some("3") => format!("25.{version}"),
        _ => version.to_owned(),
    }
}

pub(crate) fn seen_of(sights: &[LinkSight], kind: LinkKind, node: &str) -> String {
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

/// An error as a reason in one line, without what to do about it.
pub(crate) fn reason(error: impl std::fmt::Display) -> String {
    let text = error.to_string();
    let lines = text.split("\n  next:").next().unwrap_or_default().lines();
    lines.map(|line| line.trim().trim_start_matches("why:").trim()).collect::<Vec<_>>().join(": ")
}

/// Whole days; below zero it has expired.
pub(crate) fn days_left(not_after_unix: i64, now_unix_ms: u64) -> i64 {
    (not_after_unix - i64::try_from(now_unix_ms / 1000).unwrap_or(0)).div_euclid(SECONDS_PER_DAY)
}

/// The end of the leaf in a PEM.
pub(crate) fn leaf_end(pem: &[u8]) -> Result<i64, String> {
    let leaf = trust::inspect(pem).map_err(reason)?.into_iter().next();
    leaf.map(|leaf| leaf.not_after_unix).ok_or_else(|| "it holds no certificate".into())
}

/// The end of the certificate in a file; `None` where there is none.
fn end_in_file(node: &LiveNode, path: &Path) -> Result<Option<i64>, String> {
    let end = match node.host().read(path, PEM_BYTES_MAX) {
        Ok(None) => Ok(None),
        Ok(Some(pem)) => leaf_end(&pem).map(Some),
        Err(error) => Err(reason(error)),
    };
    end.map_err(|why| format!("when the certificate in {} ends cannot be determined: {why}", path.display()))
}

/// When a certificate ends: as it is served now, and as it stands in its file.
#[derive(Debug, Default)]
struct Expiry {
    served: Option<i64>,
    served_unknown: Option<String>,
    file: Option<i64>,
    file_unknown: Option<String>,
}

impl Expiry {
    /// `served`: `None` where nothing is served, an error where it could not be read. `path`: `None` where no file may be read.
    fn of(node: &LiveNode, served: Option<Result<i64, String>>, path: Option<&Path>) -> Self {
        let (served, served_unknown) = match served {
            None => (None, None),
            Some(Ok(end)) => (Some(end), None),
            Some(Err(why)) => (None, Some(why)),
        };
        let (file, file_unknown) = match path.map(|path| end_in_file(node, path)) {
            None => (None, None),
            Some(Ok(end)) => (end, None),
            Some(Err(why)) => (None, Some(why)),
        };
        Self { served, served_unknown, file, file_unknown }
    }

    fn shown(&self) -> (Option<i64>, Option<DateOf>) {
        match (self.served, self.file) {
            (Some(end), _) => (Some(end), Some(DateOf::Served)),
            (None, Some(end)) => (Some(end), Some(DateOf::File)),
            (None, None) => (None, None),
        }
    }
}

/// Certificates whose time has not come: in their files, and of what clients are served. `None`: there is no certificate.
fn not_yet_valid(
    node: &LiveNode,
    view: &NodeView,
    rows: &[Row],
    has_files: bool,
    now_unix_ms: u64,
) -> Option<Value> {
    let now_unix = i64::try_from(now_unix_ms / 1000).unwrap_or(i64::MAX);
    let (mut early, mut hidden) = (Vec::new(), Vec::new());
    let mut found_one = false;
    let mut look = |begin: Option<i64>, what: String| {
        found_one |= begin.is_some();
        if let Some(begin) = begin.filter(|begin| *begin > now_unix) {
            let from = model::clock::rfc3339(u64::try_from(begin).unwrap_or(0).saturating_mul(1000));
            early.push(format!("{what} is not valid before {from}"));
        }
    };
    look(view.client_certificate_not_before_unix(), "what clients are served".into());
    let mut paths: Vec<&PathBuf> = rows.iter().filter_map(|row| row.certificate.as_ref()).collect();
    paths.sort();
    paths.dedup();
    for path in paths.into_iter().filter(|_| has_files) {
        match node.host().read(path, PEM_BYTES_MAX) {
            // That it is not there is said by another rule.
            Ok(None) => {}
            Ok(Some(pem)) => match trust::inspect(&pem) {
                Ok(chain) => look(chain.first().map(|leaf| leaf.not_before_unix), path.display().to_string()),
                Err(error) => hidden.push(format!("{}: {error}", path.display())),
            },
            Err(error) => hidden.push(reason(error)),
        }
    }
    match (early.as_slice(), hidden.as_slice()) {
        ([], []) => found_one.then_some(Value::Absent),
        ([], hidden) => Some(Value::Unknown(hidden.join("; "))),
        (early, _) => Some(Value::Text(early.join("; "))),
    }
}

/// Keys on disk that do not belong to the certificate beside which they are configured: the next start or reload fails, or serves
/// no TLS. `None`: no pair is configured.
fn mismatched_keys(node: &LiveNode, rows: &[Row]) -> Option<Value> {
    let mut pairs: Vec<(&PathBuf, &PathBuf)> =
        rows.iter().filter_map(|row| row.certificate.as_ref().zip(row.key.as_ref())).collect();
    pairs.sort();
    pairs.dedup();
    let (mut apart, mut hidden) = (Vec::new(), Vec::new());
    let mut found_one = false;
    for (certificate, key) in pairs {
        let read = |path: &Path| node.host().read(path, PEM_BYTES_MAX).map_err(reason);
        let both = read(certificate).and_then(|pem| Ok((pem, read(key)?.map(Zeroizing::new))));
        // That one of them is not there is said by another rule.
        let (certificate_pem, key_pem) = match both {
            Ok((Some(certificate_pem), Some(key_pem))) => (certificate_pem, key_pem),
            Ok(_) => continue,
            Err(why) => {
                hidden.push(why);
                continue;
            }
        };
        found_one = true;
        match trust::pair_matches(&certificate_pem, &key_pem) {
            Ok(()) => {}
            Err(TrustError::KeyMismatch { .. }) => {
                apart.push(format!("{} does not belong to {}", key.display(), certificate.display()));
            }
            Err(error) => hidden.push(format!("{}: {}", key.display(), trust::usable::in_one_line(&error))),
        }
    }
    match (apart.as_slice(), hidden.as_slice()) {
        ([], []) => found_one.then_some(Value::Absent),
        ([], hidden) => Some(Value::Unknown(hidden.join("; "))),
        (apart, _) => Some(Value::Text(apart.join("; "))),
    }
}

/// PEM of the leaf that the Galera port serves now. A port that takes only members shows it to one.
pub(crate) fn galera_leaf(node: &mut LiveNode, has_files: bool) -> Result<String, String> {
    match node.served_galera_leaf() {
        Ok(pem) => Ok(pem),
        Err(stranger) => {
            let as_member = if has_files { server::ReadMember::galera_leaf(node).ok() } else { None };
            as_member.ok_or_else(|| reason(stranger))
        }
    }
}

/// One channel of which the node is the replica. It is set by a statement, and kept in tables of the server.
fn replication_row(channel: &Channel, sights: &[LinkSight], node: &str) -> Row {
    let effective = match (channel.tls.is_on, channel.tls.verifies) {
        _ if channel.receiver != ThreadState::Running => "broken",
        (true, true) => "verified",
        // Without verification MariaDB connects in cleartext where its source offers no TLS.
        (true, false) => "unverified",
        (false, _) => "plain",
    };
    Row {
        what: "replication".into(),
        configured: "-".into(),
        effective: effective.into(),
        seen: seen_of(sights, LinkKind::Replication, node),
        key: None,
        certificate: None,
        not_after_unix: None,
        not_after_of: None,
        served_unknown: None,
    }
}

/// The port of MySQL's administrators, which follows the main one unless it has files of its own. What was captured on it counts for the link of
/// clients.
fn admin_row(node: &mut LiveNode, view: &NodeView, client: &Row, unseen: &mut Vec<String>) -> Option<Row> {
    let (_, port) = view.admin_port()?;
    let answer = ReadNode::client_takes(node, &TlsOffer::any(SqlPort::Admin));
    let answer = answer.map_err(reason).and_then(|answer| match answer {
        OfferAnswer::Taken(pem) => leaf_end(pem.as_bytes()).map(Some),
        OfferAnswer::NoTls => Ok(None),
        OfferAnswer::Refused(alert) => Err(alert),
    });
    let (effective, not_after_unix) = match &answer {
        Ok(Some(end)) if view.requires_secure_transport() => ("required", Some(*end)),
        Ok(Some(end)) => ("offered", Some(*end)),
        Ok(None) => ("plain", None),
        Err(why) => {
            unseen.push(format!("its admin port {port}: {why}"));
            ("unknown", None)
        }
    };
    let follows = view.admin_follows_main();
    Some(Row {
        what: "admin".into(),
        configured: if follows { client.configured.clone() } else { "own files".into() },
        effective: effective.into(),
        seen: client.seen.clone(),
        // Its own are named by admin_ssl_cert, and the main port's are said with that.
        key: None,
        certificate: None,
        not_after_unix,
        not_after_of: not_after_unix.map(|_| DateOf::Served),
        served_unknown: answer.err(),
    })
}

/// The node's rows, and what of it could not be looked at.
fn node_status(
    node: &mut LiveNode,
    view: &NodeView,
    has_files: bool,
    sights: &[LinkSight],
    seen: &mut Observations,
    now: u64,
) -> (NodeStatus, Vec<String>) {
    let name = node.name().to_string();
    let mut unseen: Vec<String> = Vec::new();
    if let Some(group) = view.mysql_group() {
        let of = |name: &str| view.variable(name).unwrap_or("not listed");
        unseen.push(format!(
            "the links of its MySQL group {group}: members (group_replication_ssl_mode is {}) and recovery (group_replication_recovery_use_ssl is {}) \
             were not captured; sealion audit checks their settings",
            of("group_replication_ssl_mode"),
            of("group_replication_recovery_use_ssl")
        ));
    }
    let is_galera = view.not_galera().is_none();
    let effective = if has_files { Some(node.effective()) } else { None };
    if let Some(Err(error)) = &effective {
        unseen.push(format!("its option files cannot be read: {}", reason(error.unnamed())));
    }
    let effective = effective.and_then(Result::ok);
    let sst = match (has_files, is_galera) {
        (false, _) => Err("its option files were not read".to_owned()),
        (true, false) => Err("it is not a Galera node".to_owned()),
        (true, true) => SstOptions::of(node)
            .map_err(|error| format!("its option files cannot be read: {}", reason(error.unnamed()))),
    };
    // What stands in files that were not read is not said to be one or the other.
    let of_files = |read: bool, word: &str| if read { word.to_owned() } else { NOT_READ.to_owned() };
    let setting = |key: &str| effective.as_ref().and_then(|all| all.effective(key)?.value.clone());
    let file_options = ProviderOptions::parse(&setting("wsrep_provider_options").unwrap_or_default());
    let in_file = {
        match (file_options.uses_tls(), file_options.is_on("socket.dynamic")) {
            (false, false) => "plain",
            (true, true) => "dynamic",
            (true, false) => "strict",
            (false, true) => "mixed up",
        }
    };
    let state = view.galera_state();
    let live = view.provider_options();
    // MySQL's own names (server-cert.pem) are of files in its data directory.
    let datadir = Path::new(view.variable("datadir").unwrap_or_default());
    let path = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(|text| datadir.join(text));
    let galera_key = path(live.get("socket.ssl_key"));
    let galera_cert = path(live.get("socket.ssl_cert"));
    let readable = |path: &Option<PathBuf>| if has_files { path.clone() } else { None };
    // What is served may be older than what stands in the file, and counts until somebody reloads it.
    let served = (is_galera && galera_key.is_some()).then(|| {
        let end = galera_leaf(node, has_files).and_then(|pem| leaf_end(pem.as_bytes()));
        end.map_err(|why| format!("port {}: {why}", node.spec().galera_port))
    });
    let galera_ends = Expiry::of(node, served, readable(&galera_cert).as_deref());
    let served = match view.client_certificate_not_after_unix() {
        Some(end) => Some(Ok(end)),
        None if view.client_tls() == Some(true) => {
            let pem = ReadNode::client_leaf(node).map_err(reason);
            let end = pem.and_then(|pem| leaf_end(pem.as_bytes()));
            Some(end.map_err(|why| format!("port {}: {why}", node.spec().port)))
        }
        None => None,
    };
    let client_cert = path(view.variable("ssl_cert"));
    let client_ends = Expiry::of(node, served, readable(&client_cert).as_deref());
    let (not_after_unix, not_after_of) = galera_ends.shown();
    let galera = Row {
        what: "galera".into(),
        configured: of_files(effective.is_some(), in_file),
        effective: state.to_string(),
        seen: seen_of(sights, LinkKind::Galera, &name),
        not_after_unix,
        not_after_of,
        served_unknown: galera_ends.served_unknown.clone(),
        key: galera_key.clone(),
        certificate: galera_cert,
    };

    let sst_get = |key: &str| sst.as_ref().ok()?.sst().effective(key)?.value.clone();
    let sst_tls = match &sst {
        Ok(options) => options.tls(view.sst_method()),
        Err(why) => SstTls::CannotTell(why.clone()),
    };
    let sst_cert = path(sst_get("tcert").as_deref());
    // Its scripts read the file at each transfer: there is nothing that is served meanwhile.
    let sst_ends = Expiry::of(node, None, sst_cert.as_deref());
    let (not_after_unix, not_after_of) = sst_ends.shown();
    let sst_row = Row {
        what: format!("sst ({})", view.sst_method()),
        configured: of_files(sst.is_ok(), sst_tls.word()),
        // SST scripts read the files at each transfer: what is configured is what will be.
        effective: of_files(sst.is_ok(), sst_tls.word()),
        seen: seen_of(sights, LinkKind::Sst, &name),
        key: path(sst_get("tkey").as_deref()),
        not_after_unix,
        not_after_of,
        served_unknown: None,
        certificate: sst_cert,
    };

    let requires = view.requires_secure_transport();
    let words = |offers: bool, requires: bool| match (offers, requires) {
        (true, true) => "required",
        (true, false) => "offered",
        (false, _) => "plain",
    };
    let (not_after_unix, not_after_of) = client_ends.shown();
    let client = Row {
        what: "client".into(),
        configured: of_files(
            effective.is_some(),
            effective
                .as_ref()
                .map_or("", |all| words(all.offers_client_tls(), all.requires_secure_transport())),
        ),
        effective: view.client_tls().map_or("unknown", |offers| words(offers, requires)).into(),
        seen: seen_of(sights, LinkKind::Client, &name),
        key: path(view.variable("ssl_key")),
        not_after_unix,
        not_after_of,
        served_unknown: client_ends.served_unknown.clone(),
        certificate: client_cert,
    };

    let admin = admin_row(node, view, &client, &mut unseen);
    let channels = node.channels().map_err(reason);
    let mut note = |fact: &Fact, value: Value, source: Source, how: &str| {
        seen.note(name.clone(), fact, value, source, now, how);
    };
    if is_galera {
        let word =
            if let GaleraState::Other(_) = state { state.to_string() } else { galera.effective.clone() };
        note(
            &facts::cluster::GALERA_EFFECTIVE,
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
        note(&facts::cluster::GALERA_FILE_DIFFERS, value, Source::File, "sealion config print");
    }
    note(
        &facts::server::CLIENT_OFFERED,
        view.client_tls().map_or_else(|| Value::Unknown("the server does not say".into()), Value::Bool),
        Source::Sql,
        if view.capabilities().have_ssl {
            "SHOW GLOBAL VARIABLES LIKE 'have_ssl'"
        } else {
            "SHOW GLOBAL STATUS LIKE 'Ssl_server_not_after'"
        },
    );
    note(
        &facts::server::CLIENT_REQUIRED,
        Value::Bool(requires),
        Source::Sql,
        "SHOW GLOBAL VARIABLES LIKE 'require_secure_transport'",
    );
    if is_galera {
        let value = match &sst_tls {
            SstTls::On => Value::Bool(true),
            SstTls::Off => Value::Bool(false),
            SstTls::CannotTell(why) => Value::Unknown(why.clone()),
        };
        note(
            &facts::cluster::SST_CONFIGURED,
            value,
            Source::File,
            "my_print_defaults --mysqld; my_print_defaults sst",
        );
    }
    let mut rows = if is_galera { vec![galera, sst_row, client.clone()] } else { vec![client.clone()] };
    rows.extend(admin);
    match &channels {
        Ok(channels) => {
            rows.extend(channels.iter().map(|channel| replication_row(channel, sights, &name)));
            for channel in channels.iter().filter(|channel| channel.receiver != ThreadState::Running) {
                let why =
                    channel.receiver_error.as_deref().unwrap_or("its thread does not run, and has no error");
                unseen.push(format!("replication from {channel}: it receives nothing: {why}"));
            }
        }
        Err(why) => unseen.push(format!("its channels of replication: {why}")),
    }
    if has_files {
        let (mut missing, mut hidden) = (Vec::new(), Vec::new());
        for path in rows.iter().flat_map(|row| [&row.key, &row.certificate]).flatten() {
            match node.host().facts(path) {
                Ok(Some(_)) => {}
                Ok(None) => missing.push(path.display().to_string()),
                Err(error) => hidden.push(reason(error)),
            }
        }
        for list in [&mut missing, &mut hidden] {
            list.sort();
            list.dedup();
        }
        let value = match (missing.as_slice(), hidden.as_slice()) {
            ([], []) => Value::Absent,
            ([], hidden) => Value::Unknown(hidden.join("; ")),
            (missing, _) => Value::Text(format!("gone: {}", missing.join(", "))),
        };
        note(&facts::server::TLS_FILES_MISSING, value, Source::Host, "ls -l FILE");
    }
    let all = [&galera_ends, &sst_ends, &client_ends];
    unseen.extend(all.iter().filter_map(|one| one.file_unknown.clone()));
    unseen.dedup();
    // The file is what the next start serves.
    let served: Vec<i64> = all.iter().filter_map(|one| one.served).collect();
    let nearest = all.iter().filter_map(|one| one.file).chain(served.iter().copied()).min();
    let how_served = "openssl s_client -starttls mysql -connect HOST:3306 (and HOST:4567 for Galera) | openssl x509 -noout -enddate";
    if let Some(end) = nearest {
        let days = days_left(end, now);
        let is_served = served.contains(&end);
        note(
            EXPIRES,
            Value::Number(days),
            if is_served { Source::Wire } else { Source::File },
            if is_served { how_served } else { "openssl x509 -noout -enddate -in FILE" },
        );
    }
    if let Some(value) = not_yet_valid(node, view, &rows, has_files, now) {
        note(
            &facts::server::CERT_NOT_YET_VALID,
            value,
            Source::File,
            "openssl x509 -noout -startdate -in FILE",
        );
    }
    if has_files && let Some(value) = mismatched_keys(node, &rows) {
        note(
            &facts::server::KEY_MISMATCH,
            value,
            Source::File,
            "openssl pkey -pubout -in KEY; openssl x509 -noout -pubkey -in CERTIFICATE",
        );
    }
    if has_files {
        let in_use = if view.client_tls() == Some(true) { ReadNode::client_leaf(node).ok() } else { None };
        let uid = node.process().map(|process| process.uid);
        let at = i64::try_from(now / 1000).unwrap_or(i64::MAX);
        let of_channels = channels.iter().flatten();
        let of_channels = of_channels
            .filter_map(|channel| server::tls_files::of_channel(view, &channel.tls.cert, &channel.tls.key));
        let of_sst = sst.iter().filter_map(|sst| server::tls_files::of_sst(view, sst));
        let others = of_sst.chain(of_channels).collect();
        if let Some(value) =
            server::tls_files::unusable(view, others, node.host(), uid, in_use.as_deref(), at)
        {
            note(&facts::server::CERT_FILE_UNUSABLE, value, Source::File, server::tls_files::HOW);
        }
    }
    if let Some(key) = galera_key.or_else(|| client.key.clone())
        && has_files
    {
        let facts = node.host().facts(&key);
        let (mode, owner) = match (&facts, node.process()) {
            // That it is not there is said above.
            (Ok(None), _) => (None, None),
            (Err(error), _) => {
                let why = reason(error);
                (Some(Value::Unknown(why.clone())), Some(Value::Unknown(why)))
            }
            (Ok(Some(facts)), process) => {
                let unknown = || Value::Unknown("its pid file leads to no running process".into());
                let owner = process.map_or_else(unknown, |process| Value::Bool(process.uid == facts.uid));
                (Some(Value::Bool(facts.mode & 0o077 != 0)), Some(owner))
            }
        };
        for (fact, value) in
            [(&facts::server::KEY_OTHERS_CAN_READ, mode), (&facts::server::KEY_OWNER_IS_SERVER, owner)]
        {
            if let Some(value) = value {
                note(fact, value, Source::Host, "stat FILE");
            }
        }
    }
    // Each is judged by itself: the dates that are known must not speak for one that is not.
    for row in rows.iter().filter(|row| row.served_unknown.is_some()) {
        let why = row.served_unknown.as_deref().unwrap_or_default();
        let why = format!("the certificate that is served now could not be read ({why})");
        let shown =
            if row.not_after_of == Some(DateOf::File) { "; the date shown is the file's" } else { "" };
        unseen.push(format!("{}: {why}{shown}", row.what));
        let subject = format!("{name} {}", row.what);
        seen.note(subject, EXPIRES, Value::Unknown(why), Source::Wire, now, how_served);
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
    let status = NodeStatus {
        node: name.clone(),
        address: node.spec().address.clone(),
        version: Some(view.version().to_owned()),
        state,
        rows,
        why_not: None,
        is_refused: false,
    };
    (status, unseen)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use server::NodeSpec;
    use trust::{Ca, CaSpec, KeyKind, LeafSpec};

    use super::*;

    const NOW_S: i64 = 1_800_000_000;
    const FILE_DAYS: u32 = 100;

    /// A node whose ports nobody serves, with a certificate in its files.
    struct Deaf {
        dir: tempfile::TempDir,
        node: LiveNode,
    }

    impl Deaf {
        fn new() -> Self {
            let dir = tempfile::tempdir().expect("tmp");
            let ca = CaSpec { common_name: "test".into(), valid_days: 3650, key: KeyKind::EcP256 };
            let ca = Ca::create(&ca, NOW_S).expect("a CA");
            let leaf = LeafSpec {
                common_name: "n1".into(),
                dns: vec!["n1".into()],
                ips: vec![],
                valid_days: FILE_DAYS,
                key: KeyKind::EcP256,
                not_before_unix: None,
                not_after_unix: None,
            };
            let leaf = ca.issue(&leaf, NOW_S).expect("a leaf");
            std::fs::write(dir.path().join("cert.pem"), leaf.cert_pem).expect("writable");
            std::fs::write(dir.path().join("key.pem"), "k").expect("writable");
            std::fs::write(dir.path().join("my.cnf"), "[mysqld]\n").expect("writable");
            // A port that was just free is nobody's.
            let free = || {
                let at = TcpListener::bind("127.0.0.1:0").and_then(|one| one.local_addr());
                at.expect("a free port").port()
            };
            let mut spec = NodeSpec::new("n1", "127.0.0.1");
            (spec.port, spec.galera_port) = (free(), free());
            spec.defaults_file = dir.path().join("my.cnf");
            let login = net::ConnectOptions::new(net::Endpoint::tcp("127.0.0.1", spec.port), "nobody");
            Self { dir, node: LiveNode::new(spec, login) }
        }

        fn path(&self, name: &str) -> String {
            self.dir.path().join(name).display().to_string()
        }

        fn view(&self) -> NodeView {
            let (key, cert) = (self.path("key.pem"), self.path("cert.pem"));
            let options = format!("socket.ssl = yes; socket.ssl_key = {key}; socket.ssl_cert = {cert}; ");
            let variables = [
                ("version", "10.11.19-MariaDB"),
                ("wsrep_on", "ON"),
                ("wsrep_sst_method", "rsync"),
                ("wsrep_provider_options", &options),
                ("have_ssl", "YES"),
                ("ssl_key", &key),
                ("ssl_cert", &cert),
            ];
            let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
            NodeView { variables: variables.into(), ..NodeView::default() }
        }

        fn look(&mut self) -> (NodeStatus, Vec<String>, Observations) {
            let mut seen = Observations::default();
            let now = u64::try_from(NOW_S).expect("after 1970") * 1000;
            let view = self.view();
            let (status, unseen) = node_status(&mut self.node, &view, true, &[], &mut seen, now);
            (status, unseen, seen)
        }
    }

    fn value<'s>(seen: &'s Observations, subject: &str, fact: &Fact) -> &'s Value {
        &seen
            .newest(subject, fact)
            .unwrap_or_else(|| panic!("{} of {subject} was not looked at", fact.name))
            .value
    }

    #[test]
    fn a_certificate_that_is_served_and_cannot_be_read_is_not_taken_for_the_file() {
        let mut deaf = Deaf::new();
        let (status, unseen, seen) = deaf.look();
        for what in ["galera", "client"] {
            let row = status.rows.iter().find(|row| row.what == what).expect("it has a row");
            assert_eq!(row.not_after_of, Some(DateOf::File), "{row:?}");
            assert!(row.not_after_unix.is_some() && row.served_unknown.is_some(), "{row:?}");
            let said = unseen.iter().find(|line| line.starts_with(what)).expect("it is told");
            assert!(said.contains("could not be read (port ") && said.contains("the file's"), "{said}");
            let value = value(&seen, &format!("n1 {what}"), EXPIRES);
            assert!(matches!(value, Value::Unknown(_)), "{value:?}");
        }
        // The file's own date is judged too: the next start serves it.
        assert_eq!(*value(&seen, "n1", EXPIRES), Value::Number(i64::from(FILE_DAYS)));
        let judged = rules::judge(&seen);
        let of = |subject: &str| judged.iter().find(|one| one.rule == "SL2003" && one.subject == subject);
        assert!(of("n1 galera").is_some_and(|one| matches!(one.verdict, model::Verdict::Unknown(_))));
    }

    #[test]
    fn files_that_cannot_be_looked_at_are_neither_there_nor_gone() {
        let mut deaf = Deaf::new();
        // A name that is too long for the file system is an error for root too.
        let long = "x".repeat(300);
        std::fs::remove_file(deaf.dir.path().join("cert.pem")).expect("ours");
        let (_, _, seen) = deaf.look();
        assert!(
            matches!(value(&seen, "n1", &facts::server::TLS_FILES_MISSING), Value::Text(gone) if gone.contains("cert.pem"))
        );
        let mut view = deaf.view();
        let odd = deaf.path(&long);
        let options = format!("socket.ssl = yes; socket.ssl_key = {odd}; socket.ssl_cert = {odd}; ");
        view.variables.insert("wsrep_provider_options".into(), options);
        for name in ["ssl_key", "ssl_cert"] {
            view.variables.insert(name.into(), odd.clone());
        }
        let mut seen = Observations::default();
        let (_, unseen) = node_status(&mut deaf.node, &view, true, &[], &mut seen, 0);
        for fact in [
            &facts::server::TLS_FILES_MISSING,
            &facts::server::KEY_OTHERS_CAN_READ,
            &facts::server::KEY_OWNER_IS_SERVER,
        ] {
            let value = value(&seen, "n1", fact);
            assert!(matches!(value, Value::Unknown(_)), "{}: {value:?}", fact.name);
        }
        assert!(unseen.iter().any(|line| line.contains("ends cannot be determined")), "{unseen:?}");
    }

    #[test]
    fn option_files_that_cannot_be_read_are_told_with_the_reason() {
        let mut deaf = Deaf::new();
        std::fs::remove_file(deaf.dir.path().join("my.cnf")).expect("ours");
        let (status, unseen, seen) = deaf.look();
        assert!(unseen.iter().any(|line| line.contains("my.cnf does not exist")), "{unseen:?}");
        assert!(status.rows.iter().all(|row| row.configured == NOT_READ), "{status:?}");
        assert!(
            matches!(value(&seen, "n1", &facts::cluster::SST_CONFIGURED), Value::Unknown(why) if why.contains("my.cnf"))
        );
    }

    /// Found by an outsider: an arbitrator that the inventory did not have was told twice.
    #[test]
    fn members_that_the_inventory_does_not_have_are_told_once() {
        assert_eq!(not_named((3, 3), (0, 0)), None);
        assert_eq!(not_named((4, 4), (1, 1)), None);
        let told = |all, arbitrators| not_named(all, arbitrators).expect("some are missing");
        assert!(told((5, 4), (1, 1)).starts_with("the cluster has 5 members and the inventory 4: what"));
        assert!(
            told((5, 3), (1, 0)).contains("inventory 3 (an arbitrator, garbd, is among the others): what")
        );
        assert!(told((5, 3), (2, 0)).contains("(2 arbitrators, garbd, are among the others)"));
    }

    #[test]
    fn a_reason_is_one_line_without_its_remedy() {
        assert_eq!(reason("n1 refused: x\n  why:  y\n  next: z"), "n1 refused: x: y");
    }
}
