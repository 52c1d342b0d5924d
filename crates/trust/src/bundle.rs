//! A file of several CAs: one is added to it or taken out, and every other byte stays.

use crate::error::{Result, TrustError};
use crate::inspect::inspect;

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// SHA-256 fingerprints of the certificates in `bundle_pem`, in its order, lower-case hex.
///
/// # Errors
/// [`TrustError::NotACertificate`] if there is none, or if one cannot be read.
pub fn fingerprints(bundle_pem: &[u8]) -> Result<Vec<String>> {
    Ok(inspect(bundle_pem)?.into_iter().map(|info| info.sha256_fingerprint).collect())
}

/// The bundle with the certificate of `ca_pem` behind the others; as it is, if it has that already.
///
/// # Errors
/// [`TrustError::NotACertificate`] if one of the two cannot be read.
pub fn with(bundle_pem: &[u8], ca_pem: &[u8]) -> Result<Vec<u8>> {
    let have = fingerprints(bundle_pem)?;
    if fingerprints(ca_pem)?.iter().all(|one| have.contains(one)) {
        return Ok(bundle_pem.to_vec());
    }
    let mut bundle = bundle_pem.to_vec();
    if !bundle.ends_with(b"\n") {
        bundle.push(b'\n');
    }
    bundle.extend_from_slice(ca_pem);
    Ok(bundle)
}

/// The bundle without the certificate that has this fingerprint. Text beside the others stays.
///
/// # Errors
/// [`TrustError::NotACertificate`] if it cannot be read, or if nothing would be left in it.
pub fn without(bundle_pem: &[u8], sha256_fingerprint: &str) -> Result<Vec<u8>> {
    let text = std::str::from_utf8(bundle_pem)
        .map_err(|_| TrustError::NotACertificate { why: "it is not text".to_owned() })?;
    let mut left = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find(BEGIN) {
        let (before, block) = rest.split_at(begin);
        let end = block
            .find(END)
            .map(|at| at + END.len())
            .ok_or_else(|| TrustError::NotACertificate { why: "a certificate has no end".to_owned() })?;
        let (block, after) = block.split_at(end);
        left.push_str(before);
        rest = after;
        if fingerprints(block.as_bytes())?.iter().any(|one| one == sha256_fingerprint) {
            // Its line end goes with it.
            rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')).unwrap_or(rest);
        } else {
            left.push_str(block);
        }
    }
    left.push_str(rest);
    // A file without a certificate would keep a server from starting.
    fingerprints(left.as_bytes())?;
    Ok(left.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ca, CaSpec, KeyKind};

    const NOW: i64 = 1_795_219_200;

    fn ca(name: &str) -> String {
        let spec = CaSpec { common_name: name.into(), valid_days: 30, key: KeyKind::EcP256 };
        Ca::create(&spec, NOW).expect("made").cert_pem()
    }

    fn print_of(pem: &str) -> String {
        fingerprints(pem.as_bytes()).expect("sound").remove(0)
    }

    #[test]
    fn one_is_added_once_and_taken_out_again_and_every_other_byte_stays() {
        let (one, two, three) = (ca("one"), ca("two"), ca("three"));
        let bare = format!("# ours\n{one}# of the company\n{two}");
        let both = with(bare.as_bytes(), three.as_bytes()).expect("added");
        assert_eq!(both, format!("{bare}{three}").into_bytes());
        assert_eq!(with(&both, three.as_bytes()).expect("there already"), both);
        assert_eq!(without(&both, &print_of(&three)).expect("taken out"), bare.into_bytes());
        let left = without(&both, &print_of(&one)).expect("taken out");
        assert_eq!(left, format!("# ours\n# of the company\n{two}{three}").into_bytes());
        assert_eq!(without(&left, &print_of(&one)).expect("not there"), left);
    }

    #[test]
    fn a_file_without_its_last_line_end_is_not_glued_together() {
        let (one, two) = (ca("one"), ca("two"));
        let both = with(one.trim_end().as_bytes(), two.as_bytes()).expect("added");
        assert_eq!(fingerprints(&both).expect("sound"), [print_of(&one), print_of(&two)]);
    }

    #[test]
    fn the_last_one_is_not_taken_out_and_what_is_no_bundle_is_refused() {
        let one = ca("one");
        assert!(without(one.as_bytes(), &print_of(&one)).is_err());
        assert!(with(b"", one.as_bytes()).is_err());
        let cut = one.replace(END, "");
        assert!(without(cut.as_bytes(), "00").is_err());
        assert!(without(&[0xff, 0xfe], "00").is_err());
    }
}
