//! What must hold of a source and its replicas before they are changed. [`CHECKS`] is the register.

use model::{NodeName, Noun, Verb};
use server::options::Setting;
use server::options::persisted::GROUP;
use server::{Channel, NodeSpec, ThreadState, Trust};

use super::other_ports;
use crate::files::{CA_FILE, CERT_FILE, CLIENT_CA_FILE, KEY_FILE};
use crate::plan_parts::requires_tls;
use crate::preflight::{
    Check, NOUNS, Problem, Seen, client_cas, clocks, command_line, elsewhere, left_on, managed,
    not_answering, place, problem, profile, service_commands, tls_library, trust_files, unreadable_options,
};
use crate::world::World;

/// The number of an error of TLS, and what follows it.
const TLS_REFUSED: &str = "2026 ";

pub const CHECKS: &[(&str, Check)] = &[
    (NOUNS, nouns),
    ("servers", servers),
    ("tls-version", other_ports::check),
    ("elsewhere", elsewhere::check),
    ("channels", channels),
    ("command-line", command_line::check),
    ("service-commands", service_commands::check),
    ("managed", managed::check),
    ("own-settings", own_settings),
    ("left-on", left_on::check),
    ("profile", profile::check),
    ("place", place::check),
    ("trust-files", trust_files::check),
    ("client-cas", client_cas::check),
    ("clocks", clocks::check),
    ("tls-library", tls_library::check),
];

fn nouns(_: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    if seen.change.has(Noun::Galera) || seen.change.has(Noun::Sst) {
        return vec![problem(
            "cluster",
            "its nodes are not a Galera cluster",
            "galera and sst can be changed only where nodes are members of one",
            format!("sealion plan {} (without nouns: all that these servers have)", seen.change.verb),
        )];
    }
    vec![]
}

fn servers(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let (topology, allow_untested) = (world.topology, world.allow_untested);
    for (name, view) in &seen.views {
        let view = match view {
            Ok(view) => view,
            Err(error) => {
                problems.push(not_answering(name, error));
                continue;
            }
        };
        if let Err(instead) = topology.role(view) {
            problems.push(problem(
                name,
                "this server is a node of a Galera cluster, and others are not",
                instead,
                "put the nodes of one Galera cluster, or servers outside of one, into one inventory",
            ));
        }
        match view.capabilities().replication_tls {
            Trust::Tested => {}
            Trust::Expected if allow_untested => {}
            Trust::Expected => problems.push(problem(
                name,
                format!("{} was not tested", view.version()),
                "it is expected to behave like a version that was",
                "add --allow-untested if you have tried it on a copy",
            )),
            Trust::Refused(why) => problems.push(problem(
                name,
                format!("{} is not changed by sealion", view.version()),
                why,
                "change it by hand",
            )),
        }
        let Ok(node) = world.node(name) else { continue };
        if let Err(error) = node.sessions() {
            problems.push(problem(
                name,
                "who is connected cannot be seen",
                error.to_string(),
                "GRANT PROCESS ON *.* to the account that the inventory names, then plan again",
            ));
        }
    }
    problems
}

/// Whether the inventory's node is the one that a channel was told of. Its certificate has these names and no others.
pub fn is_source(spec: &NodeSpec, channel: &Channel) -> bool {
    spec.port == channel.source_port
        && (spec.address == channel.source_host || spec.names.contains(&channel.source_host))
}

fn channels(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let all = world.nodes.iter().chain(&world.others);
    let specs: Vec<NodeSpec> = all.map(|node| node.spec().clone()).collect();
    let mut found = 0;
    for (name, _) in seen.up() {
        let Ok(node) = world.node(name) else { continue };
        let channels = match node.channels() {
            Ok(channels) => channels,
            Err(error) => {
                problems.push(problem(
                    name,
                    "its channels cannot be seen",
                    error.to_string(),
                    "GRANT REPLICATION CLIENT (MySQL) or REPLICA MONITOR (MariaDB) ON *.* to the account that the inventory names",
                ));
                continue;
            }
        };
        found += channels.len();
        for channel in channels {
            let is_cured = seen.change.verb == Verb::Rotate && waits_for_certificates(world, name, &channel);
            problems.extend(of_channel(name, &channel, &specs, seen, is_cured));
        }
    }
    if found == 0 && problems.is_empty() && seen.change.has(Noun::Replication) {
        problems.push(problem(
            "cluster",
            "no server of the inventory is a replica",
            "none of them has a channel",
            format!("add the replicas to the inventory, or: sealion plan {} clients", seen.change.verb),
        ));
    }
    problems
}

fn offers_one_of(channel: &Channel, versions: &[&str]) -> bool {
    let offered = channel.tls_versions.split(',').map(str::trim);
    channel.tls_versions.is_empty() || offered.into_iter().any(|one| versions.contains(&one))
}

/// It tries again, and is refused since the certificate of one of its ends is over, which is what a rotation is for.
fn waits_for_certificates(world: &mut World<'_>, replica: &NodeName, channel: &Channel) -> bool {
    let is_refused = channel.receiver_error.as_ref().is_some_and(|error| error.starts_with(TLS_REFUSED));
    if channel.receiver != ThreadState::Connecting || !is_refused {
        return false;
    }
    let now = world.unix_s();
    let ends = world.nodes.iter().chain(&world.others).filter(|node| {
        let spec = node.spec();
        spec.name == *replica || is_source(spec, channel)
    });
    let leaves = ends.filter_map(|node| {
        let cert = node.spec().tls_dir.join(CERT_FILE);
        trust::inspect(&node.host().read(&cert, trust_files::PEM_BYTES_MAX).ok()??).ok()?.into_iter().next()
    });
    leaves.into_iter().any(|leaf| leaf.not_after_unix <= now)
}

fn of_channel(
    name: &NodeName,
    channel: &Channel,
    specs: &[NodeSpec],
    seen: &Seen<'_>,
    is_cured: bool,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let threads = [
        ("receives nothing", &channel.receiver, &channel.receiver_error),
        ("applies nothing", &channel.applier, &channel.applier_error),
    ];
    for (nth, (what, state, error)) in threads.into_iter().enumerate() {
        if *state != ThreadState::Running && !(is_cured && nth == 0) {
            let is_tls = error.as_ref().is_some_and(|error| error.starts_with(TLS_REFUSED));
            problems.push(problem(
                name,
                format!("{channel}: it {what}"),
                error.clone().unwrap_or_else(|| "its thread does not run, and has no error".into()),
                if is_tls {
                    "its source serves a certificate that it does not accept: see ssl_cert there (on MySQL also RESET PERSIST ssl_cert, \
                     ssl_key, ssl_ca), then START REPLICA. Where a certificate has expired: START REPLICA, so that it tries again, then \
                     sealion rotate, or sealion rotate ca where the CA has"
                } else {
                    "START REPLICA, or fix what stops it; a channel that is broken already cannot be seen to work afterwards"
                },
            ));
        }
    }
    let text = [&channel.name, &channel.source_host];
    if !text.into_iter().all(|text| server::replication::is_plain(text)) {
        problems.push(problem(
            name,
            format!("the name of {channel} has a backslash or a control character"),
            "it cannot stand in a statement in every sql_mode",
            "give the channel another name",
        ));
    }
    let is_here = specs.iter().any(|spec| is_source(spec, channel));
    if let Some(profile) = seen.change.profile.filter(|_| seen.change.verb == Verb::Enable && is_here)
        && !offers_one_of(channel, profile.versions())
    {
        let versions = profile.versions().join(",");
        problems.push(problem(
            name,
            format!("{channel} would be shut out by the profile {profile}"),
            format!("its SOURCE_TLS_VERSION is {}; the profile has {versions}", channel.tls_versions),
            format!(
                "STOP REPLICA IO_THREAD; CHANGE REPLICATION SOURCE TO SOURCE_TLS_VERSION='{versions}'; START REPLICA IO_THREAD (FOR CHANNEL, if it has a \
                 name); then plan again"
            ),
        ));
    }
    if seen.change.has(Noun::Replication) && !is_here {
        problems.push(problem(
            name,
            format!("its source {}:{} is not in the inventory", channel.source_host, channel.source_port),
            "the source's certificate must have the name that the replica connects to, or the replica rejects it",
            "add that server, with this address or among its names",
        ));
    }
    problems
}

/// How a setting goes away.
fn undo_line(setting: &Setting) -> String {
    if setting.group == GROUP {
        return format!("RESET PERSIST {} on that server, then plan again", setting.key);
    }
    "remove that line, then plan again".into()
}

/// Lines of the same purpose that are not ours are not overwritten, and would count over what is written.
fn own_settings(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let clients = seen.change.verb == Verb::Enable && seen.change.has(Noun::Clients);
    let requires = seen.change.verb == Verb::Enable && requires_tls(seen.change);
    let rotates = seen.change.verb == Verb::Rotate;
    if !clients && !requires && !rotates {
        return problems;
    }
    let topology = world.topology;
    for (name, _) in seen.up() {
        let Ok(node) = world.node(name) else { continue };
        let tls_dir = node.spec().tls_dir.clone();
        let effective = match node.effective() {
            Ok(effective) => effective,
            Err(error) => {
                problems.push(unreadable_options(name, &error));
                continue;
            }
        };
        let mut refuse = |setting: &Setting, what: String, next: String| {
            let line = format!("{}:{}", setting.file.display(), setting.line);
            let value = setting.value.as_deref().unwrap_or("nothing");
            problems.push(problem(name, what, format!("{line} says {value}"), next));
        };
        let files = [("ssl_ca", CA_FILE), ("ssl_cert", CERT_FILE), ("ssl_key", KEY_FILE)];
        for (key, file) in files.into_iter().filter(|_| clients || rotates) {
            let ours = tls_dir.join(file).display().to_string();
            let of_clients = tls_dir.join(CLIENT_CA_FILE).display().to_string();
            // A rotation writes no option: what another place has persisted would go on being served.
            if let Some(setting) = effective.effective(key)
                && (!rotates || setting.group == GROUP)
                && setting.value.as_deref() != Some(ours.as_str())
                && !(key == "ssl_ca" && setting.value.as_deref() == Some(of_clients.as_str()))
            {
                let next = if setting.group == GROUP {
                    undo_line(setting)
                } else {
                    format!(
                        "set tls_dir in the inventory so that it becomes {ours}, or remove that line first"
                    )
                };
                refuse(setting, format!("{key} is set already, to another file"), next);
            }
        }
        // In the file that is written to, the line itself is changed.
        let written_to = topology.anchor(&effective).map(|setting| &setting.file);
        if let Some(setting) = effective.effective("require_secure_transport")
            && requires
            && !setting.is_on()
            && Some(&setting.file) != written_to
        {
            let what = "something else lets clients in without TLS, and would count after a restart";
            refuse(setting, what.into(), undo_line(setting));
        }
        if let Some(setting) = effective.effective("ssl").filter(|setting| clients && !setting.is_on()) {
            refuse(setting, "its option file switches TLS for clients off".into(), undo_line(setting));
        }
    }
    problems
}
