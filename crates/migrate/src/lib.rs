//! From one MariaDB server to another, or from MySQL to MariaDB, while applications write: tables, rows, replication, comparison, cutover.
//!
//! Steps of the change engine ([`Migration`] is its [`change::Runner`]), so that it goes on, or back, wherever it was killed. No row
//! lies in a file on the way: rows go from a consistent snapshot of the source through memory into `LOAD DATA LOCAL` on the target.
//! Native replication over TLS with verification of the source brings what was written since.

mod code;
mod compare;
mod copy;
mod dialect;
mod flow;
mod gtid;
mod inspect;
mod later;
mod place;
mod plan;
mod slices;
mod statements;
mod steps;
mod trial;

use std::path::PathBuf;

use net::{Client, ConnectOptions, NetError, SecretString};

pub use inspect::{Problem, Server, Table};
/// What steps are called in a journal.
pub mod kinds {
    pub use crate::plan::{CLOSE, COMPARE, COPY, END, FOLLOW, OPEN};
}
pub use plan::plan;
pub use steps::Migration;

/// Both servers, and how each is let into the other.
#[derive(Debug, Clone)]
pub struct Ends {
    pub source: ConnectOptions,
    pub target: ConnectOptions,
    /// How the target is let into the source.
    pub replication: ReplicationLogin,
    /// How the source is let into the target, after the cutover; `None`: there is no way back from it.
    pub back: Option<ReplicationLogin>,
    pub schemas: Vec<String>,
    /// Copies side by side.
    pub sessions: usize,
    /// A table that is larger than two of these is copied in slices of about so many.
    pub slice_bytes: u64,
}

/// What one server logs in to the other with.
#[derive(Debug, Clone)]
pub struct ReplicationLogin {
    /// As the one that follows reaches the other; it is also the name that must be in that one's certificate.
    pub host: String,
    pub port: u16,
    pub user: String,
    pub password: SecretString,
    /// On the machine of the one that follows.
    pub ca: PathBuf,
}

/// Which of the two a problem is with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Source,
    Target,
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Source => "source",
            Self::Target => "target",
        })
    }
}

/// Less than a session waits for its answer: a statement that waited on would be carried out when nobody expects it any more.
pub(crate) const LOCK_WAIT_S: u64 = 30;

impl Ends {
    /// A session whose own settings do not change what is read or written.
    pub(crate) fn session(&self, end: End) -> Result<Client, NetError> {
        let options = match end {
            End::Source => &self.source,
            End::Target => &self.target,
        };
        let mut client = Client::connect(options)?;
        // Zero dates and AUTO_INCREMENT values of 0 are rows like others. Texts come and go as the bytes that are stored.
        // Nobody waits without end for a table that somebody holds.
        client.execute(&format!(
            "SET SESSION sql_mode='STRICT_ALL_TABLES,ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO', lock_wait_timeout={LOCK_WAIT_S}, foreign_key_checks=0, unique_checks=0, character_set_client=utf8mb4, \
             collation_connection=utf8mb4_bin, character_set_results=NULL"
        ))?;
        Ok(client)
    }
}

/// Compares both servers at one and the same transaction, by the way in which replication goes now; changes no row.
///
/// # Errors
/// They differ, or cannot be compared.
pub fn verify(ends: &Ends) -> Result<String, change::StepError> {
    steps::compared::now(ends)
}
