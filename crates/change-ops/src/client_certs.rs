//! Certificates for clients: made on this machine, revoked by who an account lets in. No server is changed here: they come to trust the clients' CA by
//! `enable clients`.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use host::{HostLock, Local, WriteHost};
use model::{Clock, NodeName, SystemClock};
use providers::steps::{arbitrator_as_member, node_as_member};
use secrecy::{ExposeSecret, SecretString};
use server::accounts::{AccountName, CertificateAccount};
use server::{NodeError, PemSet, ReadNode};
use site::{Cluster, OpsError};
use trust::{ClientLeaf, ClientSubject, Clients, KeyKind, Revoked};

use crate::requests::of_trust;

/// In the state directory of this machine.
const LOCK_FILE: &str = "clients.lock";
const LOCK_MAX: Duration = Duration::from_secs(30);

/// What a client gets.
pub struct Made {
    pub cert: PathBuf,
    pub key: PathBuf,
    pub leaf: ClientLeaf,
    /// With which it verifies servers, on this machine.
    pub servers_ca: PathBuf,
    /// Members that did not tell whether they take it for another member's.
    pub not_asked: Vec<String>,
}

/// An account that lets in who has a certain certificate.
pub struct Taker {
    pub account: AccountName,
    pub servers: Vec<NodeName>,
    /// It names no subject: it takes every certificate.
    pub takes_all: bool,
}

/// Who lets in whom, as far as servers told.
#[derive(Default)]
pub struct Takers {
    pub accounts: Vec<Taker>,
    pub not_asked: Vec<String>,
}

fn now_s() -> i64 {
    i64::try_from(SystemClock.unix_ms() / 1000).unwrap_or(i64::MAX)
}

/// A key and a certificate for `name` in `out`; files that are there are left as they are.
///
/// # Errors
/// One of them is there; a member of the cluster takes the certificate for another member's; as [`Clients::issue`].
pub fn make(
    cluster: &Cluster,
    name: &str,
    out: &Path,
    days: u32,
    key: KeyKind,
    passphrase: &SecretString,
) -> Result<Made, OpsError> {
    let files = ["key", "cert"].map(|what| out.join(format!("{name}-{what}.pem")));
    if let Some(there) = files.iter().find(|path| fs::symlink_metadata(path).is_ok()) {
        return Err(OpsError::usage(
            format!("{} is not written", there.display()),
            "it is there already",
            "name another directory with --out DIR, or move that file away",
        ));
    }
    let clients = Clients::of(&cluster.ca_dir);
    let _alone = alone(&cluster.state_dir)?;
    let ca = clients.open_or_make(&cluster.name, passphrase, now_s()).map_err(of_trust)?;
    let leaf = clients.issue(&ca, name, days, key, now_s()).map_err(of_trust)?;
    let shown = PemSet {
        ca: ca.cert_pem().into_bytes(),
        cert: leaf.leaf.cert_pem.clone().into_bytes(),
        key: leaf.leaf.key_pem.expose_secret().to_owned().into(),
    };
    let not_asked = refused_by_members(cluster, &Arc::new(shown))?;
    fs::create_dir_all(out).map_err(|error| cannot_write(out, &error))?;
    let [key, cert] = files;
    write_new(&key, leaf.leaf.key_pem.expose_secret().as_bytes(), 0o600)?;
    if let Err(error) = write_new(&cert, leaf.leaf.cert_pem.as_bytes(), 0o644) {
        // A key without its certificate is of no use; it was made here a moment ago.
        let _ = fs::remove_file(&key);
        return Err(error);
    }
    Ok(Made { cert, key, leaf, servers_ca: cluster.ca_dir.join(trust::CA_CERT_FILE), not_asked })
}

/// Members that could not be asked. One that has the clients' CA among those of its members stays so until it is started again, whatever
/// its files say by then: who gets a certificate could join the cluster with it.
fn refused_by_members(cluster: &Cluster, shown: &Arc<PemSet>) -> Result<Vec<String>, OpsError> {
    let nodes = cluster.on_each(|spec| node_as_member(&mut cluster.live_node(spec), shown));
    let mut arbitrators = cluster.live_arbitrators();
    let arbitrators = arbitrators.iter_mut().map(|one| arbitrator_as_member(one, shown));
    let (mut members, mut not_asked) = (Vec::new(), Vec::new());
    for answer in nodes.into_iter().chain(arbitrators) {
        match answer {
            Ok(found) => members.extend(found),
            // Its next start reads its files, and the gate of `enable` asks it then.
            Err(NodeError::Down { .. }) => {}
            Err(error) => not_asked.push(error.first_line()),
        }
    }
    if members.is_empty() {
        return Ok(not_asked);
    }
    Err(OpsError::Refused(format!(
        "no certificate is given to a client\n  why:  {}\n  next: take the clients' CA out of that ca.pem and restart the member (a reload of its files forgets no CA), then the same command",
        members.join("\n        ")
    )))
}

/// Of two that make the CA of clients at once, one would sign with a key that nobody trusts.
fn alone(dir: &Path) -> Result<Box<dyn HostLock>, OpsError> {
    let cannot = |error: String| {
        OpsError::usage(
            format!("{} cannot be locked", dir.display()),
            error,
            "wait until the other sealion trust has ended, then the same command again",
        )
    };
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.map_err(|error| cannot(error.to_string()))?;
    Local.lock(&dir.join(LOCK_FILE), LOCK_MAX).map_err(|error| cannot(error.to_string()))
}

/// Only where there is none: another key might lie there since it was asked.
fn write_new(path: &Path, bytes: &[u8], mode: u32) -> Result<(), OpsError> {
    let written = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    let mut file = written.map_err(|error| cannot_write(path, &error))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(|error| {
        let _ = fs::remove_file(path);
        cannot_write(path, &error)
    })
}

fn cannot_write(path: &Path, why: &std::io::Error) -> OpsError {
    OpsError::usage(
        format!("{} is not written", path.display()),
        why.to_string(),
        "the same command again makes another certificate; this one was given to nobody",
    )
}

/// Revokes what `which` names: a file, a serial, or a client's name.
///
/// # Errors
/// As [`Clients::revoke`].
pub fn revoke(cluster: &Cluster, which: &str) -> Result<Revoked, OpsError> {
    let _alone = alone(&cluster.state_dir)?;
    Clients::of(&cluster.ca_dir).revoke(&cluster.ca_dir, which).map_err(of_trust)
}

/// Accounts of the servers that still let in who has a certificate with this subject.
#[must_use]
pub fn takers(cluster: &Cluster, of: &ClientSubject) -> Takers {
    let mut takers = Takers::default();
    let asked = cluster.on_each(|spec| cluster.live_node(spec).certificate_accounts());
    for (spec, asked) in cluster.nodes.iter().zip(asked) {
        let name = &spec.name;
        let all = match asked {
            Ok(all) => all,
            Err(error) => {
                takers.not_asked.push(error.first_line());
                continue;
            }
        };
        for one in all.into_iter().filter(|one| takes(one, of)) {
            match takers.accounts.iter_mut().find(|known| known.account == one.name) {
                Some(known) => {
                    known.takes_all |= one.subject.is_empty();
                    known.servers.push(name.clone());
                }
                None => takers.accounts.push(Taker {
                    account: one.name,
                    servers: vec![name.clone()],
                    takes_all: one.subject.is_empty(),
                }),
            }
        }
    }
    takers
}

/// What an account does not name it takes from everybody.
fn takes(account: &CertificateAccount, of: &ClientSubject) -> bool {
    let fits = |wanted: &str, shown: &str| wanted.is_empty() || wanted == shown;
    fits(&account.subject, &of.subject) && fits(&account.issuer, &of.issuer)
}

/// The statement with which an account takes one subject of the clients' CA, and no certificate of another CA.
#[must_use]
pub fn require(account: &AccountName, subject: &str, issuer: &str) -> String {
    let quoted = server::replication::quoted;
    format!("ALTER USER {account} REQUIRE SUBJECT {} AND ISSUER {};", quoted(subject), quoted(issuer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_takes_what_it_names_and_from_everybody_what_it_does_not_name() {
        let of = ClientSubject { subject: "/CN=app".into(), issuer: "/CN=clients".into() };
        let account = |subject: &str, issuer: &str| CertificateAccount {
            name: AccountName { user: "app".into(), host: "%".into() },
            subject: subject.into(),
            issuer: issuer.into(),
        };
        for (subject, issuer, is_taken) in [
            ("/CN=app", "/CN=clients", true),
            ("/CN=app", "", true),
            ("", "/CN=clients", true),
            ("", "", true),
            ("/CN=app G2", "/CN=clients", false),
            ("/CN=app", "/CN=another", false),
        ] {
            assert_eq!(takes(&account(subject, issuer), &of), is_taken, "{subject} {issuer}");
        }
        let name = AccountName { user: "a'b".into(), host: "%".into() };
        assert_eq!(
            require(&name, "/CN=app", "/CN=it's"),
            "ALTER USER `a'b`@'%' REQUIRE SUBJECT '/CN=app' AND ISSUER '/CN=it''s';"
        );
    }
}
