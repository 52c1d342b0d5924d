//! What the server is set to encrypt on its disk, and what it says of it. A setting is no proof of what is in the files.

use model::{Fact, Value, facts};
use server::{Capabilities, Flavour};

use crate::Question;
use crate::ask::Refusal;
use crate::asking::{Asking, missing};
use crate::grant::Grant;

use super::settings::{is_on, number, variable_says};

pub const QUESTION: Question = Question {
    name: "encryption at rest",
    facts: &[
        &facts::rest::TABLESPACES_CLEAR,
        &facts::rest::NEW_TABLES_ENCRYPTED,
        &facts::rest::REDO_ENCRYPTED,
        &facts::rest::UNDO_ENCRYPTED,
        &facts::rest::BINLOG_ENCRYPTED,
        &facts::rest::BINLOGS_CLEAR,
        &facts::rest::TEMPORARY_FILES_ENCRYPTED,
        &facts::rest::ARIA_ENCRYPTED,
        &facts::rest::KEY_THREADS,
        &facts::rest::BLOCK_MODE_ECB,
        &facts::rest::TEMPORARY_TABLES_ENCRYPTED,
        &facts::rest::ROTATE_KEY_AGE,
        &facts::rest::ENCRYPTION_CHECK,
        &facts::rest::INNODB_TEMPORARY_ENCRYPTED,
        &facts::rest::KEY_PROVIDER,
        &facts::rest::FILE_KEY_ENCRYPTED,
        &facts::rest::FILE_KEY_ALGORITHM,
        &facts::rest::OTHER_ENGINES,
        &facts::rest::TABLES_OPTED_OUT,
        &facts::rest::SCHEMAS_CLEAR,
        &facts::rest::SHARED_TABLESPACE,
        &facts::rest::KEY_IN_DATADIR,
    ],
    grants,
    ask,
};

/// So many tablespaces or files are named.
const NAMED_MAX: usize = 8;
const KEYRING: &str = "performance_schema.keyring_component_status";

fn grants(capabilities: &Capabilities) -> Vec<Grant> {
    let mut grants = vec![Grant::Global("PROCESS"), Grant::Global("SHOW VIEW")];
    if capabilities.flavour != Flavour::MariaDb {
        grants.push(Grant::Global("REPLICATION CLIENT"));
        grants.push(Grant::select(KEYRING));
        grants.push(Grant::Global("SHOW DATABASES"));
    }
    grants
}

fn ask(asking: &mut Asking<'_>) -> Result<(), Refusal> {
    let shared = match is_on(asking, "innodb_file_per_table") {
        Value::Bool(is_own) => Value::Bool(!is_own),
        other => other,
    };
    asking.note(&facts::rest::SHARED_TABLESPACE, shared, &variable_says("innodb_file_per_table"));
    let engines = other_engines(asking)?;
    asking.note(&facts::rest::OTHER_ENGINES, engines, OTHER_ENGINES);
    asking.key_files = key_files(asking)?;
    let inside = match (&asking.key_files, asking.view.variable("datadir")) {
        (Ok(files), _) if files.is_empty() => Value::Absent,
        (Ok(files), Some(datadir)) => {
            let inside: Vec<String> = files
                .iter()
                .filter(|path| path.starts_with(datadir))
                .map(|path| path.display().to_string())
                .collect();
            some(inside.into_iter())
        }
        (Ok(_), None) => Value::Unknown("the server does not name its data directory".into()),
        (Err(why), _) => Value::Unknown(why.clone()),
    };
    asking.note(&facts::rest::KEY_IN_DATADIR, inside, &variable_says("file_key_management_%"));
    if asking.capabilities.flavour == Flavour::MariaDb { of_mariadb(asking) } else { of_mysql(asking) }
}

/// Schemas of the server itself have tables of other engines, and no data of anybody.
const OTHER_ENGINES: &str = "SELECT TABLE_SCHEMA, TABLE_NAME, ENGINE FROM information_schema.TABLES \
     WHERE TABLE_TYPE = 'BASE TABLE' AND ENGINE NOT IN ('InnoDB', 'Aria', 'MEMORY', 'BLACKHOLE', 'PERFORMANCE_SCHEMA', 'SEQUENCE') \
     AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema')";

/// Without SHOW VIEW the view lists fewer tables, and nothing says so.
fn other_engines(asking: &mut Asking<'_>) -> Result<Value, Refusal> {
    let needs = [Grant::Global("SHOW VIEW")];
    if !asking.rights.has("SHOW VIEW") {
        return Ok(Value::Unknown(missing(&needs)));
    }
    Ok(match asking.rows_with(&needs, OTHER_ENGINES)? {
        Ok(rows) => some(rows.iter().map(|row| {
            let text = |at: usize| row.at(at).unwrap_or_default();
            format!("{}.{} ({})", text(0), text(1), text(2))
        })),
        Err(why) => Value::Unknown(why),
    })
}

/// What a table was made with stands in `CREATE_OPTIONS`, in the letters and marks of whoever made it: `` `ENCRYPTED`='NO' ``, `encrypted=no`.
const OPTED_OUT: &str = "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES \
     WHERE ENGINE = 'InnoDB' AND REPLACE(REPLACE(REPLACE(LOWER(CREATE_OPTIONS), CHAR(96), ''), CHAR(39), ''), CHAR(34), '') \
     RLIKE '(^| )encrypted=no( |$)'";

fn opted_out(asking: &mut Asking<'_>) -> Result<Value, Refusal> {
    // Without it the view lists fewer tables, and nothing says so.
    let needs = [Grant::Global("SHOW VIEW")];
    if !asking.rights.has("SHOW VIEW") {
        return Ok(Value::Unknown(missing(&needs)));
    }
    Ok(match asking.rows_with(&needs, OPTED_OUT)? {
        Ok(rows) => some(rows.iter().map(|row| {
            let text = |at: usize| row.at(at).unwrap_or_default();
            format!("{}.{}", text(0), text(1))
        })),
        Err(why) => Value::Unknown(why),
    })
}

/// Where keys for data lie: of MariaDB's file_key_management by its variables, of a keyring component by its status.
///
/// Source: MySQL manual, The keyring_component_status Table: `Data_file` of component_keyring_file.
fn key_files(asking: &mut Asking<'_>) -> Result<Result<Vec<std::path::PathBuf>, String>, Refusal> {
    let datadir = std::path::Path::new(asking.view.variable("datadir").unwrap_or_default());
    if asking.capabilities.flavour == Flavour::MariaDb {
        let filekey =
            asking.view.variable("file_key_management_filekey").and_then(|key| key.strip_prefix("FILE:"));
        let files = [asking.view.variable("file_key_management_filename"), filekey];
        let named = files.into_iter().flatten().filter(|path| !path.is_empty());
        return Ok(Ok(named.map(|path| datadir.join(path)).collect()));
    }
    let sql =
        "SELECT STATUS_VALUE FROM performance_schema.keyring_component_status WHERE STATUS_KEY = 'Data_file'";
    Ok(asking.rows_with(&[Grant::select(KEYRING)], sql)?.map(|rows| {
        let named = rows.iter().filter_map(|row| row.at(0)).filter(|path| path.contains('/'));
        named.map(|path| datadir.join(path.as_ref())).collect()
    }))
}

/// Without SHOW DATABASES the view lists fewer schemas.
fn schemas_clear(asking: &mut Asking<'_>) -> Result<(), Refusal> {
    let sql = "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE DEFAULT_ENCRYPTION = 'NO' \
               AND SCHEMA_NAME NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema')";
    let needs = [Grant::Global("SHOW DATABASES")];
    let value = if asking.rights.has("SHOW DATABASES") {
        match asking.rows_with(&needs, sql)? {
            Ok(rows) => some(rows.iter().filter_map(|row| row.at(0).map(std::borrow::Cow::into_owned))),
            Err(why) => Value::Unknown(why),
        }
    } else {
        Value::Unknown(missing(&needs))
    };
    asking.note(&facts::rest::SCHEMAS_CLEAR, value, sql);
    Ok(())
}

fn of_mariadb(asking: &mut Asking<'_>) -> Result<(), Refusal> {
    for (fact, variable) in [
        (&facts::rest::REDO_ENCRYPTED, "innodb_encrypt_log"),
        (&facts::rest::TEMPORARY_FILES_ENCRYPTED, "encrypt_tmp_files"),
        (&facts::rest::ARIA_ENCRYPTED, "aria_encrypt_tables"),
        (&facts::rest::TEMPORARY_TABLES_ENCRYPTED, "encrypt_tmp_disk_tables"),
        (&facts::rest::INNODB_TEMPORARY_ENCRYPTED, "innodb_encrypt_temporary_tables"),
    ] {
        note_switch(asking, fact, variable);
    }
    note_binlog(asking, "encrypt_binlog");
    // FORCE refuses a table without; ON only takes it for the default.
    let new_tables = match asking.view.variable("innodb_encrypt_tables") {
        Some("FORCE") => Value::Bool(true),
        _ => is_on(asking, "innodb_encrypt_tables"),
    };
    let how = variable_says("innodb_encrypt_tables");
    for (fact, variable) in [
        (&facts::rest::KEY_THREADS, "innodb_encryption_threads"),
        (&facts::rest::ROTATE_KEY_AGE, "innodb_encryption_rotate_key_age"),
    ] {
        let value = match (&new_tables, number(asking.view, variable)) {
            (Value::Bool(true), Some(set)) => Value::Number(set),
            (Value::Bool(true), None) => Value::Unknown(format!("the server has no {variable}")),
            (Value::Bool(false), _) => Value::Absent,
            (other, _) => other.clone(),
        };
        asking.note(fact, value, &format!("{how}; {}", variable_says(variable)));
    }
    asking.note(&facts::rest::NEW_TABLES_ENCRYPTED, new_tables, &how);
    let opted_out = opted_out(asking)?;
    asking.note(&facts::rest::TABLES_OPTED_OUT, opted_out, OPTED_OUT);
    // Its name is stored beside the variables that it brings.
    let (encrypted, counter_mode) = if asking.view.variable("file_key_management_filename").is_none() {
        (Value::Absent, Value::Absent)
    } else {
        let of = |name: &str, is_good: fn(&str) -> bool| {
            asking.view.variable(name).map_or_else(
                || Value::Unknown(format!("the server has no {name}")),
                |text| Value::Bool(is_good(text)),
            )
        };
        (
            of("file_key_management_filekey", |text| !text.is_empty()),
            of("file_key_management_encryption_algorithm", |text| text.eq_ignore_ascii_case("aes_ctr")),
        )
    };
    asking.note(&facts::rest::FILE_KEY_ENCRYPTED, encrypted, &variable_says("file_key_management_filekey"));
    let how = variable_says("file_key_management_encryption_algorithm");
    asking.note(&facts::rest::FILE_KEY_ALGORITHM, counter_mode, &how);

    let sql = "SELECT COUNT(*) FROM information_schema.PLUGINS \
               WHERE PLUGIN_TYPE = 'ENCRYPTION' AND PLUGIN_STATUS = 'ACTIVE'";
    let value = is_counted(asking.rows(sql)?);
    asking.note(&facts::rest::KEY_PROVIDER, value, sql);
    // Source: MariaDB manual; tried on 10.11.19. The view has what was encrypted once only; scheme 1 and a key version say that it is.
    let sql = "SELECT t.NAME FROM information_schema.INNODB_SYS_TABLESPACES t \
               LEFT JOIN information_schema.INNODB_TABLESPACES_ENCRYPTION e ON e.SPACE = t.SPACE \
               WHERE t.NAME <> 'innodb_temporary' \
               AND (COALESCE(e.ENCRYPTION_SCHEME, 0) <> 1 OR COALESCE(e.MIN_KEY_VERSION, 0) = 0)";
    note_tablespaces(asking, sql)
}

fn of_mysql(asking: &mut Asking<'_>) -> Result<(), Refusal> {
    for (fact, variable) in [
        (&facts::rest::REDO_ENCRYPTED, "innodb_redo_log_encrypt"),
        (&facts::rest::UNDO_ENCRYPTED, "innodb_undo_log_encrypt"),
        (&facts::rest::NEW_TABLES_ENCRYPTED, "default_table_encryption"),
        (&facts::rest::ENCRYPTION_CHECK, "table_encryption_privilege_check"),
    ] {
        note_switch(asking, fact, variable);
    }
    schemas_clear(asking)?;
    note_binlog(asking, "binlog_encryption");
    let mode = match asking.view.variable("block_encryption_mode") {
        Some(mode) if mode.to_ascii_lowercase().ends_with("-ecb") => Value::Text(mode.to_owned()),
        Some(_) => Value::Absent,
        None => Value::Unknown("the server has no block_encryption_mode".into()),
    };
    asking.note(&facts::rest::BLOCK_MODE_ECB, mode, &variable_says("block_encryption_mode"));
    let clear = old_binlogs(asking)?;
    asking.note(&facts::rest::BINLOGS_CLEAR, clear, "SHOW BINARY LOGS");

    let sql = "SELECT COUNT(*) FROM performance_schema.keyring_component_status \
               WHERE STATUS_KEY = 'Component_status' AND STATUS_VALUE = 'Active'";
    let component = is_counted(asking.rows_with(&[Grant::select(KEYRING)], sql)?);
    let value = if component == Value::Bool(true) {
        component
    } else {
        // Plugins of before 8.4.
        let plugins = "SELECT COUNT(*) FROM information_schema.PLUGINS \
                       WHERE PLUGIN_TYPE = 'KEYRING' AND PLUGIN_STATUS = 'ACTIVE'";
        match is_counted(asking.rows(plugins)?) {
            Value::Bool(true) => Value::Bool(true),
            _ => component,
        }
    };
    asking.note(&facts::rest::KEY_PROVIDER, value, sql);
    // What is temporary follows the redo and undo logs' keys; undo has a rule of its own.
    let sql = "SELECT NAME FROM information_schema.INNODB_TABLESPACES \
               WHERE ENCRYPTION = 'N' AND SPACE_TYPE <> 'Undo' AND NAME <> 'innodb_temporary'";
    note_tablespaces(asking, sql)
}

fn note_switch(asking: &mut Asking<'_>, fact: &'static Fact, variable: &str) {
    let value = is_on(asking, variable);
    asking.note(fact, value, &variable_says(variable));
}

fn note_binlog(asking: &mut Asking<'_>, variable: &str) {
    let value = match is_on(asking, "log_bin") {
        Value::Bool(false) => Value::Absent,
        Value::Bool(true) => is_on(asking, variable),
        other => other,
    };
    let how = format!("{}; {}", variable_says("log_bin"), variable_says(variable));
    asking.note(&facts::rest::BINLOG_ENCRYPTED, value, &how);
}

/// Without PROCESS these views are an error on both flavours.
fn note_tablespaces(asking: &mut Asking<'_>, sql: &str) -> Result<(), Refusal> {
    let needs = [Grant::Global("PROCESS")];
    let value = if asking.rights.has("PROCESS") {
        match asking.rows_with(&needs, sql)? {
            Ok(rows) => some(rows.iter().filter_map(|row| row.at(0).map(std::borrow::Cow::into_owned))),
            Err(why) => Value::Unknown(why),
        }
    } else {
        Value::Unknown(missing(&needs))
    };
    asking.note(&facts::rest::TABLESPACES_CLEAR, value, sql);
    Ok(())
}

/// Source: MySQL manual, SHOW BINARY LOGS: the column Encrypted, since 8.0.14.
fn old_binlogs(asking: &mut Asking<'_>) -> Result<Value, Refusal> {
    match is_on(asking, "log_bin") {
        Value::Bool(true) => {}
        Value::Bool(false) => return Ok(Value::Absent),
        other => return Ok(other),
    }
    Ok(match asking.rows_with(&[Grant::Global("REPLICATION CLIENT")], "SHOW BINARY LOGS")? {
        Err(why) => Value::Unknown(why),
        Ok(rows) => {
            let mut clear = Vec::new();
            for row in rows.iter() {
                match (row.text("Log_name"), row.text("Encrypted").as_deref()) {
                    (Some(name), Some("No")) => clear.push(name.into_owned()),
                    (Some(_), Some("Yes")) => {}
                    _ => {
                        return Ok(Value::Unknown("the server does not say which logs are encrypted".into()));
                    }
                }
            }
            some(clear.into_iter())
        }
    })
}

/// One number, and whether it is more than none.
fn is_counted(rows: Result<net::Rows, String>) -> Value {
    match rows {
        Err(why) => Value::Unknown(why),
        Ok(rows) => rows.scalar().and_then(|text| text.parse::<u64>().ok()).map_or_else(
            || Value::Unknown("the server's answer is no number".into()),
            |count| Value::Bool(count > 0),
        ),
    }
}

/// The first of them, and how many more there are.
pub(crate) fn some(all: impl Iterator<Item = String>) -> Value {
    let all: Vec<String> = all.collect();
    if all.is_empty() {
        return Value::Absent;
    }
    let (named, more) = all.split_at(all.len().min(NAMED_MAX));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    Value::Text(format!("{}{more}", named.join(", ")))
}
