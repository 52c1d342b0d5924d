//! One scan by many processes: [`publish`] hands targets out and gathers rows, [`work`] asks targets for others. Between them is a
//! `queue`, which knows neither.

mod open_jobs;
mod publish;
mod shape;
mod work;
mod zones;

use queue::QueueError;
use site::OpsError;

pub use publish::{Publishing, answer_rows, scan_with_workers};
pub use work::{WorkCount, WorkerListener, WorkerSettings, work};
pub use zones::ZoneMap;

fn ops_error(error: &QueueError) -> OpsError {
    let (text, next) = (error.to_string(), error.next_step().to_owned());
    let (what, why) = text.split_once(": ").unwrap_or((&text, ""));
    match error {
        QueueError::Usage { what, why, .. } => OpsError::usage(what, why, next),
        _ => OpsError::cannot_look(what, why, next),
    }
}

/// The queue at a place: a file of this machine, or a broker.
///
/// # Errors
/// When it cannot be opened or reached.
pub fn open(place: &queue::Place) -> Result<Box<dyn queue::Queue>, OpsError> {
    queue::open(place).map_err(|error| ops_error(&error))
}
