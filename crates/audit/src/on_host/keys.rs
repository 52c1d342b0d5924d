//! Files with keys for data at rest.

use disk::key_place::KeyPlace;
use model::{Value, facts};

use super::{HostQuestion, list};
use crate::asking::Asking;
use crate::beside::Found;

pub const QUESTION: HostQuestion = HostQuestion {
    name: "files with keys",
    facts: &[&facts::rest::KEY_FILE_OPEN, &facts::rest::KEY_WITH_DATA],
    ask,
};

/// The group must not write; others nothing. A group that reads is how root keeps it from the server: `root:mysql 0640`.
const MASK: u32 = 0o027;

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
    let place = with_data(asking, found);
    asking.note_of_host(&facts::rest::KEY_WITH_DATA, place, "findmnt -T FILE; findmnt -T DATADIR; lsblk -s");
}

/// Whether all that gives the keys is on a disk of the data.
fn with_data(asking: &Asking<'_>, found: &Found<'_>) -> Value {
    let files = match &asking.key_files {
        Err(why) => return Value::Unknown(why.clone()),
        Ok(files) if files.is_empty() => return Value::Absent,
        Ok(files) => files,
    };
    let needed: Vec<&std::path::Path> = files.iter().map(std::path::PathBuf::as_path).collect();
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
