//! How the nodes of a world replicate, and what each of them is in it: all that the shared layers ask of a provider.

use std::sync::Arc;

use change::StepError;
use model::{Change, NodeName, Noun, Plan};
use server::options::{Effective, Setting};
use server::{Admits, NodeError, NodeView, PemSet, WriteNode};

use crate::estate::ESTATE;
use crate::galera::GALERA;
use crate::plan::{PlanContent, PlanError};
use crate::preflight::{Check, Problem};
use crate::proxies::Kept;
use crate::replication::REPLICATION;
use crate::world::World;

/// What a node is to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// One of a group in which each takes writes and has what the others have.
    GroupMember,
    /// A server by itself, whether or not others replicate from it or it from them.
    Server,
}

/// One way of replicating. A provider implements it once; a [`World`] has one.
pub trait Topology: Sync {
    /// As plans have it.
    fn name(&self) -> &'static str;
    /// All that can be changed where nodes replicate so; what a change without nouns is about, if these nodes have all of it.
    fn nouns(&self) -> &'static [Noun];
    /// What a change of these nodes without nouns is about.
    fn default_nouns(&self, _: &mut [Box<dyn WriteNode + '_>]) -> &'static [Noun] {
        self.nouns()
    }
    /// What a change without nouns may have become about, of so many nodes.
    fn wishes_without_nouns(&self, _nodes: usize) -> Vec<&'static [Noun]> {
        vec![self.nouns()]
    }
    /// What of `change` is about such nodes, where others have the rest of it. `None`: nothing.
    fn own_change(&self, change: &Change) -> Option<Change> {
        let is_own = |noun: &Noun| {
            self.nouns().contains(noun) || [Noun::RequireTls, Noun::Accounts, Noun::Ca].contains(noun)
        };
        let own = Change { nouns: change.nouns.iter().copied().filter(is_own).collect(), ..change.clone() };
        (!own.nouns.is_empty()).then_some(own)
    }
    /// Whether its nodes are one group, with ports of their own for that, and arbitrators may be members of it.
    fn is_group(&self) -> bool {
        false
    }
    /// Whether nodes receive what others write by channels of their own, which may lag.
    fn has_channels(&self) -> bool {
        false
    }
    /// What `view`'s server is in it.
    ///
    /// # Errors
    /// It is none of this topology; what its settings say instead.
    fn role(&self, view: &NodeView) -> Result<Role, String>;
    /// Options of which one stands in the files of every node, the foremost first: where it stands, the server's further options
    /// are written.
    fn anchors(&self) -> &'static [&'static str];
    /// What must hold before a change, in the order in which reasons are shown.
    fn checks(&self) -> &'static [(&'static str, Check)];
    /// Those of `change`, where they are others.
    fn checks_of(&self, _: &Change) -> &'static [(&'static str, Check)] {
        self.checks()
    }
    /// The steps of `change` for the nodes as they are now.
    ///
    /// # Errors
    /// The first reason why there is no way there.
    fn plan(&self, world: &mut World<'_>, change: &Change) -> Result<PlanContent, PlanError>;
    /// What stands against the steps of a plan as they follow each other, and what is to be told with them.
    fn look(&self, _: &mut World<'_>, _: &Plan) -> (Vec<Problem>, Vec<String>) {
        (vec![], vec![])
    }
    /// Starts what is down and waits until the nodes are whole again by themselves.
    ///
    /// # Errors
    /// They are not; where each stands, and what a person can run.
    fn revive(&self, world: &mut World<'_>) -> Result<(), StepError>;
    /// Waits for what comes back by itself after servers were restarted, and returns what has not, for people.
    ///
    /// # Errors
    /// A node cannot be handled.
    fn settle(&self, _: &mut World<'_>) -> Result<Vec<String>, StepError> {
        Ok(vec![])
    }
    /// Where sealion has drained a node and not put it back, as far as the node's own note of that can be read.
    fn drained_at(&self, _: &dyn WriteNode) -> Vec<Kept> {
        vec![]
    }
    /// A change is given up: what it has noted on a node and nobody could take back any more is struck out, so that it does not stop the next
    /// one. Returns what is left for a person to do.
    fn give_up(&self, _: &mut World<'_>) -> Vec<String> {
        vec![]
    }
    /// How a node stands now, for people, in one line that begins with its name.
    fn standing(&self, node: &mut dyn WriteNode) -> String;
    /// Which setting beside the server's own `ssl_key` refers to the key file `key`, running (`view`; `None`: it is down) or in the
    /// option files.
    ///
    /// # Errors
    /// That cannot be determined.
    fn key_user(
        &self,
        node: &mut dyn WriteNode,
        view: Option<&NodeView>,
        key: &str,
    ) -> Result<Option<String>, NodeError>;

    /// PEM of the leaf that a member shows where the cluster's CA decides who is let in, whoever signed it.
    ///
    /// # Errors
    /// It cannot be seen.
    fn shows(&self, world: &mut World<'_>, name: &NodeName) -> Result<String, StepError>;
    /// The same, dialled with the member's own files: it is let in with them, and trusts what it sees.
    ///
    /// # Errors
    /// It is not, or that cannot be told.
    fn serves(&self, world: &mut World<'_>, name: &NodeName) -> Result<String, StepError>;
    /// Whether a member takes one that shows this certificate there.
    ///
    /// # Errors
    /// It cannot be told.
    fn admits(
        &self,
        world: &mut World<'_>,
        name: &NodeName,
        shown: &Arc<PemSet>,
    ) -> Result<Admits, StepError>;
    /// A member reads key, certificate and CAs again from the same paths, by a restart where nothing less helps.
    ///
    /// # Errors
    /// It does not; what it had loaded stays in use.
    fn reload(&self, world: &mut World<'_>, name: &NodeName) -> Result<(), StepError>;

    /// The setting of the option files beside which the server's further options are written.
    fn anchor<'e>(&self, effective: &'e Effective) -> Option<&'e Setting> {
        self.anchors().iter().find_map(|option| effective.in_option_file(option))
    }
}

/// Every topology, the more special one first: a node of a Galera cluster is a server too.
pub const TOPOLOGIES: &[&dyn Topology] = &[&GALERA, &REPLICATION, &ESTATE];

/// Those of which nodes are, before they are of an estate.
pub fn simple() -> impl Iterator<Item = &'static dyn Topology> {
    TOPOLOGIES.iter().copied().filter(|known| known.name() != ESTATE.name())
}

/// The one that made a plan.
///
/// # Errors
/// This version has none of that name.
pub fn named(name: &str) -> Result<&'static dyn Topology, StepError> {
    TOPOLOGIES.iter().copied().find(|known| known.name() == name).ok_or_else(|| {
        StepError(format!(
            "the plan is for nodes that replicate by \"{name}\", which this sealion does not know: use the version that made it"
        ))
    })
}

/// How these nodes replicate, as those say that answer: an estate where they do not say the same. Where nobody answers, a provider's
/// checks say so.
pub fn of(nodes: &mut [Box<dyn WriteNode + '_>]) -> &'static dyn Topology {
    let mut found: Option<&'static dyn Topology> = None;
    for node in nodes {
        let Some(topology) = node.view().ok().and_then(|view| of_view(&view)) else { continue };
        if found.is_some_and(|known| known.name() != topology.name()) {
            return &ESTATE;
        }
        found = Some(topology);
    }
    found.unwrap_or(&GALERA)
}

/// How a server that answers replicates.
pub fn of_view(view: &NodeView) -> Option<&'static dyn Topology> {
    simple().find(|known| known.role(view).is_ok())
}
