//! mysql2 of Ruby, as the distribution builds it (Debian: on MariaDB's library).

use crate::client::{Client, Mode, Promise};

pub(super) const RUBY_MYSQL2: Client = Client {
    id: "ruby-mysql2",
    name: "mysql2 (Ruby)",
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
    ],
};
