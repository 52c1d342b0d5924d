//! Copies of the keys that encrypt data at rest, on the operator's machine, sealed with age.
//!
//! A key that exists on a server alone is lost with it, and everything it encrypts with the key. So keys are made here: [`Escrow::put`]
//! writes the sealed copy, opens what then lies on the disk, and compares; only what came out of an escrow is written on a server.
//! Nothing in this crate removes a copy. The sealed files open with any other program that knows age, too.

mod keys;
mod store;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

pub use keys::{DataKey, KEY_BYTES, KeptFile, KeySet};
pub use store::{Copy, Escrow, EscrowError, Seal};
