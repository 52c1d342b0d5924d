//! Where a server keeps files outside of its data directory, by its variables.

use std::path::{Path, PathBuf};

use disk::{Kind, Place, Takes};
use server::ProviderOptions;

use super::sql::Answers;

/// A directory, and what of it is the server's: others may keep theirs there.
const DIRECTORIES: &[(&str, &[Kind])] = &[
    ("innodb_undo_directory", &[Kind::Undo]),
    ("innodb_data_home_dir", &[Kind::System, Kind::Doublewrite, Kind::Temp]),
    ("innodb_doublewrite_dir", &[Kind::Doublewrite]),
    ("innodb_log_group_home_dir", &[Kind::Redo]),
    ("innodb_temp_tablespaces_dir", &[Kind::Temp]),
    ("aria_log_dir_path", &[Kind::AriaLog]),
];
const NUMBERED: &[(&str, Kind)] = &[
    ("log_bin_basename", Kind::Binlog),
    ("relay_log_basename", Kind::RelayLog),
    ("relay_log", Kind::RelayLog),
];
const LOGS: &[&str] =
    &["general_log_file", "slow_query_log_file", "log_error", "server_audit_file_path", "audit_log_file"];
/// Lists of tablespaces, as `ibdata1:12M;ibdata2:12M:autoextend`.
const SPACES: &[(&str, Option<&str>, Kind)] = &[
    ("innodb_data_file_path", Some("innodb_data_home_dir"), Kind::System),
    ("innodb_temp_data_file_path", Some("innodb_data_home_dir"), Kind::Temp),
];
/// Lists with a colon between.
pub const TEMPORARY_DIRECTORIES: &[&str] =
    &["tmpdir", "innodb_tmpdir", "slave_load_tmpdir", "replica_load_tmpdir"];
pub const KEY_FILES: &[&str] = &["file_key_management_filename", "keyring_file_data"];

/// All that are named, whether or not they lie in the data directory.
pub fn of(answers: &Answers) -> Vec<Place> {
    let mut places = Vec::new();
    let mut add = |path: PathBuf, takes, named_by: &str| {
        places.push(Place { path, takes, named_by: named_by.to_owned() });
    };
    for (name, kinds) in DIRECTORIES {
        let Some(dir) = path(answers, name) else { continue };
        if *name == "innodb_log_group_home_dir" {
            add(dir.join("#innodb_redo"), Takes::Kinds(kinds), name);
        }
        add(dir, Takes::Kinds(kinds), name);
    }
    for (name, kind) in NUMBERED {
        if let Some(base) = path(answers, name) {
            add(base, Takes::Numbered(*kind), name);
        }
    }
    for (name, home, kind) in SPACES {
        let home = home.and_then(|home| path(answers, home)).unwrap_or_else(|| answers.datadir());
        for one in answers.variable(name).split(';') {
            // A path has no colon there: the server takes it for the end of the name.
            let file = one.split(':').next().unwrap_or_default();
            if !file.is_empty() {
                add(home.join(file), Takes::File(*kind), name);
            }
        }
    }
    for name in TEMPORARY_DIRECTORIES {
        for dir in directories(answers, name) {
            add(dir, Takes::Temporary, name);
        }
    }
    for name in LOGS {
        // `stderr`, or the system's journal.
        if let Some(log) = path(answers, name).filter(|_| answers.variable(name) != "stderr") {
            add(log, Takes::File(Kind::TextLog), name);
        }
    }
    if let Some((dir, name)) = galera_cache(answers) {
        add(dir.join(name), Takes::File(Kind::GaleraCache), "gcache.dir");
        add(dir, Takes::Kinds(&[Kind::GaleraCache]), "gcache.dir");
    }
    for file in &answers.datafiles {
        let path = answers.datadir().join(file);
        let kind = path.file_name().and_then(|name| disk::kind::by_name(&name.to_string_lossy()));
        let kind = kind.filter(|kind| kind.is_space()).unwrap_or(Kind::Table);
        add(path, Takes::File(kind), "the server's list of tablespaces");
    }
    places
}

/// Dumps beside the data, which no server names.
pub fn beside(root: &Path) -> Option<Place> {
    let path = root.parent()?.to_owned();
    Some(Place { path, takes: Takes::Backups, named_by: "the directory above".into() })
}

/// As the server reads it: a relative one is below its data directory.
fn path(answers: &Answers, name: &str) -> Option<PathBuf> {
    let value = answers.variable(name);
    (!value.is_empty()).then(|| answers.datadir().join(value))
}

pub fn directories(answers: &Answers, name: &str) -> Vec<PathBuf> {
    let all = answers.variable(name).split(':').filter(|dir| !dir.is_empty());
    all.map(|dir| answers.datadir().join(dir)).collect()
}

fn galera_cache(answers: &Answers) -> Option<(PathBuf, String)> {
    let options = ProviderOptions::parse(answers.variable("wsrep_provider_options"));
    let dir = options.get("gcache.dir").or_else(|| options.get("base_dir"))?;
    let name = options.get("gcache.name").filter(|name| !name.is_empty()).unwrap_or("galera.cache");
    Some((answers.datadir().join(dir), name.to_owned()))
}

/// Files with keys of the encryption.
pub fn key_files(answers: &Answers) -> Vec<(String, PathBuf)> {
    let by_variable = KEY_FILES.iter().filter_map(|name| Some(((*name).to_owned(), path(answers, name)?)));
    let of_component = answers
        .keyring_file
        .iter()
        .map(|file| ("the keyring component".to_owned(), answers.datadir().join(file)));
    by_variable.chain(of_component).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_lead_to_the_places_that_they_name() {
        let answers = Answers::of(
            &[
                ("datadir", "/d/"),
                ("innodb_undo_directory", "./"),
                ("innodb_log_group_home_dir", "/redo"),
                ("innodb_data_file_path", "ibdata1:12M;/old/space2:12M:autoextend"),
                ("log_bin_basename", "/logs/b"),
                ("tmpdir", "/t1:/t2"),
                ("log_error", "stderr"),
                ("general_log_file", "g.log"),
                ("innodb_tmpdir", ""),
                ("wsrep_provider_options", "base_dir = /d/; gcache.dir = /ring; gcache.name = r.cache;"),
                ("file_key_management_filename", "/keys/k"),
            ],
            &["./a/b.ibd", "/other/c.ibd"],
        );
        let places = of(&answers);
        let paths: Vec<String> = places.iter().map(|one| one.path.display().to_string()).collect();
        assert_eq!(
            paths,
            [
                "/d/./",
                "/redo/#innodb_redo",
                "/redo",
                "/logs/b",
                "/d/ibdata1",
                "/old/space2",
                "/t1",
                "/t2",
                "/d/g.log",
                "/ring/r.cache",
                "/ring",
                "/d/./a/b.ibd",
                "/other/c.ibd"
            ]
        );
        assert_eq!(key_files(&answers), [("file_key_management_filename".to_owned(), "/keys/k".into())]);
    }
}
