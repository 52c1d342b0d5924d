//! The paths that data takes between nodes and clients, and what was seen on them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which traffic a link carries. Galera writesets, incremental and full state transfer, and clients have
/// ports and TLS switches of their own, so each is judged alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkKind {
    Galera,
    Ist,
    Sst,
    /// From a source to a replica of it, over the port of clients.
    Replication,
    Client,
}

impl LinkKind {
    pub const ALL: [Self; 5] = [Self::Galera, Self::Ist, Self::Sst, Self::Replication, Self::Client];

    /// Those of a Galera cluster.
    pub const OF_GALERA: [Self; 4] = [Self::Galera, Self::Ist, Self::Sst, Self::Client];

    /// It speaks the protocol of clients, which says hello in cleartext before TLS.
    pub fn is_mysql(self) -> bool {
        matches!(self, Self::Client | Self::Replication)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Galera => "galera",
            Self::Ist => "ist",
            Self::Sst => "sst",
            Self::Replication => "replication",
            Self::Client => "client",
        }
    }
}

impl fmt::Display for LinkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One unordered pair of ends and a kind. Either Galera node may have dialled, so `a <= b` always holds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Link {
    pub kind: LinkKind,
    pub a: String,
    pub b: String,
}

impl Link {
    pub fn new(kind: LinkKind, one: impl Into<String>, other: impl Into<String>) -> Self {
        let (one, other) = (one.into(), other.into());
        if one <= other { Self { kind, a: one, b: other } } else { Self { kind, a: other, b: one } }
    }
}

impl Link {
    /// The end that is a node, where the other one is its clients.
    pub fn node(&self) -> &str {
        if self.a == self.kind.as_str() { &self.b } else { &self.a }
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}-{}", self.kind, self.a, self.b)
    }
}

/// What a look on the wire can say of one link. There is no default, and `Unknown` is never `Sealed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "seen", content = "why", rename_all = "snake_case")]
pub enum Seen {
    /// A canary, or protocol bytes that are not TLS, were read.
    Plain,
    /// Bytes flowed, all of them TLS records, no canary, and the same capture did see a plain control.
    Sealed,
    Unknown(String),
}

impl Seen {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Sealed => "sealed",
            Self::Unknown(_) => "unknown",
        }
    }
}

/// The captured bytes around one canary, as evidence. Canaries are ours; up to 48 bytes either side are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// `127.77.1.1:4567 -> 127.77.1.2:41822`
    pub flow: String,
    pub stream_offset_bytes: u64,
    pub bytes_hex: String,
    /// Printable ASCII, everything else as `.`.
    pub text: String,
}

/// One link in one capture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkSight {
    pub link: Link,
    #[serde(flatten)]
    pub seen: Seen,
    pub payload_bytes: u64,
    pub tcp_flows: u32,
    pub canaries: u64,
    /// Of the payload, bytes in whole TLS records.
    pub tls_bytes: u64,
    /// `AF_PACKET on lo`, or `relay 127.0.0.1:5567`.
    pub method: String,
    /// Whether the plain control flow's canary was found in this very capture.
    pub control_seen: bool,
    pub kernel_drops: u64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evidence: Option<Evidence>,
    /// Of a client link: nobody but sealion itself spoke on it, over TLS.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub only_own_session: bool,
    /// Of a client link: sessions of others over TCP, as the server lists them. `None`: it could not be asked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tcp_sessions: Option<u32>,
    /// Of a client link: who spoke cleartext (`app@10.0.0.5:51234`).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub cleartext_clients: Vec<String>,
    /// Of a client link: logins in cleartext that the server refused, with the number of its error (`10.0.0.5:51234 (error
    /// 3159)`). No session followed, so they do not make the link plain; the login itself could be read.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub refused_logins: Vec<String>,
}

impl LinkSight {
    /// Of a client link: nobody was connected over TCP but sealion, so there was nothing that could have been seen.
    pub fn has_no_clients(&self) -> bool {
        self.link.kind == LinkKind::Client
            && self.tcp_sessions == Some(0)
            && self.cleartext_clients.is_empty()
            && (self.only_own_session || (self.control_seen && self.payload_bytes == 0))
    }
}

/// A capture that begins in the middle of a TLS record sees the rest of it before the first header, once per direction.
/// Source: RFC 8446 section 5.2: a record is at most 2^14 + 256 bytes and a 5-byte header.
pub const FIRST_RECORD_BYTES_MAX: u64 = (1 << 14) + 256 + 5;
/// MySQL says hello in cleartext before TLS: a greeting (some 100 bytes) from the server; from the client a header of the
/// PROXY protocol (up to 232 bytes) and an SSLRequest (36 bytes).
pub const HELLO_BYTES_MAX: u64 = 512;
/// Of these, the client's own.
const SSL_REQUEST_BYTES: u64 = 36;

/// What passed in one direction of one connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DirectionCounts {
    pub bytes: u64,
    /// Bytes inside whole TLS records, followed from record to record.
    pub tls_bytes: u64,
    /// Bytes in front of the first record that could be followed.
    pub before_tls_bytes: u64,
    /// Bytes outside of records after TLS had begun.
    pub after_tls_bytes: u64,
    /// Segments that are whole MySQL packets in cleartext.
    pub mysql_segments: u64,
    /// Bytes that the capture knows it did not see (TCP gaps).
    pub missing_bytes: u64,
    pub canaries: u64,
}

/// Why a client's connection, seen from its first byte to its last, was no session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoSession {
    /// It asked for TLS, and the handshake failed or was not finished: nothing but a greeting, alerts and an error passed in clear.
    Handshake,
    /// It sent a login in cleartext, which the server answered with this error.
    Refused(u16),
    /// The server has greeted it, which it does once and first, and the client has said nothing: its beginning is known, also where its
    /// first packets were not captured.
    Greeted,
}

/// What one capture counted on one TCP connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FlowCounts {
    /// Both directions were seen from their first byte on.
    pub saw_start: bool,
    /// Sealion's own session: what it carries says nothing of others.
    pub is_own: bool,
    /// It was joined in its middle, and the server lists no session of it: an application's, or that of another sealion. What it carries
    /// in cleartext counts, and it is no evidence that others use TLS.
    pub is_unattributed: bool,
    pub no_session: Option<NoSession>,
    pub client: DirectionCounts,
    pub server: DirectionCounts,
}

/// What can be said of one connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlowSeen {
    Plain,
    Tls,
    /// No byte, or nobody who logged in.
    Silent,
    Unknown(&'static str),
}

/// Judges one connection by what passed in it. Which end is the client matters for [`LinkKind::Client`] only.
pub fn judge_flow(kind: LinkKind, flow: &FlowCounts) -> FlowSeen {
    let both = [flow.client, flow.server];
    let sum = |of: fn(&DirectionCounts) -> u64| both.iter().map(of).sum::<u64>();
    if sum(|way| way.canaries) > 0 {
        return FlowSeen::Plain;
    }
    // Nobody's data: neither for nor against the link.
    let is_from_start = flow.saw_start || flow.no_session == Some(NoSession::Greeted);
    if kind.is_mysql() && is_from_start && flow.no_session.is_some() && sum(|way| way.missing_bytes) == 0 {
        return FlowSeen::Silent;
    }
    if sum(|way| way.after_tls_bytes) > 0 {
        return FlowSeen::Plain;
    }
    let bytes = sum(|way| way.bytes);
    if bytes == 0 {
        return FlowSeen::Silent;
    }
    // Refused, or left, before anybody logged in: only one side spoke.
    let only_one_spoke = both.iter().any(|way| way.bytes == 0);
    if kind.is_mysql() && flow.saw_start && only_one_spoke && bytes <= HELLO_BYTES_MAX {
        return FlowSeen::Silent;
    }
    let allowed = match (kind, flow.saw_start) {
        (kind, true) if kind.is_mysql() => HELLO_BYTES_MAX,
        (_, true) => 0,
        (_, false) => FIRST_RECORD_BYTES_MAX,
    };
    if both.iter().any(|way| way.before_tls_bytes > allowed) {
        return FlowSeen::Plain;
    }
    let speaks_tls = sum(|way| way.tls_bytes) > 0;
    if kind.is_mysql() && flow.saw_start && !speaks_tls {
        // A whole login and its statements in cleartext are shorter than what is allowed before TLS.
        return if flow.client.bytes <= SSL_REQUEST_BYTES {
            FlowSeen::Unknown("a connection had said no more than hello")
        } else {
            FlowSeen::Plain
        };
    }
    if !flow.saw_start {
        let without = || both.iter().filter(|way| way.bytes > 0 && way.tls_bytes == 0);
        // What came before the capture is not known; what came in it is whole packets of MySQL.
        if kind.is_mysql() && without().any(|way| way.mysql_segments > 0) {
            return FlowSeen::Plain;
        }
        if without().next().is_some() {
            return FlowSeen::Unknown(
                "a connection was joined in its middle, and no TLS record began in what was seen",
            );
        }
    }
    if sum(|way| way.missing_bytes) > 0 {
        return FlowSeen::Unknown("bytes of a connection were not captured");
    }
    if speaks_tls {
        FlowSeen::Tls
    } else {
        FlowSeen::Unknown("the traffic was neither TLS nor a known cleartext protocol")
    }
}

/// What a server says of the sessions on one client link, beside what was captured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Witness {
    /// Why it could not be asked, or does not tell everything.
    pub cannot_tell: Option<String>,
    /// Sessions that the server itself calls unencrypted (`app@10.0.0.5:51234`).
    pub plain: Vec<String>,
    /// Sessions of which no byte was captured, and of which the server does not say whether they are encrypted.
    pub not_captured: Vec<String>,
}

/// Whether one capture could have seen what it was made for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CaptureState {
    /// The plain control's canary was found in it.
    pub control_seen: bool,
    pub kernel_drops: u64,
    /// It ended early, or had no room for every connection.
    pub is_cut: bool,
}

/// So many sessions are named in a reason.
const NAMED_MAX: usize = 5;

/// The first `max` of them by name, and how many more there are.
pub fn some_of(sessions: &[String], max: usize) -> String {
    let mut text = sessions.iter().take(max).cloned().collect::<Vec<_>>().join(", ");
    if sessions.len() > max {
        text += &format!(" and {} more", sessions.len() - max);
    }
    text
}

/// The one place that says `plain`, `sealed` or `unknown`. The worst connection decides.
///
/// A client's connection that came to no session ([`NoSession`]) counts neither way; refused logins are named beside the verdict.
///
/// `Sealed` needs a positive control in the same capture (else we could not have seen a canary), no kernel drops and no gaps
/// (else we might have missed one), a connection of somebody other than sealion, every one of them followed as TLS, and
/// a server that does not say otherwise.
pub fn judge(kind: LinkKind, flows: &[FlowCounts], witness: Option<&Witness>, capture: CaptureState) -> Seen {
    let seen: Vec<(FlowSeen, bool)> =
        flows.iter().map(|flow| (judge_flow(kind, flow), flow.is_own)).collect();
    // One cleartext secret is enough, whatever else is true.
    if seen.iter().any(|(seen, _)| *seen == FlowSeen::Plain) {
        return Seen::Plain;
    }
    if witness.is_some_and(|witness| !witness.plain.is_empty()) {
        return Seen::Plain;
    }
    if !capture.control_seen {
        return Seen::Unknown(
            "the cleartext control was not captured, so nothing else would have been either".into(),
        );
    }
    if capture.kernel_drops > 0 {
        return Seen::Unknown(format!("the kernel dropped {} packets of the capture", capture.kernel_drops));
    }
    if capture.is_cut {
        return Seen::Unknown("the capture is not complete".into());
    }
    if let Some((FlowSeen::Unknown(why), _)) =
        seen.iter().find(|(seen, is_own)| !is_own && matches!(seen, FlowSeen::Unknown(_)))
    {
        return Seen::Unknown((*why).into());
    }
    let speaks = |own: bool| {
        flows.iter().zip(&seen).any(|(flow, (seen, is_own))| {
            *is_own == own && *seen == FlowSeen::Tls && (own || !flow.is_unattributed)
        })
    };
    let is_unattributed = flows
        .iter()
        .zip(&seen)
        .any(|(flow, (seen, is_own))| !is_own && *seen == FlowSeen::Tls && flow.is_unattributed);
    if let Some(witness) = witness {
        if let Some(why) = &witness.cannot_tell {
            return Seen::Unknown(format!("the server's other connections are not known: {why}"));
        }
        if !witness.not_captured.is_empty() {
            // Whether they said nothing, or said it elsewhere, no capture can tell.
            return Seen::Unknown(format!(
                "no packet of {} was captured (nothing was sent, or not past here), and cleartext is possible: {}",
                crate::text::counted(witness.not_captured.len(), "session", "sessions"),
                some_of(&witness.not_captured, NAMED_MAX)
            ));
        }
    }
    match (speaks(false), speaks(true)) {
        (true, _) => Seen::Sealed,
        (false, _) if is_unattributed => Seen::Unknown(
            "whose connections spoke here over TLS is not known: they began before the capture and ended before the server was asked".into(),
        ),
        (false, true) => Seen::Unknown("only our own session spoke here, over TLS".into()),
        (false, false) => Seen::Unknown(
            "no packets of this link were captured: nothing was sent on it, or its traffic does not pass here"
                .into(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: CaptureState = CaptureState { control_seen: true, kernel_drops: 0, is_cut: false };

    #[test]
    fn a_link_is_the_same_from_both_ends() {
        assert_eq!(Link::new(LinkKind::Galera, "n3", "n1"), Link::new(LinkKind::Galera, "n1", "n3"));
    }

    fn tls(before: u64) -> DirectionCounts {
        DirectionCounts {
            bytes: 900 + before,
            tls_bytes: 900,
            before_tls_bytes: before,
            ..DirectionCounts::default()
        }
    }

    fn clear(bytes: u64, mysql_segments: u64) -> DirectionCounts {
        DirectionCounts { bytes, before_tls_bytes: bytes, mysql_segments, ..DirectionCounts::default() }
    }

    fn flow(saw_start: bool, client: DirectionCounts, server: DirectionCounts) -> FlowCounts {
        FlowCounts { saw_start, client, server, ..FlowCounts::default() }
    }

    fn word(kind: LinkKind, flows: &[FlowCounts]) -> &'static str {
        judge(kind, flows, None, SOUND).word()
    }

    #[test]
    fn sealed_needs_control_traffic_tls_and_no_loss() {
        let sealed = flow(true, tls(0), tls(0));
        let check = |flow: FlowCounts, capture, expected: &str| {
            assert_eq!(
                judge(LinkKind::Galera, &[flow], None, capture).word(),
                expected,
                "{flow:?} {capture:?}"
            );
        };
        check(sealed, SOUND, "sealed");
        check(sealed, CaptureState { control_seen: false, ..SOUND }, "unknown");
        check(sealed, CaptureState { kernel_drops: 1, ..SOUND }, "unknown");
        check(sealed, CaptureState { is_cut: true, ..SOUND }, "unknown");
        check(
            FlowCounts { client: DirectionCounts { missing_bytes: 1, ..tls(0) }, ..sealed },
            SOUND,
            "unknown",
        );
        check(FlowCounts::default(), SOUND, "unknown");
        check(FlowCounts { client: tls(1), ..sealed }, SOUND, "plain");
        check(
            FlowCounts { server: DirectionCounts { after_tls_bytes: 1, ..tls(0) }, ..sealed },
            SOUND,
            "plain",
        );
        // A canary convicts whatever else is true: one cleartext secret is enough.
        let canary = FlowCounts { server: DirectionCounts { canaries: 1, ..tls(0) }, ..sealed };
        check(canary, CaptureState { control_seen: false, kernel_drops: 9, is_cut: true }, "plain");
    }

    #[test]
    fn the_worst_connection_of_a_link_decides() {
        let sealed = flow(true, tls(36), tls(100));
        assert_eq!(word(LinkKind::Client, &[sealed]), "sealed");
        // Seen by an outsider: five short statements a second on connections that were open before the capture.
        let talks = flow(false, clear(200, 5), clear(300, 5));
        assert_eq!(word(LinkKind::Client, &[talks, sealed, sealed]), "plain");
        let odd = flow(false, clear(200, 0), tls(0));
        assert_eq!(word(LinkKind::Client, &[sealed, odd]), "unknown");
    }

    #[test]
    fn a_connection_joined_late_is_forgiven_only_what_is_followed_by_tls() {
        let most = FIRST_RECORD_BYTES_MAX;
        let check = |flow: FlowCounts, expected: &str| {
            assert_eq!(word(LinkKind::Client, &[flow]), expected, "{flow:?}");
        };
        check(flow(false, tls(most), tls(0)), "sealed");
        check(flow(false, tls(most + 1), tls(0)), "plain");
        check(flow(false, clear(most, 0), tls(0)), "unknown");
        check(flow(false, clear(90, 1), DirectionCounts::default()), "plain");
        check(flow(false, DirectionCounts::default(), clear(90, 2)), "plain");
        check(flow(false, clear(90, 0), clear(90, 2)), "plain");
        check(flow(false, tls(0), DirectionCounts::default()), "sealed");
    }

    #[test]
    fn a_login_in_clear_text_is_plain_however_short_and_a_greeting_alone_is_nothing() {
        let check = |flow: FlowCounts, expected: &str| {
            assert_eq!(word(LinkKind::Client, &[flow]), expected, "{flow:?}");
        };
        check(flow(true, clear(90, 1), clear(110, 1)), "plain");
        check(flow(true, DirectionCounts::default(), clear(110, 1)), "unknown");
        check(flow(true, clear(36, 1), clear(110, 1)), "unknown");
        check(flow(true, tls(HELLO_BYTES_MAX), tls(100)), "sealed");
        check(flow(true, tls(HELLO_BYTES_MAX + 1), tls(100)), "plain");
    }

    #[test]
    fn a_connection_without_a_session_counts_neither_for_nor_against() {
        let failed = |no_session| FlowCounts {
            no_session,
            ..flow(true, tls(36), DirectionCounts { after_tls_bytes: 26, ..tls(104) })
        };
        let sealed = flow(true, tls(36), tls(100));
        // A health check whose SYN came before the capture; the same bytes without a greeting are somebody's answer.
        let joined = FlowCounts {
            saw_start: false,
            server: DirectionCounts {
                bytes: 104,
                before_tls_bytes: 104,
                mysql_segments: 1,
                ..DirectionCounts::default()
            },
            ..FlowCounts::default()
        };
        assert_eq!(judge_flow(LinkKind::Client, &joined), FlowSeen::Plain);
        let greeted = FlowCounts { no_session: Some(NoSession::Greeted), ..joined };
        assert_eq!(judge_flow(LinkKind::Client, &greeted), FlowSeen::Silent);
        assert_ne!(judge_flow(LinkKind::Galera, &greeted), FlowSeen::Silent);
        for no_session in [NoSession::Handshake, NoSession::Refused(3159)] {
            let one = failed(Some(no_session));
            assert_eq!(word(LinkKind::Client, &[one]), "unknown");
            assert_eq!(word(LinkKind::Client, &[one, sealed]), "sealed");
            assert_eq!(word(LinkKind::Client, &[one, flow(true, clear(90, 1), clear(110, 1))]), "plain");
            // Of another link, in its middle, or with a canary it is judged by its bytes.
            assert_eq!(word(LinkKind::Galera, &[one]), "plain");
            assert_eq!(word(LinkKind::Client, &[FlowCounts { saw_start: false, ..one }]), "plain");
            let canary = DirectionCounts { canaries: 1, ..one.client };
            assert_eq!(word(LinkKind::Client, &[FlowCounts { client: canary, ..one }]), "plain");
        }
        assert_eq!(word(LinkKind::Client, &[failed(None)]), "plain");
    }

    #[test]
    fn our_own_session_proves_nothing_of_others_and_convicts_all_the_same() {
        let own = FlowCounts { is_own: true, ..flow(true, tls(36), tls(100)) };
        let seen = judge(LinkKind::Client, &[own], None, SOUND);
        assert_eq!(seen, Seen::Unknown("only our own session spoke here, over TLS".into()));
        let plain = FlowCounts { is_own: true, ..flow(true, clear(90, 1), clear(110, 1)) };
        assert_eq!(word(LinkKind::Client, &[plain]), "plain");
        assert_eq!(word(LinkKind::Client, &[own, flow(true, tls(36), tls(90))]), "sealed");
    }

    #[test]
    fn the_server_is_a_second_witness() {
        let sealed = [flow(true, tls(36), tls(100))];
        let check = |witness: Witness, expected: &str| {
            let seen = judge(LinkKind::Client, &sealed, Some(&witness), SOUND);
            assert_eq!(seen.word(), expected, "{witness:?} {seen:?}");
        };
        let who = || vec!["app@10.0.0.5:51234".to_owned()];
        check(Witness::default(), "sealed");
        check(Witness { plain: who(), ..Witness::default() }, "plain");
        check(Witness { not_captured: who(), ..Witness::default() }, "unknown");
        check(Witness { cannot_tell: Some("no PROCESS privilege".into()), ..Witness::default() }, "unknown");
    }
}
