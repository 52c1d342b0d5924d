//! Where a lab's files are.

use std::fs::File;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use nix::fcntl::{FcntlArg, FdFlag, Flock, FlockArg, OFlag, fcntl};
use site::OpsError;
use site::servers::internal;

/// Where the files of a lab are, for nobody else. They go with this; what a killed sealion left behind goes when the next one makes
/// its own.
pub struct Home {
    dir: tempfile::TempDir,
    /// On the directory. Servers of the lab inherit it: it is held while one of them lives.
    _lock: Flock<File>,
}

const HOME_PREFIX: &str = "sealion-bench-";

/// Written once the lock is held: a directory without it is just being made, or not ours.
const HOME_MARK: &str = "sealion-lab";

impl Home {
    /// # Errors
    /// Where no directory can be made.
    pub fn make() -> Result<Self, OpsError> {
        let no_room = || internal("cannot create a directory for the servers of the lab");
        remove_abandoned(&std::env::temp_dir());
        let dir = tempfile::Builder::new()
            .prefix(HOME_PREFIX)
            .permissions(std::fs::Permissions::from_mode(0o700))
            .tempdir()
            .map_err(no_room())?;
        let opened = open_directory(dir.path()).map_err(no_room())?;
        fcntl(&opened, FcntlArg::F_SETFD(FdFlag::empty())).map_err(|errno| no_room()(errno.into()))?;
        let lock =
            Flock::lock(opened, FlockArg::LockExclusive).map_err(|(_, errno)| no_room()(errno.into()))?;
        std::fs::write(dir.path().join(HOME_MARK), "").map_err(no_room())?;
        Ok(Self { dir, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

fn open_directory(path: &Path) -> std::io::Result<File> {
    let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW;
    File::options().read(true).custom_flags(flags.bits()).open(path)
}

/// Directories of labs of this account whose processes are gone.
fn remove_abandoned(place: &Path) {
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(HOME_PREFIX) {
            continue;
        }
        let Ok(opened) = open_directory(&entry.path()) else { continue };
        let is_ours = opened.metadata().is_ok_and(|found| found.uid() == nix::unistd::geteuid().as_raw());
        if !is_ours {
            continue;
        }
        if let Ok(_dead) = Flock::lock(opened, FlockArg::LockExclusiveNonblock)
            && entry.path().join(HOME_MARK).symlink_metadata().is_ok_and(|found| found.is_file())
        {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn what_a_killed_one_left_behind_is_removed_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let dir = |name: &str, is_marked: bool| {
            let dir = place.path().join(name);
            std::fs::create_dir(&dir).unwrap();
            if is_marked {
                std::fs::write(dir.join(HOME_MARK), "").unwrap();
            }
            dir
        };
        let (dead, alive) = (dir("sealion-bench-dead", true), dir("sealion-bench-alive", true));
        let (young, other) = (dir("sealion-bench-young", false), dir("other", true));
        let fifo = dir("sealion-bench-fifo", false);
        nix::unistd::mkfifo(&fifo.join(HOME_MARK), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let link = place.path().join("sealion-bench-link");
        std::os::unix::fs::symlink(&other, &link).unwrap();
        let _held = Flock::lock(open_directory(&alive).unwrap(), FlockArg::LockExclusive).unwrap();
        remove_abandoned(place.path());
        let found = [&dead, &alive, &young, &other, &fifo, &link].map(|dir| dir.exists());
        assert_eq!(found, [false, true, true, true, true, true]);
    }

    #[test]
    fn a_home_is_for_nobody_else_and_its_children_hold_it() {
        let home = Home::make().unwrap();
        let path = home.path().to_owned();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o700);
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let Home { dir, _lock: lock } = home;
        // As when sealion is killed: nobody unlocks.
        std::mem::forget(lock);
        let kept = dir.keep();
        let is_free = || Flock::lock(open_directory(&kept).unwrap(), FlockArg::LockExclusiveNonblock).is_ok();
        assert!(!is_free());
        child.kill().unwrap();
        child.wait().unwrap();
        std::fs::remove_dir_all(&kept).unwrap();
    }
}
