//! SSL 2.0: its CLIENT-HELLO, its answer, and the hello in its shape that offers SSL 3.0 or TLS.
//!
//! Sources: Hickman, "SSL 2.0 Protocol Specification" (1995); RFC 5246 E.2 for the hello that offers more; the list
//! of cipher kinds as testssl.sh and OpenSSL 1.0's `ssl2.h` have it. A server that answers at all is exposed to DROWN
//! (CVE-2016-0800), whatever kinds it names.

use super::registry::{CipherSuite, Version};
use crate::WireError;
use crate::read::Reader;

const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 4;
const ERROR: u8 = 0;
/// A challenge has 16 to 32 bytes; 16 is what every server takes.
pub const CHALLENGE_BYTES: usize = 16;
/// The top bit of a header of two bytes says that there is no padding.
const HEADER_WITHOUT_PADDING: u16 = 0x8000;
/// 15 bits hold the length of a record.
const RECORD_BYTES_MAX: usize = 0x7fff;
/// A ServerHello names at most the few kinds that exist; some servers repeat what the client sent.
const KINDS_MAX: u64 = 1024;

/// A cipher kind of SSL 2.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CipherKind {
    /// Three bytes on the wire.
    pub code: u32,
    pub name: &'static str,
    pub openssl_name: Option<&'static str>,
    pub strength_bits: u16,
    pub is_export: bool,
}

const fn kind(
    code: u32,
    name: &'static str,
    openssl_name: Option<&'static str>,
    strength_bits: u16,
    is_export: bool,
) -> CipherKind {
    CipherKind { code, name, openssl_name, strength_bits, is_export }
}

/// All cipher kinds, sorted by code.
#[rustfmt::skip]
pub static CIPHER_KINDS: &[CipherKind] = &[
    kind(0x01_0080, "SSL_CK_RC4_128_WITH_MD5", Some("RC4-MD5"), 128, false),
    kind(0x02_0080, "SSL_CK_RC4_128_EXPORT40_WITH_MD5", Some("EXP-RC4-MD5"), 40, true),
    kind(0x03_0080, "SSL_CK_RC2_128_CBC_WITH_MD5", Some("RC2-CBC-MD5"), 128, false),
    kind(0x04_0080, "SSL_CK_RC2_128_CBC_EXPORT40_WITH_MD5", Some("EXP-RC2-CBC-MD5"), 40, true),
    kind(0x05_0080, "SSL_CK_IDEA_128_CBC_WITH_MD5", Some("IDEA-CBC-MD5"), 128, false),
    kind(0x06_0040, "SSL_CK_DES_64_CBC_WITH_MD5", Some("DES-CBC-MD5"), 56, false),
    kind(0x06_0140, "SSL_CK_DES_64_CBC_WITH_SHA", Some("DES-CBC-SHA"), 56, false),
    kind(0x07_00c0, "SSL_CK_DES_192_EDE3_CBC_WITH_MD5", Some("DES-CBC3-MD5"), 112, false),
    kind(0x07_01c0, "SSL_CK_DES_192_EDE3_CBC_WITH_SHA", Some("DES-CBC3-SHA"), 112, false),
    kind(0x08_0080, "SSL_CK_RC4_64_WITH_MD5", Some("RC4-64-MD5"), 64, false),
    kind(0xff_8000, "SSL_CK_DES_64_CFB64_WITH_MD5_1", Some("DES-CFB-M1"), 56, false),
    kind(0xff_8010, "SSL_CK_NULL", Some("NULL"), 0, false),
];

/// The kind of this code.
pub fn cipher_kind(code: u32) -> Option<&'static CipherKind> {
    CIPHER_KINDS.iter().find(|row| row.code == code)
}

/// Appends a CLIENT-HELLO of SSL 2.0 that offers all cipher kinds.
pub fn client_hello(out: &mut Vec<u8>, challenge: &[u8; CHALLENGE_BYTES]) {
    write_hello(out, Version::SSL2, CIPHER_KINDS.iter().map(|row| row.code), challenge);
}

/// Appends a hello in the shape of SSL 2.0 that offers `version` with these suites: what clients of the nineties sent,
/// and what some servers still understand. Suites of SSL 3.0 and newer are kinds with a zero in front.
pub fn client_hello_for(
    out: &mut Vec<u8>,
    version: Version,
    cipher_suites: &[u16],
    challenge: &[u8; CHALLENGE_BYTES],
) {
    write_hello(out, version, cipher_suites.iter().map(|code| u32::from(*code)), challenge);
}

fn write_hello(
    out: &mut Vec<u8>,
    version: Version,
    kinds: impl Iterator<Item = u32>,
    challenge: &[u8; CHALLENGE_BYTES],
) {
    const FIXED_BYTES: usize = 1 + 2 + 2 + 2 + 2;
    let start = out.len();
    out.extend_from_slice(&[0; 2 + FIXED_BYTES]);
    // What does not fit into a record is left out; all suites of the registry take 1140 bytes.
    let kinds_max = (RECORD_BYTES_MAX - FIXED_BYTES - CHALLENGE_BYTES) / 3;
    for code in kinds.take(kinds_max) {
        let [_, a, b, c] = code.to_be_bytes();
        out.extend_from_slice(&[a, b, c]);
    }
    let kinds_bytes = out.len() - start - 2 - FIXED_BYTES;
    out.extend_from_slice(challenge);
    let low16 = |bytes: usize| u16::try_from(bytes).unwrap_or(u16::MAX).to_be_bytes();
    let [r0, r1] = low16((out.len() - start - 2) | usize::from(HEADER_WITHOUT_PADDING));
    let [v0, v1] = version.0.to_be_bytes();
    let [k0, k1] = low16(kinds_bytes);
    let [c0, c1] = low16(CHALLENGE_BYTES);
    let head = [r0, r1, CLIENT_HELLO, v0, v1, k0, k1, 0, 0, c0, c1];
    if let Some(room) = out.get_mut(start..start + head.len()) {
        room.copy_from_slice(&head);
    }
}

/// What a server of SSL 2.0 answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Hello(ServerHello),
    /// 1 says that there is no common cipher: SSL 2.0 is spoken all the same.
    Error(u16),
}

/// The server's SERVER-HELLO.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerHello {
    pub session_id_hit: bool,
    /// 1 is X.509.
    pub certificate_type: u8,
    pub version: Version,
    /// In DER; empty when a session is resumed.
    pub certificate: Vec<u8>,
    /// Kinds that both sides know, in the server's order.
    pub cipher_kinds: Vec<u32>,
    pub connection_id: Vec<u8>,
}

impl ServerHello {
    /// The kinds with a zero in front, which are suites of SSL 3.0 and newer.
    pub fn cipher_suites(&self) -> impl Iterator<Item = &'static CipherSuite> + '_ {
        self.cipher_kinds.iter().filter_map(|code| super::registry::cipher_suite(u16::try_from(*code).ok()?))
    }
}

/// Says whether bytes can be the beginning of an answer of SSL 2.0: a TLS record or a MySQL packet cannot.
///
/// `None` when more bytes are needed to tell.
pub fn looks_like_answer(bytes: &[u8]) -> Option<bool> {
    match bytes {
        // A header of three bytes has its top bit clear; nobody pads what is not encrypted.
        [first, ..] if first & 0x80 == 0 => Some(false),
        // An ERROR has three bytes. A MySQL packet of 128 to 255 bytes has a zero in the same place.
        [_, length, ERROR, ..] => Some(*length == 3),
        [_, _, message_type, ..] => Some(*message_type == SERVER_HELLO),
        _ => None,
    }
}

/// Reads the first record of an answer; `None` when more bytes are needed. Its length is bounded by its 15 bits.
pub fn parse_answer(bytes: &[u8]) -> Result<Option<Answer>, WireError> {
    let malformed = |reason| WireError::Malformed { what: "answer of SSL 2.0", reason };
    match looks_like_answer(bytes) {
        Some(true) => {}
        Some(false) => return Err(malformed("its header is none of SSL 2.0")),
        None => return Ok(None),
    }
    let Some(([h0, h1], body)) = bytes.split_first_chunk() else { return Ok(None) };
    let length = usize::from(u16::from_be_bytes([*h0, *h1]) & !HEADER_WITHOUT_PADDING);
    let Some(record) = body.get(..length) else { return Ok(None) };
    let mut reader = Reader::new("answer of SSL 2.0", record);
    if reader.u8()? == ERROR {
        let code = reader.u16_be()?;
        reader.end()?;
        return Ok(Some(Answer::Error(code)));
    }
    reader.named("SERVER-HELLO of SSL 2.0");
    let session_id_hit = reader.u8()? != 0;
    let certificate_type = reader.u8()?;
    let version = Version(reader.u16_be()?);
    let certificate_bytes = usize::from(reader.u16_be()?);
    let kinds_bytes = usize::from(reader.u16_be()?);
    let connection_id_bytes = usize::from(reader.u16_be()?);
    let certificate = reader.named("certificate of SSL 2.0").take(certificate_bytes)?.to_vec();
    if !kinds_bytes.is_multiple_of(3) {
        return Err(malformed("its list of ciphers is no multiple of three bytes"));
    }
    let announced = kinds_bytes as u64 / 3;
    if announced > KINDS_MAX {
        return Err(WireError::OverLimit { what: "number of cipher kinds", announced, max: KINDS_MAX });
    }
    let mut kinds = Reader::new("cipher kind", reader.named("cipher kinds of SSL 2.0").take(kinds_bytes)?);
    let mut cipher_kinds = Vec::with_capacity(kinds_bytes / 3);
    while !kinds.is_empty() {
        cipher_kinds.push(kinds.u24_be()?);
    }
    let connection_id = reader.named("connection id of SSL 2.0").take(connection_id_bytes)?.to_vec();
    reader.end()?;
    Ok(Some(Answer::Hello(ServerHello {
        session_id_hit,
        certificate_type,
        version,
        certificate,
        cipher_kinds,
        connection_id,
    })))
}
