//! What a server says of its data at rest, and the statements that change it.
//!
//! What it says is a claim: its threads skip pages that were freed before, and a variable says nothing of files that are older.
//! The bytes are [`disk`]'s.
//!
//! Sources: MariaDB manual, Data-at-Rest Encryption and INNODB_TABLESPACES_ENCRYPTION; tried on MariaDB 10.11.19.

mod readable;
mod scratch;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use net::{Client, NetError};
use serde::{Deserialize, Serialize};

pub use readable::{NotRead, not_read};
pub use scratch::{
    LiveSettings, RebuildSample, SCRATCH, UndoRound, renew_system, renew_undo, sample_rebuild,
    scratch_is_foreign,
};

/// A row that is too wide for its page was a warning then (error 1118).
const AS_IT_WAS_TAKEN: &str = "SET SESSION innodb_strict_mode=OFF";
/// So long a statement waits for a table that others hold.
const LOCK_WAIT_S: u32 = 3;
/// Error 1205.
const LOCK_WAIT_TIMEOUT: u16 = 1205;
/// What a checkpoint itself writes into the log behind the place that it names.
const CHECKPOINT_BYTES: u64 = 64;
/// A list without end would be read without end.
const ROWS_MAX: usize = 2_000_000;
/// Of the temporary tablespace: it is made anew at each start, and is not in the hands of the threads that encrypt.
const TEMPORARY_SPACE: u32 = 0xffff_fffe;
/// The plugin that takes keys from a file.
pub const KEY_PLUGIN: &str = "file_key_management";

/// One tablespace of InnoDB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    pub id: u32,
    /// `schema/table` as file names have it, `innodb_system`.
    pub name: String,
    pub is_encrypted: bool,
    /// Pages are being written anew, or are not all on the disk yet.
    pub is_turning: bool,
    /// How far that is, of one thousand; `None`: it does not say.
    pub per_mille: Option<u16>,
    /// The key that its pages are written with; `None`: the threads do not know it.
    pub key_id: Option<u32>,
}

/// What a table was made with, where that is not left to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OwnChoice {
    /// `ENCRYPTED=YES`.
    Encrypted,
    /// `ENCRYPTED=NO`.
    Plain,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TableName {
    pub schema: String,
    pub table: String,
}

impl std::fmt::Display for TableName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.schema, self.table)
    }
}

impl TableName {
    /// For a statement.
    fn quoted(&self) -> String {
        let one = |name: &str| format!("`{}`", name.replace('`', "``"));
        format!("{}.{}", one(&self.schema), one(&self.table))
    }
}

/// `schema/table`, as both stand in file names, of a path in a data directory: `shop/order@002d2.ibd`, `shop/t#P#p0.ibd`. `None`: the file is
/// of no table alone.
///
/// # Source
/// MariaDB manual, Identifier to File Name Mapping.
pub fn file_stem(path: &str) -> Option<String> {
    let (dir, file) = path.rsplit_once('/')?;
    let schema = dir.rsplit('/').next().unwrap_or(dir);
    let (stem, _) = file.rsplit_once('.')?;
    let is_part = |at: &usize| stem.get(*at..*at + 3).is_some_and(|mark| mark.eq_ignore_ascii_case("#P#"));
    let end = stem.match_indices('#').map(|(at, _)| at).find(is_part).unwrap_or(stem.len());
    let table = stem.get(..end)?;
    if table.starts_with("#sql") || is_of_full_text(table) {
        return None;
    }
    Some(format!("{schema}/{table}"))
}

/// `FTS_000000000000001f_INDEX_1`: of an index of a table, which goes with it.
pub fn is_of_full_text(name: &str) -> bool {
    name.strip_prefix("FTS_").is_some_and(|rest| {
        rest.get(..16).is_some_and(|id| id.bytes().all(|byte| byte.is_ascii_hexdigit()))
            && rest.get(16..17) == Some("_")
    })
}

/// How a name stands in file names. The server knows it better than we: `@0024` is U+0024, and two letters behind an `@` are letters with
/// accents. A name of before MySQL 5.1 is as it was.
fn in_files(name: &str, encoded: &str) -> String {
    name.strip_prefix("#mysql50#").unwrap_or(encoded).to_owned()
}

/// A table that has files of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub name: TableName,
    /// As [`file_stem`] has it.
    pub file_stem: String,
    pub engine: String,
    /// `Page`, `Dynamic`, as the server writes it.
    pub row_format: String,
    pub own_choice: Option<OwnChoice>,
    /// `ENCRYPTION_KEY_ID=...`, where it was made with that.
    pub own_key_id: Option<u32>,
    /// `ALTER TABLE` does not write it anew with another key (tried on MariaDB 10.11.19: the option is taken, the pages stay).
    pub is_sequence: bool,
    /// Of rows and indexes, as the server estimates.
    pub bytes: u64,
}

impl Table {
    /// Aria encrypts rows that lie in pages, and no others.
    pub fn has_no_encryption(&self) -> bool {
        self.engine == "Aria" && self.row_format != "Page"
    }
}

/// A binary log, the oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinaryLog {
    pub name: String,
    pub bytes: u64,
}

/// Asked at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AtRest {
    pub spaces: Vec<Space>,
    pub tables: Vec<Table>,
    /// Empty too where it writes none.
    pub binary_logs: Vec<BinaryLog>,
    /// Tables of users that lie in the system tablespace: pages that they have freed stay as they are, for themselves to use again.
    pub in_system_space: u64,
    /// Plugins that give it keys, and are active.
    pub key_plugins: Vec<String>,
    /// What InnoDB's threads have done since the server's start.
    pub pages: Option<RotationPages>,
}

/// `Innodb_encryption_rotation_pages_…`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RotationPages {
    /// From the buffer pool and from the disk.
    pub looked_at: u64,
    /// Written anew.
    pub modified: u64,
}

impl AtRest {
    /// Tables by the names of their files.
    pub fn by_file_stem(&self) -> BTreeMap<&str, &Table> {
        self.tables.iter().map(|table| (table.file_stem.as_str(), table)).collect()
    }
}

/// A setting that a running server takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AtRestSetting {
    /// Whether tables without a choice of their own are to be encrypted; its threads go after those that are not so.
    InnoDb(bool),
    /// Whether Aria tables are made encrypted.
    Aria(bool),
    Threads(u32),
    /// Pages a second that its threads may write anew.
    RotationIops(u32),
    /// Dirty pages go to the disk at once, so many a second (`innodb_io_capacity`, and its limit); [`LiveSettings::restore`] is the way back.
    Flush {
        pages_per_s: u32,
    },
}

/// What a table is to say of its encryption; `None`: nothing, so that the server's own settings count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KeyWish {
    pub choice: Option<OwnChoice>,
    pub key_id: Option<u32>,
}

impl AtRestSetting {
    fn statement(&self) -> String {
        let word = |on: &bool| if *on { "ON" } else { "OFF" };
        match self {
            Self::InnoDb(on) => format!("SET GLOBAL innodb_encrypt_tables={}", word(on)),
            Self::Aria(on) => format!("SET GLOBAL aria_encrypt_tables={}", word(on)),
            Self::Threads(number) => format!("SET GLOBAL innodb_encryption_threads={number}"),
            Self::RotationIops(number) => format!("SET GLOBAL innodb_encryption_rotation_iops={number}"),
            // The limit first.
            Self::Flush { pages_per_s } => format!(
                "SET GLOBAL innodb_io_capacity_max={pages_per_s}, GLOBAL innodb_io_capacity={pages_per_s}, GLOBAL innodb_max_dirty_pages_pct=0"
            ),
        }
    }
}

/// How a table is written anew, on its own server alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rebuild {
    /// InnoDB, as it is: while it is read and written.
    InPlace(TableName),
    /// The same, with another choice of its own; `None`: it is left to the server.
    Choose(TableName, Option<OwnChoice>),
    /// The same, with another key.
    Key(TableName, KeyWish),
    /// Aria: writers wait meanwhile.
    Aria(TableName),
}

impl Rebuild {
    pub fn table(&self) -> &TableName {
        match self {
            Self::InPlace(table) | Self::Choose(table, _) | Self::Key(table, _) | Self::Aria(table) => table,
        }
    }

    /// As a person would type it.
    pub fn statement(&self) -> String {
        match self {
            Self::InPlace(table) => format!("ALTER TABLE {} FORCE", table.quoted()),
            Self::Choose(table, choice) => {
                format!("ALTER TABLE {} ENCRYPTED={}", table.quoted(), word_of(*choice))
            }
            Self::Key(table, wish) => {
                let id = wish.key_id.map_or_else(|| "DEFAULT".to_owned(), |id| id.to_string());
                let choice = word_of(wish.choice);
                format!("ALTER TABLE {} ENCRYPTED={choice} ENCRYPTION_KEY_ID={id}", table.quoted())
            }
            Self::Aria(table) => format!("ALTER TABLE {} ENGINE=Aria", table.quoted()),
        }
    }

    /// Whether the table may be written meanwhile is left to the server: with a full-text or a spatial index it may not.
    fn statements(&self, is_galera: bool) -> Vec<String> {
        // Whoever comes behind a statement that waits for a table waits too: it gives up soon, and is tried again.
        let timeouts =
            format!("SET SESSION lock_wait_timeout={LOCK_WAIT_S}, innodb_lock_wait_timeout={LOCK_WAIT_S}");
        // A session of ours has no sql_mode: a table is what it was when it was made, and `mysql.event` has a default that TRADITIONAL
        // refuses (error 1067).
        let mut all = vec!["SET SESSION sql_log_bin=0".to_owned(), timeouts, AS_IT_WAS_TAKEN.into()];
        if is_galera {
            // Of this node alone; it receives nothing meanwhile.
            all.push("SET SESSION wsrep_OSU_method='RSU'".into());
        }
        if matches!(self, Self::Key(_, KeyWish { key_id: None, .. })) {
            // DEFAULT is the session's default, and the table says nothing only where that is 1.
            all.push("SET SESSION innodb_default_encryption_key_id=1".into());
        }
        all.push(self.statement());
        all
    }
}

fn word_of(choice: Option<OwnChoice>) -> &'static str {
    match choice {
        Some(OwnChoice::Encrypted) => "YES",
        Some(OwnChoice::Plain) => "NO",
        None => "DEFAULT",
    }
}

fn rotation_pages(client: &mut Client) -> Result<Option<RotationPages>, NetError> {
    let rows = client.query("SHOW GLOBAL STATUS LIKE 'Innodb_encryption_rotation_pages_%'")?;
    let of = |name: &str| -> Option<u64> {
        let row = rows.iter().find(|row| {
            row.at(0).is_some_and(|at| at.strip_prefix("Innodb_encryption_rotation_pages_") == Some(name))
        })?;
        row.at(1)?.parse().ok()
    };
    Ok((|| {
        let looked_at = of("read_from_cache")?.saturating_add(of("read_from_disk")?);
        Some(RotationPages { looked_at, modified: of("modified")? })
    })())
}

/// A checkpoint is waited for no longer than this; under a writer that never rests it may not come.
const FLUSH_MAX: Duration = Duration::from_secs(20);
const FLUSH_POLL: Duration = Duration::from_millis(100);

/// Writes out what InnoDB has changed in memory up to now, so that the files hold it; settings are as `before` says then. `false`: some of
/// it may still be in memory only.
///
/// # Source
/// MariaDB manual, Innodb_lsn_current and Innodb_lsn_last_checkpoint: what was changed before the checkpoint is in the files.
///
/// # Errors
/// As the server says.
pub fn flush_pages(client: &mut Client, before: &LiveSettings) -> Result<bool, NetError> {
    let lsn = |client: &mut Client, name: &str| -> Result<Option<u64>, NetError> {
        let rows = client.query(&format!("SHOW GLOBAL STATUS LIKE '{name}'"))?;
        Ok(rows.first().and_then(|row| row.at(1)?.parse().ok()))
    };
    let Some(now) = lsn(client, "Innodb_lsn_current")? else { return Ok(false) };
    let set = client.query("SELECT @@GLOBAL.innodb_max_dirty_pages_pct")?;
    // As an interrupted try has left it is not as it was.
    let dirty_pages_pct = before.dirty_pages_pct.clone().or(set.scalar().map(std::borrow::Cow::into_owned));
    let before = LiveSettings { dirty_pages_pct, ..LiveSettings::default() };
    client.execute("SET GLOBAL innodb_max_dirty_pages_pct=0")?;
    let began = Instant::now();
    let mut flushed = Ok(false);
    while began.elapsed() < FLUSH_MAX {
        flushed = lsn(client, "Innodb_lsn_last_checkpoint")
            .map(|at| at.is_some_and(|at| at + CHECKPOINT_BYTES >= now));
        if !matches!(flushed, Ok(false)) {
            break;
        }
        std::thread::sleep(FLUSH_POLL);
    }
    before.restore(client)?;
    flushed
}

/// # Errors
/// It does not tell: the account needs PROCESS, and SELECT on what it is to see.
pub fn at_rest(client: &mut Client) -> Result<AtRest, NetError> {
    let mut seen = AtRest::default();
    let plugins = "SELECT PLUGIN_NAME FROM information_schema.PLUGINS WHERE PLUGIN_TYPE = 'ENCRYPTION' AND PLUGIN_STATUS = 'ACTIVE'";
    let rows = client.query(plugins)?;
    seen.key_plugins = rows.iter().filter_map(|row| row.at(0).map(std::borrow::Cow::into_owned)).collect();
    seen.pages = rotation_pages(client)?;
    // Those that the threads do not know are as they were made: they are in one of the two lists only.
    let known =
        client.query("SELECT SPACE, NAME, FILE_SIZE FROM information_schema.INNODB_SYS_TABLESPACES")?;
    let turning = client.query(
        "SELECT SPACE, NAME, ENCRYPTION_SCHEME, MIN_KEY_VERSION, ROTATING_OR_FLUSHING, KEY_ROTATION_PAGE_NUMBER, \
         KEY_ROTATION_MAX_PAGE_NUMBER, CURRENT_KEY_ID FROM information_schema.INNODB_TABLESPACES_ENCRYPTION",
    )?;
    let number = |text: Option<std::borrow::Cow<'_, str>>| text.and_then(|text| text.parse::<u64>().ok());
    let mut spaces = BTreeMap::new();
    // Statistics know little of a table that was filled a moment ago.
    let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
    for row in known.iter().take(ROWS_MAX) {
        let (Some(id), Some(name)) = (number(row.at(0)).and_then(|id| u32::try_from(id).ok()), row.at(1))
        else {
            continue;
        };
        let name = name.into_owned();
        if let Some(stem) = file_stem(&format!("{name}.ibd")) {
            *sizes.entry(stem).or_default() += number(row.at(2)).unwrap_or(0);
        }
        let (is_encrypted, is_turning) = (false, false);
        spaces.insert(id, Space { id, name, is_encrypted, is_turning, per_mille: None, key_id: None });
    }
    for row in turning.iter().take(ROWS_MAX) {
        let Some(id) = number(row.at(0)).and_then(|id| u32::try_from(id).ok()) else { continue };
        let done = number(row.at(5)).zip(number(row.at(6)));
        let per_mille =
            done.map(|(at, of)| u16::try_from(at.saturating_mul(1000) / of.max(1)).unwrap_or(1000).min(1000));
        let space = Space {
            id,
            name: row.at(1).unwrap_or_default().into_owned(),
            is_encrypted: number(row.at(2)).unwrap_or(0) > 0 && number(row.at(3)).unwrap_or(0) > 0,
            // What is not a number is not known to be over.
            is_turning: number(row.at(4)) != Some(0),
            per_mille,
            key_id: number(row.at(7)).and_then(|id| u32::try_from(id).ok()),
        };
        spaces.insert(id, space);
    }
    spaces.remove(&TEMPORARY_SPACE);
    seen.spaces = spaces.into_values().collect();
    let within =
        "SELECT COUNT(*) FROM information_schema.INNODB_SYS_TABLES WHERE SPACE = 0 AND NAME LIKE '%/%'";
    seen.in_system_space = number(client.query(within)?.scalar()).unwrap_or(0);
    let tables = client.query(
        "SELECT TABLE_SCHEMA, TABLE_NAME, ENGINE, CREATE_OPTIONS, IFNULL(DATA_LENGTH, 0) + IFNULL(INDEX_LENGTH, 0), \
         IFNULL(ROW_FORMAT, ''), CONVERT(CONVERT(TABLE_SCHEMA USING filename) USING binary), \
         CONVERT(CONVERT(TABLE_NAME USING filename) USING binary), TABLE_TYPE \
         FROM information_schema.TABLES WHERE TABLE_TYPE NOT IN ('VIEW', 'SYSTEM VIEW') AND ENGINE IS NOT NULL AND TABLE_SCHEMA \
         NOT IN ('information_schema', 'performance_schema')",
    )?;
    for row in tables.iter().take(ROWS_MAX) {
        let text = |at: usize| row.at(at).unwrap_or_default().into_owned();
        let (schema, table) = (in_files(&text(0), &text(6)), in_files(&text(1), &text(7)));
        let file_stem = format!("{schema}/{table}");
        let of_files = sizes.get(&file_stem).copied().unwrap_or(0);
        seen.tables.push(Table {
            name: TableName { schema: text(0), table: text(1) },
            file_stem,
            row_format: text(5),
            engine: text(2),
            own_choice: own_choice(&text(3)),
            own_key_id: own_key_id(&text(3)),
            is_sequence: text(8) == "SEQUENCE",
            bytes: number(row.at(4)).unwrap_or(0).max(of_files),
        });
    }
    if client.query("SELECT @@log_bin")?.scalar().as_deref() == Some("1") {
        let logs = client.query("SHOW BINARY LOGS")?;
        for row in logs.iter().take(ROWS_MAX) {
            let Some(name) = row.at(0) else { continue };
            seen.binary_logs
                .push(BinaryLog { name: name.into_owned(), bytes: number(row.at(1)).unwrap_or(0) });
        }
    }
    Ok(seen)
}

/// Files of its tablespaces, as the server has them: below the data directory, or elsewhere (`DATA DIRECTORY`).
///
/// # Errors
/// It does not tell.
pub fn data_files(client: &mut Client) -> Result<Vec<String>, NetError> {
    // Before MariaDB 10.6 the names are in another list.
    let rows = match client.query("SELECT FILENAME FROM information_schema.INNODB_SYS_TABLESPACES") {
        Ok(rows) => rows,
        Err(NetError::Refused { .. }) => {
            client.query("SELECT PATH FROM information_schema.INNODB_SYS_DATAFILES")?
        }
        Err(error) => return Err(error),
    };
    let names = rows.iter().take(ROWS_MAX).filter_map(|row| Some(row.at(0)?.into_owned()));
    Ok(names.filter(|name| !name.is_empty()).collect())
}

/// A word of `CREATE_OPTIONS`: `` transactional=1 `ENCRYPTED`='NO' ``, in the letters of whoever made the table.
fn own_word(options: &str, key: &str) -> Option<String> {
    let plain: String = options
        .chars()
        .filter(|char| !"`'\"".contains(*char))
        .map(|char| char.to_ascii_lowercase())
        .collect();
    let mut words = plain.split_ascii_whitespace();
    words.find_map(|word| word.strip_prefix(key)?.strip_prefix('=').map(str::to_owned))
}

fn own_choice(options: &str) -> Option<OwnChoice> {
    match own_word(options, "encrypted")?.as_str() {
        "yes" => Some(OwnChoice::Encrypted),
        "no" => Some(OwnChoice::Plain),
        _ => None,
    }
}

fn own_key_id(options: &str) -> Option<u32> {
    own_word(options, "encryption_key_id")?.parse().ok()
}

/// # Errors
/// As the server says.
pub fn set(client: &mut Client, setting: &AtRestSetting) -> Result<(), NetError> {
    client.execute(&setting.statement()).map(|_| ())
}

/// How a rebuild ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rebuilt {
    Done,
    /// Somebody holds the table, which is as it was. Who may be it: sessions with an open transaction, the oldest first.
    Held {
        by: Vec<String>,
    },
}

/// # Errors
/// As the server says; the table is then as it was.
pub fn rebuild(client: &mut Client, rebuild: &Rebuild, is_galera: bool) -> Result<Rebuilt, NetError> {
    for statement in rebuild.statements(is_galera) {
        match client.execute(&statement) {
            Ok(_) => {}
            Err(NetError::Refused { code: LOCK_WAIT_TIMEOUT, .. }) => {
                return Ok(Rebuilt::Held { by: holders(client) });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Rebuilt::Done)
}

/// As far as the server tells: one that has only read a table of Aria has no transaction of InnoDB.
fn holders(client: &mut Client) -> Vec<String> {
    let open = "SELECT p.ID, p.USER, p.HOST, p.COMMAND, p.TIME FROM information_schema.INNODB_TRX t JOIN information_schema.PROCESSLIST p \
                ON p.ID = t.trx_mysql_thread_id WHERE p.ID <> CONNECTION_ID() ORDER BY t.trx_started LIMIT 3";
    let mut by = Vec::new();
    if let Ok(rows) = client.query(open) {
        by.extend(rows.iter().map(|row| {
            let text = |at: usize| row.at(at).unwrap_or_default().into_owned();
            format!("session {} of {} from {} ({} for {} s)", text(0), text(1), text(2), text(3), text(4))
        }));
    }
    if let Ok(rows) = client.query("XA RECOVER")
        && rows.iter().next().is_some()
    {
        by.push(format!(
            "{} (XA RECOVER)",
            model::text::counted(rows.iter().count(), "prepared XA transaction", "prepared XA transactions")
        ));
    }
    by
}

/// A new binary log is begun.
///
/// # Errors
/// As the server says.
pub fn begin_binary_log(client: &mut Client) -> Result<(), NetError> {
    client.execute("FLUSH LOCAL BINARY LOGS").map(|_| ())
}

/// Binary logs before this one are removed, but for those that a connected replica still reads.
///
/// # Errors
/// As the server says.
pub fn purge_binary_logs(client: &mut Client, keep_from: &str) -> Result<(), NetError> {
    client.execute(&format!("PURGE BINARY LOGS TO '{}'", keep_from.replace(['\'', '\\'], ""))).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_known_by_its_files() {
        for (path, stem) in [
            ("shop/orders.ibd", "shop/orders"),
            ("sh@002eop/t#P#p0.ibd", "sh@002eop/t"),
            ("shop/t#p#p0#sp#s1.ibd", "shop/t"),
            ("mysql/global_priv.MAD", "mysql/global_priv"),
            ("d/FTS_orders.ibd", "d/FTS_orders"),
            ("d/@1obung.MAD", "d/@1obung"),
            ("/other/disk/shop/t.ibd", "shop/t"),
        ] {
            assert_eq!(file_stem(path).as_deref(), Some(stem), "{path}");
        }
        for path in ["ibdata1", "d/#sql-ib12.ibd", "d/FTS_000000000000001f_INDEX_1.ibd", "d/t"] {
            assert_eq!(file_stem(path), None, "{path}");
        }
        assert_eq!(in_files("#mysql50#a-b", "@0023mysql50@0023a@002db"), "a-b");
    }

    #[test]
    fn a_name_with_accents_is_known_by_what_the_server_calls_its_files() {
        let name = TableName { schema: "d".into(), table: "odd-ü".into() };
        let table = Table {
            name: name.clone(),
            file_stem: "d/odd@002d@1o".into(),
            engine: "InnoDB".into(),
            row_format: "Dynamic".into(),
            own_choice: None,
            own_key_id: None,
            is_sequence: false,
            bytes: 0,
        };
        let seen = AtRest { tables: vec![table], ..AtRest::default() };
        for (path, found) in [
            ("d/odd@002d@1o.ibd", Some(&name)),
            ("d/odd@002d@1o#P#p0.ibd", Some(&name)),
            ("e/odd@002d@1o.ibd", None),
            ("d/odd@1o.ibd", None),
            ("ibdata1", None),
        ] {
            let of_file = file_stem(path).and_then(|stem| seen.by_file_stem().get(stem.as_str()).copied());
            assert_eq!(of_file.map(|table| &table.name), found, "{path}");
        }
    }

    #[test]
    fn names_are_quoted_and_statements_are_those_that_a_person_types() {
        let table = TableName { schema: "a`b".into(), table: "t".into() };
        assert_eq!(Rebuild::InPlace(table.clone()).statement(), "ALTER TABLE `a``b`.`t` FORCE");
        assert_eq!(
            Rebuild::Choose(table.clone(), None).statement(),
            "ALTER TABLE `a``b`.`t` ENCRYPTED=DEFAULT"
        );
        assert_eq!(Rebuild::Aria(table).statements(true).len(), 5);
    }

    #[test]
    fn a_tables_own_choice_is_read_however_it_was_written() {
        for (options, choice) in [
            ("`ENCRYPTED`='NO'", Some(OwnChoice::Plain)),
            ("transactional=1 `encrypted`=yes", Some(OwnChoice::Encrypted)),
            ("`encrypted`='default'", None),
            ("row_format=DYNAMIC", None),
            ("partitioned `Encrypted`='Yes'", Some(OwnChoice::Encrypted)),
        ] {
            assert_eq!(own_choice(options), choice, "{options}");
        }
        for (options, id) in [
            ("`encrypted`='yes' `encryption_key_id`='3'", Some(3)),
            ("`ENCRYPTION_KEY_ID`=17", Some(17)),
            ("`encrypted`='yes'", None),
            ("encryption_key_id=many", None),
        ] {
            assert_eq!(own_key_id(options), id, "{options}");
        }
    }
}
