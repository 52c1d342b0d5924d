//! The smaller messages: CertificateRequest (RFC 5246 7.4.4) and NewSessionTicket (RFC 5077 3.3).

use super::super::registry::Version;
use crate::WireError;
use crate::read::Reader;

/// Names of authorities in one request. Servers that trust a whole system store send some 150.
pub const AUTHORITIES_MAX: u64 = 1024;

/// The server asks the client for a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateRequest {
    /// IANA "TLS ClientCertificateType Identifiers": 1 is rsa_sign, 64 ecdsa_sign.
    pub certificate_types: Vec<u8>,
    /// Empty before TLS 1.2.
    pub signature_algorithms: Vec<u16>,
    /// Distinguished names in DER.
    pub certificate_authorities: Vec<Vec<u8>>,
}

/// A session to resume later without the server keeping it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSessionTicket {
    pub lifetime_s: u32,
    /// Its first 16 bytes name the server's key, where it follows RFC 5077 4.
    pub ticket: Vec<u8>,
}

pub(super) fn certificate_request(body: &[u8], version: Version) -> Result<CertificateRequest, WireError> {
    let mut reader = Reader::new("CertificateRequest", body);
    let certificate_types = reader.named("client certificate types").after_u8()?.to_vec();
    let signature_algorithms = if version >= Version::TLS12 {
        let list = reader.named("signature algorithms of the CertificateRequest").after_u16()?;
        Reader::new(reader.what(), list).codes()?
    } else {
        Vec::new()
    };
    let list = reader.named("certificate authorities").after_u16()?;
    reader.end()?;
    let mut list = Reader::new("certificate authority", list);
    let mut certificate_authorities = Vec::new();
    while !list.is_empty() {
        let announced = certificate_authorities.len() as u64 + 1;
        if announced > AUTHORITIES_MAX {
            return Err(WireError::OverLimit {
                what: "number of certificate authorities",
                announced,
                max: AUTHORITIES_MAX,
            });
        }
        certificate_authorities.push(list.after_u16()?.to_vec());
    }
    Ok(CertificateRequest { certificate_types, signature_algorithms, certificate_authorities })
}

pub(super) fn new_session_ticket(body: &[u8]) -> Result<NewSessionTicket, WireError> {
    let mut reader = Reader::new("NewSessionTicket", body);
    let lifetime_s = reader.u32_be()?;
    let ticket = reader.after_u16()?.to_vec();
    reader.end()?;
    Ok(NewSessionTicket { lifetime_s, ticket })
}
