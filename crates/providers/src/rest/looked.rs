//! What a look at a server's files says of a wish for all of them.

use std::collections::BTreeMap;

use disk::{Artefact, DataDirectory, Kind, Verdict};
use model::Noun;
use model::text::counted;

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

/// Files of any kind that need a key, or of which that cannot be told.
pub fn need_a_key(seen: &DataDirectory) -> Vec<Odd> {
    // What is in a backup is not the server's to read.
    let is_own = |one: &&Artefact| !matches!(one.kind, Kind::Backup | Kind::KeyFile);
    let all = [Noun::Tables, Noun::Logs];
    let of_server = |one: &&Artefact| is_of(one.kind, &all) || one.tally.encrypted > 0;
    seen.artefacts.iter().filter(is_own).filter(of_server).filter_map(|one| odd(one, false)).collect()
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
