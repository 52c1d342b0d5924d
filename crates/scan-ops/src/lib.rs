//! `sealion scan`: names become addresses, addresses become rows, as they come.

pub mod accepted;
mod budget;
mod changes;
mod closing_login;
mod cross_target;
mod earlier_scan;
mod gate;
mod observe;
mod queue;
mod rows;
mod srv;
mod target_spec;
pub mod workers;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use ::scan::interrogation::Depth;
use ::scan::intrude::Intrusive;
use ::scan::{Limits, Next, Port, Seen, Target, Watch};
use model::{Clock, SystemClock};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use report::shape::{AskedRow, SCAN_SCHEMA_ID, ScanReport, TargetRow, VerdictWord};
use rules::accept::{Acceptances, Day};

pub use ::scan::target::ProxyVersion;
pub use budget::Budget;
pub use changes::{changes, comparable};
pub use closing_login::{ClosingLogin, log_in_after};
pub use earlier_scan::{AgreedOptions, TypedOptions, read as read_result};
pub use gate::{Gate, gate};
use queue::Queue;
use site::OpsError;
pub use srv::system_nameservers;
pub use target_spec::{
    Authorized, RANGE_ADDRESSES_MAX, TargetSpec, authorize, target_specs, target_specs_of_file,
};

/// Names that are looked up at once: the system's resolver waits seconds for a dead name server.
const RESOLVERS: usize = 16;
/// Addresses of one name that are looked at.
const ADDRESSES_MAX: usize = 4;

#[derive(Debug, Clone)]
pub struct Settings {
    pub depth: Depth,
    pub limits: Limits,
    /// Connections per address, over all runs that the budget remembers.
    pub connections_per_address: u32,
    /// What chains are checked against.
    pub roots: Vec<Roots>,
    /// Where the named one of these came from.
    pub ssl_ca: Option<PathBuf>,
    /// The header that is sent before everything.
    pub proxy: Option<ProxyVersion>,
    /// Nothing outside of it is dialled.
    pub authorized: Option<Authorized>,
    /// Who is asked for SRV records.
    pub nameservers: Vec<SocketAddr>,
    pub accepted: Acceptances,
    /// So long a target waits for another sealion that asks its address.
    pub turn_wait: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            depth: Depth::Classes,
            limits: Limits::default(),
            connections_per_address: 40,
            roots: vec![],
            ssl_ca: None,
            proxy: None,
            authorized: None,
            nameservers: vec![],
            accepted: Acceptances::default(),
            turn_wait: Duration::from_secs(60),
        }
    }
}

/// CAs that clients trust.
#[derive(Debug, Clone)]
pub struct Roots {
    pub name: &'static str,
    pub pem: Vec<u8>,
}

/// What the CA that a person names is called in results.
pub const NAMED_CA: &str = "--ssl-ca";
/// The CAs of a public bundle have some 250 KiB.
const BUNDLE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The bundle that was named, and the system's where there is one.
///
/// # Errors
/// A named file that cannot be read, or holds no certificate.
pub fn roots(named: Option<&Path>) -> Result<Vec<Roots>, OpsError> {
    let mut found = Vec::new();
    if let Some(path) = named {
        let refuse = |why: String| {
            OpsError::usage(
                format!("cannot use the CA file {}", path.display()),
                why,
                "use a file of PEM certificates",
            )
        };
        let pem = host::ReadHost::read(&host::Local, path, BUNDLE_BYTES_MAX)
            .map_err(|error| refuse(error.to_string()))?
            .ok_or_else(|| refuse("there is no such file".into()))?;
        trust::inspect(&pem).map_err(|error| refuse(error.to_string()))?;
        found.push(Roots { name: NAMED_CA, pem });
    }
    if let Some(path) = trust::system_bundle()
        && let Ok(Some(pem)) = host::ReadHost::read(&host::Local, &path, BUNDLE_BYTES_MAX)
    {
        found.push(Roots { name: "system store", pem });
    }
    Ok(found)
}

/// Who is told as a scan goes on.
pub trait Listener {
    /// A target is complete.
    fn row(&mut self, row: &TargetRow);
    /// Called all the time: the result so far, not complete, can be had now. Whoever keeps it now and then has it when the
    /// process is killed.
    fn so_far(&mut self, _report: &dyn Fn() -> ScanReport) {}
    /// With workers: of so many targets, so many have their rows.
    fn progress(&mut self, _done: usize, _of: usize) {}
}

impl<F: FnMut(&TargetRow)> Listener for F {
    fn row(&mut self, row: &TargetRow) {
        self(row);
    }
}

/// Looks at every target. Ending early (`stop`) leaves a report that says so.
///
/// # Errors
/// Where this process can have no sockets; ranges that are not authorized.
pub fn scan(
    target_specs: &[TargetSpec],
    settings: &Settings,
    budget: &mut Budget,
    stop: &AtomicBool,
    listener: &mut dyn Listener,
) -> Result<ScanReport, OpsError> {
    run(vec![], SystemClock.unix_ms(), target_specs, settings, budget, stop, listener)
}

/// Completes a scan that was ended: whole rows are kept, and their targets are not looked at again.
///
/// # Errors
/// As those of [`scan`], and where it does not say what was asked for.
pub fn complete(
    earlier: &ScanReport,
    settings: &Settings,
    budget: &mut Budget,
    stop: &AtomicBool,
    listener: &mut dyn Listener,
) -> Result<ScanReport, OpsError> {
    let target_specs = target_specs(earlier.asked.targets.iter().map(String::as_str))?;
    run(
        earlier_scan::whole_rows(earlier),
        earlier.started_unix_ms,
        &target_specs,
        settings,
        budget,
        stop,
        listener,
    )
}

fn run(
    kept: Vec<TargetRow>,
    started_unix_ms: u64,
    target_specs: &[TargetSpec],
    settings: &Settings,
    budget: &mut Budget,
    stop: &AtomicBool,
    listener: &mut dyn Listener,
) -> Result<ScanReport, OpsError> {
    authorize(target_specs, settings.authorized.as_ref())?;
    let mut known = Known::default();
    let mut rows: Vec<TargetRow> = Vec::new();
    for mut one in kept {
        known.keep(&one);
        accept(&mut one, &settings.accepted, SystemClock.unix_ms());
        listener.row(&one);
        rows.push(one);
    }
    let answered: BTreeSet<HostKey> = known.hosts.clone();
    let (found, unresolved) = resolve(target_specs, settings);
    let state: State<'_> = RefCell::new((Queue::default(), budget, Vec::new()));
    let limits = Limits { targets_at_once: at_once(settings.limits.targets_at_once), ..settings.limits };
    let mut source = || {
        if stop.load(Ordering::Relaxed) {
            return Next::End;
        }
        let mut state = state.borrow_mut();
        let (queue, budget, refused) = &mut *state;
        loop {
            let mut since = None;
            let target = match queue.next() {
                Some(target) => Some(target),
                None => match found.try_recv() {
                    // Named twice, or known already: each port of each address is asked once.
                    Ok(target) if !known.is_new(&target) => None,
                    Ok(target) => queue.admit(target),
                    Err(error) => match queue.put_off_longest() {
                        Some((target, began)) => {
                            since = Some(began);
                            Some(target)
                        }
                        None if error == mpsc::TryRecvError::Disconnected && queue.is_empty() => {
                            return Next::End;
                        }
                        None => return Next::Later,
                    },
                },
            };
            let Some(target) = target else { continue };
            match admit(queue, budget, settings, target, since) {
                Admitted::Now(target) => return Next::Target(target),
                Admitted::Never(row) => refused.push(*row),
                Admitted::PutOff if since.is_some() => return Next::Later,
                Admitted::PutOff => {}
            }
        }
    };
    let silent = BTreeMap::new();
    let done = Done { settings, target_specs, started_unix_ms, rows, silent, answered, is_cut: false };
    let mut taking = Taking { done, listener, state: &state, stop };
    ::scan::run_watched(&mut source, settings.depth, &limits, &mut taking)
        .map_err(|error| OpsError::internal("the scan cannot run", error))?;
    // Ended while there was nothing left to ask: that is all of it.
    let Taking { mut done, listener, .. } = taking;
    let mut is_complete = !done.is_cut;
    if stop.load(Ordering::Relaxed) {
        is_complete &= state.borrow().0.is_empty();
        loop {
            match found.try_recv() {
                Ok(target) => is_complete &= !known.is_new(&target),
                Err(mpsc::TryRecvError::Disconnected) => break,
                Err(mpsc::TryRecvError::Empty) => {
                    is_complete = false;
                    break;
                }
            }
        }
    }
    let refused = std::mem::take(&mut state.borrow_mut().2);
    let silent = std::mem::take(&mut done.silent)
        .into_iter()
        // When it was ended, other ports of these hosts may still answer: whoever completes it asks them.
        .filter(|(host, _)| is_complete && !done.answered.contains(host))
        .map(|(_, row)| rows::silent_host(row));
    let mut unresolved = unresolved.lock().unwrap_or_else(PoisonError::into_inner);
    for one in refused.into_iter().chain(silent).chain(unresolved.drain(..)) {
        listener.row(&one);
        done.rows.push(one);
    }
    drop(unresolved);
    let rows = std::mem::take(&mut done.rows);
    Ok(done.report(rows, is_complete))
}

/// Whether a target whose turn has come may be asked.
enum Admitted {
    Now(Target),
    Never(Box<TargetRow>),
    /// Another process asks its address.
    PutOff,
}

fn admit(
    queue: &mut Queue,
    budget: &mut Budget,
    settings: &Settings,
    mut target: Target,
    since: Option<Instant>,
) -> Admitted {
    let ip = target.address.ip();
    if !budget.take_turn(ip) {
        let began = since.unwrap_or_else(Instant::now);
        if began.elapsed() < settings.turn_wait {
            queue.put_off(target, began);
            return Admitted::PutOff;
        }
        let row = rows::asked_by_another(&target, settings.turn_wait);
        queue.done(ip);
        return Admitted::Never(Box::new(row));
    }
    match budget.left(ip, settings.connections_per_address) {
        0 => {
            let row = rows::over_budget(&target, settings.connections_per_address);
            queue.done(ip);
            budget.end_turn(ip);
            Admitted::Never(Box::new(row))
        }
        left => {
            target.connections_max = left;
            target.proxy = settings.proxy;
            Admitted::Now(target)
        }
    }
}

type State<'b> = RefCell<(Queue, &'b mut Budget, Vec<TargetRow>)>;

/// What is known so far.
struct Done<'t> {
    settings: &'t Settings,
    target_specs: &'t [TargetSpec],
    started_unix_ms: u64,
    rows: Vec<TargetRow>,
    /// Usual ports where nobody listens, the first of each host.
    silent: BTreeMap<HostKey, TargetRow>,
    answered: BTreeSet<HostKey>,
    /// Some row was cut off by the end.
    is_cut: bool,
}

/// Takes what comes from the engine: counts connections as they are begun, keeps the count, makes rows, and knows when to end.
struct Taking<'t, 'b> {
    done: Done<'t>,
    listener: &'t mut dyn Listener,
    state: &'t State<'b>,
    stop: &'t AtomicBool,
}

impl Done<'_> {
    fn report(&self, rows: Vec<TargetRow>, is_complete: bool) -> ScanReport {
        let settings = self.settings;
        let text = |path: &Path| path.display().to_string();
        ScanReport {
            schema: SCAN_SCHEMA_ID.into(),
            sealion_version: env!("CARGO_PKG_VERSION").into(),
            started_unix_ms: self.started_unix_ms,
            ended_unix_ms: SystemClock.unix_ms(),
            depth: depth_word(settings.depth).into(),
            grading_version: rules::grade::VERSION,
            is_complete,
            asked: AskedRow {
                targets: self.target_specs.iter().map(ToString::to_string).collect(),
                ssl_ca: settings.ssl_ca.as_deref().map(text),
                proxy_protocol: settings.proxy.map(|version| version.word().to_owned()),
                authorized_range: settings.authorized.as_ref().map(|ranges| text(&ranges.path)),
                intrusive: settings.limits.intrusive.words().into_iter().map(str::to_owned).collect(),
            },
            reused_keys: cross_target::reused_keys(&rows),
            rotates_next: cross_target::rotates_next(&rows),
            changes: None,
            targets: rows,
        }
    }
}

impl Watch for Taking<'_, '_> {
    fn took(&mut self, seen: Seen) -> bool {
        let ip = seen.target.address.ip();
        {
            let mut state = self.state.borrow_mut();
            state.0.done(ip);
            state.1.end_turn(ip);
        }
        let now_unix_ms = SystemClock.unix_ms();
        let done = &mut self.done;
        let mut one = rows::row(&seen, &done.settings.roots, now_unix_ms);
        done.is_cut |= earlier_scan::is_cut_off(&one);
        let host = (one.host.clone(), one.address.clone());
        // A usual port of a host where nobody listens is no news, unless nobody listens on any.
        if seen.target.is_named || seen.facts.service.is_some() {
            done.answered.insert(host);
            accept(&mut one, &done.settings.accepted, now_unix_ms);
            self.listener.row(&one);
            done.rows.push(one);
        } else {
            done.silent.entry(host).or_insert(one);
        }
        true
    }

    fn dialled(&mut self, address: IpAddr) {
        self.state.borrow_mut().1.spend(address, 1);
    }

    fn is_to_end(&mut self) -> bool {
        self.state.borrow_mut().1.save_now_and_then();
        let done = &self.done;
        self.listener.so_far(&|| done.report(done.rows.clone(), false));
        self.stop.load(Ordering::Relaxed)
    }
}

type HostKey = (String, Option<String>);

/// Targets that have a row, or are being asked for one.
#[derive(Default)]
struct Known {
    targets: HashSet<(String, SocketAddr)>,
    /// Hosts with a row of an earlier run.
    hosts: BTreeSet<HostKey>,
    /// Hosts whose usual ports are all silent.
    silent_hosts: HashSet<(String, IpAddr)>,
}

impl Known {
    fn keep(&mut self, row: &TargetRow) {
        self.hosts.insert((row.host.clone(), row.address.clone()));
        let Some(ip) = row.address.as_deref().and_then(|ip| ip.parse::<IpAddr>().ok()) else { return };
        self.targets.insert((row.host.clone(), SocketAddr::new(ip, row.port)));
        if earlier_scan::is_of_whole_host(row) {
            self.silent_hosts.insert((row.host.clone(), ip));
        }
    }

    fn is_new(&mut self, target: &Target) -> bool {
        if !target.is_named && self.silent_hosts.contains(&(target.host.clone(), target.address.ip())) {
            return false;
        }
        self.targets.insert((target.host.clone(), target.address))
    }
}

/// Notes which findings of a row somebody has accepted.
fn accept(row: &mut TargetRow, accepted: &Acceptances, now_unix_ms: u64) {
    let address = row.address.clone().unwrap_or_default();
    let at_port = address.parse::<IpAddr>().map(|ip| SocketAddr::new(ip, row.port).to_string());
    let names = [row.target.as_str(), &row.host, &address, at_port.as_deref().unwrap_or_default()];
    let today = Day::of_unix_ms(now_unix_ms);
    row.accepted = row
        .findings
        .iter()
        .filter(|finding| matches!(finding.verdict, VerdictWord::Fail | VerdictWord::Unknown))
        .filter_map(|finding| accepted.of(&finding.rule, &names, today))
        .map(rows::accepted)
        .collect();
}

/// File descriptors for everything but connections.
const OTHER_DESCRIPTORS: u64 = 64;

/// As many targets at once as this process can have connections, its soft limit raised as far as it may.
fn at_once(wished: usize) -> usize {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return wished };
    let limit =
        if soft < hard && setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_ok() { hard } else { soft };
    let most = limit.saturating_sub(OTHER_DESCRIPTORS).max(1);
    wished.min(usize::try_from(most).unwrap_or(usize::MAX))
}

pub fn depth_word(depth: Depth) -> &'static str {
    match depth {
        Depth::First => "first",
        Depth::Classes => "classes",
        Depth::Full => "full",
    }
}

type Rows = Arc<Mutex<Vec<TargetRow>>>;

/// Looks names up on threads of their own; rows of names without an address are kept apart.
fn resolve(target_specs: &[TargetSpec], settings: &Settings) -> (mpsc::Receiver<Target>, Rows) {
    // Bounded: a file of a million names, or a range, is not turned into as many targets at once.
    let (send, receive) = mpsc::sync_channel(1024);
    let rows: Rows = Arc::default();
    let queue: Arc<Mutex<VecDeque<TargetSpec>>> =
        Arc::new(Mutex::new(target_specs.iter().cloned().collect()));
    // A port that is named beside its host alone gets a row in any case.
    let named: Arc<HashSet<(String, u16)>> = Arc::new(
        target_specs
            .iter()
            .filter_map(|spec| match spec {
                TargetSpec::Place { host, port: Some(port) } => Some((host.clone(), *port)),
                _ => None,
            })
            .collect(),
    );
    for _ in 0..RESOLVERS.min(target_specs.len()) {
        let resolver = Resolver {
            send: {
                let send = send.clone();
                Box::new(move |target| send.send(target).map_err(|_| Over))
            },
            rows: Arc::clone(&rows),
            named: Arc::clone(&named),
            authorized: settings.authorized.iter().cloned().collect(),
            nameservers: settings.nameservers.clone(),
        };
        let queue = Arc::clone(&queue);
        thread::spawn(move || {
            loop {
                let spec = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                let Some(spec) = spec else { return };
                if resolver.spec(&spec).is_err() {
                    return;
                }
            }
        });
    }
    (receive, rows)
}

/// Nobody takes targets any more.
struct Over;

struct Resolver {
    send: Box<dyn Fn(Target) -> Result<(), Over> + Send>,
    rows: Rows,
    named: Arc<HashSet<(String, u16)>>,
    /// All of them must hold an address.
    authorized: Vec<Authorized>,
    nameservers: Vec<SocketAddr>,
}

impl Resolver {
    fn spec(&self, spec: &TargetSpec) -> Result<(), Over> {
        match spec {
            TargetSpec::Place { host, port } => self.host(host, *port),
            TargetSpec::Range { range, port } => {
                range.hosts().try_for_each(|ip| self.address(&ip.to_string(), ip, *port))
            }
            TargetSpec::Service { name } => match srv::look_up(name, &self.nameservers) {
                Ok(found) => {
                    if found.left_out > 0 {
                        let why = format!("{} more of its servers are not scanned", found.left_out);
                        self.note(rows::no_service(name, &why));
                    }
                    found.places.iter().try_for_each(|(host, port)| self.host(host, Some(*port)))
                }
                Err(why) => {
                    self.note(rows::no_service(name, &format!("cannot look up its SRV record: {why}")));
                    Ok(())
                }
            },
        }
    }

    fn host(&self, host: &str, port: Option<u16>) -> Result<(), Over> {
        match addresses(host) {
            Ok(addresses) => addresses.into_iter().try_for_each(|ip| self.address(host, ip, port)),
            Err(why) => {
                self.note(rows::no_address(host, port, &why));
                Ok(())
            }
        }
    }

    fn address(&self, host: &str, ip: IpAddr, port: Option<u16>) -> Result<(), Over> {
        if let Some(authorized) = self.authorized.iter().find(|authorized| !authorized.holds(ip)) {
            self.note(rows::unauthorized(host, ip, port, &authorized.path));
            return Ok(());
        }
        match port {
            Some(port) => self.target(host, ip, port, true),
            None => Port::USUAL.iter().try_for_each(|(port, _)| {
                self.target(host, ip, *port, self.named.contains(&(host.to_owned(), *port)))
            }),
        }
    }

    fn target(&self, host: &str, ip: IpAddr, port: u16, is_named: bool) -> Result<(), Over> {
        (self.send)(Target::new(host, ip, port, is_named))
    }

    fn note(&self, row: TargetRow) {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).push(row);
    }
}

fn addresses(host: &str) -> Result<Vec<IpAddr>, String> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(vec![ip.to_canonical()]);
    }
    let mut found: Vec<IpAddr> = (host, 0)
        .to_socket_addrs()
        .map_err(|error| error.to_string())?
        .map(|address| address.ip().to_canonical())
        .collect();
    found.dedup();
    found.truncate(ADDRESSES_MAX);
    if found.is_empty() { Err("the name has no address".into()) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings { depth: Depth::First, ..Settings::default() }
    }

    #[test]
    fn every_wish_has_a_row_also_the_dead_and_the_nameless() {
        let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound");
        let words = [closed.to_string(), "no-such-name.invalid:3306".to_owned()];
        let target_specs = target_specs(words.iter().map(String::as_str)).expect("targets");
        let mut came = Vec::new();
        let mut budget = Budget::in_memory();
        let report =
            scan(&target_specs, &settings(), &mut budget, &AtomicBool::new(false), &mut |row: &TargetRow| {
                came.push(row.target.clone());
            })
            .expect("sockets");
        assert_eq!((report.targets.len(), came.len(), report.is_complete), (2, 2, true));
        let dead = report.targets.iter().find(|row| row.target == closed.to_string()).expect("a row");
        assert!(dead.service.is_none() && dead.grade.is_none());
        assert!(dead.not_seen.iter().any(|why| why.contains("refused")), "{dead:?}");
        let nameless = report.targets.iter().find(|row| row.host.ends_with(".invalid")).expect("a row");
        assert_eq!((nameless.address.as_ref(), nameless.connections), (None, 0));
    }

    #[test]
    fn an_address_whose_budget_is_spent_is_not_dialled() {
        let target_specs = target_specs(["192.0.2.1:3306"]).expect("a target");
        let mut budget = Budget::in_memory();
        budget.spend("192.0.2.1".parse().expect("an address"), 40);
        let report =
            scan(&target_specs, &settings(), &mut budget, &AtomicBool::new(false), &mut |_: &TargetRow| {})
                .expect("no sockets");
        let row = &report.targets[0];
        assert_eq!(row.connections, 0);
        assert!(row.not_seen[0].contains("40 connections"), "{row:?}");
    }

    /// Greets nobody; says when somebody comes. By 0.0.0.0 it is reached as no loopback address, so that it is counted.
    fn mute() -> (SocketAddr, mpsc::Receiver<()>) {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let (send, came) = mpsc::channel();
        thread::spawn(move || {
            let mut kept = Vec::new();
            for stream in listener.incoming() {
                kept.push(stream);
                let _ = send.send(());
            }
        });
        (SocketAddr::from(([0, 0, 0, 0], port)), came)
    }

    #[test]
    fn scans_side_by_side_do_not_spend_more_than_one_may() {
        let (address, came) = mute();
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("connections.json");
        let limits = Limits { connection_ms: 200, silence_ms: 50, ..Limits::default() };
        let settings = Settings { limits, connections_per_address: 3, ..settings() };
        let rows = thread::scope(|scope| {
            let runs = [(); 6].map(|()| {
                scope.spawn(|| {
                    let target_specs = target_specs([address.to_string().as_str()]).expect("a target");
                    let mut budget = Budget::at(path.clone());
                    scan(
                        &target_specs,
                        &settings,
                        &mut budget,
                        &AtomicBool::new(false),
                        &mut |_: &TargetRow| {},
                    )
                    .expect("sockets")
                    .targets
                })
            });
            runs.map(|run| run.join().expect("no panic")).concat()
        });
        assert_eq!((rows.len(), came.try_iter().count()), (6, 3), "{rows:?}");
        assert!(rows.iter().any(|row| row.connections == 0 && row.not_seen[0].contains("3 connections")));
    }

    #[test]
    fn an_address_that_another_asks_is_waited_for_and_not_for_ever() {
        let (address, came) = mute();
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("connections.json");
        let mut other = Budget::at(path.clone());
        assert!(other.take_turn(address.ip()));
        let settings = Settings { turn_wait: Duration::from_millis(50), ..settings() };
        let words = [address.to_string(), "127.0.0.1:1".to_owned()];
        let target_specs = target_specs(words.iter().map(String::as_str)).expect("targets");
        let report = scan(
            &target_specs,
            &settings,
            &mut Budget::at(path),
            &AtomicBool::new(false),
            &mut |_: &TargetRow| {},
        )
        .expect("sockets");
        assert_eq!((report.targets.len(), came.try_iter().count()), (2, 0));
        assert!(report.targets.iter().any(|row| row.not_seen[0].contains("another sealion")), "{report:?}");
    }

    #[test]
    fn an_ended_scan_ends_at_once_and_counts_what_was_begun() {
        let (address, came) = mute();
        let word = address.to_string();
        let target_specs = target_specs([word.as_str()]).expect("a target");
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        thread::spawn(move || {
            came.recv().expect("a connection");
            asked.store(true, Ordering::Relaxed);
        });
        let limits = Limits { connection_ms: 60_000, silence_ms: 60_000, ..Limits::default() };
        let mut budget = Budget::in_memory();
        let began = std::time::Instant::now();
        let report = scan(
            &target_specs,
            &Settings { limits, ..settings() },
            &mut budget,
            &stop,
            &mut |_: &TargetRow| {},
        )
        .expect("sockets");
        assert!(began.elapsed() < std::time::Duration::from_secs(5), "{:?}", began.elapsed());
        assert_eq!((report.is_complete, budget.left(address.ip(), 40)), (false, 39));
        let row = &report.targets[0];
        assert_eq!((row.connections, earlier_scan::is_cut_off(row)), (1, true), "{row:?}");
        assert!(earlier_scan::whole_rows(&report).is_empty());
    }

    #[test]
    fn a_scan_that_was_ended_with_nothing_left_to_ask_is_complete() {
        let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound");
        let word = closed.to_string();
        let target_specs = target_specs([word.as_str()]).expect("a target");
        let stop = AtomicBool::new(false);
        let report =
            scan(&target_specs, &settings(), &mut Budget::in_memory(), &stop, &mut |_: &TargetRow| {
                stop.store(true, Ordering::Relaxed);
            })
            .expect("sockets");
        assert_eq!((report.targets.len(), report.is_complete), (1, true));
    }
}
