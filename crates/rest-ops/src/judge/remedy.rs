//! What helps where keys are missing or wrong.

use std::path::Path;

use super::{CopyLook, Seen};
use crate::groups::{EXAMPLES_MAX, opened_by, paths_opened_by};

pub(super) fn some_of(files: &[String]) -> String {
    let named = files.iter().take(EXAMPLES_MAX).cloned().collect::<Vec<_>>().join(", ");
    match files.len().saturating_sub(EXAMPLES_MAX) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// What helps: the copy of the escrow that opens all that can be tried; where nothing can be, the only one that has the needed ids.
pub(super) struct Remedy<'a> {
    node: Option<&'a str>,
    pub copy: Option<&'a str>,
    /// Its keys were seen to open something.
    is_tried: bool,
    pub has_encrypted: bool,
    key_file: Option<&'a Path>,
    has_copies: bool,
    /// Where no copy opens all: those that open some, with which.
    parts: Vec<(&'a str, Vec<String>)>,
    pub files_tried: u64,
}

impl<'a> Remedy<'a> {
    pub fn of(seen: &'a Seen<'_>, has_encrypted: bool) -> Self {
        let tried: Vec<_> =
            seen.copies.iter().map(|copy| (copy.name.as_str(), opened_by(seen.needs, &copy.keys))).collect();
        let fitting = tried.iter().rfind(|(_, tried)| tried.fits()).map(|(name, _)| *name);
        let only = match tried.as_slice() {
            [(name, tried)] if tried.is_untold() => Some(*name),
            _ => None,
        };
        let opens = |copy: &'a CopyLook| (copy.name.as_str(), paths_opened_by(seen.needs, &copy.keys));
        let parts = seen.copies.iter().filter(|_| fitting.is_none()).map(opens);
        Self {
            parts: parts.filter(|(_, files)| !files.is_empty()).collect(),
            files_tried: tried.iter().map(|(_, tried)| tried.tried).max().unwrap_or(0),
            node: seen.node,
            copy: fitting.or(only),
            is_tried: fitting.is_some(),
            has_encrypted,
            key_file: seen.key_file.as_ref().map(|file| file.path.as_path()),
            has_copies: !seen.copies.is_empty(),
        }
    }

    pub fn lost(&self) -> String {
        match self.copy {
            _ if !self.has_encrypted => "nothing of the data files is lost: none that was read is encrypted".into(),
            Some(copy) if self.is_tried => format!(
                "nothing is lost: the keys in the copy {copy} of the escrow open these files; the files themselves are whole as far as was read"
            ),
            Some(copy) => format!(
                "nothing of the files is lost; whether the keys in the copy {copy} are theirs cannot be tried on them, and it is the only one in the escrow"
            ),
            None if !self.parts.is_empty() => format!(
                "nothing of the files is lost; {}; rows of files that none opens are lost if no copy of their keys exists",
                self.parts_in_words()
            ),
            None => "nothing of the files is lost; their rows cannot be read until the right keys are found, and are lost if no copy of these exists".into(),
        }
    }

    fn parts_in_words(&self) -> String {
        let words = |(name, files): &(&str, Vec<String>)| {
            format!(
                "the copy {name} opens {} of {} files ({})",
                files.len(),
                self.files_tried,
                some_of(files)
            )
        };
        self.parts.iter().map(words).collect::<Vec<_>>().join(", ")
    }

    pub fn next(&self) -> String {
        match (self.copy, self.node) {
            (Some(copy), Some(node)) => format!("sealion keys restore {node} --entry {copy}"),
            (Some(copy), None) => {
                format!("sealion keys restore NODE --entry {copy}, with the node's name in the inventory")
            }
            (None, _) if !self.parts.is_empty() => {
                let first = self.parts.first().map_or("", |(name, _)| name);
                format!(
                    "no copy in the escrow opens all of these files; {}. Keep each of them: start a server on a copy of the data directory with the \
                     keys of one ({first}), dump the tables that it opens, and so on",
                    self.parts_in_words()
                )
            }
            (None, _) => {
                let place = self.key_file.map_or("the key file".into(), |path| path.display().to_string());
                let seen = match (self.has_copies, self.has_encrypted) {
                    (false, _) => "",
                    (true, true) => "no copy in the escrow is known to open these files; ",
                    (true, false) => {
                        "the escrow has several copies, and nothing tells which is right (sealion keys list); "
                    }
                };
                format!(
                    "{seen}look for {place} in backups of this machine and on the other servers of the cluster, and try what you find: sealion \
                     diagnose --datadir DIR --key-file FOUND"
                )
            }
        }
    }
}
