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

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: String =
            hex.lines().filter(|line| !line.starts_with('#')).flat_map(|line| line.trim().chars()).collect();
        (0..digits.len() / 2).map(|at| u8::from_str_radix(&digits[at * 2..at * 2 + 2], 16).unwrap()).collect()
    }

    /// First flights of real servers, as `wire` keeps them.
    #[test]
    fn version_and_suite_are_read_from_the_answers_of_real_servers() {
        for (name, version, cipher_suite) in [
            ("tls10-dhe-rsa", 0x0301, None),
            ("tls11-ecdhe-rsa", 0x0302, None),
            ("tls12-ecdhe-rsa", 0x0303, Some(0xc02f)),
            ("tls13-x25519", 0x0304, Some(0x1301)),
            ("tls13-retry", 0x0304, Some(0x1301)),
        ] {
            let path = format!("{}/../wire/testdata/tls/{name}.hex", env!("CARGO_MANIFEST_DIR"));
            let flight = bytes(&std::fs::read_to_string(path).unwrap());
            let agreed = Agreed::in_segment(&flight).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(agreed.version, version, "{name}");
            assert!(cipher_suite.is_none_or(|suite| suite == agreed.cipher_suite), "{name}: {agreed:?}");
            for cut in 0..flight.len().min(60) {
                assert_eq!(Agreed::in_segment(&flight[..cut]), None, "{name}: a part of it says nothing");
            }
            assert_eq!(Agreed::in_segment(&flight[1..]), None, "{name}");
        }
    }
}
