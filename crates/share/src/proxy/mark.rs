//! Where the log of a proxy ends, kept apart from its database. A database that comes back from an older backup has forgotten opens and
//! revocations; by itself it cannot tell.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::log::LogHead;
use super::store;
use crate::ShareError;
use crate::files;

/// JSON of a number and a hash.
const BYTES_MAX: u64 = 1024;

#[derive(Debug)]
pub struct Mark {
    path: PathBuf,
    /// As it was set last.
    last: LogHead,
}

impl Mark {
    /// The mark at `path`, which is made for a database that has none yet.
    ///
    /// # Errors
    /// It lies beside the database, and would be restored with it; or the database is older than it.
    pub fn of(path: &Path, dir: &Path, connection: &Connection) -> Result<Self, ShareError> {
        let path_of = std::path::absolute(path).map_err(files::cannot("look at", path))?;
        let mut mark = Self { path: path_of, last: LogHead::START };
        let place = mark.path.parent().map(Path::canonicalize).transpose();
        let place = place.map_err(files::cannot("look at", path))?.unwrap_or_default();
        if place.starts_with(dir.canonicalize().map_err(files::cannot("look at", dir))?) {
            return Err(ShareError::usage(
                format!("the mark {} lies in the directory of the proxy", path.display()),
                "a backup that brings back the one would bring back the other",
                "give --mark a file elsewhere, that no backup of the proxy has",
            ));
        }
        let head =
            store::head(connection).map_err(|error| ShareError::internal("the log cannot be read", error))?;
        let Some(bytes) = files::read_small_if_there(&mark.path, BYTES_MAX)? else {
            mark.set(head, connection)?;
            return Ok(mark);
        };
        let marked: LogHead = serde_json::from_slice(&bytes).map_err(|error| {
            ShareError::usage(
                format!("{} is no mark of a proxy", path.display()),
                error,
                "give the file that --mark has made, or another name",
            )
        })?;
        let hash = store::hash_at(connection, marked.number)
            .map_err(|error| ShareError::internal("the log cannot be read", error))?;
        if hash == Some(marked.hash) {
            mark.last = marked;
            return Ok(mark);
        }
        Err(ShareError::refused(
            format!("the database of this proxy is not the one that {} marks", path.display()),
            format!(
                "its log ends with line {}, and line {} of it was seen: it comes from an older backup, and has forgotten opens or revocations",
                head.number, marked.number
            ),
            "bring back the newest database; or have the owner revoke and grant anew what this proxy holds, and start it with another --mark",
        ))
    }

    /// On the disk when it returns. A log that does not go on from where the mark is, is another database than a moment ago.
    pub fn set(&mut self, head: LogHead, connection: &Connection) -> Result<(), ShareError> {
        let hash = store::hash_at(connection, self.last.number)
            .map_err(|error| ShareError::internal("the log cannot be read", error))?;
        if hash != Some(self.last.hash) {
            return Err(ShareError::refused(
                "the database was replaced while this proxy runs",
                format!("line {} of its log was seen, and is not in it", self.last.number),
                "end this proxy, and bring back the newest database",
            ));
        }
        let bytes = serde_json::to_vec(&head)
            .map_err(|error| ShareError::internal("cannot write the mark", error))?;
        files::replace_small(&self.path, &bytes)?;
        self.last = head;
        Ok(())
    }
}
