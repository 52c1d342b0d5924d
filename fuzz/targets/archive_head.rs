//! What an archive begins with, before anything of it is authenticated.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stream::archive::head::{HEAD_BYTES_MAX, MAC_BYTES, MAGIC, Parsed, parse};

fuzz_target!(|bytes: &[u8]| {
    // Half of the time behind the magic, which chance does not find.
    let with_magic = [&MAGIC[..], bytes].concat();
    for bytes in [bytes, &with_magic] {
        match parse(bytes) {
            Ok(Parsed::Needs(wanted)) => assert!(wanted > bytes.len() && wanted <= HEAD_BYTES_MAX),
            Ok(Parsed::Head(head, length)) => {
                let encoded = head.encode();
                assert_eq!(encoded.as_deref(), bytes.get(..length - MAC_BYTES));
            }
            Err(_) => {}
        }
    }
});
