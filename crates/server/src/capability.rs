//! What a flavour and version can do. The only place that knows one flavour from another.

use std::fmt;

use crate::options::default_groups;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    MariaDb,
    /// Percona XtraDB Cluster.
    Pxc,
    /// Codership's MySQL-wsrep, and Enterprise builds with `wsrep_ssl_mode`.
    MySqlWsrep,
    MySql,
}

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MariaDb => "MariaDB",
            Self::Pxc => "Percona XtraDB Cluster",
            Self::MySqlWsrep => "MySQL-wsrep",
            Self::MySql => "MySQL",
        })
    }
}

/// Whether we have run this ourselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    Tested,
    /// Like one that we ran, but we did not run it: a change needs `--allow-untested`.
    Expected,
    Refused(&'static str),
}

/// One row of the table, for one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    pub flavour: Flavour,
    pub version: (u16, u16, u16),
    /// Galera TLS can be rolled with `socket.dynamic`.
    pub galera_tls_roll: Trust,
    /// `FLUSH SSL` reloads the client certificate, and on a Galera node the provider's too.
    pub flush_ssl: bool,
    /// It may be a node of a Galera cluster: the others have neither the rules nor the status variables of one.
    pub galera: bool,
    /// A running server takes other files for its certificate: `SET GLOBAL ssl_cert=…` and `ALTER INSTANCE RELOAD TLS`.
    pub live_tls_files: bool,
    /// Reading its files again fails, and changes nothing, where its CA file does not verify its own certificate: the certificate or its CA has
    /// expired, or the CA is not in there (error 3888 `Invalid certificates`). At a start it is served all the same.
    pub reload_verifies: bool,
    /// It has SET PERSIST, whose file wins over every option file.
    pub set_persist: bool,
    /// TLS of clients and of replication can be changed on it.
    pub replication_tls: Trust,
    /// `have_ssl` is there and says whether clients are offered TLS. MySQL 8.4 and newer are without it; there
    /// `Ssl_server_not_after` is empty without TLS (seen: MySQL 9.7.4).
    pub have_ssl: bool,
}

impl Capabilities {
    /// # Source
    /// Seen: 10.11.19-MariaDB with Galera 26.4.23. `socket.dynamic` is in Galera 4.8 (26.4.8) and newer (its changelog).
    pub fn of(version_text: &str, version_comment: &str, has_wsrep_ssl_mode: bool) -> Self {
        let version = numbers(version_text);
        let lower = format!("{version_text} {version_comment}").to_ascii_lowercase();
        let flavour = if lower.contains("mariadb") {
            Flavour::MariaDb
        } else if lower.contains("percona xtradb cluster") {
            Flavour::Pxc
        } else if lower.contains("wsrep") || lower.contains("codership") {
            Flavour::MySqlWsrep
        } else {
            Flavour::MySql
        };
        let galera_tls_roll = match flavour {
            Flavour::MariaDb if has_wsrep_ssl_mode => Trust::Refused(
                "this is an Enterprise build with wsrep_ssl_mode, which switches TLS by its own rules",
            ),
            Flavour::MariaDb if (version.0, version.1) == (10, 11) => Trust::Tested,
            Flavour::MariaDb if version >= (10, 6, 0) => Trust::Expected,
            Flavour::MariaDb => Trust::Refused("MariaDB before 10.6 is not known to have socket.dynamic"),
            Flavour::Pxc => Trust::Refused(
                "Percona XtraDB Cluster encrypts by pxc_encrypt_cluster_traffic, which this version does not roll",
            ),
            Flavour::MySqlWsrep => Trust::Refused("MySQL-wsrep was not tried by us"),
            Flavour::MySql => Trust::Refused("this server has no Galera"),
        };
        let replication_tls = match flavour {
            Flavour::MariaDb if (version.0, version.1) == (10, 11) => Trust::Tested,
            Flavour::MySql if (version.0, version.1) == (9, 7) => Trust::Tested,
            Flavour::MariaDb if version >= (10, 6, 0) => Trust::Expected,
            // SHOW REPLICA STATUS, CHANGE REPLICATION SOURCE TO.
            Flavour::MySql if version >= (8, 0, 23) => Trust::Expected,
            Flavour::MariaDb => Trust::Refused("MariaDB before 10.6 was not tried by us"),
            Flavour::MySql => Trust::Refused("MySQL before 8.0.23 has other names for replication"),
            Flavour::Pxc | Flavour::MySqlWsrep => Trust::Refused("it is a node of a Galera cluster"),
        };
        Self {
            flavour,
            version,
            galera_tls_roll,
            // Source: MySQL manual, ALTER INSTANCE (8.0.16).
            live_tls_files: flavour == Flavour::MySql && version >= (8, 0, 16),
            // Seen: 9.7.4. MariaDB 10.11.19 takes what has expired.
            reload_verifies: flavour == Flavour::MySql,
            // Source: MySQL manual, SET PERSIST (8.0.0).
            set_persist: flavour == Flavour::MySql && version >= (8, 0, 0),
            replication_tls,
            flush_ssl: flavour == Flavour::MariaDb,
            galera: flavour != Flavour::MySql,
            have_ssl: flavour == Flavour::MariaDb || version < (8, 4, 0),
        }
    }

    /// The option-file groups that this server reads.
    pub fn option_groups(&self) -> Vec<String> {
        let is_mariadb = self.flavour == Flavour::MariaDb;
        default_groups(is_mariadb, &format!("{}.{}", self.version.0, self.version.1), is_mariadb)
    }
}

/// The first three numbers of a version text; MariaDB's replication prefix `5.5.5-` is not one.
fn numbers(text: &str) -> (u16, u16, u16) {
    let text = text.strip_prefix("5.5.5-").unwrap_or(text);
    let mut parts = text.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_reads_the_groups_of_its_own_version() {
        let groups = Capabilities::of("11.8.6-MariaDB", "", false).option_groups();
        assert!(groups.contains(&"mariadb-11.8".to_owned()) && groups.contains(&"galera".to_owned()));
        assert!(!groups.iter().any(|group| group.contains("10.11")), "{groups:?}");
        assert_eq!(Capabilities::of("8.0.36", "", false).option_groups(), ["mysqld", "server", "mysqld-8.0"]);
    }

    #[test]
    fn what_a_flavour_lacks_is_in_its_row() {
        for (version, galera, have_ssl) in [
            ("10.11.19-MariaDB", true, true),
            ("11.8.9-MariaDB", true, true),
            ("8.0.36", false, true),
            ("8.4.3", false, false),
            ("9.7.4", false, false),
        ] {
            let row = Capabilities::of(version, "", false);
            assert_eq!((row.galera, row.have_ssl), (galera, have_ssl), "{version}");
        }
    }

    #[test]
    fn each_flavour_has_its_row() {
        let check = |version, comment, ssl_mode, flavour, tested: bool| {
            let row = Capabilities::of(version, comment, ssl_mode);
            assert_eq!((row.flavour, row.galera_tls_roll == Trust::Tested), (flavour, tested), "{version}");
        };
        check("10.11.19-MariaDB-deb12", "Debian 12", false, Flavour::MariaDb, true);
        check("5.5.5-10.11.19-MariaDB", "", false, Flavour::MariaDb, true);
        check("10.6.16-11-MariaDB-enterprise", "", true, Flavour::MariaDb, false);
        check("11.8.6-MariaDB", "", false, Flavour::MariaDb, false);
        check("8.0.36-28.1", "Percona XtraDB Cluster (GPL)", false, Flavour::Pxc, false);
        check("8.0.39", "MySQL Server (GPL) wsrep_26.4.20", false, Flavour::MySqlWsrep, false);
        check("9.7.4", "MySQL Community Server", false, Flavour::MySql, false);
        assert!(matches!(
            Capabilities::of("8.0.36", "Percona XtraDB Cluster", false).galera_tls_roll,
            Trust::Refused(_)
        ));
    }
}
