//! Every InnoDB tablespace is encrypted, as SQL says.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const TABLESPACES: FactRule = FactRule {
    id: "SL4001",
    title: "Every InnoDB tablespace is encrypted, as SQL says",
    severity: Severity::High,
    references: &[
        "MariaDB manual: Information Schema INNODB_TABLESPACES_ENCRYPTION Table",
        "MySQL manual: The INFORMATION_SCHEMA INNODB_TABLESPACES Table",
    ],
    explanation: "Whoever gets the disk, a backup of it or a copy of the directory reads the rows of a tablespace that is not encrypted. This is the server's own word about its tablespaces; a file can hold pages that were not rewritten, which sealion status rest reads.",
    remedy: "sealion status rest names the files; MariaDB: innodb_encrypt_tables=FORCE and innodb_encryption_threads=4 with a key provider; MySQL: ALTER TABLE ... ENCRYPTION='Y', and ALTER TABLESPACE mysql ENCRYPTION='Y' for the server's own",
    fact: &rest::TABLESPACES_CLEAR,
    judge: crate::verdicts::absent,
};
