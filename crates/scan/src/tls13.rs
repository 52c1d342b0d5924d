//! The encrypted part of a first flight of TLS 1.3, read without finishing the handshake: with a real key share the keys
//! of the server's handshake records follow from its ServerHello alone. [`crate::finish`] goes on from here.
//!
//! Source: RFC 8446 5.2 (records), 7.1 (key schedule), 4.4.2 (Certificate), 4.4.3 (CertificateVerify).

use openssl::error::ErrorStack;
use openssl::symm::{Cipher as Aead, decrypt_aead, encrypt_aead};
use wire::tls::registry::{Cipher, Mode, cipher_suite};
use wire::tls::server_flight::{
    CERTIFICATE, CERTIFICATE_BYTES_MAX, CERTIFICATE_REQUEST, CERTIFICATES_MAX, FINISHED, SERVER_HELLO,
    ServerHello,
};
use wire::tls::{CONTENT_APPLICATION_DATA, CONTENT_HANDSHAKE, RECORD_HEADER_BYTES};

use crate::digest::Digest;
use crate::question::Keys;

const CERTIFICATE_VERIFY: u8 = 15;
const STATUS_REQUEST: u16 = 5;
const TAG_BYTES: usize = 16;

/// Why the encrypted part stays closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Closed {
    /// The group, the suite or the share is not ours to compute with.
    NotOurs,
    /// A record does not open, or what is inside is no flight.
    Damaged,
}

impl From<ErrorStack> for Closed {
    fn from(_: ErrorStack) -> Self {
        Self::Damaged
    }
}

pub enum Read {
    /// The Certificate has not come yet.
    More,
    Whole(Inside),
}

/// What stood in the encrypted part.
#[derive(Debug, Default)]
pub struct Inside {
    pub chain: Vec<Vec<u8>>,
    pub scheme: Option<u16>,
    pub asks_certificate: bool,
    pub is_ocsp_stapled: bool,
}

/// How a suite of TLS 1.3 is computed with.
#[derive(Clone, Copy)]
pub struct Suite {
    pub schedule: Schedule,
    aead: Aead,
    key_bytes: usize,
}

impl Suite {
    /// `None` for a suite that is not ours: those with CCM.
    pub fn of(code: u16) -> Option<Self> {
        let suite = cipher_suite(code)?;
        let is_large = suite.strength_bits >= 256 && suite.mode == Mode::Gcm;
        let (aead, key_bytes) = match (suite.cipher, suite.mode) {
            (Cipher::Aes, Mode::Gcm) if is_large => (Aead::aes_256_gcm(), 32),
            (Cipher::Aes, Mode::Gcm) => (Aead::aes_128_gcm(), 16),
            (Cipher::ChaCha20, _) => (Aead::chacha20_poly1305(), 32),
            _ => return None,
        };
        let digest = if is_large { Digest::Sha384 } else { Digest::Sha256 };
        Some(Self { schedule: Schedule { digest }, aead, key_bytes })
    }

    /// The keys of one direction, from its traffic secret.
    pub fn traffic(self, secret: &[u8]) -> Traffic {
        let key = self.schedule.expand(secret, "key", b"", self.key_bytes);
        let iv = self.schedule.expand(secret, "iv", b"", 12);
        Traffic { aead: self.aead, key, iv, sequence: 0 }
    }

    /// The secret of the handshake, from which its two traffic secrets are expanded.
    pub fn handshake_secret(self, keys: &Keys, hello: &ServerHello) -> Result<Vec<u8>, Closed> {
        let group = hello.extensions.key_share_group.ok_or(Closed::NotOurs)?;
        let shared = keys.shared_secret(group, &hello.extensions.key_share).ok_or(Closed::NotOurs)?;
        let zeros = vec![0; self.schedule.digest.bytes()];
        let early = self.schedule.extract(&zeros, &zeros);
        Ok(self.schedule.extract(&self.schedule.derived(&early), &shared))
    }
}

/// One direction's keys, and the number of its next record.
pub struct Traffic {
    aead: Aead,
    key: Vec<u8>,
    iv: Vec<u8>,
    sequence: u64,
}

impl Traffic {
    fn nonce(&mut self) -> Vec<u8> {
        let mut nonce = self.iv.clone();
        for (byte, counter) in nonce.iter_mut().skip(4).zip(self.sequence.to_be_bytes()) {
            *byte ^= counter;
        }
        self.sequence = self.sequence.wrapping_add(1);
        nonce
    }

    /// What is in the body of a protected record: its true type, and the content.
    pub fn open(&mut self, body: &[u8]) -> Result<(u8, Vec<u8>), Closed> {
        let (sealed, tag) =
            body.split_at_checked(body.len().saturating_sub(TAG_BYTES)).ok_or(Closed::Damaged)?;
        let nonce = self.nonce();
        let header = header(body.len()).ok_or(Closed::Damaged)?;
        let mut opened = decrypt_aead(self.aead, &self.key, Some(&nonce), &header, sealed, tag)?;
        // The content type stands behind the content, padding of zeros behind that.
        let end = opened.iter().rposition(|&byte| byte != 0).ok_or(Closed::Damaged)?;
        opened.truncate(end + 1);
        let content = opened.pop().ok_or(Closed::Damaged)?;
        Ok((content, opened))
    }

    /// Appends a protected record.
    pub fn seal(&mut self, out: &mut Vec<u8>, content: u8, plain: &[u8]) -> Result<(), Closed> {
        let mut inner = plain.to_vec();
        inner.push(content);
        let nonce = self.nonce();
        let header = header(inner.len() + TAG_BYTES).ok_or(Closed::Damaged)?;
        let mut tag = [0; TAG_BYTES];
        let sealed = encrypt_aead(self.aead, &self.key, Some(&nonce), &header, &inner, &mut tag)?;
        out.extend_from_slice(&header);
        out.extend_from_slice(&sealed);
        out.extend_from_slice(&tag);
        Ok(())
    }
}

fn header(body_bytes: usize) -> Option<[u8; RECORD_HEADER_BYTES]> {
    let [high, low] = u16::try_from(body_bytes).ok()?.to_be_bytes();
    Some([CONTENT_APPLICATION_DATA, 3, 3, high, low])
}

/// Reads the flight `raw`, whose ServerHello is `hello`, in answer to the message `client_hello`.
pub fn read(keys: &Keys, client_hello: &[u8], raw: &[u8], hello: &ServerHello) -> Result<Read, Closed> {
    let suite = Suite::of(hello.cipher_suite).ok_or(Closed::NotOurs)?;
    let handshake = suite.handshake_secret(keys, hello)?;
    let mut records = Records { rest: raw };
    let server_hello = server_hello(&mut records).ok_or(Closed::Damaged)?;
    let transcript_hash = suite.schedule.digest.of(&[client_hello, server_hello]);
    let secret = suite.schedule.secret(&handshake, "s hs traffic", &transcript_hash);
    let mut traffic = suite.traffic(&secret);

    let mut plain = Vec::new();
    for (content, body) in records {
        if content != CONTENT_APPLICATION_DATA {
            continue; // ChangeCipherSpec, for middleboxes.
        }
        let (kind, content) = traffic.open(body)?;
        if kind != CONTENT_HANDSHAKE {
            break; // An alert: nothing follows.
        }
        plain.extend_from_slice(&content);
    }
    messages(&plain)
}

/// The message in its records. A ServerHello over several records is nobody's: `None`.
pub fn server_hello<'a>(records: &mut Records<'a>) -> Option<&'a [u8]> {
    let (_, body) = records.find(|(content, _)| *content == CONTENT_HANDSHAKE)?;
    message(body).filter(|(kind, ..)| *kind == SERVER_HELLO).map(|(_, whole, _)| whole)
}

impl Inside {
    /// Takes one message in; `true` when nothing of interest follows it.
    pub fn message(&mut self, kind: u8, body: &[u8]) -> Result<bool, Closed> {
        match kind {
            CERTIFICATE_REQUEST => self.asks_certificate = true,
            CERTIFICATE => (self.chain, self.is_ocsp_stapled) = certificate(body).ok_or(Closed::Damaged)?,
            CERTIFICATE_VERIFY => self.scheme = body.first_chunk().map(|code| u16::from_be_bytes(*code)),
            _ => {}
        }
        Ok(matches!(kind, CERTIFICATE_VERIFY | FINISHED))
    }
}

fn messages(mut plain: &[u8]) -> Result<Read, Closed> {
    let mut inside = Inside::default();
    while let Some((kind, whole, rest)) = message(plain) {
        if inside.message(kind, whole.get(4..).unwrap_or_default())? {
            return Ok(Read::Whole(inside));
        }
        plain = rest;
    }
    Ok(Read::More)
}

/// Type, whole message, what follows it; `None` until it is complete.
pub fn message(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let &[kind, high, middle, low] = bytes.first_chunk()?;
    let length = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
    let (whole, rest) = bytes.split_at_checked(4 + length)?;
    Some((kind, whole, rest))
}

/// The list of certificates and whether the leaf comes with an OCSP response.
fn certificate(body: &[u8]) -> Option<(Vec<Vec<u8>>, bool)> {
    let mut cursor = Cursor(body);
    let context = cursor.number(1)?;
    cursor.take(context)?;
    let length = cursor.number(3)?;
    let mut list = Cursor(cursor.take(length)?);
    let (mut chain, mut is_stapled) = (Vec::new(), false);
    while !list.0.is_empty() {
        let length = list.number(3)?;
        let der = list.take(length)?;
        let length = list.number(2)?;
        let mut extensions = Cursor(list.take(length)?);
        if chain.len() as u64 >= CERTIFICATES_MAX || der.len() as u64 > CERTIFICATE_BYTES_MAX {
            return None;
        }
        while !extensions.0.is_empty() {
            let kind = extensions.number(2)?;
            let length = extensions.number(2)?;
            extensions.take(length)?;
            is_stapled |= chain.is_empty() && kind == usize::from(STATUS_REQUEST);
        }
        chain.push(der.to_vec());
    }
    Some((chain, is_stapled))
}

struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }
    /// A number of one to three bytes.
    fn number(&mut self, bytes: usize) -> Option<usize> {
        Some(self.take(bytes)?.iter().fold(0, |number, &byte| number << 8 | usize::from(byte)))
    }
}

/// Whole records, one after the other.
pub struct Records<'a> {
    pub rest: &'a [u8],
}

impl<'a> Iterator for Records<'a> {
    type Item = (u8, &'a [u8]);
    fn next(&mut self) -> Option<Self::Item> {
        let &[content, _, _, high, low] = self.rest.first_chunk::<RECORD_HEADER_BYTES>()?;
        let length = usize::from(u16::from_be_bytes([high, low]));
        let body = self.rest.get(RECORD_HEADER_BYTES..RECORD_HEADER_BYTES + length)?;
        self.rest = self.rest.get(RECORD_HEADER_BYTES + length..)?;
        Some((content, body))
    }
}

/// Source: RFC 8446 7.1.
#[derive(Clone, Copy)]
pub struct Schedule {
    pub digest: Digest,
}

impl Schedule {
    /// HKDF-Extract.
    pub fn extract(self, salt: &[u8], secret: &[u8]) -> Vec<u8> {
        self.digest.hmac(salt, &[secret])
    }

    /// HKDF-Expand-Label; one block is enough for every length asked for here.
    pub fn expand(self, secret: &[u8], label: &str, context: &[u8], bytes: usize) -> Vec<u8> {
        debug_assert!(bytes <= self.digest.bytes());
        let byte = |number: usize| u8::try_from(number).unwrap_or(u8::MAX);
        let mut info = vec![0, byte(bytes), byte(6 + label.len())];
        info.extend_from_slice(b"tls13 ");
        info.extend_from_slice(label.as_bytes());
        info.push(byte(context.len()));
        info.extend_from_slice(context);
        let mut block = self.digest.hmac(secret, &[&info, &[1]]);
        block.truncate(bytes);
        block
    }

    /// Derive-Secret, with the hash of the messages.
    pub fn secret(self, from: &[u8], label: &str, transcript_hash: &[u8]) -> Vec<u8> {
        self.expand(from, label, transcript_hash, self.digest.bytes())
    }

    /// What the next secret is extracted with.
    pub fn derived(self, from: &[u8]) -> Vec<u8> {
        self.secret(from, "derived", &self.digest.of(&[]))
    }

    /// The content of a Finished (RFC 8446 4.4.4), and with another base the binder of a session (4.2.11.2).
    pub fn verify_data(self, base: &[u8], transcript_hash: &[u8]) -> Vec<u8> {
        let key = self.secret(base, "finished", b"");
        self.digest.hmac(&key, &[transcript_hash])
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Source: RFC 8448 section 3, "server handshake traffic" keys of a simple 1-RTT handshake.
    #[test]
    fn the_key_schedule_gives_the_keys_of_rfc_8448() {
        let from_hex = |text: &str| -> Vec<u8> {
            let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
            digits
                .chunks(2)
                .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
                .collect()
        };
        let schedule = Schedule { digest: Digest::Sha256 };
        let zeros = [0; 32];
        let early = schedule.extract(&zeros, &zeros);
        assert_eq!(early, from_hex("33ad0a1c607ec03b09e6cd9893680ce210adf300aa1f2660e1b22e10f170f92a"));
        let empty = Digest::Sha256.of(&[]);
        let derived = schedule.expand(&early, "derived", &empty, 32);
        let shared = from_hex("8bd4054fb55b9d63fdfbacf9f04b9f0d35e6d63f537563efd46272900f89492d");
        let handshake = schedule.extract(&derived, &shared);
        let transcript = from_hex("860c06edc07858ee8e78f0e7428c58edd6b43f2ca3e6e95f02ed063cf0e1cad8");
        let traffic = schedule.expand(&handshake, "s hs traffic", &transcript, 32);
        assert_eq!(traffic, from_hex("b67b7d690cc16c4e75e54213cb2d37b4e9c912bcded9105d42befd59d391ad38"));
        assert_eq!(schedule.expand(&traffic, "key", b"", 16), from_hex("3fce516009c21727d0f2e4e86ee403bc"));
        assert_eq!(schedule.expand(&traffic, "iv", b"", 12), from_hex("5d313eb2671276ee13000b30"));
    }

    #[test]
    fn a_certificate_message_cut_anywhere_is_no_chain() {
        // No context, one certificate of three bytes with a status_request extension of one byte.
        let body = [0, 0, 0, 13, 0, 0, 3, 0x30, 1, 2, 0, 5, 0, 5, 0, 1, 9];
        assert_eq!(certificate(&body), Some((vec![vec![0x30, 1, 2]], true)));
        for cut in 0..body.len() {
            assert_eq!(certificate(body.get(..cut).unwrap()), None, "{cut}");
        }
    }
}
