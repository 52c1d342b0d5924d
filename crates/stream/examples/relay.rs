//! A line that is slower and longer than loopback: `relay IP:PORT TO_IP:PORT DELAY_MS MBIT_PER_S`.
//!
//! What comes on any connection is passed on DELAY_MS later, each way, and all connections of a way together carry no more than
//! MBIT_PER_S. It runs until it is ended. For measurements (scripts/bench-sst.sh): no root, no `tc`, but no loss either.

use std::error::Error;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// What is passed on at once; and what a connection holds beside what is under way.
const PIECE_BYTES: usize = 64 << 10;
const HELD_PIECES: usize = 16;

/// One way of the line, of all connections.
struct Line {
    bytes_per_s: f64,
    /// When all that was let through will have left.
    free_at: Mutex<Instant>,
}

impl Line {
    /// When the last of so many bytes has left.
    fn leaves_at(&self, bytes: usize) -> Instant {
        let mut free_at = self.free_at.lock().unwrap_or_else(PoisonError::into_inner);
        let leaves =
            (*free_at).max(Instant::now()) + Duration::from_secs_f64(bytes as f64 / self.bytes_per_s);
        *free_at = leaves;
        leaves
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [listen, to, delay_ms, mbit_per_s] = &args[..] else {
        eprintln!("usage: relay IP:PORT TO_IP:PORT DELAY_MS MBIT_PER_S");
        return ExitCode::from(2);
    };
    match run(listen, to, delay_ms, mbit_per_s) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(listen: &str, to: &str, delay_ms: &str, mbit_per_s: &str) -> Result<(), Box<dyn Error>> {
    let delay = Duration::from_millis(delay_ms.parse()?);
    let mbit_per_s: u32 = mbit_per_s.parse()?;
    let bytes_per_s = f64::from(mbit_per_s) * 1e6 / 8.0;
    // As much as the line itself holds there and back: a window that is never what one waits for.
    let under_way_bytes = u128::from(mbit_per_s) * 125 * delay.as_millis() * 2;
    let pieces = usize::try_from(under_way_bytes)? / PIECE_BYTES + HELD_PIECES;
    let line = || Arc::new(Line { bytes_per_s, free_at: Mutex::new(Instant::now()) });
    let (there, back) = (line(), line());
    let listener = TcpListener::bind(listen)?;
    loop {
        let (near, _) = listener.accept()?;
        let Ok(far) = TcpStream::connect(to) else { continue };
        near.set_nodelay(true)?;
        far.set_nodelay(true)?;
        pass(near.try_clone()?, far.try_clone()?, Arc::clone(&there), delay, pieces);
        pass(far, near, Arc::clone(&back), delay, pieces);
    }
}

/// One way of one connection. Its end is passed on too.
fn pass(mut from: TcpStream, mut to: TcpStream, line: Arc<Line>, delay: Duration, pieces: usize) {
    let (sender, arrived) = mpsc::sync_channel::<(Instant, Vec<u8>)>(pieces);
    std::thread::spawn(move || {
        let mut room = vec![0; PIECE_BYTES];
        while let Ok(count @ 1..) = from.read(&mut room) {
            let leaves = line.leaves_at(count);
            // A sender is held up at the line, not behind it.
            std::thread::sleep(leaves.saturating_duration_since(Instant::now()));
            let bytes = room.get(..count).unwrap_or_default().to_vec();
            if sender.send((leaves + delay, bytes)).is_err() {
                break;
            }
        }
    });
    std::thread::spawn(move || {
        for (due, bytes) in arrived {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Write);
    });
}
