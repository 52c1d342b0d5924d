//! Who talks to whom: segments sorted into connections, a bounded number of them.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;

use model::link::NoSession;
use serde::{Deserialize, Serialize};

use crate::agreed::Agreed;
pub use crate::canary::Evidence;
use crate::no_session::{login_driver, login_user, no_session, only_greeted};
use crate::segment::{self, Segment};
use crate::stream::Stream;

/// A three-node cluster has dozens of connections, a benchmark some thousand. Some 600 bytes each, and up to 4 KiB of what
/// stands outside of TLS records.
pub const FLOWS_MAX: usize = 16_384;
/// Bytes that wait for earlier ones, over all flows together.
const WAITING_BYTES_MAX: usize = 64 << 20;

/// One TCP connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// The lower of the two addresses.
    pub a: SocketAddr,
    pub b: SocketAddr,
    /// Who sent the SYN, if we saw it.
    pub client: Option<SocketAddr>,
    pub first_unix_ms: u64,
    pub last_unix_ms: u64,
    /// Both directions were seen from their first byte on.
    pub saw_start: bool,
    /// By what it speaks it is a client of a server of MySQL's protocol that came to no session.
    #[serde(default)]
    pub no_session: Option<NoSession>,
    /// The user of its login, where that was cleartext.
    #[serde(default)]
    pub login_user: Option<String>,
    /// What its client calls itself there.
    #[serde(default)]
    pub login_driver: Option<String>,
    pub ab: Direction,
    pub ba: Direction,
}

/// What passed in one direction.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Direction {
    /// Payload bytes, each counted once.
    pub bytes: u64,
    /// Segments that brought new bytes.
    pub segments: u64,
    /// Segments that begin with a plausible TLS record. A record may span segments, so the others may be TLS too.
    pub tls_segments: u64,
    /// Bytes in a chain of TLS records that we could follow without a break.
    pub tls_bytes: u64,
    /// Bytes in front of the first record that could be followed: all bytes, where there is none.
    #[serde(default)]
    pub before_tls_bytes: u64,
    /// Bytes outside of records after a chain of them had begun, and before any gap.
    #[serde(default)]
    pub after_tls_bytes: u64,
    /// Segments that are whole MySQL packets in cleartext, by their frames, before any TLS.
    #[serde(default)]
    pub mysql_segments: u64,
    pub client_hello: bool,
    /// The ClientHello is of a sealion, of this process or another one.
    #[serde(default)]
    pub is_sealions: bool,
    /// Version and suite, where this is a server's direction and its ServerHello was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreed: Option<Agreed>,
    /// Bytes that were sent but that we did not see, at least.
    pub missing_bytes: u64,
    /// How often each canary was seen, by its tag (the 16 digits).
    pub canaries: BTreeMap<String, u64>,
    /// The first canary.
    pub evidence: Option<Evidence>,
}

#[derive(Debug)]
struct State {
    a: SocketAddr,
    b: SocketAddr,
    client: Option<SocketAddr>,
    first_unix_ms: u64,
    last_unix_ms: u64,
    was_reset: bool,
    ab: Stream,
    ba: Stream,
}

/// All connections seen so far. Give it each packet once.
#[derive(Debug)]
pub struct FlowTable {
    ports: Vec<u16>,
    flows: Vec<State>,
    /// Where in `flows` the connection is that uses this pair of addresses now.
    current: HashMap<(SocketAddr, SocketAddr), usize>,
    packets: u64,
    syns_over_limit: u64,
    packets_over_limit: u64,
    waiting_bytes: usize,
    scratch: Vec<u8>,
}

impl FlowTable {
    /// Looks at segments that go from or to one of `ports`; at all if there are none.
    pub fn new(ports: Vec<u16>) -> Self {
        Self {
            ports,
            flows: Vec::new(),
            current: HashMap::new(),
            packets: 0,
            syns_over_limit: 0,
            packets_over_limit: 0,
            waiting_bytes: 0,
            scratch: Vec::new(),
        }
    }

    /// Takes a packet that begins with its IP header.
    pub fn packet(&mut self, packet: &[u8], unix_ms: u64) {
        if let Some(segment) = segment::parse(packet) {
            self.segment(&segment, unix_ms);
        }
    }

    pub fn segment(&mut self, segment: &Segment<'_>, unix_ms: u64) {
        let wanted = |port| self.ports.is_empty() || self.ports.contains(&port);
        if !wanted(segment.source.port()) && !wanted(segment.destination.port()) {
            return;
        }
        self.packets += 1;
        let (a, b) = (segment.source.min(segment.destination), segment.source.max(segment.destination));
        let opens = segment.syn && !segment.ack;
        let mut index = self.current.get(&(a, b)).copied();
        if opens
            && let Some(state) = index.and_then(|index| self.flows.get_mut(index))
            && !state.from(segment.source).syn(segment.sequence)
        {
            // The pair of addresses is used again: what came before is a connection of its own.
            let before = state.waiting_bytes();
            state.finish(&mut self.scratch);
            self.waiting_bytes = self.waiting_bytes.saturating_sub(before);
            index = None;
        }
        let Some(index) = index.or_else(|| self.add(a, b, unix_ms)) else {
            self.packets_over_limit += 1;
            self.syns_over_limit += u64::from(opens);
            return;
        };
        let Some(state) = self.flows.get_mut(index) else { return };
        state.last_unix_ms = state.last_unix_ms.max(unix_ms);
        let before = state.waiting_bytes();
        let scratch = &mut self.scratch;
        let stream = state.from(segment.source);
        let mut sequence = segment.sequence;
        if segment.syn {
            // A SYN+ACK that does not fit belongs to a connection whose SYN we have not seen: joined in the middle.
            stream.syn(sequence);
            sequence = sequence.wrapping_add(1);
        }
        // The payload of a reset is a reason in words at best, not part of the stream.
        if !segment.rst {
            stream.payload(sequence, segment.payload, segment.cut_bytes, scratch);
            if segment.fin {
                let length = segment.payload.len() + segment.cut_bytes;
                stream.fin(sequence.wrapping_add(u32::try_from(length).unwrap_or(u32::MAX)));
            }
        }
        if opens {
            state.client.get_or_insert(segment.source);
        } else if segment.syn {
            state.client.get_or_insert(segment.destination);
        }
        state.was_reset |= segment.rst;
        if segment.rst || self.waiting_bytes > WAITING_BYTES_MAX {
            state.finish(scratch);
        }
        self.waiting_bytes = (self.waiting_bytes + state.waiting_bytes()).saturating_sub(before);
    }

    fn add(&mut self, a: SocketAddr, b: SocketAddr, unix_ms: u64) -> Option<usize> {
        if self.flows.len() >= FLOWS_MAX {
            self.current.remove(&(a, b));
            return None;
        }
        let state = State {
            a,
            b,
            client: None,
            first_unix_ms: unix_ms,
            last_unix_ms: unix_ms,
            was_reset: false,
            ab: Stream::default(),
            ba: Stream::default(),
        };
        self.flows.push(state);
        self.current.insert((a, b), self.flows.len() - 1);
        Some(self.flows.len() - 1)
    }

    /// Nothing more will come: gaps that are open now stay missing.
    pub fn finish(&mut self) {
        for state in &mut self.flows {
            state.finish(&mut self.scratch);
        }
        self.waiting_bytes = 0;
    }

    pub fn flows(&self) -> Vec<Flow> {
        self.flows.iter().map(State::flow).collect()
    }

    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// At least so many connections were not looked at.
    pub fn flows_over_limit(&self) -> u64 {
        self.syns_over_limit.max(u64::from(self.packets_over_limit > 0))
    }

    pub fn packets_over_limit(&self) -> u64 {
        self.packets_over_limit
    }
}

impl State {
    fn from(&mut self, source: SocketAddr) -> &mut Stream {
        if source == self.a { &mut self.ab } else { &mut self.ba }
    }

    fn waiting_bytes(&self) -> usize {
        self.ab.waiting_bytes() + self.ba.waiting_bytes()
    }

    fn finish(&mut self, scratch: &mut Vec<u8>) {
        self.ab.finish(scratch);
        self.ba.finish(scratch);
    }

    fn no_session(&self) -> Option<NoSession> {
        // A health check of a proxy that connected just before the capture.
        if only_greeted(&self.ab.seen, &self.ba.seen) || only_greeted(&self.ba.seen, &self.ab.seen) {
            return Some(NoSession::Greeted);
        }
        let client = self.client.filter(|_| self.ab.saw_start() && self.ba.saw_start())?;
        let (client, server) = if client == self.a { (&self.ab, &self.ba) } else { (&self.ba, &self.ab) };
        let is_over = self.was_reset || client.is_over() || server.is_over();
        no_session(&client.seen, &server.seen, is_over)
    }

    fn of_login(&self, what: fn(&crate::stream::Seen) -> Option<String>) -> Option<String> {
        let client = self.client.filter(|_| self.ab.saw_start() && self.ba.saw_start())?;
        what(if client == self.a { &self.ab.seen } else { &self.ba.seen })
    }

    fn flow(&self) -> Flow {
        Flow {
            a: self.a,
            b: self.b,
            client: self.client,
            first_unix_ms: self.first_unix_ms,
            last_unix_ms: self.last_unix_ms,
            saw_start: self.ab.saw_start() && self.ba.saw_start(),
            no_session: self.no_session(),
            login_user: self.of_login(login_user),
            login_driver: self.of_login(login_driver),
            ab: direction(&self.ab),
            ba: direction(&self.ba),
        }
    }
}

fn direction(stream: &Stream) -> Direction {
    Direction {
        bytes: stream.seen.bytes,
        segments: stream.seen.segments,
        tls_segments: stream.seen.tls_segments,
        tls_bytes: stream.seen.tls_bytes,
        before_tls_bytes: stream.seen.before_tls_bytes,
        after_tls_bytes: stream.seen.after_tls_bytes,
        mysql_segments: stream.seen.mysql_segments,
        client_hello: stream.seen.client_hello,
        is_sealions: stream.seen.is_sealions,
        agreed: stream.seen.agreed,
        missing_bytes: stream.seen.missing_bytes,
        canaries: stream.seen.scanner.counts().clone(),
        evidence: stream.seen.scanner.evidence().cloned(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::Canary;

    const CLIENT: &str = "10.0.0.9:40000";
    const SERVER: &str = "10.0.0.1:4567";

    fn packet(source: &str, destination: &str, sequence: u32, flags: &str, payload: &[u8]) -> Vec<u8> {
        segment::encode(&Segment {
            source: source.parse().unwrap(),
            destination: destination.parse().unwrap(),
            sequence,
            syn: flags.contains('S'),
            ack: flags.contains('A'),
            fin: flags.contains('F'),
            rst: flags.contains('R'),
            payload,
            cut_bytes: 0,
        })
    }

    fn table() -> FlowTable {
        FlowTable::new(vec![4567])
    }

    #[test]
    fn a_connection_has_a_client_two_directions_and_a_start() {
        let mut table = table();
        table.packet(&packet(CLIENT, SERVER, 100, "S", b""), 1);
        table.packet(&packet(SERVER, CLIENT, 900, "SA", b""), 2);
        table.packet(&packet(CLIENT, SERVER, 101, "A", b"ping"), 3);
        let canary = Canary::new([3; 16]);
        table.packet(&packet(SERVER, CLIENT, 901, "A", canary.token().as_bytes()), 9);
        table.packet(&packet(CLIENT, SERVER, 105, "FA", b""), 9);
        let flows = table.flows();
        let [flow] = flows.as_slice() else { panic!("{flows:?}") };
        assert_eq!((flow.a.to_string(), flow.client), (SERVER.to_owned(), Some(CLIENT.parse().unwrap())));
        assert_eq!((flow.first_unix_ms, flow.last_unix_ms, flow.saw_start), (1, 9, true));
        assert_eq!((flow.ba.bytes, flow.ab.bytes), (4, 24));
        assert_eq!(flow.ab.canaries[canary.tag()], 1);
        assert_eq!(flow.ab.evidence.as_ref().unwrap().stream_offset, 0);
        assert!(flow.ba.canaries.is_empty());
        assert_eq!(table.packets(), 5);
    }

    #[test]
    fn other_ports_are_not_looked_at() {
        let mut table = table();
        table.packet(&packet("10.0.0.9:1", "10.0.0.1:2", 1, "S", b""), 1);
        assert_eq!((table.packets(), table.flows().len()), (0, 0));
    }

    #[test]
    fn a_pair_of_addresses_used_again_is_another_flow() {
        let mut table = table();
        for sequence in [100, 100, 5_000_000] {
            table.packet(&packet(CLIENT, SERVER, sequence, "S", b""), 1);
            table.packet(&packet(CLIENT, SERVER, sequence + 1, "A", b"x"), 1);
        }
        let bytes: Vec<u64> = table.flows().iter().map(|flow| flow.ba.bytes).collect();
        assert_eq!(bytes, [1, 1]);
    }

    #[test]
    fn joined_in_the_middle_there_is_no_client_and_no_start() {
        let mut table = table();
        table.packet(&packet(CLIENT, SERVER, 77, "A", b"x"), 1);
        let flow = &table.flows()[0];
        assert_eq!((flow.client, flow.saw_start), (None, false));
    }

    #[test]
    fn flows_beyond_the_limit_are_counted_not_kept() {
        let mut table = FlowTable::new(Vec::new());
        for number in 0..FLOWS_MAX + 3 {
            let client = format!("10.1.{}.{}:40000", number / 256, number % 256);
            table.packet(&packet(&client, SERVER, 1, "S", b""), 1);
            table.packet(&packet(&client, SERVER, 2, "A", b"x"), 1);
        }
        assert_eq!(table.flows().len(), FLOWS_MAX);
        assert_eq!((table.flows_over_limit(), table.packets_over_limit()), (3, 6));
    }
}
