//! A client that writes into the donor while it is copied: single rows, at a rate that a server has time for beside a backup.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use net::Client;
use site::OpsError;
use site::servers::{Server, internal};

use super::WRITTEN;

/// Rows, each a transaction, one after the other.
pub const OFFERED_PER_S: u32 = 200;

/// It ends with this.
pub struct Writer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Result<(), net::NetError>>>,
}

#[derive(Default)]
struct Shared {
    is_over: AtomicBool,
    rows: AtomicU64,
    longest_us: AtomicU64,
    /// Since when a row is under way.
    since: Mutex<Option<Instant>>,
}

/// What was written since the count began.
pub struct Written {
    pub rows: u64,
    /// That a row took, also one that was still under way; `None`: there was none.
    pub longest: Option<Duration>,
}

impl Shared {
    fn since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn took(&self, time: Duration) {
        self.longest_us.fetch_max(u64::try_from(time.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

impl Writer {
    /// # Errors
    /// The server does not let it in.
    pub fn start(server: &Server, schema: &str) -> Result<Self, OpsError> {
        let client = server.session().map_err(super::super::cannot_begin)?;
        let insert = format!("INSERT INTO {schema}.{WRITTEN} (word) VALUES ('row')");
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("donor writes".into())
            .spawn(move || write(client, &insert, &of_thread))
            .map_err(internal("cannot start a thread"))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// What was before does not count.
    pub fn count_from_now(&self) {
        self.shared.rows.store(0, Ordering::Relaxed);
        self.shared.longest_us.store(0, Ordering::Relaxed);
    }

    /// Until now.
    ///
    /// # Errors
    /// The server has refused a row: then their number says nothing.
    pub fn end(mut self) -> Result<Written, OpsError> {
        if let Some(since) = *self.shared.since() {
            self.shared.took(since.elapsed());
        }
        let (rows, longest_us) =
            (self.shared.rows.load(Ordering::Relaxed), self.shared.longest_us.load(Ordering::Relaxed));
        match self.join() {
            Ok(()) => {
                let longest = (longest_us > 0).then(|| Duration::from_micros(longest_us));
                Ok(Written { rows, longest })
            }
            Err(error) => Err(OpsError::internal("the donor takes no rows", error)),
        }
    }

    fn join(&mut self) -> Result<(), net::NetError> {
        self.shared.is_over.store(true, Ordering::Relaxed);
        self.thread.take().map_or(Ok(()), |thread| thread.join().unwrap_or(Ok(())))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.join();
    }
}

fn write(mut client: Client, insert: &str, shared: &Shared) -> Result<(), net::NetError> {
    let each = Duration::from_secs(1) / OFFERED_PER_S;
    let mut due = Instant::now();
    while !shared.is_over.load(Ordering::Relaxed) {
        let now = Instant::now();
        if due > now {
            std::thread::sleep(due - now);
        }
        let began = Instant::now();
        *shared.since() = Some(began);
        let written = client.execute(insert);
        *shared.since() = None;
        written?;
        shared.took(began.elapsed());
        shared.rows.fetch_add(1, Ordering::Relaxed);
        // What had to wait is not made up for: a client whose row waits has no other meanwhile.
        due = (due + each).max(Instant::now());
    }
    let _ = client.quit();
    Ok(())
}
