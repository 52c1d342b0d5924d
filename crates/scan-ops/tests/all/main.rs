//! A scan as a whole: its rules, and many targets at once: one program, so that it is linked once.

mod scan_controls;
mod scan_many;
#[path = "../../../scan/tests/all/servers/mod.rs"]
mod servers;
