//! TLS for Galera replication, SST and clients: rolled through a serving cluster, one node at a time.
//!
//! [`plan`] makes the steps, [`preflight`] says why it may not be done, [`steps`] does what is done to Galera only. The states and
//! the order are those of a cluster in which a plain node must never serve one that asks for TLS (it crashes): so first
//! every node speaks both (round 1), then, after a gate, every node speaks TLS only (round 2).

mod equip;
mod plan;
pub mod preflight;
pub mod quorum;
pub mod steps;
pub mod wait;

pub use equip::equip;
pub use plan::{PlanError, plan};
