//! What was given away on a connection, worst first.

use std::collections::BTreeMap;

use super::connection::ConnectionSummary;
use super::guess::Guess;
use super::opening::Kind;
use super::place::Place;

/// What was read. The order is that of the harm: the first is the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    PasswordInClear,
    SecretInStatement,
    ReplicationRows,
    FullTransfer,
    WriteSets,
    GuessableLogin,
    Canary,
    FileContents,
    ResultRows,
    Parameters,
    Statements,
    OtherInClear,
    LoginWithoutTls,
    ClearBytesInTls,
}

impl What {
    pub const ALL: [Self; 14] = [
        Self::PasswordInClear,
        Self::SecretInStatement,
        Self::ReplicationRows,
        Self::FullTransfer,
        Self::WriteSets,
        Self::GuessableLogin,
        Self::Canary,
        Self::FileContents,
        Self::ResultRows,
        Self::Parameters,
        Self::Statements,
        Self::OtherInClear,
        Self::LoginWithoutTls,
        Self::ClearBytesInTls,
    ];

    /// Stable, for programs.
    pub fn id(self) -> &'static str {
        match self {
            Self::PasswordInClear => "password-in-clear",
            Self::SecretInStatement => "secret-in-statement",
            Self::ReplicationRows => "replication-rows",
            Self::FullTransfer => "full-transfer",
            Self::WriteSets => "write-sets",
            Self::GuessableLogin => "guessable-login",
            Self::Canary => "canary",
            Self::FileContents => "file-contents",
            Self::ResultRows => "result-rows",
            Self::Parameters => "parameters",
            Self::Statements => "statements",
            Self::OtherInClear => "other-in-clear",
            Self::LoginWithoutTls => "login-without-tls",
            Self::ClearBytesInTls => "clear-bytes-in-tls",
        }
    }

    /// For people.
    pub fn text(self) -> &'static str {
        match self {
            Self::PasswordInClear => "passwords",
            Self::SecretInStatement => "statements that contain a password, a key or a hash",
            Self::ReplicationRows => "the binary log: every change to the data",
            Self::FullTransfer => "state transfers with all data (SST)",
            Self::WriteSets => "Galera write sets (transactions)",
            Self::GuessableLogin => "logins whose password can be cracked offline",
            Self::Canary => "canaries",
            Self::FileContents => "files of LOAD DATA LOCAL",
            Self::ResultRows => "result rows",
            Self::Parameters => "parameters of prepared statements",
            Self::Statements => "statements",
            Self::OtherInClear => {
                "cleartext that was not decoded (MySQL, X Protocol, Group Replication, a transfer)"
            }
            Self::LoginWithoutTls => "user names and databases of logins",
            Self::ClearBytesInTls => "bytes outside of TLS records after TLS began",
        }
    }
}

/// One kind of thing on one connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub what: What,
    pub times: u64,
    /// More about it; no value from the wire but names.
    pub detail: String,
}

/// What was found on a connection, worst first.
pub fn of(told: &ConnectionSummary) -> Vec<Finding> {
    let mut found = vec![];
    let mut add = |what, times: u64, detail: String| {
        if times > 0 {
            found.push(Finding { what, times, detail });
        }
    };
    if let Some(seen) = &told.mysql {
        add(What::PasswordInClear, seen.passwords_in_clear, String::new());
        let secrets: Vec<String> =
            seen.secrets.iter().map(|(secret, times)| format!("{secret} x{times}")).collect();
        add(What::SecretInStatement, seen.secrets.values().sum(), secrets.join(", "));
        add(
            What::ReplicationRows,
            seen.binlog_events,
            format!("{} with row images, {} with statements", seen.row_events, seen.statement_events),
        );
        let guessable: Vec<_> = seen
            .logins
            .iter()
            .filter_map(|login| Guess::of(&login.plugin).map(|guess| (login, guess)))
            .collect();
        if let Some((login, guess)) = guessable.first() {
            let detail = format!("{}: {}", login.plugin, guess.text());
            add(What::GuessableLogin, guessable.len() as u64, detail);
        }
        add(What::FileContents, seen.files_sent.min(seen.file_bytes), format!("{} bytes", seen.file_bytes));
        add(What::ResultRows, seen.rows, format!("of {} results, {} bytes", seen.results, seen.row_bytes));
        add(What::Parameters, seen.executed, format!("{} bytes", seen.parameter_bytes));
        add(What::Statements, seen.queries + seen.prepared, String::new());
        add(What::LoginWithoutTls, seen.users.len() as u64, seen.users.join(", "));
    } else if !told.is_tls && !told.is_undecided && told.bytes_a + told.bytes_b > 0 {
        match told.kind {
            Kind::Galera if told.galera.writesets > 0 => {
                add(What::WriteSets, told.galera.writesets, format!("{} bytes", told.galera.writeset_bytes));
            }
            // One end sends records: what the other one sent is told below.
            _ if told.tls_bytes > 0 => {}
            Kind::SstRsync | Kind::SstBackup => add(What::FullTransfer, 1, told.kind.to_string()),
            Kind::Galera | Kind::Ist | Kind::SstOther | Kind::MySqlX => {
                add(What::OtherInClear, 1, format!("{} bytes", told.bytes_a + told.bytes_b));
            }
            Kind::MySql | Kind::Other => {}
        }
    }
    if let Some(suite) = told.null_suite {
        add(What::OtherInClear, 1, format!("{} bytes: {suite} encrypts nothing", told.tls_bytes));
    } else if told.unfollowed_bytes > 0 {
        add(What::OtherInClear, 1, format!("{} bytes", told.unfollowed_bytes));
    }
    let mut places: BTreeMap<Place, u64> = BTreeMap::new();
    for ((_, place), times) in &told.canary_places {
        *places.entry(*place).or_default() += times;
    }
    let places: Vec<String> =
        places.iter().map(|(place, times)| format!("{} x{times}", place.id())).collect();
    add(What::Canary, told.canaries.values().sum(), places.join(", "));
    add(
        What::ClearBytesInTls,
        u64::from(told.clear_bytes_in_tls > 0),
        format!("{} bytes", told.clear_bytes_in_tls),
    );
    found.sort_by_key(|finding| finding.what);
    found
}
