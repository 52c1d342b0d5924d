//! Which option counts: the option files of a server with their includes, in the order the server reads them.
//!
//! The order decides, not the group: of all groups that the server reads, the last line wins, and an `!includedir` is read
//! at the line where it stands. What a command line adds comes after all files and is not looked at here.
//!
//! Where files lie is hidden behind [`Source`], so that a test, a directory or a host over ssh can give them.
//! Start with [`resolve`]. `tests/my_print_defaults.rs` compares it with the real program on random trees of files.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

mod names;
pub mod persisted;

use formats::optfile::{
    Item, OPTION_FILE_BYTES_MAX, OptionFile, OptionFileError, OptionItem, groups_equal, is_directive,
    is_secret_key, normalise_key, shown_key,
};

/// How deep includes may stand in each other; the server's limit. A deeper one is passed over with a note.
// Source: mysys/my_default.c, max_recursion_level. It is also what ends a file that includes itself.
const INCLUDE_DEPTH_MAX: usize = 10;

/// How many files one resolution may read. A file that includes itself twice is read 2^10 times by the server; nobody
/// means that, and directories in a circle would never end in our life time.
const FILES_READ_MAX: usize = 2_000;

/// Longest path the server reads, in bytes; it passes over longer ones without a word.
// Source: mysys/my_default.c: paths of FN_REFLEN - 3 = 509 bytes and more are ignored.
const PATH_BYTES_MAX: usize = 508;

/// Where the bytes of option files come from.
pub trait Source {
    /// The whole file; `None` if there is none. A directory is an empty file, as the server sees it.
    ///
    /// A relative path counts from the working directory of the server (systemd starts it in `/`).
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;

    /// The paths of all entries of a directory, in any order; an error of kind `NotFound` if there is no such directory.
    fn list_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>>;

    /// True for a regular file that everybody may write: the server ignores it. Only asked where a file may be; a
    /// missing one is `false`.
    fn world_writable(&self, path: &Path) -> io::Result<bool>;

    /// What `~/` stands for: the home of the user who starts the server. `None`: not known.
    fn home_dir(&self) -> Option<PathBuf> {
        None
    }
}

/// The files of this machine, read with the rights of this process and from its working directory.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalFiles;

/// Which files a server starts to read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// `--defaults-file=path`: this file only, and it must exist.
    DefaultsFile(PathBuf),
    /// The usual places.
    Default {
        /// `--defaults-extra-file=path`: must exist. Read before the file in the home directory.
        extra: Option<PathBuf>,
        /// The files in reading order, such as `/etc/my.cnf`, `/etc/mysql/my.cnf`, `~/.my.cnf`; a missing one is fine.
        /// A name that starts with a dot is taken for the one in the home directory.
        paths: Vec<PathBuf>,
    },
}

/// One option that the server reads, and where it stands.
#[derive(Clone, PartialEq, Eq)]
pub struct Setting {
    /// The group, as written.
    pub group: String,
    /// The option's name with `_` for `-`, as the server knows it: whole, in lower case, and without `loose_`, `skip_` and the like.
    pub key: String,
    /// The name as written.
    pub key_as_written: String,
    /// What the option gets: without quotes and escapes; of `skip-` and `disable-` it is 0. `None` for an option without `=`.
    pub value: Option<String>,
    /// The value as it stands there.
    pub value_as_written: Option<String>,
    /// The file it stands in, as the server names it.
    pub file: PathBuf,
    /// Line number in that file, the first is 1.
    pub line: usize,
}

/// All options a server reads from its files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effective {
    /// In reading order: a later one wins.
    pub settings: Vec<Setting>,
    /// What was passed over and why, a sentence each.
    pub notes: Vec<String>,
    /// Of the notes, mistakes in an included file: the server stops reading it there, and goes on without the rest.
    pub mistakes: Vec<String>,
    /// Of what was passed over, files that everybody may write.
    pub world_writable: Vec<PathBuf>,
}

/// Why the options cannot be known. The server does not start with these files, or we could not look.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// A file named by `--defaults-file` or `--defaults-extra-file` is not there.
    #[error(
        "required option file {} does not exist\n  why:  it is named by --defaults-file or --defaults-extra-file, and the server does not start without it\n  next: check the path",
        path.display()
    )]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// An `!includedir` names no directory. The server stops reading the file there, and starts not at all if it is a
    /// top file.
    #[error(
        "{}:{line}: !includedir {} cannot be read\n  why:  there is no such directory, and the server refuses the file\n  next: create the directory or remove the line",
        file.display(), dir.display()
    )]
    MissingDir {
        /// The file with the line.
        file: PathBuf,
        /// Its line number.
        line: usize,
        /// The directory.
        dir: PathBuf,
    },
    /// A file or directory exists, but we may not or cannot read it, so the answer is not known.
    #[error(
        "cannot read {}\n  why:  {cause}; the server may be able to, so its options are not known\n  next: run sealion as a user who may read it",
        path.display()
    )]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// The system's answer.
        #[source]
        cause: io::Error,
    },
    /// A top file has a mistake: the server does not start with it.
    #[error(transparent)]
    File(#[from] OptionFileError),
    /// More files than any configuration has.
    #[error(
        "more than {files_max} option files to read\n  why:  files that include each other multiply; the last one was {}\n  next: remove the circle of !include lines",
        path.display()
    )]
    TooManyFiles {
        /// The file that was one too many.
        path: PathBuf,
        /// The limit.
        files_max: usize,
    },
}

/// Reads all option files as the server would, and keeps the options in `groups`.
///
/// For `--defaults-group-suffix` give [`with_group_suffix`]; for the groups of a server, [`default_groups`]. A mistake in
/// an included file ends only that file, as in the server, and becomes a note.
///
/// # Errors
/// Where the server would not start, and where we could not read what it may be able to read.
pub fn resolve(start: &Start, groups: &[String], src: &dyn Source) -> Result<Effective, ResolveError> {
    let mut reading = Reading { groups, src, files_read: 0, effective: Effective::default() };
    match start {
        Start::DefaultsFile(path) => reading.required(path)?,
        Start::Default { extra, paths } => {
            let mut extra = extra.as_deref();
            for path in paths {
                let name = path.file_name().map(OsStrExt::as_bytes);
                if name.is_some_and(|name| name.starts_with(b"."))
                    && let Some(extra) = extra.take()
                {
                    reading.required(extra)?;
                }
                reading.top(path)?;
            }
            if let Some(extra) = extra {
                reading.required(extra)?;
            }
        }
    }
    Ok(reading.effective)
}

/// The groups, and each again with the suffix of `--defaults-group-suffix` (or of `MYSQL_GROUP_SUFFIX`).
pub fn with_group_suffix(groups: &[String], suffix: &str) -> Vec<String> {
    let mut all = groups.to_vec();
    if !suffix.is_empty() {
        all.extend(groups.iter().map(|group| format!("{group}{suffix}")));
    }
    all
}

/// The groups a server reads. `version` starts with major and minor, such as `10.11` or `8.0.36`; `galera` says whether
/// the server was built with wsrep, which every MariaDB package for Linux is.
// Seen: mariadbd 10.11.19 --help --verbose: "The following groups are read: mysqld server mysqld-10.11 mariadb
// mariadb-10.11 mariadbd mariadbd-10.11 client-server galera".
pub fn default_groups(flavour_is_mariadb: bool, version: &str, galera: bool) -> Vec<String> {
    let base: Vec<&str> = version.split(['.', '-']).take(2).collect();
    let base = base.join(".");
    let mut groups = vec!["mysqld".to_owned(), "server".to_owned(), format!("mysqld-{base}")];
    if flavour_is_mariadb {
        for name in ["mariadb", "mariadbd"] {
            groups.push(name.to_owned());
            groups.push(format!("{name}-{base}"));
        }
        groups.push("client-server".to_owned());
        if galera {
            groups.push("galera".to_owned());
        }
    }
    groups
}

impl Effective {
    /// The setting that counts: the last one with this key, in whatever group.
    pub fn effective(&self, key: &str) -> Option<&Setting> {
        let key = setting_key(key);
        self.settings.iter().rev().find(|setting| setting.key == key)
    }

    /// The last one with this key that stands in an option file, whether or not it counts.
    pub fn in_option_file(&self, key: &str) -> Option<&Setting> {
        let key = setting_key(key);
        self.settings.iter().rev().find(|setting| setting.key == key && setting.group != persisted::GROUP)
    }

    /// Every setting with this key in reading order; the last one counts.
    pub fn history(&self, key: &str) -> Vec<&Setting> {
        let key = setting_key(key);
        self.settings.iter().filter(|setting| setting.key == key).collect()
    }
}

impl Setting {
    /// As a server reads a boolean: without a value it is on, and what it does not know is off.
    ///
    /// # Source
    /// Seen: mariadbd 10.11.19 says of `yes` and `2` "boolean value wasn't recognized. Set to OFF".
    pub fn is_on(&self) -> bool {
        self.value
            .as_ref()
            .is_none_or(|value| ["on", "1", "true"].contains(&value.to_ascii_lowercase().as_str()))
    }
}

impl Effective {
    /// Whether a server that reads these files offers TLS to clients, as far as its files say: it has a certificate, and `ssl` is not
    /// switched off behind it.
    ///
    /// # Source
    /// Seen: mariadbd 10.11.19 --help --verbose: each `ssl_…` option switches `ssl` on, so the last one of all of them counts.
    pub fn offers_client_tls(&self) -> bool {
        let has = |key: &str| {
            self.effective(key)
                .and_then(|setting| setting.value.as_ref())
                .is_some_and(|value| !value.is_empty())
        };
        let last = self.settings.iter().rev().find(|setting| {
            setting.key == "ssl"
                || ["ssl_ca", "ssl_capath", "ssl_cert", "ssl_cipher", "ssl_key"].contains(&&*setting.key)
        });
        // A key that is not named is looked for in the certificate's file.
        has("ssl_cert") && last.is_some_and(|setting| setting.key != "ssl" || setting.is_on())
    }

    /// Whether clients must use TLS, as the files say.
    pub fn requires_secure_transport(&self) -> bool {
        self.effective("require_secure_transport").is_some_and(Setting::is_on)
    }
}

/// Blind for values that are secrets.
impl fmt::Debug for Setting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = match &self.value {
            Some(_) if is_secret_key(&self.key) => Some("(not shown)"),
            other => other.as_deref(),
        };
        write!(
            formatter,
            "{}:{} [{}] {} = {value:?}",
            self.file.display(),
            self.line,
            self.group,
            shown_key(&self.key_as_written),
        )
    }
}

/// `loose-` only says what happens if the server does not know the option.
fn setting_key(key: &str) -> String {
    let key = normalise_key(key);
    key.strip_prefix("loose_").map_or(key.clone(), str::to_owned)
}

/// What became of one file.
enum Outcome {
    Read,
    Missing,
    /// Read up to a mistake.
    Stopped(ResolveError),
}

struct Reading<'a> {
    groups: &'a [String],
    src: &'a dyn Source,
    files_read: usize,
    effective: Effective,
}

impl Reading<'_> {
    fn note(&mut self, text: String) {
        self.effective.notes.push(text);
    }

    fn required(&mut self, path: &Path) -> Result<(), ResolveError> {
        match self.file(path, 0)? {
            Outcome::Read => Ok(()),
            Outcome::Missing => Err(ResolveError::Missing { path: path.to_owned() }),
            Outcome::Stopped(error) => Err(error),
        }
    }

    fn top(&mut self, path: &Path) -> Result<(), ResolveError> {
        match self.file(path, 0)? {
            Outcome::Read | Outcome::Missing => Ok(()),
            Outcome::Stopped(error) => Err(error),
        }
    }

    fn included(&mut self, path: &Path, depth: usize) -> Result<(), ResolveError> {
        match self.file(path, depth)? {
            Outcome::Read => {}
            Outcome::Missing => self.note(format!(
                "{} does not exist; the server passes over the !include line without a word",
                path.display()
            )),
            // Here the server goes on, with something else than what is written: we would have to guess.
            Outcome::Stopped(ResolveError::File(
                error @ (OptionFileError::TooLarge { .. }
                | OptionFileError::LineTooLong { .. }
                | OptionFileError::NulByte { .. }
                | OptionFileError::EmptyKey { .. }),
            )) => return Err(error.into()),
            // Seen: my_print_defaults 10.11.19 prints the mistake, keeps what it read and goes on with the outer file.
            Outcome::Stopped(error) => {
                let what = error.to_string();
                let what = what.lines().next().unwrap_or_default().to_owned();
                let mistake = format!("{what}; the server does not read the rest of {}", path.display());
                self.effective.mistakes.push(mistake.clone());
                self.note(mistake);
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, depth: usize) -> Result<Outcome, ResolveError> {
        if path.as_os_str().len() > PATH_BYTES_MAX {
            self.note(format!(
                "{} is passed over: the server reads no path longer than {PATH_BYTES_MAX} bytes",
                path.display()
            ));
            return Ok(Outcome::Read);
        }
        let Some(path) = self.expanded(path) else {
            return Ok(Outcome::Missing);
        };
        let path = path.as_path();
        self.files_read += 1;
        if self.files_read > FILES_READ_MAX {
            return Err(ResolveError::TooManyFiles { path: path.to_owned(), files_max: FILES_READ_MAX });
        }
        let unreadable = |cause| ResolveError::Unreadable { path: path.to_owned(), cause };
        if self.src.world_writable(path).map_err(unreadable)? {
            self.note(format!(
                "{} is passed over: everybody may write it, so the server ignores it",
                path.display()
            ));
            self.effective.world_writable.push(path.to_owned());
            return Ok(Outcome::Read);
        }
        let Some(bytes) = self.src.read(path).map_err(unreadable)? else {
            return Ok(Outcome::Missing);
        };
        let bytes = if depth < INCLUDE_DEPTH_MAX { bytes } else { self.without_includes(path, &bytes) };
        let (file, error) = OptionFile::parse_until_error(&bytes, &path.to_string_lossy());
        for item in file.items() {
            if let Some(error) = self.item(path, item, depth)? {
                return Ok(Outcome::Stopped(error));
            }
        }
        Ok(error.map_or(Outcome::Read, |error| Outcome::Stopped(error.into())))
    }

    /// The file with an empty line for every include line, as includes stand too deep in each other here.
    fn without_includes(&mut self, path: &Path, bytes: &[u8]) -> Vec<u8> {
        let mut kept = Vec::with_capacity(bytes.len());
        for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            if is_directive(line) {
                kept.push(b'\n');
                self.note(format!(
                    "{}:{}: {} is passed over: the server follows {INCLUDE_DEPTH_MAX} includes in each other",
                    path.display(),
                    index + 1,
                    String::from_utf8_lossy(line).trim(),
                ));
            } else {
                kept.extend_from_slice(line);
            }
        }
        kept
    }

    /// Takes one line; `Some` if the server stops reading this file here.
    fn item(
        &mut self,
        file: &Path,
        item: Item<'_>,
        depth: usize,
    ) -> Result<Option<ResolveError>, ResolveError> {
        match item {
            Item::Option(option) => self.option(file, option),
            Item::Include { path: target, line, is_cut }
            | Item::IncludeDir { path: target, line, is_cut } => {
                let target = PathBuf::from(std::ffi::OsString::from_vec(target.to_vec()));
                let place = format!("{}:{line}", file.display());
                if is_cut {
                    self.note(format!(
                        "{place}: the file ends without a line feed, so the server reads {} for the path, one character less than written",
                        target.display()
                    ));
                }
                if target.is_relative() && !target.starts_with("~") {
                    self.note(format!(
                        "{place}: {} is relative, so it depends on the directory the server is started in",
                        target.display()
                    ));
                }
                if matches!(item, Item::Include { .. }) {
                    self.included(&target, depth + 1)?;
                } else {
                    return self.dir(file, line, &target, depth + 1);
                }
            }
            Item::Group { .. } | Item::Comment { .. } | Item::Blank { .. } => {}
        }
        Ok(None)
    }

    fn dir(
        &mut self,
        file: &Path,
        line: usize,
        dir: &Path,
        depth: usize,
    ) -> Result<Option<ResolveError>, ResolveError> {
        let missing = || ResolveError::MissingDir { file: file.to_owned(), line, dir: dir.to_owned() };
        let Some(expanded) = self.expanded(dir) else {
            return Ok(Some(missing()));
        };
        let mut paths = match self.src.list_dir(&expanded) {
            Ok(paths) => paths,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(Some(missing()));
            }
            Err(cause) => {
                return Err(ResolveError::Unreadable { path: expanded, cause });
            }
        };
        // Seen: my_print_defaults 10.11.19 reads `.cnf` and `x.y.cnf` too, but neither `x.CNF` nor `x.ini`; the order
        // is that of the bytes, so `B.cnf` stands before `a.cnf`.
        let name = |path: &PathBuf| path.file_name().map(|name| name.as_bytes().to_vec());
        paths.retain(|path| name(path).is_some_and(|name| name.ends_with(b".cnf")));
        paths.sort_by_key(name);
        for path in paths {
            self.included(&path, depth)?;
        }
        Ok(None)
    }

    fn option(&mut self, file: &Path, option: OptionItem<'_>) {
        if !self.groups.iter().any(|group| groups_equal(group, option.group)) {
            return;
        }
        if !option.is_exact {
            self.note(format!(
                "{}:{}: {} is not UTF-8; its bytes are shown as far as they are text",
                file.display(),
                option.line,
                option.key,
            ));
        }
        let mut key = setting_key(option.key);
        let mut value = option.value.map(str::to_owned);
        if names::is_of_a_server(option.group) {
            let read = names::as_a_server_reads(&key, option.value);
            if let Some(whole) = read.whole_of_prefix {
                // What stands there may be a value whose sign was forgotten.
                self.note(format!(
                    "{}:{}: {} is a prefix of {whole}, and the server reads it as that option",
                    file.display(),
                    option.line,
                    shown_key(option.key),
                ));
            }
            (key, value) = (read.key, read.value);
        }
        self.effective.settings.push(Setting {
            group: option.group.to_owned(),
            key,
            key_as_written: option.key.to_owned(),
            value,
            value_as_written: option.value.map(str::to_owned),
            file: file.to_owned(),
            line: option.line,
        });
    }

    /// The path with its `~/` replaced; `None`, with a note, if we do not know by what.
    fn expanded(&mut self, path: &Path) -> Option<PathBuf> {
        if !path.as_os_str().as_bytes().starts_with(b"~") {
            return Some(path.to_owned());
        }
        let expanded = path.strip_prefix("~").ok().and_then(|rest| Some(self.src.home_dir()?.join(rest)));
        if expanded.is_none() {
            self.note(format!(
                "{} was not read: sealion does not know which home directory the server uses",
                path.display()
            ));
        }
        expanded
    }
}

impl Source for LocalFiles {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let kind = match fs::metadata(path) {
            Ok(metadata) => metadata.file_type(),
            Err(error) => return none_if_missing(error),
        };
        if kind.is_dir() {
            return Ok(Some(Vec::new()));
        }
        if kind.is_fifo() || kind.is_socket() {
            let text = "it is a pipe or socket, and reading it could wait forever";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        // One byte more than the limit is enough for the parser to refuse; /dev/zero would have no end.
        let bytes_max = u64::try_from(OPTION_FILE_BYTES_MAX).unwrap_or(u64::MAX);
        let mut bytes = Vec::new();
        match File::open(path) {
            Ok(file) => file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?,
            Err(error) => return none_if_missing(error),
        };
        Ok(Some(bytes))
    }

    fn list_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect()
    }

    fn world_writable(&self, path: &Path) -> io::Result<bool> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(metadata.is_file() && metadata.permissions().mode() & 0o002 != 0),
            Err(error) => none_if_missing(error).map(|none: Option<()>| none.is_some()),
        }
    }

    fn home_dir(&self) -> Option<PathBuf> {
        std::env::var_os("HOME").map(PathBuf::from)
    }
}

fn none_if_missing<T>(error: io::Error) -> io::Result<Option<T>> {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests;
