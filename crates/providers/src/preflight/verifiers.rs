//! Clients that judge a server by its certificate, or that it judges by theirs: a plan that replaces either says who is refused from then on,
//! and needs consent where that is not for the cluster's own CA to decide.

use std::collections::{BTreeMap, BTreeSet};

use model::{Change, NodeName, Noun, Plan, Step, Verb};
use server::accounts::CertificateAccount;
use server::{Channel, GaleraFacts};
use trust::TrustError;

use super::{Problem, problem};
use crate::accounts;
use crate::files::{self, CA_FILE, CLIENT_CA_FILE, PEM_BYTES_MAX};
use crate::replication::steps::channel::CHANNEL;
use crate::replication::{followers, strangers};
use crate::steps::trust::{TRUST, TrustParams};
use crate::steps::{self, StepKind, params};
use crate::world::World;

const CONSENT: &str = "--accept-shut-out";

/// Of which CA the certificate is that clients are served now.
#[derive(Debug, PartialEq, Eq)]
enum Served {
    /// Of the CA that signs the next one too: who verifies the one verifies the other.
    Same,
    /// MySQL has made it by itself, with a CA whose key it keeps: clients may have been given that CA all the same.
    MadeByItself {
        issuer: String,
    },
    Other {
        issuer: String,
    },
    CannotTell(String),
}

fn served(world: &mut World<'_>, name: &NodeName) -> Served {
    let pem = match world
        .node(name)
        .map_err(|error| error.0)
        .and_then(|node| node.client_leaf().map_err(|error| error.first_line()))
    {
        Ok(pem) => pem,
        Err(why) => return Served::CannotTell(why),
    };
    let leaf = match trust::inspect(pem.as_bytes()) {
        Ok(mut chain) => chain.swap_remove(0),
        Err(why) => return Served::CannotTell(why.to_string()),
    };
    let pem = with_intermediates(world, name, &leaf).unwrap_or_else(|| pem.into_bytes());
    let ca = world.authority.dir.join(trust::CA_CERT_FILE);
    let is_same = match std::fs::read(&ca) {
        // Whether it is still valid, and for what, is another question than of whom it is.
        Ok(ca) => matches!(
            trust::chain_ok(&pem, &ca, world.unix_s()),
            Ok(())
                | Err(TrustError::Expired { .. }
                    | TrustError::NotYetValid { .. }
                    | TrustError::WrongPurpose { .. })
        ),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
        Err(error) => return Served::CannotTell(format!("{}: {error}", ca.display())),
    };
    let issuer = leaf.issuer;
    if is_same {
        Served::Same
    } else if leaf.subject.contains("_Auto_Generated_Server_Certificate") {
        Served::MadeByItself { issuer }
    } else {
        Served::Other { issuer }
    }
}

/// The file of which this is the leaf, for the certificates behind it. `None`: it is not there, or is another one's by now.
fn with_intermediates(
    world: &mut World<'_>,
    name: &NodeName,
    leaf: &trust::CertificateInfo,
) -> Option<Vec<u8>> {
    let node = world.node(name).ok()?;
    let path = node.view().ok()?.variable("ssl_cert")?.to_owned();
    let pem = node.host().read(std::path::Path::new(&path), PEM_BYTES_MAX).ok()??;
    let is_its = trust::inspect(&pem).ok()?.first()?.sha256_fingerprint == leaf.sha256_fingerprint;
    is_its.then_some(pem)
}

/// Steps that give a server another certificate while it serves one.
fn replaces(world: &mut World<'_>, step: &Step) -> Option<NodeName> {
    let name = step.nodes.first()?;
    let kind = steps::of(step).ok()?;
    if let Some([before, after]) = kind.certificates(step) {
        return (before != after && !before.is_empty() && !after.is_empty()).then(|| name.clone());
    }
    // A new certificate at the same path, of the CA that there is now.
    let is_written = ["files", "rotate"].contains(&step.kind.as_str());
    let view = is_written.then(|| world.node(name).ok()?.view().ok())??;
    let path = world.node(name).ok()?.spec().tls_dir.join(files::CERT_FILE);
    (view.variable("ssl_cert") == Some(path.display().to_string().as_str())).then(|| name.clone())
}

/// Steps after which a server judges clients' certificates by another CA than somebody else's that it has now.
fn judges_by_another(world: &mut World<'_>, step: &Step) -> Option<(NodeName, String)> {
    let [before, after] = steps::of(step).ok()?.client_cas(step)?;
    let name = step.nodes.first()?;
    let tls_dir = world.node(name).ok()?.spec().tls_dir.clone();
    // From one of sealion's files to the other, the check of the clients' CA says what is lost.
    let is_ours =
        [CA_FILE, CLIENT_CA_FILE].iter().any(|file| tls_dir.join(file).display().to_string() == before);
    (!before.is_empty() && before != after && !is_ours).then(|| (name.clone(), before))
}

/// What an account demands, as CREATE USER has it.
fn demand(one: &CertificateAccount) -> String {
    let part =
        |word: &str, text: &str| (!text.is_empty()).then(|| format!("{word} '{}'", text.escape_default()));
    let parts: Vec<String> =
        [part("ISSUER", &one.issuer), part("SUBJECT", &one.subject)].into_iter().flatten().collect();
    let what = if parts.is_empty() { "X509".to_owned() } else { parts.join(" AND ") };
    format!("{} REQUIRE {what}", one.name)
}

/// Accounts of a server that demand a certificate, in words; nothing where there are none.
///
/// # Errors
/// Why that cannot be told.
pub fn demanding(world: &mut World<'_>, name: &NodeName) -> Result<Vec<String>, String> {
    let node = world.node(name).map_err(|error| error.0)?;
    let all = node.certificate_accounts().map_err(|error| error.first_line())?;
    Ok(all.iter().map(demand).collect())
}

/// What it says of the accounts of a server whose clients' certificates it takes no more, and whether there are any.
fn of_accounts(world: &mut World<'_>, name: &NodeName, told: &mut Vec<String>) -> bool {
    match demanding(world, name) {
        Ok(all) if all.is_empty() => false,
        Ok(all) => {
            told.push(format!(
                "{name}: accounts demand a certificate of the client, and those of the CA that {name} trusts now are refused: {}",
                accounts::some_of(&all)
            ));
            true
        }
        // It is told, and where the CA is somebody's own that needs consent anyway.
        Err(why) => {
            told.push(format!(
                "{name}: whether accounts demand a certificate of the client (REQUIRE X509, ISSUER, SUBJECT) cannot be determined ({why}); those that do \
                 are refused"
            ));
            false
        }
    }
}

/// Replicas are clients too.
fn of_replicas(world: &mut World<'_>, name: &NodeName, told: &mut Vec<String>) {
    let found = followers(world, name).and_then(|followers| strangers(world, name, &followers));
    match found {
        Ok(None) => {}
        Ok(Some(why)) => told.push(format!(
            "{name}: {why}; one that verifies its source (MASTER_SSL_VERIFY_SERVER_CERT, SOURCE_SSL_VERIFY_SERVER_CERT) is refused until it has the new CA"
        )),
        Err(error) => told.push(format!(
            "{name}: whether replicas that are not in the inventory verify its certificate cannot be determined ({})",
            error.0.lines().next().unwrap_or_default()
        )),
    }
}

/// Channels of the inventory that verify the source by a CA which the plan does not replace.
fn channels_left(world: &mut World<'_>, name: &NodeName, plan: &Plan) -> Vec<String> {
    let Ok(followers) = followers(world, name) else { return vec![] };
    let mut left = Vec::new();
    for follower in followers.iter().filter(|one| one.is_sure) {
        let channel: &Channel = &follower.channel;
        let verifies = channel.tls.is_on && (channel.tls.verifies || !channel.tls.ca.as_os_str().is_empty());
        let ours = world.node(&follower.node).map(|node| node.spec().tls_dir.join(CA_FILE));
        let is_ours = ours.is_ok_and(|ours| ours == channel.tls.ca);
        let is_changed = plan
            .steps
            .iter()
            .any(|step| step.kind == CHANNEL.kind() && !step.no_op && step.nodes.contains(&follower.node));
        if verifies && !is_ours && !is_changed {
            left.push(format!("{} by {channel} (with {})", follower.node, channel.tls.ca.display()));
        }
    }
    left
}

pub fn look(world: &mut World<'_>, plan: &Plan) -> (Vec<Problem>, Vec<String>) {
    let (mut problems, mut told) = (Vec::new(), Vec::new());
    if plan.change.verb == Verb::Rotate && plan.change.has(Noun::Ca) {
        next_ca(world, plan, &mut problems, &mut told);
        return (problems, told);
    }
    let mut at: BTreeMap<NodeName, String> = BTreeMap::new();
    let mut judges: BTreeMap<NodeName, String> = BTreeMap::new();
    for step in plan.steps.iter().filter(|step| !step.no_op) {
        if let Some(name) = replaces(world, step) {
            // The step that writes a file is before the one that reads it.
            at.insert(name, step.id.to_string());
        }
        judges.extend(judges_by_another(world, step));
    }
    for (name, before) in judges.into_iter().filter(|(name, _)| !at.contains_key(name)) {
        let mut lines = Vec::new();
        let demands = of_accounts(world, &name, &mut lines);
        if !lines.is_empty() {
            lines.insert(
                0,
                format!(
                    "{name} judges certificates of clients by {before} now, and by another file afterwards"
                ),
            );
        }
        needs_consent(world, &name, demands, &lines, &plan.change, &mut problems);
        told.extend(lines);
    }
    let ca = world.authority.dir.join(trust::CA_CERT_FILE).display().to_string();
    for (name, step) in at {
        let mut lines = Vec::new();
        let (issuer, is_own) = match served(world, &name) {
            Served::Same => continue,
            Served::MadeByItself { issuer } => (issuer, true),
            Served::Other { issuer } => (issuer, false),
            Served::CannotTell(why) => (format!("which cannot be determined ({why})"), false),
        };
        lines.push(format!(
            "{name} serves a certificate of another CA until {step} ({issuer}): clients that verify it are refused from then on (error 2026), unless they \
             have the new CA too ({ca})"
        ));
        let demands = of_accounts(world, &name, &mut lines);
        of_replicas(world, &name, &mut lines);
        let left = channels_left(world, &name, plan);
        if !left.is_empty() {
            problems.push(problem(
                &name,
                "a replica verifies its certificate by a CA that this change does not replace",
                format!("it would be refused: {}", left.join(", ")),
                format!("sealion plan {}", world.advised(&plan.change, &[Noun::Replication])),
            ));
        }
        // What MySQL has made by itself is rarely given to clients; an account that demands a certificate shows that it was.
        needs_consent(world, &name, !is_own || demands, &lines, &plan.change, &mut problems);
        told.extend(lines);
    }
    (problems, told)
}

fn needs_consent(
    world: &World<'_>,
    name: &NodeName,
    is_needed: bool,
    lines: &[String],
    change: &Change,
    problems: &mut Vec<Problem>,
) {
    if is_needed && !world.accept_shut_out {
        problems.push(problem(
            name,
            "clients may be refused from this change on, and nobody has confirmed that",
            lines.join("\n        "),
            format!(
                "give clients the new CA beside the one that they have, and certificates of a CA that the server will trust (sealion trust client); then \
                 confirm: sealion plan {change} {CONSENT}. Where the certificates of the present CA are to stay: sealion trust import"
            ),
        ));
    }
}

/// The cluster's CA goes: clients that show a certificate of it are refused. Where clients have a CA of their own, that one stays.
fn next_ca(world: &mut World<'_>, plan: &Plan, problems: &mut Vec<Problem>, told: &mut Vec<String>) {
    let drops = |step: &&Step| {
        step.kind == TRUST.kind() && !step.no_op && params(step).is_ok_and(|one: TrustParams| one.drops)
    };
    let names: BTreeSet<NodeName> =
        plan.steps.iter().filter(drops).filter_map(|step| step.nodes.first().cloned()).collect();
    let mut one_told = BTreeSet::new();
    for name in names {
        // An arbitrator has no clients.
        let Ok(view) = world.node(&name).and_then(|node| node.view().map_err(steps::fail)) else { continue };
        if !view.offers_client_tls() {
            continue;
        }
        of_replicas(world, &name, told);
        let all = demanding(world, &name);
        let has_own_ca = world.node(&name).ok().map(|node| files::client_ca(node));
        let has_own_ca = matches!(has_own_ca, Some(Ok(Some(pem))) if !pem.is_empty());
        let line = match &all {
            Ok(all) if all.is_empty() => continue,
            Ok(all) if has_own_ca => format!(
                "accounts demand a certificate of the client: {}; those of the CA of clients stay valid, those of the cluster's old CA are refused from R4 on",
                accounts::some_of(all)
            ),
            Ok(all) => format!(
                "accounts demand a certificate of the client, and those of the cluster's old CA are refused from R4 on: {}",
                accounts::some_of(all)
            ),
            Err(why) => format!(
                "whether accounts demand a certificate of the client (REQUIRE X509, ISSUER, SUBJECT) cannot be determined ({why}); certificates of the \
                 cluster's old CA are refused from R4 on"
            ),
        };
        // A cluster's nodes have the same accounts.
        let key = if view.is_galera() { line.clone() } else { format!("{name}: {line}") };
        if one_told.insert(key.clone()) {
            told.push(key);
        }
        let is_needed = matches!(&all, Ok(all) if !all.is_empty()) && !has_own_ca;
        needs_consent(world, &name, is_needed, &[line], &plan.change, problems);
    }
}

#[cfg(test)]
mod tests {
    use server::accounts::AccountName;

    use super::*;

    #[test]
    fn what_an_account_demands_is_told_as_create_user_has_it() {
        let account = |issuer: &str, subject: &str| CertificateAccount {
            name: AccountName { user: "cdc".into(), host: "%".into() },
            subject: subject.into(),
            issuer: issuer.into(),
        };
        assert_eq!(demand(&account("", "")), "'cdc'@'%' REQUIRE X509");
        assert_eq!(demand(&account("/CN=a", "")), "'cdc'@'%' REQUIRE ISSUER '/CN=a'");
        assert_eq!(
            demand(&account("/CN=a", "/CN=b")),
            "'cdc'@'%' REQUIRE ISSUER '/CN=a' AND SUBJECT '/CN=b'"
        );
    }
}
