//! Which keys the files of a data directory need, and on what a key can be tried: page 0 of each tablespace, a sample of its pages,
//! the headers of the redo log. Not every page is read, so that an answer comes soon; what was read is counted.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use formats::innodb::page::{self, Ciphertext, Page};
use formats::innodb::redo::{self, Redo};
use formats::innodb::space::{NotASpace, SpaceHeader, TRX_SYS_PAGE};
use formats::innodb::{Family, PAGE_BYTES_MAX};

use crate::DiskError;
use crate::kind::Kind;
use crate::walk::{self, Found};

/// Of one file: its first ones, and so many more that are spread over the rest.
const FIRST_PAGES: u64 = 64;
const SPREAD_PAGES: u64 = 192;
/// A space id in the clear is 32 bits that a wrong key meets by chance once in 4 thousand million; a few pages leave no doubt.
const CIPHERTEXTS_MAX: usize = 4;
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
    let mut needs = Needs { root, family, server_uuid, spaces: vec![], redo: vec![], unread: vec![] };
    for one in found {
        let is_space = one.kind.is_space() && one.kind != Kind::Temp;
        if !is_space && one.kind != Kind::Redo {
            continue;
        }
        if let Some(why) = one.unread {
            needs.unread.push((one.path, why));
            continue;
        }
        let read = if is_space {
            space(&one, family).map(|space| needs.spaces.extend(space))
        } else {
            redo(&one).map(|redo| needs.redo.push(RedoNeed { path: one.path.clone(), redo }))
        };
        if let Err(why) = read {
            needs.unread.push((one.path, why));
        }
    }
    Ok(needs)
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

/// `None`: nothing was written to it yet.
fn space(one: &Found, family: Option<Family>) -> Result<Option<SpaceNeed>, String> {
    let file = walk::open(&one.place).map_err(|why| walk::cannot_read(&why))?;
    let read = |at, bytes| read_at(&file, at, bytes).map_err(|why| walk::cannot_read(&why));
    let mut header = match SpaceHeader::read(&read(0, PAGE_BYTES_MAX)?, family) {
        Ok(header) => header,
        Err(NotASpace::Zero) => return Ok(None),
        Err(why) => return Err(why.to_string()),
    };
    let page_bytes = header.page_bytes;
    let at = |number: u64| number * page_bytes as u64;
    if header.space_id == 0 {
        header = header.with_doublewrite(&read(at(u64::from(TRX_SYS_PAGE)), page_bytes)?);
    }
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
        let page = read(at(number), page_bytes)?;
        // It became shorter meanwhile.
        let (Ok(number), true) = (u32::try_from(number), page.len() == page_bytes) else { continue };
        need.pages_read += 1;
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
    Ok(Some(need))
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
