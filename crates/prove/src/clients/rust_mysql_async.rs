//! mysql_async of Rust, on native-tls.

use crate::attack::Protocol;
use crate::client::{
    Client, ExpectedValue, Key, Kind, Mode, Promise, Reads, Settings, SettingsEncoding, Spelt,
};

pub(super) const MYSQL_ASYNC: Client = Client {
    id: "rust-mysql-async",
    name: "mysql_async (Rust)",
    protocol: Protocol::MySql,
    files: &[
        ("Cargo.toml", include_str!("../../clients/rust-mysql-async/Cargo.toml")),
        ("Cargo.lock", include_str!("../../clients/rust-mysql-async/Cargo.lock")),
        ("src/main.rs", include_str!("../../clients/rust-mysql-async/src/main.rs")),
    ],
    needs: &["cargo", "cc", "pkg-config"],
    needs_hint: "apt-get install cargo gcc pkg-config libssl-dev (Rust 1.88 or newer)",
    install: &[&["cargo", "build", "--quiet", "--locked", "--target-dir", "target"]],
    run: &["target/debug/client"],
    modes: &[
        Mode { id: "default", options: "(none)", promises: Promise::Nothing },
        Mode {
            id: "invalid-certs",
            options: "SslOpts with_danger_accept_invalid_certs(true)",
            promises: Promise::Encrypted,
        },
        Mode {
            id: "skip-domain",
            options: "SslOpts with the CA, with_danger_skip_domain_validation(true)",
            promises: Promise::Chain,
        },
        Mode {
            id: "system",
            options: "SslOpts::default(), CA in the machine's store",
            promises: Promise::Identity,
        },
        Mode { id: "ca", options: "SslOpts with the CA", promises: Promise::Identity },
    ],
    settings: Some(&SETTINGS),
};

/// `str::parse::<bool>()`.
const RUST: Reads = Reads { on: &["true"], off: &["false"], ..Reads::NOTHING };

/// Of its URL; what the builder is told stands in code.
const SETTINGS: Settings = Settings {
    family: "rust-mysql-async",
    is_old: false,
    chosen_by: None,
    groups: &[],
    carry: SettingsEncoding::Query,
    reads: RUST,
    socket: Some("socket"),
    keys: &[
        Key::new("require_ssl", Kind::Flag),
        Key::new("verify_ca", Kind::Switch),
        Key::new("verify_identity", Kind::Switch),
    ],
    spelt: &[
        Spelt::new("default", &[]),
        Spelt::new("system", &[("require_ssl", ExpectedValue::On)])
            .provided("the CA is in the machine's store"),
        Spelt::new("invalid-certs", &[("require_ssl", ExpectedValue::On), ("verify_ca", ExpectedValue::Off)]),
    ],
};
