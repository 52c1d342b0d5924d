//! mysqli and PDO of PHP, as the distribution builds them.

use crate::attack::Protocol;
use crate::client::{
    Client, ExpectedValue, Key, Kind, Mode, Promise, Reads, Settings, SettingsEncoding, Spelt,
};

pub(super) const MYSQLI: Client = Client {
    id: "php-mysqli",
    name: "mysqli (PHP)",
    protocol: Protocol::MySql,
    files: &[("client.php", include_str!("../../clients/php/client.php"))],
    needs: &["php"],
    needs_hint: "apt-get install php-cli php-mysql",
    install: &[],
    run: &["php", "client.php", "mysqli"],
    modes: &[
        Mode { id: "default", options: "(none)", promises: Promise::Nothing },
        Mode { id: "flag", options: "MYSQLI_CLIENT_SSL", promises: Promise::Encrypted },
        Mode {
            id: "dont-verify",
            options: "MYSQLI_CLIENT_SSL_DONT_VERIFY_SERVER_CERT, ssl_set(CA)",
            promises: Promise::Encrypted,
        },
        Mode { id: "ca", options: "ssl_set(CA)", promises: Promise::Chain },
        Mode { id: "flag-ca", options: "MYSQLI_CLIENT_SSL, ssl_set(CA)", promises: Promise::Chain },
        Mode {
            id: "verify",
            options: "MYSQLI_CLIENT_SSL, ssl_set(CA), MYSQLI_OPT_SSL_VERIFY_SERVER_CERT=true",
            promises: Promise::Identity,
        },
    ],
    settings: Some(&MYSQLI_SETTINGS),
};

pub(super) const PDO: Client = Client {
    id: "php-pdo",
    name: "PDO_MYSQL (PHP)",
    protocol: Protocol::MySql,
    files: &[("client.php", include_str!("../../clients/php/client.php"))],
    needs: &["php"],
    needs_hint: "apt-get install php-cli php-mysql",
    install: &[],
    run: &["php", "client.php", "pdo"],
    modes: &[
        Mode { id: "default", options: "(none)", promises: Promise::Nothing },
        Mode {
            id: "unverified",
            options: "MYSQL_ATTR_SSL_CA=CA, MYSQL_ATTR_SSL_VERIFY_SERVER_CERT=false",
            promises: Promise::Encrypted,
        },
        Mode { id: "ca", options: "MYSQL_ATTR_SSL_CA=CA", promises: Promise::Chain },
        Mode {
            id: "verify",
            options: "MYSQL_ATTR_SSL_CA=CA, MYSQL_ATTR_SSL_VERIFY_SERVER_CERT=true",
            promises: Promise::Identity,
        },
    ],
    settings: Some(&PDO_SETTINGS),
};

const MYSQLI_SETTINGS: Settings = Settings {
    family: "php-mysqli",
    is_old: false,
    chosen_by: None,
    groups: &[],
    carry: SettingsEncoding::Json,
    reads: Reads::NUMBERS,
    socket: Some("unix_socket"),
    keys: &[
        Key::new("ssl_set", Kind::Ca),
        Key::new("MYSQLI_CLIENT_SSL", Kind::Flag),
        Key::new("MYSQLI_CLIENT_SSL_DONT_VERIFY_SERVER_CERT", Kind::Flag),
        Key::new("MYSQLI_OPT_SSL_VERIFY_SERVER_CERT", Kind::Switch),
    ],
    spelt: &[
        Spelt::new("default", &[]),
        Spelt::new("flag", &[("MYSQLI_CLIENT_SSL", ExpectedValue::On)]),
        // mysqlnd looks at the switch where there is a CA.
        Spelt::new(
            "flag",
            &[
                ("MYSQLI_CLIENT_SSL", ExpectedValue::On),
                ("MYSQLI_OPT_SSL_VERIFY_SERVER_CERT", ExpectedValue::On),
            ],
        ),
        Spelt::new(
            "dont-verify",
            &[
                ("ssl_set", ExpectedValue::Ca),
                ("MYSQLI_CLIENT_SSL_DONT_VERIFY_SERVER_CERT", ExpectedValue::On),
            ],
        ),
        Spelt::new(
            "dont-verify",
            &[
                ("ssl_set", ExpectedValue::Ca),
                ("MYSQLI_CLIENT_SSL", ExpectedValue::On),
                ("MYSQLI_CLIENT_SSL_DONT_VERIFY_SERVER_CERT", ExpectedValue::On),
            ],
        ),
        Spelt::new("ca", &[("ssl_set", ExpectedValue::Ca)]),
        Spelt::new("flag-ca", &[("ssl_set", ExpectedValue::Ca), ("MYSQLI_CLIENT_SSL", ExpectedValue::On)]),
        Spelt::new(
            "flag-ca",
            &[
                ("ssl_set", ExpectedValue::Ca),
                ("MYSQLI_CLIENT_SSL", ExpectedValue::On),
                ("MYSQLI_OPT_SSL_VERIFY_SERVER_CERT", ExpectedValue::Off),
            ],
        ),
        Spelt::new(
            "dont-verify",
            &[
                ("ssl_set", ExpectedValue::Ca),
                ("MYSQLI_CLIENT_SSL", ExpectedValue::On),
                ("MYSQLI_CLIENT_SSL_DONT_VERIFY_SERVER_CERT", ExpectedValue::On),
                ("MYSQLI_OPT_SSL_VERIFY_SERVER_CERT", ExpectedValue::On),
            ],
        ),
        Spelt::new(
            "verify",
            &[
                ("ssl_set", ExpectedValue::Ca),
                ("MYSQLI_CLIENT_SSL", ExpectedValue::On),
                ("MYSQLI_OPT_SSL_VERIFY_SERVER_CERT", ExpectedValue::On),
            ],
        ),
    ],
};

const PDO_SETTINGS: Settings = Settings {
    family: "php-pdo",
    is_old: false,
    chosen_by: None,
    groups: &[],
    carry: SettingsEncoding::Json,
    reads: Reads::NUMBERS,
    socket: Some("unix_socket"),
    keys: &[
        Key::new("MYSQL_ATTR_SSL_CA", Kind::Ca),
        Key::new("MYSQL_ATTR_SSL_VERIFY_SERVER_CERT", Kind::Switch),
        Key::new("MYSQL_ATTR_SSL_CERT", Kind::Beside),
        Key::new("MYSQL_ATTR_SSL_KEY", Kind::Beside),
        Key::new("MYSQL_ATTR_SSL_CIPHER", Kind::Beside),
        Key::new("MYSQL_ATTR_READ_DEFAULT_FILE", Kind::Elsewhere),
    ],
    spelt: &[
        Spelt::new("default", &[]),
        Spelt::new(
            "unverified",
            &[
                ("MYSQL_ATTR_SSL_CA", ExpectedValue::Ca),
                ("MYSQL_ATTR_SSL_VERIFY_SERVER_CERT", ExpectedValue::Off),
            ],
        ),
        // Without a CA, a key or ciphers there is no TLS.
        Spelt::new("default", &[("MYSQL_ATTR_SSL_VERIFY_SERVER_CERT", ExpectedValue::On)]),
        Spelt::new("default", &[("MYSQL_ATTR_SSL_VERIFY_SERVER_CERT", ExpectedValue::Off)]),
        Spelt::new("ca", &[("MYSQL_ATTR_SSL_CA", ExpectedValue::Ca)]),
        Spelt::new(
            "verify",
            &[
                ("MYSQL_ATTR_SSL_CA", ExpectedValue::Ca),
                ("MYSQL_ATTR_SSL_VERIFY_SERVER_CERT", ExpectedValue::On),
            ],
        ),
    ],
};
