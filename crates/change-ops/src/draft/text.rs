//! The inventory as text, and the picture of who replicates from whom.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::Path;

use server::replication::{Channel, ThreadState};

use super::survey::{Place, Role, ServerPaths, Survey, Surveyed, Unreached, place_of};

/// As RFC 5280 and the reader of inventories have it.
const NAME_CHARS_MAX: usize = 64;
const FALLBACK_NAME: &str = "node";

/// As many as anybody has: what servers say of it is not to fill a file.
const ARBITRATORS_MAX: usize = 16;

/// A table of the draft.
struct Node<'s> {
    name: String,
    place: Place,
    /// Further names, by which others of the cluster know it.
    names: Vec<String>,
    is_mariadb: bool,
    paths: Option<&'s ServerPaths>,
    checks: Vec<String>,
    /// Why it cannot be in one inventory with the others.
    left_out: Option<&'static str>,
}

pub fn text(survey: &Survey, login_file: Option<&Path>) -> String {
    let names = names(survey);
    let mut out = String::from(
        "# Drafted by `sealion config inventory`. Check each line marked CHECK, then run: sealion status\n\
         # (docs: reference/inventory)\n#\n# What the servers say of each other:\n",
    );
    for line in picture(survey, &names) {
        out += &commented(&line);
    }
    for note in &survey.notes {
        out += &commented(&format!("CHECK: {note}"));
    }
    out += "\n";
    let first = survey.servers.first();
    let galera = cluster_of_draft(survey);
    let arbitrators = galera.map_or(0, |galera| galera.arbitrators);
    if first.is_some_and(|first| !first.group.is_empty()) {
        out += "# It is a member of a replication group. sealion checks such servers and does not change them.\n";
    }
    let cluster = galera.map_or("main", |galera| galera.cluster.as_str());
    out += &format!("[cluster]\nname = {}\n", quoted(&fitted(cluster, "main")));
    out += "# On this machine: the cluster's own CA, its key encrypted, and the passphrase of that key (mode 0600):\n\
            #   (umask 077; mkdir -p sealion; openssl rand -base64 32 > sealion/ca-passphrase)\n";
    out += "ca_dir = \"sealion/ca\"\nstate_dir = \"sealion/state\"\nca_passphrase_file = \"sealion/ca-passphrase\"\n";
    out += "\n[login]\n";
    let place = login_file.map_or_else(|| "sealion/login.cnf".to_owned(), |path| path.display().to_string());
    out += if login_file.is_none() {
        "# CHECK: create this file (mode 0600): [client], user=..., password=...\n"
    } else {
        "# CHECK: this file has the mode 0600. It is the login of the search, which needs less than what comes next\n"
    };
    out += "# The account needs what these print: sealion grants status (to look), sealion grants enable (to change)\n";
    out += &format!("defaults_file = {}\n", quoted(&place));
    if survey
        .servers
        .iter()
        .flat_map(|server| &server.places)
        .chain(survey.unreached.iter().map(|one| &one.place))
        .any(is_elsewhere)
    {
        out += "\n# How ssh reaches the other machines, where `ssh DESTINATION` alone does not.\n\
                # [ssh]\n# command = [\"ssh\", \"-F\", \"/home/dba/.ssh/config\"]\n# sudo = true  # the agent becomes root there by sudo -n\n";
    }
    for node in nodes(survey, &names) {
        out += "\n";
        let table = table(&node);
        match node.left_out {
            None => out += &table,
            Some(why) => {
                out += &commented(why);
                table.lines().for_each(|line| out += &commented(line));
            }
        }
    }
    for number in 1..=arbitrators.min(ARBITRATORS_MAX) {
        out += "\n";
        out += &commented(
            "CHECK: a member without data (garbd); no server knows its address. Fill it in and remove the # below.",
        );
        let table = format!(
            "[[arbitrator]]\nname = \"garb{number}\"\naddress = \"\"\nssh = \"\"\nfile = \"/etc/default/garb\"\n"
        );
        table.lines().for_each(|line| out += &commented(line));
    }
    out += PROXY;
    out
}

/// No server knows who stands before it.
const PROXY: &str = "
# CHECK: a HAProxy before the servers, one table each, without the #: nodes are drained there before a restart, and their certificates get
# its names, which clients verify. For other proxies: drain and undrain of each node (docs: reference/inventory, \"A proxy\")
# [[proxy]]
# name = \"edge\"
# names = [\"db.example\"]  # what clients call it
# ssh = \"\"  # how ssh reaches its machine; without this line it is this one
# haproxy_socket = \"/run/haproxy/admin.sock\"  # with `level admin`
";

/// One line of comment, whatever is in it.
fn commented(line: &str) -> String {
    let line: String = line.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    format!("# {line}").trim_end().to_owned() + "\n"
}

/// A TOML basic string is a JSON string, but for control characters, which no path has.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text.chars().filter(|char| !char.is_control()).collect::<String>()).to_string()
}

/// A name that an inventory takes.
fn fitted(name: &str, fallback: &str) -> String {
    let fits = |char: char| if char.is_ascii_alphanumeric() || "._-".contains(char) { char } else { '-' };
    let name: String = name.chars().map(fits).take(NAME_CHARS_MAX).collect();
    // Names of steps.
    match name.as_str() {
        "" => fallback.to_owned(),
        "ca" | "look" => format!("{name}-{fallback}"),
        _ => name,
    }
}

/// A name for each server that answered.
fn names(survey: &Survey) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let of = |server: &Surveyed| match &server.galera {
        Some(galera) if !galera.node.is_empty() => galera.node.clone(),
        _ => server.host_name.split('.').next().unwrap_or_default().to_owned(),
    };
    survey.servers.iter().map(|server| unique(&fitted(&of(server), FALLBACK_NAME), &mut taken)).collect()
}

fn unique(name: &str, taken: &mut BTreeSet<String>) -> String {
    let more = (2..).map(|number| {
        let suffix = format!("-{number}");
        let stem: String = name.chars().take(NAME_CHARS_MAX - suffix.len()).collect();
        stem + &suffix
    });
    let free = std::iter::once(name.to_owned()).chain(more).find(|one| !taken.contains(one));
    let free = free.unwrap_or_default();
    taken.insert(free.clone());
    free
}

/// The Galera cluster of the draft: that of the server that was named, else the first that was found. An inventory has one.
fn cluster_of_draft(survey: &Survey) -> Option<&super::survey::GaleraNode> {
    survey.servers.iter().find_map(|server| server.galera.as_ref())
}

fn nodes<'s>(survey: &'s Survey, names: &[String]) -> Vec<Node<'s>> {
    let ours = cluster_of_draft(survey).map(|galera| galera.cluster.as_str());
    let left_out = |server: &Surveyed| match &server.galera {
        Some(galera) if ours != Some(galera.cluster.as_str()) => {
            Some("A node of another Galera cluster, which needs an inventory of its own.")
        }
        _ => None,
    };
    let mut nodes: Vec<Node<'s>> = Vec::new();
    let mut taken: BTreeSet<String> = names.iter().cloned().collect();
    for (server, name) in survey.servers.iter().zip(names) {
        let Some(place) = server.places.first() else { continue };
        let is_a_name = |address: &&str| {
            **address != *place.address && !is_local_only(address) && is_host_or_address(address)
        };
        let others: BTreeSet<&str> =
            server.places.iter().map(|place| place.address.as_str()).filter(is_a_name).collect();
        nodes.push(Node {
            name: name.clone(),
            place: place.clone(),
            names: others.into_iter().map(str::to_owned).collect(),
            is_mariadb: server.is_mariadb,
            paths: Some(&server.paths),
            checks: server.not_told.iter().map(|what| format!("it does not tell {what}")).collect(),
            left_out: left_out(server),
        });
    }
    for unreached in &survey.unreached {
        let teller = survey.servers.get(unreached.teller);
        nodes.push(Node {
            name: unique(&fitted(&unreached.place.address, FALLBACK_NAME), &mut taken),
            place: unreached.place.clone(),
            names: vec![],
            is_mariadb: teller.is_some_and(|teller| teller.is_mariadb),
            paths: None,
            checks: vec![format!(
                "{}, so its name, socket, pid_file and error_log are not known: {}",
                if unreached.why.answered { "it let nobody in" } else { "it did not answer" },
                in_one_line(&unreached.why.why)
            )],
            left_out: teller.and_then(left_out),
        });
    }
    nodes
}

fn table(node: &Node<'_>) -> String {
    let mut out = format!("[[node]]\nname = {}\n", quoted(&node.name));
    if !is_host_or_address(&node.place.address) {
        out += "# CHECK: it is not a host name or address that a certificate can have\n";
    }
    out += &format!("address = {}\nport = {}\n", quoted(&node.place.address), node.place.port);
    node.checks.iter().for_each(|check| out += &commented(&format!("CHECK: {check}")));
    if is_elsewhere(&node.place) {
        out += "# CHECK: it is another machine: how ssh reaches it (ssh DESTINATION true asks nothing)\n";
        out += &format!("ssh = {}\n", quoted(&node.place.address));
    }
    let paths = node.paths.into_iter().flat_map(|paths| {
        [("socket", &paths.socket), ("pid_file", &paths.pid_file), ("error_log", &paths.error_log)]
    });
    for (key, value) in paths.filter(|(_, value)| !value.is_empty()) {
        out += &format!("{key} = {}\n", quoted(value));
    }
    let service = if node.is_mariadb { "mariadb.service" } else { "mysql.service" };
    out += &format!(
        "# CHECK: the option file that its server reads, where keys may lie, and how it is started\n\
         defaults_file = \"/etc/mysql/my.cnf\"\ntls_dir = \"/etc/mysql/ssl\"\nstate_dir = \"/var/lib/sealion\"\n\
         service = \"{service}\"\n"
    );
    if node.names.is_empty() {
        out += "# names = [\"db1.example\"]  # more names for its certificate; those of a load balancer that sealion does not drain too\n";
    } else {
        let names: Vec<String> = node.names.iter().map(|name| quoted(name)).collect();
        out += &format!("names = [{}]  # others of the cluster call it so\n", names.join(", "));
    }
    out
}

fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_host_or_address(address: &str) -> bool {
    let fits = |char: char| char.is_ascii_alphanumeric() || "._-".contains(char);
    address.parse::<IpAddr>().is_ok() || (!address.is_empty() && address.chars().all(fits))
}

fn is_local_only(address: &str) -> bool {
    address == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// An address that this machine does not have. Of a name nobody can say.
fn is_elsewhere(place: &Place) -> bool {
    let address = place.address.parse::<IpAddr>();
    address.is_ok_and(|address| UdpSocket::bind(SocketAddr::new(address, 0)).is_err())
}

const NOT_REACHED: &str = "NOT REACHED";

impl Unreached {
    fn drawn(&self) -> &'static str {
        if self.why.answered { "NOT LOGGED IN" } else { NOT_REACHED }
    }
}

/// Clusters, and below each server who replicates from it.
fn picture(survey: &Survey, names: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut drawn = BTreeSet::new();
    let clusters: BTreeSet<&str> =
        survey.servers.iter().filter_map(|server| Some(server.galera.as_ref()?.cluster.as_str())).collect();
    for cluster in clusters {
        lines.push(format!("Galera cluster {cluster}"));
        for (at, server) in survey.servers.iter().enumerate() {
            if server.galera.as_ref().is_some_and(|galera| galera.cluster == cluster) {
                draw(survey, names, at, "", 1, &mut drawn, &mut lines);
            }
        }
        let of_cluster = |unreached: &&Unreached| {
            let teller = survey.servers.get(unreached.teller).and_then(|teller| teller.galera.as_ref());
            unreached.role == Role::Member && teller.is_some_and(|galera| galera.cluster == cluster)
        };
        let missing = survey.unreached.iter().filter(of_cluster);
        lines.extend(missing.map(|unreached| format!("  {}  {}", unreached.place, unreached.drawn())));
    }
    let has_source =
        |server: &Surveyed| server.channels.iter().any(|channel| survey.at(&source_of(channel)).is_some());
    let roots = survey
        .servers
        .iter()
        .enumerate()
        .filter(|(_, server)| server.galera.is_none() && !has_source(server));
    for (at, _) in roots {
        draw(survey, names, at, "", 0, &mut drawn, &mut lines);
    }
    // Circles have no root.
    for at in 0..survey.servers.len() {
        if !drawn.contains(&at) {
            draw(survey, names, at, "", 0, &mut drawn, &mut lines);
        }
    }
    let missing = survey.unreached.iter().filter(|unreached| unreached.role != Role::Member);
    for unreached in missing {
        let teller = names.get(unreached.teller).map_or("?", String::as_str);
        let role = if unreached.role == Role::Source { "a source" } else { "a replica" };
        lines.push(format!("{}  {}; {teller} names it as {role}", unreached.place, unreached.drawn()));
    }
    lines
}

fn source_of(channel: &Channel) -> Place {
    Place { address: channel.source_host.clone(), port: channel.source_port }
}

fn draw(
    survey: &Survey,
    names: &[String],
    at: usize,
    how: &str,
    depth: usize,
    drawn: &mut BTreeSet<usize>,
    lines: &mut Vec<String>,
) {
    let Some(server) = survey.servers.get(at) else { return };
    let name = names.get(at).map_or("", String::as_str);
    let indent = "  ".repeat(depth);
    let flavour = if server.is_mariadb { "MariaDB" } else { "MySQL" };
    let version = server.version.split('-').next().unwrap_or_default();
    let state = server.galera.as_ref().map_or("", |galera| galera.state.as_str());
    let mut line = format!("{indent}{name}  {}  {flavour} {version}", place_of(server));
    for part in [state, how] {
        if !part.is_empty() {
            line += &format!("  {part}");
        }
    }
    if !drawn.insert(at) {
        lines.push(line + "  (drawn above)");
        return;
    }
    lines.push(line);
    for channel in server.channels.iter().filter(|channel| survey.at(&source_of(channel)).is_none()) {
        let place = source_of(channel);
        let unreached = survey.unreached.iter().find(|unreached| unreached.place == place);
        let drawn = unreached.map_or(NOT_REACHED, Unreached::drawn);
        lines.push(format!("{indent}  replicates from {place}: {}, {drawn}", how_of(channel)));
    }
    for (replica, of_replica) in survey.servers.iter().enumerate() {
        for channel in &of_replica.channels {
            if survey.at(&source_of(channel)) == Some(at) {
                let how = format!("<- {name}: {}", how_of(channel));
                draw(survey, names, replica, &how, depth + 1, drawn, lines);
            }
        }
    }
}

/// What a channel was told of TLS, and whether it runs. It is configuration and no proof.
fn how_of(channel: &Channel) -> String {
    let tls = match (channel.tls.is_on, channel.tls.verifies) {
        (false, _) => "no TLS set",
        (true, false) => "TLS set, source not verified",
        (true, true) => "TLS set, source verified",
    };
    let runs = channel.receiver == ThreadState::Running && channel.applier == ThreadState::Running;
    format!("{tls}{}", if runs { "" } else { ", does not run" })
}
