//! mysql of Node: the old one, that many still have.

use crate::attack::Protocol;
use crate::client::{
    Client, ExpectedValue, Key, Kind, Mode, Promise, Reads, Settings, SettingsEncoding, Spelt,
};

pub(super) const MYSQL: Client = Client {
    id: "node-mysql",
    name: "mysql (Node)",
    protocol: Protocol::MySql,
    files: &[
        ("package.json", include_str!("../../clients/node-mysql/package.json")),
        ("package-lock.json", include_str!("../../clients/node-mysql/package-lock.json")),
        ("client.js", include_str!("../../clients/node-mysql/client.js")),
    ],
    needs: &["node", "npm"],
    needs_hint: "apt-get install nodejs npm",
    install: &[&["npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]],
    run: &["node", "client.js"],
    modes: &[
        Mode { id: "default", options: "(none)", promises: Promise::Nothing },
        Mode { id: "unverified", options: "ssl: {rejectUnauthorized: false}", promises: Promise::Encrypted },
        Mode { id: "ca", options: "ssl: {ca}", promises: Promise::Chain },
        Mode {
            id: "system",
            options: "ssl: {rejectUnauthorized: true}, CA in the machine's store",
            promises: Promise::Chain,
        },
    ],
    settings: Some(&SETTINGS),
};

const SETTINGS: Settings = Settings {
    family: "node-mysql",
    is_old: false,
    chosen_by: None,
    groups: &[],
    carry: SettingsEncoding::Json,
    reads: Reads::NOTHING,
    socket: Some("socketPath"),
    keys: &[
        Key::new("ssl", Kind::Word),
        Key::new("ssl.ca", Kind::Ca),
        Key::new("ssl.rejectUnauthorized", Kind::Switch),
        Key::new("ssl.cert", Kind::Beside),
        Key::new("ssl.key", Kind::Beside),
        Key::new("ssl.minVersion", Kind::Beside),
        Key::new("ssl.maxVersion", Kind::Beside),
        Key::new("ssl.ciphers", Kind::Beside),
        Key::new("ssl.passphrase", Kind::Beside),
    ],
    spelt: &[
        Spelt::new("default", &[]),
        Spelt::new("unverified", &[("ssl.rejectUnauthorized", ExpectedValue::Off)]),
        Spelt::new(
            "unverified",
            &[("ssl.ca", ExpectedValue::Ca), ("ssl.rejectUnauthorized", ExpectedValue::Off)],
        ),
        Spelt::new("ca", &[("ssl.ca", ExpectedValue::Ca)]),
        Spelt::new("ca", &[("ssl.ca", ExpectedValue::Ca), ("ssl.rejectUnauthorized", ExpectedValue::On)]),
        Spelt::new("system", &[("ssl.rejectUnauthorized", ExpectedValue::On)]),
        Spelt::new("system", &[("ssl", ExpectedValue::Word("{}"))]),
        // No object, so nothing in it says that it verifies.
        Spelt::new("unverified", &[("ssl", ExpectedValue::Word("true"))]),
    ],
};
