//! Messages between Galera nodes in clear: which of them carry a transaction.
//!
//! Sources: Galera's `gcomm/src/gcomm/datagram.hpp` (a header of 8 bytes with the length in 24 bits),
//! `gcomm/src/gmcast_message.hpp` (message types; from 8 on they carry data), `galerautils` and `galera/src/write_set_ng.hpp`.

use wire::gcomm::HEADER_BYTES;

use super::place::Place;

const LENGTH_BITS: u32 = 0x00ff_ffff;
const TYPE_USER: u8 = 8;
/// The beginning of a message is enough to tell what it carries.
const HEAD_BYTES_MAX: usize = 256;

/// What passed between two nodes, in both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GaleraTraffic {
    pub messages: u64,
    /// Messages that carry data of the group: transactions, and the group's own housekeeping.
    pub data_messages: u64,
    /// Messages with a write set.
    pub writesets: u64,
    pub writeset_bytes: u64,
    pub handshakes: u64,
}

/// One direction.
#[derive(Debug, Default)]
pub struct Messages {
    header: [u8; HEADER_BYTES],
    have_bytes: usize,
    left_bytes: usize,
    length: usize,
    head: Vec<u8>,
    is_lost: bool,
}

impl Messages {
    /// `ended` is told, of each message that ends in this piece, how many bytes of the piece are left and what it was.
    pub fn feed(
        &mut self,
        mut piece: &[u8],
        starts_segment: bool,
        seen: &mut GaleraTraffic,
        ended: &mut dyn FnMut(usize, Place),
    ) {
        if self.is_lost {
            if !starts_segment {
                return;
            }
            *self = Self::default();
        }
        while !piece.is_empty() {
            if self.have_bytes < HEADER_BYTES {
                let room = self.header.get_mut(self.have_bytes..).unwrap_or_default();
                let count = room.len().min(piece.len());
                let (taken, rest) = piece.split_at(count);
                for (to, from) in room.iter_mut().zip(taken) {
                    *to = *from;
                }
                piece = rest;
                self.have_bytes += count;
                if self.have_bytes < HEADER_BYTES {
                    return;
                }
                let Some(length) = length_in(self.header) else {
                    self.gap();
                    return;
                };
                self.length = length;
                self.left_bytes = self.length;
                self.head.clear();
            }
            let (passing, rest) = piece.split_at(self.left_bytes.min(piece.len()));
            piece = rest;
            self.left_bytes -= passing.len();
            let room = HEAD_BYTES_MAX - self.head.len();
            self.head.extend_from_slice(passing.get(..room).unwrap_or(passing));
            if self.left_bytes == 0 {
                self.have_bytes = 0;
                let before = seen.writesets;
                count(&self.head, self.length, seen);
                let is_writeset = seen.writesets > before;
                ended(piece.len(), if is_writeset { Place::WriteSet } else { Place::GroupMessage });
            }
        }
    }

    /// Bytes are missing: a segment that begins with a header is waited for.
    pub fn gap(&mut self) {
        *self = Self { is_lost: true, ..Self::default() };
    }
}

/// How many bytes of a message follow its header; none if this is no header: it has flags but those of the two checksums, or
/// another version.
fn length_in([a, b, c, flags, ..]: [u8; HEADER_BYTES]) -> Option<usize> {
    let length = u32::from_le_bytes([a, b, c, flags]) & LENGTH_BITS;
    (flags & 0xfc == 0 && length > 0).then_some(length as usize)
}

/// Whether `bytes` are messages, the last of them whole.
pub fn are_whole_messages(mut bytes: &[u8]) -> bool {
    while let Some((header, rest)) = bytes.split_first_chunk() {
        match length_in(*header).and_then(|length| rest.get(length..)) {
            Some([]) => return true,
            Some(next) => bytes = next,
            None => return false,
        }
    }
    false
}

fn count(head: &[u8], length: usize, seen: &mut GaleraTraffic) {
    seen.messages += 1;
    match head {
        [_, 1 | 2, ..] => seen.handshakes += 1,
        [_, kind, ..] if *kind >= TYPE_USER => {
            seen.data_messages += 1;
            if is_writeset(head) {
                seen.writesets += 1;
                seen.writeset_bytes += length as u64;
            }
        }
        _ => {}
    }
}

/// A write set begins with `G`, its versions, and the size of its own header; in front of it the group's header ends with
/// zeros. Source: `galera/src/write_set_ng.hpp`, `MAGIC_BYTE`. Seen: Galera 26.4.23, `47 63 40 14`.
fn is_writeset(head: &[u8]) -> bool {
    head.windows(7).any(|window| matches!(window, [0, 0, 0, 0, b'G', 0x33..=0x66, 32 | 64 | 72 | 80]))
}
