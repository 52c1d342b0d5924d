//! The bytes of one connection, from its first one to the end of the server's first flight, and where the question wants
//! more, behind it. Sans-I/O: whoever holds the socket hands in what was read and says when nothing came for a while, and
//! sends what [`Conversation::output`] gives.

use wire::gcomm;
use wire::greeting::{self, FirstPacket};
use wire::packet::{BEFORE_LOGIN_BYTES_MAX, PacketBuffer};
use wire::tls::registry::{Version, groups};
use wire::tls::server_flight::{EcParameters, Event, ServerParameters};
use wire::tls::{ServerFlight, ssl2};
use wire::{Capabilities, ErrPacket, SslRequest};
use wire::{x_protocol, xcom};

use crate::finish::{self, Finished, Finishing, Tls12, Tls13};
use crate::intrude::{self, Aftermath};
use crate::login_probe::Knock;
use crate::question::{FollowUp, Keys, Question};
use crate::reply::{Accepted, Answer, CONVERSATION_BYTES_MAX, Fault, Reply, Spoke};
use crate::tls13;

/// The type of an X Protocol notice.
const X_NOTICE: u8 = 11;
/// What is kept of bytes that nobody understands, for an error text.
const SAMPLE_BYTES: usize = 64;
/// RFC 6520 3.
const HEARTBEAT_RESPONSE: u8 = 2;

/// How TLS is begun on a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// Not known yet: the server's first bytes tell, or its silence.
    Listen,
    /// As `Listen`, and its silence means nothing: it is waited for.
    Patient,
    /// A greeting, an SSLRequest, then TLS.
    Mysql,
    /// The server's notice, its capabilities, the wish for TLS, then TLS.
    XProtocol,
    /// TLS from the first byte.
    Direct,
    /// A question of Group Replication, in cleartext.
    Xcom,
    /// A greeting, and a login that is refused, in cleartext.
    Knock,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// For the server's first bytes.
    Waiting,
    InTls,
    /// Behind the first flight: a handshake to be finished.
    Finishing,
    /// Behind the first flight: an intrusive question is asked.
    Intruding,
    /// Clear text came where TLS should begin; the packet may not be whole yet.
    InPlain,
    /// Behind a login, until it is refused.
    Knocking,
    Over,
}

/// One connection's talk.
pub struct Conversation<'k> {
    keys: &'k Keys,
    question: Option<Question>,
    opening: Opening,
    state: State,
    packets: PacketBuffer,
    first: Vec<u8>,
    /// Of `first`, in the packets.
    pushed_bytes: usize,
    received_bytes: usize,
    flight: ServerFlight,
    /// The TLS bytes as they came, for the part that is encrypted.
    raw: Vec<u8>,
    hello_message: Vec<u8>,
    random: [u8; 32],
    output: Vec<u8>,
    spoke: Spoke,
    accepted: Option<Accepted>,
    finishing: Option<Finishing>,
    aftermath: Aftermath,
    answer: Option<Answer>,
    fault: Option<Fault>,
    knock: Option<Knock>,
}

impl<'k> Conversation<'k> {
    /// `question` `None`: only the first words are wanted.
    pub fn new(keys: &'k Keys, opening: Opening, question: Option<Question>, random: [u8; 32]) -> Self {
        let mut this = Self {
            keys,
            question,
            opening,
            state: State::Waiting,
            packets: PacketBuffer::new(BEFORE_LOGIN_BYTES_MAX),
            first: Vec::new(),
            pushed_bytes: 0,
            received_bytes: 0,
            flight: ServerFlight::new(),
            raw: Vec::new(),
            hello_message: Vec::new(),
            random,
            output: Vec::new(),
            spoke: Spoke::Nothing,
            accepted: None,
            finishing: None,
            aftermath: Aftermath::default(),
            answer: None,
            fault: None,
            knock: None,
        };
        match opening {
            Opening::Direct => this.begin_tls(),
            Opening::Xcom => xcom::version_request(&mut this.output),
            Opening::Listen | Opening::Patient | Opening::Mysql | Opening::XProtocol | Opening::Knock => {}
        }
        this
    }

    /// Bytes to be sent now; they are handed out once.
    pub fn output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    /// While true, silence means that the server waits for us: say so with [`Conversation::nothing_came`].
    pub fn waits_for_first_words(&self) -> bool {
        self.opening == Opening::Listen && self.state == State::Waiting && self.first.is_empty()
    }

    /// Nothing more will be sent: when the output is, the socket may be closed in that direction.
    /// Seen: yaSSL (MySQL 5.5.9) passes over the farewell of TLS, and waits for that of TCP.
    pub fn has_left(&self) -> bool {
        self.finishing.as_ref().is_some_and(Finishing::has_left)
    }

    pub fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// The server has said nothing since it took the connection.
    pub fn nothing_came(&mut self) {
        if self.waits_for_first_words() {
            self.begin_tls();
        }
    }

    /// Nothing more will come.
    pub fn closed(&mut self) {
        match self.state {
            State::Waiting => self.fail(Fault::Broken { why: "closed before it said what it is".into() }),
            State::Knocking => self.state = State::Over,
            State::InPlain => self.plain(true),
            State::Finishing => self.finish(true),
            State::Intruding => self.after_all(),
            State::InTls if self.accepted.is_some() => self.settle(),
            State::InTls => match self.flight.finish() {
                Ok(()) => self.end(Answer::Closed),
                Err(error) => self.fail(Fault::Misbehaved { why: error.to_string() }),
            },
            State::Over => {}
        }
    }

    /// The one who holds the socket gives up.
    pub fn fail(&mut self, fault: Fault) {
        if self.state == State::Over {
            return;
        }
        match self.state {
            State::Finishing => self.finish(false),
            State::Intruding => {
                self.aftermath.is_silent = true;
                self.after_all();
            }
            _ => {}
        }
        // What was seen before counts: a server that settled the handshake and then went silent has settled it.
        if self.accepted.is_some() {
            self.settle();
        }
        if self.state == State::InPlain {
            self.plain(true);
        }
        self.fault = Some(fault);
        self.state = State::Over;
    }

    pub fn into_reply(self) -> Reply {
        let spoke = self.knock.map_or(self.spoke, |knock| Spoke::Knocked(knock.into_knocked()));
        Reply { spoke, answer: self.answer, fault: self.fault, is_mute: self.received_bytes == 0 }
    }

    pub fn input(&mut self, bytes: &[u8]) {
        self.received_bytes += bytes.len();
        if self.received_bytes > CONVERSATION_BYTES_MAX {
            self.fail(Fault::TooLong);
        }
        match self.state {
            State::Waiting => self.first_words(bytes),
            State::Knocking => {
                if let Some(knock) = &mut self.knock {
                    knock.input(bytes, &mut self.output);
                    if knock.is_over() {
                        self.state = State::Over;
                    }
                }
            }
            State::InTls | State::Intruding => self.in_tls(bytes),
            State::Finishing => self.go_on(bytes),
            State::InPlain => {
                self.raw.extend_from_slice(bytes);
                self.plain(false);
            }
            State::Over => {}
        }
    }

    fn first_words(&mut self, bytes: &[u8]) {
        self.first.extend_from_slice(bytes);
        if matches!(self.opening, Opening::Listen | Opening::Patient) && !is_error(&self.first) {
            match gcomm::parse(&self.first) {
                Ok(Some(handshake)) => {
                    self.spoke = Spoke::Gcomm(handshake);
                    self.state = State::Over;
                    return;
                }
                Ok(None) => return,
                Err(_) => {}
            }
            // Before these two have parted ways a MySQL packet and an X frame look alike: both begin with a length.
            if matches!(self.first.as_slice(), [_, _, 0, 0, X_NOTICE, ..]) {
                self.opening = Opening::XProtocol;
            }
        }
        if self.opening == Opening::XProtocol {
            return self.x_words();
        }
        if self.opening == Opening::Xcom {
            match xcom::parse_version_reply(&self.first) {
                Ok(None) => {}
                Ok(Some(version)) => {
                    self.spoke = Spoke::Xcom(version);
                    self.state = State::Over;
                }
                Err(_) => self.not_mysql(),
            }
            return;
        }
        self.packets.push(if self.pushed_bytes == 0 { &self.first } else { bytes });
        self.pushed_bytes = self.first.len();
        let payload = match self.packets.next_packet() {
            Ok(Some(packet)) => packet.payload.to_vec(),
            Ok(None) if self.first.len() < SAMPLE_BYTES || could_be_packet(&self.first) => return,
            Ok(None) | Err(_) => return self.not_mysql(),
        };
        match greeting::parse(&payload) {
            Ok(FirstPacket::Greeting(greeting)) if self.opening == Opening::Knock => {
                match Knock::begin(&greeting, self.random, &mut self.output) {
                    Ok(knock) => {
                        self.knock = Some(knock);
                        self.state = State::Knocking;
                    }
                    Err(error) => self.fail(Fault::Unreachable { why: error.to_string() }),
                }
            }
            Ok(FirstPacket::Greeting(greeting)) => {
                let offers_tls = greeting.offers_tls();
                let is_mariadb = greeting.is_mariadb();
                self.spoke = Spoke::Greeting(Box::new(greeting));
                if offers_tls && self.question.is_some() {
                    self.ssl_request(is_mariadb);
                    self.begin_tls();
                } else {
                    self.state = State::Over;
                }
            }
            Ok(FirstPacket::Refused(error)) => {
                self.spoke = Spoke::Refused(error);
                self.state = State::Over;
            }
            Err(_) => self.not_mysql(),
        }
    }

    /// X Protocol: each message of the server calls for one of ours.
    fn x_words(&mut self) {
        loop {
            match x_protocol::parse(&self.first) {
                Ok(None) => return,
                Err(_) => return self.not_mysql(),
                Ok(Some((message, used))) => {
                    self.first.drain(..used);
                    match message {
                        x_protocol::Message::Hello => x_protocol::capabilities_get(&mut self.output),
                        x_protocol::Message::Capabilities(capabilities) => {
                            let offers_tls = capabilities.offers_tls();
                            self.spoke = Spoke::XProtocol(Box::new(capabilities));
                            if !offers_tls || self.question.is_none() {
                                self.state = State::Over;
                                return;
                            }
                            x_protocol::capabilities_set_tls(&mut self.output);
                        }
                        x_protocol::Message::Ok if matches!(self.spoke, Spoke::XProtocol(_)) => {
                            return self.begin_tls();
                        }
                        x_protocol::Message::Error(error) => {
                            let why = format!("X Protocol error {}: {}", error.code, error.message);
                            return self.fail(Fault::Broken { why });
                        }
                        x_protocol::Message::Notice(_) => {}
                        x_protocol::Message::Ok | x_protocol::Message::Other { .. } => {
                            return self.not_mysql();
                        }
                    }
                }
            }
        }
    }

    fn not_mysql(&mut self) {
        let mut sample = std::mem::take(&mut self.first);
        sample.truncate(SAMPLE_BYTES);
        self.spoke = Spoke::Other(sample);
        self.state = State::Over;
    }

    /// As the servers' own clients send it; MariaDB's leave bit 0 clear.
    fn ssl_request(&mut self, is_mariadb: bool) {
        let capabilities = Capabilities::SSL
            | Capabilities::PROTOCOL_41
            | Capabilities::SECURE_CONNECTION
            | Capabilities::LONG_FLAG
            | Capabilities::PLUGIN_AUTH;
        let request = SslRequest {
            capabilities: if is_mariadb { capabilities } else { capabilities | Capabilities::LONG_PASSWORD },
            mariadb_capabilities: 0,
            max_packet_bytes: 1 << 24,
            charset: wire::login::CHARSET_UTF8MB4,
        };
        self.output.extend_from_slice(&[32, 0, 0, 1]);
        request.encode(&mut self.output);
    }

    fn begin_tls(&mut self) {
        let Some(question) = &self.question else {
            self.state = State::Over;
            return;
        };
        match question.write(self.keys, self.random, &mut self.output) {
            Ok(message) => {
                self.hello_message = message;
                self.state = State::InTls;
            }
            Err(error) => self.fail(Fault::Unreachable { why: error.to_string() }),
        }
    }

    fn in_tls(&mut self, bytes: &[u8]) {
        self.raw.extend_from_slice(bytes);
        if self.question.as_ref().is_some_and(Question::is_ssl2)
            && ssl2::looks_like_answer(&self.raw) != Some(false)
        {
            match ssl2::parse_answer(&self.raw) {
                Ok(Some(ssl2::Answer::Hello(hello))) => self.end(Answer::Ssl2(hello.cipher_kinds)),
                // No common kind: it is spoken all the same.
                Ok(Some(ssl2::Answer::Error(_))) => self.end(Answer::Ssl2(vec![])),
                Ok(None) => {}
                Err(error) => self.fail(Fault::Misbehaved { why: error.to_string() }),
            }
            return;
        }
        self.flight.push(bytes);
        while matches!(self.state, State::InTls | State::Intruding) {
            match self.flight.next_event() {
                Ok(Some(event)) if self.state == State::Intruding => self.heard_after(&event),
                Ok(Some(event)) => self.heard(event),
                Ok(None) => break,
                Err(_) if self.state == State::Intruding => {
                    self.aftermath.others += 1;
                    self.after_all();
                }
                Err(error) => {
                    self.fault = Some(Fault::Misbehaved { why: error.to_string() });
                    self.settle();
                }
            }
        }
    }

    fn heard(&mut self, event: Event) {
        match event {
            Event::ServerHello(hello) => {
                let group = hello.extensions.key_share_group;
                self.accepted = Some(Accepted {
                    hello: *hello,
                    chain: Vec::new(),
                    group,
                    key_exchange: None,
                    scheme: None,
                    client_certificate: None,
                    asks_certificate: false,
                    is_ocsp_stapled: false,
                    is_whole: false,
                    is_resumed: false,
                    finished: None,
                    aftermath: None,
                });
                self.note(|seen| seen.is_resumed = seen.hello.extensions.pre_shared_key.is_some());
            }
            Event::HelloRetryRequest(retry) => self.end(Answer::Retry(Box::new(retry))),
            Event::Certificate(chain) => self.note(|seen| seen.chain = chain),
            Event::CertificateStatus(_) => self.note(|seen| seen.is_ocsp_stapled = true),
            Event::ServerKeyExchange(exchange) => self.note(|seen| {
                seen.group = match &exchange.parameters {
                    ServerParameters::Ecdhe { curve: EcParameters::Named(code), .. } => Some(*code),
                    ServerParameters::Ecdhe { curve: EcParameters::ExplicitPrime { .. }, .. } => {
                        Some(groups::EXPLICIT_PRIME)
                    }
                    ServerParameters::Ecdhe { curve: EcParameters::ExplicitChar2 { .. }, .. } => {
                        Some(groups::EXPLICIT_CHAR2)
                    }
                    _ => None,
                };
                seen.scheme = exchange.signature.and_then(|signature| signature.scheme);
                seen.key_exchange = Some(exchange);
            }),
            Event::CertificateRequest(request) => self.note(|seen| {
                seen.asks_certificate = true;
                seen.client_certificate = Some(request);
            }),
            Event::ServerHelloDone => {
                self.note(|seen| seen.is_whole = true);
                self.flight_is_whole();
            }
            Event::Encrypted { .. } => self.decrypt(),
            Event::Alert(alert) if alert.is_fatal() => match self.accepted {
                Some(_) => self.settle(),
                None => self.end(Answer::Alert(alert)),
            },
            Event::NotTls => {
                self.raw = self.flight.rest().to_vec();
                self.state = State::InPlain;
                self.plain(false);
            }
            // Before its ServerHelloDone: it wants no key exchange, it has one.
            Event::NewSessionTicket(_) | Event::ChangeCipherSpec => {
                self.note(|seen| seen.is_resumed |= seen.hello.version < Version::TLS13);
            }
            Event::HelloRequest
            | Event::OtherHandshake { .. }
            | Event::Heartbeat { .. }
            | Event::Alert(_) => {}
        }
    }

    /// The server waits for us: for most questions that is all.
    fn flight_is_whole(&mut self) {
        let (Some(question), Some(accepted)) = (&self.question, &self.accepted) else { return };
        let hello = &accepted.hello;
        match question.then {
            FollowUp::Close => self.settle(),
            FollowUp::Finish { renegotiate } => {
                let flight = finish::Flight {
                    client_hello: &self.hello_message,
                    client_random: self.random,
                    offered: question.newest(),
                    hello,
                    leaf: accepted.chain.first().map(Vec::as_slice),
                    key_exchange: accepted.key_exchange.as_ref(),
                    asks_certificate: accepted.asks_certificate,
                    raw: &self.raw,
                };
                match Tls12::begin(self.keys, &flight, renegotiate, &mut self.output) {
                    Ok(talk) => {
                        self.finishing = Some(Finishing::Tls12(Box::new(talk)));
                        self.state = State::Finishing;
                    }
                    Err(why) => {
                        self.note(|seen| seen.finished = Some(Finished::impossible(why)));
                        self.settle();
                    }
                }
            }
            FollowUp::Intrude(probe) => {
                let leaf = accepted.chain.first().map(Vec::as_slice);
                let (offered, asks) = (question.newest(), accepted.asks_certificate);
                match intrude::write(probe, hello.version, offered, leaf, asks, &mut self.output) {
                    Ok(()) => self.state = State::Intruding,
                    Err(why) => {
                        self.aftermath.unasked = Some(why);
                        self.after_all();
                    }
                }
            }
        }
    }

    /// More of a handshake that is being finished.
    fn go_on(&mut self, bytes: &[u8]) {
        let is_over = self.finishing.as_mut().is_none_or(|talk| talk.input(bytes, &mut self.output));
        if is_over {
            self.finish(true);
        }
    }

    /// The handshake is finished, or will never be.
    fn finish(&mut self, has_closed: bool) {
        if let Some(mut talk) = self.finishing.take() {
            let inside = talk.inside();
            let finished = talk.ended(has_closed);
            self.note(|seen| {
                // One that broke off before the certificate has shown nothing of what is behind.
                if let Some(inside) = inside.filter(|inside| !inside.chain.is_empty()) {
                    seen.take_in(inside);
                }
                seen.finished = Some(finished);
            });
        }
        self.settle();
    }

    /// What a server says to an intrusive question.
    fn heard_after(&mut self, event: &Event) {
        match event {
            Event::Alert(alert) => {
                self.aftermath.alerts.push(*alert);
                if alert.is_fatal() {
                    self.after_all();
                }
            }
            Event::Heartbeat { message_type: HEARTBEAT_RESPONSE, bytes } => {
                let before = self.aftermath.heartbeat_bytes.unwrap_or_default();
                self.aftermath.heartbeat_bytes = Some(before.max(*bytes));
            }
            // MySQL's words for a failed handshake, in cleartext. Whether they come before the connection breaks is chance.
            Event::NotTls => {
                self.aftermath.has_clear_words = true;
                self.after_all();
            }
            _ => self.aftermath.others += 1,
        }
    }

    fn after_all(&mut self) {
        let aftermath = std::mem::take(&mut self.aftermath);
        self.note(|seen| seen.aftermath = Some(aftermath));
        self.settle();
    }

    fn note(&mut self, note: impl FnOnce(&mut Accepted)) {
        if let Some(accepted) = &mut self.accepted {
            note(accepted);
        }
    }

    /// In TLS 1.3 the certificate is encrypted, under a key that both ends know by now.
    fn decrypt(&mut self) {
        let Some(accepted) = &mut self.accepted else { return };
        if accepted.hello.version < Version::TLS13 {
            return self.settle();
        }
        if matches!(self.question.as_ref().map(|question| question.then), Some(FollowUp::Finish { .. })) {
            let begun = Tls13::begin(self.keys, &self.hello_message, &self.raw, &accepted.hello);
            let Ok((talk, used)) = begun else {
                let why = format!("no handshake with suite {:04x} is finished", accepted.hello.cipher_suite);
                accepted.finished = Some(Finished::impossible(why));
                return self.settle();
            };
            self.finishing = Some(Finishing::Tls13(Box::new(talk)));
            self.state = State::Finishing;
            let rest = self.raw.split_off(used);
            return self.go_on(&rest);
        }
        match tls13::read(self.keys, &self.hello_message, &self.raw, &accepted.hello) {
            // The flight goes on in the next record.
            Ok(tls13::Read::More) => {}
            Ok(tls13::Read::Whole(inside)) => {
                accepted.take_in(inside);
                self.settle();
            }
            // A share that is not ours: the settled parameters are known, the certificate is not.
            Err(_) => self.settle(),
        }
    }

    /// What a server says in cleartext where TLS should begin: MySQL and MariaDB say an ERR packet.
    fn plain(&mut self, is_last: bool) {
        let mut packets = PacketBuffer::new(BEFORE_LOGIN_BYTES_MAX);
        packets.push(&self.raw);
        match packets.next_packet().map(|packet| packet.map(|packet| ErrPacket::parse(packet.payload))) {
            Ok(Some(Ok(error))) => return self.end(Answer::Error(error)),
            Ok(None) if !is_last && self.raw.len() < SAMPLE_BYTES => return,
            _ => {}
        }
        let mut sample = std::mem::take(&mut self.raw);
        sample.truncate(SAMPLE_BYTES);
        self.end(Answer::NotTls(sample));
    }

    fn settle(&mut self) {
        if let Some(accepted) = self.accepted.take() {
            self.answer = Some(Answer::Accepted(Box::new(accepted)));
        }
        self.state = State::Over;
    }

    fn end(&mut self, answer: Answer) {
        self.answer = Some(answer);
        self.state = State::Over;
    }
}

/// A header that a MySQL packet before a login may have: a short length and sequence number 0.
/// A whole error in place of a greeting. The length of one may be that of a message between Galera nodes, and then the fifth byte is
/// of a checksum; text behind it is not.
fn is_error(first: &[u8]) -> bool {
    let [a, b, 0, 0, payload @ ..] = first else { return false };
    let whole = usize::from(u16::from_le_bytes([*a, *b])) == payload.len();
    let is_text = |text: &str| !text.contains(|one: char| one.is_control());
    whole
        && payload.get(3..).and_then(|text| std::str::from_utf8(text).ok()).is_some_and(is_text)
        && ErrPacket::parse(payload).is_ok_and(|error| error.code >= 1000)
}

fn could_be_packet(first: &[u8]) -> bool {
    matches!(first, [_, _, high, 0, 0x0a | 0x09 | 0xff, ..] if *high == 0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use wire::Greeting;

    fn keys() -> Keys {
        Keys::generate().unwrap()
    }

    #[test]
    fn an_error_in_place_of_a_greeting_is_told_whatever_its_length_and_its_state() {
        for state in ["#08S01", ""] {
            for length in 1..120 {
                let text = format!("{state}{}", "x".repeat(length));
                let payload = [b"\xff\x1d\x04", text.as_bytes()].concat();
                let mut bytes = u32::try_from(payload.len()).unwrap().to_le_bytes().to_vec();
                bytes.extend(payload);
                let (reply, _) = talk(Opening::Listen, &bytes);
                assert!(
                    matches!(&reply.spoke, Spoke::Refused(error) if error.code == 1053),
                    "{length}: {reply:?}"
                );
            }
        }
    }

    fn talk(opening: Opening, bytes: &[u8]) -> (Reply, Vec<u8>) {
        let keys = keys();
        let mut conversation = Conversation::new(&keys, opening, Some(Question::modern()), [1; 32]);
        let mut sent = conversation.output();
        for byte in bytes {
            conversation.input(std::slice::from_ref(byte));
            sent.extend(conversation.output());
        }
        if !conversation.is_over() {
            conversation.closed();
        }
        (conversation.into_reply(), sent)
    }

    fn packet(payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![u8::try_from(payload.len()).unwrap(), 0, 0, 0];
        bytes.extend_from_slice(payload);
        bytes
    }

    fn greeting(tls: bool) -> Vec<u8> {
        let capabilities = Capabilities::PROTOCOL_41 | Capabilities::SECURE_CONNECTION;
        packet(&greeting::encode(&Greeting {
            protocol: 10,
            version: "10.11.19-MariaDB".into(),
            connection_id: 1,
            nonce: vec![1; 20],
            capabilities: if tls { capabilities | Capabilities::SSL } else { capabilities },
            mariadb_capabilities: 0x1d,
            charset: 8,
            status: 2,
            auth_plugin: None,
        }))
    }

    #[test]
    fn a_greeting_with_tls_is_answered_with_a_request_and_a_hello_in_one_write() {
        let mut bytes = greeting(true);
        bytes.extend_from_slice(b"\x15\x03\x03\x00\x02\x02\x28");
        let (reply, sent) = talk(Opening::Listen, &bytes);
        assert!(sent.starts_with(&[32, 0, 0, 1]));
        assert_eq!(sent.get(36..39), Some(&[0x16, 3, 1][..]));
        assert!(matches!(reply.spoke, Spoke::Greeting(greeting) if greeting.is_mariadb()));
        assert!(matches!(reply.answer, Some(Answer::Alert(alert)) if alert.description == 40));
        assert_eq!(reply.fault, None);
    }

    #[test]
    fn a_greeting_without_tls_is_all_there_is() {
        let (reply, sent) = talk(Opening::Mysql, &greeting(false));
        assert!(sent.is_empty() && matches!(reply.spoke, Spoke::Greeting(_)));
        assert_eq!((reply.answer, reply.fault), (None, None));
    }

    #[test]
    fn an_error_in_place_of_a_greeting_is_read() {
        let (reply, _) = talk(Opening::Mysql, &packet(b"\xff\x69\x04Host '10.0.0.9' is blocked"));
        assert!(matches!(reply.spoke, Spoke::Refused(error) if error.code == 1129));
    }

    #[test]
    fn a_plain_error_after_the_request_is_not_taken_for_a_tls_record() {
        // Its length, 22, is the number of a handshake record.
        let mut bytes = greeting(true);
        bytes.extend_from_slice(b"\x16\x00\x00\x02\xff\x13\x04#08S01Bad handshake");
        let (reply, _) = talk(Opening::Mysql, &bytes);
        assert!(matches!(reply.answer, Some(Answer::Error(error)) if error.code == 1043));
    }

    #[test]
    fn a_galera_port_in_clear_text_is_known_by_its_first_bytes() {
        let mut bytes = vec![0x24, 0, 0, 2, 0xde, 0xad, 0xbe, 0xef, 0, 1, 0x10, 0];
        bytes.resize(44, 7);
        assert!(matches!(talk(Opening::Listen, &bytes).0.spoke, Spoke::Gcomm(_)));
    }

    #[test]
    fn an_x_protocol_port_is_asked_for_its_capabilities_and_then_for_tls() {
        // Seen on MySQL 9.7.4: the notice. Then capabilities with `tls` false, an OK, and an alert.
        let mut bytes = b"\x05\x00\x00\x00\x0b\x08\x05\x1a\x00".to_vec();
        let body = b"\x0a\x0f\x0a\x03tls\x12\x08\x08\x01\x12\x04\x08\x07\x40\x00";
        bytes.extend_from_slice(&[u8::try_from(body.len()).unwrap() + 1, 0, 0, 0, 2]);
        bytes.extend_from_slice(body);
        bytes.extend_from_slice(b"\x01\x00\x00\x00\x00\x15\x03\x03\x00\x02\x02\x28");
        let (reply, sent) = talk(Opening::Listen, &bytes);
        assert!(matches!(&reply.spoke, Spoke::XProtocol(said) if said.offers_tls()), "{reply:?}");
        assert_eq!(sent.get(..5), Some(&[1, 0, 0, 0, 1][..]));
        assert!(matches!(reply.answer, Some(Answer::Alert(_))), "{reply:?}");
    }

    #[test]
    fn somebody_else_is_somebody_else_and_tarpits_end() {
        let (reply, _) = talk(Opening::Listen, b"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n");
        assert!(matches!(reply.spoke, Spoke::Other(_) | Spoke::Nothing), "{reply:?}");
        let (reply, _) = talk(Opening::Listen, &vec![0x41; 600_000]);
        assert!(matches!(reply.spoke, Spoke::Other(sample) if sample.len() <= SAMPLE_BYTES));
        // A length of almost 16 MiB is refused when its header is there.
        let (reply, _) = talk(Opening::Mysql, &[0xff, 0xff, 0xff, 0, 0x0a, 0x35]);
        assert!(matches!(reply.spoke, Spoke::Other(_)), "{reply:?}");
    }

    #[test]
    fn silence_makes_it_try_tls_at_once() {
        let keys = keys();
        let mut conversation = Conversation::new(&keys, Opening::Listen, Some(Question::modern()), [1; 32]);
        assert!(conversation.waits_for_first_words() && conversation.output().is_empty());
        conversation.nothing_came();
        assert!(conversation.output().starts_with(&[0x16, 3]));
        conversation.closed();
        assert_eq!(conversation.into_reply().answer, Some(Answer::Closed));
    }
}
