//! State transfers use no stored password.

use model::Severity;
use model::facts::cluster;

use crate::FactRule;

pub const SST_PASSWORD: FactRule = FactRule {
    id: "SL3107",
    title: "State transfers use no stored password",
    severity: Severity::Medium,
    references: &["MariaDB manual: wsrep_sst_auth"],
    explanation: "A value of wsrep_sst_auth is the user and password of an account that may read everything. It stands in an option file or on the command line, and a donor hands it to its scripts. SQL hides it, so that only its presence shows here.",
    remedy: "an account that logs in by unix_socket for mariabackup, wsrep_sst_auth=NAME: in the option file, and a new password where the old one was",
    fact: &cluster::SST_PASSWORD,
    judge: |value| crate::verdicts::no(value, "wsrep_sst_auth has a value"),
};
