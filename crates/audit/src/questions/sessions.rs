//! Who is connected now, and how: one subject for a user and the host that its sessions come from.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use model::account::quoted;
use model::{Fact, Value, facts};
use server::Capabilities;

use crate::Question;
use crate::ask::Refusal;
use crate::asking::{Administrator, Asking, missing};
use crate::grant::Grant;

use super::accounts::hosts;

const FACTS: &[&Fact] = &[
    &facts::session::SESSION_CLEARTEXT,
    &facts::session::SESSION_FROM,
    &facts::session::SESSION_IS_REPLICA,
    &facts::session::SESSION_IS_ADMINISTRATOR,
    &facts::session::SESSION_WEAK_TLS,
];
const NOTED: &[&Fact] = &[
    &facts::session::SESSION_CLEARTEXT,
    &facts::session::SESSION_FROM,
    &facts::session::SESSION_IS_REPLICA,
    &facts::session::SESSION_IS_ADMINISTRATOR,
    &facts::session::SESSION_WEAK_TLS,
    &facts::session::SESSION_BEFORE_CERTIFICATE,
];

pub const QUESTION: Question = Question { name: "sessions", facts: NOTED, grants, ask };

fn grants(_: &Capabilities) -> Vec<Grant> {
    vec![
        Grant::Global("PROCESS"),
        Grant::select("performance_schema.threads"),
        Grant::select("performance_schema.status_by_thread"),
    ]
}

const LISTED: &str = "SELECT ID, USER, HOST, COMMAND, TIME FROM information_schema.PROCESSLIST";
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
    weak: BTreeSet<String>,
    weak_unknown: bool,
}

/// Sessions of one account from one host, those that read the binary log apart: rules treat them otherwise.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    user: String,
    from: Origin,
    host: String,
    is_replica: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    Socket,
    Loopback,
    Network,
    /// Over TCP, and listed as if it were the socket: a PROXY header of the family unix does that (seen on MariaDB
    /// 10.11.19).
    Hidden,
}

impl Origin {
    fn value(self) -> Value {
        let word = match self {
            Self::Socket => "socket",
            Self::Loopback => "loopback",
            Self::Network => "network",
            Self::Hidden => {
                return Value::Unknown(
                    "it is listed as local and came over TCP, perhaps with a PROXY header: from where is not known"
                        .into(),
                );
            }
        };
        Value::Text(word.into())
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
        let why = missing(&grants[..1]);
        asking.unknown(&all, FACTS, &why, HOW);
        asking.unknown(server, &NOTED[FACTS.len()..], &why, LISTED);
        return Ok(());
    }
    let listed = match asking.rows_with(&grants[..1], LISTED)? {
        Ok(rows) => rows,
        Err(why) => {
            asking.unknown(&all, FACTS, &why, HOW);
            asking.unknown(server, &NOTED[FACTS.len()..], &why, LISTED);
            return Ok(());
        }
    };
    let before = before_certificate(asking, &listed);
    asking.note(&facts::session::SESSION_BEFORE_CERTIFICATE, before, LISTED);
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

    let mut groups: BTreeMap<Key, Group> = BTreeMap::new();
    for row in listed.iter() {
        let (Some(id), Some(user)) = (row.at(0).and_then(|id| id.parse::<u64>().ok()), row.at(1)) else {
            continue;
        };
        let (host, command) = (row.at(2).unwrap_or_default(), row.at(3).unwrap_or_default());
        // Threads of the server itself have no host; whoever has not logged in yet may be a health check. An account
        // may have the name that the server gives to those, but no command of theirs.
        let has_no_login = user == "unauthenticated user" && command == "Connect";
        if id == asking.session_id() || host.is_empty() || has_no_login {
            continue;
        }
        let transport = transport_of.get(&id);
        let (host, from) = match (origin(&host), transport) {
            ((host, Origin::Socket), Some((_, Transport::Clear))) => (host, Origin::Hidden),
            (known, _) => known,
        };
        let is_replica = command.starts_with("Binlog Dump");
        let group = groups.entry(Key { user: user.into_owned(), from, host, is_replica }).or_default();
        if from == Origin::Socket {
            continue;
        }
        match transport {
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
    for (Key { user, from, host, is_replica }, group) in groups {
        let which = match (is_replica, from) {
            (true, _) => " that read the binary log",
            (false, Origin::Hidden) => " over TCP",
            (false, _) => "",
        };
        let subject = format!("{server} sessions of {}{which}", quoted(&user, &host));
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
            Some(all) => administers(all, &user, &host, from),
            None => Value::Unknown("which accounts administer could not be read".into()),
        };
        asking.note_of(&subject, &facts::session::SESSION_CLEARTEXT, clear, HOW);
        asking.note_of(&subject, &facts::session::SESSION_FROM, from.value(), HOW);
        asking.note_of(&subject, &facts::session::SESSION_IS_REPLICA, Value::Bool(is_replica), HOW);
        asking.note_of(&subject, &facts::session::SESSION_IS_ADMINISTRATOR, administrator, HOW);
        asking.note_of(&subject, &facts::session::SESSION_WEAK_TLS, weak, TLS_OF);
    }
    Ok(())
}

/// Sessions that are older than the certificate that is served. No view has the age of a session: TIME counts since its last command, so
/// that it is older than that, and ids only rise, so that those before it are older still (tried on MariaDB 10.11.19 and MySQL 9.7.4).
fn before_certificate(asking: &Asking<'_>, listed: &net::Rows) -> Value {
    let age_s = match asking.served {
        Ok(leaf) => asking.now_unix_s().saturating_sub(leaf.not_before_unix),
        Err(why) => return Value::Unknown(why.clone()),
    };
    let mut sessions = Vec::new();
    for row in listed.iter() {
        let (Some(id), Some(user)) = (row.at(0).and_then(|id| id.parse::<u64>().ok()), row.at(1)) else {
            continue;
        };
        let host = row.at(2).unwrap_or_default();
        if id == asking.session_id() || host.is_empty() {
            continue;
        }
        // MariaDB counts parts of seconds elsewhere; what is no number is no age.
        let idle_s = row.at(4).and_then(|time| time.parse::<i64>().ok()).unwrap_or(0);
        sessions.push((id, quoted(&user, &origin(&host).0), idle_s));
    }
    // All of them came after the start.
    if sessions.is_empty() || asking.view.number("uptime").is_some_and(|uptime_s| uptime_s < age_s) {
        return Value::Absent;
    }
    let newest_older = sessions.iter().filter(|(_, _, idle_s)| *idle_s > age_s).map(|(id, ..)| *id).max();
    let Some(newest_older) = newest_older else {
        return Value::Unknown(
            "the server was started before its certificate was made, and does not say how old its sessions are".into(),
        );
    };
    let older = sessions.iter().filter(|(id, ..)| *id <= newest_older);
    super::some(older.map(|(id, who, _)| format!("{who} (id {id})")).collect::<Vec<_>>().into_iter())
}

/// Whether the account of a session administers. The list of sessions has the name that the client gave, not the
/// account, so that every account that lets it in counts, the anonymous ones too.
fn administers(all: &[Administrator], user: &str, host: &str, from: Origin) -> Value {
    let (mut is_one, mut is_none, mut is_open) = (false, false, false);
    for account in all.iter().filter(|account| account.user == user || account.user.is_empty()) {
        let lets_in = match from {
            Origin::Hidden => None,
            _ => hosts::lets_in(&account.host, host),
        };
        match (lets_in, account.administers) {
            (Some(false), _) => {}
            (Some(true), Some(true)) => is_one = true,
            // It cannot be the reason for a finding.
            (_, Some(false)) => is_none = true,
            (None, Some(true)) | (_, None) => is_open = true,
        }
    }
    match (is_one, is_none || is_open, is_open) {
        (true, false, _) => Value::Bool(true),
        (false, _, false) => Value::Bool(false),
        _ => Value::Unknown(
            "of the accounts that let it in, or that these may act as, some administer and some do not: the list of \
             sessions does not say which one it is"
                .into(),
        ),
    }
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

    /// Facts of the sessions, by what is behind `sessions of `.
    fn check(listed: Rows<'_>, transports: Rows<'_>, administrators: &[(&str, &str, bool)]) -> Vec<String> {
        let mut script = crate::script::Script::new(&[
            ("information_schema.PROCESSLIST", listed),
            ("performance_schema.threads", transports),
        ]);
        let capabilities = Capabilities::of("10.11.19-MariaDB", "", false);
        let mut view = server::NodeView::default();
        view.variables.insert("performance_schema".into(), "ON".into());
        let rights = server::OwnGrants::of("a@%", ["GRANT PROCESS ON *.* TO `a`@`%`"]);
        let mut seen = model::Observations::default();
        let mut asking = Asking::new(&mut script, "n1", &view, &capabilities, &rights, &mut seen, 0);
        let one = |&(user, host, administers): &(&str, &str, bool)| Administrator {
            user: user.into(),
            host: host.into(),
            administers: Some(administers),
        };
        asking.administrators = Some(administrators.iter().map(one).collect());
        ask(&mut asking).expect("it answers");
        let value = |subject: &str, fact: &Fact| match seen.newest(subject, fact).map(|one| &one.value) {
            Some(Value::Unknown(_)) => "unknown".to_owned(),
            Some(value) => value.to_string(),
            None => "not noted".to_owned(),
        };
        // The server itself is no session.
        let subjects: Vec<&str> = seen.subjects().filter(|subject| *subject != "n1").collect();
        subjects
            .into_iter()
            .map(|subject| {
                format!(
                    "{}: {} clear, from {}, replica {}, administrator {}",
                    subject.trim_start_matches("n1 sessions of "),
                    value(subject, &facts::session::SESSION_CLEARTEXT),
                    value(subject, &facts::session::SESSION_FROM),
                    value(subject, &facts::session::SESSION_IS_REPLICA),
                    value(subject, &facts::session::SESSION_IS_ADMINISTRATOR)
                )
            })
            .collect()
    }

    /// The certificate was made at 1000, and it is 1100.
    #[test]
    fn a_session_is_older_than_a_certificate_where_its_idle_time_or_its_id_says_so() {
        let leaf = |not_before_unix| trust::CertificateInfo {
            subject: String::new(),
            issuer: String::new(),
            serial_hex: String::new(),
            not_before_unix,
            not_after_unix: 4_000_000_000,
            dns: vec![],
            ips: vec![],
            key: String::new(),
            key_bits: 256,
            signature: String::new(),
            sha256_fingerprint: String::new(),
            key_sha256: String::new(),
            is_ca: false,
            server_auth: true,
            client_auth: true,
            self_signed: false,
        };
        let check = |uptime: &str, sessions: &[[&str; 2]]| {
            let rows: Vec<[Option<&str>; 5]> = sessions
                .iter()
                .map(|[id, time]| [Some(*id), Some("e1"), Some("10.0.0.1:4711"), Some("Sleep"), Some(*time)])
                .collect();
            let rows: Vec<&[Option<&str>]> = rows.iter().map(<[_; 5]>::as_slice).collect();
            let mut script = crate::script::Script::new(&[("PROCESSLIST", &rows)]);
            let listed = crate::ask::Ask::rows(&mut script, LISTED).expect("rows");
            let capabilities = Capabilities::of("10.11.19-MariaDB", "", false);
            let mut view = server::NodeView::default();
            view.status.insert("uptime".into(), uptime.into());
            let (rights, mut seen) = Default::default();
            let served = Ok(leaf(1_000));
            let mut asking =
                Asking::new(&mut script, "n1", &view, &capabilities, &rights, &mut seen, 1_100_000);
            asking.served = &served;
            match before_certificate(&asking, &listed) {
                Value::Text(text) => text,
                Value::Absent => "absent".into(),
                _ => "unknown".into(),
            }
        };
        assert_eq!(check("5000", &[]), "absent");
        assert_eq!(check("99", &[["8", "98"]]), "absent");
        assert_eq!(check("5000", &[["8", "0"]]), "unknown");
        assert_eq!(check("5000", &[["8", "101"], ["9", "0"]]), "'e1'@'10.0.0.1' (id 8)");
        assert_eq!(
            check("5000", &[["5", "0"], ["8", "101"], ["9", "0"]]),
            "'e1'@'10.0.0.1' (id 5), 'e1'@'10.0.0.1' (id 8)"
        );
    }

    type Rows<'r> = &'r [&'r [Option<&'r str>]];

    #[test]
    fn no_name_hides_a_session_and_none_hides_behind_another() {
        let session = |id, user, host, command| [Some(id), Some(user), Some(host), Some(command), Some("0")];
        let clear = |thread, id| [Some(thread), Some(id), Some("TCP/IP")];
        let tls = |thread, id| [Some(thread), Some(id), Some("SSL/TLS")];
        let said = check(
            &[
                &session("1", "unauthenticated user", "10.0.0.1:4711", "Query"),
                &session("2", "unauthenticated user", "10.0.0.1:4712", "Connect"),
                &session("3", "rep", "10.0.0.1:4713", "Binlog Dump"),
                &session("4", "rep", "10.0.0.1:4714", "Sleep"),
                &session("5", "o", "localhost", "Sleep"),
                &session("7", "root", "localhost", "Query"),
            ],
            &[&clear("11", "1"), &tls("13", "3"), &clear("14", "4"), &clear("15", "5")],
            &[("rep", "%", false)],
        );
        assert_eq!(
            said,
            [
                "'o'@'localhost' over TCP: 1 clear, from unknown, replica no, administrator no",
                "'rep'@'10.0.0.1': 1 clear, from network, replica no, administrator no",
                "'rep'@'10.0.0.1' that read the binary log: 0 clear, from network, replica yes, administrator no",
                "'unauthenticated user'@'10.0.0.1': 1 clear, from network, replica no, administrator no",
            ]
        );
    }

    #[test]
    fn whether_a_session_administers_is_told_by_the_accounts_that_let_it_in() {
        let all = |rows: &[(&str, &str, Option<bool>)]| -> Vec<Administrator> {
            rows.iter()
                .map(|&(user, host, administers)| Administrator {
                    user: user.into(),
                    host: host.into(),
                    administers,
                })
                .collect()
        };
        let (yes, no, open) = (Some(true), Some(false), None);
        for (accounts, expected) in [
            (all(&[("dba", "%", yes)]), Some(true)),
            (all(&[("dba", "localhost", yes), ("dba", "10.0.0.1", no)]), Some(false)),
            (all(&[("", "10.%", yes)]), Some(true)),
            (all(&[("dba", "10.0.%", no), ("dba", "%", yes)]), None),
            (all(&[("dba", "db.example.com", yes)]), None),
            (all(&[("dba", "10.%", open)]), None),
            (all(&[("other", "%", yes)]), Some(false)),
        ] {
            let said = administers(&accounts, "dba", "10.0.0.1", Origin::Network);
            let expected_value = |said: &Value| match expected {
                Some(is) => *said == Value::Bool(is),
                None => matches!(said, Value::Unknown(_)),
            };
            assert!(expected_value(&said), "{accounts:?}: {said:?}");
        }
    }

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
