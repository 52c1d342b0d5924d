//! `.env` files and whatever else is an environment: URLs in variables, and Laravel's own.

use formats::settings::pairs::{self, Pair};

use super::{Form, ends};
use crate::config::{Driver, Found, Given, Read, Setting, SettingsError, Style, Unread, urls};

pub(super) const ENV: Form = Form {
    id: "env",
    name: "an environment file",
    fits: |name| {
        name == ".env" || name.starts_with(".env.") || ends(name, &[".env", ".envrc", "/environment"])
    },
    read,
};

fn read(bytes: &[u8]) -> Result<Read, SettingsError> {
    Ok(environment(&pairs::env(bytes)?))
}

/// What an environment says, wherever it stands.
pub(super) fn environment(pairs: &[Pair]) -> Read {
    let mut read = Read::default();
    for pair in pairs {
        match urls::found(&pair.value, pair.line, &pair.key) {
            Some(found) => read.found.push(found),
            None if names_a_connection(&pair.key) && pair.value.contains(formats::settings::HOLE) => {
                read.unread.push(Unread {
                    line: pair.line,
                    why: format!("{}: its value is put together when the program starts", pair.key),
                });
            }
            None => {}
        }
    }
    read.found.extend(laravel(pairs));
    read
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

/// Of Laravel, unless its `config/database.php` was changed.
fn laravel(pairs: &[Pair]) -> Option<Found> {
    let of = |name: &str| pairs.iter().rev().find(|pair| pair.key == name);
    let connection = of("DB_CONNECTION").filter(|pair| matches!(pair.value.as_str(), "mysql" | "mariadb"))?;
    let mut settings: Vec<Setting> = pairs
        .iter()
        .filter(|pair| pair.key == LARAVEL_CA)
        .map(|pair| Setting::new(&pair.key, Given::Text(pair.value.to_string()), pair.line))
        .collect();
    if let Some(socket) = of("DB_SOCKET").filter(|pair| !pair.value.is_empty()) {
        settings.push(Setting::new("unix_socket", Given::Text(socket.value.to_string()), socket.line));
    }
    Some(Found {
        line: connection.line,
        what: "DB_CONNECTION (Laravel)".into(),
        driver: Driver::Family("php-pdo"),
        host: of("DB_HOST").map_or_else(String::new, |pair| pair.value.replace(formats::settings::HOLE, "…")),
        settings,
        style: Style::Env,
        front: None,
    })
}
