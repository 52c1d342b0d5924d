//! Encryption at rest of MariaDB, while it serves: keys that exist twice before anything needs them, options, tablespaces, what its
//! threads leave out, binary logs; and the same back. It is asked of each server by itself, however the servers replicate.
//!
//! The order: no key is on a server before its sealed copy opens (`escrow`). All servers have the keys before one encrypts, so that each can
//! read what any other sends it. On the way back the keys go last, behind a look which finds nothing that needs them
//! ([`steps::key_gate`]).

mod estimate;
mod joiner;
pub(crate) mod key_place;
pub mod keys;
mod looked;
mod parts;
mod plan;
mod preflight;
mod rotate;
pub mod steps;
pub mod stopped;

pub(crate) use joiner::{JoinerKeys, of_joiner};
pub(crate) use plan::plan;
pub(crate) use preflight::{CHECKS, OF_TOPOLOGY};

/// Settings of a change of data at rest that a person may choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtRestOptions {
    /// Threads of InnoDB that encrypt and decrypt.
    pub threads: u32,
    /// Pages a second that they may write anew; `None`: as the server is set.
    pub iops: Option<u32>,
    /// Binary logs of before may be removed, once all replicas have them.
    pub purges_binary_logs: bool,
    /// A plan says how long the work may take, by a table that is rebuilt on each server for that.
    pub measures: bool,
}

impl Default for AtRestOptions {
    fn default() -> Self {
        Self { threads: 4, iops: None, purges_binary_logs: false, measures: false }
    }
}
