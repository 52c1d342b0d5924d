//! The certificate that is served is the one in its file.

use model::facts::server;
use model::{Severity, Verdict};

use crate::{Facts, SubjectRule};

/// In the reason, where nobody may be told to load the file.
pub(crate) const NOT_JUDGED: &str = "whether it can be used is not known";

pub const SERVED_IS_FILE: SubjectRule = SubjectRule {
    id: "SL2024",
    title: "The certificate that is served is the one in its file",
    severity: Severity::Medium,
    references: &["MySQL manual: ALTER INSTANCE RELOAD TLS", "MariaDB manual: FLUSH SSL"],
    explanation: "A server reads its certificate at its start and when it is told to. One that was renewed in the file alone ends for clients on its old day. Whether the file can be used is SL2025: it comes first.",
    remedy: "if SL2025 does not pass for this server, replace the file first; if it passes, load the file: ALTER INSTANCE RELOAD TLS (MariaDB: FLUSH SSL)",
    facts: &[&server::CERT_FILE_DIFFERS, &server::CERT_FILE_UNUSABLE],
    judge,
};

fn judge(facts: &Facts<'_>) -> Result<Verdict, Verdict> {
    let Some(differs) = facts.found(&server::CERT_FILE_DIFFERS)? else { return Ok(Verdict::Pass) };
    Ok(Verdict::Fail(match facts.found(&server::CERT_FILE_UNUSABLE) {
        Ok(None) => format!("{differs}; the file can be used"),
        Ok(Some(why)) => format!("{differs}; do not load it, it cannot be used: {why}"),
        Err(Verdict::Unknown(why)) => format!("{differs}; {NOT_JUDGED}: {why}"),
        Err(_) => format!("{differs}; {NOT_JUDGED}"),
    }))
}
