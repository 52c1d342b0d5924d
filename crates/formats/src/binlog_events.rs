//! The types of the events of a binary log that is not encrypted, in one pass over its bytes: which of them are compressed.
//!
//! # Source
//! MySQL internals manual, Binlog Event Header (version 4): type at byte 4, length with the header at byte 9. Types: `TRANSACTION_PAYLOAD_EVENT`
//! of MySQL, and MariaDB's `QUERY_COMPRESSED_EVENT` and what follows it.

/// Before the first event.
const MAGIC_BYTES: usize = 4;
const HEADER_BYTES: usize = 19;
const TRANSACTION_PAYLOAD: u8 = 40;
const COMPRESSED: std::ops::RangeInclusive<u8> = 165..=171;

/// Bytes in, counts out.
#[derive(Debug)]
pub struct Events {
    header: [u8; HEADER_BYTES],
    have: usize,
    /// Of the event, or of the magic number, until the next header.
    skip: u64,
    /// How many events are compressed.
    pub compressed: u64,
    /// An event's length was no length: nothing behind it was followed.
    pub is_broken: bool,
}

impl Default for Events {
    fn default() -> Self {
        let skip = MAGIC_BYTES as u64;
        Self { header: [0; HEADER_BYTES], have: 0, skip, compressed: 0, is_broken: false }
    }
}

impl Events {
    pub fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.is_broken {
            if self.skip > 0 {
                let gone = usize::try_from(self.skip).unwrap_or(usize::MAX).min(bytes.len());
                self.skip -= gone as u64;
                bytes = bytes.get(gone..).unwrap_or_default();
                continue;
            }
            let wanted = (HEADER_BYTES - self.have).min(bytes.len());
            let (part, rest) = bytes.split_at(wanted);
            if let Some(free) = self.header.get_mut(self.have..self.have + wanted) {
                free.copy_from_slice(part);
            }
            self.have += wanted;
            bytes = rest;
            if self.have == HEADER_BYTES {
                self.have = 0;
                let [_, _, _, _, kind, _, _, _, _, a, b, c, d, ..] = self.header;
                let length = u64::from(u32::from_le_bytes([a, b, c, d]));
                self.compressed += u64::from(kind == TRANSACTION_PAYLOAD || COMPRESSED.contains(&kind));
                match length.checked_sub(HEADER_BYTES as u64) {
                    Some(rest) => self.skip = rest,
                    None => self.is_broken = true,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(HEADER_BYTES + body.len()).expect("short");
        [&[1, 2, 3, 4, kind, 1, 0, 0, 0], &length.to_le_bytes()[..], &[0; 6], body].concat()
    }

    fn walked(log: &[u8], pieces: usize) -> (u64, bool) {
        let mut events = Events::default();
        log.chunks(pieces).for_each(|piece| events.push(piece));
        (events.compressed, events.is_broken)
    }

    #[test]
    fn compressed_events_are_counted_however_the_bytes_are_cut() {
        let parts =
            [event(15, &[9; 80]), event(165, b"xx"), event(2, &[165; 30]), event(40, &[1]), event(171, b"")];
        let log = [b"\xfebin".to_vec(), parts.concat()].concat();
        for pieces in [1, 2, 7, 19, 20, 1000] {
            assert_eq!(walked(&log, pieces), (3, false), "{pieces}");
        }
        // One that is being written.
        assert_eq!(walked(&log[..log.len() - 5], 7), (2, false));
        assert_eq!(walked(&[&log[..], &[0; 19], &event(165, b"")].concat(), 7), (3, true));
    }

    proptest! {
        #[test]
        fn any_bytes_are_followed_without_a_panic(log in proptest::collection::vec(any::<u8>(), 0..200), pieces in 1_usize..40) {
            prop_assert_eq!(walked(&log, pieces), walked(&log, 1000));
        }
    }
}
