//! The numbers of TLS and what they mean: flat tables, looked up by code. Nothing here judges; the strength of a
//! suite is a fact, whether it is good enough is for `rules`.

pub mod alerts;
mod cipher_suites;
mod dh_primes;
pub mod extensions;
pub mod groups;
pub mod signature_schemes;
mod suite;
mod version;

pub use alerts::ALERTS;
pub use cipher_suites::CIPHER_SUITES;
pub use dh_primes::{DH_PRIMES, DhPrime, dh_prime};
pub use extensions::EXTENSIONS;
pub use groups::{GROUPS, Group, GroupKind};
pub use signature_schemes::{SIGNATURE_SCHEMES, SignatureKey, SignatureScheme};
pub use suite::{Authentication, Cipher, CipherSuite, KeyExchange, Mac, Mode};
pub use version::Version;

/// RFC 5746: offered by clients that can renegotiate securely, where extensions might not be understood.
pub const EMPTY_RENEGOTIATION_INFO_SCSV: u16 = 0x00ff;
/// RFC 7507: "I could do better than this version"; a server that could too must refuse with alert 86.
pub const FALLBACK_SCSV: u16 = 0x5600;

#[allow(clippy::needless_pass_by_value)] // Codes are numbers.
fn find<Row, Code: Ord + Copy>(
    table: &'static [Row],
    code: Code,
    of: impl Fn(&Row) -> Code,
) -> Option<&'static Row> {
    // The tables are sorted; `tables_are_sorted_and_unique` holds them to it.
    table.binary_search_by(|row| of(row).cmp(&code)).ok().and_then(|index| table.get(index))
}

/// The suite of this code point.
pub fn cipher_suite(code: u16) -> Option<&'static CipherSuite> {
    find(CIPHER_SUITES, code, |row| row.code)
}

/// The suite of this name, in IANA's or in OpenSSL's spelling. Where a name has two codes, the lower one.
pub fn cipher_suite_by_name(name: &str) -> Option<&'static CipherSuite> {
    CIPHER_SUITES.iter().find(|row| row.name == name || row.openssl_name == Some(name))
}

/// The suites that servers of this version have been seen to use: what to offer to one.
pub fn cipher_suites_for(version: Version) -> impl Iterator<Item = &'static CipherSuite> {
    CIPHER_SUITES.iter().filter(move |row| row.works_with(version))
}

/// The group of this code point.
pub fn group(code: u16) -> Option<&'static Group> {
    find(GROUPS, code, |row| row.code)
}

/// The signature scheme of this code point.
pub fn signature_scheme(code: u16) -> Option<&'static SignatureScheme> {
    find(SIGNATURE_SCHEMES, code, |row| row.code)
}

/// The name of an alert's description.
pub fn alert_name(description: u8) -> Option<&'static str> {
    find(ALERTS, description, |row| row.0).map(|row| row.1)
}

/// The name of an extension type.
pub fn extension_name(extension_type: u16) -> Option<&'static str> {
    find(EXTENSIONS, extension_type, |row| row.0).map(|row| row.1)
}

/// Is it one of the values that RFC 8701 reserves, so that nobody comes to rely on a fixed list?
pub const fn is_grease(code: u16) -> bool {
    let [high, low] = code.to_be_bytes();
    high == low && low & 0x0f == 0x0a
}

/// Is it a cipher suite value that signals something and is no suite?
pub const fn is_signalling(code: u16) -> bool {
    matches!(code, EMPTY_RENEGOTIATION_INFO_SCSV | FALLBACK_SCSV)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
