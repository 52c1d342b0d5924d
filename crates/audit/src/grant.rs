//! What an account needs, as the statements that give it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// One privilege that a question needs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grant {
    /// On `*.*`, by its name.
    Global(&'static str),
    /// To read a table; of some tables only the columns that hold no secret.
    Select { table: &'static str, columns: Vec<&'static str> },
}

impl Grant {
    pub fn select(table: &'static str) -> Self {
        Self::Select { table, columns: vec![] }
    }

    /// Each once: columns of one table in one grant.
    pub fn together(grants: impl Iterator<Item = Self>) -> Vec<Self> {
        let mut global = BTreeSet::new();
        let mut tables: BTreeMap<&'static str, (bool, BTreeSet<&'static str>)> = BTreeMap::new();
        for grant in grants {
            match grant {
                Self::Global(name) => {
                    global.insert(name);
                }
                Self::Select { table, columns } => {
                    let (whole, known) = tables.entry(table).or_default();
                    *whole |= columns.is_empty();
                    known.extend(columns);
                }
            }
        }
        let tables = tables.into_iter().map(|(table, (whole, columns))| Self::Select {
            table,
            columns: if whole { vec![] } else { columns.into_iter().collect() },
        });
        global.into_iter().map(Self::Global).chain(tables).collect()
    }

    /// The statement that gives it to `account`.
    pub fn statement(&self, account: &str) -> String {
        format!("GRANT {self} TO {account};")
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Global(name) => write!(f, "{name} ON *.*"),
            Self::Select { table, columns } if columns.is_empty() => write!(f, "SELECT ON {table}"),
            Self::Select { table, columns } => write!(f, "SELECT ({}) ON {table}", columns.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_privilege_is_asked_for_once() {
        let columns =
            |columns: &[&'static str]| Grant::Select { table: "mysql.user", columns: columns.to_vec() };
        let grants = Grant::together(
            [
                Grant::select("mysql.db"),
                columns(&["User", "Host"]),
                Grant::Global("PROCESS"),
                columns(&["plugin", "Host"]),
                Grant::Global("PROCESS"),
            ]
            .into_iter(),
        );
        let written: Vec<String> = grants.iter().map(ToString::to_string).collect();
        assert_eq!(
            written,
            ["PROCESS ON *.*", "SELECT ON mysql.db", "SELECT (Host, User, plugin) ON mysql.user"]
        );
        assert_eq!(grants[0].statement("'a'@'b'"), "GRANT PROCESS ON *.* TO 'a'@'b';");
    }
}
