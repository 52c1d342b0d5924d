//! What a person must know before a change is taken back: what is cleartext then, and who is let in no more. Read from the steps that are
//! taken back, since these know what was before them: a server may have offered TLS before the change, as MySQL does by itself.

use std::collections::BTreeMap;

use model::{Change, NodeName, Noun, Step, Verb};
use server::accounts::AccountName;

use crate::accounts;
use crate::plan_parts::cleartext_after;
use crate::steps::{self, AccountParams, params};
use crate::world::World;

/// `steps`: those of `change` that are taken back, in the order of the plan.
pub fn undo_warnings(world: &mut World<'_>, change: &Change, steps: &[&Step]) -> Vec<String> {
    let mut lines = Vec::new();
    if steps.iter().any(|step| passes_dynamic(step)) {
        lines.push(
            "until the undo has ended, a link between nodes may be cleartext or TLS (socket.dynamic)".into(),
        );
    }
    if change.verb == Verb::Enable {
        // Of clients the steps say more.
        let others = change.nouns.iter().copied().filter(|noun| *noun != Noun::Clients);
        let unless = |line: String| format!("{line} (unless it was otherwise before that change)");
        lines.extend(cleartext_after(&Change::new(Verb::Disable, others)).into_iter().map(unless));
    }
    let mut bare: Vec<NodeName> = Vec::new();
    let mut other: BTreeMap<String, Vec<NodeName>> = BTreeMap::new();
    for (node, before) in certificates_before(steps) {
        if before.is_empty() {
            bare.push(node);
        } else {
            other.entry(before).or_default().push(node);
        }
    }
    if !bare.is_empty() {
        lines.push(format!(
            "afterwards, {} offer no TLS: clients that require it cannot connect, all others use cleartext",
            named(&bare)
        ));
    }
    for (file, nodes) in other {
        lines.push(format!(
            "afterwards, {} serve the certificate of before that change again ({file}): clients that verify with the CA of now cannot connect",
            named(&nodes)
        ));
    }
    lines.extend(shut_out(world, &bare, steps));
    lines
}

fn named(nodes: &[NodeName]) -> String {
    let mut names: Vec<&str> = nodes.iter().map(NodeName::as_str).collect();
    names.sort_unstable();
    names.join(", ")
}

fn passes_dynamic(step: &Step) -> bool {
    !step.no_op && steps::of(step).is_ok_and(|kind| kind.is_mixed(step))
}

/// The certificate that each server goes back to, where it is another one than now; empty: none.
fn certificates_before(steps: &[&Step]) -> Vec<(NodeName, String)> {
    let mut all: Vec<(NodeName, String, String)> = Vec::new();
    for step in steps {
        let Some(node) = step.nodes.first() else { continue };
        let Some([before, after]) = steps::of(step).ok().and_then(|kind| kind.certificates(step)) else {
            continue;
        };
        match all.iter_mut().find(|(known, ..)| known == node) {
            Some(known) => known.2 = after,
            None => all.push((node.clone(), before, after)),
        }
    }
    all.into_iter()
        .filter(|(_, before, after)| before != after)
        .map(|(node, before, _)| (node, before))
        .collect()
}

/// Accounts that require TLS of servers that offer none any more; those that the undo itself changes back are none.
fn shut_out(world: &mut World<'_>, nodes: &[NodeName], steps: &[&Step]) -> Vec<String> {
    let of_step = |step: &&Step| -> Option<AccountName> {
        let account: AccountParams = (step.kind == "account").then(|| params(step).ok())??;
        account.requires_after.then_some(account.account)
    };
    let changed_back: Vec<AccountName> = steps.iter().filter_map(of_step).collect();
    let mut lines: BTreeMap<String, Vec<NodeName>> = BTreeMap::new();
    for node in nodes {
        let line = match accounts::that_require_tls(world, node, &|one| changed_back.contains(&one.name)) {
            Ok(names) if names.is_empty() => continue,
            Ok(names) => {
                format!("accounts require TLS and cannot log in any more: {}", accounts::some_of(&names))
            }
            Err(why) => {
                format!("accounts that require TLS cannot log in any more; which, cannot be told ({why})")
            }
        };
        lines.entry(line).or_default().push(node.clone());
    }
    lines.into_iter().map(|(line, nodes)| format!("on {}, {line}", named(&nodes))).collect()
}
