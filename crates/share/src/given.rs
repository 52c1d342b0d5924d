//! What proxies have given to a reader and counted, kept beside the reader's keys until enough others came: sealed to the reader, as it was given.
//! It serves until the date of its grant.

use std::path::{Path, PathBuf};

use crate::grant::GrantId;
use crate::{ShareError, b64, files};

const GIVEN: &str = "given";
/// A fragment has some 400.
const BYTES_MAX: u64 = 4096;

#[derive(Debug)]
pub struct Given {
    dir: PathBuf,
    /// Of the grant, and of the archive where a grant is for several.
    name: String,
    is_over: bool,
}

impl Given {
    pub fn new(keys: &Path, grant: &GrantId, archive: &[u8], until_unix_s: i64) -> Self {
        let name = format!("{}.{}", grant.hex(), b64::hex(archive));
        Self { dir: keys.join(GIVEN), name, is_over: crate::now_unix_s() > until_unix_s }
    }

    fn path_of(&self, at: usize) -> PathBuf {
        self.dir.join(format!("{}.{at}", self.name))
    }

    /// Of the proxy at this place. One that cannot be read is asked for again.
    pub fn kept(&self, at: usize) -> Option<Vec<u8>> {
        files::read_small_if_there(&self.path_of(at), BYTES_MAX).ok().flatten().filter(|_| !self.is_over)
    }

    /// Why it is not kept, where the keys lie on a medium that is not written: it serves all the same, this time.
    ///
    /// # Errors
    /// It is not kept.
    pub fn keep(&self, at: usize, bytes: &[u8]) -> Result<(), ShareError> {
        files::make_private_dir(&self.dir)?;
        files::replace_small(&self.path_of(at), bytes)
    }

    /// The archive is open: an open that was counted is one open.
    pub fn forget(&self, count: usize) {
        for at in 0..count {
            // One that stays opens nothing that is not open already.
            let _ = std::fs::remove_file(self.path_of(at));
        }
    }
}
