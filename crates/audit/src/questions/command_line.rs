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
                      'tls_ciphersuites','require_secure_transport','admin_tls_version','admin_ssl_cert','admin_ssl_key'";

fn ask(asking: &mut Asking<'_>) -> Result<(), Refusal> {
    // Sources: MariaDB manual, Information Schema SYSTEM_VARIABLES (servers that cannot tell a file from the command line have no column
    // of paths: the statement fails there, and the answer is unknown); MySQL manual, The performance_schema.variables_info Table.
    let sql = if asking.capabilities.flavour == Flavour::MariaDb {
        format!(
            "SELECT VARIABLE_NAME FROM information_schema.SYSTEM_VARIABLES \
             WHERE GLOBAL_VALUE_ORIGIN = 'COMMAND-LINE' AND GLOBAL_VALUE_PATH IS NULL AND VARIABLE_NAME IN ({OF_TLS})"
        )
    } else {
        format!(
            "SELECT VARIABLE_NAME FROM performance_schema.variables_info \
             WHERE VARIABLE_SOURCE = 'COMMAND_LINE' AND VARIABLE_NAME IN ({OF_TLS})"
        )
    };
    let value = match asking.rows(&sql)? {
        Ok(rows) => {
            let mut names: Vec<String> =
                rows.iter().filter_map(|row| row.at(0)).map(|name| name.to_ascii_lowercase()).collect();
            names.sort_unstable();
            if names.is_empty() { Value::Absent } else { Value::Text(names.join(", ")) }
        }
        Err(why) => Value::Unknown(why),
    };
    asking.note(&facts::server::SETTINGS_ON_COMMAND_LINE, value, &sql);
    Ok(())
}
