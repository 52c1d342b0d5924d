//! TLS as seen from outside: bytes in, values out. Nothing here decrypts, verifies or trusts anything.
//!
//! Two users. `capture` follows record headers only: [`record`]. A scanner writes a [`ClientHello`] that asks one
//! question and reads the first flight of the answer with a [`ServerFlight`], up to where encryption begins; what the
//! numbers in it mean stands in [`registry`]. The oldest protocol, whose frames look different, is [`ssl2`]; bytes that
//! belong to no orderly handshake are in [`fallback`]. Keys, random bytes, time and sockets stay with the caller.

pub mod client_hello;
pub mod fallback;
pub mod key_share;
pub mod mark;
pub mod record;
pub mod registry;
pub mod server_flight;
pub mod ssl2;

pub use client_hello::{ClientHello, HelloError, KeyShare, PreSharedKey};
pub use record::*;
pub use server_flight::{Event, FlightError, ServerFlight};
