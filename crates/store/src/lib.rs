//! Runs in SQLite: what was seen, when and by which command. Derived: the journal of a change is never here, and
//! deleting the file loses history, not safety.
//!
//! Rows hold the columns that people ask for and the whole value as JSON beside them. Start reading at
//! [`Store::open`]; the tables are in `migrations`.

mod error;
mod migrations;
mod open;
mod rows;
mod watch;

pub use error::StoreError;
pub use open::Store;
pub use rows::RunSummary;
pub use watch::{WatchRecord, WatchRow};
