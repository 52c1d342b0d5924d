//! The commands: a module for each, with its arguments, its formats and its call. One line here registers it.

mod agent;
mod audit;
mod bench;
pub mod change;
mod config;
mod demo;
mod diagnose;
mod explain;
mod grants;
mod keys;
mod lab;
mod migrate;
mod prove;
mod report;
mod scan;
mod share;
mod status;
mod stream;
mod trust;
mod watch;
mod watch_clients;
mod watch_rotate;
mod web;

use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Parser, Subcommand};
use site::OpsError;

use crate::generated;
use crate::options::Global;

/// Checks, proves, measures and changes the encryption of MySQL and MariaDB servers and clusters
#[derive(Debug, Parser)]
#[command(
    name = "sealion",
    version,
    about,
    long_about = "Checks, proves, measures and changes the encryption of MySQL and MariaDB.\n\nAny server: scan, audit, status, watch, web, \
                  prove, bench. Galera clusters, sources with replicas, and single servers: plan, enable, disable, rotate, resume, undo; Galera \
                  also join. Data on the move: migrate (to MariaDB), send, receive, archive, xbstream, xbcrypt, share. To try it: demo, lab.\n\nCommands that check never change anything. Commands that change something print a plan and ask; \
                  if stdin is not a terminal, --yes must give the plan's hash.",
    after_help = "`sealion COMMAND -h` is the short help of a command, `--help` the full one.",
    after_long_help = "Examples:
  sealion demo
  sealion scan db1
  sealion status -h db1 -u monitor -p
  sealion lab up galera, then: sealion lab exec -- sealion status

Exit codes: 0 all fine, 1 findings at or above --fail-on or an attack that succeeded, 2 usage or bad input, 3 could not check
(unreachable, no privileges), 4 a change stopped half-way and can be resumed, 5 internal error, 6 refused, nothing was changed,
7 the measurement is not usable.",
    arg_required_else_help = true,
    max_term_width = 120
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start a Galera cluster in cleartext, enable TLS under load, prove it, and write a report
    Demo(demo::DemoArgs),
    /// Scan the TLS of MySQL and MariaDB servers from outside, without a password
    Scan(scan::ScanArgs),
    /// Audit servers from inside: settings, sessions, accounts, replication
    Audit(Box<audit::AuditArgs>),
    /// Test clients, settings and traffic against attacks
    #[command(subcommand)]
    Prove(prove::ProveCommand),
    /// Show what is configured, what is effective, and what was captured on each link
    Status(Box<status::StatusArgs>),
    /// Check again and again; report to Prometheus what is plain, unknown, or ends soon
    Watch(Box<watch::WatchArgs>),
    /// Watch for a while who uses the servers, and who in cleartext
    WatchClients(Box<watch_clients::WatchClientsArgs>),
    /// Show what `sealion watch` keeps, in a browser on this machine
    Web(web::WebArgs),
    /// Show what a change would do; changes nothing
    Plan(change::plan::PlanArgs),
    /// Apply a plan that was saved with `plan --format json`
    Apply(change::apply::ApplyArgs),
    /// Enable TLS on running servers, one after the other
    Enable(change::enable::EnableArgs),
    /// Disable TLS on running servers, one after the other
    Disable(change::enable::DisableArgs),
    /// Replace certificates and keys of running servers, and the CA
    Rotate(change::enable::RotateArgs),
    /// Use certificates of another CA than the cluster's own: request and import them
    #[command(subcommand)]
    Trust(trust::TrustCommand),
    /// Make a new server a member of an encrypted Galera cluster
    Join(change::join::JoinArgs),
    /// Finish a change that was interrupted
    Resume(change::resume::ResumeArgs),
    /// Revert the newest change
    Undo(change::resume::UndoArgs),
    /// Say why a server or a table does not open, as far as keys of data at rest are the cause
    Diagnose(diagnose::DiagnoseArgs),
    /// Copies of the keys of data at rest: list them, restore them, prove them
    #[command(subcommand)]
    Keys(keys::KeysCommand),
    /// Close an unfinished change as it is, and print what is left in which state
    Abandon(change::abandon::AbandonArgs),
    /// Measure what a server can do, and what encryption costs
    #[command(subcommand)]
    Bench(bench::BenchCommand),
    /// Move schemas from one server to another while applications write
    #[command(subcommand)]
    Migrate(migrate::MigrateCommand),
    /// Copy a directory, or what a program writes, to another host, encrypted
    Send(stream::send::SendArgs),
    /// Wait for a copy from `sealion send`, and write it
    Receive(Box<stream::receive::ReceiveArgs>),
    /// Keep a directory, or what a program writes, in an encrypted file
    #[command(subcommand)]
    Archive(stream::archive::ArchiveCommand),
    /// Encrypt and decrypt as xbcrypt of XtraBackup does
    Xbcrypt(stream::xbcrypt::XbcryptArgs),
    /// Extract, list or write backup streams of mariabackup and XtraBackup
    Xbstream(stream::xbstream::XbstreamArgs),
    /// Share a table in an encrypted archive, until a date, through proxies that see nothing
    #[command(subcommand)]
    Share(share::ShareCommand),
    /// Run real servers on loopback
    #[command(subcommand)]
    Lab(lab::LabCommand),
    /// List saved runs, or show a report.json
    Report(report::ReportArgs),
    /// Answer for this machine on standard input and output: what sealion starts by ssh
    Agent(agent::AgentArgs),
    /// Print effective options, or draft an inventory
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Print the privileges that a command needs: GRANT statements and lines for sudoers
    Grants(grants::GrantsArgs),
    /// Explain a rule: what it means, why it matters, how to fix it
    Explain(explain::ExplainArgs),
    /// Print shell completions
    #[command(after_long_help = "Examples:
  sealion completions bash > /etc/bash_completion.d/sealion
  sealion completions zsh")]
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
    /// Write man pages, one file a command
    #[command(after_long_help = "Examples:
  sealion man /usr/local/share/man/man1
  sealion man .")]
    Man {
        /// Directory
        dir: PathBuf,
    },
}

/// What to type instead, where clap cannot know it.
pub fn tip(error: &clap::Error) -> Option<String> {
    let args: Vec<String> = match error.get(ContextKind::InvalidArg)? {
        ContextValue::String(arg) => vec![arg.clone()],
        ContextValue::Strings(args) => args.clone(),
        _ => return None,
    };
    let has = |name: &str| args.iter().any(|arg| arg.contains(name));
    match error.kind() {
        ErrorKind::UnknownArgument if has("--json") => Some("--format json".into()),
        ErrorKind::MissingRequiredArgument if has("<VERB>") => {
            Some("sealion plan VERB, with enable, disable, rotate, join".into())
        }
        ErrorKind::MissingRequiredArgument if has("<EXPERIMENT>") => {
            Some(format!("sealion bench run EXPERIMENT, with {}", bench::experiments()))
        }
        _ => None,
    }
}

/// # Errors
/// Those of the command; the exit code follows from them.
pub fn run(global: &Global, command: Command) -> Result<u8, OpsError> {
    match command {
        Command::Demo(args) => demo::demo(&args),
        Command::Scan(args) => scan::scan(global, &args),
        Command::Audit(args) => audit::audit(global, &args),
        Command::Prove(command) => prove::prove(global, &command),
        Command::Status(args) => status::status(global, &args),
        Command::Watch(args) => watch::watch(global, &args),
        Command::WatchClients(args) => watch_clients::watch_clients(global, &args),
        Command::Web(args) => web::web(global, &args),
        Command::Plan(args) => change::plan::plan(global, &args),
        Command::Apply(args) => change::apply::apply(global, &args),
        Command::Enable(args) => change::enable::enable(global, &args),
        Command::Disable(args) => change::enable::disable(global, &args),
        Command::Rotate(args) => change::enable::rotate(global, &args),
        Command::Diagnose(args) => diagnose::diagnose(global, &args),
        Command::Keys(command) => keys::keys(global, &command),
        Command::Join(args) => change::join::join(global, &args),
        Command::Resume(args) => change::resume::resume(global, &args),
        Command::Undo(args) => change::resume::undo(global, &args),
        Command::Abandon(args) => change::abandon::abandon(global, &args),
        Command::Bench(command) => bench::bench(global, &command),
        Command::Migrate(command) => migrate::migrate(global, &command),
        Command::Send(args) => stream::send::send(global, &args),
        Command::Receive(args) => stream::receive::receive(global, &args),
        Command::Archive(command) => stream::archive::archive(&command),
        Command::Xbcrypt(args) => stream::xbcrypt::xbcrypt(&args),
        Command::Xbstream(args) => stream::xbstream::xbstream(&args),
        Command::Share(command) => share::share(global, &command),
        Command::Lab(command) => lab::lab(global, command),
        Command::Report(args) => report::report(global, &args),
        Command::Config(command) => config::config(global, &command),
        Command::Agent(args) => agent::agent(&args),
        Command::Trust(command) => trust::trust(global, &command),
        Command::Grants(args) => grants::grants(&args),
        Command::Explain(args) => explain::explain(global, &args),
        Command::Completions { shell } => {
            generated::print_completion(shell);
            Ok(0)
        }
        Command::Man { dir } => generated::write_man_pages(&dir),
    }
}

/// Whether the experiments, workloads, attacks, clients and rules that a command names are there: parsing does not tell.
#[cfg(test)]
pub fn knows_its_ids(command: &Command) -> Result<(), String> {
    let known = |what: &str, id: &str, is_known: bool| {
        if is_known { Ok(()) } else { Err(format!("unknown {what} \"{id}\"")) }
    };
    match command {
        Command::Bench(command) => bench::knows_its_ids(command),
        Command::Prove(command) => prove::knows_its_ids(command),
        Command::Explain(explain::ExplainArgs { rule: Some(id) }) => {
            known("rule", id, rules::by_id(id).is_some())
        }
        _ => Ok(()),
    }
}
