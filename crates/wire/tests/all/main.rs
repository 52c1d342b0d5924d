//! Bytes of real servers and of none, through the public API: one program, so that it is linked once.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // Tests.

mod client_hello;
mod greetings;
mod messages;
mod recorded;
mod second_opinion;
mod server_flights;
mod ssl2;
