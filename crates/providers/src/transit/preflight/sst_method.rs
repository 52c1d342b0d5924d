//! Only transfer methods whose script has a TLS switch.

use model::{Noun, Verb};

use super::{Problem, Seen, problem};
use crate::transit::world::Transit;

const KNOWN: [&str; 3] = ["rsync", "mariabackup", "rsync_wan"];

pub fn check(_: &mut Transit<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    if !seen.change.has(Noun::Sst) || seen.change.verb == Verb::Rotate {
        return vec![];
    }
    seen.up()
        .filter(|(_, view)| !KNOWN.contains(&view.sst_method()))
        .map(|(name, view)| {
            problem(
                name,
                format!("wsrep_sst_method={} has no TLS switch of its own", view.sst_method()),
                "its script takes its TLS from client sections, which sealion does not write",
                "SET GLOBAL wsrep_sst_method='mariabackup' (or rsync), here and in the option file",
            )
        })
        .collect()
}
