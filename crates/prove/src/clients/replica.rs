//! Replicas: a server is a client too, of its source.

use crate::attack::Protocol;
use crate::client::{Client, Mode, Promise};

const FILES: &[(&str, &str)] = &[
    ("replica.sh", include_str!("../../clients/replica/replica.sh")),
    ("start-server.sh", include_str!("../../../../scripts/start-server.sh")),
];

const MASTER: &[Mode] = &[
    Mode { id: "default", options: "(none)", promises: Promise::Nothing },
    Mode { id: "no-ssl", options: "MASTER_SSL=0", promises: Promise::Nothing },
    Mode { id: "ssl", options: "MASTER_SSL=1", promises: Promise::Encrypted },
    Mode { id: "ca", options: "MASTER_SSL=1, MASTER_SSL_CA=CA", promises: Promise::Chain },
    Mode {
        id: "verify",
        options: "MASTER_SSL=1, MASTER_SSL_CA=CA, MASTER_SSL_VERIFY_SERVER_CERT=1",
        promises: Promise::Identity,
    },
];

const SOURCE: &[Mode] = &[
    Mode { id: "default", options: "(none)", promises: Promise::Nothing },
    Mode { id: "ssl", options: "SOURCE_SSL=1", promises: Promise::Encrypted },
    Mode { id: "ca", options: "SOURCE_SSL=1, SOURCE_SSL_CA=CA", promises: Promise::Chain },
    Mode {
        id: "verify",
        options: "SOURCE_SSL=1, SOURCE_SSL_CA=CA, SOURCE_SSL_VERIFY_SERVER_CERT=1",
        promises: Promise::Identity,
    },
];

pub(super) const MARIADB_10_11: Client = Client {
    id: "replica-mariadb-10.11",
    name: "replica, MariaDB 10.11",
    protocol: Protocol::MySql,
    files: FILES,
    needs: &["bash", "openssl"],
    needs_hint: "sealion lab fetch galera-10.11",
    install: &[&["bash", "replica.sh", "galera-10.11", "version"]],
    run: &["bash", "replica.sh", "galera-10.11"],
    modes: MASTER,
    settings: None,
};

pub(super) const MARIADB_11_8: Client = Client {
    id: "replica-mariadb-11.8",
    name: "replica, MariaDB 11.8",
    needs_hint: "sealion lab fetch mariadb-11.8",
    install: &[&["bash", "replica.sh", "mariadb-11.8", "version"]],
    run: &["bash", "replica.sh", "mariadb-11.8"],
    ..MARIADB_10_11
};

pub(super) const MYSQL_9_7: Client = Client {
    id: "replica-mysql-9.7",
    name: "replica, MySQL 9.7",
    needs_hint: "sealion lab fetch mysql-9.7",
    install: &[&["bash", "replica.sh", "mysql-9.7", "version"]],
    run: &["bash", "replica.sh", "mysql-9.7"],
    modes: SOURCE,
    ..MARIADB_10_11
};
