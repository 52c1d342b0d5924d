//! What a look at a server's files says of a wish for all of them.

use std::collections::BTreeMap;

use disk::{Artefact, DataDirectory, Kind, Verdict};
use model::Noun;
use model::text::counted;
use serde::{Deserialize, Serialize};

/// So many files are named.
const NAMED_MAX: usize = 5;

/// Whether files of this kind are what `nouns` are about.
pub fn is_of(kind: Kind, nouns: &[Noun]) -> bool {
    match kind {
        Kind::Table | Kind::System | Kind::Undo | Kind::Temp | Kind::Redo => nouns.contains(&Noun::Tables),
        Kind::AriaIndex | Kind::AriaData | Kind::Doublewrite | Kind::Dictionary => {
            nouns.contains(&Noun::Tables)
        }
        Kind::Binlog | Kind::RelayLog => nouns.contains(&Noun::Logs),
        _ => false,
    }
}

/// A file that is not as wished, with how it is.
pub struct Odd {
    pub path: String,
    pub kind: Kind,
    pub is_unknown: bool,
    pub says: String,
}

/// Files of these kinds that are not all encrypted, or of which that cannot be told.
pub fn not_encrypted(seen: &DataDirectory, nouns: &[Noun]) -> Vec<Odd> {
    seen.artefacts.iter().filter(|one| is_of(one.kind, nouns)).filter_map(|one| odd(one, true)).collect()
}

/// What is in a backup is not the server's to read.
fn is_own(one: &Artefact) -> bool {
    !matches!(one.kind, Kind::Backup | Kind::KeyFile)
}

/// Files of any kind that need one of the keys which go, or of which that cannot be told.
pub fn need_a_key(seen: &DataDirectory, going: &Going) -> Vec<Odd> {
    let all = [Noun::Tables, Noun::Logs];
    let of_server = |one: &&Artefact| is_own(one) && (is_of(one.kind, &all) || one.tally.encrypted > 0);
    let needs = |one: &Artefact| {
        if *going == Going::All {
            return odd(one, false);
        }
        // What cannot be told may need any of them.
        if one.tally.unknown > 0 || one.verdict == Verdict::Unknown {
            return odd(one, false);
        }
        let count: u64 = keys_of(one).filter(|(id, _)| going.is_going(*id)).map(|(_, count)| count).sum();
        (count > 0).then(|| Odd {
            path: one.path.clone(),
            kind: one.kind,
            is_unknown: false,
            says: format!("{} with such a key", counted_of(count)),
        })
    };
    seen.artefacts.iter().filter(of_server).filter_map(needs).collect()
}

/// Which key ids are to go.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Going {
    #[default]
    All,
    Only(u32),
    AllBut(u32),
}

impl Going {
    pub fn is_going(&self, id: u32) -> bool {
        match self {
            Self::All => true,
            Self::Only(only) => id == *only,
            Self::AllBut(kept) => id != *kept,
        }
    }
}

impl std::fmt::Display for Going {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::All => f.write_str("a key"),
            Self::Only(only) => write!(f, "key {only}"),
            Self::AllBut(kept) => write!(f, "a key but {kept}"),
        }
    }
}

/// Files that do not name a key have this one.
///
/// # Source
/// MariaDB manual, Encryption Key Management: Aria and binary logs are encrypted with key 1.
const UNNAMED: u32 = 1;

/// What encrypted pages of a file name, with their counts. A file of which some pages were not counted by key has them under the one that
/// it would have.
fn keys_of(one: &Artefact) -> impl Iterator<Item = (u32, u64)> + '_ {
    one.tally.keys.iter().map(|(key, count)| (key.id.unwrap_or(UNNAMED), *count))
}

/// `key 1: 210 pages or files, key 3: 7`, of all files of a server.
pub fn by_key(seen: &DataDirectory) -> String {
    let mut all: BTreeMap<u32, u64> = BTreeMap::new();
    for one in seen.artefacts.iter().filter(|one| is_own(one)) {
        for (id, count) in keys_of(one) {
            *all.entry(id).or_default() += count;
        }
    }
    let words: Vec<String> = all.iter().map(|(id, count)| format!("key {id}: {count}")).collect();
    if words.is_empty() { "none is encrypted".into() } else { words.join(", ") }
}

/// Backups beside the data that hold encrypted pages: they need the keys of their time.
pub fn backups(seen: &DataDirectory) -> Vec<String> {
    let is_one = |one: &&Artefact| one.kind == Kind::Backup && one.tally.encrypted > 0;
    seen.artefacts.iter().filter(is_one).map(|one| one.path.clone()).take(NAMED_MAX).collect()
}

fn odd(one: &Artefact, encrypted: bool) -> Option<Odd> {
    let tally = &one.tally;
    let count = if encrypted { tally.plain } else { tally.encrypted };
    let is_unknown = tally.unknown > 0 || one.verdict == Verdict::Unknown;
    let word = if encrypted { "plain" } else { "encrypted" };
    let says = if count > 0 {
        match one.unit {
            disk::Unit::File => word.to_owned(),
            _ => format!("{count} of {} {word}", counted_of(tally.written())),
        }
    } else if is_unknown {
        tally
            .whys
            .keys()
            .next()
            .map_or_else(|| "cannot be told".to_owned(), |why| format!("cannot be told: {why}"))
    } else {
        return None;
    };
    Some(Odd { path: one.path.clone(), kind: one.kind, is_unknown: count == 0, says })
}

fn counted_of(pages: u64) -> String {
    counted(usize::try_from(pages).unwrap_or(usize::MAX), "page", "pages")
}

/// `d/t.ibd (3 of 9 pages plain), …` for people.
pub fn in_words(odd: &[Odd]) -> String {
    let mut words: Vec<String> =
        odd.iter().take(NAMED_MAX).map(|one| format!("{} ({})", one.path, one.says)).collect();
    if odd.len() > NAMED_MAX {
        words.push(format!("and {} more", odd.len() - NAMED_MAX));
    }
    words.join(", ")
}

/// What of these files no setting of the server encrypts, with what helps: a line for each kind.
pub fn never(seen: &DataDirectory) -> Vec<String> {
    let mut kinds: BTreeMap<Kind, usize> = BTreeMap::new();
    let has_cure = |one: &&Artefact| !one.kind.cure().is_empty() && one.bytes > 0;
    for one in seen.artefacts.iter().filter(|one| one.verdict == Verdict::Never).filter(has_cure) {
        *kinds.entry(one.kind).or_default() += 1;
    }
    kinds
        .into_iter()
        .map(|(kind, count)| {
            format!("{} ({}): {}", kind.word(), counted(count, "file", "files"), kind.cure())
        })
        .collect()
}
