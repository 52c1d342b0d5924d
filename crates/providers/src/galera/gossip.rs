//! How members come to know each other's addresses: from their own `wsrep_cluster_address`, or from what others tell.
//!
//! # Source
//! Seen on Galera 26.4.23. An address goes from member to member with a scheme: strict ones tell `ssl://`, dynamic and plain ones `tcp://`, each
//! as it heard it last, and it stays known until its member has left. Who is not dynamic dials it so.
//! - A plain node that was told `ssl://` crashed (signal 11): it has nothing to speak TLS with.
//! - A strict one that was told `tcp://` dialled a strict member in cleartext until it gave up ("failed to reach primary view"), and meanwhile
//!   nobody was Primary.
//!
//! Members whose addresses all others have in their own configuration were never met in this way.

use std::collections::{BTreeMap, HashSet};

use model::NodeName;
use server::NodeSpec;

use super::draft::Draft;
use super::preflight::live_and_file::members;
use crate::world::World;

/// By how many other nodes' `wsrep_cluster_address` a node is not named, of those of which it is at least one.
pub fn unnamed(world: &World<'_>, drafts: &[Draft]) -> BTreeMap<NodeName, usize> {
    let specs: Vec<NodeSpec> = world.nodes.iter().map(|node| node.spec().clone()).collect();
    // A thousand lists of a thousand addresses are not read through for each node.
    let addresses: Vec<(&NodeName, HashSet<String>)> = drafts
        .iter()
        .map(|draft| {
            let hosts = members(draft.view.variable("wsrep_cluster_address").unwrap_or_default());
            let plain = hosts.into_iter().map(|host| host.trim_matches(['[', ']']).to_ascii_lowercase());
            (&draft.name, plain.collect())
        })
        .collect();
    let count = |spec: &NodeSpec| {
        let own: Vec<String> =
            std::iter::once(&spec.address).chain(&spec.names).map(|name| name.to_ascii_lowercase()).collect();
        let others = addresses.iter().filter(|(name, _)| **name != spec.name);
        others.filter(|(_, hosts)| !own.iter().any(|name| hosts.contains(name))).count()
    };
    let counted = specs.iter().map(|spec| (spec.name.clone(), count(spec)));
    counted.filter(|(_, count)| *count > 0).collect()
}

/// Whether members come to strict TLS, or leave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Up,
    Down,
}

/// The drafts in the order of a round: on the way up those first that most others have in their configuration, so that a strict one does not
/// hear of another strict one from dynamic members alone. Down it is the other way round, since an undo goes back from its end.
pub fn in_order<'d>(
    drafts: &'d mut [Draft],
    unnamed: &BTreeMap<NodeName, usize>,
    way: Way,
) -> Vec<&'d mut Draft> {
    let mut order: Vec<&mut Draft> = drafts.iter_mut().rev().collect();
    order.sort_by_key(|draft| {
        let by = unnamed.get(&draft.name).copied().unwrap_or_default();
        if way == Way::Up { by } else { usize::MAX - by }
    });
    order
}
