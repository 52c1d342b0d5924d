//! Frames of the X Protocol before a login.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::x_protocol::{Message, parse};

fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    while let Ok(Some((message, taken))) = parse(rest) {
        assert!(taken >= wire::x_protocol::HEADER_BYTES);
        if let Message::Capabilities(seen) = message {
            assert!(!seen.offers_tls() || seen.names.iter().any(|name| name == "tls"));
        }
        rest = &rest[taken..];
    }
});
