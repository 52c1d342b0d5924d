//! Extensions of a ServerHello and of a HelloRetryRequest.

use super::super::registry::{Version, extensions as extension};
use crate::WireError;
use crate::read::Reader;

/// Extensions in one hello. A server answers what the client asked, and some twenty can be asked.
pub const EXTENSIONS_MAX: u64 = 64;

/// What the server agreed to. An extension that was not sent is `None` or `false`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerExtensions {
    /// All types in the order sent, those without a field here too: a fingerprint of the server.
    pub types: Vec<u16>,
    /// RFC 7627.
    pub extended_master_secret: bool,
    /// RFC 7366.
    pub encrypt_then_mac: bool,
    /// RFC 5077: a ticket will come.
    pub session_ticket: bool,
    /// RFC 5746: empty in a first handshake, else the finished values of both sides.
    pub renegotiation_info: Option<Vec<u8>>,
    /// RFC 6520: 1 allows us to send requests.
    pub heartbeat: Option<u8>,
    /// RFC 7301.
    pub alpn: Option<Vec<u8>>,
    /// The server's share of TLS 1.3; in a HelloRetryRequest only the group.
    pub key_share_group: Option<u16>,
    /// The share itself; empty in a HelloRetryRequest.
    pub key_share: Vec<u8>,
    /// RFC 8446 4.2.11: which of the offered identities the server resumes.
    pub pre_shared_key: Option<u16>,
    /// A stapled OCSP response will come.
    pub status_request: bool,
    pub ec_point_formats: Option<Vec<u8>>,
    pub supported_version: Option<Version>,
    pub cookie: Option<Vec<u8>>,
    pub max_fragment_length: Option<u8>,
    /// The server has used the name that we sent.
    pub server_name: bool,
    /// RFC 6962: bytes of signed certificate timestamps.
    pub signed_certificate_timestamp_bytes: Option<usize>,
}

/// Reads the block behind the fixed fields; `is_retry` tells a HelloRetryRequest.
pub(super) fn parse(block: &[u8], is_retry: bool) -> Result<ServerExtensions, WireError> {
    let mut block = Reader::new("extension", block);
    let mut seen = ServerExtensions::default();
    while !block.is_empty() {
        let extension_type = block.u16_be()?;
        let body = block.after_u16()?;
        if seen.types.contains(&extension_type) {
            return Err(block.malformed("the same type comes twice"));
        }
        let announced = seen.types.len() as u64 + 1;
        if announced > EXTENSIONS_MAX {
            return Err(WireError::OverLimit {
                what: "number of extensions",
                announced,
                max: EXTENSIONS_MAX,
            });
        }
        seen.types.push(extension_type);
        seen.read(extension_type, body, is_retry)?;
    }
    Ok(seen)
}

impl ServerExtensions {
    fn read(&mut self, extension_type: u16, body: &[u8], is_retry: bool) -> Result<(), WireError> {
        let mut reader = Reader::new("extension", body);
        let body = &mut reader;
        match extension_type {
            extension::SERVER_NAME => {
                body.named("server_name");
                self.server_name = true;
            }
            extension::MAX_FRAGMENT_LENGTH => {
                self.max_fragment_length = Some(body.named("max_fragment_length").u8()?);
            }
            extension::STATUS_REQUEST => {
                body.named("status_request");
                self.status_request = true;
            }
            extension::EC_POINT_FORMATS => {
                self.ec_point_formats = Some(body.named("ec_point_formats").after_u8()?.to_vec());
            }
            extension::HEARTBEAT => self.heartbeat = Some(body.named("heartbeat").u8()?),
            extension::ALPN => {
                let list = body.named("application_layer_protocol_negotiation").after_u16()?;
                let mut list = Reader::new(body.what(), list);
                self.alpn = Some(list.after_u8()?.to_vec());
                list.end()?;
            }
            extension::SIGNED_CERTIFICATE_TIMESTAMP => {
                self.signed_certificate_timestamp_bytes = Some(body.rest().len());
                return Ok(());
            }
            extension::ENCRYPT_THEN_MAC => {
                body.named("encrypt_then_mac");
                self.encrypt_then_mac = true;
            }
            extension::EXTENDED_MASTER_SECRET => {
                body.named("extended_master_secret");
                self.extended_master_secret = true;
            }
            extension::SESSION_TICKET => {
                body.named("session_ticket");
                self.session_ticket = true;
            }
            extension::RENEGOTIATION_INFO => {
                self.renegotiation_info = Some(body.named("renegotiation_info").after_u8()?.to_vec());
            }
            extension::SUPPORTED_VERSIONS => {
                self.supported_version = Some(Version(body.named("supported_versions").u16_be()?));
            }
            extension::COOKIE => self.cookie = Some(body.named("cookie").after_u16()?.to_vec()),
            extension::KEY_SHARE => {
                self.key_share_group = Some(body.named("key_share").u16_be()?);
                if !is_retry {
                    self.key_share = body.after_u16()?.to_vec();
                }
            }
            extension::PRE_SHARED_KEY => {
                self.pre_shared_key = Some(body.named("pre_shared_key").u16_be()?);
            }
            // Known or not: its type is noted, its body is nobody's question.
            _ => return Ok(()),
        }
        reader.end()
    }
}
