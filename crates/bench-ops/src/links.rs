//! What passes between nodes of Galera that take cleartext and TLS alike: with `socket.dynamic` chance decides for each link, and
//! no option, status or log tells.

use model::{LinkKind, Seen};
use server::GaleraState;

use site::OpsError;
use site::labs::Up;
use status_ops::status::{self, NodeStatus};

/// How long they are looked at, while each node writes something.
const LOOK_MS: u64 = 1500;

/// The links of a cluster at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Links {
    /// Its two ends, and what was seen; in order.
    seen: Vec<(String, Seen)>,
    /// Why nothing was, if so.
    why_not: String,
}

/// # Errors
/// A node that answers is not dynamic.
pub fn look(up: &Up) -> Result<Links, OpsError> {
    let found = status::status(&up.cluster, LOOK_MS, true);
    let dynamic = GaleraState::Dynamic.to_string();
    let is_other = |node: &&NodeStatus| {
        node.why_not.is_none()
            && !node.rows.iter().any(|row| row.what == LinkKind::Galera.as_str() && row.effective == dynamic)
    };
    if let Some(node) = found.nodes.iter().find(is_other) {
        return Err(OpsError::internal(
            format!("{} does not accept both cleartext and TLS", node.node),
            "it should have socket.dynamic",
        ));
    }
    let sights = found.sights.into_iter().filter(|sight| sight.link.kind == LinkKind::Galera);
    let mut seen: Vec<_> =
        sights.map(|sight| (format!("{}-{}", sight.link.a, sight.link.b), sight.seen)).collect();
    seen.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(Links { seen, why_not: found.not_looked_at.join("; ") })
}

impl Links {
    /// `n1-n2 TLS, n1-n3 cleartext, n2-n3 not known`
    pub fn told(&self) -> String {
        if self.seen.is_empty() {
            return "not seen".into();
        }
        let told = self.seen.iter().map(|(link, seen)| format!("{link} {}", word(seen)));
        told.collect::<Vec<_>>().join(", ")
    }

    /// Why something of it is not known.
    pub fn unknown(&self) -> Option<String> {
        if self.seen.is_empty() {
            return Some(self.why_not.clone());
        }
        let whys = self.seen.iter().filter_map(|(link, seen)| match seen {
            Seen::Unknown(why) => Some(format!("{link}: {why}")),
            Seen::Plain | Seen::Sealed => None,
        });
        Some(whys.collect::<Vec<_>>().join("; ")).filter(|whys| !whys.is_empty())
    }

    /// What was seen both times and is not the same.
    pub fn changed(&self, now: &Self) -> Option<String> {
        let known = |seen: &Seen| !matches!(seen, Seen::Unknown(_));
        let changed = self.seen.iter().filter_map(|(link, was)| {
            let (_, is) = now.seen.iter().find(|(other, _)| other == link)?;
            (known(was) && known(is) && was != is)
                .then(|| format!("{link} was {}, and is {}", word(was), word(is)))
        });
        Some(changed.collect::<Vec<_>>().join("; ")).filter(|changed| !changed.is_empty())
    }
}

fn word(seen: &Seen) -> &'static str {
    match seen {
        Seen::Plain => "cleartext",
        Seen::Sealed => "TLS",
        Seen::Unknown(_) => "not known",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(seen: &[Seen]) -> Links {
        let ends = ["n1-n2", "n1-n3", "n2-n3"].map(str::to_owned);
        Links { seen: ends.into_iter().zip(seen.iter().cloned()).collect(), why_not: String::new() }
    }

    #[test]
    fn only_what_was_seen_both_times_has_changed() {
        let missed = |packets: u32| Seen::Unknown(format!("{packets} packets were missed"));
        let before = links(&[Seen::Sealed, Seen::Plain, missed(1)]);
        assert_eq!(before.told(), "n1-n2 TLS, n1-n3 cleartext, n2-n3 not known");
        assert_eq!(before.unknown().as_deref(), Some("n2-n3: 1 packets were missed"));
        for same in [
            links(&[Seen::Sealed, Seen::Plain, missed(2)]),
            links(&[Seen::Sealed, missed(3), Seen::Plain]),
            links(&[]),
        ] {
            assert_eq!(before.changed(&same), None, "{same:?}");
        }
        let after = links(&[Seen::Plain, Seen::Plain, Seen::Sealed]);
        assert_eq!(before.changed(&after).as_deref(), Some("n1-n2 was TLS, and is cleartext"));
        assert_eq!(after.unknown(), None);
    }

    #[test]
    fn where_nothing_may_be_captured_nothing_is_said_to_be_known() {
        let nothing = Links { seen: vec![], why_not: "the wire: not permitted".into() };
        assert_eq!(nothing.told(), "not seen");
        assert_eq!(nothing.unknown().as_deref(), Some("the wire: not permitted"));
    }
}
