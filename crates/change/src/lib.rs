//! The change engine: plan, journal, apply, resume, undo. It knows no database.
//!
//! [`machine`] is the heart and does no I/O: it says what is to be done next and is told what came of it.
//! [`journal`] is the format of what is written before and after each step. [`driver`] joins the two with a
//! [`driver::Runner`], which does the work, and with the places where the journal is kept.

pub mod driver;
#[cfg(test)]
mod fixtures;
pub mod gates;
pub mod journal;
pub mod machine;

pub use driver::{Acted, Begins, Driver, Runner, StepCheck, StepError};
pub use gates::Window;
pub use journal::{ClusterLock, Journal, JournalError, Record};
pub use machine::{Command, Direction, Event, Machine, Outcome, Stand};
