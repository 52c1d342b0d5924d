//! Ctrl-C, for what ends with what there is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ops::OpsError;

use crate::show;

/// The first Ctrl-C sets it; the second ends the process at once, as a signal would.
pub fn flag() -> Result<Arc<AtomicBool>, OpsError> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        show::tell("ending; once more ends at once");
    })
    .map_err(|error| OpsError::internal("cannot handle Ctrl-C", error))?;
    Ok(stop)
}
