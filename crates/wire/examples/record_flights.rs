//! Records first flights of OpenSSL servers into `testdata/tls/`, one hex file a case, its head saying how.
//!
//! `cargo run -p wire --example record_flights` starts `openssl s_server` on loopback, one process a case, in a
//! directory of its own, and ends each by its own handle. Run it again after adding a case; the bytes are new each
//! time (random values, keys), the facts that the tests look for are not. `SEALION_OPENSSL` names another program.
//!
//! `… --example record_flights -- HOST:PORT NAME` records the greeting and a few flights of a running MySQL or MariaDB
//! into `testdata/servers/NAME/` instead. Each connection counts against the server's `max_connect_errors`.
#![allow(clippy::unwrap_used)] // A tool for developers: what is wrong here, a person sees at once.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use wire::tls::registry::{CIPHER_SUITES, Version, groups, signature_schemes as schemes};
use wire::tls::{ClientHello, KeyShare, ServerFlight, key_share};

struct Case {
    name: &'static str,
    key: &'static str,
    server: &'static [&'static str],
    hello: Hello,
}

type Hello = fn() -> ClientHello<'static>;

const SUITES_OF_TLS13: &[u16] = &[0x1301, 0x1302, 0x1303];
const SCHEMES: &[u16] = &[
    schemes::ECDSA_SECP256R1_SHA256,
    schemes::RSA_PSS_RSAE_SHA256,
    schemes::RSA_PKCS1_SHA256,
    schemes::RSA_PKCS1_SHA1,
    schemes::ECDSA_SHA1,
];
const RANDOM: [u8; 32] = [0x5e; 32];

fn tls13() -> ClientHello<'static> {
    ClientHello {
        supported_versions: &[Version::TLS13],
        session_id: &[0x11; 32],
        cipher_suites: SUITES_OF_TLS13,
        groups: &[groups::X25519, groups::SECP256R1],
        key_shares: Some(&[KeyShare { group: groups::X25519, key: &key_share::X25519 }]),
        signature_algorithms: SCHEMES,
        ..ClientHello::new(RANDOM)
    }
}

fn tls13_in(group: u16) -> ClientHello<'static> {
    let key = key_share::client_share(group).unwrap();
    ClientHello {
        groups: vec![group].leak(),
        key_shares: Some(vec![KeyShare { group, key }].leak()),
        ..tls13()
    }
}

fn tls13_without_share() -> ClientHello<'static> {
    ClientHello { key_shares: Some(&[]), ..tls13() }
}

fn tls12(cipher_suites: &'static [u16]) -> ClientHello<'static> {
    ClientHello {
        cipher_suites,
        groups: &[groups::X25519, groups::SECP256R1, groups::SECP384R1],
        ec_point_formats: &[0, 1, 2],
        signature_algorithms: SCHEMES,
        session_ticket: Some(&[]),
        extended_master_secret: true,
        encrypt_then_mac: true,
        renegotiation_info: Some(&[]),
        ..ClientHello::new(RANDOM)
    }
}

fn old(version: Version, cipher_suites: &'static [u16]) -> ClientHello<'static> {
    ClientHello {
        legacy_version: version,
        cipher_suites,
        groups: &[groups::SECP256R1],
        ec_point_formats: &[0],
        renegotiation_info: Some(&[]),
        ..ClientHello::new(RANDOM)
    }
}

fn everything() -> ClientHello<'static> {
    let suites: Vec<u16> = CIPHER_SUITES.iter().map(|row| row.code).collect();
    ClientHello { cipher_suites: suites.leak(), ..tls12(&[]) }
}

const WEAK: &str = "ALL:COMPLEMENTOFALL:@SECLEVEL=0";

const CASES: &[Case] = &[
    Case { name: "tls13-x25519", key: "rsa", server: &["-tls1_3"], hello: tls13 },
    Case {
        name: "tls13-x448",
        key: "rsa",
        server: &["-tls1_3", "-groups", "X448"],
        hello: || tls13_in(groups::X448),
    },
    Case { name: "tls13-secp521r1", key: "rsa", server: &["-tls1_3"], hello: || tls13_in(groups::SECP521R1) },
    Case { name: "tls13-ffdhe2048", key: "rsa", server: &["-tls1_3"], hello: || tls13_in(groups::FFDHE2048) },
    Case { name: "tls13-ffdhe8192", key: "rsa", server: &["-tls1_3"], hello: || tls13_in(groups::FFDHE8192) },
    Case { name: "tls13-retry", key: "rsa", server: &["-tls1_3", "-groups", "P-256"], hello: tls13 },
    Case { name: "tls13-no-share", key: "ecdsa", server: &["-tls1_3"], hello: tls13_without_share },
    Case { name: "tls13-cookie", key: "rsa", server: &["-tls1_3", "-stateless"], hello: tls13 },
    Case { name: "tls12-ecdhe-rsa", key: "rsa", server: &["-tls1_2"], hello: || tls12(&[0xc02f, 0xc030]) },
    Case { name: "tls12-ecdhe-ecdsa", key: "ecdsa", server: &["-tls1_2"], hello: || tls12(&[0xc02b]) },
    Case {
        name: "tls12-dhe-rsa",
        key: "rsa",
        server: &["-tls1_2", "-cipher", WEAK, "-dhparam", "dh.pem"],
        hello: || tls12(&[0x009e]),
    },
    Case { name: "tls12-rsa-cbc", key: "rsa", server: &["-tls1_2"], hello: || tls12(&[0x003c]) },
    Case { name: "tls12-everything", key: "rsa", server: &[], hello: everything },
    Case {
        name: "tls12-ecdh-anon",
        key: "rsa",
        server: &["-tls1_2", "-cipher", WEAK],
        hello: || tls12(&[0xc018]),
    },
    Case {
        name: "tls12-client-certificate",
        key: "rsa",
        server: &["-tls1_2", "-Verify", "2", "-CAfile", "rsa.pem"],
        hello: || tls12(&[0xc02f]),
    },
    Case {
        name: "tls12-ocsp-staple",
        key: "rsa",
        server: &["-tls1_2", "-status_file", "ocsp.der"],
        hello: || ClientHello { status_request: true, ..tls12(&[0xc02f]) },
    },
    Case {
        name: "tls12-alpn",
        key: "rsa",
        server: &["-tls1_2", "-alpn", "mysql"],
        hello: || ClientHello { alpn: &[b"mysql"], ..tls12(&[0xc02f]) },
    },
    Case {
        name: "tls12-server-name",
        key: "rsa",
        server: &["-tls1_2", "-servername", "db1.example", "-cert2", "rsa.pem", "-key2", "rsa.key"],
        hello: || ClientHello { server_name: Some("db1.example"), ..tls12(&[0xc02f]) },
    },
    Case {
        name: "tls12-no-ticket",
        key: "rsa",
        server: &["-tls1_2", "-no_ticket"],
        hello: || tls12(&[0xc02f]),
    },
    Case {
        name: "tls12-psk-dhe",
        key: "rsa",
        server: &[
            "-tls1_2",
            "-psk",
            "1a2b3c4d",
            "-psk_hint",
            "who",
            "-cipher",
            WEAK,
            "-nocert",
            "-dhparam",
            "dh.pem",
        ],
        hello: || tls12(&[0x00aa]),
    },
    Case {
        name: "tls11-ecdhe-rsa",
        key: "rsa",
        server: &["-tls1_1", "-cipher", WEAK],
        hello: || old(Version::TLS11, &[0xc013]),
    },
    Case {
        name: "tls10-dhe-rsa",
        key: "rsa",
        server: &["-tls1", "-cipher", WEAK, "-dhparam", "dh.pem"],
        hello: || old(Version::TLS10, &[0x0039]),
    },
    Case {
        name: "tls10-downgrade",
        key: "rsa",
        server: &["-cipher", WEAK],
        hello: || old(Version::TLS10, &[0x002f]),
    },
    Case { name: "alert-no-suite", key: "rsa", server: &["-tls1_2"], hello: || tls12(&[0x0004]) },
    Case {
        name: "alert-fallback",
        key: "rsa",
        server: &["-cipher", WEAK],
        hello: || old(Version::TLS11, &[0xc013, 0x5600]),
    },
];

/// What a server of a database is asked.
const QUESTIONS: &[(&str, Hello)] = &[
    ("tls13", tls13),
    ("tls12-ecdhe", || tls12(&[0xc02f, 0xc030, 0xc02b, 0xc02c])),
    ("tls12-dhe", || tls12(&[0x009e, 0x009f, 0xccaa])),
    ("refused", || tls12(&[0x0001])),
    ("tls10", || old(Version::TLS10, &[0xc014, 0xc013, 0x0039, 0x0035, 0x002f, 0x0005, 0x000a])),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [] => record_openssl(),
        [address, name] => record_server(address, name),
        _ => panic!("usage: record_flights [HOST:PORT NAME]"),
    }
}

fn record_server(address: &str, name: &str) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/servers").join(name);
    std::fs::create_dir_all(&directory).unwrap();
    for (question, hello) in QUESTIONS {
        let mut stream = TcpStream::connect(address).unwrap();
        let mut greeting = vec![0; 4];
        stream.read_exact(&mut greeting).unwrap();
        let [length, _, _, _] = greeting[..] else { panic!("a greeting has four bytes in front") };
        greeting.resize(4 + usize::from(length), 0);
        stream.read_exact(greeting.get_mut(4..).unwrap()).unwrap();
        std::fs::write(directory.join("greeting.bin"), &greeting).unwrap();
        let mut out = vec![0x20, 0, 0, 1];
        let capabilities =
            wire::Capabilities::PROTOCOL_41 | wire::Capabilities::SSL | wire::Capabilities::SECURE_CONNECTION;
        let charset = wire::login::CHARSET_UTF8MB4;
        wire::SslRequest { capabilities, mariadb_capabilities: 0, max_packet_bytes: 1 << 24, charset }
            .encode(&mut out);
        hello().encode(&mut out).unwrap();
        stream.write_all(&out).unwrap();
        let flight = read_until_quiet(&mut stream);
        let text =
            format!("# {name}, after its greeting and an SSLRequest: {question}\n{}", hex_lines(&flight));
        std::fs::write(directory.join(format!("{question}.hex")), text).unwrap();
        println!("{question:28} {} bytes", flight.len());
    }
}

fn hex_lines(bytes: &[u8]) -> String {
    let line = |part: &[u8]| {
        part.iter().map(|byte| format!("{byte:02x}")).chain(["\n".to_owned()]).collect::<String>()
    };
    bytes.chunks(48).map(line).collect()
}

/// Until the server waits for us, or has closed.
fn read_until_quiet(stream: &mut TcpStream) -> Vec<u8> {
    stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let (mut all, mut room) = (Vec::new(), [0; 4096]);
    while let Ok(bytes @ 1..) = stream.read(&mut room) {
        all.extend_from_slice(room.get(..bytes).unwrap());
    }
    all
}

fn record_openssl() {
    let openssl = std::env::var("SEALION_OPENSSL").unwrap_or_else(|_| "openssl".into());
    let directory = tempdir();
    let version = run(&openssl, &["version"], &directory);
    make_keys(&openssl, &directory);
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/tls");
    for case in CASES {
        let mut server = Server::start(&openssl, case, &directory);
        let flight = server.first_flight(&(case.hello)());
        drop(server);
        let mut text = format!("# {}\n", version.trim());
        text +=
            &format!("# openssl s_server -key {0}.key -cert {0}.pem {1}\n", case.key, case.server.join(" "));
        text += &hex_lines(&flight);
        std::fs::write(testdata.join(format!("{}.hex", case.name)), text).unwrap();
        println!("{:28} {} bytes", case.name, flight.len());
    }
    std::fs::remove_dir_all(directory).unwrap();
}

fn tempdir() -> PathBuf {
    let directory = std::env::temp_dir().join(format!("sealion-record-{}", std::process::id()));
    std::fs::create_dir(&directory).unwrap();
    directory
}

fn run(openssl: &str, arguments: &[&str], directory: &Path) -> String {
    let output = Command::new(openssl).args(arguments).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn make_keys(openssl: &str, directory: &Path) {
    let certificate = |name: &str, key: &[&str]| {
        let (pem, key_file, subject) = (format!("{name}.pem"), format!("{name}.key"), "/CN=db1.example");
        let mut arguments = vec!["req", "-x509", "-nodes", "-days", "36500", "-subj", subject];
        arguments.extend(["-keyout", &key_file, "-out", &pem, "-newkey"]);
        arguments.extend(key);
        run(openssl, &arguments, directory);
    };
    certificate("rsa", &["rsa:2048"]);
    certificate("ecdsa", &["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]);
    run(openssl, &["dhparam", "-out", "dh.pem", "1024"], directory);
    // s_server sends the file as it is: a response need not be a good one to be read.
    run(openssl, &["ocsp", "-issuer", "rsa.pem", "-cert", "rsa.pem", "-reqout", "request.der"], directory);
    std::fs::write(directory.join("index.txt"), "").unwrap();
    let respond =
        ["ocsp", "-index", "index.txt", "-CA", "rsa.pem", "-rsigner", "rsa.pem", "-rkey", "rsa.key"];
    let files = ["-reqin", "request.der", "-respout", "ocsp.der"];
    run(openssl, &[&respond[..], &files[..]].concat(), directory);
}

struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(openssl: &str, case: &Case, directory: &Path) -> Self {
        // The kernel gives a free port; nobody else takes it in the moment until the server does.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(openssl);
        command.args(["s_server", "-quiet", "-accept", &format!("127.0.0.1:{port}")]);
        if !case.server.contains(&"-nocert") {
            command.args(["-key", &format!("{}.key", case.key), "-cert", &format!("{}.pem", case.key)]);
        }
        command.args(case.server).current_dir(directory);
        let child =
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Self { child, port }
    }

    fn first_flight(&mut self, hello: &ClientHello<'_>) -> Vec<u8> {
        let deadline = Instant::now() + Duration::from_secs(10);
        let mut stream = loop {
            match TcpStream::connect(("127.0.0.1", self.port)) {
                Ok(stream) => break stream,
                Err(error) => assert!(Instant::now() < deadline, "{error}"),
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        let mut out = Vec::new();
        hello.encode(&mut out).unwrap();
        stream.write_all(&out).unwrap();
        let all = read_until_quiet(&mut stream);
        let mut flight = ServerFlight::new();
        flight.push(&all);
        while flight.next_event().unwrap().is_some() {}
        assert!(flight.is_complete() || flight.is_over());
        all
    }
}

impl Drop for Server {
    /// Ended also when a case panics: nothing is left behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
