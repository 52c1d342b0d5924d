//! Which versions are taken, and whether a forced fall back is noticed.

use wire::tls::registry::{FALLBACK_SCSV, Version, alerts};

use super::refusals::Refusal;
use super::{Said, Survey};
use crate::facts::Found;
use crate::question::Question;

impl Survey {
    /// A server settles for the newest version that both have: one question per version that is left.
    pub(super) async fn older_versions(&mut self) {
        let mut from = Version::TLS12;
        for version in [Version::TLS12, Version::TLS11, Version::TLS10, Version::SSL3] {
            if version > from || self.tls.versions.contains_key(&version) {
                continue;
            }
            match self.offer(Question::up_to(version)).await {
                Said::Took(accepted) => {
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
                Said::Refused { .. } | Said::Wants { .. } | Said::Ssl2 => {
                    self.tls.versions.insert(version, Found::No);
                }
                Said::NotSeen => {
                    self.tls.versions.insert(version, Found::Unknown("no answer".into()));
                }
            }
        }
        let found = match self.offer(Question::ssl2()).await {
            Said::Ssl2 => Found::Yes,
            Said::NotSeen => Found::Unknown("no answer".into()),
            _ => Found::No,
        };
        self.tls.versions.insert(Version::SSL2, found);
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
            Said::Refused { how: Refusal::Alert(alerts::INAPPROPRIATE_FALLBACK) } => Found::Yes,
            Said::Refused { how } => {
                let how = how
                    .alert()
                    .map_or_else(|| "without an alert".to_owned(), |alert| format!("alert {alert}"));
                Found::Unknown(format!("refused, but not for the fallback ({how})"))
            }
            Said::NotSeen => Found::Unknown("no answer".into()),
            _ => Found::No,
        });
    }
}
