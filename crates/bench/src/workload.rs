//! A short closed-loop workload: three point selects and one update a transaction, round robin over the nodes.
//!
//! One block of it describes; it does not compare. Two blocks with restarts between them differ by more than the
//! setting (buffer pools, plans, placement), so no causal interval is claimed from them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use net::{Client, ConnectOptions, Endpoint, NetError};
use serde::{Deserialize, Serialize};

use crate::{Target, cpu};

const ACCOUNTS: u32 = 1000;
/// 1 us to 60 s with three digits.
const LATENCY_US_MAX: u64 = 60_000_000;

#[derive(Debug, Clone)]
pub struct Spec {
    pub targets: Vec<Target>,
    pub threads: u32,
    pub warm_up: Duration,
    pub measure: Duration,
    /// Of the servers, for their processor time.
    pub server_pids: Vec<i32>,
    pub seed: u64,
}

/// One block of measurement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Block {
    pub seconds: f64,
    pub transactions: u64,
    pub errors: u64,
    /// Transactions of each whole second.
    pub per_s_samples: Vec<f64>,
    pub throughput_per_s: f64,
    /// Standard deviation of the samples: the spread within this block.
    pub throughput_sd: f64,
    pub latency_ms_p50: f64,
    pub latency_ms_p95: f64,
    pub latency_ms_p99: f64,
    pub client_cpu_us_per_txn: f64,
    pub server_cpu_us_per_txn: f64,
    /// Connections of this block that were over TLS, of all.
    pub tls_connections: u32,
    pub connections: u32,
}

pub fn prepare(login: &ConnectOptions, target: &Target) -> Result<(), NetError> {
    let options =
        ConnectOptions { endpoint: Endpoint::tcp(target.host.clone(), target.port), ..login.clone() };
    let mut client = Client::connect(&options)?;
    for statement in crate::PREPARE {
        client.execute(statement)?;
    }
    let rows: Vec<String> = (0..ACCOUNTS).map(|id| format!("({id}, 1000, REPEAT('x', 100))")).collect();
    client.execute(&format!("INSERT IGNORE INTO {}.accounts VALUES {}", crate::SCHEMA, rows.join(",")))?;
    Ok(())
}

/// Runs one block.
pub fn run(spec: &Spec, login: &ConnectOptions) -> Result<Block, NetError> {
    let done = AtomicU64::new(0);
    let errors = AtomicU64::new(0);
    let measuring = AtomicBool::new(false);
    let stop = AtomicBool::new(false);
    let mut clients = Vec::new();
    for n in 0..spec.threads {
        let target = &spec.targets[n as usize % spec.targets.len()];
        let options =
            ConnectOptions { endpoint: Endpoint::tcp(target.host.clone(), target.port), ..login.clone() };
        clients.push(Client::connect(&options.for_application())?);
    }
    let tls_connections =
        u32::try_from(clients.iter().filter(|client| client.tls().is_some()).count()).unwrap_or(0);
    let server_us = || spec.server_pids.iter().filter_map(|&pid| cpu::process_us(pid)).sum::<u64>();
    std::thread::scope(|scope| {
        let threads: Vec<_> = clients
            .into_iter()
            .enumerate()
            .map(|(n, client)| {
                let (done, errors, measuring, stop) = (&done, &errors, &measuring, &stop);
                scope.spawn(move || worker(client, spec.seed + n as u64, done, errors, measuring, stop))
            })
            .collect();
        std::thread::sleep(spec.warm_up);
        let (cpu_before, server_before) = (cpu::own_us(), server_us());
        let began = Instant::now();
        let at_begin = done.load(Ordering::Relaxed);
        measuring.store(true, Ordering::Relaxed);
        let mut samples = Vec::new();
        let (mut last, mut last_at) = (at_begin, began);
        while began.elapsed() < spec.measure {
            std::thread::sleep(Duration::from_secs(1).min(spec.measure.saturating_sub(began.elapsed())));
            let (now, at) = (done.load(Ordering::Relaxed), Instant::now());
            samples.push((now - last) as f64 / at.duration_since(last_at).as_secs_f64());
            (last, last_at) = (now, at);
        }
        measuring.store(false, Ordering::Relaxed);
        let seconds = began.elapsed().as_secs_f64();
        let transactions = last - at_begin;
        let (cpu_after, server_after) = (cpu::own_us(), server_us());
        stop.store(true, Ordering::Relaxed);
        let mut latency = Histogram::<u64>::new_with_max(LATENCY_US_MAX, 3).expect("constant bounds");
        for thread in threads {
            if let Ok(one) = thread.join() {
                let _ = latency.add(one);
            }
        }
        let mean = samples.iter().sum::<f64>() / samples.len().max(1) as f64;
        let variance =
            samples.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (samples.len().max(2) - 1) as f64;
        let ms = |quantile| latency.value_at_quantile(quantile) as f64 / 1000.0;
        let each = |us: u64| us as f64 / transactions.max(1) as f64;
        Ok(Block {
            seconds,
            transactions,
            errors: errors.load(Ordering::Relaxed),
            throughput_per_s: transactions as f64 / seconds,
            throughput_sd: variance.sqrt(),
            per_s_samples: samples,
            latency_ms_p50: ms(0.50),
            latency_ms_p95: ms(0.95),
            latency_ms_p99: ms(0.99),
            client_cpu_us_per_txn: each(cpu_after.saturating_sub(cpu_before)),
            server_cpu_us_per_txn: each(server_after.saturating_sub(server_before)),
            tls_connections,
            connections: spec.threads,
        })
    })
}

fn worker(
    mut client: Client,
    seed: u64,
    done: &AtomicU64,
    errors: &AtomicU64,
    measuring: &AtomicBool,
    stop: &AtomicBool,
) -> Histogram<u64> {
    let mut latency = Histogram::<u64>::new_with_max(LATENCY_US_MAX, 3).expect("constant bounds");
    // xorshift64*: a repeatable spread over the accounts is all that is needed.
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = move || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        u32::try_from(state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap_or(0) % ACCOUNTS
    };
    let mut sql = String::with_capacity(128);
    while !stop.load(Ordering::Relaxed) {
        let began = Instant::now();
        let mut good = true;
        for turn in 0..4 {
            use std::fmt::Write;
            sql.clear();
            let id = next();
            let _ = if turn < 3 {
                write!(sql, "SELECT balance FROM {}.accounts WHERE id={id}", crate::SCHEMA)
            } else {
                write!(sql, "UPDATE {}.accounts SET balance=balance+1 WHERE id={id}", crate::SCHEMA)
            };
            match client.execute(&sql) {
                Ok(_) => {}
                // A certification conflict (1213) is an answer of Galera, not a broken connection.
                Err(NetError::Refused { .. }) => good = false,
                Err(_) => {
                    errors.fetch_add(1, Ordering::Relaxed);
                    return latency;
                }
            }
        }
        if good {
            done.fetch_add(1, Ordering::Relaxed);
            if measuring.load(Ordering::Relaxed) {
                let us = u64::try_from(began.elapsed().as_micros()).unwrap_or(LATENCY_US_MAX);
                latency.saturating_record(us);
            }
        } else {
            errors.fetch_add(1, Ordering::Relaxed);
        }
    }
    let _ = client.quit();
    latency
}
