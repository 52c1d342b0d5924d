//! Whether a copy is whole: names, sizes and checksums of all files.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use openssl::sha::Sha256;

const PIECE_BYTES: usize = 1 << 20;

/// What a file is compared by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSum {
    pub bytes: u64,
    sha256: [u8; 32],
}

/// By their paths below a directory.
pub type Listing = BTreeMap<PathBuf, FileSum>;

/// # Errors
/// A file or a directory that cannot be read, or is neither.
pub fn of(dir: &Path) -> io::Result<Listing> {
    paths(dir)?.into_iter().map(|path| sum(&dir.join(&path)).map(|sum| (path, sum))).collect()
}

/// Of all files together, by their sizes alone.
///
/// # Errors
/// As [`of`].
pub fn bytes(dir: &Path) -> io::Result<u64> {
    paths(dir)?.iter().map(|path| fs::metadata(dir.join(path)).map(|found| found.len())).sum()
}

/// How often a file has a text.
///
/// # Errors
/// It cannot be read.
pub fn count(path: &Path, text: &str) -> io::Result<u64> {
    let bytes = fs::read(path)?;
    Ok(memchr::memmem::find_iter(&bytes, text).count() as u64)
}

/// The first thing in which a copy is not its source. Files that need not match have to be there all the same.
pub fn difference(from: &Listing, into: &Listing, must_match: &dyn Fn(&Path) -> bool) -> Option<String> {
    let name = |path: &Path| wire::printable(&path.display().to_string());
    for (path, source) in from {
        let Some(copy) = into.get(path) else { return Some(format!("{} is missing", name(path))) };
        if !must_match(path) || copy == source {
            continue;
        }
        return Some(if copy.bytes == source.bytes {
            format!("{} has other bytes than its source", name(path))
        } else {
            format!("{} has {} bytes, its source {}", name(path), copy.bytes, source.bytes)
        });
    }
    let other = into.keys().find(|path| !from.contains_key(*path))?;
    Some(format!("{} is not in the source", name(other)))
}

fn paths(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut found, mut waiting) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(below) = waiting.pop() {
        for entry in fs::read_dir(dir.join(&below))? {
            let entry = entry?;
            let path = below.join(entry.file_name());
            let kind = entry.file_type()?;
            if kind.is_dir() {
                waiting.push(path);
            } else if kind.is_file() {
                found.push(path);
            } else {
                return Err(io::Error::other(format!("{} is not a file", path.display())));
            }
        }
    }
    Ok(found)
}

fn sum(path: &Path) -> io::Result<FileSum> {
    let (mut file, mut sha, mut bytes) = (File::open(path)?, Sha256::new(), 0);
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let count = match file.read(&mut piece) {
            Ok(0) => return Ok(FileSum { bytes, sha256: sha.finish() }),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        sha.update(piece.get(..count).unwrap_or_default());
        bytes += count as u64;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_copy_differs_in_is_found_and_named() {
        let place = tempfile::tempdir().unwrap();
        let made = |name: &str| {
            let dir = place.path().join(name);
            fs::create_dir_all(dir.join("a/b")).unwrap();
            fs::write(dir.join("a/b/t1.ibd"), vec![7; 2 * PIECE_BYTES + 1]).unwrap();
            fs::write(dir.join("ibdata1"), "system").unwrap();
            dir
        };
        let (from, into) = (made("from"), made("into"));
        let compared = |must_match: &dyn Fn(&Path) -> bool| {
            difference(&of(&from).unwrap(), &of(&into).unwrap(), must_match)
        };
        assert_eq!(compared(&|_| true), None);
        assert_eq!(bytes(&into).unwrap(), 2 * PIECE_BYTES as u64 + 7);
        // One byte, at the end.
        let mut damaged = vec![7; 2 * PIECE_BYTES + 1];
        *damaged.last_mut().unwrap() = 8;
        fs::write(into.join("a/b/t1.ibd"), &damaged).unwrap();
        assert_eq!(compared(&|_| true).unwrap(), "a/b/t1.ibd has other bytes than its source");
        assert_eq!(compared(&|path| !path.starts_with("a")), None);
        damaged.pop();
        fs::write(into.join("a/b/t1.ibd"), &damaged).unwrap();
        assert!(compared(&|_| true).unwrap().contains("its source 2097153"));
        fs::remove_file(into.join("a/b/t1.ibd")).unwrap();
        // Also where its bytes would not matter.
        assert_eq!(compared(&|_| false).unwrap(), "a/b/t1.ibd is missing");
        made("into");
        fs::write(into.join("a/more"), "").unwrap();
        assert_eq!(compared(&|_| false).unwrap(), "a/more is not in the source");
        std::os::unix::fs::symlink("more", into.join("a/link")).unwrap();
        assert!(of(&into).is_err());
    }
}
