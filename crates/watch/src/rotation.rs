//! Certificates that end soon are replaced, where the inventory says so (`[watch.rotate]`).
//!
//! What replaces them is handed in ([`Rotator`]): this crate changes nothing. A rotation begins behind a look at which every server
//! answered, on a thread of its own, one at a time. What stopped half-way is left to a person: nothing here goes on with it, or takes it
//! back, and none begins as long as it is open. The store knows so much of it that a process which was killed is no excuse.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use crate::state::{Body, Change, RotationKept, State};

const SECONDS_PER_DAY: i64 = 86_400;
/// What was refused may be possible later.
const AFTER_REFUSAL_MS: u64 = 3_600_000;
/// A certificate that still ends soon behind a rotation is not replaced with each look.
const AFTER_ROTATION_MS: u64 = 86_400_000;

/// Much less than `WatchdogSec` of the unit.
const ANSWER_WAIT: Duration = Duration::from_secs(5);

/// When other certificates were replaced says nothing of these; that a change is open does.
fn kept_for(what: &str, kept: RotationKept) -> RotationKept {
    if kept.what == what {
        return kept;
    }
    RotationKept { what: what.to_owned(), is_open: kept.is_open, ..RotationKept::default() }
}

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

    /// Whether a change of this cluster is open; also where nobody can tell.
    fn is_open(&self) -> bool;

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
        let until = self.until(now_unix_ms);
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

    /// How many end within the days, as they were last read: what cannot be read now ends all the same.
    fn ending(&self, state: &State, now_unix_ms: u64) -> u64 {
        let until = self.until(now_unix_ms);
        let mut all: BTreeMap<(&str, &str), bool> = BTreeMap::new();
        for entry in state.entries.values() {
            if let Body::Certificate { server, usage, facts: Some(facts), .. } = &entry.body
                && self.uses.contains(&usage.as_str())
            {
                *all.entry((server, usage)).or_insert(true) &= facts.not_after_unix < until;
            }
        }
        all.values().filter(|ends| **ends).count() as u64
    }

    fn until(&self, now_unix_ms: u64) -> i64 {
        let days = i64::from(self.days_before) * SECONDS_PER_DAY;
        i64::try_from(now_unix_ms / 1000).unwrap_or(i64::MAX).saturating_add(days)
    }

    /// Whether a certificate that is replaced is also one of a use that nobody has named: one file for all is replaced for all.
    fn shared(&self, state: &State) -> Option<String> {
        let of = |server: &str, usage: &str| match &state
            .entries
            .get(&("certificate", format!("{server} {usage} file")))?
            .body
        {
            Body::Certificate { facts: Some(facts), unread: None, .. } => Some(Ok(facts.fingerprint.clone())),
            Body::Certificate { unread, .. } => Some(Err(unread.clone().unwrap_or_default())),
            _ => None,
        };
        // On all servers of the cluster: a rotation replaces them on those as well whose certificates end later.
        let named = state.entries.values().filter_map(|entry| match &entry.body {
            Body::Certificate { server, usage, seen, .. }
                if seen == "file" && self.uses.contains(&usage.as_str()) =>
            {
                Some((server, usage))
            }
            _ => None,
        });
        for (server, usage) in named {
            let own = of(server, usage);
            let mut shared: Vec<&str> = Vec::new();
            for (other, word) in USES.iter().filter(|(one, _)| !self.uses.contains(one)) {
                match (&own, &of(server, other)) {
                    (_, Some(Err(why))) | (Some(Err(why)), Some(_)) => {
                        return Some(format!(
                            "whether {} of {server} has its certificate in common with {word} cannot be determined, nothing was changed\n  \
                             why:  {why}\n  next: sealion rotate {}",
                            self.what, self.what
                        ));
                    }
                    (own, found) if found.is_some() && found == own => shared.push(word),
                    _ => {}
                }
            }
            if !shared.is_empty() {
                return Some(format!(
                    "{} of {server} has a certificate in common with {}, nothing was changed\n  why:  it would be replaced for them as well, and \
                     what of [watch.rotate] does not name them\n  next: what = [\"{}\", \"{}\"], or give each a certificate of its own",
                    self.what,
                    shared.join(" and "),
                    self.what.replace(',', "\", \""),
                    shared.join("\", \"")
                ));
            }
        }
        None
    }
}

/// Uses of certificates, and what the inventory calls them.
const USES: [(&str, &str); 3] = [("server", "clients"), ("galera", "galera"), ("sst", "sst")];

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
    /// Certificates that end within the days, as they were last read.
    pub due: u64,
    /// One stopped half-way, or its process ended.
    pub is_open: bool,
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
    /// Whether it is still open: asked, and not answered yet.
    asked: Option<Receiver<bool>>,
    kept: RotationKept,
    /// After a refusal. Whoever starts `sealion watch` anew has done something about it.
    refused_until_unix_ms: u64,
    /// The last one, if it was a refusal: one that repeats is no news.
    told: Option<String>,
    counts: RotationCounts,
}

/// One that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotated {
    pub what: String,
    pub outcome: RotationOutcome,
    /// The one before was refused for the same reason.
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
    /// `kept`: what an earlier process has left.
    pub fn new(wish: Wish, kept: RotationKept) -> Self {
        let Wish { rule, rotator } = wish;
        let counts = RotationCounts { what: rule.what.clone(), ..RotationCounts::default() };
        let kept = kept_for(&rule.what, kept);
        Self { rule, rotator, running: None, asked: None, kept, refused_until_unix_ms: 0, told: None, counts }
    }

    /// What the store has, if it could not be read at the beginning.
    pub fn adopt(&mut self, kept: &RotationKept) {
        if self.running.is_none() && self.kept == kept_for(&self.rule.what, RotationKept::default()) {
            self.kept = kept_for(&self.rule.what, kept.clone());
        }
    }

    /// It goes on when this process has ended.
    pub fn left_behind(&mut self) -> Rotated {
        self.running = None;
        let outcome = RotationOutcome::Stopped(
            "sealion watch was told to end, and did not wait for it any longer\n  next: sealion resume, or sealion undo".into(),
        );
        Rotated { what: self.rule.what.clone(), outcome, is_known: false }
    }

    pub fn counts(&self) -> RotationCounts {
        RotationCounts {
            is_open: self.kept.is_open && self.running.is_none(),
            last_done_unix_ms: self.kept.last_done_unix_ms,
            ..self.counts.clone()
        }
    }

    /// For the store.
    pub const fn kept(&self) -> &RotationKept {
        &self.kept
    }

    pub const fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Behind a look: whether a rotation is due and may begin. Then [`Rotation::kept`] goes into the store, and [`Rotation::begin`] or
    /// [`Rotation::cannot_begin`] follows.
    pub fn is_to_begin(&mut self, state: &State, now_unix_ms: u64) -> bool {
        let is_whole = state.meta.last_look_unix_ms.is_some()
            && state.meta.last_success_unix_ms == state.meta.last_look_unix_ms;
        if self.running.is_some() {
            return false;
        }
        // Also where a server is silent and nothing may begin: that is overdue some time.
        self.counts.due = self.rule.ending(state, now_unix_ms);
        if self.kept.is_open {
            // A person has closed it, or it had not begun when its process ended.
            self.kept.is_open = self.is_still_open();
        }
        if !is_whole || self.rule.due(state, now_unix_ms).is_empty() {
            return false;
        }
        // One that is further away than any is set: the clock was wrong then.
        let is_over = |at: u64| now_unix_ms >= at || at - now_unix_ms > 2 * AFTER_ROTATION_MS;
        let is_time = self.kept.next_unix_ms.is_none_or(is_over) && is_over(self.refused_until_unix_ms);
        if self.kept.is_open || !is_time || !self.rotator.may_begin() {
            return false;
        }
        self.kept.is_open = true;
        true
    }

    /// Copies of the nodes are asked over the network, by a thread of its own: a host that is silent does not hold up the looks. What has not
    /// answered within a moment counts as open until a later look.
    fn is_still_open(&mut self) -> bool {
        let answer = self.asked.take().unwrap_or_else(|| {
            let (send, answer) = mpsc::channel();
            let rotator = Arc::clone(&self.rotator);
            std::thread::spawn(move || send.send(rotator.is_open()));
            answer
        });
        match answer.recv_timeout(ANSWER_WAIT) {
            Ok(is_open) => is_open,
            Err(RecvTimeoutError::Timeout) => {
                self.asked = Some(answer);
                true
            }
            Err(RecvTimeoutError::Disconnected) => true,
        }
    }

    pub fn begin(&mut self, state: &State) {
        let (send, outcome) = mpsc::channel();
        self.running = Some(outcome);
        if let Some(why) = self.rule.shared(state) {
            drop(send.send(RotationOutcome::Refused(why)));
            return;
        }
        let rotator = Arc::clone(&self.rotator);
        std::thread::spawn(move || drop(send.send(rotator.rotate())));
    }

    /// The next process would not know of it.
    pub fn cannot_begin(&mut self, why: &str) {
        let (send, outcome) = mpsc::channel();
        self.running = Some(outcome);
        let why = format!(
            "nothing was changed, since the store cannot be written\n  why:  {why}\n  next: name a file that can be written with --store"
        );
        drop(send.send(RotationOutcome::Refused(why)));
    }

    /// The one that has ended, if one has; [`Rotation::kept`] goes into the store then.
    pub fn ended(&mut self, now_unix_ms: u64) -> Option<Rotated> {
        let outcome = match self.running.as_ref()?.try_recv() {
            Ok(outcome) => outcome,
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => RotationOutcome::Stopped(
                "sealion lost sight of it; please report this bug\n  next: sealion plan says whether it is open".into(),
            ),
        };
        self.running = None;
        match &outcome {
            RotationOutcome::Done(_) => {
                self.counts.done += 1;
                // Each was seen as served and as its file has it, before it was done.
                self.counts.due = 0;
                self.kept.is_open = false;
                self.kept.last_done_unix_ms = Some(now_unix_ms);
                self.kept.next_unix_ms = Some(now_unix_ms + AFTER_ROTATION_MS);
            }
            RotationOutcome::Refused(_) => {
                self.counts.refused += 1;
                self.kept.is_open = false;
                self.refused_until_unix_ms = now_unix_ms + AFTER_REFUSAL_MS;
            }
            RotationOutcome::Stopped(_) => {
                self.counts.stopped += 1;
                // Closed by a person, it would stop at the same step.
                self.kept.next_unix_ms = Some(now_unix_ms + AFTER_ROTATION_MS);
            }
        }
        let refusal = match &outcome {
            RotationOutcome::Refused(why) => Some(why.clone()),
            RotationOutcome::Done(_) | RotationOutcome::Stopped(_) => None,
        };
        let is_known = refusal.is_some() && self.told == refusal;
        self.told = refusal;
        Some(Rotated { what: self.rule.what.clone(), outcome, is_known })
    }
}

#[cfg(test)]
mod tests;
