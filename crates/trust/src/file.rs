//! Writing a file so that every reader, at any moment and after a power cut, sees the old one or the new one, whole.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use openssl::rand::rand_bytes;

use crate::inspect::hex;

/// Random bytes in the name of the temporary file: enough that two writers never meet.
const NAME_RANDOM_BYTES: usize = 8;

/// Why a file could not be read or written. The old file, if any, is untouched unless the text says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system refused.
    #[error(
        "cannot {doing} {}\n  why:  {cause}\n  next: check the path, the rights of this user and the free space",
        path.display()
    )]
    Io {
        /// What was tried: `read`, `write`, `rename` …
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's answer.
        #[source]
        cause: io::Error,
    },
    /// The path names no file.
    #[error("{} names no file\n  why:  it has no last part to write to\n  next: give the path of a file", path.display())]
    NoFileName {
        /// The path.
        path: PathBuf,
    },
    /// The new file is in place, but a power cut now could bring back the old one.
    #[error(
        "{} is written, but perhaps not on the disk yet\n  why:  its directory could not be synced: {cause}\n  next: write it again",
        path.display()
    )]
    NotDurable {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        #[source]
        cause: io::Error,
    },
}

impl FileError {
    pub(crate) fn io(doing: &'static str, path: &Path, cause: io::Error) -> Self {
        FileError::Io { doing, path: path.to_owned(), cause }
    }
}

/// Replaces or creates a file in one step.
///
/// A temporary file beside it gets owner and `mode` (permission bits, independent of the umask) while it is still empty,
/// then the bytes, is synced and renamed over the target, and the directory is synced. `owner` is user and group id;
/// `None` leaves those of this process. A symbolic link is followed, so that the link stays. On an error the temporary
/// file is removed; only a kill can leave one, named `.NAME.sealion-HEX`.
///
/// # Errors
/// [`FileError`]; the target is then as it was, except for [`FileError::NotDurable`].
pub fn write_atomically(
    path: &Path,
    bytes: &[u8],
    mode: u32,
    owner: Option<(u32, u32)>,
) -> Result<(), FileError> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    let target = if is_link {
        fs::canonicalize(path).map_err(|cause| FileError::io("follow the link", path, cause))?
    } else {
        path.to_owned()
    };
    let no_name = || FileError::NoFileName { path: path.to_owned() };
    let name = target.file_name().ok_or_else(no_name)?;
    let dir = match target.parent() {
        Some(dir) if dir.as_os_str().is_empty() => Path::new("."),
        Some(dir) => dir,
        None => return Err(no_name()),
    };

    let mut random = [0; NAME_RANDOM_BYTES];
    rand_bytes(&mut random)
        .map_err(|error| FileError::io("name a file beside", path, io::Error::other(error)))?;
    let mut temporary_name = OsString::from(".");
    temporary_name.push(name);
    temporary_name.push(format!(".sealion-{}", hex(&random)));
    let temporary = dir.join(temporary_name);

    let failed = |doing| {
        let temporary = temporary.clone();
        move |cause| FileError::Io { doing, path: temporary, cause }
    };
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&temporary)
        .map_err(failed("create"))?;
    let mut guard = Temporary { path: &temporary, is_renamed: false };
    if let Some((user, group)) = owner {
        fchown(&file, Some(user), Some(group)).map_err(failed("change the owner of"))?;
    }
    file.set_permissions(Permissions::from_mode(mode & 0o7777)).map_err(failed("change the mode of"))?;
    file.write_all(bytes).map_err(failed("write"))?;
    file.sync_all().map_err(failed("sync"))?;
    drop(file);
    fs::rename(&temporary, &target).map_err(|cause| FileError::io("replace", &target, cause))?;
    guard.is_renamed = true;
    File::open(dir)
        .and_then(|dir| dir.sync_all())
        .map_err(|cause| FileError::NotDurable { path: target.clone(), cause })
}

/// Removes the temporary file unless it became the target.
struct Temporary<'a> {
    path: &'a Path,
    is_renamed: bool,
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.is_renamed {
            // Nothing better can be done here, and the error that led here is the one to report.
            let _ = fs::remove_file(self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;

    fn names(dir: &Path) -> Vec<OsString> {
        let mut names: Vec<OsString> =
            fs::read_dir(dir).expect("is ours").map(|entry| entry.expect("is ours").file_name()).collect();
        names.sort();
        names
    }

    #[test]
    fn replaces_the_file_with_the_mode_asked_for_and_leaves_nothing_else() {
        let dir = tempfile::tempdir().expect("a directory can be made");
        let path = dir.path().join("key.pem");
        for (bytes, mode) in [(&b"old"[..], 0o600), (b"new", 0o640), (b"", 0o666)] {
            write_atomically(&path, bytes, mode, None).expect("can be written");
            assert_eq!(fs::read(&path).expect("is there"), bytes);
            assert_eq!(fs::metadata(&path).expect("is there").mode() & 0o7777, mode);
        }
        assert_eq!(names(dir.path()), ["key.pem"]);
    }

    #[test]
    fn gives_the_file_to_its_owner() {
        let dir = tempfile::tempdir().expect("a directory can be made");
        let me = fs::metadata(dir.path()).expect("is there");
        // Only root may give files away; anybody else can test with himself.
        let owner = if me.uid() == 0 { (12_345, 54_321) } else { (me.uid(), me.gid()) };
        let path = dir.path().join("key.pem");
        write_atomically(&path, b"x", 0o640, Some(owner)).expect("can be written");
        let file = fs::metadata(&path).expect("is there");
        assert_eq!((file.uid(), file.gid(), file.mode() & 0o7777), (owner.0, owner.1, 0o640));
    }

    #[test]
    fn keeps_a_symbolic_link_and_writes_behind_it() {
        let dir = tempfile::tempdir().expect("a directory can be made");
        let real = dir.path().join("mariadb.cnf");
        let link = dir.path().join("my.cnf");
        fs::write(&real, "old").expect("is ours");
        symlink("mariadb.cnf", &link).expect("is ours");
        write_atomically(&link, b"new", 0o644, None).expect("can be written");
        assert!(fs::symlink_metadata(&link).expect("is there").is_symlink());
        assert_eq!(fs::read(&real).expect("is there"), b"new");
    }

    #[test]
    fn an_error_leaves_no_temporary_file_and_the_target_as_it_was() {
        let dir = tempfile::tempdir().expect("a directory can be made");
        let path = dir.path().join("in-the-way");
        fs::create_dir(&path).expect("is ours");
        let error = write_atomically(&path, b"x", 0o600, None).expect_err("a directory is in the way");
        assert!(error.to_string().contains("\n  why:  "), "{error}");
        assert_eq!(names(dir.path()), ["in-the-way"]);
        assert!(matches!(
            write_atomically(Path::new("/"), b"", 0o600, None),
            Err(FileError::NoFileName { .. })
        ));
        let missing = dir.path().join("no/such/dir");
        assert!(matches!(
            write_atomically(&missing, b"", 0o600, None),
            Err(FileError::Io { doing: "create", .. })
        ));
    }
}
