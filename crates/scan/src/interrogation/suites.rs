//! Which suites are taken, and whose order of them counts.

use std::collections::BTreeSet;

use wire::tls::registry::{CipherSuite, Mode, Version, cipher_suite};

use super::finished::{FINISHED_CONNECTIONS, OF_TLS13_CONNECTIONS};
use super::{Depth, Survey, TlsAnswer};
use crate::classes::CLASSES;
use crate::facts::Found;
use crate::question::Question;

/// What the question about whose order counts costs.
const ORDER_CONNECTIONS: u32 = 2;

/// How many connections are left for others, by what is known so far.
type KeptBack<'f> = &'f dyn Fn(&Survey) -> u32;

impl Survey {
    pub(super) async fn suites_of_tls13(&mut self) {
        if self.has(Version::TLS13) {
            self.eliminate(Version::TLS13, Question::tls13(), &|_| 0).await;
        }
    }

    /// One by one in a full look, as far as the connections go; the rest, and else everything, by class.
    pub(super) async fn suites_of_old(&mut self, depth: Depth) {
        let Some(version) = self.newest_old() else {
            self.tls.classes_complete =
                self.tls.versions.values().all(|found| !matches!(found, Found::Unknown(_)));
            return;
        };
        if depth == Depth::Full {
            // Classes that have shown are not asked for any more.
            let kept_back = |this: &Self| {
                let known = this.tls.suites.get(&version).map(Vec::as_slice).unwrap_or_default();
                let is_shown = |is_in: fn(&CipherSuite) -> bool| {
                    known.iter().any(|&code| cipher_suite(code).is_some_and(is_in))
                };
                let left = CLASSES.iter().filter(|(_, is_in)| !is_shown(*is_in)).count();
                u32::try_from(left).unwrap_or(u32::MAX) + ORDER_CONNECTIONS + FINISHED_CONNECTIONS
            };
            self.eliminate(version, Question::up_to(version), &kept_back).await;
        }
        if self.tls.complete.contains(&version) {
            self.tls.classes_complete = true;
            return;
        }
        // Said when it is so: what is taken back in between is taken back for good.
        let mut is_complete = true;
        for (_, is_in_class) in CLASSES {
            let known = self.tls.suites.get(&version).cloned().unwrap_or_default();
            if known.iter().any(|&code| cipher_suite(code).is_some_and(is_in_class)) {
                continue;
            }
            match self.offer(Question::up_to(version).only(is_in_class)).await {
                TlsAnswer::Took(accepted) => self.note(&accepted),
                TlsAnswer::NotSeen => is_complete = false,
                _ => {}
            }
        }
        self.tls.classes_complete = is_complete;
    }

    /// The lists of the versions below, with the connections that are left: most servers take in TLS 1.0 and 1.1 what they
    /// take in 1.2 and those know, so what else is to be asked keeps its share. Not the last, all the same: what stands behind
    /// it is taken by most, and shows that the refusals here were some.
    pub(super) async fn suites_of_older(&mut self) {
        let newest = self.newest_old();
        for version in [Version::TLS11, Version::TLS10, Version::SSL3] {
            if self.has(version) && Some(version) != newest {
                let of_tls13 = if self.has(Version::TLS13) { 0 } else { OF_TLS13_CONNECTIONS };
                // Without a ticket there is none to come back with.
                let of_ticket = u32::from(self.tls.session_ticket == Some(Found::No));
                let kept_back = ORDER_CONNECTIONS + FINISHED_CONNECTIONS - of_tls13 - of_ticket;
                self.eliminate(version, Question::up_to(version), &|_| kept_back).await;
            }
        }
    }

    /// BEAST is about the suites of TLS 1.0 alone, and the first one that it settled for may be another kind.
    pub(super) async fn blocks_of_tls10(&mut self) {
        let is_cbc = |suite: &CipherSuite| suite.mode == Mode::Cbc;
        let known = self.tls.suites.get(&Version::TLS10).cloned().unwrap_or_default();
        if !self.has(Version::TLS10) || known.iter().any(|&code| cipher_suite(code).is_some_and(is_cbc)) {
            return;
        }
        if let TlsAnswer::Took(accepted) = self.offer(Question::up_to(Version::TLS10).only(is_cbc)).await {
            self.note(&accepted);
        }
    }

    /// The list of one version, in the server's order. What was first is known from a question with all suites in it; what
    /// others brought has no place in the order yet, and is asked for once more.
    pub(super) async fn eliminate(
        &mut self,
        version: Version,
        mut question: Question,
        kept_back: KeptBack<'_>,
    ) {
        let mut known = self.tls.suites.remove(&version).unwrap_or_default();
        if !known.is_empty() {
            let first = known.remove(0);
            question.suites.retain(|&code| code != first);
            self.note_suite(version, first);
        }
        self.eliminate_rest(version, question, kept_back).await;
        for code in known {
            self.note_suite(version, code);
        }
    }

    /// Offers what is left until nothing of it is taken, or `kept_back` connections are left for others.
    async fn eliminate_rest(&mut self, version: Version, mut question: Question, kept_back: KeptBack<'_>) {
        while !question.suites.is_empty() {
            if self.connections_left <= kept_back(self) {
                self.facts.not_seen.push(format!(
                    "the whole list of suites of {}: it is longer than there are connections for",
                    version.name().unwrap_or("a version without a name")
                ));
                return;
            }
            let picked = match self.offer(question.clone()).await {
                TlsAnswer::Took(accepted) if accepted.hello.version == version => {
                    let code = accepted.hello.cipher_suite;
                    self.note(&accepted);
                    code
                }
                TlsAnswer::Wants { suite, .. } if version == Version::TLS13 => {
                    self.note_suite(version, suite);
                    suite
                }
                TlsAnswer::Refused { .. }
                | TlsAnswer::Took(_)
                | TlsAnswer::Wants { .. }
                | TlsAnswer::Ssl2 => break,
                TlsAnswer::NotSeen => return,
            };
            let before = question.suites.len();
            question.suites.retain(|&code| code != picked);
            if question.suites.len() == before {
                // Seen: yaSSL in MySQL 5.5.9 looks at the low byte alone, and takes 0xc005 for 0x0005.
                question.suites.retain(|&code| code & 0xff != picked & 0xff);
            }
            if question.suites.len() == before {
                self.facts
                    .not_seen
                    .push(format!("the server chose suite {picked:04x}, which was not offered"));
                return;
            }
        }
        self.tls.complete.insert(version);
    }

    /// The same two suites in both orders: does the pick follow ours?
    pub(super) async fn order(&mut self) {
        let version = self
            .newest_old()
            .filter(|version| self.tls.suites.get(version).is_some_and(|list| list.len() > 1));
        let Some(version) = version.or_else(|| self.has(Version::TLS13).then_some(Version::TLS13)) else {
            return;
        };
        let [first, second, ..] = self.tls.suites.get(&version).map(Vec::as_slice).unwrap_or_default() else {
            return;
        };
        let (first, second) = (*first, *second);
        let mut picks = BTreeSet::new();
        for suites in [vec![second, first], vec![first, second]] {
            let base = if version == Version::TLS13 { Question::tls13() } else { Question::up_to(version) };
            match self.offer(Question { suites, ..base }).await {
                TlsAnswer::Took(accepted) => picks.insert(accepted.hello.cipher_suite),
                TlsAnswer::Wants { suite, .. } => picks.insert(suite),
                _ => return,
            };
        }
        self.tls.server_order = Some(if picks.len() == 1 { Found::Yes } else { Found::No });
    }
}
