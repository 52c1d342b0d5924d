//! What a connection is, and who reads its bytes.
//!
//! The first bytes decide; where they were not seen, the port and what the bytes look like. Each end is judged by what it sent
//! itself, and the worse one is the connection's: TLS is only called so where both were followed from record to record. A byte
//! between them is a byte in clear.

use std::collections::BTreeMap;

use capture::conversations::{Conversation, Ends};
use capture::words::Words;
use wire::packet::{FRAME_BYTES_MAX, HEADER_BYTES};
use wire::tls::RECORD_HEADER_BYTES;
use wire::tls::registry::{Cipher, CipherSuite, cipher_suite};

use super::galera;
use super::half::{HalfStream, Verdict};
use super::joined::begins_with_hello;
use super::mysql::{self, COM_QUIT, MySql, Next};
use super::opening::{
    Kind, Opening, PORT_GALERA, PORT_IST, PORT_MYSQL, PORT_SST, PORT_X, Ports, late_greeting, recognise,
};
use super::place::Place;
use super::unpack::{Inflater, Method, Unpack, looks_packed};

/// The longest beginning that anything needs to be told by: a Galera handshake.
const FIRST_BYTES: usize = 44;

/// Tools for all connections.
#[derive(Debug)]
pub struct Shared {
    mysql_ports: Vec<u16>,
    words: Words,
    scratch: Vec<u8>,
    inflater: Inflater,
}

impl Shared {
    pub fn new(ports: &[u16], words: Words) -> Self {
        let mysql_ports = [&[PORT_MYSQL], ports].concat();
        Self { mysql_ports, words, scratch: Vec::new(), inflater: Inflater::default() }
    }
}

/// How a word of the user's is called: by its number, since the word may be a secret.
pub fn word_name(number: usize) -> String {
    format!("given-{}", number + 1)
}

/// Canaries with where they stood, and how often.
pub type Places = BTreeMap<(String, Place), u64>;

/// How far it is known what a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Identification {
    /// Bytes are collected.
    #[default]
    Not,
    Is(Kind),
}

/// One connection.
#[derive(Debug)]
pub struct Connection {
    ports: Ports,
    known: Identification,
    /// Of MySQL: who serves.
    server_is_a: bool,
    /// One end at least sends records.
    is_tls: bool,
    a: HalfStream,
    b: HalfStream,
    /// Segments that came again with other bytes.
    conflicts: u64,
    mysql: Option<Box<MySql>>,
    galera: galera::GaleraTraffic,
    /// What the server chose encrypts nothing.
    null_suite: Option<&'static CipherSuite>,
}

/// What is told of a connection: no bytes of it.
#[derive(Debug, Clone, Default)]
pub struct ConnectionSummary {
    pub kind: Kind,
    pub server_is_a: bool,
    /// TLS at both ends, as far as they sent anything.
    pub is_tls: bool,
    /// From which byte of each end on.
    pub tls_from_a: Option<u64>,
    pub tls_from_b: Option<u64>,
    pub tls_bytes: u64,
    /// Bytes behind the beginning of TLS that lie in no record.
    pub clear_bytes_in_tls: u64,
    pub bytes_a: u64,
    pub bytes_b: u64,
    pub missing_bytes: u64,
    /// Compressed bytes that could not be read.
    pub unread_bytes: u64,
    /// Of MySQL: bytes in cleartext that could not be followed, those that could not be unpacked among them.
    pub unfollowed_bytes: u64,
    /// Whether it is in cleartext or TLS cannot be determined: too little was seen, or not the same by all who looked.
    pub is_undecided: bool,
    /// Segments that were sent twice with different bytes: what the peer took is not known.
    pub conflicting_segments: u64,
    /// TLS with this cipher suite, which encrypts nothing.
    pub null_suite: Option<&'static str>,
    pub mysql: Option<mysql::MysqlTraffic>,
    pub galera: galera::GaleraTraffic,
    /// How often each canary was seen, by its tag; of words that the user gave, by their name.
    pub canaries: BTreeMap<String, u64>,
    /// The same, with where they stood.
    pub canary_places: Places,
}

impl ConnectionSummary {
    /// What passed could be read.
    pub fn is_clear(&self) -> bool {
        let is_plain = !self.is_tls && !self.is_undecided && self.bytes_a + self.bytes_b > 0;
        is_plain || self.null_suite.is_some()
    }
}

impl Connection {
    pub fn new(ends: &Ends) -> Self {
        Self {
            ports: Ports { a: ends.a.port(), b: ends.b.port() },
            known: Identification::Not,
            server_is_a: true,
            is_tls: false,
            a: HalfStream::default(),
            b: HalfStream::default(),
            conflicts: 0,
            mysql: None,
            galera: galera::GaleraTraffic::default(),
            null_suite: None,
        }
    }

    fn half(&mut self, is_a: bool) -> &mut HalfStream {
        if is_a { &mut self.a } else { &mut self.b }
    }

    /// Begins to be something, and reads what was held until now.
    fn decide(&mut self, first: &Opening, from_a: bool, rest_bytes: usize, shared: &mut Shared) {
        let by_port = self.ports.kind(&shared.mysql_ports);
        match first {
            Opening::Greeting => {
                self.known = Identification::Is(Kind::MySql);
                self.server_is_a = from_a;
                self.mysql = Some(Box::default());
            }
            Opening::Login => {
                self.known = Identification::Is(Kind::MySql);
                self.server_is_a = !from_a;
                self.mysql = Some(Box::default());
            }
            Opening::Client | Opening::Packed => {
                self.known = Identification::Is(Kind::MySql);
                let port = self.ports.of(from_a);
                self.server_is_a = from_a == shared.mysql_ports.contains(&port);
                self.mysql = Some(Box::new(MySql::in_the_middle()));
                self.half(!from_a).lose_step();
            }
            Opening::Tls => {
                self.known = Identification::Is(by_port);
                self.is_tls = true;
                let held_bytes = self.half(from_a).first.len() + rest_bytes;
                let from = self.half(from_a).bytes.saturating_sub(held_bytes as u64);
                let held = std::mem::take(&mut self.half(from_a).first);
                self.half(from_a).begin_tls(from);
                self.half(from_a).first = held;
                let other = self.half(!from_a);
                if other.bytes == 0 { other.begin_tls(0) } else { other.look_for_records() }
            }
            Opening::Is(kind) => self.known = Identification::Is(*kind),
            Opening::More | Opening::Record => return,
            Opening::Nothing => {
                // A database's may be joined in the middle: a command will tell, or a message, or two records in a row.
                if by_port != Kind::Other {
                    return;
                }
                self.known = Identification::Is(Kind::Other);
            }
        }
        for is_a in [from_a, !from_a] {
            let held = std::mem::take(&mut self.half(is_a).first);
            if !held.is_empty() {
                let behind_bytes = if is_a == from_a { rest_bytes as u64 } else { 0 };
                let end = self.half(is_a).end.saturating_sub(behind_bytes);
                self.read(is_a, &held, end, true, shared);
            }
        }
    }

    /// Reads the next bytes of a connection that is known; `end` is the offset behind them.
    fn read(&mut self, from_a: bool, piece: &[u8], end: u64, starts_segment: bool, shared: &mut Shared) {
        let Identification::Is(kind) = self.known else { return };
        // Its wish for TLS and the answer are messages; what follows begins a segment.
        if kind == Kind::MySqlX && !self.is_tls && starts_segment && wire::starts_with_client_hello(piece) {
            let from = self.half(from_a).bytes.saturating_sub(piece.len() as u64);
            self.begin_tls(from_a, from, kind);
        }
        if self.half(from_a).is_tls {
            let Some(piece) = self.before_records(from_a, piece, end, starts_segment, shared) else { return };
            let half = self.half(from_a);
            // Of what is no database's nothing is told.
            if kind != Kind::Other {
                half.follow_records(piece, starts_segment);
            }
            half.hits.settle(end, Place::Other);
            return;
        }
        if self.is_tls && kind != Kind::MySql && self.half(from_a).find_records(piece, starts_segment) {
            return;
        }
        match kind {
            Kind::MySql => self.read_mysql(from_a, piece, end, starts_segment, shared),
            Kind::Galera => {
                let half = if from_a { &mut self.a } else { &mut self.b };
                let HalfStream { messages, hits, .. } = half;
                messages.feed(piece, starts_segment, &mut self.galera, &mut |left_bytes, place| {
                    hits.settle(end.saturating_sub(left_bytes as u64), place);
                });
            }
            _ => self.half(from_a).hits.settle(end, kind.place()),
        }
    }

    /// Looks at the first bytes of one end that should be TLS; gives what is left of them. `None`: they were no TLS, and
    /// are read.
    fn before_records<'p>(
        &mut self,
        from_a: bool,
        mut piece: &'p [u8],
        end: u64,
        starts_segment: bool,
        shared: &mut Shared,
    ) -> Option<&'p [u8]> {
        let none_yet = self.a.tls_bytes() + self.b.tls_bytes() == 0;
        let half = if from_a { &mut self.a } else { &mut self.b };
        if half.tls_bytes() > 0 || self.known != Identification::Is(Kind::MySql) {
            return Some(piece);
        }
        if half.bytes == piece.len() as u64
            && let Some(mysql) = &mut self.mysql
            && let Some((greeting, rest)) = late_greeting(piece)
        {
            // The client's direction was recorded before this one.
            mysql.late_greeting(greeting);
            half.tls_from = Some(half.bytes - rest.len() as u64);
            piece = rest;
        }
        if !starts_segment || piece.is_empty() {
            return Some(piece);
        }
        if let Some(suite) = chosen_suite(piece) {
            self.null_suite = Some(suite).filter(|suite| suite.cipher == Cipher::Null);
        }
        let Some(header) = piece.first_chunk::<RECORD_HEADER_BYTES>() else { return Some(piece) };
        let asked = self.mysql.as_ref().is_some_and(|mysql| mysql.seen.asked_tls);
        if none_yet && asked && half.awaits_first_record() && wire::tls::record_header(*header).is_none() {
            // Neither end has begun TLS, and this one never will.
            self.is_tls = false;
            self.a.forget_tls();
            self.b.forget_tls();
            if let Some(mysql) = &mut self.mysql {
                mysql.tls_did_not_begin();
            }
            self.read(from_a, piece, end, starts_segment, shared);
            return None;
        }
        Some(piece)
    }

    /// Looks for records on a connection of which nothing is known. `true`: these bytes are TLS.
    fn look_for_tls(&mut self, from_a: bool, piece: &[u8], starts_segment: bool, by_port: Kind) -> bool {
        if !self.half(from_a).find_records(piece, starts_segment) {
            return false;
        }
        self.is_tls = true;
        if self.known == Identification::Not {
            self.known = Identification::Is(by_port);
        }
        match &mut self.mysql {
            // A segment of the client's that was encrypted had looked like a command.
            Some(mysql) if mysql.seen.joined_in_the_middle && from_a != self.server_is_a => self.mysql = None,
            // What the other end says in clear is still read.
            Some(mysql) if mysql.seen.joined_in_the_middle => {}
            Some(mysql) => mysql.tls_began(),
            None => {}
        }
        true
    }

    /// A hello begins TLS at byte `from` of this end, though no SSLRequest was seen; at the other end it begins next.
    fn begin_tls(&mut self, from_a: bool, from: u64, by_port: Kind) {
        self.is_tls = true;
        if self.known == Identification::Not {
            self.known = Identification::Is(by_port);
        }
        match &mut self.mysql {
            Some(mysql) if mysql.seen.joined_in_the_middle => self.mysql = None,
            Some(mysql) => mysql.tls_began(),
            None => {}
        }
        self.half(from_a).begin_tls(from);
        let other = self.half(!from_a);
        if !other.is_tls {
            other.begin_tls(other.bytes);
            other.tls_from = Some(other.bytes);
        }
    }

    /// Looks for TLS where it was not seen to begin. `true`: these bytes are no packets, or nobody knows yet.
    fn may_be_tls(
        &mut self,
        from_a: bool,
        piece: &[u8],
        end: u64,
        starts_segment: bool,
        shared: &mut Shared,
    ) -> bool {
        let is_out_of_step = self.mysql.as_ref().is_none_or(|mysql| mysql.is_out_of_step());
        let half = if from_a { &mut self.a } else { &mut self.b };
        let before = half.bytes.saturating_sub(piece.len() as u64);
        if starts_segment && !half.joined.is_on_a_record() && begins_with_hello(piece) {
            self.begin_tls(from_a, before, Kind::MySql);
            self.read(from_a, piece, end, starts_segment, shared);
            return true;
        }
        if !is_out_of_step {
            return false;
        }
        if self.look_for_tls(from_a, piece, starts_segment, Kind::MySql) {
            return true;
        }
        let half = self.half(from_a);
        if half.joined.is_on_a_record() {
            half.lose_step();
            return true;
        }
        false
    }

    /// Both ends send compressed packets from here on; `end` is the offset behind what this one sent as it is.
    fn begin_compression(&mut self, from_a: bool, method: Method, end: u64) {
        self.half(from_a).hits.restart(end);
        self.half(!from_a).hits.restart(u64::MAX);
        for half in [&mut self.a, &mut self.b] {
            half.unpack = Some(Box::new(Unpack::new(method)));
            half.frames.reset();
        }
    }

    fn read_mysql(
        &mut self,
        from_a: bool,
        piece: &[u8],
        end: u64,
        starts_segment: bool,
        shared: &mut Shared,
    ) {
        if self.mysql.as_ref().is_none_or(|mysql| !mysql.is_surely_clear())
            && self.may_be_tls(from_a, piece, end, starts_segment, shared)
        {
            return;
        }
        // The other end sends records, and this one something that is none yet.
        if self.mysql.as_ref().is_some_and(|mysql| mysql.has_begun_tls()) {
            return;
        }
        let is_server = from_a == self.server_is_a;
        let half = if from_a { &mut self.a } else { &mut self.b };
        let Some(mysql) = &mut self.mysql else { return };
        if starts_segment && half.unpack.is_none() {
            let begin = end.saturating_sub(piece.len() as u64);
            let next = match piece {
                // A client that gives up says so too (error 2061: its plugin wants TLS): that is no login.
                [1, 0, 0, 0, COM_QUIT, ..] => Next::Packets,
                // Of the server nothing was seen, and the client goes on to its commands.
                [_, _, _, 0, ..] if !is_server && mysql.is_in_login() && half.frames.is_between_packets() => {
                    mysql.login_is_over()
                }
                _ => Next::Packets,
            };
            if next == Next::Compressed {
                let is_zstd = mysql.seen.compressed == Some("zstd");
                self.begin_compression(from_a, if is_zstd { Method::Zstd } else { Method::Zlib }, begin);
            } else if mysql.may_begin_compression()
                && let Some(method) = looks_packed(piece)
            {
                mysql.begin_compression(if method == Method::Zstd { "zstd" } else { "zlib" });
                self.begin_compression(from_a, method, begin);
                self.half(!from_a).lose_step();
            }
        }
        let (half, other) = if from_a { (&mut self.a, &mut self.b) } else { (&mut self.b, &mut self.a) };
        let Some(mysql) = &mut self.mysql else { return };
        if half.is_lost {
            // In step again where a segment begins with a whole first packet of a turn.
            let is_first =
                matches!(piece, [_, _, _, sequence, ..] if usize::from(*sequence) == usize::from(is_server));
            if !starts_segment || !is_first {
                return;
            }
            half.is_lost = false;
            half.frames.reset();
        }
        if let Some(unpack) = &mut half.unpack {
            half.followed_bytes += piece.len() as u64;
            let (frames, hits, unpacked_bytes) = (&mut half.frames, &mut half.hits, &mut half.unpacked_bytes);
            let followed_bytes = &mut half.unpacked_followed_bytes;
            let Shared { scratch, inflater, words, .. } = shared;
            unpack.feed(piece, inflater, &mut |inner| {
                // Positions are of what was packed.
                hits.feed(inner, *unpacked_bytes, words, scratch);
                *unpacked_bytes += inner.len() as u64;
                let mut rest = inner;
                while let Some(packet) = frames.next(&mut rest) {
                    *followed_bytes += frame_bytes(packet.bytes);
                    let _ = if is_server { mysql.from_server(packet) } else { mysql.from_client(packet) };
                    hits.settle(*unpacked_bytes - rest.len() as u64, mysql.place);
                }
            });
            return;
        }
        let mut rest = piece;
        loop {
            let Some(packet) = half.frames.next(&mut rest) else { return };
            half.followed_bytes += frame_bytes(packet.bytes);
            if !is_server && packet.sequence == 0 {
                // A packet of the server that has not ended before the next command is none.
                if other.was_lost && other.unpack.is_none() && !other.frames.is_between_packets() {
                    other.is_lost = true;
                }
            }
            let next = if is_server { mysql.from_server(packet) } else { mysql.from_client(packet) };
            let packet_end = end.saturating_sub(rest.len() as u64);
            half.hits.settle(packet_end, mysql.place);
            match next {
                Next::Packets => {}
                Next::Tls => {
                    self.is_tls = true;
                    let at = self.half(from_a).bytes - rest.len() as u64;
                    // Without an answer of the server yet, TLS begins for it with what comes next.
                    let next = self.half(!from_a).bytes;
                    for (is_a, from) in [(from_a, at), (!from_a, next)] {
                        self.half(is_a).begin_tls(from);
                        self.half(is_a).tls_from = Some(from);
                    }
                    if !rest.is_empty() {
                        self.read(from_a, rest, end, false, shared);
                    }
                    return;
                }
                Next::Compressed => {
                    let is_zstd = mysql.seen.compressed == Some("zstd");
                    let method = if is_zstd { Method::Zstd } else { Method::Zlib };
                    self.begin_compression(from_a, method, packet_end);
                    if !rest.is_empty() {
                        self.read_mysql(from_a, rest, end, false, shared);
                    }
                    return;
                }
            }
        }
    }

    /// What is told of it so far; of missing and compressed bytes nothing yet.
    pub fn so_far(&self) -> ConnectionSummary {
        let mut told = ConnectionSummary {
            server_is_a: self.server_is_a,
            is_tls: self.is_tls,
            ..ConnectionSummary::default()
        };
        if let Identification::Is(kind) = self.known {
            told.kind = kind;
        }
        for half in [&self.a, &self.b] {
            for ((name, place), count) in &half.hits.found {
                *told.canaries.entry(name.clone()).or_default() += count;
                *told.canary_places.entry((name.clone(), *place)).or_default() += count;
            }
        }
        (told.bytes_a, told.bytes_b) = (self.a.bytes, self.b.bytes);
        told.mysql = self.mysql.as_ref().map(|mysql| mysql.seen.clone());
        told.galera = self.galera;
        told
    }

    /// What is told of it. The connection is over.
    pub fn told(mut self, shared: &mut Shared) -> ConnectionSummary {
        let mut told = ConnectionSummary {
            server_is_a: self.server_is_a,
            is_tls: self.is_tls,
            ..ConnectionSummary::default()
        };
        told.kind = match self.known {
            Identification::Is(kind) => kind,
            Identification::Not => self.ports.kind(&shared.mysql_ports),
        };
        if self.mysql.is_none() {
            // Who serves is told by the port, or it is the lower one.
            let known = [PORT_MYSQL, PORT_X, PORT_GALERA, PORT_IST, PORT_SST];
            let is_known = |port: u16| known.contains(&port) || shared.mysql_ports.contains(&port);
            told.server_is_a = match (is_known(self.ports.a), is_known(self.ports.b)) {
                (true, false) => true,
                (false, true) => false,
                _ => self.ports.a <= self.ports.b,
            };
        }
        // After an SSLRequest nothing came that is TLS, and its first bytes are not in the capture.
        let no_record = self.is_tls && self.a.tls_bytes() + self.b.tls_bytes() == 0;
        let after_request =
            [&self.a, &self.b].map(|half| half.bytes.saturating_sub(half.tls_from.unwrap_or(0)));
        if no_record && told.kind == Kind::MySql && after_request.iter().sum::<u64>() > 0 {
            self.is_tls = false;
        }
        for half in [&mut self.a, &mut self.b] {
            if let Some(unpack) = &mut half.unpack {
                unpack.drop_held(&mut shared.inflater);
                told.unread_bytes += unpack.unread_bytes;
            }
            told.missing_bytes += half.missing_bytes;
            // A message that did not end is still of its kind.
            half.hits.settle(u64::MAX, if half.is_tls { Place::Other } else { told.kind.place() });
            for ((name, place), count) in &half.hits.found {
                *told.canaries.entry(name.clone()).or_default() += count;
                *told.canary_places.entry((name.clone(), *place)).or_default() += count;
            }
        }
        (told.bytes_a, told.bytes_b) = (self.a.bytes, self.b.bytes);
        if self.is_tls {
            (told.tls_from_a, told.tls_from_b) = (self.a.tls_from, self.b.tls_from);
            told.tls_bytes = self.a.tls_bytes() + self.b.tls_bytes();
            self.judge_tls(&mut told);
        } else {
            told.is_tls = false;
            self.tell_unfollowed(&mut told);
        }
        if self.conflicts > 0 && told.kind != Kind::Other {
            told.conflicting_segments = self.conflicts;
            if told.is_tls {
                (told.is_tls, told.is_undecided) = (false, true);
            }
        }
        if let Some(suite) = self.null_suite.filter(|_| self.is_tls) {
            (told.is_tls, told.is_undecided, told.null_suite) = (true, false, Some(suite.name));
        }
        told.mysql = self.mysql.map(|mysql| mysql.seen);
        told.galera = self.galera;
        told
    }

    /// What a connection is of which one end at least sends records: the worse of its ends.
    fn judge_tls(&mut self, told: &mut ConnectionSummary) {
        if told.kind == Kind::Other {
            return;
        }
        let is_mysql = told.kind == Kind::MySql;
        let reads_clear =
            self.mysql.as_ref().is_some_and(|mysql| mysql.is_surely_clear() && !mysql.has_begun_tls());
        let writes_sets = self.galera.writesets > 0;
        let mut worst = Verdict::Silent;
        for (is_a, half) in [(true, &mut self.a), (false, &mut self.b)] {
            let followed_bytes = if is_mysql { half.followed_bytes } else { 0 };
            let verdict = if half.is_tls {
                half.judge_records()
            } else if half.bytes == followed_bytes && !reads_clear {
                Verdict::Silent
            } else if half.joined.is_clear()
                || !half.hits.found.is_empty()
                || (reads_clear && is_a != self.server_is_a)
                || (!is_mysql && writes_sets)
            {
                Verdict::Clear
            } else {
                Verdict::NotKnown
            };
            if verdict == Verdict::Clear {
                let rest = half.bytes.saturating_sub(followed_bytes + half.tls_bytes() + half.clear_bytes);
                let is_between = !half.is_tls || half.joined.is_clear();
                told.unfollowed_bytes += half.text_bytes + if is_between { rest } else { 0 };
            }
            told.clear_bytes_in_tls += half.clear_bytes;
            worst = worst.max(verdict);
        }
        told.is_tls = worst <= Verdict::Tls;
        told.is_undecided = worst == Verdict::NotKnown;
        // One segment had looked like a command, and nothing that followed it.
        if !reads_clear
            && worst != Verdict::Clear
            && self.mysql.as_ref().is_some_and(|it| it.seen.joined_in_the_middle)
        {
            self.mysql = None;
        }
    }

    /// What passed unread on a connection that is not known to be TLS, and whether it is known to be in clear.
    fn tell_unfollowed(&self, told: &mut ConnectionSummary) {
        let halves = [&self.a, &self.b];
        if told.kind != Kind::MySql {
            let is_clear = halves.iter().any(|half| half.joined.is_clear());
            told.is_undecided = !is_clear && halves.iter().any(|half| half.joined.is_on_a_record());
            return;
        }
        let of_half = |half: &&HalfStream| {
            half.bytes.saturating_sub(half.followed_bytes)
                + half.unpacked_bytes.saturating_sub(half.unpacked_followed_bytes)
        };
        let unread: u64 = halves.iter().map(of_half).sum();
        let of_packets = self.mysql.as_ref().map_or(0, |mysql| mysql.unfollowed_bytes);
        let unfollowed_bytes = unread + of_packets + told.unread_bytes;
        let is_clear = match &self.mysql {
            _ if !told.canaries.is_empty() => true,
            Some(mysql) if mysql.is_surely_clear() => true,
            // It was followed from its greeting on, and no TLS came.
            Some(mysql) if !mysql.is_out_of_step() && told.missing_bytes == 0 => true,
            _ => halves.iter().any(|half| half.joined.is_clear()),
        };
        told.is_undecided = !is_clear && (unfollowed_bytes > 0 || told.missing_bytes > 0);
        told.unfollowed_bytes = if told.is_undecided { 0 } else { unfollowed_bytes };
    }
}

/// Bytes of a packet with its headers.
fn frame_bytes(payload_bytes: u64) -> u64 {
    payload_bytes + HEADER_BYTES as u64 * (1 + payload_bytes / FRAME_BYTES_MAX as u64)
}

/// The cipher suite that a ServerHello at the beginning of these bytes chooses.
/// Source: RFC 5246 section 7.4.1.3: version and random, 34 bytes, and a session id behind its length.
fn chosen_suite(bytes: &[u8]) -> Option<&'static CipherSuite> {
    if !begins_with_hello(bytes) {
        return None;
    }
    let message = bytes.get(RECORD_HEADER_BYTES..)?;
    if message.first() != Some(&2) {
        return None;
    }
    let id_bytes = usize::from(*message.get(38)?);
    let code = message.get(39 + id_bytes..)?.first_chunk::<2>()?;
    cipher_suite(u16::from_be_bytes(*code))
}

impl Conversation for Connection {
    type Shared = Shared;

    fn piece(&mut self, from_a: bool, piece: &[u8], offset: u64, starts_segment: bool, shared: &mut Shared) {
        let half = if from_a { &mut self.a } else { &mut self.b };
        half.bytes += piece.len() as u64;
        let end = offset + piece.len() as u64;
        half.end = end;
        // What is compressed is searched when it is unpacked: some packets are not, and would count twice.
        if half.unpack.is_none() {
            half.hits.feed(piece, offset, &shared.words, &mut shared.scratch);
        }
        if self.known == Identification::Not {
            let by_port = self.ports.kind(&shared.mysql_ports);
            let half = self.half(from_a);
            if by_port != Kind::Other && half.joined.is_on_a_record() {
                self.look_for_tls(from_a, piece, starts_segment, by_port);
                return;
            }
            let from_start = offset == 0;
            if half.first.is_empty() {
                let first = recognise(self.ports, from_a, piece, from_start, &shared.mysql_ports);
                let may_be_tls = match first {
                    Opening::Record | Opening::Nothing => by_port != Kind::Other,
                    _ => false,
                };
                if may_be_tls
                    && (self.look_for_tls(from_a, piece, starts_segment, by_port)
                        || self.half(from_a).joined.is_on_a_record())
                {
                    return;
                }
                if !matches!(first, Opening::More | Opening::Nothing | Opening::Record) {
                    self.decide(&first, from_a, piece.len(), shared);
                    self.read(from_a, piece, end, starts_segment, shared);
                    return;
                }
            }
            // The beginning came in pieces.
            let half = self.half(from_a);
            let room = FIRST_BYTES.saturating_sub(half.first.len());
            let (now, rest) = piece.split_at(piece.len().min(room));
            half.first.extend_from_slice(now);
            let held = std::mem::take(&mut half.first);
            let first = recognise(self.ports, from_a, &held, from_start, &shared.mysql_ports);
            let is_enough = held.len() >= FIRST_BYTES;
            self.half(from_a).first = held;
            match first {
                Opening::More if !is_enough => {}
                Opening::More | Opening::Nothing | Opening::Record => {
                    self.decide(&Opening::Nothing, from_a, rest.len(), shared);
                    // The next segment may begin a command.
                    self.half(from_a).first.clear();
                }
                found => {
                    self.decide(&found, from_a, rest.len(), shared);
                    self.read(from_a, rest, end, false, shared);
                }
            }
            return;
        }
        self.read(from_a, piece, end, starts_segment, shared);
    }

    fn gap(&mut self, from_a: bool, missing_bytes: u64, shared: &mut Shared) {
        let half = if from_a { &mut self.a } else { &mut self.b };
        half.missing_bytes += missing_bytes;
        half.first.clear();
        half.hits.gap();
        half.messages.gap();
        half.joined.gap();
        half.lose_step();
        if let Some(unpack) = &mut half.unpack {
            unpack.restart(&mut shared.inflater);
        }
        if half.is_tls {
            half.lose_records();
        } else if let Some(mysql) = &mut self.mysql {
            mysql.gap();
        }
    }

    fn conflict(&mut self, _from_a: bool) {
        self.conflicts += 1;
    }
}
