//! Connections in the settings of applications, and which mode of which client each of them is.
//!
//! A form is one kind of file ([`forms`], one file each): bytes in, [`ConnectionSettings`] connections out, no file system. What a file does
//! not say itself is [`SettingValue::Unread`] with its place, and never guessed. [`choose`] compares the settings with what a
//! driver's definition says of its modes; [`style`] writes a mode the way the file is written. No verdict is known here: those
//! are measured, and stand in the matrix.
//!
//! User names and passwords end here: no [`ConnectionSettings`] has one.

pub mod across;
mod beside;
pub mod choose;
mod doubts;
mod effects;
pub mod forms;
mod harmless;
mod lexical;
mod nodes;
mod shadows;
pub mod style;
mod urls;

pub use choose::{Choice, choose};
pub use doubts::NODE_SWITCH;
pub use formats::settings::SettingsError;
use formats::settings::code::Variables;
pub use forms::python::MysqldbReplacement;
pub use forms::{FORMS, Form, option_file};
pub use style::Style;

use crate::client::{Client, Settings, Spelt};
use crate::clients::CLIENTS;

/// What one file says.
#[derive(Debug, Default)]
pub struct Read {
    pub found: Vec<ConnectionSettings>,
    /// What others are made of by `<<`, and nobody connects to unless it is asked for by its name.
    pub templates: Vec<ConnectionSettings>,
    /// Places that may well be a connection, and cannot be read.
    pub unread: Vec<Unread>,
    /// Other files that it names, to be read as environment: path and line.
    pub environment_files: Vec<(String, usize)>,
    /// What those say comes over what this one says (systemd); in a compose file it is the other way round.
    pub files_count_more: bool,
    /// Names of the variables that it sets, where it is an environment.
    pub variables: Vec<String>,
    /// Names and lines of those that it sets beside the files that it names.
    pub set_beside: Vec<(String, usize)>,
    pub notes: Vec<String>,
    /// Why nothing that was found in it is certain: where, and what is wrong.
    pub doubt: Option<(usize, String)>,
}

/// How many connections one file may have: more are data, and each costs a look at the whole file.
pub const CONNECTIONS_MAX: usize = 128;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    pub line: usize,
    pub why: String,
}

/// One connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionSettings {
    pub line: usize,
    /// Its name in the file: `DATABASES.default`, `DATABASE_URL`.
    pub what: String,
    pub driver: Driver,
    /// Empty where the file does not say it.
    pub host: String,
    /// About TLS alone.
    pub settings: Vec<Setting>,
    pub style: Style,
    /// Of a URL with several hosts what stands in front of its database, with `{host}` and `{port}` in each place: its driver
    /// does with several hosts what it does not with one.
    pub front: Option<String>,
}

/// Whose words these are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Driver {
    /// A family of [`crate::client::Settings`].
    Family(&'static str),
    Unknown {
        why: String,
        one_of: Vec<&'static str>,
    },
}

/// Django's engine loads `MySQLdb`, and another file of the program may have put PyMySQL under that name.
const DJANGO: (&str, [&str; 2]) = (
    "Django uses mysqlclient, or PyMySQL where install_as_MySQLdb() is called, perhaps in another file; say which with --driver",
    ["mysqlclient", "pymysql"],
);

impl Driver {
    pub(crate) fn of_django() -> Self {
        Self::Unknown { why: DJANGO.0.into(), one_of: DJANGO.1.to_vec() }
    }

    /// Django's engine: what holds for both of its drivers holds.
    pub fn is_of_django(&self) -> bool {
        matches!(self, Self::Unknown { why, .. } if why == DJANGO.0)
    }
}

/// One setting, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    pub key: String,
    pub given: SettingValue,
    pub line: usize,
    /// Where it is another file than the connection's.
    pub file: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingValue {
    /// Never a secret: those are dropped when they are read.
    Text(String),
    Flag(bool),
    /// What a file holds, read by the program when it starts.
    Content,
    /// Only the running program knows; why.
    Unread(String),
}

/// Clients that read these words, those of old series last.
pub fn family(name: &str) -> Vec<&'static Client> {
    let mut all: Vec<&'static Client> = CLIENTS
        .iter()
        .copied()
        .filter(|client| client.settings.is_some_and(|settings| settings.family == name))
        .collect();
    all.sort_by_key(|client| client.settings.is_some_and(|settings| settings.is_old));
    all
}

/// All families, for people who must name one.
pub fn families() -> Vec<&'static str> {
    let mut all: Vec<&'static str> =
        CLIENTS.iter().filter_map(|client| client.settings).map(|settings| settings.family).collect();
    all.dedup();
    all
}

/// Whether a word has to do with TLS, for drivers that do not list it.
pub fn is_about_tls(key: &str) -> bool {
    const PARTS: [&str; 7] = ["ssl", "tls", "cert", "truststore", "keystore", "plaintext", "verify"];
    let key = key.to_ascii_lowercase();
    PARTS.iter().any(|part| key.contains(part))
        || matches!(key.as_str(), "read_default_file" | "default_file" | "option_files" | "use_pure" | "...")
        || key.ends_with("_read_default_file")
        || is_socket_key(&key)
}

/// The word of some driver for a Unix socket.
pub fn is_socket_key(key: &str) -> bool {
    const WORDS: [&str; 6] =
        ["socket", "socketpath", "unix_socket", "localsocket", "mysql_socket", "mariadb_socket"];
    WORDS.iter().any(|word| word.eq_ignore_ascii_case(key))
}

/// C libraries, and PHP, for which `localhost` is a socket, and any other host is none whatever else is said.
const LOCALHOST_IS_A_SOCKET: [&str; 6] =
    ["mysqlclient", "ruby-mysql2", "php-pdo", "php-mysqli", "dbd-mysql", "dbd-mariadb"];

/// The key of what may be any setting.
pub const ANY: &str = "...";

/// A place that was not read, and may say anything: with it nothing is known of a connection.
pub fn obstacle(line: usize, why: &str) -> Setting {
    Setting::new(ANY, SettingValue::Unread(why.to_owned()), line)
}

/// Leaves what counts for the driver: options that have nothing to do with TLS go, and those that nobody knows are obstacles.
pub fn settle(found: &mut ConnectionSettings) {
    let clients = match found.driver {
        Driver::Family(name) => family(name),
        Driver::Unknown { .. } => vec![],
    };
    settle_host(found);
    let is_known = |key: &str| {
        clients.iter().filter_map(|client| client.settings).any(|settings| {
            choose::key(settings, key).is_some()
                || settings.chosen_by.is_some_and(|(name, _)| name == key)
                || settings.socket == Some(key)
        })
    };
    for mut setting in std::mem::take(&mut found.settings) {
        let key = setting.key.clone();
        if key == ANY || is_known(&key) {
            found.settings.push(setting);
            continue;
        }
        let is_harmless = match found.driver {
            Driver::Family(name) => harmless::is_harmless(name, &key),
            Driver::Unknown { ref one_of, .. } if found.driver.is_of_django() => {
                one_of.iter().all(|name| harmless::is_harmless(name, &key))
            }
            Driver::Unknown { .. } => harmless::is_harmless_to_any(&key),
        };
        if is_harmless {
            continue;
        }
        if !is_about_tls(&key) {
            // Whatever it is worth is nobody's business.
            if let SettingValue::Text(text) = &mut setting.given {
                zeroize::Zeroize::zeroize(text);
            }
            let shown = if is_word(&key) { key.as_str() } else { "(no word)" };
            let why = format!("whether the option {shown} touches TLS is not known");
            setting.given = SettingValue::Unread(why);
            if matches!(found.driver, Driver::Family(_)) {
                setting.key = ANY.into();
            }
        }
        found.settings.push(setting);
    }
}

/// A host among the options counts over the one beside them: whether it is a socket is decided by that one.
fn settle_host(found: &mut ConnectionSettings) {
    let family = match found.driver {
        Driver::Family(family) => family,
        // One of them is a C library.
        Driver::Unknown { .. } if found.driver.is_of_django() => "mysqlclient",
        Driver::Unknown { .. } => return,
    };
    let is_of_c = LOCALHOST_IS_A_SOCKET.contains(&family);
    let is_host = |setting: &&Setting| matches!(setting.key.as_str(), "host" | "hostname");
    if is_of_c
        && found.style != Style::Perl
        && let Some(setting) = found.settings.iter().rev().find(is_host)
    {
        found.host = match &setting.given {
            SettingValue::Text(host) => host.replace(formats::settings::HOLE, "…"),
            _ => "…".to_owned(),
        };
    }
    // Django hands on no host where HOST is empty, and then the library of C has its own socket. PyMySQL has none.
    if found.driver == Driver::Family("mysqlclient") && found.what.starts_with("DATABASES.") {
        without_host(found);
    }
    let hosts: Vec<&Setting> = found.settings.iter().filter(is_host).collect();
    // Of an option file the last counts, and of its groups the later one.
    if found.style != Style::OptionFile
        && hosts.len() > 1
        && hosts.windows(2).any(|pair| matches!(pair, [one, other] if one.given != other.given))
    {
        let why = "two hosts are said, and which of them counts was not measured";
        let line = hosts.last().map_or(found.line, |setting| setting.line);
        found.settings.push(obstacle(line, why));
    }
    // mysqlnd takes it in any case, and PDO in front of it does not.
    let is_of_php = matches!(family, "php-pdo" | "php-mysqli");
    if is_of_php && found.host.eq_ignore_ascii_case("localhost") && found.host != "localhost" {
        let why = "localhost in capitals is a socket to one part of PHP, and a host to another";
        found.settings.push(obstacle(found.line, why));
    }
}

/// Where nobody says a host: to the libraries of C, and to PDO, that is `localhost`, unless an option file is read that may say one. Only
/// for what was read whole: a host that is filled in later is none that is missing.
pub(crate) fn without_host(found: &mut ConnectionSettings) {
    let Driver::Family(family) = found.driver else { return };
    let reads_more = |setting: &Setting| {
        ["default_file", "default_group", "defaults_file"].iter().any(|word| setting.key.contains(word))
    };
    if LOCALHOST_IS_A_SOCKET.contains(&family)
        && found.host.is_empty()
        && !found.settings.iter().any(reads_more)
    {
        found.host = "localhost".into();
    }
}

/// A key as people write them, and none that somebody has put a secret in.
fn is_word(key: &str) -> bool {
    key.len() <= 48 && key.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

impl ConnectionSettings {
    /// The same place, found once more. Several of a file that is one line are not.
    fn is_again(&self, known: &Self) -> bool {
        self.line == known.line
            && self.what == known.what
            && (&self.driver, &self.host, &self.settings) == (&known.driver, &known.host, &known.settings)
    }

    /// Why something that reaches the driver was not read; the first of it.
    pub fn obstacle(&self) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.key == ANY)
    }

    /// It goes through a Unix socket of its machine: nobody on a network is in between.
    pub fn is_local(&self) -> bool {
        let Driver::Family(family) = self.driver else { return false };
        if self.obstacle().is_some() {
            return false;
        }
        let own = self::family(family).first().and_then(|client| client.settings?.socket);
        let has_socket = self.settings.iter().any(|setting| {
            own == Some(setting.key.as_str())
                && matches!(&setting.given, SettingValue::Text(text) if !text.is_empty())
        });
        let (name, socket) = self.host.split_once(':').unwrap_or((&self.host, ""));
        if !LOCALHOST_IS_A_SOCKET.contains(&family) {
            return has_socket;
        }
        // The C libraries compare every letter: `Localhost` is a host to them.
        // WordPress takes what stands behind the colon for a port, which says nothing of a socket to mysqlnd.
        let is_of_wordpress = self.style == Style::WordPress;
        (name == "localhost" && (socket.is_empty() || socket.starts_with('/') || is_of_wordpress))
            || (has_socket && self.host.is_empty())
    }
}

/// Whether a mode can be written the way that the file is.
pub fn is_writable(style: Style, client: &'static Client, settings: &Settings, spelt: &Spelt) -> bool {
    match style {
        Style::Query => urls::is_writable(client, settings, spelt),
        // Laravel's own `config/database.php` takes one variable from the environment.
        Style::Env => spelt.settings.iter().all(|(name, _)| *name == forms::LARAVEL_CA),
        // WordPress hands on flags, and has no constant for a CA.
        Style::WordPress => {
            !spelt.settings.is_empty()
                && spelt.settings.iter().all(|(name, _)| name.starts_with("MYSQLI_CLIENT_"))
        }
        _ => true,
    }
}

/// One connection text, as it stands on a command line or in a file.
pub fn text(text: &str) -> Option<ConnectionSettings> {
    let mut found = urls::found(text, 1, "")?;
    clean(&mut found);
    Some(found)
}

/// Files that Spring would read along with this one, by their names alone.
pub fn is_of_spring(name: &str) -> bool {
    forms::properties::is_of_spring(name)
}

/// The line in another of Spring's files that may change this connection.
pub fn spoken_of(
    found: &ConnectionSettings,
    own: &str,
    name: &str,
    bytes: &[u8],
    is_beside: bool,
) -> Option<usize> {
    let is_under = is_beside && forms::properties::is_laid_under(name, own);
    forms::properties::spoken_of(found, name, bytes, is_under)
}

/// Whether a file of Python, of the same program, puts PyMySQL in the place of `MySQLdb`.
pub fn mysqldb_replacement(bytes: &[u8]) -> MysqldbReplacement {
    forms::python::replacement(bytes)
}

/// Names and values as they may be shown.
fn clean(found: &mut ConnectionSettings) {
    // Names are shown, and somebody may have written a URL where a name belongs.
    if found.what.contains('@') || found.what.contains("://") {
        found.what = "(no name)".into();
    }
    settle(found);
    for setting in &mut found.settings {
        if setting.key.contains(['@', '/', ' ']) {
            setting.key = "(no word for ssl)".into();
        }
        if let SettingValue::Text(text) = &mut setting.given
            && !is_harmless(&setting.key)
        {
            zeroize::Zeroize::zeroize(text);
        }
    }
}

/// Reads a file with the form that its name asks for.
///
/// # Errors
/// What is no file of this form. The error has no word of it.
pub fn read(name: &str, bytes: &[u8]) -> Result<(&'static Form, Read), SettingsError> {
    read_in(name, bytes, &Variables::default())
}

/// The same, of a program that has this environment.
///
/// # Errors
/// As [`read`].
pub fn read_in(
    name: &str,
    bytes: &[u8],
    variables: &Variables,
) -> Result<(&'static Form, Read), SettingsError> {
    let form = forms::form(name);
    let mut read = (form.read)(bytes, variables)?;
    // Not UTF-8 is no reason: these words are ASCII.
    let text = String::from_utf8_lossy(bytes);
    read.doubt = read
        .doubt
        .or_else(|| lexical::doubt(form.id, &text).map(|(at, why)| (doubts::line_of(&text, at), why)))
        .or_else(|| doubts::of_file(form.id, &text));
    for found in read.found.iter_mut().chain(&mut read.templates) {
        doubts::of_connection(form.id, &text, found);
        if let Some((line, why)) = &read.doubt {
            found
                .settings
                .push(obstacle(*line, &format!("this file cannot be read for certain: line {line}: {why}")));
        }
        clean(found);
    }
    if read.found.len() > CONNECTIONS_MAX {
        read.found.truncate(CONNECTIONS_MAX);
        read.unread.push(Unread { line: 1, why: "it holds more connections than settings do".into() });
    }
    for one in read.unread.iter_mut().filter(|one| one.why.contains('@')) {
        one.why = "what stands here cannot be read".into();
    }
    read.found.sort_by_key(|found| found.line);
    Ok((form, read))
}

/// Whether the value may be handed on: a key that no secret has, written as keys are written.
fn is_harmless(key: &str) -> bool {
    let is_clean = key.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    let last = key.rsplit(['.', '_', '-']).next().unwrap_or_default();
    is_clean && !formats::optfile::is_secret_key(key) && !last.eq_ignore_ascii_case("key")
}

impl Setting {
    pub(crate) fn new(key: impl Into<String>, given: SettingValue, line: usize) -> Self {
        Self { key: key.into(), given, line, file: None }
    }
}

#[cfg(test)]
mod tests;
