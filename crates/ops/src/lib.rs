//! The use cases: what each command does, in order, with progress. The command line calls these and decides nothing.

pub mod accepted;
pub mod bench;
pub mod config_print;
mod copies;
pub mod demo;
pub mod draft;
pub mod error;
pub mod history;
pub mod inventory;
pub mod labs;
pub mod lease;
mod machine;
pub mod prove;
pub mod roll;
pub mod scan;
pub mod servers;
pub mod sniff;
pub mod status;

pub use error::OpsError;
pub use inventory::{Cluster, Inventory};
pub use net::SecretString;
