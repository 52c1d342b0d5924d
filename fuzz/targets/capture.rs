//! Packets as they are captured: each begins with its length, all go through reassembly and the search for a canary.
#![no_main]

use capture::FlowTable;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut flows = FlowTable::new(Vec::new());
    let mut rest = bytes;
    while let Some(([a, b], after)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_le_bytes([*a, *b])).min(after.len());
        let (packet, tail) = after.split_at(length);
        flows.packet(packet, 1);
        rest = tail;
    }
    flows.finish();
    for flow in flows.flows() {
        let _ = format!("{flow:?}");
    }
});
