//! The digests that a server keeps.

use model::Value;
use net::Rows;

use crate::ask::Refusal;
use crate::asking::Asking;
use crate::grant::Grant;

pub const TABLE: &str = "performance_schema.events_statements_summary_by_digest";
/// A server keeps 10,000 by default (MySQL) or 5,000 to 10,000 (MariaDB); more were set by somebody.
pub const DIGESTS: &str = "SELECT DIGEST_TEXT, COUNT_STAR, LAST_SEEN FROM performance_schema.events_statements_summary_by_digest \
                           ORDER BY LAST_SEEN DESC LIMIT 20000";
const DIGESTS_MAX: usize = 20_000;

pub struct Digest {
    pub text: String,
    pub count: u64,
    pub last: String,
}

#[derive(Default)]
pub struct Digests {
    /// The newest first.
    pub all: Vec<Digest>,
    /// Not every digest was read, or kept.
    is_partial: bool,
}

/// The digests, or why they cannot be read.
pub fn read(asking: &mut Asking<'_>) -> Result<Result<Digests, String>, Refusal> {
    let rows = asking.rows_with(&[Grant::select(TABLE)], DIGESTS)?;
    Ok(rows.map(|rows| Digests::of(&rows)))
}

impl Digests {
    pub fn of(rows: &Rows) -> Self {
        let mut digests = Self { is_partial: rows.iter().count() >= DIGESTS_MAX, ..Self::default() };
        for row in rows.iter() {
            // One row counts all those for which there was no room left.
            let Some(text) = row.at(0) else {
                digests.is_partial |= row.at(1).is_none_or(|count| count != "0");
                continue;
            };
            if text.is_empty() {
                continue;
            }
            let count = row.at(1).and_then(|count| count.parse().ok()).unwrap_or_default();
            let last = row.at(2).unwrap_or_default().into_owned();
            digests.all.push(Digest { text: text.into_owned(), count, last });
        }
        digests
    }

    /// What it says that none of them has a sign.
    pub fn none(&self) -> Value {
        // Of a server that keeps digests this session's own statements are there.
        if self.all.is_empty() {
            return Value::Unknown(
                "the server keeps no digest of any statement: performance_schema is OFF, or its consumer statements_digest is".into(),
            );
        }
        if self.is_partial {
            return Value::Unknown(
                "none was found, and not every statement has a digest that was read: the server had no room for more (performance_schema_digests_size)"
                    .into(),
            );
        }
        Value::Absent
    }
}
