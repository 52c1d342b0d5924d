//! What is seen of real servers, against what they are known to have: docs of the servers, and other tools' lists
//! (docs/src/reference/scan-vs-others.md). Each is started from its bundle by scripts/start-server.sh.
#![allow(clippy::unwrap_used)]

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use scan::facts::{Found, Service, Tls};
use scan::interrogation::Depth;
use scan::intrude::Intrusive;
use scan::login_probe::Knocked;
use scan::{Facts, Limits, Next, Port, Target};
use wire::tls::registry::{Version, cipher_suite, group};

/// Initialising MySQL takes 5 s on two busy cores.
const UP_S_MAX: u64 = 90;

struct Real {
    child: Child,
    port: u16,
    directory: tempfile::TempDir,
}

impl Real {
    fn start(bundle: &str) -> Self {
        Self::start_with(bundle, |_| vec![])
    }

    /// With options that may depend on the port; two ports behind it are free too.
    fn start_with(bundle: &str, options: impl Fn(u16) -> Vec<String>) -> Self {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let directory = tempfile::Builder::new().prefix("sealion-real-").tempdir().unwrap();
        // Three ports in a row: MySQL has its X Protocol on the second one, and a group its own on the third.
        let port = (0..100)
            .find_map(|_| {
                let first = TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
                TcpListener::bind(("127.0.0.1", first.checked_add(1)?)).ok()?;
                TcpListener::bind(("127.0.0.1", first.checked_add(2)?)).ok().map(|_| first)
            })
            .unwrap();
        let mut child = Command::new(repository.join("scripts/start-server.sh"))
            .args([bundle, directory.path().to_str().unwrap(), &port.to_string()])
            .args(options(port))
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(UP_S_MAX);
        loop {
            let log = std::fs::read_to_string(directory.path().join("log")).unwrap_or_default();
            if let Some(status) = child.try_wait().unwrap() {
                panic!("{bundle} ended with {status} (sealion lab fetch {bundle}):\n{log}");
            }
            if log.contains("ready for connections") && TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Self { child, port, directory };
            }
            assert!(Instant::now() < deadline, "{bundle} is not up after {UP_S_MAX} s:\n{log}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn look(&self, port: u16, depth: Depth) -> Facts {
        let facts = self.look_with(port, depth, Intrusive::NONE);
        assert!(facts.connections <= depth.connections_max(), "{}", facts.connections);
        facts
    }

    fn look_with(&self, port: u16, depth: Depth, intrusive: Intrusive) -> Facts {
        look_as(port, if port == self.port { Port::Mysql } else { Port::XProtocol }, depth, intrusive)
    }
}

fn look_as(port: u16, kind: Port, depth: Depth, intrusive: Intrusive) -> Facts {
    let address: SocketAddr = ([127, 0, 0, 1], port).into();
    let mut target = Some(Target::new("127.0.0.1", address.ip(), port, true));
    if let Some(target) = &mut target {
        target.port = kind;
    }
    let mut source = || target.take().map_or(Next::End, Next::Target);
    let mut facts = None;
    scan::run(&mut source, depth, &Limits { intrusive, ..Limits::default() }, &mut |seen| {
        facts = Some(seen.facts);
        true
    })
    .unwrap();
    let facts = facts.unwrap();
    assert_eq!(facts.not_seen, Vec::<String>::new(), "{:?}", facts.service);
    facts
}

impl Drop for Real {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _: PathBuf = self.directory.path().into();
    }
}

fn suites(tls: &Tls, version: Version) -> Vec<&'static str> {
    assert!(tls.complete.contains(&version));
    let codes = tls.suites.get(&version).into_iter().flatten();
    let known = codes.map(|code| cipher_suite(*code).unwrap());
    let mut names: Vec<&str> = known.map(|suite| suite.openssl_name.unwrap_or(suite.name)).collect();
    names.sort_unstable();
    names
}

fn groups(tls: &Tls, version: Version) -> Vec<&'static str> {
    assert!(tls.groups_complete.contains(&version));
    let mut names: Vec<&str> =
        tls.groups.get(&version).into_iter().flatten().map(|code| group(*code).unwrap().name).collect();
    names.sort_unstable();
    names
}

/// What shows behind a finished handshake: id, ticket, PSK; the tickets' lives; renegotiation; certificate required.
type Behind = ([Option<Found>; 3], [Option<u32>; 2], Option<Found>, Option<Found>);

fn behind(tls: &Tls) -> Behind {
    (
        [tls.resumption_by_id.clone(), tls.resumption_by_ticket.clone(), tls.resumption_by_psk.clone()],
        [tls.ticket_lifetime_s, tls.psk_lifetime_s],
        tls.client_renegotiation.clone(),
        tls.client_certificate_required.clone(),
    )
}

/// All sessions go on for so long, and nothing else is to be said.
fn goes_on(lifetime_s: u32) -> Behind {
    let (yes, no) = (|| Some(Found::Yes), || Some(Found::No));
    ([yes(), yes(), yes()], [Some(lifetime_s); 2], no(), no())
}

fn intrusive(tls: &Tls) -> [Option<Found>; 3] {
    [tls.heartbleed.clone(), tls.early_ccs.clone(), tls.robot.clone()]
}

fn taken(tls: &Tls) -> Vec<Version> {
    tls.versions.iter().filter(|(_, found)| **found == Found::Yes).map(|(version, _)| *version).collect()
}

/// OpenSSL's default list at security level 2, with an RSA certificate: both MariaDB builds have it.
const OF_MARIADB: &str = "AES128-GCM-SHA256 AES128-SHA AES128-SHA256 AES256-GCM-SHA384 AES256-SHA AES256-SHA256 \
    DHE-RSA-AES128-GCM-SHA256 DHE-RSA-AES128-SHA DHE-RSA-AES128-SHA256 DHE-RSA-AES256-GCM-SHA384 DHE-RSA-AES256-SHA \
    DHE-RSA-AES256-SHA256 DHE-RSA-CHACHA20-POLY1305 ECDHE-RSA-AES128-GCM-SHA256 ECDHE-RSA-AES128-SHA \
    ECDHE-RSA-AES128-SHA256 ECDHE-RSA-AES256-GCM-SHA384 ECDHE-RSA-AES256-SHA ECDHE-RSA-AES256-SHA384 \
    ECDHE-RSA-CHACHA20-POLY1305";
const OF_MYSQL: &str = "DHE-RSA-AES128-CCM DHE-RSA-AES128-GCM-SHA256 DHE-RSA-AES256-CCM DHE-RSA-AES256-GCM-SHA384 \
    DHE-RSA-CHACHA20-POLY1305 ECDHE-RSA-AES128-GCM-SHA256 ECDHE-RSA-AES256-GCM-SHA384 ECDHE-RSA-CHACHA20-POLY1305";
const THREE_OF_TLS13: [&str; 3] =
    ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[test]
fn mariadb_10_11_has_twenty_suites_and_ten_groups() {
    let server = Real::start("galera-10.11");
    let facts = server.look(server.port, Depth::Full);
    let tls = facts.tls.unwrap();
    assert_eq!(taken(&tls), [Version::TLS12, Version::TLS13]);
    assert_eq!(suites(&tls, Version::TLS12), words(OF_MARIADB));
    assert_eq!(suites(&tls, Version::TLS13), THREE_OF_TLS13);
    let ten = "ffdhe2048 ffdhe3072 ffdhe4096 ffdhe6144 ffdhe8192 secp256r1 secp384r1 secp521r1 x25519 x448";
    assert_eq!(groups(&tls, Version::TLS13), words(ten));
    assert_eq!(groups(&tls, Version::TLS12), words("secp256r1 secp384r1 secp521r1 x25519 x448"));
    assert_eq!((tls.dh_bits, tls.dh_prime.as_deref()), (Some(2048), Some("built into MariaDB")));
    assert_eq!(
        (tls.chains.len(), tls.server_order.clone(), tls.fallback_scsv.clone()),
        (1, Some(Found::No), Some(Found::Yes))
    );
    assert_eq!(behind(&tls), goes_on(7200));
    let tls = server.look_with(server.port, Depth::Classes, Intrusive::ALL).tls.unwrap();
    assert_eq!(intrusive(&tls), [const { Some(Found::No) }; 3]);
    let asked = server.look_with(server.port, Depth::First, LOGIN);
    assert_eq!(asked.public_key, Some(Knocked::NoKey { plugin: Some("mysql_native_password".into()) }));
}

#[test]
fn a_group_replication_port_is_told_in_clear_text_and_in_tls() {
    for ssl_mode in ["DISABLED", "REQUIRED"] {
        let server = Real::start_with("mysql-9.7", |port| {
            let group = port + 2;
            [
                "--server-id=1".into(),
                "--gtid-mode=ON".into(),
                "--enforce-gtid-consistency=ON".into(),
                "--report-host=127.0.0.1".into(),
                format!("--report-port={port}"),
                "--plugin-load-add=group_replication.so".into(),
                "--group-replication-group-name=5ea11094-0000-4000-8000-000000000000".into(),
                format!("--group-replication-local-address=127.0.0.1:{group}"),
                format!("--group-replication-group-seeds=127.0.0.1:{group}"),
                format!("--group-replication-ssl-mode={ssl_mode}"),
                "--group-replication-start-on-boot=ON".into(),
                "--group-replication-bootstrap-group=ON".into(),
            ]
            .to_vec()
        });
        let port = server.port + 2;
        let deadline = Instant::now() + Duration::from_secs(UP_S_MAX);
        let log = || std::fs::read_to_string(server.directory.path().join("log")).unwrap_or_default();
        // While it begins it refuses, or hangs up at once; afterwards it waits for a word.
        let waits = || {
            let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
            stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
            std::io::Read::read(&mut stream, &mut [0]).is_err()
        };
        while !(log().contains("working as primary member") && waits()) {
            assert!(Instant::now() < deadline, "the group does not begin:\n{}", log());
            std::thread::sleep(Duration::from_millis(50));
        }
        let facts = look_as(port, Port::GroupReplication, Depth::Classes, Intrusive::NONE);
        match (ssl_mode, facts.service.unwrap()) {
            ("DISABLED", Service::GroupReplicationPlain { protocol_version: 1 }) => {
                assert_eq!(facts.tls, None);
            }
            ("REQUIRED", Service::Tls) => {
                assert_eq!(taken(&facts.tls.unwrap()), [Version::TLS12, Version::TLS13]);
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Nothing but the login that is refused.
const LOGIN: Intrusive = Intrusive { login: true, ..Intrusive::NONE };

#[test]
fn mysql_9_7_offers_its_rsa_key_to_anybody_and_says_so_only_when_asked() {
    let server = Real::start("mysql-9.7");
    let asked = server.look_with(server.port, Depth::First, LOGIN);
    let Some(Knocked::Key(key)) = asked.public_key else { panic!("{:?}", asked.public_key) };
    let of_the_server = std::fs::read(server.directory.path().join("data/public_key.pem")).unwrap();
    let of_the_server = openssl::rsa::Rsa::public_key_from_pem(&of_the_server).unwrap();
    let digest = openssl::sha::sha256(&of_the_server.public_key_to_der().unwrap());
    let digest = digest.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    assert_eq!((key.bits, key.sha256), (2048, digest));
    assert_eq!(server.look(server.port, Depth::First).public_key, None);
}

#[test]
fn mysql_9_7_has_eight_suites_and_three_groups_on_both_of_its_ports() {
    let server = Real::start("mysql-9.7");
    for port in [server.port, server.port + 1] {
        let facts = server.look(port, Depth::Full);
        match facts.service.unwrap() {
            Service::Mysql { version, flavour, .. } => {
                assert!(version.starts_with("9.7.") && flavour == "MySQL" && port == server.port);
            }
            Service::XProtocol { offers_tls: true, .. } => assert_ne!(port, server.port),
            other => panic!("{other:?}"),
        }
        let tls = facts.tls.unwrap();
        assert_eq!(taken(&tls), [Version::TLS12, Version::TLS13]);
        assert_eq!(suites(&tls, Version::TLS12), words(OF_MYSQL));
        let mut four = THREE_OF_TLS13.to_vec();
        four.insert(0, "TLS_AES_128_CCM_SHA256");
        assert_eq!(suites(&tls, Version::TLS13), four);
        assert_eq!(groups(&tls, Version::TLS13), words("secp256r1 secp384r1 secp521r1"));
        assert_eq!((tls.chains.len(), &tls.server_order), (1, &Some(Found::Yes)));
        // mysqld has an option for it (ssl_session_cache_timeout); its X plugin leaves OpenSSL's default.
        assert_eq!(behind(&tls), goes_on(if port == server.port { 300 } else { 7200 }));
        let tls = server.look_with(port, Depth::Classes, Intrusive::ALL).tls.unwrap();
        assert_eq!(intrusive(&tls), [const { Some(Found::No) }; 3]);
    }
}

#[test]
fn mariadb_11_8_wants_a_hybrid_group_first_and_shows_its_certificate_all_the_same() {
    let server = Real::start("mariadb-11.8");
    let tls = server.look(server.port, Depth::Full).tls.unwrap();
    assert_eq!(suites(&tls, Version::TLS12), words(OF_MARIADB));
    assert_eq!(suites(&tls, Version::TLS13), THREE_OF_TLS13);
    let eight = "X25519MLKEM768 ffdhe2048 ffdhe3072 secp256r1 secp384r1 secp521r1 x25519 x448";
    assert_eq!(groups(&tls, Version::TLS13), words(eight));
    assert_eq!(behind(&tls), goes_on(7200));
    let first = server.look(server.port, Depth::First);
    let tls = first.tls.unwrap();
    assert_eq!((tls.chains.len(), first.connections), (1, 2));
    assert_eq!(taken(&tls), [Version::TLS13]);
}

#[test]
#[ignore = "needs the bundle mysql-5.5 (140 MB, Maven): sealion lab fetch mysql-5.5; run with --ignored"]
fn mysql_5_5_with_yassl_shows_its_sixteen_suites_of_tls10() {
    let server = Real::start("mysql-5.5");
    let tls = server.look(server.port, Depth::Full).tls.unwrap();
    assert_eq!(taken(&tls), [Version::TLS10]);
    // OpenSSL has no name for those with RIPEMD, and other scanners do not ask for them.
    let sixteen = "AES128-SHA AES256-SHA DES-CBC-SHA DES-CBC3-SHA DHE-RSA-AES128-SHA DHE-RSA-AES256-SHA \
        DHE-RSA-DES-CBC-SHA DHE-RSA-DES-CBC3-SHA RC4-MD5 RC4-SHA \
        TLS_DHE_RSA_WITH_3DES_EDE_CBC_RMD TLS_DHE_RSA_WITH_AES_128_CBC_RMD TLS_DHE_RSA_WITH_AES_256_CBC_RMD \
        TLS_RSA_WITH_3DES_EDE_CBC_RMD TLS_RSA_WITH_AES_128_CBC_RMD TLS_RSA_WITH_AES_256_CBC_RMD";
    assert_eq!(suites(&tls, Version::TLS10), words(sixteen));
    assert_eq!((tls.dh_bits, tls.secure_renegotiation.clone()), (Some(512), Some(Found::No)));
    assert_eq!((&tls.extended_master_secret, &tls.compression), (&Some(Found::No), &Some(Found::No)));
    let (yes, no) = (|| Some(Found::Yes), || Some(Found::No));
    assert_eq!(behind(&tls), ([yes(), no(), None], [None; 2], no(), no()));
    // yaSSL tells a good padding from a bad one; so says testssl.sh.
    let robot = Intrusive { robot: true, ..Intrusive::NONE };
    let tls = server.look_with(server.port, Depth::Classes, robot).tls.unwrap();
    assert_eq!(intrusive(&tls), [None, None, yes()]);
}
