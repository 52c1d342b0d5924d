//! Connector/J of MariaDB.

use crate::client::{Client, Mode, Promise};

pub(super) const MARIADB_CONNECTOR_J: Client = Client {
    id: "mariadb-connector-j",
    name: "MariaDB Connector/J",
    files: &[
        ("pom.xml", include_str!("../../clients/java-mariadb/pom.xml")),
        ("Client.java", include_str!("../../clients/java-mariadb/Client.java")),
    ],
    needs: &["java", "javac", "mvn"],
    needs_hint: "apt-get install default-jdk-headless maven",
    install: &[
        &["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"],
        &["javac", "-d", ".", "Client.java"],
    ],
    run: &["java", "-cp", "lib/*:.", "Client"],
    modes: &[
        Mode { id: "default", options: "(none)", promises: Promise::Nothing },
        Mode { id: "trust", options: "sslMode=trust", promises: Promise::Encrypted },
        Mode { id: "verify-ca", options: "sslMode=verify-ca&serverSslCert=CA", promises: Promise::Chain },
        Mode {
            id: "verify-full",
            options: "sslMode=verify-full&serverSslCert=CA",
            promises: Promise::Identity,
        },
    ],
};
