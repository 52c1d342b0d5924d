//! A scan as a whole: its rules, and many targets at once: one program, so that it is linked once.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // Tests.

mod scan_controls;
mod scan_many;
#[path = "../../../scan/tests/all/servers/mod.rs"]
mod servers;
