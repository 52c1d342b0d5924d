//! Who is connected now, and how: one subject for a user and the host that its sessions come from.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use model::account::quoted;
use model::{Fact, Value, facts};
use server::Capabilities;

use crate::Question;
use crate::ask::Refusal;
use crate::asking::{Asking, missing};
use crate::grant::Grant;

const FACTS: &[&Fact] = &[
    &facts::session::SESSION_CLEARTEXT,
    &facts::session::SESSION_FROM,
    &facts::session::SESSION_IS_REPLICA,
    &facts::session::SESSION_IS_ADMINISTRATOR,
    &facts::session::SESSION_WEAK_TLS,
];

pub const QUESTION: Question = Question { name: "sessions", facts: FACTS, grants, ask };

fn grants(_: &Capabilities) -> Vec<Grant> {
    vec![
        Grant::Global("PROCESS"),
        Grant::select("performance_schema.threads"),
        Grant::select("performance_schema.status_by_thread"),
    ]
}

const LISTED: &str = "SELECT ID, USER, HOST, COMMAND FROM information_schema.PROCESSLIST";
/// Source: on both flavours CONNECTION_TYPE is `SSL/TLS`, `TCP/IP` or `Socket`, and NULL for no client (tried on MariaDB 10.11.19
/// and MySQL 9.7.4). A session over the socket may have TLS too.
const TRANSPORTS: &str = "SELECT THREAD_ID, PROCESSLIST_ID, CONNECTION_TYPE FROM performance_schema.threads \
                          WHERE PROCESSLIST_ID IS NOT NULL";
const TLS_OF: &str = "SELECT THREAD_ID, VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.status_by_thread \
                      WHERE VARIABLE_NAME IN ('Ssl_version', 'Ssl_cipher')";
/// How a person sees the same.
const HOW: &str = "SELECT p.ID, p.USER, p.HOST, t.CONNECTION_TYPE FROM information_schema.PROCESSLIST p \
                   LEFT JOIN performance_schema.threads t ON t.PROCESSLIST_ID = p.ID";

/// What is known of the transport of one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transport {
    Tls,
    Clear,
    Unknown,
}

#[derive(Debug, Default)]
struct Group {
    clear: i64,
    unknown: i64,
    is_replica: bool,
    weak: BTreeSet<String>,
    weak_unknown: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    Socket,
    Loopback,
    Network,
}

impl Origin {
    fn word(self) -> &'static str {
        match self {
            Self::Socket => "socket",
            Self::Loopback => "loopback",
            Self::Network => "network",
        }
    }
}

/// Source: HOST is `name:port` over TCP and `localhost` on a socket, on both flavours.
fn origin(host: &str) -> (String, Origin) {
    let Some((name, port)) = host.rsplit_once(':') else { return (host.to_owned(), Origin::Socket) };
    if port.parse::<u16>().is_err() {
        return (host.to_owned(), Origin::Socket);
    }
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
        || bare == "localhost";
    (bare.to_owned(), if is_loopback { Origin::Loopback } else { Origin::Network })
}

fn ask(asking: &mut Asking<'_>) -> Result<(), Refusal> {
    let grants = grants(asking.capabilities);
    let server = asking.subject();
    let all = format!("{server} sessions");
    // Without it the list is this account's own, and nothing says so.
    if !asking.rights.has("PROCESS") {
        asking.unknown(&all, FACTS, &missing(&grants[..1]), HOW);
        return Ok(());
    }
    let listed = match asking.rows_with(&grants[..1], LISTED)? {
        Ok(rows) => rows,
        Err(why) => {
            asking.unknown(&all, FACTS, &why, HOW);
            return Ok(());
        }
    };
    let is_recorded = asking.view.variable("performance_schema") == Some("ON");
    let not_recorded = "the server keeps no record of how its sessions are connected (performance_schema is OFF); \
                        sealion status captures it from the wire";
    let transports =
        if is_recorded { asking.rows_with(&grants[1..2], TRANSPORTS)? } else { Err(not_recorded.to_owned()) };
    let tls_of = if is_recorded { asking.rows_with(&grants[2..], TLS_OF)? } else { Err(not_recorded.into()) };
    let why_transport = transports.as_ref().err().cloned();
    let why_weak = tls_of.as_ref().err().cloned();

    let mut transport_of: BTreeMap<u64, (u64, Transport)> = BTreeMap::new();
    for row in transports.iter().flat_map(net::Rows::iter) {
        let number = |at: usize| row.at(at).and_then(|text| text.parse::<u64>().ok());
        let (Some(thread), Some(id)) = (number(0), number(1)) else { continue };
        let transport = match row.at(2).as_deref() {
            Some("SSL/TLS") => Transport::Tls,
            Some("TCP/IP") => Transport::Clear,
            _ => Transport::Unknown,
        };
        transport_of.insert(id, (thread, transport));
    }
    let mut tls_words: BTreeMap<u64, [Option<String>; 2]> = BTreeMap::new();
    for row in tls_of.iter().flat_map(net::Rows::iter) {
        let Some(thread) = row.at(0).and_then(|text| text.parse().ok()) else { continue };
        let at = usize::from(row.at(1).is_some_and(|name| name.eq_ignore_ascii_case("Ssl_cipher")));
        let words: &mut [Option<String>; 2] = tls_words.entry(thread).or_default();
        words[at] = row.at(2).map(Cow::into_owned).filter(|value| !value.is_empty());
    }

    let mut groups: BTreeMap<(String, Origin, String), Group> = BTreeMap::new();
    for row in listed.iter() {
        let (Some(id), Some(user)) = (row.at(0).and_then(|id| id.parse::<u64>().ok()), row.at(1)) else {
            continue;
        };
        let host = row.at(2).unwrap_or_default();
        // Threads of the server itself have no host; whoever has not logged in yet may be a health check.
        if id == asking.session_id() || host.is_empty() || user == "unauthenticated user" {
            continue;
        }
        let (host, from) = origin(&host);
        let group = groups.entry((user.into_owned(), from, host)).or_default();
        group.is_replica |= row.at(3).is_some_and(|command| command.starts_with("Binlog Dump"));
        if from == Origin::Socket {
            continue;
        }
        match transport_of.get(&id) {
            Some((_, Transport::Clear)) => group.clear += 1,
            Some((thread, Transport::Tls)) => match tls_words.get(thread) {
                Some([Some(version), cipher]) => group.weak.extend(weak(version, cipher.as_deref())),
                _ => group.weak_unknown = true,
            },
            _ => group.unknown += 1,
        }
    }
    if groups.is_empty() {
        // Nobody else is connected.
        asking.note_of(&all, &facts::session::SESSION_CLEARTEXT, Value::Number(0), HOW);
        asking.note_of(&all, &facts::session::SESSION_FROM, Value::Text("network".into()), HOW);
        asking.note_of(&all, &facts::session::SESSION_IS_REPLICA, Value::Bool(false), HOW);
        asking.note_of(&all, &facts::session::SESSION_IS_ADMINISTRATOR, Value::Bool(false), HOW);
        asking.note_of(&all, &facts::session::SESSION_WEAK_TLS, Value::Absent, HOW);
        return Ok(());
    }
    for ((user, from, host), group) in groups {
        let subject = format!("{server} sessions of {}", quoted(&user, &host));
        let clear = if group.clear > 0 || group.unknown == 0 {
            Value::Number(group.clear)
        } else {
            Value::Unknown(
                why_transport
                    .clone()
                    .unwrap_or_else(|| "the server does not list how it is connected".into()),
            )
        };
        let weak = if !group.weak.is_empty() {
            Value::Text(group.weak.into_iter().collect::<Vec<_>>().join(", "))
        } else if group.weak_unknown || group.unknown > 0 {
            Value::Unknown(
                why_weak
                    .clone()
                    .or_else(|| why_transport.clone())
                    .unwrap_or_else(|| "the server does not list their TLS".into()),
            )
        } else {
            Value::Absent
        };
        let administrator = match &asking.administrators {
            Some(names) => Value::Bool(names.contains(&user)),
            None => Value::Unknown("which accounts administer could not be read".into()),
        };
        asking.note_of(&subject, &facts::session::SESSION_CLEARTEXT, clear, HOW);
        asking.note_of(&subject, &facts::session::SESSION_FROM, Value::Text(from.word().into()), HOW);
        asking.note_of(&subject, &facts::session::SESSION_IS_REPLICA, Value::Bool(group.is_replica), HOW);
        asking.note_of(&subject, &facts::session::SESSION_IS_ADMINISTRATOR, administrator, HOW);
        asking.note_of(&subject, &facts::session::SESSION_WEAK_TLS, weak, TLS_OF);
    }
    Ok(())
}

/// What is out of date about a session's TLS.
fn weak(version: &str, cipher: Option<&str>) -> Option<String> {
    let is_old = !matches!(version, "TLSv1.2" | "TLSv1.3");
    let is_aead = |name: &str| ["GCM", "CHACHA20", "CCM"].iter().any(|mode| name.contains(mode));
    let is_weak = cipher.is_some_and(|name| !is_aead(name));
    (is_old || is_weak).then(|| format!("{version} {}", cipher.unwrap_or("")).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_where_a_session_comes_is_read_from_its_host() {
        for (host, name, place) in [
            ("localhost", "localhost", Origin::Socket),
            ("127.0.0.1:4711", "127.0.0.1", Origin::Loopback),
            ("::1:4711", "::1", Origin::Loopback),
            ("[::ffff:127.0.0.1]:4711", "::ffff:127.0.0.1", Origin::Loopback),
            ("10.1.2.3:4711", "10.1.2.3", Origin::Network),
            ("app7.example.com:4711", "app7.example.com", Origin::Network),
        ] {
            assert_eq!(origin(host), (name.to_owned(), place), "{host}");
        }
    }

    #[test]
    fn old_versions_and_cipher_suites_without_aead_are_told() {
        assert_eq!(weak("TLSv1.3", Some("TLS_AES_256_GCM_SHA384")), None);
        assert_eq!(weak("TLSv1.1", Some("AES128-SHA")), Some("TLSv1.1 AES128-SHA".into()));
        assert_eq!(
            weak("TLSv1.2", Some("ECDHE-RSA-AES128-SHA")),
            Some("TLSv1.2 ECDHE-RSA-AES128-SHA".into())
        );
        assert_eq!(weak("TLSv1.2", None), None);
    }
}
