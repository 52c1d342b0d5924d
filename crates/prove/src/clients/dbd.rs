//! The two drivers of Perl's DBI, as the distribution builds them (Debian: both on MariaDB's library).

use crate::client::{Client, Mode, Promise};

pub(super) const DBD_MYSQL: Client = Client {
    id: "dbd-mysql",
    name: "DBD::mysql (Perl)",
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
};

pub(super) const DBD_MARIADB: Client = Client {
    id: "dbd-mariadb",
    name: "DBD::MariaDB (Perl)",
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
};
