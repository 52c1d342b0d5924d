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

use std::collections::BTreeMap;

use model::NodeName;
use server::NodeSpec;
use server::cluster_address::{self, Listing};

use super::draft::Draft;
use crate::world::World;

/// By how many other nodes' `wsrep_cluster_address` a node is not named, of those of which it is at least one.
pub fn unnamed(world: &World<'_>, drafts: &[Draft]) -> BTreeMap<NodeName, usize> {
    let unnamed = cluster_address::unnamed(&listings(world, drafts, false));
    unnamed.into_iter().map(|(name, without)| (name, without.len())).collect()
}

/// What the operator should know of these lists; a note, since members find each other by what the others tell.
pub fn told(world: &World<'_>, drafts: &[Draft]) -> Option<String> {
    cluster_address::note(&listings(world, drafts, true))
}

/// `by_name`: a node may be listed by its name in the inventory, too, which need not be one that resolves.
fn listings(world: &World<'_>, drafts: &[Draft], by_name: bool) -> Vec<Listing> {
    let addresses: BTreeMap<&NodeName, &str> = drafts
        .iter()
        .map(|draft| (&draft.name, draft.view.variable("wsrep_cluster_address").unwrap_or_default()))
        .collect();
    let listing = |spec: &NodeSpec| {
        let name = by_name.then(|| spec.name.to_string());
        let names = std::iter::once(spec.address.clone()).chain(spec.names.clone()).chain(name).collect();
        let address = (*addresses.get(&spec.name)?).to_owned();
        Some(Listing { node: spec.name.clone(), names, address })
    };
    world.nodes.iter().filter_map(|node| listing(node.spec())).collect()
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
