//! A PROXY header: what was read can be written, and reads the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::proxy_protocol::{parse, write_v1, write_v2};

fuzz_target!(|bytes: &[u8]| {
    let Ok(Some(header)) = parse(bytes) else { return };
    assert!(header.bytes <= bytes.len());
    for write in [write_v1, write_v2] {
        let mut out = Vec::new();
        write(&mut out, &header.proxied);
        let again = parse(&out).expect("what we wrote is a header").expect("it is whole");
        assert_eq!((again.proxied, again.bytes), (header.proxied, out.len()));
    }
});
