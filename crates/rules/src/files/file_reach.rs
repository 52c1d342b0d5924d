//! The FILE privilege is limited to one directory.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const FILE_REACH: FactRule = FactRule {
    id: "SL2810",
    title: "The FILE privilege is limited to one directory",
    severity: Severity::High,
    references: &["MySQL manual: secure_file_priv", "MariaDB manual: secure_file_priv"],
    explanation: "With an empty secure_file_priv LOAD_FILE and SELECT ... INTO OUTFILE reach every file that the server can read or write: its keys, its option files, other tables.",
    remedy: "secure_file_priv=DIRECTORY in the [mysqld] group of the option file, then restart (MySQL also takes NULL, which switches it off)",
    fact: &server::FILE_PRIVILEGE_REACH,
    judge: crate::verdicts::absent,
};
