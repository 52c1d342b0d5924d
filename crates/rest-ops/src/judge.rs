//! From what was seen to what is wrong. No I/O: everything comes as an argument, and "cannot tell" is one of the answers.

use std::path::PathBuf;

use disk::{Family, Needs};
use report::shape::{DiagnoseKeyRow, DiagnoseProblemRow};

use crate::attempt::{self, Algorithm, Fit, SYSTEM_KEY};
use crate::groups::{self, Group};
use crate::log::{LogKind, LogSign};
use crate::material::{Keys, NoKeys};

mod backup;
mod remedy;

pub use backup::BackupLook;
use remedy::{Remedy, some_of};

/// How a file lies there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileState {
    There,
    Absent,
    /// It is there, and the server's user may not read it.
    NotByServer(String),
    /// Nobody can tell, with the reason.
    Unknown(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLook {
    pub path: PathBuf,
    pub state: FileState,
}

/// What the option files say of the plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyOptions {
    pub loads_plugin: bool,
    pub names_key_file: bool,
    pub algorithm: Algorithm,
    /// Another plugin gives keys, of which nothing is known here.
    pub loads_other: bool,
    /// What the server cannot do without keys, as `option=value`.
    pub demands: Vec<String>,
}

impl KeyOptions {
    /// It has to have keys, whatever its files hold.
    fn needs_keys(&self) -> bool {
        self.loads_plugin || self.loads_other || !self.demands.is_empty()
    }
}

/// A copy in the escrow that opens, as far as it matters here.
#[derive(Debug, Clone)]
pub struct CopyLook {
    pub name: String,
    pub keys: Keys,
    pub is_same_key_file: Option<bool>,
    pub is_same_pass_file: Option<bool>,
}

#[derive(Debug)]
pub struct Seen<'a> {
    pub needs: &'a Needs,
    /// For commands; `None` where only files were named.
    pub node: Option<&'a str>,
    /// `None`: not known.
    pub options: Option<KeyOptions>,
    /// `None`: nobody has said where it is.
    pub key_file: Option<FileLook>,
    /// `None`: none is named.
    pub pass_file: Option<FileLook>,
    /// Of MySQL, next to its keyring.
    pub backup: Option<BackupLook>,
    /// `None`: it could not be read.
    pub keys: Option<&'a Result<Keys, NoKeys>>,
    pub copies: &'a [CopyLook],
    /// Of the newest start.
    pub log: &'a [LogSign],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    NoKeyProblem,
    KeyProblem,
    Unknown,
}

impl Verdict {
    pub fn word(self) -> &'static str {
        match self {
            Self::NoKeyProblem => "no_key_problem",
            Self::KeyProblem => "key_problem",
            Self::Unknown => "unknown",
        }
    }
}

#[derive(Debug)]
pub struct Diagnosis {
    pub verdict: Verdict,
    pub problems: Vec<DiagnoseProblemRow>,
    pub keys: Vec<DiagnoseKeyRow>,
    pub forbidden: Vec<String>,
    pub notes: Vec<String>,
    pub unknown: Vec<String>,
}

/// While keys are missing or wrong.
const FORBIDDEN: &[&str] = &[
    "DROP TABLE, also where the server advises it (error 1877, \"Please drop the table and recreate\"): the table is whole, and readable with its key",
    "innodb_force_recovery: with a wrong key it writes over what the right key would read",
    "removing ib_logfile0, #innodb_redo or ibdata1: committed rows are in them, and without them the rest does not open",
    "new keys in place of the old ones: a new key opens nothing that was encrypted before",
    "switching encryption options off (innodb_encrypt_log, innodb_encrypt_tables, the plugin or component): the files stay encrypted",
];

/// What is wrong, as far as keys are the cause.
pub fn judge(seen: &Seen<'_>) -> Diagnosis {
    let is_mysql = seen.needs.family == Some(Family::MySql);
    let mut opened = seen.keys.and_then(|keys| keys.as_ref().ok());
    let others: Vec<&Keys> = seen.copies.iter().map(|copy| &copy.keys).collect();
    let mut groups = groups::groups(seen.needs, opened, &others);
    let (mut notes, mut unknown) = (Vec::new(), Vec::new());
    for (path, why) in &seen.needs.unread {
        unknown.push(format!("{path}: {why}"));
    }
    unknown.extend(groups::nameless(seen.needs));
    if seen.options.as_ref().is_some_and(|options| options.loads_other) {
        unknown.push("the keys of another plugin than file_key_management: they come from a key server, which was not asked".into());
    }
    for space in seen.needs.spaces.iter().filter(|space| space.damaged > 0) {
        notes.push(format!(
            "{}: {} of {} pages that were read are not whole, from page {} on, whatever the key: that is no matter of keys (or the server was \
             writing)",
            space.path,
            space.damaged,
            space.pages_read,
            space.first_damaged.unwrap_or(0)
        ));
    }
    let remedy = Remedy::of(seen, !groups.is_empty());
    let mut found = Found { remedy: &remedy, problems: vec![] };
    let restored = backup::of_backup(seen, &mut found, &mut notes, &mut unknown);
    if restored.is_some() {
        opened = restored;
        groups = groups::groups(seen.needs, opened, &others);
    }
    let keys = groups.iter().map(Group::row).collect();
    if groups.is_empty() {
        notes.push("no file that was read is encrypted".into());
    }
    match &seen.options {
        Some(options) if groups.is_empty() && !options.needs_keys() => {}
        // Where binary logs lie, and what the server is told to encrypt, is in there.
        None if groups.is_empty() => unknown.push(
            "what the server's option files demand of keys: they were not read (name the node of an inventory)".into(),
        ),
        _ => {
            // A keyring that the next start restores is judged by its backup.
            if restored.is_none() {
                of_files(seen, is_mysql, &mut found, &mut unknown);
            }
            of_keys(seen, is_mysql, &groups, opened, &mut found, &mut notes, &mut unknown);
        }
    }
    if found.problems.is_empty() {
        of_demands(seen, is_mysql, &mut found);
    }
    if found.problems.is_empty() && !groups.is_empty() && opened.is_some() {
        of_plugin(seen, is_mysql, &mut found, &mut notes);
        of_escrow(seen, &mut found);
    }
    let problems = found.problems;
    let verdict = match (problems.is_empty(), unknown.is_empty()) {
        (false, _) => Verdict::KeyProblem,
        (true, true) => Verdict::NoKeyProblem,
        (true, false) => Verdict::Unknown,
    };
    // Where nothing is encrypted, nothing of it destroys what keys would bring back.
    // Nothing is wrong with keys of which there is only no copy.
    let is_only_unsealed = !problems.is_empty() && problems.iter().all(|one| one.kind == NOT_IN_ESCROW);
    let is_fine = verdict == Verdict::NoKeyProblem
        || is_only_unsealed
        || (groups.is_empty() && seen.needs.unread.is_empty());
    let no_start = problems.iter().any(|one| one.kind == backup::STALE_BACKUP).then_some(backup::NO_START);
    let general = FORBIDDEN.iter().copied().filter(|_| !is_fine);
    let forbidden = no_start.into_iter().chain(general).map(str::to_owned).collect();
    Diagnosis { verdict, problems, keys, forbidden, notes, unknown }
}

struct Found<'a> {
    remedy: &'a Remedy<'a>,
    problems: Vec<DiagnoseProblemRow>,
}

impl Found<'_> {
    fn add(&mut self, kind: &str, what: impl Into<String>, why: impl Into<String>) {
        let (lost, next) = (self.remedy.lost(), self.remedy.next());
        self.add_with(kind, what, why, lost, next);
    }

    fn add_with(
        &mut self,
        kind: &str,
        what: impl Into<String>,
        why: impl Into<String>,
        lost: impl Into<String>,
        next: impl Into<String>,
    ) {
        self.problems.push(DiagnoseProblemRow {
            kind: kind.into(),
            what: what.into(),
            why: why.into(),
            lost: lost.into(),
            next: next.into(),
        });
    }
}

/// Key file and pass file as they lie there.
fn of_files(seen: &Seen<'_>, is_mysql: bool, found: &mut Found<'_>, unknown: &mut Vec<String>) {
    let what = if is_mysql { "keyring file" } else { "key file" };
    let Some(key_file) = &seen.key_file else {
        // What another plugin gives is said to be unknown by whoever has read the option files.
        if seen.options.as_ref().is_some_and(|options| options.loads_other && !options.loads_plugin) {
            return;
        }
        unknown.push(format!("where the {what} is: neither an option file nor --key-file says"));
        return;
    };
    let mut is_there = false;
    for (file, role, kind) in
        [(Some(key_file), what, "key_file"), (seen.pass_file.as_ref(), "pass file", "pass_file")]
    {
        let Some(file) = file else { continue };
        let shown = file.path.display();
        match &file.state {
            FileState::There => is_there = true,
            FileState::Absent => found.add(
                &format!("{kind}_missing"),
                format!("the {role} {shown} is not there"),
                "the server reads its keys from there when it starts",
            ),
            FileState::NotByServer(why) => {
                let next = format!("give {shown} to the server's user, mode 0600, then start it");
                let lost = "nothing is lost: only the owner or the mode of the file is wrong";
                found.add_with(
                    &format!("{kind}_unreadable"),
                    format!("the server's user cannot read {shown}"),
                    why,
                    lost,
                    next,
                );
            }
            FileState::Unknown(why) => unknown.push(format!("{shown}: {why}")),
        }
    }
    let shown = key_file.path.display();
    let pass = seen.pass_file.as_ref().map_or_else(String::new, |file| file.path.display().to_string());
    match seen.keys {
        None | Some(Ok(_)) => {}
        Some(Err(NoKeys::Damaged(why))) => {
            found.add("key_file_damaged", format!("the {what} {shown} is damaged"), why);
        }
        Some(Err(NoKeys::Empty)) if is_mysql => found.add(
            "keyring_empty",
            format!("the keyring {shown} has no key"),
            "component_keyring_file makes a new one, which is empty, where it finds none: the one with the keys is lost, though a file is there",
        ),
        Some(Err(NoKeys::Empty)) => {
            found.add("key_file_damaged", format!("the {what} {shown} has no key"), "it is empty");
        }
        Some(Err(NoKeys::NoPass)) if is_there => {
            if seen.pass_file.is_none() {
                found.add(
                    "pass_file_missing",
                    format!("{shown} is encrypted, and no pass file is named"),
                    "file_key_management_filekey names it (FILE:PATH)",
                );
            }
        }
        Some(Err(NoKeys::NoPass)) => {}
        Some(Err(NoKeys::OtherFormat)) => unknown.push(format!(
            "the keys in {shown}: it is in the format of the plugin keyring_file, which is not read"
        )),
        Some(Err(NoKeys::NotOpened)) => {
            let is_own_file = seen.copies.iter().any(|copy| copy.is_same_key_file == Some(true));
            let is_own_pass = seen.copies.iter().any(|copy| copy.is_same_pass_file == Some(true));
            let (kind, what) = match (is_own_file, is_own_pass) {
                (false, true) => ("key_file_damaged", format!("the {what} {shown} is damaged, or another one")),
                _ => ("pass_file_wrong", format!("{pass} does not open the key file {shown}")),
            };
            let why = match (is_own_file, is_own_pass) {
                (true, false) => "the key file is as a copy in the escrow has it; the pass file is as none has it",
                (false, true) => "the pass file is as a copy in the escrow has it; the key file is as none has it",
                (true, true) => "both are in the escrow, and not in the same copy: they do not belong together",
                (false, false) => "the pass file is another one, or the key file is cut off or another one: they do not tell which",
            };
            found.add(kind, what, why);
        }
    }
}

/// The keys that came out of them, on what they should open.
fn of_keys(
    seen: &Seen<'_>,
    is_mysql: bool,
    groups: &[Group],
    opened: Option<&Keys>,
    found: &mut Found<'_>,
    notes: &mut Vec<String>,
    unknown: &mut Vec<String>,
) {
    let Some(keys) = opened else { return };
    if is_mysql && keys.names().all(|name| !name.starts_with("INNODBKey-")) {
        let shown = seen.key_file.as_ref().map_or_else(String::new, |file| file.path.display().to_string());
        found.add(
            "keyring_empty",
            format!("the keyring {shown} has no key of InnoDB"),
            "component_keyring_file makes a new one, which is empty, where it finds none: the one with the keys is lost, though a file is there",
        );
        return;
    }
    if !is_mysql && keys.get(SYSTEM_KEY).is_none() && groups.iter().all(|group| group.name != SYSTEM_KEY) {
        let has = keys.names().collect::<Vec<_>>().join(", ");
        found.add(
            "key_missing",
            "key 1 is missing, without which file_key_management does not start",
            format!("the key file has {has}"),
        );
    }
    let has_older = |name: &str| {
        name.rsplit_once('-')
            .is_some_and(|(of, _)| keys.names().any(|one| one.starts_with(&format!("{of}-"))))
    };
    for group in groups {
        let files = some_of(&group.files);
        match &group.fit {
            Some(Fit::Wrong) => found.add(
                "wrong_keys",
                format!("key {} is another one than these files were encrypted with: {files}", group.name),
                "what is whole by its checksum, and would be known in the clear, does not decrypt with it; so it is not damaged, whatever the server says",
            ),
            Some(Fit::NoKey) if is_mysql && has_older(&group.name) => found.add(
                "older_keys",
                format!("the keyring is older than the newest rotation: {} is missing, which {files} need", group.name),
                "it has other master keys of the same server",
            ),
            Some(Fit::NoKey) if is_mysql => found.add(
                "other_server",
                format!("the keyring is of another server: {} is missing, which {files} need", group.name),
                "none of its master keys has this server's uuid",
            ),
            Some(Fit::NoKey) => {
                let is_old_copy = seen.copies.iter().any(|copy| copy.is_same_key_file == Some(true));
                let others = found.remedy.copy.is_some() && is_old_copy;
                let kind = if others { "older_keys" } else { "key_missing" };
                let has = keys.names().collect::<Vec<_>>().join(", ");
                found.add(
                    kind,
                    format!("key {} is missing, which {files} need", group.name),
                    format!("the key file has {has}; the server starts with key 1 alone, and calls tables of other keys corrupted"),
                );
            }
            Some(Fit::Opens(Some(algorithm))) => {
                let set = seen.options.as_ref().map(|options| options.algorithm);
                if let Some(set) = set.filter(|set| set != algorithm) {
                    found.add_with(
                        "other_algorithm",
                        format!("the pages are of {}, and the option says {}", algorithm.word(), set.word()),
                        format!("tried on {files}: key {} opens them", group.name),
                        "nothing is lost: keys and files are right",
                        format!(
                            "set file_key_management_encryption_algorithm={} in the server's option file, then start it",
                            algorithm.word()
                        ),
                    );
                }
            }
            // Of a redo log, and of a file without an encrypted page, other files of the same key tell.
            Some(Fit::CannotTell(why)) if group.has_encrypted => {
                let is_told =
                    groups.iter().any(|one| one.name == group.name && matches!(one.fit, Some(Fit::Opens(_) | Fit::Wrong | Fit::NoKey)));
                if !is_told {
                    unknown.push(format!("whether key {} is right for {files}: {why}", group.name));
                }
            }
            Some(Fit::Doubt) => {
                if groups.iter().any(|one| one.name == group.name && matches!(one.fit, Some(Fit::Opens(_)))) {
                    notes.push(format!(
                        "{files}: a page does not decrypt to what its checksum says, and key {} opens other files: it is damaged, which is no matter of keys",
                        group.name
                    ));
                } else {
                    unknown.push(format!(
                        "whether key {} is right for {files}: it does not open them, so it is another key, or the pages that were tried are damaged",
                        group.name
                    ));
                }
            }
            Some(Fit::CannotTell(_) | Fit::Opens(None)) | None => {}
        }
    }
}

/// What the option files demand, whatever the files hold.
fn of_demands(seen: &Seen<'_>, is_mysql: bool, found: &mut Found<'_>) {
    let Some(options) = seen.options.as_ref().filter(|options| !is_mysql && !options.loads_other) else {
        return;
    };
    let (what, next) = match (options.loads_plugin, options.names_key_file) {
        (false, _) if !options.demands.is_empty() => (
            format!(
                "the option files say {}, and load no plugin that gives keys",
                options.demands.join(" and ")
            ),
            "put plugin_load_add=file_key_management and file_key_management_filename into them, or take these options out where nothing is encrypted",
        ),
        (true, false) => (
            "the option files load file_key_management, and do not say where its key file is".to_owned(),
            "put file_key_management_filename into them, then start it",
        ),
        _ => return,
    };
    let lost = if found.remedy.has_encrypted {
        "nothing is lost by that: files and keys are as they were"
    } else {
        "nothing of the data files is lost: none that was read is encrypted"
    };
    found.add_with(
        "plugin_not_loaded",
        what,
        "a server without a plugin of its keys encrypts nothing, and opens nothing",
        lost,
        next,
    );
}

const NOT_IN_ESCROW: &str = "not_in_escrow";

/// The key file opens all that was tried, and no copy in the escrow does.
fn of_escrow(seen: &Seen<'_>, found: &mut Found<'_>) {
    if found.remedy.copy.is_some() || found.remedy.files_tried == 0 {
        return;
    }
    let shown = |file: &Option<FileLook>| {
        file.as_ref().map_or_else(String::new, |file| file.path.display().to_string())
    };
    let key_file = shown(&seen.key_file);
    found.add_with(
        NOT_IN_ESCROW,
        format!("the keys in {key_file} are not in the escrow: no copy there opens the files that they open"),
        "the key file was replaced behind sealion's back, or its copy was removed",
        format!("nothing is lost while {key_file} is there; with it all that is encrypted would be"),
        format!(
            "copy it{} to a safe place now; then sealion undo, where a change is under way, or disable and enable: that gives the data keys of \
             which the escrow has a copy before any server has them",
            match shown(&seen.pass_file) {
                pass if pass.is_empty() => String::new(),
                pass => format!(" and {pass}"),
            }
        ),
    );
}

/// Of the first tablespace that tells.
fn algorithm_of(seen: &Seen<'_>) -> Option<Algorithm> {
    let keys = seen.keys?.as_ref().ok()?;
    seen.needs.spaces.iter().find_map(|space| match attempt::fit(space, keys) {
        Some(Fit::Opens(algorithm)) => algorithm,
        _ => None,
    })
}

/// Keys and files are right: whether the server gets to them.
fn of_plugin(seen: &Seen<'_>, is_mysql: bool, found: &mut Found<'_>, notes: &mut Vec<String>) {
    let lost = "nothing is lost: keys and files are right";
    if let Some(options) = &seen.options
        && !is_mysql
    {
        let missing = [
            (!options.loads_plugin).then_some("plugin_load_add=file_key_management"),
            (!options.names_key_file).then_some("file_key_management_filename"),
        ];
        let missing: Vec<&str> = missing.into_iter().flatten().collect();
        if !missing.is_empty() {
            found.add_with(
                "plugin_not_loaded",
                format!("the server's option files lack {}", missing.join(" and ")),
                "files are encrypted, and the server has no plugin that gives it their keys",
                lost,
                "put the options back, then start it; sealion config print shows which files it reads",
            );
            return;
        }
    }
    let has = |kind: LogKind| seen.log.iter().any(|sign| sign.kind == kind);
    let is_of_files =
        [LogKind::FileMissing, LogKind::FileForbidden, LogKind::FileNotOpened, LogKind::KeyMissing];
    // MySQL says the same of the redo log where the keyring has not the key.
    let is_of_plugin = has(LogKind::NoPlugin) || (has(LogKind::RedoKey) && !is_mysql);
    if is_of_plugin && !is_of_files.into_iter().any(has) {
        let (what, next) = if is_mysql {
            (
                "the keyring component was not loaded when the server started, or reads another file",
                "check mysqld.my beside the program and the path in component_keyring_file.cnf beside its plugins, then start it",
            )
        } else {
            (
                "the key plugin was not loaded when the server started",
                "check plugin_load_add=file_key_management and file_key_management_filename in the option files, then start it",
            )
        };
        found.add_with(
            "plugin_not_loaded",
            what,
            "the error log says so, and these keys open the files",
            lost,
            next,
        );
    } else if !seen.log.is_empty() {
        if let (None, Some(algorithm)) = (&seen.options, algorithm_of(seen)) {
            notes.push(format!(
                "the pages are of {}: file_key_management_encryption_algorithm must say so, or they look corrupted",
                algorithm.word()
            ));
        }
        notes.push(
            "the error log names keys or pages, and keys and files fit now: start the server, or look at what else its log says".into(),
        );
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
