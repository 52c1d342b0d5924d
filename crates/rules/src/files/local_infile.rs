//! Clients are not asked for files of theirs.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const LOCAL_INFILE: FactRule = FactRule {
    id: "SL2811",
    title: "Clients are not asked for files of theirs",
    severity: Severity::Medium,
    references: &["MySQL manual: Security Considerations for LOAD DATA LOCAL"],
    explanation: "LOAD DATA LOCAL lets the server ask the client for a file. An injection into an application reads files of the application server with it; the client decides too, and many drivers agree by default.",
    remedy: "local_infile=OFF in the [mysqld] group of the option file, and SET GLOBAL local_infile = OFF",
    fact: &server::LOCAL_INFILE,
    judge: |value| crate::verdicts::no(value, "local_infile is ON"),
};
