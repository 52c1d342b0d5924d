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
    remedy: "umask 077; echo \"1;$(openssl rand -hex 32)\" > keys; openssl rand -hex 128 > keys.password; openssl enc -aes-256-cbc -md sha1 -pass file:keys.password -in keys -out keys.enc; shred -u keys   (tables that are encrypted already need the keys that you have in place of new ones); both files of the server's user, then file_key_management_filename=keys.enc and file_key_management_filekey=FILE:keys.password, with their paths, in the [mysqld] group of the option file, and restart",
    fact: &rest::FILE_KEY_ENCRYPTED,
    judge: |value| crate::verdicts::yes(value, "file_key_management_filekey is empty"),
};
