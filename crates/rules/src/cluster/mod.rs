//! Cluster, replication, SST (`SL3…`).

mod channel_ca;
mod channel_tls;
mod channel_verifies;
mod galera_strict;
mod live_is_file;
mod members;
mod sst_tls;

pub use channel_ca::CHANNEL_CA;
pub use channel_tls::CHANNEL_TLS;
pub use channel_verifies::CHANNEL_VERIFIES;
pub use galera_strict::GALERA_STRICT;
pub use live_is_file::LIVE_IS_FILE;
pub use members::MEMBERS;
pub use sst_tls::SST_TLS;
