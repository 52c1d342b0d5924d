//! What shows only behind a finished handshake: sessions that go on, a client certificate that is wanted for good, a
//! renegotiation that is taken.
//!
//! Whether a session goes on is seen in the answer to the second hello, so only the first handshake is finished.

use wire::tls::registry::{Version, alerts};

use super::{Survey, TlsAnswer};
use crate::facts::Found;
use crate::finish::{End, Finished, Renegotiation, Session};
use crate::question::Question;

/// Two for each way to go on: TLS 1.3, ticket, id.
pub(super) const FINISHED_CONNECTIONS: u32 = 6;
/// Of these.
pub(super) const OF_TLS13_CONNECTIONS: u32 = 2;

/// Said of one fact, and not of the whole look: all else was asked before.
const NONE_LEFT: &str = "no connection was left for it";

impl Survey {
    /// In the order of what most servers have: what the connections do not suffice for is unknown.
    pub(super) async fn finished(&mut self) {
        if self.has(Version::TLS13) {
            let first = self.finish(Question::tls13().to_be_finished(false)).await;
            self.tls.psk_lifetime_s = first.as_ref().ok().and_then(|finished| finished.ticket_lifetime_s);
            self.tls.resumption_by_psk =
                Some(self.goes_on(Question::tls13().to_be_finished(false), first).await);
        }
        let Some(version) = self.newest_old() else { return };
        let question = Question::up_to(version).to_be_finished(true);
        let first = self.finish(question.clone()).await;
        self.tls.client_renegotiation = Some(match &first {
            Ok(Finished { renegotiation: Some(Renegotiation::Accepted), .. }) => Found::Yes,
            Ok(Finished { renegotiation: Some(Renegotiation::Refused), .. }) => Found::No,
            Ok(_) => Found::Unknown("no answer".into()),
            Err(why) => Found::Unknown(why.clone()),
        });
        self.tls.ticket_lifetime_s = first.as_ref().ok().and_then(|finished| finished.ticket_lifetime_s);
        let failure = first.as_ref().err().cloned();
        // An id beside a ticket is none to go on with; and one from here is lost with the renegotiation.
        let with_ticket = first.map(|finished| Finished {
            session: finished.session.filter(|session| matches!(session, Session::Ticket(_))),
            ..finished
        });
        self.tls.resumption_by_ticket = Some(self.goes_on(question, with_ticket).await);
        let mut question = Question::up_to(version).to_be_finished(false);
        question.session_ticket = false;
        // What no handshake came to once, it will not come to now.
        let first = match failure {
            Some(why) => Err(why),
            None => self.finish(question.clone()).await,
        };
        self.tls.resumption_by_id = Some(self.goes_on(question, first).await);
    }

    /// Finishes one handshake, or says why that is not to be had.
    async fn finish(&mut self, question: Question) -> Result<Finished, String> {
        if self.connections_left == 0 {
            return Err(NONE_LEFT.into());
        }
        let accepted = match self.offer(question).await {
            TlsAnswer::Took(accepted) => accepted,
            TlsAnswer::NotSeen => return Err("no answer".into()),
            _ => return Err("the server accepts no handshake that sealion can complete".into()),
        };
        // Not noted like other flights: this hello leaves out what those ask for.
        let finished = accepted.finished.unwrap_or_else(|| Finished::impossible("it ended too early"));
        let of_alert = |alert: Option<u8>| {
            alert.map_or_else(|| "without an alert".to_owned(), |alert| format!("alert {alert}"))
        };
        let wants_certificate =
            |alert: Option<u8>| alert.is_some_and(|alert| is_of_certificate(accepted.hello.version, alert));
        if accepted.asks_certificate {
            let required = match &finished.end {
                End::Complete => Found::No,
                End::Refused { alert } if wants_certificate(*alert) => Found::Yes,
                End::Refused { alert } => Found::Unknown(format!(
                    "the handshake was refused at its end, and not for the certificate ({})",
                    of_alert(*alert)
                )),
                End::Unfinished(why) => Found::Unknown(why.clone()),
            };
            // Of both versions the one that lets somebody in decides.
            let slot = &mut self.tls.client_certificate_required;
            if !matches!((&slot, &required), (Some(Found::No), _) | (Some(Found::Yes), Found::Unknown(_))) {
                *slot = Some(required);
            }
        } else if finished.end == End::Complete {
            self.tls.client_certificate_required = Some(Found::No);
        }
        match &finished.end {
            End::Complete => Ok(finished),
            End::Refused { alert } if accepted.asks_certificate && wants_certificate(*alert) => {
                Err("no handshake ends without a client certificate".into())
            }
            End::Refused { alert } => {
                Err(format!("the handshake was refused at its end ({})", of_alert(*alert)))
            }
            End::Unfinished(why) => Err(format!("the handshake was not finished: {why}")),
        }
    }

    /// Whether the session of `first` is taken when it is offered again.
    async fn goes_on(&mut self, question: Question, first: Result<Finished, String>) -> Found {
        let session = match first {
            Err(why) => return Found::Unknown(why),
            Ok(Finished { session: None, .. }) => return Found::No, // None was given.
            Ok(Finished { session: Some(session), .. }) => session,
        };
        if self.connections_left == 0 {
            return Found::Unknown(NONE_LEFT.into());
        }
        match self.offer(question.resuming(session)).await {
            TlsAnswer::Took(accepted) if accepted.is_resumed => Found::Yes,
            TlsAnswer::NotSeen => Found::Unknown("no answer".into()),
            // Another handshake: the session is nothing to it.
            TlsAnswer::Took(_) | TlsAnswer::Wants { .. } | TlsAnswer::Ssl2 => Found::No,
            TlsAnswer::Refused { how } if how.is_plain(&[]) => Found::No,
            TlsAnswer::Refused { .. } => Found::Unknown("the connection ended, and nothing says why".into()),
        }
    }
}

const NO_CERTIFICATE: u8 = 41;
const BAD_CERTIFICATE: u8 = 42;

/// The alerts of a server that misses the client's certificate. RFC 8446 6.2 has one of its own for it; before that it was
/// handshake_failure (RFC 5246 7.4.6), SSL 3.0's no_certificate, or bad_certificate, which Go's library said in TLS 1.3 too.
fn is_of_certificate(version: Version, alert: u8) -> bool {
    match alert {
        alerts::CERTIFICATE_REQUIRED | BAD_CERTIFICATE => true,
        alerts::HANDSHAKE_FAILURE | NO_CERTIFICATE => version < Version::TLS13,
        _ => false,
    }
}
