//! Bytes of files that MySQL and MariaDB read and write, as values.
//!
//! This crate knows no file system, no socket and no clock: a buffer comes in, a value or an error goes out. Who reads
//! the file, and with which rights, is decided above. Start with [`optfile`] (one option file), [`mylogin`]
//! (`.mylogin.cnf`) or [`settings`] (what applications keep their settings in).

pub mod mylogin;
pub mod optfile;
pub mod settings;
