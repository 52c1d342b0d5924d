//! Header backups: made, synced, read back and compared, each with its SHA-256 beside it, as `sha256sum --check` takes it. And those
//! that lie there already, since a header backup opens with the keys of its day.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use formats::luks::{Header, Parsed};
use openssl::sha::Sha256;

use super::cryptsetup::{Command, Cryptsetup, Volume, header_at};

/// cryptsetup backs up 16 MiB of LUKS2, and 2 of LUKS1; a LUKS2 header can be made 128 MiB large.
const BACKUP_BYTES_MAX: u64 = 256 << 20;
/// A directory with more files is none of backups.
const FILES_MAX: usize = 10_000;
const DEPTH_MAX: u32 = 8;

/// `NAME.sha256`.
pub fn sum_of(backup: &Path) -> PathBuf {
    let mut name = backup.as_os_str().to_owned();
    name.push(".sha256");
    name.into()
}

fn sha256(path: &Path) -> Result<String, String> {
    let fail = |error: io::Error| format!("{} cannot be read: {error}", path.display());
    let mut file = File::open(path).map_err(fail)?.take(BACKUP_BYTES_MAX);
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).map_err(fail)? {
            0 => break,
            count => hash.update(buffer.get(..count).unwrap_or_default()),
        }
    }
    Ok(model::hex(&hash.finish()))
}

fn sync_dir(dir: &Path) -> Result<(), String> {
    File::open(dir)
        .and_then(|dir| dir.sync_all())
        .map_err(|error| format!("{} cannot be synced: {error}", dir.display()))
}

/// What a backup holds, if it is whole: its bytes have the SHA-256 that was noted, and its header is of this volume. `None`: it is not
/// there, or was not finished.
///
/// # Errors
/// It is there and is another, or that cannot be told.
pub fn whole(backup: &Path, uuid: &str) -> Result<Option<Header>, String> {
    let note = match fs::read_to_string(sum_of(backup)) {
        Ok(note) => note,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("{} cannot be read: {error}", sum_of(backup).display())),
    };
    match fs::symlink_metadata(backup) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        _ => {}
    }
    let noted = note.split_ascii_whitespace().next().unwrap_or_default();
    let found = sha256(backup)?;
    if noted != found {
        return Err(format!(
            "{} is not as it was written: its SHA-256 is {found}, noted was {noted}",
            backup.display()
        ));
    }
    let header = header_at(backup)?;
    if header.uuid == uuid {
        Ok(Some(header))
    } else {
        Err(format!("{} is of another volume: its UUID is {}", backup.display(), header.uuid))
    }
}

/// Makes a backup, unless a whole one is there. Returns its SHA-256.
///
/// # Errors
/// It could not be made, or what was read back is not what the header says.
pub fn make(tool: &mut dyn Cryptsetup, volume: &Volume, uuid: &str, backup: &Path) -> Result<String, String> {
    if whole(backup, uuid)?.is_some() {
        return sha256(backup);
    }
    let dir = backup.parent().unwrap_or(Path::new("/"));
    let mut part = backup.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let fail = |what: &str, path: &Path| {
        let text = format!("{what} {}", path.display());
        move |error: io::Error| format!("{text}: {error}")
    };
    // Of an attempt that was cut short; and a backup without its note, which nobody has checked.
    for left in [&part, backup] {
        match fs::remove_file(left) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(fail("cannot remove", left)(error)),
        }
    }
    let ended = tool.run(&Command::BackUp { volume, to: &part })?;
    if ended.code != Some(0) {
        return Err(format!("cryptsetup did not write a header backup ({})", ended.said.trim()));
    }
    let file = File::open(&part).map_err(fail("cannot read", &part))?;
    file.set_permissions(Permissions::from_mode(0o400)).map_err(fail("cannot set the mode of", &part))?;
    file.sync_all().map_err(fail("cannot sync", &part))?;
    drop(file);
    let (kept, now) = (header_at(&part)?, volume.read()?);
    let slots = |header: &Header| header.slots.clone();
    if kept.uuid != uuid || slots(&kept) != slots(&now) || kept.digests != now.digests {
        return Err(format!("the header backup {} does not hold what the header says", part.display()));
    }
    let sum = sha256(&part)?;
    fs::rename(&part, backup).map_err(fail("cannot name", backup))?;
    sync_dir(dir)?;
    let name = backup.file_name().unwrap_or_default().to_string_lossy();
    let note = sum_of(backup);
    let mut note_part = note.as_os_str().to_owned();
    note_part.push(".part");
    let note_part = PathBuf::from(note_part);
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&note_part)
        .and_then(|mut file| {
            file.write_all(format!("{sum}  {name}\n").as_bytes())?;
            file.sync_all()
        })
        .map_err(fail("cannot write", &note_part))?;
    fs::rename(&note_part, &note).map_err(fail("cannot name", &note))?;
    sync_dir(dir)?;
    if whole(backup, uuid)?.is_none() {
        return Err(format!("the header backup {} was removed while it was made", backup.display()));
    }
    Ok(sum)
}

/// Header backups that lie somewhere.
#[derive(Debug, Default)]
pub struct Older {
    pub found: Vec<(PathBuf, Header)>,
    /// What could not be looked at, and why.
    pub not_read: Vec<String>,
}

/// Header backups of this volume in a directory and below it: of its UUID, or of its key, since a UUID can be changed.
pub fn older(dir: &Path, now: &Header) -> Older {
    let is_of_it = |header: &Header| {
        let has = |mark: &[u8]| now.digests.iter().any(|digest| !mark.is_empty() && digest.mark == mark);
        header.uuid == now.uuid || header.digests.iter().any(|digest| has(&digest.mark))
    };
    let mut older = Older::default();
    let (mut open, mut seen) = (vec![(dir.to_owned(), 0)], 0);
    while let Some((dir, depth)) = open.pop() {
        let entries = match fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) => {
                older.not_read.push(format!("{}: {error}", dir.display()));
                continue;
            }
        };
        for entry in entries {
            seen += 1;
            if seen > FILES_MAX {
                older.not_read.push(format!("more than {FILES_MAX} files: the rest of {}", dir.display()));
                return sorted(older);
            }
            let entry = match entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))) {
                Ok(entry) => entry,
                Err(error) => {
                    older.not_read.push(format!("{}: {error}", dir.display()));
                    continue;
                }
            };
            match entry {
                (path, kind) if kind.is_dir() && depth < DEPTH_MAX => open.push((path, depth + 1)),
                (path, kind) if kind.is_dir() => {
                    older.not_read.push(format!("{}: it lies too deep", path.display()));
                }
                (path, kind) if kind.is_file() || kind.is_symlink() => match disk::luks_file::header(&path) {
                    Ok(Parsed::Header(header)) if is_of_it(&header) => older.found.push((path, *header)),
                    Ok(Parsed::Unclear(why)) => older.not_read.push(format!("{}: {why}", path.display())),
                    Ok(_) => {}
                    Err(error) => older.not_read.push(format!("{}: {error}", path.display())),
                },
                _ => {}
            }
        }
    }
    sorted(older)
}

fn sorted(mut older: Older) -> Older {
    older.found.sort_by(|(one, _), (other, _)| one.cmp(other));
    older.not_read.sort();
    older
}
