//! What can go wrong with a lab, by who must act.

use std::path::PathBuf;

use thiserror::Error;

#[derive(Debug, Error)]
pub enum LabError {
    /// A program or bundle is missing on this machine.
    #[error("{what} is not here\n  why:  {why}\n  next: {next}")]
    Missing { what: String, why: String, next: String },
    /// The kernel or the file system said no.
    #[error("{what}\n  why:  {why}\n  next: {next}")]
    Refused { what: String, why: String, next: String },
    /// What it needs is somebody else's; nothing was started.
    #[error("{what}\n  why:  {why}\n  next: {next}")]
    Taken { what: String, why: String, next: String },
    /// The directory is not free for a lab: another one is to be chosen.
    #[error("{what}\n  why:  {why}\n  next: {next}")]
    Occupied { what: String, why: String, next: String },
    /// A server did not do what it was asked to.
    #[error("{node}: {what}\n  why:  {why}\n  next: read {}", log.display())]
    Server { node: String, what: String, why: String, log: PathBuf },
    #[error("{what}: {source}")]
    Io { what: String, source: std::io::Error },
}

impl LabError {
    pub fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}
