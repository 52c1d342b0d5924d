//! mysql_async of Rust, on native-tls.

use crate::client::{Client, Mode, Promise};

pub(super) const MYSQL_ASYNC: Client = Client {
    id: "rust-mysql-async",
    name: "mysql_async (Rust)",
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
};
