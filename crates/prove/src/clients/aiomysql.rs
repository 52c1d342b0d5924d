//! aiomysql.

use crate::attack::Protocol;
use crate::client::{
    Client, ExpectedValue, Key, Kind, Mode, Promise, Reads, Settings, SettingsEncoding, Spelt,
};

pub(super) const AIOMYSQL: Client = Client {
    id: "aiomysql",
    name: "aiomysql",
    protocol: Protocol::MySql,
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
        Mode {
            id: "system",
            options: "ssl=ssl.create_default_context(), CA in the machine's store",
            promises: Promise::Identity,
        },
    ],
    settings: Some(&SETTINGS),
};

const SETTINGS: Settings = Settings {
    family: "aiomysql",
    is_old: false,
    chosen_by: None,
    groups: &[],
    carry: SettingsEncoding::Json,
    reads: Reads::TRUTHY,
    socket: Some("unix_socket"),
    keys: &[
        Key::new("ssl", Kind::Word),
        Key::new("ssl.cafile", Kind::Ca),
        Key::new("ssl.check_hostname", Kind::Switch),
        Key::new("ssl.verify_mode", Kind::Word),
        Key::new("read_default_file", Kind::Elsewhere),
    ],
    spelt: &[
        Spelt::new("default", &[]),
        Spelt::new(
            "verified",
            &[("ssl", ExpectedValue::Word("create_default_context")), ("ssl.cafile", ExpectedValue::Ca)],
        ),
        Spelt::new("system", &[("ssl", ExpectedValue::Word("create_default_context"))]),
        Spelt::new(
            "unverified",
            &[
                ("ssl", ExpectedValue::Word("create_default_context")),
                ("ssl.check_hostname", ExpectedValue::Off),
                ("ssl.verify_mode", ExpectedValue::Word("CERT_NONE")),
            ],
        ),
        Spelt::new(
            "unverified",
            &[
                ("ssl", ExpectedValue::Word("create_default_context")),
                ("ssl.cafile", ExpectedValue::Ca),
                ("ssl.check_hostname", ExpectedValue::Off),
                ("ssl.verify_mode", ExpectedValue::Word("CERT_NONE")),
            ],
        ),
    ],
};
