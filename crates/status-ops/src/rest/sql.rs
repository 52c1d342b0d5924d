//! What a server says of its files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use disk::{Artefact, Family, Kind};
use net::Client;
use report::shape::{RestSqlRow, RestVerdictWord};
use server::NodeSpec;
use site::Cluster;

/// What was asked, once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answers {
    pub version: String,
    variables: BTreeMap<String, String>,
    /// By number: whether it is encrypted, or that it is on its way.
    spaces: BTreeMap<u32, RestVerdictWord>,
    /// Those that the server knows.
    known_spaces: BTreeSet<u32>,
    /// MySQL lists its binary logs with a column for it.
    binlogs: BTreeMap<String, RestVerdictWord>,
    /// Of tablespaces, as the server writes their paths.
    pub datafiles: Vec<String>,
    /// Of a keyring component of MySQL that keeps a file.
    pub keyring_file: Option<String>,
}

/// What the server calls `hostname` is the kernel's (uname(2)).
const HOSTNAME: &str = "/proc/sys/kernel/hostname";
const MARIADB_ENCRYPTED: &str = "SELECT SPACE, ENCRYPTION_SCHEME, MIN_KEY_VERSION, ROTATING_OR_FLUSHING \
                                 FROM information_schema.INNODB_TABLESPACES_ENCRYPTION";
const MARIADB_KNOWN: &str = "SELECT SPACE FROM information_schema.INNODB_SYS_TABLESPACES";
/// MariaDB 10.6 and newer, and what older ones have.
const MARIADB_FILES: [&str; 2] = [
    "SELECT FILENAME FROM information_schema.INNODB_SYS_TABLESPACES",
    "SELECT PATH FROM information_schema.INNODB_SYS_DATAFILES",
];
const MYSQL_FILES: &str = "SELECT FILE_NAME FROM information_schema.FILES WHERE ENGINE = 'InnoDB'";
const MYSQL_KEYRING: &str = "SELECT STATUS_VALUE FROM performance_schema.keyring_component_status \
                             WHERE STATUS_KEY = 'Data_file'";
const MYSQL_SPACES: &str = "SELECT SPACE, ENCRYPTION FROM information_schema.INNODB_TABLESPACES";

/// Asks the only server of `cluster`.
///
/// # Errors
/// Why not, in one line: it does not answer, or it does not let this user see.
pub fn ask(cluster: &Cluster) -> Result<Answers, String> {
    ask_node(cluster, cluster.nodes.first().ok_or("no server was named")?)
}

/// Asks one of them.
///
/// # Errors
/// Why not, in one line.
pub fn ask_node(cluster: &Cluster, node: &NodeSpec) -> Result<Answers, String> {
    let mut client = Client::connect(&cluster.login_at(node)).map_err(|error| error.in_one_line())?;
    let mut answers = Answers { version: wire::printable(client.server_version()), ..Answers::default() };
    for row in query(&mut client, "SHOW GLOBAL VARIABLES")?.iter() {
        let (Some(name), Some(value)) = (row.at(0), row.at(1)) else { continue };
        answers.variables.insert(name.to_ascii_lowercase(), value.into_owned());
    }
    if answers.variables.contains_key("aria_pagecache_buffer_size") {
        mariadb(&mut client, &mut answers)?;
    } else {
        mysql(&mut client, &mut answers)?;
    }
    Ok(answers)
}

fn query(client: &mut Client, sql: &str) -> Result<net::Rows, String> {
    client.query(sql).map_err(|error| error.in_one_line())
}

fn mariadb(client: &mut Client, answers: &mut Answers) -> Result<(), String> {
    for row in query(client, MARIADB_KNOWN)?.iter() {
        answers.known_spaces.extend(row.at(0).and_then(|space| space.parse::<u32>().ok()));
    }
    for row in query(client, MARIADB_ENCRYPTED)?.iter() {
        let number = |at: usize| row.at(at).and_then(|text| text.parse::<u32>().ok());
        let (Some(space), Some(scheme), Some(version)) = (number(0), number(1), number(2)) else { continue };
        let says = match (scheme, version, number(3)) {
            (_, _, Some(1..)) => RestVerdictWord::Unknown,
            (0, ..) | (_, 0, _) => RestVerdictWord::Plain,
            _ => RestVerdictWord::Encrypted,
        };
        answers.spaces.insert(space, says);
        answers.known_spaces.insert(space);
    }
    let files = MARIADB_FILES.iter().find_map(|sql| client.query(sql).ok());
    answers.datafiles = files.map(|rows| column(&rows)).unwrap_or_default();
    Ok(())
}

fn column(rows: &net::Rows) -> Vec<String> {
    rows.iter().filter_map(|row| Some(row.at(0)?.into_owned())).filter(|text| !text.is_empty()).collect()
}

fn mysql(client: &mut Client, answers: &mut Answers) -> Result<(), String> {
    for row in query(client, MYSQL_SPACES)?.iter() {
        let Some(space) = row.at(0).and_then(|text| text.parse::<u32>().ok()) else { continue };
        answers.spaces.insert(space, yes_or_no(row.at(1).as_deref(), "Y", "N"));
        answers.known_spaces.insert(space);
    }
    answers.datafiles = column(&query(client, MYSQL_FILES)?);
    // Before 8.0.24 there is no such table.
    let keyring = client.query(MYSQL_KEYRING).map(|rows| column(&rows)).unwrap_or_default();
    answers.keyring_file = keyring.into_iter().find(|file| file != "<NOT APPLICABLE>" && file != "<NONE>");
    if answers.is_on("log_bin") {
        for row in query(client, "SHOW BINARY LOGS")?.iter() {
            let Some(name) = row.at(0) else { continue };
            answers.binlogs.insert(name.into_owned(), yes_or_no(row.at(2).as_deref(), "Yes", "No"));
        }
    }
    Ok(())
}

fn yes_or_no(said: Option<&str>, yes: &str, no: &str) -> RestVerdictWord {
    match said {
        Some(said) if said == yes => RestVerdictWord::Encrypted,
        Some(said) if said == no => RestVerdictWord::Plain,
        _ => RestVerdictWord::Unknown,
    }
}

impl Answers {
    /// Empty where it is not set, or not known to the server.
    pub fn variables(&self) -> &BTreeMap<String, String> {
        &self.variables
    }

    pub fn variable(&self, name: &str) -> &str {
        self.variables.get(name).map_or("", String::as_str)
    }

    pub fn datadir(&self) -> PathBuf {
        PathBuf::from(self.variable("datadir"))
    }

    /// Of each tablespace, what the server says of it.
    pub fn space_words(&self) -> Vec<RestVerdictWord> {
        let is_maria = self.family() == Family::MariaDb;
        let word = |space: &u32| match self.spaces.get(space) {
            Some(word) => *word,
            // The threads that encrypt do not know it: it is as it was made.
            None if is_maria => RestVerdictWord::Plain,
            None => RestVerdictWord::Unknown,
        };
        self.known_spaces.iter().map(word).collect()
    }

    pub fn binlog_words(&self) -> Vec<RestVerdictWord> {
        self.binlogs.values().copied().collect()
    }

    #[cfg(test)]
    pub fn of(variables: &[(&str, &str)], datafiles: &[&str]) -> Self {
        let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let datafiles = datafiles.iter().map(|file| (*file).into()).collect();
        Self { variables, datafiles, ..Self::default() }
    }

    pub fn is_on(&self, name: &str) -> bool {
        self.variables.get(name).is_some_and(|value| value == "ON")
    }

    pub fn family(&self) -> Family {
        if self.variables.contains_key("aria_pagecache_buffer_size") {
            Family::MariaDb
        } else {
            Family::MySql
        }
    }

    /// Why these are not the answers of this directory's server; a directory of the same name may be on another
    /// machine.
    pub fn is_not_of(&self, root: &Path) -> Option<String> {
        let variable = |name: &str| self.variable(name);
        let datadir = self.datadir();
        if datadir.canonicalize().ok().as_deref() != Some(root) {
            return Some(format!("its data directory is {}", datadir.display()));
        }
        let here = std::fs::read_to_string(HOSTNAME).unwrap_or_default();
        if here.trim_end() != variable("hostname") {
            return Some(format!("it runs on {}", variable("hostname")));
        }
        if self.family() == Family::MySql
            && disk::server_uuid(root).as_deref() != Some(variable("server_uuid"))
        {
            return Some("its server_uuid is not the one of auto.cnf here".into());
        }
        None
    }

    fn says(&self, one: &Artefact) -> Option<RestSqlRow> {
        let by_variable = |name: &str| {
            let value = self.variables.get(name)?;
            let says = yes_or_no(Some(value), "ON", "OFF");
            Some(RestSqlRow { says, by: format!("{name}={value}") })
        };
        let is_maria = self.family() == Family::MariaDb;
        match one.kind {
            Kind::Temp if is_maria => by_variable("innodb_encrypt_temporary_tables"),
            kind if kind.is_space() => {
                let space = one.space_id?;
                let by = match self.family() {
                    Family::MariaDb => "INNODB_TABLESPACES_ENCRYPTION",
                    Family::MySql => "INNODB_TABLESPACES",
                };
                let says = match self.spaces.get(&space) {
                    Some(says) => *says,
                    // The threads that encrypt do not know it: it is as it was made.
                    None if is_maria && self.known_spaces.contains(&space) => RestVerdictWord::Plain,
                    None => return None,
                };
                Some(RestSqlRow { says, by: by.into() })
            }
            Kind::Redo if is_maria => by_variable("innodb_encrypt_log"),
            Kind::Redo => by_variable("innodb_redo_log_encrypt"),
            Kind::Binlog | Kind::RelayLog if is_maria => by_variable("encrypt_binlog"),
            Kind::Binlog => match self.binlogs.get(one.path.rsplit('/').next().unwrap_or_default()) {
                Some(says) => Some(RestSqlRow { says: *says, by: "SHOW BINARY LOGS".into() }),
                None => by_variable("binlog_encryption"),
            },
            Kind::RelayLog => by_variable("binlog_encryption"),
            Kind::AriaData | Kind::AriaIndex => by_variable("aria_encrypt_tables"),
            _ => None,
        }
    }
}

/// What both answers say of a file; what has changed between them is not known.
pub fn both(before: &Answers, after: &Answers, one: &Artefact) -> Option<RestSqlRow> {
    let (before, after) = (before.says(one), after.says(one));
    match (&before, after) {
        (Some(first), Some(second)) if first.says != second.says => Some(RestSqlRow {
            says: RestVerdictWord::Unknown,
            by: format!("{}: it changed while the files were read", second.by),
        }),
        (None, Some(second)) => Some(RestSqlRow { says: RestVerdictWord::Unknown, ..second }),
        (_, second) => second,
    }
}
