//! Certificates and keys that the server names, as they are on its disk.

use std::path::{Path, PathBuf};

use model::{Value, facts};
use server::galera::GaleraFacts;
use trust::TrustError;
use zeroize::Zeroizing;

use super::{HostQuestion, list};
use crate::asking::Asking;
use crate::beside::{Found, one_line};

pub const QUESTION: HostQuestion = HostQuestion {
    name: "files of TLS",
    facts: &[
        &facts::server::TLS_FILES_MISSING,
        &facts::server::KEY_OTHERS_CAN_READ,
        &facts::server::KEY_OWNER_IS_SERVER,
        &facts::server::KEY_MISMATCH,
        &facts::server::CERT_FILE_DIFFERS,
        &facts::server::CERT_FILE_UNUSABLE,
        &facts::server::CLIENT_CA_IS_PUBLIC,
    ],
    ask,
};

const PEM_BYTES_MAX: u64 = 1024 * 1024;
/// Group and others.
const KEY_MASK: u32 = 0o077;

fn ask(asking: &mut Asking<'_>, found: &Found<'_>) {
    let pairs = pairs(asking, found);
    let files: Vec<&PathBuf> = pairs.iter().flat_map(|(certificate, key)| [certificate, key]).collect();
    let (mut gone, mut unknown) = (Vec::new(), Vec::new());
    for path in files {
        match found.facts(path) {
            Ok(Some(_)) => {}
            Ok(None) => gone.push(path.display().to_string()),
            Err(why) => unknown.push(why),
        }
    }
    asking.note_of_host(&facts::server::TLS_FILES_MISSING, list(&gone, &unknown), "ls -l FILE");
    if pairs.is_empty() {
        // Made in memory, or no TLS at all: there is no file to look at.
        for fact in [&facts::server::KEY_OTHERS_CAN_READ, &facts::server::KEY_OWNER_IS_SERVER] {
            asking.note_of_host(fact, Value::Absent, "stat FILE");
        }
    } else {
        note_keys(asking, found, &pairs);
    }
    let mismatch = mismatch(found, &pairs);
    let how = "openssl pkey -pubout -in KEY; openssl x509 -noout -pubkey -in CERTIFICATE";
    asking.note_of_host(&facts::server::KEY_MISMATCH, mismatch, how);
    let differs = served_differs(asking, found);
    let how = "openssl s_client -starttls mysql -connect HOST:3306 | openssl x509 -noout -fingerprint; \
               openssl x509 -noout -fingerprint -in FILE";
    asking.note_of_host(&facts::server::CERT_FILE_DIFFERS, differs, how);
    let sst = found.machine.sst.as_ref().ok().and_then(|sst| server::tls_files::of_sst(asking.view, sst));
    let channels = asking.channel_files.iter();
    let channels = channels.filter_map(|[cert, key]| server::tls_files::of_channel(asking.view, cert, key));
    let unusable = server::tls_files::unusable(
        asking.view,
        sst.into_iter().chain(channels).collect(),
        found.host(),
        Some(found.process.uid),
        asking.served_pem,
        asking.now_unix_s(),
    );
    let unusable = unusable.unwrap_or(Value::Absent);
    asking.note_of_host(&facts::server::CERT_FILE_UNUSABLE, unusable, server::tls_files::HOW);
    let public = public_cas(asking, found);
    asking.note_of_host(
        &facts::server::CLIENT_CA_IS_PUBLIC,
        public,
        "openssl storeutl -noout -text -certs FILE",
    );
}

/// Certificates with their keys: for clients, and for Galera.
fn pairs(asking: &Asking<'_>, found: &Found<'_>) -> Vec<(PathBuf, PathBuf)> {
    let options = asking.view.provider_options();
    let of = |certificate: Option<&str>, key: Option<&str>| {
        let path = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(|text| found.path(text));
        Some((path(certificate)?, path(key)?))
    };
    let clients = of(asking.view.variable("ssl_cert"), asking.view.variable("ssl_key"));
    let galera = of(options.get("socket.ssl_cert"), options.get("socket.ssl_key"));
    let mut pairs: Vec<_> = clients.into_iter().chain(galera).collect();
    pairs.dedup();
    pairs
}

/// The worst of the keys decides. That one is not there is another rule's.
fn note_keys(asking: &mut Asking<'_>, found: &Found<'_>, pairs: &[(PathBuf, PathBuf)]) {
    let (mut others_read, mut is_own) = (Value::Absent, Value::Absent);
    for (_, key) in pairs {
        let (mode, owner) = match found.facts(key) {
            Ok(None) => continue,
            Ok(Some(of)) => (Value::Bool(of.mode & KEY_MASK != 0), Value::Bool(of.uid == found.process.uid)),
            Err(why) => (Value::Unknown(why.clone()), Value::Unknown(why)),
        };
        if others_read != Value::Bool(true)
            && !matches!((&others_read, &mode), (Value::Unknown(_), Value::Bool(false)))
        {
            others_read = mode;
        }
        if is_own != Value::Bool(false)
            && !matches!((&is_own, &owner), (Value::Unknown(_), Value::Bool(true)))
        {
            is_own = owner;
        }
    }
    asking.note_of_host(&facts::server::KEY_OTHERS_CAN_READ, others_read, "stat FILE");
    asking.note_of_host(&facts::server::KEY_OWNER_IS_SERVER, is_own, "stat FILE");
}

fn mismatch(found: &Found<'_>, pairs: &[(PathBuf, PathBuf)]) -> Value {
    let (mut apart, mut unknown) = (Vec::new(), Vec::new());
    for (certificate, key) in pairs {
        let both = read(found, certificate).and_then(|pem| Ok((pem, read(found, key)?.map(Zeroizing::new))));
        let (certificate_pem, key_pem) = match both {
            Ok((Some(certificate_pem), Some(key_pem))) => (certificate_pem, key_pem),
            Ok(_) => continue,
            Err(why) => {
                unknown.push(why);
                continue;
            }
        };
        match trust::pair_matches(&certificate_pem, &key_pem) {
            Ok(()) => {}
            Err(TrustError::KeyMismatch { .. }) => {
                apart.push(format!("{} does not belong to {}", key.display(), certificate.display()));
            }
            Err(error) => unknown.push(format!("{}: {}", key.display(), trust::usable::in_one_line(&error))),
        }
    }
    list(&apart, &unknown)
}

fn read(found: &Found<'_>, path: &Path) -> Result<Option<Vec<u8>>, String> {
    found.host().read(path, PEM_BYTES_MAX).map_err(one_line)
}

fn served_differs(asking: &Asking<'_>, found: &Found<'_>) -> Value {
    if asking.view.client_tls() == Some(false) {
        return Value::Absent;
    }
    let Some(path) = asking.view.variable("ssl_cert").filter(|path| !path.is_empty()) else {
        // MariaDB from 11.4 on makes one in memory.
        return Value::Absent;
    };
    let path = found.path(path);
    let served = match asking.served {
        Ok(served) => served,
        Err(why) => return Value::Unknown(why.clone()),
    };
    let pem = match read(found, &path) {
        Ok(Some(pem)) => pem,
        // Another rule says so.
        Ok(None) => return Value::Unknown(format!("{} is not there", path.display())),
        Err(why) => return Value::Unknown(why),
    };
    match trust::inspect(&pem).map(|all| all.into_iter().next()) {
        Ok(Some(leaf)) if leaf.sha256_fingerprint == served.sha256_fingerprint => Value::Absent,
        Ok(_) => Value::Text(format!(
            "{} has another certificate than the one that clients are served",
            path.display()
        )),
        Err(error) => Value::Unknown(format!("{}: {error}", path.display())),
    }
}

/// Those that the machine's own store has as well.
fn public_cas(asking: &Asking<'_>, found: &Found<'_>) -> Value {
    let Some(path) = asking.view.variable("ssl_ca").filter(|path| !path.is_empty()) else {
        return Value::Absent;
    };
    let path = found.path(path);
    let pem = match read(found, &path) {
        Ok(Some(pem)) => pem,
        Ok(None) => return Value::Unknown(format!("{} is not there", path.display())),
        Err(why) => return Value::Unknown(why),
    };
    let own = match trust::inspect(&pem) {
        Ok(own) => own,
        Err(error) => return Value::Unknown(format!("{}: {error}", path.display())),
    };
    let mut store = None;
    for bundle in trust::SYSTEM_BUNDLES {
        match read(found, bundle.as_ref()) {
            Ok(None) => {}
            Ok(Some(pem)) => {
                store = Some(trust::fingerprints(&pem).map_err(|error| format!("{bundle}: {error}")));
                break;
            }
            Err(why) => return Value::Unknown(why),
        }
    }
    match store {
        Some(Err(why)) => Value::Unknown(why),
        Some(Ok(store)) => {
            let public: Vec<String> = own
                .iter()
                .filter(|one| store.contains(&one.sha256_fingerprint))
                .map(|one| one.subject.clone())
                .collect();
            super::super::questions::some(public.into_iter())
        }
        None => {
            Value::Unknown("the machine has no store of public CAs that sealion knows the place of".into())
        }
    }
}
