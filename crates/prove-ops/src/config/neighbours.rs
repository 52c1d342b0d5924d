//! The files around one, on disk or among those that were given, that have a say in its connections.

use std::path::{Path, PathBuf};

use prove::config::across::Set;
use prove::config::{self, MysqldbReplacement};

use super::{ConfigRequest, ConfigReview, Matrix, doubt, read};

/// All files that can be read, to be looked at against each other. Option files are laid over each other elsewhere.
pub(super) fn set(files: &[PathBuf]) -> Set {
    let is_other = |path: &&PathBuf| config::forms::form(&path.to_string_lossy()).id != "option-file";
    let of = |path: &PathBuf| {
        let place = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        Some((path.display().to_string(), place.display().to_string(), read(path).ok()?))
    };
    Set::new(files.iter().filter(is_other).filter_map(of).collect())
}

pub(super) fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Which driver the engine of Django's settings in this file loads. PyMySQL, where one of the packages around the file, whose own code
/// runs before it, puts it there. The other, where those packages and the `manage.py` above them were given, none of them has a word
/// of it, and no file beside them has. Otherwise it is not known.
pub(super) fn django_driver(path: &Path, asked: &ConfigRequest<'_>) -> Option<&'static str> {
    const PACKAGE: &str = "__init__.py";
    let path = std::fs::canonicalize(path).ok()?;
    let own = config::mysqldb_replacement(&read(&path).ok()?);
    let given: Vec<PathBuf> =
        asked.files.iter().filter_map(|file| std::fs::canonicalize(file).ok()).collect();
    let is_given = |file: &PathBuf| given.contains(file);
    let of = |file: &PathBuf| {
        read(file).map_or(MysqldbReplacement::Unclear, |bytes| config::mysqldb_replacement(&bytes))
    };
    let mut top = path.parent()?;
    let mut packages = Vec::new();
    while top.join(PACKAGE).is_file() && packages.len() < 8 {
        packages.push(top.join(PACKAGE));
        top = top.parent()?;
    }
    // Where the folder itself is on the path of modules, nobody runs its package.
    let is_package = |file: &PathBuf| !file.with_file_name("manage.py").is_file();
    if own == MysqldbReplacement::None
        && packages.iter().any(|file| is_package(file) && of(file) == MysqldbReplacement::PyMysql)
    {
        return Some("pymysql");
    }
    let start = top.join("manage.py");
    let mut folders = vec![top.to_owned()];
    folders.extend(packages.iter().filter_map(|file| file.parent()).map(Path::to_owned));
    let beside = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let mut python = beside
        .map(|entry| entry.path())
        .chain(given.iter().cloned())
        .filter(|file| file.extension().is_some_and(|end| end == "py"));
    let is_whole = is_given(&start) && !packages.is_empty() && packages.iter().all(is_given);
    (is_whole && python.all(|file| of(&file) == MysqldbReplacement::None)).then_some("mysqlclient")
}

/// How many folders of `config/` are looked into: people have one for each place that they deploy to.
const SPRING_FOLDERS_MAX: usize = 64;

/// The files that Spring reads along with this one: those that were named too, and those that lie beside it, in `config/` or in
/// a folder of that.
pub(super) fn spring_beside(path: &Path, asked: &ConfigRequest<'_>) -> Vec<(PathBuf, Vec<u8>)> {
    if !config::is_of_spring(&file_name(path)) {
        return vec![];
    }
    let folder = folder_of(path);
    let mut folders = vec![folder.to_owned()];
    let is_config = |folder: &Path| folder.file_name().is_some_and(|name| name == "config");
    // `config/` and its folders come over what lies beside it: from anywhere in there it is where that is.
    let start = folder.ancestors().take(2).find(|folder| is_config(folder)).and_then(Path::parent);
    let start = start.unwrap_or(folder);
    folders.extend([start.to_owned(), start.join("config")]);
    let inner = std::fs::read_dir(start.join("config")).into_iter().flatten().flatten();
    folders.extend(inner.map(|entry| entry.path()).filter(|path| path.is_dir()).take(SPRING_FOLDERS_MAX));
    let lying = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let mut all: Vec<PathBuf> = lying.flatten().map(|entry| entry.path()).collect();
    all.extend(asked.files.iter().cloned());
    let own = std::fs::canonicalize(path).ok();
    let mut seen = Vec::new();
    all.sort();
    all.into_iter()
        .filter(|other| config::is_of_spring(&file_name(other)))
        .filter(|other| {
            let real = std::fs::canonicalize(other).ok();
            let is_new = real.is_some() && real != own && !seen.contains(&real);
            seen.push(real);
            is_new
        })
        // One that cannot be read is no YAML either, and may say anything.
        .map(|other| {
            let bytes = read(&other).unwrap_or_else(|_| b"[".to_vec());
            (other, bytes)
        })
        .collect()
}

/// Where an option file stands in the order in which a client reads them all by itself.
fn rank_of_option_file(name: &str) -> Option<u8> {
    let mut parts = name.rsplit('/');
    let (file, folder) = (parts.next()?, parts.next().unwrap_or_default());
    match (file, folder) {
        (".my.cnf", _) => Some(2),
        ("my.cnf", "mysql" | "mariadb") => Some(1),
        ("my.cnf", "etc") => Some(0),
        _ => None,
    }
}

/// A client reads `/etc/my.cnf` and then `~/.my.cnf`: where several of those were given, each says only a part.
pub(super) fn doubt_option_files(looked: &mut ConfigReview, matrix: &Matrix) {
    let said: Vec<(String, u8, Vec<&'static str>, usize)> = looked
        .connections
        .iter()
        .filter(|one| one.form == "an option file")
        .filter_map(|one| {
            let clients = one.predictions.iter().map(|prediction| prediction.client.id).collect();
            Some((one.file.clone(), rank_of_option_file(&one.file)?, clients, one.found.line))
        })
        .collect();
    for one in looked.connections.iter_mut().filter(|one| one.form == "an option file") {
        let Some(rank) = rank_of_option_file(&one.file) else { continue };
        let is_same =
            |client: &&str| one.predictions.iter().any(|prediction| prediction.client.id == *client);
        let other = said.iter().find(|(_, other, clients, _)| *other != rank && clients.iter().any(is_same));
        if let Some((file, _, _, line)) = other {
            doubt(one, *line, file, "the same client reads this file too", matrix);
        }
    }
}
