//! The end that writes.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use nix::fcntl::{AtFlags, OFlag};
use nix::sys::stat::{UtimensatFlags, utimensat};
use nix::sys::time::TimeSpec;
use nix::unistd::{Gid, Uid, fchownat, geteuid, syncfs};

use crate::code::Role;
use crate::entry::{Entry, Kind};
use crate::frame::{Frame, Session};
use crate::link::{ALIGNED_BYTES, Link};
use crate::progress::{GivenUp, Progress};
use crate::tls::{Tls, version_and_suite};
use crate::{Identity, StreamError, Summary};

/// Lies in the directory until all of it is there.
pub const MARK: &str = ".sealion-incomplete";
const ACCEPT_POLL: Duration = Duration::from_millis(50);
const WORKING_EVERY: Duration = Duration::from_secs(5);
/// A sender that has begun opens its other connections within this.
const OTHERS_MAX: Duration = Duration::from_secs(30);
/// Handshakes under way; more are turned away.
const HANDSHAKES_MAX: usize = 32;
const CONNECTIONS_MAX: u16 = 64;
const ENTRIES_MAX: usize = 10_000_000;

#[derive(Debug, Clone)]
pub struct ReceiveOptions {
    /// Not there, or empty.
    pub into: PathBuf,
    pub listen: SocketAddr,
}

/// Waits for one copy.
pub struct Receiver {
    listener: TcpListener,
    tls: Tls,
    root: PathBuf,
}

fn target(path: &Path, why: impl std::fmt::Display) -> StreamError {
    StreamError::Target {
        what: path.display().to_string(),
        why: why.to_string(),
        next: "make room or repair the disk, remove what was written, and send it again".into(),
    }
}

fn setup(what: String, why: String, next: &str) -> StreamError {
    StreamError::Setup { what, why, next: next.into() }
}

/// Makes the directory, where it is missing; otherwise it is empty.
pub(crate) fn prepare(root: &Path) -> Result<(), StreamError> {
    match fs::read_dir(root) {
        Ok(mut there) => {
            nobody_elses(root)?;
            if let Some(first) = there.next() {
                let name = first.map(|one| one.file_name()).unwrap_or_default();
                let why = if name == MARK {
                    "a copy that did not end lies there".to_owned()
                } else {
                    format!("{} lies there", name.display())
                };
                let what = format!("{} is not empty", root.display());
                return Err(setup(what, why, "name a new directory, or remove what is there"));
            }
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

/// [`MARK`], new.
pub(crate) fn lay_mark(root: &Path) -> Result<PathBuf, StreamError> {
    let mark = root.join(MARK);
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&mark)
        .map_err(|error| target(&mark, error))?;
    Ok(mark)
}

/// All is there and on the disk: takes [`MARK`] away.
pub(crate) fn take_mark(root: &Path, mark: &Path, is_synced: bool) -> Result<(), StreamError> {
    fs::remove_file(mark).map_err(|error| target(mark, error))?;
    if is_synced { sync(root) } else { Ok(()) }
}

impl Receiver {
    /// Makes the directory, where it is missing, and listens.
    ///
    /// # Errors
    /// Something is in the directory, or nobody may listen there.
    pub fn new(options: &ReceiveOptions, identity: &Identity) -> Result<Self, StreamError> {
        let tls = Tls::new(identity, Role::Receiver, None)?;
        let root = options.into.clone();
        prepare(&root)?;
        let listener = TcpListener::bind(options.listen).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(listener)
        });
        let listener = listener.map_err(|error| {
            let what = format!("cannot listen on {}", options.listen);
            setup(what, error.to_string(), "name another address of this host, or another port: --listen")
        })?;
        Ok(Self { listener, tls, root })
    }

    /// # Errors
    /// The kernel does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Waits for a sender, and for all that it sends. Who does not prove to be the sender is told to `turned_away`.
    ///
    /// # Errors
    /// What was written stays, with [`MARK`] in it.
    pub fn receive(
        self,
        progress: &Progress,
        turned_away: &(dyn Fn(&StreamError) + Sync),
    ) -> Result<Summary, StreamError> {
        let is_over = AtomicBool::new(false);
        let (links, arrived) = mpsc::channel();
        let (listener, tls) = (&self.listener, &self.tls);
        std::thread::scope(|scope| {
            let over = &is_over;
            scope.spawn(move || accept(listener, tls, over, &links, turned_away));
            let done = Copy { root: &self.root, arrived, progress }.run();
            is_over.store(true, Ordering::Relaxed);
            done
        })
    }
}

/// What a connection said when it came.
struct Arrived {
    link: Link,
    session: Session,
    connection: u16,
    connections: u16,
}

fn accept(
    listener: &TcpListener,
    tls: &Tls,
    is_over: &AtomicBool,
    links: &mpsc::Sender<Arrived>,
    turned_away: &(dyn Fn(&StreamError) + Sync),
) {
    let under_way = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        while !is_over.load(Ordering::Relaxed) {
            let Ok((tcp, from)) = listener.accept() else {
                std::thread::sleep(ACCEPT_POLL);
                continue;
            };
            if under_way.load(Ordering::Relaxed) >= HANDSHAKES_MAX {
                continue;
            }
            under_way.fetch_add(1, Ordering::Relaxed);
            let (under_way, links) = (&under_way, links.clone());
            scope.spawn(move || {
                let peer = from.to_string();
                let arrived = tcp
                    .set_nonblocking(false)
                    .map_err(StreamError::broken(&peer))
                    .and_then(|()| tls.handshake(tcp, &peer, ""))
                    .and_then(|stream| greet(Link::new(stream, peer)));
                match arrived {
                    // Nobody waits any more: the copy is over.
                    Ok(arrived) => drop(links.send(arrived)),
                    Err(error) => turned_away(&error),
                }
                under_way.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
}

fn greet(mut link: Link) -> Result<Arrived, StreamError> {
    let Frame::Hello { session, connection, connections } = link.receive()? else {
        return Err(link.unexpected("anything but a hello"));
    };
    if connections == 0 || connections > CONNECTIONS_MAX || connection >= connections {
        return Err(link.unexpected("such a number of connections"));
    }
    Ok(Arrived { link, session, connection, connections })
}

struct Copy<'r> {
    root: &'r Path,
    arrived: mpsc::Receiver<Arrived>,
    progress: &'r Progress,
}

impl Copy<'_> {
    fn run(&self) -> Result<Summary, StreamError> {
        let Arrived { mut link, session, connections, .. } = self.first()?;
        self.progress.begin();
        let (tls_version, cipher_suite) = version_and_suite(link.stream().ssl());
        match self.copy(&mut link, session, connections) {
            Ok(summary) => Ok(Summary { connections, tls_version, cipher_suite, ..summary }),
            Err(error) => {
                link.fail(error.to_string());
                Err(error)
            }
        }
    }

    /// The connection that brings the list of files.
    fn first(&self) -> Result<Arrived, StreamError> {
        loop {
            match self.arrived.recv_timeout(ACCEPT_POLL) {
                Ok(arrived) if arrived.connection == 0 => return greeted(arrived),
                // Of a copy that is over.
                Ok(_) | Err(RecvTimeoutError::Timeout) if !self.progress.is_stopped() => {}
                _ => return Err(StreamError::Stopped),
            }
        }
    }

    fn copy(&self, first: &mut Link, session: Session, connections: u16) -> Result<Summary, StreamError> {
        let mark = lay_mark(self.root)?;
        let entries = self.entries(first)?;
        first.send(&Frame::Ready)?;
        let others = self.others(session, connections)?;
        let data_bytes = self.data(first, others, &entries)?;
        self.finish(first, &entries)?;
        take_mark(self.root, &mark, false)?;
        // Without the mark, whose going changes its time; and nobody may be allowed to write there behind it.
        for entry in entries.iter().filter(|entry| entry.is_root()) {
            dress(self.root, entry, geteuid().is_root())?;
        }
        sync(self.root)?;
        let below = || entries.iter().filter(|entry| !entry.is_root());
        let of_kind = |kind| below().filter(|entry| entry.kind == kind).count() as u64;
        let files = of_kind(Kind::File);
        first.send(&Frame::Done { files, data_bytes })?;
        Ok(Summary {
            files,
            directories: of_kind(Kind::Directory),
            links: of_kind(Kind::Link),
            data_bytes,
            size_bytes: entries.iter().map(|entry| entry.size_bytes).sum(),
            ..Summary::default()
        })
    }

    /// Reads the list, and makes directories and files, with room for what they will hold.
    fn entries(&self, first: &mut Link) -> Result<Vec<Entry>, StreamError> {
        let mut entries = Vec::new();
        let mut size_bytes: u64 = 0;
        let mut told = Instant::now();
        loop {
            match first.receive()? {
                Frame::Entries(some) => {
                    for entry in some {
                        make(self.root, &entry)?;
                        size_bytes = size_bytes.saturating_add(entry.size_bytes);
                        entries.push(entry);
                    }
                    if entries.len() > ENTRIES_MAX {
                        return Err(first.unexpected("so long a list of files"));
                    }
                }
                Frame::EntriesEnd { count, size_bytes: announced } => {
                    if count != entries.len() as u64 || announced != size_bytes {
                        return Err(first.unexpected("another number of files than was announced"));
                    }
                    self.progress.set_total(size_bytes);
                    return Ok(entries);
                }
                _ => return Err(first.unexpected("anything but a list of files")),
            }
            if told.elapsed() > WORKING_EVERY {
                told = Instant::now();
                first.send(&Frame::Working)?;
            }
        }
    }

    /// The other connections of this copy.
    fn others(&self, session: Session, connections: u16) -> Result<Vec<Link>, StreamError> {
        let mut others = BTreeMap::new();
        let deadline = Instant::now() + OTHERS_MAX;
        while others.len() + 1 < usize::from(connections) {
            if Instant::now() > deadline {
                return Err(StreamError::Broken {
                    peer: "the sender".into(),
                    why: format!("it opened {} of {connections} connections", others.len() + 1),
                });
            }
            if self.progress.is_stopped() {
                return Err(StreamError::Stopped);
            }
            match self.arrived.recv_timeout(ACCEPT_POLL) {
                Ok(arrived) if arrived.session == session && arrived.connection > 0 => {
                    let arrived = greeted(arrived)?;
                    others.insert(arrived.connection, arrived.link);
                }
                Ok(mut stranger) => {
                    let why = StreamError::Setup {
                        what: "this receiver is busy with another copy".into(),
                        why: "it takes one".into(),
                        next: "start another receiver".into(),
                    };
                    stranger.link.fail(why.to_string());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(StreamError::Stopped),
            }
        }
        Ok(others.into_values().collect())
    }

    /// Writes what comes on all connections.
    fn data(&self, first: &mut Link, others: Vec<Link>, entries: &[Entry]) -> Result<u64, StreamError> {
        let given_up = GivenUp::default();
        let write = |link: &mut Link| {
            write_pieces(link, self.root, entries, self.progress, &given_up)
                .map_err(|error| (given_up.because(&error), error))
        };
        let mut all = Vec::new();
        std::thread::scope(|scope| {
            let write = &write;
            let threads: Vec<_> = others
                .into_iter()
                .map(|mut link| {
                    scope.spawn(move || {
                        let written = write(&mut link);
                        written.map_err(|(why, error)| {
                            link.fail(why);
                            error
                        })
                    })
                })
                .collect();
            // Its peer is told by the caller, of what counts in the end.
            all.push(write(first).map_err(|(_, error)| error));
            all.extend(threads.into_iter().map(|thread| thread.join().unwrap_or(Err(StreamError::Stopped))));
        });
        let mut sum: u64 = 0;
        let mut failed = None;
        for one in all {
            match one {
                Ok(bytes) => sum = sum.saturating_add(bytes),
                Err(error) => {
                    if !matches!(failed, Some(StreamError::Target { .. } | StreamError::Peer { .. })) {
                        failed = Some(error);
                    }
                }
            }
        }
        failed.map_or(Ok(sum), Err)
    }

    /// Links, then owners, modes and times, then everything onto the disk.
    fn finish(&self, first: &mut Link, entries: &[Entry]) -> Result<(), StreamError> {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                for entry in entries.iter().filter(|entry| entry.kind == Kind::Link) {
                    let full = self.root.join(&entry.path);
                    std::os::unix::fs::symlink(&entry.target, &full).map_err(|error| target(&full, error))?;
                }
                let is_root = geteuid().is_root();
                // What is in a directory first: writing there changes its time, and it may be one that nobody may write to.
                for entry in entries.iter().rev().filter(|entry| !entry.is_root()) {
                    dress(self.root, entry, is_root)?;
                }
                sync(self.root)
            });
            let mut told = Instant::now();
            while !thread.is_finished() {
                std::thread::sleep(Duration::from_millis(5));
                if told.elapsed() > WORKING_EVERY {
                    told = Instant::now();
                    first.send(&Frame::Working)?;
                }
            }
            thread.join().unwrap_or(Err(StreamError::Stopped))
        })
    }
}

fn greeted(mut arrived: Arrived) -> Result<Arrived, StreamError> {
    let Arrived { session, connection, connections, .. } = arrived;
    arrived.link.send(&Frame::Hello { session, connection, connections })?;
    Ok(arrived)
}

/// An empty file or directory; nothing that is there is touched.
fn make(root: &Path, entry: &Entry) -> Result<(), StreamError> {
    let full = root.join(&entry.path);
    let cannot = |error: io::Error| target(&full, error);
    match entry.kind {
        // It is there, and gets its owner and mode when all is in it.
        Kind::Directory if entry.is_root() => Ok(()),
        Kind::Directory => DirBuilder::new().mode(0o700).create(&full).map_err(cannot),
        Kind::Link => Ok(()),
        Kind::File => {
            let file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .custom_flags(OFlag::O_NOFOLLOW.bits())
                .open(&full)
                .map_err(cannot)?;
            file.set_len(entry.size_bytes).map_err(cannot)
        }
    }
}

fn write_pieces(
    link: &mut Link,
    root: &Path,
    entries: &[Entry],
    progress: &Progress,
    given_up: &GivenUp,
) -> Result<u64, StreamError> {
    let mut open: Option<Open> = None;
    let mut data_bytes: u64 = 0;
    loop {
        if progress.is_stopped() || given_up.is_so() {
            return Err(StreamError::Stopped);
        }
        match link.receive()? {
            Frame::Data { entry, offset, bytes } => {
                let count = bytes.len() as u64;
                if open.as_ref().is_none_or(|open| open.entry != entry) {
                    let known = usize::try_from(entry).ok().and_then(|at| entries.get(at));
                    let Some(known) = known.filter(|known| known.kind == Kind::File) else {
                        return Err(link.unexpected("a piece of what is no file"));
                    };
                    open = Some(Open::new(root, entry, known)?);
                }
                let Some(file) = &open else { continue };
                if offset.checked_add(count).is_none_or(|end| end > file.size_bytes) {
                    return Err(link.unexpected("a piece behind the end of its file"));
                }
                file.write(bytes, offset)?;
                data_bytes += count;
                progress.add(count);
            }
            // It looks whether its directory is still what it announced.
            Frame::Working => {}
            Frame::End { data_bytes: sent } if sent == data_bytes => return Ok(data_bytes),
            _ => return Err(link.unexpected("anything but pieces of files, to the last one")),
        }
    }
}

/// A file that is being written.
struct Open {
    entry: u64,
    full: PathBuf,
    size_bytes: u64,
    file: File,
    /// Past the page cache, where the file system can: what is copied is not read again soon, and waiting for the disk at the end would
    /// take longer than the copy.
    direct: Option<File>,
}

/// Smaller files are not worth a second descriptor.
const DIRECT_BYTES_MIN: u64 = 256 << 10;

impl Open {
    fn new(root: &Path, entry: u64, known: &Entry) -> Result<Self, StreamError> {
        let full = root.join(&known.path);
        let open = |flags: OFlag| {
            OpenOptions::new().write(true).custom_flags((OFlag::O_NOFOLLOW | flags).bits()).open(&full)
        };
        let file = open(OFlag::empty()).map_err(|error| target(&full, error))?;
        let direct = (known.size_bytes >= DIRECT_BYTES_MIN).then(|| open(OFlag::O_DIRECT).ok()).flatten();
        Ok(Self { entry, size_bytes: known.size_bytes, file, direct, full })
    }

    fn write(&self, bytes: &[u8], offset: u64) -> Result<(), StreamError> {
        let is_aligned = offset.is_multiple_of(ALIGNED_BYTES as u64);
        let mut whole = if is_aligned { bytes.len() / ALIGNED_BYTES * ALIGNED_BYTES } else { 0 };
        match &self.direct {
            Some(direct) if whole > 0 => {
                let (first, _) = bytes.split_at(whole);
                match direct.write_all_at(first, offset) {
                    // It wants another alignment.
                    Err(error) if error.kind() == io::ErrorKind::InvalidInput => whole = 0,
                    written => written.map_err(|error| target(&self.full, error))?,
                }
            }
            _ => whole = 0,
        }
        let (_, rest) = bytes.split_at(whole);
        self.file.write_all_at(rest, offset + whole as u64).map_err(|error| target(&self.full, error))
    }
}

/// Owner (only root may give files away), mode and time.
fn dress(root: &Path, entry: &Entry, is_root: bool) -> Result<(), StreamError> {
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

/// Everything that was written to this file system is on its disk then.
pub(crate) fn sync(root: &Path) -> Result<(), StreamError> {
    let directory = File::open(root).map_err(|error| target(root, error))?;
    syncfs(&directory).map_err(|errno| target(root, io::Error::from(errno)))
}
