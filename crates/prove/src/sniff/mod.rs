//! What an eavesdropper reads: packets in, for each connection what was given away out.
//!
//! [`Sniffer`] is sans-I/O: it is given packets of a file or an interface. [`opening`] says what a connection is, [`connection`] follows it, [`joined`] what
//! bytes are whose beginning was not seen, [`content`] what they look like, [`half`] what one end sent and how far that is TLS,
//! [`mysql`] follows the MySQL protocol with [`frames`] and [`unpack`], [`galera`] the group's, [`sql`] redacts statements,
//! [`guess`] says what a login is worth, [`place`] where a canary stood, [`finding`] sorts by what is worst. Memory is bounded whatever passes.
//! Left out: decryption, what passes in the X Protocol, protocol 4.0 and older, transactions that the binary log holds compressed.

pub mod connection;
pub mod content;
pub mod finding;
pub mod frames;
pub mod galera;
pub mod guess;
mod half;
pub mod joined;
pub mod mysql;
mod opening;
pub mod place;
pub mod sql;
pub mod unpack;

use std::collections::BTreeMap;

use capture::conversations::{Conversations, Ends};
use capture::fragments::Fragments;
use capture::layers::{self, Content};
use capture::link::Link;
use capture::segment::Segment;
use capture::words::Words;

pub use capture::layers::Unread;
pub use connection::ConnectionSummary;
pub use finding::{Finding, What};
pub use opening::{Kind, PORT_MYSQL};
pub use place::Place;

use connection::{Connection, Shared};

/// Connections that are listed one by one; all of them are in the sums.
pub const LISTED_MAX: usize = 10_000;

/// Canaries with their places that are listed in the sums; a peer may send names without end.
pub const CANARY_PLACES_MAX: usize = 10_000;

/// Kinds of packets that could not be read, which are counted one by one: a peer may send protocols without end.
const UNREAD_KINDS_MAX: usize = 200;

/// One connection that is over, or was open at the end.
#[derive(Debug, Clone)]
pub struct Listed {
    pub ends: Ends,
    pub told: ConnectionSummary,
    /// Worst first.
    pub findings: Vec<Finding>,
}

impl Listed {
    fn worst(&self) -> Option<What> {
        self.findings.first().map(|finding| finding.what)
    }
}

/// All that was seen.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// TCP segments, with those of other protocols.
    pub segments: u64,
    /// Packets that are no TCP over IP: harmless ones, and those that were not looked at.
    pub other_packets: u64,
    /// Packets that may carry a connection of a database, and could not be read: by kind.
    pub not_looked_at: BTreeMap<Unread, u64>,
    /// The same, of kinds that are not listed because there are too many.
    pub not_looked_at_of_other_kinds: u64,
    pub first_unix_ms: u64,
    pub last_unix_ms: u64,
    /// By kind.
    pub connections: BTreeMap<Kind, u64>,
    /// Of the databases' kinds, listed or not: what passed could be read, it was TLS, or too little was seen to tell.
    pub clear: u64,
    pub tls: u64,
    pub undecided: u64,
    /// Segments of them that were sent twice with different bytes.
    pub conflicting_segments: u64,
    /// MySQL connections whose login was not seen.
    pub joined_in_the_middle: u64,
    /// Compressed bytes that could not be unpacked.
    pub unread_bytes: u64,
    /// By finding: connections, and how often in them.
    pub findings: BTreeMap<What, (u64, u64)>,
    /// Canaries by their name and where they stood: connections, and how often in them.
    pub canary_places: BTreeMap<(String, Place), (u64, u64)>,
    /// Canaries that are only in the findings, because there are too many names.
    pub canaries_not_listed: u64,
    /// Worst first.
    pub listed: Vec<Listed>,
    /// Connections of the databases' kinds that are only in the sums.
    pub not_listed: u64,
    /// Connections that were not looked at.
    pub connections_over_limit: u64,
    pub missing_bytes: u64,
    pub payload_bytes: u64,
}

/// What a capture shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conclusion {
    Readable,
    /// Something passed that could not be read: it may have been anything.
    NotKnown,
    NothingReadable,
    /// Neither MySQL nor Galera was recognised.
    NoConnection,
}

impl Conclusion {
    /// The word for programs.
    pub fn id(self) -> &'static str {
        match self {
            Self::Readable => "readable",
            Self::NotKnown => "not-known",
            Self::NothingReadable => "nothing-readable",
            Self::NoConnection => "no-connection",
        }
    }
}

impl Report {
    /// Was something readable seen?
    pub fn is_readable(&self) -> bool {
        !self.findings.is_empty()
    }

    /// Connections of which nobody knows what passed: nothing may be concluded from what was not found.
    pub fn not_known(&self) -> u64 {
        self.undecided + self.connections_over_limit
    }

    /// Packets that could not be read, and may have been such a connection's.
    pub fn packets_not_looked_at(&self) -> u64 {
        self.not_looked_at.values().sum::<u64>() + self.not_looked_at_of_other_kinds
    }

    /// What can be said of the whole capture.
    pub fn conclusion(&self) -> Conclusion {
        if self.is_readable() {
            Conclusion::Readable
        } else if self.not_known() + self.packets_not_looked_at() > 0 {
            Conclusion::NotKnown
        } else if self.looked_at() == 0 {
            Conclusion::NoConnection
        } else {
            Conclusion::NothingReadable
        }
    }

    /// Connections of MySQL, Galera and their transfers.
    pub fn looked_at(&self) -> u64 {
        self.connections.iter().filter(|(kind, _)| **kind != Kind::Other).map(|(_, count)| count).sum()
    }

    fn add(&mut self, ends: Ends, connection: Connection, shared: &mut Shared) {
        let told = connection.told(shared);
        self.missing_bytes += told.missing_bytes;
        self.payload_bytes += told.bytes_a + told.bytes_b;
        *self.connections.entry(told.kind).or_default() += 1;
        if told.kind != Kind::Other {
            self.clear += u64::from(told.is_clear());
            self.tls += u64::from(told.is_tls && !told.is_clear());
            self.undecided += u64::from(told.is_undecided);
            self.conflicting_segments += told.conflicting_segments;
        }
        let joined = told.mysql.as_ref().is_some_and(|seen| seen.joined_in_the_middle);
        self.joined_in_the_middle += u64::from(joined);
        self.unread_bytes += told.unread_bytes;
        let findings = finding::of(&told);
        for finding in &findings {
            let (connections, times) = self.findings.entry(finding.what).or_default();
            *connections += 1;
            *times += finding.times;
        }
        for (key, times) in &told.canary_places {
            if self.canary_places.len() >= CANARY_PLACES_MAX && !self.canary_places.contains_key(key) {
                self.canaries_not_listed += times;
                continue;
            }
            let (connections, all) = self.canary_places.entry(key.clone()).or_default();
            *connections += 1;
            *all += times;
        }
        if told.kind == Kind::Other && findings.is_empty() {
            return;
        }
        if self.listed.len() >= LISTED_MAX {
            self.not_listed += 1;
            return;
        }
        self.listed.push(Listed { ends, told, findings });
    }
}

/// Takes packets, one after another.
#[derive(Debug)]
pub struct Sniffer {
    conversations: Conversations<Connection>,
    shared: Shared,
    fragments: Fragments,
    report: Report,
}

impl Sniffer {
    /// `ports`: where MySQL listens besides 3306.
    pub fn new(ports: &[u16]) -> Self {
        Self::with_words(ports, Words::default())
    }

    /// The same; these words of the user's are looked for as canaries are.
    pub fn with_words(ports: &[u16], words: Words) -> Self {
        Self {
            conversations: Conversations::new(Vec::new()),
            shared: Shared::new(ports, words),
            fragments: Fragments::default(),
            report: Report { first_unix_ms: u64::MAX, ..Report::default() },
        }
    }

    /// Takes a packet that begins with its IP header.
    pub fn packet(&mut self, packet: &[u8], unix_ms: u64) {
        self.content(&layers::ip_packet(packet), unix_ms);
    }

    /// Takes a frame of an interface with this link type.
    pub fn frame(&mut self, link: Link, frame: &[u8], unix_ms: u64) {
        self.content(&layers::frame(link, frame), unix_ms);
    }

    /// Takes a frame without its link header.
    pub fn behind_link(&mut self, ethertype: u16, packet: &[u8], unix_ms: u64) {
        self.content(&layers::packet(ethertype, packet), unix_ms);
    }

    fn content(&mut self, content: &Content<'_>, unix_ms: u64) {
        match content {
            Content::Segment(segment) => self.segment(segment, unix_ms),
            Content::Harmless => self.report.other_packets += 1,
            Content::Unread(kind) => {
                self.report.other_packets += 1;
                self.not_looked_at(*kind, 1);
            }
            Content::Fragment(part) => {
                self.report.other_packets += 1;
                if let Some(whole) = self.fragments.add(part, unix_ms) {
                    // Counted again as what it is.
                    self.report.other_packets -= 1;
                    let content =
                        layers::ip_body(whole.source, whole.destination, whole.protocol, &whole.body);
                    self.content(&content, unix_ms);
                }
            }
        }
    }

    fn not_looked_at(&mut self, kind: Unread, packets: u64) {
        let kinds = &mut self.report.not_looked_at;
        if packets == 0 {
            return;
        }
        if kinds.len() < UNREAD_KINDS_MAX || kinds.contains_key(&kind) {
            *kinds.entry(kind).or_default() += packets;
        } else {
            self.report.not_looked_at_of_other_kinds += packets;
        }
    }

    fn segment(&mut self, segment: &Segment<'_>, unix_ms: u64) {
        self.report.segments += 1;
        self.report.first_unix_ms = self.report.first_unix_ms.min(unix_ms);
        self.report.last_unix_ms = self.report.last_unix_ms.max(unix_ms);
        // Connections that end here are taken out of the table while the shared tools are lent to it.
        let mut ended = None;
        self.conversations.segment(
            segment,
            unix_ms,
            &mut self.shared,
            Connection::new,
            &mut |ends, connection| {
                ended.get_or_insert_with(Vec::new).push((ends, connection));
            },
        );
        for (ends, connection) in ended.into_iter().flatten() {
            self.report.add(ends, connection, &mut self.shared);
        }
    }

    /// Packets so far.
    pub fn packets(&self) -> u64 {
        self.report.segments + self.report.other_packets
    }

    /// Nothing more will come.
    pub fn finish(mut self) -> Report {
        let in_parts = self.fragments.finish();
        self.not_looked_at(Unread::Fragment, in_parts);
        let mut ended = Vec::new();
        self.conversations.finish(&mut self.shared, &mut |ends, connection| ended.push((ends, connection)));
        for (ends, connection) in ended {
            self.report.add(ends, connection, &mut self.shared);
        }
        let mut report = self.report;
        report.connections_over_limit = self.conversations.connections_over_limit();
        report.first_unix_ms = report.first_unix_ms.min(report.last_unix_ms);
        report.listed.sort_by_key(|one| {
            (one.worst().is_none(), one.worst(), one.ends.first_unix_ms, one.ends.a, one.ends.b)
        });
        report
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

#[cfg(test)]
#[path = "partial_tests.rs"]
mod partial_tests;
