//! What must hold of servers before their data at rest is changed. [`CHECKS`] is the register.

use std::path::Path;

use model::{Noun, Verb};
use server::at_rest::KEY_PLUGIN;
use server::{Flavour, ThreadState, Trust};

use super::keys;
use super::plan::{OPTIONS, PLUGIN_OPTIONS};
use super::steps::data_keys::FILENAME;
use crate::preflight::{Check, NOUNS, Problem, Seen, place, problem, unreadable_options};
use crate::replication::{Follower, followers, strangers};
use crate::world::World;

pub const CHECKS: &[(&str, Check)] = &[
    (NOUNS, nouns),
    ("data-flavour", flavour),
    ("data-keys", key_plugin),
    ("data-options", options),
    ("data-place", key_place),
    ("data-replicas", replicas),
    ("data-tables", tables),
];

/// Checks of a topology that a change of data at rest needs, too.
pub const OF_TOPOLOGY: &[&str] =
    &["members", "arbitrators", "servers", "service-commands", "managed", "place"];

fn nouns(_: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let change = seen.change;
    let at_rest = |noun: &&Noun| Noun::AT_REST.contains(noun);
    let (rest, other): (Vec<&Noun>, Vec<&Noun>) = change.nouns.iter().partition(at_rest);
    let in_words = |nouns: &[&Noun]| nouns.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    if !other.is_empty() {
        return vec![problem(
            "change",
            "data at rest and connections are not changed together",
            "each has an order of its own, and an undo of its own",
            format!(
                "sealion plan {} {}, and then sealion plan {} {}",
                change.verb,
                in_words(&other),
                change.verb,
                in_words(&rest)
            ),
        )];
    }
    vec![]
}

fn flavour(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, view) in seen.up() {
        let can = view.capabilities();
        if can.flavour != Flavour::MariaDb {
            problems.push(problem(
                name,
                format!("data at rest of {} is not changed by this version", can.flavour),
                "its keyring and its statements are others",
                "see what its files hold: sealion status rest; docs: tasks/encrypt-at-rest",
            ));
            continue;
        }
        if can.replication_tls == Trust::Expected && !world.allow_untested {
            problems.push(problem(
                name,
                format!("{} was not tested", view.version()),
                "it is expected to behave like a version that was",
                "add --allow-untested if you have tried it on a copy",
            ));
        }
        for (variable, fine) in
            [("innodb_read_only", "OFF"), ("innodb_force_recovery", "0"), ("innodb_fast_shutdown", "")]
        {
            let value = view.variable(variable).unwrap_or(fine);
            // 2 leaves a redo log behind that a start must read with the key of before.
            let is_fine = if fine.is_empty() { value != "2" } else { value == fine };
            if !is_fine {
                problems.push(problem(
                    name,
                    format!("{variable} is {value}"),
                    "pages and redo log cannot be written anew so",
                    format!("set {variable} back, restart if it needs that, then plan again"),
                ));
            }
        }
    }
    problems
}

/// Keys that are not sealion's are not taken over: nobody has a copy of them in the escrow.
fn key_plugin(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, view) in seen.up() {
        let Ok(node) = world.node(name) else { continue };
        let active = match node.at_rest() {
            Ok(said) => said.key_plugins,
            Err(error) => {
                problems.push(problem(
                    name,
                    "what it says of its data at rest cannot be read",
                    error.unnamed(),
                    "GRANT PROCESS, SELECT and BINLOG MONITOR on *.* to the account of the inventory (sealion grants enable), then plan again",
                ));
                continue;
            }
        };
        let others: Vec<&str> = active.iter().map(String::as_str).filter(|one| *one != KEY_PLUGIN).collect();
        let file = view.variable(FILENAME);
        if !others.is_empty() || file.is_some_and(|file| keys::own_dir(node.spec(), file).is_none()) {
            let by = file.map_or_else(|| others.join(", "), |file| format!("{KEY_PLUGIN} with {file}"));
            problems.push(problem(
                name,
                "it has keys already, which sealion did not make",
                format!("{by}: no copy of them is in the escrow, and nothing is known of what needs them"),
                "see what its files hold: sealion status rest; set the options that are missing by hand",
            ));
        }
        if seen.change.verb == Verb::Enable && file.is_none() {
            let plugin =
                view.variable("plugin_dir").map(|dir| Path::new(dir).join(format!("{KEY_PLUGIN}.so")));
            let facts = plugin.as_ref().map(|plugin| node.host().facts(plugin));
            match facts {
                Some(Ok(Some(_))) => {}
                Some(Ok(None)) => problems.push(problem(
                    name,
                    format!("the plugin {KEY_PLUGIN} is not installed"),
                    format!(
                        "{} is not there",
                        plugin.map(|plugin| plugin.display().to_string()).unwrap_or_default()
                    ),
                    "install the server's package that has it, then plan again",
                )),
                Some(Err(error)) => problems.push(problem(
                    name,
                    format!("whether the plugin {KEY_PLUGIN} is installed cannot be determined"),
                    error.to_string(),
                    "run sealion as a user who may read the plugin directory",
                )),
                None => problems.push(problem(
                    name,
                    format!("whether the plugin {KEY_PLUGIN} is installed cannot be determined"),
                    "the server does not show plugin_dir",
                    "check the account's rights",
                )),
            }
        }
    }
    problems
}

/// The same options in another file, or another group, would win over ours, or stay behind them.
fn options(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let topology = world.topology;
    let of = |noun: Noun| seen.change.has(noun);
    for (name, _) in seen.up() {
        let Ok(node) = world.node(name) else { continue };
        let effective = match node.effective() {
            Ok(effective) => effective,
            Err(error) => {
                problems.push(unreadable_options(name, &error));
                continue;
            }
        };
        let Some(anchor) = topology.anchor(&effective) else { continue };
        let is_ours =
            |option: &str| if option == "encrypt_binlog" { of(Noun::Logs) } else { of(Noun::Tables) };
        for option in OPTIONS.iter().filter(|option| is_ours(option)).chain(&PLUGIN_OPTIONS) {
            // A plugin's group may be another one of the same file.
            let is_elsewhere = |file: &Path, group: &str| {
                file != anchor.file || (group != anchor.group && !PLUGIN_OPTIONS.contains(option))
            };
            let lines = effective.settings.iter().filter(|one| one.key == *option);
            for line in lines.filter(|one| is_elsewhere(&one.file, &one.group)) {
                problems.push(problem(
                    name,
                    format!("{option} is set at {}:{}", line.file.display(), line.line),
                    format!(
                        "sealion writes it into [{}] of {}, and both lines would count",
                        anchor.group,
                        anchor.file.display()
                    ),
                    "remove that line, then plan again",
                ));
            }
        }
    }
    problems
}

/// Each table is written anew, or read behind a restart: one that cannot be read before would hold the change in its middle, in both directions.
fn tables(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, _) in seen.up() {
        let Ok(node) = world.node(name) else { continue };
        match node.not_read() {
            Ok(not_read) => problems.extend(not_read.iter().filter(|one| !one.is_held()).map(|one| {
                problem(
                    name,
                    format!("the table {} cannot be read", one.table),
                    one.why.clone(),
                    "REPAIR TABLE (Aria), ALTER TABLE ... IMPORT TABLESPACE, restore it or drop it; then plan again",
                )
            })),
            Err(error) => problems.push(problem(
                name,
                "whether each of its tables can be read cannot be told",
                error.reason(),
                "GRANT SELECT on *.* to the account of the inventory (sealion grants enable), then plan again",
            )),
        }
    }
    problems
}

const INSTEAD: &str = "leave out --purge-binary-logs: they stay until they expire";

/// Before binary logs are removed every replica has to have applied them: one that cannot, or of which nobody can tell, would hold the change
/// in its middle.
fn replicas(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    if !world.at_rest.purges_binary_logs || !seen.change.has(Noun::Logs) {
        return problems;
    }
    for (name, _) in seen.up() {
        let followers = match followers(world, name) {
            Ok(followers) => followers,
            Err(error) => {
                problems.push(problem(name, "who replicates from it cannot be told", error.0, INSTEAD));
                continue;
            }
        };
        for Follower { node, channel, is_sure } in &followers {
            if !is_sure {
                problems.push(problem(
                    node,
                    format!("whether it replicates from {name} cannot be told"),
                    format!("its source is called {}, and it has never been connected", channel.source_host),
                    format!("add that name to `names` of the server in the inventory, or {INSTEAD}"),
                ));
            } else if channel.applier != ThreadState::Running || channel.receiver == ThreadState::Stopped {
                let error = channel.applier_error.clone().or_else(|| channel.receiver_error.clone());
                problems.push(problem(
                    node,
                    format!("{channel}: a thread of it does not run"),
                    error.unwrap_or_else(|| {
                        format!("what it has not applied yet is only in the binary logs of {name}")
                    }),
                    format!("START REPLICA, or fix what stops it; or {INSTEAD}"),
                ));
            }
        }
        match strangers(world, name, &followers) {
            Ok(Some(why)) => problems.push(problem(
                name,
                "it has replicas that are not in the inventory",
                why,
                format!("add them to the inventory, or {INSTEAD}"),
            )),
            Ok(None) => {}
            Err(error) => {
                problems.push(problem(name, "who reads its binary logs cannot be told", error.0, INSTEAD));
            }
        }
    }
    problems
}

/// Beside what it encrypts, a key goes with every copy of it.
fn key_place(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, view) in seen.up() {
        let Ok(node) = world.node(name) else { continue };
        let dir = keys::dir(node.spec());
        let directories = [
            "datadir",
            "tmpdir",
            "innodb_data_home_dir",
            "innodb_undo_directory",
            "innodb_log_group_home_dir",
        ];
        for variable in directories {
            let Some(path) = view.variable(variable).filter(|path| path.starts_with('/')) else { continue };
            if dir.starts_with(path) {
                problems.push(problem(
                    name,
                    format!("the key file would lie in its {variable}"),
                    format!("{} is below {path}: who copies the data would copy the keys", dir.display()),
                    "set tls_dir of the node to a directory outside of it: keys lie beside that",
                ));
            }
        }
        if let Some(parent) = dir.parent() {
            problems.extend(place::unwritable(name, node.host(), &[parent.to_owned()]));
        }
    }
    problems
}
