//! cryptsetup itself.
//!
//! Keys go to it by descriptors of files that exist in memory only (memfd). A descriptor is inheritable for as long as it takes to
//! start the program, and no other one of sealion's is started meanwhile.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use nix::fcntl::Flock;

use super::cryptsetup::{Command, Cryptsetup, Ended, Key, NO_TOKEN};

/// Argon2 with 4 GiB takes some seconds; a benchmark before it some more.
const RUN_MAX: Duration = Duration::from_secs(300);
const POLL: Duration = Duration::from_millis(10);
/// It prints a few lines; a pipe holds more than that.
const SAID_BYTES_MAX: u64 = 16 << 10;

static STARTING: Mutex<()> = Mutex::new(());

/// The program, and a lock that what it starts holds as long as it lives: killed, sealion leaves a command that goes on to its end.
#[derive(Debug)]
pub struct Program {
    path: PathBuf,
    lock: Option<Flock<File>>,
}

impl Program {
    /// # Errors
    /// There is no such program.
    pub fn find() -> Result<Self, String> {
        use host::ReadHost;
        // It is in /usr/sbin, which is not in everybody's PATH.
        for name in ["cryptsetup", "/usr/sbin/cryptsetup", "/sbin/cryptsetup"] {
            match host::Local.program_of(name) {
                Ok(Some(path)) => return Ok(Self { path, lock: None }),
                Ok(None) => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        Err("cryptsetup is not installed (Debian, Ubuntu: apt-get install cryptsetup-bin)".into())
    }

    /// What it starts inherits `lock`.
    #[must_use]
    pub fn holding(self, lock: Flock<File>) -> Self {
        Self { lock: Some(lock), ..self }
    }

    fn start(&self, arguments: &[String], keys: &[&OwnedFd]) -> Result<Child, String> {
        use nix::fcntl::{FcntlArg, FdFlag, fcntl};
        let guard = STARTING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let inherited: Vec<&dyn std::os::fd::AsFd> = keys
            .iter()
            .map(|key| *key as &dyn std::os::fd::AsFd)
            .chain(self.lock.iter().map(|lock| &**lock as &dyn std::os::fd::AsFd))
            .collect();
        let set = |flag: FdFlag| {
            inherited.iter().try_for_each(|fd| fcntl(fd.as_fd(), FcntlArg::F_SETFD(flag)).map(|_| ()))
        };
        let started = set(FdFlag::empty()).map_err(std::io::Error::from).and_then(|()| {
            std::process::Command::new(&self.path)
                .args(arguments)
                .env_clear()
                .env("LC_ALL", "C")
                .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
        });
        // Also where it was not started.
        let closed = set(FdFlag::FD_CLOEXEC);
        drop(guard);
        closed.map_err(|errno| format!("a key could not be kept from other programs: {errno}"))?;
        started.map_err(|error| format!("{} cannot be run: {error}", self.path.display()))
    }
}

/// A key as a file that has no name.
fn handed(key: &Key) -> Result<OwnedFd, String> {
    use nix::sys::memfd::{MFdFlags, memfd_create};
    let fail = |error: std::io::Error| format!("a key cannot be handed to cryptsetup: {error}");
    let fd = memfd_create("key", MFdFlags::MFD_CLOEXEC).map_err(|errno| fail(errno.into()))?;
    let mut file = File::from(fd);
    file.write_all(key.bytes()).and_then(|()| file.rewind()).map_err(fail)?;
    Ok(file.into())
}

fn at(fd: &OwnedFd) -> String {
    format!("/dev/fd/{}", fd.as_raw_fd())
}

fn place(path: &Path) -> Result<String, String> {
    let text = path.to_str().ok_or_else(|| format!("the name {} is no UTF-8", path.display()))?;
    if path.is_absolute() { Ok(text.to_owned()) } else { Err(format!("{text} is no absolute path")) }
}

/// The arguments, and the keys that they name. Without --batch-mode, which takes a key for granted where it can.
fn arguments(command: &Command<'_>) -> Result<(Vec<String>, Vec<OwnedFd>), String> {
    let mut words: Vec<String> = vec!["--verbose".into()];
    let mut keys = Vec::new();
    let mut add = |all: &[&str]| words.extend(all.iter().map(|&word| word.to_owned()));
    let volume = match command {
        Command::Test { volume, slot, key, .. } => {
            let fd = handed(key)?;
            let slot = slot.to_string();
            add(&[
                "open",
                "--test-passphrase",
                "--token-type",
                NO_TOKEN,
                "--key-slot",
                &slot,
                "--key-file",
                &at(&fd),
            ]);
            keys.push(fd);
            volume
        }
        Command::Add { volume, slot, with, kdf, .. } => {
            let fd = handed(with)?;
            add(&["luksAddKey", "--key-slot", &slot.to_string(), "--key-file", &at(&fd)]);
            if let Some(pbkdf) = &kdf.pbkdf {
                add(&["--pbkdf", pbkdf]);
            }
            if let Some(count) = kdf.force_iterations {
                add(&["--pbkdf-force-iterations", &count.to_string()]);
            }
            keys.push(fd);
            volume
        }
        Command::Remove { volume, with, .. } => {
            let fd = handed(with)?;
            add(&["luksKillSlot", "--key-file", &at(&fd)]);
            keys.push(fd);
            volume
        }
        Command::Load { volume } => {
            add(&["luksUUID"]);
            volume
        }
        Command::BackUp { volume, to } => {
            add(&["luksHeaderBackup", "--header-backup-file", &place(to)?]);
            volume
        }
    };
    let header = match command {
        Command::Test { header: Some(header), .. } => Some(*header),
        _ => volume.header.as_deref(),
    };
    if let Some(header) = header {
        add(&["--header", &place(header)?]);
    }
    add(&["--", &place(&volume.device)?]);
    match command {
        Command::Add { new, .. } => {
            let fd = handed(new)?;
            add(&[&at(&fd)]);
            keys.push(fd);
        }
        Command::Remove { slot, .. } => add(&[&slot.to_string()]),
        Command::Test { .. } | Command::Load { .. } | Command::BackUp { .. } => {}
    }
    Ok((words, keys))
}

impl Cryptsetup for Program {
    fn run(&mut self, command: &Command<'_>) -> Result<Ended, String> {
        let (words, keys) = arguments(command)?;
        let mut child = self.start(&words, &keys.iter().collect::<Vec<_>>())?;
        let end = Instant::now() + RUN_MAX;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if Instant::now() < end => std::thread::sleep(POLL),
                Ok(None) | Err(_) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    break None;
                }
            }
        };
        let mut said = String::new();
        let mut read = |pipe: Option<&mut dyn Read>| {
            let mut bytes = Vec::new();
            if let Some(pipe) = pipe {
                let _ = pipe.take(SAID_BYTES_MAX).read_to_end(&mut bytes);
            }
            said.push_str(&String::from_utf8_lossy(&bytes));
        };
        read(child.stdout.as_mut().map(|pipe| pipe as &mut dyn Read));
        read(child.stderr.as_mut().map(|pipe| pipe as &mut dyn Read));
        Ok(Ended { code: status.and_then(|status| status.code()), said })
    }
}

#[cfg(test)]
mod tests {
    use super::super::cryptsetup::{KdfWish, Volume};
    use super::*;

    #[test]
    fn no_key_is_an_argument_and_no_command_takes_one_for_granted() {
        let dir = tempfile::tempdir().expect("tmp");
        let key = |text: &str| {
            let path = dir.path().join(text);
            std::fs::write(&path, text).expect("writable");
            Key::read(&path).expect("a key")
        };
        let (old, new) = (key("old secret"), key("new secret"));
        let volume = Volume { device: "/dev/sdb1".into(), header: Some("/root/header".into()) };
        let kdf = KdfWish { pbkdf: Some("argon2id".into()), force_iterations: None };
        let (volume, backup) = (&volume, Path::new("/root/backup"));
        let commands = [
            Command::Test { volume, header: None, slot: 3, key: &old },
            Command::Test { volume, header: Some(backup), slot: 3, key: &old },
            Command::Add { volume, slot: 4, with: &old, new: &new, kdf: &kdf },
            Command::Remove { volume, slot: 3, with: &new },
            Command::BackUp { volume, to: backup },
            Command::Load { volume },
        ];
        let mut lines = Vec::new();
        for command in &commands {
            let (words, keys) = arguments(command).expect("whole paths");
            let mut line = words.join(" ");
            assert!(!line.contains("secret") && !line.contains("batch") && !line.contains(" -q"), "{line}");
            for (at, fd) in keys.iter().enumerate() {
                let mut text = String::new();
                File::open(super::at(fd)).and_then(|mut file| file.read_to_string(&mut text)).expect("ours");
                assert!(text.ends_with(" secret"), "{text}");
                line = line.replace(&super::at(fd), &format!("KEY{at}"));
            }
            lines.push(line);
        }
        assert_eq!(
            lines,
            [
                "--verbose open --test-passphrase --token-type sealion-none --key-slot 3 --key-file KEY0 --header /root/header -- /dev/sdb1",
                "--verbose open --test-passphrase --token-type sealion-none --key-slot 3 --key-file KEY0 --header /root/backup -- /dev/sdb1",
                "--verbose luksAddKey --key-slot 4 --key-file KEY0 --pbkdf argon2id --header /root/header -- /dev/sdb1 KEY1",
                "--verbose luksKillSlot --key-file KEY0 --header /root/header -- /dev/sdb1 3",
                "--verbose luksHeaderBackup --header-backup-file /root/backup --header /root/header -- /dev/sdb1",
                "--verbose luksUUID --header /root/header -- /dev/sdb1",
            ]
        );
        let relative = Volume { device: "image".into(), header: None };
        assert!(arguments(&Command::Load { volume: &relative }).is_err());
    }
}
