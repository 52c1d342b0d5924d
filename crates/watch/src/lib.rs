//! Keeps watch over a cluster: looks at it on a schedule, keeps what changed, and tells Prometheus.
//!
//! [`state::advance`] is the heart, without I/O or a clock: (what was known, a look, now) to (what is known, what changed). Around it:
//! [`look`] asks `status-ops`, [`keep`] puts the outcome into the store, [`metrics`] and [`view`] say it to others, [`daemon`] does all of
//! it again and again. Nothing here changes a server.

pub mod clients;
pub mod counts;
pub mod daemon;
mod drift;
pub mod hook;
pub mod http;
pub mod keep;
pub mod look;
pub mod metrics;
pub mod notify;
mod parallel;
pub mod rotation;
pub mod schedule;
pub mod state;
pub mod view;
