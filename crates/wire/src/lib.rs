//! MySQL protocol and TLS handshake bytes: bytes in, values out.
//!
//! Knows no socket, clock, file or crypto. Short input is a [`WireError`], never a panic; each length field
//! has a limit beside it. Start reading at [`packet`], then [`greeting`], [`login`], [`answer`], [`resultset`], and what a load generator sends and reads in
//! [`prepared`] and [`answers`]; what a scanner says and hears in TLS is in [`tls`], what other ports say first in [`x_protocol`] and [`gcomm`].
//! Left out: compression, and the password scrambles (they hash: see `net`).
#![warn(clippy::indexing_slicing)]

pub mod answer;
pub mod answers;
pub mod capabilities;
pub mod command;
pub mod escape;
pub mod flavour;
pub mod gcomm;
pub mod greeting;
pub mod haproxy;
pub mod login;
pub mod mysql_shape;
pub mod packet;
pub mod prepared;
pub mod proxy_protocol;
mod read;
pub mod resultset;
pub mod tls;
pub mod x_protocol;
pub mod xcom;

pub use answer::{AuthAnswer, AuthSwitch, ErrPacket, OkPacket};
pub use answers::{Answer, AnswerReader};
pub use capabilities::Capabilities;
pub use escape::printable;
pub use flavour::{Flavour, FlavourGuess, Sign};
pub use greeting::{FirstPacket, Greeting};
pub use login::{HandshakeResponse, SslRequest};
pub use mysql_shape::is_mysql_segment;
pub use packet::{Packet, PacketBuffer};
pub use read::lenenc;
pub use resultset::{ColumnDef, TextEvent, TextResponse, TextRow};
pub use tls::{SegmentShape, classify_segment, starts_with_client_hello};

/// Why bytes from a peer could not be read as what they claim to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// A message is complete by its header, yet a field in it is not.
    #[error("{what} ends early: {needed_bytes} more bytes are announced, {have_bytes} are there")]
    Truncated { what: &'static str, needed_bytes: u64, have_bytes: u64 },
    /// A field holds a value that the protocol does not know.
    #[error("{what} is not valid: {reason}")]
    Malformed { what: &'static str, reason: &'static str },
    /// A length is over the limit that we set for it.
    #[error("{what} announces {announced}, our limit is {max}")]
    OverLimit { what: &'static str, announced: u64, max: u64 },
    /// A packet does not carry the next sequence number.
    #[error("packet has sequence number {seen}, expected {expected}")]
    OutOfOrder { expected: u8, seen: u8 },
}
