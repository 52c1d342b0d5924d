//! The `mariadb` client, out of the bundles of `sealion lab fetch`.

use crate::attack::Protocol;
use crate::client::{
    Client, ExpectedValue, Key, Kind, Mode, Promise, Reads, Settings, SettingsEncoding, Spelt,
};

const MODES: &[Mode] = &[
    Mode { id: "default", options: "(none)", promises: Promise::Nothing },
    Mode { id: "env-password", options: "(none), password in MYSQL_PWD", promises: Promise::Nothing },
    Mode { id: "ssl", options: "--ssl", promises: Promise::Encrypted },
    Mode { id: "ca", options: "--ssl-ca=CA", promises: Promise::Chain },
    Mode { id: "verify", options: "--ssl-ca=CA --ssl-verify-server-cert", promises: Promise::Identity },
    Mode { id: "skip-verify", options: "--ssl --skip-ssl-verify-server-cert", promises: Promise::Encrypted },
    Mode { id: "skip-ssl", options: "--skip-ssl", promises: Promise::Nothing },
];

/// Finds the client of a bundle, and the words of a mode.
pub(super) const SCRIPT: (&str, &str) = ("client.sh", include_str!("../../clients/cli/client.sh"));

pub(super) const MARIADB_10_11: Client = Client {
    id: "mariadb-10.11",
    name: "mariadb CLI",
    protocol: Protocol::MySql,
    files: &[SCRIPT],
    needs: &["bash"],
    needs_hint: "sealion lab fetch galera-10.11",
    install: &[&["bash", "client.sh", "galera-10.11", "mariadb", "version"]],
    run: &["bash", "client.sh", "galera-10.11", "mariadb"],
    modes: MODES,
    settings: Some(&SETTINGS_10_11),
};

pub(super) const MARIADB_11_8: Client = Client {
    id: "mariadb-11.8",
    name: "mariadb CLI",
    needs_hint: "sealion lab fetch mariadb-11.8",
    install: &[&["bash", "client.sh", "mariadb-11.8", "mariadb", "version"]],
    run: &["bash", "client.sh", "mariadb-11.8", "mariadb"],
    settings: Some(&SETTINGS_11_8),
    ..MARIADB_10_11
};

/// It verifies nothing of its own accord.
pub(super) const SETTINGS_10_11: Settings = Settings {
    family: "mariadb-cli",
    is_old: false,
    chosen_by: None,
    groups: &["mysql", "mariadb-client", "client", "client-server", "client-mariadb"],
    carry: SettingsEncoding::Lines,
    reads: Reads::OPTION_FILE,
    socket: Some("socket"),
    keys: &[
        Key::new("ssl", Kind::Switch),
        Key::new("ssl-ca", Kind::Ca),
        Key::new("ssl-verify-server-cert", Kind::Switch),
        Key::new("ssl-cert", Kind::Beside),
        Key::new("ssl-key", Kind::Beside),
        Key::new("ssl-cipher", Kind::Beside),
        Key::new("tls-version", Kind::Beside),
    ],
    spelt: &[
        Spelt::new("default", &[]),
        Spelt::new("default", &[("ssl-verify-server-cert", ExpectedValue::Off)]),
        Spelt::new("ssl", &[("ssl", ExpectedValue::On)]),
        Spelt::new("ca", &[("ssl-ca", ExpectedValue::Ca)]),
        Spelt::new("ca", &[("ssl", ExpectedValue::On), ("ssl-ca", ExpectedValue::Ca)]),
        Spelt::new("ca", &[("ssl-ca", ExpectedValue::Ca), ("ssl-verify-server-cert", ExpectedValue::Off)]),
        Spelt::new("verify", &[("ssl-ca", ExpectedValue::Ca), ("ssl-verify-server-cert", ExpectedValue::On)]),
        Spelt::new(
            "verify",
            &[
                ("ssl", ExpectedValue::On),
                ("ssl-ca", ExpectedValue::Ca),
                ("ssl-verify-server-cert", ExpectedValue::On),
            ],
        ),
        Spelt::new(
            "skip-verify",
            &[("ssl", ExpectedValue::On), ("ssl-verify-server-cert", ExpectedValue::Off)],
        ),
        Spelt::new("skip-ssl", &[("ssl", ExpectedValue::Off)]),
    ],
};

/// It verifies of its own accord, so leaving the switch out is turning it on.
const SETTINGS_11_8: Settings = Settings {
    family: "mariadb-cli",
    is_old: false,
    chosen_by: None,
    groups: &["mysql", "mariadb-client", "client", "client-server", "client-mariadb"],
    carry: SettingsEncoding::Lines,
    reads: Reads::OPTION_FILE,
    socket: Some("socket"),
    keys: &[
        Key::new("ssl", Kind::Switch),
        Key::new("ssl-ca", Kind::Ca),
        Key::new("ssl-verify-server-cert", Kind::Switch),
        Key::new("ssl-cert", Kind::Beside),
        Key::new("ssl-key", Kind::Beside),
        Key::new("ssl-cipher", Kind::Beside),
        Key::new("tls-version", Kind::Beside),
    ],
    spelt: &[
        Spelt::new("default", &[]),
        Spelt::new("default", &[("ssl-verify-server-cert", ExpectedValue::On)]),
        Spelt::new("ssl", &[("ssl", ExpectedValue::On)]),
        Spelt::new("ca", &[("ssl-ca", ExpectedValue::Ca)]),
        Spelt::new("ca", &[("ssl", ExpectedValue::On), ("ssl-ca", ExpectedValue::Ca)]),
        Spelt::new("verify", &[("ssl-ca", ExpectedValue::Ca), ("ssl-verify-server-cert", ExpectedValue::On)]),
        Spelt::new(
            "verify",
            &[
                ("ssl", ExpectedValue::On),
                ("ssl-ca", ExpectedValue::Ca),
                ("ssl-verify-server-cert", ExpectedValue::On),
            ],
        ),
        Spelt::new(
            "skip-verify",
            &[("ssl", ExpectedValue::On), ("ssl-verify-server-cert", ExpectedValue::Off)],
        ),
        Spelt::new("skip-ssl", &[("ssl", ExpectedValue::Off)]),
        Spelt::new("skip-verify", &[("ssl-verify-server-cert", ExpectedValue::Off)]),
    ],
};
