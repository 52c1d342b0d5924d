//! Counts of pages, and the word that follows from them.

use std::collections::BTreeMap;

use formats::aria;
use formats::innodb::page::Page;
use formats::innodb::redo::Block;
use formats::noise::Stretch;
use serde::{Deserialize, Serialize};

/// Versions of one file that are told apart; more is no file of a server.
const KEYS_MAX: usize = 64;
/// Reasons that are told apart, each a sentence in the source.
const WHYS_MAX: usize = 16;

/// A key that pages name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct KeyUse {
    /// Where the file tells it.
    pub id: Option<u32>,
    /// Where the page tells it.
    pub version: Option<u32>,
}

/// Pages, blocks or files by what they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub plain: u64,
    pub encrypted: u64,
    /// Those of `encrypted` that are copies in a doublewrite buffer: they have the keys of where they go.
    #[serde(default)]
    pub copies: u64,
    /// Those of `encrypted` behind whose bytes in use the server wrote what was in its memory.
    #[serde(default)]
    pub with_rest: u64,
    /// Pages that no server encrypts, such as the header of a tablespace.
    pub never: u64,
    pub zero: u64,
    pub unknown: u64,
    #[serde(with = "pairs")]
    pub keys: BTreeMap<KeyUse, u64>,
    /// Why units are unknown, with their counts.
    pub whys: BTreeMap<String, u64>,
}

/// A map of JSON has text for keys.
mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::KeyUse;

    pub fn serialize<S: Serializer>(map: &BTreeMap<KeyUse, u64>, to: S) -> Result<S::Ok, S::Error> {
        map.iter().collect::<Vec<_>>().serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<KeyUse, u64>, D::Error> {
        Ok(Vec::<(KeyUse, u64)>::deserialize(from)?.into_iter().collect())
    }
}

impl Tally {
    pub fn of_unknown(why: impl Into<String>) -> Self {
        let mut tally = Self::default();
        tally.unknown(why, 1);
        tally
    }

    pub fn unknown(&mut self, why: impl Into<String>, count: u64) {
        self.unknown += count;
        if self.whys.len() < WHYS_MAX {
            *self.whys.entry(why.into()).or_default() += count;
        }
    }

    /// The same for one page of millions: nothing is allocated for a reason that is known.
    fn unknown_page(&mut self, why: &'static str) {
        match self.whys.get_mut(why) {
            Some(count) => {
                *count += 1;
                self.unknown += 1;
            }
            None => self.unknown(why, 1),
        }
    }

    pub fn encrypted(&mut self, key: KeyUse) {
        self.encrypted += 1;
        if let Some(count) = self.keys.get_mut(&key) {
            *count += 1;
        } else if self.keys.len() < KEYS_MAX {
            self.keys.insert(key, 1);
        } else {
            self.unknown("more key versions than a file can have", 1);
        }
    }

    pub(crate) fn page(&mut self, page: Page, key_id: Option<u32>) {
        match page {
            Page::Zero => self.zero += 1,
            Page::Plain { .. } => self.plain += 1,
            Page::Encrypted { key_version } => self.encrypted(KeyUse { id: key_id, version: key_version }),
            Page::Never => self.never += 1,
            Page::Unknown(why) => self.unknown_page(why),
        }
    }

    /// Of a doublewrite buffer.
    pub(crate) fn copy(&mut self, page: Page) {
        self.copies += u64::from(matches!(page, Page::Encrypted { .. }));
        self.page(page, None);
    }

    pub(crate) fn aria(&mut self, page: aria::Page) {
        match page {
            aria::Page::Zero => self.zero += 1,
            aria::Page::Bitmap => self.never += 1,
            aria::Page::Encrypted { key_version } => {
                self.encrypted(KeyUse { id: None, version: Some(key_version) });
            }
            aria::Page::Unknown(why) => self.unknown_page(why),
        }
    }

    pub(crate) fn aria_index(&mut self, page: aria::IndexPage) {
        match page {
            aria::IndexPage::Zero => self.zero += 1,
            aria::IndexPage::Encrypted { key_version, has_rest } => {
                self.with_rest += u64::from(has_rest);
                self.encrypted(KeyUse { id: None, version: Some(key_version) });
            }
            aria::IndexPage::Unknown(why) => self.unknown_page(why),
        }
    }

    pub(crate) fn block(&mut self, block: Block, key_id: Option<u32>) {
        match block {
            Block::Zero => self.zero += 1,
            Block::Plain => self.plain += 1,
            Block::Encrypted => self.encrypted(KeyUse { id: key_id, version: None }),
            Block::Unknown(why) => self.unknown_page(why),
        }
    }

    pub(crate) fn stretch(&mut self, stretch: Stretch) {
        match stretch {
            Stretch::Zero => self.zero += 1,
            Stretch::Plain => self.plain += 1,
            Stretch::Unknown(why) => self.unknown_page(why),
        }
    }

    pub fn add(&mut self, other: Self) {
        self.plain += other.plain;
        self.encrypted += other.encrypted;
        self.copies += other.copies;
        self.with_rest += other.with_rest;
        self.never += other.never;
        self.zero += other.zero;
        self.unknown += other.unknown;
        for (key, count) in other.keys {
            *self.keys.entry(key).or_default() += count;
        }
        for (why, count) in other.whys {
            *self.whys.entry(why).or_default() += count;
        }
    }

    /// Units that hold something which a server encrypts, if it is told to.
    pub fn written(&self) -> u64 {
        self.plain + self.encrypted + self.unknown
    }
}

/// What is said of one artefact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Verdict {
    Plain,
    Encrypted,
    /// Some of its pages are plain.
    Mixed,
    /// It holds nothing yet.
    Empty,
    /// This server has no way to encrypt it.
    Never,
    Unknown,
}

impl Verdict {
    pub fn word(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Encrypted => "encrypted",
            Self::Mixed => "mixed",
            Self::Empty => "empty",
            Self::Never => "never",
            Self::Unknown => "unknown",
        }
    }

    /// `is_never`: this server does not encrypt files of this kind.
    pub fn of(tally: &Tally, is_never: bool) -> Self {
        match (tally.plain, tally.encrypted, tally.unknown) {
            (0, 0, 0) if !is_never || tally.never == 0 => Self::Empty,
            (_, 0, 0) if is_never => Self::Never,
            (_, 0, 0) => Self::Plain,
            (0, _, 0) => Self::Encrypted,
            // What is unknown may be either, so neither word holds for the whole of it.
            (0, _, _) | (_, 0, _) => Self::Unknown,
            _ => Self::Mixed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_is_never_folded_into_another_word() {
        let of = |plain, encrypted, unknown| {
            Verdict::of(&Tally { plain, encrypted, unknown, never: 1, zero: 4, ..Tally::default() }, false)
        };
        assert_eq!(of(0, 0, 0), Verdict::Empty);
        assert_eq!(of(3, 0, 0), Verdict::Plain);
        assert_eq!(of(0, 3, 0), Verdict::Encrypted);
        assert_eq!(of(3, 3, 0), Verdict::Mixed);
        assert_eq!(of(0, 3, 1), Verdict::Unknown);
        assert_eq!(of(3, 0, 1), Verdict::Unknown);
        assert_eq!(of(0, 0, 1), Verdict::Unknown);
        assert_eq!(of(3, 3, 1), Verdict::Mixed, "some of it is plain, and some is not");
        let never = Tally { plain: 3, never: 1, ..Tally::default() };
        assert_eq!(Verdict::of(&never, true), Verdict::Never);
        assert_eq!(Verdict::of(&Tally { encrypted: 1, ..never }, true), Verdict::Mixed, "so this one can");
    }
}
