//! A certificate per kind of key, and the schemes that are signed with.

use wire::tls::registry::{
    Authentication, CipherSuite, SignatureKey, Version, cipher_suite, signature_scheme,
};

use super::{Survey, TlsAnswer};
use crate::question::Question;

/// Connections that the question for schemes leaves.
const LEFT_FOR_OTHERS: u32 = 1;

impl Survey {
    /// A server may have a certificate per kind of key: ask for the kinds that were not shown.
    pub(super) async fn chains(&mut self) {
        let kinds: [(Authentication, &[SignatureKey]); 2] = [
            (Authentication::Ecdsa, &[SignatureKey::Ecdsa, SignatureKey::Eddsa]),
            (
                Authentication::Rsa,
                &[SignatureKey::RsaPkcs1, SignatureKey::RsaPssRsae, SignatureKey::RsaPssPss],
            ),
        ];
        for (authentication, keys) in kinds {
            let is_shown = self
                .tls
                .chains
                .iter()
                .filter_map(|chain| chain.first())
                .any(|leaf| leaf.key.starts_with("RSA") == (authentication == Authentication::Rsa));
            let is_impossible = self.newest_old().is_some_and(|version| {
                let mut codes = self.tls.suites.get(&version).into_iter().flatten();
                self.tls.complete.contains(&version)
                    && !codes.any(|code| {
                        cipher_suite(*code).is_none_or(|suite| suite.authentication == authentication)
                    })
            });
            if is_shown || is_impossible {
                continue;
            }
            let mut question = match self.newest_old() {
                Some(version) => {
                    Question::up_to(version).only(|suite| suite.authentication == authentication)
                }
                None => Question::tls13().in_own_groups(),
            };
            question
                .schemes
                .retain(|&code| signature_scheme(code).is_some_and(|scheme| keys.contains(&scheme.key)));
            if let TlsAnswer::Took(accepted) = self.offer(question).await {
                self.note(&accepted);
            }
        }
    }

    pub(super) async fn schemes(&mut self) {
        let mut question = match self.newest_old() {
            Some(version) if version == Version::TLS12 => {
                Question::up_to(version).only(CipherSuite::has_forward_secrecy)
            }
            _ if self.has(Version::TLS13) => Question::tls13().in_own_groups(),
            // Before TLS 1.2 no scheme is named.
            _ => return,
        };
        let known = self.tls.signature_schemes.clone();
        question.schemes.retain(|code| !known.contains(code));
        // Nothing is judged by the whole list of them: what others may need is left to them.
        while !question.schemes.is_empty() && self.connections_left > LEFT_FOR_OTHERS {
            let TlsAnswer::Took(accepted) = self.offer(question.clone()).await else { break };
            self.note(&accepted);
            let before = question.schemes.len();
            question.schemes.retain(|code| Some(*code) != accepted.scheme);
            if question.schemes.len() == before {
                break;
            }
        }
    }
}
