//! Whether a hello was refused, or the server, or somebody on the way, had no answer for it.
//!
//! Some alerts say it. A connection that ends, or an alert that means something else, may be how this server refuses (yaSSL
//! says a MySQL error, or closes), and may be a balancer with a broken server behind it, or a wall that has had enough of
//! us. So such an answer is asked for twice, and then a hello is repeated that was taken before: only where that one is
//! still taken the refusal was one. What a server has been seen to refuse with twice is believed, and looked back at when
//! all is asked.

use std::collections::{BTreeMap, BTreeSet};

use wire::tls::registry::{FALLBACK_SCSV, Version, alerts};

use super::long_lists::SUITES_SAFE;
use super::{Depth, Survey, TlsAnswer};
use crate::facts::{Found, Tls};
use crate::question::{FollowUp, OWN_GROUPS, Question, Shares};

/// So many times a way to refuse is looked into before it is believed.
const TIMES_SEEN_MIN: u32 = 2;
/// How the complaint about answers outside of an offer begins.
pub(super) const OUTSIDE: &str = "the server chose what was not offered";

/// How a hello was turned down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Refusal {
    Alert(u8),
    /// The connection ended without one, with or without words in cleartext. Whether those come before it breaks is chance,
    /// and so is whether it breaks or closes: a server that closes with bytes unread resets.
    Ended,
}

impl Refusal {
    pub fn alert(self) -> Option<u8> {
        match self {
            Self::Alert(alert) => Some(alert),
            Self::Ended => None,
        }
    }

    /// Says by itself that the offer was not wanted.
    pub fn is_plain(self, suites: &[u16]) -> bool {
        match self {
            Self::Alert(
                alerts::HANDSHAKE_FAILURE
                | alerts::ILLEGAL_PARAMETER
                | alerts::PROTOCOL_VERSION
                | alerts::INSUFFICIENT_SECURITY,
            ) => true,
            Self::Alert(alerts::INAPPROPRIATE_FALLBACK) => suites.contains(&FALLBACK_SCSV),
            // A list that is too long for it.
            Self::Alert(alerts::DECODE_ERROR) => suites.len() > SUITES_SAFE,
            _ => false,
        }
    }
}

/// What is known of the ways in which one server refuses.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    /// How often each was answered twice, with a hello behind it that was taken.
    seen: BTreeMap<Refusal, u32>,
    /// The same hello was answered otherwise the next time: these are never believed.
    refuted: BTreeSet<Refusal>,
    /// What was known before the first refusal that is only believed, since the last hello that was taken.
    before_doubts: Option<Box<Tls>>,
    /// Each answer is taken as it is: in a first look, and behind the last look back.
    are_believed: bool,
}

impl Refusals {
    pub fn of(depth: Depth) -> Self {
        Self { are_believed: depth == Depth::First, ..Self::default() }
    }

    pub fn has_doubts(&self) -> bool {
        self.before_doubts.is_some()
    }
}

impl Survey {
    /// Takes an answer for what it is worth.
    pub(super) async fn weigh(&mut self, question: Question, said: TlsAnswer) -> TlsAnswer {
        if self.refusals.are_believed {
            return said;
        }
        let how = match &said {
            TlsAnswer::Took(_) | TlsAnswer::Wants { .. } => {
                self.refusals.before_doubts = None;
                if question.resume.is_none() && !matches!(question.then, FollowUp::Intrude(_)) {
                    self.last_taken = Some(Question { then: FollowUp::Close, ..question });
                }
                return said;
            }
            TlsAnswer::Refused { how } if !how.is_plain(&question.suites) => *how,
            _ => return said,
        };
        let times = self.refusals.seen.get(&how).copied().unwrap_or_default();
        let is_known = times >= TIMES_SEEN_MIN || times > 0 && question.is_ssl2();
        if is_known && !self.refusals.refuted.contains(&how) {
            self.doubt();
            return said;
        }
        if self.last_taken.is_none() && question.suites.len() > SUITES_SAFE {
            self.doubt();
            return said; // The next question is the same with a shorter list.
        }
        match self.ask(question.clone()).await {
            TlsAnswer::Refused { how: again } if again == how => {}
            // A third way to say nothing.
            TlsAnswer::Refused { how: again } if !again.is_plain(&question.suites) => {
                self.refusals.refuted.extend([how, again]);
                self.note_unseen("a hello whose answer was another one each time".into());
                return TlsAnswer::NotSeen;
            }
            TlsAnswer::NotSeen => return TlsAnswer::NotSeen,
            other => {
                self.refusals.refuted.insert(how);
                self.note_unseen(
                    "what a connection that ended would have said: the same hello was answered the next time"
                        .into(),
                );
                if matches!(other, TlsAnswer::Took(_) | TlsAnswer::Wants { .. }) {
                    self.refusals.before_doubts = None;
                }
                return other;
            }
        }
        if self.refusals.refuted.contains(&how) {
            return TlsAnswer::NotSeen;
        }
        // Seen: OpenSSL 3 at its usual security level answers TLS 1.1 and 1.0 with alert 80. Whoever says one has read the hello.
        if question.is_ssl2() || self.last_taken.is_none() || how.alert().is_some() {
            // Either what follows is taken, or all of it is doubtful.
            self.has_refused_twice(how);
            return said;
        }
        if self.is_still_taken().await {
            *self.refusals.seen.entry(how).or_default() += 1;
            return said;
        }
        self.stop_believing();
        TlsAnswer::NotSeen
    }

    pub(super) fn is_nothing_taken(&self) -> bool {
        self.last_taken.is_none()
    }

    /// And no hello in between was taken, or is to be repeated now.
    pub(super) fn has_refused_twice(&mut self, how: Refusal) {
        *self.refusals.seen.entry(how).or_default() += 1;
        self.doubt();
    }

    fn doubt(&mut self) {
        if self.refusals.before_doubts.is_none() {
            self.refusals.before_doubts = Some(Box::new(self.tls.clone()));
        }
    }

    /// Repeats a hello that was taken before.
    pub(super) async fn is_still_taken(&mut self) -> bool {
        let Some(question) = self.last_taken.clone() else { return true };
        for _ in 0..2 {
            if matches!(self.ask(question.clone()).await, TlsAnswer::Took(_) | TlsAnswer::Wants { .. }) {
                return true;
            }
        }
        false
    }

    /// When all is asked: what was refused since the last hello that was taken is only believed of a server that still
    /// takes one.
    pub(super) async fn look_back(&mut self) {
        self.refusals.are_believed = true;
        let Some(before) = self.refusals.before_doubts.take() else { return };
        if self.last_taken.is_none() {
            return; // It has taken none: that is said elsewhere.
        }
        if self.is_stopped || !self.is_still_taken().await {
            self.refusals.before_doubts = Some(before);
            self.stop_believing();
        }
    }

    fn stop_believing(&mut self) {
        self.is_stopped = true;
        self.note_unseen(
            "the rest: the server stopped answering during the scan: it no longer accepts a ClientHello that it accepted before"
                .into(),
        );
        let Some(before) = self.refusals.before_doubts.take() else { return };
        let why = || Found::Unknown("the server had stopped answering".into());
        for (version, found) in &mut self.tls.versions {
            if *found == Found::No && before.versions.get(version) != Some(&Found::No) {
                *found = why();
            }
        }
        self.tls.complete.retain(|version| before.complete.contains(version));
        self.tls.groups_complete.retain(|version| before.groups_complete.contains(version));
        self.tls.classes_complete &= before.classes_complete;
    }
}

/// Why an answer is none to this question.
pub(super) fn outside(question: &Question, said: &TlsAnswer) -> Option<String> {
    let (version, suite, group) = match said {
        TlsAnswer::Took(accepted) => {
            (accepted.hello.version, accepted.hello.cipher_suite, accepted.hello.extensions.key_share_group)
        }
        TlsAnswer::Wants { suite, group } => (Version::TLS13, *suite, *group),
        TlsAnswer::Ssl2 | TlsAnswer::Refused { .. } | TlsAnswer::NotSeen => return None,
    };
    let is_version = if version == Version::TLS13 {
        question.versions.contains(&version)
    } else {
        // Below TLS 1.3 the newest and everything that is older is offered.
        let newest = question.versions.iter().filter(|one| **one < Version::TLS13).max();
        version >= Version::SSL3 && newest.is_some_and(|newest| version <= *newest)
    };
    if !is_version {
        return Some(format!("{OUTSIDE}: version {:04x}", version.0));
    }
    // Seen: yaSSL in MySQL 5.5.9 looks at the low byte alone, and takes 0xc005 for 0x0005.
    let is_like = |code: &u16| {
        *code == suite || version < Version::TLS12 && suite < 0x100 && code & 0xff == suite & 0xff
    };
    if !question.suites.iter().any(is_like) {
        return Some(format!("{OUTSIDE}: suite {suite:04x}"));
    }
    let is_retry = matches!(said, TlsAnswer::Wants { .. });
    let is_group = version < Version::TLS13
        || group.is_none_or(|group| {
            let is_own = OWN_GROUPS.contains(&group) && question.shares == Shares::Own;
            // What a share went along for is not asked for again.
            question.groups.contains(&group) && is_own != is_retry
        });
    (!is_group).then(|| format!("{OUTSIDE}: group {:04x}", group.unwrap_or_default()))
}
