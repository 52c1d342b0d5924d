//! A CA whose key is not here: a company's. Each server's key is made here and asks for a certificate; what comes back is checked
//! before a server sees it.
//!
//! Below the directory of the CA: `requests/NAME-key.pem` (encrypted) and `requests/NAME.csr` wait for their certificate,
//! `issued/NAME.pem` has the encrypted key and the certificate with its intermediates in one file, so that they are replaced as
//! one. `ca.pem` has the root and the intermediates: servers show their leaf to others that may know the root only.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use openssl::hash::MessageDigest;
use openssl::pkey::{PKey, Private};
use openssl::stack::Stack;
use openssl::symm::Cipher;
use openssl::x509::extension::{ExtendedKeyUsage, KeyUsage, SubjectAlternativeName};
use openssl::x509::{X509, X509Req, X509VerifyResult};
use secrecy::{ExposeSecret, SecretString};
use zeroize::Zeroizing;

use crate::bundle::fingerprints;
use crate::ca::{
    CA_CERT_FILE, CA_KEY_FILE, Ca, Leaf, LeafSpec, check_common_name, check_dns, check_passphrase,
    common_name, make_private_dir, pem_text,
};
use crate::chain::chain_serves;
use crate::error::{Result, TrustError, usage};
use crate::file::{FileError, write_atomically};
use crate::inspect::{CertificateInfo, certificates, inspect, name_text};
use crate::key::{KeyKind, plain_pem};

const REQUESTS: &str = "requests";
const ISSUED: &str = "issued";

/// Who signs for the servers of a cluster.
#[derive(Debug)]
pub enum Signer {
    /// The cluster's own CA.
    Here(Ca),
    /// Another one, which has signed what lies here.
    Elsewhere(Elsewhere),
}

impl Signer {
    /// Whose key is not here signs elsewhere.
    ///
    /// # Errors
    /// As [`Ca::open`]; [`TrustError::File`].
    pub fn open(dir: &Path, passphrase: &SecretString) -> Result<Self> {
        match Elsewhere::at(dir, passphrase)? {
            Some(other) => Ok(Self::Elsewhere(other)),
            None => Ca::open(dir, passphrase).map(Self::Here),
        }
    }

    /// What servers and clients must trust, as PEM.
    #[must_use]
    pub fn ca_pem(&self) -> String {
        match self {
            Self::Here(ca) => ca.cert_pem(),
            Self::Elsewhere(other) => other.ca_pem.clone(),
        }
    }

    /// Key and certificate for one server: made, or those that were imported for this name.
    ///
    /// # Errors
    /// As [`Ca::issue`] and [`Elsewhere::leaf`].
    pub fn leaf(&self, spec: &LeafSpec, now_unix: i64) -> Result<Leaf> {
        match self {
            Self::Here(ca) => ca.issue(spec, now_unix),
            Self::Elsewhere(other) => other.leaf(spec, now_unix),
        }
    }
}

/// A CA whose certificate is here, and its key is not.
#[derive(Debug)]
pub struct Elsewhere {
    dir: PathBuf,
    passphrase: SecretString,
    ca_pem: String,
}

impl Elsewhere {
    /// Whether certificates of such a CA were imported here.
    #[must_use]
    pub fn is_at(dir: &Path) -> bool {
        dir.join(CA_CERT_FILE).exists() && !dir.join(CA_KEY_FILE).exists() && dir.join(ISSUED).is_dir()
    }

    /// Key and certificate of `name`, in one file.
    #[must_use]
    pub fn file(dir: &Path, name: &str) -> PathBuf {
        dir.join(ISSUED).join(format!("{name}.pem"))
    }

    /// The CA of this directory, if its certificates are imported.
    ///
    /// # Errors
    /// As [`Signer::open`].
    pub fn at(dir: &Path, passphrase: &SecretString) -> Result<Option<Self>> {
        Self::is_at(dir).then(|| Self::open(dir, passphrase)).transpose()
    }

    /// Whether requests wait here for their certificates.
    ///
    /// # Errors
    /// That cannot be told: the directory is there and cannot be read.
    pub fn is_asked(dir: &Path) -> Result<bool> {
        let dir = dir.join(REQUESTS);
        let cannot = |error| TrustError::from(FileError::io("read", &dir, error));
        let entries = match fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(cannot(error)),
        };
        for entry in entries {
            if entry.map_err(cannot)?.path().extension().is_some_and(|one| one == "csr") {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn open(dir: &Path, passphrase: &SecretString) -> Result<Self> {
        check_passphrase(passphrase)?;
        let path = dir.join(CA_CERT_FILE);
        let bytes = fs::read(&path).map_err(|error| FileError::io("read", &path, error))?;
        // What is no certificate is said here, not on a server.
        fingerprints(&bytes)?;
        let ca_pem = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Self { dir: dir.to_owned(), passphrase: passphrase.clone(), ca_pem })
    }

    /// The imported certificate of `name`; `None`: there is none.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn imported(&self, name: &str) -> Result<Option<CertificateInfo>> {
        let path = Self::file(&self.dir, name);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(inspect(&bytes)?.swap_remove(0))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(FileError::io("read", &path, error).into()),
        }
    }

    /// Key and certificate that were imported for the name of `spec`, if they still hold for all that it asks.
    ///
    /// # Errors
    /// [`TrustError::Refused`] if there are none, or a name is missing in them; as [`chain_ok`]; [`TrustError::WrongPassphrase`].
    pub fn leaf(&self, spec: &LeafSpec, now_unix: i64) -> Result<Leaf> {
        let name = &spec.common_name;
        let path = Self::file(&self.dir, name);
        let bytes = match fs::read(&path) {
            Ok(bytes) => Zeroizing::new(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(TrustError::Refused {
                    what: format!("there is no certificate for {name}"),
                    why: format!(
                        "the key of the CA in {} is not there, so its certificates are imported, and none was for {name}",
                        self.dir.display()
                    ),
                    next: format!("sealion trust csr {name}, have it signed, then sealion trust import"),
                });
            }
            Err(error) => return Err(FileError::io("read", &path, error).into()),
        };
        let key = PKey::private_key_from_pem_passphrase(&bytes, self.passphrase.expose_secret().as_bytes())
            .map_err(|_| TrustError::WrongPassphrase { path })?;
        let chain = certificates(&bytes)?;
        crate::key::belongs(&chain, &key)?;
        judge(&chain, &self.ca_pem, spec, now_unix)?;
        let cert_pem = chain.iter().map(pem_text).collect::<Result<String>>()?;
        Ok(Leaf { cert_pem, key_pem: plain_pem(&key)? })
    }
}

/// Holds, as server and as client, and for every name that was asked for.
fn judge(chain: &[X509], ca_pem: &str, spec: &LeafSpec, now_unix: i64) -> Result<()> {
    let pem = chain.iter().map(pem_text).collect::<Result<String>>()?;
    chain_serves(pem.as_bytes(), ca_pem.as_bytes(), now_unix)?;
    let info = inspect(pem.as_bytes())?.swap_remove(0);
    let has = |dns: &String| info.dns.iter().any(|one| one.eq_ignore_ascii_case(dns));
    let dns = spec.dns.iter().filter(|one| !has(one)).cloned();
    let ips = spec.ips.iter().filter(|one| !info.ips.contains(one)).map(ToString::to_string);
    let missing: Vec<String> = dns.chain(ips).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(TrustError::Refused {
        what: format!("the certificate of {} lacks names of {}", info.subject, spec.common_name),
        why: format!(
            "its subjectAltName does not have {}, and clients that verify would refuse it there",
            missing.join(", ")
        ),
        next: "have the request signed again with the names that it asks for (some CAs leave them out unless told \
               to copy extensions)"
            .to_owned(),
    })
}

/// A request that waits for its certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Of the server.
    pub name: String,
    /// The request as PEM (PKCS#10, RFC 2986).
    pub csr_pem: String,
    /// False: it was made before, and its certificate may be on its way.
    pub is_new: bool,
}

/// What was imported for one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Of the server.
    pub name: String,
    /// Its new certificate.
    pub info: CertificateInfo,
    /// Valid until, in seconds since 1970: an intermediate may end before.
    pub not_after_unix: i64,
}

/// Makes a key for the server and a request for its certificate, or returns the one that waits for its certificate already:
/// a new key would make that worthless. With `again` it is made anew.
///
/// # Errors
/// [`TrustError::Refused`] where the cluster has a CA of its own; [`TrustError::Usage`] for a specification outside of its
/// limits; [`TrustError::File`].
pub fn request(dir: &Path, spec: &LeafSpec, passphrase: &SecretString, again: bool) -> Result<Request> {
    check_common_name(&spec.common_name)?;
    spec.dns.iter().try_for_each(|dns| check_dns(dns))?;
    check_passphrase(passphrase)?;
    has_no_ca_of_its_own(dir)?;
    make_private_dir(dir)?;
    make_private_dir(&dir.join(REQUESTS))?;
    let name = &spec.common_name;
    let csr_path = dir.join(REQUESTS).join(format!("{name}.csr"));
    let key_path = key_of_request(dir, name);
    if !again && key_path.exists() {
        match fs::read_to_string(&csr_path) {
            Ok(csr_pem) => {
                return Ok(Request { name: name.clone(), csr_pem, is_new: false });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(FileError::io("read", &csr_path, error).into()),
        }
    }
    let key = spec.key.generate()?;
    let csr_pem = csr(spec, &key)?;
    let secret = passphrase.expose_secret().as_bytes();
    let key_pem = Zeroizing::new(key.private_key_to_pem_pkcs8_passphrase(Cipher::aes_256_cbc(), secret)?);
    // An older request goes first: with a new key it would be signed in vain.
    remove(&csr_path)?;
    write_atomically(&key_path, &key_pem, 0o600, None)?;
    write_atomically(&csr_path, csr_pem.as_bytes(), 0o644, None)?;
    Ok(Request { name: name.clone(), csr_pem, is_new: true })
}

fn csr(spec: &LeafSpec, key: &PKey<Private>) -> Result<String> {
    let mut builder = X509Req::builder()?;
    builder.set_version(0)?; // PKCS#10 v1 is written as 0.
    let subject = common_name(&spec.common_name)?;
    builder.set_subject_name(&subject)?;
    builder.set_pubkey(key)?;
    let context = builder.x509v3_context(None);
    let mut names = SubjectAlternativeName::new();
    for dns in &spec.dns {
        names.dns(dns);
    }
    for ip in &spec.ips {
        names.ip(&ip.to_string());
    }
    let mut usage = KeyUsage::new();
    usage.critical().digital_signature();
    if matches!(spec.key, KeyKind::Rsa { .. }) {
        usage.key_encipherment();
    }
    let mut extensions = Stack::new()?;
    if !spec.dns.is_empty() || !spec.ips.is_empty() {
        extensions.push(names.build(&context)?)?;
    }
    extensions.push(usage.build()?)?;
    extensions.push(ExtendedKeyUsage::new().server_auth().client_auth().build()?)?;
    builder.add_extensions(&extensions)?;
    builder.sign(key, MessageDigest::sha256())?;
    let pem = builder.build().to_pem()?;
    String::from_utf8(pem)
        .map_err(|_| TrustError::NotACertificate { why: "OpenSSL wrote no text".to_owned() })
}

/// Takes certificates that came back, in any order, with their intermediates, and the root if `roots_pem` is not given. Each
/// goes to the request with its key; all of them are checked before the first one is kept.
///
/// `specs` says what each server's certificate must hold.
///
/// # Errors
/// [`TrustError::Refused`] where the cluster has a CA of its own, for a certificate that nobody asked for, one that lacks a name,
/// a root that is missing, or another root than before; as [`chain_ok`].
pub fn import(
    dir: &Path,
    given_pem: &[u8],
    roots_pem: Option<&[u8]>,
    specs: &[LeafSpec],
    now_unix: i64,
) -> Result<Vec<Imported>> {
    has_no_ca_of_its_own(dir)?;
    let mut given = certificates(given_pem)?;
    given.extend(roots_pem.map(certificates).transpose()?.into_iter().flatten());
    let mut leaves = Vec::new();
    let mut authorities: Vec<(X509, CertificateInfo)> = Vec::new();
    for certificate in given {
        let info = inspect(&certificate.to_pem()?)?.swap_remove(0);
        if !info.is_ca {
            leaves.push((certificate, info));
        } else if !authorities.iter().any(|(_, one)| one.sha256_fingerprint == info.sha256_fingerprint) {
            authorities.push((certificate, info));
        }
    }
    let ca_path = dir.join(CA_CERT_FILE);
    let before = match fs::read(&ca_path) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(FileError::io("read", &ca_path, error).into()),
    };
    let used = above(&leaves, authorities.clone());
    // Where nothing leads to a root, each certificate says so below, judged by all that was given.
    let leads_up = before.is_some() || used.iter().any(|(_, info)| info.self_signed);
    let (roots, intermediates): (Vec<_>, Vec<_>) =
        if leads_up { used } else { authorities }.into_iter().partition(|(_, info)| info.self_signed);
    if let (Some(before), Some(named)) = (&before, roots_pem) {
        let (have, named) = (fingerprints(before)?, inspect(named)?);
        if let Some(other) =
            named.iter().find(|one| one.self_signed && !have.contains(&one.sha256_fingerprint))
        {
            return Err(TrustError::Refused {
                what: format!("{} is not the root that servers trust", other.subject),
                why: format!("{} has another one, and certificates of it only are taken", ca_path.display()),
                next: "leave --ca out".to_owned(),
            });
        }
    }
    let pems = |all: &[(X509, CertificateInfo)]| {
        all.iter().map(|(certificate, _)| pem_text(certificate)).collect::<Result<String>>()
    };
    let ca_pem = match &before {
        // Servers that trust the old root alone would refuse whoever shows a leaf of another one.
        Some(before) => {
            let more = crate::bundle::with(before, pems(&intermediates)?.as_bytes());
            String::from_utf8_lossy(&if intermediates.is_empty() { before.clone() } else { more? })
                .into_owned()
        }
        None if roots.is_empty() => {
            return Err(TrustError::Refused {
                what: "the root of the CA is missing".to_owned(),
                why: "no certificate here is signed with its own key, and servers must know whom to trust"
                    .to_owned(),
                next: "give it with --ca FILE".to_owned(),
            });
        }
        None => pems(&roots)? + &pems(&intermediates)?,
    };
    let mut kept: Vec<(String, Vec<X509>, CertificateInfo)> = Vec::new();
    for (leaf, info) in leaves {
        let spec = wanted(dir, &leaf, &info, specs)?;
        let chain: Vec<X509> =
            std::iter::once(leaf).chain(intermediates.iter().map(|(one, _)| one.clone())).collect();
        judge(&chain, &ca_pem, spec, now_unix).map_err(|error| no_way_up(error, before.is_some()))?;
        if let Some((other, ..)) = kept.iter().find(|(name, ..)| *name == spec.common_name) {
            return Err(usage(
                format!("there are two certificates for {other}"),
                "both have the key of its request",
                "give the one that is to be used",
            ));
        }
        kept.push((spec.common_name.clone(), chain, info));
    }
    if kept.is_empty() {
        return Err(usage(
            "no certificate of a server was given",
            "there are only those of CAs",
            "give what the CA has made of the requests of sealion trust csr",
        ));
    }
    make_private_dir(&dir.join(ISSUED))?;
    for (name, chain, _) in &kept {
        let key_path = key_of_request(dir, name);
        let key = fs::read(&key_path).map_err(|error| FileError::io("read", &key_path, error))?;
        let mut bytes = Zeroizing::new(Vec::with_capacity(key.len() + 8192));
        bytes.extend_from_slice(&key);
        for certificate in chain {
            bytes.extend_from_slice(&certificate.to_pem()?);
        }
        write_atomically(&Elsewhere::file(dir, name), &bytes, 0o600, None)?;
    }
    // Last: where it lies, the certificates lie too.
    write_atomically(&ca_path, ca_pem.as_bytes(), 0o644, None)?;
    for (name, ..) in &kept {
        remove(&key_of_request(dir, name))?;
        remove(&dir.join(REQUESTS).join(format!("{name}.csr")))?;
    }
    let until = |info: &CertificateInfo| {
        let above = intermediates.iter().map(|(_, one)| one.not_after_unix);
        above.chain([info.not_after_unix]).min().unwrap_or(info.not_after_unix)
    };
    let told = |(name, _, info): (String, Vec<X509>, CertificateInfo)| Imported {
        name,
        not_after_unix: until(&info),
        info,
    };
    Ok(kept.into_iter().map(told).collect())
}

/// Those that a server's certificate leads to. Whatever else lies in the files is trusted by nobody: many clients take each certificate of
/// `ca.pem` for one that they may trust.
fn above(
    leaves: &[(X509, CertificateInfo)],
    authorities: Vec<(X509, CertificateInfo)>,
) -> Vec<(X509, CertificateInfo)> {
    let (mut found, mut rest): (Vec<(X509, CertificateInfo)>, _) = (Vec::new(), authorities);
    loop {
        let below: Vec<&X509> = leaves.iter().chain(&found).map(|(one, _)| one).collect();
        let signs = |(one, _): &(X509, CertificateInfo)| {
            // By its key too: names alone are anybody's.
            let Ok(key) = one.public_key() else { return false };
            below.iter().any(|subject| {
                one.issued(subject) == X509VerifyResult::OK && subject.verify(&key).unwrap_or(false)
            })
        };
        let (next, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(signs);
        if next.is_empty() {
            return found;
        }
        found.extend(next);
        rest = others;
    }
}

/// What is missing is brought here, and not into the trust of servers.
fn no_way_up(error: TrustError, has_root: bool) -> TrustError {
    let TrustError::UnknownCa { subject, issuer, why } = error else { return error };
    let other = if has_root {
        "; the root that servers trust stays, and certificates of another one are refused"
    } else {
        ""
    };
    TrustError::Refused {
        what: format!("the certificate of {subject} leads to no root that is trusted here"),
        why: format!("it names the issuer {issuer}; {why}"),
        next: format!("give the certificate of {issuer} among the files, if it is an intermediate{other}"),
    }
}

/// The server whose request has the key of this certificate.
fn wanted<'s>(
    dir: &Path,
    leaf: &X509,
    info: &CertificateInfo,
    specs: &'s [LeafSpec],
) -> Result<&'s LeafSpec> {
    for spec in specs {
        let path = dir.join(REQUESTS).join(format!("{}.csr", spec.common_name));
        let pem = match fs::read(&path) {
            Ok(pem) => pem,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(FileError::io("read", &path, error).into()),
        };
        let request = X509Req::from_pem(&pem).map_err(|error| TrustError::NotACertificate {
            why: format!("{} is not a request: {error}", path.display()),
        })?;
        if request.public_key()?.public_eq(leaf.public_key()?.as_ref()) {
            return Ok(spec);
        }
    }
    Err(TrustError::Refused {
        what: format!("the certificate of {} (serial {}) is not imported", info.subject, info.serial_hex),
        why: "no request that waits here has its key: it was made for another key, or has been imported already"
            .to_owned(),
        next: format!(
            "have the request in {} signed (sealion trust csr shows it), and leave this one out",
            dir.join(REQUESTS).display()
        ),
    })
}

fn has_no_ca_of_its_own(dir: &Path) -> Result<()> {
    if !dir.join(CA_KEY_FILE).exists() {
        return Ok(());
    }
    let subject = fs::read(dir.join(CA_CERT_FILE)).ok().and_then(|pem| certificates(&pem).ok());
    let subject = subject.and_then(|all| all.first().map(|one| name_text(one.subject_name())));
    Err(TrustError::Refused {
        what: format!("{} has a CA of its own", dir.display()),
        why: format!(
            "its key is there, and it signs for these servers{}; who trusts it alone refuses certificates of another one",
            subject.map_or_else(String::new, |subject| format!(" ({subject})"))
        ),
        next: "name another ca_dir in the inventory before the first sealion enable; servers that use that CA: sealion disable \
               first"
            .to_owned(),
    })
}

fn key_of_request(dir: &Path, name: &str) -> PathBuf {
    dir.join(REQUESTS).join(format!("{name}-key.pem"))
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(FileError::io("remove", path, error).into())
        }
        _ => Ok(()),
    }
}
