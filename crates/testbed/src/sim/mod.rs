//! Clusters in memory: servers that start, join, crash and lose quorum as the reference's section 1 saw the real ones do.
//!
//! One seed decides every guess and every duration, so a failure is replayed by its seed. Time is virtual: `wait` moves the
//! clock, nothing sleeps. Start with [`operator::Operator`], who runs what ships on a [`world::World`], with
//! locks, leases and copies; [`rig::Rig`] drives the steps alone, for tests of one step; [`group`] has membership and quorum, [`links`] who reaches whom in cleartext or
//! TLS, [`transfer`] IST and SST; [`channels`] the other topology, servers by themselves and their replicas, of MariaDB or [`mysql`]; [`hosts`] lost connections of
//! sealion's and cuts between servers; [`process`] has what a server does with its files.
//!
//! Left out: SQL, binlogs, flow control, segments, weights, SELinux, power cuts that lose synced bytes.

pub mod arbitrator;
pub mod channels;
pub mod clients;
pub mod disk;
pub mod fault;
pub mod group;
pub mod hosts;
pub mod links;
pub mod look;
pub mod luks;
pub mod manual_setup;
pub mod mysql;
pub mod node;
pub mod operator;
pub mod process;
pub mod proxy;
pub mod rig;
pub mod rng;
pub mod tls_library;
pub mod transfer;
pub mod world;

pub use disk::Disk;
pub use fault::{Fault, Instant};
pub use operator::Operator;
pub use rig::{End, Rig};
pub use world::{Shared, World};
