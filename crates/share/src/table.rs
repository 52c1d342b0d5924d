//! Rows of a table as `mariadb --batch` prints them, but for NULL, which is `\N` as LOAD DATA reads it.

use net::sql_text::{name, put_row};
use net::{Client, ConnectOptions, NetError, SslMode, Verified};

use crate::ShareError;

/// Handed on when it is full; of a row that is longer there is one of its length.
const BLOCK_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSpec {
    pub schema: String,
    pub table: String,
    /// Empty: all of them.
    pub columns: Vec<String>,
    /// As behind WHERE.
    pub filter: Option<String>,
}

impl TableSpec {
    /// # Errors
    /// The text is not `schema.table`.
    pub fn parse(text: &str) -> Result<(String, String), String> {
        match text.split_once('.') {
            _ if text.chars().any(char::is_control) => Err("give a name without control characters".into()),
            Some((schema, table)) if !schema.is_empty() && !table.is_empty() => {
                Ok((schema.to_owned(), table.to_owned()))
            }
            _ => Err("give it as SCHEMA.TABLE".into()),
        }
    }

    fn select(&self, columns: &[String], what_else: &str) -> String {
        let columns = if columns.is_empty() {
            "*".to_owned()
        } else {
            columns.iter().map(|column| name(column)).collect::<Vec<_>>().join(", ")
        };
        format!("SELECT {columns} FROM {}.{}{what_else}", name(&self.schema), name(&self.table))
    }
}

/// How the rows came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    pub rows: u64,
    /// `TLSv1.3, TLS_AES_256_GCM_SHA384`, or that it was a unix socket.
    pub how: String,
    /// Whether the server has shown that it is the one that was asked for.
    pub is_verified: bool,
}

/// Streams the rows of one snapshot into `put`, the header line first.
///
/// # Errors
/// The server's, that of `put`, and a connection that somebody on the way could read.
pub fn export(
    login: &ConnectOptions,
    spec: &TableSpec,
    put: &mut dyn FnMut(&[u8]) -> Result<(), ShareError>,
) -> Result<Exported, ShareError> {
    let about = format!("{}.{} cannot be read", spec.schema, spec.table);
    let said = |error: NetError| {
        let why = error.in_one_line();
        match error {
            NetError::Refused { code: 1044 | 1045 | 1698, .. } => ShareError::unreachable(
                about.clone(),
                why,
                "check user, password and from which host the account may log in",
            ),
            NetError::Refused { code: 1317 | 1927 | 1969, .. } => ShareError::unreachable(
                about.clone(),
                why,
                "somebody ended it, or it took too long: begin again",
            ),
            NetError::Refused { .. } => ShareError::unreachable(
                about.clone(),
                why,
                "check table, columns and --where, and that the account may SELECT from it",
            ),
            _ => ShareError::unreachable(about.clone(), why, "check host, login and ssl options"),
        }
    };
    let mut login = login.clone();
    if !login.endpoint.is_unix_socket() {
        if login.tls.mode == SslMode::Disabled {
            return Err(ShareError::refused(
                format!("the rows of {}.{} are not fetched in cleartext", spec.schema, spec.table),
                "the options say not to use TLS",
                "give --ssl-mode VERIFY_CA and --ssl-ca FILE; to turn TLS on at the server: sealion plan enable",
            ));
        }
        // With PREFERRED anybody on the way chooses cleartext.
        login.tls.mode = login.tls.mode.max(SslMode::Required);
    }
    let mut client = Client::connect(&login).map_err(said)?;
    let (how, is_verified) = match client.tls() {
        Some(tls) => (format!("{}, {}", tls.version, tls.cipher), tls.verified != Verified::Nothing),
        None => ("a unix socket".to_owned(), true),
    };
    client.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ").map_err(said)?;
    client.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY").map_err(said)?;
    let columns = client.query(&spec.select(&spec.columns, " LIMIT 0")).map_err(said)?.columns;
    let mut block = Vec::with_capacity(BLOCK_BYTES * 2);
    let header = columns.iter().map(|column| Ok::<_, std::convert::Infallible>(Some(column.as_bytes())));
    let Ok(()) = put_row(&mut block, header);
    let filter = spec.filter.as_ref().map_or_else(String::new, |filter| format!(" WHERE {filter}"));
    let (mut rows, mut broken) = (0_u64, None);
    // Named, so that a column that is added meanwhile does not move the others.
    let read = client.query_each(&spec.select(&columns, &filter), |row| {
        if broken.is_some() {
            return;
        }
        if let Err(error) = put_row(&mut block, row) {
            broken = Some(ShareError::internal(about.clone(), error));
            return;
        }
        rows += 1;
        if block.len() >= BLOCK_BYTES {
            if let Err(error) = put(&block) {
                broken = Some(error);
            }
            block.clear();
        }
    });
    read.map_err(said)?;
    if let Some(error) = broken {
        return Err(error);
    }
    put(&block)?;
    // The rows are here; a server that is gone now takes none of them back.
    let _ = client.quit();
    Ok(Exported { rows, how, is_verified })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted() {
        let spec = TableSpec {
            schema: "a`b".into(),
            table: "t".into(),
            columns: vec!["x".into(), "y`".into()],
            filter: None,
        };
        assert_eq!(spec.select(&spec.columns, ""), "SELECT `x`, `y``` FROM `a``b`.`t`");
        assert!(TableSpec::parse("t").is_err() && TableSpec::parse(".t").is_err());
    }
}
