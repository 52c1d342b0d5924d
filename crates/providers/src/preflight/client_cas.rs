//! The CA of clients must open, and must judge nobody but clients; where servers know it, it must be known what to keep.

use model::{Noun, Verb};
use server::{GaleraFacts, NodeView, WriteMember};
use trust::{Clients, bundle};

use super::{Problem, Seen, problem};
use crate::accounts;
use crate::files::{self, CA_FILE, CLIENT_CA_FILE, PEM_BYTES_MAX};
use crate::world::World;

pub fn check(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    match seen.change.verb {
        Verb::Enable if seen.change.has(Noun::Clients) => comes(world, seen),
        Verb::Rotate => stays(world, seen),
        _ => vec![],
    }
}

fn comes(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let clients = Clients::of(&world.authority.dir);
    let dir = clients.dir().display().to_string();
    let ours = match clients.ca_pem() {
        Ok(None) => return shuts_out(world, seen, &[]),
        Ok(Some(pem)) => clients.open(&world.authority.passphrase).and_then(|_| {
            let ca = trust::inspect(pem.as_bytes())?.swap_remove(0);
            Ok((bundle::fingerprints(pem.as_bytes())?, ca.not_after_unix))
        }),
        Err(error) => Err(error),
    };
    let (prints, ends_unix_s) = match ours {
        Ok(ours) => ours,
        Err(error) => {
            return vec![problem(
                "ca",
                format!("the CA of clients in {dir} cannot be used"),
                error.to_string(),
                "put it back, or move that directory away: servers then trust no CA of clients",
            )];
        }
    };
    if ends_unix_s <= world.unix_s() {
        return vec![problem(
            "ca",
            format!("the CA of clients in {dir} has expired"),
            "no server takes a certificate of it any more",
            "move that directory away, then sealion trust client makes another CA",
        )];
    }
    let mut problems = shuts_out(world, seen, &prints);
    for arbitrator in &world.arbitrators {
        problems.extend(judges_members(
            arbitrator.as_ref(),
            &prints,
            "an arbitrator lets in as a member whoever has a certificate of a CA in that file",
            "take it out there, restart the arbitrator, then the same command again",
        ));
    }
    for (name, view) in seen.up() {
        if !view.is_galera() {
            continue;
        }
        let Ok(node) = world.node(name) else { continue };
        problems.extend(judges_members(
            node,
            &prints,
            "a Galera node lets in as a member whoever has a certificate of a CA in that file",
            "take it out there, then sealion rotate ca: the running node has loaded it",
        ));
    }
    problems
}

/// The CA of clients among those by which a member judges others. What cannot be read or is no list of CAs is told by the check of these
/// files.
fn judges_members(member: &dyn WriteMember, prints: &[String], why: &str, next: &str) -> Option<Problem> {
    let path = member.spec().tls_dir.join(CA_FILE);
    let there = bundle::fingerprints(&member.host().read(&path, PEM_BYTES_MAX).ok()??).ok()?;
    let is_there = prints.iter().any(|one| there.contains(one));
    is_there.then(|| problem(member.name(), format!("the CA of clients is in {}", path.display()), why, next))
}

/// The CAs that a server judges clients by, and members not. By the files themselves: a note may be gone.
fn of_clients_now(member: &dyn WriteMember) -> Result<Vec<String>, String> {
    let read = |file: &str| {
        let path = member.spec().tls_dir.join(file);
        let pem = member.host().read(&path, PEM_BYTES_MAX).map_err(|error| error.to_string())?;
        let pem = pem.ok_or_else(|| format!("{} is not there", path.display()))?;
        bundle::fingerprints(&pem).map_err(|error| format!("{}: {error}", path.display()))
    };
    let of_members = read(CA_FILE)?;
    Ok(read(CLIENT_CA_FILE)?.into_iter().filter(|one| !of_members.contains(one)).collect())
}

/// Whether it judges clients by a file that has more than the cluster's CA.
fn names_client_cas(view: &NodeView, member: &dyn WriteMember) -> bool {
    let ours = member.spec().tls_dir.join(CLIENT_CA_FILE);
    view.variable("ssl_ca") == Some(ours.display().to_string().as_str())
}

/// Servers that trust another CA of clients than comes: whoever has a certificate of it is refused, whatever its account says.
fn shuts_out(world: &mut World<'_>, seen: &Seen<'_>, comes: &[String]) -> Vec<Problem> {
    let mut problems = Vec::new();
    if world.accept_shut_out {
        return problems;
    }
    for (name, view) in seen.up() {
        let Ok(node) = world.node(name) else { continue };
        if !names_client_cas(view, node) {
            continue;
        }
        let what = match of_clients_now(node) {
            Ok(now) if now.iter().all(|one| comes.contains(one)) => continue,
            Ok(_) => {
                "it would no longer trust the CA of clients that it trusts now, and refuse whoever has a certificate of it".to_owned()
            }
            Err(why) => format!("which CA of clients it trusts now, and would no longer trust, cannot be told ({why})"),
        };
        let why = match accounts::that_require_a_certificate(world, name) {
            Ok(names) if names.is_empty() => continue,
            Ok(names) => format!("these accounts require a certificate: {}", accounts::some_of(&names)),
            Err(why) => format!("whether accounts require a certificate cannot be told: {why}"),
        };
        problems.push(problem(
            name,
            what,
            why,
            "put the directory clients back into ca_dir; or, if their certificates are to be refused, --accept-shut-out",
        ));
    }
    problems
}

/// A server that judges clients by a file that nobody would write again.
fn stays(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, view) in seen.up() {
        let Ok(node) = world.node(name) else { continue };
        if !names_client_cas(view, node) {
            continue;
        }
        let ours = node.spec().tls_dir.join(CLIENT_CA_FILE).display().to_string();
        let why = match files::client_ca(node) {
            Ok(Some(_)) => continue,
            Ok(None) => format!("{} is not there", node.spec().state_dir.join(CLIENT_CA_FILE).display()),
            Err(error) => error.0,
        };
        problems.push(problem(
            name,
            format!("it is not known which CA of clients {ours} has beside the cluster's"),
            why,
            "sealion enable clients writes it again",
        ));
    }
    problems
}
