//! Accounts and roles: how each may log in, and what it may do. A hash of a password is never read: the server compares.

pub mod hosts;
mod mariadb;
mod mysql;
mod privileges;

use std::collections::{BTreeMap, BTreeSet};

use model::account::{quoted, subject};
use model::{Fact, Value, facts};
use server::{Capabilities, Flavour, NodeView};

use crate::Question;
use crate::ask::Refusal;
use crate::asking::{Administrator, Asking};
use crate::grant::Grant;
use crate::questions::settings::any_in_use;

const FACTS: &[&Fact] = &[
    &facts::account::ACCOUNT_KIND,
    &facts::account::ACCOUNT_CAN_LOG_IN,
    &facts::account::ACCOUNT_FROM,
    &facts::account::ACCOUNT_TLS,
    &facts::account::ACCOUNT_PLUGINS,
    &facts::account::ACCOUNT_NO_PASSWORD,
    &facts::account::ACCOUNT_WEAK_ALTERNATIVE,
    &facts::account::ACCOUNT_GLOBAL_PRIVILEGES,
    &facts::account::ACCOUNT_ADMINISTERS,
    &facts::account::ACCOUNT_ON_MYSQL_SCHEMA,
    &facts::account::ACCOUNT_OBJECTS,
    &facts::account::ACCOUNT_HARM,
    &facts::account::ACCOUNT_IS_OURS,
    &facts::account::ACCOUNT_PROXY_OF,
    &facts::server::CLIENT_CERTIFICATES_UNNAMED,
];
/// Those that rest on more than the table of accounts.
const OF_PRIVILEGES: &[&Fact] = &[
    &facts::account::ACCOUNT_GLOBAL_PRIVILEGES,
    &facts::account::ACCOUNT_ADMINISTERS,
    &facts::account::ACCOUNT_ON_MYSQL_SCHEMA,
    &facts::account::ACCOUNT_OBJECTS,
    &facts::account::ACCOUNT_HARM,
];
/// Whoever logs in with these is on the server's own host.
const OVER_THE_SOCKET: [&str; 2] = ["unix_socket", "auth_socket"];
/// Nobody logs in with it: MySQL manual, No-Login Pluggable Authentication.
const NO_LOGIN: &str = "mysql_no_login";
/// So many objects of an account are named.
const OBJECTS_NAMED_MAX: usize = 8;

pub const QUESTION: Question = Question { name: "accounts", facts: FACTS, grants, ask };

/// User and host.
type Name = (String, String);

/// One account as its server stores it.
#[derive(Debug, Clone, Default)]
struct Account {
    is_role: bool,
    is_locked: bool,
    /// `''`, `ANY`, `X509`, `SPECIFIED`.
    ssl_type: String,
    /// Only a certificate with one subject will do.
    names_subject: bool,
    /// Each is enough; the empty name is MariaDB's native password.
    plugins: Vec<String>,
    no_password: NoPassword,
    weak_alternative: Option<String>,
    /// On `*.*`.
    global: BTreeSet<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum NoPassword {
    #[default]
    No,
    Yes,
    CannotTell(String),
}

type Accounts = BTreeMap<Name, Account>;

fn grants(capabilities: &Capabilities) -> Vec<Grant> {
    let mut grants =
        if capabilities.flavour == Flavour::MariaDb { mariadb::grants() } else { mysql::grants() };
    grants.extend(privileges::grants(capabilities));
    grants
}

fn ask(asking: &mut Asking<'_>) -> Result<(), Refusal> {
    let server = asking.subject();
    let all = format!("{server} accounts");
    let (accounts, how) = if asking.capabilities.flavour == Flavour::MariaDb {
        (mariadb::accounts(asking)?, mariadb::HOW)
    } else {
        (mysql::accounts(asking)?, mysql::HOW)
    };
    let facts: Vec<&'static Fact> = FACTS
        .iter()
        .copied()
        .filter(|fact| crate::facts_on(asking.capabilities).any(|one| one.name == fact.name))
        .collect();
    let accounts = match accounts {
        Ok(accounts) => accounts,
        Err(why) => {
            asking.unknown(&all, &facts, &why, how);
            return Ok(());
        }
    };
    let unnamed = certificates_unnamed(asking.view, &accounts);
    asking.note(&facts::server::CLIENT_CERTIFICATES_UNNAMED, unnamed, how);
    let active = active_plugins(asking)?;
    let privileges = privileges::read(asking, &accounts)?;
    let ours = asking.rights.account.clone();
    let requires = asking.view.requires_secure_transport();
    // Seen on MariaDB 10.11.19 and MySQL 9.7.4: such an account is not loaded for logins. On MariaDB no statement reaches it either: ALTER USER fails with
    // error 1396.
    let looks_up_no_names = asking.view.variable("skip_name_resolve") == Some("ON");
    let proxied = proxies(asking, &accounts)?;
    let administrators = privileges.as_ref().ok().map(|privileges| {
        let administers = |name: &Name| administers(privileges, name);
        accounts
            .iter()
            .filter(|(_, account)| !account.is_role)
            .map(|(name, _)| Administrator {
                user: name.0.clone(),
                host: name.1.clone(),
                administers: if administers(name) {
                    Some(true)
                } else if proxied.get(name).is_some_and(|others| others.iter().any(administers)) {
                    // A proxy that the server maps acts as the other from the login on.
                    None
                } else {
                    Some(false)
                },
            })
            .collect::<Vec<_>>()
    });
    for ((user, host), account) in &accounts {
        let account_name = quoted(user, host);
        let of = subject(server, &account_name);
        let can_log_in = if looks_up_no_names && hosts::is_name(host) {
            Value::Bool(false)
        } else {
            can_log_in(account, active.as_ref())
        };
        // MySQL stores a role as an account that is locked.
        let is_granted =
            || privileges.as_ref().is_ok_and(|all| all.roles.contains(&(user.clone(), host.clone())));
        let is_role = account.is_role || (account.is_locked && is_granted());
        let kind = match (is_role, user.is_empty()) {
            (true, _) => "role",
            (false, true) => "anonymous",
            (false, false) => "user",
        };
        let text = |text: &str| Value::Text(text.to_owned());
        let tls = match account.ssl_type.as_str() {
            "" if requires => text("server"),
            "" => text("none"),
            "ANY" => text("any"),
            "X509" => text("x509"),
            "SPECIFIED" => text("specified"),
            other => Value::Unknown(format!("its ssl_type is \"{other}\"")),
        };
        let found = |list: &mut dyn Iterator<Item = &str>| {
            let list: Vec<&str> = list.collect();
            if list.is_empty() { Value::Absent } else { Value::Text(list.join(", ")) }
        };
        let no_password = match &account.no_password {
            NoPassword::No => Value::Bool(false),
            NoPassword::Yes => Value::Bool(true),
            NoPassword::CannotTell(why) => Value::Unknown(why.clone()),
        };
        asking.note_of(&of, &facts::account::ACCOUNT_KIND, text(kind), how);
        asking.note_of(&of, &facts::account::ACCOUNT_CAN_LOG_IN, can_log_in, how);
        asking.note_of(&of, &facts::account::ACCOUNT_FROM, from(host, account), how);
        asking.note_of(&of, &facts::account::ACCOUNT_TLS, tls, how);
        let plugins = found(&mut account.plugins.iter().map(|plugin| named(plugin)));
        asking.note_of(&of, &facts::account::ACCOUNT_PLUGINS, plugins, how);
        asking.note_of(&of, &facts::account::ACCOUNT_NO_PASSWORD, no_password, how);
        if asking.capabilities.flavour == Flavour::MariaDb {
            let weak = account.weak_alternative.clone().map_or(Value::Absent, Value::Text);
            asking.note_of(&of, &facts::account::ACCOUNT_WEAK_ALTERNATIVE, weak, how);
        }
        // CURRENT_USER() is written without quotes.
        let is_ours = ours == format!("{user}@{host}");
        asking.note_of(&of, &facts::account::ACCOUNT_IS_OURS, Value::Bool(is_ours), "SELECT CURRENT_USER()");
        match &privileges {
            Ok(privileges) => {
                let of_account = privileges.of(&(user.clone(), host.clone()));
                let administers = found(
                    &mut of_account
                        .global
                        .iter()
                        .map(String::as_str)
                        .filter(|one| privileges::administers(one)),
                );
                let global = found(&mut of_account.global.iter().map(String::as_str));
                let on_mysql = match &privileges.partial {
                    Some(why) if !of_account.on_mysql.is_empty() => Value::Unknown(why.clone()),
                    _ => found(&mut of_account.on_mysql.iter().map(String::as_str)),
                };
                asking.note_of(&of, &facts::account::ACCOUNT_GLOBAL_PRIVILEGES, global, how);
                asking.note_of(&of, &facts::account::ACCOUNT_ADMINISTERS, administers, how);
                asking.note_of(&of, &facts::account::ACCOUNT_ON_MYSQL_SCHEMA, on_mysql, privileges::HOW);
                let objects = some(&of_account.objects);
                asking.note_of(&of, &facts::account::ACCOUNT_OBJECTS, objects, privileges::HOW);
                let harm = found(&mut of_account.harm().iter().map(String::as_str));
                asking.note_of(&of, &facts::account::ACCOUNT_HARM, harm, privileges::HOW);
            }
            Err(why) => asking.unknown(&of, OF_PRIVILEGES, why, privileges::HOW),
        }
    }
    asking.administrators = administrators;
    asking.harm = privileges.ok().map(|privileges| {
        accounts.keys().map(|name| (name.clone(), privileges.of(name).harm().join(", "))).collect()
    });
    Ok(())
}

/// With a revocation list the server itself knows what it must not take.
fn certificates_unnamed(view: &NodeView, accounts: &Accounts) -> Value {
    let takes_any = |account: &Account| {
        !account.is_role
            && !account.is_locked
            && ["X509", "SPECIFIED"].contains(&account.ssl_type.as_str())
            && !account.names_subject
    };
    let found: BTreeSet<String> = accounts
        .iter()
        .filter(|(_, account)| takes_any(account))
        .map(|((user, host), _)| quoted(user, host))
        .collect();
    match (found.is_empty(), any_in_use(view, ["ssl_crl", "ssl_crlpath"])) {
        (true, _) | (_, Value::Bool(true)) => Value::Absent,
        (false, unknown @ Value::Unknown(_)) => unknown,
        (false, _) => some(&found),
    }
}

fn administers(privileges: &privileges::Privileges, name: &Name) -> bool {
    privileges.of(name).global.iter().any(|one| privileges::administers(one))
}

/// The first of them, and how many more there are.
fn some(all: &BTreeSet<String>) -> Value {
    if all.is_empty() {
        return Value::Absent;
    }
    let named: Vec<&str> = all.iter().take(OBJECTS_NAMED_MAX).map(String::as_str).collect();
    let more = all.len() - named.len();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    Value::Text(format!("{}{more}", named.join(", ")))
}

/// Whether somebody can log in with it. That a plugin is not loaded is no lock: it is one statement away.
fn can_log_in(account: &Account, active: Option<&BTreeSet<String>>) -> Value {
    let plugins: Vec<&String> = account.plugins.iter().filter(|plugin| *plugin != NO_LOGIN).collect();
    if account.is_role || account.is_locked || plugins.is_empty() {
        return Value::Bool(false);
    }
    // Without the list every plugin counts.
    let is_active =
        |plugin: &&String| plugin.is_empty() || active.is_none_or(|active| active.contains(*plugin));
    if plugins.iter().any(is_active) {
        return Value::Bool(true);
    }
    let names: Vec<&str> = plugins.iter().map(|plugin| plugin.as_str()).collect();
    Value::Unknown(format!(
        "the server has not loaded {}: nobody logs in with this account until somebody does; lock or drop it",
        names.join(", ")
    ))
}

/// From where somebody can log in with it.
fn from(host: &str, account: &Account) -> Value {
    let is_local = |plugin: &String| OVER_THE_SOCKET.contains(&plugin.as_str());
    if !account.plugins.is_empty() && account.plugins.iter().all(is_local) {
        return Value::Text("local".into());
    }
    hosts::from(host).map_or_else(
        || {
            Value::Unknown(format!(
                "its host \"{host}\" is neither an address nor a network that sealion reads"
            ))
        },
        |word| Value::Text(word.to_owned()),
    )
}

/// What a person calls it.
fn named(plugin: &str) -> &str {
    if plugin.is_empty() { "mysql_native_password" } else { plugin }
}

/// No privilege is needed for it.
fn active_plugins(asking: &mut Asking<'_>) -> Result<Option<BTreeSet<String>>, Refusal> {
    let sql = "SELECT PLUGIN_NAME FROM information_schema.PLUGINS \
               WHERE PLUGIN_TYPE = 'AUTHENTICATION' AND PLUGIN_STATUS = 'ACTIVE'";
    Ok(asking
        .rows(sql)?
        .ok()
        .map(|rows| rows.iter().filter_map(|row| row.at(0)).map(|name| name.to_ascii_lowercase()).collect()))
}

/// Notes, and gives, the accounts that each may act as.
fn proxies(asking: &mut Asking<'_>, accounts: &Accounts) -> Result<BTreeMap<Name, Vec<Name>>, Refusal> {
    let sql = "SELECT User, Host, Proxied_user, Proxied_host FROM mysql.proxies_priv";
    let grants = [Grant::select("mysql.proxies_priv")];
    let rows = asking.rows_with(&grants, sql)?;
    let mut of: BTreeMap<Name, Vec<Name>> = BTreeMap::new();
    for row in rows.iter().flat_map(net::Rows::iter) {
        let text = |at: usize| row.at(at).unwrap_or_default().into_owned();
        of.entry((text(0), text(1))).or_default().push((text(2), text(3)));
    }
    let server = asking.subject();
    for name in accounts.keys() {
        let value = match (&rows, of.get(name)) {
            (Err(why), _) => Value::Unknown(why.clone()),
            (Ok(_), None) => Value::Absent,
            (Ok(_), Some(list)) => {
                let names: Vec<String> = list.iter().map(|(user, host)| quoted(user, host)).collect();
                Value::Text(names.join(", "))
            }
        };
        let subject = subject(server, &quoted(&name.0, &name.1));
        asking.note_of(&subject, &facts::account::ACCOUNT_PROXY_OF, value, sql);
    }
    Ok(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_whose_plugin_is_not_loaded_is_no_account_that_is_closed() {
        let active: BTreeSet<String> = ["ed25519", "unix_socket"].map(str::to_owned).into();
        let of = |plugins: &[&str], is_locked| {
            let plugins = plugins.iter().map(|&one| one.to_owned()).collect();
            can_log_in(&Account { is_locked, plugins, ..Account::default() }, Some(&active))
        };
        assert_eq!(of(&["ed25519"], false), Value::Bool(true));
        assert_eq!(of(&[""], false), Value::Bool(true));
        assert_eq!(of(&["pam", "ed25519"], false), Value::Bool(true));
        assert_eq!(of(&["ed25519"], true), Value::Bool(false));
        assert_eq!(of(&["mysql_no_login"], false), Value::Bool(false));
        assert!(matches!(of(&["pam"], false), Value::Unknown(why) if why.contains("not loaded pam")));
    }

    #[test]
    fn an_account_of_the_socket_is_local_whatever_its_host() {
        let of = |plugins: &[&str]| {
            let plugins = plugins.iter().map(|&one| one.to_owned()).collect();
            from("%", &Account { plugins, ..Account::default() })
        };
        assert_eq!(of(&["unix_socket"]), Value::Text("local".into()));
        assert_eq!(of(&["unix_socket", "ed25519"]), Value::Text("any".into()));
        assert!(matches!(from("db/1", &Account::default()), Value::Unknown(_)));
    }
}
