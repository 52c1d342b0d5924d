//! Each message of the login and the text protocol, whole, cut at each byte, and as noise.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use wire::*;

const MARIADB_10_11: &[u8] = include_bytes!("../../testdata/greeting/mariadb-10.11.19.bin");

fn payload_of(framed: &[u8]) -> Vec<u8> {
    let mut buffer = PacketBuffer::new(1 << 16);
    buffer.push(framed);
    let packet = buffer.next_packet().unwrap().unwrap();
    assert_eq!(packet.first_sequence, 0);
    packet.payload.to_vec()
}

fn greeting(payload: &[u8]) -> Greeting {
    match greeting::parse(payload).unwrap() {
        FirstPacket::Greeting(greeting) => greeting,
        FirstPacket::Refused(error) => panic!("{error:?}"),
    }
}

#[test]
fn reads_the_greeting_of_mariadb_10_11() {
    let seen = greeting(&payload_of(MARIADB_10_11));
    assert_eq!(seen.version, "5.5.5-10.11.19-MariaDB-0+deb12u1");
    assert_eq!(seen.version_text(), "10.11.19-MariaDB-0+deb12u1");
    assert_eq!(seen.connection_id, 5);
    assert_eq!(seen.nonce.len(), 20);
    assert_eq!(seen.mariadb_capabilities, 0x1d);
    assert_eq!(seen.capabilities.0, 0x81ff_fffe);
    assert_eq!(seen.charset, 8);
    assert_eq!(seen.auth_plugin.as_deref(), Some("mysql_native_password"));
    assert!(seen.is_mariadb() && seen.offers_tls());
    assert_eq!(greeting::encode(&seen), payload_of(MARIADB_10_11));
}

#[test]
fn reads_the_greeting_of_mysql_9_7() {
    let payload = payload_of(include_bytes!("../../testdata/greeting/mysql-9.7.4.bin"));
    let seen = greeting(&payload);
    assert_eq!((seen.version_text(), seen.connection_id), ("9.7.4-2", 22));
    assert_eq!((seen.capabilities.0, seen.mariadb_capabilities), (0xdfff_ffff, 0));
    assert_eq!(seen.auth_plugin.as_deref(), Some("caching_sha2_password"));
    assert!(!seen.is_mariadb() && seen.offers_tls() && seen.nonce.len() == 20);
    assert_eq!(greeting::encode(&seen), payload);
}

#[test]
fn every_prefix_of_a_greeting_packet_needs_more() {
    for cut in 0..MARIADB_10_11.len() {
        let mut buffer = PacketBuffer::new(1 << 16);
        buffer.push(MARIADB_10_11.get(..cut).unwrap());
        assert_eq!(buffer.next_packet(), Ok(None), "cut at {cut}");
    }
}

#[test]
fn a_cut_greeting_payload_is_an_error_except_where_old_servers_end() {
    let payload = payload_of(MARIADB_10_11);
    let version_end = payload.iter().position(|byte| *byte == 0).unwrap();
    let before_4_1 = version_end + 1 + 4 + 8 + 1 + 2;
    let before_plugin_name = payload.len() - "mysql_native_password".len() - 1;
    for cut in 0..payload.len() {
        let parsed = greeting::parse(payload.get(..cut).unwrap());
        assert_eq!(parsed.is_ok(), cut == before_4_1 || cut >= before_plugin_name, "cut at {cut}");
    }
}

#[test]
fn reads_an_error_in_place_of_a_greeting() {
    let payload = b"\xff\x69\x04Host '10.0.0.1' is blocked\x1b[2J";
    let FirstPacket::Refused(error) = greeting::parse(payload).unwrap() else { panic!() };
    assert_eq!((error.code, error.sqlstate.clone()), (1129, None));
    assert_eq!(error.message, "Host '10.0.0.1' is blocked\\u{1b}[2J");
}

fn head() -> SslRequest {
    SslRequest {
        capabilities: Capabilities::PROTOCOL_41
            | Capabilities::SSL
            | Capabilities::SECURE_CONNECTION
            | Capabilities::PLUGIN_AUTH
            | Capabilities::PLUGIN_AUTH_LENENC_DATA
            | Capabilities::CONNECT_WITH_DB
            | Capabilities::CONNECT_ATTRS,
        mariadb_capabilities: 0,
        max_packet_bytes: 1 << 24,
        charset: login::CHARSET_UTF8MB4,
    }
}

fn login() -> HandshakeResponse<'static> {
    HandshakeResponse {
        head: head(),
        user: b"app",
        auth_response: &[7; 32],
        database: Some(b"d"),
        auth_plugin: Some("caching_sha2_password"),
        attributes: vec![("_client_name", "sealion"), ("_os", "Linux")],
    }
}

#[test]
fn an_ssl_request_is_32_bytes_and_reads_back() {
    let mut out = Vec::new();
    head().encode(&mut out);
    assert_eq!(out.len(), 32);
    assert_eq!(SslRequest::parse(&out), Ok(head()));
    for cut in 0..out.len() {
        assert!(SslRequest::parse(out.get(..cut).unwrap()).is_err());
    }
    login().encode(&mut out).unwrap();
    assert!(SslRequest::parse(&out).is_err(), "a login is no SSLRequest");
}

#[test]
fn a_login_reads_back_and_cut_ones_never_panic() {
    let mut out = Vec::new();
    login().encode(&mut out).unwrap();
    assert_eq!(HandshakeResponse::parse(&out), Ok(login()));
    for cut in 0..out.len() {
        let _ = HandshakeResponse::parse(out.get(..cut).unwrap());
    }
}

#[test]
fn a_login_with_a_nul_in_the_user_is_refused() {
    let login = HandshakeResponse { user: b"a\0b", ..login() };
    assert!(login.encode(&mut Vec::new()).is_err());
}

#[test]
fn a_login_does_not_show_its_answer_in_debug_output() {
    let login = HandshakeResponse { auth_response: b"s3cret", ..login() };
    let text = format!("{login:?}");
    assert!(!text.contains("s3cret") && !text.contains("115"), "{text}");
}

#[test]
fn reads_the_turns_of_an_authentication() {
    let ok = OkPacket { affected_rows: 300, last_insert_id: 70_000, status: 2, warnings: 1 };
    assert_eq!(AuthAnswer::parse(&ok.encode(0)), Ok(AuthAnswer::Ok(ok)));
    let switch = answer::encode_auth_switch("mysql_native_password", &[9; 20]);
    let expected = AuthSwitch { plugin: "mysql_native_password".into(), nonce: &[9; 20] };
    assert_eq!(AuthAnswer::parse(&switch), Ok(AuthAnswer::Switch(expected)));
    assert_eq!(AuthAnswer::parse(&[0xfe]), Ok(AuthAnswer::SwitchToOldPassword));
    assert_eq!(AuthAnswer::parse(&[1, 4]), Ok(AuthAnswer::More(&[4])));
    let error = ErrPacket { code: 1045, sqlstate: Some("28000".into()), message: "Access denied".into() };
    assert_eq!(AuthAnswer::parse(&error.encode()), Ok(AuthAnswer::Err(error)));
    assert!(AuthAnswer::parse(&[]).is_err());
    assert!(AuthAnswer::parse(&[0x42]).is_err());
}

#[test]
fn cut_ok_and_err_packets_are_errors() {
    let ok = OkPacket { affected_rows: 70_000, ..OkPacket::default() }.encode(0);
    for cut in 0..ok.len() {
        assert!(OkPacket::parse(ok.get(..cut).unwrap()).is_err(), "cut at {cut}");
    }
    for cut in 0..9 {
        let error = b"\xff\x15\x04#28000denied".get(..cut).unwrap();
        assert_eq!(ErrPacket::parse(error).is_ok(), cut == 3, "cut at {cut}");
    }
}

fn column(name: &str) -> ColumnDef<'_> {
    ColumnDef { name: name.into(), charset: 45, length_bytes: 400, column_type: 253, flags: 1 }
}

fn answer(deprecate_eof: bool) -> (Capabilities, Vec<Vec<u8>>) {
    let mut packets = vec![vec![2], column("a").encode(), column("b").encode()];
    let end = if deprecate_eof {
        OkPacket { status: 2, ..OkPacket::default() }.encode(0xfe)
    } else {
        vec![0xfe, 0, 0, 2, 0]
    };
    if !deprecate_eof {
        packets.push(end.clone());
    }
    packets.push(b"\x01x\xfb".to_vec());
    packets.push(end);
    (if deprecate_eof { Capabilities::DEPRECATE_EOF } else { Capabilities(0) }, packets)
}

#[test]
fn reads_a_result_set_with_and_without_deprecate_eof() {
    for deprecate_eof in [true, false] {
        let (capabilities, packets) = answer(deprecate_eof);
        let mut response = TextResponse::new(capabilities);
        let (mut names, mut cells) = (Vec::new(), Vec::new());
        for packet in &packets {
            assert!(!response.is_over());
            match response.feed(packet).unwrap() {
                TextEvent::Column(column) => names.push(column.name.into_owned()),
                TextEvent::Row(row) => cells.extend(row.map(|cell| cell.unwrap().map(<[u8]>::to_vec))),
                _ => {}
            }
        }
        assert!(response.is_over());
        assert_eq!(names, ["a", "b"]);
        assert_eq!(cells, [Some(b"x".to_vec()), None]);
        assert!(response.feed(&[0]).is_err());
    }
}

#[test]
fn each_packet_of_a_result_set_cut_at_each_byte_never_panics() {
    let (capabilities, packets) = answer(true);
    for (index, packet) in packets.iter().enumerate() {
        for cut in 0..packet.len() {
            let mut response = TextResponse::new(capabilities);
            for before in packets.iter().take(index) {
                response.feed(before).unwrap();
            }
            if let Ok(TextEvent::Row(row)) = response.feed(packet.get(..cut).unwrap()) {
                assert!(row.collect::<Result<Vec<_>, _>>().is_err());
            }
        }
    }
}

#[test]
fn more_results_go_on_and_a_local_infile_request_is_told() {
    let mut response = TextResponse::new(Capabilities(0));
    let more = OkPacket { status: answer::STATUS_MORE_RESULTS, ..OkPacket::default() };
    assert!(matches!(response.feed(&more.encode(0)), Ok(TextEvent::Done(_))));
    assert!(!response.is_over());
    let asked = response.feed(b"\xfb/etc/passwd").unwrap();
    assert!(matches!(asked, TextEvent::LocalInfile { file_name: b"/etc/passwd" }));
}

#[test]
fn a_row_of_zero_columns_or_too_many_is_refused() {
    let mut packet = Vec::new();
    lenenc::write_int(&mut packet, resultset::COLUMNS_MAX + 1);
    assert!(TextResponse::new(Capabilities(0)).feed(&packet).is_err());
}

#[test]
fn tells_tls_records_from_other_bytes() {
    let hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
    let expected = SegmentShape::TlsRecord { content_type: 22, version: 0x0301, len: 512 };
    assert_eq!(classify_segment(hello), expected);
    assert!(starts_with_client_hello(hello));
    assert!(!starts_with_client_hello(b"\x16\x03\x03\x02\x00\x02\x00\x01\xfc\x03\x03"));
    assert!(matches!(classify_segment(b"\x17\x03\x03\x00\x00"), SegmentShape::TlsRecord { .. }));
    assert!(matches!(
        classify_segment(b"\x15\x03\x03\x00\x02ab\x17\x03\x03\x00"),
        SegmentShape::TlsRecord { .. }
    ));
    for not_tls in [
        &b""[..],
        b"\x17\x03\x03\x00",
        b"\x17\x03\x05\x00\x10",
        b"\x17\x03\x03\xff\xff",
        b"\x18\x03\x03\x00\x10",
        b"\x16\x03\x03\x00\x00",
        b"\x17\x03\x03\x00\x01x\x03select",
        MARIADB_10_11,
    ] {
        assert_eq!(classify_segment(not_tls), SegmentShape::NotTls, "{not_tls:?}");
    }
    for cut in 0..hello.len() {
        assert!(!starts_with_client_hello(hello.get(..cut.min(10)).unwrap()));
    }
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), first in any::<u8>()) {
        let mut with_first = vec![first];
        with_first.extend_from_slice(&bytes);
        for payload in [&bytes, &with_first] {
            let _ = greeting::parse(payload);
            let _ = AuthAnswer::parse(payload);
            let _ = OkPacket::parse(payload);
            let _ = OkPacket::parse_eof(payload);
            let _ = ErrPacket::parse(payload);
            let _ = SslRequest::parse(payload);
            let _ = HandshakeResponse::parse(payload);
            let _ = ColumnDef::parse(payload);
            let _ = classify_segment(payload);
            let _ = starts_with_client_hello(payload);
            let mut response = TextResponse::new(Capabilities(u32::from(first) << 24));
            for part in payload.chunks(17) {
                if let Ok(TextEvent::Row(row)) = response.feed(part) {
                    let _ = row.count();
                }
            }
            let mut buffer = PacketBuffer::new(1 << 20);
            buffer.push(payload);
            while let Ok(Some(_)) = buffer.next_packet() {}
        }
    }

    #[test]
    fn length_encoded_integers_read_back(value in any::<u64>(), shift in 0_u32..64) {
        let value = value >> shift;
        let mut out = Vec::new();
        lenenc::write_int(&mut out, value);
        prop_assert_eq!(lenenc::read_int(&out), Ok((value, out.len())));
        for cut in 0..out.len() {
            prop_assert!(lenenc::read_int(out.get(..cut).unwrap()).is_err());
        }
    }
}
