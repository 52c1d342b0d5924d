//! What of the two servers speaks against a migration between them.

use model::{Clock, SystemClock};
use net::sql_text::text;
use net::{Client, NetError};
use server::Flavour;

use super::{Problem, Server, mysql, schemas};
use crate::dialect;
use crate::{End, Ends};

/// A lock of a name that nobody else has, taken on one and asked for on the other: host names, ports and directories can be alike on two
/// machines. It ends with our session. `None`: the lock could not be taken.
///
/// # Source
/// MariaDB manual, GET_LOCK, IS_USED_LOCK.
fn are_one_server(source: &mut Client, target: &mut Client) -> Result<Option<bool>, NetError> {
    let lock = text(&format!("sealion {} {}", std::process::id(), SystemClock.unix_ms()));
    let is_taken = source.query(&format!("SELECT GET_LOCK({lock}, 0)"))?.scalar().as_deref() == Some("1");
    let is_held =
        target.query(&format!("SELECT IS_USED_LOCK({lock}) IS NOT NULL"))?.scalar().as_deref() == Some("1");
    source.query(&format!("SELECT RELEASE_LOCK({lock})"))?;
    Ok(is_taken.then_some(is_held))
}

/// Everything that speaks against it, worst first as it is listed.
pub fn problems(ends: &Ends, source: &mut Client, target: &mut Client) -> Result<Vec<Problem>, NetError> {
    let (from, to) = (Server::of(source)?, Server::of(target)?);
    // Nothing else is said then: every other advice would be about the server that is to be kept.
    match are_one_server(source, target)? {
        Some(false) => {}
        Some(true) => {
            return Ok(vec![Problem::new(
                "source and target are the same server",
                format!(
                    "a lock that was taken on the source is held on the target ({})",
                    to.variable("hostname")
                ),
                "name another server with --to",
            )]);
        }
        None => {
            return Ok(vec![Problem::new(
                "whether source and target are the same server cannot be determined",
                "the source does not give a user lock (GET_LOCK)",
                "try again, or choose another server",
            )]);
        }
    }
    let (mut all, mut is_unknown) = (Vec::new(), false);
    for (end, server, client) in [(End::Source, &from, &*source), (End::Target, &to, &*target)] {
        let problem = of_version(end, server, &from);
        is_unknown |= problem.is_some();
        all.extend(problem);
        let options = if end == End::Source { &ends.source } else { &ends.target };
        let is_local = options.endpoint.is_unix_socket();
        let is_verified = options.tls.mode.verifies_chain() && client.tls().is_some();
        if !is_local && !is_verified {
            all.push(Problem::new(
                format!("the connection to the {end} is not verified TLS"),
                "every row passes over it",
                "set ssl-mode=VERIFY_IDENTITY (or VERIFY_CA) and ssl-ca in its option file",
            ));
        }
    }
    if is_unknown {
        // The other questions are for versions that answer them.
        return Ok(all);
    }
    let is_mysql = !from.is_mariadb();
    if !is_mysql && from.capabilities.version > to.capabilities.version {
        all.push(Problem::new(
            format!("the target ({}) is older than the source ({})", to.version, from.version),
            "an older server does not understand all of a newer one's binary log",
            "migrate to the same version or a newer one",
        ));
    }
    let want = |all: &mut Vec<Problem>, is_so: bool, what: &str, why: &str, next: &str| {
        if !is_so {
            all.push(Problem::new(what, why, next));
        }
    };
    let is_on = Server::is_on;
    want(
        &mut all,
        is_on(&from, "log_bin"),
        "the source writes no binary log",
        "what is written during the copy would be lost",
        "log_bin=ON in the [mysqld] group of its option file, then restart",
    );
    want(
        &mut all,
        from.variable("server_id") != to.variable("server_id"),
        "source and target have the same server_id",
        "a server ignores events that carry its own server_id",
        "give the target another server_id",
    );
    want(
        &mut all,
        from.variable("lower_case_table_names") == to.variable("lower_case_table_names"),
        "lower_case_table_names differs",
        "two tables of the source could be one on the target",
        "set up the target with the value of the source",
    );
    want(
        &mut all,
        is_on(&to, "local_infile"),
        "the target does not accept LOAD DATA LOCAL",
        "local_infile is OFF, and rows are loaded that way",
        "SET GLOBAL local_infile = ON on the target for the time of the migration",
    );
    let is_encrypted = matches!(to.variable("innodb_encrypt_tables"), "ON" | "FORCE");
    let encrypted = if is_mysql {
        mysql::encrypted_tables(source, &ends.schemas)?
    } else {
        encrypted_tables(source, &ends.schemas)?
    };
    let makes_encrypted = if is_mysql {
        from.is_on("default_table_encryption")
    } else {
        from.variable("innodb_encrypt_tables") != "OFF"
    };
    want(
        &mut all,
        is_encrypted || (!makes_encrypted && encrypted == 0),
        "tables would lose their encryption",
        "tables are encrypted on the source, and innodb_encrypt_tables is OFF on the target",
        "enable encryption of tables on the target first (innodb_encrypt_tables=FORCE)",
    );
    for (key, theirs, what) in [
        ("innodb_encrypt_log", "innodb_redo_log_encrypt", "the redo log"),
        ("encrypt_binlog", "binlog_encryption", "the binary log"),
    ] {
        let of_source = if is_mysql { theirs } else { key };
        want(
            &mut all,
            !is_on(&from, of_source) || is_on(&to, key),
            &format!("{what} would lose its encryption, and rows lie in it"),
            &format!("{of_source} is ON on the source, and {key} is OFF on the target"),
            &format!("{key}=ON in the option file of the target, then restart"),
        );
    }
    if let Some(problem) = schemas::of_both(source, target, &ends.schemas)? {
        all.push(problem);
    }
    let channels = dialect::channels(source)?;
    want(
        &mut all,
        channels.is_empty() && !is_on(&from, "wsrep_on"),
        "the source gets writes of its own from others",
        "it is a replica or a node of Galera, which read_only does not stop: what came so would be missing on the target",
        "migrate from the server that applications write to, or end its replication first",
    );
    let log = dialect::log_status(source)?;
    let filter = |column: &str| log.text(0, column).is_none_or(|text| text.is_empty());
    want(
        &mut all,
        filter("Binlog_Do_DB") && filter("Binlog_Ignore_DB"),
        "the binary log of the source is filtered",
        "binlog_do_db or binlog_ignore_db leaves writes out of it",
        "remove them from its option file, then restart",
    );
    want(
        &mut all,
        to.variable("slave_skip_errors") == "OFF",
        "the target passes over errors of replication",
        "slave_skip_errors is not OFF, so that rows can be missing without a word",
        "remove it from its option file, then restart",
    );
    want(
        &mut all,
        source.query("XA RECOVER")?.is_empty(),
        "the source has prepared XA transactions",
        "they are in no snapshot, and cannot be committed while the source is read-only",
        "commit them or roll them back",
    );
    let channels = dialect::channels(target)?;
    want(
        &mut all,
        channels.is_empty(),
        "the target is a replica already",
        "its channel would write to the same server",
        "choose a target without replication, or RESET SLAVE ALL there",
    );
    want(
        &mut all,
        to.variable("gtid_slave_pos").is_empty(),
        "the target has followed a source before",
        "gtid_slave_pos is not empty, and would be overwritten",
        "choose another target, or if that position is of no use any more, there: SET GLOBAL gtid_slave_pos = ''",
    );
    want(
        &mut all,
        to.variable("replicate_wild_do_table").is_empty() && to.variable("replicate_do_db").is_empty(),
        "the target has filters of replication",
        "replicate_do_db or replicate_wild_do_table is set, and would be overwritten or hide writes",
        "remove them from its option file, then restart",
    );
    want(
        &mut all,
        ends.back.is_none() || is_on(&to, "log_bin"),
        "the target writes no binary log",
        "after the cutover the source could not follow it, and nothing could be taken back",
        "log_bin=ON in the [mysqld] group of its option file, then restart; or --no-way-back",
    );
    want(
        &mut all,
        ends.back.is_none()
            || (from.variable("replicate_wild_do_table").is_empty()
                && from.variable("replicate_do_db").is_empty()),
        "the source has filters of replication",
        "replicate_do_db or replicate_wild_do_table is set, and would be overwritten or hide writes once it follows the target",
        "remove them from its option file, then restart; or --no-way-back",
    );
    if let Some(odd) = ends.schemas.iter().find(|schema| schema.contains(',')) {
        all.push(Problem::new(
            format!("the schema {odd} has a comma in its name"),
            "a filter of replication cannot name it",
            "rename it, or leave it out",
        ));
    }
    if is_mysql {
        mysql::problems(ends, &from, source, &mut all)?;
    }
    schemas::problems(ends, source, target, &mut all)?;
    if is_mysql {
        mysql::of_tables(ends, source, target, &mut all)?;
    }
    Ok(all)
}

/// Whether that version can be at that end.
fn of_version(end: End, server: &Server, from: &Server) -> Option<Problem> {
    let (flavour, version) = (server.capabilities.flavour, server.capabilities.version);
    let is_from_mysql = !from.is_mariadb();
    let (why, next) = match (end, flavour) {
        (_, Flavour::MariaDb) if version < (10, 5, 0) => (
            "this version of sealion migrates between MariaDB servers of version 10.5 or newer",
            "upgrade it first",
        ),
        (End::Target, Flavour::MariaDb) if is_from_mysql && version < (11, 8, 0) => (
            "MariaDB before 11.8 stops at what MySQL writes into its binary log (it has no collations utf8mb4_0900_*)",
            "migrate to MariaDB 11.8 or newer",
        ),
        (_, Flavour::MariaDb) => return None,
        (End::Source, Flavour::MySql) if version >= (8, 4, 0) => return None,
        (End::Source, Flavour::MySql) => {
            ("this version of sealion migrates from MySQL 8.4 or newer, to MariaDB", "upgrade it first")
        }
        (End::Source, _) => (
            "this version of sealion migrates from MariaDB and from MySQL without Galera",
            "copy it with its own tools",
        ),
        (End::Target, _) => (
            "MySQL cannot follow a MariaDB server, and this version of sealion has no other way to bring it what is written during the copy",
            "copy it with its own tools, while applications do not write",
        ),
    };
    Some(Problem::new(format!("the {end} is {}", server.named()), why, next))
}

/// How many tables of these schemas are encrypted now, whatever the variable says.
fn encrypted_tables(source: &mut Client, schemas: &[String]) -> Result<u64, NetError> {
    let mut count = 0;
    for schema in schemas {
        // Source: MariaDB manual, INNODB_TABLESPACES_ENCRYPTION: NAME is `schema/table`.
        let rows = source.query(&format!(
            "SELECT COUNT(*) FROM information_schema.INNODB_TABLESPACES_ENCRYPTION \
             WHERE ENCRYPTION_SCHEME <> 0 AND SUBSTRING_INDEX(NAME, '/', 1) = {}",
            text(schema)
        ))?;
        count += rows.scalar().and_then(|text| text.parse().ok()).unwrap_or(0);
    }
    Ok(count)
}
