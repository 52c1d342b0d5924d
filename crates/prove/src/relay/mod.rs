//! Between a client and a real server, sans-I/O: bytes of both ends in, bytes for both ends out.
//!
//! Passive, it hands on what it is given, and [`crate::sniff`] reads along: one reader for captures and for this. Active, it
//! is the attacker that a capture cannot be: it takes TLS out of the greeting ([`Active::strip`]), shows its own RSA key where
//! a password is to be encrypted ([`Active::substitute_key`], [`key`]), and changes a marked value on its way to the client
//! ([`Active::change`]). What it gets at is compared with what the caller knows, and forgotten: there is no place for it.
//! Left out: TLS with a certificate of its own (the rogue does that), compressed connections (they pass unchanged).

mod frames;
pub mod key;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use capture::conversations::{Conversation, Ends};
use capture::words::Words;
use secrecy::SecretString;
use wire::greeting::FirstPacket;
use wire::{AuthAnswer, Capabilities, HandshakeResponse, SslRequest};

use crate::sniff::connection::{Connection, ConnectionSummary, Shared};
use crate::sniff::finding::{self, Finding, What};
use crate::sniff::mysql::{CLIENT_ZSTD, MysqlTraffic};
use frames::{Framed, reframed};
use key::{KeyTaken, Keys, Substitution};

/// A marked value and its replacement are cells of one byte of length.
pub const MARK_BYTES_MAX: usize = 250;
/// What a server says when a client has gone: no word about its login. Source: MySQL error reference, `ER_NET_*`.
const CLIENT_IS_GONE: std::ops::RangeInclusive<u16> = 1158..=1161;
/// So many events of one connection are told; the rest is in the sums.
const EVENTS_MAX: usize = 200;

/// A value that is changed on its way to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    from: Vec<u8>,
    to: Vec<u8>,
}

/// Why values cannot be changed so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the value to change has {from_bytes} bytes, its replacement {to_bytes}; allowed are 4 to {MARK_BYTES_MAX} and \
     1 to {MARK_BYTES_MAX}"
)]
pub struct ChangeError {
    from_bytes: usize,
    to_bytes: usize,
}

impl Change {
    pub fn new(from: &str, to: &str) -> Result<Self, ChangeError> {
        // Shorter ones stand in other packets by chance.
        if !(4..=MARK_BYTES_MAX).contains(&from.len()) || !(1..=MARK_BYTES_MAX).contains(&to.len()) {
            return Err(ChangeError { from_bytes: from.len(), to_bytes: to.len() });
        }
        let cell = |text: &str| {
            let mut cell = Vec::new();
            wire::lenenc::write_bytes(&mut cell, text.as_bytes());
            cell
        };
        Ok(Self { from: cell(from), to: cell(to) })
    }

    /// The payload with each cell changed, and how many.
    fn apply(&self, payload: &[u8]) -> (Vec<u8>, u64) {
        let (mut out, mut rest, mut times) = (Vec::with_capacity(payload.len()), payload, 0);
        while let Some(at) = memchr::memmem::find(rest, &self.from) {
            let (before, after) = rest.split_at(at);
            out.extend_from_slice(before);
            out.extend_from_slice(&self.to);
            rest = after.get(self.from.len()..).unwrap_or_default();
            times += 1;
        }
        out.extend_from_slice(rest);
        (out, times)
    }
}

/// What is done besides listening.
#[derive(Default)]
pub struct Active {
    pub strip: bool,
    pub substitute_key: Option<Keys>,
    pub change: Option<Change>,
}

impl Active {
    pub fn is_active(&self) -> bool {
        self.strip || self.substitute_key.is_some() || self.change.is_some()
    }
}

/// For all connections of a relay.
#[derive(Default)]
pub struct Config {
    pub active: Active,
    /// Only to compare with.
    pub password: Option<SecretString>,
}

/// What became of stripping TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stripped {
    #[default]
    NotTried,
    /// The server offers no TLS: there was nothing to strip.
    NothingToStrip,
    /// The client sent nothing more.
    Refused,
    /// It asked for TLS although none was offered, and got the server's.
    AskedAnyway,
    /// It logged in in cleartext.
    WentOn,
}

impl Stripped {
    pub fn id(self) -> &'static str {
        match self {
            Self::NotTried => "not-tried",
            Self::NothingToStrip => "nothing-to-strip",
            Self::Refused => "refused",
            Self::AskedAnyway => "asked-anyway",
            Self::WentOn => "went-on-in-clear",
        }
    }
}

/// What an attack came to on one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outcome {
    pub stripped: Stripped,
    pub key: KeyTaken,
    /// Values that were changed.
    pub changed: u64,
    /// The server let the client in.
    pub logged_in: bool,
    /// The server's refusal of the login.
    pub login_error: Option<u16>,
}

impl Outcome {
    /// The client went along with an attack.
    pub fn has_fallen(&self) -> bool {
        self.stripped == Stripped::WentOn || self.key.is_taken() || self.changed > 0
    }
}

/// Something that is said as it happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// From here on this could be read.
    Readable(What),
    /// A canary or word, by its name, and where.
    Canary(String, &'static str),
    /// TLS was spoken: nothing more can be read.
    Tls,
    Stripped,
    KeySubstituted,
    /// `Some`: compared with the password that was given.
    PasswordTaken(Option<bool>),
    Changed,
}

impl Event {
    /// Stable, for programs.
    pub fn id(&self) -> &'static str {
        match self {
            Self::Readable(what) => what.id(),
            Self::Canary(..) => "canary",
            Self::Tls => "tls",
            Self::Stripped => "stripped",
            Self::KeySubstituted => "key-substituted",
            Self::PasswordTaken(_) => "password-taken",
            Self::Changed => "changed",
        }
    }
}

impl std::fmt::Display for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Readable(what) => write!(f, "readable: {}", what.text()),
            Self::Canary(name, place) => write!(f, "canary {name} in {place}"),
            Self::Tls => f.write_str("TLS begins; nothing more is readable"),
            Self::Stripped => f.write_str("TLS removed from the greeting"),
            Self::KeySubstituted => f.write_str("the server's RSA key replaced by the relay's own"),
            Self::PasswordTaken(None) => {
                f.write_str("password obtained (no --password-file to compare it with)")
            }
            Self::PasswordTaken(Some(true)) => f.write_str("password obtained; it matches the one you gave"),
            Self::PasswordTaken(Some(false)) => {
                f.write_str("a password was obtained; it does not match the one you gave")
            }
            Self::Changed => f.write_str("a value in a result was changed"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Greeting,
    Login,
    Auth,
    Commands,
    /// TLS, or something that is not understood: bytes are handed on.
    Pass,
}

/// One connection.
pub struct Relay {
    config: Arc<Config>,
    phase: Phase,
    nonce: Vec<u8>,
    from_client: Framed,
    from_server: Framed,
    is_compressed: bool,
    substitution: Substitution,
    to_client: Vec<u8>,
    to_server: Vec<u8>,
    watched: Connection,
    shared: Shared,
    /// Bytes of each end, as the client saw them.
    client_bytes: u64,
    server_bytes: u64,
    told: BTreeSet<What>,
    told_canaries: BTreeSet<(String, &'static str)>,
    told_tls: bool,
    events: Vec<Event>,
    event_count: usize,
    outcome: Outcome,
}

impl Relay {
    /// `server_port`: where the server listens, which tells what is spoken where the first bytes do not.
    pub fn new(config: Arc<Config>, server_port: u16, words: &[Vec<u8>]) -> Self {
        let end = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let ends = Ends {
            a: end(server_port),
            b: end(0),
            opened_by_a: Some(false),
            first_unix_ms: 0,
            last_unix_ms: 0,
        };
        let phase = if config.active.is_active() { Phase::Greeting } else { Phase::Pass };
        Self {
            config,
            phase,
            nonce: Vec::new(),
            from_client: Framed::default(),
            from_server: Framed::default(),
            is_compressed: false,
            substitution: Substitution::default(),
            to_client: Vec::new(),
            to_server: Vec::new(),
            watched: Connection::new(&ends),
            // Words that cannot be looked for were refused before.
            shared: Shared::new(&[server_port], Words::new(words).unwrap_or_default()),
            client_bytes: 0,
            server_bytes: 0,
            told: BTreeSet::new(),
            told_canaries: BTreeSet::new(),
            told_tls: false,
            events: Vec::new(),
            event_count: 0,
            outcome: Outcome::default(),
        }
    }

    /// Bytes for the client, in order.
    pub fn take_for_client(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.to_client)
    }

    /// Bytes for the server, in order.
    pub fn take_for_server(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.to_server)
    }

    /// What has happened since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    pub fn from_client(&mut self, bytes: &[u8]) {
        let offset = self.client_bytes;
        self.client_bytes += bytes.len() as u64;
        self.watched.piece(false, bytes, offset, true, &mut self.shared);
        if matches!(self.phase, Phase::Pass | Phase::Commands) {
            self.flush_client();
            self.to_server.extend_from_slice(bytes);
        } else {
            self.from_client.push(bytes);
            while let Some(frame) = self.from_client.next_frame() {
                self.client_frame(&frame);
                if matches!(self.phase, Phase::Pass | Phase::Commands) {
                    self.flush_client();
                    break;
                }
            }
        }
        self.look();
    }

    pub fn from_server(&mut self, bytes: &[u8]) {
        if self.passes_server() {
            self.flush_server();
            self.give_client(bytes);
        } else {
            self.from_server.push(bytes);
            while let Some(frame) = self.from_server.next_frame() {
                self.server_frame(frame);
                if self.passes_server() {
                    self.flush_server();
                    break;
                }
            }
        }
        self.look();
    }

    /// Nothing more comes from the server: what is held goes on.
    pub fn server_ended(&mut self) {
        self.flush_server();
        self.look();
    }

    /// What the connection was, what was read, and what the attack came to.
    pub fn finish(mut self) -> (ConnectionSummary, Vec<Finding>, Outcome) {
        let active = &self.config.active;
        if active.strip && self.outcome.stripped == Stripped::NotTried && self.server_bytes > 0 {
            self.outcome.stripped = Stripped::Refused;
        }
        if self.outcome.key == KeyTaken::NotTried && self.substitution.is_unanswered() {
            self.outcome.key = KeyTaken::Refused;
        }
        let told = self.watched.told(&mut self.shared);
        let findings = finding::of(&told);
        let seen = told.mysql.as_ref();
        self.outcome.logged_in = seen.is_some_and(|seen: &MysqlTraffic| seen.logged_in);
        if !self.outcome.logged_in {
            let refusal = |code: &&u16| !CLIENT_IS_GONE.contains(*code);
            self.outcome.login_error = seen.and_then(|seen| seen.error_codes.keys().find(refusal).copied());
        }
        (told, findings, self.outcome)
    }

    fn passes_server(&self) -> bool {
        match self.phase {
            Phase::Pass => true,
            Phase::Commands => self.config.active.change.is_none() || self.is_compressed,
            Phase::Greeting | Phase::Login | Phase::Auth => false,
        }
    }

    fn give_client(&mut self, bytes: &[u8]) {
        let offset = self.server_bytes;
        self.server_bytes += bytes.len() as u64;
        self.watched.piece(true, bytes, offset, true, &mut self.shared);
        self.to_client.extend_from_slice(bytes);
    }

    fn flush_client(&mut self) {
        let held = self.from_client.take();
        self.to_server.extend_from_slice(&held);
    }

    fn flush_server(&mut self) {
        let mut held = self.substitution.release();
        held.extend(self.from_server.take());
        if !held.is_empty() {
            self.give_client(&held);
        }
    }

    fn say(&mut self, event: Event) {
        self.event_count += 1;
        if self.event_count <= EVENTS_MAX {
            self.events.push(event);
        }
    }

    /// What can be read now that could not be read before.
    fn look(&mut self) {
        let told = self.watched.so_far();
        if told.is_tls && !std::mem::replace(&mut self.told_tls, true) {
            self.say(Event::Tls);
        }
        for finding in finding::of(&told) {
            if finding.what != What::Canary && self.told.insert(finding.what) {
                self.say(Event::Readable(finding.what));
            }
        }
        for (name, place) in told.canary_places.into_keys() {
            if self.told_canaries.len() < EVENTS_MAX && self.told_canaries.insert((name.clone(), place.id()))
            {
                self.say(Event::Canary(name, place.text()));
            }
        }
    }

    fn server_frame(&mut self, frame: Vec<u8>) {
        match self.phase {
            Phase::Greeting => self.greeting(frame),
            Phase::Auth => self.auth_answer(frame),
            Phase::Commands => self.result(&frame),
            // An error before the login.
            Phase::Login | Phase::Pass => self.give_client(&frame),
        }
    }

    fn client_frame(&mut self, frame: &[u8]) {
        match self.phase {
            Phase::Login => self.login(frame),
            Phase::Auth => self.auth_client(frame),
            Phase::Greeting | Phase::Commands | Phase::Pass => self.to_server.extend_from_slice(frame),
        }
    }

    fn greeting(&mut self, mut frame: Vec<u8>) {
        let payload = frames::payload(&frame);
        let Ok(FirstPacket::Greeting(greeting)) = wire::greeting::parse(payload) else {
            self.phase = Phase::Pass;
            return self.give_client(&frame);
        };
        self.nonce.clone_from(&greeting.nonce);
        self.phase = Phase::Login;
        let active = &self.config.active;
        let (strip, changes) = (active.strip, active.change.is_some());
        let mut without = Capabilities(0);
        if strip && greeting.offers_tls() {
            without = without | Capabilities::SSL;
        }
        if changes {
            // What is compressed could not be changed.
            without = without | Capabilities::COMPRESS | CLIENT_ZSTD;
        }
        let is_written = frames::clear_capabilities(&mut frame, without);
        if strip {
            if greeting.offers_tls() && is_written {
                self.say(Event::Stripped);
            } else {
                self.outcome.stripped = Stripped::NothingToStrip;
            }
        }
        self.give_client(&frame);
    }

    fn login(&mut self, frame: &[u8]) {
        self.to_server.extend_from_slice(frame);
        let payload = frames::payload(frame);
        let is_stripped = self.config.active.strip && self.outcome.stripped == Stripped::NotTried;
        if SslRequest::parse(payload).is_ok() {
            if is_stripped {
                self.outcome.stripped = Stripped::AskedAnyway;
            }
            self.phase = Phase::Pass;
            return;
        }
        let Ok(login) = HandshakeResponse::parse(payload) else {
            self.phase = Phase::Pass;
            return;
        };
        if is_stripped {
            self.outcome.stripped = Stripped::WentOn;
        }
        let capabilities = login.head.capabilities;
        self.is_compressed =
            capabilities.contains(Capabilities::COMPRESS) || capabilities.contains(CLIENT_ZSTD);
        self.phase = Phase::Auth;
    }

    fn auth_answer(&mut self, frame: Vec<u8>) {
        let payload = frames::payload(&frame);
        let answer = AuthAnswer::parse(payload);
        match &answer {
            Ok(AuthAnswer::Switch(switch)) => self.nonce = switch.nonce.to_vec(),
            Ok(AuthAnswer::Ok(_)) if !self.substitution.is_holding() => self.phase = Phase::Commands,
            _ => {}
        }
        let config = Arc::clone(&self.config);
        let Some(keys) = &config.active.substitute_key else { return self.give_client(&frame) };
        let was_holding = self.substitution.is_holding();
        let (given, is_substituted) = self.substitution.from_server(keys, frame);
        if was_holding && !self.substitution.is_holding() {
            self.phase = Phase::Commands;
        }
        if is_substituted {
            self.say(Event::KeySubstituted);
        }
        self.give_client(&given);
    }

    fn auth_client(&mut self, frame: &[u8]) {
        let config = Arc::clone(&self.config);
        let Some(keys) = &config.active.substitute_key else {
            self.to_server.extend_from_slice(frame);
            return;
        };
        let turn = self.substitution.from_client(keys, config.password.as_ref(), &self.nonce, frame);
        self.to_server.extend_from_slice(&turn.to_server);
        if turn.is_substituted {
            self.say(Event::KeySubstituted);
        }
        if let Some(taken) = turn.taken {
            self.outcome.key = taken;
            if let KeyTaken::Taken(is_right) = taken {
                self.say(Event::PasswordTaken(is_right));
            }
        }
        self.give_client(&turn.to_client);
        if turn.is_released {
            self.phase = Phase::Commands;
        }
    }

    fn result(&mut self, frame: &[u8]) {
        let config = Arc::clone(&self.config);
        let Some(change) = &config.active.change else { return self.give_client(frame) };
        let (payload, times) = change.apply(frames::payload(frame));
        // A frame of the full length has another behind it, and its length must stay.
        match reframed(frame, &payload) {
            Some(changed) if times > 0 => {
                if self.outcome.changed == 0 {
                    self.say(Event::Changed);
                }
                self.outcome.changed += times;
                self.give_client(&changed);
            }
            _ => self.give_client(frame),
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
