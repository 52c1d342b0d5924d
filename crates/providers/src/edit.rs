//! One change of one option file, as data: planned once, recognised by hashes, applied or taken back whole.

use std::path::{Path, PathBuf};

use change::Direction;
use formats::optfile::{Item, OptionFile, groups_equal, shown_line};
use formats::shell_vars::ShellVars;
use host::HostError;
use openssl::sha::sha256;
use serde::{Deserialize, Serialize};
use server::WriteMember;

use crate::unified;

/// An option file is at most this large (formats::optfile).
const FILE_BYTES_MAX: u64 = formats::optfile::OPTION_FILE_BYTES_MAX as u64;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Edit {
    Set { group: String, key: String, value: String },
    Remove { group: String, key: String },
    RemoveGroup { group: String },
}

/// What one of our options was before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Was {
    /// Not even its group.
    NoGroup,
    Absent,
    /// A key without `=`.
    Bare,
    Value(String),
}

/// What kind of file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Of a server.
    #[default]
    Options,
    /// Variables that a start script reads; there are no groups.
    ShellVars,
}

impl Form {
    #[allow(clippy::trivially_copy_pass_by_ref)] // As serde calls it.
    fn is_options(&self) -> bool {
        *self == Self::Options
    }
}

/// A file that was read as what it is.
enum Parsed {
    Options(OptionFile),
    ShellVars(ShellVars),
}

impl Parsed {
    fn of(form: Form, bytes: &[u8], name: &str) -> Result<Self, String> {
        match form {
            Form::Options => {
                OptionFile::parse(bytes, name).map(Self::Options).map_err(|error| error.to_string())
            }
            Form::ShellVars => {
                ShellVars::parse(bytes, name).map(Self::ShellVars).map_err(|error| error.to_string())
            }
        }
    }

    fn set(&mut self, group: &str, key: &str, value: &str) -> Result<(), String> {
        match self {
            Self::Options(file) => file.set(group, key, value).map_err(|error| error.to_string()),
            Self::ShellVars(file) => file.set(key, value).map_err(|error| error.to_string()),
        }
    }

    fn remove(&mut self, group: &str, key: &str) {
        match self {
            Self::Options(file) => {
                file.remove(group, key);
            }
            Self::ShellVars(file) => {
                file.remove(key);
            }
        }
    }

    fn remove_group(&mut self, group: &str) {
        if let Self::Options(file) = self {
            file.remove_group(group);
        }
    }

    fn has_options_in(&self, group: &str) -> bool {
        match self {
            Self::Options(file) => file
                .items()
                .any(|item| matches!(item, Item::Option(option) if groups_equal(option.group, group))),
            Self::ShellVars(_) => true,
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Options(file) => file.to_bytes().to_vec(),
            Self::ShellVars(file) => file.to_bytes(),
        }
    }
}

/// Never holds the file's other lines, which may have passwords in them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEdit {
    pub file: PathBuf,
    #[serde(default, skip_serializing_if = "Form::is_options")]
    pub form: Form,
    pub edits: Vec<Edit>,
    /// One for each edit: so that a file that somebody else changed elsewhere can still be edited, and put back.
    #[serde(default)]
    pub was: Vec<Was>,
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
    /// Somebody else changed other lines; ours are as before.
    MergedBefore,
    /// The same; ours are as after.
    MergedAfter,
    /// Somebody else changed lines that are ours to change.
    Foreign,
}

impl FileStand {
    /// Whether our options are as the direction wants them.
    pub fn is_so(self, direction: Direction) -> bool {
        match direction {
            Direction::Forward => matches!(self, Self::After | Self::NoOp | Self::MergedAfter),
            Direction::Back => matches!(self, Self::Before | Self::NoOp | Self::MergedBefore),
        }
    }
}

fn was_of(file: &Parsed, edit: &Edit) -> Was {
    let (group, key) = match edit {
        Edit::Set { group, key, .. } | Edit::Remove { group, key } => (group, Some(key)),
        Edit::RemoveGroup { group } => (group, None),
    };
    let file = match (file, key) {
        (Parsed::Options(file), _) => file,
        (Parsed::ShellVars(_), None) => return Was::NoGroup,
        // A value that is no literal is none that we wrote, nor one that was planned on.
        (Parsed::ShellVars(file), Some(key)) => {
            return match file.get(key) {
                Ok(None) => Was::Absent,
                Ok(Some((value, _))) => Was::Value(value.to_owned()),
                Err(_) => Was::Bare,
            };
        }
    };
    let has_group =
        file.items().any(|item| matches!(item, Item::Group { name, .. } if groups_equal(name, group)));
    if !has_group {
        return Was::NoGroup;
    }
    match key.and_then(|key| file.get(&[group], key)) {
        None => Was::Absent,
        Some(item) => item.value.map_or(Was::Bare, |value| Was::Value(value.to_owned())),
    }
}

/// What each of `edits` would find in a file now.
///
/// # Errors
/// The file cannot be read as what it is.
pub fn states(form: Form, bytes: &[u8], name: &str, edits: &[Edit]) -> Result<Vec<Was>, String> {
    let file = Parsed::of(form, bytes, name)?;
    Ok(edits.iter().map(|edit| was_of(&file, edit)).collect())
}

/// Whether two states of an option are the same to a server.
fn same(one: &Was, other: &Was) -> bool {
    let absent = |was: &Was| matches!(was, Was::NoGroup | Was::Absent);
    one == other || (absent(one) && absent(other))
}

pub fn hash(bytes: &[u8]) -> String {
    model::hex(&sha256(bytes))
}

/// The new bytes.
///
/// # Errors
/// The option file's own text: file, line, why, next.
fn apply(form: Form, bytes: &[u8], name: &str, edits: &[Edit]) -> Result<Vec<u8>, String> {
    let mut file = Parsed::of(form, bytes, name)?;
    for edit in edits {
        match edit {
            Edit::Set { group, key, value } => file.set(group, key, value)?,
            Edit::Remove { group, key } => file.remove(group, key),
            Edit::RemoveGroup { group } => file.remove_group(group),
        }
    }
    Ok(file.to_bytes())
}

impl FileEdit {
    /// Plans `edits` on `bytes`; returns the bytes that follow, for the next step to build on.
    pub fn plan(file: &Path, bytes: &[u8], edits: Vec<Edit>) -> Result<(Self, Vec<u8>), String> {
        Self::plan_in(Form::Options, file, bytes, edits)
    }

    /// The same of a file of another form.
    pub fn plan_in(
        form: Form,
        file: &Path,
        bytes: &[u8],
        edits: Vec<Edit>,
    ) -> Result<(Self, Vec<u8>), String> {
        let name = file.display().to_string();
        let after = apply(form, bytes, &name, &edits)?;
        let before = Parsed::of(form, bytes, &name)?;
        let was = edits.iter().map(|edit| was_of(&before, edit)).collect();
        let edit = Self {
            file: file.to_owned(),
            form,
            edits,
            was,
            sha256_before: hash(bytes),
            sha256_after: hash(&after),
        };
        Ok((edit, after))
    }

    pub fn is_no_op(&self) -> bool {
        self.sha256_before == self.sha256_after
    }

    fn read(&self, node: &dyn WriteMember) -> Result<Vec<u8>, String> {
        node.host()
            .read(&self.file, FILE_BYTES_MAX)
            .map_err(|error| error.to_string())?
            .ok_or_else(|| format!("{} is gone", self.file.display()))
    }

    pub fn stand(&self, node: &dyn WriteMember) -> Result<FileStand, String> {
        Ok(self.stand_of(&self.read(node)?))
    }

    fn stand_of(&self, bytes: &[u8]) -> FileStand {
        let now = hash(bytes);
        match (now == self.sha256_before, now == self.sha256_after) {
            (true, true) => FileStand::NoOp,
            (true, false) => FileStand::Before,
            (false, true) => FileStand::After,
            (false, false) => self.merged_stand(bytes),
        }
    }

    /// A file with other bytes than planned: somebody else's lines are theirs, and no reason to stop, while ours are known.
    fn merged_stand(&self, bytes: &[u8]) -> FileStand {
        let Ok(file) = Parsed::of(self.form, bytes, &self.file.display().to_string()) else {
            return FileStand::Foreign;
        };
        if self.was.len() != self.edits.len() {
            return FileStand::Foreign;
        }
        let is_all = |of: &dyn Fn(&Edit, &Was) -> bool| {
            self.edits.iter().zip(&self.was).all(|(edit, was)| of(edit, was))
        };
        let is_before = is_all(&|edit, was| same(&was_of(&file, edit), was));
        let is_after = is_all(&|edit, _| match edit {
            Edit::Set { value, .. } => was_of(&file, edit) == Was::Value(value.clone()),
            Edit::Remove { .. } => same(&was_of(&file, edit), &Was::Absent),
            Edit::RemoveGroup { .. } => was_of(&file, edit) == Was::NoGroup,
        });
        // What was removed as a group cannot be put back line by line.
        let can_go_back = is_all(&|edit, was| !matches!(edit, Edit::RemoveGroup { .. }) && *was != Was::Bare);
        match (is_before, is_after) {
            (_, true) if !can_go_back => FileStand::Foreign,
            (true, true) => FileStand::NoOp,
            (true, false) => FileStand::MergedBefore,
            (false, true) => FileStand::MergedAfter,
            (false, false) => FileStand::Foreign,
        }
    }

    /// Why a file in which somebody else changed our lines stops the change, with the difference and where the copies are.
    pub fn foreign(&self, node: &dyn WriteMember) -> String {
        let now = self.read(node).unwrap_or_default();
        let copies: Vec<(&str, &String)> =
            [("as sealion wrote it", &self.sha256_after), ("as it was before", &self.sha256_before)]
                .into_iter()
                .filter(|(_, sha256)| Self::backup(node, sha256).is_some())
                .collect();
        let diff = copies
            .first()
            .and_then(|(_, sha256)| Self::backup(node, sha256))
            .map_or_else(String::new, |ours| format!(":\n{}", redacted_diff(&self.file, &ours, &now)));
        let ours: Vec<String> = self
            .edits
            .iter()
            .map(|edit| match edit {
                Edit::Set { key, .. } | Edit::Remove { key, .. } if self.form == Form::ShellVars => {
                    key.clone()
                }
                Edit::Set { group, key, .. } | Edit::Remove { group, key } => format!("[{group}] {key}"),
                Edit::RemoveGroup { group } => format!("[{group}]"),
            })
            .collect();
        let kept: Vec<String> = copies
            .iter()
            .map(|(what, sha256)| format!("\n        {} ({what})", Self::backup_path(node, sha256).display()))
            .collect();
        format!(
            "{}: {} was changed by somebody else since the plan was made, in lines that are this step's ({}), so it is left \
             alone{diff}\n  next: put these lines back and continue with sealion resume or sealion undo; or close the change as it \
             is: sealion abandon{}{}",
            node.name(),
            self.file.display(),
            ours.join(", "),
            if kept.is_empty() { "" } else { "\n        copies:" },
            kept.concat()
        )
    }

    fn backup_path(node: &dyn WriteMember, sha256: &str) -> PathBuf {
        node.spec().state_dir.join("files").join(sha256)
    }

    fn backup(node: &dyn WriteMember, sha256: &str) -> Option<Vec<u8>> {
        let bytes = node.host().read(&Self::backup_path(node, sha256), FILE_BYTES_MAX).ok()??;
        (hash(&bytes) == sha256).then_some(bytes)
    }

    /// Keeps both beside the journal, then writes the new bytes where the old ones still are.
    fn write(&self, node: &mut dyn WriteMember, before: &[u8], after: &[u8]) -> Result<(), String> {
        let dir = node.spec().state_dir.join("files");
        let (keep_before, keep_after) =
            (Self::backup_path(node, &hash(before)), Self::backup_path(node, &hash(after)));
        let host = node.write_host();
        host.make_dir(&node.spec().state_dir, 0o700, None)
            .and_then(|()| host.make_dir(&dir, 0o700, None))
            .and_then(|()| host.write(&keep_before, before, Some(0o600), None))
            .and_then(|()| host.write(&keep_after, after, Some(0o600), None))
            .and_then(|()| host.replace(&self.file, before, after))
            .map_err(|error| match error {
                HostError::Changed { .. } => {
                    format!("{}: {error}\n  next: sealion resume checks it again", node.name())
                }
                error => error.to_string(),
            })
    }

    /// Writes the new bytes, keeping the old ones beside the journal for undo. Says so, where somebody else's lines were kept.
    pub fn apply(&self, node: &mut dyn WriteMember) -> Result<Option<String>, String> {
        let before = self.read(node)?;
        let stand = self.stand_of(&before);
        match stand {
            FileStand::After | FileStand::NoOp | FileStand::MergedAfter => return Ok(None),
            FileStand::Foreign => return Err(self.foreign(node)),
            FileStand::Before | FileStand::MergedBefore => {}
        }
        let after = apply(self.form, &before, &self.file.display().to_string(), &self.edits)?;
        self.write(node, &before, &after)?;
        Ok((stand == FileStand::MergedBefore).then(|| self.merged_note(node)))
    }

    fn merged_note(&self, node: &dyn WriteMember) -> String {
        format!("{}: lines in {} that somebody else changed were kept", node.name(), self.file.display())
    }

    /// Puts the old bytes back where the file is still what we wrote, and our own lines where somebody else changed others.
    pub fn revert(&self, node: &mut dyn WriteMember) -> Result<Option<String>, String> {
        let now = self.read(node)?;
        match self.stand_of(&now) {
            FileStand::Before | FileStand::NoOp | FileStand::MergedBefore => return Ok(None),
            FileStand::Foreign => return Err(self.foreign(node)),
            FileStand::MergedAfter => {
                let back = self.without_ours(&now)?;
                self.write(node, &now, &back)?;
                return Ok(Some(self.merged_note(node)));
            }
            FileStand::After => {}
        }
        // Where the copy is gone, our own lines are known all the same.
        let before = match Self::backup(node, &self.sha256_before) {
            Some(before) => before,
            None => self.without_ours(&now)?,
        };
        self.write(node, &now, &before)?;
        Ok(None)
    }

    /// The file with our options as they were.
    fn without_ours(&self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        let name = self.file.display().to_string();
        let mut file = Parsed::of(self.form, bytes, &name)?;
        if self.was.len() != self.edits.len() {
            return Err(format!(
                "{name}: this plan does not say what its options were before; put them back by hand"
            ));
        }
        for (edit, was) in self.edits.iter().zip(&self.was) {
            let (Edit::Set { group, key, .. } | Edit::Remove { group, key }) = edit else {
                return Err(format!("{name}: a whole group was removed; put it back by hand"));
            };
            match was {
                Was::Value(value) => file.set(group, key, value)?,
                Was::Absent => file.remove(group, key),
                Was::NoGroup => {
                    file.remove(group, key);
                    if !file.has_options_in(group) {
                        file.remove_group(group);
                    }
                }
                Was::Bare => {
                    return Err(format!("{name}: [{group}] {key} had no value; put it back by hand"));
                }
            }
        }
        Ok(file.to_bytes())
    }
}

/// What a file has after all of these edits, one after the other, as a file of its own; and the options that it has no more. Values of
/// password options are not shown.
///
/// # Errors
/// A value cannot stand in a file of that form.
pub fn outcome(form: Form, name: &str, edits: &[Edit]) -> Result<(String, Vec<String>), String> {
    let bytes = apply(form, b"", name, edits)?;
    let after = Parsed::of(form, &bytes, name)?;
    let mut removed: Vec<String> = Vec::new();
    for edit in edits {
        let option = match (edit, form) {
            (Edit::Set { .. }, _) => continue,
            (Edit::Remove { key, .. }, Form::ShellVars) => key.clone(),
            (Edit::Remove { group, key }, Form::Options) => format!("[{group}] {key}"),
            (Edit::RemoveGroup { group }, _) => format!("[{group}]"),
        };
        if matches!(was_of(&after, edit), Was::Absent | Was::NoGroup) && !removed.contains(&option) {
            removed.push(option);
        }
    }
    Ok((redact(&bytes), removed))
}

/// A unified diff in which the values of password options are not shown.
pub fn redacted_diff(file: &Path, before: &[u8], after: &[u8]) -> String {
    unified::diff(&file.display().to_string(), &redact(before), &redact(after))
}

fn redact(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).lines().map(shown_line).collect::<Vec<_>>().join("\n")
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
    fn what_several_edits_leave_is_a_file_of_its_own() {
        let set = |group: &str, key: &str, value: &str| Edit::Set {
            group: group.into(),
            key: key.into(),
            value: value.into(),
        };
        let remove = |key: &str| Edit::Remove { group: "mysqld".into(), key: key.into() };
        let edits = [
            set("mysqld", "wsrep_provider_options", "socket.dynamic=YES"),
            remove("ssl_ca"),
            remove("ssl_cert"),
            set("sst", "tkey", "/etc/key.pem"),
            set("mysqld", "wsrep_provider_options", "socket.ssl=YES;a=b"),
            set("mysqld", "ssl_cert", "/etc/cert.pem"),
            set("client", "password", "hunter2"),
        ];
        let (text, removed) = outcome(Form::Options, "/etc/my.cnf", &edits).expect("plain values");
        for line in ["[mysqld]", "socket.ssl=YES;a=b", "ssl_cert=/etc/cert.pem", "[sst]", "tkey=/etc/key.pem"]
        {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert!(!text.contains("socket.dynamic") && !text.contains("hunter2"), "{text}");
        assert_eq!(removed, ["[mysqld] ssl_ca"]);
        let (text, _) =
            outcome(Form::ShellVars, "/etc/default/garb", &[set("", "GALERA_OPTIONS", "a=b; c=d")])
                .expect("plain values");
        assert_eq!(text.trim(), "GALERA_OPTIONS=\"a=b; c=d\"");
    }

    #[test]
    fn a_broken_line_is_named_and_nothing_is_planned() {
        let error =
            FileEdit::plan(Path::new("/etc/my.cnf"), b"port=1\n[mysqld]\n", vec![]).expect_err("no group");
        assert!(error.contains("/etc/my.cnf:1"), "{error}");
    }
}
