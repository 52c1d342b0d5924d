//! What a look at a server's files says of a wish for all of them.

use std::collections::BTreeMap;

use disk::stack::Coverage;
use disk::{Artefact, DataDirectory, Kind, Verdict};
use model::text::counted;
use model::{NodeName, Noun};
use serde::{Deserialize, Serialize};

use crate::world::World;

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
    seen.artefacts
        .iter()
        .filter(|one| is_of(one.kind, nouns) || is_closed(one))
        .filter_map(|one| {
            odd(one, (one.tally.plain > 0).then(|| count_in_words(one, one.tally.plain, "plain")))
        })
        .collect()
}

/// It was not read, and what it is is not known: a directory may hold tables. A link that leads nowhere holds nothing.
fn is_closed(one: &Artefact) -> bool {
    one.kind == Kind::Other && one.is_unread && !one.tally.whys.contains_key(disk::LINK)
}

/// What is in a backup is not the server's to read.
fn is_own(one: &Artefact) -> bool {
    !matches!(one.kind, Kind::Backup | Kind::KeyFile)
}

/// Files of any kind that need one of the keys which go, or of which that cannot be told.
pub fn need_a_key(seen: &DataDirectory, going: &Going) -> Vec<Odd> {
    let all = [Noun::Tables, Noun::Logs];
    let of_server =
        |one: &&Artefact| is_own(one) && (is_of(one.kind, &all) || one.tally.encrypted > 0 || is_closed(one));
    let needs = |one: &Artefact| {
        // Copies alone need none.
        let with_key = if *going == Going::All {
            (one.tally.copies < one.tally.encrypted)
                .then(|| count_in_words(one, one.tally.encrypted, "encrypted"))
        } else {
            let count: u64 = keys_of(one).filter(|(id, _)| going.is_going(*id)).map(|(_, count)| count).sum();
            (count > 0).then(|| count_in_words(one, count, "with such a key"))
        };
        // What cannot be told may need any of them.
        odd(one, with_key)
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

/// Files that do not name a key have this one. The system tablespace names none where its pages were decrypted, and some were passed over.
///
/// # Source
/// MariaDB manual, Encryption Key Management: Aria, binary logs and the system tablespace are encrypted with key 1.
const UNNAMED: u32 = 1;

/// What encrypted pages of a file name, with their counts. Not copies in the doublewrite buffer, of which some stay there as long as nothing
/// is written over them. They need no key: each step that lets keys go has a restart before it, and copies older than the last checkpoint
/// are read by nobody.
///
/// # Source
/// `recv_dblwr_t` and `buf_dblwr_t::recover`: copies before the checkpoint are passed over.
fn keys_of(one: &Artefact) -> impl Iterator<Item = (u32, u64)> + '_ {
    let mut copies = one.tally.copies;
    one.tally.keys.iter().map(move |(key, count)| {
        if let Some(id) = key.id {
            return (id, *count);
        }
        let here = copies.min(*count);
        copies -= here;
        (UNNAMED, *count - here)
    })
}

/// `key 1: 210 pages or files, key 3: 7`, of all files of a server.
pub fn by_key(seen: &DataDirectory) -> String {
    let mut all: BTreeMap<u32, u64> = BTreeMap::new();
    for one in seen.artefacts.iter().filter(|one| is_own(one)) {
        for (id, count) in keys_of(one) {
            if count > 0 {
                *all.entry(id).or_default() += count;
            }
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

/// `is_so`: what is not as wished, if anything is. What cannot be told stands beside it.
fn odd(one: &Artefact, is_so: Option<String>) -> Option<Odd> {
    let tally = &one.tally;
    let untold = (tally.unknown > 0 || one.verdict == Verdict::Unknown).then(|| {
        let why = tally.whys.keys().next().map_or_else(String::new, |why| format!(": {why}"));
        match one.unit {
            disk::Unit::Page { .. } if tally.written() > 1 => {
                format!("{} of {} cannot be told{why}", tally.unknown, counted_of(tally.written()))
            }
            _ => format!("cannot be told{why}"),
        }
    });
    let is_unknown = is_so.is_none();
    let says: Vec<String> = is_so.into_iter().chain(untold).collect();
    (!says.is_empty()).then(|| Odd {
        path: one.path.clone(),
        kind: one.kind,
        is_unknown,
        says: says.join("; "),
    })
}

fn count_in_words(one: &Artefact, count: u64, word: &str) -> String {
    match one.unit {
        disk::Unit::File => word.to_owned(),
        _ => format!("{count} of {} {word}", counted_of(one.tally.written())),
    }
}

fn counted_of(pages: u64) -> String {
    counted(usize::try_from(pages).unwrap_or(usize::MAX), "page", "pages")
}

/// What a person can do about files of which it cannot be told whether they need a key.
pub const ACCEPT: &str = "CHECK TABLE says whether a page is damaged; restore or drop that table, then sealion resume (or sealion undo); or accept it: \
                          sealion resume --accept-unproven. The keys stay in the escrow";

/// Without those that cannot be told, where a person has accepted that: they are noted, and their keys are in the escrow.
pub fn but_accepted(world: &mut World<'_>, name: &NodeName, mut odd: Vec<Odd>) -> Vec<Odd> {
    if world.accept_unproven && odd.iter().any(|one| one.is_unknown) {
        let (unknown, known): (Vec<_>, Vec<_>) = odd.into_iter().partition(|one| one.is_unknown);
        world.notes.push(format!(
            "{name}: NOT PROVEN that nothing needs the keys that went, accepted by --accept-unproven: {}; they stay in the escrow",
            in_words(&unknown)
        ));
        odd = known;
    }
    odd
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

/// What of these files no setting of the server encrypts: whether what lies below them does, or what helps. A line for each kind and each
/// of these.
pub fn never(seen: &DataDirectory) -> Vec<String> {
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    enum Below {
        Covered(&'static str),
        NotCovered,
        Unknown(String),
    }
    let mut kinds: BTreeMap<((&str, &str), Below), usize> = BTreeMap::new();
    for (one, what) in seen.artefacts.iter().filter_map(|one| Some((one, one.never_encrypted()?))) {
        let below = match &one.lies_on {
            Some(Coverage::Memory) if one.is_covered() => Below::Covered("it is in memory"),
            Some(_) if one.is_covered() => Below::Covered("dm-crypt is below"),
            Some(Coverage::Unknown(why)) => Below::Unknown(why.clone()),
            _ => Below::NotCovered,
        };
        *kinds.entry((what, below)).or_default() += 1;
    }
    kinds
        .into_iter()
        .map(|(((word, cure), below), count)| {
            let what = format!("{word} ({})", counted(count, "file", "files"));
            match below {
                Below::Covered(how) => format!("covered by its place: {what}: {how}"),
                Below::NotCovered => format!("this server cannot encrypt: {what}: {cure}"),
                Below::Unknown(why) => format!(
                    "this server cannot encrypt: {what}: {cure}; whether its device does cannot be told: {why}"
                ),
            }
        })
        .collect()
}

/// Files whose kind is not known, so that nothing is said of what they hold; nothing where there is none.
pub fn not_known(seen: &DataDirectory) -> Option<String> {
    let is_one = |one: &&Artefact| one.kind == Kind::Other && one.bytes > 0;
    let names: Vec<&str> = seen.artefacts.iter().filter(is_one).map(|one| one.path.as_str()).collect();
    let shown = names.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
    (!names.is_empty()).then(|| {
        format!("not known, and not looked into: {} ({shown})", counted(names.len(), "file", "files"))
    })
}

#[cfg(test)]
mod tests {
    use disk::{KeyUse, Tally, Unit};

    use super::*;

    fn file(kind: Kind, keys: &[(Option<u32>, u64)], plain: u64, unknown: u64) -> Artefact {
        let mut tally = Tally { plain, unknown, ..Tally::default() };
        for (id, count) in keys {
            tally.encrypted += count;
            tally.keys.insert(KeyUse { id: *id, version: Some(1) }, *count);
            if id.is_none() && matches!(kind, Kind::System | Kind::Doublewrite) {
                tally.copies = *count;
            }
        }
        Artefact {
            path: format!("d/{}", kind.word()),
            named_by: None,
            kind,
            bytes: 1,
            unit: Unit::Page { bytes: 16_384 },
            verdict: Verdict::of(&tally, kind.is_never()),
            tally,
            space_id: None,
            claim: None,
            is_unread: false,
            lies_on: None,
        }
    }

    fn seen(artefacts: Vec<Artefact>) -> DataDirectory {
        let root = "/".into();
        DataDirectory { root, family: None, server_uuid: None, artefacts, read_bytes: 0, hole_bytes: 0 }
    }

    #[test]
    fn a_key_may_go_only_where_no_page_names_it_or_might() {
        let needs = |kind, keys: &[(Option<u32>, u64)], unknown, going: Going| {
            need_a_key(&seen(vec![file(kind, keys, 1, unknown)]), &going).len()
        };
        for (kind, keys, unknown, going, count) in [
            (Kind::Table, &[(Some(3), 9)][..], 0, Going::AllBut(3), 0),
            (Kind::Table, &[(Some(3), 9)], 0, Going::Only(3), 1),
            (Kind::Table, &[(Some(3), 9)], 0, Going::All, 1),
            (Kind::Table, &[(Some(3), 9), (Some(1), 1)], 0, Going::AllBut(3), 1),
            (Kind::Table, &[(Some(3), 9)], 1, Going::AllBut(3), 1),
            // What names none has key 1.
            (Kind::AriaData, &[(None, 2)], 0, Going::AllBut(3), 1),
            (Kind::Binlog, &[(None, 1)], 0, Going::AllBut(3), 1),
            (Kind::Binlog, &[(None, 1)], 0, Going::Only(3), 0),
            // Copies on their way to some tablespace.
            (Kind::System, &[(None, 11)], 0, Going::AllBut(3), 0),
            (Kind::System, &[(None, 11)], 0, Going::All, 0),
            (Kind::System, &[(None, 11)], 1, Going::All, 1),
            (Kind::System, &[(Some(1), 1), (None, 11)], 0, Going::All, 1),
            (Kind::Doublewrite, &[(None, 11)], 0, Going::All, 0),
            (Kind::Table, &[(None, 11)], 0, Going::All, 1),
            (Kind::System, &[(Some(1), 1), (None, 11)], 0, Going::AllBut(3), 1),
            (Kind::Backup, &[(Some(1), 1)], 0, Going::AllBut(3), 0),
        ] {
            assert_eq!(needs(kind, keys, unknown, going.clone()), count, "{kind:?} {keys:?} {going:?}");
        }
        let mut closed = file(Kind::Other, &[], 0, 1);
        closed.is_unread = true;
        let all = |one: &Artefact| {
            let seen = seen(vec![one.clone()]);
            (need_a_key(&seen, &Going::Only(3)).len(), not_encrypted(&seen, &[Noun::Logs]).len())
        };
        assert_eq!(all(&closed), (1, 1), "a directory that cannot be listed");
        closed.tally.whys.insert(disk::LINK.into(), 1);
        assert_eq!(all(&closed), (0, 0));
        // Page 0 names no key once its pages were decrypted: what was passed over is no copy.
        let mut passed_over = file(Kind::System, &[(None, 11)], 1, 0);
        passed_over.tally.copies = 10;
        for (going, count) in [(Going::All, 1), (Going::AllBut(3), 1), (Going::Only(3), 0)] {
            assert_eq!(need_a_key(&seen(vec![passed_over.clone()]), &going).len(), count, "{going:?}");
        }
        let all = seen(vec![
            file(Kind::Table, &[(Some(3), 9), (Some(1), 2)], 0, 0),
            file(Kind::Binlog, &[(None, 1)], 0, 0),
        ]);
        assert_eq!(by_key(&all), "key 1: 3, key 3: 9");
    }

    #[test]
    fn what_no_server_encrypts_is_covered_only_where_its_place_is() {
        let lies = |kind, on: Option<Coverage>| {
            let never = Artefact { lies_on: on, ..file(kind, &[], 1, 0) };
            never_one(&seen(vec![never]))
        };
        assert!(lies(Kind::TextLog, Some(Coverage::Encrypted)).starts_with("covered by its place: text log"));
        assert!(lies(Kind::TextLog, Some(Coverage::Memory)).starts_with("covered by its place"));
        for on in [Some(Coverage::Plain), Some(Coverage::Mixed), None] {
            let said = lies(Kind::TextLog, on);
            assert!(
                said.starts_with("this server cannot encrypt") && !said.contains("cannot be told"),
                "{said}"
            );
        }
        let said = lies(Kind::GaleraCache, Some(Coverage::Unknown("no sysfs".into())));
        assert!(said.contains("cannot be told: no sysfs"), "{said}");
        let mut index = file(Kind::AriaIndex, &[(None, 2)], 0, 0);
        assert_eq!(never(&seen(vec![index.clone()])), Vec::<String>::new());
        index.tally.with_rest = 1;
        let said = never_one(&seen(vec![index.clone()]));
        assert!(said.starts_with("this server cannot encrypt: unused ends of Aria index pages"), "{said}");
        index.lies_on = Some(Coverage::Encrypted);
        assert!(never_one(&seen(vec![index])).starts_with("covered by its place: unused ends"));
        // Whoever may read the file has the key, wherever it lies.
        assert!(lies(Kind::KeyFile, Some(Coverage::Encrypted)).starts_with("this server cannot encrypt"));
    }

    fn never_one(seen: &DataDirectory) -> String {
        never(seen).pop().expect("a line")
    }
}
