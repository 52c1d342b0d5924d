//! `prove sniff` from files and from a real interface.
#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use in_namespace::may_capture;
use prove_ops::sniff::{Sniffed, Source, What, Word, Words, sniff, words};
use wire::{Capabilities, Greeting, HandshakeResponse, SslRequest};

#[path = "../../capture/tests/in_namespace/mod.rs"]
mod in_namespace;

const CANARY: &str = "SLCANARY00000000000000b1";

fn recording(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../prove/testdata/sniff").join(name)
}

fn file(path: PathBuf) -> Result<Sniffed, site::OpsError> {
    sniff(&Source::File(path), &[], Words::default(), &AtomicBool::new(false), &mut |_| ())
}

#[test]
fn a_file_is_read_and_one_that_is_cut_says_so() {
    let whole = file(recording("query.pcap")).unwrap();
    assert!(whole.report.is_readable() && whole.doubts.is_empty(), "{:?}", whole.doubts);
    assert_eq!(whole.report.looked_at(), 1);
    assert!(!file(recording("tls.pcap")).unwrap().report.is_readable());
    let dir = tempfile::tempdir().unwrap();
    let cut = dir.path().join("cut.pcap");
    let bytes = std::fs::read(recording("query.pcap")).unwrap();
    std::fs::write(&cut, &bytes[..bytes.len() - 5]).unwrap();
    assert_eq!(file(cut).unwrap().doubts, ["the file ends in the middle of a packet"]);
    // Damage amid the file: what came before is told.
    let damaged = dir.path().join("damaged.pcap");
    std::fs::write(&damaged, [&bytes[..], &[0xff; 16]].concat()).unwrap();
    let damaged = file(damaged).unwrap();
    assert!(damaged.report.is_readable() && damaged.doubts[0].contains("damaged"), "{:?}", damaged.doubts);
}

#[test]
fn what_is_no_capture_cannot_be_looked_at() {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes, text) in [
        ("text", &b"GET / HTTP/1.1\r\n"[..], "neither pcap nor pcapng"),
        ("empty", b"", "it is empty"),
        ("gzip", b"\x1f\x8b\x08\x00\x00\x00", "zcat"),
    ] {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let error = file(path).unwrap_err();
        assert_eq!(error.exit_code(), 3, "{name}");
        assert!(error.to_string().contains(text), "{name}: {error}");
    }
    assert_eq!(file(dir.path().join("nothing")).unwrap_err().exit_code(), 3);
}

fn framed(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let (mut out, mut sequence) = (vec![], sequence);
    wire::packet::write_payload(&mut out, &mut sequence, payload);
    out
}

/// One login in clear and a query with a canary, on a port that nobody knows.
fn talk(listener: &TcpListener) {
    let greeting = wire::greeting::encode(&Greeting {
        protocol: 10,
        version: "8.4.3".into(),
        connection_id: 1,
        nonce: vec![7; 20],
        capabilities: Capabilities(0xffff_ffff),
        mariadb_capabilities: 0,
        charset: 45,
        status: 2,
        auth_plugin: Some("mysql_native_password".into()),
    });
    let capabilities = Capabilities::PROTOCOL_41
        | Capabilities::LONG_PASSWORD
        | Capabilities::SECURE_CONNECTION
        | Capabilities::PLUGIN_AUTH;
    let head = SslRequest { capabilities, mariadb_capabilities: 0, max_packet_bytes: 1, charset: 45 };
    let mut login = vec![];
    let auth_plugin = Some("mysql_native_password");
    HandshakeResponse {
        head,
        user: b"u",
        auth_response: &[9; 20],
        database: None,
        auth_plugin,
        attributes: vec![],
    }
    .encode(&mut login)
    .unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    let mut take = [0; 4096];
    server.write_all(&framed(0, &greeting)).unwrap();
    assert!(client.read(&mut take).unwrap() > 0);
    client.write_all(&framed(1, &login)).unwrap();
    assert!(server.read(&mut take).unwrap() > 0);
    server.write_all(&framed(2, &[0, 0, 0, 2, 0, 0, 0])).unwrap();
    assert!(client.read(&mut take).unwrap() > 0);
    client.write_all(&framed(0, format!("\x03SELECT '{CANARY}'").as_bytes())).unwrap();
    assert!(server.read(&mut take).unwrap() > 0);
}

#[test]
fn an_interface_is_listened_to_and_a_greeting_is_known_on_any_port() {
    if !may_capture("an_interface_is_listened_to_and_a_greeting_is_known_on_any_port") {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let stop = AtomicBool::new(false);
    let source = Source::Interface { name: "lo".into(), seconds: Some(60) };
    let sniffed = thread::scope(|scope| {
        let sniffing = scope.spawn(|| sniff(&source, &[], Words::default(), &stop, &mut |_| ()));
        // Nobody tells when it listens, so the talk is had until it must.
        for _ in 0..20 {
            talk(&listener);
            thread::sleep(Duration::from_millis(50));
        }
        stop.store(true, Ordering::Relaxed);
        sniffing.join().unwrap().unwrap()
    });
    let ours: Vec<_> = sniffed
        .report
        .listed
        .iter()
        .filter(|one| one.ends.a.port() == port || one.ends.b.port() == port)
        .collect();
    let seen = ours.iter().filter_map(|one| one.told.mysql.as_ref()).find(|seen| seen.queries == 1).unwrap();
    assert_eq!((seen.user.as_deref(), seen.logins.len()), (Some("u"), 1));
    assert!(ours.iter().any(|one| one.findings.iter().any(|finding| finding.what == What::Canary)));
}

#[test]
fn a_tunnel_on_an_interface_is_read_and_one_that_cannot_be_is_told() {
    if !may_capture("a_tunnel_on_an_interface_is_read_and_one_that_cannot_be_is_told") {
        return;
    }
    let mut frames = vec![];
    let bytes = std::fs::read(recording("query.pcap")).unwrap();
    let _ = capture::file::Reader::new().read(&bytes, &mut |packet| frames.push(packet.bytes.to_vec()));
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let stop = AtomicBool::new(false);
    let listening = AtomicBool::new(false);
    let source = Source::Interface { name: "lo".into(), seconds: Some(60) };
    let sniffed = thread::scope(|scope| {
        let sniffing = scope.spawn(|| {
            sniff(&source, &[], Words::default(), &stop, &mut |word| {
                if word == Word::Listening {
                    listening.store(true, Ordering::Release);
                }
            })
        });
        while !listening.load(Ordering::Acquire) {
            thread::sleep(Duration::from_millis(1));
        }
        for frame in &frames {
            let vxlan = [b"\x08\0\0\0\0\0\x05\0", frame.as_slice()].concat();
            socket.send_to(&vxlan, "127.0.0.1:4789").unwrap();
        }
        socket.send_to(&[7; 40], "127.0.0.1:1194").unwrap();
        stop.store(true, Ordering::Relaxed);
        sniffing.join().unwrap().unwrap()
    });
    // Who logs in there; other tests talk on lo meanwhile, as others.
    let mut inner = sniffed.report.listed.iter().filter_map(|one| one.told.mysql.as_ref());
    assert!(inner.any(|seen| seen.users == ["app"]), "{:#?}", sniffed.report);
    let openvpn = sniffed.doubts.iter().find(|doubt| doubt.contains("OpenVPN")).expect("it is told");
    assert!(openvpn.starts_with("1 packets were not decoded"), "{openvpn}");
}

#[test]
fn an_interface_that_is_not_there_cannot_be_looked_at() {
    let source = Source::Interface { name: "nosuch0".into(), seconds: Some(1) };
    let error = sniff(&source, &[], Words::default(), &AtomicBool::new(false), &mut |_| ()).unwrap_err();
    assert_eq!(error.exit_code(), 3, "{error}");
}

#[test]
fn words_come_from_the_command_line_and_a_file_and_are_never_repeated() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("words");
    std::fs::write(&path, "the-key\r\n\npw-of\n").unwrap();
    let all = words(&["SELECT".into()], Some(&path)).unwrap();
    assert_eq!(all.count(), 3);
    let source = Source::File(recording("secret.pcap"));
    let sniffed = sniff(&source, &[], all, &AtomicBool::new(false), &mut |_| ()).unwrap();
    let names: Vec<&str> = sniffed.report.canary_places.keys().map(|(name, _)| name.as_str()).collect();
    assert!(names.contains(&"given-2") && names.contains(&"given-3"), "{names:?}");
    let error = words(&["abc".into()], None).unwrap_err();
    assert!(error.exit_code() == 2 && !error.to_string().contains("abc"), "{error}");
    std::fs::write(&path, vec![b'x'; 20_000]).unwrap();
    assert_eq!(words(&[], Some(&path)).unwrap_err().exit_code(), 2);
}
