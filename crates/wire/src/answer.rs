//! What a server answers to a login and to commands: OK, ERR, EOF, and the turns of an authentication.

use crate::read::{Reader, lenenc};
use crate::{WireError, printable};

/// `SERVER_MORE_RESULTS_EXISTS` in the status flags.
pub const STATUS_MORE_RESULTS: u16 = 0x0008;

/// An error as the server words it, made printable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrPacket {
    pub code: u16,
    /// Five characters; absent before the login is read (1129, 1040) and from old servers.
    pub sqlstate: Option<String>,
    /// Escaped: the peer chooses this text, and before TLS anybody on the way does.
    pub message: String,
}

impl ErrPacket {
    pub fn parse(payload: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new("ERR packet", payload);
        if reader.u8()? != 0xff {
            return Err(WireError::Malformed { what: "ERR packet", reason: "it does not begin with 0xff" });
        }
        let code = reader.u16()?;
        let mut sqlstate = None;
        if reader.rest().first() == Some(&b'#') {
            reader.take(1)?;
            sqlstate = Some(printable(&String::from_utf8_lossy(reader.take(5)?)));
        }
        Ok(Self { code, sqlstate, message: printable(&String::from_utf8_lossy(reader.rest())) })
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![0xff];
        out.extend_from_slice(&self.code.to_le_bytes());
        if let Some(state) = &self.sqlstate {
            out.push(b'#');
            out.extend_from_slice(state.as_bytes());
        }
        out.extend_from_slice(self.message.as_bytes());
        out
    }
}

/// Success of a login or a statement, or the end of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OkPacket {
    pub affected_rows: u64,
    pub last_insert_id: u64,
    pub status: u16,
    pub warnings: u16,
}

impl OkPacket {
    /// Reads an OK that begins with 0x00, or with 0xfe where it ends rows (`DEPRECATE_EOF`).
    pub fn parse(payload: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new("OK packet", payload);
        if !matches!(reader.u8()?, 0x00 | 0xfe) {
            return Err(WireError::Malformed { what: "OK packet", reason: "it begins with another byte" });
        }
        Ok(Self {
            affected_rows: reader.lenenc_int()?,
            last_insert_id: reader.lenenc_int()?,
            status: reader.u16()?,
            warnings: reader.u16()?,
        })
    }

    /// Reads an EOF packet of a session without `DEPRECATE_EOF`.
    pub fn parse_eof(payload: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new("EOF packet", payload);
        if reader.u8()? != 0xfe {
            return Err(WireError::Malformed { what: "EOF packet", reason: "it does not begin with 0xfe" });
        }
        let warnings = reader.u16()?;
        Ok(Self { warnings, status: reader.u16()?, ..Self::default() })
    }

    pub fn has_more_results(&self) -> bool {
        self.status & STATUS_MORE_RESULTS != 0
    }

    /// Writes it with the given first byte, 0x00 or 0xfe.
    pub fn encode(&self, first: u8) -> Vec<u8> {
        let mut out = vec![first];
        lenenc::write_int(&mut out, self.affected_rows);
        lenenc::write_int(&mut out, self.last_insert_id);
        out.extend_from_slice(&self.status.to_le_bytes());
        out.extend_from_slice(&self.warnings.to_le_bytes());
        out
    }
}

/// The server wants another plugin than the one the login answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthSwitch<'a> {
    /// Escaped for printing; the names we know hold nothing to escape.
    pub plugin: String,
    /// Without its closing NUL.
    pub nonce: &'a [u8],
}

/// One packet of an authentication, after the login was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthAnswer<'a> {
    Ok(OkPacket),
    Err(ErrPacket),
    Switch(AuthSwitch<'a>),
    /// A bare 0xfe: the 323 hash, broken for decades.
    SwitchToOldPassword,
    /// Bytes for the plugin, without the leading 0x01.
    More(&'a [u8]),
}

impl<'a> AuthAnswer<'a> {
    pub fn parse(payload: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new("login answer", payload);
        match reader.u8()? {
            0x00 => OkPacket::parse(payload).map(Self::Ok),
            0xff => ErrPacket::parse(payload).map(Self::Err),
            0x01 => Ok(Self::More(reader.rest())),
            0xfe if reader.is_empty() => Ok(Self::SwitchToOldPassword),
            0xfe => {
                let plugin = printable(&String::from_utf8_lossy(reader.until_nul()?));
                let nonce = reader.rest();
                Ok(Self::Switch(AuthSwitch { plugin, nonce: nonce.strip_suffix(&[0]).unwrap_or(nonce) }))
            }
            _ => Err(WireError::Malformed { what: "login answer", reason: "it begins with an unknown byte" }),
        }
    }
}

/// Writes an AuthSwitchRequest.
pub fn encode_auth_switch(plugin: &str, nonce: &[u8]) -> Vec<u8> {
    let mut out = vec![0xfe];
    out.extend_from_slice(plugin.as_bytes());
    out.push(0);
    out.extend_from_slice(nonce);
    out.push(0);
    out
}
