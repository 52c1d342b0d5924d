//! go-sql-driver of Go.

use crate::attack::Protocol;
use crate::client::{
    Client, ExpectedValue, Key, Kind, Mode, Promise, Reads, Settings, SettingsEncoding, Spelt,
};

pub(super) const GO_SQL_DRIVER: Client = Client {
    id: "go-sql-driver",
    name: "go-sql-driver/mysql",
    protocol: Protocol::MySql,
    files: &[
        ("go.mod", include_str!("../../clients/go-sql-driver/go.mod")),
        ("go.sum", include_str!("../../clients/go-sql-driver/go.sum")),
        ("main.go", include_str!("../../clients/go-sql-driver/main.go")),
    ],
    needs: &["go"],
    needs_hint: "apt-get install golang-go (1.24 or newer)",
    install: &[&["go", "build", "-o", "client", "."]],
    run: &["./client"],
    modes: &[
        Mode { id: "default", options: "(none)", promises: Promise::Nothing },
        Mode { id: "preferred", options: "tls=preferred", promises: Promise::Nothing },
        Mode { id: "skip-verify", options: "tls=skip-verify", promises: Promise::Encrypted },
        Mode { id: "true", options: "tls=true, CA in the machine's store", promises: Promise::Identity },
        Mode { id: "custom", options: "tls=registered config with RootCAs", promises: Promise::Identity },
        Mode {
            id: "custom-fallback",
            options: "tls=registered config&allowFallbackToPlaintext=true",
            promises: Promise::Identity,
        },
        Mode {
            id: "true-fallback",
            options: "tls=true&allowFallbackToPlaintext=true, CA in the machine's store",
            promises: Promise::Identity,
        },
    ],
    settings: Some(&SETTINGS),
};

/// `readBool()` of the driver.
const GO: Reads =
    Reads { on: &["1", "true", "TRUE", "True"], off: &["0", "false", "FALSE", "False"], ..Reads::NOTHING };

const SETTINGS: Settings = Settings {
    family: "go-sql-driver",
    is_old: false,
    chosen_by: None,
    groups: &[],
    carry: SettingsEncoding::Query,
    reads: GO,
    socket: Some("socket"),
    keys: &[
        Key::new("tls", Kind::Word),
        Key::new("allowFallbackToPlaintext", Kind::Flag),
    ],
    spelt: &[
        Spelt::new("default", &[]),
        Spelt::new("default", &[("tls", ExpectedValue::Word("false"))]),
        Spelt::new("preferred", &[("tls", ExpectedValue::Word("preferred"))]),
        Spelt::new("skip-verify", &[("tls", ExpectedValue::Word("skip-verify"))]),
        Spelt::new("true", &[("tls", ExpectedValue::Word("true"))]).provided("the CA is in the machine's store"),
        Spelt::new("true", &[("tls", ExpectedValue::Word("True"))]).provided("the CA is in the machine's store"),
        Spelt::new("true", &[("tls", ExpectedValue::Word("TRUE"))]).provided("the CA is in the machine's store"),
        Spelt::new("true-fallback", &[("tls", ExpectedValue::Word("1")), ("allowFallbackToPlaintext", ExpectedValue::On)]).provided("the CA is in the machine's store"),
        Spelt::new("true-fallback", &[("tls", ExpectedValue::Word("true")), ("allowFallbackToPlaintext", ExpectedValue::On)]).provided("the CA is in the machine's store"),
        Spelt::new("custom", &[("tls", ExpectedValue::Named)]).provided("the configuration that the program registers under this name verifies (RootCAs, and no InsecureSkipVerify)"),
        Spelt::new("custom-fallback", &[("tls", ExpectedValue::Named), ("allowFallbackToPlaintext", ExpectedValue::On)]).provided("the configuration that the program registers under this name verifies (RootCAs, and no InsecureSkipVerify)"),
    ],
};
