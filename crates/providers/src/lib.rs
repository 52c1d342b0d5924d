//! What can be changed, as steps for the engine: `transit` (Galera, SST, clients and their certificates).
//!
//! A provider plans from what it sees, and proves its post-checks by looking anew, through [`server::ReadNode`] and
//! [`model::Look`]. Only a step's action is handed [`server::WriteNode`].

pub mod transit;
