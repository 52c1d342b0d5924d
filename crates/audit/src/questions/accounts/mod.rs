//! Accounts and roles: how each may log in, and what it may do. A hash of a password is never read: the server compares.

mod mariadb;
mod mysql;
mod privileges;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use model::account::{quoted, subject};
use model::{Fact, Value, facts};
use server::{Capabilities, Flavour};

use crate::Question;
use crate::ask::Refusal;
use crate::asking::Asking;
use crate::grant::Grant;

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
    &facts::account::ACCOUNT_IS_OURS,
    &facts::account::ACCOUNT_PROXY_OF,
];
/// Those that rest on more than the table of accounts.
const OF_PRIVILEGES: &[&Fact] = &[
    &facts::account::ACCOUNT_GLOBAL_PRIVILEGES,
    &facts::account::ACCOUNT_ADMINISTERS,
    &facts::account::ACCOUNT_ON_MYSQL_SCHEMA,
];

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
    let active = active_plugins(asking)?;
    let privileges = privileges::read(asking, &accounts)?;
    let ours = asking.rights.account.clone();
    let requires = asking.view.requires_secure_transport();
    let mut administrators = privileges.is_ok().then(BTreeSet::new);
    for ((user, host), account) in &accounts {
        let account_name = quoted(user, host);
        let of = subject(server, &account_name);
        let can_log_in = !account.is_role
            && !account.is_locked
            && account.plugins.iter().any(|plugin| {
                plugin.is_empty() || active.as_ref().is_none_or(|active| active.contains(plugin))
            });
        let kind = match (account.is_role, user.is_empty()) {
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
        asking.note_of(&of, &facts::account::ACCOUNT_CAN_LOG_IN, Value::Bool(can_log_in), how);
        asking.note_of(&of, &facts::account::ACCOUNT_FROM, text(from(host)), how);
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
                if administers != Value::Absent
                    && let Some(names) = &mut administrators
                {
                    names.insert(user.clone());
                }
                let global = found(&mut of_account.global.iter().map(String::as_str));
                let on_mysql = match &privileges.partial {
                    Some(why) if !of_account.on_mysql.is_empty() => Value::Unknown(why.clone()),
                    _ => found(&mut of_account.on_mysql.iter().map(String::as_str)),
                };
                asking.note_of(&of, &facts::account::ACCOUNT_GLOBAL_PRIVILEGES, global, how);
                asking.note_of(&of, &facts::account::ACCOUNT_ADMINISTERS, administers, how);
                asking.note_of(&of, &facts::account::ACCOUNT_ON_MYSQL_SCHEMA, on_mysql, privileges::HOW);
            }
            Err(why) => asking.unknown(&of, OF_PRIVILEGES, why, privileges::HOW),
        }
    }
    proxies(asking, &accounts)?;
    asking.administrators = administrators;
    Ok(())
}

/// What a person calls it.
fn named(plugin: &str) -> &str {
    if plugin.is_empty() { "mysql_native_password" } else { plugin }
}

/// From where an account may log in.
fn from(host: &str) -> &'static str {
    let bare = host.split('/').next().unwrap_or(host);
    if bare == "localhost"
        || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
        || bare.starts_with("127.")
    {
        return "local";
    }
    // Two numbers of an address or a domain at the least are a choice; `%`, `1%` and `%.com` are nearly everybody.
    let fixed = host.split('.').filter(|part| !part.is_empty() && !part.contains(['%', '_'])).count();
    let has_wildcard = host.is_empty() || host.contains('%');
    if has_wildcard && fixed < 2 { "any" } else { "named" }
}

/// No privilege is needed for it.
fn active_plugins(asking: &mut Asking<'_>) -> Result<Option<BTreeSet<String>>, Refusal> {
    let sql = "SELECT PLUGIN_NAME FROM information_schema.PLUGINS \
               WHERE PLUGIN_TYPE = 'AUTHENTICATION' AND PLUGIN_STATUS = 'ACTIVE'";
    Ok(asking
        .rows(sql)?
        .ok()
        .map(|rows| rows.iter().filter_map(|row| row.at(0)).map(Cow::into_owned).collect()))
}

fn proxies(asking: &mut Asking<'_>, accounts: &Accounts) -> Result<(), Refusal> {
    let sql = "SELECT User, Host, Proxied_user, Proxied_host FROM mysql.proxies_priv";
    let grants = [Grant::select("mysql.proxies_priv")];
    let rows = asking.rows_with(&grants, sql)?;
    let mut of: BTreeMap<Name, Vec<String>> = BTreeMap::new();
    for row in rows.iter().flat_map(net::Rows::iter) {
        let text = |at: usize| row.at(at).unwrap_or_default().into_owned();
        of.entry((text(0), text(1))).or_default().push(quoted(&text(2), &text(3)));
    }
    let server = asking.subject();
    for name in accounts.keys() {
        let value = match (&rows, of.get(name)) {
            (Err(why), _) => Value::Unknown(why.clone()),
            (Ok(_), None) => Value::Absent,
            (Ok(_), Some(list)) => Value::Text(list.join(", ")),
        };
        let of = subject(server, &quoted(&name.0, &name.1));
        asking.note_of(&of, &facts::account::ACCOUNT_PROXY_OF, value, sql);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::from;

    #[test]
    fn an_account_is_local_for_named_hosts_or_for_nearly_everybody() {
        for (host, expected) in [
            ("localhost", "local"),
            ("127.0.0.1", "local"),
            ("::1", "local"),
            ("127.0.0.0/255.0.0.0", "local"),
            ("10.0.0.7", "named"),
            ("10.0.%", "named"),
            ("10.0.0.0/255.255.255.0", "named"),
            ("app_1.example.com", "named"),
            ("%.example.com", "named"),
            ("%", "any"),
            ("", "any"),
            ("1%", "any"),
            ("10.%", "any"),
            ("%.com", "any"),
        ] {
            assert_eq!(from(host), expected, "{host}");
        }
    }
}
