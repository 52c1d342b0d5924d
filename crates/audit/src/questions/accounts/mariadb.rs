//! Accounts of MariaDB 10.4 and newer: `mysql.global_priv` holds them as JSON, and `mysql.user` is a view of it.
//!
//! Source: MariaDB manual, mysql.global_priv Table; tried on 10.11.19. `auth_or` has all alternatives, of which `{}` is what stands
//! beside it.

use crate::ask::Refusal;
use crate::asking::Asking;
use crate::grant::Grant;

use super::privileges::{COLUMNS, names};
use super::{Account, Accounts, NoPassword};

pub const HOW: &str = "SELECT Host, User, ssl_type, plugin FROM mysql.user; SHOW CREATE USER";

pub fn grants() -> Vec<Grant> {
    vec![Grant::select("mysql.user"), Grant::select("mysql.global_priv")]
}

/// Plugins that keep a hash in the form of the native one, `*` and 40 digits.
const NATIVE: [&str; 2] = ["", "mysql_native_password"];
const OLD: &str = "mysql_old_password";

pub fn accounts(asking: &mut Asking<'_>) -> Result<Result<Accounts, String>, Refusal> {
    let columns: Vec<String> =
        COLUMNS.iter().filter(|(_, _, on)| on.mariadb).map(|(column, _, _)| format!("u.{column}")).collect();
    let sql = format!(
        "SELECT u.Host, u.User, u.is_role, u.ssl_type, u.plugin, \
         JSON_VALUE(g.Priv, '$.account_locked') AS locked, \
         JSON_VALUE(g.Priv, '$.plugin') AS first_plugin, \
         COALESCE(JSON_VALUE(g.Priv, '$.authentication_string'), '') = '' AS is_empty, \
         LENGTH(JSON_VALUE(g.Priv, '$.authentication_string')) = 16 AS is_short, \
         JSON_LENGTH(g.Priv, '$.auth_or') AS alternatives, \
         JSON_EXTRACT(g.Priv, '$.auth_or[*].plugin') AS other_plugins, \
         JSON_CONTAINS(JSON_EXTRACT(g.Priv, '$.auth_or[*].authentication_string'), '\"\"') AS other_empty, \
         JSON_SEARCH(g.Priv, 'one', '*%', NULL, '$.authentication_string') IS NOT NULL AS has_native_hash, \
         JSON_SEARCH(g.Priv, 'one', '*%', NULL, '$.auth_or[*].authentication_string') IS NOT NULL \
         AS other_native_hash, {} \
         FROM mysql.user u JOIN mysql.global_priv g ON g.Host = u.Host AND g.User = u.User",
        columns.join(", ")
    );
    let rows = match asking.rows_with(&grants(), &sql)? {
        Ok(rows) => rows,
        Err(why) => return Ok(Err(why)),
    };
    let mut accounts = Accounts::new();
    for row in rows.iter() {
        let text = |column: &str| row.text(column).unwrap_or_default().into_owned();
        let is = |column: &str| row.text(column).is_some_and(|value| value == "1");
        let first = text("first_plugin");
        let others = json_words(&text("other_plugins"));
        let alternatives: usize = text("alternatives").parse().unwrap_or(0);
        // `[{}, {"plugin": "unix_socket"}]`: the empty one is what stands beside it.
        let has_first = alternatives == 0 || others.len() < alternatives;
        let mut plugins: Vec<String> = Vec::new();
        if has_first {
            plugins.push(if NATIVE.contains(&first.as_str()) && is("is_short") {
                OLD.into()
            } else {
                first.clone()
            });
        }
        plugins.extend(others.iter().cloned());
        let takes_empty = |plugin: &str| NATIVE.contains(&plugin) || plugin == OLD;
        let no_password = if (has_first && takes_empty(&first) && is("is_empty"))
            || (others.iter().any(|plugin| takes_empty(plugin)) && is("other_empty"))
        {
            NoPassword::Yes
        } else {
            NoPassword::No
        };
        let has_hash = (has_first && takes_empty(&first) && is("has_native_hash"))
            || (others.iter().any(|plugin| takes_empty(plugin)) && is("other_native_hash"));
        let weak_alternative = (plugins.len() > 1 && has_hash).then(|| {
            let strong: Vec<&str> =
                plugins.iter().map(String::as_str).filter(|plugin| !takes_empty(plugin)).collect();
            format!("mysql_native_password beside {}", strong.join(", "))
        });
        let account = Account {
            is_role: text("is_role") == "Y",
            // Seen: JSON true is given as 1.
            is_locked: matches!(text("locked").as_str(), "1" | "true"),
            ssl_type: text("ssl_type"),
            plugins,
            no_password,
            weak_alternative,
            global: names(&row),
        };
        accounts.insert((text("User"), text("Host")), account);
    }
    Ok(Ok(accounts))
}

/// The words of a flat JSON array of strings, as the server writes it.
fn json_words(text: &str) -> Vec<String> {
    text.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::json_words;

    #[test]
    fn names_of_plugins_are_read_from_an_array() {
        assert_eq!(json_words(r#"["ed25519", "unix_socket"]"#), ["ed25519", "unix_socket"]);
        assert_eq!(json_words(""), Vec::<String>::new());
    }
}
