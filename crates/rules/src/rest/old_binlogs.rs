//! No binary log from before is in cleartext.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const OLD_BINLOGS: FactRule = FactRule {
    id: "SL4007",
    title: "No binary log from before is in cleartext",
    severity: Severity::High,
    references: &["MySQL manual: SHOW BINARY LOGS Statement"],
    explanation: "binlog_encryption counts for files that are begun from then on. Those from before stay as they are until they are purged.",
    remedy: "PURGE BINARY LOGS BEFORE a time at which every replica has read them and they are in an encrypted backup",
    fact: &rest::BINLOGS_CLEAR,
    judge: crate::verdicts::absent,
};
