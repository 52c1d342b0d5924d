//! go-sql-driver of Go.

use crate::client::{Client, Mode, Promise};

pub(super) const GO_SQL_DRIVER: Client = Client {
    id: "go-sql-driver",
    name: "go-sql-driver/mysql",
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
    ],
};
