//! mariadb of Node.

use crate::client::{Client, Mode, Promise};

pub(super) const MARIADB: Client = Client {
    id: "node-mariadb",
    name: "mariadb (Node)",
    files: &[
        ("package.json", include_str!("../../clients/node-mariadb/package.json")),
        ("package-lock.json", include_str!("../../clients/node-mariadb/package-lock.json")),
        ("client.js", include_str!("../../clients/node-mariadb/client.js")),
    ],
    needs: &["node", "npm"],
    needs_hint: "apt-get install nodejs npm",
    install: &[&["npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]],
    run: &["node", "client.js"],
    modes: &[
        Mode { id: "default", options: "(none)", promises: Promise::Nothing },
        Mode { id: "unverified", options: "ssl: {rejectUnauthorized: false}", promises: Promise::Encrypted },
        Mode { id: "true", options: "ssl: true, CA in the machine's store", promises: Promise::Identity },
        Mode { id: "ca", options: "ssl: {ca}", promises: Promise::Identity },
    ],
};
