//! Which keys the files of a data directory need, and on what a key can be tried: page 0 of each tablespace, a sample of its pages,
//! the headers of the redo log, of Aria's tables, of binary and relay logs. Not every page is read, so that an answer comes soon; what was
//! read is counted, and what could need a key and was not read is listed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use formats::innodb::page::{self, Ciphertext, Page};
use formats::innodb::redo::{self, Redo};
use formats::innodb::space::{NotASpace, SpaceHeader, TRX_SYS_PAGE};
use formats::innodb::{self, Family, PAGE_BYTES_MAX};
use formats::{aria, binlog};

use crate::DiskError;
use crate::kind::Kind;
use crate::pages::continued::Continued;
use crate::walk::{self, Found};

/// Of one file: its first ones, and so many more that are spread over the rest.
const FIRST_PAGES: u64 = 64;
const SPREAD_PAGES: u64 = 192;
/// A space id in the clear is 32 bits that a wrong key meets by chance once in 4 thousand million; a few pages leave no doubt.
const CIPHERTEXTS_MAX: usize = 4;
/// A page of Aria is kept as a whole, since its checksum tells: of so many tables, 8 KiB each. They have one key, so these tell of all.
const ARIA_TRIED_MAX: usize = 256;
const ARIA_PAGES_LOOKED_AT: u64 = 16;
/// Longer is no path.
const LINK_BYTES_MAX: u64 = 4096;
/// A directory of logs has so many at most.
const LOGS_MAX: usize = 100_000;
/// Versions of one file that are told apart; more is no file of a server.
const VERSIONS_MAX: usize = 64;

/// One tablespace.
#[derive(Debug, Clone)]
pub struct SpaceNeed {
    /// Below the data directory, printable.
    pub path: String,
    pub kind: Kind,
    pub header: SpaceHeader,
    /// Pages that were read.
    pub pages_read: u64,
    pub encrypted: u64,
    /// Whose checksum does not hold, whatever the key: they are damaged, or were on their way when they were read.
    pub damaged: u64,
    pub first_damaged: Option<u32>,
    /// Versions of the key that the encrypted ones name.
    pub key_versions: BTreeSet<u32>,
    pub ciphertexts: Vec<Ciphertext>,
}

#[derive(Debug, Clone)]
pub struct RedoNeed {
    pub path: String,
    pub redo: Redo,
}

/// An encrypted table of Aria.
#[derive(Debug, Clone)]
pub struct AriaNeed {
    /// Of its index file.
    pub path: String,
    /// With a page of its data; `None`: it has none that tells whether a key is right, or others tell.
    pub trial: Option<(aria::Crypt, aria::Ciphertext)>,
}

/// An encrypted binary or relay log.
#[derive(Debug, Clone)]
pub struct LogNeed {
    pub path: String,
    pub log: binlog::Binlog,
    /// `None`: it has no event that tells whether a key is right.
    pub trial: Option<binlog::Ciphertext>,
}

#[derive(Debug, Clone)]
pub struct Needs {
    /// As it is without symbolic links.
    pub root: PathBuf,
    pub family: Option<Family>,
    /// Of MySQL, from `auto.cnf`.
    pub server_uuid: Option<String>,
    /// By path. Temporary tablespaces are made anew at each start, and are not among them.
    pub spaces: Vec<SpaceNeed>,
    pub redo: Vec<RedoNeed>,
    pub aria: Vec<AriaNeed>,
    pub logs: Vec<LogNeed>,
    /// Files that could need a key and were not read, and why.
    pub unread: Vec<(String, String)>,
}

/// Reads what tells which keys are needed.
///
/// # Errors
/// The directory itself cannot be listed, or it is none of a server.
pub fn needs(root: &Path) -> Result<Needs, DiskError> {
    let unreadable = |why| DiskError::Unreadable { path: root.to_owned(), why };
    let root = root.canonicalize().map_err(unreadable)?;
    let found = walk::walk(&root)?;
    let family = walk::family(&found);
    let server_uuid = walk::server_uuid(&root);
    let mut needs = Needs {
        root,
        family,
        server_uuid,
        spaces: vec![],
        redo: vec![],
        aria: vec![],
        logs: vec![],
        unread: vec![],
    };
    // Further files of the system tablespace are read as the first one says.
    let (further, found): (Vec<Found>, Vec<Found>) = found.into_iter().partition(is_further);
    let lengths: BTreeMap<String, u64> = found
        .iter()
        .filter(|one| one.kind == Kind::System)
        .map(|one| (one.path.clone(), one.bytes))
        .collect();
    for one in found {
        needs.add(one);
    }
    let is_first = |space: &&SpaceNeed| space.header.space_id == 0;
    let first = needs.spaces.iter().find(is_first).map(|space| {
        Continued::of(space.header.clone(), None, lengths.get(&space.path).copied().unwrap_or_default())
    });
    for one in further {
        match &first {
            None => needs.add(one),
            Some(first) => match rest_of_space(&one, first) {
                Ok(space) => needs.spaces.push(space),
                Err(why) => needs.unread.push((one.path, why)),
            },
        }
    }
    Ok(needs)
}

/// A file of the system tablespace that does not begin with its header.
fn is_further(one: &Found) -> bool {
    let start = || read_at(&walk::open(&one.place).ok()?, 0, innodb::SPACE_START_BYTES).ok();
    one.kind == Kind::System
        && one.unread.is_none()
        && start().is_some_and(|start| innodb::space_of_start(&start).is_none())
}

impl Needs {
    fn add(&mut self, one: Found) {
        if one.kind == Kind::Temp || one.path == "lost+found" {
            return;
        }
        if let Some(why) = &one.unread {
            // A directory, or what a link leads to, may hold anything.
            let could_need = one.kind.is_space()
                || matches!(
                    one.kind,
                    Kind::Redo
                        | Kind::AriaIndex
                        | Kind::AriaData
                        | Kind::Binlog
                        | Kind::RelayLog
                        | Kind::Other
                );
            if could_need {
                self.unread.push((one.path, why.clone()));
            }
            return;
        }
        let read = match one.kind {
            kind if kind.is_space() => space(&one, self.family).map(|space| self.spaces.extend(space)),
            Kind::Redo => redo(&one).map(|redo| self.redo.push(RedoNeed { path: one.path.clone(), redo })),
            Kind::AriaIndex => {
                aria_table(&one, self.aria.len() < ARIA_TRIED_MAX).map(|table| self.aria.extend(table))
            }
            Kind::Binlog | Kind::RelayLog => log(&one).map(|log| self.logs.extend(log)),
            Kind::Definition if one.place.extension().is_some_and(|ending| ending == "isl") => {
                linked(&one, &self.root).map(|there| self.add(there))
            }
            _ => Ok(()),
        };
        if let Err(why) = read {
            self.unread.push((one.path, why));
        }
    }

    /// The same of binary or relay logs that do not lie in the data directory: `base` is their path without the number. A channel with a name
    /// has it in front of the number.
    pub fn add_logs(&mut self, base: &Path) {
        let (Some(dir), Some(name)) = (base.parent(), base.file_name()) else { return };
        let start = name.to_string_lossy();
        let entries = match std::fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(why) => {
                self.unread.push((walk::printable(dir), walk::cannot_read(&why)));
                return;
            }
        };
        let mut places: Vec<PathBuf> = Vec::new();
        for entry in entries.flatten().take(LOGS_MAX) {
            let file = entry.file_name();
            let file = file.to_string_lossy();
            let number = file.strip_prefix(&*start).and_then(|rest| {
                let (channel, number) = rest.rsplit_once('.')?;
                (channel.is_empty() || channel.starts_with('-')).then_some(number)
            });
            if number.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit())) {
                places.push(entry.path());
            }
        }
        places.sort();
        for place in places {
            // Whatever its name says: it is asked for as a log.
            let one = walk::file_at(walk::printable(&place), place);
            self.add(one);
        }
    }
}

/// As much of it as there is.
fn read_at(file: &File, at: u64, bytes: usize) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; bytes];
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..)
        && !rest.is_empty()
    {
        match file.read_at(rest, at + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    buffer.truncate(filled);
    Ok(buffer)
}

fn redo(one: &Found) -> Result<Redo, String> {
    let file = walk::open(&one.place).map_err(|why| walk::cannot_read(&why))?;
    let start = read_at(&file, 0, redo::HEADER_BYTES).map_err(|why| walk::cannot_read(&why))?;
    Ok(redo::read(&start))
}

/// The tablespace that an `.isl` leads to (`DATA DIRECTORY`).
fn linked(link: &Found, root: &Path) -> Result<Found, String> {
    let mut text = String::new();
    let file = walk::open(&link.place).map_err(|why| walk::cannot_read(&why))?;
    file.take(LINK_BYTES_MAX).read_to_string(&mut text).map_err(|why| walk::cannot_read(&why))?;
    let place = root.join(text.trim_end_matches(['\r', '\n', '\0', ' ']));
    let mut there = walk::file_at(walk::printable(&place), place);
    there.kind = Kind::Table;
    there.named_by = Some(link.path.clone());
    Ok(there)
}

/// `None`: it is not encrypted.
fn aria_table(one: &Found, is_tried: bool) -> Result<Option<AriaNeed>, String> {
    let file = walk::open(&one.place).map_err(|why| walk::cannot_read(&why))?;
    let start = read_at(&file, 0, aria::HEADER_BYTES).map_err(|why| walk::cannot_read(&why))?;
    match aria::read(&start) {
        aria::Table::Plain | aria::Table::WithoutPages => return Ok(None),
        aria::Table::Unknown(why) => return Err(why.into()),
        aria::Table::Encrypted => {}
    }
    let mut trial = None;
    if let (true, Some(crypt)) = (is_tried, aria::crypt(&start)) {
        // A data file that cannot be read is no matter of keys, as far as is told here; it tells nothing of them either.
        let data = walk::open(&one.place.with_extension("MAD")).map_err(|why| walk::cannot_read(&why))?;
        for number in 1..ARIA_PAGES_LOOKED_AT {
            let at = number * aria::PAGE_BYTES as u64;
            let page = read_at(&data, at, aria::PAGE_BYTES).map_err(|why| walk::cannot_read(&why))?;
            if let Some(found) = aria::ciphertext(number, &page) {
                trial = Some((crypt, found));
                break;
            }
        }
    }
    Ok(Some(AriaNeed { path: one.path.clone(), trial }))
}

/// `None`: it is not encrypted.
fn log(one: &Found) -> Result<Option<LogNeed>, String> {
    let file = walk::open(&one.place).map_err(|why| walk::cannot_read(&why))?;
    let start = read_at(&file, 0, binlog::START_BYTES).map_err(|why| walk::cannot_read(&why))?;
    let log = binlog::read(&start);
    match &log {
        binlog::Binlog::Unknown(why) => Err((*why).into()),
        binlog::Binlog::Plain | binlog::Binlog::Empty | binlog::Binlog::Other => Ok(None),
        binlog::Binlog::MariaDbEncrypted { .. } | binlog::Binlog::MySqlEncrypted { .. } => {
            // In a relay log an event says where it ended in the source's binary log.
            let trial = (one.kind == Kind::Binlog).then(|| binlog::ciphertext(&start)).flatten();
            Ok(Some(LogNeed { path: one.path.clone(), log, trial }))
        }
    }
}

/// A file whose beginning is zero: whether anything was ever written behind it.
fn has_more(file: &File, bytes: u64) -> io::Result<bool> {
    for number in sample(bytes / PAGE_BYTES_MAX as u64) {
        if read_at(file, number * PAGE_BYTES_MAX as u64, PAGE_BYTES_MAX)?.iter().any(|byte| *byte != 0) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// `None`: nothing was written to it yet.
fn space(one: &Found, family: Option<Family>) -> Result<Option<SpaceNeed>, String> {
    let file = walk::open(&one.place).map_err(|why| walk::cannot_read(&why))?;
    let read = |at, bytes| read_at(&file, at, bytes).map_err(|why| walk::cannot_read(&why));
    let mut header = match SpaceHeader::read(&read(0, PAGE_BYTES_MAX)?, family) {
        Ok(header) => header,
        Err(NotASpace::Zero) if has_more(&file, one.bytes).map_err(|why| walk::cannot_read(&why))? => {
            return Err("page 0 is zero, and pages behind it are not: which key they need is not told".into());
        }
        Err(NotASpace::Zero) => return Ok(None),
        Err(why) => return Err(why.to_string()),
    };
    let page_bytes = header.page_bytes;
    let at = |number: u64| number * page_bytes as u64;
    if header.space_id == 0 {
        header = header.with_doublewrite(&read(at(u64::from(TRX_SYS_PAGE)), page_bytes)?);
    }
    sampled(one, &file, header, &|nth, _| u32::try_from(nth).ok()).map(Some)
}

/// Of a further file of the system tablespace.
fn rest_of_space(one: &Found, first: &Continued) -> Result<SpaceNeed, String> {
    // Where a file begins is told by its own pages.
    let first = first.clone();
    let file = walk::open(&one.place).map_err(|why| walk::cannot_read(&why))?;
    let header = first.header.clone();
    sampled(one, &file, header, &|nth, page| first.number(nth, page).ok())
}

/// `number_of`: the number that a page has to have, by its place in the file and itself.
fn sampled(
    one: &Found,
    file: &File,
    header: SpaceHeader,
    number_of: &dyn Fn(u64, &[u8]) -> Option<u32>,
) -> Result<SpaceNeed, String> {
    let page_bytes = header.page_bytes;
    let mut need = SpaceNeed {
        path: one.path.clone(),
        kind: one.kind,
        header,
        pages_read: 0,
        encrypted: 0,
        damaged: 0,
        first_damaged: None,
        key_versions: BTreeSet::new(),
        ciphertexts: vec![],
    };
    for number in sample(one.bytes / page_bytes as u64) {
        let page =
            read_at(file, number * page_bytes as u64, page_bytes).map_err(|why| walk::cannot_read(&why))?;
        // It became shorter meanwhile.
        if page.len() != page_bytes {
            continue;
        }
        need.pages_read += 1;
        if page.iter().all(|byte| *byte == 0) {
            continue;
        }
        let Some(number) = number_of(number, &page) else {
            need.damaged += 1;
            need.first_damaged.get_or_insert(u32::try_from(number).unwrap_or(u32::MAX));
            continue;
        };
        match page::judge(&need.header, number, &page) {
            Page::Encrypted { key_version } => {
                need.encrypted += 1;
                if let Some(version) = key_version
                    && need.key_versions.len() < VERSIONS_MAX
                    && !need.header.is_doublewrite(number)
                {
                    need.key_versions.insert(version);
                }
            }
            Page::Unknown(_) => {
                need.damaged += 1;
                need.first_damaged.get_or_insert(number);
            }
            Page::Zero | Page::Plain { .. } | Page::Never => {}
        }
        if need.ciphertexts.len() < CIPHERTEXTS_MAX {
            need.ciphertexts.extend(page::ciphertext(&need.header, number, &page));
        }
    }
    Ok(need)
}

/// Numbers of the pages that are read, of so many.
fn sample(pages: u64) -> impl Iterator<Item = u64> {
    let first = pages.min(FIRST_PAGES);
    let rest = pages - first;
    let spread = rest.min(SPREAD_PAGES);
    // Without a product that could be too large for files of many pages.
    let nth =
        move |nth: u64| first + rest / spread.max(1) * nth + (rest % spread.max(1)) * nth / spread.max(1);
    (0..first).chain((0..spread).map(nth))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_all_of_a_small_file_and_ends_within_a_large_one() {
        assert_eq!(sample(0).count(), 0);
        assert_eq!(sample(6).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
        let all = FIRST_PAGES + SPREAD_PAGES;
        assert_eq!(sample(all).collect::<Vec<_>>(), (0..all).collect::<Vec<_>>());
        let large: Vec<u64> = sample(u64::from(u32::MAX)).collect();
        assert_eq!(large.len() as u64, all);
        assert!(large.is_sorted_by(|one, other| one < other) && large.last() < Some(&u64::from(u32::MAX)));
        assert!(large.last() > Some(&(u64::from(u32::MAX) / 100 * 99)), "the end is looked at, too");
    }

    #[test]
    fn logs_elsewhere_are_those_of_the_name_with_a_number_or_a_channel() {
        let (home, logs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(home.path().join("ibdata1"), [0; 100]).unwrap();
        let mysql = [&b"\xfdbin\x01\x01\x03K_1"[..], &[0; 500]].concat();
        for name in ["relay.000001", "relay-east.000002", "relay.index", "relay2.000001", "other.000001"] {
            std::fs::write(logs.path().join(name), &mysql).unwrap();
        }
        let mut seen = needs(home.path()).unwrap();
        seen.add_logs(&logs.path().join("relay"));
        let mut names: Vec<&str> = seen.logs.iter().filter_map(|log| log.path.rsplit('/').next()).collect();
        names.sort_unstable();
        assert_eq!(names, ["relay-east.000002", "relay.000001"], "{seen:?}");
    }

    #[test]
    fn what_leads_elsewhere_is_read_or_said_not_to_be() {
        let (home, away) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(home.path().join("ib_logfile0"), [0; 4096]).unwrap();
        std::fs::create_dir(home.path().join("d")).unwrap();
        std::fs::write(home.path().join("d/gone.isl"), away.path().join("gone.ibd").to_str().unwrap())
            .unwrap();
        std::fs::write(away.path().join("far.ibd"), vec![7; 70_000]).unwrap();
        std::fs::write(home.path().join("d/far.isl"), away.path().join("far.ibd").to_str().unwrap()).unwrap();
        std::os::unix::fs::symlink(away.path(), home.path().join("linked")).unwrap();
        // A page 0 of zeros, and rows behind it.
        std::fs::write(home.path().join("d/half.ibd"), [vec![0; 65_536], vec![7; 65_536]].concat()).unwrap();
        std::fs::write(home.path().join("d/new.ibd"), vec![0; 65_536]).unwrap();
        let seen = needs(home.path()).unwrap();
        let mut unread: Vec<&str> =
            seen.unread.iter().filter_map(|(path, _)| path.rsplit('/').next()).collect();
        unread.sort_unstable();
        assert_eq!(unread, ["far.ibd", "gone.ibd", "half.ibd", "linked"], "{seen:?}");
    }

    #[test]
    fn what_is_no_data_directory_is_said_to_be_none() {
        let home = tempfile::tempdir().unwrap();
        assert!(matches!(needs(home.path()), Err(DiskError::NotADataDirectory { .. })));
        std::fs::write(home.path().join("ibdata1"), b"short").unwrap();
        std::fs::write(home.path().join("ib_logfile0"), b"short").unwrap();
        let seen = needs(home.path()).unwrap();
        assert_eq!((seen.spaces.len(), seen.unread.len()), (0, 1), "{seen:?}");
        assert!(matches!(seen.redo[0].redo, Redo::Unknown(_)));
    }
}
