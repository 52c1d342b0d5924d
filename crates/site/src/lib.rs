//! What every family of verbs stands on: the inventory, logins, errors, the servers of a lab.
//!
//! It looks at nothing and changes nothing of the user's; start reading at [`inventory`].

pub mod error;
pub mod inventory;
pub mod labs;
pub mod machine;
pub mod runs;
pub mod servers;

pub use error::OpsError;
pub use inventory::{Cluster, Inventory, WatchRotateTable};
pub use net::{ConnectOptions, SecretString};

/// 16 bytes from the operating system.
pub fn random16() -> [u8; 16] {
    let mut bytes = [0; 16];
    openssl::rand::rand_bytes(&mut bytes).expect("the operating system has randomness");
    bytes
}
