//! Jobs verify the host that ssh leads to.

use model::Severity;
use model::facts::job;

use crate::FactRule;

pub const ANY_HOST: FactRule = FactRule {
    id: "SL6009",
    title: "Jobs verify the host that ssh leads to",
    severity: Severity::High,
    references: &["ssh_config(5): StrictHostKeyChecking", "PCI DSS 4.0.1, 4.2.1"],
    explanation: "With StrictHostKeyChecking=no, or without a file of known hosts, ssh, scp and rsync send the backup to whoever answers at that address.",
    remedy: "put the key of the host into known_hosts (ssh-keyscan, compared with the host itself), and take the option away; StrictHostKeyChecking=accept-new trusts the first one only",
    fact: &job::ANY_HOST,
    judge: crate::verdicts::absent,
};
