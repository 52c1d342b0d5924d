//! The files of a data directory.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use formats::binlog;
use formats::innodb::Family;
use nix::fcntl::OFlag;

use crate::DiskError;
use crate::kind::{self, Kind};

/// Databases, and what a server keeps in directories of its own, are one level deep; a backup tool adds some.
const DEPTH_MAX: usize = 8;
/// A file a table; servers with more than this were not seen.
const FILES_MAX: usize = 4_000_000;
const AUTO_CNF_BYTES_MAX: u64 = 4096;

/// Why a symbolic link is not read.
pub const LINK: &str = "a symbolic link; what it leads to was not read";

/// One file before it is read.
#[derive(Debug)]
pub struct Found {
    /// Below the data directory, printable.
    pub path: String,
    pub place: PathBuf,
    pub kind: Kind,
    pub bytes: u64,
    /// Why it is not read.
    pub unread: Option<String>,
    /// What names it, if it is not in the data directory.
    pub named_by: Option<String>,
}

/// All of them, by path. Symbolic links are not followed: what they lead to is not this directory.
pub fn walk(root: &Path) -> Result<Vec<Found>, DiskError> {
    let mut found = Vec::new();
    let mut open = vec![(root.to_owned(), 0_usize)];
    while let Some((dir, depth)) = open.pop() {
        let entries = match std::fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(why) if depth == 0 => return Err(DiskError::Unreadable { path: dir, why }),
            Err(why) => {
                found.push(unread(root, &dir, format!("the directory cannot be listed: {why}")));
                continue;
            }
        };
        for entry in entries {
            if found.len() >= FILES_MAX {
                return Err(DiskError::TooMany { path: root.to_owned(), max: FILES_MAX });
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(why) => {
                    found.push(unread(root, &dir, format!("the directory was not listed to its end: {why}")));
                    break;
                }
            };
            let place = entry.path();
            match entry.file_type() {
                Err(why) => found.push(unread(root, &place, format!("cannot be examined: {why}"))),
                Ok(kind) if kind.is_dir() && depth < DEPTH_MAX => open.push((place, depth + 1)),
                Ok(kind) if kind.is_dir() => found.push(unread(root, &place, "too deep".into())),
                Ok(kind) if kind.is_symlink() => {
                    found.push(unread(root, &place, LINK.into()));
                }
                Ok(kind) if kind.is_file() => found.push(file(root, place)),
                // A socket, a pipe: nothing is kept in it.
                Ok(_) => {
                    let path = below(root, &place);
                    found.push(Found {
                        path,
                        place,
                        kind: Kind::State,
                        bytes: 0,
                        unread: None,
                        named_by: None,
                    });
                }
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    let is_server = |one: &Found| one.kind.is_space() || one.kind == Kind::Redo;
    if !found.iter().any(is_server) {
        return Err(DiskError::NotADataDirectory { path: root.to_owned() });
    }
    Ok(found)
}

fn unread(root: &Path, place: &Path, why: String) -> Found {
    let path = below(root, place);
    let kind = kind::by_name(&path).unwrap_or(Kind::Other);
    Found { path, place: place.to_owned(), kind, bytes: 0, unread: Some(why), named_by: None }
}

fn file(root: &Path, place: PathBuf) -> Found {
    file_at(below(root, &place), place)
}

/// A file of that path below the data directory, which lies at `place`.
pub fn file_at(path: String, place: PathBuf) -> Found {
    let unread = |bytes, why: &std::io::Error| {
        let kind = kind::by_name(&path).unwrap_or(Kind::Other);
        let (path, place, unread) = (path.clone(), place.clone(), Some(cannot_read(why)));
        Found { path, place, kind, bytes, unread, named_by: None }
    };
    let bytes = match std::fs::symlink_metadata(&place) {
        Ok(facts) => facts.len(),
        Err(why) => return unread(0, &why),
    };
    let kind = match kind::by_name(&path) {
        Some(kind) if kind != Kind::State => kind,
        named => match start_of(&place) {
            Ok(start) if named.is_some() => kind::state(&path, bytes, &start),
            Ok(start) => kind::by_start(&path, &start),
            Err(why) => return unread(bytes, &why),
        },
    };
    Found { path, place, kind, bytes, unread: None, named_by: None }
}

/// For people: gone is another thing than forbidden.
pub fn cannot_read(why: &std::io::Error) -> String {
    match why.kind() {
        std::io::ErrorKind::NotFound => "it was removed while the directory was read".into(),
        _ => format!("it cannot be read: {why}"),
    }
}

fn start_of(place: &Path) -> std::io::Result<Vec<u8>> {
    let mut start = Vec::new();
    let mut file = open(place)?;
    file.by_ref().take(binlog::START_BYTES as u64).read_to_end(&mut start)?;
    if kind::has_pem(&start) {
        let left = kind::PEM_BYTES_MAX.saturating_sub(start.len());
        file.take(left as u64).read_to_end(&mut start)?;
    }
    Ok(start)
}

/// Reads only, waits for nobody at a pipe, and follows no link that was put in the file's place. What a process has
/// open without a name is only reached over the kernel's link to it.
pub fn open(place: &Path) -> std::io::Result<File> {
    let is_open_file = place.parent().is_some_and(|dir| dir.starts_with("/proc") && dir.ends_with("fd"));
    let no_link = if is_open_file { OFlag::empty() } else { OFlag::O_NOFOLLOW };
    let flags = OFlag::O_NONBLOCK | no_link;
    File::options().read(true).custom_flags(flags.bits()).open(place)
}

fn below(root: &Path, place: &Path) -> String {
    printable(place.strip_prefix(root).unwrap_or(place))
}

pub fn printable(path: &Path) -> String {
    let path = path.to_string_lossy();
    path.chars().map(|one| if one.is_control() { '?' } else { one }).collect()
}

/// Whose directory it is, by files that only one of them has.
pub fn family(found: &[Found]) -> Option<Family> {
    let has = |name: &str| found.iter().any(|one| one.path == name);
    let has_below = |name: &str| found.iter().any(|one| one.path.starts_with(name));
    let is_maria = has("aria_log_control")
        || has_below("aria_log.")
        || found.iter().any(|one| matches!(one.kind, Kind::AriaData | Kind::AriaIndex));
    // `auto.cnf` stays behind where a MySQL became a MariaDB.
    let is_mysql = has("mysql.ibd") || has_below("#innodb_redo/") || (has("auto.cnf") && !is_maria);
    match (is_maria, is_mysql) {
        (true, false) => Some(Family::MariaDb),
        (false, true) => Some(Family::MySql),
        _ => None,
    }
}

/// MySQL's own name of itself.
pub fn server_uuid(root: &Path) -> Option<String> {
    let mut text = String::new();
    open(&root.join("auto.cnf")).ok()?.take(AUTO_CNF_BYTES_MAX).read_to_string(&mut text).ok()?;
    let value = text.lines().find_map(|line| line.trim().strip_prefix("server-uuid"))?;
    Some(value.trim_start().strip_prefix('=')?.trim().to_owned())
}
