//! Option files: what is read is written back byte by byte, and an edit stays readable.
#![no_main]

use formats::optfile::OptionFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (file, error) = OptionFile::parse_until_error(bytes, "fuzz");
    let _ = file.items().count();
    if error.is_none() {
        assert_eq!(file.to_bytes().as_slice(), bytes);
    }
    let Ok(mut file) = OptionFile::parse(bytes, "fuzz") else { return };
    if file.set("mysqld", "ssl_ca", "/a b/ca.pem").is_ok() {
        let written = file.to_bytes();
        let again = OptionFile::parse(&written, "fuzz").expect("what we wrote is an option file");
        let value = again.get(&["mysqld"], "ssl-ca").expect("what we set is there");
        assert_eq!(value.value, Some("/a b/ca.pem"));
    }
    file.remove("mysqld", "ssl_ca");
    file.remove_group("mysqld");
    let _ = OptionFile::parse(&file.to_bytes(), "fuzz").expect("what is left is an option file");
});
