//! Bytes of files that MySQL and MariaDB read and write, as values.
//!
//! This crate knows no file system, no socket and no clock: a buffer comes in, a value or an error goes out. Who reads
//! the file, and with which rights, is decided above. Start with [`optfile`] (one option file), [`mylogin`]
//! (`.mylogin.cnf`), [`settings`] (what applications keep their settings in), [`shell_vars`] (`/etc/default/garb`), [`shell_line`] (commands of a script), [`gzip`] (changelogs of
//! packages), or, of what a server keeps, [`innodb`],
//! [`binlog`] and [`aria`], and [`noise`] for files without a header, or, of what it writes down, [`secrets`], or, of what lies about, [`leftover`], or, of what backup tools write, [`xbstream`], [`xbcrypt`], [`qpress`] and [`lz4`],
//! or, of what lies below a file system, [`luks`].

pub mod aria;
pub mod binlog;
pub mod binlog_events;
mod bytes;
pub mod gzip;
pub mod innodb;
pub mod leftover;
pub mod luks;
pub mod lz4;
pub mod mylogin;
pub mod noise;
pub mod optfile;
pub mod qpress;
pub mod secrets;
pub mod settings;
pub mod shell_line;
pub mod shell_vars;
pub mod xbcrypt;
pub mod xbstream;
