//! Which versions are taken, and whether a forced fall back is noticed.

use wire::tls::registry::{FALLBACK_SCSV, Version, alerts};

use super::refusals::Refusal;
use super::{Survey, TlsAnswer};
use crate::facts::Found;
use crate::question::Question;
use crate::reply::Accepted;

impl Survey {
    /// A server settles for the newest version that both have: one question per version that is left.
    pub(super) async fn older_versions(&mut self) {
        let mut from = Version::TLS12;
        for version in [Version::TLS12, Version::TLS11, Version::TLS10, Version::SSL3] {
            if version > from || self.tls.versions.contains_key(&version) {
                continue;
            }
            let said = if version == Version::TLS12 && self.server_name.is_some() {
                // One that takes it from nobody in particular takes it.
                match self.without_a_name(Question::up_to(version)).await {
                    Some(accepted) => TlsAnswer::Took(accepted),
                    None => self.offer(Question::up_to(version)).await,
                }
            } else {
                self.offer(Question::up_to(version)).await
            };
            match said {
                TlsAnswer::Took(accepted) => {
                    let settled = accepted.hello.version;
                    for skipped in [Version::TLS12, Version::TLS11, Version::TLS10] {
                        if skipped > settled && skipped <= version {
                            self.tls.versions.insert(skipped, Found::No);
                        }
                    }
                    self.tls.versions.insert(settled, Found::Yes);
                    self.note(&accepted);
                    from = settled;
                }
                TlsAnswer::Refused { .. } | TlsAnswer::Wants { .. } | TlsAnswer::Ssl2 => {
                    self.tls.versions.insert(version, Found::No);
                }
                TlsAnswer::NotSeen => {
                    self.tls.versions.insert(version, Found::Unknown("no answer".into()));
                }
            }
        }
        let found = match self.offer(Question::ssl2()).await {
            TlsAnswer::Ssl2 => Found::Yes,
            TlsAnswer::NotSeen => Found::Unknown("no answer".into()),
            _ => Found::No,
        };
        self.tls.versions.insert(Version::SSL2, found);
    }

    /// Asks this without a server name, as libmysqlclient does unless it is told otherwise: a proxy may have another
    /// certificate for such clients.
    async fn without_a_name(&mut self, question: Question) -> Option<Box<Accepted>> {
        let TlsAnswer::Took(accepted) = self.offer(Question { is_nameless: true, ..question }).await else {
            return None;
        };
        if let Some(leaf) = accepted.chain.first() {
            self.note_chain(&accepted.chain);
            let place = self.tls.chains_der.iter().position(|chain| chain.first() == Some(leaf));
            self.tls.chain_without_name = place.filter(|place| *place > 0);
            self.has_asked_nameless = true;
        }
        Some(accepted)
    }

    /// Where the question for TLS 1.2 was not the one that was asked without a name.
    pub(super) async fn nameless(&mut self) {
        if self.server_name.is_some() && !self.has_asked_nameless && !self.tls.chains.is_empty() {
            self.without_a_name(Question::modern().in_own_groups()).await;
        }
    }

    pub(super) fn has(&self, version: Version) -> bool {
        self.tls.versions.get(&version) == Some(&Found::Yes)
    }

    /// The newest version before TLS 1.3 that is taken.
    pub(super) fn newest_old(&self) -> Option<Version> {
        [Version::TLS12, Version::TLS11, Version::TLS10, Version::SSL3]
            .into_iter()
            .find(|&version| self.has(version))
    }

    /// RFC 7507: a client that says "I was made to fall back" must be refused where both could do better.
    pub(super) async fn fallback(&mut self) {
        let taken: Vec<Version> =
            [Version::TLS13, Version::TLS12, Version::TLS11, Version::TLS10, Version::SSL3]
                .into_iter()
                .filter(|&version| self.has(version))
                .collect();
        let [_, second, ..] = taken.as_slice() else { return };
        let mut question = Question::up_to(*second);
        question.suites.push(FALLBACK_SCSV);
        self.tls.fallback_scsv = Some(match self.offer(question).await {
            TlsAnswer::Refused { how: Refusal::Alert(alerts::INAPPROPRIATE_FALLBACK) } => Found::Yes,
            TlsAnswer::Refused { how } => {
                let how = how
                    .alert()
                    .map_or_else(|| "without an alert".to_owned(), |alert| format!("alert {alert}"));
                Found::Unknown(format!("refused, but not for the fallback ({how})"))
            }
            TlsAnswer::NotSeen => Found::Unknown("no answer".into()),
            _ => Found::No,
        });
    }
}
