//! Bytes in clear text, before the certificate that would have been right.

use crate::attack::{Attack, BeforeTls, Family};

pub(super) const OK_BEFORE_TLS: Attack = Attack {
    id: "ok-before-tls",
    family: Family::Injection,
    is_fall: true,
    does: "An OK packet follows the greeting in clear text; then comes TLS with the right certificate.",
    defence: "Use a client that drops or refuses what came before TLS.",
    before_tls: BeforeTls::Ok,
    ..Attack::HONEST
};

pub(super) const ERROR_BEFORE_TLS: Attack = Attack {
    id: "error-before-tls",
    family: Family::Injection,
    is_fall: true,
    does: "The wish for TLS is answered by an error in clear text.",
    defence: "Enforce TLS on the client: one that falls back to clear text here is lost.",
    tls: None,
    before_tls: BeforeTls::Error,
    ..Attack::HONEST
};
