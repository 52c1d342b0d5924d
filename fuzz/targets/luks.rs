//! A LUKS header: any bytes, any JSON in one.
#![no_main]

use formats::luks::{ENTRIES_MAX, HEAD_BYTES_MAX, Header, Parsed, parse, parse_json};
use libfuzzer_sys::fuzz_target;

fn check(header: &Header) {
    assert!(header.slots.len() <= ENTRIES_MAX && header.tokens.len() <= ENTRIES_MAX);
    for slot in header.openers() {
        assert!(header.slot(slot.id).is_some());
    }
    assert!(header.free_slot().is_none_or(|free| header.openers().all(|slot| slot.id != free)));
    let _ = (header.claim(), header.half_written(), header.is_detached());
}

fuzz_target!(|bytes: &[u8]| {
    match parse(bytes, false) {
        Parsed::Needs(more) => assert!(more > bytes.len() && more <= HEAD_BYTES_MAX),
        Parsed::Header(header) => check(&header),
        Parsed::Absent | Parsed::Unclear(_) => {}
    }
    match parse(bytes, true) {
        Parsed::Needs(_) => panic!("nothing comes behind the end"),
        Parsed::Header(header) => check(&header),
        Parsed::Absent | Parsed::Unclear(_) => {}
    }
    if let Ok(header) = parse_json(bytes) {
        check(&header);
    }
});
