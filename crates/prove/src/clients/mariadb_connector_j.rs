//! Connector/J of MariaDB.

use crate::attack::Protocol;
use crate::client::{
    Client, ExpectedValue, Key, Kind, Mode, Promise, Reads, Settings, SettingsEncoding, Spelt,
};

pub(super) const MARIADB_CONNECTOR_J: Client = Client {
    id: "mariadb-connector-j",
    name: "MariaDB Connector/J",
    protocol: Protocol::MySql,
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
        Mode { id: "disable", options: "sslMode=disable", promises: Promise::Nothing },
        Mode { id: "trust", options: "sslMode=trust", promises: Promise::Encrypted },
        Mode { id: "verify-ca", options: "sslMode=verify-ca&serverSslCert=CA", promises: Promise::Chain },
        Mode {
            id: "verify-full",
            options: "sslMode=verify-full&serverSslCert=CA",
            promises: Promise::Identity,
        },
    ],
    settings: Some(&SETTINGS),
};

/// The newest that the registry had when its version was written down. It verifies of its own accord.
pub(super) const MARIADB_CONNECTOR_J_LATEST: Client = Client {
    id: "mariadb-connector-j-latest",
    files: &[
        ("pom.xml", include_str!("../../clients/java-mariadb-latest/pom.xml")),
        ("Client.java", include_str!("../../clients/java-mariadb/Client.java")),
    ],
    ..MARIADB_CONNECTOR_J
};

/// Configuration.Builder and SslMode of MariaDB Connector/J: a mode has two spellings, one with each.
const JAVA: Reads =
    Reads { on: &["true", "1"], off: &["false", "0"], is_case_blind: true, is_dash_blind: true };

const SETTINGS: Settings = Settings {
    family: "mariadb-connector-j",
    is_old: false,
    chosen_by: None,
    groups: &[],
    carry: SettingsEncoding::Query,
    reads: JAVA,
    socket: Some("localSocket"),
    keys: &[
        Key::new("sslMode", Kind::Word),
        Key::new("serverSslCert", Kind::Ca),
        // The words of the series before 3, which still count.
        Key::new("useSsl", Kind::Switch),
        Key::new("useSSL", Kind::Switch),
        Key::new("trustServerCertificate", Kind::Switch),
        Key::new("disableSslHostnameVerification", Kind::Switch),
        Key::new("enabledSslProtocolSuites", Kind::Beside),
        Key::new("enabledSslCipherSuites", Kind::Beside),
        Key::new("keyStore", Kind::Beside),
        Key::new("keyStorePassword", Kind::Beside),
        Key::new("keyPassword", Kind::Beside),
        Key::new("keyStoreType", Kind::Beside),
    ],
    spelt: &[
        Spelt::new("default", &[]),
        Spelt::new("disable", &[("sslMode", ExpectedValue::Word("disable"))]),
        Spelt::new("trust", &[("sslMode", ExpectedValue::Word("trust"))]),
        Spelt::new("trust", &[("sslMode", ExpectedValue::Word("REQUIRED"))]),
        Spelt::new(
            "verify-ca",
            &[("sslMode", ExpectedValue::Word("verify-ca")), ("serverSslCert", ExpectedValue::Ca)],
        ),
        Spelt::new(
            "verify-full",
            &[("sslMode", ExpectedValue::Word("verify-full")), ("serverSslCert", ExpectedValue::Ca)],
        ),
        Spelt::new(
            "verify-full",
            &[("sslMode", ExpectedValue::Word("VERIFY_IDENTITY")), ("serverSslCert", ExpectedValue::Ca)],
        ),
        Spelt::new("disable", &[("useSSL", ExpectedValue::Off)]),
        Spelt::new("trust", &[("useSsl", ExpectedValue::On), ("trustServerCertificate", ExpectedValue::On)]),
        Spelt::new("trust", &[("useSSL", ExpectedValue::On), ("trustServerCertificate", ExpectedValue::On)]),
        Spelt::new(
            "verify-ca",
            &[
                ("useSsl", ExpectedValue::On),
                ("disableSslHostnameVerification", ExpectedValue::On),
                ("serverSslCert", ExpectedValue::Ca),
            ],
        ),
        Spelt::new("verify-full", &[("useSsl", ExpectedValue::On), ("serverSslCert", ExpectedValue::Ca)]),
    ],
};
