//! The trials of a run as RFC 4180, one a line, with units in the names of columns.

use super::csv::quoted;
use crate::shape::{ArmRow, LevelRow, RunReport, TrialRow};

/// What a line is of.
struct Line<'r> {
    run: &'r RunReport,
    level: &'r LevelRow,
    arm: &'r ArmRow,
    trial: &'r TrialRow,
}

type Cell = fn(&Line<'_>) -> String;

/// An empty cell is nothing measured, or clear text.
const COLUMNS: &[(&str, Cell)] = &[
    ("experiment", |of| of.run.experiment.clone()),
    ("workload", |of| of.run.workload.clone()),
    ("server_version", |of| of.run.server_version.clone()),
    ("sealion_version", |of| of.run.sealion_version.clone()),
    ("run_is_usable", |of| of.run.is_usable.to_string()),
    ("connections", |of| of.level.connections.to_string()),
    ("arm", |of| of.arm.name.clone()),
    ("tls_version", |of| of.arm.tls.as_ref().map(|tls| tls.version.clone()).unwrap_or_default()),
    ("tls_cipher", |of| of.arm.tls.as_ref().map(|tls| tls.cipher.clone()).unwrap_or_default()),
    ("block", |of| of.trial.block.to_string()),
    ("started_unix_ms", |of| of.trial.started_unix_ms.to_string()),
    ("connecting_s", |of| of.trial.connecting_s.to_string()),
    ("measured_s", |of| of.trial.measured_s.to_string()),
    ("events", |of| of.trial.events.to_string()),
    ("events_per_s", |of| of.trial.events_per_s.to_string()),
    ("queries", |of| of.trial.queries.to_string()),
    ("queries_per_s", |of| of.trial.queries_per_s.to_string()),
    ("reads", |of| of.trial.reads.to_string()),
    ("writes", |of| of.trial.writes.to_string()),
    ("others", |of| of.trial.others.to_string()),
    ("rows", |of| of.trial.rows.to_string()),
    ("answer_bytes", |of| of.trial.answer_bytes.to_string()),
    ("sent_bytes", |of| of.trial.sent_bytes.to_string()),
    ("received_bytes", |of| of.trial.received_bytes.to_string()),
    ("latency_min_ms", |of| real(of.trial.latency_ms.min)),
    ("latency_mean_ms", |of| real(of.trial.latency_ms.mean)),
    ("latency_p50_ms", |of| real(of.trial.latency_ms.p50)),
    ("latency_p95_ms", |of| real(of.trial.latency_ms.p95)),
    ("latency_p99_ms", |of| real(of.trial.latency_ms.p99)),
    ("latency_p999_ms", |of| real(of.trial.latency_ms.p999)),
    ("latency_max_ms", |of| real(of.trial.latency_ms.max)),
    ("query_latency_min_ms", |of| real(of.trial.query_latency_ms.min)),
    ("query_latency_mean_ms", |of| real(of.trial.query_latency_ms.mean)),
    ("query_latency_p50_ms", |of| real(of.trial.query_latency_ms.p50)),
    ("query_latency_p95_ms", |of| real(of.trial.query_latency_ms.p95)),
    ("query_latency_p99_ms", |of| real(of.trial.query_latency_ms.p99)),
    ("query_latency_p999_ms", |of| real(of.trial.query_latency_ms.p999)),
    ("query_latency_max_ms", |of| real(of.trial.query_latency_ms.max)),
    ("client_user_cpu_us_per_query", |of| {
        real(of.trial.client_cpu_us_per_query.as_ref().map(|cpu| cpu.user))
    }),
    ("client_system_cpu_us_per_query", |of| {
        real(of.trial.client_cpu_us_per_query.as_ref().map(|cpu| cpu.system))
    }),
    ("client_cpu_us_per_query", |of| real(of.trial.client_cpu_us_per_query.as_ref().map(|cpu| cpu.total))),
    ("server_cpu_us_per_query", |of| real(of.trial.server_cpu_us_per_query)),
    ("client_context_switches", |of| of.trial.client_context_switches.to_string()),
    ("retries", |of| of.trial.retries.to_string()),
    ("resumed", |of| of.trial.resumed.to_string()),
    ("late_at_end", |of| of.trial.late_at_end.to_string()),
    ("errors", |of| of.trial.errors.to_string()),
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
                let line = Line { run, level, arm, trial };
                let cells: Vec<String> = COLUMNS.iter().map(|(_, cell)| quoted(&cell(&line))).collect();
                out += &cells.join(",");
                out += "\r\n";
            }
        }
    }
    out
}
