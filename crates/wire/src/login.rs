//! What a client sends first: an SSLRequest, and its login.

use crate::read::{Reader, lenenc};
use crate::{Capabilities, WireError};

/// `utf8mb4_general_ci`: every server since 5.5.3 knows it.
pub const CHARSET_UTF8MB4: u8 = 45;
/// Connection attributes: the servers keep at most 64 KiB of them.
const ATTRIBUTES_BYTES_MAX: u64 = 64 * 1024;

/// The short login packet that asks for TLS; a ClientHello follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SslRequest {
    pub capabilities: Capabilities,
    /// MariaDB's extended capabilities; valid only without `LONG_PASSWORD`.
    pub mariadb_capabilities: u32,
    pub max_packet_bytes: u32,
    pub charset: u8,
}

impl SslRequest {
    /// The 32 bytes, which a login begins with too.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.capabilities.0.to_le_bytes());
        out.extend_from_slice(&self.max_packet_bytes.to_le_bytes());
        out.push(self.charset);
        out.extend_from_slice(&[0; 19]);
        out.extend_from_slice(&self.mariadb_capabilities.to_le_bytes());
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let capabilities = Capabilities(reader.u32()?);
        let max_packet_bytes = reader.u32()?;
        let charset = reader.u8()?;
        reader.take(19)?;
        Ok(Self { capabilities, mariadb_capabilities: reader.u32()?, max_packet_bytes, charset })
    }

    /// Reads an SSLRequest; a longer packet is a login and not accepted here.
    pub fn parse(payload: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new("SSLRequest", payload);
        let request = Self::read(&mut reader)?;
        if !reader.is_empty() || !request.capabilities.contains(Capabilities::SSL) {
            return Err(WireError::Malformed { what: "SSLRequest", reason: "it is a login in cleartext" });
        }
        Ok(request)
    }
}

/// The login of protocol 4.1 and newer.
#[derive(Clone, PartialEq, Eq)]
pub struct HandshakeResponse<'a> {
    pub head: SslRequest,
    pub user: &'a [u8],
    pub auth_response: &'a [u8],
    /// Sent when `CONNECT_WITH_DB` is set.
    pub database: Option<&'a [u8]>,
    /// Sent when `PLUGIN_AUTH` is set.
    pub auth_plugin: Option<&'a str>,
    /// Sent when `CONNECT_ATTRS` is set.
    pub attributes: Vec<(&'a str, &'a str)>,
}

impl std::fmt::Debug for HandshakeResponse<'_> {
    /// Leaves the answer out: it may hold a password, or what is needed to guess it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HandshakeResponse")
            .field("head", &self.head)
            .field("user", &String::from_utf8_lossy(self.user))
            .field("auth_response_bytes", &self.auth_response.len())
            .field("auth_plugin", &self.auth_plugin)
            .finish_non_exhaustive()
    }
}

/// A client by what it says of itself: `libmariadb 3.3.20 (mysql)`. `None`: nothing of that is among the attributes.
///
/// # Source
/// MySQL manual, "Performance Schema Connection Attribute Tables"; MariaDB's clients send the same names.
pub fn client_name<'n>(attributes: impl Iterator<Item = (&'n str, &'n str)>) -> Option<String> {
    let [mut name, mut version, mut program] = [""; 3];
    for (key, value) in attributes {
        match key {
            "_client_name" => name = value,
            "_client_version" => version = value,
            "program_name" => program = value,
            _ => {}
        }
    }
    let program = if program.is_empty() { String::new() } else { format!("({program})") };
    let parts: Vec<&str> = [name, version, &program].into_iter().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

impl<'a> HandshakeResponse<'a> {
    /// Appends the payload. A user or database with a NUL in it cannot be sent.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        if self.user.contains(&0) || self.database.is_some_and(|name| name.contains(&0)) {
            return Err(WireError::Malformed { what: "login", reason: "user or database contains a NUL" });
        }
        let capabilities = self.head.capabilities;
        self.head.encode(out);
        out.extend_from_slice(self.user);
        out.push(0);
        if capabilities.contains(Capabilities::PLUGIN_AUTH_LENENC_DATA) {
            lenenc::write_bytes(out, self.auth_response);
        } else {
            let length = u8::try_from(self.auth_response.len()).map_err(|_| WireError::OverLimit {
                what: "login answer",
                announced: self.auth_response.len() as u64,
                max: 255,
            })?;
            out.push(length);
            out.extend_from_slice(self.auth_response);
        }
        if capabilities.contains(Capabilities::CONNECT_WITH_DB) {
            out.extend_from_slice(self.database.unwrap_or_default());
            out.push(0);
        }
        if capabilities.contains(Capabilities::PLUGIN_AUTH) {
            out.extend_from_slice(self.auth_plugin.unwrap_or_default().as_bytes());
            out.push(0);
        }
        if capabilities.contains(Capabilities::CONNECT_ATTRS) {
            let mut pairs = Vec::new();
            for (name, value) in &self.attributes {
                lenenc::write_bytes(&mut pairs, name.as_bytes());
                lenenc::write_bytes(&mut pairs, value.as_bytes());
            }
            lenenc::write_bytes(out, &pairs);
        }
        Ok(())
    }

    /// Reads a login: what a rogue or fake server is told. Attributes that are no UTF-8 are left out.
    pub fn parse(payload: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new("login", payload);
        let head = SslRequest::read(&mut reader)?;
        let capabilities = head.capabilities;
        if !capabilities.contains(Capabilities::PROTOCOL_41) {
            return Err(WireError::Malformed { what: "login", reason: "it is older than protocol 4.1" });
        }
        let user = reader.until_nul()?;
        let auth_response = if capabilities.contains(Capabilities::PLUGIN_AUTH_LENENC_DATA) {
            reader.lenenc_bytes()?
        } else if capabilities.contains(Capabilities::SECURE_CONNECTION) {
            let length = reader.u8()?;
            reader.take(usize::from(length))?
        } else {
            reader.until_nul()?
        };
        let database = if capabilities.contains(Capabilities::CONNECT_WITH_DB) {
            Some(reader.until_nul()?)
        } else {
            None
        };
        let auth_plugin = if capabilities.contains(Capabilities::PLUGIN_AUTH) {
            std::str::from_utf8(reader.until_nul_or_end()).ok()
        } else {
            None
        };
        let mut attributes = Vec::new();
        if capabilities.contains(Capabilities::CONNECT_ATTRS) && !reader.is_empty() {
            let total = reader.lenenc_int()?;
            if total > ATTRIBUTES_BYTES_MAX {
                return Err(WireError::OverLimit {
                    what: "connection attributes",
                    announced: total,
                    max: ATTRIBUTES_BYTES_MAX,
                });
            }
            let mut pairs =
                Reader::new("connection attributes", reader.take(usize::try_from(total).unwrap_or(0))?);
            while !pairs.is_empty() {
                let (name, value) = (pairs.lenenc_bytes()?, pairs.lenenc_bytes()?);
                if let (Ok(name), Ok(value)) = (std::str::from_utf8(name), std::str::from_utf8(value)) {
                    attributes.push((name, value));
                }
            }
        }
        Ok(Self { head, user, auth_response, database, auth_plugin, attributes })
    }
}
