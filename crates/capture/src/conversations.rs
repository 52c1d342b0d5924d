//! A reader of the caller's own for each TCP connection: bytes in order, a bounded number of connections.
//!
//! Unlike [`crate::FlowTable`], which keeps every flow to the end, this hands over what is closed or has long been silent,
//! so that a file of any size is read in constant memory.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, SocketAddr};

use crate::order::{Order, Sink};
use crate::segment::Segment;

/// Connections that are open at the same time, as far as packets tell.
pub const OPEN_MAX: usize = 16_384;
/// Closed connections that are still known, so that a late retransmission is not taken for a new one.
const CLOSED_MAX: usize = 512;
/// When there is no place left, connections that were silent for so long are handed over.
const SILENT_MS: u64 = 300_000;
/// Bytes that wait for earlier ones, over all connections together.
const WAITING_BYTES_MAX: usize = 16 << 20;
/// Connections without a place that are told apart: 9 bytes each, so 9 MiB. More of them are counted as at least so many.
const OVER_LIMIT_MAX: usize = 1 << 19;
/// Bytes that were on the way when the other end reset the connection.
const RESET_BYTES_MAX: i64 = 1 << 20;

/// What reads one connection.
pub trait Conversation {
    /// Memory and tools for all connections, so that one connection stays small.
    type Shared;
    /// `from_a`: the end with the lower address sent it.
    fn piece(
        &mut self,
        from_a: bool,
        piece: &[u8],
        offset: u64,
        starts_segment: bool,
        shared: &mut Self::Shared,
    );
    /// Bytes are missing here; so many, at least.
    fn gap(&mut self, from_a: bool, missing_bytes: u64, shared: &mut Self::Shared);
    /// A segment was sent again with other bytes than those that were read: see [`Sink::conflict`].
    fn conflict(&mut self, from_a: bool);
}

/// Who, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    /// The lower of the two addresses.
    pub a: SocketAddr,
    pub b: SocketAddr,
    /// Who sent the SYN, if it was seen.
    pub opened_by_a: Option<bool>,
    pub first_unix_ms: u64,
    pub last_unix_ms: u64,
}

#[derive(Debug)]
struct Open<C> {
    ends: Ends,
    a: Order,
    b: Order,
    is_closed: bool,
    conversation: C,
}

type Key = (u128, u128, u32);

/// All connections that are open now.
#[derive(Debug)]
pub struct Conversations<C> {
    ports: Vec<u16>,
    slots: Vec<Option<Open<C>>>,
    free: Vec<usize>,
    current: HashMap<Key, usize>,
    closed: VecDeque<usize>,
    waiting_bytes: usize,
    last_sweep_unix_ms: u64,
    packets: u64,
    /// Hashes of the addresses that found no place.
    over_limit: HashSet<u64>,
    hasher: RandomState,
}

struct Side<'a, C: Conversation> {
    from_a: bool,
    conversation: &'a mut C,
    shared: &'a mut C::Shared,
}

impl<C: Conversation> Sink for Side<'_, C> {
    const COMPARES: bool = true;

    fn conflict(&mut self) {
        self.conversation.conflict(self.from_a);
    }

    fn segment(&mut self, _payload: &[u8], _is_whole: bool) {}

    fn piece(&mut self, piece: &[u8], stream_offset: u64, starts_segment: bool) {
        self.conversation.piece(self.from_a, piece, stream_offset, starts_segment, self.shared);
    }

    fn gap(&mut self, missing_bytes: u64) {
        self.conversation.gap(self.from_a, missing_bytes, self.shared);
    }
}

fn key(a: SocketAddr, b: SocketAddr) -> Key {
    let number = |address: SocketAddr| match address.ip() {
        IpAddr::V4(ip) => u128::from(u32::from(ip)) | 0xffff << 32,
        IpAddr::V6(ip) => u128::from(ip),
    };
    (number(a), number(b), u32::from(a.port()) << 16 | u32::from(b.port()))
}

impl<C: Conversation> Conversations<C> {
    /// Looks at segments from or to one of `ports`; at all if there are none.
    pub fn new(ports: Vec<u16>) -> Self {
        Self {
            ports,
            slots: Vec::new(),
            free: Vec::new(),
            current: HashMap::new(),
            closed: VecDeque::new(),
            waiting_bytes: 0,
            last_sweep_unix_ms: 0,
            packets: 0,
            over_limit: HashSet::new(),
            hasher: RandomState::new(),
        }
    }

    /// Takes a segment. `make` makes the reader of a new connection; `end` is given what is over.
    pub fn segment(
        &mut self,
        segment: &Segment<'_>,
        unix_ms: u64,
        shared: &mut C::Shared,
        make: impl FnOnce(&Ends) -> C,
        end: &mut impl FnMut(Ends, C),
    ) {
        let wanted = |port| self.ports.is_empty() || self.ports.contains(&port);
        if !wanted(segment.source.port()) && !wanted(segment.destination.port()) {
            return;
        }
        self.packets += 1;
        let from_a = segment.source <= segment.destination;
        let (a, b) = if from_a {
            (segment.source, segment.destination)
        } else {
            (segment.destination, segment.source)
        };
        let key = key(a, b);
        let opens = segment.syn && !segment.ack;
        let mut index = self.current.get(&key).copied();
        if opens
            && let Some(at) = index
            && let Some(Some(open)) = self.slots.get_mut(at)
        {
            let order = if from_a { &mut open.a } else { &mut open.b };
            if !order.syn(segment.sequence) {
                // The pair of addresses is used again: what came before is a connection of its own.
                self.take(at, shared, end);
                index = None;
            }
        }
        if !segment.syn
            && !segment.payload.is_empty()
            && let Some(at) = index
            && let Some(Some(open)) = self.slots.get(at)
        {
            let order = if from_a { &open.a } else { &open.b };
            // Behind a FIN no byte can come. Without this, what a new connection says in clear would be of the old one's TLS.
            let length = segment.payload.len() + segment.cut_bytes;
            let is_of_another = match (order.is_over(), open.is_closed) {
                // A keep-alive may have one byte, where the FIN stands.
                (true, _) => !order.is_late(segment.sequence, length, 1),
                (false, true) => !order.is_late(segment.sequence, length, RESET_BYTES_MAX),
                (false, false) => false,
            };
            if is_of_another {
                self.take(at, shared, end);
                index = None;
            }
        }
        // An acknowledgement alone is no reason to look at a connection: it may be the last of a closed one.
        if index.is_none() && !segment.syn && segment.payload.is_empty() {
            return;
        }
        let ends = Ends { a, b, opened_by_a: None, first_unix_ms: unix_ms, last_unix_ms: unix_ms };
        let Some(index) = index.or_else(|| self.place(key, ends, shared, make, end)) else {
            if self.over_limit.len() < OVER_LIMIT_MAX {
                self.over_limit.insert(self.hasher.hash_one(key));
            }
            return;
        };
        let Some(Some(open)) = self.slots.get_mut(index) else { return };
        open.ends.last_unix_ms = open.ends.last_unix_ms.max(unix_ms);
        let before = open.a.waiting_bytes() + open.b.waiting_bytes();
        let (order, other) = if from_a { (&mut open.a, &open.b) } else { (&mut open.b, &open.a) };
        let mut sequence = segment.sequence;
        if segment.syn {
            order.syn(sequence);
            sequence = sequence.wrapping_add(1);
            open.ends.opened_by_a.get_or_insert(from_a == opens);
        }
        let mut side = Side { from_a, conversation: &mut open.conversation, shared };
        // The payload of a reset is a reason in words at best, not part of the stream.
        if !segment.rst {
            order.payload(sequence, segment.payload, segment.cut_bytes, &mut side);
            if segment.fin {
                let length = segment.payload.len() + segment.cut_bytes;
                order.fin(sequence.wrapping_add(u32::try_from(length).unwrap_or(u32::MAX)));
            }
        }
        let is_over = segment.rst || (order.is_over() && other.is_over());
        if segment.rst || self.waiting_bytes > WAITING_BYTES_MAX {
            order.finish(&mut side);
        }
        let after = open.a.waiting_bytes() + open.b.waiting_bytes();
        self.waiting_bytes = (self.waiting_bytes + after).saturating_sub(before);
        if is_over && !open.is_closed {
            open.is_closed = true;
            self.closed.push_back(index);
            if self.closed.len() > CLOSED_MAX
                && let Some(oldest) = self.closed.front().copied()
            {
                self.take(oldest, shared, end);
            }
        }
    }

    fn place(
        &mut self,
        key: Key,
        ends: Ends,
        shared: &mut C::Shared,
        make: impl FnOnce(&Ends) -> C,
        end: &mut impl FnMut(Ends, C),
    ) -> Option<usize> {
        if self.current.len() >= OPEN_MAX {
            let now = ends.first_unix_ms;
            // Looking through all of them is worth it now and then only.
            if now < self.last_sweep_unix_ms.saturating_add(SILENT_MS / 10) {
                return None;
            }
            self.last_sweep_unix_ms = now;
            for index in 0..self.slots.len() {
                if let Some(Some(open)) = self.slots.get(index)
                    && (open.is_closed || open.ends.last_unix_ms.saturating_add(SILENT_MS) < now)
                {
                    self.take(index, shared, end);
                }
            }
            if self.current.len() >= OPEN_MAX {
                return None;
            }
        }
        let conversation = make(&ends);
        let open = Open { ends, a: Order::default(), b: Order::default(), is_closed: false, conversation };
        let index = if let Some(index) = self.free.pop() {
            if let Some(slot) = self.slots.get_mut(index) {
                *slot = Some(open);
            }
            index
        } else {
            self.slots.push(Some(open));
            self.slots.len() - 1
        };
        self.current.insert(key, index);
        Some(index)
    }

    fn take(&mut self, index: usize, shared: &mut C::Shared, end: &mut impl FnMut(Ends, C)) {
        let Some(mut open) = self.slots.get_mut(index).and_then(Option::take) else { return };
        let waiting_bytes = open.a.waiting_bytes() + open.b.waiting_bytes();
        self.waiting_bytes = self.waiting_bytes.saturating_sub(waiting_bytes);
        for (from_a, order) in [(true, &mut open.a), (false, &mut open.b)] {
            order.finish(&mut Side { from_a, conversation: &mut open.conversation, shared });
        }
        self.current.remove(&key(open.ends.a, open.ends.b));
        if open.is_closed {
            self.closed.retain(|closed| *closed != index);
        }
        self.free.push(index);
        end(open.ends, open.conversation);
    }

    /// Nothing more will come: everything is handed over, the first connection first.
    pub fn finish(&mut self, shared: &mut C::Shared, end: &mut impl FnMut(Ends, C)) {
        for index in 0..self.slots.len() {
            self.take(index, shared, end);
        }
    }

    /// Segments of the chosen ports.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// At least so many connections were not looked at, or not from their beginning, for there was no place. Addresses that
    /// were used again count once.
    pub fn connections_over_limit(&self) -> u64 {
        self.over_limit.len() as u64
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Words {
        a: Vec<u8>,
        b: Vec<u8>,
        missing_bytes: u64,
        conflicts: u64,
    }

    impl Conversation for Words {
        type Shared = u64;
        fn piece(&mut self, from_a: bool, piece: &[u8], _: u64, _: bool, shared: &mut u64) {
            *shared += piece.len() as u64;
            if from_a { &mut self.a } else { &mut self.b }.extend_from_slice(piece);
        }
        fn gap(&mut self, _: bool, missing_bytes: u64, _: &mut u64) {
            self.missing_bytes += missing_bytes;
        }
        fn conflict(&mut self, _: bool) {
            self.conflicts += 1;
        }
    }

    struct Rig {
        table: Conversations<Words>,
        shared: u64,
        ended: Vec<(Ends, Words)>,
    }

    impl Rig {
        fn new() -> Self {
            Self { table: Conversations::new(vec![]), shared: 0, ended: vec![] }
        }

        fn send(
            &mut self,
            to_server: bool,
            number: u32,
            sequence: u32,
            flags: &str,
            payload: &[u8],
            ms: u64,
        ) {
            let client = format!("10.{}.{}.{}:40000", number >> 16, number >> 8 & 255, number & 255);
            let (client, server) = (client.parse().unwrap(), "192.168.0.1:3306".parse().unwrap());
            let (source, destination) = if to_server { (client, server) } else { (server, client) };
            let has = |flag| flags.contains(flag);
            let segment = Segment {
                source,
                destination,
                sequence,
                syn: has('S'),
                ack: has('A'),
                fin: has('F'),
                rst: has('R'),
                payload,
                cut_bytes: 0,
            };
            let Self { table, shared, ended } = self;
            table.segment(&segment, ms, shared, |_| Words::default(), &mut |ends, words| {
                ended.push((ends, words));
            });
        }

        fn finish(mut self) -> Self {
            let Self { table, shared, ended } = &mut self;
            table.finish(shared, &mut |ends, words| ended.push((ends, words)));
            self
        }
    }

    #[test]
    fn a_connection_is_read_in_order_from_both_ends_and_handed_over_once() {
        let mut table = Rig::new();
        table.send(true, 1, 100, "S", b"", 1);
        table.send(false, 1, 900, "SA", b"", 2);
        table.send(false, 1, 906, "A", b"world", 3);
        table.send(false, 1, 901, "A", b"hello", 4);
        table.send(true, 1, 101, "FA", b"bye", 5);
        table.send(false, 1, 911, "FA", b"", 6);
        // Late: of the same connection, not of a new one.
        table.send(true, 1, 101, "FA", b"bye", 9);
        table.send(true, 1, 105, "A", b"", 9);
        let table = table.finish();
        let [(ends, words)] = table.ended.as_slice() else { panic!("{} ended", table.ended.len()) };
        assert_eq!((words.a.as_slice(), words.b.as_slice()), (&b"bye"[..], &b"helloworld"[..]));
        assert_eq!((ends.opened_by_a, ends.first_unix_ms, ends.last_unix_ms), (Some(true), 1, 9));
        assert_eq!((words.missing_bytes, table.shared, table.table.packets()), (0, 13, 8));
    }

    #[test]
    fn who_opened_it_is_known_from_either_half_of_the_handshake() {
        for (to_server, flags, opened_by_a) in [(true, "S", true), (false, "SA", true), (false, "S", false)] {
            let mut table = Rig::new();
            table.send(to_server, 1, 100, flags, b"", 1);
            assert_eq!(table.finish().ended[0].0.opened_by_a, Some(opened_by_a), "{to_server} {flags}");
        }
    }

    #[test]
    fn bytes_sent_again_that_are_others_are_told_and_equal_ones_are_not() {
        let text = b"0123456789abcdefghijklmnopqrstuvwxyz";
        let changed = |at: usize| {
            let mut text = *text;
            text[at] ^= 1;
            text
        };
        // What is sent again, where it begins, and whether it is told.
        let again: [(&[u8], u32, u64); 7] = [
            (&text[..10], 100, 0),
            // Two segments in one, and bytes behind them that are new.
            (text, 100, 0),
            (&changed(3)[..10], 100, 1),
            (&changed(15)[..20], 100, 1),
            (&changed(15)[10..], 110, 1),
            // A keep-alive has any byte there.
            (b"!", 119, 0),
            // It begins within a segment: nothing to compare it with.
            (&text[13..20], 113, 0),
        ];
        for (payload, sequence, conflicts) in again {
            let mut table = Rig::new();
            table.send(true, 1, 100, "A", &text[..10], 1);
            table.send(true, 1, 110, "A", &text[10..20], 1);
            table.send(true, 1, sequence, "A", payload, 1);
            assert_eq!(table.finish().ended[0].1.conflicts, conflicts, "{payload:?} at {sequence}");
        }
        // While it waits for an earlier one.
        for (second, conflicts) in [(&text[20..30], 0), (&changed(22)[20..30], 1), (&changed(22)[20..], 1)] {
            let mut table = Rig::new();
            table.send(true, 1, 100, "A", &text[..10], 1);
            table.send(true, 1, 120, "A", &text[20..30], 1);
            table.send(true, 1, 120, "A", second, 1);
            assert_eq!(table.finish().ended[0].1.conflicts, conflicts);
        }
    }

    #[test]
    fn addresses_used_again_are_another_connection() {
        let mut table = Rig::new();
        for sequence in [100, 5_000_000] {
            table.send(true, 1, sequence, "S", b"", 1);
            table.send(true, 1, sequence + 1, "A", b"x", 1);
        }
        let table = table.finish();
        assert_eq!(table.ended.iter().map(|(_, words)| words.a.len()).collect::<Vec<_>>(), [1, 1]);
    }

    #[test]
    fn addresses_used_again_after_a_fin_or_a_reset_are_another_connection_though_its_syn_was_not_seen() {
        for closing in ["FA", "R"] {
            let mut table = Rig::new();
            table.send(true, 1, 100, "S", b"", 1);
            table.send(false, 1, 900, "SA", b"", 1);
            table.send(true, 1, 101, "A", b"old", 1);
            table.send(false, 1, 901, "A", b"old", 1);
            table.send(true, 1, 104, closing, b"", 2);
            if closing == "FA" {
                table.send(false, 1, 904, "FA", b"", 2);
            }
            // Sent again, and on the way when it was reset: of the old one.
            table.send(true, 1, 101, "A", b"old", 3);
            if closing == "R" {
                table.send(false, 1, 904, "A", b"late", 3);
            }
            table.send(false, 1, 90_000_000, "A", b"hello", 4);
            table.send(true, 1, 70_000_000, "A", b"new", 4);
            let table = table.finish();
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            let of: Vec<_> = table.ended.iter().map(|(_, words)| (text(&words.a), text(&words.b))).collect();
            let late = if closing == "R" { "oldlate" } else { "old" };
            assert_eq!(of, [("old".into(), late.into()), ("new".into(), "hello".into())], "{closing}");
            assert!(table.ended.iter().all(|(_, words)| words.missing_bytes == 0), "{closing}");
        }
    }

    #[test]
    fn connections_over_the_limit_are_told_apart_without_their_syn() {
        let mut table = Rig::new();
        let count = u32::try_from(OPEN_MAX).unwrap();
        for _ in 0..3 {
            for number in 0..count + 1000 {
                table.send(true, number, 1, "A", b"x", 1_000_000);
            }
        }
        assert_eq!(table.table.connections_over_limit(), 1000);
    }

    #[test]
    fn closed_connections_give_their_place_back_and_no_number_of_them_is_over_the_limit() {
        let mut table = Rig::new();
        let count = u32::try_from(OPEN_MAX).unwrap() + 700;
        for number in 0..count {
            table.send(true, number, 1, "S", b"", 1);
            table.send(true, number, 2, "R", b"", 1);
        }
        assert!(table.table.slots.len() <= CLOSED_MAX + 2, "{}", table.table.slots.len());
        let table = table.finish();
        assert_eq!((table.ended.len(), table.table.connections_over_limit()), (count as usize, 0));
    }

    #[test]
    fn open_ones_over_the_limit_are_counted_until_others_fall_silent() {
        let mut table = Rig::new();
        let count = u32::try_from(OPEN_MAX).unwrap();
        for number in 0..count + 3 {
            table.send(true, number, 1, "S", b"", 1_000_000);
        }
        assert_eq!(table.table.connections_over_limit(), 3);
        table.send(true, 0, 2, "A", b"x", 1_000_000 + SILENT_MS);
        table.send(true, count + 9, 1, "S", b"", 1_000_002 + SILENT_MS);
        assert_eq!(table.table.connections_over_limit(), 3);
        assert_eq!(table.ended.len(), OPEN_MAX - 1);
        assert_eq!(table.finish().ended.len(), OPEN_MAX + 1);
    }

    #[test]
    fn what_waits_over_all_connections_is_bounded() {
        let mut table = Rig::new();
        let piece = vec![0; 60_000];
        for number in 0..600 {
            table.send(true, number, 1, "S", b"", 1);
            table.send(true, number, 3, "A", &piece, 1);
            assert!(table.table.waiting_bytes <= WAITING_BYTES_MAX + piece.len());
        }
        let table = table.finish();
        assert_eq!(table.shared, 600 * 60_000);
        assert!(table.ended.iter().all(|(_, words)| words.missing_bytes == 1));
    }
}
