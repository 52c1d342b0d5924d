//! Jobs that dump over the network insist on TLS.

use model::Severity;
use model::facts::job;

use crate::FactRule;

pub const DUMPS_STRIPPABLE: FactRule = FactRule {
    id: "SL6001",
    title: "Jobs that dump a server over the network insist on TLS",
    severity: Severity::High,
    references: &[
        "PCI DSS 4.0.1, 4.2.1",
        "MySQL manual: Command Options for Encrypted Connections",
        "MariaDB manual: mariadb-dump",
    ],
    explanation: "A dump is all rows. By default mysqldump uses TLS only where the server offers it, and goes on without where somebody on the way takes the offer out; MariaDB's tools before 11.4 do so even with --ssl and --ssl-ca. Lines of crontabs, timers of systemd and the scripts that they name are read; option files and the version of the tool count too.",
    remedy: "add --ssl-mode=VERIFY_IDENTITY --ssl-ca=FILE (MySQL), or --ssl-verify-server-cert --ssl-ca=FILE (MariaDB), or dump over the socket",
    fact: &job::DUMPS_STRIPPABLE,
    judge: crate::verdicts::absent,
};
