//! The sender's side of the disk: what there is, and where the bytes of a file are.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::unistd::{Whence, lseek};

use crate::StreamError;
use crate::entry::{Entry, Kind};
use crate::landing::MARK;

/// A tree with more is no directory of a server; the list of it is held in memory.
const ENTRIES_MAX: usize = 10_000_000;

pub struct Tree {
    /// The root, then all below it, parents before what is in them.
    pub entries: Vec<Entry>,
    pub left_out: Vec<PathBuf>,
    pub size_bytes: u64,
    /// When each entry was last changed, which nobody can set back: seconds and nanoseconds.
    pub changed: Vec<(i64, i64)>,
}

fn cannot(path: &Path, error: &io::Error) -> StreamError {
    let (why, next) = match error.kind() {
        io::ErrorKind::NotFound => {
            ("it does not exist".to_owned(), "name a directory of this host; nothing was copied")
        }
        io::ErrorKind::NotADirectory => ("it is not a directory".to_owned(), NAME_A_DIRECTORY),
        io::ErrorKind::PermissionDenied => {
            (error.to_string(), "run this as a user who may read all of it; nothing was copied")
        }
        _ => (error.to_string(), "fix what the system reports, then send it again; nothing was copied"),
    };
    StreamError::Source { what: path.display().to_string(), why, next: next.into() }
}

const NAME_A_DIRECTORY: &str =
    "name the directory that it is in: whole directories are sent; nothing was copied";

/// Whether `root` is a directory that can be listed, before anybody is asked for anything.
///
/// # Errors
/// It is not.
pub fn can_be_sent(root: &Path) -> Result<(), StreamError> {
    fs::read_dir(root).map(drop).map_err(|error| cannot(root, &error))?;
    is_no_half_copy(root)
}

/// A copy that did not end is no source: what came of it would be called whole, and could not be written anywhere for its mark.
fn is_no_half_copy(root: &Path) -> Result<(), StreamError> {
    match fs::symlink_metadata(root.join(MARK)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(cannot(&root.join(MARK), &error)),
        Ok(_) => Err(StreamError::Source {
            what: root.display().to_string(),
            why: format!("{MARK} lies in it: it is a copy that has not come to its end"),
            next: "finish it (sealion receive --resume), or copy what it came from; remove that file only if somebody else made it".into(),
        }),
    }
}

/// What is different in `now`, for people; `None`: nothing.
pub fn difference(before: &Tree, now: &Tree) -> Option<String> {
    let of = |tree: &Tree| -> std::collections::BTreeMap<PathBuf, (Entry, (i64, i64))> {
        let all = tree.entries.iter().zip(&tree.changed);
        all.map(|(entry, changed)| (entry.path.clone(), (entry.clone(), *changed))).collect()
    };
    let is_same = |(one, other): (&Entry, &Entry)| one.is_same(other);
    if before.changed == now.changed
        && before.left_out == now.left_out
        && before.entries.len() == now.entries.len()
        && before.entries.iter().zip(&now.entries).all(is_same)
    {
        return None;
    }
    let (before, now) = (of(before), of(now));
    let made = now.keys().find(|path| !before.contains_key(*path)).map(|path| (path, "was made"));
    let gone = || before.keys().find(|path| !now.contains_key(*path)).map(|path| (path, "was removed"));
    let changed = || {
        let differs = |(path, (entry, changed)): &(&PathBuf, &(Entry, (i64, i64)))| {
            now.get(*path).is_none_or(|(new, when)| !new.is_same(entry) || when != changed)
        };
        let mut both = before.iter().filter(differs);
        both.next().map(|(path, _)| (path, "changed"))
    };
    let (path, what) = made.or_else(gone).or_else(changed)?;
    Some(format!("{} {what} while the copy was under way", path.display()))
}

/// Everything below `root`, in the order of names.
pub fn walk(root: &Path) -> Result<Tree, StreamError> {
    let mut tree = Tree { entries: Vec::new(), left_out: Vec::new(), size_bytes: 0, changed: Vec::new() };
    let about = fs::metadata(root).map_err(|error| cannot(root, &error))?;
    tree.entries.push(entry_of(Kind::Directory, PathBuf::new(), PathBuf::new(), &about));
    tree.changed.push((about.ctime(), about.ctime_nsec()));
    is_no_half_copy(root)?;
    let mut open = vec![PathBuf::new()];
    while let Some(directory) = open.pop() {
        let at = root.join(&directory);
        let mut names: Vec<_> = fs::read_dir(&at)
            .and_then(|all| all.map(|one| one.map(|one| one.file_name())).collect::<io::Result<_>>())
            .map_err(|error| cannot(&at, &error))?;
        names.sort_unstable();
        let mut below = Vec::new();
        for name in names {
            let path = directory.join(name);
            let full = root.join(&path);
            let about = fs::symlink_metadata(&full).map_err(|error| cannot(&full, &error))?;
            let kind = about.file_type();
            if kind.is_socket() || kind.is_fifo() || kind.is_block_device() || kind.is_char_device() {
                tree.left_out.push(path);
                continue;
            }
            let mut target = PathBuf::new();
            let kind = if kind.is_dir() {
                below.push(path.clone());
                Kind::Directory
            } else if kind.is_symlink() {
                target = fs::read_link(&full).map_err(|error| cannot(&full, &error))?;
                Kind::Link
            } else {
                Kind::File
            };
            let entry = entry_of(kind, path, target, &about);
            entry.check().map_err(|why| StreamError::Source {
                what: full.display().to_string(),
                why,
                next: "copy what it names by itself, and remove the link; nothing was copied".into(),
            })?;
            tree.size_bytes = tree.size_bytes.saturating_add(entry.size_bytes);
            tree.entries.push(entry);
            tree.changed.push((about.ctime(), about.ctime_nsec()));
            if tree.entries.len() > ENTRIES_MAX {
                return Err(StreamError::Source {
                    what: root.display().to_string(),
                    why: format!("it has more than {ENTRIES_MAX} files"),
                    next: "send parts of it".into(),
                });
            }
        }
        open.extend(below.into_iter().rev());
    }
    Ok(tree)
}

fn entry_of(kind: Kind, path: PathBuf, target: PathBuf, about: &Metadata) -> Entry {
    Entry {
        kind,
        // A file system that compresses has fewer blocks than bytes: there, nobody knows.
        is_dense: kind == Kind::File && about.blocks().saturating_mul(512) >= about.len(),
        // Sticky: a directory that all may write to is another one without.
        mode: about.mode() & 0o1777,
        uid: about.uid(),
        gid: about.gid(),
        mtime_s: about.mtime(),
        mtime_ns: u32::try_from(about.mtime_nsec()).unwrap_or(0),
        size_bytes: if kind == Kind::File { about.len() } else { 0 },
        path,
        target,
    }
}

/// Whether a file is still what was announced.
pub fn is_as_announced(about: &Metadata, entry: &Entry, changed: (i64, i64)) -> bool {
    about.is_file()
        && (about.ctime(), about.ctime_nsec()) == changed
        && about.len() == entry.size_bytes
        && about.mtime() == entry.mtime_s
        && u32::try_from(about.mtime_nsec()) == Ok(entry.mtime_ns)
}

/// Where the bytes of a file begin and end, at `from` or behind it; `None`: only a hole follows.
///
/// # Source
/// lseek(2), `SEEK_DATA` and `SEEK_HOLE`: a file system that does not know holes says that all is data.
pub fn data_behind(file: &File, from: u64, size_bytes: u64) -> io::Result<Option<(u64, u64)>> {
    if from >= size_bytes {
        return Ok(None);
    }
    let offset = |at: u64| i64::try_from(at).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput));
    let begin = match lseek(file, offset(from)?, Whence::SeekData) {
        Ok(begin) => u64::try_from(begin).unwrap_or(from),
        Err(Errno::ENXIO) => return Ok(None),
        Err(Errno::EINVAL) => return Ok(Some((from, size_bytes))),
        Err(errno) => return Err(errno.into()),
    };
    let end = match lseek(file, offset(begin)?, Whence::SeekHole) {
        Ok(end) => u64::try_from(end).unwrap_or(size_bytes),
        // It was cut short meanwhile, which is told at the end.
        Err(Errno::ENXIO) => return Ok(None),
        Err(errno) => return Err(errno.into()),
    };
    Ok((begin < size_bytes).then_some((begin, end.min(size_bytes))))
}
