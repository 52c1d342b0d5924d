//! mysql2 of Node.

use crate::attack::Protocol;
use crate::client::{
    Client, ExpectedValue, Key, Kind, Mode, Promise, Reads, Settings, SettingsEncoding, Spelt,
};

pub(super) const MYSQL2: Client = Client {
    id: "node-mysql2",
    name: "mysql2 (Node)",
    protocol: Protocol::MySql,
    files: &[
        ("package.json", include_str!("../../clients/node-mysql2/package.json")),
        ("package-lock.json", include_str!("../../clients/node-mysql2/package-lock.json")),
        ("client.js", include_str!("../../clients/node-mysql2/client.js")),
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
            id: "verify-identity",
            options: "ssl: {ca, verifyIdentity: true}",
            promises: Promise::Identity,
        },
        Mode {
            id: "system",
            options: "ssl: {rejectUnauthorized: true}, CA in the machine's store",
            promises: Promise::Chain,
        },
    ],
    settings: Some(&SETTINGS),
};

/// The newest that the registry had when its lock file was made.
pub(super) const MYSQL2_LATEST: Client = Client {
    id: "node-mysql2-latest",
    files: &[
        ("package.json", include_str!("../../clients/node-mysql2-latest/package.json")),
        ("package-lock.json", include_str!("../../clients/node-mysql2-latest/package-lock.json")),
        ("client.js", include_str!("../../clients/node-mysql2/client.js")),
    ],
    ..MYSQL2
};

const SETTINGS: Settings = Settings {
    family: "node-mysql2",
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
        Key::new("ssl.verifyIdentity", Kind::Flag),
        // A word of another driver's, that people write for Sequelize: passed over.
        Key::new("ssl.require", Kind::Beside),
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
        Spelt::new(
            "unverified",
            &[
                ("ssl.ca", ExpectedValue::Ca),
                ("ssl.rejectUnauthorized", ExpectedValue::Off),
                ("ssl.verifyIdentity", ExpectedValue::On),
            ],
        ),
        Spelt::new("ca", &[("ssl.ca", ExpectedValue::Ca)]),
        Spelt::new("ca", &[("ssl.ca", ExpectedValue::Ca), ("ssl.rejectUnauthorized", ExpectedValue::On)]),
        Spelt::new("system", &[("ssl.rejectUnauthorized", ExpectedValue::On)]),
        Spelt::new("system", &[("ssl", ExpectedValue::Word("{}"))]),
        Spelt::new(
            "verify-identity",
            &[("ssl.ca", ExpectedValue::Ca), ("ssl.verifyIdentity", ExpectedValue::On)],
        ),
        Spelt::new(
            "verify-identity",
            &[
                ("ssl.ca", ExpectedValue::Ca),
                ("ssl.rejectUnauthorized", ExpectedValue::On),
                ("ssl.verifyIdentity", ExpectedValue::On),
            ],
        ),
        Spelt::new(
            "verify-identity",
            &[("ssl.rejectUnauthorized", ExpectedValue::On), ("ssl.verifyIdentity", ExpectedValue::On)],
        )
        .provided("the CA is in the machine's store"),
    ],
};
