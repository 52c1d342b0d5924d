//! Certificates of servers that live for one experiment. [`trust`] would refuse some of them, and rightly.

use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

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
use openssl::x509::{X509Builder, X509NameBuilder};

use crate::OpsError;
use crate::servers::internal;

/// Of servers whose key is not what is compared.
pub const GIVEN: Key = Key::Rsa(2048);

pub fn name(key: Key) -> String {
    match key {
        Key::Rsa(bits) => format!("RSA {bits}"),
        Key::P256 => "P-256".into(),
        Key::P384 => "P-384".into(),
        Key::Ed25519 => "Ed25519".into(),
    }
}

/// What both ends must be told so that they take this key. RSA of 1024 bits is below level 1 of OpenSSL 3's security levels.
pub fn ciphers(key: Key) -> Option<&'static str> {
    (key == Key::Rsa(1024)).then_some("DEFAULT:@SECLEVEL=0")
}

/// Makes a self-signed certificate for localhost and its key, `bench.pem` and `bench.key` in `dir`.
///
/// # Errors
/// Where files cannot be written.
pub fn make(dir: &Path, key: Key) -> Result<Pair, OpsError> {
    std::fs::create_dir_all(dir).map_err(internal("a directory of the lab cannot be made"))?;
    let (key_pem, cert_pem) = pems(key).map_err(|error| {
        OpsError::internal(format!("no certificate with {} can be made", name(key)), error)
    })?;
    let pair = Pair { cert: dir.join("bench.pem"), key: dir.join("bench.key") };
    std::fs::write(&pair.cert, cert_pem)
        .and_then(|()| std::fs::set_permissions(&pair.cert, std::fs::Permissions::from_mode(0o644)))
        .map_err(internal("a certificate cannot be written"))?;
    std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&pair.key)
        .and_then(|mut file| file.write_all(&key_pem))
        .map_err(internal("a key cannot be written"))?;
    Ok(pair)
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

fn pems(kind: Key) -> Result<(zeroize::Zeroizing<Vec<u8>>, Vec<u8>), ErrorStack> {
    let key = generate(kind)?;
    let mut subject = X509NameBuilder::new()?;
    subject.append_entry_by_text("CN", "sealion bench")?;
    let subject = subject.build();
    let mut builder = X509Builder::new()?;
    builder.set_version(2)?;
    let serial = BigNum::from_u32(1)?.to_asn1_integer()?;
    builder.set_serial_number(&serial)?;
    builder.set_subject_name(&subject)?;
    builder.set_issuer_name(&subject)?;
    // The server's clock is ours; a minute for the second in which it starts.
    let (from, until) = (Asn1Time::days_from_now(0)?, Asn1Time::days_from_now(30)?);
    builder.set_not_before(&from)?;
    builder.set_not_after(&until)?;
    builder.set_pubkey(&key)?;
    builder.append_extension(BasicConstraints::new().critical().ca().build()?)?;
    let names = SubjectAlternativeName::new()
        .dns("localhost")
        .ip("127.0.0.1")
        .build(&builder.x509v3_context(None, None))?;
    builder.append_extension(names)?;
    let digest = if key.id() == Id::ED25519 { MessageDigest::null() } else { MessageDigest::sha256() };
    builder.sign(&key, digest)?;
    Ok((zeroize::Zeroizing::new(key.private_key_to_pem_pkcs8()?), builder.build().to_pem()?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_certificate_that_fits_it() {
        let dir = tempfile::tempdir().unwrap();
        for key in [Key::Rsa(1024), Key::Rsa(2048), Key::P256, Key::P384, Key::Ed25519] {
            let pair = make(&dir.path().join(name(key)), key).unwrap();
            let certificate = openssl::x509::X509::from_pem(&std::fs::read(&pair.cert).unwrap()).unwrap();
            let private = PKey::private_key_from_pem(&std::fs::read(&pair.key).unwrap()).unwrap();
            assert!(certificate.public_key().unwrap().public_eq(&private), "{key:?}");
            assert!(certificate.verify(&private).unwrap(), "{key:?}");
            let mode = std::fs::metadata(&pair.key).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o600);
        }
    }
}
