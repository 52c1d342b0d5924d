//! TLS for Galera replication, SST and clients: rolled through a serving cluster, one node at a time.
//!
//! [`plan`] makes the steps, [`preflight`] says why it may not be done, [`steps`] does them. The states and the
//! order are those of a cluster in which a plain node must never serve one that asks for TLS (it crashes): so first
//! every node speaks both (round 1), then, after a gate, every node speaks TLS only (round 2).

mod by_hand;
pub mod edit;
mod equip;
pub mod kept_keys;
mod left;
mod owner;
pub mod plan;
pub mod preflight;
pub mod quorum;
pub mod steps;
mod unified;
mod wait;
mod world;

pub use equip::equip;
pub use left::left_as;
pub use plan::{PlanError, plan};
pub use preflight::{Problem, preflight};
pub use world::{Authority, Limits, Transit};

/// File names below a node's `tls_dir`. Paths cannot be changed at run time, so they never change.
pub const CA_FILE: &str = "ca.pem";
pub const CERT_FILE: &str = "node-cert.pem";
pub const KEY_FILE: &str = "node-key.pem";
