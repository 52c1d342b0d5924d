//! Where measurements are kept, and found again.

use std::path::{Path, PathBuf};

use bench_ops::kept::{self, Measured};
use site::{Cluster, OpsError};

use super::BenchKeep;
use crate::options::Global;
use crate::show;

/// Keeps a measurement where it belongs, and says where, or why not. False: it was to be kept, and was not.
pub fn keep(cluster: Option<&Cluster>, args: &BenchKeep, measured: &Measured) -> bool {
    kept_as(cluster, args, measured).is_ok()
}

/// Its id, `None` where it was not to be kept.
pub(super) fn kept_as(
    cluster: Option<&Cluster>,
    args: &BenchKeep,
    measured: &Measured,
) -> Result<Option<String>, ()> {
    if args.no_store {
        return Ok(None);
    }
    let places = kept::places(cluster, args.store.as_deref());
    match kept::keep(places.first().map(PathBuf::as_path), measured) {
        Ok(id) => {
            show::tell(&format!("saved as {id}: sealion bench show {id}"));
            Ok(Some(id))
        }
        Err(why) => {
            show::tell(&format!(
                "{} this measurement could not be saved; only what was printed exists\n  {}",
                show::red("warning:"),
                why.replace('\n', "\n  ")
            ));
            Err(())
        }
    }
}

/// A file for people.
pub fn write(path: &Path, text: &str) -> Result<(), OpsError> {
    std::fs::write(path, text).map_err(|error| {
        OpsError::usage(
            format!("cannot write {}", path.display()),
            error.to_string(),
            "choose a file that you may write, where there is space; for a saved run: sealion bench show RUN --html \
             FILE",
        )
    })
}

/// The inventory's store where there is an inventory, and the user's own.
pub(super) fn places(global: &Global, given: Option<&Path>) -> Result<Vec<PathBuf>, OpsError> {
    let cluster = if given.is_none() && global.inventory.exists() {
        Some(Cluster::read(&global.inventory)?)
    } else {
        None
    };
    Ok(kept::places(cluster.as_ref(), given))
}
