//! The tools that copy a server's data or its binary log, out of the bundles of `sealion lab fetch`.

use super::mariadb_cli::{MARIADB_10_11, SCRIPT, SETTINGS_10_11};
use super::mysql_cli::{self, MYSQL_9_7};
use crate::client::{Client, Mode, Promise, Settings};

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
    settings: Some(&MARIADB_DUMP_SETTINGS),
    ..MARIADB_10_11
};

pub(super) const MARIADB_BINLOG: Client = Client {
    id: "mariadb-binlog-10.11",
    name: "mariadb-binlog",
    files: &[SCRIPT],
    install: &[&["bash", "client.sh", "galera-10.11", "mariadb-binlog", "version"]],
    run: &["bash", "client.sh", "galera-10.11", "mariadb-binlog"],
    modes: MARIADB_MODES,
    settings: Some(&MARIADB_BINLOG_SETTINGS),
    ..MARIADB_10_11
};

pub(super) const MYSQLDUMP: Client = Client {
    id: "mysqldump-9.7",
    name: "mysqldump",
    files: &[SCRIPT],
    install: &[&["bash", "client.sh", "mysql-9.7", "mysqldump", "version"]],
    run: &["bash", "client.sh", "mysql-9.7", "mysqldump"],
    settings: Some(&MYSQLDUMP_SETTINGS),
    ..MYSQL_9_7
};

pub(super) const MYSQLBINLOG: Client = Client {
    id: "mysqlbinlog-9.7",
    name: "mysqlbinlog",
    files: &[SCRIPT],
    install: &[&["bash", "client.sh", "mysql-9.7", "mysqlbinlog", "version"]],
    run: &["bash", "client.sh", "mysql-9.7", "mysqlbinlog"],
    settings: Some(&MYSQLBINLOG_SETTINGS),
    ..MYSQL_9_7
};

const MYSQLDUMP_SETTINGS: Settings =
    Settings { family: "mysqldump", groups: &["mysqldump", "client"], ..mysql_cli::SETTINGS };
const MYSQLBINLOG_SETTINGS: Settings =
    Settings { family: "mysqlbinlog", groups: &["mysqlbinlog", "client"], ..mysql_cli::SETTINGS };
const MARIADB_DUMP_SETTINGS: Settings = Settings {
    family: "mariadb-dump",
    groups: &["mysqldump", "mariadb-dump", "client", "client-server", "client-mariadb"],
    ..SETTINGS_10_11
};
const MARIADB_BINLOG_SETTINGS: Settings = Settings {
    family: "mariadb-binlog",
    groups: &["mysqlbinlog", "mariadb-binlog", "client", "client-server", "client-mariadb"],
    ..SETTINGS_10_11
};
