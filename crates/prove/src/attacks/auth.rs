//! Another way of logging in is asked for, one that gives the password away.

use crate::attack::{Attack, Chain, Family, GOOD_TLS, Login, TlsLook};

const BASE: Attack = Attack {
    is_fall: true,
    family: Family::Password,
    defence: "Verify the server before login (MySQL: ssl-mode=VERIFY_IDENTITY; MariaDB: ssl-ca and ssl-verify-server-cert). No other client option covers all plugins.",
    tls: None,
    ..Attack::HONEST
};

pub(super) const CLEAR_PASSWORD: Attack = Attack {
    id: "clear-password",
    does: "Without TLS, the server requests the plugin mysql_clear_password.",
    login: Login::ClearPassword,
    ..BASE
};

pub(super) const DIALOG: Attack = Attack {
    id: "dialog",
    does: "Without TLS, the server requests a password with MariaDB's dialog plugin.",
    login: Login::Dialog,
    ..BASE
};

pub(super) const SHA256_KEY: Attack = Attack {
    id: "sha256-key",
    does: "Without TLS, the server requests sha256_password and sends its own RSA key.",
    defence: "Verify the server over TLS, or give the client the server's public key (MySQL: server-public-key-path).",
    login: Login::Sha256,
    ..BASE
};

pub(super) const CACHING_SHA2_KEY: Attack = Attack {
    id: "caching-sha2-key",
    does: "Without TLS, the server requests caching_sha2_password and sends its own RSA key.",
    defence: "Verify the server over TLS, or give the client the server's public key (MySQL: server-public-key-path).",
    login: Login::CachingSha2,
    ..BASE
};

pub(super) const OLD_PASSWORD: Attack = Attack {
    id: "old-password",
    does: "Without TLS, the server requests the password hash of MySQL before 4.1, which can be reversed.",
    login: Login::OldPassword,
    ..BASE
};

pub(super) const CLEAR_PASSWORD_TLS: Attack = Attack {
    id: "clear-password-tls",
    does: "Over TLS with a self-signed certificate, the server requests the plugin mysql_clear_password.",
    login: Login::ClearPassword,
    tls: Some(TlsLook { chain: Chain::SelfSigned, ..GOOD_TLS }),
    ..BASE
};
