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

/// Source: MySQL manual, The tls_channel_status Table.
fn admin_channel(asking: &mut Asking<'_>) -> Result<Value, Refusal> {
    let grants = grants(asking.capabilities);
    let sql = "SELECT VALUE FROM performance_schema.tls_channel_status \
               WHERE CHANNEL = 'mysql_admin' AND PROPERTY = 'Enabled'";
    Ok(match asking.rows_with(&grants, sql)? {
        Ok(rows) => match rows.scalar().as_deref() {
            Some("Yes") => Value::Bool(true),
            Some("No") => Value::Bool(false),
            _ => Value::Unknown("the server does not list its channel mysql_admin".into()),
        },
        Err(why) => Value::Unknown(why),
    })
}
