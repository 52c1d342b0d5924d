//! `sealion bench runs`.

use bench_ops::compare as comparison;
use bench_ops::kept::{self, Measured};
use clap::Args;
use report::shape::{BENCH_RUNS_SCHEMA_ID, KeptRow, RunReport, RunsReport};
use site::OpsError;

use super::keep::places;
use super::{BenchStore, json};
use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::show;

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion bench runs
  sealion bench runs --limit 100 --format json"
)]
pub struct BenchRunsArgs {
    /// List at most this many
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: u32,
    #[command(flatten)]
    pub store: BenchStore,
}

pub fn runs(global: &Global, args: &BenchRunsArgs) -> Result<u8, OpsError> {
    let places = places(global, args.store.store.as_deref())?;
    let (found, unread) = kept::list(&places, args.limit)?;
    let runs: Vec<(&str, &str, RunReport)> = found
        .iter()
        .map(|one| {
            let kind = if matches!(one.measured, Measured::Run(_)) { "run" } else { "load" };
            (one.name.as_str(), kind, comparison::as_run(&one.measured))
        })
        .collect();
    if global.format == Format::Json {
        let row = |(id, kind, run): (&str, &str, RunReport)| KeptRow {
            run: id.into(),
            kind: kind.into(),
            experiment: run.experiment,
            workload: run.workload,
            started_unix_ms: run.started_unix_ms,
            targets: run.targets,
            server_version: run.server_version,
            is_usable: run.is_usable,
        };
        show::out(&json(&RunsReport {
            schema: BENCH_RUNS_SCHEMA_ID.into(),
            sealion_version: env!("CARGO_PKG_VERSION").into(),
            runs: runs.into_iter().map(row).collect(),
            unread,
        })?);
    } else {
        let rows = runs
            .iter()
            .map(|(id, _, run)| {
                vec![
                    (*id).to_owned(),
                    run.experiment.clone(),
                    run.targets.join(" "),
                    if run.is_usable { "yes" } else { "no" }.into(),
                ]
            })
            .collect();
        show::out(&show::table_of_ids(&["run", "experiment", "server", "usable"], rows));
    }
    if unread > 0 {
        show::tell(&format!("note: {unread} saved measurements are from another version and are not shown"));
    }
    Ok(0)
}
