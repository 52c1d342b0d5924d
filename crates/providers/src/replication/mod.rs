//! TLS for a source, its replicas and their clients. Nothing of Galera is here.
//!
//! The order: every server has its certificate and offers it (MySQL takes it while it runs, MariaDB by one restart), then each
//! channel connects anew and verifies its source, then clients without TLS are refused. A channel never waits for a certificate
//! that its source does not serve yet.

mod followers;
pub(crate) mod other_ports;
mod plan;
mod preflight;
pub(crate) mod relay;
mod settle;
pub(crate) mod steps;

use std::collections::BTreeSet;
use std::sync::Arc;

pub(crate) use followers::{Follower, followers, strangers};
pub(crate) use plan::{below_all, replicas_first};
pub(crate) use preflight::is_source;

use change::StepError;
use model::{Change, NodeName, Noun, Plan};
use server::{Admits, Alive, GaleraFacts, NodeError, NodeView, PemSet, WriteNode};

use crate::plan::{PlanContent, PlanError};
use crate::preflight::{Check, Problem, set_live};
use crate::steps::fail;
use crate::threads;
use crate::topology::{Role, Topology};
use crate::world::World;

/// Servers by themselves, and channels between them.
pub struct Replication;
pub const REPLICATION: Replication = Replication;

impl Topology for Replication {
    fn name(&self) -> &'static str {
        "replication"
    }

    fn nouns(&self) -> &'static [Noun] {
        &Noun::OF_REPLICAS
    }

    /// A server that is alone in its inventory and has no channel replicates nothing.
    fn default_nouns(&self, nodes: &mut [Box<dyn WriteNode + '_>]) -> &'static [Noun] {
        let replicates_nothing = match nodes {
            [alone] => alone.channels().is_ok_and(|channels| channels.is_empty()),
            _ => false,
        };
        if replicates_nothing { &[Noun::Clients] } else { self.nouns() }
    }

    /// A server that is alone may have clients alone.
    fn wishes_without_nouns(&self, nodes: usize) -> Vec<&'static [Noun]> {
        let of_one: &[Noun] = &[Noun::Clients];
        if nodes == 1 { vec![self.nouns(), of_one] } else { vec![self.nouns()] }
    }

    fn look(&self, world: &mut World<'_>, plan: &Plan) -> (Vec<Problem>, Vec<String>) {
        (relay::look(world, plan), vec![])
    }

    fn has_channels(&self) -> bool {
        true
    }

    fn role(&self, view: &NodeView) -> Result<Role, String> {
        if view.is_galera() {
            return Err("it is a node of a Galera cluster (wsrep_on is ON)".into());
        }
        Ok(Role::Server)
    }

    fn anchors(&self) -> &'static [&'static str] {
        &["server_id", "bind_address", "datadir"]
    }

    fn checks(&self) -> &'static [(&'static str, Check)] {
        preflight::CHECKS
    }

    fn plan(&self, world: &mut World<'_>, change: &Change) -> Result<PlanContent, PlanError> {
        let mut content = plan::plan(world, change)?;
        content.impact.extend(other_ports::told(world, change, &content.steps));
        let restarted = content.steps.iter().filter(|step| step.restarts_server && !step.no_op);
        let restarted: BTreeSet<NodeName> = restarted.flat_map(|step| step.nodes.clone()).collect();
        content.impact.extend(set_live::told(world, &restarted));
        Ok(content)
    }

    fn revive(&self, world: &mut World<'_>) -> Result<(), StepError> {
        for name in world.names() {
            let node = world.node(&name)?;
            if matches!(node.view(), Err(NodeError::Down { .. })) && node.alive() == Alive::No {
                world.say(&format!("{name} is down and is started"));
                steps::restart::start(world, &name)?;
            }
        }
        settle::servers(world)
    }

    fn settle(&self, world: &mut World<'_>) -> Result<Vec<String>, StepError> {
        settle::channels(world)
    }

    fn give_up(&self, world: &mut World<'_>) -> Vec<String> {
        let names = world.names();
        let of = |name: NodeName| threads::forget(world, &name).err().map(|error| format!("{name}: {error}"));
        names.into_iter().filter_map(of).collect()
    }

    fn standing(&self, node: &mut dyn WriteNode) -> String {
        let view = match node.view() {
            Ok(view) => view,
            Err(error) => return error.first_line(),
        };
        let clients = match (view.offers_client_tls(), view.requires_secure_transport()) {
            (_, true) => "must use TLS",
            (true, false) => "may use TLS",
            (false, false) => "are offered no TLS",
        };
        let mut line = format!("{}: clients {clients}", node.name());
        match node.channels() {
            Ok(channels) => {
                for channel in channels {
                    let how = if channel.tls.is_on { "by TLS" } else { "in cleartext" };
                    line += &format!(", replicates from {channel} {how}");
                }
            }
            Err(error) => line += &format!(", its channels are not known ({})", error.first_line()),
        }
        line + &threads::standing(node)
    }

    fn shows(&self, world: &mut World<'_>, name: &NodeName) -> Result<String, StepError> {
        world.node(name)?.client_leaf().map_err(fail)
    }

    fn serves(&self, world: &mut World<'_>, name: &NodeName) -> Result<String, StepError> {
        self.shows(world, name)
    }

    fn admits(
        &self,
        world: &mut World<'_>,
        name: &NodeName,
        shown: &Arc<PemSet>,
    ) -> Result<Admits, StepError> {
        world.node(name)?.client_admits(shown).map_err(fail)
    }

    fn reload(&self, world: &mut World<'_>, name: &NodeName) -> Result<(), StepError> {
        world.node(name)?.reload_tls().map_err(fail)
    }

    fn key_user(
        &self,
        node: &mut dyn WriteNode,
        view: Option<&NodeView>,
        key: &str,
    ) -> Result<Option<String>, NodeError> {
        // Of a server that is down, its channels are in its own tables.
        if view.is_none() {
            return Ok(Some("a channel may use it, and the server is down".into()));
        }
        let uses = node.channels()?.into_iter().find(|channel| channel.tls.key.as_os_str() == key);
        Ok(uses.map(|channel| format!("{channel}, of which it is the replica")))
    }
}
