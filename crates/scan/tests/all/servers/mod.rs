//! Servers for the controls: the system's OpenSSL, an old and weak one, and byte-level responders. All on loopback, each
//! ended by its own handle. Shared by the tests of `scan` and `ops`, and by `examples/flights.rs`.
#![allow(dead_code, clippy::unwrap_used, clippy::indexing_slicing)] // Tests; not each of them uses all.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use openssl::asn1::Asn1Time;
use openssl::bn::BigNum;
use openssl::dh::Dh;
use openssl::ec::{EcGroup, EcKey};
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{PKey, Private};
use openssl::rsa::Rsa;
use openssl::x509::extension::SubjectAlternativeName;
use openssl::x509::{X509, X509NameBuilder};
use wire::{Capabilities, Greeting};

/// A server is up within this time, or it has failed.
const UP_MS_MAX: u64 = 10_000;
/// Every suite that a build has, at no security level.
pub const ALL: &str = "ALL:COMPLEMENTOFALL:@SECLEVEL=0";

/// Something that listens until it is dropped.
pub struct Server {
    pub address: SocketAddr,
    /// What keeps it alive; `None` in its second half.
    child: Option<Child>,
    ends: Arc<AtomicBool>,
    /// A server behind this one.
    pub behind: Option<Box<Server>>,
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
        self.ends.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address); // Wakes the one who accepts.
    }
}

/// A thread per connection, until the server is dropped.
pub fn responder(answer: impl Fn(TcpStream) + Send + Sync + 'static) -> Server {
    responder_at("127.0.0.1:0", answer)
}

pub fn responder_at(at: &str, answer: impl Fn(TcpStream) + Send + Sync + 'static) -> Server {
    let listener = TcpListener::bind(at).unwrap();
    let address = listener.local_addr().unwrap();
    let ends = Arc::new(AtomicBool::new(false));
    let (ending, answer) = (Arc::clone(&ends), Arc::new(answer));
    thread::spawn(move || {
        for stream in listener.incoming() {
            if ending.load(Ordering::Relaxed) {
                return;
            }
            let (Ok(stream), answer) = (stream, Arc::clone(&answer)) else { continue };
            thread::spawn(move || answer(stream));
        }
    });
    Server { address, child: None, ends, behind: None }
}

/// The system's `openssl s_server`, or the one that `SEALION_OPENSSL` names.
pub fn openssl(arguments: &[&str]) -> Server {
    let program = std::env::var("SEALION_OPENSSL").unwrap_or_else(|_| "openssl".into());
    s_server(Path::new(&program), arguments, "/dev/null")
}

/// The same without the extended master secret and encrypt-then-MAC.
pub fn openssl_without_ems(arguments: &[&str]) -> Server {
    let conf = files().join("no-ems.cnf");
    s_server(Path::new("openssl"), arguments, conf.to_str().unwrap())
}

/// OpenSSL 1.1.0i with everything weak that it still has (`scripts/weak-openssl.sh`).
pub fn weak_openssl(arguments: &[&str]) -> Server {
    let program = std::env::var_os("SEALION_WEAK_OPENSSL").map_or_else(
        || {
            let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
            let base = std::env::var_os("XDG_CACHE_HOME").map_or_else(|| home.join(".cache"), PathBuf::from);
            std::env::var_os("SEALION_CACHE")
                .map_or_else(|| base.join("sealion"), PathBuf::from)
                .join("weak/openssl-1.1.0i/openssl")
        },
        PathBuf::from,
    );
    assert!(
        program.is_file(),
        "no weak OpenSSL here: run scripts/weak-openssl.sh (or scripts/setup.sh weak)"
    );
    s_server(&program, arguments, "/dev/null")
}

fn s_server(program: &Path, arguments: &[&str], conf: &str) -> Server {
    let mut said = String::new();
    // Somebody else may take the port in the moment between the kernel's giving and the server's taking it.
    for _ in 0..5 {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut command = Command::new(program);
        command.args(["s_server", "-quiet", "-www", "-accept", &address.to_string()]);
        if !arguments.contains(&"-cert") && !arguments.contains(&"-nocert") {
            command.args(["-cert", "good.pem", "-key", "good.key"]);
        }
        command.args(arguments).current_dir(files()).env("OPENSSL_CONF", conf);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let deadline = Instant::now() + Duration::from_millis(UP_MS_MAX);
        while child.try_wait().unwrap().is_none() {
            if TcpStream::connect(address).is_ok() {
                let mut errors = child.stderr.take().unwrap();
                thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
                let ends = Arc::default();
                return Server { address, child: Some(child), ends, behind: None };
            }
            assert!(Instant::now() < deadline, "{arguments:?} does not listen");
            thread::sleep(Duration::from_millis(5));
        }
        let _ = child.stderr.take().unwrap().read_to_string(&mut said);
    }
    panic!("openssl s_server {arguments:?} does not start: {said}")
}

/// Keys, certificates and parameters, made once for all tests of a program.
pub fn files() -> &'static Path {
    static FILES: OnceLock<tempfile::TempDir> = OnceLock::new();
    FILES.get_or_init(make_files).path()
}

/// Nothing drops what a static holds: whoever comes next removes what ended programs have left, which is beside their build.
fn own_directory() -> tempfile::TempDir {
    const PREFIX: &str = "controls-";
    // Examples, which have these servers too, are given none.
    let parent = option_env!("CARGO_TARGET_TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
    for entry in std::fs::read_dir(&parent).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let of = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next());
        if of.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    tempfile::Builder::new().prefix(&format!("{PREFIX}{}-", std::process::id())).tempdir_in(parent).unwrap()
}

/// What is said of one certificate.
struct Wanted {
    name: &'static str,
    names: &'static [&'static str],
    from_days: i64,
    until_days: i64,
    digest: MessageDigest,
    issuer: Option<&'static str>,
}

fn make_files() -> tempfile::TempDir {
    let directory = own_directory();
    let rsa = |bits| PKey::from_rsa(Rsa::generate(bits).unwrap()).unwrap();
    let ec = |curve| {
        PKey::from_ec_key(EcKey::generate(&EcGroup::from_curve_name(curve).unwrap()).unwrap()).unwrap()
    };
    let key = rsa(2048);
    let ca = rsa(2048);
    let (sha256, ours) = (MessageDigest::sha256(), &["IP:127.0.0.1", "DNS:localhost"][..]);
    let good = Wanted {
        name: "good",
        names: ours,
        from_days: -1,
        until_days: 365,
        digest: sha256,
        issuer: Some("the controls' CA"),
    };
    let write = |wanted: &Wanted, key: &PKey<Private>| {
        let path = |ending: &str| directory.path().join(format!("{}.{ending}", wanted.name));
        std::fs::write(path("key"), key.private_key_to_pem_pkcs8().unwrap()).unwrap();
        std::fs::write(path("pem"), certificate(wanted, key, &ca)).unwrap();
    };
    write(&good, &key);
    for wanted in [
        Wanted { name: "self-signed", issuer: None, ..good },
        Wanted { name: "expired", from_days: -20, until_days: -1, ..good },
        Wanted { name: "not-yet", from_days: 3, ..good },
        Wanted { name: "ends-soon", until_days: 10, ..good },
        Wanted { name: "sha1", digest: MessageDigest::sha1(), ..good },
        Wanted { name: "md5", digest: MessageDigest::md5(), ..good },
        Wanted { name: "other-name", names: &["DNS:db1.example"], ..good },
        Wanted { name: "no-names", names: &[], ..good },
    ] {
        write(&wanted, &key);
    }
    write(&Wanted { name: "rsa1024", ..good }, &rsa(1024));
    write(&Wanted { name: "p192", ..good }, &ec(Nid::X9_62_PRIME192V1));
    write(&Wanted { name: "p256", ..good }, &ec(Nid::X9_62_PRIME256V1));
    let ended = Wanted {
        name: "expired-p256",
        names: &["DNS:other.example"],
        from_days: -20,
        until_days: -1,
        ..good
    };
    write(&ended, &ec(Nid::X9_62_PRIME256V1));
    // One large certificate over many records: 4,000 names of 20 bytes.
    for (name, prime) in [
        ("dh1024", BigNum::get_rfc2409_prime_1024().unwrap()),
        ("dh2048", BigNum::get_rfc3526_prime_2048().unwrap()),
    ] {
        let group = Dh::from_pqg(prime, None, BigNum::from_u32(2).unwrap()).unwrap();
        std::fs::write(directory.path().join(format!("{name}.pem")), group.params_to_pem().unwrap()).unwrap();
    }
    let conf = "openssl_conf = c\n[c]\nssl_conf = s\n[s]\nsystem_default = d\n[d]\n\
                Options = -ExtendedMasterSecret,-EncryptThenMac\n";
    std::fs::write(directory.path().join("no-ems.cnf"), conf).unwrap();
    // s_server sends the file as it is: a staple need not be a good one to be seen.
    std::fs::write(directory.path().join("ocsp.der"), [0x30, 3, 0x0a, 1, 6]).unwrap();
    directory
}

fn certificate(wanted: &Wanted, key: &PKey<Private>, ca: &PKey<Private>) -> Vec<u8> {
    let name = |text: &str| {
        let mut name = X509NameBuilder::new().unwrap();
        name.append_entry_by_text("CN", text).unwrap();
        name.build()
    };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let day = |days: i64| Asn1Time::from_unix(i64::try_from(now).unwrap() + days * 86_400).unwrap();
    let mut builder = X509::builder().unwrap();
    builder.set_version(2).unwrap();
    builder.set_subject_name(&name(wanted.name)).unwrap();
    builder.set_issuer_name(&name(wanted.issuer.unwrap_or(wanted.name))).unwrap();
    builder.set_serial_number(&BigNum::from_u32(7).unwrap().to_asn1_integer().unwrap()).unwrap();
    builder.set_not_before(&day(wanted.from_days)).unwrap();
    builder.set_not_after(&day(wanted.until_days)).unwrap();
    builder.set_pubkey(key).unwrap();
    if !wanted.names.is_empty() {
        let mut names = SubjectAlternativeName::new();
        for one in wanted.names {
            match one.split_once(':') {
                Some(("IP", ip)) => names.ip(ip),
                _ => names.dns(one.trim_start_matches("DNS:")),
            };
        }
        let names = names.build(&builder.x509v3_context(None, None)).unwrap();
        builder.append_extension(names).unwrap();
    }
    builder.sign(if wanted.issuer.is_some() { ca } else { key }, wanted.digest).unwrap();
    builder.build().to_pem().unwrap()
}

/// MySQL's greeting as MariaDB 10.11 lays it out.
pub fn greeting(offers_tls: bool) -> Vec<u8> {
    let capabilities =
        Capabilities::PROTOCOL_41 | Capabilities::SECURE_CONNECTION | Capabilities::PLUGIN_AUTH;
    let payload = wire::greeting::encode(&Greeting {
        protocol: 10,
        version: "5.5.5-10.11.19-MariaDB-control".into(),
        connection_id: 7,
        nonce: vec![0x41; 20],
        capabilities: if offers_tls { capabilities | Capabilities::SSL } else { capabilities },
        mariadb_capabilities: 0x1d,
        charset: 8,
        status: 2,
        auth_plugin: Some("mysql_native_password".into()),
    });
    packet(0, &payload)
}

pub fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = u32::try_from(payload.len()).unwrap().to_le_bytes()[..3].to_vec();
    bytes.push(sequence);
    bytes.extend_from_slice(payload);
    bytes
}

/// An error packet as it comes in place of a greeting: without a state.
pub fn error_in_place_of_a_greeting(code: u16, text: &str) -> Vec<u8> {
    let mut payload = vec![0xff];
    payload.extend_from_slice(&code.to_le_bytes());
    payload.extend_from_slice(text.as_bytes());
    packet(0, &payload)
}

/// Greets without CLIENT_SSL, and refuses whatever comes. Byte-level.
pub fn mysql_without_tls() -> Server {
    responder(|mut stream| {
        let _ = stream.write_all(&greeting(false));
        let _ = stream.read(&mut [0; 64]);
    })
}

/// Greets, takes an SSLRequest, and hands the rest to `tls`: STARTTLS as MySQL does it, in front of a real TLS server.
pub fn mysql_in_front_of(tls: Server) -> Server {
    let address = tls.address;
    let mut front = responder(move |mut stream| {
        let _ = stream.write_all(&greeting(true));
        let mut request = [0; 36];
        if stream.read_exact(&mut request).is_ok() && request[..4] == [32, 0, 0, 1] {
            join(&stream, address, &[]);
        }
    });
    front.behind = Some(Box::new(tls));
    front
}

/// What a plain Galera port says first: recorded of Galera 26.4.23.
pub const GCOMM: &[u8] = include_bytes!("../../../../wire/testdata/gcomm/galera-26.4.23-segment-3.bin");

/// Speaks first, as a plain Galera port does; with `tls`, it takes a handshake too (`socket.dynamic=YES`). Byte-level.
pub fn galera(tls: Option<Server>) -> Server {
    let behind = tls.as_ref().map(|server| server.address);
    let mut front = responder(move |mut stream| {
        let mut first = [0; 5];
        // As the real one: it waits half a second for a peer that begins TLS, and then speaks.
        let _ = stream.set_read_timeout(Some(Duration::from_millis(100)));
        match (stream.read_exact(&mut first), behind) {
            (Ok(()), Some(behind)) if first[0] == 0x16 => join(&stream, behind, &first),
            _ => {
                let _ = stream.write_all(GCOMM);
                let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
                let _ = stream.read(&mut first);
            }
        }
    });
    front.behind = tls.map(Box::new);
    front
}

/// Answers a Group Replication peer in cleartext, with what MySQL 9.7.4 answers. Byte-level.
pub fn xcom() -> Server {
    responder(|mut stream| {
        let mut request = [0; 12];
        let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
        if stream.read_exact(&mut request).is_ok() && request.starts_with(&[0, 0, 0, 1, 0, 0, 0, 0, 1]) {
            let _ = stream.write_all(&[0, 0, 0, 1, 0, 0, 0, 0, 2, request[9], request[10], 0]);
            let _ = stream.read(&mut request);
        }
    })
}

/// Carries bytes both ways until one side has ended.
pub fn join(near: &TcpStream, behind: SocketAddr, already: &[u8]) {
    let Ok(mut far) = TcpStream::connect(behind) else { return };
    let _ = near.set_read_timeout(None);
    let _ = far.write_all(already);
    let (mut from, mut to) = (near.try_clone().unwrap(), far.try_clone().unwrap());
    thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Both);
    });
    let mut near = near.try_clone().unwrap();
    let _ = std::io::copy(&mut far, &mut near);
    let _ = near.shutdown(Shutdown::Both);
}

/// Two servers behind one address, taken in turns: a session that one gave is nothing to the other.
pub fn in_turns(one: Server, mut other: Server) -> Server {
    let (addresses, count) = ([one.address, other.address], AtomicU32::new(0));
    let mut front = responder(move |stream| {
        let turn = count.fetch_add(1, Ordering::Relaxed) as usize;
        join(&stream, addresses[turn % 2], &[]);
    });
    other.behind = Some(Box::new(one));
    front.behind = Some(Box::new(other));
    front
}

/// How a server with the key `good.key` gives away whether a secret was well padded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Oracle {
    /// Alert 40 at once, instead of what the server behind would say.
    Always,
    /// The same, only where nothing follows the key exchange for a while.
    Unfollowed,
    /// The same, and what follows ends every connection with words of MySQL's, outside of TLS, as with yaSSL.
    Worded,
    /// Something else each time, whatever the padding: no oracle, but a server that is broken.
    Dice,
}

/// A server in front of a real one (`good.key`, TLS 1.2 and older) that looks into the secrets under its RSA key on their
/// way: every handshake can be finished with it. Byte-level.
pub fn oracle_in_front_of(tls: Server, oracle: Oracle) -> Server {
    oracle_in_front_of_at("127.0.0.1:0", tls, oracle)
}

pub fn oracle_in_front_of_at(at: &str, tls: Server, oracle: Oracle) -> Server {
    let (address, count) = (tls.address, AtomicU32::new(0));
    let key = std::fs::read(files().join("good.key")).unwrap();
    let mut front = responder_at(at, move |mut near| {
        let rsa = PKey::private_key_from_pem(&key).unwrap().rsa().unwrap();
        let Ok(mut far) = TcpStream::connect(address) else { return };
        let (mut from, mut to) = (far.try_clone().unwrap(), near.try_clone().unwrap());
        thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Both);
        });
        while let Some(record) = read_record(&mut near) {
            if record[0] == 22 && record.get(5) == Some(&16) {
                let _ = near.set_read_timeout(Some(Duration::from_millis(200)));
                let waits = matches!(oracle, Oracle::Unfollowed | Oracle::Worded);
                let next = if waits { peek(&near) } else { None };
                let _ = near.set_read_timeout(None);
                if oracle == Oracle::Worded && next == Some(20) {
                    let _ = near.write_all(b"\x15\0\0\x03\xff\x13\x04#08S01Bad handshake");
                    break;
                }
                let bad = match oracle {
                    Oracle::Dice => count.fetch_add(1, Ordering::Relaxed) % 3 == 0,
                    Oracle::Unfollowed if next == Some(20) => false,
                    _ => !is_well_padded(&rsa, &record[11..]),
                };
                if bad {
                    let _ = near.write_all(&[0x15, record[1], record[2], 0, 2, 2, 40]);
                    break;
                }
            }
            if far.write_all(&record).is_err() {
                break;
            }
        }
        let _ = far.shutdown(Shutdown::Both);
        let _ = near.shutdown(Shutdown::Both);
    });
    front.behind = Some(Box::new(tls));
    front
}

/// A library with room for `suites_max` suites: it ends a longer list with alert 50, as wolfSSL does over 150.
pub fn short_lists_in_front_of(tls: Server, suites_max: usize) -> Server {
    let address = tls.address;
    let mut front = responder(move |mut near| {
        // A hello of SSL 2.0 has no record, and no list of that kind.
        if peek(&near) != Some(22) {
            return join(&near, address, &[]);
        }
        let Some(hello) = read_record(&mut near) else { return };
        // Header of the record (5), type and length (4), version and random (34), the session id, the list's length.
        let at = 44 + usize::from(hello[43]);
        if usize::from(u16::from_be_bytes([hello[at], hello[at + 1]])) / 2 > suites_max {
            let _ = near.write_all(b"\x15\x03\x03\x00\x02\x02\x32");
        } else {
            join(&near, address, &hello);
        }
    });
    front.behind = Some(Box::new(tls));
    front
}

fn is_well_padded(rsa: &Rsa<Private>, sealed: &[u8]) -> bool {
    let mut block = vec![0; rsa.size() as usize];
    let opened = rsa.private_decrypt(sealed, &mut block, openssl::rsa::Padding::NONE);
    let zero = block.iter().skip(2).position(|&byte| byte == 0);
    opened.is_ok() && block.starts_with(&[0, 2]) && zero.is_some_and(|at| block.len() - (at + 3) == 48)
}

/// Carries records to `behind` and bytes back; notes a heartbeat, or a ChangeCipherSpec before any key exchange.
pub fn watch(near: &TcpStream, behind: SocketAddr, noted: &AtomicBool) {
    let Ok(mut far) = TcpStream::connect(behind) else { return };
    let (mut from, mut to) = (far.try_clone().unwrap(), near.try_clone().unwrap());
    thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Both);
    });
    let (mut near, mut has_key) = (near.try_clone().unwrap(), false);
    let mut first = [0];
    if near.peek(&mut first).is_ok() && first[0] & 0x80 != 0 {
        let _ = std::io::copy(&mut near, &mut far); // A hello of SSL 2.0 has no record.
    }
    while let Some(record) = read_record(&mut near) {
        has_key |= record[0] == 22 && record.get(5) == Some(&16);
        if record[0] == 24 || record[0] == 20 && !has_key {
            noted.store(true, Ordering::Relaxed);
        }
        if far.write_all(&record).is_err() {
            break;
        }
    }
    let _ = far.shutdown(Shutdown::Both);
}

/// One whole record with its header.
fn read_record(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut record = vec![0; 5];
    stream.read_exact(&mut record).ok()?;
    let bytes = usize::from(u16::from_be_bytes([record[3], record[4]]));
    record.resize(5 + bytes, 0);
    stream.read_exact(&mut record[5..]).ok()?;
    Some(record)
}

fn peek(stream: &TcpStream) -> Option<u8> {
    let mut byte = [0];
    matches!(stream.peek(&mut byte), Ok(1)).then_some(byte[0])
}

/// What a server of [`Flights`] does with records behind its flight.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Habits {
    /// As OpenSSL 1.0.1e: a heartbeat is answered with as many bytes as it says that it has; a ChangeCipherSpec is taken
    /// without a word, and what comes then cannot be decrypted.
    Of101e,
    /// As OpenSSL 1.0.1h: such a heartbeat is passed over, and an early ChangeCipherSpec is refused.
    Of101h,
}

impl Habits {
    /// Every answer as seen of a live 1.0.1e, in each version; the refusals as seen of 1.1.0i.
    fn keep(self, stream: &mut TcpStream) {
        let (mut has_changed, mut kept_back) = (false, Vec::new());
        while let Some(record) = read_record(stream) {
            let mut fatal = |description| {
                kept_back.extend_from_slice(&[0x15, record[1], record[2], 0, 2, 2, description]);
                let _ = stream.write_all(&kept_back);
            };
            match (record[0], self) {
                // Only SSL 3.0 has no alert of its own for it.
                _ if has_changed => return fatal(if record[2] == 0 { 20 } else { 21 }),
                (20, Self::Of101e) => has_changed = true,
                (20 | 23, _) => return fatal(10),
                (24, Self::Of101e) if record.len() >= 8 => {
                    let bytes = 3 + u16::from_be_bytes([record[6], record[7]]) + 16;
                    kept_back.extend_from_slice(&[24, record[1], record[2]]);
                    kept_back.extend_from_slice(&bytes.to_be_bytes());
                    kept_back.extend_from_slice(&[2, record[6], record[7]]);
                    kept_back.resize(kept_back.len() + usize::from(bytes) - 3, 0);
                    // The buffer of a handshake, which goes out when it is full or with a fatal alert.
                    if kept_back.len() > 4096 {
                        let _ = stream.write_all(&std::mem::take(&mut kept_back));
                    }
                }
                (21, _) => return,
                _ => {}
            }
        }
    }
}

/// Plays the first flights that `examples/flights.rs` recorded of a real server: `ssl2.hex` for SSL 2.0, else
/// `VERSION-SUITE.hex` for the first suite of the client's that there is a flight for; an alert where there is none.
/// TLS_FALLBACK_SCSV is passed over, as that server did. Byte-level: no handshake can be finished.
pub struct Flights(BTreeMap<String, Vec<u8>>);

impl Flights {
    pub fn read(directory: &Path) -> Self {
        let mut flights = BTreeMap::new();
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".hex")) else {
                continue;
            };
            flights.insert(name.to_owned(), unhex(&std::fs::read_to_string(&path).unwrap()));
        }
        assert!(!flights.is_empty(), "no flights in {}", directory.display());
        Self(flights)
    }

    /// The flights of OpenSSL 1.0.1e, the last with everything: SSL 2.0, export suites, no SCSV, no master secret extension.
    pub fn of_openssl_101() -> Self {
        Self::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../scan/testdata/openssl-1.0.1e"))
    }

    /// As if a server of 2009 had said it: without renegotiation_info.
    #[must_use]
    pub fn without_renegotiation_info(mut self) -> Self {
        for flight in self.0.values_mut() {
            let extension = [0xff, 0x01, 0x00, 0x01, 0x00];
            let Some(at) = flight.windows(5).position(|window| window == extension) else { continue };
            // An extension of the same length that nobody knows: every length around it stays right.
            flight[at..at + 2].copy_from_slice(&[0xfe, 0xfe]);
        }
        self
    }

    #[must_use]
    pub fn without_ssl2(mut self) -> Self {
        self.0.remove("ssl2");
        self
    }

    pub fn play(self) -> Server {
        self.play_at("127.0.0.1:0")
    }

    pub fn play_at(self, at: &str) -> Server {
        responder_at(at, move |mut stream| {
            let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
            if let Some(hello) = read_hello(&mut stream) {
                let _ = stream.write_all(&self.answer(&hello));
                let _ = stream.read(&mut [0; 1024]); // Whatever is said to it, it has nothing more to say.
            }
        })
    }

    /// The same, and answers the first bytes that come behind its flight by `end`.
    pub fn play_then(self, end: impl Fn(TcpStream) + Send + Sync + 'static) -> Server {
        responder(move |mut stream| {
            let Some(hello) = read_hello(&mut stream) else { return };
            let _ = stream.write_all(&self.answer(&hello));
            if matches!(stream.read(&mut [0; 4096]), Ok(1..)) {
                end(stream);
            }
        })
    }

    /// The same, and goes on with what comes behind.
    pub fn play_with(self, habits: Habits) -> Server {
        self.play_with_at("127.0.0.1:0", habits)
    }

    pub fn play_with_at(self, at: &str, habits: Habits) -> Server {
        responder_at(at, move |mut stream| {
            let _ = stream.set_read_timeout(Some(Duration::from_secs(20)));
            if let Some(hello) = read_hello(&mut stream) {
                let _ = stream.write_all(&self.answer(&hello));
                habits.keep(&mut stream);
            }
        })
    }

    fn answer(&self, hello: &Hello) -> Vec<u8> {
        let alert = |description| vec![0x15, 3, 1, 0, 2, 2, description];
        match hello {
            Hello::Ssl2 => self.0.get("ssl2").cloned().unwrap_or_default(),
            Hello::Later { version, suites } => {
                let version = (*version).min(0x0303);
                suites
                    .iter()
                    .find_map(|suite| self.0.get(&format!("{version:04x}-{suite:04x}")).cloned())
                    .unwrap_or_else(|| alert(40))
            }
        }
    }
}

enum Hello {
    Ssl2,
    Later { version: u16, suites: Vec<u16> },
}

fn read_hello(stream: &mut TcpStream) -> Option<Hello> {
    let mut header = [0; 5];
    stream.read_exact(&mut header).ok()?;
    if header[0] & 0x80 != 0 && header[2] == 1 {
        return Some(Hello::Ssl2);
    }
    let mut message = vec![0; usize::from(u16::from_be_bytes([header[3], header[4]]))];
    stream.read_exact(&mut message).ok()?;
    let number = |at: usize| Some(u16::from_be_bytes(message.get(at..at + 2)?.try_into().ok()?));
    let after_id = 39 + usize::from(*message.get(38)?);
    let bytes = usize::from(number(after_id)?);
    let suites = message.get(after_id + 2..after_id + 2 + bytes)?.chunks_exact(2);
    Some(Hello::Later {
        version: number(4)?,
        suites: suites.map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect(),
    })
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(str::bytes)
        .filter(u8::is_ascii_hexdigit)
        .collect();
    digits
        .chunks_exact(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}
