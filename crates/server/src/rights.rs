//! What the account of each command has to be allowed, by flavour: the one place that lists it. `sealion grants` prints it, plans name
//! it, and the pages of the manual are tested against it. What `audit` reads is listed with its questions.

use std::collections::BTreeSet;

use crate::capability::{Capabilities, Flavour};
use crate::grants::OwnGrants;

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
    /// To encrypt data at rest, or decrypt it.
    ChangeAtRest,
    /// To see which TLS each session uses.
    SeeHandshakes,
    /// To read what is migrated.
    MigrateFrom,
    /// To write it.
    MigrateTo,
    /// To replicate it meanwhile.
    Follow,
    /// The same the other way, behind the cutover.
    FollowBack,
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
/// `Ssl_version` and `Ssl_cipher` of each session.
const HANDSHAKES: (&str, &str) = ("SELECT", "performance_schema.status_by_thread");
const ACCOUNTS: (&str, &str) = ("SELECT", "mysql.user");
pub const CANARIES: (&str, &str) = ("ALL", "sealion_canary.*");
/// What of `ALL` is made use of: an account that has no more is let in.
const USED_OF_ALL: [&str; 5] = ["CREATE", "DELETE", "DROP", "INSERT", "SELECT"];

/// Privileges with which one has another too, or that are shown in its place.
///
/// # Source
/// Seen on MariaDB 10.11.19: `SHOW GRANTS` has SLAVE MONITOR for REPLICA MONITOR, and BINLOG MONITOR for REPLICATION CLIENT. MariaDB manual,
/// GRANT: up to 10.11 SUPER is enough for what the privileges that were split off it allow. MySQL manual, Privileges Provided by MySQL: SUPER still
/// allows what its dynamic privileges do.
const COMES_WITH: [(&str, &str); 4] = [
    ("REPLICA MONITOR", "SLAVE MONITOR"),
    ("REPLICATION SLAVE ADMIN", "REPLICATION REPLICA ADMIN"),
    ("BINLOG MONITOR", "REPLICATION CLIENT"),
    ("REPLICATION MASTER ADMIN", "REPLICATION SOURCE ADMIN"),
];
const COMES_WITH_SUPER: [&str; 5] = [
    "REPLICA MONITOR",
    "REPLICATION SLAVE ADMIN",
    "CONNECTION_ADMIN",
    "REPLICATION_SLAVE_ADMIN",
    "SYSTEM_VARIABLES_ADMIN",
];

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
        Use::ChangeAtRest,
        &[
            "ALTER",
            "BINLOG ADMIN",
            "BINLOG MONITOR",
            "CREATE",
            "DROP",
            "INSERT",
            "PROCESS",
            "RELOAD",
            "REPLICA MONITOR",
            "SELECT",
            "SUPER",
            "UPDATE",
        ],
        &[],
    ),
    mariadb(Use::SeeHandshakes, &[], &[HANDSHAKES]),
    mysql(Use::SeeHandshakes, &[], &[HANDSHAKES]),
    mariadb(
        Use::MigrateFrom,
        &[
            "BINLOG MONITOR",
            "CONNECTION ADMIN",
            "EVENT",
            "PROCESS",
            "READ_ONLY ADMIN",
            // It follows the target after the cutover, for the way back.
            "RELOAD",
            "REPLICA MONITOR",
            "REPLICATION SLAVE ADMIN",
            "SELECT",
            "SHOW VIEW",
            // As for the target.
            "SUPER",
            "TRIGGER",
        ],
        &[],
    ),
    mariadb(
        Use::MigrateTo,
        &[
            "ALTER",
            "ALTER ROUTINE",
            // Of events, which are another thing for who follows the target.
            "BINLOG ADMIN",
            "BINLOG MONITOR",
            // Of sessions with open work, when a rollback closes it.
            "CONNECTION ADMIN",
            "CREATE",
            "CREATE ROUTINE",
            "CREATE VIEW",
            "DELETE",
            "DROP",
            "EVENT",
            "INDEX",
            "INSERT",
            "PROCESS",
            "READ_ONLY ADMIN",
            "REFERENCES",
            "RELOAD",
            "REPLICA MONITOR",
            "REPLICATION SLAVE ADMIN",
            "SELECT",
            // Views, routines, triggers and events are by those who they were by.
            "SET USER",
            "SHOW VIEW",
            // The password of replication is kept out of the target's own logs by it.
            "SUPER",
            "TRIGGER",
        ],
        &[],
    ),
    mysql(
        Use::MigrateFrom,
        &[
            "BACKUP_ADMIN",
            "EVENT",
            "PROCESS",
            "RELOAD",
            "REPLICATION CLIENT",
            "SELECT",
            "SHOW VIEW",
            "SYSTEM_VARIABLES_ADMIN",
            "TRIGGER",
            "XA_RECOVER_ADMIN",
        ],
        &[],
    ),
    mariadb(Use::Follow, &["REPLICATION SLAVE"], &[]),
    mysql(Use::Follow, &["REPLICATION SLAVE"], &[]),
    mariadb(Use::FollowBack, &["REPLICATION SLAVE"], &[]),
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

/// Privileges of several uses together, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RightsSet {
    global: BTreeSet<&'static str>,
    on: BTreeSet<(&'static str, &'static str)>,
}

impl RightsSet {
    /// `None`: sealion does none of that on servers of this flavour.
    pub fn of(uses: &[Use], flavour: Flavour) -> Option<Self> {
        let all: Vec<&Rights> = uses.iter().filter_map(|one| rights(*one, flavour)).collect();
        (!all.is_empty()).then(|| Self {
            global: all.iter().flat_map(|rights| rights.global.iter().copied()).collect(),
            on: all.iter().flat_map(|rights| rights.on.iter().copied()).collect(),
        })
    }

    #[must_use]
    pub fn without(mut self, on: (&'static str, &'static str)) -> Self {
        self.on.remove(&on);
        self
    }

    pub fn is_empty(&self) -> bool {
        self.global.is_empty() && self.on.is_empty()
    }

    /// `PRIVILEGES ON OBJECT`, each object once.
    pub fn grants(&self) -> Vec<String> {
        let listed = self.global.iter().copied().collect::<Vec<_>>().join(", ");
        let global = (!listed.is_empty()).then(|| format!("{listed} ON *.*"));
        global.into_iter().chain(self.on.iter().map(|(what, object)| format!("{what} ON {object}"))).collect()
    }

    /// Of these, what an account lacks.
    #[must_use]
    pub fn lacking(&self, own: &OwnGrants, capabilities: &Capabilities) -> Self {
        let has_super = own.has("SUPER")
            && (capabilities.flavour != Flavour::MariaDb || capabilities.version < (11, 0, 0));
        let has = |privilege: &str| {
            let is_other = |(one, other): &(&str, &str)| *one == privilege && own.has(other);
            own.has(privilege)
                || COMES_WITH.iter().any(is_other)
                || (has_super && COMES_WITH_SUPER.contains(&privilege))
        };
        let has_on = |privilege: &str, object: &str| {
            let (schema, table) = object.split_once('.').unwrap_or((object, "*"));
            let table = (table != "*").then_some(table);
            let used: &[&str] = if privilege == "ALL" { &USED_OF_ALL } else { &[privilege] };
            used.iter().all(|one| own.has_on(one, schema, table))
        };
        Self {
            global: self.global.iter().copied().filter(|privilege| !has(privilege)).collect(),
            on: self.on.iter().copied().filter(|(privilege, object)| !has_on(privilege, object)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_account_lacks_is_what_its_server_does_not_list() {
        let check = |version: &str, used_to, lines: &[&str], lacking: &[&str]| {
            let capabilities = Capabilities::of(version, "", false);
            let own = OwnGrants::of("a@%", lines.iter().copied());
            let wanted = RightsSet::of(&[used_to], capabilities.flavour).expect("a row");
            assert_eq!(wanted.lacking(&own, &capabilities).grants(), lacking, "{version} {lines:?}");
        };
        let (mariadb, mysql) = ("10.11.19-MariaDB", "9.7.4");
        check(mariadb, Use::ChangeGalera, &["GRANT ALL PRIVILEGES ON *.* TO `a`@`%`"], &[]);
        // As `SHOW GRANTS` has what `sealion grants` gives.
        let given = [
            "GRANT RELOAD, PROCESS, SUPER, SLAVE MONITOR ON *.* TO `a`@`%` IDENTIFIED BY PASSWORD '*B6'",
            "GRANT ALL PRIVILEGES ON `sealion_canary`.* TO `a`@`%`",
            "GRANT SELECT ON `performance_schema`.`threads` TO `a`@`%`",
        ];
        check(mariadb, Use::ChangeGalera, &given, &[]);
        check("11.8.6-MariaDB", Use::ChangeGalera, &given, &[]);
        check(
            mariadb,
            Use::ChangeGalera,
            &["GRANT PROCESS, SLAVE MONITOR ON *.* TO `a`@`%`", given[1]],
            &["RELOAD, SUPER ON *.*", "SELECT ON performance_schema.threads"],
        );
        let with_super =
            ["GRANT RELOAD, PROCESS, SUPER, SELECT, INSERT, CREATE, DROP, DELETE ON *.* TO `a`@`%`"];
        check(mariadb, Use::ChangeReplication, &with_super, &[]);
        check(
            "11.8.6-MariaDB",
            Use::ChangeReplication,
            &with_super,
            &["REPLICA MONITOR, REPLICATION SLAVE ADMIN ON *.*"],
        );
        check(
            mysql,
            Use::ChangeReplication,
            &[
                "GRANT SELECT, PROCESS, REPLICATION CLIENT ON *.* TO `a`@`%`",
                "GRANT CONNECTION_ADMIN,REPLICATION_SLAVE_ADMIN ON *.* TO `a`@`%`",
                "REVOKE SELECT ON `performance_schema`.* FROM `a`@`%`",
            ],
            &[
                "SYSTEM_VARIABLES_ADMIN ON *.*",
                "ALL ON sealion_canary.*",
                "SELECT ON performance_schema.threads",
            ],
        );
        check(mysql, Use::ChangeAccounts, &[], &["CREATE USER ON *.*", "SELECT ON mysql.user"]);
    }

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
