//! Certificates that nobody should take.

use crate::attack::{Attack, Chain, Dates, Family, GOOD_TLS, GreetingLook, Key, MARIADB, TlsLook};

const BASE: Attack = Attack {
    is_fall: true,
    family: Family::Certificate,
    defence: "Give the client the CA and enable verification (MySQL: ssl-ca and ssl-mode=VERIFY_IDENTITY; MariaDB: ssl-ca and ssl-verify-server-cert).",
    ..Attack::HONEST
};

pub(super) const SELF_SIGNED: Attack = Attack {
    id: "self-signed",
    does: "The certificate is self-signed.",
    tls: Some(TlsLook { chain: Chain::SelfSigned, ..GOOD_TLS }),
    ..BASE
};

// Seen: mariadb (Node) 3.5.4 and its like take any certificate of such a server at first, and look for a proof in the answer to
// their login, which is fit for guessing by then.
pub(super) const SELF_SIGNED_NEW: Attack = Attack {
    id: "self-signed-new",
    does: "The certificate is self-signed, and the greeting says MariaDB 11.8.",
    greeting: GreetingLook { version: "11.8.6-MariaDB", ..MARIADB },
    tls: Some(TlsLook { chain: Chain::SelfSigned, ..GOOD_TLS }),
    ..BASE
};

pub(super) const UNKNOWN_CA: Attack = Attack {
    id: "unknown-ca",
    does: "An unknown CA issued the certificate; the CA's certificate is sent too.",
    tls: Some(TlsLook { chain: Chain::UnknownWithRoot, ..GOOD_TLS }),
    ..BASE
};

pub(super) const LEAF_ONLY: Attack = Attack {
    id: "leaf-only",
    does: "An unknown CA issued the certificate; no other certificate is sent.",
    tls: Some(TlsLook { chain: Chain::UnknownLeafOnly, ..GOOD_TLS }),
    ..BASE
};

pub(super) const INTERMEDIATE: Attack = Attack {
    id: "unknown-intermediate",
    does: "An unknown CA issued the certificate; an intermediate certificate is sent too.",
    tls: Some(TlsLook { chain: Chain::UnknownWithIntermediate, ..GOOD_TLS }),
    ..BASE
};

pub(super) const EXPIRED: Attack = Attack {
    id: "expired",
    does: "The right CA issued the certificate, but it expired yesterday.",
    tls: Some(TlsLook { dates: Dates::Expired, ..GOOD_TLS }),
    ..BASE
};

pub(super) const NOT_YET_VALID: Attack = Attack {
    id: "not-yet-valid",
    does: "The right CA issued the certificate, but it is valid only from tomorrow.",
    tls: Some(TlsLook { dates: Dates::NotYet, ..GOOD_TLS }),
    ..BASE
};

/// Few clients are given a list of revoked certificates, so to go along is no fall; one that was given it should refuse.
pub(super) const REVOKED: Attack = Attack {
    id: "revoked",
    does: "The right CA issued the certificate, and has revoked it.",
    defence: "Give the client the CA's revocation list (ssl-crl), and renew it before it expires.",
    is_fall: false,
    tls: Some(TlsLook { is_revoked: true, ..GOOD_TLS }),
    ..BASE
};

pub(super) const WEAK_KEY: Attack = Attack {
    id: "weak-key",
    does: "The right CA issued the certificate, but its RSA key has 1024 bits.",
    defence: "Configure the client's TLS library to reject short keys (OpenSSL: security level 2).",
    tls: Some(TlsLook { key: Key::Rsa1024, ..GOOD_TLS }),
    ..BASE
};

pub(super) const SHA1: Attack = Attack {
    id: "sha1",
    does: "The right CA issued the certificate, but its signature uses SHA-1.",
    defence: "Configure the client's TLS library to reject SHA-1 (OpenSSL: security level 1 or higher).",
    tls: Some(TlsLook { key: Key::Sha1, ..GOOD_TLS }),
    ..BASE
};
