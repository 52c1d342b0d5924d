//! A tree on the disk of whoever gets it: made empty, filled by pieces in any order, checked, and synced.

mod pieces;

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use nix::fcntl::{AtFlags, FallocateFlags, OFlag, fallocate};
use nix::sys::stat::{UtimensatFlags, utimensat};
use nix::sys::time::TimeSpec;
use nix::unistd::{Gid, Uid, fchownat, geteuid, syncfs};

use crate::cells::{self, CELL_BYTES, CellHasher, Digest};
use crate::entry::{Entry, Kind};
use crate::frame::DATA_BYTES_MAX;
use crate::times::Times;
use crate::{StreamError, Summary};

pub use pieces::{Pieces, Unpacker};

/// Lies in the directory until all of it is there.
pub const MARK: &str = ".sealion-incomplete";
const ENTRIES_MAX: usize = 10_000_000;
/// Smaller files are not worth a second descriptor, or a call that asks for room.
const DIRECT_BYTES_MIN: u64 = 256 << 10;

/// What the system says where a file of another kind has the name.
const OTHER_KINDS: [&str; 4] =
    ["File exists", "Is a directory", "Not a directory", "Too many levels of symbolic links"];

pub fn target(path: &Path, why: impl std::fmt::Display) -> StreamError {
    let why = why.to_string();
    let next = if OTHER_KINDS.iter().any(|kind| why.starts_with(kind)) {
        "a file of another kind lies there, or in the way to it: remove it, then do the same again"
    } else {
        "make room or repair the disk, then do the same again; a copy that was sent goes on with receive --resume"
    };
    StreamError::Target { what: path.display().to_string(), why, next: next.into() }
}

pub fn nonsense(why: impl Into<String>) -> StreamError {
    StreamError::Protocol { peer: "the sender".into(), why: why.into() }
}

fn setup(what: String, why: String, next: &str) -> StreamError {
    StreamError::Setup { what, why, next: next.into() }
}

/// Makes the directory, where it is missing; otherwise it is empty, or has a copy that did not end and is to be resumed.
pub fn prepare(root: &Path, resumes: bool) -> Result<(), StreamError> {
    match fs::read_dir(root) {
        Ok(mut there) => {
            nobody_elses(root)?;
            let has_mark = fs::symlink_metadata(root.join(MARK)).is_ok_and(|about| about.is_file());
            let Some(first) = there.next() else { return Ok(()) };
            if resumes && has_mark {
                return Ok(());
            }
            let name = first.map(|one| one.file_name()).unwrap_or_default();
            let what = format!("{} is not empty", root.display());
            let (why, next) = match (has_mark, resumes) {
                (true, _) => (
                    "a copy that did not end lies there".to_owned(),
                    "go on with it if it is the same one: sealion receive --resume; or name a new directory",
                ),
                (false, true) => (
                    format!(
                        "{} lies there, and no {MARK}: a copy that was received there has ended",
                        name.display()
                    ),
                    "name the directory of a copy that did not end, or a new one",
                ),
                (false, false) => (
                    format!("{} lies there", name.display()),
                    "name a new directory, or remove what is there",
                ),
            };
            return Err(setup(what, why, next));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new().mode(0o700).recursive(true).create(root).map_err(|error| {
                setup(
                    format!("{} cannot be made", root.display()),
                    error.to_string(),
                    "name another directory",
                )
            })?;
        }
        Err(error) => {
            let what = format!("{} cannot be used", root.display());
            return Err(setup(what, error.to_string(), "name another directory"));
        }
    }
    Ok(())
}

/// Whoever else may write into it could put a link in the place of a directory while files are written.
fn nobody_elses(root: &Path) -> Result<(), StreamError> {
    use std::os::unix::fs::MetadataExt;
    let about = fs::metadata(root).map_err(|error| {
        setup(format!("{} cannot be used", root.display()), error.to_string(), "name another directory")
    })?;
    if about.uid() == geteuid().as_raw() && about.mode() & 0o022 == 0 {
        return Ok(());
    }
    Err(setup(
        format!("{} cannot be used", root.display()),
        format!(
            "others may write to it (it belongs to user {}, mode {:o})",
            about.uid(),
            about.mode() & 0o777
        ),
        "name a directory that is not there yet, or one that is yours alone (chmod 700)",
    ))
}

/// [`MARK`]; a copy that is resumed has it.
pub fn lay_mark(root: &Path, resumes: bool) -> Result<Mark, StreamError> {
    let directory = File::open(root).map_err(|error| target(root, error))?;
    let mark = root.join(MARK);
    let done = |path: PathBuf| Mark { root: root.to_owned(), path, directory };
    let laid = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(OFlag::O_NOFOLLOW.bits())
        .open(&mark);
    match laid {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && resumes => Ok(done(mark)),
        Ok(_) => Ok(done(mark)),
        Err(error) => Err(target(&mark, error)),
    }
}

/// [`MARK`], while it lies there, and the directory as it was opened before anything was written: `syncfs` tells of what could not be
/// written back since then, also where somebody else has been told of it already. Source: syncfs(2), "since Linux 5.8".
#[derive(Debug)]
pub struct Mark {
    root: PathBuf,
    path: PathBuf,
    directory: File,
}

impl Mark {
    /// All is there and on the disk: takes it away.
    pub fn take(&self, is_synced: bool) -> Result<(), StreamError> {
        fs::remove_file(&self.path).map_err(|error| target(&self.path, error))?;
        if is_synced { self.sync() } else { Ok(()) }
    }

    /// Everything that was written to this file system is on its disk then.
    pub fn sync(&self) -> Result<(), StreamError> {
        syncfs(&self.directory).map_err(|errno| target(&self.root, io::Error::from(errno)))
    }
}

/// Where one tree is written.
pub struct Landing {
    root: PathBuf,
    resumes: bool,
    /// Otherwise everything is only checked.
    writes: bool,
    entries: Vec<Entry>,
    size_bytes: u64,
    checks: Mutex<Checks>,
    pub times: Arc<Times>,
}

/// Which files are known to be what their sender has read.
#[derive(Default)]
struct Checks {
    is_checked: Vec<bool>,
    /// Of files whose digest has not come, or not all of whose cells.
    open: BTreeMap<usize, OpenCheck>,
}

#[derive(Default)]
struct OpenCheck {
    cells: BTreeMap<u64, Digest>,
    announced: Option<Digest>,
}

impl Landing {
    pub fn new(root: &Path, resumes: bool) -> Self {
        Self {
            root: root.to_owned(),
            resumes,
            writes: true,
            entries: Vec::new(),
            size_bytes: 0,
            checks: Mutex::default(),
            times: Arc::default(),
        }
    }

    /// Nothing is written.
    pub fn only_checked(name: &Path) -> Self {
        Self { writes: false, ..Self::new(name, false) }
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Makes what is announced, with room for what it will hold.
    pub fn add(&mut self, entries: Vec<Entry>) -> Result<(), StreamError> {
        if self.entries.len() + entries.len() > ENTRIES_MAX {
            return Err(nonsense(format!("more than {ENTRIES_MAX} files are announced")));
        }
        for entry in entries {
            if self.writes {
                self.make(&entry)?;
            }
            self.size_bytes = self.size_bytes.saturating_add(entry.size_bytes);
            self.entries.push(entry);
        }
        Ok(())
    }

    fn make(&self, entry: &Entry) -> Result<(), StreamError> {
        let full = self.root.join(&entry.path);
        let cannot = |error: io::Error| target(&full, error);
        let there = if self.resumes { fs::symlink_metadata(&full).ok() } else { None };
        match entry.kind {
            // It is there, and gets its owner and mode when all is in it.
            Kind::Directory if entry.is_root() => Ok(()),
            Kind::Directory => match there {
                Some(about) if about.is_dir() => {
                    fs::set_permissions(&full, Permissions::from_mode(0o700)).map_err(cannot)
                }
                _ => DirBuilder::new().mode(0o700).create(&full).map_err(cannot),
            },
            Kind::Link => match there {
                Some(about) if about.is_symlink() => fs::remove_file(&full).map_err(cannot),
                _ => Ok(()),
            },
            Kind::File => {
                let there = there.filter(fs::Metadata::is_file);
                let is_there = there.is_some();
                if there.is_some_and(|about| about.nlink() > 1) {
                    return Err(setup(
                        format!("{} cannot be resumed", full.display()),
                        "the file has a second name, and what is written would be written there too".into(),
                        "remove one of the two, or receive the copy into a new directory",
                    ));
                }
                if is_there {
                    fs::set_permissions(&full, Permissions::from_mode(0o600)).map_err(cannot)?;
                }
                let file = OpenOptions::new()
                    .write(true)
                    .create_new(!is_there)
                    .mode(0o600)
                    .custom_flags(OFlag::O_NOFOLLOW.bits())
                    .open(&full)
                    .map_err(cannot)?;
                file.set_len(entry.size_bytes).map_err(cannot)?;
                if entry.is_dense && entry.size_bytes >= DIRECT_BYTES_MIN {
                    reserve(&file, entry.size_bytes).map_err(cannot)?;
                }
                Ok(())
            }
        }
    }

    /// What lies in the directory of a copy that is resumed, and is in no list.
    pub fn refuse_strangers(&self) -> Result<(), StreamError> {
        let known: std::collections::HashSet<&Path> =
            self.entries.iter().map(|entry| entry.path.as_path()).collect();
        let mut open = vec![PathBuf::new()];
        while let Some(directory) = open.pop() {
            let full = self.root.join(&directory);
            for one in fs::read_dir(&full).map_err(|error| target(&full, error))? {
                let one = one.map_err(|error| target(&full, error))?;
                let path = directory.join(one.file_name());
                if path.as_os_str() == MARK {
                    continue;
                }
                if !known.contains(path.as_path()) {
                    return Err(setup(
                        format!("{} cannot be resumed", self.root.display()),
                        format!("{} lies there and is not in the directory that is sent", path.display()),
                        "remove it if it is nobody's, or receive the copy into a new directory",
                    ));
                }
                if one.file_type().is_ok_and(|kind| kind.is_dir()) {
                    open.push(path);
                }
            }
        }
        Ok(())
    }

    /// Cells that are on this disk, of a copy that is resumed; each is told as file, first cell, digests.
    pub fn there(
        &self,
        each: &mut dyn FnMut(u64, u64, Vec<Digest>) -> Result<(), StreamError>,
    ) -> Result<(), StreamError> {
        let mut room = vec![0; DATA_BYTES_MAX];
        for (at, entry) in self.entries.iter().enumerate() {
            if entry.kind != Kind::File || entry.size_bytes == 0 {
                continue;
            }
            let full = self.root.join(&entry.path);
            let cannot = |error: io::Error| target(&full, error);
            let file = OpenOptions::new()
                .read(true)
                .custom_flags(OFlag::O_NOFOLLOW.bits())
                .open(&full)
                .map_err(cannot)?;
            for cell in 0..cells::count(entry.size_bytes) {
                let from = cell * CELL_BYTES;
                let end = (from + CELL_BYTES).min(entry.size_bytes);
                let data = crate::tree::data_behind(&file, from, end).map_err(cannot)?;
                if data.is_none() {
                    continue;
                }
                let mut hasher = CellHasher::new(entry.size_bytes, cell);
                while hasher.at() < end {
                    let wanted = usize::try_from(end - hasher.at()).unwrap_or(usize::MAX).min(room.len());
                    let bytes = room.get_mut(..wanted).unwrap_or_default();
                    file.read_exact_at(bytes, hasher.at()).map_err(cannot)?;
                    hasher.update(bytes);
                }
                let digest = hasher.finish();
                self.note_cell(at, cell, digest);
                each(at as u64, cell, vec![digest])?;
            }
        }
        Ok(())
    }

    fn note_cell(&self, at: usize, cell: u64, digest: Digest) {
        let mut checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
        checks.open.entry(at).or_default().cells.insert(cell, digest);
    }

    /// The digest of a file that was read at the other end.
    fn note_digest(&self, entry: u64, size_bytes: u64, digest: Digest) -> Result<(), StreamError> {
        let at = usize::try_from(entry).unwrap_or(usize::MAX);
        let known = self.entries.get(at).filter(|known| known.kind == Kind::File);
        let Some(known) = known.filter(|known| known.size_bytes == size_bytes) else {
            return Err(nonsense("a digest came of what is no file, or has another size"));
        };
        let mut checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
        checks.open.entry(at).or_default().announced = Some(digest);
        // Files of one cell are not kept: there may be millions, and all of them have come with this.
        if cells::count(size_bytes) <= 1 {
            self.check(&mut checks, at, known)?;
        }
        Ok(())
    }

    fn check(&self, checks: &mut Checks, at: usize, known: &Entry) -> Result<(), StreamError> {
        let open = checks.open.remove(&at).unwrap_or_default();
        let full = self.root.join(&known.path);
        let Some(announced) = open.announced else {
            return Err(target(&full, "its digest did not come: the sender has not read all of it"));
        };
        let size_bytes = known.size_bytes;
        let mut digest = |cell: u64| -> Result<Digest, StreamError> {
            Ok(open.cells.get(&cell).copied().unwrap_or_else(|| cells::hole(size_bytes, cell)))
        };
        if cells::file_digest(size_bytes, &mut digest)? != announced {
            return Err(target(
                &full,
                "its BLAKE3 is not that of the file which was read: a part is missing or another one",
            ));
        }
        if checks.is_checked.len() < self.entries.len() {
            checks.is_checked.resize(self.entries.len(), false);
        }
        if let Some(is_checked) = checks.is_checked.get_mut(at) {
            *is_checked = true;
        }
        Ok(())
    }

    /// Whether each file is what was read at the other end.
    pub fn check_all(&self) -> Result<(), StreamError> {
        let mut checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
        for (at, entry) in self.entries.iter().enumerate() {
            let is_checked = checks.is_checked.get(at).copied().unwrap_or(false);
            if entry.kind == Kind::File && !is_checked {
                self.check(&mut checks, at, entry)?;
            }
        }
        Ok(())
    }

    /// Checks each file, makes links, then owners, modes and times, then puts everything onto the disk, and takes the mark.
    pub fn finish(&self, mark: &Mark, is_synced: bool) -> Result<(), StreamError> {
        self.check_all()?;
        let links = self.entries.iter().filter(|entry| entry.kind == Kind::Link);
        for entry in links {
            let full = self.root.join(&entry.path);
            std::os::unix::fs::symlink(&entry.target, &full).map_err(|error| target(&full, error))?;
        }
        let is_root = geteuid().is_root();
        // What is in a directory first: writing there changes its time, and it may be one that nobody may write to.
        for entry in self.entries.iter().rev().filter(|entry| !entry.is_root()) {
            dress(&self.root, entry, is_root)?;
        }
        if is_synced {
            mark.sync()?;
        }
        mark.take(false)?;
        // Without the mark, whose going changes its time; and nobody may be allowed to write there behind it.
        for entry in self.entries.iter().filter(|entry| entry.is_root()) {
            dress(&self.root, entry, is_root)?;
        }
        if is_synced { mark.sync() } else { Ok(()) }
    }

    pub fn summary(&self) -> Summary {
        summary_of(&self.entries)
    }
}

/// What there is, by its list.
pub fn summary_of(entries: &[Entry]) -> Summary {
    let below = || entries.iter().filter(|entry| !entry.is_root());
    let of_kind = |kind| below().filter(|entry| entry.kind == kind).count() as u64;
    Summary {
        files: of_kind(Kind::File),
        directories: of_kind(Kind::Directory),
        links: of_kind(Kind::Link),
        size_bytes: entries.iter().fold(0, |sum: u64, entry| sum.saturating_add(entry.size_bytes)),
        ..Summary::default()
    }
}

/// Room for all of a file, so that a disk that is too small says so before the copy begins.
fn reserve(file: &File, size_bytes: u64) -> io::Result<()> {
    let length = i64::try_from(size_bytes).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    match fallocate(file, FallocateFlags::empty(), 0, length) {
        // It cannot promise room: what is missing is found by writing.
        Err(nix::errno::Errno::EOPNOTSUPP | nix::errno::Errno::ENOSYS) => Ok(()),
        done => done.map_err(io::Error::from),
    }
}

/// Owner (only root may give files away), mode and time.
pub fn dress(root: &Path, entry: &Entry, is_root: bool) -> Result<(), StreamError> {
    let full = root.join(&entry.path);
    let cannot = |error: io::Error| target(&full, error);
    if is_root {
        let (uid, gid) = (Uid::from_raw(entry.uid), Gid::from_raw(entry.gid));
        fchownat(nix::fcntl::AT_FDCWD, &full, Some(uid), Some(gid), AtFlags::AT_SYMLINK_NOFOLLOW)
            .map_err(|errno| cannot(errno.into()))?;
    }
    if entry.kind != Kind::Link {
        fs::set_permissions(&full, Permissions::from_mode(entry.mode)).map_err(cannot)?;
    }
    let at = TimeSpec::new(entry.mtime_s, entry.mtime_ns.into());
    utimensat(nix::fcntl::AT_FDCWD, &full, &at, &at, UtimensatFlags::NoFollowSymlink)
        .map_err(|errno| cannot(errno.into()))
}
