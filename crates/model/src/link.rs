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
    Client,
}

impl LinkKind {
    pub const ALL: [Self; 4] = [Self::Galera, Self::Ist, Self::Sst, Self::Client];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Galera => "galera",
            Self::Ist => "ist",
            Self::Sst => "sst",
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
}

/// What one capture counted on one link; [`judge`] turns it into a verdict.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    pub payload_bytes: u64,
    pub canaries: u64,
    /// Bytes inside whole TLS records, followed from record to record.
    pub tls_bytes: u64,
    /// Bytes outside of TLS records that the protocol does not send before TLS starts.
    pub clear_bytes: u64,
    /// Bytes that the capture knows it did not see (TCP gaps).
    pub missing_bytes: u64,
}

/// The one place that says `plain`, `sealed` or `unknown`.
///
/// `Sealed` needs a positive control in the same capture (else we could not have seen a canary), no kernel
/// drops and no gaps (else we might have missed one), and traffic on that very link.
pub fn judge(counts: Counts, control_seen: bool, kernel_drops: u64) -> Seen {
    if counts.canaries > 0 || counts.clear_bytes > 0 {
        return Seen::Plain;
    }
    if counts.payload_bytes == 0 {
        return Seen::Unknown("no bytes flowed on this link while we looked".into());
    }
    if !control_seen {
        return Seen::Unknown(
            "the plain control's canary was not seen, so this capture proves nothing".into(),
        );
    }
    if kernel_drops > 0 {
        return Seen::Unknown(format!("the kernel dropped {kernel_drops} packets of this capture"));
    }
    if counts.missing_bytes > 0 {
        return Seen::Unknown(format!("{} bytes of this link were not captured", counts.missing_bytes));
    }
    if counts.tls_bytes == 0 {
        return Seen::Unknown("what flowed was neither TLS nor clear text that we know".into());
    }
    Seen::Sealed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_the_same_from_both_ends() {
        assert_eq!(Link::new(LinkKind::Galera, "n3", "n1"), Link::new(LinkKind::Galera, "n1", "n3"));
    }

    #[test]
    fn sealed_needs_control_traffic_tls_and_no_loss() {
        let tls = Counts { payload_bytes: 900, tls_bytes: 900, ..Counts::default() };
        let check =
            |counts, control, drops, word: &str| assert_eq!(judge(counts, control, drops).word(), word);
        check(tls, true, 0, "sealed");
        check(tls, false, 0, "unknown");
        check(tls, true, 1, "unknown");
        check(Counts { missing_bytes: 1, ..tls }, true, 0, "unknown");
        check(Counts::default(), true, 0, "unknown");
        check(Counts { tls_bytes: 0, ..tls }, true, 0, "unknown");
        check(Counts { clear_bytes: 1, ..tls }, true, 0, "plain");
        // A canary convicts whatever else is true: one clear text secret is enough.
        check(Counts { canaries: 1, ..tls }, false, 9, "plain");
    }
}
