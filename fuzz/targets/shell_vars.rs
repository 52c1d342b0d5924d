//! Files of variables of a start script: what is read is written back byte by byte, and an edit is read back.
#![no_main]

use formats::shell_vars::ShellVars;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut file) = ShellVars::parse(bytes, "fuzz") else { return };
    assert_eq!(file.to_bytes(), bytes);
    if file.set("GALERA_OPTIONS", "socket.ssl=YES;a=b").is_ok() {
        let again = ShellVars::parse(&file.to_bytes(), "fuzz").expect("what we wrote is such a file");
        let value = again.get("GALERA_OPTIONS").expect("a literal").expect("what we set is there");
        assert_eq!(value.0, "socket.ssl=YES;a=b");
    }
    file.remove("GALERA_OPTIONS");
    let left = ShellVars::parse(&file.to_bytes(), "fuzz").expect("what is left is such a file");
    assert_eq!(left.get("GALERA_OPTIONS").expect("nothing is left of it"), None);
});
