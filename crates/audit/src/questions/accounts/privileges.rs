//! What accounts may do on everything, and on the schema that holds the accounts; through their roles too.

use std::collections::{BTreeMap, BTreeSet};

use net::RowRef;
use server::{Capabilities, Flavour};

use crate::ask::Refusal;
use crate::asking::Asking;
use crate::grant::Grant;

use super::{Accounts, Name};

pub const HOW: &str = "SHOW GRANTS FOR account";

/// On which flavour a column of `mysql.user` is.
#[derive(Debug, Clone, Copy)]
pub struct OnFlavour {
    pub mariadb: bool,
    pub mysql: bool,
}

const BOTH: OnFlavour = OnFlavour { mariadb: true, mysql: true };
const MYSQL: OnFlavour = OnFlavour { mariadb: false, mysql: true };
const MARIADB: OnFlavour = OnFlavour { mariadb: true, mysql: false };

/// Columns of `mysql.user`, and what SHOW GRANTS calls them.
pub const COLUMNS: &[(&str, &str, OnFlavour)] = &[
    ("Select_priv", "SELECT", BOTH),
    ("Insert_priv", "INSERT", BOTH),
    ("Update_priv", "UPDATE", BOTH),
    ("Delete_priv", "DELETE", BOTH),
    ("Create_priv", "CREATE", BOTH),
    ("Drop_priv", "DROP", BOTH),
    ("Reload_priv", "RELOAD", BOTH),
    ("Shutdown_priv", "SHUTDOWN", BOTH),
    ("Process_priv", "PROCESS", BOTH),
    ("File_priv", "FILE", BOTH),
    ("Grant_priv", "GRANT OPTION", BOTH),
    ("References_priv", "REFERENCES", BOTH),
    ("Index_priv", "INDEX", BOTH),
    ("Alter_priv", "ALTER", BOTH),
    ("Show_db_priv", "SHOW DATABASES", BOTH),
    ("Super_priv", "SUPER", BOTH),
    ("Create_tmp_table_priv", "CREATE TEMPORARY TABLES", BOTH),
    ("Lock_tables_priv", "LOCK TABLES", BOTH),
    ("Execute_priv", "EXECUTE", BOTH),
    ("Repl_slave_priv", "REPLICATION SLAVE", BOTH),
    ("Repl_client_priv", "REPLICATION CLIENT", BOTH),
    ("Create_view_priv", "CREATE VIEW", BOTH),
    ("Show_view_priv", "SHOW VIEW", BOTH),
    ("Create_routine_priv", "CREATE ROUTINE", BOTH),
    ("Alter_routine_priv", "ALTER ROUTINE", BOTH),
    ("Create_user_priv", "CREATE USER", BOTH),
    ("Event_priv", "EVENT", BOTH),
    ("Trigger_priv", "TRIGGER", BOTH),
    ("Create_tablespace_priv", "CREATE TABLESPACE", BOTH),
    ("Delete_history_priv", "DELETE HISTORY", MARIADB),
    ("Create_role_priv", "CREATE ROLE", MYSQL),
    ("Drop_role_priv", "DROP ROLE", MYSQL),
];

/// Whoever has one of these can give itself the others, or stop the server.
const ADMINISTER: &[&str] = &[
    "SUPER",
    "CREATE USER",
    "GRANT OPTION",
    "SHUTDOWN",
    "CREATE ROLE",
    "DROP ROLE",
    "ROLE_ADMIN",
    "SYSTEM_USER",
    "SYSTEM_VARIABLES_ADMIN",
    "PERSIST_RO_VARIABLES_ADMIN",
    "SET_ANY_DEFINER",
    "SET_USER_ID",
    "CONNECTION_ADMIN",
    "ENCRYPTION_KEY_ADMIN",
    "APPLICATION_PASSWORD_ADMIN",
    "ALLOW_NONEXISTENT_DEFINER",
];
/// On `*.*` they reach the schema mysql too.
const REACH_MYSQL: &[&str] = &["SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER"];
/// A chain of roles that is longer goes round in a circle.
const ROLES_DEEP_MAX: usize = 64;

/// What SHOW GRANTS calls the privileges that are set in a row of `mysql.user`.
pub fn names(row: &RowRef<'_>) -> BTreeSet<String> {
    let is_set = |column: &str| row.text(column).is_some_and(|value| value == "Y");
    COLUMNS.iter().filter(|(column, _, _)| is_set(column)).map(|(_, name, _)| (*name).to_owned()).collect()
}

/// Whether a privilege, perhaps with the role that it comes from, administers.
pub fn administers(privilege: &str) -> bool {
    ADMINISTER.contains(&privilege.split(" (").next().unwrap_or(privilege))
}

pub fn grants(capabilities: &Capabilities) -> Vec<Grant> {
    let of_flavour: &[&'static str] = if capabilities.flavour == Flavour::MariaDb {
        &["mysql.roles_mapping"]
    } else {
        &["mysql.global_grants", "mysql.role_edges"]
    };
    let all = ["mysql.db", "mysql.tables_priv", "mysql.proxies_priv"].iter().chain(of_flavour);
    all.map(|table| Grant::select(table)).collect()
}

/// What one account may do.
#[derive(Debug, Clone, Default)]
pub struct OfAccount {
    /// On `*.*`; with ` (role r)` where it comes from a role.
    pub global: BTreeSet<String>,
    /// On the schema mysql and its tables.
    pub on_mysql: BTreeSet<String>,
}

#[derive(Debug, Default)]
pub struct Privileges {
    list: BTreeMap<Name, OfAccount>,
    /// Why what reaches the schema mysql may be less than it seems.
    pub partial: Option<String>,
}

impl Privileges {
    pub fn of(&self, name: &Name) -> OfAccount {
        self.list.get(name).cloned().unwrap_or_default()
    }
}

/// Reads what is not in the table of accounts, and follows roles.
pub fn read(asking: &mut Asking<'_>, accounts: &Accounts) -> Result<Result<Privileges, String>, Refusal> {
    let mut list: BTreeMap<Name, OfAccount> = accounts
        .iter()
        .map(|(name, account)| {
            (name.clone(), OfAccount { global: account.global.clone(), on_mysql: BTreeSet::new() })
        })
        .collect();
    let is_mariadb = asking.capabilities.flavour == Flavour::MariaDb;
    let grants = grants(asking.capabilities);
    if !is_mariadb {
        let sql = "SELECT USER, HOST, PRIV FROM mysql.global_grants";
        match asking.rows_with(&grants, sql)? {
            Ok(rows) => {
                for row in rows.iter() {
                    let text = |at: usize| row.at(at).unwrap_or_default().into_owned();
                    list.entry((text(0), text(1))).or_default().global.insert(text(2));
                }
            }
            Err(why) => return Ok(Err(why)),
        }
    }
    // A schema may be named by a pattern.
    let sql = "SELECT User, Host, Select_priv, Insert_priv, Update_priv, Delete_priv, Create_priv, Drop_priv, \
               Alter_priv FROM mysql.db WHERE 'mysql' LIKE Db";
    match asking.rows_with(&grants, sql)? {
        Ok(rows) => {
            for row in rows.iter() {
                let text = |at: usize| row.at(at).unwrap_or_default().into_owned();
                let on_mysql = &mut list.entry((text(0), text(1))).or_default().on_mysql;
                on_mysql.extend(names(&row).iter().map(|name| format!("{name} ON mysql.*")));
            }
        }
        Err(why) => return Ok(Err(why)),
    }
    let sql = "SELECT User, Host, Table_name, Table_priv FROM mysql.tables_priv \
               WHERE Db = 'mysql' AND Table_priv <> ''";
    match asking.rows_with(&grants, sql)? {
        Ok(rows) => {
            for row in rows.iter() {
                let text = |at: usize| row.at(at).unwrap_or_default().into_owned();
                let what = format!("{} ON mysql.{}", text(3).to_ascii_uppercase(), text(2));
                list.entry((text(0), text(1))).or_default().on_mysql.insert(what);
            }
        }
        Err(why) => return Ok(Err(why)),
    }
    for of_account in list.values_mut() {
        let reaching: Vec<String> = REACH_MYSQL
            .iter()
            .filter(|name| of_account.global.contains(**name))
            .map(|name| format!("{name} ON *.*"))
            .collect();
        of_account.on_mysql.extend(reaching);
    }
    let sql = if is_mariadb {
        "SELECT User, Host, Role, '' FROM mysql.roles_mapping"
    } else {
        "SELECT TO_USER, TO_HOST, FROM_USER, FROM_HOST FROM mysql.role_edges"
    };
    match asking.rows_with(&grants, sql)? {
        Ok(rows) => {
            let edges: Vec<(Name, Name)> = rows
                .iter()
                .map(|row| {
                    let text = |at: usize| row.at(at).unwrap_or_default().into_owned();
                    ((text(0), text(1)), (text(2), text(3)))
                })
                .collect();
            follow(&mut list, &edges);
        }
        Err(why) => return Ok(Err(why)),
    }
    let partial = (asking.view.variable("partial_revokes") == Some("ON")).then(|| {
        "partial_revokes is ON: privileges on *.* may be revoked for this schema, which sealion does not read".to_owned()
    });
    Ok(Ok(Privileges { list, partial }))
}

/// Gives each account what its roles have, and theirs.
fn follow(list: &mut BTreeMap<Name, OfAccount>, edges: &[(Name, Name)]) {
    let own = list.clone();
    for (name, of_account) in list.iter_mut() {
        let mut open = vec![name.clone()];
        let mut known: BTreeSet<Name> = open.iter().cloned().collect();
        for _ in 0..ROLES_DEEP_MAX {
            let next: Vec<Name> = edges
                .iter()
                .filter(|(has, role)| open.contains(has) && !known.contains(role))
                .map(|(_, role)| role.clone())
                .collect();
            if next.is_empty() {
                break;
            }
            for role in &next {
                known.insert(role.clone());
                let Some(of_role) = own.get(role) else { continue };
                let by = |what: &String| format!("{what} (role {})", role.0);
                of_account.global.extend(of_role.global.iter().map(by));
                of_account.on_mysql.extend(of_role.on_mysql.iter().map(by));
            }
            open = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn privileges_come_through_roles_of_roles_and_circles_end() {
        let name = |user: &str| (user.to_owned(), String::new());
        let with = |what: &[&str]| OfAccount {
            global: what.iter().map(|&one| one.to_owned()).collect(),
            on_mysql: BTreeSet::new(),
        };
        let mut list: BTreeMap<Name, OfAccount> =
            [(name("web"), with(&["SELECT"])), (name("r"), with(&[])), (name("s"), with(&["FILE", "SUPER"]))]
                .into();
        let edges = [
            (name("web"), name("r")),
            (name("r"), name("s")),
            (name("s"), name("r")),
            (name("s"), name("s")),
        ];
        follow(&mut list, &edges);
        let web: Vec<&str> = list[&name("web")].global.iter().map(String::as_str).collect();
        assert_eq!(web, ["FILE (role s)", "SELECT", "SUPER (role s)"]);
        assert!(administers("SUPER (role s)") && administers("CREATE USER") && !administers("FILE (role s)"));
    }
}
