//! No dump or copy lies about.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const DUMPS: FactRule = FactRule {
    id: "SL4211",
    title: "No dump or copy of data lies about in cleartext",
    severity: Severity::High,
    references: &["NIST SP 800-111 sec. 4"],
    explanation: "A dump is all tables in cleartext, beside tables that are encrypted; in the data directory it is copied with every backup of it. An audit looks at the names of files there. With --search it reads the first bytes of every file in that directory, around it, in the homes of users and where backups usually lie: dumps, also compressed ones, backup streams, tablespaces and binary logs outside of the server's directories. What is encrypted is no finding.",
    remedy: "encrypt it (age, gpg, or a backup tool's own encryption), move it away, and overwrite it here (shred)",
    fact: &server::DUMPS,
    judge: crate::verdicts::absent,
};
