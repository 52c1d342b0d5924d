//! What a person must know before a change is taken back: what is cleartext then, and who is let in no more. Read from the steps that are
//! taken back, since these know what was before them: a server may have offered TLS before the change, as MySQL does by itself.

use std::collections::BTreeMap;

use model::{Change, NodeName, Noun, Step, TlsProfile, Verb};
use server::accounts::AccountName;

use crate::accounts;
use crate::plan_parts::cleartext_after;
use crate::preflight::verifiers;
use crate::steps::client_trust::{CLIENT_TRUST, ClientTrustParams};
use crate::steps::{self, AccountParams, StepKind, params};
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
        lines.extend(demanding(world, &nodes));
    }
    lines.extend(shut_out(world, &bare, steps));
    lines.extend(without_certificates(world, &bare, steps));
    lines.extend(profiles_before(steps));
    lines
}

/// Accounts that demand a certificate of servers that go back to what they judged clients by before.
fn demanding(world: &mut World<'_>, nodes: &[NodeName]) -> Vec<String> {
    let mut lines: BTreeMap<String, Vec<NodeName>> = BTreeMap::new();
    for node in nodes {
        let line = match verifiers::demanding(world, node) {
            Ok(all) if all.is_empty() => continue,
            Ok(all) => format!(
                "accounts demand a certificate of the client, and those of the CA that is trusted now may be refused: {}",
                accounts::some_of(&all)
            ),
            Err(why) => {
                format!("whether accounts demand a certificate of the client cannot be determined ({why})")
            }
        };
        lines.entry(line).or_default().push(node.clone());
    }
    lines.into_iter().map(|(line, nodes)| format!("on {}, {line}", named(&nodes))).collect()
}

/// Accounts that require a client's certificate of servers that trust its CA no more.
fn without_certificates(world: &mut World<'_>, bare: &[NodeName], steps: &[&Step]) -> Vec<String> {
    let loses = |step: &&&Step| {
        let is_it = step.kind == CLIENT_TRUST.kind() && !step.no_op;
        let wish: Option<ClientTrustParams> = is_it.then(|| params(step).ok()).flatten();
        wish.is_some_and(|wish| wish.after.is_some_and(|ca| !ca.is_empty() && wish.before != Some(ca)))
    };
    let mut lines: BTreeMap<String, Vec<NodeName>> = BTreeMap::new();
    let nodes = steps.iter().filter(loses).filter_map(|step| step.nodes.first());
    for node in nodes.filter(|node| !bare.contains(node)) {
        let line = match accounts::that_require_a_certificate(world, node) {
            Ok(names) if names.is_empty() => continue,
            Ok(names) => format!(
                "accounts require a certificate, and those of the CA of clients are trusted no more: {}",
                accounts::some_of(&names)
            ),
            Err(why) => format!(
                "accounts that require a client's certificate cannot log in any more; which, cannot be told ({why})"
            ),
        };
        lines.entry(line).or_default().push(node.clone());
    }
    lines.into_iter().map(|(line, nodes)| format!("on {}, {line}", named(&nodes))).collect()
}

/// Servers that go back to a profile, which takes less than what they have now.
fn profiles_before(steps: &[&Step]) -> Vec<String> {
    let mut before: BTreeMap<TlsProfile, Vec<NodeName>> = BTreeMap::new();
    for step in steps.iter().filter(|step| !step.no_op) {
        let rules = steps::of(step).ok().and_then(|kind| kind.rules(step));
        if let (Some(rules), Some(node)) =
            (rules.filter(|rules| !rules.changes_nothing()), step.nodes.first())
            && let Some(profile) = rules.before.profile()
        {
            before.entry(profile).or_default().push(node.clone());
        }
    }
    let line = |(profile, nodes): (TlsProfile, Vec<NodeName>)| {
        format!(
            "afterwards, {} let clients in by the profile {profile} again ({}): who cannot use it is refused at its next connect, and nobody looks who that is",
            named(&nodes),
            profile.meaning()
        )
    };
    before.into_iter().map(line).collect()
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
