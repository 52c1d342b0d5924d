//! What the files of a data directory really hold: every page of every tablespace is read and counted, without a key
//! and whether or not the server runs.
//!
//! Start with [`look`]. [`kind`] knows files by name and first bytes, [`pages`] reads one, [`tally`] adds up. This
//! crate asks no server: what SQL says of the same files is laid beside it elsewhere. A file that is not known is
//! [`Verdict::Unknown`], and so is one that could not be read; nothing is left out.

pub mod key_place;
pub mod kind;
pub mod luks_file;
pub mod luks_weakness;
pub mod needle;
pub mod needs;
mod pages;
mod places;
pub mod stack;
pub mod tally;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod walk;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

pub use formats::innodb::Family;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use kind::Kind;
pub use needs::{AriaNeed, LogNeed, Needs, RedoNeed, SpaceNeed, needs};
pub use places::{Elsewhere, Place, Takes};
pub use tally::{KeyUse, Tally, Verdict};
pub use walk::LINK;

#[derive(Debug, Error)]
pub enum DiskError {
    #[error("cannot list {}: {why}", path.display())]
    Unreadable { path: PathBuf, why: std::io::Error },
    #[error("{} is not a data directory of MySQL or MariaDB: it has no tablespace and no redo log", path.display())]
    NotADataDirectory { path: PathBuf },
    #[error("{} has more than {max} files", path.display())]
    TooMany { path: PathBuf, max: usize },
}

/// What is counted in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// InnoDB's and Aria's, with their size in the file.
    Page { bytes: usize },
    /// Of MySQL's redo log.
    Block { bytes: usize },
    /// The file tells for all of itself, by its header or its kind.
    File,
}

/// One file of the directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artefact {
    /// Below the data directory, or absolute, printable.
    pub path: String,
    /// What names it, if it is not in the data directory.
    pub named_by: Option<String>,
    pub kind: Kind,
    pub bytes: u64,
    pub unit: Unit,
    pub tally: Tally,
    pub verdict: Verdict,
    /// Of tablespaces.
    pub space_id: Option<u32>,
    /// What the header claims, for people.
    pub claim: Option<String>,
    /// It was there and could not be read, in whole or in part.
    pub is_unread: bool,
    /// What lies below it, where no server encrypts it and its device can.
    #[serde(default)]
    pub lies_on: Option<stack::Coverage>,
}

impl Artefact {
    /// What no setting of this server encrypts: in words, with what helps. Nothing of a file that holds nothing.
    pub fn never_encrypted(&self) -> Option<(&'static str, &'static str)> {
        if self.bytes == 0 {
            None
        } else if self.verdict == Verdict::Never && !self.kind.cure().is_empty() {
            Some((self.kind.word(), self.kind.cure()))
        } else {
            (self.tally.with_rest > 0).then_some((kind::REST, kind::LUKS))
        }
    }

    /// What lies below it encrypts it, or it is on no disk. That helps nobody whose keys or backups lie there: who may read the file has them.
    pub fn is_covered(&self) -> bool {
        use kind::Kind::{Backup, Core, KeyFile, PrivateKey};
        matches!(self.lies_on, Some(stack::Coverage::Encrypted | stack::Coverage::Memory))
            && !matches!(self.kind, Backup | Core | KeyFile | PrivateKey)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataDirectory {
    /// As it is without symbolic links.
    pub root: PathBuf,
    #[serde(with = "family")]
    pub family: Option<Family>,
    /// Of MySQL, from `auto.cnf`.
    pub server_uuid: Option<String>,
    /// By path.
    pub artefacts: Vec<Artefact>,
    /// Of files that are read page by page.
    pub read_bytes: u64,
    /// Of the same files: holes, whose zeros need no reading.
    pub hole_bytes: u64,
}

/// In words: `formats` has no serde.
mod family {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Family;

    #[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde hands it so")]
    pub fn serialize<S: Serializer>(family: &Option<Family>, to: S) -> Result<S::Ok, S::Error> {
        family.map(|family| if family == Family::MariaDb { "mariadb" } else { "mysql" }).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Family>, D::Error> {
        Ok(match Option::<String>::deserialize(from)?.as_deref() {
            Some("mariadb") => Some(Family::MariaDb),
            Some("mysql") => Some(Family::MySql),
            _ => None,
        })
    }
}

/// How far a look is, for whoever shows it.
#[derive(Debug, Default)]
#[expect(clippy::struct_field_names, reason = "each is in bytes, and its unit stands last")]
pub struct Progress {
    read_bytes: AtomicU64,
    hole_bytes: AtomicU64,
    all_bytes: AtomicU64,
}

impl Progress {
    /// As another look says, which goes on elsewhere.
    pub fn set(&self, read_bytes: u64, all_bytes: u64) {
        self.read_bytes.store(read_bytes, Ordering::Relaxed);
        self.all_bytes.store(all_bytes, Ordering::Relaxed);
    }

    fn add_read(&self, bytes: u64) {
        self.read_bytes.fetch_add(bytes, Ordering::Relaxed);
    }
    pub fn read_bytes(&self) -> u64 {
        self.read_bytes.load(Ordering::Relaxed)
    }
    /// What was not read, because it lies in a hole of a file.
    pub fn hole_bytes(&self) -> u64 {
        self.hole_bytes.load(Ordering::Relaxed)
    }
    /// What is to be read page by page, without the holes that were found so far: of other files the head is enough.
    /// Zero until all heads are read.
    pub fn all_bytes(&self) -> u64 {
        self.all_bytes.load(Ordering::Relaxed).saturating_sub(self.hole_bytes())
    }
}

/// Reads the data directory `root`. Memory does not grow with the size of files, only with their number.
///
/// # Errors
/// The directory itself cannot be listed, or it is none of a server. Whatever stands in it and cannot be read is an
/// artefact whose verdict is unknown.
pub fn look(root: &Path, progress: &Progress) -> Result<DataDirectory, DiskError> {
    look_also(root, &Elsewhere::default(), progress)
}

/// Of MySQL, from the `auto.cnf` of a data directory.
pub fn server_uuid(root: &Path) -> Option<String> {
    walk::server_uuid(root)
}

/// The same, and what its server keeps elsewhere: artefacts behind those of the directory.
///
/// # Errors
/// As [`look`].
pub fn look_also(
    root: &Path,
    elsewhere: &Elsewhere,
    progress: &Progress,
) -> Result<DataDirectory, DiskError> {
    let unreadable = |why| DiskError::Unreadable { path: root.to_owned(), why };
    let root = root.canonicalize().map_err(unreadable)?;
    let (found, family) = places::all(&root, elsewhere)?;
    let server_uuid = walk::server_uuid(&root);
    let mut artefacts = pages::read_all(found, family, progress);
    lie_on(&root, &mut artefacts, &stack::Here);
    Ok(DataDirectory {
        root,
        family,
        server_uuid,
        artefacts,
        read_bytes: progress.read_bytes(),
        hole_bytes: progress.hole_bytes(),
    })
}

/// What no server encrypts is covered by its device, or by nothing.
fn lie_on(root: &Path, artefacts: &mut [Artefact], tree: &dyn stack::Tree) {
    let mut known: std::collections::BTreeMap<PathBuf, stack::Coverage> = std::collections::BTreeMap::new();
    for one in artefacts {
        if one.never_encrypted().is_none() {
            continue;
        }
        let place = root.join(&one.path);
        let dir = place.parent().unwrap_or(root).to_owned();
        let coverage = known.entry(dir).or_insert_with_key(|dir| match dir.canonicalize() {
            Ok(dir) => stack::Stack::of_path(tree, &dir.display().to_string()).coverage(),
            Err(error) => stack::Coverage::Unknown(format!("{}: {error}", dir.display())),
        });
        one.lies_on = Some(coverage.clone());
    }
}
