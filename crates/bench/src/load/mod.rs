//! The load generator: few threads, many connections, one statement at a time on each, and every answer read to its end.
//!
//! [`run`] is one measurement: connect, warm up, measure, end. What it measured is an [`Outcome`]; whether two of them differ
//! is for [`crate::stats`] to say.

mod arrivals;
mod batch_sender;
mod clock;
pub mod connects;
pub mod echo;
mod handover;
pub mod measure;
mod placement;
pub mod random;
pub mod tables;
pub mod user_script;
mod warmup;
mod worker;
pub mod workload;

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use net::{Client, ConnectOptions, Connector, NetError};
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};
use wire::prepared::Cell;

use crate::cpu;
use crate::energy::Energy;
use arrivals::Arrivals;
use batch_sender::BatchSender;
use clock::moment;
use handover::Handover;
use measure::Tally;
use warmup::WarmupDetector;
use worker::{Common, Lane, Times, Worker};
use workload::{Bulk, Script, Slot};

/// Logins that are under way at once: a server with a TLS handshake for each has enough of them.
const LOGINS_AT_ONCE: usize = 16;
/// That a process has open beside its connections.
const OTHER_FILES: rlim_t = 200;
/// So that all threads know that the warm-up ends before it does.
const SOON: Duration = Duration::from_millis(200);
/// ER_UNSUPPORTED_PS.
const NOT_PREPARED: u16 = 1295;

/// One measurement.
#[derive(Debug, Clone)]
pub struct Spec {
    /// Connections go to them in turn.
    pub targets: Vec<ConnectOptions>,
    pub script: Script,
    pub connections: usize,
    /// Threads of the generator.
    pub workers: usize,
    /// Before anything counts.
    pub warm_up: Duration,
    /// It ends earlier, once the throughput does not change any more. Not with a rate or a number of events.
    pub detects_warm_up: bool,
    /// `None`: until `events` are done.
    pub time: Option<Duration>,
    /// `None`: until `time` is over.
    pub events: Option<u64>,
    /// Events that begin in a second, whether or not others have ended; `None`: each connection begins the next when it has
    /// ended one.
    pub rate_per_s: Option<f64>,
    /// What a thread has for several clear-text connections goes by one call, where the kernel has one for it.
    pub sends_together: bool,
    pub seed: u64,
    /// Of the moments at which events arrive, where there is a rate.
    pub arrivals_seed: u64,
    /// Servers on this machine, whose CPU time is read.
    pub server_pids: Vec<i32>,
}

/// Where it is, every second.
#[derive(Debug, Clone, Copy, Default)]
pub struct Interim {
    /// Since the warm-up began.
    pub elapsed: Duration,
    pub is_warm: bool,
    /// Only last answers are waited for.
    pub is_over: bool,
    pub events: u64,
    pub queries: u64,
    pub errors: u64,
    /// What all these events took together.
    pub event_ns: u64,
    /// User and system time of this process, since it began.
    pub client_cpu_us: u64,
    /// The same of the servers of this machine.
    pub server_cpu_us: Option<u64>,
}

/// What TLS turned out to be, the same for all connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsShape {
    pub version: String,
    pub cipher: String,
}

#[derive(Debug)]
pub struct Outcome {
    pub tally: Tally,
    /// That was measured.
    pub elapsed: Duration,
    pub warm_up: Duration,
    /// Where that was looked for: the throughput did not change any more when it ended.
    pub was_warm: Option<bool>,
    pub connections: usize,
    pub workers: usize,
    /// What they took before the warm-up.
    pub connecting: Duration,
    pub tls: Option<TlsShape>,
    pub server_version: String,
    /// User and system time of the servers of this machine.
    pub server_cpu_us: Option<u64>,
    /// Of this machine's processors, for whatever ran there.
    pub energy_j: Option<f64>,
    /// Why the numbers are not those of the whole measurement that was asked for.
    pub partial: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error(
        "only {made} of {wished} connections could be made\n  why:  {}\n  next: raise max_connections (and `ulimit \
         -n` on both machines), or use fewer connections",
        error.in_one_line()
    )]
    Connect { made: usize, wished: usize, error: NetError },
    #[error(
        "cannot prepare a statement: {sql}\n  why:  {}\n  next: {}",
        error.in_one_line(),
        for_prepare(error)
    )]
    Prepare { sql: String, error: NetError },
    #[error(
        "--table-size is {table_size}, but the ids of {table} end at {last_id}\n  why:  a SELECT that finds no row \
         costs less\n  next: give the real size (--table-size), or create such tables: sealion bench prepare \
         --table-size {table_size}"
    )]
    Small { table: String, table_size: u32, last_id: u64 },
    #[error(
        "sbtest{table} is not a table of bulk_insert\n  why:  {why}\n  next: create one per connection: sealion \
         bench prepare --bulk --tables N (it replaces sbtest1 to sbtestN; use --database NAME to keep those)"
    )]
    Bulk { table: usize, why: String },
    #[error(
        "the servers give different answers to {sql}\n  why:  {why}\n  next: measure servers with the same tables"
    )]
    Unlike { sql: String, why: String },
    #[error(
        "cannot generate the load\n  why:  {0}\n  next: check whether file descriptors are left (ulimit -n)"
    )]
    Io(#[from] std::io::Error),
}

/// What helps against the server's refusal to prepare a statement.
fn for_prepare(error: &NetError) -> &'static str {
    match error {
        NetError::Refused { code: 1046 | 1049 | 1054 | 1146, .. } => {
            "create the tables: sealion bench prepare"
        }
        NetError::Refused { code: 1142..=1143, .. } => {
            "the account needs SELECT, and for workloads that write INSERT, UPDATE and DELETE"
        }
        NetError::Refused { code: 1461, .. } => {
            "every connection prepares each statement once for each table: raise max_prepared_stmt_count, use fewer \
             tables or connections, or use --text-protocol"
        }
        _ => "read the error of the server; --text-protocol prepares nothing",
    }
}

/// Connects, warms up, measures. Errors of the server while it is measured are in the outcome, not here.
///
/// # Errors
/// When it could not be begun.
pub fn run(spec: &Spec, stop: &AtomicBool, progress: &mut dyn FnMut(Interim)) -> Result<Outcome, LoadError> {
    clock::learn();
    let began = Instant::now();
    let connected = connect(spec, stop)?;
    let connecting = began.elapsed();
    let workers = spec.workers.clamp(1, connected.lanes.len().max(1));
    let mut shares: Vec<Vec<Lane>> = (0..workers).map(|_| Vec::new()).collect();
    for (at, lane) in connected.lanes.into_iter().enumerate() {
        if let Some(share) = shares.get_mut(at % workers) {
            share.push(lane);
        }
    }
    let started = Instant::now();
    let mut measure_at = started + spec.warm_up;
    let end_of = |measure_at: Instant| spec.time.map(|time| measure_at + time);
    let as_moments =
        |measure_at: Instant| (moment(measure_at), end_of(measure_at).map_or(Times::NEVER, moment));
    let mut warmth = (spec.detects_warm_up && spec.time.is_some()).then(WarmupDetector::default);
    let mut was_warm = warmth.as_ref().map(|_| false);
    let times = if warmth.is_some() {
        Times::new(Times::NEVER, Times::NEVER)
    } else {
        let (measure_at, end_at) = as_moments(measure_at);
        Times::new(measure_at, end_at)
    };
    let failed = AtomicBool::new(false);
    let left = spec.events.map(|events| AtomicI64::new(i64::try_from(events).unwrap_or(i64::MAX)));
    let counts: [AtomicU64; 4] = Default::default();
    let [events, queries, errors, event_ns] = &counts;
    let mut seeds = fastrand::Rng::with_seed(spec.seed);
    let arrivals = spec
        .rate_per_s
        .filter(|rate| *rate > 0.0)
        .map(|rate| Arrivals::new(rate, measure_at, spec.arrivals_seed));
    let processors = placement::processors(workers);
    let handover = Handover::new(&processors, &shares.iter().map(Vec::len).collect::<Vec<_>>());
    // All workers alike: some may have one of their own only because others have used up what this account may lock in memory.
    let rings: Option<Vec<_>> =
        spec.sends_together.then(|| (0..workers).map(|_| BatchSender::new()).collect()).flatten();
    let mut rings = rings.into_iter().flatten();
    let common = Common {
        script: &spec.script,
        cells: &connected.cells,
        times: &times,
        stop,
        failed: &failed,
        events_left: left.as_ref(),
        arrivals: arrivals.as_ref(),
        handover: handover.as_ref(),
        hides_statements: spec.script.is_own(),
        events,
        queries,
        errors,
        event_ns,
    };
    let server_us = || cpu::processes_us(&spec.server_pids);
    let connections = shares.iter().map(Vec::len).sum();
    let (tally, is_whole, elapsed, (server_cpu_us, energy_j)) = thread::scope(|scope| {
        let running: Vec<_> = shares
            .into_iter()
            .zip(processors)
            .enumerate()
            .map(|(worker, (lanes, processor))| {
                let (common, ring, seed) = (&common, rings.next(), seeds.u64(..));
                scope.spawn(move || {
                    placement::settle(processor);
                    Worker::new(common, worker, lanes, ring, seed)?.run()
                })
            })
            .collect();
        let mut costs = Costs::default();
        let mut told = Instant::now();
        while running.iter().any(|worker| !worker.is_finished()) {
            let now = Instant::now();
            if let Some(seen) = &mut warmth {
                let is_steady = seen.is_steady(now, queries.load(Ordering::Relaxed));
                if is_steady || now + SOON >= measure_at {
                    was_warm = Some(is_steady);
                    measure_at = now + SOON;
                    let (measure_at, end_at) = as_moments(measure_at);
                    times.set(measure_at, end_at);
                    warmth = None;
                }
            }
            let end_at = end_of(measure_at).filter(|_| warmth.is_none());
            if warmth.is_none() && now >= measure_at {
                costs.begin(&server_us);
            }
            if end_at.is_some_and(|end| now >= end) {
                costs.end(&server_us);
            }
            if now.duration_since(told) >= Duration::from_secs(1) {
                told = now;
                costs.look();
                let count = |of: &AtomicU64| of.load(Ordering::Relaxed);
                progress(Interim {
                    elapsed: now.duration_since(started),
                    is_warm: warmth.is_none() && now >= measure_at,
                    is_over: end_at.is_some_and(|end| now >= end),
                    events: count(events),
                    queries: count(queries),
                    errors: count(errors),
                    event_ns: count(event_ns),
                    client_cpu_us: cpu::own_us(),
                    server_cpu_us: server_us(),
                });
            }
            // As exactly as a sleep goes.
            let next = [Some(measure_at), end_at].into_iter().flatten().filter(|at| *at > now).min();
            let left = next.map_or(Duration::from_millis(20), |at| at.duration_since(now));
            // A number of events ends when it ends: the rate is counted until then.
            let poll = Duration::from_millis(if spec.events.is_some() { 1 } else { 20 });
            thread::sleep(left.min(poll));
        }
        costs.end(&server_us);
        let (mut tally, mut is_whole, mut ended) = (Tally::default(), true, 0);
        for worker in running {
            match worker.join() {
                Ok(Ok(done)) => {
                    tally.add(done.tally);
                    is_whole &= done.is_whole;
                    ended = ended.max(done.ended);
                }
                Ok(Err(error)) => return Err(error),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        if let Some(arrivals) = &arrivals {
            arrivals.close(ended, &mut tally);
        }
        // Waiting for last answers is not of it.
        let elapsed = Duration::from_nanos(ended.saturating_sub(moment(measure_at)));
        Ok((tally, is_whole, elapsed, costs.told()))
    })?;
    let ended_after = started.elapsed();
    let why = if failed.load(Ordering::Relaxed) {
        let error = tally.errors.iter().find(|(code, _)| !worker::RETRIED.contains(code));
        let text = error.map(|(code, error)| format!("error {code}: {}", error.message));
        Some(format!("the server rejected a statement: {}", text.unwrap_or_default()))
    } else if tally.lost > 0 {
        let why = tally.lost_why.clone().unwrap_or_default();
        Some(format!("{} of {connections} connections were lost: {why}", tally.lost))
    } else if !is_whole {
        Some("statements had no answer five seconds after the end".to_owned())
    } else if tally.is_stalled_at_end() {
        Some(stalled(&tally, connections))
    } else if tally.turned_away > 0 {
        Some("events arrived so much faster than they were processed that a million were waiting".to_owned())
    } else if tally.events == 0 && spec.events.is_some() && !spec.warm_up.is_zero() {
        Some("all events ended before the warm-up: use more events, or leave --warm-up out".to_owned())
    } else if tally.events == 0 {
        Some("no event ended during the measurement".to_owned())
    } else {
        None
    };
    Ok(Outcome {
        tally,
        elapsed,
        // Whoever ends it before it is warm has measured nothing.
        warm_up: measure_at.saturating_duration_since(started).min(ended_after),
        was_warm: was_warm.filter(|_| warmth.is_none()),
        connections,
        workers,
        connecting,
        tls: connected.tls,
        server_version: connected.server_version,
        server_cpu_us,
        energy_j,
        partial: partial(stop, why),
    })
}

/// Why the figures are not those of the whole measurement, if they are not.
fn partial(stop: &AtomicBool, why: Option<String>) -> Option<String> {
    if !stop.load(Ordering::Relaxed) {
        return why;
    }
    Some(why.map_or("interrupted".to_owned(), |why| format!("interrupted, and {why}")))
}

/// What the servers and the machine spend while it is measured.
#[derive(Default)]
struct Costs {
    has_begun: bool,
    has_ended: bool,
    /// CPU time of the servers; `None`: it cannot be read.
    from_us: Option<u64>,
    to_us: Option<u64>,
    energy: Option<Energy>,
    energy_j: Option<f64>,
}

impl Costs {
    /// Once; later it changes nothing.
    fn begin(&mut self, server_us: &dyn Fn() -> Option<u64>) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.from_us = server_us();
            self.energy = Energy::begin();
        }
    }

    /// Every second or so.
    fn look(&mut self) {
        if let Some(energy) = &mut self.energy {
            energy.look();
        }
    }

    /// Once; later it changes nothing.
    fn end(&mut self, server_us: &dyn Fn() -> Option<u64>) {
        if !std::mem::replace(&mut self.has_ended, true) {
            self.to_us = server_us();
            self.energy_j = self.energy.take().map(|mut energy| energy.joules());
        }
    }

    /// Microseconds and joules.
    fn told(&self) -> (Option<u64>, Option<f64>) {
        let spent = self.from_us.zip(self.to_us);
        (spent.map(|(from, to)| to.saturating_sub(from)), self.energy_j)
    }
}

/// Of a server that was silent at the end.
fn stalled(tally: &Tally, connections: usize) -> String {
    format!(
        "{} of {connections} connections had no answer at the end, the oldest for {:.1} s, longer than any event that ended",
        tally.under_way_at_end,
        tally.oldest_under_way_ns as f64 / 1e9
    )
}

struct Connected {
    lanes: Vec<Lane>,
    cells: Vec<Vec<Cell>>,
    tls: Option<TlsShape>,
    server_version: String,
}

/// A shell's limit is often 1024 where the hard one is far higher. What cannot be raised is told by the connection that fails.
fn raise_open_files(connections: usize) {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return };
    let wanted = rlim_t::try_from(connections).unwrap_or(rlim_t::MAX).saturating_add(OTHER_FILES);
    if soft < wanted {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, wanted.min(hard), hard);
    }
}

/// The connection's own table goes on where it ended: a trial does not meet the rows of the one before.
fn bulk_of(client: &mut Client, connection: usize) -> Result<Bulk, LoadError> {
    let table = connection + 1;
    let sql = format!("SELECT * FROM sbtest{table} ORDER BY id DESC LIMIT 1");
    let last = match client.query(&sql) {
        Ok(last) => last,
        Err(error) => return Err(LoadError::Bulk { table, why: error.in_one_line() }),
    };
    if last.columns != ["id", "k"] {
        let why = format!("its columns are {}, not id and k", last.columns.join(", "));
        return Err(LoadError::Bulk { table, why });
    }
    let last_id = last.scalar().and_then(|id| id.parse::<u32>().ok()).unwrap_or(0);
    Ok(Bulk { connection: u32::try_from(connection).unwrap_or(u32::MAX), next_id: last_id.saturating_add(1) })
}

/// Ids that are drawn are to be there. Those of a table that rows were deleted from may end a little earlier.
fn is_filled(client: &mut Client, script: &Script) -> Result<(), LoadError> {
    let Some(table_size) = script.draws_ids_to() else { return Ok(()) };
    for table in (1..=script.tables()).map(|number| format!("sbtest{number}")) {
        // What cannot be asked is told by the first statement.
        let Ok(last) = client.query(&format!("SELECT MAX(id) FROM {table}")) else { return Ok(()) };
        let last_id = last.scalar().and_then(|id| id.parse::<u64>().ok()).unwrap_or(0);
        if last_id * 10 < u64::from(table_size) * 9 {
            return Err(LoadError::Small { table, table_size, last_id });
        }
    }
    Ok(())
}

fn connect(spec: &Spec, stop: &AtomicBool) -> Result<Connected, LoadError> {
    raise_open_files(spec.connections);
    let given_up = Arc::new(AtomicBool::new(false));
    let connectors = spec
        .targets
        .iter()
        .map(|options| {
            // What is measured is what any client gets.
            Connector::new(ConnectOptions {
                given_up: Some(Arc::clone(&given_up)),
                ..options.clone().for_login_only().for_application()
            })
        })
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| LoadError::Connect { made: 0, wished: spec.connections, error })?;
    let next = AtomicU64::new(0);
    let found =
        Mutex::new(Connected { lanes: vec![], cells: vec![], tls: None, server_version: String::new() });
    let fault = Mutex::new(None);
    let one = |number: usize| -> Result<(), LoadError> {
        let made = |error| LoadError::Connect { made: number, wished: spec.connections, error };
        let Some(connector) = connectors.get(number % connectors.len().max(1)) else { return Ok(()) };
        let mut client = connector.connect().map_err(made)?;
        let (mut ids, mut cells) = (Vec::new(), Vec::new());
        for sql in &spec.script.statements {
            if !spec.script.prepares() {
                ids.push(Slot { id: None, is_typed: false });
                cells.push(vec![]);
                continue;
            }
            match client.prepare(sql) {
                Ok(prepared) => {
                    ids.push(Slot { id: Some(prepared.statement_id), is_typed: false });
                    cells.push(prepared.cells);
                }
                // MySQL prepares no BEGIN; sysbench sends it as text then, and so do we.
                Err(NetError::Refused { code: NOT_PREPARED, .. }) => {
                    ids.push(Slot { id: None, is_typed: false });
                    cells.push(vec![]);
                }
                Err(error) => return Err(LoadError::Prepare { sql: sql.clone(), error }),
            }
        }
        let tls =
            client.tls().map(|tls| TlsShape { version: tls.version.clone(), cipher: tls.cipher.clone() });
        let version = client.server_version().to_owned();
        if number == 0 {
            is_filled(&mut client, &spec.script)?;
        }
        let bulk = if spec.script.is_bulk() { bulk_of(&mut client, number)? } else { Bulk::default() };
        let lane = Lane::new(client.into_session().map_err(made)?, ids, bulk);
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        if found.lanes.is_empty() {
            (found.cells, found.tls, found.server_version) = (cells, tls, version);
        } else if let Some(at) = (0..cells.len()).find(|at| cells.get(*at) != found.cells.get(*at)) {
            let sql = spec.script.statements.get(at).cloned().unwrap_or_default();
            return Err(LoadError::Unlike { sql, why: "columns have other types".to_owned() });
        } else if tls != found.tls {
            let sql = "a ClientHello".to_owned();
            return Err(LoadError::Unlike { sql, why: format!("{:?}, and {tls:?}", found.tls) });
        }
        found.lanes.push(lane);
        Ok(())
    };
    thread::scope(|scope| {
        let logins = (0..LOGINS_AT_ONCE.min(spec.connections)).map(|_| {
            scope.spawn(|| {
                loop {
                    let number = usize::try_from(next.fetch_add(1, Ordering::Relaxed)).unwrap_or(usize::MAX);
                    let failed = || fault.lock().unwrap_or_else(PoisonError::into_inner);
                    if number >= spec.connections || stop.load(Ordering::Relaxed) || failed().is_some() {
                        return;
                    }
                    if let Err(error) = one(number) {
                        // Whoever was told to give up has not failed.
                        if !stop.load(Ordering::Relaxed) {
                            failed().get_or_insert(error);
                        }
                        return;
                    }
                }
            })
        });
        let logins: Vec<_> = logins.collect();
        while logins.iter().any(|login| !login.is_finished()) {
            given_up.store(stop.load(Ordering::Relaxed), Ordering::Relaxed);
            thread::sleep(Duration::from_millis(2));
        }
    });
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    match fault.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(LoadError::Connect { wished, error, .. }) => {
            Err(LoadError::Connect { made: found.lanes.len(), wished, error })
        }
        Some(error) => Err(error),
        None => Ok(found),
    }
}
