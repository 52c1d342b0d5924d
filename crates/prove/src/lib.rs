//! What an attacker on the path would get: a rogue server that plays one attack per port, and what a client gave it.
//!
//! The verdict is taken on the server's side, where nothing has to be believed: did a command arrive, over what, and what
//! was given away before. Four layers, each without the next:
//!
//! - [`attack`]: an attack as data; [`attacks`] registers them, one file each;
//! - [`talk`]: the MySQL bytes of one connection, sans-I/O, and what was seen in them; [`trace`] writes it down for people;
//! - [`certificates`]: what the rogue shows in TLS, good and bad;
//! - [`rogue`]: sockets, threads, TLS;
//! - [`client`]: drivers and tools as data; [`clients`] registers them;
//! - [`config`]: connections in the settings of applications, and which mode of which client each is.
//!
//! [`verdict`] judges. Nothing that a client gives away is kept: a password or a file is compared with what the caller
//! knows and forgotten. [`sniff`] is the other half: what somebody reads who only listens; [`relay`] stands between a client
//! and a real server, listens and, if asked, attacks.
#![warn(clippy::indexing_slicing)]

pub mod attack;
pub mod attacks;
pub mod certificates;
pub mod client;
pub mod clients;
pub mod config;
mod crl;
mod query_answer;
pub mod relay;
pub mod rogue;
pub mod sniff;
pub mod talk;
pub mod trace;
pub mod verdict;

pub use attack::{Attack, Family, Protocol};
pub use client::{Client, Promise};
pub use rogue::{Rogue, Settings};
pub use talk::{Channel, TalkRecord};
pub use verdict::Verdict;
