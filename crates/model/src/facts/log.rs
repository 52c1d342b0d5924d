//! What a server writes down of statements and logins.

use crate::fact::facts;

facts! {
    /// Whether the binary log has the text of statements beside their rows; absent where there is no binary log.
    ROW_STATEMENTS = "log.row_statements", YesNo, [Audit => All];
    /// The format of the binary log, where it writes statements.
    BINLOG_STATEMENTS = "log.binlog_statements", Found, [Audit => All];
    /// Logs of statements that are tables.
    TABLES = "log.tables", Found, [Audit => All];
    /// Whether a crash writes the server's memory to a file.
    CORE_FILE = "log.core_file", YesNo, [Audit => All];
    /// Whether slow statements are written to a log.
    SLOW = "log.slow", YesNo, [Audit => All];
    /// Whether refused logins are written to the error log.
    REFUSED_LOGINS = "log.refused_logins", YesNo, [Audit => All];
    /// Whether binary logs are removed after a time; absent where there is no binary log.
    BINLOG_EXPIRES = "log.binlog_expires", YesNo, [Audit => All];
    /// Whether MariaDB's audit plugin is loaded and switched on.
    AUDITS = "log.audits", YesNo, [Audit => MariaDb];
    /// What the audit plugin is set to leave out, of those things that it must record.
    AUDIT_GAPS = "log.audit_gaps", Found, [Audit => MariaDb];
    /// General, slow, audit and error logs that other users may read or write.
    STATEMENT_FILES_OPEN = "log.statement_files_open", Found, [Audit => All];
    /// Passwords and keys in statements that stand in general, slow, error and audit logs.
    FILE_SECRETS = "log.file_secrets", Found, [Search => All];
    /// The same in binary and relay logs.
    BINLOG_SECRETS = "log.binlog_secrets", Found, [Search => All];
    /// The same in histories of clients, in the homes of the machine.
    HISTORY_SECRETS = "log.history_secrets", Found, [Search => All];
    /// Histories of statements that the performance schema keeps.
    HISTORY = "log.history", Found, [Audit => All];
}
