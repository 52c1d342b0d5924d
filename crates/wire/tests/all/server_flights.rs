//! What real servers said: read whole, in pieces, cut at each byte, altered; and what no server may say.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use crate::recorded::{hear, hear_in_parts, in_records, message, messages, named};
use proptest::prelude::*;
use tls_parser::nom::Parser as _;
use wire::WireError;
use wire::tls::registry::{Version, alerts, dh_prime, groups, signature_schemes as schemes};
use wire::tls::server_flight::*;
use wire::tls::{Event, ServerFlight};

fn hello_of(events: &[Event]) -> &ServerHello {
    events
        .iter()
        .find_map(|event| match event {
            Event::ServerHello(hello) => Some(&**hello),
            _ => None,
        })
        .unwrap()
}

fn key_exchange_of(events: &[Event]) -> &ServerKeyExchange {
    events
        .iter()
        .find_map(|event| match event {
            Event::ServerKeyExchange(exchange) => Some(exchange),
            _ => None,
        })
        .unwrap()
}

/// The kinds of events, in order, runs of the same kind as one.
fn shape(events: &[Event]) -> String {
    let mut names: Vec<String> = events
        .iter()
        .map(|event| format!("{event:?}").split([' ', '(', '{']).next().unwrap_or_default().to_owned())
        .collect();
    names.dedup();
    names.join(" ")
}

#[test]
fn reads_the_messages_of_each_recording() {
    const TLS12: &str = "ServerHello Certificate ServerKeyExchange ServerHelloDone";
    for (name, expected) in [
        ("tls13-x25519", "ServerHello ChangeCipherSpec Encrypted"),
        ("tls13-retry", "HelloRetryRequest ChangeCipherSpec"),
        ("tls13-no-share", "HelloRetryRequest ChangeCipherSpec"),
        ("tls13-cookie", "HelloRetryRequest ChangeCipherSpec"),
        ("tls12-ecdhe-rsa", TLS12),
        ("tls12-ecdhe-ecdsa", TLS12),
        ("tls12-dhe-rsa", TLS12),
        ("tls12-rsa-cbc", "ServerHello Certificate ServerHelloDone"),
        ("tls12-ecdh-anon", "ServerHello ServerKeyExchange ServerHelloDone"),
        (
            "tls12-client-certificate",
            "ServerHello Certificate ServerKeyExchange CertificateRequest ServerHelloDone",
        ),
        ("tls12-ocsp-staple", "ServerHello Certificate CertificateStatus ServerKeyExchange ServerHelloDone"),
        ("tls12-psk-dhe", "ServerHello ServerKeyExchange ServerHelloDone"),
        ("tls11-ecdhe-rsa", TLS12),
        ("tls10-dhe-rsa", TLS12),
        ("tls10-downgrade", "ServerHello Certificate ServerHelloDone"),
        ("alert-no-suite", "Alert"),
        ("alert-fallback", "Alert"),
    ] {
        let (events, end) = hear(&named(name));
        assert_eq!((shape(&events).as_str(), end), (expected, Ok(())), "{name}");
    }
}

#[test]
fn reads_a_hello_of_tls_1_3() {
    let (events, _) = hear(&named("tls13-x25519"));
    let hello = hello_of(&events);
    assert_eq!((hello.version, hello.legacy_version), (Version::TLS13, Version::TLS12));
    assert_eq!(hello.extensions.key_share_group, Some(groups::X25519));
    assert_eq!(hello.extensions.key_share.len(), 32);
    assert_eq!(hello.session_id, [0x11; 32]);
    assert_eq!(hello.cipher_suite, 0x1301);
    assert_eq!(hello.downgrade, None);
}

#[test]
fn our_shares_are_good_ones_in_every_group_that_openssl_3_0_has() {
    for (name, group) in [
        ("tls13-x25519", groups::X25519),
        ("tls13-x448", groups::X448),
        ("tls13-secp521r1", groups::SECP521R1),
        ("tls13-ffdhe2048", groups::FFDHE2048),
        ("tls13-ffdhe8192", groups::FFDHE8192),
    ] {
        let (events, _) = hear(&named(name));
        let extensions = &hello_of(&events).extensions;
        assert_eq!(extensions.key_share_group, Some(group), "{name}");
        let expected = wire::tls::registry::group(group).unwrap().server_share_bytes;
        assert_eq!(extensions.key_share.len(), usize::from(expected), "{name}");
    }
}

#[test]
fn reads_what_a_retry_asks_for() {
    for (name, group) in [
        ("tls13-retry", Some(groups::SECP256R1)),
        ("tls13-no-share", Some(groups::X25519)),
        ("tls13-cookie", None),
    ] {
        let (events, _) = hear(&named(name));
        let Some(Event::HelloRetryRequest(retry)) = events.first() else { panic!("{name}") };
        assert_eq!((retry.version, retry.group), (Version::TLS13, group), "{name}");
        assert_eq!(retry.cookie.is_some(), name == "tls13-cookie", "{name}");
    }
}

#[test]
fn reads_the_extensions_of_tls_1_2() {
    let (events, _) = hear(&named("tls12-ecdhe-rsa"));
    let hello = hello_of(&events);
    assert_eq!((hello.version, hello.cipher_suite, hello.compression_method), (Version::TLS12, 0xc02f, 0));
    let extensions = &hello.extensions;
    assert!(extensions.extended_master_secret && extensions.session_ticket);
    // RFC 7366 3: not with a cipher that needs no MAC.
    assert!(!extensions.encrypt_then_mac);
    assert_eq!(extensions.renegotiation_info.as_deref(), Some(&[][..]));
    assert_eq!(extensions.ec_point_formats.as_deref(), Some(&[0, 1, 2][..]));

    let (events, _) = hear(&named("tls12-rsa-cbc"));
    assert!(hello_of(&events).extensions.encrypt_then_mac);
    let (events, _) = hear(&named("tls12-no-ticket"));
    let hello = hello_of(&events);
    assert!(!hello.extensions.session_ticket && hello.session_id.len() == 32);
    let (events, _) = hear(&named("tls12-alpn"));
    assert_eq!(hello_of(&events).extensions.alpn.as_deref(), Some(&b"mysql"[..]));
    let (events, _) = hear(&named("tls12-server-name"));
    assert!(hello_of(&events).extensions.server_name);
    let (events, _) = hear(&named("tls12-ocsp-staple"));
    assert!(hello_of(&events).extensions.status_request);
    let status = events.iter().find_map(|event| match event {
        Event::CertificateStatus(status) => Some(status),
        _ => None,
    });
    assert_eq!((status.unwrap().status_type, status.unwrap().response.first()), (1, Some(&0x30)));
}

#[test]
fn sees_that_a_server_could_have_done_better() {
    let (events, _) = hear(&named("tls10-downgrade"));
    assert_eq!(hello_of(&events).downgrade, Some(Downgrade::ToTls11OrOlder));
    let (events, _) = hear(&named("tls12-everything"));
    assert_eq!(hello_of(&events).downgrade, Some(Downgrade::ToTls12));
    let (events, _) = hear(&named("tls12-ecdhe-rsa"));
    assert_eq!(hello_of(&events).downgrade, None);
}

#[test]
fn reads_keys_and_who_signed_them() {
    let exchange = |name| key_exchange_of(&hear(&named(name)).0).clone();
    let ecdhe = exchange("tls12-ecdhe-rsa");
    let ServerParameters::Ecdhe { curve, point } = &ecdhe.parameters else { panic!() };
    assert_eq!((curve, point.len()), (&EcParameters::Named(groups::X25519), 32));
    assert_eq!(ecdhe.signature, Some(Signature { scheme: Some(schemes::RSA_PSS_RSAE_SHA256), bytes: 256 }));

    let ecdsa = exchange("tls12-ecdhe-ecdsa");
    assert_eq!(ecdsa.signature.unwrap().scheme, Some(schemes::ECDSA_SECP256R1_SHA256));

    let dhe = exchange("tls12-dhe-rsa");
    let ServerParameters::Dhe { p, public_key, .. } = &dhe.parameters else { panic!() };
    assert_eq!(p.bits(), 1024);
    assert!(public_key.bits() <= 1024);

    let old = exchange("tls10-dhe-rsa");
    assert_eq!(old.signature, Some(Signature { scheme: None, bytes: 256 }));
    assert_eq!(exchange("tls12-ecdh-anon").signature, None);
    let psk = exchange("tls12-psk-dhe");
    assert_eq!((psk.psk_identity_hint_bytes, psk.signature), (Some(3), None));
}

#[test]
fn reads_whom_a_server_would_trust() {
    let (events, _) = hear(&named("tls12-client-certificate"));
    let request = events.iter().find_map(|event| match event {
        Event::CertificateRequest(request) => Some(request),
        _ => None,
    });
    let request = request.unwrap();
    assert!(request.certificate_types.contains(&1) && request.certificate_types.contains(&64));
    assert!(request.signature_algorithms.contains(&schemes::RSA_PSS_RSAE_SHA256));
    assert_eq!(request.certificate_authorities.len(), 1);
}

#[test]
fn reads_why_a_server_refused() {
    let alert = |name| match &hear(&named(name)).0[..] {
        [Event::Alert(alert)] => *alert,
        events => panic!("{events:?}"),
    };
    assert_eq!(alert("alert-no-suite").description, alerts::HANDSHAKE_FAILURE);
    assert_eq!(alert("alert-fallback").name(), Some("inappropriate_fallback"));
}

#[test]
fn gives_out_what_follows_an_alert_and_what_is_no_tls() {
    // Seen: MariaDB 10.11 and MySQL 9.7 send this error in clear behind the alert; MySQL 5.5.9 sends it alone.
    let error = b"\x16\x00\x00\x02\xff\x13\x04#08S01Bad handshake";
    let mut flight = ServerFlight::new();
    flight.push(b"\x15\x03\x03\x00\x02\x02\x28");
    flight.push(error);
    assert!(matches!(flight.next_event(), Ok(Some(Event::Alert(_)))));
    assert_eq!((flight.next_event(), flight.rest(), flight.is_over()), (Ok(None), &error[..], true));

    for cut in 1..error.len() {
        let (head, tail) = error.split_at(cut);
        let mut flight = ServerFlight::new();
        flight.push(head);
        let early = flight.next_event().unwrap();
        flight.push(tail);
        let late = flight.next_event().unwrap();
        // One byte 0x16 may still become a record.
        assert_eq!((early.is_none(), late.is_none()), (cut == 1, cut != 1));
        assert_eq!(early.or(late), Some(Event::NotTls));
        assert_eq!((flight.rest(), flight.is_over(), flight.finish()), (&error[..], true, Ok(())));
    }
}

#[test]
fn reads_mariadb_10_11_as_it_is() {
    let greeting = include_bytes!("../../testdata/servers/mariadb-10.11.19/greeting.bin");
    let Ok(wire::FirstPacket::Greeting(greeting)) = wire::greeting::parse(&greeting[4..]) else { panic!() };
    assert!(greeting.offers_tls() && greeting.flavour().flavour == wire::Flavour::MariaDb);

    let hear_server = |question| {
        let bytes = crate::recorded::server("mariadb-10.11.19", question);
        let whole = hear(&bytes);
        assert_eq!(hear_in_parts(bytes.chunks(1)), whole, "{question}");
        assert_eq!(whole.1, Ok(()), "{question}");
        whole.0
    };
    let tls13 = hear_server("tls13");
    assert_eq!(hello_of(&tls13).version, Version::TLS13);
    let ecdhe = hear_server("tls12-ecdhe");
    assert_eq!(hello_of(&ecdhe).downgrade, Some(Downgrade::ToTls12));
    assert!(ecdhe.iter().any(|event| matches!(event, Event::Certificate(chain) if chain.len() == 1)));

    let dhe = hear_server("tls12-dhe");
    let ServerParameters::Dhe { p, g, .. } = &key_exchange_of(&dhe).parameters else { panic!() };
    assert_eq!((p.bits(), g.0.as_slice()), (2048, &[2][..]));
    assert_eq!(dh_prime(&p.0).unwrap().name, "built into MariaDB");

    // Behind the alert comes an error packet in clear, which is no TLS.
    let refused = crate::recorded::server("mariadb-10.11.19", "refused");
    let mut flight = ServerFlight::new();
    flight.push(&refused);
    let Ok(Some(Event::Alert(alert))) = flight.next_event() else { panic!() };
    assert_eq!(alert.description, alerts::HANDSHAKE_FAILURE);
    let Some([22, 0, 0, 2, error @ ..]) = Some(flight.rest()) else { panic!() };
    assert_eq!(wire::ErrPacket::parse(error).unwrap().code, 1043);
}

#[test]
fn tells_the_same_however_the_bytes_arrive() {
    for recording in crate::recorded::all() {
        let whole = hear(&recording.bytes);
        for step in [1, 2, 3, 5, 7, 64, 1000] {
            assert_eq!(hear_in_parts(recording.bytes.chunks(step)), whole, "{} by {step}", recording.name);
        }
    }
}

#[test]
fn can_detect_truncation_of_every_recording() {
    for recording in crate::recorded::all() {
        let (events, _) = hear(&recording.bytes);
        for cut in 0..recording.bytes.len() {
            let (heard, end) = hear(&recording.bytes[..cut]);
            assert!(
                heard.len() <= events.len() && heard == events[..heard.len()],
                "{} at {cut}",
                recording.name
            );
            let at_a_boundary = record_ends(&recording.bytes).contains(&cut);
            assert_eq!(end.is_ok(), at_a_boundary, "{} at {cut}: {end:?}", recording.name);
        }
    }
}

/// Where a record ends with no message left half: OpenSSL puts a message or more into each record.
fn record_ends(bytes: &[u8]) -> Vec<usize> {
    let (mut at, mut ends) = (0, vec![0]);
    while let Some([_, _, _, l0, l1]) = bytes.get(at..at + 5) {
        at += 5 + usize::from(u16::from_be_bytes([*l0, *l1]));
        ends.push(at);
    }
    ends
}

#[test]
fn can_detect_truncation_of_all_handshake_payloads() {
    for recording in crate::recorded::all() {
        let messages = messages(&recording.bytes);
        for (index, whole) in messages.iter().enumerate() {
            let before = messages[..index].concat();
            let body = &whole[4..];
            for cut in 0..body.len() {
                let altered = [before.clone(), message(whole[0], &body[..cut])].concat();
                let (events, end) = hear(&in_records(&altered));
                // A ServerHello may end before its extensions: servers that know none do.
                let without_extensions = whole[0] == SERVER_HELLO && cut == 38 + usize::from(body[34]);
                let is_retry = matches!(hear(&recording.bytes).0.first(), Some(Event::HelloRetryRequest(_)));
                let expected = without_extensions && !is_retry;
                assert_eq!(end.is_ok(), expected, "{}: message {index} cut at {cut}", recording.name);
                assert_eq!(events.len(), index + usize::from(expected), "{}", recording.name);
            }
            let longer = [before, message(whole[0], &[body, &[0]].concat())].concat();
            let (events, end) = hear(&in_records(&longer));
            assert!(
                end.is_err() && events.len() == index,
                "{}: message {index} with a byte too many",
                recording.name
            );
        }
    }
}

#[test]
fn joins_messages_that_are_spread_over_records() {
    for recording in crate::recorded::all().iter().filter(|recording| recording.name.starts_with("tls12")) {
        let (events, _) = hear(&recording.bytes);
        let handshake = messages(&recording.bytes).concat();
        let mut bytes = Vec::new();
        for part in handshake.chunks(11) {
            bytes.extend_from_slice(&[22, 3, 3, 0, u8::try_from(part.len()).unwrap()]);
            bytes.extend_from_slice(part);
        }
        assert_eq!(hear(&bytes), (events, Ok(())), "{}", recording.name);
    }
}

/// What stops a peer that never stops: the name of the limit, and how much of it was announced.
fn limit(bytes: &[u8]) -> (&'static str, u64) {
    match hear(bytes).1.unwrap_err().cause {
        WireError::OverLimit { what, announced, max } => {
            assert!(announced > max);
            (what, announced)
        }
        cause => panic!("{cause}"),
    }
}

fn server_hello(version: u16, cipher_suite: u16, extensions: &[u8]) -> Vec<u8> {
    let mut body = version.to_be_bytes().to_vec();
    body.extend_from_slice(&[7; 32]);
    body.push(0);
    body.extend_from_slice(&cipher_suite.to_be_bytes());
    body.push(0);
    body.extend_from_slice(&u16::try_from(extensions.len()).unwrap().to_be_bytes());
    body.extend_from_slice(extensions);
    message(SERVER_HELLO, &body)
}

fn after_hello(message_type: u8, body: &[u8]) -> Vec<u8> {
    in_records(&[server_hello(0x0303, 0xc02f, &[]), message(message_type, body)].concat())
}

fn u24(count: usize) -> [u8; 3] {
    let [_, a, b, c] = u32::try_from(count).unwrap().to_be_bytes();
    [a, b, c]
}

#[test]
fn every_limit_ends_the_flight_and_is_named() {
    assert_eq!(limit(&[22, 3, 3, 0x48, 0x01]), ("TLS record", 0x4801));
    assert_eq!(limit(&[22, 3, 3, 0, 4, 2, 0xff, 0xff, 0xff]), ("handshake message", 0xff_ffff));
    let tls13 = in_records(&server_hello(0x0303, 0x1301, &[0, 43, 0, 2, 3, 4]));
    assert_eq!(limit(&[tls13, [23, 3, 3, 0, 0].repeat(20)].concat()), ("number of empty TLS records", 17));
    assert_eq!(limit(&[21, 3, 3, 0, 2, 1, 90].repeat(20)), ("number of warning alerts", 9));

    let chain = [&[0, 0, 1, 0x30][..]; 40].concat();
    let body = [&u24(chain.len())[..], &chain].concat();
    assert_eq!(limit(&after_hello(CERTIFICATE, &body)), ("number of certificates", 33));
    let large = vec![0; 110_000];
    let body = [&u24(large.len() + 3)[..], &u24(large.len()), &large].concat();
    assert_eq!(limit(&after_hello(CERTIFICATE, &body)), ("certificate", 110_000));

    let extensions: Vec<u8> = (0_u8..80).flat_map(|low| [0x70, low, 0, 0]).collect();
    assert_eq!(limit(&in_records(&server_hello(0x0303, 0xc02f, &extensions))), ("number of extensions", 65));
    let names = [0, 0].repeat(1100);
    let names_bytes = u16::try_from(names.len()).unwrap().to_be_bytes();
    let body = [&[1, 1, 0, 2, 4, 1][..], &names_bytes, &names].concat();
    assert_eq!(limit(&after_hello(CERTIFICATE_REQUEST, &body)), ("number of certificate authorities", 1025));

    let mut session_id = server_hello(0x0303, 0xc02f, &[]);
    session_id[4 + 34] = 33;
    session_id.extend_from_slice(&[0; 40]);
    session_id[3] += 40;
    assert_eq!(limit(&in_records(&session_id)), ("ServerHello session_id", 33));
}

#[test]
fn an_endless_server_is_cut_off_and_its_bytes_are_not_kept() {
    // Encrypted records for ever, messages for ever, and one message that never ends.
    let hello = hear(&named("tls13-x25519")).0;
    assert!(matches!(hello.first(), Some(Event::ServerHello(_))));
    let start = record_ends(&named("tls13-x25519"))[1];
    let mut endless = named("tls13-x25519")[..start].to_vec();
    endless.extend([23, 3, 3, 0x40, 0].iter().copied().chain([0; 0x4000]).cycle().take(1 << 20));
    let mut tickets = after_hello(NEW_SESSION_TICKET, &[0, 0, 0, 0, 0, 0]);
    tickets.extend(in_records(&message(NEW_SESSION_TICKET, &[0, 0, 0, 0, 0, 0])).repeat(40_000));
    for bytes in [endless, tickets] {
        assert_eq!(limit(&bytes).0, "server flight");
        let whole = hear(&bytes);
        assert_eq!(hear_in_parts(bytes.chunks(1)), whole);
        let mut flight = ServerFlight::new();
        for part in bytes.chunks(1000) {
            flight.push(part);
        }
        assert!(flight.rest().len() <= FLIGHT_BYTES_MAX);
    }
}

/// What is wrong with it, in the words of the error.
fn fault(bytes: &[u8]) -> String {
    hear(bytes).1.unwrap_err().to_string()
}

#[test]
fn refuses_what_no_server_may_say() {
    let twice = [server_hello(0x0303, 0xc02f, &[]), server_hello(0x0303, 0xc02f, &[])].concat();
    let tls13 = server_hello(0x0303, 0x1301, &[0, 43, 0, 2, 3, 4]);
    for (bytes, expected) in [
        (in_records(&twice), "ServerHello is not valid: it comes twice"),
        (in_records(&message(SERVER_HELLO_DONE, &[])), "another message comes before the ServerHello"),
        (in_records(&[tls13, message(CERTIFICATE, &[0, 0, 0])].concat()), "a message follows in clear"),
        (in_records(&server_hello(0x0200, 0xc02f, &[])), "ServerHello version is not valid"),
        (in_records(&server_hello(0x0303, 0xc02f, &[0, 23, 0, 0, 0, 23, 0, 0])), "the same type comes twice"),
        (in_records(&server_hello(0x0303, 0xc02f, &[0, 23, 0, 1, 0])), "extended_master_secret is not valid"),
        (b"\x14\x03\x03\x00\x01\x01".to_vec(), "it comes before the ServerHello"),
        (b"\x16\x03\x03\x00\x00".to_vec(), "TLS record is not valid: it is empty"),
        (b"\x16\x03\x09\x00\x01".to_vec(), "its version is newer than TLS 1.3"),
        (b"\x17\x03\x03\x00\x01x".to_vec(), "application data before the handshake"),
        (b"\x15\x03\x03\x00\x03\x02\x28\x00".to_vec(), "alert ends early"),
        (b"\x16\x03\x03\x00\x02\x02\x00\x15\x03\x03\x00\x02\x02\x28".to_vec(), "another kind of record"),
        (after_hello(CERTIFICATE, &[0, 0, 3, 0, 0, 0]), "certificate is not valid: it is empty"),
        (after_hello(SERVER_KEY_EXCHANGE, &[9, 0, 23]), "its kind is none of the three known"),
    ] {
        let text = fault(&bytes);
        assert!(text.contains(expected), "{text}");
    }
    let late = [named("tls12-ecdhe-rsa"), b"\x16\x03\x03\x00\x00".to_vec()].concat();
    let error = hear(&late).1.unwrap_err();
    assert_eq!(error.record_at, late.len() as u64 - 5, "{error}");
}

#[test]
fn a_finished_without_a_key_is_encrypted_and_no_message() {
    let mut resumed = in_records(&server_hello(0x0303, 0xc02f, &[]));
    resumed.extend_from_slice(b"\x14\x03\x03\x00\x01\x01\x16\x03\x03\x00\x28");
    resumed.extend_from_slice(&[0x0e; 0x28]);
    resumed.extend_from_slice(b"\x15\x03\x03\x00\x1a");
    resumed.extend_from_slice(&[2; 0x1a]);
    let (events, end) = hear(&resumed);
    assert_eq!(end, Ok(()));
    assert_eq!(
        events[1..],
        [
            Event::ChangeCipherSpec,
            Event::Encrypted { content_type: 22, bytes: 40 },
            Event::Encrypted { content_type: 21, bytes: 26 },
        ]
    );
}

#[test]
fn reads_every_extension_and_refuses_each_one_cut_or_too_long() {
    let extensions: &[(u16, &[u8])] = &[
        (0, &[]),
        (1, &[4]),
        (5, &[]),
        (11, &[1, 0]),
        (15, &[1]),
        (16, &[0, 3, 2, b'h', b'2']),
        (22, &[]),
        (23, &[]),
        (35, &[]),
        (0xff01, &[0]),
        (43, &[3, 4]),
        (44, &[0, 1, 9]),
        (51, &[0, 29, 0, 2, 7, 7]),
        (41, &[0, 3]),
        (18, &[1, 2, 3]),
        (0x1a2b, &[9, 9]),
    ];
    let block = |bodies: &[(u16, Vec<u8>)]| {
        let mut out = Vec::new();
        for (extension_type, body) in bodies {
            out.extend_from_slice(&extension_type.to_be_bytes());
            out.extend_from_slice(&u16::try_from(body.len()).unwrap().to_be_bytes());
            out.extend_from_slice(body);
        }
        out
    };
    let whole: Vec<(u16, Vec<u8>)> = extensions.iter().map(|(code, body)| (*code, body.to_vec())).collect();
    let (events, end) = hear(&in_records(&server_hello(0x0303, 0x1301, &block(&whole))));
    assert_eq!(end, Ok(()));
    let seen = &hello_of(&events).extensions;
    let expected = ServerExtensions {
        types: whole.iter().map(|(code, _)| *code).collect(),
        extended_master_secret: true,
        encrypt_then_mac: true,
        session_ticket: true,
        renegotiation_info: Some(vec![]),
        heartbeat: Some(1),
        alpn: Some(b"h2".to_vec()),
        key_share_group: Some(29),
        key_share: vec![7, 7],
        pre_shared_key: Some(3),
        status_request: true,
        ec_point_formats: Some(vec![0]),
        supported_version: Some(Version::TLS13),
        cookie: Some(vec![9]),
        max_fragment_length: Some(4),
        server_name: true,
        signed_certificate_timestamp_bytes: Some(3),
    };
    assert_eq!(*seen, expected);
    for (index, (code, body)) in whole.iter().enumerate() {
        if matches!(code, 18 | 0x1a2b) {
            continue; // Not looked into.
        }
        for length in (0..body.len()).chain([body.len() + 1]) {
            let mut altered = whole.clone();
            altered[index].1.resize(length, 0);
            let (events, end) = hear(&in_records(&server_hello(0x0303, 0x1301, &block(&altered))));
            assert!(events.is_empty() && end.is_err(), "extension {code} with {length} bytes");
        }
    }
}

#[test]
fn reads_a_ticket_and_refuses_it_cut() {
    let body = [0, 0, 0x1c, 0x20, 0, 4, 1, 2, 3, 4];
    let (events, end) = hear(&after_hello(NEW_SESSION_TICKET, &body));
    assert_eq!(end, Ok(()));
    let expected = NewSessionTicket { lifetime_s: 7200, ticket: vec![1, 2, 3, 4] };
    assert_eq!(events[1], Event::NewSessionTicket(expected));
    for cut in 0..body.len() {
        assert!(hear(&after_hello(NEW_SESSION_TICKET, &body[..cut])).1.is_err(), "cut at {cut}");
    }
}

#[test]
fn hears_a_heartbeat_and_keeps_only_its_length() {
    let mut bytes = in_records(&server_hello(0x0303, 0xc02f, &[0, 15, 0, 1, 1]));
    bytes.extend_from_slice(b"\x18\x03\x03\x00\x06\x02\x00\x03abc");
    let (events, end) = hear(&bytes);
    assert_eq!((end, &events[1]), (Ok(()), &Event::Heartbeat { message_type: 2, bytes: 6 }));
}

#[test]
fn a_flight_can_be_used_again() {
    let mut flight = ServerFlight::new();
    flight.push(b"\x16\x03\x03\x00\x00");
    assert!(flight.next_event().is_err());
    flight.reset();
    assert!(!flight.is_over() && flight.rest().is_empty());
    flight.push(&named("alert-no-suite"));
    assert!(matches!(flight.next_event(), Ok(Some(Event::Alert(_)))));
}

#[test]
fn reads_explicit_curves_and_export_keys() {
    let exchange = |cipher_suite, body: &[u8]| {
        let hello = server_hello(0x0301, cipher_suite, &[]);
        let bytes = in_records(&[hello, message(SERVER_KEY_EXCHANGE, body)].concat());
        let (events, end) = hear(&bytes);
        assert_eq!(end, Ok(()));
        key_exchange_of(&events).clone()
    };
    let prime = [
        &[1, 2, 0x7f, 0xff][..],
        &[1, 2],
        &[1, 3],
        &[3, 4, 5, 6],
        &[2, 0x0f, 1],
        &[1, 1],
        &[1, 4],
        &[0, 1, 9],
    ];
    let ServerParameters::Ecdhe { curve: EcParameters::ExplicitPrime { prime, order }, .. } =
        exchange(0xc013, &prime.concat()).parameters
    else {
        panic!()
    };
    assert_eq!((prime.bits(), order.bits()), (15, 12));
    let char2 = [
        &[2, 0, 163, 2][..],
        &[1, 3, 1, 6, 1, 7],
        &[1, 1, 1, 1],
        &[1, 4],
        &[1, 5],
        &[1, 2],
        &[1, 4],
        &[0, 1, 9],
    ];
    let ServerParameters::Ecdhe { curve: EcParameters::ExplicitChar2 { field_bits, order }, .. } =
        exchange(0xc013, &char2.concat()).parameters
    else {
        panic!()
    };
    assert_eq!((field_bits, order.bits()), (163, 3));
    let export = [&[0, 64][..], &[0x80; 64], &[0, 3, 1, 0, 1], &[0, 2, 8, 8]];
    let ServerParameters::RsaExport { modulus, .. } = exchange(0x0003, &export.concat()).parameters else {
        panic!()
    };
    assert_eq!(modulus.bits(), 512);
    assert_eq!(BigNumber(vec![0, 0]).bits(), 0);
}

#[test]
fn agrees_with_tls_parser() {
    use tls_parser::{TlsMessage, TlsMessageHandshake as Theirs};
    for recording in crate::recorded::all() {
        let (events, _) = hear(&recording.bytes);
        for message in messages(&recording.bytes) {
            let (rest, TlsMessage::Handshake(theirs)) =
                tls_parser::parse_tls_message_handshake(&message).unwrap()
            else {
                panic!()
            };
            assert!(rest.is_empty());
            let name = &recording.name;
            match theirs {
                Theirs::ServerHello(theirs)
                    if !events.iter().any(|e| matches!(e, Event::HelloRetryRequest(_))) =>
                {
                    let ours = hello_of(&events);
                    assert_eq!(ours.legacy_version.0, theirs.version.0, "{name}");
                    assert_eq!(ours.random, theirs.random, "{name}");
                    assert_eq!(ours.session_id, theirs.session_id.unwrap_or_default(), "{name}");
                    assert_eq!(ours.cipher_suite, theirs.cipher.0, "{name}");
                    assert_eq!(ours.compression_method, theirs.compression.0, "{name}");
                    let extensions = theirs.ext.unwrap_or_default();
                    let (_, extensions) = tls_parser::parse_tls_extensions(extensions).unwrap();
                    let types: Vec<u16> = extensions
                        .iter()
                        .map(|theirs| tls_parser::TlsExtensionType::from(theirs).0)
                        .collect();
                    assert_eq!(ours.extensions.types, types, "{name}");
                }
                Theirs::Certificate(theirs) => {
                    let theirs =
                        theirs.cert_chain.iter().map(|certificate| certificate.data.to_vec()).collect();
                    assert!(events.contains(&Event::Certificate(theirs)), "{name}");
                }
                Theirs::ServerKeyExchange(theirs) => {
                    agrees_on_the_key(key_exchange_of(&events), theirs.parameters, name);
                }
                _ => {}
            }
        }
    }
}

fn agrees_on_the_key(ours: &ServerKeyExchange, theirs: &[u8], name: &str) {
    let theirs = match ours.psk_identity_hint_bytes {
        Some(hint) => &theirs[2 + hint..],
        None => theirs,
    };
    let rest = match &ours.parameters {
        ServerParameters::Dhe { p, g, public_key } => {
            let (rest, theirs) = tls_parser::parse_dh_params(theirs).unwrap();
            assert_eq!(
                (&p.0[..], &g.0[..], &public_key.0[..]),
                (theirs.dh_p, theirs.dh_g, theirs.dh_ys),
                "{name}"
            );
            rest
        }
        ServerParameters::Ecdhe { curve: EcParameters::Named(group), point } => {
            let (rest, theirs) = tls_parser::parse_ecdh_params(theirs).unwrap();
            let tls_parser::ECParametersContent::NamedGroup(their_group) = theirs.curve_params.params_content
            else {
                panic!()
            };
            assert_eq!((*group, &point[..]), (their_group.0, theirs.public.point), "{name}");
            rest
        }
        other => panic!("{other:?}"),
    };
    match &ours.signature {
        None => assert!(rest.is_empty(), "{name}"),
        Some(Signature { scheme: None, bytes }) => {
            let (rest, theirs) = tls_parser::parse_digitally_signed_old.parse(rest).unwrap();
            assert_eq!((*bytes, rest.len()), (theirs.data.len(), 0), "{name}");
        }
        Some(Signature { scheme: Some(scheme), bytes }) => {
            let (rest, theirs) = tls_parser::parse_digitally_signed(rest).unwrap();
            let algorithm = theirs.alg.unwrap();
            assert_eq!(*scheme, u16::from_be_bytes([algorithm.hash.0, algorithm.sign.0]), "{name}");
            assert_eq!((*bytes, rest.len()), (theirs.data.len(), 0), "{name}");
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_panic_and_cuts_do_not_matter(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        step in 1_usize..40,
        start in 0_usize..4,
    ) {
        // Noise alone never gets beyond the first bytes; so it also stands behind some that lead further in.
        let hello = in_records(&server_hello(0x0303, 0xc02f, &[]));
        let starts = [&[][..], &[22, 3, 3], &[22, 3, 1, 0, 200, 2, 0, 0], &hello];
        let bytes = [starts[start], &bytes].concat();
        prop_assert_eq!(hear_in_parts(bytes.chunks(step)), hear(&bytes));
    }

    #[test]
    fn altered_recordings_never_panic_and_cuts_do_not_matter(
        which in 0_usize..20,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        step in 1_usize..200,
    ) {
        let recordings = crate::recorded::all();
        let mut bytes = recordings[which % recordings.len()].bytes.clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        prop_assert_eq!(hear_in_parts(bytes.chunks(step)), hear(&bytes));
    }
}

/// Every server that was recorded (`testdata/servers/README.md` says where each came from), and the version that it settled
/// for when TLS 1.3, 1.2 with ECDHE, 1.2 with DHE and 1.0 were offered; `-` where it refused.
const SERVERS: &[(&str, &str, wire::Flavour, [&str; 4])] = &[
    ("dolt-go-mysql-server-0.20", "8.0.33", wire::Flavour::MySql, ["TLS 1.3", "TLS 1.2", "-", "-"]),
    ("mariadb-10.1.23", "10.1.23", wire::Flavour::MariaDb, ["-", "TLS 1.1", "-", "TLS 1.0"]),
    ("mariadb-10.11.19", "10.11.19", wire::Flavour::MariaDb, ["TLS 1.3", "TLS 1.2", "TLS 1.2", "-"]),
    ("mariadb-10.11.5-wolfssl", "10.11.5", wire::Flavour::MariaDb, ["retry", "TLS 1.2", "-", "-"]),
    ("mariadb-10.2.11", "10.2.11", wire::Flavour::MariaDb, ["-", "-", "-", "TLS 1.0"]),
    ("mariadb-11.4.5-wolfssl", "11.4.5", wire::Flavour::MariaDb, ["retry", "TLS 1.2", "-", "-"]),
    ("mariadb-11.8.6", "11.8.6", wire::Flavour::MariaDb, ["TLS 1.3", "TLS 1.2", "TLS 1.2", "-"]),
    ("mysql-5.5.9", "5.5.9", wire::Flavour::MySql, ["-", "TLS 1.0", "-", "TLS 1.0"]),
    ("mysql-5.6.24", "5.6.24", wire::Flavour::MySql, ["-", "TLS 1.0", "-", "TLS 1.0"]),
    ("mysql-9.7.4", "9.7.4", wire::Flavour::MySql, ["retry", "TLS 1.2", "TLS 1.2", "-"]),
];

#[test]
fn reads_every_recorded_server_as_it_is() {
    let directory = format!("{}/testdata/servers", env!("CARGO_MANIFEST_DIR"));
    let recorded =
        std::fs::read_dir(directory).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir());
    assert_eq!(recorded.count(), SERVERS.len(), "a recording without a row");
    for (name, version, flavour, settled) in SERVERS {
        let path = format!("{}/testdata/servers/{name}/greeting.bin", env!("CARGO_MANIFEST_DIR"));
        let bytes = std::fs::read(path).unwrap();
        let Ok(wire::FirstPacket::Greeting(greeting)) = wire::greeting::parse(&bytes[4..]) else { panic!() };
        assert!(greeting.offers_tls() && greeting.flavour().flavour == *flavour, "{name}: {greeting:?}");
        assert!(greeting.version_text().starts_with(version), "{}", greeting.version_text());
        for cut in 4..bytes.len() {
            let _ = wire::greeting::parse(&bytes[4..cut]);
        }
        for (question, version) in ["tls13", "tls12-ecdhe", "tls12-dhe", "tls10"].iter().zip(settled) {
            let bytes = crate::recorded::server(name, question);
            let whole = hear(&bytes);
            assert_eq!(hear_in_parts(bytes.chunks(1)), whole, "{name} {question}");
            let heard = whole.0.iter().find_map(|event| match event {
                Event::ServerHello(hello) => Some(hello.version.name().unwrap()),
                Event::HelloRetryRequest(_) => Some("retry"),
                _ => None,
            });
            assert_eq!(heard.unwrap_or("-"), *version, "{name} {question}: {:?}", whole.0);
            for cut in 0..bytes.len() {
                let (heard, _) = hear(&bytes[..cut]);
                assert!(heard.len() <= whole.0.len(), "{name} {question} cut at {cut}");
            }
        }
    }
    // MySQL 9.7 takes P-256 and its like only: a share of X25519 alone makes it ask for another.
    let (events, _) = hear(&crate::recorded::server("mysql-9.7.4", "tls13"));
    assert!(
        matches!(events.as_slice(), [Event::HelloRetryRequest(retry), ..] if retry.group == Some(0x0017)),
        "{events:?}"
    );
    // yaSSL: a refusal is an error packet in clear, whose length looks like a handshake record.
    let (events, _) = hear(&crate::recorded::server("mysql-5.5.9", "refused"));
    assert_eq!(events, [Event::NotTls]);
}
