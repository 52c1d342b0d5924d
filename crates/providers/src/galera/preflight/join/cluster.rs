//! The members are one encrypted cluster that can take one more: all that sealion's CA has certified.

use model::NodeName;
use server::{GaleraFacts, GaleraState, SstOptions, SstTls};
use trust::Signer;

use super::{Problem, Seen, problem};
use crate::galera::preflight::flavour;
use crate::preflight::{clocks, not_answering, unreadable_options};
use crate::world::World;

pub fn check(world: &mut World<'_>, seen: &Seen<'_>, joiner: &NodeName) -> Vec<Problem> {
    let mut problems = Vec::new();
    let members = || seen.views.iter().filter(|(name, _)| name != joiner);
    for (name, view) in members() {
        if let Err(error) = view {
            problems.push(not_answering(name, error));
        }
    }
    let up: Vec<_> = seen.up().filter(|(name, _)| *name != joiner).collect();
    if up.is_empty() {
        problems.push(problem(
            "cluster",
            "there is no member to join",
            format!("no node of the inventory but {joiner} answers"),
            "start the cluster; its members stand in the inventory too",
        ));
        return problems;
    }
    for (name, view) in &up {
        if let Some(why) = view.not_galera() {
            problems.push(problem(
                name,
                "this server is not part of a Galera cluster",
                why,
                "name the nodes of a Galera cluster; a server joins nothing else",
            ));
        } else if !view.is_primary() {
            problems.push(problem(
                name,
                "the node is not in the primary component",
                format!("wsrep_cluster_status is {}", view.cluster_status()),
                "let the cluster come together first",
            ));
        } else if !view.is_synced() || !view.is_ready() {
            problems.push(problem(
                name,
                "the node is not Synced",
                format!(
                    "wsrep_local_state is {} ({})",
                    view.local_state(),
                    view.status("wsrep_local_state_comment").unwrap_or("?")
                ),
                "wait until the backup, SST or desync that is under way has ended",
            ));
        }
    }
    if !problems.is_empty() {
        return problems;
    }
    problems.extend(one_cluster(seen, joiner));
    let plain: Vec<String> = up
        .iter()
        .filter(|(_, view)| view.galera_state() != GaleraState::Strict)
        .map(|(name, view)| format!("{name} speaks {}", view.galera_state()))
        .collect();
    if !plain.is_empty() {
        problems.push(problem(
            "cluster",
            "its nodes do not all use TLS only among themselves",
            plain.join(", "),
            "sealion enable galera,sst,clients; then join",
        ));
        return problems;
    }
    for (name, view) in &up {
        let Ok(node) = world.node(name) else { continue };
        match SstOptions::of(node) {
            Err(error) => problems.push(unreadable_options(name, &error)),
            Ok(options) => match options.tls(view.sst_method()) {
                SstTls::On => {}
                SstTls::Off => problems.push(problem(
                    name,
                    "its state transfers (SST) are cleartext",
                    format!(
                        "its option files set no TLS for the script of wsrep_sst_method={}",
                        view.sst_method()
                    ),
                    "sealion enable sst; then join",
                )),
                SstTls::CannotTell(why) => problems.push(problem(
                    name,
                    "whether its state transfers (SST) use TLS cannot be determined",
                    why,
                    "fix that, then sealion enable sst; then join",
                )),
            },
        }
    }
    let methods: std::collections::BTreeSet<&str> = up.iter().map(|(_, view)| view.sst_method()).collect();
    if methods.len() > 1 {
        problems.push(problem(
            "cluster",
            "wsrep_sst_method differs between its nodes",
            methods.into_iter().collect::<Vec<_>>().join(", "),
            "set one method on all nodes, live and in the option files",
        ));
    }
    problems.extend(same_authority(world, &up.iter().map(|(name, _)| (*name).clone()).collect::<Vec<_>>()));
    problems.extend(flavour::check(world, seen));
    problems.extend(clocks::check(world, seen));
    problems
}

fn one_cluster(seen: &Seen<'_>, joiner: &NodeName) -> Option<Problem> {
    let up: Vec<_> = seen.up().filter(|(name, _)| *name != joiner).collect();
    let uuids: std::collections::BTreeSet<&str> = up.iter().map(|(_, view)| view.state_uuid()).collect();
    if uuids.len() > 1 {
        return Some(problem(
            "cluster",
            "the nodes are not one cluster",
            format!(
                "their wsrep_cluster_state_uuid are {}",
                uuids.into_iter().collect::<Vec<_>>().join(", ")
            ),
            "put the nodes of one cluster into one inventory",
        ));
    }
    // A joiner that is a member already counts as one of those that are known.
    let has_joined = crate::galera::join::is_member(joiner, &seen.views);
    let known = up.len() + usize::from(has_joined);
    let size = up.iter().map(|(_, view)| view.cluster_size()).max().unwrap_or(0);
    let arbitrators = up.iter().map(|(_, view)| view.arbitrators()).max().unwrap_or(0);
    (size != known + arbitrators).then(|| {
        problem(
            "cluster",
            format!("it has {size} members, and the inventory has {known} nodes that are members"),
            "what is not in the inventory is not looked at: whether it uses TLS, nobody knows",
            "put every member into the inventory, without `joining`",
        )
    })
}

/// What the members serve was signed by the CA that would sign the new one's certificate, or they would not let it in.
fn same_authority(world: &mut World<'_>, members: &[NodeName]) -> Vec<Problem> {
    let dir = world.authority.dir.clone();
    if !dir.join(trust::CA_CERT_FILE).exists() {
        return vec![problem(
            "ca",
            format!("there is no CA in {}", dir.display()),
            "the certificate of a new member must be of the CA that the members trust",
            "copy ca_dir from the machine on which sealion enable was run, or name it in the inventory",
        )];
    }
    // One that does not open is told by the check of the files.
    let Ok(ca) = Signer::open(&dir, &world.authority.passphrase) else { return vec![] };
    let now = world.unix_s();
    let mut problems = Vec::new();
    for name in members {
        let Ok(node) = world.node(name) else { continue };
        let pem = match node.galera_leaf() {
            Ok(pem) => pem,
            Err(error) => {
                problems.push(problem(
                    name,
                    "the certificate on its Galera port cannot be read",
                    error.unnamed(),
                    "see whether its Galera port can be reached from the machine of that node, then try again",
                ));
                continue;
            }
        };
        if let Err(error) = trust::chain_ok(pem.as_bytes(), ca.ca_pem().as_bytes(), now) {
            problems.push(problem(
                name,
                "its certificate is of another CA",
                format!("the CA in {} did not sign it: {error}", dir.display()),
                "name the ca_dir of this cluster in the inventory",
            ));
        }
    }
    problems
}
