//! Variables and status that every account may read.

use model::{Value, facts};
use server::{Flavour, NodeView};

use crate::Question;
use crate::asking::Asking;

pub const QUESTION: Question = Question {
    name: "settings",
    facts: &[
        &facts::server::CLIENT_OFFERED,
        &facts::server::CLIENT_REQUIRED,
        &facts::server::CLIENT_CA,
        &facts::server::CLIENT_OLD_VERSIONS,
        &facts::server::CLIENT_WEAK_CIPHERS,
        &facts::server::PASSWORD_RSA_KEY,
        &facts::server::PASSWORD_RULES,
        &facts::server::PASSWORD_LIFETIME_DAYS,
        &facts::server::PASSWORD_GUESSING_LIMITED,
        &facts::server::PROXY_PROTOCOL_NETWORKS,
        &facts::server::GENERAL_LOG,
        &facts::server::LOG_RAW,
        &facts::server::FILE_PRIVILEGE_REACH,
        &facts::server::LOCAL_INFILE,
        &facts::server::CERT_EXPIRES_IN_DAYS,
        &facts::server::CERT_NOT_YET_VALID,
        &facts::server::CERT_VALIDITY_DAYS,
        &facts::server::ACCOUNTS_SKIPPED,
    ],
    grants: |_| vec![],
    ask: |asking| {
        note_settings(asking);
        Ok(())
    },
};

const SECONDS_PER_DAY: i64 = 86_400;
const NOT_TOLD: &str = "the server does not say";
/// So many wrong passwords in a row are a limit; the default of MariaDB is 2^32 - 1, which is none.
const PASSWORD_ERRORS_MAX: u64 = 1000;
/// The default of both flavours' checks.
const PASSWORD_LENGTH_MIN: u64 = 8;

fn note_settings(asking: &mut Asking<'_>) {
    of_tls(asking);
    of_certificate(asking);
    of_passwords(asking);
    of_files_and_logs(asking);
}

pub(super) fn variable_says(name: &str) -> String {
    format!("SHOW GLOBAL VARIABLES LIKE '{name}'")
}

/// A variable that is a whole number. (`NodeView::number` is of the status.)
pub(super) fn number(view: &NodeView, name: &str) -> Option<i64> {
    view.variable(name)?.parse().ok()
}

/// A switch as the server shows it.
pub(super) fn is_on(asking: &Asking<'_>, name: &str) -> Value {
    match asking.view.variable(name) {
        Some("ON" | "1" | "YES") => Value::Bool(true),
        Some("OFF" | "0" | "NO") => Value::Bool(false),
        Some(other) => Value::Unknown(format!("{name} is \"{other}\", which sealion does not know")),
        None => Value::Unknown(format!("the server has no {name}")),
    }
}

/// Whether one of these has a value that counts.
pub(super) fn any_in_use(view: &NodeView, names: [&str; 2]) -> Value {
    let values: Option<Vec<&str>> = names.iter().map(|name| in_use(view, name)).collect();
    values.map_or_else(
        || Value::Unknown(NOT_TOLD.into()),
        |values| Value::Bool(values.iter().any(|value| !value.is_empty())),
    )
}

fn of_tls(asking: &mut Asking<'_>) {
    let view = asking.view;
    let offered = view.client_tls().map_or_else(|| Value::Unknown(NOT_TOLD.into()), Value::Bool);
    let how = if asking.capabilities.have_ssl {
        variable_says("have_ssl")
    } else {
        "SHOW GLOBAL STATUS LIKE 'Ssl_server_not_after'".into()
    };
    asking.note(&facts::server::CLIENT_OFFERED, offered.clone(), &how);
    let required = is_on(asking, "require_secure_transport");
    let how = variable_says("require_secure_transport");
    asking.note(&facts::server::CLIENT_REQUIRED, required.clone(), &how);

    asking.note(
        &facts::server::CLIENT_CA,
        any_in_use(view, ["ssl_ca", "ssl_capath"]),
        &in_use_says(view, "ca%"),
    );

    let mut old = Vec::new();
    let mut why_not = None;
    let has_admin_port = view.variable("admin_address").is_some_and(|address| !address.is_empty());
    for name in ["tls_version"].into_iter().chain(has_admin_port.then_some("admin_tls_version")) {
        match in_use(view, name) {
            Some(list) => old.extend(old_versions(list).map(|version| format!("{version} ({name})"))),
            None => why_not = Some(format!("the server has no {name}")),
        }
    }
    let value = match (old.is_empty(), why_not) {
        (false, _) => Value::Text(old.join(", ")),
        (true, Some(why)) => Value::Unknown(why),
        (true, None) => Value::Absent,
    };
    asking.note(
        &facts::server::CLIENT_OLD_VERSIONS,
        value,
        "SHOW GLOBAL VARIABLES LIKE '%tls_version'; SHOW GLOBAL STATUS LIKE 'Current_tls_version'",
    );
    let ciphers = in_use(view, "ssl_cipher").map_or_else(|| Value::Unknown(NOT_TOLD.into()), weak_ciphers);
    asking.note(&facts::server::CLIENT_WEAK_CIPHERS, ciphers, &in_use_says(view, "cipher"));

    if asking.capabilities.flavour == Flavour::MariaDb {
        let networks = match view.variable("proxy_protocol_networks") {
            Some("") => Value::Absent,
            Some(list) => Value::Text(list.to_owned()),
            None => Value::Unknown("the server has no proxy_protocol_networks".into()),
        };
        asking.note(
            &facts::server::PROXY_PROTOCOL_NETWORKS,
            networks,
            &variable_says("proxy_protocol_networks"),
        );
    } else {
        // Source: MySQL manual, Caching SHA-2 Pluggable Authentication. The status shows the key that is handed out.
        let has_key = ["caching_sha2_password_rsa_public_key", "rsa_public_key"]
            .iter()
            .any(|name| view.status(name).is_some_and(|key| !key.is_empty()));
        let value = match (has_key, required) {
            (false, _) => Value::Bool(false),
            // Nobody gets so far without TLS.
            (true, Value::Bool(is_required)) => Value::Bool(!is_required),
            (true, other) => other,
        };
        asking.note(
            &facts::server::PASSWORD_RSA_KEY,
            value,
            "SHOW GLOBAL STATUS LIKE '%rsa_public_key'; SHOW GLOBAL VARIABLES LIKE 'require_secure_transport'",
        );
    }
}

/// A setting of the main port as connections get it. MySQL lets its variables be changed and uses them only after
/// ALTER INSTANCE RELOAD TLS; what is in use stands in the status. MariaDB has no such status, and its variables
/// cannot be changed.
///
/// Source: MySQL manual, Server-Side Runtime Configuration and Monitoring for Encrypted Connections.
fn in_use<'v>(view: &'v NodeView, variable: &str) -> Option<&'v str> {
    let short = variable.strip_prefix("ssl_").or_else(|| variable.strip_prefix("tls_"));
    short.and_then(|short| view.status(&format!("current_tls_{short}"))).or_else(|| view.variable(variable))
}

/// Where a person reads the same.
fn in_use_says(view: &NodeView, short: &str) -> String {
    if view.status("current_tls_version").is_some() {
        format!("SHOW GLOBAL STATUS LIKE 'Current_tls_{short}'")
    } else {
        variable_says(&format!("ssl_{short}"))
    }
}

fn old_versions(list: &str) -> impl Iterator<Item = &str> {
    let is_new = |one: &&str| !matches!(*one, "" | "TLSv1.2" | "TLSv1.3");
    list.split(',').map(str::trim).filter(is_new)
}

/// The names in a list of cipher suites that are weak; words of OpenSSL's own (`HIGH`, `!aNULL`) stand for many.
fn weak_ciphers(list: &str) -> Value {
    let names: Vec<&str> = list.split([':', ',', ' ']).filter(|name| !name.is_empty()).collect();
    if names.is_empty() {
        return Value::Unknown(
            "ssl_cipher is empty, so that the TLS library decides: sealion scan shows what is accepted"
                .into(),
        );
    }
    let is_name = |name: &&str| {
        name.starts_with("TLS_") || (name.contains('-') && !name.starts_with(['!', '-', '+', '@']))
    };
    if let Some(word) = names.iter().find(|name| !is_name(name)) {
        return Value::Unknown(format!(
            "ssl_cipher has \"{word}\", which stands for many cipher suites: sealion scan shows what is accepted"
        ));
    }
    let is_strong = |name: &str| {
        name.starts_with("TLS_AES") || name.starts_with("TLS_CHACHA20") || {
            let is_ephemeral = name.starts_with("ECDHE-") || name.starts_with("DHE-");
            is_ephemeral && ["GCM", "CHACHA20", "CCM"].iter().any(|mode| name.contains(mode))
        }
    };
    let weak: Vec<&str> = names.into_iter().filter(|name| !is_strong(name)).collect();
    if weak.is_empty() { Value::Absent } else { Value::Text(weak.join(", ")) }
}

fn of_certificate(asking: &mut Asking<'_>) {
    let view = asking.view;
    let (begins, ends) =
        (view.client_certificate_not_before_unix(), view.client_certificate_not_after_unix());
    // Absent: there is no certificate, which is another rule's.
    let is_offered = view.client_tls();
    let no_date = || {
        match is_offered {
        Some(false) => Value::Absent,
        // Seen on 10.11.19: the status is that of the session that asks.
        _ if asking.capabilities.flavour == Flavour::MariaDb => Value::Unknown(
            "MariaDB reports nothing of its certificate to a session without TLS: ask with --ssl-mode=REQUIRED, over the \
             socket too"
                .into(),
        ),
        _ => Value::Unknown("the server does not say how long its certificate is valid".into()),
    }
    };
    let how = "SHOW GLOBAL STATUS LIKE 'Ssl_server_not_%'";
    note_dates(asking, asking.subject(), (begins, ends), &no_date(), how);
}

/// Of the certificate that one port shows; `no_date` where that is not known.
pub fn note_dates(
    asking: &mut Asking<'_>,
    subject: &str,
    (begins, ends): (Option<i64>, Option<i64>),
    no_date: &Value,
    how: &str,
) {
    let days = |from: i64, to: i64| Value::Number((to - from).div_euclid(SECONDS_PER_DAY));
    let now = asking.now_unix_s();
    let left = ends.map_or_else(|| no_date.clone(), |end| days(now, end));
    let all = begins.zip(ends).map_or_else(|| no_date.clone(), |(begin, end)| days(begin, end));
    let not_yet = match begins {
        Some(begin) if begin > now => {
            Value::Text(format!("the certificate that is served is not valid for another {} s", begin - now))
        }
        Some(_) => Value::Absent,
        None => no_date.clone(),
    };
    asking.note_of(subject, &facts::server::CERT_EXPIRES_IN_DAYS, left, how);
    asking.note_of(subject, &facts::server::CERT_VALIDITY_DAYS, all, how);
    asking.note_of(subject, &facts::server::CERT_NOT_YET_VALID, not_yet, how);
}

fn of_passwords(asking: &mut Asking<'_>) {
    let view = asking.view;
    let number = |name: &str| view.variable(name).and_then(|text| text.parse::<u64>().ok());
    let is_mariadb = asking.capabilities.flavour == Flavour::MariaDb;
    asking.note(
        &facts::server::PASSWORD_RULES,
        Value::Bool(has_password_rules(view, is_mariadb)),
        if is_mariadb { "SHOW PLUGINS" } else { "SHOW GLOBAL VARIABLES LIKE 'validate_password%'" },
    );
    let lifetime = number("default_password_lifetime").map_or_else(
        || Value::Unknown("the server has no default_password_lifetime".into()),
        |days| Value::Number(i64::try_from(days).unwrap_or(i64::MAX)),
    );
    asking.note(
        &facts::server::PASSWORD_LIFETIME_DAYS,
        lifetime,
        &variable_says("default_password_lifetime"),
    );
    let (limit, how) = if is_mariadb {
        (number("max_password_errors").map(|most| most <= PASSWORD_ERRORS_MAX), "max_password_errors")
    } else {
        let threshold = number("component_connection_control.failed_connections_threshold")
            .or_else(|| number("connection_control_failed_connections_threshold"));
        // Without the component there is no such variable.
        (
            Some(threshold.is_some_and(|failures| (1..=PASSWORD_ERRORS_MAX).contains(&failures))),
            "%connection_control%",
        )
    };
    asking.note(
        &facts::server::PASSWORD_GUESSING_LIMITED,
        limit.map_or_else(|| Value::Unknown(NOT_TOLD.into()), Value::Bool),
        &variable_says(how),
    );
    // MySQL has no such variable: there everybody is called so (seen on 9.7.4), and the grants are an error.
    let skipped = match is_on(asking, "skip_grant_tables") {
        Value::Unknown(_) if !is_mariadb => {
            Value::Bool(asking.rights.account == "skip-grants user@skip-grants host")
        }
        value => value,
    };
    asking.note(
        &facts::server::ACCOUNTS_SKIPPED,
        skipped,
        if is_mariadb { "SHOW GLOBAL VARIABLES LIKE 'skip_grant_tables'" } else { "SELECT CURRENT_USER()" },
    );
}

fn of_files_and_logs(asking: &mut Asking<'_>) {
    // With NONE among its outputs the log goes nowhere, whatever else is there.
    let goes_nowhere = asking
        .view
        .variable("log_output")
        .is_some_and(|list| list.split(',').any(|one| one.eq_ignore_ascii_case("NONE")));
    let log = if goes_nowhere { Value::Bool(false) } else { is_on(asking, "general_log") };
    asking.note(
        &facts::server::GENERAL_LOG,
        log,
        "SHOW GLOBAL VARIABLES LIKE 'general_log'; SHOW GLOBAL VARIABLES LIKE 'log_output'",
    );
    if asking.capabilities.flavour != Flavour::MariaDb {
        let raw = is_on(asking, "log_raw");
        asking.note(&facts::server::LOG_RAW, raw, &variable_says("log_raw"));
    }
    // NULL switches it off, and is written so.
    let reach = match asking.view.variable("secure_file_priv") {
        Some("") => Value::Text("every file that the server can read or write".into()),
        Some(dir) if holds(dir, asking.view.variable("datadir").unwrap_or_default()) => {
            Value::Text(format!("{dir}, and with it the data directory"))
        }
        Some(_) => Value::Absent,
        // Seen on MariaDB 10.11.19: without a directory the row is there and empty. MySQL leaves a NULL out.
        None => Value::Absent,
    };
    asking.note(&facts::server::FILE_PRIVILEGE_REACH, reach, &variable_says("secure_file_priv"));
    let local = is_on(asking, "local_infile");
    asking.note(&facts::server::LOCAL_INFILE, local, &variable_says("local_infile"));
}

/// Whether `dir` is `other` or above it.
fn holds(dir: &str, other: &str) -> bool {
    let dir = std::path::Path::new(dir);
    dir == std::path::Path::new("/") || (!other.is_empty() && std::path::Path::new(other).starts_with(dir))
}

/// A plugin or component that checks passwords brings variables of its own, which can also make it take anything.
fn has_password_rules(view: &NodeView, is_mariadb: bool) -> bool {
    let is_long = |name: &str| {
        view.variable(name)
            .and_then(|text| text.parse::<u64>().ok())
            .is_some_and(|least| least >= PASSWORD_LENGTH_MIN)
    };
    if is_mariadb {
        // password_reuse_check compares with older passwords only, and takes any that is new.
        is_long("simple_password_check_minimal_length")
            || view.variable("cracklib_password_check_dictionary").is_some()
    } else {
        // Every policy counts the characters.
        is_long("validate_password.length") || is_long("validate_password_length")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(variables: &[(&str, &str)], status: &[(&str, &str)]) -> NodeView {
        let own = |all: &[(&str, &str)]| {
            all.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
        };
        NodeView { variables: own(variables), status: own(status), at_unix_ms: 0, server_unix_ms: None }
    }

    #[test]
    fn what_is_set_and_not_loaded_is_not_in_use() {
        let set = [("ssl_cipher", "ECDHE-RSA-AES256-GCM-SHA384"), ("ssl_crl", "/nonexistent")];
        let mysql = view(&set, &[("current_tls_cipher", ""), ("current_tls_crl", "")]);
        assert_eq!((in_use(&mysql, "ssl_cipher"), in_use(&mysql, "ssl_crl")), (Some(""), Some("")));
        assert_eq!(in_use(&view(&set, &[]), "ssl_crl"), Some("/nonexistent"));
        assert_eq!(in_use(&view(&[("admin_tls_version", "x")], &[]), "admin_tls_version"), Some("x"));
    }

    #[test]
    fn rules_for_passwords_that_take_any_are_none() {
        for (variables, is_mariadb, expected) in [
            (&[("simple_password_check_minimal_length", "8")][..], true, true),
            (&[("simple_password_check_minimal_length", "0")], true, false),
            (&[("password_reuse_check_interval", "0")], true, false),
            (&[("cracklib_password_check_dictionary", "/usr/share/dict")], true, true),
            (&[("validate_password.policy", "LOW"), ("validate_password.length", "4")], false, false),
            (&[("validate_password.policy", "MEDIUM"), ("validate_password.length", "8")], false, true),
            (&[], false, false),
        ] {
            assert_eq!(has_password_rules(&view(variables, &[]), is_mariadb), expected, "{variables:?}");
        }
    }

    #[test]
    fn a_directory_that_holds_the_data_is_no_limit() {
        for (dir, expected) in
            [("/", true), ("/var/lib/", true), ("/var/lib/mysql/", true), ("/var/lib/mysql-files/", false)]
        {
            assert_eq!(holds(dir, "/var/lib/mysql/"), expected, "{dir}");
        }
    }

    #[test]
    fn a_list_of_cipher_suites_is_judged_name_by_name_and_words_are_not_guessed() {
        let text = |text: &str| Value::Text(text.into());
        assert_eq!(weak_ciphers("ECDHE-RSA-AES128-GCM-SHA256:TLS_AES_128_GCM_SHA256"), Value::Absent);
        assert_eq!(weak_ciphers("ECDHE-RSA-AES128-GCM-SHA256:AES128-SHA"), text("AES128-SHA"));
        assert_eq!(weak_ciphers("ECDHE-RSA-AES128-SHA"), text("ECDHE-RSA-AES128-SHA"));
        for list in ["", "HIGH", "ECDHE-RSA-AES128-GCM-SHA256:!aNULL", "@SECLEVEL=0:AES128-SHA"] {
            assert!(matches!(weak_ciphers(list), Value::Unknown(_)), "{list}");
        }
    }

    #[test]
    fn versions_before_tls_1_2_are_named() {
        let old = |list| old_versions(list).collect::<Vec<_>>();
        assert_eq!(old("TLSv1.2,TLSv1.3"), Vec::<&str>::new());
        assert_eq!(old("TLSv1.0, TLSv1.1,TLSv1.2"), ["TLSv1.0", "TLSv1.1"]);
    }
}
