use std::path::Path;

use thiserror::Error;

/// Why there is no work, by who must act.
#[derive(Debug, Error)]
pub enum QueueError {
    /// The file or the broker.
    #[error("{place} cannot be used as a queue: {why}")]
    Unreachable { place: String, why: String, next: String },
    /// Whoever gives rights.
    #[error("{place} does not permit it: {why}")]
    Refused { place: String, why: String, next: String },
    /// Whoever runs the broker.
    #[error("{place} is not supported: {why}")]
    Unsupported { place: String, why: String, next: String },
    /// Who typed it.
    #[error("{what}: {why}")]
    Usage { what: String, why: String, next: String },
}

impl QueueError {
    pub fn next_step(&self) -> &str {
        match self {
            Self::Unreachable { next, .. }
            | Self::Refused { next, .. }
            | Self::Unsupported { next, .. }
            | Self::Usage { next, .. } => next,
        }
    }

    #[allow(clippy::needless_pass_by_value)] // Errors and texts that the callers are done with.
    pub(crate) fn of_file(path: &Path, why: impl ToString) -> Self {
        Self::Unreachable {
            place: path.display().to_string(),
            why: why.to_string(),
            next: "name a file in a directory of this machine that you may write to".into(),
        }
    }
}
