//! The trials of a run as RFC 4180, one a line, with units in the names of columns.

use super::csv::quoted;
use crate::shape::{ArmRow, LevelRow, RunReport, TrialRow};

type Cell = fn(&RunReport, &LevelRow, &ArmRow, &TrialRow) -> String;

/// An empty cell is nothing measured, or clear text.
const COLUMNS: &[(&str, Cell)] = &[
    ("experiment", |run, ..| run.experiment.clone()),
    ("workload", |run, ..| run.workload.clone()),
    ("server_version", |run, ..| run.server_version.clone()),
    ("sealion_version", |run, ..| run.sealion_version.clone()),
    ("run_is_usable", |run, ..| run.is_usable.to_string()),
    ("connections", |_, level, ..| level.connections.to_string()),
    ("arm", |_, _, arm, _| arm.name.clone()),
    ("tls_version", |_, _, arm, _| arm.tls.as_ref().map(|tls| tls.version.clone()).unwrap_or_default()),
    ("tls_cipher", |_, _, arm, _| arm.tls.as_ref().map(|tls| tls.cipher.clone()).unwrap_or_default()),
    ("block", |_, _, _, trial| trial.block.to_string()),
    ("started_unix_ms", |_, _, _, trial| trial.started_unix_ms.to_string()),
    ("connecting_s", |_, _, _, trial| trial.connecting_s.to_string()),
    ("measured_s", |_, _, _, trial| trial.measured_s.to_string()),
    ("events", |_, _, _, trial| trial.events.to_string()),
    ("events_per_s", |_, _, _, trial| trial.events_per_s.to_string()),
    ("queries", |_, _, _, trial| trial.queries.to_string()),
    ("queries_per_s", |_, _, _, trial| trial.queries_per_s.to_string()),
    ("reads", |_, _, _, trial| trial.reads.to_string()),
    ("writes", |_, _, _, trial| trial.writes.to_string()),
    ("others", |_, _, _, trial| trial.others.to_string()),
    ("rows", |_, _, _, trial| trial.rows.to_string()),
    ("answer_bytes", |_, _, _, trial| trial.answer_bytes.to_string()),
    ("latency_min_ms", |_, _, _, trial| real(trial.latency_ms.min)),
    ("latency_mean_ms", |_, _, _, trial| real(trial.latency_ms.mean)),
    ("latency_p50_ms", |_, _, _, trial| real(trial.latency_ms.p50)),
    ("latency_p95_ms", |_, _, _, trial| real(trial.latency_ms.p95)),
    ("latency_p99_ms", |_, _, _, trial| real(trial.latency_ms.p99)),
    ("latency_p999_ms", |_, _, _, trial| real(trial.latency_ms.p999)),
    ("latency_max_ms", |_, _, _, trial| real(trial.latency_ms.max)),
    ("query_latency_min_ms", |_, _, _, trial| real(trial.query_latency_ms.min)),
    ("query_latency_mean_ms", |_, _, _, trial| real(trial.query_latency_ms.mean)),
    ("query_latency_p50_ms", |_, _, _, trial| real(trial.query_latency_ms.p50)),
    ("query_latency_p95_ms", |_, _, _, trial| real(trial.query_latency_ms.p95)),
    ("query_latency_p99_ms", |_, _, _, trial| real(trial.query_latency_ms.p99)),
    ("query_latency_p999_ms", |_, _, _, trial| real(trial.query_latency_ms.p999)),
    ("query_latency_max_ms", |_, _, _, trial| real(trial.query_latency_ms.max)),
    ("client_user_cpu_us_per_query", |_, _, _, trial| {
        real(trial.client_cpu_us_per_query.as_ref().map(|cpu| cpu.user))
    }),
    ("client_system_cpu_us_per_query", |_, _, _, trial| {
        real(trial.client_cpu_us_per_query.as_ref().map(|cpu| cpu.system))
    }),
    ("client_cpu_us_per_query", |_, _, _, trial| {
        real(trial.client_cpu_us_per_query.as_ref().map(|cpu| cpu.total))
    }),
    ("server_cpu_us_per_query", |_, _, _, trial| real(trial.server_cpu_us_per_query)),
    ("client_context_switches", |_, _, _, trial| trial.client_context_switches.to_string()),
    ("retries", |_, _, _, trial| trial.retries.to_string()),
    ("late_at_end", |_, _, _, trial| trial.late_at_end.to_string()),
    ("errors", |_, _, _, trial| trial.errors.to_string()),
];

fn real(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Every trial of every level and arm, in the order of the run.
pub fn trials_csv(run: &RunReport) -> String {
    let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    let mut out = format!("{}\r\n", names.join(","));
    for level in &run.levels {
        for arm in &level.arms {
            for trial in &arm.samples {
                let cells: Vec<String> =
                    COLUMNS.iter().map(|(_, cell)| quoted(&cell(run, level, arm, trial))).collect();
                out += &cells.join(",");
                out += "\r\n";
            }
        }
    }
    out
}
