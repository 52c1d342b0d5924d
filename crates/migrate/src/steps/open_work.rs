//! What is under way on a server when it is closed for writes, and what became of its tables since they were compared.

use std::collections::BTreeMap;

use change::StepError;
use net::sql_text::text;
use net::{Client, NetError};

use super::{RESUME, asked, fail};
use crate::{End, dialect};

/// Source: MariaDB manual, error 1094, ER_NO_SUCH_THREAD.
const NO_SUCH_THREAD: u16 = 1094;

/// Of each table: when it was made or altered, and its columns, as the server says it.
pub(crate) type Changed = BTreeMap<String, String>;

/// # Errors
/// There are prepared XA transactions: their coordinator believes that they can be committed.
pub(crate) fn prepared(client: &mut Client, end: End) -> Result<(), StepError> {
    let prepared = client.query("XA RECOVER").map_err(asked(end))?;
    if prepared.is_empty() {
        return Ok(());
    }
    Err(fail(
        &format!("the {end} has prepared XA transactions"),
        "they cannot be committed once it is read-only, and their coordinator counts on it",
        "commit them or roll them back (XA RECOVER shows them), then sealion migrate resume; or sealion migrate rollback",
    ))
}

/// Ends the sessions whose open transactions have changed rows. Returns how many. They would fail when they commit; but seen on MariaDB
/// 10.11.19: `XA PREPARE` succeeds on a server that is read-only, where the transaction was begun before.
pub(crate) fn end(client: &mut Client, end: End) -> Result<usize, StepError> {
    // Not tried on MySQL, which has super_read_only.
    if dialect::is_mysql(client) {
        return Ok(0);
    }
    let ask = "SELECT trx_mysql_thread_id FROM information_schema.INNODB_TRX WHERE trx_rows_modified > 0 AND trx_mysql_thread_id > 0 AND \
               trx_mysql_thread_id <> CONNECTION_ID() AND trx_mysql_thread_id IN (SELECT ID FROM information_schema.PROCESSLIST WHERE USER <> \
               'system user' AND USER <> 'event_scheduler')";
    let rows = client.query(ask).map_err(asked(end))?;
    let ids: Vec<u64> = rows.iter().filter_map(|row| row.at(0)?.parse().ok()).collect();
    let mut count = 0;
    for id in ids {
        match client.execute(&format!("KILL CONNECTION {id}")) {
            Ok(_) => count += 1,
            // It has gone by itself.
            Err(NetError::Refused { code: NO_SUCH_THREAD, .. }) => {}
            Err(error) => {
                return Err(fail(
                    &format!("a session of the {end} with an open transaction cannot be ended"),
                    error.in_one_line(),
                    "GRANT CONNECTION ADMIN to the account, or end that transaction; then sealion migrate resume",
                ));
            }
        }
    }
    if rows.is_empty() {
        return Ok(0);
    }
    for _ in 0..100 {
        if client.query(ask).map_err(asked(end))?.is_empty() {
            return Ok(count);
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    Err(fail(
        &format!("sessions of the {end} with open transactions do not end"),
        "they were killed, and still have rows changed after 2 s (a long rollback?)",
        RESUME,
    ))
}

/// # Errors
/// The server cannot be asked.
pub(crate) fn changed(client: &mut Client, schemas: &[String], end: End) -> Result<Changed, StepError> {
    let schemas: Vec<String> = schemas.iter().map(|schema| text(schema)).collect();
    let within = schemas.join(", ");
    let mut all = Changed::new();
    for ask in [
        format!(
            "SELECT TABLE_SCHEMA, TABLE_NAME, CREATE_TIME, TABLE_TYPE, '' FROM information_schema.TABLES WHERE TABLE_SCHEMA IN ({within})"
        ),
        format!(
            "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, COLUMN_DEFAULT FROM information_schema.COLUMNS \
             WHERE TABLE_SCHEMA IN ({within}) ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION"
        ),
    ] {
        let rows = client.query(&ask).map_err(asked(end))?;
        for row in rows.iter() {
            let cell = |at: usize| row.at(at).unwrap_or_default().into_owned();
            let of = all.entry(format!("{}.{}", cell(0), cell(1))).or_default();
            of.push_str(&format!("{:?} {:?} {:?}\n", cell(2), cell(3), cell(4)));
        }
    }
    Ok(all)
}

/// # Errors
/// Tables were changed: what a server makes by itself then (`DEFAULT UUID()`, a new `AUTO_INCREMENT` column) each makes otherwise, and
/// nobody has compared it.
pub(crate) fn same(
    before: &Changed,
    client: &mut Client,
    schemas: &[String],
    end: End,
) -> Result<(), StepError> {
    let now = changed(client, schemas, end)?;
    let names = before.keys().chain(now.keys());
    let mut differ: Vec<&str> =
        names.filter(|name| before.get(*name) != now.get(*name)).map(String::as_str).collect();
    differ.sort_unstable();
    differ.dedup();
    if differ.is_empty() {
        return Ok(());
    }
    Err(fail(
        "tables were changed since they were compared",
        format!("{} on the {end}: values that a server makes by itself may differ now", differ.join(", ")),
        "sealion migrate resume, which compares again, while nobody changes tables",
    ))
}
