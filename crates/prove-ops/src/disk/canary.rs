//! Words that nobody else has written. A statement has them backwards (`REVERSE`), so that only what was stored has
//! them; one more stands in the text of statements as it is.

use disk::needle::Needle;
use site::random16;

const ID_BYTES: usize = 2;
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// Which statement a canary was given with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Id {
    Row,
    Old,
    Aria,
    MyIsam,
    Csv,
    Name,
    Text,
    Temporary,
    TemporaryOther,
    Select,
    Spill,
}

impl Id {
    pub fn word(self) -> &'static str {
        match self {
            Self::Row => "ro",
            Self::Old => "ol",
            Self::Aria => "ar",
            Self::MyIsam => "my",
            Self::Csv => "cs",
            Self::Name => "na",
            Self::Text => "tx",
            Self::Temporary => "te",
            Self::TemporaryOther => "to",
            Self::Select => "se",
            Self::Spill => "sp",
        }
    }
}

/// Those of one run.
#[derive(Debug, Clone)]
pub struct Canaries {
    tag: String,
}

impl Canaries {
    pub fn new() -> Self {
        Self::of(random16())
    }

    fn of(random: [u8; 16]) -> Self {
        let letter =
            |byte: u8| LETTERS.get(usize::from(byte) % LETTERS.len()).map_or('a', |one| char::from(*one));
        Self { tag: random.into_iter().map(letter).collect() }
    }

    pub fn needle(&self) -> Needle {
        Needle { tag: self.tag.clone(), id_bytes: ID_BYTES }
    }

    pub fn word(&self, id: Id) -> String {
        format!("{}{}.", self.tag, id.word())
    }

    /// An expression whose value has the canary, and whose text has not.
    pub fn hidden(&self, id: Id) -> String {
        let backwards: String = self.word(id).chars().rev().collect();
        format!("REVERSE('{backwards}')")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_does_not_have_what_it_stores() {
        let canaries = Canaries::of([7; 16]);
        let needle = canaries.needle();
        assert!(
            !canaries.hidden(Id::Row).contains(&needle.tag[..8])
                || needle.tag.chars().rev().eq(needle.tag.chars())
        );
        let canaries = Canaries::of([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
        let needle = canaries.needle();
        assert_eq!((needle.tag.len(), Id::Row.word().len()), (16, needle.id_bytes));
        assert!(!canaries.hidden(Id::Row).contains(&needle.tag));
        assert!(canaries.word(Id::Row).starts_with(&needle.tag));
        assert_ne!(Canaries::new().word(Id::Row), Canaries::new().word(Id::Row));
    }
}
