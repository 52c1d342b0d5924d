//! plan, apply, resume, undo, abandon: the change engine on a user's cluster, with its locks, leases and the copies of its
//! journals. Start reading at [`roll`].

pub mod access;
pub mod client_certs;
mod copies;
pub mod disk;
pub mod draft;
pub mod gates;
pub mod history;
mod journals;
pub mod lease;
pub mod requests;
pub mod roll;
pub mod unfinished;
