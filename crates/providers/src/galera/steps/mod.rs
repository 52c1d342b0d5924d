//! Kinds of step of a Galera cluster alone.

pub mod again;
pub mod arbitrator;
pub mod distrust;
pub mod gate;
pub mod join;
pub mod patience;
pub mod round;

pub use again::AgainParams;
pub use arbitrator::ArbitratorParams;
pub use distrust::DistrustParams;
pub use gate::GateParams;
pub use join::JoinParams;
pub use patience::{PatienceGateParams, PatienceParams};
pub use round::RoundParams;
