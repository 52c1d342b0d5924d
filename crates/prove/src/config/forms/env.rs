//! `.env` files and whatever else is an environment: URLs in variables, and Laravel's own.

use std::collections::HashMap;

use formats::settings::pairs::{self, Pair};

use super::{Form, Variables, ends};
use crate::config::{
    ConnectionSettings, Driver, Read, Setting, SettingValue, SettingsError, Style, Unread, beside,
    is_about_tls, obstacle, urls,
};

pub(super) const ENV: Form = Form {
    id: "env",
    name: "an environment file",
    fits: |name| {
        name == ".env" || name.starts_with(".env.") || ends(name, &[".env", ".envrc", "/environment"])
    },
    read,
};

fn read(bytes: &[u8], _: &Variables) -> Result<Read, SettingsError> {
    Ok(environment(&pairs::env(bytes)?))
}

/// What an environment says, wherever it stands. Of several values for a name the last counts.
pub(super) fn environment(pairs: &[Pair]) -> Read {
    let mut read = Read { variables: pairs.iter().map(|pair| pair.key.clone()).collect(), ..Read::default() };
    let last: HashMap<&str, usize> =
        pairs.iter().enumerate().map(|(at, pair)| (pair.key.as_str(), at)).collect();
    let is_last = |at: usize, pair: &Pair| last.get(pair.key.as_str()) == Some(&at);
    let laravel = laravel(pairs);
    // Words about TLS that a program may hand to its driver besides the URL.
    let beside: Vec<&Pair> = pairs
        .iter()
        .filter(|pair| is_beside(pair) && !(laravel.is_some() && pair.key == LARAVEL_CA))
        .collect();
    let weakens = pairs.iter().find(|pair| pair.key == "NODE_TLS_REJECT_UNAUTHORIZED");
    for (_, pair) in pairs.iter().enumerate().filter(|(at, pair)| is_last(*at, pair)) {
        if read.found.len() > crate::config::CONNECTIONS_MAX {
            break;
        }
        match urls::found(&pair.value, pair.line, &pair.key) {
            Some(mut found) => {
                if let Some(other) = beside.iter().find(|other| other.key != pair.key) {
                    let why = format!("{} may be handed to the driver too", other.key);
                    found.settings.push(obstacle(other.line, &why));
                }
                if let Some(other) = weakens {
                    found
                        .settings
                        .push(obstacle(other.line, "NODE_TLS_REJECT_UNAUTHORIZED changes how Node verifies"));
                }
                read.found.push(found);
            }
            None if names_a_connection(&pair.key) && pair.value.contains(formats::settings::HOLE) => {
                read.unread.push(Unread {
                    line: pair.line,
                    why: format!("{}: its value is put together when the program starts", pair.key),
                });
            }
            None if beside::has_connection_inside(&pair.value) && !pair.value.contains('\n') => {
                let why = format!("{}: a connection stands inside of its value, and is not read", pair.key);
                read.unread.push(Unread { line: pair.line, why });
            }
            None => {}
        }
    }
    read.found.extend(laravel);
    let unread = split_up(pairs, &read.found);
    read.unread.extend(unread);
    read
}

/// Connections in several variables (`DB_HOST`, `DB_USERNAME`, …): which driver gets them, with which TLS settings, is not said
/// there. Those of Laravel are read elsewhere, and a host that a URL names too is taken for the same connection.
fn split_up(pairs: &[Pair], found: &[ConnectionSettings]) -> Vec<Unread> {
    const OWNERS: [&str; 4] = ["DB", "DATABASE", "MYSQL", "MARIADB"];
    // Of PostgreSQL, SQL Server and Oracle.
    const OTHER_PORTS: [&str; 3] = ["5432", "1433", "1521"];
    // Behind what says where it stands: `services.web.environment.DB_HOST`.
    let bare = |pair: &Pair| pair.key.rsplit('.').next().unwrap_or_default().to_ascii_uppercase();
    let of = |owner: &str, name: &str| {
        let key = format!("{owner}_{name}");
        pairs.iter().rev().find(|pair| bare(pair) == key && !pair.value.is_empty())
    };
    let one = |owner: &&str| {
        let host = of(owner, "HOST")?;
        let login = ["USERNAME", "USER", "PASSWORD", "PASS"].iter().find_map(|name| of(owner, name))?;
        let is_other = of(owner, "CONNECTION").is_some()
            || of(owner, "PORT").is_some_and(|port| OTHER_PORTS.contains(&port.value.as_str()))
            || of(owner, "URL").is_some_and(|url| url.value.starts_with("postgres"));
        let is_known = found.iter().any(|known| known.host.split(',').any(|one| one == host.value.as_str()));
        (!is_other && !is_known).then(|| Unread {
            line: host.line,
            why: format!(
                "not read: {} {} with {}: which driver gets them, and with which TLS settings, is not in this file",
                bare(host),
                host.value.replace(formats::settings::HOLE, "…"),
                bare(login)
            ),
        })
    };
    OWNERS.iter().filter_map(one).collect()
}

fn is_beside(pair: &Pair) -> bool {
    const OWNERS: [&str; 7] = ["DB", "DATABASE", "MYSQL", "MARIADB", "SQL", "DATASOURCE", "JDBC"];
    let key = pair.key.to_ascii_uppercase();
    let is_owned = key.split(['_', '.', '-']).any(|word| OWNERS.contains(&word));
    // Its own name, behind what says where it stands.
    let bare = key.rsplit('.').next().unwrap_or_default();
    let is_url = key.ends_with("URL") || key.ends_with("URI") || key.ends_with("DSN");
    let hands_on = ["PROPERTIES", "OPTIONS", "PARAMS", "ARGS"].iter().any(|word| bare.contains(word));
    let is_tls = is_about_tls(bare) && !super::super::is_socket_key(bare);
    let is_connection = || urls::found(&pair.value, pair.line, "").is_some();
    if is_owned {
        return !is_url && (is_tls || hands_on || (!is_connection() && beside::speaks_of_tls(&pair.value)));
    }
    // Whose it is is not said.
    !beside::is_of_another(bare)
        && (is_tls || beside::speaks_of_tls(&pair.value))
        && !is_connection()
        && !pair.value.contains("://")
}

/// A variable whose value is a connection in most programs.
pub(super) fn names_a_connection(key: &str) -> bool {
    let key = key.to_ascii_uppercase();
    [
        "DATABASE_URL",
        "DB_URL",
        "JDBC_URL",
        "DATASOURCE_URL",
        "MYSQL_URL",
        "MARIADB_URL",
        "MYSQL_DSN",
        "DB_DSN",
        "DATABASE_DSN",
    ]
    .iter()
    .any(|end| key.ends_with(end))
}

/// What Laravel's own `config/database.php` hands on to PDO, and nothing else about TLS.
pub const LARAVEL_CA: &str = "MYSQL_ATTR_SSL_CA";

/// Of Laravel. Its `config/database.php` says what reaches PDO: without a CA here that is nothing about TLS in the framework's own;
/// with one, what the other options there do to it is not in this file.
fn laravel(pairs: &[Pair]) -> Option<ConnectionSettings> {
    let of = |name: &str| pairs.iter().rev().find(|pair| pair.key == name);
    let connection = of("DB_CONNECTION").filter(|pair| matches!(pair.value.as_str(), "mysql" | "mariadb"))?;
    let mut settings = Vec::new();
    if let Some(ca) = of(LARAVEL_CA).filter(|ca| !ca.value.is_empty()) {
        settings.push(Setting::new(&ca.key, SettingValue::Text(ca.value.to_string()), ca.line));
        settings.push(obstacle(
            ca.line,
            "what PDO is given besides stands in config/database.php: check that file",
        ));
    }
    if let Some(url) = of("DB_URL").or_else(|| of("DATABASE_URL")).filter(|url| !url.value.is_empty()) {
        settings.push(obstacle(url.line, &format!("{} may say more than the other variables", url.key)));
    }
    if let Some(socket) = of("DB_SOCKET").filter(|pair| !pair.value.is_empty()) {
        settings.push(Setting::new("unix_socket", SettingValue::Text(socket.value.to_string()), socket.line));
    }
    Some(ConnectionSettings {
        line: connection.line,
        what: "DB_CONNECTION (Laravel)".into(),
        driver: Driver::Family("php-pdo"),
        host: of("DB_HOST").map_or_else(String::new, |pair| pair.value.replace(formats::settings::HOLE, "…")),
        settings,
        style: Style::Env,
        front: None,
    })
}
