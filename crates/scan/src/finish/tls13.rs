//! The second half of a handshake of TLS 1.3, and what comes right behind it. Sources: RFC 8446 4.4 (Finished), 4.6.1
//! (tickets), 7.1 (key schedule), 6.2 (certificate_required).
//!
//! For the client the handshake is complete before the server has seen whether it has a certificate. So the server's words
//! behind it are read until it closes; our farewell, sent with the Finished, makes it close.

use wire::tls::registry::alerts;
use wire::tls::server_flight::{CERTIFICATE, CERTIFICATE_REQUEST, FINISHED, NEW_SESSION_TICKET, ServerHello};
use wire::tls::{CONTENT_ALERT, CONTENT_APPLICATION_DATA, CONTENT_CHANGE_CIPHER_SPEC, CONTENT_HANDSHAKE};

use super::{End, Finished, Received, Session, message, take_messages};
use crate::question::Keys;
use crate::tls13::{self, Closed, Inside, Suite, Traffic};

/// A flight has four messages, or five; a certificate chain is bounded by itself.
const HANDSHAKE_BYTES_MAX: usize = 256 * 1024;

/// From the ServerHello on.
pub struct Tls13 {
    suite: u16,
    of_suite: Suite,
    handshake_secret: Vec<u8>,
    client_secret: Vec<u8>,
    server_secret: Vec<u8>,
    transcript: Vec<u8>,
    read: Traffic,
    received: Received,
    handshake: Vec<u8>,
    /// Certificates and what belongs to them, as [`tls13::read`] would have given it.
    pub inside: Inside,
    /// What the server wants back with the list of our certificates.
    request_context: Option<Vec<u8>>,
    /// Set once our Finished is sent.
    resumption_secret: Option<Vec<u8>>,
    /// The server has said something behind the handshake that only a complete one has.
    has_gone_on: bool,
    is_over: bool,
    finished: Finished,
}

impl Tls13 {
    /// `raw` are all bytes of the server so far. The second value says how many of them are used; the rest is to be handed
    /// in with [`Tls13::input`].
    pub fn begin(
        keys: &Keys,
        client_hello: &[u8],
        raw: &[u8],
        hello: &ServerHello,
    ) -> Result<(Self, usize), Closed> {
        let suite = Suite::of(hello.cipher_suite).ok_or(Closed::NotOurs)?;
        let handshake_secret = suite.handshake_secret(keys, hello)?;
        let mut records = tls13::Records { rest: raw };
        let server_hello = tls13::server_hello(&mut records).ok_or(Closed::Damaged)?;
        let transcript = [client_hello, server_hello].concat();
        let hash = suite.schedule.digest.of(&[&transcript]);
        let client_secret = suite.schedule.secret(&handshake_secret, "c hs traffic", &hash);
        let server_secret = suite.schedule.secret(&handshake_secret, "s hs traffic", &hash);
        let consumed = raw.len() - records.rest.len();
        let read = suite.traffic(&server_secret);
        let this = Self {
            suite: hello.cipher_suite,
            of_suite: suite,
            handshake_secret,
            client_secret,
            server_secret,
            transcript,
            read,
            received: Received::default(),
            handshake: Vec::new(),
            inside: Inside::default(),
            request_context: None,
            resumption_secret: None,
            has_gone_on: false,
            is_over: false,
            finished: Finished::pending(),
        };
        Ok((this, consumed))
    }

    pub fn input(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        self.received.push(bytes);
        while !self.is_over {
            let Some((content, body)) = self.received.next() else { break };
            if self.record(content, &body, out).is_err() {
                self.finished.end = End::Unfinished("a record of the server does not open".into());
                self.is_over = true;
            }
        }
        self.is_over
    }

    pub fn ended(mut self, has_closed: bool) -> Finished {
        let is_sent = self.resumption_secret.is_some();
        if !self.is_over {
            self.finished.end = match (is_sent, has_closed) {
                // Nothing was asked of us, or the server has gone on: then it was content.
                (true, _) if self.request_context.is_none() || self.has_gone_on => End::Complete,
                (true, true) => End::Unfinished(
                    "it closed without a word, for want of a certificate or because we had left".into(),
                ),
                (false, true) => End::Refused { alert: None },
                (_, false) => End::Unfinished("no answer".into()),
            };
        }
        self.finished
    }

    fn refuse(&mut self, alert: u8) {
        self.finished.end = End::Refused { alert: Some(alert) };
        self.is_over = true;
    }

    fn record(&mut self, content: u8, body: &[u8], out: &mut Vec<u8>) -> Result<(), Closed> {
        match content {
            CONTENT_CHANGE_CIPHER_SPEC => return Ok(()), // For middleboxes.
            CONTENT_ALERT => {
                self.refuse(body.get(1).copied().unwrap_or_default());
                return Ok(());
            }
            CONTENT_APPLICATION_DATA => {}
            _ => return Err(Closed::Damaged),
        }
        let (content, plain) = self.read.open(body)?;
        match content {
            CONTENT_HANDSHAKE => self.messages(&plain, out),
            CONTENT_ALERT => {
                match plain.get(1).copied().unwrap_or_default() {
                    // Our farewell answered.
                    alerts::CLOSE_NOTIFY if self.resumption_secret.is_some() => {
                        self.finished.end = End::Complete;
                        self.is_over = true;
                    }
                    alert => self.refuse(alert),
                }
                Ok(())
            }
            _ => {
                self.has_gone_on = true;
                Ok(())
            }
        }
    }

    fn messages(&mut self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), Closed> {
        self.handshake.extend_from_slice(plain);
        if self.handshake.len() > HANDSHAKE_BYTES_MAX {
            return Err(Closed::Damaged);
        }
        for (kind, whole) in take_messages(&mut self.handshake) {
            let body = whole.get(4..).unwrap_or_default();
            if self.resumption_secret.is_some() {
                self.has_gone_on = true;
                if kind == NEW_SESSION_TICKET {
                    self.ticket(body).ok_or(Closed::Damaged)?;
                }
                continue;
            }
            match kind {
                FINISHED => {
                    self.server_finished(body)?;
                    self.transcript.extend_from_slice(&whole);
                    self.finish(out)?;
                    continue;
                }
                CERTIFICATE_REQUEST => {
                    let (&length, rest) = body.split_first().ok_or(Closed::Damaged)?;
                    self.request_context =
                        Some(rest.get(..usize::from(length)).ok_or(Closed::Damaged)?.to_vec());
                }
                _ => {}
            }
            self.inside.message(kind, body)?;
            self.transcript.extend_from_slice(&whole);
        }
        Ok(())
    }

    fn hash(&self) -> Vec<u8> {
        self.of_suite.schedule.digest.of(&[&self.transcript])
    }

    fn server_finished(&self, body: &[u8]) -> Result<(), Closed> {
        let expected = self.of_suite.schedule.verify_data(&self.server_secret, &self.hash());
        if expected == body { Ok(()) } else { Err(Closed::Damaged) }
    }

    /// Our second flight: the list of our certificates where one is asked for, which is empty; Finished; and farewell.
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Closed> {
        let schedule = self.of_suite.schedule;
        let derived = schedule.derived(&self.handshake_secret);
        let master = schedule.extract(&derived, &vec![0; schedule.digest.bytes()]);
        let hash = self.hash();
        let ours = schedule.secret(&master, "c ap traffic", &hash);
        let theirs = schedule.secret(&master, "s ap traffic", &hash);

        let mut write = self.of_suite.traffic(&self.client_secret);
        out.extend_from_slice(&[CONTENT_CHANGE_CIPHER_SPEC, 3, 3, 0, 1, 1]); // RFC 8446 appendix D.4.
        if let Some(context) = &self.request_context {
            let mut body = vec![u8::try_from(context.len()).map_err(|_| Closed::Damaged)?];
            body.extend_from_slice(context);
            body.extend_from_slice(&[0, 0, 0]);
            let none = message(CERTIFICATE, &body);
            write.seal(out, CONTENT_HANDSHAKE, &none)?;
            self.transcript.extend_from_slice(&none);
        }
        let finished = message(FINISHED, &schedule.verify_data(&self.client_secret, &self.hash()));
        write.seal(out, CONTENT_HANDSHAKE, &finished)?;
        self.transcript.extend_from_slice(&finished);
        let farewell = [alerts::LEVEL_WARNING, alerts::CLOSE_NOTIFY];
        self.of_suite.traffic(&ours).seal(out, CONTENT_ALERT, &farewell)?;

        self.read = self.of_suite.traffic(&theirs);
        self.resumption_secret = Some(schedule.secret(&master, "res master", &self.hash()));
        Ok(())
    }

    /// RFC 8446 4.6.1; the first is kept.
    fn ticket(&mut self, body: &[u8]) -> Option<()> {
        let (lifetime, rest) = body.split_first_chunk::<4>()?;
        let (age_add, rest) = rest.split_first_chunk::<4>()?;
        let (&nonce_bytes, rest) = rest.split_first()?;
        let (nonce, rest) = rest.split_at_checked(usize::from(nonce_bytes))?;
        let (length, rest) = rest.split_first_chunk::<2>()?;
        let ticket = rest.get(..usize::from(u16::from_be_bytes(*length)))?;
        let secret = self.resumption_secret.as_ref()?;
        if self.finished.session.is_none() {
            let schedule = self.of_suite.schedule;
            let key = schedule.expand(secret, "resumption", nonce, schedule.digest.bytes());
            let age_add = u32::from_be_bytes(*age_add);
            self.finished.session =
                Some(Session::Psk { suite: self.suite, ticket: ticket.to_vec(), age_add, key });
            self.finished.ticket_lifetime_s = Some(u32::from_be_bytes(*lifetime));
        }
        Some(())
    }
}
