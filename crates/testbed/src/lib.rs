//! Where sealion is tried out as a whole. [`sim`] is a cluster in memory with a clock that nobody waits for; what it claims
//! of real servers is pinned by lab tests of the same names.

pub mod company;
pub mod real;
pub mod sim;
