//! Where a server keeps files outside of its data directory, by its variables.

use std::path::{Path, PathBuf};

use disk::{Place, Takes};
pub use server::places::TEMPORARY_DIRECTORIES;

use super::sql::Answers;

pub const KEY_FILES: &[&str] = &["file_key_management_filename", "keyring_file_data"];

/// All that are named, whether or not they lie in the data directory.
pub fn of(answers: &Answers) -> Vec<Place> {
    server::places::of(answers.variables(), &answers.datafiles)
}

/// Dumps beside the data, which no server names.
pub fn beside(root: &Path) -> Option<Place> {
    let path = root.parent()?.to_owned();
    Some(Place { path, takes: Takes::Backups, named_by: "the directory above".into() })
}

pub fn directories(answers: &Answers, name: &str) -> Vec<PathBuf> {
    server::places::directories(answers.variables(), name)
}

/// Files with keys of the encryption.
pub fn key_files(answers: &Answers) -> Vec<(String, PathBuf)> {
    let by_variable = KEY_FILES
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), server::places::path(answers.variables(), name)?)));
    let of_component = answers
        .keyring_file
        .iter()
        .map(|file| ("the keyring component".to_owned(), answers.datadir().join(file)));
    by_variable.chain(of_component).collect()
}

/// The file with the passphrase of a key file, where one is named.
pub fn opened_by(answers: &Answers, key_file: &str) -> Option<PathBuf> {
    let named = answers.variables().get("file_key_management_filekey")?;
    let path = named.strip_prefix("FILE:")?;
    (key_file == "file_key_management_filename").then(|| answers.datadir().join(path))
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
