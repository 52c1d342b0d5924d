//! Which question comes next. Plain, linear code: each question is awaited, and whoever drives the future dials, talks
//! and hands the reply in. So one thread asks thousands of targets, and a test answers from memory.
//!
//! Lists are found by elimination: everything is offered, the server picks one, that one is left out of the next offer.
//! The number of connections is what the server has and one more, never what the registry has.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use wire::tls::registry::{
    Authentication, CipherSuite, FALLBACK_SCSV, GroupKind, KeyExchange, Mode, SignatureKey, Version, alerts,
    cipher_suite, dh_prime, group, signature_scheme,
};
use wire::tls::server_flight::ServerParameters;

use crate::classes::CLASSES;
use crate::conversation::{Accepted, Answer, Fault, Opening, Reply, Spoke};
use crate::facts::{Facts, Found, Service, Tls};
use crate::question::{Question, Shares};
use crate::target::Target;

/// After so many in a row a server is a tarpit: in a full look it would hold us for minutes.
const SILENT_IN_A_ROW_MAX: u32 = 3;
/// What the question about whose order counts costs.
const ORDER_CONNECTIONS: u32 = 2;

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
        Answered(&self.0)
    }
}

struct Answered<'l>(&'l Rc<RefCell<Slot>>);

impl Future for Answered<'_> {
    type Output = Reply;
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Reply> {
        // Nobody is woken: the one who hands in the reply polls right after.
        self.0.borrow_mut().reply.take().map_or(Poll::Pending, Poll::Ready)
    }
}

/// All that `depth` allows to ask of one target.
pub async fn interrogate(line: Line, target: Target, depth: Depth) -> Facts {
    let mut survey = Survey {
        line,
        facts: Facts::new(target.port),
        tls: Tls::default(),
        opening: Opening::Listen,
        server_name: target.server_name().map(str::to_owned),
        connections_left: target.connections_max.min(depth.connections_max()),
        known_chains: Vec::new(),
        silent_in_a_row: 0,
        offered_compression: false,
        is_stopped: false,
        has_alerted: false,
    };
    survey.all(depth).await;
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
    /// Turned away, or out of connections: no more questions.
    is_stopped: bool,
    /// Some hello was refused in words of TLS, or in the server's own.
    has_alerted: bool,
}

/// What a question about TLS brought.
enum Said {
    Took(Box<Accepted>),
    /// TLS 1.3 with this suite, and with a share of this group, if it named one.
    Wants {
        suite: u16,
        group: Option<u16>,
    },
    Ssl2,
    Refused {
        alert: Option<u8>,
    },
    /// Nobody knows: a fault on the way, or no connections left.
    NotSeen,
}

impl Survey {
    async fn all(&mut self, depth: Depth) {
        let Some(first) = self.open().await else { return };
        // A plain Galera port that does not take TLS has no versions to list.
        let is_plain = matches!(self.facts.service, Some(Service::GaleraPlain { .. }));
        if is_plain && !matches!(first, Said::Took(_) | Said::Wants { .. }) {
            return;
        }
        match first {
            Said::Took(accepted) => self.begin(&accepted),
            Said::Wants { suite, group } => {
                self.tls.versions.insert(Version::TLS13, Found::Yes);
                self.note_suite(Version::TLS13, suite);
                if let Some(group) = group {
                    self.note_group(Version::TLS13, group);
                }
                // It would rather have a group that we cannot compute with. The certificate shows with one of ours.
                if let Said::Took(accepted) = self.offer(Question::modern().in_own_groups()).await {
                    self.begin(&accepted);
                }
            }
            Said::Refused { .. } | Said::Ssl2 => {
                for version in [Version::TLS13, Version::TLS12] {
                    self.tls.versions.insert(version, Found::No);
                }
            }
            Said::NotSeen => {}
        }
        if depth > Depth::First || self.tls.versions.values().all(|found| *found == Found::No) {
            self.older_versions().await;
        }
        if depth > Depth::First {
            // What one question decides comes first: a server with a hundred suites must not use up its connections.
            self.fallback().await;
            self.blocks_of_tls10().await;
            self.suites_of_tls13().await;
            self.groups(depth).await;
            self.chains().await;
            self.suites_of_old(depth).await;
            self.order().await;
            if depth == Depth::Full {
                self.schemes().await;
            }
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
    async fn open(&mut self) -> Option<Said> {
        let mut reply = self.connect(Question::modern()).await?;
        // It may be a server that greets late, and took our hello for a bad login. Seen: a busy machine; and a server that
        // looks up its clients' names first, at a name server that is slow.
        if reply.spoke == Spoke::Nothing
            && matches!(reply.answer, Some(Answer::Closed | Answer::NotTls(_) | Answer::Error(_)))
        {
            self.opening = Opening::Patient;
            if let Some(again) = self.connect(Question::modern()).await
                && again.spoke != Spoke::Nothing
            {
                reply = again;
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
            Spoke::Nothing if answered => {
                self.opening = Opening::Direct;
                match reply.answer {
                    Some(Answer::Closed | Answer::NotTls(_)) => Service::Silent,
                    _ => Service::Tls,
                }
            }
            Spoke::Nothing => Service::Silent,
            Spoke::Other(bytes) => Service::Stranger {
                first_bytes_hex: bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}")),
            },
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
        has_tls.then(|| said(&reply))
    }

    async fn connect(&mut self, mut question: Question) -> Option<Reply> {
        if self.is_stopped || self.connections_left == 0 {
            if !self.is_stopped {
                self.is_stopped = true;
                self.facts.not_seen.push(format!(
                    "the rest: {} connections were made, as many as are allowed",
                    self.facts.connections
                ));
            }
            return None;
        }
        question.server_name.clone_from(&self.server_name);
        self.offered_compression = question.offers_compression();
        self.connections_left -= 1;
        self.facts.connections += 1;
        let reply = self.line.ask(Ask { opening: self.opening, question }).await;
        self.facts.handshakes += u32::from(reply.answer.is_some());
        self.has_alerted |= matches!(reply.answer, Some(Answer::Alert(_) | Answer::Error(_)));
        Some(reply)
    }

    async fn offer(&mut self, question: Question) -> Said {
        let Some(reply) = self.connect(question).await else { return Said::NotSeen };
        if let Spoke::Refused(error) = &reply.spoke {
            // Blocked or full while we ask: stop at once.
            self.is_stopped = true;
            self.facts.not_seen.push(format!("the rest: error {}: {}", error.code, error.message));
            return Said::NotSeen;
        }
        if reply.answer.is_none()
            && let Some(fault) = &reply.fault
        {
            let why = fault.to_string();
            if !self.facts.not_seen.contains(&why) {
                self.facts.not_seen.push(why);
            }
            self.silent_in_a_row += u32::from(matches!(fault, Fault::Silent { .. }));
            if self.silent_in_a_row >= SILENT_IN_A_ROW_MAX {
                self.is_stopped = true;
                self.facts.not_seen.push(format!("the rest: no answer {SILENT_IN_A_ROW_MAX} times in a row"));
            }
        } else {
            self.silent_in_a_row = 0;
        }
        said(&reply)
    }

    /// What a first flight shows besides the suite.
    fn begin(&mut self, accepted: &Accepted) {
        let version = accepted.hello.version;
        self.tls.versions.insert(version, Found::Yes);
        if version < Version::TLS13 {
            self.tls.versions.entry(Version::TLS13).or_insert(Found::No);
        }
        self.note(accepted);
    }

    fn note(&mut self, accepted: &Accepted) {
        let hello = &accepted.hello;
        self.note_suite(hello.version, hello.cipher_suite);
        if let Some(code) = accepted.group {
            self.note_group(hello.version, code);
        }
        self.tls.signature_schemes.extend(accepted.scheme);
        self.note_chain(&accepted.chain);
        let yes = |is: bool| Some(if is { Found::Yes } else { Found::No });
        // A "yes" stays: another suite or version may not carry the extension.
        let keep = |slot: &mut Option<Found>, is: bool| {
            if *slot != Some(Found::Yes) {
                *slot = yes(is);
            }
        };
        keep(&mut self.tls.client_certificate_asked, accepted.asks_certificate);
        keep(&mut self.tls.ocsp_staple, accepted.is_ocsp_stapled);
        if hello.version < Version::TLS13 {
            if self.offered_compression {
                keep(&mut self.tls.compression, hello.compression_method != 0);
            }
            if hello.version > Version::SSL3 {
                keep(&mut self.tls.secure_renegotiation, hello.extensions.renegotiation_info.is_some());
                keep(&mut self.tls.extended_master_secret, hello.extensions.extended_master_secret);
                keep(&mut self.tls.heartbeat, hello.extensions.heartbeat.is_some());
                keep(&mut self.tls.session_ticket, hello.extensions.session_ticket);
                // RFC 7366: only with a block cipher in CBC mode there is a MAC to be moved.
                if cipher_suite(hello.cipher_suite).is_some_and(|suite| suite.mode == Mode::Cbc) {
                    keep(&mut self.tls.encrypt_then_mac, hello.extensions.encrypt_then_mac);
                }
            }
        }
        if let Some(exchange) = &accepted.key_exchange
            && let ServerParameters::Dhe { p, .. } = &exchange.parameters
        {
            let bits = p.bits();
            if self.tls.dh_bits.is_none_or(|before| bits < before) {
                self.tls.dh_bits = Some(bits);
                self.tls.dh_prime = dh_prime(&p.0).map(|prime| prime.name.to_owned());
            }
        }
    }

    fn note_suite(&mut self, version: Version, code: u16) {
        let list = self.tls.suites.entry(version).or_default();
        if !list.contains(&code) {
            list.push(code);
        }
    }

    /// Groups are kept for TLS 1.3 and for everything before it.
    fn note_group(&mut self, version: Version, code: u16) {
        let version = if version == Version::TLS13 { Version::TLS13 } else { Version::TLS12 };
        let list = self.tls.groups.entry(version).or_default();
        if !list.contains(&code) {
            list.push(code);
        }
    }

    fn note_chain(&mut self, chain: &[Vec<u8>]) {
        // Reading one takes OpenSSL as long as everything else about a handshake, and most show the same.
        if chain.is_empty() || self.known_chains.iter().any(|known| known == chain) {
            return;
        }
        self.known_chains.push(chain.to_vec());
        match trust::inspect_der(chain) {
            Ok(infos) => {
                let is_known = |other: &Vec<trust::CertificateInfo>| {
                    other.first().map(|leaf| &leaf.sha256_fingerprint)
                        == infos.first().map(|leaf| &leaf.sha256_fingerprint)
                };
                if !self.tls.chains.iter().any(is_known) {
                    self.tls.chains.push(infos);
                    self.tls.chains_der.push(chain.to_vec());
                }
            }
            Err(error) => {
                let text =
                    format!("the certificate: {}", error.to_string().lines().next().unwrap_or_default());
                if !self.facts.not_seen.contains(&text) {
                    self.facts.not_seen.push(text);
                }
            }
        }
    }

    /// A server settles for the newest version that both have: one question per version that is left.
    async fn older_versions(&mut self) {
        let mut from = Version::TLS12;
        for version in [Version::TLS12, Version::TLS11, Version::TLS10, Version::SSL3] {
            if version > from || self.tls.versions.contains_key(&version) {
                continue;
            }
            match self.offer(Question::up_to(version)).await {
                Said::Took(accepted) => {
                    let settled = accepted.hello.version;
                    for skipped in [Version::TLS12, Version::TLS11, Version::TLS10] {
                        if skipped > settled && skipped <= version {
                            self.tls.versions.insert(skipped, Found::No);
                        }
                    }
                    self.tls.versions.insert(settled, Found::Yes);
                    self.note(&accepted);
                    from = settled;
                }
                Said::Refused { .. } | Said::Wants { .. } | Said::Ssl2 => {
                    self.tls.versions.insert(version, Found::No);
                }
                Said::NotSeen => {
                    self.tls.versions.insert(version, Found::Unknown("no answer".into()));
                }
            }
        }
        let found = match self.offer(Question::ssl2()).await {
            Said::Ssl2 => Found::Yes,
            Said::NotSeen => Found::Unknown("no answer".into()),
            _ => Found::No,
        };
        self.tls.versions.insert(Version::SSL2, found);
    }

    fn has(&self, version: Version) -> bool {
        self.tls.versions.get(&version) == Some(&Found::Yes)
    }

    /// The newest version before TLS 1.3 that is taken.
    fn newest_old(&self) -> Option<Version> {
        [Version::TLS12, Version::TLS11, Version::TLS10, Version::SSL3]
            .into_iter()
            .find(|&version| self.has(version))
    }

    async fn suites_of_tls13(&mut self) {
        if self.has(Version::TLS13) {
            self.eliminate(Version::TLS13, Question::tls13(), 0).await;
        }
    }

    /// One by one in a full look, as far as the connections go; the rest, and else everything, by class.
    async fn suites_of_old(&mut self, depth: Depth) {
        let Some(version) = self.newest_old() else {
            self.tls.classes_complete =
                self.tls.versions.values().all(|found| !matches!(found, Found::Unknown(_)));
            return;
        };
        if depth == Depth::Full {
            let kept_back = u32::try_from(CLASSES.len()).unwrap_or(u32::MAX) + ORDER_CONNECTIONS;
            self.eliminate(version, Question::up_to(version), kept_back).await;
        }
        self.tls.classes_complete = true;
        if self.tls.complete.contains(&version) {
            return;
        }
        for (_, is_in_class) in CLASSES {
            let known = self.tls.suites.get(&version).cloned().unwrap_or_default();
            if known.iter().any(|&code| cipher_suite(code).is_some_and(is_in_class)) {
                continue;
            }
            match self.offer(Question::up_to(version).only(is_in_class)).await {
                Said::Took(accepted) => self.note(&accepted),
                Said::NotSeen => self.tls.classes_complete = false,
                _ => {}
            }
        }
    }

    /// BEAST is about the suites of TLS 1.0 alone, and the first one that it settled for may be another kind.
    async fn blocks_of_tls10(&mut self) {
        let is_cbc = |suite: &CipherSuite| suite.mode == Mode::Cbc;
        let known = self.tls.suites.get(&Version::TLS10).cloned().unwrap_or_default();
        if !self.has(Version::TLS10) || known.iter().any(|&code| cipher_suite(code).is_some_and(is_cbc)) {
            return;
        }
        if let Said::Took(accepted) = self.offer(Question::up_to(Version::TLS10).only(is_cbc)).await {
            self.note(&accepted);
        }
    }

    /// Offers what is left until nothing of it is taken, or `kept_back` connections are left for others.
    async fn eliminate(&mut self, version: Version, mut question: Question, kept_back: u32) {
        let known = self.tls.suites.get(&version).cloned().unwrap_or_default();
        question.suites.retain(|code| !known.contains(code));
        while !question.suites.is_empty() {
            if self.connections_left <= kept_back {
                self.facts.not_seen.push(format!(
                    "the whole list of suites of {}: it is longer than there are connections for",
                    version.name().unwrap_or("a version without a name")
                ));
                return;
            }
            let picked = match self.offer(question.clone()).await {
                Said::Took(accepted) if accepted.hello.version == version => {
                    let code = accepted.hello.cipher_suite;
                    self.note(&accepted);
                    code
                }
                Said::Wants { suite, .. } if version == Version::TLS13 => {
                    self.note_suite(version, suite);
                    suite
                }
                Said::Refused { .. } | Said::Took(_) | Said::Wants { .. } | Said::Ssl2 => break,
                Said::NotSeen => return,
            };
            let before = question.suites.len();
            question.suites.retain(|&code| code != picked);
            if question.suites.len() == before {
                // Seen: yaSSL in MySQL 5.5.9 looks at the low byte alone, and takes 0xc005 for 0x0005.
                question.suites.retain(|&code| code & 0xff != picked & 0xff);
            }
            if question.suites.len() == before {
                self.facts
                    .not_seen
                    .push(format!("the server chose suite {picked:04x}, which was not offered"));
                return;
            }
        }
        self.tls.complete.insert(version);
    }

    async fn groups(&mut self, depth: Depth) {
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

    async fn eliminate_groups(&mut self, version: Version, question: Question, depth: Depth) {
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
            if !self.is_stopped {
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

    async fn group_picked(&mut self, version: Version, question: Question) -> Option<u16> {
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

    /// The same two suites in both orders: does the pick follow ours?
    async fn order(&mut self) {
        let version = self
            .newest_old()
            .filter(|version| self.tls.suites.get(version).is_some_and(|list| list.len() > 1));
        let Some(version) = version.or_else(|| self.has(Version::TLS13).then_some(Version::TLS13)) else {
            return;
        };
        let [first, second, ..] = self.tls.suites.get(&version).map(Vec::as_slice).unwrap_or_default() else {
            return;
        };
        let (first, second) = (*first, *second);
        let mut picks = BTreeSet::new();
        for suites in [vec![first, second], vec![second, first]] {
            let base = if version == Version::TLS13 { Question::tls13() } else { Question::up_to(version) };
            match self.offer(Question { suites, ..base }).await {
                Said::Took(accepted) => picks.insert(accepted.hello.cipher_suite),
                Said::Wants { suite, .. } => picks.insert(suite),
                _ => return,
            };
        }
        self.tls.server_order = Some(if picks.len() == 1 { Found::Yes } else { Found::No });
    }

    /// A server may have a certificate per kind of key: ask for the kinds that were not shown.
    async fn chains(&mut self) {
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
            if is_shown {
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
            if let Said::Took(accepted) = self.offer(question).await {
                self.note(&accepted);
            }
        }
    }

    /// RFC 7507: a client that says "I was made to fall back" must be refused where both could do better.
    async fn fallback(&mut self) {
        let taken: Vec<Version> =
            [Version::TLS13, Version::TLS12, Version::TLS11, Version::TLS10, Version::SSL3]
                .into_iter()
                .filter(|&version| self.has(version))
                .collect();
        let [_, second, ..] = taken.as_slice() else { return };
        let mut question = Question::up_to(*second);
        question.suites.push(FALLBACK_SCSV);
        self.tls.fallback_scsv = Some(match self.offer(question).await {
            Said::Refused { alert: Some(alerts::INAPPROPRIATE_FALLBACK) } => Found::Yes,
            Said::Refused { alert } => Found::Unknown(format!(
                "refused, but not for the fallback ({})",
                alert.map_or_else(|| "without an alert".to_owned(), |alert| format!("alert {alert}"))
            )),
            Said::NotSeen => Found::Unknown("no answer".into()),
            _ => Found::No,
        });
    }

    async fn schemes(&mut self) {
        let mut question = match self.newest_old() {
            Some(version) if version == Version::TLS12 => {
                Question::up_to(version).only(CipherSuite::has_forward_secrecy)
            }
            _ => Question::tls13().in_own_groups(),
        };
        let known = self.tls.signature_schemes.clone();
        question.schemes.retain(|code| !known.contains(code));
        while !question.schemes.is_empty() {
            let Said::Took(accepted) = self.offer(question.clone()).await else { break };
            self.note(&accepted);
            let before = question.schemes.len();
            question.schemes.retain(|code| Some(*code) != accepted.scheme);
            if question.schemes.len() == before {
                break;
            }
        }
    }
}

fn said(reply: &Reply) -> Said {
    match &reply.answer {
        Some(Answer::Accepted(accepted)) => Said::Took(accepted.clone()),
        Some(Answer::Retry(retry)) => Said::Wants { suite: retry.cipher_suite, group: retry.group },
        Some(Answer::Ssl2(_)) => Said::Ssl2,
        Some(Answer::Alert(alert)) => Said::Refused { alert: Some(alert.description) },
        Some(Answer::Error(_) | Answer::NotTls(_) | Answer::Closed) => Said::Refused { alert: None },
        None => Said::NotSeen,
    }
}
