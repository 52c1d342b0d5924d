//! mysqlclient, over whatever client library the machine has (Debian: MariaDB's).

use crate::attack::Protocol;
use crate::client::{
    Client, ExpectedValue, Key, Kind, Mode, Promise, Reads, Settings, SettingsEncoding, Spelt,
};

pub(super) const MYSQLCLIENT: Client = Client {
    id: "mysqlclient",
    name: "mysqlclient",
    protocol: Protocol::MySql,
    files: &[
        ("requirements.txt", include_str!("../../clients/mysqlclient/requirements.txt")),
        ("client.py", include_str!("../../clients/mysqlclient/client.py")),
    ],
    needs: &["python3", "cc", "mariadb_config", "pkg-config"],
    needs_hint: "apt-get install python3-venv python3-dev gcc pkg-config libmariadb-dev libmariadb-dev-compat",
    install: &[
        &["python3", "-m", "venv", "venv"],
        &["venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"],
    ],
    run: &["venv/bin/python", "client.py"],
    modes: &[
        Mode { id: "default", options: "(none)", promises: Promise::Nothing },
        Mode { id: "preferred", options: "ssl_mode='PREFERRED'", promises: Promise::Nothing },
        Mode { id: "required", options: "ssl_mode='REQUIRED'", promises: Promise::Encrypted },
        Mode { id: "ca", options: "ssl={'ca': CA}", promises: Promise::Chain },
        Mode { id: "verify-ca", options: "ssl_mode='VERIFY_CA', ssl={'ca': CA}", promises: Promise::Chain },
        Mode {
            id: "verify-identity",
            options: "ssl_mode='VERIFY_IDENTITY', ssl={'ca': CA}",
            promises: Promise::Identity,
        },
        Mode { id: "required-ca", options: "ssl_mode='REQUIRED', ssl={'ca': CA}", promises: Promise::Chain },
    ],
    settings: Some(&SETTINGS),
};

const SETTINGS: Settings = Settings {
    family: "mysqlclient",
    is_old: false,
    chosen_by: None,
    groups: &[],
    carry: SettingsEncoding::Json,
    reads: Reads::TRUTHY,
    socket: Some("unix_socket"),
    keys: &[
        Key::new("ssl_mode", Kind::Word),
        Key::new("ssl.ca", Kind::Ca),
        Key::new("ssl.cert", Kind::Beside),
        Key::new("ssl.key", Kind::Beside),
        Key::new("ssl.cipher", Kind::Beside),
        Key::new("read_default_file", Kind::Elsewhere),
    ],
    spelt: &[
        Spelt::new("default", &[]),
        Spelt::new("preferred", &[("ssl_mode", ExpectedValue::Word("PREFERRED"))]),
        Spelt::new("required", &[("ssl_mode", ExpectedValue::Word("REQUIRED"))]),
        Spelt::new("ca", &[("ssl.ca", ExpectedValue::Ca)]),
        Spelt::new(
            "verify-ca",
            &[("ssl_mode", ExpectedValue::Word("VERIFY_CA")), ("ssl.ca", ExpectedValue::Ca)],
        ),
        Spelt::new(
            "verify-identity",
            &[("ssl_mode", ExpectedValue::Word("VERIFY_IDENTITY")), ("ssl.ca", ExpectedValue::Ca)],
        ),
        Spelt::new(
            "required-ca",
            &[("ssl_mode", ExpectedValue::Word("REQUIRED")), ("ssl.ca", ExpectedValue::Ca)],
        ),
        Spelt::new("ca", &[("ssl_mode", ExpectedValue::Word("DISABLED")), ("ssl.ca", ExpectedValue::Ca)]),
        Spelt::new("default", &[("ssl_mode", ExpectedValue::Word("DISABLED"))]),
    ],
};
