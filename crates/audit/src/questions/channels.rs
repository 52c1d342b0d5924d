//! Channels of replication: what each was told of TLS.

use model::{Fact, Value, facts};
use server::{Capabilities, Flavour};

use crate::Question;
use crate::ask::Refusal;
use crate::asking::Asking;
use crate::grant::Grant;

const FACTS: &[&Fact] = &[
    &facts::cluster::CHANNEL_TLS,
    &facts::cluster::CHANNEL_VERIFIES,
    &facts::cluster::CHANNEL_CA,
    &facts::cluster::CHANNEL_ASKS_KEY,
];
const NOTED: &[&Fact] = &[
    &facts::cluster::CHANNEL_TLS,
    &facts::cluster::CHANNEL_VERIFIES,
    &facts::cluster::CHANNEL_CA,
    &facts::cluster::CHANNEL_ASKS_KEY,
    &facts::cluster::REPORT_PASSWORD,
    &facts::cluster::SERVER_IDENTITY,
    &facts::cluster::PASSES_ON_CHANGES,
    &facts::cluster::CHANNEL_SOURCE,
    &facts::cluster::CHANNEL_FILTERS,
];
const OF_SOURCE: &[&Fact] = &[&facts::cluster::CHANNEL_SOURCE, &facts::cluster::CHANNEL_FILTERS];
/// MariaDB has no password plugin that hands out a key.
const FACTS_OF_MARIADB: &[&Fact] =
    &[&facts::cluster::CHANNEL_TLS, &facts::cluster::CHANNEL_VERIFIES, &facts::cluster::CHANNEL_CA];

pub const QUESTION: Question = Question { name: "channels of replication", facts: NOTED, grants, ask };

fn grants(capabilities: &Capabilities) -> Vec<Grant> {
    if capabilities.flavour == Flavour::MariaDb {
        vec![Grant::Global("SLAVE MONITOR")]
    } else {
        vec![
            Grant::select("performance_schema.replication_connection_configuration"),
            Grant::Global("REPLICATION CLIENT"),
        ]
    }
}

fn ask(asking: &mut Asking<'_>) -> Result<(), Refusal> {
    let reported = asking.view.variable("report_password").map_or_else(
        || Value::Unknown("the server has no report_password".into()),
        |value| Value::Bool(!value.is_empty()),
    );
    asking.note(&facts::cluster::REPORT_PASSWORD, reported, "SHOW GLOBAL VARIABLES LIKE 'report_password'");
    let is_mariadb = asking.capabilities.flavour == Flavour::MariaDb;
    note_identity(asking, is_mariadb);
    note_sources(asking, is_mariadb)?;
    // The password stands in neither.
    let sql = if is_mariadb {
        "SHOW ALL SLAVES STATUS"
    } else {
        "SELECT CHANNEL_NAME, HOST, PORT, SSL_ALLOWED, SSL_VERIFY_SERVER_CERTIFICATE, SSL_CA_FILE, SSL_CA_PATH, \
         GET_PUBLIC_KEY FROM performance_schema.replication_connection_configuration"
    };
    // Source: MariaDB manual, Zero-Configuration TLS, from 11.4 on.
    let by_password = is_mariadb && asking.capabilities.version >= (11, 4, 0);
    let grants = if is_mariadb {
        vec![Grant::Global("SLAVE MONITOR")]
    } else {
        vec![Grant::select("performance_schema.replication_connection_configuration")]
    };
    let noted = if is_mariadb { FACTS_OF_MARIADB } else { FACTS };
    let server = asking.subject();
    let rows = match asking.rows_with(&grants, sql)? {
        Ok(rows) => rows,
        Err(why) => {
            asking.unknown(&format!("{server} replication"), noted, &why, sql);
            return Ok(());
        }
    };
    // MySQL lists a channel that was never told a source, with an empty host.
    let (name, host, tls, verifies, ca) = if is_mariadb {
        (
            "Connection_name",
            "Master_Host",
            "Master_SSL_Allowed",
            "Master_SSL_Verify_Server_Cert",
            ["Master_SSL_CA_File", "Master_SSL_CA_Path"],
        )
    } else {
        (
            "CHANNEL_NAME",
            "HOST",
            "SSL_ALLOWED",
            "SSL_VERIFY_SERVER_CERTIFICATE",
            ["SSL_CA_FILE", "SSL_CA_PATH"],
        )
    };
    let mut any = false;
    for row in rows.iter() {
        let text = |column: &str| row.text(column).unwrap_or_default();
        if text(host).is_empty() {
            continue;
        }
        any = true;
        let subject = format!("{server} channel '{}' from {}", text(name), text(host));
        let is = |column: &str| match text(column).to_ascii_uppercase().as_str() {
            "YES" => Value::Bool(true),
            "NO" => Value::Bool(false),
            other => Value::Unknown(format!("{column} is \"{other}\"")),
        };
        let is_tls = is(tls);
        let only_with_tls = |value: Value| if is_tls == Value::Bool(false) { Value::Absent } else { value };
        let has_ca = ca.iter().any(|column| !text(column).is_empty());
        let is_verifying = is(verifies);
        if !is_mariadb {
            let asks = if is_tls == Value::Bool(true) { Value::Bool(false) } else { is("GET_PUBLIC_KEY") };
            asking.note_of(&subject, &facts::cluster::CHANNEL_ASKS_KEY, asks, sql);
        }
        // Seen on 11.8: the certificate is verified by the password that both sides know, so that no CA is missed.
        let has_ca = if !has_ca && by_password && is_verifying == Value::Bool(true) {
            Value::Absent
        } else {
            Value::Bool(has_ca)
        };
        // Seen on 10.11.19 and 11.8: MASTER_SSL=1 without verification is a wish. (MySQL refuses such a source.)
        let may_be_cleartext = is_mariadb && is_tls == Value::Bool(true) && is_verifying != Value::Bool(true);
        let tls = if may_be_cleartext {
            Value::Unknown(
                "MariaDB falls back to cleartext where it does not verify its source and this offers no TLS: \
                 SL3012 first; sealion status shows what the channel uses"
                    .into(),
            )
        } else {
            is_tls.clone()
        };
        asking.note_of(&subject, &facts::cluster::CHANNEL_VERIFIES, only_with_tls(is_verifying), sql);
        asking.note_of(&subject, &facts::cluster::CHANNEL_CA, only_with_tls(has_ca), sql);
        asking.note_of(&subject, &facts::cluster::CHANNEL_TLS, tls, sql);
    }
    if !any {
        for fact in noted {
            asking.note_of(&format!("{server} replication"), fact, Value::Absent, sql);
        }
    }
    Ok(())
}

/// How the servers that replicate from it name it.
fn note_identity(asking: &mut Asking<'_>, is_mariadb: bool) {
    let name = if is_mariadb { "server_id" } else { "server_uuid" };
    let identity = match (asking.view.variable("port"), asking.view.variable(name)) {
        (Some(port), Some(id)) => Value::Text(identity(port, id)),
        _ => Value::Unknown(format!("the server does not say its port and {name}")),
    };
    let how = format!("SHOW GLOBAL VARIABLES LIKE 'port'; SHOW GLOBAL VARIABLES LIKE '{name}'");
    asking.note(&facts::cluster::SERVER_IDENTITY, identity, &how);
    let name = if asking.view.variable("log_slave_updates").is_some() {
        "log_slave_updates"
    } else {
        "log_replica_updates"
    };
    let passes_on = super::settings::is_on(asking, name);
    asking.note(&facts::cluster::PASSES_ON_CHANGES, passes_on, &super::settings::variable_says(name));
}

fn identity(port: &str, id: &str) -> String {
    format!("port {port}, id {id}")
}

/// Options by which a replica leaves out what its source wrote.
const FILTERS: &[&str] = &[
    "Replicate_Do_DB",
    "Replicate_Ignore_DB",
    "Replicate_Do_Table",
    "Replicate_Ignore_Table",
    "Replicate_Wild_Do_Table",
    "Replicate_Wild_Ignore_Table",
    "Replicate_Ignore_Server_Ids",
    "Replicate_Do_Domain_Ids",
    "Replicate_Ignore_Domain_Ids",
];

/// From which servers it replicates, and what it leaves out.
fn note_sources(asking: &mut Asking<'_>, is_mariadb: bool) -> Result<(), Refusal> {
    let (sql, grant) = if is_mariadb {
        ("SHOW ALL SLAVES STATUS", "SLAVE MONITOR")
    } else {
        ("SHOW REPLICA STATUS", "REPLICATION CLIENT")
    };
    let server = asking.subject();
    let none = format!("{server} replication");
    let rows = match asking.rows_with(&[Grant::Global(grant)], sql)? {
        Ok(rows) => rows,
        Err(why) => {
            asking.unknown(&none, OF_SOURCE, &why, sql);
            return Ok(());
        }
    };
    let [running, file, received] = if is_mariadb {
        ["Slave_IO_Running", "Master_Log_File", "Gtid_IO_Pos"]
    } else {
        ["Replica_IO_Running", "Source_Log_File", "Retrieved_Gtid_Set"]
    };
    let [name, host, port, id, cert, key] = if is_mariadb {
        [
            "Connection_name",
            "Master_Host",
            "Master_Port",
            "Master_Server_Id",
            "Master_SSL_Cert",
            "Master_SSL_Key",
        ]
    } else {
        ["Channel_Name", "Source_Host", "Source_Port", "Source_UUID", "Source_SSL_Cert", "Source_SSL_Key"]
    };
    let mut any = false;
    for row in rows.iter() {
        let text = |column: &str| row.text(column).unwrap_or_default();
        if text(host).is_empty() {
            continue;
        }
        any = true;
        let subject = format!("{server} channel '{}' from {}", text(name), text(host));
        let is_idle = text(running) == "No" && text(file).is_empty() && text(received).is_empty();
        let source = match text(id) {
            _ if is_idle => Value::Absent,
            // MariaDB forgets it when it ends.
            id if id.is_empty() || id == "0" => {
                Value::Unknown("the channel has not been connected since the server started".into())
            }
            id => Value::Text(identity(&text(port), &id)),
        };
        asking.channel_files.push([cert, key].map(|column| text(column).into_owned().into()));
        let filters = FILTERS.iter().filter_map(|filter| {
            let value = text(filter);
            (!value.is_empty()).then(|| format!("{filter}={value}"))
        });
        let filters = super::rest::some(filters);
        asking.note_of(&subject, &facts::cluster::CHANNEL_SOURCE, source, sql);
        asking.note_of(&subject, &facts::cluster::CHANNEL_FILTERS, filters, sql);
    }
    if !any {
        for fact in OF_SOURCE {
            asking.note_of(&none, fact, Value::Absent, sql);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Script;

    #[test]
    fn what_a_channel_is_set_to_is_told_by_flavour_and_version() {
        let check = |version: &str, [tls, verifies, ca]: [&str; 3]| {
            let row: &[Option<&str>] = &["c", "h", "3306", tls, verifies, ca, "", "YES"].map(Some);
            let mut script = Script::new(&[("", &[row])]);
            // MariaDB's statement names no columns.
            script.columns = Some(if version.contains("MariaDB") {
                vec![
                    "Connection_name",
                    "Master_Host",
                    "Master_Port",
                    "Master_SSL_Allowed",
                    "Master_SSL_Verify_Server_Cert",
                    "Master_SSL_CA_File",
                    "Master_SSL_CA_Path",
                    "Something_else",
                ]
            } else {
                vec![
                    "CHANNEL_NAME",
                    "HOST",
                    "PORT",
                    "SSL_ALLOWED",
                    "SSL_VERIFY_SERVER_CERTIFICATE",
                    "SSL_CA_FILE",
                    "SSL_CA_PATH",
                    "GET_PUBLIC_KEY",
                ]
            });
            let capabilities = Capabilities::of(version, "", false);
            let (view, rights, mut seen) = Default::default();
            let mut asking = Asking::new(&mut script, "n1", &view, &capabilities, &rights, &mut seen, 0);
            ask(&mut asking).expect("it answers");
            let word = |fact: &Fact| match seen.newest("n1 channel 'c' from h", fact).map(|one| &one.value) {
                Some(Value::Unknown(_)) => "unknown".to_owned(),
                Some(value) => value.to_string(),
                None => "not noted".to_owned(),
            };
            let noted = if version.contains("MariaDB") { FACTS_OF_MARIADB } else { FACTS };
            noted.iter().map(|fact| word(fact)).collect::<Vec<_>>().join(" ")
        };
        let absent = Value::Absent.to_string();
        assert_eq!(check("10.11.19-MariaDB", ["Yes", "No", ""]), "unknown no no");
        assert_eq!(check("10.11.19-MariaDB", ["Yes", "Yes", ""]), "yes yes no");
        assert_eq!(check("11.8.2-MariaDB", ["Yes", "Yes", ""]), format!("yes yes {absent}"));
        assert_eq!(check("11.8.2-MariaDB", ["Yes", "No", ""]), "unknown no no");
        assert_eq!(check("9.7.4", ["YES", "NO", "/ca.pem"]), "yes no yes no");
        assert_eq!(check("9.7.4", ["NO", "NO", ""]), format!("no {absent} {absent} yes"));
    }
}
