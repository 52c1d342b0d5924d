use std::path::PathBuf;

use rusqlite::ErrorCode;
use thiserror::Error;

/// Variants by who must act: the user's file system, another program, another sealion, or us.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The file system said no.
    #[error("the store {} cannot be {what}\n  why:  {why}\n  next: {next}", path.display())]
    Unreachable { path: PathBuf, what: &'static str, why: String, next: &'static str },
    /// The file is not one of ours, or it is damaged.
    #[error("{} is not a sealion store\n  why:  {why}\n  next: name another file; this one was not changed", path.display())]
    NotAStore { path: PathBuf, why: String },
    /// A newer sealion made it.
    #[error(
        "the store {} was written by a newer sealion\n  why:  it has version {found}, this sealion knows up to {known}\n  \
         next: use the newer sealion, or name another file; this one was not changed",
        path.display()
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    /// A run was kept in words that this version does not know.
    #[error(
        "the run {run:?} cannot be read\n  why:  {why}\n  next: use the sealion that wrote it; its reports can still be exported"
    )]
    Unreadable { run: String, why: String },
    #[error(
        "the store has no run {run:?}\n  why:  it was never kept here\n  next: sealion report --list shows the runs that are"
    )]
    NoSuchRun { run: String },
    #[error("the store {} failed\n  why:  {source}\n  next: this is a mistake in sealion; please report it", path.display())]
    Bug { path: PathBuf, source: rusqlite::Error },
}

impl StoreError {
    /// What SQLite says, in words for the person who must act.
    pub(crate) fn of(path: &std::path::Path, what: &'static str, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        let unreachable = |path, next| Self::Unreachable { path, what, why: source.to_string(), next };
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => {
                unreachable(path, "free some space; nothing of this run was kept, the earlier ones are whole")
            }
            Some(
                ErrorCode::ReadOnly
                | ErrorCode::PermissionDenied
                | ErrorCode::AuthorizationForStatementDenied,
            ) => unreachable(
                path,
                "make the file and its directory writable for you, or name another with --store",
            ),
            Some(ErrorCode::CannotOpen) => unreachable(
                path,
                "check that its directory is there and writable for you, or name another with --store",
            ),
            Some(ErrorCode::SystemIoFailure) => {
                unreachable(path, "check the kernel's log; a full or failing disk is the usual cause")
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                unreachable(path, "another sealion is writing to it; try again when it is done")
            }
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                Self::NotAStore { path, why: source.to_string() }
            }
            _ => Self::Bug { path, source },
        }
    }
}
