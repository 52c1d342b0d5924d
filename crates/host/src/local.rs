//! The machine that sealion runs on.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::unistd::{AccessFlags, Gid, Uid, access, chown};

use crate::{FileFacts, HostError, ProcessFacts, ReadHost, WriteHost};

/// Of what a command prints, this much is kept for an error text.
const SAID_BYTES_MAX: usize = 2000;

#[derive(Debug, Clone, Copy, Default)]
pub struct Local;

fn fail(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> HostError {
    let path = path.to_owned();
    move |source| HostError::File { what, path, source }
}

/// `NotFound` is an answer, not an error.
fn maybe<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

impl ReadHost for Local {
    fn read(&self, path: &Path, bytes_max: u64) -> Result<Option<Vec<u8>>, HostError> {
        let Some(file) = maybe(File::open(path)).map_err(fail("cannot read", path))? else { return Ok(None) };
        let mut bytes = Vec::new();
        file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(fail("cannot read", path))?;
        if bytes.len() as u64 > bytes_max {
            let source = io::Error::other(format!("it is larger than {bytes_max} bytes"));
            return Err(HostError::File { what: "will not read", path: path.to_owned(), source });
        }
        Ok(Some(bytes))
    }

    fn facts(&self, path: &Path) -> Result<Option<FileFacts>, HostError> {
        let seen = maybe(fs::metadata(path)).map_err(fail("cannot look at", path))?;
        Ok(seen.map(|seen| FileFacts {
            uid: seen.uid(),
            gid: seen.gid(),
            mode: seen.mode() & 0o7777,
            bytes: seen.len(),
            is_dir: seen.is_dir(),
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

    fn process(&self, pid: i32) -> Option<ProcessFacts> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // Field 2 is the program's name in parentheses and may hold spaces; 3 is the state, 22 the start time.
        let rest = stat.rsplit_once(')')?.1;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        if matches!(fields.first(), Some(&"Z" | &"X")) {
            return None;
        }
        let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let command_line = line
            .split(|&byte| byte == 0)
            .filter(|word| !word.is_empty())
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect();
        let uid = fs::metadata(format!("/proc/{pid}")).ok()?.uid();
        Some(ProcessFacts { pid, uid, command_line, start_ticks: fields.get(19)?.parse().ok()? })
    }

    fn free_bytes(&self, path: &Path) -> Result<u64, HostError> {
        let seen = nix::sys::statvfs::statvfs(path)
            .map_err(|errno| fail("cannot see the free space of", path)(errno.into()))?;
        Ok(seen.blocks_available() * seen.fragment_size())
    }

    fn writable(&self, dir: &Path) -> bool {
        access(dir, AccessFlags::W_OK | AccessFlags::X_OK).is_ok()
    }
}

impl WriteHost for Local {
    fn write(
        &self,
        path: &Path,
        bytes: &[u8],
        mode: Option<u32>,
        owner: Option<(u32, u32)>,
    ) -> Result<(), HostError> {
        let before = self.facts(path)?;
        let mode = mode.or(before.map(|facts| facts.mode)).unwrap_or(0o600);
        let owner = owner.or(before.map(|facts| (facts.uid, facts.gid)));
        let dir = path.parent().unwrap_or(Path::new("/"));
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // A dot file: `!includedir` reads *.cnf only, and this name ends otherwise.
        let temp = dir.join(format!(".{name}.sealion-{}", std::process::id()));
        let written = (|| {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temp)?;
            if let Some((uid, gid)) = owner {
                let same = fs::metadata(&temp)?;
                if (same.uid(), same.gid()) != (uid, gid) {
                    chown(&temp, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?;
                }
            }
            file.set_permissions(Permissions::from_mode(mode))?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&temp, path)?;
            File::open(dir)?.sync_all()
        })();
        if written.is_err() {
            let _ = fs::remove_file(&temp);
        }
        written.map_err(fail("cannot write", path))
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
        fs::create_dir_all(dir).map_err(fail("cannot make the directory", dir))?;
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

    fn remove_dir(&self, dir: &Path) -> Result<(), HostError> {
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
        let words = command.join(" ");
        let failed = |how: String, said: &str| HostError::Command {
            command: words.clone(),
            how,
            said: said.trim().chars().take(SAID_BYTES_MAX).collect(),
        };
        let (program, args) = command.split_first().ok_or_else(|| failed("is empty".into(), ""))?;
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed(format!("cannot be run ({error})"), ""))?;
        let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
        let out = std::thread::spawn(move || slurp(out.as_mut()));
        let err = std::thread::spawn(move || slurp(err.as_mut()));
        let deadline = Instant::now() + timeout;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if Instant::now() > deadline => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(failed(format!("took longer than {} s", timeout.as_secs()), ""));
                }
                Ok(None) => std::thread::sleep(Duration::from_millis(10)),
                Err(error) => return Err(failed(format!("cannot be waited for ({error})"), "")),
            }
        };
        let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
        if status.success() { Ok(out) } else { Err(failed(format!("ended with {status}"), &err)) }
    }
}

fn slurp(from: Option<&mut impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        let _ = from.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_command_that_fails_says_what_it_said() {
        let words = ["sh", "-c", "echo no luck >&2; exit 3"].map(String::from);
        let error = Local.run(&words, Duration::from_secs(5)).expect_err("exit 3").to_string();
        assert!(error.contains("exit status: 3") && error.contains("no luck"), "{error}");
    }

    #[test]
    fn the_own_process_is_known_by_start_time_and_a_dead_one_is_not_there() {
        let me = Local.process(i32::try_from(std::process::id()).expect("pid")).expect("running");
        assert!(me.start_ticks > 0 && !me.command_line.is_empty());
        assert_eq!(Local.process(i32::MAX), None);
    }
}
