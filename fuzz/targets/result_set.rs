//! The answer to a query: the first byte chooses the capabilities, the rest is packets.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{Capabilities, PacketBuffer, TextEvent, TextResponse};

fuzz_target!(|bytes: &[u8]| {
    let Some((first, bytes)) = bytes.split_first() else { return };
    let mut buffer = PacketBuffer::new(1 << 20);
    let mut response = TextResponse::new(Capabilities(u32::from(*first) << 24));
    for part in bytes.chunks(usize::from(*first) + 1) {
        buffer.push(part);
        while let Ok(Some(packet)) = buffer.next_packet() {
            if let Ok(TextEvent::Row(row)) = response.feed(packet.payload) {
                let _ = row.count();
            }
        }
    }
});
