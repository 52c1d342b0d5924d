//! Files with keys for data at rest.

use model::{Value, facts};

use super::{HostQuestion, list};
use crate::asking::Asking;
use crate::beside::Found;

pub const QUESTION: HostQuestion =
    HostQuestion { name: "files with keys", facts: &[&facts::rest::KEY_FILE_OPEN], ask };

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
}
