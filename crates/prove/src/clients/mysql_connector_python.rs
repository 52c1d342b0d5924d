//! mysql-connector-python: the pure one, and the one on a C extension.

use crate::attack::Protocol;
use crate::client::{
    Client, ExpectedValue, Key, Kind, Mode, Promise, Reads, Settings, SettingsEncoding, Spelt,
};

const MODES: &[Mode] = &[
    Mode { id: "default", options: "(none)", promises: Promise::Nothing },
    Mode { id: "ca", options: "ssl_ca=CA", promises: Promise::Chain },
    Mode { id: "verify-cert", options: "ssl_ca=CA, ssl_verify_cert=True", promises: Promise::Chain },
    Mode {
        id: "verify-identity",
        options: "ssl_ca=CA, ssl_verify_cert=True, ssl_verify_identity=True",
        promises: Promise::Identity,
    },
    Mode { id: "disabled", options: "ssl_disabled=True", promises: Promise::Nothing },
];
const INSTALL: &[&[&str]] = &[
    &["python3", "-m", "venv", "venv"],
    &["venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"],
];

pub(super) const PURE: Client = Client {
    id: "mysql-connector-python",
    name: "mysql-connector-python, pure",
    protocol: Protocol::MySql,
    files: &[
        ("requirements.txt", include_str!("../../clients/mysql-connector-python/requirements.txt")),
        ("client.py", include_str!("../../clients/mysql-connector-python/client.py")),
    ],
    needs: &["python3"],
    needs_hint: "apt-get install python3-venv",
    install: INSTALL,
    run: &["venv/bin/python", "client.py", "pure"],
    modes: MODES,
    settings: Some(&PURE_SETTINGS),
};

pub(super) const C_EXTENSION: Client = Client {
    id: "mysql-connector-python-c",
    name: "mysql-connector-python, C extension",
    files: &[
        ("requirements.txt", include_str!("../../clients/mysql-connector-python/requirements-c.txt")),
        ("client.py", include_str!("../../clients/mysql-connector-python/client.py")),
    ],
    run: &["venv/bin/python", "client.py", "c"],
    settings: Some(&C_SETTINGS),
    ..PURE
};

/// The newest that the registry had, as the pure one is already.
pub(super) const C_EXTENSION_LATEST: Client = Client {
    id: "mysql-connector-python-c-latest",
    files: &[
        ("requirements.txt", include_str!("../../clients/mysql-connector-python/requirements-c-latest.txt")),
        ("client.py", include_str!("../../clients/mysql-connector-python/client.py")),
    ],
    ..C_EXTENSION
};

/// Of the series that many still have; one wheel holds both.
pub(super) const PURE_8_0: Client = Client {
    id: "mysql-connector-python-8.0",
    settings: Some(&PURE_8_0_SETTINGS),
    files: &[
        ("requirements.txt", include_str!("../../clients/mysql-connector-python/requirements-8.0.txt")),
        ("client.py", include_str!("../../clients/mysql-connector-python/client.py")),
    ],
    ..PURE
};

pub(super) const C_EXTENSION_8_0: Client = Client {
    id: "mysql-connector-python-c-8.0",
    name: C_EXTENSION.name,
    run: C_EXTENSION.run,
    settings: Some(&C_8_0_SETTINGS),
    ..PURE_8_0
};

const PURE_SETTINGS: Settings = Settings {
    family: "mysql-connector-python",
    is_old: false,
    chosen_by: Some(("use_pure", true)),
    groups: &[],
    carry: SettingsEncoding::Json,
    reads: Reads::TRUTHY,
    socket: Some("unix_socket"),
    keys: &[
        Key::new("ssl_ca", Kind::Ca),
        Key::new("ssl_verify_cert", Kind::Flag),
        Key::new("ssl_verify_identity", Kind::Flag),
        Key::new("ssl_disabled", Kind::Flag),
        Key::new("ssl_cert", Kind::Beside),
        Key::new("ssl_key", Kind::Beside),
        Key::new("ssl_cipher", Kind::Beside),
        Key::new("tls_versions", Kind::Beside),
        Key::new("tls_ciphersuites", Kind::Beside),
        Key::new("option_files", Kind::Elsewhere),
        Key::new("read_default_file", Kind::Elsewhere),
    ],
    spelt: &[
        Spelt::new("default", &[]),
        Spelt::new("ca", &[("ssl_ca", ExpectedValue::Ca)]),
        Spelt::new("verify-cert", &[("ssl_ca", ExpectedValue::Ca), ("ssl_verify_cert", ExpectedValue::On)]),
        Spelt::new(
            "verify-identity",
            &[
                ("ssl_ca", ExpectedValue::Ca),
                ("ssl_verify_cert", ExpectedValue::On),
                ("ssl_verify_identity", ExpectedValue::On),
            ],
        ),
        Spelt::new("disabled", &[("ssl_disabled", ExpectedValue::On)]),
    ],
};

/// The extension is what it takes of its own accord.
/// A text where it wants a `bool` is an error before it connects.
const C_SETTINGS: Settings =
    Settings { chosen_by: Some(("use_pure", false)), reads: Reads::NOTHING, ..PURE_SETTINGS };
const PURE_8_0_SETTINGS: Settings = Settings { is_old: true, ..PURE_SETTINGS };
const C_8_0_SETTINGS: Settings = Settings { is_old: true, ..C_SETTINGS };
