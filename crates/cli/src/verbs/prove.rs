//! `sealion prove`: the rogue server, and what clients gave it. Each command has a module of its own.

mod client;
mod clients;
mod config;
mod disk;
mod list;
mod relay;
mod serve;
mod sniff;
mod tour;

use std::net::{IpAddr, Ipv4Addr};

use ::prove::Protocol;
use clap::{Args, Subcommand};
use prove_ops::{ATTACKS, Ground, attack};
use site::OpsError;

use crate::interrupt;
use crate::options::Global;
use client::ProveClientArgs;
use clients::ProveClientsArgs;
use config::ProveConfigArgs;
use disk::ProveDiskArgs;
use list::ProveListArgs;
use relay::ProveRelayArgs;
use serve::ProveServeArgs;
use sniff::ProveSniffArgs;
use tour::ProveTourArgs;

#[derive(Debug, Subcommand)]
pub enum ProveCommand {
    /// Test one client against man-in-the-middle attacks, using a rogue server
    ///
    /// Test one client against man-in-the-middle attacks, using a rogue server. The command is run once for each attack; the first
    /// run is against an honest server.
    ///
    /// {host}, {port}, {user}, {password}, {ca} and {crl} in COMMAND are replaced. The same values are in its environment as
    /// SEALION_HOST, SEALION_PORT, SEALION_USER, SEALION_PASSWORD and SEALION_CA. User and password are made for this run and open
    /// nothing.
    Client(ProveClientArgs),
    /// Test database drivers and tools, in every TLS mode they have
    Clients(ProveClientsArgs),
    /// Check the database connections in application settings
    ///
    /// Check the database connections in application settings: option files, .mylogin.cnf, .env, systemd units, properties, YAML
    /// (Rails, Spring, compose, Kubernetes), JSON, JavaScript, Python (Django, SQLAlchemy), PHP (Laravel, WordPress), Ruby, Perl,
    /// connection URLs and DSNs. The file name decides how a file is read. Predictions come from the client matrix
    /// (docs/reference/clients). No host is contacted, and no password is printed.
    Config(ProveConfigArgs),
    /// Run the rogue server, one port for each attack, and report what clients give away
    Serve(ProveServeArgs),
    /// Report what can be read from a capture file or a network interface
    ///
    /// Report what can be read from a capture file or a network interface. Nothing secret is kept or printed: of a statement its
    /// digest without values, of a login how the password could be guessed.
    Sniff(ProveSniffArgs),
    /// Run a relay between a client and a real server, passive or as an attacker
    ///
    /// Run a relay between a client and a real server: passive, or as an attacker that strips TLS, substitutes the RSA key or changes
    /// a result. Point the client at the relay instead of the server. Nothing secret is kept or printed: of a password only whether
    /// it matches the one you give.
    Relay(ProveRelayArgs),
    /// Write canaries to a running server and search its files for them
    ///
    /// Write canaries to a running server and search its files for them: tables, undo, redo and binary log, temporary tables, sorts,
    /// open files without a name, logs. Run it as root on the machine of the server. What is written goes into the schema
    /// sealion_canary and is removed again; a replica is only asked to SELECT.
    Disk(ProveDiskArgs),
    /// Demonstrate the classic attacks on real servers, and what stops each
    ///
    /// Demonstrate the classic attacks on real servers: each attack as it succeeds, what stops it, and the attack failing. Six parts:
    /// sniffing, stripping, untrusted-ca, host-names, rsa-key, loose-ends. A MariaDB 10.11 and a MySQL 9.7 are started in a network
    /// namespace and removed again.
    Tour(ProveTourArgs),
    /// List the attacks
    List(ProveListArgs),
}

/// Which attacks, and where the rogue server listens.
#[derive(Debug, Args)]
pub struct Stage {
    /// Only these attacks (see `sealion prove list`), comma-separated; may be repeated
    #[arg(long = "case", alias = "cases", value_name = "ID", value_delimiter = ',')]
    pub cases: Vec<String>,
    /// Host name that clients connect to; valid certificates are issued for it. Default: localhost
    #[arg(long, value_name = "NAME", conflicts_with = "namespace")]
    pub host: Option<String>,
    /// Use a network namespace with a routable address and a host name: some libraries check less for localhost
    #[arg(long, conflicts_with = "authorized_bind")]
    pub namespace: bool,
    /// Listen on this address instead of 127.0.0.1; whoever can reach it can be attacked
    #[arg(long, value_name = "ADDR")]
    pub authorized_bind: Option<std::net::IpAddr>,
}

pub fn prove(global: &Global, command: &ProveCommand) -> Result<u8, OpsError> {
    prove_ops::keep_memory_private()?;
    match command {
        ProveCommand::Client(args) => client::client(global, args),
        ProveCommand::Clients(args) => clients::clients(global, args),
        ProveCommand::Config(args) => config::run(global, args, &interrupt::flag),
        ProveCommand::Serve(args) => serve::serve(global, args),
        ProveCommand::Sniff(args) => {
            let stop = interrupt::flag()?;
            sniff::run(global, args, &stop)
        }
        ProveCommand::Relay(args) => {
            let stop = interrupt::flag()?;
            relay::run(global, args, &stop)
        }
        ProveCommand::Disk(args) => disk::run(global, args),
        ProveCommand::Tour(args) => tour::run(global, args),
        ProveCommand::List(args) => Ok(list::list(global, args)),
    }
}

/// The attacks of these ids, the honest server first: without it a refusal means nothing.
fn chosen(ids: &[String]) -> Result<Vec<&'static ::prove::Attack>, OpsError> {
    let mut found = vec![];
    for id in std::iter::once("honest").chain(ids.iter().map(String::as_str)) {
        let one = attack(id).ok_or_else(|| {
            OpsError::usage(
                format!("unknown attack \"{id}\""),
                "no attack has this ID",
                "list them: sealion prove list",
            )
        })?;
        if !found.iter().any(|known: &&::prove::Attack| known.id == one.id) {
            found.push(one);
        }
    }
    Ok(found)
}

/// What the letters of some verdicts mean, those that are better first.
fn legend(verdicts: impl Iterator<Item = ::prove::Verdict>) -> String {
    let all: std::collections::BTreeSet<_> = verdicts.collect();
    let mut shown: Vec<String> = vec![];
    for one in all {
        let text = format!("{} {}", one.letters(), one.legend());
        if !shown.contains(&text) {
            shown.push(text);
        }
    }
    shown.join("; ")
}

/// All of them, where none was named.
fn chosen_or_all(stage: &Stage) -> Result<Vec<&'static ::prove::Attack>, OpsError> {
    if stage.cases.is_empty() { Ok(ATTACKS.to_vec()) } else { chosen(&stage.cases) }
}

/// The same, of those that the protocol has. One that was named and is not available there is an error.
fn chosen_for(stage: &Stage, protocol: Protocol) -> Result<Vec<&'static ::prove::Attack>, OpsError> {
    let mut attacks = chosen_or_all(stage)?;
    let missing = attacks.iter().find(|one| !one.is_played_in(protocol));
    if let (Some(missing), false) = (missing, stage.cases.is_empty()) {
        return Err(OpsError::usage(
            format!("{} is not available with --stream", missing.id),
            "it is about the MySQL protocol around TLS",
            "remove --stream, or this --case",
        ));
    }
    attacks.retain(|one| one.is_played_in(protocol));
    Ok(attacks)
}

/// Before any thread is there: a namespace is entered by the whole process.
fn ground(stage: &Stage) -> Result<Ground, OpsError> {
    if stage.namespace {
        return Ground::named();
    }
    let bind = stage.authorized_bind.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    Ok(Ground::at(bind, stage.host.as_deref().unwrap_or("localhost")))
}

/// Whether what a command names is there.
#[cfg(test)]
pub fn knows_its_ids(command: &ProveCommand) -> Result<(), String> {
    let said = |error: OpsError| error.to_string();
    let attacks = match command {
        ProveCommand::Client(args) => &args.stage.cases,
        ProveCommand::Serve(args) => &args.stage.cases,
        ProveCommand::Clients(args) => {
            clients::named(&args.only).map_err(said)?;
            &args.cases
        }
        ProveCommand::Tour(args) => {
            return tour::named(&args.only).map(|_| ()).map_err(said);
        }
        ProveCommand::Config(args) => {
            return args
                .driver
                .as_deref()
                .map_or(Ok(()), |name| config::family(name).map(|_| ()).map_err(said));
        }
        _ => return Ok(()),
    };
    chosen(attacks).map(|_| ()).map_err(said)
}
