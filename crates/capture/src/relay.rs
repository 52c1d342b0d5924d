//! Where packets may not be captured: the bytes are looked at on their way through us.
//!
//! A relay listens where clients dial and hands everything on to where the server really listens. What passes while a
//! tap is open goes into the same [`FlowTable`] that packets go into, as segments of our own making, so one judge
//! serves both. A relay sees what it relays and nothing else: whoever dials the server itself goes past it.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::socket::{self, AddressFamily, SockFlag, SockType, SockaddrStorage};

use crate::flow::FlowTable;
use crate::segment::Segment;
use crate::{CaptureReport, unix_ms};

/// Two threads each; a lab has dozens of connections, its writers some dozens more.
pub const CONNECTIONS_MAX: usize = 512;
/// What is read at once: larger than any TLS record, so that one passes in two reads at most.
const CHUNK_BYTES: usize = 64 * 1024;
/// Of a line with a rate: so much of its time a piece takes at most, or a short one would wait long behind it.
const PIECE_OF_RATE: Duration = Duration::from_millis(1);
const PIECE_BYTES_MIN: usize = 1460;
/// Of one direction, on their way through a delay: whoever sends more has to wait, as before a long line.
const ON_THE_WAY_MAX: usize = 256;
/// The same of a line that has a rate, however long it is.
const ON_THE_WAY_MOST: usize = 16 * 1024;

/// What a listener does with a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    pub listen: SocketAddr,
    pub target: SocketAddr,
}

/// Listeners that hand on bytes, and the one tap on all of them. They live as long as the process.
#[derive(Debug)]
pub struct Relays {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    tap: Mutex<Option<Tap>>,
    connections: AtomicUsize,
    /// How long each byte is kept.
    delay_us: AtomicU64,
    /// Of each direction, of all connections together; 0: as fast as it goes.
    bytes_per_s: AtomicU64,
    /// To servers, and back: since when nothing is on the line any more.
    free_at: [Mutex<Option<Instant>>; 2],
    /// Under which address a peer is known: servers behind relays dial from where they listen.
    known_as: fn(IpAddr) -> IpAddr,
}

#[derive(Debug)]
struct Tap {
    table: FlowTable,
    started_unix_ms: u64,
    refused: u64,
}

impl Relays {
    pub fn new(known_as: fn(IpAddr) -> IpAddr) -> Self {
        Self {
            shared: Arc::new(Shared {
                tap: Mutex::new(None),
                connections: AtomicUsize::new(0),
                delay_us: AtomicU64::new(0),
                bytes_per_s: AtomicU64::new(0),
                free_at: Default::default(),
                known_as,
            }),
        }
    }

    /// From now on every byte is kept for so long, each way, as a line of that length would; also on connections that are open.
    /// A sleep of the kernel's is some 0.06 ms too long.
    pub fn set_delay(&self, one_way: Duration) {
        let us = u64::try_from(one_way.as_micros()).unwrap_or(u64::MAX);
        self.shared.delay_us.store(us, Ordering::Relaxed);
    }

    /// From now on no more than so many bytes a second pass, each way, of all connections together; 0 is as many as there are.
    /// Bytes below TLS are counted: headers of IP and TCP, which a real line carries too, are not.
    pub fn set_rate(&self, bytes_per_s: u64) {
        self.shared.bytes_per_s.store(bytes_per_s, Ordering::Relaxed);
    }

    /// Listens on `route.listen` from now on. Returns the address, whose port the kernel chooses where it is 0.
    ///
    /// # Errors
    /// As `bind(2)`: the address is not of this machine, or something listens there already.
    pub fn add(&self, route: Route) -> io::Result<SocketAddr> {
        let listener = TcpListener::bind(route.listen)?;
        let listen = listener.local_addr()?;
        let shared = Arc::clone(&self.shared);
        thread::Builder::new().name(format!("relay {listen}")).spawn(move || {
            for stream in listener.incoming().flatten() {
                Shared::take(&shared, stream, Route { listen, target: route.target });
            }
        })?;
        Ok(listen)
    }

    /// Looks at what passes from now on. Connections that are open already are joined in their middle.
    pub fn begin(&self) {
        *self.shared.tap() =
            Some(Tap { table: FlowTable::new(Vec::new()), started_unix_ms: unix_ms(), refused: 0 });
    }

    /// What passed since [`Relays::begin`]; `None` where nothing was begun.
    pub fn end(&self) -> Option<CaptureReport> {
        let mut tap = self.shared.tap().take()?;
        tap.table.finish();
        Some(CaptureReport {
            method: "a relay in front of each port".into(),
            packets: tap.table.packets(),
            // Nothing can be lost: a byte is handed on after it was looked at.
            kernel_drops: 0,
            flows: tap.table.flows(),
            flows_over_limit: tap.table.flows_over_limit() + tap.refused,
            packets_over_limit: tap.table.packets_over_limit() + tap.refused,
            failed: None,
            started_unix_ms: tap.started_unix_ms,
            ended_unix_ms: unix_ms(),
        })
    }
}

impl Shared {
    fn tap(&self) -> MutexGuard<'_, Option<Tap>> {
        self.tap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(this: &Arc<Self>, client: TcpStream, route: Route) {
        if this.connections.fetch_add(1, Ordering::AcqRel) >= CONNECTIONS_MAX {
            this.connections.fetch_sub(1, Ordering::AcqRel);
            if let Some(tap) = this.tap().as_mut() {
                tap.refused += 1;
            }
            return;
        }
        let shared = Arc::clone(this);
        let spawned = thread::Builder::new().name("relay".into()).spawn(move || {
            // A server that is down ends the connection, as it would without us.
            let _ = shared.relay(&client, route);
            shared.connections.fetch_sub(1, Ordering::AcqRel);
        });
        if spawned.is_err() {
            this.connections.fetch_sub(1, Ordering::AcqRel);
        }
    }

    fn relay(self: &Arc<Self>, client: &TcpStream, route: Route) -> io::Result<()> {
        let mut peer = client.peer_addr()?;
        peer.set_ip((self.known_as)(peer.ip()));
        // SYN, SYN-ACK and ACK are the kernel's, and were not kept: a server that speaks first would be heard too early.
        thread::sleep(self.delay() * 3);
        let server = connect_from(peer.ip(), route.target)?;
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        self.segment(peer, route.listen, 0, Mark::Opens, &[]);
        self.segment(route.listen, peer, 0, Mark::Answers, &[]);
        let back = {
            let (shared, from, to) = (Arc::clone(self), server.try_clone()?, client.try_clone()?);
            thread::Builder::new()
                .name("relay".into())
                .spawn(move || shared.pour(&from, &to, route.listen, peer, Way::Back))?
        };
        self.pour(client, &server, peer, route.listen, Way::There);
        let _ = back.join();
        Ok(())
    }

    fn bytes_per_s(&self) -> u64 {
        self.bytes_per_s.load(Ordering::Relaxed)
    }

    /// What is read at once.
    fn piece_bytes(&self) -> usize {
        match self.bytes_per_s() {
            0 => CHUNK_BYTES,
            rate => usize::try_from(u128::from(rate) * PIECE_OF_RATE.as_nanos() / 1_000_000_000)
                .unwrap_or(CHUNK_BYTES)
                .clamp(PIECE_BYTES_MIN, CHUNK_BYTES),
        }
    }

    /// Pieces: all that a line of this rate and length holds at once, or the delay would make it a thinner one.
    fn on_the_way_max(&self) -> usize {
        let held = u128::from(self.bytes_per_s()) * self.delay().as_micros() / 1_000_000;
        let pieces = held / self.piece_bytes() as u128 + ON_THE_WAY_MAX as u128;
        usize::try_from(pieces).unwrap_or(usize::MAX).min(ON_THE_WAY_MOST)
    }

    /// From when to when so many bytes are on the line, after those that came before.
    fn on_the_line(&self, way: Way, bytes: usize) -> (Instant, Instant) {
        let now = Instant::now();
        let rate = self.bytes_per_s();
        if rate == 0 {
            return (now, now);
        }
        let takes = Duration::from_secs_f64(bytes as f64 / rate as f64);
        let [there, back] = &self.free_at;
        let line = if way == Way::There { there } else { back };
        let mut free_at = line.lock().unwrap_or_else(PoisonError::into_inner);
        let begins = free_at.map_or(now, |at| at.max(now));
        let ends = begins + takes;
        *free_at = Some(ends);
        (begins, ends)
    }

    fn delay(&self) -> Duration {
        Duration::from_micros(self.delay_us.load(Ordering::Relaxed))
    }

    /// Hands on one direction until it ends.
    fn pour(
        &self,
        mut from: &TcpStream,
        mut to: &TcpStream,
        source: SocketAddr,
        destination: SocketAddr,
        way: Way,
    ) {
        thread::scope(|scope| {
            // The SYN took the first sequence number.
            let mut sequence: u32 = 1;
            let mut chunk = vec![0; CHUNK_BYTES];
            // Once there is a delay or a rate all goes this way, or bytes would overtake each other.
            let mut line: Option<SyncSender<(Instant, Vec<u8>)>> = None;
            loop {
                let most = self.piece_bytes();
                let n = match from.read(chunk.get_mut(..most).unwrap_or_default()) {
                    Ok(n) => n,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(_) => 0,
                };
                let piece = chunk.get(..n).unwrap_or_default();
                let mark = if piece.is_empty() { Mark::Ends } else { Mark::Goes };
                self.segment(source, destination, sequence, mark, piece);
                sequence = sequence.wrapping_add(u32::try_from(n).unwrap_or(u32::MAX));
                if line.is_none() && (!self.delay().is_zero() || self.bytes_per_s() > 0) {
                    let (send, take) = sync_channel(self.on_the_way_max());
                    line = Some(send);
                    scope.spawn(move || arrive(&take, to));
                }
                let is_sent = match &line {
                    // An empty piece is the end, which comes no earlier than the bytes before it.
                    Some(line) => {
                        let (begins, ends) = self.on_the_line(way, n);
                        let is_sent = line.send((ends + self.delay(), piece.to_vec())).is_ok();
                        // What has no room on the line is not taken off the sender yet.
                        thread::sleep(begins.saturating_duration_since(Instant::now()));
                        is_sent && !piece.is_empty()
                    }
                    None => !piece.is_empty() && to.write_all(piece).is_ok(),
                };
                if !is_sent {
                    break;
                }
            }
            if line.is_none() {
                let _ = to.shutdown(Shutdown::Write);
            }
            let _ = from.shutdown(Shutdown::Read);
        });
    }

    fn segment(
        &self,
        source: SocketAddr,
        destination: SocketAddr,
        sequence: u32,
        mark: Mark,
        payload: &[u8],
    ) {
        if let Some(tap) = self.tap().as_mut() {
            let segment = Segment {
                source,
                destination,
                sequence,
                syn: matches!(mark, Mark::Opens | Mark::Answers),
                ack: mark != Mark::Opens,
                fin: mark == Mark::Ends,
                rst: false,
                payload,
                cut_bytes: 0,
            };
            tap.table.segment(&segment, unix_ms());
        }
    }
}

/// The far end of a delay.
fn arrive(line: &Receiver<(Instant, Vec<u8>)>, mut to: &TcpStream) {
    for (due, piece) in line {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        if piece.is_empty() || to.write_all(&piece).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    There,
    Back,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Opens,
    Answers,
    Goes,
    Ends,
}

/// Dials from an address of our choice, so that the server sees the peer that it knows.
fn connect_from(source: IpAddr, target: SocketAddr) -> io::Result<TcpStream> {
    let family = if target.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let fd = socket::socket(family, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
    if source.is_ipv4() == target.is_ipv4() {
        socket::bind(fd.as_raw_fd(), &SockaddrStorage::from(SocketAddr::new(source, 0)))?;
    }
    socket::connect(fd.as_raw_fd(), &SockaddrStorage::from(target))?;
    Ok(TcpStream::from(fd))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::Canary;

    /// A server that answers what it is sent, once per connection, and says who dialled.
    fn echo() -> (SocketAddr, thread::JoinHandle<Vec<IpAddr>>) {
        let listener = TcpListener::bind("127.77.200.101:0").unwrap();
        let address = listener.local_addr().unwrap();
        let served = thread::spawn(move || {
            (0..2)
                .map(|_| {
                    let (mut stream, peer) = listener.accept().unwrap();
                    let mut bytes = Vec::new();
                    stream.read_to_end(&mut bytes).unwrap();
                    stream.write_all(&bytes).unwrap();
                    peer.ip()
                })
                .collect()
        });
        (address, served)
    }

    fn say(to: SocketAddr, text: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(to).unwrap();
        stream.write_all(text).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut back = Vec::new();
        stream.read_to_end(&mut back).unwrap();
        back
    }

    #[test]
    fn what_passes_while_the_tap_is_open_is_looked_at_and_what_passed_before_is_not() {
        let (target, served) = echo();
        let relays = Relays::new(|_| "127.77.200.9".parse().unwrap());
        let listen = relays.add(Route { listen: "127.77.200.1:0".parse().unwrap(), target }).unwrap();
        assert_eq!(relays.end(), None);
        assert_eq!(say(listen, b"unseen"), b"unseen");
        relays.begin();
        let canary = Canary::new([7; 16]);
        let text = canary.token().repeat(5000);
        assert_eq!(say(listen, text.as_bytes()), text.as_bytes());
        let report = relays.end().unwrap();
        assert!(report.is_complete(), "{report:?}");
        let [flow] = report.flows.as_slice() else { panic!("{:?}", report.flows) };
        assert_eq!((flow.a, flow.saw_start), (listen, true));
        assert_eq!(flow.b.ip().to_string(), "127.77.200.9");
        assert_eq!(flow.client, Some(flow.b));
        for direction in [&flow.ab, &flow.ba] {
            assert_eq!((direction.bytes, direction.missing_bytes), (text.len() as u64, 0));
            assert_eq!(direction.canaries[canary.tag()], 5000);
        }
        assert_eq!(served.join().unwrap(), ["127.77.200.9".parse::<IpAddr>().unwrap(); 2]);
    }

    #[test]
    fn a_connection_joined_in_its_middle_is_not_called_seen_from_its_start() {
        let (target, _served) = echo();
        let relays = Relays::new(|ip| ip);
        let listen = relays.add(Route { listen: "127.77.200.1:0".parse().unwrap(), target }).unwrap();
        let mut stream = TcpStream::connect(listen).unwrap();
        stream.write_all(b"before").unwrap();
        // The other end is reached when the answer to something sent later has come; here: the relay has read.
        thread::sleep(std::time::Duration::from_millis(100));
        relays.begin();
        stream.write_all(b"after").unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut back = Vec::new();
        stream.read_to_end(&mut back).unwrap();
        assert_eq!(back, b"beforeafter");
        let report = relays.end().unwrap();
        assert_eq!((report.flows.len(), report.flows[0].saw_start), (1, false));
        assert!(report.is_complete(), "{report:?}");
    }

    #[test]
    fn bytes_are_kept_for_the_delay_each_way_and_stay_in_order() {
        let (target, _served) = echo();
        let relays = Relays::new(|ip| ip);
        let listen = relays.add(Route { listen: "127.77.200.1:0".parse().unwrap(), target }).unwrap();
        let one_way = Duration::from_millis(60);
        let mut stream = TcpStream::connect(listen).unwrap();
        stream.write_all(b"at once, ").unwrap();
        thread::sleep(Duration::from_millis(50));
        relays.set_delay(one_way);
        let began = Instant::now();
        let text: Vec<u8> = (0..200_000_u32).flat_map(u32::to_be_bytes).collect();
        stream.write_all(&text).unwrap();
        thread::sleep(Duration::from_millis(50));
        relays.set_delay(Duration::ZERO);
        stream.write_all(b", and the end").unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut back = Vec::new();
        stream.read_to_end(&mut back).unwrap();
        assert_eq!(back, [&b"at once, "[..], &text, b", and the end"].concat());
        // The way back had none any more. Never less than what was asked for; how much more is the machine's affair.
        assert!(began.elapsed() >= one_way, "{:?}", began.elapsed());
    }

    #[test]
    fn no_more_bytes_pass_than_the_line_carries_and_connections_share_it() {
        let (target, _served) = echo();
        let relays = Relays::new(|ip| ip);
        let listen = relays.add(Route { listen: "127.77.200.1:0".parse().unwrap(), target }).unwrap();
        relays.set_rate(2_000_000);
        let text: Vec<u8> = (0..50_000_u32).flat_map(u32::to_be_bytes).collect();
        let began = Instant::now();
        thread::scope(|scope| {
            let both = [(); 2].map(|()| scope.spawn(|| say(listen, &text)));
            for one in both {
                assert!(one.join().unwrap() == text);
            }
        });
        // Twice 200 kB there, and as much back, which begins when all of one is there: never sooner than what the line takes for
        // the way back of both, and the way there of one.
        assert!(began.elapsed() >= Duration::from_millis(290), "{:?}", began.elapsed());
        relays.set_rate(0);
        assert_eq!(relays.shared.piece_bytes(), CHUNK_BYTES);
    }

    #[test]
    fn a_server_that_is_down_ends_the_connection_and_a_taken_port_is_told() {
        let free = TcpListener::bind("127.77.200.102:0").unwrap().local_addr().unwrap();
        let relays = Relays::new(|ip| ip);
        let listen = relays.add(Route { listen: "127.77.200.1:0".parse().unwrap(), target: free }).unwrap();
        let mut end = Vec::new();
        let _ = TcpStream::connect(listen).unwrap().read_to_end(&mut end);
        assert!(end.is_empty());
        let error = relays.add(Route { listen, target: free }).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    }
}
