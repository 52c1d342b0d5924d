//! What accounts may do on everything, and on the schema that holds the accounts; through their roles too.

use std::collections::{BTreeMap, BTreeSet};

use net::RowRef;
use server::{Capabilities, Flavour};

use crate::ask::Refusal;
use crate::asking::Asking;
use crate::grant::Grant;

use super::{Accounts, Name, hosts};

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
    // A source of one's own sends any statement; a definer of one's own runs it; BINLOG writes it past the grants.
    "REPLICATION SLAVE ADMIN",
    "REPLICATION_SLAVE_ADMIN",
    "GROUP_REPLICATION_ADMIN",
    "REPLICATION_APPLIER",
    "CLONE_ADMIN",
    "BINLOG REPLAY",
    "BINLOG_ADMIN",
    "SET USER",
    "CONNECTION ADMIN",
];
/// What MariaDB keeps in `$.access` of `mysql.global_priv` only, by its bit: privileges without a column in
/// `mysql.user`.
///
/// Source: MariaDB, sql/privilege.h; each was granted on 10.11.19 and read back.
const BITS: &[(u32, &str)] = &[
    (30, "SET USER"),
    (31, "FEDERATED ADMIN"),
    (32, "CONNECTION ADMIN"),
    (33, "READ_ONLY ADMIN"),
    (34, "REPLICATION SLAVE ADMIN"),
    (35, "REPLICATION MASTER ADMIN"),
    (36, "BINLOG ADMIN"),
    (37, "BINLOG REPLAY"),
    (38, "SLAVE MONITOR"),
];
/// On `*.*` they reach the schema mysql too.
const REACH_MYSQL: &[&str] = &["SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER"];
/// MariaDB's role that every account has, from 10.11 on.
const PUBLIC: &str = "PUBLIC";

/// What SHOW GRANTS calls the privileges that are set in a row of `mysql.user`.
pub fn names(row: &RowRef<'_>) -> BTreeSet<String> {
    let is_set = |column: &str| row.text(column).is_some_and(|value| value == "Y");
    COLUMNS.iter().filter(|(column, _, _)| is_set(column)).map(|(_, name, _)| (*name).to_owned()).collect()
}

/// The same of `$.access`, as far as no column has it.
pub fn names_of_bits(access: &str) -> impl Iterator<Item = String> {
    let access: u64 = access.parse().unwrap_or(0);
    BITS.iter().filter(move |(bit, _)| access >> bit & 1 == 1).map(|(_, name)| (*name).to_owned())
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
    let all =
        ["mysql.db", "mysql.tables_priv", "mysql.procs_priv", "mysql.proxies_priv"].iter().chain(of_flavour);
    all.map(|table| Grant::select(table)).collect()
}

/// What one account may do.
#[derive(Debug, Clone, Default)]
pub struct OfAccount {
    /// On `*.*`; with ` (role r)` where it comes from a role.
    pub global: BTreeSet<String>,
    /// On the schema mysql and its tables.
    pub on_mysql: BTreeSet<String>,
    /// Schemas, tables and routines, whatever it may do with them.
    pub objects: BTreeSet<String>,
}

/// Whoever has one of these on `*.*` reaches the rows of every schema.
const REACH_EVERY_SCHEMA: &[&str] = &["SELECT", "INSERT", "UPDATE", "DELETE", "DROP", "ALTER"];
/// Schemas of the server itself: the schema mysql is told by what it may write there.
const OF_THE_SERVER: [&str; 4] = ["mysql", "sys", "performance_schema", "information_schema"];
/// So many schemas are named.
const SCHEMAS_NAMED_MAX: usize = 4;

impl OfAccount {
    /// What an injected statement could do with it beyond the rows of one schema.
    pub fn harm(&self) -> Vec<String> {
        // Without the role that it comes from.
        let bare = |one: &String| one.split(" (").next().unwrap_or_default().to_owned();
        let global: BTreeSet<String> = self.global.iter().map(bare).collect();
        let mut harm: Vec<String> = ["FILE", "CREATE USER"]
            .iter()
            .filter(|one| global.contains(**one))
            .map(|&one| one.into())
            .collect();
        let everywhere: Vec<&str> =
            REACH_EVERY_SCHEMA.iter().copied().filter(|one| global.contains(*one)).collect();
        if !everywhere.is_empty() {
            harm.push(format!("{} in every schema", everywhere.join(", ")));
        }
        let writes = |one: &&String| {
            !one.starts_with("SELECT ") && !one.starts_with("GRANT ") && !one.contains("ON *.*")
        };
        harm.extend(self.on_mysql.iter().filter(writes).map(bare));
        let schemas: BTreeSet<&str> = self
            .objects
            .iter()
            .filter_map(|object| object.split('.').next())
            .filter(|schema| !OF_THE_SERVER.contains(schema))
            .collect();
        if schemas.len() > 1 {
            let named: Vec<&str> = schemas.iter().copied().take(SCHEMAS_NAMED_MAX).collect();
            let more = if named.len() < schemas.len() { ", …" } else { "" };
            harm.push(format!("{} schemas ({}{more})", schemas.len(), named.join(", ")));
        }
        harm
    }
}

#[derive(Debug, Default)]
pub struct Privileges {
    list: BTreeMap<Name, OfAccount>,
    /// Those that somebody has as a role.
    pub roles: BTreeSet<Name>,
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
    let is_mariadb = asking.capabilities.flavour == Flavour::MariaDb;
    let everybody = if is_mariadb {
        vec![(PUBLIC.to_owned(), String::new())]
    } else {
        let list = asking.view.variable("mandatory_roles").unwrap_or_default();
        match role_names(list) {
            Some(roles) => roles,
            None => return Ok(Err(format!("mandatory_roles is {list:?}, which sealion cannot read"))),
        }
    };
    let mut list: BTreeMap<Name, OfAccount> = accounts
        .iter()
        .map(|(name, account)| {
            (name.clone(), OfAccount { global: account.global.clone(), ..OfAccount::default() })
        })
        .collect();
    let grants = grants(asking.capabilities);
    let text = |row: &RowRef<'_>, at: usize| row.at(at).unwrap_or_default().into_owned();
    if !is_mariadb {
        let sql = "SELECT USER, HOST, PRIV FROM mysql.global_grants";
        match asking.rows_with(&grants, sql)? {
            Ok(rows) => {
                for row in rows.iter() {
                    let name = (text(&row, 0), text(&row, 1));
                    list.entry(name).or_default().global.insert(text(&row, 2).to_ascii_uppercase());
                }
            }
            Err(why) => return Ok(Err(why)),
        }
    }
    // A schema may be named by a pattern.
    let sql = "SELECT User, Host, Db, 'mysql' LIKE Db AS is_mysql, Select_priv, Insert_priv, Update_priv, Delete_priv, \
               Create_priv, Drop_priv, Alter_priv, Grant_priv FROM mysql.db";
    // Rows without a user count for every user from there.
    let mut of_anybody: Vec<(String, String)> = Vec::new();
    match asking.rows_with(&grants, sql)? {
        Ok(rows) => {
            for row in rows.iter() {
                let (name, schema) = ((text(&row, 0), text(&row, 1)), text(&row, 2));
                if row.at(3).as_deref() == Some("1") {
                    let what: Vec<String> =
                        names(&row).iter().map(|name| format!("{name} ON mysql.*")).collect();
                    if name.0.is_empty() {
                        of_anybody.extend(what.iter().map(|what| (name.1.clone(), what.clone())));
                    }
                    list.entry(name.clone()).or_default().on_mysql.extend(what);
                }
                list.entry(name).or_default().objects.insert(format!("{schema}.*"));
            }
        }
        Err(why) => return Ok(Err(why)),
    }
    // A privilege on columns stands in Column_priv, and Table_priv is empty.
    let sql = "SELECT User, Host, Db, Table_name, Table_priv, Column_priv FROM mysql.tables_priv";
    match asking.rows_with(&grants, sql)? {
        Ok(rows) => {
            for row in rows.iter() {
                let (schema, table) = (text(&row, 2), text(&row, 3));
                let of_account = list.entry((text(&row, 0), text(&row, 1))).or_default();
                if schema == "mysql" {
                    let on = |what: String, on: &str| {
                        (!what.is_empty())
                            .then(|| format!("{} ON {on}mysql.{table}", what.to_ascii_uppercase()))
                    };
                    of_account.on_mysql.extend(on(text(&row, 4), ""));
                    of_account.on_mysql.extend(on(text(&row, 5), "columns of "));
                }
                of_account.objects.insert(format!("{schema}.{table}"));
            }
        }
        Err(why) => return Ok(Err(why)),
    }
    match asking.rows_with(&grants, "SELECT User, Host, Db, Routine_name FROM mysql.procs_priv")? {
        Ok(rows) => {
            for row in rows.iter() {
                let of_account = list.entry((text(&row, 0), text(&row, 1))).or_default();
                of_account.objects.insert(format!("{}.{}()", text(&row, 2), text(&row, 3)));
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
    let mut roles: BTreeSet<Name> = everybody.iter().cloned().collect();
    match asking.rows_with(&grants, sql)? {
        Ok(rows) => {
            let mut edges: BTreeMap<Name, Vec<Name>> = BTreeMap::new();
            for row in rows.iter() {
                let role = (text(&row, 2), text(&row, 3));
                roles.insert(role.clone());
                edges.entry((text(&row, 0), text(&row, 1))).or_default().push(role);
            }
            follow(&mut list, &edges, &everybody);
        }
        Err(why) => return Ok(Err(why)),
    }
    // After the roles: these rows count for whoever logs in from there, and a role is no login.
    for ((user, host), of_account) in &mut list {
        if !user.is_empty() && accounts.contains_key(&(user.clone(), host.clone())) {
            let of_anybody = of_anybody.iter().filter(|(from, _)| hosts::overlap(from, host));
            let what = of_anybody.map(|(from, what)| format!("{what} (anonymous, from '{from}')"));
            of_account.on_mysql.extend(what);
        }
    }
    let partial = (asking.view.variable("partial_revokes") == Some("ON")).then(|| {
        "partial_revokes is ON: privileges on *.* may be revoked for this schema, which sealion does not read".to_owned()
    });
    Ok(Ok(Privileges { list, roles, partial }))
}

/// Gives each account what its roles have, and theirs; and what everybody has.
fn follow(list: &mut BTreeMap<Name, OfAccount>, edges: &BTreeMap<Name, Vec<Name>>, everybody: &[Name]) {
    let own = list.clone();
    for (name, of_account) in list.iter_mut() {
        let mut known: BTreeSet<&Name> = [name].into();
        let mut open: Vec<&Name> = edges.get(name).into_iter().flatten().chain(everybody).collect();
        // Each role once, so that it ends where they go round in a circle.
        while let Some(role) = open.pop() {
            if !known.insert(role) {
                continue;
            }
            open.extend(edges.get(role).into_iter().flatten());
            let Some(of_role) = own.get(role) else { continue };
            let by = |what: &String| format!("{what} (role {})", role.0);
            of_account.global.extend(of_role.global.iter().map(by));
            of_account.on_mysql.extend(of_role.on_mysql.iter().map(by));
            of_account.objects.extend(of_role.objects.iter().map(by));
        }
    }
}

/// The names in `mandatory_roles`, which are written as accounts are; `None` where they cannot be read.
///
/// Source: MySQL manual, mandatory_roles: separated by commas, quoted where they have to be, the host `%` where there
/// is none.
fn role_names(list: &str) -> Option<Vec<Name>> {
    let mut names = Vec::new();
    let mut rest = list.trim();
    while !rest.is_empty() {
        let (user, after) = one_name(rest)?;
        let mut name = (user, "%".to_owned());
        rest = after.trim_start();
        if let Some(host) = rest.strip_prefix('@') {
            let (host, after) = one_name(host.trim_start())?;
            // The server keeps hosts in lower case.
            name.1 = host.to_ascii_lowercase();
            rest = after.trim_start();
        }
        names.push(name);
        rest = match rest.strip_prefix(',') {
            Some(more) if !more.trim().is_empty() => more.trim_start(),
            Some(_) => return None,
            None if rest.is_empty() => rest,
            None => return None,
        };
    }
    Some(names)
}

/// One part of a name, and what stands behind it.
fn one_name(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next()?;
    if !matches!(quote, '\'' | '"' | '`') {
        let end = text.find(|c: char| c == ',' || c == '@' || c.is_whitespace()).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        return (!name.is_empty() && !name.contains(['\'', '"', '`', '\\'])).then(|| (name.to_owned(), rest));
    }
    let mut name = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, char)) = chars.next() {
        if char == '\\' && quote != '`' {
            // An escape, whose meaning hangs on the mode that the variable was set in.
            return None;
        }
        if char != quote {
            name.push(char);
        } else if chars.next_if(|(_, next)| *next == quote).is_some() {
            name.push(quote);
        } else {
            return Some((name, text.get(at + 1..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn privileges_come_through_roles_of_roles_and_circles_end() {
        let name = |user: &str| (user.to_owned(), String::new());
        let with = |what: &[&str]| OfAccount {
            global: what.iter().map(|&one| one.to_owned()).collect(),
            ..OfAccount::default()
        };
        let mut list: BTreeMap<Name, OfAccount> =
            [(name("web"), with(&["SELECT"])), (name("r"), with(&[])), (name("s"), with(&["FILE", "SUPER"]))]
                .into();
        list.insert(name("plain"), with(&[]));
        list.insert(name("all"), with(&["PROCESS"]));
        let edges = [
            (name("web"), vec![name("r")]),
            (name("r"), vec![name("s")]),
            (name("s"), vec![name("r"), name("s")]),
        ];
        follow(&mut list, &edges.into(), &[name("all"), name("nowhere")]);
        let of = |user| list[&name(user)].global.iter().map(String::as_str).collect::<Vec<_>>();
        assert_eq!(of("web"), ["FILE (role s)", "PROCESS (role all)", "SELECT", "SUPER (role s)"]);
        assert_eq!(of("plain"), ["PROCESS (role all)"]);
        assert_eq!(of("all"), ["PROCESS"]);
        assert!(administers("SUPER (role s)") && administers("CREATE USER") && !administers("FILE (role s)"));
    }

    #[test]
    fn roles_of_everybody_are_read_as_accounts_are_written() {
        let name = |user: &str, host: &str| (user.to_owned(), host.to_owned());
        for (list, expected) in [
            ("", Some(vec![])),
            ("adm", Some(vec![name("adm", "%")])),
            ("adm, `b`@'H%' ,\"c,d\"@x", Some(vec![name("adm", "%"), name("b", "h%"), name("c,d", "x")])),
            ("'it''s'@`a``b`", Some(vec![name("it's", "a`b")])),
            ("adm,", None),
            ("'adm", None),
            ("adm x", None),
            (r"'a\'b'", None),
        ] {
            assert_eq!(role_names(list), expected, "{list}");
        }
    }

    /// Rows as a server of either flavour has them: the privileges of each account, on `*.*` and on the schema mysql.
    fn check(version: &str, variables: &[(&str, &str)], answers: Answers<'_>, user: &str) -> OfAccount {
        let mut script = crate::script::Script::new(answers);
        let capabilities = Capabilities::of(version, "", false);
        let mut view = server::NodeView::default();
        view.variables.extend(variables.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())));
        let (rights, mut seen) = Default::default();
        let mut asking = Asking::new(&mut script, "n1", &view, &capabilities, &rights, &mut seen, 0);
        let name = (user.to_owned(), "10.0.0.1".to_owned());
        let role = ("r".to_owned(), "%".to_owned());
        let accounts: Accounts =
            [name.clone(), role].map(|name| (name, super::super::Account::default())).into();
        read(&mut asking, &accounts).expect("it answers").expect("it may be read").of(&name)
    }

    type Answers<'a> = &'a [(&'a str, &'a [&'a [Option<&'a str>]])];

    #[test]
    fn privileges_on_columns_of_everybody_and_on_schemas_are_found() {
        let words = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join("; ");
        let (maria, mysql) = ("10.11.19-MariaDB", "9.7.4");
        let columns: &[&[Option<&str>]] =
            &[&[Some("u"), Some("10.0.0.1"), Some("mysql"), Some("user"), Some(""), Some("Select")]];
        for version in [maria, mysql] {
            let of = check(version, &[], &[("FROM mysql.tables_priv", columns)], "u");
            assert_eq!(words(&of.on_mysql), "SELECT ON columns of mysql.user");
        }
        let grants: &[&[Option<&str>]] = &[&[Some("adm"), Some("%"), Some("role_admin")]];
        let of = check(mysql, &[("mandatory_roles", "adm")], &[("FROM mysql.global_grants", grants)], "u");
        assert_eq!(words(&of.global), "ROLE_ADMIN (role adm)");
        let db =
            |user, schema, is_mysql| [Some(user), Some("10.0.0.1"), Some(schema), Some(is_mysql), Some("Y")];
        let rows: &[&[Option<&str>]] = &[&db("u", "app", "0"), &db("PUBLIC", "my%", "1")];
        let of = check(maria, &[], &[("FROM mysql.db", rows)], "u");
        assert_eq!((words(&of.objects), words(&of.on_mysql)), ("app.*".into(), String::new()));
        let public: &[&[Option<&str>]] = &[&[Some("PUBLIC"), Some(""), Some("mysql"), Some("1"), Some("Y")]];
        let of = check(maria, &[], &[("FROM mysql.db", public)], "u");
        assert_eq!(words(&of.on_mysql), "SELECT ON mysql.* (role PUBLIC)");
        let of = check(maria, &[], &[("FROM mysql.db", &[&db("", "mysql", "1")])], "u");
        assert_eq!(words(&of.on_mysql), "SELECT ON mysql.* (anonymous, from '10.0.0.1')");
    }

    #[test]
    fn what_the_anonymous_user_has_comes_through_no_role() {
        let db: &[&[Option<&str>]] = &[&[Some(""), Some("localhost"), Some("mysql"), Some("1"), Some("Y")]];
        let edges: &[&[Option<&str>]] = &[&[Some("u"), Some("10.0.0.1"), Some("r"), Some("%")]];
        let answers: Answers<'_> = &[("FROM mysql.db", db), ("FROM mysql.role_edges", edges)];
        assert_eq!(check("9.7.4", &[], answers, "u").on_mysql, BTreeSet::new());
    }

    #[test]
    fn harm_is_what_reaches_beyond_one_schema() {
        let set = |all: &[&str]| all.iter().map(|&one| one.to_owned()).collect::<BTreeSet<String>>();
        let of = |global: &[&str], on_mysql: &[&str], objects: &[&str]| {
            OfAccount { global: set(global), on_mysql: set(on_mysql), objects: set(objects) }
                .harm()
                .join("; ")
        };
        assert_eq!(
            of(&["PROCESS"], &["SELECT ON mysql.user"], &["app.*", "app.t", "mysql.user", "sys.*"]),
            ""
        );
        assert_eq!(of(&["FILE (role r)", "CREATE USER"], &[], &["app.*"]), "FILE; CREATE USER");
        assert_eq!(of(&["SELECT", "UPDATE"], &["SELECT ON *.*"], &[]), "SELECT, UPDATE in every schema");
        assert_eq!(of(&[], &["UPDATE ON mysql.* (role r)"], &[]), "UPDATE ON mysql.*");
        assert_eq!(of(&[], &[], &["a.*", "b.t", "c.p()", "d.*", "e.*"]), "5 schemas (a, b, c, d, …)");
    }

    #[test]
    fn bits_without_a_column_are_named() {
        let names: Vec<String> = names_of_bits(&(1_u64 << 30 | 1 << 34 | 1).to_string()).collect();
        assert_eq!(names, ["SET USER", "REPLICATION SLAVE ADMIN"]);
        assert!(names.iter().all(|name| administers(name)));
    }
}
