//! Bytes in cleartext, before the certificate that would have been right.

use crate::attack::{Attack, BeforeTls, Family};

pub(super) const OK_BEFORE_TLS: Attack = Attack {
    id: "ok-before-tls",
    family: Family::Injection,
    is_fall: true,
    does: "An OK packet in cleartext follows the greeting; then TLS begins with the right certificate.",
    defence: "Use a client that discards cleartext injected before the TLS handshake.",
    before_tls: BeforeTls::Ok,
    ..Attack::HONEST
};

pub(super) const ERROR_BEFORE_TLS: Attack = Attack {
    id: "error-before-tls",
    family: Family::Injection,
    is_fall: true,
    does: "The server answers the TLS request with an error in cleartext.",
    defence: "Require TLS on the client, so that it does not fall back to cleartext (MySQL: ssl-mode=VERIFY_IDENTITY; MariaDB: ssl-ca and ssl-verify-server-cert).",
    tls: None,
    before_tls: BeforeTls::Error,
    ..Attack::HONEST
};
