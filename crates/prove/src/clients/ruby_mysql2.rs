//! mysql2 of Ruby, as the distribution builds it (Debian: on MariaDB's library).

use crate::attack::Protocol;
use crate::client::{
    Client, ExpectedValue, Key, Kind, Mode, Promise, Reads, Settings, SettingsEncoding, Spelt,
};

pub(super) const RUBY_MYSQL2: Client = Client {
    id: "ruby-mysql2",
    name: "mysql2 (Ruby)",
    protocol: Protocol::MySql,
    files: &[("client.rb", include_str!("../../clients/ruby-mysql2/client.rb"))],
    needs: &["ruby"],
    needs_hint: "apt-get install ruby-mysql2",
    install: &[],
    run: &["ruby", "client.rb"],
    modes: &[
        Mode { id: "default", options: "(none)", promises: Promise::Nothing },
        Mode { id: "preferred", options: "ssl_mode: :preferred", promises: Promise::Nothing },
        Mode { id: "required", options: "ssl_mode: :required", promises: Promise::Encrypted },
        Mode { id: "ca", options: "sslca: CA", promises: Promise::Chain },
        Mode { id: "verify-ca", options: "sslca: CA, ssl_mode: :verify_ca", promises: Promise::Chain },
        Mode {
            id: "verify-identity",
            options: "sslca: CA, ssl_mode: :verify_identity",
            promises: Promise::Identity,
        },
        Mode { id: "sslverify", options: "sslca: CA, sslverify: true", promises: Promise::Identity },
        Mode { id: "required-ca", options: "sslca: CA, ssl_mode: :required", promises: Promise::Chain },
    ],
    settings: Some(&SETTINGS),
};

const SETTINGS: Settings = Settings {
    family: "ruby-mysql2",
    is_old: false,
    chosen_by: None,
    groups: &[],
    carry: SettingsEncoding::Json,
    reads: Reads { is_case_blind: true, ..Reads::TRUTHY },
    socket: Some("socket"),
    keys: &[
        Key::new("ssl_mode", Kind::Word),
        Key::new("sslca", Kind::Ca),
        Key::new("sslverify", Kind::Switch),
        Key::new("sslkey", Kind::Beside),
        Key::new("sslcert", Kind::Beside),
        Key::new("sslcipher", Kind::Beside),
        Key::new("default_file", Kind::Elsewhere),
    ],
    spelt: &[
        Spelt::new("default", &[]),
        Spelt::new("preferred", &[("ssl_mode", ExpectedValue::Word("preferred"))]),
        Spelt::new("required", &[("ssl_mode", ExpectedValue::Word("required"))]),
        Spelt::new("ca", &[("sslca", ExpectedValue::Ca)]),
        Spelt::new(
            "verify-ca",
            &[("sslca", ExpectedValue::Ca), ("ssl_mode", ExpectedValue::Word("verify_ca"))],
        ),
        Spelt::new(
            "verify-identity",
            &[("sslca", ExpectedValue::Ca), ("ssl_mode", ExpectedValue::Word("verify_identity"))],
        ),
        Spelt::new("sslverify", &[("sslca", ExpectedValue::Ca), ("sslverify", ExpectedValue::On)]),
        Spelt::new(
            "required-ca",
            &[("sslca", ExpectedValue::Ca), ("ssl_mode", ExpectedValue::Word("required"))],
        ),
        Spelt::new("ca", &[("sslca", ExpectedValue::Ca), ("ssl_mode", ExpectedValue::Word("disabled"))]),
        Spelt::new("ca", &[("sslca", ExpectedValue::Ca), ("sslverify", ExpectedValue::Off)]),
        Spelt::new("default", &[("ssl_mode", ExpectedValue::Word("disabled"))]),
    ],
};
