//! Which files need which key, and how they fare with the keys at hand. No I/O.

use std::collections::{BTreeMap, BTreeSet};

use disk::Needs;
use formats::binlog::Binlog;
use formats::innodb::redo::Redo;
use report::shape::DiagnoseKeyRow;

use crate::attempt::{self, Fit, SYSTEM_KEY};
use crate::material::Keys;

pub const EXAMPLES_MAX: usize = 5;
const REDO: &str = "a key is not tried on a redo log; other files with the same key tell";

/// How many files some keys open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tried {
    pub opened: u64,
    /// Files on which a right key would have been known to be right, and those whose key is not there.
    pub tried: u64,
    /// Those that are not opened, where damage would look the same.
    pub doubtful: u64,
}

impl Tried {
    /// Something was opened, and nothing resisted.
    pub fn fits(self) -> bool {
        self.opened > 0 && self.opened == self.tried
    }

    /// Nothing speaks for these keys, and nothing against them.
    pub fn is_untold(self) -> bool {
        self.tried == 0 && self.doubtful == 0
    }
}

pub fn opened_by(needs: &Needs, keys: &Keys) -> Tried {
    let mut all = Tried::default();
    each(needs, &mut |one| match (one.fit)(keys) {
        Fit::Opens(_) => (all.opened, all.tried) = (all.opened + 1, all.tried + 1),
        Fit::Wrong | Fit::NoKey => all.tried += 1,
        Fit::Doubt => all.doubtful += 1,
        Fit::CannotTell(_) => {}
    });
    all
}

/// Which files these keys open, where that can be tried.
pub fn paths_opened_by(needs: &Needs, keys: &Keys) -> Vec<String> {
    let mut paths = Vec::new();
    each(needs, &mut |one| {
        if matches!((one.fit)(keys), Fit::Opens(_)) {
            paths.push(one.path.to_owned());
        }
    });
    paths
}

/// A file that needs a key.
struct Needy<'a> {
    name: String,
    path: &'a str,
    versions: BTreeSet<u32>,
    /// Else only its header names the key.
    has_encrypted: bool,
    fit: &'a dyn Fn(&Keys) -> Fit,
}

fn each(needs: &Needs, what: &mut dyn FnMut(Needy<'_>)) {
    for space in &needs.spaces {
        let Some(name) = attempt::key_name(space) else { continue };
        let versions = space.key_versions.clone();
        // It has a name, so that it is tried.
        let fit = |keys: &Keys| attempt::fit(space, keys).unwrap_or(Fit::NoKey);
        what(Needy { name, path: &space.path, versions, has_encrypted: space.encrypted > 0, fit: &fit });
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
        let fit = |keys: &Keys| match keys.get(&name) {
            None => Fit::NoKey,
            Some(_) => Fit::CannotTell(REDO.into()),
        };
        what(Needy { name: name.clone(), path: &redo.path, versions, has_encrypted: true, fit: &fit });
    }
    for table in &needs.aria {
        let fit = |keys: &Keys| attempt::fit_aria(table, keys);
        let (name, versions) = (SYSTEM_KEY.to_owned(), BTreeSet::new());
        what(Needy { name, path: &table.path, versions, has_encrypted: true, fit: &fit });
    }
    for log in &needs.logs {
        let Some(name) = attempt::log_key_name(log) else { continue };
        let versions = match &log.log {
            Binlog::MariaDbEncrypted { key_version } => BTreeSet::from([*key_version]),
            _ => BTreeSet::new(),
        };
        let fit = |keys: &Keys| attempt::fit_log(log, keys).unwrap_or(Fit::NoKey);
        what(Needy { name, path: &log.path, versions, has_encrypted: true, fit: &fit });
    }
}

/// Files that may need a key of which nothing tells the name, and why.
pub fn nameless(needs: &Needs) -> Vec<String> {
    let mut lines = Vec::new();
    for space in needs.spaces.iter().filter(|space| attempt::is_nameless(space)) {
        lines
            .push(format!("which key {} needs: it has encrypted pages, and page 0 does not say", space.path));
    }
    for redo in &needs.redo {
        match &redo.redo {
            Redo::Unknown(why) => lines.push(format!("which key {} needs: {why}", redo.path)),
            Redo::MySql { master_key_id: Some(_), .. } if needs.server_uuid.is_none() => {
                lines.push(format!("which key {} needs: auto.cnf does not say the server's uuid", redo.path));
            }
            _ => {}
        }
    }
    lines
}

/// Files that need one key and fare alike with it.
#[derive(Debug)]
pub struct Group {
    pub name: String,
    pub fit: Option<Fit>,
    pub files: Vec<String>,
    versions: BTreeSet<u32>,
    pub has_encrypted: bool,
}

impl Group {
    fn result(&self) -> &'static str {
        match self.fit {
            Some(Fit::Opens(_)) => "opens",
            Some(Fit::Wrong) => "wrong",
            Some(Fit::Doubt) => "does_not_open",
            Some(Fit::NoKey) => "absent",
            Some(Fit::CannotTell(_)) | None => "not_tried",
        }
    }

    pub fn row(&self) -> DiagnoseKeyRow {
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

/// `others`: keys that may be at hand elsewhere. What they open is whole, so that no damage explains why `keys` do not.
pub fn groups(needs: &Needs, keys: Option<&Keys>, others: &[&Keys]) -> Vec<Group> {
    let mut groups: BTreeMap<(String, String), Group> = BTreeMap::new();
    each(needs, &mut |one| {
        let fit = keys.map(|keys| match (one.fit)(keys) {
            Fit::Doubt if others.iter().any(|keys| matches!((one.fit)(keys), Fit::Opens(_))) => Fit::Wrong,
            fit => fit,
        });
        let group = groups.entry((one.name.clone(), format!("{fit:?}"))).or_insert_with(|| Group {
            name: one.name.clone(),
            fit,
            files: vec![],
            versions: BTreeSet::new(),
            has_encrypted: false,
        });
        group.files.push(one.path.to_owned());
        group.versions.extend(&one.versions);
        group.has_encrypted |= one.has_encrypted;
    });
    groups.into_values().collect()
}
