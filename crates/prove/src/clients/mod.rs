//! All drivers and tools, one file each.

mod aiomysql;
mod asyncmy;
mod connector_j;
mod dbd;
mod dump_tools;
mod go_sql_driver;
mod mariadb_cli;
mod mariadb_connector_j;
mod mysql_cli;
mod mysql_connector_python;
mod mysqlclient;
mod node_mariadb;
mod node_mysql;
mod node_mysql2;
mod php;
mod pymysql;
mod replica;
mod ruby_mysql2;
mod rust_mysql;
mod rust_mysql_async;
mod rust_sqlx;
mod sst;

use crate::client::Client;

/// What `prove clients` tries, in the order of the matrix.
pub const CLIENTS: &[&Client] = &[
    &mysql_cli::MYSQL_9_7,
    &mariadb_cli::MARIADB_10_11,
    &mariadb_cli::MARIADB_11_8,
    &dump_tools::MYSQLDUMP,
    &dump_tools::MYSQLBINLOG,
    &dump_tools::MARIADB_DUMP,
    &dump_tools::MARIADB_BINLOG,
    &mysqlclient::MYSQLCLIENT,
    &pymysql::PYMYSQL,
    &mysql_connector_python::PURE,
    &mysql_connector_python::C_EXTENSION,
    &mysql_connector_python::C_EXTENSION_LATEST,
    &mysql_connector_python::PURE_8_0,
    &mysql_connector_python::C_EXTENSION_8_0,
    &aiomysql::AIOMYSQL,
    &asyncmy::ASYNCMY,
    &node_mysql2::MYSQL2,
    &node_mysql2::MYSQL2_LATEST,
    &node_mysql::MYSQL,
    &node_mariadb::MARIADB,
    &connector_j::CONNECTOR_J,
    &connector_j::CONNECTOR_J_LATEST,
    &connector_j::CONNECTOR_J_5_1,
    &mariadb_connector_j::MARIADB_CONNECTOR_J,
    &mariadb_connector_j::MARIADB_CONNECTOR_J_LATEST,
    &go_sql_driver::GO_SQL_DRIVER,
    &rust_mysql::MYSQL,
    &rust_mysql_async::MYSQL_ASYNC,
    &rust_sqlx::SQLX,
    &php::MYSQLI,
    &php::PDO,
    &dbd::DBD_MYSQL,
    &dbd::DBD_MARIADB,
    &ruby_mysql2::RUBY_MYSQL2,
    &replica::MARIADB_10_11,
    &replica::MARIADB_11_8,
    &replica::MYSQL_9_7,
    &sst::MARIABACKUP,
    &sst::RSYNC,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::client::{ExpectedValue, Kind, Spelt};

    #[test]
    fn every_client_has_an_id_of_its_own_and_every_mode_too() {
        let ids: BTreeSet<&str> = CLIENTS.iter().map(|client| client.id).collect();
        assert_eq!(ids.len(), CLIENTS.len());
        for client in CLIENTS {
            let modes: BTreeSet<&str> = client.modes.iter().map(|mode| mode.id).collect();
            assert_eq!(modes.len(), client.modes.len(), "{}", client.id);
            assert!(!client.run.is_empty() && !modes.contains("version"), "{}", client.id);
            for (path, text) in client.files {
                assert!(!path.starts_with('/') && !path.contains("..") && !text.is_empty(), "{path}");
            }
        }
    }

    #[test]
    fn settings_are_spelt_with_known_words_lead_to_known_modes_and_never_to_two() {
        for client in CLIENTS {
            let Some(settings) = client.settings else { continue };
            for key in settings.keys.iter().filter(|key| key.kind != Kind::Beside) {
                assert!(
                    crate::config::is_about_tls(key.name),
                    "{} {}: dropped when it is read",
                    client.id,
                    key.name
                );
            }
            let kind = |name: &str| settings.keys.iter().find(|key| key.name == name).map(|key| key.kind);
            for spelt in settings.spelt {
                assert!(
                    client.modes.iter().any(|mode| mode.id == spelt.mode),
                    "{} {}",
                    client.id,
                    spelt.mode
                );
                for (name, is) in spelt.settings {
                    let fits = match kind(name) {
                        Some(Kind::Ca) => *is == ExpectedValue::Ca,
                        Some(Kind::Flag) => *is == ExpectedValue::On,
                        Some(Kind::Switch) => matches!(is, ExpectedValue::On | ExpectedValue::Off),
                        Some(Kind::Word) => matches!(is, ExpectedValue::Word(_) | ExpectedValue::Named),
                        Some(Kind::Beside | Kind::Elsewhere) | None => false,
                    };
                    assert!(fits, "{} {}: {name}", client.id, spelt.mode);
                }
                let same = |other: &&Spelt| {
                    other.settings.len() == spelt.settings.len()
                        && spelt.settings.iter().all(|one| other.settings.contains(one))
                };
                assert_eq!(
                    settings.spelt.iter().filter(same).count(),
                    1,
                    "{} {:?}",
                    client.id,
                    spelt.settings
                );
            }
            assert!(
                settings.spelt.iter().any(|spelt| spelt.settings.is_empty()),
                "{}: nothing set",
                client.id
            );
        }
    }
}
