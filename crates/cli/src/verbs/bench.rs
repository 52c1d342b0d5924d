//! `sealion bench`: each command has a module of its own; [`trial`] has what all measurements take, [`text`] how they are printed.

mod advise;
mod compare;
mod export;
mod keep;
mod list;
mod load;
mod prepare;
mod run;
mod runs;
mod show;
mod sysbench;
mod text;
mod trial;

use std::path::PathBuf;

use bench_ops::TlsWish;
use clap::{Args, Subcommand};
use site::{Cluster, OpsError};

use crate::options::{Connect, Global, connect};
use advise::BenchAdviseArgs;
use compare::BenchCompareArgs;
use export::BenchExportArgs;
use list::BenchListArgs;
use load::BenchLoadArgs;
use prepare::{BenchCleanupArgs, BenchPrepareArgs};
use run::BenchRunArgs;
use runs::BenchRunsArgs;
use show::BenchShowArgs;
use sysbench::BenchSysbenchArgs;

#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// List the workloads and the experiments
    List(BenchListArgs),
    /// Create and fill the tables of the workloads, in a schema of their own
    Prepare(Box<BenchPrepareArgs>),
    /// Measure one workload once
    Load(Box<BenchLoadArgs>),
    /// Run an experiment: trials in randomized blocks, with confidence intervals
    Run(Box<BenchRunArgs>),
    /// Run a sysbench command line with sealion's load generator
    Sysbench(BenchSysbenchArgs),
    /// Drop the schema that `prepare` created
    Cleanup(Box<BenchCleanupArgs>),
    /// List saved measurements, newest first
    Runs(BenchRunsArgs),
    /// Print a saved measurement, or write its HTML page
    Show(BenchShowArgs),
    /// Compare two runs of the same experiment
    Compare(BenchCompareArgs),
    /// Export every trial of a measurement as CSV, Parquet or JSON
    Export(BenchExportArgs),
    /// Estimate a machine's capacity with each TLS setting, from measured CPU costs
    Advise(Box<BenchAdviseArgs>),
}

/// How a measurement is named.
macro_rules! of_a_run {
    ($examples:literal) => {
        concat!(
            "Examples:\n",
            $examples,
            "\n\nRUN is an ID that `sealion bench runs` lists, an unambiguous beginning of one, or a file that `bench run` or\n\
             `bench load` wrote with --format json."
        )
    };
    ($examples:literal, $more:literal) => {
        concat!(
            "Examples:\n",
            $examples,
            "\n\nRUN is an ID that `sealion bench runs` lists, an unambiguous beginning of one, or a file that `bench run` or\n\
             `bench load` wrote with --format json.\n\n",
            $more
        )
    };
}
pub(crate) use of_a_run;

/// Where measurements are kept, for who makes one.
#[derive(Debug, Clone, Args)]
pub struct BenchKeep {
    /// Save the measurement in FILE; default: the cluster's store, or your own
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub store: Option<PathBuf>,
    /// Do not save the measurement
    #[arg(long, conflicts_with = "store", hide_short_help = true)]
    pub no_store: bool,
}

/// Where measurements are kept, for who looks for one.
#[derive(Debug, Clone, Args)]
pub struct BenchStore {
    /// Search in FILE; default: the cluster's store and your own
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
}

/// Sizes and counts, in sysbench's words.
#[derive(Debug, Clone, Args)]
pub struct BenchTables {
    /// Schema of the tables
    #[arg(long, value_name = "NAME", default_value = bench_ops::SCHEMA, hide_short_help = true)]
    pub database: String,
    /// Number of tables
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub tables: u32,
    /// Rows in each table
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=2_000_000_000))]
    pub table_size: u32,
    /// Seed of the random numbers; the same seed makes the same rows
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true)]
    pub seed: u64,
}

/// The measurement is not usable.
pub(crate) const NOT_USABLE: u8 = 7;

/// The figures are good, and lie nowhere but in the output: as any output that cannot be written.
const NOT_KEPT: u8 = 2;

pub fn bench(global: &Global, command: &BenchCommand) -> Result<u8, OpsError> {
    match command {
        BenchCommand::List(_) => {
            list::list(global);
            Ok(0)
        }
        BenchCommand::Prepare(args) => prepare::prepare(global, args),
        BenchCommand::Load(args) => load::load(global, args),
        BenchCommand::Run(args) => run::run(global, args),
        BenchCommand::Sysbench(args) => sysbench::sysbench(global, args),
        BenchCommand::Runs(args) => runs::runs(global, args),
        BenchCommand::Show(args) => show::show(global, args),
        BenchCommand::Compare(args) => compare::compare(global, args),
        BenchCommand::Export(args) => export::export(global, args),
        BenchCommand::Advise(args) => advise::advise(global, args),
        BenchCommand::Cleanup(args) => prepare::cleanup(global, args),
    }
}

fn first(global: &Global, connect: &Connect) -> Result<net::ConnectOptions, OpsError> {
    let cluster = connect::cluster(global, connect)?;
    reached(&cluster, connect, &TlsWish::default()).into_iter().next().ok_or_else(|| {
        OpsError::usage(
            "no server was given",
            "the inventory contains none",
            "give one: -h HOST -P PORT -u USER",
        )
    })
}

/// Over TCP, but for a server that is named by its socket alone.
fn reached(cluster: &Cluster, connect: &Connect, tls: &TlsWish) -> Vec<net::ConnectOptions> {
    let mut targets = bench_ops::targets(cluster, tls);
    if let (None, Some(socket)) = (&connect.host, &connect.socket) {
        for target in &mut targets {
            target.endpoint = net::Endpoint::unix(socket);
        }
    }
    targets
}

pub(crate) fn json(report: &impl serde::Serialize) -> Result<String, OpsError> {
    serde_json::to_string_pretty(report).map_err(|error| OpsError::internal("cannot write the result", error))
}

/// What cannot be used is worse than what was not kept.
pub(crate) fn code(is_usable: bool, is_kept: bool) -> u8 {
    match (is_usable, is_kept) {
        (false, _) => NOT_USABLE,
        (true, false) => NOT_KEPT,
        (true, true) => 0,
    }
}

/// What `bench run` can be given, beside files.
pub fn experiments() -> String {
    let names = bench_ops::EXPERIMENTS.iter().map(|one| one.name);
    std::iter::once(run::ALL).chain(names).collect::<Vec<_>>().join(", ")
}

/// Whether what a command names is there.
#[cfg(test)]
pub fn knows_its_ids(command: &BenchCommand) -> Result<(), String> {
    let is_workload = |name: &String| bench_ops::workloads().any(|(known, _)| known == name);
    let is_experiment = |name: &String| {
        name == run::ALL
            || bench_ops::file::is_file(name)
            || name.split(',').all(|name| bench_ops::EXPERIMENTS.iter().any(|one| one.name == name))
    };
    let unknown = match command {
        BenchCommand::Load(args) => args.workload.as_ref().filter(|name| !is_workload(name)),
        BenchCommand::Run(args) => Some(&args.experiment).filter(|name| !is_experiment(name)),
        _ => None,
    };
    unknown.map_or(Ok(()), |name| Err(format!("unknown workload or experiment \"{name}\"")))
}
