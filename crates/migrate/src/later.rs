//! Indexes that are made behind the rows: in a table that is copied in slices each row would be put into each of them by itself.

use net::sql_text::name;
use net::{Client, NetError};

use crate::dialect;
use crate::inspect::Table;

/// A line of SHOW CREATE TABLE that is an index, not unique, of the ordinary kind.
fn is_index(line: &str) -> bool {
    line.trim_start().starts_with("KEY `")
}

/// Name of the index of such a line.
fn index_name(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once('`')?;
    let mut ticks = rest.match_indices('`').map(|(at, _)| at);
    while let Some(at) = ticks.next() {
        // A doubled one is part of the name.
        if !rest.get(at + 1..)?.starts_with('`') {
            return rest.get(..at);
        }
        ticks.next();
    }
    None
}

/// The definition without those indexes; as it is where it needs them from the beginning.
///
/// # Source
/// MariaDB manual, AUTO_INCREMENT (its column is in a key); foreign keys need an index on both sides.
pub(crate) fn without_indexes(definition: &str, table: &Table) -> String {
    let is_counted_elsewhere = definition.lines().any(|line| {
        line.contains(" AUTO_INCREMENT")
            && line.trim_start().starts_with('`')
            && table
                .cut_by
                .as_deref()
                .is_none_or(|column| !line.trim_start().starts_with(&format!("{} ", name(column))))
    });
    if is_counted_elsewhere || definition.lines().any(|line| line.contains(" FOREIGN KEY (")) {
        return definition.to_owned();
    }
    let kept: Vec<&str> = definition.lines().filter(|line| !is_index(line)).collect();
    let mut out = String::with_capacity(definition.len());
    for (at, line) in kept.iter().enumerate() {
        // What was the last line before an index is the last one of all now.
        let is_last = kept.get(at + 1).is_some_and(|next| next.starts_with(')'));
        out.push_str(if is_last { line.trim_end_matches(',') } else { line });
        out.push('\n');
    }
    out.pop();
    out
}

/// As both sides tell it, without what is made later and what goes on while others write.
pub(crate) fn without_what_comes_later(definition: &str) -> Vec<String> {
    definition
        .lines()
        .filter(|line| !is_index(line))
        .map(|line| dialect::with_invisible_last(line.trim_end_matches(',')))
        .collect()
}

pub(crate) fn definition(client: &mut Client, table: &Table) -> Result<String, NetError> {
    let rows = client.query(&format!("SHOW CREATE TABLE {}", table.quoted()))?;
    Ok(rows.first().and_then(|row| row.at(1)).unwrap_or_default().into_owned())
}

/// The statement that makes the rest of it; `None`: nothing is missing.
fn rest_of(table: &Table, wanted: &str, there: &str) -> Option<String> {
    let names: Vec<&str> = there.lines().filter(|line| is_index(line)).filter_map(index_name).collect();
    let missing = wanted.lines().filter(|line| is_index(line));
    let missing = missing.filter(|line| index_name(line).is_some_and(|name| !names.contains(&name)));
    let parts: Vec<String> =
        missing.map(|line| format!("ADD {}", line.trim().trim_end_matches(','))).collect();
    (!parts.is_empty()).then(|| format!("ALTER TABLE {} {}", table.quoted(), parts.join(", ")))
}

/// Behind the rows: what the table on the target does not have yet.
///
/// # Errors
/// One of the two says no.
pub(crate) fn make(source: &mut Client, target: &mut Client, table: &Table) -> Result<(), String> {
    let said = |error: NetError| error.in_one_line();
    let mut wanted = definition(source, table).map_err(said)?;
    if dialect::is_mysql(source) {
        wanted = dialect::for_mariadb(&wanted)?;
    }
    let there = definition(target, table).map_err(said)?;
    match rest_of(table, &wanted, &there) {
        Some(sql) => target.execute(&sql).map(|_| ()).map_err(said),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "CREATE TABLE `t` (\n  `id` bigint(20) NOT NULL AUTO_INCREMENT,\n  `a` int(11) DEFAULT NULL COMMENT 'KEY `x`',\n  \
                         PRIMARY KEY (`id`),\n  UNIQUE KEY `u` (`a`),\n  KEY `k` (`a`),\n  KEY `l` (`a`,`id`)\n) ENGINE=InnoDB AUTO_INCREMENT=7 DEFAULT CHARSET=utf8mb4";

    fn table(cut_by: &str) -> Table {
        Table {
            schema: "s".into(),
            name: "t".into(),
            columns: Vec::new(),
            stored: Vec::new(),
            key: Vec::new(),
            cut_by: Some(cut_by.into()),
            data_bytes: 0,
        }
    }

    #[test]
    fn indexes_are_left_out_and_made_again_by_name() {
        let bare = without_indexes(WHOLE, &table("id"));
        assert!(bare.contains("UNIQUE KEY `u` (`a`)\n) ENGINE"), "{bare}");
        assert!(!bare.contains("`k`") && !bare.contains("`l`"), "{bare}");
        assert_eq!(
            rest_of(&table("id"), WHOLE, &bare).as_deref(),
            Some("ALTER TABLE `s`.`t` ADD KEY `k` (`a`), ADD KEY `l` (`a`,`id`)")
        );
        assert_eq!(rest_of(&table("id"), WHOLE, WHOLE), None);
        let one = bare.replace("(`a`)\n)", "(`a`),\n  KEY `k` (`a`)\n)");
        assert_eq!(
            rest_of(&table("id"), WHOLE, &one).as_deref(),
            Some("ALTER TABLE `s`.`t` ADD KEY `l` (`a`,`id`)")
        );
        assert_eq!(without_what_comes_later(WHOLE), without_what_comes_later(&bare));
    }

    #[test]
    fn a_name_with_a_backtick_is_no_other_one() {
        assert_eq!(index_name("  KEY `a``b` (`x`),"), Some("a``b"));
        assert_eq!(index_name("  KEY `a` (`x``y`),"), Some("a"));
        assert_eq!(index_name("  KEY `a``` (`x`),"), Some("a``"));
        assert_eq!(index_name("  KEY `a"), None);
        let both = "(\n  KEY `a` (`x`),\n  KEY `a``b` (`x`)\n)";
        let missing = rest_of(&table("id"), both, "(\n  KEY `a` (`x`)\n)");
        assert_eq!(missing.as_deref(), Some("ALTER TABLE `s`.`t` ADD KEY `a``b` (`x`)"));
    }

    #[test]
    fn what_needs_its_indexes_keeps_them() {
        assert_eq!(without_indexes(WHOLE, &table("a")), WHOLE);
        let child = WHOLE
            .replace("\n) ENGINE", ",\n  CONSTRAINT `f` FOREIGN KEY (`a`) REFERENCES `p` (`id`)\n) ENGINE");
        assert_eq!(without_indexes(&child, &table("id")), child);
        let none = "CREATE TABLE `t` (\n  `id` int(11) NOT NULL,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB";
        assert_eq!(without_indexes(none, &table("id")), none);
    }
}
