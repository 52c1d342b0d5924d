//! A certificate revocation list, written by hand: the `openssl` crate reads them and makes none.
//!
//! Source: RFC 5280 5.1; version 1 (no extensions), DER by X.690.

use openssl::asn1::Asn1IntegerRef;
use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::pkey::{PKeyRef, Private};
use openssl::sign::Signer;
use openssl::x509::X509Ref;

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const GENERALIZED_TIME: u8 = 0x18;
/// sha256WithRSAEncryption, with its NULL (RFC 4055 5).
const SHA256_WITH_RSA: [u8; 15] = [0x30, 13, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 0x0b, 5, 0];

/// What an RSA CA has revoked, as PEM.
///
/// # Errors
/// Only where OpenSSL cannot sign.
pub fn pem(
    issuer: &X509Ref,
    key: &PKeyRef<Private>,
    serials: &[&Asn1IntegerRef],
    this_update_unix: i64,
    next_update_unix: i64,
) -> Result<Vec<u8>, ErrorStack> {
    let revoked_at = time(this_update_unix);
    let mut revoked = Vec::new();
    for serial in serials {
        revoked.extend(tagged(SEQUENCE, &[&integer(&serial.to_bn()?.to_vec()), &revoked_at]));
    }
    let list = tagged(
        SEQUENCE,
        &[
            &SHA256_WITH_RSA,
            &issuer.subject_name().to_der()?,
            &revoked_at,
            &time(next_update_unix),
            &tagged(SEQUENCE, &[&revoked]),
        ],
    );
    let mut signer = Signer::new(MessageDigest::sha256(), key)?;
    let signature = signer.sign_oneshot_to_vec(&list)?;
    let der = tagged(SEQUENCE, &[&list, &SHA256_WITH_RSA, &tagged(BIT_STRING, &[&[0], &signature])]);
    let text = openssl::base64::encode_block(&der);
    let mut pem = b"-----BEGIN X509 CRL-----\n".to_vec();
    for line in text.as_bytes().chunks(64) {
        pem.extend_from_slice(line);
        pem.push(b'\n');
    }
    pem.extend_from_slice(b"-----END X509 CRL-----\n");
    Ok(pem)
}

fn tagged(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut out = vec![tag];
    let [.., high, low] = length.to_be_bytes();
    match length {
        0..0x80 => out.push(low),
        0x80..0x100 => out.extend_from_slice(&[0x81, low]),
        // A list of one certificate has some 600 bytes; 64 KiB is more than all of ours.
        _ => out.extend_from_slice(&[0x82, high, low]),
    }
    for part in parts {
        out.extend_from_slice(part);
    }
    out
}

/// Of a number that is not negative.
fn integer(magnitude: &[u8]) -> Vec<u8> {
    let zero: &[u8] = if magnitude.first().is_none_or(|top| top & 0x80 != 0) { &[0] } else { &[] };
    tagged(INTEGER, &[zero, magnitude])
}

/// RFC 5280 5.1.2.4 wants UTCTime before 2050; every library reads both.
fn time(unix: i64) -> Vec<u8> {
    let text = model::clock::rfc3339(u64::try_from(unix).unwrap_or_default() * 1000);
    let digits: String = text.chars().take(19).filter(char::is_ascii_digit).collect();
    tagged(GENERALIZED_TIME, &[digits.as_bytes(), b"Z"])
}
