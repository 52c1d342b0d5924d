//! What the server loads, listens on and lets accounts do, beside TLS: its series, functions, sample schemas, rules for passwords.

use model::{Value, facts};
use server::{Capabilities, Flavour};

use crate::Question;
use crate::ask::Refusal;
use crate::asking::{Asking, missing};
use crate::grant::Grant;

use super::rest::some;
use super::settings::{is_on, number, variable_says};

pub const QUESTION: Question = Question {
    name: "what it loads and listens on",
    facts: &[
        &facts::server::UNSUPPORTED_SINCE,
        &facts::server::SAMPLE_SCHEMA,
        &facts::server::SYMBOLIC_LINKS,
        &facts::server::USER_FUNCTIONS,
        &facts::server::SUSPICIOUS_FUNCTIONS,
        &facts::server::PERSISTED_SECRETS,
        &facts::server::LISTENS_EVERYWHERE,
        &facts::server::PASSWORD_REUSE,
        &facts::server::SECURE_AUTH,
        &facts::server::STRICT_VALIDATION,
        &facts::session::SESSIONS_VISIBLE,
        &facts::server::RESOLVES_NAMES,
        &facts::server::OLD_PASSWORDS,
        &facts::server::PASSWORD_REQUIRES_CURRENT,
        &facts::server::WEAK_DEFAULT_PLUGIN,
        &facts::server::MANDATORY_ROLES,
    ],
    grants,
    ask,
};

fn grants(_: &Capabilities) -> Vec<Grant> {
    vec![Grant::Global("SHOW DATABASES"), Grant::select("mysql.func")]
}

fn ask(asking: &mut Asking<'_>) -> Result<(), Refusal> {
    let is_mariadb = asking.capabilities.flavour == Flavour::MariaDb;
    let since = server::support::ended(asking.capabilities);
    asking.note(&facts::server::UNSUPPORTED_SINCE, since, "SELECT VERSION()");
    let links = match asking.view.variable("have_symlink") {
        Some("DISABLED") => Value::Bool(false),
        _ => is_on(asking, "have_symlink"),
    };
    asking.note(&facts::server::SYMBOLIC_LINKS, links, &variable_says("have_symlink"));
    let visible = is_on(asking, "performance_schema");
    asking.note(&facts::session::SESSIONS_VISIBLE, visible, &variable_says("performance_schema"));
    let resolves = match is_on(asking, "skip_name_resolve") {
        Value::Bool(skips) => Value::Bool(!skips),
        other => other,
    };
    asking.note(&facts::server::RESOLVES_NAMES, resolves, &variable_says("skip_name_resolve"));
    let everywhere = listens_everywhere(asking);
    asking.note(&facts::server::LISTENS_EVERYWHERE, everywhere, &variable_says("%bind_address"));
    if is_mariadb {
        for (fact, variable) in [
            (&facts::server::SUSPICIOUS_FUNCTIONS, "allow_suspicious_udfs"),
            (&facts::server::SECURE_AUTH, "secure_auth"),
            (&facts::server::STRICT_VALIDATION, "strict_password_validation"),
            (&facts::server::OLD_PASSWORDS, "old_passwords"),
        ] {
            let value = is_on(asking, variable);
            asking.note(fact, value, &variable_says(variable));
        }
    } else {
        let plaintext = is_on(asking, "persist_sensitive_variables_in_plaintext");
        let how = variable_says("persist_sensitive_variables_in_plaintext");
        asking.note(&facts::server::PERSISTED_SECRETS, plaintext, &how);
        of_mysql_accounts(asking);
        let of = |name: &str| number(asking.view, name);
        let reuse = match (of("password_history"), of("password_reuse_interval")) {
            (Some(history), Some(interval)) => Value::Bool(history == 0 && interval == 0),
            _ => Value::Unknown("the server has no password_history".into()),
        };
        asking.note(&facts::server::PASSWORD_REUSE, reuse, &variable_says("password_%"));
    }
    let sql = "SELECT name, dl FROM mysql.func";
    let functions = match asking.rows_with(&[Grant::select("mysql.func")], sql)? {
        Ok(rows) => some(
            rows.iter()
                .map(|row| format!("{} of {}", row.at(0).unwrap_or_default(), row.at(1).unwrap_or_default())),
        ),
        Err(why) => Value::Unknown(why),
    };
    asking.note(&facts::server::USER_FUNCTIONS, functions, sql);
    let sql = "SHOW DATABASES";
    let needs = [Grant::Global("SHOW DATABASES")];
    // Without it the list is shorter, and nothing says so.
    let schemas = if asking.rights.has("SHOW DATABASES") {
        match asking.rows_with(&needs, sql)? {
            Ok(rows) => some(
                rows.iter()
                    .filter_map(|row| row.at(0).map(std::borrow::Cow::into_owned))
                    .filter(|name| name == "test"),
            ),
            Err(why) => Value::Unknown(why),
        }
    } else {
        Value::Unknown(missing(&needs))
    };
    asking.note(&facts::server::SAMPLE_SCHEMA, schemas, sql);
    Ok(())
}

/// What new accounts of MySQL get, and what all have.
fn of_mysql_accounts(asking: &mut Asking<'_>) {
    let current = is_on(asking, "password_require_current");
    let how = variable_says("password_require_current");
    asking.note(&facts::server::PASSWORD_REQUIRES_CURRENT, current, &how);
    // Source: MySQL manual, authentication_policy: factors, with a comma between them; `*` is any plugin, by default caching_sha2_password.
    let policy = asking.view.variable("authentication_policy");
    let plugin = policy
        .and_then(|policy| policy.split(',').next())
        .map(|first| first.trim().trim_start_matches("*:"))
        .or_else(|| asking.view.variable("default_authentication_plugin"));
    let weak = match plugin {
        Some(plugin @ ("sha256_password" | "mysql_native_password" | "mysql_clear_password")) => {
            Value::Text(format!("new accounts get {plugin}"))
        }
        Some(_) => Value::Absent,
        None => Value::Unknown("the server has no authentication_policy".into()),
    };
    asking.note(&facts::server::WEAK_DEFAULT_PLUGIN, weak, &variable_says("authentication_policy"));
    let roles = match asking.view.variable("mandatory_roles") {
        Some("") => Value::Absent,
        Some(roles) => Value::Text(roles.to_owned()),
        None => Value::Unknown("the server has no mandatory_roles".into()),
    };
    asking.note(&facts::server::MANDATORY_ROLES, roles, &variable_says("mandatory_roles"));
}

/// Of the main port, and of X Protocol where it is on. An empty value of MariaDB is every address too.
fn listens_everywhere(asking: &Asking<'_>) -> Value {
    if asking.view.variable("skip_networking") == Some("ON") {
        return Value::Absent;
    }
    let mut found = Vec::new();
    for name in ["bind_address", "mysqlx_bind_address"] {
        let Some(list) = asking.view.variable(name) else {
            if name == "bind_address" {
                return Value::Unknown("the server does not say on which addresses it listens".into());
            }
            continue;
        };
        // Of `ADDRESS/NETWORK_NAMESPACE` the address.
        let is_every = |one: &str| matches!(one.split('/').next(), Some("" | "*" | "0.0.0.0" | "::"));
        if list.split(',').map(str::trim).any(is_every) {
            found.push(format!("{name} is \"{list}\""));
        }
    }
    if found.is_empty() { Value::Absent } else { Value::Text(found.join(", ")) }
}
