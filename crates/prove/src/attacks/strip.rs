//! The wish for TLS is never heard, because nothing is offered.

use crate::attack::{Attack, Family};

pub(super) const STRIP: Attack = Attack {
    id: "strip",
    family: Family::Strip,
    is_fall: true,
    does: "The greeting says that the server has no TLS.",
    defence: "Enforce TLS on the client (ssl-mode=VERIFY_IDENTITY or its like); that the server enforces it does not help.",
    tls: None,
    ..Attack::HONEST
};
