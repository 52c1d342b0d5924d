//! Which groups of the key exchange are taken, and how long a prime is.

use wire::tls::registry::{GroupKind, KeyExchange, Version, group};

use super::{Depth, Said, Survey};
use crate::question::{Question, Shares};

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
                if let Said::Took(accepted) = self.offer(question).await {
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
            while !question.groups.is_empty() {
                let Some(picked) = self.group_picked(version, question.clone()).await else { break };
                let before = question.groups.len();
                question.groups.retain(|&code| code != picked);
                if question.groups.len() == before {
                    return;
                }
            }
            if !self.is_stopped && !self.is_spent {
                self.tls.groups_complete.insert(version);
            }
            return;
        }
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
                let _ = self.group_picked(version, question).await;
            }
        }
    }

    pub(super) async fn group_picked(&mut self, version: Version, question: Question) -> Option<u16> {
        match self.offer(question).await {
            Said::Wants { group: Some(code), .. } => {
                self.note_group(version, code);
                Some(code)
            }
            Said::Took(accepted) => {
                self.note(&accepted);
                accepted.group
            }
            _ => None,
        }
    }
}
