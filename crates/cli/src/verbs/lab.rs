//! `sealion lab`: real servers on loopback.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use ::lab::layout::dir_option;
use ::lab::supervisor::NodeState;
use ::lab::{AtDrop, Lab, LabFile, LabOptions, Wait};
use clap::{Args, Subcommand, ValueEnum};
use site::{OpsError, labs};

use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::show;

#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Start a cluster on loopback and leave it running
    Up(LabUpArgs),
    /// Run a program inside the lab
    Exec(LabExecArgs),
    /// Show the lab's servers
    Status(LabStatusArgs),
    /// Stop the lab and remove its files
    Down(LabDownArgs),
    /// Download a server into sealion's cache; needs no root
    Fetch(LabFetchArgs),
    /// Start a node
    Start(LabStartArgs),
    /// Stop a node
    Stop(LabStopArgs),
    /// Kill a node, as a power failure would
    Kill(LabKillArgs),
    /// Exit 0 while a node's process runs
    #[command(hide = true)]
    Alive(LabNodeArgs),
}

#[derive(Debug, Args)]
pub struct LabDirArgs {
    /// Directory of the lab
    #[arg(long, value_name = "DIR", env = "SEALION_LAB", hide_env = true)]
    pub dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion lab status
  sealion lab status --dir /tmp/mylab --format json"
)]
pub struct LabStatusArgs {
    #[command(flatten)]
    pub lab: LabDirArgs,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion lab down
  sealion lab down --dir /tmp/mylab")]
pub struct LabDownArgs {
    #[command(flatten)]
    pub lab: LabDirArgs,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion lab fetch
  sealion lab fetch ssh")]
pub struct LabFetchArgs {
    /// galera-10.11, mariadb-11.8, mysql-9.7, mysql-5.5, ssh, haproxy, nats or prometheus
    #[arg(default_value = "galera-10.11")]
    pub server: String,
}

#[derive(Debug, Args)]
pub struct LabNodeArgs {
    /// Name of the node: n1, n2, ...
    pub node: String,
    #[command(flatten)]
    pub lab: LabDirArgs,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion lab start n2
  sealion lab start n2 --dir /tmp/mylab")]
pub struct LabStartArgs {
    #[command(flatten)]
    pub node: LabNodeArgs,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion lab stop n2
  sealion lab stop n2 --dir /tmp/mylab")]
pub struct LabStopArgs {
    #[command(flatten)]
    pub node: LabNodeArgs,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion lab kill n2
  sealion lab kill n2 --dir /tmp/mylab")]
pub struct LabKillArgs {
    #[command(flatten)]
    pub node: LabNodeArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LabKind {
    /// A Galera cluster of three nodes
    Galera,
    /// One MariaDB server
    Mariadb,
    /// A source and its replica
    Replicas,
    /// A Galera cluster, a replica of it, and a source with a replica each of MySQL and of MariaDB
    Estate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LabServer {
    Mariadb,
    Mysql,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Sst {
    Rsync,
    Mariabackup,
}

impl From<Sst> for ::lab::SstMethod {
    fn from(sst: Sst) -> Self {
        match sst {
            Sst::Rsync => Self::Rsync,
            Sst::Mariabackup => Self::Mariabackup,
        }
    }
}

/// Addresses and networks of a lab are made for so many.
const NODES_MAX: u8 = 9;

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion lab up galera
  sealion lab up galera --hosts
  sealion lab up galera --tls --spare 1
  sealion lab up galera --hosts --proxy
  sealion lab up replicas --server mysql
  sealion lab up estate
  sealion lab up mariadb --tls --dir /tmp/mylab")]
pub struct LabUpArgs {
    /// What to start
    #[arg(value_enum, default_value_t = LabKind::Galera)]
    pub kind: LabKind,
    /// Number of nodes; default: 3 of Galera, 2 with replicas
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=9))]
    pub nodes: Option<u8>,
    /// Lay out so many further nodes that are no members: for sealion join
    ///
    /// Lay out so many further nodes of Galera that are not started and no members. They are in the inventory with `joining = true`, for
    /// sealion join.
    #[arg(long, value_name = "N", default_value_t = 0, hide_short_help = true, value_parser = clap::value_parser!(u8).range(0..=3))]
    pub spare: u8,
    /// Whose servers, of replicas
    #[arg(long, value_enum, value_name = "SERVER", default_value_t = LabServer::Mariadb)]
    pub server: LabServer,
    /// Enable TLS
    #[arg(long)]
    pub tls: bool,
    /// Use the servers that are installed on this system
    #[arg(long)]
    pub system: bool,
    /// Use the host's loopback interface, not a network namespace
    #[arg(long)]
    pub no_namespace: bool,
    /// Observe traffic through relays, as is done where packets may not be captured
    #[arg(long)]
    pub relay: bool,
    /// Make each node a host of its own, with a network and a sshd, and reach it by ssh only
    #[arg(long, conflicts_with_all = ["no_namespace", "relay"])]
    pub hosts: bool,
    /// Add an arbitrator (garbd) to the cluster
    #[arg(long)]
    pub arbitrator: bool,
    /// With --hosts: one more host, with HAProxy in front of the nodes (port 3306)
    #[arg(long, requires = "hosts")]
    pub proxy: bool,
    /// SST method of joiners; default: rsync, or mariabackup with --relay
    #[arg(long, value_enum, value_name = "METHOD")]
    pub sst: Option<Sst>,
    /// One more of wsrep_provider_options, for every node and arbitrator; may be repeated
    ///
    /// One more of wsrep_provider_options, for every node and arbitrator, such as evs.keepalive_period=PT0.3S; may be repeated.
    #[arg(long = "provider-option", value_name = "KEY=VALUE", hide_short_help = true, value_parser = provider_option)]
    pub provider_options: Vec<String>,
    #[command(flatten)]
    pub lab: LabDirArgs,
}

/// It is written into a quoted list of an option file.
fn provider_option(text: &str) -> Result<String, String> {
    let is_plain = |part: &str| {
        !part.is_empty() && part.chars().all(|one| one.is_ascii_alphanumeric() || "._-:/+".contains(one))
    };
    match text.split_once('=') {
        Some((key, value)) if is_plain(key) && is_plain(value) => Ok(text.to_owned()),
        _ => Err("not of the form KEY=VALUE, such as evs.keepalive_period=PT0.3S".into()),
    }
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion lab exec -- mariadb
  sealion lab exec -- sealion status

The servers' own clients come first in PATH. mariadb and mysql connect as the lab's operator to its first node, and sealion finds
the lab's inventory.")]
pub struct LabExecArgs {
    #[command(flatten)]
    pub lab: LabDirArgs,
    /// Of a lab with --hosts, where to run it: n1, n2, ..., proxy, or app, the host of applications; default: at the operator's
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
    /// Program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<std::ffi::OsString>,
}

pub fn lab(global: &Global, command: LabCommand) -> Result<u8, OpsError> {
    let dir = |given: Option<PathBuf>| given.unwrap_or_else(|| labs::default_dir("lab"));
    match command {
        LabCommand::Up(args) => up(&args),
        LabCommand::Exec(args) => exec(&args),
        LabCommand::Status(args) => {
            let file = LabFile::read(&dir(args.lab.dir))?;
            let answer = ::lab::supervisor::ask(&file, &::lab::supervisor::Request::Status)?;
            if global.format == Format::Json {
                println!(
                    "{}",
                    serde_json::json!({"schema": "sealion/lab/1", "lab": file, "nodes": answer.nodes})
                );
                return Ok(0);
            }
            println!("lab {} in {}", file.name, file.dir.display());
            for node in file.nodes.iter().chain(&file.arbitrators) {
                let state = match answer.nodes.get(&node.name) {
                    Some(NodeState::Running { pid }) => format!("running, pid {pid}"),
                    Some(NodeState::Ended { how }) => format!("stopped: {how}"),
                    _ => "not started".into(),
                };
                println!("  {:<5} {:<12} {state}", node.name, node.address);
            }
            Ok(0)
        }
        LabCommand::Down(args) => down(&dir(args.lab.dir)),
        LabCommand::Fetch(args) => {
            println!("{}", ::lab::bundle::fetch(&args.server)?.display());
            Ok(0)
        }
        LabCommand::Start(args) => {
            Lab::open(&dir(args.node.lab.dir))?.start(&args.node.node, &[], Wait::Nothing)?;
            Ok(0)
        }
        LabCommand::Stop(args) => {
            of_node(&dir(args.node.lab.dir), &args.node.node)?.stop(&args.node.node)?;
            Ok(0)
        }
        LabCommand::Alive(args) => {
            let state = Lab::open(&dir(args.lab.dir))?.state(&args.node)?;
            Ok(u8::from(!matches!(state, NodeState::Running { .. })))
        }
        LabCommand::Kill(args) => {
            of_node(&dir(args.node.lab.dir), &args.node.node)?.kill(&args.node.node)?;
            Ok(0)
        }
    }
}

/// The lab, if it has this node: one that is not there cannot be ended, and must not look as if it had been.
fn of_node(dir: &Path, node: &str) -> Result<Lab, OpsError> {
    let lab = Lab::open(dir)?;
    let file = ::lab::LabFile::read(dir)?;
    if file.node(node).is_none() {
        let names: Vec<&str> = file.nodes.iter().map(|one| one.name.as_str()).collect();
        return Err(OpsError::usage(
            format!("the lab has no node {node}"),
            format!("its nodes are {}", names.join(", ")),
            format!("sealion lab status{}", dir_option(dir)),
        ));
    }
    Ok(lab)
}

/// Enters a namespace where that is wished and possible; says which it is.
pub fn namespace(refused: bool) -> Result<bool, OpsError> {
    namespace_by(refused, ::lab::namespace::enter_new)
}

/// The same, with another way in.
pub fn namespace_by(
    refused: bool,
    enter: impl FnOnce() -> Result<(), ::lab::LabError>,
) -> Result<bool, OpsError> {
    if !refused && ::lab::namespace::available() {
        enter()?;
        return Ok(true);
    }
    if nix::unistd::geteuid().is_root() {
        return Err(OpsError::cannot_look(
            "the servers of the lab do not run as root",
            "this machine does not allow user namespaces, in which root would be an ordinary user",
            "run this as an ordinary user",
        ));
    }
    Ok(false)
}

/// One in which hosts can be made, with an account that their sshd lets in.
pub(super) fn namespace_of_hosts(dir: &Path) -> Result<bool, OpsError> {
    ::lab::hosts::SshPrograms::find()?;
    std::fs::create_dir_all(dir).map_err(|error| {
        OpsError::usage(format!("cannot make {}", dir.display()), error.to_string(), "choose another --dir")
    })?;
    if !namespace_by(false, || ::lab::namespace::enter_new_with_account(dir))? {
        return Err(OpsError::cannot_look(
            "there can be no hosts here",
            "this machine does not allow user namespaces",
            format!("sealion lab up galera{}, without --hosts", dir_option(dir)),
        ));
    }
    ::lab::namespace::keep_for_hosts_across_exec()?;
    Ok(true)
}

pub(super) fn sst_method(asked: Option<Sst>, relay: bool) -> ::lab::SstMethod {
    asked.map_or(if relay { ::lab::SstMethod::Mariabackup } else { ::lab::SstMethod::Rsync }, Into::into)
}

fn up(args: &LabUpArgs) -> Result<u8, OpsError> {
    let dir = args.lab.dir.clone().unwrap_or_else(|| labs::default_dir("lab"));
    ::lab::remains::make_room(&dir)?;
    let servers = servers(args)?;
    if args.arbitrator && args.kind != LabKind::Galera {
        return Err(OpsError::usage(
            "only a Galera cluster has an arbitrator",
            "--arbitrator was given with another kind of lab",
            "sealion lab up galera --arbitrator",
        ));
    }
    if args.arbitrator && args.relay {
        return Err(OpsError::usage(
            "a lab with relays has no arbitrator",
            "the relays stand in front of servers only",
            "leave out --relay or --arbitrator",
        ));
    }
    let namespace = if args.hosts { namespace_of_hosts(&dir)? } else { namespace(args.no_namespace)? };
    let relay = args.relay || !::lab::namespace::may_capture();
    let nodes = match args.kind {
        LabKind::Mariadb => 1,
        LabKind::Galera | LabKind::Estate => args.nodes.unwrap_or(3),
        LabKind::Replicas => args.nodes.unwrap_or(2),
    };
    if args.spare > 0 && args.kind != LabKind::Galera || nodes + args.spare > NODES_MAX {
        return Err(OpsError::usage(
            format!("--spare {} does not fit", args.spare),
            format!("spare nodes are of a Galera cluster, which has {NODES_MAX} nodes at most with them"),
            "sealion lab up galera --nodes 3 --spare 1",
        ));
    }
    let beside = if args.kind == LabKind::Estate { beside(&servers, nodes)? } else { vec![] };
    if usize::from(nodes) + beside.len() > usize::from(NODES_MAX) {
        return Err(OpsError::usage(
            format!("--nodes {nodes} does not fit"),
            format!("a lab has {NODES_MAX} servers at most, and {} are beside the cluster", beside.len()),
            "sealion lab up estate --nodes 3",
        ));
    }
    let options = LabOptions {
        name: "lab".into(),
        dir: dir.clone(),
        servers,
        sst_method: sst_method(args.sst, relay),
        nodes,
        arbitrators: u8::from(args.arbitrator),
        spares: args.spare,
        beside,
        galera: matches!(args.kind, LabKind::Galera | LabKind::Estate),
        replicas: args.kind == LabKind::Replicas,
        number: if namespace { 1 } else { 2 },
        namespace,
        relay,
        hosts: args.hosts,
        operator_is_client: false,
        proxy: args.proxy,
        provider_options: args.provider_options.iter().flat_map(|one| [";", one]).collect(),
        tls: args.tls && matches!(args.kind, LabKind::Galera | LabKind::Mariadb),
        keep: true,
    };
    let mut up = labs::first_node(&options, &dir.join("operator"))?;
    // Nobody would end half of a lab.
    up.lab.set_at_drop(AtDrop::Stop);
    if args.kind == LabKind::Replicas {
        labs::replicate(&up)?;
    } else {
        for n in 2..=nodes {
            eprintln!("n{n} joins by {}", up.lab.file.sst_method.as_str());
            labs::join(&up, &format!("n{n}"), usize::from(n))?;
        }
        for arbitrator in up.lab.file.arbitrators.clone() {
            eprintln!("{} joins without data", arbitrator.name);
            labs::join_arbitrator(&up, &arbitrator.name)?;
        }
    }
    labs::start_beside(&up)?;
    // The links between servers of several kinds are made by who knows them all.
    if args.tls && !options.tls {
        let settings = change_ops::roll::Settings::default();
        let passphrase = up.cluster.passphrase(None)?;
        let change = model::Change::new(model::Verb::Enable, []);
        let plan = change_ops::roll::plan(&up.cluster, &settings, passphrase.clone(), &change)?;
        let mut printer = super::change::Printer::new(std::time::Instant::now(), false);
        change_ops::roll::apply(&up.cluster, &settings, passphrase, &plan, &mut |progress| {
            printer.tell(progress);
        })?;
    }
    up.lab.set_at_drop(AtDrop::Run);
    print_connect(&up);
    Ok(0)
}

/// A replica of the cluster's first node, whose binary log goes back to its beginning; a source of MySQL with its replica; the same of
/// MariaDB.
fn beside(mariadb: &::lab::bundle::Servers, nodes: u8) -> Result<Vec<::lab::layout::Beside>, OpsError> {
    let mysql = ::lab::bundle::Servers::find_mysql()?;
    let server = |servers: &::lab::bundle::Servers, source: Option<u8>| ::lab::layout::Beside {
        servers: servers.clone(),
        source: source.map(|number| format!("n{number}")),
    };
    Ok(vec![
        server(mariadb, Some(1)),
        server(&mysql, None),
        server(&mysql, Some(nodes + 2)),
        server(mariadb, None),
        server(mariadb, Some(nodes + 4)),
    ])
}

fn servers(args: &LabUpArgs) -> Result<::lab::bundle::Servers, OpsError> {
    if args.server == LabServer::Mariadb {
        return Ok(::lab::bundle::Servers::find(args.system)?);
    }
    if args.kind != LabKind::Replicas || args.system || args.hosts || args.relay {
        return Err(OpsError::usage(
            "--server mysql is for replicas on this machine, from sealion's own bundle",
            "MySQL has no Galera, and the lab knows its own MySQL only",
            "sealion lab up replicas --server mysql",
        ));
    }
    Ok(::lab::bundle::Servers::find_mysql()?)
}

/// Ends the lab, or removes what is left of one that has died.
fn down(dir: &Path) -> Result<u8, OpsError> {
    let file = LabFile::read(dir)?;
    let left = if ::lab::remains::is_alive(&file) {
        Lab::open(dir)?.end()?
    } else {
        ::lab::remains::remove_own(dir, &file)
    };
    for path in left {
        println!("left: {}, which the lab did not write", path.display());
    }
    Ok(0)
}

pub(super) fn print_connect(up: &labs::Up) {
    let dir = &up.lab.file.dir;
    let option = dir_option(dir);
    println!("{} in {}; try", show::green("up"), dir.display());
    // MySQL's bundle has no client.
    if up.lab.file.servers.kind == ::lab::ServerKind::MariaDb {
        // Nobody but these hosts is on the cluster's network.
        match up.lab.file.nodes.first().filter(|_| up.lab.file.hosts) {
            Some(node) => println!(
                "  sealion lab exec{option} --host {} -- mariadb -h {}",
                ::lab::hosts::APP_HOST,
                node.address
            ),
            None => println!("  sealion lab exec{option} -- mariadb"),
        }
    }
    println!("  sealion lab exec{option} -- sealion status");
    println!("  sealion lab down{option}");
}

fn host_pid(file: &LabFile, host: &str) -> Result<i32, OpsError> {
    let of_node = || file.node(host)?.host_pid;
    let pid = match host {
        ::lab::hosts::APP_HOST => file.app_host_pid,
        ::lab::hosts::PROXY_HOST => file.proxy_host_pid,
        _ => of_node(),
    };
    pid.ok_or_else(|| {
        let mut names: Vec<&str> =
            file.nodes.iter().filter(|node| node.host_pid.is_some()).map(|node| node.name.as_str()).collect();
        if file.app_host_pid.is_some() {
            names.push(::lab::hosts::APP_HOST);
        }
        if file.proxy_host_pid.is_some() {
            names.push(::lab::hosts::PROXY_HOST);
        }
        let has = if names.is_empty() { "no hosts".to_owned() } else { names.join(", ") };
        OpsError::usage(
            format!("the lab has no host \"{host}\""),
            format!("it has {has}"),
            if names.is_empty() {
                "leave out --host, or start another lab: sealion lab up galera --hosts --dir DIR".to_owned()
            } else {
                format!("sealion lab exec{} --host {} -- ...", dir_option(&file.dir), names.join("|"))
            },
        )
    })
}

/// Becomes the given program, inside the lab's namespaces, with the lab's servers' clients on the PATH.
fn exec(args: &LabExecArgs) -> Result<u8, OpsError> {
    let dir = args.lab.dir.clone().unwrap_or_else(|| labs::default_dir("lab"));
    let file = LabFile::read(&dir)?;
    let alive = ::lab::supervisor::start_ticks(file.supervisor_pid) == Some(file.supervisor_start_ticks);
    if !alive {
        return Err(OpsError::cannot_look(
            format!("the lab in {} is not running", dir.display()),
            "its supervisor has ended",
            format!("sealion lab up{}", dir_option(&dir)),
        ));
    }
    if file.namespace {
        ::lab::namespace::join(file.supervisor_pid)?;
        if let Some(host) = &args.host {
            ::lab::hosts::enter_network(host_pid(&file, host)?)?;
        }
        ::lab::namespace::keep_net_raw_across_exec()?;
    }
    let (program, rest) = args.command.split_first().ok_or_else(|| {
        OpsError::usage(
            "nothing to run",
            "no program after --",
            format!("sealion lab exec{} -- mariadb", dir_option(&dir)),
        )
    })?;
    let name = program.to_string_lossy();
    let program = match name.as_ref() {
        "sealion" => std::env::current_exe()
            .map_err(|error| OpsError::internal("cannot find the sealion binary that is running", error))?,
        other => file.servers.program(other),
    };
    let mut command = Command::new(program);
    for (key, value) in file.servers.environment() {
        let old = std::env::var(&key).unwrap_or_default();
        // The user's own PATH stays behind the servers': `lab exec -- vim` should work too.
        command.env(&key, if key == "PATH" { format!("{value}:{old}") } else { value });
    }
    let is_client = name.starts_with("mariadb") || name.starts_with("mysql");
    let names_options =
        rest.iter().any(|word| word.to_string_lossy().starts_with("--defaults") || word == "--no-defaults");
    if is_client && !names_options {
        command.arg(format!("--defaults-extra-file={}", dir.join("operator.cnf").display()));
        if !rest.iter().any(|word| word.to_string_lossy().starts_with("-h"))
            && let Some(node) = file.nodes.first()
        {
            command.arg(format!("--host={}", node.address));
        }
    }
    command.env("SEALION_INVENTORY", labs::inventory_path(&dir)).env("SEALION_LAB", &dir).args(rest);
    let error = command.exec();
    Err(OpsError::usage(format!("cannot run {name}"), error.to_string(), "give a program that is in PATH"))
}
