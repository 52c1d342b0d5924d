//! Which groups of the key exchange are taken, and how long a prime is.

use wire::tls::registry::{CipherSuite, GROUPS, GroupKind, KeyExchange, Version, cipher_suite, group};

use super::{Depth, Survey, TlsAnswer};
use crate::question::{Question, Shares};

/// Which group a server settles for.
enum Picked {
    One(u16),
    /// It refuses all that were offered.
    None,
    NotSeen,
}

impl Survey {
    pub(super) async fn groups(&mut self, depth: Depth) {
        if self.has(Version::TLS13) {
            let mut question = Question::tls13();
            question.shares = Shares::Asked;
            question.groups.retain(|&code| group(code).is_some_and(wire::tls::registry::Group::is_in_tls13));
            self.eliminate_groups(Version::TLS13, question, depth).await;
        }
        if let Some(version) = self.newest_old() {
            let mut question =
                Question::up_to(version).only(|suite| suite.key_exchange == KeyExchange::Ecdhe);
            question.groups.retain(|&code| {
                group(code).is_some_and(|group| {
                    matches!(group.kind, GroupKind::Prime | GroupKind::Binary | GroupKind::Montgomery)
                })
            });
            if version > Version::SSL3 {
                self.eliminate_groups(Version::TLS12, question, depth).await;
            }
            // DHE without a named group: the prime is the server's own.
            if self.tls.dh_bits.is_none() {
                let mut question =
                    Question::up_to(version).only(|suite| suite.key_exchange == KeyExchange::Dhe);
                question
                    .groups
                    .retain(|&code| group(code).is_some_and(|group| group.kind != GroupKind::Ffdhe));
                if let TlsAnswer::Took(accepted) = self.offer(question).await {
                    self.note(&accepted);
                }
            }
        }
    }

    pub(super) async fn eliminate_groups(&mut self, version: Version, question: Question, depth: Depth) {
        if depth == Depth::Full {
            // Asked anew from the first on: the order in which they come is the server's.
            self.tls.groups.remove(&version);
            let mut question = question;
            // Curves of certificates stay, last: without its own a server refuses all others (RFC 8422 5.1).
            let own = if version < Version::TLS13 { self.curves_of_leaves() } else { vec![] };
            let is_own = |code: &u16| own.contains(code);
            question.groups.sort_by_key(is_own);
            let (mut others, mut took_own) = (0, false);
            while question.groups.iter().any(|code| !is_own(code)) || !took_own && !question.groups.is_empty()
            {
                let picked = match self.group_picked(version, question.clone()).await {
                    Picked::One(code) => code,
                    Picked::None => break,
                    Picked::NotSeen => return,
                };
                if is_own(&picked) {
                    took_own = true;
                    break;
                }
                others += 1;
                let before = question.groups.len();
                question.groups.retain(|&code| code != picked);
                if question.groups.len() == before {
                    return;
                }
            }
            let is_all = if took_own && question.groups.iter().any(|code| !is_own(code)) {
                // It took its own from the end of the list. One that goes by its own order may have others behind it.
                others > 0 && self.goes_by_our_order(version, &question).await
            } else {
                version == Version::TLS13 || took_own || self.may_take_any_curve()
            };
            if is_all {
                self.tls.groups_complete.insert(version);
            }
            return;
        }
        let mut takes_none = !self.tls.groups.contains_key(&version);
        for kinds in [
            [GroupKind::Hybrid, GroupKind::MlKem].as_slice(),
            &[GroupKind::Montgomery],
            &[GroupKind::Prime],
            &[GroupKind::Ffdhe],
            &[GroupKind::Binary],
        ] {
            let is_of = |code: u16| group(code).is_some_and(|group| kinds.contains(&group.kind));
            let known =
                self.tls.groups.get(&version).is_some_and(|list| list.iter().any(|&code| is_of(code)));
            let mut question = question.clone();
            question.groups.retain(|&code| is_of(code));
            if !known && !question.groups.is_empty() {
                takes_none &= matches!(self.group_picked(version, question).await, Picked::None);
            }
        }
        if takes_none && self.may_take_any_curve() {
            self.tls.groups_complete.insert(version);
        }
    }

    /// Curves that the certificates are on.
    fn curves_of_leaves(&self) -> Vec<u16> {
        let leaves = self.tls.chains.iter().filter_map(|chain| chain.first());
        let names: Vec<&str> = leaves
            .filter_map(|leaf| leaf.key.strip_prefix("EC "))
            .map(|name| match name {
                "P-256" => "secp256r1",
                "P-384" => "secp384r1",
                "P-521" => "secp521r1",
                other => other,
            })
            .collect();
        GROUPS.iter().filter(|group| names.contains(&group.name)).map(|group| group.code).collect()
    }

    /// A group that it took before its own is offered behind them: does it take its own now?
    async fn goes_by_our_order(&mut self, version: Version, question: &Question) -> bool {
        let mut question = question.clone();
        let own = self.curves_of_leaves();
        let taken = self.tls.groups.get(&version).into_iter().flatten();
        let Some(other) = taken.copied().find(|code| !own.contains(code)) else { return false };
        question.groups = own.iter().copied().chain([other]).collect();
        matches!(self.group_picked(version, question).await, Picked::One(code) if own.contains(&code))
    }

    /// Whether what was refused up to TLS 1.2 was refused for its group. A server whose certificates are all on curves wants
    /// theirs among the groups (RFC 8422 5.1), and refuses for want of it when that one was left out because it is known.
    /// And one that has no suites but those of pre-shared keys was asked for no group.
    fn may_take_any_curve(&self) -> bool {
        let listed = self.tls.groups.get(&Version::TLS12).is_some_and(|codes| !codes.is_empty());
        let mut leaves = self.tls.chains.iter().filter_map(|chain| chain.first()).peekable();
        let are_curves = leaves.peek().is_some() && leaves.all(|leaf| leaf.key.starts_with("EC "));
        let mut old = self
            .tls
            .suites
            .iter()
            .filter(|(version, _)| **version < Version::TLS13)
            .flat_map(|(_, codes)| codes)
            .filter_map(|code| cipher_suite(*code))
            .peekable();
        let is_of_psk = |suite: &CipherSuite| {
            matches!(
                suite.key_exchange,
                KeyExchange::Psk | KeyExchange::DhePsk | KeyExchange::EcdhePsk | KeyExchange::RsaPsk
            )
        };
        let are_psk = old.peek().is_some() && old.all(is_of_psk);
        let lacks_its_own = are_curves && listed;
        !(lacks_its_own || are_psk)
    }

    async fn group_picked(&mut self, version: Version, question: Question) -> Picked {
        match self.offer(question).await {
            TlsAnswer::Wants { group: Some(code), .. } => {
                self.note_group(version, code);
                Picked::One(code)
            }
            TlsAnswer::Took(accepted) => {
                self.note(&accepted);
                let suite = cipher_suite(accepted.hello.cipher_suite);
                // Seen: yaSSL reads 0xc005 as 0x0005, which has no groups.
                let has_groups = suite
                    .is_none_or(|suite| matches!(suite.key_exchange, KeyExchange::Ecdhe | KeyExchange::Any));
                match accepted.group {
                    Some(code) => Picked::One(code),
                    None if has_groups => Picked::NotSeen,
                    None => Picked::None,
                }
            }
            TlsAnswer::Refused { .. } => Picked::None,
            TlsAnswer::Wants { group: None, .. } | TlsAnswer::Ssl2 | TlsAnswer::NotSeen => Picked::NotSeen,
        }
    }
}
