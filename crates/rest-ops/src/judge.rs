//! From what was seen to what is wrong. No I/O: everything comes as an argument, and "cannot tell" is one of the answers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use disk::{Family, Needs};
use formats::innodb::redo::Redo;
use report::shape::{DiagnoseKeyRow, DiagnoseProblemRow};

use crate::attempt::{self, Algorithm, Fit};
use crate::log::{LogKind, LogSign};
use crate::material::{Keys, NoKeys};

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
const EXAMPLES_MAX: usize = 5;
const MARIADB_REDO: &str = "a key is not tried on a redo log; its tablespaces tell";

/// How many files of the directory these keys open, of those on which a key can be tried.
pub fn opened_by(needs: &Needs, keys: &Keys) -> (u64, u64) {
    let (mut opened, mut tried) = (0, 0);
    for space in &needs.spaces {
        match attempt::fit(space, keys) {
            Some(Fit::Opens(_)) => (opened, tried) = (opened + 1, tried + 1),
            Some(Fit::Wrong | Fit::NoKey) => tried += 1,
            Some(Fit::CannotTell(_)) | None => {}
        }
    }
    (opened, tried)
}

/// Files that need one key and fare alike with it.
#[derive(Debug)]
struct Group {
    name: String,
    fit: Option<Fit>,
    files: Vec<String>,
    versions: BTreeSet<u32>,
    has_encrypted: bool,
}

impl Group {
    fn result(&self) -> &'static str {
        match self.fit {
            Some(Fit::Opens(_)) => "opens",
            Some(Fit::Wrong) => "wrong",
            Some(Fit::NoKey) => "absent",
            Some(Fit::CannotTell(_)) | None => "not_tried",
        }
    }

    fn row(&self) -> DiagnoseKeyRow {
        DiagnoseKeyRow {
            name: self.name.clone(),
            versions: self.versions.iter().copied().collect(),
            result: self.result().into(),
            files: self.files.len() as u64,
            examples: self.files.iter().take(EXAMPLES_MAX).cloned().collect(),
            why: match &self.fit {
                Some(Fit::CannotTell(why)) => Some(why.clone()),
                None => Some("there are no keys to try".into()),
                _ => None,
            },
        }
    }
}

fn groups(needs: &Needs, keys: Option<&Keys>) -> Vec<Group> {
    let mut groups: BTreeMap<(String, String), Group> = BTreeMap::new();
    let mut add =
        |name: String, fit: Option<Fit>, file: &str, versions: &BTreeSet<u32>, has_encrypted: bool| {
            let group = groups.entry((name.clone(), format!("{fit:?}"))).or_insert_with(|| Group {
                name,
                fit,
                files: vec![],
                versions: BTreeSet::new(),
                has_encrypted: false,
            });
            group.files.push(file.to_owned());
            group.versions.extend(versions);
            group.has_encrypted |= has_encrypted;
        };
    for space in &needs.spaces {
        if let Some(name) = attempt::key_name(space) {
            let fit = keys.and_then(|keys| attempt::fit(space, keys));
            add(name, fit, &space.path, &space.key_versions, space.encrypted > 0);
        }
    }
    for redo in &needs.redo {
        let (name, versions) = match &redo.redo {
            Redo::MariaDb { key: Some(key), .. } => (key.id.to_string(), BTreeSet::from([key.version])),
            Redo::MySql { master_key_id: Some(id), .. } => match &needs.server_uuid {
                Some(uuid) => (format!("INNODBKey-{uuid}-{id}"), BTreeSet::new()),
                None => continue,
            },
            _ => continue,
        };
        let fit = keys.map(|keys| match keys.get(&name) {
            None => Fit::NoKey,
            Some(_) => Fit::CannotTell(MARIADB_REDO.into()),
        });
        add(name, fit, &redo.path, &versions, true);
    }
    groups.into_values().collect()
}

fn some_of(files: &[String]) -> String {
    let named = files.iter().take(EXAMPLES_MAX).cloned().collect::<Vec<_>>().join(", ");
    match files.len().saturating_sub(EXAMPLES_MAX) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// What helps: the copy of the escrow that opens the most, if it opens all that can be tried.
struct Remedy<'a> {
    node: Option<&'a str>,
    copy: Option<&'a str>,
    key_file: Option<&'a Path>,
    has_copies: bool,
}

impl Remedy<'_> {
    fn lost(&self) -> String {
        match self.copy {
            Some(copy) => format!(
                "nothing is lost: the keys in the copy {copy} of the escrow open these files; the files themselves are whole as far as was read"
            ),
            None => "nothing of the files is lost; their rows cannot be read until the right keys are found, and are lost if no copy of these exists".into(),
        }
    }

    fn next(&self) -> String {
        match (self.copy, self.node) {
            (Some(copy), Some(node)) => format!("sealion keys restore {node} --entry {copy}"),
            (Some(copy), None) => {
                format!("sealion keys restore NODE --entry {copy}, with the node's name in the inventory")
            }
            (None, _) => {
                let place = self.key_file.map_or("the key file".into(), |path| path.display().to_string());
                let seen = if self.has_copies { "no copy in the escrow opens these files; " } else { "" };
                format!(
                    "{seen}look for {place} in backups of this machine and on the other servers of the cluster, and try what you find: sealion \
                     diagnose --datadir DIR --key-file FOUND"
                )
            }
        }
    }
}

/// What is wrong, as far as keys are the cause.
pub fn judge(seen: &Seen<'_>) -> Diagnosis {
    let is_mysql = seen.needs.family == Some(Family::MySql);
    let opened = seen.keys.and_then(|keys| keys.as_ref().ok());
    let groups = groups(seen.needs, opened);
    let (mut notes, mut unknown) = (Vec::new(), Vec::new());
    for (path, why) in &seen.needs.unread {
        unknown.push(format!("{path}: {why}"));
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
    let mut best = seen.copies.iter().filter_map(|copy| {
        let (opened, tried) = opened_by(seen.needs, &copy.keys);
        (opened > 0 && opened == tried).then_some(copy.name.as_str())
    });
    let remedy = Remedy {
        node: seen.node,
        copy: best.next_back(),
        key_file: seen.key_file.as_ref().map(|file| file.path.as_path()),
        has_copies: !seen.copies.is_empty(),
    };
    let keys = groups.iter().map(Group::row).collect();
    if groups.is_empty() {
        notes.push("no file that was read is encrypted, so no key is needed".into());
        let verdict = if unknown.is_empty() { Verdict::NoKeyProblem } else { Verdict::Unknown };
        return Diagnosis { verdict, problems: vec![], keys, forbidden: vec![], notes, unknown };
    }
    let mut found = Found { remedy: &remedy, problems: vec![] };
    of_files(seen, is_mysql, &mut found, &mut unknown);
    of_keys(seen, is_mysql, &groups, opened, &mut found, &mut unknown);
    if found.problems.is_empty() && opened.is_some() {
        of_plugin(seen, is_mysql, &mut found, &mut notes);
    }
    let problems = found.problems;
    let verdict = match (problems.is_empty(), unknown.is_empty()) {
        (false, _) => Verdict::KeyProblem,
        (true, true) => Verdict::NoKeyProblem,
        (true, false) => Verdict::Unknown,
    };
    let is_fine = verdict == Verdict::NoKeyProblem;
    let forbidden = FORBIDDEN.iter().filter(|_| !is_fine).map(|text| (*text).to_owned()).collect();
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
                "pages that are whole by their checksum do not decrypt with it; so they are not damaged, whatever the server says",
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
                let is_told = groups.iter().any(|one| {
                    one.name == group.name && !matches!(one.fit, Some(Fit::CannotTell(_)) | None)
                });
                if !is_told {
                    unknown.push(format!("whether key {} is right for {files}: {why}", group.name));
                }
            }
            Some(Fit::CannotTell(_) | Fit::Opens(None)) | None => {}
        }
    }
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
mod tests {
    use super::*;
    use crate::attempt::tests::{KEY_1, MASTER_1, MASTER_2, keys, mariadb_table, mysql_table, ring};
    use disk::{RedoNeed, SpaceNeed};
    use formats::innodb::redo::RedoKey;

    fn needs(family: Family, spaces: Vec<SpaceNeed>) -> Needs {
        let redo = match family {
            Family::MariaDb => {
                Redo::MariaDb { key: Some(RedoKey { id: 1, version: 1 }), creator: String::new() }
            }
            Family::MySql => Redo::MySql { master_key_id: Some(2), creator: String::new() },
        };
        Needs {
            root: "/d".into(),
            family: Some(family),
            server_uuid: Some("5508c6de-ea1a-11f1-bb1a-02fc00000001".into()),
            spaces,
            redo: vec![RedoNeed { path: "ib_logfile0".into(), redo }],
            unread: vec![],
        }
    }

    fn there(path: &str) -> FileLook {
        FileLook { path: path.into(), state: FileState::There }
    }

    fn seen<'a>(needs: &'a Needs, keys: Option<&'a Result<Keys, NoKeys>>) -> Seen<'a> {
        let options = KeyOptions { loads_plugin: true, names_key_file: true, algorithm: Algorithm::Ctr };
        let is_mysql = needs.family == Some(Family::MySql);
        Seen {
            needs,
            node: Some("n1"),
            options: (!is_mysql).then_some(options),
            key_file: Some(there("/k")),
            pass_file: if is_mysql { None } else { Some(there("/p")) },
            keys,
            copies: &[],
            log: &[],
        }
    }

    /// Kinds of what is wrong, and the verdict.
    fn says(seen: &Seen<'_>) -> (Vec<String>, Verdict) {
        let found = judge(seen);
        assert_eq!(found.forbidden.is_empty(), found.verdict == Verdict::NoKeyProblem);
        for problem in &found.problems {
            let texts = [&problem.what, &problem.why, &problem.lost, &problem.next];
            assert!(texts.iter().all(|text| !text.is_empty() && !text.contains(KEY_1)), "{problem:?}");
        }
        (found.problems.into_iter().map(|problem| problem.kind).collect(), found.verdict)
    }

    fn maria() -> Needs {
        needs(Family::MariaDb, vec![mariadb_table("d/t1.ibd", 1)])
    }

    fn right() -> Keys {
        keys(&format!("1;{KEY_1}"))
    }

    fn copy(name: &str, list: &str, is_same: [bool; 2]) -> CopyLook {
        let [file, pass] = is_same.map(Some);
        CopyLook { name: name.into(), keys: keys(list), is_same_key_file: file, is_same_pass_file: pass }
    }

    #[test]
    fn right_keys_are_no_problem_and_wrong_ones_are_named() {
        let needs = maria();
        let keys_right = Ok(right());
        assert_eq!(says(&seen(&needs, Some(&keys_right))), (vec![], Verdict::NoKeyProblem));
        let wrong = Ok(keys(&format!("1;{}", "ab".repeat(32))));
        assert_eq!(says(&seen(&needs, Some(&wrong))), (vec!["wrong_keys".into()], Verdict::KeyProblem));
        let two =
            self::needs(Family::MariaDb, vec![mariadb_table("d/t1.ibd", 1), mariadb_table("d/t2.ibd", 2)]);
        assert_eq!(says(&seen(&two, Some(&keys_right))), (vec!["key_missing".into()], Verdict::KeyProblem));
    }

    #[test]
    fn files_that_are_not_there_or_do_not_open_are_told_apart() {
        let needs = maria();
        let absent = |path: &str| Some(FileLook { path: path.into(), state: FileState::Absent });
        let gone = Seen { key_file: absent("/k"), ..seen(&needs, None) };
        assert_eq!(says(&gone), (vec!["key_file_missing".into()], Verdict::KeyProblem));
        let gone = Seen { pass_file: absent("/p"), ..seen(&needs, None) };
        assert_eq!(says(&gone), (vec!["pass_file_missing".into()], Verdict::KeyProblem));
        let closed = Err(NoKeys::NotOpened);
        let list = format!("1;{KEY_1}");
        for (is_same, kind) in [
            ([true, false], "pass_file_wrong"),
            ([false, true], "key_file_damaged"),
            ([false, false], "pass_file_wrong"),
        ] {
            let copies = [copy("c-1", &list, is_same)];
            let found = judge(&Seen { copies: &copies, ..seen(&needs, Some(&closed)) });
            assert_eq!(found.problems[0].kind, kind, "{is_same:?}");
            assert_eq!(found.problems[0].next, "sealion keys restore n1 --entry c-1");
        }
        let cut = Err(NoKeys::Damaged("cut off".into()));
        assert_eq!(says(&seen(&needs, Some(&cut))).0, ["key_file_damaged"]);
        let forbidden = FileState::NotByServer("mode 0600 of another user".into());
        let keys = Ok(right());
        let other = Seen {
            key_file: Some(FileLook { path: "/k".into(), state: forbidden }),
            ..seen(&needs, Some(&keys))
        };
        assert_eq!(says(&other).0, ["key_file_unreadable"]);
    }

    #[test]
    fn what_cannot_be_told_is_no_answer_of_its_own() {
        let needs = maria();
        let keys = Ok(right());
        let nowhere = Seen { key_file: None, pass_file: None, ..seen(&needs, None) };
        assert_eq!(says(&nowhere), (vec![], Verdict::Unknown));
        let unread = FileState::Unknown("Permission denied".into());
        let unread =
            Seen { key_file: Some(FileLook { path: "/k".into(), state: unread }), ..seen(&needs, None) };
        assert_eq!(says(&unread), (vec![], Verdict::Unknown));
        let mut nothing_to_try = maria();
        nothing_to_try.spaces[0].ciphertexts.clear();
        assert_eq!(says(&seen(&nothing_to_try, Some(&keys))), (vec![], Verdict::Unknown));
        let mut unread = maria();
        unread.unread.push(("d/x.ibd".into(), "it cannot be read".into()));
        assert_eq!(says(&seen(&unread, Some(&keys))), (vec![], Verdict::Unknown));
        // A damaged page is said, and is not blamed on keys.
        let mut damaged = maria();
        damaged.spaces[0].damaged = 1;
        let found = judge(&seen(&damaged, Some(&keys)));
        assert_eq!((found.verdict, found.notes.len()), (Verdict::NoKeyProblem, 1));
    }

    #[test]
    fn a_copy_helps_only_if_its_keys_open_the_data() {
        let needs = maria();
        let keys = Err(NoKeys::Empty);
        let copies = [
            copy("c-1", &format!("1;{KEY_1}"), [false, false]),
            copy("c-2", &format!("1;{}", "ab".repeat(32)), [false, false]),
        ];
        let found = judge(&Seen { copies: &copies, ..seen(&needs, Some(&keys)) });
        assert_eq!(found.problems[0].next, "sealion keys restore n1 --entry c-1");
        let found = judge(&Seen { copies: &copies[1..], ..seen(&needs, Some(&keys)) });
        assert!(found.problems[0].next.starts_with("no copy in the escrow opens"), "{:?}", found.problems);
        assert!(found.problems[0].lost.contains("are lost if no copy"));
    }

    #[test]
    fn options_and_algorithm_are_named_where_keys_are_right() {
        let needs = maria();
        let keys = Ok(right());
        let with = |options| says(&Seen { options: Some(options), ..seen(&needs, Some(&keys)) }).0;
        let all = KeyOptions { loads_plugin: true, names_key_file: true, algorithm: Algorithm::Ctr };
        assert_eq!(with(KeyOptions { algorithm: Algorithm::Cbc, ..all.clone() }), ["other_algorithm"]);
        assert_eq!(with(KeyOptions { loads_plugin: false, ..all.clone() }), ["plugin_not_loaded"]);
        assert_eq!(with(KeyOptions { names_key_file: false, ..all }), ["plugin_not_loaded"]);
        let sign = |kind| LogSign { kind, line: "as it stands".into() };
        let only_log = |log: &[LogSign]| says(&Seen { options: None, log, ..seen(&needs, Some(&keys)) }).0;
        assert_eq!(only_log(&[sign(LogKind::RedoKey)]), ["plugin_not_loaded"]);
        // The file was missing then, and is back.
        assert!(only_log(&[sign(LogKind::FileMissing), sign(LogKind::NoPlugin)]).is_empty());
    }

    #[test]
    fn keyrings_of_mysql_are_told_apart() {
        let needs = needs(Family::MySql, vec![mysql_table("d/t1.ibd")]);
        let other = ("INNODBKey-99999999-ea1a-11f1-bb1a-02fc00000001-2", MASTER_2.1);
        for (ring, kinds) in [
            (ring(&[MASTER_1, MASTER_2]), vec![]),
            (ring(&[]), vec!["keyring_empty"]),
            (ring(&[MASTER_1]), vec!["older_keys"]),
            (ring(&[other]), vec!["other_server"]),
            (ring(&[(MASTER_2.0, MASTER_1.1)]), vec!["wrong_keys"]),
        ] {
            let keys = Ok(ring);
            let mut found = says(&seen(&needs, Some(&keys))).0;
            found.dedup();
            assert_eq!(found, kinds);
        }
        let empty = Err(NoKeys::Empty);
        assert_eq!(says(&seen(&needs, Some(&empty))).0, ["keyring_empty"]);
    }

    #[test]
    fn plain_files_need_no_keys() {
        let mut plain = maria();
        plain.redo.clear();
        plain.spaces[0].encrypted = 0;
        plain.spaces[0].header.crypt = None;
        let gone = Seen { key_file: None, ..seen(&plain, None) };
        assert_eq!(says(&gone), (vec![], Verdict::NoKeyProblem));
    }
}
