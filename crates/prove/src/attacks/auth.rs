//! Another way of logging in is asked for, one that gives the password away.

use crate::attack::{Attack, Chain, Family, GOOD_TLS, Login, TlsLook};

const BASE: Attack = Attack {
    is_fall: true,
    family: Family::Password,
    defence: "Verify the server first (ssl-mode=VERIFY_IDENTITY): no other setting of a client helps with all plugins.",
    tls: None,
    ..Attack::HONEST
};

pub(super) const CLEAR_PASSWORD: Attack = Attack {
    id: "clear-password",
    does: "In clear text, the plugin mysql_clear_password is asked for.",
    login: Login::ClearPassword,
    ..BASE
};

pub(super) const DIALOG: Attack = Attack {
    id: "dialog",
    does: "In clear text, MariaDB's dialog plugin asks for a password.",
    login: Login::Dialog,
    ..BASE
};

pub(super) const SHA256_KEY: Attack = Attack {
    id: "sha256-key",
    does: "In clear text, sha256_password is asked for, and the rogue's own RSA key is offered.",
    defence: "Pin the server's public key (server-public-key-path), or verify the server over TLS.",
    login: Login::Sha256,
    ..BASE
};

pub(super) const CACHING_SHA2_KEY: Attack = Attack {
    id: "caching-sha2-key",
    does: "In clear text, caching_sha2_password is asked for, and the rogue's own RSA key is offered.",
    defence: "Pin the server's public key (server-public-key-path), or verify the server over TLS.",
    login: Login::CachingSha2,
    ..BASE
};

pub(super) const OLD_PASSWORD: Attack = Attack {
    id: "old-password",
    does: "In clear text, the hash of before MySQL 4.1 is asked for, which can be undone.",
    login: Login::OldPassword,
    ..BASE
};

pub(super) const CLEAR_PASSWORD_TLS: Attack = Attack {
    id: "clear-password-tls",
    does: "Over TLS with a certificate signed by itself, the plugin mysql_clear_password is asked for.",
    login: Login::ClearPassword,
    tls: Some(TlsLook { chain: Chain::SelfSigned, ..GOOD_TLS }),
    ..BASE
};
