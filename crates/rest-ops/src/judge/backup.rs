//! `KEYRING.backup` of MySQL: what the server makes of it at its next start. No I/O.
//!
//! # Source
//! MySQL 9.7, `components/keyrings/common/data_file/reader.cc`: a backup with any bytes is written over the keyring unread, then removed;
//! an empty one is only removed. One that the server cannot open is ignored.

use super::{FileLook, FileState, Found, Seen};
use crate::groups::{self, Group};
use crate::material::{Keys, NoKeys};

const SHOWN_MAX: usize = 3;

/// A backup next to a keyring.
#[derive(Debug)]
pub struct BackupLook {
    pub file: FileLook,
    /// `None`: it could not be read.
    pub keys: Option<Result<Keys, NoKeys>>,
    /// `None`: one of the two could not be read.
    pub is_same_bytes: Option<bool>,
}

/// What the next start changes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum AtStart {
    /// The server ignores it, or what it restores is what is there.
    Nothing(&'static str),
    /// The backup has every key that is of use in the keyring: the restore is right.
    Restores(&'static str),
    /// Keys of these names exist only in the keyring.
    Loses(Vec<String>),
    /// The backup is no keyring, and replaces one.
    Damages(String),
    Unknown(String),
}

fn at_start(seen: &Seen<'_>, backup: &BackupLook) -> AtStart {
    match &backup.file.state {
        FileState::Absent => return AtStart::Nothing("it is gone"),
        FileState::NotByServer(_) => {
            return AtStart::Nothing("the server's user cannot read it, so it is ignored");
        }
        FileState::Unknown(why) => return AtStart::Unknown(why.clone()),
        FileState::There => {}
    }
    if backup.is_same_bytes == Some(true) {
        return AtStart::Nothing("both files are the same");
    }
    let of_backup = match &backup.keys {
        None => return AtStart::Unknown("it could not be read".into()),
        Some(Err(NoKeys::Empty)) => return AtStart::Nothing("it is empty, so the server only removes it"),
        Some(Err(NoKeys::OtherFormat)) => {
            return AtStart::Unknown(
                "its keys are in the format of the plugin keyring_file, which is not read".into(),
            );
        }
        Some(Err(NoKeys::Damaged(why))) => return AtStart::Damages(why.clone()),
        Some(Err(NoKeys::NotOpened | NoKeys::NoPass)) => return AtStart::Unknown("it is encrypted".into()),
        Some(Ok(keys)) => keys,
    };
    let of_keyring = match (seen.keys, seen.key_file.as_ref().map(|file| &file.state)) {
        (Some(Ok(keys)), _) => keys,
        (Some(Err(NoKeys::Empty)), _) | (None, Some(FileState::Absent)) => {
            return AtStart::Restores("the keyring has no keys, and the backup has them");
        }
        (Some(Err(NoKeys::Damaged(_))), _) if of_backup.is_empty() => {
            return AtStart::Damages("it has no keys, and the damaged keyring may have some".into());
        }
        (Some(Err(NoKeys::Damaged(_))), _) => {
            return AtStart::Restores("the keyring is damaged, and the backup has keys");
        }
        _ => return AtStart::Unknown("the keyring could not be read".into()),
    };
    let by_backup = groups::groups(seen.needs, Some(of_backup), &[]);
    let opens = |name: &str| by_backup.iter().any(|group| group.name == name && group.opens());
    let uuid = seen.needs.server_uuid.as_deref();
    let is_foreign = |name: &str| {
        let of_innodb = name.strip_prefix("INNODBKey-");
        of_innodb.zip(uuid).is_some_and(|(rest, uuid)| !rest.starts_with(uuid))
    };
    let is_lost = |name: &&str| match of_backup.get(name) {
        Some(key) => of_keyring.get(name) != Some(key) && !opens(name),
        None => !is_foreign(name),
    };
    let lost: Vec<String> = of_keyring.names().filter(is_lost).map(str::to_owned).collect();
    if lost.is_empty() {
        AtStart::Restores("the backup has every key of the keyring that this server can use")
    } else {
        AtStart::Loses(lost)
    }
}

impl Group {
    fn opens(&self) -> bool {
        matches!(self.fit, Some(crate::attempt::Fit::Opens(_)))
    }
}

/// Names what the next start destroys. Returns the keys that the server has after it, where these are the backup's and rightly so.
pub(super) fn of_backup<'a>(
    seen: &'a Seen<'_>,
    found: &mut Found<'_>,
    notes: &mut Vec<String>,
    unknown: &mut Vec<String>,
) -> Option<&'a Keys> {
    let backup = seen.backup.as_ref().filter(|backup| backup.file.state != FileState::Absent)?;
    let shown = backup.file.path.display();
    let keyring = seen.key_file.as_ref().map_or_else(String::new, |file| file.path.display().to_string());
    let what = match at_start(seen, backup) {
        AtStart::Nothing(why) => {
            notes.push(format!("{shown} is left on disk and changes nothing at the next start: {why}"));
            return None;
        }
        AtStart::Restores(why) => {
            notes.push(format!(
                "at its next start the server copies {shown} over {keyring} and removes it, rightly: {why}"
            ));
            return backup.keys.as_ref()?.as_ref().ok();
        }
        AtStart::Unknown(why) => {
            unknown.push(format!(
                "whether {shown} is older than {keyring}: {why}. The server copies it over the keyring at its next start: copy both files \
                 to a safe place before that"
            ));
            return None;
        }
        AtStart::Loses(names) => {
            let more = match names.len().saturating_sub(SHOWN_MAX) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let named = names.iter().take(SHOWN_MAX).cloned().collect::<Vec<_>>().join(", ");
            format!("the backup lacks keys of the keyring: {named}{more}")
        }
        AtStart::Damages(why) => format!("the backup is not a keyring: {why}"),
    };
    found.add_with(
        STALE_BACKUP,
        format!("{shown} replaces the keyring at the next start of the server, and its keys are lost"),
        format!("{what}. MySQL copies the backup over {keyring} when it starts, then removes the backup; it does not compare them"),
        "nothing is lost yet; after the next start, the keys that only the keyring has",
        format!(
            "do not start or restart the server. Copy {keyring} and {shown} to a safe place, move {shown} to another directory, then run \
             sealion diagnose again"
        ),
    );
    None
}

pub(super) const STALE_BACKUP: &str = "stale_backup";
pub(super) const NO_START: &str = "starting or restarting the server while the keyring's backup is next to it: the backup replaces the keyring";
