//! Connector/J of MySQL: today's, and the last of 5.1, which old applications still bring along.

use crate::client::{Client, Mode, Promise};

pub(super) const CONNECTOR_J: Client = Client {
    id: "connector-j",
    name: "MySQL Connector/J",
    files: &[
        ("pom.xml", include_str!("../../clients/java-connector-j/pom.xml")),
        ("Client.java", include_str!("../../clients/java-connector-j/Client.java")),
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
        Mode { id: "disabled", options: "sslMode=DISABLED", promises: Promise::Nothing },
        Mode { id: "required", options: "sslMode=REQUIRED", promises: Promise::Encrypted },
        Mode {
            id: "verify-ca",
            options: "sslMode=VERIFY_CA&trustCertificateKeyStoreUrl=CA",
            promises: Promise::Chain,
        },
        Mode {
            id: "verify-identity",
            options: "sslMode=VERIFY_IDENTITY&trustCertificateKeyStoreUrl=CA",
            promises: Promise::Identity,
        },
    ],
};

pub(super) const CONNECTOR_J_5_1: Client = Client {
    id: "connector-j-5.1",
    name: "MySQL Connector/J",
    files: &[
        ("pom.xml", include_str!("../../clients/java-connector-j-5.1/pom.xml")),
        ("Client.java", include_str!("../../clients/java-connector-j-5.1/Client.java")),
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
        Mode { id: "no-ssl", options: "useSSL=false", promises: Promise::Nothing },
        Mode {
            id: "ssl",
            options: "useSSL=true&verifyServerCertificate=false",
            promises: Promise::Encrypted,
        },
        Mode {
            id: "required",
            options: "useSSL=true&requireSSL=true&verifyServerCertificate=false",
            promises: Promise::Encrypted,
        },
        Mode {
            id: "verify",
            options: "useSSL=true&verifyServerCertificate=true&trustCertificateKeyStoreUrl=CA",
            promises: Promise::Chain,
        },
        Mode {
            id: "required-verify",
            options: "useSSL=true&requireSSL=true&verifyServerCertificate=true&trustCertificateKeyStoreUrl=CA",
            promises: Promise::Chain,
        },
    ],
};
