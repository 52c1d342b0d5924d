//! Does this look like TLS? Record headers only.

/// Length of a record header.
pub const RECORD_HEADER_BYTES: usize = 5;
/// RFC 5246 6.2.3: a protected record holds at most 2^14 + 2048 bytes (TLS 1.3 allows fewer).
pub const RECORD_BYTES_MAX: u16 = 16_384 + 2_048;

pub const CONTENT_CHANGE_CIPHER_SPEC: u8 = 20;
pub const CONTENT_ALERT: u8 = 21;
pub const CONTENT_HANDSHAKE: u8 = 22;
pub const CONTENT_APPLICATION_DATA: u8 = 23;
/// RFC 6520.
pub const CONTENT_HEARTBEAT: u8 = 24;
pub(crate) const HANDSHAKE_CLIENT_HELLO: u8 = 1;
const HANDSHAKE_SERVER_HELLO: u8 = 2;

/// What the first bytes of a stream or a segment look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentShape {
    /// A plausible record; it may go on in later segments.
    TlsRecord { content_type: u8, version: u16, len: u16 },
    /// Something else, or fewer than five bytes.
    NotTls,
}

/// The header of a record at the beginning of `bytes`, if it is plausible.
pub fn record_header(header: [u8; RECORD_HEADER_BYTES]) -> Option<(u8, u16, u16)> {
    let [content_type, v0, v1, l0, l1] = header;
    let version = u16::from_be_bytes([v0, v1]);
    let len = u16::from_be_bytes([l0, l1]);
    let plausible_length = match content_type {
        // RFC 8446 5.1: only application data may be empty. A ChangeCipherSpec is one byte in clear.
        CONTENT_APPLICATION_DATA => len <= RECORD_BYTES_MAX,
        CONTENT_CHANGE_CIPHER_SPEC | CONTENT_ALERT | CONTENT_HANDSHAKE => {
            (1..=RECORD_BYTES_MAX).contains(&len)
        }
        _ => false,
    };
    (plausible_length && (0x0300..=0x0304).contains(&version)).then_some((content_type, version, len))
}

/// Says whether `segment` begins with a TLS record; where it holds the next header too, that must fit as well.
pub fn classify_segment(segment: &[u8]) -> SegmentShape {
    let Some((first, mut rest)) = split_record(segment) else { return SegmentShape::NotTls };
    // Chance makes one header fit in some 10^7 segments of random bytes; two in a row are no chance.
    while rest.len() >= RECORD_HEADER_BYTES {
        match split_record(rest) {
            Some((_, tail)) => rest = tail,
            None => return SegmentShape::NotTls,
        }
    }
    let (content_type, version, len) = first;
    SegmentShape::TlsRecord { content_type, version, len }
}

type Header = (u8, u16, u16);

fn split_record(bytes: &[u8]) -> Option<(Header, &[u8])> {
    let (header, body) = bytes.split_first_chunk()?;
    let header = record_header(*header)?;
    Some((header, body.get(usize::from(header.2)..).unwrap_or_default()))
}

/// Says whether `bytes` begin with a handshake record that begins with a ClientHello.
pub fn starts_with_client_hello(bytes: &[u8]) -> bool {
    starts_with_hello(bytes, HANDSHAKE_CLIENT_HELLO)
}

/// The same of a ServerHello.
pub fn starts_with_server_hello(bytes: &[u8]) -> bool {
    starts_with_hello(bytes, HANDSHAKE_SERVER_HELLO)
}

fn starts_with_hello(bytes: &[u8], which: u8) -> bool {
    let Some((header, body)) = bytes.split_first_chunk::<RECORD_HEADER_BYTES>() else { return false };
    let Some((CONTENT_HANDSHAKE, ..)) = record_header(*header) else { return false };
    // Handshake type, 24-bit length, and legacy_version 0x03xx.
    matches!(body, [kind, 0, _, _, 0x03, 0x00..=0x04, ..] if *kind == which)
}
