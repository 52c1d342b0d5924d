//! Whether every table can be read with the keys that the server has now. What a file says of its keys is a number: with other bytes under the
//! same number its pages look as before, and only the server finds out.

use net::{Client, NetError};

use super::{LOCK_WAIT_S, TableName};

/// More than this were not seen on a server.
const TABLES_MAX: usize = 1_000_000;
/// `ER_BAD_DB_ERROR`, `ER_NO_SUCH_TABLE`: dropped since it was listed.
const GONE: [u16; 2] = [1049, 1146];

/// A table of which no row could be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotRead {
    pub table: TableName,
    /// The server's words.
    pub why: String,
}

impl NotRead {
    /// A session holds it, and it may be as readable as others.
    pub fn is_held(&self) -> bool {
        self.why.starts_with(HELD)
    }
}

/// `ER_LOCK_WAIT_TIMEOUT`
const HELD: &str = "error 1205:";

/// Asks each table of InnoDB and Aria for a row.
///
/// # Errors
/// It does not list them, or answers no more.
pub fn not_read(client: &mut Client) -> Result<Vec<NotRead>, NetError> {
    client.query(&format!("SET SESSION lock_wait_timeout={LOCK_WAIT_S}"))?;
    // Of what is looked for here, only the engine: with any more the table would be opened for it, and be left out if that fails.
    let tables = client.query(
        "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE ENGINE IN ('InnoDB', 'Aria') AND TABLE_SCHEMA NOT IN \
         ('information_schema', 'performance_schema') AND TABLE_TYPE <> 'TEMPORARY'",
    )?;
    let mut not_read = Vec::new();
    for row in tables.iter().take(TABLES_MAX) {
        let [schema, table] = [0, 1].map(|at| row.at(at).unwrap_or_default().into_owned());
        let table = TableName { schema, table };
        match client.query(&format!("SELECT 1 FROM {} LIMIT 1", table.quoted())) {
            Ok(_) => {}
            Err(NetError::Refused { code, .. }) if GONE.contains(&code) => {}
            Err(NetError::Refused { code, message, .. }) => {
                not_read.push(NotRead { table, why: format!("error {code}: {message}") });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(not_read)
}
