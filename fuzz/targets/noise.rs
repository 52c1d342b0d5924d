//! Stretches of a temporary file, which may hold anything.
#![no_main]

use formats::noise::{Stretch, judge};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    assert_eq!(judge(bytes) == Stretch::Zero, bytes.iter().all(|byte| *byte == 0));
});
