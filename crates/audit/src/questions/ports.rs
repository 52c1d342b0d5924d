//! The other ports of a server: for administrators, and X Protocol.

use model::{Value, facts};
use server::{Capabilities, Flavour};

use crate::Question;
use crate::ask::Refusal;
use crate::asking::Asking;
use crate::grant::Grant;

pub const QUESTION: Question = Question {
    name: "other ports",
    facts: &[&facts::server::ADMIN_OFFERED, &facts::server::X_REQUIRED],
    grants,
    ask,
};

fn grants(capabilities: &Capabilities) -> Vec<Grant> {
    if capabilities.flavour == Flavour::MariaDb {
        return vec![];
    }
    vec![Grant::select("performance_schema.tls_channel_status")]
}

fn ask(asking: &mut Asking<'_>) -> Result<(), Refusal> {
    let view = asking.view;
    if asking.capabilities.flavour == Flavour::MariaDb {
        // Source: MariaDB manual, extra_port: the same TLS as the main port.
        let value = match view.variable("extra_port") {
            Some("0") => Value::Absent,
            Some(_) => view
                .client_tls()
                .map_or_else(|| Value::Unknown("the server does not say".into()), Value::Bool),
            None => Value::Unknown("the server has no extra_port".into()),
        };
        asking.note(&facts::server::ADMIN_OFFERED, value, "SHOW GLOBAL VARIABLES LIKE 'extra_port'");
        return Ok(());
    }
    let admin = match view.variable("admin_address") {
        Some("") => Value::Absent,
        _ => admin_channel(asking)?,
    };
    asking.note(
        &facts::server::ADMIN_OFFERED,
        admin,
        "SELECT * FROM performance_schema.tls_channel_status WHERE CHANNEL = 'mysql_admin'",
    );
    // The plugin brings its variables; X Protocol follows require_secure_transport as the main port does.
    let x = match view.variable("mysqlx_port") {
        None => Value::Absent,
        Some(_) => Value::Bool(
            view.requires_secure_transport()
                && view.status("mysqlx_ssl_server_not_after").is_some_and(|until| !until.is_empty()),
        ),
    };
    asking.note(
        &facts::server::X_REQUIRED,
        x,
        "SHOW GLOBAL VARIABLES LIKE 'mysqlx_port'; SHOW GLOBAL STATUS LIKE 'Mysqlx_ssl_server_not_after'",
    );
    Ok(())
}

/// Source: MySQL manual, The tls_channel_status Table; what an idle channel means was tried on 9.7.4: where none of its options is
/// given the port serves what the main port does, and one option alone (`admin_tls_version`) leaves it without TLS.
fn admin_channel(asking: &mut Asking<'_>) -> Result<Value, Refusal> {
    let grants = grants(asking.capabilities);
    let sql = "SELECT VALUE FROM performance_schema.tls_channel_status \
               WHERE CHANNEL = 'mysql_admin' AND PROPERTY = 'Enabled'";
    let is_enabled = match asking.rows_with(&grants, sql)? {
        Ok(rows) => match rows.scalar().as_deref() {
            Some("Yes") => true,
            Some("No") => false,
            _ => return Ok(Value::Unknown("the server does not list its channel mysql_admin".into())),
        },
        Err(why) => return Ok(Value::Unknown(why)),
    };
    if is_enabled {
        return Ok(Value::Bool(true));
    }
    let sql = "SELECT VARIABLE_SOURCE FROM performance_schema.variables_info WHERE VARIABLE_SOURCE <> 'COMPILED' \
               AND LEFT(VARIABLE_NAME, 10) IN ('admin_ssl_', 'admin_tls_')";
    Ok(match asking.rows(sql)? {
        Err(why) => Value::Unknown(why),
        Ok(rows) => {
            let given: Vec<_> = rows.iter().filter_map(|row| row.at(0)).collect();
            if given.is_empty() {
                asking
                    .view
                    .client_tls()
                    .map_or_else(|| Value::Unknown("the server does not say".into()), Value::Bool)
            } else if given.iter().any(|source| source == "DYNAMIC") {
                Value::Unknown("a variable admin_ssl_… or admin_tls_… was changed since the start".into())
            } else {
                Value::Bool(false)
            }
        }
    })
}
