//! Ctrl-C, for what ends with what there is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use site::OpsError;

use crate::show;

/// Signals within this time are one.
const ONE_WISH: Duration = Duration::from_secs(1);

/// The first Ctrl-C sets it; the second ends the process at once, as a signal would.
pub fn flag() -> Result<Arc<AtomicBool>, OpsError> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    let mut first: Option<Instant> = None;
    ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            // timeout(1) and some supervisors signal the process and its group, which is one wish.
            if first.is_some_and(|first| first.elapsed() < ONE_WISH) {
                return;
            }
            std::process::exit(130);
        }
        first = Some(Instant::now());
        show::tell("stopping; press Ctrl-C again to stop at once");
    })
    .map_err(|error| OpsError::internal("cannot handle Ctrl-C", error))?;
    Ok(stop)
}
