//! The other ports of a server: for administrators, and X Protocol.

use model::{Value, facts};
use server::view::unix_of;
use server::{Capabilities, Flavour};

use crate::Question;
use crate::ask::Refusal;
use crate::asking::Asking;
use crate::grant::Grant;

use super::settings::note_dates;

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
    dates_of_admin(asking)?;
    dates_of_x(asking);
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

const NO_DATES: &str = "the server does not say how long the certificate of this port is valid";

/// X Protocol may have a certificate of its own.
fn dates_of_x(asking: &mut Asking<'_>) {
    let date = |name: &str| asking.view.status(name).filter(|text| !text.is_empty());
    let texts = [date("mysqlx_ssl_server_not_before"), date("mysqlx_ssl_server_not_after")];
    if texts.iter().all(Option::is_none) {
        // The plugin is off, or offers no TLS: that is another rule's.
        return;
    }
    let [begins, ends] = texts.map(|text| text.and_then(unix_of));
    let subject = format!("{} port of X Protocol", asking.subject());
    let how = "SHOW GLOBAL STATUS LIKE 'Mysqlx_ssl_server_not_%'";
    note_dates(asking, &subject, (begins, ends), &Value::Unknown(NO_DATES.into()), how);
}

/// So may the port for administrators; where it has none it shows that of the main port.
fn dates_of_admin(asking: &mut Asking<'_>) -> Result<(), Refusal> {
    if asking.view.variable("admin_address").is_none_or(str::is_empty) {
        return Ok(());
    }
    let sql = "SELECT PROPERTY, VALUE FROM performance_schema.tls_channel_status WHERE CHANNEL = 'mysql_admin' \
               AND PROPERTY IN ('Enabled', 'Ssl_server_not_before', 'Ssl_server_not_after')";
    let grants = grants(asking.capabilities);
    let (mut dates, mut no_date) = ((None, None), Value::Unknown(NO_DATES.into()));
    match asking.rows_with(&grants, sql)? {
        Ok(rows) => {
            let value = |property: &str| {
                let is_it = |row: &net::RowRef<'_>| row.at(0).as_deref() == Some(property);
                rows.iter().find(is_it).and_then(|row| row.at(1)).map(std::borrow::Cow::into_owned)
            };
            if value("Enabled").as_deref() == Some("No") {
                return Ok(());
            }
            let date = |property: &str| value(property).as_deref().and_then(unix_of);
            dates = (date("Ssl_server_not_before"), date("Ssl_server_not_after"));
        }
        Err(why) => no_date = Value::Unknown(why),
    }
    let subject = format!("{} port for administrators", asking.subject());
    note_dates(asking, &subject, dates, &no_date, sql);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Script;

    #[test]
    fn a_port_with_a_certificate_of_its_own_is_judged_by_that() {
        let rows: &[&[Option<&str>]] = &[
            &[Some("Enabled"), Some("Yes")],
            &[Some("Ssl_server_not_before"), Some("Jan  1 00:00:00 2020 GMT")],
            &[Some("Ssl_server_not_after"), Some("Jan  1 00:00:00 2021 GMT")],
        ];
        let mut script = Script::new(&[("SELECT PROPERTY, VALUE", rows)]);
        let capabilities = Capabilities::of("9.7.4", "", false);
        let mut view = server::NodeView::default();
        view.variables.insert("admin_address".into(), "127.0.0.1".into());
        view.status.insert("mysqlx_ssl_server_not_after".into(), "Jan  1 00:00:00 2021 GMT".into());
        let (rights, mut seen) = (server::OwnGrants::default(), model::Observations::default());
        // 2022-01-01
        let now_unix_ms = 1_640_995_200_000;
        let mut asking =
            Asking::new(&mut script, "n1", &view, &capabilities, &rights, &mut seen, now_unix_ms);
        ask(&mut asking).expect("it answers");
        for port in ["n1 port for administrators", "n1 port of X Protocol"] {
            let left = seen.newest(port, &facts::server::CERT_EXPIRES_IN_DAYS).map(|one| &one.value);
            assert_eq!(left, Some(&Value::Number(-365)), "{port}");
        }
        let all = seen.newest("n1 port of X Protocol", &facts::server::CERT_VALIDITY_DAYS);
        assert!(matches!(all.map(|one| &one.value), Some(Value::Unknown(_))), "its begin is not told");
    }
}
