//! What one worker counts while it is measured.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeVal;
use wire::Answer;

use super::workload::Kind;

/// A day: whoever waits longer is counted as a day.
const LATENCY_NS_MAX: u64 = 86_400_000_000_000;

/// Latencies in ns, to three digits.
pub type Latencies = Histogram<u64>;

fn histogram() -> Latencies {
    // These bounds are good: a constant pair.
    Histogram::new_with_bounds(1, LATENCY_NS_MAX, 3).unwrap_or_else(|_| unreachable!("the bounds are good"))
}

/// So many are counted at once: where a histogram's counts have to come from far away, they all come at the same time.
const TOGETHER: usize = 256;

/// Latencies that are not counted yet.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    event: Vec<u64>,
    query: Vec<u64>,
    both: Vec<u64>,
}

#[inline]
fn note(waiting: &mut Vec<u64>, histogram: &mut Latencies, took_ns: u64) {
    waiting.push(took_ns);
    if waiting.len() >= TOGETHER {
        count(waiting, histogram);
    }
}

#[inline(never)]
fn count(waiting: &mut Vec<u64>, histogram: &mut Latencies) {
    for took_ns in waiting.drain(..) {
        histogram.saturating_record(took_ns);
    }
}

/// An error that servers gave, and how often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorCount {
    /// One text of it: the first.
    pub message: String,
    pub count: u64,
}

#[derive(Debug)]
pub struct Tally {
    pub events: u64,
    pub queries: [u64; 3],
    pub rows: u64,
    /// That statements inserted, changed or deleted, as the server counts them.
    pub written_rows: u64,
    pub answer_bytes: u64,
    pub traffic: net::Traffic,
    /// Of all rows, whatever their order.
    pub checksum: u64,
    pub event_ns: Latencies,
    pub query_ns: Latencies,
    /// Of events that are one statement: they stand for both until [`Tally::settle`].
    pub(super) both_ns: Latencies,
    pub(super) waiting: Waiting,
    pub errors: BTreeMap<u16, ErrorCount>,
    /// Events that were begun again after an error that says so.
    pub retries: u64,
    /// Of those that `connect` made, with a TLS session from before.
    pub resumed: u64,
    /// Connections that ended, and why the first of them did.
    pub lost: u64,
    pub lost_why: Option<String>,
    /// Begun, and without their last answer when it ended; and for how long the oldest of them was.
    pub under_way_at_end: u64,
    pub oldest_under_way_ns: u64,
    /// With a rate: came while it was measured.
    pub due: u64,
    /// With a rate: came, and were not begun when it ended.
    pub late_at_end: u64,
    /// With a rate: came when a million others waited already.
    pub turned_away: u64,
    pub user_us: u64,
    pub system_us: u64,
    pub context_switches: u64,
    /// Connections that went to another worker, as often as they did.
    pub handed_over: u64,
    /// Statements that went out by one call with those of other connections.
    pub sent_together: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            events: 0,
            queries: [0; 3],
            rows: 0,
            written_rows: 0,
            answer_bytes: 0,
            traffic: net::Traffic::default(),
            checksum: 0,
            event_ns: histogram(),
            query_ns: histogram(),
            both_ns: histogram(),
            waiting: Waiting::default(),
            errors: BTreeMap::new(),
            retries: 0,
            resumed: 0,
            lost: 0,
            lost_why: None,
            under_way_at_end: 0,
            oldest_under_way_ns: 0,
            due: 0,
            late_at_end: 0,
            turned_away: 0,
            user_us: 0,
            system_us: 0,
            context_switches: 0,
            handed_over: 0,
            sent_together: 0,
        }
    }
}

impl Tally {
    pub fn query(&mut self, kind: Kind, answer: &Answer, took_ns: u64) {
        self.answer(kind, answer);
        note(&mut self.waiting.query, &mut self.query_ns, took_ns);
    }

    /// An event of one statement, which began with it.
    pub fn query_and_event(&mut self, kind: Kind, answer: &Answer, took_ns: u64) {
        self.answer(kind, answer);
        self.events += 1;
        note(&mut self.waiting.both, &mut self.both_ns, took_ns);
    }

    /// Nothing more is counted.
    pub fn settle(&mut self) {
        count(&mut self.waiting.event, &mut self.event_ns);
        count(&mut self.waiting.query, &mut self.query_ns);
        count(&mut self.waiting.both, &mut self.both_ns);
        // All have the same bounds.
        let _ = self.event_ns.add(&self.both_ns);
        let _ = self.query_ns.add(&self.both_ns);
        self.both_ns.reset();
    }

    fn answer(&mut self, kind: Kind, answer: &Answer) {
        if let Some(count) = self.queries.get_mut(kind as usize) {
            *count += 1;
        }
        self.rows += answer.rows;
        self.written_rows += answer.affected_rows;
        self.answer_bytes += answer.bytes;
        self.checksum = self.checksum.wrapping_add(answer.checksum);
    }

    pub fn event(&mut self, took_ns: u64) {
        self.events += 1;
        note(&mut self.waiting.event, &mut self.event_ns, took_ns);
    }

    /// An event that was under way when it ended.
    pub fn under_way(&mut self, for_ns: u64) {
        self.under_way_at_end += 1;
        self.oldest_under_way_ns = self.oldest_under_way_ns.max(for_ns);
    }

    /// Did the server fall silent before the end? Latencies of events that ended do not show it.
    pub fn is_stalled_at_end(&self) -> bool {
        // Whoever shares a processor with much else is silent for less.
        const NOTICED_NS: u64 = 500_000_000;
        self.oldest_under_way_ns > NOTICED_NS.max(2 * self.event_ns.max())
    }

    pub fn traffic(&mut self, more: net::Traffic) {
        self.traffic.sent_bytes += more.sent_bytes;
        self.traffic.received_bytes += more.received_bytes;
        self.traffic.round_trips += more.round_trips;
    }

    pub fn error(&mut self, code: u16, message: &str) {
        let new = || ErrorCount { message: message.to_owned(), count: 0 };
        self.errors.entry(code).or_insert_with(new).count += 1;
    }

    pub fn lost(&mut self, why: &dyn ToString) {
        self.lost += 1;
        self.lost_why.get_or_insert_with(|| why.to_string());
    }

    /// What another one counted, to its end.
    pub fn add(&mut self, mut other: Self) {
        other.settle();
        self.events += other.events;
        self.resumed += other.resumed;
        for (sum, count) in self.queries.iter_mut().zip(other.queries) {
            *sum += count;
        }
        self.rows += other.rows;
        self.written_rows += other.written_rows;
        self.answer_bytes += other.answer_bytes;
        self.traffic(other.traffic);
        self.checksum = self.checksum.wrapping_add(other.checksum);
        // Both have the same bounds.
        let _ = self.event_ns.add(&other.event_ns);
        let _ = self.query_ns.add(&other.query_ns);
        for (code, error) in &other.errors {
            let known = self
                .errors
                .entry(*code)
                .or_insert_with(|| ErrorCount { message: error.message.clone(), count: 0 });
            known.count += error.count;
        }
        self.retries += other.retries;
        self.lost += other.lost;
        if self.lost_why.is_none() {
            self.lost_why.clone_from(&other.lost_why);
        }
        self.under_way_at_end += other.under_way_at_end;
        self.oldest_under_way_ns = self.oldest_under_way_ns.max(other.oldest_under_way_ns);
        self.user_us += other.user_us;
        self.system_us += other.system_us;
        self.context_switches += other.context_switches;
        self.handed_over += other.handed_over;
        self.sent_together += other.sent_together;
    }
}

pub fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// CPU time between two moments.
#[derive(Debug)]
pub struct Cpu {
    who: UsageWho,
    since: Option<Usage>,
}

impl Cpu {
    /// From now on, of the thread that asks.
    pub fn of_thread() -> Self {
        Self::of(UsageWho::RUSAGE_THREAD)
    }

    /// From now on, of all threads together.
    pub fn of_process() -> Self {
        Self::of(UsageWho::RUSAGE_SELF)
    }

    fn of(who: UsageWho) -> Self {
        Self { who, since: getrusage(who).ok() }
    }

    /// Adds what was used since then.
    pub fn add_to(&self, tally: &mut Tally) {
        let (Some(then), Ok(now)) = (&self.since, getrusage(self.who)) else { return };
        tally.user_us += us(now.user_time()).saturating_sub(us(then.user_time()));
        tally.system_us += us(now.system_time()).saturating_sub(us(then.system_time()));
        let switches =
            |usage: &Usage| usage.voluntary_context_switches() + usage.involuntary_context_switches();
        tally.context_switches += u64::try_from(switches(&now) - switches(then)).unwrap_or(0);
    }
}

fn us(time: TimeVal) -> u64 {
    u64::try_from(time.tv_sec()).unwrap_or(0) * 1_000_000 + u64::try_from(time.tv_usec()).unwrap_or(0)
}
