//! Whether the files of TLS on a server's disk serve it at its next start or reload. Reading them is handed in.
//!
//! A certificate must be judged before anybody is told to load it, and as long as the next start would fail.

use std::path::{Path, PathBuf};

use openssl::asn1::Asn1Time;
use openssl::ssl::{SslContext, SslMethod};
use openssl::x509::X509;
use zeroize::Zeroizing;

use crate::chain::{chain_ok, server_holds};
use crate::error::{Result, TrustError};
use crate::inspect::inspect;
use crate::key::pair_matches;

/// Source: SSL_CTX_set_security_level(3): no RSA below 2048 bits, no SHA-1.
const SECURITY_LEVEL: u32 = 2;

/// What a server does with its certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It shows it to clients.
    Server,
    /// It shows it to its source, as a replica does. Which CA the source asks for is not known here.
    Client,
    /// It is server and client among members (Galera, Group Replication), which verify each other.
    Member,
}

/// Files that a server is set to use.
#[derive(Debug, Clone)]
pub struct Files {
    /// Whom they are for, for people: `clients`, `Galera`.
    pub what: &'static str,
    pub role: Role,
    pub cert: PathBuf,
    pub key: PathBuf,
    pub ca: Option<PathBuf>,
    /// The server has something that opens an encrypted key.
    pub has_passphrase: bool,
}

/// A file as it is on the server's disk.
#[derive(Debug, Clone)]
pub struct OnDisk {
    pub bytes: Zeroizing<Vec<u8>>,
    /// Its mode keeps the server's user from reading it.
    pub is_kept_from_server: bool,
}

impl OnDisk {
    pub fn new(bytes: Vec<u8>, is_kept_from_server: bool) -> Self {
        Self { bytes: Zeroizing::new(bytes), is_kept_from_server }
    }
}

/// Why the next start or reload fails, or cuts connections.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    #[error("the server's user cannot read {}", .0.display())]
    KeptFromServer(PathBuf),
    #[error("{} is not there", .0.display())]
    CaMissing(PathBuf),
    #[error("{}: {}", .0.display(), in_one_line(.1))]
    Of(PathBuf, TrustError),
    #[error("{}: OpenSSL refuses it at its usual security level: {why}", .path.display())]
    Weak { path: PathBuf, why: String },
    #[error("{} does not have the CA of the certificate that is in use: members that have only that CA are refused", .0.display())]
    OtherCa(PathBuf),
}

#[derive(Debug)]
pub enum Judged {
    Usable,
    Unusable(Unusable),
    CannotTell(String),
    /// Certificate or key is missing, which is a finding of its own.
    Missing,
}

/// What a person reads of an error within a sentence.
pub fn in_one_line(error: &TrustError) -> String {
    let text = error.to_string();
    let lines = text.split("\n  next:").next().unwrap_or_default().lines();
    lines.map(|line| line.trim().trim_start_matches("why:").trim()).collect::<Vec<_>>().join(": ")
}

type Read<'r> = dyn FnMut(&Path) -> std::result::Result<Option<OnDisk>, String> + 'r;

/// `in_use` is the certificate (PEM) that the server shows now: of which CA it is tells which CA its peers have.
pub fn judge(files: &Files, in_use: Option<&[u8]>, read: &mut Read<'_>, at_unix: i64) -> Judged {
    let mut of = |path: &Path| read(path);
    let both = of(&files.cert).and_then(|cert| Ok((cert, of(&files.key)?)));
    let (cert, key) = match both {
        Ok((Some(cert), Some(key))) => (cert, key),
        Ok(_) => return Judged::Missing,
        Err(why) => return Judged::CannotTell(why),
    };
    for (file, path) in [(&cert, &files.cert), (&key, &files.key)] {
        if file.is_kept_from_server {
            return Judged::Unusable(Unusable::KeptFromServer(path.clone()));
        }
    }
    let mut hidden = None;
    match pair_matches(&cert.bytes, &key.bytes) {
        Ok(()) => {}
        Err(TrustError::KeyIsEncrypted) if files.has_passphrase => {
            hidden = Some(format!("{} is encrypted, and its passphrase was not tried", files.key.display()));
        }
        Err(error @ (TrustError::KeyIsEncrypted | TrustError::NotAKey { .. })) => {
            return Judged::Unusable(Unusable::Of(files.key.clone(), error));
        }
        Err(error) => return Judged::Unusable(Unusable::Of(files.cert.clone(), error)),
    }
    if let Err(error) = serves(&cert.bytes, files.role, at_unix) {
        return Judged::Unusable(Unusable::Of(files.cert.clone(), error));
    }
    // A server that runs with such a key has been told to, by its own OpenSSL or by its settings.
    let is_weak_already = in_use.is_some_and(|pem| weakness(pem).is_some());
    if let Some(why) = weakness(&cert.bytes).filter(|_| !is_weak_already) {
        return Judged::Unusable(Unusable::Weak { path: files.cert.clone(), why });
    }
    let ca = match files.ca.as_ref().map(|path| (path, of(path))) {
        None => None,
        Some((path, Ok(Some(ca)))) if files.role == Role::Member && ca.is_kept_from_server => {
            return Judged::Unusable(Unusable::KeptFromServer(path.clone()));
        }
        Some((path, Ok(Some(ca)))) => Some((path, ca)),
        Some((path, Ok(None))) => return Judged::Unusable(Unusable::CaMissing(path.clone())),
        Some((_, Err(why))) => return Judged::CannotTell(why),
    };
    if let Some((path, ca)) = ca {
        // A server does not start TLS with a list of CAs that it cannot read, whomever it asks for a certificate.
        if let Err(error) = inspect(&ca.bytes) {
            return Judged::Unusable(Unusable::Of(path.clone(), error));
        }
        let is_of_it = in_use.map(|pem| is_of(pem, &ca.bytes, at_unix));
        let holds = match (files.role, is_of_it) {
            (Role::Member, _) => chain_ok(&cert.bytes, &ca.bytes, at_unix),
            // Clients may verify by a CA that the server does not need; by this one where it vouches for what they are shown now.
            (Role::Server, Some(true)) => server_holds(&cert.bytes, &ca.bytes, at_unix),
            (Role::Server | Role::Client, _) => Ok(()),
        };
        if let Err(error) = holds {
            return Judged::Unusable(Unusable::Of(files.cert.clone(), error));
        }
        if (files.role, is_of_it) == (Role::Member, Some(false)) {
            return Judged::Unusable(Unusable::OtherCa(path.clone()));
        }
    }
    hidden.map_or(Judged::Usable, Judged::CannotTell)
}

/// Why OpenSSL does not load it at the security level of Debian and most others; of what it cannot read others tell.
fn weakness(cert_pem: &[u8]) -> Option<String> {
    let leaf = X509::from_pem(cert_pem).ok()?;
    let mut context = SslContext::builder(SslMethod::tls_server()).ok()?;
    context.set_security_level(SECURITY_LEVEL);
    let error = context.set_certificate(&leaf).err()?;
    Some(error.errors().iter().filter_map(openssl::error::Error::reason).collect::<Vec<_>>().join(", "))
}

/// Whether one of these CAs has signed it, whatever its dates and uses.
fn is_of(cert_pem: &[u8], ca_pem: &[u8], at_unix: i64) -> bool {
    !matches!(
        chain_ok(cert_pem, ca_pem, at_unix),
        Err(TrustError::UnknownCa { .. } | TrustError::NotACertificate { .. })
    )
}

/// Dates and use of the leaf, whoever has signed it.
fn serves(cert_pem: &[u8], role: Role, at_unix: i64) -> Result<()> {
    let all = inspect(cert_pem)?;
    let Some(leaf) = all.into_iter().next() else {
        return Err(TrustError::NotACertificate { why: "the file is empty".to_owned() });
    };
    let text =
        |unix: i64| Asn1Time::from_unix(unix).map_or_else(|_| unix.to_string(), |time| time.to_string());
    if leaf.not_after_unix < at_unix {
        return Err(TrustError::Expired {
            subject: leaf.subject,
            not_after: text(leaf.not_after_unix),
            at: text(at_unix),
        });
    }
    if leaf.not_before_unix > at_unix {
        return Err(TrustError::NotYetValid {
            subject: leaf.subject,
            not_before: text(leaf.not_before_unix),
            at: text(at_unix),
        });
    }
    let (may, role) = match role {
        Role::Client => (leaf.client_auth, "client"),
        Role::Server | Role::Member => (leaf.server_auth, "server"),
    };
    if !may {
        return Err(TrustError::WrongPurpose { subject: leaf.subject, role });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ca, CaSpec, KeyKind, LeafSpec};
    use secrecy::ExposeSecret;

    const NOW: i64 = 1_800_000_000;
    const DAY: i64 = 86_400;

    fn ca(name: &str) -> Ca {
        let spec = CaSpec { common_name: name.into(), valid_days: 3650, key: KeyKind::EcP256 };
        Ca::create(&spec, NOW).expect("a CA")
    }

    fn pair(ca: &Ca, is_client: bool) -> (Vec<u8>, Vec<u8>) {
        let spec = LeafSpec {
            common_name: "n1".into(),
            dns: vec!["n1".into()],
            ips: vec![],
            valid_days: 100,
            key: KeyKind::EcP256,
            not_before_unix: None,
            not_after_unix: None,
        };
        let leaf =
            if is_client { ca.issue_client(&spec, NOW) } else { ca.issue(&spec, NOW) }.expect("a leaf");
        (leaf.cert_pem.into_bytes(), leaf.key_pem.expose_secret().as_bytes().to_vec())
    }

    struct Case<'c> {
        role: Role,
        pair: (&'c [u8], &'c [u8]),
        ca: &'c [u8],
        in_use: Option<&'c [u8]>,
        kept: &'c str,
        at: i64,
    }

    fn says(case: &Case<'_>) -> String {
        let files = Files {
            what: "Galera",
            role: case.role,
            cert: "/c".into(),
            key: "/k".into(),
            ca: Some("/ca".into()),
            has_passphrase: false,
        };
        let mut read = |path: &Path| {
            let bytes = match path.to_str() {
                Some("/c") => case.pair.0,
                Some("/k") => case.pair.1,
                _ => case.ca,
            };
            let is_kept_from_server = path == Path::new(case.kept);
            Ok((!bytes.is_empty()).then(|| OnDisk::new(bytes.to_vec(), is_kept_from_server)))
        };
        match judge(&files, case.in_use, &mut read, case.at) {
            Judged::Usable => "usable".into(),
            Judged::Unusable(why) => why.to_string(),
            Judged::CannotTell(why) => format!("cannot tell: {why}"),
            Judged::Missing => "missing".into(),
        }
    }

    #[test]
    fn a_file_is_usable_only_where_the_next_start_succeeds() {
        let (own, other) = (ca("own"), ca("other"));
        let (own_pem, other_pem) = (own.cert_pem().into_bytes(), other.cert_pem().into_bytes());
        let (current, renewed, foreign) = (pair(&own, false), pair(&own, false), pair(&other, false));
        let for_clients = pair(&own, true);
        let both = [&own_pem[..], &other_pem].concat();
        let of = |pair: &(Vec<u8>, Vec<u8>), role, ca: &[u8], at| {
            let in_use = Some(current.0.as_slice());
            says(&Case { role, pair: (&pair.0, &pair.1), ca, in_use, kept: "", at })
        };
        for role in [Role::Server, Role::Member] {
            assert_eq!(of(&renewed, role, &own_pem, NOW), "usable", "{role:?}");
            assert_eq!(of(&foreign, role, &both, NOW), "usable", "{role:?}");
            for (pair, at, word) in [
                (&foreign, NOW, "not signed by any CA"),
                (&for_clients, NOW, "TLS server"),
                (&renewed, NOW + 101 * DAY, "expired"),
                (&renewed, NOW - 10 * DAY, "not valid yet"),
                (&(renewed.0.clone(), current.1.clone()), NOW, "does not belong"),
            ] {
                let said = of(pair, role, &own_pem, at);
                assert!(said.contains(word) && !said.contains('\n'), "{role:?} {word}: {said}");
            }
            let kept = |kept| {
                let pair = (renewed.0.as_slice(), renewed.1.as_slice());
                says(&Case { role, pair, ca: &own_pem, in_use: None, kept, at: NOW })
            };
            assert!(kept("/k").contains("cannot read"), "{role:?}");
            assert_eq!(of(&(renewed.0.clone(), vec![]), role, &own_pem, NOW), "missing");
            assert!(of(&renewed, role, &[], NOW).contains("/ca is not there"), "{role:?}");
        }
        // Whose CA file was replaced, too: members have the CA of what is in use.
        assert!(of(&foreign, Role::Member, &other_pem, NOW).contains("in use"));
        assert_eq!(of(&foreign, Role::Server, &other_pem, NOW), "usable");
        // A replica's own certificate: its source may have another CA.
        assert_eq!(of(&for_clients, Role::Client, &own_pem, NOW), "usable");
        assert_eq!(of(&foreign, Role::Client, &own_pem, NOW), "usable");
        assert!(of(&renewed, Role::Client, &own_pem, NOW + 101 * DAY).contains("expired"));
    }
}
