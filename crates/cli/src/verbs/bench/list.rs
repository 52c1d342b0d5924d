//! `sealion bench list`.

use bench_ops::rig::Rig;
use bench_ops::{EXPERIMENTS, Experiment};
use clap::Args;

use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::show;

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion bench list
  sealion bench list --format json"
)]
pub struct BenchListArgs {}

pub fn list(global: &Global) {
    // On a server that is named nothing would be left to compare.
    let named = Rig::named(vec![]);
    let needs_lab = |one: &Experiment| !bench_ops::experiment::is_possible(&named, one);
    if global.format == Format::Json {
        let workloads: Vec<serde_json::Value> = bench_ops::workloads()
            .map(|(name, about)| serde_json::json!({ "workload": name, "an_event_is": about }))
            .collect();
        let experiments: Vec<serde_json::Value> = EXPERIMENTS
            .iter()
            .map(|one| {
                serde_json::json!({ "experiment": one.name, "question": one.question, "needs_lab": needs_lab(one) })
            })
            .collect();
        let all = serde_json::json!({ "workloads": workloads, "experiments": experiments });
        show::out(&format!("{all:#}"));
    } else {
        let rows = bench_ops::workloads().map(|(name, about)| vec![name.into(), about.into()]).collect();
        show::out(&show::table(&["workload", "one event"], rows));
        let row = |one: &Experiment| {
            vec![one.name.into(), one.question.into(), if needs_lab(one) { "needed" } else { "" }.into()]
        };
        let rows = EXPERIMENTS.iter().map(row).collect();
        show::out(&format!("\n{}", show::table(&["experiment", "question", "--lab"], rows)));
    }
}
