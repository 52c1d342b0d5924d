#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::TcpStream as StdTcpStream;
use std::sync::atomic::{AtomicBool, Ordering};

use openssl::asn1::Asn1Time;
use openssl::bn::BigNum;
use openssl::ec::{EcGroup, EcKey};
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{PKey, Private};
use openssl::ssl::{SslConnector, SslMethod, SslVerifyMode};
use openssl::x509::extension::{BasicConstraints, ExtendedKeyUsage, SubjectAlternativeName};
use openssl::x509::{X509, X509NameBuilder};

use super::*;
use crate::Web;

const WAIT: Duration = Duration::from_secs(30);

/// A request, and what comes back until the end.
fn asked(mut stream: impl Read + Write, path: &str, host: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    // Who was turned away may be gone already.
    let _ = stream.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

/// While `with` runs, it serves; then it ends.
fn serving(web: Web, with: impl FnOnce()) {
    let stop = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stop);
    let thread = std::thread::spawn(move || web.serve(&told));
    with();
    stop.store(true, Ordering::Relaxed);
    thread.join().unwrap().unwrap();
}

fn own_uid(dir: &Path) -> u32 {
    dir.metadata().unwrap().uid()
}

fn ask_socket(path: &Path, page: &str, host: &str) -> String {
    let stream = StdUnixStream::connect(path).unwrap();
    stream.set_read_timeout(Some(WAIT)).unwrap();
    asked(stream, page, host)
}

#[test]
fn at_the_socket_the_kernel_says_who_comes_in() {
    let place = tempfile::tempdir().unwrap();
    let (path, store) = (place.path().join("web.sock"), place.path().join("none.sqlite"));
    let own = own_uid(place.path());
    let web = Web::bind_socket(&path, vec![own], own, store.clone()).unwrap();
    assert!(web.login_url().is_none() && web.address().is_none());
    assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
    serving(web, || {
        // No token is needed; the name is checked as ever, with any port.
        for host in ["localhost", "localhost:7000", "127.0.0.1:9543", "[::1]:1"] {
            let answer = ask_socket(&path, "/", host);
            assert!(
                answer.starts_with("HTTP/1.1 503") && answer.contains("There is no store yet"),
                "{answer}"
            );
        }
        for host in ["evil.example", "localhost.evil.example:80", "127.0.0.1.evil.example", ""] {
            let answer = ask_socket(&path, "/", host);
            assert!(answer.starts_with("HTTP/1.1 421"), "{host}: {answer}");
        }
        let second = Web::bind_socket(&path, vec![own], own, store.clone());
        assert!(second.is_err_and(|error| error.to_string().contains("somebody listens")));
    });
    assert!(!path.exists(), "it goes with who listened");
    // Somebody else: a server for whom the user of this test is one.
    let web = Web::bind_socket(&path, vec![own + 1], own, store.clone()).unwrap();
    assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o666, "others must be able to ask");
    serving(web, || {
        let answer = ask_socket(&path, "/login", "localhost");
        assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("may not read here"), "{answer}");
    });
    // What is there and no socket stays; a socket that nobody listens at goes.
    std::fs::write(&path, "mine").unwrap();
    assert!(Web::bind_socket(&path, vec![own], own, store.clone()).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    std::fs::remove_file(&path).unwrap();
    drop(StdUnixListener::bind(&path).unwrap());
    drop(Web::bind_socket(&path, vec![own], own, store).unwrap());
    assert!(!path.exists());
}

struct Authority {
    certificate: X509,
    key: PKey<Private>,
}

fn new_key() -> PKey<Private> {
    let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
    PKey::from_ec_key(EcKey::generate(&group).unwrap()).unwrap()
}

/// A certificate of `of`, or of its own. With no day left it ended long ago.
fn issue(name: &str, of: Option<&Authority>, days: u32) -> Authority {
    let key = new_key();
    let mut subject = X509NameBuilder::new().unwrap();
    subject.append_entry_by_text("CN", name).unwrap();
    let subject = subject.build();
    let mut builder = X509::builder().unwrap();
    builder.set_version(2).unwrap();
    let mut serial = [7; 16];
    openssl::rand::rand_bytes(&mut serial[1..]).unwrap();
    builder.set_serial_number(&BigNum::from_slice(&serial).unwrap().to_asn1_integer().unwrap()).unwrap();
    builder.set_subject_name(&subject).unwrap();
    builder.set_issuer_name(of.map_or(&*subject, |of| of.certificate.subject_name())).unwrap();
    builder.set_pubkey(&key).unwrap();
    builder.set_not_before(&Asn1Time::from_unix(1_000_000_000).unwrap()).unwrap();
    let end = match days {
        0 => Asn1Time::from_unix(1_100_000_000),
        days => Asn1Time::days_from_now(days),
    };
    builder.set_not_after(&end.unwrap()).unwrap();
    if of.is_none() {
        builder.append_extension(BasicConstraints::new().critical().ca().build().unwrap()).unwrap();
    } else {
        builder
            .append_extension(ExtendedKeyUsage::new().server_auth().client_auth().build().unwrap())
            .unwrap();
        let context = builder.x509v3_context(of.map(|of| &*of.certificate), None);
        let names = SubjectAlternativeName::new().dns("localhost").build(&context).unwrap();
        builder.append_extension(names).unwrap();
    }
    builder.sign(of.map_or(&key, |of| &of.key), MessageDigest::sha256()).unwrap();
    Authority { certificate: builder.build(), key }
}

fn write(dir: &Path, name: &str, pem: &[u8]) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, pem).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path
}

fn ask_tls(address: SocketAddr, ca: &Authority, client: Option<&Authority>, host: &str) -> String {
    let mut connector = SslConnector::builder(SslMethod::tls_client()).unwrap();
    connector.set_verify(SslVerifyMode::PEER);
    connector.cert_store_mut().add_cert(ca.certificate.clone()).unwrap();
    if let Some(client) = client {
        connector.set_certificate(&client.certificate).unwrap();
        connector.set_private_key(&client.key).unwrap();
    }
    let stream = StdTcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(WAIT)).unwrap();
    match connector.build().connect("localhost", stream) {
        Ok(stream) => asked(stream, "/", host),
        Err(error) => format!("no handshake: {error}"),
    }
}

#[test]
fn over_tls_only_certificates_of_the_named_ca_come_in() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path();
    let (ca, clients, others) = (issue("ca", None, 9), issue("clients", None, 9), issue("others", None, 9));
    let server = issue("web", Some(&ca), 9);
    let pem = |one: &Authority| one.certificate.to_pem().unwrap();
    let files = TlsFiles {
        certificate: write(dir, "web.pem", &pem(&server)),
        key: write(dir, "web-key.pem", &server.key.private_key_to_pem_pkcs8().unwrap()),
        client_ca: write(dir, "clients.pem", &pem(&clients)),
    };
    let config = tls(&files).unwrap();
    let listen = "127.0.0.1:0".parse().unwrap();
    let web =
        Web::bind_tls(listen, config, dir.join("none.sqlite")).unwrap().names(vec!["web.example".into()]);
    let address = web.address().unwrap();
    assert!(web.login_url().is_none());
    let own = format!("localhost:{}", address.port());
    serving(web, || {
        // One that never begins its handshake keeps nobody waiting.
        let idle = StdTcpStream::connect(address).unwrap();
        let right = issue("dba", Some(&clients), 9);
        for host in [own.clone(), format!("web.example:{}", address.port())] {
            let answer = ask_tls(address, &ca, Some(&right), &host);
            assert!(
                answer.starts_with("HTTP/1.1 503") && answer.contains("There is no store yet"),
                "{answer}"
            );
        }
        let answer = ask_tls(address, &ca, Some(&right), "evil.example");
        assert!(answer.starts_with("HTTP/1.1 421"), "{answer}");
        let of_server_ca = issue("dba", Some(&ca), 9);
        let of_others = issue("dba", Some(&others), 9);
        let ended = issue("dba", Some(&clients), 0);
        for client in [None, Some(&of_others), Some(&of_server_ca), Some(&ended)] {
            let answer = ask_tls(address, &ca, client, &own);
            assert!(!answer.contains("HTTP/1"), "{answer}");
        }
        // Without TLS.
        let plain = StdTcpStream::connect(address).unwrap();
        plain.set_read_timeout(Some(WAIT)).unwrap();
        let answer = asked(plain, "/", &own);
        assert!(!answer.contains("HTTP/1"), "{answer}");
        drop(idle);
    });
}

#[test]
fn files_that_are_not_right_are_named() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path();
    let (ca, other) = (issue("ca", None, 9), issue("other", None, 9));
    let pem = ca.certificate.to_pem().unwrap();
    let files = TlsFiles {
        certificate: write(dir, "web.pem", &pem),
        key: write(dir, "key.pem", &ca.key.private_key_to_pem_pkcs8().unwrap()),
        client_ca: write(dir, "clients.pem", &pem),
    };
    tls(&files).unwrap();
    let why = |change: &dyn Fn(&mut TlsFiles)| {
        let mut files = files.clone();
        change(&mut files);
        tls(&files).unwrap_err()
    };
    let other_key = write(dir, "other.pem", &other.key.private_key_to_pem_pkcs8().unwrap());
    assert!(why(&|files| files.key.clone_from(&other_key)).contains("are no pair"));
    assert!(why(&|files| files.key = dir.join("none")).contains("none cannot be read"));
    assert!(why(&|files| files.client_ca.clone_from(&other_key)).contains("no certificate in PEM form"));
    assert!(why(&|files| files.certificate = write(dir, "empty", b"")).contains("no certificate"));
    let open = write(dir, "open.pem", &ca.key.private_key_to_pem_pkcs8().unwrap());
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o640)).unwrap();
    let said = why(&|files| files.key.clone_from(&open));
    assert!(said.contains("chmod 600") && !said.contains("PRIVATE"), "{said}");
    let secret =
        ca.key.private_key_to_pem_pkcs8_passphrase(openssl::symm::Cipher::aes_128_cbc(), b"x").unwrap();
    assert!(why(&|files| files.key = write(dir, "secret.pem", &secret)).contains("without a passphrase"));
}
