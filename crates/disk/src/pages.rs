//! Reading: first the head of each file, then all of its pages, in pieces that threads take one after the other.

pub mod continued;
pub mod holes;

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use formats::innodb::page::{self, Page};
use formats::innodb::redo::{self, Block, Redo};
use formats::innodb::space::{Crypt, NotASpace, SpaceHeader, TRX_SYS_PAGE, Wish};
use formats::innodb::{Family, PAGE_BYTES_MAX};
use formats::{aria, binlog, noise};
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};

use continued::Continued;
use holes::{HOLE_BYTES_MIN, Holes};

use crate::kind::Kind;
use crate::tally::{KeyUse, Tally, Verdict};
use crate::walk::{self, Found};
use crate::{Artefact, Progress, Unit};

/// One system call's worth, for each thread: it stays in the processor's own cache while its checksums are computed. All
/// page sizes divide it.
const CHUNK_BYTES: usize = 128 << 10;
/// What a thread takes at a time, so that one large file is read by all of them.
const PIECE_BYTES: u64 = 256 << 20;
/// Disks answer no faster to more, and a server may be at work beside us.
const THREADS_MAX: usize = 8;
/// A page that is not whole may be on its way: it is read so often again, after so long.
const AGAIN_MAX: u32 = 3;
const AGAIN_AFTER: Duration = Duration::from_millis(10);
/// So many pages of a file are waited for; a file with more is no file of a server that writes, but a broken one.
const WAITED_FOR_MAX: u32 = 64;
/// A tablespace whose first page was not written yet says no page size; any would do to see that all of it is zero.
const PAGE_BYTES_GUESSED: usize = 16_384;
/// Of a temporary file: as short as a server writes, since what lies side by side may be of different kinds.
pub const STRETCH_BYTES: usize = 4096;
const TOO_MANY_PAGES: &str = "no tablespace has so many pages";

/// How the rest of a file is read.
#[derive(Debug, Clone)]
enum Pages {
    Space {
        header: SpaceHeader,
        key_id: Option<u32>,
    },
    /// Of a tablespace whose page 0 is zero.
    Zero,
    Continued(Continued),
    Copies {
        family: Family,
        bytes: usize,
    },
    Aria,
    AriaIndex(aria::Index),
    Redo {
        key_id: Option<u32>,
    },
    /// Of a file that has no header.
    Stretches,
}

impl Pages {
    fn bytes(&self) -> usize {
        match self {
            Self::Space { header, .. } | Self::Continued(Continued { header, .. }) => header.page_bytes,
            Self::Zero => PAGE_BYTES_GUESSED,
            Self::Copies { bytes, .. } => *bytes,
            Self::Aria => aria::PAGE_BYTES,
            Self::AriaIndex(index) => index.page_bytes,
            Self::Redo { .. } => redo::BLOCK_BYTES,
            Self::Stretches => STRETCH_BYTES,
        }
    }

    /// Where the first one begins.
    fn start(&self) -> u64 {
        match self {
            Self::Redo { .. } => redo::HEADER_BYTES as u64,
            Self::AriaIndex(index) => index.first * index.page_bytes as u64,
            _ => 0,
        }
    }

    /// Adds units that lie in a hole of the file: what a read would give is zeros, of which each judge says the same.
    fn count_hole(&self, tally: &mut Tally, first: u64, units: u64) {
        // As `count` has it of pages behind the last one that a tablespace can have.
        let possible = if matches!(self, Self::Space { .. } | Self::Continued(_)) {
            (u64::from(u32::MAX) + 1).saturating_sub(first).min(units)
        } else {
            units
        };
        tally.zero += possible;
        if possible < units {
            tally.unknown(TOO_MANY_PAGES, units - possible);
        }
    }

    /// Adds one unit, unless `is_last_try` is false and it may be on its way.
    fn count(&self, tally: &mut Tally, number: u64, bytes: &[u8], is_last_try: bool) -> bool {
        let innodb = |page: Page, is_copy, key_id, tally: &mut Tally| {
            let is_done = is_last_try || !matches!(page, Page::Unknown(_));
            match (is_done, is_copy) {
                (true, true) => tally.copy(page),
                (true, false) => tally.page(page, key_id),
                (false, _) => {}
            }
            is_done
        };
        match self {
            Self::Space { header, key_id } => {
                let page = u32::try_from(number)
                    .map_or(Page::Unknown(TOO_MANY_PAGES), |number| page::judge(header, number, bytes));
                let is_copy = u32::try_from(number).is_ok_and(|number| header.is_doublewrite(number));
                innodb(page, is_copy, *key_id, tally)
            }
            Self::Continued(continued) => {
                let (page, is_copy) = continued.judge(number, bytes);
                innodb(page, is_copy, continued.key_id, tally)
            }
            Self::Zero => {
                let is_zero = bytes.iter().all(|byte| *byte == 0);
                let not = Page::Unknown("page 0 is zero, so nothing tells how this page is laid out");
                innodb(if is_zero { Page::Zero } else { not }, false, None, tally)
            }
            Self::Copies { family, .. } => innodb(page::copy(*family, bytes), true, None, tally),
            Self::Aria => {
                let page = aria::page(number, bytes);
                let is_done = is_last_try || !matches!(page, aria::Page::Unknown(_));
                if is_done {
                    tally.aria(page);
                }
                is_done
            }
            Self::AriaIndex(index) => {
                let page = aria::index_page(index, bytes);
                let is_done = is_last_try || !matches!(page, aria::IndexPage::Unknown(_));
                if is_done {
                    tally.aria_index(page);
                }
                is_done
            }
            Self::Redo { key_id } => {
                let block = redo::block(bytes);
                let is_done = is_last_try || !matches!(block, Block::Unknown(_));
                if is_done {
                    tally.block(block, *key_id);
                }
                is_done
            }
            Self::Stretches => {
                tally.stretch(noise::judge(bytes));
                true
            }
        }
    }
}

/// Device and inode.
type Identity = Option<(u64, u64)>;

/// What the head of a file told.
#[derive(Debug, Default)]
struct Head {
    tally: Tally,
    pages: Option<Pages>,
    /// The pages must be of the same file.
    identity: Identity,
    space_id: Option<u32>,
    claim: Option<String>,
    is_unread: bool,
    /// A file of a tablespace without the header of one.
    is_headless: bool,
    /// What its name does not tell.
    kind: Option<Kind>,
    /// Pages of it that were waited for.
    waits: AtomicU32,
}

impl Head {
    /// Whether one more page may be waited for.
    fn may_wait(&self) -> bool {
        let more = |waits| (waits < WAITED_FOR_MAX).then_some(waits + 1);
        self.waits.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }
}

/// What is to be read, piece by piece; the list is never written down, since a file may be of any size.
struct Pieces<'f> {
    files: &'f [(Found, Head)],
    /// Which file, and from which byte on.
    next: Mutex<(usize, u64)>,
}

impl<'f> Pieces<'f> {
    fn of(files: &'f [(Found, Head)]) -> Self {
        Self { files, next: Mutex::new((0, 0)) }
    }

    /// File, first byte, and the one behind the last.
    fn take(&self) -> Option<(usize, u64, u64)> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let (found, head) = self.files.get(next.0)?;
            let start = head.pages.as_ref().map_or(found.bytes, Pages::start);
            let from = next.1.max(start);
            if from >= found.bytes {
                *next = (next.0 + 1, 0);
                continue;
            }
            // Pieces end where pages do: PIECE_BYTES is a multiple of each page size.
            let to = (from + PIECE_BYTES).min(found.bytes);
            *next = (next.0, to);
            return Some((next.0, from, to));
        }
    }

    fn all_bytes(&self) -> u64 {
        let of = |(found, head): &(Found, Head)| {
            head.pages.as_ref().map_or(0, |pages| found.bytes.saturating_sub(pages.start()))
        };
        self.files.iter().map(of).sum()
    }
}

pub fn read_all(found: Vec<Found>, family: Option<Family>, progress: &Progress) -> Vec<Artefact> {
    let heads = parallel(&found, |one| head(one, family));
    let mut heads: Vec<(Found, Head)> = found.into_iter().zip(heads).collect();
    continued::join(&mut heads);
    let pieces = Pieces::of(&heads);
    progress.all_bytes.store(pieces.all_bytes(), Ordering::Relaxed);
    let sums: Mutex<BTreeMap<usize, (Tally, bool)>> = Mutex::default();
    let run = || {
        let mut buffer = vec![0; CHUNK_BYTES];
        while let Some((at, from, to)) = pieces.take() {
            let Some((found, head)) = heads.get(at) else { break };
            let (tally, is_unread) = piece(found, head, from, to, &mut buffer, progress);
            let mut sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
            let sum = sums.entry(at).or_default();
            sum.0.add(tally);
            sum.1 |= is_unread;
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads() {
            scope.spawn(run);
        }
        run();
    });
    for (at, (tally, is_unread)) in sums.into_inner().unwrap_or_else(PoisonError::into_inner) {
        if let Some((_, head)) = heads.get_mut(at) {
            head.tally.add(tally);
            head.is_unread |= is_unread;
        }
    }
    heads.into_iter().map(|(found, head)| artefact(found, head, family)).collect()
}

fn artefact(found: Found, head: Head, family: Option<Family>) -> Artefact {
    let Head { tally, pages, space_id, claim, is_unread, kind, .. } = head;
    let kind = kind.unwrap_or(found.kind);
    let unit = match &pages {
        Some(pages @ (Pages::Redo { .. } | Pages::Stretches)) => Unit::Block { bytes: pages.bytes() },
        Some(pages) => Unit::Page { bytes: pages.bytes() },
        None => Unit::File,
    };
    Artefact {
        verdict: Verdict::of(&tally, kind.is_never_of(family)),
        path: found.path,
        named_by: found.named_by,
        kind,
        bytes: found.bytes,
        unit,
        tally,
        space_id,
        claim,
        is_unread,
        lies_on: None,
    }
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX)
}

/// The answers in the order of `work`.
pub fn parallel<W: Sync, T: Send>(work: &[W], each: impl Fn(&W) -> T + Sync) -> Vec<T> {
    let threads = threads().min(work.len());
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(work.len()));
    let run = || {
        while let Some((at, one)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            work.get(at).map(|one| (at, one))
        } {
            let answer = each(one);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((at, answer));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(run);
        }
        run();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, answer)| answer).collect()
}

/// Reads until the buffer is full or the file ends.
pub fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    let mut got = 0;
    while let Some(rest) = buffer.get_mut(got..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, at + got as u64) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

/// Counts the pages from byte `from` to byte `to`, and says whether some of it could not be read.
fn piece(
    found: &Found,
    head: &Head,
    from: u64,
    to: u64,
    buffer: &mut [u8],
    progress: &Progress,
) -> (Tally, bool) {
    let mut tally = Tally::default();
    let Some(pages) = &head.pages else { return (tally, false) };
    let bytes = pages.bytes();
    let units_from = |at: u64| (to - at).div_ceil(bytes as u64);
    let number_of = |place: u64| (place - pages.start()) / bytes as u64;
    let file = match walk::open(&found.place) {
        Ok(file) => file,
        Err(error) => {
            tally.unknown(walk::cannot_read(&error), units_from(from));
            return (tally, true);
        }
    };
    if identity(&file) != head.identity {
        tally.unknown("the file was replaced while it was read", units_from(from));
        return (tally, true);
    }
    // Only advice: where it is not taken, the reads are the same.
    let _ = posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_SEQUENTIAL);
    let mut holes = Holes::of(&file);
    let mut at = from;
    while at < to {
        let units = holes.bytes_at(at, to) / bytes as u64;
        if units * bytes as u64 >= HOLE_BYTES_MIN {
            pages.count_hole(&mut tally, number_of(at), units);
            progress.hole_bytes.fetch_add(units * bytes as u64, Ordering::Relaxed);
            at += units * bytes as u64;
            continue;
        }
        let wanted = usize::try_from(to - at).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
        let Some(chunk) = buffer.get_mut(..wanted) else { break };
        let got = match read_at(&file, chunk, at) {
            Ok(got) => got,
            Err(error) => {
                tally.unknown(walk::cannot_read(&error), units_from(at));
                return (tally, true);
            }
        };
        for (nth, unit) in chunk.get(..got).unwrap_or_default().chunks(bytes).enumerate() {
            let place = at + (nth * bytes) as u64;
            let number = number_of(place);
            if !pages.count(&mut tally, number, unit, false) {
                if head.may_wait() {
                    settle(pages, &file, &mut tally, number, place);
                } else {
                    pages.count(&mut tally, number, unit, true);
                }
            }
        }
        progress.read_bytes.fetch_add(got as u64, Ordering::Relaxed);
        at += got as u64;
        if got < wanted {
            tally.unknown("the file became shorter while it was read", units_from(at).max(1));
            return (tally, true);
        }
    }
    (tally, false)
}

/// A page that could not be told is read again: a server may have been writing it.
fn settle(pages: &Pages, file: &File, tally: &mut Tally, number: u64, place: u64) {
    let mut buffer = vec![0; pages.bytes()];
    for again in 1..=AGAIN_MAX {
        std::thread::sleep(AGAIN_AFTER);
        match read_at(file, &mut buffer, place) {
            Ok(got) => {
                let unit = buffer.get(..got).unwrap_or_default();
                if pages.count(tally, number, unit, again == AGAIN_MAX) {
                    return;
                }
            }
            Err(error) => {
                tally.unknown(walk::cannot_read(&error), 1);
                return;
            }
        }
    }
}

fn identity(file: &File) -> Identity {
    file.metadata().ok().map(|facts| (facts.dev(), facts.ino()))
}

/// The first bytes of a file, and which file it is.
fn start_of(place: &Path, bytes: usize) -> io::Result<(Vec<u8>, Identity)> {
    let file = walk::open(place)?;
    let mut start = vec![0; bytes];
    let got = read_at(&file, &mut start, 0)?;
    start.truncate(got);
    Ok((start, identity(&file)))
}

/// One page, as much of it as is there.
fn page_of(place: &Path, bytes: usize, number: u32) -> io::Result<Vec<u8>> {
    let file = walk::open(place)?;
    let mut page = vec![0; bytes];
    let got = read_at(&file, &mut page, u64::from(number) * bytes as u64)?;
    page.truncate(got);
    Ok(page)
}

fn head(found: &Found, family: Option<Family>) -> Head {
    let mut head = Head::default();
    if let Some(why) = &found.unread {
        head.tally = Tally::of_unknown(why.clone());
        head.is_unread = true;
    } else if found.bytes == 0 {
        // Nothing in it, of whatever kind it is.
    } else if found.kind == Kind::Other {
        head.tally = Tally::of_unknown("a file that sealion does not know");
    } else if found.kind.is_never() {
        head.tally.plain = 1;
    } else if let Err(error) = examine(found, family, &mut head) {
        head =
            Head { tally: Tally::of_unknown(walk::cannot_read(&error)), is_unread: true, ..Head::default() };
    }
    head
}

/// Files that can be encrypted.
fn examine(found: &Found, family: Option<Family>, head: &mut Head) -> io::Result<()> {
    let whole = |tally: &mut Tally, key: Option<KeyUse>| match key {
        Some(key) => tally.encrypted(key),
        None => tally.plain = 1,
    };
    match found.kind {
        Kind::Binlog | Kind::RelayLog => {
            let (start, _) = start_of(&found.place, binlog::START_BYTES)?;
            match binlog::read(&start) {
                binlog::Binlog::Plain => head.tally.plain = 1,
                binlog::Binlog::MariaDbEncrypted { key_version } => {
                    head.tally.encrypted(KeyUse { id: None, version: Some(key_version) });
                }
                binlog::Binlog::MySqlEncrypted { key_id } => {
                    head.tally.encrypted(KeyUse { id: None, version: None });
                    head.claim = Some(format!("key {key_id}"));
                }
                binlog::Binlog::Empty => {}
                binlog::Binlog::Unknown(why) => head.tally = Tally::of_unknown(why),
                binlog::Binlog::Other => head.tally = Tally::of_unknown("it is no binary log any more"),
            }
        }
        Kind::AriaIndex | Kind::AriaData => {
            // The index says it for both; in the data file each page of an encrypted table tells its key version.
            let (start, identity) = start_of(&found.place.with_extension("MAI"), aria::HEADER_BYTES)?;
            match aria::read(&start) {
                aria::Table::Plain => head.tally.plain = 1,
                aria::Table::WithoutPages => {
                    head.tally.plain = 1;
                    head.kind = Some(Kind::AriaRows);
                }
                aria::Table::Unknown(why) => head.tally = Tally::of_unknown(why),
                aria::Table::Encrypted if found.kind == Kind::AriaIndex => match aria::index(&start) {
                    Some(index) => {
                        // Its header alone, without a page, needs the key: the table cannot be opened without it.
                        whole(&mut head.tally, Some(KeyUse { id: None, version: None }));
                        head.pages = Some(Pages::AriaIndex(index));
                    }
                    None => head.tally = Tally::of_unknown("its header does not tell how its pages lie"),
                },
                aria::Table::Encrypted => head.pages = Some(Pages::Aria),
            }
            head.identity = identity;
            if head.pages.is_some() {
                (_, head.identity) = start_of(&found.place, 1)?;
            }
        }
        Kind::Redo => redo_head(found, head)?,
        Kind::TempFile => {
            (_, head.identity) = start_of(&found.place, 1)?;
            head.pages = Some(Pages::Stretches);
        }
        Kind::Doublewrite => match (family, copies_bytes(&found.path)) {
            (Some(family), Some(bytes)) => {
                (_, head.identity) = start_of(&found.place, 1)?;
                head.pages = Some(Pages::Copies { family, bytes });
            }
            _ => head.tally = Tally::of_unknown("its name does not give the size of a page"),
        },
        _ => space_head(found, family, head)?,
    }
    Ok(())
}

/// `#ib_16384_0.dblwr`
fn copies_bytes(path: &str) -> Option<usize> {
    let name = path.rsplit('/').next()?;
    let numbers = name.strip_prefix("#ib_")?.strip_suffix(".dblwr")?;
    let bytes: usize = numbers.split('_').next()?.parse().ok()?;
    (bytes.is_power_of_two() && (4096..=PAGE_BYTES_MAX).contains(&bytes)).then_some(bytes)
}

fn redo_head(found: &Found, head: &mut Head) -> io::Result<()> {
    let (start, identity) = start_of(&found.place, redo::HEADER_BYTES)?;
    head.identity = identity;
    match redo::read(&start) {
        Redo::MariaDb { key: Some(key), creator } => {
            head.tally.encrypted(KeyUse { id: Some(key.id), version: Some(key.version) });
            head.claim = Some(format!("written by {creator}"));
        }
        Redo::MariaDb { key: None, creator } => {
            head.tally.plain = 1;
            head.claim = Some(format!("written by {creator}"));
        }
        Redo::MySql { master_key_id, creator } => {
            head.claim = Some(match master_key_id {
                Some(id) => format!("written by {creator}, master key {id} in its header"),
                None => format!("written by {creator}, no key in its header"),
            });
            head.pages = Some(Pages::Redo { key_id: master_key_id });
        }
        // A spare one: its header is zero, and what it was used for before may stand behind it.
        Redo::Zero => head.pages = Some(Pages::Redo { key_id: None }),
        Redo::Unknown(why) => head.tally = Tally::of_unknown(why),
    }
    Ok(())
}

fn space_head(found: &Found, family: Option<Family>, head: &mut Head) -> io::Result<()> {
    for again in 0..=AGAIN_MAX {
        let (start, identity) = start_of(&found.place, PAGE_BYTES_MAX)?;
        head.identity = identity;
        match SpaceHeader::read(&start, family) {
            Ok(mut header) => {
                if header.space_id == 0 {
                    let trx_sys = page_of(&found.place, header.page_bytes, TRX_SYS_PAGE)?;
                    header = header.with_doublewrite(&trx_sys);
                }
                head.space_id = Some(header.space_id);
                let key_id = claim(&header, head);
                head.pages = Some(Pages::Space { header, key_id });
                return Ok(());
            }
            Err(NotASpace::Zero) => {
                head.pages = Some(Pages::Zero);
                head.is_headless = true;
                return Ok(());
            }
            Err(why) if again == AGAIN_MAX => {
                head.tally = Tally::of_unknown(why.to_string());
                head.is_headless = page::number(&start).is_some_and(|number| number > 0);
            }
            Err(_) => std::thread::sleep(AGAIN_AFTER),
        }
    }
    Ok(())
}

/// What page 0 says, for people; returns the key.
fn claim(header: &SpaceHeader, head: &mut Head) -> Option<u32> {
    match &header.crypt {
        Some(Crypt::MariaDb { scheme, key_id, min_key_version, wish, .. }) => {
            let wish = match wish {
                Wish::Default => "",
                Wish::Yes => ", ENCRYPTED=YES",
                Wish::No => ", ENCRYPTED=NO",
            };
            head.claim = Some(format!("scheme {scheme}, key {key_id} from version {min_key_version}{wish}"));
            Some(*key_id)
        }
        Some(Crypt::MySql { master_key_id, .. }) if header.is_flagged_encrypted => {
            head.claim = Some(format!("encrypted, master key {master_key_id}"));
            Some(*master_key_id)
        }
        _ => None,
    }
}
