//! file_key_management uses AES in counter mode.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const ALGORITHM: FactRule = FactRule {
    id: "SL4105",
    title: "file_key_management uses AES in counter mode",
    severity: Severity::Low,
    references: &["MariaDB manual: file_key_management_encryption_algorithm"],
    explanation: "AES_CTR, which MariaDB uses with GCM for what has room for a tag, finds out changes in logs and temporary files; AES_CBC, the default, does not. It is chosen before the first table is encrypted: what was encrypted by the other one cannot be read.",
    remedy: "file_key_management_encryption_algorithm=AES_CTR in the [mysqld] group of the option file, before the first table is encrypted",
    fact: &rest::FILE_KEY_ALGORITHM,
    judge: |value| crate::verdicts::yes(value, "the algorithm is AES_CBC"),
};
