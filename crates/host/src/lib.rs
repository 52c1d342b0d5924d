//! A machine, here or elsewhere: files, processes, services, captures. It knows no MySQL, but what to search files for (`formats` does).
//!
//! Reading and writing are two traits, so that a look can be handed a host that it cannot change. [`Local`] does it; [`Remote`] asks
//! the same program at the other end of the user's own ssh, where [`Local`] does it.

pub mod job;
mod layers;
mod local;
pub mod ports;
pub mod remote;
mod search;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use job::{Job, JobPlace, JobState};
pub use local::Local;
pub use remote::frames::FarPath;
pub use remote::push::PushedProgram;
pub use remote::{AgentProgram, Remote, SharedHost, SshTarget};
pub use search::{EncryptedFile, Place, Search, SearchHit, SearchProgress, Searched, SearchedSoFar};

/// How a text begins of a machine that could not be asked: ssh does not get there, or sealion does not run there.
pub const NO_AGENT: &str = "nothing could be asked of";

#[derive(Debug, Error)]
pub enum HostError {
    #[error("{what} {}: {source}", path.display())]
    File { what: Cow<'static, str>, path: PathBuf, source: io::Error },
    /// `code`: what it ended with by itself, not 0. `None`: it could not be run, or not to its end.
    #[error("`{command}` {how}{}", if said.is_empty() { String::new() } else { format!(": {said}") })]
    Command { command: String, how: String, said: String, code: Option<i32> },
    /// Somebody else wrote it between the look and the write; it was left as they wrote it.
    #[error("{} was changed by somebody else a moment ago, and was left so", path.display())]
    Changed { path: PathBuf },
    #[error("{what}: {why}")]
    Process { what: String, why: String },
    /// Neither done nor not done: nobody can say until the machine is looked at again.
    #[error("{host} cannot be reached, or did not answer, so what became of it is not known: {why}")]
    Lost { host: String, why: String },
    /// Nobody was there to ask: what was wished is not done.
    #[error("{NO_AGENT} {host}: {why}")]
    NoAgent { host: String, why: String },
}

/// What `stat` says of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFacts {
    pub uid: u32,
    pub gid: u32,
    pub mode: u32,
    pub bytes: u64,
    pub is_dir: bool,
    /// Names that this file has (`st_nlink`). With several, replacing one would leave the others with the old bytes.
    pub links: u64,
    /// The path names a symbolic link; the rest is of what it points to.
    pub is_symlink: bool,
}

impl FileFacts {
    /// Whether the mode keeps a user from reading it. Groups of a user are not known here, so a file that its group may read is not called kept.
    pub fn keeps_out(&self, uid: u32) -> bool {
        let may = uid == 0 || self.mode & 0o044 != 0 || (self.uid == uid && self.mode & 0o400 != 0);
        !may
    }
}

/// What the kernel says of a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessFacts {
    pub pid: i32,
    pub uid: u32,
    pub gid: u32,
    pub command_line: Vec<String>,
    /// Clock ticks since boot; with the pid it names one process for good.
    pub start_ticks: u64,
}

/// Processes that may be those of a program.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Programs {
    pub found: Vec<ProcessFacts>,
    /// Why one that runs could not be looked at: it may be one of them.
    pub hidden: Option<String>,
}

/// Behind its starter a program's path is looked for among so many words.
const PROGRAM_WORDS_MAX: usize = 8;
/// Programs whose process is that of another one, with its path as an argument, as their names begin: loaders (a bundled server's process is
/// its loader), and emulators.
const STARTERS: [&str; 5] = ["ld-", "ld.so", "ld64.so", "qemu-", "valgrind"];
/// Options of a starter whose value is the next word.
///
/// # Source
/// ld.so(8) of glibc 2.36; musl's loader has some of them.
const STARTER_OPTIONS: [&str; 7] = [
    "--library-path",
    "--inhibit-rpath",
    "--audit",
    "--preload",
    "--argv0",
    "--glibc-hwcaps-prepend",
    "--glibc-hwcaps-mask",
];
/// So many processes of one program are told of.
pub(crate) const PROGRAMS_MAX: usize = 256;

/// Whether a command line is that of a program of one of these names, or of one whose name begins so.
pub fn is_program(facts: &ProcessFacts, names: &[&str]) -> bool {
    program_at(&facts.command_line, |name| names.iter().any(|one| name.starts_with(one))).is_some()
}

/// Where in a command line the program stands whose file name `is_named`: it is the first word, or what a starter starts. Who only has the
/// name among its arguments (an editor, `sudo`, a pager) is another program.
pub fn program_at(command_line: &[String], is_named: impl Fn(&str) -> bool) -> Option<usize> {
    let file_name = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let first = file_name(command_line.first()?);
    if is_named(&first) {
        return Some(0);
    }
    if !STARTERS.iter().any(|starter| first.starts_with(starter)) {
        return None;
    }
    // Of an emulator's options it is not known which have a value: what it starts may be behind any word.
    let mut words = command_line.iter().enumerate().take(PROGRAM_WORDS_MAX).skip(1);
    while let Some((at, word)) = words.next() {
        if STARTER_OPTIONS.contains(&word.as_str()) {
            words.next();
        } else if is_named(&file_name(word)) {
            return Some(at);
        } else if first.starts_with("ld") && !word.starts_with('-') {
            return None;
        }
    }
    None
}

/// How a service is started and stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Service {
    Systemd {
        unit: String,
    },
    /// Programs with arguments, run without a shell.
    /// `alive` ends with 0 while the service runs or is on its way up.
    Commands {
        start: Vec<String>,
        stop: Vec<String>,
        alive: Option<Vec<String>>,
    },
}

impl Service {
    pub fn start_command(&self) -> Vec<String> {
        match self {
            Self::Systemd { unit } => vec!["systemctl".into(), "start".into(), unit.clone()],
            Self::Commands { start, .. } => start.clone(),
        }
    }
    pub fn stop_command(&self) -> Vec<String> {
        match self {
            Self::Systemd { unit } => vec!["systemctl".into(), "stop".into(), unit.clone()],
            Self::Commands { stop, .. } => stop.clone(),
        }
    }
}

/// What the manager of a service says of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServiceState {
    /// It runs, or is on its way up or down.
    Runs,
    Stopped,
    /// Nobody can say, with the reason.
    CannotTell(String),
}

pub trait ReadHost {
    /// `None` when there is no such file.
    fn read(&self, path: &Path, bytes_max: u64) -> Result<Option<Vec<u8>>, HostError>;
    /// The last bytes of a file, `bytes_max` of them at most. `None` when there is no such file.
    fn read_end(&self, path: &Path, bytes_max: u64) -> Result<Option<Vec<u8>>, HostError>;
    fn facts(&self, path: &Path) -> Result<Option<FileFacts>, HostError>;
    /// Sorted by name.
    fn list(&self, dir: &Path) -> Result<Vec<PathBuf>, HostError>;
    /// `None`: there is no such process, or it is a zombie. An error: there may be one.
    fn process(&self, pid: i32) -> Result<Option<ProcessFacts>, HostError>;
    /// The sockets that a process has open, by their numbers (inodes), as the kernel's tables have them.
    ///
    /// # Errors
    /// Also where this user may not look at that process, and where it has ended.
    fn sockets_of(&self, pid: i32) -> Result<BTreeSet<u64>, HostError>;
    /// Every process of this machine whose program has one of these names, or a name that begins so.
    ///
    /// # Errors
    /// Processes of others are hidden from us (`hidepid`).
    fn programs(&self, names: &[&str]) -> Result<Programs, HostError>;
    /// Bytes that an unprivileged user can still write on the file system of `path`.
    fn free_bytes(&self, path: &Path) -> Result<u64, HostError>;
    /// Whether the file system of `path` takes writes from us.
    ///
    /// # Errors
    /// That cannot be told.
    fn writable(&self, dir: &Path) -> Result<bool, HostError>;
    /// Asks its manager, for `limit` at most. It is only asked: of [`Service::Commands`] this runs `alive`.
    fn service_state(&self, service: &Service, limit: Duration) -> ServiceState;
    /// What its manager starts a service with, as far as that is more than the unit's own file: the manager's environment, that of the unit
    /// with its files, and the commands; `NAME=value` a line. It may hold secrets. Of [`Service::Commands`] there is nothing.
    ///
    /// # Errors
    /// It does not say, or not within `limit`.
    fn service_settings(&self, service: &Service, limit: Duration) -> Result<String, HostError>;
    /// What the program at this path says to `--version`. `None`: there is no such program.
    ///
    /// # Errors
    /// It does not say, or not within `limit`.
    fn version_of(&self, program: &Path, limit: Duration) -> Result<Option<String>, HostError>;
    /// Whether its manager knows the unit: systemd's LoadState, `loaded`, `not-found`, `masked`, …
    ///
    /// # Errors
    /// It does not say, or not within `limit`.
    fn unit_load_state(&self, unit: &str, limit: Duration) -> Result<String, HostError>;
    /// The program that a command of this name runs: the file itself, where the name has a directory, else the first in PATH that can be
    /// executed. `None`: a command of this name cannot be run.
    ///
    /// # Errors
    /// That cannot be told.
    fn program_of(&self, name: &str) -> Result<Option<PathBuf>, HostError>;
    /// What a symbolic link points to, as it is written there. `None`: the path names no link, or nothing.
    fn link(&self, path: &Path) -> Result<Option<PathBuf>, HostError>;
    /// What became of the newest job of this place.
    fn service_job(&self, job: &JobPlace) -> Result<JobState, HostError>;
    /// The first text in a program or library that is `mark` with a digit behind it, to its end: `OpenSSL 3.0.19 27 Jan 2026`.
    /// `None`: there is no such text, or no such file.
    fn text_in(&self, path: &Path, mark: &str) -> Result<Option<String>, HostError>;
    /// Searches files for secrets and leftovers. It may take long; `progress` is kept up to date meanwhile.
    ///
    /// # Errors
    /// The machine cannot be asked. What could not be read there is a part of the answer.
    fn search(&self, search: &Search, progress: &SearchProgress) -> Result<Searched, HostError>;
    /// What the files of a data directory hold, page by page, and those that its server keeps elsewhere. It may take long; `progress` is kept up to date meanwhile.
    ///
    /// # Errors
    /// It is none of a server, or the machine cannot be asked. What could not be read there is a part of the answer.
    fn data_directory(
        &self,
        dir: &Path,
        elsewhere: &[disk::Place],
        progress: &disk::Progress,
    ) -> Result<disk::DataDirectory, HostError>;
    /// What its mounts and devices are read from.
    fn tree(&self) -> Box<dyn disk::stack::Tree + '_> {
        Box::new(layers::NotSeen)
    }
}

/// A lock on a host; let go when this value is dropped, or when the process that holds it ends.
pub trait HostLock: Send {}

pub trait WriteHost: ReadHost {
    /// Temp file beside it, mode before content, fsync, rename, fsync of the directory. Old owner, mode and extended attributes
    /// (ACLs are among them) are kept; `mode` and `owner` override. A symbolic link stays one: what it points to is written. A
    /// file with several names is refused.
    fn write(
        &self,
        path: &Path,
        bytes: &[u8],
        mode: Option<u32>,
        owner: Option<(u32, u32)>,
    ) -> Result<(), HostError>;
    /// The same, but only where the file still has the bytes `expected`.
    ///
    /// # Errors
    /// `Changed` where it has others.
    fn replace(&self, path: &Path, expected: &[u8], bytes: &[u8]) -> Result<(), HostError>;
    fn append(&self, path: &Path, bytes: &[u8]) -> Result<(), HostError>;
    /// Directories above it get the same mode and owner where they have to be made.
    fn make_dir(&self, dir: &Path, mode: u32, owner: Option<(u32, u32)>) -> Result<(), HostError>;
    /// No error when it is not there.
    fn remove(&self, path: &Path) -> Result<(), HostError>;
    /// Removes, in this directory, what a sealion that was killed while it wrote has left: half of a file, which may be a private key. Those of
    /// processes that live are left. Returns what was removed; nothing where there is no such directory.
    fn sweep(&self, dir: &Path) -> Result<Vec<PathBuf>, HostError>;
    /// Removes the directory if it is empty.
    fn remove_dir(&self, dir: &Path) -> Result<(), HostError>;
    /// Runs a program to its end, for `timeout` at most; then it is ended with all that it has started.
    fn run(&self, command: &[String], timeout: Duration) -> Result<String, HostError>;
    /// Runs a program that starts or stops a service, as a job of this place ([`job`]): one that runs already is waited for, and not
    /// begun twice. What it leaves behind is the service and is never ended by us; nor is the program, when it takes longer.
    fn run_service(&self, job: &JobPlace, command: &[String], timeout: Duration)
    -> Result<String, HostError>;
    /// Held by one at a time, also among sealions of other operators; waited for, for `at_most`. The file is made where it is not
    /// there, and stays.
    fn lock(&self, path: &Path, at_most: Duration) -> Result<Box<dyn HostLock>, HostError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_the_first_word_or_what_a_loader_or_an_emulator_starts() {
        let check = |line: &str, expected: Option<usize>| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(program_at(&words, |name| name.starts_with("mysqld")), expected, "{line}");
        };
        check("/usr/sbin/mysqld --user=mysql", Some(0));
        check("mysqld-debug", Some(0));
        check("/b/ld-linux-x86-64.so.2 --library-path /b/lib /b/usr/sbin/mysqld --no-defaults", Some(3));
        check("/lib/ld-musl-x86_64.so.1 --library-path=/b/lib -- /b/usr/sbin/mysqld", Some(3));
        check("/usr/bin/qemu-x86_64 -L /sysroot /usr/sbin/mysqld", Some(3));
        check("/usr/bin/valgrind.bin --tool=memcheck /usr/sbin/mysqld", Some(2));
        check("/b/ld-linux-x86-64.so.2 --library-path /b/mysqld /usr/bin/sleep 9", None);
        check("/bin/sh /usr/bin/mysqld_safe", None);
        check("sudo -u mysql /usr/sbin/mysqld", None);
        check("tail -f /var/log/mysqld.log", None);
        check("", None);
    }
}
