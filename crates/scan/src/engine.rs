//! Sockets, deadlines and many targets at once, on one thread: an epoll loop that hands replies to interrogations.
//!
//! A target has one connection at a time, so that the load on a server is bounded; how many targets are asked at once is
//! bounded too. Results come as they are complete; every target that goes in comes out, also the dead ones.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::future::Future;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::socket::{self, AddressFamily, SockFlag, SockType, SockaddrStorage, sockopt};

use wire::proxy_protocol::{Proxied, write_v1, write_v2};

use crate::conversation::Conversation;
use crate::facts::Facts;
use crate::interrogation::{Ask, Depth, Line, interrogate};
use crate::intrude::Intrusive;
use crate::question::Keys;
use crate::reply::{Fault, Reply, Spoke};
use crate::target::{ProxyVersion, Target};

/// What is read at once.
const READ_BYTES: usize = 16 * 1024;
/// So many times as long as others is waited for a port that is open and silent: its greeting may only be slow. By default 15 s:
/// MySQL and MariaDB end a login after 10 s (connect_timeout), and most resolvers give up within 10 s.
const PATIENCE: u64 = 3;
const EVENTS_MAX: usize = 512;
/// How long to sleep when nothing is due, and when a target may come soon.
const IDLE: Duration = Duration::from_millis(250);
const LATER: Duration = Duration::from_millis(5);
/// How long to wait for a file descriptor of our own, and how long between two tries.
const LACK: Duration = Duration::from_secs(30);
const LACK_PAUSE: Duration = Duration::from_millis(20);

/// What a run may cost others, and us.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub targets_at_once: usize,
    /// From connecting to the end of one connection.
    pub connection_ms: u64,
    /// A server that says nothing for so long waits for us. Galera's own dynamic ports wait 500 ms for a peer.
    pub silence_ms: u64,
    /// New connections a second over all targets; `None` is no limit.
    pub connections_per_s: Option<u32>,
    /// What may be asked although it can harm an old server.
    pub intrusive: Intrusive,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            targets_at_once: 256,
            connection_ms: 5_000,
            silence_ms: 800,
            connections_per_s: None,
            intrusive: Intrusive::default(),
        }
    }
}

/// How one target is asked.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    pub depth: Depth,
    /// As in [`Limits`].
    pub connection_ms: u64,
    /// As in [`Limits`].
    pub silence_ms: u64,
    /// As in [`Limits`].
    pub intrusive: Intrusive,
}

impl Limits {
    pub const fn manner(&self, depth: Depth) -> Manner {
        let Self { connection_ms, silence_ms, intrusive, .. } = *self;
        Manner { depth, connection_ms, silence_ms, intrusive }
    }
}

/// Whether there is another target.
#[derive(Debug)]
pub enum Next {
    Target(Target),
    /// One that is asked in another manner than the others.
    TargetIn(Target, Manner),
    /// Not yet: its name is still looked up.
    Later,
    End,
}

/// One target's result.
#[derive(Debug)]
pub struct Seen {
    pub target: Target,
    pub facts: Facts,
}

/// Why a target's facts are not whole where somebody ended the scan.
pub const ENDED: &str = "the rest: the scan was ended";

/// Who looks on while a scan runs.
pub trait Watch {
    /// A target is complete, or was cut off ([`ENDED`]). Says whether to go on.
    fn took(&mut self, seen: Seen) -> bool;

    /// A connection to this address was begun: its server counts it from now on.
    fn dialled(&mut self, _address: IpAddr) {}

    /// Asked several times a second. After a yes nobody is dialled any more, and all that was seen comes at once.
    fn is_to_end(&mut self) -> bool {
        false
    }
}

struct Only<'t>(&'t mut dyn FnMut(Seen) -> bool);

impl Watch for Only<'_> {
    fn took(&mut self, seen: Seen) -> bool {
        (self.0)(seen)
    }
}

/// Asks every target; `took` is called as each is complete, and says whether to go on.
///
/// # Errors
/// Only where this process can have no sockets or keys at all; what a target does is in its facts.
pub fn run(
    source: &mut dyn FnMut() -> Next,
    depth: Depth,
    limits: &Limits,
    took: &mut dyn FnMut(Seen) -> bool,
) -> io::Result<()> {
    run_watched(source, depth, limits, &mut Only(took))
}

/// As [`run`], with somebody who sees each connection and may end it at any time.
///
/// # Errors
/// As those of [`run`].
pub fn run_watched(
    source: &mut dyn FnMut() -> Next,
    depth: Depth,
    limits: &Limits,
    watch: &mut dyn Watch,
) -> io::Result<()> {
    let keys = Keys::generate().map_err(io::Error::other)?;
    let mut engine = Engine {
        keys: &keys,
        epoll: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?,
        limits: *limits,
        jobs: Vec::new(),
        free: Vec::new(),
        deadlines: BinaryHeap::new(),
        waiting: BTreeSet::new(),
        next_slot_at: Instant::now(),
        paused_until: Instant::now(),
        running: 0,
        is_cut: false,
        dialled: Vec::new(),
        done: Vec::new(),
        buffer: Vec::new(),
    };
    let mut is_ending = false;
    let mut is_later = false;
    loop {
        if watch.is_to_end() {
            is_ending = true;
            engine.cut();
        }
        while !is_ending && engine.running < limits.targets_at_once.max(1) {
            match source() {
                Next::Target(target) => engine.begin(target, limits.manner(depth)),
                Next::TargetIn(target, manner) => engine.begin(target, manner),
                Next::Later => {
                    is_later = true;
                    break;
                }
                Next::End => is_ending = true,
            }
        }
        engine.dialled.drain(..).for_each(|address| watch.dialled(address));
        for seen in std::mem::take(&mut engine.done) {
            if !watch.took(seen) {
                return Ok(());
            }
        }
        if engine.running == 0 {
            if is_ending {
                return Ok(());
            }
            if std::mem::take(&mut is_later) {
                std::thread::sleep(LATER);
            }
            continue;
        }
        engine.turn(if std::mem::take(&mut is_later) { LATER } else { IDLE })?;
    }
}

struct Job {
    target: Target,
    began: Instant,
    line: Line,
    future: Pin<Box<dyn Future<Output = Facts>>>,
}

struct Link<'k> {
    stream: TcpStream,
    conversation: Conversation<'k>,
    is_connecting: bool,
    unsent: Vec<u8>,
    writes: bool,
    /// Closed in our direction.
    has_left: bool,
    deadline: Instant,
    /// How long it is from its beginning to the deadline.
    allowed_ms: u64,
    silence_at: Option<Instant>,
}

struct Place<'k> {
    job: Job,
    manner: Manner,
    link: Option<Link<'k>>,
    /// Wanted, and not dialled yet because of the rate.
    ask: Option<Ask>,
    /// Counts connections, so that a deadline of an earlier one is known as such.
    turn: u64,
    /// Connections that were begun.
    dialled: u32,
    /// Since when this process has no file descriptor for it.
    lacks_since: Option<Instant>,
}

struct Engine<'k> {
    keys: &'k Keys,
    epoll: Epoll,
    limits: Limits,
    jobs: Vec<Option<Place<'k>>>,
    free: Vec<usize>,
    deadlines: BinaryHeap<Reverse<(Instant, usize, u64)>>,
    /// Jobs that wait for the rate, in order.
    waiting: BTreeSet<usize>,
    next_slot_at: Instant,
    /// Nobody is dialled before: this process had no file descriptor left.
    paused_until: Instant,
    running: usize,
    /// The scan was ended: nobody is dialled any more.
    is_cut: bool,
    /// Connections begun since somebody last asked.
    dialled: Vec<IpAddr>,
    done: Vec<Seen>,
    buffer: Vec<u8>,
}

impl<'k> Engine<'k> {
    fn begin(&mut self, target: Target, manner: Manner) {
        let line = Line::default();
        let future = Box::pin(interrogate(line.clone(), target.clone(), manner.depth, manner.intrusive));
        let place = Place {
            job: Job { target, began: Instant::now(), line, future },
            manner,
            link: None,
            ask: None,
            turn: 0,
            dialled: 0,
            lacks_since: None,
        };
        let at = self.free.pop().unwrap_or(self.jobs.len());
        match self.jobs.get_mut(at) {
            Some(slot) => *slot = Some(place),
            None => self.jobs.push(Some(place)),
        }
        self.running += 1;
        self.poll(at);
    }

    fn place(&mut self, at: usize) -> Option<&mut Place<'k>> {
        self.jobs.get_mut(at)?.as_mut()
    }

    /// Lets the interrogation go on: it is over, or wants another connection.
    fn poll(&mut self, at: usize) {
        let Some(Some(place)) = self.jobs.get_mut(at) else { return };
        match place.job.future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(mut facts) => {
                let elapsed = place.job.began.elapsed();
                if let Some(Some(place)) = self.jobs.get_mut(at).map(Option::take) {
                    if self.is_cut {
                        facts.not_seen.push(ENDED.into());
                    }
                    // Not what was wished for: some of that may never have been dialled.
                    facts.connections = place.dialled;
                    facts.elapsed_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
                    self.done.push(Seen { target: place.job.target, facts });
                    self.free.push(at);
                    self.running -= 1;
                }
            }
            Poll::Pending => {
                place.ask = place.job.line.wanted();
                self.waiting.insert(at);
                self.dial_waiting();
            }
        }
    }

    /// Ends all connections and answers no more questions, so that each interrogation comes to its end with what it has.
    fn cut(&mut self) {
        if std::mem::replace(&mut self.is_cut, true) {
            return;
        }
        self.waiting.clear();
        for at in 0..self.jobs.len() {
            while self.place(at).is_some() {
                self.hang_up(at, Some(Fault::Unreachable { why: "the scan was ended".into() }));
            }
        }
        self.waiting.clear();
    }

    /// Dials for those whose turn it is.
    fn dial_waiting(&mut self) {
        while let Some(&at) = self.waiting.first() {
            let now = Instant::now();
            if self.is_cut || now < self.paused_until {
                return;
            }
            if let Some(rate) = self.limits.connections_per_s {
                if now < self.next_slot_at {
                    return;
                }
                let gap = Duration::from_secs(1) / rate.max(1);
                self.next_slot_at = self.next_slot_at.max(now) + gap;
            }
            self.waiting.remove(&at);
            self.dial(at);
        }
    }

    fn dial(&mut self, at: usize) {
        let keys = self.keys;
        let Some(Some(place)) = self.jobs.get_mut(at) else { return };
        let Some(ask) = place.ask.take() else { return };
        let mut random = [0; 32];
        if openssl::rand::rand_bytes(&mut random).is_err() {
            return self.hang_up(at, Some(Fault::Unreachable { why: "no random bytes".into() }));
        }
        let now = Instant::now();
        let opened = open(place.job.target.address);
        if let Err(error) = &opened
            && is_our_lack(error)
        {
            let since = *place.lacks_since.get_or_insert(now);
            if now.duration_since(since) > LACK {
                return self.hang_up(at, Some(fault(error)));
            }
            // That says nothing about the server: others will give theirs back.
            place.ask = Some(ask);
            self.waiting.insert(at);
            self.paused_until = now + LACK_PAUSE;
            return;
        }
        place.lacks_since = None;
        place.dialled += 1;
        self.dialled.push(place.job.target.address.ip());
        let (stream, is_connecting) = match opened {
            Ok(opened) => opened,
            Err(error) => return self.hang_up(at, Some(fault(&error))),
        };
        let times = if ask.is_patient { PATIENCE } else { 1 };
        let allowed_ms = place.manner.connection_ms.saturating_mul(times);
        let deadline = now + Duration::from_millis(allowed_ms);
        let conversation = Conversation::new(keys, ask.opening, Some(ask.question), random);
        let unsent = place.job.target.proxy.map_or_else(Vec::new, |version| {
            proxy_header(version, stream.local_addr().ok(), place.job.target.address)
        });
        place.turn += 1;
        let event = EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT, at as u64);
        if let Err(errno) = self.epoll.add(&stream, event) {
            return self.hang_up(at, Some(Fault::Unreachable { why: errno.to_string() }));
        }
        place.link = Some(Link {
            stream,
            conversation,
            is_connecting,
            unsent,
            writes: true,
            has_left: false,
            deadline,
            allowed_ms,
            silence_at: None,
        });
        self.deadlines.push(Reverse((deadline, at, place.turn)));
    }

    /// Ends the connection of `at` and hands its reply to the interrogation.
    fn hang_up(&mut self, at: usize, fault: Option<Fault>) {
        let Some(Some(place)) = self.jobs.get_mut(at) else { return };
        let reply = match place.link.take() {
            Some(mut link) => {
                let _ = self.epoll.delete(&link.stream);
                if let Some(fault) = fault {
                    link.conversation.fail(fault);
                }
                link.conversation.into_reply()
            }
            None => Reply { spoke: Spoke::Nothing, answer: None, fault, is_mute: true },
        };
        place.job.line.answer(reply);
        self.poll(at);
    }

    /// One look at all sockets and clocks.
    fn turn(&mut self, at_most: Duration) -> io::Result<()> {
        self.dial_waiting();
        if !self.done.is_empty() {
            return Ok(());
        }
        let now = Instant::now();
        let mut wait = self
            .deadlines
            .peek()
            .map_or(at_most, |Reverse((at, ..))| at.saturating_duration_since(now).min(at_most));
        if !self.waiting.is_empty() {
            let next_at = self.next_slot_at.max(self.paused_until);
            wait = wait.min(next_at.saturating_duration_since(now));
        }
        // Rounded up: a loop that wakes a moment too early would spin.
        let wait_ms = u16::try_from(wait.as_millis().saturating_add(1)).unwrap_or(u16::MAX);
        let mut events = [EpollEvent::empty(); EVENTS_MAX];
        let count = match self.epoll.wait(&mut events, EpollTimeout::from(wait_ms)) {
            Ok(count) => count,
            Err(Errno::EINTR) => 0,
            Err(errno) => return Err(errno.into()),
        };
        for event in events.iter().take(count) {
            let at = usize::try_from(event.data()).unwrap_or(usize::MAX);
            self.ready(at, event.events());
        }
        self.late();
        Ok(())
    }

    fn late(&mut self) {
        let now = Instant::now();
        while let Some(&Reverse((when, at, turn))) = self.deadlines.peek() {
            if when > now {
                return;
            }
            self.deadlines.pop();
            let Some(place) = self.place(at) else { continue };
            if place.turn != turn {
                continue;
            }
            let Some(link) = &mut place.link else { continue };
            if link.deadline <= now {
                let ms = link.allowed_ms;
                let fault =
                    if link.is_connecting { Fault::NotConnected { ms } } else { Fault::Silent { ms } };
                self.hang_up(at, Some(fault));
            } else if link.silence_at.is_some_and(|silence_at| silence_at <= now) {
                link.silence_at = None;
                link.conversation.nothing_came();
                self.talk(at, false);
            }
        }
    }

    fn ready(&mut self, at: usize, flags: EpollFlags) {
        let Some(place) = self.place(at) else { return };
        let (turn, silence_ms) = (place.turn, place.manner.silence_ms);
        let Some(link) = &mut place.link else { return };
        if link.is_connecting {
            match link.stream.take_error() {
                Ok(None) if flags.intersects(EpollFlags::EPOLLOUT) => link.is_connecting = false,
                Ok(None) => return,
                Ok(Some(error)) | Err(error) => return self.hang_up(at, Some(fault(&error))),
            }
        }
        if link.conversation.waits_for_first_words() && link.silence_at.is_none() {
            let silence_at = Instant::now() + Duration::from_millis(silence_ms);
            link.silence_at = Some(silence_at);
            self.deadlines.push(Reverse((silence_at, at, turn)));
        }
        let reads = flags.intersects(
            EpollFlags::EPOLLIN | EpollFlags::EPOLLHUP | EpollFlags::EPOLLERR | EpollFlags::EPOLLRDHUP,
        );
        self.talk(at, reads);
    }

    /// Reads what is there, sends what is to be sent, and hangs up when all is said.
    fn talk(&mut self, at: usize, reads: bool) {
        // One for all connections, instead of 16 KiB of zeros for each word of each server.
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.resize(READ_BYTES, 0);
        self.talk_by(at, reads, &mut buffer);
        self.buffer = buffer;
    }

    fn talk_by(&mut self, at: usize, reads: bool, buffer: &mut [u8]) {
        loop {
            let Some(place) = self.place(at) else { return };
            let Some(link) = &mut place.link else { return };
            link.unsent.extend(link.conversation.output());
            while !link.unsent.is_empty() {
                match (&link.stream).write(&link.unsent) {
                    Ok(0) => break,
                    Ok(sent) => {
                        link.unsent.drain(..sent);
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    // What the server said before it closed still waits to be read.
                    Err(_) => link.unsent.clear(),
                }
            }
            if link.conversation.is_over() {
                return self.hang_up(at, None);
            }
            if link.unsent.is_empty() && link.conversation.has_left() && !link.has_left {
                link.has_left = true;
                // Where that fails the connection is gone, and reading says so.
                let _ = link.stream.shutdown(Shutdown::Write);
            }
            let mut came = false;
            if reads {
                match (&link.stream).read(buffer) {
                    Ok(0) => {
                        link.conversation.closed();
                        return self.hang_up(at, None);
                    }
                    Ok(count) => {
                        link.conversation.input(buffer.get(..count).unwrap_or_default());
                        came = true;
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Err(error) if error.kind() == ErrorKind::Interrupted => came = true,
                    Err(error) => {
                        let gone = error.kind() == ErrorKind::ConnectionReset;
                        if gone {
                            link.conversation.closed();
                        }
                        return self.hang_up(at, Some(fault(&error)));
                    }
                }
            }
            if !came {
                let writes = !link.unsent.is_empty();
                if writes != link.writes {
                    link.writes = writes;
                    let flags =
                        if writes { EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT } else { EpollFlags::EPOLLIN };
                    let mut event = EpollEvent::new(flags, at as u64);
                    let Some(Some(place)) = self.jobs.get_mut(at) else { return };
                    if let Some(link) = &place.link {
                        let _ = self.epoll.modify(&link.stream, &mut event);
                    }
                }
                return;
            }
        }
    }
}

/// What a balancer would say of us. Where our address is not known yet, the connection is the balancer's own.
fn proxy_header(version: ProxyVersion, source: Option<SocketAddr>, destination: SocketAddr) -> Vec<u8> {
    let proxied = match source {
        Some(source) => Proxied::Tcp { source, destination },
        None => Proxied::Local,
    };
    let mut out = Vec::new();
    match version {
        ProxyVersion::V1 => write_v1(&mut out, &proxied),
        ProxyVersion::V2 => write_v2(&mut out, &proxied),
    }
    out
}

/// Begins to connect; `true` when it is not connected yet.
fn open(address: SocketAddr) -> io::Result<(TcpStream, bool)> {
    let family = if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let fd =
        socket::socket(family, SockType::Stream, SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK, None)?;
    socket::setsockopt(&fd, sockopt::TcpNoDelay, &true)?;
    let is_connecting = match socket::connect(fd.as_raw_fd(), &SockaddrStorage::from(address)) {
        Ok(()) => false,
        Err(Errno::EINPROGRESS) => true,
        Err(errno) => return Err(errno.into()),
    };
    Ok((TcpStream::from(fd), is_connecting))
}

/// Nothing was sent: this process, or its machine, has no room for another socket.
fn is_our_lack(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw);
    matches!(errno, Some(Errno::EMFILE | Errno::ENFILE | Errno::ENOBUFS | Errno::ENOMEM))
}

fn fault(error: &io::Error) -> Fault {
    match error.kind() {
        ErrorKind::ConnectionRefused => Fault::ConnectionRefused,
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
            Fault::Broken { why: "reset by the peer".into() }
        }
        _ => Fault::Unreachable { why: error.to_string() },
    }
}
