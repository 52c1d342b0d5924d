//! The CA of clients must open, and must judge nobody but clients; where servers know it, it must be known what to keep.

use model::{Noun, Verb};
use server::GaleraFacts;
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
        let path = arbitrator.spec().tls_dir.join(CA_FILE);
        let there = arbitrator.host().read(&path, PEM_BYTES_MAX).ok().flatten();
        let there = there.and_then(|pem| bundle::fingerprints(&pem).ok()).unwrap_or_default();
        if prints.iter().any(|one| there.contains(one)) {
            problems.push(problem(
                arbitrator.name(),
                format!("the CA of clients is in {}", path.display()),
                "an arbitrator lets in as a member whoever has a certificate of a CA in that file",
                "take it out there, restart the arbitrator, then the same command again",
            ));
        }
    }
    for (name, view) in seen.up() {
        // Source: MySQL manual, "Securing Group Communication Connections with Secure Socket Layer": XCom takes the server's ssl_ca.
        if view.variable("group_replication_group_name").is_some_and(|group| !group.is_empty()) {
            problems.push(problem(
                name,
                "it is of a group of Group Replication, whose members are judged by ssl_ca",
                "whoever has a client's certificate would be judged as one of them",
                "leave the CA of clients out: move its directory away, then plan again",
            ));
        }
        if !view.is_galera() {
            continue;
        }
        let Ok(node) = world.node(name) else { continue };
        let path = node.spec().tls_dir.join(CA_FILE);
        // What cannot be read or is no list of CAs is told by the check of these files.
        let Ok(Some(there)) = node.host().read(&path, PEM_BYTES_MAX) else { continue };
        let Ok(there) = bundle::fingerprints(&there) else { continue };
        if prints.iter().any(|one| there.contains(one)) {
            problems.push(problem(
                name,
                format!("the CA of clients is in {}", path.display()),
                "a Galera node lets in as a member whoever has a certificate of a CA in that file",
                "take it out there, then sealion rotate ca: the running node has loaded it",
            ));
        }
    }
    problems
}

/// Servers that trust another CA of clients than comes: whoever has a certificate of it is refused, whatever its account says.
fn shuts_out(world: &mut World<'_>, seen: &Seen<'_>, comes: &[String]) -> Vec<Problem> {
    let mut problems = Vec::new();
    if world.accept_shut_out {
        return problems;
    }
    for (name, _) in seen.up() {
        let Ok(node) = world.node(name) else { continue };
        let Ok(Some(noted)) = files::client_ca(node) else { continue };
        let loses = bundle::fingerprints(&noted).is_ok_and(|now| now.iter().any(|one| !comes.contains(one)));
        if !loses {
            continue;
        }
        let why = match accounts::that_require_a_certificate(world, name) {
            Ok(names) if names.is_empty() => continue,
            Ok(names) => format!("these accounts require a certificate: {}", accounts::some_of(&names)),
            Err(why) => format!("whether accounts require a certificate cannot be told: {why}"),
        };
        problems.push(problem(
            name,
            "it would no longer trust the CA of clients that it trusts now, and refuse whoever has a certificate of it",
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
        let ours = node.spec().tls_dir.join(CLIENT_CA_FILE).display().to_string();
        if view.variable("ssl_ca") != Some(ours.as_str()) {
            continue;
        }
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
