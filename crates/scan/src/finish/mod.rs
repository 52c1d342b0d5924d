//! Handshakes that are finished, for what only shows behind them: sessions to resume, a client certificate that is wanted
//! for good, a renegotiation that is taken. Sans-I/O like everything here: bytes in, bytes out.
//!
//! Nothing is sent behind the handshake but a farewell, so no login is made. Nobody is authenticated either: the keys
//! protect nothing but the questions. TLS 1.2 and older are in [`tls12`], TLS 1.3 in [`tls13`]. Left out: SSL 3.0, and
//! suites that no OpenSSL of today computes.

mod protection;
mod tls12;
mod tls13;

use std::fmt;

use wire::tls::registry::{Cipher, CipherSuite, KeyExchange, Mac, Mode};

pub use self::tls12::{Flight, Tls12};
pub use self::tls13::Tls13;
use crate::tls13::Inside;

/// RFC 8446 5.1: content of one record.
const RECORD_CONTENT_BYTES_MAX: usize = 1 << 14;

/// A session that a server has given, to be offered back once.
#[derive(Clone, PartialEq, Eq)]
pub enum Session {
    /// Kept by the server under this name (RFC 5246 7.4.1.3).
    Id(Vec<u8>),
    /// Kept by us for it (RFC 5077).
    Ticket(Vec<u8>),
    /// The same in TLS 1.3 (RFC 8446 4.6.1), with the key that proves that it is ours.
    Psk { suite: u16, ticket: Vec<u8>, age_add: u32, key: Vec<u8> },
}

/// Its bytes are keys, or lead to them.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Id(_) => "Session::Id(…)",
            Self::Ticket(_) => "Session::Ticket(…)",
            Self::Psk { .. } => "Session::Psk { … }",
        })
    }
}

/// How a handshake ended that we wanted to finish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    Complete,
    /// The server ended it where it had only to say that it is complete.
    Refused {
        alert: Option<u8>,
    },
    /// Why it cannot be determined.
    Unfinished(String),
}

/// What a client's wish to renegotiate brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renegotiation {
    /// The server answered with another ServerHello.
    Accepted,
    Refused,
    /// It said nothing in time.
    NoAnswer,
}

/// What came of finishing a handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    pub end: End,
    /// The first that was given.
    pub session: Option<Session>,
    /// As the server says with a ticket.
    pub ticket_lifetime_s: Option<u32>,
    /// `None` where it was not tried.
    pub renegotiation: Option<Renegotiation>,
}

impl Finished {
    fn pending() -> Self {
        Self {
            end: End::Unfinished("no answer".into()),
            session: None,
            ticket_lifetime_s: None,
            renegotiation: None,
        }
    }

    pub fn impossible(why: impl Into<String>) -> Self {
        Self { end: End::Unfinished(why.into()), ..Self::pending() }
    }
}

/// A handshake on its way to its end.
pub enum Finishing {
    Tls12(Box<Tls12>),
    Tls13(Box<Tls13>),
}

impl Finishing {
    /// Takes what came, and writes what is to be sent. `true` when nothing more is wanted.
    pub fn input(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        match self {
            Self::Tls12(talk) => talk.input(bytes, out),
            Self::Tls13(talk) => talk.input(bytes, out),
        }
    }

    /// What the encrypted part of the server's flight held, in TLS 1.3.
    pub fn inside(&mut self) -> Option<Inside> {
        match self {
            Self::Tls12(_) => None,
            Self::Tls13(talk) => Some(std::mem::take(&mut talk.inside)),
        }
    }

    /// We have said all and know all. Not so in TLS 1.3, where tickets or a refusal are still to come: a relay on the way
    /// may break both directions over the end of one.
    pub fn has_left(&self) -> bool {
        matches!(self, Self::Tls12(talk) if talk.has_left())
    }

    /// The server has closed, or (`false`) said nothing more in time.
    pub fn ended(self, has_closed: bool) -> Finished {
        match self {
            Self::Tls12(talk) => talk.ended(has_closed),
            Self::Tls13(talk) => talk.ended(has_closed),
        }
    }
}

/// Suites of TLS 1.0 to 1.2 with which a handshake can be finished here.
pub fn can_finish(suite: &CipherSuite) -> bool {
    let is_aes = suite.cipher == Cipher::Aes
        && (suite.mode == Mode::Gcm
            || suite.mode == Mode::Cbc && matches!(suite.mac, Mac::Sha1 | Mac::Sha256 | Mac::Sha384));
    // RFC 7905. The drafts before it (cc13 to cc15) made their nonces another way.
    let is_chacha = suite.cipher == Cipher::ChaCha20 && suite.code & 0xfff0 == 0xcca0;
    matches!(suite.key_exchange, KeyExchange::Rsa | KeyExchange::Dhe | KeyExchange::Ecdhe)
        && !suite.is_anon()
        && !suite.is_export
        && (is_aes || is_chacha)
}

/// Bytes that came, cut into records.
#[derive(Default)]
struct Received {
    bytes: Vec<u8>,
    consumed: usize,
}

impl Received {
    fn push(&mut self, bytes: &[u8]) {
        // What is consumed goes at once, so that a long talk holds one record and no more.
        self.bytes.drain(..self.consumed);
        self.consumed = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// Content type and body of the next whole record.
    fn next(&mut self) -> Option<(u8, Vec<u8>)> {
        let rest = self.bytes.get(self.consumed..)?;
        let (&[content, _, _, high, low], body) = rest.split_first_chunk()?;
        let body = body.get(..usize::from(u16::from_be_bytes([high, low])))?.to_vec();
        self.consumed += wire::tls::RECORD_HEADER_BYTES + body.len();
        Some((content, body))
    }
}

/// Takes the whole messages off the front: their types, and each with its header.
fn take_messages(handshake: &mut Vec<u8>) -> Vec<(u8, Vec<u8>)> {
    let mut messages = Vec::new();
    let mut rest = handshake.as_slice();
    while let Some((kind, whole, behind)) = crate::tls13::message(rest) {
        messages.push((kind, whole.to_vec()));
        rest = behind;
    }
    *handshake = rest.to_vec();
    messages
}

/// A handshake message with its header.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let [.., high, middle, low] = (body.len() as u64).to_be_bytes();
    let mut message = vec![kind, high, middle, low];
    message.extend_from_slice(body);
    message
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wire::tls::registry::{Version, cipher_suite, groups};
    use wire::tls::server_flight::{
        EcParameters, ServerExtensions, ServerHello, ServerKeyExchange, ServerParameters,
    };

    use crate::question::Keys;

    #[test]
    fn usual_suites_can_be_finished_and_odd_ones_cannot() {
        let can = |code: u16| cipher_suite(code).is_some_and(can_finish);
        for code in [0xc02f, 0xc030, 0xc02b, 0xcca8, 0x009c, 0x002f, 0x0035, 0x003c, 0xc013, 0xc028, 0x0033] {
            assert!(can(code), "{code:04x}");
        }
        for code in [0x1301, 0x0004, 0x0003, 0x0034, 0x00a8, 0xcc13, 0xc09c, 0x0000, 0x0041] {
            assert!(!can(code), "{code:04x}");
        }
    }

    #[test]
    fn records_come_whole_however_they_are_cut() {
        let bytes = b"\x16\x03\x03\x00\x02ab\x14\x03\x03\x00\x01\x01\x17\x03\x03\x00";
        for cut in 0..bytes.len() {
            let (head, tail) = bytes.split_at(cut);
            let mut received = Received::default();
            let mut seen = Vec::new();
            for part in [head, tail] {
                received.push(part);
                while let Some(record) = received.next() {
                    seen.push(record);
                }
            }
            assert_eq!(seen, [(22, b"ab".to_vec()), (20, vec![1])], "{cut}");
        }
    }

    /// Both kinds, begun with a server that has our own key share; `raw` is a ServerHello of TLS 1.3 without content.
    fn begun() -> [Finishing; 2] {
        let keys = Keys::generate().unwrap();
        let share = keys.share(groups::X25519).unwrap().to_vec();
        let mut hello = ServerHello {
            version: Version::TLS12,
            legacy_version: Version::TLS12,
            random: [1; 32],
            session_id: vec![7; 32],
            cipher_suite: 0xc02f,
            compression_method: 0,
            extensions: ServerExtensions::default(),
            downgrade: None,
        };
        let exchange = ServerKeyExchange {
            parameters: ServerParameters::Ecdhe {
                curve: EcParameters::Named(groups::X25519),
                point: share.clone(),
            },
            signature: None,
            psk_identity_hint_bytes: None,
        };
        let flight = Flight {
            client_hello: b"\x01\x00\x00\x00",
            client_random: [2; 32],
            offered: Version::TLS12,
            hello: &hello,
            leaf: None,
            key_exchange: Some(&exchange),
            asks_certificate: true,
            raw: b"",
        };
        let older = Tls12::begin(&keys, &flight, true, &mut Vec::new()).unwrap();
        hello.version = Version::TLS13;
        hello.cipher_suite = 0x1301;
        hello.extensions.key_share_group = Some(groups::X25519);
        hello.extensions.key_share = share;
        let raw = b"\x16\x03\x03\x00\x04\x02\x00\x00\x00rest";
        let (newer, used) = Tls13::begin(&keys, b"\x01\x00\x00\x00", raw, &hello).unwrap();
        assert_eq!(used, 9);
        [Finishing::Tls12(Box::new(older)), Finishing::Tls13(Box::new(newer))]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// Whatever comes in whatever pieces: no panic, and no handshake that is complete.
        #[test]
        fn no_bytes_of_a_stranger_finish_a_handshake(
            records in proptest::collection::vec(
                (20u8..25, proptest::collection::vec(any::<u8>(), 0..40)),
                0..6,
            ),
            tail in proptest::collection::vec(any::<u8>(), 0..20),
            cut in 1usize..50,
            has_closed: bool,
        ) {
            let mut bytes = Vec::new();
            for (content, body) in &records {
                bytes.extend_from_slice(&[*content, 3, 3, 0, u8::try_from(body.len()).unwrap()]);
                bytes.extend_from_slice(body);
            }
            bytes.extend_from_slice(&tail);
            for mut talk in begun() {
                let mut out = Vec::new();
                for part in bytes.chunks(cut) {
                    if talk.input(part, &mut out) {
                        break;
                    }
                }
                let finished = talk.ended(has_closed);
                prop_assert!(finished.end != End::Complete, "{finished:?}");
                prop_assert_eq!((finished.renegotiation, out), (None, vec![]));
            }
        }
    }

    #[test]
    fn a_session_does_not_show_its_keys() {
        let session = Session::Psk { suite: 0x1301, ticket: vec![0xab], age_add: 1, key: vec![0xcd] };
        assert_eq!(format!("{session:?}"), "Session::Psk { … }");
    }
}
