//! A clone verifies its donor.

use model::Severity;
use model::facts::cluster;

use crate::FactRule;

pub const CLONE_CA: FactRule = FactRule {
    id: "SL3303",
    title: "A clone verifies its donor",
    severity: Severity::Medium,
    references: &["MySQL manual: Clone System Variables, clone_ssl_ca"],
    explanation: "Without clone_ssl_ca CLONE INSTANCE takes the data, and gives its password, to whoever answers at the donor's address. The rule speaks only where the clone plugin is loaded.",
    remedy: "clone_ssl_ca=FILE in the [mysqld] group of the option file, and SET GLOBAL clone_ssl_ca",
    fact: &cluster::CLONE_CA,
    judge: |value| crate::verdicts::yes(value, "clone_ssl_ca is empty"),
};
