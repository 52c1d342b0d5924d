//! Which file is what, by its name, and by its first bytes where the name does not tell.

use formats::binlog::{self, Binlog};
use formats::innodb::Family;
use serde::{Deserialize, Serialize};

/// What a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    Table,
    System,
    Undo,
    Temp,
    Dictionary,
    Doublewrite,
    Redo,
    Binlog,
    RelayLog,
    AriaIndex,
    AriaData,
    TempFile,
    AriaLog,
    /// Of Aria, whose rows do not lie in pages; told by its header, and not by its name.
    AriaRows,
    MyIsam,
    Csv,
    Archive,
    Definition,
    TextLog,
    GaleraCache,
    BufferPool,
    ReplicationInfo,
    KeyFile,
    PrivateKey,
    Backup,
    Core,
    State,
    Other,
}

/// A table of words: kind, name in output and JSON, what can be read in it, and what helps.
const WORDS: &[(Kind, &str, &str, &str)] = &[
    (Kind::Table, "table", "rows and indexes", ""),
    (Kind::System, "system tablespace", "old row versions, change buffer, copies of pages", ""),
    (Kind::Undo, "undo", "old row versions", ""),
    (Kind::Temp, "temporary tablespace", "rows of temporary tables", TMPFS),
    (Kind::Dictionary, "data dictionary", "names, defaults, comments, procedure bodies", ""),
    (Kind::Doublewrite, "doublewrite buffer", "copies of pages", ""),
    (Kind::Redo, "redo log", "changed rows", ""),
    (Kind::Binlog, "binary log", "changed rows and statements", ""),
    (Kind::RelayLog, "relay log", "changed rows and statements", ""),
    (Kind::AriaIndex, "Aria index", "indexed values", ""),
    (Kind::AriaData, "Aria table", "rows", ""),
    (Kind::TempFile, "temporary file", "rows that are sorted, changes of open transactions", TMPDIR),
    (Kind::AriaLog, "Aria log", "changed rows, of encrypted Aria tables too", LUKS),
    (Kind::AriaRows, "Aria table without pages", "rows and indexed values", PAGES),
    (Kind::MyIsam, "MyISAM table", "rows and indexed values", ENGINE),
    (Kind::Csv, "CSV table", "rows", ENGINE),
    (Kind::Archive, "ARCHIVE table", "rows", ENGINE),
    (Kind::Definition, "definition", "names, defaults, comments", LUKS),
    (Kind::TextLog, "text log", "statements with their values, errors", LOGS),
    (Kind::GaleraCache, "Galera cache", "replicated rows", LUKS),
    (Kind::BufferPool, "buffer pool list", "page numbers", ""),
    (Kind::ReplicationInfo, "replication info", "the password of replication, in master.info", SECRET),
    (Kind::KeyFile, "key file", "keys of the encryption, beside what they encrypt", KEYS),
    (Kind::PrivateKey, "private key", "a private key of TLS", SECRET),
    (Kind::Backup, "dump or backup", "rows, as they were", BACKUP),
    (Kind::Core, "core dump", "the server's memory: rows, keys of the encryption", CORE),
    (Kind::State, "server state", "no rows", ""),
    (Kind::Other, "other", "not known", "report what it is, or move it out of the data directory"),
];

/// What is behind the bytes in use of an encrypted page.
pub(crate) const REST: &str =
    "unused ends of Aria index pages, where the server writes what is in its memory";
pub(crate) const LUKS: &str = "put the data directory on LUKS";
const TMPFS: &str = "put the temporary tablespaces on LUKS or, where they fit, on tmpfs";
const TMPDIR: &str = "put tmpdir (MySQL: innodb_tmpdir too) on LUKS or, where it fits, on tmpfs";
const PAGES: &str =
    "ALTER TABLE ... ROW_FORMAT=PAGE, for a sequence ENGINE=InnoDB, or put the data directory on LUKS";
const ENGINE: &str = "ALTER TABLE ... ENGINE=InnoDB, or put the data directory on LUKS";
const LOGS: &str =
    "switch the general and slow log off where they are not needed, write logs to a volume on LUKS";
const SECRET: &str = "mode 0600 and LUKS; a user of the host who may read it has the secret";
const KEYS: &str = "keep keys on another device or in a key server, and a copy elsewhere";
const CORE: &str =
    "remove it when it was read, and keep the next one from being written (LimitCORE=0, no core_file)";
const BACKUP: &str = "move it away, encrypted";

impl Kind {
    fn row(self) -> &'static (Kind, &'static str, &'static str, &'static str) {
        WORDS.iter().find(|(kind, ..)| *kind == self).expect("a test walks all kinds")
    }

    pub fn word(self) -> &'static str {
        self.row().1
    }

    /// Where a word of [`Self::word`] stands in lists: what holds rows first.
    pub fn rank(word: &str) -> usize {
        WORDS.iter().position(|(_, known, ..)| *known == word).unwrap_or(WORDS.len())
    }

    /// What somebody reads there if it is plain.
    pub fn holds(self) -> &'static str {
        self.row().2
    }

    /// What helps where the server cannot encrypt it; empty where there is nothing to hide or where the server can.
    pub fn cure(self) -> &'static str {
        self.row().3
    }

    /// Neither MariaDB nor MySQL encrypts files of this kind.
    pub fn is_never(self) -> bool {
        (self >= Self::AriaLog) && self != Self::Other
    }

    /// The same for one family. MySQL 9.7 refuses to encrypt its system tablespace and its temporary ones, and has no
    /// option for the files that it sorts in.
    pub fn is_never_of(self, family: Option<Family>) -> bool {
        let of_mysql = matches!(self, Self::System | Self::Temp | Self::TempFile);
        self.is_never() || (family == Some(Family::MySql) && of_mysql)
    }

    /// A tablespace of InnoDB.
    pub fn is_space(self) -> bool {
        matches!(self, Self::Table | Self::System | Self::Undo | Self::Temp | Self::Dictionary)
    }
}

const STATE_NAMES: &[&str] = &[
    "auto.cnf",
    "aria_log_control",
    "ddl_recovery.log",
    "ddl_recovery-backup.log",
    "grastate.dat",
    "gvwstate.dat",
    "sst_in_progress",
    "mysql_upgrade_info",
    "mariadb_upgrade_info",
    "mysql_upgrade_history",
    "mysqld-auto.cnf",
    "multi-master.info",
    "tc.log",
    "undo_log_truncate.log",
    "xtrabackup_checkpoints",
    "xtrabackup_info",
    "xtrabackup_binlog_info",
    "xtrabackup_galera_info",
    "xtrabackup_slave_info",
    "xtrabackup_tablespaces",
    "mariadb_backup_checkpoints",
    "mariadb_backup_info",
    "mariadb_backup_binlog_info",
    "mariadb_backup_galera_info",
    "mariadb_backup_slave_info",
    "backup-my.cnf",
    "binlog_index_tmp",
];
/// Everything of a PEM file is read that can be in one: the key may stand behind a chain.
pub const PEM_BYTES_MAX: usize = 1 << 20;
const STATE_ENDINGS: &[&str] =
    &["pid", "index", "sock", "socket", "lock", "state", "opt", "flag", "CSM", "MRG", "par", "cfg", "cfp"];
/// A server writes no more than this into such a file: lists of logs, options of a schema, columns of an exported table.
pub const STATE_BYTES_MAX: u64 = 1 << 20;
const DEFINITION_ENDINGS: &[&str] = &["frm", "sdi", "TRG", "TRN", "isl"];
const BACKUP_ENDINGS: &[&str] =
    &["sql", "dump", "bak", "xbstream", "mbstream", "tar", "gz", "zst", "xz", "bz2", "lz4", "qp", "zip"];

/// By its path below the data directory; `None` where the first bytes are needed.
pub fn by_name(path: &str) -> Option<Kind> {
    let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let starts = |prefix: &str| name.strip_prefix(prefix);
    let is_numbered =
        |prefix: &str| starts(prefix).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    let kind = match ending {
        // A dump of memory, whatever its name ends with; where it is none its bytes tell.
        _ if name == "core" || is_numbered("core.") => return None,
        "ibd" if path == "mysql.ibd" => Kind::Dictionary,
        // mariabackup's name for a table that was made while it ran.
        "ibd" | "new" => Kind::Table,
        "ibt" => Kind::Temp,
        "ibu" => Kind::Undo,
        "dblwr" | "bdblwr" => Kind::Doublewrite,
        "MAI" => Kind::AriaIndex,
        "MAD" => Kind::AriaData,
        "MYD" | "MYI" => Kind::MyIsam,
        "CSV" => Kind::Csv,
        "ARZ" | "ARM" | "ARN" => Kind::Archive,
        _ if STATE_NAMES.contains(&name) => Kind::State,
        _ if starts("aria_log.").is_some() => Kind::AriaLog,
        _ if dir == "#innodb_redo" && starts("#ib_redo").is_some() => Kind::Redo,
        _ if is_numbered("ib_logfile") => Kind::Redo,
        _ if is_numbered("ibdata") => Kind::System,
        _ if is_numbered("ibtmp") => Kind::Temp,
        _ if is_numbered("undo_") || is_numbered("undo") => Kind::Undo,
        _ if name == "galera.cache" || starts("gcache.page").is_some() => Kind::GaleraCache,
        _ if name == "ib_buffer_pool" => Kind::BufferPool,
        _ if ending == "info" && (starts("master").is_some() || starts("relay-log").is_some()) => {
            Kind::ReplicationInfo
        }
        _ if DEFINITION_ENDINGS.contains(&ending) => Kind::Definition,
        _ if STATE_ENDINGS.contains(&ending) => Kind::State,
        _ if BACKUP_ENDINGS.contains(&ending) => Kind::Backup,
        _ => return None,
    };
    Some(kind)
}

/// By its first bytes, up to [`binlog::START_BYTES`] of them. A name helps where two kinds have the same bytes.
pub fn by_start(path: &str, start: &[u8]) -> Kind {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    if binlog::read(start) != Binlog::Other {
        return if name.contains("relay") { Kind::RelayLog } else { Kind::Binlog };
    }
    if let Some(kind) = formats::innodb::space_of_start(start).map(of_space) {
        return kind;
    }
    if is_keyring(start) {
        return Kind::KeyFile;
    }
    // Source: elf(5): magic, and at 16 the type, in the machine's order of bytes; 4 is a core.
    if start.starts_with(b"\x7fELF") && matches!(start.get(16..18), Some([4, 0] | [0, 4])) {
        return Kind::Core;
    }
    // There may be text before it.
    if has_pem(start) && has(start, b"PRIVATE KEY-----") {
        return Kind::PrivateKey;
    }
    // As `openssl pkcs12` begins.
    if start.starts_with(b"-----BEGIN ") || start.starts_with(b"Bag Attributes") {
        return if start.len() < PEM_BYTES_MAX { Kind::State } else { Kind::Other };
    }
    // The length of the header comes first, then the database's options.
    if start.starts_with(b"-- MySQL dump")
        || start.starts_with(b"/*M!999999")
        || start.starts_with(b"-- MariaDB dump")
    {
        return Kind::Backup;
    }
    if matches!(ending, "log" | "err" | "csv") || name.contains("slow") || name.contains("audit") {
        return Kind::TextLog;
    }
    Kind::Other
}

/// # Source
/// `fil0fil.h` and `fsp0types.h` of MariaDB: 0 is the system tablespace, 0xFFFFFFFE the temporary one. Options may give either any name.
fn of_space(space_id: u32) -> Kind {
    match space_id {
        0 => Kind::System,
        0xffff_fffe => Kind::Temp,
        _ => Kind::Table,
    }
}

fn has(start: &[u8], word: &[u8]) -> bool {
    start.windows(word.len()).any(|window| window == word)
}

/// Such a file is read to its end before [`by_start`] is asked.
pub fn has_pem(start: &[u8]) -> bool {
    has(start, b"-----BEGIN ")
}

/// A name says what a server means to write there: what was put there is told by its bytes, and what is too large is not known.
pub fn state(path: &str, bytes: u64, start: &[u8]) -> Kind {
    let name = path.rsplit('/').next().unwrap_or(path);
    match by_start(path, start) {
        Kind::Other | Kind::TextLog if STATE_NAMES.contains(&name) || bytes <= STATE_BYTES_MAX => Kind::State,
        Kind::TextLog => Kind::Other,
        told => told,
    }
}

/// Keys of `component_keyring_file` (JSON with "elements") or of `file_key_management` (`number;hex digits` a line).
/// Nothing of it is kept.
fn is_keyring(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let json =
        text.trim_start().starts_with('{') && text.contains("\"elements\"") && text.contains("\"version\"");
    let is_key_line = |line: &str| {
        line.split_once(';').is_some_and(|(number, key)| {
            let key = key.trim();
            number.trim().parse::<u32>().is_ok()
                && matches!(key.len(), 32 | 48 | 64)
                && key.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
    };
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    json || lines.next().is_some_and(is_key_line) || start.starts_with(b"Salted__")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_words_and_what_cannot_be_encrypted_its_cure() {
        for (at, (kind, word, holds, cure)) in WORDS.iter().enumerate() {
            assert_eq!(*kind as usize, at, "in the order of the list, so that none is missing");
            assert!(!word.is_empty() && !holds.is_empty());
            let needs_none = matches!(kind, Kind::BufferPool | Kind::State);
            assert_eq!(kind.is_never() && cure.is_empty(), needs_none, "{kind:?}");
        }
        assert_eq!(WORDS.len(), Kind::Other as usize + 1);
    }

    #[test]
    fn files_of_both_families_are_known_by_name() {
        for (path, kind) in [
            ("d/t.ibd", Kind::Table),
            ("d/t#p#p0.ibd", Kind::Table),
            ("mysql.ibd", Kind::Dictionary),
            ("ibdata1", Kind::System),
            ("ibtmp1", Kind::Temp),
            ("#innodb_temp/temp_1.ibt", Kind::Temp),
            ("undo_001", Kind::Undo),
            ("undo001", Kind::Undo),
            ("#ib_16384_0.dblwr", Kind::Doublewrite),
            ("#innodb_redo/#ib_redo10_tmp", Kind::Redo),
            ("ib_logfile0", Kind::Redo),
            ("aria_log.00000001", Kind::AriaLog),
            ("aria_log_control", Kind::State),
            ("d/t.MAD", Kind::AriaData),
            ("mysql/general_log.CSV", Kind::Csv),
            ("galera.cache", Kind::GaleraCache),
            ("master.info", Kind::ReplicationInfo),
            ("master-east.info", Kind::ReplicationInfo),
            ("d/t.frm", Kind::Definition),
            ("auto.cnf", Kind::State),
            ("binlog.index", Kind::State),
        ] {
            assert_eq!(by_name(path), Some(kind), "{path}");
        }
        for path in ["binlog.000001", "general.log", "host.err", "keys", "notes.txt", "server-key.pem"] {
            assert_eq!(by_name(path), None, "{path}");
        }
    }

    #[test]
    fn the_rest_is_known_by_its_first_bytes() {
        let key = format!("1;{}\n", "ab".repeat(32));
        for (path, start, kind) in [
            ("binlog.000001", &b"\xfebin"[..], Kind::Binlog),
            ("host-relay-bin.000002", b"\xfebin", Kind::RelayLog),
            ("general.log", b"/usr/sbin/mariadbd, Version", Kind::TextLog),
            ("error.log", b"", Kind::TextLog),
            ("k", key.as_bytes(), Kind::KeyFile),
            ("k", b"{\"version\":\"1.0\",\"elements\":[]}", Kind::KeyFile),
            ("server-key.pem", b"-----BEGIN PRIVATE KEY-----", Kind::PrivateKey),
            ("ca.pem", b"-----BEGIN CERTIFICATE-----", Kind::State),
            ("notes.txt", b"buy milk", Kind::Other),
            (
                "bundle.pem",
                b"Bag Attributes\n-----BEGIN CERTIFICATE-----\n-----BEGIN RSA PRIVATE KEY-----",
                Kind::PrivateKey,
            ),
        ] {
            assert_eq!(by_start(path, start), kind, "{path}");
        }
        for (path, bytes, start, kind) in [
            ("binlog.index", 30, &b"./binlog.000001\n"[..], Kind::State),
            ("rows.index", STATE_BYTES_MAX + 1, b"1,2,3", Kind::Other),
            ("tc.log", STATE_BYTES_MAX + 1, b"\x01\x02", Kind::State),
            ("d/t.cfg", 99, key.as_bytes(), Kind::KeyFile),
            ("d/t.lock", 99, b"-- MySQL dump 10.13", Kind::Backup),
            ("host.pid", 5, b"1234\n", Kind::State),
        ] {
            assert_eq!(state(path, bytes, start), kind, "{path}");
        }
        assert_eq!(by_name("debian-10.11.flag"), Some(Kind::State));
        assert_eq!(by_name("debian-customers.txt"), None);
    }
}
