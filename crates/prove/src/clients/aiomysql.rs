//! aiomysql.

use crate::client::{Client, Mode, Promise};

pub(super) const AIOMYSQL: Client = Client {
    id: "aiomysql",
    name: "aiomysql",
    files: &[
        ("requirements.txt", include_str!("../../clients/aiomysql/requirements.txt")),
        ("client.py", include_str!("../../clients/aiomysql/client.py")),
    ],
    needs: &["python3"],
    needs_hint: "apt-get install python3-venv",
    install: &[
        &["python3", "-m", "venv", "venv"],
        &["venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"],
    ],
    run: &["venv/bin/python", "client.py"],
    modes: &[
        Mode { id: "default", options: "(none)", promises: Promise::Nothing },
        Mode { id: "unverified", options: "ssl=context with CERT_NONE", promises: Promise::Encrypted },
        Mode {
            id: "verified",
            options: "ssl=ssl.create_default_context(cafile=CA)",
            promises: Promise::Identity,
        },
    ],
};
