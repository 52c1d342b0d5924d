//! Files of a server that lie outside of its data directory, and those that it has open without a name.
//!
//! Which places these are is said by whoever asked the server; here they are listed and opened, as its process sees
//! them.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use formats::innodb::Family;
use serde::{Deserialize, Serialize};

use crate::DiskError;
use crate::kind::{self, Kind};
use crate::walk::{self, Found};

/// Where else a look goes.
#[derive(Debug, Clone, Default)]
pub struct Elsewhere {
    pub places: Vec<Place>,
    /// `/proc/PID/root` of the server's process, where it may see other files under the same paths.
    pub prefix: Option<PathBuf>,
    /// Why none of the places may be read: whether they are the server's is not known.
    pub unread: Option<String>,
    /// Links in the data directory lead where the server follows them (`DATA DIRECTORY` of MyISAM and Aria): it runs here
    /// and sees what we see.
    pub follows_links: bool,
    /// A process whose open files without a name are read too.
    pub process: Option<i32>,
    /// Only what was written since: what a server has not touched cannot hold what was given to it after that.
    pub since: Option<SystemTime>,
    /// Only these; none given: all.
    pub only: &'static [Kind],
}

/// The files of a data directory, and what `elsewhere` names; whose they are is told by all of the directory.
pub fn all(root: &Path, elsewhere: &Elsewhere) -> Result<(Vec<Found>, Option<Family>), DiskError> {
    let mut found = walk::walk(root)?;
    let family = walk::family(&found);
    if elsewhere.follows_links {
        found = follow(root, found);
    }
    name_known(&mut found, &elsewhere.places, elsewhere.prefix.as_deref());
    found.extend(walk(root, elsewhere));
    let named: Vec<Found> = found
        .iter()
        .filter(|one| is_link_of_table(one))
        .filter_map(|one| of_link(one, root, elsewhere))
        .collect();
    let known: BTreeSet<PathBuf> = found.iter().map(|one| one.place.clone()).collect();
    found.extend(named.into_iter().filter(|one| !known.contains(&one.place)));
    found.retain(|one| {
        (elsewhere.only.is_empty() || elsewhere.only.contains(&one.kind))
            && elsewhere.since.is_none_or(|since| may_be_newer(one, since))
    });
    Ok((found, family))
}

/// A file of the data directory that an option names is what that option says, whatever its name: `innodb_data_file_path=sys.dat:12M`.
fn name_known(found: &mut [Found], places: &[Place], prefix: Option<&Path>) {
    for place in places {
        let Takes::File(kind) = place.takes else { continue };
        let Ok(Ok(here)) = here(&place.path, prefix).map(|here| here.canonicalize()) else { continue };
        for one in found.iter_mut().filter(|one| one.kind == Kind::Other && one.unread.is_none()) {
            if one.place == here {
                one.kind = kind;
            }
        }
    }
}

/// Of a table with `DATA DIRECTORY`.
fn is_link_of_table(one: &Found) -> bool {
    one.kind == Kind::Definition
        && one.unread.is_none()
        && Path::new(&one.path).extension().is_some_and(|ending| ending == "isl")
}

/// The tablespace whose path is in such a file. The server is not asked: it may be stopped, and a table newer than its answer.
///
/// # Source
/// MariaDB manual, InnoDB: `.isl` files have the path of the tablespace.
fn of_link(link: &Found, root: &Path, elsewhere: &Elsewhere) -> Option<Found> {
    let unread = |why: String| {
        Some(Found {
            path: format!("what {} names", link.path),
            place: link.place.with_extension("ibd"),
            kind: Kind::Table,
            bytes: 0,
            unread: Some(why),
            named_by: Some(link.path.clone()),
        })
    };
    let mut text = String::new();
    let read = walk::open(&link.place).and_then(|file| file.take(ISL_BYTES_MAX).read_to_string(&mut text));
    if let Err(why) = read {
        return unread(walk::cannot_read(&why));
    }
    let path = root.join(text.trim_end_matches(['\r', '\n', '\0', ' ']));
    let place = match here(&path, elsewhere.prefix.as_deref()) {
        Ok(here) => here.canonicalize().unwrap_or(here),
        Err(why) => return unread(why),
    };
    if place.starts_with(root) {
        return None;
    }
    if let Some(why) = &elsewhere.unread {
        return unread(why.clone());
    }
    if !place.is_file() {
        return unread(format!("{} is not there", walk::printable(&path)));
    }
    let mut found = walk::file_at(walk::printable(&path), place);
    found.kind = Kind::Table;
    found.named_by = Some(link.path.clone());
    Some(found)
}

/// What cannot be told is kept. A file that a server writes through memory has the time of the last writeback; the first file of the system
/// tablespace says how its others are to be read.
fn may_be_newer(one: &Found, since: SystemTime) -> bool {
    matches!(one.kind, Kind::GaleraCache | Kind::System)
        || std::fs::metadata(&one.place)
            .and_then(|facts| facts.modified())
            .map_or(true, |modified| modified >= since)
}

/// One place that a server names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub path: PathBuf,
    pub takes: Takes,
    /// The variable, or the view, that names it.
    pub named_by: String,
}

/// Which files of a place are the server's: others may keep theirs in the same directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Takes {
    /// The file of this path.
    File(Kind),
    /// What is of these kinds by its name, in this directory.
    Kinds(Vec<Kind>),
    /// What is called as this path with a number behind it, or, of relay logs, the name of a channel and a number.
    Numbered(Kind),
    /// What servers call their temporary files, in this directory.
    Temporary,
    /// Dumps and archives, in this directory.
    Backups,
}

/// A path has at most 4096.
const ISL_BYTES_MAX: u64 = 8192;
/// Names of temporary files of both families: tables, pieces of `LOAD DATA`.
const TEMPORARY_NAMES: &[&str] = &["#sql", "SQL_LOAD"];
/// Where open files are listed; links there lead to them though they have no name.
const DELETED: &str = " (deleted)";

/// What lies below `root` is not listed again.
pub fn walk(root: &Path, elsewhere: &Elsewhere) -> Vec<Found> {
    let mut found = Vec::new();
    let mut known = BTreeSet::new();
    for place in &elsewhere.places {
        let listed = match &elsewhere.unread {
            // By its name it lies in the data directory, which was listed.
            Some(_) if place.path.starts_with(root) => Vec::new(),
            Some(why) => vec![unread(place, &place.path, why.clone())],
            None => listed(place, elsewhere.prefix.as_deref(), root),
        };
        // Two variables often name the same directory.
        found.extend(listed.into_iter().filter(|one| known.insert(one.path.clone())));
    }
    if let Some(pid) = elsewhere.process {
        found.extend(open_files(pid));
    }
    found
}

/// A link of the data directory, read as what it leads to. One that leads to no file, or back, stays as it is.
pub fn follow(root: &Path, found: Vec<Found>) -> Vec<Found> {
    let mut followed = Vec::with_capacity(found.len());
    for one in found {
        let target =
            (one.unread.as_deref() == Some(walk::LINK)).then(|| one.place.canonicalize().ok()).flatten();
        match target.filter(|target| !target.starts_with(root)) {
            Some(target) if target.is_dir() => followed.extend(linked_database(one, &target)),
            Some(target) if target.is_file() => followed.push(linked(&one.path, target)),
            _ => followed.push(one),
        }
    }
    followed
}

/// Of a database whose directory is a link.
fn linked_database(link: Found, target: &Path) -> Vec<Found> {
    let Ok(entries) = std::fs::read_dir(target) else { return vec![link] };
    let mut found = Vec::new();
    for entry in entries {
        let Ok(entry) = entry else {
            found.push(not_listed(&link));
            break;
        };
        let path = format!("{}/{}", link.path, entry.file_name().to_string_lossy());
        match entry.file_type() {
            Ok(kind) if kind.is_file() => found.push(linked(&path, entry.path())),
            // `DATA DIRECTORY` of MyISAM and Aria, once more.
            Ok(kind) if kind.is_symlink() => match entry.path().canonicalize() {
                Ok(target) if target.is_file() => found.push(linked(&path, target)),
                _ => found.push(unread_link(&path, entry.path(), walk::LINK.into())),
            },
            // No server makes a directory there.
            Ok(kind) if kind.is_dir() => {
                found.push(unread_link(
                    &path,
                    entry.path(),
                    "a directory in a linked one; it was not read".into(),
                ));
            }
            Ok(_) => {}
            Err(why) => found.push(unread_link(&path, entry.path(), walk::cannot_read(&why))),
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn not_listed(link: &Found) -> Found {
    unread_link(&link.path, link.place.clone(), "the directory was not listed to its end".into())
}

fn unread_link(path: &str, place: PathBuf, why: String) -> Found {
    let path = walk::printable(Path::new(path));
    let kind = kind::by_name(&path).unwrap_or(Kind::Other);
    Found { path, place, kind, bytes: 0, unread: Some(why), named_by: Some("a symbolic link".into()) }
}

fn linked(path: &str, target: PathBuf) -> Found {
    let mut found = walk::file_at(walk::printable(Path::new(path)), target);
    found.named_by = Some("a symbolic link".into());
    found
}

fn listed(place: &Place, prefix: Option<&Path>, root: &Path) -> Vec<Found> {
    let (dir, takes_dir) = match &place.takes {
        Takes::File(_) => (place.path.as_path(), false),
        Takes::Numbered(_) => (place.path.parent().unwrap_or(&place.path), false),
        Takes::Kinds(_) | Takes::Temporary | Takes::Backups => (place.path.as_path(), true),
    };
    let here = match here(dir, prefix) {
        Ok(here) => here,
        Err(why) => return vec![unread(place, dir, why)],
    };
    if let Takes::File(kind) = &place.takes {
        return file(place, dir, here, *kind, root).into_iter().collect();
    }
    if is_below(&here, root) && (takes_dir || here.canonicalize().is_ok_and(|here| here == *root)) {
        return Vec::new();
    }
    let entries = match std::fs::read_dir(&here) {
        Ok(entries) => entries,
        // What is not there holds nothing.
        Err(why) if why.kind() == ErrorKind::NotFound => return Vec::new(),
        Err(why) => return vec![unread(place, dir, format!("the directory cannot be listed: {why}"))],
    };
    let mut found = Vec::new();
    for entry in entries {
        let Ok(entry) = entry else {
            found.push(unread(place, dir, "the directory was not listed to its end".into()));
            break;
        };
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(kind) = taken(place, &name) else { continue };
        found.extend(file(place, &dir.join(&name), entry.path(), kind, root));
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// Which kind a file of that name is, if it is the server's.
fn taken(place: &Place, name: &str) -> Option<Kind> {
    match &place.takes {
        Takes::File(kind) => Some(*kind),
        Takes::Numbered(kind) => {
            let base = place.path.file_name()?.to_string_lossy();
            let (channel, number) = name.strip_prefix(&*base)?.rsplit_once('.')?;
            // Of a channel that has a name: `relay-east.000001`.
            let is_of_channel = *kind == Kind::RelayLog && channel.starts_with('-');
            let is_its = channel.is_empty() || is_of_channel;
            (is_its && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
                .then_some(*kind)
        }
        Takes::Kinds(kinds) => {
            let dir = place.path.file_name()?.to_string_lossy();
            let kind = kind::by_name(name).or_else(|| kind::by_name(&format!("{dir}/{name}")))?;
            kinds.contains(&kind).then_some(kind)
        }
        Takes::Temporary => TEMPORARY_NAMES
            .iter()
            .any(|start| name.starts_with(start))
            .then(|| kind::by_name(name).unwrap_or(Kind::TempFile)),
        Takes::Backups => (kind::by_name(name) == Some(Kind::Backup)).then_some(Kind::Backup),
    }
}

/// The place as it is reached from here.
fn here(path: &Path, prefix: Option<&Path>) -> Result<PathBuf, String> {
    let Some(prefix) = prefix else { return Ok(path.to_owned()) };
    let mut here = prefix.to_owned();
    for part in path.components() {
        if let Component::Normal(part) = part {
            here.push(part);
            // It would lead to a place of ours.
            if std::fs::symlink_metadata(&here).is_ok_and(|facts| facts.is_symlink()) {
                return Err(
                    "a symbolic link is on the way, and the server sees other files than sealion".into()
                );
            }
        }
    }
    Ok(here)
}

fn is_below(here: &Path, root: &Path) -> bool {
    here.canonicalize().is_ok_and(|here| here.starts_with(root))
}

fn file(place: &Place, path: &Path, here: PathBuf, kind: Kind, root: &Path) -> Option<Found> {
    // A file of the data directory was listed there, and also where a link leads to it.
    if here.parent().is_some_and(|dir| is_below(dir, root)) {
        return None;
    }
    let facts = match std::fs::metadata(&here) {
        Ok(facts) => facts,
        Err(why) if why.kind() == ErrorKind::NotFound => return None,
        Err(why) => return Some(unread(place, path, walk::cannot_read(&why))),
    };
    if !facts.is_file() {
        // A pipe, or /dev/null: nothing is kept there.
        return None;
    }
    let found = Found {
        path: walk::printable(path),
        // Logs are often links to another volume, and the server follows them.
        place: here.canonicalize().unwrap_or(here),
        kind,
        bytes: facts.len(),
        unread: None,
        named_by: Some(place.named_by.clone()),
    };
    Some(found)
}

fn unread(place: &Place, path: &Path, why: String) -> Found {
    let kind = match &place.takes {
        Takes::File(kind) | Takes::Numbered(kind) => *kind,
        Takes::Kinds(kinds) => kinds.first().copied().unwrap_or(Kind::Other),
        Takes::Temporary => Kind::TempFile,
        Takes::Backups => Kind::Backup,
    };
    Found {
        path: walk::printable(path),
        place: path.to_owned(),
        kind,
        bytes: 0,
        unread: Some(why),
        named_by: Some(place.named_by.clone()),
    }
}

/// Files that a process has open and that have no name any more, or never had one.
pub fn open_files(pid: i32) -> Vec<Found> {
    let dir = PathBuf::from(format!("/proc/{pid}/fd"));
    let named_by = Some("an open file".to_owned());
    let none = |why: String| Found {
        path: dir.display().to_string(),
        place: dir.clone(),
        kind: Kind::TempFile,
        bytes: 0,
        unread: Some(why),
        named_by: named_by.clone(),
    };
    let entries = match std::fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(why) if why.kind() == ErrorKind::NotFound => return Vec::new(),
        Err(why) => return vec![none(format!("the open files of the server cannot be listed: {why}"))],
    };
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let place = entry.path();
        // It may have been closed since.
        let (Ok(target), Ok(facts)) = (std::fs::read_link(&place), std::fs::metadata(&place)) else {
            continue;
        };
        let target = walk::printable(&target);
        if !is_nameless_file(&target, &facts) || !known.insert((facts.dev(), facts.ino())) {
            continue;
        }
        found.push(Found {
            path: format!("{}: {target}", place.display()),
            place,
            kind: Kind::TempFile,
            bytes: facts.len(),
            unread: None,
            named_by: named_by.clone(),
        });
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// Memory that is shared under a name (`/memfd:`, `/dev/zero`, `/SYSV…`, rings of io_uring) is no file of a disk.
fn is_nameless_file(target: &str, facts: &Metadata) -> bool {
    let is_memory =
        ["/memfd:", "/dev/", "/SYSV", "/[", "anon_inode:"].iter().any(|start| target.starts_with(start));
    target.ends_with(DELETED) && facts.is_file() && !is_memory
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::symlink;

    fn place(path: PathBuf, takes: Takes) -> Place {
        Place { path, takes, named_by: "a_variable".into() }
    }

    fn names(found: &[Found], dir: &Path) -> Vec<(String, Kind)> {
        let name = |one: &Found| Path::new(&one.path).strip_prefix(dir).unwrap().display().to_string();
        found.iter().map(|one| (name(one), one.kind)).collect()
    }

    #[test]
    fn of_a_shared_directory_only_the_servers_files_are_taken() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().canonicalize().unwrap();
        let root = dir.join("data");
        fs::create_dir(&root).unwrap();
        for name in [
            "undo_001",
            "letter.txt",
            "b.000001",
            "b.index",
            "bb.000001",
            "#sql-temptable-1.MAD",
            "a.sql",
            "ib_logfile0",
        ] {
            fs::write(dir.join(name), "x").unwrap();
        }
        fs::write(root.join("undo_002"), "x").unwrap();
        let of = |takes: Takes, path: &Path| {
            let elsewhere = Elsewhere { places: vec![place(path.to_owned(), takes)], ..Elsewhere::default() };
            walk(&root, &elsewhere)
        };
        assert_eq!(names(&of(Takes::Kinds(vec![Kind::Undo]), &dir), &dir), [("undo_001".into(), Kind::Undo)]);
        assert_eq!(
            names(&of(Takes::Numbered(Kind::Binlog), &dir.join("b")), &dir),
            [("b.000001".into(), Kind::Binlog)]
        );
        for name in ["r.000001", "r-east.000002", "r-a.b.000003", "r-east.info", "rest.000001"] {
            fs::write(dir.join(name), "x").unwrap();
        }
        let relay: Vec<String> = names(&of(Takes::Numbered(Kind::RelayLog), &dir.join("r")), &dir)
            .into_iter()
            .map(|one| one.0)
            .collect();
        assert_eq!(relay, ["r-a.b.000003", "r-east.000002", "r.000001"]);
        assert_eq!(
            names(&of(Takes::Temporary, &dir), &dir),
            [("#sql-temptable-1.MAD".into(), Kind::AriaData)]
        );
        assert_eq!(names(&of(Takes::Backups, &dir), &dir), [("a.sql".into(), Kind::Backup)]);
        assert_eq!(
            names(&of(Takes::File(Kind::TextLog), &dir.join("letter.txt")), &dir),
            [("letter.txt".into(), Kind::TextLog)]
        );
        // What is in the data directory was listed with it, also over a link.
        symlink(&root, dir.join("link")).unwrap();
        for path in [root.clone(), dir.join("link")] {
            assert_eq!(of(Takes::Kinds(vec![Kind::Undo]), &path).len(), 0);
            assert_eq!(of(Takes::File(Kind::Undo), &path.join("undo_002")).len(), 0);
        }
        assert_eq!(of(Takes::File(Kind::TextLog), &dir.join("nowhere")).len(), 0);
        assert_eq!(of(Takes::File(Kind::TextLog), Path::new("/dev/null")).len(), 0);
        // Both name it, and it is there once.
        let both = Elsewhere {
            places: vec![place(dir.clone(), Takes::Temporary), place(dir.clone(), Takes::Temporary)],
            ..Elsewhere::default()
        };
        assert_eq!(walk(&root, &both).len(), 1);
    }

    #[test]
    fn a_link_is_followed_where_the_server_follows_it() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().canonicalize().unwrap();
        let root = dir.join("data");
        for one in ["data", "volume"] {
            fs::create_dir(dir.join(one)).unwrap();
        }
        fs::write(dir.join("volume/t.MYD"), "rows").unwrap();
        symlink(dir.join("volume/t.MYD"), root.join("u.MYD")).unwrap();
        symlink(dir.join("volume"), root.join("d")).unwrap();
        symlink(dir.join("gone"), root.join("gone.ibd")).unwrap();
        fs::write(root.join("ibdata1"), "").unwrap();
        // A table with `DATA DIRECTORY` in a database that is a link itself.
        fs::write(dir.join("a.MAD"), "row").unwrap();
        symlink(dir.join("a.MAD"), dir.join("volume/a.MAD")).unwrap();
        symlink(dir.join("gone"), dir.join("volume/b.MAD")).unwrap();
        fs::create_dir(dir.join("volume/sub")).unwrap();
        let found = follow(&root, walk::walk(&root).unwrap());
        let told: Vec<_> =
            found.iter().map(|one| (one.path.as_str(), one.bytes, one.unread.is_none())).collect();
        assert_eq!(
            told,
            [
                ("d/a.MAD", 3, true),
                ("d/b.MAD", 0, false),
                ("d/sub", 0, false),
                ("d/t.MYD", 4, true),
                ("gone.ibd", 0, false),
                ("ibdata1", 0, true),
                ("u.MYD", 4, true)
            ]
        );
        assert_eq!(
            (found[0].kind, found[1].kind, found[3].kind),
            (Kind::AriaData, Kind::AriaData, Kind::MyIsam)
        );
    }

    #[test]
    fn a_link_of_another_root_is_not_followed_in_ours() {
        let home = tempfile::tempdir().unwrap();
        let prefix = home.path().canonicalize().unwrap();
        fs::create_dir(prefix.join("logs")).unwrap();
        fs::write(prefix.join("logs/general.log"), "x").unwrap();
        symlink("/etc", prefix.join("elsewhere")).unwrap();
        let walked = |path: &str| {
            let elsewhere = Elsewhere {
                places: vec![place(path.into(), Takes::File(Kind::TextLog))],
                prefix: Some(prefix.clone()),
                ..Elsewhere::default()
            };
            walk(&prefix.join("data"), &elsewhere)
        };
        let [log] = &walked("/logs/general.log")[..] else { panic!() };
        assert_eq!((log.path.as_str(), log.place.starts_with(&prefix)), ("/logs/general.log", true));
        let [link] = &walked("/elsewhere/passwd")[..] else { panic!() };
        assert!(link.unread.as_ref().unwrap().contains("symbolic link"), "{link:?}");
    }

    #[test]
    fn an_open_file_without_a_name_is_found_and_read() {
        let mut nameless = tempfile::tempfile().unwrap();
        nameless.write_all(&b"a row, ".repeat(1000)).unwrap();
        let pid = i32::try_from(std::process::id()).unwrap();
        let found = open_files(pid);
        let ours = found.iter().find(|one| one.bytes == 7000).unwrap_or_else(|| panic!("{found:#?}"));
        assert_eq!(ours.kind, Kind::TempFile);
        let mut start = [0; 5];
        std::io::Read::read_exact(&mut walk::open(&ours.place).unwrap(), &mut start).unwrap();
        assert_eq!(&start, b"a row");
    }
}
