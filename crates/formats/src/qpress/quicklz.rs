//! Packets of QuickLZ 1.5, level 1, each by itself (no streaming buffer): what qpress puts into its blocks.
//!
//! ```text
//! flags u8: 0x01 compressed (else stored), 0x02 long header, 0x0c level, 0x30 streaming buffer, 0x40 always
//! bytes of the packet, header too, and bytes of the plaintext: u8 each, or u32 each with a long header (little-endian)
//! compressed: words of 32 bits, each followed by what its bits speak of, the lowest first:
//!   0: a byte as it is
//!   1: a match. 12 bits are a place in a table, the lowest 4 the length less 2; where they are 0, a third byte has the
//!      length
//!   the highest bit that is set only says that the word ends there
//! ```
//! The table holds the latest place of three bytes with that hash, so the decompressor must hash what it has written,
//! in the same steps as the compressor: up to three bytes behind the end of what came as bytes, and up to the
//! beginning of a match. The last bytes (at least 4) are never matches.
//!
//! Source: the format as the public description and the decompressor of QuickLZ 1.5.0 (2011) define it; written anew.
//! Seen in blocks of mariabackup 10.11.19.

use crate::bytes::{array, le32};

const PLACES: usize = 4096;
const LONG_HEAD_BYTES: usize = 9;
const SHORT_HEAD_BYTES: usize = 3;
pub const HEAD_BYTES_MAX: usize = LONG_HEAD_BYTES;
const COMPRESSED: u8 = 0x01;
const LONG: u8 = 0x02;
/// A match is at least this far behind.
const DISTANCE_MIN: usize = 3;
/// Behind this many bytes before the end come single bytes only. Source: `UNCONDITIONAL_MATCHLEN` +
/// `UNCOMPRESSED_END`, and one.
const TAIL_BYTES: usize = 11;
/// Bytes at the end that no match may reach.
const UNCOMPRESSED_END: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// The header too.
    pub packet_bytes: usize,
    pub plain_bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PacketError {
    #[error("its header makes no sense")]
    Head,
    #[error("it is of another level of QuickLZ than 1, or needs what came before it")]
    Level,
    #[error("it is cut short")]
    Cut,
    #[error("it repeats what is not there")]
    Match,
    #[error("it has more bytes than it says")]
    Long,
}

/// Where three bytes were seen last.
pub struct Table(Box<[u32; PLACES]>);

impl Default for Table {
    fn default() -> Self {
        Self(Box::new([u32::MAX; PLACES]))
    }
}

/// Of a packet with these flags.
pub fn head_bytes(flags: u8) -> usize {
    if flags & LONG == 0 { SHORT_HEAD_BYTES } else { LONG_HEAD_BYTES }
}

/// What a header says.
///
/// # Errors
/// It is none of level 1.
pub fn sizes(head: &[u8]) -> Result<Sizes, PacketError> {
    let flags = head.first().copied().ok_or(PacketError::Cut)?;
    let sizes = if flags & LONG == 0 {
        let [packet, plain] = array::<2>(head, 1).ok_or(PacketError::Cut)?;
        Sizes { packet_bytes: usize::from(packet), plain_bytes: usize::from(plain) }
    } else {
        let size = |at: usize| le32(head, at).map(|size| size as usize).ok_or(PacketError::Cut);
        Sizes { packet_bytes: size(1)?, plain_bytes: size(5)? }
    };
    if flags & 0xc0 != 0x40 {
        return Err(PacketError::Head);
    }
    if flags & 0x0c != 0x04 || flags & 0x30 != 0 {
        return Err(PacketError::Level);
    }
    if sizes.packet_bytes < head_bytes(flags) || sizes.plain_bytes == 0 {
        return Err(PacketError::Head);
    }
    Ok(sizes)
}

/// Writes the plaintext of a whole packet into `out`, which is emptied first. The caller has looked at [`sizes`]: as
/// many bytes are taken from memory before anything else is known.
///
/// # Errors
/// The packet is none.
pub fn decompress(packet: &[u8], table: &mut Table, out: &mut Vec<u8>) -> Result<(), PacketError> {
    let Sizes { packet_bytes, plain_bytes } = sizes(packet)?;
    if packet.len() != packet_bytes {
        return Err(PacketError::Cut);
    }
    let flags = packet.first().copied().unwrap_or_default();
    let source = packet.get(head_bytes(flags)..).ok_or(PacketError::Cut)?;
    out.clear();
    if flags & COMPRESSED == 0 {
        if source.len() != plain_bytes {
            return Err(PacketError::Head);
        }
        out.extend_from_slice(source);
        return Ok(());
    }
    table.0.fill(u32::MAX);
    out.resize(plain_bytes, 0);
    Decompressor { source, at: 0, out, end: 0, hashed: 0, table }.run()
}

struct Decompressor<'p> {
    source: &'p [u8],
    at: usize,
    out: &'p mut [u8],
    /// Of what is written.
    end: usize,
    /// The first place that is not in the table.
    hashed: usize,
    table: &'p mut Table,
}

impl Decompressor<'_> {
    fn run(mut self) -> Result<(), PacketError> {
        let tail = self.out.len().saturating_sub(TAIL_BYTES);
        let mut control = 1_u32;
        loop {
            if control == 1 {
                control = u32::from_le_bytes(self.take()?);
            }
            if control & 1 == 1 {
                self.repeat()?;
                control >>= 1;
            } else if self.end < tail {
                // Up to four bytes at once, as many as there are zeros.
                let count = (control | 0x10).trailing_zeros() as usize;
                self.copy(count)?;
                control >>= count;
                self.hash_up_to((self.end + 1).saturating_sub(DISTANCE_MIN));
            } else {
                return self.single_bytes(control);
            }
        }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], PacketError> {
        let bytes = self.source.get(self.at..).and_then(|rest| rest.first_chunk()).ok_or(PacketError::Cut)?;
        self.at += N;
        Ok(*bytes)
    }

    fn copy(&mut self, count: usize) -> Result<(), PacketError> {
        // Four are copied where there is room: what is too many is written over.
        let from = self.source.get(self.at..).and_then(|rest| rest.first_chunk::<4>());
        let to = self.out.get_mut(self.end..).and_then(|rest| rest.first_chunk_mut::<4>());
        if let (Some(from), Some(to)) = (from, to) {
            *to = *from;
        } else {
            let from = self.source.get(self.at..self.at + count).ok_or(PacketError::Cut)?;
            let to = self.out.get_mut(self.end..self.end + count).ok_or(PacketError::Long)?;
            to.copy_from_slice(from);
        }
        self.at += count;
        self.end += count;
        Ok(())
    }

    fn repeat(&mut self) -> Result<(), PacketError> {
        let [low, high] = self.take()?;
        let word = u16::from_le_bytes([low, high]);
        let length = match word & 0xf {
            0 => {
                let [length] = self.take()?;
                usize::from(length)
            }
            short => usize::from(short) + 2,
        };
        let place = self.table.0.get(usize::from(word >> 4)).copied().unwrap_or(u32::MAX);
        let from = usize::try_from(place).unwrap_or(usize::MAX);
        if from.checked_add(DISTANCE_MIN).is_none_or(|nearest| nearest > self.end) {
            return Err(PacketError::Match);
        }
        let begin = self.end;
        let to = begin + length;
        if to + UNCOMPRESSED_END > self.out.len() {
            return Err(PacketError::Long);
        }
        if from + length <= begin {
            self.out.copy_within(from..from + length, begin);
        } else {
            // It repeats what it writes.
            for step in 0..length {
                let byte = self.out.get(from + step).copied().unwrap_or_default();
                if let Some(place) = self.out.get_mut(begin + step) {
                    *place = byte;
                }
            }
        }
        self.end = to;
        self.hash_up_to(begin + 1);
        self.hashed = to;
        Ok(())
    }

    /// Notes each place before `to`.
    fn hash_up_to(&mut self, to: usize) {
        let places = self.out.get(self.hashed..).unwrap_or_default().windows(3);
        for (place, three) in (self.hashed..to).zip(places) {
            let &[a, b, c] = three else { continue };
            let word = u32::from_le_bytes([a, b, c, 0]);
            let hash = ((word >> 12) ^ word) as usize % PLACES;
            if let Some(slot) = self.table.0.get_mut(hash) {
                *slot = u32::try_from(place).unwrap_or(u32::MAX);
            }
        }
        self.hashed = self.hashed.max(to);
    }

    /// To the end. The bits say nothing more, but words still stand between the bytes.
    fn single_bytes(mut self, mut control: u32) -> Result<(), PacketError> {
        while self.end < self.out.len() {
            if control == 1 {
                let _: [u8; 4] = self.take()?;
                control = 1 << 31;
            }
            let [byte] = self.take()?;
            if let Some(place) = self.out.get_mut(self.end) {
                *place = byte;
            }
            self.end += 1;
            control >>= 1;
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As slow and plain as it can be: one match attempt a place, by a table that is filled as the reader fills its
    /// own.
    fn compress(plain: &[u8]) -> Vec<u8> {
        let hash = |at: usize| {
            let word = u32::from_le_bytes([plain[at], plain[at + 1], plain[at + 2], 0]);
            ((word >> 12) ^ word) as usize % PLACES
        };
        let mut table = vec![usize::MAX; PLACES];
        let (mut hashed, mut at) = (0, 0);
        let (mut body, mut bits, mut pending) = (vec![], vec![], vec![]);
        let flush = |body: &mut Vec<u8>, bits: &mut Vec<bool>, pending: &mut Vec<u8>| {
            let mut word = 1_u32 << bits.len();
            for (index, bit) in bits.iter().enumerate() {
                word |= u32::from(*bit) << index;
            }
            body.extend(word.to_le_bytes());
            body.append(pending);
            bits.clear();
        };
        while at < plain.len() {
            if bits.len() == 31 {
                flush(&mut body, &mut bits, &mut pending);
            }
            let mut length = 0;
            if at + TAIL_BYTES < plain.len() {
                let from = table[hash(at)];
                if from != usize::MAX && from + DISTANCE_MIN <= at {
                    let most = (plain.len() - UNCOMPRESSED_END - at).min(255);
                    length = (0..most).take_while(|step| plain[from + step] == plain[at + step]).count();
                }
            }
            if length >= 3 {
                let place = u16::try_from(hash(at)).unwrap() << 4;
                if length <= 17 {
                    pending.extend((place | u16::try_from(length - 2).unwrap()).to_le_bytes());
                } else {
                    pending.extend(place.to_le_bytes());
                    pending.push(u8::try_from(length).unwrap());
                }
                bits.push(true);
                for place in hashed..=at {
                    table[hash(place)] = place;
                }
                at += length;
                hashed = at;
            } else {
                bits.push(false);
                pending.push(plain[at]);
                at += 1;
                while hashed + 3 <= at {
                    table[hash(hashed)] = hashed;
                    hashed += 1;
                }
            }
        }
        flush(&mut body, &mut bits, &mut pending);
        let sizes = [body.len() + 9, plain.len()].map(|size| u32::try_from(size).unwrap().to_le_bytes());
        [&[0x47][..], &sizes[0], &sizes[1], &body].concat()
    }

    proptest! {
        #[test]
        fn what_was_compressed_comes_back(
            parts in proptest::collection::vec(("[a-c]{1,9}", 1usize..60), 1..40), cut: usize, flip: usize,
        ) {
            let plain: Vec<u8> = parts.iter().flat_map(|(text, count)| text.repeat(*count).into_bytes()).collect();
            let packet = compress(&plain);
            let (mut table, mut out) = (Table::default(), vec![]);
            prop_assert_eq!(decompress(&packet, &mut table, &mut out), Ok(()));
            prop_assert_eq!(&out, &plain);
            let is_short = decompress(&packet[..cut % packet.len()], &mut table, &mut out);
            prop_assert!(is_short.is_err());
            let mut other = packet.clone();
            let at = 9 + flip % (packet.len() - 9);
            other[at] ^= 1 << (flip % 8);
            if decompress(&other, &mut table, &mut out).is_ok() {
                prop_assert_eq!(out.len(), plain.len());
            }
        }

        #[test]
        fn no_bytes_panic_or_give_more_than_they_say(bytes in proptest::collection::vec(any::<u8>(), 1..300)) {
            let (mut table, mut out) = (Table::default(), vec![]);
            let _ = decompress(&bytes, &mut table, &mut out);
            let sizes = [bytes.len() + 9, 500].map(|size| u32::try_from(size).unwrap().to_le_bytes());
            let packet = [&[0x47][..], &sizes[0], &sizes[1], &bytes].concat();
            if decompress(&packet, &mut table, &mut out).is_ok() {
                prop_assert_eq!(out.len(), 500);
            }
        }
    }
}
