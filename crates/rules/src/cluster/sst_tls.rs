//! State snapshot transfers are configured to use TLS.

use model::Severity;
use model::facts::cluster;

use crate::FactRule;

pub const SST_TLS: FactRule = FactRule {
    id: "SL3002",
    title: "State snapshot transfers are configured to use TLS",
    severity: Severity::High,
    references: &["MariaDB manual: wsrep_sst_method"],
    explanation: "mariabackup's script ignores the server's own ssl_* options unless [sst] has ssl-mode or encrypt; rsync's uses them only if they are set on both ends.",
    remedy: "sealion enable sst",
    fact: &cluster::SST_CONFIGURED,
    judge: |value| crate::verdicts::yes(value, "SST encryption is not configured in [sst]"),
};
