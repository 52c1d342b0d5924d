//! Channels of replication: what each was told of TLS.

use model::{Fact, Value, facts};
use server::{Capabilities, Flavour};

use crate::Question;
use crate::ask::Refusal;
use crate::asking::Asking;
use crate::grant::Grant;

const FACTS: &[&Fact] =
    &[&facts::cluster::CHANNEL_TLS, &facts::cluster::CHANNEL_VERIFIES, &facts::cluster::CHANNEL_CA];

pub const QUESTION: Question = Question { name: "channels of replication", facts: FACTS, grants, ask };

fn grants(capabilities: &Capabilities) -> Vec<Grant> {
    if capabilities.flavour == Flavour::MariaDb {
        vec![Grant::Global("SLAVE MONITOR")]
    } else {
        vec![Grant::select("performance_schema.replication_connection_configuration")]
    }
}

fn ask(asking: &mut Asking<'_>) -> Result<(), Refusal> {
    let is_mariadb = asking.capabilities.flavour == Flavour::MariaDb;
    // The password stands in neither.
    let sql = if is_mariadb {
        "SHOW ALL SLAVES STATUS"
    } else {
        "SELECT CHANNEL_NAME, HOST, PORT, SSL_ALLOWED, SSL_VERIFY_SERVER_CERTIFICATE, SSL_CA_FILE, SSL_CA_PATH \
         FROM performance_schema.replication_connection_configuration"
    };
    let grants = grants(asking.capabilities);
    let server = asking.subject();
    let rows = match asking.rows_with(&grants, sql)? {
        Ok(rows) => rows,
        Err(why) => {
            asking.unknown(&format!("{server} replication"), FACTS, &why, sql);
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
        let has_ca = Value::Bool(ca.iter().any(|column| !text(column).is_empty()));
        asking.note_of(&subject, &facts::cluster::CHANNEL_VERIFIES, only_with_tls(is(verifies)), sql);
        asking.note_of(&subject, &facts::cluster::CHANNEL_CA, only_with_tls(has_ca), sql);
        asking.note_of(&subject, &facts::cluster::CHANNEL_TLS, is_tls, sql);
    }
    if !any {
        for fact in FACTS {
            asking.note_of(&format!("{server} replication"), fact, Value::Absent, sql);
        }
    }
    Ok(())
}
