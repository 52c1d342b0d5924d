//! Certificates that nobody should take.

use crate::attack::{Attack, Chain, Dates, Family, GOOD_TLS, GreetingLook, Key, MARIADB, TlsLook};

const BASE: Attack = Attack {
    is_fall: true,
    family: Family::Certificate,
    defence: "Give the client the CA, and have it verify (ssl-mode=VERIFY_CA or VERIFY_IDENTITY).",
    ..Attack::HONEST
};

pub(super) const SELF_SIGNED: Attack = Attack {
    id: "self-signed",
    does: "The certificate is signed by itself.",
    tls: Some(TlsLook { chain: Chain::SelfSigned, ..GOOD_TLS }),
    ..BASE
};

// Seen: mariadb (Node) 3.5.4 and its like take any certificate of such a server at first, and look for a proof in the answer to
// their login, which is fit for guessing by then.
pub(super) const SELF_SIGNED_NEW: Attack = Attack {
    id: "self-signed-new",
    does: "The certificate is signed by itself, and the greeting says MariaDB 11.8.",
    greeting: GreetingLook { version: "11.8.6-MariaDB", ..MARIADB },
    tls: Some(TlsLook { chain: Chain::SelfSigned, ..GOOD_TLS }),
    ..BASE
};

pub(super) const UNKNOWN_CA: Attack = Attack {
    id: "unknown-ca",
    does: "The certificate is of a CA that the client does not know; that CA's certificate is sent along.",
    tls: Some(TlsLook { chain: Chain::UnknownWithRoot, ..GOOD_TLS }),
    ..BASE
};

pub(super) const LEAF_ONLY: Attack = Attack {
    id: "leaf-only",
    does: "The certificate is of a CA that the client does not know, and comes alone.",
    tls: Some(TlsLook { chain: Chain::UnknownLeafOnly, ..GOOD_TLS }),
    ..BASE
};

pub(super) const INTERMEDIATE: Attack = Attack {
    id: "unknown-intermediate",
    does: "The certificate is of a CA that the client does not know, with an intermediate one.",
    tls: Some(TlsLook { chain: Chain::UnknownWithIntermediate, ..GOOD_TLS }),
    ..BASE
};

pub(super) const EXPIRED: Attack = Attack {
    id: "expired",
    does: "The certificate is of the right CA, and expired yesterday.",
    tls: Some(TlsLook { dates: Dates::Expired, ..GOOD_TLS }),
    ..BASE
};

pub(super) const NOT_YET_VALID: Attack = Attack {
    id: "not-yet-valid",
    does: "The certificate is of the right CA, and valid from tomorrow on.",
    tls: Some(TlsLook { dates: Dates::NotYet, ..GOOD_TLS }),
    ..BASE
};

/// Few clients are given a list of revoked certificates, so to go along is no fall; one that was given it should refuse.
pub(super) const REVOKED: Attack = Attack {
    id: "revoked",
    does: "The certificate is of the right CA, which has revoked it.",
    defence: "Give the client the CA's revocation list (ssl-crl), and renew it before it ends.",
    is_fall: false,
    tls: Some(TlsLook { is_revoked: true, ..GOOD_TLS }),
    ..BASE
};

pub(super) const WEAK_KEY: Attack = Attack {
    id: "weak-key",
    does: "The certificate is of the right CA, with an RSA key of 1024 bits.",
    defence: "Have the client's TLS library refuse short keys (OpenSSL: security level 2).",
    tls: Some(TlsLook { key: Key::Rsa1024, ..GOOD_TLS }),
    ..BASE
};

pub(super) const SHA1: Attack = Attack {
    id: "sha1",
    does: "The certificate is of the right CA, signed over SHA-1.",
    defence: "Have the client's TLS library refuse SHA-1 (OpenSSL: security level 1 and more).",
    tls: Some(TlsLook { key: Key::Sha1, ..GOOD_TLS }),
    ..BASE
};
