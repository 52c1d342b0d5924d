//! Taking encryption away changes one file of a server. The same options in another file, or in another group, would go on counting:
//! the change would stop half-way where it reads them back.

use model::{NodeName, Noun, Verb};
use server::SstOptions;
use server::options::{Effective, Setting, persisted};

use super::{Cause, Problem, Seen, problem, unreadable_options};
use crate::galera::OPTIONS;
use crate::plan_parts::requires_tls;
use crate::world::World;

const SST_GROUP: &str = "sst";

pub fn check(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    if seen.change.verb != Verb::Disable {
        return problems;
    }
    let topology = world.topology;
    for (name, view) in seen.up() {
        let Ok(node) = world.node(name) else { continue };
        let options = match SstOptions::of(node) {
            Ok(options) => options,
            Err(error) => {
                problems.push(unreadable_options(name, &error));
                continue;
            }
        };
        let Some(written_to) = topology.anchor(&options.server) else { continue };
        let mut keys = Vec::new();
        // One that offers TLS whatever it is told keeps its files.
        if seen.change.has(Noun::Clients) && !view.capabilities().live_tls_files {
            keys.extend(["ssl_ca", "ssl_cert", "ssl_key"]);
        }
        if requires_tls(seen.change) {
            keys.push("require_secure_transport");
        }
        if seen.change.has(Noun::Galera) {
            keys.push(OPTIONS);
        }
        problems.extend(left(name, &options.server, &keys, written_to, &written_to.group));
        if seen.change.has(Noun::Sst) {
            problems.extend(left(name, options.sst(), &["tkey", "tcert", "tca"], written_to, SST_GROUP));
        }
    }
    problems
}

/// The settings of `keys` that enable something and stand elsewhere than in `group` of the file that is written to.
fn left(
    name: &NodeName,
    effective: &Effective,
    keys: &[&str],
    written_to: &Setting,
    group: &str,
) -> Vec<Problem> {
    let of_keys = keys.iter().flat_map(|key| effective.history(key));
    of_keys
        .filter(|setting| enables(setting))
        .filter(|setting| {
            setting.file != written_to.file || !formats::optfile::groups_equal(&setting.group, group)
        })
        .map(|setting| Problem {
            cause: Cause::OfFiles,
            ..problem(
                name,
                format!("{} also stands where sealion does not take it away", setting.key_as_written),
                format!(
                    "{}:{} has it in [{}]; sealion changes [{group}] of {}",
                    setting.file.display(),
                    setting.line,
                    setting.group,
                    written_to.file.display()
                ),
                format!(
                    "move that line into [{group}] of {}, or remove it, then plan again",
                    written_to.file.display()
                ),
            )
        })
        .collect()
}

fn enables(setting: &Setting) -> bool {
    if setting.group == persisted::GROUP {
        return false;
    }
    let value = setting.value.as_deref().unwrap_or("");
    match &*setting.key {
        "require_secure_transport" => setting.is_on(),
        OPTIONS => value.contains("socket.ssl"),
        _ => !value.is_empty(),
    }
}
