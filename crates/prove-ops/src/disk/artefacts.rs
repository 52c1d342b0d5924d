//! What a server writes to disks, and what helps where it can be read. Seen on MariaDB 10.11.19 and MySQL 9.7.4.

use disk::{Family, Kind};

/// Which of a server's files an artefact is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Files {
    /// Of these kinds, in the data directory or where the server keeps them.
    Kinds(&'static [Kind]),
    /// The same, of the tables that sealion made.
    Ours(&'static [Kind]),
    /// Of these kinds, among those that the server calls as temporary ones.
    Temporary(&'static [Kind]),
    /// The log that this variable names, and the table of `mysql` in which it is with `log_output=TABLE`.
    Log(&'static str, &'static str),
    /// What the server held open while a statement ran: looked at by whoever ran it.
    Held,
}

#[derive(Debug)]
pub struct Artefact {
    /// Stays the same.
    pub id: &'static str,
    pub name: &'static str,
    pub files: Files,
    /// Of both, where none is given.
    pub family: Option<Family>,
    /// On a server that is only asked, too.
    pub by_select: bool,
    pub cure_mariadb: &'static str,
    pub cure_mysql: &'static str,
}

const TMPDIR: &str = "tmpdir on tmpfs or LUKS; no option encrypts it";
const TMPDIR_MYSQL: &str = "tmpdir and innodb_tmpdir on tmpfs or LUKS; no option encrypts it";
const LOGS: &str = "switch it off where it is not needed, else write it to LUKS; no option encrypts it";
const ENGINE: &str = "ALTER TABLE ... ENGINE=InnoDB, or LUKS; no option encrypts it";

const fn artefact(id: &'static str, name: &'static str, files: Files) -> Artefact {
    Artefact { id, name, files, family: None, by_select: false, cure_mariadb: "", cure_mysql: "" }
}

impl Artefact {
    const fn of(self, family: Family) -> Self {
        Self { family: Some(family), ..self }
    }
    const fn by_select(self) -> Self {
        Self { by_select: true, ..self }
    }
    const fn cures(self, cure_mariadb: &'static str, cure_mysql: &'static str) -> Self {
        Self { cure_mariadb, cure_mysql, ..self }
    }

    pub fn cure(&self, family: Family) -> &'static str {
        match family {
            Family::MariaDb => self.cure_mariadb,
            Family::MySql => self.cure_mysql,
        }
    }

    pub fn is_of(&self, family: Family) -> bool {
        self.family.is_none_or(|own| own == family)
    }
}

/// In the order of the matrix: what stays first, then what comes and goes.
pub const ARTEFACTS: &[Artefact] = &[
    artefact("table", "table (InnoDB)", Files::Ours(&[Kind::Table])).cures(
        "innodb_encrypt_tables=ON with innodb_encryption_threads, or ENCRYPTED=YES",
        "ALTER TABLE ... ENCRYPTION='Y', default_table_encryption=ON",
    ),
    artefact("undo", "old row versions (undo)", Files::Kinds(&[Kind::Undo, Kind::System])).cures(
        "innodb_encrypt_tables=ON with innodb_encryption_threads",
        "innodb_undo_log_encrypt=ON, then replace the undo tablespaces",
    ),
    artefact("redo", "redo log", Files::Kinds(&[Kind::Redo])).cures(
        "innodb_encrypt_log=ON and a restart",
        "innodb_redo_log_encrypt=ON, then innodb_redo_log_capacity down and up",
    ),
    artefact("doublewrite", "doublewrite buffer", Files::Kinds(&[Kind::Doublewrite]))
        .of(Family::MySql)
        .cures("", "encrypt what it holds copies of: tables, undo, mysql.ibd"),
    artefact("dictionary", "data dictionary (mysql.ibd)", Files::Kinds(&[Kind::Dictionary]))
        .of(Family::MySql)
        .cures("", "ALTER TABLESPACE mysql ENCRYPTION='Y'"),
    artefact("definition", "table definition (.frm)", Files::Ours(&[Kind::Definition]))
        .of(Family::MariaDb)
        .cures("the data directory on LUKS; no option encrypts it", ""),
    artefact("binlog", "binary log", Files::Kinds(&[Kind::Binlog])).cures(
        "encrypt_binlog=ON and a restart, FLUSH BINARY LOGS, PURGE BINARY LOGS",
        "binlog_encryption=ON, FLUSH BINARY LOGS, PURGE BINARY LOGS",
    ),
    artefact("aria", "Aria table", Files::Ours(&[Kind::AriaData, Kind::AriaIndex]))
        .of(Family::MariaDb)
        .cures("aria_encrypt_tables=ON, then ALTER TABLE ... ENGINE=Aria", ""),
    artefact("aria-log", "Aria log", Files::Kinds(&[Kind::AriaLog]))
        .of(Family::MariaDb)
        .cures("the data directory on LUKS; no option encrypts it", ""),
    artefact("myisam", "MyISAM table", Files::Ours(&[Kind::MyIsam])).cures(ENGINE, ENGINE),
    artefact("csv", "CSV table", Files::Ours(&[Kind::Csv])).cures(ENGINE, ENGINE),
    artefact("general-log", "general log", Files::Log("general_log_file", "mysql/general_log"))
        .cures(LOGS, LOGS),
    artefact("slow-log", "slow query log", Files::Log("slow_query_log_file", "mysql/slow_log"))
        .cures(LOGS, LOGS),
    artefact("galera-cache", "galera.cache", Files::Kinds(&[Kind::GaleraCache])).cures(
        "gcache.dir on LUKS; the library has no option",
        "gcache.encryption of Percona XtraDB Cluster, or LUKS",
    ),
    artefact("temporary", "CREATE TEMPORARY TABLE (InnoDB)", Files::Kinds(&[Kind::Temp])).cures(
        "innodb_encrypt_temporary_tables=ON and a restart",
        "#innodb_temp (innodb_temp_tablespaces_dir) on tmpfs or LUKS; no option encrypts it",
    ),
    artefact(
        "temporary-other",
        "CREATE TEMPORARY TABLE (Aria, MyISAM)",
        Files::Temporary(&[Kind::AriaData, Kind::AriaIndex, Kind::MyIsam]),
    )
    .cures("aria_encrypt_tables=ON; for MyISAM tmpdir on tmpfs or LUKS", TMPDIR),
    artefact("internal-temporary", "internal temporary table on disk", Files::Held).by_select().cures(
        "tmpdir on tmpfs or LUKS: encrypt_tmp_disk_tables=ON was seen to leave it plain",
        "#innodb_temp (innodb_temp_tablespaces_dir) on tmpfs or LUKS; no option encrypts it",
    ),
    artefact("sort", "file of a sort (filesort)", Files::Held)
        .by_select()
        .cures("encrypt_tmp_files=ON and a restart", TMPDIR_MYSQL),
    artefact("binlog-cache", "spilled cache of the binary log", Files::Held)
        .cures("encrypt_tmp_files=ON and a restart", "binlog_encryption=ON"),
    artefact("alter", "sort files of an online ALTER TABLE", Files::Held)
        .cures("innodb_encrypt_log=ON and a restart", TMPDIR_MYSQL),
];

pub fn artefact_of(id: &str) -> &'static Artefact {
    ARTEFACTS.iter().find(|one| one.id == id).expect("the ids below are of the table above")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_an_id_of_its_own_and_a_cure_where_it_can_be_found() {
        let mut ids: Vec<&str> = ARTEFACTS.iter().map(|one| one.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), ARTEFACTS.len());
        for one in ARTEFACTS {
            for family in [Family::MariaDb, Family::MySql] {
                assert_eq!(one.is_of(family), !one.cure(family).is_empty(), "{} {family:?}", one.id);
            }
        }
    }
}
