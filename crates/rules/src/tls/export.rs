//! No export suite is taken.

use model::Severity;

use crate::FactRule;

pub const EXPORT: FactRule = FactRule {
    id: "SL1107",
    title: "No export suite is taken",
    severity: Severity::Critical,
    references: &["CVE-2015-0204 (FREAK)", "CVE-2015-4000 (Logjam)", "RFC 9325 sec. 4.1"],
    explanation: "Export suites were made to be broken: 40 to 56 bits. A client that does not offer them can still be led into them (FREAK, Logjam).",
    remedy: "ssl_cipher=HIGH in the server's option file, restart; better, replace the server",
    fact: "tls.suites.export",
    judge: |value| crate::verdicts::absent(value),
};
