//! No table of InnoDB was made with encryption switched off.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const OPTED_OUT: FactRule = FactRule {
    id: "SL4020",
    title: "No table of InnoDB was made with ENCRYPTED=NO",
    severity: Severity::Medium,
    references: &["MariaDB manual: InnoDB Encryption Overview"],
    explanation: "A table with ENCRYPTED=NO is in cleartext whatever innodb_encrypt_tables says: MariaDB's background threads leave it alone, and only FORCE refuses to make one. A change that was broken off, or a tool that rebuilds tables, can leave such tables behind.",
    remedy: "sealion enable tables, or ALTER TABLE ... ENCRYPTED=DEFAULT for each",
    fact: &rest::TABLES_OPTED_OUT,
    judge: crate::verdicts::absent,
};
