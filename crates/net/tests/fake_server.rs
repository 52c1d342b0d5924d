//! The client against servers that we play byte by byte: logins, TLS, result sets, and peers that cheat.
#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use net::*;
use openssl::asn1::Asn1Time;
use openssl::bn::BigNum;
use openssl::ec::{EcGroup, EcKey};
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{PKey, Private};
use openssl::ssl::{SslAcceptor, SslMethod, SslSessionCacheMode, SslStream, SslVerifyMode};
use openssl::x509::extension::{BasicConstraints, SubjectAlternativeName};
use openssl::x509::{X509, X509NameBuilder};
use wire::packet::write_payload;
use wire::{
    Capabilities, ColumnDef, ErrPacket, HandshakeResponse, OkPacket, PacketBuffer, SslRequest, answer,
    greeting,
};

const NONCE: &[u8] = b"abcdefghijklmnopqrst";
const PASSWORD: &str = "s3cret";
const LIBRARIES: [TlsLibrary; 2] = [TlsLibrary::OpenSsl, TlsLibrary::Rustls { resumes: Resumes::No }];
const OK: OkPacket = OkPacket { affected_rows: 0, last_insert_id: 0, status: 2, warnings: 0 };

/// A server's side of one connection.
struct Fake<S> {
    stream: S,
    incoming: PacketBuffer,
    sequence: u8,
}

impl<S: Read + Write> Fake<S> {
    fn new(stream: S, sequence: u8) -> Self {
        Self { stream, incoming: PacketBuffer::new(1 << 26), sequence }
    }

    fn send(&mut self, payload: &[u8]) {
        let mut out = Vec::new();
        write_payload(&mut out, &mut self.sequence, payload);
        self.stream.write_all(&out).unwrap();
    }

    fn receive(&mut self) -> Vec<u8> {
        while !self.incoming.has_packet().unwrap() {
            let stream = &mut self.stream;
            assert!(
                self.incoming.push_with(4096, |room| stream.read(room)).unwrap() > 0,
                "the client hung up"
            );
        }
        let packet = self.incoming.next_packet().unwrap().unwrap();
        self.sequence = packet.last_sequence.wrapping_add(1);
        packet.payload.to_vec()
    }

    /// The client must hang up without another byte.
    fn expect_silence(&mut self) {
        self.sequence = 0;
        let mut rest = Vec::new();
        let _ = self.stream.read_to_end(&mut rest);
        assert!(rest.is_empty(), "the client still said {rest:?}");
    }
}

fn capabilities() -> Capabilities {
    Capabilities::LONG_PASSWORD
        | Capabilities::PROTOCOL_41
        | Capabilities::SECURE_CONNECTION
        | Capabilities::PLUGIN_AUTH
        | Capabilities::PLUGIN_AUTH_LENENC_DATA
        | Capabilities::CONNECT_ATTRS
        | Capabilities::DEPRECATE_EOF
}

fn hello(plugin: &str, tls: bool) -> Vec<u8> {
    greeting::encode(&Greeting {
        protocol: 10,
        version: "8.4.0-fake".into(),
        connection_id: 77,
        nonce: NONCE.to_vec(),
        capabilities: if tls { capabilities() | Capabilities::SSL } else { capabilities() },
        mariadb_capabilities: 0,
        charset: 45,
        status: 2,
        auth_plugin: Some(plugin.into()),
    })
}

fn serve(play: impl FnOnce(TcpStream) + Send + 'static) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = thread::spawn(move || {
        let stream = listener.accept().unwrap().0;
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        play(stream);
    });
    (address, thread)
}

fn options(address: SocketAddr, mode: SslMode) -> ConnectOptions {
    ConnectOptions::new(Endpoint::tcp("127.0.0.1", address.port()), "app")
        .password(PASSWORD)
        .tls(TlsOptions::with_mode(mode))
        .for_login_only()
}

/// Plays a login, and one that answers what the session's settings are with these rows, twice.
fn keeps_its_settings(rows: &'static [&'static [u8]]) -> NetError {
    let (address, thread) = serve(move |stream| {
        let mut fake = Fake::new(stream, 0);
        fake.send(&hello("mysql_native_password", false));
        fake.receive();
        fake.send(&OK.encode(0));
        assert_eq!(fake.receive(), [wire::command::COM_RESET_CONNECTION]);
        fake.send(&OK.encode(0));
        for _ in 0..2 {
            assert!(fake.receive().starts_with(b"\x03SET "));
            fake.send(&OK.encode(0));
            assert!(fake.receive().starts_with(b"\x03SHOW SESSION VARIABLES"));
            for packet in [vec![2], column("Variable_name"), column("Value")] {
                fake.send(&packet);
            }
            for row in rows {
                fake.send(row);
            }
            fake.send(&OK.encode(0xfe));
            if rows.is_empty() {
                break;
            }
        }
    });
    let options = ConnectOptions { modes: SessionModes::Own, ..options(address, SslMode::Disabled) };
    let error = Client::connect(&options).unwrap_err();
    thread.join().unwrap();
    error
}

#[test]
fn a_session_that_keeps_a_hostile_setting_is_not_used() {
    const CUT: &[&[u8]] = &[b"\x10sql_select_limit\x041000"];
    const NOT_COMMITTED: &[&[u8]] =
        &[b"\x10sql_select_limit\x1418446744073709551615", b"\x0aautocommit\x03OFF"];
    for (rows, named) in [
        (CUT, ("sql_select_limit", "1000")),
        (NOT_COMMITTED, ("autocommit", "OFF")),
        // The answer is cut to nothing: nothing was verified.
        (&[], ("sql_select_limit", "not listed")),
    ] {
        let error = keeps_its_settings(rows);
        let NetError::Modes { setting, found, .. } = &error else { panic!("{error}") };
        assert_eq!((*setting, found.as_str()), named);
    }
}

/// Plays the greeting and a login with the native plugin, then `after`.
fn logged_in(after: impl FnOnce(&mut Fake<TcpStream>) + Send + 'static) -> (Client, JoinHandle<()>) {
    let (address, thread) = serve(move |stream| {
        let mut fake = Fake::new(stream, 0);
        fake.send(&hello("mysql_native_password", false));
        fake.receive();
        fake.send(&OK.encode(0));
        after(&mut fake);
    });
    (Client::connect(&options(address, SslMode::Disabled)).unwrap(), thread)
}

struct Pki {
    dir: tempfile::TempDir,
    ca: (X509, PKey<Private>),
    leaf: (X509, PKey<Private>),
}

impl Pki {
    fn new(san: &str) -> Self {
        let ca = certificate("test ca", None, None);
        let leaf = certificate("db1", Some(san), Some(&ca));
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("ca.pem"), ca.0.to_pem().unwrap()).unwrap();
        let client = certificate("client", Some("client"), Some(&ca));
        std::fs::write(dir.path().join("client.pem"), client.0.to_pem().unwrap()).unwrap();
        std::fs::write(dir.path().join("client.key"), client.1.private_key_to_pem_pkcs8().unwrap()).unwrap();
        Self { dir, ca, leaf }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn acceptor(&self, wants_client_certificate: bool) -> SslAcceptor {
        self.acceptor_with(wants_client_certificate, SslSessionCacheMode::SERVER)
    }

    fn acceptor_with(&self, wants_client_certificate: bool, remembers: SslSessionCacheMode) -> SslAcceptor {
        let mut builder = SslAcceptor::mozilla_intermediate_v5(SslMethod::tls_server()).unwrap();
        builder.set_certificate(&self.leaf.0).unwrap();
        builder.set_private_key(&self.leaf.1).unwrap();
        if wants_client_certificate {
            builder.cert_store_mut().add_cert(self.ca.0.clone()).unwrap();
            builder.set_verify(SslVerifyMode::PEER | SslVerifyMode::FAIL_IF_NO_PEER_CERT);
        }
        builder.set_session_cache_mode(remembers);
        builder.build()
    }
}

fn certificate(
    name: &str,
    san: Option<&str>,
    issuer: Option<&(X509, PKey<Private>)>,
) -> (X509, PKey<Private>) {
    let curve = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
    let key = PKey::from_ec_key(EcKey::generate(&curve).unwrap()).unwrap();
    let mut subject = X509NameBuilder::new().unwrap();
    subject.append_entry_by_nid(Nid::COMMONNAME, name).unwrap();
    let subject = subject.build();
    let mut builder = X509::builder().unwrap();
    builder.set_version(2).unwrap();
    let serial = BigNum::from_u32(if issuer.is_some() { 2 } else { 1 }).unwrap().to_asn1_integer().unwrap();
    builder.set_serial_number(&serial).unwrap();
    builder.set_subject_name(&subject).unwrap();
    builder.set_issuer_name(issuer.map_or(&*subject, |(ca, _)| ca.subject_name())).unwrap();
    builder.set_pubkey(&key).unwrap();
    builder.set_not_before(&Asn1Time::days_from_now(0).unwrap()).unwrap();
    builder.set_not_after(&Asn1Time::days_from_now(2).unwrap()).unwrap();
    if issuer.is_none() {
        builder.append_extension(BasicConstraints::new().critical().ca().build().unwrap()).unwrap();
    }
    if let Some(san) = san {
        let mut extension = SubjectAlternativeName::new();
        if san.parse::<std::net::IpAddr>().is_ok() {
            extension.ip(san)
        } else {
            extension.dns(san)
        };
        let extension = extension.build(&builder.x509v3_context(issuer.map(|(ca, _)| &**ca), None)).unwrap();
        builder.append_extension(extension).unwrap();
    }
    builder.sign(issuer.map_or(&key, |(_, key)| key), MessageDigest::sha256()).unwrap();
    (builder.build(), key)
}

/// Greets, takes the SSLRequest, does TLS; `None` when the client gave up in the handshake.
fn greet_and_tls(
    stream: TcpStream,
    acceptor: &SslAcceptor,
    plugin: &str,
) -> Option<Fake<SslStream<TcpStream>>> {
    let mut fake = Fake::new(stream, 0);
    fake.send(&hello(plugin, true));
    // Not one byte more: the ClientHello may be there already, and it is for the acceptor.
    let mut request = [0; 36];
    fake.stream.read_exact(&mut request).unwrap();
    SslRequest::parse(&request[4..]).unwrap();
    let sequence = request[3] + 1;
    acceptor.accept(fake.stream).ok().map(|stream| Fake::new(stream, sequence))
}

#[test]
fn logs_in_with_the_native_password_and_tells_who_it_is() {
    let (address, thread) = serve(|stream| {
        let mut fake = Fake::new(stream, 0);
        fake.send(&hello("mysql_native_password", false));
        let payload = fake.receive();
        let login = HandshakeResponse::parse(&payload).unwrap();
        assert_eq!(login.user, b"app");
        assert_eq!(login.auth_response, net::auth::scramble_native(PASSWORD.as_bytes(), NONCE));
        assert_eq!(login.auth_plugin, Some("mysql_native_password"));
        assert_eq!(login.database, Some(&b"shop"[..]));
        assert!(login.attributes.contains(&("_client_name", "sealion")));
        fake.send(&OK.encode(0));
        assert_eq!(fake.receive(), [wire::command::COM_QUIT]);
    });
    let client = Client::connect(&options(address, SslMode::Preferred).database("shop")).unwrap();
    assert_eq!((client.connection_id(), client.server_version()), (77, "8.4.0-fake"));
    assert!(client.tls().is_none(), "PREFERRED falls back where TLS is not offered");
    client.quit().unwrap();
    thread.join().unwrap();
}

#[test]
fn follows_a_switch_to_sha2_and_takes_the_fast_path() {
    let (address, thread) = serve(|stream| {
        let mut fake = Fake::new(stream, 0);
        fake.send(&hello("sha256_password", false));
        fake.receive();
        fake.send(&answer::encode_auth_switch("caching_sha2_password", NONCE));
        assert_eq!(fake.receive(), net::auth::scramble_caching_sha2(PASSWORD.as_bytes(), NONCE));
        fake.send(&[1, 3]);
        fake.send(&OK.encode(0));
    });
    Client::connect(&options(address, SslMode::Disabled)).unwrap();
    thread.join().unwrap();
}

#[test]
fn full_sha2_authentication_without_tls_is_refused_and_sends_nothing() {
    let (address, thread) = serve(|stream| {
        let mut fake = Fake::new(stream, 0);
        fake.send(&hello("caching_sha2_password", false));
        fake.receive();
        fake.send(&[1, 4]);
        fake.expect_silence();
    });
    let error = Client::connect(&options(address, SslMode::Preferred)).unwrap_err();
    assert!(matches!(error, NetError::Unsupported { .. }), "{error}");
    thread.join().unwrap();
}

#[test]
fn full_sha2_authentication_over_tls_sends_the_password_inside() {
    let pki = Pki::new("127.0.0.1");
    let acceptor = pki.acceptor(false);
    let (address, thread) = serve(move |stream| {
        let mut fake = greet_and_tls(stream, &acceptor, "caching_sha2_password").unwrap();
        fake.receive();
        fake.send(&[1, 4]);
        assert_eq!(fake.receive(), b"s3cret\0");
        fake.send(&OK.encode(0));
    });
    let client = Client::connect(&options(address, SslMode::Required)).unwrap();
    let tls = client.tls().unwrap();
    assert_eq!((tls.version.as_str(), tls.verified), ("TLSv1.3", Verified::Nothing));
    assert_eq!(tls.leaf_der().unwrap(), pki.leaf.0.to_der().unwrap());
    assert!(tls.leaf_pem().unwrap().starts_with("-----BEGIN CERTIFICATE"));
    thread.join().unwrap();
}

#[test]
fn a_clear_password_asked_for_by_an_unproven_peer_stays_here() {
    let pki = Pki::new("127.0.0.1");
    let acceptor = pki.acceptor(false);
    let (address, thread) = serve(move |stream| {
        let mut fake = greet_and_tls(stream, &acceptor, "mysql_native_password").unwrap();
        fake.receive();
        fake.send(&answer::encode_auth_switch("mysql_clear_password", b""));
        fake.expect_silence();
    });
    let error = Client::connect(&options(address, SslMode::Required)).unwrap_err();
    assert!(matches!(error, NetError::Unsupported { .. }), "{error}");
    assert!(!format!("{error} {error:?}").contains(PASSWORD));
    thread.join().unwrap();
}

#[test]
fn each_ssl_mode_accepts_just_the_certificates_it_should() {
    use SslMode::{Preferred, Required, VerifyCa, VerifyIdentity};
    let ours = Pki::new("127.0.0.1");
    let theirs = Pki::new("127.0.0.1");
    let elsewhere = Pki::new("db9.example");
    let cases = [
        (&ours, &ours, Preferred, None),
        (&ours, &ours, VerifyCa, None),
        (&ours, &ours, VerifyIdentity, None),
        (&theirs, &ours, Required, None),
        (&theirs, &ours, VerifyCa, Some(TlsFault::ChainNotTrusted)),
        (&theirs, &ours, VerifyIdentity, Some(TlsFault::ChainNotTrusted)),
        (&elsewhere, &elsewhere, VerifyCa, None),
        (&elsewhere, &elsewhere, VerifyIdentity, Some(TlsFault::NameMismatch)),
    ];
    for (library, (server, trusted, mode, expected)) in
        LIBRARIES.into_iter().flat_map(|library| cases.map(|case| (library, case)))
    {
        let acceptor = server.acceptor(false);
        let (address, thread) = serve(move |stream| {
            if let Some(mut fake) = greet_and_tls(stream, &acceptor, "mysql_native_password")
                && expected.is_none()
            {
                fake.receive();
                fake.send(&OK.encode(0));
            }
        });
        let mut options = options(address, mode);
        options.tls.ca = Some(trusted.path("ca.pem"));
        options.tls.library = library;
        match (Client::connect(&options), expected) {
            (Ok(client), None) => assert!(client.tls().is_some()),
            (Err(NetError::Tls { fault, .. }), Some(expected)) => {
                assert_eq!(fault, expected, "{library:?} {mode}");
            }
            (other, expected) => panic!("{library:?} {mode}: expected {expected:?}, got {other:?}"),
        }
        thread.join().unwrap();
    }
}

#[test]
fn required_never_falls_back_and_sends_no_login() {
    let modes = [SslMode::Required, SslMode::VerifyCa, SslMode::VerifyIdentity];
    for (library, mode) in LIBRARIES.into_iter().flat_map(|library| modes.map(|mode| (library, mode))) {
        let pki = Pki::new("127.0.0.1");
        let (address, thread) = serve(|stream| {
            let mut fake = Fake::new(stream, 0);
            fake.send(&hello("mysql_native_password", false));
            fake.expect_silence();
        });
        let mut options = options(address, mode);
        options.tls.ca = Some(pki.path("ca.pem"));
        options.tls.library = library;
        let error = Client::connect(&options).unwrap_err();
        assert!(matches!(error, NetError::Tls { fault: TlsFault::NotOffered, .. }), "{error}");
        thread.join().unwrap();
    }
}

#[test]
fn bytes_slipped_in_before_tls_end_the_connection() {
    // In one segment with the greeting, or a moment later.
    for (library, pause_ms) in LIBRARIES.into_iter().flat_map(|library| [(library, 0), (library, 20)]) {
        let (address, thread) = serve(move |mut stream| {
            let mut out = Vec::new();
            let mut sequence = 0;
            write_payload(&mut out, &mut sequence, &hello("mysql_native_password", true));
            sequence = 3;
            let greeting_bytes = out.len();
            write_payload(&mut out, &mut sequence, &OK.encode(0));
            if pause_ms == 0 {
                stream.write_all(&out).unwrap();
            } else {
                stream.write_all(&out[..greeting_bytes]).unwrap();
                // The SSLRequest is there: now in place of a ServerHello.
                stream.read_exact(&mut [0; 36]).unwrap();
                stream.write_all(&out[greeting_bytes..]).unwrap();
            }
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let mut options = options(address, SslMode::Preferred);
        options.tls.library = library;
        let error = Client::connect(&options).unwrap_err();
        assert!(matches!(error, NetError::PeerMisbehaved { .. }), "{library:?}: {error}");
        thread.join().unwrap();
    }
}

#[test]
fn a_session_is_resumed_only_where_that_was_asked_for() {
    const REMEMBERS: SslSessionCacheMode = SslSessionCacheMode::SERVER;
    const FORGETS: SslSessionCacheMode = SslSessionCacheMode::OFF;
    for (resumes, version, server, is_resumed) in [
        (Resumes::No, TlsVersion::Tls13, REMEMBERS, false),
        (Resumes::Any, TlsVersion::Tls13, REMEMBERS, true),
        (Resumes::Any, TlsVersion::Tls12, REMEMBERS, true),
        (Resumes::ById, TlsVersion::Tls12, REMEMBERS, true),
        // A ticket needs no memory, an id does.
        (Resumes::Any, TlsVersion::Tls12, FORGETS, true),
        (Resumes::ById, TlsVersion::Tls12, FORGETS, false),
    ] {
        let pki = Pki::new("127.0.0.1");
        let acceptor = pki.acceptor_with(false, server);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let thread = thread::spawn(move || {
            for _ in 0..2 {
                let stream = listener.accept().unwrap().0;
                let mut fake = greet_and_tls(stream, &acceptor, "mysql_native_password").unwrap();
                fake.receive();
                fake.send(&OK.encode(0));
                // The goodbye. A session of TLS that is not ended in order is forgotten.
                fake.receive();
                let _ = fake.stream.shutdown();
            }
        });
        let mut options = options(address, SslMode::VerifyCa);
        options.tls.ca = Some(pki.path("ca.pem"));
        options.tls.library = TlsLibrary::Rustls { resumes };
        options.tls.max_version = Some(version);
        let connector = Connector::new(options).unwrap();
        let reused: Vec<bool> = (0..2)
            .map(|_| {
                let client = connector.connect().unwrap();
                let tls = client.tls().unwrap();
                assert_eq!((tls.version.clone(), tls.verified), (version.to_string(), Verified::Chain));
                assert_eq!(tls.leaf_der().unwrap(), pki.leaf.0.to_der().unwrap());
                let is_reused = tls.session_reused;
                client.quit().unwrap();
                is_reused
            })
            .collect();
        assert_eq!(reused, [false, is_resumed], "{resumes:?}, {version}, {server:?}");
        thread.join().unwrap();
    }
}

#[test]
fn a_record_that_is_sent_holds_no_more_than_was_asked_for() {
    const ASKED_BYTES: u16 = 512;
    // AES-GCM's tag, and the type inside.
    const AROUND_BYTES: usize = 17;
    for library in LIBRARIES {
        let pki = Pki::new("127.0.0.1");
        let acceptor = pki.acceptor(false);
        let (server, thread) = serve(move |stream| {
            let mut fake = greet_and_tls(stream, &acceptor, "mysql_native_password").unwrap();
            fake.receive();
            fake.send(&OK.encode(0));
            assert_eq!(fake.receive().len(), 5001);
            fake.send(&OK.encode(0));
            fake.receive();
        });
        let (address, relay) = serve(move |mut client| {
            let mut there = TcpStream::connect(server).unwrap();
            let (mut from, mut to) = (there.try_clone().unwrap(), client.try_clone().unwrap());
            let back = thread::spawn(move || std::io::copy(&mut from, &mut to).unwrap_or(0));
            let (mut sent, mut buffer) = (Vec::new(), [0; 4096]);
            while let Ok(count @ 1..) = client.read(&mut buffer) {
                sent.extend_from_slice(&buffer[..count]);
                there.write_all(&buffer[..count]).unwrap();
            }
            drop(there);
            back.join().unwrap();
            // Behind the SSLRequest all is records.
            let mut rest = &sent[36..];
            let mut lengths = Vec::new();
            while let [kind, _, _, a, b, after @ ..] = rest {
                let length = usize::from(u16::from_be_bytes([*a, *b]));
                if *kind == 23 {
                    lengths.push(length);
                }
                rest = &after[length..];
            }
            let most = usize::from(ASKED_BYTES) + AROUND_BYTES;
            assert!(lengths.iter().all(|length| *length <= most), "{library:?}: {lengths:?}");
            assert!(
                lengths.iter().filter(|length| **length == most).count() >= 9,
                "{library:?}: {lengths:?}"
            );
        });
        let mut options = options(address, SslMode::Required);
        options.tls.library = library;
        options.tls.record_bytes = Some(ASKED_BYTES);
        let mut client = Client::connect(&options).unwrap();
        client.execute(&"x".repeat(5000)).unwrap();
        client.quit().unwrap();
        thread.join().unwrap();
        relay.join().unwrap();
    }
    let mut options = options("127.0.0.1:1".parse().unwrap(), SslMode::Required);
    for (library, bytes) in LIBRARIES.into_iter().flat_map(|library| [(library, 31), (library, 16_385)]) {
        (options.tls.library, options.tls.record_bytes) = (library, Some(bytes));
        let error = Connector::new(options.clone()).unwrap_err();
        assert!(matches!(error, NetError::Usage { .. }), "{library:?}, {bytes}: {error}");
    }
}

#[test]
fn what_rustls_keeps_for_later_is_told_and_sent_by_the_next_read() {
    let pki = Pki::new("127.0.0.1");
    let acceptor = pki.acceptor(false);
    let (reads, may_read) = std::sync::mpsc::channel::<usize>();
    let (address, thread) = serve(move |stream| {
        let mut fake = greet_and_tls(stream, &acceptor, "mysql_native_password").unwrap();
        fake.receive();
        fake.send(&OK.encode(0));
        let mut all = vec![0; may_read.recv().unwrap()];
        fake.stream.read_exact(&mut all).unwrap();
        assert!(all.iter().all(|byte| *byte == b'x'));
    });
    let mut options = options(address, SslMode::Required);
    options.tls.library = LIBRARIES[1];
    let mut session = Client::connect(&options).unwrap().into_session().unwrap();
    let (mut taken, much) = (0, vec![b'x'; 50_000]);
    while !session.holds_back() {
        taken += session.write(&much).unwrap();
    }
    reads.send(taken).unwrap();
    let began = Instant::now();
    while session.holds_back() {
        assert!(began.elapsed() < Duration::from_secs(10), "the rest is never sent");
        let error = session.read(&mut [0; 10]).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    }
    thread.join().unwrap();
}

#[test]
fn a_server_signs_with_what_was_asked_for_or_not_at_all() {
    // Its key is of P-256.
    for (algorithms, signs) in [("ECDSA+SHA256:RSA+SHA256", true), ("rsa_pss_rsae_sha256", false)] {
        let pki = Pki::new("127.0.0.1");
        let acceptor = pki.acceptor(false);
        let (address, thread) = serve(move |stream| {
            let Some(mut fake) = greet_and_tls(stream, &acceptor, "mysql_native_password") else { return };
            fake.receive();
            fake.send(&OK.encode(0));
            fake.receive();
        });
        let mut options = options(address, SslMode::Required);
        options.tls.signature_algorithms = Some(algorithms.into());
        match Client::connect(&options) {
            Ok(client) => {
                assert!(signs, "{algorithms}");
                client.quit().unwrap();
            }
            Err(error) => assert!(!signs && matches!(error, NetError::Tls { .. }), "{algorithms}: {error}"),
        }
        thread.join().unwrap();
    }
    for algorithms in ["nonsense", "ECDSA+SHA256\0"] {
        let mut options = options("127.0.0.1:1".parse().unwrap(), SslMode::Required);
        options.tls.signature_algorithms = Some(algorithms.into());
        let error = Connector::new(options).unwrap_err();
        assert!(matches!(error, NetError::Usage { .. }), "{algorithms:?}: {error}");
    }
}

#[test]
fn rustls_takes_what_it_has_and_says_what_it_has_not() {
    let with = |change: &dyn Fn(&mut TlsOptions)| {
        let mut options = options("127.0.0.1:1".parse().unwrap(), SslMode::Required);
        options.tls.library = TlsLibrary::Rustls { resumes: Resumes::No };
        change(&mut options.tls);
        Connector::new(options).map(|_| ()).map_err(|error| error.to_string())
    };
    with(&|tls| tls.ciphersuites = Some("TLS_CHACHA20_POLY1305_SHA256".into())).unwrap();
    with(&|tls| tls.ciphers = Some("ECDHE-RSA-AES128-GCM-SHA256".into())).unwrap();
    with(&|tls| tls.groups = Some("P-384:X25519".into())).unwrap();
    for change in [
        &(|tls: &mut TlsOptions| tls.ciphers = Some("AES128-SHA".into())) as &dyn Fn(&mut TlsOptions),
        &|tls| tls.groups = Some("X25519MLKEM768".into()),
        &|tls| tls.crl = Some("crl.pem".into()),
        &|tls| tls.signature_algorithms = Some("ECDSA+SHA256".into()),
        &|tls| tls.reads_system_cas = true,
        &|tls| tls.max_version = Some(TlsVersion::Tls11),
        &|tls| tls.ca = Some("/nonexistent/ca.pem".into()),
        &|tls| tls.mode = SslMode::VerifyCa,
    ] {
        let text = with(change).unwrap_err();
        assert!(text.contains("\n  why:") && text.contains("\n  next:"), "{text}");
    }
}

#[test]
fn an_error_in_place_of_the_greeting_is_told_with_its_text_escaped() {
    let (address, thread) = serve(|stream| {
        let error = ErrPacket { code: 1129, sqlstate: None, message: "blocked\x1b[2J".into() };
        Fake::new(stream, 0).send(&error.encode());
    });
    let error = Client::connect(&options(address, SslMode::Required)).unwrap_err();
    let NetError::Refused { code: 1129, sqlstate, message, .. } = &error else { panic!("{error}") };
    assert_eq!((sqlstate.as_str(), message.as_str()), ("HY000", "blocked\\u{1b}[2J"));
    assert!(error.to_string().contains("FLUSH HOSTS"));
    thread.join().unwrap();
}

#[test]
fn a_wrong_password_is_a_refusal_that_does_not_repeat_it() {
    let (address, thread) = serve(|stream| {
        let mut fake = Fake::new(stream, 0);
        fake.send(&hello("mysql_native_password", false));
        fake.receive();
        let error = ErrPacket { code: 1045, sqlstate: Some("28000".into()), message: "Access denied".into() };
        fake.send(&error.encode());
    });
    let since = std::time::Instant::now();
    let error = Client::connect(&options(address, SslMode::Disabled)).unwrap_err();
    assert!(matches!(error, NetError::Refused { code: 1045, .. }));
    assert!(!format!("{error} {error:?}").contains(PASSWORD));
    // A capture has to know that this was ours, also where nobody was let in.
    assert!(!net::own_ends(since).is_empty());
    thread.join().unwrap();
}

fn column(name: &str) -> Vec<u8> {
    ColumnDef { name: name.into(), charset: 45, length_bytes: 40, column_type: 253, flags: 0 }.encode()
}

#[test]
fn reads_rows_by_name_nulls_and_statements_without_rows() {
    let (mut client, thread) = logged_in(|fake| {
        assert_eq!(fake.receive(), b"\x03SELECT Name, n FROM t");
        for packet in [vec![2], column("Name"), column("n"), b"\x03ann\xfb".to_vec(), b"\x00\x0242".to_vec()]
        {
            fake.send(&packet);
        }
        fake.send(&OK.encode(0xfe));
        fake.receive();
        fake.send(&OkPacket { affected_rows: 3, last_insert_id: 9, ..OK }.encode(0));
        fake.receive();
        let error = ErrPacket { code: 1064, sqlstate: Some("42000".into()), message: "syntax".into() };
        fake.send(&error.encode());
        assert_eq!(fake.receive(), [wire::command::COM_PING]);
        fake.send(&OK.encode(0));
    });
    let rows = client.query("SELECT Name, n FROM t").unwrap();
    assert_eq!(rows.columns, ["Name", "n"]);
    assert_eq!(rows.text(0, "name").as_deref(), Some("ann"));
    assert_eq!((rows.text(0, "n"), rows.text(1, "n").as_deref()), (None, Some("42")));
    assert_eq!((rows.text(2, "n"), rows.text(0, "other")), (None, None));
    assert_eq!((rows.len(), rows.scalar().as_deref()), (2, Some("ann")));
    let done = client.query("INSERT").unwrap();
    assert_eq!((done.affected_rows, done.last_insert_id, done.is_empty()), (3, 9, true));
    assert!(matches!(client.query("SELEC"), Err(NetError::Refused { code: 1064, .. })));
    client.ping().unwrap();
    thread.join().unwrap();
}

#[test]
fn keeps_the_first_result_set_of_several() {
    let (mut client, thread) = logged_in(|fake| {
        fake.receive();
        let more = OkPacket { status: answer::STATUS_MORE_RESULTS, ..OK };
        for name in ["a", "b"] {
            for packet in [vec![1], column(name), b"\x01x".to_vec(), more.encode(0xfe)] {
                fake.send(&packet);
            }
        }
        fake.send(&OK.encode(0));
    });
    let rows = client.query("CALL p()").unwrap();
    assert_eq!((rows.columns.as_slice(), rows.len()), (&["a".to_owned()][..], 1));
    thread.join().unwrap();
}

#[test]
fn a_server_that_asks_for_a_file_gets_none_and_is_named() {
    let (mut client, thread) = logged_in(|fake| {
        fake.receive();
        fake.send(b"\xfb/etc/passwd");
        assert_eq!(fake.receive(), b"", "an empty packet says: no file");
        fake.send(&OK.encode(0));
    });
    let error = client.query("SELECT 1").unwrap_err();
    assert!(matches!(error, NetError::PeerMisbehaved { .. }), "{error}");
    thread.join().unwrap();
}

#[test]
fn a_broken_answer_makes_the_session_unusable() {
    let (mut client, thread) = logged_in(|fake| {
        fake.receive();
        fake.sequence = 9;
        fake.send(&OK.encode(0));
        fake.expect_silence();
    });
    assert!(matches!(client.query("SELECT 1"), Err(NetError::PeerMisbehaved { .. })));
    assert!(matches!(client.query("SELECT 1"), Err(NetError::Unreachable { .. })));
    drop(client);
    thread.join().unwrap();
}

#[test]
fn a_silent_server_is_a_timeout_at_each_stage_and_a_dripping_one_too() {
    type Play = fn(TcpStream);
    let silent: Play = |mut stream| {
        let _ = stream.read(&mut [0; 10]);
    };
    let dripping: Play = |mut stream| {
        // One byte each 20 ms: each single read is fast, the whole is not.
        for byte in [200, 0, 0, 0].into_iter().chain([10; 196]) {
            thread::sleep(Duration::from_millis(20));
            if stream.write_all(&[byte]).is_err() {
                return;
            }
        }
    };
    let silent_in_tls: Play = |stream| {
        let mut fake = Fake::new(stream, 0);
        fake.send(&hello("mysql_native_password", true));
        let _ = fake.stream.read_to_end(&mut Vec::new());
    };
    for play in [silent, dripping, silent_in_tls] {
        let (address, thread) = serve(play);
        let mut options = options(address, SslMode::Preferred);
        options.connect_timeout = Duration::from_millis(200);
        let since = Instant::now();
        let error = Client::connect(&options).unwrap_err();
        assert!(matches!(error, NetError::TimedOut { .. }), "{error}");
        assert!(since.elapsed() < Duration::from_secs(3));
        thread.join().unwrap();
    }
}

#[test]
fn connects_from_the_address_it_was_told_to() {
    let (address, thread) = serve(|stream| {
        assert_eq!(stream.peer_addr().unwrap().ip().to_string(), "127.0.0.9");
    });
    let endpoint = Endpoint::Tcp {
        host: "127.0.0.1".into(),
        port: address.port(),
        bind: Some("127.0.0.9".parse().unwrap()),
    };
    let error = Client::connect(&ConnectOptions::new(endpoint, "app")).unwrap_err();
    assert!(matches!(error, NetError::Unreachable { .. }), "{error}");
    thread.join().unwrap();
}

#[test]
fn a_direct_probe_tells_accepted_from_refused_after_the_handshake() {
    let pki = Pki::new("node1");
    let with_certificate = TlsOptions {
        cert: Some(pki.path("client.pem")),
        key: Some(pki.path("client.key")),
        ..TlsOptions::default()
    };
    for (options, accepted) in [(TlsOptions::default(), false), (with_certificate, true)] {
        let acceptor = pki.acceptor(true);
        let (address, thread) = serve(move |stream| {
            if let Ok(mut stream) = acceptor.accept(stream) {
                let _ = stream.read(&mut [0; 16]);
            }
        });
        let probe = tls_probe(address, None, &options, Duration::from_millis(500)).unwrap();
        assert_eq!(probe.version, "TLSv1.3");
        assert_eq!(probe.leaf_pem.as_deref().unwrap().as_bytes(), pki.leaf.0.to_pem().unwrap());
        match probe.outcome {
            Outcome::Accepted => assert!(accepted),
            Outcome::RefusedAfterHandshake { alert } => {
                assert!(!accepted && alert.contains("certificate required"), "{alert}");
            }
            Outcome::Closed => panic!("closed without an alert"),
        }
        thread.join().unwrap();
    }
}

#[test]
fn a_direct_probe_of_a_port_that_speaks_first_in_clear_says_so() {
    let (address, thread) = serve(|mut stream| {
        stream.write_all(&[0x24, 0, 0, 2, 1, 2, 3, 4]).unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let error = tls_probe(address, None, &TlsOptions::default(), Duration::from_millis(500)).unwrap_err();
    assert!(matches!(error, NetError::PeerMisbehaved { .. }), "{error}");
    thread.join().unwrap();
}
