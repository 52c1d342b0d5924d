//! No statement is cut off or hidden by a comment.

use model::Severity;
use model::facts::statement;

use super::REMEDY;
use crate::FactRule;

pub const COMMENT: FactRule = FactRule {
    id: "SL2609",
    title: "No statement whose text is kept cuts off or hides a part of itself by a comment",
    severity: Severity::High,
    references: &["OWASP: SQL Injection Prevention Cheat Sheet", "MySQL manual: Comments"],
    explanation: "A value that brings `-- ` or `#` makes a comment of what the application wrote behind it, the closing quote first; `/**/` stands for a blank that a filter removes, `/*!50000UNION*/` hides a word; a quote that nobody closes, or that touches a word, is a value that was not escaped. A digest has lost all of this, so that only texts tell: the last 10 statements of each session that is still there (events_statements_history), the last 10,000 (events_statements_history_long), the general log in its table where the account may read it. What is kept no longer is not seen, nor the end of a text that was cut (performance_schema_max_sql_text_length), nor a comment that cuts off no quote, but for `-- -`. A person who types a quote too few is told as well.",
    remedy: REMEDY,
    fact: &statement::COMMENT,
    judge: crate::verdicts::absent,
};
