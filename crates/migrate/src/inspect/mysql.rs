//! What a MySQL source has that MariaDB does not follow, or could not hold.
//!
//! A replica that cannot read an event stops, in some cases without an error that its status shows; so it is looked for before.

use net::sql_text::{name, text};
use net::{Client, NetError};

use super::{Problem, Server, list, named, refuse_some, tables};
use crate::Ends;
use crate::dialect::for_mariadb;

/// Of the server.
pub(super) fn problems(
    ends: &Ends,
    from: &Server,
    source: &mut Client,
    all: &mut Vec<Problem>,
) -> Result<(), NetError> {
    let mut want = |is_so: bool, what: &str, why: &str, next: &str| {
        if !is_so {
            all.push(Problem::new(what, why, next));
        }
    };
    want(
        ends.back.is_none(),
        "there is no way back from the cutover of this migration",
        "MySQL does not read the row events of MariaDB, so that the source cannot follow the target",
        "--no-way-back instead of --back-as, if that is right for you: what the target takes is then on the target only",
    );
    want(
        from.variable("binlog_format") == "ROW",
        "the binary log of the source does not hold rows",
        "binlog_format is not ROW, and statements can have another result on another server",
        "SET PERSIST binlog_format = ROW on the source, and let applications connect again",
    );
    want(
        !from.is_on("binlog_transaction_compression"),
        "the source compresses transactions in its binary log",
        "MariaDB cannot read them (binlog_transaction_compression is ON), and would stop",
        "SET PERSIST binlog_transaction_compression = OFF on the source, and let applications connect again",
    );
    want(
        from.variable("binlog_row_value_options").is_empty(),
        "the source writes updates of a kind into its binary log that MariaDB cannot read",
        "binlog_row_value_options is PARTIAL_JSON, with which it stops at the first update, of tables without JSON too",
        "SET PERSIST binlog_row_value_options = '' on the source, and let applications connect again",
    );
    want(
        !has_tag(from.variable("gtid_executed")),
        "the source has written transactions whose GTID has a tag",
        "MariaDB cannot read them, and would stop at the next one",
        "end what writes with such a GTID (gtid_next=AUTOMATIC:tag); while gtid_executed has one, this migration is not possible",
    );
    want(
        !from.is_on("read_only"),
        "the source is read-only already",
        "read_only is ON: applications write to another server, or to none",
        "migrate from the server that applications write to; if that is this one, SET GLOBAL read_only = OFF",
    );
    let members = source.query(
        "SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE MEMBER_STATE <> 'OFFLINE'",
    )?;
    want(
        members.scalar().as_deref() == Some("0"),
        "the source is a member of a replication group",
        "it gets writes of other members, which read-only does not stop, and another one can become the primary meanwhile",
        "migrate from a server without group replication",
    );
    Ok(())
}

/// `uuid:tag:1-5`.
///
/// # Source
/// MySQL manual, GTID Format and Storage: a tag begins with a letter or an underscore.
fn has_tag(gtid_executed: &str) -> bool {
    let intervals = gtid_executed.split(',').flat_map(|set| set.split(':').skip(1));
    intervals.map(str::trim).any(|part| part.starts_with(|one: char| one.is_ascii_alphabetic() || one == '_'))
}

/// How many tables of these schemas are encrypted now.
pub(super) fn encrypted_tables(source: &mut Client, schemas: &[String]) -> Result<u64, NetError> {
    // Source: MySQL manual, the INFORMATION_SCHEMA TABLES Table: CREATE_OPTIONS has ENCRYPTION='Y' of a table that is.
    let rows = source.query(&format!(
        "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA IN ({}) AND CREATE_OPTIONS LIKE '%ENCRYPTION=_Y_%'",
        list(schemas)
    ))?;
    Ok(rows.scalar().and_then(|text| text.parse().ok()).unwrap_or(0))
}

/// Of columns and definitions. The target is asked whether it would take each definition; it makes nothing for that.
pub(super) fn of_tables(
    ends: &Ends,
    source: &mut Client,
    target: &mut Client,
    all: &mut Vec<Problem>,
) -> Result<(), NetError> {
    let within = list(&ends.schemas);
    let columns = named(&source.query(&format!(
        "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME, '.', COLUMN_NAME, ' (', COLUMN_TYPE, ')') FROM information_schema.COLUMNS \
         WHERE TABLE_SCHEMA IN ({within}) AND DATA_TYPE IN ('json', 'vector') ORDER BY 1"
    ))?);
    refuse_some(
        all,
        &columns,
        "columns of a type that MariaDB cannot follow",
        "it stops at the first row of such a table, without an error in its status",
        "change them to LONGTEXT (JSON) or BLOB (VECTOR) on the source, or leave their schema out",
    );
    let known = named(&target.query("SELECT COLLATION_NAME FROM information_schema.COLLATIONS")?);
    let used = source.query(&format!(
        "SELECT COLLATION_NAME, CONCAT(TABLE_SCHEMA, '.', TABLE_NAME, '.', COLUMN_NAME) FROM information_schema.COLUMNS \
         WHERE TABLE_SCHEMA IN ({within}) AND COLLATION_NAME IS NOT NULL UNION \
         SELECT TABLE_COLLATION, CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.TABLES \
         WHERE TABLE_SCHEMA IN ({within}) AND TABLE_COLLATION IS NOT NULL UNION \
         SELECT DEFAULT_COLLATION_NAME, SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME IN ({within}) ORDER BY 1, 2"
    ))?;
    let unknown: Vec<String> = used
        .iter()
        .filter_map(|row| {
            let (collation, of) = (row.at(0)?, row.at(1)?);
            (!known.iter().any(|one| *one == collation)).then(|| format!("{of} ({collation})"))
        })
        .collect();
    refuse_some(
        all,
        &unknown,
        "collations that the target does not have",
        "a table cannot be made with one",
        "change them on the source to one that both have, or leave their schema out",
    );
    let tables = tables(source, &ends.schemas)?;
    let without: Vec<String> = tables
        .iter()
        .filter(|table| table.key.is_empty())
        .map(|table| format!("{}.{}", table.schema, table.name))
        .collect();
    refuse_some(
        all,
        &without,
        "tables without a primary key",
        "MariaDB follows MySQL by file and position; a target that is killed can then carry out a transaction again, which only a key \
         notices",
        "give them a primary key (an invisible one will do), or leave their schema out",
    );
    let mut odd = Vec::new();
    for table in &tables {
        let plain = format!("{}.{}", table.schema, table.name);
        // Named already.
        if columns.iter().chain(&unknown).any(|one| one.starts_with(&plain)) {
            continue;
        }
        let rows = source.query(&format!("SHOW CREATE TABLE {}", table.quoted()))?;
        let made = rows.first().and_then(|row| row.at(1)).unwrap_or_default();
        if let Err(why) = is_taken(target, &table.schema, &made)? {
            odd.push(format!("{plain} ({why})"));
        }
    }
    refuse_some(
        all,
        &odd,
        "tables that MariaDB cannot have as they are",
        "it would refuse their definition, or leave a part of it out",
        "change them on the source, or leave their schema out",
    );
    Ok(())
}

/// Prepared, not carried out.
fn is_taken(target: &mut Client, schema: &str, made: &str) -> Result<Result<(), String>, NetError> {
    let definition = match for_mariadb(made) {
        Ok(definition) => definition,
        Err(why) => return Ok(Err(why)),
    };
    let Some(rest) = definition.strip_prefix("CREATE TABLE ") else {
        return Ok(Err("the source does not tell how it is made".into()));
    };
    let create = format!("CREATE TABLE {}.{rest}", name(schema));
    // Of one name: the next one replaces it, and it ends with the session.
    match target.execute(&format!("PREPARE sealion_tries FROM {}", text(&create))) {
        Ok(_) => Ok(Ok(())),
        Err(NetError::Refused { message, .. }) => {
            Ok(Err(format!("MariaDB says: {}", message.replace('\n', " "))))
        }
        Err(error) => Err(error),
    }
}

/// Both sides describe a table in their own words; this is what both must say of it, a line each.
pub(crate) fn shape(client: &mut Client, schema: &str, table: &str) -> Result<Vec<String>, NetError> {
    let within = format!("TABLE_SCHEMA = {} AND TABLE_NAME = {}", text(schema), text(table));
    let mut lines = Vec::new();
    for sql in [
        format!(
            "SELECT CONCAT_WS(' ', COLUMN_NAME, DATA_TYPE, IF(COLUMN_TYPE LIKE '%unsigned%', 'unsigned', NULL), \
             IF(DATA_TYPE IN ('enum', 'set'), COLUMN_TYPE, NULL), IF(IS_NULLABLE = 'YES', NULL, 'NOT NULL'), \
             CHARACTER_MAXIMUM_LENGTH, NUMERIC_PRECISION, NUMERIC_SCALE, DATETIME_PRECISION, COLLATION_NAME, \
             IF(EXTRA LIKE '%auto_increment%', 'AUTO_INCREMENT', NULL), IF(COALESCE(GENERATION_EXPRESSION, '') = '', NULL, 'GENERATED')) \
             FROM information_schema.COLUMNS WHERE {within} ORDER BY ORDINAL_POSITION"
        ),
        format!(
            "SELECT CONCAT_WS(' ', IF(NON_UNIQUE = 0, 'UNIQUE', NULL), 'KEY', INDEX_NAME, COLUMN_NAME, SUB_PART) \
             FROM information_schema.STATISTICS WHERE {within} ORDER BY INDEX_NAME, SEQ_IN_INDEX"
        ),
        format!(
            "SELECT CONCAT_WS(' ', 'FOREIGN KEY', CONSTRAINT_NAME, REFERENCED_TABLE_NAME, \
             REPLACE(DELETE_RULE, 'NO ACTION', 'RESTRICT'), REPLACE(UPDATE_RULE, 'NO ACTION', 'RESTRICT')) \
             FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE {} ORDER BY CONSTRAINT_NAME",
            within.replace("TABLE_SCHEMA", "CONSTRAINT_SCHEMA")
        ),
    ] {
        lines.extend(named(&client.query(&sql)?));
    }
    // The order of names is one thing here and another there.
    lines.sort();
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::has_tag;

    #[test]
    fn a_tag_is_told_from_an_interval() {
        let uuid = "cf96d38e-ea8a-11f1-afb7-02fc00000001";
        for (set, is_so) in [
            (String::new(), false),
            (format!("{uuid}:1-5"), false),
            (format!("{uuid}:1-5:7"), false),
            (format!("{uuid}:1-5:shop:1"), true),
            (format!("{uuid}:1-5,\n{uuid}:_x:1-2"), true),
        ] {
            assert_eq!(has_tag(&set), is_so, "{set}");
        }
    }
}
