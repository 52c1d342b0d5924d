//! The X Protocol (port 33060) up to the start of TLS: its frames, what the server can do, and asking it for TLS.
//!
//! Sources: MySQL's `mysqlx.proto`, `mysqlx_connection.proto`, `mysqlx_datatypes.proto`, `mysqlx_notice.proto`; the
//! protobuf encoding guide. Seen on MySQL 9.7.4: the server speaks first, with a notice. Left out: sessions, queries.

use crate::read::Reader;
use crate::{WireError, printable};

/// Length and type.
pub const HEADER_BYTES: usize = 5;
/// Before a login nothing legitimate is longer: the capabilities of MySQL 9.7 take some 200 bytes.
pub const FRAME_BYTES_MAX: u32 = 64 * 1024;
/// Capabilities in one answer; MySQL 9.7 has about ten.
pub const CAPABILITIES_MAX: u64 = 64;
/// Values in one list, for instance of authentication mechanisms.
pub const VALUES_MAX: u64 = 64;

const CLIENT_CAPABILITIES_GET: u8 = 1;
const CLIENT_CAPABILITIES_SET: u8 = 2;
const SERVER_OK: u8 = 0;
const SERVER_ERROR: u8 = 1;
const SERVER_CAPABILITIES: u8 = 2;
const SERVER_NOTICE: u8 = 11;
const NOTICE_SERVER_HELLO: u64 = 5;

/// What the server says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    Ok,
    Error(XError),
    Capabilities(Capabilities),
    /// The first message of a connection.
    Hello,
    /// Another notice, by its type.
    Notice(u64),
    /// A message that this crate does not take apart.
    Other {
        message_type: u8,
        bytes: usize,
    },
}

/// An error as the server words it, made printable.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct XError {
    pub is_fatal: bool,
    pub code: u64,
    pub sql_state: String,
    pub message: String,
}

/// What the server can do; those capabilities that a scanner asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// All names, made printable, in the order sent.
    pub names: Vec<String>,
    /// `None`: the server cannot do TLS. `Some(false)`: it can, and this connection does not yet.
    pub tls: Option<bool>,
    /// What it offers on this connection; over TLS it is more.
    pub authentication_mechanisms: Vec<String>,
    pub node_type: Option<String>,
}

impl Capabilities {
    pub fn offers_tls(&self) -> bool {
        self.tls.is_some()
    }
}

/// Appends a CapabilitiesGet frame.
pub fn capabilities_get(out: &mut Vec<u8>) {
    out.extend_from_slice(&[1, 0, 0, 0, CLIENT_CAPABILITIES_GET]);
}

/// Appends a CapabilitiesSet frame that turns TLS on. After an OK the next byte is a ClientHello's.
pub fn capabilities_set_tls(out: &mut Vec<u8>) {
    // Capabilities { capability { name "tls", value Any { SCALAR, Scalar { V_BOOL, v_bool: true } } } }
    // Seen: v_bool as field 7 instead of 8 gives error 5001, "Capability prepare failed for 'tls'".
    const BODY: &[u8] = b"\x0a\x11\x0a\x0f\x0a\x03tls\x12\x08\x08\x01\x12\x04\x08\x07\x40\x01";
    out.extend_from_slice(&[0x14, 0, 0, 0, CLIENT_CAPABILITIES_SET]);
    out.extend_from_slice(BODY);
}

/// Reads the first frame of `bytes`: the message and how many bytes it took; `None` when more are needed.
pub fn parse(bytes: &[u8]) -> Result<Option<(Message, usize)>, WireError> {
    let Some(([a, b, c, d, message_type], rest)) = bytes.split_first_chunk() else { return Ok(None) };
    // The length counts the byte of the type.
    let length = u32::from_le_bytes([*a, *b, *c, *d]);
    let Some(body_bytes) = length.checked_sub(1) else {
        return Err(WireError::Malformed { what: "X Protocol frame", reason: "it has no type" });
    };
    if length > FRAME_BYTES_MAX {
        return Err(WireError::OverLimit {
            what: "X Protocol frame",
            announced: u64::from(length),
            max: u64::from(FRAME_BYTES_MAX),
        });
    }
    let Some(body) = rest.get(..body_bytes as usize) else { return Ok(None) };
    let message = match *message_type {
        SERVER_OK => Message::Ok,
        SERVER_ERROR => Message::Error(error(body)?),
        SERVER_CAPABILITIES => Message::Capabilities(capabilities(body)?),
        SERVER_NOTICE => match notice_type(body)? {
            NOTICE_SERVER_HELLO => Message::Hello,
            other => Message::Notice(other),
        },
        message_type => Message::Other { message_type, bytes: body.len() },
    };
    Ok(Some((message, HEADER_BYTES + body.len())))
}

fn error(body: &[u8]) -> Result<XError, WireError> {
    let mut seen = XError::default();
    for field in Fields::new("X Protocol error", body) {
        match field? {
            (1, Value::Number(severity)) => seen.is_fatal = severity == 1,
            (2, Value::Number(code)) => seen.code = code,
            (3, Value::Bytes(text)) => seen.message = text_of(text),
            (4, Value::Bytes(text)) => seen.sql_state = text_of(text),
            _ => {}
        }
    }
    Ok(seen)
}

fn notice_type(body: &[u8]) -> Result<u64, WireError> {
    let mut notice_type = 0;
    for field in Fields::new("X Protocol notice", body) {
        if let (1, Value::Number(number)) = field? {
            notice_type = number;
        }
    }
    Ok(notice_type)
}

fn capabilities(body: &[u8]) -> Result<Capabilities, WireError> {
    let mut seen = Capabilities::default();
    for field in Fields::new("X Protocol capabilities", body) {
        let (1, Value::Bytes(capability)) = field? else { continue };
        let announced = seen.names.len() as u64 + 1;
        if announced > CAPABILITIES_MAX {
            return Err(WireError::OverLimit {
                what: "number of X Protocol capabilities",
                announced,
                max: CAPABILITIES_MAX,
            });
        }
        let (mut name, mut any) = (&[][..], &[][..]);
        for field in Fields::new("X Protocol capability", capability) {
            match field? {
                (1, Value::Bytes(bytes)) => name = bytes,
                (2, Value::Bytes(bytes)) => any = bytes,
                _ => {}
            }
        }
        match name {
            b"tls" => seen.tls = Some(scalar(any)?.is_some_and(|scalar| scalar == Scalar::Bool(true))),
            b"authentication.mechanisms" => seen.authentication_mechanisms = texts(any)?,
            b"node_type" => seen.node_type = scalar(any)?.and_then(Scalar::text),
            _ => {}
        }
        seen.names.push(text_of(name));
    }
    Ok(seen)
}

/// The kinds of scalar that capabilities hold; others are read over.
#[derive(Debug, PartialEq, Eq)]
enum Scalar<'a> {
    Bool(bool),
    Text(&'a [u8]),
}

impl Scalar<'_> {
    fn text(self) -> Option<String> {
        match self {
            Self::Text(bytes) => Some(text_of(bytes)),
            Self::Bool(_) => None,
        }
    }
}

/// `Mysqlx.Datatypes.Any` that holds a scalar.
fn scalar(any: &[u8]) -> Result<Option<Scalar<'_>>, WireError> {
    let mut seen = None;
    for field in Fields::new("X Protocol value", any) {
        let (2, Value::Bytes(scalar)) = field? else { continue };
        for field in Fields::new("X Protocol scalar", scalar) {
            match field? {
                (8, Value::Number(flag)) => seen = Some(Scalar::Bool(flag != 0)),
                // v_octets and v_string both have their bytes in field 1.
                (5 | 9, Value::Bytes(text)) => {
                    for field in Fields::new("X Protocol text", text) {
                        if let (1, Value::Bytes(bytes)) = field? {
                            seen = Some(Scalar::Text(bytes));
                        }
                    }
                }
                _ => {}
            }
        }
    }
    Ok(seen)
}

/// `Mysqlx.Datatypes.Any` that holds an array of texts.
fn texts(any: &[u8]) -> Result<Vec<String>, WireError> {
    let mut seen = Vec::new();
    for field in Fields::new("X Protocol value", any) {
        let (4, Value::Bytes(array)) = field? else { continue };
        for field in Fields::new("X Protocol array", array) {
            let (1, Value::Bytes(element)) = field? else { continue };
            let announced = seen.len() as u64 + 1;
            if announced > VALUES_MAX {
                return Err(WireError::OverLimit {
                    what: "number of X Protocol values",
                    announced,
                    max: VALUES_MAX,
                });
            }
            seen.extend(scalar(element)?.and_then(Scalar::text));
        }
    }
    Ok(seen)
}

fn text_of(bytes: &[u8]) -> String {
    printable(&String::from_utf8_lossy(bytes))
}

/// A protobuf field's value.
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// Four or eight bytes, which nothing here has a use for.
    Fixed,
}

/// The fields of a protobuf message. It goes no deeper by itself, so a message cannot nest without end.
struct Fields<'a>(Reader<'a>);

impl<'a> Fields<'a> {
    fn new(what: &'static str, bytes: &'a [u8]) -> Self {
        Self(Reader::new(what, bytes))
    }

    fn read(&mut self) -> Result<(u64, Value<'a>), WireError> {
        let tag = varint(&mut self.0)?;
        let value = match tag & 7 {
            0 => Value::Number(varint(&mut self.0)?),
            1 => {
                self.0.take(8)?;
                Value::Fixed
            }
            2 => {
                let length = varint(&mut self.0)?;
                // The limit of the length is the message it stands in.
                let have_bytes = self.0.rest().len() as u64;
                if length > have_bytes {
                    return Err(WireError::Truncated {
                        what: self.0.what(),
                        needed_bytes: length,
                        have_bytes,
                    });
                }
                Value::Bytes(self.0.take(usize::try_from(length).unwrap_or(usize::MAX))?)
            }
            5 => {
                self.0.take(4)?;
                Value::Fixed
            }
            _ => return Err(self.0.malformed("a field has a wire type that is not known")),
        };
        Ok((tag >> 3, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Value<'a>), WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.read();
        if field.is_err() {
            // After an error nothing can be told apart any more.
            self.0 = Reader::new(self.0.what(), &[]);
        }
        Some(field)
    }
}

fn varint(reader: &mut Reader<'_>) -> Result<u64, WireError> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = reader.u8()?;
        let low = u64::from(byte & 0x7f);
        // The tenth byte has room for one bit.
        if shift == 63 && low > 1 {
            break;
        }
        value |= low << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(reader.malformed("a number has more than 64 bits"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn field(number: u8, body: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, u8::try_from(body.len()).unwrap()], body].concat()
    }

    fn text(value: &str) -> Vec<u8> {
        field(2, &[&[8, 8][..], &field(9, &field(1, value.as_bytes()))].concat())
    }

    fn capability(name: &str, any: &[u8]) -> Vec<u8> {
        field(1, &[field(1, name.as_bytes()), field(2, any)].concat())
    }

    fn frame(message_type: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len()).unwrap() + 1;
        [&length.to_le_bytes()[..], &[message_type], body].concat()
    }

    fn sample() -> Vec<u8> {
        let mechanisms = ["MYSQL41", "SHA256_MEMORY"].map(|name| field(1, &text(name))).concat();
        frame(
            SERVER_CAPABILITIES,
            &[
                capability("tls", &field(2, &[8, 7, 0x40, 0])),
                capability("authentication.mechanisms", &field(4, &mechanisms)),
                capability("doc.formats", &text("text")),
                capability("node_type", &text("mysql")),
            ]
            .concat(),
        )
    }

    #[test]
    fn reads_the_notice_that_a_server_begins_with() {
        let hello = [5, 0, 0, 0, 0x0b, 8, 5, 0x1a, 0];
        assert_eq!(parse(&hello), Ok(Some((Message::Hello, 9))));
        assert_eq!(parse(&[1, 0, 0, 0, 0]), Ok(Some((Message::Ok, 5))));
    }

    #[test]
    fn reads_what_a_server_can_do() {
        let (Message::Capabilities(seen), bytes) = parse(&sample()).unwrap().unwrap() else { panic!() };
        assert_eq!(bytes, sample().len());
        assert_eq!((seen.tls, seen.offers_tls()), (Some(false), true));
        assert_eq!(seen.authentication_mechanisms, ["MYSQL41", "SHA256_MEMORY"]);
        assert_eq!(seen.names, ["tls", "authentication.mechanisms", "doc.formats", "node_type"]);
        assert_eq!(seen.node_type.as_deref(), Some("mysql"));
    }

    #[test]
    fn asks_for_tls_in_the_bytes_that_mysql_9_7_accepts() {
        let mut out = Vec::new();
        capabilities_get(&mut out);
        assert_eq!(out, [1, 0, 0, 0, 1]);
        out.clear();
        capabilities_set_tls(&mut out);
        assert_eq!(out.len(), 4 + usize::from(out[0]));
        // What we set is what we would read: behind the header, and the tag and length of the only field.
        let set = capabilities(&out[HEADER_BYTES + 2..]).unwrap();
        assert_eq!(set.tls, Some(true));
    }

    #[test]
    fn reads_an_error_and_escapes_it() {
        let body = [&[8, 1, 0x10, 0x89, 0x27][..], &field(3, b"no\x1b[2J"), &field(4, b"HY000")].concat();
        let (Message::Error(error), _) = parse(&frame(SERVER_ERROR, &body)).unwrap().unwrap() else {
            panic!()
        };
        assert_eq!((error.is_fatal, error.code, error.sql_state.as_str()), (true, 5001, "HY000"));
        assert_eq!(error.message, "no\\u{1b}[2J");
    }

    #[test]
    fn every_prefix_needs_more() {
        for cut in 0..sample().len() {
            assert_eq!(parse(&sample()[..cut]), Ok(None), "cut at {cut}");
        }
    }

    #[test]
    fn a_cut_body_never_reads_as_the_whole() {
        let whole = parse(&sample()).unwrap();
        let body = &sample()[HEADER_BYTES..];
        for cut in 0..body.len() {
            assert_ne!(
                parse(&frame(SERVER_CAPABILITIES, &body[..cut])).ok(),
                Some(whole.clone()),
                "cut at {cut}"
            );
        }
    }

    #[test]
    fn limits_end_it() {
        assert!(parse(&[0, 0, 0, 0, 0]).is_err());
        assert!(matches!(parse(&[0xff; 5]), Err(WireError::OverLimit { announced: 0xffff_ffff, .. })));
        let many = frame(SERVER_CAPABILITIES, &capability("x", &[]).repeat(65));
        assert!(matches!(parse(&many), Err(WireError::OverLimit { announced: 65, .. })));
        let long = frame(SERVER_NOTICE, &[&[8][..], &[0xff; 10]].concat());
        assert!(matches!(parse(&long), Err(WireError::Malformed { .. })));
        let huge = frame(SERVER_NOTICE, &[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]);
        assert!(matches!(parse(&huge), Err(WireError::Truncated { needed_bytes: u64::MAX, .. })));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..120),
            message_type in 0_u8..12,
            change in any::<(prop::sample::Index, u8)>(),
        ) {
            let _ = parse(&bytes);
            let _ = parse(&frame(message_type, &bytes));
            let mut altered = sample();
            let at = change.0.index(altered.len());
            altered[at] = change.1;
            let _ = parse(&altered);
        }
    }
}
