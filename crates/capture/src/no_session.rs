//! Connections to a server of MySQL's protocol that came to no session: the TLS handshake was not finished, or the login was refused.
//!
//! Everything that is not known to be so is `None`, and judged by its bytes.

use model::link::NoSession;
use wire::packet::whole_packet;
use wire::tls::{CONTENT_ALERT, RECORD_HEADER_BYTES, record_header};

use crate::stream::Seen;
use crate::tls_walk::after_ssl_request;

/// Of what stands outside of TLS records, in each direction: a greeting, a login and an error are shorter.
const KEPT_BYTES_MAX: usize = 1024;
/// A login with the attributes of its client has some 300 to 500 bytes.
const HEAD_BYTES_MAX: usize = 768;
/// Source: MySQL protocol, HandshakeResponse41.
const PROTOCOL_41: u32 = 0x0200;
/// A client that ends the handshake of TLS 1.3 sends a Finished, in an encrypted record of 32 bytes of hash, 4 of header and 17
/// around them; one that gives up sends an alert in one of 19.
/// Source: RFC 8446 sections 4.4.4, 5.2 and 6.
const FINISHED_BYTES_MIN: u16 = 40;

const PROTOCOL_10: u8 = 10;
const AUTH_SWITCH: u8 = 0xfe;
const AUTH_MORE: u8 = 1;
/// Shorter is an SSLRequest, or a login of a client before MySQL 4.1.
const LOGIN_BYTES_MIN: usize = 33;
/// They send the password itself, so that a refused login is no less than one that was let in.
const PLUGINS_IN_CLEAR: [&[u8]; 2] = [b"mysql_clear_password", b"dialog"];

/// Bytes outside of TLS records; nothing is said of them once there were too many.
#[derive(Debug, Default)]
pub struct Kept {
    bytes: Vec<u8>,
    is_cut: bool,
    /// The beginning, however much followed.
    head: Vec<u8>,
}

impl Kept {
    pub fn push(&mut self, piece: &[u8]) {
        let room = HEAD_BYTES_MAX.saturating_sub(self.head.len()).min(piece.len());
        self.head.extend_from_slice(piece.get(..room).unwrap_or_default());
        if self.is_cut || self.bytes.len() + piece.len() > KEPT_BYTES_MAX {
            self.cut();
        } else {
            self.bytes.extend_from_slice(piece);
        }
    }

    pub fn cut(&mut self) {
        (self.bytes, self.is_cut) = (Vec::new(), true);
    }

    fn whole(&self) -> Option<&[u8]> {
        (!self.is_cut).then_some(self.bytes.as_slice())
    }
}

struct Packet<'a> {
    sequence: u8,
    body: &'a [u8],
}

impl Packet<'_> {
    fn first(&self) -> u8 {
        self.body.first().copied().unwrap_or_default()
    }

    /// The number of an error that a server sends in place of an OK.
    fn error(&self) -> Option<u16> {
        wire::ErrPacket::parse(self.body).ok().map(|error| error.code)
    }
}

fn packet(bytes: &[u8]) -> Option<(Packet<'_>, &[u8])> {
    let (sequence, body, rest) = whole_packet(bytes).filter(|(_, body, _)| !body.is_empty())?;
    Some((Packet { sequence, body }, rest))
}

/// `None`: they are not whole packets and nothing else.
fn packets(mut bytes: &[u8]) -> Option<Vec<Packet<'_>>> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let (one, rest) = packet(bytes)?;
        all.push(one);
        bytes = rest;
    }
    Some(all)
}

fn greeting(bytes: &[u8]) -> Option<&[u8]> {
    let (first, rest) = packet(bytes)?;
    (first.sequence == 0 && first.first() == PROTOCOL_10).then_some(rest)
}

/// Alerts, and then at most one error in cleartext: what a server says of a handshake that failed.
fn is_alerts_and_error(mut bytes: &[u8]) -> bool {
    while let Some((header, body)) = bytes.split_first_chunk::<RECORD_HEADER_BYTES>()
        && let Some((CONTENT_ALERT, _, length)) = record_header(*header)
        && let Some(rest) = body.get(usize::from(length)..)
    {
        bytes = rest;
    }
    bytes.is_empty()
        || packet(bytes)
            .is_some_and(|(one, rest)| one.sequence > 0 && one.error().is_some() && rest.is_empty())
}

/// The user of a login in cleartext, by the client's first bytes. `None`: they are none, or it does not fit.
pub fn login_user(client: &Seen) -> Option<String> {
    let head = client.before_tls.head.as_slice();
    // The packet may be longer than what was kept of it.
    let (frame, body) = head.split_first_chunk::<4>()?;
    let length = usize::from(frame[0]) | usize::from(frame[1]) << 8 | usize::from(frame[2]) << 16;
    let body = body.get(..length.min(body.len()))?;
    let capabilities = u32::from_le_bytes(*body.first_chunk()?);
    if frame[3] != 1 || length < LOGIN_BYTES_MIN || capabilities & PROTOCOL_41 == 0 {
        return None;
    }
    let rest = body.get(LOGIN_BYTES_MIN - 1..)?;
    let end = rest.iter().position(|&byte| byte == 0)?;
    let user = String::from_utf8_lossy(rest.get(..end)?).into_owned();
    (!user.contains(char::is_control)).then_some(user)
}

/// What the client of a login in cleartext calls itself, by its first bytes. `None`: it sends no attributes, or more than are kept.
pub fn login_driver(client: &Seen) -> Option<String> {
    login_user(client)?;
    let (sequence, body, _) = whole_packet(&client.before_tls.head)?;
    let login = wire::HandshakeResponse::parse(body).ok().filter(|_| sequence == 1)?;
    let name = wire::login::client_name(login.attributes.into_iter())?;
    (!name.contains(char::is_control)).then_some(name)
}

/// All that passed is one greeting, which is the first that a server says and never comes again.
pub fn only_greeted(client: &Seen, server: &Seen) -> bool {
    let has_gap = client.missing_bytes > 0 || server.missing_bytes > 0;
    if has_gap || client.bytes > 0 || server.tls_bytes > 0 {
        return false;
    }
    let one = server.before_tls.whole().and_then(packet);
    one.is_some_and(|(one, rest)| {
        rest.is_empty()
            && one.sequence == 0
            && matches!(wire::greeting::parse(one.body), Ok(wire::FirstPacket::Greeting(_)))
    })
}

/// Both directions were seen from their first byte on; `is_over`: one of them is closed.
pub fn no_session(client: &Seen, server: &Seen, is_over: bool) -> Option<NoSession> {
    if client.missing_bytes > 0 || server.missing_bytes > 0 {
        return None;
    }
    let [said, said_after] = [client.before_tls.whole()?, client.after_tls.whole()?];
    let [answered, answered_after] = [server.before_tls.whole()?, server.after_tls.whole()?];
    let answered = greeting(answered)?;
    if !said.is_empty() && after_ssl_request(said).is_empty() {
        let ends = client.tls_bytes > 0 || is_over;
        let never_finished = client.longest_encrypted_bytes < FINISHED_BYTES_MIN;
        let only_errors = is_alerts_and_error(answered) && is_alerts_and_error(answered_after);
        return (ends && never_finished && said_after.is_empty() && only_errors)
            .then_some(NoSession::Handshake);
    }
    if client.tls_bytes > 0 || server.tls_bytes > 0 {
        return None;
    }
    let (logins, answers) = (packets(said)?, packets(answered)?);
    let (login, proofs) = logins.split_first()?;
    let (refusal, asked) = answers.split_last()?;
    let is_login = login.sequence == 1 && login.body.len() >= LOGIN_BYTES_MIN;
    // A statement begins anew at 0.
    let only_proofs = proofs.iter().all(|one| one.sequence > 1);
    let only_asked =
        asked.iter().all(|one| one.sequence > 1 && matches!(one.first(), AUTH_SWITCH | AUTH_MORE));
    let is_in_clear = |bytes: &[u8]| {
        PLUGINS_IN_CLEAR.iter().any(|plugin| bytes.windows(plugin.len()).any(|at| at == *plugin))
    };
    let error = refusal.error().filter(|_| refusal.sequence > 1)?;
    (is_login && only_proofs && only_asked && !is_in_clear(said) && !is_in_clear(answered))
        .then_some(NoSession::Refused(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::Stream;

    fn framed(sequence: u8, body: &[u8]) -> Vec<u8> {
        let [low, high] = u16::try_from(body.len()).expect("short").to_le_bytes();
        [&[low, high, 0, sequence], body].concat()
    }

    fn record(kind: u8, bytes: u8) -> Vec<u8> {
        [&[kind, 3, 3, 0, bytes][..], &vec![1; usize::from(bytes)]].concat()
    }

    fn judged(client: &[Vec<u8>], server: &[Vec<u8>], is_over: bool) -> Option<NoSession> {
        let mut scratch = Vec::new();
        let [client, server] = [client, server].map(|segments| {
            let (mut stream, mut sequence) = (Stream::default(), 1);
            stream.syn(0);
            for segment in segments {
                stream.payload(sequence, segment, 0, &mut scratch);
                sequence += u32::try_from(segment.len()).expect("short");
            }
            stream.finish(&mut scratch);
            stream
        });
        no_session(&client.seen, &server.seen, is_over)
    }

    fn hello() -> Vec<u8> {
        framed(0, &[&[PROTOCOL_10][..], b"11.4.2-MariaDB\0 and so on: its salt, its capabilities"].concat())
    }

    #[test]
    fn a_greeting_alone_is_nobodys_session_even_where_the_capture_came_late() {
        let recorded = include_bytes!("../../wire/testdata/greeting/mariadb-10.11.19.bin");
        let seen = |client: &[u8], server: &[u8]| {
            let [client, server] = [client, server].map(|bytes| {
                let (mut stream, mut scratch) = (Stream::default(), Vec::new());
                if !bytes.is_empty() {
                    stream.payload(7, bytes, 0, &mut scratch);
                }
                stream.finish(&mut scratch);
                stream
            });
            only_greeted(&client.seen, &server.seen)
        };
        assert!(seen(b"", recorded));
        assert!(!seen(b"x", recorded), "a client that spoke is looked at");
        assert!(!seen(b"", b""));
        let (rest, cut) =
            (recorded.get(4..).expect("longer"), recorded.get(..recorded.len() - 1).expect("longer"));
        let answer = [recorded.get(..3).expect("longer"), &[1], rest].concat();
        assert!(!seen(b"", &answer), "an answer is never the first packet");
        assert!(!seen(b"", &[recorded.as_slice(), &ok(1)].concat()));
        assert!(!seen(b"", cut));
    }

    fn ssl_request() -> Vec<u8> {
        let capabilities: u32 = 0x0008_aa01;
        framed(1, &[&capabilities.to_le_bytes()[..], &[0, 0, 0, 1, 45], &[0; 23]].concat())
    }

    fn login(plugin: &str) -> Vec<u8> {
        framed(1, &[&[5; 40][..], b"app\0", plugin.as_bytes(), b"\0"].concat())
    }

    fn refused(sequence: u8, number: u16) -> Vec<u8> {
        framed(sequence, &[&[0xff][..], &number.to_le_bytes(), b"#08S01no"].concat())
    }

    fn ok(sequence: u8) -> Vec<u8> {
        framed(sequence, &[0, 0, 0, 2, 0, 0, 0])
    }

    #[test]
    fn a_handshake_that_failed_is_no_session_whatever_the_server_says_of_it() {
        let client_hello = || record(22, 90);
        let clients = [
            vec![ssl_request(), client_hello()],
            vec![[ssl_request(), client_hello()].concat()],
            vec![ssl_request(), record(21, 2)],
            vec![ssl_request(), client_hello(), record(23, 19)],
        ];
        let servers = [
            vec![hello()],
            vec![hello(), record(21, 2)],
            // What MariaDB 10.11 answers to TLS 1.1: alert 70, and an error behind it in cleartext.
            vec![hello(), record(21, 2), refused(2, 1043)],
            vec![hello(), [record(21, 2), refused(2, 1043)].concat()],
            // The client did not like the certificate.
            vec![hello(), record(22, 90), record(23, 200), refused(2, 1043)],
        ];
        for client in &clients {
            for server in &servers {
                assert_eq!(
                    judged(client, server, false),
                    Some(NoSession::Handshake),
                    "{client:?} {server:?}"
                );
            }
        }
        // Nothing but a request: it may go on, unless it is closed.
        assert_eq!(judged(&[ssl_request()], &[hello()], false), None);
        assert_eq!(judged(&[ssl_request()], &[hello()], true), Some(NoSession::Handshake));
    }

    #[test]
    fn what_may_be_a_session_is_judged_by_its_bytes() {
        let failed = || vec![hello(), record(21, 2), refused(2, 1043)];
        let query = || framed(0, b"\x03SELECT 1");
        for (client, server) in [
            // A handshake that was finished.
            (vec![ssl_request(), record(22, 90), record(23, 53)], vec![hello(), record(22, 90)]),
            // The client speaks on in cleartext.
            (vec![ssl_request(), record(22, 90), query()], failed()),
            (vec![ssl_request(), login("mysql_native_password")], failed()),
            // The server does.
            (vec![ssl_request(), record(22, 90)], vec![hello(), record(21, 2), ok(2)]),
            (vec![ssl_request(), record(22, 90)], vec![hello(), record(21, 2), refused(2, 1043), ok(3)]),
            (vec![ssl_request(), record(22, 90)], vec![hello(), ok(2)]),
            // No greeting: something else.
            (vec![ssl_request(), record(22, 90)], vec![record(21, 2), refused(2, 1043)]),
        ] {
            assert_eq!(judged(&client, &server, true), None, "{client:?} {server:?}");
        }
    }

    #[test]
    fn a_login_in_clear_text_that_was_refused_has_its_number() {
        let native = || login("mysql_native_password");
        for (client, server, number) in [
            (vec![native()], vec![hello(), refused(2, 3159)], 3159),
            (
                vec![native(), framed(3, &[7; 20])],
                vec![hello(), framed(2, b"\xfeed25519\0salt"), refused(4, 1045)],
                1045,
            ),
        ] {
            assert_eq!(judged(&client, &server, true), Some(NoSession::Refused(number)));
        }
    }

    #[test]
    fn a_login_that_was_let_in_or_gave_its_password_away_is_never_called_refused() {
        let native = || login("mysql_native_password");
        let query = || framed(0, b"\x03SELECT secret");
        for (client, server) in [
            (vec![native()], vec![hello(), ok(2)]),
            (vec![native()], vec![hello()]),
            // Its statement failed; it was let in.
            (vec![native(), query()], vec![hello(), ok(2), refused(1, 1064)]),
            (vec![native()], vec![hello(), ok(2), refused(3, 1927)]),
            // A statement that was sent without waiting travelled all the same.
            (vec![native(), query()], vec![hello(), refused(2, 3159)]),
            (vec![[native(), query()].concat()], vec![hello(), refused(2, 3159)]),
            (vec![native()], vec![hello(), refused(2, 3159), ok(3)]),
            (
                vec![native(), framed(3, b"the password\0")],
                vec![hello(), framed(2, b"\xfemysql_clear_password\0"), refused(4, 1045)],
            ),
            (vec![login("mysql_clear_password")], vec![hello(), refused(2, 1045)]),
        ] {
            assert_eq!(judged(&client, &server, true), None, "{client:?} {server:?}");
        }
    }

    fn user_of(segments: &[Vec<u8>]) -> Option<String> {
        login_user(&of(segments).seen)
    }

    fn driver_of(segments: &[Vec<u8>]) -> Option<String> {
        login_driver(&of(segments).seen)
    }

    fn of(segments: &[Vec<u8>]) -> Stream {
        let (mut stream, mut sequence, mut scratch) = (Stream::default(), 1, Vec::new());
        stream.syn(0);
        for segment in segments {
            stream.payload(sequence, segment, 0, &mut scratch);
            sequence += u32::try_from(segment.len()).expect("short");
        }
        stream.finish(&mut scratch);
        stream
    }

    /// Source: MySQL protocol, HandshakeResponse41: the name stands behind 32 bytes, up to a zero.
    fn login_of(user: &[u8]) -> Vec<u8> {
        let capabilities: u32 = 0x000f_a685;
        framed(
            1,
            &[&capabilities.to_le_bytes()[..], &[0, 0, 0, 1, 45], &[0; 23], user, b"\0", &[7; 20]].concat(),
        )
    }

    #[test]
    fn the_user_of_a_login_in_cleartext_is_known_however_much_follows() {
        let much = framed(0, &[3; 200]);
        let talk: Vec<Vec<u8>> = std::iter::once(login_of(b"app")).chain(vec![much; 20]).collect();
        assert_eq!(user_of(&talk).as_deref(), Some("app"));
        let bytes = login_of(b"a@b");
        let (first, rest) = bytes.split_at(20);
        assert_eq!(user_of(&[first.to_vec(), rest.to_vec()]).as_deref(), Some("a@b"));
        assert_eq!(user_of(&[login_of(b"")]).as_deref(), Some(""));
        // What is no login, or not whole, or would move a cursor, names nobody.
        assert_eq!(user_of(&[ssl_request(), record(22, 90)]), None);
        assert_eq!(user_of(&[login_of(b"e\x1b[1A")]), None);
        assert_eq!(user_of(&[login_of(&[b'x'; 150]).split_at(60).0.to_vec()]), None);
        assert_eq!(user_of(&[]), None);
    }

    #[test]
    fn what_a_client_calls_itself_stands_in_a_login_that_is_there_as_a_whole() {
        let login = |program: &str| {
            let attributes = vec![
                ("_client_name", "libmariadb"),
                ("_client_version", "3.3.20"),
                ("program_name", program),
            ];
            let head = wire::SslRequest {
                capabilities: wire::Capabilities::PROTOCOL_41
                    | wire::Capabilities::SECURE_CONNECTION
                    | wire::Capabilities::PLUGIN_AUTH
                    | wire::Capabilities::CONNECT_ATTRS,
                mariadb_capabilities: 0,
                max_packet_bytes: 1 << 24,
                charset: 45,
            };
            let response = wire::HandshakeResponse {
                head,
                user: b"app",
                auth_response: &[7; 20],
                database: None,
                auth_plugin: Some("mysql_native_password"),
                attributes,
            };
            let mut body = Vec::new();
            response.encode(&mut body).expect("it fits");
            framed(1, &body)
        };
        let much = framed(0, &[3; 200]);
        let talk: Vec<Vec<u8>> = std::iter::once(login("mysql")).chain(vec![much; 20]).collect();
        assert_eq!(driver_of(&talk).as_deref(), Some("libmariadb 3.3.20 (mysql)"));
        assert_eq!(driver_of(&[login("e\x1b[1A")]), None);
        assert_eq!(driver_of(&[login(&"x".repeat(900))]), None);
        assert_eq!(driver_of(&[login_of(b"app")]), None);
        let whole = login("mysql");
        assert_eq!(driver_of(&[whole.split_at(90).0.to_vec()]), None);
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_of_a_client_make_it_panic(pieces in proptest::collection::vec(proptest::collection::vec(proptest::num::u8::ANY, 0..90), 0..6)) {
            let _ = (user_of(&pieces), driver_of(&pieces));
        }
    }
}
