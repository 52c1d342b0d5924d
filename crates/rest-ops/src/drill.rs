//! `sealion keys drill`: a copy of the data is opened with the keys of the escrow alone, and a row of each table is read. What is proven
//! is that the escrow would be enough if the node's own key files were gone.
//!
//! The copy lies in a directory of its own, and its server listens on a unix socket in there and nowhere else. A shell holds both: when
//! sealion ends, however it ends, the shell's standard input ends, and it kills the server and removes the directory.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use disk::{Family, Kind, Needs};
use escrow::KeySet;
use host::ReadHost;
use net::{Client, ConnectOptions, Endpoint, ExposeSecret, NetError};
use nix::fcntl::{Flock, FlockArg};
use providers::rest::keys::{KEY_FILE, PASS_FILE};
use server::at_rest::TableName;
use server::options::Effective;
use server::{NodeError, NodeSpec, ReadNode};
use site::{Cluster, OpsError};

use crate::attempt::{self, Fit};
use crate::diagnose;
use crate::groups::{self, Tried};
use crate::keys::{Asker, chosen};
use crate::log::{self, LogKind};
use crate::material::Keys;

const NAME: &str = "sealion-drill-";
const LOCK: &str = "lock";
/// Made when the server has ended.
const ENDED: &str = "ended";
/// Recovery of a large redo log takes minutes.
const START_S_MAX: u64 = 1800;
const LOOK_EVERY: Duration = Duration::from_millis(200);
const LOG_LINES: usize = 12;
const LINKS_NAMED_MAX: usize = 5;
/// Beside the data: logs of the copy's server, and what it makes anew at its start.
const SPARE_BYTES: u64 = 256 << 20;
/// Of the node's options, those without which its files do not open or its program does not run.
const TAKEN: &[&str] = &[
    "basedir",
    "plugin_dir",
    "lc_messages_dir",
    "character_sets_dir",
    "lower_case_table_names",
    "innodb_page_size",
    "innodb_data_file_path",
    "innodb_checksum_algorithm",
    "innodb_undo_tablespaces",
    "file_key_management_encryption_algorithm",
];
/// Where files of the data lie elsewhere, a copy of the data directory is not all of it.
const ELSEWHERE: &[&str] =
    &["innodb_data_home_dir", "innodb_log_group_home_dir", "innodb_undo_directory", "aria_log_dir_path"];

/// Where the copy came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// mariadb-backup of the running server.
    Backup,
    /// The files of the server, which is down.
    Files,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drilled {
    pub entry: String,
    pub source: Source,
    /// What its keys open of the copy, before a server had it.
    pub opens: Tried,
    /// Tables of which a row was read; of one in partitions, one of each that has rows.
    pub with_rows: Vec<String>,
    /// Those that have none: they were opened.
    pub empty: Vec<String>,
    /// What could not be read, with the server's words.
    pub failed: Vec<String>,
    /// What was not read and is no matter of keys, with the reason: tables whose files are not there, or were given up.
    pub not_read: Vec<String>,
    /// Encrypted files that are of no table of this server, and on which no key could be tried.
    pub unnamed: Vec<String>,
    /// Left by a drill that was killed with its shell, and removed now.
    pub swept: Vec<PathBuf>,
}

/// Plays it for one node.
///
/// # Errors
/// It could not be played: what is missing. That the keys do not open the copy is an answer, and no error.
pub fn drill(
    cluster: &Cluster,
    name: &str,
    entry: Option<&str>,
    parent: Option<&Path>,
    passphrase: Option<&Path>,
    say: &mut dyn FnMut(String),
) -> Result<Drilled, OpsError> {
    let spec = diagnose::spec_of(cluster, name)?;
    let passphrase = cluster.passphrase(passphrase)?;
    let mut node = cluster.live_node(spec);
    let not = format!("the keys of {name} are not tried");
    let cannot = |why: String, next: &str| OpsError::cannot_look(not.clone(), why, next);
    let effective = node.effective().map_err(|error| cannot(error.to_string(), "check its option files"))?;
    let value = |key: &str| effective.effective(key).and_then(|one| one.value.clone());
    let datadir = value("datadir").map_or_else(|| "/var/lib/mysql".into(), PathBuf::from);
    let mut needs = disk::needs(&datadir)
        .map_err(|error| cannot(error.to_string(), "run it as root: data files are copied"))?;
    diagnose::elsewhere(&effective, &datadir, &mut needs);
    if needs.family != Some(Family::MariaDb) {
        return Err(cannot(
            "its files are not known to be MariaDB's".into(),
            "the escrow has keys of MariaDB only",
        ));
    }
    let chosen =
        chosen(cluster, &passphrase, entry, &needs, &Asker { not: &not, verb: "drill", node: name })?;
    let (entry, set) = (chosen.entry, chosen.set);
    let program = |name: &str| site::machine::program(name);
    let mariadbd = program("mariadbd").or_else(|| program("mysqld"));
    let mariadbd = mariadbd.ok_or_else(|| {
        cannot(
            "mariadbd is not in PATH".into(),
            "put its directory into PATH, or run it where the server is installed",
        )
    })?;
    let source = match node.view() {
        Ok(_) => Source::Backup,
        Err(NodeError::Down { .. }) => Source::Files,
        Err(error) => {
            return Err(cannot(
                format!("whether it runs cannot be told: {error}"),
                "wait until it answers, or stop it",
            ));
        }
    };
    let backup = program("mariadb-backup").or_else(|| program("mariabackup"));
    if source == Source::Backup && backup.is_none() {
        return Err(cannot(
            "mariadb-backup is not in PATH, and the files of a running server are not one moment's".into(),
            "install it (Debian: apt install mariadb-backup; RHEL: dnf install MariaDB-backup), or stop the server",
        ));
    }
    if source == Source::Files
        && let Some(key) =
            ELSEWHERE.iter().find(|key| value(key).is_some_and(|dir| Path::new(&dir) != datadir))
    {
        return Err(cannot(
            format!("{key} is set: not all of its files are in {}", datadir.display()),
            "start it, and it is copied by mariadb-backup",
        ));
    }
    let mut outside = linked_below(&datadir);
    outside.extend(value("innodb_data_file_path").filter(|path| path.contains('/')));
    if !outside.is_empty() {
        return Err(cannot(
            format!(
                "files of its tables lie outside of {}, and the second server would open these very files: {}",
                datadir.display(),
                model::link::some_of(&outside, LINKS_NAMED_MAX)
            ),
            "sealion diagnose tries the keys on them; a restored backup on another machine can be drilled",
        ));
    }
    let parent = parent.map_or_else(std::env::temp_dir, Path::to_owned);
    if let (Ok(within), true) = (parent.canonicalize(), source == Source::Files)
        && within.starts_with(&needs.root)
    {
        return Err(cannot(
            format!("{} is in the data directory, which would be copied into itself", parent.display()),
            "name another directory with --dir",
        ));
    }
    let swept = sweep(&parent);
    let free = host::Local
        .free_bytes(&parent)
        .map_err(|error| cannot(error.to_string(), "name another directory with --dir"))?;
    let needed = bytes_below(&datadir) + SPARE_BYTES;
    if free < needed {
        return Err(cannot(
            format!("{} has {free} bytes free, and the copy needs {needed}", parent.display()),
            "name a directory with more room: --dir DIR",
        ));
    }
    let io = |error: io::Error| cannot(error.to_string(), "name another directory with --dir");
    let place = Place::new(&parent).map_err(io)?;
    place.write_keys(&set, &effective).map_err(io)?;
    if let (Source::Backup, Some(backup)) = (source, backup) {
        say("copying the data by mariadb-backup".into());
        place
            .backup(&backup, cluster, spec)
            .map_err(|why| cannot(why, "see what it says; then the same command"))?;
    } else {
        say("copying the data files".into());
        copy_below(&datadir, &place.data()).map_err(io)?;
    }
    say("opening the copy with the keys of the escrow".into());
    let copied =
        disk::needs(&place.data()).map_err(|error| cannot(error.to_string(), "this is a fault of ours"))?;
    let keys = Keys::of_set(&set);
    let opens = groups::opened_by(&copied, &keys);
    let mut drilled = Drilled {
        entry,
        source,
        opens,
        with_rows: vec![],
        empty: vec![],
        failed: vec![],
        not_read: vec![],
        unnamed: vec![],
        swept,
    };
    let mut server = place.start(&mariadbd).map_err(io)?;
    match place.session(&mut server) {
        Ok(mut session) => read(&mut session, &copied, &keys, &mut drilled),
        Err(why) if place.blames_keys() || opens.opened < opens.tried => {
            drilled.failed.push(format!("the copy does not open with these keys: {why}"));
        }
        Err(why) => {
            return Err(cannot(
                format!("the second server did not come up, and does not blame keys: {why}"),
                "make mariadbd run here (PATH, libraries, memory), then the same command",
            ));
        }
    }
    if opens.opened < opens.tried {
        let closed = opens.tried - opens.opened;
        drilled.failed.push(format!("{closed} of {} files do not decrypt with these keys", opens.tried));
    }
    if opens.doubtful > 0 {
        drilled.failed.push(format!(
            "{} tables of Aria do not decrypt with these keys, or the pages that were tried are damaged",
            opens.doubtful
        ));
    }
    Ok(drilled)
}

/// Its rows are encrypted by the keys, or nobody knows whether they are.
const ENGINES: &[&str] = &["InnoDB", "Aria"];
/// A table that is not there to be read, whatever the keys: it does not exist, its engine is not there, its files were given up
/// (`DISCARD TABLESPACE`), its files are gone.
const NOT_OF_KEYS: &[u16] = &[1146, 1286, 1814, 1932];

/// One row of each table that can be encrypted. The server names them: what is in a file's name is not always told.
fn read(session: &mut Client, copied: &Needs, keys: &Keys, drilled: &mut Drilled) {
    let tables = "SELECT TABLE_SCHEMA, TABLE_NAME, ENGINE FROM information_schema.TABLES WHERE TABLE_TYPE NOT IN ('VIEW', 'SYSTEM VIEW') AND \
                  TABLE_SCHEMA NOT IN ('information_schema', 'performance_schema')";
    let parts = "SELECT TABLE_SCHEMA, TABLE_NAME, IFNULL(SUBPARTITION_NAME, PARTITION_NAME) FROM information_schema.PARTITIONS WHERE \
                 PARTITION_NAME IS NOT NULL";
    let name = |schema: Option<Cow<'_, str>>, table: Option<Cow<'_, str>>| {
        Some(TableName { schema: schema?.into_owned(), table: table?.into_owned() })
    };
    let mut all: BTreeMap<TableName, Vec<String>> = BTreeMap::new();
    match session.query(tables) {
        Ok(rows) => {
            for row in rows.iter() {
                let engine = row.at(2);
                let may_be = engine.as_deref().is_none_or(|engine| ENGINES.contains(&engine));
                if let (Some(table), true) = (name(row.at(0), row.at(1)), may_be) {
                    all.insert(table, vec![]);
                }
            }
        }
        Err(error) => drilled.failed.push(format!("the tables cannot be listed: {error}")),
    }
    match session.query(parts) {
        Ok(rows) => {
            for row in rows.iter() {
                let parts = name(row.at(0), row.at(1)).and_then(|table| all.get_mut(&table));
                if let (Some(parts), Some(part)) = (parts, row.at(2)) {
                    parts.push(part.into_owned());
                }
            }
        }
        Err(error) => drilled.failed.push(format!("the partitions cannot be listed: {error}")),
    }
    for (table, parts) in &all {
        match has_row(session, table, parts) {
            Ok(true) => drilled.with_rows.push(table.to_string()),
            Ok(false) => drilled.empty.push(table.to_string()),
            Err(NetError::Refused { code, message, .. }) => {
                let line = format!("{table}: {message} (error {code})");
                let list =
                    if NOT_OF_KEYS.contains(&code) { &mut drilled.not_read } else { &mut drilled.failed };
                list.push(line);
            }
            Err(error) => drilled.failed.push(format!("{table}: {error}")),
        }
    }
    // It has opened all of its tables by now.
    let known: BTreeSet<u32> =
        match session.query("SELECT SPACE FROM information_schema.INNODB_SYS_TABLESPACES") {
            Ok(rows) => rows.iter().filter_map(|row| row.at(0)?.parse().ok()).collect(),
            Err(_) => BTreeSet::new(),
        };
    for space in copied
        .spaces
        .iter()
        .filter(|space| space.kind == Kind::Table && !known.contains(&space.header.space_id))
    {
        match attempt::fit(space, keys) {
            None | Some(Fit::Opens(_)) => {}
            Some(_) => drilled.unnamed.push(space.path.clone()),
        }
    }
}

fn has_row(session: &mut Client, table: &TableName, parts: &[String]) -> Result<bool, NetError> {
    let quoted = |name: &str| format!("`{}`", name.replace('`', "``"));
    let from = format!("SELECT * FROM {}.{}", quoted(&table.schema), quoted(&table.table));
    let mut statements: Vec<String> =
        parts.iter().map(|part| format!("{from} PARTITION ({}) LIMIT 1", quoted(part))).collect();
    if statements.is_empty() {
        statements.push(format!("{from} LIMIT 1"));
    }
    let mut has_row = false;
    for sql in statements {
        has_row |= session.query(&sql)?.iter().next().is_some();
    }
    Ok(has_row)
}

/// What leads out of the data directory: links, and the `.isl` of a table with `DATA DIRECTORY`.
fn linked_below(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_isl = path.extension().is_some_and(|ending| ending == "isl");
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(linked_below(&path)),
            Ok(kind) if kind.is_symlink() || is_isl => found.push(path.display().to_string()),
            _ => {}
        }
    }
    found
}

/// Directories of drills that nobody holds any more are removed; those of others, and those that are held, are left.
fn sweep(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let own = nix::unistd::geteuid().as_raw();
    let is_left = |path: &PathBuf| {
        let is_named = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(NAME));
        let is_own = path.symlink_metadata().is_ok_and(|facts| facts.is_dir() && facts.uid() == own);
        is_named
            && is_own
            && File::open(path.join(LOCK))
                .is_ok_and(|file| Flock::lock(file, FlockArg::LockExclusiveNonblock).is_ok())
    };
    entries
        .map(|entry| entry.path())
        .filter(is_left)
        .filter(|path| fs::remove_dir_all(path).is_ok())
        .collect()
}

/// The directory of one drill.
struct Place {
    dir: PathBuf,
    /// Whoever sweeps leaves what is held.
    _lock: Flock<File>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// A server that goes with us.
struct Held {
    shell: Child,
}

impl Drop for Held {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

/// It reads to the end of its standard input, which comes when sealion ends. What it starts has another one.
///
/// A signal that a terminal sends to all of its programs must not end it before that.
///
/// Whoever waits for the server learns from the file `ended` that it waits for nobody, whatever the log says or does not say.
const HOLD: &str = r#"trap '' INT TERM HUP QUIT
dir=$1; shift
"$@" </dev/null >"$dir/log" 2>&1 &
server=$!
(while kill -0 "$server" 2>/dev/null; do sleep 1; done; : >"$dir/ended") </dev/null >/dev/null 2>&1 &
watch=$!
cat >/dev/null
kill -9 "$watch" "$server" 2>/dev/null
wait "$server" 2>/dev/null
rm -rf -- "$dir""#;

impl Drilled {
    /// Every table was read.
    pub fn is_proven(&self) -> bool {
        self.failed.is_empty()
            && self.not_read.is_empty()
            && self.unnamed.is_empty()
            && self.with_rows.len() + self.empty.len() > 0
    }
}

impl Place {
    fn new(parent: &Path) -> io::Result<Self> {
        let dir = parent.canonicalize()?.join(format!("{NAME}{}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&dir)?;
        let lock = OpenOptions::new().create_new(true).write(true).mode(0o600).open(dir.join(LOCK))?;
        let lock = Flock::lock(lock, FlockArg::LockExclusiveNonblock)
            .map_err(|(_, errno)| io::Error::from(errno))?;
        for below in ["data", "tmp"] {
            DirBuilder::new().mode(0o700).create(dir.join(below))?;
        }
        Ok(Self { dir, _lock: lock })
    }

    fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    fn socket(&self) -> PathBuf {
        self.dir.join("socket")
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        OpenOptions::new()
            .create_new(true)
            .write(true)
            .mode(0o600)
            .open(self.dir.join(name))?
            .write_all(bytes)
    }

    /// The keys of the escrow, and the options of a server that has nothing else.
    fn write_keys(&self, set: &KeySet, effective: &Effective) -> io::Result<()> {
        for name in [KEY_FILE, PASS_FILE] {
            let kept = set.file(name).ok_or_else(|| io::Error::other(format!("the copy has no {name}")))?;
            self.write(name, kept.bytes.expose_secret())?;
        }
        let at = |name: &str| self.dir.join(name).display().to_string();
        let mut text = format!(
            "[mariadbd]\ndatadir={}\nsocket={}\npid_file={}\ntmpdir={}\nskip_networking\nskip_grant_tables\nskip_slave_start\n\
             skip_log_bin\nplugin_load_add=file_key_management\nfile_key_management_filename={}\nfile_key_management_filekey=FILE:{}\n\
             innodb_buffer_pool_size=64M\ninnodb_buffer_pool_load_at_startup=OFF\ninnodb_encryption_threads=0\n",
            at("data"),
            at("socket"),
            at("pid"),
            at("tmp"),
            at(KEY_FILE),
            at(PASS_FILE)
        );
        for key in TAKEN {
            if let Some(value) = effective.effective(key).and_then(|one| one.value.as_ref()) {
                text += &format!("{key}={value}\n");
            }
        }
        if nix::unistd::geteuid().is_root() {
            text += "user=root\n";
        }
        self.write("server.cnf", text.as_bytes())
    }

    fn backup(&self, program: &Path, cluster: &Cluster, spec: &NodeSpec) -> Result<(), String> {
        let login = cluster.login_at(spec);
        let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        let password = login.password.as_ref().map_or("", |password| password.expose_secret());
        let mut text =
            format!("[mariabackup]\nuser={}\npassword={}\n", quoted(&login.user), quoted(password));
        if let Some(socket) = &spec.socket {
            text += &format!("socket={}\n", socket.display());
        } else {
            text += &format!("host={}\nport={}\n", spec.address, spec.port);
        }
        self.write("backup.cnf", text.as_bytes()).map_err(|error| error.to_string())?;
        let target = format!("--target-dir={}", self.data().display());
        let defaults = format!("--defaults-file={}", self.dir.join("backup.cnf").display());
        self.run(program, &[&defaults, "--backup", &target])?;
        // It has noted where the node's own keys lie; the copy is prepared with those of the escrow.
        let noted = self.data().join("backup-my.cnf");
        let own = fs::read_to_string(&noted).map_err(|error| format!("{}: {error}", noted.display()))?;
        let mut ours = String::new();
        for line in own.lines() {
            let key = line.split('=').next().unwrap_or_default().trim().replace('-', "_");
            match key.as_str() {
                "file_key_management_filename" => {
                    ours += &format!("{key}={}\n", self.dir.join(KEY_FILE).display());
                }
                "file_key_management_filekey" => {
                    ours += &format!("{key}=FILE:{}\n", self.dir.join(PASS_FILE).display());
                }
                _ => {
                    ours += line;
                    ours.push('\n');
                }
            }
        }
        fs::write(&noted, ours).map_err(|error| error.to_string())?;
        self.run(program, &["--prepare", &target])
    }

    fn run(&self, program: &Path, words: &[&str]) -> Result<(), String> {
        let log = File::create(self.dir.join("backup.log")).map_err(|error| error.to_string())?;
        let other = log.try_clone().map_err(|error| error.to_string())?;
        let status: io::Result<ExitStatus> =
            Command::new(program).args(words).stdin(Stdio::null()).stdout(log).stderr(other).status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => {
                Err(format!("{} ended with {status}: {}", program.display(), self.end_of("backup.log")))
            }
            Err(error) => Err(format!("{}: {error}", program.display())),
        }
    }

    fn lines_of(&self, name: &str) -> Vec<String> {
        let text = fs::read(self.dir.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
    }

    /// Its last errors, or its last lines where none calls itself one.
    fn end_of(&self, name: &str) -> String {
        let lines = self.lines_of(name);
        let errors: Vec<String> =
            lines.iter().filter(|line| line.to_ascii_lowercase().contains("error")).cloned().collect();
        let lines = if errors.is_empty() { lines } else { errors };
        lines.get(lines.len().saturating_sub(LOG_LINES)..).unwrap_or_default().join("; ")
    }

    /// Whether the server's log speaks of keys, or of what another key makes of a file.
    fn blames_keys(&self) -> bool {
        log::signs(&self.lines_of("log")).iter().any(|sign| sign.kind != LogKind::HarmfulAdvice)
    }

    fn start(&self, mariadbd: &Path) -> io::Result<Held> {
        let shell = Command::new("/bin/sh")
            .args(["-c", HOLD, "sh"])
            .arg(&self.dir)
            .arg(mariadbd)
            .arg(format!("--defaults-file={}", self.dir.join("server.cnf").display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Held { shell })
    }

    fn session(&self, server: &mut Held) -> Result<Client, String> {
        let options = ConnectOptions {
            connect_timeout: Duration::from_secs(3),
            io_timeout: Duration::from_secs(120),
            ..ConnectOptions::new(Endpoint::unix(self.socket()), "root")
        };
        let until = Instant::now() + Duration::from_secs(START_S_MAX);
        loop {
            match Client::connect(&options) {
                Ok(session) => return Ok(session),
                Err(_) if self.has_given_up(server) => return Err(self.end_of("log")),
                Err(error) if Instant::now() > until => return Err(error.to_string()),
                Err(_) => std::thread::sleep(LOOK_EVERY),
            }
        }
    }

    /// The shell waits for us even when its server has ended.
    fn has_given_up(&self, server: &mut Held) -> bool {
        !matches!(server.shell.try_wait(), Ok(None)) || self.dir.join(ENDED).exists()
    }
}

fn bytes_below(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(facts) if facts.is_dir() => bytes_below(&entry.path()),
            Ok(facts) => facts.len(),
            Err(_) => 0,
        })
        .sum()
}

/// Files and directories; sockets and links are no data.
fn copy_below(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let target = to.join(entry.file_name());
        if kind.is_dir() {
            DirBuilder::new().mode(0o700).create(&target)?;
            copy_below(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
