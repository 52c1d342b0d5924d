//! PyMySQL.

use crate::client::{Client, Mode, Promise};

pub(super) const PYMYSQL: Client = Client {
    id: "pymysql",
    name: "PyMySQL",
    files: &[
        ("requirements.txt", include_str!("../../clients/pymysql/requirements.txt")),
        ("client.py", include_str!("../../clients/pymysql/client.py")),
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
        Mode { id: "ssl-dict", options: "ssl={'check_hostname': False}", promises: Promise::Encrypted },
        Mode { id: "ca", options: "ssl_ca=CA", promises: Promise::Chain },
        Mode { id: "verify-cert", options: "ssl_ca=CA, ssl_verify_cert=True", promises: Promise::Chain },
        Mode {
            id: "verify-identity",
            options: "ssl_ca=CA, ssl_verify_cert=True, ssl_verify_identity=True",
            promises: Promise::Identity,
        },
    ],
};
