//! How the nodes of a world replicate, and what each of them is in it: all that the shared layers ask of a provider.

use change::StepError;
use model::Change;
use server::options::{Effective, Setting};
use server::{NodeError, NodeView, WriteNode};

use crate::plan::{PlanContent, PlanError};
use crate::preflight::Check;
use crate::world::World;

/// What a node is to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// One of a group in which each takes writes and has what the others have.
    GroupMember,
}

/// One way of replicating. A provider implements it once; a [`World`] has one.
pub trait Topology: Sync {
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
    /// The steps of `change` for the nodes as they are now.
    ///
    /// # Errors
    /// The first reason why there is no way there.
    fn plan(&self, world: &mut World<'_>, change: &Change) -> Result<PlanContent, PlanError>;
    /// Starts what is down and waits until the nodes are whole again by themselves.
    ///
    /// # Errors
    /// They are not; where each stands, and what a person can run.
    fn revive(&self, world: &mut World<'_>) -> Result<(), StepError>;
    /// How a node stands now, for people, in one line that begins with its name.
    fn standing(&self, node: &mut dyn WriteNode) -> String;
    /// Which setting beside the server's own `ssl_key` refers to the key file `key`, running (`view`; `None`: it is down) or in the
    /// option files.
    ///
    /// # Errors
    /// That cannot be told.
    fn key_user(
        &self,
        node: &mut dyn WriteNode,
        view: Option<&NodeView>,
        key: &str,
    ) -> Result<Option<String>, NodeError>;

    /// The setting of the option files beside which the server's further options are written.
    fn anchor<'e>(&self, effective: &'e Effective) -> Option<&'e Setting> {
        self.anchors().iter().find_map(|option| effective.effective(option))
    }
}
