//! A table for somebody else: an encrypted archive, and proxies that hand its reader the key in parts for as long as the owner says.
//!
//! [`header`] and [`chunks`] are the archive as bytes, [`grant`] what the owner signs and how the data key is cut; none of them knows
//! files or sockets. [`archive`], [`table`] and [`piped`] read and write, [`proxy`] is the service, [`client`] asks it, [`open`] is the reader, [`owner`]
//! and [`audit`] are the owner.
//!
//! No proxy sees rows or the data key: what it keeps is one Shamir share, sealed to the reader by HPKE.

pub mod archive;
pub mod audit;
pub mod b64;
pub mod chunks;
pub mod client;
pub mod crypto;
pub mod files;
pub mod given;
pub mod grant;
pub mod header;
pub mod keys;
pub mod open;
pub mod owner;
pub mod piped;
pub mod proxy;
pub mod table;

use std::fmt::Display;

pub use crypto::DataKey;

/// Why something was not done, by who must act.
#[derive(Debug, thiserror::Error)]
pub enum ShareError {
    /// A file or an option is not as it must be.
    #[error("{what}\n  why:  {why}\n  next: {next}")]
    Usage { what: String, why: String, next: String },
    #[error("{what}\n  why:  {why}\n  next: {next}")]
    Unreachable { what: String, why: String, next: String },
    /// A proxy, a date, a signature or a tag says no.
    #[error("{what}\n  why:  {why}\n  next: {next}")]
    Refused { what: String, why: String, next: String },
    #[error("{what}\n  why:  {why}")]
    Internal { what: String, why: String },
}

impl ShareError {
    pub(crate) fn usage(what: impl Into<String>, why: impl Display, next: impl Into<String>) -> Self {
        Self::Usage { what: what.into(), why: why.to_string(), next: next.into() }
    }

    pub(crate) fn refused(what: impl Into<String>, why: impl Display, next: impl Into<String>) -> Self {
        Self::Refused { what: what.into(), why: why.to_string(), next: next.into() }
    }

    pub(crate) fn unreachable(what: impl Into<String>, why: impl Display, next: impl Into<String>) -> Self {
        Self::Unreachable { what: what.into(), why: why.to_string(), next: next.into() }
    }

    pub(crate) fn internal(what: impl Into<String>, why: impl Display) -> Self {
        Self::Internal { what: what.into(), why: why.to_string() }
    }
}

/// Keeps the kernel from writing a core of this process.
///
/// # Source
/// prctl(2), PR_SET_DUMPABLE.
pub fn without_core() -> Result<(), ShareError> {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|error| ShareError::internal("the kernel may write a core of this process", error))
}

/// Seconds since 1970, of this machine.
pub fn now_unix_s() -> i64 {
    time::OffsetDateTime::now_utc().unix_timestamp()
}

/// As people read it: `2026-12-04 23:59:59 UTC`.
pub fn shown_time(unix_s: i64) -> String {
    let format = time::macros::format_description!("[year]-[month]-[day] [hour]:[minute]:[second] UTC");
    time::OffsetDateTime::from_unix_timestamp(unix_s)
        .ok()
        .and_then(|at| at.format(&format).ok())
        .unwrap_or_else(|| format!("{unix_s} s after 1970"))
}

/// A day, which then counts to its end, or a time of RFC 3339.
pub fn until(text: &str) -> Result<i64, String> {
    use time::format_description::well_known::Rfc3339;
    let day = time::macros::format_description!("[year]-[month]-[day]");
    if let Ok(date) = time::Date::parse(text, &day) {
        return Ok(date
            .with_hms(23, 59, 59)
            .map_err(|error| error.to_string())?
            .assume_utc()
            .unix_timestamp());
    }
    time::OffsetDateTime::parse(text, &Rfc3339)
        .map(time::OffsetDateTime::unix_timestamp)
        .map_err(|_| "give a day (2026-12-04, to its end in UTC) or a time (2026-12-04T18:00:00Z)".into())
}
