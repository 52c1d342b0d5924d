//! The first packet of a server, framed as it comes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{FirstPacket, PacketBuffer, greeting};

fuzz_target!(|bytes: &[u8]| {
    let mut buffer = PacketBuffer::new(wire::packet::BEFORE_LOGIN_BYTES_MAX);
    buffer.push(bytes);
    while let Ok(Some(packet)) = buffer.next_packet() {
        if let Ok(FirstPacket::Greeting(seen)) = greeting::parse(packet.payload) {
            let _ = (seen.is_mariadb(), seen.offers_tls(), seen.version_text());
            // The version was escaped for printing, so the bytes may differ; what they say may not.
            if let Ok(FirstPacket::Greeting(again)) = greeting::parse(&greeting::encode(&seen)) {
                assert_eq!(again.capabilities, seen.capabilities);
                assert_eq!(again.connection_id, seen.connection_id);
            }
        }
    }
});
