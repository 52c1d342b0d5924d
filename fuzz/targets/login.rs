//! What a client sends before it is known, and what the server answers to it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{AuthAnswer, ErrPacket, HandshakeResponse, OkPacket, SslRequest};

fuzz_target!(|payload: &[u8]| {
    let _ = AuthAnswer::parse(payload);
    let _ = OkPacket::parse(payload);
    let _ = OkPacket::parse_eof(payload);
    if let Ok(request) = SslRequest::parse(payload) {
        let mut out = Vec::new();
        request.encode(&mut out);
        assert_eq!(SslRequest::parse(&out), Ok(request));
    }
    let _ = HandshakeResponse::parse(payload);
    if let Ok(error) = ErrPacket::parse(payload) {
        assert!(!error.message.contains('\x1b'));
    }
});
