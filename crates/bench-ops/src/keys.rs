//! Certificates of servers that live for one experiment. [`trust`] would refuse some of them, and rightly.

use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use ::bench::experiments::Key;
use ::bench::load::echo::Pair;
use openssl::asn1::Asn1Time;
use openssl::bn::BigNum;
use openssl::ec::{Asn1Flag, EcGroup, EcKey};
use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{Id, PKey, Private};
use openssl::rsa::Rsa;
use openssl::x509::extension::{BasicConstraints, SubjectAlternativeName};
use openssl::x509::{X509, X509Builder, X509NameBuilder};

use super::vpn::addresses;
use site::OpsError;
use site::servers::internal;

pub fn name(key: Key) -> String {
    match key {
        Key::Rsa(bits) => format!("RSA {bits}"),
        Key::P256 => "P-256".into(),
        Key::P384 => "P-384".into(),
        Key::Ed25519 => "Ed25519".into(),
    }
}

/// What both ends must be told so that they take this key. RSA of less than 2048 bits is below level 2 of OpenSSL's
/// security levels, which distributions choose, and of 1024 below level 1.
pub fn ciphers(key: Key) -> Option<&'static str> {
    matches!(key, Key::Rsa(bits) if bits < 2048).then_some("DEFAULT:@SECLEVEL=0")
}

/// What [`make`] has made.
#[derive(Debug, Clone)]
pub struct Files {
    /// The server's own, with what stands between it and the CA.
    pub pair: Pair,
    /// Whom to trust: the CA, or the server's own where nobody else signed it.
    pub ca: PathBuf,
}

impl Files {
    /// Those of this directory, whether they are there or not.
    pub fn of(dir: &Path) -> Self {
        Self {
            pair: Pair { cert: dir.join("bench.pem"), key: dir.join("bench.key") },
            ca: dir.join("bench-ca.pem"),
        }
    }
}

/// Makes a certificate for localhost, and for a server's addresses behind VPNs, and its key in `dir`, with so many issuers above it ([`Made::issuers`]), all of the same kind
/// of key.
///
/// [`Made::issuers`]: ::bench::experiments::Made::issuers
///
/// # Errors
/// Where files cannot be written.
pub fn make(dir: &Path, key: Key, issuers: u8) -> Result<Files, OpsError> {
    std::fs::create_dir_all(dir).map_err(internal("cannot create a directory of the lab"))?;
    let Pems { key: key_pem, chain, ca } = pems(key, issuers).map_err(|error| {
        OpsError::internal(format!("cannot create a certificate with {}", name(key)), error)
    })?;
    let files = Files::of(dir);
    for (path, pem) in [(&files.pair.cert, chain), (&files.ca, ca)] {
        std::fs::write(path, pem)
            .and_then(|()| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)))
            .map_err(internal("cannot write a certificate"))?;
    }
    std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&files.pair.key)
        .and_then(|mut file| file.write_all(&key_pem))
        .map_err(internal("cannot write a key"))?;
    Ok(files)
}

fn generate(key: Key) -> Result<PKey<Private>, ErrorStack> {
    let ec = |curve| {
        let mut group = EcGroup::from_curve_name(curve)?;
        group.set_asn1_flag(Asn1Flag::NAMED_CURVE);
        PKey::from_ec_key(EcKey::generate(&group)?)
    };
    match key {
        Key::Rsa(bits) => PKey::from_rsa(Rsa::generate(bits)?),
        Key::P256 => ec(Nid::X9_62_PRIME256V1),
        Key::P384 => ec(Nid::SECP384R1),
        Key::Ed25519 => PKey::generate_ed25519(),
    }
}

/// PEM: the server's key, its certificate with those between, and the CA's.
struct Pems {
    key: zeroize::Zeroizing<Vec<u8>>,
    chain: Vec<u8>,
    ca: Vec<u8>,
}

fn pems(kind: Key, issuers: u8) -> Result<Pems, ErrorStack> {
    // From the CA down; the first has nobody above it.
    let mut above: Vec<(X509, PKey<Private>)> = Vec::new();
    for number in 0..issuers {
        let key = generate(kind)?;
        let name =
            if number == 0 { "sealion bench CA".to_owned() } else { format!("sealion bench CA {number}") };
        let certificate = certificate(&name, &key, above.last(), true)?;
        above.push((certificate, key));
    }
    let key = generate(kind)?;
    // A joiner of Galera has it in an address for its donor, where a space is refused.
    let own = certificate("sealion-bench", &key, above.last(), issuers == 0)?;
    let mut chain = own.to_pem()?;
    for (between, _) in above.iter().skip(1).rev() {
        chain.extend(between.to_pem()?);
    }
    let ca = above.first().map_or_else(|| own.to_pem(), |(root, _)| root.to_pem())?;
    Ok(Pems { key: zeroize::Zeroizing::new(key.private_key_to_pem_pkcs8()?), chain, ca })
}

/// `issuer`: who signs it, or itself.
fn certificate(
    name: &str,
    key: &PKey<Private>,
    issuer: Option<&(X509, PKey<Private>)>,
    is_ca: bool,
) -> Result<X509, ErrorStack> {
    let mut subject = X509NameBuilder::new()?;
    subject.append_entry_by_text("CN", name)?;
    let subject = subject.build();
    let mut builder = X509Builder::new()?;
    builder.set_version(2)?;
    let serial = BigNum::from_u32(1)?.to_asn1_integer()?;
    builder.set_serial_number(&serial)?;
    builder.set_subject_name(&subject)?;
    builder.set_issuer_name(issuer.map_or(&*subject, |(above, _)| above.subject_name()))?;
    // The server's clock is ours; a minute for the second in which it starts.
    let (from, until) = (Asn1Time::days_from_now(0)?, Asn1Time::days_from_now(30)?);
    builder.set_not_before(&from)?;
    builder.set_not_after(&until)?;
    builder.set_pubkey(key)?;
    if is_ca {
        builder.append_extension(BasicConstraints::new().critical().ca().build()?)?;
    }
    let mut names = SubjectAlternativeName::new();
    names.dns("localhost").ip("127.0.0.1");
    for ip in addresses::server_ips() {
        names.ip(&ip.to_string());
    }
    let names = names.build(&builder.x509v3_context(None, None))?;
    builder.append_extension(names)?;
    let signer = issuer.map_or(key, |(_, above)| above);
    let digest = if signer.id() == Id::ED25519 { MessageDigest::null() } else { MessageDigest::sha256() };
    builder.sign(signer, digest)?;
    Ok(builder.build())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_certificate_that_fits_it() {
        let dir = tempfile::tempdir().unwrap();
        for key in [Key::Rsa(1024), Key::Rsa(2048), Key::P256, Key::P384, Key::Ed25519] {
            let Files { pair, ca } = make(&dir.path().join(name(key)), key, 0).unwrap();
            let certificate = X509::from_pem(&std::fs::read(&pair.cert).unwrap()).unwrap();
            let private = PKey::private_key_from_pem(&std::fs::read(&pair.key).unwrap()).unwrap();
            assert!(certificate.public_key().unwrap().public_eq(&private), "{key:?}");
            assert!(certificate.verify(&private).unwrap(), "{key:?}");
            assert_eq!(std::fs::read(&pair.cert).unwrap(), std::fs::read(ca).unwrap());
            let mode = std::fs::metadata(&pair.key).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o600);
        }
    }

    #[test]
    fn each_issuer_signs_the_next_and_only_those_between_are_sent() {
        let dir = tempfile::tempdir().unwrap();
        for issuers in 1..4 {
            let Files { pair, ca } = make(dir.path(), Key::P256, issuers).unwrap();
            let sent = X509::stack_from_pem(&std::fs::read(&pair.cert).unwrap()).unwrap();
            assert_eq!(sent.len(), usize::from(issuers));
            let root = X509::from_pem(&std::fs::read(&ca).unwrap()).unwrap();
            let above = sent.iter().skip(1).chain([&root]);
            for (one, issuer) in sent.iter().zip(above) {
                assert!(one.verify(&issuer.public_key().unwrap()).unwrap(), "{issuers}");
            }
            assert!(root.verify(&root.public_key().unwrap()).unwrap());
        }
    }
}
