//! mysql-connector-python: the pure one, and the one on a C extension.

use crate::client::{Client, Mode, Promise};

const MODES: &[Mode] = &[
    Mode { id: "default", options: "(none)", promises: Promise::Nothing },
    Mode { id: "ca", options: "ssl_ca=CA", promises: Promise::Chain },
    Mode { id: "verify-cert", options: "ssl_ca=CA, ssl_verify_cert=True", promises: Promise::Chain },
    Mode {
        id: "verify-identity",
        options: "ssl_ca=CA, ssl_verify_cert=True, ssl_verify_identity=True",
        promises: Promise::Identity,
    },
];
const INSTALL: &[&[&str]] = &[
    &["python3", "-m", "venv", "venv"],
    &["venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"],
];

pub(super) const PURE: Client = Client {
    id: "mysql-connector-python",
    name: "mysql-connector-python, pure",
    files: &[
        ("requirements.txt", include_str!("../../clients/mysql-connector-python/requirements.txt")),
        ("client.py", include_str!("../../clients/mysql-connector-python/client.py")),
    ],
    needs: &["python3"],
    needs_hint: "apt-get install python3-venv",
    install: INSTALL,
    run: &["venv/bin/python", "client.py", "pure"],
    modes: MODES,
};

pub(super) const C_EXTENSION: Client = Client {
    id: "mysql-connector-python-c",
    name: "mysql-connector-python, C extension",
    files: &[
        ("requirements.txt", include_str!("../../clients/mysql-connector-python/requirements-c.txt")),
        ("client.py", include_str!("../../clients/mysql-connector-python/client.py")),
    ],
    run: &["venv/bin/python", "client.py", "c"],
    ..PURE
};

/// Of the series that many still have; one wheel holds both.
pub(super) const PURE_8_0: Client = Client {
    id: "mysql-connector-python-8.0",
    files: &[
        ("requirements.txt", include_str!("../../clients/mysql-connector-python/requirements-8.0.txt")),
        ("client.py", include_str!("../../clients/mysql-connector-python/client.py")),
    ],
    ..PURE
};

pub(super) const C_EXTENSION_8_0: Client =
    Client { id: "mysql-connector-python-c-8.0", name: C_EXTENSION.name, run: C_EXTENSION.run, ..PURE_8_0 };
