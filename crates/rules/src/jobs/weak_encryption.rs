//! Jobs keep keys out of their lines, and derive them well.

use model::Severity;
use model::facts::job;

use crate::FactRule;

pub const WEAK_ENCRYPTION: FactRule = FactRule {
    id: "SL6005",
    title: "Jobs keep keys out of their lines, and derive them well",
    severity: Severity::Medium,
    references: &["OpenSSL manual: openssl-enc", "NIST SP 800-132"],
    explanation: "openssl enc without -pbkdf2 makes a key of a password in one step, so that millions of passwords are tried in a second. A key behind -k, -K, -pass pass: or --encrypt-key= is seen by every user of the machine while the job runs.",
    remedy: "use age or gpg with a public key, or openssl enc -pbkdf2 -iter 600000 -pass file:FILE, or --encrypt-key-file with mode 0400",
    fact: &job::WEAK_ENCRYPTION,
    judge: crate::verdicts::absent,
};
