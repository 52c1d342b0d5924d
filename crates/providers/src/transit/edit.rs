//! One change of one option file, as data: planned once, recognised by hashes, applied or taken back whole.

use std::path::{Path, PathBuf};

use formats::optfile::{OptionFile, is_secret_key};
use openssl::sha::sha256;
use serde::{Deserialize, Serialize};
use server::WriteNode;

use super::unified;

/// An option file is at most this large (formats::optfile).
const FILE_BYTES_MAX: u64 = formats::optfile::OPTION_FILE_BYTES_MAX as u64;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Edit {
    Set { group: String, key: String, value: String },
    Remove { group: String, key: String },
    RemoveGroup { group: String },
}

/// Never holds the file's other lines, which may have passwords in them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEdit {
    pub file: PathBuf,
    pub edits: Vec<Edit>,
    pub sha256_before: String,
    pub sha256_after: String,
}

/// Where a file stands with respect to one edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStand {
    Before,
    After,
    /// Before and after are the same bytes.
    NoOp,
    /// Somebody else wrote it.
    Foreign,
}

pub fn hash(bytes: &[u8]) -> String {
    change::journal::hex(&sha256(bytes))
}

/// The new bytes.
///
/// # Errors
/// The option file's own text: file, line, why, next.
pub fn apply(bytes: &[u8], name: &str, edits: &[Edit]) -> Result<Vec<u8>, String> {
    let mut file = OptionFile::parse(bytes, name).map_err(|error| error.to_string())?;
    for edit in edits {
        match edit {
            Edit::Set { group, key, value } => {
                file.set(group, key, value).map_err(|error| error.to_string())?;
            }
            Edit::Remove { group, key } => {
                file.remove(group, key);
            }
            Edit::RemoveGroup { group } => {
                file.remove_group(group);
            }
        }
    }
    Ok(file.to_bytes().to_vec())
}

impl FileEdit {
    /// Plans `edits` on `bytes`; returns the bytes that follow, for the next step to build on.
    pub fn plan(file: &Path, bytes: &[u8], edits: Vec<Edit>) -> Result<(Self, Vec<u8>), String> {
        let after = apply(bytes, &file.display().to_string(), &edits)?;
        let edit =
            Self { file: file.to_owned(), edits, sha256_before: hash(bytes), sha256_after: hash(&after) };
        Ok((edit, after))
    }

    pub fn is_no_op(&self) -> bool {
        self.sha256_before == self.sha256_after
    }

    fn read(&self, node: &dyn WriteNode) -> Result<Vec<u8>, String> {
        node.host()
            .read(&self.file, FILE_BYTES_MAX)
            .map_err(|error| error.to_string())?
            .ok_or_else(|| format!("{} is gone", self.file.display()))
    }

    pub fn stand(&self, node: &dyn WriteNode) -> Result<FileStand, String> {
        let now = hash(&self.read(node)?);
        Ok(match (now == self.sha256_before, now == self.sha256_after) {
            (true, true) => FileStand::NoOp,
            (true, false) => FileStand::Before,
            (false, true) => FileStand::After,
            (false, false) => FileStand::Foreign,
        })
    }

    /// Why a file that is neither as we found it nor as we wrote it stops the change, with the difference.
    pub fn foreign(&self, node: &dyn WriteNode) -> String {
        let now = self.read(node).unwrap_or_default();
        let ours = Self::backup(node, &self.sha256_after).or_else(|| Self::backup(node, &self.sha256_before));
        let diff =
            ours.map_or_else(String::new, |ours| format!(":\n{}", redacted_diff(&self.file, &ours, &now)));
        format!(
            "{}: {} was changed by somebody else since the plan was made, so it is left alone{diff}\n  \
             next: put back what the plan expects, or undo by hand and make a new plan",
            node.name(),
            self.file.display()
        )
    }

    fn backup_path(node: &dyn WriteNode, sha256: &str) -> PathBuf {
        node.spec().state_dir.join("files").join(sha256)
    }

    fn backup(node: &dyn WriteNode, sha256: &str) -> Option<Vec<u8>> {
        let bytes = node.host().read(&Self::backup_path(node, sha256), FILE_BYTES_MAX).ok()??;
        (hash(&bytes) == sha256).then_some(bytes)
    }

    /// Writes the new bytes, keeping the old ones beside the journal for undo.
    pub fn apply(&self, node: &mut dyn WriteNode) -> Result<(), String> {
        match self.stand(node)? {
            FileStand::After | FileStand::NoOp => return Ok(()),
            FileStand::Foreign => return Err(self.foreign(node)),
            FileStand::Before => {}
        }
        let before = self.read(node)?;
        let after = apply(&before, &self.file.display().to_string(), &self.edits)?;
        let host = node.write_host();
        let keep = Self::backup_path(node, &self.sha256_before);
        let dir = node.spec().state_dir.join("files");
        host.make_dir(&node.spec().state_dir, 0o700, None)
            .and_then(|()| host.make_dir(&dir, 0o700, None))
            .and_then(|()| host.write(&keep, &before, Some(0o600), None))
            .and_then(|()| {
                host.write(&Self::backup_path(node, &self.sha256_after), &after, Some(0o600), None)
            })
            .and_then(|()| host.write(&self.file, &after, None, None))
            .map_err(|error| error.to_string())
    }

    /// Puts the old bytes back, only where the file is still what we wrote.
    pub fn revert(&self, node: &mut dyn WriteNode) -> Result<(), String> {
        match self.stand(node)? {
            FileStand::Before | FileStand::NoOp => return Ok(()),
            FileStand::Foreign => return Err(self.foreign(node)),
            FileStand::After => {}
        }
        let before = Self::backup(node, &self.sha256_before).ok_or_else(|| {
            format!(
                "{}: the old bytes of {} are not in {} any more\n  next: restore that file from a backup",
                node.name(),
                self.file.display(),
                node.spec().state_dir.display()
            )
        })?;
        node.write_host().write(&self.file, &before, None, None).map_err(|error| error.to_string())
    }
}

/// A unified diff in which the values of password options are not shown.
pub fn redacted_diff(file: &Path, before: &[u8], after: &[u8]) -> String {
    unified::diff(&file.display().to_string(), &redact(before), &redact(after))
}

fn redact(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .lines()
        .map(|line| match line.split_once('=') {
            Some((key, _)) if is_secret_key(key.trim()) => format!("{key}=********"),
            _ => line.to_owned(),
        })
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_shows_what_changes_and_no_password() {
        let before = b"[mysqld]\nwsrep_sst_auth=u:hunter2\nport=3306\n";
        let (_, after) = FileEdit::plan(
            Path::new("/etc/my.cnf"),
            before,
            vec![Edit::Set { group: "mysqld".into(), key: "ssl_ca".into(), value: "/etc/ca.pem".into() }],
        )
        .expect("a fine file");
        let diff = redacted_diff(Path::new("/etc/my.cnf"), before, &after);
        assert!(diff.contains("+ssl_ca=/etc/ca.pem") && !diff.contains("hunter2"), "{diff}");
    }

    #[test]
    fn a_broken_line_is_named_and_nothing_is_planned() {
        let error =
            FileEdit::plan(Path::new("/etc/my.cnf"), b"port=1\n[mysqld]\n", vec![]).expect_err("no group");
        assert!(error.contains("/etc/my.cnf:1"), "{error}");
    }
}
