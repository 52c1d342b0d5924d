//! A node that restarts gets what it missed from a donor's gcache (IST), or everything anew (SST, hours for a large
//! database). The gcache must hold what is written during a restart.

use model::Verb;
use server::{GaleraFacts, NodeView};

use super::{Problem, Seen, problem};
use crate::world::World;

/// Longer than any restart that was measured (6 to 8 s in the lab); large buffer pools take their time to be flushed.
const RESTART_S: u64 = 120;
/// Source: Galera's documentation, gcache.size.
const GCACHE_BYTES_DEFAULT: u64 = 128 << 20;

pub fn check(_: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    if seen.change.verb == Verb::Rotate {
        return vec![];
    }
    let fits = |view: &NodeView| {
        let (rate, size) = (writeset_bytes_per_s(view)?, gcache_bytes(view));
        Some((rate, size, rate.saturating_mul(RESTART_S) <= size))
    };
    seen.up()
        .filter_map(|(name, view)| {
            let (rate, size, false) = fits(view)? else { return None };
            Some(problem(
                name,
                format!("its gcache holds {} s of writesets; a restart may take {RESTART_S} s", size / rate.max(1)),
                format!(
                    "gcache.size is {size} bytes, and {rate} bytes of writesets a second were replicated on average since \
                     it started: a node that restarts would need a full SST"
                ),
                "raise gcache.size in wsrep_provider_options (restart node by node), or come back in a quieter hour",
            ))
        })
        .collect()
}

/// Source: Galera status variables: both count from the server's start.
fn writeset_bytes_per_s(view: &NodeView) -> Option<u64> {
    let number = |name: &str| view.status(name)?.parse::<u64>().ok();
    let bytes = number("wsrep_received_bytes")?.saturating_add(number("wsrep_replicated_bytes")?);
    // In the first minutes the state transfer and the first load count more than what is usual.
    number("uptime").filter(|&seconds| seconds >= RESTART_S).map(|seconds| bytes / seconds)
}

/// `128M`, `1G`, or a number of bytes.
fn gcache_bytes(view: &NodeView) -> u64 {
    let options = view.provider_options();
    let text = options.get("gcache.size").unwrap_or("").trim();
    let (digits, shift) = match text.char_indices().last() {
        Some((at, 'K' | 'k')) => (&text[..at], 10),
        Some((at, 'M' | 'm')) => (&text[..at], 20),
        Some((at, 'G' | 'g')) => (&text[..at], 30),
        Some((at, 'T' | 't')) => (&text[..at], 40),
        _ => (text, 0),
    };
    digits.parse::<u64>().ok().and_then(|n| n.checked_mul(1 << shift)).unwrap_or(GCACHE_BYTES_DEFAULT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(options: &str, status: &[(&str, &str)]) -> NodeView {
        let mut view = NodeView::default();
        view.variables.insert("wsrep_provider_options".into(), options.into());
        view.status.extend(status.iter().map(|&(key, value)| (key.into(), value.into())));
        view
    }

    #[test]
    fn sizes_have_units_and_a_default() {
        for (text, bytes) in [
            ("gcache.size = 1G; ", 1 << 30),
            ("gcache.size = 1000; ", 1000),
            ("", 128 << 20),
            ("gcache.size=x", 128 << 20),
        ] {
            assert_eq!(gcache_bytes(&view(text, &[])), bytes, "{text}");
        }
    }

    #[test]
    fn the_rate_is_an_average_and_not_known_of_a_server_that_just_started() {
        let rate = |uptime| {
            writeset_bytes_per_s(&view(
                "",
                &[("wsrep_received_bytes", "6000"), ("wsrep_replicated_bytes", "6000"), ("uptime", uptime)],
            ))
        };
        assert_eq!((rate("120"), rate("119")), (Some(100), None));
    }
}
