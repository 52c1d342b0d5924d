//! Channels of asynchronous replication: what a replica was told of its source, and whether it has it.
//!
//! Sources: MariaDB manual, SHOW ALL SLAVES STATUS and CHANGE MASTER TO; MySQL manual, SHOW REPLICA STATUS and CHANGE REPLICATION
//! SOURCE TO. Columns as seen on MariaDB 10.11.19 and MySQL 9.7.4.

use std::path::PathBuf;

use net::{Client, NetError};
use serde::{Deserialize, Serialize};

use crate::capability::{Capabilities, Flavour};
use crate::tls_rules::TlsRules;

/// More channels than any server has; a list without end would be read without end.
const CHANNELS_MAX: usize = 256;

/// How a channel was told to connect. It is a wish: without verification MariaDB connects in cleartext where the source offers no
/// TLS.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelTls {
    pub is_on: bool,
    /// Chain and name of the source's certificate are verified.
    pub verifies: bool,
    pub ca: PathBuf,
    pub cert: PathBuf,
    pub key: PathBuf,
}

/// A thread of a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThreadState {
    Running,
    /// It has no connection and tries to get one.
    Connecting,
    Stopped,
}

/// One source of one replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    /// Empty: the one without a name.
    pub name: String,
    pub source_host: String,
    pub source_port: u16,
    /// As its source has told; `None`: it has not been connected yet.
    pub source_server_id: Option<u64>,
    pub user: String,
    pub tls: ChannelTls,
    /// Versions of TLS that it offers, as `SOURCE_TLS_VERSION` lists them; empty: all that it has. MariaDB has no such option.
    pub tls_versions: String,
    /// It receives what the source writes.
    pub receiver: ThreadState,
    /// Number and text of its last error.
    pub receiver_error: Option<String>,
    /// It applies what was received.
    pub applier: ThreadState,
    pub applier_error: Option<String>,
    /// It neither asks for its source's RSA key (GET_SOURCE_PUBLIC_KEY) nor has it: with an account of caching_sha2_password MySQL lets it in
    /// without TLS only while the source remembers that account, which it forgets when it ends (seen on 9.7.4: error 2061).
    pub needs_tls_to_log_in: bool,
    /// How far the receiver has come, as the server writes it: another text is further.
    pub received: String,
    /// The source's binary log of which the applier has come to the end, or in which it is. What lies before it is applied: a replica that is
    /// restarted asks for the rest again.
    pub applied_log: String,
    /// The source's binary log that the receiver reads, or has read last; empty: none yet.
    pub received_log: String,
    /// It asks for what it lacks by GTIDs, not by file and position.
    pub by_gtid: bool,
    /// Seconds by which it is behind its source, as the server tells, without those by which it is to be late (`SQL_Delay`). `None`: the
    /// server cannot tell, which is so while a thread does not run.
    pub lag_s: Option<u64>,
}

impl std::fmt::Display for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.name.is_empty() {
            write!(f, "channel {} from ", self.name)?;
        }
        write!(f, "{}:{}", self.source_host, self.source_port)
    }
}

/// The columns of one flavour.
struct Columns {
    statement: &'static str,
    name: &'static str,
    /// Before `Host`, `User`, `Port`, `SSL_…`, `Log_File`.
    source: &'static str,
    /// Before `IO_Running`, `SQL_Running`.
    replica: &'static str,
    received: &'static [&'static str],
    applied_log: &'static str,
    by_gtid: &'static str,
    lag: &'static str,
}

const MARIADB: Columns = Columns {
    statement: "SHOW ALL SLAVES STATUS",
    name: "Connection_name",
    source: "Master",
    replica: "Slave",
    received: &["Master_Log_File", "Read_Master_Log_Pos", "Gtid_IO_Pos"],
    applied_log: "Relay_Master_Log_File",
    by_gtid: "Using_Gtid",
    lag: "Seconds_Behind_Master",
};

/// From 8.0.22 on.
const MYSQL: Columns = Columns {
    statement: "SHOW REPLICA STATUS",
    name: "Channel_Name",
    source: "Source",
    replica: "Replica",
    received: &["Source_Log_File", "Read_Source_Log_Pos", "Retrieved_Gtid_Set"],
    applied_log: "Relay_Source_Log_File",
    by_gtid: "Auto_Position",
    lag: "Seconds_Behind_Source",
};

/// The channels of the server that `client` talks to.
///
/// # Errors
/// It does not tell: the account needs REPLICA MONITOR or SLAVE MONITOR (MariaDB), REPLICATION CLIENT (MySQL).
pub fn channels(client: &mut Client, capabilities: &Capabilities) -> Result<Vec<Channel>, NetError> {
    let columns = if capabilities.flavour == Flavour::MariaDb { &MARIADB } else { &MYSQL };
    let rows = client.query(columns.statement)?;
    let channels = rows.iter().take(CHANNELS_MAX).map(|row| {
        let text = |name: &str| row.text(name).unwrap_or_default().into_owned();
        let of_source = |name: &str| text(&format!("{}_{name}", columns.source));
        let state = |name: &str| match text(&format!("{}_{name}", columns.replica)).as_str() {
            "Yes" => ThreadState::Running,
            "No" => ThreadState::Stopped,
            // `Connecting`, and MariaDB's `Preparing`.
            _ => ThreadState::Connecting,
        };
        let error = |number: &str, why: &str| {
            let number = text(number);
            (!["", "0"].contains(&number.as_str())).then(|| format!("{number} {}", text(why)))
        };
        Channel {
            name: text(columns.name),
            source_host: of_source("Host"),
            source_port: of_source("Port").parse().unwrap_or(0),
            source_server_id: of_source("Server_Id").parse().ok().filter(|id| *id != 0),
            user: of_source("User"),
            tls: ChannelTls {
                is_on: of_source("SSL_Allowed") == "Yes",
                verifies: of_source("SSL_Verify_Server_Cert") == "Yes",
                ca: of_source("SSL_CA_File").into(),
                cert: of_source("SSL_Cert").into(),
                key: of_source("SSL_Key").into(),
            },
            tls_versions: text("Source_TLS_Version"),
            receiver: state("IO_Running"),
            receiver_error: error("Last_IO_Errno", "Last_IO_Error"),
            applier: state("SQL_Running"),
            applier_error: error("Last_SQL_Errno", "Last_SQL_Error"),
            needs_tls_to_log_in: capabilities.flavour != Flavour::MariaDb
                && text("Get_Source_public_key") != "1"
                && text("Source_public_key_path").is_empty(),
            applied_log: text(columns.applied_log),
            received_log: columns.received.first().map(|name| text(name)).unwrap_or_default(),
            by_gtid: !["", "0", "No"].contains(&text(columns.by_gtid).as_str()),
            received: columns.received.iter().map(|name| text(name)).collect::<Vec<_>>().join(" "),
            lag_s: lag_s(&text(columns.lag), &text("SQL_Delay")),
        }
    });
    Ok(channels.collect())
}

/// More binary logs than any server has.
const BINARY_LOGS_MAX: usize = 1_000_000;

/// Names of a server's binary logs, the oldest first.
///
/// # Errors
/// It does not tell: the account needs BINLOG MONITOR (MariaDB), REPLICATION CLIENT (MySQL), or it writes none.
pub fn binary_logs(client: &mut Client) -> Result<Vec<String>, NetError> {
    let rows = client.query("SHOW BINARY LOGS")?;
    Ok(rows
        .iter()
        .take(BINARY_LOGS_MAX)
        .filter_map(|row| row.at(0).map(std::borrow::Cow::into_owned))
        .collect())
}

/// `behind`: NULL, read as an empty text, while a thread does not run. `delay`: what it was told to be late by.
fn lag_s(behind: &str, delay: &str) -> Option<u64> {
    let behind: u64 = behind.parse().ok()?;
    Some(behind.saturating_sub(delay.parse().unwrap_or(0)))
}

/// The statements that make a channel connect anew as `tls` says, with no position in them: each flavour goes on where its applier is. Of
/// its threads, those in `run` run afterwards.
pub fn change_channel(flavour: Flavour, channel: &str, tls: &ChannelTls, run: Threads) -> Vec<String> {
    let (on, verify) = (u8::from(tls.is_on), u8::from(tls.verifies));
    let path = |path: &PathBuf| quoted(&path.display().to_string());
    let name = quoted(channel);
    if flavour == Flavour::MariaDb {
        // Both threads must be stopped (error 1198).
        let name = if channel.is_empty() { String::new() } else { format!(" {name}") };
        let start = start_threads(flavour, channel, run);
        let change = [
            format!("STOP SLAVE{name}"),
            format!(
                "CHANGE MASTER{name} TO master_ssl={on}, master_ssl_ca={}, master_ssl_cert={}, master_ssl_key={}, \
                 master_ssl_verify_server_cert={verify}",
                path(&tls.ca),
                path(&tls.cert),
                path(&tls.key)
            ),
        ];
        return change.into_iter().chain(start).collect();
    }
    // Its applier runs on, if it runs.
    let start = start_threads(flavour, channel, Threads { applier: false, ..run });
    let change = [
        format!("STOP REPLICA IO_THREAD FOR CHANNEL {name}"),
        format!(
            "CHANGE REPLICATION SOURCE TO SOURCE_SSL={on}, SOURCE_SSL_CA={}, SOURCE_SSL_CERT={}, SOURCE_SSL_KEY={}, \
             SOURCE_SSL_VERIFY_SERVER_CERT={verify} FOR CHANNEL {name}",
            path(&tls.ca),
            path(&tls.cert),
            path(&tls.key)
        ),
    ];
    change.into_iter().chain(start).collect()
}

/// The two threads of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Threads {
    pub receiver: bool,
    pub applier: bool,
}

/// The statement that starts these threads of a channel; of no thread there is none.
pub fn start_threads(flavour: Flavour, channel: &str, threads: Threads) -> Option<String> {
    let which = match (threads.receiver, threads.applier) {
        (false, false) => return None,
        (true, true) => "",
        (true, false) => " IO_THREAD",
        (false, true) => " SQL_THREAD",
    };
    if flavour != Flavour::MariaDb {
        return Some(format!("START REPLICA{which} FOR CHANNEL {}", quoted(channel)));
    }
    let name = if channel.is_empty() { String::new() } else { format!(" {}", quoted(channel)) };
    Some(format!("START SLAVE{name}{which}"))
}

/// Files of a server's certificate, as its variables name them; empty: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsFiles {
    pub ca: String,
    pub cert: String,
    pub key: String,
}

/// A running MySQL reads its files again.
pub const RELOAD_MYSQL: &str = "ALTER INSTANCE RELOAD TLS";
/// So does MariaDB; LOCAL keeps it out of the binary log.
pub const RELOAD_MARIADB: &str = "FLUSH LOCAL SSL";

/// The statements with which a running MySQL takes other files, and other versions and suites. A value that is refused (1231) changes none of
/// them. Never with NO ROLLBACK ON ERROR, which switches TLS off where a file
/// is bad.
pub fn set_tls_files(files: &TlsFiles, rules: Option<&TlsRules>) -> Vec<String> {
    let value = |text: &str| if text.is_empty() { "DEFAULT".to_owned() } else { quoted(text) };
    let files = [("ssl_ca", &*files.ca), ("ssl_cert", &*files.cert), ("ssl_key", &*files.key)];
    let all = files.into_iter().chain(rules.into_iter().flat_map(TlsRules::iter));
    let set: Vec<String> = all.map(|(name, text)| format!("GLOBAL {name}={}", value(text))).collect();
    vec![format!("SET {}", set.join(", ")), RELOAD_MYSQL.into()]
}

/// A string of SQL, whatever sql_mode says of backslashes: paths and channel names with one are refused by [`is_plain`].
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Whether a text can stand in a statement as it is, in every sql_mode.
pub fn is_plain(text: &str) -> bool {
    !text.contains('\\') && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tls() -> ChannelTls {
        ChannelTls {
            is_on: true,
            verifies: true,
            ca: "/t/ca.pem".into(),
            cert: "/t/c.pem".into(),
            key: "/t/k'.pem".into(),
        }
    }

    #[test]
    fn a_replica_that_is_late_on_purpose_does_not_lag_by_that() {
        assert_eq!(lag_s("35", "0"), Some(35));
        assert_eq!(lag_s("3605", "3600"), Some(5));
        assert_eq!(lag_s("0", "3600"), Some(0));
        // MariaDB before 10.2.3 has no such column.
        assert_eq!(lag_s("7", ""), Some(7));
        assert_eq!((lag_s("", "0"), lag_s("NULL", "0")), (None, None));
    }

    const BOTH: Threads = Threads { receiver: true, applier: true };

    #[test]
    fn what_was_stopped_stays_stopped() {
        let stopped = Threads { receiver: false, applier: false };
        for flavour in [Flavour::MariaDb, Flavour::MySql] {
            let all = change_channel(flavour, "", &tls(), stopped);
            assert!(all.len() == 2 && all.iter().all(|sql| !sql.starts_with("START")), "{all:?}");
        }
        let all = change_channel(Flavour::MariaDb, "", &tls(), Threads { receiver: true, applier: false });
        assert_eq!(all[2], "START SLAVE IO_THREAD");
    }

    #[test]
    fn no_position_is_given_and_mysqls_applier_goes_on() {
        let [stop, change, start] = &change_channel(Flavour::MySql, "", &tls(), BOTH)[..] else {
            panic!("three")
        };
        assert_eq!(stop, "STOP REPLICA IO_THREAD FOR CHANNEL ''");
        assert_eq!(start, "START REPLICA IO_THREAD FOR CHANNEL ''");
        assert!(
            change.contains("SOURCE_SSL=1") && change.contains("SOURCE_SSL_KEY='/t/k''.pem'"),
            "{change}"
        );
        let maria = change_channel(Flavour::MariaDb, "east", &ChannelTls::default(), BOTH);
        assert_eq!((maria[0].as_str(), maria[2].as_str()), ("STOP SLAVE 'east'", "START SLAVE 'east'"));
        assert!(
            maria[1].starts_with("CHANGE MASTER 'east' TO master_ssl=0, master_ssl_ca=''"),
            "{}",
            maria[1]
        );
        for statement in [change, &maria[1]] {
            let lower = statement.to_lowercase();
            assert!(!lower.contains("log_file") && !lower.contains("pos") && !lower.contains("password"));
        }
    }

    #[test]
    fn only_the_threads_that_are_named_are_started() {
        let start = |flavour, channel, receiver, applier| {
            start_threads(flavour, channel, Threads { receiver, applier }).unwrap_or_default()
        };
        assert_eq!(start(Flavour::MariaDb, "", true, true), "START SLAVE");
        assert_eq!(start(Flavour::MariaDb, "o'e", true, false), "START SLAVE 'o''e' IO_THREAD");
        assert_eq!(start(Flavour::MySql, "", true, true), "START REPLICA FOR CHANNEL ''");
        assert_eq!(start(Flavour::MySql, "e", false, true), "START REPLICA SQL_THREAD FOR CHANNEL 'e'");
        assert_eq!(start(Flavour::MySql, "e", false, false), "");
    }

    #[test]
    fn reload_tls_never_says_no_rollback_on_error_which_would_switch_tls_off() {
        let all = set_tls_files(&TlsFiles::default(), None);
        assert_eq!(all.last().map(String::as_str), Some("ALTER INSTANCE RELOAD TLS"));
        assert_eq!(RELOAD_MYSQL, "ALTER INSTANCE RELOAD TLS");
    }

    /// FLUSH SSL is written to the binary log, and replicas would read their files again too.
    #[test]
    fn flush_ssl_is_local_and_stays_out_of_the_binary_log() {
        assert_eq!(RELOAD_MARIADB, "FLUSH LOCAL SSL");
    }

    #[test]
    fn what_a_server_made_itself_is_its_default() {
        let files = TlsFiles { ca: "ca.pem".into(), cert: "server-cert.pem".into(), key: String::new() };
        let own = set_tls_files(&files, None);
        assert_eq!(
            own[0],
            "SET GLOBAL ssl_ca='ca.pem', GLOBAL ssl_cert='server-cert.pem', GLOBAL ssl_key=DEFAULT"
        );
        assert!(!own[1].contains("NO ROLLBACK"));
        let modern = TlsRules::of(model::TlsProfile::Modern, Flavour::MySql);
        let all = set_tls_files(&files, Some(&modern));
        assert!(all.len() == 2 && all[0].starts_with(&own[0]), "{all:?}");
        assert!(all[0].ends_with(", GLOBAL tls_version='TLSv1.3'"), "{all:?}");
        assert!(is_plain("/a'b") && !is_plain("a\\b") && !is_plain("a\nb"));
    }
}
