//! mysql2 of Node.

use crate::client::{Client, Mode, Promise};

pub(super) const MYSQL2: Client = Client {
    id: "node-mysql2",
    name: "mysql2 (Node)",
    files: &[
        ("package.json", include_str!("../../clients/node-mysql2/package.json")),
        ("package-lock.json", include_str!("../../clients/node-mysql2/package-lock.json")),
        ("client.js", include_str!("../../clients/node-mysql2/client.js")),
    ],
    needs: &["node", "npm"],
    needs_hint: "apt-get install nodejs npm",
    install: &[&["npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]],
    run: &["node", "client.js"],
    modes: &[
        Mode { id: "default", options: "(none)", promises: Promise::Nothing },
        Mode { id: "unverified", options: "ssl: {rejectUnauthorized: false}", promises: Promise::Encrypted },
        Mode { id: "ca", options: "ssl: {ca}", promises: Promise::Chain },
        Mode {
            id: "verify-identity",
            options: "ssl: {ca, verifyIdentity: true}",
            promises: Promise::Identity,
        },
    ],
};
