//! Canaries: tokens that nobody sends by chance, and the search for them in a stream of pieces.

use std::collections::BTreeMap;

use memchr::memmem::Finder;
use serde::{Deserialize, Serialize};

/// What every canary begins with.
pub const PREFIX: &str = "SLCANARY";
/// Lowercase hexadecimal digits after the prefix.
pub const TAG_CHARS: usize = 16;
/// Length of a whole canary.
pub const TOKEN_BYTES: usize = PREFIX.len() + TAG_CHARS;
/// So much of the stream is kept on either side of the first canary of a direction.
pub const EVIDENCE_CONTEXT_BYTES: usize = 48;
/// A proof uses a handful of tags; a peer that sends more gets them counted as [`OTHER_TAGS`].
const TAGS_MAX: usize = 1024;
/// The tag under which canaries beyond that limit are counted.
pub const OTHER_TAGS: &str = "other";

/// One canary: `SLCANARY` and 16 lowercase hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Canary {
    token: String,
}

impl Canary {
    /// Folds 16 random bytes, which the caller draws, into the 8 that the tag shows.
    pub fn new(random: [u8; 16]) -> Self {
        let tag = u128::from_be_bytes(random);
        // Truncation is the point: both halves go into the 64 bits.
        #[allow(clippy::cast_possible_truncation)]
        let tag = (tag >> 64) as u64 ^ tag as u64;
        Self { token: format!("{PREFIX}{tag:016x}") }
    }

    /// What to put where it must not be seen: 24 ASCII characters without anything SQL would mind.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// What a [`crate::Direction`] counts it under.
    pub fn tag(&self) -> &str {
        self.token.get(PREFIX.len()..).unwrap_or_default()
    }
}

/// The first canary of a direction with its surroundings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    pub tag: String,
    /// Where the canary begins, counted from the first byte that we know of.
    pub stream_offset: u64,
    /// The canary and up to 48 bytes on either side.
    pub bytes: Vec<u8>,
}

/// Looks for canaries in one direction of one flow, piece by piece.
#[derive(Debug, Default)]
pub struct Scanner {
    counts: BTreeMap<String, u64>,
    evidence: Option<Evidence>,
    evidence_wants_bytes: usize,
    /// The last bytes before the next piece: enough for context and for a canary cut in two.
    tail: Vec<u8>,
}

/// What a scanner keeps of the past: a canary lacking its last byte, and the context before it.
const TAIL_BYTES_MAX: usize = TOKEN_BYTES - 1 + EVIDENCE_CONTEXT_BYTES;

impl Scanner {
    /// Takes the piece that begins at `stream_offset`. `scratch` is memory to work in, for all scanners.
    pub fn feed(&mut self, piece: &[u8], stream_offset: u64, scratch: &mut Vec<u8>) {
        self.feed_with(piece, stream_offset, scratch, &mut |_, _| ());
    }

    /// The same; `hit` is told the tag of each canary and the offset behind its last byte.
    pub fn feed_with(
        &mut self,
        piece: &[u8],
        stream_offset: u64,
        scratch: &mut Vec<u8>,
        hit: &mut dyn FnMut(&str, u64),
    ) {
        self.complete_evidence(piece);
        scratch.clear();
        scratch.extend_from_slice(&self.tail);
        scratch.extend_from_slice(piece);
        let window_offset = stream_offset.saturating_sub(self.tail.len() as u64);
        // A canary that lies whole in the tail was counted before.
        let mut from = self.tail.len().saturating_sub(TOKEN_BYTES - 1);
        let finder = finder();
        while let Some(at) = scratch.get(from..).and_then(|rest| finder.find(rest)) {
            let start = from + at;
            let end = start + TOKEN_BYTES;
            let Some(digits) = scratch.get(start + PREFIX.len()..end) else { break };
            from = start + 1;
            if !digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
                continue;
            }
            from = end;
            let mut tag = String::from_utf8_lossy(digits).into_owned();
            if self.counts.len() >= TAGS_MAX && !self.counts.contains_key(&tag) {
                OTHER_TAGS.clone_into(&mut tag);
            }
            if self.evidence.is_none() {
                let context_start = start.saturating_sub(EVIDENCE_CONTEXT_BYTES);
                let context_end = scratch.len().min(end + EVIDENCE_CONTEXT_BYTES);
                self.evidence_wants_bytes = end + EVIDENCE_CONTEXT_BYTES - context_end;
                self.evidence = Some(Evidence {
                    tag: tag.clone(),
                    stream_offset: window_offset + start as u64,
                    bytes: scratch.get(context_start..context_end).unwrap_or_default().to_vec(),
                });
            }
            hit(&tag, window_offset + end as u64);
            *self.counts.entry(tag).or_default() += 1;
        }
        self.tail.clear();
        let keep_from = scratch.len().saturating_sub(TAIL_BYTES_MAX);
        self.tail.extend_from_slice(scratch.get(keep_from..).unwrap_or_default());
    }

    /// Bytes are missing here: nothing may be joined across the gap.
    pub fn gap(&mut self) {
        self.tail.clear();
        self.evidence_wants_bytes = 0;
    }

    pub fn counts(&self) -> &BTreeMap<String, u64> {
        &self.counts
    }

    pub fn evidence(&self) -> Option<&Evidence> {
        self.evidence.as_ref()
    }

    fn complete_evidence(&mut self, piece: &[u8]) {
        if self.evidence_wants_bytes == 0 {
            return;
        }
        let more = piece.get(..self.evidence_wants_bytes).unwrap_or(piece);
        self.evidence_wants_bytes -= more.len();
        if let Some(evidence) = &mut self.evidence {
            evidence.bytes.extend_from_slice(more);
        }
    }
}

fn finder() -> &'static Finder<'static> {
    static FINDER: std::sync::LazyLock<Finder<'static>> = std::sync::LazyLock::new(|| Finder::new(PREFIX));
    &FINDER
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn canary() -> Canary {
        Canary::new(*b"0123456789abcdef")
    }

    fn scan(pieces: &[&[u8]]) -> Scanner {
        let (mut scanner, mut scratch, mut offset) = (Scanner::default(), Vec::new(), 0);
        for piece in pieces {
            scanner.feed(piece, offset, &mut scratch);
            offset += piece.len() as u64;
        }
        scanner
    }

    #[test]
    fn a_token_is_24_characters_of_prefix_and_tag() {
        let canary = canary();
        assert_eq!(canary.token().len(), TOKEN_BYTES);
        assert_eq!(canary.token(), format!("SLCANARY{}", canary.tag()));
        assert!(canary.tag().bytes().all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(&c)));
        assert_ne!(canary, Canary::new(*b"0123456789abcdee"));
    }

    #[test]
    fn finds_a_canary_cut_at_each_byte_once() {
        let text = format!("{}{}{}", "<".repeat(100), canary().token(), ">".repeat(100));
        for cut in 0..text.len() {
            let (head, tail) = text.as_bytes().split_at(cut);
            let scanner = scan(&[head, tail]);
            assert_eq!(scanner.counts()[canary().tag()], 1, "cut at {cut}");
            let evidence = scanner.evidence().unwrap();
            assert_eq!((evidence.stream_offset, evidence.bytes.len()), (100, 48 + 24 + 48), "cut at {cut}");
        }
    }

    #[test]
    fn finds_a_canary_that_comes_byte_by_byte_and_two_in_a_row() {
        let text = canary().token().repeat(2);
        let pieces: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(scan(&pieces).counts()[canary().tag()], 2);
        assert_eq!(scan(&[text.as_bytes()]).counts()[canary().tag()], 2);
    }

    #[test]
    fn a_prefix_in_front_of_a_canary_hides_nothing() {
        let text = format!("SLCANARYSLCANARYzz{}", canary().token());
        assert_eq!(scan(&[text.as_bytes()]).counts()[canary().tag()], 1);
    }

    #[test]
    fn nothing_is_joined_across_a_gap() {
        let (mut scanner, mut scratch) = (Scanner::default(), Vec::new());
        let token = canary();
        let (head, tail) = token.token().as_bytes().split_at(10);
        scanner.feed(head, 0, &mut scratch);
        scanner.gap();
        scanner.feed(tail, 500, &mut scratch);
        assert!(scanner.counts().is_empty());
    }

    #[test]
    fn upper_case_digits_and_xored_bytes_are_no_canary() {
        assert!(scan(&[b"SLCANARY0123456789ABCDEF"]).counts().is_empty());
        let xored: Vec<u8> = canary().token().bytes().map(|byte| byte ^ 0x5a).collect();
        assert!(scan(&[&xored]).counts().is_empty());
    }

    #[test]
    fn a_flood_of_tags_is_counted_in_one_place() {
        let (mut scanner, mut scratch) = (Scanner::default(), Vec::new());
        for number in 0..2000_u128 {
            let token = Canary::new(number.to_be_bytes());
            scanner.feed(token.token().as_bytes(), 0, &mut scratch);
        }
        assert_eq!(scanner.counts().len(), TAGS_MAX + 1);
        assert_eq!(scanner.counts()[OTHER_TAGS], 2000 - TAGS_MAX as u64);
    }

    proptest! {
        #[test]
        fn counts_do_not_depend_on_how_the_stream_is_cut(
            parts in proptest::collection::vec((0_usize..60, any::<bool>()), 1..20),
            step in 1_usize..50,
        ) {
            let mut text = Vec::new();
            for (filler, with_canary) in &parts {
                text.extend(std::iter::repeat_n(b'S', *filler));
                if *with_canary {
                    text.extend_from_slice(canary().token().as_bytes());
                }
            }
            let expected = parts.iter().filter(|(_, with_canary)| *with_canary).count() as u64;
            let pieces: Vec<&[u8]> = text.chunks(step).collect();
            let scanner = scan(&pieces);
            prop_assert_eq!(scanner.counts().get(canary().tag()).copied().unwrap_or(0), expected);
            let whole = scan(&[&text]);
            prop_assert_eq!(scanner.evidence(), whole.evidence());
        }
    }
}
