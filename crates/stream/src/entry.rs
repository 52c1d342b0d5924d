//! One thing of a directory tree as it is announced, and what a receiver takes of it.
//!
//! ```text
//! kind u8 (1 directory, 2 file, 3 link, 4 file without holes) | mode u32 | uid u32 | gid u32 | mtime_s i64 | mtime_ns u32 | size u64 |
//! path length u16 | path | target length u16 | target
//! ```
//! All numbers are big-endian. Paths are bytes, relative to the root, with `/` between their parts. The first entry is the root
//! itself: a directory with an empty path.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// Source: limits.h, `PATH_MAX`, with its NUL.
pub const PATH_BYTES_MAX: usize = 4095;
/// Source: limits.h, `NAME_MAX`.
const NAME_BYTES_MAX: usize = 255;
const FIXED_BYTES: usize = 1 + 3 * 4 + 8 + 4 + 8;
pub const ENTRY_BYTES_MAX: usize = FIXED_BYTES + 2 * (2 + PATH_BYTES_MAX);
/// What a file may ask of the receiver before one byte of it has come, and of who hashes its holes. Source: the MySQL manual, "InnoDB
/// Limits": no tablespace is larger than 64 TB.
const SIZE_BYTES_MAX: u64 = 1 << 46;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Directory,
    File,
    Link,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub kind: Kind,
    /// A file without holes: its receiver makes room for all of it at once.
    pub is_dense: bool,
    /// Permissions and the sticky bit; set-user-ID and set-group-ID are not kept.
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub mtime_s: i64,
    pub mtime_ns: u32,
    /// Of a file.
    pub size_bytes: u64,
    pub path: PathBuf,
    /// Of a link.
    pub target: PathBuf,
}

impl Entry {
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(match self.kind {
            Kind::Directory => 1,
            Kind::File if self.is_dense => 4,
            Kind::File => 2,
            Kind::Link => 3,
        });
        for number in [self.mode, self.uid, self.gid] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        out.extend_from_slice(&self.mtime_s.to_be_bytes());
        out.extend_from_slice(&self.mtime_ns.to_be_bytes());
        out.extend_from_slice(&self.size_bytes.to_be_bytes());
        for path in [&self.path, &self.target] {
            let bytes = path.as_os_str().as_bytes();
            // A longer one was refused when the tree was walked.
            let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
            out.extend_from_slice(&length.to_be_bytes());
            out.extend_from_slice(bytes);
        }
    }

    /// The first entry in `bytes`, and what follows it.
    ///
    /// # Errors
    /// It is cut short, or is nothing that a receiver may make.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), String> {
        let cut = || "an entry is cut short".to_owned();
        let (fixed, mut rest) = bytes.split_first_chunk::<FIXED_BYTES>().ok_or_else(cut)?;
        let (kind, numbers) = fixed.split_first().ok_or_else(cut)?;
        let mut numbers = Numbers(numbers);
        let is_dense = *kind == 4;
        let kind = match kind {
            1 => Kind::Directory,
            2 | 4 => Kind::File,
            3 => Kind::Link,
            other => return Err(format!("an entry is of kind {other}")),
        };
        let (mode, uid, gid) = (numbers.u32(), numbers.u32(), numbers.u32());
        let mtime_s = numbers.u64().cast_signed();
        let (mtime_ns, size_bytes) = (numbers.u32(), numbers.u64());
        let mut text = || -> Result<PathBuf, String> {
            let (length, after) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
            let length = usize::from(u16::from_be_bytes(*length));
            if length > PATH_BYTES_MAX {
                return Err(format!("a path has {length} bytes"));
            }
            let (text, after) = after.split_at_checked(length).ok_or_else(cut)?;
            rest = after;
            Ok(PathBuf::from(OsStr::from_bytes(text)))
        };
        let (path, target) = (text()?, text()?);
        let entry = Self {
            kind,
            is_dense,
            mode: mode & 0o1777,
            uid,
            gid,
            mtime_s,
            mtime_ns,
            size_bytes,
            path,
            target,
        };
        entry.check()?;
        Ok((entry, rest))
    }

    /// Whether nothing of it has changed. How many blocks a file has may be decided long after it was written.
    pub fn is_same(&self, other: &Self) -> bool {
        Self { is_dense: other.is_dense, ..self.clone() } == *other
    }

    /// The directory that is copied: its owner, mode and time.
    pub fn is_root(&self) -> bool {
        self.kind == Kind::Directory && self.path.as_os_str().is_empty()
    }

    /// Whether it may be made below another root: nothing of it leads out.
    ///
    /// # Errors
    /// Why not.
    pub fn check(&self) -> Result<(), String> {
        let said = |what: &str| Err(format!("{what}: {}", self.path.display()));
        if !self.is_root() && !is_inside(&self.path) {
            return said("a path leads out of the directory, or is none");
        }
        if self.mtime_ns >= 1_000_000_000 {
            return said("a time has more than a second of nanoseconds");
        }
        match self.kind {
            Kind::File if self.size_bytes > SIZE_BYTES_MAX => said("a file is larger than a file can be"),
            Kind::Link if !link_stays_inside(&self.path, &self.target) => {
                said("a link leads out of the directory")
            }
            Kind::Link | Kind::File | Kind::Directory => Ok(()),
        }
    }
}

struct Numbers<'b>(&'b [u8]);

impl Numbers<'_> {
    /// The caller has as many bytes as it asks for.
    fn u32(&mut self) -> u32 {
        let Some((bytes, rest)) = self.0.split_first_chunk() else { return 0 };
        self.0 = rest;
        u32::from_be_bytes(*bytes)
    }

    fn u64(&mut self) -> u64 {
        let Some((bytes, rest)) = self.0.split_first_chunk() else { return 0 };
        self.0 = rest;
        u64::from_be_bytes(*bytes)
    }
}

/// A relative path of names only, as it is written: neither empty, nor with `.`, `..`, `//` or a NUL.
pub(crate) fn is_inside(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    bytes.len() <= PATH_BYTES_MAX
        && bytes.split(|byte| *byte == b'/').all(|name| {
            !matches!(name, b"" | b"." | b"..") && name.len() <= NAME_BYTES_MAX && !name.contains(&0)
        })
}

/// Whether what a link names is below the root, by its words alone.
fn link_stays_inside(path: &Path, target: &Path) -> bool {
    let bytes = target.as_os_str().as_bytes();
    if bytes.is_empty() || bytes.len() > PATH_BYTES_MAX || bytes.contains(&0) {
        return false;
    }
    let mut depth = path.components().count().saturating_sub(1);
    for part in target.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            // Behind a name that is a link itself, `..` would be somewhere else: only those at the beginning are known.
            Component::ParentDir => {
                let Some(up) = depth.checked_sub(1) else { return false };
                depth = up;
            }
            Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    let mut is_down = false;
    target.components().all(|part| match part {
        Component::Normal(_) => {
            is_down = true;
            true
        }
        Component::ParentDir => !is_down,
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    fn entry(kind: Kind, path: &str, target: &str) -> Entry {
        Entry {
            kind,
            is_dense: false,
            mode: 0o640,
            uid: 1,
            gid: 2,
            mtime_s: -3,
            mtime_ns: 4,
            size_bytes: 5,
            path: path.into(),
            target: target.into(),
        }
    }

    #[test]
    fn what_leads_out_is_refused() {
        for path in
            ["", "/a", "../a", "a/../b", "a/./b", "a//b", "a/", "a\0b", &"n".repeat(256), &"a/".repeat(3000)]
        {
            assert!(entry(Kind::File, path, "").check().is_err(), "{path:?}");
        }
        for path in ["a", "a/b", "...", "a b/ü", "-rf", "a\nb"] {
            assert_eq!(entry(Kind::File, path, "").check(), Ok(()), "{path:?}");
        }
        for target in ["", "/etc/passwd", "../../x", "../../../x", "x/../../../y", "x/../y"] {
            assert!(entry(Kind::Link, "d/l", target).check().is_err(), "{target:?}");
        }
        for target in ["x", "../x", "./x", "x/y"] {
            assert_eq!(entry(Kind::Link, "d/l", target).check(), Ok(()), "{target:?}");
        }
        assert!(entry(Kind::Link, "l", "../x").check().is_err());
    }

    proptest! {
        #[test]
        fn an_entry_is_read_as_it_was_written(
            path in "[a-z]{1,9}(/[a-z]{1,9}){0,3}", mode in 0u32..0o1000, size_bytes in 0u64..1 << 46, is_dense: bool, mtime_s: i64,
            cut in 0usize..60,
        ) {
            let one = Entry { is_dense, mode, mtime_s, size_bytes, ..entry(Kind::File, &path, "") };
            let mut bytes = vec![];
            one.encode(&mut bytes);
            one.encode(&mut bytes);
            let (read, rest) = Entry::parse(&bytes).unwrap();
            prop_assert_eq!(&read, &one);
            prop_assert_eq!(Entry::parse(rest).unwrap(), (one, &[][..]));
            prop_assert!(Entry::parse(rest.get(..cut.min(rest.len() - 1)).unwrap()).is_err());
        }

        #[test]
        fn no_bytes_make_it_panic_or_name_a_place_outside(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok((entry, _)) = Entry::parse(&bytes) {
                prop_assert!(entry.path.components().all(|part| matches!(part, Component::Normal(_))));
            }
        }
    }
}
