//! HAProxy's runtime API: one line asked over its admin socket, one answer, and the connection ends.
//!
//! Source: HAProxy 2.6, management.txt, 9.1 (CSV) and 9.3 (unix socket commands); what is said of answers was seen on 2.6.12. Read here:
//! where servers are, who has taken them out, whether they get connections, how many they have. Left out: everything else.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::WireError;
use crate::escape::printable;

/// A server takes some 150 bytes in one answer and 500 in the other.
pub const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Servers of all backends together.
pub const SERVERS_MAX: usize = 10_000;
/// Of a backend or a server.
pub const NAME_BYTES_MAX: usize = 255;
/// Columns of a row; 2.6 has 126.
const FIELDS_MAX: usize = 1024;
/// What is shown of an answer that we do not know.
const SHOWN_CHARS_MAX: usize = 200;

const WHAT: &str = "HAProxy's answer";

pub const SHOW_SERVERS: &str = "show servers state\n";
/// Of all proxies, rows of servers only.
pub const SHOW_STAT: &str = "show stat -1 4 -1\n";

/// `user`, `operator` or `admin`.
pub const SHOW_LEVEL: &str = "show cli level\n";

/// Bits of `srv_admin_state`. Source: `enum srv_admin` of HAProxy's include/haproxy/server-t.h. 4 (`disabled` stands in the configuration)
/// stays when it was set ready, and says nothing.
const FORCED_MAINT: u32 = 1;
const FORCED_DRAIN: u32 = 8;
const SAYS_NOTHING: u32 = 4;

/// Why there is no answer of the kind that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HaproxyError {
    /// The socket is of level `user` or `operator`.
    #[error("it does not permit that on this socket")]
    NotPermitted,
    #[error("it has no such backend")]
    NoSuchBackend,
    #[error("it has no such server")]
    NoSuchServer,
    /// A word of HAProxy's own that is none of these, escaped.
    #[error("it says \"{0}\"")]
    Said(String),
    #[error(transparent)]
    Wire(#[from] WireError),
}

/// What somebody has set a server to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AdminState {
    Ready,
    /// No new connections but those of persistence; health checks go on.
    Drain,
    /// No connections, no health checks.
    Maint,
}

impl AdminState {
    /// As the runtime API spells it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Drain => "drain",
            Self::Maint => "maint",
        }
    }

    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Ready, Self::Drain, Self::Maint].into_iter().find(|state| state.word() == word)
    }
}

/// A row of `show servers state`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerRow {
    pub backend: String,
    pub server: String,
    /// `None`: a unix socket, or a name that is not resolved.
    pub address: Option<IpAddr>,
    pub port: u16,
    /// The name that `address` was resolved from.
    pub fqdn: Option<String>,
    /// What it was set to itself; another server that it tracks counts in `takes_new` only.
    pub admin: AdminState,
    /// The load is balanced over it: not out, not down, with a weight.
    pub takes_new: bool,
}

/// A row of `show stat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatRow {
    pub backend: String,
    pub server: String,
    /// Connections of clients that it has or that wait for it.
    pub sessions: u64,
    /// `UP`, `DOWN 1/2`, `DRAIN`, `no check`, `MAINT (via galera/db1)`.
    pub status: String,
}

impl StatRow {
    /// Its health check passes, or it has none. `UP 1/3` is on its way down.
    pub fn is_up(&self) -> bool {
        self.status == "UP" || self.has_no_check()
    }

    pub fn has_no_check(&self) -> bool {
        self.status == "no check"
    }
}

/// The command that sets a server to `state`.
///
/// # Errors
/// A name that would be more than a name.
pub fn set_state(backend: &str, server: &str, state: AdminState) -> Result<String, WireError> {
    if !is_name(backend) || !is_name(server) {
        return Err(WireError::Malformed {
            what: "a name of HAProxy",
            reason: "letters, digits, - _ . : and at most 255 of them",
        });
    }
    Ok(format!("set server {backend}/{server} state {}\n", state.word()))
}

/// As HAProxy's configuration has them (`invalid_char`).
pub fn is_name(text: &str) -> bool {
    (1..=NAME_BYTES_MAX).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte))
}

/// The answer to a command that changes something: nothing, when it was done.
///
/// # Errors
/// What HAProxy says against it.
pub fn done(answer: &[u8]) -> Result<(), HaproxyError> {
    let text = text(answer)?;
    if text.trim().is_empty() { Ok(()) } else { Err(said(text)) }
}

/// The answer to [`SHOW_LEVEL`]: whether states may be set.
///
/// # Errors
/// It is not one.
pub fn is_admin(answer: &[u8]) -> Result<bool, HaproxyError> {
    let text = text(answer)?;
    match text.trim() {
        "admin" => Ok(true),
        "user" | "operator" => Ok(false),
        _ => Err(said(text)),
    }
}

/// The answer to [`SHOW_SERVERS`].
///
/// # Errors
/// It is not one, or HAProxy refuses.
pub fn servers(answer: &[u8]) -> Result<Vec<ServerRow>, HaproxyError> {
    let text = text(answer)?;
    let mut lines = text.lines();
    if lines.next() != Some("1") {
        return Err(said(text));
    }
    let columns = lines
        .next()
        .and_then(|line| line.strip_prefix("# "))
        .ok_or_else(|| bad("it has no names of columns"))?;
    let columns = Columns::of(columns.split(' '))?;
    let mut rows = Vec::new();
    for line in lines.filter(|line| !line.is_empty()) {
        let fields: Vec<&str> = line.split(' ').take(FIELDS_MAX).collect();
        let get = |name| columns.get(name, &fields);
        let number =
            |name| -> Result<u32, WireError> { get(name)?.parse().map_err(|_| bad("a field is no number")) };
        let flags = number("srv_admin_state")?;
        let admin = match flags {
            flags if flags & FORCED_MAINT != 0 => AdminState::Maint,
            flags if flags & FORCED_DRAIN != 0 => AdminState::Drain,
            _ => AdminState::Ready,
        };
        // 0 is down, 3 on its way out; 1 is a slow start.
        let serves = matches!(number("srv_op_state")?, 1 | 2);
        push(
            &mut rows,
            ServerRow {
                backend: name(get("be_name")?)?,
                server: name(get("srv_name")?)?,
                address: get("srv_addr")?.parse().ok(),
                port: get("srv_port")?.parse().map_err(|_| bad("srv_port is no port"))?,
                fqdn: Some(get("srv_fqdn")?).filter(|name| *name != "-").map(printable),
                admin,
                takes_new: serves && flags & !SAYS_NOTHING == 0 && number("srv_uweight")? > 0,
            },
        )?;
    }
    Ok(rows)
}

/// The answer to [`SHOW_STAT`]. Rows of frontends and backends are left out.
///
/// # Errors
/// It is not one, or HAProxy refuses.
pub fn stat(answer: &[u8]) -> Result<Vec<StatRow>, HaproxyError> {
    let text = text(answer)?;
    let mut lines = text.lines();
    let Some(columns) = lines.next().and_then(|line| line.strip_prefix("# ")) else { return Err(said(text)) };
    let columns = Columns::of(columns.split(','))?;
    let mut rows = Vec::new();
    for line in lines.filter(|line| !line.is_empty()) {
        let fields = csv(line);
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        let get = |name| columns.get(name, &fields);
        if get("type")? != "2" {
            continue;
        }
        let number =
            |name| -> Result<u64, WireError> { get(name)?.parse().map_err(|_| bad("a field is no number")) };
        push(
            &mut rows,
            StatRow {
                backend: name(get("pxname")?)?,
                server: name(get("svname")?)?,
                sessions: number("scur")?.saturating_add(number("qcur")?),
                status: printable(get("status")?),
            },
        )?;
    }
    Ok(rows)
}

/// Which column has which name: releases add some.
struct Columns<'t>(HashMap<&'t str, usize>);

impl<'t> Columns<'t> {
    fn of(names: impl Iterator<Item = &'t str>) -> Result<Self, WireError> {
        let mut columns = HashMap::new();
        for (at, name) in names.enumerate() {
            if at >= FIELDS_MAX {
                return Err(over("columns", at, FIELDS_MAX));
            }
            columns.entry(name).or_insert(at);
        }
        Ok(Self(columns))
    }

    fn get<'f>(&self, name: &str, fields: &[&'f str]) -> Result<&'f str, WireError> {
        let at = self.0.get(name).ok_or_else(|| bad("a column is missing; HAProxy before 1.8 has fewer"))?;
        fields.get(*at).copied().ok_or_else(|| bad("a row ends early"))
    }
}

/// Fields with commas and quotes are quoted, and quotes in them doubled.
fn csv(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' if is_quoted && chars.peek() == Some(&'"') => {
                chars.next();
                if let Some(field) = fields.last_mut() {
                    field.push('"');
                }
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => {
                if fields.len() >= FIELDS_MAX {
                    return fields;
                }
                fields.push(String::new());
            }
            other => {
                if let Some(field) = fields.last_mut() {
                    field.push(other);
                }
            }
        }
    }
    fields
}

fn push<T>(rows: &mut Vec<T>, row: T) -> Result<(), WireError> {
    if rows.len() >= SERVERS_MAX {
        return Err(over("servers", rows.len().saturating_add(1), SERVERS_MAX));
    }
    rows.push(row);
    Ok(())
}

fn name(text: &str) -> Result<String, WireError> {
    if is_name(text) { Ok(text.to_owned()) } else { Err(bad("a name of a backend or a server is none")) }
}

fn text(answer: &[u8]) -> Result<&str, WireError> {
    if answer.len() > ANSWER_BYTES_MAX {
        return Err(over("bytes", answer.len(), ANSWER_BYTES_MAX));
    }
    std::str::from_utf8(answer).map_err(|_| bad("it is not text"))
}

/// An answer of another kind, in our words where we know it.
fn said(text: &str) -> HaproxyError {
    let text = text.trim();
    match text {
        "" => bad("it is empty").into(),
        "Permission denied" => HaproxyError::NotPermitted,
        "No such server." => HaproxyError::NoSuchServer,
        "No such backend." | "Can't find backend." => HaproxyError::NoSuchBackend,
        other => {
            let line = other.lines().next().unwrap_or_default();
            HaproxyError::Said(printable(&line.chars().take(SHOWN_CHARS_MAX).collect::<String>()))
        }
    }
}

fn bad(reason: &'static str) -> WireError {
    WireError::Malformed { what: WHAT, reason }
}

fn over(what: &'static str, announced: usize, max: usize) -> WireError {
    WireError::OverLimit { what, announced: announced as u64, max: max as u64 }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SERVERS: &[u8] = include_bytes!("../testdata/haproxy/servers-state-2.6.12.txt");
    const STAT: &[u8] = include_bytes!("../testdata/haproxy/stat-2.6.12.txt");

    #[test]
    fn servers_of_2_6_12_are_read() {
        let rows = servers(SERVERS).unwrap();
        let seen = |at: usize| {
            let row = &rows[at];
            (row.server.as_str(), row.admin, row.takes_new)
        };
        assert_eq!(rows.len(), 7);
        assert_eq!(seen(0), ("db1", AdminState::Drain, false));
        assert_eq!(seen(1), ("db2", AdminState::Ready, false), "it has no weight");
        assert_eq!((seen(2), rows[2].address), (("db3", AdminState::Ready, false), None));
        assert_eq!(seen(3), ("db4", AdminState::Maint, false));
        assert_eq!(rows[3].fqdn.as_deref(), Some("localhost"));
        assert_eq!(
            (seen(4), rows[4].port),
            (("db5", AdminState::Ready, true), 23311),
            "it was disabled once"
        );
        assert_eq!(seen(5), ("db1", AdminState::Ready, false), "only what it tracks is drained");
    }

    #[test]
    fn statistics_of_2_6_12_are_read() {
        let rows = stat(STAT).unwrap();
        let seen: Vec<_> = rows.iter().map(|row| (row.sessions, row.status.as_str(), row.is_up())).collect();
        assert_eq!(
            seen,
            [
                (1, "DRAIN", false),
                (1, "UP", true),
                (0, "DOWN", false),
                (0, "MAINT (via galera/db1)", false),
                (0, "no check", true),
            ]
        );
    }

    #[test]
    fn refusals_are_told_apart() {
        let check = |answer: &str, expected: HaproxyError| {
            assert_eq!(done(answer.as_bytes()), Err(expected.clone()));
            assert_eq!(servers(answer.as_bytes()), Err(expected.clone()));
            assert_eq!(stat(answer.as_bytes()), Err(expected));
        };
        check("Permission denied\n\n", HaproxyError::NotPermitted);
        check("No such server.\n\n", HaproxyError::NoSuchServer);
        check("No such backend.\n", HaproxyError::NoSuchBackend);
        check(
            "Unknown command, but\u{1b}[2J\nmore",
            HaproxyError::Said("Unknown command, but\\u{1b}[2J".into()),
        );
        assert_eq!(done(b"\n"), Ok(()));
        assert_eq!((is_admin(b"admin\n\n"), is_admin(b"operator\n\n")), (Ok(true), Ok(false)));
        assert!(is_admin(b"\n").is_err() && is_admin(b"admin or so\n").is_err());
        // A socket that was closed without a word has not shown its servers.
        assert!(servers(b"").is_err() && stat(b"").is_err());
    }

    #[test]
    fn nothing_but_a_name_goes_into_a_command() {
        assert_eq!(
            set_state("galera", "db1", AdminState::Drain).unwrap(),
            "set server galera/db1 state drain\n"
        );
        for name in ["", "a b", "a;b", "a/b", "a\nb", &"a".repeat(256)] {
            assert!(set_state("galera", name, AdminState::Maint).is_err(), "{name:?}");
            assert!(set_state(name, "db1", AdminState::Maint).is_err(), "{name:?}");
        }
    }

    /// A row that was cut is never read as a whole one with other values.
    #[test]
    fn an_answer_that_ends_early_is_an_error_or_has_fewer_servers() {
        let whole = servers(SERVERS).unwrap();
        let needed = SERVERS.iter().position(|&byte| byte == b'\n').unwrap();
        for end in needed..SERVERS.len() {
            if let Ok(rows) = servers(&SERVERS[..end]) {
                for (row, other) in rows.iter().zip(&whole) {
                    assert_eq!((&row.server, row.admin), (&other.server, other.admin), "cut at {end}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn no_answer_stops_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..600), cut in 0usize..600) {
            let _ = (servers(&bytes), stat(&bytes), done(&bytes));
            for known in [SERVERS, STAT] {
                let mut mixed = known[..cut.min(known.len())].to_vec();
                mixed.extend_from_slice(&bytes);
                let _ = (servers(&mixed), stat(&mixed));
            }
        }

        #[test]
        fn quoted_fields_are_what_they_were(fields in proptest::collection::vec("[a-z\",]{0,6}", 1..8)) {
            let line: Vec<String> =
                fields.iter().map(|field| format!("\"{}\"", field.replace('"', "\"\""))).collect();
            prop_assert_eq!(csv(&line.join(",")), fields);
        }
    }
}
