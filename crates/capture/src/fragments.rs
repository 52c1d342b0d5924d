//! Puts IP packets together again that were sent in parts. Bounded, whatever passes; what cannot be completed is counted.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;

use crate::layers::Fragment;

/// Source: RFC 791: lengths have sixteen bits.
const PACKET_BYTES_MAX: usize = 65_535;
/// Packets that wait for a part. Linux lets 4 MiB wait.
const OPEN_MAX: usize = 1024;
const HELD_BYTES_MAX: usize = 16 << 20;
/// Source: RFC 8200 section 4.5: 60 seconds. Afterwards the number may be another packet's.
const WAIT_MS_MAX: u64 = 60_000;

type Key = (IpAddr, IpAddr, u8, u32);

/// A packet without its IP header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whole {
    pub source: IpAddr,
    pub destination: IpAddr,
    pub protocol: u8,
    pub body: Vec<u8>,
}

#[derive(Debug, Default)]
struct Open {
    parts: BTreeMap<usize, Vec<u8>>,
    held_bytes: usize,
    /// Known from the last part.
    total_bytes: Option<usize>,
    packets: u64,
    first_unix_ms: u64,
}

/// The parts that wait.
#[derive(Debug, Default)]
pub struct Fragments {
    open: BTreeMap<Key, Open>,
    /// Oldest first; some may be complete already.
    order: VecDeque<Key>,
    held_bytes: usize,
    lost_packets: u64,
}

impl Fragments {
    /// Takes a part; gives the packet when it was the last that was missing.
    pub fn add(&mut self, part: &Fragment<'_>, unix_ms: u64) -> Option<Whole> {
        let key = (part.source, part.destination, part.protocol, part.id);
        let end = part.offset_bytes.saturating_add(part.body.len());
        // All but the last are multiples of eight.
        let is_odd = part.has_more && !part.body.len().is_multiple_of(8);
        if part.is_cut || part.body.is_empty() || is_odd || end > PACKET_BYTES_MAX {
            self.lose(&key);
            self.lost_packets += 1;
            return None;
        }
        if self.open.get(&key).is_some_and(|open| open.first_unix_ms.saturating_add(WAIT_MS_MAX) < unix_ms) {
            self.lose(&key);
        }
        if !self.open.contains_key(&key) {
            self.order.push_back(key);
        }
        let open = self.open.entry(key).or_insert_with(|| Open { first_unix_ms: unix_ms, ..Open::default() });
        open.packets += 1;
        if open.parts.get(&part.offset_bytes).is_some_and(|held| held == part.body) {
            return None; // Sent, or captured, twice.
        }
        let before = open.parts.range(..=part.offset_bytes).next_back();
        let after = open.parts.range(part.offset_bytes..).next();
        let overlaps = before.is_some_and(|(offset, held)| offset + held.len() > part.offset_bytes)
            || after.is_some_and(|(offset, _)| *offset < end);
        // Source: RFC 5722: whoever sends parts that overlap wants two readers to read two things.
        if overlaps || open.total_bytes.is_some_and(|total| end > total || (!part.has_more && end != total)) {
            self.lose(&key);
            return None;
        }
        if !part.has_more {
            open.total_bytes = Some(end);
        }
        open.parts.insert(part.offset_bytes, part.body.to_vec());
        open.held_bytes += part.body.len();
        self.held_bytes += part.body.len();
        if open.total_bytes == Some(open.held_bytes) {
            let open = self.take(&key)?;
            let body = open.parts.into_values().flatten().collect();
            let Fragment { source, destination, protocol, .. } = *part;
            return Some(Whole { source, destination, protocol, body });
        }
        while self.open.len() > OPEN_MAX || self.held_bytes > HELD_BYTES_MAX {
            let Some(oldest) = self.order.pop_front() else { break };
            self.lose(&oldest);
        }
        // Keys of complete packets stay in the order until they come to its front.
        if self.order.len() > 4 * OPEN_MAX {
            let mut seen = BTreeSet::new();
            self.order.retain(|key| self.open.contains_key(key) && seen.insert(*key));
        }
        None
    }

    /// Nothing more will come: packets that were parts of something that is not complete.
    pub fn finish(&mut self) -> u64 {
        self.lost_packets += self.open.values().map(|open| open.packets).sum::<u64>();
        *self = Self { lost_packets: self.lost_packets, ..Self::default() };
        self.lost_packets
    }

    fn take(&mut self, key: &Key) -> Option<Open> {
        let open = self.open.remove(key)?;
        self.held_bytes -= open.held_bytes;
        Some(open)
    }

    fn lose(&mut self, key: &Key) {
        if let Some(open) = self.take(key) {
            self.lost_packets += open.packets;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn part(id: u32, offset_bytes: usize, has_more: bool, body: &[u8]) -> Fragment<'_> {
        let (source, destination) = ("10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap());
        Fragment { source, destination, protocol: 6, id, offset_bytes, has_more, body, is_cut: false }
    }

    #[test]
    fn parts_in_any_order_become_the_packet() {
        let (a, b, c) =
            (part(1, 0, true, b"01234567"), part(1, 8, true, b"89abcdef"), part(1, 16, false, b"gh"));
        for order in [[a, b, c], [c, b, a], [b, c, a]] {
            let mut fragments = Fragments::default();
            assert_eq!(fragments.add(&order[0], 1), None);
            assert_eq!(fragments.add(&order[0], 1), None, "twice");
            assert_eq!(fragments.add(&order[1], 2), None);
            assert_eq!(fragments.add(&order[2], 3).unwrap().body, b"0123456789abcdefgh");
            assert_eq!((fragments.finish(), fragments.held_bytes), (0, 0));
        }
    }

    #[test]
    fn what_cannot_be_completed_is_counted() {
        let mut fragments = Fragments::default();
        fragments.add(&part(1, 8, false, b"last"), 1);
        fragments.add(&part(2, 0, true, b"01234567"), 1);
        // Parts that overlap, a cut one, and one that comes after a minute.
        fragments.add(&part(2, 0, true, b"XXXXXXXXYYYYYYYY"), 1);
        fragments.add(&Fragment { is_cut: true, ..part(3, 0, true, b"01234567") }, 1);
        fragments.add(&part(4, 0, true, b"01234567"), 1);
        assert_eq!(fragments.add(&part(4, 8, false, b"late"), 70_000), None);
        assert_eq!(fragments.finish(), 1 + 2 + 1 + 2);
    }

    #[test]
    fn what_waits_is_bounded() {
        let mut fragments = Fragments::default();
        let body = vec![0; 60_000];
        for id in 0..5000 {
            fragments.add(&part(id, 8, true, &body), 1);
            assert!(
                fragments.held_bytes <= HELD_BYTES_MAX + body.len() && fragments.open.len() <= OPEN_MAX + 1
            );
            assert!(fragments.order.len() <= 4 * OPEN_MAX + 1);
        }
        assert_eq!(fragments.finish(), 5000);
    }

    proptest! {
        #[test]
        fn each_packet_is_in_a_whole_or_counted(
            parts in proptest::collection::vec((0_u32..3, 0_usize..5, any::<bool>(), 1_usize..4), 0..40),
        ) {
            let mut fragments = Fragments::default();
            let body = [7; 32];
            for (id, offset, has_more, eights) in parts {
                if let Some(whole) = fragments.add(&part(id, offset * 8, has_more, &body[..eights * 8]), 1) {
                    prop_assert!(whole.body.len() <= 64 && !whole.body.is_empty());
                }
            }
            let held: usize = fragments.open.values().map(|open| open.held_bytes).sum();
            prop_assert_eq!(held, fragments.held_bytes);
        }
    }
}
