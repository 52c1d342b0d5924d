//! Looks at anything that speaks MySQL, from outside, without a password: what it says before a login, and all of its
//! TLS that a first flight shows.
//!
//! One connection asks one [`Question`] and is closed after the server's first flight, or where the question needs it
//! ([`finish`]) after the handshake; nobody logs in. Three layers, each without the next:
//!
//! - [`conversation`]: the bytes of one connection, sans-I/O, from greeting to flight;
//! - [`interrogation`]: which question comes next, as a plain `async` function that is handed answers;
//! - [`engine`]: sockets, deadlines, many targets at once on one thread.
//!
//! [`facts`] is what comes out. Judging is `rules`' work. What could harm an old server is in [`intrude`], and is asked only
//! by who allows it. Left out so far: name resolution beyond the system's.
#![warn(clippy::indexing_slicing)]

mod classes;
pub mod conversation;
mod digest;
pub mod engine;
pub mod facts;
pub mod finish;
pub mod interrogation;
pub mod intrude;
pub mod leaf;
pub mod login_probe;
pub mod names;
pub mod question;
pub mod range;
pub mod reply;
pub mod target;
mod tls13;

/// What OpenSSL said last; what lay in its queue before is of something else.
fn reason(stack: &openssl::error::ErrorStack) -> String {
    let last = stack.errors().last().and_then(openssl::error::Error::reason);
    last.map_or_else(|| stack.to_string(), str::to_owned)
}

pub use engine::{Limits, Manner, Next, Seen, Watch, run, run_watched};
pub use facts::Facts;
pub use question::Question;
pub use target::{Port, Target};
