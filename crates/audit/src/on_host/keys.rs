//! Files with keys for data at rest.

use std::path::{Path, PathBuf};

use disk::key_place::KeyPlace;
use model::{Value, facts};
use server::Flavour;
use zeroize::Zeroizing;

use super::{HostQuestion, list};
use crate::asking::Asking;
use crate::beside::{Found, one_line};

pub const QUESTION: HostQuestion = HostQuestion {
    name: "files with keys",
    facts: &[&facts::rest::KEY_FILE_OPEN, &facts::rest::KEY_WITH_DATA, &facts::rest::KEYRING_BACKUP],
    ask,
};

/// The group must not write; others nothing. A group that reads is how root keeps it from the server: `root:mysql 0640`.
const MASK: u32 = 0o027;
const KEYRING_BYTES_MAX: u64 = 1 << 20;

fn ask(asking: &mut Asking<'_>, found: &Found<'_>) {
    let value = match asking.key_files.clone() {
        Err(why) => Value::Unknown(why),
        Ok(files) => {
            let (mut open, mut unknown) = (Vec::new(), Vec::new());
            for path in files {
                match found.facts(&path) {
                    Ok(Some(of)) if of.mode & MASK != 0 => {
                        open.push(format!("{} has mode {:04o}", path.display(), of.mode));
                    }
                    Ok(_) => {}
                    Err(why) => unknown.push(why),
                }
            }
            list(&open, &unknown)
        }
    };
    asking.note_of_host(&facts::rest::KEY_FILE_OPEN, value, "stat FILE");
    if asking.capabilities.flavour != Flavour::MariaDb {
        asking.note_of_host(
            &facts::rest::KEYRING_BACKUP,
            backups(asking, found),
            "cmp KEYRING KEYRING.backup",
        );
    }
    let place = with_data(asking, found);
    asking.note_of_host(&facts::rest::KEY_WITH_DATA, place, "findmnt -T FILE; findmnt -T DATADIR; lsblk -s");
}

/// Backups next to keyrings that are not the same. Which of two has more keys is not judged here.
fn backups(asking: &Asking<'_>, found: &Found<'_>) -> Value {
    let files = match &asking.key_files {
        Err(why) => return Value::Unknown(why.clone()),
        Ok(files) => files,
    };
    let read = |path: &Path| {
        let bytes = found.host().read(path, KEYRING_BYTES_MAX).map_err(one_line)?;
        Ok::<_, String>(bytes.map(Zeroizing::new))
    };
    let (mut other, mut unknown) = (Vec::new(), Vec::new());
    for keyring in files {
        let mut backup = keyring.clone().into_os_string();
        backup.push(".backup");
        let backup = Path::new(&backup);
        match read(backup) {
            // The server only removes an empty one.
            Ok(bytes) if bytes.as_ref().is_none_or(|bytes| bytes.is_empty()) => {}
            Ok(bytes) => match read(keyring) {
                Ok(same) if same == bytes => {}
                Ok(_) => other.push(format!("{} replaces the keyring at the next start", backup.display())),
                Err(why) => unknown.push(why),
            },
            Err(why) => unknown.push(why),
        }
    }
    list(&other, &unknown)
}

/// Whether all that gives the keys is on a disk of the data.
fn with_data(asking: &Asking<'_>, found: &Found<'_>) -> Value {
    let files = match &asking.key_files {
        Err(why) => return Value::Unknown(why.clone()),
        Ok(files) if files.is_empty() => return Value::Absent,
        Ok(files) => files,
    };
    let needed: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let names = || needed.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" and ");
    let place = disk::key_place::of(&*found.host().tree(), found.datadir(), &needed);
    let inline = asking.view.variable("file_key_management_filekey").unwrap_or_default();
    if place.is_with_data() && !inline.is_empty() && !inline.starts_with("FILE:") {
        return Value::Unknown(format!(
            "{} is {place}, and its passphrase is in an option file, whose disk is not checked",
            names()
        ));
    }
    match place {
        KeyPlace::Encrypted | KeyPlace::Elsewhere => Value::Absent,
        KeyPlace::Unknown(_) => Value::Unknown(format!("{}: {place}", names())),
        KeyPlace::SameFileSystem | KeyPlace::SameDisk(_) => Value::Text(format!("{}: {place}", names())),
    }
}
