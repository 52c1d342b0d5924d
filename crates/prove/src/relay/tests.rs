#![allow(clippy::unwrap_used, clippy::indexing_slicing)]
use super::frames::framed;
use super::*;
use openssl::rsa::{Padding, Rsa};
use proptest::prelude::*;
use secrecy::ExposeSecret;
use wire::answer::encode_auth_switch;
use wire::login::CHARSET_UTF8MB4;
use wire::{Greeting, OkPacket};

const NONCE: [u8; 20] = *b"abcdefghij0123456789";
const PASSWORD: &str = "of-this-test-4711";

fn ok() -> Vec<u8> {
    OkPacket { affected_rows: 0, last_insert_id: 0, status: 2, warnings: 0 }.encode(0)
}

fn greeting() -> Vec<u8> {
    framed(
        0,
        &wire::greeting::encode(&Greeting {
            protocol: 10,
            version: "9.7.4".into(),
            connection_id: 9,
            nonce: NONCE.to_vec(),
            capabilities: Capabilities(0xffff_ffff),
            mariadb_capabilities: 0,
            charset: CHARSET_UTF8MB4,
            status: 2,
            auth_plugin: Some("caching_sha2_password".into()),
        }),
    )
}

fn login() -> Vec<u8> {
    let capabilities = Capabilities::PROTOCOL_41
        | Capabilities::LONG_PASSWORD
        | Capabilities::SECURE_CONNECTION
        | Capabilities::DEPRECATE_EOF
        | Capabilities::PLUGIN_AUTH;
    let head = SslRequest { capabilities, mariadb_capabilities: 0, max_packet_bytes: 1, charset: 45 };
    let mut out = vec![];
    HandshakeResponse {
        head,
        user: b"app",
        auth_response: &[9; 32],
        database: None,
        auth_plugin: Some("caching_sha2_password"),
        attributes: vec![],
    }
    .encode(&mut out)
    .unwrap();
    framed(1, &out)
}

fn relay(active: Active) -> Relay {
    Relay::new(Arc::new(Config { active, password: Some(PASSWORD.into()) }), 3306, &[])
}

/// What reaches the other end.
fn server_says(relay: &mut Relay, bytes: &[u8]) -> Vec<u8> {
    relay.from_server(bytes);
    relay.take_for_client()
}

fn client_says(relay: &mut Relay, bytes: &[u8]) -> Vec<u8> {
    relay.from_client(bytes);
    relay.take_for_server()
}

fn strip() -> Active {
    Active { strip: true, ..Active::default() }
}

fn substitute() -> Active {
    Active { substitute_key: Some(Keys::generate().unwrap()), ..Active::default() }
}

#[test]
fn a_greeting_loses_the_offer_of_tls_and_nothing_else() {
    let mut relay = relay(strip());
    let seen = server_says(&mut relay, &greeting());
    let Ok(FirstPacket::Greeting(read)) = wire::greeting::parse(frames::payload(&seen)) else { panic!() };
    assert!(!read.offers_tls());
    assert_eq!(read.capabilities, Capabilities(0xffff_ffff).without(Capabilities::SSL));
    let differ = seen.iter().zip(greeting()).filter(|(one, other)| **one != *other).count();
    assert_eq!((seen.len(), differ), (greeting().len(), 1));
    assert_eq!(client_says(&mut relay, &login()), login());
    assert_eq!(relay.take_events()[0], Event::Stripped);
    let (told, findings, outcome) = relay.finish();
    assert!(outcome.stripped == Stripped::WentOn && outcome.has_fallen());
    assert!(!told.is_tls && findings.iter().any(|finding| finding.what == What::GuessableLogin));
}

#[test]
fn a_client_that_says_no_more_or_asks_for_tls_is_not_taken() {
    let mut left = relay(strip());
    server_says(&mut left, &greeting());
    let (_, _, outcome) = left.finish();
    assert!(outcome.stripped == Stripped::Refused && !outcome.has_fallen());

    let mut asks = relay(strip());
    server_says(&mut asks, &greeting());
    let mut request = vec![];
    let capabilities = Capabilities::PROTOCOL_41 | Capabilities::SSL;
    SslRequest { capabilities, mariadb_capabilities: 0, max_packet_bytes: 1, charset: 45 }
        .encode(&mut request);
    let request = framed(1, &request);
    assert_eq!(client_says(&mut asks, &request), request);
    assert_eq!(client_says(&mut asks, b"\x16\x03\x01\x00\x01x"), b"\x16\x03\x01\x00\x01x");
    let (told, _, outcome) = asks.finish();
    assert!(told.is_tls && outcome.stripped == Stripped::AskedAnyway && !outcome.has_fallen());
}

#[test]
fn a_server_without_tls_leaves_nothing_to_strip() {
    let mut relay = relay(strip());
    let mut plain = greeting();
    assert!(frames::clear_capabilities(&mut plain, Capabilities::SSL));
    assert_eq!(server_says(&mut relay, &plain), plain);
    client_says(&mut relay, &login());
    let (_, _, outcome) = relay.finish();
    assert!(outcome.stripped == Stripped::NothingToStrip && !outcome.has_fallen());
}

/// As clients do: the password and a zero, mixed with the nonce, under the key that they are shown.
fn seal(pem: &[u8], password: &str) -> Vec<u8> {
    let key = Rsa::public_key_from_pem(pem).unwrap();
    let mixed: Vec<u8> = [password.as_bytes(), &[0]]
        .concat()
        .iter()
        .zip(NONCE.iter().cycle())
        .map(|(byte, nonce)| byte ^ nonce)
        .collect();
    let mut sealed = vec![0; key.size() as usize];
    key.public_encrypt(&mixed, &mut sealed, Padding::PKCS1_OAEP).unwrap();
    sealed
}

#[test]
fn a_password_is_opened_and_encrypted_anew_for_the_server() {
    let real = Rsa::generate(2048).unwrap();
    let real_pem = real.public_key_to_pem().unwrap();
    for (password, matches) in [(PASSWORD, true), ("another", false)] {
        let mut relay = relay(substitute());
        server_says(&mut relay, &greeting());
        client_says(&mut relay, &login());
        server_says(&mut relay, &framed(2, &[1, 4]));
        assert_eq!(client_says(&mut relay, &framed(3, &[2])), framed(3, &[2]));
        let shown = server_says(&mut relay, &framed(4, &[&[1], real_pem.as_slice()].concat()));
        assert_eq!((shown[3], &shown[4..6]), (4, &b"\x01-"[..]));
        assert_ne!(&shown[5..], real_pem);
        let reached = client_says(&mut relay, &framed(5, &seal(&shown[5..], password)));
        let mut opened = vec![0; 256];
        let bytes = real.private_decrypt(&reached[4..], &mut opened, Padding::PKCS1_OAEP).unwrap();
        let opened: Vec<u8> =
            opened[..bytes].iter().zip(NONCE.iter().cycle()).map(|(byte, nonce)| byte ^ nonce).collect();
        assert_eq!(opened, [password.as_bytes(), &[0]].concat(), "the server is given what it wants");
        assert_eq!(server_says(&mut relay, &framed(6, &ok())), framed(6, &ok()));
        let query = framed(0, b"\x03SELECT 1");
        assert_eq!(client_says(&mut relay, &query), query);
        let events = relay.take_events();
        assert!(events.contains(&Event::PasswordTaken(Some(matches))), "{events:?}");
        let (told, _, outcome) = relay.finish();
        assert_eq!(outcome.key, KeyTaken::Taken(Some(matches)));
        assert!(outcome.logged_in && told.mysql.unwrap().queries == 1);
    }
}

#[test]
fn a_client_of_a_server_that_remembers_it_is_asked_for_the_password_all_the_same() {
    // The OK comes with it, or when the client has already answered.
    for comes_late in [false, true] {
        let mut relay = self::relay(substitute());
        server_says(&mut relay, &greeting());
        client_says(&mut relay, &login());
        let late = framed(3, &ok());
        let early = if comes_late { vec![] } else { late.clone() };
        let asked = server_says(&mut relay, &[framed(2, &[1, 3]), early].concat());
        assert_eq!(asked, framed(2, &[1, 4]));
        assert_eq!(client_says(&mut relay, &framed(3, &[2])), b"", "the server hears nothing of it");
        let shown = relay.take_for_client();
        assert_eq!((shown[3], &shown[4..6]), (4, &b"\x01-"[..]));
        assert_eq!(client_says(&mut relay, &framed(5, &seal(&shown[5..], PASSWORD))), b"");
        let given = if comes_late { server_says(&mut relay, &late) } else { relay.take_for_client() };
        assert_eq!(given, framed(6, &ok()), "numbered as the client counts");
        let query = framed(0, b"\x03SELECT 1");
        assert_eq!(client_says(&mut relay, &query), query);
        assert_eq!(server_says(&mut relay, &framed(1, &ok())), framed(1, &ok()));
        let (_, _, outcome) = relay.finish();
        assert_eq!(outcome.key, KeyTaken::Taken(Some(true)));
        assert!(outcome.logged_in);
    }
}

#[test]
fn a_client_that_knows_the_key_or_asks_for_none_gives_no_password() {
    let real = Rsa::generate(2048).unwrap().public_key_to_pem().unwrap();
    let mut pinned = relay(substitute());
    server_says(&mut pinned, &greeting());
    client_says(&mut pinned, &login());
    server_says(&mut pinned, &framed(2, &[1, 4]));
    let sealed = framed(3, &seal(&real, PASSWORD));
    assert_eq!(client_says(&mut pinned, &sealed), sealed);
    let (_, _, outcome) = pinned.finish();
    assert!(outcome.key == KeyTaken::KnowsTheKey && !outcome.has_fallen());

    let mut leaves = relay(substitute());
    server_says(&mut leaves, &greeting());
    client_says(&mut leaves, &login());
    server_says(&mut leaves, &framed(2, &[1, 4]));
    assert_eq!(leaves.finish().2.key, KeyTaken::Refused);

    let mut careless = relay(substitute());
    server_says(&mut careless, &greeting());
    client_says(&mut careless, &login());
    server_says(&mut careless, &framed(2, &[1, 4]));
    let clear = framed(3, format!("{PASSWORD}\0").as_bytes());
    assert_eq!(client_says(&mut careless, &clear), clear);
    assert_eq!(careless.finish().2.key, KeyTaken::TakenInClear(Some(true)));
}

#[test]
fn a_client_that_gives_up_without_tls_has_not_logged_in() {
    // Error 2061: the server wants the whole login, the client sends no password without TLS, and leaves with COM_QUIT.
    let mut relay = relay(strip());
    server_says(&mut relay, &greeting());
    client_says(&mut relay, &login());
    server_says(&mut relay, &framed(2, &[1, 4]));
    client_says(&mut relay, &framed(0, b"\x01"));
    let (told, _, outcome) = relay.finish();
    let seen = told.mysql.unwrap();
    assert!(!outcome.logged_in && !seen.logged_in, "{seen:?}");
    assert_eq!((seen.logins.len(), seen.passwords_in_clear), (1, 0));
}

#[test]
fn the_nonce_of_a_switch_counts() {
    let mut relay = relay(substitute());
    server_says(&mut relay, &greeting());
    client_says(&mut relay, &login());
    server_says(&mut relay, &framed(2, &encode_auth_switch("caching_sha2_password", &[b'n'; 20])));
    assert_eq!(relay.nonce, [b'n'; 20]);
}

#[test]
fn a_marked_value_is_changed_and_its_packet_is_still_one() {
    let change = Change::new("account-0815", "attacker").unwrap();
    let mut relay = relay(Active { change: Some(change), ..Active::default() });
    server_says(&mut relay, &greeting());
    client_says(&mut relay, &login());
    server_says(&mut relay, &framed(2, &ok()));
    client_says(&mut relay, &framed(0, b"\x03SELECT to_account FROM transfer"));
    let row = |cell: &str| {
        let mut row = vec![1, b'7'];
        wire::lenenc::write_bytes(&mut row, cell.as_bytes());
        framed(3, &row)
    };
    for cut in 1..row("account-0815").len() {
        let (head, tail) = (&row("account-0815")[..cut], &row("account-0815")[cut..]);
        let seen = [server_says(&mut relay, head), server_says(&mut relay, tail)].concat();
        assert_eq!(seen, row("attacker"), "{cut}");
    }
    assert_eq!(server_says(&mut relay, &row("another")), row("another"));
    assert!(relay.finish().2.changed > 1);
    assert!(Change::new("abc", "x").is_err() && Change::new("abcd", "").is_err());
    assert!(!Change::new("abc", "x").unwrap_err().to_string().contains("abc"));
}

#[test]
fn a_password_is_in_nothing_that_is_told() {
    let mut relay = relay(substitute());
    server_says(&mut relay, &greeting());
    client_says(&mut relay, &login());
    server_says(&mut relay, &framed(2, &[1, 4]));
    client_says(&mut relay, &framed(3, format!("{PASSWORD}\0").as_bytes()));
    server_says(&mut relay, &framed(4, &ok()));
    let query = format!(
        "\x03CREATE USER u IDENTIFIED BY '{}'",
        relay.config.password.as_ref().unwrap().expose_secret()
    );
    client_says(&mut relay, &framed(0, query.as_bytes()));
    let events: Vec<String> = relay.take_events().iter().map(|event| format!("{event} {event:?}")).collect();
    let events = events.join("\n");
    assert!(events.contains("statements that contain a password"), "{events}");
    let told = format!("{events}{:?}", relay.finish());
    assert!(!told.contains(PASSWORD), "{told}");
}

proptest! {
    #[test]
    fn passive_it_hands_on_what_it_is_given(
        pieces in proptest::collection::vec((any::<bool>(), proptest::collection::vec(any::<u8>(), 0..90)), 0..20),
    ) {
        let mut relay = relay(Active::default());
        let (mut up, mut down, mut to_server, mut to_client) = (vec![], vec![], vec![], vec![]);
        for (is_client, bytes) in pieces {
            if is_client {
                to_server.extend(client_says(&mut relay, &bytes));
                up.extend(bytes);
            } else {
                to_client.extend(server_says(&mut relay, &bytes));
                down.extend(bytes);
            }
        }
        prop_assert_eq!((up, down), (to_server, to_client));
    }

    #[test]
    fn active_no_bytes_panic_and_none_get_lost_that_nobody_attacks(
        pieces in proptest::collection::vec((any::<bool>(), proptest::collection::vec(any::<u8>(), 0..60)), 0..12),
        starts in any::<bool>(),
    ) {
        static KEYS: std::sync::LazyLock<Vec<u8>> =
            std::sync::LazyLock::new(|| Rsa::generate(2048).unwrap().private_key_to_pem().unwrap());
        let keys = Keys::from_private(Rsa::private_key_from_pem(&KEYS).unwrap()).unwrap();
        let change = Change::new("abcd", "x").unwrap();
        let active = Active { strip: true, substitute_key: Some(keys), change: Some(change) };
        let mut relay = relay(active);
        if starts {
            server_says(&mut relay, &greeting());
            client_says(&mut relay, &login());
        }
        for (is_client, bytes) in pieces {
            if is_client {
                relay.from_client(&bytes);
            } else {
                relay.from_server(&bytes);
            }
        }
        relay.server_ended();
        let _ = relay.finish();
    }
}
