//! One look: what `status-ops` saw, in the words of [`crate::state`].

use std::time::Instant;

use model::{LinkKind, Seen, Verdict};
use server::NodeSpec;
use site::Cluster;
use status_ops::certificates::certificates;
use status_ops::rest::claims::{KINDS, RestClaim, claims};
use status_ops::status::{NodeStatus, Status, status};

use crate::drift;
use crate::parallel::each;
use crate::state::{
    Certificate, CertificateSight, Failure, FindingSight, FindingState, LinkSight, LinkState, Look, Reason,
    RestCounts, RestSight, ServerSight, SettingSight, Sights,
};

/// As status-ops begins it where the wire could not be looked at.
const WIRE: &str = "the wire: ";
const NOT_ASKED_FOR: &str = "not asked for";

/// What a look is to do.
#[derive(Debug, Clone, Copy)]
pub struct LookSpec {
    /// How long packets are captured.
    pub look_ms: u64,
    pub interval_s: u64,
    /// Servers are asked what they say of their files.
    pub at_rest: bool,
}

/// Looks now. It writes nothing on a server: a link on which nobody speaks is unknown.
pub fn look(cluster: &Cluster, spec: LookSpec) -> Look {
    let LookSpec { look_ms, interval_s, at_rest } = spec;
    let began = Instant::now();
    let seen = status(cluster, look_ms, false);
    let certificates = certificates(cluster, &seen.nodes)
        .into_iter()
        .map(|sight| CertificateSight {
            server: sight.node,
            usage: sight.usage.as_str().into(),
            seen: sight.source.as_str().into(),
            facts: sight.facts.map(|facts| Certificate {
                fingerprint: facts.fingerprint,
                not_before_unix: facts.not_before_unix,
                not_after_unix: facts.not_after_unix,
            }),
        })
        .collect();
    let answer: Vec<&NodeSpec> = cluster
        .nodes
        .iter()
        .filter(|node| seen.nodes.iter().any(|one| one.version.is_some() && node.name.as_str() == one.node))
        .collect();
    let at_rest = if at_rest { claims_at_rest(cluster, &answer) } else { Vec::new() };
    let sights = Sights { certificates, at_rest, drift: drift::sights(cluster), ..sights(seen) };
    Look { servers: names(cluster), took_ms: millis(began), interval_s, outcome: Ok(sights) }
}

/// Of servers that answered: what they say of their files. Each kind is one sight, also where a server says nothing, since what has no
/// series raises no alert.
fn claims_at_rest(cluster: &Cluster, servers: &[&NodeSpec]) -> Vec<RestSight> {
    let of_one = |node: &&NodeSpec| -> Vec<RestSight> {
        let server = node.name.to_string();
        match claims(cluster, node) {
            Ok(claims) => claims
                .into_iter()
                .map(|RestClaim { what, encrypted, plain, unknown }| RestSight {
                    server: server.clone(),
                    what: what.into(),
                    counts: if encrypted + plain + unknown == 0 {
                        Err("it lists none to this login, which needs the privilege PROCESS".into())
                    } else {
                        Ok(RestCounts { encrypted, plain, unknown })
                    },
                })
                .collect(),
            Err(why) => KINDS
                .iter()
                .take(1)
                .map(|what| RestSight {
                    server: server.clone(),
                    what: (*what).into(),
                    counts: Err(why.clone()),
                })
                .collect(),
        }
    };
    each(servers, of_one).into_iter().flatten().collect()
}

/// A look that came to nothing.
pub fn failed(cluster: &Cluster, began: Instant, interval_s: u64, reason: Reason, why: String) -> Look {
    let outcome = Err(Failure { reason, why });
    Look { servers: names(cluster), took_ms: millis(began), interval_s, outcome }
}

fn names(cluster: &Cluster) -> Vec<String> {
    cluster.nodes.iter().map(|node| node.name.to_string()).collect()
}

fn millis(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}

fn sights(seen: Status) -> Sights {
    let of_wire = seen.not_looked_at.iter().find_map(|line| line.strip_prefix(WIRE));
    let wire_unseen = of_wire.map(|why| (why.to_owned(), !why.starts_with(NOT_ASKED_FOR)));
    let mut links: Vec<LinkSight> = seen
        .sights
        .iter()
        .map(|sight| {
            let (state, why) = match &sight.seen {
                Seen::Plain => {
                    let clear_bytes = sight.payload_bytes.saturating_sub(sight.tls_bytes);
                    (LinkState::Plain, format!("{clear_bytes} bytes without TLS"))
                }
                Seen::Sealed => (LinkState::Encrypted, format!("{} bytes in TLS records", sight.tls_bytes)),
                Seen::Unknown(why) => (LinkState::Unknown, why.clone()),
            };
            let (a, b) = (sight.link.a.clone(), sight.link.b.clone());
            LinkSight { kind: sight.link.kind, a, b, state, why }
        })
        .collect();
    if let Some((why, _)) = &wire_unseen {
        links.extend(unseen_pairs(&seen.nodes, why));
    }
    let settings = seen
        .nodes
        .iter()
        .filter(|node| node.version.is_some())
        .flat_map(|node| {
            node.rows.iter().map(|row| SettingSight {
                server: node.node.clone(),
                what: row.what.clone(),
                configured: row.configured.clone(),
                effective: row.effective.clone(),
                seen: row.seen.clone(),
            })
        })
        .collect();
    let findings = seen
        .findings
        .into_iter()
        .filter_map(|finding| {
            let (state, why) = match finding.verdict {
                Verdict::Pass => (FindingState::Pass, String::new()),
                Verdict::Fail(why) => (FindingState::Fail, why),
                Verdict::Unknown(why) => (FindingState::Unknown, why),
                Verdict::NotApplicable => return None,
            };
            let (rule, subject, title) = (finding.rule, finding.subject, finding.title);
            Some(FindingSight {
                rule,
                subject,
                title,
                severity: finding.severity,
                remedy: finding.remedy,
                state,
                why,
            })
        })
        .collect();
    Sights {
        servers: seen.nodes.into_iter().map(server).collect(),
        links,
        certificates: Vec::new(),
        settings,
        findings,
        drift: Vec::new(),
        at_rest: Vec::new(),
        wire_unseen,
        not_looked_at: seen.not_looked_at,
    }
}

/// The links that a Galera cluster has, where none was looked at.
fn unseen_pairs(nodes: &[NodeStatus], why: &str) -> Vec<LinkSight> {
    let is_galera = |node: &&NodeStatus| node.rows.iter().any(|row| row.what.starts_with("galera"));
    let names: Vec<&str> = nodes.iter().filter(is_galera).map(|node| node.node.as_str()).collect();
    let pairs = names.iter().enumerate().flat_map(|(at, a)| names.iter().skip(at + 1).map(move |b| (*a, *b)));
    pairs
        .map(|(a, b)| LinkSight {
            kind: LinkKind::Galera,
            a: a.into(),
            b: b.into(),
            state: LinkState::Unknown,
            why: format!("no link was checked: {why}"),
        })
        .collect()
}

fn server(node: NodeStatus) -> ServerSight {
    let answer = if let Some(version) = node.version {
        Ok((version, node.state))
    } else {
        let why = node.why_not.unwrap_or(node.state);
        let reason = if node.is_refused { Reason::Login } else { Reason::NoAnswer };
        Err(Failure { reason, why: why.split("\n  next:").next().unwrap_or_default().replace('\n', " ") })
    };
    ServerSight { name: node.node, address: node.address, answer }
}
