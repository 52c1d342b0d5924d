//! Data at rest when something is wrong with its keys: why a server does not start, or a table is called corrupted, and the way back.
//!
//! [`log`] knows the lines of a server's error log, [`material`] opens key files, [`attempt`] tries a key on what is
//! encrypted, [`groups`] does so for each file, [`judge`] puts
//! all of it together without I/O. [`diagnose`], [`keys`] and [`drill`] are what a person calls. A look changes nothing; only
//! [`keys::restore`] writes on a node, and it overwrites nothing.

pub mod attempt;
pub mod diagnose;
pub mod drill;
pub mod groups;
pub mod judge;
pub mod keys;
pub mod log;
pub mod material;
