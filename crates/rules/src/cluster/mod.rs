//! Cluster, replication, SST (`SL3…`).

mod channel_ca;
mod channel_key;
mod channel_tls;
mod channel_verifies;
mod clone_ca;
mod galera_strict;
mod group_allowlist;
mod group_key;
mod group_recovery_tls;
mod group_recovery_verifies;
mod group_tls;
mod group_verifies;
mod live_is_file;
mod members;
mod sst_password;
mod sst_tls;

pub use channel_ca::CHANNEL_CA;
pub use channel_key::CHANNEL_KEY;
pub use channel_tls::CHANNEL_TLS;
pub use channel_verifies::CHANNEL_VERIFIES;
pub use clone_ca::CLONE_CA;
pub use galera_strict::GALERA_STRICT;
pub use group_allowlist::GROUP_ALLOWLIST;
pub use group_key::GROUP_KEY;
pub use group_recovery_tls::GROUP_RECOVERY_TLS;
pub use group_recovery_verifies::GROUP_RECOVERY_VERIFIES;
pub use group_tls::GROUP_TLS;
pub use group_verifies::GROUP_VERIFIES;
pub use live_is_file::LIVE_IS_FILE;
pub use members::MEMBERS;
pub use sst_password::SST_PASSWORD;
pub use sst_tls::SST_TLS;
