//! What a server's first answer in TLS says of the connection: its version and its cipher suite.

use serde::{Deserialize, Serialize};
use wire::tls::{Event, ServerFlight, starts_with_server_hello};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreed {
    pub version: u16,
    pub cipher_suite: u16,
}

impl Agreed {
    /// Of a segment that begins with a ServerHello, and has it as a whole.
    pub fn in_segment(payload: &[u8]) -> Option<Self> {
        if !starts_with_server_hello(payload) {
            return None;
        }
        let mut flight = ServerFlight::new();
        flight.push(payload);
        match flight.next_event() {
            Ok(Some(Event::ServerHello(hello))) => {
                Some(Self { version: hello.version.0, cipher_suite: hello.cipher_suite })
            }
            // It is asked for another share, and keeps version and suite (RFC 8446, 4.1.4).
            Ok(Some(Event::HelloRetryRequest(hello))) => {
                Some(Self { version: hello.version.0, cipher_suite: hello.cipher_suite })
            }
            _ => None,
        }
    }
}
