//! The first packet of a server: a greeting of protocol 10, of protocol 9 before it, or an error in their place.

use crate::read::Reader;
use crate::{Capabilities, ErrPacket, WireError, printable};

/// MariaDB puts this in front of its version, so that old replicas accept a two-digit major version.
const MARIADB_VERSION_PREFIX: &str = "5.5.5-";
const NONCE_PART_ONE_BYTES: usize = 8;
const NONCE_PART_TWO_BYTES: usize = 12;

/// What a server says before it knows who we are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Greeting {
    pub protocol: u8,
    /// As sent, with a prefix `5.5.5-` if there is one, escaped for printing.
    pub version: String,
    pub connection_id: u32,
    /// The random bytes a password answer is computed over: 20, or 8 from servers before 4.1.
    pub nonce: Vec<u8>,
    pub capabilities: Capabilities,
    /// Zero unless [`Greeting::is_mariadb`].
    pub mariadb_capabilities: u32,
    pub charset: u8,
    pub status: u16,
    pub auth_plugin: Option<String>,
}

/// The first packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FirstPacket {
    Greeting(Greeting),
    /// 1129 (host blocked), 1130 (host not allowed), 1040 (too many connections): TLS was never possible.
    Refused(ErrPacket),
}

impl Greeting {
    pub fn offers_tls(&self) -> bool {
        self.capabilities.contains(Capabilities::SSL)
    }

    /// MariaDB clears bit 0, or (proxies, old versions) names itself.
    pub fn is_mariadb(&self) -> bool {
        let clears_bit_0 = self.protocol >= 10 && !self.capabilities.contains(Capabilities::LONG_PASSWORD);
        clears_bit_0 || self.version.contains("MariaDB")
    }

    /// The version without MariaDB's compatibility prefix.
    pub fn version_text(&self) -> &str {
        self.version.strip_prefix(MARIADB_VERSION_PREFIX).unwrap_or(&self.version)
    }
}

/// Reads the payload of the first packet.
pub fn parse(payload: &[u8]) -> Result<FirstPacket, WireError> {
    let mut reader = Reader::new("greeting", payload);
    let protocol = reader.u8()?;
    if protocol == 0xff {
        return ErrPacket::parse(payload).map(FirstPacket::Refused);
    }
    if protocol == 9 {
        return protocol_9(reader).map(FirstPacket::Greeting);
    }
    if protocol != 10 {
        return Err(WireError::Malformed { what: "greeting", reason: "its protocol is neither 9 nor 10" });
    }
    let version = printable(&String::from_utf8_lossy(reader.until_nul()?));
    let connection_id = reader.u32()?;
    let mut nonce = reader.take(NONCE_PART_ONE_BYTES)?.to_vec();
    reader.take(1)?;
    let low = reader.u16()?;
    let mut greeting = Greeting {
        protocol,
        version,
        connection_id,
        nonce: Vec::new(),
        capabilities: Capabilities(u32::from(low)),
        mariadb_capabilities: 0,
        charset: 0,
        status: 0,
        auth_plugin: None,
    };
    // Servers before 4.1 end here.
    if !reader.is_empty() {
        greeting.charset = reader.u8()?;
        greeting.status = reader.u16()?;
        greeting.capabilities = Capabilities(u32::from(low) | (u32::from(reader.u16()?) << 16));
        let auth_data_bytes = usize::from(reader.u8()?);
        reader.take(6)?;
        let last_reserved = reader.u32()?;
        if !greeting.capabilities.contains(Capabilities::LONG_PASSWORD) {
            greeting.mariadb_capabilities = last_reserved;
        }
        if greeting.capabilities.contains(Capabilities::SECURE_CONNECTION) {
            nonce.extend_from_slice(reader.take(NONCE_PART_TWO_BYTES)?);
            // What a server announces beyond 20 bytes is a closing NUL, or unknown to us: step over it.
            let announced =
                auth_data_bytes.saturating_sub(NONCE_PART_ONE_BYTES + NONCE_PART_TWO_BYTES).max(1);
            reader.take(announced)?;
        }
        if greeting.capabilities.contains(Capabilities::PLUGIN_AUTH) {
            let name = reader.until_nul_or_end();
            greeting.auth_plugin = Some(printable(&String::from_utf8_lossy(name)));
        }
    }
    greeting.nonce = nonce;
    Ok(FirstPacket::Greeting(greeting))
}

/// Servers before MySQL 3.22. They have no capabilities, so nobody can ask them for TLS.
fn protocol_9(mut reader: Reader<'_>) -> Result<Greeting, WireError> {
    let version = printable(&String::from_utf8_lossy(reader.until_nul()?));
    let connection_id = reader.u32()?;
    let nonce = reader.until_nul_or_end().to_vec();
    Ok(Greeting {
        protocol: 9,
        version,
        connection_id,
        nonce,
        capabilities: Capabilities(0),
        mariadb_capabilities: 0,
        charset: 0,
        status: 0,
        auth_plugin: None,
    })
}

/// Writes a greeting payload of protocol 10: what `prove`'s rogue and the tests' fake servers say.
pub fn encode(greeting: &Greeting) -> Vec<u8> {
    let mut out = vec![greeting.protocol];
    out.extend_from_slice(greeting.version.as_bytes());
    out.push(0);
    out.extend_from_slice(&greeting.connection_id.to_le_bytes());
    let mut nonce = greeting.nonce.clone();
    nonce.resize(NONCE_PART_ONE_BYTES + NONCE_PART_TWO_BYTES, 0);
    let (one, two) = nonce.split_at(NONCE_PART_ONE_BYTES);
    out.extend_from_slice(one);
    out.push(0);
    let [c0, c1, c2, c3] = greeting.capabilities.0.to_le_bytes();
    out.extend_from_slice(&[c0, c1, greeting.charset]);
    out.extend_from_slice(&greeting.status.to_le_bytes());
    out.extend_from_slice(&[c2, c3, 21]);
    out.extend_from_slice(&[0; 6]);
    out.extend_from_slice(&greeting.mariadb_capabilities.to_le_bytes());
    if greeting.capabilities.contains(Capabilities::SECURE_CONNECTION) {
        out.extend_from_slice(two);
        out.push(0);
    }
    if let Some(plugin) = &greeting.auth_plugin {
        out.extend_from_slice(plugin.as_bytes());
        out.push(0);
    }
    out
}
