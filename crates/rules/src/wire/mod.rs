//! What bytes showed (`SL1…`).

mod client_link;
mod galera_link;
mod ist_link;
mod replication_link;
mod sst_link;

pub use client_link::CLIENT_LINK;
pub use galera_link::GALERA_LINK;
pub use ist_link::IST_LINK;
pub use replication_link::REPLICATION_LINK;
pub use sst_link::SST_LINK;
