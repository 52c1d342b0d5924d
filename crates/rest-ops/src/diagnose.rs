//! `sealion diagnose`: reads what tells, and hands it to [`judge`](crate::judge). Files of this machine only; nothing is changed, and no
//! server is needed.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use change_ops::access::ClusterAccess;
use disk::{DiskError, Family, Needs};
use model::NodeName;
use report::shape::{DIAGNOSE_SCHEMA_ID, DiagnoseCopyRow, DiagnoseFileRow, DiagnoseLogRow, DiagnoseReport};
use secrecy::{ExposeSecret, SecretSlice, SecretString};
use server::options::Effective;
use server::{NodeSpec, ReadNode};
use site::{Cluster, OpsError};
use zeroize::Zeroizing;

use crate::attempt::Algorithm;
use crate::groups;
use crate::judge::{self, BackupLook, CopyLook, FileLook, FileState, KeyOptions, Seen};
use crate::log;
use crate::material::{self, Keys, NoKeys};

/// Of the end of an error log: a start writes a few kilobytes, and a server that runs long repeats itself.
const LOG_BYTES_MAX: u64 = 4 << 20;
const KEY_FILE_BYTES_MAX: u64 = 1 << 20;
const DATADIR: &str = "/var/lib/mysql";
const LOG_ROWS_MAX: usize = 20;

/// Where everything is.
#[derive(Debug, Clone, Default)]
pub struct Places {
    pub datadir: PathBuf,
    pub error_log: Option<PathBuf>,
    pub key_file: Option<PathBuf>,
    pub pass_file: Option<PathBuf>,
}

/// A node of the inventory, by its option files.
///
/// # Errors
/// There is no such node, its files are not on this machine, or its data directory cannot be read.
pub fn node(
    cluster: &Cluster,
    name: &str,
    passphrase: Option<&Path>,
    given: &Places,
) -> Result<DiagnoseReport, OpsError> {
    let spec = spec_of(cluster, name)?;
    let mut live = cluster.live_node(spec);
    let effective = live.effective().map_err(|error| {
        OpsError::cannot_look(
            format!("the option files of {name} cannot be read"),
            error,
            "name the files: sealion diagnose --datadir DIR --error-log FILE --key-file FILE --key-file-pass FILE",
        )
    })?;
    let places = places(spec, &effective, given);
    let escrow = cluster.passphrase(passphrase).map(|passphrase| copies(cluster, &passphrase));
    let escrow = escrow.unwrap_or_else(|error| Err(first_line(&error.to_string())));
    diagnose(&places, Some(name), Some(&effective), Some(escrow))
}

/// Files alone; a pass file that is not named is none.
///
/// # Errors
/// The data directory cannot be read.
pub fn files(places: &Places) -> Result<DiagnoseReport, OpsError> {
    diagnose(places, None, None, None)
}

pub(crate) fn spec_of<'c>(cluster: &'c Cluster, name: &str) -> Result<&'c NodeSpec, OpsError> {
    let node = NodeName::new(name);
    let spec = cluster.nodes.iter().find(|spec| spec.name == node).ok_or_else(|| {
        let names: Vec<&str> = cluster.nodes.iter().map(|spec| spec.name.as_str()).collect();
        OpsError::usage(
            format!("there is no node {name}"),
            format!("the inventory has {}", names.join(", ")),
            "give one of these",
        )
    })?;
    if !cluster.machine_of(spec).is_this() {
        return Err(OpsError::cannot_look(
            format!("the files of {name} are not on this machine"),
            "keys are tried on the bytes of its data files, which are not brought here",
            format!(
                "run it on {name}: sealion diagnose --datadir DIR --error-log FILE --key-file FILE --key-file-pass FILE"
            ),
        ));
    }
    Ok(spec)
}

fn value(effective: &Effective, key: &str) -> Option<String> {
    effective.effective(key)?.value.clone().filter(|value| !value.is_empty())
}

/// What was given first, then what the option files say, then where sealion itself puts keys.
fn places(spec: &NodeSpec, effective: &Effective, given: &Places) -> Places {
    let datadir = value(effective, "datadir").map_or_else(|| DATADIR.into(), PathBuf::from);
    let below = |path: String| datadir.join(path);
    let own = providers::rest::keys::dir(spec);
    let is_own_there = own.join(providers::rest::keys::KEY_FILE).exists();
    let own_file = |name: &str| is_own_there.then(|| own.join(name));
    let key_file = value(effective, "file_key_management_filename").map(below);
    let pass_file = value(effective, "file_key_management_filekey")
        .and_then(|value| value.strip_prefix("FILE:").map(|path| below(path.to_owned())));
    let has_key_file = key_file.is_some();
    let of_sealion = |name: &str| if has_key_file { None } else { own_file(name) };
    Places {
        error_log: given
            .error_log
            .clone()
            .or_else(|| spec.error_log.clone())
            .or_else(|| value(effective, "log_error").map(below)),
        pass_file: given
            .pass_file
            .clone()
            .or(pass_file)
            .or_else(|| of_sealion(providers::rest::keys::PASS_FILE)),
        key_file: given.key_file.clone().or(key_file).or_else(|| of_sealion(providers::rest::keys::KEY_FILE)),
        datadir,
    }
}

/// What opens the key file, where it stands in the option file itself.
fn inline_pass(effective: &Effective) -> Option<SecretSlice<u8>> {
    let value = value(effective, "file_key_management_filekey").map(Zeroizing::new)?;
    (!value.starts_with("FILE:")).then(|| value.as_bytes().to_vec().into())
}

/// Names of plugins that get their keys from elsewhere.
const OTHER_PLUGINS: &[&str] = &["hashicorp_key_management", "aws_key_management"];

fn loaded(effective: &Effective) -> String {
    let of = |key: &str| effective.history(key).into_iter().filter_map(|one| one.value.clone()).collect();
    let all: Vec<Vec<String>> = vec![of("plugin_load_add"), of("plugin_load")];
    all.concat().join(";")
}

/// Without keys a server with one of these does not start, or does not do what it says.
const DEMANDS: &[&str] = &[
    "encrypt_binlog",
    "innodb_encrypt_log",
    "innodb_encrypt_tables",
    "innodb_encrypt_temporary_tables",
    "encrypt_tmp_files",
    "aria_encrypt_tables",
    // MySQL.
    "binlog_encryption",
    "innodb_redo_log_encrypt",
    "innodb_undo_log_encrypt",
    "default_table_encryption",
];
/// Where these are set to another directory, files that may need a key lie in there.
const ELSEWHERE: &[&str] =
    &["innodb_data_home_dir", "innodb_log_group_home_dir", "innodb_undo_directory", "innodb_directories"];

fn options(effective: &Effective) -> KeyOptions {
    let algorithm = value(effective, "file_key_management_encryption_algorithm");
    let loaded = loaded(effective);
    let demand = |key: &&str| {
        let setting = effective.effective(key)?;
        let says = setting.value.clone().unwrap_or_else(|| "ON".into());
        // innodb_encrypt_tables has three values.
        let is_on = setting.is_on() || says.eq_ignore_ascii_case("force") || says == "2";
        is_on.then(|| format!("{key}={says}"))
    };
    KeyOptions {
        loads_plugin: loaded.contains("file_key_management"),
        names_key_file: value(effective, "file_key_management_filename").is_some(),
        algorithm: match algorithm {
            Some(text) if text.eq_ignore_ascii_case("aes_ctr") => Algorithm::Ctr,
            _ => Algorithm::Cbc,
        },
        loads_other: OTHER_PLUGINS.iter().any(|plugin| loaded.contains(plugin)),
        demands: DEMANDS.iter().filter_map(demand).collect(),
    }
}

/// Files outside of the data directory that may need a key: logs are read, and of others it is said that they were not.
pub(crate) fn elsewhere(effective: &Effective, datadir: &Path, needs: &mut Needs) {
    for key in ["log_bin", "relay_log"] {
        let Some(base) = value(effective, key).map(|base| datadir.join(base)) else { continue };
        let (Some(dir), Some(stem)) = (base.parent(), base.file_stem()) else { continue };
        // What is not there holds nothing.
        let Ok(dir) = dir.canonicalize() else { continue };
        if !dir.starts_with(&needs.root) {
            needs.add_logs(&dir.join(stem));
        }
    }
    for key in ELSEWHERE {
        let Some(text) = value(effective, key) else { continue };
        for dir in text.split(';').map(|dir| datadir.join(dir.trim())) {
            if !dir.canonicalize().is_ok_and(|dir| dir.starts_with(&needs.root)) {
                needs
                    .unread
                    .push((dir.display().to_string(), format!("{key} names it, and it was not read")));
            }
        }
    }
    if let Some(text) = value(effective, "innodb_data_file_path").filter(|text| text.contains('/')) {
        needs.unread.push((text, "innodb_data_file_path names files elsewhere, which were not read".into()));
    }
}

/// A copy of the escrow, and its files for comparison.
pub(crate) type EscrowCopy = (String, Result<escrow::KeySet, String>);

/// Every copy, opened where it opens.
pub(crate) fn copies(cluster: &Cluster, passphrase: &SecretString) -> Result<Vec<EscrowCopy>, String> {
    let escrow = cluster.escrow(passphrase);
    if !escrow.dir().is_dir() {
        return Err(format!("the escrow {} is not there", escrow.dir().display()));
    }
    let names = escrow.names().map_err(|error| error.to_string())?;
    let opened = names.into_iter().map(|name| {
        let set = match escrow.get(&name) {
            Ok(Some(set)) => Ok(set),
            Ok(None) => Err("it was removed meanwhile".into()),
            Err(error) => Err(error.to_string()),
        };
        (name, set)
    });
    Ok(opened.collect())
}

fn diagnose(
    places: &Places,
    node: Option<&str>,
    effective: Option<&Effective>,
    escrow: Option<Result<Vec<EscrowCopy>, String>>,
) -> Result<DiagnoseReport, OpsError> {
    let mut needs = disk::needs(&places.datadir).map_err(|error| cannot_look(&places.datadir, &error))?;
    let mut unknown = Vec::new();
    if let Some(effective) = effective {
        elsewhere(effective, &places.datadir, &mut needs);
    }
    let owner = fs::metadata(&needs.root).ok().map(|facts| (facts.uid(), facts.gid()));
    let key_file = places.key_file.as_deref().map(|path| read(path, owner));
    let pass_file = places.pass_file.as_deref().map(|path| read(path, owner));
    let bytes_of = |file: &Option<Kept>| file.as_ref().and_then(|file| file.bytes.clone());
    let (key_bytes, pass_bytes) = (bytes_of(&key_file), bytes_of(&pass_file));
    let inline = effective.and_then(inline_pass);
    let keys = key_bytes.as_ref().and_then(|bytes| match (&inline, &pass_file) {
        (Some(pass), None) => Some(material::mariadb(bytes.expose_secret(), Some(pass.expose_secret()))),
        _ => opened(&needs, bytes, pass_file.as_ref()),
    });
    let mut copy_rows = Vec::new();
    let mut copy_looks = Vec::new();
    match escrow {
        None => {}
        Some(Err(why)) => unknown.push(format!("the escrow: {why}")),
        Some(Ok(copies)) => {
            for (name, set) in copies {
                let (row, look) = copy(&needs, name, set, key_bytes.as_ref(), pass_bytes.as_ref());
                copy_rows.push(row);
                copy_looks.extend(look);
            }
        }
    }
    let log = places.error_log.as_deref().map(log_signs);
    let signs = match &log {
        Some(Ok(signs)) => signs.clone(),
        Some(Err(why)) => {
            unknown.push(why.clone());
            vec![]
        }
        None => vec![],
    };
    let backup = key_file
        .as_ref()
        .filter(|_| needs.family == Some(Family::MySql))
        .map(|key_file| backup(key_file, owner));
    let backup_row = backup.as_ref().filter(|backup| backup.file.state != FileState::Absent).map(|backup| {
        let names = backup.keys.as_ref().and_then(|keys| keys.as_ref().ok());
        let names = names.map_or_else(Vec::new, |keys| keys.names().map(str::to_owned).collect());
        file_row("keyring_backup", &backup.file, names)
    });
    let seen = Seen {
        needs: &needs,
        node,
        options: effective.map(options),
        key_file: key_file.as_ref().map(|file| file.look.clone()),
        pass_file: pass_file.as_ref().map(|file| file.look.clone()),
        backup,
        keys: keys.as_ref(),
        copies: &copy_looks,
        log: &signs,
    };
    let found = judge::judge(&seen);
    let row = |role: &str, file: &Option<Kept>, names: Vec<String>| {
        file.as_ref().map(|file| file_row(role, &file.look, names))
    };
    let names = keys
        .as_ref()
        .and_then(|keys| keys.as_ref().ok())
        .map_or_else(Vec::new, |keys| keys.names().map(str::to_owned).collect());
    unknown.extend(found.unknown);
    // What could not be read beside it, such as the escrow, takes nothing from what the data files say.
    Ok(DiagnoseReport {
        schema: DIAGNOSE_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        node: node.map(str::to_owned),
        datadir: needs.root.display().to_string(),
        family: needs.family.map(|family| if family == Family::MariaDb { "mariadb" } else { "mysql" }.into()),
        verdict: found.verdict.word().into(),
        problems: found.problems,
        keys: found.keys,
        files: [row("key_file", &key_file, names), row("pass_file", &pass_file, vec![]), backup_row]
            .into_iter()
            .flatten()
            .collect(),
        copies: copy_rows,
        log: signs
            .iter()
            .take(LOG_ROWS_MAX)
            .map(|sign| DiagnoseLogRow { kind: sign.kind.word().into(), line: sign.line.clone() })
            .collect(),
        forbidden: found.forbidden,
        notes: found.notes,
        unknown,
    })
}

fn cannot_look(dir: &Path, error: &DiskError) -> OpsError {
    OpsError::cannot_look(
        format!("{} cannot be read", dir.display()),
        error,
        "run it as root, or name the data directory: sealion diagnose --datadir DIR",
    )
}

/// `None`: that cannot be told, because what would open it could not be read.
fn opened(needs: &Needs, bytes: &SecretSlice<u8>, pass: Option<&Kept>) -> Option<Result<Keys, NoKeys>> {
    let bytes = bytes.expose_secret();
    if needs.family == Some(Family::MySql) {
        return Some(material::keyring(bytes));
    }
    match pass {
        None => Some(material::mariadb(bytes, None)),
        Some(Kept { bytes: Some(pass), .. }) => Some(material::mariadb(bytes, Some(pass.expose_secret()))),
        // A file that is damaged is so without it.
        Some(_) => match material::mariadb(bytes, Some(&[])) {
            Err(NoKeys::NotOpened) | Ok(_) => None,
            damaged => Some(damaged),
        },
    }
}

/// What MySQL keeps next to its keyring while it writes, and restores at its next start.
fn backup(keyring: &Kept, owner: Option<(u32, u32)>) -> BackupLook {
    let mut path = keyring.look.path.clone().into_os_string();
    path.push(".backup");
    let kept = read(Path::new(&path), owner);
    let bytes = kept.bytes.as_ref().map(ExposeSecret::expose_secret);
    let of_keyring = keyring.bytes.as_ref().map(ExposeSecret::expose_secret);
    BackupLook {
        keys: bytes.map(material::keyring),
        is_same_bytes: bytes.zip(of_keyring).map(|(one, other)| one == other),
        file: kept.look,
    }
}

/// A file with a secret.
#[derive(Debug)]
struct Kept {
    look: FileLook,
    /// Where it could be read.
    bytes: Option<SecretSlice<u8>>,
}

fn read(path: &Path, owner: Option<(u32, u32)>) -> Kept {
    let kept = |state, bytes| Kept { look: FileLook { path: path.to_owned(), state }, bytes };
    let facts = match fs::metadata(path) {
        Ok(facts) if facts.is_file() => facts,
        Ok(_) => return kept(FileState::Unknown("it is no file".into()), None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return kept(FileState::Absent, None),
        Err(error) => return kept(FileState::Unknown(error.to_string()), None),
    };
    let mut bytes = Zeroizing::new(Vec::new());
    let read = File::open(path).and_then(|file| file.take(KEY_FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        return kept(FileState::Unknown(error.to_string()), None);
    }
    if bytes.len() as u64 > KEY_FILE_BYTES_MAX {
        return kept(FileState::Unknown(format!("it has more than {KEY_FILE_BYTES_MAX} bytes")), None);
    }
    let state = match owner.and_then(|owner| kept_from(&facts, owner)) {
        Some(why) => FileState::NotByServer(why),
        None => FileState::There,
    };
    kept(state, Some(bytes.to_vec().into()))
}

/// Why a server of this user and group cannot read the file, as far as its mode says. Groups that a user has beside the first are
/// not known here, so a file that its group may read is taken for readable.
fn kept_from(facts: &fs::Metadata, (uid, _): (u32, u32)) -> Option<String> {
    let mode = facts.mode() & 0o777;
    let may = uid == 0 || mode & 0o004 != 0 || mode & 0o040 != 0 || (facts.uid() == uid && mode & 0o400 != 0);
    (!may).then(|| {
        format!(
            "it belongs to user {} with mode {mode:04o}; the data directory belongs to user {uid}",
            facts.uid()
        )
    })
}

fn file_row(role: &str, look: &FileLook, key_names: Vec<String>) -> DiagnoseFileRow {
    let (state, why) = match &look.state {
        FileState::There => ("there", None),
        FileState::NotByServer(why) => ("there", Some(why.clone())),
        FileState::Absent => ("absent", None),
        FileState::Unknown(why) => ("unknown", Some(why.clone())),
    };
    DiagnoseFileRow {
        role: role.into(),
        path: look.path.display().to_string(),
        state: state.into(),
        why,
        key_names,
    }
}

fn copy(
    needs: &Needs,
    name: String,
    set: Result<escrow::KeySet, String>,
    key_file: Option<&SecretSlice<u8>>,
    pass_file: Option<&SecretSlice<u8>>,
) -> (DiagnoseCopyRow, Option<CopyLook>) {
    let set = match set {
        Ok(set) => set,
        Err(why) => return (DiagnoseCopyRow { name, why: Some(why), ..DiagnoseCopyRow::default() }, None),
    };
    let is_same = |file: &str, there: Option<&SecretSlice<u8>>| {
        let there = there?.expose_secret();
        Some(set.file(file).is_some_and(|kept| kept.bytes.expose_secret() == there))
    };
    let keys = Keys::of_set(&set);
    let tried = groups::opened_by(needs, &keys);
    let is_same_key_file = is_same(providers::rest::keys::KEY_FILE, key_file);
    let is_same_pass_file = is_same(providers::rest::keys::PASS_FILE, pass_file);
    let row = DiagnoseCopyRow {
        name: name.clone(),
        opens: true,
        why: None,
        key_ids: set.keys.iter().map(|key| key.id).collect(),
        is_same_key_file,
        is_same_pass_file,
        files_opened: tried.opened,
        files_tried: tried.tried,
    };
    (row, Some(CopyLook { name, keys, is_same_key_file, is_same_pass_file }))
}

fn log_signs(path: &Path) -> Result<Vec<log::LogSign>, String> {
    let failed = |error: io::Error| format!("the error log {}: {error}", path.display());
    let mut file = File::open(path).map_err(failed)?;
    let bytes = file.metadata().map_err(failed)?.len();
    file.seek(SeekFrom::Start(bytes.saturating_sub(LOG_BYTES_MAX))).map_err(failed)?;
    let mut text = Vec::new();
    file.take(LOG_BYTES_MAX).read_to_end(&mut text).map_err(failed)?;
    let lines: Vec<String> = String::from_utf8_lossy(&text).lines().map(str::to_owned).collect();
    Ok(log::signs(log::newest_start(&lines).0))
}

pub(crate) fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
