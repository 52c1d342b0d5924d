//! The machine that sealion runs on.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::{AccessFlags, Gid, Pid, Uid, access, chown};
use rustix::fs::{
    CWD, FlockOperation, RenameFlags, XattrFlags, flock, getxattr, listxattr, renameat_with, setxattr,
};

use crate::{
    FileFacts, HostError, HostLock, JobPlace, JobState, PROGRAMS_MAX, ProcessFacts, Programs, ReadHost,
    Search, SearchProgress, Searched, Service, ServiceState, WriteHost, is_program, job,
};

/// Of what a command prints, this much is kept for an error text.
const SAID_BYTES_MAX: usize = 2000;
/// What a command prints is kept up to here; what comes after is read and dropped.
const OUTPUT_BYTES_MAX: usize = 16 << 20;
/// After a program has ended, a child of it may still hold its output open; what comes in this time is still read.
const OUTPUT_AFTER_END: Duration = Duration::from_millis(500);
const POLL: Duration = Duration::from_millis(10);
/// Names and values of a file's extended attributes together. Linux allows 64 KiB for each list and value.
const XATTR_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug, Clone, Copy, Default)]
pub struct Local;

fn fail(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> HostError {
    let path = path.to_owned();
    move |source| HostError::File { what: what.into(), path, source }
}

/// `NotFound` is an answer, not an error.
fn maybe<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A FIFO that somebody has put there is no file that is waited for.
fn open_file(path: &Path) -> io::Result<File> {
    crate::search::open(path, true).map(|(file, _)| file)
}

impl ReadHost for Local {
    fn read(&self, path: &Path, bytes_max: u64) -> Result<Option<Vec<u8>>, HostError> {
        let Some(file) = maybe(open_file(path)).map_err(fail("cannot read", path))? else { return Ok(None) };
        let mut bytes = Vec::new();
        file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(fail("cannot read", path))?;
        if bytes.len() as u64 > bytes_max {
            let source = io::Error::other(format!("it is larger than {bytes_max} bytes"));
            return Err(HostError::File { what: "will not read".into(), path: path.to_owned(), source });
        }
        Ok(Some(bytes))
    }

    fn read_end(&self, path: &Path, bytes_max: u64) -> Result<Option<Vec<u8>>, HostError> {
        let Some(mut file) = maybe(open_file(path)).map_err(fail("cannot read", path))? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        let read = (|| {
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(bytes_max)))?;
            // It may have grown since.
            file.take(bytes_max).read_to_end(&mut bytes)
        })();
        read.map_err(fail("cannot read", path))?;
        Ok(Some(bytes))
    }

    fn facts(&self, path: &Path) -> Result<Option<FileFacts>, HostError> {
        let seen = maybe(fs::metadata(path)).map_err(fail("cannot look at", path))?;
        let link = maybe(fs::symlink_metadata(path)).map_err(fail("cannot look at", path))?;
        let is_symlink = link.is_some_and(|link| link.is_symlink());
        Ok(seen.map(|seen| FileFacts {
            uid: seen.uid(),
            gid: seen.gid(),
            mode: seen.mode() & 0o7777,
            bytes: seen.len(),
            is_dir: seen.is_dir(),
            links: seen.nlink(),
            is_symlink,
        }))
    }

    fn list(&self, dir: &Path) -> Result<Vec<PathBuf>, HostError> {
        let entries = fs::read_dir(dir).map_err(fail("cannot list", dir))?;
        let mut paths = entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<io::Result<Vec<_>>>()
            .map_err(fail("cannot list", dir))?;
        paths.sort();
        Ok(paths)
    }

    fn process(&self, pid: i32) -> Result<Option<ProcessFacts>, HostError> {
        match facts_of_process(pid) {
            Ok(facts) => Ok(facts),
            // With hidepid, /proc does not show the processes of others: only the kernel's own word counts.
            Err(why) => match kill(Pid::from_raw(pid), None) {
                Err(Errno::ESRCH) => Ok(None),
                _ => Err(HostError::Process {
                    what: format!("whether process {pid} runs cannot be determined"),
                    why: why.to_string(),
                }),
            },
        }
    }

    /// # Source
    /// proc(5), `/proc/PID/fd`: of a socket the link says `socket:[INODE]`.
    fn sockets_of(&self, pid: i32) -> Result<BTreeSet<u64>, HostError> {
        let dir = PathBuf::from(format!("/proc/{pid}/fd"));
        let failed = |error| fail("cannot look at", &dir)(error);
        let mut sockets = BTreeSet::new();
        for entry in fs::read_dir(&dir).map_err(failed)? {
            let target = match fs::read_link(entry.map_err(failed)?.path()) {
                Ok(target) => target,
                // It was closed meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(error)),
            };
            let text = target.to_string_lossy();
            let inode = text.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']'));
            sockets.extend(inode.and_then(|inode| inode.parse::<u64>().ok()));
        }
        Ok(sockets)
    }

    fn programs(&self, names: &[&str]) -> Result<Programs, HostError> {
        // The first process is always there, and always somebody else's.
        self.process(1)?;
        let proc = Path::new("/proc");
        let entries = fs::read_dir(proc).map_err(fail("cannot list", proc))?;
        let entries = entries.collect::<io::Result<Vec<_>>>().map_err(fail("cannot list", proc))?;
        // The rest of /proc are no processes.
        let mut programs = Programs::default();
        for pid in entries.iter().filter_map(|entry| entry.file_name().to_str()?.parse().ok()) {
            match self.process(pid) {
                Ok(Some(facts)) if is_program(&facts, names) => programs.found.push(facts),
                Ok(_) => {}
                Err(error) => programs.hidden = Some(error.to_string()),
            }
            if programs.found.len() >= PROGRAMS_MAX {
                programs.hidden =
                    Some(format!("only {PROGRAMS_MAX} processes of {} are told of", names.join(", ")));
                break;
            }
        }
        Ok(programs)
    }

    fn free_bytes(&self, path: &Path) -> Result<u64, HostError> {
        let seen = nix::sys::statvfs::statvfs(path)
            .map_err(|errno| fail("cannot see the free space of", path)(errno.into()))?;
        Ok(seen.blocks_available() * seen.fragment_size())
    }

    fn writable(&self, dir: &Path) -> Result<bool, HostError> {
        match access(dir, AccessFlags::W_OK | AccessFlags::X_OK) {
            Ok(()) => Ok(true),
            Err(Errno::EACCES | Errno::EPERM | Errno::EROFS) => Ok(false),
            Err(errno) => Err(fail("cannot see whether files can be made in", dir)(errno.into())),
        }
    }

    fn service_state(&self, service: &Service, limit: Duration) -> ServiceState {
        match service {
            // Source: systemctl(1): ActiveState is active, activating, reloading, deactivating, inactive or failed.
            Service::Systemd { unit } => {
                let words = ["systemctl", "show", "-p", "ActiveState", "--value", unit].map(str::to_owned);
                match self.run(&words, limit).as_deref().map(str::trim) {
                    Ok("active" | "activating" | "reloading" | "deactivating") => ServiceState::Runs,
                    Ok("inactive" | "failed") => ServiceState::Stopped,
                    Ok(other) => ServiceState::CannotTell(format!("systemd says \"{other}\" of {unit}")),
                    Err(error) => ServiceState::CannotTell(error.to_string()),
                }
            }
            Service::Commands { alive: Some(alive), .. } => match self.run(alive, limit) {
                Ok(_) => ServiceState::Runs,
                // pgrep says 1, systemctl is-active 3.
                Err(HostError::Command { code: Some(1 | 3), .. }) => ServiceState::Stopped,
                Err(error) => ServiceState::CannotTell(error.to_string()),
            },
            Service::Commands { alive: None, .. } => {
                ServiceState::CannotTell("the inventory has no `alive` command for it".into())
            }
        }
    }

    fn service_settings(&self, service: &Service, limit: Duration) -> Result<String, HostError> {
        let Service::Systemd { unit } = service else { return Ok(String::new()) };
        // Source: systemctl(1): what `set-environment` has set is handed to every unit.
        let ask = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            self.run(&words, limit)
        };
        let mut lines = ask(&["systemctl", "show-environment"])?;
        let own = ask(&[
            "systemctl",
            "show",
            "-p",
            "Environment",
            "-p",
            "EnvironmentFiles",
            "-p",
            "ExecStart",
            unit,
        ])?;
        for line in own.lines() {
            lines.push('\n');
            lines.push_str(line);
            let file = line.strip_prefix("EnvironmentFiles=").and_then(|file| file.split(" (").next());
            if let Some(bytes) =
                file.map(|file| self.read(Path::new(file), SETTINGS_BYTES_MAX)).transpose()?
            {
                lines.push('\n');
                lines.push_str(&String::from_utf8_lossy(&bytes.unwrap_or_default()));
            }
        }
        Ok(lines)
    }

    fn version_of(&self, program: &Path, limit: Duration) -> Result<Option<String>, HostError> {
        if self.facts(program)?.is_none_or(|facts| facts.is_dir) {
            return Ok(None);
        }
        let asked = [program.display().to_string(), "--version".to_owned()];
        let said = self.run(&asked, limit).or_else(|error| match libraries_beside(program) {
            // Unpacked elsewhere than where it was built for, it does not find its libraries by itself.
            Some(libraries) if matches!(error, HostError::Command { code: Some(127), .. }) => {
                let env = ["env".to_owned(), format!("LD_LIBRARY_PATH={libraries}")];
                self.run(&[&env[..], &asked[..]].concat(), limit)
            }
            _ => Err(error),
        })?;
        Ok(Some(said.trim().to_owned()))
    }

    fn unit_load_state(&self, unit: &str, limit: Duration) -> Result<String, HostError> {
        let words = ["systemctl", "show", "-p", "LoadState", "--value", "--", unit].map(str::to_owned);
        let said = self.run(&words, limit)?;
        match said.trim() {
            "" => Err(HostError::Process {
                what: format!("systemd says nothing of {unit}"),
                why: "its LoadState is empty".into(),
            }),
            state => Ok(state.to_owned()),
        }
    }

    fn program_of(&self, name: &str) -> Result<Option<PathBuf>, HostError> {
        if name.contains('/') {
            let path = PathBuf::from(name);
            return Ok(is_executable(&path)?.then_some(path));
        }
        // Source: execvp(3): what may not be looked at is passed over, and is the answer where nothing else is found.
        let mut hidden = None;
        for dir in std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()) {
            match is_executable(&dir.join(name)) {
                Ok(true) => return Ok(Some(dir.join(name))),
                Ok(false) => {}
                Err(error) => hidden = Some(error),
            }
        }
        hidden.map_or(Ok(None), Err)
    }

    fn link(&self, path: &Path) -> Result<Option<PathBuf>, HostError> {
        match fs::read_link(path) {
            Ok(target) => Ok(Some(target)),
            // EINVAL: it is there and is no link.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidInput) => {
                Ok(None)
            }
            Err(error) => Err(fail("cannot read the link", path)(error)),
        }
    }

    fn tree(&self) -> Box<dyn disk::stack::Tree + '_> {
        Box::new(disk::stack::Here)
    }

    fn service_job(&self, job: &JobPlace) -> Result<JobState, HostError> {
        job::state(job)
    }

    fn text_in(&self, path: &Path, mark: &str) -> Result<Option<String>, HostError> {
        let Some(file) = maybe(open_file(path)).map_err(fail("cannot read", path))? else { return Ok(None) };
        first_text(file.take(PROGRAM_BYTES_MAX), mark.as_bytes()).map_err(fail("cannot read", path))
    }

    fn data_directory(
        &self,
        dir: &Path,
        elsewhere: &[disk::Place],
        progress: &disk::Progress,
    ) -> Result<disk::DataDirectory, HostError> {
        let elsewhere =
            disk::Elsewhere { places: elsewhere.to_vec(), follows_links: true, ..disk::Elsewhere::default() };
        disk::look_also(dir, &elsewhere, progress).map_err(|error| HostError::Process {
            what: format!("what the files of {} hold cannot be told", dir.display()),
            why: error.to_string(),
        })
    }

    fn search(&self, search: &Search, progress: &SearchProgress) -> Result<Searched, HostError> {
        Ok(crate::search::search(search, progress, &AtomicBool::new(false)))
    }
}

/// A file that this user may run.
fn is_executable(path: &Path) -> Result<bool, HostError> {
    let facts = maybe(fs::metadata(path)).or_else(|error| match error.raw_os_error() {
        // A part of the path is a file.
        Some(code) if code == Errno::ENOTDIR as i32 => Ok(None),
        _ => Err(fail("cannot look at", path)(error)),
    })?;
    let Some(facts) = facts.filter(fs::Metadata::is_file) else { return Ok(false) };
    // An agent that looks has given up most of what root may; the one that will run it has not.
    if Uid::effective().is_root() {
        return Ok(facts.mode() & 0o111 != 0);
    }
    match access(path, AccessFlags::X_OK) {
        Ok(()) => Ok(true),
        Err(Errno::EACCES | Errno::ENOENT) => Ok(false),
        Err(error) => Err(fail("cannot look at", path)(error.into())),
    }
}

/// A statically linked server has some 100 MB, and twice that with symbols.
const PROGRAM_BYTES_MAX: u64 = 512 << 20;
const TEXT_BYTES_MAX: usize = 80;

/// Pieces overlap, so that a text that lies over the end of one is found in the next.
fn first_text(mut file: impl Read, mark: &[u8]) -> io::Result<Option<String>> {
    const PIECE_BYTES: usize = 1 << 20;
    let mut window: Vec<u8> = Vec::with_capacity(PIECE_BYTES + TEXT_BYTES_MAX + mark.len());
    loop {
        let more = (&mut file).take(PIECE_BYTES as u64).read_to_end(&mut window)?;
        if let Some(text) = text_behind(&window, mark, more == 0) {
            return Ok(Some(text));
        }
        if more == 0 {
            return Ok(None);
        }
        let kept = window.len().saturating_sub(TEXT_BYTES_MAX + mark.len());
        window.drain(..kept);
    }
}

/// `is_end`: nothing comes behind these bytes. Before, a text that may go on is left for later.
fn text_behind(bytes: &[u8], mark: &[u8], is_end: bool) -> Option<String> {
    let text = memchr::memmem::find_iter(bytes, mark).find_map(|at| {
        let text = bytes.get(at..)?;
        text.get(mark.len()).filter(|byte| byte.is_ascii_digit())?;
        Some(text)
    })?;
    let is_text = |byte: &u8| matches!(byte, b' '..=b'~');
    let length = text.iter().take(TEXT_BYTES_MAX).take_while(|byte| is_text(byte)).count();
    (is_end || length < text.len() || length == TEXT_BYTES_MAX)
        .then(|| String::from_utf8_lossy(text.get(..length).unwrap_or_default()).trim_end().to_owned())
}

/// Of a file of environment variables.
const SETTINGS_BYTES_MAX: u64 = 64 * 1024;

/// Of a program in `PREFIX/usr/sbin` or `PREFIX/bin`.
fn libraries_beside(program: &Path) -> Option<String> {
    let prefix = program.parent()?.parent()?;
    let triple = format!("{}-linux-gnu", std::env::consts::ARCH);
    let places = [Some(prefix), prefix.parent()];
    let libraries =
        places.into_iter().flatten().flat_map(|at| [at.join("lib"), at.join("lib").join(&triple)]);
    let there: Vec<String> =
        libraries.filter(|dir| dir.is_dir()).map(|dir| dir.display().to_string()).collect();
    (!there.is_empty()).then(|| there.join(":"))
}

fn facts_of_process(pid: i32) -> io::Result<Option<ProcessFacts>> {
    let odd = || io::Error::other(format!("/proc/{pid}/stat is not understood"));
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // Field 2 is the program's name in parentheses and may hold spaces; 3 is the state, 22 the start time.
    let (_, rest) = stat.rsplit_once(')').ok_or_else(odd)?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    if matches!(fields.first(), Some(&"Z" | &"X")) {
        return Ok(None);
    }
    let line = fs::read(format!("/proc/{pid}/cmdline"))?;
    let command_line = line
        .split(|&byte| byte == 0)
        .filter(|word| !word.is_empty())
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    let owner = fs::metadata(format!("/proc/{pid}"))?;
    let start_ticks = fields.get(19).and_then(|field| field.parse().ok()).ok_or_else(odd)?;
    Ok(Some(ProcessFacts { pid, uid: owner.uid(), gid: owner.gid(), command_line, start_ticks }))
}

/// What is really written when `path` is: the end of its symbolic links.
///
/// Debian's `/etc/mysql/my.cnf` is a link to `/etc/alternatives/my.cnf`, which is one too.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    match maybe(fs::symlink_metadata(path))? {
        Some(seen) if seen.is_symlink() => fs::canonicalize(path),
        _ => Ok(path.to_owned()),
    }
}

/// The new bytes in a file beside the old one, ready to take its place.
///
/// The lock says that its writer lives, also to a sealion that does not see its number: one in a container. It is to be held until then.
fn prepare(
    target: &Path,
    bytes: &[u8],
    mode: Option<u32>,
    owner: Option<(u32, u32)>,
) -> io::Result<(PathBuf, File)> {
    let before = maybe(fs::metadata(target))?;
    if let Some(before) = &before
        && before.nlink() > 1
    {
        return Err(io::Error::other(format!(
            "it has {} names (hard links), and the others would keep the old bytes",
            before.nlink()
        )));
    }
    let mode = mode.or(before.as_ref().map(|seen| seen.mode() & 0o7777)).unwrap_or(0o600);
    let owner = owner.or(before.as_ref().map(|seen| (seen.uid(), seen.gid())));
    let temp = temp_of(target);
    if let (Some(dir), Some(name)) = (target.parent(), target.file_name()) {
        // What cannot be swept now is in nobody's way.
        let _ = sweep(dir, Some(name));
    }
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temp)?;
        // A file system without locks has its process ids.
        let _ = flock(&file, FlockOperation::NonBlockingLockExclusive);
        if let Some((uid, gid)) = owner {
            let same = fs::metadata(&temp)?;
            if (same.uid(), same.gid()) != (uid, gid) {
                chown(&temp, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?;
            }
        }
        if before.is_some() {
            copy_attributes(target, &temp)?;
        }
        file.set_permissions(Permissions::from_mode(mode))?;
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(file)
    })();
    match written {
        Ok(lock) => Ok((temp, lock)),
        Err(error) => {
            let _ = fs::remove_file(&temp);
            Err(error)
        }
    }
}

/// A dot file: `!includedir` reads *.cnf only, and this name ends otherwise.
fn temp_of(target: &Path) -> PathBuf {
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    target.with_file_name(format!(".{name}.sealion-{}", std::process::id()))
}

/// The name of the file that `temp_of` names, and who writes it.
fn of_temp(name: &OsStr) -> Option<(&str, i32)> {
    let (target, pid) = name.to_str()?.strip_prefix('.')?.rsplit_once(".sealion-")?;
    (!target.is_empty()).then_some((target, pid.parse().ok()?))
}

/// Removes what a sealion that was killed while it wrote has left in `dir`, beside the file `only` or beside each: it may be half of a
/// private key.
fn sweep(dir: &Path, only: Option<&OsStr>) -> io::Result<Vec<PathBuf>> {
    let Some(entries) = maybe(fs::read_dir(dir))? else { return Ok(vec![]) };
    let own = i32::try_from(std::process::id()).ok();
    let mut removed = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let Some((target, pid)) = of_temp(&name) else { continue };
        let is_meant = only.is_none_or(|only| only == OsStr::new(target)) && entry.file_type()?.is_file();
        let is_gone = Some(pid) == own || kill(Pid::from_raw(pid), None) == Err(Errno::ESRCH);
        if !is_meant || !is_gone {
            continue;
        }
        let Some(file) = maybe(File::open(entry.path()))? else { continue };
        // Held by its writer until it has its name.
        if flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(rustix::io::Errno::WOULDBLOCK) {
            continue;
        }
        if maybe(fs::remove_file(entry.path()))?.is_some() {
            removed.push(entry.path());
        }
    }
    removed.sort();
    Ok(removed)
}

/// ACLs, SELinux labels and attributes of users are all extended attributes. One that cannot be set is an error: a file that
/// lost its ACL may not be readable for whom it was.
fn copy_attributes(from: &Path, to: &Path) -> io::Result<()> {
    let mut names = vec![0; XATTR_BYTES_MAX];
    let length = match listxattr(from, &mut names) {
        Ok(length) => length,
        // A file system without them.
        Err(rustix::io::Errno::NOTSUP) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let mut value = vec![0; XATTR_BYTES_MAX];
    for name in
        names.get(..length).unwrap_or_default().split(|&byte| byte == 0).filter(|name| !name.is_empty())
    {
        let name: OsString = OsStr::from_bytes(name).to_owned();
        let length = getxattr(from, &name, &mut value)?;
        let value = value.get(..length).unwrap_or_default();
        let mut has = vec![0; XATTR_BYTES_MAX];
        let is_so = getxattr(to, &name, &mut has).is_ok_and(|length| has.get(..length) == Some(value));
        if !is_so {
            setxattr(to, &name, value, XattrFlags::empty())?;
        }
    }
    Ok(())
}

fn sync_dir_of(target: &Path) -> io::Result<()> {
    File::open(target.parent().unwrap_or(Path::new("/")))?.sync_all()
}

/// Puts `temp` in the place of `target`, if that has the bytes `expected` at that very moment.
fn exchange(temp: &Path, target: &Path, expected: &[u8]) -> io::Result<bool> {
    match renameat_with(CWD, temp, CWD, target, RenameFlags::EXCHANGE) {
        Ok(()) => {}
        // A file system that cannot exchange: look as late as possible, then rename.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            if fs::read(target)? != expected {
                return Ok(false);
            }
            return fs::rename(temp, target).map(|()| true);
        }
        Err(error) => return Err(error.into()),
    }
    // What was there lies under the other name now.
    if fs::read(temp)? == expected {
        return fs::remove_file(temp).map(|()| true);
    }
    renameat_with(CWD, temp, CWD, target, RenameFlags::EXCHANGE)?;
    Ok(false)
}

/// A child that runs, with readers that take what it prints.
struct Running {
    words: String,
    child: Child,
    out: Printed,
    err: Printed,
}

/// What one stream has brought so far; its reader may be held up for ever by a process that keeps the stream open.
pub(crate) struct Printed {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Printed {
    pub(crate) fn of(stream: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&bytes);
        let reader = std::thread::spawn(move || {
            let Some(mut stream) = stream else { return };
            let mut chunk = [0; 8192];
            while let Ok(count) = stream.read(&mut chunk) {
                if count == 0 {
                    break;
                }
                let mut bytes = sink.lock().unwrap_or_else(PoisonError::into_inner);
                let room = OUTPUT_BYTES_MAX.saturating_sub(bytes.len()).min(count);
                bytes.extend_from_slice(chunk.get(..room).unwrap_or_default());
            }
        });
        Self { bytes, reader }
    }

    /// What has come until `deadline`.
    pub(crate) fn text(&self, deadline: Instant) -> String {
        while !self.reader.is_finished() && Instant::now() < deadline {
            std::thread::sleep(POLL);
        }
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Running {
    fn start(command: &[String]) -> Result<Self, HostError> {
        let words = command.join(" ");
        let failed =
            |how: String| HostError::Command { command: words.clone(), how, said: String::new(), code: None };
        let (program, args) = command.split_first().ok_or_else(|| failed("is empty".into()))?;
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Of its own, so that it can be ended together with what it starts, and Ctrl-C is ours alone.
            .process_group(0)
            .spawn()
            .map_err(|error| failed(format!("cannot be run ({error})")))?;
        let (out, err) = (Printed::of(child.stdout.take()), Printed::of(child.stderr.take()));
        Ok(Self { words, child, out, err })
    }

    fn failed(&self, how: String, said: &str, code: Option<i32>) -> HostError {
        let said = said.trim().chars().take(SAID_BYTES_MAX).collect();
        HostError::Command { command: self.words.clone(), how, said, code }
    }

    /// `None`: it still runs.
    fn wait(&mut self, timeout: Duration) -> Result<Option<ExitStatus>, HostError> {
        let deadline = Instant::now() + timeout;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Ok(Some(status)),
                Ok(None) if Instant::now() > deadline => return Ok(None),
                Ok(None) => std::thread::sleep(POLL),
                Err(error) => return Err(self.failed(format!("cannot be waited for ({error})"), "", None)),
            }
        }
    }

    fn told(&self, status: ExitStatus) -> Result<String, HostError> {
        let deadline = Instant::now() + OUTPUT_AFTER_END;
        let (out, err) = (self.out.text(deadline), self.err.text(deadline));
        if status.success() {
            return Ok(out);
        }
        // A program that was ended by a signal has no code.
        Err(self.failed(format!("ended with {status}"), &err, status.code()))
    }
}

impl HostLock for Flock<File> {}

impl WriteHost for Local {
    fn write(
        &self,
        path: &Path,
        bytes: &[u8],
        mode: Option<u32>,
        owner: Option<(u32, u32)>,
    ) -> Result<(), HostError> {
        let written = (|| {
            let target = behind_links(path)?;
            let (temp, _lock) = prepare(&target, bytes, mode, owner)?;
            if let Err(error) = fs::rename(&temp, &target) {
                let _ = fs::remove_file(&temp);
                return Err(error);
            }
            sync_dir_of(&target)
        })();
        written.map_err(fail("cannot write", path))
    }

    fn replace(&self, path: &Path, expected: &[u8], bytes: &[u8]) -> Result<(), HostError> {
        let replaced = (|| {
            let target = behind_links(path)?;
            let (temp, _lock) = prepare(&target, bytes, None, None)?;
            let done = exchange(&temp, &target, expected);
            if !matches!(done, Ok(true)) {
                let _ = fs::remove_file(&temp);
            }
            sync_dir_of(&target)?;
            done
        })();
        match replaced {
            Ok(true) => Ok(()),
            Ok(false) => Err(HostError::Changed { path: path.to_owned() }),
            Err(error) => Err(fail("cannot write", path)(error)),
        }
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> Result<(), HostError> {
        let mut options = OpenOptions::new();
        let opened = options.append(true).create(true).mode(0o600).open(path);
        let mut file = opened.map_err(fail("cannot append to", path))?;
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(fail("cannot append to", path))
    }

    fn make_dir(&self, dir: &Path, mode: u32, owner: Option<(u32, u32)>) -> Result<(), HostError> {
        if dir.is_dir() {
            return Ok(());
        }
        if let Some(above) = dir.parent()
            && !above.is_dir()
        {
            self.make_dir(above, mode, owner)?;
        }
        fs::DirBuilder::new().mode(mode).create(dir).map_err(fail("cannot make the directory", dir))?;
        fs::set_permissions(dir, Permissions::from_mode(mode))
            .map_err(fail("cannot set the mode of", dir))?;
        if let Some((uid, gid)) = owner
            && self.facts(dir)?.is_some_and(|facts| (facts.uid, facts.gid) != (uid, gid))
        {
            chown(dir, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))
                .map_err(|errno| fail("cannot set the owner of", dir)(errno.into()))?;
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> Result<(), HostError> {
        maybe(fs::remove_file(path)).map(|_| ()).map_err(fail("cannot remove", path))
    }

    fn sweep(&self, dir: &Path) -> Result<Vec<PathBuf>, HostError> {
        sweep(dir, None).map_err(fail("cannot remove what was left in", dir))
    }

    fn remove_dir(&self, dir: &Path) -> Result<(), HostError> {
        match maybe(fs::symlink_metadata(dir)).map_err(fail("cannot look at", dir))? {
            // What a link leads to was there before: it is not ours to remove.
            Some(facts) if facts.is_symlink() => return Ok(()),
            Some(_) => {}
            None => return Ok(()),
        }
        match fs::remove_dir(dir) {
            Err(error)
                if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty) =>
            {
                Err(fail("cannot remove", dir)(error))
            }
            _ => Ok(()),
        }
    }

    fn run(&self, command: &[String], timeout: Duration) -> Result<String, HostError> {
        let mut running = Running::start(command)?;
        if let Some(status) = running.wait(timeout)? {
            return running.told(status);
        }
        if let Ok(group) = i32::try_from(running.child.id()) {
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
        let _ = running.child.wait();
        Err(running.failed(format!("took longer than {} s", timeout.as_secs()), "", None))
    }

    fn run_service(
        &self,
        job: &JobPlace,
        command: &[String],
        timeout: Duration,
    ) -> Result<String, HostError> {
        job::run(job, command, timeout)
    }

    fn lock(&self, path: &Path, at_most: Duration) -> Result<Box<dyn HostLock>, HostError> {
        let fail = |error: io::Error| fail("cannot lock", path)(error);
        let deadline = Instant::now() + at_most;
        loop {
            let mut options = OpenOptions::new();
            let file =
                options.write(true).create(true).truncate(false).mode(0o600).open(path).map_err(fail)?;
            match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                Ok(lock) => return Ok(Box::new(lock)),
                Err((_, Errno::EWOULDBLOCK)) if Instant::now() < deadline => std::thread::sleep(POLL),
                Err((_, errno)) => return Err(fail(errno.into())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_a_library_also_where_it_lies_over_two_pieces() {
        let mark = b"OpenSSL ";
        for (before, text, found) in [
            (3, &b"OpenSSL 3.0.19 27 Jan 2026\0more"[..], Some("OpenSSL 3.0.19 27 Jan 2026")),
            ((1 << 20) - 10, b"OpenSSL 1.1.1w  11 Sep 2023\0", Some("OpenSSL 1.1.1w  11 Sep 2023")),
            ((1 << 20) - 3, b"OpenSSL 1.1.1w", Some("OpenSSL 1.1.1w")),
            (0, b"OpenSSL default\0OpenSSL 3.5.1\n", Some("OpenSSL 3.5.1")),
            (9, b"OpenSSL default\0", None),
            (0, b"", None),
        ] {
            let bytes = [vec![0; before], text.to_vec()].concat();
            assert_eq!(first_text(&bytes[..], mark).expect("read").as_deref(), found, "{before}");
        }
        let long = [&b"OpenSSL 3"[..], &[b'x'; 200]].concat();
        assert_eq!(first_text(&long[..], mark).expect("read").map(|text| text.len()), Some(TEXT_BYTES_MAX));
        let own = Local.text_in(Path::new("/nowhere/libcrypto.so.3"), "OpenSSL ").expect("absent");
        assert_eq!(own, None);
        assert!(Local.text_in(Path::new("/"), "OpenSSL ").is_err(), "a directory is not read");
    }

    #[test]
    fn a_fifo_is_not_waited_for() {
        let dir = tempfile::tempdir().expect("tmp");
        let fifo = dir.path().join("fifo");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRUSR).expect("writable");
        for error in [
            Local.read(&fifo, 100).err(),
            Local.read_end(&fifo, 100).err(),
            Local.text_in(&fifo, "OpenSSL ").err(),
        ] {
            let why = error.map(|error| {
                format!("{error} {:?}", std::error::Error::source(&error).map(ToString::to_string))
            });
            assert!(why.as_ref().is_some_and(|why| why.contains("no regular file")), "{why:?}");
        }
    }

    #[test]
    fn a_link_to_a_directory_is_not_removed() {
        let dir = tempfile::tempdir().expect("tmp");
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::create_dir(&real).expect("writable");
        std::os::unix::fs::symlink(&real, &link).expect("writable");
        Local.remove_dir(&link).expect("left as it is");
        assert!(link.is_symlink() && real.is_dir());
        Local.remove_dir(&real).expect("it is empty");
        assert!(!real.exists());
    }

    #[test]
    fn what_cannot_be_looked_at_is_an_error_and_neither_there_nor_gone() {
        let dir = tempfile::tempdir().expect("tmp");
        // Longer than any name may be: an error for root too.
        let odd = dir.path().join("x".repeat(300));
        let told = |error: HostError| assert!(error.to_string().contains("cannot look at"), "{error}");
        told(Local.facts(&odd).expect_err("nobody can say"));
        told(Local.remove_dir(&odd).expect_err("nobody can say"));
        assert!(behind_links(&odd).is_err());
    }

    #[test]
    fn write_replaces_whole_files_keeps_mode_and_leaves_no_temp_behind() {
        let dir = tempfile::tempdir().expect("tmp");
        let path = dir.path().join("my.cnf");
        Local.write(&path, b"a", Some(0o640), None).expect("writable");
        Local.write(&path, b"bb", None, None).expect("writable");
        let facts = Local.facts(&path).expect("readable").expect("there");
        assert_eq!((facts.mode, facts.bytes), (0o640, 2));
        assert_eq!(Local.list(dir.path()).expect("readable"), vec![path]);
    }

    #[test]
    fn a_program_is_found_where_a_command_finds_it() {
        let dir = tempfile::tempdir().expect("tmp");
        let path = dir.path().join("stop-it");
        let found = |path: &Path| Local.program_of(&path.display().to_string()).expect("it can be told");
        assert_eq!(found(&path), None);
        fs::write(&path, "#!/bin/sh\n").expect("writable");
        fs::set_permissions(&path, Permissions::from_mode(0o644)).expect("ours");
        assert_eq!(found(&path), None, "nobody may run it");
        fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("ours");
        assert_eq!(found(&path), Some(path.clone()));
        assert_eq!(found(&path.join("below")), None);
        assert_eq!(found(dir.path()), None, "a directory");
        let sh = Local.program_of("sh").expect("it can be told").expect("every system has one");
        assert!(sh.is_absolute() && sh.ends_with("sh"), "{}", sh.display());
        assert_eq!(Local.program_of("no-such-program-of-sealion").expect("it can be told"), None);
    }

    #[test]
    fn a_command_that_fails_says_what_it_said() {
        let words = ["sh", "-c", "echo no luck >&2; exit 3"].map(String::from);
        let error = Local.run(&words, Duration::from_secs(5)).expect_err("exit 3").to_string();
        assert!(error.contains("exit status: 3") && error.contains("no luck"), "{error}");
    }

    #[test]
    fn the_own_process_is_known_by_start_time_and_a_dead_one_is_not_there() {
        let own = i32::try_from(std::process::id()).expect("pid");
        let me = Local.process(own).expect("readable").expect("running");
        assert!(me.start_ticks > 0 && !me.command_line.is_empty());
        assert_eq!(Local.process(i32::MAX).expect("it is not there"), None);
    }

    #[test]
    fn a_symbolic_link_stays_one_and_what_it_points_to_is_written() {
        let dir = tempfile::tempdir().expect("tmp");
        let (real, link) = (dir.path().join("real.cnf"), dir.path().join("my.cnf"));
        Local.write(&real, b"old", Some(0o640), None).expect("writable");
        std::os::unix::fs::symlink("real.cnf", &link).expect("a link");
        Local.write(&link, b"new", None, None).expect("writable");
        Local.replace(&link, b"new", b"newer").expect("as expected");
        assert_eq!(fs::read(&real).expect("there"), b"newer");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        let facts = Local.facts(&link).expect("readable").expect("there");
        assert_eq!((facts.mode, facts.is_symlink, facts.links), (0o640, true, 1));
    }

    #[test]
    fn what_a_killed_writer_left_is_removed_and_what_others_write_is_not() {
        let dir = tempfile::tempdir().expect("tmp");
        let at = |name: &str| dir.path().join(name);
        // One that has ended, and one that lives.
        let mut gone = Command::new("true").spawn().expect("it runs");
        gone.wait().expect("it ends");
        let dead = at(&format!(".node-key.pem.sealion-{}", gone.id()));
        let live = at(".node-key.pem.sealion-1");
        let others =
            [at("node-key.pem"), at(".sealion-4194303"), at(".x.sealion-"), at(".x.sealion-1y"), live];
        for path in others.iter().chain([&dead]) {
            fs::write(path, "half of a key").expect("writable");
        }
        // Its number is not seen here, but it writes.
        let locked = at(&format!(".node-cert.pem.sealion-{}", gone.id()));
        let writer = File::create(&locked).expect("made");
        flock(&writer, FlockOperation::NonBlockingLockExclusive).expect("nobody else has it");
        assert_eq!(Local.sweep(dir.path()).expect("readable"), [dead]);
        assert!(others.iter().chain([&locked]).all(|path| path.exists()));
        drop(writer);
        assert_eq!(Local.sweep(dir.path()).expect("readable"), [locked]);
        assert_eq!(Local.sweep(&at("nowhere")).expect("nothing to sweep"), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_file_with_two_names_is_refused_and_left_as_it_is() {
        let dir = tempfile::tempdir().expect("tmp");
        let (one, other) = (dir.path().join("one.cnf"), dir.path().join("other.cnf"));
        fs::write(&one, b"old").expect("writable");
        fs::hard_link(&one, &other).expect("a second name");
        let error = Local.write(&one, b"new", None, None).expect_err("two names").to_string();
        assert!(error.contains("2 names"), "{error}");
        assert_eq!(fs::read(&other).expect("there"), b"old");
        assert_eq!(Local.list(dir.path()).expect("readable").len(), 2, "no temp file is left");
    }

    #[test]
    fn extended_attributes_are_kept() {
        let dir = tempfile::tempdir().expect("tmp");
        let path = dir.path().join("my.cnf");
        fs::write(&path, b"old").expect("writable");
        if setxattr(&path, "user.origin", b"puppet", XattrFlags::empty()).is_err() {
            // tmpfs before Linux 6.6 has none of users; an ACL is one of the system's.
            return;
        }
        Local.write(&path, b"new", None, None).expect("writable");
        Local.replace(&path, b"new", b"newer").expect("as expected");
        let mut value = [0; 16];
        let length = getxattr(&path, "user.origin", &mut value).expect("still there");
        assert_eq!(value.get(..length), Some(&b"puppet"[..]));
    }

    #[test]
    fn a_file_that_somebody_else_wrote_meanwhile_is_left_as_it_is() {
        let dir = tempfile::tempdir().expect("tmp");
        let path = dir.path().join("my.cnf");
        fs::write(&path, b"theirs").expect("writable");
        let error = Local.replace(&path, b"as planned", b"ours").expect_err("not as planned");
        assert!(matches!(error, HostError::Changed { .. }), "{error}");
        assert_eq!(fs::read(&path).expect("there"), b"theirs");
        assert_eq!(Local.list(dir.path()).expect("readable"), vec![path]);
    }

    #[test]
    fn a_program_whose_child_keeps_its_output_open_is_not_waited_for() {
        let words = ["sh", "-c", "echo started; sleep 300 &"].map(String::from);
        let printed = Local.run(&words, Duration::from_secs(60)).expect("it ended with 0");
        assert_eq!(printed, "started\n");
    }

    #[test]
    fn a_program_that_takes_too_long_is_ended_with_its_children() {
        let dir = tempfile::tempdir().expect("tmp");
        let pid_file = dir.path().join("pid");
        let script = format!("sleep 300 & echo $! > {}; wait", pid_file.display());
        let words = ["sh".to_owned(), "-c".to_owned(), script];
        let error = Local.run(&words, Duration::from_secs(2)).expect_err("too long");
        assert!(matches!(error, HostError::Command { code: None, .. }), "{error}");
        let pid: i32 = fs::read_to_string(pid_file).expect("written").trim().parse().expect("a pid");
        let deadline = Instant::now() + Duration::from_secs(60);
        while Local.process(pid).expect("readable").is_some() {
            assert!(Instant::now() < deadline, "its child still runs");
            std::thread::sleep(POLL);
        }
    }
}
