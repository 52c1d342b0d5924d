//! What a scan sees, against servers made for it and real ones: one program, so that it is linked once.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // Tests.

mod controls;
mod hostile;
mod intrusive;
mod proxy;
mod real_servers;
mod refusals;
mod servers;
