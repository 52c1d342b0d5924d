//! The option file of the new server would lead it into this cluster, and nowhere else.

use std::time::Duration;

use host::{HostError, ReadHost, Service};
use model::NodeName;
use server::options::{Effective, Setting};
use server::{Flavour, SstOptions};

use super::{Members, Problem, problem};
use crate::edit::Edit;
use crate::galera::join;
use crate::galera::preflight::own_settings::sst_switch;
use crate::preflight::{profile, unreadable_options};
use crate::world::World;
use server::cluster_address::hosts as named_in;

/// A service manager answers at once.
const ASK_MAX: Duration = Duration::from_secs(5);

/// The line with which the service manager makes the server begin a new cluster.
///
/// # Source
/// mariadb.service of MariaDB 10.11: `ExecStart=/usr/sbin/mariadbd $MYSQLD_OPTS $_WSREP_NEW_CLUSTER …`; galera_new_cluster sets that in
/// the manager's environment, and takes it back when the server is up. Killed between, it leaves it there.
fn begins_one_by_manager(host: &dyn ReadHost, service: &Service) -> Result<Option<String>, HostError> {
    let settings = host.service_settings(service, ASK_MAX)?;
    let begins_one = |line: &&str| {
        !line.trim_start().starts_with('#')
            && (line.contains("wsrep-new-cluster") || line.contains("wsrep_new_cluster"))
    };
    // The rest of such a line may be a secret.
    Ok(settings.lines().find(begins_one).map(|line| match line.split_once('=') {
        Some((name, _)) => format!("{}=… --wsrep-new-cluster", name.trim()),
        None => "--wsrep-new-cluster".to_owned(),
    }))
}

/// # Errors
/// For the plan: that cannot be determined.
pub fn manager_begins_one(world: &mut World<'_>, joiner: &NodeName) -> Result<(), String> {
    let Ok(node) = world.node(joiner) else { return Ok(()) };
    match begins_one_by_manager(node.host(), &node.spec().service) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!(
            "whether the service manager of {joiner} makes it begin a new cluster cannot be determined: {error}"
        )),
    }
}

pub fn check(world: &mut World<'_>, joiner: &NodeName, members: &Members) -> Vec<Problem> {
    let mut problems = Vec::new();
    let known: Vec<String> = world
        .nodes
        .iter()
        .filter(|node| node.name() != joiner)
        .flat_map(|node| {
            let spec = node.spec();
            [vec![spec.address.clone(), spec.name.to_string()], spec.names.clone()].concat()
        })
        .collect();
    let addresses: Vec<String> = world
        .nodes
        .iter()
        .filter(|node| node.name() != joiner)
        .map(|node| node.spec().address.clone())
        .collect();
    let topology = world.topology;
    let anchors = topology.anchors();
    let Ok(node) = world.node(joiner) else { return problems };
    let options = match SstOptions::of(node) {
        Ok(options) => options,
        Err(error) => return vec![unreadable_options(joiner, &error)],
    };
    let effective = &options.server;
    for mistake in &effective.mistakes {
        problems.push(problem(
            joiner,
            "an option file has a mistake",
            mistake,
            "fix that line: what stands after it does not count",
        ));
    }
    let value = |key: &str| effective.effective(key).and_then(|setting| setting.value.clone());
    let gcomm = format!("wsrep_cluster_address=gcomm://{}", addresses.join(","));
    if !anchors.iter().any(|anchor| effective.in_option_file(anchor).is_some()) {
        problems.push(problem(
            joiner,
            format!("no option file sets {}", anchors.join(" or ")),
            format!("{} and what it includes were read", node.spec().defaults_file.display()),
            format!("name the right defaults_file in the inventory, or write there, in [galera]: {gcomm}"),
        ));
        return problems;
    }
    if effective.effective("wsrep_on").is_none_or(|setting| !setting.is_on()) {
        problems.push(problem(
            joiner,
            "its option file does not enable Galera",
            "wsrep_on is not ON there: the server would start by itself, outside of the cluster",
            "write wsrep_on=ON there",
        ));
    }
    if let Some(profile) = members.profile {
        problems.extend(profile::of_server(joiner, effective, topology, profile, Flavour::MariaDb));
    }
    problems.extend(provider(joiner, node.host(), value("wsrep_provider"), members));
    if let Some(name) = value("wsrep_cluster_name").filter(|name| *name != members.cluster_name) {
        problems.push(problem(
            joiner,
            format!("wsrep_cluster_name is {name}, the cluster is called {}", members.cluster_name),
            place(effective.effective("wsrep_cluster_name")),
            format!(
                "write wsrep_cluster_name={} there, or check that this is the right server",
                members.cluster_name
            ),
        ));
    }
    if let Some(address) = value("wsrep_cluster_address") {
        let named = named_in(&address);
        if named.is_empty() {
            problems.push(problem(
                joiner,
                "its wsrep_cluster_address names nobody: it would begin a cluster of its own",
                place(effective.effective("wsrep_cluster_address")),
                format!("write {gcomm} there"),
            ));
        } else if !named.iter().any(|host| known.iter().any(|one| one == host)) {
            problems.push(problem(
                joiner,
                "its wsrep_cluster_address names no member of the inventory",
                place(effective.effective("wsrep_cluster_address")),
                format!("write {gcomm} there; or add the name of a member to its `names` in the inventory"),
            ));
        }
    }
    let begins_one = effective.effective("wsrep_new_cluster").or_else(|| {
        ["wsrep_cluster_address", "wsrep_provider_options"]
            .iter()
            .filter_map(|option| effective.effective(option))
            .find(|setting| setting.value.as_deref().is_some_and(|value| value.contains("pc.bootstrap")))
    });
    if let Some(setting) = begins_one {
        problems.push(problem(
            joiner,
            "its option file begins a new cluster",
            format!("{}: what is written there would be lost", place(Some(setting))),
            "remove wsrep_new_cluster and pc.bootstrap there",
        ));
    }
    let start = node.spec().service.start_command();
    if start.iter().any(|word| word.contains("wsrep-new-cluster") || word.contains("galera_new_cluster")) {
        problems.push(problem(
            joiner,
            "its start command begins a new cluster",
            start.join(" "),
            "give it a start command that joins one (systemctl start mariadb)",
        ));
    }
    if let Ok(Some(line)) = begins_one_by_manager(node.host(), &node.spec().service) {
        problems.push(problem(
            joiner,
            "its service manager begins a new cluster with it",
            format!("systemd starts it with {line}: what is written there would be lost"),
            "systemctl unset-environment _WSREP_NEW_CLUSTER, or take it out of the unit's own settings (systemctl cat); then join again",
        ));
    }
    if let Some(method) = value("wsrep_sst_method").filter(|method| *method != members.sst_method) {
        problems.push(problem(
            joiner,
            format!("wsrep_sst_method is {method}, the members have {}", members.sst_method),
            "a donor runs the joiner's method with the TLS settings of its own, so the transfer would fail",
            format!("write wsrep_sst_method={} there", members.sst_method),
        ));
    }
    if let Some(setting) = effective.effective("ssl").filter(|setting| !setting.is_on()) {
        problems.push(problem(
            joiner,
            "its option file switches TLS for clients off",
            place(Some(setting)),
            "remove that line",
        ));
    }
    problems
        .extend(options.switches(&members.sst_method).into_iter().filter_map(|one| sst_switch(joiner, one)));
    let options = options.clone();
    problems.extend(elsewhere(world, joiner, members, &options));
    problems
}

fn place(setting: Option<&Setting>) -> String {
    setting.map_or_else(String::new, |setting| {
        format!(
            "{}:{} says {}",
            setting.file.display(),
            setting.line,
            setting.value.as_deref().unwrap_or("nothing")
        )
    })
}

fn provider(
    joiner: &NodeName,
    host: &dyn host::ReadHost,
    path: Option<String>,
    members: &Members,
) -> Option<Problem> {
    let Some(path) = path.filter(|path| !path.is_empty() && path != "none") else {
        return Some(problem(
            joiner,
            "its option file names no wsrep_provider",
            "without the Galera library it cannot be a member",
            format!("install galera-4 there, and write wsrep_provider={}", members.provider),
        ));
    };
    match host.facts(std::path::Path::new(&path)) {
        Ok(Some(_)) => None,
        Ok(None) => Some(problem(
            joiner,
            format!("the Galera library {path} is not there"),
            "its option file names it as wsrep_provider",
            "install galera-4 there, or correct the path",
        )),
        Err(error) => Some(problem(
            joiner,
            format!("whether the Galera library {path} is there cannot be determined"),
            error.to_string(),
            "check the path and the rights of this user",
        )),
    }
}

/// Lines of the same purpose that are not ours, in our file or in another that may win.
fn elsewhere(
    world: &mut World<'_>,
    joiner: &NodeName,
    members: &Members,
    options: &SstOptions,
) -> Vec<Problem> {
    // What cannot be planned is told by the plan.
    let Ok(draft) = join::draft(world, joiner) else { return vec![] };
    let Ok(edits) = join::edits(world, joiner, members, &draft) else { return vec![] };
    let mut problems = Vec::new();
    for edit in edits {
        let Edit::Set { group, key, value } = edit else { continue };
        let all: &Effective = if group == "sst" { options.sst() } else { &options.server };
        let name = key.replace('-', "_");
        let Some(setting) = all.effective(&name).filter(|setting| setting.value.as_deref() != Some(&value))
        else {
            continue;
        };
        // Of these the line itself is changed, where it stands in the file that is written to.
        let is_changed =
            ["wsrep_provider_options", "require_secure_transport", "ssl_mode"].contains(&name.as_str());
        if is_changed && setting.file == draft.file {
            continue;
        }
        problems.push(problem(
            joiner,
            format!("{key} is set already, to something else"),
            place(Some(setting)),
            format!("set tls_dir in the inventory so that it becomes {value}, or remove that line first"),
        ));
    }
    problems
}
