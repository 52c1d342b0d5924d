//! Cluster, replication, SST (`SL3…`).

mod galera_strict;
mod live_is_file;
mod members;
mod sst_tls;

pub use galera_strict::GALERA_STRICT;
pub use live_is_file::LIVE_IS_FILE;
pub use members::MEMBERS;
pub use sst_tls::SST_TLS;
