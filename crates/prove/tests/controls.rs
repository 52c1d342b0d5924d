//! A careless client falls in every case, and a strict one in none: only then does a verdict say something.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use net::auth::scramble_native;
use net::{Client, ConnectOptions, Endpoint, ExposeSecret, SecretString, SslMode};
use openssl::ssl::{SslConnector, SslMethod, SslVerifyMode, SslVersion};
use prove::attack::Family;
use prove::attacks::{ATTACKS, attack};
use prove::talk::{Channel, Disclosure};
use prove::{Attack, Protocol, Rogue, Settings, Verdict};
use wire::greeting::{self, FirstPacket};
use wire::login::{CHARSET_UTF8MB4, HandshakeResponse, SslRequest};
use wire::packet::{PacketBuffer, write_payload};
use wire::{AuthAnswer, Capabilities};

const PASSWORD: &str = "not-a-real-password";
const CANARY: &[u8] = b"a canary that the test made\n";
const ALL_ENDED: Duration = Duration::from_secs(20);

fn rogue(dir: &tempfile::TempDir) -> Rogue {
    start(dir, Protocol::MySql)
}

fn start(dir: &tempfile::TempDir, protocol: Protocol) -> Rogue {
    let path = dir.path().join("canary");
    std::fs::write(&path, CANARY).unwrap();
    let settings = Settings {
        bind: [127, 0, 0, 1].into(),
        host: "localhost".into(),
        password: SecretString::from(PASSWORD),
        canary: CANARY.to_vec(),
        canary_path: path.to_str().unwrap().into(),
    };
    Rogue::start(settings, ATTACKS, &[protocol], 0).unwrap()
}

/// Does whatever it is told: answers every plugin with what it asks for, sends every file, believes every byte.
struct Careless {
    packets: PacketBuffer,
    sequence: u8,
}

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

impl Careless {
    fn packet(&mut self, stream: &mut dyn Stream) -> Option<Vec<u8>> {
        let mut buffer = [0; 4096];
        loop {
            if let Some(packet) = self.packets.next_packet().ok()? {
                self.sequence = packet.last_sequence.wrapping_add(1);
                return Some(packet.payload.to_vec());
            }
            let count = stream.read(&mut buffer).ok().filter(|count| *count > 0)?;
            self.packets.push(&buffer[..count]);
        }
    }

    fn send(&mut self, stream: &mut dyn Stream, payload: &[u8]) {
        let mut out = Vec::new();
        write_payload(&mut out, &mut self.sequence, payload);
        let _ = stream.write_all(&out);
    }

    fn visit(port: u16) -> Option<()> {
        Self::visit_with(port, false)
    }

    /// `None` where the server's bytes end it. With `drops_early` what came before TLS is forgotten, and nothing else differs.
    fn visit_with(port: u16, drops_early: bool) -> Option<()> {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let mut this = Self { packets: PacketBuffer::new(1 << 16), sequence: 0 };
        let first = this.packet(&mut stream)?;
        let FirstPacket::Greeting(greeting) = greeting::parse(&first).ok()? else { return None };
        let mut head = SslRequest {
            capabilities: Capabilities::PROTOCOL_41
                | Capabilities::SECURE_CONNECTION
                | Capabilities::PLUGIN_AUTH
                | Capabilities::LOCAL_FILES,
            mariadb_capabilities: 0,
            max_packet_bytes: 1 << 20,
            charset: CHARSET_UTF8MB4,
        };
        if !greeting.offers_tls() {
            return this.log_in(&mut stream, &greeting.nonce, &head);
        }
        head.capabilities = head.capabilities | Capabilities::SSL;
        let mut request = Vec::new();
        head.encode(&mut request);
        this.send(&mut stream, &request);
        let mut connector = SslConnector::builder(SslMethod::tls_client()).unwrap();
        connector.set_verify(SslVerifyMode::NONE);
        connector.set_security_level(0);
        connector.set_min_proto_version(Some(SslVersion::TLS1)).unwrap();
        connector.set_cipher_list("ALL:COMPLEMENTOFALL:@SECLEVEL=0").unwrap();
        let mut configuration = connector.build().configure().unwrap();
        configuration.set_verify_hostname(false);
        let connected = configuration.connect("localhost", &stream);
        if drops_early {
            this.packets = PacketBuffer::new(1 << 16);
        }
        match connected {
            Ok(mut session) => this.log_in(&mut session, &greeting.nonce, &head),
            // An error in cleartext: the careless go on without TLS.
            Err(_) => None,
        }
    }

    fn log_in(&mut self, stream: &mut dyn Stream, nonce: &[u8], head: &SslRequest) -> Option<()> {
        let scramble = scramble_native(PASSWORD.as_bytes(), nonce);
        let login = HandshakeResponse {
            head: *head,
            user: b"app",
            auth_response: &scramble,
            database: None,
            auth_plugin: Some("mysql_native_password"),
            attributes: vec![],
        };
        let mut payload = Vec::new();
        login.encode(&mut payload).unwrap();
        self.send(stream, &payload);
        let clear = [PASSWORD.as_bytes(), b"\0"].concat();
        loop {
            let answer = self.packet(stream)?;
            match AuthAnswer::parse(&answer).ok()? {
                AuthAnswer::Ok(_) => break,
                AuthAnswer::Err(_) => return None,
                AuthAnswer::SwitchToOldPassword => self.send(stream, b"12345678\0"),
                // Whatever it is, the password in cleartext is the most careless answer.
                AuthAnswer::Switch(_) | AuthAnswer::More(_) => self.send(stream, &clear),
            }
        }
        self.sequence = 0;
        self.send(stream, b"\x03SELECT 1");
        let answer = self.packet(stream)?;
        if answer.first() == Some(&0xfb) {
            let file = std::fs::read(std::str::from_utf8(&answer[1..]).ok()?).ok()?;
            self.send(stream, &file);
            self.send(stream, b"");
            self.packet(stream)?;
        }
        self.sequence = 0;
        self.send(stream, b"\x01");
        Some(())
    }
}

/// The one visit of an attack.
fn verdict(rogue: &Rogue, attack: &Attack) -> (Verdict, prove::TalkRecord) {
    let visits = rogue.visits(ALL_ENDED);
    let [visit] = &visits[..] else { panic!("{}: {visits:?}", attack.id) };
    assert_eq!(visit.attack.id, attack.id);
    (Verdict::of(&visit.seen), visit.seen.clone())
}

#[test]
fn a_careless_client_falls_in_every_case() {
    let dir = tempfile::tempdir().unwrap();
    let rogue = rogue(&dir);
    for one in ATTACKS {
        let _ = Careless::visit(rogue.port(one, Protocol::MySql).unwrap());
        let (verdict, seen) = verdict(&rogue, one);
        let expected = match (one.family, one.id) {
            (Family::Strip, _) | (_, "old-server") => Verdict::Accepted(Channel::Clear),
            (Family::Password, "clear-password-tls") => Verdict::PasswordObtained(Channel::Tls),
            (Family::Password, "old-password") => Verdict::Accepted(Channel::Clear),
            (Family::Password, _) => Verdict::PasswordObtained(Channel::Clear),
            (Family::File, _) => Verdict::FileObtained(Channel::Clear),
            // These are about what a client shows or reads, and end before a login.
            (Family::Noise, _) | (_, "error-before-tls") => Verdict::RefusedAfterGreeting,
            _ => Verdict::Accepted(Channel::Tls),
        };
        assert_eq!(verdict, expected, "{}: {seen:?}", one.id);
        let debug = format!("{seen:?}");
        assert!(!debug.contains(PASSWORD), "{debug}");
        assert!(!seen.trace.lines().is_empty(), "{}: {debug}", one.id);
    }
}

#[test]
fn who_forgets_what_came_before_tls_waits_for_an_answer_and_has_not_fallen() {
    let dir = tempfile::tempdir().unwrap();
    let rogue = rogue(&dir);
    let early = attack("ok-before-tls").unwrap();
    for (drops_early, letters, is_fall) in [(true, "cT", false), (false, "AT", true)] {
        let _ = Careless::visit_with(rogue.port(early, Protocol::MySql).unwrap(), drops_early);
        let (verdict, seen) = verdict(&rogue, early);
        assert_eq!((verdict.letters(), verdict.is_fall(early)), (letters, is_fall), "{seen:?}");
        assert!(seen.trace.lines().contains(&"rogue, TLS: sends nothing".to_owned()), "{seen:?}");
    }
    // Elsewhere a login that is refused afterwards was one too many.
    assert!(Verdict::LoginThenRefused(Channel::Tls).is_fall(attack("self-signed").unwrap()));
}

#[test]
fn a_strict_client_falls_in_none() {
    let dir = tempfile::tempdir().unwrap();
    let rogue = rogue(&dir);
    let ca = dir.path().join("ca.pem");
    std::fs::write(&ca, rogue.ca_pem()).unwrap();
    let crl = dir.path().join("crl.pem");
    std::fs::write(&crl, rogue.crl_pem()).unwrap();
    for one in ATTACKS {
        let mut options =
            ConnectOptions::new(Endpoint::tcp("localhost", rogue.port(one, Protocol::MySql).unwrap()), "app");
        options.password = Some(SecretString::from(PASSWORD));
        options.tls.mode = SslMode::VerifyIdentity;
        options.tls.ca = Some(ca.clone());
        options.tls.crl = Some(crl.clone());
        let connected = Client::connect(&options).map(|mut client| client.query("SELECT 1").map(|_| ()));
        if one.id == "revoked" {
            let why = connected.as_ref().unwrap_err().to_string();
            assert!(why.contains("certificate revoked"), "{why}");
        }
        let (verdict, seen) = verdict(&rogue, one);
        let is_safe = matches!(verdict, Verdict::RefusedAfterGreeting | Verdict::RefusedInHandshake);
        match one.id {
            "honest" => assert_eq!(verdict, Verdict::Accepted(Channel::Tls), "{connected:?}"),
            // The right name of the right CA, in another place: OpenSSL takes them.
            "cn-only" | "wildcard" | "address-in-cn" if verdict == Verdict::Accepted(Channel::Tls) => {}
            _ => assert!(is_safe, "{}: {verdict} {connected:?} {seen:?}", one.id),
        }
    }
}

/// A donor of an SST, without the database: TLS first, and a few bytes of its own.
fn send_stream(port: u16, ca: Option<&std::path::Path>) -> std::io::Result<()> {
    let mut connector = SslConnector::builder(SslMethod::tls_client())?;
    if let Some(ca) = ca {
        connector.set_ca_file(ca)?;
        connector.set_min_proto_version(Some(SslVersion::TLS1_2))?;
    } else {
        connector.set_verify(SslVerifyMode::NONE);
        connector.set_security_level(0);
        connector.set_min_proto_version(Some(SslVersion::TLS1))?;
        connector.set_cipher_list("ALL:COMPLEMENTOFALL:@SECLEVEL=0")?;
    }
    let mut configuration = connector.build().configure()?;
    configuration.set_verify_hostname(ca.is_some());
    match configuration.connect("localhost", TcpStream::connect(("127.0.0.1", port))?) {
        Ok(mut session) => session.write_all(STREAM),
        // Without TLS, if it must be.
        Err(_) if ca.is_none() => TcpStream::connect(("127.0.0.1", port))?.write_all(STREAM),
        Err(error) => Err(std::io::Error::other(error.to_string())),
    }
}

const STREAM: &[u8] = b"XBSTCK01 a database";

#[test]
fn a_careless_stream_falls_to_all_that_is_about_tls_and_a_strict_one_to_none() {
    let dir = tempfile::tempdir().unwrap();
    let rogue = start(&dir, Protocol::Stream);
    let ca = dir.path().join("ca.pem");
    std::fs::write(&ca, rogue.ca_pem()).unwrap();
    let played: Vec<&Attack> =
        ATTACKS.iter().copied().filter(|one| one.is_played_in(Protocol::Stream)).collect();
    assert!(played.iter().all(|one| !matches!(one.family, Family::Password | Family::File | Family::Noise)));
    assert!(played.len() > 15 && rogue.port(played[0], Protocol::MySql).is_none());
    let worst = |one: &Attack| {
        let visits = rogue.visits(ALL_ENDED);
        assert!(visits.iter().all(|visit| visit.attack.id == one.id), "{visits:?}");
        assert!(!format!("{visits:?}").contains("a database"));
        visits.iter().map(|visit| Verdict::of(&visit.seen)).max().unwrap()
    };
    for one in played {
        let port = rogue.port(one, Protocol::Stream).unwrap();
        send_stream(port, None).unwrap();
        let over = if one.family == Family::Strip { Channel::Clear } else { Channel::Tls };
        assert_eq!(worst(one), Verdict::Accepted(over), "{}", one.id);
        let sent = send_stream(port, Some(&ca));
        let verdict = worst(one);
        let may = ["honest", "cn-only", "wildcard", "address-in-cn", "revoked"];
        match sent {
            Ok(()) => {
                assert!(may.contains(&one.id) && verdict == Verdict::Accepted(Channel::Tls), "{}", one.id);
            }
            Err(error) => {
                let is_safe = matches!(verdict, Verdict::RefusedAfterGreeting | Verdict::RefusedInHandshake);
                assert!(is_safe && one.id != "honest", "{}: {verdict} {error}", one.id);
            }
        }
    }
}

#[test]
fn a_stream_in_clear_to_one_who_speaks_tls_is_seen_as_what_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let rogue = start(&dir, Protocol::Stream);
    let honest = attack("honest").unwrap();
    let port = rogue.port(honest, Protocol::Stream).unwrap();
    TcpStream::connect(("127.0.0.1", port)).unwrap().write_all(STREAM).unwrap();
    let (in_clear, seen) = verdict(&rogue, honest);
    assert_eq!(in_clear, Verdict::Accepted(Channel::Clear), "{seen:?}");
    // Nothing at all is nothing given away.
    drop(TcpStream::connect(("127.0.0.1", port)).unwrap());
    let (nothing, seen) = verdict(&rogue, honest);
    assert_eq!(nothing, Verdict::RefusedAfterGreeting, "{seen:?}");
}

#[test]
fn what_is_given_away_is_compared_and_another_password_is_not_taken_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let rogue = rogue(&dir);
    let strip = attack("clear-password").unwrap();
    let mut options =
        ConnectOptions::new(Endpoint::tcp("localhost", rogue.port(strip, Protocol::MySql).unwrap()), "app");
    options.password = Some(SecretString::from("another"));
    options.tls.mode = SslMode::Disabled;
    let refused = Client::connect(&options).unwrap_err().to_string();
    let (verdict, seen) = verdict(&rogue, strip);
    // Our own client gives no clear password away over cleartext, and its answer does not fit.
    assert_eq!(
        (verdict, seen.login_fits),
        (Verdict::LoginThenRefused(Channel::Clear), Some(false)),
        "{refused}"
    );
    assert_eq!(seen.password, None::<Disclosure>);
    assert!(SecretString::from(PASSWORD).expose_secret().len() > 8);
}

/// What a stranger may send: nothing of it may end us, or make us hold more than a bounded amount.
mod strangers {
    use openssl::rsa::Rsa;
    use proptest::prelude::*;
    use prove::talk::{ClientSecrets, Talk};

    use super::*;

    fn talk_to(attack: &Attack, parts: &[Vec<u8>]) -> prove::TalkRecord {
        let key = Rsa::generate(1024).unwrap();
        let key_pem = key.public_key_to_pem().unwrap();
        let password = SecretString::from(PASSWORD);
        let known = ClientSecrets {
            password: &password,
            canary: CANARY,
            canary_path: "/nowhere",
            key: &key,
            key_pem: &key_pem,
        };
        let mut talk = Talk::new(attack, &known, [9; 20]);
        for part in parts {
            talk.input(part);
            if talk.wants_tls().is_some() {
                talk.tls_finished("TLSv1.3", None);
            }
            assert!(talk.output().len() < 1 << 20);
        }
        talk.into_seen()
    }

    /// A login that is right, cut and altered below.
    fn login() -> Vec<u8> {
        let login = HandshakeResponse {
            head: SslRequest {
                capabilities: Capabilities::PROTOCOL_41
                    | Capabilities::SECURE_CONNECTION
                    | Capabilities::PLUGIN_AUTH,
                mariadb_capabilities: 0,
                max_packet_bytes: 1 << 20,
                charset: CHARSET_UTF8MB4,
            },
            user: b"app",
            auth_response: &[1; 20],
            database: None,
            auth_plugin: Some("mysql_native_password"),
            attributes: vec![],
        };
        let (mut payload, mut out) = (Vec::new(), Vec::new());
        login.encode(&mut payload).unwrap();
        write_payload(&mut out, &mut 1, &payload);
        out
    }

    #[test]
    fn a_login_cut_anywhere_is_no_login() {
        let whole = login();
        let strip = attack("strip").unwrap();
        assert_eq!(talk_to(strip, std::slice::from_ref(&whole)).login, Some(Channel::Clear));
        for cut in 0..whole.len() {
            assert_eq!(talk_to(strip, &[whole[..cut].to_vec()]).login, None, "cut at {cut}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_bytes_panic_and_nothing_is_taken_for_the_password(
            which in 0..ATTACKS.len(),
            begins in any::<bool>(),
            parts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..200), 0..8),
        ) {
            let parts: Vec<Vec<u8>> = begins.then(login).into_iter().chain(parts).collect();
            let seen = talk_to(ATTACKS[which], &parts);
            prop_assert!(!seen.password.is_some_and(|given| given.is_right));
            prop_assert!(!seen.file.is_some_and(|given| given.is_right));
        }
    }
}
