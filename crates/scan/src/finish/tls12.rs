//! The second half of a handshake of TLS 1.0 to 1.2. Sources: RFC 5246 7.3 and 7.4, RFC 7627 (extended master secret),
//! RFC 5077 3.3 (ticket), RFC 5746 (renegotiation).

use openssl::bn::{BigNum, BigNumContext, BigNumRef};
use openssl::dh::Dh;
use openssl::error::ErrorStack;
use openssl::rsa::Padding;
use openssl::x509::X509;
use wire::tls::registry::{CipherSuite, KeyExchange, Version, alerts, cipher_suite};
use wire::tls::server_flight::{
    EcParameters, FINISHED, HELLO_REQUEST, NEW_SESSION_TICKET, SERVER_HELLO, ServerHello, ServerKeyExchange,
    ServerParameters,
};
use wire::tls::{CONTENT_ALERT, CONTENT_CHANGE_CIPHER_SPEC, CONTENT_HANDSHAKE, ClientHello};

use super::protection::{Prf, Protection};
use super::{
    End, Finished, RECORD_CONTENT_BYTES_MAX, Received, Renegotiation, Session, can_finish, message,
    take_messages,
};
use crate::question::Keys;
use crate::tls13;

const CERTIFICATE: u8 = 11;
const CLIENT_KEY_EXCHANGE: u8 = 16;
const VERIFY_DATA_BYTES: usize = 12;
const MASTER_BYTES: usize = 48;
/// OpenSSL computes with no longer prime (`OPENSSL_DH_MAX_MODULUS_BITS`).
const PRIME_BITS_MAX: usize = 10_000;

/// What the server's flight showed, up to its ServerHelloDone.
pub struct Flight<'a> {
    pub client_hello: &'a [u8],
    pub client_random: [u8; 32],
    /// The version that our hello offered: the secret of RSA begins with it.
    pub offered: Version,
    pub hello: &'a ServerHello,
    pub leaf: Option<&'a [u8]>,
    pub key_exchange: Option<&'a ServerKeyExchange>,
    pub asks_certificate: bool,
    /// All records of the flight.
    pub raw: &'a [u8],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// For the server's ticket, ChangeCipherSpec and Finished.
    Waiting,
    /// For its answer to our wish for another handshake.
    Renegotiating,
    /// For the server's end, behind our farewell. Seen: MariaDB puts a session into its cache behind its Finished, and a
    /// client that comes back at once is too early.
    Leaving,
    Over,
}

/// From our key exchange on.
pub struct Tls12 {
    state: State,
    version: Version,
    suite: u16,
    has_secure_renegotiation: bool,
    wants_renegotiation: bool,
    prf: Prf,
    master: Vec<u8>,
    transcript: Vec<u8>,
    verify_data: Vec<u8>,
    write: Protection,
    /// Used from the server's ChangeCipherSpec on.
    read: Protection,
    is_read_protected: bool,
    received: Received,
    handshake: Vec<u8>,
    finished: Finished,
}

impl Tls12 {
    /// Writes our second flight.
    ///
    /// # Errors
    /// Why this handshake cannot be finished.
    pub fn begin(
        keys: &Keys,
        flight: &Flight<'_>,
        wants_renegotiation: bool,
        out: &mut Vec<u8>,
    ) -> Result<Self, String> {
        let (hello, version) = (flight.hello, flight.hello.version);
        if version < Version::TLS10 {
            return Err("no handshake of SSL 3.0 is finished".into());
        }
        let suite = cipher_suite(hello.cipher_suite).filter(|suite| can_finish(suite));
        let suite =
            suite.ok_or_else(|| format!("no handshake with suite {:04x} is finished", hello.cipher_suite))?;
        if hello.compression_method != 0 {
            return Err("the server compresses, unasked".into());
        }
        let (exchange, secret) = key_exchange(keys, flight, suite)?;

        let mut transcript = flight.client_hello.to_vec();
        let mut records = tls13::Records { rest: flight.raw };
        for (_, body) in records.by_ref().filter(|(content, _)| *content == CONTENT_HANDSHAKE) {
            transcript.extend_from_slice(body);
        }
        let mut ours = Vec::new();
        if flight.asks_certificate {
            ours.extend(message(CERTIFICATE, &[0, 0, 0])); // None.
        }
        ours.extend(message(CLIENT_KEY_EXCHANGE, &exchange));
        transcript.extend_from_slice(&ours);

        let prf = Prf::of(version, suite);
        let both = |first: &[u8], second: &[u8]| [first, second].concat();
        let master = if hello.extensions.extended_master_secret {
            prf.expand(&secret, "extended master secret", &prf.hash(&transcript), MASTER_BYTES)
        } else {
            let seed = both(&flight.client_random, &hello.random);
            prf.expand(&secret, "master secret", &seed, MASTER_BYTES)
        };
        let seed = both(&hello.random, &flight.client_random);
        let (mut write, read) = Protection::both(version, suite, prf, &master, &seed)
            .ok_or_else(|| format!("no keys of suite {:04x} are made", suite.code))?;
        let verify_data = prf.expand(&master, "client finished", &prf.hash(&transcript), VERIFY_DATA_BYTES);
        let finished = message(FINISHED, &verify_data);

        for part in ours.chunks(RECORD_CONTENT_BYTES_MAX) {
            plain_record(out, CONTENT_HANDSHAKE, version, part);
        }
        plain_record(out, CONTENT_CHANGE_CIPHER_SPEC, version, &[1]);
        write.seal(out, CONTENT_HANDSHAKE, &finished).map_err(|error| crate::reason(&error))?;
        transcript.extend_from_slice(&finished);
        Ok(Self {
            state: State::Waiting,
            version,
            suite: suite.code,
            has_secure_renegotiation: hello.extensions.renegotiation_info.is_some(),
            wants_renegotiation,
            prf,
            master,
            transcript,
            verify_data,
            write,
            read,
            is_read_protected: false,
            received: Received::default(),
            handshake: Vec::new(),
            finished: Finished {
                session: (!hello.session_id.is_empty()).then(|| Session::Id(hello.session_id.clone())),
                ..Finished::pending()
            },
        })
    }

    pub fn input(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        self.received.push(bytes);
        while self.state != State::Over {
            let Some((content, body)) = self.received.next() else { break };
            if self.state == State::Leaving {
                self.state = State::Over; // Whatever it says, it has read our farewell.
                break;
            }
            let plain = if self.is_read_protected {
                self.read.open(content, &body).ok_or("a record of the server does not open")
            } else {
                Ok(body)
            };
            let taken = plain.and_then(|plain| self.record(content, &plain, out));
            if let Err(why) = taken {
                self.end(End::Unfinished(why.into()));
            }
        }
        self.state == State::Over
    }

    pub fn has_left(&self) -> bool {
        self.state == State::Leaving
    }

    pub fn ended(mut self, has_closed: bool) -> Finished {
        match self.state {
            State::Waiting if has_closed => self.finished.end = End::Refused { alert: None },
            State::Renegotiating => {
                self.finished.renegotiation =
                    Some(if has_closed { Renegotiation::Refused } else { Renegotiation::NoAnswer });
            }
            State::Waiting | State::Leaving | State::Over => {}
        }
        self.finished
    }

    /// While the handshake is not complete, how it ended; behind that nothing changes it.
    fn end(&mut self, end: End) {
        if self.state == State::Waiting {
            self.finished.end = end;
        }
        self.state = State::Over;
    }

    fn record(&mut self, content: u8, plain: &[u8], out: &mut Vec<u8>) -> Result<(), &'static str> {
        match content {
            CONTENT_CHANGE_CIPHER_SPEC if !self.is_read_protected => {
                self.is_read_protected = true;
                Ok(())
            }
            CONTENT_ALERT => {
                let &[level, description] = plain else { return Err("an alert has two bytes") };
                self.alert(level, description);
                Ok(())
            }
            CONTENT_HANDSHAKE => {
                self.handshake.extend_from_slice(plain);
                for (kind, whole) in take_messages(&mut self.handshake) {
                    self.message(kind, &whole, out)?;
                    if self.state == State::Over {
                        break;
                    }
                }
                Ok(())
            }
            // Data: a server that speaks first has taken the handshake for done.
            _ => Ok(()),
        }
    }

    fn alert(&mut self, level: u8, description: u8) {
        let is_fatal = level == alerts::LEVEL_FATAL || description == alerts::CLOSE_NOTIFY;
        match self.state {
            State::Waiting if is_fatal => self.end(End::Refused { alert: Some(description) }),
            // RFC 5746 4.5: a warning, and the connection goes on; others end it.
            State::Renegotiating if is_fatal || description == alerts::NO_RENEGOTIATION => {
                self.finished.renegotiation = Some(Renegotiation::Refused);
                self.state = State::Over;
            }
            _ => {}
        }
    }

    fn message(&mut self, kind: u8, whole: &[u8], out: &mut Vec<u8>) -> Result<(), &'static str> {
        let body = whole.get(4..).unwrap_or_default();
        match (self.state, kind) {
            (State::Waiting, NEW_SESSION_TICKET) => {
                self.transcript.extend_from_slice(whole);
                let (lifetime, rest) = body.split_first_chunk::<4>().ok_or("a ticket is cut short")?;
                let ticket = rest.get(2..).ok_or("a ticket is cut short")?;
                // RFC 5077 3.3: an empty one means that there is none after all.
                if !ticket.is_empty() {
                    self.finished.session = Some(Session::Ticket(ticket.to_vec()));
                    self.finished.ticket_lifetime_s = Some(u32::from_be_bytes(*lifetime));
                }
                Ok(())
            }
            (State::Waiting, FINISHED) if self.is_read_protected => {
                let hash = self.prf.hash(&self.transcript);
                if self.prf.expand(&self.master, "server finished", &hash, VERIFY_DATA_BYTES) != body {
                    return Err("the server's Finished is not that of this handshake");
                }
                self.end(End::Complete);
                if self.wants_renegotiation {
                    self.renegotiate(out);
                } else {
                    self.farewell(out);
                }
                Ok(())
            }
            (State::Renegotiating, SERVER_HELLO) => {
                self.finished.renegotiation = Some(Renegotiation::Accepted);
                self.state = State::Over;
                Ok(())
            }
            (State::Renegotiating, HELLO_REQUEST | NEW_SESSION_TICKET) => Ok(()),
            _ => Err("a message comes where none should"),
        }
    }

    /// Another ClientHello, inside this session.
    fn renegotiate(&mut self, out: &mut Vec<u8>) {
        let suites = [self.suite];
        let hello = ClientHello {
            legacy_version: self.version,
            cipher_suites: &suites,
            groups: if self.is_elliptic() { crate::question::OWN_GROUPS.as_slice() } else { &[] },
            ec_point_formats: if self.is_elliptic() { &[0] } else { &[] },
            signature_algorithms: if self.version >= Version::TLS12 { &SCHEMES } else { &[] },
            extended_master_secret: true,
            renegotiation_info: self.has_secure_renegotiation.then_some(self.verify_data.as_slice()),
            ..ClientHello::new([0x52; 32])
        };
        let mut message = Vec::new();
        if hello.encode_message(&mut message).is_ok()
            && self.write.seal(out, CONTENT_HANDSHAKE, &message).is_ok()
        {
            self.state = State::Renegotiating;
        }
    }

    fn is_elliptic(&self) -> bool {
        cipher_suite(self.suite).is_some_and(|suite| suite.key_exchange == KeyExchange::Ecdhe)
    }

    /// A client that leaves says so: then the server logs no error, and keeps the session.
    fn farewell(&mut self, out: &mut Vec<u8>) {
        let alert = [alerts::LEVEL_WARNING, alerts::CLOSE_NOTIFY];
        // What cannot be sealed is not sent, and the connection closes all the same.
        if self.write.seal(out, CONTENT_ALERT, &alert).is_ok() {
            self.state = State::Leaving;
        }
    }
}

/// RSA and ECDSA with SHA-256, -384 and -512, and SHA-1.
const SCHEMES: [u16; 11] =
    [0x0804, 0x0805, 0x0806, 0x0401, 0x0501, 0x0601, 0x0403, 0x0503, 0x0603, 0x0201, 0x0203];

fn plain_record(out: &mut Vec<u8>, content: u8, version: Version, body: &[u8]) {
    let [major, minor] = version.0.to_be_bytes();
    let [high, low] = u16::try_from(body.len()).unwrap_or(u16::MAX).to_be_bytes();
    out.extend_from_slice(&[content, major, minor, high, low]);
    out.extend_from_slice(body);
}

/// The body of our ClientKeyExchange, and the secret that both ends have then.
fn key_exchange(keys: &Keys, flight: &Flight<'_>, suite: &CipherSuite) -> Result<(Vec<u8>, Vec<u8>), String> {
    let of_openssl = |error: ErrorStack| crate::reason(&error);
    match (suite.key_exchange, flight.key_exchange.map(|exchange| &exchange.parameters)) {
        (KeyExchange::Rsa, None) => {
            let leaf = flight.leaf.ok_or("there is no certificate")?;
            let rsa = X509::from_der(leaf)
                .and_then(|leaf| leaf.public_key()?.rsa())
                .map_err(|_| "the certificate has no RSA key")?;
            let mut secret = vec![0; MASTER_BYTES];
            openssl::rand::rand_bytes(&mut secret).map_err(of_openssl)?;
            for (byte, version) in secret.iter_mut().zip(flight.offered.0.to_be_bytes()) {
                *byte = version;
            }
            let mut sealed = vec![0; rsa.size() as usize];
            let bytes = rsa.public_encrypt(&secret, &mut sealed, Padding::PKCS1).map_err(of_openssl)?;
            sealed.truncate(bytes);
            Ok((after_length(&sealed), secret))
        }
        (KeyExchange::Ecdhe, Some(ServerParameters::Ecdhe { curve: EcParameters::Named(group), point })) => {
            let secret = keys.shared_secret(*group, point);
            let secret = secret.ok_or_else(|| format!("group {group:04x} is not computed with"))?;
            let share = keys.share(*group).unwrap_or_default();
            let mut body = vec![u8::try_from(share.len()).map_err(|_| "a share is too long")?];
            body.extend_from_slice(share);
            Ok((body, secret))
        }
        (KeyExchange::Dhe, Some(ServerParameters::Dhe { p, g, public_key })) => {
            if p.bits() > PRIME_BITS_MAX {
                return Err(format!("a prime of {} bits is not computed with", p.bits()));
            }
            let number = |bytes: &[u8]| BigNum::from_slice(bytes).map_err(of_openssl);
            let ours = Dh::from_pqg(number(&p.0)?, None, number(&g.0)?)
                .and_then(Dh::generate_key)
                .map_err(of_openssl)?;
            let secret = dh_secret(&*number(&p.0)?, &*number(&public_key.0)?, ours.private_key());
            Ok((after_length(&ours.public_key().to_vec()), secret.map_err(of_openssl)?))
        }
        _ => Err("the server's key exchange does not fit its suite".into()),
    }
}

/// RFC 5246 8.1.2: zeros in front are no part of it. `Dh::compute_key` leaves them out too, and does not say how long the
/// rest is: one handshake of 256 failed.
fn dh_secret(p: &BigNumRef, theirs: &BigNumRef, ours: &BigNumRef) -> Result<Vec<u8>, ErrorStack> {
    let mut secret = BigNum::new()?;
    secret.mod_exp(theirs, ours, p, &mut *BigNumContext::new()?)?;
    Ok(secret.to_vec())
}

fn after_length(bytes: &[u8]) -> Vec<u8> {
    let [.., high, low] = (bytes.len() as u64).to_be_bytes();
    [&[high, low], bytes].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_has_no_zeros_in_front() {
        let number = |value: u32| BigNum::from_u32(value).expect("a number");
        // 2^16 and 2^5, modulo 65537: with zeros behind that count, and one byte of three.
        let secret =
            |exponent: u32| dh_secret(&number(65_537), &number(2), &number(exponent)).expect("computed");
        assert_eq!((secret(16), secret(5)), (vec![1, 0, 0], vec![32]));
    }
}
