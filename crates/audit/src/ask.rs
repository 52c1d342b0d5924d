//! Who is asked.

use net::{Client, NetError, Rows};

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A privilege is missing.
    #[error("the server refuses it (error {code}: {message})")]
    Denied { code: u16, message: String },
    /// It has no such table, variable or statement, or cannot do it now.
    #[error("the server answers with error {code}: {message}")]
    Failed { code: u16, message: String },
    /// Nobody answers any more.
    #[error("{0}")]
    Lost(String),
}

/// A server that somebody has logged in to.
pub trait Ask {
    /// # Errors
    /// It says no, or nothing any more.
    fn rows(&mut self, sql: &str) -> Result<Rows, Refusal>;
    /// The number of this very session in the server's list of sessions.
    fn session_id(&self) -> u64;
}

impl Ask for Client {
    fn rows(&mut self, sql: &str) -> Result<Rows, Refusal> {
        self.query(sql).map_err(|error| match error {
            // Sources: MySQL and MariaDB error references. 1044 schema, 1142 table, 1143 column, 1227 privilege, 1370 routine,
            // 1045 account; 3201 as 1227 for several.
            NetError::Refused { code: code @ (1044 | 1045 | 1142 | 1143 | 1227 | 1370), message, .. } => {
                Refusal::Denied { code, message }
            }
            NetError::Refused { code, message, .. } => Refusal::Failed { code, message },
            other => Refusal::Lost(other.in_one_line()),
        })
    }

    fn session_id(&self) -> u64 {
        self.connection_id()
    }
}
