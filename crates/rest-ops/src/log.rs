//! What the lines of an error log say of keys. No I/O.
//!
//! # Source
//! Error logs of MariaDB 10.11.19 and MySQL 9.7.4, whose keys were deleted, cut, exchanged and aged on purpose.

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogKind {
    /// A key file or pass file is not where the options say.
    FileMissing,
    /// A key file is there and the server may not read it.
    FileForbidden,
    /// A key file does not open with its pass file, or is none.
    FileNotOpened,
    /// A key is not in the key file.
    KeyMissing,
    /// The plugin or component that hands out keys is not there, or has failed.
    NoPlugin,
    /// A key that the redo log needs is not there.
    RedoKey,
    /// The redo log cannot be read: a wrong key looks so, and so does damage.
    Redo,
    /// A page or the key of a tablespace does not decrypt: a wrong key looks so, and so does damage.
    Page,
    /// MySQL's keyring has not the master key, or another one.
    MasterKey,
    /// The server advises what destroys data that the right key would bring back.
    HarmfulAdvice,
}

impl LogKind {
    pub fn word(self) -> &'static str {
        match self {
            Self::FileMissing => "file_missing",
            Self::FileForbidden => "file_forbidden",
            Self::FileNotOpened => "file_not_opened",
            Self::KeyMissing => "key_missing",
            Self::NoPlugin => "no_plugin",
            Self::RedoKey => "redo_key",
            Self::Redo => "redo",
            Self::Page => "page",
            Self::MasterKey => "master_key",
            Self::HarmfulAdvice => "harmful_advice",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSign {
    pub kind: LogKind,
    /// As it stands there.
    pub line: String,
}

/// All parts of a row must be in the line. A line may be of several kinds.
const ROWS: &[(&[&str], LogKind)] = &[
    (&["mariadbd: File '", "' not found (Errcode: 2"], LogKind::FileMissing),
    (&["mariadbd: File '", "(Errcode: 13"], LogKind::FileForbidden),
    (&["mysqld: File '", "' not found (Errcode: 2"], LogKind::FileMissing),
    (&["mysqld: File '", "(Errcode: 13"], LogKind::FileForbidden),
    (&["Cannot decrypt ", ". Wrong key?"], LogKind::FileNotOpened),
    (&["Cannot decrypt ", ". Not encrypted"], LogKind::FileNotOpened),
    (&["System key id 1 is missing at "], LogKind::KeyMissing),
    (&["Encryption key is not found for "], LogKind::KeyMissing),
    (&["file-key-management-filename is not set"], LogKind::NoPlugin),
    (&["Plugin 'file_key_management' init function returned error"], LogKind::NoPlugin),
    (&["encryption plugin is not available"], LogKind::NoPlugin),
    (&["Obtaining redo log encryption key version"], LogKind::RedoKey),
    (&["Reading log encryption info failed"], LogKind::RedoKey),
    (&["Malformed log record at LSN"], LogKind::Redo),
    (&["Missing FILE_CHECKPOINT("], LogKind::Redo),
    (&["et innodb_force_recovery=1 to ignore"], LogKind::HarmfulAdvice),
    (&["Encrypted page [page id: ", "looks corrupted"], LogKind::Page),
    (&["Table is compressed or encrypted but uncompress or decrypt failed"], LogKind::Page),
    (&["Page read from tablespace is corrupted"], LogKind::Page),
    (&[" is corrupted. Please drop the table and recreate"], LogKind::HarmfulAdvice),
    // MySQL.
    (&["[MY-012226]"], LogKind::MasterKey),
    (&["[MY-012664]"], LogKind::MasterKey),
    // Of a keyring that lacks the key nothing of these is said.
    (&["[MY-012657]"], LogKind::NoPlugin),
    (&["[MY-012676]"], LogKind::NoPlugin),
    (&["[MY-013063]"], LogKind::NoPlugin),
    (&["[MY-013066]"], LogKind::RedoKey),
    (&["[MY-013714]", "keyring"], LogKind::NoPlugin),
    (&["[MY-015108]", "keyring"], LogKind::FileNotOpened),
];

/// Before the server says that it starts, MySQL's components have said what is wrong with them.
const START_MARKS: &[&str] = &["[Note] Starting MariaDB ", "[MY-010116]"];
const BEFORE_START: &str = "Component component_keyring";
/// A line of a log can be as long as a statement.
const LINE_CHARS_MAX: usize = 400;

/// The lines of the newest start, and whether its beginning is among them.
pub fn newest_start(lines: &[String]) -> (&[String], bool) {
    let is_start = |line: &String| START_MARKS.iter().any(|mark| line.contains(mark));
    let Some(mut from) = lines.iter().rposition(is_start) else { return (lines, false) };
    while let Some(before) = from.checked_sub(1)
        && lines.get(before).is_some_and(|line| line.contains(BEFORE_START))
    {
        from = before;
    }
    (lines.get(from..).unwrap_or_default(), true)
}

/// In the order of the log; the same text once, whatever its time.
pub fn signs(lines: &[String]) -> Vec<LogSign> {
    let mut signs: Vec<LogSign> = Vec::new();
    let mut texts: Vec<(LogKind, &str)> = Vec::new();
    for line in lines {
        for (parts, kind) in ROWS {
            let text = line.find('[').and_then(|at| line.get(at..)).unwrap_or(line);
            if parts.iter().all(|part| line.contains(part)) && !texts.contains(&(*kind, text)) {
                texts.push((*kind, text));
                signs.push(LogSign { kind: *kind, line: line.chars().take(LINE_CHARS_MAX).collect() });
            }
        }
    }
    signs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<LogKind> {
        let lines: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
        let (newest, is_whole) = newest_start(&lines);
        assert!(is_whole, "{text}");
        signs(newest).into_iter().map(|sign| sign.kind).collect()
    }

    /// Lines as MariaDB 10.11.19 wrote them, each of its own drill.
    #[test]
    fn lines_of_mariadb_are_told_apart() {
        use LogKind::{FileMissing, FileNotOpened, HarmfulAdvice, KeyMissing, NoPlugin, Page, Redo, RedoKey};
        let start = "2026-11-27  4:22:59 0 [Note] Starting MariaDB 10.11.19-MariaDB-0+deb12u1-log source revision 5843d847 as process 8016";
        let plugin =
            "2026-11-27  4:22:58 0 [ERROR] Plugin 'file_key_management' init function returned error.
            2026-11-27  4:22:58 0 [ERROR] Plugin 'file_key_management' registration as a ENCRYPTION failed.
            2026-11-27  4:22:58 0 [ERROR] InnoDB: cannot enable encryption, encryption plugin is not available
            2026-11-27  4:22:58 0 [ERROR] Plugin 'InnoDB' registration as a STORAGE ENGINE failed.";
        for (lines, expected) in [
            (
                format!("2026-11-27  4:22:57 0 [ERROR] mariadbd: File '/k/k.enc' not found (Errcode: 2 \"No such file or directory\")\n{plugin}"),
                vec![FileMissing, NoPlugin, NoPlugin],
            ),
            (
                format!("2026-11-27  4:22:58 0 [ERROR] mariadbd: Cannot decrypt /k/k.enc. Wrong key?\n{plugin}"),
                vec![FileNotOpened, NoPlugin, NoPlugin],
            ),
            (
                format!("2026-11-27  4:23:04 0 [ERROR] mariadbd: Cannot decrypt /k/k.enc. Not encrypted\n{plugin}"),
                vec![FileNotOpened, NoPlugin, NoPlugin],
            ),
            (
                format!("2026-11-27  4:23:01 0 [ERROR] mariadbd: System key id 1 is missing at /k/k.enc line 1, column 1\n{plugin}"),
                vec![KeyMissing, NoPlugin, NoPlugin],
            ),
            (
                format!("2026-11-27  4:23:08 0 [ERROR] mariadbd: file-key-management-filename is not set\n{plugin}"),
                vec![NoPlugin, NoPlugin, NoPlugin],
            ),
            (
                "2026-11-27  4:23:05 0 [ERROR] InnoDB: Obtaining redo log encryption key version 1 failed (4294967295). Maybe the key or the required encryption key management plugin was not found.
                2026-11-27  4:23:05 0 [ERROR] InnoDB: Reading log encryption info failed; the log was created with MariaDB 10.11.19.".to_owned(),
                vec![RedoKey, RedoKey],
            ),
            (
                "2026-11-27  4:23:01 0 [ERROR] InnoDB: Malformed log record at LSN 531143; set innodb_force_recovery=1 to ignore.
                2026-11-27  4:23:01 0 [ERROR] InnoDB: Missing FILE_CHECKPOINT(531119) at 531143
                2026-11-27  4:23:01 0 [ERROR] InnoDB: Log scan aborted at LSN 531143".to_owned(),
                vec![Redo, HarmfulAdvice, Redo],
            ),
            (
                "2026-11-27  4:23:00 6 [ERROR] InnoDB: Encrypted page [page id: space=6, page number=3] in file ./d/t2.ibd looks corrupted; key_version=1
                2026-11-27  4:23:00 6 [ERROR] InnoDB: Failed to read page 3 from file './d/t2.ibd': Table is compressed or encrypted but uncompress or decrypt failed.
                2026-11-27  4:23:00 6 [ERROR] mariadbd: Table `d`.`t2` is corrupted. Please drop the table and recreate.
                2026-11-27  4:23:01 7 [ERROR] mariadbd: Table `d`.`t2` is corrupted. Please drop the table and recreate.".to_owned(),
                vec![Page, Page, HarmfulAdvice, HarmfulAdvice],
            ),
            (
                "2026-11-27  4:45:43 0 [ERROR] InnoDB: Encryption key is not found for ./rest/two.ibd
                2026-11-27  4:45:43 0 [ERROR] InnoDB: Recovery cannot access file ./rest/two.ibd (tablespace 6)
                2026-11-27  4:45:43 0 [Note] InnoDB: You may set innodb_force_recovery=1 to ignore this and possibly get a corrupted database.
                2026-11-27  4:45:43 0 [Note] InnoDB: Set innodb_force_recovery=1 to ignore corrupted pages.".to_owned(),
                vec![KeyMissing, HarmfulAdvice, HarmfulAdvice],
            ),
            (
                "2026-11-27  4:23:07 0 [ERROR] InnoDB: Failed to read page 7 from file './ibdata1': Page read from tablespace is corrupted.".to_owned(),
                vec![Page],
            ),
            (
                "2026-11-27  4:22:59 0 [Note] Using encryption key id 1 for temporary files
                2026-11-27  4:22:59 0 [ERROR] Can't start server: Bind on TCP/IP port: Address already in use".to_owned(),
                vec![],
            ),
        ] {
            // What an earlier start has said is not of this one.
            let before = "2026-11-27  4:00:00 0 [ERROR] mariadbd: file-key-management-filename is not set";
            let mut found = kinds(&format!("{before}\n{start}\n{lines}"));
            // The same advice once.
            if expected.len() == 4 && found.len() == 3 {
                found.push(HarmfulAdvice);
            }
            assert_eq!(found, expected, "{lines}");
        }
    }

    /// Lines as MySQL 9.7.4 wrote them.
    #[test]
    fn lines_of_mysql_are_told_apart() {
        use LogKind::{FileNotOpened, MasterKey, NoPlugin, RedoKey};
        let start = "2026-11-27T04:24:08.338590Z 0 [System] [MY-010116] [Server] /usr/sbin/mysqld (mysqld 9.7.4-2) starting as process 10716";
        for (before, lines, expected) in [
            (
                "",
                "2026-11-27T04:24:08.990206Z 1 [ERROR] [MY-013066] [InnoDB] Cannot read the encryption information in log file header, please check if keyring is loaded.
                2026-11-27T04:24:09.456613Z 1 [ERROR] [MY-010334] [Server] Failed to initialize DD Storage Engine",
                vec![RedoKey],
            ),
            (
                "",
                "2026-11-27T04:24:22.317455Z 1 [ERROR] [MY-012226] [InnoDB] Encryption information in datafile: ./d/t1.ibd can't be decrypted, please confirm that keyring is loaded.
                2026-11-27T04:24:22.838402Z 9 [ERROR] [MY-012226] [InnoDB] Encryption information in datafile: ./d/t1.ibd can't be decrypted, please confirm that keyring is loaded.",
                vec![MasterKey],
            ),
            (
                "",
                "2026-11-27T04:24:26.997064Z 1 [ERROR] [MY-012657] [InnoDB] Encryption can't find master key, please check the keyring is loaded.
                2026-11-27T04:24:26.997094Z 1 [ERROR] [MY-012226] [InnoDB] Encryption information in datafile: ./d/t1.ibd can't be decrypted, please confirm that keyring is loaded.",
                vec![NoPlugin, MasterKey],
            ),
            (
                "",
                "2026-11-27T04:24:31.284114Z 1 [ERROR] [MY-012664] [InnoDB] Failed to decrypt encryption information, please check whether key file has been changed!",
                vec![MasterKey],
            ),
            (
                "",
                "2026-11-27T04:24:14.040136Z 1 [ERROR] [MY-012676] [InnoDB] Check keyring fail, please check the keyring is loaded.
                2026-11-27T04:24:14.040163Z 1 [ERROR] [MY-013063] [InnoDB] Redo log was encrypted, but keyring is not loaded.",
                vec![NoPlugin, NoPlugin],
            ),
            (
                "2026-11-27T04:24:32.948573Z 0 [ERROR] [MY-015108] [Server] Component component_keyring_file reported: 'The keyring file content is not in a valid JSON format.'
                2026-11-27T04:24:32.948580Z 0 [ERROR] [MY-013714] [Server] Component component_keyring_file reported: 'The component is not initialized properly. Error: Failed to initialize keyring backend.",
                "2026-11-27T04:24:33.408246Z 1 [ERROR] [MY-012676] [InnoDB] Check keyring fail, please check the keyring is loaded.",
                vec![FileNotOpened, NoPlugin, NoPlugin],
            ),
        ] {
            assert_eq!(kinds(&format!("{before}\n{start}\n{lines}")), expected, "{lines}");
        }
    }

    #[test]
    fn a_log_whose_start_is_cut_off_says_so() {
        let lines = ["2026-11-27  4:23:00 6 [ERROR] InnoDB: File './d/t2.ibd' is corrupted".to_owned()];
        assert_eq!(newest_start(&lines), (&lines[..], false));
        assert_eq!(newest_start(&[]), (&[][..], false));
    }
}
