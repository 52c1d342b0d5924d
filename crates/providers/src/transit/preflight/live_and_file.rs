//! What the server runs with is what its files say, and it is one of the states that we know.

use model::{Noun, Verb};
use server::{GaleraState, ProviderOptions};

use super::{Problem, Seen, problem};
use crate::transit::world::Transit;

pub fn check(transit: &mut Transit<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut letters = String::new();
    for (name, view) in seen.up() {
        if let GaleraState::Other(why) = view.galera_state() {
            problems.push(problem(
                name,
                "its Galera TLS options are mixed up",
                why,
                "remove every socket.ssl* and socket.dynamic from wsrep_provider_options on this node and restart it",
            ));
            continue;
        }
        letters.push(view.galera_state().letter());
        let Ok(node) = transit.node(name) else { continue };
        let effective = match node.effective() {
            Ok(effective) => effective,
            Err(error) => {
                problems.push(problem(
                    name,
                    "its option files cannot be read",
                    error.to_string(),
                    "mend the file, then try again",
                ));
                continue;
            }
        };
        for mistake in &effective.mistakes {
            problems.push(problem(
                name,
                "an option file has a mistake",
                mistake,
                "mend that line: what stands after it does not count, and what we would write there would not either",
            ));
        }
        let file = effective.effective("wsrep_provider_options");
        let text = file.and_then(|setting| setting.value.as_deref()).unwrap_or("");
        let place = file.map_or_else(
            || node.spec().defaults_file.display().to_string(),
            |setting| format!("{}:{}", setting.file.display(), setting.line),
        );
        let in_file = ProviderOptions::parse(text);
        let live = view.provider_options();
        let mut differ = in_file.differences(&live);
        let in_file_yes = in_file.get("socket.ssl").is_some() || in_file.get("socket.ssl_key").is_some();
        if !in_file_yes && view.galera_state() != GaleraState::Plain {
            differ.push("socket.ssl".into());
        }
        if !differ.is_empty() {
            problems.push(problem(
                name,
                "its option file and the running server do not agree on wsrep_provider_options",
                format!("{place}: {} differ(s) from what the server runs with", differ.join(", ")),
                "restart the node with its file as it is, or put the live value into the file; then plan again",
            ));
        }
    }
    if letters.contains('P')
        && letters.contains('S')
        && seen.change.has(Noun::Galera)
        && seen.change.verb != Verb::Rotate
    {
        problems.push(problem(
            "cluster",
            "plain and strict nodes stand beside each other",
            format!("the nodes are {letters}; a plain node that serves a strict one crashes"),
            "stop here: bring the strict ones to socket.dynamic=YES by hand, one at a time, then plan again",
        ));
    }
    problems
}
