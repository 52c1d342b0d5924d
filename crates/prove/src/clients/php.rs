//! mysqli and PDO of PHP, as the distribution builds them.

use crate::client::{Client, Mode, Promise};

pub(super) const MYSQLI: Client = Client {
    id: "php-mysqli",
    name: "mysqli (PHP)",
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
};

pub(super) const PDO: Client = Client {
    id: "php-pdo",
    name: "PDO_MYSQL (PHP)",
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
};
