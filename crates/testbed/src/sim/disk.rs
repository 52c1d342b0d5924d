//! The files of one machine, with owners, modes and a disk that can be full.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use host::{
    FileFacts, HostError, HostLock, JobPlace, JobState, ProcessFacts, Programs, ReadHost, Service,
    ServiceState, WriteHost, is_program,
};
use server::options::Source;

use super::hosts::InFlight;
use super::tls_library;
use super::world::{Shared, World};

/// As the kernel follows at most.
const LINKS_MAX: usize = 40;
/// The user that sealion runs as.
pub const ROOT: u32 = 0;
/// The user that servers run as.
pub const MYSQL: u32 = 999;
/// Whom the unit of garbd runs it as.
pub const NOBODY: u32 = 65_534;

/// Of the kernel, with its first line.
pub const TCP_TABLE: &str = "/proc/net/tcp";
/// The number of whatever sockets the server of a machine has.
pub(super) const OWN_SOCKETS: u64 = 7;
pub const TCP_HEAD: &str = "  sl  local_address rem_address   st\n";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// `None` is a directory.
    pub bytes: Option<Vec<u8>>,
    pub uid: u32,
    pub gid: u32,
    pub mode: u32,
}

#[derive(Debug, Clone, Default)]
pub struct Disk {
    pub entries: BTreeMap<PathBuf, Entry>,
    pub free_bytes: u64,
    /// Everything at and below these takes no writes.
    pub read_only: Vec<PathBuf>,
    /// Symbolic links, and what they point to, from where they lie.
    pub links: BTreeMap<PathBuf, PathBuf>,
    /// Everything at and below these cannot be looked at: an I/O error, a mount that hangs.
    pub unreadable: Vec<PathBuf>,
}

impl Disk {
    pub fn new() -> Self {
        Self { entries: BTreeMap::new(), free_bytes: 10 << 30, ..Self::default() }
    }

    /// What a path stands for.
    pub fn resolve(&self, path: &Path) -> PathBuf {
        let mut at = path.to_owned();
        // One that leads round and round stands for itself.
        for _ in 0..LINKS_MAX {
            let parts: Vec<&Path> = at.ancestors().collect();
            let first = parts.iter().rev().find_map(|part| Some((*part, self.links.get(*part)?)));
            let Some((link, target)) = first.filter(|_| !self.links.is_empty()) else { break };
            let rest = at.strip_prefix(link).expect("it is above it");
            let dir = without_dots(&link.parent().unwrap_or(Path::new("/")).join(target));
            at = if rest.as_os_str().is_empty() { dir } else { dir.join(rest) };
        }
        at
    }

    /// Moves a file elsewhere and leaves a symbolic link to it, as administrators do.
    pub fn move_behind_link(&mut self, path: &str, target: &str) {
        let entry = self.entries.remove(Path::new(path)).expect("a file");
        if let Some(dir) = Path::new(target).parent() {
            self.make_dirs(dir, ROOT, 0o755);
        }
        self.entries.insert(target.into(), entry);
        self.links.insert(path.into(), target.into());
    }

    fn is_unreadable(&self, path: &Path) -> bool {
        self.unreadable.iter().any(|place| path.starts_with(place))
    }

    /// Puts a file there with all directories above it, as an administrator did before sealion came.
    pub fn put(&mut self, path: &str, text: impl AsRef<[u8]>, uid: u32, mode: u32) {
        let path = self.resolve(Path::new(path));
        if let Some(dir) = path.parent() {
            self.make_dirs(dir, ROOT, 0o755);
        }
        let entry = Entry { bytes: Some(text.as_ref().to_vec()), uid, gid: uid, mode };
        self.entries.insert(path, entry);
    }

    pub fn make_dirs(&mut self, dir: &Path, uid: u32, mode: u32) {
        for dir in dir.ancestors() {
            self.entries.entry(dir.to_owned()).or_insert(Entry { bytes: None, uid, gid: uid, mode });
        }
    }

    pub fn text(&self, path: &str) -> Option<String> {
        let bytes = self.entries.get(&self.resolve(Path::new(path)))?.bytes.as_ref()?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    /// What a process of `uid` gets when it opens the file, with the server's words when it does not.
    pub fn open_as(&self, uid: u32, path: &Path) -> Result<&[u8], &'static str> {
        let bit = |entry: &Entry, bit: u32| {
            uid == ROOT
                || entry.mode
                    & (bit
                        << if entry.uid == uid {
                            6
                        } else if entry.gid == uid {
                            3
                        } else {
                            0
                        })
                    != 0
        };
        for dir in path.ancestors().skip(1) {
            match self.entries.get(dir) {
                None => return Err("No such file or directory"),
                Some(entry) if !bit(entry, 1) => return Err("Permission denied"),
                Some(_) => {}
            }
        }
        let entry = self.entries.get(path).ok_or("No such file or directory")?;
        let bytes = entry.bytes.as_ref().ok_or("Is a directory")?;
        if bit(entry, 4) { Ok(bytes) } else { Err("Permission denied") }
    }

    fn refuses_writes(&self, path: &Path) -> bool {
        self.read_only.iter().any(|place| path.starts_with(place))
    }

    fn may_write(&self, path: &Path, bytes: usize) -> io::Result<()> {
        if self.refuses_writes(path) {
            return Err(io::Error::from(io::ErrorKind::ReadOnlyFilesystem));
        }
        if bytes as u64 > self.free_bytes {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        match path.parent().map(|dir| self.entries.get(dir)) {
            Some(Some(Entry { bytes: None, .. })) => Ok(()),
            _ => Err(io::Error::from(io::ErrorKind::NotFound)),
        }
    }

    /// Temp file and rename: the new bytes are there whole or not at all.
    fn write(
        &mut self,
        path: &Path,
        bytes: &[u8],
        mode: Option<u32>,
        owner: Option<(u32, u32)>,
    ) -> io::Result<()> {
        self.may_write(path, bytes.len())?;
        let before = self.entries.get(path);
        let mode = mode.or(before.map(|entry| entry.mode)).unwrap_or(0o600);
        let (uid, gid) = owner.or(before.map(|entry| (entry.uid, entry.gid))).unwrap_or((ROOT, ROOT));
        self.entries.insert(path.to_owned(), Entry { bytes: Some(bytes.to_vec()), uid, gid, mode });
        Ok(())
    }

    fn append(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.may_write(path, bytes.len())?;
        let fresh = Entry { bytes: Some(vec![]), uid: ROOT, gid: ROOT, mode: 0o600 };
        let entry = self.entries.entry(path.to_owned()).or_insert(fresh);
        entry.bytes.get_or_insert_default().extend_from_slice(bytes);
        Ok(())
    }
}

fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// Option files as the server finds them.
impl Source for Disk {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        Ok(self.entries.get(&self.resolve(path)).map(|entry| entry.bytes.clone().unwrap_or_default()))
    }

    fn list_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        match self.entries.get(path) {
            Some(Entry { bytes: None, .. }) => Ok(self.children(path)),
            Some(_) => Err(io::Error::from(io::ErrorKind::NotADirectory)),
            None => Err(io::Error::from(io::ErrorKind::NotFound)),
        }
    }

    fn world_writable(&self, path: &Path) -> io::Result<bool> {
        Ok(self.entries.get(path).is_some_and(|entry| entry.bytes.is_some() && entry.mode & 0o002 != 0))
    }
}

impl Disk {
    /// Whole lines.
    fn records(bytes: &[u8]) -> usize {
        bytes.iter().filter(|&&byte| byte == b'\n').count()
    }

    fn children(&self, dir: &Path) -> Vec<PathBuf> {
        let mut children: Vec<PathBuf> = self
            .entries
            .keys()
            .chain(self.links.keys())
            .filter(|path| path.parent() == Some(dir))
            .cloned()
            .collect();
        children.sort();
        children
    }
}

/// One machine of the world, as `host` wants it. Sealion is root there.
#[derive(Debug, Clone)]
pub struct SimHost {
    pub shared: Shared,
    pub index: usize,
}

pub(super) fn fail(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> HostError {
    let path = path.to_owned();
    move |source| HostError::File { what: what.into(), path, source }
}

impl SimHost {
    fn change<T>(
        &self,
        what: &str,
        failed: &'static str,
        path: &Path,
        work: impl FnOnce(&mut Disk) -> io::Result<T>,
    ) -> Result<T, HostError> {
        if self.shared.borrow().sealion_is_dead {
            return Err(fail(failed, path)(io::Error::other("sealion is gone")));
        }
        self.shared.reach_host(self.index)?;
        self.shared.instant(&format!("{what} {}", path.display()), Some(self.index));
        let fate = self.shared.in_flight(self.index);
        if fate == Some(InFlight::NeverDone) {
            return Err(self.shared.unanswered(self.index));
        }
        let is_copy = what != "append" && path.extension().is_some_and(|end| end == "journal");
        let records = |world: &World| {
            let entry = world.servers[self.index].disk.entries.get(path).filter(|_| is_copy);
            entry.and_then(|entry| entry.bytes.as_ref()).map_or(0, |bytes| Disk::records(bytes))
        };
        let mut world = self.shared.borrow_mut();
        let before = records(&world);
        // Only what was there before can become shorter.
        let was_begun = before > 0 && {
            let entry = world.servers[self.index].disk.entries.get(path).filter(|_| is_copy);
            let bytes = entry.and_then(|entry| entry.bytes.as_deref()).unwrap_or_default();
            String::from_utf8_lossy(bytes).contains(r#""record":"intent""#)
        };
        let done = work(&mut world.servers[self.index].disk);
        // One of which no step was begun may be taken away again.
        if is_copy && records(&world) < before && (what != "remove" || was_begun) {
            let line = format!("{}: {} became shorter", world.servers[self.index].name(), path.display());
            world.violations.push(line);
        }
        drop(world);
        if fate.is_some() {
            return Err(self.shared.unanswered(self.index));
        }
        done.map_err(fail(failed, path))
    }

    /// A file is written under another name first: who is killed in between leaves that.
    fn change_file<T>(
        &self,
        path: &Path,
        target: &Path,
        bytes: usize,
        work: impl FnOnce(&mut Disk) -> io::Result<T>,
    ) -> Result<T, HostError> {
        let mut world = self.shared.borrow_mut();
        let pid = world.sealion_pid;
        let is_served = !world.sealion_is_dead && world.servers[self.index].lost_host.is_none();
        let disk = &mut world.servers[self.index].disk;
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let temp = target.with_file_name(format!(".{name}.sealion-{pid}"));
        if is_served && disk.may_write(target, bytes).is_ok() {
            let half = Entry { bytes: Some(b"half of it".to_vec()), uid: ROOT, gid: ROOT, mode: 0o600 };
            disk.entries.insert(temp.clone(), half);
        }
        drop(world);
        let done = self.change("write", "cannot write", path, work);
        self.shared.borrow_mut().servers[self.index].disk.entries.remove(&temp);
        done
    }

    fn look<T>(&self, work: impl FnOnce(&Disk) -> T) -> T {
        work(&self.shared.borrow().servers[self.index].disk)
    }

    fn readable(&self, path: &Path) -> Result<PathBuf, HostError> {
        self.shared.reach_host(self.index)?;
        let path = &tls_library::behind_root(&self.shared.borrow().servers[self.index], path);
        if self.look(|disk| disk.is_unreadable(path)) {
            return Err(fail("cannot read", path)(io::Error::other("Input/output error")));
        }
        Ok(self.look(|disk| disk.resolve(path)))
    }
}

impl ReadHost for SimHost {
    fn read(&self, path: &Path, bytes_max: u64) -> Result<Option<Vec<u8>>, HostError> {
        let pid = self.shared.borrow().servers[self.index].process.as_ref().map(|process| process.pid);
        let of_process = pid.map(|pid| PathBuf::from(format!("/proc/{pid}/net/tcp")));
        // No server of this world is in a container.
        let path = if of_process.as_deref() == Some(path) { Path::new(TCP_TABLE) } else { path };
        let target = self.readable(path)?;
        match self.look(|disk| disk.entries.get(&target).cloned()) {
            None => tls_library::proc(&self.shared.borrow().servers[self.index], &target),
            Some(Entry { bytes: None, .. }) => {
                Err(fail("cannot read", path)(io::Error::from(io::ErrorKind::IsADirectory)))
            }
            Some(Entry { bytes: Some(bytes), .. }) if bytes.len() as u64 > bytes_max => {
                Err(fail("will not read", path)(io::Error::other("it is too large")))
            }
            // The kernel's table has what the world has.
            Some(Entry { bytes: Some(mut bytes), .. }) if path == Path::new(TCP_TABLE) => {
                bytes.extend(self.shared.borrow().tcp_rows(self.index).into_bytes());
                Ok(Some(bytes))
            }
            Some(Entry { bytes, .. }) => Ok(bytes),
        }
    }

    fn read_end(&self, path: &Path, bytes_max: u64) -> Result<Option<Vec<u8>>, HostError> {
        let target = self.readable(path)?;
        let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
        self.look(|disk| match disk.entries.get(&target) {
            None => Ok(None),
            Some(Entry { bytes: None, .. }) => {
                Err(fail("cannot read", path)(io::Error::from(io::ErrorKind::IsADirectory)))
            }
            Some(Entry { bytes: Some(bytes), .. }) => {
                let at = bytes.len().saturating_sub(bytes_max);
                Ok(Some(bytes.get(at..).unwrap_or_default().to_vec()))
            }
        })
    }

    fn facts(&self, path: &Path) -> Result<Option<FileFacts>, HostError> {
        let target = self.readable(path)?;
        Ok(self.look(|disk| {
            disk.entries.get(&target).map(|entry| FileFacts {
                links: 1,
                is_symlink: target != path,
                uid: entry.uid,
                gid: entry.gid,
                mode: entry.mode,
                bytes: entry.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64),
                is_dir: entry.bytes.is_none(),
            })
        }))
    }

    fn list(&self, dir: &Path) -> Result<Vec<PathBuf>, HostError> {
        let dir = &self.readable(dir)?;
        self.look(|disk| disk.list_dir(dir)).map_err(fail("cannot list", dir))
    }

    fn process(&self, pid: i32) -> Result<Option<ProcessFacts>, HostError> {
        self.shared.reach_host(self.index)?;
        let world = self.shared.borrow();
        Ok(world.servers[self.index].process_facts().filter(|facts| facts.pid == pid))
    }

    /// All of them have one number, see `tcp_rows`.
    fn sockets_of(&self, pid: i32) -> Result<std::collections::BTreeSet<u64>, HostError> {
        self.shared.reach_host(self.index)?;
        let world = self.shared.borrow();
        let server = &world.servers[self.index];
        let dir = format!("/proc/{pid}/fd");
        let failed = |kind| Err(fail("cannot look at", Path::new(&dir))(io::Error::from(kind)));
        if server.hides_sockets {
            return failed(io::ErrorKind::PermissionDenied);
        }
        match server.process_facts() {
            Some(facts) if facts.pid == pid => Ok([OWN_SOCKETS].into()),
            _ => failed(io::ErrorKind::NotFound),
        }
    }

    fn programs(&self, names: &[&str]) -> Result<Programs, HostError> {
        self.shared.reach_host(self.index)?;
        let world = self.shared.borrow();
        let server = &world.servers[self.index];
        let found = server.process_facts().into_iter().chain(server.garbd_beside.clone());
        Ok(Programs { found: found.filter(|facts| is_program(facts, names)).collect(), hidden: None })
    }

    fn free_bytes(&self, _: &Path) -> Result<u64, HostError> {
        self.shared.reach_host(self.index)?;
        Ok(self.look(|disk| disk.free_bytes))
    }

    fn data_directory(
        &self,
        _: &Path,
        _: &[disk::Place],
        _: &disk::Progress,
    ) -> Result<disk::DataDirectory, HostError> {
        self.shared.reach_host(self.index)?;
        Err(HostError::Process {
            what: "what its files hold cannot be told".into(),
            why: "this machine is simulated, and has no data".into(),
        })
    }

    /// No audit is made of this world.
    fn search(&self, _: &host::Search, _: &host::SearchProgress) -> Result<host::Searched, HostError> {
        self.shared.reach_host(self.index)?;
        Err(HostError::Process {
            what: "its files are not searched".into(),
            why: "this machine is simulated".into(),
        })
    }

    fn writable(&self, dir: &Path) -> Result<bool, HostError> {
        self.shared.reach_host(self.index)?;
        Ok(self.look(|disk| !disk.refuses_writes(dir)))
    }

    fn service_state(&self, _: &Service, _: Duration) -> ServiceState {
        ServiceState::CannotTell("it is not simulated".into())
    }

    fn service_settings(&self, _: &Service, _: Duration) -> Result<String, HostError> {
        self.shared.reach_host(self.index)?;
        let world = self.shared.borrow();
        let server = &world.servers[self.index];
        if server.manager_is_silent {
            let (what, why) =
                ("systemctl show-environment".into(), "the service manager does not answer".into());
            return Err(HostError::Process { what, why });
        }
        let program = server.program();
        // Of each one's own unit.
        let options = if server.is_mysql() { "$MYSQLD_OPTS" } else { "$MYSQLD_OPTS $_WSREP_NEW_CLUSTER" };
        let exec = format!("ExecStart={{ path={program} ; argv[]={program} {options} }}");
        Ok(format!("PATH=/usr/bin\n{}\nEnvironment=\n{exec}", server.environment.join("\n")))
    }

    fn version_of(&self, program: &Path, _: Duration) -> Result<Option<String>, HostError> {
        if self.facts(program)?.is_none() {
            return Ok(None);
        }
        let world = self.shared.borrow();
        let said = world.servers[self.index].program_version.clone();
        said.map(Some).ok_or_else(|| HostError::Process {
            what: format!("{} --version", program.display()),
            why: "it was killed".into(),
        })
    }

    fn unit_load_state(&self, unit: &str, _: Duration) -> Result<String, HostError> {
        self.shared.reach_host(self.index)?;
        let world = self.shared.borrow();
        let server = &world.servers[self.index];
        if server.manager_is_silent {
            let (what, why) =
                (format!("systemctl show {unit}"), "the service manager does not answer".into());
            return Err(HostError::Process { what, why });
        }
        Ok(server.unit_state_of(unit))
    }

    /// A name without a directory is one of `/usr/bin`.
    fn program_of(&self, name: &str) -> Result<Option<PathBuf>, HostError> {
        let path = if name.contains('/') { PathBuf::from(name) } else { Path::new("/usr/bin").join(name) };
        let facts = self.facts(&path)?;
        Ok(facts.is_some_and(|facts| !facts.is_dir && facts.mode & 0o111 != 0).then_some(path))
    }

    fn link(&self, path: &Path) -> Result<Option<PathBuf>, HostError> {
        self.readable(path)?;
        Ok(self.look(|disk| disk.links.get(path).cloned()))
    }

    fn service_job(&self, _: &JobPlace) -> Result<JobState, HostError> {
        self.shared.reach_host(self.index)?;
        Ok(match self.shared.borrow().servers[self.index].start_job_ms {
            Some(_) => JobState::Runs(None),
            None => JobState::NeverBegan,
        })
    }

    fn text_in(&self, path: &Path, mark: &str) -> Result<Option<String>, HostError> {
        let bytes = self.read(path, u64::MAX)?;
        let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok(text.and_then(|text| text.lines().find(|line| line.starts_with(mark)).map(str::to_owned)))
    }
}

struct SimLock;
impl HostLock for SimLock {}

impl WriteHost for SimHost {
    fn write(
        &self,
        path: &Path,
        bytes: &[u8],
        mode: Option<u32>,
        owner: Option<(u32, u32)>,
    ) -> Result<(), HostError> {
        let target = self.readable(path)?;
        self.change_file(path, &target, bytes.len(), |disk| disk.write(&target, bytes, mode, owner))
    }

    fn replace(&self, path: &Path, expected: &[u8], bytes: &[u8]) -> Result<(), HostError> {
        let target = self.readable(path)?;
        let replaced = self.change_file(path, &target, bytes.len(), |disk| {
            let is_as_expected =
                disk.entries.get(&target).is_some_and(|entry| entry.bytes.as_deref() == Some(expected));
            if is_as_expected { disk.write(&target, bytes, None, None).map(|()| true) } else { Ok(false) }
        });
        if replaced? {
            return Ok(());
        }
        Err(HostError::Changed { path: path.to_owned() })
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> Result<(), HostError> {
        self.change("append", "cannot append to", path, |disk| disk.append(path, bytes))
    }

    fn make_dir(&self, dir: &Path, mode: u32, owner: Option<(u32, u32)>) -> Result<(), HostError> {
        self.shared.reach_host(self.index)?;
        if self.look(|disk| disk.entries.get(dir).is_some_and(|entry| entry.bytes.is_none())) {
            return Ok(());
        }
        self.change("mkdir", "cannot make the directory", dir, |disk| {
            if disk.refuses_writes(dir) {
                return Err(io::Error::from(io::ErrorKind::ReadOnlyFilesystem));
            }
            if disk.free_bytes == 0 {
                return Err(io::Error::from(io::ErrorKind::StorageFull));
            }
            if let Some(above) = dir.parent() {
                disk.make_dirs(above, ROOT, 0o755);
            }
            let (uid, gid) = owner.unwrap_or((ROOT, ROOT));
            disk.entries.insert(dir.to_owned(), Entry { bytes: None, uid, gid, mode });
            Ok(())
        })
    }

    fn remove(&self, path: &Path) -> Result<(), HostError> {
        self.shared.reach_host(self.index)?;
        if self.look(|disk| !disk.entries.contains_key(path)) {
            return Ok(());
        }
        self.change("remove", "cannot remove", path, |disk| {
            if disk.refuses_writes(path) {
                return Err(io::Error::from(io::ErrorKind::ReadOnlyFilesystem));
            }
            disk.entries.remove(path);
            Ok(())
        })
    }

    fn sweep(&self, dir: &Path) -> Result<Vec<PathBuf>, HostError> {
        let dir = &self.readable(dir)?;
        let own = format!(".sealion-{}", self.shared.borrow().sealion_pid);
        let is_left = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with('.') && name.contains(".sealion-") && !name.ends_with(&own)
        };
        let left: Vec<PathBuf> = self.look(|disk| disk.children(dir)).into_iter().filter(is_left).collect();
        for path in &left {
            self.remove(path)?;
        }
        Ok(left)
    }

    fn remove_dir(&self, dir: &Path) -> Result<(), HostError> {
        self.shared.reach_host(self.index)?;
        if self.look(|disk| disk.entries.contains_key(dir) && disk.children(dir).is_empty()) {
            self.change("rmdir", "cannot remove", dir, |disk| {
                disk.entries.remove(dir);
                Ok(())
            })?;
        }
        Ok(())
    }

    fn run(&self, command: &[String], _: Duration) -> Result<String, HostError> {
        let how = "is not simulated".to_owned();
        Err(HostError::Command { command: command.join(" "), how, said: String::new(), code: None })
    }

    fn run_service(&self, _: &JobPlace, command: &[String], timeout: Duration) -> Result<String, HostError> {
        self.run(command, timeout)
    }

    /// One sealion runs at a time here, so nobody else has it.
    fn lock(&self, path: &Path, _: Duration) -> Result<Box<dyn HostLock>, HostError> {
        self.shared.reach_host(self.index)?;
        self.look(|disk| disk.may_write(path, 0)).map_err(fail("cannot lock", path))?;
        Ok(Box::new(SimLock))
    }
}
