//! The encrypted part of a first flight of TLS 1.3, read without ever finishing the handshake: with a real key share
//! the keys of the server's handshake records follow from its ServerHello alone.
//!
//! Source: RFC 8446 5.2 (records), 7.1 (key schedule), 4.4.2 (Certificate), 4.4.3 (CertificateVerify).

use openssl::error::ErrorStack;
use openssl::sha::{Sha256, Sha384};
use openssl::symm::{Cipher as Aead, decrypt_aead};
use wire::tls::registry::{Cipher, Mode, cipher_suite};
use wire::tls::server_flight::{
    CERTIFICATE, CERTIFICATE_BYTES_MAX, CERTIFICATE_REQUEST, CERTIFICATES_MAX, FINISHED, SERVER_HELLO,
    ServerHello,
};
use wire::tls::{CONTENT_APPLICATION_DATA, CONTENT_HANDSHAKE, RECORD_HEADER_BYTES};

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

/// Reads the flight `raw`, whose ServerHello is `hello`, in answer to the message `client_hello`.
pub fn read(keys: &Keys, client_hello: &[u8], raw: &[u8], hello: &ServerHello) -> Result<Read, Closed> {
    let suite = cipher_suite(hello.cipher_suite).ok_or(Closed::NotOurs)?;
    let is_large = suite.strength_bits >= 256 && suite.mode == Mode::Gcm;
    let digest = if is_large { Digest::Sha384 } else { Digest::Sha256 };
    let (aead, key_bytes) = match (suite.cipher, suite.mode) {
        (Cipher::Aes, Mode::Gcm) if is_large => (Aead::aes_256_gcm(), 32),
        (Cipher::Aes, Mode::Gcm) => (Aead::aes_128_gcm(), 16),
        (Cipher::ChaCha20, _) => (Aead::chacha20_poly1305(), 32),
        _ => return Err(Closed::NotOurs),
    };
    let group = hello.extensions.key_share_group.ok_or(Closed::NotOurs)?;
    let shared = keys.shared_secret(group, &hello.extensions.key_share).ok_or(Closed::NotOurs)?;

    let mut records = Records { rest: raw };
    let server_hello = loop {
        let (content, body) = records.next().ok_or(Closed::Damaged)?;
        // A ServerHello over several records is nobody's; then the certificate stays unread.
        if content == CONTENT_HANDSHAKE {
            break message(body).filter(|(kind, ..)| *kind == SERVER_HELLO).ok_or(Closed::Damaged)?.1;
        }
    };
    let transcript_hash = digest.of(&[client_hello, server_hello]);

    let schedule = Schedule { digest };
    let zeros = vec![0; digest.bytes()];
    let early = schedule.extract(&zeros, &zeros);
    let derived = schedule.expand(&early, "derived", &digest.of(&[]), digest.bytes());
    let handshake = schedule.extract(&derived, &shared);
    let traffic = schedule.expand(&handshake, "s hs traffic", &transcript_hash, digest.bytes());
    let key = schedule.expand(&traffic, "key", b"", key_bytes);
    let iv = schedule.expand(&traffic, "iv", b"", 12);

    let mut plain = Vec::new();
    let mut sequence: u64 = 0;
    for (content, body) in records {
        if content != CONTENT_APPLICATION_DATA {
            continue; // ChangeCipherSpec, for middleboxes.
        }
        let (sealed, tag) =
            body.split_at_checked(body.len().saturating_sub(TAG_BYTES)).ok_or(Closed::Damaged)?;
        let mut nonce = iv.clone();
        for (byte, counter) in nonce.iter_mut().skip(4).zip(sequence.to_be_bytes()) {
            *byte ^= counter;
        }
        let length = u16::try_from(body.len()).map_err(|_| Closed::Damaged)?.to_be_bytes();
        let header = [CONTENT_APPLICATION_DATA, 3, 3, length[0], length[1]];
        let opened = decrypt_aead(aead, &key, Some(&nonce), &header, sealed, tag)?;
        // The content type stands behind the content, padding of zeros behind that.
        let end = opened.iter().rposition(|&byte| byte != 0).ok_or(Closed::Damaged)?;
        let (content, kind) = opened.split_at(end);
        if kind.first() != Some(&CONTENT_HANDSHAKE) {
            break; // An alert: nothing follows.
        }
        plain.extend_from_slice(content);
        sequence += 1;
    }
    messages(&plain)
}

fn messages(mut plain: &[u8]) -> Result<Read, Closed> {
    let mut inside = Inside::default();
    while let Some((kind, whole, rest)) = message(plain) {
        let body = whole.get(4..).unwrap_or_default();
        match kind {
            CERTIFICATE_REQUEST => inside.asks_certificate = true,
            CERTIFICATE => {
                (inside.chain, inside.is_ocsp_stapled) = certificate(body).ok_or(Closed::Damaged)?;
            }
            CERTIFICATE_VERIFY => {
                inside.scheme = body.first_chunk().map(|code| u16::from_be_bytes(*code));
                return Ok(Read::Whole(inside));
            }
            FINISHED => return Ok(Read::Whole(inside)),
            _ => {}
        }
        plain = rest;
    }
    Ok(Read::More)
}

/// Type, whole message, what follows it; `None` until it is complete.
fn message(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
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

struct Records<'a> {
    rest: &'a [u8],
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Digest {
    Sha256,
    Sha384,
}

impl Digest {
    const fn bytes(self) -> usize {
        match self {
            Self::Sha256 => 32,
            Self::Sha384 => 48,
        }
    }

    const fn block_bytes(self) -> usize {
        match self {
            Self::Sha256 => 64,
            Self::Sha384 => 128,
        }
    }

    /// By the plain functions: OpenSSL 3 looks an algorithm up anew for every `EVP` object, which costs more than a hash.
    fn of(self, parts: &[&[u8]]) -> Vec<u8> {
        match self {
            Self::Sha256 => {
                let mut hasher = Sha256::new();
                for part in parts {
                    hasher.update(part);
                }
                hasher.finish().to_vec()
            }
            Self::Sha384 => {
                let mut hasher = Sha384::new();
                for part in parts {
                    hasher.update(part);
                }
                hasher.finish().to_vec()
            }
        }
    }
}

struct Schedule {
    digest: Digest,
}

impl Schedule {
    /// Source: RFC 2104. No key here is longer than a block: they are digests, or a secret of at most 66 bytes as message.
    fn hmac(&self, key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
        debug_assert!(key.len() <= self.digest.block_bytes());
        let mut inner = key.to_vec();
        inner.resize(self.digest.block_bytes(), 0);
        let outer: Vec<u8> = inner.iter().map(|byte| byte ^ 0x5c).collect();
        for byte in &mut inner {
            *byte ^= 0x36;
        }
        let mut all = vec![inner.as_slice()];
        all.extend(parts);
        self.digest.of(&[&outer, &self.digest.of(&all)])
    }

    /// HKDF-Extract.
    fn extract(&self, salt: &[u8], secret: &[u8]) -> Vec<u8> {
        self.hmac(salt, &[secret])
    }

    /// HKDF-Expand-Label; one block is enough for every length asked for here.
    fn expand(&self, secret: &[u8], label: &str, context: &[u8], bytes: usize) -> Vec<u8> {
        debug_assert!(bytes <= self.digest.bytes());
        let byte = |number: usize| u8::try_from(number).unwrap_or(u8::MAX);
        let mut info = vec![0, byte(bytes), byte(6 + label.len())];
        info.extend_from_slice(b"tls13 ");
        info.extend_from_slice(label.as_bytes());
        info.push(byte(context.len()));
        info.extend_from_slice(context);
        let mut block = self.hmac(secret, &[&info, &[1]]);
        block.truncate(bytes);
        block
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

    /// Source: RFC 4231, test case 2.
    #[test]
    fn the_hmac_is_that_of_rfc_4231() {
        let of = |digest| {
            let code = Schedule { digest }.hmac(b"Jefe", &[b"what do ya want ", b"for nothing?"]);
            code.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
        };
        let (short, long) = (of(Digest::Sha256), of(Digest::Sha384));
        assert_eq!(short, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        assert!(
            long.starts_with("af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e"),
            "{long}"
        );
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
