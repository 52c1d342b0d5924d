//! Writes any ClientHello, from SSL 3.0 to TLS 1.3, into a buffer that the caller keeps.
//!
//! What goes in is what goes out: nothing is added, left out or put right, so that a probe can ask exactly its
//! question. The one exception is a server name that is an IP address, which RFC 6066 3 forbids: it is skipped.
//! The hello of SSL 2.0 is in [`super::ssl2`]; keys and random bytes come from the caller.
//!
//! ```
//! use wire::tls::registry::{Version, groups, signature_schemes as schemes};
//! use wire::tls::{ClientHello, KeyShare, key_share};
//!
//! let hello = ClientHello {
//!     supported_versions: &[Version::TLS13, Version::TLS12],
//!     cipher_suites: &[0x1301, 0x1302, 0x1303, 0xc02f, 0xc030],
//!     groups: &[groups::X25519, groups::SECP256R1],
//!     key_shares: Some(&[KeyShare { group: groups::X25519, key: &key_share::X25519 }]),
//!     signature_algorithms: &[schemes::ECDSA_SECP256R1_SHA256, schemes::RSA_PSS_RSAE_SHA256],
//!     server_name: Some("db1.example"),
//!     extended_master_secret: true,
//!     renegotiation_info: Some(&[]),
//!     ..ClientHello::new([7; 32])
//! };
//! let mut out = Vec::new();
//! hello.encode(&mut out).expect("short fields");
//! assert_eq!(out.get(..3), Some(&[0x16, 0x03, 0x01][..]));
//! ```

use std::net::IpAddr;

use super::registry::{Version, extensions as extension};
use super::{CONTENT_HANDSHAKE, HANDSHAKE_CLIENT_HELLO, RECORD_HEADER_BYTES};

/// RFC 8446 5.1: cleartext of a record, at most.
pub const RECORD_CLEAR_BYTES_MAX: u16 = 1 << 14;
/// OpenSSL 3.6 reads 131396 bytes of a hello at most (`CLIENT_HELLO_MAX_LENGTH`).
pub const HELLO_BYTES_MAX: usize = 131_072;

/// A ClientHello that cannot be written: the caller's mistake, not the peer's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HelloError {
    #[error("{field} of a ClientHello has {bytes} bytes, its length field allows {max}")]
    FieldTooLong { field: &'static str, bytes: usize, max: usize },
    #[error("a record of {0} bytes is not between 1 and 16384")]
    RecordBytes(u16),
}

/// One key of the key_share extension; [`super::key_share`] has some to hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyShare<'a> {
    pub group: u16,
    pub key: &'a [u8],
}

/// A session to resume in TLS 1.3. The binder is a MAC over the hello before it, which the caller computes: it hashes
/// the message up to [`ClientHello::binders_bytes`] before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PreSharedKey<'a> {
    pub identity: &'a [u8],
    pub obfuscated_ticket_age: u32,
    pub binder: &'a [u8],
}

/// What a client says first. An empty list or `None` leaves the extension out; without any extension the whole block
/// is left out, as SSL 3.0 wants it.
///
/// Source: RFC 8446 4.1.2, RFC 5246 7.4.1.2, RFC 6101 5.6.1.2, and the RFC of each extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientHello<'a> {
    /// Of the first record. Seen: yaSSL in MySQL 5.5.9 refuses anything but 0x0301 here.
    pub record_version: Version,
    /// `client_version`; TLS 1.3 keeps 0x0303 here and says the truth in `supported_versions`.
    pub legacy_version: Version,
    pub random: [u8; 32],
    pub session_id: &'a [u8],
    pub cipher_suites: &'a [u16],
    pub compression_methods: &'a [u8],
    pub server_name: Option<&'a str>,
    pub supported_versions: &'a [Version],
    pub groups: &'a [u16],
    pub ec_point_formats: &'a [u8],
    /// `Some(&[])` sends an empty list: the server names the group that it wants in a HelloRetryRequest.
    pub key_shares: Option<&'a [KeyShare<'a>]>,
    pub signature_algorithms: &'a [u16],
    pub signature_algorithms_cert: &'a [u16],
    pub alpn: &'a [&'a [u8]],
    /// RFC 5077: empty asks for a ticket, otherwise the ticket.
    pub session_ticket: Option<&'a [u8]>,
    pub extended_master_secret: bool,
    pub encrypt_then_mac: bool,
    /// RFC 5746: empty in a first handshake.
    pub renegotiation_info: Option<&'a [u8]>,
    /// Asks for an OCSP response.
    pub status_request: bool,
    /// Asks for signed certificate timestamps.
    pub signed_certificate_timestamp: bool,
    /// RFC 6520: 1 allows the peer to send requests, 2 does not.
    pub heartbeat: Option<u8>,
    /// RFC 6066 4: 1 to 4 for 512 to 4096 bytes.
    pub max_fragment_length: Option<u8>,
    /// RFC 8446 4.2.9: 0 is PSK alone, 1 is PSK with a key exchange.
    pub psk_key_exchange_modes: &'a [u8],
    pub early_data: bool,
    pub post_handshake_auth: bool,
    /// Given back as the HelloRetryRequest had it.
    pub cookie: Option<&'a [u8]>,
    /// Others, for instance GREASE: type and body.
    pub other_extensions: &'a [(u16, &'a [u8])],
    /// RFC 7685: fills the message up to so many bytes, header included. Too small a number adds nothing.
    pub padded_to_bytes: Option<usize>,
    /// Always the last extension (RFC 8446 4.2.11).
    pub pre_shared_key: Option<PreSharedKey<'a>>,
    /// Longer hellos are cut into records of so many bytes.
    pub record_bytes_max: u16,
}

impl ClientHello<'_> {
    /// A hello of TLS 1.2 in a record of TLS 1.0, with no suites and no extensions yet.
    pub const fn new(random: [u8; 32]) -> Self {
        Self {
            record_version: Version::TLS10,
            legacy_version: Version::TLS12,
            random,
            session_id: &[],
            cipher_suites: &[],
            compression_methods: &[0],
            server_name: None,
            supported_versions: &[],
            groups: &[],
            ec_point_formats: &[],
            key_shares: None,
            signature_algorithms: &[],
            signature_algorithms_cert: &[],
            alpn: &[],
            session_ticket: None,
            extended_master_secret: false,
            encrypt_then_mac: false,
            renegotiation_info: None,
            status_request: false,
            signed_certificate_timestamp: false,
            heartbeat: None,
            max_fragment_length: None,
            psk_key_exchange_modes: &[],
            early_data: false,
            post_handshake_auth: false,
            cookie: None,
            other_extensions: &[],
            padded_to_bytes: None,
            pre_shared_key: None,
            record_bytes_max: RECORD_CLEAR_BYTES_MAX,
        }
    }

    /// Appends the hello in its record or records. On an error `out` is as it was.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), HelloError> {
        if !(1..=RECORD_CLEAR_BYTES_MAX).contains(&self.record_bytes_max) {
            return Err(HelloError::RecordBytes(self.record_bytes_max));
        }
        let start = out.len();
        let written = self.message(out);
        if written.is_err() {
            out.truncate(start);
            return written;
        }
        into_records(out, start, self.record_version, self.record_bytes_max);
        Ok(())
    }

    /// Appends the handshake message without records: what a transcript hash is computed over.
    pub fn encode_message(&self, out: &mut Vec<u8>) -> Result<(), HelloError> {
        let start = out.len();
        let written = self.message(out);
        if written.is_err() {
            out.truncate(start);
        }
        written
    }

    /// Length of the list of binders at the end of the message; RFC 8446 4.2.11.2 leaves them out of the hash.
    pub fn binders_bytes(&self) -> usize {
        self.pre_shared_key.map_or(0, |psk| 2 + 1 + psk.binder.len())
    }

    fn message(&self, out: &mut Vec<u8>) -> Result<(), HelloError> {
        let start = out.len();
        out.push(HANDSHAKE_CLIENT_HELLO);
        let body = open::<3>(out);
        out.extend_from_slice(&self.legacy_version.0.to_be_bytes());
        out.extend_from_slice(&self.random);
        // 32 in the RFCs; longer ones are a probe's business.
        bytes_after_length::<1>(out, "session_id", self.session_id)?;
        codes_after_length::<2>(out, "cipher_suites", self.cipher_suites)?;
        bytes_after_length::<1>(out, "compression_methods", self.compression_methods)?;
        let extensions = open::<2>(out);
        self.extensions(out)?;
        self.padding(out, start)?;
        self.pre_shared_key(out)?;
        if out.len() == extensions {
            out.truncate(extensions - 2);
        } else {
            close::<2>(out, "extensions", extensions)?;
        }
        let bytes = out.len() - start;
        if bytes > HELLO_BYTES_MAX {
            return Err(HelloError::FieldTooLong { field: "the whole", bytes, max: HELLO_BYTES_MAX });
        }
        close::<3>(out, "the whole", body)
    }

    fn extensions(&self, out: &mut Vec<u8>) -> Result<(), HelloError> {
        if let Some(name) = self.server_name.filter(|name| is_host_name(name)) {
            extension(out, extension::SERVER_NAME, |out| {
                let list = open::<2>(out);
                out.push(0); // host_name
                // RFC 6066 3: without the dot at its end.
                let name = name.strip_suffix('.').unwrap_or(name);
                bytes_after_length::<2>(out, "server_name", name.as_bytes())?;
                close::<2>(out, "server_name", list)
            })?;
        }
        if let Some(code) = self.max_fragment_length {
            extension(out, extension::MAX_FRAGMENT_LENGTH, |out| {
                out.push(code);
                Ok(())
            })?;
        }
        if self.status_request {
            // OCSP, no responders named, no request extensions.
            extension(out, extension::STATUS_REQUEST, |out| {
                out.extend_from_slice(&[1, 0, 0, 0, 0]);
                Ok(())
            })?;
        }
        if !self.groups.is_empty() {
            extension(out, extension::SUPPORTED_GROUPS, |out| {
                codes_after_length::<2>(out, "supported_groups", self.groups)
            })?;
        }
        if !self.ec_point_formats.is_empty() {
            extension(out, extension::EC_POINT_FORMATS, |out| {
                bytes_after_length::<1>(out, "ec_point_formats", self.ec_point_formats)
            })?;
        }
        if !self.signature_algorithms.is_empty() {
            extension(out, extension::SIGNATURE_ALGORITHMS, |out| {
                codes_after_length::<2>(out, "signature_algorithms", self.signature_algorithms)
            })?;
        }
        if let Some(mode) = self.heartbeat {
            extension(out, extension::HEARTBEAT, |out| {
                out.push(mode);
                Ok(())
            })?;
        }
        if !self.alpn.is_empty() {
            extension(out, extension::ALPN, |out| {
                let list = open::<2>(out);
                for protocol in self.alpn {
                    bytes_after_length::<1>(out, "a protocol of ALPN", protocol)?;
                }
                close::<2>(out, "ALPN", list)
            })?;
        }
        if self.signed_certificate_timestamp {
            extension(out, extension::SIGNED_CERTIFICATE_TIMESTAMP, |_| Ok(()))?;
        }
        if self.encrypt_then_mac {
            extension(out, extension::ENCRYPT_THEN_MAC, |_| Ok(()))?;
        }
        if self.extended_master_secret {
            extension(out, extension::EXTENDED_MASTER_SECRET, |_| Ok(()))?;
        }
        if let Some(ticket) = self.session_ticket {
            extension(out, extension::SESSION_TICKET, |out| {
                out.extend_from_slice(ticket);
                Ok(())
            })?;
        }
        if let Some(verify_data) = self.renegotiation_info {
            extension(out, extension::RENEGOTIATION_INFO, |out| {
                bytes_after_length::<1>(out, "renegotiation_info", verify_data)
            })?;
        }
        self.extensions_of_tls13(out)?;
        for (extension_type, body) in self.other_extensions {
            extension(out, *extension_type, |out| {
                out.extend_from_slice(body);
                Ok(())
            })?;
        }
        Ok(())
    }

    fn extensions_of_tls13(&self, out: &mut Vec<u8>) -> Result<(), HelloError> {
        if !self.supported_versions.is_empty() {
            extension(out, extension::SUPPORTED_VERSIONS, |out| {
                let list = open::<1>(out);
                for version in self.supported_versions {
                    out.extend_from_slice(&version.0.to_be_bytes());
                }
                close::<1>(out, "supported_versions", list)
            })?;
        }
        if let Some(cookie) = self.cookie {
            extension(out, extension::COOKIE, |out| bytes_after_length::<2>(out, "cookie", cookie))?;
        }
        if !self.psk_key_exchange_modes.is_empty() {
            extension(out, extension::PSK_KEY_EXCHANGE_MODES, |out| {
                bytes_after_length::<1>(out, "psk_key_exchange_modes", self.psk_key_exchange_modes)
            })?;
        }
        if self.post_handshake_auth {
            extension(out, extension::POST_HANDSHAKE_AUTH, |_| Ok(()))?;
        }
        if !self.signature_algorithms_cert.is_empty() {
            extension(out, extension::SIGNATURE_ALGORITHMS_CERT, |out| {
                codes_after_length::<2>(out, "signature_algorithms_cert", self.signature_algorithms_cert)
            })?;
        }
        if let Some(shares) = self.key_shares {
            extension(out, extension::KEY_SHARE, |out| {
                let list = open::<2>(out);
                for share in shares {
                    out.extend_from_slice(&share.group.to_be_bytes());
                    bytes_after_length::<2>(out, "a key share", share.key)?;
                }
                close::<2>(out, "key_share", list)
            })?;
        }
        if self.early_data {
            extension(out, extension::EARLY_DATA, |_| Ok(()))?;
        }
        Ok(())
    }

    fn padding(&self, out: &mut Vec<u8>, start: usize) -> Result<(), HelloError> {
        const EXTENSION_HEADER_BYTES: usize = 4;
        let Some(wanted) = self.padded_to_bytes else { return Ok(()) };
        let psk = self
            .pre_shared_key
            .map_or(0, |psk| EXTENSION_HEADER_BYTES + 2 + 2 + psk.identity.len() + 4 + self.binders_bytes());
        let without = out.len() - start + psk + EXTENSION_HEADER_BYTES;
        if wanted <= without {
            return Ok(());
        }
        // Checked before the bytes are there: the number is the caller's, and may be a mistake.
        let bytes = wanted - without;
        if bytes > usize::from(u16::MAX) {
            return Err(HelloError::FieldTooLong { field: "padding", bytes, max: usize::from(u16::MAX) });
        }
        extension(out, extension::PADDING, |out| {
            out.resize(out.len() + bytes, 0);
            Ok(())
        })
    }

    fn pre_shared_key(&self, out: &mut Vec<u8>) -> Result<(), HelloError> {
        let Some(psk) = &self.pre_shared_key else { return Ok(()) };
        extension(out, extension::PRE_SHARED_KEY, |out| {
            let identities = open::<2>(out);
            bytes_after_length::<2>(out, "a PSK identity", psk.identity)?;
            out.extend_from_slice(&psk.obfuscated_ticket_age.to_be_bytes());
            close::<2>(out, "PSK identities", identities)?;
            let binders = open::<2>(out);
            bytes_after_length::<1>(out, "a PSK binder", psk.binder)?;
            close::<2>(out, "PSK binders", binders)
        })
    }
}

/// RFC 6066 3: literal addresses are not allowed, in brackets neither.
fn is_host_name(name: &str) -> bool {
    let bare = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
    // The zone of a link-local address ("fe80::1%eth0") is no part of what IpAddr reads.
    let bare = bare.split_once('%').map_or(bare, |(address, _)| address);
    !name.is_empty() && bare.parse::<IpAddr>().is_err()
}

/// Leaves room for a length of `N` bytes; says where what it counts begins.
fn open<const N: usize>(out: &mut Vec<u8>) -> usize {
    out.extend_from_slice(&[0; N]);
    out.len()
}

/// Writes the length of all that came since `open`.
fn close<const N: usize>(out: &mut [u8], field: &'static str, start: usize) -> Result<(), HelloError> {
    let bytes = out.len() - start;
    let max = (1_usize << (8 * N)) - 1;
    if bytes > max {
        return Err(HelloError::FieldTooLong { field, bytes, max });
    }
    let length = (bytes as u64).to_be_bytes();
    if let (Some(room), Some(low)) = (out.get_mut(start - N..start), length.get(8 - N..)) {
        room.copy_from_slice(low);
    }
    Ok(())
}

fn bytes_after_length<const N: usize>(
    out: &mut Vec<u8>,
    field: &'static str,
    bytes: &[u8],
) -> Result<(), HelloError> {
    let start = open::<N>(out);
    out.extend_from_slice(bytes);
    close::<N>(out, field, start)
}

fn codes_after_length<const N: usize>(
    out: &mut Vec<u8>,
    field: &'static str,
    codes: &[u16],
) -> Result<(), HelloError> {
    let start = open::<N>(out);
    out.extend(codes.iter().flat_map(|code| code.to_be_bytes()));
    close::<N>(out, field, start)
}

fn extension(
    out: &mut Vec<u8>,
    extension_type: u16,
    body: impl FnOnce(&mut Vec<u8>) -> Result<(), HelloError>,
) -> Result<(), HelloError> {
    out.extend_from_slice(&extension_type.to_be_bytes());
    let start = open::<2>(out);
    body(out)?;
    close::<2>(out, "an extension", start)
}

/// Puts record headers into the message that begins at `start`. It moves bytes inside `out`, from the last record to
/// the first, so that no second buffer is needed.
fn into_records(out: &mut Vec<u8>, start: usize, version: Version, record_bytes_max: u16) {
    let message_bytes = out.len() - start;
    let record_bytes_max = usize::from(record_bytes_max);
    let records = message_bytes.div_ceil(record_bytes_max);
    out.resize(out.len() + records * RECORD_HEADER_BYTES, 0);
    for record in (0..records).rev() {
        let from = start + record * record_bytes_max;
        let bytes = (message_bytes - record * record_bytes_max).min(record_bytes_max);
        let header = from + record * RECORD_HEADER_BYTES;
        out.copy_within(from..from + bytes, header + RECORD_HEADER_BYTES);
        let [v0, v1] = version.0.to_be_bytes();
        let [.., l0, l1] = (bytes as u64).to_be_bytes();
        if let Some(room) = out.get_mut(header..header + RECORD_HEADER_BYTES) {
            room.copy_from_slice(&[CONTENT_HANDSHAKE, v0, v1, l0, l1]);
        }
    }
}
