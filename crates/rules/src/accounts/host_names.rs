//! Hosts of accounts are addresses, not names of DNS.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const HOST_NAMES: FactRule = FactRule {
    id: "SL2232",
    title: "Hosts of accounts are addresses, not names of DNS",
    severity: Severity::Low,
    references: &["MySQL manual: DNS Lookups and the Host Cache"],
    explanation: "With names, whoever answers the reverse and the forward query decides which account a client gets; DNS is seldom protected. It also makes logins wait for a resolver.",
    remedy: "skip_name_resolve=ON in the [mysqld] group of the option file, after hosts of accounts are addresses, then restart",
    fact: &server::RESOLVES_NAMES,
    judge: |value| {
        crate::verdicts::no(
            value,
            "the server compares hosts of accounts with names of DNS (skip_name_resolve is OFF)",
        )
    },
};
