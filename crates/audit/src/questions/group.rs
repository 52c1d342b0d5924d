//! Group Replication, CLONE and state transfers of Galera: what their settings say of TLS. Their plugins bring the variables.

use model::{Value, facts};
use server::Flavour;

use crate::Question;
use crate::asking::Asking;

use super::settings::{is_on, variable_says};

pub const QUESTION: Question = Question {
    name: "group replication and clones",
    facts: &[
        &facts::cluster::SST_PASSWORD,
        &facts::cluster::GROUP_NAMED,
        &facts::cluster::GROUP_TLS,
        &facts::cluster::GROUP_VERIFIES,
        &facts::cluster::GROUP_RECOVERY_TLS,
        &facts::cluster::GROUP_RECOVERY_VERIFIES,
        &facts::cluster::GROUP_ASKS_KEY,
        &facts::cluster::GROUP_ALLOWLIST,
        &facts::cluster::CLONE_CA,
    ],
    grants: |_| vec![],
    ask: |asking| {
        if asking.capabilities.galera {
            // The password is never shown: the server answers with asterisks.
            let value = match asking.view.variable("wsrep_sst_auth") {
                Some(text) => Value::Bool(!text.is_empty()),
                None => Value::Absent,
            };
            asking.note(&facts::cluster::SST_PASSWORD, value, &variable_says("wsrep_sst_auth"));
        }
        if asking.capabilities.flavour != Flavour::MariaDb {
            of_group(asking);
            let ca = asking.view.variable("clone_ssl_ca");
            let ca = ca.map_or(Value::Absent, |path| Value::Bool(!path.is_empty()));
            asking.note(&facts::cluster::CLONE_CA, ca, &variable_says("clone_ssl_ca"));
        }
        Ok(())
    },
};

fn of_group(asking: &mut Asking<'_>) {
    let (tls, verifies) = match asking.view.variable("group_replication_ssl_mode") {
        None => (Value::Absent, Value::Absent),
        Some("DISABLED") => (Value::Bool(false), Value::Absent),
        Some("REQUIRED") => (Value::Bool(true), Value::Bool(false)),
        Some("VERIFY_CA" | "VERIFY_IDENTITY") => (Value::Bool(true), Value::Bool(true)),
        Some(other) => {
            let unknown = Value::Unknown(format!("group_replication_ssl_mode is \"{other}\""));
            (unknown.clone(), unknown)
        }
    };
    let named = asking.view.variable("group_replication_group_name");
    let named = named.map_or(Value::Absent, |name| Value::Bool(!name.is_empty()));
    asking.note(&facts::cluster::GROUP_NAMED, named, &variable_says("group_replication_group_name"));
    let how = variable_says("group_replication_ssl_mode");
    asking.note(&facts::cluster::GROUP_TLS, tls, &how);
    asking.note(&facts::cluster::GROUP_VERIFIES, verifies, &how);
    let of = |name: &str| match asking.view.variable(name) {
        None => Value::Absent,
        Some(_) => is_on(asking, name),
    };
    let recovery = of("group_replication_recovery_use_ssl");
    let verifies = match &recovery {
        Value::Bool(true) => of("group_replication_recovery_ssl_verify_server_cert"),
        Value::Bool(false) => Value::Absent,
        other => other.clone(),
    };
    let asks_key = of("group_replication_recovery_get_public_key");
    let allowlist = match asking
        .view
        .variable("group_replication_ip_allowlist")
        .or_else(|| asking.view.variable("group_replication_ip_whitelist"))
    {
        Some(list) if list.eq_ignore_ascii_case("automatic") => {
            Value::Text("AUTOMATIC: every host of a private network".into())
        }
        _ => Value::Absent,
    };
    let how = variable_says("group_replication_recovery_%");
    asking.note(&facts::cluster::GROUP_RECOVERY_TLS, recovery, &how);
    asking.note(&facts::cluster::GROUP_RECOVERY_VERIFIES, verifies, &how);
    asking.note(&facts::cluster::GROUP_ASKS_KEY, asks_key, &how);
    asking.note(&facts::cluster::GROUP_ALLOWLIST, allowlist, &variable_says("group_replication_ip_%"));
}
