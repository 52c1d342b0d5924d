//! The texts of statements, where the server keeps some: the histories of the performance schema, and the general log in its table.

use std::collections::BTreeSet;

use model::Value;
use net::RowRef;
use server::Flavour;

use crate::ask::Refusal;
use crate::asking::Asking;
use crate::grant::Grant;
use crate::questions::logs::HISTORIES;
use crate::statements::{Sign, shape, signs, signs_in_text};

pub const HISTORY: &str = "performance_schema.events_statements_history";
pub const HISTORY_LONG: &str = "performance_schema.events_statements_history_long";
pub const THREADS: &str = "performance_schema.threads";
pub const CONSUMERS: &str = "performance_schema.setup_consumers";
/// How a person sees the same.
pub const HOW: &str = "SELECT THREAD_ID, SQL_TEXT FROM performance_schema.events_statements_history_long";

/// Of the general log, the newest; of each entry so many bytes. A page of an application is shorter.
const ENTRIES_MAX: usize = 5_000;
const ENTRY_BYTES_MAX: usize = 4_096;

/// User, and the host that its session comes from.
pub type Sender = (String, String);

/// A statement whose text is kept.
#[derive(Debug, Default)]
pub struct Kept {
    pub text: String,
    pub digest: Option<String>,
    /// The error that it ended with; 0 for none.
    pub error: u32,
    pub sender: Option<Sender>,
    pub is_cut: bool,
}

impl Kept {
    #[cfg(test)]
    pub fn of(text: &str) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    pub fn signs(&self) -> Vec<Sign> {
        let of_digest = self.digest.iter().flat_map(|digest| signs(digest));
        let mut all = signs_in_text(&self.text, self.is_cut);
        for sign in of_digest {
            if !all.contains(&sign) {
                all.push(sign);
            }
        }
        all
    }

    pub fn shape(&self) -> String {
        shape(&self.text)
    }
}

#[derive(Debug, Default)]
pub struct Texts {
    pub kept: Vec<Kept>,
    /// Why a history that is kept could not be read.
    pub refused: Option<String>,
    /// Two statements of one packet would be seen.
    pub tells_packets: bool,
}

impl Texts {
    /// What it says that none of them has a sign.
    pub fn none(&self) -> Value {
        match &self.refused {
            Some(why) => Value::Unknown(why.clone()),
            None if self.kept.is_empty() => Value::Unknown(
                "the server keeps the text of no statement but this session's: only a text tells (events_statements_history and _history_long of the \
                 performance schema, or the general log in its table)"
                    .into(),
            ),
            None => Value::Absent,
        }
    }
}

pub fn read(asking: &mut Asking<'_>) -> Result<Texts, Refusal> {
    let mut texts = Texts::default();
    if asking.view.variable("performance_schema") == Some("ON") {
        match asking.rows_with(&[Grant::select(CONSUMERS)], HISTORIES)? {
            Ok(rows) => {
                let on: Vec<String> =
                    rows.iter().filter_map(|row| row.at(0)).map(std::borrow::Cow::into_owned).collect();
                let is_on = |table: &str| on.iter().any(|name| table.ends_with(&format!(".{name}")));
                let mut seen = BTreeSet::new();
                for table in [HISTORY, HISTORY_LONG] {
                    if is_on(table) {
                        history(asking, table, &mut texts, &mut seen)?;
                    }
                }
            }
            Err(why) => texts.refused = Some(why),
        }
    }
    general_log(asking, &mut texts)?;
    Ok(texts)
}

fn sender(user: Option<String>, host: Option<String>) -> Option<Sender> {
    user.map(|user| (user, host.unwrap_or_default()))
}

fn history(
    asking: &mut Asking<'_>,
    table: &'static str,
    texts: &mut Texts,
    seen: &mut BTreeSet<(String, String)>,
) -> Result<(), Refusal> {
    // The session may have ended since: then nobody knows its account.
    let sql = format!(
        "SELECT h.THREAD_ID, h.EVENT_ID, h.SQL_TEXT, h.DIGEST_TEXT, h.MYSQL_ERRNO, t.PROCESSLIST_USER, t.PROCESSLIST_HOST FROM {table} h \
         LEFT JOIN {THREADS} t ON t.THREAD_ID = h.THREAD_ID \
         WHERE h.SQL_TEXT IS NOT NULL AND (t.PROCESSLIST_ID IS NULL OR t.PROCESSLIST_ID <> CONNECTION_ID()) LIMIT 20000"
    );
    let rows = match asking.rows_with(&[Grant::select(table), Grant::select(THREADS)], &sql)? {
        Ok(rows) => rows,
        Err(why) => {
            texts.refused = Some(why);
            return Ok(());
        }
    };
    let bytes_max = asking.view.variable("performance_schema_max_sql_text_length");
    let bytes_max = bytes_max.and_then(|text| text.parse().ok()).unwrap_or(1024_usize);
    for row in rows.iter() {
        let text = |at: usize| row.at(at).map(std::borrow::Cow::into_owned);
        if !seen.insert((text(0).unwrap_or_default(), text(1).unwrap_or_default())) {
            continue;
        }
        let (Some(sql), error) = (text(2), text(4).and_then(|error| error.parse().ok())) else { continue };
        // It is cut between characters, of which one has four bytes at most.
        let is_cut = sql.len() + 4 > bytes_max;
        let sender = sender(text(5), text(6));
        texts.kept.push(Kept { text: sql, digest: text(3), error: error.unwrap_or(0), sender, is_cut });
    }
    Ok(())
}

/// Only where it is written to its table, and this account may read that: it is no reason to grant it.
fn general_log(asking: &mut Asking<'_>, texts: &mut Texts) -> Result<(), Refusal> {
    let output = asking.view.variable("log_output").unwrap_or_default().to_ascii_uppercase();
    let has = |word: &str| output.split(',').any(|one| one.trim() == word);
    if asking.view.variable("general_log") != Some("ON") || !has("TABLE") || has("NONE") {
        return Ok(());
    }
    // The table has no index: nobody waits long for one that has grown for years, nor reads it where that cannot be limited.
    let (variable, before, hint) = if asking.capabilities.flavour == Flavour::MariaDb {
        ("max_statement_time", "SET STATEMENT max_statement_time = 5 FOR ", "")
    } else {
        ("max_execution_time", "", "/*+ MAX_EXECUTION_TIME(5000) */ ")
    };
    if asking.view.variable(variable).is_none() {
        return Ok(());
    }
    let sql = format!(
        "{before}SELECT {hint}user_host, LEFT(argument, {ENTRY_BYTES_MAX}), LENGTH(argument) > {ENTRY_BYTES_MAX} FROM mysql.general_log \
         WHERE command_type IN ('Query', 'Execute') AND thread_id <> CONNECTION_ID() ORDER BY event_time DESC LIMIT {ENTRIES_MAX}"
    );
    let Ok(rows) = asking.rows(&sql)? else { return Ok(()) };
    for row in rows.iter() {
        let Some(text) = row.at(1) else { continue };
        let is_cut = row.at(2).as_deref() != Some("0");
        texts.kept.push(Kept {
            text: text.into_owned(),
            sender: log_sender(&row),
            is_cut,
            ..Kept::default()
        });
        texts.tells_packets = true;
    }
    Ok(())
}

/// Source: both flavours write `account[user] @ host [address]` (tried on MariaDB 10.11.19 and MySQL 9.7.4).
fn log_sender(row: &RowRef<'_>) -> Option<Sender> {
    let written = row.at(0)?.into_owned();
    let (who, from) = written.split_once("] @ ")?;
    let user = who.split('[').next().unwrap_or_default();
    let (host, address) = from.split_once('[').unwrap_or((from, ""));
    let host = if host.trim().is_empty() { address.trim_end_matches(']') } else { host };
    Some((user.to_owned(), host.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Ask;
    use crate::script::Script;

    #[test]
    fn who_wrote_into_the_general_log_is_read() {
        for (written, user, host) in [
            ("web[web] @ localhost []", "web", "localhost"),
            ("web[web] @  [10.0.0.7]", "web", "10.0.0.7"),
            ("[nobody] @ db1 [10.0.0.7]", "", "db1"),
        ] {
            let mut script = Script::new(&[("log", &[&[Some(written)]])]);
            let rows = script.rows("SELECT a FROM log").expect("rows");
            let read = rows.first().and_then(|row| log_sender(&row));
            assert_eq!(read, Some((user.into(), host.into())), "{written}");
        }
    }
}
