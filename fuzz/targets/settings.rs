//! Files of settings, in every form, which the first byte chooses: errors are short, and the password of a URL is nowhere.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prove::config::{FORMS, choose, family, read, text};

const NAMES: [&str; 14] = [
    ".mylogin.cnf", "my.cnf", "a.service", ".env", "a.properties", "a.yml", "a.json", "a.js", "a.py", "a.php", "a.rb", "a.pl", "a.go",
    "notes",
];

fuzz_target!(|bytes: &[u8]| {
    let Some((first, bytes)) = bytes.split_first() else { return };
    let name = NAMES[usize::from(*first) % NAMES.len()];
    assert!(NAMES.len() == FORMS.len());
    if let Ok(words) = std::str::from_utf8(bytes) {
        let _ = text(words);
    }
    // The pairs of a host hold a login too.
    let line = [&b"jdbc:mysql://address=(host=a)(password=qzqzqz)(x="[..], bytes, b"),h2/d"].concat();
    if let Ok(words) = std::str::from_utf8(&line)
        && !bytes.windows(6).any(|window| window == b"qzqzqz")
    {
        assert!(!format!("{:?}", text(words)).contains("qzqzqz"));
    }
    // Whatever stands around, the password of a URL on a line of its own is nowhere.
    for name in [".env", "notes"] {
        let text = [bytes, b"\nDATABASE_URL=mysql+pymysql://u:qzqzqz@h/d?ssl_ca=", bytes].concat();
        if !bytes.windows(6).any(|window| window == b"qzqzqz") {
            assert!(!format!("{:?}", read(name, &text)).contains("qzqzqz"));
        }
    }
    match read(name, bytes) {
        Err(error) => assert!(error.to_string().len() < 120),
        Ok((_, all)) => {
            for found in &all.found {
                for client in ["pymysql", "connector-j", "mysql-cli", "node-mysql2"].into_iter().flat_map(family) {
                    let _ = choose::choose(client, &found.settings);
                }
            }
        }
    }
});
