//! All drivers and tools, one file each.

mod aiomysql;
mod asyncmy;
mod mariadb_cli;
mod mysql_cli;
mod mysql_connector_python;
mod mysqlclient;
mod pymysql;
mod replica;

use crate::client::Client;

/// What `prove clients` tries, in the order of the matrix.
pub const CLIENTS: &[&Client] = &[
    &mysql_cli::MYSQL_9_7,
    &mariadb_cli::MARIADB_10_11,
    &mariadb_cli::MARIADB_11_8,
    &mysqlclient::MYSQLCLIENT,
    &pymysql::PYMYSQL,
    &mysql_connector_python::PURE,
    &mysql_connector_python::C_EXTENSION,
    &aiomysql::AIOMYSQL,
    &asyncmy::ASYNCMY,
    &replica::MARIADB_10_11,
    &replica::MARIADB_11_8,
    &replica::MYSQL_9_7,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

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
}
