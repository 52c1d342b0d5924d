//! Who is connected over TCP, and what the server itself knows of their encryption: the second witness beside a capture.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use model::Handshake;
use net::{Client, NetError};

/// One session over TCP, as the server lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TcpSession {
    pub id: u64,
    pub user: String,
    /// Address or name, as the server writes it.
    pub host: String,
    pub port: u16,
    /// Whether it is encrypted; `None`: this server keeps no record of that (`performance_schema=OFF`).
    pub is_tls: Option<bool>,
    /// A replica reads the binary log over it.
    pub is_replica: bool,
    /// Its client says that it is sealion: of another process, or this one.
    pub is_sealion: bool,
    /// What its handshake came to; `None`: this server does not tell.
    pub handshake: Option<Handshake>,
}

impl TcpSession {
    /// Its client's end as the server writes it.
    pub fn end(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Its client's end, where the server writes an address and not a name.
    pub fn peer(&self) -> Option<SocketAddr> {
        let host = self.host.trim_start_matches('[').trim_end_matches(']');
        host.parse::<IpAddr>().ok().map(|ip| SocketAddr::new(ip.to_canonical(), self.port))
    }
}

impl std::fmt::Display for TcpSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}:{}", self.user, self.host, self.port)
    }
}

/// Every session over TCP but that of `client`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TcpSessions {
    pub list: Vec<TcpSession>,
    /// Why there may be sessions that are not in the list.
    pub is_partial: Option<String>,
}

/// Asks for them.
///
/// # Source
/// HOST is `name:port` over TCP and `localhost` on a socket, on both flavours. Without the PROCESS privilege the list holds
/// nothing but this account's own sessions, and says so nowhere. `CONNECTION_TYPE` is `SSL/TLS`, `TCP/IP` or `Socket`; NULL is
/// no client. Tried on MariaDB 10.11.19 and MySQL 9.7.4.
pub fn tcp_sessions(client: &mut Client) -> Result<TcpSessions, NetError> {
    let own = client.connection_id();
    let mut sessions = TcpSessions::default();
    if !sees_all(client)? {
        sessions.is_partial = Some(NO_PROCESS.into());
    }
    // A right that is missing here is an error; no row is what a server with performance_schema=OFF gives.
    let known = client
        .query("SELECT PROCESSLIST_ID, CONNECTION_TYPE FROM performance_schema.threads WHERE PROCESSLIST_ID IS NOT NULL")
        .map(|rows| {
            rows.iter()
                .filter_map(|row| {
                    let id: u64 = row.at(0)?.parse().ok()?;
                    Some((id, row.at(1)?.into_owned()))
                })
                .collect::<BTreeMap<_, _>>()
        })
        .unwrap_or_default();
    let mut handshakes = handshakes(client);
    let ours = of_sealion(client);
    let rows = client.query("SELECT ID, USER, HOST, COMMAND FROM information_schema.PROCESSLIST")?;
    for row in rows.iter() {
        let (Some(id), Some(host)) = (row.at(0).and_then(|id| id.parse().ok()), row.at(2)) else { continue };
        let Some((name, port)) = host.rsplit_once(':') else { continue };
        let Ok(port) = port.parse() else { continue };
        if id == own {
            continue;
        }
        let is_tls = match known.get(&id).map(String::as_str) {
            Some("SSL/TLS") => Some(true),
            Some("TCP/IP") => Some(false),
            _ => None,
        };
        let user = row.at(1).unwrap_or_default().into_owned();
        // It has not logged in: health checks of proxies come and go like that, and what it says later will be seen.
        if user == "unauthenticated user" && row.at(3).is_some_and(|command| command == "Connect") {
            continue;
        }
        let is_replica = row.at(3).is_some_and(|command| command.starts_with("Binlog Dump"));
        sessions.list.push(TcpSession {
            id,
            user,
            host: name.to_owned(),
            port,
            is_tls,
            is_replica,
            is_sealion: ours.contains(&id),
            handshake: handshakes.remove(&id),
        });
    }
    Ok(sessions)
}

/// The ids of sessions whose client calls itself sealion. A server without a performance schema tells of none.
///
/// # Source
/// Both manuals: session_account_connect_attrs holds those of this very account, and may be read by each.
fn of_sealion(client: &mut Client) -> BTreeSet<u64> {
    let of = |table: &str| {
        format!(
            "SELECT PROCESSLIST_ID FROM performance_schema.{table} WHERE ATTR_NAME = 'program_name' AND ATTR_VALUE = '{}'",
            net::PROGRAM_NAME
        )
    };
    let rows = client.query(&of("session_connect_attrs"));
    let rows = rows.or_else(|_| client.query(&of("session_account_connect_attrs"))).unwrap_or_default();
    rows.iter().filter_map(|row| row.at(0)?.parse().ok()).collect()
}

/// What the handshake of each session came to, by its id. A server without a performance schema tells of none, and so does one where the account
/// may not read that table.
///
/// # Source
/// `Ssl_version` and `Ssl_cipher` of performance_schema.status_by_thread; empty without TLS. Tried on MySQL 9.7.4.
fn handshakes(client: &mut Client) -> BTreeMap<u64, Handshake> {
    let rows = client.query(
        "SELECT t.PROCESSLIST_ID, v.VARIABLE_VALUE, c.VARIABLE_VALUE FROM performance_schema.threads t \
         JOIN performance_schema.status_by_thread v ON v.THREAD_ID = t.THREAD_ID AND v.VARIABLE_NAME = 'Ssl_version' \
         JOIN performance_schema.status_by_thread c ON c.THREAD_ID = t.THREAD_ID AND c.VARIABLE_NAME = 'Ssl_cipher' \
         WHERE t.PROCESSLIST_ID IS NOT NULL",
    );
    let rows = rows.unwrap_or_default();
    let known = rows.iter().filter_map(|row| {
        let text = |at: usize| row.at(at).filter(|text| !text.is_empty()).map(std::borrow::Cow::into_owned);
        Some((row.at(0)?.parse().ok()?, Handshake { version: text(1)?, suite: text(2) }))
    });
    known.collect()
}

/// What the clients of sessions over TCP call themselves, by the client's end as [`TcpSession::end`] writes it. Nobody proves
/// it.
///
/// # Source
/// `performance_schema.session_connect_attrs` of both flavours; empty where the performance schema is off.
pub fn drivers(client: &mut Client) -> Result<BTreeMap<String, String>, NetError> {
    let rows = client.query(
        "SELECT s.HOST, a.ATTR_NAME, a.ATTR_VALUE FROM performance_schema.session_connect_attrs a \
         JOIN information_schema.PROCESSLIST s ON s.ID = a.PROCESSLIST_ID \
         WHERE a.ATTR_NAME IN ('_client_name', '_client_version', 'program_name')",
    )?;
    let mut found: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for row in rows.iter() {
        let end = row.at(0).filter(|end| end.contains(':'));
        if let (Some(end), Some(name), Some(value)) = (end, row.at(1), row.at(2)) {
            found.entry(end.into_owned()).or_default().push((name.into_owned(), value.into_owned()));
        }
    }
    let named = |(end, all): (String, Vec<(String, String)>)| {
        let name = wire::login::client_name(all.iter().map(|(name, value)| (&**name, &**value)))?;
        Some((end, name))
    };
    Ok(found.into_iter().filter_map(named).collect())
}

/// What a server does not say by itself.
pub const NO_PROCESS: &str = "this account lacks the PROCESS privilege, so it sees its own sessions only";

/// Whether the list of sessions is everybody's.
pub(crate) fn sees_all(client: &mut Client) -> Result<bool, NetError> {
    let rows = client.query("SHOW GRANTS")?;
    // A grant on *.*; a role's own rows are shown once it is active.
    Ok(rows.iter().filter_map(|row| row.at(0).map(|text| text.to_ascii_uppercase())).any(|text| {
        let Some((rights, rest)) = text.split_once(" ON ") else { return false };
        rest.starts_with("*.*")
            && rights
                .trim_start_matches("GRANT ")
                .split(',')
                .any(|right| matches!(right.trim(), "PROCESS" | "ALL PRIVILEGES" | "ALL"))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_found_by_its_address_and_port() {
        let session = |host: &str| TcpSession {
            id: 1,
            user: "app".into(),
            host: host.into(),
            port: 4711,
            is_tls: None,
            is_replica: false,
            is_sealion: false,
            handshake: None,
        };
        assert_eq!(session("10.0.0.5").peer(), "10.0.0.5:4711".parse().ok());
        assert_eq!(session("::ffff:10.0.0.5").peer(), "10.0.0.5:4711".parse().ok());
        assert_eq!(session("::1").peer(), "[::1]:4711".parse().ok());
        assert_eq!(session("db.example").peer(), None);
        assert_eq!(session("db.example").to_string(), "app@db.example:4711");
    }
}
