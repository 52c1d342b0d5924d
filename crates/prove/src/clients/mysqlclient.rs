//! mysqlclient, over whatever client library the machine has (Debian: MariaDB's).

use crate::client::{Client, Mode, Promise};

pub(super) const MYSQLCLIENT: Client = Client {
    id: "mysqlclient",
    name: "mysqlclient",
    files: &[
        ("requirements.txt", include_str!("../../clients/mysqlclient/requirements.txt")),
        ("client.py", include_str!("../../clients/mysqlclient/client.py")),
    ],
    needs: &["python3", "cc", "mariadb_config", "pkg-config"],
    needs_hint: "apt-get install python3-venv python3-dev gcc pkg-config libmariadb-dev libmariadb-dev-compat",
    install: &[
        &["python3", "-m", "venv", "venv"],
        &["venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"],
    ],
    run: &["venv/bin/python", "client.py"],
    modes: &[
        Mode { id: "default", options: "(none)", promises: Promise::Nothing },
        Mode { id: "preferred", options: "ssl_mode='PREFERRED'", promises: Promise::Nothing },
        Mode { id: "required", options: "ssl_mode='REQUIRED'", promises: Promise::Encrypted },
        Mode { id: "ca", options: "ssl={'ca': CA}", promises: Promise::Chain },
        Mode { id: "verify-ca", options: "ssl_mode='VERIFY_CA', ssl={'ca': CA}", promises: Promise::Chain },
        Mode {
            id: "verify-identity",
            options: "ssl_mode='VERIFY_IDENTITY', ssl={'ca': CA}",
            promises: Promise::Identity,
        },
    ],
};
