//! The wish for TLS is never heard, because nothing is offered.

use crate::attack::{Attack, Family};

pub(super) const STRIP: Attack = Attack {
    id: "strip",
    family: Family::Strip,
    is_fall: true,
    does: "The greeting says that the server does not support TLS.",
    defence: "Require TLS on the client (MySQL: ssl-mode=VERIFY_IDENTITY; MariaDB: ssl-ca and ssl-verify-server-cert). Requiring it on the server does not help.",
    tls: None,
    ..Attack::HONEST
};
