//! Which certificates the servers of a cluster have: as each serves them now, and as they are in its files.
//!
//! [`crate::status`] says when the nearest one ends; who keeps watch needs each of them, and whether the two are the same.

use std::path::Path;

use host::ReadHost;
use server::{LiveArbitrator, ReadMember, ReadNode};
use site::inventory::Cluster;

use crate::status::{NodeStatus, PEM_BYTES_MAX, galera_leaf, reason};

/// What a server has a certificate for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CertificateUse {
    /// What clients are served.
    Server,
    Galera,
    Sst,
}

impl CertificateUse {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Galera => "galera",
            Self::Sst => "sst",
        }
    }
}

/// Where it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CertificateSource {
    /// In a handshake: what is in force now.
    Wire,
    /// In its file: what the next start or reload serves.
    File,
}

impl CertificateSource {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Wire => "wire",
            Self::File => "file",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateFacts {
    /// SHA-256 of it, lower-case hex.
    pub fingerprint: String,
    pub not_before_unix: i64,
    pub not_after_unix: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateSight {
    pub node: String,
    pub usage: CertificateUse,
    pub source: CertificateSource,
    /// Why it could not be read, otherwise.
    pub facts: Result<CertificateFacts, String>,
}

/// Of each node that answered, and each arbitrator. Nothing is said of a certificate that is not configured, or whose file is not there: a rule says that.
pub fn certificates(cluster: &Cluster, nodes: &[NodeStatus]) -> Vec<CertificateSight> {
    let mut found = Vec::new();
    for status in nodes.iter().filter(|status| status.version.is_some()) {
        let Some(spec) = cluster.nodes.iter().find(|spec| *spec.name.as_str() == *status.node) else {
            continue;
        };
        let mut node = cluster.live_node(spec);
        for row in &status.rows {
            let usage = match row.what.split(' ').next() {
                Some("galera") => CertificateUse::Galera,
                Some("sst") => CertificateUse::Sst,
                Some("client") => CertificateUse::Server,
                _ => continue,
            };
            let served = match usage {
                CertificateUse::Galera if row.certificate.is_some() => {
                    Some(galera_leaf(&mut node, cluster.has_files))
                }
                CertificateUse::Server if ["offered", "required"].contains(&row.effective.as_str()) => {
                    Some(ReadNode::client_leaf(&mut node).map_err(reason))
                }
                // Its scripts read the file at each transfer: nothing is served meanwhile.
                _ => None,
            };
            let file = row.certificate.as_deref().filter(|_| cluster.has_files);
            let sights = [
                (CertificateSource::Wire, served.map(|pem| pem.and_then(|pem| facts(pem.as_bytes())))),
                (CertificateSource::File, file.and_then(|path| in_file(node.host(), path).transpose())),
            ];
            for (source, facts) in sights {
                let Some(facts) = facts else { continue };
                found.push(CertificateSight { node: status.node.clone(), usage, source, facts });
            }
        }
    }
    for mut arbitrator in cluster.live_arbitrators() {
        let Some(status) = nodes.iter().find(|status| *status.node == *arbitrator.name().as_str()) else {
            continue;
        };
        found.extend(of_arbitrator(&mut arbitrator, status));
    }
    found
}

/// Of one that does not tell whether it has any, too: what was read of it before stays there, as not read now.
fn of_arbitrator(arbitrator: &mut LiveArbitrator, status: &NodeStatus) -> Vec<CertificateSight> {
    let sight = |source, facts| CertificateSight {
        node: status.node.clone(),
        usage: CertificateUse::Galera,
        source,
        facts,
    };
    if let Some(why) = &status.why_not {
        let why = why.lines().next().unwrap_or_default();
        return vec![sight(CertificateSource::Wire, Err(why.to_owned()))];
    }
    let Some(path) = status.rows.iter().find_map(|row| row.certificate.as_deref()) else { return vec![] };
    let served = arbitrator.galera_leaf().map_err(reason).and_then(|pem| facts(pem.as_bytes()));
    let file = in_file(arbitrator.host(), path).transpose();
    let file = file.map(|facts| sight(CertificateSource::File, facts));
    std::iter::once(sight(CertificateSource::Wire, served)).chain(file).collect()
}

fn facts(pem: &[u8]) -> Result<CertificateFacts, String> {
    let leaf = trust::inspect(pem).map_err(reason)?.into_iter().next().ok_or("it holds no certificate")?;
    Ok(CertificateFacts {
        fingerprint: leaf.sha256_fingerprint,
        not_before_unix: leaf.not_before_unix,
        not_after_unix: leaf.not_after_unix,
    })
}

fn in_file(host: &dyn ReadHost, path: &Path) -> Result<Option<CertificateFacts>, String> {
    match host.read(path, PEM_BYTES_MAX) {
        Ok(None) => Ok(None),
        Ok(Some(pem)) => facts(&pem).map(Some).map_err(|why| format!("{}: {why}", path.display())),
        Err(error) => Err(reason(error)),
    }
}
