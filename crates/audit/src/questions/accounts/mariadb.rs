//! Accounts of MariaDB 10.4 and newer: `mysql.global_priv` holds them as JSON, and `mysql.user` is a view of it.
//!
//! Source: MariaDB manual, mysql.global_priv Table; tried on 10.11.19. `auth_or` has all alternatives, of which `{}` is what stands
//! beside it.

use crate::ask::Refusal;
use crate::asking::Asking;
use crate::grant::Grant;

use super::privileges::{COLUMNS, names, names_of_bits};
use super::{Account, Accounts, NoPassword};

pub const HOW: &str = "SELECT Host, User, ssl_type, plugin FROM mysql.user; SHOW CREATE USER";

pub fn grants() -> Vec<Grant> {
    vec![Grant::select("mysql.user"), Grant::select("mysql.global_priv")]
}

/// Plugins that keep a hash in the form of the native one, `*` and 40 digits.
const NATIVE: [&str; 2] = ["", "mysql_native_password"];
const OLD: &str = "mysql_old_password";
const ED25519: &str = "ed25519";
const PARSEC: &str = "parsec";
/// What ed25519 makes of an empty password, always the same. Seen: MariaDB 11.8 stores it for `USING PASSWORD('')` and
/// where USING was forgotten, and lets everybody in; 10.11 stores nothing and refuses the login.
const ED25519_OF_NOTHING: &str = "4LH+dBF+G5W2CKTyId8xR3SyDqZoQjUNUVNxx8aWbG4";

pub fn accounts(asking: &mut Asking<'_>) -> Result<Result<Accounts, String>, Refusal> {
    let columns: Vec<String> =
        COLUMNS.iter().filter(|(_, _, on)| on.mariadb).map(|(column, _, _)| format!("u.{column}")).collect();
    let sql = format!(
        "SELECT u.Host, u.User, u.is_role, u.ssl_type, u.plugin, \
         u.x509_issuer = '' AND u.x509_subject = '' AS names_nobody, \
         JSON_VALUE(g.Priv, '$.access') AS bits, \
         JSON_SEARCH(g.Priv, 'one', '{ED25519_OF_NOTHING}', NULL, '$.authentication_string', \
         '$.auth_or[*].authentication_string') IS NOT NULL AS is_ed25519_of_nothing, \
         JSON_VALUE(g.Priv, '$.account_locked') AS locked, \
         JSON_VALUE(g.Priv, '$.plugin') AS first_plugin, \
         COALESCE(JSON_VALUE(g.Priv, '$.authentication_string'), '') = '' AS is_empty, \
         LENGTH(JSON_VALUE(g.Priv, '$.authentication_string')) = 16 AS is_short, \
         JSON_LENGTH(g.Priv, '$.auth_or') AS alternatives, \
         JSON_EXTRACT(g.Priv, '$.auth_or[*].plugin') AS other_plugins, \
         JSON_CONTAINS(JSON_EXTRACT(g.Priv, '$.auth_or[*].authentication_string'), '\"\"') AS other_empty, \
         JSON_SEARCH(g.Priv, 'one', '*%', NULL, '$.authentication_string') IS NOT NULL AS has_native_hash, \
         JSON_SEARCH(g.Priv, 'one', '*%', NULL, '$.auth_or[*].authentication_string') IS NOT NULL \
         AS other_native_hash, u.x509_subject <> '' AS names_subject, {} \
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
        // The server takes names of plugins in any case, and stores them as they were typed.
        let first = text("first_plugin").to_ascii_lowercase();
        let others = json_words(&text("other_plugins").to_ascii_lowercase());
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
        let is_open = (has_first && takes_empty(&first) && is("is_empty"))
            || (others.iter().any(|plugin| takes_empty(plugin)) && is("other_empty"))
            || (plugins.iter().any(|plugin| plugin == ED25519) && is("is_ed25519_of_nothing"));
        let no_password = if is_open {
            NoPassword::Yes
        } else if plugins.iter().any(|plugin| plugin == PARSEC) {
            NoPassword::CannotTell(
                "parsec salts what it stores, so that nobody can tell from it whether the password is empty: \
                 set it anew if in doubt"
                    .into(),
            )
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
            // REQUIRE CIPHER alone asks for no certificate here (seen on 10.11.19; MySQL 9.7.4 demands one).
            ssl_type: match text("ssl_type").as_str() {
                "SPECIFIED" if is("names_nobody") => "ANY".into(),
                other => other.to_owned(),
            },
            names_subject: is("names_subject"),
            plugins,
            no_password,
            weak_alternative,
            global: names(&row).into_iter().chain(names_of_bits(&text("bits"))).collect(),
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
    use std::collections::BTreeSet;

    use server::Capabilities;

    use super::*;
    use crate::script::Script;
    use server::OwnGrants;

    /// Columns as they are selected, up to those of privileges.
    fn read(rows: &[&[Option<&str>]]) -> Accounts {
        let mut script = Script::new(&[("FROM mysql.user", rows)]);
        let capabilities = Capabilities::of("11.8.2-MariaDB", "", false);
        let (view, rights, mut seen) = Default::default();
        let rights: OwnGrants = rights;
        let mut asking = Asking::new(&mut script, "n1", &view, &capabilities, &rights, &mut seen, 0);
        accounts(&mut asking).expect("it answers").expect("it may be read")
    }

    #[test]
    fn an_account_is_read_as_it_logs_in() {
        // Host, User, is_role, ssl_type, plugin, names_nobody, bits, is_ed25519_of_nothing, locked, first_plugin,
        // is_empty, is_short, alternatives, other_plugins, other_empty, has_native_hash, other_native_hash, names_subject
        let row = |user, ssl_type, names_nobody, bits, ed, first| {
            let head = [Some("%"), Some(user), Some("N"), Some(ssl_type), Some("")];
            let tail = [
                Some("0"),
                Some("0"),
                None,
                None,
                None,
                Some("0"),
                Some("0"),
                Some(if user == "subject" { "1" } else { "0" }),
            ];
            [&head[..], &[Some(names_nobody), Some(bits), Some(ed), None, Some(first)], &tail].concat()
        };
        let rows = [
            row("ciph", "SPECIFIED", "1", "0", "0", "ed25519"),
            row("subject", "SPECIFIED", "0", "0", "0", "ed25519"),
            row("open", "", "1", "0", "1", "ED25519"),
            row("salted", "", "1", "0", "0", "Parsec"),
            row("setu", "", "1", "17179869184", "0", "ed25519"),
        ];
        let accounts = read(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let of = |user: &str| &accounts[&(user.to_owned(), "%".to_owned())];
        assert_eq!((of("ciph").ssl_type.as_str(), of("subject").ssl_type.as_str()), ("ANY", "SPECIFIED"));
        assert_eq!(
            (&of("open").no_password, &of("subject").no_password),
            (&NoPassword::Yes, &NoPassword::No)
        );
        assert_eq!(of("open").plugins, ["ed25519"]);
        assert!(matches!(of("salted").no_password, NoPassword::CannotTell(_)));
        assert_eq!(of("setu").global, BTreeSet::from(["REPLICATION SLAVE ADMIN".to_owned()]));
    }

    #[test]
    fn names_of_plugins_are_read_from_an_array() {
        assert_eq!(json_words(r#"["ed25519", "unix_socket"]"#), ["ed25519", "unix_socket"]);
        assert_eq!(json_words(""), Vec::<String>::new());
    }
}
