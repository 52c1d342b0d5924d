//! A proxy: keeps one sealed share of each grant, and hands it to that reader for as long as the owner's terms allow.
//!
//! [`protocol`] is what is said, [`store`] what is kept and decided, [`log`] what is written down of it and [`mark`] where that ends,
//! [`limit`] and [`callers`] how often and how many times at once somebody may ask, [`serve`] the HTTPS around it.

pub mod callers;
pub mod limit;
pub mod log;
pub mod mark;
pub mod protocol;
pub mod serve;
pub mod store;
