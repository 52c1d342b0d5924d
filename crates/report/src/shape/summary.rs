use model::{LinkKind, LinkSight, Seen};
use serde::{Deserialize, Serialize};

use super::{LinkKindWord, Outcome, SeenWord};

/// The numbers that a reader, or a test, looks at first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub verdict: Outcome,
    /// One sentence: what the verdict rests on.
    pub verdict_why: String,
    /// Writes that the cluster acknowledged to the writers while it was sealed, each fsynced by the writer.
    pub acknowledged_writes: u64,
    /// Acknowledged, but missing on at least one node in the audit at the end.
    pub acknowledged_writes_lost: u64,
    /// Transactions that got an error; one that was tried again counts.
    pub failed_transactions: u64,
    /// The longest time that one writer waited between two acknowledgements.
    pub longest_stall_ms: u64,
    pub canaries_seen_before: u64,
    pub canaries_seen_after: u64,
    /// One per unordered pair and kind.
    pub links: Vec<LinkRow>,
    /// Throughput after / before; descriptive only. `null` when no workload was run.
    pub throughput_ratio: Option<f64>,
    /// Server restarts during the roll.
    pub restarts: u32,
}

/// One link in the look before and in the look after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkRow {
    pub kind: LinkKindWord,
    /// The two ends, sorted by name: a node's name, or what the clients are called.
    pub a: String,
    pub b: String,
    pub seen_before: SeenWord,
    pub seen_after: SeenWord,
    /// Why it is `unknown`.
    pub why_before: Option<String>,
    pub why_after: Option<String>,
    pub payload_bytes_before: u64,
    pub payload_bytes_after: u64,
    /// Of the payload, bytes in whole TLS records.
    pub tls_bytes_before: u64,
    pub tls_bytes_after: u64,
    pub canaries_before: u64,
    pub canaries_after: u64,
    /// Whether the same capture did see the canary of a flow that is plain on purpose.
    pub control_seen_before: bool,
    pub control_seen_after: bool,
    pub kernel_drops_before: u64,
    pub kernel_drops_after: u64,
}

impl LinkRow {
    /// One row of the two looks; a look that has nothing on this link is `unknown`, with 0 bytes.
    ///
    /// Returns `None` when both are missing or they speak of different links.
    pub fn from_sights(before: Option<&LinkSight>, after: Option<&LinkSight>) -> Option<Self> {
        let link = &before.or(after)?.link;
        if [before, after].into_iter().flatten().any(|sight| sight.link != *link) {
            return None;
        }
        let (before, after) = (Half::of(link.kind, before), Half::of(link.kind, after));
        Some(Self {
            kind: link.kind.into(),
            a: link.a.clone(),
            b: link.b.clone(),
            seen_before: before.seen,
            seen_after: after.seen,
            why_before: before.why,
            why_after: after.why,
            payload_bytes_before: before.payload_bytes,
            payload_bytes_after: after.payload_bytes,
            tls_bytes_before: before.tls_bytes,
            tls_bytes_after: after.tls_bytes,
            canaries_before: before.canaries,
            canaries_after: after.canaries,
            control_seen_before: before.control_seen,
            control_seen_after: after.control_seen,
            kernel_drops_before: before.kernel_drops,
            kernel_drops_after: after.kernel_drops,
        })
    }

    /// Rows for every link that is in either look, in the order kind, ends. A look of several captures may have a
    /// link more than once; the sight that alarms most is shown (see [`alarm`]).
    pub fn pair_up(before: &[LinkSight], after: &[LinkSight]) -> Vec<Self> {
        let mut links: Vec<_> = before.iter().chain(after).map(|sight| &sight.link).collect();
        links.sort();
        links.dedup();
        let rows = links.into_iter().filter_map(|link| {
            let [before, after] = [before, after]
                .map(|look| look.iter().filter(|sight| sight.link == *link).max_by_key(|sight| alarm(sight)));
            Self::from_sights(before, after)
        });
        rows.collect()
    }
}

/// Plain convicts whatever other captures say. A capture that had bytes and could not tell is not outvoted by one
/// that was sealed; one that had no bytes says nothing.
fn alarm(sight: &LinkSight) -> u8 {
    match (&sight.seen, sight.payload_bytes) {
        (Seen::Plain, _) => 3,
        (Seen::Unknown(_), 1..) => 2,
        (Seen::Sealed, _) => 1,
        (Seen::Unknown(_), 0) => 0,
    }
}

/// What one look says of a link.
struct Half {
    seen: SeenWord,
    why: Option<String>,
    payload_bytes: u64,
    tls_bytes: u64,
    canaries: u64,
    control_seen: bool,
    kernel_drops: u64,
}

impl Half {
    fn of(kind: LinkKind, sight: Option<&LinkSight>) -> Self {
        let Some(sight) = sight else {
            let why = match kind {
                LinkKind::Ist | LinkKind::Sst => "no state transfer between these two in this check",
                LinkKind::Galera | LinkKind::Replication | LinkKind::Client => {
                    "this link did not exist in this check"
                }
            };
            let why = Some(why.to_owned());
            return Self {
                seen: SeenWord::Unknown,
                why,
                payload_bytes: 0,
                tls_bytes: 0,
                canaries: 0,
                control_seen: false,
                kernel_drops: 0,
            };
        };
        let why = match &sight.seen {
            Seen::Unknown(why) => Some(why.clone()),
            Seen::Plain | Seen::Sealed => None,
        };
        Self {
            seen: (&sight.seen).into(),
            why,
            payload_bytes: sight.payload_bytes,
            tls_bytes: sight.tls_bytes,
            canaries: sight.canaries,
            control_seen: sight.control_seen,
            kernel_drops: sight.kernel_drops,
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{Link, LinkKind};

    use super::*;

    fn sight(kind: LinkKind, b: &str, seen: Seen) -> LinkSight {
        LinkSight {
            link: Link::new(kind, "n1", b),
            seen,
            payload_bytes: 7,
            tcp_flows: 1,
            canaries: 2,
            tls_bytes: 0,
            method: "AF_PACKET on lo".into(),
            control_seen: true,
            kernel_drops: 0,
            evidence: None,
            only_own_session: false,
            tcp_sessions: None,
            cleartext_clients: vec![],
            refused_logins: vec![],
        }
    }

    #[test]
    fn a_link_without_a_sight_is_unknown_and_says_why() {
        let before = [sight(LinkKind::Galera, "n2", Seen::Plain)];
        let after = [
            sight(LinkKind::Ist, "n2", Seen::Unknown("no bytes".into())),
            sight(LinkKind::Galera, "n2", Seen::Sealed),
        ];
        let rows = LinkRow::pair_up(&before, &after);
        assert_eq!(rows.len(), 2);
        assert_eq!(
            (rows[0].kind, rows[0].seen_before, rows[0].seen_after),
            (LinkKindWord::Galera, SeenWord::Plain, SeenWord::Sealed)
        );
        assert_eq!(rows[1].seen_before, SeenWord::Unknown);
        assert_eq!(rows[1].why_before.as_deref(), Some("no state transfer between these two in this check"));
        assert_eq!(rows[1].why_after.as_deref(), Some("no bytes"));
    }

    #[test]
    fn of_several_captures_the_most_alarming_sight_is_shown() {
        let silent =
            LinkSight { payload_bytes: 0, ..sight(LinkKind::Ist, "n2", Seen::Unknown("silent".into())) };
        let lossy = sight(LinkKind::Ist, "n2", Seen::Unknown("drops".into()));
        let (sealed, plain) =
            (sight(LinkKind::Ist, "n2", Seen::Sealed), sight(LinkKind::Ist, "n2", Seen::Plain));
        let check = |look: &[&LinkSight], seen: SeenWord| {
            let mut look: Vec<LinkSight> = look.iter().copied().cloned().collect();
            for _ in 0..look.len() {
                look.rotate_left(1);
                assert_eq!(LinkRow::pair_up(&[], &look)[0].seen_after, seen);
            }
        };
        check(&[&silent, &sealed], SeenWord::Sealed);
        check(&[&silent, &lossy, &sealed], SeenWord::Unknown);
        check(&[&sealed, &plain, &lossy], SeenWord::Plain);
    }

    #[test]
    fn two_different_links_are_never_one_row() {
        let (one, other) =
            (sight(LinkKind::Galera, "n2", Seen::Plain), sight(LinkKind::Galera, "n3", Seen::Plain));
        assert!(LinkRow::from_sights(Some(&one), Some(&other)).is_none());
        assert!(LinkRow::from_sights(None, None).is_none());
    }
}
