//! Accounts of MySQL: `mysql.user`, column by column, so that the one with the hashes need not be granted.
//!
//! Source: MySQL manual, Grant Tables; tried on 9.7.4.

use crate::ask::Refusal;
use crate::asking::Asking;
use crate::grant::Grant;

use super::privileges::{COLUMNS, names};
use super::{Account, Accounts, NoPassword};

pub const HOW: &str = "SELECT Host, User, ssl_type, plugin, account_locked FROM mysql.user";
const TABLE: &str = "mysql.user";
const OF_LOGIN: [&str; 6] = ["Host", "User", "ssl_type", "x509_subject", "plugin", "account_locked"];
/// Accounts with these and nothing in the column log in with an empty password.
const WITH_PASSWORD: [&str; 3] = ["caching_sha2_password", "sha256_password", "mysql_native_password"];

pub fn grants() -> Vec<Grant> {
    vec![Grant::Select { table: TABLE, columns: columns().collect() }, hashes()]
}

/// The only reason to grant it: whether it is empty. The server compares; nothing of it is sent.
fn hashes() -> Grant {
    Grant::Select { table: TABLE, columns: vec!["authentication_string"] }
}

fn columns() -> impl Iterator<Item = &'static str> {
    let of_privileges = COLUMNS.iter().filter(|(_, _, on)| on.mysql).map(|(column, _, _)| *column);
    OF_LOGIN.into_iter().chain(of_privileges)
}

pub fn accounts(asking: &mut Asking<'_>) -> Result<Result<Accounts, String>, Refusal> {
    let columns: Vec<&str> = columns().collect();
    let sql = format!("SELECT {} FROM {TABLE}", columns.join(", "));
    let rows = match asking.rows_with(&grants()[..1], &sql)? {
        Ok(rows) => rows,
        Err(why) => return Ok(Err(why)),
    };
    let mut accounts = Accounts::new();
    for row in rows.iter() {
        let text = |column: &str| row.text(column).unwrap_or_default().into_owned();
        let account = Account {
            // Roles are told apart by who has them, not here.
            is_role: false,
            is_locked: text("account_locked") == "Y",
            ssl_type: text("ssl_type"),
            names_subject: !text("x509_subject").is_empty(),
            plugins: vec![text("plugin").to_ascii_lowercase()],
            no_password: NoPassword::No,
            weak_alternative: None,
            global: names(&row),
        };
        accounts.insert((text("User"), text("Host")), account);
    }
    let empty = "SELECT Host, User FROM mysql.user WHERE authentication_string = ''";
    match asking.rows_with(&[hashes()], empty)? {
        Ok(rows) => {
            for row in rows.iter() {
                let text = |column: &str| row.text(column).unwrap_or_default().into_owned();
                if let Some(account) = accounts.get_mut(&(text("User"), text("Host")))
                    && account.plugins.iter().any(|plugin| WITH_PASSWORD.contains(&plugin.as_str()))
                {
                    account.no_password = NoPassword::Yes;
                }
            }
        }
        Err(why) => {
            for account in accounts.values_mut() {
                account.no_password = NoPassword::CannotTell(why.clone());
            }
        }
    }
    Ok(Ok(accounts))
}
