//! The server does not run as root.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const NOT_ROOT: FactRule = FactRule {
    id: "SL2806",
    title: "The server does not run as root",
    severity: Severity::Critical,
    references: &["MySQL manual: How to Run MySQL as a Normal User"],
    explanation: "With FILE, a plugin or a fault of the server, a client of a server that runs as root has the machine.",
    remedy: "user=mysql in the [mysqld] group of the option file, chown -R mysql on its directories, then restart",
    fact: &server::RUNS_AS_ROOT,
    judge: |value| crate::verdicts::no(value, "the process of the server is that of root"),
};
