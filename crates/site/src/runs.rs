//! Where runs of a cluster are kept, and what they are called.

use std::path::PathBuf;

use crate::Cluster;

/// The store beside the cluster's journals.
pub fn path(cluster: &Cluster) -> PathBuf {
    cluster.state_dir.join("runs.sqlite")
}

/// When it began, and which process it was.
pub fn run_id(started_unix_ms: u64) -> String {
    format!("{}-{}", model::clock::rfc3339(started_unix_ms).replace([':', '-', '.'], ""), std::process::id())
}
