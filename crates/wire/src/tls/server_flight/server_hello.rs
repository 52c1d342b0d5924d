//! ServerHello, and the HelloRetryRequest that looks like one. Sources: RFC 8446 4.1.3 and 4.1.4, RFC 5246 7.4.1.3.

use super::super::registry::Version;
use super::extensions::{self, ServerExtensions};
use crate::WireError;
use crate::read::Reader;

/// RFC 5246 7.4.1.2.
const SESSION_ID_BYTES_MAX: usize = 32;
/// RFC 8446 4.1.3: the SHA-256 of "HelloRetryRequest" in the place of random bytes.
const RETRY_RANDOM: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2,
    0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

/// What the end of the random bytes admits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Downgrade {
    /// "DOWNGRD" and 1: the server could do TLS 1.3 and settled for 1.2.
    ToTls12,
    /// "DOWNGRD" and 0: it settled for 1.1 or older.
    ToTls11OrOlder,
}

/// The server's choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerHello {
    /// Settled: `supported_versions` where it is there, else `legacy_version`.
    pub version: Version,
    pub legacy_version: Version,
    pub random: [u8; 32],
    pub session_id: Vec<u8>,
    pub cipher_suite: u16,
    /// 0 is none; 1 is DEFLATE, which CRIME (CVE-2012-4929) reads.
    pub compression_method: u8,
    pub extensions: ServerExtensions,
    /// RFC 8446 4.1.3.
    pub downgrade: Option<Downgrade>,
}

/// The server of TLS 1.3 wants another first flight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelloRetryRequest {
    pub version: Version,
    pub session_id: Vec<u8>,
    pub cipher_suite: u16,
    /// The group whose share it wants. `None`: it only wants its cookie back.
    pub group: Option<u16>,
    pub cookie: Option<Vec<u8>>,
    /// Types of all extensions, in the order sent.
    pub extension_types: Vec<u16>,
}

pub(super) enum Hello {
    Server(ServerHello),
    Retry(HelloRetryRequest),
}

pub(super) fn parse(body: &[u8]) -> Result<Hello, WireError> {
    let mut reader = Reader::new("ServerHello", body);
    let legacy_version = Version(reader.named("ServerHello version").u16_be()?);
    if !(Version::SSL3..=Version::TLS13).contains(&legacy_version) {
        return Err(reader.malformed("it is none from SSL 3.0 to TLS 1.3"));
    }
    let mut random = [0; 32];
    random.copy_from_slice(reader.named("ServerHello random").take(32)?);
    let session_id = reader.named("ServerHello session_id").after_u8()?;
    if session_id.len() > SESSION_ID_BYTES_MAX {
        return Err(WireError::OverLimit {
            what: "ServerHello session_id",
            announced: session_id.len() as u64,
            max: SESSION_ID_BYTES_MAX as u64,
        });
    }
    let session_id = session_id.to_vec();
    let cipher_suite = reader.named("ServerHello cipher_suite").u16_be()?;
    let compression_method = reader.named("ServerHello compression_method").u8()?;
    let is_retry = random == RETRY_RANDOM;
    // Servers without extensions end here, those of SSL 3.0 always.
    let block = if reader.is_empty() {
        &[][..]
    } else {
        let block = reader.named("ServerHello extensions").after_u16()?;
        reader.end()?;
        block
    };
    let extensions = extensions::parse(block, is_retry)?;
    let version = extensions.supported_version.unwrap_or(legacy_version);
    if is_retry {
        if version < Version::TLS13 {
            return Err(WireError::Malformed {
                what: "HelloRetryRequest",
                reason: "it is older than TLS 1.3",
            });
        }
        return Ok(Hello::Retry(HelloRetryRequest {
            version,
            session_id,
            cipher_suite,
            group: extensions.key_share_group,
            cookie: extensions.cookie,
            extension_types: extensions.types,
        }));
    }
    let downgrade = match random.split_last_chunk::<8>() {
        Some((_, b"DOWNGRD\x01")) => Some(Downgrade::ToTls12),
        Some((_, b"DOWNGRD\x00")) => Some(Downgrade::ToTls11OrOlder),
        _ => None,
    };
    Ok(Hello::Server(ServerHello {
        version,
        legacy_version,
        random,
        session_id,
        cipher_suite,
        compression_method,
        extensions,
        downgrade,
    }))
}
