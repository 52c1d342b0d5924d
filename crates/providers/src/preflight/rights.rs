//! What the account of the inventory lacks for a plan: found before its first step, not in the middle of it. Who only plans needs less, and is
//! told.

use model::{Noun, Plan};
use server::rights::{CANARIES, RightsSet, Use};
use server::{NodeError, NodeView};

use super::{Problem, problem};
use crate::topology::{Role, TOPOLOGIES};
use crate::world::World;

/// What speaks against the plan, and what its reader is told.
pub fn look(world: &mut World<'_>, plan: &Plan) -> (Vec<Problem>, Vec<String>) {
    let (mut problems, mut told) = (Vec::new(), Vec::new());
    let is_to_do = |step: &&model::Step| !step.no_op;
    if !plan.steps.iter().filter(is_to_do).any(|step| !step.only_looks) {
        return (problems, told);
    }
    let proves = plan.steps.iter().filter(is_to_do).any(|step| step.kind == "prove");
    let (joiner, may_lack) = (world.joiner.clone(), world.may_lack_rights);
    for node in &mut world.nodes {
        let name = node.name().clone();
        if Some(&name) == joiner.as_ref() {
            // It does not run yet, and gets the members' accounts.
            continue;
        }
        let lacking = node.view().and_then(|view| {
            let own = node.own_grants()?;
            let lacking = wanted(plan, &view, proves).lacking(&own, &view.capabilities());
            Ok((own.account, lacking))
        });
        match lacking {
            Ok((_, lacking)) if lacking.is_empty() => {}
            Ok((account, lacking)) => {
                let (user, host) = account.rsplit_once('@').unwrap_or((&account, "%"));
                let account = model::account::quoted(user, host);
                let statements: Vec<String> =
                    lacking.grants().iter().map(|grant| format!("GRANT {grant} TO {account};")).collect();
                let listed = lacking.grants().join("; ");
                if may_lack {
                    told.push(format!(
                        "{name}: {account} may not do this change, which is refused until it may: {}",
                        statements.join(" ")
                    ));
                } else {
                    problems.push(problem(
                        name,
                        format!("{account} lacks privileges that this change needs"),
                        format!("SHOW GRANTS does not list {listed}"),
                        format!(
                            "as an administrator: {}\n        (all that a change needs: sealion grants {})",
                            statements.join("\n                             "),
                            plan.change.verb
                        ),
                    ));
                }
            }
            // The checks have said so.
            Err(NodeError::Down { .. }) => {}
            Err(error) => told.push(format!(
                "{name}: whether its account has all privileges that this change needs cannot be determined: {}",
                error.unnamed().lines().next().unwrap_or_default()
            )),
        }
    }
    (problems, told)
}

fn wanted(plan: &Plan, view: &NodeView, proves: bool) -> RightsSet {
    let is_member = TOPOLOGIES.iter().any(|known| known.role(view) == Ok(Role::GroupMember));
    let of_nodes = if is_member { Use::ChangeGalera } else { Use::ChangeReplication };
    let accounts = plan.change.has(Noun::Accounts).then_some(Use::ChangeAccounts);
    let profile = plan.change.profile.map(|_| Use::SeeHandshakes);
    let uses: Vec<Use> = [Some(of_nodes), accounts, profile].into_iter().flatten().collect();
    let uses = if plan.change.is_at_rest() { vec![Use::ChangeAtRest] } else { uses };
    let wanted = RightsSet::of(&uses, view.capabilities().flavour).unwrap_or_default();
    if proves { wanted } else { wanted.without(CANARIES) }
}
