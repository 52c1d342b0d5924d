//! A proxy: keeps one sealed share of each grant, and hands it to that reader for as long as the owner's terms allow.
//!
//! [`protocol`] is what is said, [`store`] what is kept and decided, [`serve`] the HTTPS around it.

pub mod protocol;
pub mod serve;
pub mod store;
