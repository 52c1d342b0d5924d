//! What is wrong with a certificate, whoever has received it: its key, its signature, its issuer, its names.

use trust::CertificateInfo;

use crate::names::FAMILIES;

/// NIST SP 800-57 part 1: 112 bits of security.
const MODULUS_BITS_MIN: u32 = 2048;
const CURVE_BITS_MIN: u32 = 224;

/// A key that is too short, or an exponent that is too small.
pub fn weak_key(leaf: &CertificateInfo) -> Option<String> {
    let has_modulus = leaf.key.starts_with("RSA") || leaf.key.starts_with("DSA");
    let least = if has_modulus { MODULUS_BITS_MIN } else { CURVE_BITS_MIN };
    // Of a kind that OpenSSL does not know the size is 0.
    let is_short = leaf.key_bits < least && (has_modulus || leaf.key_bits > 0);
    (is_short || leaf.key.contains(", exponent")).then(|| format!("{} ({} bits)", leaf.key, leaf.key_bits))
}

/// A hash of which collisions are made.
pub fn weak_signature(leaf: &CertificateInfo) -> Option<String> {
    let signature = leaf.signature.to_ascii_lowercase();
    (signature.contains("md5") || signature.contains("sha1")).then(|| leaf.signature.clone())
}

/// Why nobody stands behind it.
///
/// Sources: MySQL's `mysqld --initialize` (seen on 9.7.4: `MySQL_Server_9.7.4_Auto_Generated_Server_Certificate`), and
/// MariaDB 11.8's certificate in memory (`MariaDB Server`).
pub fn of_nobody(leaf: &CertificateInfo) -> Option<String> {
    if leaf.subject.contains("_Auto_Generated_Server_Certificate") {
        return Some("created by MySQL at its first start: it contains no host name".into());
    }
    if leaf.self_signed && leaf.subject.contains("CN=MariaDB Server") {
        return Some("created by MariaDB in memory, again at every start".into());
    }
    leaf.self_signed.then(|| format!("self-signed ({})", leaf.subject))
}

/// What is wrong with its names, for those who verify: nothing, or for whom it is.
pub fn name_mismatch(leaf: &CertificateInfo, host: &str) -> Option<String> {
    let refuse: Vec<&str> =
        FAMILIES.iter().filter(|family| !family.takes(leaf, host)).map(|family| family.name).collect();
    let names_localhost = opened_by_another_name(leaf, host);
    // Those that keep to the RFC decide.
    if names_localhost.is_none()
        && FAMILIES.iter().filter(|family| family.keeps_to_rfc).all(|family| family.takes(leaf, host))
    {
        return None;
    }
    let names: Vec<String> =
        leaf.dns.iter().cloned().chain(leaf.ips.iter().map(ToString::to_string)).collect();
    let says = if names.is_empty() {
        format!("it has no subjectAltName; its subject is {}", leaf.subject)
    } else {
        format!("it is for {}", names.join(", "))
    };
    let refused = if refuse.is_empty() {
        None
    } else if refuse.len() == FAMILIES.len() {
        Some(format!("no client that verifies the host name accepts it for {host}"))
    } else {
        Some(format!("for {host} it is rejected by {}", refuse.join("; ")))
    };
    let what: Vec<String> = refused.into_iter().chain(names_localhost).collect();
    Some(format!("{says}: {}", what.join(". ")))
}

/// Clients that connect to an address, and compare the certificate with a name that is not that machine's. One certificate with that
/// name then passes as each server that is reached by an address.
fn opened_by_another_name(leaf: &CertificateInfo, host: &str) -> Option<String> {
    let ip: std::net::IpAddr = host.parse().ok()?;
    // There "localhost" is the right name.
    if ip.is_loopback() {
        return None;
    }
    let family =
        FAMILIES.iter().find(|family| family.name_for_addresses.is_some() && family.takes(leaf, host))?;
    let name = family.name_for_addresses?;
    Some(format!(
        "{} accepts it for {ip} because it is for {name}: when these drivers connect to an address, they compare \
         the certificate with {name}, so anybody with a certificate of this CA for {name} can impersonate this \
         server. Connect by host name instead",
        family.name
    ))
}
