//! A compressed file of a backup: any archive, and any packet of QuickLZ.
#![no_main]

use formats::qpress::quicklz::{Table, decompress, sizes};
use formats::qpress::{Part, parse_block, parse_file};
use libfuzzer_sys::fuzz_target;

const BLOCK_BYTES_MAX: usize = 64 << 10;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(Part::Needs(more)) = parse_file(bytes) {
        assert!(more > bytes.len());
    }
    match parse_block(bytes, BLOCK_BYTES_MAX) {
        Ok(Part::Needs(more)) => assert!(more > bytes.len() && more < 2 * BLOCK_BYTES_MAX),
        Ok(Part::Block { plain_bytes, bytes: used, .. }) => {
            assert!(plain_bytes <= BLOCK_BYTES_MAX && used <= bytes.len());
        }
        _ => {}
    }
    // Behind no checksum, which no fuzzer guesses.
    if let Ok(sizes) = sizes(bytes)
        && sizes.plain_bytes <= BLOCK_BYTES_MAX
        && let Some(packet) = bytes.get(..sizes.packet_bytes)
    {
        let mut out = Vec::new();
        if decompress(packet, &mut Table::default(), &mut out).is_ok() {
            assert_eq!(out.len(), sizes.plain_bytes);
        }
    }
});
