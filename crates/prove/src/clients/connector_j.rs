//! Connector/J of MySQL: one of last year, the newest, and the last of 5.1, which old applications still bring along.

use crate::attack::Protocol;
use crate::client::{
    Client, ExpectedValue, Key, Kind, Mode, Promise, Reads, Settings, SettingsEncoding, Spelt,
};

pub(super) const CONNECTOR_J: Client = Client {
    id: "connector-j",
    name: "MySQL Connector/J",
    protocol: Protocol::MySql,
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
        Mode {
            id: "system-verify-ca",
            options: "sslMode=VERIFY_CA, CA in the machine's store",
            promises: Promise::Chain,
        },
        Mode {
            id: "system-verify-identity",
            options: "sslMode=VERIFY_IDENTITY, CA in the machine's store",
            promises: Promise::Identity,
        },
        Mode { id: "no-ssl", options: "useSSL=false", promises: Promise::Nothing },
        Mode { id: "ssl", options: "useSSL=true", promises: Promise::Nothing },
        Mode { id: "ssl-required", options: "useSSL=true&requireSSL=true", promises: Promise::Encrypted },
        Mode {
            id: "ssl-verify",
            options: "useSSL=true&verifyServerCertificate=true&trustCertificateKeyStoreUrl=CA",
            promises: Promise::Chain,
        },
        Mode {
            id: "ssl-required-verify",
            options: "useSSL=true&requireSSL=true&verifyServerCertificate=true&trustCertificateKeyStoreUrl=CA",
            promises: Promise::Chain,
        },
    ],
    settings: Some(&SETTINGS),
};

/// The newest that the registry had when its version was written down.
pub(super) const CONNECTOR_J_LATEST: Client = Client {
    id: "connector-j-latest",
    files: &[
        ("pom.xml", include_str!("../../clients/java-connector-j-latest/pom.xml")),
        ("Client.java", include_str!("../../clients/java-connector-j/Client.java")),
    ],
    ..CONNECTOR_J
};

pub(super) const CONNECTOR_J_5_1: Client = Client {
    id: "connector-j-5.1",
    name: "MySQL Connector/J",
    protocol: Protocol::MySql,
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
    settings: Some(&SETTINGS_5_1),
};

/// BooleanPropertyDefinition and EnumPropertyDefinition of Connector/J.
const JAVA: Reads =
    Reads { on: &["true", "yes"], off: &["false", "no"], is_case_blind: true, is_dash_blind: false };

const SETTINGS: Settings = Settings {
    family: "connector-j",
    is_old: false,
    chosen_by: None,
    groups: &[],
    carry: SettingsEncoding::Query,
    reads: JAVA,
    socket: None,
    keys: &[
        Key::new("sslMode", Kind::Word),
        Key::new("trustCertificateKeyStoreUrl", Kind::Ca),
        Key::new("useSSL", Kind::Switch),
        Key::new("requireSSL", Kind::Flag),
        Key::new("verifyServerCertificate", Kind::Flag),
        Key::new("trustCertificateKeyStoreType", Kind::Beside),
        Key::new("trustCertificateKeyStorePassword", Kind::Beside),
        Key::new("clientCertificateKeyStoreUrl", Kind::Beside),
        Key::new("clientCertificateKeyStoreType", Kind::Beside),
        Key::new("clientCertificateKeyStorePassword", Kind::Beside),
        Key::new("tlsVersions", Kind::Beside),
        Key::new("tlsCiphersuites", Kind::Beside),
        Key::new("enabledTLSProtocols", Kind::Beside),
        Key::new("enabledSSLCipherSuites", Kind::Beside),
    ],
    spelt: &[
        Spelt::new("default", &[]),
        Spelt::new("default", &[("sslMode", ExpectedValue::Word("PREFERRED"))]),
        Spelt::new("disabled", &[("sslMode", ExpectedValue::Word("DISABLED"))]),
        Spelt::new("required", &[("sslMode", ExpectedValue::Word("REQUIRED"))]),
        Spelt::new(
            "verify-ca",
            &[
                ("sslMode", ExpectedValue::Word("VERIFY_CA")),
                ("trustCertificateKeyStoreUrl", ExpectedValue::Ca),
            ],
        ),
        Spelt::new(
            "verify-identity",
            &[
                ("sslMode", ExpectedValue::Word("VERIFY_IDENTITY")),
                ("trustCertificateKeyStoreUrl", ExpectedValue::Ca),
            ],
        ),
        Spelt::new("system-verify-ca", &[("sslMode", ExpectedValue::Word("VERIFY_CA"))])
            .provided("the CA is in Java's own store"),
        Spelt::new("system-verify-identity", &[("sslMode", ExpectedValue::Word("VERIFY_IDENTITY"))])
            .provided("the CA is in Java's own store"),
        Spelt::new("no-ssl", &[("useSSL", ExpectedValue::Off)]),
        Spelt::new("ssl", &[("useSSL", ExpectedValue::On)]),
        Spelt::new("ssl-required", &[("useSSL", ExpectedValue::On), ("requireSSL", ExpectedValue::On)]),
        Spelt::new(
            "ssl-verify",
            &[
                ("useSSL", ExpectedValue::On),
                ("verifyServerCertificate", ExpectedValue::On),
                ("trustCertificateKeyStoreUrl", ExpectedValue::Ca),
            ],
        ),
        Spelt::new(
            "ssl-required-verify",
            &[
                ("useSSL", ExpectedValue::On),
                ("requireSSL", ExpectedValue::On),
                ("verifyServerCertificate", ExpectedValue::On),
                ("trustCertificateKeyStoreUrl", ExpectedValue::Ca),
            ],
        ),
    ],
};

/// It verifies of its own accord where `useSSL` is said, and knows no `sslMode`.
const SETTINGS_5_1: Settings = Settings {
    family: "connector-j",
    is_old: true,
    chosen_by: None,
    groups: &[],
    carry: SettingsEncoding::Query,
    reads: JAVA,
    socket: None,
    keys: &[
        Key::new("trustCertificateKeyStoreUrl", Kind::Ca),
        Key::new("useSSL", Kind::Switch),
        Key::new("requireSSL", Kind::Flag),
        Key::new("verifyServerCertificate", Kind::Switch),
        Key::new("trustCertificateKeyStoreType", Kind::Beside),
        Key::new("trustCertificateKeyStorePassword", Kind::Beside),
        Key::new("clientCertificateKeyStoreUrl", Kind::Beside),
        Key::new("clientCertificateKeyStoreType", Kind::Beside),
        Key::new("clientCertificateKeyStorePassword", Kind::Beside),
        Key::new("tlsVersions", Kind::Beside),
        Key::new("tlsCiphersuites", Kind::Beside),
        Key::new("enabledTLSProtocols", Kind::Beside),
        Key::new("enabledSSLCipherSuites", Kind::Beside),
    ],
    spelt: &[
        Spelt::new("default", &[]),
        Spelt::new("no-ssl", &[("useSSL", ExpectedValue::Off)]),
        Spelt::new("ssl", &[("useSSL", ExpectedValue::On), ("verifyServerCertificate", ExpectedValue::Off)]),
        Spelt::new(
            "required",
            &[
                ("useSSL", ExpectedValue::On),
                ("requireSSL", ExpectedValue::On),
                ("verifyServerCertificate", ExpectedValue::Off),
            ],
        ),
        Spelt::new(
            "verify",
            &[
                ("useSSL", ExpectedValue::On),
                ("verifyServerCertificate", ExpectedValue::On),
                ("trustCertificateKeyStoreUrl", ExpectedValue::Ca),
            ],
        ),
        Spelt::new(
            "verify",
            &[("useSSL", ExpectedValue::On), ("trustCertificateKeyStoreUrl", ExpectedValue::Ca)],
        ),
        Spelt::new(
            "required-verify",
            &[
                ("useSSL", ExpectedValue::On),
                ("requireSSL", ExpectedValue::On),
                ("verifyServerCertificate", ExpectedValue::On),
                ("trustCertificateKeyStoreUrl", ExpectedValue::Ca),
            ],
        ),
        Spelt::new(
            "required-verify",
            &[
                ("useSSL", ExpectedValue::On),
                ("requireSSL", ExpectedValue::On),
                ("trustCertificateKeyStoreUrl", ExpectedValue::Ca),
            ],
        ),
    ],
};
