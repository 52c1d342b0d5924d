//! `wsrep_provider_options`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use server::ProviderOptions;

fuzz_target!(|text: &str| {
    let mut options = ProviderOptions::parse(text);
    let _ = options.differences(&ProviderOptions::default());
    options.set("socket.ssl", "yes");
    assert_eq!(options.get("socket.ssl"), Some("yes"));
    options.remove_prefix("socket.ssl");
    assert_eq!(options.get("socket.ssl"), None);
    let _ = format!("{options}");
});
