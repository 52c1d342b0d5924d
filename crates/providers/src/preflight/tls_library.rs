//! The TLS library of each server and arbitrator that runs: a change makes the cluster depend on it. A fault that is known refuses the
//! change; what cannot be told is told with the plan, and refuses nothing.

use std::collections::BTreeMap;

use host::ProcessFacts;
use model::NodeName;
use server::ReadMember;
use server::tls_library::{self, Place, TlsLibrary, Verdict};

use super::{Problem, Seen, problem};
use crate::world::World;

/// What each member has, or why nobody can say.
pub type Libraries = Vec<(NodeName, Result<Vec<TlsLibrary>, String>)>;

pub fn check(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let said: BTreeMap<NodeName, Option<String>> =
        seen.up().map(|(name, view)| (name.clone(), tls_library::told_by(view).map(str::to_owned))).collect();
    let libraries = look(world, &said);
    let accepts = world.skip_openssl_check;
    let mut problems = Vec::new();
    for (name, found) in libraries.iter().filter_map(|(name, found)| Some((name, found.as_ref().ok()?))) {
        for library in found.iter().filter(|_| !accepts) {
            if let Verdict::Faulty(faults) = &library.verdict {
                let all: Vec<String> = faults.iter().map(ToString::to_string).collect();
                problems.push(problem(
                    name,
                    format!("its TLS library has a known fault: {library}"),
                    all.join("; "),
                    "upgrade it and restart the server, then plan again; or accept that: --skip-openssl-check",
                ));
            }
        }
    }
    world.recent.tls_libraries = libraries;
    problems
}

/// Of every member that runs. Those that are down have other problems.
fn look(world: &mut World<'_>, said: &BTreeMap<NodeName, Option<String>>) -> Libraries {
    let mut libraries = Libraries::new();
    for node in &mut world.nodes {
        let name = node.name().clone();
        if let Some(said) = said.get(&name) {
            let found = of_process(node.process(), &**node, said.as_deref());
            libraries.push((name, found));
        }
    }
    for arbitrator in &mut world.arbitrators {
        let process = arbitrator.process();
        libraries.push((arbitrator.name().clone(), of_process(process, &**arbitrator, None)));
    }
    libraries
}

fn of_process<M: ReadMember + ?Sized>(
    process: Option<ProcessFacts>,
    member: &M,
    said: Option<&str>,
) -> Result<Vec<TlsLibrary>, String> {
    match process {
        Some(process) => Ok(tls_library::look(member.host(), &process, said)),
        None => Err("its process cannot be seen".into()),
    }
}

/// A line for members that have the same, for the plan.
pub fn told(world: &World<'_>) -> Vec<String> {
    let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, found) in &world.recent.tls_libraries {
        let texts = match found {
            Ok(found) => found.iter().map(|library| line(library, world.skip_openssl_check)).collect(),
            Err(why) => vec![format!("which TLS library it has cannot be determined: {why}")],
        };
        for text in texts {
            match lines.iter_mut().find(|(known, _)| *known == text) {
                Some((_, names)) => names.push(name.as_str()),
                None => lines.push((text, vec![name.as_str()])),
            }
        }
    }
    lines.into_iter().map(|(text, names)| format!("{}: {text}", names.join(", "))).collect()
}

/// Members differ in it, and in nothing that matters.
fn without_pid(why: &str) -> String {
    let Some((before, rest)) = why.split_once("/proc/") else { return why.to_owned() };
    let rest = rest.trim_start_matches(|one: char| one.is_ascii_digit());
    if rest.starts_with('/') { format!("{before}/proc/PID{rest}") } else { why.to_owned() }
}

fn line(library: &TlsLibrary, is_accepted: bool) -> String {
    let place = match &library.place {
        Place::Unknown(why) => format!("; from which file cannot be seen ({})", without_pid(why)),
        _ => String::new(),
    };
    match &library.verdict {
        Verdict::NoneKnown => format!("{library}: no known fault{place}"),
        Verdict::Fixed { faults, package } => format!(
            "{library}: {package} has fixed {}",
            faults.iter().map(|fault| fault.cve).collect::<Vec<_>>().join(", ")
        ),
        Verdict::Faulty(faults) => format!(
            "{library} has known faults{}: {}",
            if is_accepted { ", accepted by --skip-openssl-check" } else { "" },
            faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        ),
        Verdict::CannotTell(why) => {
            format!("{library}: whether it has a known fault cannot be determined: {why}")
        }
    }
}
