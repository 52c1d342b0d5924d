//! One thread with many connections: an edge-triggered epoll loop in which each connection has at most one statement
//! outstanding, and one write and one read are one statement.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use net::Session;
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use wire::answers::Rows;
use wire::prepared::Cell;
use wire::{Answer, AnswerReader};

use super::measure::{Tally, ThreadCpu, ns};
use super::workload::{Action, Event, Script, Slot};

/// A range of a hundred rows has 13 KiB.
const READ_BYTES: usize = 64 * 1024;
const EVENTS: usize = 256;
/// Statements under way at the end may take so long.
const GRACE: Duration = Duration::from_secs(5);
/// More cannot be served any more; their memory is for something else.
const LATE_MAX: usize = 1_000_000;
const TIMER: u64 = u64::MAX;
/// Deadlock, lock wait timeout, record changed: sysbench's default for `--mysql-ignore-errors`. The event begins again.
pub const RETRIED: [u16; 3] = [1213, 1205, 1020];

/// A connection, and where its event is.
pub struct Lane {
    session: Session,
    reader: AnswerReader,
    slots: Vec<Slot>,
    out: Vec<u8>,
    written: usize,
    event: Event,
    action: usize,
    /// The statement under way, of the prepared ones.
    statement: usize,
    /// Since when the event is late or under way, and the statement.
    event_since: Instant,
    query_since: Instant,
    is_alive: bool,
    waits_for_room: bool,
}

impl Lane {
    pub fn new(session: Session, slots: Vec<Slot>) -> Self {
        let now = Instant::now();
        Self {
            reader: session.answers(),
            session,
            slots,
            out: Vec::new(),
            written: 0,
            event: Event::default(),
            action: 0,
            statement: 0,
            event_since: now,
            query_since: now,
            is_alive: true,
            waits_for_room: false,
        }
    }

    /// Says goodbye, as far as it goes without waiting.
    pub fn quit(&mut self) {
        if self.is_alive && !self.reader.is_busy() {
            let _ = self.session.write(&[1, 0, 0, 0, wire::command::COM_QUIT]);
        }
    }
}

/// When everything is.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    pub measure_at: Instant,
    /// `None`: until the events are used up.
    pub end_at: Option<Instant>,
}

/// What all workers share.
pub struct Common<'c> {
    pub script: &'c Script,
    /// Of each statement's rows.
    pub cells: &'c [Vec<Cell>],
    pub times: Times,
    pub stop: &'c AtomicBool,
    /// Somebody met an error that ends it all.
    pub failed: &'c AtomicBool,
    /// Events that may still be begun; `None` is without end.
    pub events_left: Option<&'c AtomicI64>,
    /// Of one worker.
    pub rate_per_s: Option<f64>,
    pub events: &'c AtomicU64,
    pub queries: &'c AtomicU64,
    pub errors: &'c AtomicU64,
    pub event_ns: &'c AtomicU64,
}

/// What others were not told of yet.
#[derive(Debug, Clone, Copy, Default)]
struct Untold {
    queries: u64,
    events: u64,
    event_ns: u64,
}

/// Events that come whether or not somebody is there for them.
struct Arrivals {
    next: Instant,
    mean: Duration,
    /// Came, and no connection was free.
    late: VecDeque<Instant>,
    timer: TimerFd,
}

pub struct Worker<'c> {
    common: &'c Common<'c>,
    lanes: Vec<Lane>,
    epoll: Epoll,
    random: fastrand::Rng,
    tally: Tally,
    cpu: Option<ThreadCpu>,
    /// Of all connections, when the measurement began.
    traffic: net::Traffic,
    arrivals: Option<Arrivals>,
    idle: Vec<usize>,
    now: Instant,
    is_measuring: bool,
    is_ending: bool,
    ending_since: Option<Instant>,
    busy: usize,
    untold: Untold,
    buffer: Vec<u8>,
}

impl<'c> Worker<'c> {
    pub fn new(common: &'c Common<'c>, lanes: Vec<Lane>, seed: u64) -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        for (at, lane) in lanes.iter().enumerate() {
            let flags = EpollFlags::EPOLLIN | EpollFlags::EPOLLET | EpollFlags::EPOLLRDHUP;
            epoll.add(lane.session.as_fd(), EpollEvent::new(flags, at as u64))?;
        }
        let arrivals = match common.rate_per_s {
            Some(rate) if rate > 0.0 => {
                let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK)?;
                epoll.add(timer.as_fd(), EpollEvent::new(EpollFlags::EPOLLIN, TIMER))?;
                let mean = Duration::from_secs_f64(1.0 / rate);
                Some(Arrivals { next: Instant::now(), mean, late: VecDeque::new(), timer })
            }
            _ => None,
        };
        Ok(Self {
            common,
            idle: (0..lanes.len()).rev().collect(),
            lanes,
            epoll,
            random: fastrand::Rng::with_seed(seed),
            tally: Tally::default(),
            cpu: None,
            traffic: net::Traffic::default(),
            arrivals,
            now: Instant::now(),
            is_measuring: false,
            is_ending: false,
            ending_since: None,
            busy: 0,
            untold: Untold::default(),
            buffer: vec![0; READ_BYTES],
        })
    }

    /// Until the end; what was counted, and whether all statements had their answer.
    pub fn run(mut self) -> io::Result<(Tally, bool)> {
        let mut events = [EpollEvent::empty(); EVENTS];
        loop {
            self.now = Instant::now();
            self.boundaries();
            self.begin_events()?;
            if self.is_ending && (self.busy == 0 || self.is_overdue()) {
                break;
            }
            if self.busy == 0 && self.idle.is_empty() {
                break; // All are lost.
            }
            let count = match self.epoll.wait(&mut events, self.timeout()) {
                Ok(count) => count,
                Err(Errno::EINTR) => continue,
                Err(errno) => return Err(errno.into()),
            };
            for event in events.iter().take(count) {
                match usize::try_from(event.data()) {
                    Ok(at) if event.data() != TIMER => self.turn(at),
                    _ => {
                        if let Some(arrivals) = &self.arrivals {
                            let _ = arrivals.timer.wait();
                        }
                    }
                }
            }
            let Untold { queries, events, event_ns } = std::mem::take(&mut self.untold);
            self.common.queries.fetch_add(queries, Ordering::Relaxed);
            self.common.events.fetch_add(events, Ordering::Relaxed);
            self.common.event_ns.fetch_add(event_ns, Ordering::Relaxed);
        }
        if let Some(arrivals) = &self.arrivals {
            self.tally.late_at_end = arrivals.late.len() as u64;
        }
        self.end_measuring();
        for lane in &mut self.lanes {
            lane.quit();
        }
        Ok((self.tally, self.busy == 0))
    }

    fn boundaries(&mut self) {
        let times = self.common.times;
        if !self.is_measuring && self.now >= times.measure_at && !self.is_ending {
            // What ended a connection before counts all the same.
            let warm_up = std::mem::take(&mut self.tally);
            self.tally.errors = warm_up.errors;
            (self.tally.lost, self.tally.lost_why) = (warm_up.lost, warm_up.lost_why);
            self.is_measuring = true;
            self.traffic = self.traffic_so_far();
            self.cpu = Some(ThreadCpu::now());
        }
        let is_cut = times.end_at.is_some_and(|end| self.now >= end)
            || self.common.stop.load(Ordering::Relaxed)
            || self.common.failed.load(Ordering::Relaxed);
        let is_done = self.common.events_left.is_some_and(|left| left.load(Ordering::Relaxed) <= 0);
        if is_cut || is_done {
            self.is_ending = true;
            self.ending_since.get_or_insert(self.now);
            if times.end_at.is_some() && is_cut {
                self.end_measuring();
            }
        }
    }

    /// Where a count of events ends it, the last of them count too.
    fn end_measuring(&mut self) {
        self.is_measuring = false;
        if let Some(cpu) = self.cpu.take() {
            cpu.add_to(&mut self.tally);
            let (before, now) = (self.traffic, self.traffic_so_far());
            self.tally.traffic(net::Traffic {
                sent_bytes: now.sent_bytes - before.sent_bytes,
                received_bytes: now.received_bytes - before.received_bytes,
            });
        }
    }

    fn traffic_so_far(&self) -> net::Traffic {
        self.lanes.iter().map(|lane| lane.session.traffic()).fold(net::Traffic::default(), |sum, one| {
            net::Traffic {
                sent_bytes: sum.sent_bytes + one.sent_bytes,
                received_bytes: sum.received_bytes + one.received_bytes,
            }
        })
    }

    /// Whoever was asked to end waits no longer than that for an answer, whatever was planned.
    fn is_overdue(&self) -> bool {
        // The last of a number of events may take as long as it takes, unless somebody wants the end.
        let is_asked = self.common.times.end_at.is_some()
            || self.common.stop.load(Ordering::Relaxed)
            || self.common.failed.load(Ordering::Relaxed);
        is_asked && self.ending_since.is_some_and(|since| self.now >= since + GRACE)
    }

    fn timeout(&self) -> EpollTimeout {
        // Signs from others (stop, failed, the last event) are looked at so often.
        let mut wait = Duration::from_millis(100);
        let times = self.common.times;
        for at in [Some(times.measure_at), times.end_at].into_iter().flatten() {
            let left = at.saturating_duration_since(self.now);
            if !left.is_zero() {
                wait = wait.min(left);
            }
        }
        let ms = wait.as_micros().div_ceil(1000);
        EpollTimeout::try_from(ms).unwrap_or(EpollTimeout::ZERO)
    }

    /// Gives idle connections something to do.
    fn begin_events(&mut self) -> io::Result<()> {
        if self.is_ending {
            return Ok(());
        }
        if let Some(arrivals) = &mut self.arrivals {
            while arrivals.next <= self.now {
                if arrivals.late.len() < LATE_MAX {
                    arrivals.late.push_back(arrivals.next);
                } else {
                    self.tally.turned_away += 1;
                }
                // As if each of very many users came by chance.
                let gap = arrivals.mean.mul_f64(-(1.0 - self.random.f64()).ln());
                arrivals.next += gap;
            }
        }
        while let Some(at) = self.idle.pop() {
            let since = match &mut self.arrivals {
                None => self.now,
                Some(arrivals) => {
                    let Some(since) = arrivals.late.pop_front() else {
                        self.idle.push(at);
                        break;
                    };
                    since
                }
            };
            if !self.take_event() {
                self.idle.push(at);
                break;
            }
            self.busy += 1;
            self.begin_event(at, since);
            self.say(at);
        }
        if let Some(arrivals) = &self.arrivals
            && !self.idle.is_empty()
        {
            let wait = arrivals.next.saturating_duration_since(Instant::now()).max(Duration::from_nanos(1));
            let at = Expiration::OneShot(TimeSpec::from_duration(wait));
            arrivals.timer.set(at, TimerSetTimeFlags::empty())?;
        }
        Ok(())
    }

    fn take_event(&mut self) -> bool {
        match self.common.events_left {
            None => true,
            Some(left) => left.fetch_sub(1, Ordering::Relaxed) > 0,
        }
    }

    fn begin_event(&mut self, at: usize, since: Instant) {
        if let Some(lane) = self.lanes.get_mut(at) {
            lane.event = Event::default();
            lane.action = 0;
            lane.event_since = since;
        }
    }

    /// Sends the statement whose turn it is.
    fn say(&mut self, at: usize) {
        let script = self.common.script;
        let Some(lane) = self.lanes.get_mut(at) else { return };
        let Some(action) = script.actions.get(lane.action).copied() else { return };
        lane.out.clear();
        lane.written = 0;
        match script.write(action, &mut lane.event, &mut self.random, &mut lane.slots, &mut lane.out) {
            Ok(number) => lane.statement = number,
            Err(error) => return self.lose(at, &error),
        }
        lane.reader.begin();
        lane.query_since = self.now;
        self.push(at);
    }

    fn push(&mut self, at: usize) {
        let Some(lane) = self.lanes.get_mut(at) else { return };
        loop {
            let rest = lane.out.get(lane.written..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            match lane.session.write(rest) {
                Ok(count) => lane.written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if !std::mem::replace(&mut lane.waits_for_room, true) {
                        // From here on also told when there is room; once is enough for all statements.
                        let flags = EpollFlags::EPOLLIN
                            | EpollFlags::EPOLLOUT
                            | EpollFlags::EPOLLET
                            | EpollFlags::EPOLLRDHUP;
                        let mut event = EpollEvent::new(flags, at as u64);
                        if let Err(errno) = self.epoll.modify(lane.session.as_fd(), &mut event) {
                            return self.lose(at, &errno);
                        }
                    }
                    return;
                }
                Err(error) => return self.lose(at, &error),
            }
        }
    }

    /// Something happened on a connection.
    fn turn(&mut self, at: usize) {
        let Some(lane) = self.lanes.get_mut(at) else { return };
        if !lane.is_alive {
            return;
        }
        if lane.written < lane.out.len() {
            self.push(at);
        }
        loop {
            let Some(lane) = self.lanes.get_mut(at) else { return };
            if !lane.is_alive {
                return;
            }
            let count = match lane.session.read(&mut self.buffer) {
                Ok(0) => return self.lose(at, &"the server closed the connection"),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return self.lose(at, &error),
            };
            let action = self.common.script.actions.get(lane.action).copied();
            let rows = match action {
                Some(action) if action.is_prepared() => {
                    Rows::Binary(self.common.cells.get(lane.statement).map_or(&[], Vec::as_slice))
                }
                _ => Rows::Text,
            };
            let came = self.buffer.get(..count).unwrap_or_default();
            match lane.reader.feed(came, rows) {
                Ok(None) => {}
                Ok(Some(answer)) => {
                    if let Some(action) = action {
                        self.answered(at, action, &answer);
                    }
                    // One statement at a time: nothing more can have come, and TLS holds nothing back.
                    return;
                }
                Err(error) => return self.lose(at, &error),
            }
        }
    }

    fn answered(&mut self, at: usize, action: Action, answer: &Answer) {
        self.now = Instant::now();
        let Some(lane) = self.lanes.get_mut(at) else { return };
        if let Some(error) = &answer.error {
            self.tally.error(error.code, &error.message);
            self.common.errors.fetch_add(1, Ordering::Relaxed);
            if RETRIED.contains(&error.code) {
                self.tally.retries += u64::from(self.is_measuring);
                // Of the same moment: what the error cost is part of the event's latency.
                let since = lane.event_since;
                self.begin_event(at, since);
                return self.say(at);
            }
            self.common.failed.store(true, Ordering::Relaxed);
            return self.rest(at);
        }
        if self.is_measuring {
            let kind = self.common.script.kind(action, lane.statement);
            self.tally.query(kind, answer, self.now.saturating_duration_since(lane.query_since));
        }
        self.untold.queries += 1;
        lane.action += 1;
        if lane.action < self.common.script.actions.len() {
            return self.say(at);
        }
        let took = self.now.saturating_duration_since(lane.event_since);
        if self.is_measuring {
            self.tally.event(took);
        }
        self.untold.events += 1;
        self.untold.event_ns += ns(took);
        let is_over = self.is_ending || self.common.times.end_at.is_some_and(|end| self.now >= end);
        if !is_over && self.arrivals.is_none() && self.take_event() {
            self.begin_event(at, self.now);
            return self.say(at);
        }
        self.rest(at);
    }

    fn rest(&mut self, at: usize) {
        self.busy = self.busy.saturating_sub(1);
        self.idle.push(at);
    }

    fn lose(&mut self, at: usize, why: &dyn ToString) {
        let Some(lane) = self.lanes.get_mut(at) else { return };
        if std::mem::replace(&mut lane.is_alive, false) {
            let was_busy = !self.idle.contains(&at);
            let _ = self.epoll.delete(lane.session.as_fd());
            self.tally.lost(why);
            self.common.errors.fetch_add(1, Ordering::Relaxed);
            if was_busy {
                self.busy = self.busy.saturating_sub(1);
            } else {
                self.idle.retain(|idle| *idle != at);
            }
        }
    }
}
