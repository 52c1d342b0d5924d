//! PyMySQL.

use crate::attack::Protocol;
use crate::client::{
    Client, ExpectedValue, Key, Kind, Mode, Promise, Reads, Settings, SettingsEncoding, Spelt,
};

pub(super) const PYMYSQL: Client = Client {
    id: "pymysql",
    name: "PyMySQL",
    protocol: Protocol::MySql,
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
        Mode { id: "dict-ca", options: "ssl={'ca': CA}", promises: Promise::Chain },
        Mode {
            id: "dict-ca-any-host",
            options: "ssl={'ca': CA, 'check_hostname': False}",
            promises: Promise::Chain,
        },
    ],
    settings: Some(&SETTINGS),
};

/// What makes a context.
const MADE: &str = "create_default_context";
const STORE: &str = "the CA is in the machine's store";

const SETTINGS: Settings = Settings {
    family: "pymysql",
    is_old: false,
    chosen_by: None,
    groups: &[],
    carry: SettingsEncoding::Json,
    reads: Reads::TRUTHY,
    socket: Some("unix_socket"),
    keys: &[
        Key::new("ssl_ca", Kind::Ca),
        Key::new("ssl_verify_cert", Kind::Flag),
        Key::new("ssl_verify_identity", Kind::Flag),
        Key::new("ssl", Kind::Word),
        Key::new("ssl.cafile", Kind::Ca),
        Key::new("ssl.ca", Kind::Ca),
        Key::new("ssl.check_hostname", Kind::Switch),
        Key::new("ssl.verify_mode", Kind::Word),
        Key::new("ssl_cert", Kind::Beside),
        Key::new("ssl_key", Kind::Beside),
        Key::new("ssl_key_password", Kind::Beside),
        Key::new("ssl.cert", Kind::Beside),
        Key::new("ssl.key", Kind::Beside),
        Key::new("ssl.cipher", Kind::Beside),
        Key::new("read_default_file", Kind::Elsewhere),
    ],
    spelt: &[
        Spelt::new("default", &[]),
        Spelt::new("ssl-dict", &[("ssl.check_hostname", ExpectedValue::Off)]),
        Spelt::new(
            "ssl-dict",
            &[
                ("ssl.ca", ExpectedValue::Ca),
                ("ssl.check_hostname", ExpectedValue::Off),
                ("ssl.verify_mode", ExpectedValue::Word("false")),
            ],
        ),
        Spelt::new("ca", &[("ssl_ca", ExpectedValue::Ca)]),
        Spelt::new("verify-cert", &[("ssl_ca", ExpectedValue::Ca), ("ssl_verify_cert", ExpectedValue::On)]),
        Spelt::new(
            "verify-identity",
            &[
                ("ssl_ca", ExpectedValue::Ca),
                ("ssl_verify_cert", ExpectedValue::On),
                ("ssl_verify_identity", ExpectedValue::On),
            ],
        ),
        Spelt::new("dict-ca", &[("ssl.ca", ExpectedValue::Ca)]),
        Spelt::new(
            "dict-ca-any-host",
            &[("ssl.ca", ExpectedValue::Ca), ("ssl.check_hostname", ExpectedValue::Off)],
        ),
        Spelt::new("default", &[("ssl", ExpectedValue::Word("{}"))]),
        Spelt::new(
            "verify-identity",
            &[("ssl_ca", ExpectedValue::Ca), ("ssl_verify_identity", ExpectedValue::On)],
        ),
        // A context of the program's own.
        Spelt::new(
            "verify-identity",
            &[("ssl", ExpectedValue::Word(MADE)), ("ssl.cafile", ExpectedValue::Ca)],
        ),
        Spelt::new("verify-identity", &[("ssl", ExpectedValue::Word(MADE))]).provided(STORE),
        Spelt::new(
            "verify-cert",
            &[
                ("ssl", ExpectedValue::Word(MADE)),
                ("ssl.cafile", ExpectedValue::Ca),
                ("ssl.check_hostname", ExpectedValue::Off),
            ],
        ),
        Spelt::new(
            "ssl-dict",
            &[
                ("ssl", ExpectedValue::Word(MADE)),
                ("ssl.cafile", ExpectedValue::Ca),
                ("ssl.check_hostname", ExpectedValue::Off),
                ("ssl.verify_mode", ExpectedValue::Word("CERT_NONE")),
            ],
        ),
        Spelt::new(
            "ssl-dict",
            &[
                ("ssl", ExpectedValue::Word(MADE)),
                ("ssl.check_hostname", ExpectedValue::Off),
                ("ssl.verify_mode", ExpectedValue::Word("CERT_NONE")),
            ],
        ),
        // Any word of its own takes the place of the dictionary, and the CA in it is gone: so does a URL of SQLAlchemy that has both.
        Spelt::new("verify-cert", &[("ssl.ca", ExpectedValue::Ca), ("ssl_verify_cert", ExpectedValue::On)])
            .provided(STORE),
        Spelt::new(
            "verify-cert",
            &[
                ("ssl.ca", ExpectedValue::Ca),
                ("ssl_verify_cert", ExpectedValue::On),
                ("ssl_verify_identity", ExpectedValue::On),
            ],
        )
        .provided(STORE),
    ],
};
