//! One thread with many connections: an edge-triggered epoll loop in which each connection has at most one statement
//! outstanding. A statement is one write, of itself or together with those of other connections, and one read.

use std::borrow::Cow;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use net::Session;
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use slab::Slab;
use wire::answers::Rows;
use wire::prepared::Cell;
use wire::{Answer, AnswerReader, ErrPacket};

use super::arrivals::Arrivals;
use super::batch_sender::{self, BatchSender, SHORT_BYTES, TOGETHER};
use super::clock::{Moment, Ticker, now};
use super::handover::Handover;
use super::measure::{Cpu, Tally};
use super::workload::{Action, Bulk, Event, Script, Slot};

/// A range of a hundred rows has 13 KiB.
const READ_BYTES: usize = 64 * 1024;
const EVENTS: usize = 256;
/// Statements under way at the end may take so long.
const GRACE_NS: u64 = 5_000_000_000;
/// Signs from others (stop, failed, the last event) are looked at so often.
const LOOK_AT_MOST_NS: u64 = 100_000_000;
const TIMER: u64 = u64::MAX;
const BELL: u64 = u64::MAX - 1;
/// On which processor a connection's answers arrive is asked so often: a system call for as many statements.
const STATEMENTS_A_LOOK: u32 = 64;
/// Answers that were there at one moment have it in common, so many of them (one of many bytes stands for several): what is behind
/// them has waited for them, and the clock is asked again.
const ANSWERS_A_MOMENT: u64 = 4;
const BYTES_AN_ANSWER: u64 = 4096;
/// No statement waits for more others to be written, nor for a long one to be sent: the server has nothing to do meanwhile.
const SENT_TOGETHER: usize = TOGETHER;
const LONG_BYTES: usize = 16 * 1024;
/// Others are told so often what was done: to write where they read costs both.
const TELL_EVERY_NS: u64 = 1_000_000;
const AWAITED: EventFlags = EventFlags::IN.union(EventFlags::ET).union(EventFlags::RDHUP);
/// Deadlock, lock wait timeout, record changed: sysbench's default for `--mysql-ignore-errors`. The event begins again.
pub const RETRIED: [u16; 3] = [1213, 1205, 1020];

/// Accounts, schemas, tables, columns and routines that are missing or refused: what they quote is a name.
const NAMES_OBJECTS: [u16; 9] = [1044, 1045, 1049, 1051, 1054, 1142, 1143, 1146, 1305];

/// Of somebody's own statements, what an error quotes may be a part of theirs, and a password: it is quoted in every language, and
/// quotes may be in it.
fn shown(code: u16, message: &str, hides_statements: bool) -> Cow<'_, str> {
    match message.split_once('\'') {
        Some((before, _)) if hides_statements && !NAMES_OBJECTS.contains(&code) => {
            Cow::Owned(format!("{before}'…' (the quoted text is not shown)"))
        }
        _ => Cow::Borrowed(message),
    }
}

/// With the number of somebody's own statement.
fn worded(error: &ErrPacket, statement: usize, hides_statements: bool) -> String {
    let text = shown(error.code, &error.message, hides_statements);
    if hides_statements { format!("statement {}: {text}", statement + 1) } else { text.into_owned() }
}

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
    event_since: Moment,
    query_since: Moment,
    is_alive: bool,
    waits_for_room: bool,
    /// Since somebody looked where its answers arrive.
    statements: u32,
    /// What is not counted of what it has sent and received.
    uncounted: net::Traffic,
}

impl Lane {
    pub fn new(session: Session, slots: Vec<Slot>, bulk: Bulk) -> Self {
        let now = now();
        Self {
            reader: session.answers(),
            session,
            slots,
            out: Vec::new(),
            written: 0,
            event: Event::first(bulk),
            action: 0,
            statement: 0,
            event_since: now,
            query_since: now,
            is_alive: true,
            waits_for_room: false,
            statements: 0,
            uncounted: net::Traffic::default(),
        }
    }

    /// Since its bytes count.
    fn traffic(&self) -> net::Traffic {
        let now = self.session.traffic();
        net::Traffic {
            sent_bytes: now.sent_bytes - self.uncounted.sent_bytes,
            received_bytes: now.received_bytes - self.uncounted.received_bytes,
            round_trips: now.round_trips - self.uncounted.round_trips,
        }
    }

    fn awaited(&self) -> EventFlags {
        if self.waits_for_room { AWAITED | EventFlags::OUT } else { AWAITED }
    }

    /// Says goodbye, as far as it goes without waiting.
    pub fn quit(&mut self) {
        if self.is_alive && !self.reader.is_busy() {
            let _ = self.session.write(&[1, 0, 0, 0, wire::command::COM_QUIT]);
        }
    }
}

impl AsFd for Lane {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.session.as_fd()
    }
}

/// When everything is. Where the warm-up ends by what is seen, nobody knows at first: then it is never.
#[derive(Debug)]
pub struct Times {
    measure_at: AtomicU64,
    /// Never: until the events are used up.
    end_at: AtomicU64,
}

impl Times {
    pub const NEVER: Moment = Moment::MAX;

    pub fn new(measure_at: Moment, end_at: Moment) -> Self {
        Self { measure_at: measure_at.into(), end_at: end_at.into() }
    }

    pub fn set(&self, measure_at: Moment, end_at: Moment) {
        self.end_at.store(end_at, Ordering::Relaxed);
        // Whoever sees this one sees the other.
        self.measure_at.store(measure_at, Ordering::Release);
    }

    /// From when to when.
    fn read(&self) -> (Moment, Moment) {
        let measure_at = self.measure_at.load(Ordering::Acquire);
        (measure_at, self.end_at.load(Ordering::Relaxed))
    }
}

/// What all workers share.
pub struct Common<'c> {
    pub script: &'c Script,
    /// Of each statement's rows.
    pub cells: &'c [Vec<Cell>],
    pub times: &'c Times,
    pub stop: &'c AtomicBool,
    /// Somebody met an error that ends it all.
    pub failed: &'c AtomicBool,
    /// Events that may still be begun; `None` is without end.
    pub events_left: Option<&'c AtomicI64>,
    /// `None`: each connection begins the next event when it has ended one.
    pub arrivals: Option<&'c Arrivals>,
    /// Where workers keep a processor each.
    pub handover: Option<&'c Handover<Lane>>,
    /// Texts of errors may hold a part of a statement, and the statement a password.
    pub hides_statements: bool,
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

/// What a worker has done.
pub struct Done {
    pub tally: Tally,
    /// All statements had their answer.
    pub is_whole: bool,
    /// When what it counts ended.
    pub ended: Moment,
}

pub struct Worker<'c> {
    common: &'c Common<'c>,
    /// Among the workers.
    number: usize,
    lanes: Slab<Lane>,
    epoll: OwnedFd,
    random: fastrand::Rng,
    tally: Tally,
    cpu: Option<Cpu>,
    /// Where events arrive: when the next does.
    timer: Option<TimerFd>,
    idle: Vec<usize>,
    measure_at: Moment,
    /// Never: the last moment there is.
    end_at: Moment,
    ticker: Ticker,
    now: Moment,
    /// Answers that may still have this moment.
    fresh: u64,
    is_measuring: bool,
    is_ending: bool,
    ending_since: Option<Moment>,
    /// When what it counts ended.
    ended: Option<Moment>,
    busy: usize,
    /// Connections whose statement is written, and not sent.
    outbox: Vec<usize>,
    /// `None` where statements go one by one.
    together: Option<Box<BatchSender>>,
    untold: Untold,
    told_at: Moment,
    buffer: Vec<u8>,
}

impl<'c> Worker<'c> {
    pub fn new(
        common: &'c Common<'c>,
        number: usize,
        lanes: Vec<Lane>,
        together: Option<BatchSender>,
        seed: u64,
    ) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        if let Some(bell) = common.handover.and_then(|handover| handover.bell(number)) {
            epoll::add(&epoll, bell, EventData::new_u64(BELL), EventFlags::IN)?;
        }
        let timer = if common.arrivals.is_some() {
            let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK)?;
            epoll::add(&epoll, timer.as_fd(), EventData::new_u64(TIMER), EventFlags::IN)?;
            Some(timer)
        } else {
            None
        };
        let (measure_at, end_at) = common.times.read();
        let mut ticker = Ticker::start();
        let mut worker = Self {
            common,
            number,
            idle: Vec::new(),
            lanes: Slab::new(),
            epoll,
            random: fastrand::Rng::with_seed(seed),
            tally: Tally::default(),
            cpu: None,
            timer,
            measure_at,
            end_at,
            now: ticker.now(),
            ticker,
            fresh: 0,
            is_measuring: false,
            is_ending: false,
            ending_since: None,
            ended: None,
            busy: 0,
            outbox: Vec::new(),
            together: together.map(Box::new),
            untold: Untold::default(),
            told_at: 0,
            buffer: vec![0; READ_BYTES],
        };
        for lane in lanes {
            worker.adopt(lane)?;
        }
        Ok(worker)
    }

    /// Until the end; what was counted, and whether all statements had their answer.
    pub fn run(mut self) -> io::Result<Done> {
        let nothing = epoll::Event { flags: EventFlags::empty(), data: EventData::new_u64(0) };
        let mut events = [nothing; EVENTS];
        self.look();
        loop {
            if self.common.arrivals.is_some() {
                self.look();
            }
            self.boundaries();
            self.begin_events()?;
            self.send();
            if self.is_ending && (self.busy == 0 || self.is_overdue()) {
                break;
            }
            if self.busy == 0 && self.idle.is_empty() {
                // All are lost, or elsewhere: unless others come.
                let came = self.common.handover.map(|handover| handover.take_or_leave(self.number));
                let came = came.unwrap_or_default();
                if came.is_empty() {
                    break;
                }
                for lane in came {
                    self.adopt(lane)?;
                }
                continue;
            }
            let count = match epoll::wait(&self.epoll, &mut events, Some(&self.timeout())) {
                Ok(count) => count,
                // It may have stood still for long.
                Err(Errno::INTR) => 0,
                Err(errno) => return Err(errno.into()),
            };
            self.look();
            for event in events.iter().take(count) {
                match event.data.u64() {
                    TIMER => {
                        if let Some(timer) = &self.timer {
                            let _ = timer.wait();
                        }
                    }
                    BELL => {
                        let came = self.common.handover.map(|handover| handover.take(self.number));
                        for lane in came.into_iter().flatten() {
                            self.adopt(lane)?;
                        }
                    }
                    at => self.turn(usize::try_from(at).unwrap_or(usize::MAX)),
                }
            }
            if self.now.saturating_sub(self.told_at) >= TELL_EVERY_NS {
                self.tell();
            }
        }
        self.tell();
        let last = self.common.handover.map(|handover| handover.leave(self.number));
        for lane in last.into_iter().flatten() {
            self.adopt(lane)?;
        }
        self.end_measuring();
        if self.common.arrivals.is_some() {
            // What never had an answer took so long at least.
            for (_, lane) in self.lanes.iter().filter(|(_, lane)| lane.is_alive && lane.reader.is_busy()) {
                self.tally.event_ns.saturating_record(self.now.saturating_sub(lane.event_since));
            }
        }
        self.tally.settle();
        for (_, lane) in &mut self.lanes {
            lane.quit();
        }
        Ok(Done { tally: self.tally, is_whole: self.busy == 0, ended: self.ended.unwrap_or(self.now) })
    }

    fn look(&mut self) {
        self.now = self.ticker.now();
        self.fresh = ANSWERS_A_MOMENT;
    }

    fn tell(&mut self) {
        self.told_at = self.now;
        let Untold { queries, events, event_ns } = std::mem::take(&mut self.untold);
        self.common.queries.fetch_add(queries, Ordering::Relaxed);
        self.common.events.fetch_add(events, Ordering::Relaxed);
        self.common.event_ns.fetch_add(event_ns, Ordering::Relaxed);
    }

    fn boundaries(&mut self) {
        if self.measure_at == Times::NEVER {
            (self.measure_at, self.end_at) = self.common.times.read();
        }
        if !self.is_measuring && self.ended.is_none() && self.now >= self.measure_at && !self.is_ending {
            // What ended a connection before counts all the same; what an event was begun again for does not.
            let warm_up = std::mem::take(&mut self.tally);
            self.tally.errors = warm_up.errors;
            self.tally.errors.retain(|code, _| !RETRIED.contains(code));
            (self.tally.lost, self.tally.lost_why) = (warm_up.lost, warm_up.lost_why);
            self.is_measuring = true;
            for (_, lane) in &mut self.lanes {
                lane.uncounted = lane.session.traffic();
            }
            self.cpu = Some(Cpu::of_thread());
        }
        let is_cut = self.now >= self.end_at
            || self.common.stop.load(Ordering::Relaxed)
            || self.common.failed.load(Ordering::Relaxed);
        let is_done = self.common.events_left.is_some_and(|left| left.load(Ordering::Relaxed) <= 0);
        if is_cut || is_done {
            self.is_ending = true;
            self.ending_since.get_or_insert(self.now);
            if is_cut {
                self.end_measuring();
            }
        }
    }

    /// Where a count of events ends it, the last of them count too.
    fn end_measuring(&mut self) {
        if self.is_measuring {
            let end = self.now.min(self.end_at);
            self.ended = Some(end);
            for (_, lane) in self.lanes.iter().filter(|(_, lane)| lane.is_alive && lane.reader.is_busy()) {
                self.tally.under_way(end.saturating_sub(lane.event_since));
            }
        }
        self.is_measuring = false;
        if let Some(cpu) = self.cpu.take() {
            cpu.add_to(&mut self.tally);
            for (_, lane) in &self.lanes {
                self.tally.traffic(lane.traffic());
            }
        }
    }

    /// Whoever was asked to end waits no longer than that for an answer, whatever was planned.
    fn is_overdue(&self) -> bool {
        // The last of a number of events may take as long as it takes, unless somebody wants the end.
        let is_asked = self.end_at != Times::NEVER
            || self.common.stop.load(Ordering::Relaxed)
            || self.common.failed.load(Ordering::Relaxed);
        is_asked && self.ending_since.is_some_and(|since| self.now >= since + GRACE_NS)
    }

    fn timeout(&self) -> Timespec {
        let mut wait_ns = LOOK_AT_MOST_NS;
        for at in [self.measure_at, self.end_at] {
            let left_ns = at.saturating_sub(self.now);
            if left_ns > 0 {
                wait_ns = wait_ns.min(left_ns);
            }
        }
        // In whole milliseconds the kernel needs no newer system call.
        let ms = wait_ns.div_ceil(1_000_000);
        Timespec { tv_sec: 0, tv_nsec: i64::try_from(ms * 1_000_000).unwrap_or(0) }
    }

    /// Gives idle connections something to do.
    fn begin_events(&mut self) -> io::Result<()> {
        if self.is_ending {
            return Ok(());
        }
        let mut next = None;
        while let Some(at) = self.idle.pop() {
            let since = match self.common.arrivals.map(|arrivals| arrivals.take(self.now)) {
                None => self.now,
                Some(Ok(since)) => since,
                Some(Err(comes)) => {
                    self.idle.push(at);
                    next = Some(comes);
                    break;
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
        if let (Some(timer), Some(next)) = (&self.timer, next) {
            let wait = Duration::from_nanos(next.saturating_sub(now()).max(1));
            timer.set(Expiration::OneShot(TimeSpec::from_duration(wait)), TimerSetTimeFlags::empty())?;
        }
        Ok(())
    }

    fn take_event(&mut self) -> bool {
        match self.common.events_left {
            None => true,
            Some(left) => left.fetch_sub(1, Ordering::Relaxed) > 0,
        }
    }

    fn begin_event(&mut self, at: usize, since: Moment) {
        if let Some(lane) = self.lanes.get_mut(at) {
            lane.event = lane.event.next();
            lane.action = 0;
            lane.event_since = since;
        }
    }

    /// Writes the statement whose turn it is: [`Worker::send`] sends it, with those of other connections. A processor that reads
    /// and writes by turns has less of either in its caches.
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
        let is_long = lane.out.len() >= LONG_BYTES;
        self.outbox.push(at);
        if is_long || self.outbox.len() >= SENT_TOGETHER {
            self.send();
        }
    }

    fn send(&mut self) {
        if self.outbox.is_empty() {
            return;
        }
        let mut outbox = std::mem::take(&mut self.outbox);
        if outbox.len() > 1 {
            self.send_together(&outbox);
        }
        // What had no room, or goes inside TLS.
        for at in outbox.drain(..) {
            self.push(at);
        }
        self.outbox = outbox;
        // That took its time.
        self.fresh = 0;
    }

    /// What is short and in cleartext, as far as there is room for it.
    fn send_together(&mut self, outbox: &[usize]) {
        let Some(mut together) = self.together.take() else { return };
        let lanes = &self.lanes;
        let ready = outbox.iter().filter_map(|at| {
            let lane = lanes.get(*at)?;
            let socket = lane.session.clear_text_socket()?;
            (lane.is_alive && lane.written == 0 && lane.out.len() <= SHORT_BYTES).then_some((
                *at,
                socket,
                lane.out.as_slice(),
            ))
        });
        together.send(ready);
        let is_alone = together.results().nth(1).is_none();
        let mut is_refused = false;
        for (at, sent) in together.results() {
            let Some(lane) = self.lanes.get_mut(at) else { continue };
            match sent {
                Ok(count) => {
                    lane.session.was_sent(count);
                    lane.written = count;
                    if self.is_measuring && !is_alone {
                        self.tally.sent_together += 1;
                    }
                }
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                // Nothing was sent: of the socket or of the ring, which send(2) will tell.
                Err(error) if batch_sender::may_be_refused(&error) => is_refused = true,
                Err(error) => self.hear_out(at, &error),
            }
        }
        self.together = (!together.is_broken() && !is_refused).then_some(together);
    }

    fn push(&mut self, at: usize) {
        let Some(lane) = self.lanes.get_mut(at) else { return };
        if !lane.is_alive {
            return;
        }
        loop {
            let rest = lane.out.get(lane.written..).unwrap_or_default();
            if rest.is_empty() {
                if lane.session.holds_back() {
                    self.wait_for_room(at);
                }
                return;
            }
            match lane.session.write(rest) {
                Ok(count) => lane.written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return self.wait_for_room(at);
                }
                // A server that refuses what is still being sent says why, and closes.
                Err(error) => return self.hear_out(at, &error),
            }
        }
    }

    /// From here on also told when there is room; once is enough for all statements.
    fn wait_for_room(&mut self, at: usize) {
        let Some(lane) = self.lanes.get_mut(at) else { return };
        if std::mem::replace(&mut lane.waits_for_room, true) {
            return;
        }
        let data = EventData::new_u64(at as u64);
        if let Err(errno) = epoll::modify(&self.epoll, &*lane, data, lane.awaited()) {
            self.lose(at, &errno);
        }
    }

    /// The last words of a connection that takes nothing any more.
    fn hear_out(&mut self, at: usize, why: &io::Error) {
        let Some(lane) = self.lanes.get_mut(at) else { return };
        while let Ok(count @ 1..) = lane.session.read(&mut self.buffer) {
            let came = self.buffer.get(..count).unwrap_or_default();
            match lane.reader.feed(came, Rows::Text) {
                Ok(None) => {}
                Ok(Some(Answer { error: Some(error), .. })) => {
                    let text = worded(&error, lane.statement, self.common.hides_statements);
                    self.tally.error(error.code, &text);
                    self.common.failed.store(true, Ordering::Relaxed);
                    break;
                }
                _ => break,
            }
        }
        self.lose(at, why);
    }

    /// Something happened on a connection.
    fn turn(&mut self, at: usize) {
        let Some(lane) = self.lanes.get_mut(at) else { return };
        if !lane.is_alive {
            return;
        }
        if lane.written < lane.out.len() {
            self.push(at);
            self.fresh = 0;
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
                Some(action) if self.common.script.is_prepared(action) => {
                    Rows::Binary(self.common.cells.get(lane.statement).map_or(&[], Vec::as_slice))
                }
                _ => Rows::Text,
            };
            let came = self.buffer.get(..count).unwrap_or_default();
            match lane.reader.feed(came, rows) {
                // The rest is waited for, or read: that may take long, and others do not wait for it.
                Ok(None) => {
                    self.fresh = 0;
                    self.send();
                }
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
        // Events that come by the clock are late by what was not looked at: with others it evens out.
        if self.fresh == 0 || self.common.arrivals.is_some() {
            self.look();
        }
        self.fresh = self.fresh.saturating_sub(1 + answer.bytes / BYTES_AN_ANSWER);
        if !self.is_measuring && self.ended.is_none() && self.now >= self.measure_at {
            self.boundaries();
        }
        if self.is_measuring && self.now > self.end_at {
            // It was under way at the end, as others still are.
            let since = self.lanes.get(at).map_or(self.end_at, |lane| lane.event_since);
            self.tally.under_way(self.end_at.saturating_sub(since));
            self.end_measuring();
        }
        let Some(lane) = self.lanes.get_mut(at) else { return };
        if let Some(error) = &answer.error {
            let text = worded(error, lane.statement, self.common.hides_statements);
            self.tally.error(error.code, &text);
            self.common.errors.fetch_add(1, Ordering::Relaxed);
            if RETRIED.contains(&error.code) {
                self.tally.retries += 1;
                // Of the same moment: what the error cost is part of the event's latency.
                let since = lane.event_since;
                self.begin_event(at, since);
                return self.say(at);
            }
            self.common.failed.store(true, Ordering::Relaxed);
            return self.rest(at);
        }
        let is_an_event = self.common.script.actions.len() == 1 && lane.query_since == lane.event_since;
        if self.is_measuring {
            let kind = self.common.script.kind(action, lane.statement);
            let took_ns = self.now.saturating_sub(lane.query_since);
            if is_an_event {
                self.tally.query_and_event(kind, answer, took_ns);
            } else {
                self.tally.query(kind, answer, took_ns);
            }
        }
        self.untold.queries += 1;
        lane.statements = lane.statements.saturating_add(1);
        lane.action += 1;
        if lane.action < self.common.script.actions.len() {
            return self.say(at);
        }
        let took_ns = self.now.saturating_sub(lane.event_since);
        if self.is_measuring {
            if !is_an_event {
                self.tally.event(took_ns);
            }
        } else if self.ended.is_some() && self.common.arrivals.is_some() {
            // It came while it was measured: what it waited for counts, that it ended does not.
            self.tally.event_ns.saturating_record(took_ns);
        }
        self.untold.events += 1;
        self.untold.event_ns += took_ns;
        let is_over = self.is_ending || self.now >= self.end_at;
        let is_looked_at = lane.statements >= STATEMENTS_A_LOOK;
        if is_looked_at && !is_over && self.is_handed_over(at) {
            return;
        }
        if !is_over && self.common.arrivals.is_none() && self.take_event() {
            self.begin_event(at, self.now);
            return self.say(at);
        }
        self.rest(at);
    }

    /// A connection that has nothing under way.
    fn adopt(&mut self, mut lane: Lane) -> io::Result<()> {
        lane.uncounted = lane.session.traffic();
        let at = self.lanes.vacant_key();
        epoll::add(&self.epoll, &lane, EventData::new_u64(at as u64), lane.awaited())?;
        self.lanes.insert(lane);
        self.idle.push(at);
        Ok(())
    }

    /// To the worker on whose processor its answers arrive, if there is such a one.
    fn is_handed_over(&mut self, at: usize) -> bool {
        let Some(handover) = self.common.handover else { return false };
        let Some(lane) = self.lanes.get_mut(at) else { return false };
        lane.statements = 0;
        let Some(place) = handover.better_for(lane, self.number) else { return false };
        if epoll::delete(&self.epoll, &*lane).is_err() {
            return false;
        }
        let lane = self.lanes.remove(at);
        self.busy = self.busy.saturating_sub(1);
        if self.is_measuring {
            self.tally.traffic(lane.traffic());
            self.tally.handed_over += 1;
        }
        place.put(lane);
        true
    }

    fn rest(&mut self, at: usize) {
        self.busy = self.busy.saturating_sub(1);
        self.idle.push(at);
    }

    fn lose(&mut self, at: usize, why: &dyn ToString) {
        let Some(lane) = self.lanes.get_mut(at) else { return };
        if std::mem::replace(&mut lane.is_alive, false) {
            let was_busy = !self.idle.contains(&at);
            let _ = epoll::delete(&self.epoll, lane.session.as_fd());
            self.tally.lost(why);
            self.common.errors.fetch_add(1, Ordering::Relaxed);
            if let Some(handover) = self.common.handover {
                handover.lost(self.number);
            }
            if was_busy {
                self.busy = self.busy.saturating_sub(1);
            } else {
                self.idle.retain(|idle| *idle != at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_of_somebody_s_own_is_not_repeated() {
        let message =
            "You have an error in your SQL syntax; check the manual near 'IDENTIFIED BY 'x'' at line 1";
        assert!(!shown(1064, message, true).contains("IDENTIFIED"));
        assert!(shown(1064, message, true).contains("SQL syntax"));
        assert!(!shown(1064, "Fehler bei 'IDENTIFIED BY 'x'' in Zeile 1", true).contains("IDENTIFIED"));
        assert_eq!(
            shown(1062, "Duplicate entry 'geheim' for key", true),
            "Duplicate entry '…' (the quoted text is not shown)"
        );
        assert!(!shown(1525, "Incorrect DATE value: 'ge'heim'", true).contains("heim"));
        assert!(!shown(1366, "Incorrect value: 'geheim", true).contains("geheim"));
        assert_eq!(shown(1064, message, false), message);
        assert_eq!(shown(1146, "Table 'a.b' doesn't exist", true), "Table 'a.b' doesn't exist");
        assert_eq!(shown(1213, "Deadlock found", true), "Deadlock found");
    }
}
