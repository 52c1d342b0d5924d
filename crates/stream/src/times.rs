//! Where the time of a copy goes, and so what it waits for.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Instant;

/// What a thread does that is not computing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spent {
    /// Reading the source.
    Reading,
    /// Until the network takes more.
    Sending,
    /// Until something comes.
    Receiving,
    /// Writing to the disk, or to a program.
    Writing,
    /// As was asked for.
    Limited,
}

const KINDS: usize = 5;

/// Of all connections of one end together, in nanoseconds.
#[derive(Debug, Default)]
pub struct Times([AtomicU64; KINDS]);

/// Counts until it is dropped.
pub struct Timer<'t> {
    into: Option<&'t AtomicU64>,
    began: Instant,
}

impl Drop for Timer<'_> {
    fn drop(&mut self) {
        if let Some(into) = self.into {
            let nanos = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            into.fetch_add(nanos, Ordering::Relaxed);
        }
    }
}

impl Times {
    pub fn timer(&self, what: Spent) -> Timer<'_> {
        Timer { into: self.0.get(what as usize), began: Instant::now() }
    }

    fn of(&self, what: Spent) -> u64 {
        self.0.get(what as usize).map_or(0, |nanos| nanos.load(Ordering::Relaxed))
    }
}

/// Parts of the time of all threads, in thousandths, since the last look.
pub struct Look {
    before: [u64; KINDS],
    at: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shares {
    pub reading: u16,
    pub sending: u16,
    pub receiving: u16,
    pub writing: u16,
    pub limited: u16,
}

impl Look {
    pub fn new() -> Self {
        Self { before: [0; KINDS], at: Instant::now() }
    }

    pub fn shares(&mut self, times: &Times, threads: u16) -> Shares {
        let now = Instant::now();
        let whole = now.duration_since(self.at).as_nanos().max(1) * u128::from(threads.max(1));
        let mut share = |what: Spent| {
            let nanos = times.of(what);
            let before = self.before.get_mut(what as usize).map_or(0, |one| std::mem::replace(one, nanos));
            let part = u128::from(nanos.saturating_sub(before)) * 1000 / whole;
            u16::try_from(part.min(1000)).unwrap_or(1000)
        };
        let shares = Shares {
            reading: share(Spent::Reading),
            sending: share(Spent::Sending),
            receiving: share(Spent::Receiving),
            writing: share(Spent::Writing),
            limited: share(Spent::Limited),
        };
        self.at = now;
        shares
    }
}

/// What a copy waits for most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Bottleneck {
    #[default]
    Unknown,
    RateLimit,
    SourceDisk,
    SenderProcessor,
    Network,
    ReceiverProcessor,
    TargetDisk,
}

const ALL: [Bottleneck; 7] = [
    Bottleneck::Unknown,
    Bottleneck::RateLimit,
    Bottleneck::SourceDisk,
    Bottleneck::SenderProcessor,
    Bottleneck::Network,
    Bottleneck::ReceiverProcessor,
    Bottleneck::TargetDisk,
];

impl Bottleneck {
    /// By both ends: what one waits for may be what the other one is busy with.
    pub fn of(sender: Shares, receiver: Shares) -> Self {
        let waits = sender.reading.max(sender.sending).max(sender.limited);
        if waits < 300 {
            return Self::SenderProcessor;
        }
        if waits == sender.limited {
            return Self::RateLimit;
        }
        if waits == sender.reading {
            return Self::SourceDisk;
        }
        let computing = 1000_u16.saturating_sub(receiver.receiving).saturating_sub(receiver.writing);
        if receiver.receiving >= receiver.writing.max(computing) {
            Self::Network
        } else if receiver.writing >= computing {
            Self::TargetDisk
        } else {
            Self::ReceiverProcessor
        }
    }

    /// For people. `None`: nobody knows yet.
    pub fn text(self) -> Option<&'static str> {
        Some(match self {
            Self::Unknown => return None,
            Self::RateLimit => "the rate limit",
            Self::SourceDisk => "reading at the sender",
            Self::SenderProcessor => "the sender's processors",
            Self::Network => "the network",
            Self::ReceiverProcessor => "the receiver's processors",
            Self::TargetDisk => "writing at the receiver",
        })
    }
}

/// A bottleneck that one thread finds and others read.
#[derive(Debug, Default)]
pub struct Shown(AtomicU8);

impl Shown {
    pub fn set(&self, what: Bottleneck) {
        let at = ALL.iter().position(|one| *one == what).unwrap_or(0);
        self.0.store(u8::try_from(at).unwrap_or(0), Ordering::Relaxed);
    }

    pub fn get(&self) -> Bottleneck {
        ALL.get(usize::from(self.0.load(Ordering::Relaxed))).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_ends_wait_for_is_named() {
        let none = Shares::default();
        let sender = |reading, sending, limited| Shares { reading, sending, limited, ..none };
        let receiver = |receiving, writing| Shares { receiving, writing, ..none };
        for (of_sender, of_receiver, wanted) in [
            (sender(100, 50, 0), receiver(900, 50), Bottleneck::SenderProcessor),
            (sender(800, 100, 0), receiver(900, 50), Bottleneck::SourceDisk),
            (sender(10, 100, 850), receiver(900, 50), Bottleneck::RateLimit),
            (sender(100, 800, 0), receiver(900, 50), Bottleneck::Network),
            (sender(100, 800, 0), receiver(100, 800), Bottleneck::TargetDisk),
            (sender(100, 800, 0), receiver(100, 200), Bottleneck::ReceiverProcessor),
        ] {
            assert_eq!(Bottleneck::of(of_sender, of_receiver), wanted);
            let shown = Shown::default();
            shown.set(wanted);
            assert_eq!(shown.get(), wanted);
            assert!(wanted.text().is_some());
        }
    }
}
