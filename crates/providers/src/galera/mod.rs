//! TLS for Galera replication, SST and clients: rolled through a serving cluster, one node at a time.
//!
//! [`plan`] makes the steps, [`preflight`] says why it may not be done, [`steps`] has the kinds that only Galera needs. The states
//! and the order are those of a cluster in which a plain node must never serve one that asks for TLS (it crashes): so first
//! every node speaks both (round 1), then, after a gate, every node speaks TLS only (round 2).

mod alone;
mod arbitrators;
mod draft;
mod equip;
mod gossip;
mod join;
mod linked;
mod patience;
mod plan;
mod preflight;
mod quorum;
mod start_log;
pub(crate) mod steps;
mod wait;
mod weights;

use std::sync::Arc;

use change::StepError;
use model::{Change, NodeName, Noun, Plan};
use server::{Admits, GaleraFacts, NodeError, NodeView, PemSet, ProviderOptions, WriteNode};

use crate::plan::{PlanContent, PlanError};
use crate::preflight::{Check, Problem};
use crate::proxies::Kept;
use crate::replication::relay;
use crate::steps::fail;
use crate::topology::{Role, Topology};
use crate::world::World;

pub use equip::equip;
pub use join::notes_of_join;

/// Galera's own options are a string in this one.
pub const OPTIONS: &str = "wsrep_provider_options";
/// The kind of the step that makes a server a member.
pub const JOIN: &str = "join";

pub use steps::join::is_left_to_its_step;

/// Every node takes writes and certifies those of the others; one component has the quorum.
pub struct Galera;
pub const GALERA: Galera = Galera;

impl Topology for Galera {
    fn name(&self) -> &'static str {
        "galera"
    }

    fn nouns(&self) -> &'static [Noun] {
        &Noun::ALL
    }

    fn is_group(&self) -> bool {
        true
    }

    fn role(&self, view: &NodeView) -> Result<Role, String> {
        if view.is_galera() {
            return Ok(Role::GroupMember);
        }
        Err(format!("wsrep_on is {}", view.variable("wsrep_on").unwrap_or("not known there")))
    }

    fn anchors(&self) -> &'static [&'static str] {
        &[OPTIONS, "wsrep_cluster_address"]
    }

    fn checks(&self) -> &'static [(&'static str, Check)] {
        preflight::CHECKS
    }

    fn checks_of(&self, change: &Change) -> &'static [(&'static str, Check)] {
        if change.joiner().is_some() { preflight::CHECKS_OF_JOIN } else { preflight::CHECKS }
    }

    fn plan(&self, world: &mut World<'_>, change: &Change) -> Result<PlanContent, PlanError> {
        plan::plan(world, change)
    }

    fn look(&self, world: &mut World<'_>, plan: &Plan) -> (Vec<Problem>, Vec<String>) {
        let (mut problems, told) = weights::look(world, plan);
        // A node may be somebody's replica too.
        problems.extend(relay::look(world, plan));
        (problems, told)
    }

    fn revive(&self, world: &mut World<'_>) -> Result<(), StepError> {
        wait::revive(world)
    }

    fn drained_at(&self, node: &dyn WriteNode) -> Vec<Kept> {
        steps::round::kept(node).unwrap_or_default()
    }

    fn give_up(&self, world: &mut World<'_>) -> Vec<String> {
        let mut lines = Vec::new();
        for name in world.names() {
            match steps::round::strike_gone_proxies(world, &name) {
                Ok(gone) => lines.extend(gone.into_iter().map(|one| {
                    format!(
                        "{name}: it was drained at the proxy {}, which is not in the inventory any more, and no change waits for that one now; if it is \
                         still in use, there: set server {} state {}",
                        one.proxy,
                        one.server,
                        one.was.word()
                    )
                })),
                Err(StepError(why)) => lines.push(format!(
                    "{name}: whether it is noted there as drained at a proxy that is not in the inventory any more was not seen: {}",
                    why.replace('\n', " ")
                )),
            }
        }
        lines
    }

    fn standing(&self, node: &mut dyn WriteNode) -> String {
        let view = node.view();
        let mut line = match &view {
            Ok(view) => format!(
                "{}: {}, speaks {} to nodes, clients {}",
                node.name(),
                view.status("wsrep_local_state_comment").unwrap_or("state not known"),
                view.galera_state(),
                match (view.offers_client_tls(), view.requires_secure_transport()) {
                    (_, true) => "must use TLS",
                    (true, false) => "may use TLS",
                    (false, false) => "are offered no TLS",
                }
            ),
            Err(error) => error.first_line(),
        };
        if steps::round::is_out_of_service(node) {
            line += match view {
                Ok(_) => "; sealion took it out of service, to bring it back: SET GLOBAL wsrep_desync=OFF",
                Err(_) => "; sealion took it out of service before",
            };
            for (proxy, server, state) in steps::round::out_at_proxies(node) {
                line += &format!("; at the proxy {proxy}: set server {server} state {state}");
            }
        }
        line
    }

    fn shows(&self, world: &mut World<'_>, name: &NodeName) -> Result<String, StepError> {
        // Who lets nobody in without a certificate shows its own in TLS 1.3 all the same; an older one is asked with ours.
        let member = world.member(name)?;
        member.galera_shows().or_else(|_| member.galera_leaf()).map_err(fail)
    }

    fn serves(&self, world: &mut World<'_>, name: &NodeName) -> Result<String, StepError> {
        world.member(name)?.galera_leaf().map_err(fail)
    }

    fn admits(
        &self,
        world: &mut World<'_>,
        name: &NodeName,
        shown: &Arc<PemSet>,
    ) -> Result<Admits, StepError> {
        world.member(name)?.galera_admits(shown).map_err(fail)
    }

    /// An arbitrator has nobody who could tell it to.
    fn reload(&self, world: &mut World<'_>, name: &NodeName) -> Result<(), StepError> {
        if world.arbitrator(name).is_none() {
            return world.node(name)?.reload_tls().map_err(fail);
        }
        let reasons = steps::arbitrator::reasons_against(world, name, "DS")?;
        if !reasons.is_empty() {
            return Err(fail(format!(
                "{name} has its new files and is not restarted\n  why:  {}\n  next: fix that, then sealion resume",
                reasons.join("\n        ")
            )));
        }
        steps::arbitrator::restart(world, name)
    }

    fn key_user(
        &self,
        node: &mut dyn WriteNode,
        view: Option<&NodeView>,
        key: &str,
    ) -> Result<Option<String>, NodeError> {
        let refers = |options: &ProviderOptions| options.get("socket.ssl_key") == Some(key);
        if view.is_some_and(|view| refers(&view.provider_options())) {
            return Ok(Some(format!("{OPTIONS} of the running server")));
        }
        let files = node.effective()?;
        let options = files.effective(OPTIONS).and_then(|setting| setting.value.as_deref());
        if refers(&ProviderOptions::parse(options.unwrap_or(""))) {
            return Ok(Some(format!("{OPTIONS} in an option file")));
        }
        let sst = node.effective_sst()?;
        let is_sst = sst.effective("tkey").is_some_and(|setting| setting.value.as_deref() == Some(key));
        Ok(is_sst.then(|| "tkey of [sst] in an option file".into()))
    }
}
