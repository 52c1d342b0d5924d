//! The server is set to encrypt temporary files.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const TEMPORARY_FILES: FactRule = FactRule {
    id: "SL4008",
    title: "The server is set to encrypt temporary files",
    severity: Severity::Medium,
    references: &["MariaDB manual: encrypt_tmp_files"],
    explanation: "Sorting, and transactions that are larger than the cache of the binary log, write rows to files in tmpdir. MySQL has no such setting: there tmpdir belongs on an encrypted file system.",
    remedy: "encrypt_tmp_files=ON in the [mysqld] group of the option file, with a key provider, then restart",
    fact: &rest::TEMPORARY_FILES_ENCRYPTED,
    judge: |value| crate::verdicts::yes(value, "encrypt_tmp_files is OFF"),
};
