//! Servers that end a handshake over a long list of suites.
//!
//! Seen: wolfSSL, in the MariaDB project's own builds of 10.11.5 and 11.4.5, has room for 150 suites and answers a longer list
//! with alert 50, whatever it could have agreed on. Who believes that takes such a server for one without TLS 1.2.

use wire::tls::registry::{FALLBACK_SCSV, alerts};

use super::{Survey, TlsAnswer};
use crate::question::Question;

/// Every server that was seen takes so many. Other scanners found the same number with other libraries.
pub(super) const SUITES_SAFE: usize = 128;
/// Shorter lists that are tried on a server that has taken no long one yet: the refusal may have another reason.
const TRIES_MAX: u32 = 2;

/// What is known of one server.
#[derive(Debug, Default)]
pub(super) struct LongLists {
    /// It has taken a list longer than [`SUITES_SAFE`], or answered one by settling something.
    are_taken: bool,
    /// It takes short ones alone: long ones are cut.
    are_cut: bool,
    tries: u32,
}

impl Survey {
    /// Asks, in parts where the server takes no long lists: the first part that is not refused is the answer, since the
    /// better suites stand in front.
    pub(super) async fn offer(&mut self, question: Question) -> TlsAnswer {
        if question.is_ssl2() || question.suites.len() <= SUITES_SAFE {
            return self.offer_once(question).await;
        }
        if self.long_lists.are_cut {
            return self.offer_parts(&question).await;
        }
        let said = self.offer_once(question.clone()).await;
        self.or_shorter(question, said).await
    }

    /// The answer to a long list; if that was a refusal that the length may have caused, the answer to a short one.
    pub(super) async fn or_shorter(&mut self, question: Question, said: TlsAnswer) -> TlsAnswer {
        let TlsAnswer::Refused { how } = said else {
            self.long_lists.are_taken |= !matches!(said, TlsAnswer::NotSeen);
            return said;
        };
        // The first refusal is always looked into; later ones only where the server says that it could not read us.
        let may_be = self.long_lists.tries == 0 || how.alert() == Some(alerts::DECODE_ERROR);
        if self.long_lists.are_taken || !may_be || self.long_lists.tries >= TRIES_MAX {
            return said;
        }
        self.long_lists.tries += 1;
        let short = part(&question, question.suites.get(..SUITES_SAFE).unwrap_or_default());
        let is_first = how.alert().is_none() && self.is_nothing_taken();
        let short = if is_first {
            // As good as the same hello once more.
            let short = self.ask(short).await;
            if matches!(short, TlsAnswer::Refused { how: again } if again == how) {
                self.has_refused_twice(how);
            }
            short
        } else {
            self.offer_once(short).await
        };
        match short {
            TlsAnswer::Took(_) | TlsAnswer::Wants { .. } => {
                // An end without a word may have had nothing to do with the list.
                if how.alert().is_none()
                    && let again @ (TlsAnswer::Took(_) | TlsAnswer::Wants { .. }) = self.ask(question).await
                {
                    self.long_lists.are_taken = true;
                    return again;
                }
                self.long_lists.are_cut = true;
                short
            }
            _ => said,
        }
    }

    async fn offer_parts(&mut self, question: &Question) -> TlsAnswer {
        let mut said = TlsAnswer::NotSeen;
        for suites in question.suites.chunks(SUITES_SAFE) {
            said = self.offer_once(part(question, suites)).await;
            if !matches!(said, TlsAnswer::Refused { .. }) {
                break;
            }
        }
        said
    }
}

/// The same question with some of its suites; what is a signal and no suite goes into every part.
fn part(question: &Question, suites: &[u16]) -> Question {
    let mut suites = suites.to_vec();
    if question.suites.contains(&FALLBACK_SCSV) && !suites.contains(&FALLBACK_SCSV) {
        suites.push(FALLBACK_SCSV);
    }
    Question { suites, ..question.clone() }
}
