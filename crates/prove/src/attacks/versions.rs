//! Old versions and suites that protect nothing, under a certificate that is right.

use crate::attack::{Attack, Family, GOOD_TLS, GreetingLook, Speaks, TlsLook};

const BASE: Attack = Attack {
    is_fall: true,
    family: Family::Version,
    defence: "Allow only TLS 1.2 and newer on the client (tls-version=TLSv1.2,TLSv1.3).",
    ..Attack::HONEST
};

pub(super) const TLS10: Attack = Attack {
    id: "tls10",
    does: "The server supports only TLS 1.0.",
    tls: Some(TlsLook { speaks: Speaks::Tls10, ..GOOD_TLS }),
    ..BASE
};

pub(super) const TLS11: Attack = Attack {
    id: "tls11",
    does: "The server supports only TLS 1.1.",
    tls: Some(TlsLook { speaks: Speaks::Tls11, ..GOOD_TLS }),
    ..BASE
};

pub(super) const NULL_CIPHER: Attack = Attack {
    id: "null-cipher",
    does: "The server supports only cipher suites without encryption.",
    tls: Some(TlsLook { speaks: Speaks::NullCipher, ..GOOD_TLS }),
    ..BASE
};

pub(super) const ANONYMOUS: Attack = Attack {
    id: "anonymous",
    does: "The server supports only anonymous cipher suites, without a certificate.",
    tls: Some(TlsLook { speaks: Speaks::Anonymous, ..GOOD_TLS }),
    ..BASE
};

pub(super) const OLD_SERVER: Attack = Attack {
    id: "old-server",
    does: "The greeting says that the server is MySQL 5.0, without TLS.",
    defence: "Require TLS on the client: the version in a greeting can be forged.",
    greeting: GreetingLook { version: "5.0.96-log", is_mariadb: false, plugin: "mysql_native_password" },
    tls: None,
    ..BASE
};
