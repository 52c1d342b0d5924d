//! The two drivers of Perl's DBI, as the distribution builds them (Debian: both on MariaDB's library).

use crate::attack::Protocol;
use crate::client::{
    Client, ExpectedValue, Key, Kind, Mode, Promise, Reads, Settings, SettingsEncoding, Spelt,
};

pub(super) const DBD_MYSQL: Client = Client {
    id: "dbd-mysql",
    name: "DBD::mysql (Perl)",
    protocol: Protocol::MySql,
    files: &[("client.pl", include_str!("../../clients/perl/client.pl"))],
    needs: &["perl"],
    needs_hint: "apt-get install libdbd-mysql-perl",
    install: &[],
    run: &["perl", "client.pl", "mysql"],
    modes: &[
        Mode { id: "default", options: "(none)", promises: Promise::Nothing },
        Mode { id: "ssl", options: "mysql_ssl=1", promises: Promise::Encrypted },
        Mode { id: "optional", options: "mysql_ssl=1;mysql_ssl_optional=1", promises: Promise::Nothing },
        Mode { id: "ca", options: "mysql_ssl=1;mysql_ssl_ca_file=CA", promises: Promise::Chain },
        Mode {
            id: "optional-ca",
            options: "mysql_ssl=1;mysql_ssl_optional=1;mysql_ssl_ca_file=CA",
            promises: Promise::Chain,
        },
        Mode {
            id: "verify",
            options: "mysql_ssl=1;mysql_ssl_ca_file=CA;mysql_ssl_verify_server_cert=1",
            promises: Promise::Identity,
        },
        Mode {
            id: "optional-verify",
            options: "mysql_ssl=1;mysql_ssl_optional=1;mysql_ssl_ca_file=CA;mysql_ssl_verify_server_cert=1",
            promises: Promise::Identity,
        },
    ],
    settings: Some(&MYSQL_SETTINGS),
};

pub(super) const DBD_MARIADB: Client = Client {
    id: "dbd-mariadb",
    name: "DBD::MariaDB (Perl)",
    protocol: Protocol::MySql,
    files: &[("client.pl", include_str!("../../clients/perl/client.pl"))],
    needs: &["perl"],
    needs_hint: "apt-get install libdbd-mariadb-perl",
    install: &[],
    run: &["perl", "client.pl", "MariaDB"],
    modes: &[
        Mode { id: "default", options: "(none)", promises: Promise::Nothing },
        Mode { id: "ssl", options: "mariadb_ssl=1", promises: Promise::Encrypted },
        Mode {
            id: "system",
            options: "mariadb_ssl=1, CA in the machine's store",
            promises: Promise::Encrypted,
        },
        Mode { id: "optional", options: "mariadb_ssl=1;mariadb_ssl_optional=1", promises: Promise::Nothing },
        Mode { id: "ca", options: "mariadb_ssl=1;mariadb_ssl_ca_file=CA", promises: Promise::Chain },
        Mode {
            id: "optional-ca",
            options: "mariadb_ssl=1;mariadb_ssl_optional=1;mariadb_ssl_ca_file=CA",
            promises: Promise::Chain,
        },
        Mode {
            id: "verify",
            options: "mariadb_ssl=1;mariadb_ssl_ca_file=CA;mariadb_ssl_verify_server_cert=1",
            promises: Promise::Identity,
        },
        Mode {
            id: "optional-verify",
            options: "mariadb_ssl=1;mariadb_ssl_optional=1;mariadb_ssl_ca_file=CA;mariadb_ssl_verify_server_cert=1",
            promises: Promise::Identity,
        },
    ],
    settings: Some(&MARIADB_SETTINGS),
};

/// Perl: every text with something in it is true, but for one.
const PERL: Reads = Reads { off: &["0"], ..Reads::TRUTHY };

const MYSQL_SETTINGS: Settings = Settings {
    family: "dbd-mysql",
    is_old: false,
    chosen_by: None,
    groups: &[],
    carry: SettingsEncoding::Semicolons,
    reads: PERL,
    socket: Some("mysql_socket"),
    keys: &[
        Key::new("mysql_ssl", Kind::Flag),
        Key::new("mysql_ssl_optional", Kind::Flag),
        Key::new("mysql_ssl_ca_file", Kind::Ca),
        Key::new("mysql_ssl_verify_server_cert", Kind::Flag),
        Key::new("mysql_ssl_client_key", Kind::Beside),
        Key::new("mysql_ssl_client_cert", Kind::Beside),
        Key::new("mysql_ssl_cipher", Kind::Beside),
        Key::new("mysql_read_default_file", Kind::Elsewhere),
    ],
    spelt: &[
        Spelt::new("default", &[]),
        Spelt::new("ssl", &[("mysql_ssl", ExpectedValue::On)]),
        Spelt::new(
            "optional",
            &[("mysql_ssl", ExpectedValue::On), ("mysql_ssl_optional", ExpectedValue::On)],
        ),
        Spelt::new("ca", &[("mysql_ssl", ExpectedValue::On), ("mysql_ssl_ca_file", ExpectedValue::Ca)]),
        Spelt::new(
            "optional-ca",
            &[
                ("mysql_ssl", ExpectedValue::On),
                ("mysql_ssl_optional", ExpectedValue::On),
                ("mysql_ssl_ca_file", ExpectedValue::Ca),
            ],
        ),
        Spelt::new(
            "verify",
            &[
                ("mysql_ssl", ExpectedValue::On),
                ("mysql_ssl_ca_file", ExpectedValue::Ca),
                ("mysql_ssl_verify_server_cert", ExpectedValue::On),
            ],
        ),
        Spelt::new(
            "optional-verify",
            &[
                ("mysql_ssl", ExpectedValue::On),
                ("mysql_ssl_optional", ExpectedValue::On),
                ("mysql_ssl_ca_file", ExpectedValue::Ca),
                ("mysql_ssl_verify_server_cert", ExpectedValue::On),
            ],
        ),
    ],
};

const MARIADB_SETTINGS: Settings = Settings {
    family: "dbd-mariadb",
    is_old: false,
    chosen_by: None,
    groups: &[],
    carry: SettingsEncoding::Semicolons,
    reads: PERL,
    socket: Some("mariadb_socket"),
    keys: &[
        Key::new("mariadb_ssl", Kind::Flag),
        Key::new("mariadb_ssl_optional", Kind::Flag),
        Key::new("mariadb_ssl_ca_file", Kind::Ca),
        Key::new("mariadb_ssl_verify_server_cert", Kind::Flag),
        Key::new("mariadb_ssl_client_key", Kind::Beside),
        Key::new("mariadb_ssl_client_cert", Kind::Beside),
        Key::new("mariadb_ssl_cipher", Kind::Beside),
        Key::new("mariadb_read_default_file", Kind::Elsewhere),
    ],
    spelt: &[
        Spelt::new("default", &[]),
        Spelt::new("system", &[("mariadb_ssl", ExpectedValue::On)])
            .provided("the CA is in the machine's store"),
        Spelt::new(
            "optional",
            &[("mariadb_ssl", ExpectedValue::On), ("mariadb_ssl_optional", ExpectedValue::On)],
        ),
        Spelt::new("ca", &[("mariadb_ssl", ExpectedValue::On), ("mariadb_ssl_ca_file", ExpectedValue::Ca)]),
        Spelt::new(
            "optional-ca",
            &[
                ("mariadb_ssl", ExpectedValue::On),
                ("mariadb_ssl_optional", ExpectedValue::On),
                ("mariadb_ssl_ca_file", ExpectedValue::Ca),
            ],
        ),
        Spelt::new(
            "verify",
            &[
                ("mariadb_ssl", ExpectedValue::On),
                ("mariadb_ssl_ca_file", ExpectedValue::Ca),
                ("mariadb_ssl_verify_server_cert", ExpectedValue::On),
            ],
        ),
        Spelt::new(
            "optional-verify",
            &[
                ("mariadb_ssl", ExpectedValue::On),
                ("mariadb_ssl_optional", ExpectedValue::On),
                ("mariadb_ssl_ca_file", ExpectedValue::Ca),
                ("mariadb_ssl_verify_server_cert", ExpectedValue::On),
            ],
        ),
    ],
};
