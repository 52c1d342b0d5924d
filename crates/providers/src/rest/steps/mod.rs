//! Kinds of steps that are about data at rest.

pub mod binary_logs;
pub mod data_keys;
pub mod escrow_keys;
pub mod key_gate;
pub mod proof;
pub mod rebuild;
pub mod spaces;
pub mod table_keys;

use change::Direction;

pub use binary_logs::BinaryLogsParams;
pub use data_keys::{DataKeysParams, Placed};
pub use escrow_keys::EscrowParams;
pub use key_gate::KeyGateParams;
pub use proof::ProofParams;
pub use rebuild::RebuildParams;
pub use spaces::SpacesParams;
pub use table_keys::TableKeysParams;

/// Whether the data is to be encrypted behind a step, whose way forward leads to `forward`.
fn target(forward: bool, direction: Direction) -> bool {
    forward == (direction == Direction::Forward)
}
