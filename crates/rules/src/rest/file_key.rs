//! The key file of file_key_management is encrypted.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const FILE_KEY: FactRule = FactRule {
    id: "SL4104",
    title: "The key file of file_key_management is encrypted",
    severity: Severity::Medium,
    references: &["MariaDB manual: File Key Management Encryption Plugin"],
    explanation: "Without file_key_management_filekey the keys of all tables stand in the file as they are: whoever copies it, or a backup that holds it, reads every table. The key of the file belongs on another file system.",
    remedy: "encrypt the file (openssl enc -aes-256-cbc -md sha1), then file_key_management_filekey=FILE:PATH in the [mysqld] group of the option file, and restart",
    fact: &rest::FILE_KEY_ENCRYPTED,
    judge: |value| crate::verdicts::yes(value, "file_key_management_filekey is empty"),
};
