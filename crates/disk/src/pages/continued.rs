//! Further files of a tablespace that has several: `innodb_data_file_path=ibdata1:12M;ibdata2:12M:autoextend`. Only the first has a header;
//! in the others page numbers go on where the file before ended, so their own pages tell where that was.
//!
//! # Source
//! MariaDB manual, `innodb_data_file_path`; numbers seen in files of MariaDB 10.11.19.

use std::sync::OnceLock;

use formats::innodb::page::{self, Page};
use formats::innodb::space::SpaceHeader;

use super::{Head, Pages, TOO_MANY_PAGES};
use crate::kind::Kind;
use crate::tally::Tally;
use crate::walk::Found;

/// One of them.
#[derive(Debug, Clone)]
pub struct Continued {
    /// Of the first file.
    pub header: SpaceHeader,
    pub key_id: Option<u32>,
    /// Pages of the first file: the others are behind it.
    first_pages: u64,
    /// Number of the first page in this file, as the first one that was seen tells it; all others have to agree.
    base: OnceLock<u64>,
}

impl Continued {
    pub fn of(header: SpaceHeader, key_id: Option<u32>, first_bytes: u64) -> Self {
        let first_pages = first_bytes / header.page_bytes as u64;
        Self { header, key_id, first_pages, base: OnceLock::new() }
    }

    /// The number that the page `nth` of the file has to have, or why that cannot be told.
    pub fn number(&self, nth: u64, bytes: &[u8]) -> Result<u32, &'static str> {
        let own = page::number(bytes).ok_or("the page is not complete")?;
        let base = u64::from(own).checked_sub(nth).filter(|base| *base >= self.first_pages);
        let base = base.ok_or("the page has the number of another one")?;
        u32::try_from(self.base.get_or_init(|| base) + nth).map_err(|_| TOO_MANY_PAGES)
    }

    /// The page `nth` of the file, and whether it is a copy on its way to somewhere else.
    pub fn judge(&self, nth: u64, bytes: &[u8]) -> (Page, bool) {
        if bytes.iter().all(|byte| *byte == 0) {
            return (Page::Zero, false);
        }
        match self.number(nth, bytes) {
            Ok(number) => (page::judge(&self.header, number, bytes), self.header.is_doublewrite(number)),
            Err(why) => (Page::Unknown(why), false),
        }
    }
}

/// Gives files without a header that of their tablespace: the one that lies beside them, or the only one there is.
pub(super) fn join(heads: &mut [(Found, Head)]) {
    for at in 0..heads.len() {
        let Some((found, head)) = heads.get(at) else { break };
        if !head.is_headless || !matches!(found.kind, Kind::System | Kind::Temp) {
            continue;
        }
        let Some((path, space_id, continued)) = first_for(heads, found) else { continue };
        if let Some((_, head)) = heads.get_mut(at) {
            head.tally = Tally::default();
            head.space_id = Some(space_id);
            head.claim = Some(format!("further pages of the tablespace of {path}"));
            head.pages = Some(Pages::Continued(continued));
        }
    }
}

/// Path and tablespace of the first file. A copy of it may lie beside it; where two are laid out in different ways, none is taken.
fn first_for(heads: &[(Found, Head)], found: &Found) -> Option<(String, u32, Continued)> {
    let mut firsts: Vec<_> = heads
        .iter()
        .filter(|(first, _)| first.kind == found.kind)
        .filter_map(|(first, head)| first_of(head).map(|(header, key_id)| (first, header, key_id)))
        .collect();
    let is_beside = |first: &Found| first.place.parent() == found.place.parent();
    if firsts.iter().any(|(first, ..)| is_beside(first)) {
        firsts.retain(|(first, ..)| is_beside(first));
    }
    firsts.sort_by_key(|(first, ..)| first.bytes);
    let (first, header, key_id) = *firsts.first()?;
    let is_alike = |other: &SpaceHeader| {
        (other.layout, other.page_bytes, other.space_id)
            == (header.layout, header.page_bytes, header.space_id)
    };
    let continued = Continued::of(header.clone(), key_id, first.bytes);
    firsts
        .iter()
        .all(|(_, other, _)| is_alike(other))
        .then(|| (first.path.clone(), header.space_id, continued))
}

/// Of a tablespace that may have several files: the temporary ones of each session have one each.
fn first_of(head: &Head) -> Option<(&SpaceHeader, Option<u32>)> {
    match &head.pages {
        Some(Pages::Space { header, key_id }) if MAY_HAVE_MORE.contains(&header.space_id) => {
            Some((header, *key_id))
        }
        _ => None,
    }
}

/// The system tablespace; the temporary one of MariaDB, and of MySQL.
///
/// # Source
/// `fsp0types.h` of MariaDB (`SRV_TMP_SPACE_ID`), `dict0dict.h` of MySQL (`s_temp_space_id`).
const MAY_HAVE_MORE: [u32; 3] = [0, 0xffff_fffe, 0xffff_fffd];
