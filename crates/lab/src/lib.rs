//! Real servers on loopback: the test bed, the demo, and `sealion lab`.
//!
//! A lab is a directory with a `lab.json`, one directory per node, and one supervisor process that is the parent of
//! every server. The supervisor dies with whoever started it (unless the lab is kept) and takes the servers with it,
//! so that a crash, a panic or `kill -9` of sealion leaves no process behind.
//!
//! Where the kernel allows it, a lab lives in a user and network namespace of its own: real ports, an own loopback,
//! packet capture without root, and nothing of the user's is touched.
//!
//! Start reading at [`Lab`]; [`supervisor`] is the other process.

pub mod bundle;
pub mod hosts;
pub mod layout;
pub mod namespace;
pub mod network;
mod ports;
pub mod proxy;
pub mod remains;
pub mod supervisor;

mod error;
mod lab;

pub use bundle::ServerKind;
pub use error::LabError;
pub use lab::{AtDrop, Lab, LabOptions, Wait};
pub use layout::{LabFile, NodeSpec, SstMethod};
