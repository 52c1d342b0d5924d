//! Captures that lack something: a direction, a packet, the beginning. What passed in clear is told, TLS is not called clear,
//! and of what cannot be known nothing reassuring is said.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;
use capture::layers::Content;
use capture::segment::{Segment, encode};

const CLIENT: &str = "10.0.0.1:40000";
const SERVER: &str = "10.0.0.2:3306";
const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
/// PROTOCOL_41, SECURE_CONNECTION, PLUGIN_AUTH, LONG_PASSWORD.
const PLAIN: u32 = 0x0008_8201;
const COMPRESS: u32 = 0x20;

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let (mut out, mut sequence) = (vec![], sequence);
    wire::packet::write_payload(&mut out, &mut sequence, payload);
    out
}

fn greeting(version: &str) -> Vec<u8> {
    packet(
        0,
        &wire::greeting::encode(&wire::Greeting {
            protocol: 10,
            version: version.into(),
            connection_id: 7,
            nonce: vec![3; 20],
            capabilities: wire::Capabilities(0xffff_ffff),
            mariadb_capabilities: 0,
            charset: 45,
            status: 2,
            auth_plugin: Some("mysql_native_password".into()),
        }),
    )
}

fn login_head(capabilities: u32) -> Vec<u8> {
    [&capabilities.to_le_bytes()[..], &[0, 0, 0, 1, 45], &[0; 23]].concat()
}

fn ssl_request() -> Vec<u8> {
    packet(1, &login_head(PLAIN | 0x800))
}

fn login(sequence: u8, capabilities: u32) -> Vec<u8> {
    let rest = [b"app\0\x14".as_slice(), &[1; 20], b"mysql_native_password\0"].concat();
    packet(sequence, &[login_head(capabilities), rest].concat())
}

fn query(text: &str) -> Vec<u8> {
    packet(0, &[b"\x03", text.as_bytes()].concat())
}

/// A result of one column with so many rows.
fn result(rows: usize) -> Vec<u8> {
    let column =
        wire::ColumnDef { name: "c".into(), charset: 45, length_bytes: 9, column_type: 253, flags: 0 };
    let mut out = [packet(1, &[1]), packet(2, &column.encode())].concat();
    for row in 0..rows {
        out.extend(packet(row.to_le_bytes()[0].wrapping_add(3), b"\x0bsomebody's v"));
    }
    out.extend(packet(9, &[0xfe, 0, 0, 2, 0, 0, 0]));
    out
}

/// What nobody can tell from encrypted bytes.
fn sealed(bytes: usize) -> Vec<u8> {
    let mut state = u32::try_from(bytes).unwrap() | 1;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    (0..bytes).map(|_| next()).collect()
}

fn record(content_type: u8, body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(body.len()).unwrap().to_be_bytes();
    [&[content_type, 3, 3, length[0], length[1]][..], body].concat()
}

fn data(bytes: usize) -> Vec<u8> {
    record(0x17, &sealed(bytes))
}

/// No two records are alike: what is the same again and again is no chance.
fn seed(number: usize) -> u32 {
    u32::try_from(number + 1).unwrap().wrapping_mul(2_654_435_761)
}

fn client_hello() -> Vec<u8> {
    record(0x16, &[&[1, 0, 1, 0, 3, 3][..], &sealed(254)].concat())
}

fn server_hello(suite: u16) -> Vec<u8> {
    let suite = suite.to_be_bytes();
    record(0x16, &[&[2, 0, 0, 38, 3, 3][..], &sealed(32), &[0, suite[0], suite[1], 0]].concat())
}

/// Compressed, or as it is where that is shorter.
fn packed(sequence: u8, inner: &[u8], is_compressed: bool) -> Vec<u8> {
    let body =
        if is_compressed { miniz_oxide::deflate::compress_to_vec_zlib(inner, 6) } else { inner.to_vec() };
    let length = u32::try_from(body.len()).unwrap().to_le_bytes();
    let before = u32::try_from(if is_compressed { inner.len() } else { 0 }).unwrap().to_le_bytes();
    [&length[..3], &[sequence], &before[..3], &body].concat()
}

/// A capture of one connection, packet by packet.
struct Wire {
    server: &'static str,
    sniffer: Sniffer,
    next: [u32; 2],
}

impl Wire {
    fn new() -> Self {
        Self::to(SERVER)
    }

    fn to(server: &'static str) -> Self {
        Self { server, sniffer: Sniffer::new(&[]), next: [1000, 2_000_000] }
    }

    fn send(&mut self, from_client: bool, payload: &[u8], flags: &str, cut_bytes: usize) -> &mut Self {
        let (client, server) = (CLIENT.parse().unwrap(), self.server.parse().unwrap());
        let (source, destination) = if from_client { (client, server) } else { (server, client) };
        let next = &mut self.next[usize::from(!from_client)];
        let (kept, _) = payload.split_at(payload.len() - cut_bytes);
        let segment = Segment {
            source,
            destination,
            sequence: *next,
            syn: flags.contains('S'),
            ack: !from_client || !flags.contains('S'),
            fin: flags.contains('F'),
            rst: flags.contains('R'),
            payload: kept,
            cut_bytes: 0,
        };
        *next += u32::try_from(payload.len()).unwrap() + u32::from(flags.contains(['F', 'S']));
        self.sniffer.packet(&encode(&segment), 1);
        self
    }

    /// The capture has the beginning: what is lost after it is known to be.
    fn opened() -> Self {
        let mut wire = Self::new();
        for from_client in [true, false] {
            wire.next[usize::from(!from_client)] -= 1;
            wire.send(from_client, b"", "S", 0);
        }
        wire
    }

    fn client(&mut self, payload: &[u8]) -> &mut Self {
        self.send(true, payload, "", 0)
    }

    fn server(&mut self, payload: &[u8]) -> &mut Self {
        self.send(false, payload, "", 0)
    }

    /// Sent, and not in the capture.
    fn lost(&mut self, from_client: bool, payload: &[u8]) -> &mut Self {
        self.next[usize::from(!from_client)] += u32::try_from(payload.len()).unwrap();
        self
    }

    /// In segments of a network.
    fn server_stream(&mut self, payload: &[u8]) -> &mut Self {
        for segment in payload.chunks(1448) {
            self.server(segment);
        }
        self
    }

    fn report(&mut self) -> Report {
        std::mem::replace(&mut self.sniffer, Sniffer::new(&[])).finish()
    }

    #[track_caller]
    fn is_in_clear(&mut self, found: &[What]) -> Report {
        let report = self.report();
        let all: Vec<What> = report.findings.keys().copied().collect();
        for what in found {
            assert!(all.contains(what), "{what:?} not in {all:?}");
        }
        assert!(report.is_readable(), "{report:#?}");
        assert_eq!((report.clear, report.tls, report.undecided), (1, 0, 0));
        report
    }

    #[track_caller]
    fn is_tls(&mut self) -> Report {
        let report = self.report();
        assert_eq!((report.clear, report.tls, report.undecided), (0, 1, 0), "{report:#?}");
        assert_eq!(report.findings.keys().collect::<Vec<_>>(), Vec::<&What>::new());
        report
    }

    #[track_caller]
    fn is_not_known(&mut self) {
        let report = self.report();
        assert_eq!((report.clear, report.tls, report.undecided), (0, 0, 1), "{report:#?}");
        assert!(report.not_known() == 1 && !report.is_readable());
    }
}

// What passed in clear and was not followed.

#[test]
fn the_servers_direction_alone_in_clear_is_told() {
    let report = Wire::new()
        .server(&greeting("8.4.3"))
        .lost(true, &login(1, PLAIN))
        .server(&packet(2, OK))
        .server(&result(9))
        .is_in_clear(&[What::OtherInClear]);
    assert!(report.listed[0].told.unfollowed_bytes > 9 * 12);
}

#[test]
fn the_clients_direction_alone_is_read() {
    for capabilities in [PLAIN, PLAIN | COMPRESS] {
        let long = query(&format!("SELECT '{}'", "x".repeat(300)));
        let mut wire = Wire::new();
        wire.client(&login(1, capabilities));
        for _ in 0..3 {
            wire.client(&if capabilities == PLAIN { long.clone() } else { packed(0, &long, true) });
        }
        let report = wire.is_in_clear(&[What::Statements, What::LoginWithoutTls]);
        let seen = report.listed[0].told.mysql.as_ref().unwrap();
        assert_eq!((seen.queries, seen.user.as_deref()), (3, Some("app")), "{capabilities:x}");
    }
}

#[test]
fn a_capture_that_begins_inside_of_a_result_tells_its_rows() {
    let rows = result(2000);
    // Cut in a row. At its end the client leaves with a command of one byte.
    Wire::new().server_stream(&rows[333..]).client(&packet(0, &[1])).is_in_clear(&[What::OtherInClear]);
    // Columns of numbers: no text, but packets to the last byte.
    let binary =
        (0..4_u8).flat_map(|row| packet(row + 5, &[0, 0, 0xff, 0xfe, row, 0x80])).collect::<Vec<_>>();
    Wire::new().server(&binary).is_in_clear(&[What::OtherInClear]);
    // Neither text nor packets, but longer than any record.
    Wire::new().server_stream(&sealed(70_000)).is_in_clear(&[What::OtherInClear]);
}

#[test]
fn what_cannot_be_told_is_called_neither_clear_nor_tls() {
    Wire::new().server(&sealed(900)).is_not_known();
    Wire::new().client(&data(900)[..700]).is_not_known();
    // Every packet cut after a few bytes.
    let mut wire = Wire::new();
    for (from_client, bytes) in [
        (false, greeting("8.4.3")),
        (true, login(1, PLAIN)),
        (false, packet(2, OK)),
        (true, query("SELECT 1")),
    ] {
        wire.send(from_client, &bytes, "", bytes.len() - 6);
    }
    wire.client(b"").is_not_known();
}

#[test]
fn the_compressed_protocol_is_read_when_it_is_joined_in_the_middle() {
    let long = query(&format!("SELECT '{}'", "x".repeat(300)));
    let mut wire = Wire::new();
    for _ in 0..3 {
        wire.client(&packed(0, &long, true)).server(&packed(1, &result(20), true));
        wire.client(&packed(0, &query("SELECT 1"), false)).server(&packed(1, &result(1), false));
    }
    let report = wire.is_in_clear(&[What::Statements, What::ResultRows]);
    let told = &report.listed[0].told;
    let seen = told.mysql.as_ref().unwrap();
    assert_eq!((seen.queries, seen.compressed, told.unread_bytes), (6, Some("zlib"), 0));
    assert!(seen.rows >= 3 * 21 - 21 && seen.joined_in_the_middle, "{seen:?}");
}

#[test]
fn a_bulk_execution_is_a_command() {
    let bulk = packet(0, b"\xfa\x01\0\0\0\x80\0\xfe\0\0\x05value");
    Wire::new().client(&bulk).client(&bulk).is_in_clear(&[What::Parameters]);
}

#[test]
fn a_greeting_whose_version_somebody_made_up_is_one() {
    let long = packed(0, &query(&"SELECT 'x' ".repeat(20)), true);
    Wire::new()
        .server(&greeting("v8.0-ours"))
        .client(&login(1, PLAIN | COMPRESS))
        .server(&packet(2, OK))
        .client(&long)
        .is_in_clear(&[What::Statements, What::GuessableLogin]);
}

#[test]
fn after_an_ssl_request_what_is_in_clear_is_read() {
    let report = Wire::new()
        .server(&greeting("8.4.3"))
        .client(&ssl_request())
        .client(&login(2, PLAIN))
        .server(&packet(3, OK))
        .client(&query("SELECT 1"))
        .server(&result(2))
        .is_in_clear(&[What::GuessableLogin, What::Statements, What::ResultRows]);
    assert!(report.listed[0].told.mysql.as_ref().unwrap().asked_tls);
    // Its first bytes are lost: whatever it is, it is not TLS that was seen.
    Wire::new()
        .server(&greeting("8.4.3"))
        .client(&ssl_request())
        .lost(true, &sealed(100))
        .client(&query(
            "SELECT something FROM a_table WHERE somebody = 'somebody else, of whom nothing is known'",
        ))
        .is_in_clear(&[What::OtherInClear]);
}

// TLS whose beginning is not all there.

#[test]
fn the_servers_direction_alone_is_tls() {
    let mut wire = Wire::new();
    wire.server(&greeting("8.4.3")).server(&server_hello(0x1301)).server(&data(2000)).server(&data(90));
    let report = wire.is_tls();
    assert_eq!(report.listed[0].told.clear_bytes_in_tls, 0);
}

#[test]
fn without_the_ssl_request_the_hellos_tell() {
    for lost in 0..3 {
        let mut wire = Wire::opened();
        wire.server(&greeting("8.4.3")).lost(true, &ssl_request());
        let steps = [(true, client_hello()), (false, server_hello(0x1301)), (true, data(70))];
        for (number, (from_client, bytes)) in steps.iter().enumerate() {
            // With a hello lost too, the other one tells.
            if number == lost {
                wire.lost(*from_client, bytes);
            } else {
                wire.send(*from_client, bytes, "", 0);
            }
        }
        for _ in 0..5 {
            wire.server(&data(1200)).client(&data(60));
        }
        let report = wire.is_tls();
        assert!(report.missing_bytes >= 36, "without {lost}");
    }
}

#[test]
fn without_request_and_hellos_records_in_a_row_tell() {
    let mut wire = Wire::opened();
    wire.server(&greeting("8.4.3")).lost(true, &sealed(300)).lost(false, &sealed(3000));
    for _ in 0..4 {
        wire.client(&data(60)).server(&data(1200));
    }
    wire.is_tls();
}

#[test]
fn the_clients_direction_recorded_before_the_servers_is_no_other_connection() {
    let mut wire = Wire::new();
    wire.client(&ssl_request())
        .server(&greeting("8.4.3"))
        .client(&client_hello())
        .server(&server_hello(0x1301));
    for _ in 0..3 {
        wire.client(&data(60)).server(&data(1200));
    }
    let report = wire.is_tls();
    let told = &report.listed[0].told;
    assert_eq!(told.clear_bytes_in_tls, 0);
    assert_eq!(told.mysql.as_ref().unwrap().server_version.as_deref(), Some("8.4.3"));
    // The same in clear.
    let report = Wire::new()
        .client(&login(1, PLAIN))
        .server(&greeting("8.4.3"))
        .server(&packet(2, OK))
        .client(&query("SELECT 1"))
        .is_in_clear(&[What::Statements, What::GuessableLogin]);
    assert_eq!(report.listed[0].told.mysql.as_ref().unwrap().server_version.as_deref(), Some("8.4.3"));
}

#[test]
fn tls_that_is_joined_inside_of_a_record_is_tls() {
    let stream = (0..4).flat_map(|_| data(16_400)).collect::<Vec<_>>();
    Wire::new().server_stream(&stream[777..]).is_tls();
}

/// Another node, at its port for messages.
const NODE: &str = "10.0.0.2:4567";

#[test]
fn tls_between_nodes_that_is_joined_inside_of_a_record_is_tls() {
    let stream = (0..4).flat_map(|_| data(16_400)).collect::<Vec<_>>();
    for at in (1..2000).step_by(13) {
        Wire::to(NODE).server_stream(&stream[at..]).is_tls();
    }
}

#[test]
fn messages_between_nodes_that_are_joined_in_the_middle_are_in_clear() {
    // Length and checksum; version and type (data for the group); a write set.
    let message = [&[107, 0, 0, 1, 7, 7, 7, 7][..], &[1, 8, 0, 0, 0, 0], b"G\x63\x40", &[b'x'; 98]].concat();
    let mut wire = Wire::to(NODE);
    wire.server(&message[55..]).server(&message).server(&[message.clone(), message.clone()].concat());
    wire.is_in_clear(&[What::WriteSets]);
}

// Clear text that looks like TLS.

#[test]
fn one_header_that_fits_does_not_make_a_row_tls() {
    // A packet of 0x030317 bytes, the sixth: its header is that of a record.
    let row = packet(6, &[b"\xfd".as_slice(), &vec![b'A'; 0x03_0316]].concat());
    assert_eq!(row[..4], [0x17, 3, 3, 6]);
    Wire::new().server_stream(&row).is_in_clear(&[What::OtherInClear]);
}

#[test]
fn addresses_used_again_after_tls_are_not_tls() {
    for closing in ["F", "R"] {
        let mut wire = Wire::new();
        wire.server(&greeting("8.4.3")).client(&ssl_request()).client(&client_hello());
        wire.server(&server_hello(0x1301)).client(&data(60)).server(&data(60)).send(true, b"", closing, 0);
        if closing == "F" {
            wire.send(false, b"", closing, 0);
        }
        wire.next = [700_000_000, 900_000_000];
        wire.server(&greeting("8.4.3"))
            .client(&login(1, PLAIN))
            .server(&packet(2, OK))
            .client(&query("SELECT 1"));
        let report = wire.report();
        assert_eq!((report.clear, report.tls), (1, 1), "{closing}");
        assert!(report.findings.contains_key(&What::Statements));
    }
}

#[test]
fn tls_with_a_suite_that_encrypts_nothing_is_readable() {
    for (suite, is_readable) in [(0x003b, true), (0xc0b4, true), (0x1301, false), (0xc02f, false)] {
        let mut wire = Wire::new();
        wire.server(&greeting("8.4.3")).client(&ssl_request()).client(&client_hello());
        wire.server(&server_hello(suite)).client(&data(60)).server(&data(60));
        let report = wire.report();
        assert_eq!((report.is_readable(), report.clear == 1), (is_readable, is_readable), "{suite:x}");
        assert_eq!(report.listed[0].told.null_suite.is_some(), is_readable);
    }
}

// Each end is judged by itself, and the worse one is told.

#[test]
fn a_client_in_clear_is_told_though_the_server_sends_records() {
    let insert = query("insert into t values('CANARYABCDEF')");
    for server_first in [false, true] {
        let mut wire = Wire::new();
        for _ in 0..2 {
            if server_first {
                wire.server(&data(90)).client(&insert);
            } else {
                wire.client(&insert).server(&data(90));
            }
        }
        let what = if server_first { What::OtherInClear } else { What::Statements };
        let report = wire.is_in_clear(&[what]);
        assert_eq!(report.conclusion(), Conclusion::Readable);
        assert!(!report.listed[0].told.is_tls && report.listed[0].told.tls_bytes == 190);
    }
    // The other way round: rows in clear under statements in records.
    Wire::new().client(&data(90)).server(&result(9)).client(&data(70)).is_in_clear(&[What::OtherInClear]);
}

#[test]
fn an_end_that_never_showed_tls_is_not_tls_because_the_other_did() {
    let mut wire = Wire::new();
    wire.client(&data(90)).client(&data(70)).server(&sealed(900));
    wire.is_not_known();
    // It is, once it shows it.
    wire.client(&data(90)).client(&data(70)).server(&sealed(900)).server(&data(300)).server(&data(300));
    wire.is_tls();
}

#[test]
fn what_follows_records_in_clear_is_readable() {
    let begin = |wire: &mut Wire| {
        wire.client(&data(100)).server(&data(200)).client(&data(60)).server(&data(90));
    };
    let go_on = |wire: &mut Wire| {
        wire.client(&query("insert into t values('CANARYABCDEF')")).server(&packet(1, OK));
        wire.client(&query("insert into t values('CANARYABCDEF')")).server(&packet(1, OK));
    };
    let mut wire = Wire::new();
    begin(&mut wire);
    go_on(&mut wire);
    let report = wire.is_in_clear(&[What::ClearBytesInTls]);
    assert_eq!(report.conclusion(), Conclusion::Readable);
    assert_eq!(report.listed[0].told.clear_bytes_in_tls, 2 * (41 + 11));
    // In one segment with a record; after an SSLRequest.
    let mut wire = Wire::new();
    wire.server(&greeting("8.4.3")).client(&ssl_request()).client(&client_hello());
    wire.server(&[server_hello(0x1301), packet(1, OK)].concat()).client(&data(60));
    wire.is_in_clear(&[What::ClearBytesInTls]);
    // Sequence numbers that lie elsewhere are a gap, behind which nothing is in step.
    let mut wire = Wire::new();
    begin(&mut wire);
    wire.next = [2_000_000_000, 3_000_000_000];
    go_on(&mut wire);
    wire.is_in_clear(&[What::OtherInClear]);
}

#[test]
fn a_record_that_holds_text_is_text() {
    let text = b"insert into t values('CANARYABCDEF');".repeat(500);
    let big = record(0x17, &text[..16_384]);
    Wire::new()
        .client(&[big.clone(), data(50)].concat())
        .server(&data(200))
        .client(&data(60))
        .server(&data(90))
        .is_in_clear(&[What::OtherInClear]);
    // Also where all of them were seen from the first one on.
    let mut wire = Wire::new();
    wire.server(&greeting("8.4.3"))
        .client(&ssl_request())
        .client(&client_hello())
        .server(&server_hello(0x1301));
    wire.client(&data(60))
        .server(&data(90))
        .client(&big)
        .server(&data(90))
        .is_in_clear(&[What::OtherInClear]);
    // No text, and nothing that a cipher puts out: nobody knows.
    let numbers: Vec<u8> = (0x80..0xa0).cycle().take(900).collect();
    Wire::new().client(&data(90)).server(&record(0x17, &numbers)).client(&data(90)).is_not_known();
}

#[test]
fn segments_that_were_sent_twice_with_different_bytes_are_not_tls() {
    for changed in [false, true] {
        let mut wire = Wire::new();
        wire.client(&data(100));
        wire.next[0] -= 105;
        wire.client(&if changed { query(&"x".repeat(100)) } else { data(100) });
        wire.client(&data(50)).server(&data(80)).server(&data(80));
        if changed {
            let report = wire.report();
            assert_eq!((report.conclusion(), report.conflicting_segments), (Conclusion::NotKnown, 1));
            assert!(report.listed[0].told.is_undecided && !report.listed[0].told.is_tls);
        } else {
            assert_eq!(wire.is_tls().conflicting_segments, 0);
        }
    }
}

#[test]
fn what_tls_sends_besides_data_is_not_taken_for_clear_text() {
    // A chain of certificates is full of names.
    let names = b"http://crl.example.org/a-certificate-authority.crl, O=An Authority, CN=db1 ".repeat(20);
    let certificates = record(0x16, &[&[11, 0, 5, 0xdc][..], &names[..1500]].concat());
    let change_cipher_spec = record(0x14, &[1]);
    // A nonce that counts, as GCM has it in TLS 1.2.
    let small = |number: u8| {
        let sealed = super::joined::tests::noise(21, seed(number.into()));
        record(0x17, &[&[0, 0, 0, 0, 0, 0, 0, number][..], &sealed].concat())
    };
    for joined in [false, true] {
        let mut wire = Wire::new();
        if !joined {
            wire.server(&greeting("8.4.3")).client(&ssl_request()).client(&client_hello());
            wire.server_stream(&[server_hello(0xc02f), certificates.clone()].concat());
            wire.client(&change_cipher_spec).server(&change_cipher_spec);
        }
        for number in 0..40 {
            wire.client(&small(number)).server(&small(number));
        }
        // An empty record, bytes that are not in the capture, an alert that is encrypted, one that is not.
        wire.server(&record(0x17, b"")).lost(false, &data(1000)).server(&data(700)).server(&data(300));
        wire.client(&record(0x15, &sealed(26))).server(&record(0x15, &[1, 0]));
        wire.send(true, b"", "F", 0).send(false, b"", "F", 0);
        wire.is_tls();
    }
}

#[test]
fn tls_of_which_segments_are_missing_is_not_taken_for_clear_text() {
    for record_bytes in [200, 1388, 4118, 16_406] {
        let stream: Vec<u8> = (0..600_000 / record_bytes)
            .flat_map(|number| {
                record(0x17, &super::joined::tests::noise(record_bytes - 5 - number % 3, seed(number)))
            })
            .collect();
        for segment_bytes in [536, 1448, 8948, 65_160] {
            for lost_of in [2, 5, 30] {
                let mut wire = Wire::new();
                wire.client(&data(90)).client(&data(70));
                for (number, segment) in stream.chunks(segment_bytes).enumerate() {
                    if number % lost_of == 1 {
                        wire.lost(false, segment);
                    } else {
                        wire.server(segment);
                    }
                }
                let report = wire.report();
                let what = format!("{record_bytes} in {segment_bytes}, lost one of {lost_of}");
                assert_eq!((report.clear, report.tls + report.undecided), (0, 1), "{what}: {report:#?}");
                // A header that is never in the capture with another one, or with the end of its record, shows nothing.
                assert!(report.tls == 1 || record_bytes > segment_bytes * (lost_of - 1), "{what}");
            }
        }
    }
}

// Recordings of real servers, with something left out.

/// The packets of a recording, and whether the server sent them.
fn packets(name: &str) -> Vec<(Vec<u8>, bool)> {
    let mut packets = vec![];
    let _ = capture::file::Reader::new().read(&super::tests::recording(name), &mut |packet| {
        if let Content::Segment(segment) = capture::layers::frame(packet.link, packet.bytes) {
            packets.push((encode(&segment), segment.source.port() == 3306));
        }
    });
    packets
}

/// Each report of a recording without its first packets, without one packet, of one direction alone.
fn each_part(name: &str, mut check: impl FnMut(&Report, &str)) {
    let packets = packets(name);
    let mut one = |keep: &dyn Fn(usize, bool) -> bool, what: &str| {
        let mut sniffer = Sniffer::new(&[]);
        for (number, (packet, from_server)) in packets.iter().enumerate() {
            if keep(number, *from_server) {
                sniffer.packet(packet, 1);
            }
        }
        check(&sniffer.finish(), what);
    };
    for at in 0..packets.len() {
        one(&|number, _| number >= at, &format!("{name} from {at} on"));
        one(&|number, _| number != at, &format!("{name} without {at}"));
        for server in [true, false] {
            let what = format!("{name} from {at} on, of the server: {server}");
            one(&|number, from_server| number >= at && from_server == server, &what);
        }
    }
}

#[test]
fn no_part_of_a_recording_under_tls_is_called_clear() {
    for name in ["tls", "binlog-tls"] {
        each_part(name, |report, what| {
            assert!(report.clear == 0 && !report.is_readable(), "{what}: {report:#?}");
        });
    }
}

#[test]
fn no_part_of_a_recording_in_clear_is_called_tls_or_reassuring() {
    for name in ["query", "row", "secret", "compressed", "binlog"] {
        each_part(name, |report, what| {
            assert_eq!(report.tls, 0, "{what}: {report:#?}");
            // What is left may be the end of a talk: a leave, an acknowledgement.
            let is_told = report.is_readable() || report.undecided > 0;
            assert!(is_told || report.payload_bytes < 40, "{what}: {report:#?}");
        });
    }
}
