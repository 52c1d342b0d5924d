//! Files of the server, and who else may read or write them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use model::{Value, facts};

use super::{HostQuestion, list};
use crate::asking::Asking;
use crate::beside::{Found, one_line};

pub const QUESTION: HostQuestion = HostQuestion {
    name: "files",
    facts: &[
        &facts::server::DATADIR_OPEN,
        &facts::server::DATA_FILES_OPEN,
        &facts::server::PLUGIN_DIR_WRITABLE,
        &facts::server::SOCKET_DIR_OPEN,
        &facts::server::DUMPS,
        &facts::log::STATEMENT_FILES_OPEN,
    ],
    ask,
};

/// So many files of one kind are looked at: an agent answers for each.
const FILES_MAX: usize = 200;
/// Group: neither write; others: nothing.
const DIRECTORY_MASK: u32 = 0o027;
/// Others neither read nor write.
const FILE_MASK: u32 = 0o006;
const STICKY: u32 = 0o1000;
const OTHERS_WRITE: u32 = 0o002;
const HOW: &str = "stat FILE";

fn ask(asking: &mut Asking<'_>, found: &Found<'_>) {
    asking.note_of_host(
        &facts::server::DATADIR_OPEN,
        datadir(found),
        &format!("stat {}", found.datadir().display()),
    );
    let data = data_files(asking, found);
    asking.note_of_host(&facts::server::DATA_FILES_OPEN, open(found, data), HOW);
    let plugins = plugin_dir(asking, found);
    asking.note_of_host(&facts::server::PLUGIN_DIR_WRITABLE, plugins, "stat -L $plugin_dir");
    let socket = socket_dir(asking, found);
    asking.note_of_host(&facts::server::SOCKET_DIR_OPEN, socket, "stat $(dirname $socket)");
    let dumps = match found.host().list(found.datadir()) {
        Ok(paths) => list(
            &paths
                .iter()
                .filter(|path| is_dump(path))
                .map(|path| path.display().to_string())
                .collect::<Vec<_>>(),
            &[],
        ),
        Err(error) => Value::Unknown(one_line(error)),
    };
    asking.note_of_host(&facts::server::DUMPS, dumps, &format!("ls {}", found.datadir().display()));
    let logs = ["general_log_file", "slow_query_log_file", "log_error", "server_audit_file_path"]
        .iter()
        .filter_map(|name| asking.view.variable(name))
        // MySQL writes `stderr` where there is no file.
        .filter(|path| !path.is_empty() && *path != "stderr")
        .map(|path| found.path(path))
        .collect();
    asking.note_of_host(&facts::log::STATEMENT_FILES_OPEN, open(found, Ok(logs)), HOW);
}

fn datadir(found: &Found<'_>) -> Value {
    let path = found.datadir();
    match found.facts(path) {
        Err(why) => Value::Unknown(why),
        Ok(None) => Value::Unknown(format!("{} is not there", path.display())),
        Ok(Some(of)) if of.mode & DIRECTORY_MASK != 0 => {
            Value::Text(format!("{} has mode {:04o}", path.display(), of.mode))
        }
        Ok(Some(of)) if of.uid != found.process.uid && of.uid != 0 => Value::Text(format!(
            "{} belongs to uid {}, and the server runs as {}",
            path.display(),
            of.uid,
            found.process.uid
        )),
        Ok(Some(_)) => Value::Absent,
    }
}

/// Those that others may read or write. One that is not there is open to nobody.
fn open(found: &Found<'_>, files: Result<BTreeSet<PathBuf>, String>) -> Value {
    let files = match files {
        Ok(files) => files,
        Err(why) => return Value::Unknown(why),
    };
    let (mut open, mut unknown) = (Vec::new(), Vec::new());
    if files.len() > FILES_MAX {
        unknown.push(format!("of {} files {FILES_MAX} were looked at", files.len()));
    }
    for path in files.iter().take(FILES_MAX) {
        match found.facts(path) {
            Ok(Some(of)) if !of.is_dir && of.mode & FILE_MASK != 0 => {
                open.push(format!("{} has mode {:04o}", path.display(), of.mode));
            }
            Ok(_) => {}
            Err(why) => unknown.push(why),
        }
    }
    list(&open, &unknown)
}

/// By their names, in the directories that the server names.
fn data_files(asking: &Asking<'_>, found: &Found<'_>) -> Result<BTreeSet<PathBuf>, String> {
    let of =
        |name: &str| asking.view.variable(name).filter(|path| !path.is_empty()).map(|path| found.path(path));
    let logs: Vec<PathBuf> =
        ["log_bin_basename", "relay_log_basename"].iter().filter_map(|name| of(name)).collect();
    let mut dirs: BTreeSet<PathBuf> = [found.datadir().to_owned()].into();
    dirs.extend(
        ["innodb_data_home_dir", "innodb_log_group_home_dir", "innodb_undo_directory"]
            .iter()
            .filter_map(|name| of(name)),
    );
    dirs.extend(logs.iter().filter_map(|path| path.parent()).map(Path::to_owned));
    // `./` and the directory itself are one.
    let dirs: BTreeSet<PathBuf> = dirs.into_iter().map(|dir| dir.components().collect()).collect();
    let stems: Vec<String> =
        logs.iter().filter_map(|path| Some(format!("{}.", path.file_name()?.to_string_lossy()))).collect();
    let mut files = BTreeSet::new();
    for dir in dirs {
        let listed = found.host().list(&dir).map_err(one_line)?;
        files.extend(listed.into_iter().filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            is_data(&name) || stems.iter().any(|stem| name.starts_with(stem.as_str()))
        }));
    }
    Ok(files)
}

fn is_data(name: &str) -> bool {
    const BEGINS: [&str; 6] = ["ibdata", "ib_logfile", "ib_buffer_pool", "undo", "aria_log", "galera.cache"];
    const NAMES: [&str; 3] = ["master.info", "relay-log.info", "mysql.ibd"];
    BEGINS.iter().any(|begin| name.starts_with(begin)) || NAMES.contains(&name)
}

/// By the mode: that its owner could change the mode is not counted.
fn plugin_dir(asking: &Asking<'_>, found: &Found<'_>) -> Value {
    let Some(path) = asking.view.variable("plugin_dir").filter(|path| !path.is_empty()) else {
        return Value::Unknown("the server does not name its plugin_dir".into());
    };
    let path = found.path(path);
    match found.facts(&path) {
        Err(why) => Value::Unknown(why),
        // From there it loads nothing.
        Ok(None) => Value::Bool(false),
        Ok(Some(of)) => {
            let process = &found.process;
            let is_owner = of.uid == process.uid && of.mode & 0o200 != 0;
            let is_group = of.gid == process.gid && of.mode & 0o020 != 0;
            Value::Bool(is_owner || is_group || of.mode & OTHERS_WRITE != 0)
        }
    }
}

fn socket_dir(asking: &Asking<'_>, found: &Found<'_>) -> Value {
    let Some(path) = asking.view.variable("socket").filter(|path| !path.is_empty()) else {
        // It has none.
        return Value::Absent;
    };
    let path = found.path(path);
    let Some(dir) = path.parent() else { return Value::Absent };
    match found.facts(dir) {
        Err(why) => Value::Unknown(why),
        Ok(None) => Value::Unknown(format!("{} is not there", dir.display())),
        Ok(Some(of)) if of.mode & OTHERS_WRITE != 0 && of.mode & STICKY == 0 => {
            Value::Text(format!("{} has mode {:04o}", dir.display(), of.mode))
        }
        Ok(Some(_)) => Value::Absent,
    }
}

pub(crate) fn is_dump(path: &Path) -> bool {
    const ENDS: [&str; 6] = [".sql", ".sql.gz", ".sql.zst", ".sql.xz", ".dump", ".xbstream"];
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    ENDS.iter().any(|end| name.ends_with(end))
}
