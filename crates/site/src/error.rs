//! What a use case can end with. The exit code follows from the variant alone.

use thiserror::Error;

#[derive(Debug, Error)]
pub enum OpsError {
    /// Bad input: exit 2.
    #[error("{what}\n  why:  {why}\n  next: {next}")]
    Usage { what: String, why: String, next: String },
    /// Could not look: exit 3.
    #[error("{what}\n  why:  {why}\n  next: {next}")]
    CannotLook { what: String, why: String, next: String },
    /// A change stopped half-way and can be resumed: exit 4.
    #[error("{0}")]
    Stopped(String),
    /// A fault of ours: exit 5.
    #[error("{what}\n  why:  {why}\n  next: please report this with the output of -v")]
    Internal { what: String, why: String },
    /// A pre-check said no, nothing was changed: exit 6.
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Lab(#[from] lab::LabError),
    /// The journal cannot be used: exit 4, a change may be under way.
    #[error(transparent)]
    Journal(#[from] change::JournalError),
}

impl OpsError {
    /// As the design lists them.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage { .. } | Self::Lab(lab::LabError::Occupied { .. }) => 2,
            Self::CannotLook { .. } => 3,
            Self::Lab(lab::LabError::Refused { .. } | lab::LabError::Missing { .. }) => 3,
            // Another one is at work; this one has changed nothing.
            Self::Journal(change::JournalError::Locked { .. }) => 6,
            Self::Stopped(_) | Self::Journal(_) => 4,
            Self::Refused(_) | Self::Lab(lab::LabError::Taken { .. }) => 6,
            Self::Internal { .. } | Self::Lab(_) => 5,
        }
    }

    pub fn usage(what: impl Into<String>, why: impl Into<String>, next: impl Into<String>) -> Self {
        Self::Usage { what: what.into(), why: why.into(), next: next.into() }
    }

    pub fn cannot_look(
        what: impl Into<String>,
        why: impl std::fmt::Display,
        next: impl Into<String>,
    ) -> Self {
        Self::CannotLook { what: what.into(), why: why.to_string(), next: next.into() }
    }

    pub fn internal(what: impl Into<String>, why: impl std::fmt::Display) -> Self {
        Self::Internal { what: what.into(), why: why.to_string() }
    }
}
