//! The process of the server whose data directory is looked at, if it runs on this machine.
//!
//! A server works in its data directory: the process of a server whose working directory is that very directory (the
//! same inode of the same device) is the one, in a container or under another root too. What it names by a path is
//! read as it sees it.

use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use host::{Local, ReadHost, is_program};

const PROGRAMS: [&str; 2] = ["mariadbd", "mysqld"];

/// What is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Process {
    Runs {
        pid: i32,
        uid: u32,
        /// Through which its paths are read, where it may see other files under them than sealion does.
        prefix: Option<PathBuf>,
    },
    /// No server works in this directory.
    None,
    /// A server runs, and whether it is that one cannot be told.
    Unknown(String),
}

impl Process {
    /// Whose working directory `root` is.
    pub fn of(root: &Path) -> Self {
        let Ok(here) = std::fs::metadata(root) else {
            return Self::Unknown("the data directory cannot be examined".into());
        };
        let entries = match std::fs::read_dir("/proc") {
            Ok(entries) => entries,
            Err(error) => return Self::Unknown(format!("/proc cannot be listed: {error}")),
        };
        let mut unknown = None;
        for pid in entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()) {
            let Ok(Some(facts)) = Local.process(pid) else { continue };
            if !is_program(&facts, &PROGRAMS) {
                continue;
            }
            match std::fs::metadata(of(pid, "cwd")) {
                Ok(cwd) if is_same(&cwd, &here) => {
                    return match prefix(pid) {
                        Ok(prefix) => Self::Runs { pid, uid: facts.uid, prefix },
                        Err(why) => Self::Unknown(format!("process {pid} is its server, and {why}")),
                    };
                }
                Ok(_) => {}
                // It has ended. Of one that ends in this moment the kernel says that it may not be seen (proc_pid_follow_link).
                Err(error) if error.kind() == ErrorKind::NotFound || has_ended(pid) => {}
                Err(error) => {
                    unknown = Some(format!(
                        "process {pid} is a server whose directory cannot be read ({error}): run it as root"
                    ));
                }
            }
        }
        unknown.map_or(Self::None, Self::Unknown)
    }

    pub fn pid(&self) -> Option<i32> {
        match self {
            Self::Runs { pid, .. } => Some(*pid),
            _ => None,
        }
    }
}

fn has_ended(pid: i32) -> bool {
    Local.process(pid).is_ok_and(|facts| !facts.is_some_and(|facts| is_program(&facts, &PROGRAMS)))
}

pub fn of(pid: i32, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{name}"))
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Nothing where it has our root and our mounts: then its paths are ours, with all links on the way.
fn prefix(pid: i32) -> Result<Option<PathBuf>, String> {
    let unreadable = |error: std::io::Error| format!("what it sees cannot be read ({error}): run it as root");
    let root = of(pid, "root");
    let theirs = std::fs::metadata(&root).map_err(unreadable)?;
    let ours = std::fs::metadata("/").map_err(unreadable)?;
    let mounts = std::fs::read_link(of(pid, "ns/mnt")).map_err(unreadable)?;
    let is_ours =
        is_same(&theirs, &ours) && std::fs::read_link("/proc/self/ns/mnt").is_ok_and(|own| own == mounts);
    Ok((!is_ours).then_some(root))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    #[test]
    fn a_server_is_known_by_the_directory_that_it_works_in() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(Process::of(home.path()), Process::None);
        assert!(matches!(Process::of(&home.path().join("nowhere")), Process::Unknown(_)));
        // A program of that name, and one that only has it among its arguments.
        for (name, is_server) in [("mysqld", true), ("sleep", false)] {
            let mut child = Command::new("sleep")
                .arg0(name)
                .arg("60")
                .current_dir(home.path())
                .stdin(Stdio::null())
                .spawn()
                .unwrap();
            // It is started before the kernel has set up what /proc shows as its command line.
            let command_line = of(i32::try_from(child.id()).unwrap(), "cmdline");
            while std::fs::read(&command_line).unwrap().is_empty() && child.try_wait().unwrap().is_none() {}
            let found = Process::of(home.path());
            child.kill().unwrap();
            child.wait().unwrap();
            let pid = i32::try_from(child.id()).unwrap();
            assert_eq!(found.pid(), is_server.then_some(pid), "{name}: {found:?}");
            if let Process::Runs { prefix, .. } = found {
                assert_eq!(prefix, None, "the same root, the same mounts");
            }
        }
    }
}
