//! What helps where a file is plain, and where SQL and the bytes disagree. Each was tried: MariaDB 10.11.19, MySQL
//! 9.7.4.

use disk::{Artefact, Family, Kind, Verdict};
use report::shape::RestVerdictWord;

/// For the file by itself; nothing where there is nothing to cure.
pub fn of(one: &Artefact, family: Option<Family>) -> Option<&'static str> {
    let cure = match one.verdict {
        Verdict::Encrypted if !one.is_covered() => one.never_encrypted()?.1,
        Verdict::Encrypted | Verdict::Empty => return None,
        // Whoever has the disk reads nothing of it. A secret or a key is safe from nobody else by that.
        Verdict::Never if one.is_covered() => return None,
        Verdict::Unknown if one.is_unread => {
            "run it as a user who may read all files, and again if files came or went"
        }
        Verdict::Unknown | Verdict::Never => one.kind.cure(),
        Verdict::Plain | Verdict::Mixed => option(one.kind, family),
    };
    let system = matches!(one.kind, Kind::System) && one.verdict == Verdict::Never;
    let cure = if system {
        "keep no tables in it (innodb_file_per_table), put the data directory on LUKS"
    } else {
        cure
    };
    (!cure.is_empty()).then_some(cure)
}

/// What makes the server encrypt such files from now on.
fn option(kind: Kind, family: Option<Family>) -> &'static str {
    let is_maria = family == Some(Family::MariaDb);
    match kind {
        Kind::Table if is_maria => {
            "innodb_encrypt_tables=ON with innodb_encryption_threads, or ALTER TABLE ... ENCRYPTED=YES"
        }
        Kind::Table => "ALTER TABLE ... ENCRYPTION='Y'",
        Kind::System | Kind::Undo if is_maria => "innodb_encrypt_tables=ON with innodb_encryption_threads",
        Kind::Undo => "innodb_undo_log_encrypt=ON, then replace the undo tablespaces one after the other",
        Kind::Temp if is_maria => "innodb_encrypt_temporary_tables=ON",
        Kind::TempFile if is_maria => {
            "encrypt_tmp_files=ON (sorts, binary log caches), innodb_encrypt_log=ON (ALTER TABLE); InnoDB's status report has no option: \
             tmpdir on LUKS or tmpfs"
        }
        Kind::Dictionary => "ALTER TABLESPACE mysql ENCRYPTION='Y'",
        Kind::Doublewrite => "encrypt what it holds copies of; old copies go as new ones are written",
        Kind::Redo if is_maria => "innodb_encrypt_log=ON, which makes the file anew at a restart",
        Kind::Redo => {
            "innodb_redo_log_encrypt=ON, then make innodb_redo_log_capacity smaller and larger again"
        }
        Kind::Binlog if is_maria => "encrypt_binlog=ON, FLUSH BINARY LOGS, then PURGE BINARY LOGS",
        Kind::RelayLog if is_maria => "encrypt_binlog=ON on this replica; applied relay logs are removed",
        Kind::Binlog => "binlog_encryption=ON, FLUSH BINARY LOGS, then PURGE BINARY LOGS",
        Kind::RelayLog => "binlog_encryption=ON on this replica; applied relay logs are removed",
        Kind::AriaData | Kind::AriaIndex => "aria_encrypt_tables=ON, then ALTER TABLE ... ENGINE=Aria",
        _ => kind.cure(),
    }
}

/// What makes the bytes be as SQL says.
pub fn of_disagreement(one: &Artefact, says: RestVerdictWord, family: Option<Family>) -> &'static str {
    let is_maria = family == Some(Family::MariaDb);
    if says == RestVerdictWord::Plain {
        return "what is written from now on is plain: switch the encryption on again, or let the file go";
    }
    match one.kind {
        // The threads that encrypt skip pages that were freed before.
        Kind::Table if is_maria => {
            "rebuild it: ALTER TABLE ... FORCE; pages that were freed before are not encrypted"
        }
        Kind::System if is_maria => {
            "pages that were freed before are not encrypted: load a dump into a new data directory, or use LUKS"
        }
        Kind::Table => "rebuild it: ALTER TABLE ... ENCRYPTION='Y', ALGORITHM=COPY",
        Kind::Undo if !is_maria => {
            "create two undo tablespaces, SET INACTIVE the old ones, wait for state empty, SET ACTIVE again"
        }
        Kind::Redo if !is_maria => "SET GLOBAL innodb_redo_log_capacity to a smaller value, then back",
        Kind::Redo => "restart the server: it makes the file anew when innodb_encrypt_log was changed",
        Kind::Binlog => "FLUSH BINARY LOGS, wait for the replicas, PURGE BINARY LOGS",
        Kind::RelayLog => "it goes when it is applied; restart the replica's threads to begin a new one",
        Kind::AriaData | Kind::AriaIndex => "ALTER TABLE ... ENGINE=Aria; only new tables are encrypted",
        _ => option(one.kind, family),
    }
}
