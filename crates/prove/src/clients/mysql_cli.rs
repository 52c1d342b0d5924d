//! The `mysql` client, out of the bundle of `sealion lab fetch`.

use super::mariadb_cli::SCRIPT;
use crate::attack::Protocol;
use crate::client::{
    Client, ExpectedValue, Key, Kind, Mode, Promise, Reads, Settings, SettingsEncoding, Spelt,
};

pub(super) const MYSQL_9_7: Client = Client {
    id: "mysql-9.7",
    name: "mysql CLI",
    protocol: Protocol::MySql,
    files: &[SCRIPT],
    needs: &["bash"],
    needs_hint: "sealion lab fetch mysql-9.7",
    install: &[&["bash", "client.sh", "mysql-9.7", "mysql", "version"]],
    run: &["bash", "client.sh", "mysql-9.7", "mysql"],
    modes: &[
        Mode { id: "default", options: "(none)", promises: Promise::Nothing },
        Mode { id: "disabled", options: "--ssl-mode=DISABLED", promises: Promise::Nothing },
        Mode { id: "required", options: "--ssl-mode=REQUIRED", promises: Promise::Encrypted },
        Mode { id: "ca", options: "--ssl-ca=CA", promises: Promise::Chain },
        Mode { id: "verify-ca", options: "--ssl-mode=VERIFY_CA --ssl-ca=CA", promises: Promise::Chain },
        Mode {
            id: "verify-identity",
            options: "--ssl-mode=VERIFY_IDENTITY --ssl-ca=CA",
            promises: Promise::Identity,
        },
        Mode { id: "required-ca", options: "--ssl-mode=REQUIRED --ssl-ca=CA", promises: Promise::Chain },
    ],
    settings: Some(&SETTINGS),
};

pub(super) const SETTINGS: Settings = Settings {
    family: "mysql-cli",
    is_old: false,
    chosen_by: None,
    groups: &["mysql", "client"],
    carry: SettingsEncoding::Lines,
    reads: Reads::OPTION_FILE,
    socket: Some("socket"),
    keys: &[
        Key::new("ssl-mode", Kind::Word),
        Key::new("ssl-ca", Kind::Ca),
        Key::new("ssl-cert", Kind::Beside),
        Key::new("ssl-key", Kind::Beside),
        Key::new("ssl-cipher", Kind::Beside),
        Key::new("tls-version", Kind::Beside),
        Key::new("tls-ciphersuites", Kind::Beside),
        Key::new("ssl-session-data", Kind::Beside),
    ],
    spelt: &[
        Spelt::new("default", &[]),
        Spelt::new("default", &[("ssl-mode", ExpectedValue::Word("PREFERRED"))]),
        Spelt::new("disabled", &[("ssl-mode", ExpectedValue::Word("DISABLED"))]),
        Spelt::new("required", &[("ssl-mode", ExpectedValue::Word("REQUIRED"))]),
        Spelt::new("ca", &[("ssl-ca", ExpectedValue::Ca)]),
        Spelt::new(
            "verify-ca",
            &[("ssl-mode", ExpectedValue::Word("VERIFY_CA")), ("ssl-ca", ExpectedValue::Ca)],
        ),
        Spelt::new(
            "verify-identity",
            &[("ssl-mode", ExpectedValue::Word("VERIFY_IDENTITY")), ("ssl-ca", ExpectedValue::Ca)],
        ),
        Spelt::new(
            "required-ca",
            &[("ssl-mode", ExpectedValue::Word("REQUIRED")), ("ssl-ca", ExpectedValue::Ca)],
        ),
    ],
};
