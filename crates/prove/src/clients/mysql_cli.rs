//! The `mysql` client, out of the bundle of `sealion lab fetch`.

use super::mariadb_cli::SCRIPT;
use crate::client::{Client, Mode, Promise};

pub(super) const MYSQL_9_7: Client = Client {
    id: "mysql-9.7",
    name: "mysql CLI",
    files: &[SCRIPT],
    needs: &["bash"],
    needs_hint: "sealion lab fetch mysql-9.7",
    install: &[&["bash", "client.sh", "mysql-9.7", "mysql", "version"]],
    run: &["bash", "client.sh", "mysql-9.7", "mysql"],
    modes: &[
        Mode { id: "default", options: "(none)", promises: Promise::Nothing },
        Mode { id: "disabled", options: "--ssl-mode=DISABLED", promises: Promise::Nothing },
        Mode { id: "required", options: "--ssl-mode=REQUIRED", promises: Promise::Encrypted },
        Mode { id: "ca", options: "--ssl-ca=CA", promises: Promise::Chain },
        Mode { id: "verify-ca", options: "--ssl-mode=VERIFY_CA --ssl-ca=CA", promises: Promise::Chain },
        Mode {
            id: "verify-identity",
            options: "--ssl-mode=VERIFY_IDENTITY --ssl-ca=CA",
            promises: Promise::Identity,
        },
    ],
};
