//! Standing grants for a series of archives that their writer cannot open: Umbral, a scheme of threshold proxy re-encryption.
//!
//! [`umbral`] is the scheme, which knows keys and bytes; [`scope`] what an owner and a reader state, and the slot of an archive; [`series`] makes,
//! grants and opens. Everything else (archives, proxies, grants, files) is the crate `share`, which does not know this one.
//!
//! A scope is a key pair of its own, out of the owner's keys and its name. A grant is for all archives of a scope, past and future: so a series has
//! a scope for each period.

pub mod scope;
pub mod series;
pub mod umbral;
