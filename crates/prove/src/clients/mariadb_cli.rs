//! The `mariadb` client, out of the bundles of `sealion lab fetch`.

use crate::client::{Client, Mode, Promise};

const MODES: &[Mode] = &[
    Mode { id: "default", options: "(none)", promises: Promise::Nothing },
    Mode { id: "env-password", options: "(none), password in MYSQL_PWD", promises: Promise::Nothing },
    Mode { id: "ssl", options: "--ssl", promises: Promise::Encrypted },
    Mode { id: "ca", options: "--ssl-ca=CA", promises: Promise::Chain },
    Mode { id: "verify", options: "--ssl-ca=CA --ssl-verify-server-cert", promises: Promise::Identity },
    Mode { id: "skip-verify", options: "--ssl --skip-ssl-verify-server-cert", promises: Promise::Encrypted },
    Mode { id: "skip-ssl", options: "--skip-ssl", promises: Promise::Nothing },
];

/// Finds the client of a bundle, and the words of a mode.
pub(super) const SCRIPT: (&str, &str) = ("client.sh", include_str!("../../clients/cli/client.sh"));

pub(super) const MARIADB_10_11: Client = Client {
    id: "mariadb-10.11",
    name: "mariadb CLI",
    files: &[SCRIPT],
    needs: &["bash"],
    needs_hint: "sealion lab fetch galera-10.11",
    install: &[&["bash", "client.sh", "galera-10.11", "mariadb", "version"]],
    run: &["bash", "client.sh", "galera-10.11", "mariadb"],
    modes: MODES,
};

pub(super) const MARIADB_11_8: Client = Client {
    id: "mariadb-11.8",
    name: "mariadb CLI",
    needs_hint: "sealion lab fetch mariadb-11.8",
    install: &[&["bash", "client.sh", "mariadb-11.8", "mariadb", "version"]],
    run: &["bash", "client.sh", "mariadb-11.8", "mariadb"],
    ..MARIADB_10_11
};
