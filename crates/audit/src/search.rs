//! Secrets in what a server and its clients have written down, and dumps and copies that lie about on its machine. Only where somebody
//! has asked for it (`sealion audit --search`): it reads whole files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use formats::leftover::Leftover;
use host::{FarPath, Place, ReadHost, Search, SearchProgress, Searched};
use model::{Fact, Value, facts};

use crate::asking::Asking;
use crate::beside::{Found, one_line};
use crate::questions::some;

/// What is noted. Those that are noted of every audit too are noted anew.
pub const SEARCH_FACTS: &[&Fact] = &[
    &facts::log::FILE_SECRETS,
    &facts::log::BINLOG_SECRETS,
    &facts::log::HISTORY_SECRETS,
    &facts::server::DUMPS,
];

/// That somebody wants it.
pub struct SearchWanted<'w> {
    /// Beyond the usual places.
    pub dirs: &'w [PathBuf],
    pub progress: &'w SearchProgress,
}

/// In an hour or less, on most disks.
const BYTES_MAX: u64 = 1 << 40;
const ENTRIES_MAX: u64 = 2_000_000;
const PASSWD_BYTES_MAX: u64 = 1 << 20;
/// Logs that servers name. Sources: manuals of MariaDB and MySQL, of its audit log and of Percona's.
const LOG_VARIABLES: [&str; 6] = [
    "general_log_file",
    "slow_query_log_file",
    "log_error",
    "server_audit_file_path",
    "audit_log_file",
    "audit_log_filter.file",
];
const LOG_TABLES: [&str; 2] = ["mysql/general_log.CSV", "mysql/slow_log.CSV"];
const STDERR: &str = "what the server writes to standard error is kept elsewhere, as in the journal of systemd, and was not searched";
/// Where administrators and tools put dumps.
const USUAL_PLACES: [&str; 12] = [
    "/var/backups",
    "/tmp",
    "/var/tmp",
    "/backup",
    "/backups",
    "/var/backup",
    "/srv/backup",
    "/srv/backups",
    "/mnt/backup",
    "/opt/backup",
    "/var/lib/automysqlbackup",
    "/var/spool/holland",
];
const HISTORIES: [&str; 2] = [".mysql_history", ".mariadb_history"];
const SHELL_DIR: &str = ".mysqlsh";
/// Numbers of users that are people's. Source: login.defs(5), and `nobody`.
const PEOPLE: std::ops::Range<u32> = 1000..65_534;
const HOW_STATEMENTS: &str = "LC_ALL=C grep -aiE 'identified|password|aes_|mysql://|sst_auth' FILE";

/// What a place is searched for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum For {
    Logs,
    BinaryLogs,
    Histories,
    Leftovers,
}

#[derive(Default)]
struct Places {
    list: Vec<Place>,
    of: Vec<For>,
    /// What cannot be searched, by what it would have been searched for.
    unknown: Vec<(For, String)>,
}

impl Places {
    fn add(&mut self, of: For, place: Place) {
        if !self.list.contains(&place) {
            self.list.push(place);
            self.of.push(of);
        }
    }
}

pub(crate) fn ask(asking: &mut Asking<'_>, found: Result<&Found<'_>, &str>, wanted: &SearchWanted<'_>) {
    let searched = found.map_err(str::to_owned).and_then(|found| {
        let mut places = Places::default();
        logs(asking, found, &mut places);
        binary_logs(asking, found, &mut places);
        let homes = homes(found.host(), &mut places);
        histories(found.host(), &homes, &mut places);
        leftovers(asking, found, &homes, wanted, &mut places);
        let search = Search { places: places.list.clone(), entries_max: ENTRIES_MAX, bytes_max: BYTES_MAX };
        let searched = found.host().search(&search, wanted.progress).map_err(one_line)?;
        Ok((places, searched, dumps_by_name(found)))
    });
    let (places, searched, by_name) = match searched {
        Ok(all) => all,
        Err(why) => {
            for fact in SEARCH_FACTS {
                asking.note_of_host(fact, Value::Unknown(why.clone()), "");
            }
            return;
        }
    };
    let note = |asking: &mut Asking<'_>, fact: &Fact, of: For, more: &[String], how: &str| {
        asking.note_of_host(fact, value(&places, &searched, of, wanted.dirs, more), how);
    };
    note(asking, &facts::log::FILE_SECRETS, For::Logs, &[], HOW_STATEMENTS);
    note(asking, &facts::log::BINLOG_SECRETS, For::BinaryLogs, &[], HOW_STATEMENTS);
    note(asking, &facts::log::HISTORY_SECRETS, For::Histories, &[], HOW_STATEMENTS);
    note(asking, &facts::server::DUMPS, For::Leftovers, &by_name, "head -c 4096 FILE");
}

/// What was found, and what could not be searched beside it.
fn value(places: &Places, searched: &Searched, of: For, dirs: &[PathBuf], by_name: &[String]) -> Value {
    let is_of = |place: usize| places.of.get(place) == Some(&of);
    let mut hits: Vec<_> = searched.hits.iter().filter(|hit| is_of(hit.place)).collect();
    // A copy of a data directory has hundreds of files: a dump must not stand behind them.
    let of_servers: Vec<&str> =
        Leftover::ALL.iter().filter(|one| one.is_of_a_server()).map(|one| one.words()).collect();
    hits.sort_by_key(|hit| of_servers.contains(&hit.what.as_str()));
    let mut wrong: Vec<String> = hits
        .into_iter()
        .map(|hit| {
            let (path, what) = (hit.path.0.display(), &hit.what);
            match (of, hit.count) {
                (For::Leftovers, _) => format!("{path}: {what}"),
                (_, 1) => format!("{path}: {what}, at byte {}", hit.offset),
                (_, count) => format!("{path}: {what}, {count} times, first at byte {}", hit.offset),
            }
        })
        .collect();
    for path in by_name {
        let begin = format!("{path}: ");
        if !wrong.iter().any(|one| one.starts_with(&begin)) {
            wrong.push(format!("{path}: named as a dump"));
        }
    }
    if searched.more_hits > 0 {
        wrong.push(format!("and {} more files that are not named", searched.more_hits));
    }
    let mut unknown: Vec<String> =
        places.unknown.iter().filter(|(one, _)| *one == of).map(|(_, why)| why.clone()).collect();
    let unread = searched.unread.iter().filter(|one| is_of(one.place));
    unknown.extend(unread.map(|one| format!("{}: {}", one.path.0.display(), one.why)));
    if searched.more_unread > 0 {
        unknown.push(format!("{} more files that are not named could not be read", searched.more_unread));
    }
    let encrypted: Vec<&Path> =
        searched.encrypted.iter().filter(|one| is_of(one.place)).map(|one| one.path.0.as_path()).collect();
    if let Some(first) = encrypted.first() {
        let count = encrypted.len() as u64 + searched.more_encrypted;
        unknown.push(format!(
            "{} encrypted, and what is in them cannot be searched without the key: {}{}",
            model::text::counted(count, "file is", "files are"),
            first.display(),
            if count > 1 { ", …" } else { "" }
        ));
    }
    // Usual places need not be there; those that somebody has named need.
    let missing =
        searched.missing.iter().filter(|place| is_of(**place)).filter_map(|place| places.list.get(*place));
    unknown.extend(
        missing
            .filter(|place| dirs.iter().any(|dir| dir == place.path()))
            .map(|place| format!("{}: it is not there", place.path().display())),
    );
    match (some(wrong.into_iter()), some(unknown.into_iter())) {
        (Value::Text(wrong), Value::Text(unknown)) => {
            Value::Text(format!("{wrong}; not searched: {unknown}"))
        }
        (Value::Absent, Value::Text(unknown)) => Value::Unknown(unknown),
        (wrong, _) => wrong,
    }
}

/// Those that the server names, and rotated ones beside them.
fn logs(asking: &Asking<'_>, found: &Found<'_>, places: &mut Places) {
    if asking.view.variable("log_error").is_some_and(|path| path.is_empty() || path == "stderr") {
        places.unknown.push((For::Logs, STDERR.into()));
    }
    let named: BTreeSet<PathBuf> = LOG_VARIABLES
        .iter()
        .filter_map(|name| asking.view.variable(name))
        .filter(|path| !path.is_empty() && *path != "stderr")
        .map(|path| found.path(path).components().collect())
        // Logs that are tables, also of a time before.
        .chain(LOG_TABLES.map(|table| found.datadir().join(table)))
        .collect();
    for path in named {
        places.add(For::Logs, Place::Log(FarPath(path.clone())));
        for rotated in beside(found.host(), &path, For::Logs, places, is_rotated) {
            places.add(For::Logs, Place::Log(FarPath(rotated)));
        }
    }
}

/// `slow.log.1`, `slow.log.2.gz`, `slow.log-20261126`, `audit.20261126T120000.log`.
fn is_rotated(name: &str, log: &str) -> bool {
    let goes_on = name.strip_prefix(log).is_some_and(|rest| rest.starts_with(['.', '-']));
    let has_between = log.rsplit_once('.').is_some_and(|(stem, end)| {
        name != log
            && name.strip_prefix(stem).is_some_and(|rest| rest.starts_with(['.', '-']))
            && name.trim_end_matches(".gz").ends_with(&format!(".{end}"))
    });
    goes_on || has_between
}

/// Files in the directory of `path` whose names belong to it.
fn beside(
    host: &dyn ReadHost,
    path: &Path,
    of: For,
    places: &mut Places,
    is_one: fn(&str, &str) -> bool,
) -> Vec<PathBuf> {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else { return vec![] };
    let name = name.to_string_lossy();
    match host.list(dir) {
        Ok(paths) => paths
            .into_iter()
            .filter(|one| one.file_name().is_some_and(|one| is_one(&one.to_string_lossy(), &name)))
            .collect(),
        Err(error) => {
            // The file itself may be readable, and those beside it are not known.
            if !matches!(host.facts(dir), Ok(None)) {
                places.unknown.push((of, one_line(error)));
            }
            vec![]
        }
    }
}

fn binary_logs(asking: &Asking<'_>, found: &Found<'_>, places: &mut Places) {
    for variable in ["log_bin_basename", "relay_log_basename"] {
        let Some(base) = asking.view.variable(variable).filter(|path| !path.is_empty()) else { continue };
        let base: PathBuf = found.path(base).components().collect();
        for path in beside(found.host(), &base, For::BinaryLogs, places, is_binary_log) {
            places.add(For::BinaryLogs, Place::BinaryLog(FarPath(path)));
        }
    }
    // Of a time when it wrote others, or wrote them at all.
    match found.host().list(found.datadir()) {
        Ok(paths) => {
            let is_one =
                |path: &PathBuf| path.file_name().is_some_and(|name| is_of_before(&name.to_string_lossy()));
            for path in paths.into_iter().filter(is_one) {
                places.add(For::BinaryLogs, Place::BinaryLog(FarPath(path)));
            }
        }
        Err(error) => places.unknown.push((For::BinaryLogs, one_line(error))),
    }
}

/// What people call binary logs: `mysql-bin.000001`, `binlog.000012`.
fn is_of_before(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, _)| stem.contains("bin") && is_binary_log(name, stem))
}

/// `bin.000001`; of a channel, `relay-bin-channel.000001`.
fn is_binary_log(name: &str, base: &str) -> bool {
    let Some((stem, number)) = name.rsplit_once('.') else { return false };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_of_base = stem == base || stem.strip_prefix(base).is_some_and(|rest| rest.starts_with('-'));
    is_number && is_of_base
}

/// Where users have their files, and whether they are people.
pub(crate) struct Home {
    pub path: PathBuf,
    pub is_of_a_person: bool,
}

/// Homes by the list of users, which a directory of another machine may be missing in, and those in /home.
pub(crate) fn homes_of(host: &dyn ReadHost) -> (Vec<Home>, Option<String>) {
    let (mut homes, mut why) = (Vec::<Home>::new(), None);
    let mut add = |path: PathBuf, is_of_a_person: bool| match homes.iter_mut().find(|home| home.path == path)
    {
        Some(home) => home.is_of_a_person |= is_of_a_person,
        None => homes.push(Home { path, is_of_a_person }),
    };
    add("/root".into(), true);
    match host.read("/etc/passwd".as_ref(), PASSWD_BYTES_MAX) {
        Ok(Some(bytes)) => {
            // Source: passwd(5).
            for line in String::from_utf8_lossy(&bytes).lines() {
                let fields: Vec<&str> = line.split(':').collect();
                let [_, _, uid, _, _, home, ..] = fields[..] else { continue };
                if home.starts_with('/') {
                    let is_person = uid.parse::<u32>().is_ok_and(|uid| PEOPLE.contains(&uid));
                    add(home.into(), is_person);
                }
            }
        }
        Ok(None) => why = Some("/etc/passwd is not there: whose homes there are is not known".to_owned()),
        Err(error) => why = Some(one_line(error)),
    }
    if let Ok(paths) = host.list("/home".as_ref()) {
        for path in paths {
            add(path, true);
        }
    }
    (homes, why)
}

fn homes(host: &dyn ReadHost, places: &mut Places) -> Vec<Home> {
    let (homes, why) = homes_of(host);
    if let Some(why) = why {
        places.unknown.push((For::Histories, why));
    }
    homes
}

fn histories(host: &dyn ReadHost, homes: &[Home], places: &mut Places) {
    for home in homes {
        for name in HISTORIES {
            places.add(For::Histories, Place::History(FarPath(home.path.join(name))));
        }
        let shell = home.path.join(SHELL_DIR);
        match host.facts(&shell) {
            Ok(Some(of)) if of.is_dir => match host.list(&shell) {
                Ok(paths) => {
                    let is_history = |path: &&PathBuf| {
                        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("history"))
                    };
                    for path in paths.iter().filter(is_history) {
                        places.add(For::Histories, Place::History(FarPath(path.clone())));
                    }
                }
                Err(error) => places.unknown.push((For::Histories, one_line(error))),
            },
            // Where the home itself cannot be entered, its other files say so.
            Ok(_) | Err(_) => {}
        }
    }
}

fn leftovers(
    asking: &Asking<'_>,
    found: &Found<'_>,
    homes: &[Home],
    wanted: &SearchWanted<'_>,
    places: &mut Places,
) {
    let mut own: BTreeSet<PathBuf> = [found.datadir().components().collect()].into();
    let named =
        |name: &str| asking.view.variable(name).filter(|path| !path.is_empty()).map(|path| found.path(path));
    for variable in ["innodb_data_home_dir", "innodb_log_group_home_dir", "innodb_undo_directory"] {
        own.extend(named(variable).map(|path| path.components().collect::<PathBuf>()));
    }
    for variable in ["log_bin_basename", "relay_log_basename"] {
        own.extend(named(variable).and_then(|path| Some(path.parent()?.components().collect::<PathBuf>())));
    }
    // It is the whole machine where the data directory lies below its root.
    let datadir: PathBuf = found.datadir().components().collect();
    let around =
        datadir.parent().filter(|dir| dir.parent().is_some()).map_or(datadir.clone(), Path::to_owned);
    let people = homes.iter().filter(|home| home.is_of_a_person).map(|home| home.path.clone());
    let dirs = [around].into_iter().chain(people).chain(USUAL_PLACES.map(PathBuf::from));
    for dir in dirs.chain(wanted.dirs.iter().cloned()) {
        let own = own.iter().cloned().map(FarPath).collect();
        places.add(For::Leftovers, Place::Leftovers { dir: FarPath(dir), own });
    }
}

/// What every audit tells.
fn dumps_by_name(found: &Found<'_>) -> Vec<String> {
    let paths = found.host().list(found.datadir()).unwrap_or_default();
    let dumps = paths.iter().filter(|path| crate::on_host::is_dump(path));
    dumps.map(|path| path.display().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::SearchHit;

    #[test]
    fn rotated_logs_and_binary_logs_are_known_by_their_names() {
        for (name, log, expected) in [
            ("slow.log.1", "slow.log", true),
            ("slow.log-20261126", "slow.log", true),
            ("slow.log.2.gz", "slow.log", true),
            ("audit.20261126T120000-1.log", "audit.log", true),
            ("audit.1.log.gz", "audit.log", true),
            ("slow.log", "slow.log", false),
            ("slower.log", "slow.log", false),
            ("slow.txt", "slow.log", false),
        ] {
            assert_eq!(is_rotated(name, log), expected, "{name}");
        }
        for (name, base, expected) in [
            ("bin.000001", "bin", true),
            ("bin.index", "bin", false),
            ("relay-bin-ch1.000007", "relay-bin", true),
            ("binary.000001", "bin", false),
            ("bin", "bin", false),
        ] {
            assert_eq!(is_binary_log(name, base), expected, "{name}");
        }
        for (name, expected) in
            [("mysql-bin.000001", true), ("binlog.000012", true), ("bin.index", false), ("app.000001", false)]
        {
            assert_eq!(is_of_before(name), expected, "{name}");
        }
    }

    #[test]
    fn what_was_not_searched_is_told_beside_what_was_found_and_is_never_nothing() {
        let far = |path: &str| FarPath(path.into());
        let places = Places {
            list: vec![
                Place::Log(far("/l")),
                Place::BinaryLog(far("/b")),
                Place::Leftovers { dir: far("/gone"), own: vec![] },
                Place::Leftovers { dir: far("/backups"), own: vec![] },
            ],
            of: vec![For::Logs, For::BinaryLogs, For::Leftovers, For::Leftovers],
            unknown: vec![],
        };
        let mut searched = Searched { missing: vec![2, 3], ..Searched::default() };
        let said = |searched: &Searched, of: For, by_name: &[String]| {
            value(&places, searched, of, &["/gone".into()], by_name)
        };
        assert_eq!(said(&searched, For::Logs, &[]), Value::Absent);
        assert_eq!(said(&searched, For::Leftovers, &[]), Value::Unknown("/gone: it is not there".into()));
        let hit = |place: usize, path: &str, count: u64| SearchHit {
            place,
            path: far(path),
            what: "x".into(),
            offset: 7,
            count,
        };
        searched.hits = vec![hit(0, "/l", 1), hit(1, "/b", 2), hit(3, "/backups/a.sql", 1)];
        assert_eq!(said(&searched, For::Logs, &[]), Value::Text("/l: x, at byte 7".into()));
        assert_eq!(
            said(&searched, For::BinaryLogs, &[]),
            Value::Text("/b: x, 2 times, first at byte 7".into())
        );
        assert_eq!(
            said(&searched, For::Leftovers, &["/backups/a.sql".into(), "/d/b.sql".into()]),
            Value::Text(
                "/backups/a.sql: x, /d/b.sql: named as a dump; not searched: /gone: it is not there".into()
            )
        );
        searched.hits.clear();
        searched.encrypted = vec![host::EncryptedFile { place: 1, path: far("/b") }];
        let Value::Unknown(why) = said(&searched, For::BinaryLogs, &[]) else {
            panic!("it was not searched")
        };
        assert!(why.contains("1 file is encrypted") && why.contains("/b"), "{why}");
    }
}
