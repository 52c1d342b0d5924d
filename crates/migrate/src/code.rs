//! Views, routines, triggers and events: what each is made by, and how it is made on the other server.
//!
//! Routines and views are made with the tables, triggers behind the rows, so that they do not fire for them. Events are made as
//! `DISABLE ON SLAVE` and run from when the target is open. For rows that come by replication triggers do not fire
//! (`slave_run_triggers_for_rbr` is NO, which the preflight asks for): what they wrote on the source comes as rows.

use net::sql_text::{name, text};
use net::{Client, NetError};

use crate::inspect;

/// Source: MariaDB manual, error 1449, ER_NO_SUCH_USER; as a note when something is made with such a definer.
const NO_SUCH_USER: &str = "1449";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Function,
    Procedure,
    View,
    Trigger,
    Event,
}

impl Kind {
    /// As SQL has it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Function => "FUNCTION",
            Self::Procedure => "PROCEDURE",
            Self::View => "VIEW",
            Self::Trigger => "TRIGGER",
            Self::Event => "EVENT",
        }
    }

    /// The column of SHOW CREATE that holds the statement.
    fn column(self) -> &'static str {
        match self {
            Self::Function => "Create Function",
            Self::Procedure => "Create Procedure",
            Self::View => "Create View",
            Self::Trigger => "SQL Original Statement",
            Self::Event => "Create Event",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub kind: Kind,
    pub schema: String,
    pub name: String,
    /// `user@host`
    pub definer: String,
    /// Of an event; else as well.
    pub is_enabled: bool,
    /// CREATE …; `None`: it is not shown, or not in a text that we could send.
    pub made: Option<String>,
    /// Of whoever made it; they are part of what it means.
    sql_mode: Option<String>,
    time_zone: Option<String>,
    charset: String,
    collation: String,
    pub schema_collation: Option<String>,
}

impl Item {
    fn quoted(&self) -> String {
        format!("{}.{}", name(&self.schema), name(&self.name))
    }

    /// The statement after which it is not there.
    pub fn gone(&self) -> String {
        format!("DROP {} IF EXISTS {}", self.kind.word(), self.quoted())
    }

    /// As people read it.
    pub fn named(&self) -> String {
        format!("{}.{} ({})", self.schema, self.name, self.kind.word().to_lowercase())
    }

    /// What both sides must say of it. An event is disabled on one of them.
    fn told(&self) -> String {
        let made = self.made.as_deref().unwrap_or_default();
        let made =
            if self.kind == Kind::Event { disabled(made).unwrap_or_default() } else { made.to_owned() };
        let of = |one: &Option<String>| one.clone().unwrap_or_default();
        format!(
            "{made}\nsql_mode {}\ntime zone {}\n{} {}",
            of(&self.sql_mode),
            of(&self.time_zone),
            self.charset,
            self.collation
        )
    }
}

/// Everything of these schemas, in the order in which it can be made.
pub(crate) fn all(client: &mut Client, schemas: &[String]) -> Result<Vec<Item>, NetError> {
    let within: Vec<String> = schemas.iter().map(|schema| text(schema)).collect();
    let within = within.join(",");
    let mut all = Vec::new();
    for (kind, sql) in [
        (
            Kind::Function,
            format!(
                "SELECT ROUTINE_SCHEMA, ROUTINE_NAME, DEFINER, 'ENABLED' FROM information_schema.ROUTINES \
                 WHERE ROUTINE_SCHEMA IN ({within}) AND ROUTINE_TYPE = 'FUNCTION' ORDER BY 1, 2"
            ),
        ),
        (
            Kind::Procedure,
            format!(
                "SELECT ROUTINE_SCHEMA, ROUTINE_NAME, DEFINER, 'ENABLED' FROM information_schema.ROUTINES \
                 WHERE ROUTINE_SCHEMA IN ({within}) AND ROUTINE_TYPE = 'PROCEDURE' ORDER BY 1, 2"
            ),
        ),
        (
            Kind::View,
            format!(
                "SELECT TABLE_SCHEMA, TABLE_NAME, DEFINER, 'ENABLED' FROM information_schema.VIEWS \
                 WHERE TABLE_SCHEMA IN ({within}) ORDER BY 1, 2"
            ),
        ),
        (
            Kind::Trigger,
            format!(
                "SELECT TRIGGER_SCHEMA, TRIGGER_NAME, DEFINER, 'ENABLED' FROM information_schema.TRIGGERS \
                 WHERE TRIGGER_SCHEMA IN ({within}) ORDER BY 1, EVENT_OBJECT_TABLE, ACTION_TIMING, EVENT_MANIPULATION, ACTION_ORDER"
            ),
        ),
        (
            Kind::Event,
            format!(
                "SELECT EVENT_SCHEMA, EVENT_NAME, DEFINER, STATUS FROM information_schema.EVENTS \
                 WHERE EVENT_SCHEMA IN ({within}) ORDER BY 1, 2"
            ),
        ),
    ] {
        for row in client.query(&sql)?.iter() {
            let cell = |at| row.at(at).unwrap_or_default().into_owned();
            let is_enabled = cell(3) == "ENABLED";
            all.push(item(client, kind, [cell(0), cell(1), cell(2)], is_enabled)?);
        }
    }
    Ok(all)
}

fn item(
    client: &mut Client,
    kind: Kind,
    [schema, named, definer]: [String; 3],
    is_enabled: bool,
) -> Result<Item, NetError> {
    let rows = client.query(&format!("SHOW CREATE {} {}.{}", kind.word(), name(&schema), name(&named)))?;
    let of = |column: &str| rows.text(0, column).map(std::borrow::Cow::into_owned);
    let charset = of("character_set_client").unwrap_or_default();
    let at = rows.columns.iter().position(|column| column == kind.column());
    let bytes = at.and_then(|at| rows.first()?.bytes_at(at).map(<[u8]>::to_vec));
    // A statement is sent in the character set of whoever made it; we send no other than UTF-8.
    let made = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let made = made.filter(|made| made.is_ascii() || charset.starts_with("utf8"));
    Ok(Item {
        kind,
        schema,
        name: named,
        definer,
        is_enabled,
        made,
        sql_mode: of("sql_mode"),
        time_zone: of("time_zone"),
        charset,
        collation: of("collation_connection").unwrap_or_default(),
        schema_collation: of("Database Collation"),
    })
}

/// CREATE EVENT of an event that does not run. `None`: it does not say whether it runs.
fn disabled(made: &str) -> Option<String> {
    const STATES: [&str; 3] = ["DISABLE ON SLAVE", "DISABLE", "ENABLE"];
    let mut quoted_by = None;
    let mut rest = made;
    while let Some(one) = rest.chars().next() {
        match quoted_by {
            None if one == '\'' || one == '`' => quoted_by = Some(one),
            Some(by) if by == one => quoted_by = None,
            None => {
                for before in ["ON COMPLETION NOT PRESERVE ", "ON COMPLETION PRESERVE "] {
                    let Some(tail) = rest.strip_prefix(before) else { continue };
                    let after = STATES.iter().find_map(|state| tail.strip_prefix(state))?;
                    let head = made.strip_suffix(tail)?;
                    return Some(format!("{head}DISABLE ON SLAVE{after}"));
                }
            }
            Some(_) => {}
        }
        rest = rest.get(one.len_utf8()..)?;
    }
    None
}

/// Made anew, where there is one already. The session is not for anything else any more.
///
/// # Errors
/// Why it cannot be made.
fn make(target: &mut Client, item: &Item, is_as_it_was: bool) -> Result<(), NetError> {
    let made = item.made.as_deref().unwrap_or_default();
    let made = match item.kind {
        Kind::Event if !is_as_it_was => disabled(made).unwrap_or_default(),
        _ => made.to_owned(),
    };
    // So that our own names and texts are what they are.
    target.execute("SET SESSION character_set_client = utf8mb4, sql_mode = 'NO_ENGINE_SUBSTITUTION'")?;
    target.execute(&item.gone())?;
    target.execute(&format!("USE {}", name(&item.schema)))?;
    let mut set = vec![
        format!("collation_connection = {}", text(&item.collation)),
        format!("time_zone = {}", text(item.time_zone.as_deref().unwrap_or("+00:00"))),
    ];
    set.extend(item.sql_mode.as_deref().map(|mode| format!("sql_mode = {}", text(mode))));
    set.push(format!("character_set_client = {}", text(&item.charset)));
    target.execute(&format!("SET SESSION {}", set.join(", ")))?;
    target.execute(&made).map(|_| ())
}

/// All of these. A view may need another one that is behind it.
///
/// # Errors
/// The first that could not be made, and why.
pub(crate) fn make_all(target: &mut Client, items: &[&Item], is_as_it_was: bool) -> Result<(), String> {
    let mut left: Vec<&Item> = items.to_vec();
    while !left.is_empty() {
        let mut failed = Vec::new();
        for item in &left {
            match make(target, item, is_as_it_was) {
                Ok(()) => {}
                Err(error @ NetError::Refused { .. }) => failed.push((*item, error)),
                Err(error) => return Err(format!("{}: {}", item.named(), error.in_one_line())),
            }
        }
        if let (true, Some((item, error))) = (failed.len() == left.len(), failed.first()) {
            return Err(format!("{}: {}", item.named(), error.in_one_line()));
        }
        left = failed.into_iter().map(|(item, _)| item).collect();
    }
    Ok(())
}

/// `user@host` as SQL has it; of a role there is no host.
fn account(definer: &str) -> String {
    match definer.rsplit_once('@') {
        Some((user, host)) if !host.is_empty() => format!("{}@{}", name(user), name(host)),
        Some((role, _)) => name(role),
        None => name(definer),
    }
}

/// Definers of these that are no accounts of the target. It is asked by a view that is made for it, since an account may not see others; the
/// server notes it. Nobody's binary log has that view.
pub(crate) fn missing_definers(
    target: &mut Client,
    items: &[Item],
    view: &str,
) -> Result<Vec<String>, NetError> {
    let definers: std::collections::BTreeSet<&str> = items.iter().map(|item| item.definer.as_str()).collect();
    let Some(schema) = items.first().map(|item| &item.schema) else { return Ok(Vec::new()) };
    let view = format!("{}.{}", name(schema), name(view));
    target.execute("SET SESSION sql_log_bin = 0")?;
    let mut missing = Vec::new();
    for definer in definers {
        target.execute(&format!(
            "CREATE OR REPLACE DEFINER = {} SQL SECURITY INVOKER VIEW {view} AS SELECT 1",
            account(definer)
        ))?;
        let notes = target.query("SHOW WARNINGS")?;
        if (0..notes.len()).any(|row| notes.text(row, "Code").as_deref() == Some(NO_SUCH_USER)) {
            missing.push(definer.to_owned());
        }
        target.execute(&format!("DROP VIEW IF EXISTS {view}"))?;
    }
    target.execute("SET SESSION sql_log_bin = 1")?;
    Ok(missing)
}

/// What both sides do not say alike of their code; `None`: all is the same.
pub(crate) fn difference(
    leader: &mut Client,
    follower: &mut Client,
    schemas: &[String],
) -> Result<Option<String>, NetError> {
    let (here, there) = (all(leader, schemas)?, all(follower, schemas)?);
    for one in &here {
        let same =
            |other: &&Item| (one.kind, &one.schema, &one.name) == (other.kind, &other.schema, &other.name);
        let Some(other) = there.iter().find(same) else {
            return Ok(Some(format!("{} is on one side only", one.named())));
        };
        if one.definer != other.definer {
            return Ok(Some(format!("{} is by {} and by {}", one.named(), one.definer, other.definer)));
        }
        if one.told() == other.told() {
            continue;
        }
        // Two versions can print the same view in two ways; then it is compared by its columns and by what is asked of who reads it.
        if one.kind == Kind::View {
            let shape = |client: &mut Client| {
                let mut lines = inspect::shape(client, &one.schema, &one.name)?;
                let attributes = client.query(&format!(
                    "SELECT CONCAT_WS(' ', SECURITY_TYPE, CHECK_OPTION, IS_UPDATABLE) FROM information_schema.VIEWS \
                     WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {}",
                    text(&one.schema),
                    text(&one.name)
                ))?;
                lines.extend(attributes.scalar().map(std::borrow::Cow::into_owned));
                Ok::<_, NetError>(lines)
            };
            if shape(leader)? == shape(follower)? {
                continue;
            }
        }
        let (here, there) = (one.told(), other.told());
        let differs = here.lines().zip(there.lines()).find(|(one, other)| one != other);
        let (here, there) = differs.unwrap_or((&here, &there));
        return Ok(Some(format!("{}: {}; {}", one.named(), here.trim(), there.trim())));
    }
    let only = there.iter().find(|other| {
        !here.iter().any(|one| (one.kind, &one.schema, &one.name) == (other.kind, &other.schema, &other.name))
    });
    Ok(only.map(|item| format!("{} is on one side only", item.named())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_event_is_disabled_in_its_own_words() {
        let put = |state: &str| {
            format!(
                "CREATE DEFINER=`a`@`ON COMPLETION PRESERVE ENABLE` EVENT `e``x` ON SCHEDULE EVERY 1 DAY STARTS '2026-01-01 00:00:00' \
                 ON COMPLETION NOT PRESERVE {state} COMMENT 'ON COMPLETION PRESERVE ENABLE' DO DELETE FROM t"
            )
        };
        for state in ["ENABLE", "DISABLE", "DISABLE ON SLAVE"] {
            assert_eq!(disabled(&put(state)), Some(put("DISABLE ON SLAVE")));
        }
        assert_eq!(disabled("CREATE EVENT e ON SCHEDULE AT '2026-01-01' DO SELECT 1"), None);
        assert_eq!(account("a@b@%"), "`a@b`@`%`");
        assert_eq!(account("role@"), "`role`");
    }

    proptest! {
        #[test]
        fn no_statement_panics(made in ".{0,60}", tail in "[A-Z '`]{0,60}") {
            let _ = disabled(&made);
            let _ = disabled(&format!("ON COMPLETION PRESERVE {tail}"));
            let _ = account(&made);
        }
    }
}
