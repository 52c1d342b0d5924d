//! From a wish and the nodes as they are now to ordered steps. Which steps, the topology says.

use model::{Change, NodeName, Plan, Step, StepId, StepNature};
use thiserror::Error;

use crate::estate;
use crate::inventory_state;
use crate::needs;
use crate::preflight::{
    Problem, address, managed, preflight, proxy_names, rights, services, set_live, tls_library, verifiers,
};
use crate::proxies;
use crate::rest;
use crate::world::{Part, World};

#[derive(Debug, Error)]
pub enum PlanError {
    #[error("{0}")]
    Refused(String),
}

pub fn refuse(text: impl std::fmt::Display) -> PlanError {
    PlanError::Refused(text.to_string())
}

/// What a topology plans.
pub struct PlanContent {
    pub steps: Vec<Step>,
    /// SHA-256 over what the plan was made for, without what changes by itself.
    pub state_hash: String,
    /// What the users of the servers will notice.
    pub impact: Vec<String>,
    pub rights: Vec<String>,
}

/// Steps in their order, while they are planned.
#[derive(Default)]
pub struct Builder {
    pub steps: Vec<Step>,
}

impl Builder {
    pub fn add(
        &mut self,
        id: String,
        kind: &str,
        title: String,
        nodes: Vec<NodeName>,
        params: impl serde::Serialize,
    ) -> &mut Step {
        self.steps.push(Step {
            id: StepId(id),
            kind: kind.into(),
            title,
            nodes,
            restarts_server: false,
            no_op: false,
            nature: StepNature::default(),
            part: None,
            only_looks: crate::steps::named(kind)
                .unwrap_or_else(|| panic!("a step of the kind \"{kind}\" is planned, which is not in STEPS"))
                .only_looks(),
            shell: vec![],
            sql: vec![],
            diff: vec![],
            params: serde_json::to_value(params).expect("parameters have only plain fields"),
        });
        self.steps.last_mut().expect("it was just pushed")
    }
}

/// Plans `change` for the nodes as they are now. Run [`crate::preflight()`] first: it lists every problem, this stops at
/// the first.
///
/// # Errors
/// There is no way there from the state as it is.
pub fn plan(world: &mut World<'_>, change: &Change, sealion_version: &str) -> Result<Plan, PlanError> {
    let topology = world.topology;
    estate::divide(world);
    world.recent.wish = Some(change.clone());
    let content =
        if change.is_at_rest() { rest::plan(world, change)? } else { topology.plan(world, change)? };
    let made_unix_ms = world.clock.unix_ms();
    let mut impact = content.impact;
    if content.steps.iter().any(|step| !step.no_op && !step.only_looks) {
        impact.extend(managed::told(world));
        impact.extend(tls_library::told(world));
    }
    let inventory = inventory_state::of(world);
    Ok(Plan {
        id: plan_id(made_unix_ms, change),
        sequence: 0,
        change: change.clone(),
        cluster: world.cluster.clone(),
        topology: topology.name().into(),
        parts: world.parts.iter().map(Part::planned).collect(),
        made_unix_ms,
        sealion_version: sealion_version.into(),
        state_hash: inventory_state::with_state(&content.state_hash, &inventory),
        inventory,
        impact,
        rights: content.rights,
        steps: content.steps,
    })
}

/// Everything that stands against `change`, all at once: what the checks say, and what the steps of its plan need and would not
/// find. And the plan, where one can be made.
pub fn propose(
    world: &mut World<'_>,
    change: &Change,
    sealion_version: &str,
) -> (Vec<Problem>, Result<Plan, PlanError>) {
    estate::divide(world);
    let mut problems = preflight(world, change);
    let mut planned = plan(world, change, sealion_version);
    if let Ok(plan) = &mut planned {
        managed::advise(&mut problems, plan);
        let to_do = || plan.steps.iter().filter(|step| !step.no_op);
        problems.extend(needs::lacking(world, to_do()));
        problems.extend(needs::unseen(world, to_do()));
        problems.extend(proxies::problems(world, plan));
        let of_topologies = world.in_each_part(|world| world.topology.look(world, plan));
        for (found, told) in of_topologies {
            problems.extend(found);
            plan.impact.extend(told);
        }
        for look in
            [set_live::look, rights::look, services::look, address::look, proxy_names::look, verifiers::look]
        {
            let (found, told) = look(world, plan);
            problems.extend(found);
            plan.impact.extend(told);
        }
    }
    (problems, planned)
}

fn plan_id(unix_ms: u64, change: &Change) -> String {
    let time = model::clock::rfc3339(unix_ms).replace([':', '-', '.'], "");
    format!("{}-{}", time.trim_end_matches('Z'), change.verb)
}
