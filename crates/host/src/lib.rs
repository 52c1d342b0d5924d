//! A machine: files, processes, services. Local now; ssh takes the same two traits. It knows no MySQL.
//!
//! Reading and writing are two traits, so that a look can be handed a host that it cannot change.

mod local;
pub mod ports;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

pub use local::Local;

#[derive(Debug, Error)]
pub enum HostError {
    #[error("{what} {}: {source}", path.display())]
    File { what: &'static str, path: PathBuf, source: io::Error },
    #[error("`{command}` {how}{}", if said.is_empty() { String::new() } else { format!(": {said}") })]
    Command { command: String, how: String, said: String },
}

/// What `stat` says of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileFacts {
    pub uid: u32,
    pub gid: u32,
    pub mode: u32,
    pub bytes: u64,
    pub is_dir: bool,
}

/// What the kernel says of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessFacts {
    pub pid: i32,
    pub uid: u32,
    pub command_line: Vec<String>,
    /// Clock ticks since boot; with the pid it names one process for good.
    pub start_ticks: u64,
}

/// How a service is started and stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
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

pub trait ReadHost {
    /// `None` when there is no such file.
    fn read(&self, path: &Path, bytes_max: u64) -> Result<Option<Vec<u8>>, HostError>;
    fn facts(&self, path: &Path) -> Result<Option<FileFacts>, HostError>;
    /// Sorted by name.
    fn list(&self, dir: &Path) -> Result<Vec<PathBuf>, HostError>;
    fn process(&self, pid: i32) -> Option<ProcessFacts>;
    /// Bytes that an unprivileged user can still write on the file system of `path`.
    fn free_bytes(&self, path: &Path) -> Result<u64, HostError>;
    /// Whether the file system of `path` takes writes from us.
    fn writable(&self, dir: &Path) -> bool;
}

pub trait WriteHost: ReadHost {
    /// Temp file beside it, mode before content, fsync, rename, fsync of the directory. Old owner and mode are kept
    /// when `mode` is `None`.
    fn write(
        &self,
        path: &Path,
        bytes: &[u8],
        mode: Option<u32>,
        owner: Option<(u32, u32)>,
    ) -> Result<(), HostError>;
    fn append(&self, path: &Path, bytes: &[u8]) -> Result<(), HostError>;
    fn make_dir(&self, dir: &Path, mode: u32, owner: Option<(u32, u32)>) -> Result<(), HostError>;
    /// No error when it is not there.
    fn remove(&self, path: &Path) -> Result<(), HostError>;
    /// Removes the directory if it is empty.
    fn remove_dir(&self, dir: &Path) -> Result<(), HostError>;
    fn run(&self, command: &[String], timeout: Duration) -> Result<String, HostError>;
}
