//! A running node takes no key of another kind: it would be told only after the files were replaced, and the change would go back.

use model::{NodeName, Verb};
use trust::{Elsewhere, KeyKind};

use super::{Problem, Seen, problem};
use crate::world::World;

/// # Source
/// Seen on MariaDB 10.11.19 with Galera 26.4.23: told to read an RSA key in the place of an ECDSA key, it says nothing, and shows the old certificate
/// on its Galera port. OpenSSL keeps one certificate for each kind of key, SSL_CTX_use_certificate(3), and the old one is not taken away.
pub fn check(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    if seen.change.verb != Verb::Rotate {
        return vec![];
    }
    let wished = world.authority.key;
    let (wished_kind, for_it) = match wished {
        KeyKind::EcP256 => ("EC", String::new()),
        KeyKind::Rsa { bits } => ("RSA", format!(" -b {bits}")),
    };
    // One that does not open is told by the check of the files.
    let imported = Elsewhere::at(&world.authority.dir, &world.authority.passphrase).ok().flatten();
    let mut problems = Vec::new();
    for (name, _) in seen.up() {
        let Ok(node) = world.node(name) else { continue };
        // What cannot be seen, or be read, is told by the plan of the rotation, which begins with what is served.
        let Ok(pem) = node.galera_shows() else { continue };
        let Some(key) = trust::inspect(pem.as_bytes()).ok().and_then(|all| Some(all.first()?.key.clone()))
        else {
            continue;
        };
        if let Some(imported) = &imported {
            problems.extend(of_imported(imported, name, &key));
            continue;
        }
        if kind(&key) == wished_kind {
            continue;
        }
        problems.push(problem(
            name,
            format!("a running node takes no key of another kind: it has {key}, and would get {wished}"),
            "it reads the new files without an error and goes on showing its old certificate on the Galera port",
            format!(
                "sealion {}{} keeps the kind; to change it: sealion disable, then sealion enable{}",
                seen.change,
                key.strip_prefix("RSA ").map_or_else(String::new, |bits| format!(" -b {bits}")),
                for_it
            ),
        ));
    }
    problems
}

/// Of which kind its key is was said when the certificate was asked for.
fn of_imported(imported: &Elsewhere, name: &NodeName, key: &str) -> Option<Problem> {
    let new = imported.imported(name.as_str()).ok()??.key;
    (kind(&new) != kind(key)).then(|| {
        problem(
            name,
            format!("a running node takes no key of another kind: it has {key}, and would get {new}, which was imported"),
            "it reads the new files without an error and goes on showing its old certificate on the Galera port",
            format!(
                "sealion trust csr {name}{}, have it signed, then sealion trust import",
                key.strip_prefix("RSA ").map_or_else(String::new, |bits| format!(" -b {bits}")),
            ),
        )
    })
}

/// `RSA` of `RSA 3072`.
fn kind(key: &str) -> &str {
    key.split(' ').next().unwrap_or(key)
}
