//! Connections a second: each thread connects, says goodbye, and does it again.
//!
//! [`Peer::Echo`] is the floor under that: the same TLS to something that is no database.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use net::{ConnectOptions, ConnectTimings, Connector, NetError, Traffic};

use super::measure::{Cpu, Tally, ns};
use super::workload::Kind;
use super::{Costs, Interim, LoadError, Outcome, TlsShape};
use crate::cpu;

/// What is connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Peer {
    #[default]
    Mysql,
    /// [`super::echo`]: a byte there, and the same one back.
    Echo,
}

/// One measurement.
#[derive(Debug, Clone)]
pub struct Spec {
    pub peer: Peer,
    /// Each thread begins with another of them.
    pub targets: Vec<ConnectOptions>,
    /// Connections that are made at once.
    pub threads: usize,
    pub warm_up: Duration,
    pub time: Duration,
    pub server_pids: Vec<i32>,
}

/// So many connections that fail one after the other end a thread.
const FAILURES_MAX: u32 = 20;

/// Connects and quits. An event is a connection: from dialling to the goodbye.
///
/// # Errors
/// When the first connection cannot be made.
pub fn run(spec: &Spec, stop: &AtomicBool, progress: &mut dyn FnMut(Interim)) -> Result<Outcome, LoadError> {
    let wished = spec.threads;
    let refuse = |error| LoadError::Connect { made: 0, wished, error };
    let given_up = Arc::new(AtomicBool::new(false));
    let connectors = spec
        .targets
        .iter()
        .map(|options| {
            // Nothing is waited for behind the login.
            let io_timeout = Duration::ZERO;
            Connector::new(ConnectOptions {
                given_up: Some(Arc::clone(&given_up)),
                io_timeout,
                ..options.clone().for_login_only().for_application()
            })
        })
        .collect::<Result<Vec<_>, _>>()
        .map_err(refuse)?;
    let began = Instant::now();
    let (mut tls, mut server_version) = (None, String::new());
    let shape = |tls: &net::TlsInfo| TlsShape { version: tls.version.clone(), cipher: tls.cipher.clone() };
    let mut first = |connector: &Connector| -> Result<(), NetError> {
        match spec.peer {
            Peer::Mysql => {
                let client = connector.connect()?;
                tls = client.tls().map(shape);
                client.server_version().clone_into(&mut server_version);
                client.quit()
            }
            Peer::Echo => {
                let echoed = connector.echo()?;
                tls = echoed.tls.as_ref().map(shape);
                "an echo".clone_into(&mut server_version);
                Ok(())
            }
        }
    };
    let seen = thread::scope(|scope| {
        let seeing = scope.spawn(|| connectors.iter().try_for_each(&mut first));
        while !seeing.is_finished() {
            given_up.store(stop.load(Ordering::Relaxed), Ordering::Relaxed);
            thread::sleep(Duration::from_millis(2));
        }
        seeing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    match seen {
        // Whoever was told to give up has not failed.
        Err(error) if !stop.load(Ordering::Relaxed) => return Err(refuse(error)),
        _ => {}
    }
    let connecting = began.elapsed();
    let started = Instant::now();
    let measure_at = started + spec.warm_up;
    let end_at = measure_at + spec.time;
    let counts: [AtomicU64; 3] = Default::default();
    let [events, errors, event_ns] = &counts;
    let is_over = || Instant::now() >= end_at || stop.load(Ordering::Relaxed);
    let one = |first: usize| {
        let (mut tally, mut is_measuring, mut failures) = (Tally::default(), false, 0);
        let mut number = first;
        while !is_over() {
            let now = Instant::now();
            let Some(connector) = connectors.get(number % connectors.len()) else { break };
            number += 1;
            let made: Result<(ConnectTimings, bool, Traffic), NetError> = match spec.peer {
                Peer::Mysql => connector.connect().and_then(|client| {
                    let is_resumed = client.tls().is_some_and(|tls| tls.session_reused);
                    let timings = client.timings();
                    client.leave().map(|traffic| (timings, is_resumed, traffic))
                }),
                Peer::Echo => connector.echo().map(|echoed| {
                    let is_resumed = echoed.tls.is_some_and(|tls| tls.session_reused);
                    (echoed.timings, is_resumed, echoed.traffic)
                }),
            };
            let done = Instant::now();
            if !is_measuring && done >= measure_at {
                // What ends from here on counts, whenever it began, as does its CPU time: as much of it is missing at the beginning as
                // of others at the end.
                is_measuring = true;
                // What could not be connected before counts all the same.
                let Tally { errors, lost, lost_why, .. } = tally;
                tally = Tally { errors, lost, lost_why, ..Tally::default() };
            }
            if done > end_at {
                tally.under_way(ns(end_at.saturating_duration_since(now)));
            }
            match made {
                Ok((timings, is_resumed, traffic)) => {
                    failures = 0;
                    if is_measuring && done <= end_at && !stop.load(Ordering::Relaxed) {
                        tally.event(ns(done.duration_since(now)));
                        tally.resumed += u64::from(is_resumed);
                        tally.traffic(traffic);
                        let handshake = timings.tls + timings.greeting;
                        tally.query(Kind::Other, &wire::Answer::default(), ns(handshake));
                    }
                    events.fetch_add(1, Ordering::Relaxed);
                    event_ns.fetch_add(ns(done.duration_since(now)), Ordering::Relaxed);
                }
                // Not the server's fault.
                Err(_) if stop.load(Ordering::Relaxed) || done > end_at => break,
                Err(error) => {
                    errors.fetch_add(1, Ordering::Relaxed);
                    failures += 1;
                    match &error {
                        NetError::Refused { code, message, .. } => tally.error(*code, message),
                        _ => tally.lost(&error),
                    }
                    if failures >= FAILURES_MAX {
                        break;
                    }
                    // A server that refuses is not hammered.
                    thread::sleep(Duration::from_millis(20));
                }
            }
        }
        tally
    };
    let server_us = || cpu::processes_us(&spec.server_pids);
    let (tally, elapsed, (server_cpu_us, energy_j)) = thread::scope(|scope| {
        let one = &one;
        let running: Vec<_> = (0..spec.threads).map(|number| scope.spawn(move || one(number))).collect();
        let mut costs = Costs::default();
        let (mut tally, mut ended) = (Tally::default(), None);
        let mut cpu: Option<Cpu> = None;
        let mut told = Instant::now();
        while running.iter().any(|thread| !thread.is_finished()) {
            let now = Instant::now();
            if cpu.is_none() && now >= measure_at {
                costs.begin(&server_us);
                cpu = Some(Cpu::of_process());
            }
            given_up.store(stop.load(Ordering::Relaxed), Ordering::Relaxed);
            // Connections that are under way then may take their time: it is not measured.
            if ended.is_none() && is_over() {
                ended = Some(now.min(end_at));
                costs.end(&server_us);
                if let Some(cpu) = &cpu {
                    cpu.add_to(&mut tally);
                }
            }
            if now.duration_since(told) >= Duration::from_secs(1) {
                told = now;
                costs.look();
                let events = events.load(Ordering::Relaxed);
                progress(Interim {
                    elapsed: now.duration_since(started),
                    is_warm: now >= measure_at,
                    is_over: now >= end_at,
                    events,
                    queries: events,
                    errors: errors.load(Ordering::Relaxed),
                    event_ns: event_ns.load(Ordering::Relaxed),
                    client_cpu_us: cpu::own_us(),
                    server_cpu_us: server_us(),
                });
            }
            // As exactly as a sleep goes.
            let next = [measure_at, end_at].into_iter().filter(|at| *at > now).min();
            let left = next.map_or(Duration::MAX, |at| at.duration_since(now));
            thread::sleep(left.min(Duration::from_millis(10)));
        }
        if ended.is_none() {
            costs.end(&server_us);
            if let Some(cpu) = &cpu {
                cpu.add_to(&mut tally);
            }
        }
        for thread in running {
            match thread.join() {
                Ok(one) => tally.add(one),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        let ended = ended.unwrap_or_else(|| Instant::now().min(end_at));
        (tally, ended.saturating_duration_since(measure_at), costs.told())
    });
    let ended_after = started.elapsed();
    let failed: u64 = tally.lost + tally.errors.values().map(|error| error.count).sum::<u64>();
    let why = if failed > 0 {
        let why = tally.lost_why.clone();
        let why = why.or_else(|| tally.errors.values().next().map(|error| error.message.clone()));
        Some(format!("{failed} connections failed: {}", why.unwrap_or_default()))
    } else if tally.is_stalled_at_end() {
        Some(super::stalled(&tally, spec.threads))
    } else if tally.events == 0 {
        Some("no connection was made during the measurement".to_owned())
    } else {
        None
    };
    Ok(Outcome {
        tally,
        elapsed,
        // Whoever ends before it is warm has measured nothing.
        warm_up: spec.warm_up.min(ended_after),
        was_warm: None,
        connections: spec.threads,
        workers: spec.threads,
        connecting,
        tls,
        server_version,
        server_cpu_us,
        energy_j,
        partial: super::partial(stop, why),
    })
}
