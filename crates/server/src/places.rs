//! Where a server keeps files outside of its data directory, by its variables.

use std::collections::BTreeMap;
use std::path::PathBuf;

use disk::{Kind, Place, Takes};

use crate::provider_options::ProviderOptions;

/// As `SHOW GLOBAL VARIABLES` has them, names in lower case.
type Variables = BTreeMap<String, String>;

fn variable<'v>(variables: &'v Variables, name: &str) -> &'v str {
    variables.get(name).map_or("", String::as_str)
}

pub fn datadir(variables: &Variables) -> PathBuf {
    PathBuf::from(variable(variables, "datadir"))
}

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

/// All that are named, whether or not they lie in the data directory.
pub fn of(variables: &Variables, datafiles: &[String]) -> Vec<Place> {
    let mut places = Vec::new();
    let mut add = |path: PathBuf, takes, named_by: &str| {
        places.push(Place { path, takes, named_by: named_by.to_owned() });
    };
    for (name, kinds) in DIRECTORIES {
        let Some(dir) = path(variables, name) else { continue };
        if *name == "innodb_log_group_home_dir" {
            add(dir.join("#innodb_redo"), Takes::Kinds(kinds.to_vec()), name);
        }
        add(dir, Takes::Kinds(kinds.to_vec()), name);
    }
    for (name, kind) in NUMBERED {
        if let Some(base) = path(variables, name) {
            add(base, Takes::Numbered(*kind), name);
        }
    }
    for (name, home, kind) in SPACES {
        let home = home.and_then(|home| path(variables, home)).unwrap_or_else(|| datadir(variables));
        for one in variable(variables, name).split(';') {
            // A path has no colon there: the server takes it for the end of the name.
            let file = one.split(':').next().unwrap_or_default();
            if !file.is_empty() {
                add(home.join(file), Takes::File(*kind), name);
            }
        }
    }
    for name in TEMPORARY_DIRECTORIES {
        for dir in directories(variables, name) {
            add(dir, Takes::Temporary, name);
        }
    }
    for name in LOGS {
        // `stderr`, or the system's journal.
        if let Some(log) = path(variables, name).filter(|_| variable(variables, name) != "stderr") {
            add(log, Takes::File(Kind::TextLog), name);
        }
    }
    if let Some((dir, name)) = galera_cache(variables) {
        add(dir.join(name), Takes::File(Kind::GaleraCache), "gcache.dir");
        add(dir, Takes::Kinds(vec![Kind::GaleraCache]), "gcache.dir");
    }
    for file in datafiles {
        let path = datadir(variables).join(file);
        let kind = path.file_name().and_then(|name| disk::kind::by_name(&name.to_string_lossy()));
        let kind = kind.filter(|kind| kind.is_space()).unwrap_or(Kind::Table);
        add(path, Takes::File(kind), "the server's list of tablespaces");
    }
    places
}

/// As the server reads it: a relative one is below its data directory.
pub fn path(variables: &Variables, name: &str) -> Option<PathBuf> {
    let value = variable(variables, name);
    (!value.is_empty()).then(|| datadir(variables).join(value))
}

pub fn directories(variables: &Variables, name: &str) -> Vec<PathBuf> {
    let all = variable(variables, name).split(':').filter(|dir| !dir.is_empty());
    all.map(|dir| datadir(variables).join(dir)).collect()
}

fn galera_cache(variables: &Variables) -> Option<(PathBuf, String)> {
    let options = ProviderOptions::parse(variable(variables, "wsrep_provider_options"));
    let dir = options.get("gcache.dir").or_else(|| options.get("base_dir"))?;
    let name = options.get("gcache.name").filter(|name| !name.is_empty()).unwrap_or("galera.cache");
    Some((datadir(variables).join(dir), name.to_owned()))
}
