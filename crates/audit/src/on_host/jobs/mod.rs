//! Jobs of the machine that dump, copy and send data: crontabs, timers of systemd, and the scripts that they name.
//!
//! [`timetable`] reads what runs, [`judge`] what its words give away. A script that is named in another script is not read.

mod judge;
mod timetable;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use formats::optfile::{Item, OptionFile};
use formats::shell_line::{self, Pipeline};
use host::ReadHost;
use model::{Value, facts};

use self::judge::{DumpTls, Sign};
use self::timetable::Table;
use super::HostQuestion;
use crate::asking::Asking;
use crate::beside::{Found, one_line};
use crate::questions::some;

pub const QUESTION: HostQuestion = HostQuestion {
    name: "jobs",
    facts: &[
        &facts::job::DUMPS_STRIPPABLE,
        &facts::job::STREAMS_CLEAR,
        &facts::job::PASSWORDS,
        &facts::job::WEAK_ENCRYPTION,
        &facts::job::ANY_HOST,
    ],
    ask,
};

const FILE_BYTES_MAX: u64 = shell_line::SCRIPT_BYTES_MAX as u64;
const TABLES: [(&str, Table); 2] = [("/etc/crontab", Table::System), ("/etc/anacrontab", Table::Anacron)];
/// Directories of tables. Sources: cron(8) of Debian, cronie, crond of Alpine.
const TABLE_DIRS: [(&str, Table); 4] = [
    ("/etc/cron.d", Table::System),
    ("/var/spool/cron/crontabs", Table::User),
    ("/var/spool/cron", Table::User),
    ("/etc/crontabs", Table::User),
];
const SCRIPT_DIRS: [&str; 4] =
    ["/etc/cron.hourly", "/etc/cron.daily", "/etc/cron.weekly", "/etc/cron.monthly"];
/// The first that has a unit counts. Source: systemd.unit(5).
const UNIT_DIRS: [&str; 4] =
    ["/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"];
/// Option files that clients read. Sources: manuals of both families, and what Debian and Red Hat add.
const OPTION_FILES: [&str; 4] =
    ["/etc/my.cnf", "/etc/mysql/my.cnf", "/root/.my.cnf", "/etc/mysql/mariadb.cnf"];
const OPTION_DIRS: [&str; 4] =
    ["/etc/my.cnf.d", "/etc/mysql/conf.d", "/etc/mysql/mariadb.conf.d", "/etc/mysql/mysql.conf.d"];
/// Of a program that says what it is.
const VERSION_MAX: Duration = Duration::from_secs(5);
const HOW: &str = "cat /etc/crontab /etc/cron.d/* /var/spool/cron/crontabs/*; systemctl cat '*.timer'";

/// What runs, and where it stands; what could not be read.
#[derive(Default)]
struct Jobs {
    list: Vec<(PathBuf, Pipeline)>,
    unknown: Vec<String>,
}

impl Jobs {
    fn add(&mut self, path: &Path, pipelines: Vec<Pipeline>) {
        self.list.extend(pipelines.into_iter().map(|pipeline| (path.to_owned(), pipeline)));
    }
}

fn ask(asking: &mut Asking<'_>, found: &Found<'_>) {
    let host = found.host();
    let mut jobs = Jobs::default();
    crons(host, &mut jobs);
    timers(host, &mut jobs);
    scripts(host, &mut jobs);
    let (mut dumps, mut streams, mut passwords, mut weak, mut any_host) =
        (vec![], vec![], vec![], vec![], vec![]);
    let mut dumps_unknown = jobs.unknown.clone();
    let mut option_files = None;
    for (path, pipeline) in &jobs.list {
        let at = format!("{}:{}", path.display(), pipeline.line);
        for sign in judge::signs(pipeline) {
            match sign {
                Sign::CleartextStream(what) => streams.push(format!("{at}: {what}")),
                Sign::Password(what) => passwords.push(format!("{at}: {what}")),
                Sign::WeakEncryption(what) => weak.push(format!("{at}: {what}")),
                Sign::AnyHost(what) => any_host.push(format!("{at}: {what}")),
                Sign::Dump { tool, host: to, tls: DumpTls::Strippable, .. } => {
                    dumps.push(format!("{at}: {tool} of {to} does without TLS, by its own options"));
                }
                Sign::Dump { tool, host: to, tls: DumpTls::NotSaid { has_ca }, option_files: named } => {
                    let usual = option_files.get_or_insert_with(|| usual_option_files(host));
                    let saying = of_option_files(host, usual, &named);
                    match saying.and_then(|saying| is_strippable(host, &tool, has_ca, &saying)) {
                        Ok(true) => dumps.push(format!(
                            "{at}: {tool} of {to} goes on without TLS where somebody takes it away"
                        )),
                        Ok(false) => {}
                        Err(why) => dumps_unknown.push(format!("{at}: {tool} of {to}: {why}")),
                    }
                }
            }
        }
    }
    let mut note = |fact, wrong: Vec<String>, unknown: &[String]| {
        // What could not be read may be an honest job: it speaks only where nothing is wrong.
        let value = match (some(wrong.into_iter()), some(unknown.iter().cloned())) {
            (Value::Absent, Value::Text(why)) => Value::Unknown(why),
            (wrong, _) => wrong,
        };
        asking.note_of_host(fact, value, HOW);
    };
    note(&facts::job::DUMPS_STRIPPABLE, dumps, &dumps_unknown);
    note(&facts::job::STREAMS_CLEAR, streams, &jobs.unknown);
    note(&facts::job::PASSWORDS, passwords, &jobs.unknown);
    note(&facts::job::WEAK_ENCRYPTION, weak, &jobs.unknown);
    note(&facts::job::ANY_HOST, any_host, &jobs.unknown);
}

/// `None`: it is not there.
fn text(host: &dyn ReadHost, path: &Path, jobs: &mut Jobs) -> Option<String> {
    match host.read(path, FILE_BYTES_MAX) {
        Ok(bytes) => bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) => {
            jobs.unknown.push(one_line(error));
            None
        }
    }
}

/// Files of a directory; one that is not there has none.
fn files(host: &dyn ReadHost, dir: &str, jobs: &mut Jobs) -> Vec<PathBuf> {
    let listed = match host.facts(dir.as_ref()) {
        Ok(Some(of)) if of.is_dir => host.list(dir.as_ref()),
        Ok(_) => return vec![],
        Err(error) => Err(error),
    };
    let paths = listed.unwrap_or_else(|error| {
        jobs.unknown.push(one_line(error));
        vec![]
    });
    paths.into_iter().filter(|path| matches!(host.facts(path), Ok(Some(of)) if !of.is_dir)).collect()
}

fn crons(host: &dyn ReadHost, jobs: &mut Jobs) {
    let single = TABLES.iter().map(|(path, table)| (PathBuf::from(path), *table));
    let mut tables: Vec<(PathBuf, Table)> = single.collect();
    for (dir, table) in TABLE_DIRS {
        // Source: cron(8): other names are not read, such as `.placeholder` and what dpkg leaves.
        let is_read = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            table == Table::User || !name.contains('.')
        };
        tables.extend(files(host, dir, jobs).into_iter().filter(is_read).map(|path| (path, table)));
    }
    for (path, table) in tables {
        if let Some(text) = text(host, &path, jobs) {
            jobs.add(&path, timetable::of_cron(&text, table));
        }
    }
    for dir in SCRIPT_DIRS {
        for path in files(host, dir, jobs) {
            script(host, &path, false, jobs);
        }
    }
}

fn timers(host: &dyn ReadHost, jobs: &mut Jobs) {
    let mut seen = BTreeSet::new();
    for dir in UNIT_DIRS {
        for timer in files(host, dir, jobs) {
            let name = timer.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let Some(stem) = name.strip_suffix(".timer") else { continue };
            if !seen.insert(name.clone()) {
                continue;
            }
            let Some(of_timer) = text(host, &timer, jobs) else { continue };
            let unit =
                timetable::unit_of_timer(&of_timer).map_or_else(|| format!("{stem}.service"), str::to_owned);
            let at = UNIT_DIRS.iter().map(|dir| Path::new(dir).join(&unit));
            let found = at.into_iter().find(|path| !matches!(host.facts(path), Ok(None)));
            let more = UNIT_DIRS
                .iter()
                .flat_map(|dir| files(host, &format!("{dir}/{unit}.d"), jobs))
                .collect::<Vec<_>>();
            for path in found.into_iter().chain(more) {
                if let Some(text) = text(host, &path, jobs) {
                    jobs.add(&path, timetable::of_unit(&text));
                }
            }
        }
    }
}

/// The scripts that the lines so far name.
fn scripts(host: &dyn ReadHost, jobs: &mut Jobs) {
    let mut named: BTreeSet<(PathBuf, bool)> = BTreeSet::new();
    for (_, pipeline) in &jobs.list {
        for words in &pipeline.commands {
            for (at, word) in words.iter().enumerate() {
                let before = at.checked_sub(1).and_then(|at| words.get(at)).map_or("", String::as_str);
                let is_of_shell =
                    ["sh", "bash", "dash"].contains(&before.rsplit('/').next().unwrap_or_default());
                if word.starts_with('/') {
                    named.insert((PathBuf::from(word), is_of_shell));
                }
            }
        }
    }
    let known: BTreeSet<PathBuf> = jobs.list.iter().map(|(path, _)| path.clone()).collect();
    for (path, is_of_shell) in named {
        if !known.contains(&path) {
            script(host, &path, is_of_shell, jobs);
        }
    }
}

/// One file that may be a script. Programs, and scripts of other languages that name no tool of ours, are none of our business.
fn script(host: &dyn ReadHost, path: &Path, is_of_shell: bool, jobs: &mut Jobs) {
    match host.facts(path) {
        Ok(Some(of)) if !of.is_dir && of.bytes <= FILE_BYTES_MAX && (is_of_shell || of.mode & 0o111 != 0) => {
        }
        Ok(_) => return,
        Err(error) => return jobs.unknown.push(one_line(error)),
    }
    let Some(text) = text(host, path, jobs) else { return };
    let first = text.lines().next().unwrap_or_default();
    let is_shell = first.starts_with("#!")
        && ["sh", "bash", "dash", "ksh", "zsh"]
            .iter()
            .any(|shell| first.split([' ', '/']).any(|word| word == *shell));
    if is_shell || (is_of_shell && !first.starts_with("#!")) {
        jobs.add(path, shell_line::pipelines(&text));
    } else if first.starts_with("#!")
        && let Some(tool) = judge::names_a_tool(&text)
    {
        jobs.unknown.push(format!("{} is no script of a shell, and names {tool}", path.display()));
    }
}

/// Those that are there.
fn usual_option_files(host: &dyn ReadHost) -> Result<Vec<PathBuf>, String> {
    let mut files: Vec<PathBuf> = OPTION_FILES.iter().map(PathBuf::from).collect();
    for dir in OPTION_DIRS {
        match host.facts(dir.as_ref()) {
            Ok(Some(of)) if of.is_dir => {
                let listed = host.list(dir.as_ref()).map_err(one_line)?;
                files.extend(
                    listed.into_iter().filter(|path| path.extension().is_some_and(|end| end == "cnf")),
                );
            }
            Ok(_) => {}
            Err(error) => return Err(one_line(error)),
        }
    }
    Ok(files)
}

/// Option files that say something of TLS to clients.
fn of_option_files(
    host: &dyn ReadHost,
    usual: &Result<Vec<PathBuf>, String>,
    named: &[String],
) -> Result<Vec<PathBuf>, String> {
    let named = named.iter().map(PathBuf::from);
    let mut saying = Vec::new();
    for path in usual.as_ref().map_err(Clone::clone)?.iter().cloned().chain(named) {
        let Some(bytes) = host.read(&path, FILE_BYTES_MAX).map_err(one_line)? else { continue };
        let (file, _) = OptionFile::parse_until_error(&bytes, &path.display().to_string());
        let mut group = String::new();
        let says = file.items().any(|item| match item {
            Item::Group { name, .. } => {
                name.clone_into(&mut group);
                false
            }
            Item::Option(option) => {
                let is_of_server =
                    ["mysqld", "mariadbd", "server", "mariadb", "galera", "sst"].contains(&group.as_str());
                let key = option.key.replace('_', "-").to_ascii_lowercase();
                !is_of_server
                    && (key.starts_with("ssl") || key.starts_with("skip-ssl") || key.starts_with("tls"))
            }
            _ => false,
        });
        if says {
            saying.push(path);
        }
    }
    Ok(saying)
}

/// Whether TLS can be taken away from a tool that is told nothing of it, by the version that is installed.
///
/// # Source
/// MySQL manual, --ssl-mode: PREFERRED, and VERIFY_CA where a CA is named. MariaDB manual, --ssl-verify-server-cert: the default since 11.4.
fn is_strippable(host: &dyn ReadHost, tool: &str, has_ca: bool, saying: &[PathBuf]) -> Result<bool, String> {
    if let Some(first) = saying.first() {
        return Err(format!("its options say nothing of TLS, and {} says something", first.display()));
    }
    let program = host.program_of(tool).map_err(one_line)?;
    let program = program.ok_or_else(|| {
        format!("{tool} is not found, so that its version, and with it what it does, is not known")
    })?;
    let said = host.version_of(&program, VERSION_MAX).map_err(one_line)?.unwrap_or_default();
    is_strippable_in(&said, has_ca).ok_or_else(|| format!("{tool} does not say which version it is"))
}

/// By what the tool says to `--version`: `mysqldump from 11.4.2-MariaDB, …`, `Ver 10.19 Distrib 10.11.19-MariaDB, …`, `Ver 9.7.4 for Linux`.
fn is_strippable_in(said: &str, has_ca: bool) -> Option<bool> {
    let is_number = |word: &&str| word.starts_with(|char: char| char.is_ascii_digit()) && word.contains('.');
    let mut versions = said.split([' ', ',']).filter(is_number);
    if let Some(mariadb) = said.split([' ', ',']).filter(is_number).find(|word| word.contains("MariaDB")) {
        let mut parts = mariadb.split(['.', '-']).map(str::parse::<u32>);
        let (major, minor) = (parts.next()?.ok()?, parts.next()?.ok()?);
        return Some((major, minor) < (11, 4));
    }
    versions.next().map(|_| !has_ca)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_tool_does_by_itself_hangs_on_its_version() {
        for (said, has_ca, expected) in [
            (
                "mysqldump  Ver 10.19 Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64)",
                false,
                Some(true),
            ),
            (
                "mysqldump  Ver 10.19 Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64)",
                true,
                Some(true),
            ),
            ("mariadb-dump from 11.4.2-MariaDB, client 10.19 for Linux (x86_64)", false, Some(false)),
            ("mysqldump  Ver 9.7.4 for Linux on x86_64 (MySQL Community Server - GPL)", false, Some(true)),
            ("mysqldump  Ver 9.7.4 for Linux on x86_64 (MySQL Community Server - GPL)", true, Some(false)),
            ("", false, None),
        ] {
            assert_eq!(is_strippable_in(said, has_ca), expected, "{said}");
        }
    }
}
