//! The log of a proxy. Each line has the hash of the one before it in its own: whoever has seen one hash knows of all lines up to it.
//!
//! That tells lines that were changed, left out or lost since somebody looked. It does not tell whether a proxy writes down everything: one that
//! gives a share without a line is no honest proxy, and a threshold of several is what helps.

use serde::{Deserialize, Serialize};

use crate::b64::Fixed;
use crate::crypto::{self, HASH_BYTES};
use crate::grant::GrantId;

/// Lines of one answer; with the longest texts they are below [`super::protocol::BODY_BYTES_MAX`].
pub const PAGE_LINES_MAX: usize = 100;
/// Of a text in a line. Those that a proxy writes are shorter.
pub const TEXT_BYTES_MAX: usize = 300;
/// What is written for a wish that was granted; otherwise the text of the refusal.
pub const DONE: &str = "done";
/// The wish of a line that a grant has come with.
pub const GRANT: &str = "grant";

/// One request that was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogLine {
    /// From 1 on, without a gap.
    pub number: i64,
    pub unix_s: i64,
    /// `grant`, `open`, `revoke` or `state`.
    pub wish: String,
    pub grant: GrantId,
    pub answer: String,
    pub hash: Fixed<HASH_BYTES>,
}

/// The end of a log, as far as somebody has followed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogHead {
    pub number: i64,
    pub hash: Fixed<HASH_BYTES>,
}

impl LogHead {
    /// Of a log without a line.
    pub const START: Self = Self { number: 0, hash: Fixed([0; HASH_BYTES]) };

    /// The line that comes behind it.
    pub(crate) fn line(&self, unix_s: i64, wish: &str, grant: GrantId, answer: &str) -> LogLine {
        let number = self.number.saturating_add(1);
        let (wish, answer) = (wish.to_owned(), answer.to_owned());
        let mut line = LogLine { number, unix_s, wish, grant, answer, hash: Self::START.hash };
        line.hash = Fixed(hash_of(&self.hash.0, &line));
        line
    }

    /// The head behind `line`; `None` if it is not what was written there.
    pub fn follow(&self, line: &LogLine) -> Option<Self> {
        let is_next = self.number.checked_add(1) == Some(line.number);
        let is_bounded = line.wish.len().max(line.answer.len()) <= TEXT_BYTES_MAX;
        (is_next && is_bounded && hash_of(&self.hash.0, line) == line.hash.0)
            .then_some(Self { number: line.number, hash: line.hash })
    }
}

fn hash_of(before: &[u8; HASH_BYTES], line: &LogLine) -> [u8; HASH_BYTES] {
    let length = |bytes: &[u8]| (bytes.len() as u64).to_be_bytes();
    crypto::sha256(&[
        b"sealion share audit v1\0",
        before,
        &line.number.to_be_bytes(),
        &line.unix_s.to_be_bytes(),
        &length(line.wish.as_bytes()),
        line.wish.as_bytes(),
        &length(&line.grant.0),
        &line.grant.0,
        &length(line.answer.as_bytes()),
        line.answer.as_bytes(),
    ])
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_changed_left_out_or_put_in_is_none() {
        let mut head = LogHead::START;
        let lines: Vec<LogLine> = (0..4)
            .map(|number| {
                let line = head.line(1000 + number, "open", Fixed([7; 16]), DONE);
                head = head.follow(&line).unwrap();
                line
            })
            .collect();
        let walk = |lines: &[LogLine]| {
            lines.iter().try_fold(LogHead::START, |head, line| head.follow(line)).map(|head| head.number)
        };
        assert_eq!(walk(&lines), Some(4));
        assert_eq!(walk(&lines[..2]), Some(2), "a beginning is whole: who knows a later head sees it");
        assert_eq!(walk(&lines[1..]), None);
        assert_eq!(walk(&[lines[0].clone(), lines[2].clone()]), None);
        let changes: [fn(&mut LogLine); 5] = [
            |line| line.unix_s += 1,
            |line| line.wish.push('x'),
            |line| line.answer = "refused".into(),
            |line| line.grant.0[0] ^= 1,
            |line| line.number += 1,
        ];
        for change in changes {
            let mut changed = lines.clone();
            change(&mut changed[1]);
            assert_eq!(walk(&changed), None, "{:?}", changed[1]);
        }
        assert_eq!(LogHead { number: i64::MAX, ..head }.follow(&lines[0]), None);
    }
}
