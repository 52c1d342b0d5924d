//! An estate: a Galera cluster and servers by themselves in one inventory, some of which replicate from a node of it. One plan for all.
//!
//! Each part is planned by its own topology, in a world that has only its nodes, and the steps are put together by their phases: what
//! one part does in a phase comes behind the earlier phases of all. So a source that requires TLS (E5) does so behind the channels of
//! all its replicas (E3), whatever part they are of. Here is only what none of the parts could say alone.

mod merge;

use std::collections::BTreeMap;
use std::sync::Arc;

use change::StepError;
use model::{Change, NodeName, Noun, Step, Verb};
use openssl::sha::sha256;
use server::accounts::AccountName;
use server::{Admits, NodeError, NodeView, PemSet, WriteNode};

use crate::accounts;
use crate::plan::{PlanContent, PlanError, refuse};
use crate::plan_parts::{ALREADY_DONE, NO_RESTART, always_offers, cannot_offer_none};
use crate::preflight::{Check, Problem, problem};
use crate::proxies::Kept;
use crate::replication::is_source;
use crate::steps::AccountParams;
use crate::topology::{self, Role, Topology};
use crate::world::{Part, World};

/// Nodes of which some replicate in one way, and some in another.
pub struct Estate;
pub const ESTATE: Estate = Estate;

const NOUNS: [Noun; 4] = [Noun::Galera, Noun::Sst, Noun::Replication, Noun::Clients];

impl Topology for Estate {
    fn name(&self) -> &'static str {
        "estate"
    }

    fn nouns(&self) -> &'static [Noun] {
        &NOUNS
    }

    /// Where nobody is a replica, there are no channels to change.
    fn default_nouns(&self, nodes: &mut [Box<dyn WriteNode + '_>]) -> &'static [Noun] {
        // Of who does not tell, the checks do.
        let is_replica = |node: &mut Box<dyn WriteNode + '_>| {
            node.channels().map_or(true, |channels| !channels.is_empty())
        };
        if nodes.iter_mut().any(is_replica) { &NOUNS } else { &Noun::ALL }
    }

    fn wishes_without_nouns(&self, _: usize) -> Vec<&'static [Noun]> {
        vec![&NOUNS, &Noun::ALL]
    }

    fn has_channels(&self) -> bool {
        true
    }

    fn role(&self, view: &NodeView) -> Result<Role, String> {
        topology::of_view(view)
            .map_or_else(|| Err("how it replicates is not known".into()), |known| known.role(view))
    }

    fn anchors(&self) -> &'static [&'static str] {
        &[]
    }

    /// The parts' own are made in the parts: [`crate::preflight()`].
    fn checks(&self) -> &'static [(&'static str, Check)] {
        &[]
    }

    fn plan(&self, world: &mut World<'_>, change: &Change) -> Result<PlanContent, PlanError> {
        plan(world, change)
    }

    /// All parts are tried: what is down in one of them does not keep the others down.
    fn revive(&self, world: &mut World<'_>) -> Result<(), StepError> {
        world.in_each_part(World::revive).into_iter().collect()
    }

    fn settle(&self, world: &mut World<'_>) -> Result<Vec<String>, StepError> {
        let parts: Result<Vec<Vec<String>>, StepError> =
            world.in_each_part(World::settle).into_iter().collect();
        Ok(parts?.concat())
    }

    fn drained_at(&self, node: &dyn WriteNode) -> Vec<Kept> {
        topology::simple().flat_map(|known| known.drained_at(node)).collect()
    }

    fn give_up(&self, world: &mut World<'_>) -> Vec<String> {
        let in_part = |world: &mut World<'_>| {
            let topology = world.topology;
            topology.give_up(world)
        };
        world.in_each_part(in_part).concat()
    }

    /// Who does not answer is told so, with what is noted on it.
    fn standing(&self, node: &mut dyn WriteNode) -> String {
        let topology = node.view().ok().and_then(|view| topology::of_view(&view));
        topology.unwrap_or(&crate::galera::GALERA).standing(node)
    }

    fn key_user(
        &self,
        node: &mut dyn WriteNode,
        view: Option<&NodeView>,
        key: &str,
    ) -> Result<Option<String>, NodeError> {
        for known in topology::simple() {
            if let Some(user) = known.key_user(node, view, key)? {
                return Ok(Some(user));
            }
        }
        Ok(None)
    }

    fn shows(&self, world: &mut World<'_>, name: &NodeName) -> Result<String, StepError> {
        at(world, name, |topology, world| topology.shows(world, name))
    }

    fn serves(&self, world: &mut World<'_>, name: &NodeName) -> Result<String, StepError> {
        at(world, name, |topology, world| topology.serves(world, name))
    }

    fn admits(
        &self,
        world: &mut World<'_>,
        name: &NodeName,
        shown: &Arc<PemSet>,
    ) -> Result<Admits, StepError> {
        at(world, name, |topology, world| topology.admits(world, name, shown))
    }

    fn reload(&self, world: &mut World<'_>, name: &NodeName) -> Result<(), StepError> {
        at(world, name, |topology, world| topology.reload(world, name))
    }
}

/// The same of the part that a node is of.
fn at<T>(
    world: &mut World<'_>,
    name: &NodeName,
    ask: impl FnOnce(&'static dyn Topology, &mut World<'_>) -> Result<T, StepError>,
) -> Result<T, StepError> {
    world.in_part_of(name, |world| {
        let topology = world.topology;
        if topology.name() == ESTATE.name() {
            return Err(StepError(format!("{name} is of none of the parts of its plan")));
        }
        ask(topology, world)
    })
}

/// Who is of which part, where that is not known from a plan. Of a node that does not answer, its option files say it; the checks refuse a
/// change while one is down.
pub fn divide(world: &mut World<'_>) {
    if world.topology.name() != ESTATE.name() || !world.parts.is_empty() {
        return;
    }
    let mut nodes: BTreeMap<&str, Part> = BTreeMap::new();
    for node in &mut world.nodes {
        let topology = node.view().ok().and_then(|view| topology::of_view(&view));
        let topology = topology.unwrap_or_else(|| by_files(&mut **node));
        let part = nodes.entry(topology.name());
        part.or_insert_with(|| Part { topology, nodes: [].into() }).nodes.insert(node.name().clone());
    }
    // What replicates from others comes before them, as within a part.
    let mut parts: Vec<Part> = nodes.into_values().collect();
    parts.sort_by_key(|part| part.topology.is_group());
    world.parts = parts;
}

fn by_files(node: &mut dyn WriteNode) -> &'static dyn Topology {
    if wants_galera(node).unwrap_or(false) {
        &crate::galera::GALERA
    } else {
        &crate::replication::REPLICATION
    }
}

/// Whether its option files make it a node of a Galera cluster.
fn wants_galera(node: &mut dyn WriteNode) -> Result<bool, NodeError> {
    let effective = node.effective()?;
    Ok(effective.effective("wsrep_on").is_some_and(server::options::Setting::is_on))
}

/// What stands against a change beside what the parts say of themselves.
pub fn problems(world: &mut World<'_>, change: &Change) -> Vec<Problem> {
    let mut problems = Vec::new();
    for part in world.parts.clone() {
        for name in &part.nodes {
            let Ok(node) = world.node(name) else { continue };
            if part.topology.is_group() {
                problems.extend(channels_into(node, name, change));
            } else if wants_galera(node).is_ok_and(|wants| wants) {
                problems.push(problem(
                    name,
                    "it runs outside of the Galera cluster, and its option files make it a node of one",
                    "wsrep_on is ON there, and not in the running server",
                    "remove wsrep_on from its option files, or start it as a node of the cluster; then plan again",
                ));
            }
        }
    }
    problems
}

/// A node of the cluster that is a replica, too: its channel would be shut out where its source requires TLS.
fn channels_into(node: &mut dyn WriteNode, name: &NodeName, change: &Change) -> Vec<Problem> {
    let is_met = |noun: &Noun| *noun != Noun::Galera && *noun != Noun::Sst;
    if !change.nouns.iter().any(is_met) || change.joiner().is_some() {
        return vec![];
    }
    match node.channels() {
        Ok(channels) => channels
            .into_iter()
            .map(|channel| {
                problem(
                    name,
                    format!("it is a node of a Galera cluster, and replicates from {channel}"),
                    "channels into a Galera cluster are not changed by this version, and where their source requires TLS they are refused",
                    format!("sealion plan {} galera,sst; and each side by itself, in an inventory of its own", change.verb),
                )
            })
            .collect(),
        Err(error) => vec![problem(
            name,
            "whether it is a replica, too, cannot be seen",
            error.to_string(),
            "GRANT REPLICA MONITOR ON *.* to the account that the inventory names",
        )],
    }
}

fn plan(world: &mut World<'_>, change: &Change) -> Result<PlanContent, PlanError> {
    accounts_are_there(world, change)?;
    // Said of the whole change: a part knows only what of it is its own.
    if change.verb == Verb::Disable
        && change.has(Noun::Clients)
        && let Some(name) = always_offers(world)
    {
        return Err(cannot_offer_none(&name, change));
    }
    let (mut planned, mut state) = (Vec::new(), format!("{change}\n"));
    for part in world.parts.clone() {
        let names: Vec<&str> = part.nodes.iter().map(NodeName::as_str).collect();
        state += &format!("{} {}", part.topology.name(), names.join(" "));
        if let Some(own) = own_change(&part, change) {
            let content = world.in_part(&part, |world| part.topology.plan(world, &own))?;
            state += &format!(" {}", content.state_hash);
            planned.push((part.topology.name(), content));
        }
        state += "\n";
    }
    let (steps, rest) = apart(planned);
    let steps = merge::by_phase(steps).map_err(refuse)?;
    forced_are_changed(world, change, &steps)?;
    let restarts = steps.iter().filter(|step| step.restarts_server && !step.no_op).count();
    let mut impact = Vec::new();
    if restarts > 0 {
        let counted = model::text::counted(restarts, "restart", "restarts");
        impact.push(format!("{counted} in all, one at a time"));
    }
    let mut rights = Vec::new();
    for (name, own_impact, own_rights) in rest {
        // Of a part in which nothing is to do, nothing is to be noticed.
        if !own_rights.is_empty() {
            let is_true = |line: &String| line != NO_RESTART || restarts == 0;
            impact.extend(own_impact.into_iter().filter(is_true).map(|line| format!("{name}: {line}")));
            rights.extend(own_rights.into_iter().map(|line| format!("{name}: {line}")));
        }
    }
    impact.extend(replicas_wait(world, &steps));
    let mut once: Vec<String> = Vec::new();
    for line in impact {
        if !once.contains(&line) {
            once.push(line);
        }
    }
    if rights.is_empty() {
        once = vec![ALREADY_DONE.into()];
    }
    Ok(PlanContent { steps, state_hash: model::hex(&sha256(state.as_bytes())), impact: once, rights })
}

type PartSteps = (&'static str, Vec<Step>);
type PartWords = (&'static str, Vec<String>, Vec<String>);

fn apart(planned: Vec<(&'static str, PlanContent)>) -> (Vec<PartSteps>, Vec<PartWords>) {
    let each = planned
        .into_iter()
        .map(|(name, content)| ((name, content.steps), (name, content.impact, content.rights)));
    each.unzip()
}

/// What of a change is about a part: of a join, all of it is about the group.
pub fn own_change(part: &Part, change: &Change) -> Option<Change> {
    match change.verb {
        Verb::Join => part.topology.is_group().then(|| change.clone()),
        _ => part.topology.own_change(change),
    }
}

/// An account that was named is on one of the servers; a part has only its own.
fn accounts_are_there(world: &mut World<'_>, change: &Change) -> Result<(), PlanError> {
    if !change.has(Noun::Accounts) {
        return Ok(());
    }
    for named in world.leave_accounts.clone().iter().chain(&world.force_accounts.clone()) {
        let mut is_there = false;
        for node in &mut world.nodes {
            is_there |= node.accounts().map_err(refuse)?.iter().any(|one| one.name == *named);
        }
        if !is_there {
            return Err(accounts::no_such_account(named, world.names().iter()));
        }
    }
    Ok(())
}

/// As above, whoever's part it is of.
fn forced_are_changed(world: &World<'_>, change: &Change, steps: &[Step]) -> Result<(), PlanError> {
    let changes = |account: &AccountName| {
        let mut params = steps.iter().filter_map(|step| crate::steps::params(step).ok());
        params.any(|params: AccountParams| params.account == *account)
    };
    match world.force_accounts.iter().find(|forced| change.has(Noun::Accounts) && !changes(forced)) {
        Some(forced) => Err(accounts::cannot_be_forced(forced)),
        None => Ok(()),
    }
}

/// Replicas of a node that is restarted lose their source for a while.
fn replicas_wait(world: &mut World<'_>, steps: &[Step]) -> Option<String> {
    let restarts = |step: &&Step| step.restarts_server && !step.no_op;
    let restarted: Vec<NodeName> =
        steps.iter().filter(restarts).flat_map(|step| step.nodes.clone()).collect();
    let specs: Vec<_> = world.nodes.iter().map(|node| node.spec().clone()).collect();
    let specs: Vec<_> = specs.iter().filter(|spec| restarted.contains(&spec.name)).collect();
    let groups: Vec<Part> = world.parts.iter().filter(|part| part.topology.is_group()).cloned().collect();
    let is_member = |name: &NodeName| groups.iter().any(|part| part.nodes.contains(name));
    let mut waiting = Vec::new();
    for node in world.nodes.iter_mut().filter(|node| !is_member(node.name())) {
        // Of who does not tell its channels the checks do.
        let channels = node.channels().unwrap_or_default();
        let is_of_member = |spec: &&&server::NodeSpec| {
            is_member(&spec.name) && channels.iter().any(|channel| is_source(spec, channel))
        };
        waiting.extend(
            specs.iter().find(is_of_member).map(|spec| format!("{} (of {})", node.name(), spec.name)),
        );
    }
    (!waiting.is_empty()).then(|| {
        format!(
            "replicas of a node that is restarted connect again within their MASTER_CONNECT_RETRY (60 s by default), and catch up: {}",
            waiting.join(", ")
        )
    })
}
