//! How far a copy is, for whoever shows it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::StreamError;
use crate::times::{Bottleneck, Shown};

/// Why one of several connections has given up, for the others: each tells its peer the same.
#[derive(Debug, Default)]
pub(crate) struct GivenUp {
    is_so: AtomicBool,
    why: Mutex<Option<String>>,
}

impl GivenUp {
    /// Notes the first reason; returns what is to be told to the peer of whoever has failed.
    pub fn because(&self, error: &StreamError) -> String {
        let mut why = self.why.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_so.store(true, Ordering::Relaxed);
        match (&*why, error) {
            (Some(why), StreamError::Stopped) => why.clone(),
            (Some(_), _) => error.to_string(),
            (None, _) => why.insert(error.to_string()).clone(),
        }
    }

    pub fn is_so(&self) -> bool {
        self.is_so.load(Ordering::Relaxed)
    }
}

#[derive(Debug, Default)]
pub struct Progress {
    done_bytes: AtomicU64,
    /// Of all files; 0 as long as that is not known.
    total_bytes: AtomicU64,
    is_stopped: AtomicBool,
    /// When the two ends had met.
    met: OnceLock<Instant>,
    pub(crate) bottleneck: Shown,
}

impl Progress {
    pub fn done_bytes(&self) -> u64 {
        self.done_bytes.load(Ordering::Relaxed)
    }

    pub fn total_bytes(&self) -> u64 {
        self.total_bytes.load(Ordering::Relaxed)
    }

    /// The two ends have met: what comes now is the copy, and no waiting for it.
    pub(crate) fn begin(&self) {
        let _ = self.met.set(Instant::now());
    }

    /// Since the two ends met; `None`: they have not.
    pub fn copying(&self) -> Option<Duration> {
        self.met.get().map(Instant::elapsed)
    }

    pub fn bottleneck(&self) -> Bottleneck {
        self.bottleneck.get()
    }

    /// Ends the copy at the next piece.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, bytes: u64) {
        self.done_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub fn set_total(&self, bytes: u64) {
        self.total_bytes.store(bytes, Ordering::Relaxed);
    }
}
