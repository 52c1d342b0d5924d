//! Certificates of a CA whose key is not here: a company's. Requests for the members of the inventory, and what was made of them.

use std::path::{Path, PathBuf};

use model::{Clock, NodeName, SystemClock};
use providers::files::leaf_spec;
use secrecy::SecretString;
use server::NodeSpec;
use site::{Cluster, OpsError};
use trust::{Imported, KeyKind, LeafSpec, PEM_BYTES_MAX, Request, TrustError};

/// The CA says how long its certificates are valid.
const DAYS: u32 = 1;

/// A request for each member, or for those that are named.
///
/// # Errors
/// A name that is not in the inventory; as [`trust::request`].
pub fn requests(
    cluster: &Cluster,
    names: &[NodeName],
    key: KeyKind,
    passphrase: &SecretString,
    again: bool,
) -> Result<Vec<Request>, OpsError> {
    let known = || members(cluster);
    if let Some(name) = names.iter().find(|name| known().all(|spec| spec.name != **name)) {
        let all: Vec<String> = known().map(|spec| spec.name.to_string()).collect();
        return Err(OpsError::usage(
            format!("{name} is not in the inventory"),
            "a request has the names and addresses that the inventory has for a server",
            format!("name one of {}, or none for all", all.join(", ")),
        ));
    }
    let wanted = known().filter(|spec| names.is_empty() || names.contains(&spec.name));
    wanted
        .map(|spec| {
            trust::request(&cluster.ca_dir, &wanted_of(spec, key), passphrase, again).map_err(of_trust)
        })
        .collect()
}

/// Takes the certificates in these files; nothing is kept unless all of them hold.
///
/// # Errors
/// A file that cannot be read; as [`trust::import`].
pub fn import(cluster: &Cluster, files: &[PathBuf], roots: Option<&Path>) -> Result<Vec<Imported>, OpsError> {
    let mut given = Vec::new();
    for file in files {
        given.extend(read(file)?);
        given.push(b'\n');
    }
    let roots = roots.map(read).transpose()?;
    // Of what kind a key is stands in the request.
    let specs: Vec<LeafSpec> = members(cluster).map(|spec| wanted_of(spec, KeyKind::default())).collect();
    let now_s = i64::try_from(SystemClock.unix_ms() / 1000).unwrap_or(i64::MAX);
    trust::import(&cluster.ca_dir, &given, roots.as_deref(), &specs, now_s).map_err(of_trust)
}

/// Also those that are to join.
fn members(cluster: &Cluster) -> impl Iterator<Item = &NodeSpec> {
    cluster.nodes.iter().chain(&cluster.joining).chain(&cluster.arbitrators)
}

fn wanted_of(spec: &NodeSpec, key: KeyKind) -> LeafSpec {
    leaf_spec(spec, key, DAYS)
}

fn read(path: impl AsRef<Path>) -> Result<Vec<u8>, OpsError> {
    use std::io::Read;
    let path = path.as_ref();
    let cannot = |why: String| {
        OpsError::usage(
            format!("{} is not imported", path.display()),
            why,
            "give a PEM file with -----BEGIN CERTIFICATE-----",
        )
    };
    let file = std::fs::File::open(path).map_err(|error| cannot(error.to_string()))?;
    let mut bytes = Vec::new();
    let most = u64::try_from(PEM_BYTES_MAX).unwrap_or(u64::MAX);
    file.take(most + 1).read_to_end(&mut bytes).map_err(|error| cannot(error.to_string()))?;
    if bytes.len() > PEM_BYTES_MAX {
        return Err(cannot(format!("it has more than {PEM_BYTES_MAX} bytes")));
    }
    // What is not a certificate is told with its file.
    match trust::inspect(&bytes) {
        Ok(_) => Ok(bytes),
        Err(TrustError::NotACertificate { why }) => Err(cannot(why)),
        Err(other) => Err(of_trust(other)),
    }
}

/// What a person gave is refused with all its words; the rest is not theirs.
pub(crate) fn of_trust(error: TrustError) -> OpsError {
    match error {
        TrustError::Usage { what, why, next } => OpsError::usage(what, why, next),
        TrustError::Bug(_) => OpsError::internal("the certificates cannot be read", error),
        other => OpsError::Refused(other.to_string()),
    }
}
