//! The certificate files can be used when the server reads them again.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const FILES_USABLE: FactRule = FactRule {
    id: "SL2025",
    title: "The certificate files can be used at the next restart",
    severity: Severity::High,
    references: &[
        "MariaDB manual: FLUSH SSL",
        "MySQL manual: ALTER INSTANCE RELOAD TLS",
        "Galera manual: SSL Certificates",
        "RFC 5280 sec. 4.2.1.12",
    ],
    explanation: "A running server keeps the certificate that it read last. When it reads these files, it fails or shows clients and members what they refuse. A Galera node is server and client with one certificate: without clientAuth in extendedKeyUsage it is locked out of its cluster at the next restart, although FLUSH SSL succeeds.",
    remedy: "do not load the files and do not restart the server; replace them with a key and a certificate of the current CA, with extendedKeyUsage serverAuth and clientAuth for Galera, readable by the server's user",
    fact: &server::CERT_FILE_UNUSABLE,
    judge: crate::verdicts::absent,
};
