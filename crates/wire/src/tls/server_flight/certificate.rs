//! Certificate and CertificateStatus. Sources: RFC 5246 7.4.2, RFC 6066 8.

use crate::WireError;
use crate::read::Reader;

/// Certificates in one chain. Public chains have two to four; OpenSSL verifies at most 100 levels.
pub const CERTIFICATES_MAX: u64 = 32;
/// One certificate: what OpenSSL's clients take for a whole list (`SSL_MAX_CERT_LIST_DEFAULT`). Large ones, with hundreds of
/// names or a post-quantum key, have some 20 KiB; with 3,600 names, 68 KiB.
pub const CERTIFICATE_BYTES_MAX: u64 = 100 * 1024;

/// A stapled answer about the leaf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateStatus {
    /// 1 is OCSP.
    pub status_type: u8,
    /// In DER, not looked into.
    pub response: Vec<u8>,
}

pub(super) fn parse(body: &[u8]) -> Result<Vec<Vec<u8>>, WireError> {
    let mut reader = Reader::new("Certificate", body);
    let list = reader.named("certificate list").after_u24()?;
    reader.end()?;
    let mut list = Reader::new("certificate", list);
    let mut certificates = Vec::new();
    while !list.is_empty() {
        let announced = certificates.len() as u64 + 1;
        if announced > CERTIFICATES_MAX {
            return Err(WireError::OverLimit {
                what: "number of certificates",
                announced,
                max: CERTIFICATES_MAX,
            });
        }
        let der = list.after_u24()?;
        if der.is_empty() {
            return Err(list.malformed("it is empty"));
        }
        if der.len() as u64 > CERTIFICATE_BYTES_MAX {
            return Err(WireError::OverLimit {
                what: "certificate",
                announced: der.len() as u64,
                max: CERTIFICATE_BYTES_MAX,
            });
        }
        certificates.push(der.to_vec());
    }
    Ok(certificates)
}

pub(super) fn parse_status(body: &[u8]) -> Result<CertificateStatus, WireError> {
    let mut reader = Reader::new("CertificateStatus", body);
    let status_type = reader.u8()?;
    let response = reader.after_u24()?.to_vec();
    reader.end()?;
    Ok(CertificateStatus { status_type, response })
}
