//! Settings of TLS that were given on the command line: no option file shows them, and none can take them back.

use model::{Value, facts};
use server::Flavour;

use crate::Question;
use crate::ask::Refusal;
use crate::asking::Asking;

pub const QUESTION: Question = Question {
    name: "command line",
    facts: &[&facts::server::SETTINGS_ON_COMMAND_LINE],
    grants: |_| vec![],
    ask,
};

/// Variables that decide who is encrypted, on both flavours.
const OF_TLS: &str = "'ssl_ca','ssl_capath','ssl_cert','ssl_key','ssl_cipher','ssl_crl','ssl_crlpath','tls_version',\
                      'tls_ciphersuites','require_secure_transport','admin_tls_version','admin_tls_ciphersuites',\
                      'admin_ssl_ca','admin_ssl_capath','admin_ssl_cert','admin_ssl_key','admin_ssl_cipher',\
                      'admin_ssl_crl','admin_ssl_crlpath','mysqlx_ssl_ca','mysqlx_ssl_capath','mysqlx_ssl_cert',\
                      'mysqlx_ssl_key','mysqlx_ssl_cipher','mysqlx_ssl_crl','mysqlx_ssl_crlpath'";

fn ask(asking: &mut Asking<'_>) -> Result<(), Refusal> {
    // Sources: MariaDB manual, Information Schema SYSTEM_VARIABLES (servers that cannot tell a file from the command line have no column
    // of paths: the statement fails there, and the answer is unknown); MySQL manual, The performance_schema.variables_info Table.
    let sql = if asking.capabilities.flavour == Flavour::MariaDb {
        format!(
            "SELECT VARIABLE_NAME, GLOBAL_VALUE_ORIGIN FROM information_schema.SYSTEM_VARIABLES \
             WHERE GLOBAL_VALUE_ORIGIN IN ('COMMAND-LINE', 'SQL') AND GLOBAL_VALUE_PATH IS NULL \
             AND VARIABLE_NAME IN ({OF_TLS})"
        )
    } else {
        format!(
            "SELECT VARIABLE_NAME, VARIABLE_SOURCE FROM performance_schema.variables_info \
             WHERE VARIABLE_SOURCE IN ('COMMAND_LINE', 'PERSISTED', 'DYNAMIC') AND VARIABLE_NAME IN ({OF_TLS})"
        )
    };
    let value = match asking.rows(&sql)? {
        Ok(rows) => elsewhere(&rows),
        Err(why) => Value::Unknown(why),
    };
    asking.note(&facts::server::SETTINGS_ON_COMMAND_LINE, value, &sql);
    Ok(())
}

/// What does not come from an option file. A variable that was set since the start no longer says where it came from.
fn elsewhere(rows: &net::Rows) -> Value {
    let (mut names, mut changed) = (Vec::new(), Vec::new());
    for row in rows.iter() {
        let Some(name) = row.at(0).map(|name| name.to_ascii_lowercase()) else { continue };
        match row.at(1).as_deref() {
            Some("DYNAMIC" | "SQL") => changed.push(name),
            Some("PERSISTED") => names.push(format!("{name} (persisted)")),
            _ => names.push(name),
        }
    }
    names.sort_unstable();
    changed.sort_unstable();
    match (names.is_empty(), changed.is_empty()) {
        (true, true) => Value::Absent,
        (false, _) => Value::Text(names.join(", ")),
        (true, false) => Value::Unknown(format!(
            "{} was changed since the start, and the server no longer says from where it had it",
            changed.join(", ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Ask;
    use crate::script::Script;

    #[test]
    fn a_variable_that_was_changed_hides_where_it_came_from() {
        let check = |rows: &[[&str; 2]]| {
            let cells: Vec<[Option<&str>; 2]> = rows.iter().map(|row| row.map(Some)).collect();
            let rows: Vec<&[Option<&str>]> = cells.iter().map(<[_; 2]>::as_slice).collect();
            elsewhere(&Script::new(&[("x", &rows)]).rows("SELECT a, b FROM x").expect("rows"))
        };
        let text = |text: &str| Value::Text(text.into());
        assert_eq!(check(&[]), Value::Absent);
        assert_eq!(check(&[["SSL_CERT", "COMMAND-LINE"], ["ssl_ca", "DYNAMIC"]]), text("ssl_cert"));
        assert_eq!(check(&[["ssl_ca", "PERSISTED"]]), text("ssl_ca (persisted)"));
        for source in ["DYNAMIC", "SQL"] {
            assert!(matches!(check(&[["ssl_ca", source]]), Value::Unknown(why) if why.starts_with("ssl_ca")));
        }
    }
}
