//! No login for another server is stored in this one.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const FOREIGN: FactRule = FactRule {
    id: "SL2226",
    title: "No login for another server is stored in this one",
    severity: Severity::Medium,
    references: &["MySQL manual: CREATE SERVER", "MariaDB manual: mysql.servers Table"],
    explanation: "CREATE SERVER keeps the password of the other server in cleartext in mysql.servers: in every backup, and for everybody who may read that table.",
    remedy: "DROP SERVER NAME; use an account on the other side that needs a certificate",
    fact: &server::FOREIGN_LOGINS,
    judge: crate::verdicts::absent,
};
