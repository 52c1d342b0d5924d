//! What bytes look like: encrypted, text, or neither. Nothing is kept of them but how often which kind was there.
//!
//! What a cipher puts out cannot be determined from chance, so each byte is as frequent as any other. Text is not, and neither is
//! any table of numbers. Files that are compressed look like chance too: of them this says nothing.

/// So many bytes are counted of a sample: more say nothing new.
pub const SAMPLE_BYTES_MAX: u32 = 4096;
/// Fewer bytes are not judged: at this number the rule for text wants 31 of 32.
const TEXT_BYTES_MIN: u32 = 32;
/// Of so many bytes it is said whether they are spread evenly: text of this length is told with certainty.
const EVEN_BYTES_MIN: u32 = 128;
/// A record that was encrypted is in a sample like this by chance once in 10^16: chi-squared, 15 degrees of freedom.
const UNEVEN_MIN: u64 = 120;
/// Of what is encrypted 39% are characters or zeros.
const TEXT_BYTES_OF_256: u64 = 99;
/// Beyond chance, it must also be most of it: certificates, which pass in clear, hold names.
const TEXT_PERCENT_MIN: u64 = 65;

/// What bytes were taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    TooFew,
    /// As what is encrypted.
    Even,
    Text,
    /// Not text, and not encrypted either.
    Uneven,
}

/// Counted bytes.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    bytes: u32,
    text_bytes: u32,
    /// By their high four bits.
    high: [u16; 16],
}

impl Sample {
    pub fn add(&mut self, bytes: &[u8]) {
        let room = (SAMPLE_BYTES_MAX - self.bytes) as usize;
        let bytes = bytes.get(..room).unwrap_or(bytes);
        self.bytes += u32::try_from(bytes.len()).unwrap_or_default();
        let text = bytes.iter().filter(|byte| matches!(**byte, 0 | b'\t' | b'\n' | b'\r' | b' '..=b'~'));
        self.text_bytes += u32::try_from(text.count()).unwrap_or_default();
        for byte in bytes {
            if let Some(count) = self.high.get_mut(usize::from(byte >> 4)) {
                *count += 1;
            }
        }
    }

    pub fn is_full(&self) -> bool {
        self.bytes >= SAMPLE_BYTES_MAX
    }

    /// Mostly characters, and more of them than chance makes: 6.5 standard deviations.
    pub fn is_text(&self) -> bool {
        let (bytes, text) = (u64::from(self.bytes), u64::from(self.text_bytes));
        let above = (256 * text).saturating_sub(TEXT_BYTES_OF_256 * bytes);
        let variance = bytes * TEXT_BYTES_OF_256 * (256 - TEXT_BYTES_OF_256);
        self.bytes >= TEXT_BYTES_MIN
            && text * 100 >= bytes * TEXT_PERCENT_MIN
            && above * above > 42 * variance
    }

    /// Too few bytes for certainty, and yet all but a few are characters.
    pub fn may_be_text(&self) -> bool {
        self.bytes >= TEXT_BYTES_MIN / 2 && self.text_bytes * 10 >= self.bytes * 9
    }

    pub fn look(&self) -> Look {
        if self.bytes < EVEN_BYTES_MIN {
            return if self.is_text() { Look::Text } else { Look::TooFew };
        }
        let bytes = u64::from(self.bytes);
        let squares: u64 = self.high.iter().map(|count| u64::from(*count).pow(2)).sum();
        if 16 * squares <= bytes * (bytes + UNEVEN_MIN) {
            Look::Even
        } else if self.is_text() {
            Look::Text
        } else {
            Look::Uneven
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn look(bytes: &[u8]) -> Look {
        let mut sample = Sample::default();
        sample.add(bytes);
        sample.look()
    }

    /// As in `joined`: what cannot be determined from encrypted bytes.
    fn noise(bytes: usize, seed: u32) -> Vec<u8> {
        super::super::joined::tests::noise(bytes, seed.wrapping_mul(2_654_435_761))
    }

    #[test]
    fn text_numbers_and_what_is_encrypted_are_told_apart() {
        let statement = b"insert into t values('CANARYABCDEF');".repeat(9);
        assert_eq!(look(&statement), Look::Text);
        assert_eq!(look(&statement[..37]), Look::Text);
        assert_eq!(look(&statement[..20]), Look::TooFew);
        let numbers: Vec<u8> = (0_u32..100).flat_map(|number| (number * 3).to_le_bytes()).collect();
        assert_eq!(look(&numbers), Look::Text, "zeros, with which MySQL's packets are full");
        let numbers: Vec<u8> = (0_u8..=255).map(|number| 0x80 | number & 0x1f).collect();
        assert_eq!(look(&numbers), Look::Uneven);
        for length in [31, 128, 700, 4096] {
            let wanted = if length < 128 { Look::TooFew } else { Look::Even };
            assert_eq!(look(&noise(length, 5)), wanted, "{length}");
        }
    }

    #[test]
    fn what_is_encrypted_is_never_taken_for_anything_else() {
        for seed in 1..20_000 {
            for length in [32, 64, 128, 300] {
                let look = look(&noise(length, seed));
                assert!(matches!(look, Look::Even | Look::TooFew), "{length} bytes of {seed}: {look:?}");
            }
        }
    }
}
