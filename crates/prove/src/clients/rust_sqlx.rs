//! sqlx of Rust, on native-tls.

use crate::attack::Protocol;
use crate::client::{
    Client, ExpectedValue, Key, Kind, Mode, Promise, Reads, Settings, SettingsEncoding, Spelt,
};

pub(super) const SQLX: Client = Client {
    id: "rust-sqlx",
    name: "sqlx (Rust)",
    protocol: Protocol::MySql,
    files: &[
        ("Cargo.toml", include_str!("../../clients/rust-sqlx/Cargo.toml")),
        ("Cargo.lock", include_str!("../../clients/rust-sqlx/Cargo.lock")),
        ("src/main.rs", include_str!("../../clients/rust-sqlx/src/main.rs")),
    ],
    needs: &["cargo", "cc", "pkg-config"],
    needs_hint: "apt-get install cargo gcc pkg-config libssl-dev (Rust 1.88 or newer)",
    install: &[&["cargo", "build", "--quiet", "--locked", "--target-dir", "target"]],
    run: &["target/debug/client"],
    modes: &[
        Mode { id: "default", options: "(none)", promises: Promise::Nothing },
        Mode { id: "disabled", options: "ssl-mode=DISABLED", promises: Promise::Nothing },
        Mode { id: "required", options: "ssl-mode=REQUIRED", promises: Promise::Encrypted },
        Mode { id: "verify-ca", options: "ssl-mode=VERIFY_CA, ssl-ca=CA", promises: Promise::Chain },
        Mode {
            id: "verify-identity",
            options: "ssl-mode=VERIFY_IDENTITY, ssl-ca=CA",
            promises: Promise::Identity,
        },
    ],
    settings: Some(&SETTINGS),
};

const SETTINGS: Settings = Settings {
    family: "rust-sqlx",
    is_old: false,
    chosen_by: None,
    groups: &[],
    carry: SettingsEncoding::Query,
    reads: Reads { is_case_blind: true, ..Reads::NOTHING },
    socket: Some("socket"),
    keys: &[
        Key::new("ssl-mode", Kind::Word),
        Key::new("ssl-ca", Kind::Ca),
        Key::new("ssl-cert", Kind::Beside),
        Key::new("ssl-key", Kind::Beside),
    ],
    spelt: &[
        Spelt::new("default", &[]),
        Spelt::new("default", &[("ssl-mode", ExpectedValue::Word("PREFERRED"))]),
        Spelt::new("disabled", &[("ssl-mode", ExpectedValue::Word("DISABLED"))]),
        Spelt::new("required", &[("ssl-mode", ExpectedValue::Word("REQUIRED"))]),
        Spelt::new(
            "verify-ca",
            &[("ssl-mode", ExpectedValue::Word("VERIFY_CA")), ("ssl-ca", ExpectedValue::Ca)],
        ),
        Spelt::new(
            "verify-identity",
            &[("ssl-mode", ExpectedValue::Word("VERIFY_IDENTITY")), ("ssl-ca", ExpectedValue::Ca)],
        ),
    ],
};
