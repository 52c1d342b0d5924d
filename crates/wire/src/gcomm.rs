//! The first message of a Galera group port (4567) that speaks in clear.
//!
//! A plain node greets whoever connects, at once and unasked; one with `socket.ssl=yes` is silent and waits for TLS;
//! one with `socket.dynamic=yes` greets in clear and speaks TLS to those who begin it. So this message, and nothing
//! else, tells that the port carries the cluster's data in clear, or would.
//!
//! Sources: Galera's `gcomm/src/gcomm/datagram.hpp` (header) and `gcomm/src/gmcast_message.hpp` (handshake).
//! Seen: Galera 26.4.23, 44 bytes; the first UUID stays, the second is new each time. The checksum is not recomputed, and only the handshake is read: what follows
//! it differs between protocol versions.

use crate::WireError;
use crate::read::Reader;

/// Length with version and flags, and a checksum.
pub const HEADER_BYTES: usize = 8;
/// Four fixed bytes and two UUIDs.
pub const HANDSHAKE_BYTES: u32 = 4 + 16 + 16;
const TYPE_HANDSHAKE: u8 = 1;
const FLAG_HANDSHAKE_UUID: u8 = 1 << 4;
const LENGTH_BITS: u32 = 0x00ff_ffff;
const HEADER_CRC32: u32 = 1 << 24;
const HEADER_CRC32C: u32 = 1 << 25;
const HEADER_VERSION_SHIFT: u32 = 28;

/// How the sender guards its messages against damage; none of it is against an attacker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Checksum {
    None,
    Crc32,
    Crc32c,
}

/// A node introduces itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Handshake {
    pub checksum: Checksum,
    /// Of the gmcast protocol.
    pub version: u8,
    /// `gmcast.segment` of the node; 0 unless told otherwise.
    pub segment: u8,
    /// The node, for as long as its process lives.
    pub source_uuid: [u8; 16],
    /// This connection.
    pub handshake_uuid: [u8; 16],
}

/// Reads the handshake at the beginning of `bytes`; `None` when more are needed.
///
/// # Errors
/// Anything else that a port may say first: a MySQL greeting, a TLS record, a text.
pub fn parse(bytes: &[u8]) -> Result<Option<Handshake>, WireError> {
    let malformed = |reason| Err(WireError::Malformed { what: "gcomm handshake", reason });
    let mut reader = Reader::new("gcomm header", bytes);
    let Ok(header) = reader.u32() else { return Ok(None) };
    let length = header & LENGTH_BITS;
    // Every length but one is wrong, so nothing that is announced is ever waited for.
    if length != HANDSHAKE_BYTES {
        return malformed("its length is not that of a handshake");
    }
    if header >> HEADER_VERSION_SHIFT != 0 {
        return malformed("its header is of another version");
    }
    let checksum = match header & !LENGTH_BITS {
        0 => Checksum::None,
        HEADER_CRC32 => Checksum::Crc32,
        HEADER_CRC32C => Checksum::Crc32c,
        _ => return malformed("its header has flags that are not known"),
    };
    let Some(message) = bytes.get(HEADER_BYTES..HEADER_BYTES + HANDSHAKE_BYTES as usize) else {
        return Ok(None);
    };
    let mut reader = Reader::new("gcomm handshake", message);
    let version = reader.u8()?;
    if reader.u8()? != TYPE_HANDSHAKE {
        return malformed("it is another message");
    }
    if reader.u8()? != FLAG_HANDSHAKE_UUID {
        return malformed("its flags are not those of a handshake");
    }
    let segment = reader.u8()?;
    let mut handshake =
        Handshake { checksum, version, segment, source_uuid: [0; 16], handshake_uuid: [0; 16] };
    handshake.source_uuid.copy_from_slice(reader.take(16)?);
    handshake.handshake_uuid.copy_from_slice(reader.take(16)?);
    reader.end()?;
    Ok(Some(handshake))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A node with `gmcast.segment=3`.
    fn sample() -> Vec<u8> {
        include_bytes!("../testdata/gcomm/galera-26.4.23-segment-3.bin").to_vec()
    }

    #[test]
    fn reads_the_handshake_of_galera_26_4() {
        let seen = parse(&sample()).unwrap().unwrap();
        assert_eq!((seen.checksum, seen.version, seen.segment), (Checksum::Crc32c, 0, 3));
        assert_eq!(seen.source_uuid, sample()[12..28]);
        assert_eq!(seen.handshake_uuid, sample()[28..44]);
    }

    #[test]
    fn every_prefix_needs_more() {
        for cut in 0..sample().len() {
            assert_eq!(parse(&sample()[..cut]), Ok(None), "cut at {cut}");
        }
    }

    #[test]
    fn other_greetings_are_not_taken_for_it() {
        let mysql = include_bytes!("../testdata/greeting/mariadb-10.11.19.bin");
        for other in [&mysql[..], b"\x15\x03\x03\x00\x02\x02\x28", b"SSH-2.0-", b"\x24\x00\x00\x72----"] {
            assert!(parse(other).is_err(), "{other:?}");
        }
        let mut other_type = sample();
        other_type[9] = 3;
        assert!(parse(&other_type).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60), from in 0_usize..44) {
            let _ = parse(&bytes);
            let altered = [&sample()[..from], &bytes[..]].concat();
            let _ = parse(&altered);
        }
    }
}
