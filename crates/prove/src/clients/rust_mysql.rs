//! mysql of Rust, on native-tls.

use crate::attack::Protocol;
use crate::client::{Client, Mode, Promise, Reads, Settings, SettingsEncoding, Spelt};

pub(super) const MYSQL: Client = Client {
    id: "rust-mysql",
    name: "mysql (Rust)",
    protocol: Protocol::MySql,
    files: &[
        ("Cargo.toml", include_str!("../../clients/rust-mysql/Cargo.toml")),
        ("Cargo.lock", include_str!("../../clients/rust-mysql/Cargo.lock")),
        ("src/main.rs", include_str!("../../clients/rust-mysql/src/main.rs")),
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

/// Its URL has no word about TLS, and it refuses those that it does not know; what the builder is told stands in code.
// Seen: 28.0.4 takes no `require_ssl`, which mysql_async does.
const SETTINGS: Settings = Settings {
    family: "rust-mysql",
    is_old: false,
    chosen_by: None,
    groups: &[],
    carry: SettingsEncoding::Query,
    reads: RUST,
    socket: Some("socket"),
    keys: &[],
    spelt: &[Spelt::new("default", &[])],
};
