//! Taking encryption away changes one file of a server. The same options in another file, or in another group, would go on counting:
//! the change would stop half-way where it reads them back.

use model::{NodeName, Noun, Verb};
use server::options::{Effective, Setting, persisted};
use server::{Flavour, GaleraFacts, OWN_FILES, SstOptions, TlsRules};

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
            problems.extend(switches_on(name, &options.server, written_to, view.capabilities().flavour));
        }
        if requires_tls(seen.change) {
            keys.push("require_secure_transport");
        }
        if seen.change.has(Noun::Galera) {
            keys.push(OPTIONS);
        }
        problems.extend(left(name, &options.server, &keys, written_to, &written_to.group));
        if !view.is_galera() {
            continue;
        }
        let method = view.sst_method();
        if seen.change.has(Noun::Sst) {
            problems.extend(left(name, options.sst(), &["tkey", "tcert", "tca"], written_to, SST_GROUP));
            problems.extend(other_files_of_transfers(name, &options, method));
        }
        problems.extend(transfers_by_files_of_server(name, seen, &options, method));
    }
    problems
}

/// Of MariaDB each of these switches TLS on by itself, and a server with TLS and without a certificate does not start.
///
/// # Source
/// Seen: mariadbd 10.11.19 with `ssl_cipher` or `ssl_capath` alone ends with "Private key does not match the certificate public key".
const SWITCH_ON: [&str; 4] = ["ssl_cipher", "ssl_capath", "ssl_crl", "ssl_crlpath"];

fn switches_on(name: &NodeName, server: &Effective, written_to: &Setting, flavour: Flavour) -> Vec<Problem> {
    let of_keys = SWITCH_ON.iter().flat_map(|key| server.history(key));
    let is_of_profile = |setting: &Setting| {
        let value = setting.value.as_deref().unwrap_or("");
        is_there(setting, written_to, &written_to.group)
            && TlsRules::is_of_a_profile(flavour, &setting.key, value)
    };
    let named = of_keys.filter(|setting| {
        setting.value.as_ref().is_some_and(|value| !value.is_empty()) && !is_of_profile(setting)
    });
    let on = server.history("ssl").into_iter().filter(|setting| setting.is_on());
    named
        .chain(on)
        .map(|setting| Problem {
            cause: Cause::OfFiles,
            ..problem(
                name,
                format!(
                    "{} would keep the server from starting without a certificate",
                    setting.key_as_written
                ),
                format!(
                    "{}:{} switches TLS on, whatever else is taken away",
                    setting.file.display(),
                    setting.line
                ),
                "remove that line, then plan again",
            )
        })
        .collect()
}

/// What would be left names key files that are removed at the end, and a script that does not find them ends every transfer.
fn other_files_of_transfers(name: &NodeName, options: &SstOptions, method: &str) -> Vec<Problem> {
    let is_ours = |setting: &Setting| ["tkey", "tcert", "tca"].contains(&&*setting.key);
    options
        .of_scripts(method)
        .filter(|setting| OWN_FILES.contains(&&*setting.key))
        .filter(|setting| setting.value.as_ref().is_some_and(|value| !value.is_empty()))
        .filter(|setting| !(is_ours(setting) && formats::optfile::groups_equal(&setting.group, SST_GROUP)))
        .map(|setting| Problem {
            cause: Cause::OfFiles,
            ..problem(
                name,
                format!("[{}] has {} for state transfers, which sealion did not write", setting.group, setting.key_as_written),
                format!("{}:{} says so, and it would be left", setting.file.display(), setting.line),
                "remove that line on every node at once (transfers fail while nodes differ), or write it as tkey, tcert or tca; then plan again",
            )
        })
        .collect()
}

/// Scripts without files of their own take those of the server's client port.
fn transfers_by_files_of_server(
    name: &NodeName,
    seen: &Seen<'_>,
    options: &SstOptions,
    method: &str,
) -> Option<Problem> {
    let (sst, clients) = (seen.change.has(Noun::Sst), seen.change.has(Noun::Clients));
    if sst && !clients && options.would_use_those_of_server(method) {
        return Some(problem(
            name,
            "its state transfers would go on with TLS, by the files of the client port",
            format!(
                "without files in [{SST_GROUP}] the script of wsrep_sst_method={method} takes ssl_cert, ssl_key and ssl_ca of the server, and with them \
                 everybody whom its client port trusts"
            ),
            "sealion plan disable sst,clients",
        ));
    }
    (clients && options.uses_those_of_server(method)).then(|| {
        problem(
            name,
            "its state transfers use the files of the client port",
            format!(
                "[{SST_GROUP}] has no files of its own, so the script of wsrep_sst_method={method} takes the server's: a node without them could not join \
                 the others while they have them"
            ),
            "sealion enable sst, then plan again",
        )
    })
}

fn is_there(setting: &Setting, written_to: &Setting, group: &str) -> bool {
    setting.file == written_to.file && formats::optfile::groups_equal(&setting.group, group)
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
        .filter(|setting| !is_there(setting, written_to, group))
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
                if setting.group == persisted::GROUP {
                    format!("RESET PERSIST {} on that server, then plan again", setting.key)
                } else {
                    format!(
                        "move that line into [{group}] of {}, or remove it, then plan again",
                        written_to.file.display()
                    )
                },
            )
        })
        .collect()
}

fn enables(setting: &Setting) -> bool {
    // Of a running MySQL, files are set by SET PERSIST, and taken back so.
    if setting.group == persisted::GROUP && setting.key != "require_secure_transport" {
        return false;
    }
    let value = setting.value.as_deref().unwrap_or("");
    match &*setting.key {
        "require_secure_transport" => setting.is_on(),
        OPTIONS => value.contains("socket.ssl"),
        _ => !value.is_empty(),
    }
}
