//! Follows TLS records through the bytes of one direction.

use wire::{SegmentShape, classify_segment};

/// An SSLRequest with its packet header: a ClientHello may follow it in the same segment.
pub const SSL_REQUEST_BYTES: usize = 36;

/// Follows TLS records from one to the next.
#[derive(Debug, Default)]
pub enum TlsWalk {
    /// Not in step: the next segment that begins with a record begins a chain.
    #[default]
    Lost,
    InRecord {
        left_bytes: usize,
    },
    InHeader {
        header: [u8; wire::tls::RECORD_HEADER_BYTES],
        have_bytes: usize,
    },
}

/// What follows an SSLRequest, if the payload begins with one.
pub fn after_ssl_request(payload: &[u8]) -> &[u8] {
    match payload.split_at_checked(SSL_REQUEST_BYTES) {
        Some(([0x20, 0, 0, 1, request @ ..], rest)) if wire::SslRequest::parse(request).is_ok() => rest,
        _ => payload,
    }
}

impl TlsWalk {
    /// In step: the next byte begins a record.
    pub fn at_header() -> Self {
        Self::InHeader { header: [0; wire::tls::RECORD_HEADER_BYTES], have_bytes: 0 }
    }

    /// Follows the chain through `piece`; says how many of its bytes lie in records.
    pub fn feed(&mut self, piece: &[u8], starts_segment: bool) -> u64 {
        self.feed_telling(piece, starts_segment, &mut |_, _| {})
    }

    /// The same; `tell` is told the content type and the length of each record that begins.
    pub fn feed_telling(
        &mut self,
        piece: &[u8],
        starts_segment: bool,
        tell: &mut impl FnMut(u8, u16),
    ) -> u64 {
        let mut rest = piece;
        if matches!(self, Self::Lost) && starts_segment {
            let begin = after_ssl_request(piece);
            if classify_segment(begin) != SegmentShape::NotTls {
                rest = begin;
                *self = Self::at_header();
            }
        }
        let mut counted_bytes = 0;
        while !rest.is_empty() {
            match self {
                Self::Lost => return counted_bytes,
                Self::InRecord { left_bytes } => {
                    let (in_record, tail) = rest.split_at(rest.len().min(*left_bytes));
                    *left_bytes -= in_record.len();
                    counted_bytes += in_record.len() as u64;
                    rest = tail;
                    if *left_bytes == 0 {
                        *self = Self::at_header();
                    }
                }
                Self::InHeader { header, have_bytes } => {
                    let room = header.get_mut(*have_bytes..).unwrap_or_default();
                    let (head, tail) = rest.split_at(rest.len().min(room.len()));
                    for (to, from) in room.iter_mut().zip(head) {
                        *to = *from;
                    }
                    *have_bytes += head.len();
                    if *have_bytes == header.len() {
                        let Some((content_type, _, length)) = wire::tls::record_header(*header) else {
                            *self = Self::Lost;
                            return counted_bytes;
                        };
                        tell(content_type, length);
                        *self = match usize::from(length) {
                            0 => Self::at_header(),
                            left_bytes => Self::InRecord { left_bytes },
                        };
                    }
                    counted_bytes += head.len() as u64;
                    rest = tail;
                }
            }
        }
        counted_bytes
    }
}
