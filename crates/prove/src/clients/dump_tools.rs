//! The tools that copy a server's data or its binary log, out of the bundles of `sealion lab fetch`.

use super::mariadb_cli::{MARIADB_10_11, SCRIPT};
use super::mysql_cli::MYSQL_9_7;
use crate::client::{Client, Mode, Promise};

const MARIADB_MODES: &[Mode] = &[
    Mode { id: "default", options: "(none)", promises: Promise::Nothing },
    Mode { id: "ssl", options: "--ssl", promises: Promise::Encrypted },
    Mode { id: "ca", options: "--ssl-ca=CA", promises: Promise::Chain },
    Mode { id: "verify", options: "--ssl-ca=CA --ssl-verify-server-cert", promises: Promise::Identity },
    Mode { id: "skip-verify", options: "--ssl --skip-ssl-verify-server-cert", promises: Promise::Encrypted },
    Mode { id: "skip-ssl", options: "--skip-ssl", promises: Promise::Nothing },
];

pub(super) const MARIADB_DUMP: Client = Client {
    id: "mariadb-dump-10.11",
    name: "mariadb-dump",
    files: &[SCRIPT],
    install: &[&["bash", "client.sh", "galera-10.11", "mariadb-dump", "version"]],
    run: &["bash", "client.sh", "galera-10.11", "mariadb-dump"],
    modes: MARIADB_MODES,
    ..MARIADB_10_11
};

pub(super) const MARIADB_BINLOG: Client = Client {
    id: "mariadb-binlog-10.11",
    name: "mariadb-binlog",
    files: &[SCRIPT],
    install: &[&["bash", "client.sh", "galera-10.11", "mariadb-binlog", "version"]],
    run: &["bash", "client.sh", "galera-10.11", "mariadb-binlog"],
    modes: MARIADB_MODES,
    ..MARIADB_10_11
};

pub(super) const MYSQLDUMP: Client = Client {
    id: "mysqldump-9.7",
    name: "mysqldump",
    files: &[SCRIPT],
    install: &[&["bash", "client.sh", "mysql-9.7", "mysqldump", "version"]],
    run: &["bash", "client.sh", "mysql-9.7", "mysqldump"],
    ..MYSQL_9_7
};

pub(super) const MYSQLBINLOG: Client = Client {
    id: "mysqlbinlog-9.7",
    name: "mysqlbinlog",
    files: &[SCRIPT],
    install: &[&["bash", "client.sh", "mysql-9.7", "mysqlbinlog", "version"]],
    run: &["bash", "client.sh", "mysql-9.7", "mysqlbinlog"],
    ..MYSQL_9_7
};
