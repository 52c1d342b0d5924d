//! Words that the user wants to be looked for: like canaries, but of any text, and never repeated by us: a word has a name.

use memchr::memmem::Finder;

/// Shorter words are found by chance: one of three bytes every 16 MB of noise.
pub const WORD_BYTES_MIN: usize = 4;
/// Longer ones are no words, and are kept between two pieces of each stream.
pub const WORD_BYTES_MAX: usize = 256;
pub const WORDS_MAX: usize = 16;

/// Why a word cannot be looked for. The word itself is not told: it may be a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WordError {
    #[error("a text of {bytes} bytes: allowed are {WORD_BYTES_MIN} to {WORD_BYTES_MAX}")]
    Length { bytes: usize },
    #[error("{count} texts: the maximum is {WORDS_MAX}")]
    TooMany { count: usize },
}

/// All words, for all streams.
#[derive(Default)]
pub struct Words {
    finders: Vec<Finder<'static>>,
    longest_bytes: usize,
}

impl std::fmt::Debug for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Words").field("count", &self.finders.len()).finish_non_exhaustive()
    }
}

impl Words {
    pub fn new(words: &[Vec<u8>]) -> Result<Self, WordError> {
        if words.len() > WORDS_MAX {
            return Err(WordError::TooMany { count: words.len() });
        }
        if let Some(word) = words.iter().find(|word| !(WORD_BYTES_MIN..=WORD_BYTES_MAX).contains(&word.len()))
        {
            return Err(WordError::Length { bytes: word.len() });
        }
        Ok(Self {
            finders: words.iter().map(|word| Finder::new(word).into_owned()).collect(),
            longest_bytes: words.iter().map(Vec::len).max().unwrap_or(0),
        })
    }

    pub fn count(&self) -> usize {
        self.finders.len()
    }
}

/// Looks for all words in one stream, piece by piece.
#[derive(Debug, Default)]
pub struct WordScanner {
    /// The longest word, lacking its last byte.
    tail: Vec<u8>,
}

impl WordScanner {
    /// Takes the piece that begins at `stream_offset`; `hit` is told the number of each word that ends in it, and the offset
    /// behind its last byte. `scratch` is memory to work in.
    pub fn feed(
        &mut self,
        words: &Words,
        piece: &[u8],
        stream_offset: u64,
        scratch: &mut Vec<u8>,
        hit: &mut dyn FnMut(usize, u64),
    ) {
        if words.finders.is_empty() {
            return;
        }
        scratch.clear();
        scratch.extend_from_slice(&self.tail);
        scratch.extend_from_slice(piece);
        let window_offset = stream_offset.saturating_sub(self.tail.len() as u64);
        for (number, finder) in words.finders.iter().enumerate() {
            let mut from = 0;
            // Words that overlap themselves count at each place: so it does not matter where the stream is cut.
            while let Some(at) = scratch.get(from..).and_then(|rest| finder.find(rest)) {
                let end = from + at + finder.needle().len();
                from += at + 1;
                // What lies whole in the tail was told before.
                if end > self.tail.len() {
                    hit(number, window_offset + end as u64);
                }
            }
        }
        let keep_from = scratch.len().saturating_sub(words.longest_bytes.saturating_sub(1));
        self.tail.clear();
        self.tail.extend_from_slice(scratch.get(keep_from..).unwrap_or_default());
    }

    /// Bytes are missing here: nothing may be joined across the gap.
    pub fn gap(&mut self) {
        self.tail.clear();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hits(words: &[&str], pieces: &[&[u8]]) -> Vec<(usize, u64)> {
        let words =
            Words::new(&words.iter().map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>()).unwrap();
        let (mut scanner, mut scratch, mut offset, mut seen) = (WordScanner::default(), vec![], 0, vec![]);
        for piece in pieces {
            scanner.feed(&words, piece, offset, &mut scratch, &mut |number, end| seen.push((number, end)));
            offset += piece.len() as u64;
        }
        seen.sort_unstable();
        seen
    }

    #[test]
    fn a_word_is_found_once_wherever_the_stream_is_cut() {
        let text = b"....order-4711....4711-and-more";
        for cut in 0..text.len() {
            let (head, tail) = text.split_at(cut);
            assert_eq!(hits(&["order-4711", "4711-and"], &[head, tail]), [(0, 14), (1, 26)], "{cut}");
        }
    }

    #[test]
    fn words_that_cannot_be_told_from_noise_are_refused_and_not_repeated() {
        let short = Words::new(&[b"abc".to_vec()]).unwrap_err();
        assert_eq!(short, WordError::Length { bytes: 3 });
        assert!(!short.to_string().contains("abc"));
        assert!(Words::new(&[vec![b'x'; WORD_BYTES_MAX + 1]]).is_err());
        assert!(Words::new(&vec![b"word".to_vec(); WORDS_MAX + 1]).is_err());
        assert!(!format!("{:?}", Words::new(&[b"secret-word".to_vec()]).unwrap()).contains("secret"));
    }

    #[test]
    fn nothing_is_joined_across_a_gap() {
        let words = Words::new(&[b"secret".to_vec()]).unwrap();
        let (mut scanner, mut scratch, mut seen) = (WordScanner::default(), vec![], 0);
        scanner.feed(&words, b"sec", 0, &mut scratch, &mut |_, _| seen += 1);
        scanner.gap();
        scanner.feed(&words, b"ret", 9, &mut scratch, &mut |_, _| seen += 1);
        assert_eq!(seen, 0);
    }

    proptest! {
        #[test]
        fn hits_do_not_depend_on_how_the_stream_is_cut(
            text in "[ab]{0,200}", word in "[ab]{4,9}", step in 1_usize..40,
        ) {
            let pieces: Vec<&[u8]> = text.as_bytes().chunks(step).collect();
            prop_assert_eq!(hits(&[&word], &pieces), hits(&[&word], &[text.as_bytes()]));
        }
    }
}
