//! What a TLS session turned out to be, by whichever library.

use openssl::ssl::SslRef;
use openssl::x509::X509;

/// How far the peer's certificate was checked before anything was sent to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verified {
    Nothing,
    Chain,
    ChainAndName,
}

/// What a TLS session is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsInfo {
    /// As OpenSSL and the servers' `Ssl_version` spell it: `TLSv1.3`.
    pub version: String,
    /// As OpenSSL and the servers' `Ssl_cipher` spell it.
    pub cipher: String,
    pub cipher_bits: i32,
    pub verified: Verified,
    /// OpenSSL's opinion of the chain, told even where it was not enforced.
    pub chain_verdict: String,
    /// DER, the leaf first, as the peer sent it.
    pub chain_der: Vec<Vec<u8>>,
    pub session_reused: bool,
}

impl TlsInfo {
    pub(crate) fn of(ssl: &SslRef, verified: Verified) -> Self {
        let mut chain_der: Vec<Vec<u8>> =
            ssl.peer_cert_chain().into_iter().flatten().filter_map(|cert| cert.to_der().ok()).collect();
        if chain_der.is_empty() {
            // A resumed session keeps the leaf alone.
            chain_der.extend(ssl.peer_certificate().and_then(|leaf| leaf.to_der().ok()));
        }
        let cipher = ssl.current_cipher();
        Self {
            version: ssl.version_str().to_owned(),
            cipher: cipher.map(|cipher| cipher.name().to_owned()).unwrap_or_default(),
            cipher_bits: cipher.map_or(0, |cipher| cipher.bits().secret),
            verified,
            chain_verdict: ssl.verify_result().error_string().to_owned(),
            chain_der,
            session_reused: ssl.session_reused(),
        }
    }

    pub fn leaf_der(&self) -> Option<&[u8]> {
        self.chain_der.first().map(Vec::as_slice)
    }

    /// The leaf as PEM.
    pub fn leaf_pem(&self) -> Option<String> {
        self.leaf_der().and_then(pem)
    }

    /// The whole chain as PEM, the leaf first.
    pub fn chain_pem(&self) -> String {
        self.chain_der.iter().filter_map(|der| pem(der)).collect()
    }
}

fn pem(der: &[u8]) -> Option<String> {
    X509::from_der(der).and_then(|cert| cert.to_pem()).ok().and_then(|bytes| String::from_utf8(bytes).ok())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().take(16).fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}
