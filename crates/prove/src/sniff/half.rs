//! What one end of a connection sent, and how far that is TLS: each end is judged by what it sent itself.

use capture::canary::Scanner;
use capture::words::{WordScanner, Words};

use super::connection::{Places, word_name};
use super::frames::Frames;
use super::galera;
use super::joined::{Chain, Joined};
use super::place::Place;
use super::unpack::Unpack;

/// Canaries of one end whose packet has not ended yet; more of them are in no packet that a server sends.
const HITS_MAX: usize = 4096;

/// Canaries that one end sent: where each stands is known when its packet has ended.
#[derive(Debug, Default)]
pub(super) struct CanaryHits {
    scanner: Scanner,
    words: WordScanner,
    /// Name, and the offset behind its last byte.
    waiting: Vec<(String, u64)>,
    pub found: Places,
}

impl CanaryHits {
    pub fn feed(&mut self, piece: &[u8], offset: u64, words: &Words, scratch: &mut Vec<u8>) {
        let Self { scanner, words: word_scanner, waiting, found } = self;
        let mut hit = |name: String, end: u64| {
            if waiting.len() < HITS_MAX {
                waiting.push((name, end));
            } else {
                *found.entry((name, Place::Other)).or_default() += 1;
            }
        };
        scanner.feed_with(piece, offset, scratch, &mut |tag, end| hit(tag.to_owned(), end));
        word_scanner.feed(words, piece, offset, scratch, &mut |number, end| hit(word_name(number), end));
    }

    /// Everything that ended before `end` stood in `place`.
    pub fn settle(&mut self, end: u64, place: Place) {
        if self.waiting.is_empty() {
            return;
        }
        let found = &mut self.found;
        self.waiting.retain(|(name, at)| {
            if *at <= end {
                *found.entry((name.clone(), place)).or_default() += 1;
            }
            *at > end
        });
    }

    pub fn gap(&mut self) {
        self.scanner.gap();
        self.words.gap();
        self.settle(u64::MAX, Place::Other);
    }

    /// The bytes that follow are counted anew, from what was compressed; of what came behind `end` nothing is known.
    pub fn restart(&mut self, end: u64) {
        self.waiting.retain(|(_, at)| *at <= end);
        self.settle(u64::MAX, Place::Other);
        self.scanner.gap();
        self.words.gap();
    }
}

/// What the bytes of one end are. The worst of two is what the connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// Nothing that is not the beginning of a connection under TLS: a greeting, a wish for TLS.
    Silent,
    Tls,
    NotKnown,
    Clear,
}

/// What one end sent.
#[derive(Debug, Default)]
pub(super) struct HalfStream {
    /// Bytes that were held until it was known what they are.
    pub first: Vec<u8>,
    pub bytes: u64,
    /// Offset behind the last piece, with what is missing.
    pub end: u64,
    pub missing_bytes: u64,
    /// It sends records, or should.
    pub is_tls: bool,
    /// Where TLS begins in what this end sent.
    pub tls_from: Option<u64>,
    /// The chain of records that is passing.
    chain: Option<Chain>,
    /// Of chains that are over.
    passed_tls_bytes: u64,
    /// There was a chain that is no chance.
    has_records: bool,
    /// Where records ended, though no byte is missing.
    broken_from: Option<u64>,
    /// Bytes between records, where none are missing.
    pub clear_bytes: u64,
    /// Bytes of records in which there is text.
    pub text_bytes: u64,
    /// Records held something that no cipher puts out.
    is_uneven: bool,
    pub frames: Frames,
    pub messages: galera::Messages,
    pub unpack: Option<Box<Unpack>>,
    /// The next packet boundary is not known.
    pub is_lost: bool,
    pub hits: CanaryHits,
    /// Of the compressed protocol: what came out so far.
    pub unpacked_bytes: u64,
    /// So many of them were packets.
    pub unpacked_followed_bytes: u64,
    /// What bytes are that were not followed from the beginning.
    pub joined: Joined,
    /// Of MySQL in clear: bytes of packets that were followed, and what was given to be unpacked.
    pub followed_bytes: u64,
    /// It was out of step once: where a packet begins was guessed.
    pub was_lost: bool,
}

impl HalfStream {
    /// The next bytes begin no packet that we know of.
    pub fn lose_step(&mut self) {
        self.is_lost = true;
        self.was_lost = true;
    }

    /// Bytes that lie in records.
    pub fn tls_bytes(&self) -> u64 {
        self.passed_tls_bytes + self.chain.as_ref().map_or(0, |chain| chain.bytes)
    }

    /// By what passed, records begin here.
    pub fn begin_tls(&mut self, from: u64) {
        self.first.clear();
        self.frames.reset();
        self.is_tls = true;
        self.joined = Joined::default();
        self.chain = Some(Chain::in_step(from));
    }

    /// It will send records, but where they begin is to be found.
    pub fn look_for_records(&mut self) {
        self.is_tls = true;
    }

    /// What was asked for did not come.
    pub fn forget_tls(&mut self) {
        self.is_tls = false;
        self.chain = None;
        self.tls_from = None;
    }

    /// TLS should begin with the next byte of this end.
    pub fn awaits_first_record(&self) -> bool {
        self.chain.as_ref().is_some_and(Chain::is_awaited)
    }

    /// Looks for records in bytes of which nothing is known. `true`: they are TLS.
    pub fn find_records(&mut self, piece: &[u8], starts_segment: bool) -> bool {
        let Some(followed) = self.find_chain(piece, starts_segment) else { return false };
        self.first.clear();
        self.frames.reset();
        self.is_tls = true;
        self.follow_records(piece.get(followed..).unwrap_or_default(), false);
        true
    }

    /// The chain that these bytes confirm: so many of them it has followed.
    fn find_chain(&mut self, piece: &[u8], starts_segment: bool) -> Option<usize> {
        let before = self.bytes.saturating_sub(piece.len() as u64);
        let chain = self.joined.feed(piece, before, starts_segment)?;
        self.end_break(chain.from);
        self.tls_from.get_or_insert(chain.from);
        let followed = (chain.from + chain.bytes).saturating_sub(before);
        self.chain = Some(chain);
        self.joined.gap();
        Some(usize::try_from(followed).unwrap_or(usize::MAX))
    }

    /// Takes the next bytes of an end that sends records.
    pub fn follow_records(&mut self, mut piece: &[u8], mut starts_segment: bool) {
        loop {
            if let Some(chain) = &mut self.chain {
                let in_records = chain.follow(piece);
                if in_records > 0 {
                    self.tls_from.get_or_insert(self.bytes.saturating_sub(piece.len() as u64));
                }
                piece = piece.get(in_records..).unwrap_or_default();
                starts_segment &= in_records == 0;
                if !chain.is_lost() {
                    return;
                }
                // Chance may have begun a chain; none that was one ends within a connection.
                if chain.is_confirmed() {
                    self.broken_from = Some(self.bytes.saturating_sub(piece.len() as u64));
                }
                self.end_chain();
            }
            if piece.is_empty() {
                return;
            }
            let Some(followed) = self.find_chain(piece, starts_segment) else { return };
            piece = piece.get(followed..).unwrap_or_default();
            starts_segment = false;
        }
    }

    fn end_chain(&mut self) {
        let Some(chain) = self.chain.take() else { return };
        self.has_records |= chain.is_confirmed();
        self.passed_tls_bytes += chain.bytes;
        let contents = chain.end();
        self.text_bytes += contents.text_bytes;
        self.is_uneven |= contents.is_uneven;
    }

    fn end_break(&mut self, at: u64) {
        if let Some(from) = self.broken_from.take() {
            self.clear_bytes += at.saturating_sub(from);
        }
    }

    /// Bytes are missing: a record may have begun in them.
    pub fn lose_records(&mut self) {
        self.end_chain();
        self.end_break(self.bytes);
    }

    /// What the bytes are of an end that sent records, or should have. Nothing more will come.
    pub fn judge_records(&mut self) -> Verdict {
        self.lose_records();
        if self.clear_bytes + self.text_bytes > 0 || self.joined.is_clear() {
            Verdict::Clear
        } else if self.is_uneven {
            Verdict::NotKnown
        } else if self.has_records {
            Verdict::Tls
        } else if self.bytes <= self.tls_from.unwrap_or(0) {
            Verdict::Silent
        } else {
            Verdict::NotKnown
        }
    }
}
