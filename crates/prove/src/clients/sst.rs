//! Donors of Galera: whoever sends a whole database is a client too, of the joiner that it sends it to.
//!
//! `ssl-ca`, `ssl-cert` and `ssl-key` stand in `[mysqld]`, where the server has them for its clients; the rest in `[sst]`.

use crate::attack::Protocol;
use crate::client::{Client, Mode, Promise};

const SERVER: Mode = Mode { id: "server", options: "ssl-ca, ssl-cert, ssl-key", promises: Promise::Nothing };
const REQUIRED: Mode =
    Mode { id: "required", options: "ssl-mode=REQUIRED, ssl-*", promises: Promise::Encrypted };
const VERIFY_CA: Mode =
    Mode { id: "verify-ca", options: "ssl-mode=VERIFY_CA, ssl-*", promises: Promise::Chain };
const VERIFY_IDENTITY: Mode =
    Mode { id: "verify-identity", options: "ssl-mode=VERIFY_IDENTITY, ssl-*", promises: Promise::Identity };
const DEFAULT: Mode = Mode { id: "default", options: "(none)", promises: Promise::Nothing };

pub(super) const MARIABACKUP: Client = Client {
    id: "sst-mariabackup",
    name: "SST donor, mariabackup",
    protocol: Protocol::Stream,
    files: &[("sst.sh", include_str!("../../clients/sst/sst.sh"))],
    needs: &["bash", "openssl"],
    needs_hint: "sealion lab fetch galera-10.11",
    install: &[&["bash", "sst.sh", "galera-10.11", "mariabackup", "version"]],
    run: &["bash", "sst.sh", "galera-10.11", "mariabackup"],
    modes: &[
        DEFAULT,
        SERVER,
        REQUIRED,
        VERIFY_CA,
        VERIFY_IDENTITY,
        Mode { id: "encrypt-2", options: "encrypt=2, tca, tcert", promises: Promise::Chain },
        Mode { id: "encrypt-3", options: "encrypt=3, tcert, tkey", promises: Promise::Encrypted },
        Mode { id: "encrypt-3-ca", options: "encrypt=3, tca, tcert, tkey", promises: Promise::Identity },
        Mode { id: "encrypt-4", options: "encrypt=4, tca, tcert, tkey", promises: Promise::Chain },
    ],
    settings: None,
};

pub(super) const RSYNC: Client = Client {
    id: "sst-rsync",
    name: "SST donor, rsync",
    install: &[&["bash", "sst.sh", "galera-10.11", "rsync", "version"]],
    run: &["bash", "sst.sh", "galera-10.11", "rsync"],
    modes: &[DEFAULT, SERVER, REQUIRED, VERIFY_CA, VERIFY_IDENTITY],
    ..MARIABACKUP
};
