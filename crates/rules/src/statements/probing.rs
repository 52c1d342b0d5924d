//! No account tries out what fails.

use model::Severity;
use model::facts::statement;

use super::REMEDY_OF_ERRORS;
use crate::FactRule;

pub const PROBING: FactRule = FactRule {
    id: "SL2611",
    title: "No account is answered with the errors of somebody who tries things out",
    severity: Severity::Low,
    references: &[
        "OWASP: SQL Injection Prevention Cheat Sheet",
        "MySQL manual: Performance Schema Error Summary Tables",
    ],
    explanation: "Who looks for an injection gets errors first: syntax (1064), unknown columns (1054), a UNION of other columns (1222), then those that show values (1105, 1690, 1772, 3141, 1062 of a GROUP BY). Three kinds within ten minutes from one account, one of them not of typing mistakes, are told. This is a hint. MySQL keeps when each error was last raised: one that came again later is not seen beside the others. MariaDB counts errors by account and not by kind, so that it is unknown there once three statements have failed, but for the errors in kept histories. Attacks without an error are not seen.",
    remedy: REMEDY_OF_ERRORS,
    fact: &statement::PROBING,
    judge: crate::verdicts::absent,
};
