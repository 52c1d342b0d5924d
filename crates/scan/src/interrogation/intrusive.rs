//! The questions that may harm an old server, each only where it is allowed.

use wire::tls::registry::{KeyExchange, Version, alerts, cipher_suite};

use super::{Survey, TlsAnswer};
use crate::conversation::Opening;
use crate::facts::{Found, Service};
use crate::intrude::{Aftermath, BadPadding, Intrusive, Probe};
use crate::login_probe::Knocked;
use crate::question::{FollowUp, Question};
use crate::reply::{Reply, Spoke};

impl Survey {
    /// Behind everything else: a server that falls over has told us the rest.
    pub(super) async fn intrude(&mut self, allowed: Intrusive, connections_max: u32) {
        if (Intrusive { login: false, ..allowed }) == Intrusive::NONE {
            return;
        }
        let Some(tls) = self.facts.tls.take() else { return };
        self.tls = tls;
        let left = connections_max.saturating_sub(self.facts.connections);
        self.connections_left = left.min(allowed.connections_max());
        self.is_spent = false;
        let is_only_tls13 = [Version::TLS12, Version::TLS11, Version::TLS10, Version::SSL3]
            .iter()
            .all(|version| self.tls.versions.get(version) == Some(&Found::No));
        match self.newest_old() {
            Some(version) if version > Version::SSL3 => {
                if allowed.heartbleed {
                    self.tls.heartbleed = Some(self.heartbleed(version).await);
                }
                if allowed.early_ccs {
                    self.tls.early_ccs = Some(self.early_ccs(version).await);
                }
                if allowed.robot {
                    self.tls.robot = Some(self.robot(version).await);
                }
            }
            _ => {
                // All three are about handshakes that TLS 1.3 does not have.
                let found = if is_only_tls13 {
                    Found::No
                } else {
                    Found::Unknown("only asked of TLS 1.0 to 1.2".into())
                };
                let of = |is_allowed: bool| is_allowed.then(|| found.clone());
                self.tls.heartbleed = of(allowed.heartbleed);
                self.tls.early_ccs = of(allowed.early_ccs);
                self.tls.robot = of(allowed.robot);
            }
        }
        let is_good = |found: &Option<Found>| *found == Some(Found::No);
        let had_answers =
            [&self.tls.heartbleed, &self.tls.early_ccs, &self.tls.robot].into_iter().any(is_good);
        if had_answers && !is_only_tls13 && !self.is_still_taken().await {
            for found in [&mut self.tls.heartbleed, &mut self.tls.early_ccs, &mut self.tls.robot] {
                if is_good(found) {
                    *found = Some(Found::Unknown("afterwards the server took no handshake any more".into()));
                }
            }
        }
        self.facts.tls = Some(std::mem::take(&mut self.tls));
    }

    /// Is the RSA key of the password plugins offered to anybody?
    pub(super) async fn knock(&mut self) {
        if !matches!(self.facts.service, Some(Service::Mysql { .. })) || self.is_stopped {
            return;
        }
        self.connections_left = self.connections_left.max(1);
        let before = std::mem::replace(&mut self.opening, Opening::Knock);
        let reply = self.connect(Question::modern()).await;
        self.opening = before;
        self.facts.public_key = match reply {
            Some(Reply { spoke: Spoke::Knocked(knocked), .. }) => Some(knocked),
            Some(Reply { fault, .. }) => {
                let why = fault.map_or_else(|| "it was turned away".to_owned(), |fault| fault.to_string());
                Some(Knocked::Unknown(why))
            }
            None => None,
        };
    }

    /// `Err`: why nothing was learned; `Ok(None)`: no such handshake is taken.
    async fn after(&mut self, mut question: Question, probe: Probe) -> Result<Option<Aftermath>, String> {
        question.compression = false;
        question.then = FollowUp::Intrude(probe);
        match self.offer(question).await {
            TlsAnswer::Took(accepted) => match accepted.aftermath {
                Some(Aftermath { unasked: Some(why), .. }) => Err(why),
                Some(aftermath) => Ok(Some(aftermath)),
                None => Err("its first flight did not end".into()),
            },
            TlsAnswer::NotSeen => Err("no answer".into()),
            _ => Ok(None),
        }
    }

    /// CVE-2014-0160.
    async fn heartbleed(&mut self, version: Version) -> Found {
        // RFC 6520: none without the extension, and every question so far has offered it.
        if self.tls.heartbeat == Some(Found::No) {
            return Found::No;
        }
        match self.after(Question::up_to(version), Probe::Heartbleed).await {
            Ok(Some(after)) if after.shows_heartbleed() => Found::Yes,
            // It complained of what came behind: the request it had read before, and passed over.
            Ok(Some(after)) if after.has_complained() => Found::No,
            Ok(Some(after)) => Found::Unknown(ended_how(&after).into()),
            Ok(None) => Found::Unknown("the handshake was refused".into()),
            Err(why) => Found::Unknown(why),
        }
    }

    /// CVE-2014-0224.
    async fn early_ccs(&mut self, version: Version) -> Found {
        match self.after(Question::up_to(version), Probe::EarlyCcs).await {
            Ok(Some(after)) => match after.alerts.iter().find(|alert| alert.is_fatal()) {
                // It has changed to keys that nobody has, and cannot read what follows.
                Some(alert)
                    if matches!(alert.description, alerts::BAD_RECORD_MAC | alerts::DECRYPTION_FAILED) =>
                {
                    Found::Yes
                }
                Some(_) => Found::No,
                None => Found::Unknown(ended_how(&after).into()),
            },
            Ok(None) => Found::Unknown("the handshake was refused".into()),
            Err(why) => Found::Unknown(why),
        }
    }

    /// CVE-2017-13099 and its likes: a server that answers bad paddings in more than one way is an oracle.
    async fn robot(&mut self, version: Version) -> Found {
        let question =
            Question::up_to(version).only(|suite| suite.key_exchange == KeyExchange::Rsa && !suite.is_export);
        let takes_rsa = |suite: &u16| {
            cipher_suite(*suite)
                .is_some_and(|suite| matches!(suite.key_exchange, KeyExchange::Rsa | KeyExchange::RsaPsk))
        };
        let has_rsa = self.tls.suites.values().flatten().any(takes_rsa);
        let mut without_alert = Found::No;
        for goes_on in [true, false] {
            let first = match self.five_answers(&question, BadPadding::ALL, goes_on).await {
                Ok(Some(answers)) => answers,
                Ok(None) if has_rsa => {
                    return Found::Unknown(
                        "it accepts RSA key exchange only with cipher suites that are not tested".into(),
                    );
                }
                Ok(None) => return Found::No, // No secret is sent under its RSA key.
                Err(why) => return Found::Unknown(why),
            };
            if first.iter().all(|one| Some(one) == first.first()) {
                if first.iter().all(Aftermath::is_unread) {
                    return Found::Unknown("it does not read the key exchange".into());
                }
                // Whoever reads a Finished that is none says so; a wall, or a server that fell over, does not.
                if let Some(mute) = first.iter().find(|_| goes_on).filter(|one| !one.has_complained()) {
                    without_alert = Found::Unknown(ended_how(mute).into());
                    // But one that says it in MySQL's words is up, and may tell them apart where nothing follows (yaSSL).
                    if !mute.has_clear_words {
                        return without_alert;
                    }
                }
                continue;
            }
            // In another order: else five servers behind one address, one of which is odd, look like an oracle.
            return match self.five_answers(&question, ANOTHER_ORDER, goes_on).await {
                Ok(Some(again)) if again == first => Found::Yes,
                Ok(_) => {
                    Found::Unknown("it answers bad paddings in several ways, and not twice the same".into())
                }
                Err(why) => Found::Unknown(why),
            };
        }
        without_alert
    }

    async fn five_answers(
        &mut self,
        question: &Question,
        order: [BadPadding; 5],
        goes_on: bool,
    ) -> Result<Option<Vec<Aftermath>>, String> {
        let mut answers = Vec::new();
        for padding in order {
            match self.after(question.clone(), Probe::Robot { padding, goes_on }).await? {
                Some(answer) => answers.push((padding, answer)),
                None if answers.is_empty() => return Ok(None),
                None => return Err("the handshake was refused all at once".into()),
            }
        }
        // In the one order, whatever they were asked in.
        let place = |padding: BadPadding| BadPadding::ALL.iter().position(|one| *one == padding);
        answers.sort_by_key(|(padding, _)| place(*padding));
        Ok(Some(answers.into_iter().map(|(_, answer)| answer).collect()))
    }
}

/// No padding stands where it stood.
const ANOTHER_ORDER: [BadPadding; 5] = [
    BadPadding::FirstBytes,
    BadPadding::NoZero,
    BadPadding::Version,
    BadPadding::Good,
    BadPadding::ZeroAtTheEnd,
];

/// Why an end without a complaint proves nothing.
fn ended_how(after: &Aftermath) -> &'static str {
    if after.is_silent {
        "it neither complained nor closed"
    } else if after.has_clear_words {
        "it spoke outside of TLS"
    } else if after.others > 0 {
        "it answered with something else"
    } else {
        "the connection was closed without an alert: the server may have crashed, or a device on the path closed it"
    }
}
