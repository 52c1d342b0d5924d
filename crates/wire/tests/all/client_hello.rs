//! What we say: read back by another's parser, whole and in pieces.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use proptest::prelude::*;
use tls_parser::{TlsMessage, TlsMessageHandshake};
use wire::tls::registry::{Version, extensions as extension, groups, signature_schemes as schemes};
use wire::tls::{ClientHello, HelloError, KeyShare, PreSharedKey, key_share};

/// Takes records apart: the handshake bytes, and the lengths of the records.
fn records(mut bytes: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let (mut joined, mut lengths) = (Vec::new(), Vec::new());
    while let [22, 3, _, l0, l1, rest @ ..] = bytes {
        let (body, tail) = rest.split_at(usize::from(u16::from_be_bytes([*l0, *l1])));
        joined.extend_from_slice(body);
        lengths.push(body.len());
        bytes = tail;
    }
    assert!(bytes.is_empty());
    (joined, lengths)
}

struct Theirs {
    version: u16,
    session_id: Vec<u8>,
    suites: Vec<u16>,
    compression: Vec<u8>,
    /// Type and body of each extension.
    extensions: Option<Vec<(u16, Vec<u8>)>>,
}

fn read_back(message: &[u8]) -> Theirs {
    let (rest, TlsMessage::Handshake(TlsMessageHandshake::ClientHello(hello))) =
        tls_parser::parse_tls_message_handshake(message).unwrap()
    else {
        panic!()
    };
    assert!(rest.is_empty());
    let extensions = hello.ext.map(|mut rest| {
        let mut found = Vec::new();
        while let [t0, t1, l0, l1, tail @ ..] = rest {
            let (body, tail) = tail.split_at(usize::from(u16::from_be_bytes([*l0, *l1])));
            found.push((u16::from_be_bytes([*t0, *t1]), body.to_vec()));
            rest = tail;
        }
        assert!(rest.is_empty());
        found
    });
    Theirs {
        version: hello.version.0,
        session_id: hello.session_id.unwrap_or_default().to_vec(),
        suites: hello.ciphers.iter().map(|suite| suite.0).collect(),
        compression: hello.comp.iter().map(|method| method.0).collect(),
        extensions,
    }
}

fn encoded(hello: &ClientHello<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    hello.encode(&mut out).unwrap();
    out
}

fn full() -> ClientHello<'static> {
    ClientHello {
        session_id: &[9; 32],
        cipher_suites: &[0x1301, 0xc02f],
        server_name: Some("db1.example."),
        supported_versions: &[Version::TLS13, Version::TLS12],
        groups: &[groups::X25519_MLKEM768, groups::X25519],
        ec_point_formats: &[0],
        key_shares: Some(&[
            KeyShare { group: groups::X25519_MLKEM768, key: &key_share::X25519_MLKEM768 },
            KeyShare { group: groups::X25519, key: &key_share::X25519 },
        ]),
        signature_algorithms: &[schemes::ED25519],
        signature_algorithms_cert: &[schemes::RSA_PKCS1_SHA256],
        alpn: &[b"mysql", b"x"],
        session_ticket: Some(&[]),
        extended_master_secret: true,
        encrypt_then_mac: true,
        renegotiation_info: Some(&[]),
        status_request: true,
        signed_certificate_timestamp: true,
        heartbeat: Some(1),
        max_fragment_length: Some(4),
        psk_key_exchange_modes: &[1],
        early_data: true,
        post_handshake_auth: true,
        cookie: Some(b"c"),
        other_extensions: &[(0x2a2a, &[])],
        pre_shared_key: Some(PreSharedKey { identity: b"t", obfuscated_ticket_age: 7, binder: &[3; 32] }),
        ..ClientHello::new([7; 32])
    }
}

#[test]
fn a_hello_with_everything_reads_back() {
    let bytes = encoded(&full());
    let (message, lengths) = records(&bytes);
    assert_eq!(lengths.len(), 1);
    let theirs = read_back(&message);
    assert_eq!((theirs.version, &theirs.suites[..]), (0x0303, &[0x1301, 0xc02f][..]));
    assert_eq!((&theirs.session_id[..], &theirs.compression[..]), (&[9; 32][..], &[0][..]));
    let extensions = theirs.extensions.unwrap();
    let types: Vec<u16> = extensions.iter().map(|(extension_type, _)| *extension_type).collect();
    assert_eq!(
        types,
        [0, 1, 5, 10, 11, 13, 15, 16, 18, 22, 23, 35, 0xff01, 43, 44, 45, 49, 50, 51, 42, 0x2a2a, 41]
    );
    let body =
        |wanted| &extensions.iter().find(|(extension_type, _)| *extension_type == wanted).unwrap().1[..];
    assert_eq!(body(extension::SERVER_NAME), b"\x00\x0e\x00\x00\x0bdb1.example");
    assert_eq!(body(extension::ALPN), b"\x00\x08\x05mysql\x01x");
    assert_eq!(body(extension::SUPPORTED_VERSIONS), [4, 3, 4, 3, 3]);
    assert_eq!(body(extension::KEY_SHARE).len(), 2 + 4 + 1216 + 4 + 32);
    assert_eq!(body(extension::COOKIE), [0, 1, b'c']);
    assert_eq!(body(extension::PRE_SHARED_KEY)[..9], [0, 7, 0, 1, b't', 0, 0, 0, 7]);
    assert_eq!(full().binders_bytes(), 2 + 1 + 32);
    let mut unframed = Vec::new();
    full().encode_message(&mut unframed).unwrap();
    assert_eq!(unframed, message);
}

#[test]
fn a_hello_of_ssl_3_has_no_extensions_at_all() {
    let hello = ClientHello {
        record_version: Version::SSL3,
        legacy_version: Version::SSL3,
        cipher_suites: &[0x0005, 0x00ff],
        compression_methods: &[1, 0],
        ..ClientHello::new([1; 32])
    };
    let bytes = encoded(&hello);
    assert_eq!(bytes[..3], [22, 3, 0]);
    let theirs = read_back(&records(&bytes).0);
    assert_eq!(
        (theirs.version, theirs.extensions.is_none(), &theirs.compression[..]),
        (0x0300, true, &[1, 0][..])
    );
    assert_eq!(bytes.len(), 5 + 4 + 2 + 32 + 1 + 2 + 4 + 1 + 2);
}

#[test]
fn an_empty_list_of_shares_is_sent() {
    let hello = ClientHello { key_shares: Some(&[]), ..ClientHello::new([1; 32]) };
    let theirs = read_back(&records(&encoded(&hello)).0);
    assert_eq!(theirs.extensions.unwrap(), [(extension::KEY_SHARE, vec![0, 0])]);
}

#[test]
fn addresses_are_no_server_names() {
    for (name, is_sent) in [
        ("db1", true),
        ("10.example", true),
        ("192.0.2.1", false),
        ("::1", false),
        ("[::1]", false),
        ("fe80::1%eth0", false),
        ("", false),
    ] {
        let hello = ClientHello { server_name: Some(name), ..ClientHello::new([1; 32]) };
        assert_eq!(read_back(&records(&encoded(&hello)).0).extensions.is_some(), is_sent, "{name}");
    }
}

#[test]
fn padding_fills_up_to_the_byte() {
    let message = |hello: &ClientHello<'_>| {
        let mut out = Vec::new();
        hello.encode_message(&mut out).unwrap();
        out
    };
    let plain = message(&full()).len();
    for wanted in plain + 5..plain + 40 {
        let padded = ClientHello { padded_to_bytes: Some(wanted), ..full() };
        assert_eq!(message(&padded).len(), wanted);
    }
    assert_eq!(message(&ClientHello { padded_to_bytes: Some(10), ..full() }).len(), plain);
}

#[test]
fn long_hellos_go_into_several_records() {
    for record_bytes_max in [1, 7, 100, 1 << 14] {
        let long = vec![0x5a; 40_000];
        let hello = ClientHello { other_extensions: &[(0xfafa, &long)], record_bytes_max, ..full() };
        let mut bytes = b"before".to_vec();
        hello.encode(&mut bytes).unwrap();
        let (message, lengths) = records(bytes.strip_prefix(b"before").unwrap());
        let (last, others) = lengths.split_last().unwrap();
        assert!(others.iter().all(|length| *length == usize::from(record_bytes_max)));
        assert!((1..=usize::from(record_bytes_max)).contains(last));
        let theirs = read_back(&message);
        assert!(theirs.extensions.unwrap().contains(&(0xfafa, long)));
    }
}

#[test]
fn a_field_that_does_not_fit_is_refused_and_leaves_no_bytes() {
    let long = vec![0; 70_000];
    let protocol = vec![0; 256];
    let share = [KeyShare { group: 1, key: &long }];
    let suites = vec![0x1301; 40_000];
    let too_long = |hello: ClientHello<'_>| {
        let mut out = vec![1];
        let error = hello.encode(&mut out).unwrap_err();
        assert_eq!(out, [1]);
        match error {
            HelloError::FieldTooLong { field, bytes, max } => {
                assert!(bytes > max, "{error}");
                field
            }
            HelloError::RecordBytes(_) => "record",
        }
    };
    let new = || ClientHello::new([0; 32]);
    assert_eq!(too_long(ClientHello { session_id: &protocol, ..new() }), "session_id");
    assert_eq!(too_long(ClientHello { cipher_suites: &suites, ..new() }), "cipher_suites");
    assert_eq!(too_long(ClientHello { alpn: &[&protocol], ..new() }), "a protocol of ALPN");
    assert_eq!(too_long(ClientHello { key_shares: Some(&share), ..new() }), "a key share");
    assert_eq!(too_long(ClientHello { session_ticket: Some(&long), ..new() }), "an extension");
    assert_eq!(too_long(ClientHello { padded_to_bytes: Some(usize::MAX), ..new() }), "padding");
    assert_eq!(too_long(ClientHello { record_bytes_max: 0, ..new() }), "record");
    let half = vec![0; 40_000];
    let two = [(1, &half[..]), (2, &half[..])];
    assert_eq!(too_long(ClientHello { other_extensions: &two, ..new() }), "extensions");
}

#[test]
fn the_buffer_is_reused() {
    let mut out = Vec::new();
    full().encode(&mut out).unwrap();
    let capacity = out.capacity();
    for _ in 0..10 {
        out.clear();
        full().encode(&mut out).unwrap();
        assert_eq!(out.capacity(), capacity);
    }
}

proptest! {
    #[test]
    fn any_hello_reads_back(
        suites in proptest::collection::vec(any::<u16>(), 1..400),
        session_id in proptest::collection::vec(any::<u8>(), 0..=32),
        random in any::<[u8; 32]>(),
        group_list in proptest::collection::vec(any::<u16>(), 0..50),
        record_bytes_max in 1_u16..2000,
        version in 0x0300_u16..=0x0303,
    ) {
        let hello = ClientHello {
            legacy_version: Version(version),
            session_id: &session_id,
            cipher_suites: &suites,
            groups: &group_list,
            record_bytes_max,
            ..ClientHello::new(random)
        };
        let (message, _) = records(&encoded(&hello));
        let theirs = read_back(&message);
        prop_assert_eq!((theirs.version, theirs.suites, theirs.session_id), (version, suites, session_id));
        prop_assert_eq!(&message[6..38], &random);
        let groups_back = theirs.extensions.unwrap_or_default().into_iter().next().map(|(_, body)| body.len());
        prop_assert_eq!(groups_back, (!group_list.is_empty()).then_some(2 + 2 * group_list.len()));
    }
}
