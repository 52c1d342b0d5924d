//! Which question comes next. Plain, linear code: each question is awaited, and whoever drives the future dials, talks
//! and hands the reply in. So one thread asks thousands of targets, and a test answers from memory.
//!
//! Lists are found by elimination: everything is offered, the server picks one, that one is left out of the next offer.
//! The number of connections is what the server has and one more, never what the registry has.

mod certificates;
mod finished;
mod groups;
mod identity;
mod intrusive;
mod long_lists;
mod notes;
mod refusals;
mod suites;
mod versions;

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use wire::tls::registry::Version;

use crate::conversation::Opening;
use crate::facts::{Facts, Found, Service, Tls};
use crate::intrude::Intrusive;
use crate::question::{FollowUp, Question};
use crate::reply::{Accepted, Answer, Fault, Reply, Spoke};
use crate::target::{Port, Target};

use identity::Identity;
use long_lists::LongLists;
use refusals::{Refusal, Refusals, outside};

/// After so many in a row a server is a tarpit: in a full look it would hold us for minutes.
const SILENT_IN_A_ROW_MAX: u32 = 3;

/// How much is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// The greeting, one handshake, the certificate.
    First,
    /// Suites and groups by class; at most 35 connections.
    Classes,
    /// Every suite, group and signature scheme; at most 65 connections.
    Full,
}

impl Depth {
    /// A server that blocks hosts counts each connection (`max_connect_errors`, 100 by default).
    pub const fn connections_max(self) -> u32 {
        match self {
            Self::First => 4,
            Self::Classes => 35,
            Self::Full => 65,
        }
    }
}

/// One connection to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    pub opening: Opening,
    pub question: Question,
    /// This server takes its time: it is given three times as long as others.
    pub is_patient: bool,
}

/// Between the one who asks and the one who dials.
#[derive(Debug, Default)]
pub struct Slot {
    ask: Option<Ask>,
    reply: Option<Reply>,
}

/// The asking end.
#[derive(Debug, Clone, Default)]
pub struct Line(Rc<RefCell<Slot>>);

impl Line {
    /// The connection that is wanted now, once.
    pub fn wanted(&self) -> Option<Ask> {
        self.0.borrow_mut().ask.take()
    }

    pub fn answer(&self, reply: Reply) {
        self.0.borrow_mut().reply = Some(reply);
    }

    fn ask(&self, ask: Ask) -> impl Future<Output = Reply> + '_ {
        self.0.borrow_mut().ask = Some(ask);
        ReplyFuture(&self.0)
    }
}

struct ReplyFuture<'l>(&'l Rc<RefCell<Slot>>);

impl Future for ReplyFuture<'_> {
    type Output = Reply;
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Reply> {
        // Nobody is woken: the one who hands in the reply polls right after.
        self.0.borrow_mut().reply.take().map_or(Poll::Pending, Poll::Ready)
    }
}

/// All that `depth` allows to ask of one target, and behind it what `intrusive` allows.
pub async fn interrogate(line: Line, target: Target, depth: Depth, intrusive: Intrusive) -> Facts {
    let allowed = target.connections_max;
    let mut survey = Survey {
        line,
        facts: Facts::new(target.port),
        tls: Tls::default(),
        opening: Opening::Listen,
        server_name: target.server_name().map(str::to_owned),
        connections_left: allowed.min(depth.connections_max()),
        known_chains: Vec::new(),
        silent_in_a_row: 0,
        offered_compression: false,
        is_stopped: false,
        is_spent: false,
        has_alerted: false,
        long_lists: LongLists::default(),
        refusals: Refusals::of(depth),
        last_taken: None,
        has_asked_nameless: false,
        is_patient: false,
        is_nameless: false,
        identity: None,
    };
    survey.all(depth).await;
    survey.intrude(intrusive, allowed).await;
    if intrusive.login {
        survey.knock().await;
    }
    survey.facts
}

struct Survey {
    line: Line,
    facts: Facts,
    tls: Tls,
    opening: Opening,
    server_name: Option<String>,
    connections_left: u32,
    /// In DER, as they came.
    known_chains: Vec<Vec<Vec<u8>>>,
    /// Connections in a row that ended without an answer in time.
    silent_in_a_row: u32,
    /// Whether the last question offered DEFLATE: only then is its absence an answer.
    offered_compression: bool,
    /// Turned away, or never answered: no more questions.
    is_stopped: bool,
    /// It was said that the connections are used up.
    is_spent: bool,
    /// Some hello was refused in words of TLS, or in the server's own.
    has_alerted: bool,
    long_lists: LongLists,
    refusals: Refusals,
    /// A hello that was taken: it is repeated to see whether the server still takes any.
    last_taken: Option<Question>,
    /// A certificate was seen that came without a server name.
    has_asked_nameless: bool,
    /// The server answered late: each later connection is given more time.
    is_patient: bool,
    /// The newest question had no server name, while others have one.
    is_nameless: bool,
    /// Who greeted last.
    identity: Option<Identity>,
}

/// What a question about TLS brought.
enum TlsAnswer {
    Took(Box<Accepted>),
    /// TLS 1.3 with this suite, and with a share of this group, if it named one.
    Wants {
        suite: u16,
        group: Option<u16>,
    },
    Ssl2,
    Refused {
        how: Refusal,
    },
    /// Nobody knows: a fault on the way, or no connections left.
    NotSeen,
}

impl Survey {
    async fn all(&mut self, depth: Depth) {
        let Some(first) = self.open().await else { return };
        // A plain Galera port that does not take TLS has no versions to list.
        let is_plain = matches!(self.facts.service, Some(Service::GaleraPlain { .. }));
        if is_plain && !matches!(first, TlsAnswer::Took(_) | TlsAnswer::Wants { .. }) {
            return;
        }
        match self.or_shorter(Question::modern(), first).await {
            TlsAnswer::Took(accepted) => self.begin(&accepted),
            TlsAnswer::Wants { suite, group } => {
                self.tls.versions.insert(Version::TLS13, Found::Yes);
                self.note_suite(Version::TLS13, suite);
                if let Some(group) = group {
                    self.note_group(Version::TLS13, group);
                }
                // It would rather have a group that we cannot compute with. The certificate shows with one of ours.
                if let TlsAnswer::Took(accepted) = self.offer(Question::modern().in_own_groups()).await {
                    self.begin(&accepted);
                }
            }
            TlsAnswer::Refused { .. } | TlsAnswer::Ssl2 => {
                for version in [Version::TLS13, Version::TLS12] {
                    self.tls.versions.insert(version, Found::No);
                }
            }
            TlsAnswer::NotSeen => {}
        }
        if depth > Depth::First || self.tls.versions.values().all(|found| *found == Found::No) {
            self.older_versions().await;
        }
        if depth > Depth::First {
            // What one question decides comes first: a server with a hundred suites must not use up its connections.
            self.fallback().await;
            self.blocks_of_tls10().await;
            self.nameless().await;
            self.suites_of_tls13().await;
            self.groups(depth).await;
            if depth == Depth::Full {
                // A whole list tells which kinds of certificate there cannot be.
                self.suites_of_old(depth).await;
                self.chains().await;
                self.suites_of_older().await;
            } else {
                self.chains().await;
                self.suites_of_old(depth).await;
            }
            self.order().await;
            self.finished().await;
            if depth == Depth::Full {
                self.schemes().await;
            }
        }
        if depth > Depth::First {
            self.look_back().await;
        }
        let spoke_tls = self.tls.versions.values().any(|found| *found == Found::Yes);
        if !spoke_tls && !self.has_alerted && self.facts.handshakes > 0 {
            // Refused by name is refused; a port that answers no hello at all may be anything, and refuses nothing.
            self.facts
                .not_seen
                .push("TLS: no ClientHello was answered, neither by a handshake nor by an alert".into());
            self.tls = Tls::default();
        } else if !spoke_tls && self.facts.service.as_ref().is_some_and(Service::offers_tls) {
            // A server that takes nothing has something else against us: that is no proof that it refuses what is weak.
            self.facts.not_seen.push("TLS is offered, and every handshake was refused".into());
            for found in self.tls.versions.values_mut() {
                *found = Found::Unknown("every handshake was refused".into());
            }
            self.tls.classes_complete = false;
        }
        if let Some(Service::GaleraPlain { dynamic }) = &mut self.facts.service {
            *dynamic = spoke_tls;
        }
        if spoke_tls || !self.tls.versions.is_empty() {
            self.facts.tls = Some(std::mem::take(&mut self.tls));
        }
    }

    /// The first connection: who is there, and, if TLS can be begun, what it settles.
    async fn open(&mut self) -> Option<TlsAnswer> {
        let mut reply = self.connect(Question::modern()).await?;
        // It is connected and says nothing at all. A management server of NDB does so until a command comes.
        let is_silent = reply.is_mute
            && reply.answer.is_none()
            && matches!(reply.fault, Some(Fault::Silent { .. }))
            && self.facts.port != Port::NdbManagement;
        // It may be a server that greets late, and took our hello for a bad login. Seen: a busy machine; and a server that
        // looks up its clients' names first, at a name server that is slow.
        if reply.spoke == Spoke::Nothing
            && (is_silent
                || matches!(reply.answer, Some(Answer::Closed | Answer::NotTls(_) | Answer::Error(_))))
        {
            if !is_silent && matches!(self.facts.port, Port::GroupReplication | Port::Other) {
                self.opening = Opening::Xcom;
                if let Some(Reply { spoke: Spoke::Xcom(protocol_version), .. }) =
                    self.connect(Question::modern()).await
                {
                    self.facts.service = Some(Service::GroupReplicationPlain { protocol_version });
                    return None;
                }
            }
            self.opening = Opening::Patient;
            self.is_patient = true;
            if let Some(again) = self.connect(Question::modern()).await {
                // Later connections are as slow as this one.
                self.is_patient = again.spoke != Spoke::Nothing;
                if self.is_patient || is_silent {
                    reply = again;
                }
            }
            self.opening = Opening::Listen;
        }
        let answered = reply.answer.is_some();
        let service = match &reply.spoke {
            Spoke::Greeting(greeting) => {
                self.opening = Opening::Mysql;
                Service::Mysql {
                    version: greeting.version_text().to_owned(),
                    flavour: greeting.flavour().flavour.to_string(),
                    auth_plugin: greeting.auth_plugin.clone(),
                    capabilities: greeting.capabilities.0,
                    offers_tls: greeting.offers_tls(),
                }
            }
            Spoke::Refused(error) => {
                self.is_stopped = true;
                if error.code == 1129 {
                    self.facts.not_seen.push(
                        "this host is blocked; MariaDB: FLUSH HOSTS, MySQL: TRUNCATE TABLE performance_schema.host_cache"
                            .into(),
                    );
                }
                Service::TurnedAway { code: error.code, message: error.message.clone() }
            }
            Spoke::XProtocol(said) => {
                self.opening = Opening::XProtocol;
                Service::XProtocol {
                    offers_tls: said.offers_tls(),
                    authentication_mechanisms: said.authentication_mechanisms.clone(),
                }
            }
            Spoke::Gcomm(_) => {
                self.opening = Opening::Direct;
                Service::GaleraPlain { dynamic: false }
            }
            Spoke::Xcom(protocol_version) => {
                Service::GroupReplicationPlain { protocol_version: *protocol_version }
            }
            // Only comes where a login was asked for.
            Spoke::Knocked(_) => Service::Silent,
            Spoke::Nothing if answered => {
                self.opening = Opening::Direct;
                match reply.answer {
                    Some(Answer::Closed | Answer::NotTls(_)) => Service::Silent,
                    _ => Service::Tls,
                }
            }
            Spoke::Nothing if is_silent => {
                // Open, and silent for as long as we wait: what listens there is not known.
                let fault = reply.fault.as_ref().map(ToString::to_string).unwrap_or_default();
                self.facts.not_seen.push(format!(
                    "{fault}, though the port is open: what listens there is not known. It may wait for a PROXY header \
                     (--proxy-protocol v2), or greet even later (--timeout-ms)"
                ));
                return None;
            }
            Spoke::Nothing => Service::Silent,
            Spoke::Other(bytes) => Service::Stranger { first_bytes_hex: hex(bytes) },
        };
        if let Some(fault) = &reply.fault
            && !answered
        {
            self.facts.not_seen.push(fault.to_string());
            if matches!(service, Service::Silent) {
                return None; // Nobody there.
            }
        }
        let is_dynamic_possible = matches!(service, Service::GaleraPlain { .. });
        let has_tls = answered && !matches!(service, Service::Silent);
        self.facts.service = Some(service);
        if is_dynamic_possible {
            // It has spoken first; whether it also takes TLS is another connection's question.
            return Some(self.offer(Question::modern()).await);
        }
        if !has_tls {
            return None;
        }
        let said = self.heard(&Question::modern(), &reply);
        Some(self.weigh(Question::modern(), said).await)
    }

    async fn connect(&mut self, mut question: Question) -> Option<Reply> {
        if self.is_stopped {
            return None;
        }
        // One is kept back to look back with, where there is something to be seen then.
        if self.connections_left <= u32::from(self.refusals.has_doubts()) {
            if !std::mem::replace(&mut self.is_spent, true) {
                self.facts.not_seen.push(format!(
                    "the rest: {} connections were made, as many as are allowed",
                    self.facts.connections
                ));
            }
            return None;
        }
        self.is_nameless = question.is_nameless && self.server_name.is_some();
        if !question.is_nameless {
            question.server_name.clone_from(&self.server_name);
        }
        self.offered_compression = question.offers_compression();
        self.connections_left -= 1;
        self.facts.connections += 1;
        let is_patient = self.is_patient;
        let reply = self.line.ask(Ask { opening: self.opening, question, is_patient }).await;
        self.notice(&reply);
        self.facts.handshakes += u32::from(reply.answer.is_some());
        self.has_alerted |= matches!(reply.answer, Some(Answer::Alert(_) | Answer::Error(_)));
        Some(reply)
    }

    async fn offer_once(&mut self, question: Question) -> TlsAnswer {
        let said = self.ask(question.clone()).await;
        self.weigh(question, said).await
    }

    /// One connection, and what came of it as it came.
    async fn ask(&mut self, question: Question) -> TlsAnswer {
        let Some(reply) = self.connect(question.clone()).await else { return TlsAnswer::NotSeen };
        if let Spoke::Refused(error) = &reply.spoke {
            // Blocked or full while we ask: stop at once.
            self.is_stopped = true;
            self.facts.not_seen.push(format!("the rest: error {}: {}", error.code, error.message));
            return TlsAnswer::NotSeen;
        }
        if let Spoke::Other(bytes) = &reply.spoke
            && self.opening == Opening::Mysql
        {
            let start = hex(bytes.get(..8).unwrap_or(bytes));
            self.note_unseen(format!("what came in place of a greeting, on the way: bytes {start}"));
        }
        self.heard(&question, &reply)
    }

    fn heard(&mut self, question: &Question, reply: &Reply) -> TlsAnswer {
        // What came before it counts, and is not all: a flight that stops in its middle is silence too.
        let breaks_off = match &reply.answer {
            None => true,
            Some(Answer::Accepted(accepted)) => {
                question.then == FollowUp::Close
                    && !accepted.is_whole
                    && matches!(reply.fault, Some(Fault::Silent { .. } | Fault::Misbehaved { .. }))
            }
            Some(_) => false,
        };
        match &reply.fault {
            Some(fault) if breaks_off => {
                let why = match reply.answer {
                    None => fault.to_string(),
                    Some(_) => format!("the rest of a first flight: {fault}"),
                };
                self.note_unseen(why);
                self.silent_in_a_row +=
                    u32::from(matches!(fault, Fault::Silent { .. } | Fault::NotConnected { .. }));
                if self.silent_in_a_row >= SILENT_IN_A_ROW_MAX && !self.is_stopped {
                    self.is_stopped = true;
                    self.note_unseen(format!("the rest: no answer {SILENT_IN_A_ROW_MAX} times in a row"));
                }
            }
            _ => self.silent_in_a_row = 0,
        }
        let said = said(reply);
        if let Some(why) = outside(question, &said) {
            // One is enough: a server that makes them up has as many as it likes.
            if !self.facts.not_seen.iter().any(|known| known.starts_with(refusals::OUTSIDE)) {
                self.note_unseen(why);
            }
            return TlsAnswer::NotSeen;
        }
        said
    }

    fn note_unseen(&mut self, why: String) {
        if !self.facts.not_seen.contains(&why) {
            self.facts.not_seen.push(why);
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn said(reply: &Reply) -> TlsAnswer {
    match &reply.answer {
        Some(Answer::Accepted(accepted)) => TlsAnswer::Took(accepted.clone()),
        Some(Answer::Retry(retry)) => TlsAnswer::Wants { suite: retry.cipher_suite, group: retry.group },
        Some(Answer::Ssl2(_)) => TlsAnswer::Ssl2,
        Some(Answer::Alert(alert)) => TlsAnswer::Refused { how: Refusal::Alert(alert.description) },
        Some(Answer::Error(_) | Answer::NotTls(_) | Answer::Closed) => {
            TlsAnswer::Refused { how: Refusal::Ended }
        }
        None => TlsAnswer::NotSeen,
    }
}
