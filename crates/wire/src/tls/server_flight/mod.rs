//! Reads what a server says after a ClientHello, up to where encryption begins.
//!
//! Push bytes as they arrive, in pieces of any size, and take events until there is none. The events depend on the
//! bytes alone, never on how they were cut. Everything is bounded: see the constants here. Errors are the peer's fault,
//! or that of somebody on the way; after one the flight is over and says the same error again.
//!
//! ```
//! use wire::tls::{Event, ServerFlight};
//!
//! let mut flight = ServerFlight::new();
//! flight.push(b"\x15\x03\x03\x00\x02\x02\x28");
//! assert!(matches!(flight.next_event(), Ok(Some(Event::Alert(alert))) if alert.is_fatal()));
//! assert!(flight.is_over());
//! ```
//!
//! Left out: decryption, signatures, and the order of optional messages beyond what the reading of them needs.

mod certificate;
mod extensions;
mod key_exchange;
mod messages;
mod server_hello;

pub use certificate::{CERTIFICATE_BYTES_MAX, CERTIFICATES_MAX, CertificateStatus};
pub use extensions::{EXTENSIONS_MAX, ServerExtensions};
pub use key_exchange::{BigNumber, EcParameters, ServerKeyExchange, ServerParameters, Signature};
pub use messages::{AUTHORITIES_MAX, CertificateRequest, NewSessionTicket};
pub use server_hello::{Downgrade, HelloRetryRequest, ServerHello};

use super::registry::{KeyExchange, Version, alert_name, alerts, cipher_suite};
use super::{
    CONTENT_ALERT, CONTENT_APPLICATION_DATA, CONTENT_CHANGE_CIPHER_SPEC, CONTENT_HANDSHAKE,
    CONTENT_HEARTBEAT, RECORD_BYTES_MAX, RECORD_HEADER_BYTES,
};
use crate::WireError;
use crate::read::Reader;

/// All bytes of one flight. OpenSSL takes chains of 100 KiB (`SSL_MAX_CERT_LIST_DEFAULT`); with a key exchange, a list
/// of authorities and headers nothing honest comes near this.
pub const FLIGHT_BYTES_MAX: usize = 256 * 1024;
/// One handshake message.
pub const MESSAGE_BYTES_MAX: u32 = 128 * 1024;
/// Records without a byte in them. RFC 8446 5.1 allows empty application data as padding; a flood of them is none.
pub const EMPTY_RECORDS_MAX: u64 = 16;
/// Alerts that do not end the connection, in one flight.
pub const WARNINGS_MAX: u64 = 8;

pub const HELLO_REQUEST: u8 = 0;
pub const SERVER_HELLO: u8 = 2;
pub const NEW_SESSION_TICKET: u8 = 4;
pub const CERTIFICATE: u8 = 11;
pub const SERVER_KEY_EXCHANGE: u8 = 12;
pub const CERTIFICATE_REQUEST: u8 = 13;
pub const SERVER_HELLO_DONE: u8 = 14;
pub const FINISHED: u8 = 20;
pub const CERTIFICATE_STATUS: u8 = 22;

/// What was wrong with the bytes of a peer, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{cause} (in the record at byte {record_at} of the answer)")]
pub struct FlightError {
    /// Where the record begins with which the fault was complete, counted from the first byte of the answer.
    pub record_at: u64,
    pub cause: WireError,
}

/// A complaint, with which a peer usually ends the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Alert {
    /// 1 is a warning, 2 fatal; TLS 1.3 ignores it.
    pub level: u8,
    pub description: u8,
}

impl Alert {
    /// Ends the connection: by its level, or because it is close_notify.
    pub const fn is_fatal(self) -> bool {
        self.level == alerts::LEVEL_FATAL || self.description == alerts::CLOSE_NOTIFY
    }

    pub fn name(self) -> Option<&'static str> {
        alert_name(self.description)
    }
}

/// One thing that the server said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    ServerHello(Box<ServerHello>),
    /// TLS 1.3: the server wants another key share, or its cookie back.
    HelloRetryRequest(HelloRetryRequest),
    /// The chain of TLS 1.2 and older, leaf first, each in DER. An empty list is possible and seen of broken servers.
    Certificate(Vec<Vec<u8>>),
    CertificateStatus(CertificateStatus),
    ServerKeyExchange(ServerKeyExchange),
    CertificateRequest(CertificateRequest),
    ServerHelloDone,
    /// The server wants to renegotiate.
    HelloRequest,
    NewSessionTicket(NewSessionTicket),
    /// A handshake message that this crate does not take apart.
    OtherHandshake {
        message_type: u8,
        bytes: usize,
    },
    ChangeCipherSpec,
    /// A record that cannot be read without keys: in TLS 1.3 all that follows the ServerHello, before that the Finished.
    Encrypted {
        content_type: u8,
        bytes: usize,
    },
    /// RFC 6520: a response here to a request of ours that claimed more than it held is Heartbleed. Only lengths are
    /// kept: what such an answer holds is nobody's business.
    Heartbeat {
        message_type: u8,
        bytes: usize,
    },
    Alert(Alert),
    /// No TLS begins where a record should. [`ServerFlight::rest`] gives the bytes: for instance a MySQL error packet.
    NotTls,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Reading,
    /// A fatal alert, or bytes that are not TLS.
    Over,
    Failed(FlightError),
}

/// Collects a server's first flight. See the module.
#[derive(Debug, Clone)]
pub struct ServerFlight {
    state: State,
    received: Vec<u8>,
    /// Bytes of `received` that events were made of.
    consumed: usize,
    /// More was pushed than is kept.
    overflowed: bool,
    /// Handshake bytes of the records so far that no event was made of.
    handshake: Vec<u8>,
    handshake_consumed: usize,
    /// Alerts of the current record still to be given out.
    alerts: Vec<Alert>,
    record_at: u64,
    version: Option<Version>,
    key_exchange: Option<KeyExchange>,
    is_anon: bool,
    /// After ChangeCipherSpec, or in TLS 1.3 after the ServerHello.
    is_encrypted: bool,
    has_retried: bool,
    is_complete: bool,
    empty_records: u64,
    warnings: u64,
}

impl Default for ServerFlight {
    fn default() -> Self {
        Self::new()
    }
}

impl ServerFlight {
    pub fn new() -> Self {
        Self {
            state: State::Reading,
            received: Vec::new(),
            consumed: 0,
            overflowed: false,
            handshake: Vec::new(),
            handshake_consumed: 0,
            alerts: Vec::new(),
            record_at: 0,
            version: None,
            key_exchange: None,
            is_anon: false,
            is_encrypted: false,
            has_retried: false,
            is_complete: false,
            empty_records: 0,
            warnings: 0,
        }
    }

    /// Begins anew for another connection and keeps the memory.
    pub fn reset(&mut self) {
        let (mut received, mut handshake) =
            (std::mem::take(&mut self.received), std::mem::take(&mut self.handshake));
        received.clear();
        handshake.clear();
        *self = Self { received, handshake, ..Self::new() };
    }

    /// Adds bytes that have arrived. What goes over [`FLIGHT_BYTES_MAX`] is not kept, and an error in its turn.
    pub fn push(&mut self, bytes: &[u8]) {
        let room = FLIGHT_BYTES_MAX.saturating_sub(self.received.len());
        let kept = bytes.get(..room).unwrap_or(bytes);
        self.overflowed |= kept.len() < bytes.len();
        self.received.extend_from_slice(kept);
    }

    /// No event is to come: a fatal alert was read, or bytes that are not TLS, or bytes that are wrong.
    pub fn is_over(&self) -> bool {
        match self.state {
            State::Reading => false,
            State::Over => self.alerts.is_empty(),
            State::Failed(_) => true,
        }
    }

    /// The server has said all that can be read before the client must answer: its ServerHelloDone, its
    /// HelloRetryRequest, the ServerHello of TLS 1.3, or the first encrypted record of a resumed session.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The version that the ServerHello settled.
    pub fn version(&self) -> Option<Version> {
        self.version
    }

    /// Bytes that no event was made of: behind a fatal alert, or no TLS.
    pub fn rest(&self) -> &[u8] {
        self.received.get(self.consumed..).unwrap_or_default()
    }

    /// To be asked when the peer has closed: is a record or a message left half?
    pub fn finish(&self) -> Result<(), FlightError> {
        match &self.state {
            State::Failed(error) => Err(error.clone()),
            State::Over => Ok(()),
            State::Reading if !self.rest().is_empty() => {
                let have = self.rest().len();
                let needed = match self.rest() {
                    [_, _, _, l0, l1, ..] => {
                        RECORD_HEADER_BYTES + usize::from(u16::from_be_bytes([*l0, *l1]))
                    }
                    _ => RECORD_HEADER_BYTES,
                };
                Err(self.error(WireError::Truncated {
                    what: "TLS record",
                    needed_bytes: needed as u64,
                    have_bytes: have as u64,
                }))
            }
            State::Reading if self.handshake_unread() > 0 => Err(self.error(WireError::Truncated {
                what: "handshake message",
                needed_bytes: self.handshake_needed(),
                have_bytes: self.handshake_unread() as u64,
            })),
            State::Reading => Ok(()),
        }
    }

    /// The next event, or `None` when more bytes are needed or none is to come.
    pub fn next_event(&mut self) -> Result<Option<Event>, FlightError> {
        if let State::Failed(error) = &self.state {
            return Err(error.clone());
        }
        let next = self.advance();
        next.map_err(|cause| {
            let error = self.error(cause);
            self.state = State::Failed(error.clone());
            error
        })
    }

    fn error(&self, cause: WireError) -> FlightError {
        FlightError { record_at: self.record_at, cause }
    }

    fn advance(&mut self) -> Result<Option<Event>, WireError> {
        loop {
            if !self.alerts.is_empty() {
                return self.take_alert().map(Some);
            }
            if self.state != State::Reading {
                return Ok(None);
            }
            if let Some(event) = self.take_message()? {
                return Ok(Some(event));
            }
            match self.take_record()? {
                Step::NeedsMore => return Ok(None),
                Step::GoOn => {}
                Step::Event(event) => return Ok(Some(event)),
            }
        }
    }

    /// One record off the front: an event, more handshake bytes, or alerts to give out.
    fn take_record(&mut self) -> Result<Step, WireError> {
        self.record_at = self.consumed as u64;
        let unread = self.received.get(self.consumed..).unwrap_or_default();
        // Byte 0 alone decides nothing: a MySQL packet of 22 bytes begins with 0x16 as well.
        let looks_like_tls = match unread {
            [] => return self.needs_more(),
            [first] if (CONTENT_CHANGE_CIPHER_SPEC..=CONTENT_HEARTBEAT).contains(first) => {
                return self.needs_more();
            }
            [first, 0x03, ..] => (CONTENT_CHANGE_CIPHER_SPEC..=CONTENT_HEARTBEAT).contains(first),
            _ => false,
        };
        if !looks_like_tls {
            self.state = State::Over;
            return Ok(Step::Event(Event::NotTls));
        }
        let Some(([content_type, _, minor, l0, l1], body)) = unread.split_first_chunk() else {
            return self.needs_more();
        };
        let (content_type, minor, length) = (*content_type, *minor, u16::from_be_bytes([*l0, *l1]));
        if minor > 4 {
            return Err(WireError::Malformed {
                what: "TLS record",
                reason: "its version is newer than TLS 1.3",
            });
        }
        if length > RECORD_BYTES_MAX {
            return Err(WireError::OverLimit {
                what: "TLS record",
                announced: u64::from(length),
                max: u64::from(RECORD_BYTES_MAX),
            });
        }
        let record_end = self.consumed + RECORD_HEADER_BYTES + usize::from(length);
        if record_end > FLIGHT_BYTES_MAX {
            return Err(over_flight_limit(record_end));
        }
        if length == 0 {
            if content_type != CONTENT_APPLICATION_DATA {
                return Err(WireError::Malformed { what: "TLS record", reason: "it is empty" });
            }
            self.empty_records += 1;
            if self.empty_records > EMPTY_RECORDS_MAX {
                return Err(WireError::OverLimit {
                    what: "number of empty TLS records",
                    announced: self.empty_records,
                    max: EMPTY_RECORDS_MAX,
                });
            }
        }
        let Some(body) = body.get(..usize::from(length)) else { return self.needs_more() };
        let body_start = self.consumed + RECORD_HEADER_BYTES;
        let is_partial = self.handshake.len() > self.handshake_consumed;
        if is_partial && content_type != CONTENT_HANDSHAKE {
            return Err(WireError::Malformed {
                what: "handshake message",
                reason: "another kind of record stands in its middle",
            });
        }
        let bytes = body.len();
        let step = match content_type {
            CONTENT_HANDSHAKE if !self.is_encrypted => {
                self.handshake.drain(..self.handshake_consumed);
                self.handshake_consumed = 0;
                self.handshake.extend_from_slice(body);
                Step::GoOn
            }
            CONTENT_ALERT if !self.is_encrypted || bytes == 2 => {
                let mut reader = Reader::new("alert", body);
                while !reader.is_empty() {
                    self.alerts.push(Alert { level: reader.u8()?, description: reader.u8()? });
                }
                self.alerts.reverse();
                Step::GoOn
            }
            CONTENT_CHANGE_CIPHER_SPEC => {
                if body != [1] {
                    return Err(WireError::Malformed {
                        what: "ChangeCipherSpec",
                        reason: "it is not one byte 1",
                    });
                }
                match self.version {
                    None if !self.has_retried => {
                        return Err(WireError::Malformed {
                            what: "ChangeCipherSpec",
                            reason: "it comes before the ServerHello",
                        });
                    }
                    // RFC 8446 D.4: in TLS 1.3 it only pleases boxes on the way.
                    None | Some(Version::TLS13) => {}
                    Some(_) => self.is_encrypted = true,
                }
                Step::Event(Event::ChangeCipherSpec)
            }
            CONTENT_HEARTBEAT if !self.is_encrypted => {
                let message_type = Reader::new("heartbeat", body).u8()?;
                Step::Event(Event::Heartbeat { message_type, bytes })
            }
            _ if !self.is_encrypted => {
                return Err(WireError::Malformed {
                    what: "TLS record",
                    reason: "it holds application data before the handshake has settled a key",
                });
            }
            _ => {
                self.is_complete = true;
                Step::Event(Event::Encrypted { content_type, bytes })
            }
        };
        self.consumed = body_start + bytes;
        Ok(step)
    }

    fn needs_more(&self) -> Result<Step, WireError> {
        if self.overflowed {
            return Err(over_flight_limit(FLIGHT_BYTES_MAX + 1));
        }
        Ok(Step::NeedsMore)
    }

    fn take_alert(&mut self) -> Result<Event, WireError> {
        let Some(alert) = self.alerts.pop() else {
            return Err(WireError::Malformed { what: "alert", reason: "it is empty" });
        };
        if alert.is_fatal() {
            self.alerts.clear();
            self.state = State::Over;
        } else {
            self.warnings += 1;
            if self.warnings > WARNINGS_MAX {
                return Err(WireError::OverLimit {
                    what: "number of warning alerts",
                    announced: self.warnings,
                    max: WARNINGS_MAX,
                });
            }
        }
        Ok(Event::Alert(alert))
    }

    fn handshake_unread(&self) -> usize {
        self.handshake.len().saturating_sub(self.handshake_consumed)
    }

    /// Bytes of the message that is left half, as far as its header tells.
    fn handshake_needed(&self) -> u64 {
        match self.handshake.get(self.handshake_consumed..) {
            Some([_, a, b, c, ..]) => 4 + u64::from(u32::from_be_bytes([0, *a, *b, *c])),
            _ => 4,
        }
    }

    /// One whole handshake message off the bytes that records have brought.
    fn take_message(&mut self) -> Result<Option<Event>, WireError> {
        let unread = self.handshake.get(self.handshake_consumed..).unwrap_or_default();
        let Some(([message_type, a, b, c], body)) = unread.split_first_chunk() else { return Ok(None) };
        let (message_type, length) = (*message_type, u32::from_be_bytes([0, *a, *b, *c]));
        if length > MESSAGE_BYTES_MAX {
            return Err(WireError::OverLimit {
                what: "handshake message",
                announced: u64::from(length),
                max: u64::from(MESSAGE_BYTES_MAX),
            });
        }
        let Some(body) = body.get(..length as usize) else { return Ok(None) };
        let end = self.handshake_consumed + 4 + body.len();
        let event = match (message_type, self.version) {
            (HELLO_REQUEST, _) => {
                Reader::new("HelloRequest", body).end()?;
                Event::HelloRequest
            }
            (SERVER_HELLO, Some(_)) => {
                return Err(WireError::Malformed { what: "ServerHello", reason: "it comes twice" });
            }
            (SERVER_HELLO, None) => match server_hello::parse(body)? {
                server_hello::Hello::Retry(_) if self.has_retried => {
                    return Err(WireError::Malformed { what: "HelloRetryRequest", reason: "it comes twice" });
                }
                server_hello::Hello::Retry(retry) => {
                    self.has_retried = true;
                    self.is_complete = true;
                    Event::HelloRetryRequest(retry)
                }
                server_hello::Hello::Server(hello) => {
                    self.version = Some(hello.version);
                    let suite = cipher_suite(hello.cipher_suite);
                    self.key_exchange = suite.map(|suite| suite.key_exchange);
                    self.is_anon = suite.is_some_and(super::registry::CipherSuite::is_anon);
                    self.is_encrypted = hello.version >= Version::TLS13;
                    self.is_complete = self.is_encrypted;
                    if self.is_encrypted && end < self.handshake.len() {
                        return Err(WireError::Malformed {
                            what: "ServerHello",
                            reason: "a message follows in clear, though TLS 1.3 encrypts it",
                        });
                    }
                    Event::ServerHello(Box::new(hello))
                }
            },
            (_, None) => {
                return Err(WireError::Malformed {
                    what: "handshake message",
                    reason: "another message comes before the ServerHello",
                });
            }
            (CERTIFICATE, Some(_)) => Event::Certificate(certificate::parse(body)?),
            (CERTIFICATE_STATUS, Some(_)) => Event::CertificateStatus(certificate::parse_status(body)?),
            (SERVER_KEY_EXCHANGE, Some(version)) => {
                Event::ServerKeyExchange(key_exchange::parse(body, version, self.key_exchange, self.is_anon)?)
            }
            (CERTIFICATE_REQUEST, Some(version)) => {
                Event::CertificateRequest(messages::certificate_request(body, version)?)
            }
            (SERVER_HELLO_DONE, Some(_)) => {
                Reader::new("ServerHelloDone", body).end()?;
                self.is_complete = true;
                Event::ServerHelloDone
            }
            (NEW_SESSION_TICKET, Some(_)) => Event::NewSessionTicket(messages::new_session_ticket(body)?),
            (_, Some(_)) => Event::OtherHandshake { message_type, bytes: body.len() },
        };
        self.handshake_consumed = end;
        Ok(Some(event))
    }
}

enum Step {
    NeedsMore,
    GoOn,
    Event(Event),
}

fn over_flight_limit(announced: usize) -> WireError {
    WireError::OverLimit { what: "server flight", announced: announced as u64, max: FLIGHT_BYTES_MAX as u64 }
}
