//! A search through files of this machine: for secrets in statements, and for dumps and copies that lie about.
//!
//! What could not be read is told, file by file. Symbolic links inside of a directory are not followed, special files are not opened, and a
//! directory of another file system is not entered.

use std::collections::{HashSet, VecDeque};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use formats::binlog::{self, Binlog};
use formats::binlog_events::Events;
use formats::leftover::{self, Content};
use formats::secrets;
use nix::sys::statfs::{CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, PROC_SUPER_MAGIC, SYSFS_MAGIC, statfs};
use serde::{Deserialize, Serialize};

use crate::remote::frames::FarPath;

/// What is to be searched, and how far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Search {
    pub places: Vec<Place>,
    /// Files and directories that are looked at in directories, in all.
    pub entries_max: u64,
    /// Bytes that are read in all.
    pub bytes_max: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Secrets in statements of one file, which may be compressed.
    Log(FarPath),
    /// The same of a client's history.
    History(FarPath),
    /// The same of a binary or relay log, if that is not encrypted.
    BinaryLog(FarPath),
    /// Dumps, backup streams and copies, by the first bytes of all files below. Below `own` lie files of the server itself.
    Leftovers { dir: FarPath, own: Vec<FarPath> },
}

impl Place {
    pub fn path(&self) -> &Path {
        match self {
            Self::Log(path) | Self::History(path) | Self::BinaryLog(path) => &path.0,
            Self::Leftovers { dir, .. } => &dir.0,
        }
    }
}

/// What was found. `place` is always the place in [`Search::places`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Searched {
    pub hits: Vec<SearchHit>,
    /// Files with hits that are not among `hits`.
    pub more_hits: u64,
    /// What could not be read, or not to its end.
    pub unread: Vec<Unread>,
    pub more_unread: u64,
    /// Binary logs that are encrypted, so that nothing can be said of what is in them.
    pub encrypted: Vec<EncryptedFile>,
    pub more_encrypted: u64,
    /// Places that are not there.
    pub missing: Vec<usize>,
    /// Files that were looked at.
    pub files: u64,
    pub bytes: u64,
}

/// What one file has of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchHit {
    pub place: usize,
    pub path: FarPath,
    /// What it is, for people.
    pub what: String,
    /// Of the first one; in a compressed file, of what is in it.
    pub offset: u64,
    pub count: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    pub place: usize,
    pub path: FarPath,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncryptedFile {
    pub place: usize,
    pub path: FarPath,
}

/// How far it is, for somebody who waits.
#[derive(Debug, Default)]
pub struct SearchProgress {
    read_bytes: AtomicU64,
    /// Of the files that are read as a whole; grows with those that are found.
    all_bytes: AtomicU64,
    files: AtomicU64,
}

/// A moment of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SearchedSoFar {
    pub read_bytes: u64,
    pub all_bytes: u64,
    pub files: u64,
}

impl SearchProgress {
    pub fn so_far(&self) -> SearchedSoFar {
        SearchedSoFar {
            read_bytes: self.read_bytes.load(Ordering::Relaxed),
            all_bytes: self.all_bytes.load(Ordering::Relaxed),
            files: self.files.load(Ordering::Relaxed),
        }
    }

    /// What another machine's search has done since it said `before`.
    pub(crate) fn add_since(&self, before: SearchedSoFar, now: SearchedSoFar) {
        self.read_bytes.fetch_add(now.read_bytes.saturating_sub(before.read_bytes), Ordering::Relaxed);
        self.all_bytes.fetch_add(now.all_bytes.saturating_sub(before.all_bytes), Ordering::Relaxed);
        self.files.fetch_add(now.files.saturating_sub(before.files), Ordering::Relaxed);
    }
}

/// An answer has room for many more; a person reads fewer.
const TOLD_MAX: usize = 1000;
/// Below its root.
const DEPTH_MAX: usize = 64;
const PIECE_BYTES: usize = 1 << 20;
/// Packed forms that are not unpacked here, by their first bytes.
const PACKED: [(&[u8], &str); 3] = [(b"\xfd7zXZ\0", "xz"), (b"BZh", "bzip2"), (b"\x04\x22\x4d\x18", "LZ4")];
const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// Searches here. `stop`: nobody waits any more.
pub(crate) fn search(search: &Search, progress: &SearchProgress, stop: &AtomicBool) -> Searched {
    let mut at_work = AtWork {
        search,
        progress,
        stop,
        place: 0,
        seen: HashSet::new(),
        entries: 0,
        searched: Searched::default(),
    };
    let is_file = |place: &&Place| !matches!(place, Place::Leftovers { .. });
    let sizes = search.places.iter().filter(is_file).filter_map(|place| fs::metadata(place.path()).ok());
    progress.all_bytes.fetch_add(sizes.map(|file| file.len()).sum(), Ordering::Relaxed);
    for (number, place) in search.places.iter().enumerate() {
        at_work.place = number;
        match place {
            Place::Leftovers { dir, own } => at_work.walk(&dir.0, own),
            _ => at_work.file(place),
        }
    }
    at_work.searched
}

struct AtWork<'s> {
    search: &'s Search,
    progress: &'s SearchProgress,
    stop: &'s AtomicBool,
    /// Which is searched now.
    place: usize,
    /// Directories, by device and number: places may lie in each other, and a bind mount in itself.
    seen: HashSet<(u64, u64)>,
    entries: u64,
    searched: Searched,
}

/// Why a file was not read to its end.
enum Ended {
    Failed(String),
    Encrypted,
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

impl AtWork<'_> {
    fn unread(&mut self, path: &Path, why: impl Into<String>) {
        if self.searched.unread.len() < TOLD_MAX {
            let one = Unread { place: self.place, path: FarPath(path.to_owned()), why: why.into() };
            self.searched.unread.push(one);
        } else {
            self.searched.more_unread += 1;
        }
    }

    fn hit(&mut self, path: &Path, what: &str, offset: u64, count: u64) {
        if self.searched.hits.len() < TOLD_MAX {
            self.searched.hits.push(SearchHit {
                place: self.place,
                path: FarPath(path.to_owned()),
                what: what.to_owned(),
                offset,
                count,
            });
        } else {
            self.searched.more_hits += 1;
        }
    }

    /// How many more bytes may be read.
    fn bytes_left(&self) -> u64 {
        self.search.bytes_max.saturating_sub(self.searched.bytes)
    }

    fn count(&mut self, bytes: usize) {
        self.searched.bytes += bytes as u64;
        self.progress.read_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn count_file(&mut self) {
        self.searched.files += 1;
        self.progress.files.fetch_add(1, Ordering::Relaxed);
    }

    fn stopped_by_bytes(&self) -> String {
        format!("the limit of {} bytes for one search was reached", self.search.bytes_max)
    }

    /// Secrets in one file that somebody has named: a link is followed.
    fn file(&mut self, place: &Place) {
        let path = place.path();
        match fs::metadata(path) {
            Ok(about) if about.is_file() => {}
            // Nothing is kept in it: `/dev/null`, a pipe to another program.
            Ok(about) if !about.is_dir() => return,
            Ok(_) => return self.unread(path, "it is a directory"),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return self.searched.missing.push(self.place);
            }
            Err(error) => return self.unread(path, error.to_string()),
        }
        self.count_file();
        let mut hits = Vec::new();
        let ended = self.read_file(place, &mut hits);
        let mut first: Vec<(secrets::Kind, u64, u64)> = Vec::new();
        for hit in hits {
            match first.iter_mut().find(|(kind, ..)| *kind == hit.kind) {
                Some((_, _, count)) => *count += 1,
                None => first.push((hit.kind, hit.offset, 1)),
            }
        }
        for (kind, offset, count) in first {
            self.hit(path, kind.words(), offset, count);
        }
        match ended {
            Ok(()) => {}
            Err(Ended::Failed(why)) => self.unread(path, why),
            Err(Ended::Encrypted) if self.searched.encrypted.len() < TOLD_MAX => {
                self.searched
                    .encrypted
                    .push(EncryptedFile { place: self.place, path: FarPath(path.to_owned()) });
            }
            Err(Ended::Encrypted) => self.searched.more_encrypted += 1,
        }
    }

    fn read_file(&mut self, place: &Place, hits: &mut Vec<secrets::Hit>) -> Result<(), Ended> {
        let (mut file, about) = open(place.path(), true)?;
        let start = start_of(&mut file, leftover::START_BYTES)?;
        let search = match place {
            Place::History(_) => secrets::Search::history(),
            _ => secrets::Search::plain(),
        };
        // A log goes on while it is read: what was there at the beginning is what counts.
        let rest = file.take(about.len().saturating_sub(start.len() as u64));
        let whole = io::Cursor::new(start.clone()).chain(rest);
        if matches!(place, Place::BinaryLog(_)) {
            match binlog::read(&start) {
                Binlog::Plain | Binlog::Empty => {
                    let mut walked = Walked { from: whole, events: Events::default() };
                    self.read_all(&mut walked, search, hits)?;
                    return walked.ended();
                }
                Binlog::MariaDbEncrypted { .. } | Binlog::MySqlEncrypted { .. } => {
                    return Err(Ended::Encrypted);
                }
                Binlog::Unknown(why) => return Err(Ended::Failed(why.into())),
                Binlog::Other => return Err(Ended::Failed("it is no binary log".into())),
            }
        } else if start.starts_with(GZIP) {
            return self.read_all(flate2::read::MultiGzDecoder::new(whole), search, hits);
        } else if start.starts_with(ZSTD) {
            let mut decoder = ruzstd::decoding::StreamingDecoder::new(whole)
                .map_err(|error| Ended::Failed(error.to_string()))?;
            self.read_all(&mut decoder, search, hits)?;
            return match decoder.into_inner().read(&mut [0])? {
                0 => Ok(()),
                _ => Err(Ended::Failed(
                    "more stands behind its first compressed part, which is not unpacked here".into(),
                )),
            };
        } else if let Some((_, by)) = PACKED.iter().find(|(begin, _)| start.starts_with(begin)) {
            return Err(Ended::Failed(format!("it is compressed with {by}, which is not unpacked here")));
        }
        self.read_all(whole, search, hits)
    }

    fn read_all(
        &mut self,
        mut from: impl Read,
        mut search: secrets::Search,
        hits: &mut Vec<secrets::Hit>,
    ) -> Result<(), Ended> {
        let mut piece = vec![0; PIECE_BYTES];
        let ended = loop {
            if self.stop.load(Ordering::Relaxed) {
                break Err(Ended::Failed("the search was ended".into()));
            }
            if self.bytes_left() == 0 {
                break Err(Ended::Failed(self.stopped_by_bytes()));
            }
            match from.read(&mut piece) {
                Ok(0) => break Ok(()),
                Ok(count) => {
                    self.count(count);
                    search.push(piece.get(..count).unwrap_or_default(), hits);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error.into()),
            }
        };
        // What was read has what it has.
        search.finish(hits);
        ended
    }

    /// Everything below a directory.
    fn walk(&mut self, root: &Path, own: &[FarPath]) {
        let about = match fs::metadata(root) {
            Ok(about) if about.is_dir() => about,
            // One file may be named too.
            Ok(_) => return self.look(root, own),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return self.searched.missing.push(self.place);
            }
            Err(error) => return self.unread(root, error.to_string()),
        };
        match is_of_kernel(root) {
            Ok(true) => {
                return self.unread(root, "it is a file system of the kernel, which has no files on a disk");
            }
            Ok(false) => {}
            Err(why) => return self.unread(root, why),
        }
        let mut directories = VecDeque::from([(root.to_owned(), about, 0)]);
        while let Some((dir, of_dir, depth)) = directories.pop_front() {
            if !self.seen.insert((of_dir.dev(), of_dir.ino())) {
                continue;
            }
            let entries = match fs::read_dir(&dir) {
                Ok(entries) => entries,
                // It was removed meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    self.unread(&dir, error.to_string());
                    continue;
                }
            };
            for entry in entries {
                let entry = match entry {
                    Ok(entry) => entry,
                    Err(error) => {
                        self.unread(&dir, error.to_string());
                        break;
                    }
                };
                self.entries += 1;
                if self.stop.load(Ordering::Relaxed) {
                    return self.unread(root, "the search was ended");
                }
                if self.entries > self.search.entries_max {
                    let why =
                        format!("the limit of {} files for one search was reached", self.search.entries_max);
                    return self.unread(root, why);
                }
                let path = entry.path();
                match entry.file_type() {
                    Ok(kind) if kind.is_file() => self.look(&path, own),
                    Ok(kind) if kind.is_dir() => match fs::symlink_metadata(&path) {
                        Ok(about) if depth >= DEPTH_MAX => {
                            let _ = about;
                            self.unread(&path, format!("it lies more than {DEPTH_MAX} directories deep"));
                        }
                        Ok(about) if about.dev() == of_dir.dev() => {
                            directories.push_back((path, about, depth + 1));
                        }
                        Ok(_) => self.leave_out(&path),
                        Err(error) => self.unread(&path, error.to_string()),
                    },
                    // Links, sockets, pipes and devices: what they lead to is elsewhere, or nowhere.
                    Ok(_) => {}
                    Err(error) => self.unread(&path, error.to_string()),
                }
            }
        }
    }

    /// Another file system: it may be another machine's, or the kernel's. One that is named by itself is searched for itself.
    fn leave_out(&mut self, dir: &Path) {
        let is_named = self
            .search
            .places
            .iter()
            .any(|place| matches!(place, Place::Leftovers { dir: one, .. } if one.0 == dir));
        if !is_named && !matches!(is_of_kernel(dir), Ok(true)) {
            self.unread(dir, "another file system is mounted there: name it to have it searched");
        }
    }

    /// One file, by its first bytes.
    fn look(&mut self, path: &Path, own: &[FarPath]) {
        if self.bytes_left() == 0 {
            let why = self.stopped_by_bytes();
            return self.unread(path, why);
        }
        match self.content(path) {
            Ok(Content::Readable(found)) => {
                let is_own = found.is_of_a_server() && own.iter().any(|dir| path.starts_with(&dir.0));
                if !is_own {
                    self.hit(path, found.words(), 0, 1);
                }
            }
            Ok(Content::Unknown(why)) => self.unread(path, why),
            Ok(Content::Encrypted(_) | Content::Other | Content::Needs(_)) => {}
            // It was removed meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => self.unread(path, error.to_string()),
        }
        self.count_file();
    }

    fn content(&mut self, path: &Path) -> io::Result<Content> {
        let (mut file, about) = open(path, false)?;
        let mut start = start_of(&mut file, leftover::START_BYTES)?;
        let is_all = |start: &[u8]| start.len() as u64 >= about.len();
        let mut content = leftover::read(&start, is_all(&start));
        if let Content::Needs(bytes) = content {
            start.extend(start_of(&mut file, bytes.saturating_sub(start.len()))?);
            content = leftover::read(&start, true);
        }
        self.count(start.len());
        self.progress.all_bytes.fetch_add(start.len() as u64, Ordering::Relaxed);
        Ok(content)
    }
}

/// A binary log, whose events are looked at while it is read.
struct Walked<R> {
    from: R,
    events: Events,
}

impl<R: Read> Read for Walked<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(into)?;
        self.events.push(into.get(..count).unwrap_or_default());
        Ok(count)
    }
}

impl<R> Walked<R> {
    fn ended(&self) -> Result<(), Ended> {
        match (self.events.compressed, self.events.is_broken) {
            (0, false) => Ok(()),
            (0, true) => Err(Ended::Failed(
                "an event in it has no length, so that nobody can tell whether others are compressed".into(),
            )),
            (count, _) => {
                Err(Ended::Failed(format!("it has {count} compressed events, which are not unpacked here")))
            }
        }
    }
}

/// Opens a regular file, and never waits for one that is not.
pub(crate) fn open(path: &Path, follows: bool) -> io::Result<(File, Metadata)> {
    let follow = if follows { 0 } else { nix::libc::O_NOFOLLOW };
    let flags = nix::libc::O_NONBLOCK | nix::libc::O_NOCTTY | follow;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let about = file.metadata()?;
    if about.is_file() { Ok((file, about)) } else { Err(io::Error::other("it is no regular file")) }
}

fn start_of(file: &mut File, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut start = Vec::with_capacity(bytes_max);
    file.take(bytes_max as u64).read_to_end(&mut start)?;
    Ok(start)
}

fn is_of_kernel(dir: &Path) -> Result<bool, String> {
    let kind = statfs(dir).map_err(|errno| errno.to_string())?.filesystem_type();
    Ok([PROC_SUPER_MAGIC, SYSFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC].contains(&kind))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::{Local, ReadHost};

    fn run(places: Vec<Place>, entries_max: u64, bytes_max: u64) -> Searched {
        let search = Search { places, entries_max, bytes_max };
        Local.search(&search, &SearchProgress::default()).unwrap()
    }

    fn far(path: &Path) -> FarPath {
        FarPath(path.to_owned())
    }

    /// As file name, what, offset and count.
    fn hits(searched: &Searched) -> Vec<(String, String, u64, u64)> {
        let name = |hit: &SearchHit| hit.path.0.file_name().unwrap().to_string_lossy().into_owned();
        searched.hits.iter().map(|hit| (name(hit), hit.what.clone(), hit.offset, hit.count)).collect()
    }

    fn why(searched: &Searched) -> String {
        let lines = searched.unread.iter().map(|one| format!("{}: {}", one.path.0.display(), one.why));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn gzipped(plain: &[u8]) -> Vec<u8> {
        let mut packed = Vec::new();
        flate2::read::GzEncoder::new(plain, flate2::Compression::fast()).read_to_end(&mut packed).unwrap();
        packed
    }

    const LOG: &[u8] = b"1 Query\tSELECT 1\n2 Query\tCREATE USER a IDENTIFIED BY 'p'\n3 Query\tCREATE USER b IDENTIFIED BY 'q'\n";

    /// Where its first secret stands.
    const AT: u64 = 39;

    #[test]
    fn secrets_are_found_in_logs_also_in_compressed_ones_and_what_is_not_read_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let log = |name: &str, bytes: &[u8]| {
            fs::write(at(name), bytes).unwrap();
            Place::Log(far(&at(name)))
        };
        let by = "password of IDENTIFIED BY";
        let zstd = ruzstd::encoding::compress_to_vec(LOG, ruzstd::encoding::CompressionLevel::Fastest);
        let places = vec![
            log("plain.log", LOG),
            log("two.gz", &[gzipped(LOG), gzipped(LOG)].concat()),
            log("one.zst", &zstd),
            log("two.zst", &[&zstd[..], &zstd].concat()),
            log("log.xz", b"\xfd7zXZ\0\0\0"),
            log("cut.gz", &gzipped(LOG)[..40]),
            log("clean.log", b"1 Query\tCREATE USER a IDENTIFIED BY <secret>\n"),
            Place::Log(far(&at("gone.log"))),
            Place::Log(far(dir.path())),
            Place::Log(far(Path::new("/dev/null"))),
        ];
        let searched = run(places, 10, 1 << 20);
        let found = |name: &str, count: u64| (name.to_owned(), by.to_owned(), AT, count);
        assert_eq!(
            hits(&searched),
            [found("plain.log", 2), found("two.gz", 4), found("one.zst", 2), found("two.zst", 2)]
        );
        assert_eq!(searched.missing, [7]);
        let why = why(&searched);
        for (name, words) in [
            ("two.zst: ", "behind its first compressed part"),
            ("log.xz: ", "compressed with xz"),
            ("cut.gz: ", ""),
            (dir.path().to_str().unwrap(), "it is a directory"),
        ] {
            assert!(why.lines().any(|line| line.contains(name) && line.contains(words)), "{name}: {why}");
        }
        assert_eq!(searched.unread.len(), 4, "{why}");
        assert_eq!(searched.files, 7);
    }

    #[test]
    fn a_binary_log_that_is_encrypted_is_told_as_such_and_not_as_clean() {
        let dir = tempfile::tempdir().unwrap();
        let format = |behind: u8| {
            let event = |kind: u8, bytes: u32| {
                let mut event = vec![0; bytes as usize];
                event[4] = kind;
                event[9..13].copy_from_slice(&bytes.to_le_bytes());
                event
            };
            [b"\xfebin".to_vec(), event(15, 100), event(behind, 60), LOG.to_vec()].concat()
        };
        let write = |name: &str, bytes: &[u8]| {
            fs::write(dir.path().join(name), bytes).unwrap();
            Place::BinaryLog(far(&dir.path().join(name)))
        };
        let places = vec![
            write("bin.000001", &format(2)),
            write("bin.000002", &format(164)),
            write("bin.000003", b"-- a dump"),
        ];
        let searched = run(places, 10, 1 << 20);
        assert_eq!(hits(&searched), [("bin.000001".into(), "password of IDENTIFIED BY".into(), 164 + AT, 2)]);
        assert_eq!(searched.encrypted.iter().map(|one| one.place).collect::<Vec<_>>(), [1]);
        assert!(why(&searched).contains("bin.000003: it is no binary log"), "{}", why(&searched));
    }

    #[test]
    fn leftovers_are_found_by_content_and_links_pipes_and_own_files_are_left() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("a/b/data")).unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("out.sql"), "-- MySQL dump 10").unwrap();
        symlink(outside.path(), at("a/link")).unwrap();
        symlink(dir.path(), at("a/b/loop")).unwrap();
        nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        fs::write(at("a/b/holiday.jpg"), "-- MariaDB dump 10.19").unwrap();
        fs::write(at("a/x.gz"), gzipped(b"-- MySQL dump 10.13")).unwrap();
        let binlog = [
            b"\xfebin".to_vec(),
            vec![0; 4],
            vec![15],
            vec![0; 4],
            100_u32.to_le_bytes().to_vec(),
            vec![0; 87],
        ]
        .concat();
        fs::write(at("a/b/data/bin.000001"), &binlog).unwrap();
        fs::write(at("a/b/data/app.sql"), "-- MySQL dump 10").unwrap();
        fs::write(at("copy"), &binlog).unwrap();
        fs::write(at("notes"), "nothing").unwrap();
        let place = || Place::Leftovers { dir: far(dir.path()), own: vec![far(&at("a/b/data"))] };
        // Twice: what lies in two places is told once.
        let searched = run(vec![place(), place()], 100, 1 << 20);
        let mut found = hits(&searched);
        found.sort();
        let expected = [
            ("app.sql", "a dump"),
            ("copy", "a binary log"),
            ("holiday.jpg", "a dump"),
            ("x.gz", "a compressed dump"),
        ];
        assert_eq!(found, expected.map(|(name, what)| (name.to_owned(), what.to_owned(), 0, 1)));
        assert_eq!(why(&searched), "");
        // Limits are told where they are reached.
        let few = run(vec![place()], 3, 1 << 20);
        assert!(why(&few).contains("limit of 3 files"), "{}", why(&few));
        let short = run(vec![place()], 100, 5);
        assert!(why(&short).contains("limit of 5 bytes"), "{}", why(&short));
        let kernel = run(vec![Place::Leftovers { dir: far(Path::new("/proc")), own: vec![] }], 100, 1 << 20);
        assert!(why(&kernel).contains("file system of the kernel") && kernel.files == 0);
    }
}
