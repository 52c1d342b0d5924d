//! Settings of the same purpose that are not ours are not overwritten.

use model::{NodeName, Noun, Verb};
use server::options::{Effective, Setting};
use server::{GaleraFacts, SstOptions};

use super::{Problem, Seen, problem, unreadable_options};
use crate::files::{CA_FILE, CERT_FILE, CLIENT_CA_FILE, KEY_FILE};
use crate::galera::GALERA;
use crate::topology::Topology;
use crate::world::World;

pub fn check(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    if seen.change.verb == Verb::Rotate {
        return problems;
    }
    for (name, view) in seen.up() {
        let Ok(node) = world.node(name) else { continue };
        let tls_dir = node.spec().tls_dir.clone();
        let ours = |file: &str| tls_dir.join(file).display().to_string();
        let mut wanted: Vec<(bool, &str, String)> = Vec::new();
        if seen.change.has(Noun::Clients) {
            wanted.extend([
                (false, "ssl_ca", ours(CA_FILE)),
                (false, "ssl_cert", ours(CERT_FILE)),
                (false, "ssl_key", ours(KEY_FILE)),
            ]);
        }
        if seen.change.has(Noun::Sst) {
            wanted.extend([
                (true, "tca", ours(CA_FILE)),
                (true, "tcert", ours(CERT_FILE)),
                (true, "tkey", ours(KEY_FILE)),
            ]);
        }
        let options = match SstOptions::of(node) {
            Ok(options) => options,
            Err(error) => {
                problems.push(unreadable_options(name, &error));
                continue;
            }
        };
        if seen.change.has(Noun::Sst) {
            problems.extend(
                options.switches(view.sst_method()).into_iter().filter_map(|one| sst_switch(name, one)),
            );
        }
        if seen.change.verb == Verb::Enable {
            problems.extend(switched_off(name, seen, &options.server));
        }
        for (is_sst, key, value) in wanted {
            let effective = if is_sst { options.sst() } else { &options.server };
            if let Some(setting) = effective.effective(key)
                && setting.value.as_deref() != Some(value.as_str())
                && !(key == "ssl_ca" && setting.value.as_deref() == Some(ours(CLIENT_CA_FILE).as_str()))
            {
                problems.push(problem(
                    name,
                    format!("{key} is set already, to another file"),
                    format!(
                        "{}:{} says {}",
                        setting.file.display(),
                        setting.line,
                        setting.value.as_deref().unwrap_or("nothing")
                    ),
                    format!(
                        "set tls_dir in the inventory so that it becomes {value}, or remove that line first"
                    ),
                ));
            }
        }
    }
    problems
}

/// Lines that would count over what sealion writes, and switch off what it enables.
fn switched_off(name: &NodeName, seen: &Seen<'_>, server: &Effective) -> Vec<Problem> {
    let written_to = GALERA.anchor(server).map(|setting| &setting.file);
    let mut problems = Vec::new();
    let mut refuse = |setting: &Setting, what: &str| {
        problems.push(problem(
            name,
            what,
            format!(
                "{}:{} has {}{}",
                setting.file.display(),
                setting.line,
                setting.key_as_written,
                setting.value_as_written.as_ref().map_or_else(String::new, |value| format!("={value}"))
            ),
            "remove that line, then plan again",
        ));
    };
    if seen.change.has(Noun::Clients)
        && let Some(setting) = server.effective("ssl").filter(|setting| !setting.is_on())
    {
        refuse(setting, "its option file switches TLS for clients off");
    }
    // In the file that is written to, the line itself is changed.
    if (seen.change.has(Noun::Clients) || seen.change.has(Noun::RequireTls))
        && let Some(setting) = server.effective("require_secure_transport")
        && !setting.is_on()
        && Some(&setting.file) != written_to
    {
        refuse(setting, "another option file lets clients in without TLS, and would count after a restart");
    }
    problems
}

/// What the scripts take as a switch besides files. `encrypt` 0 and `ssl-mode` VERIFY_CA leave or are what we write.
pub fn sst_switch(name: &NodeName, setting: &Setting) -> Option<Problem> {
    let fine = if setting.key == "encrypt" { "0" } else { "VERIFY_CA" };
    let value = setting.value.as_deref().unwrap_or("").trim();
    (!fine.eq_ignore_ascii_case(value)).then(|| {
        problem(
            name,
            format!(
                "[{}] has a switch of its own for state transfers: {}={value}",
                setting.group, setting.key
            ),
            format!(
                "{}:{} says so, and it would decide beside what sealion writes",
                setting.file.display(),
                setting.line
            ),
            "remove that line on every node at once (transfers fail while nodes differ), then plan again",
        )
    })
}
