//! Keys and certificates that lie there already must be able to serve, and the CA must open.

use std::path::Path;

use model::{NodeName, Noun, Verb};
use trust::{Elsewhere, LeafSpec, Signer, TrustError};

use super::{Problem, Seen, problem};
use crate::files::{CA_FILE, CERT_FILE, KEY_FILE, leaf_spec};
use crate::world::World;

pub const PEM_BYTES_MAX: u64 = 1024 * 1024;

pub fn check(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    if seen.change.verb == Verb::Disable {
        return problems;
    }
    let dir = world.authority.dir.clone();
    let (mut ca_pem, mut signer) = (None, None);
    let has_ca = dir.join(trust::CA_CERT_FILE).exists();
    if !has_ca && let Some(waiting) = asked(&dir) {
        problems.push(waiting);
        return problems;
    }
    if has_ca {
        match Signer::open(&dir, &world.authority.passphrase) {
            Ok(opened) => {
                ca_pem = Some(opened.ca_pem());
                signer = Some(opened);
            }
            Err(error) => {
                problems.push(problem(
                    "ca",
                    format!("the CA in {} cannot be used", dir.display()),
                    error.to_string(),
                    "give the right --ca-passphrase-file, or another ca_dir",
                ));
                return problems;
            }
        }
    }
    if matches!(signer, Some(Signer::Elsewhere(_))) && seen.change.has(Noun::Ca) {
        problems.push(problem(
            "ca",
            format!("the CA in {} cannot be replaced", dir.display()),
            "its key is not there: its certificates are imported, and sealion cannot make another CA in its place",
            "new certificates of it: sealion trust csr, then sealion rotate",
        ));
        return problems;
    }
    let now = world.unix_s();
    // A join changes nothing of a member.
    let arbitrators = match seen.change.joiner() {
        Some(_) => vec![],
        None => world.arbitrators.iter().map(|one| one.name().clone()).collect(),
    };
    for name in seen.changed().iter().chain(&arbitrators) {
        let (key, days) = (world.authority.key, world.authority.leaf_days);
        let Ok(node) = world.member(name) else { continue };
        let wanted = leaf_spec(node.spec(), key, days);
        let tls_dir = node.spec().tls_dir.clone();
        let read = |file: &str| node.host().read(&tls_dir.join(file), PEM_BYTES_MAX);
        let (key, cert, ca) = match (read(KEY_FILE), read(CERT_FILE), read(CA_FILE)) {
            (Ok(key), Ok(cert), Ok(ca)) => (key, cert, ca),
            (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => {
                problems.push(problem(
                    name,
                    format!("what lies in {} cannot be determined", tls_dir.display()),
                    error.to_string(),
                    "check the path and the rights of this user; nothing is written over what cannot be read",
                ));
                continue;
            }
        };
        if key.is_none() && cert.is_none() && ca.is_none() {
            if seen.change.verb == Verb::Rotate {
                problems.push(problem(
                    name,
                    format!("there is no certificate in {} to rotate", tls_dir.display()),
                    "the directory has none of the files that sealion writes",
                    "sealion enable",
                ));
            } else if let Some(Signer::Elsewhere(imported)) = &signer {
                problems.extend(unusable(imported, name, &wanted, now));
            }
            continue;
        }
        let missing: Vec<&str> = [(&key, KEY_FILE), (&cert, CERT_FILE), (&ca, CA_FILE)]
            .into_iter()
            .filter_map(|(bytes, file)| bytes.is_none().then_some(file))
            .collect();
        let (Some(key), Some(cert), Some(ca)) = (key, cert, ca) else {
            problems.push(problem(
                name,
                format!("{} is incomplete", tls_dir.display()),
                format!("{} is missing", missing.join(" and ")),
                "remove what is left there, or put back what is missing",
            ));
            continue;
        };
        if seen.change.verb == Verb::Rotate
            && let Some(Signer::Elsewhere(imported)) = &signer
        {
            problems.extend(unusable(imported, name, &wanted, now));
            problems.extend(is_in_place(imported, name, &cert));
        }
        let unsound = |error: TrustError| {
            let next = match &error {
                TrustError::Expired { .. } => {
                    "where the server uses it: sealion rotate; else remove the three files and let sealion make new ones"
                }
                _ => "remove the three files and let sealion make new ones",
            };
            let what = format!("the certificate in {} cannot serve", tls_dir.display());
            problem(name, what, error.to_string(), next)
        };
        if let Err(error) = trust::pair_matches(&cert, &key) {
            problems.push(unsound(error));
        } else if let Err(error) = holds(&cert, &ca, now, seen.change.verb) {
            problems.push(unsound(error));
        } else if let Some(ours) = &ca_pem
            && let Err(error) = holds(&cert, ours.as_bytes(), now, seen.change.verb)
        {
            problems.push(problem(
                name,
                format!("the certificate in {} is of another CA", tls_dir.display()),
                error.to_string(),
                "give the ca_dir that it came from, or remove the three files",
            ));
        }
    }
    // Whose servers have no certificates either is told that.
    let signs_nobody = ca_pem.is_none() && seen.change.verb == Verb::Rotate && !seen.change.has(Noun::Ca);
    if problems.is_empty() && signs_nobody {
        problems.push(problem(
            "ca",
            format!("there is no CA in {}", dir.display()),
            "new certificates must be of the CA that the servers trust",
            "copy ca_dir from the machine on which sealion enable was run, or name it in the inventory",
        ));
    }
    problems
}

/// A CA of its own would be made although another one was asked, or that cannot be told.
fn asked(dir: &Path) -> Option<Problem> {
    let what = match Elsewhere::is_asked(dir) {
        Ok(false) => return None,
        Ok(true) => format!("requests in {} wait for their certificates", dir.display()),
        Err(error) => {
            let what = format!(
                "whether requests in {} wait for their certificates cannot be determined",
                dir.display()
            );
            return Some(problem("ca", what, error.to_string(), "let this user read it"));
        }
    };
    Some(problem(
        "ca",
        what,
        "without them sealion would make a CA of its own, and certificates of another one could not be used any more",
        format!("sealion trust import; or, for a CA of its own: rm -r {}", dir.join("requests").display()),
    ))
}

/// Why what was imported for a server cannot be placed there.
fn unusable(imported: &Elsewhere, name: &NodeName, wanted: &LeafSpec, now: i64) -> Option<Problem> {
    let error = imported.leaf(wanted, now).err()?;
    let next = format!("sealion trust csr {name}, have it signed, then sealion trust import");
    Some(problem(name, "no imported certificate can serve there", error.to_string(), next))
}

/// A rotation to the certificate that is there replaces nothing.
fn is_in_place(imported: &Elsewhere, name: &NodeName, cert: &[u8]) -> Option<Problem> {
    let new = imported.imported(name.as_str()).ok()??;
    let is_same = trust::inspect(cert).ok()?.first()?.sha256_fingerprint == new.sha256_fingerprint;
    is_same.then(|| {
        problem(
            name,
            format!(
                "the certificate that was imported for it (serial {}) is in place already",
                new.serial_hex
            ),
            "the CA's key is not here, so that no other one can be made",
            format!("sealion trust csr {name}, have it signed, then sealion trust import"),
        )
    })
}

/// One that has expired is what a rotation replaces.
fn holds(cert: &[u8], ca: &[u8], now: i64, verb: Verb) -> Result<(), TrustError> {
    match trust::chain_ok(cert, ca, now) {
        Err(TrustError::Expired { .. }) if verb == Verb::Rotate => Ok(()),
        other => other,
    }
}

/// A Galera node lets in whoever has a certificate of a CA that it trusts, also where that CA signs for others, too.
pub fn impact(world: &World<'_>) -> Option<String> {
    trust::Elsewhere::is_at(&world.authority.dir).then(|| {
        format!(
            "whoever has a certificate of the CA in {} and reaches the Galera port can join as a member, whatever else that CA signs for: let \
             it sign for this cluster only, or let a firewall guard the port",
            world.authority.dir.join(trust::CA_CERT_FILE).display()
        )
    })
}
