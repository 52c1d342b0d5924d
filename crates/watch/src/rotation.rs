//! Certificates that end soon are replaced, where the inventory says so (`[watch.rotate]`).
//!
//! What replaces them is handed in ([`Rotator`]): this crate changes nothing. A rotation begins behind a look at which every server
//! answered, on a thread of its own, one at a time. What stopped half-way is left to a person: nothing here goes on with it, or takes it
//! back.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::time::{Duration, Instant};

use crate::state::{Body, Change, State};

const SECONDS_PER_DAY: i64 = 86_400;
/// What was refused may be possible later.
const AFTER_REFUSAL: Duration = Duration::from_secs(3600);
/// A certificate that still ends soon behind a rotation is not replaced with each look: its CA may end as soon.
const AFTER_ROTATION: Duration = Duration::from_secs(86_400);

/// How a rotation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RotationOutcome {
    /// With what could not be proven, and else with nothing.
    Done(String),
    /// Nothing was changed, and why.
    Refused(String),
    /// It is open, and why.
    Stopped(String),
}

impl RotationOutcome {
    pub const WORDS: [&str; 3] = ["done", "refused", "stopped"];

    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::Refused(_) => "refused",
            Self::Stopped(_) => "stopped",
        }
    }

    pub fn why(&self) -> &str {
        let (Self::Done(why) | Self::Refused(why) | Self::Stopped(why)) = self;
        why
    }
}

/// Who replaces certificates.
pub trait Rotator: Send + Sync {
    /// Whether a rotation may begin at this time of the day.
    fn may_begin(&self) -> bool;

    /// Replaces them; it returns when that has ended.
    fn rotate(&self) -> RotationOutcome;
}

/// Which certificates, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RotationRule {
    /// For people: `clients`, or several with commas.
    pub what: String,
    /// Uses of certificates, as `status-ops` names them.
    pub uses: Vec<&'static str>,
    pub days_before: u32,
}

impl RotationRule {
    /// Servers with the use of the certificate that ends within the days: as it is served and as it is in its file, both read in the last
    /// look. Where the file has a later one, a reload is due and no rotation; of what was not read nothing is said.
    pub fn due(&self, state: &State, now_unix_ms: u64) -> Vec<(String, String)> {
        let until = i64::try_from(now_unix_ms / 1000)
            .unwrap_or(i64::MAX)
            .saturating_add(i64::from(self.days_before) * SECONDS_PER_DAY);
        let ends = |server: &str, usage: &str, seen: &str| {
            let entry = state.entries.get(&("certificate", format!("{server} {usage} {seen}")))?;
            match &entry.body {
                Body::Certificate { facts: Some(facts), unread: None, .. } => {
                    Some(facts.not_after_unix < until)
                }
                _ => None,
            }
        };
        let mut due = Vec::new();
        for entry in state.entries.values() {
            if let Body::Certificate { server, usage, seen, .. } = &entry.body
                && seen == "file"
                && self.uses.contains(&usage.as_str())
                && ends(server, usage, "file") == Some(true)
                && is_served_so(ends(server, usage, "wire"), usage)
            {
                due.push((server.clone(), usage.clone()));
            }
        }
        due
    }
}

/// What a transfer uses is served to nobody in between.
fn is_served_so(on_the_wire: Option<bool>, usage: &str) -> bool {
    on_the_wire.unwrap_or(usage == "sst")
}

/// Of this process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RotationCounts {
    pub what: String,
    pub done: u64,
    pub refused: u64,
    pub stopped: u64,
    /// Certificates that end within the days, in the last look at which every server answered.
    pub due: u64,
    pub last_done_unix_ms: Option<u64>,
}

impl RotationCounts {
    pub fn of(&self, word: &str) -> u64 {
        match word {
            "done" => self.done,
            "refused" => self.refused,
            _ => self.stopped,
        }
    }
}

/// What the inventory says, and who does it.
#[derive(Clone)]
pub struct Wish {
    pub rule: RotationRule,
    pub rotator: Arc<dyn Rotator>,
}

impl std::fmt::Debug for Wish {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.rule.fmt(f)
    }
}

/// The rule, and what came of it.
pub struct Rotation {
    rule: RotationRule,
    rotator: Arc<dyn Rotator>,
    running: Option<Receiver<RotationOutcome>>,
    /// None is begun before; `None` behind one that stopped half-way.
    next: Option<Instant>,
    /// As it was told last: a refusal that repeats is no news.
    told: Option<String>,
    counts: RotationCounts,
}

/// One that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotated {
    pub what: String,
    pub outcome: RotationOutcome,
    /// Another one ended the same way before, with the same words.
    pub is_known: bool,
}

impl Rotated {
    /// For the program that is told of changes.
    pub fn change(&self) -> Change {
        let to = Some(self.outcome.as_str().to_owned());
        Change { key: ("rotation", self.what.clone()), from: Some("due".into()), to }
    }
}

impl Rotation {
    pub fn new(wish: Wish, now: Instant) -> Self {
        let Wish { rule, rotator } = wish;
        let counts = RotationCounts { what: rule.what.clone(), ..RotationCounts::default() };
        Self { rule, rotator, running: None, next: Some(now), told: None, counts }
    }

    pub const fn counts(&self) -> &RotationCounts {
        &self.counts
    }

    pub const fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Behind a look: begins a rotation if one is due and may begin. True: one has begun.
    pub fn offer(&mut self, state: &State, now_unix_ms: u64, now: Instant) -> bool {
        let is_whole = state.meta.last_look_unix_ms.is_some()
            && state.meta.last_success_unix_ms == state.meta.last_look_unix_ms;
        if !is_whole || self.running.is_some() {
            return false;
        }
        self.counts.due = self.rule.due(state, now_unix_ms).len() as u64;
        let is_time = self.next.is_some_and(|next| now >= next);
        if self.counts.due == 0 || !is_time || !self.rotator.may_begin() {
            return false;
        }
        let (send, outcome) = mpsc::channel();
        let rotator = Arc::clone(&self.rotator);
        std::thread::spawn(move || drop(send.send(rotator.rotate())));
        self.running = Some(outcome);
        true
    }

    /// The one that has ended, if one has.
    pub fn ended(&mut self, now_unix_ms: u64, now: Instant) -> Option<Rotated> {
        let outcome = match self.running.as_ref()?.try_recv() {
            Ok(outcome) => outcome,
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => RotationOutcome::Stopped(
                "sealion lost sight of it; please report this bug\n  next: sealion plan says whether it is open".into(),
            ),
        };
        self.running = None;
        self.next = match &outcome {
            RotationOutcome::Done(_) => Some(now + AFTER_ROTATION),
            RotationOutcome::Refused(_) => Some(now + AFTER_REFUSAL),
            RotationOutcome::Stopped(_) => None,
        };
        match &outcome {
            RotationOutcome::Done(_) => {
                self.counts.done += 1;
                self.counts.last_done_unix_ms = Some(now_unix_ms);
            }
            RotationOutcome::Refused(_) => self.counts.refused += 1,
            RotationOutcome::Stopped(_) => self.counts.stopped += 1,
        }
        let words = format!("{} {}", outcome.as_str(), outcome.why());
        let is_known = self.told.as_ref() == Some(&words);
        self.told = Some(words);
        Some(Rotated { what: self.rule.what.clone(), outcome, is_known })
    }
}

#[cfg(test)]
mod tests;
