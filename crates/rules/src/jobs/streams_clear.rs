//! Jobs send backups over the network encrypted.

use model::Severity;
use model::facts::job;

use crate::FactRule;

pub const STREAMS_CLEAR: FactRule = FactRule {
    id: "SL6002",
    title: "Jobs send backups over the network encrypted",
    severity: Severity::Critical,
    references: &["PCI DSS 4.0.1, 4.2.1"],
    explanation: "What mariadb-backup, XtraBackup, tar or a dump writes into nc, socat with TCP, or the daemon of rsync, everybody on the way can read and keep: whole data sets. Compression is no encryption.",
    remedy: "sealion send and sealion receive, or socat with OPENSSL and verify=1, or ssh; or encrypt before (age, gpg, --encrypt of XtraBackup)",
    fact: &job::STREAMS_CLEAR,
    judge: crate::verdicts::absent,
};
