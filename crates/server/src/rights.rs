//! What the account of each command has to be allowed, by flavour: the one place that lists it. `sealion grants` prints it, plans name
//! it, and the pages of the manual are tested against it. What `audit` reads is listed with its questions.

use crate::capability::Flavour;

/// What an account is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// To look at a server.
    Look,
    /// To write test rows too.
    Canaries,
    /// To find the other servers of its cluster.
    Find,
    /// To change nodes of a Galera cluster.
    ChangeGalera,
    /// To change a source and its replicas.
    ChangeReplication,
    /// To make accounts use TLS.
    ChangeAccounts,
    /// To read what is migrated.
    MigrateFrom,
    /// To write it.
    MigrateTo,
    /// To replicate it meanwhile.
    Follow,
}

/// Privileges on `*.*`, and on one schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rights {
    pub used_to: Use,
    pub is_mariadb: bool,
    pub global: &'static [&'static str],
    /// What is granted on what.
    pub on: &'static [(&'static str, &'static str)],
}

/// Of `SHOW PROCESSLIST`: who is connected; `threads` says how.
const SESSIONS: (&str, &str) = ("SELECT", "performance_schema.threads");
const ACCOUNTS: (&str, &str) = ("SELECT", "mysql.user");
pub const CANARIES: (&str, &str) = ("ALL", "sealion_canary.*");

const fn mariadb(
    used_to: Use,
    global: &'static [&'static str],
    on: &'static [(&'static str, &'static str)],
) -> Rights {
    Rights { used_to, is_mariadb: true, global, on }
}

const fn mysql(
    used_to: Use,
    global: &'static [&'static str],
    on: &'static [(&'static str, &'static str)],
) -> Rights {
    Rights { used_to, is_mariadb: false, global, on }
}

/// Tried with accounts that have these and no others, on MariaDB 10.11.19 and MySQL 9.7.4 (`testbed`).
pub const RIGHTS: &[Rights] = &[
    mariadb(Use::Look, &["PROCESS", "REPLICA MONITOR"], &[SESSIONS]),
    mysql(Use::Look, &["PROCESS", "REPLICATION CLIENT"], &[SESSIONS]),
    mariadb(Use::Canaries, &[], &[CANARIES]),
    mysql(Use::Canaries, &[], &[CANARIES]),
    mariadb(Use::Find, &["PROCESS", "REPLICA MONITOR", "REPLICATION MASTER ADMIN"], &[]),
    mysql(
        Use::Find,
        &["PROCESS", "REPLICATION CLIENT", "REPLICATION SLAVE"],
        &[("SELECT", "performance_schema.replication_group_members")],
    ),
    mariadb(Use::ChangeGalera, &["PROCESS", "RELOAD", "REPLICA MONITOR", "SUPER"], &[SESSIONS, CANARIES]),
    mariadb(
        Use::ChangeReplication,
        // RELOAD for FLUSH SSL (seen on 10.11.19: error 1227 without, SUPER or not).
        &["PROCESS", "RELOAD", "REPLICA MONITOR", "REPLICATION SLAVE ADMIN", "SUPER"],
        &[SESSIONS, CANARIES],
    ),
    mysql(
        Use::ChangeReplication,
        &[
            "CONNECTION_ADMIN",
            "PROCESS",
            "REPLICATION CLIENT",
            "REPLICATION_SLAVE_ADMIN",
            "SYSTEM_VARIABLES_ADMIN",
        ],
        &[SESSIONS, CANARIES],
    ),
    mariadb(Use::ChangeAccounts, &["CREATE USER"], &[ACCOUNTS]),
    mysql(Use::ChangeAccounts, &["CREATE USER"], &[ACCOUNTS]),
    mariadb(
        Use::MigrateFrom,
        &[
            "BINLOG MONITOR",
            "CONNECTION ADMIN",
            "EVENT",
            "PROCESS",
            "READ_ONLY ADMIN",
            "REPLICA MONITOR",
            "SELECT",
            "SHOW VIEW",
            "TRIGGER",
        ],
        &[],
    ),
    mariadb(
        Use::MigrateTo,
        &[
            "ALTER",
            "BINLOG MONITOR",
            "CREATE",
            "DELETE",
            "DROP",
            "INDEX",
            "INSERT",
            "PROCESS",
            "READ_ONLY ADMIN",
            "REFERENCES",
            "RELOAD",
            "REPLICA MONITOR",
            "REPLICATION SLAVE ADMIN",
            "SELECT",
            // The password of replication is kept out of the target's own logs by it.
            "SUPER",
        ],
        &[],
    ),
    mariadb(Use::Follow, &["REPLICATION SLAVE"], &[]),
];

/// What an account is allowed for this, on servers of this flavour; `None`: sealion does not do it there.
pub fn rights(used_to: Use, flavour: Flavour) -> Option<&'static Rights> {
    let is_mariadb = flavour == Flavour::MariaDb;
    RIGHTS.iter().find(|rights| rights.used_to == used_to && rights.is_mariadb == is_mariadb)
}

impl Rights {
    /// Those on `*.*`, as people write them.
    pub fn listed(&self) -> String {
        self.global.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_use_has_one_row_a_flavour_in_order() {
        for (at, rights) in RIGHTS.iter().enumerate() {
            let same =
                |other: &&Rights| (other.used_to, other.is_mariadb) == (rights.used_to, rights.is_mariadb);
            assert_eq!(RIGHTS.iter().filter(same).count(), 1, "row {at}");
            assert!(rights.global.is_sorted(), "row {at}: {:?}", rights.global);
        }
    }
}
