//! Kinds of step of a Galera cluster alone.

pub mod arbitrator;
pub mod gate;
pub mod join;
pub mod rotate;
pub mod round;

pub use arbitrator::ArbitratorParams;
pub use gate::GateParams;
pub use join::JoinParams;
pub use rotate::RotateParams;
pub use round::RoundParams;
