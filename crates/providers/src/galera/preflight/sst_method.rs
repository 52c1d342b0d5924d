//! Only transfer methods whose script has a TLS switch.

use model::{Noun, Verb};

use server::GaleraFacts;

use super::{Problem, Seen, problem, unreadable_options};
use crate::world::World;

const KNOWN: [&str; 3] = ["rsync", "mariabackup", "rsync_wan"];

pub fn check(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    if seen.change.verb == Verb::Enable && seen.change.has(Noun::Clients) && !seen.change.has(Noun::Sst) {
        let mut problems = rsync_follows_clients(world, seen);
        problems.extend(transfers_follow_clients(world, seen));
        return problems;
    }
    if !seen.change.has(Noun::Sst) || seen.change.verb == Verb::Rotate {
        return vec![];
    }
    let mut problems = mixed(seen);
    let unknown = seen.up().filter(|(_, view)| !KNOWN.contains(&view.sst_method())).map(|(name, view)| {
        problem(
            name,
            format!("wsrep_sst_method={} has no TLS switch of its own", view.sst_method()),
            "its script takes its TLS from client sections, which sealion does not write",
            "SET GLOBAL wsrep_sst_method='mariabackup' (or rsync), here and in the option file",
        )
    });
    problems.extend(unknown);
    problems
}

/// A donor runs the script of the joiner's method, and reads its own `[sst]`, which is written for its own method: a joiner with
/// another one would ask for TLS that nobody offers, and end (seen on 10.11.19).
fn mixed(seen: &Seen<'_>) -> Vec<Problem> {
    let script = |method: &str| if method.starts_with("rsync") { "rsync" } else { method }.to_owned();
    let mut all = seen.up().map(|(name, view)| (name, script(view.sst_method())));
    let Some((first, method)) = all.next() else { return vec![] };
    all.filter(|(_, other)| *other != method)
        .map(|(name, other)| {
            problem(
                name,
                format!("wsrep_sst_method differs between nodes: {name} has {other}, {first} has {method}"),
                "a donor runs the joiner's method with the TLS settings of its own, so transfers between the two would fail",
                "set one method on all nodes, live and in the option files: SET GLOBAL wsrep_sst_method='mariabackup' (or rsync)",
            )
        })
        .collect()
}

/// A script without a CA of its own takes the server's ssl_ca: whoever has a client's certificate could be a donor or a joiner then.
/// Source: wsrep_sst_common of 10.11.19.
fn transfers_follow_clients(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let has_ca = trust::Clients::of(&world.authority.dir).ca_pem().is_ok_and(|ca| ca.is_some());
    if !has_ca {
        return vec![];
    }
    let mut problems = Vec::new();
    let advised = world.advised(seen.change, &[Noun::Sst]);
    for (name, _) in seen.up() {
        let Ok(node) = world.node(name) else { continue };
        match node.effective_sst() {
            Ok(sst) if sst.effective("tca").is_some() => {}
            Ok(_) => problems.push(problem(
                name,
                "certificates of clients would be taken for those of nodes in state transfers",
                "[sst] has no tca, so its script reads ssl_ca, which is to have the clients' CA",
                format!("sealion plan {advised}"),
            )),
            Err(error) => problems.push(unreadable_options(name, &error)),
        }
    }
    problems
}

/// rsync's script takes the server's own ssl_* when [sst] has no key. The first node that is restarted with them asks for
/// TLS, the others do not offer it, and it cannot join again, not even by IST, which the same script announces.
/// Source: wsrep_sst_rsync of 10.11.19; seen.
fn rsync_follows_clients(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let advised = world.advised(seen.change, &[Noun::Sst]);
    for (name, view) in seen.up().filter(|(_, view)| view.sst_method().starts_with("rsync")) {
        let Ok(node) = world.node(name) else { continue };
        let has_key = match node.effective_sst() {
            Ok(sst) => sst.effective("tkey").is_some(),
            Err(error) => {
                problems.push(unreadable_options(name, &error));
                continue;
            }
        };
        if !has_key && !view.offers_client_tls() {
            problems.push(problem(
                name,
                "TLS for clients alone would keep restarted nodes from joining again",
                "wsrep_sst_method is rsync, whose script begins to ask for TLS as soon as its server has ssl_*, while the \
                 others do not offer it yet",
                format!("sealion plan {advised}"),
            ));
        }
    }
    problems
}
