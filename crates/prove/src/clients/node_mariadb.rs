//! mariadb of Node.

use crate::attack::Protocol;
use crate::client::{
    Client, ExpectedValue, Key, Kind, Mode, Promise, Reads, Settings, SettingsEncoding, Spelt,
};

pub(super) const MARIADB: Client = Client {
    id: "node-mariadb",
    name: "mariadb (Node)",
    protocol: Protocol::MySql,
    files: &[
        ("package.json", include_str!("../../clients/node-mariadb/package.json")),
        ("package-lock.json", include_str!("../../clients/node-mariadb/package-lock.json")),
        ("client.js", include_str!("../../clients/node-mariadb/client.js")),
    ],
    needs: &["node", "npm"],
    needs_hint: "apt-get install nodejs npm",
    install: &[&["npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]],
    run: &["node", "client.js"],
    modes: &[
        Mode { id: "default", options: "(none)", promises: Promise::Nothing },
        Mode { id: "unverified", options: "ssl: {rejectUnauthorized: false}", promises: Promise::Encrypted },
        Mode { id: "true", options: "ssl: true, CA in the machine's store", promises: Promise::Identity },
        Mode { id: "ca", options: "ssl: {ca}", promises: Promise::Identity },
    ],
    settings: Some(&SETTINGS),
};

const SETTINGS: Settings = Settings {
    family: "node-mariadb",
    is_old: false,
    chosen_by: None,
    groups: &[],
    carry: SettingsEncoding::Json,
    reads: Reads::NOTHING,
    socket: Some("socketPath"),
    keys: &[
        Key::new("ssl", Kind::Flag),
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
        Spelt::new("true", &[("ssl", ExpectedValue::On)]),
        Spelt::new("unverified", &[("ssl.rejectUnauthorized", ExpectedValue::Off)]),
        Spelt::new(
            "unverified",
            &[("ssl.ca", ExpectedValue::Ca), ("ssl.rejectUnauthorized", ExpectedValue::Off)],
        ),
        Spelt::new("ca", &[("ssl.ca", ExpectedValue::Ca)]),
        Spelt::new("ca", &[("ssl.ca", ExpectedValue::Ca), ("ssl.rejectUnauthorized", ExpectedValue::On)]),
    ],
};
