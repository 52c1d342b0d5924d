//! What `sealion watch` tells Prometheus: the list of its metrics, and their text.
//!
//! One list for all: the exporter writes nothing that is not in it, and a test holds the alert rules and dashboards against it.

use std::fmt::Write as _;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    Gauge,
    Counter,
    Histogram,
}

impl MetricKind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Gauge => "gauge",
            Self::Counter => "counter",
            Self::Histogram => "histogram",
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub struct Metric {
    pub name: &'static str,
    pub kind: MetricKind,
    pub help: &'static str,
    /// In the order in which they are written.
    pub labels: &'static [&'static str],
}

macro_rules! metrics {
    ($($id:ident = $name:literal, $kind:ident, [$($label:literal),*], $help:literal;)+) => {
        $(pub static $id: Metric =
            Metric { name: $name, kind: MetricKind::$kind, help: $help, labels: &[$($label),*] };)+
        /// All of them, in the order in which they are written.
        pub static METRICS: &[&Metric] = &[$(&$id),+];
    };
}

metrics! {
    BUILD_INFO = "sealion_build_info", Gauge, ["version", "revision", "tls"],
        "Always 1; the labels say which sealion runs.";
    CERTIFICATE_NOT_AFTER = "sealion_certificate_not_after_timestamp_seconds", Gauge,
        ["cluster", "server", "use", "seen", "fingerprint"],
        "When a certificate ends, seconds since 1970, as it was last read.";
    CERTIFICATE_NOT_BEFORE = "sealion_certificate_not_before_timestamp_seconds", Gauge,
        ["cluster", "server", "use", "seen", "fingerprint"],
        "When a certificate begins to be valid, seconds since 1970, as it was last read.";
    RELOAD_PENDING = "sealion_certificate_reload_pending", Gauge, ["cluster", "server", "use"],
        "1 if the server serves another certificate than its file has; no sample where either could not be read.";
    LINK_STATE = "sealion_link_state", Gauge, ["cluster", "from", "to", "kind", "state"],
        "State set: 1 for the state in which the link was last seen. A link that could not be judged is unknown, never encrypted.";
    UNKNOWN_SINCE = "sealion_unknown_since_timestamp_seconds", Gauge, ["cluster", "what", "subject"],
        "Since when a server, a link, or the looks themselves tell nothing, seconds since 1970; no sample of what is known.";
    DRIFT_STATE = "sealion_drift_state", Gauge, ["cluster", "server", "state"],
        "State set: whether the option files are as the last finished changes of sealion wrote them; no sample where none wrote any.";
    AT_REST_STATE = "sealion_at_rest_state", Gauge, ["cluster", "server", "what", "state"],
        "State set, with --at-rest: what the server says of its files of this kind.";
    AT_REST_FELL_BACK = "sealion_at_rest_fell_back_timestamp_seconds", Gauge, ["cluster", "server", "what"],
        "When something of this kind was no longer encrypted that had been, seconds since 1970; no sample while nothing is plain.";
    FINDINGS = "sealion_findings", Gauge, ["cluster", "severity", "verdict"],
        "Findings of the last look, by severity and verdict.";
    SCAN_LAST_SUCCESS = "sealion_scan_last_success_timestamp_seconds", Gauge, ["cluster", "server"],
        "When the server last answered, seconds since 1970; no sample where it never did.";
    SCAN_INTERVAL = "sealion_scan_interval_seconds", Gauge, ["cluster"],
        "How often the cluster is checked.";
    SCAN_DURATION = "sealion_scan_duration_seconds", Histogram, ["cluster"],
        "How long looks took, failed ones among them.";
    SCAN_ERRORS = "sealion_scan_errors_total", Counter, ["cluster", "server", "reason"],
        "Looks that failed; without a server, those of the whole cluster.";
    ROTATION_DUE = "sealion_rotation_due_certificates", Gauge, ["cluster", "what"],
        "With [watch.rotate]: certificates that end within its days, as they are served and in their files.";
    ROTATION_OPEN = "sealion_rotation_open", Gauge, ["cluster", "what"],
        "With [watch.rotate]: 1 while a rotation that stopped half-way, or whose process ended, is open; none begins before.";
    ROTATION_RUNS = "sealion_rotation_runs_total", Counter, ["cluster", "what", "outcome"],
        "With [watch.rotate]: rotations that have ended, of this process.";
    KEY_ROTATED = "sealion_key_rotated_timestamp_seconds", Gauge, ["cluster", "kind"],
        "With [watch.rotate]: when these certificates and their keys were last replaced, seconds since 1970; no sample before they were.";
    HOOK_RUNS = "sealion_hook_runs_total", Counter, ["cluster", "outcome"],
        "Runs of the program of --on-change that have ended, of this process.";
    HOOK_PENDING = "sealion_hook_pending_changes", Gauge, ["cluster"],
        "Changes that the program of --on-change has not taken yet.";
    HOOK_DROPPED = "sealion_hook_dropped_changes_total", Counter, ["cluster"],
        "Changes that were forgotten, since the program of --on-change failed for too long.";
}

/// One line of a family.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    pub metric: &'static Metric,
    /// Of a histogram: `_bucket`, `_sum`, `_count`.
    pub suffix: &'static str,
    pub labels: Vec<(&'static str, String)>,
    pub value: f64,
}

impl Sample {
    /// `values`: of the metric's labels, in their order. An empty one is no label, as for Prometheus itself.
    pub fn new(metric: &'static Metric, values: &[&str], value: f64) -> Self {
        debug_assert_eq!(metric.labels.len(), values.len(), "{}", metric.name);
        let labels = metric.labels.iter().zip(values).filter(|(_, value)| !value.is_empty());
        let labels = labels.map(|(label, value)| (*label, (*value).to_owned())).collect();
        Self { metric, suffix: "", labels, value }
    }

    /// A part of a histogram.
    #[must_use]
    pub fn part(mut self, suffix: &'static str, le: Option<String>) -> Self {
        self.suffix = suffix;
        self.labels.extend(le.map(|le| ("le", le)));
        self
    }
}

/// The text exposition format, version 0.0.4: for `/metrics` and for node_exporter's textfile collector. No timestamps.
pub fn exposition(samples: &[Sample]) -> String {
    let mut out = String::new();
    for metric in METRICS {
        let mut mine = samples.iter().filter(|sample| sample.metric.name == metric.name).peekable();
        if mine.peek().is_none() {
            continue;
        }
        let (name, kind) = (metric.name, metric.kind.as_str());
        let _ = writeln!(out, "# HELP {name} {}\n# TYPE {name} {kind}", metric.help);
        for sample in mine {
            out += name;
            out += sample.suffix;
            if !sample.labels.is_empty() {
                let labels: Vec<String> = sample
                    .labels
                    .iter()
                    .map(|(label, value)| format!("{label}=\"{}\"", label_value(value)))
                    .collect();
                let _ = write!(out, "{{{}}}", labels.join(","));
            }
            let _ = writeln!(out, " {}", sample.value);
        }
    }
    out
}

/// Source: Prometheus, "Exposition formats": a backslash, a quote and a line feed are escaped in a label's value. Its parser ends at
/// a zero byte, so there is none.
pub fn label_value(value: &str) -> String {
    let mut safe = String::with_capacity(value.len());
    for char in value.chars() {
        match char {
            '\\' => safe.push_str("\\\\"),
            '"' => safe.push_str("\\\""),
            '\n' => safe.push_str("\\n"),
            '\0' => safe.push('\u{fffd}'),
            char => safe.push(char),
        }
    }
    safe
}
