//! mysql of Node: the old one, that many still have.

use crate::client::{Client, Mode, Promise};

pub(super) const MYSQL: Client = Client {
    id: "node-mysql",
    name: "mysql (Node)",
    files: &[
        ("package.json", include_str!("../../clients/node-mysql/package.json")),
        ("package-lock.json", include_str!("../../clients/node-mysql/package-lock.json")),
        ("client.js", include_str!("../../clients/node-mysql/client.js")),
    ],
    needs: &["node", "npm"],
    needs_hint: "apt-get install nodejs npm",
    install: &[&["npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]],
    run: &["node", "client.js"],
    modes: &[
        Mode { id: "default", options: "(none)", promises: Promise::Nothing },
        Mode { id: "unverified", options: "ssl: {rejectUnauthorized: false}", promises: Promise::Encrypted },
        Mode { id: "ca", options: "ssl: {ca}", promises: Promise::Chain },
    ],
};
