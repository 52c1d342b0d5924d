//! State transfers are not made by mysqldump.

use model::Severity;
use model::facts::cluster;

use crate::FactRule;

pub const SST_METHOD: FactRule = FactRule {
    id: "SL3203",
    title: "State transfers are not made by mysqldump",
    severity: Severity::Medium,
    references: &["MariaDB manual: wsrep_sst_method"],
    explanation: "mysqldump logs in to the joiner as an administrator from another host, with a password that is stored, and the transfer is that client's connection: no setting of [sst] encrypts it.",
    remedy: "wsrep_sst_method=mariabackup; then sealion enable sst",
    fact: &cluster::SST_BY_DUMP,
    judge: |value| crate::verdicts::no(value, "wsrep_sst_method is mysqldump"),
};
