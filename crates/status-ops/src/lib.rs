//! Looks at a cluster as its operator: what each node is configured to do ([`status`]), what each link carried
//! ([`sniff`]), which options are effective ([`config_print`]), what its files
//! hold ([`rest`]), what lies below them ([`disk`]), which certificates it has ([`certificates`]). A look holds no lock and changes nothing, so every family of
//! verbs may stand on this one.

mod arbitrators;
pub mod certificates;
pub mod clients;
pub mod config_print;
pub mod disk;
mod old_sessions;
pub mod rest;
pub mod sniff;
pub mod status;
