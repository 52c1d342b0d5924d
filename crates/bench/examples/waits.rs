//! One writer, and how long it waits: `waits SOCKET SCHEMA.TABLE ROWS`, until standard input ends.
//!
//! It updates a row at a time by its primary key `a` (column `c` of `scripts/bench-rest.sh`), commits, and takes the next one by chance.
//! A write that fails, or that finds no server, is tried again: it has waited from its first try on. At the end, one line:
//! `writes,median ms,99 % ms,worst ms,tried again`.

use std::io::Read;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use net::{Client, ConnectOptions, Endpoint};

/// A server that is restarted is asked again so soon.
const AGAIN: Duration = Duration::from_millis(5);
/// 1 µs to ten minutes.
const MICROS_MAX: u64 = 600_000_000;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [socket, table, rows] = &words[..] else {
        eprintln!("usage: waits SOCKET SCHEMA.TABLE ROWS <PIPE");
        return ExitCode::from(2);
    };
    let Ok(rows) = rows.parse::<u64>() else {
        eprintln!("{rows:?} is no number of rows");
        return ExitCode::from(2);
    };
    match run(socket, table, rows) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn run(socket: &str, table: &str, rows: u64) -> Result<String, String> {
    let stop = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&stop);
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        set.store(true, Ordering::Relaxed);
    });
    let login = ConnectOptions {
        io_timeout: Duration::from_secs(600),
        ..ConnectOptions::new(Endpoint::Unix { path: socket.into() }, "root")
    };
    let mut waits = Histogram::<u64>::new_with_bounds(1, MICROS_MAX, 3).map_err(|error| error.to_string())?;
    let (mut client, mut again) = (None, 0_u64);
    while !stop.load(Ordering::Relaxed) {
        let sql = format!("UPDATE {table} SET c = c + 1 WHERE a = {}", fastrand::u64(1..=rows));
        let began = Instant::now();
        loop {
            if client.is_none() {
                client = Client::connect(&login).ok();
            }
            if client.as_mut().is_some_and(|client: &mut Client| client.execute(&sql).is_ok()) {
                break;
            }
            (client, again) = (None, again + 1);
            if stop.load(Ordering::Relaxed) {
                break;
            }
            std::thread::sleep(AGAIN);
        }
        let micros = u64::try_from(began.elapsed().as_micros()).unwrap_or(MICROS_MAX);
        waits.saturating_record(micros.max(1));
    }
    let ms = |micros: u64| f64::from(u32::try_from(micros).unwrap_or(u32::MAX)) / 1000.0;
    Ok(format!(
        "{},{:.1},{:.1},{:.1},{again}",
        waits.len(),
        ms(waits.value_at_quantile(0.5)),
        ms(waits.value_at_quantile(0.99)),
        ms(waits.max())
    ))
}
