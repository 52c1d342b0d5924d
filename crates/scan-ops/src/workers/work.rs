//! A worker: takes jobs of its zone, asks their targets, hands the rows in. One thread talks to the queue, one to the targets, some
//! look names up; the queue's thread alone knows what is held, and keeps its leases.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::IpAddr;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use ::scan::{Limits, Manner, Next, Seen, Watch};
use model::{Clock, SystemClock};
use queue::{Lease, Queue, QueueError, RunId, Zone};
use report::shape::TargetRow;

use super::open_jobs::{Finished, OpenJobs};
use super::ops_error;
use super::shape::{RunSettings, encode_rows};
use crate::queue::Queue as Turns;
use crate::{
    Admitted, Authorized, Budget, Intrusive, Over, RESOLVERS, Resolver, Settings, TargetSpec, admit, at_once,
    rows,
};
use site::OpsError;

/// So long the queue is asked for work before finished rows are handed in.
const LEASE_WAIT: Duration = Duration::from_millis(100);
/// With nothing in hand there are no rows to wait for.
const IDLE_WAIT: Duration = Duration::from_secs(2);
/// A worker that is full looks for rows so often.
const FULL_WAIT: Duration = Duration::from_millis(20);
const HAND_IN_MAX: usize = 512;
/// What is held beside what is asked: the engine never waits for the queue.
const HELD_PER_ASKED: usize = 2;
/// An engine without a target sleeps shortly; after this it ends, and the worker waits for the queue.
const ENGINE_IDLE: Duration = Duration::from_millis(500);
/// Jobs whose names are looked up: what waits longer waits where runs have their turns.
const NAMES_MAX: usize = 2 * RESOLVERS;
/// A lease is renewed so often before it expires.
const RENEWALS: u32 = 3;

#[derive(Debug, Clone)]
pub struct WorkerSettings {
    pub zone: Zone,
    /// What this worker lets others ask for, whatever a run says.
    pub intrusive: Intrusive,
    /// Nothing outside of it is contacted, whatever a run says.
    pub authorized: Option<Authorized>,
    /// `limits.targets_at_once`, `limits.connections_per_s`, `roots` and `nameservers` are this worker's.
    pub own: Settings,
}

/// What a worker did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WorkCount {
    /// Answers that were handed in.
    pub jobs: u64,
    pub connections: u64,
    pub held: usize,
}

pub trait WorkerListener: Send {
    /// Called several times a second.
    fn at_work(&mut self, count: WorkCount);
}

/// A job with what holds for its run.
struct Work {
    lease: Lease,
    run: Arc<RunSettings>,
}

/// What comes back from the targets' side.
enum Back {
    Finished(Finished),
    /// Not begun, and not to be.
    Unasked(Lease),
    Dialled,
}

/// Works until `stop`; then what is being asked is finished, and what was not begun is given back.
///
/// # Errors
/// When the queue is away for too long or refuses, and where this process can have no sockets.
pub fn work(
    queue: &mut dyn Queue,
    settings: &WorkerSettings,
    budget: &mut Budget,
    stop: &AtomicBool,
    listener: &mut dyn WorkerListener,
) -> Result<WorkCount, OpsError> {
    let at_once = at_once(settings.own.limits.targets_at_once);
    let (send_work, works) = mpsc::channel();
    let (send_back, backs) = mpsc::channel();
    // Also set when the queue is lost: nothing can be handed in any more.
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let is_over = &is_over;
        let hand = scope.spawn(move || {
            let mut hand = Hand {
                queue,
                zone: &settings.zone,
                held: HashMap::new(),
                runs: HashMap::new(),
                count: WorkCount::default(),
                renew_at: Instant::now(),
                held_max: at_once * HELD_PER_ASKED,
            };
            let worked = hand.work(&send_work, &backs, stop, listener);
            is_over.store(true, Ordering::Relaxed);
            drop(send_work);
            worked.map(|()| hand.count)
        });
        let asked = ask(&works, &send_back, settings, at_once, budget, stop, is_over);
        drop(send_back);
        // Whoever hands in sees that nobody works any more.
        drop(works);
        let worked =
            hand.join().map_err(|_| OpsError::internal("the worker's other thread", "it panicked"))?;
        asked?;
        worked
    })
}

/// The queue's side.
struct Hand<'q> {
    queue: &'q mut dyn Queue,
    zone: &'q Zone,
    held: HashMap<(RunId, u64), Lease>,
    runs: HashMap<RunId, Option<Arc<RunSettings>>>,
    count: WorkCount,
    renew_at: Instant,
    held_max: usize,
}

impl Hand<'_> {
    fn work(
        &mut self,
        works: &mpsc::Sender<Work>,
        backs: &mpsc::Receiver<Back>,
        stop: &AtomicBool,
        listener: &mut dyn WorkerListener,
    ) -> Result<(), OpsError> {
        loop {
            let is_ending = stop.load(Ordering::Relaxed);
            let is_full = is_ending || self.held.len() >= self.held_max;
            if self.hand_in(backs, if is_full { FULL_WAIT } else { Duration::ZERO })? {
                return Ok(());
            }
            self.renew()?;
            self.count.held = self.held.len();
            listener.at_work(self.count);
            if is_ending && self.held.is_empty() {
                return Ok(());
            }
            if !is_full {
                self.take(works)?;
            }
        }
    }

    /// Says whether the targets' side is gone.
    fn hand_in(&mut self, backs: &mpsc::Receiver<Back>, wait: Duration) -> Result<bool, OpsError> {
        let (mut finished, mut unasked) = (Vec::new(), Vec::new());
        let mut is_gone = false;
        let mut next = match backs.recv_timeout(wait) {
            Ok(back) => Some(back),
            Err(error) => {
                is_gone = error == mpsc::RecvTimeoutError::Disconnected;
                None
            }
        };
        while let Some(back) = next {
            match back {
                Back::Finished((lease, rows)) => finished.push((lease, encode_rows(&rows))),
                Back::Unasked(lease) => unasked.push(lease),
                Back::Dialled => self.count.connections += 1,
            }
            next = if finished.len() < HAND_IN_MAX { backs.try_recv().ok() } else { None };
        }
        for lease in finished.iter().map(|(lease, _)| lease).chain(&unasked) {
            self.held.remove(&(lease.job.run.clone(), lease.job.number));
        }
        self.count.jobs += finished.len() as u64;
        if !finished.is_empty() {
            self.queue.ack(finished).map_err(|error| ops_error(&error))?;
        }
        if !unasked.is_empty() {
            self.queue.nack(&unasked).map_err(|error| ops_error(&error))?;
        }
        Ok(is_gone)
    }

    fn renew(&mut self) -> Result<(), OpsError> {
        if self.held.is_empty() || Instant::now() < self.renew_at {
            return Ok(());
        }
        let leases: Vec<Lease> = self.held.values().cloned().collect();
        self.queue.extend(&leases).map_err(|error| ops_error(&error))?;
        let shortest = self.runs.values().flatten().map(|run| run.lease_ms).min().unwrap_or(1000);
        self.renew_at = Instant::now() + Duration::from_millis(shortest) / RENEWALS;
        Ok(())
    }

    fn take(&mut self, works: &mpsc::Sender<Work>) -> Result<(), OpsError> {
        let wait = if self.held.is_empty() {
            // Runs that were worked on may be over by now.
            self.runs.clear();
            IDLE_WAIT
        } else {
            LEASE_WAIT
        };
        let jobs_max = self.held_max - self.held.len();
        let leases = self.queue.lease(self.zone, jobs_max, wait).map_err(|error| ops_error(&error))?;
        let mut over = Vec::new();
        for lease in leases {
            match self.run(&lease.job.run)? {
                None => over.push(lease),
                Some(run) => {
                    self.held.insert((lease.job.run.clone(), lease.job.number), lease.clone());
                    // Where nobody takes it any more, that side has said why.
                    let _ = works.send(Work { lease, run });
                }
            }
        }
        if !over.is_empty() {
            self.queue.discard(&over).map_err(|error| ops_error(&error))?;
        }
        Ok(())
    }

    fn run(&mut self, id: &RunId) -> Result<Option<Arc<RunSettings>>, OpsError> {
        if let Some(known) = self.runs.get(id) {
            return Ok(known.clone());
        }
        let found = self.queue.settings(id).map_err(|error: QueueError| ops_error(&error))?;
        let run = found.map(|bytes| RunSettings::decode(&bytes)).transpose()?.flatten().map(Arc::new);
        self.runs.insert(id.clone(), run.clone());
        Ok(run)
    }
}

/// A job whose names were looked up.
struct Resolved {
    work: Work,
    /// In which manner it is asked.
    asker: usize,
    targets: Vec<::scan::Target>,
    rows: Vec<TargetRow>,
}

/// Jobs that were taken and not begun. Those of all runs are begun in turn: many hosts that say nothing, of one run, do not keep
/// another one waiting.
#[derive(Default)]
struct Stash {
    by_run: BTreeMap<RunId, VecDeque<Work>>,
    last: Option<RunId>,
}

impl Stash {
    fn put(&mut self, work: Work) {
        self.by_run.entry(work.lease.job.run.clone()).or_default().push_back(work);
    }

    /// The first job of the run whose turn it is, of those whose first job can be begun.
    fn next(&mut self, can_begin: impl Fn(&Work) -> bool) -> Option<Work> {
        let behind = self.last.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let in_turn = self.by_run.range::<RunId, _>((behind, Bound::Unbounded)).chain(&self.by_run);
        let found = in_turn.into_iter().find(|(_, works)| works.front().is_some_and(&can_begin));
        let run = found.map(|(run, _)| run.clone())?;
        let works = self.by_run.get_mut(&run)?;
        let work = works.pop_front();
        if works.is_empty() {
            self.by_run.remove(&run);
        }
        self.last = Some(run);
        work
    }
}

/// How a run is asked; runs that are asked alike have one.
struct Asker {
    run: Arc<RunSettings>,
    settings: Settings,
    manner: Manner,
    /// Or why this worker does not.
    permitted: Result<(), String>,
}

impl Asker {
    fn new(run: &Arc<RunSettings>, worker: &WorkerSettings) -> Self {
        let (settings, permitted) = match run.settings(&worker.own) {
            Ok(settings) => {
                let permitted = permits(settings.limits.intrusive, worker.intrusive);
                (settings, permitted)
            }
            Err(error) => (worker.own.clone(), Err(format!("not scanned: {error}"))),
        };
        let manner = settings.limits.manner(settings.depth);
        Self { run: Arc::clone(run), settings, manner, permitted }
    }
}

/// The targets' side: one engine for all runs, which ends when there is nothing to do.
fn ask(
    works: &mpsc::Receiver<Work>,
    backs: &mpsc::Sender<Back>,
    settings: &WorkerSettings,
    at_once: usize,
    budget: &mut Budget,
    stop: &AtomicBool,
    is_over: &AtomicBool,
) -> Result<(), OpsError> {
    let (send_names, names) = mpsc::channel::<(Work, usize, Arc<Asker>)>();
    let (send_resolved, resolved) = mpsc::channel::<Resolved>();
    let names = Arc::new(Mutex::new(names));
    thread::scope(|scope| {
        for _ in 0..RESOLVERS {
            let (names, send) = (Arc::clone(&names), send_resolved.clone());
            scope.spawn(move || {
                loop {
                    let next = names.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((work, number, asker)) = next else { return };
                    if send.send(resolve(work, number, &asker.settings, settings)).is_err() {
                        return;
                    }
                }
            });
        }
        let is_ending = || stop.load(Ordering::Relaxed) || is_over.load(Ordering::Relaxed);
        // The names' threads end with it, and are waited for.
        let asking = Targets { works, names: send_names, resolved: &resolved, backs, settings, at_once };
        asking.all(budget, &is_ending)
    })
}

struct Targets<'a> {
    works: &'a mpsc::Receiver<Work>,
    names: mpsc::Sender<(Work, usize, Arc<Asker>)>,
    resolved: &'a mpsc::Receiver<Resolved>,
    backs: &'a mpsc::Sender<Back>,
    settings: &'a WorkerSettings,
    at_once: usize,
}

impl Targets<'_> {
    fn all(&self, budget: &mut Budget, is_ending: &dyn Fn() -> bool) -> Result<(), OpsError> {
        loop {
            match self.works.recv_timeout(ENGINE_IDLE) {
                // Until the queue's side has all of it back, and hangs up.
                Ok(first) if is_ending() => drop(self.backs.send(Back::Unasked(first.lease))),
                Ok(first) => self.run(first, budget, is_ending)?,
                Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(()),
                Err(mpsc::RecvTimeoutError::Timeout) => budget.save_now_and_then(),
            }
        }
    }

    fn run(&self, first: Work, budget: &mut Budget, is_ending: &dyn Fn() -> bool) -> Result<(), OpsError> {
        let state = RefCell::new(Asking {
            turns: Turns::default(),
            budget,
            open: OpenJobs::default(),
            ready: VecDeque::new(),
            backs: self.backs,
            askers: vec![],
            worker: self.settings,
            at_work: 0,
            at_names: 0,
            idle_since: Instant::now(),
        });
        let mut stash = Stash::default();
        stash.put(first);
        let mut source = || {
            let mut state = state.borrow_mut();
            loop {
                if let Some(next) = state.next() {
                    return next;
                }
                while let Ok(found) = self.resolved.try_recv() {
                    state.at_names -= 1;
                    state.begin(found);
                }
                if !state.ready.is_empty() {
                    continue;
                }
                self.works.try_iter().for_each(|work| stash.put(work));
                let is_ending = is_ending();
                let has_room = is_ending || state.at_names < NAMES_MAX;
                let Some(work) = stash.next(|work| has_room || needs_no_name(work)) else {
                    if let Some(next) = state.next_put_off() {
                        return next;
                    }
                    let is_idle = state.at_work == 0 && state.at_names == 0 && state.turns.is_empty();
                    let is_enough = is_ending || state.idle_since.elapsed() > ENGINE_IDLE;
                    return if is_idle && is_enough { Next::End } else { Next::Later };
                };
                if is_ending {
                    let _ = state.backs.send(Back::Unasked(work.lease));
                    continue;
                }
                let (number, asker) = state.asker(&work.run);
                if let Err(why) = &asker.permitted {
                    state.refuse(work, why);
                } else if needs_no_name(&work) {
                    state.begin(resolve(work, number, &asker.settings, self.settings));
                } else {
                    state.at_names += 1;
                    let _ = self.names.send((work, number, asker));
                }
            }
        };
        let own = &self.settings.own;
        let limits = Limits { targets_at_once: self.at_once, ..own.limits };
        ::scan::run_watched(&mut source, own.depth, &limits, &mut Taking { state: &state })
            .map_err(|error| OpsError::internal("the scan cannot run", error))
    }
}

/// Whether a worker lets a run ask that.
fn permits(wanted: Intrusive, allowed: Intrusive) -> Result<(), String> {
    let allowed = allowed.words();
    let missing: Vec<&str> = wanted.words().into_iter().filter(|word| !allowed.contains(word)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!(
        "not scanned: the worker does not permit intrusive probes ({}); start it with --intrusive=LIST",
        missing.join(", ")
    ))
}

/// What one engine has in hand.
struct Asking<'a> {
    turns: Turns,
    budget: &'a mut Budget,
    open: OpenJobs,
    ready: VecDeque<::scan::Target>,
    backs: &'a mpsc::Sender<Back>,
    /// By the number that their targets have.
    askers: Vec<Arc<Asker>>,
    worker: &'a WorkerSettings,
    at_work: usize,
    at_names: usize,
    idle_since: Instant,
}

impl Asking<'_> {
    fn asker(&mut self, run: &Arc<RunSettings>) -> (usize, Arc<Asker>) {
        let known = self.askers.iter().position(|asker| asker.run == *run);
        let number = known.unwrap_or(self.askers.len());
        if let Some(asker) = self.askers.get(number) {
            return (number, Arc::clone(asker));
        }
        let asker = Arc::new(Asker::new(run, self.worker));
        self.askers.push(Arc::clone(&asker));
        (number, asker)
    }

    fn begin(&mut self, mut found: Resolved) {
        for target in &mut found.targets {
            target.asker = found.asker;
        }
        let (fresh, finished) = self.open.open(found.work.lease, &found.targets, found.rows);
        self.ready.extend(fresh);
        self.finish(finished);
    }

    fn refuse(&mut self, work: Work, why: &str) {
        let word = String::from_utf8_lossy(&work.lease.job.body).into_owned();
        self.finish([(work.lease, vec![rows::not_asked(&word, why)])]);
    }

    fn finish(&mut self, finished: impl IntoIterator<Item = Finished>) {
        for one in finished {
            let _ = self.backs.send(Back::Finished(one));
        }
    }

    fn row(&mut self, target: &::scan::Target, row: &TargetRow, is_news: bool) {
        let finished = self.open.row(target, row, is_news);
        self.finish(finished);
    }

    /// A target whose turn it is. `None`: more can be begun.
    fn next(&mut self) -> Option<Next> {
        loop {
            let target = match self.turns.next() {
                Some(target) => Some(target),
                None => self.ready.pop_front().map(|target| self.turns.admit(target))?,
            };
            if let Some(next) = target.and_then(|target| self.admit(target, None)) {
                return Some(next);
            }
        }
    }

    /// The same of those whose address another process asks, when there is nothing else.
    fn next_put_off(&mut self) -> Option<Next> {
        let (target, began) = self.turns.put_off_longest()?;
        self.admit(target, Some(began))
    }

    fn admit(&mut self, target: ::scan::Target, since: Option<Instant>) -> Option<Next> {
        let asked = target.clone();
        // Each target has the number of one.
        let asker = Arc::clone(self.askers.get(target.asker)?);
        match admit(&mut self.turns, self.budget, &asker.settings, target, since) {
            Admitted::Now(target) => {
                self.at_work += 1;
                Some(Next::TargetIn(target, asker.manner))
            }
            Admitted::Never(row) => {
                self.row(&asked, &row, true);
                None
            }
            Admitted::PutOff => None,
        }
    }
}

struct Taking<'s, 'a> {
    state: &'s RefCell<Asking<'a>>,
}

impl Watch for Taking<'_, '_> {
    fn took(&mut self, seen: Seen) -> bool {
        let mut state = self.state.borrow_mut();
        let ip = seen.target.address.ip();
        state.turns.done(ip);
        state.budget.end_turn(ip);
        state.at_work -= 1;
        state.idle_since = Instant::now();
        let Some(asker) = state.askers.get(seen.target.asker) else { return true };
        let row = rows::row(&seen, &asker.settings.roots, SystemClock.unix_ms());
        state.row(&seen.target, &row, seen.target.is_named || seen.facts.service.is_some());
        true
    }

    fn dialled(&mut self, address: IpAddr) {
        let mut state = self.state.borrow_mut();
        state.budget.spend(address, 1);
        let _ = state.backs.send(Back::Dialled);
    }

    fn is_to_end(&mut self) -> bool {
        self.state.borrow_mut().budget.save_now_and_then();
        false
    }
}

fn spec_of(work: &Work) -> Result<TargetSpec, String> {
    let word = std::str::from_utf8(&work.lease.job.body).map_err(|error| error.to_string())?;
    match TargetSpec::parse(word)? {
        TargetSpec::Range { .. } => Err("a job is one host, not a range".into()),
        spec => Ok(spec),
    }
}

fn needs_no_name(work: &Work) -> bool {
    match spec_of(work) {
        Ok(TargetSpec::Place { host, .. }) => host.parse::<IpAddr>().is_ok(),
        Ok(_) => false,
        Err(_) => true,
    }
}

fn resolve(work: Work, asker: usize, own: &Settings, settings: &WorkerSettings) -> Resolved {
    let spec = match spec_of(&work) {
        Ok(spec) => spec,
        Err(why) => {
            let word = wire::printable(&String::from_utf8_lossy(&work.lease.job.body));
            return Resolved { work, asker, targets: vec![], rows: vec![rows::not_asked(&word, &why)] };
        }
    };
    let found: Arc<Mutex<Vec<::scan::Target>>> = Arc::default();
    let notes = crate::Rows::default();
    let resolver = Resolver {
        send: {
            let found = Arc::clone(&found);
            Box::new(move |target| {
                found.lock().unwrap_or_else(PoisonError::into_inner).push(target);
                Ok::<(), Over>(())
            })
        },
        rows: Arc::clone(&notes),
        named: Arc::default(),
        authorized: own.authorized.iter().chain(&settings.authorized).cloned().collect(),
        nameservers: own.nameservers.clone(),
    };
    // It never says that it is over.
    let _ = resolver.spec(&spec);
    let take = |of: &Mutex<Vec<_>>| std::mem::take(&mut *of.lock().unwrap_or_else(PoisonError::into_inner));
    let targets = take(&found);
    let rows = std::mem::take(&mut *notes.lock().unwrap_or_else(PoisonError::into_inner));
    Resolved { work, asker, targets, rows }
}
