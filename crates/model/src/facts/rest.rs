//! What a server is set to encrypt on its disk, by its own word.

use crate::fact::facts;

facts! {
    /// Tablespaces of InnoDB that the server lists as not encrypted.
    TABLESPACES_CLEAR = "rest.tablespaces_clear", Found, [Audit => All];
    /// Whether a new table is encrypted where its creator says nothing.
    NEW_TABLES_ENCRYPTED = "rest.new_tables_encrypted", YesNo, [Audit => All];
    /// Whether the server is set to encrypt its redo log.
    REDO_ENCRYPTED = "rest.redo_encrypted", YesNo, [Audit => All];
    /// Whether the server is set to encrypt its undo tablespaces.
    UNDO_ENCRYPTED = "rest.undo_encrypted", YesNo, [Audit => MySql];
    /// Whether the server is set to encrypt its binary log; absent where it writes none.
    BINLOG_ENCRYPTED = "rest.binlog_encrypted", YesNo, [Audit => All];
    /// Binary logs that the server lists as not encrypted.
    BINLOGS_CLEAR = "rest.binlogs_clear", Found, [Audit => MySql];
    /// Whether the server is set to encrypt temporary files.
    TEMPORARY_FILES_ENCRYPTED = "rest.temporary_files_encrypted", YesNo, [Audit => MariaDb];
    /// Whether the server is set to encrypt tables of the engine Aria.
    ARIA_ENCRYPTED = "rest.aria_encrypted", YesNo, [Audit => MariaDb];
    /// How many threads encrypt what is there already; absent where tables are not to be encrypted.
    KEY_THREADS = "rest.key_threads", Count, [Audit => MariaDb];
    /// The mode of AES_ENCRYPT, where it is ECB.
    BLOCK_MODE_ECB = "rest.block_mode_ecb", Found, [Audit => MySql];
    /// Whether the server is set to encrypt internal temporary tables on disk.
    TEMPORARY_TABLES_ENCRYPTED = "rest.temporary_tables_encrypted", YesNo, [Audit => MariaDb];
    /// At which age of its key a page is encrypted anew, 0 for never; absent where tables are not to be encrypted.
    ROTATE_KEY_AGE = "rest.rotate_key_age", Count, [Audit => MariaDb];
    /// Whether a table without encryption needs a privilege where encryption is the default.
    ENCRYPTION_CHECK = "rest.encryption_check", YesNo, [Audit => MySql];
    /// Whether the server is set to encrypt temporary tables of InnoDB.
    INNODB_TEMPORARY_ENCRYPTED = "rest.innodb_temporary_encrypted", YesNo, [Audit => MariaDb];
    /// Whether something that gives the server keys for its data is loaded and active.
    KEY_PROVIDER = "rest.key_provider", YesNo, [Audit => All];
    /// Whether the key file of file_key_management is encrypted; absent where that plugin is not loaded.
    FILE_KEY_ENCRYPTED = "rest.file_key_encrypted", YesNo, [Audit => MariaDb];
    /// Whether file_key_management uses AES in counter mode; absent where that plugin is not loaded.
    FILE_KEY_ALGORITHM = "rest.file_key_algorithm", YesNo, [Audit => MariaDb];
    /// Tables with data in engines that do not encrypt.
    OTHER_ENGINES = "rest.other_engines", Found, [Audit => All];
    /// Tables of InnoDB that were made with `ENCRYPTED=NO`.
    TABLES_OPTED_OUT = "rest.tables_opted_out", Found, [Audit => MariaDb];
    /// Schemas whose new tables are not encrypted.
    SCHEMAS_CLEAR = "rest.schemas_clear", Found, [Audit => MySql];
    /// Whether new tables are put into the system tablespace.
    SHARED_TABLESPACE = "rest.shared_tablespace", YesNo, [Audit => All];
    /// Files with keys for data that other users may read or write.
    KEY_FILE_OPEN = "rest.key_file_open", Found, [Audit => All];
    /// Files with keys for data that lie in the data directory.
    KEY_IN_DATADIR = "rest.key_in_datadir", Found, [Audit => All];
    /// Files with keys for data that lie, with what opens them, on a disk of the data: whoever takes the disk reads the data.
    KEY_WITH_DATA = "rest.key_with_data", Found, [Audit => All];
    /// Backups of keyrings with other bytes than the keyring next to them, which the server restores when it starts.
    KEYRING_BACKUP = "rest.keyring_backup", Found, [Audit => MySql];
    /// Options that lead to a key server without TLS.
    KEY_SERVER_CLEARTEXT = "rest.key_server_cleartext", Found, [Audit => All];
    /// Swap space of the machine that is not encrypted.
    SWAP = "rest.swap", Found, [Audit => All];
}
